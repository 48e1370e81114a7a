/* A multiple of one vector added to another, one thread an element. The vectors are copied whole,
 * then one kernel runs, then the sum is copied back; the copies bound it. */
#include "check.cuh"

#define THREADS 256

__global__ void add_multiple(int n, float a, const float *x, const float *y, float *z)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = a * x[i] + y[i];
}

extern "C" void solution_compute(int n, float a, const float *x, const float *y, float *z)
{
    const size_t bytes = (size_t)n * sizeof(float);
    float *d_x, *d_y, *d_z;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMalloc(&d_z, bytes));
    CHECK(cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, bytes, cudaMemcpyHostToDevice));
    add_multiple<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, a, d_x, d_y, d_z);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(z, d_z, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_z));
}
