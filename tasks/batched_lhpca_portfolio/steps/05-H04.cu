// step: H04 on 04-C08.cu
// One allocation holds everything, where ten had been made and released.
#include "check.cuh"

enum { THREADS = 256, POWER_STEPS = 100 };
enum { FACTORS_MAX = 16 };
enum { TILE = 64, DEPTH = 16 }; /* of the Gram matrix */

#define DEPENDENT 1e-12 /* squared sine between columns */

__device__ int thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Q = R with its columns scaled to length 1. One thread a column. */
__global__ void normalise(int T, int N, const float *R, float *q)
{
    const int j = thread_index();
    if (j >= N)
        return;
    R += (size_t)blockIdx.y * T * N;
    q += (size_t)blockIdx.y * T * N;
    double norm = 0;
    for (int t = 0; t < T; t++)
        norm += (double)R[(size_t)t * N + j] * R[(size_t)t * N + j];
    norm = norm > 0 ? sqrt(norm) : 1;
    for (int t = 0; t < T; t++)
        q[(size_t)t * N + j] = (float)(R[(size_t)t * N + j] / norm);
}

/* A tile of the lower half of Q Q', mirrored; four by four elements a thread. */
__global__ void form_gram(int T, int N, const float *q, float *gram)
{
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    const int column = threadIdx.x % 16, row = threadIdx.x / 16;
    int tile_row = 0;
    while ((tile_row + 1) * (tile_row + 2) / 2 <= (int)blockIdx.x)
        tile_row++;
    const int t0 = tile_row * TILE, u0 = ((int)blockIdx.x - tile_row * (tile_row + 1) / 2) * TILE;
    q += (size_t)blockIdx.y * T * N;
    gram += (size_t)blockIdx.y * T * T;
    float sum[4][4] = {};
    for (int j0 = 0; j0 < N; j0 += DEPTH) {
        const int j = j0 + column;
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int t = t0 + row + 16 * r, u = u0 + row + 16 * r;
            left[column][row + 16 * r] = j < N && t < T ? q[(size_t)t * N + j] : 0.0f;
            right[column][row + 16 * r] = j < N && u < T ? q[(size_t)u * N + j] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] = left[k][row + 16 * i];
                b[i] = right[k][column + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int l = 0; l < 4; l++)
                    sum[i][l] += a[i] * b[l];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int l = 0; l < 4; l++) {
            const int t = t0 + row + 16 * i, u = u0 + column + 16 * l;
            if (t < T && u < T) {
                gram[(size_t)t * T + u] = sum[i][l];
                gram[(size_t)u * T + t] = sum[i][l];
            }
        }
}

__global__ void first_columns(int T, int N, int K, const float *q, float *phi)
{
    const int i = thread_index();
    if (i < T * K)
        phi[(size_t)blockIdx.y * T * K + i] = q[((size_t)blockIdx.y * T + i / K) * N + i % K];
}

__global__ void multiply(int T, int K, const float *gram, const float *phi, float *next)
{
    const int i = thread_index();
    if (i >= T * K)
        return;
    gram += (size_t)blockIdx.y * T * T + (size_t)(i / K) * T;
    phi += (size_t)blockIdx.y * T * K + i % K;
    float sum = 0;
    for (int u = 0; u < T; u++)
        sum += gram[u] * phi[(size_t)u * K];
    next[(size_t)blockIdx.y * T * K + i] = sum;
}

/* The sum of value over the block, for all its threads. */
__device__ double block_sum(double value)
{
    __shared__ double part[THREADS];
    __syncthreads(); /* the last sum has been read by all */
    part[threadIdx.x] = value;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            part[threadIdx.x] += part[threadIdx.x + width];
        __syncthreads();
    }
    return part[0];
}

