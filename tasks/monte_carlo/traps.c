#include "task/traps.h"

#include <math.h>

enum { N, NUM_STEPS, RISK_FREE, VOLATILITY, STRIKE, SPOT, TIME_TO_MATURITY, BASE_SEED, PAYOFFS };

enum fault {
    ONE_STEP_MORE,
    STEP_BY_MATURITY,
    TRUE_TAILS,
    FLOAT_CANCELS,
    NO_CLAMP,
    OTHER_SEED,
    ZERO_STAYS,
    DISCOUNT_BY_HORIZON,
    ANTITHETIC
};

static double drift(const struct ae_instance *inst, int j, float dt)
{
    const float rate = inst->scalar[RISK_FREE].f32, t = (float)j * dt;
    const float later = (float)((double)t + 0.0001), v = inst->scalar[VOLATILITY].f32;
    const float now = (float)(1 / (double)(float)exp((double)(rate * t)));
    const float then = (float)(1 / (double)(float)exp((double)(rate * later)));
    const float forward = (float)(log((double)(now / then)) / (double)(later - t));
    return (double)forward - 0.5 * (double)v * (double)v;
}

static double variate(uint32_t draw, enum fault fault)
{
    static const double a[] = {-39.696830286653757, 220.94609842452050,  -275.92851044696869,
                               138.35775186726900,  -30.664798066147160, 2.5066282774592392};
    static const double b[] = {-54.476098798224058, 161.58583685804089,  -155.69897985988661,
                               66.801311887719720,  -13.280681552885721, 1};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838,
                               -2.549732539343734,     4.374664141464968,      2.938163982698783};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996,
                               3.754408661907416, 1};
    double u = (double)((float)draw * 0x1p-32f);
    if (fault != NO_CLAMP)
        u = u < 1e-4 ? 1e-4 : u > 0.9999 ? 0.9999 : u;
    const double tail = u < 0.5 ? u : 1 - u;
    if (fault == TRUE_TAILS && tail < 0.02425) {
        const double q = sqrt(-2 * log(tail));
        double x = c[0], y = d[0];
        for (int k = 1; k < 6; k++)
            x = x * q + c[k];
        for (int k = 1; k < 5; k++)
            y = y * q + d[k];
        return u < 0.5 ? x / y : -x / y;
    }
    const double z = u - 0.5, r = z * z;
    if (fault == FLOAT_CANCELS) {
        float x = (float)a[0], y = (float)b[0];
        for (int k = 1; k < 6; k++) {
            x = x * (float)r + (float)a[k];
            y = y * (float)r + (float)b[k];
        }
        return z * (double)(x / y);
    }
    double x = a[0], y = b[0];
    for (int k = 1; k < 6; k++) {
        x = x * r + a[k];
        y = y * r + b[k];
    }
    return z * x / y;
}

static bool simulate(const struct ae_instance *inst, struct ae_expected *answer, enum fault fault)
{
    const int n = inst->scalar[N].i32, points = inst->scalar[NUM_STEPS].i32;
    const int steps = fault == ONE_STEP_MORE ? points : points - 1;
    const double strike = (double)inst->scalar[STRIKE].f32,
                 years = (double)inst->scalar[TIME_TO_MATURITY].f32;
    const double rate = (double)inst->scalar[RISK_FREE].f32;
    float dt = (float)(1.0 / points);
    if (fault == STEP_BY_MATURITY)
        dt = (float)(years / points);
    const double scale = (double)inst->scalar[VOLATILITY].f32 * sqrt((double)dt);
    const double discount =
        exp(-rate * (fault == DISCOUNT_BY_HORIZON ? (double)dt * steps : years));
    float *out = answer->out[PAYOFFS].data;
    double all_drift = 0;
    for (int j = 1; j <= steps; j++)
        all_drift += drift(inst, j, dt) * (double)dt;
    for (int i = 0; i < n; i++) {
        const uint32_t seed = inst->scalar[BASE_SEED].u32 + (fault == OTHER_SEED);
        const uint32_t path = (uint32_t)(fault == ANTITHETIC ? i / 2 : i);
        uint32_t x = seed ^ (path * UINT32_C(2654435761));
        if (x == 0 && fault != ZERO_STAYS)
            x = 1;
        double sum = 0;
        for (int j = 0; j < steps; j++) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            sum += variate(x, fault);
        }
        if (fault == ANTITHETIC && i % 2)
            sum = -sum;
        const double gain = strike - (double)inst->scalar[SPOT].f32 * exp(all_drift + scale * sum);
        out[i] = (float)(gain > 0 ? gain * discount : 0);
    }
    return steps >= 1;
}

#define FAULTY(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return simulate(inst, answer, fault);                                                      \
    }

FAULTY(one_step_more, ONE_STEP_MORE)
FAULTY(step_by_maturity, STEP_BY_MATURITY)
FAULTY(true_tails, TRUE_TAILS)
FAULTY(float_cancels, FLOAT_CANCELS)
FAULTY(no_clamp, NO_CLAMP)
FAULTY(other_seed, OTHER_SEED)
FAULTY(zero_stays, ZERO_STAYS)
FAULTY(discount_by_horizon, DISCOUNT_BY_HORIZON)
FAULTY(antithetic, ANTITHETIC)

/* Inside every path's tolerance, but always to one side. */
static bool leans(const struct ae_instance *inst, const struct ae_expected *right,
                  struct ae_expected *answer)
{
    const float *exact = right->out[PAYOFFS].data;
    float *out = answer->out[PAYOFFS].data;
    double sum = 0;
    for (int i = 0; i < inst->scalar[N].i32; i++) {
        sum += (double)exact[i];
        out[i] = (float)((double)exact[i] +
                         0.995e-5 * ((double)inst->scalar[STRIKE].f32 + (double)exact[i]));
    }
    return sum > 0.02 * (double)inst->scalar[STRIKE].f32 * inst->scalar[N].i32;
}

AE_TRAPS(monte_carlo) = {
    {"takes num_steps steps", "market", one_step_more},
    {"divides the time to maturity into steps", "market", step_by_maturity},
    {"uses the true inverse normal in the tails", "market", true_tails},
    {"evaluates the polynomials in float as they stand", "market", float_cancels},
    {"does not clamp the uniforms", "market", no_clamp},
    {"draws from another stream", "market", other_seed},
    {"leaves a zero state at zero", "zero_state", zero_stays},
    {"discounts over the simulated year", "market", discount_by_horizon},
    {"pairs paths with their mirror images", "market", antithetic},
    {"errs to one side on all paths", "market", leans},
    {0},
};
