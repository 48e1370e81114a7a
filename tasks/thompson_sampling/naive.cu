/* A thread a replication, playing its T rounds with a Beta variate for every arm, as the definition
 * says; counters of all replications in global memory, so laid out that neighbouring threads touch
 * neighbouring words. Bound by the chain of rounds: M threads fill only a small part of the device.
 */
#include "check.cuh"

#include <curand_kernel.h>
#include <vector>

#define BLOCK 64

typedef curandStatePhilox4_32_10_t source;

/* Marsaglia & Tsang, for an integer shape of at least 1. */
static __device__ float gamma_variate(source *r, int k)
{
    if (k == 1)
        return -logf(curand_uniform(r));
    const float d = k - 1.0f / 3.0f, c = rsqrtf(9.0f * d);
    for (;;) {
        const float x = curand_normal(r);
        float v = 1.0f + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (logf(curand_uniform(r)) < 0.5f * x * x + d * (1.0f - v + logf(v)))
            return d * v;
    }
}

static __global__ void replicate(int N, int T, int M, const float *means, unsigned long long seed,
                                 int *successes, int *failures, unsigned long long *total)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= M)
        return;
    source r;
    curand_init(seed, q, 0, &r);
    for (int t = 0; t < T; t++) {
        int played = 0;
        float largest = -1;
        for (int i = 0; i < N; i++) {
            const size_t at = (size_t)i * M + q;
            const float x = gamma_variate(&r, successes[at] + 1),
                        y = gamma_variate(&r, failures[at] + 1);
            const float theta = x / (x + y);
            if (theta > largest) {
                largest = theta;
                played = i;
            }
        }
        const size_t at = (size_t)played * M + q;
        if (curand_uniform(&r) <= means[played]) /* on (0,1] */
            successes[at]++;
        else
            failures[at]++;
    }
    for (int i = 0; i < N; i++) {
        const size_t at = (size_t)i * M + q;
        atomicAdd(&total[i], (unsigned long long)(successes[at] + failures[at]));
    }
}

extern "C" void solution_compute(int N, int T, int M, const float *arm_means,
                                 unsigned long long seed, float *avg_regret_out,
                                 float *avg_counts_out)
{
    const size_t cells = (size_t)N * M;
    float *means;
    int *successes, *failures;
    unsigned long long *total;
    CHECK(cudaMalloc(&means, N * sizeof(float)));
    CHECK(cudaMalloc(&successes, cells * sizeof(int)));
    CHECK(cudaMalloc(&failures, cells * sizeof(int)));
    CHECK(cudaMalloc(&total, N * sizeof(unsigned long long)));
    CHECK(cudaMemcpy(means, arm_means, N * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(successes, 0, cells * sizeof(int)));
    CHECK(cudaMemset(failures, 0, cells * sizeof(int)));
    CHECK(cudaMemset(total, 0, N * sizeof(unsigned long long)));

    replicate<<<(M + BLOCK - 1) / BLOCK, BLOCK>>>(N, T, M, means, seed, successes, failures, total);
    CHECK(cudaGetLastError());
    std::vector<unsigned long long> pulls(N);
    CHECK(cudaMemcpy(pulls.data(), total, N * sizeof(unsigned long long), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(means));
    CHECK(cudaFree(successes));
    CHECK(cudaFree(failures));
    CHECK(cudaFree(total));

    float best = arm_means[0];
    for (int i = 1; i < N; i++)
        best = arm_means[i] > best ? arm_means[i] : best;
    double regret = 0;
    for (int i = 0; i < N; i++) {
        regret += (double)(best - arm_means[i]) * (double)pulls[i];
        avg_counts_out[i] = (float)((double)pulls[i] / M);
    }
    *avg_regret_out = (float)(regret / M);
}
