/* Sixteen series at once in the lanes of a vector, groups of series over the cores. The table is
 * swept in strips of ROWS query rows: within a strip the left column stays in registers and only
 * the strip's last row goes to memory. Every group is transposed once, so that each load serves all
 * lanes. */
#include <stddef.h>
#include <stdlib.h>

#define LANES 16
#define ROWS  4

/* Beyond every real cell, yet its sums stay finite. */
#define FAR 1e30f

static inline void cell(float *restrict left, const float *restrict above,
                        const float *restrict diagonal, float query, const float *restrict subject,
                        float *restrict result)
{
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        const float difference = query - subject[l];
        float best = left[l] < above[l] ? left[l] : above[l];
        best = best < diagonal[l] ? best : diagonal[l];
        result[l] = difference * difference + best;
    }
}

/* One strip: rows of the table for query[0..count-1]; edge holds the row above and receives the
 * last one. */
static inline void strip(const float *restrict query, int count, int length,
                         const float *restrict subject, float *restrict edge, float corner)
{
    float left[ROWS][LANES], diagonal[LANES], above[LANES], next[LANES];
    for (int r = 0; r < count; r++)
        for (int l = 0; l < LANES; l++)
            left[r][l] = FAR;
    for (int l = 0; l < LANES; l++)
        diagonal[l] = corner;
    for (int j = 0; j < length; j++) {
        const float *restrict s = subject + (size_t)j * LANES;
        float *restrict e = edge + (size_t)j * LANES;
        float top[LANES];
        for (int l = 0; l < LANES; l++)
            top[l] = above[l] = e[l];
        for (int r = 0; r < count; r++) {
            cell(left[r], above, diagonal, query[r], s, next);
            for (int l = 0; l < LANES; l++) {
                diagonal[l] = left[r][l];
                left[r][l] = above[l] = next[l];
            }
        }
        for (int l = 0; l < LANES; l++) {
            e[l] = above[l];
            diagonal[l] = top[l];
        }
    }
}

static void group(const float *query, const float *subjects, int first, int entries, int length,
                  float *transposed, float *edge, float *distances)
{
    const int lanes = entries - first < LANES ? entries - first : LANES;
    for (int l = 0; l < LANES; l++) {
        /* Lanes without a series repeat the last one. */
        const float *from =
            subjects + (size_t)(first + (l < lanes ? l : lanes - 1)) * (size_t)length;
        for (int j = 0; j < length; j++)
            transposed[(size_t)j * LANES + (size_t)l] = from[j];
    }
    for (size_t k = 0; k < (size_t)length * LANES; k++)
        edge[k] = FAR;
    int i = 0;
    for (; i + ROWS <= length; i += ROWS)
        strip(query + i, ROWS, length, transposed, edge, i == 0 ? 0 : FAR);
    for (; i < length; i++)
        strip(query + i, 1, length, transposed, edge, i == 0 ? 0 : FAR);
    for (int l = 0; l < lanes; l++)
        distances[first + l] = edge[(size_t)(length - 1) * LANES + (size_t)l];
}

void solution_compute(int num_entries, int num_features, const float *subjects, const float *query,
                      float *distances)
{
#pragma omp parallel
    {
        const size_t bytes = (size_t)num_features * LANES * sizeof(float);
        float *transposed = aligned_alloc(64, bytes), *edge = aligned_alloc(64, bytes);
#pragma omp for schedule(dynamic)
        for (int first = 0; first < num_entries; first += LANES)
            if (transposed && edge)
                group(query, subjects, first, num_entries, num_features, transposed, edge,
                      distances);
        free(transposed);
        free(edge);
    }
}
