/* Payoffs on simulated paths, naive: the drift table is made on the host, one thread follows one path as
 * the reference does, with the polynomials and an exponential in double at every step.
 *
 * What bounds it: double arithmetic. The exponential of every step could be one at the end, and in powers
 * of 1/4 - r the polynomials would need float only. */
#include "check.cuh"

#include <cmath>
#include <vector>

static float discount(float rate, float t)
{
    return (float)(1.0 / (double)(float)exp((double)(rate * t)));
}

/* The rounding noise of the forward rates is part of the contract. No line below holds a float product and
 * a float sum that could be contracted into one operation. */
static std::vector<float> make_drift(int steps, float dt, float rate, float volatility)
{
    const double half_variance = 0.5 * volatility * volatility;
    std::vector<float> drift(steps);
    for (int j = 1; j <= steps; j++) {
        const float t = (float)j * dt;
        const float later = (float)((double)t + 0.0001);
        const float ratio = discount(rate, t) / discount(rate, later);
        const float forward = (float)(log((double)ratio) / (double)(later - t));
        const float mean = (float)((double)forward - half_variance);
        drift[j - 1] = mean * dt;
    }
    return drift;
}

__device__ float pseudo_normal(unsigned int draw)
{
    float u = (float)draw * 0x1p-32f;
    u = fminf(fmaxf(u, 0.0001f), 0.9999f);
    const float z = (float)((double)u - 0.5);
    const double r = (double)__fmul_rn(z, z);
    const double a = ((((-39.696830286653757 * r + 220.94609842452050) * r - 275.92851044696869) * r +
                       138.35775186726900) * r - 30.664798066147160) * r + 2.5066282774592392;
    const double b = ((((-54.476098798224058 * r + 161.58583685804089) * r - 155.69897985988661) * r +
                       66.801311887719720) * r - 13.280681552885721) * r + 1.0;
    return (float)((double)z * a / b);
}

__global__ void follow_paths(int n, int steps, const float *drift, float scale, float spot, float strike,
                             float discount_factor, unsigned int base_seed, float *payoffs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int state = base_seed ^ ((unsigned int)i * 2654435761u);
    if (state == 0)
        state = 1;
    float price = spot;
    for (int j = 0; j < steps; j++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        const float step = __fadd_rn(drift[j], __fmul_rn(scale, pseudo_normal(state)));
        price = (float)((double)price * exp((double)step));
    }
    payoffs[i] = fmaxf(strike - price, 0.0f) * discount_factor;
}

extern "C" void solution_compute(int N, int num_steps, float risk_free, float volatility, float strike,
                                 float spot, float time_to_maturity, unsigned int base_seed,
                                 float *payoffs)
{
    const int steps = num_steps - 1;
    const float dt = (float)(1.0 / num_steps);
    const float scale = (float)((double)volatility * sqrt((double)dt));
    const float discount_factor = (float)exp((double)(-risk_free * time_to_maturity));
    const std::vector<float> drift = make_drift(steps, dt, risk_free, volatility);

    float *d_drift, *d_payoffs;
    CHECK(cudaMalloc((void **)&d_drift, (size_t)num_steps * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_payoffs, (size_t)N * sizeof(float)));
    CHECK(cudaMemcpy(d_drift, drift.data(), (size_t)steps * sizeof(float), cudaMemcpyHostToDevice));
    const int threads = 256, blocks = (N - 1) / threads + 1;
    follow_paths<<<blocks, threads>>>(N, steps, d_drift, scale, spot, strike, discount_factor, base_seed,
                                      d_payoffs);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(payoffs, d_payoffs, (size_t)N * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_payoffs));
    CHECK(cudaFree(d_drift));
}
