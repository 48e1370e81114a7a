// step: B02 on 02-P05.cu
// No levels: warps take the rows one by one in the order of the sweep, and each waits for just the
// values that its row needs. The analysis on the host, which took longer than the sweeps, and the
// barriers are gone.
#include "check.cuh"

// Unset values of a vector: a pattern that no arithmetic produces.
static const int UNSET_BYTE = 0xff;

// Rows are taken in the order of the sweep, one a warp. Rows that come earlier in it are awaited in
// x; the others are found in `other`. Whoever waits does so for a row that a running warp has
// taken.
template <bool UP>
__global__ static void sweep(int n, const int *row_ptr, const int *col_idx, const double *values,
                             const int *diag_idx, const double *rhs, const double *other,
                             volatile double *x, int *next)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        int row = 0;
        if (lane == 0)
            row = atomicAdd(next, 1);
        row = __shfl_sync(~0u, row, 0);
        if (row >= n)
            return;
        row = UP ? row : n - 1 - row;
        double sum = 0.0;
        for (int p = row_ptr[row] + lane; p < row_ptr[row + 1]; p += 32) {
            const int column = col_idx[p];
            if (column == row)
                continue;
            double v;
            if (UP ? column < row : column > row)
                do
                    v = x[column];
                while (__double_as_longlong(v) == -1);
            else
                v = other[column];
            sum += values[p] * v;
        }
        for (int width = 16; width > 0; width /= 2)
            sum += __shfl_xor_sync(~0u, sum, width);
        if (lane == 0)
            x[row] = (rhs[row] - sum) / values[diag_idx[row]];
    }
}

template <class T> static T *to_device(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, (count > 0 ? count : 1) * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 const double *values, const int *diag_idx, const double *rhs,
                                 double *x_inout)
{
    const size_t entries = (size_t)row_ptr[n];
    int *d_row_ptr = to_device(row_ptr, (size_t)n + 1);
    int *d_col_idx = to_device(col_idx, entries);
    double *d_values = to_device(values, entries);
    int *d_diag_idx = to_device(diag_idx, (size_t)n);
    double *d_rhs = to_device(rhs, (size_t)n);
    double *d_x = to_device(x_inout, (size_t)n);

    double *x_up, *x_down; // results of the two sweeps
    int *next;
    CHECK(cudaMalloc(&x_up, (size_t)n * sizeof(double)));
    CHECK(cudaMalloc(&x_down, (size_t)n * sizeof(double)));
    CHECK(cudaMalloc(&next, 2 * sizeof(int)));
    CHECK(cudaMemset(x_up, UNSET_BYTE, (size_t)n * sizeof(double)));
    CHECK(cudaMemset(x_down, UNSET_BYTE, (size_t)n * sizeof(double)));
    CHECK(cudaMemset(next, 0, 2 * sizeof(int)));
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = 4 * processors, threads = 256;
    sweep<true><<<blocks, threads>>>(n, d_row_ptr, d_col_idx, d_values, d_diag_idx, d_rhs, d_x,
                                     x_up, next);
    CHECK(cudaGetLastError());
    sweep<false><<<blocks, threads>>>(n, d_row_ptr, d_col_idx, d_values, d_diag_idx, d_rhs, x_up,
                                      x_down, next + 1);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(x_inout, x_down, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(d_row_ptr));
    CHECK(cudaFree(d_col_idx));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_diag_idx));
    CHECK(cudaFree(d_rhs));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(x_up));
    CHECK(cudaFree(x_down));
    CHECK(cudaFree(next));
}
