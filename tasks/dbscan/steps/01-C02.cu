// step: C02 on naive.cu
// Points lie in cells as wide as eps, kept in a hash table, and are compared with those of the nine
// cells around them: no longer with all points.
#include "check.cuh"

#include <vector>

constexpr int THREADS = 128, NOISE = -2;
constexpr unsigned long long EMPTY = ~0ull;
constexpr int KEY_SHIFT = 1 << 30; // keeps the halves of a key positive
constexpr int REACH = 1;           // cells that a neighbour may be away

// Cells in a hash table; what is per cell is indexed by its slot.
struct Cloud {
    int points, min_pts, table_bits;
    float eps;
    double edge, per_edge;
    const float *xs, *ys;
    unsigned long long *key;
    int *count, *start, *placed;
    int *slot, *rank; // of a point, in the original order
    int *index;       // points by cell
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

static __device__ bool near(const Cloud &c, int i, int j)
{
    const float dx = c.xs[i] - c.xs[j], dy = c.ys[i] - c.ys[j];
    return __fsqrt_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy))) <= c.eps;
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

static __global__ void insert_points(Cloud c)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.points)
        return;
    const unsigned long long key = key_of(cell_along(c, c.xs[i]), cell_along(c, c.ys[i]));
    unsigned s = hash(c, key);
    for (;; s = (s + 1) & ((1u << c.table_bits) - 1)) {
        const unsigned long long there = atomicCAS(&c.key[s], EMPTY, key);
        if (there == EMPTY || there == key)
            break;
    }
    c.slot[i] = static_cast<int>(s);
    c.rank[i] = atomicAdd(&c.count[s], 1);
}

// Cells get places in any order.
static __global__ void place_cells(Cloud c)
{
    const int s = blockIdx.x * THREADS + threadIdx.x;
    if (s < 1 << c.table_bits && c.count[s] > 0)
        c.start[s] = atomicAdd(c.placed, c.count[s]);
}

static __global__ void place_points(Cloud c)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.points)
        return;
    const int at = c.start[c.slot[i]] + c.rank[i];
    c.index[at] = i;
}

// Calls use(j) for all points j in the cells around point i, until it returns false.
template <typename Use> static __device__ void look_around(const Cloud &c, int i, Use use)
{
    const int cx = cell_along(c, c.xs[i]), cy = cell_along(c, c.ys[i]);
    for (int y = cy - REACH; y <= cy + REACH; y++)
        for (int x = cx - REACH; x <= cx + REACH; x++) {
            const int s = look_up(c, x, y);
            if (s < 0)
                continue;
            for (int at = c.start[s]; at < c.start[s] + c.count[s]; at++)
                if (!use(c.index[at]))
                    return;
        }
}

// first[i]: the point's own index for core points, -1 for others.
static __global__ void find_cores(Cloud c, int *first)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.points)
        return;
    int degree = 0;
    look_around(c, i, [&](int j) {
        degree += j != i && near(c, i, j);
        return true;
    });
    first[i] = degree >= c.min_pts ? i : -1;
}

// Labels only fall, and where a sweep changes none, all points of a component have the smallest
// index.
static __global__ void sweep(Cloud c, volatile int *first, int *changed)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.points)
        return;
    const int old = first[i];
    if (old < 0)
        return;
    int least = old;
    look_around(c, i, [&](int j) {
        const int other = first[j];
        if (other >= 0 && other < least && near(c, i, j))
            least = other;
        return true;
    });
    least = min(least, first[least]);
    if (least < old) {
        first[i] = least;
        *changed = 1;
    }
}

