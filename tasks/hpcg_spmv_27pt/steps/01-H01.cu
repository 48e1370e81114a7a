// step: H01 on naive.cu
// Large arrays go through a ring of pinned slots that several host threads fill: nearly all of the
// time is the copy of the matrix from pageable memory.
#include "transfer.cuh"

__global__ static void multiply(int n, const int *row_ptr, const int *col_idx, const double *values,
                                const double *x, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0.0;
    for (int p = row_ptr[i]; p < row_ptr[i + 1]; p++)
        sum += values[p] * x[col_idx[p]];
    y[i] = sum;
}

template <class T> static T *to_device(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, (count > 0 ? count : 1) * sizeof(T)));
    const transfer::Array array[] = {{device, host, count * sizeof(T)}};
    transfer::upload(array, 1);
    return device;
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 const double *values, const double *x, double *y_out)
{
    const size_t entries = (size_t)row_ptr[n];
    int *d_row_ptr = to_device(row_ptr, (size_t)n + 1);
    int *d_col_idx = to_device(col_idx, entries);
    double *d_values = to_device(values, entries);
    double *d_x = to_device(x, (size_t)n);
    double *d_y;
    CHECK(cudaMalloc(&d_y, (size_t)n * sizeof(double)));

    const int threads = 256;
    multiply<<<(n + threads - 1) / threads, threads>>>(n, d_row_ptr, d_col_idx, d_values, d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{d_y, y_out, (size_t)n * sizeof(double)}};
    transfer::download(out, 1);

    CHECK(cudaFree(d_row_ptr));
    CHECK(cudaFree(d_col_idx));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
