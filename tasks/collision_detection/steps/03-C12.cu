// step: C12 on 02-M12.cu
// Each pair is tested once instead of twice: a polygon looks at its own level only behind itself,
// and beyond that only at levels of larger cells. Both counts go up by atomic additions.
#include "check.cuh"

#include <cmath>

constexpr int BLOCK = 128;
constexpr int LEVELS = 24, SIDE_MAX = 1024;

// Level l has cells twice as large as level l-1. A polygon lies in the smallest level whose cells
// are as large as its box, in the cell of its lower left corner. What lies outside the grid belongs
// to its outermost cells.
struct Levels {
    int count;
    float edge[LEVELS], per_edge[LEVELS];
    int side[LEVELS], first_cell[LEVELS + 1];
};

struct scene {
    const int *offsets;
    const float *x, *y;
    const float4 *boxes; /* min x, min y, max x, max y */
    int *cell, *rank;    /* of a polygon: its cell, and the how manieth it is there */
    int *cell_count, *cell_start, *placed, *order;
    unsigned *levels_used; /* bits */
};

static __device__ int cell_along(float coordinate, float per_edge, int side)
{
    const float k = floorf(coordinate * per_edge);
    return k > 0 ? (k < static_cast<float>(side) ? static_cast<int>(k) : side - 1) : 0;
}

static __device__ int level_of(const Levels &l, float4 box)
{
    const float size = fmaxf(box.z - box.x, box.w - box.y);
    int level = 0;
    while (level < l.count - 1 && l.edge[level] < size)
        level++;
    return level;
}

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

__global__ void find_cells(int polygons, scene s, Levels l)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= polygons)
        return;
    const float4 box = s.boxes[i];
    const int level = level_of(l, box), side = l.side[level];
    const float per_edge = l.per_edge[level];
    const int cell = l.first_cell[level] + cell_along(box.y, per_edge, side) * side +
                     cell_along(box.x, per_edge, side);
    s.cell[i] = cell;
    s.rank[i] = atomicAdd(&s.cell_count[cell], 1);
    atomicOr(s.levels_used, 1u << level);
}

/* Cells get places in any order. */
__global__ void place_cells(int cells, scene s)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cells && s.cell_count[c] > 0)
        s.cell_start[c] = atomicAdd(s.placed, s.cell_count[c]);
}

__global__ void place_polygons(int polygons, scene s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < polygons)
        s.order[s.cell_start[s.cell[i]] + s.rank[i]] = i;
}

__global__ void count_overlaps(int polygons, scene s, Levels l, int *counts)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= polygons)
        return;
    const int i = s.order[k]; /* neighbouring threads look at the same cells */
    const float4 own = s.boxes[i];
    const int own_level = level_of(l, own);
    int count = 0;
    for (int level = own_level; level < l.count; level++) {
        if (!(*s.levels_used >> level & 1))
            continue;
        const float per_edge = l.per_edge[level], reach = l.edge[level] * 1.00001f;
        const int side = l.side[level], low_x = cell_along(__fsub_rd(own.x, reach), per_edge, side),
                  high_x = cell_along(own.z, per_edge, side),
                  low_y = cell_along(__fsub_rd(own.y, reach), per_edge, side),
                  high_y = cell_along(own.w, per_edge, side);
        for (int y = low_y; y <= high_y; y++)
            for (int x = low_x; x <= high_x; x++) {
                const int cell = l.first_cell[level] + y * side + x;
                const int start = s.cell_start[cell], end = start + s.cell_count[cell];
                for (int at = level == own_level ? max(start, k + 1) : start; at < end; at++) {
                    const int j = s.order[at];
                    const float4 other = s.boxes[j];
                    if (own.z < other.x || other.z < own.x || own.w < other.y || other.w < own.y)
                        continue;
                    if (separated_by_edge_of(s, i, j) || separated_by_edge_of(s, j, i))
                        continue;
                    atomicAdd(&counts[j], 1);
                    count++;
                }
            }
    }
    if (count > 0)
        atomicAdd(&counts[i], count);
}

static Levels make_levels(float world, float hint)
{
    Levels l;
    // Most polygons fit the suggested cells, or three quarters of one.
    float edge = fmaxf(0.75f * hint, world / (SIDE_MAX - 2));
    l.first_cell[0] = 0;
    for (l.count = 0; l.count < LEVELS;) {
        const int level = l.count++;
        l.edge[level] = edge;
        l.per_edge[level] = 1 / edge;
        l.side[level] = edge < world ? static_cast<int>(world / edge) + 1 : 1;
        l.first_cell[level + 1] = l.first_cell[level] + l.side[level] * l.side[level];
        if (l.side[level] == 1) // one cell that holds whatever is larger
            break;
        edge *= 2;
    }
    return l;
}

extern "C" void solution_compute(int N, int total_verts, int world_size_x100, int cell_size_x100,
                                 const int *poly_offsets, const float *vertices_x,
                                 const float *vertices_y, const float *aabb, int *counts)
{
    const size_t n = N, verts = total_verts;
    const Levels l = make_levels(static_cast<float>(world_size_x100) / 100.0f,
                                 static_cast<float>(cell_size_x100) / 100.0f);
    const int cells = l.first_cell[l.count];
    int *d_offsets, *d_counts, *d_cells, *d_order;
    float *d_x, *d_y;
    float4 *d_boxes;
    CHECK(cudaMalloc(&d_offsets, (n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_x, verts * sizeof(float)));
    CHECK(cudaMalloc(&d_y, verts * sizeof(float)));
    CHECK(cudaMalloc(&d_boxes, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_counts, n * sizeof(int)));
    CHECK(cudaMalloc(&d_cells, (2 * static_cast<size_t>(cells) + 2) * sizeof(int)));
    CHECK(cudaMalloc(&d_order, 3 * n * sizeof(int)));
    CHECK(cudaMemset(d_counts, 0, n * sizeof(int)));
    CHECK(cudaMemset(d_cells, 0, (2 * static_cast<size_t>(cells) + 2) * sizeof(int)));
    CHECK(cudaMemcpy(d_offsets, poly_offsets, (n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_x, vertices_x, verts * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, vertices_y, verts * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_boxes, aabb, n * sizeof(float4), cudaMemcpyHostToDevice));

    const scene s = {d_offsets,
                     d_x,
                     d_y,
                     d_boxes,
                     d_order,
                     d_order + n,
                     d_cells,
                     d_cells + cells,
                     d_cells + 2 * static_cast<size_t>(cells),
                     d_order + 2 * n,
                     reinterpret_cast<unsigned *>(d_cells) + 2 * static_cast<size_t>(cells) + 1};
    const int blocks = (N - 1) / BLOCK + 1;
    find_cells<<<blocks, BLOCK>>>(N, s, l);
    CHECK(cudaGetLastError());
    place_cells<<<(cells - 1) / BLOCK + 1, BLOCK>>>(cells, s);
    CHECK(cudaGetLastError());
    place_polygons<<<blocks, BLOCK>>>(N, s);
    CHECK(cudaGetLastError());
    count_overlaps<<<blocks, BLOCK>>>(N, s, l, d_counts);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(counts, d_counts, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_boxes));
    CHECK(cudaFree(d_counts));
    CHECK(cudaFree(d_cells));
    CHECK(cudaFree(d_order));
}
