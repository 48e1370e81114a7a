/* Cheapest paths through a grid, naive: the whole grid is copied to the device, then one kernel for
 * each row with one thread for each column computes the row from the one above, in two alternating
 * buffers.
 *
 * What bounds it: the number of launches. A row of a few thousand columns keeps a device busy for
 * much less time than its launch takes, and nothing runs while the grid travels. */
#include "check.cuh"

__global__ void advance_row(int cols, const int *cost, const int *above, int *current)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    int best = above[c];
    if (c > 0)
        best = min(best, above[c - 1]);
    if (c < cols - 1)
        best = min(best, above[c + 1]);
    current[c] = cost[c] + best;
}

extern "C" void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    if (rows <= 0 || cols <= 0)
        return;
    const size_t row_bytes = (size_t)cols * sizeof(int), bytes = (size_t)rows * row_bytes;
    int *d_wall, *d_above, *d_current;
    CHECK(cudaMalloc((void **)&d_wall, bytes));
    CHECK(cudaMalloc((void **)&d_above, row_bytes));
    CHECK(cudaMalloc((void **)&d_current, row_bytes));
    CHECK(cudaMemcpy(d_wall, wall, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_above, d_wall, row_bytes, cudaMemcpyDeviceToDevice));

    const int threads = 256, blocks = (cols - 1) / threads + 1;
    for (int r = 1; r < rows; r++) {
        advance_row<<<blocks, threads>>>(cols, d_wall + (size_t)r * cols, d_above, d_current);
        CHECK(cudaGetLastError());
        int *swapped = d_above;
        d_above = d_current;
        d_current = swapped;
    }
    CHECK(cudaMemcpy(out_costs, d_above, row_bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_current));
    CHECK(cudaFree(d_above));
    CHECK(cudaFree(d_wall));
}
