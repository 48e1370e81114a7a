// step: H01 on 02-P07.cu
// Large arrays go through a ring of pinned slots that several host threads fill: the copy of the
// matrix from pageable memory takes as long as both sweeps.
#include "transfer.cuh"

#include <algorithm>
#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

// Both sweeps. start[l]: where the rows of level l begin in `rows`.
__global__ static void sweep(int levels, const int *start, const int *rows, const int *row_ptr,
                             const int *col_idx, const double *values, const int *diag_idx,
                             const double *rhs, double *x)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int step = 0; step < 2 * levels; step++) {
        const int l = step < levels ? step : 2 * levels - 1 - step;
        for (int k = start[l] + thread / 32; k < start[l + 1]; k += threads / 32) {
            const int i = rows[k], diagonal = diag_idx[i];
            double sum = 0.0;
            for (int p = row_ptr[i] + thread % 32; p < row_ptr[i + 1]; p += 32)
                if (p != diagonal)
                    sum += values[p] * __ldcg(x + col_idx[p]);
            for (int width = 16; width > 0; width /= 2)
                sum += __shfl_xor_sync(~0u, sum, width);
            if (thread % 32 == 0)
                x[i] = (rhs[i] - sum) / values[diagonal];
        }
        cg::this_grid().sync();
    }
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
                                 const double *values, const int *diag_idx, const double *rhs,
                                 double *x_inout)
{
    std::vector<int> level(n), rows(n), start(1, 0);
    int levels = 0;
    for (int i = 0; i < n; i++) {
        level[i] = 0;
        for (int p = row_ptr[i]; p < diag_idx[i]; p++)
            level[i] = std::max(level[i], level[col_idx[p]] + 1);
        levels = std::max(levels, level[i] + 1);
    }
    /* start[l]: where the rows of level l begin once they are sorted by level */
    start.assign(levels + 1, 0);
    for (int i = 0; i < n; i++)
        start[level[i] + 1]++;
    for (int l = 0; l < levels; l++)
        start[l + 1] += start[l];
    std::vector<int> next(start);
    for (int i = 0; i < n; i++)
        rows[next[level[i]]++] = i;

    const size_t entries = (size_t)row_ptr[n];
    int *d_rows = to_device(rows.data(), (size_t)n);
    int *d_row_ptr = to_device(row_ptr, (size_t)n + 1);
    int *d_col_idx = to_device(col_idx, entries);
    double *d_values = to_device(values, entries);
    int *d_diag_idx = to_device(diag_idx, (size_t)n);
    double *d_rhs = to_device(rhs, (size_t)n);
    double *d_x = to_device(x_inout, (size_t)n);

    int *d_start = to_device(start.data(), start.size());
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    void *arguments[] = {&levels,   &d_start,    &d_rows, &d_row_ptr, &d_col_idx,
                         &d_values, &d_diag_idx, &d_rhs,  &d_x};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(sweep), dim3(processors),
                                      dim3(512), arguments, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{d_x, x_inout, (size_t)n * sizeof(double)}};
    transfer::download(out, 1);

    CHECK(cudaFree(d_start));
    CHECK(cudaFree(d_rows));
    CHECK(cudaFree(d_row_ptr));
    CHECK(cudaFree(d_col_idx));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_diag_idx));
    CHECK(cudaFree(d_rhs));
    CHECK(cudaFree(d_x));
}
