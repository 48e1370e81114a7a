// Density clustering: cells of mutual neighbours in a hash table, clusters by joining cells; one
// kernel.
//
// Approach: cells are so small that points of one are neighbours. Any coordinates: cells are found
// through a hash table, in which points count themselves; then they are placed by cell. A warp a
// cell: where there are more than minPts points all are core points; else the points of the 25
// cells around are counted, some at a time, until all own points have enough. Components are made
// of cells: two cells are compared until one near pair of core points is found, adjacent ones
// first, so that most others are joined already (union-find without locks). First points of
// clusters are bits, whose sums are the numbers; border points look around once more. All steps are
// one cooperative kernel. With as many threads as points what is known of a point stays in
// registers between the steps, and a small table of cells will mostly do, so that up to some 40 000
// points need no allocation.
//
// What bounds it: ten dependent steps with a barrier across the grid each (51, 66 and 122 us), and
// the copies, which take longer than that from medium on; at large the allocation.
//
// Tried: everything in device memory at medium (2.4 times as long: an allocation and its release);
// counting point by point, cell by cell (find_cores 33 us instead of 12 at medium, 67 instead of 20
// at large); two or eight blocks a multiprocessor (no difference); a ring of pinned slots (a tenth
// slower at large, more than half at medium).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.13 ms, medium 0.19 ms, large 0.54 ms. The call
// floor is 17 % and 14 % of the first two. Naive: 27, 57 and 359 ms.
#include "check.cuh"

#include <climits>
#include <cmath>
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;

constexpr size_t ARENA = 1000 * 1000; // bytes
constexpr int BLOCK = 256, BLOCKS_PER_SM = 4;
constexpr int STENCIL = 25;
constexpr int NOISE = -2;
constexpr int KEPT = 4; // points around a cell that a lane takes at a time
constexpr unsigned ALL = ~0u;
constexpr unsigned long long EMPTY = 0, IN_USE = 1ull << 63; // no key is 0
constexpr int KEY_SHIFT = 1 << 30;                           // keeps the halves of a key positive
constexpr int PROBES = 256; // of a small table, before it counts as full

static __device__ __align__(256) char arena[ARENA];

// What is per cell is indexed by the cell's slot of the table.
struct Cloud {
    int points, min_pts, table_bits;
    int cells_most;       // of a small table
    float largest_square; // near: a square of at most this
    double reach, edge, per_edge;
    const float *xs, *ys;
    unsigned long long *key;
    int *count, *start, *parent, *first; // first: smallest core point, INT_MAX where there is none
    int *cells;                          // slots in use
    unsigned *seeds;                     // bits: first points of clusters
    int *seeds_before;                   // for each word of seeds
    int *cell_count, *placed, *full;
    int *slot, *rank; // of a point, in the original order
    float2 *position; // by cell, as the next two; of a small table where xs and ys were
    int *index;
    unsigned char *core;
    int *labels;
};

static __device__ int cell_along(const Cloud &c, float coordinate)
{
    return __double2int_rd(static_cast<double>(coordinate) * c.per_edge);
}

static __device__ unsigned long long key_of(int cx, int cy)
{
    return IN_USE | static_cast<unsigned long long>(cx + KEY_SHIFT) << 32 |
           static_cast<unsigned>(cy + KEY_SHIFT);
}

static __device__ unsigned hash(const Cloud &c, unsigned long long key)
{
    return static_cast<unsigned>((key * 0x9E3779B97F4A7C15ull) >> (64 - c.table_bits));
}

static __device__ bool near(const Cloud &c, float2 a, float2 b)
{
    const float dx = a.x - b.x, dy = a.y - b.y;
    return __fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)) <= c.largest_square;
}

// The slot of a cell, -1 where it has no points.
static __device__ int look_up(const Cloud &c, int cx, int cy)
{
    const unsigned long long wanted = key_of(cx, cy);
    const unsigned mask = (1u << c.table_bits) - 1;
    for (unsigned s = hash(c, wanted);; s = (s + 1) & mask) {
        const unsigned long long there = c.key[s];
        if (there == wanted)
            return static_cast<int>(s);
        if (there == EMPTY)
            return -1;
    }
}

