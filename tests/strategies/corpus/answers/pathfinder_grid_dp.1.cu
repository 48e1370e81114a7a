// After the kernel of the Rodinia suite: each block keeps its columns in shared memory for HEIGHT rows at a time.
#include <cuda_runtime.h>
#include <stdio.h>

#define BLOCK 256
#define HEIGHT 20
#define IN_RANGE(x, lo, hi) ((x) >= (lo) && (x) <= (hi))
#define CLAMP(x, lo, hi) ((x) < (lo) ? (lo) : (x) > (hi) ? (hi) : (x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

__global__ void dynproc(int iteration, const int *wall, const int *src, int *dst, int cols, int start)
{
    __shared__ int prev[BLOCK];
    __shared__ int result[BLOCK];
    const int tx = threadIdx.x;
    const int small = BLOCK - 2 * iteration;
    const int left_edge = small * blockIdx.x - iteration;
    const int x = left_edge + tx;
    const int valid_lo = left_edge < 0 ? -left_edge : 0;
    const int valid_hi = left_edge + BLOCK - 1 > cols - 1 ? BLOCK - 1 - (left_edge + BLOCK - cols) : BLOCK - 1;
    const int W = tx - 1 < valid_lo ? valid_lo : tx - 1, E = tx + 1 > valid_hi ? valid_hi : tx + 1;
    const bool valid = IN_RANGE(tx, valid_lo, valid_hi);
    if (IN_RANGE(x, 0, cols - 1))
        prev[tx] = src[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK - i - 2) && valid) {
            computed = true;
            int shortest = MIN(prev[W], prev[tx]);
            shortest = MIN(shortest, prev[E]);
            result[tx] = shortest + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        dst[x] = result[tx];
}

extern "C" void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    int *d_wall, *buf[2];
    cudaMalloc((void **)&buf[0], sizeof(int) * cols);
    cudaMalloc((void **)&buf[1], sizeof(int) * cols);
    cudaMalloc((void **)&d_wall, sizeof(int) * (size_t)rows * cols);
    cudaMemcpy(d_wall, wall, sizeof(int) * (size_t)rows * cols, cudaMemcpyHostToDevice);
    cudaMemcpy(buf[0], d_wall, sizeof(int) * cols, cudaMemcpyDeviceToDevice);
    int src = 0;
    for (int t = 1; t < rows; t += HEIGHT) {
        const int steps = MIN(HEIGHT, rows - t);
        const int width = BLOCK - 2 * HEIGHT;
        dynproc<<<(cols + width - 1) / width, BLOCK>>>(steps, d_wall, buf[src], buf[1 - src], cols, t);
        src = 1 - src;
    }
    cudaMemcpy(out_costs, buf[src], sizeof(int) * cols, cudaMemcpyDeviceToHost);
    cudaFree(d_wall);
    cudaFree(buf[0]);
    cudaFree(buf[1]);
}
