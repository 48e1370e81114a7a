/* Symmetric successive over-relaxation on a cube with five coupled unknowns at every point. Each
 * point solves B y = s, where B is the same 5x5 matrix everywhere and s holds the right-hand side
 * and the six neighbours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CX = 0.14, CY = 0.11, CZ = 0.09;

static void point_matrix(double b[5][5])
{
    static const double diagonal[5] = {4.40, 4.85, 5.20, 5.55, 5.90};
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++)
            b[r][c] = r == c ? diagonal[r] : 0.0125 * (r + 1) * (c + 1);
}

/* Gauss-Jordan elimination; the matrix is diagonally dominant, so the pivots need no search. */
static void invert(double a[5][5], double inverse[5][5])
{
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++)
            inverse[r][c] = r == c ? 1.0 : 0.0;
    for (int p = 0; p < 5; p++) {
        const double pivot = a[p][p];
        for (int c = 0; c < 5; c++) {
            a[p][c] /= pivot;
            inverse[p][c] /= pivot;
        }
        for (int r = 0; r < 5; r++) {
            const double factor = a[r][p];
            if (r == p)
                continue;
            for (int c = 0; c < 5; c++) {
                a[r][c] -= factor * a[p][c];
                inverse[r][c] -= factor * inverse[p][c];
            }
        }
    }
}

/* Of the six neighbours of point (i, j, k); those outside the cube are 0. */
static void neighbour_sum(int n, const double *u, int i, int j, int k, double sum[5])
{
    static const double outside[5] = {0.0};
    const size_t row = 5 * (size_t)n, plane = row * (size_t)n;
    const double *at = u + (size_t)k * plane + (size_t)j * row + 5 * (size_t)i;
    const double *west = i > 0 ? at - 5 : outside, *east = i < n - 1 ? at + 5 : outside;
    const double *south = j > 0 ? at - row : outside, *north = j < n - 1 ? at + row : outside;
    const double *below = k > 0 ? at - plane : outside, *above = k < n - 1 ? at + plane : outside;
    for (int m = 0; m < 5; m++)
        sum[m] = CX * (west[m] + east[m]) + CY * (south[m] + north[m]) + CZ * (below[m] + above[m]);
}

static void update(int n, double *u, const double *rhs, const double inverse[5][5], double omega,
                   int i, int j, int k)
{
    const size_t at = 5 * (((size_t)k * (size_t)n + (size_t)j) * (size_t)n + (size_t)i);
    double s[5];
    neighbour_sum(n, u, i, j, k, s);
    for (int m = 0; m < 5; m++)
        s[m] += rhs[at + (size_t)m];
    for (int r = 0; r < 5; r++) {
        double y = 0.0;
        for (int c = 0; c < 5; c++)
            y += inverse[r][c] * s[c];
        u[at + (size_t)r] = (1.0 - omega) * u[at + (size_t)r] + omega * y;
    }
}

void solution_compute(int n, int iters, int omega_milli, const double *u0, const double *rhs,
                      double *residual_out)
{
    const size_t points = (size_t)n * (size_t)n * (size_t)n;
    double b[5][5], copy[5][5], inverse[5][5];
    double *u = malloc(5 * points * sizeof *u);
    if (!u)
        abort();
    memcpy(u, u0, 5 * points * sizeof *u);
    point_matrix(b);
    memcpy(copy, b, sizeof copy);
    invert(copy, inverse);
    const double omega = omega_milli / 1000.0;

    for (int iter = 0; iter < iters; iter++) {
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    update(n, u, rhs, inverse, omega, i, j, k);
        for (int k = n - 1; k >= 0; k--)
            for (int j = n - 1; j >= 0; j--)
                for (int i = n - 1; i >= 0; i--)
                    update(n, u, rhs, inverse, omega, i, j, k);
    }

    double squares[5] = {0.0};
    size_t at = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, at += 5) {
                double sum[5];
                neighbour_sum(n, u, i, j, k, sum);
                for (int r = 0; r < 5; r++) {
                    double residual = rhs[at + (size_t)r] + sum[r];
                    for (int c = 0; c < 5; c++)
                        residual -= b[r][c] * u[at + (size_t)c];
                    squares[r] += residual * residual;
                }
            }
    for (int m = 0; m < 5; m++)
        residual_out[m] = sqrt(squares[m] / (double)points);
    free(u);
}
