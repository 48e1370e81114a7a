// Edge-parallel relaxation in one resident kernel with a home-made barrier; the host waits once for each request.
#include <cuda_runtime.h>
#include <vector>

__device__ volatile unsigned g_generation;
__device__ unsigned g_arrived;

__device__ void wait_for_all_blocks()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned generation = g_generation;
        __threadfence();
        if (atomicAdd(&g_arrived, 1) == gridDim.x - 1) {
            g_arrived = 0;
            __threadfence();
            g_generation = generation + 1;
        } else {
            while (g_generation == generation)
                ;
        }
    }
    __syncthreads();
}

__global__ void relax_all(int V, int E, const int *tail, const int *head, const float *weight, int source, int *dist,
                          int *changed)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    for (int v = t; v < V; v += total)
        dist[v] = __float_as_int(v == source ? 0.0f : 1e30f);
    wait_for_all_blocks();
    for (int round = 0; round < V; round++) {
        if (t == 0)
            changed[(round + 1) % 3] = 0;
        bool any = false;
        for (int e = t; e < E; e += total) {
            const int old = ((volatile int *)dist)[tail[e]];
            if (__int_as_float(old) >= 1e30f)
                continue;
            const int d = __float_as_int(__int_as_float(old) + weight[e]);
            if (d < ((volatile int *)dist)[head[e]] && d < atomicMin(&dist[head[e]], d))
                any = true;
        }
        if (__syncthreads_or(any) && threadIdx.x == 0)
            changed[round % 3] = 1;
        wait_for_all_blocks();
        if (((volatile int *)changed)[round % 3] == 0)
            break;
    }
}

extern "C" void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                                 const float *h_weights, int num_requests, const int *h_sources, const int *h_targets,
                                 float *h_distances)
{
    std::vector<int> tails(E);
    for (int u = 0; u < V; u++)
        for (int e = h_row_offsets[u]; e < h_row_offsets[u + 1]; e++)
            tails[e] = u;
    int *tail, *head, *dist, *changed;
    float *weight;
    cudaMalloc(&tail, E * sizeof(int));
    cudaMalloc(&head, E * sizeof(int));
    cudaMalloc(&weight, E * sizeof(float));
    cudaMalloc(&dist, V * sizeof(int));
    cudaMalloc(&changed, 3 * sizeof(int));
    cudaMemcpy(tail, tails.data(), E * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(head, h_col_indices, E * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(weight, h_weights, E * sizeof(float), cudaMemcpyHostToDevice);
    for (int i = 0; i < num_requests; i++) {
        cudaMemset(changed, 0, 3 * sizeof(int));
        relax_all<<<132, 256>>>(V, E, tail, head, weight, h_sources[i], dist, changed);
        cudaMemcpy(&h_distances[i], dist + h_targets[i], sizeof(float), cudaMemcpyDeviceToHost);
    }
    cudaFree(tail); cudaFree(head); cudaFree(weight); cudaFree(dist); cudaFree(changed);
}
