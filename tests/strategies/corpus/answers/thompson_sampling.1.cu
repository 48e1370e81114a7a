// A warp a replication, a lane an arm: posteriors stay in registers for all rounds, the largest draw is found by shuffles.
// Only for up to 32 arms.
#include <cuda_runtime.h>
#include <curand_kernel.h>

__device__ float gamma_draw(curandStateXORWOW_t *g, float shape)
{
    const float d = shape - 1.0f / 3.0f, c = rsqrtf(9.0f * d);
    while (true) {
        const float x = curand_normal(g), v = 1.0f + c * x;
        if (v <= 0)
            continue;
        const float v3 = v * v * v;
        if (__logf(curand_uniform(g)) < 0.5f * x * x + d - d * v3 + d * __logf(v3))
            return d * v3;
    }
}

__global__ void bandit(int arms, int rounds, int reps, const float *means, unsigned long long seed,
                       unsigned long long *pulls)
{
    __shared__ unsigned int block_pulls[32];
    const int rep = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 32)
        block_pulls[threadIdx.x] = 0;
    __syncthreads();
    if (rep < reps) {
        curandStateXORWOW_t g;
        curand_init(seed, rep * 32 + lane, 0, &g);
        float wins = 1, losses = 1;
        unsigned int mine = 0;
        const float p = lane < arms ? means[lane] : 0;
        for (int t = 0; t < rounds; t++) {
            float theta = -1;
            if (lane < arms) {
                const float x = gamma_draw(&g, wins), y = gamma_draw(&g, losses);
                theta = x / (x + y);
            }
            float top = theta;
            int who = lane;
            for (int d = 16; d; d /= 2) {
                const float other = __shfl_xor_sync(~0u, top, d);
                const int name = __shfl_xor_sync(~0u, who, d);
                if (other > top || (other == top && name < who)) {
                    top = other;
                    who = name;
                }
            }
            if (lane == who) {
                if (curand_uniform(&g) <= p)
                    wins++;
                else
                    losses++;
                mine++;
            }
        }
        atomicAdd(&block_pulls[lane], mine);
    }
    __syncthreads();
    if (threadIdx.x < arms)
        atomicAdd(&pulls[threadIdx.x], (unsigned long long)block_pulls[threadIdx.x]);
}

extern "C" void solution_compute(int N, int T, int M, const float *arm_means, unsigned long long seed,
                                 float *avg_regret_out, float *avg_counts_out)
{
    float *means;
    unsigned long long *pulls, host[32];
    cudaMalloc(&means, 32 * sizeof(float));
    cudaMalloc(&pulls, sizeof host);
    cudaMemcpy(means, arm_means, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(pulls, 0, sizeof host);
    bandit<<<(M + 3) / 4, 128>>>(N, T, M, means, seed, pulls);
    float best = 0; // meanwhile
    for (int i = 0; i < N; i++)
        best = arm_means[i] > best ? arm_means[i] : best;
    cudaMemcpy(host, pulls, sizeof host, cudaMemcpyDeviceToHost);
    double regret = 0;
    for (int i = 0; i < N; i++) {
        regret += (best - arm_means[i]) * (double)host[i];
        avg_counts_out[i] = (float)((double)host[i] / M);
    }
    *avg_regret_out = (float)(regret / M);
    cudaFree(means);
    cudaFree(pulls);
}
