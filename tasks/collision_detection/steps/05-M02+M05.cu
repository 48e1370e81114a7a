// step: M02+M05 on 04-B01.cu
// Boxes and outlines are laid out by cell, outlines as eight pairs of coordinates: a pair is loaded
// by a few wide loads into registers, where all axes are tried without another load.
#include "check.cuh"

#include <cmath>

constexpr int BLOCK = 128;
constexpr int LEVELS = 24, SIDE_MAX = 1024;
constexpr int VERTICES = 8;

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
    float4 *box_at;        /* of the polygon at a place in order */
    float2 *outlines;      /* VERTICES each; the last vertex fills the rest */
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

static __device__ void load_outline(const scene &s, int at, float2 origin, float (&x)[VERTICES],
                                    float (&y)[VERTICES])
{
    const float4 *from =
        reinterpret_cast<const float4 *>(s.outlines + static_cast<size_t>(at) * VERTICES);
#pragma unroll
    for (int k = 0; k < VERTICES / 2; k++) {
        const float4 two = from[k];
        x[2 * k] = two.x - origin.x;
        y[2 * k] = two.y - origin.y;
        x[2 * k + 1] = two.z - origin.x;
        y[2 * k + 1] = two.w - origin.y;
    }
}

// Does the normal of an edge of polygon a separate it from b? An edge between repeated vertices has
// the normal 0, which separates nothing.
static __device__ bool separated_by_edge_of(const float (&ax)[VERTICES],
                                            const float (&ay)[VERTICES],
                                            const float (&bx)[VERTICES],
                                            const float (&by)[VERTICES])
{
    bool separated = false;
#pragma unroll
    for (int e = 0; e < VERTICES; e++) {
        const int f = (e + 1) % VERTICES;
        const float nx = ay[e] - ay[f], ny = ax[f] - ax[e];
        float a_low = INFINITY, a_high = -INFINITY, b_low = INFINITY, b_high = -INFINITY;
#pragma unroll
        for (int v = 0; v < VERTICES; v++) {
            const float a = __fadd_rn(__fmul_rn(nx, ax[v]), __fmul_rn(ny, ay[v]));
            const float b = __fadd_rn(__fmul_rn(nx, bx[v]), __fmul_rn(ny, by[v]));
            a_low = fminf(a_low, a);
            a_high = fmaxf(a_high, a);
            b_low = fminf(b_low, b);
            b_high = fmaxf(b_high, b);
        }
        separated |= a_high < b_low || b_high < a_low;
    }
    return separated;
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
    if (i >= polygons)
        return;
    const int at = s.cell_start[s.cell[i]] + s.rank[i], first = s.offsets[i],
              last = s.offsets[i + 1] - 1;
    s.order[at] = i;
    s.box_at[at] = s.boxes[i];
    for (int v = 0; v < VERTICES; v++) {
        const int from = min(first + v, last);
        s.outlines[static_cast<size_t>(at) * VERTICES + v] = make_float2(s.x[from], s.y[from]);
    }
}

/* Places of polygons that a lane's polygon is compared with, range by range. */
struct Candidates {
    int next, end;
    int level, row, column; // cell of the present range
    int low_column, high_column, high_row;
};

static __device__ void open_level(const Levels &l, float4 box, Candidates *at)
{
    const float per_edge = l.per_edge[at->level], reach = l.edge[at->level] * 1.00001f;
    const int side = l.side[at->level];
    at->low_column = at->column = cell_along(__fsub_rd(box.x, reach), per_edge, side);
    at->high_column = cell_along(box.z, per_edge, side);
    at->row = cell_along(__fsub_rd(box.y, reach), per_edge, side);
    at->high_row = cell_along(box.w, per_edge, side);
}

/* The next place, -1 at the end. At a polygon's own level only places behind its own. */
static __device__ int next_candidate(const scene &s, const Levels &l, unsigned levels, float4 box,
                                     int own, int own_level, Candidates *at)
{
    while (at->next >= at->end) {
        if (++at->column > at->high_column) {
            at->column = at->low_column;
            if (++at->row > at->high_row) {
                do {
                    if (++at->level >= l.count)
                        return -1;
                } while (!(levels >> at->level & 1));
                open_level(l, box, at);
            }
        }
        const int cell = l.first_cell[at->level] + at->row * l.side[at->level] + at->column;
        at->next = s.cell_start[cell];
        at->end = at->next + s.cell_count[cell];
        if (at->level == own_level)
            at->next = max(at->next, own + 1);
    }
    return at->next++;
}

