// step: P05+C02+B01 on 07-C12.cu
// A warp works on a cell of a list of those in use, with 25 lanes for the cells around: candidates
// are read side by side, components are made of cells instead of points, and two cells are compared
// until a near pair is found.
#include "check.cuh"

#include <climits>
#include <cmath>

constexpr int BLOCK = 256, WARPS = BLOCK / 32;
constexpr int STENCIL = 25, CENTRE = 12;
constexpr int NOISE = -2;
constexpr unsigned ALL = ~0u;
constexpr unsigned long long EMPTY = ~0ull;
constexpr int KEY_SHIFT = 1 << 30; // keeps the halves of a key positive

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

// The cells around a cell
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

// A warp a cell: which points are core points? In a cell with enough points all are.
static __device__ void find_cores(const Cloud &c, int slot, int lane)
{
    const int count = c.count[slot], start = c.start[slot];
    int first = INT_MAX;
    if (count > c.min_pts) {
        for (int k = lane; k < count; k += 32) {
            c.core[start + k] = 1;
            first = min(first, c.index[start + k]);
        }
        first = __reduce_min_sync(ALL, first);
    } else {
        const Around around = look_around(c, slot, lane);
        for (int k = 0; k < count; k++) {
            const float2 own = c.position[start + k];
            int neighbours = count - 1;
            for (int l = 0; l < STENCIL && neighbours < c.min_pts; l++) {
                const int others = __shfl_sync(ALL, around.count, l),
                          from = __shfl_sync(ALL, around.start, l);
                if (l == CENTRE)
                    continue;
                for (int q = 0; q < others && neighbours < c.min_pts; q += 32)
                    neighbours += __popc(__ballot_sync(
                        ALL, q + lane < others && near(c, own, c.position[from + q + lane])));
            }
            const bool core = neighbours >= c.min_pts;
            if (lane == 0)
                c.core[start + k] = core;
            if (core)
                first = min(first, c.index[start + k]);
        }
    }
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
    for (int k = 0; k < count; k++) {
        if (c.core[start + k])
            continue;
        const float2 own = c.position[start + k];
        int smallest = INT_MAX, opened = 0;
        for (unsigned there = __ballot_sync(ALL, cluster > 0); there; there &= there - 1) {
            const int l = __ffs(there) - 1;
            const int others = __shfl_sync(ALL, around.count, l),
                      from = __shfl_sync(ALL, around.start, l), its = __shfl_sync(ALL, cluster, l),
                      its_seed = __shfl_sync(ALL, seed, l);
            for (int q = 0; q < others; q += 32) {
                const int at = from + q + lane;
                const bool touches =
                    q + lane < others && c.core[at] && near(c, own, c.position[at]);
                if (__any_sync(ALL, touches))
                    smallest = min(smallest, its);
                if (__any_sync(ALL, touches && c.index[at] == its_seed))
                    opened = max(opened, its);
            }
        }
        if (lane == 0)
            c.labels[c.index[start + k]] = smallest == INT_MAX ? NOISE : max(smallest, opened);
    }
}

static __global__ void insert_points(Cloud c)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < c.points)
        insert_point(c, i);
}

// Cells get places in any order.
static __global__ void place_cells(Cloud c)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < *c.cell_count)
        c.start[c.cells[k]] = atomicAdd(c.placed, c.count[c.cells[k]]);
}

static __global__ void place_points(Cloud c)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= c.points)
        return;
    const int at = c.start[c.slot[i]] + c.rank[i];
    c.position[at] = make_float2(c.xs[i], c.ys[i]);
    c.index[at] = i;
}

// Calls use(slot, lane) with a warp for each cell.
template <typename Use> static __device__ void warp_for_cell(const Cloud &c, Use use)
{
    const int lane = threadIdx.x % 32, cells = *c.cell_count;
    for (int k = (blockIdx.x * BLOCK + threadIdx.x) / 32; k < cells; k += gridDim.x * WARPS)
        use(c.cells[k], lane);
}

static __global__ void find_all_cores(Cloud c)
{
    warp_for_cell(c, [&](int slot, int lane) { find_cores(c, slot, lane); });
}

static __global__ void join_cells(Cloud c, int way, int end)
{
    warp_for_cell(c, [&](int slot, int lane) { join_neighbours(c, slot, way, end, lane); });
}

