/* Brute force: one thread a polygon compares its box with every other box and tries separating axes
 * where boxes meet. No grid, no pair list, no atomics; each pair is tested twice. All threads of a
 * warp read the same other box, so the loop runs at the speed of its comparisons: bound by N^2 of
 * them, which hurts from some 100 000 polygons on. Products and sums of projections are rounded one
 * by one, as the contract says. */
#include "check.cuh"

struct scene {
    const int *offsets;
    const float *x, *y;
    const float4 *boxes; /* min x, min y, max x, max y */
};

__device__ void project(const scene &s, int polygon, float nx, float ny, float *low, float *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int v = s.offsets[polygon]; v < s.offsets[polygon + 1]; v++) {
        const float p = __fadd_rn(__fmul_rn(nx, s.x[v]), __fmul_rn(ny, s.y[v]));
        *low = fminf(*low, p);
        *high = fmaxf(*high, p);
    }
}

/* Does the normal of an edge of polygon a separate a and b? */
__device__ bool separated_by_edge_of(const scene &s, int a, int b)
{
    const int first = s.offsets[a], end = s.offsets[a + 1];
    for (int v = first; v < end; v++) {
        const int w = v + 1 < end ? v + 1 : first;
        const float nx = -(s.y[w] - s.y[v]), ny = s.x[w] - s.x[v];
        float a_low, a_high, b_low, b_high;
        project(s, a, nx, ny, &a_low, &a_high);
        project(s, b, nx, ny, &b_low, &b_high);
        if (a_high < b_low || b_high < a_low)
            return true;
    }
    return false;
}

__global__ void count_overlaps(int polygons, scene s, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= polygons)
        return;
    const float4 own = s.boxes[i];
    int count = 0;
    for (int j = 0; j < polygons; j++) {
        const float4 other = s.boxes[j];
        if (j == i || own.z < other.x || other.z < own.x || own.w < other.y || other.w < own.y)
            continue;
        if (!separated_by_edge_of(s, i, j) && !separated_by_edge_of(s, j, i))
            count++;
    }
    counts[i] = count;
}

extern "C" void solution_compute(int N, int total_verts, int world_size_x100, int cell_size_x100,
                                 const int *poly_offsets, const float *vertices_x,
                                 const float *vertices_y, const float *aabb, int *counts)
{
    (void)world_size_x100;
    (void)cell_size_x100;
    const size_t n = N, verts = total_verts;
    int *d_offsets, *d_counts;
    float *d_x, *d_y;
    float4 *d_boxes;
    CHECK(cudaMalloc(&d_offsets, (n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_x, verts * sizeof(float)));
    CHECK(cudaMalloc(&d_y, verts * sizeof(float)));
    CHECK(cudaMalloc(&d_boxes, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_counts, n * sizeof(int)));
    CHECK(cudaMemcpy(d_offsets, poly_offsets, (n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_x, vertices_x, verts * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, vertices_y, verts * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_boxes, aabb, n * sizeof(float4), cudaMemcpyHostToDevice));

    const int threads = 128;
    const scene s = {d_offsets, d_x, d_y, d_boxes};
    count_overlaps<<<(N + threads - 1) / threads, threads>>>(N, s, d_counts);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(counts, d_counts, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_boxes));
    CHECK(cudaFree(d_counts));
}
