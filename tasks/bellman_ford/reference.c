/* Shortest distances by the Bellman-Ford method, once per request: relax every edge, round after
 * round, until a round changes nothing. Distances are float sums taken along the path from its
 * source; since rounding is monotone, the values at rest are the same in every order of relaxation.
 */
#include <stdbool.h>
#include <stdlib.h>

#define UNREACHED 1e30f

/* Distances from source to all vertices; source lies in 0..V-1. */
static void distances_from(int source, int V, const int *row_offsets, const int *col_indices,
                           const float *weights, float *distance)
{
    for (int v = 0; v < V; v++)
        distance[v] = UNREACHED;
    distance[source] = 0.0f;
    for (int round = 1; round < V; round++) {
        bool changed = false;
        for (int u = 0; u < V; u++) {
            const float from = distance[u];
            if (from >= UNREACHED)
                continue;
            for (int e = row_offsets[u]; e < row_offsets[u + 1]; e++) {
                const float candidate = from + weights[e];
                if (candidate < distance[col_indices[e]]) {
                    distance[col_indices[e]] = candidate;
                    changed = true;
                }
            }
        }
        if (!changed)
            break;
    }
}

void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                      const float *h_weights, int num_requests, const int *h_sources,
                      const int *h_targets, float *h_distances)
{
    (void)E; /* equals h_row_offsets[V] */
    float *distance = malloc((size_t)V * sizeof *distance);
    if (!distance)
        return;
    for (int i = 0; i < num_requests; i++) {
        const int source = h_sources[i], target = h_targets[i];
        h_distances[i] = UNREACHED;
        if (source < 0 || source >= V || target < 0 || target >= V)
            continue;
        distances_from(source, V, h_row_offsets, h_col_indices, h_weights, distance);
        h_distances[i] = distance[target];
    }
    free(distance);
}