/* Modified Gram-Schmidt, one block a trial; a thread always has the same rows. */
__device__ void orthonormalise_literally(int T, int K, float *v)
{
    for (int k = 0; k < K; k++)
        for (int l = 0; l <= k; l++) {
            double dot = 0;
            for (int t = threadIdx.x; t < T; t += THREADS)
                dot += (double)v[t * K + l] * v[t * K + k];
            dot = block_sum(dot);
            const double norm = sqrt(dot);
            for (int t = threadIdx.x; t < T; t += THREADS) {
                if (l < k)
                    v[t * K + k] = (float)(v[t * K + k] - dot * v[t * K + l]);
                else if (norm > 1e-7)
                    v[t * K + k] = (float)(v[t * K + k] / norm);
            }
        }
}

/* Divides v by Cholesky's factor of v'v. One block a trial. */
__global__ void orthonormalise(int T, int K, float *v)
{
    __shared__ double a[FACTORS_MAX][FACTORS_MAX + 1], length[FACTORS_MAX];
    __shared__ int dependent;
    v += (size_t)blockIdx.y * T * K;
    const int tid = threadIdx.x, lane = tid % 32;
    if (K > FACTORS_MAX) {
        orthonormalise_literally(T, K, v);
        return;
    }
    for (int pair = tid / 32; pair < K * (K + 1) / 2; pair += THREADS / 32) { /* a warp a product */
        int k = 0;
        while ((k + 1) * (k + 2) / 2 <= pair)
            k++;
        const int l = pair - k * (k + 1) / 2;
        double dot = 0;
        for (int t = lane; t < T; t += 32)
            dot += (double)v[t * K + k] * v[t * K + l];
        for (int width = 16; width > 0; width /= 2)
            dot += __shfl_xor_sync(0xffffffffu, dot, width);
        if (lane == 0)
            a[k][l] = dot;
    }
    if (tid == 0)
        dependent = 0;
    __syncthreads();
    if (tid < K)
        length[tid] = a[tid][tid];
    __syncthreads();
    for (int k = 0; k < K; k++) {
        if (tid == 0) {
            if (!(a[k][k] > DEPENDENT * length[k]))
                dependent = 1;
            a[k][k] = sqrt(fmax(a[k][k], 1e-300));
        }
        __syncthreads();
        if (tid > k && tid < K)
            a[tid][k] /= a[k][k];
        __syncthreads();
        if (tid > k && tid < K)
            for (int l = k + 1; l <= tid; l++)
                a[tid][l] -= a[tid][k] * a[l][k];
        __syncthreads();
    }
    if (dependent) { /* the factor would be inexact */
        orthonormalise_literally(T, K, v);
        return;
    }
    for (int t = tid; t < T; t += THREADS) {
        double row[FACTORS_MAX];
#pragma unroll
        for (int k = 0; k < FACTORS_MAX; k++)
            if (k < K) {
                double value = v[t * K + k];
#pragma unroll
                for (int l = 0; l < k; l++)
                    value -= row[l] * a[k][l];
                row[k] = value / a[k][k];
                v[t * K + k] = (float)row[k];
            }
    }
}

/* Z = phi'R and d = 1/v, one thread an asset. */
__global__ void project(int T, int N, int K, const float *R, const float *phi, double *z, double *d)
{
    const int j = thread_index();
    if (j >= N)
        return;
    R += (size_t)blockIdx.y * T * N;
    phi += (size_t)blockIdx.y * T * K;
    z += (size_t)blockIdx.y * K * N;
    for (int k = 0; k < K; k++) {
        double sum = 0;
        for (int t = 0; t < T; t++)
            sum += phi[t * K + k] * R[(size_t)t * N + j];
        z[(size_t)k * N + j] = sum;
    }
    double square = 0;
    for (int t = 0; t < T; t++) {
        double residual = R[(size_t)t * N + j];
        for (int k = 0; k < K; k++)
            residual -= phi[t * K + k] * z[(size_t)k * N + j];
        square += residual * residual;
    }
    d[(size_t)blockIdx.y * N + j] = T / square;
}

/* (T I + Z D Z') y = Z d, the matrix in a, y in rhs. The sums by all threads, the solution by one.
 */
