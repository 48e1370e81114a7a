// Frontier queues; a block collects what it finds by a prefix sum over its threads and reserves room with one atomic.
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void advance(const int *frontier, int size, const int *start, const int *degree, const int *dst, int *dist,
                        int level, int *out, int *out_size)
{
    using Scan = cub::BlockScan<int, kThreads>;
    __shared__ typename Scan::TempStorage temp;
    __shared__ int base;
    const int i = blockIdx.x * kThreads + threadIdx.x;
    int begin = 0, end = 0;
    if (i < size) {
        begin = start[frontier[i]];
        end = begin + degree[frontier[i]];
    }
    while (__syncthreads_or(begin < end)) {
        int found = -1;
        if (begin < end) {
            const int v = dst[begin++];
            if (dist[v] < 0 && atomicCAS(&dist[v], -1, level) == -1)
                found = v;
        }
        int place, total;
        Scan(temp).ExclusiveSum(found >= 0 ? 1 : 0, place, total);
        if (threadIdx.x == 0)
            base = total ? atomicAdd(out_size, total) : 0;
        __syncthreads();
        if (found >= 0)
            out[base + place] = found;
        __syncthreads();
    }
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    int *memory;
    const size_t n = num_nodes;
    cudaMalloc(&memory, (5 * n + num_edges + 1) * sizeof(int));
    int *start = memory, *degree = start + n, *dist = degree + n, *queue = dist + n, *next = queue + n;
    int *dst = next + n, *count = dst + num_edges;
    cudaMemcpy(start, node_start, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(degree, node_degree, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dst, edge_dst, num_edges * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(dist, 0xff, n * sizeof(int));
    cudaMemset(dist + source, 0, sizeof(int));
    cudaMemcpy(queue, &source, sizeof(int), cudaMemcpyHostToDevice);
    int size = 1;
    for (int level = 1; size > 0; ++level) {
        cudaMemset(count, 0, sizeof(int));
        advance<<<(size + kThreads - 1) / kThreads, kThreads>>>(queue, size, start, degree, dst, dist, level, next,
                                                                count);
        cudaMemcpy(&size, count, sizeof(int), cudaMemcpyDeviceToHost);
        int *t = queue;
        queue = next;
        next = t;
    }
    cudaMemcpy(out_dist, dist, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(memory);
}
