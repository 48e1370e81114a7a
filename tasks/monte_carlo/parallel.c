/* The last price of a path is spot * exp(sum of drifts + scale * sum of variates): the drifts are
 * the same for all paths and summed once, and the loop over the steps holds no exponential. The
 * rational function is evaluated in float around q = 1/4 - r, where all coefficients are positive
 * and nothing cancels in the tails. Vectors run over paths. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { LANES = 64 };

/* The contract of the drift is one of single roundings: nothing here may be contracted. */
#ifndef __clang__
__attribute__((optimize("fp-contract=off")))
#endif
static double
sum_of_drifts(int steps, float dt, float rate, float volatility)
{
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
    const double half_variance = 0.5 * volatility * volatility;
    double sum = 0;
    for (int j = 1; j <= steps; j++) {
        const float t = (float)j * dt;
        const float later = (float)((double)t + 0.0001);
        const float now = (float)(1.0 / (double)(float)exp((double)(rate * t)));
        const float then = (float)(1.0 / (double)(float)exp((double)(rate * later)));
        const float forward = (float)(log((double)(now / then)) / (double)(later - t));
        const float mean = (float)((double)forward - half_variance);
        const float drift = mean * dt;
        sum += drift;
    }
    return sum;
}

static void add_variates(uint32_t *restrict state, float *restrict sum)
{
#pragma omp simd
    for (int k = 0; k < LANES; k++) {
        uint32_t x = state[k];
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        state[k] = x;
        float u = (float)x * 0x1p-32f;
        u = u < 0.0001f ? 0.0001f : u;
        u = u > 0.9999f ? 0.9999f : u;
        const float z = u - 0.5f, r = z * z, q = 0.25f - r;
        const float a = 7.095380368489987e-4f +
                        q * (0.18871540632296283f +
                             q * (8.063526208948025f +
                                  q * (79.79293095160679f +
                                       q * (171.3250605662033f + q * 39.69683028665376f))));
        const float b = 1.1040444440565955e-4f +
                        q * (0.038455833779857174f +
                             q * (2.109875377347591f +
                                  q * (28.16070475073575f +
                                       q * (93.49071336026083f + q * 54.47609879822406f))));
        sum[k] += z * a / b;
    }
}

void solution_compute(int N, int num_steps, float risk_free, float volatility, float strike,
                      float spot, float time_to_maturity, unsigned int base_seed, float *payoffs)
{
    const int steps = num_steps - 1;
    const float dt = (float)(1.0 / num_steps);
    const float scale = (float)((double)volatility * sqrt((double)dt));
    const float discount_factor = (float)exp((double)(-risk_free * time_to_maturity));
    const double drift = sum_of_drifts(steps, dt, risk_free, volatility);

    const int blocks = N / LANES + (N % LANES > 0);
#pragma omp parallel for schedule(static)
    for (int block = 0; block < blocks; block++) {
        const int first = block * LANES;
        uint32_t state[LANES];
        float sum[LANES] = {0};
        for (int k = 0; k < LANES; k++) {
            state[k] = base_seed ^ (((uint32_t)first + (uint32_t)k) * 2654435761u);
            state[k] = state[k] ? state[k] : 1;
        }
        for (int j = 0; j < steps; j++)
            add_variates(state, sum);
        for (int k = 0; k < LANES && first + k < N; k++) {
            const float price = (float)(spot * exp(drift + (double)scale * sum[k]));
            payoffs[first + k] = price < strike ? (strike - price) * discount_factor : 0.0f;
        }
    }
}