__global__ void solve_small(int T, int N, int K, const double *z, const double *d, double *a,
                            double *rhs)
{
    z += (size_t)blockIdx.y * K * N;
    d += (size_t)blockIdx.y * N;
    a += (size_t)blockIdx.y * K * K;
    rhs += (size_t)blockIdx.y * K;
    for (int i = threadIdx.x; i < K * (K + 1); i += THREADS) {
        const int k = i / (K + 1), l = i % (K + 1);
        double sum = k == l ? T : 0;
        for (int j = 0; j < N; j++)
            sum += z[(size_t)k * N + j] * d[j] * (l < K ? z[(size_t)l * N + j] : 1.0);
        if (l < K)
            a[k * K + l] = sum;
        else
            rhs[k] = sum;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int p = 0; p < K; p++) /* elimination; positive definite, so without pivots */
        for (int r = p + 1; r < K; r++) {
            const double factor = a[r * K + p] / a[p * K + p];
            for (int c = p; c < K; c++)
                a[r * K + c] -= factor * a[p * K + c];
            rhs[r] -= factor * rhs[p];
        }
    for (int r = K - 1; r >= 0; r--) {
        for (int c = r + 1; c < K; c++)
            rhs[r] -= a[r * K + c] * rhs[c];
        rhs[r] /= a[r * K + r];
    }
}

/* x = d - D Z'y, then divided by its sum; one block a trial. */
__global__ void weigh(int N, int K, const double *z, const double *rhs, double *d, float *w)
{
    z += (size_t)blockIdx.y * K * N;
    rhs += (size_t)blockIdx.y * K;
    d += (size_t)blockIdx.y * N;
    double total = 0;
    for (int j = threadIdx.x; j < N; j += THREADS) {
        double projection = 0;
        for (int k = 0; k < K; k++)
            projection += z[(size_t)k * N + j] * rhs[k];
        d[j] *= 1 - projection;
        total += d[j];
    }
    total = block_sum(total);
    for (int j = threadIdx.x; j < N; j += THREADS)
        w[(size_t)blockIdx.y * N + j] = (float)(d[j] / total);
}

static dim3 grid(int items, int trials)
{
    return dim3((items - 1) / THREADS + 1, trials);
}

extern "C" void solution_compute(int S, int T, int N, int K, const float *R, float *w)
{
    const size_t s = S, t = T, n = N, k = K;
    const size_t doubles = s * (k * n + n + k * k + k),
                 floats = s * (2 * t * n + n + t * t + 2 * t * k);
    double *memory; /* doubles first, for their alignment */
    CHECK(cudaMalloc(&memory, doubles * sizeof(double) + floats * sizeof(float)));
    double *const z = memory, *const d = z + s * k * n, *const small = d + s * n,
                  *const rhs = small + s * k * k;
    float *const d_returns = (float *)(memory + doubles), *const q = d_returns + s * t * n,
                 *const gram = q + s * t * n, *phi = gram + s * t * t,
                 *next = phi + s * t * k, *const d_weights = phi + 2 * s * t * k;
    CHECK(cudaMemcpy(d_returns, R, s * t * n * sizeof(float), cudaMemcpyHostToDevice));

    normalise<<<grid(N, S), THREADS>>>(T, N, d_returns, q);
    const int side = (T + TILE - 1) / TILE;
    form_gram<<<dim3(side * (side + 1) / 2, S), THREADS>>>(T, N, q, gram);
    first_columns<<<grid(T * K, S), THREADS>>>(T, N, K, q, phi);
    orthonormalise<<<dim3(1, S), THREADS>>>(T, K, phi);
    for (int step = 0; step < POWER_STEPS; step++) {
        multiply<<<grid(T * K, S), THREADS>>>(T, K, gram, phi, next);
        orthonormalise<<<dim3(1, S), THREADS>>>(T, K, next);
        float *swapped = phi;
        phi = next;
        next = swapped;
    }
    project<<<grid(N, S), THREADS>>>(T, N, K, d_returns, phi, z, d);
    solve_small<<<dim3(1, S), THREADS>>>(T, N, K, z, d, small, rhs);
    weigh<<<dim3(1, S), THREADS>>>(N, K, z, rhs, d, d_weights);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(w, d_weights, s * n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
