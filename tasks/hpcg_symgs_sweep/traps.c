#include "task/traps.h"

#include <stdlib.h>
#include <string.h>

enum { N, ROW_PTR, COL_IDX, VALUES, DIAG_IDX, RHS, X_INOUT };

struct problem {
    int32_t n;
    const int32_t *row_ptr, *col_idx, *diag_idx;
    const double *values, *rhs, *start;
};

static struct problem problem_of(const struct ae_instance *inst)
{
    return (struct problem){inst->scalar[N].i32,      ae_in_i32(inst, ROW_PTR),
                            ae_in_i32(inst, COL_IDX), ae_in_i32(inst, DIAG_IDX),
                            ae_in_f64(inst, VALUES),  ae_in_f64(inst, RHS),
                            ae_in_f64(inst, X_INOUT)};
}

/* The edges as the corner row tells them; false where it is no corner of a grid. */
static bool edges(const struct problem *a, int32_t *nx, int32_t *plane)
{
    if (a->n < 8 || a->row_ptr[1] != 8)
        return false;
    *nx = a->col_idx[2];
    *plane = a->col_idx[4];
    return true;
}

static void solve_row(const struct problem *a, int32_t i, const double *from, double *x)
{
    double sum = a->rhs[i];
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
        if (p != a->diag_idx[i])
            sum -= a->values[p] * from[a->col_idx[p]];
    x[i] = sum / a->values[a->diag_idx[i]];
}

static void sweep_down(const struct problem *a, double *x)
{
    for (int32_t i = a->n - 1; i >= 0; i--)
        solve_row(a, i, x, x);
}

static void sweep_up(const struct problem *a, double *x)
{
    for (int32_t i = 0; i < a->n; i++)
        solve_row(a, i, x, x);
}

static double *start(const struct problem *a, struct ae_expected *answer)
{
    double *x = answer->out[X_INOUT].data;
    memcpy(x, a->start, (size_t)a->n * sizeof *x);
    return x;
}

static bool forward_only(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    const struct problem a = problem_of(inst);
    sweep_up(&a, start(&a, answer));
    return a.n > 1;
}

static bool twice_forward(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    const struct problem a = problem_of(inst);
    double *x = start(&a, answer);
    sweep_up(&a, x);
    sweep_up(&a, x);
    return a.n > 1;
}

static bool from_zero(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    const struct problem a = problem_of(inst);
    double *x = answer->out[X_INOUT].data;
    memset(x, 0, (size_t)a.n * sizeof *x);
    sweep_up(&a, x);
    sweep_down(&a, x);
    return a.n > 1;
}

/* Two Jacobi steps: all rows at once. */
static bool jacobi(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    (void)right;
    const struct problem a = problem_of(inst);
    double *x = start(&a, answer), *old = malloc((size_t)a.n * sizeof *old);
    if (!old)
        abort();
    for (int step = 0; step < 2; step++) {
        memcpy(old, x, (size_t)a.n * sizeof *old);
        for (int32_t i = 0; i < a.n; i++)
            solve_row(&a, i, old, x);
    }
    free(old);
    return a.n > 1;
}

/* Rows in another order: by eight colours, or by fronts ix + 2 iy + 4 iz of a supposed grid. */
static bool reordered(const struct ae_instance *inst, struct ae_expected *answer, bool by_color)
{
    const struct problem a = problem_of(inst);
    int32_t nx, plane;
    if (!edges(&a, &nx, &plane))
        return false;
    double *x = start(&a, answer);
    const int32_t fronts = by_color ? 8 : nx + 2 * (plane / nx) + 4 * (a.n / plane);
    for (int32_t k = 0; k < 2 * fronts; k++) {
        const int32_t front = k < fronts ? k : 2 * fronts - 1 - k;
        for (int32_t i = 0; i < a.n; i++) {
            const int32_t ix = i % nx, iy = i % plane / nx, iz = i / plane;
            if (front == (by_color ? ix % 2 + iy % 2 * 2 + iz % 2 * 4 : ix + 2 * iy + 4 * iz))
                solve_row(&a, i, x, x);
        }
    }
    return true;
}

static bool eight_colors(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    return reordered(inst, answer, true);
}

static bool grid_fronts(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    return reordered(inst, answer, false);
}

static bool float_values(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    struct problem a = problem_of(inst);
    double *values = malloc((size_t)a.row_ptr[a.n] * sizeof *values), *x = start(&a, answer);
    if (!values)
        abort();
    for (int32_t p = 0; p < a.row_ptr[a.n]; p++)
        values[p] = (double)(float)a.values[p];
    a.values = values;
    sweep_up(&a, x);
    sweep_down(&a, x);
    free(values);
    return true;
}

/* In the forward sweep each row starts its line's recurrence anew, 24 points back, from the old
 * value. */
static bool cut_recurrence(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    enum { TERMS = 24 };
    const struct problem a = problem_of(inst);
    int32_t nx, plane;
    if (!edges(&a, &nx, &plane))
        return false;
    double *x = start(&a, answer), *constant = malloc(2 * (size_t)nx * sizeof *constant);
    if (!constant)
        abort();
    double *factor = constant + nx;
    for (int32_t line = 0; line < a.n; line += nx) {
        for (int32_t k = 0; k < nx; k++) { /* x_i = constant + factor x_{i-1} */
            const int32_t i = line + k, diagonal = a.diag_idx[i];
            double sum = a.rhs[i];
            for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
                if (p != diagonal && (k == 0 || p != diagonal - 1))
                    sum -= a.values[p] * x[a.col_idx[p]];
            constant[k] = sum / a.values[diagonal];
            factor[k] = k == 0 ? 0 : -a.values[diagonal - 1] / a.values[diagonal];
        }
        for (int32_t k = 0; k < nx; k++) {
            double value = k > TERMS ? a.start[line + k - TERMS - 1] : 0;
            for (int32_t j = k > TERMS ? k - TERMS : 0; j <= k; j++)
                value = constant[j] + factor[j] * value;
            x[line + k] = value;
        }
    }
    free(constant);
    sweep_down(&a, x);
    return true;
}

AE_TRAPS(hpcg_symgs_sweep) = {
    {"sweeps forward only", "grid", forward_only},
    {"sweeps forward twice", "grid", twice_forward},
    {"supposes a guess of 0", "grid", from_zero},
    {"solves all rows at once", "grid", jacobi},
    {"sweeps by eight colours", "grid", eight_colors},
    {"keeps the matrix in float", "grid", float_values},
    {"cuts the recurrence of a line after 24 points", "grid", cut_recurrence},
    {"supposes a grid without looking", "irregular", grid_fronts},
    {0},
};