static __device__ void cell_of_slot(const Cloud &c, int slot, int *cx, int *cy)
{
    const unsigned long long key = c.key[slot];
    *cx = static_cast<int>(key >> 32 & 0x7fffffffu) - KEY_SHIFT;
    *cy = static_cast<int>(key & 0xffffffffu) - KEY_SHIFT;
}

// --- components of cells: a parent has a smaller slot ---

static __device__ int parent_of(const Cloud &c, int s)
{
    return *const_cast<volatile int *>(c.parent + s);
}

static __device__ int find(const Cloud &c, int s)
{
    int at = parent_of(c, s), before = s;
    for (int next; at > (next = parent_of(c, at)); at = next) {
        *const_cast<volatile int *>(c.parent + before) = next; // halves the way
        before = at;
    }
    return at;
}

static __device__ void join(const Cloud &c, int a, int b)
{
    for (;;) {
        a = find(c, a);
        b = find(c, b);
        if (a == b)
            return;
        const int larger = max(a, b), smaller = min(a, b);
        if (atomicCAS(&c.parent[larger], larger, smaller) == larger)
            return;
    }
}

// --- the steps ---

struct Place {
    int slot, rank; // the cell, and the number of the point in it
};

static __device__ Place insert_point(const Cloud &c, float x, float y, int probes)
{
    const unsigned long long key = key_of(cell_along(c, x), cell_along(c, y));
    const unsigned mask = (1u << c.table_bits) - 1;
    unsigned s = hash(c, key);
    for (int probe = 0; probe < probes; probe++, s = (s + 1) & mask) {
        unsigned long long there = *const_cast<volatile unsigned long long *>(c.key + s);
        if (there == EMPTY) {
            there = atomicCAS(&c.key[s], EMPTY, key);
            if (there == EMPTY) {
                c.cells[atomicAdd(c.cell_count, 1)] = static_cast<int>(s);
                there = key;
            }
        }
        if (there == key)
            return Place{static_cast<int>(s), atomicAdd(&c.count[s], 1)};
    }
    *c.full = 1;
    return Place{0, 0};
}

struct Around { // a lane has one of the 25 cells around
    int slot, count, start;
};

static __device__ Around look_around(const Cloud &c, int slot, int lane)
{
    Around around = {-1, 0, 0};
    int cx, cy;
    cell_of_slot(c, slot, &cx, &cy);
    if (lane < STENCIL)
        around.slot = look_up(c, cx + lane % 5 - 2, cy + lane / 5 - 2);
    if (around.slot >= 0) {
        around.count = c.count[around.slot];
        around.start = c.start[around.slot];
    }
    return around;
}

// The points of the cells around, numbered from 0: which of the cells has number t? (The lane that
// looked at it.) `sum`: a lane's count and those of the lanes before it.
static __device__ int cell_with(int sum, int t)
{
    int ret = 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        if (__shfl_sync(ALL, sum, ret + step - 1) <= t)
            ret += step;
    return ret;
}

static __device__ int sum_up_to(int count, int lane)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(ALL, count, d);
        if (lane >= d)
            count += below;
    }
    return count;
}

