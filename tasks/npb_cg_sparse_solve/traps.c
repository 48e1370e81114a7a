#include "task/traps.h"

#include <math.h>
#include <stdlib.h>

enum { N, NNZ, MAX_ITERS, TOL_EXP, ROW_PTR, COL_IDX, VALUES, B, X_OUT };

enum fault {
    FLOAT_STATE,
    ONE_FEWER,
    ONE_MORE,
    NO_CAP,
    SYMMETRIC,
    EXPONENT_8,
    RELATIVE,
    NO_GUARD,
    CONVERGED,
};

static double entry(const struct ae_instance *inst, int32_t i, int32_t j)
{
    const int32_t *row_ptr = ae_in_i32(inst, ROW_PTR), *col_idx = ae_in_i32(inst, COL_IDX);
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k++)
        if (col_idx[k] == j)
            return ae_in_f64(inst, VALUES)[k];
    return 0;
}

static double keep(enum fault fault, double value)
{
    return fault == FLOAT_STATE ? (double)(float)value : value;
}

/* The iteration with one thing done wrong. */
static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int32_t n = inst->scalar[N].i32, *row_ptr = ae_in_i32(inst, ROW_PTR);
    const int32_t *col_idx = ae_in_i32(inst, COL_IDX);
    const double *values = ae_in_f64(inst, VALUES), *b = ae_in_f64(inst, B);
    double *x = answer->out[X_OUT].data, *r = calloc(3 * (size_t)n, sizeof *r), *p = r + n,
           *q = p + n;
    if (!r)
        abort();
    const int exponent = fault == EXPONENT_8 ? 8 : inst->scalar[TOL_EXP].i32;
    int cap = inst->scalar[MAX_ITERS].i32;
    cap = fault == NO_CAP ? 1000 : fault == CONVERGED ? 50 : cap;
    double tol2 = pow(10, -2.0 * exponent), rho = 0;
    for (int32_t i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = p[i] = b[i];
        rho += b[i] * b[i];
    }
    tol2 = fault == RELATIVE ? tol2 * rho : fault == CONVERGED ? 0 : tol2;
    bool last = false;
    for (int k = 0; k < cap; k++) {
        double d = 0, next = 0;
        for (int32_t i = 0; i < n; i++) {
            q[i] = 0;
            for (int32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++) {
                const int32_t j = col_idx[e];
                q[i] += (fault == SYMMETRIC && j < i ? entry(inst, j, i) : values[e]) * p[j];
            }
            q[i] = keep(fault, q[i]);
            d += p[i] * q[i];
        }
        if (fault != NO_GUARD && fabs(d) < 1e-30)
            break;
        for (int32_t i = 0; i < n; i++) {
            const double kept = x[i];
            x[i] = keep(fault, x[i] + rho / d * p[i]);
            r[i] = keep(fault, r[i] - rho / d * q[i]);
            next += r[i] * r[i];
            q[i] = kept;
        }
        if (next <= tol2 && fault == ONE_FEWER)
            for (int32_t i = 0; i < n; i++)
                x[i] = q[i];
        if (last || (next <= tol2 && fault != ONE_MORE))
            break;
        last = next <= tol2;
        for (int32_t i = 0; i < n; i++)
            p[i] = keep(fault, r[i] + next / rho * p[i]);
        rho = next;
    }
    free(r);
    return true;
}

#define TRAP(name, fault)                                                                          \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

TRAP(float_state, FLOAT_STATE)
TRAP(one_fewer, ONE_FEWER)
TRAP(one_more, ONE_MORE)
TRAP(no_cap, NO_CAP)
TRAP(symmetric, SYMMETRIC)
TRAP(relative, RELATIVE)
TRAP(no_guard, NO_GUARD)
TRAP(converged, CONVERGED)

static bool exponent_8(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    return inst->scalar[TOL_EXP].i32 != 8 && solve_with(EXPONENT_8, inst, answer);
}

/* Another convergent method, until its residual is below the same threshold. */
static bool jacobi(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    (void)right;
    const int32_t n = inst->scalar[N].i32, *row_ptr = ae_in_i32(inst, ROW_PTR);
    const double *values = ae_in_f64(inst, VALUES), *b = ae_in_f64(inst, B);
    const double tol2 = pow(10, -2.0 * inst->scalar[TOL_EXP].i32);
    double *x = answer->out[X_OUT].data, *r = calloc((size_t)n, sizeof *r), rho;
    if (!r)
        abort();
    for (int32_t i = 0; i < n; i++)
        x[i] = 0;
    do {
        rho = 0;
        for (int32_t i = 0; i < n; i++) {
            r[i] = b[i];
            for (int32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++)
                r[i] -= values[e] * x[ae_in_i32(inst, COL_IDX)[e]];
            rho += r[i] * r[i];
        }
        for (int32_t i = 0; i < n && rho > tol2; i++)
            x[i] += r[i] / values[row_ptr[i]];
    } while (rho > tol2);
    free(r);
    return true;
}

AE_TRAPS(npb_cg_sparse_solve) = {
    {"keeps its vectors in float", "ring", float_state},
    {"stops one iteration early", "ring", one_fewer},
    {"makes one iteration more", "ring", one_more},
    {"iterates to convergence and returns the solution", "ring", converged},
    {"takes the matrix for symmetric", "ring", symmetric},
    {"takes the tolerance for 1e-8", "ring", exponent_8},
    {"takes the tolerance relative to b", "ring", relative},
    {"solves the system by another method", "ring", jacobi},
    {"ignores max_iters", "capped", no_cap},
    {"divides by p.q = 0", "zero", no_guard},
    {0},
};
