// step: M03 on naive.cu
// The Gram matrix by tiles of its lower half, whose rows are staged in shared memory: an element is
// read from memory once for the sixteen dot products that need it, where every thread had read both
// of its rows from the cache.
#include "check.cuh"

enum { THREADS = 256, POWER_STEPS = 100 };
enum { TILE = 16 }; /* of the Gram matrix */

__device__ int thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Q = R with its columns scaled to length 1. One thread a column. */
__global__ void normalise(int T, int N, const float *R, double *q)
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
        q[(size_t)t * N + j] = R[(size_t)t * N + j] / norm;
}

/* A tile of the lower half of Q Q', mirrored; one thread an element. */
__global__ void form_gram(int T, int N, const double *q, double *gram)
{
    __shared__ double left[TILE][TILE + 1], right[TILE][TILE + 1]; /* asset, date */
    const int column = threadIdx.x % TILE, row = threadIdx.x / TILE;
    int tile_row = 0;
    while ((tile_row + 1) * (tile_row + 2) / 2 <= (int)blockIdx.x)
        tile_row++;
    const int t0 = tile_row * TILE, u0 = ((int)blockIdx.x - tile_row * (tile_row + 1) / 2) * TILE;
    q += (size_t)blockIdx.y * T * N;
    gram += (size_t)blockIdx.y * T * T;
    double sum = 0;
    for (int j0 = 0; j0 < N; j0 += TILE) {
        const int j = j0 + column;
        left[column][row] = j < N && t0 + row < T ? q[(size_t)(t0 + row) * N + j] : 0.0;
        right[column][row] = j < N && u0 + row < T ? q[(size_t)(u0 + row) * N + j] : 0.0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[k][row] * right[k][column];
        __syncthreads();
    }
    const int t = t0 + row, u = u0 + column;
    if (t < T && u < T) {
        gram[(size_t)t * T + u] = sum;
        gram[(size_t)u * T + t] = sum;
    }
}

__global__ void first_columns(int T, int N, int K, const double *q, double *phi)
{
    const int i = thread_index();
    if (i < T * K)
        phi[(size_t)blockIdx.y * T * K + i] = q[((size_t)blockIdx.y * T + i / K) * N + i % K];
}

__global__ void multiply(int T, int K, const double *gram, const double *phi, double *next)
{
    const int i = thread_index();
    if (i >= T * K)
        return;
    gram += (size_t)blockIdx.y * T * T + (size_t)(i / K) * T;
    phi += (size_t)blockIdx.y * T * K + i % K;
    double sum = 0;
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
__global__ void orthonormalise(int T, int K, double *v)
{
    v += (size_t)blockIdx.y * T * K;
    for (int k = 0; k < K; k++)
        for (int l = 0; l <= k; l++) {
            double dot = 0;
            for (int t = threadIdx.x; t < T; t += THREADS)
                dot += v[t * K + l] * v[t * K + k];
            dot = block_sum(dot);
            const double norm = sqrt(dot);
            for (int t = threadIdx.x; t < T; t += THREADS) {
                if (l < k)
                    v[t * K + k] -= dot * v[t * K + l];
                else if (norm > 1e-7)
                    v[t * K + k] /= norm;
            }
        }
}

/* Z = phi'R and d = 1/v, one thread an asset. */
__global__ void project(int T, int N, int K, const float *R, const double *phi, double *z,
                        double *d)
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

static double *allocate(size_t count)
{
    double *memory;
    CHECK(cudaMalloc((void **)&memory, count * sizeof(double)));
    return memory;
}

static dim3 grid(int items, int trials)
{
    return dim3((items - 1) / THREADS + 1, trials);
}

extern "C" void solution_compute(int S, int T, int N, int K, const float *R, float *w)
{
    const size_t s = S, t = T, n = N, k = K;
    float *d_returns, *d_weights;
    CHECK(cudaMalloc((void **)&d_returns, s * t * n * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_weights, s * n * sizeof(float)));
    double *q = allocate(s * t * n), *gram = allocate(s * t * t), *phi = allocate(s * t * k);
    double *next = allocate(s * t * k), *z = allocate(s * k * n), *d = allocate(s * n);
    double *small = allocate(s * k * k), *rhs = allocate(s * k);
    CHECK(cudaMemcpy(d_returns, R, s * t * n * sizeof(float), cudaMemcpyHostToDevice));

    normalise<<<grid(N, S), THREADS>>>(T, N, d_returns, q);
    const int side = (T + TILE - 1) / TILE;
    form_gram<<<dim3(side * (side + 1) / 2, S), THREADS>>>(T, N, q, gram);
    first_columns<<<grid(T * K, S), THREADS>>>(T, N, K, q, phi);
    orthonormalise<<<dim3(1, S), THREADS>>>(T, K, phi);
    for (int step = 0; step < POWER_STEPS; step++) {
        multiply<<<grid(T * K, S), THREADS>>>(T, K, gram, phi, next);
        orthonormalise<<<dim3(1, S), THREADS>>>(T, K, next);
        double *swapped = phi;
        phi = next;
        next = swapped;
    }
    project<<<grid(N, S), THREADS>>>(T, N, K, d_returns, phi, z, d);
    solve_small<<<dim3(1, S), THREADS>>>(T, N, K, z, d, small, rhs);
    weigh<<<dim3(1, S), THREADS>>>(N, K, z, rhs, d, d_weights);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(w, d_weights, s * n * sizeof(float), cudaMemcpyDeviceToHost));
    double *all[] = {q, gram, phi, next, z, d, small, rhs};
    for (double *memory : all)
        CHECK(cudaFree(memory));
    CHECK(cudaFree(d_weights));
    CHECK(cudaFree(d_returns));
}
