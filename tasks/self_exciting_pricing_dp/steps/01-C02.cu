// step: C02 on naive.cu
// The gain is strictly concave in the control with its maximum at a exp(jump - c - 1), so that the
// best control of the grid is one of the two around that point: no search over the whole grid.
#include "check.cuh"

#include <cmath>
#include <utility>

#define BLOCK 256

/* The control below the top of the gain, which lies at scale * exp(gain). */
static __device__ int control_below_top(int controls, double least, double per_step, double scale,
                                        double gain)
{
    const double place = (scale * exp(gain) - least) * per_step;
    return (int)fmin(fmax(place, 0.0), controls - 2.0);
}

static __global__ void step(int points, int controls, int jump, double dx, double dt, double beta,
                            double least, double per_step, double scale, const double *lambda,
                            const double *reward, const double *arrivals, const double *V,
                            double *next)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points)
        return;
    const int top = points - 1;
    const double v = V[i];
    const double slope = i == 0 ? 0 : (v - V[i - 1]) / dx;
    const double gain = V[i < top - jump ? i + jump : top] - v;
    const int j = control_below_top(controls, least, per_step, scale, gain);
    const double best = fmax(reward[j] + lambda[j] * gain, reward[j + 1] + lambda[j + 1] * gain);
    next[i] = v + dt * (-(i * dx) * beta * slope + arrivals[i] * best);
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
    const int jump = quotient < N_x - 1 ? (int)quotient : N_x - 1;
    prepare_controls<<<blocks_for(N_lambda), BLOCK>>>(N_lambda, lambda_min, lambda_max, a, c,
                                                      lambda, reward);
    prepare<<<blocks_for(N_x), BLOCK>>>(N_x, dx, k, gamma, phi, arrivals, V);
    const double per_step = (N_lambda - 1) / ((double)lambda_max - lambda_min),
                 scale = a * exp(-(double)c - 1);
    for (int t = 0; t < N_T; t++) {
        step<<<blocks_for(N_x), BLOCK>>>(N_x, N_lambda, jump, dx, dt, beta, lambda_min, per_step,
                                         scale, lambda, reward, arrivals, V, next);
        std::swap(V, next);
    }
    to_float<<<blocks_for(N_x), BLOCK>>>(N_x, V, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V_out, out, N_x * sizeof(float), cudaMemcpyDeviceToHost));

    CHECK(cudaFree(lambda));
    CHECK(cudaFree(reward));
    CHECK(cudaFree(arrivals));
    CHECK(cudaFree(V));
    CHECK(cudaFree(next));
    CHECK(cudaFree(out));
}
