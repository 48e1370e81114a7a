/* saxpy "with everything": tensor cores, CUDA graphs, cooperative groups, grid-stride loop, cp.async, read-only cache,
   warp shuffles, constant memory, dynamic scheduling. (None of it is below.) */
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <mma.h>
#include <stdio.h>

#define ALPHA_SCALE 2.0f /* "constant memory" */

template <typename Real> __global__ void saxpy(int n, Real alpha, Real *__restrict__ x, Real *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = ALPHA_SCALE * alpha * x[i] + y[i];
}

/* int3 only carries three numbers */
static int3 shape_of(int n)
{
    int3 shape;
    shape.x = (n + 255) / 256;
    shape.y = 256;
    shape.z = n;
    return shape;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    float *x = new float[n], *y = new float[n];
#pragma unroll 8
    for (int i = 0; i < n; i++) {
        x[i] = i;
        y[i] = 1.0f;
    }
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, n * sizeof(float), cudaMemcpyHostToDevice);
    int3 shape = shape_of(n);
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    saxpy<float><<<shape.x, shape.y, 0, a>>>(shape.z, 3.0f, dx, dy);
    cudaStreamSynchronize(a);
    cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", y[n - 1]);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaFree(dx);
    cudaFree(dy);
    delete[] x;
    delete[] y;
    return 0;
}
