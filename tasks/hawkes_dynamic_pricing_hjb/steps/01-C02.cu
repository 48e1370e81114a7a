// step: C02 on naive.cu
// The gain is a parabola in the action: the best one of the grid is next to its top, and only the
// two around it are compared.
#include "check.cuh"

#define THREADS 256

/* Value at the fractional grid position g (points 1..J), linear also outside the grid; u has a
 * stride of N. */
__device__ float value_at(const float *u, int J, int N, float g)
{
    int m = g >= (float)J ? J : (int)floorf(g);
    if (m < 1)
        m = 1;
    const int from = m < J ? m : J - 1;
    const float slope = u[(size_t)from * N] - u[(size_t)(from - 1) * N];
    return u[(size_t)(m - 1) * N] + (g - (float)m) * slope;
}

__global__ void step_back(int batch_size, int J, int N, int num_actions, float h, float tau,
                          float lambda0, float a, float b_param, const float *alpha0,
                          const float *beta, int n, float *U, float *Lambda)
{
    const long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= (long long)batch_size * J)
        return;
    const int b = (int)(state / J), i = (int)(state % J) + 1;
    if (n == N - 1) {
        U[state * N + n] = 0.0f;
        Lambda[state * N + n] = 0.0f;
        return;
    }
    const float *later = U + (size_t)b * J * N + n + 1;
    const float x = (float)i * h, decay = 1.0f - beta[b] * tau;
    const float without = (float)i * decay, with = without + alpha0[b] / h * decay;
    const float kept = value_at(later, J, N, without), sold = value_at(later, J, N, with);
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
    U[state * N + n] = kept + (((x + 0.001f * x * x) + 1.0f) * tau) * best;
    Lambda[state * N + n] = choice;
}

extern "C" void solution_compute(int batch_size, int J, int N, int num_actions, float h, float tau,
                                 float lambda0, float a, float b_param, const float *alpha0,
                                 const float *beta, float *U, float *Lambda)
{
    const long long states = (long long)batch_size * J;
    const size_t bytes = (size_t)states * (size_t)N * sizeof(float),
                 inputs = (size_t)batch_size * sizeof(float);
    float *d_alpha0, *d_beta, *d_U, *d_Lambda;
    CHECK(cudaMalloc(&d_alpha0, inputs));
    CHECK(cudaMalloc(&d_beta, inputs));
    CHECK(cudaMalloc(&d_U, bytes));
    CHECK(cudaMalloc(&d_Lambda, bytes));
    CHECK(cudaMemcpy(d_alpha0, alpha0, inputs, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_beta, beta, inputs, cudaMemcpyHostToDevice));
    const unsigned blocks = (unsigned)((states + THREADS - 1) / THREADS);
    for (int n = N - 1; n >= 0; n--) {
        step_back<<<blocks, THREADS>>>(batch_size, J, N, num_actions, h, tau, lambda0, a, b_param,
                                       d_alpha0, d_beta, n, d_U, d_Lambda);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(U, d_U, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(Lambda, d_Lambda, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_Lambda));
    CHECK(cudaFree(d_U));
    CHECK(cudaFree(d_beta));
    CHECK(cudaFree(d_alpha0));
}
