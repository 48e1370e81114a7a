// One block does everything: whole problems of this size fit one multiprocessor, and a block's barrier is cheap.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(1024, 1)
    solve(int n, int m, int iters, const float *obj, const float *vlb, const float *vub, const float *clb,
          const float *cub, const int *ptr, const int *row, const float *val, float tau, float sigma, float *avg)
{
    extern __shared__ float sh[];
    float *x = sh, *ahead = x + n, *y = ahead + n, *act = y + m;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        x[j] = 0;
        avg[j] = 0;
    }
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        y[i] = act[i] = 0;
    __syncthreads();
    for (int k = 0; k < iters; k++) {
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            float g = 0;
            for (int e = ptr[j]; e < ptr[j + 1]; e++)
                g += val[e] * y[row[e]];
            const float old = x[j];
            const float v = fmaxf(fminf(old - tau * (obj[j] - g), vub[j]), vlb[j]);
            x[j] = v;
            ahead[j] = 2 * v - old;
            avg[j] += (v - avg[j]) / (k + 1);
        }
        __syncthreads();
        for (int j = threadIdx.x; j < n; j += blockDim.x)
            for (int e = ptr[j]; e < ptr[j + 1]; e++)
                atomicAdd(&act[row[e]], val[e] * ahead[j]);
        __syncthreads();
        for (int i = threadIdx.x; i < m; i += blockDim.x) {
            const float t = y[i] - sigma * act[i];
            y[i] = fmaxf(t + sigma * clb[i], fminf(0, t + sigma * cub[i]));
            act[i] = 0;
        }
        __syncthreads();
    }
}

extern "C" void solution_compute(int num_vars, int num_constraints, int nnz, int num_iters, const float *obj,
                                 const float *var_lb, const float *var_ub, const float *con_lb, const float *con_ub,
                                 const int *col_ptrs, const int *row_indices, const float *values, float step_size,
                                 float primal_weight, float *primal_out)
{
    // one buffer, one copy
    const size_t words = 4 * (size_t)num_vars + 1 + 2 * num_constraints + 2 * nnz;
    float *pack = new float[words], *at = pack;
    auto add = [&](const void *p, size_t count) {
        __builtin_memcpy(at, p, count * 4);
        at += count;
    };
    add(obj, num_vars); add(var_lb, num_vars); add(var_ub, num_vars);
    add(con_lb, num_constraints); add(con_ub, num_constraints);
    add(col_ptrs, num_vars + 1); add(row_indices, nnz); add(values, nnz);
    float *d;
    cudaMalloc(&d, (words + num_vars) * 4);
    cudaMemcpy(d, pack, words * 4, cudaMemcpyHostToDevice);
    const int n = num_vars, m = num_constraints;
    float *vlb = d + n, *vub = vlb + n, *clb = vub + n, *cub = clb + m, *avg = d + words;
    int *ptr = (int *)(cub + m), *row = ptr + n + 1;
    const size_t shared = sizeof(float) * 2 * (n + m);
    cudaFuncSetAttribute(solve, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    solve<<<1, 1024, shared>>>(n, m, num_iters, d, vlb, vub, clb, cub, ptr, row, (float *)(row + nnz),
                               step_size / primal_weight, step_size * primal_weight, avg);
    cudaMemcpy(primal_out, avg, n * 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    delete[] pack;
}
