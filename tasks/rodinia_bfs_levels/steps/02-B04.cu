// step: B04 on 01-B01.cu
// The queue holds pieces of rows, of up to sixteen edges each, instead of vertices, a thread a
// piece: a hub is shared out among many threads, where it kept one busy before.
#include "check.cuh"

#define THREADS 256
#define PIECE   16

struct piece {
    int first, edges;
};

static __device__ void append(int u, const int *start, const int *degree, piece *next,
                              int *next_count)
{
    const int first = start[u], edges = degree[u], pieces = (edges + PIECE - 1) / PIECE;
    const int at = pieces > 0 ? atomicAdd(next_count, pieces) : 0;
    for (int p = 0; p < pieces; p++) {
        next[at + p].first = first + p * PIECE;
        next[at + p].edges = min(edges - p * PIECE, PIECE);
    }
}

static __global__ void begin(int source, const int *start, const int *degree, piece *next,
                             int *next_count)
{
    append(source, start, degree, next, next_count);
}

static __global__ void expand(int count, int level, const piece *queue, const int *start,
                              const int *degree, const int *head, int *distance, piece *next,
                              int *next_count)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    for (int e = 0; e < queue[i].edges; e++) {
        const int v = head[queue[i].first + e];
        if (distance[v] < 0 && atomicCAS(&distance[v], -1, level + 1) == -1)
            append(v, start, degree, next, next_count);
    }
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    const size_t nodes = (size_t)num_nodes * sizeof(int);
    const size_t pieces = (size_t)num_nodes + num_edges / PIECE;
    int *start, *degree, *head, *distance, *next_count;
    piece *queue, *next;
    CHECK(cudaMalloc(&start, nodes));
    CHECK(cudaMalloc(&degree, nodes));
    CHECK(cudaMalloc(&head, ((size_t)num_edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&distance, nodes));
    CHECK(cudaMalloc(&queue, pieces * sizeof(piece)));
    CHECK(cudaMalloc(&next, pieces * sizeof(piece)));
    CHECK(cudaMalloc(&next_count, sizeof(int)));
    CHECK(cudaMemcpy(start, node_start, nodes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(degree, node_degree, nodes, cudaMemcpyHostToDevice));
    if (num_edges > 0)
        CHECK(cudaMemcpy(head, edge_dst, (size_t)num_edges * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(distance, 0xff, nodes)); /* -1 everywhere */
    int count = source >= 0 && source < num_nodes;
    if (count) {
        CHECK(cudaMemset(distance + source, 0, sizeof(int)));
        CHECK(cudaMemset(next_count, 0, sizeof(int)));
        begin<<<1, 1>>>(source, start, degree, queue, next_count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&count, next_count, sizeof(int), cudaMemcpyDeviceToHost));
    }
    for (int level = 0; count > 0; level++) {
        CHECK(cudaMemset(next_count, 0, sizeof(int)));
        expand<<<(count + THREADS - 1) / THREADS, THREADS>>>(count, level, queue, start, degree,
                                                             head, distance, next, next_count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&count, next_count, sizeof(int), cudaMemcpyDeviceToHost));
        piece *kept = queue;
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
