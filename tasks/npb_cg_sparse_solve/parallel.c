/* One parallel region around the iteration; p.q is summed while A p is formed and r.r while r is
 * updated, so that an iteration passes over memory three times. A row is summed in four chains, for
 * one chain would wait for each addition in turn. */
#include <math.h>
#include <stdlib.h>

#define BLOCK 1024

static double row_times(int k, int end, const int *col_idx, const double *values, const double *p)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (; k + 3 < end; k += 4) {
        s0 += values[k] * p[col_idx[k]];
        s1 += values[k + 1] * p[col_idx[k + 1]];
        s2 += values[k + 2] * p[col_idx[k + 2]];
        s3 += values[k + 3] * p[col_idx[k + 3]];
    }
    for (; k < end; k++)
        s0 += values[k] * p[col_idx[k]];
    return (s0 + s1) + (s2 + s3);
}

/* x += alpha p, r -= alpha q on elements from..to-1; returns their share of r.r. */
static double advance(int from, int to, double alpha, const double *p, const double *q, double *x,
                      double *r)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = from; i < to; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

void solution_compute(int n, int nnz, int max_iters, int tol_exp, const int *row_ptr,
                      const int *col_idx, const double *values, const double *b, double *x_out)
{
    (void)nnz;
    double *space = malloc(3 * (size_t)n * sizeof *space);
    if (!space)
        abort();
    double *const r = space, *const p = space + n, *const q = p + n;
    const double tol = pow(10.0, -tol_exp);
    const int blocks = (n + BLOCK - 1) / BLOCK;
    double rho = 0.0, curvature = 0.0, rho_new = 0.0;
#pragma omp parallel
    {
#pragma omp for schedule(static) reduction(+ : rho)
        for (int i = 0; i < n; i++) {
            x_out[i] = 0.0;
            r[i] = p[i] = b[i];
            rho += b[i] * b[i];
        }
        double rho_mine = rho; /* every thread carries its own copy of the scalars */
        for (int iter = 0; iter < max_iters; iter++) {
#pragma omp single
            curvature = rho_new = 0.0;
#pragma omp for schedule(static) reduction(+ : curvature)
            for (int i = 0; i < n; i++) {
                q[i] = row_times(row_ptr[i], row_ptr[i + 1], col_idx, values, p);
                curvature += p[i] * q[i];
            }
            if (fabs(curvature) < 1e-30)
                break;
            const double alpha = rho_mine / curvature;
#pragma omp for schedule(static) reduction(+ : rho_new)
            for (int block = 0; block < blocks; block++) {
                const int from = block * BLOCK, to = n - from < BLOCK ? n : from + BLOCK;
                rho_new += advance(from, to, alpha, p, q, x_out, r);
            }
            if (rho_new <= tol * tol)
                break;
            const double beta = rho_new / rho_mine;
            rho_mine = rho_new;
#pragma omp for schedule(static)
            for (int i = 0; i < n; i++)
                p[i] = r[i] + beta * p[i];
        }
    }
    free(space);
}
