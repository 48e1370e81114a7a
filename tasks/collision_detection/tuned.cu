// Overlapping polygons: grids by size, pairs with overlapping boxes in a queue, separating axes.
//
// Approach: a polygon lies in one cell of a grid whose cells are as large as its box; there is a
// grid for each power of two. Counting sort by cell, with boxes and outlines (eight vertices, the
// last repeated) in that order. Eight lanes look for the partners of a polygon in its own level,
// behind itself, and in coarser ones: the cells of a row lie together, so these are some stretches
// of boxes. Pairs whose boxes meet go to a queue of the warp; full queues are tested a pair a lane,
// both outlines in registers, relative to a vertex so that sums are nearly exact, on all sixteen
// normals. Boxes are made from the vertices instead of being brought. Up to 4096 polygons all boxes
// are compared. From 6 MB the vertices come through a ring of pinned slots, else by plain copies.
//
// What bounds it: large: the upload (half), the pairs (0.58 ms); medium: the plain upload (half)
// and the crowded places; small: the copies and launches.
//
// Tried: a lane a polygon (the crowd at one place then takes 0.5 ms at medium); cells visited one
// by one instead of by rows (1.6 ms at large); 4 or 16 lanes a polygon, larger cells (no
// difference); allocating in a second thread, beside the first copies (a quarter slower at medium).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.06 ms, medium 0.48 ms, large
// 2.3 ms (37 %, 11 % and 22 % of what the bus needs; naive 6.1, 12.6 and 177 ms). An evaluation,
// which comes to a call with cold caches, takes 0.12 ms at small.
#include "transfer.cuh"

#include <cmath>

constexpr size_t ARENA = 1000 * 1000;    // bytes
constexpr size_t RING = size_t(6) << 20; // bytes of input that are worth a ring
constexpr int FEW = 4096;                // polygons that are all compared
constexpr int BLOCK = 128, WARPS = BLOCK / 32;
constexpr int VERTICES = 8;
constexpr int TEAM = 8; // lanes that look for partners of a polygon
constexpr int WARPS_PER_SM = 32;
constexpr int AT_ONCE = 2; // partners that a lane looks at at once
constexpr int LEVELS = 24, SIDE_MAX = 1024;
constexpr int CHUNK = 128; // of the others, where all are compared
constexpr unsigned ALL = ~0u;

static __device__ __align__(256) char arena[ARENA];

// Level l has cells twice as large as level l-1. A polygon lies in the smallest level whose cells
// are as large as its box, in the cell of its lower left corner. What lies outside the grid belongs
// to its outermost cells.
struct Levels {
    int count;
    float edge[LEVELS], per_edge[LEVELS];
    int side[LEVELS], first_cell[LEVELS + 1];
};

struct Scene {
    int polygons;
    const int *offsets;
    const float *xs, *ys;
    int *cell, *rank, *index;    // index: number of the polygon, by cell; so are boxes, outlines
    int *cell_start, *part_sums; // cell_start: first the counts
    unsigned *levels_used;       // bits
    float4 *boxes;               // min x, min y, max x, max y
    float2 *outlines;            // VERTICES each; the last vertex fills the rest
    int *counts;
};

static __device__ int cell_along(float coordinate, float per_edge, int side)
{
    const float k = floorf(coordinate * per_edge);
    return k > 0 ? (k < static_cast<float>(side) ? static_cast<int>(k) : side - 1) : 0;
}

static __device__ float4 box_of(const Scene &s, int i)
{
    float4 box = make_float4(INFINITY, INFINITY, -INFINITY, -INFINITY);
    for (int v = s.offsets[i]; v < s.offsets[i + 1]; v++) {
        box.x = fminf(box.x, s.xs[v]);
        box.y = fminf(box.y, s.ys[v]);
        box.z = fmaxf(box.z, s.xs[v]);
        box.w = fmaxf(box.w, s.ys[v]);
    }
    return box;
}

static __device__ int level_of(const Levels &l, float4 box)
{
    const float size = fmaxf(box.z - box.x, box.w - box.y);
    int level = 0;
    while (level < l.count - 1 && l.edge[level] < size)
        level++;
    return level;
}

