/* For each trial: factors as the leading principal components of the dates-by-dates Gram matrix of
 * the normalised returns, covariance as factors plus own variances, and the weights of the
 * portfolio of least variance. Double throughout. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { POWER_STEPS = 100 };

/* Modified Gram-Schmidt on the columns of v (rows x cols, row-major). */
static void orthonormalise(double *v, size_t rows, size_t cols)
{
    for (size_t k = 0; k < cols; k++) {
        for (size_t l = 0; l < k; l++) {
            double dot = 0;
            for (size_t t = 0; t < rows; t++)
                dot += v[t * cols + l] * v[t * cols + k];
            for (size_t t = 0; t < rows; t++)
                v[t * cols + k] -= dot * v[t * cols + l];
        }
        double norm = 0;
        for (size_t t = 0; t < rows; t++)
            norm += v[t * cols + k] * v[t * cols + k];
        norm = sqrt(norm);
        if (norm > 1e-7)
            for (size_t t = 0; t < rows; t++)
                v[t * cols + k] /= norm;
    }
}

/* Solves the symmetric positive definite system a x = b by Cholesky's factorisation, in place. */
static void solve(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

/* phi (T x K) = orthonormal basis of the K leading eigenvectors of Q Q', Q being R (T x N) with its
 * columns scaled to length 1. */
static void leading_subspace(const float *R, size_t T, size_t N, size_t K, double *q, double *gram,
                             double *next, double *phi)
{
    for (size_t j = 0; j < N; j++) {
        double norm = 0;
        for (size_t t = 0; t < T; t++)
            norm += (double)R[t * N + j] * R[t * N + j];
        norm = norm > 0 ? sqrt(norm) : 1;
        for (size_t t = 0; t < T; t++)
            q[t * N + j] = R[t * N + j] / norm;
    }
    for (size_t t = 0; t < T; t++)
        for (size_t u = 0; u <= t; u++) {
            double dot = 0;
            for (size_t j = 0; j < N; j++)
                dot += q[t * N + j] * q[u * N + j];
            gram[t * T + u] = gram[u * T + t] = dot;
        }

    for (size_t t = 0; t < T; t++)
        for (size_t k = 0; k < K; k++)
            phi[t * K + k] = q[t * N + k];
    orthonormalise(phi, T, K);
    for (int step = 0; step < POWER_STEPS; step++) {
        for (size_t t = 0; t < T; t++) {
            for (size_t k = 0; k < K; k++)
                next[t * K + k] = 0;
            for (size_t u = 0; u < T; u++)
                for (size_t k = 0; k < K; k++)
                    next[t * K + k] += gram[t * T + u] * phi[u * K + k];
        }
        orthonormalise(next, T, K);
        for (size_t i = 0; i < T * K; i++)
            phi[i] = next[i];
    }
}

/* The weights that minimise the variance under the covariance Z'Z/T + diag(v), with Z = phi'R (K x
 * N) and v the mean squares of R - phi Z. The inverse is applied by Woodbury's identity. */
static void weights(const float *R, size_t T, size_t N, size_t K, const double *phi, double *z,
                    double *d, double *small, double *rhs, float *w)
{
    for (size_t i = 0; i < K * N; i++)
        z[i] = 0;
    for (size_t t = 0; t < T; t++)
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < N; j++)
                z[k * N + j] += phi[t * K + k] * R[t * N + j];

    for (size_t j = 0; j < N; j++) { /* d = 1/v */
        double square = 0;
        for (size_t t = 0; t < T; t++) {
            double residual = R[t * N + j];
            for (size_t k = 0; k < K; k++)
                residual -= phi[t * K + k] * z[k * N + j];
            square += residual * residual;
        }
        d[j] = (double)T / square;
    }

    /* (T I + Z D Z') y = Z d, x = d - D Z' y */
    for (size_t k = 0; k < K; k++) {
        rhs[k] = 0;
        for (size_t j = 0; j < N; j++)
            rhs[k] += z[k * N + j] * d[j];
        for (size_t l = 0; l < K; l++) {
            double sum = k == l ? (double)T : 0;
            for (size_t j = 0; j < N; j++)
                sum += z[k * N + j] * d[j] * z[l * N + j];
            small[k * K + l] = sum;
        }
    }
    solve(small, rhs, K);
    double total = 0;
    for (size_t j = 0; j < N; j++) {
        double projection = 0;
        for (size_t k = 0; k < K; k++)
            projection += z[k * N + j] * rhs[k];
        d[j] *= 1 - projection;
        total += d[j];
    }
    for (size_t j = 0; j < N; j++)
        w[j] = (float)(d[j] / total);
}

void solution_compute(int S, int T, int N, int K, const float *R, float *w)
{
    const size_t dates = (size_t)T, assets = (size_t)N, factors = (size_t)K;
    double *q = malloc(dates * assets * sizeof *q);
    double *gram = malloc(dates * dates * sizeof *gram);
    double *phi = malloc(dates * factors * sizeof *phi);
    double *next = malloc(dates * factors * sizeof *next);
    double *z = malloc(factors * assets * sizeof *z);
    double *d = malloc(assets * sizeof *d);
    double *small = malloc(factors * factors * sizeof *small);
    double *rhs = malloc(factors * sizeof *rhs);
    if (q && gram && phi && next && z && d && small && rhs) {
        for (size_t s = 0; s < (size_t)S; s++) {
            const float *returns = R + s * dates * assets;
            leading_subspace(returns, dates, assets, factors, q, gram, next, phi);
            weights(returns, dates, assets, factors, phi, z, d, small, rhs, w + s * assets);
        }
    }
    free(rhs);
    free(small);
    free(d);
    free(z);
    free(next);
    free(phi);
    free(gram);
    free(q);
}
