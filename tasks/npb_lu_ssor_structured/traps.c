#include "task/traps.h"
#include "common/npb_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, ITERS, OMEGA_MILLI, U0, RHS, RESIDUAL_OUT };

enum fault {
    FROM_ZERO,
    ONE_FEWER,
    JACOBI,
    RED_BLACK,
    FLOAT_INPUT,
    FLOAT_STATE,
    FORWARD_ONLY,
    FACTOR_1100,
    SWAPPED_AXES,
    ONE_OCTANT_LESS,
    DIAGONAL_ONLY,
};

struct problem {
    enum fault fault;
    int n;
    double omega, c[3], b[5][5];
    double *u, *f;
};

/* s = neighbours of point (i, j, k) of u */
static void neighbours(const struct problem *p, const double *u, int i, int j, int k, double s[5])
{
    const size_t n = (size_t)p->n, stride[3] = {5, 5 * n, 5 * n * n};
    const int at[3] = {i, j, k};
    const double *here = u + 5 * (((size_t)k * n + (size_t)j) * n + (size_t)i);
    memset(s, 0, 5 * sizeof *s);
    for (int d = 0; d < 3; d++)
        for (int m = 0; m < 5; m++)
            s[m] += p->c[d] * ((at[d] > 0 ? (here - stride[d])[m] : 0) +
                               (at[d] < p->n - 1 ? (here + stride[d])[m] : 0));
}

/* B y = s by Gauss-Seidel to convergence. */
static void solve_point(const struct problem *p, const double s[5], double y[5])
{
    for (int m = 0; m < 5; m++)
        y[m] = s[m] / p->b[m][m];
    for (int step = 0; step < 12 && p->fault != DIAGONAL_ONLY; step++)
        for (int r = 0; r < 5; r++) {
            double sum = s[r];
            for (int c = 0; c < 5; c++)
                sum -= c == r ? 0 : p->b[r][c] * y[c];
            y[r] = sum / p->b[r][r];
        }
}

static void update(const struct problem *p, const double *from, size_t point)
{
    const size_t n = (size_t)p->n;
    const int i = (int)(point % n), j = (int)(point / n % n), k = (int)(point / n / n);
    double s[5], y[5], *u = p->u + 5 * point;
    if (p->fault == ONE_OCTANT_LESS && i >= p->n / 2 && j >= p->n / 2 && k >= p->n / 2)
        return;
    neighbours(p, from, i, j, k, s);
    for (int m = 0; m < 5; m++)
        s[m] += p->f[5 * point + (size_t)m];
    solve_point(p, s, y);
    for (int m = 0; m < 5; m++) {
        u[m] = (1 - p->omega) * u[m] + p->omega * y[m];
        if (p->fault == FLOAT_STATE)
            u[m] = (double)(float)u[m];
    }
}

static bool color_of(size_t point, size_t n)
{
    return (point % n + point / n % n + point / n / n) % 2;
}

static void sweep(const struct problem *p, bool up, double *old)
{
    const size_t n = (size_t)p->n, points = n * n * n;
    const double *from = p->u;
    if (p->fault == JACOBI) {
        memcpy(old, p->u, 5 * points * sizeof *old);
        from = old;
    }
    for (int color = 0; color < (p->fault == RED_BLACK ? 2 : 1); color++)
        for (size_t q = 0; q < points; q++) {
            const size_t point = up || p->fault == FORWARD_ONLY ? q : points - 1 - q;
            if (p->fault != RED_BLACK || color_of(point, n) == (up ? color : 1 - color))
                update(p, from, point);
        }
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    static const double diagonal[5] = {4.40, 4.85, 5.20, 5.55, 5.90};
    struct problem p = {fault,
                        inst->scalar[N].i32,
                        inst->scalar[OMEGA_MILLI].i32 / 1000.0,
                        {0.14, 0.11, 0.09},
                        {{0}},
                        NULL,
                        NULL};
    const size_t n = (size_t)p.n, points = n * n * n;
    double *space = calloc(15 * points, sizeof *space), squares[5] = {0};
    if (!space)
        abort();
    p.u = space;
    p.f = space + 5 * points;
    for (size_t q = 0; q < 5 * points; q++) {
        p.u[q] = fault == FROM_ZERO ? 0 : ae_in_f64(inst, U0)[q];
        p.f[q] = ae_in_f64(inst, RHS)[q];
        if (fault == FLOAT_INPUT) {
            p.u[q] = (double)(float)p.u[q];
            p.f[q] = (double)(float)p.f[q];
        }
    }
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++)
            p.b[r][c] = r == c ? diagonal[r] : 0.0125 * (r + 1) * (c + 1);
    if (fault == FACTOR_1100)
        p.omega = 1.1;
    if (fault == SWAPPED_AXES) {
        p.c[0] = 0.09;
        p.c[2] = 0.14;
    }
    for (int it = fault == ONE_FEWER; it < inst->scalar[ITERS].i32; it++) {
        sweep(&p, true, space + 10 * points);
        sweep(&p, false, space + 10 * points);
    }
    for (size_t q = 0; q < points; q++) {
        double s[5];
        neighbours(&p, p.u, (int)(q % n), (int)(q / n % n), (int)(q / n / n), s);
        for (int r = 0; r < 5; r++) {
            double residual = s[r] + p.f[5 * q + (size_t)r];
            for (int c = 0; c < 5; c++)
                residual -= p.b[r][c] * p.u[5 * q + (size_t)c];
            squares[r] += residual * residual;
        }
    }
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

TRAP(from_zero, FROM_ZERO)
TRAP(one_fewer, ONE_FEWER)
TRAP(jacobi, JACOBI)
TRAP(red_black, RED_BLACK)
TRAP(float_input, FLOAT_INPUT)
TRAP(float_state, FLOAT_STATE)
TRAP(forward_only, FORWARD_ONLY)
TRAP(factor_1100, FACTOR_1100)
TRAP(swapped_axes, SWAPPED_AXES)
TRAP(one_octant_less, ONE_OCTANT_LESS)
TRAP(diagonal_only, DIAGONAL_ONLY)

AE_TRAPS(npb_lu_ssor_structured) = {
    {"starts from 0 instead of u0", "field", from_zero},
    {"makes one iteration fewer", "field", one_fewer},
    {"updates all points at once", "gentle", jacobi},
    {"updates by two colours", "field", red_black},
    {"keeps the inputs in float", "field", float_input},
    {"keeps the state in float", "field", float_state},
    {"sweeps forward twice", "field", forward_only},
    {"takes the factor for 1.1", "field", factor_1100},
    {"swaps the directions of i and k", "field", swapped_axes},
    {"leaves one octant alone", "octant", one_octant_less},
    {"ignores the coupling of the unknowns of a point", "field", diagonal_only},
    {0},
};
