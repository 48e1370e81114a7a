// A block a series; the last three anti-diagonals live in shared memory for the whole table, the query in constant memory.
#include <cuda_runtime.h>

#define MAX_LEN 2048
__constant__ float kQuery[MAX_LEN];

__global__ void dtw(int len, const float *__restrict__ series, float *__restrict__ result)
{
    extern __shared__ float mem[];
    float *subject = mem;
    float *d[3] = {mem + len, mem + 2 * len, mem + 3 * len};
    for (int i = threadIdx.x; i < len; i += blockDim.x)
        subject[i] = series[(size_t)blockIdx.x * len + i];
    __syncthreads();
    for (int diag = 0; diag < 2 * len - 1; diag++) {
        float *cur = d[diag % 3], *p1 = d[(diag + 2) % 3], *p2 = d[(diag + 1) % 3];
        const int lo = diag < len ? 0 : diag - len + 1, hi = diag < len ? diag : len - 1;
        for (int i = lo + threadIdx.x; i <= hi; i += blockDim.x) {
            const int j = diag - i;
            const float diff = kQuery[i] - subject[j];
            float best = diag ? INFINITY : 0.0f;
            if (i > 0) best = fminf(best, p1[i - 1]);
            if (j > 0) best = fminf(best, p1[i]);
            if (i > 0 && j > 0) best = fminf(best, p2[i - 1]);
            cur[i] = diff * diff + best;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        result[blockIdx.x] = d[(2 * len - 2) % 3][len - 1];
}

extern "C" void solution_compute(int num_entries, int num_features, const float *subjects, const float *query,
                                 float *distances)
{
    if (num_features > MAX_LEN)
        return; // not handled
    float *dS, *dR;
    size_t bytes = (size_t)num_entries * num_features * sizeof(float);
    cudaMalloc(&dS, bytes);
    cudaMalloc(&dR, num_entries * sizeof(float));
    cudaMemcpy(dS, subjects, bytes, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(kQuery, query, num_features * sizeof(float));
    const size_t shared = 4 * num_features * sizeof(float);
    cudaFuncSetAttribute(dtw, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    dtw<<<num_entries, 256, shared>>>(num_features, dS, dR);
    cudaMemcpy(distances, dR, num_entries * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(dS);
    cudaFree(dR);
}
