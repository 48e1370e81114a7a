/* Trials in parallel. In a trial the Gram matrix is formed in float by register blocks of 4 x 4
 * rows; the subspace iteration runs on it in float with the factors padded to whole vectors, and
 * stops when a step no longer turns the subspace; the covariance is applied by Woodbury's identity
 * with the small system in double. Residuals are formed as such: their squares by difference would
 * cancel. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 100, LANES = 16 };

/* Working memory of one trial; width is the number of factors rounded up to LANES. */
struct work {
    float *q, *gram, *phi, *next, *z, *d;
    double *sums, *small, *rhs;
};

static void gram_block(const float *restrict a, const float *restrict b, size_t n,
                       float *restrict out, size_t stride)
{
    const float *a1 = a + n, *a2 = a + 2 * n, *a3 = a + 3 * n;
    const float *b1 = b + n, *b2 = b + 2 * n, *b3 = b + 3 * n;
    float s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    float s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, \
                               s32, s33)
    for (size_t j = 0; j < n; j++) {
        s00 += a[j] * b[j];
        s01 += a[j] * b1[j];
        s02 += a[j] * b2[j];
        s03 += a[j] * b3[j];
        s10 += a1[j] * b[j];
        s11 += a1[j] * b1[j];
        s12 += a1[j] * b2[j];
        s13 += a1[j] * b3[j];
        s20 += a2[j] * b[j];
        s21 += a2[j] * b1[j];
        s22 += a2[j] * b2[j];
        s23 += a2[j] * b3[j];
        s30 += a3[j] * b[j];
        s31 += a3[j] * b1[j];
        s32 += a3[j] * b2[j];
        s33 += a3[j] * b3[j];
    }
    const float block[4][4] = {
        {s00, s01, s02, s03}, {s10, s11, s12, s13}, {s20, s21, s22, s23}, {s30, s31, s32, s33}};
    for (int i = 0; i < 4; i++)
        memcpy(out + (size_t)i * stride, block[i], sizeof block[i]);
}

/* gram is padded x padded, the dates rounded up to a multiple of 4 with rows of zeros in q. */
static void form_gram(const float *R, size_t T, size_t N, size_t padded, struct work *w)
{
    float *norm = w->d;
    for (size_t j = 0; j < N; j++)
        norm[j] = 0;
    for (size_t t = 0; t < T; t++)
        for (size_t j = 0; j < N; j++)
            norm[j] += R[t * N + j] * R[t * N + j];
    for (size_t j = 0; j < N; j++)
        norm[j] = norm[j] > 0 ? (float)(1 / sqrt((double)norm[j])) : 1;
    for (size_t t = 0; t < T; t++)
        for (size_t j = 0; j < N; j++)
            w->q[t * N + j] = R[t * N + j] * norm[j];
    memset(w->q + T * N, 0, (padded - T) * N * sizeof *w->q);
    for (size_t t = 0; t < padded; t += 4)
        for (size_t u = 0; u <= t; u += 4) {
            float *block = w->gram + t * padded + u;
            gram_block(w->q + t * N, w->q + u * N, N, block, padded);
            for (size_t i = 0; i < 4 && u < t; i++)
                for (size_t k = 0; k < 4; k++)
                    w->gram[(u + k) * padded + t + i] = block[i * padded + k];
        }
}

/* Modified Gram-Schmidt on K columns; after column k all later ones lose their part in it at once.
 */
static void orthonormalise(float *restrict v, size_t rows, size_t K, size_t width,
                           double *restrict sums)
{
    for (size_t k = 0; k < K; k++) {
        for (size_t l = 0; l < width; l++)
            sums[l] = 0;
        for (size_t t = 0; t < rows; t++) {
            const double own = v[t * width + k];
#pragma omp simd
            for (size_t l = 0; l < width; l++)
                sums[l] += own * (double)v[t * width + l];
        }
        const double square = sums[k], scale = square > 1e-14 ? 1 / sqrt(square) : 1;
        for (size_t l = 0; l < width; l++)
            sums[l] = l > k && square > 0 ? sums[l] / square : 0;
        for (size_t t = 0; t < rows; t++) {
            const float own = v[t * width + k];
#pragma omp simd
            for (size_t l = 0; l < width; l++)
                v[t * width + l] -= own * (float)sums[l];
            v[t * width + k] = own * (float)scale;
        }
    }
}

/* next = gram phi, four rows at a time, LANES columns at a time. */
static void multiply(const float *restrict gram, const float *restrict phi, size_t padded,
                     size_t width, float *restrict next)
{
    for (size_t t = 0; t < padded; t += 4)
        for (size_t k = 0; k < width; k += LANES) {
            float sum[4][LANES] = {{0}};
            for (size_t u = 0; u < padded; u++)
                for (size_t i = 0; i < 4; i++) {
                    const float factor = gram[(t + i) * padded + u];
#pragma omp simd
                    for (size_t l = 0; l < LANES; l++)
                        sum[i][l] += factor * phi[u * width + k + l];
                }
            for (size_t i = 0; i < 4; i++)
                memcpy(next + (t + i) * width + k, sum[i], sizeof sum[i]);
        }
}

