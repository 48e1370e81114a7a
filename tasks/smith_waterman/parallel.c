/* Thirty-two pairs at once in 16-bit lanes: scores fit, by contract. Pairs are ordered so that
 * those of a group have similar lengths on both sides, and padded with symbols that match nothing:
 * since penalties are negative, padding never raises a score. Strips of ROWS query symbols keep the
 * left column in registers. Groups go to the cores, long first. */
#include <stdint.h>
#include <stdlib.h>

#define LANES 32
#define ROWS  4

struct pair {
    int index, m, n;
};

static int by_m(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->m != y->m ? (x->m < y->m) - (x->m > y->m)
                        : (x->index > y->index) - (x->index < y->index);
}

static int by_n(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n)
                        : (x->index > y->index) - (x->index < y->index);
}

struct scoring {
    int16_t match, mismatch, gap;
};

static void strip(const struct scoring *s, const int16_t *restrict query, int n,
                  const int16_t *restrict target, int16_t *restrict edge, int16_t *restrict best)
{
    int16_t left[ROWS][LANES] = {0}, diagonal[LANES] = {0}, above[LANES], q[ROWS][LANES],
            top[LANES];
    for (int r = 0; r < ROWS; r++)
        for (int l = 0; l < LANES; l++)
            q[r][l] = query[r * LANES + l];
    const int16_t match = s->match, mismatch = s->mismatch, gap = s->gap;
    for (int j = 0; j < n; j++) {
        const int16_t *restrict t = target + (size_t)j * LANES;
        int16_t *restrict e = edge + (size_t)j * LANES;
        for (int l = 0; l < LANES; l++)
            top[l] = above[l] = e[l];
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++) {
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                int16_t h = (int16_t)(diagonal[l] + (q[r][l] == t[l] ? match : mismatch));
                const int16_t most = left[r][l] > above[l] ? left[r][l] : above[l];
                const int16_t gapped = (int16_t)(most + gap);
                h = h > gapped ? h : gapped;
                h = h > 0 ? h : 0;
                best[l] = best[l] > h ? best[l] : h;
                diagonal[l] = left[r][l];
                left[r][l] = above[l] = h;
            }
        }
        for (int l = 0; l < LANES; l++) {
            e[l] = above[l];
            diagonal[l] = top[l];
        }
    }
}

/* Symbols of a group's sequences, lane by lane; `pad` where a lane has none left. */
static void spread(int16_t *to, int length, const struct pair *pairs, int lanes, const int *seqs,
                   const int *offsets, int is_query, int16_t pad)
{
    for (int l = 0; l < LANES; l++) {
        const int count = l < lanes ? (is_query ? pairs[l].m : pairs[l].n) : 0;
        const int *from = count ? seqs + offsets[pairs[l].index] : seqs;
        for (int i = 0; i < count; i++)
            to[(size_t)i * LANES + (size_t)l] = (int16_t)from[i];
        for (int i = count; i < length; i++)
            to[(size_t)i * LANES + (size_t)l] = pad;
    }
}

void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                      int mismatch_penalty, int gap_penalty, const int *query_seqs,
                      const int *target_seqs, const int *query_offsets, const int *target_offsets,
                      int *scores)
{
    (void)total_query_len;
    (void)total_target_len;
    const struct scoring scoring = {(int16_t)match_score, (int16_t)mismatch_penalty,
                                    (int16_t)gap_penalty};
    const int groups = (N + LANES - 1) / LANES;
    struct pair *pairs = malloc((size_t)N * sizeof *pairs);
    if (!pairs)
        return;
    int most_m = 0, most_n = 0;
    for (int i = 0; i < N; i++) {
        pairs[i] = (struct pair){i, query_offsets[i + 1] - query_offsets[i],
                                 target_offsets[i + 1] - target_offsets[i]};
        most_m = pairs[i].m > most_m ? pairs[i].m : most_m;
        most_n = pairs[i].n > most_n ? pairs[i].n : most_n;
    }
    /* Slabs of similar query length, each in order of target length. */
    qsort(pairs, (size_t)N, sizeof *pairs, by_m);
    int slab = 1;
    while (slab * slab < groups)
        slab++;
    for (int i = 0; i < N; i += slab * LANES)
        qsort(pairs + i, (size_t)(N - i < slab * LANES ? N - i : slab * LANES), sizeof *pairs,
              by_n);
#pragma omp parallel
    {
        const size_t rows = (size_t)(most_m + ROWS), columns = (size_t)most_n + 1;
        int16_t *query = aligned_alloc(64, rows * LANES * sizeof *query);
        int16_t *target = aligned_alloc(64, columns * LANES * sizeof *target);
        int16_t *edge = aligned_alloc(64, columns * LANES * sizeof *edge);
#pragma omp for schedule(dynamic)
        for (int g = 0; g < groups; g++) {
            const struct pair *own = pairs + g * LANES;
            const int lanes = N - g * LANES < LANES ? N - g * LANES : LANES;
            int16_t best[LANES] = {0};
            int m = 0, n = 0;
            for (int l = 0; l < lanes; l++) {
                m = own[l].m > m ? own[l].m : m;
                n = own[l].n > n ? own[l].n : n;
            }
            m = (m + ROWS - 1) / ROWS * ROWS;
            if (!query || !target || !edge)
                continue;
            spread(query, m, own, lanes, query_seqs, query_offsets, 1, 4);
            spread(target, n, own, lanes, target_seqs, target_offsets, 0, 5);
            for (size_t k = 0; k < (size_t)n * LANES; k++)
                edge[k] = 0;
            for (int i = 0; i < m; i += ROWS)
                strip(&scoring, query + (size_t)i * LANES, n, target, edge, best);
            for (int l = 0; l < lanes; l++)
                scores[own[l].index] = best[l];
        }
        free(query);
        free(target);
        free(edge);
    }
    free(pairs);
}