// A warp a cell: which points are core points? In a cell with enough points all are. Elsewhere the
// points around are taken some at a time, until all own points have enough neighbours. Each lane
// counts for one of these.
static __device__ void find_cores(const Cloud &c, int slot, int lane)
{
    const int count = c.count[slot], start = c.start[slot];
    int first = INT_MAX;
    if (count > c.min_pts) {
        for (int k = lane; k < count; k += 32) {
            c.core[start + k] = 1;
            first = min(first, c.index[start + k]);
        }
    } else {
        const Around around = look_around(c, slot, lane);
        const int sum = sum_up_to(around.count, lane), total = __shfl_sync(ALL, sum, 31);
        const int before = around.start + around.count - sum;
        for (int group = 0; group < count; group += 32) {
            const int points = min(count - group, 32),
                      own_at = start + group + min(lane, points - 1);
            const float2 own = c.position[own_at];
            int neighbours = -1; // the point itself
            for (int base = 0; base < total; base += 32 * KEPT) {
                float2 kept[KEPT];
#pragma unroll
                for (int m = 0; m < KEPT; m++) {
                    const int t = base + m * 32 + lane;
                    const int at = __shfl_sync(ALL, before, cell_with(sum, t)) + t;
                    kept[m] = t < total ? c.position[at] : make_float2(INFINITY, INFINITY);
                }
                for (int k = 0; k < points; k++) {
                    const float2 p =
                        make_float2(__shfl_sync(ALL, own.x, k), __shfl_sync(ALL, own.y, k));
                    int found = 0;
#pragma unroll
                    for (int m = 0; m < KEPT; m++)
                        found += __popc(__ballot_sync(ALL, near(c, p, kept[m])));
                    if (lane == k)
                        neighbours += found;
                }
                if (__all_sync(ALL, lane >= points || neighbours >= c.min_pts))
                    break;
            }
            const bool core = neighbours >= c.min_pts;
            if (lane < points) {
                c.core[own_at] = core;
                if (core)
                    first = min(first, c.index[own_at]);
            }
        }
    }
    first = __reduce_min_sync(ALL, first);
    if (lane == 0) {
        c.first[slot] = first;
        c.parent[slot] = slot;
    }
}

// Has cell a a core point near one of cell b, which lies at column bx, row by?
static __device__ bool touching(const Cloud &c, int a, int b, int bx, int by, int lane)
{
    const int count_a = c.count[a], start_a = c.start[a], count_b = c.count[b],
              start_b = c.start[b];
    const double left = bx * c.edge, bottom = by * c.edge;
    for (int k = 0; k < count_a; k += 32) {
        float2 own = make_float2(0, 0);
        bool candidate = k + lane < count_a && c.core[start_a + k + lane];
        if (candidate) { // is any place of cell b within reach?
            own = c.position[start_a + k + lane];
            const double dx = fmax(fmax(left - own.x, own.x - left - c.edge), 0.0),
                         dy = fmax(fmax(bottom - own.y, own.y - bottom - c.edge), 0.0);
            candidate = dx * dx + dy * dy <= c.reach * c.reach;
        }
        for (unsigned left_over = __ballot_sync(ALL, candidate); left_over;
             left_over &= left_over - 1) {
            const int from = __ffs(left_over) - 1;
            const float2 p =
                make_float2(__shfl_sync(ALL, own.x, from), __shfl_sync(ALL, own.y, from));
            for (int q = 0; q < count_b; q += 32) {
                const int at = start_b + q + lane;
                if (__any_sync(ALL, q + lane < count_b && c.core[at] && near(c, p, c.position[at])))
                    return true;
            }
        }
    }
    return false;
}

// Half of the stencil, the nearer cells first: most cells further away are joined by way of them.
static __device__ const signed char WAYS[12][2] = {{1, 0}, {0, 1},  {1, 1}, {-1, 1},
                                                   {2, 0}, {0, 2},  {2, 1}, {2, -1},
                                                   {1, 2}, {-1, 2}, {2, 2}, {-2, 2}};

static __device__ void join_neighbours(const Cloud &c, int slot, int way, int end, int lane)
{
    if (c.first[slot] == INT_MAX)
        return;
    int cx, cy, other = -1;
    cell_of_slot(c, slot, &cx, &cy);
    if (way + lane < end)
        other = look_up(c, cx + WAYS[way + lane][0], cy + WAYS[way + lane][1]);
    if (other >= 0 && c.first[other] == INT_MAX)
        other = -1;
    for (unsigned there = __ballot_sync(ALL, other >= 0); there; there &= there - 1) {
        const int l = __ffs(there) - 1, b = __shfl_sync(ALL, other, l);
        int apart = 0;
        if (lane == 0)
            apart = find(c, slot) != find(c, b);
        if (!__shfl_sync(ALL, apart, 0))
            continue;
        const bool near_pair =
            touching(c, slot, b, cx + WAYS[way + l][0], cy + WAYS[way + l][1], lane);
        if (near_pair && lane == 0)
            join(c, slot, b);
        __syncwarp();
    }
}

