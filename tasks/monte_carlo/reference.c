/* Discounted payoffs of a European put on simulated paths of geometric Brownian motion, one for
 * each path. Every path has its own xorshift stream; a draw becomes a pseudo-normal variate by the
 * central rational function of Acklam's inverse normal distribution. Mixed float and double
 * arithmetic as the contract has it; it must be compiled without contraction into fused
 * multiply-adds. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static float discount(float rate, float t)
{
    return (float)(1.0 / (double)(float)exp((double)(rate * t)));
}

/* Drift over each of the steps 1..count: the forward rate from the discount factors around its end,
 * less half the variance. */
static void fill_drift(float *drift, int count, float dt, float rate, float volatility)
{
    const double half_variance = 0.5 * volatility * volatility;
    for (int j = 1; j <= count; j++) {
        const float t = (float)j * dt;
        const float later = (float)((double)t + 0.0001);
        const float ratio = discount(rate, t) / discount(rate, later);
        const float forward = (float)(log((double)ratio) / (double)(later - t));
        const float mean = (float)((double)forward - half_variance);
        drift[j - 1] = mean * dt;
    }
}

/* Marsaglia's 32-bit generator. */
static uint32_t xorshift(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

static float pseudo_normal(uint32_t draw)
{
    float u = (float)draw * 0x1p-32f;
    if (u < 0.0001f)
        u = 0.0001f;
    if (u > 0.9999f)
        u = 0.9999f;
    const float z = (float)((double)u - 0.5);
    const double r = (double)(z * z);
    const double a =
        ((((-39.696830286653757 * r + 220.94609842452050) * r - 275.92851044696869) * r +
          138.35775186726900) *
             r -
         30.664798066147160) *
            r +
        2.5066282774592392;
    const double b =
        ((((-54.476098798224058 * r + 161.58583685804089) * r - 155.69897985988661) * r +
          66.801311887719720) *
             r -
         13.280681552885721) *
            r +
        1.0;
    return (float)((double)z * a / b);
}

void solution_compute(int N, int num_steps, float risk_free, float volatility, float strike,
                      float spot, float time_to_maturity, unsigned int base_seed, float *payoffs)
{
    const int steps = num_steps - 1; /* the first point is the spot itself */
    const float dt = (float)(1.0 / num_steps);
    const float scale = (float)((double)volatility * sqrt((double)dt));
    const float discount_factor = (float)exp((double)(-risk_free * time_to_maturity));

    float *drift = malloc((size_t)num_steps * sizeof *drift);
    if (!drift)
        return;
    fill_drift(drift, steps, dt, risk_free, volatility);

    for (int i = 0; i < N; i++) {
        uint32_t state = base_seed ^ ((uint32_t)i * 2654435761u);
        if (state == 0) /* xorshift would stay there */
            state = 1;
        float price = spot;
        for (int j = 0; j < steps; j++) {
            state = xorshift(state);
            const float diffusion = scale * pseudo_normal(state);
            const float step = drift[j] + diffusion;
            price = (float)((double)price * exp((double)step));
        }
        const float gain = strike - price;
        payoffs[i] = gain > 0.0f ? gain * discount_factor : 0.0f;
    }
    free(drift);
}
