// step: P07 on 01-C02.cu
// All steps in one cooperative kernel, whose blocks meet at a barrier after each, instead of a
// launch a step.
#include "check.cuh"

#include <cmath>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define BLOCK 256

/* The control below the top of the gain, which lies at scale * exp(gain). */
static __device__ int control_below_top(int controls, double least, double per_step, double scale,
                                        double gain)
{
    const double place = (scale * exp(gain) - least) * per_step;
    return (int)fmin(fmax(place, 0.0), controls - 2.0);
}

/* Loads past the first-level cache: other blocks write. */
static __global__ void all_steps(int points, int steps, int controls, int jump, double dx,
                                 double dt, double beta, double least, double per_step,
                                 double scale, const double *lambda, const double *reward,
                                 const double *arrivals, double *V, double *next)
{
    const cg::grid_group grid = cg::this_grid();
    const int top = points - 1, threads = gridDim.x * blockDim.x;
    for (int t = 0; t < steps; t++) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += threads) {
            const double v = __ldcg(V + i);
            const double slope = i == 0 ? 0 : (v - __ldcg(V + i - 1)) / dx;
            const double gain = __ldcg(V + (i < top - jump ? i + jump : top)) - v;
            const int j = control_below_top(controls, least, per_step, scale, gain);
            const double best =
                fmax(reward[j] + lambda[j] * gain, reward[j + 1] + lambda[j + 1] * gain);
            next[i] = v + dt * (-(i * dx) * beta * slope + arrivals[i] * best);
        }
        grid.sync();
        double *const old = V;
        V = next;
        next = old;
    }
}

static __global__ void prepare(int points, double dx, double k, double gamma, double phi,
                               double *arrivals, double *V)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points)
        return;
    arrivals[i] = k * pow(i * dx, gamma) + phi;
    V[i] = 0;
}

static __global__ void prepare_controls(int controls, double least, double most, double a, double c,
                                        double *lambda, double *reward)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= controls)
        return;
    lambda[j] = least + j * (most - least) / (controls - 1);
    reward[j] = lambda[j] * (log(a / lambda[j]) - c);
}

static __global__ void to_float(int points, const double *V, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < points)
        out[i] = (float)V[i];
}

static int blocks_for(int items)
{
    return (items + BLOCK - 1) / BLOCK;
}

extern "C" void solution_compute(int N_x, int N_T, int N_lambda, float dx, float dt, float alpha,
                                 float beta, float phi, float c, float a, float gamma, float k,
                                 float lambda_min, float lambda_max, float *V_out)
{
    double *lambda, *reward, *arrivals, *V, *next;
    float *out;
    CHECK(cudaMalloc(&lambda, N_lambda * sizeof(double)));
    CHECK(cudaMalloc(&reward, N_lambda * sizeof(double)));
    CHECK(cudaMalloc(&arrivals, N_x * sizeof(double)));
    CHECK(cudaMalloc(&V, N_x * sizeof(double)));
    CHECK(cudaMalloc(&next, N_x * sizeof(double)));
    CHECK(cudaMalloc(&out, N_x * sizeof(float)));

    /* The jump is decided on the host, by the float quotient that the definition asks for. */
    const float quotient = roundf(alpha / dx);
    int jump = quotient < N_x - 1 ? (int)quotient : N_x - 1;
    prepare_controls<<<blocks_for(N_lambda), BLOCK>>>(N_lambda, lambda_min, lambda_max, a, c,
                                                      lambda, reward);
    prepare<<<blocks_for(N_x), BLOCK>>>(N_x, dx, k, gamma, phi, arrivals, V);
    double per_step = (N_lambda - 1) / ((double)lambda_max - lambda_min),
           scale = a * exp(-(double)c - 1);
    int device, processors, each;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, all_steps, BLOCK, 0));
    const int blocks = blocks_for(N_x) < each * processors ? blocks_for(N_x) : each * processors;
    double dx_ = dx, dt_ = dt, beta_ = beta, least = lambda_min;
    void *arguments[] = {&N_x,      &N_T,   &N_lambda, &jump,   &dx_,      &dt_, &beta_, &least,
                         &per_step, &scale, &lambda,   &reward, &arrivals, &V,   &next};
    CHECK(cudaLaunchCooperativeKernel((void *)all_steps, blocks, BLOCK, arguments));
    to_float<<<blocks_for(N_x), BLOCK>>>(N_x, N_T % 2 == 0 ? V : next, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V_out, out, N_x * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(lambda));
    CHECK(cudaFree(reward));
    CHECK(cudaFree(arrivals));
    CHECK(cudaFree(V));
    CHECK(cudaFree(next));
    CHECK(cudaFree(out));
}
