// step: C08 on 02-P07.cu
// The steps in float, from coefficients that were computed in double: half of the traffic and twice
// the arithmetic, for a third of the tolerance.
#include "check.cuh"

#include <cmath>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define BLOCK 256

/* The control below the top of the gain, which lies at scale * exp(gain). */
static __device__ int control_below_top(int controls, float least, float per_step, float scale,
                                        float gain)
{
    const float place = (scale * expf(gain) - least) * per_step;
    return (int)fminf(fmaxf(place, 0.0f), controls - 2.0f);
}

/* Loads past the first-level cache: other blocks write. */
static __global__ void all_steps(int points, int steps, int controls, int jump, float decay,
                                 float least, float per_step, float scale, const float *lambda,
                                 const float *reward, const float *arrivals, float *V, float *next)
{
    const cg::grid_group grid = cg::this_grid();
    const int top = points - 1, threads = gridDim.x * blockDim.x;
    for (int t = 0; t < steps; t++) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += threads) {
            const float v = __ldcg(V + i);
            const float below = __ldcg(V + (i > 0 ? i - 1 : 0));
            const float gain = __ldcg(V + (i < top - jump ? i + jump : top)) - v;
            const int j = control_below_top(controls, least, per_step, scale, gain);
            const float best =
                fmaxf(reward[j] + lambda[j] * gain, reward[j + 1] + lambda[j + 1] * gain);
            next[i] = v + (arrivals[i] * best - decay * i * (v - below));
        }
        grid.sync();
        float *const old = V;
        V = next;
        next = old;
    }
}

static __global__ void prepare(int points, double dx, double k, double gamma, double phi, double dt,
                               float *arrivals, float *V)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points)
        return;
    arrivals[i] = (float)(dt * (k * pow(i * dx, gamma) + phi));
    V[i] = 0;
}

static __global__ void prepare_controls(int controls, double least, double most, double a, double c,
                                        float *lambda, float *reward)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= controls)
        return;
    const double control = least + j * (most - least) / (controls - 1);
    lambda[j] = (float)control;
    reward[j] = (float)(control * (log(a / control) - c));
}

static int blocks_for(int items)
{
    return (items + BLOCK - 1) / BLOCK;
}

extern "C" void solution_compute(int N_x, int N_T, int N_lambda, float dx, float dt, float alpha,
                                 float beta, float phi, float c, float a, float gamma, float k,
                                 float lambda_min, float lambda_max, float *V_out)
{
    float *lambda, *reward, *arrivals, *V, *next;
    CHECK(cudaMalloc(&lambda, N_lambda * sizeof(float)));
    CHECK(cudaMalloc(&reward, N_lambda * sizeof(float)));
    CHECK(cudaMalloc(&arrivals, N_x * sizeof(float)));
    CHECK(cudaMalloc(&V, N_x * sizeof(float)));
    CHECK(cudaMalloc(&next, N_x * sizeof(float)));

    /* The jump is decided on the host, by the float quotient that the definition asks for. */
    const float quotient = roundf(alpha / dx);
    int jump = quotient < N_x - 1 ? (int)quotient : N_x - 1;
    prepare_controls<<<blocks_for(N_lambda), BLOCK>>>(N_lambda, lambda_min, lambda_max, a, c,
                                                      lambda, reward);
    prepare<<<blocks_for(N_x), BLOCK>>>(N_x, dx, k, gamma, phi, dt, arrivals, V);
    float per_step = (float)((N_lambda - 1) / ((double)lambda_max - lambda_min)),
          scale = a * expf(-c - 1);
    int device, processors, each;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, all_steps, BLOCK, 0));
    const int blocks = blocks_for(N_x) < each * processors ? blocks_for(N_x) : each * processors;
    float decay = dt * beta;
    void *arguments[] = {&N_x,   &N_T,    &N_lambda, &jump,     &decay, &lambda_min, &per_step,
                         &scale, &lambda, &reward,   &arrivals, &V,     &next};
    CHECK(cudaLaunchCooperativeKernel((void *)all_steps, blocks, BLOCK, arguments));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V_out, N_T % 2 == 0 ? V : next, N_x * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(lambda));
    CHECK(cudaFree(reward));
    CHECK(cudaFree(arrivals));
    CHECK(cudaFree(V));
    CHECK(cudaFree(next));
}
