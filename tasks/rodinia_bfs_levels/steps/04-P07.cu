// step: P07 on 03-P05.cu
// One cooperative kernel goes through all levels, with a barrier across the grid between them: no
// launch, no copy and no wait a level. Three counters in turn, so that clearing one needs no
// barrier.
#include "check.cuh"

#include <cooperative_groups.h>

#define THREADS 256
#define TEAM    8
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

static __global__ void search(int source, const int *start, const int *degree, const int *head,
                              int *distance, piece *queue, piece *next, int *counters)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int thread = blockIdx.x * THREADS + threadIdx.x, teams = gridDim.x * THREADS / TEAM;
    if (thread == 0)
        append(source, start, degree, queue, &counters[0]);
    grid.sync();
    for (int level = 0;; level++) {
        const int count = __ldcg(&counters[level % 3]);
        if (count == 0)
            break;
        int *next_count = &counters[(level + 1) % 3];
        if (thread == 0)
            counters[(level + 2) % 3] = 0;
        for (int i = thread / TEAM; i < count; i += teams) {
            const int first = __ldcg(&queue[i].first), edges = __ldcg(&queue[i].edges);
            for (int e = threadIdx.x % TEAM; e < edges; e += TEAM) {
                const int v = head[first + e];
                if (__ldcg(&distance[v]) < 0 && atomicCAS(&distance[v], -1, level + 1) == -1)
                    append(v, start, degree, next, next_count);
            }
        }
        grid.sync();
        piece *kept = queue;
        queue = next;
        next = kept;
    }
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    const size_t nodes = (size_t)num_nodes * sizeof(int);
    const size_t pieces = (size_t)num_nodes + num_edges / PIECE;
    int *start, *degree, *head, *distance, *counters;
    piece *queue, *next;
    CHECK(cudaMalloc(&start, nodes));
    CHECK(cudaMalloc(&degree, nodes));
    CHECK(cudaMalloc(&head, ((size_t)num_edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&distance, nodes));
    CHECK(cudaMalloc(&queue, pieces * sizeof(piece)));
    CHECK(cudaMalloc(&next, pieces * sizeof(piece)));
    CHECK(cudaMalloc(&counters, 3 * sizeof(int)));
    CHECK(cudaMemcpy(start, node_start, nodes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(degree, node_degree, nodes, cudaMemcpyHostToDevice));
    if (num_edges > 0)
        CHECK(cudaMemcpy(head, edge_dst, (size_t)num_edges * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(distance, 0xff, nodes)); /* -1 everywhere */
    if (source >= 0 && source < num_nodes) {
        int device, processors, resident;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, search, THREADS, 0));
        CHECK(cudaMemset(distance + source, 0, sizeof(int)));
        CHECK(cudaMemset(counters, 0, 3 * sizeof(int)));
        void *arguments[] = {&source, &start, &degree, &head, &distance, &queue, &next, &counters};
        CHECK(cudaLaunchCooperativeKernel(search, dim3(processors * (resident < 2 ? resident : 2)),
                                          dim3(THREADS), arguments, 0, NULL));
    }
    CHECK(cudaMemcpy(out_dist, distance, nodes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(start));
    CHECK(cudaFree(degree));
    CHECK(cudaFree(head));
    CHECK(cudaFree(distance));
    CHECK(cudaFree(queue));
    CHECK(cudaFree(next));
    CHECK(cudaFree(counters));
}
