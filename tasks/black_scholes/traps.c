#include "task/traps.h"

#include <math.h>
#include <string.h>

enum { N, TYPES, STRIKES, SPOTS, QS, RS, TS, VOLS, PRICES };

static double cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    const double deviation = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / deviation + 0.5 * deviation;
    const double w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * cdf(w * d1) - k * exp(-r * t) * cdf(w * (d1 - deviation))));
}

/* Prices everything with one thing done wrong. */
enum fault { IGNORE_Q, SWAP_Q_R, IGNORE_TYPE };

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    float *out = answer->out[PRICES].data;
    for (int i = 0; i < inst->scalar[N].i32; i++) {
        double q = (double)ae_in_f32(inst, QS)[i], r = (double)ae_in_f32(inst, RS)[i];
        int type = ae_in_i32(inst, TYPES)[i];
        if (fault == SWAP_Q_R) {
            const double kept = q;
            q = r;
            r = kept;
        }
        q = fault == IGNORE_Q ? 0 : q;
        type = fault == IGNORE_TYPE ? 0 : type;
        out[i] = price(type, (double)ae_in_f32(inst, STRIKES)[i], (double)ae_in_f32(inst, SPOTS)[i], q, r,
                       (double)ae_in_f32(inst, TS)[i], (double)ae_in_f32(inst, VOLS)[i]);
    }
    return true;
}

static bool ignore_q(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(IGNORE_Q, inst, answer);
}

static bool swap_q_r(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(SWAP_Q_R, inst, answer);
}

static bool ignore_type(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    return solve_with(IGNORE_TYPE, inst, answer);
}

/* The published data have 37 distinct rows in a cycle. */
static bool period_37(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    const float *from = right->out[PRICES].data;
    float *out = answer->out[PRICES].data;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        out[i] = from[i % 37];
    return inst->scalar[N].i32 > 37;
}

static bool zero_when_cheap(const struct ae_instance *inst, const struct ae_expected *right,
                            struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[PRICES].data;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        out[i] = out[i] < 0.01f ? 0 : out[i];
    return true;
}

static bool lost_tail(const struct ae_instance *inst, const struct ae_expected *right, struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[PRICES].data;
    for (int i = inst->scalar[N].i32 / 4 * 4; i < inst->scalar[N].i32; i++)
        out[i] = 0;
    return true;
}

AE_TRAPS(black_scholes) = {
    {"ignores the dividend yield", NULL, ignore_q},
    {"swaps dividend yield and rate", NULL, swap_q_r},
    {"prices puts as calls", NULL, ignore_type},
    {"repeats 37 prices", NULL, period_37},
    {"returns 0 for cheap options", NULL, zero_when_cheap},
    {"drops what does not fill a vector", "draws", lost_tail},
    {0},
};
