/* A thread a grid point and a kernel a time step, each searching the whole control grid as the
 * definition says; two value buffers change places. Bound by the arithmetic of the search, and at
 * small sizes by the N_T launches. In double: a third of the tolerance would go to float rounding
 * at large. */
#include "check.cuh"

#include <cmath>
#include <utility>

#define BLOCK 256

static __global__ void step(int points, int controls, int jump, double dx, double dt, double beta,
                            const double *lambda, const double *reward, const double *arrivals,
                            const double *V, double *next)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points)
        return;
    const int top = points - 1;
    const double v = V[i];
    const double slope = i == 0 ? 0 : (v - V[i - 1]) / dx;
    const double gain = V[i < top - jump ? i + jump : top] - v;
    double best = reward[0] + lambda[0] * gain;
    for (int j = 1; j < controls; j++)
        best = fmax(best, reward[j] + lambda[j] * gain);
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
    for (int t = 0; t < N_T; t++) {
        step<<<blocks_for(N_x), BLOCK>>>(N_x, N_lambda, jump, dx, dt, beta, lambda, reward,
                                         arrivals, V, next);
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
