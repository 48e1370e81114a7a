// step: P07 on 03-P05.cu
// One cooperative launch makes all iterations, with barriers of the grid where launches were. By
// itself this is no gain at medium and large, where a warp now has several rows one after the
// other, each behind two reads from memory; it is what allows tuned.cu to keep the matrix on chip.
#include "check.cuh"

#include <cooperative_groups.h>
#include <vector>

#define BLOCK 512

struct columns {
    const int *ptrs, *rows;
    const float *values;
};

static __device__ void primal_step(int j, columns A, const float *obj, const float *low,
                                   const float *high, const float *y, float tau, float ratio,
                                   float *x, float *ahead, float *average)
{
    float gradient = 0;
    for (int e = A.ptrs[j]; e < A.ptrs[j + 1]; e++)
        gradient += A.values[e] * __ldcg(y + A.rows[e]);
    const float old = x[j];
    const float v = fmaxf(fminf(old - tau * (obj[j] - gradient), high[j]), low[j]);
    x[j] = v;
    ahead[j] = 2 * v - old;
    average[j] += ratio * (v - average[j]);
}

struct rows {
    const int *ptrs, *columns;
    const float *values;
};

static __device__ void dual_step(int i, rows A, const float *ahead, const float *low,
                                 const float *high, float sigma, float *y)
{
    const int lane = threadIdx.x % 32;
    float activity = 0;
    for (int e = A.ptrs[i] + lane; e < A.ptrs[i + 1]; e += 32)
        activity += A.values[e] * __ldcg(ahead + A.columns[e]);
    for (int d = 16; d > 0; d /= 2)
        activity += __shfl_xor_sync(~0u, activity, d);
    if (lane > 0)
        return;
    const float t = y[i] - sigma * activity;
    y[i] = fmaxf(t + sigma * low[i], fminf(0, t + sigma * high[i]));
}

struct program {
    int n, m, iterations;
    columns by_column;
    rows by_row;
    const float *obj, *var_lb, *var_ub, *con_lb, *con_ub;
    float tau, sigma, *x, *ahead, *average, *y;
};

static __global__ void __launch_bounds__(BLOCK) iterate(program p)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    for (int k = 0; k < p.iterations; k++) {
        const float ratio = 1.0f / (float)(k + 1); /* the average is the plain mean */
        for (int j = thread; j < p.n; j += threads)
            primal_step(j, p.by_column, p.obj, p.var_lb, p.var_ub, p.y, p.tau, ratio, p.x, p.ahead,
                        p.average);
        grid.sync();
        for (int i = thread / 32; i < p.m; i += threads / 32)
            dual_step(i, p.by_row, p.ahead, p.con_lb, p.con_ub, p.sigma, p.y);
        grid.sync();
    }
}

template <typename T> static T *upload(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, (count > 0 ? count : 1) * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static float *zeros(size_t count)
{
    float *device;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemset(device, 0, count * sizeof(float)));
    return device;
}

extern "C" void solution_compute(int num_vars, int num_constraints, int nnz, int num_iters,
                                 const float *obj, const float *var_lb, const float *var_ub,
                                 const float *con_lb, const float *con_ub, const int *col_ptrs,
                                 const int *row_indices, const float *values, float step_size,
                                 float primal_weight, float *primal_out)
{
    const int n = num_vars, m = num_constraints;
    float *d_obj = upload(obj, n), *d_var_lb = upload(var_lb, n), *d_var_ub = upload(var_ub, n);
    float *d_con_lb = upload(con_lb, m), *d_con_ub = upload(con_ub, m),
          *d_values = upload(values, nnz);
    int *d_ptrs = upload(col_ptrs, (size_t)n + 1), *d_rows = upload(row_indices, nnz);
    float *x = zeros(n), *ahead = zeros(n), *average = zeros(n), *y = zeros(m);
    const columns A = {d_ptrs, d_rows, d_values};
    /* The matrix by rows. */
    std::vector<int> row_ptrs(num_constraints + 1, 0), place, by_row(nnz);
    std::vector<float> row_values(nnz);
    for (int e = 0; e < nnz; e++)
        row_ptrs[row_indices[e] + 1]++;
    for (int i = 0; i < num_constraints; i++)
        row_ptrs[i + 1] += row_ptrs[i];
    place = row_ptrs;
    for (int j = 0; j < num_vars; j++)
        for (int e = col_ptrs[j]; e < col_ptrs[j + 1]; e++) {
            const int to = place[row_indices[e]]++;
            by_row[to] = j;
            row_values[to] = values[e];
        }
    int *d_row_ptrs = upload(row_ptrs.data(), row_ptrs.size()),
        *d_columns = upload(by_row.data(), by_row.size());
    float *d_row_values = upload(row_values.data(), row_values.size());
    const rows R = {d_row_ptrs, d_columns, d_row_values};

    program p = {n,
                 m,
                 num_iters,
                 A,
                 R,
                 d_obj,
                 d_var_lb,
                 d_var_ub,
                 d_con_lb,
                 d_con_ub,
                 step_size / primal_weight,
                 step_size * primal_weight,
                 x,
                 ahead,
                 average,
                 y};
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, iterate, BLOCK, 0));
    const int wished = (32 * m + BLOCK - 1) / BLOCK, most = processors * resident;
    void *arguments[] = {&p};
    CHECK(cudaLaunchCooperativeKernel((const void *)iterate, dim3(wished < most ? wished : most),
                                      dim3(BLOCK), arguments, 0, nullptr));
    CHECK(cudaMemcpy(primal_out, average, n * sizeof(float), cudaMemcpyDeviceToHost));

    void *all[] = {d_obj, d_var_lb, d_var_ub, d_con_lb, d_con_ub,   d_values,  d_ptrs,      d_rows,
                   x,     ahead,    average,  y,        d_row_ptrs, d_columns, d_row_values};
    for (void *p : all)
        CHECK(cudaFree(p));
}
