/* The same sweeps in place, the vertices dealt out to the cores in pieces: a core sees the newest
 * contributions of the others as they happen to arrive. Whatever the order, the residual after a
 * sweep is at most 0.85 times the change that the sweep made, so the stop rule keeps its meaning.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE  1024
#define PERIOD 4

/* Contributions are kept as the bits of floats: relaxed atomic loads and stores exist for integers
 * only. */
static float load(const unsigned *bits)
{
    const unsigned value = __atomic_load_n(bits, __ATOMIC_RELAXED);
    float x;
    memcpy(&x, &value, sizeof x);
    return x;
}

static void store(unsigned *bits, float x)
{
    unsigned value;
    memcpy(&value, &x, sizeof value);
    __atomic_store_n(bits, value, __ATOMIC_RELAXED);
}

/* Renews vertices first..last-1 and returns how much their scores changed; *before keeps the old
 * ones. */
static double sweep(int first, int last, float base, const int *row_ptr, const int *col_idx,
                    const float *share, unsigned *contribution, float *score, float *before)
{
    double change = 0;
    for (int u = first; u < last; u++) {
        float incoming = 0;
        for (int e = row_ptr[u]; e < row_ptr[u + 1]; e++)
            incoming += load(&contribution[col_idx[e]]);
        const float old = score[u], x = base + 0.85f * incoming;
        change += (double)fabsf(x - old);
        before[u] = old;
        score[u] = x;
        store(&contribution[u], x * share[u]);
    }
    return change;
}

void solution_compute(int n, int max_iters, const int *in_row_ptr, const int *in_col_idx,
                      const int *out_degree, float *scores_out)
{
    const float base = 0.15f / (float)n;
    const int limit = max_iters > 0 ? 1000 : 0; /* max_iters counts sweeps in vertex order */
    unsigned *contribution = malloc((size_t)n * sizeof *contribution);
    float *share = malloc((size_t)n * sizeof *share); /* 1/out_degree */
    float *before = malloc((size_t)n * sizeof *before);
    if (contribution && share && before) {
        double change = 0;
#pragma omp parallel
        {
#pragma omp for schedule(static)
            for (int u = 0; u < n; u++) {
                share[u] = out_degree[u] > 0 ? 1.0f / (float)out_degree[u] : 0.0f;
                scores_out[u] = 1.0f / (float)n;
                store(&contribution[u], scores_out[u] * share[u]);
            }
            double last = 0, last_ratio = 0, before_jump = INFINITY;
            for (int done = 0; done < limit; done++) {
#pragma omp single
                change = 0;
#pragma omp for schedule(dynamic, 1) reduction(+ : change)
                for (int piece = 0; piece <= (n - 1) / PIECE; piece++) {
                    const int first = piece * PIECE;
                    change += sweep(first, n - first < PIECE ? n : first + PIECE, base, in_row_ptr,
                                    in_col_idx, share, contribution, scores_out, before);
                }
                const double now = change, ratio = now / last;
                if (now < 1e-4)
                    break;
                const int steady = ratio < 0.95 && fabs(ratio - last_ratio) < 0.1;
                last = now;
                last_ratio = ratio;
                /* Changes that shrink by a steady ratio make a geometric series; jump to its sum
                 * now and then, as long as the jumps help. */
                if (done % PERIOD == PERIOD - 1 && steady && now < 0.5 * before_jump) {
                    before_jump = now;
                    const float jump = (float)(ratio / (1 - ratio));
#pragma omp for schedule(static)
                    for (int u = 0; u < n; u++) {
                        scores_out[u] += jump * (scores_out[u] - before[u]);
                        store(&contribution[u], scores_out[u] * share[u]);
                    }
                }
#pragma omp barrier
            }
        }
    }
    free(contribution);
    free(share);
    free(before);
}
