#include "task/traps.h"

#include <stdlib.h>

enum { N, A_X10000, S, NUM_BISECT, V_OUT };

static size_t state(int k, int a)
{
    return (size_t)k * ((size_t)k + 1) / 2 + (size_t)a;
}

static double mean(int k, int a)
{
    return (double)(a + 1) / (double)(k + 2);
}

/* Advantages of all states at one payment, by one sweep in double. */
static void sweep(int layers, double gamma, double payment, double *w)
{
    for (int k = layers - 1; k >= 0; k--)
        for (int a = 0; a <= k; a++) {
            const double r = mean(k, a);
            double future = 0;
            if (k < layers - 1) {
                const double up = w[state(k + 1, a + 1)], down = w[state(k + 1, a)];
                future = r * (up > 0 ? up : 0) + (1 - r) * (down > 0 ? down : 0);
            }
            w[state(k, a)] = r - payment + gamma * future;
        }
}

/* All indices by interpolation between `grid` payments, or without it by the middle of the bracket;
 * the first `count` states of a triangle of `layers` layers. */
static void by_grid(int layers, double gamma, int grid, bool interpolate, float *out, size_t count)
{
    const size_t states = state(layers, 0);
    double *left = malloc(states * sizeof *left), *right = malloc(states * sizeof *right);
    if (!left || !right)
        abort();
    sweep(layers, gamma, 0, left);
    for (int g = 0; g < grid; g++) {
        const double lo = (double)g / grid, step = 1.0 / grid;
        sweep(layers, gamma, lo + step, right);
        for (size_t i = 0; i < states && i < count; i++)
            if (left[i] > 0 && right[i] <= 0)
                out[i] = (float)(lo + step * (interpolate ? left[i] / (left[i] - right[i]) : 0.5));
        double *kept = left;
        left = right;
        right = kept;
    }
    free(right);
    free(left);
}

static double discount(const struct ae_instance *inst)
{
    return inst->scalar[A_X10000].i32 / 10000.0;
}

static bool halvings_14(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    by_grid(inst->scalar[N].i32, discount(inst), 1 << 14, false, answer->out[V_OUT].data,
            answer->out[V_OUT].count);
    return true;
}

/* What 17 halvings leave of any root. */
static bool halvings_17(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    const float *from = right->out[V_OUT].data;
    float *out = answer->out[V_OUT].data;
    for (size_t i = 0; i < right->out[V_OUT].count; i++)
        out[i] = ((float)(int)(from[i] * 131072.0f) + 0.5f) / 131072.0f;
    (void)inst;
    return true;
}

static bool grid_1024(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    by_grid(inst->scalar[N].i32, discount(inst), 1024, true, answer->out[V_OUT].data,
            answer->out[V_OUT].count);
    return true;
}

static bool grid_4096(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    by_grid(inst->scalar[N].i32, discount(inst), 4096, true, answer->out[V_OUT].data,
            answer->out[V_OUT].count);
    return true;
}

static bool posterior_mean(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[V_OUT].data;
    for (int k = 0; k < inst->scalar[N].i32; k++)
        for (int a = 0; a <= k; a++)
            out[state(k, a)] = (float)mean(k, a);
    return true;
}

/* A table made for the published discount, whatever is asked. */
static bool fixed_discount(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    by_grid(inst->scalar[N].i32, 0.9, 1 << 13, true, answer->out[V_OUT].data,
            answer->out[V_OUT].count);
    return true;
}

/* A longer horizon, as tables of the infinite one give. */
static bool no_truncation(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    by_grid(inst->scalar[N].i32 + 40, discount(inst), 1 << 13, true, answer->out[V_OUT].data,
            answer->out[V_OUT].count);
    return true;
}

static bool mirrored(const struct ae_instance *inst, const struct ae_expected *right,
                     struct ae_expected *answer)
{
    const float *from = right->out[V_OUT].data;
    float *out = answer->out[V_OUT].data;
    for (int k = 0; k < inst->scalar[N].i32; k++)
        for (int a = 0; a <= k; a++)
            out[state(k, a)] = from[state(k, k - a)];
    return true;
}

AE_TRAPS(gittins_index) = {
    {"makes 14 halvings", "horizons", halvings_14},
    {"makes 17 halvings", "horizons", halvings_17},
    {"interpolates between 1024 payments", "horizons", grid_1024},
    {"interpolates between 4096 payments", "horizons", grid_4096},
    {"returns the posterior mean", "horizons", posterior_mean},
    {"answers for the published discount", "impatient", fixed_discount},
    {"forgets the truncation", "patient", no_truncation},
    {"takes failures for successes", "horizons", mirrored},
    {0},
};