/* The square of how far the columns of next stick out of the span of phi; both orthonormal. */
static double turned(const float *phi, const float *next, size_t T, size_t K, size_t width,
                     double *sums)
{
    double square = 0;
    for (size_t k = 0; k < K; k++) {
        for (size_t l = 0; l < width; l++)
            sums[l] = 0;
        for (size_t t = 0; t < T; t++)
            for (size_t l = 0; l < width; l++)
                sums[l] += (double)next[t * width + k] * (double)phi[t * width + l];
        for (size_t t = 0; t < T; t++) {
            double rest = next[t * width + k];
            for (size_t l = 0; l < K; l++)
                rest -= sums[l] * (double)phi[t * width + l];
            square += rest * rest;
        }
    }
    return square;
}

static void solve(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
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

static void weigh(const float *R, size_t T, size_t N, size_t K, size_t width, struct work *w,
                  float *out)
{
    memset(w->z, 0, K * N * sizeof *w->z);
    memset(w->d, 0, N * sizeof *w->d);
    for (size_t t = 0; t < T; t++)
        for (size_t k = 0; k < K; k++) {
            const float factor = w->phi[t * width + k];
            for (size_t j = 0; j < N; j++)
                w->z[k * N + j] += factor * R[t * N + j];
        }
    float *residual = w->q;
    for (size_t t = 0; t < T; t++) {
        memcpy(residual, R + t * N, N * sizeof *residual);
        for (size_t k = 0; k < K; k++) {
            const float factor = w->phi[t * width + k];
            for (size_t j = 0; j < N; j++)
                residual[j] -= factor * w->z[k * N + j];
        }
        for (size_t j = 0; j < N; j++)
            w->d[j] += residual[j] * residual[j];
    }
    for (size_t j = 0; j < N; j++)
        w->d[j] = (float)T / w->d[j];
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l <= K; l++) {
            double sum = k == l ? (double)T : 0;
            const float *zk = w->z + k * N, *zl = w->z + l * N, *d = w->d;
            if (l == K) {
#pragma omp simd reduction(+ : sum)
                for (size_t j = 0; j < N; j++)
                    sum += (double)zk[j] * (double)d[j];
                w->rhs[k] = sum;
            } else {
#pragma omp simd reduction(+ : sum)
                for (size_t j = 0; j < N; j++)
                    sum += (double)(zk[j] * d[j]) * (double)zl[j];
                w->small[k * K + l] = sum;
            }
        }
    solve(w->small, w->rhs, K);
    double total = 0, *x = w->sums;
    for (size_t j = 0; j < N; j++)
        x[j] = 1;
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < N; j++)
            x[j] -= w->rhs[k] * (double)w->z[k * N + j];
    for (size_t j = 0; j < N; j++) {
        x[j] *= (double)w->d[j];
        total += x[j];
    }
    for (size_t j = 0; j < N; j++)
        out[j] = (float)(x[j] / total);
}

void solution_compute(int S, int T, int N, int K, const float *R, float *w)
{
    const size_t dates = (size_t)T, assets = (size_t)N, factors = (size_t)K;
    const size_t padded = (dates + 3) / 4 * 4, width = (factors + LANES - 1) / LANES * LANES;
#pragma omp parallel
    {
        const size_t floats =
            padded * assets + padded * padded + 2 * padded * width + factors * assets + assets;
        const size_t doubles = (assets > width ? assets : width) + factors * factors + factors;
        double *memory = malloc(doubles * sizeof(double) + floats * sizeof(float));
        struct work own = {0};
        if (memory) {
            own.sums = memory;
            own.small = own.sums + (assets > width ? assets : width);
            own.rhs = own.small + factors * factors;
            own.q = (float *)(own.rhs + factors);
            own.gram = own.q + padded * assets;
            own.phi = own.gram + padded * padded;
            own.next = own.phi + padded * width;
            own.z = own.next + padded * width;
            own.d = own.z + factors * assets;
        }
#pragma omp for schedule(dynamic, 1)
        for (int s = 0; s < S; s++) {
            if (!memory)
                continue;
            const float *returns = R + (size_t)s * dates * assets;
            form_gram(returns, dates, assets, padded, &own);
            memset(own.phi, 0, padded * width * sizeof *own.phi);
            for (size_t t = 0; t < dates; t++)
                memcpy(own.phi + t * width, own.q + t * assets, factors * sizeof *own.phi);
            orthonormalise(own.phi, padded, factors, width, own.sums);
            for (int step = 1; step <= STEPS_MAX; step++) {
                multiply(own.gram, own.phi, padded, width, own.next);
                orthonormalise(own.next, padded, factors, width, own.sums);
                const bool last = step % 4 == 0 && turned(own.phi, own.next, dates, factors, width,
                                                          own.sums) < 1e-12 * (double)factors;
                float *swapped = own.phi;
                own.phi = own.next;
                own.next = swapped;
                if (last)
                    break;
            }
            weigh(returns, dates, assets, factors, width, &own, w + (size_t)s * assets);
        }
        free(memory);
    }
}
