// finds: synccheck
// The seventeenth lane of a warp waits at a barrier of the sixteen before it.
#include <cuda_runtime.h>

__global__ void half(float *to)
{
    __shared__ float passed[32];
    const unsigned lane = threadIdx.x;
    if (lane <= 16) { // one too many
        passed[lane] = lane;
        __syncwarp(0x0000ffff);
        to[lane] = passed[lane ? lane - 1 : 0];
    }
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
