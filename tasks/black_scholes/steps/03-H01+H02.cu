// step: H01+H02 on 02-M05.cu
// Host threads copy pieces of the arrays into slots of pinned memory, the kernel reads and writes a
// run of slots over the bus, and the threads copy the prices out, so that copies, bus and kernels
// work at once and nothing is allocated on the device. Few options are copied as before.
#include "transfer.cuh"

constexpr int HOST_THREADS = 12;
constexpr int MANY = 1 << 18; // options from which the ring pays
constexpr int PIECE = 16384;  // options in a slot
constexpr int THREADS = 128, PER_THREAD = 4, STREAMS = 4, INPUTS = 7, FIELDS = INPUTS + 1;

// With w = +1 for a call and -1 for a put: w (S e^-qt Phi(w d1) - K e^-rt Phi(w d2)).
static __device__ float price_of(int type, float strike, float spot, float q, float r, float t,
                                 float volatility)
{
    const float w = type == 0 ? 1.0f : -1.0f;
    const float deviation = volatility * sqrtf(t);
    const float d1 = (logf(spot / strike) + (r - q) * t) / deviation + 0.5f * deviation,
                d2 = d1 - deviation;
    const float share = 0.5f * erfcf(-w * d1 * 0.70710678f),
                cash = 0.5f * erfcf(-w * d2 * 0.70710678f);
    return w * (spot * expf(-q * t) * share - strike * expf(-r * t) * cash);
}

// A slot for each blockIdx.y; n: options in all slots together. A slot: types, strikes, spots,
// yields, rates, years, volatilities and prices, `each` of each, which is a multiple of four. What
// lies behind the last option is priced too and never looked at.
static __global__ void price_options(long long n, size_t each, float *data)
{
    data += blockIdx.y * FIELDS * each;
    n -= static_cast<long long>(blockIdx.y * each);
    const int i = (blockIdx.x * THREADS + threadIdx.x) * PER_THREAD;
    if (i >= n)
        return;
    float4 in[INPUTS];
    for (int k = 0; k < INPUTS; k++)
        in[k] = *reinterpret_cast<const float4 *>(data + k * each + i);
    *reinterpret_cast<float4 *>(data + INPUTS * each + i) = make_float4(
        price_of(__float_as_int(in[0].x), in[1].x, in[2].x, in[3].x, in[4].x, in[5].x, in[6].x),
        price_of(__float_as_int(in[0].y), in[1].y, in[2].y, in[3].y, in[4].y, in[5].y, in[6].y),
        price_of(__float_as_int(in[0].z), in[1].z, in[2].z, in[3].z, in[4].z, in[5].z, in[6].z),
        price_of(__float_as_int(in[0].w), in[1].w, in[2].w, in[3].w, in[4].w, in[5].w, in[6].w));
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots,
                                 const float *qs, const float *rs, const float *ts,
                                 const float *vols, float *prices)
{
    const void *const inputs[INPUTS] = {types, strikes, spots, qs, rs, ts, vols};
    if (N < MANY) {
        const size_t count = static_cast<size_t>(N), bytes = count * sizeof(float),
                     each = (count + PER_THREAD - 1) / PER_THREAD * PER_THREAD;
        float *memory;
        CHECK(cudaMalloc(&memory, (INPUTS + 1) * each * sizeof(float)));
        for (int k = 0; k < INPUTS; k++)
            CHECK(cudaMemcpy(memory + k * each, inputs[k], bytes, cudaMemcpyHostToDevice));
        const int covered = THREADS * PER_THREAD, blocks = (N + covered - 1) / covered;
        price_options<<<blocks, THREADS>>>(N, each, memory);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(prices, memory + INPUTS * each, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(memory));
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
            for (size_t k = 0; k < INPUTS; k++)
                memcpy(slot + k * each * sizeof(float),
                       static_cast<const float *>(inputs[k]) + piece * each,
                       length(piece) * sizeof(float));
        },
        [&](size_t piece, size_t count, char *slots) {
            cudaStream_t stream = streams[turn++ % STREAMS];
            const dim3 grid(each / (THREADS * PER_THREAD), static_cast<unsigned>(count));
            price_options<<<grid, THREADS, 0, stream>>>(N - static_cast<long long>(piece * each),
                                                        each, reinterpret_cast<float *>(slots));
            CHECK(cudaGetLastError());
            return stream;
        },
        [&](size_t piece, char *slot) {
            memcpy(prices + piece * each, reinterpret_cast<float *>(slot) + INPUTS * each,
                   length(piece) * sizeof(float));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}
