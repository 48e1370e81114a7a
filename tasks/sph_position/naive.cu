/* Drift of particles, naive: six copies in, one kernel with one thread for each particle, four copies
 * out.
 *
 * What bounds it: the bus. 24 bytes a particle go in, then 28 come out, one direction at a time from
 * pageable memory; the kernel is a small part of the time. */
#include "check.cuh"

struct arrays {
    float *pos[3], *mov[3];
    double *out[3];
    int *cell;
};

__global__ void drift(int n, arrays a, double cell_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int layer[3];
    for (int axis = 0; axis < 3; axis++) {
        const double moved = (double)a.pos[axis][i] + (double)a.mov[axis][i];
        a.out[axis][i] = moved;
        layer[axis] = (int)floor(moved / cell_size);
    }
    a.cell[i] = layer[0] + 1000 * layer[1] + 1000000 * layer[2];
}

extern "C" void solution_compute(int N, const float *posxy_x, const float *posxy_y, const float *posz,
                                 const float *movxy_x, const float *movxy_y, const float *movz,
                                 float cell_size, double *out_x, double *out_y, double *out_z,
                                 int *out_cell)
{
    const float *pos[3] = {posxy_x, posxy_y, posz}, *mov[3] = {movxy_x, movxy_y, movz};
    double *out[3] = {out_x, out_y, out_z};
    const size_t n = (size_t)N;
    arrays a;
    for (int axis = 0; axis < 3; axis++) {
        CHECK(cudaMalloc((void **)&a.pos[axis], n * sizeof(float)));
        CHECK(cudaMalloc((void **)&a.mov[axis], n * sizeof(float)));
        CHECK(cudaMalloc((void **)&a.out[axis], n * sizeof(double)));
        CHECK(cudaMemcpy(a.pos[axis], pos[axis], n * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(a.mov[axis], mov[axis], n * sizeof(float), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc((void **)&a.cell, n * sizeof(int)));

    const int threads = 256, blocks = (N - 1) / threads + 1;
    drift<<<blocks, threads>>>(N, a, cell_size);
    CHECK(cudaGetLastError());

    for (int axis = 0; axis < 3; axis++) {
        CHECK(cudaMemcpy(out[axis], a.out[axis], n * sizeof(double), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(a.pos[axis]));
        CHECK(cudaFree(a.mov[axis]));
        CHECK(cudaFree(a.out[axis]));
    }
    CHECK(cudaMemcpy(out_cell, a.cell, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a.cell));
}
