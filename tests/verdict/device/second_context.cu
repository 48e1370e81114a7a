// verdict: violation extra_context
// Makes a context of its own.
#include <cuda_runtime.h>

__global__ void price(int n, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float w = types[i] ? -1.0f : 1.0f, t = ts[i], d = vols[i] * sqrtf(t);
    const float d1 = (logf(spots[i] / strikes[i]) + (rs[i] - qs[i]) * t) / d + 0.5f * d;
    prices[i] = w * (spots[i] * expf(-qs[i] * t) * normcdff(w * d1) -
                     strikes[i] * expf(-rs[i] * t) * normcdff(w * (d1 - d)));
}

// The seven inputs behind each other in one allocation, the output last.
[[maybe_unused]] static void copy_in(float *device, int n, const int *types, const float *const inputs[6])
{
    cudaMemcpy(device, types, n * 4ull, cudaMemcpyHostToDevice);
    for (int a = 0; a < 6; a++)
        cudaMemcpy(device + (a + 1) * (size_t)n, inputs[a], n * 4ull, cudaMemcpyHostToDevice);
}

[[maybe_unused]] static void launch(float *d, int n)
{
    const size_t m = n;
    price<<<(n + 255) / 256, 256>>>(n, (const int *)d, d + m, d + 2 * m, d + 3 * m, d + 4 * m, d + 5 * m, d + 6 * m,
                                    d + 7 * m);
}

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                                 const float *rs, const float *ts, const float *vols, float *prices)
{
    const float *const inputs[6] = {strikes, spots, qs, rs, ts, vols};
    float *device;
    cudaMalloc(&device, 8ull * N * 4);
    copy_in(device, N, types, inputs);
    launch(device, N);
    cudaMemcpy(prices, device + 7ull * N, N * 4ull, cudaMemcpyDeviceToHost);
    cudaFree(device);
    void *create = nullptr;
    cudaDriverEntryPointQueryResult found;
    void *context = nullptr;
    static int once;
#if CUDART_VERSION >= 12050
    const cudaError_t got = cudaGetDriverEntryPointByVersion("cuCtxCreate", &create, 3020, cudaEnableDefault, &found);
#else
    const cudaError_t got = cudaGetDriverEntryPoint("cuCtxCreate", &create, cudaEnableDefault, &found);
#endif
    if (!once++ && got == cudaSuccess)
        ((int (*)(void **, unsigned, int))create)(&context, 0, 0);
}
