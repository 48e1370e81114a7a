#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS, COLS, ITERS, TEMP0, POWER, OUT_TEMP };

struct fault {
    bool no_x, no_y, swapped, periodic, in_place, stale_border;
    int fewer; /* steps left out */
    int terms; /* of the power series; 0: steps */
};

struct model {
    int rows, cols;
    double k, kx, ky, kz;
};

static struct model model_of(const struct ae_instance *inst)
{
    struct model m = {.rows = inst->scalar[ROWS].i32, .cols = inst->scalar[COLS].i32};
    m.kx = 1.30208333e-10 * m.cols * (double)m.cols;
    m.ky = 1.30208333e-10 * m.rows * (double)m.rows;
    m.kz = 6.66666667e-8;
    m.k = m.kz / (100 * 0.016 / m.rows * (0.016 / m.cols) / 0.0005);
    return m;
}

/* What conduction and loss to the air change in one step, without power: the linear part if ambient
 * is 0. */
static double change(const struct model *m, const double *field, int r, int c, double ambient,
                     struct fault fault)
{
    const size_t cols = (size_t)m->cols, at = (size_t)r * cols + (size_t)c;
    const double here = field[at];
    double west = c > 0 ? field[at - 1] : here, east = c < m->cols - 1 ? field[at + 1] : here;
    double north = r > 0 ? field[at - cols] : here,
           south = r < m->rows - 1 ? field[at + cols] : here;
    if (fault.periodic && c == 0)
        west = field[at + cols - 1];
    if (fault.periodic && r == 0)
        north = field[at + cols * (size_t)(m->rows - 1)];
    if (fault.stale_border && (c % 16 == 0 || r % 16 == 0)) /* halos between tiles never filled */
        west = north = here;
    double kx = fault.no_x ? 0 : m->kx, ky = fault.no_y ? 0 : m->ky;
    if (fault.swapped) {
        const double kept = kx;
        kx = ky;
        ky = kept;
    }
    return kx * (west + east - 2 * here) + ky * (north + south - 2 * here) +
           m->kz * (ambient - here);
}

static bool solve_with(struct fault fault, const struct ae_instance *inst,
                       struct ae_expected *answer)
{
    const struct model m = model_of(inst);
    const size_t count = inst->array[OUT_TEMP].count;
    const float *power = ae_in_f32(inst, POWER);
    double *field = malloc(count * sizeof *field), *next = malloc(count * sizeof *next);
    double *total = calloc(count, sizeof *total);
    const bool ready = field && next && total;
    const int iters = inst->scalar[ITERS].i32 - fault.fewer;
    for (size_t i = 0; ready && i < count; i++)
        field[i] = (double)ae_in_f32(inst, TEMP0)[i] - 80;
    for (int i = 0; ready && i < iters && fault.terms == 0; i++) {
        for (int r = 0; r < m.rows; r++)
            for (int c = 0; c < m.cols; c++) {
                const size_t at = (size_t)r * (size_t)m.cols + (size_t)c;
                (fault.in_place ? field : next)[at] =
                    field[at] + m.k * (double)power[at] + change(&m, field, r, c, 0, fault);
            }
        if (!fault.in_place) {
            double *kept = field;
            field = next;
            next = kept;
        }
    }
    if (ready && fault.terms) {
        /* sum over m < terms of binomial(I,m) L^m T0 + binomial(I,m+1) L^m k p, by Horner's rule.
         */
        double binomial[64] = {1};
        for (int i = 1; i <= fault.terms; i++)
            binomial[i] = binomial[i - 1] * (iters - i + 1) / i;
        for (int term = fault.terms - 1; term >= 0; term--) {
            for (int r = 0; r < m.rows; r++)
                for (int c = 0; c < m.cols; c++) {
                    const size_t at = (size_t)r * (size_t)m.cols + (size_t)c;
                    next[at] = binomial[term] * field[at] +
                               binomial[term + 1] * m.k * (double)power[at] +
                               change(&m, total, r, c, 0, fault);
                }
            double *kept = total;
            total = next;
            next = kept;
        }
        memcpy(field, total, count * sizeof *field);
    }
    float *out = answer->out[OUT_TEMP].data;
    for (size_t i = 0; ready && i < count; i++)
        out[i] = (float)(field[i] + 80);
    free(field);
    free(next);
    free(total);
    return ready;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with((struct fault){__VA_ARGS__}, inst, answer);                              \
    }

TRAP(no_conduction, .no_x = true, .no_y = true, .terms = 2)
TRAP(no_rows, .no_y = true)
TRAP(no_columns, .no_x = true)
TRAP(one_term, .terms = 1)
TRAP(twelve_terms, .terms = 13)
TRAP(swapped, .swapped = true)
TRAP(periodic, .periodic = true)
TRAP(in_place, .in_place = true)
TRAP(stale_border, .stale_border = true)
TRAP(step_less, .fewer = 1)

static bool half_precision(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    const float *from = right->out[OUT_TEMP].data;
    float *out = answer->out[OUT_TEMP].data;
    for (size_t i = 0; i < inst->array[OUT_TEMP].count; i++) {
        int exponent;
        const double mantissa = frexp((double)from[i], &exponent);
        out[i] = (float)ldexp(rint(mantissa * 2048) / 2048, exponent);
    }
    return true;
}

AE_TRAPS(hotspot_2d) = {
    {"leaves out conduction", "wide", no_conduction},
    {"leaves out conduction across rows", "square", no_rows},
    {"leaves out conduction along rows", "square", no_columns},
    {"takes one application of the step for all", "square", one_term},
    {"cuts the power series after twelve applications", "wide", twelve_terms},
    {"exchanges the two directions", "square", swapped},
    {"joins opposite borders", "square", periodic},
    {"updates in place", "square", in_place},
    {"never fills halos between tiles", "square", stale_border},
    {"makes a step too few", "square", step_less},
    {"keeps half precision", "wide", half_precision},
    {0},
};
