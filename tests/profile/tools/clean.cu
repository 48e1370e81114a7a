// finds: none
// Nothing to find.
#include <cuda_runtime.h>

__global__ void add(int n, const float *from, float *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] + 1;
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    float *device;
    (void)types, (void)strikes, (void)qs, (void)rs, (void)ts, (void)vols;
    cudaMalloc(&device, N * sizeof(float));
    cudaMemcpy(device, spots, N * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(N + 255) / 256, 256>>>(N, device, device);
    cudaMemcpy(prices, device, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
}