// One block: how many first points lie before each word.
static __device__ void count_seeds(const Cloud &c)
{
    __shared__ int sums[BLOCK / 32];
    const int words = (c.points + 31) / 32, each = (words + BLOCK - 1) / BLOCK;
    const int from = threadIdx.x * each, to = min(from + each, words), lane = threadIdx.x % 32,
              warp = threadIdx.x / 32;
    int own = 0;
#pragma unroll 8
    for (int w = from; w < to; w++)
        own += __popc(c.seeds[w]);
    int sum = own;
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(ALL, sum, d);
        if (lane >= d)
            sum += below;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    int before = sum - own;
    for (int w = 0; w < warp; w++)
        before += sums[w];
    for (int w = from; w < to; w++) {
        c.seeds_before[w] = before;
        before += __popc(c.seeds[w]);
    }
}

static __device__ int number_of(const Cloud &c, int seed)
{
    const unsigned below = (1u << seed % 32) - 1;
    return c.seeds_before[seed / 32] + __popc(c.seeds[seed / 32] & below) + 1;
}

static __device__ void label_points(const Cloud &c, int slot, int lane)
{
    const int count = c.count[slot], start = c.start[slot];
    int number = 0;
    if (c.first[slot] != INT_MAX)
        number = number_of(c, c.first[find(c, slot)]);
    bool all_core = true;
    for (int k = lane; k < count; k += 32) {
        if (c.core[start + k])
            c.labels[c.index[start + k]] = number;
        else
            all_core = false;
    }
    if (__all_sync(ALL, all_core))
        return;
    const Around around = look_around(c, slot, lane);
    int cluster = 0, seed = -1;
    if (around.slot >= 0 && c.first[around.slot] != INT_MAX) {
        seed = c.first[find(c, around.slot)];
        cluster = number_of(c, seed);
    }
    const int around_count = cluster > 0 ? around.count : 0, sum = sum_up_to(around_count, lane),
              total = __shfl_sync(ALL, sum, 31), before = around.start + around_count - sum;
    for (int group = 0; group < count; group += 32) {
        const bool real = group + lane < count;
        const int own_at = start + min(group + lane, count - 1);
        const float2 own = c.position[own_at];
        const bool asks = real && !c.core[own_at];
        const unsigned asking = __ballot_sync(ALL, asks);
        int smallest = INT_MAX, opened = 0;
        for (int base = 0; asking && base < total; base += 32 * KEPT) {
            float2 kept[KEPT]; // core points around
            int kept_cluster[KEPT], kept_opened[KEPT];
#pragma unroll
            for (int m = 0; m < KEPT; m++) {
                const int t = base + m * 32 + lane, l = cell_with(sum, t);
                const int at = __shfl_sync(ALL, before, l) + t,
                          its_seed = __shfl_sync(ALL, seed, l);
                kept_cluster[m] = __shfl_sync(ALL, cluster, l);
                const bool there = t < total && c.core[at];
                kept[m] = there ? c.position[at] : make_float2(INFINITY, INFINITY);
                kept_opened[m] = there && c.index[at] == its_seed ? kept_cluster[m] : 0;
            }
            for (unsigned left = asking; left; left &= left - 1) {
                const int k = __ffs(left) - 1;
                const float2 p =
                    make_float2(__shfl_sync(ALL, own.x, k), __shfl_sync(ALL, own.y, k));
                int near_smallest = INT_MAX, near_opened = 0;
#pragma unroll
                for (int m = 0; m < KEPT; m++)
                    if (near(c, p, kept[m])) {
                        near_smallest = min(near_smallest, kept_cluster[m]);
                        near_opened = max(near_opened, kept_opened[m]);
                    }
                near_smallest = __reduce_min_sync(ALL, near_smallest);
                near_opened = __reduce_max_sync(ALL, near_opened);
                if (lane == k) {
                    smallest = min(smallest, near_smallest);
                    opened = max(opened, near_opened);
                }
            }
        }
        if (asks)
            c.labels[c.index[own_at]] = smallest == INT_MAX ? NOISE : max(smallest, opened);
    }
}

