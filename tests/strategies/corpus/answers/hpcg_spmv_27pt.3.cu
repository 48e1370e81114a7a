// Every thread owns the same number of nonzeros; the first row of its range is found by bisection in the row pointers.
#include <cuda_runtime.h>

#define ITEMS 8
#define BLOCK 128

__device__ int row_of(const int *row_ptr, int n, int e)
{
    int lo = 0, hi = n;
    while (hi - lo > 1) {
        int mid = (lo + hi) >> 1;
        if (row_ptr[mid] <= e)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

__global__ void spmv_balanced(int n, int nnz, const int *row_ptr, const int *col_idx, const double *values,
                              const double *x, double *y)
{
    const int first = (blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
    if (first >= nnz)
        return;
    int row = row_of(row_ptr, n, first);
    double sum = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int e = first + k;
        if (e >= nnz)
            break;
        while (e >= row_ptr[row + 1]) {
            atomicAdd(&y[row], sum);
            sum = 0;
            row++;
        }
        sum += values[e] * x[col_idx[e]];
    }
    atomicAdd(&y[row], sum);
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx, const double *values, const double *x,
                                 double *y_out)
{
    int nnz = row_ptr[n];
    int *d_r, *d_c;
    double *d_v, *d_x, *d_y;
    cudaMalloc(&d_r, (n + 1) * sizeof(int));
    cudaMalloc(&d_c, nnz * sizeof(int));
    cudaMalloc(&d_v, nnz * sizeof(double));
    cudaMalloc(&d_x, n * sizeof(double));
    cudaMalloc(&d_y, n * sizeof(double));
    cudaHostRegister((void *)values, nnz * sizeof(double), cudaHostRegisterDefault);
    cudaHostRegister((void *)col_idx, nnz * sizeof(int), cudaHostRegisterDefault);
    cudaMemcpy(d_r, row_ptr, (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_c, col_idx, nnz * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, values, nnz * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemset(d_y, 0, n * sizeof(double));
    spmv_balanced<<<(nnz + BLOCK * ITEMS - 1) / (BLOCK * ITEMS), BLOCK>>>(n, nnz, d_r, d_c, d_v, d_x, d_y);
    cudaMemcpy(y_out, d_y, n * sizeof(double), cudaMemcpyDeviceToHost);
    cudaHostUnregister((void *)values);
    cudaHostUnregister((void *)col_idx);
    cudaFree(d_r); cudaFree(d_c); cudaFree(d_v); cudaFree(d_x); cudaFree(d_y);
}
