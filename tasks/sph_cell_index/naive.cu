/* Particles by cell, naive: one kernel numbers the cells, Thrust sorts the particle numbers by cell
 * (stably, so that they ascend inside a cell), and one kernel over the sorted cells finds where each
 * begins and ends.
 *
 * What bounds it: copies one after the other, five allocations, and a sort over all 32 bits of cell
 * numbers that need 18. */
#include "check.cuh"

#include <thrust/device_ptr.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

/* One IEEE division, then the floor; outside the domain the outermost cell. */
__device__ int cell_along(float position, float cell_size, int cells)
{
    const int cell = (int)floorf(__fdiv_rn(position, cell_size));
    return min(max(cell, 0), cells - 1);
}

__global__ void number_cells(int n, const float *xs, const float *ys, const float *zs, float cell_size,
                             int nx, int ny, int nz, int *cell_of)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int cx = cell_along(xs[i], cell_size, nx);
    const int cy = cell_along(ys[i], cell_size, ny);
    const int cz = cell_along(zs[i], cell_size, nz);
    cell_of[i] = cx + nx * (cy + ny * cz);
}

/* Each range begins and ends where neighbours differ; every entry has one writer. */
__global__ void find_ranges(int n, const int *cell_of, int *cell_begin, int *cell_end)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    if (k == 0 || cell_of[k] != cell_of[k - 1])
        cell_begin[cell_of[k]] = k;
    if (k == n - 1 || cell_of[k] != cell_of[k + 1])
        cell_end[cell_of[k]] = k + 1;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, const float *zs, float cell_size,
                                 int grid_nx, int grid_ny, int grid_nz, int num_cells,
                                 int *sorted_indices, int *cell_begin, int *cell_end)
{
    const size_t range_bytes = (size_t)num_cells * sizeof(int);
    int *d_begin, *d_end;
    CHECK(cudaMalloc((void **)&d_begin, range_bytes));
    CHECK(cudaMalloc((void **)&d_end, range_bytes));
    CHECK(cudaMemset(d_begin, 0xff, range_bytes)); /* -1 */
    CHECK(cudaMemset(d_end, 0xff, range_bytes));

    if (N > 0) {
        const size_t bytes = (size_t)N * sizeof(float);
        float *d_xs, *d_ys, *d_zs;
        int *d_cell, *d_sorted;
        CHECK(cudaMalloc((void **)&d_xs, bytes));
        CHECK(cudaMalloc((void **)&d_ys, bytes));
        CHECK(cudaMalloc((void **)&d_zs, bytes));
        CHECK(cudaMalloc((void **)&d_cell, bytes));
        CHECK(cudaMalloc((void **)&d_sorted, bytes));
        CHECK(cudaMemcpy(d_xs, xs, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_ys, ys, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_zs, zs, bytes, cudaMemcpyHostToDevice));

        const int threads = 256, blocks = (N - 1) / threads + 1;
        number_cells<<<blocks, threads>>>(N, d_xs, d_ys, d_zs, cell_size, grid_nx, grid_ny, grid_nz,
                                          d_cell);
        CHECK(cudaGetLastError());
        thrust::device_ptr<int> cell(d_cell), sorted(d_sorted);
        thrust::sequence(sorted, sorted + N);
        thrust::stable_sort_by_key(cell, cell + N, sorted);
        find_ranges<<<blocks, threads>>>(N, d_cell, d_begin, d_end);
        CHECK(cudaGetLastError());

        CHECK(cudaMemcpy(sorted_indices, d_sorted, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_sorted));
        CHECK(cudaFree(d_cell));
        CHECK(cudaFree(d_zs));
        CHECK(cudaFree(d_ys));
        CHECK(cudaFree(d_xs));
    }
    CHECK(cudaMemcpy(cell_begin, d_begin, range_bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(cell_end, d_end, range_bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_end));
    CHECK(cudaFree(d_begin));
}
