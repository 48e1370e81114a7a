// Trapezoids: a block loads WIDTH finished cells, goes down DEPTH rows in shared memory and keeps the middle ones, which
// its wrong borders cannot have reached.
#include <cuda_runtime.h>

#define WIDTH 256
#define DEPTH 20
#define KEEP (WIDTH - 2 * DEPTH)
#define NOWHERE 0x3fffffff

__global__ void descend(int height, int cols, const int *rows, const int *top, int *bottom)
{
    __shared__ int line[2][WIDTH + 2];
    const int me = threadIdx.x + 1;
    const int column = (int)(blockIdx.x * KEEP) - DEPTH + (int)threadIdx.x;
    const bool exists = column >= 0 && column < cols;
    if (threadIdx.x == 0)
        line[0][0] = line[1][0] = line[0][WIDTH + 1] = line[1][WIDTH + 1] = NOWHERE;
    line[0][me] = exists ? top[column] : NOWHERE;
    int now = 0;
    for (int r = 0; r < height; r++, now ^= 1) {
        __syncthreads();
        const int cheapest = min(line[now][me], min(line[now][me - 1], line[now][me + 1]));
        line[now ^ 1][me] = exists ? cheapest + rows[(size_t)r * cols + column] : NOWHERE;
    }
    if (exists && threadIdx.x >= DEPTH && threadIdx.x < DEPTH + KEEP)
        bottom[column] = line[now][me];
}

extern "C" void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    const size_t line_bytes = sizeof(int) * cols;
    int *grid, *ends[2];
    cudaMalloc((void **)&grid, line_bytes * rows);
    cudaMalloc((void **)&ends[0], line_bytes);
    cudaMalloc((void **)&ends[1], line_bytes);
    cudaMemcpy(grid, wall, line_bytes * rows, cudaMemcpyHostToDevice);
    cudaMemcpy(ends[0], grid, line_bytes, cudaMemcpyDeviceToDevice);
    int which = 0;
    for (int done = 1; done < rows; done += DEPTH, which ^= 1) {
        const int height = rows - done < DEPTH ? rows - done : DEPTH;
        descend<<<(cols + KEEP - 1) / KEEP, WIDTH>>>(height, cols, grid + (size_t)done * cols, ends[which],
                                                     ends[which ^ 1]);
    }
    cudaMemcpy(out_costs, ends[which], line_bytes, cudaMemcpyDeviceToHost);
    cudaFree(grid);
    cudaFree(ends[0]);
    cudaFree(ends[1]);
}
