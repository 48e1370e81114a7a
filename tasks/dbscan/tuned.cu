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
// one cooperative kernel.
//
// What bounds it: ten dependent steps with a barrier across the grid each (51, 66 and 122 us),
// and copies and allocation, which take longer than that from medium on.
//
// Tried: counting point by point, cell by cell (find_cores 33 us instead of 12 at medium, 67
// instead of 20 at large); two or eight blocks a multiprocessor (no difference); a ring of pinned
// slots (a tenth slower at large, more than half at medium).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.10 ms, medium 0.29 ms, large
// 0.63 ms (22 %, 9 % and 8 % of bytes and 20 us; naive 27, 57 and 359 ms). An evaluation, which
// comes to a call with cold caches, takes 0.15 ms at small.
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
constexpr unsigned long long EMPTY = ~0ull;
constexpr int KEY_SHIFT = 1 << 30; // keeps the halves of a key positive

static __device__ __align__(256) char arena[ARENA];

// What is per cell is indexed by the cell's slot of the table.
struct Cloud {
    int points, min_pts, table_bits;
    float largest_square; // near: a square of at most this
    double reach, edge, per_edge;
    const float *xs, *ys;
    unsigned long long *key;
    int *count, *start, *parent, *first; // first: smallest core point, INT_MAX where there is none
    int *cells;                          // slots in use
    unsigned *seeds;                     // bits: first points of clusters
    int *seeds_before;                   // for each word of seeds
    int *cell_count, *placed;
    int *slot, *rank; // of a point, in the original order
    float2 *position; // by cell, as the next two
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
    return static_cast<unsigned long long>(cx + KEY_SHIFT) << 32 |
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
    *cx = static_cast<int>(key >> 32) - KEY_SHIFT;
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

static __device__ void insert_point(const Cloud &c, int i)
{
    const unsigned long long key = key_of(cell_along(c, c.xs[i]), cell_along(c, c.ys[i]));
    const unsigned mask = (1u << c.table_bits) - 1;
    for (unsigned s = hash(c, key);; s = (s + 1) & mask) {
        unsigned long long there = *const_cast<volatile unsigned long long *>(c.key + s);
        if (there == EMPTY) {
            there = atomicCAS(&c.key[s], EMPTY, key);
            if (there == EMPTY) {
                c.cells[atomicAdd(c.cell_count, 1)] = static_cast<int>(s);
                there = key;
            }
        }
        if (there == key) {
            c.slot[i] = static_cast<int>(s);
            c.rank[i] = atomicAdd(&c.count[s], 1);
            return;
        }
    }
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

static __global__ void __launch_bounds__(BLOCK) cluster(const __grid_constant__ Cloud c)
{
    const cg::grid_group grid = cg::this_grid();
    const int thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    const int lane = threadIdx.x % 32, warp = thread / 32, warps = threads / 32;

    for (int i = thread; i < c.points; i += threads)
        insert_point(c, i);
    grid.sync();
    const int cells = *c.cell_count;
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
    for (int i = thread; i < c.points; i += threads) {
        const int at = c.start[c.slot[i]] + c.rank[i];
        c.position[at] = make_float2(c.xs[i], c.ys[i]);
        c.index[at] = i;
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

extern "C" void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts,
                                 int *labels)
{
    const size_t n = N;
    Cloud c;
    c.points = N;
    c.min_pts = minPts;
    c.largest_square = largest_square_within(eps);
    // A little smaller than needed for points of a cell to be neighbours, whatever the rounding.
    c.edge = static_cast<double>(eps) * std::sqrt(0.5) * (1 - 1e-5);
    c.per_edge = 1 / c.edge;
    c.reach = static_cast<double>(eps) * (1 + 1e-3);
    c.table_bits = 6;
    while ((size_t(1) << c.table_bits) < n + n / 2)
        c.table_bits++;
    const size_t table = size_t(1) << c.table_bits, words = (n + 31) / 32;

    // What must be 0 lies together.
    char *memory = nullptr;
    size_t at = 0;
    auto place = [&](size_t bytes) {
        const size_t from = at;
        at += (bytes + 15) / 16 * 16;
        return from;
    };
    const size_t key = place(table * sizeof(unsigned long long)),
                 count = place(table * sizeof(int)), seeds = place(words * sizeof(unsigned)),
                 counters = place(2 * sizeof(int)), zero_end = at, x = place(n * sizeof(float)),
                 y = place(n * sizeof(float)), start = place(table * sizeof(int)),
                 parent = place(table * sizeof(int)), first = place(table * sizeof(int)),
                 cells = place(n * sizeof(int)), before = place(words * sizeof(int)),
                 slot = place(n * sizeof(int)), rank = place(n * sizeof(int)),
                 position = place(n * sizeof(float2)), index = place(n * sizeof(int)),
                 core = place(n), label = place(n * sizeof(int));
    if (at <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, at));
    auto ints = [&](size_t from) { return reinterpret_cast<int *>(memory + from); };
    c.key = reinterpret_cast<unsigned long long *>(memory + key);
    c.xs = reinterpret_cast<const float *>(memory + x);
    c.ys = reinterpret_cast<const float *>(memory + y);
    c.count = ints(count);
    c.start = ints(start);
    c.parent = ints(parent);
    c.first = ints(first);
    c.cells = ints(cells);
    c.seeds = reinterpret_cast<unsigned *>(memory + seeds);
    c.seeds_before = ints(before);
    c.cell_count = ints(counters);
    c.placed = ints(counters) + 1;
    c.slot = ints(slot);
    c.rank = ints(rank);
    c.position = reinterpret_cast<float2 *>(memory + position);
    c.index = ints(index);
    c.core = reinterpret_cast<unsigned char *>(memory + core);
    c.labels = ints(label);

    CHECK(cudaMemsetAsync(memory + key, 0xff, table * sizeof(unsigned long long)));
    CHECK(cudaMemsetAsync(memory + count, 0, zero_end - count));
    CHECK(cudaMemcpyAsync(memory + x, xs, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(memory + y, ys, n * sizeof(float), cudaMemcpyHostToDevice));
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, cluster, BLOCK, 0));
    const size_t most = static_cast<size_t>(processors) *
                        (resident < BLOCKS_PER_SM ? resident : BLOCKS_PER_SM),
                 useful = (n + 7) / 8; // a warp a point
    void *arguments[] = {&c};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(cluster),
                                      dim3(static_cast<unsigned>(most < useful ? most : useful)),
                                      dim3(BLOCK), arguments, 0, nullptr));
    CHECK(cudaMemcpy(labels, memory + label, n * sizeof(int), cudaMemcpyDeviceToHost));
    if (at > ARENA)
        CHECK(cudaFree(memory));
}
