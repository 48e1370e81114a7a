// step: H05 on 02-P02.cu
// Scalars, sums and the decision to stop stay on the device; the host queues iterations and looks
// every eighth time whether they are still wanted. Kernels of an iteration that is not do nothing.
#include "check.cuh"

#include <cmath>

static const int THREADS = 256;
static const int LANES = 8;      // of a row
static const int PARTIALS = 128; // of a sum: one a block
static const int LOOK_EVERY = 8;

struct Scalars {
    double rho, rho_new, curvature;
    int stopped;
};

__global__ static void multiply(int n, const int *row_ptr, const int *col_idx, const double *values,
                                const double *x, double *y, const Scalars *s)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (s->stopped)
        return;
    double sum = 0.0;
    if (i < n)
        for (int k = row_ptr[i] + lane; k < row_ptr[i + 1]; k += LANES)
            sum += values[k] * x[col_idx[k]];
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (i < n && lane == 0)
        y[i] = sum;
}

__device__ static double block_sum(double sum)
{
    __shared__ double parts[THREADS / 32];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int warp = 1; warp < THREADS / 32 && threadIdx.x == 0; warp++)
        sum += parts[warp];
    return sum; // in thread 0
}

__global__ static void dot_partials(int n, const double *a, const double *b, double *partials,
                                    const Scalars *s)
{
    if (s->stopped)
        return;
    double sum = 0.0;
    for (long long i = blockIdx.x * THREADS + threadIdx.x; i < n; i += PARTIALS * THREADS)
        sum += a[i] * b[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = sum;
}

// One block: adds up the partial sums and decides what follows from them.
enum Sum { FIRST_RHO, CURVATURE, NEW_RHO };

__global__ static void finish_sum(Sum which, double tol2, const double *partials, Scalars *s)
{
    if (s->stopped)
        return;
    const double sum = block_sum(threadIdx.x < PARTIALS ? partials[threadIdx.x] : 0.0);
    if (threadIdx.x > 0)
        return;
    if (which == FIRST_RHO) {
        s->rho = sum;
    } else if (which == CURVATURE) {
        s->curvature = sum;
        s->stopped = fabs(sum) < 1e-30;
    } else {
        s->rho_new = sum;
        s->stopped = sum <= tol2;
    }
}

__global__ static void advance(int n, const double *p, const double *q, double *x, double *r,
                               const Scalars *s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || s->stopped)
        return;
    const double alpha = s->rho / s->curvature;
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
}

__global__ static void new_direction(int n, const double *r, double *p, const Scalars *s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !s->stopped)
        p[i] = r[i] + s->rho_new / s->rho * p[i];
}

__global__ static void take_over(Scalars *s)
{
    if (!s->stopped)
        s->rho = s->rho_new;
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
    double *q, *x, *partials;
    Scalars *s;
    CHECK(cudaMalloc(&q, (size_t)n * sizeof(double)));
    CHECK(cudaMalloc(&x, (size_t)n * sizeof(double)));
    CHECK(cudaMalloc(&partials, PARTIALS * sizeof(double)));
    CHECK(cudaMalloc(&s, sizeof(Scalars)));
    CHECK(cudaMemset(x, 0, (size_t)n * sizeof(double)));
    CHECK(cudaMemset(s, 0, sizeof(Scalars)));

    const int blocks = (n + THREADS - 1) / THREADS;
    const int row_blocks = (n + THREADS / LANES - 1) / (THREADS / LANES);
    const double tol = pow(10.0, -tol_exp);
    auto dot = [&](Sum which, const double *a, const double *c) {
        dot_partials<<<PARTIALS, THREADS>>>(n, a, c, partials, s);
        CHECK(cudaGetLastError());
        finish_sum<<<1, THREADS>>>(which, tol * tol, partials, s);
        CHECK(cudaGetLastError());
    };
    dot(FIRST_RHO, r, r);
    for (int iter = 0; iter < max_iters; iter++) {
        multiply<<<row_blocks, THREADS>>>(n, d_row_ptr, d_col_idx, d_values, p, q, s);
        CHECK(cudaGetLastError());
        dot(CURVATURE, p, q);
        advance<<<blocks, THREADS>>>(n, p, q, x, r, s);
        CHECK(cudaGetLastError());
        dot(NEW_RHO, r, r);
        new_direction<<<blocks, THREADS>>>(n, r, p, s);
        CHECK(cudaGetLastError());
        take_over<<<1, 1>>>(s);
        CHECK(cudaGetLastError());
        if (iter % LOOK_EVERY == LOOK_EVERY - 1) {
            int stopped;
            CHECK(cudaMemcpy(&stopped, &s->stopped, sizeof stopped, cudaMemcpyDeviceToHost));
            if (stopped)
                break;
        }
    }
    CHECK(cudaMemcpy(x_out, x, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(d_row_ptr));
    CHECK(cudaFree(d_col_idx));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(r));
    CHECK(cudaFree(p));
    CHECK(cudaFree(q));
    CHECK(cudaFree(x));
    CHECK(cudaFree(partials));
    CHECK(cudaFree(s));
}