// HELD: there are as many threads as points. Each keeps what it knows of its own; and the table may
// prove too small, which the first label says by being 0.
template <bool HELD>
static __global__ void __launch_bounds__(BLOCK) cluster(const __grid_constant__ Cloud c)
{
    const cg::grid_group grid = cg::this_grid();
    const int thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    const int lane = threadIdx.x % 32, warp = thread / 32, warps = threads / 32;

    Place own = {0, 0};
    float x = 0, y = 0;
    if (!HELD) {
        for (int i = thread; i < c.points; i += threads) {
            const Place place = insert_point(c, c.xs[i], c.ys[i], INT_MAX);
            c.slot[i] = place.slot;
            c.rank[i] = place.rank;
        }
    } else if (thread < c.points) {
        x = c.xs[thread];
        y = c.ys[thread];
        own = insert_point(c, x, y, PROBES);
    }
    grid.sync();
    const int cells = *c.cell_count;
    if (HELD && (cells > c.cells_most || *c.full)) {
        if (thread == 0)
            c.labels[0] = 0;
        return;
    }
    for (int base = warp * 32; base < cells; base += warps * 32) {
        const int own = base + lane, slot = own < cells ? c.cells[own] : -1;
        const int count = slot < 0 ? 0 : c.count[slot];
        int sum = count;
        for (int d = 1; d < 32; d *= 2) {
            const int below = __shfl_up_sync(ALL, sum, d);
            if (lane >= d)
                sum += below;
        }
        int from = 0;
        if (lane == 31)
            from = atomicAdd(c.placed, sum);
        from = __shfl_sync(ALL, from, 31);
        if (slot >= 0)
            c.start[slot] = from + sum - count;
    }
    grid.sync();
    if (!HELD) {
        for (int i = thread; i < c.points; i += threads) {
            const int at = c.start[c.slot[i]] + c.rank[i];
            c.position[at] = make_float2(c.xs[i], c.ys[i]);
            c.index[at] = i;
        }
    } else if (thread < c.points) {
        const int at = c.start[own.slot] + own.rank;
        c.position[at] = make_float2(x, y);
        c.index[at] = thread;
    }
    grid.sync();
    for (int k = warp; k < cells; k += warps)
        find_cores(c, c.cells[k], lane);
    grid.sync();
    for (int k = warp; k < cells; k += warps)
        join_neighbours(c, c.cells[k], 0, 4, lane);
    grid.sync();
    for (int k = warp; k < cells; k += warps)
        join_neighbours(c, c.cells[k], 4, 12, lane);
    grid.sync();
    for (int k = thread; k < cells; k += threads) {
        const int slot = c.cells[k], first = c.first[slot];
        if (first != INT_MAX) {
            const int root = find(c, slot);
            if (root != slot)
                atomicMin(&c.first[root], first);
        }
    }
    grid.sync();
    for (int k = thread; k < cells; k += threads) {
        const int slot = c.cells[k], first = c.first[slot];
        if (first != INT_MAX && c.parent[slot] == slot)
            atomicOr(&c.seeds[first / 32], 1u << first % 32);
    }
    grid.sync();
    if (blockIdx.x == 0)
        count_seeds(c);
    grid.sync();
    for (int k = warp; k < cells; k += warps)
        label_points(c, c.cells[k], lane);
}

// The largest float whose root, correctly rounded, is at most eps: decides like the root.
static float largest_square_within(float eps)
{
    float square = eps * eps;
    while (std::sqrt(square) > eps)
        square = std::nextafter(square, 0.0f);
    while (std::sqrt(std::nextafter(square, INFINITY)) <= eps)
        square = std::nextafter(square, INFINITY);
    return square;
}

// Where all lies, from `memory` on. Returns the bytes of all, and of what must be 0, which is
// first.
struct Layout {
    size_t zero, all;
};

