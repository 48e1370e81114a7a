/* Conjugate gradients without preconditioning, from the start vector 0. Stops after max_iters
 * iterations, when the recurrence residual is small enough, or when the search direction has lost
 * all curvature. */
#include <math.h>
#include <stdlib.h>

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void multiply(int n, const int *row_ptr, const int *col_idx, const double *values,
                     const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = row_ptr[i]; k < row_ptr[i + 1]; k++)
            sum += values[k] * x[col_idx[k]];
        y[i] = sum;
    }
}

void solution_compute(int n, int nnz, int max_iters, int tol_exp, const int *row_ptr,
                      const int *col_idx, const double *values, const double *b, double *x_out)
{
    (void)nnz;                                 /* row_ptr[n] tells it */
    double *r = malloc((size_t)n * sizeof *r); /* residual */
    double *p = malloc((size_t)n * sizeof *p); /* search direction */
    double *q = malloc((size_t)n * sizeof *q); /* A p */
    if (!r || !p || !q)
        abort();
    for (int i = 0; i < n; i++) {
        x_out[i] = 0.0;
        r[i] = b[i];
        p[i] = b[i];
    }
    const double tol = pow(10.0, -tol_exp);
    double rho = dot(n, r, r);
    for (int iter = 0; iter < max_iters; iter++) {
        multiply(n, row_ptr, col_idx, values, p, q);
        const double curvature = dot(n, p, q);
        if (fabs(curvature) < 1e-30)
            break;
        const double alpha = rho / curvature;
        for (int i = 0; i < n; i++) {
            x_out[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double rho_new = dot(n, r, r);
        if (rho_new <= tol * tol)
            break;
        const double beta = rho_new / rho;
        for (int i = 0; i < n; i++)
            p[i] = r[i] + beta * p[i];
        rho = rho_new;
    }
    free(r);
    free(p);
    free(q);
}
