/* A blocked matrix product of the points with A, whose result is never written: each tile of POINTS
 * x COLUMNS is compared with s - q as soon as it is complete. A is symmetric, so its rows serve as
 * columns. Products in float; the plain sums of each point in double. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#define POINTS  6
#define COLUMNS 16
#define BLOCK   96 /* points that share a packed panel of A */

typedef float vector __attribute__((vector_size(COLUMNS * sizeof(float)), aligned(4)));

/* Rows first..first+COLUMNS-1 of A x for six points, reduced to the worst deviation from s - q. */
static void tile(size_t n, const float *panel, const float *const x[POINTS],
                 const float *const q[POINTS], const float *s, size_t first, size_t columns,
                 float *worst)
{
    vector sum[POINTS] = {0};
    for (size_t j = 0; j < n; j++) {
        const vector a = *(const vector *)(panel + j * COLUMNS);
#pragma GCC unroll 6
        for (int p = 0; p < POINTS; p++)
            sum[p] += a * x[p][j];
    }
    for (int p = 0; p < POINTS; p++)
        for (size_t c = 0; c < columns; c++)
            worst[p] = fmaxf(worst[p], fabsf((s[p] - sum[p][c]) - q[p][first + c]));
}

/* Everything but A x. */
static void sums_of_point(size_t n, float mu, const float *x, const float *q, float s, float *obj,
                          float *viol)
{
    double least = 0, total = 0;
    float worst = fmaxf(0.0f, -s);
#pragma omp simd reduction(+ : least, total) reduction(max : worst)
    for (size_t i = 0; i < n; i++) {
        least += x[i] < q[i] ? x[i] : q[i];
        total += x[i];
        const float outside = fmaxf(fmaxf(-q[i], q[i] - 1.0f), -x[i]);
        worst = outside > worst ? outside : worst;
    }
    *obj = (float)(s - mu * least);
    *viol = fmaxf(worst, (float)fabs(total - 1.0));
}

void solution_compute(int N, int M, float mu, const float *A, const float *x, const float *q,
                      const float *s, float *obj, float *max_viol)
{
    const size_t n = (size_t)N, m = (size_t)M, threads = (size_t)omp_get_max_threads();
    size_t block = (m / threads + POINTS) / POINTS * POINTS;
    block = block < BLOCK ? block : BLOCK;
#pragma omp parallel
    {
        float *panel = aligned_alloc(64, n * COLUMNS * sizeof *panel);
        if (!panel)
            abort();
#pragma omp for schedule(dynamic)
        for (size_t start = 0; start < m; start += block) {
            const size_t end = start + block < m ? start + block : m;
            for (size_t k = start; k < end; k++)
                sums_of_point(n, mu, x + k * n, q + k * n, s[k], &obj[k], &max_viol[k]);
            for (size_t first = 0; first < n; first += COLUMNS) {
                const size_t columns = n - first < COLUMNS ? n - first : COLUMNS;
                for (size_t j = 0; j < n; j++)
                    for (size_t c = 0; c < COLUMNS; c++)
                        panel[j * COLUMNS + c] = c < columns ? A[j * n + first + c] : 0.0f;
                for (size_t k = start; k < end; k += POINTS) {
                    const float *weights[POINTS], *slacks[POINTS];
                    float levels[POINTS], worst[POINTS] = {0};
                    for (size_t p = 0; p < POINTS; p++) { /* the last tile repeats its last point */
                        const size_t at = k + p < end ? k + p : end - 1;
                        weights[p] = x + at * n;
                        slacks[p] = q + at * n;
                        levels[p] = s[at];
                    }
                    tile(n, panel, weights, slacks, levels, first, columns, worst);
                    for (size_t p = 0; p < POINTS && k + p < end; p++)
                        max_viol[k + p] = fmaxf(max_viol[k + p], worst[p]);
                }
            }
        }
        free(panel);
    }
}
