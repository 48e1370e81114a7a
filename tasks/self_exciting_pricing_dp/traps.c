#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_X,
    N_T,
    N_LAMBDA,
    DX,
    DT,
    ALPHA,
    BETA,
    PHI,
    C,
    A,
    GAMMA,
    K,
    LAMBDA_MIN,
    LAMBDA_MAX,
    V_OUT
};

/* What one wrong solver does otherwise than the scheme asks. */
struct fault {
    int steps_less;      /* of N_T */
    int stride;          /* steps taken at once, with a longer dt; 0 means 1 */
    int jump;            /* fixed number of points; 0: from alpha/dx */
    int coarser;         /* only every coarser-th control; 0 means 1 */
    bool truncate, even; /* how alpha/dx becomes an integer */
    bool no_advection, in_place, reflect, continuous, no_gain, no_power;
    double cost; /* added to c */
};

static double real(const struct ae_instance *inst, int arg)
{
    return (double)inst->scalar[arg].f32;
}

static double best(const struct ae_instance *inst, const struct fault *f, const double *l,
                   const double *r, double gain)
{
    if (f->continuous) {
        const double x = fmin(
            fmax(real(inst, A) * exp(gain - real(inst, C) - f->cost - 1), real(inst, LAMBDA_MIN)),
            real(inst, LAMBDA_MAX));
        return x * (log(real(inst, A) / x) - real(inst, C) - f->cost + gain);
    }
    double m = -1e30;
    for (int j = 0; j < inst->scalar[N_LAMBDA].i32; j += f->coarser ? f->coarser : 1)
        m = fmax(m, r[j] + l[j] * gain);
    return m;
}

static bool run(const struct ae_instance *inst, struct ae_expected *answer, struct fault f)
{
    const int n = inst->scalar[N_X].i32, controls = inst->scalar[N_LAMBDA].i32,
              stride = f.stride ? f.stride : 1;
    double *l = malloc((size_t)controls * sizeof *l), *r = malloc((size_t)controls * sizeof *r);
    double *v = calloc((size_t)n, sizeof *v), *next = calloc((size_t)n, sizeof *next);
    for (int j = 0; j < controls; j++) {
        l[j] = real(inst, LAMBDA_MIN) +
               j * (real(inst, LAMBDA_MAX) - real(inst, LAMBDA_MIN)) / (controls - 1);
        r[j] = l[j] * (log(real(inst, A) / l[j]) - real(inst, C) - f.cost);
    }
    const float quotient = inst->scalar[ALPHA].f32 / inst->scalar[DX].f32;
    const int jump = f.jump       ? f.jump
                     : f.truncate ? (int)(real(inst, ALPHA) / real(inst, DX))
                                  : (int)(f.even ? rintf(quotient) : roundf(quotient));
    for (int t = 0; t < (inst->scalar[N_T].i32 - f.steps_less) / stride; t++) {
        for (int i = 0; i < n; i++) {
            int to = i + jump;
            if (to > n - 1)
                to = f.reflect ? (to > 2 * (n - 1) ? 0 : 2 * (n - 1) - to) : n - 1;
            const double x = i * real(inst, DX), gain = f.no_gain ? 0 : v[to] - v[i];
            const double slope = i == 0 || f.no_advection ? 0 : (v[i] - v[i - 1]) / real(inst, DX);
            const double power = f.no_power ? sqrt(x) : pow(x, real(inst, GAMMA));
            next[i] =
                v[i] + stride * real(inst, DT) *
                           (-x * real(inst, BETA) * slope +
                            (real(inst, K) * power + real(inst, PHI)) * best(inst, &f, l, r, gain));
            if (f.in_place)
                v[i] = next[i];
        }
        double *const old = v;
        v = next;
        next = old;
        if (f.in_place)
            memcpy(next, v, (size_t)n * sizeof *v);
    }
    float *out = answer->out[V_OUT].data;
    for (int i = 0; i < n; i++)
        out[i] = (float)v[i];
    free(l);
    free(r);
    free(v);
    free(next);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return run(inst, answer, (struct fault){__VA_ARGS__});                                     \
    }

TRAP(step_less, .steps_less = 1)
TRAP(two_at_once, .stride = 2)
TRAP(jump_five, .jump = 5)
TRAP(half_the_controls, .coarser = 2)
TRAP(truncated, .truncate = true)
TRAP(half_to_even, .even = true)
TRAP(no_advection, .no_advection = true)
TRAP(in_place, .in_place = true)
TRAP(reflected, .reflect = true)
TRAP(continuous, .continuous = true)
TRAP(no_gain, .no_gain = true)
TRAP(square_root, .no_power = true)
TRAP(other_cost, .cost = 1e-3)

/* What solves the published instance to its tolerance without a single step. */
static bool closed_form(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[V_OUT].data;
    const double x = fmin(fmax(real(inst, A) * exp(-real(inst, C) - 1), real(inst, LAMBDA_MIN)),
                          real(inst, LAMBDA_MAX));
    const double margin = x * (log(real(inst, A) / x) - real(inst, C));
    for (int i = 0; i < inst->scalar[N_X].i32; i++)
        out[i] =
            (float)(inst->scalar[N_T].i32 * real(inst, DT) * margin *
                    (real(inst, K) * pow(i * real(inst, DX), real(inst, GAMMA)) + real(inst, PHI)));
    return true;
}

AE_TRAPS(self_exciting_pricing_dp) = {
    {"a formula instead of the steps", "hardened", closed_form},
    {"ignores the jump's gain", "hardened", no_gain},
    {"one step less", "hardened", step_less},
    {"half the steps, twice as long", "hardened", two_at_once},
    {"jumps five points, as published", "hardened", jump_five},
    {"truncates alpha/dx", "hardened", truncated},
    {"rounds halves of alpha/dx to even", "ties", half_to_even},
    {"ignores the decay of the excitement", "hardened", no_advection},
    {"updates in place", "hardened", in_place},
    {"reflects jumps at the last point", "hardened", reflected},
    {"half of the controls", "hardened", half_the_controls},
    {"the best control between grid points", "hardened", continuous},
    {"a square root instead of the power", "hardened", square_root},
    {"keeps a cost of an earlier call", "hardened", other_cost},
    {0},
};
