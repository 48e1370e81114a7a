/* Direct differences in register tiles of a few reference points by two vectors of queries: as many
 * sums as there are registers for. Both sets are packed so that a tile's operands lie in order: the
 * reference set once for all, a panel of queries for each item of work. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined __AVX512F__ /* 32 registers of 16 floats, else 16 of 8 */
#define TILE_R 8
#define LANES  16
#else
#define TILE_R 6
#define LANES  8
#endif
#define TILE_Q (2 * LANES)
#define ALONE  (4 << 20) /* multiply-adds that one thread has done before others have come */

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* refs: dim x TILE_R, panel: dim x TILE_Q, out: TILE_R x TILE_Q. */
static void tile(const float *restrict refs, const lanes *restrict panel, size_t dim,
                 lanes *restrict out)
{
    lanes sum[TILE_R][2] = {0};
    for (size_t k = 0; k < dim; k++) {
        const lanes q0 = panel[2 * k], q1 = panel[2 * k + 1];
#pragma GCC unroll 8
        for (int r = 0; r < TILE_R; r++) {
            const lanes d0 = q0 - refs[k * TILE_R + (size_t)r],
                        d1 = q1 - refs[k * TILE_R + (size_t)r];
            sum[r][0] += d0 * d0;
            sum[r][1] += d1 * d1;
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < TILE_R; r++) {
        out[2 * r] = sum[r][0];
        out[2 * r + 1] = sum[r][1];
    }
}

void solution_compute(int ref_nb, int query_nb, int dim, const float *ref, const float *query,
                      float *dist)
{
    const size_t refs = (size_t)ref_nb, queries = (size_t)query_nb, depth = (size_t)dim;
    const size_t r_tiles = (refs + TILE_R - 1) / TILE_R, q_tiles = (queries + TILE_Q - 1) / TILE_Q;
    float *packed = aligned_alloc(64, (r_tiles * depth * TILE_R * sizeof *packed + 63) / 64 * 64);
    if (!packed)
        return;
#pragma omp parallel if (refs * queries * depth >= ALONE)
    {
        lanes *panel = aligned_alloc(64, (depth * TILE_Q * sizeof(float) + 63) / 64 * 64);
        lanes out[TILE_R * 2];
#pragma omp for schedule(static)
        for (size_t t = 0; t < r_tiles; t++) {
            const size_t first = t * TILE_R, count = refs - first < TILE_R ? refs - first : TILE_R;
            float *to = packed + t * depth * TILE_R;
            for (size_t k = 0; k < depth; k++)
                for (size_t r = 0; r < TILE_R; r++)
                    to[k * TILE_R + r] = r < count ? ref[k * refs + first + r] : 0;
        }
#pragma omp for schedule(dynamic)
        for (size_t t = 0; t < q_tiles; t++) {
            const size_t first = t * TILE_Q,
                         count = queries - first < TILE_Q ? queries - first : TILE_Q;
            if (!panel)
                continue;
            if (count < TILE_Q)
                memset(panel, 0, depth * TILE_Q * sizeof(float));
            for (size_t k = 0; k < depth; k++)
                memcpy(panel + 2 * k, query + k * queries + first, count * sizeof(float));
            for (size_t u = 0; u < r_tiles; u++) {
                tile(packed + u * depth * TILE_R, panel, depth, out);
                for (size_t r = 0; r < TILE_R && u * TILE_R + r < refs; r++)
                    memcpy(dist + (u * TILE_R + r) * queries + first, out + 2 * r,
                           count * sizeof(float));
            }
        }
        free(panel);
    }
    free(packed);
}
