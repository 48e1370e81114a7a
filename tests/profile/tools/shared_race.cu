// finds: racecheck
// Reads in shared memory what another thread writes, without a barrier.
#include <cuda_runtime.h>

__global__ void turn(float *to)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = to[threadIdx.x];
    to[threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    float *device;
    (void)types, (void)strikes, (void)qs, (void)rs, (void)ts, (void)vols;
    cudaMalloc(&device, N * sizeof(float));
    cudaMemcpy(device, spots, N * sizeof(float), cudaMemcpyHostToDevice);
    turn<<<1, 256>>>(device);
    cudaMemcpy(prices, device, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
}
