// step: P02 on 03-C07.cu
// Every block sums the drifts itself, each thread some of them, combined by shuffles, before its
// paths begin: on the host the sum took as long as the device needs for all paths of a small
// instance. Every block of paths pays for its sum.
#include "check.cuh"

#include <cmath>

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int CHUNK = 32; // steps that are summed in float before they are added in double

struct Market {
    int steps; // random ones: the first point is the spot itself
    float dt, rate, volatility, scale, spot, strike, discount;
    unsigned int seed;
};

static __device__ float discount_factor(float rate, float t)
{
    return static_cast<float>(1.0 / static_cast<double>(static_cast<float>(
                                        exp(static_cast<double>(__fmul_rn(rate, t))))));
}

// Drift over step j, rounded as the reference rounds it.
static __device__ float drift_of(const Market &m, int j)
{
    const float t = __fmul_rn(static_cast<float>(j), m.dt);
    const float later = static_cast<float>(static_cast<double>(t) + 0.0001);
    const float ratio = discount_factor(m.rate, t) / discount_factor(m.rate, later);
    const float forward =
        static_cast<float>(log(static_cast<double>(ratio)) / static_cast<double>(later - t));
    const double half_variance = 0.5 * m.volatility * m.volatility;
    return __fmul_rn(static_cast<float>(static_cast<double>(forward) - half_variance), m.dt);
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

static __global__ void follow_paths(int n, Market m, float *payoffs)
{
    const double drift = total_drift(m);
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    unsigned int state = m.seed ^ (static_cast<unsigned int>(i) * 2654435761u);
    if (state == 0) // xorshift would stay there
        state = 1;
    double sum = 0.0;
    int left = m.steps;
    while (left >= 4) {
        float part = 0.0f;
        const int quads = min(left, CHUNK) / 4;
        for (int k = 0; k < quads; k++) {
            const Fraction w1 = draw(state), w2 = draw(state), w3 = draw(state), w4 = draw(state);
            const Fraction w = add(add(w1, w2), add(w3, w4));
            part += quotient(w);
        }
        left -= 4 * quads;
        sum += static_cast<double>(part);
    }
    for (; left > 0; left--) {
        const Fraction w = draw(state);
        sum += static_cast<double>(quotient(w));
    }
    const double price =
        static_cast<double>(m.spot) * exp(drift + static_cast<double>(m.scale) * sum);
    payoffs[i] = fmaxf(m.strike - static_cast<float>(price), 0.0f) * m.discount;
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
    const size_t bytes = static_cast<size_t>(N) * sizeof(float);
    float *memory;
    CHECK(cudaMalloc(&memory, bytes));
    follow_paths<<<(N - 1) / THREADS + 1, THREADS>>>(N, m, memory);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(payoffs, memory, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