// number[f]: the number of the cluster whose first point is f.
static __global__ void label_points(Cloud c, const int *first, const int *number, int *labels)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.points)
        return;
    if (first[i] >= 0) {
        labels[i] = number[first[i]];
        return;
    }
    int smallest = 0, opened = 0;
    look_around(c, i, [&](int j) {
        if (first[j] < 0 || !near(c, i, j))
            return true;
        const int cluster = number[first[j]];
        smallest = smallest == 0 ? cluster : min(smallest, cluster);
        if (first[j] == j)
            opened = max(opened, cluster);
        return true;
    });
    labels[i] = smallest == 0 ? NOISE : max(smallest, opened);
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts,
                                 int *labels)
{
    const size_t n = N, bytes = n * sizeof(int);
    Cloud c;
    c.points = N;
    c.min_pts = minPts;
    c.eps = eps;
    c.edge = static_cast<double>(eps) * (1 + 1e-6) + 1e-30;
    c.per_edge = 1 / c.edge;
    c.table_bits = 6;
    while ((size_t(1) << c.table_bits) < n + n / 2)
        c.table_bits++;
    const size_t table = size_t(1) << c.table_bits;
    float *d_xs, *d_ys;
    CHECK(cudaMalloc(&d_xs, bytes));
    CHECK(cudaMalloc(&d_ys, bytes));
    CHECK(cudaMalloc(&c.key, table * sizeof(unsigned long long)));
    CHECK(cudaMalloc(&c.count, table * sizeof(int)));
    CHECK(cudaMalloc(&c.start, table * sizeof(int)));
    CHECK(cudaMalloc(&c.placed, sizeof(int)));
    CHECK(cudaMalloc(&c.slot, bytes));
    CHECK(cudaMalloc(&c.rank, bytes));
    CHECK(cudaMalloc(&c.index, bytes));
    CHECK(cudaMemset(c.key, 0xff, table * sizeof(unsigned long long)));
    CHECK(cudaMemset(c.count, 0, table * sizeof(int)));
    CHECK(cudaMemset(c.placed, 0, sizeof(int)));
    CHECK(cudaMemcpy(d_xs, xs, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_ys, ys, bytes, cudaMemcpyHostToDevice));
    c.xs = d_xs;
    c.ys = d_ys;
    const int blocks = (N - 1) / THREADS + 1;
    insert_points<<<blocks, THREADS>>>(c);
    CHECK(cudaGetLastError());
    place_cells<<<static_cast<int>((table - 1) / THREADS + 1), THREADS>>>(c);
    CHECK(cudaGetLastError());
    place_points<<<blocks, THREADS>>>(c);
    CHECK(cudaGetLastError());

    int *d_first, *d_number, *d_labels, *d_changed;
    CHECK(cudaMalloc(&d_first, bytes));
    CHECK(cudaMalloc(&d_number, bytes));
    CHECK(cudaMalloc(&d_labels, bytes));
    CHECK(cudaMalloc(&d_changed, sizeof(int)));
    find_cores<<<blocks, THREADS>>>(c, d_first);
    CHECK(cudaGetLastError());
    for (int changed = 1; changed;) {
        CHECK(cudaMemset(d_changed, 0, sizeof(int)));
        sweep<<<blocks, THREADS>>>(c, d_first, d_changed);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
    }

    // Clusters are numbered in the order of their first points; labels serves as scratch memory.
    std::vector<int> number(n);
    int clusters = 0;
    CHECK(cudaMemcpy(labels, d_first, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        number[i] = labels[i] == i ? ++clusters : 0;
    CHECK(cudaMemcpy(d_number, number.data(), bytes, cudaMemcpyHostToDevice));
    label_points<<<blocks, THREADS>>>(c, d_first, d_number, d_labels);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(labels, d_labels, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_xs));
    CHECK(cudaFree(d_ys));
    CHECK(cudaFree(c.key));
    CHECK(cudaFree(c.count));
    CHECK(cudaFree(c.start));
    CHECK(cudaFree(c.placed));
    CHECK(cudaFree(c.slot));
    CHECK(cudaFree(c.rank));
    CHECK(cudaFree(c.index));
    CHECK(cudaFree(d_first));
    CHECK(cudaFree(d_number));
    CHECK(cudaFree(d_labels));
    CHECK(cudaFree(d_changed));
}
