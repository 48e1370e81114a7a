//= present: a block a problem
__global__ void f(const float *a, float *b, int n) { b[blockIdx.x] = a[blockIdx.x * n]; }
extern "C" void solution_compute(int batch, int n, const float *a, float *b) { f<<<batch, 128>>>(a, b, n); }

//= present: problems in y
__global__ void f(const float *a, float *b, int n) { b[blockIdx.y * n + threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int num_queries, int n, const float *a, float *b)
{
    const dim3 grid(n / 128 + 1, num_queries);
    f<<<grid, 128>>>(a, b, n);
}

//= present: a thread an instance
__global__ void f(const float *a, float *b, int n) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int num_instances, const float *a, float *b)
{
    const int blocks = (num_instances + 255) / 256;
    f<<<blocks, 256>>>(a, b, num_instances);
}

//= unknown: a launch a problem
__global__ void f(const float *a, float *b, int n) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int batch, int n, const float *a, float *b)
{
    for (int i = 0; i < batch; i++)
        f<<<n / 256 + 1, 256>>>(a + i * n, b + i * n, n);
}

//= unknown: one problem
__global__ void f(const float *a, float *b, int n) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" void solution_compute(int n, const float *a, float *b) { f<<<n / 256 + 1, 256>>>(a, b, n); }

//= unknown: a launch a problem that is sized by all
__global__ void f(float *b, int n, int i) { b[threadIdx.x] = i; }
extern "C" void solution_compute(int batch, int n, const float *a, float *b)
{
    for (int i = 0; i < batch; i++)
        f<<<batch, 256>>>(b, n, i);
}

//= present: pointers moved on to the trial in y
__global__ void gram(int T, int N, const double *q, double *g)
{
    q += (size_t)blockIdx.y * T * N;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < T; j++) {
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += q[i * N + k] * q[j * N + k];
        g[((size_t)blockIdx.y * T + i) * T + j] = sum;
    }
}

//= present: two texts of a thread, by their offsets
__global__ void align(const int *a, const int *b, const int *a_offsets, const int *b_offsets, int *scores)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int *mine = a + a_offsets[i], *other = b + b_offsets[i];
    const int m = a_offsets[i + 1] - a_offsets[i], n = b_offsets[i + 1] - b_offsets[i];
    int best = 0;
    for (int x = 0; x < m; x++)
        for (int y = 0; y < n; y++)
            best += mine[x] == other[y];
    scores[i] = best;
}

//= present: trials with random numbers of their own
#include <curand_kernel.h>
__global__ void replicate(int N, int T, int M, const float *means, unsigned long long seed, int *wins)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    curandState g;
    curand_init(seed, q, 0, &g);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < N; i++)
            wins[(size_t)i * M + q] += curand_uniform(&g) < means[i];
}

//= unknown: blocks that tile a matrix
__global__ void multiply(int n, const float *a, const float *b, float *c)
{
    const float *rows = a + (size_t)blockIdx.y * 64 * n;
    float sum = 0;
    for (int k = 0; k < n; k += 16)
        for (int d = 0; d < n; d++)
            sum += rows[threadIdx.y * n + d] * b[d * n + threadIdx.x];
    c[blockIdx.y * 64 * n + threadIdx.x] = sum;
}

//= unknown: a row of a sparse matrix
__global__ void spmv(const int *row, const int *column, const double *values, const double *x, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double *mine = values + row[i];
    double sum = 0;
    for (int k = 0; k < row[i + 1] - row[i]; k++)
        sum += mine[k] * x[column[row[i] + k]];
    y[i] = sum;
}
