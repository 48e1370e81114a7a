/* Breadth-first search with a queue: vertices leave it in the order of their distance from the
 * source. */
#include <stdlib.h>

void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                      const int *node_degree, const int *edge_dst, int *out_dist)
{
    (void)num_edges;
    int *queue = malloc((size_t)num_nodes * sizeof *queue);
    if (!queue)
        return;
    for (int v = 0; v < num_nodes; v++)
        out_dist[v] = -1;
    int head = 0, tail = 0;
    if (source >= 0 && source < num_nodes) {
        out_dist[source] = 0;
        queue[tail++] = source;
    }
    while (head < tail) {
        const int u = queue[head++];
        const int *const row = edge_dst + node_start[u];
        for (int e = 0; e < node_degree[u]; e++)
            if (out_dist[row[e]] < 0) {
                out_dist[row[e]] = out_dist[u] + 1;
                queue[tail++] = row[e];
            }
    }
    free(queue);
}
