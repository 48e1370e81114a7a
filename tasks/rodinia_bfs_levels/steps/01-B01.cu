// step: B01 on naive.cu
// A queue holds the vertices of the present level, so that a launch looks at those alone, and not
// at all vertices to find them. The count of the next level comes back instead of a flag.
#include "check.cuh"

#define THREADS 256

static __global__ void expand(int count, int level, const int *queue, const int *start,
                              const int *degree, const int *head, int *distance, int *next,
                              int *next_count)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const int u = queue[i];
    for (int e = start[u]; e < start[u] + degree[u]; e++)
        if (distance[head[e]] < 0 && atomicCAS(&distance[head[e]], -1, level + 1) == -1)
            next[atomicAdd(next_count, 1)] = head[e];
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    const size_t nodes = (size_t)num_nodes * sizeof(int);
    int *start, *degree, *head, *distance, *queue, *next, *next_count;
    CHECK(cudaMalloc(&start, nodes));
    CHECK(cudaMalloc(&degree, nodes));
    CHECK(cudaMalloc(&head, ((size_t)num_edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&distance, nodes));
    CHECK(cudaMalloc(&queue, nodes));
    CHECK(cudaMalloc(&next, nodes));
    CHECK(cudaMalloc(&next_count, sizeof(int)));
    CHECK(cudaMemcpy(start, node_start, nodes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(degree, node_degree, nodes, cudaMemcpyHostToDevice));
    if (num_edges > 0)
        CHECK(cudaMemcpy(head, edge_dst, (size_t)num_edges * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(distance, 0xff, nodes)); /* -1 everywhere */
    int count = source >= 0 && source < num_nodes;
    if (count) {
        CHECK(cudaMemset(distance + source, 0, sizeof(int)));
        CHECK(cudaMemcpy(queue, &source, sizeof(int), cudaMemcpyHostToDevice));
    }
    for (int level = 0; count > 0; level++) {
        CHECK(cudaMemset(next_count, 0, sizeof(int)));
        expand<<<(count + THREADS - 1) / THREADS, THREADS>>>(count, level, queue, start, degree,
                                                             head, distance, next, next_count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&count, next_count, sizeof(int), cudaMemcpyDeviceToHost));
        int *kept = queue;
        queue = next;
        next = kept;
    }
    CHECK(cudaMemcpy(out_dist, distance, nodes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(start));
    CHECK(cudaFree(degree));
    CHECK(cudaFree(head));
    CHECK(cudaFree(distance));
    CHECK(cudaFree(queue));
    CHECK(cudaFree(next));
    CHECK(cudaFree(next_count));
}
