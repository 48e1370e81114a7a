// finds: synccheck
// Half of a warp waits at a barrier that names all of it.
#include <cuda_runtime.h>

__global__ void half(float *to)
{
    if (threadIdx.x < 16)
        __syncwarp(0xffffffff);
    to[threadIdx.x] = 1;
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    float *device;
    (void)types, (void)strikes, (void)qs, (void)rs, (void)ts, (void)vols;
    cudaMalloc(&device, N * sizeof(float));
    cudaMemcpy(device, spots, N * sizeof(float), cudaMemcpyHostToDevice);
    half<<<1, 32>>>(device);
    cudaMemcpy(prices, device, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
}
