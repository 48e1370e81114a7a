// Bit maps instead of lists: bit v of `seen` says that vertex v has a level. All vertices are looked at in each level.
#include <cuda_runtime.h>

typedef unsigned int word;

__global__ void level_kernel(int n, int depth, const int *start, const int *degree, const int *dst, const word *now,
                             word *next, word *seen, int *dist, int *any)
{
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n)
        return;
    if (!((now[u >> 5] >> (u & 31)) & 1u))
        return; // not on the frontier
    for (int k = 0; k < degree[u]; k++) {
        int v = dst[start[u] + k];
        word bit = 1u << (v & 31);
        if (atomicOr(&seen[v >> 5], bit) & bit)
            continue;
        atomicOr(&next[v >> 5], bit);
        dist[v] = depth + 1;
        *any = 1;
    }
}

extern "C" void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                                 const int *node_degree, const int *edge_dst, int *out_dist)
{
    const int words = (num_nodes + 31) / 32;
    int *start, *degree, *dst, *dist, *any;
    word *now, *next, *seen;
    cudaMalloc(&start, num_nodes * sizeof(int));
    cudaMalloc(&degree, num_nodes * sizeof(int));
    cudaMalloc(&dst, num_edges * sizeof(int) + 4);
    cudaMalloc(&dist, num_nodes * sizeof(int));
    cudaMalloc(&any, sizeof(int));
    cudaMalloc(&now, words * sizeof(word));
    cudaMalloc(&next, words * sizeof(word));
    cudaMalloc(&seen, words * sizeof(word));
    cudaMemcpy(start, node_start, num_nodes * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(degree, node_degree, num_nodes * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dst, edge_dst, num_edges * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(dist, 255, num_nodes * sizeof(int));
    cudaMemset(now, 0, words * sizeof(word));
    cudaMemset(seen, 0, words * sizeof(word));
    word first = 1u << (source & 31);
    int zero = 0, go = 1;
    cudaMemcpy(now + source / 32, &first, sizeof first, cudaMemcpyHostToDevice);
    cudaMemcpy(seen + source / 32, &first, sizeof first, cudaMemcpyHostToDevice);
    cudaMemcpy(dist + source, &zero, sizeof zero, cudaMemcpyHostToDevice);
    for (int depth = 0; go; depth++) {
        cudaMemset(next, 0, words * sizeof(word));
        cudaMemset(any, 0, sizeof(int));
        level_kernel<<<(num_nodes + 511) / 512, 512>>>(num_nodes, depth, start, degree, dst, now, next, seen, dist,
                                                       any);
        cudaMemcpy(&go, any, sizeof(int), cudaMemcpyDeviceToHost);
        word *t = now; now = next; next = t;
    }
    cudaMemcpy(out_dist, dist, num_nodes * sizeof(int), cudaMemcpyDeviceToHost);
    // everything is freed at exit
}
