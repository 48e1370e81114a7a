/* Hooking and pointer jumping: every vertex looks at its neighbours and hangs the higher of two
 * roots below the lower one; then every vertex moves up to its root; again until nothing is hooked.
 * At least every second root that still has neighbours vanishes in a round, so there are few
 * rounds, however long paths are. Bound by the copy of all edges to the device, by reading them
 * once a round, and by the rows of hubs, each in the hands of one thread. */
#include "check.cuh"

#define THREADS 256

static __global__ void start(int n, int *comp)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < n)
        comp[v] = v;
}

/* All values in comp are roots of the round's start. A link that a smaller one replaces is not
 * lost: its edge still joins two different roots in the next round. */
static __global__ void hook(int n, const int *row_ptr, const int *col_idx, int *comp, int *changed)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= n)
        return;
    for (int e = row_ptr[u]; e < row_ptr[u + 1]; e++) {
        const int a = comp[u], b = comp[col_idx[e]];
        if (a < b) {
            atomicMin(&comp[b], a);
            *changed = 1;
        }
    }
}

static __global__ void jump(int n, int *comp)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v >= n)
        return;
    int root = comp[v];
    for (int above = comp[root]; above != root; above = comp[root])
        root = above;
    comp[v] = root;
}

extern "C" void solution_compute(int n, int neighbor_rounds, int num_samples, const int *row_ptr,
                                 const int *col_idx, int *comp_out)
{
    (void)neighbor_rounds;
    (void)num_samples;
    const int blocks = (n + THREADS - 1) / THREADS;
    const size_t m = (size_t)row_ptr[n];
    int *rows, *columns, *comp, *changed;
    CHECK(cudaMalloc(&rows, ((size_t)n + 1) * sizeof(int)));
    CHECK(cudaMalloc(&columns, (m + 1) * sizeof(int)));
    CHECK(cudaMalloc(&comp, (size_t)n * sizeof(int)));
    CHECK(cudaMalloc(&changed, sizeof(int)));
    CHECK(cudaMemcpy(rows, row_ptr, ((size_t)n + 1) * sizeof(int), cudaMemcpyHostToDevice));
    if (m > 0)
        CHECK(cudaMemcpy(columns, col_idx, m * sizeof(int), cudaMemcpyHostToDevice));
    start<<<blocks, THREADS>>>(n, comp);
    CHECK(cudaGetLastError());
    for (int go_on = 1; go_on;) {
        CHECK(cudaMemset(changed, 0, sizeof(int)));
        hook<<<blocks, THREADS>>>(n, rows, columns, comp, changed);
        CHECK(cudaGetLastError());
        jump<<<blocks, THREADS>>>(n, comp);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&go_on, changed, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemcpy(comp_out, comp, (size_t)n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(columns));
    CHECK(cudaFree(comp));
    CHECK(cudaFree(changed));
}
