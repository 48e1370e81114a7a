// European options, from the caller's arrays to the caller's array through a ring of pinned slots.
//
// Approach: some threads of the host pack pieces of the seven arrays into slots of pinned memory,
// the type as the sign of the strike (24 bytes an option instead of 28); a kernel reads a run of
// slots over the bus, four options a thread with 128-bit loads, and writes the prices back into
// them; a thread of the host copies these to where they belong. So both directions of the bus, the
// kernels and the host work at once, and nothing is allocated on the device. In float throughout,
// by w (S e^-qt Phi(w d1) - K e^-rt Phi(w d2)) with w = +-1, which neither branches nor cancels.
// Few options are copied plainly to a static arena of 1 MB, in as few chunks as it holds: a first
// kernel discounts the strikes and gives them their signs, so that five arrays have room for all
// seven.
//
// What bounds it: how fast the host's threads can read the pageable inputs; the kernels hardly
// show. Small sizes are bound by the plain copies.
//
// Tried: plain copies of each array (4 times slower at medium and large); the ring at small
// (starting threads, registering and releasing cost more than they save where system calls are
// slow); at small one allocation for all arrays (half as slow again), three chunks without
// discounting first (a tenth slower); eight threads instead of twelve (a tenth slower at large);
// slots of 8192 options at large sizes (a fifth slower: twice the calls).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.44 ms, medium 5.6 ms, large 9 to 11 ms. The
// call floor is 16 % and 46 % of the first two. Naive: 0.88, 19 and 33 ms.
#include "transfer.cuh"

constexpr int HOST_THREADS = 12;

constexpr int MANY = 1 << 18; // options from which the ring pays
constexpr int PIECE = 16384;  // options in a slot
constexpr int THREADS = 128, PER_THREAD = 4, STREAMS = 4;

// A slot: six packed input arrays, then the prices.
enum { STRIKE, SPOT, YIELD, RATE, YEARS, VOLATILITY, PRICE, FIELDS };

// For few options: an allocation would cost as much as the copies.
constexpr size_t ARENA = 1040 * 1000; // bytes
static __device__ __align__(256) float arena[ARENA / sizeof(float)];

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

// Few options, in two steps, so that five arrays of `room` options have room for all seven: what is
// read first makes place for the rest. The first step discounts the strike and signs it by type.
enum { FIRST_TYPE = 0, FIRST_STRIKE = 1, FIRST_RATE = 2, YEARS_OF = 3 };
enum { THEN_YIELD = 0, THEN_CASH = 1, THEN_SPOT = 2, THEN_VOLATILITY = 4, ARRAYS = 5 };

static __global__ void discount_strikes(int count, int room, float *arrays)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const float cash = arrays[FIRST_STRIKE * room + i] *
                       expf(-arrays[FIRST_RATE * room + i] * arrays[YEARS_OF * room + i]);
    const bool put = reinterpret_cast<const int *>(arrays)[FIRST_TYPE * room + i] != 0;
    arrays[FIRST_STRIKE * room + i] = put ? -cash : cash;
}

// Prices take the place of the volatilities. log(S/K) + (r-q) t is log(S / (K e^-rt)) - q t; what
// the discounted strike is rounded by moves d1 and d2 alike, to which a price is not sensitive.
static __global__ void price_few(int count, int room, float *arrays)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const float signed_cash = arrays[THEN_CASH * room + i], spot = arrays[THEN_SPOT * room + i],
                growth = arrays[THEN_YIELD * room + i] * arrays[YEARS_OF * room + i];
    const float deviation = arrays[THEN_VOLATILITY * room + i] * sqrtf(arrays[YEARS_OF * room + i]);
    const float w = signbit(signed_cash) ? -1.0f : 1.0f, cash = fabsf(signed_cash);
    const float d1 = (logf(spot / cash) - growth) / deviation + 0.5f * deviation,
                d2 = d1 - deviation;
    arrays[THEN_VOLATILITY * room + i] =
        w * (spot * expf(-growth) * (0.5f * erfcf(-w * d1 * 0.70710678f)) -
             cash * (0.5f * erfcf(-w * d2 * 0.70710678f)));
}

// Strikes are above 0, so their sign is free for the type.
static void pack_strikes(int count, const int *types, const float *strikes, unsigned *packed)
{
    for (int i = 0; i < count; i++) {
        unsigned bits;
        memcpy(&bits, strikes + i, sizeof bits);
        packed[i] = bits | static_cast<unsigned>(types[i] != 0) << 31;
    }
}

// Few options: plain copies through the arena, in as few chunks as it holds. The prices of a chunk
// leave before the next one's volatilities arrive, when the kernel has long ended.
static void few_options(int N, const int *types, const float *const *fields, float *prices)
{
    constexpr int MOST = ARENA / sizeof(float) / ARRAYS / PER_THREAD * PER_THREAD;
    const int chunks = (N - 1) / MOST + 1, share = (N - 1) / chunks + 1,
              room = (share + PER_THREAD - 1) / PER_THREAD * PER_THREAD;
    float *memory;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    float *const volatilities = memory + static_cast<size_t>(THEN_VOLATILITY) * room;
    int count = 0, before = 0; // options in this chunk, in the one before
    for (int first = 0; first < N; first += room) {
        before = count;
        count = N - first < room ? N - first : room;
        const unsigned blocks = (count + THREADS - 1) / THREADS;
        auto bring = [&](int array, const void *values) {
            CHECK(cudaMemcpyAsync(memory + array * static_cast<size_t>(room),
                                  static_cast<const float *>(values) + first, count * sizeof(float),
                                  cudaMemcpyHostToDevice));
        };
        bring(FIRST_TYPE, types);
        bring(FIRST_STRIKE, fields[STRIKE]);
        bring(FIRST_RATE, fields[RATE]);
        bring(YEARS_OF, fields[YEARS]);
        discount_strikes<<<blocks, THREADS>>>(count, room, memory);
        CHECK(cudaGetLastError());
        bring(THEN_YIELD, fields[YIELD]);
        bring(THEN_SPOT, fields[SPOT]);
        if (before > 0)
            CHECK(cudaMemcpy(prices + first - room, volatilities, before * sizeof(float),
                             cudaMemcpyDeviceToHost));
        bring(THEN_VOLATILITY, fields[VOLATILITY]);
        price_few<<<blocks, THREADS>>>(count, room, memory);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(prices + N - count, volatilities, count * sizeof(float),
                     cudaMemcpyDeviceToHost));
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
