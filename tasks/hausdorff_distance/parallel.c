/* Pairs of sets over the cores. A source point that has any target point within the largest
 * distance found so far cannot raise it, so its scan stops there (Taha & Hanbury 2015); the scan
 * starts at the block of target points that stopped the point before, since neighbours in a set are
 * mostly neighbours in the plane. Blocks run in vectors. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define BLOCK 64

static inline float nearest_in(float x, float y, const float *restrict xs, const float *restrict ys,
                               size_t count)
{
    float nearest = INFINITY;
#pragma omp simd reduction(min : nearest)
    for (size_t q = 0; q < count; q++) {
        const float dx = xs[q] - x, dy = ys[q] - y, squared = dx * dx + dy * dy;
        nearest = squared < nearest ? squared : nearest;
    }
    return nearest;
}

static float farthest_of(const float *ax, const float *ay, size_t na, const float *bx,
                         const float *by, size_t nb)
{
    const size_t blocks = (nb + BLOCK - 1) / BLOCK;
    float farthest = 0;
    size_t hint = 0;
    for (size_t p = 0; p < na; p++) {
        float nearest = INFINITY;
        size_t k = hint;
        for (size_t i = 0; i < blocks; i++) {
            const size_t first = k * BLOCK, count = nb - first < BLOCK ? nb - first : BLOCK;
            const float here = nearest_in(ax[p], ay[p], bx + first, by + first, count);
            if (here < nearest) {
                nearest = here;
                hint = k;
            }
            if (nearest <= farthest)
                break;
            k = k + 1 < blocks ? k + 1 : 0;
        }
        farthest = nearest > farthest ? nearest : farthest;
    }
    return farthest;
}

void solution_compute(int num_points, int num_spaces, const float *points_xy,
                      const int *space_offsets, float *results)
{
    const size_t points = (size_t)num_points, spaces = (size_t)num_spaces;
    float *xs = malloc(points * sizeof *xs), *ys = malloc(points * sizeof *ys);
    if (xs && ys) {
        for (size_t i = 0; i < points; i++) {
            xs[i] = points_xy[2 * i];
            ys[i] = points_xy[2 * i + 1];
        }
#pragma omp parallel for schedule(dynamic, 4)
        for (size_t pair = 0; pair < spaces * spaces; pair++) {
            const size_t b = pair / spaces, a = pair % spaces;
            const size_t a0 = (size_t)space_offsets[a], b0 = (size_t)space_offsets[b];
            const size_t a1 = a + 1 < spaces ? (size_t)space_offsets[a + 1] : points;
            const size_t b1 = b + 1 < spaces ? (size_t)space_offsets[b + 1] : points;
            results[pair] =
                sqrtf(farthest_of(xs + a0, ys + a0, a1 - a0, xs + b0, ys + b0, b1 - b0));
        }
    }
    free(xs);
    free(ys);
}
