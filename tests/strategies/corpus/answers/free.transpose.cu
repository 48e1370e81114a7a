// Transposition with a swizzled tile: element (y, x) lies at column x ^ y, so neither direction has bank conflicts.
// Blocks are numbered in groups of eight columns, so that neighbours in time share lines of the L2 cache.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define T 32
#define GROUP 8

__global__ void transpose_swizzled(int n, const float *in, float *out)
{
    __shared__ float tile[T][T];
    const int tiles = n / T, per_group = GROUP * tiles;
    const int group = blockIdx.x / per_group, within = blockIdx.x % per_group;
    const int bx = group * GROUP + within % GROUP, by = within / GROUP;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < T; y += 8)
        tile[y][x ^ y] = in[(size_t)(by * T + y) * n + bx * T + x];
    __syncthreads();
    for (int y = threadIdx.y; y < T; y += 8)
        out[(size_t)(bx * T + y) * n + by * T + x] = tile[x][y ^ x];
}

// A strip of tiles a block, the next tile on its way while this one is written.
__global__ void transpose_pipelined(int n, const float *in, float *out)
{
    __shared__ float tile[2][T][T + 1];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const int tiles = n / T;
    auto fetch = [&](int k) {
        pipe.producer_acquire();
        for (int y = 0; y < T; y++)
            cuda::memcpy_async(block, tile[k % 2][y], in + (size_t)(blockIdx.x * T + y) * n + k * T, T * sizeof(float),
                               pipe);
        pipe.producer_commit();
    };
    fetch(0);
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            fetch(k + 1);
        pipe.consumer_wait();
        block.sync();
        for (int y = threadIdx.y; y < T; y += blockDim.y)
            out[(size_t)(k * T + y) * n + blockIdx.x * T + threadIdx.x] = tile[k % 2][threadIdx.x][y];
        pipe.consumer_release();
        block.sync();
    }
}

extern "C" void transpose(int n, int which, const float *host_in, float *host_out)
{
    const size_t bytes = sizeof(float) * n * n;
    float *in, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(in, host_in, bytes, cudaMemcpyHostToDevice);
    if (which == 0)
        transpose_swizzled<<<(n / T) * (n / T), dim3(T, 8)>>>(n, in, out);
    else
        transpose_pipelined<<<n / T, dim3(T, 8)>>>(n, in, out);
    cudaMemcpy(host_out, out, bytes, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
}
