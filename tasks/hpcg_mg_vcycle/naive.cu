/* The reference level by level: points with x + 2y + 4z constant are not coupled, so a sweep is one
 * kernel for each such front, one thread a point. Coarse matrices are built by a kernel too, in
 * rows of 27 places. Bound by the launches: some seven grid edges for each of the sweeps on the
 * finest grid, half as many on the next, and so on; then by the copy of the matrix. */
#include "check.cuh"

struct Level {
    int nx, ny, nz, n;
    int *row_start, *row_end, *col_idx; /* row_end = row_start + 1 on the finest level */
    double *values, *diagonal, *rhs, *x;
};

__device__ static double residual_of(const Level &l, int row)
{
    double sum = l.rhs[row];
    for (int p = l.row_start[row]; p < l.row_end[row]; p++)
        sum -= l.values[p] * l.x[l.col_idx[p]];
    return sum;
}

__device__ static int fine_row(const Level &fine, const Level &coarse, int c)
{
    const int x = c % coarse.nx, y = c / coarse.nx % coarse.ny, z = c / coarse.nx / coarse.ny;
    return (2 * z * fine.ny + 2 * y) * fine.nx + 2 * x;
}

__global__ static void relax_front(Level l, int front)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = thread % l.ny, z = thread / l.ny, x = front - 2 * y - 4 * z;
    if (z >= l.nz || x < 0 || x >= l.nx)
        return;
    const int row = (z * l.ny + y) * l.nx + x;
    l.x[row] = (residual_of(l, row) + l.diagonal[row] * l.x[row]) / l.diagonal[row];
}

__global__ static void take_diagonal(int n, const double *values, const int *diag_idx,
                                     double *diagonal)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        diagonal[i] = values[diag_idx[i]];
}

__global__ static void build_coarse(Level l)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= l.n)
        return;
    const int x = row % l.nx, y = row / l.nx % l.ny, z = row / l.nx / l.ny;
    int p = 27 * row;
    l.row_start[row] = p;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                if (z + dz < 0 || z + dz >= l.nz || y + dy < 0 || y + dy >= l.ny || x + dx < 0 ||
                    x + dx >= l.nx)
                    continue;
                l.col_idx[p] = row + (dz * l.ny + dy) * l.nx + dx;
                l.values[p] = l.col_idx[p] == row ? 26.0 : -1.0;
                p++;
            }
    l.row_end[row] = p;
    l.diagonal[row] = 26.0;
}

__global__ static void restrict_residual(Level fine, Level coarse)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= coarse.n)
        return;
    coarse.rhs[c] = residual_of(fine, fine_row(fine, coarse, c));
    coarse.x[c] = 0.0;
}

__global__ static void add_correction(Level fine, Level coarse)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < coarse.n)
        fine.x[fine_row(fine, coarse, c)] += coarse.x[c];
}

static const int THREADS = 128;

static int blocks_for(int count)
{
    return (count + THREADS - 1) / THREADS;
}

template <class T> static T *on_device(size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, (count > 0 ? count : 1) * sizeof(T)));
    return device;
}

template <class T> static T *to_device(const T *host, size_t count)
{
    T *device = on_device<T>(count);
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void smooth(const Level &l)
{
    const int fronts = l.nx + 2 * (l.ny - 1) + 4 * (l.nz - 1);
    for (int step = 0; step < 2 * fronts; step++) {
        relax_front<<<blocks_for(l.ny * l.nz), THREADS>>>(l, step < fronts ? step
                                                                           : 2 * fronts - 1 - step);
        CHECK(cudaGetLastError());
    }
}

static void cycle(const Level &fine, int coarser)
{
    smooth(fine);
    if (coarser == 0)
        return;
    Level c = {fine.nx / 2, fine.ny / 2, fine.nz / 2};
    c.n = c.nx * c.ny * c.nz;
    const size_t n = (size_t)c.n;
    c.row_start = on_device<int>(n);
    c.row_end = on_device<int>(n);
    c.col_idx = on_device<int>(27 * n);
    c.values = on_device<double>(27 * n);
    c.diagonal = on_device<double>(n);
    c.rhs = on_device<double>(n);
    c.x = on_device<double>(n);
    build_coarse<<<blocks_for(c.n), THREADS>>>(c);
    CHECK(cudaGetLastError());
    restrict_residual<<<blocks_for(c.n), THREADS>>>(fine, c);
    CHECK(cudaGetLastError());
    cycle(c, coarser - 1);
    add_correction<<<blocks_for(c.n), THREADS>>>(fine, c);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(c.row_start));
    CHECK(cudaFree(c.row_end));
    CHECK(cudaFree(c.col_idx));
    CHECK(cudaFree(c.values));
    CHECK(cudaFree(c.diagonal));
    CHECK(cudaFree(c.rhs));
    CHECK(cudaFree(c.x));
    smooth(fine);
}

extern "C" void solution_compute(int nx, int ny, int nz, int coarse_levels, int n,
                                 const int *row_ptr, const int *col_idx, const double *values,
                                 const int *diag_idx, const double *rhs, double *x_inout)
{
    const size_t entries = (size_t)row_ptr[n];
    Level l = {nx, ny, nz, n};
    l.row_start = to_device(row_ptr, (size_t)n + 1);
    l.row_end = l.row_start + 1;
    l.col_idx = to_device(col_idx, entries);
    l.values = to_device(values, entries);
    l.diagonal = on_device<double>((size_t)n);
    l.rhs = to_device(rhs, (size_t)n);
    l.x = to_device(x_inout, (size_t)n);
    int *d_diag_idx = to_device(diag_idx, (size_t)n);
    take_diagonal<<<blocks_for(n), THREADS>>>(n, l.values, d_diag_idx, l.diagonal);
    CHECK(cudaGetLastError());
    cycle(l, coarse_levels);
    CHECK(cudaMemcpy(x_inout, l.x, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(l.row_start));
    CHECK(cudaFree(l.col_idx));
    CHECK(cudaFree(l.values));
    CHECK(cudaFree(l.diagonal));
    CHECK(cudaFree(l.rhs));
    CHECK(cudaFree(l.x));
    CHECK(cudaFree(d_diag_idx));
}
