// Payoffs on simulated paths: only the sum of a path's pseudo-normals depends on the path, so a
// step costs three shifts of its stream and a fraction, and the exponential comes once, at the end.
//
// Approach: in powers of q = 1/4 - r all coefficients are positive, so that numerator and
// denominator are safe in float; the fractions of four steps are added before the one division, and
// the clamp is the saturation of a multiplication. The drift table's rounding noise is part of the
// contract: it is summed in double, by every block or, where there would be many, by a thread of
// the host. Up to 1 MB payoffs go to a static arena and are copied; more are written straight into
// the caller's memory, which is registered half by half; many go into slots of pinned memory, from
// which threads of the host copy them.
//
// What bounds it: instructions, some 26 a step, at large sizes; below, registering and the way out.
//
// Tried: registering in six pieces (each call costs), at small sizes (slower than a copy) and at
// large ones (a tenth slower than slots); six threads for the slots (a tenth slower than four,
// and two are as good); managed memory in place of the copy and of the slots (three times slower at
// small, twice at medium: telling the system where it is to stay takes 0.04 ms a MB).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, medians: 0.12, 0.45 and 0.88 ms (23,
// 14 and 21 % of what the bus would need for the payoffs; small with an allocation in place of the
// arena 0.22 ms on the same machine; naive 0.34, 1.04 and 3.1 ms). The kernels alone, in blocks of
// 256, took 0.036, 0.127 and 0.463 ms: 1.1e12 steps a second. An evaluation, which comes to a call
// with cold caches, took 0.39 ms at small with the allocation.
#include "transfer.cuh"

#include <cmath>
#include <cstdint>

constexpr int THREADS = 128, WARPS = THREADS / 32, RESIDENT = 10; // blocks on a multiprocessor
constexpr int CHUNK = 32; // steps that are summed in float before they are added in double
constexpr size_t PAGE = 4096, ARENA = 1000 * 1000,
                 RING_FROM = size_t(4) << 20;               // bytes
constexpr int HALVES = 2;                                   // pieces that are registered
constexpr int HOST_THREADS = 2, SLOTS = 8, PIECE = 1 << 16; // of the ring; paths in a slot
constexpr int STREAMS = 4;

// For few payoffs: an allocation would cost as much as the rest.
static __device__ __align__(256) float arena[ARENA / sizeof(float)];

struct Market {
    int steps; // random ones: the first point is the spot itself
    float dt, rate, volatility, scale, spot, strike, discount;
    unsigned int seed;
};

static __host__ __device__ float product(float a, float b) // never part of a fused operation
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

static __host__ __device__ float discount_factor(float rate, float t)
{
    return static_cast<float>(
        1.0 / static_cast<double>(static_cast<float>(exp(static_cast<double>(product(rate, t))))));
}

// Drift over step j, rounded as the reference rounds it.
static __host__ __device__ float drift_of(const Market &m, int j)
{
    const float t = product(static_cast<float>(j), m.dt);
    const float later = static_cast<float>(static_cast<double>(t) + 0.0001);
    const float ratio = discount_factor(m.rate, t) / discount_factor(m.rate, later);
    const float forward =
        static_cast<float>(log(static_cast<double>(ratio)) / static_cast<double>(later - t));
    const double half_variance = 0.5 * m.volatility * m.volatility;
    return product(static_cast<float>(static_cast<double>(forward) - half_variance), m.dt);
}

// The sum of all drifts, to every thread of the block.
static __device__ double total_drift(const Market &m)
{
    __shared__ double part[WARPS];
    double sum = 0.0;
    for (int j = 1 + static_cast<int>(threadIdx.x); j <= m.steps; j += THREADS)
        sum += static_cast<double>(drift_of(m, j));
    for (int width = 16; width > 0; width /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, width);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0;
    for (int w = 0; w < WARPS; w++)
        sum += part[w];
    return sum;
}

struct Fraction {
    float over, under;
};

static __device__ Fraction add(Fraction a, Fraction b)
{
    return Fraction{fmaf(a.over, b.under, b.over * a.under), a.under * b.under};
}

// The denominators of four are between 1e-16 and 1.
static __device__ float quotient(Fraction f)
{
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(f.under));
    return f.over * inverse;
}

// The next pseudo-normal of a stream.
static __device__ Fraction draw(unsigned int &state)
{
    constexpr float LEAST = 0.0001f - 0.5f, MOST = 0.9999f - 0.5f, SPAN = MOST - LEAST;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const float share = __saturatef(
        fmaf(static_cast<float>(state), static_cast<float>(0x1p-32 / SPAN), -0.0001f / SPAN));
    const float z = fmaf(share, SPAN, LEAST), q = fmaf(-z, z, 0.25f);
    float a = 39.69683028665376f, b = 54.47609879822406f;
    a = fmaf(a, q, 171.3250605662033f);
    b = fmaf(b, q, 93.49071336026083f);
    a = fmaf(a, q, 79.79293095160679f);
    b = fmaf(b, q, 28.16070475073575f);
    a = fmaf(a, q, 8.063526208948025f);
    b = fmaf(b, q, 2.109875377347591f);
    a = fmaf(a, q, 0.18871540632296283f);
    b = fmaf(b, q, 0.038455833779857174f);
    a = fmaf(a, q, 7.095380368489987e-4f);
    b = fmaf(b, q, 1.1040444440565955e-4f);
    return Fraction{z * a, b};
}

