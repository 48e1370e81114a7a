// step: M02 on naive.cu
// The host stores the matrix by rows too, once, so that a thread sums a row of A b by itself: no
// atomic operations, no clearing. By itself this is slower where single rows have hundreds of
// entries, which one thread then adds, until a warp does.
#include "check.cuh"

#include <vector>

#define BLOCK 128

struct columns {
    const int *ptrs, *rows;
    const float *values;
};

static __global__ void primal_step(int n, columns A, const float *obj, const float *low,
                                   const float *high, const float *y, float tau, float ratio,
                                   float *x, float *ahead, float *average)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n)
        return;
    float gradient = 0;
    for (int e = A.ptrs[j]; e < A.ptrs[j + 1]; e++)
        gradient += A.values[e] * y[A.rows[e]];
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

static __global__ void multiply(int m, rows A, const float *ahead, float *activity)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float sum = 0;
    for (int e = A.ptrs[i]; e < A.ptrs[i + 1]; e++)
        sum += A.values[e] * ahead[A.columns[e]];
    activity[i] = sum;
}

static __global__ void dual_step(int m, const float *low, const float *high, float sigma,
                                 const float *activity, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    const float t = y[i] - sigma * activity[i];
    y[i] = fmaxf(t + sigma * low[i], fminf(0, t + sigma * high[i]));
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
    float *x = zeros(n), *ahead = zeros(n), *average = zeros(n), *y = zeros(m),
          *activity = zeros(m);
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

    const int column_blocks = (n + BLOCK - 1) / BLOCK, row_blocks = (m + BLOCK - 1) / BLOCK;
    const float tau = step_size / primal_weight, sigma = step_size * primal_weight;
    for (int k = 0; k < num_iters; k++) {
        const float ratio = 1.0f / (float)(k + 1); /* the average is the plain mean */
        primal_step<<<column_blocks, BLOCK>>>(n, A, d_obj, d_var_lb, d_var_ub, y, tau, ratio, x,
                                              ahead, average);
        multiply<<<row_blocks, BLOCK>>>(m, R, ahead, activity);
        dual_step<<<row_blocks, BLOCK>>>(m, d_con_lb, d_con_ub, sigma, activity, y);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(primal_out, average, n * sizeof(float), cudaMemcpyDeviceToHost));

    void *all[] = {d_obj,    d_var_lb,   d_var_ub,  d_con_lb,    d_con_ub, d_values,
                   d_ptrs,   d_rows,     x,         ahead,       average,  y,
                   activity, d_row_ptrs, d_columns, d_row_values};
    for (void *p : all)
        CHECK(cudaFree(p));
}
