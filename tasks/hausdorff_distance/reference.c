/* Directed Hausdorff distances between all ordered pairs of point sets: for each point of the
 * source set the distance to the nearest point of the target set, and of these the largest. The
 * root is monotone, so it is taken once. */
#include <math.h>
#include <stddef.h>

static float squared_distance_to_set(float x, float y, const float *points_xy, int first, int end)
{
    float nearest = INFINITY;
    for (int q = first; q < end; q++) {
        const float dx = points_xy[2 * (size_t)q] - x;
        const float dy = points_xy[2 * (size_t)q + 1] - y;
        const float squared = dx * dx + dy * dy;
        if (squared < nearest)
            nearest = squared;
    }
    return nearest;
}

void solution_compute(int num_points, int num_spaces, const float *points_xy,
                      const int *space_offsets, float *results)
{
    for (int b = 0; b < num_spaces; b++) {
        const int b_first = space_offsets[b];
        const int b_end = b + 1 < num_spaces ? space_offsets[b + 1] : num_points;
        for (int a = 0; a < num_spaces; a++) {
            const int a_first = space_offsets[a];
            const int a_end = a + 1 < num_spaces ? space_offsets[a + 1] : num_points;
            float farthest = 0;
            for (int p = a_first; p < a_end; p++) {
                const float nearest =
                    squared_distance_to_set(points_xy[2 * (size_t)p], points_xy[2 * (size_t)p + 1],
                                            points_xy, b_first, b_end);
                if (nearest > farthest)
                    farthest = nearest;
            }
            results[(size_t)b * (size_t)num_spaces + (size_t)a] = sqrtf(farthest);
        }
    }
}