static __global__ void __launch_bounds__(BLOCK)
    find_cells(const __grid_constant__ Scene s, const __grid_constant__ Levels l)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned used = 0;
    if (i < s.polygons) {
        const float4 box = box_of(s, i);
        const int level = level_of(l, box);
        const float per_edge = l.per_edge[level];
        const int side = l.side[level];
        const int cell = l.first_cell[level] + cell_along(box.y, per_edge, side) * side +
                         cell_along(box.x, per_edge, side);
        s.cell[i] = cell;
        s.rank[i] = atomicAdd(&s.cell_start[cell], 1);
        used = 1u << level;
    }
    used = __reduce_or_sync(ALL, used);
    if (threadIdx.x % 32 == 0 && (used & ~*const_cast<volatile unsigned *>(s.levels_used)))
        atomicOr(s.levels_used, used);
}

// A block's part of the cells.
constexpr int SCAN_EACH = 8, PART = BLOCK * SCAN_EACH;

static __device__ int sum_up_to(int value, int *warp_sums) // of the block's threads, own included
{
    const int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(ALL, value, d);
        if (lane >= d)
            value += below;
    }
    if (lane == 31)
        warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    for (int w = 0; w < static_cast<int>(threadIdx.x) / 32; w++)
        value += warp_sums[w];
    __syncthreads();
    return value;
}

static __global__ void __launch_bounds__(BLOCK)
    sum_parts(const __grid_constant__ Scene s, int cells)
{
    __shared__ int warp_sums[WARPS];
    int sum = 0;
    for (int k = 0; k < SCAN_EACH; k++) {
        const int c = blockIdx.x * PART + k * BLOCK + threadIdx.x;
        sum += c < cells ? s.cell_start[c] : 0;
    }
    sum = sum_up_to(sum, warp_sums);
    if (threadIdx.x == BLOCK - 1)
        s.part_sums[blockIdx.x] = sum;
}

// Counts become starts, in place; the last entry is the end.
static __global__ void __launch_bounds__(BLOCK)
    place_cells(const __grid_constant__ Scene s, int cells)
{
    __shared__ int warp_sums[WARPS], total;
    int before = 0;
    for (int b = threadIdx.x; b < static_cast<int>(blockIdx.x); b += BLOCK)
        before += s.part_sums[b];
    before = sum_up_to(before, warp_sums);
    if (threadIdx.x == BLOCK - 1)
        total = before;
    __syncthreads();
    int start = total;
    const int first = blockIdx.x * PART + threadIdx.x * SCAN_EACH;
    int counts[SCAN_EACH], own = 0;
#pragma unroll
    for (int k = 0; k < SCAN_EACH; k++) {
        counts[k] = first + k < cells ? s.cell_start[first + k] : 0;
        own += counts[k];
    }
    start += sum_up_to(own, warp_sums) - own;
#pragma unroll
    for (int k = 0; k < SCAN_EACH; k++) {
        if (first + k <= cells)
            s.cell_start[first + k] = start;
        start += counts[k];
    }
}

// VERTICES lanes a polygon, one for each of its vertices.
template <bool IN_ORDER>
static __global__ void __launch_bounds__(BLOCK) place_polygons(const __grid_constant__ Scene s)
{
    const int i = (blockIdx.x * BLOCK + threadIdx.x) / VERTICES, v = threadIdx.x % VERTICES;
    const int own = min(i, s.polygons - 1);
    const int from = min(s.offsets[own] + v, s.offsets[own + 1] - 1);
    const float2 vertex = make_float2(s.xs[from], s.ys[from]);
    float4 box = make_float4(vertex.x, vertex.y, vertex.x, vertex.y);
    for (int d = 1; d < VERTICES; d *= 2) {
        box.x = fminf(box.x, __shfl_xor_sync(ALL, box.x, d));
        box.y = fminf(box.y, __shfl_xor_sync(ALL, box.y, d));
        box.z = fmaxf(box.z, __shfl_xor_sync(ALL, box.z, d));
        box.w = fmaxf(box.w, __shfl_xor_sync(ALL, box.w, d));
    }
    if (i >= s.polygons)
        return;
    const int at = IN_ORDER ? i : s.cell_start[s.cell[i]] + s.rank[i];
    s.outlines[static_cast<size_t>(at) * VERTICES + v] = vertex;
    if (v == 0) {
        s.boxes[at] = box;
        s.index[at] = i;
    }
}