// Paths first to first + count - 1. The warps of a block share a range of the paths.
template <bool SUM_DRIFT>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    follow_paths(Market m, double drift, int first, int count, float *payoffs)
{
    if (SUM_DRIFT)
        drift = total_drift(m);
    const int lane = threadIdx.x % 32, groups = (count + 31) / 32;
    const int end = static_cast<int>(static_cast<long long>(groups) * (blockIdx.x + 1) / gridDim.x);
    int group = static_cast<int>(static_cast<long long>(groups) * blockIdx.x / gridDim.x) +
                static_cast<int>(threadIdx.x) / 32;
    for (; group < end; group += WARPS) {
        const int i = group * 32 + lane;
        unsigned int state = m.seed ^ (static_cast<unsigned int>(first + i) * 2654435761u);
        if (state == 0) // xorshift would stay there
            state = 1;
        double sum = 0.0;
        int left = m.steps;
        while (left >= 4) {
            float part = 0.0f;
            const int quads = min(left, CHUNK) / 4;
#pragma unroll 2
            for (int k = 0; k < quads; k++) {
                const Fraction w1 = draw(state), w2 = draw(state), w3 = draw(state),
                               w4 = draw(state);
                part += quotient(add(add(w1, w2), add(w3, w4)));
            }
            left -= 4 * quads;
            sum += static_cast<double>(part);
        }
        for (; left > 0; left--)
            sum += static_cast<double>(quotient(draw(state)));
        const double price =
            static_cast<double>(m.spot) * exp(drift + static_cast<double>(m.scale) * sum);
        if (i < count)
            payoffs[i] = fmaxf(m.strike - static_cast<float>(price), 0.0f) * m.discount;
    }
}

template <bool SUM_DRIFT>
static void launch(const Market &m, double drift, int first, int count, float *payoffs,
                   int processors, cudaStream_t stream)
{
    const int wanted = (count + THREADS - 1) / THREADS, resident = RESIDENT * processors,
              blocks = wanted < resident ? wanted : resident;
    follow_paths<SUM_DRIFT><<<blocks, THREADS, 0, stream>>>(m, drift, first, count, payoffs);
    CHECK(cudaGetLastError());
}

static void by_copy(const Market &m, int N, float *payoffs, int processors)
{
    const size_t bytes = static_cast<size_t>(N) * sizeof(float);
    float *memory;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    launch<true>(m, 0.0, 0, N, memory, processors, nullptr);
    CHECK(cudaMemcpy(payoffs, memory, bytes, cudaMemcpyDeviceToHost));
}

// One piece is registered while the one before is computed. Pieces end at pages, so that a page
// belongs to one only.
static void by_register(const Market &m, int N, float *payoffs, int processors)
{
    float *from[HALVES + 1];
    for (int k = 0; k <= HALVES; k++)
        from[k] = payoffs + static_cast<size_t>(N) * k / HALVES;
    for (int k = 1; k < HALVES; k++)
        from[k] = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(from[k]) / PAGE * PAGE);
    for (int k = 0; k < HALVES; k++) {
        CHECK(cudaHostRegister(from[k], (from[k + 1] - from[k]) * sizeof(float),
                               cudaHostRegisterMapped));
        float *mapped;
        CHECK(cudaHostGetDevicePointer(&mapped, from[k], 0));
        launch<true>(m, 0.0, static_cast<int>(from[k] - payoffs),
                     static_cast<int>(from[k + 1] - from[k]), mapped, processors, nullptr);
    }
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < HALVES; k++)
        CHECK(cudaHostUnregister(from[k]));
}

static void by_ring(const Market &m, int N, float *payoffs, int processors)
{
    const transfer::Shape shape = {transfer::threads_for(HOST_THREADS), SLOTS,
                                   PIECE * sizeof(float)};
    double drift = 0.0;
    unsigned turn = 0;
    cudaStream_t streams[STREAMS];
    transfer::pipeline(
        shape, (static_cast<size_t>(N) + PIECE - 1) / PIECE,
        [&] {
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        },
        [&](size_t piece, char *) { // while the slots are registered
            for (int j = 1; piece == 0 && j <= m.steps; j++)
                drift += static_cast<double>(drift_of(m, j));
        },
        [&](size_t piece, size_t count, char *slots) {
            const int first = static_cast<int>(piece) * PIECE, left = N - first,
                      room = static_cast<int>(count) * PIECE;
            cudaStream_t stream = streams[turn++ % STREAMS];
            launch<false>(m, drift, first, left < room ? left : room,
                          reinterpret_cast<float *>(slots), processors, stream);
            return stream;
        },
        [&](size_t piece, char *slot) {
            const size_t from = piece * PIECE, left = static_cast<size_t>(N) - from;
            memcpy(payoffs + from, slot, (left < PIECE ? left : PIECE) * sizeof(float));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}

extern "C" void solution_compute(int N, int num_steps, float risk_free, float volatility,
                                 float strike, float spot, float time_to_maturity,
                                 unsigned int base_seed, float *payoffs)
{
    const float dt = static_cast<float>(1.0 / num_steps);
    const float exponent = -risk_free * time_to_maturity;
    const Market m = {
        num_steps - 1,
        dt,
        risk_free,
        volatility,
        static_cast<float>(static_cast<double>(volatility) * sqrt(static_cast<double>(dt))),
        spot,
        strike,
        static_cast<float>(exp(static_cast<double>(exponent))),
        base_seed};
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const size_t bytes = static_cast<size_t>(N) * sizeof(float);
    if (bytes <= ARENA)
        by_copy(m, N, payoffs, processors);
    else if (bytes < RING_FROM)
        by_register(m, N, payoffs, processors);
    else
        by_ring(m, N, payoffs, processors);
}
