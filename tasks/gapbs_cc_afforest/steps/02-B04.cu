// step: B04 on 01-C02.cu
// A thread takes eight neighbouring edges instead of a vertex, and finds the row of the first by
// bisection: rows of hubs are shared out like all others.
#include "check.cuh"

#define THREADS 256
#define EACH    8

static __global__ void start(int n, int *parent)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < n)
        parent[v] = v;
}

/* The root of v, halving the path. A vertex only ever moves to one of its ancestors, so stale
 * values do no harm. */
static __device__ int find(int *parent, int v)
{
    for (;;) {
        const int above = __ldcg(&parent[v]), next = __ldcg(&parent[above]);
        if (above == next)
            return above;
        parent[v] = next;
        v = next;
    }
}

static __device__ void join(int *parent, int u, int v)
{
    int a = find(parent, u), b = find(parent, v);
    while (a != b) {
        const int low = min(a, b), high = max(a, b), seen = atomicCAS(&parent[high], high, low);
        if (seen == high)
            return;
        a = find(parent, low);
        b = find(parent, seen);
    }
}

/* Edges `first` and on, `count` of them, at columns. */
static __global__ void link(int n, int first, int count, const int *row_ptr, const int *columns,
                            int *parent)
{
    const long long from = ((long long)blockIdx.x * THREADS + threadIdx.x) * EACH;
    if (from >= count)
        return;
    const int end = first + (int)min(from + EACH, (long long)count);
    int e = first + (int)from, u = 0;
    for (int high = n; high - u > 1;) { /* row_ptr[u] <= e < row_ptr[high] */
        const int middle = u + (high - u) / 2;
        if (row_ptr[middle] <= e)
            u = middle;
        else
            high = middle;
    }
    for (; e < end; e++) {
        while (e >= row_ptr[u + 1])
            u++;
        if (columns[e - first] < u)
            join(parent, u, columns[e - first]);
    }
}

/* No thread may write to the place of another here: a path halved with what was read before would
 * undo its final value. */
static __global__ void compress(int n, int *parent)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v >= n)
        return;
    int root = __ldcg(&parent[v]);
    for (int above; (above = __ldcg(&parent[root])) != root;)
        root = above;
    parent[v] = root;
}

static int blocks_for(size_t edges)
{
    return (int)((edges + THREADS * EACH - 1) / (THREADS * EACH));
}

extern "C" void solution_compute(int n, int neighbor_rounds, int num_samples, const int *row_ptr,
                                 const int *col_idx, int *comp_out)
{
    (void)neighbor_rounds;
    (void)num_samples;
    const int blocks = (n + THREADS - 1) / THREADS;
    const size_t m = (size_t)row_ptr[n];
    int *rows, *columns, *parent;
    CHECK(cudaMalloc(&rows, ((size_t)n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&columns, (m + 1) * sizeof(int)));
    CHECK(cudaMalloc(&parent, (size_t)n * sizeof(int)));
    start<<<blocks, THREADS>>>(n, parent);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(rows, row_ptr, ((size_t)n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    if (m > 0) {
        CHECK(cudaMemcpy(columns, col_idx, m * sizeof(int), cudaMemcpyHostToDevice));
        link<<<blocks_for(m), THREADS>>>(n, 0, (int)m, rows, columns, parent);
        CHECK(cudaGetLastError());
    }
    compress<<<blocks, THREADS>>>(n, parent);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(comp_out, parent, (size_t)n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(columns));
    CHECK(cudaFree(parent));
}
