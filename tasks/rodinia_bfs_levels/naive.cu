/* One launch a level: a thread a vertex, and those whose vertex is at the present distance mark its
 * unseen heads. A flag comes back after every level. Bound by launches and waits, hundreds of
 * levels, and by looking at all vertices in each of them; hubs keep one thread busy. */
#include "check.cuh"

#define THREADS 256

/* Several threads may mark the same head, all with the same value. */
static __global__ void expand(int n, int level, const int *start, const int *degree,
                              const int *head, int *distance, int *found)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= n || distance[u] != level)
        return;
    for (int e = start[u]; e < start[u] + degree[u]; e++)
        if (distance[head[e]] < 0) {
            distance[head[e]] = level + 1;
            *found = 1;
        }
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    const int blocks = (num_nodes + THREADS - 1) / THREADS;
    const size_t nodes = (size_t)num_nodes * sizeof(int);
    int *start, *degree, *head, *distance, *found;
    CHECK(cudaMalloc(&start, nodes));
    CHECK(cudaMalloc(&degree, nodes));
    CHECK(cudaMalloc(&head, ((size_t)num_edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&distance, nodes));
    CHECK(cudaMalloc(&found, sizeof(int)));
    CHECK(cudaMemcpy(start, node_start, nodes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(degree, node_degree, nodes, cudaMemcpyHostToDevice));
    if (num_edges > 0)
        CHECK(cudaMemcpy(head, edge_dst, (size_t)num_edges * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(distance, 0xff, nodes)); /* -1 everywhere */
    int go_on = source >= 0 && source < num_nodes;
    if (go_on)
        CHECK(cudaMemset(distance + source, 0, sizeof(int)));
    for (int level = 0; go_on; level++) {
        CHECK(cudaMemset(found, 0, sizeof(int)));
        expand<<<blocks, THREADS>>>(num_nodes, level, start, degree, head, distance, found);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&go_on, found, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemcpy(out_dist, distance, nodes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(start));
    CHECK(cudaFree(degree));
    CHECK(cudaFree(head));
    CHECK(cudaFree(distance));
    CHECK(cudaFree(found));
}