static __device__ void load_outline(const Scene &s, int at, float2 origin, float (&x)[VERTICES],
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

// Coordinates from a vertex of the first: as differences of neighbours they are exact or nearly so.
static __device__ void test_pair(const Scene &s, int2 pair)
{
    const float2 origin = s.outlines[static_cast<size_t>(pair.x) * VERTICES];
    float ax[VERTICES], ay[VERTICES], bx[VERTICES], by[VERTICES];
    load_outline(s, pair.x, origin, ax, ay);
    load_outline(s, pair.y, origin, bx, by);
    if (separated_by_edge_of(ax, ay, bx, by) || separated_by_edge_of(bx, by, ax, ay))
        return;
    atomicAdd(&s.counts[s.index[pair.x]], 1);
    atomicAdd(&s.counts[s.index[pair.y]], 1);
}

// Places of polygons to be compared with: up to three rows of cells, four where rounding adds one.
// The cells of a row lie one after the other. Those of all rows are numbered from 0.
constexpr int ROWS = 4;
struct Rows {
    int begin[ROWS], end_number[ROWS];
};

// Where boxes that meet this one may lie, in a level whose cells are no smaller than it. `behind`:
// only places from there on.
static __device__ Rows rows_of(const Scene &s, const Levels &l, int level, float4 box, int behind)
{
    const float per_edge = l.per_edge[level], reach = l.edge[level] * 1.00001f;
    const int side = l.side[level];
    const int low_x = cell_along(__fsub_rd(box.x, reach), per_edge, side),
              high_x = cell_along(box.z, per_edge, side),
              low_y = cell_along(__fsub_rd(box.y, reach), per_edge, side),
              high_y = cell_along(box.w, per_edge, side);
    Rows ret;
    int number = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int begin = 0, end = 0;
        if (low_y + r <= high_y) {
            const int row = l.first_cell[level] + (low_y + r) * side;
            begin = max(s.cell_start[row + low_x], behind);
            end = s.cell_start[row + high_x + 1];
        }
        number += max(end - begin, 0);
        ret.begin[r] = begin;
        ret.end_number[r] = number;
    }
    return ret;
}

static __device__ int place_of(const Rows &rows, int number)
{
    return number < rows.end_number[0]   ? rows.begin[0] + number
           : number < rows.end_number[1] ? rows.begin[1] + number - rows.end_number[0]
           : number < rows.end_number[2] ? rows.begin[2] + number - rows.end_number[1]
                                         : rows.begin[3] + number - rows.end_number[2];
}

// TEAM lanes a polygon. Pairs whose boxes meet go to a queue of the warp; whenever there are enough
// for all lanes, each tests one. A warp takes polygons that lie far apart, so that crowded places
// are shared by many.
template <bool ALL_PAIRS>
static __global__ void __launch_bounds__(BLOCK)
    find_pairs(const __grid_constant__ Scene s, const __grid_constant__ Levels l)
{
    __shared__ int2 queues[WARPS][32 + 32 * AT_ONCE];
    const int lane = threadIdx.x % 32;
    const int stride = gridDim.x * (BLOCK / TEAM);
    int2 *const queue = queues[threadIdx.x / 32];
    int waiting = 0;
    const unsigned used = ALL_PAIRS ? 1u : *s.levels_used;
    for (int base = (blockIdx.x * BLOCK + threadIdx.x - lane) / TEAM; base < s.polygons;
         base += stride) {
        const int own = base + lane / TEAM;
        const bool real = own < s.polygons;
        const float4 box = s.boxes[real ? own : s.polygons - 1];
        const int own_level = ALL_PAIRS ? 0 : level_of(l, box);
        for (unsigned levels = used; levels; levels &= levels - 1) {
            const int level = __ffs(levels) - 1;
            Rows rows = {{0, 0, 0, 0}, {0, 0, 0, 0}};
            if (real && ALL_PAIRS) {
                const int from = max(own + 1, static_cast<int>(blockIdx.y) * CHUNK),
                          to = min(s.polygons, (static_cast<int>(blockIdx.y) + 1) * CHUNK);
                rows.begin[0] = from;
                for (int r = 0; r < ROWS; r++)
                    rows.end_number[r] = max(to - from, 0);
            } else if (real && level >= own_level) {
                rows = rows_of(s, l, level, box, level == own_level ? own + 1 : 0);
            }
            for (int number = lane % TEAM; __any_sync(ALL, number < rows.end_number[ROWS - 1]);
                 number += AT_ONCE * TEAM) {
                int other[AT_ONCE];
                bool meet[AT_ONCE];
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++) {
                    meet[n] = number + n * TEAM < rows.end_number[ROWS - 1];
                    other[n] = meet[n] ? place_of(rows, number + n * TEAM) : 0;
                    const float4 its = s.boxes[other[n]];
                    meet[n] = meet[n] && box.z >= its.x && its.z >= box.x && box.w >= its.y &&
                              its.w >= box.y;
                }
#pragma unroll
                for (int n = 0; n < AT_ONCE; n++) {
                    const unsigned hits = __ballot_sync(ALL, meet[n]);
                    if (meet[n])
                        queue[waiting + __popc(hits & ((1u << lane) - 1))] =
                            make_int2(own, other[n]);
                    waiting += __popc(hits);
                }
                __syncwarp();
                while (waiting >= 32) {
                    waiting -= 32;
                    test_pair(s, queue[waiting + lane]);
                }
                __syncwarp();
            }
        }
    }
    if (lane < waiting)
        test_pair(s, queue[lane]);
}

