/* One thread for each pair of a source point and a target set: it finds the nearest point of the
 * set and raises the pair's entry by an atomic maximum. Squares are never negative, so their bit
 * patterns order like integers. Bound by loads of target points from the caches and, where sets are
 * uneven, by the longest one. */
#include "check.cuh"

__global__ void nearest_points(int points, int spaces, const float *xy, const int *offsets,
                               const int *set_of, float *results)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)points * spaces)
        return;
    const int b = (int)(at / points), p = (int)(at % points);
    const int end = b + 1 < spaces ? offsets[b + 1] : points;
    const float x = xy[2 * (size_t)p], y = xy[2 * (size_t)p + 1];
    float nearest = INFINITY;
    for (int q = offsets[b]; q < end; q++) {
        const float dx = xy[2 * (size_t)q] - x, dy = xy[2 * (size_t)q + 1] - y;
        nearest = fminf(nearest, dx * dx + dy * dy);
    }
    atomicMax((int *)&results[(size_t)b * spaces + set_of[p]], __float_as_int(nearest));
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
    nearest_points<<<(unsigned)((points * spaces + threads - 1) / threads), threads>>>(
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
