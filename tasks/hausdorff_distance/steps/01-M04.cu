// step: M04 on naive.cu
// A thread keeps four source points in registers, so that a load of a target point serves four
// distances instead of one.
#include "check.cuh"

constexpr int OWN = 4; // points of a thread

__global__ void nearest_points(int points, int spaces, const float *xy, const int *offsets,
                               const int *set_of, float *results)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = (points + OWN - 1) / OWN; // between the points of a thread
    if (at >= (size_t)stride * spaces)
        return;
    const int b = (int)(at / stride), p = (int)(at % stride);
    const int end = b + 1 < spaces ? offsets[b + 1] : points;
    float x[OWN], y[OWN], nearest[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const size_t own = min(p + i * stride, points - 1);
        x[i] = xy[2 * own];
        y[i] = xy[2 * own + 1];
        nearest[i] = INFINITY;
    }
    for (int q = offsets[b]; q < end; q++) {
        const float qx = xy[2 * (size_t)q], qy = xy[2 * (size_t)q + 1];
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const float dx = qx - x[i], dy = qy - y[i];
            nearest[i] = fminf(nearest[i], dx * dx + dy * dy);
        }
    }
#pragma unroll
    for (int i = 0; i < OWN; i++)
        atomicMax((int *)&results[(size_t)b * spaces + set_of[min(p + i * stride, points - 1)]],
                  __float_as_int(nearest[i]));
}

__global__ void take_roots(size_t count, float *results)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        results[at] = sqrtf(results[at]);
}

extern "C" void solution_compute(int num_points, int num_spaces, const float *points_xy,
                                 const int *space_offsets, float *results)
{
    const size_t points = num_points, spaces = num_spaces, entries = spaces * spaces;
    int *set_of = (int *)malloc(points * sizeof(int));
    if (!set_of)
        abort();
    for (int s = 0; s < num_spaces; s++) {
        const int end = s + 1 < num_spaces ? space_offsets[s + 1] : num_points;
        for (int p = space_offsets[s]; p < end; p++)
            set_of[p] = s;
    }

    float *d_xy, *d_results;
    int *d_offsets, *d_set_of;
    CHECK(cudaMalloc(&d_xy, 2 * points * sizeof(float)));
    CHECK(cudaMalloc(&d_offsets, spaces * sizeof(int)));
    CHECK(cudaMalloc(&d_set_of, points * sizeof(int)));
    CHECK(cudaMalloc(&d_results, entries * sizeof(float)));
    CHECK(cudaMemcpy(d_xy, points_xy, 2 * points * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_offsets, space_offsets, spaces * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_set_of, set_of, points * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_results, 0, entries * sizeof(float)));

    const int threads = 256;
    const size_t groups = (points + OWN - 1) / OWN * spaces;
    nearest_points<<<(unsigned)((groups + threads - 1) / threads), threads>>>(
        num_points, num_spaces, d_xy, d_offsets, d_set_of, d_results);
    CHECK(cudaGetLastError());
    take_roots<<<(unsigned)((entries + threads - 1) / threads), threads>>>(entries, d_results);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(results, d_results, entries * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_xy));
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_set_of));
    CHECK(cudaFree(d_results));
    free(set_of);
}
