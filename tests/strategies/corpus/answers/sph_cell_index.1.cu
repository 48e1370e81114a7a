// Counting sort: histogram of cells, exclusive scan by CUB, scatter. Not stable: the order inside a cell is that of the atomics,
// so every cell is put into order at the end by the thread that owns it.
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>
#include <cstring>

__global__ void histogram(int n, const float *x, const float *y, const float *z, float inv, int nx, int ny, int nz,
                          int *cell, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int cx = min(max((int)floorf(x[i] * inv), 0), nx - 1);
    int cy = min(max((int)floorf(y[i] * inv), 0), ny - 1);
    int cz = min(max((int)floorf(z[i] * inv), 0), nz - 1);
    cell[i] = (cz * ny + cy) * nx + cx;
    atomicAdd(&count[cell[i]], 1);
}

__global__ void scatter(int n, const int *cell, int *cursor, int *sorted)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sorted[atomicAdd(&cursor[cell[i]], 1)] = i;
}

__global__ void finish(int cells, const int *offset, const int *count, int *sorted, int *begin, int *end)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    const int a = offset[c], b = a + count[c];
    for (int i = a + 1; i < b; i++) { // insertion sort
        int v = sorted[i], j = i - 1;
        for (; j >= a && sorted[j] > v; j--)
            sorted[j + 1] = sorted[j];
        sorted[j + 1] = v;
    }
    begin[c] = count[c] ? a : -1;
    end[c] = count[c] ? b : -1;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, const float *zs, float cell_size, int grid_nx,
                                 int grid_ny, int grid_nz, int num_cells, int *sorted_indices, int *cell_begin,
                                 int *cell_end)
{
    float *x, *y, *z;
    int *cell, *count, *offset, *cursor, *sorted, *b, *e;
    const size_t pb = N * sizeof(float), cb = num_cells * sizeof(int);
    cudaMalloc(&x, pb); cudaMalloc(&y, pb); cudaMalloc(&z, pb); cudaMalloc(&cell, pb); cudaMalloc(&sorted, pb);
    cudaMalloc(&count, cb); cudaMalloc(&offset, cb); cudaMalloc(&cursor, cb); cudaMalloc(&b, cb); cudaMalloc(&e, cb);
    cudaMemcpy(x, xs, pb, cudaMemcpyHostToDevice);
    cudaMemcpy(y, ys, pb, cudaMemcpyHostToDevice);
    cudaMemcpy(z, zs, pb, cudaMemcpyHostToDevice);
    cudaMemset(count, 0, cb);
    const int T = 256;
    histogram<<<(N + T - 1) / T, T>>>(N, x, y, z, 1.0f / cell_size, grid_nx, grid_ny, grid_nz, cell, count);
    void *temp = 0;
    size_t bytes = 0;
    cub::DeviceScan::ExclusiveSum(temp, bytes, count, offset, num_cells);
    cudaMalloc(&temp, bytes);
    cub::DeviceScan::ExclusiveSum(temp, bytes, count, offset, num_cells);
    cudaMemcpy(cursor, offset, cb, cudaMemcpyDeviceToDevice);
    scatter<<<(N + T - 1) / T, T>>>(N, cell, cursor, sorted);
    finish<<<(num_cells + T - 1) / T, T>>>(num_cells, offset, count, sorted, b, e);
    cudaMemcpy(sorted_indices, sorted, pb, cudaMemcpyDeviceToHost);
    cudaMemcpy(cell_begin, b, cb, cudaMemcpyDeviceToHost);
    cudaMemcpy(cell_end, e, cb, cudaMemcpyDeviceToHost);
    cudaFree(x); cudaFree(y); cudaFree(z); cudaFree(cell); cudaFree(sorted); cudaFree(count);
    cudaFree(offset); cudaFree(cursor); cudaFree(b); cudaFree(e); cudaFree(temp);
}
