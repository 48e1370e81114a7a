// Jacobi sweeps; sum of changes by CUB; the host looks at it every tenth sweep only.
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <utility>

__global__ void pull(int n, const int *__restrict__ ptr, const int *__restrict__ idx, const int *__restrict__ deg,
                     const float *__restrict__ in, float *score, float *out, double *delta)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float acc = 0.0f;
    const int e1 = ptr[v + 1];
    for (int e = ptr[v]; e < e1; ++e)
        acc += in[idx[e]];
    const float fresh = 0.15f / n + 0.85f * acc;
    delta[v] = fabs((double)fresh - score[v]);
    score[v] = fresh;
    out[v] = deg[v] ? fresh / deg[v] : 0.0f;
}

__global__ void init(int n, const int *deg, float *score, float *out)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        score[v] = 1.0f / n;
        out[v] = deg[v] ? score[v] / deg[v] : 0.0f;
    }
}

extern "C" void solution_compute(int n, int max_iters, const int *in_row_ptr, const int *in_col_idx,
                                 const int *out_degree, float *scores_out)
{
    const int m = in_row_ptr[n];
    cudaStream_t st;
    cudaStreamCreate(&st);
    int *ptr, *idx, *deg;
    float *score, *a, *b;
    double *delta, *total;
    void *temp = nullptr;
    size_t temp_bytes = 0;
    cub::DeviceReduce::Sum(nullptr, temp_bytes, (double *)nullptr, (double *)nullptr, n);
    cudaMallocAsync(&ptr, (n + 1) * sizeof(int), st);
    cudaMallocAsync(&idx, m * sizeof(int), st);
    cudaMallocAsync(&deg, n * sizeof(int), st);
    cudaMallocAsync(&score, n * sizeof(float), st);
    cudaMallocAsync(&a, n * sizeof(float), st);
    cudaMallocAsync(&b, n * sizeof(float), st);
    cudaMallocAsync(&delta, n * sizeof(double), st);
    cudaMallocAsync(&total, sizeof(double), st);
    cudaMallocAsync(&temp, temp_bytes, st);
    cudaMemcpyAsync(ptr, in_row_ptr, (n + 1) * sizeof(int), cudaMemcpyHostToDevice, st);
    cudaMemcpyAsync(idx, in_col_idx, m * sizeof(int), cudaMemcpyHostToDevice, st);
    cudaMemcpyAsync(deg, out_degree, n * sizeof(int), cudaMemcpyHostToDevice, st);
    const int grid = (n + 255) / 256;
    init<<<grid, 256, 0, st>>>(n, deg, score, a);
    for (int it = 0; it < 20 * max_iters; ++it) {
        pull<<<grid, 256, 0, st>>>(n, ptr, idx, deg, a, score, b, delta);
        std::swap(a, b);
        if (it % 10 == 9) {
            double change;
            cub::DeviceReduce::Sum(temp, temp_bytes, delta, total, n, st);
            cudaMemcpyAsync(&change, total, sizeof change, cudaMemcpyDeviceToHost, st);
            cudaStreamSynchronize(st);
            if (change < 1e-4)
                break;
        }
    }
    cudaMemcpyAsync(scores_out, score, n * sizeof(float), cudaMemcpyDeviceToHost, st);
    cudaStreamSynchronize(st);
    cudaFreeAsync(ptr, st); cudaFreeAsync(idx, st); cudaFreeAsync(deg, st); cudaFreeAsync(score, st);
    cudaFreeAsync(a, st); cudaFreeAsync(b, st); cudaFreeAsync(delta, st); cudaFreeAsync(total, st);
    cudaFreeAsync(temp, st);
    cudaStreamDestroy(st);
}
