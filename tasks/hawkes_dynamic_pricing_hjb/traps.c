#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH, J, N, ACTIONS, H, TAU, LAMBDA0, A, B_PARAM, ALPHA0, BETA, U, LAMBDA };

enum fault {
    NO_JUMP,       /* a sale excites nothing */
    NO_EXTENSION,  /* positions beyond the grid are taken for its end */
    NEAREST,       /* no interpolation */
    NO_SQUARE,     /* without the 0.001 x^2 term */
    UNCLAMPED,     /* the top of the parabola, whether or not it is an action */
    FIRST_PRODUCT, /* all products as the first one */
    ONE_ACTION,    /* the best action of the first step for ever */
    BIASED,        /* every step a little too much: no single one shows it */
};

static float value_at(enum fault fault, const float *u, int points, float g)
{
    if (fault == NO_EXTENSION && g > (float)points)
        g = (float)points;
    int m = g >= (float)(points - 1) ? points - 1 : (int)g;
    m = m < 1 ? 1 : m;
    const float weight = fault == NEAREST ? roundf(g - (float)m) : g - (float)m;
    return u[m - 1] + weight * (u[m] - u[m - 1]);
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int points = inst->scalar[J].i32, times = inst->scalar[N].i32,
              actions = inst->scalar[ACTIONS].i32;
    const float h = inst->scalar[H].f32, tau = inst->scalar[TAU].f32,
                lambda0 = inst->scalar[LAMBDA0].f32;
    const float a = inst->scalar[A].f32, slope = inst->scalar[B_PARAM].f32;
    float *u = calloc(2 * (size_t)points, sizeof *u), *now = u + points;
    for (int b = 0; b < inst->scalar[BATCH].i32; b++) {
        const int source = fault == FIRST_PRODUCT ? 0 : b;
        const float decay = 1 - ae_in_f32(inst, BETA)[source] * tau,
                    jump = ae_in_f32(inst, ALPHA0)[source] / h;
        float fixed = 0;
        memset(u, 0, (size_t)points * sizeof *u);
        for (int n = times - 2; n >= 0; n--) {
            for (int i = 1; i <= points; i++) {
                const float p = (float)i * decay, g = fault == NO_JUMP ? p : p + jump * decay,
                            x = (float)i * h;
                const float kept = value_at(fault, u, points, p),
                            sold = value_at(fault, u, points, g);
                float l = (a + slope * (sold - kept)) / 2;
                if (fault != UNCLAMPED) {
                    const float k =
                        fminf(fmaxf(roundf((l - lambda0) * 1000), 0), (float)(actions - 1));
                    l = lambda0 + k * 0.001f;
                }
                if (fault == ONE_ACTION)
                    l = fixed = n == times - 2 ? l : fixed;
                const float square = fault == NO_SQUARE ? 0 : 0.001f * x * x;
                const float factor = (x + square + 1) * (fault == BIASED ? tau * 1.00015f : tau);
                now[i - 1] = kept + factor * (l * ((a - l) / slope + sold - kept));
                const size_t at =
                    ((size_t)b * (size_t)points + (size_t)(i - 1)) * (size_t)times + (size_t)n;
                ((float *)answer->out[U].data)[at] = now[i - 1];
                ((float *)answer->out[LAMBDA].data)[at] = l;
            }
            memcpy(u, now, (size_t)points * sizeof *u);
        }
    }
    free(u);
    return true;
}

#define SOLVER(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

SOLVER(no_jump, NO_JUMP)
SOLVER(no_extension, NO_EXTENSION)
SOLVER(nearest, NEAREST)
SOLVER(no_square, NO_SQUARE)
SOLVER(unclamped, UNCLAMPED)
SOLVER(first_product, FIRST_PRODUCT)
SOLVER(one_action, ONE_ACTION)
SOLVER(biased, BIASED)

/* What a check of the first time alone lets through. */
static bool first_time_only(const struct ae_instance *inst, const struct ae_expected *right,
                            struct ae_expected *answer)
{
    (void)right;
    for (size_t i = 0; i < answer->out[U].count; i++)
        if (i % (size_t)inst->scalar[N].i32 != 0)
            ((float *)answer->out[U].data)[i] = ((float *)answer->out[LAMBDA].data)[i] = 0;
    return true;
}

static bool straight_lines(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    const size_t points = (size_t)inst->scalar[J].i32, times = (size_t)inst->scalar[N].i32;
    float *u = answer->out[U].data;
    for (size_t b = 0; b < (size_t)inst->scalar[BATCH].i32; b++)
        for (size_t n = 0; n < times; n++) {
            const float first = u[b * points * times + n],
                        last = u[(b * points + points - 1) * times + n];
            for (size_t i = 0; i < points; i++)
                u[(b * points + i) * times + n] =
                    first + (last - first) * (float)i / (float)(points - 1);
        }
    return true;
}

static bool late_by_one(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    const float *from = right->out[U].data;
    float *to = answer->out[U].data;
    for (size_t i = 0; i < right->out[U].count; i++)
        if (i % (size_t)inst->scalar[N].i32 != (size_t)inst->scalar[N].i32 - 1)
            to[i] = from[i + 1];
    return true;
}

static bool three_steps_off(const struct ae_instance *inst, const struct ae_expected *right,
                            struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    ((float *)answer->out[LAMBDA].data)[0] += 0.003f;
    return true;
}

/* Within the tolerance of U everywhere, but not what the recursion gives. */
static bool hidden_slip(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    float *u = answer->out[U].data;
    const size_t times = (size_t)inst->scalar[N].i32;
    for (size_t i = 0; i < answer->out[U].count; i++)
        if (i % times % 2 == 0 && i % times < times - 1)
            u[i] += 2e-5f + 3e-5f * u[i];
    return true;
}

AE_TRAPS(hawkes_dynamic_pricing_hjb) = {
    {"fills the first time only", "products", first_time_only},
    {"fits straight lines over the excitement", "products", straight_lines},
    {"forgets that a sale excites", "products", no_jump},
    {"holds positions at the end of the grid", "products", no_extension},
    {"takes the nearest grid point", "products", nearest},
    {"drops the quadratic part of the intensity", "products", no_square},
    {"takes the top of the parabola without its bounds", "clamps", unclamped},
    {"computes one product for all", "clamps", first_product},
    {"keeps one action for ever", "clamps", one_action},
    {"adds a little bias at every step", "products", biased},
    {"is late by one step of time", "products", late_by_one},
    {"is three action steps off in one place", "products", three_steps_off},
    {"slips inside the tolerance at every other time", "products", hidden_slip},
    {0},
};
