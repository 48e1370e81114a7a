// European options, from the caller's arrays to the caller's array through a ring of pinned slots.
//
// Approach: some threads of the host pack pieces of the seven arrays into slots of pinned memory,
// the type as the sign of the strike (24 bytes an option instead of 28); a kernel reads a run of
// slots over the bus, four options a thread with 128-bit loads, and writes the prices back into
// them; a thread of the host copies these to where they belong. So both directions of the bus, the
// kernels and the host work at once, and nothing is allocated on the device. In float throughout,
// by w (S e^-qt Phi(w d1) - K e^-rt Phi(w d2)) with w = +-1, which neither branches nor cancels.
//
// What bounds it: how fast the host's threads can read the pageable inputs; the kernels hardly
// show. Small sizes are bound by the plain copies and the allocation.
//
// Tried: plain copies of each array (4 times slower at medium and large); the ring at small
// (starting threads, registering and releasing cost more than they save where system calls are
// slow); eight threads instead of twelve (a tenth slower at large); slots of 8192 options at large
// sizes (a fifth slower: twice the calls).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: medium 4.7 ms, large 8 to 10 ms (54
// % and 50 to 60 % of what the bus would need for 28 bytes an option; naive 19 and 33 ms). An
// evaluation, which comes to a call with cold caches, takes 0.88 ms at small, and no less for
// naive: both wait for seven copies, and one large allocation costs what eight small ones do. The
// CPU program parallel wins there, with 0.70 ms on 15 cores: seven copies and an allocation take
// longer than its cores with the whole task.
#include "transfer.cuh"

constexpr int HOST_THREADS = 12;

constexpr int MANY = 1 << 18; // options from which the ring pays
constexpr int PIECE = 16384;  // options in a slot
constexpr int THREADS = 128, PER_THREAD = 4, STREAMS = 4;

// A slot: six packed input arrays, then the prices.
enum { STRIKE, SPOT, YIELD, RATE, YEARS, VOLATILITY, PRICE, FIELDS };

// With w = +1 for a call and -1 for a put: w (S e^-qt Phi(w d1) - K e^-rt Phi(w d2)). The strike's
// sign bit is the type.
static __device__ float price_of(float signed_strike, float spot, float q, float r, float t,
                                 float volatility)
{
    const float w = signbit(signed_strike) ? -1.0f : 1.0f, strike = fabsf(signed_strike);
    const float deviation = volatility * sqrtf(t);
    const float d1 = (logf(spot / strike) + (r - q) * t) / deviation + 0.5f * deviation,
                d2 = d1 - deviation;
    const float share = 0.5f * erfcf(-w * d1 * 0.70710678f),
                cash = 0.5f * erfcf(-w * d2 * 0.70710678f);
    return w * (spot * expf(-q * t) * share - strike * expf(-r * t) * cash);
}

// Four options a thread, a slot for each blockIdx.y; count: options in all slots together. What
// lies behind the last option is priced too and never looked at.
static __global__ void price_options(long long count, int piece, float *slots)
{
    float *const slot = slots + static_cast<size_t>(blockIdx.y) * FIELDS * piece;
    count -= static_cast<long long>(blockIdx.y) * piece;
    const int i = (blockIdx.x * THREADS + threadIdx.x) * PER_THREAD;
    if (i >= count)
        return;
    float4 in[PRICE], out;
    for (int field = 0; field < PRICE; field++)
        in[field] = *reinterpret_cast<const float4 *>(slot + field * piece + i);
    out.x =
        price_of(in[STRIKE].x, in[SPOT].x, in[YIELD].x, in[RATE].x, in[YEARS].x, in[VOLATILITY].x);
    out.y =
        price_of(in[STRIKE].y, in[SPOT].y, in[YIELD].y, in[RATE].y, in[YEARS].y, in[VOLATILITY].y);
    out.z =
        price_of(in[STRIKE].z, in[SPOT].z, in[YIELD].z, in[RATE].z, in[YEARS].z, in[VOLATILITY].z);
    out.w =
        price_of(in[STRIKE].w, in[SPOT].w, in[YIELD].w, in[RATE].w, in[YEARS].w, in[VOLATILITY].w);
    *reinterpret_cast<float4 *>(slot + PRICE * piece + i) = out;
}

