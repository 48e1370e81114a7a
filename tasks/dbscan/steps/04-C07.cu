// step: C07 on 03-M02.cu
// Squares of distances are compared with the largest square whose root is at most eps, found once:
// no root is taken for a pair, and the decision is the same.
#include "check.cuh"

#include <cmath>
#include <vector>

constexpr int THREADS = 128, NOISE = -2;
constexpr unsigned long long EMPTY = ~0ull;
constexpr int KEY_SHIFT = 1 << 30; // keeps the halves of a key positive
constexpr int REACH = 1;           // cells that a neighbour may be away

// Cells in a hash table; what is per cell is indexed by its slot.
struct Cloud {
    int points, min_pts, table_bits;
    float largest_square; // near: a square of at most this
    double edge, per_edge;
    const float *xs, *ys;
    unsigned long long *key;
    int *count, *start, *placed;
    int *slot, *rank; // of a point, in the original order
    float2 *position; // by cell, as the next
    int *index;
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
    c.position[at] = make_float2(c.xs[i], c.ys[i]);
    c.index[at] = i;
}

// Calls use(j, place of j) for all points j in the cells around a place, until it returns false.
template <typename Use> static __device__ void look_around(const Cloud &c, float2 own, Use use)
{
    const int cx = cell_along(c, own.x), cy = cell_along(c, own.y);
    for (int y = cy - REACH; y <= cy + REACH; y++)
        for (int x = cx - REACH; x <= cx + REACH; x++) {
            const int s = look_up(c, x, y);
            if (s < 0)
                continue;
            for (int at = c.start[s]; at < c.start[s] + c.count[s]; at++)
                if (!use(c.index[at], c.position[at]))
                    return;
        }
}

// first[i]: the point's own index for core points, -1 for others.
static __global__ void find_cores(Cloud c, int *first)
{
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= c.points)
        return;
    const float2 own = c.position[k]; // neighbouring threads look at the same cells
    const int i = c.index[k];
    int degree = 0;
    look_around(c, own, [&](int j, float2 place) {
        degree += j != i && near(c, own, place);
        return true;
    });
    first[i] = degree >= c.min_pts ? i : -1;
}

// Labels only fall, and where a sweep changes none, all points of a component have the smallest
// index.
static __global__ void sweep(Cloud c, volatile int *first, int *changed)
{
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= c.points)
        return;
    const float2 own = c.position[k];
    const int i = c.index[k], old = first[i];
    if (old < 0)
        return;
    int least = old;
    look_around(c, own, [&](int j, float2 place) {
        const int other = first[j];
        if (other >= 0 && other < least && near(c, own, place))
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
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= c.points)
        return;
    const float2 own = c.position[k];
    const int i = c.index[k];
    if (first[i] >= 0) {
        labels[i] = number[first[i]];
        return;
    }
    int smallest = 0, opened = 0;
    look_around(c, own, [&](int j, float2 place) {
        if (first[j] < 0 || !near(c, own, place))
            return true;
        const int cluster = number[first[j]];
        smallest = smallest == 0 ? cluster : min(smallest, cluster);
        if (first[j] == j)
            opened = max(opened, cluster);
        return true;
    });
    labels[i] = smallest == 0 ? NOISE : max(smallest, opened);
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
    const size_t n = N, bytes = n * sizeof(int);
    Cloud c;
    c.points = N;
    c.min_pts = minPts;
    c.largest_square = largest_square_within(eps);
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
    CHECK(cudaMalloc(&c.position, n * sizeof(float2)));
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
    CHECK(cudaFree(c.position));
    CHECK(cudaFree(c.index));
    CHECK(cudaFree(d_first));
    CHECK(cudaFree(d_number));
    CHECK(cudaFree(d_labels));
    CHECK(cudaFree(d_changed));
}
