// step: M02 on 01-C02.cu
// On the device the arrays are time-major, so that the loads and stores of a warp are whole lines;
// a last kernel turns them into the layout that is asked for.
#include "check.cuh"

#define THREADS 256
#define TILE    32

/* Value at the fractional grid position g (points 1..J), linear also outside the grid. */
__device__ float value_at(const float *u, int J, float g)
{
    int m = g >= (float)J ? J : (int)floorf(g);
    if (m < 1)
        m = 1;
    const int from = m < J ? m : J - 1;
    return u[m - 1] + (g - (float)m) * (u[from] - u[from - 1]);
}

__global__ void step_back(int batch_size, int J, int N, int num_actions, float h, float tau,
                          float lambda0, float a, float b_param, const float *alpha0,
                          const float *beta, int n, float *U, float *Lambda)
{
    const long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x,
                    states = (long long)batch_size * J;
    if (state >= states)
        return;
    const int b = (int)(state / J), i = (int)(state % J) + 1;
    if (n == N - 1) {
        U[n * states + state] = 0.0f;
        Lambda[n * states + state] = 0.0f;
        return;
    }
    const float *later = U + (n + 1) * states + (size_t)b * J;
    const float x = (float)i * h, decay = 1.0f - beta[b] * tau;
    const float without = (float)i * decay, with = without + alpha0[b] / h * decay;
    const float kept = value_at(later, J, without), sold = value_at(later, J, with);
    float best = -1e30f, choice = 0.0f;
    const float top = ((a + b_param * (sold - kept)) * 0.5f - lambda0) * 1000.0f;
    const int below = (int)fmaxf(0.0f, fminf(floorf(top), (float)(num_actions - 1)));
    for (int k = below; k < num_actions && k < below + 2; k++) {
        const float action = lambda0 + (float)k * 0.001f;
        const float gain = action * (((a - action) / b_param + sold) - kept);
        if (gain > best) {
            best = gain;
            choice = action;
        }
    }
    U[n * states + state] = kept + (((x + 0.001f * x * x) + 1.0f) * tau) * best;
    Lambda[n * states + state] = choice;
}

/* out: states x N, from N x states. */
__global__ void turn(long long states, int N, const float *in, float *out)
{
    __shared__ float tile[TILE][TILE + 1];
    const long long first = (long long)blockIdx.x * TILE;
    for (int n0 = blockIdx.y * TILE; n0 < N; n0 += gridDim.y * TILE) {
        for (int y = threadIdx.y; y < TILE; y += blockDim.y)
            if (first + threadIdx.x < states && n0 + y < N)
                tile[y][threadIdx.x] = in[(n0 + y) * states + first + threadIdx.x];
        __syncthreads();
        for (int y = threadIdx.y; y < TILE; y += blockDim.y)
            if (first + y < states && n0 + threadIdx.x < N)
                out[(first + y) * N + n0 + threadIdx.x] = tile[threadIdx.x][y];
        __syncthreads();
    }
}

extern "C" void solution_compute(int batch_size, int J, int N, int num_actions, float h, float tau,
                                 float lambda0, float a, float b_param, const float *alpha0,
                                 const float *beta, float *U, float *Lambda)
{
    const long long states = (long long)batch_size * J;
    const size_t bytes = (size_t)states * (size_t)N * sizeof(float),
                 inputs = (size_t)batch_size * sizeof(float);
    float *d_alpha0, *d_beta, *d_U, *d_Lambda, *d_turned;
    CHECK(cudaMalloc(&d_alpha0, inputs));
    CHECK(cudaMalloc(&d_beta, inputs));
    CHECK(cudaMalloc(&d_U, bytes));
    CHECK(cudaMalloc(&d_Lambda, bytes));
    CHECK(cudaMalloc(&d_turned, bytes));
    CHECK(cudaMemcpy(d_alpha0, alpha0, inputs, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_beta, beta, inputs, cudaMemcpyHostToDevice));
    const unsigned blocks = (unsigned)((states + THREADS - 1) / THREADS);
    for (int n = N - 1; n >= 0; n--) {
        step_back<<<blocks, THREADS>>>(batch_size, J, N, num_actions, h, tau, lambda0, a, b_param,
                                       d_alpha0, d_beta, n, d_U, d_Lambda);
        CHECK(cudaGetLastError());
    }
    const int tiles = (N + TILE - 1) / TILE;
    const dim3 grid((unsigned)((states + TILE - 1) / TILE), tiles < 65535 ? tiles : 65535);
    turn<<<grid, dim3(TILE, 8)>>>(states, N, d_U, d_turned);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(U, d_turned, bytes, cudaMemcpyDeviceToHost));
    turn<<<grid, dim3(TILE, 8)>>>(states, N, d_Lambda, d_turned);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(Lambda, d_turned, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_turned));
    CHECK(cudaFree(d_Lambda));
    CHECK(cudaFree(d_U));
    CHECK(cudaFree(d_beta));
    CHECK(cudaFree(d_alpha0));
}
