// finds: synccheck
// Half of a block passes a barrier that the other half goes around.
#include <cuda_runtime.h>

__global__ void half(float *to)
{
    __shared__ float passed[64];
    if (threadIdx.x < 64) {
        passed[threadIdx.x] = 2;
        __syncthreads();
        to[threadIdx.x] = passed[63 - threadIdx.x];
    }
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    float *device;
    (void)types, (void)strikes, (void)qs, (void)rs, (void)ts, (void)vols;
    cudaMalloc(&device, N * sizeof(float));
    cudaMemcpy(device, spots, N * sizeof(float), cudaMemcpyHostToDevice);
    half<<<1, 128>>>(device);
    cudaMemcpy(prices, device, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
}