static Layout lay_out(Cloud *c, bool held, char *memory)
{
    const size_t n = c->points, table = size_t(1) << c->table_bits, words = (n + 31) / 32;
    size_t at = 0;
    auto place = [&](size_t bytes) {
        char *const from = memory + at;
        at += (bytes + 15) / 16 * 16;
        return from;
    };
    auto ints = [&](size_t count) { return reinterpret_cast<int *>(place(count * sizeof(int))); };
    c->key = reinterpret_cast<unsigned long long *>(place(table * sizeof(unsigned long long)));
    c->count = ints(table);
    c->seeds = reinterpret_cast<unsigned *>(ints(words));
    c->cell_count = ints(3);
    c->placed = c->cell_count + 1;
    c->full = c->cell_count + 2;
    const size_t zero = at;
    float *const coordinates = reinterpret_cast<float *>(place(2 * n * sizeof(float)));
    c->xs = coordinates;
    c->ys = coordinates + n;
    c->start = ints(table);
    c->parent = ints(table);
    c->first = ints(table);
    c->cells = ints(held ? table : n);
    c->seeds_before = ints(words);
    c->slot = held ? nullptr : ints(n);
    c->rank = held ? nullptr : ints(n);
    c->position = reinterpret_cast<float2 *>(held ? reinterpret_cast<char *>(coordinates)
                                                  : place(n * sizeof(float2)));
    c->index = ints(n);
    c->core = reinterpret_cast<unsigned char *>(place(n));
    c->labels = ints(n);
    return Layout{zero, at};
}

template <bool HELD>
static void run(const Cloud &cloud, char *memory, size_t zero, const float *xs, const float *ys,
                int *labels, unsigned blocks)
{
    Cloud c = cloud;
    const size_t n = c.points;
    CHECK(cudaMemsetAsync(memory, 0, zero));
    CHECK(
        cudaMemcpyAsync(const_cast<float *>(c.xs), xs, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(
        cudaMemcpyAsync(const_cast<float *>(c.ys), ys, n * sizeof(float), cudaMemcpyHostToDevice));
    void *arguments[] = {&c};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(cluster<HELD>), dim3(blocks),
                                      dim3(BLOCK), arguments, 0, nullptr));
    CHECK(cudaMemcpy(labels, c.labels, n * sizeof(int), cudaMemcpyDeviceToHost));
}

template <bool HELD> static size_t blocks_for(size_t points)
{
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, cluster<HELD>, BLOCK, 0));
    const size_t most = static_cast<size_t>(processors) *
                        (resident < BLOCKS_PER_SM ? resident : BLOCKS_PER_SM),
                 useful = (points + 7) / 8; // a warp a point
    return most < useful ? most : useful;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts,
                                 int *labels)
{
    const size_t n = N;
    Cloud c = {};
    c.points = N;
    c.min_pts = minPts;
    c.largest_square = largest_square_within(eps);
    // A little smaller than needed for points of a cell to be neighbours, whatever the rounding.
    c.edge = static_cast<double>(eps) * std::sqrt(0.5) * (1 - 1e-5);
    c.per_edge = 1 / c.edge;
    c.reach = static_cast<double>(eps) * (1 + 1e-3);
    int full_bits = 6; // of a table that holds a cell for each point
    while ((size_t(1) << full_bits) < n + n / 2)
        full_bits++;

    // The largest table with which all fits the arena, if points are not much more than cells.
    char *memory = nullptr;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    c.table_bits = full_bits;
    while (c.table_bits > 6 && lay_out(&c, true, memory).all > ARENA)
        c.table_bits--;
    const Layout small = lay_out(&c, true, memory);
    const size_t held_blocks = small.all <= ARENA ? blocks_for<true>(n) : 0;
    if (held_blocks * BLOCK >= n && (size_t(1) << c.table_bits) >= n / 8) {
        c.cells_most = c.table_bits == full_bits ? N : 3 << (c.table_bits - 2);
        run<true>(c, memory, small.zero, xs, ys, labels, static_cast<unsigned>(held_blocks));
        if (labels[0] != 0)
            return;
    }
    c.table_bits = full_bits;
    const Layout full = lay_out(&c, false, memory);
    const bool fits = full.all <= ARENA;
    if (!fits)
        CHECK(cudaMalloc(&memory, full.all));
    lay_out(&c, false, memory);
    run<false>(c, memory, full.zero, xs, ys, labels, static_cast<unsigned>(blocks_for<false>(n)));
    if (!fits)
        CHECK(cudaFree(memory));
}
