// step: C08 on 01-C02.cu
// Numerator and denominator in float, which they bear in powers of q = 1/4 - r: there all
// coefficients are positive, while in powers of r terms of size 40 cancel to 1e-4. Sums of 32 steps
// are in float too.
#include "check.cuh"

#include <cmath>

constexpr int THREADS = 256;
constexpr int CHUNK = 32; // steps that are summed in float before they are added in double

static float discount(float rate, float t)
{
    return static_cast<float>(
        1.0 / static_cast<double>(static_cast<float>(exp(static_cast<double>(rate * t)))));
}

// The sum of the drifts of all steps. Their rounding noise is part of the contract.
static double total_drift(int steps, float dt, float rate, float volatility)
{
    const double half_variance = 0.5 * volatility * volatility;
    double sum = 0.0;
    for (int j = 1; j <= steps; j++) {
        const float t = static_cast<float>(j) * dt;
        const float later = static_cast<float>(static_cast<double>(t) + 0.0001);
        const float ratio = discount(rate, t) / discount(rate, later);
        const float forward =
            static_cast<float>(log(static_cast<double>(ratio)) / static_cast<double>(later - t));
        const float mean = static_cast<float>(static_cast<double>(forward) - half_variance);
        const float drift = mean * dt;
        sum += static_cast<double>(drift);
    }
    return sum;
}

static __device__ float pseudo_normal(unsigned int draw)
{
    float z = fmaf(static_cast<float>(draw), 0x1p-32f, -0.5f);
    z = fminf(fmaxf(z, 0.0001f - 0.5f), 0.9999f - 0.5f);
    const float q = fmaf(-z, z, 0.25f);
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
    return z * a / b;
}

static __global__ void follow_paths(int n, int steps, double drift, float scale, float spot,
                                    float strike, float discount_factor, unsigned int base_seed,
                                    float *payoffs)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    unsigned int state = base_seed ^ (static_cast<unsigned int>(i) * 2654435761u);
    if (state == 0) // xorshift would stay there
        state = 1;
    double sum = 0.0;
    for (int from = 0; from < steps; from += CHUNK) {
        float part = 0.0f;
        for (int j = from; j < min(steps, from + CHUNK); j++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            part += pseudo_normal(state);
        }
        sum += static_cast<double>(part);
    }
    const double price = static_cast<double>(spot) * exp(drift + static_cast<double>(scale) * sum);
    payoffs[i] = fmaxf(strike - static_cast<float>(price), 0.0f) * discount_factor;
}

extern "C" void solution_compute(int N, int num_steps, float risk_free, float volatility,
                                 float strike, float spot, float time_to_maturity,
                                 unsigned int base_seed, float *payoffs)
{
    const int steps = num_steps - 1;
    const float dt = static_cast<float>(1.0 / num_steps);
    const float scale =
        static_cast<float>(static_cast<double>(volatility) * sqrt(static_cast<double>(dt)));
    const float exponent = -risk_free * time_to_maturity;
    const float discount_factor = static_cast<float>(exp(static_cast<double>(exponent)));
    const double drift = total_drift(steps, dt, risk_free, volatility);

    const size_t bytes = static_cast<size_t>(N) * sizeof(float);
    float *memory;
    CHECK(cudaMalloc(&memory, bytes));
    follow_paths<<<(N - 1) / THREADS + 1, THREADS>>>(N, steps, drift, scale, spot, strike,
                                                     discount_factor, base_seed, memory);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(payoffs, memory, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