// Strikes are above 0, so their sign is free for the type.
static __global__ void sign_strikes(int count, const int *types, float *strikes)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count && types[i] != 0)
        strikes[i] = -strikes[i];
}

// The same on the host, on the way into a slot.
static void pack_strikes(int count, const int *types, const float *strikes, unsigned *packed)
{
    for (int i = 0; i < count; i++) {
        unsigned bits;
        memcpy(&bits, strikes + i, sizeof bits);
        packed[i] = bits | static_cast<unsigned>(types[i] != 0) << 31;
    }
}

// Few options: one allocation and plain copies. The types are put into the strikes on the device.
static void few_options(int N, const int *types, const float *const *fields, float *prices)
{
    const int room =
        (N + PER_THREAD - 1) / PER_THREAD * PER_THREAD; // of an array, for 128-bit loads
    const size_t bytes = static_cast<size_t>(N) * sizeof(float);
    float *memory;
    CHECK(cudaMalloc(&memory, static_cast<size_t>(FIELDS + 1) * room * sizeof(float)));
    int *d_types = reinterpret_cast<int *>(memory + static_cast<size_t>(FIELDS) * room);
    for (int field = 0; field < PRICE; field++)
        CHECK(cudaMemcpyAsync(memory + static_cast<size_t>(field) * room, fields[field], bytes,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(d_types, types, bytes, cudaMemcpyHostToDevice));
    const int covered = THREADS * PER_THREAD;
    sign_strikes<<<(N + THREADS - 1) / THREADS, THREADS>>>(N, d_types, memory);
    CHECK(cudaGetLastError());
    price_options<<<(N + covered - 1) / covered, THREADS>>>(N, room, memory);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(prices, memory + static_cast<size_t>(PRICE) * room, bytes,
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots,
                                 const float *qs, const float *rs, const float *ts,
                                 const float *vols, float *prices)
{
    const float *const fields[PRICE] = {strikes, spots, qs, rs, ts, vols};
    if (N < MANY) {
        few_options(N, types, fields, prices);
        return;
    }
    const size_t each = PIECE;
    const int threads = transfer::threads_for(HOST_THREADS);
    const transfer::Shape shape = {threads, threads * 3 / 2 + 1, FIELDS * each * sizeof(float)};
    auto length = [&](size_t piece) {
        const size_t left = N - piece * each;
        return static_cast<int>(left < each ? left : each);
    };
    unsigned turn = 0;
    cudaStream_t streams[STREAMS];
    transfer::pipeline(
        shape, (static_cast<size_t>(N) + each - 1) / each,
        [&] {
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        },
        [&](size_t piece, char *slot) {
            const size_t from = piece * each;
            float *to = reinterpret_cast<float *>(slot);
            pack_strikes(length(piece), types + from, strikes + from,
                         reinterpret_cast<unsigned *>(to));
            for (int field = SPOT; field < PRICE; field++)
                memcpy(to + field * each, fields[field] + from, length(piece) * sizeof(float));
        },
        [&](size_t piece, size_t count, char *slots) {
            cudaStream_t stream = streams[turn++ % STREAMS];
            const dim3 grid(each / (THREADS * PER_THREAD), static_cast<unsigned>(count));
            price_options<<<grid, THREADS, 0, stream>>>(N - static_cast<long long>(piece * each),
                                                        static_cast<int>(each),
                                                        reinterpret_cast<float *>(slots));
            CHECK(cudaGetLastError());
            return stream;
        },
        [&](size_t piece, char *slot) {
            memcpy(prices + piece * each, reinterpret_cast<float *>(slot) + PRICE * each,
                   length(piece) * sizeof(float));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}
