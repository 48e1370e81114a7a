/* Density clustering (DBSCAN) by the serial scan: points are visited in order, and each unassigned
 * core point opens a cluster that grows over the neighbourhoods of the core points it reaches. The
 * neighbourhood of a point is found by looking at all points. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define UNVISITED 0
#define NOISE     (-2)

struct points {
    int count;
    const float *xs, *ys;
    float largest_square; /* near means: dx*dx + dy*dy at most this */
};

/* The largest float whose root, correctly rounded, is at most eps: spares the roots and decides
 * alike. */
static float largest_square_within(float eps)
{
    float square = eps * eps;
    while (sqrtf(square) > eps)
        square = nextafterf(square, 0.0f);
    while (sqrtf(nextafterf(square, INFINITY)) <= eps)
        square = nextafterf(square, INFINITY);
    return square;
}

/* Lists all points near point i but i itself; returns their number. */
static int neighbours_of(const struct points *p, int i, int *list)
{
    const float x = p->xs[i], y = p->ys[i];
    int found = 0;
    for (int j = 0; j < p->count; j++) {
        const float dx = x - p->xs[j], dy = y - p->ys[j];
        if (dx * dx + dy * dy <= p->largest_square && j != i)
            list[found++] = j;
    }
    return found;
}

void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts, int *labels)
{
    const struct points points = {N, xs, ys, largest_square_within(eps)};
    int *list = malloc((size_t)N * sizeof *list); /* a neighbourhood */
    int *queue =
        malloc((size_t)N * sizeof *queue); /* points of the growing cluster still to be looked at */
    int clusters = 0;
    if (list && queue) {
        for (int i = 0; i < N; i++)
            labels[i] = UNVISITED;
        for (int i = 0; i < N; i++) {
            if (labels[i] != UNVISITED)
                continue;
            int found = neighbours_of(&points, i, list);
            if (found < minPts) {
                labels[i] = NOISE;
                continue;
            }
            /* A new cluster takes all neighbours of its first point, even those that belong to
             * another one. */
            clusters++;
            labels[i] = clusters;
            int head = 0, tail = 0;
            for (int k = 0; k < found; k++) {
                labels[list[k]] = clusters;
                queue[tail++] = list[k];
            }
            /* From then on it grows over unassigned points only. */
            while (head < tail) {
                found = neighbours_of(&points, queue[head++], list);
                if (found < minPts)
                    continue;
                for (int k = 0; k < found; k++)
                    if (labels[list[k]] == UNVISITED || labels[list[k]] == NOISE) {
                        labels[list[k]] = clusters;
                        queue[tail++] = list[k];
                    }
            }
        }
    }
    free(list);
    free(queue);
}