/* A lane a polygon. Pairs whose boxes meet go to a queue of the warp; whenever there are enough for
 * all lanes, each tests one. */
__global__ void find_pairs(int polygons, scene s, Levels l, int *counts)
{
    __shared__ int2 queues[BLOCK / 32][64];
    const int lane = threadIdx.x % 32, k = blockIdx.x * blockDim.x + threadIdx.x;
    int2 *const queue = queues[threadIdx.x / 32];
    const unsigned levels = *s.levels_used;
    int own_level = 0, waiting = 0;
    float4 box = make_float4(0, 0, 0, 0);
    Candidates at = {0, 0, LEVELS, 0, 0, 0, 0, 0};
    bool active = k < polygons;
    if (active) {
        box = s.box_at[k];
        at.level = own_level = level_of(l, box);
        open_level(l, box, &at);
        at.column--; /* the first step leads to the first cell */
    }
    auto test = [&](int2 pair) {
        /* coordinates from a vertex of the first: as differences of neighbours nearly exact */
        const float2 origin = s.outlines[static_cast<size_t>(pair.x) * VERTICES];
        float ax[VERTICES], ay[VERTICES], bx[VERTICES], by[VERTICES];
        load_outline(s, pair.x, origin, ax, ay);
        load_outline(s, pair.y, origin, bx, by);
        if (separated_by_edge_of(ax, ay, bx, by) || separated_by_edge_of(bx, by, ax, ay))
            return;
        atomicAdd(&counts[s.order[pair.x]], 1);
        atomicAdd(&counts[s.order[pair.y]], 1);
    };
    while (__any_sync(~0u, active)) {
        int other = -1;
        if (active) {
            other = next_candidate(s, l, levels, box, k, own_level, &at);
            active = other >= 0;
        }
        bool meet = false;
        if (active) {
            const float4 its = s.box_at[other];
            meet = box.z >= its.x && its.z >= box.x && box.w >= its.y && its.w >= box.y;
        }
        const unsigned hits = __ballot_sync(~0u, meet);
        if (meet)
            queue[waiting + __popc(hits & ((1u << lane) - 1))] = make_int2(k, other);
        waiting += __popc(hits);
        __syncwarp();
        if (waiting >= 32) {
            waiting -= 32;
            test(queue[waiting + lane]);
            __syncwarp();
        }
    }
    if (lane < waiting)
        test(queue[lane]);
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
    float4 *d_boxes, *d_box_at;
    float2 *d_outlines;
    CHECK(cudaMalloc(&d_offsets, (n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_x, verts * sizeof(float)));
    CHECK(cudaMalloc(&d_y, verts * sizeof(float)));
    CHECK(cudaMalloc(&d_boxes, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_counts, n * sizeof(int)));
    CHECK(cudaMalloc(&d_cells, (2 * static_cast<size_t>(cells) + 2) * sizeof(int)));
    CHECK(cudaMalloc(&d_order, 3 * n * sizeof(int)));
    CHECK(cudaMalloc(&d_box_at, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_outlines, n * VERTICES * sizeof(float2)));
    CHECK(cudaMemset(d_cells, 0, (2 * static_cast<size_t>(cells) + 2) * sizeof(int)));
    CHECK(cudaMemset(d_counts, 0, n * sizeof(int)));
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
                     d_box_at,
                     d_outlines,
                     reinterpret_cast<unsigned *>(d_cells) + 2 * static_cast<size_t>(cells) + 1};
    const int blocks = (N - 1) / BLOCK + 1;
    find_cells<<<blocks, BLOCK>>>(N, s, l);
    CHECK(cudaGetLastError());
    place_cells<<<(cells - 1) / BLOCK + 1, BLOCK>>>(cells, s);
    CHECK(cudaGetLastError());
    place_polygons<<<blocks, BLOCK>>>(N, s);
    CHECK(cudaGetLastError());
    find_pairs<<<blocks, BLOCK>>>(N, s, l, d_counts);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(counts, d_counts, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_boxes));
    CHECK(cudaFree(d_counts));
    CHECK(cudaFree(d_cells));
    CHECK(cudaFree(d_order));
    CHECK(cudaFree(d_box_at));
    CHECK(cudaFree(d_outlines));
}
