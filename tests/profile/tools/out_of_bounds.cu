// finds: memcheck
// Writes one element behind its array.
#include <cuda_runtime.h>

__global__ void fill(int n, float *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        to[i] = 1;
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    float *device;
    (void)types, (void)strikes, (void)qs, (void)rs, (void)ts, (void)vols;
    cudaMalloc(&device, N * sizeof(float));
    cudaMemcpy(device, spots, N * sizeof(float), cudaMemcpyHostToDevice);
    fill<<<N / 256 + 1, 256>>>(N / 256 * 256, device + N % 256); /* ends with the array, and one behind */
    cudaMemcpy(prices, device, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
}