static Levels make_levels(float world, float hint)
{
    Levels l;
    // The hint is twice the mean diagonal of a box.
    float edge = fmaxf(0.5f * hint, world / (SIDE_MAX - 2));
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

// Arrays come in through a ring of pinned slots, the device works, arrays go out through the same
// ring. open(): allocations, while the first slots are filled. work(): queues the kernels.
template <int IN, int OUT, typename Open, typename Work>
static void through_ring(const transfer::Shape &shape, transfer::Array (&in)[IN],
                         transfer::Array (&out)[OUT], cudaStream_t stream, Open open, Work work)
{
    const size_t slot_bytes = shape.slot_bytes;
    size_t first[IN + OUT + 1] = {0}; // piece that an array starts with
    auto array = [&](int a) -> transfer::Array & { return a < IN ? in[a] : out[a - IN]; };
    for (int a = 0; a < IN + OUT; a++)
        first[a + 1] = first[a] + (array(a).bytes + slot_bytes - 1) / slot_bytes;
    auto array_of = [&](size_t piece) {
        int a = 0;
        while (piece >= first[a + 1])
            a++;
        return a;
    };
    auto copy = [&](size_t piece, char *slot, bool entering) {
        const int a = array_of(piece);
        const size_t from = (piece - first[a]) * slot_bytes, left = array(a).bytes - from,
                     bytes = left < slot_bytes ? left : slot_bytes;
        const char *const host = static_cast<const char *>(array(a).host) + from;
        if (entering && a < IN)
            memcpy(slot, host, bytes);
        else if (!entering && a >= IN)
            memcpy(const_cast<char *>(host), slot, bytes);
    };
    transfer::pipeline(
        shape, first[IN + OUT], open, [&](size_t piece, char *slot) { copy(piece, slot, true); },
        [&](size_t piece, size_t count, char *slot) {
            size_t run; // pieces of one array: one copy
            for (; count > 0; count -= run, piece += run, slot += run * slot_bytes) {
                const int a = array_of(piece);
                const size_t from = (piece - first[a]) * slot_bytes;
                run = first[a + 1] - piece < count ? first[a + 1] - piece : count;
                const size_t left = array(a).bytes - from,
                             bytes = left < run * slot_bytes ? left : run * slot_bytes;
                char *const there = static_cast<char *>(array(a).device) + from;
                if (piece == first[IN])
                    work();
                if (a < IN)
                    CHECK(cudaMemcpyAsync(there, slot, bytes, cudaMemcpyHostToDevice, stream));
                else
                    CHECK(cudaMemcpyAsync(slot, there, bytes, cudaMemcpyDeviceToHost, stream));
            }
            return stream;
        },
        [&](size_t piece, char *slot) { copy(piece, slot, false); });
}

static unsigned blocks_for(size_t count)
{
    return static_cast<unsigned>((count - 1) / BLOCK + 1);
}

extern "C" void solution_compute(int N, int total_verts, int world_size_x100, int cell_size_x100,
                                 const int *poly_offsets, const float *vertices_x,
                                 const float *vertices_y, const float *aabb, int *counts)
{
    (void)aabb; // made from the vertices: cheaper than to bring it
    const bool few = N <= FEW;
    const size_t n = N, vertices = total_verts;
    const Levels levels = make_levels(static_cast<float>(world_size_x100) / 100.0f,
                                      static_cast<float>(cell_size_x100) / 100.0f);
    const int cells = few ? 0 : levels.first_cell[levels.count], parts = cells / PART + 1;

    size_t end = 0;
    auto place = [&](size_t bytes) {
        const size_t from = end;
        end += (bytes + 255) / 256 * 256;
        return from;
    };
    const size_t offsets = place((n + 1) * sizeof(int)), xs = place(vertices * sizeof(float)),
                 ys = place(vertices * sizeof(float)), zero = place(0),
                 result = place(n * sizeof(int)), counter = place(sizeof(int)),
                 cell_start = place((cells + 1) * sizeof(int)), zero_end = place(0),
                 part_sums = place(parts * sizeof(int)), cell = place(few ? 0 : n * sizeof(int)),
                 rank = place(few ? 0 : n * sizeof(int)), index = place(n * sizeof(int)),
                 boxes = place(n * sizeof(float4)), outlines = place(n * VERTICES * sizeof(float2));
    Scene s;
    char *memory = nullptr;
    auto set_up = [&] {
        auto ints = [&](size_t from) { return reinterpret_cast<int *>(memory + from); };
        s.polygons = N;
        s.offsets = ints(offsets);
        s.xs = reinterpret_cast<const float *>(memory + xs);
        s.ys = reinterpret_cast<const float *>(memory + ys);
        s.cell = ints(cell);
        s.rank = ints(rank);
        s.index = ints(index);
        s.cell_start = ints(cell_start);
        s.part_sums = ints(part_sums);
        s.levels_used = reinterpret_cast<unsigned *>(memory + counter);
        s.boxes = reinterpret_cast<float4 *>(memory + boxes);
        s.outlines = reinterpret_cast<float2 *>(memory + outlines);
        s.counts = ints(result);
    };
    auto work = [&](cudaStream_t stream) {
        const unsigned blocks = blocks_for(N), corner_blocks = blocks_for(n * VERTICES),
                       team_blocks = blocks_for(n * TEAM);
        if (few) {
            place_polygons<true><<<corner_blocks, BLOCK, 0, stream>>>(s);
            CHECK(cudaGetLastError());
            const dim3 grid(team_blocks, (N - 1) / CHUNK + 1);
            find_pairs<true><<<grid, BLOCK, 0, stream>>>(s, levels);
        } else {
            find_cells<<<blocks, BLOCK, 0, stream>>>(s, levels);
            CHECK(cudaGetLastError());
            sum_parts<<<parts, BLOCK, 0, stream>>>(s, cells);
            CHECK(cudaGetLastError());
            place_cells<<<parts, BLOCK, 0, stream>>>(s, cells);
            CHECK(cudaGetLastError());
            place_polygons<false><<<corner_blocks, BLOCK, 0, stream>>>(s);
            CHECK(cudaGetLastError());
            int device, processors;
            CHECK(cudaGetDevice(&device));
            CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
            const unsigned most = processors * (WARPS_PER_SM / WARPS);
            const unsigned resident = team_blocks < most ? team_blocks : most;
            find_pairs<false><<<resident, BLOCK, 0, stream>>>(s, levels);
        }
        CHECK(cudaGetLastError());
    };

    if (zero > RING) {
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        transfer::Array in[3] = {{nullptr, poly_offsets, (n + 1) * sizeof(int)},
                                 {nullptr, vertices_x, vertices * sizeof(float)},
                                 {nullptr, vertices_y, vertices * sizeof(float)}};
        transfer::Array out[1] = {{nullptr, counts, n * sizeof(int)}};
        const transfer::Shape shape = {transfer::threads_for(8), 32, size_t(256) << 10};
        through_ring(
            shape, in, out, stream,
            [&] {
                CHECK(cudaMalloc(&memory, end));
                set_up();
                in[0].device = memory + offsets;
                in[1].device = memory + xs;
                in[2].device = memory + ys;
                out[0].device = memory + result;
                CHECK(cudaMemsetAsync(memory + zero, 0, zero_end - zero, stream));
            },
            [&] { work(stream); });
        CHECK(cudaStreamDestroy(stream));
        CHECK(cudaFree(memory));
        return;
    }
    if (end <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, end));
    set_up();
    CHECK(cudaMemsetAsync(memory + zero, 0, zero_end - zero));
    CHECK(cudaMemcpyAsync(memory + offsets, poly_offsets, (n + 1) * sizeof(int),
                          cudaMemcpyHostToDevice));
    CHECK(
        cudaMemcpyAsync(memory + xs, vertices_x, vertices * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(
        cudaMemcpyAsync(memory + ys, vertices_y, vertices * sizeof(float), cudaMemcpyHostToDevice));
    work(nullptr);
    CHECK(cudaMemcpy(counts, memory + result, n * sizeof(int), cudaMemcpyDeviceToHost));
    if (end > ARENA)
        CHECK(cudaFree(memory));
}
