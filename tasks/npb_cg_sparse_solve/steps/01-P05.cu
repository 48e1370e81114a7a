// step: P05 on naive.cu
// Eight lanes share a row of the matrix: they read neighbouring entries, where a thread a row read
// entries that lie rows apart.
#include "check.cuh"

#include <cmath>
#include <vector>

static const int THREADS = 256;
static const int LANES = 8; // of a row
static const int PARTIALS = 64 * THREADS;

__global__ static void multiply(int n, const int *row_ptr, const int *col_idx, const double *values,
                                const double *x, double *y)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    double sum = 0.0;
    if (i < n)
        for (int k = row_ptr[i] + lane; k < row_ptr[i + 1]; k += LANES)
            sum += values[k] * x[col_idx[k]];
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (i < n && lane == 0)
        y[i] = sum;
}

__global__ static void dot_partials(int n, const double *a, const double *b, double *partials)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (long long i = thread; i < n; i += PARTIALS)
        sum += a[i] * b[i];
    partials[thread] = sum;
}

__global__ static void advance(int n, double alpha, const double *p, const double *q, double *x,
                               double *r)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
}

__global__ static void new_direction(int n, double beta, const double *r, double *p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = r[i] + beta * p[i];
}

static double dot(int n, const double *a, const double *b, double *d_partials)
{
    static_assert(PARTIALS % THREADS == 0, "whole blocks");
    std::vector<double> partials(PARTIALS);
    dot_partials<<<PARTIALS / THREADS, THREADS>>>(n, a, b, d_partials);
    CHECK(cudaGetLastError());
    CHECK(
        cudaMemcpy(partials.data(), d_partials, PARTIALS * sizeof(double), cudaMemcpyDeviceToHost));
    double sum = 0.0;
    for (double partial : partials)
        sum += partial;
    return sum;
}

template <class T> static T *to_device(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, (count > 0 ? count : 1) * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

extern "C" void solution_compute(int n, int nnz, int max_iters, int tol_exp, const int *row_ptr,
                                 const int *col_idx, const double *values, const double *b,
                                 double *x_out)
{
    int *d_row_ptr = to_device(row_ptr, (size_t)n + 1);
    int *d_col_idx = to_device(col_idx, (size_t)nnz);
    double *d_values = to_device(values, (size_t)nnz);
    double *r = to_device(b, (size_t)n), *p = to_device(b, (size_t)n);
    double *q, *x, *d_partials;
    CHECK(cudaMalloc(&q, (size_t)n * sizeof(double)));
    CHECK(cudaMalloc(&x, (size_t)n * sizeof(double)));
    CHECK(cudaMalloc(&d_partials, PARTIALS * sizeof(double)));
    CHECK(cudaMemset(x, 0, (size_t)n * sizeof(double)));

    const int blocks = (n + THREADS - 1) / THREADS;
    const double tol = pow(10.0, -tol_exp);
    double rho = dot(n, r, r, d_partials);
    for (int iter = 0; iter < max_iters; iter++) {
        multiply<<<(n + THREADS / LANES - 1) / (THREADS / LANES), THREADS>>>(
            n, d_row_ptr, d_col_idx, d_values, p, q);
        CHECK(cudaGetLastError());
        const double curvature = dot(n, p, q, d_partials);
        if (fabs(curvature) < 1e-30)
            break;
        advance<<<blocks, THREADS>>>(n, rho / curvature, p, q, x, r);
        CHECK(cudaGetLastError());
        const double rho_new = dot(n, r, r, d_partials);
        if (rho_new <= tol * tol)
            break;
        new_direction<<<blocks, THREADS>>>(n, rho_new / rho, r, p);
        CHECK(cudaGetLastError());
        rho = rho_new;
    }
    CHECK(cudaMemcpy(x_out, x, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(d_row_ptr));
    CHECK(cudaFree(d_col_idx));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(r));
    CHECK(cudaFree(p));
    CHECK(cudaFree(q));
    CHECK(cudaFree(x));
    CHECK(cudaFree(d_partials));
}
