#include "task/traps.h"
#include "common/npb_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, ITERS, OMEGA_MILLI, U0, RHS, RESIDUAL_OUT };

enum fault {
    EXACT_ELIMINATION,
    NO_IDENTITY_ROWS,
    FROM_ZERO,
    ONE_FEWER,
    FLOAT_INPUT,
    FLOAT_STATE,
    FACTOR_900,
    NO_TRANSFORMS,
    SWAPPED_AXES,
    ONE_OCTANT_LESS,
    REVERSED_ORDER,
};

/* Nonzero entries of the four transforms: row, column, value. */
static const struct {
    int t, row, column;
    double value;
} transform_entries[] = {
    {0, 0, 0, .98},  {0, 0, 1, .02},  {0, 1, 0, -.04},  {0, 1, 1, 1.01},  {0, 1, 2, .03},
    {0, 2, 0, .02},  {0, 2, 1, -.03}, {0, 2, 2, 1},     {0, 2, 3, .02},   {0, 3, 1, .01},
    {0, 3, 2, .04},  {0, 3, 3, .99},  {0, 3, 4, .02},   {0, 4, 2, -.02},  {0, 4, 3, .03},
    {0, 4, 4, 1},    {1, 0, 0, 1},    {1, 0, 3, .01},   {1, 0, 4, -.01},  {1, 1, 0, .02},
    {1, 1, 1, .99},  {1, 2, 1, -.01}, {1, 2, 2, 1.01},  {1, 2, 4, .01},   {1, 3, 2, .03},
    {1, 3, 3, .98},  {1, 4, 0, -.01}, {1, 4, 3, .02},   {1, 4, 4, 1},     {2, 0, 0, 1},
    {2, 0, 4, .015}, {2, 1, 1, 1},    {2, 1, 3, .010},  {2, 2, 0, .012},  {2, 2, 2, 1},
    {2, 2, 4, .012}, {2, 3, 2, .020}, {2, 3, 3, .985},  {2, 4, 1, .015},  {2, 4, 4, .990},
    {3, 0, 0, .995}, {3, 0, 2, .010}, {3, 1, 1, 1},     {3, 1, 4, -.012}, {3, 2, 1, .010},
    {3, 2, 2, .990}, {3, 2, 3, .010}, {3, 3, 0, -.010}, {3, 3, 3, 1.005}, {3, 4, 2, .008},
    {3, 4, 4, .995},
};

struct problem {
    enum fault fault;
    int n;
    double a1[3], a2[3], t[4][5][5];
    double *u, *f, *r;
};

static void residual(const struct problem *p)
{
    const int n = p->n;
    const size_t stride[3] = {5, 5 * (size_t)n, 5 * (size_t)n * (size_t)n};
    size_t at = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, at += 5)
                for (int m = 0; m < 5; m++) {
                    const int position[3] = {i, j, k};
                    const double *u = p->u + at + m;
                    double sum = *u;
                    for (int d = 0; d < 3; d++) {
                        const double a1 = p->a1[d] * (1 + .03 * m), a2 = p->a2[d] * (1 + .04 * m);
                        const int t = position[d];
                        sum += 2 * (a1 + a2) * *u;
                        sum -=
                            a1 * ((t > 0 ? *(u - stride[d]) : 0) + (t < n - 1 ? u[stride[d]] : 0));
                        sum -= a2 * ((t > 1 ? *(u - 2 * stride[d]) : 0) +
                                     (t < n - 2 ? u[2 * stride[d]] : 0));
                    }
                    p->r[at + (size_t)m] = p->f[at + (size_t)m] - sum;
                }
}

static void solve_line(const struct problem *p, int d, int m, double *r, size_t stride)
{
    enum { LONGEST = 64 };
    double alpha[LONGEST + 2] = {0}, beta[LONGEST + 2] = {0}, *al = alpha + 2, *be = beta + 2;
    const int n = p->n;
    const double a1 = p->a1[d] * (1 + .03 * m), a2 = p->a2[d] * (1 + .04 * m);
    for (int t = 0; t < n; t++) {
        const bool identity = p->fault != NO_IDENTITY_ROWS && (t < 2 || t > n - 3);
        const double first = identity ? 0 : -a1, second = identity ? 0 : -a2;
        const double diagonal = identity ? 1 : 1 + 2 * a1 + 2 * a2 + .01 * d + .005 * m;
        const double b = p->fault == EXACT_ELIMINATION ? first - second * al[t - 2] : first;
        const double den = diagonal - second * be[t - 2] - b * al[t - 1];
        al[t] = (first - b * be[t - 1]) / den;
        be[t] = second / den;
        double g = r[(size_t)t * stride];
        g -= t > 1 ? second * r[(size_t)(t - 2) * stride] : 0;
        g -= t > 0 ? b * r[(size_t)(t - 1) * stride] : 0;
        r[(size_t)t * stride] = g / den;
    }
    for (int t = n - 2; t >= 0; t--)
        r[(size_t)t * stride] -= al[t] * r[(size_t)(t + 1) * stride] +
                                 (t < n - 2 ? be[t] * r[(size_t)(t + 2) * stride] : 0);
}