static __global__ void find_first(Cloud c)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= *c.cell_count)
        return;
    const int slot = c.cells[k], first = c.first[slot];
    if (first != INT_MAX) {
        const int root = find(c, slot);
        if (root != slot)
            atomicMin(&c.first[root], first);
    }
}

static __global__ void mark_seeds(Cloud c)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= *c.cell_count)
        return;
    const int slot = c.cells[k], first = c.first[slot];
    if (first != INT_MAX && c.parent[slot] == slot)
        atomicOr(&c.seeds[first / 32], 1u << first % 32);
}

static __global__ void count_all_seeds(Cloud c)
{
    count_seeds(c);
}

static __global__ void label_all(Cloud c)
{
    warp_for_cell(c, [&](int slot, int lane) { label_points(c, slot, lane); });
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

template <typename T> static T *allocate(size_t count)
{
    T *ret;
    CHECK(cudaMalloc(&ret, count * sizeof(T)));
    return ret;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts,
                                 int *labels)
{
    const size_t n = N, bytes = n * sizeof(int);
    Cloud c;
    c.points = N;
    c.min_pts = minPts;
    c.largest_square = largest_square_within(eps);
    c.edge = static_cast<double>(eps) * std::sqrt(0.5) * (1 - 1e-5);
    c.per_edge = 1 / c.edge;
    c.reach = static_cast<double>(eps) * (1 + 1e-3);
    c.table_bits = 6;
    while ((size_t(1) << c.table_bits) < n + n / 2)
        c.table_bits++;
    const size_t table = size_t(1) << c.table_bits, words = (n + 31) / 32;
    float *d_xs = allocate<float>(n), *d_ys = allocate<float>(n);
    c.xs = d_xs;
    c.ys = d_ys;
    c.key = allocate<unsigned long long>(table);
    c.count = allocate<int>(table);
    c.start = allocate<int>(table);
    c.parent = allocate<int>(table);
    c.first = allocate<int>(table);
    c.cells = allocate<int>(n);
    c.seeds = allocate<unsigned>(words);
    c.seeds_before = allocate<int>(words);
    c.cell_count = allocate<int>(2);
    c.placed = c.cell_count + 1;
    c.slot = allocate<int>(n);
    c.rank = allocate<int>(n);
    c.position = allocate<float2>(n);
    c.index = allocate<int>(n);
    c.core = allocate<unsigned char>(n);
    c.labels = allocate<int>(n);
    CHECK(cudaMemset(c.key, 0xff, table * sizeof(unsigned long long)));
    CHECK(cudaMemset(c.count, 0, table * sizeof(int)));
    CHECK(cudaMemset(c.seeds, 0, words * sizeof(unsigned)));
    CHECK(cudaMemset(c.cell_count, 0, 2 * sizeof(int)));
    CHECK(cudaMemcpy(d_xs, xs, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_ys, ys, bytes, cudaMemcpyHostToDevice));

    const int blocks = (N - 1) / BLOCK + 1,
              warp_blocks = (N - 1) / WARPS + 1 < 4096 ? (N - 1) / WARPS + 1
                                                       : 4096; // the host knows no number of cells
    insert_points<<<blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    place_cells<<<blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    place_points<<<blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    find_all_cores<<<warp_blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    join_cells<<<warp_blocks, BLOCK>>>(c, 0, 4);
    CHECK(cudaGetLastError());
    join_cells<<<warp_blocks, BLOCK>>>(c, 4, 12);
    CHECK(cudaGetLastError());
    find_first<<<blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    mark_seeds<<<blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    count_all_seeds<<<1, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    label_all<<<warp_blocks, BLOCK>>>(c);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(labels, c.labels, bytes, cudaMemcpyDeviceToHost));

    CHECK(cudaFree(d_xs));
    CHECK(cudaFree(d_ys));
    CHECK(cudaFree(c.key));
    CHECK(cudaFree(c.count));
    CHECK(cudaFree(c.start));
    CHECK(cudaFree(c.parent));
    CHECK(cudaFree(c.first));
    CHECK(cudaFree(c.cells));
    CHECK(cudaFree(c.seeds));
    CHECK(cudaFree(c.seeds_before));
    CHECK(cudaFree(c.cell_count));
    CHECK(cudaFree(c.slot));
    CHECK(cudaFree(c.rank));
    CHECK(cudaFree(c.position));
    CHECK(cudaFree(c.index));
    CHECK(cudaFree(c.core));
    CHECK(cudaFree(c.labels));
}