static void transform(const struct problem *p, int which)
{
    const size_t points = (size_t)p->n * (size_t)p->n * (size_t)p->n;
    for (size_t q = 0; q < points && p->fault != NO_TRANSFORMS; q++) {
        double in[5];
        memcpy(in, p->r + 5 * q, sizeof in);
        for (int i = 0; i < 5; i++) {
            p->r[5 * q + (size_t)i] = 0;
            for (int j = 0; j < 5; j++)
                p->r[5 * q + (size_t)i] += p->t[which][i][j] * in[j];
        }
    }
}

static void iterate(const struct problem *p, double omega)
{
    const size_t n = (size_t)p->n, stride[3] = {5, 5 * n, 5 * n * n};
    residual(p);
    transform(p, 0);
    for (int step = 0; step < 3; step++) {
        const int d = p->fault == REVERSED_ORDER ? 2 - step : step;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                for (int m = 0; m < 5; m++)
                    solve_line(p, d, m,
                               p->r + a * stride[d == 2 ? 1 : 2] + b * stride[d == 0 ? 1 : 0] +
                                   (size_t)m,
                               stride[d]);
        transform(p, step + 1);
    }
    for (size_t q = 0; q < n * n * n; q++) {
        if (p->fault == ONE_OCTANT_LESS && q % n >= n / 2 && q / n % n >= n / 2 &&
            q / n / n >= n / 2)
            continue;
        for (size_t m = 5 * q; m < 5 * q + 5; m++) {
            p->u[m] += omega * p->r[m];
            if (p->fault == FLOAT_STATE)
                p->u[m] = (double)(float)p->u[m];
        }
    }
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    struct problem p = {.fault = fault,
                        .n = inst->scalar[N].i32,
                        .a1 = {.065, .075, .085},
                        .a2 = {.010, .012, .015}};
    const size_t points = ae_npb_field_count(p.n) / 5;
    double *space = calloc(15 * points, sizeof *space), squares[5] = {0};
    if (!space)
        abort();
    p.u = space;
    p.f = space + 5 * points;
    p.r = space + 10 * points;
    for (size_t e = 0; e < sizeof transform_entries / sizeof *transform_entries; e++)
        p.t[transform_entries[e].t][transform_entries[e].row][transform_entries[e].column] =
            transform_entries[e].value;
    for (size_t q = 0; q < 5 * points; q++) {
        p.u[q] = fault == FROM_ZERO ? 0 : ae_in_f64(inst, U0)[q];
        p.f[q] = ae_in_f64(inst, RHS)[q];
        if (fault == FLOAT_INPUT) {
            p.u[q] = (double)(float)p.u[q];
            p.f[q] = (double)(float)p.f[q];
        }
    }
    if (fault == SWAPPED_AXES) {
        p.a1[0] = .085;
        p.a1[2] = .065;
    }
    const double omega = fault == FACTOR_900 ? 0.9 : inst->scalar[OMEGA_MILLI].i32 / 1000.0;
    for (int it = fault == ONE_FEWER; it < inst->scalar[ITERS].i32; it++)
        iterate(&p, omega);
    residual(&p);
    for (size_t q = 0; q < points; q++)
        for (size_t m = 0; m < 5; m++)
            squares[m] += p.r[5 * q + m] * p.r[5 * q + m];
    for (int m = 0; m < 5; m++)
        ((double *)answer->out[RESIDUAL_OUT].data)[m] = sqrt(squares[m] / (double)points);
    free(space);
    return true;
}

#define TRAP(name, fault)                                                                          \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

TRAP(exact_elimination, EXACT_ELIMINATION)
TRAP(no_identity_rows, NO_IDENTITY_ROWS)
TRAP(from_zero, FROM_ZERO)
TRAP(one_fewer, ONE_FEWER)
TRAP(float_input, FLOAT_INPUT)
TRAP(float_state, FLOAT_STATE)
TRAP(factor_900, FACTOR_900)
TRAP(no_transforms, NO_TRANSFORMS)
TRAP(swapped_axes, SWAPPED_AXES)
TRAP(one_octant_less, ONE_OCTANT_LESS)
TRAP(reversed_order, REVERSED_ORDER)

AE_TRAPS(npb_sp_adi_pentadiagonal) = {
    {"eliminates exactly instead of by the recurrence", "field", exact_elimination},
    {"knows no identity rows at the ends", "corner", no_identity_rows},
    {"starts from 0 instead of u0", "field", from_zero},
    {"makes one iteration fewer", "field", one_fewer},
    {"keeps the inputs in float", "field", float_input},
    {"keeps the state in float", "field", float_state},
    {"takes the factor for 0.9", "field", factor_900},
    {"leaves out the transforms", "field", no_transforms},
    {"swaps the coefficients of i and k", "field", swapped_axes},
    {"solves along k first", "field", reversed_order},
    {"leaves one octant alone", "octant", one_octant_less},
    {0},
};
