/* Synchronous push-relabel, one thread a vertex: a launch in which every active vertex pushes along
 * its admissible arcs, a launch in which those with something left are lifted, and now and then
 * exact heights by a search from the sink, one launch a level. The host builds the rows of residual
 * arcs. Bound by launches and waits: thousands of them, each with little to do. */
#include "check.cuh"

#include <stdlib.h>
#include <string.h>

#define THREADS 256
#define ROUNDS  32 /* between two searches */

struct network {
    int n, source, sink;
    int *first, *head, *partner, *residual, *height, *height_next;
    unsigned long long *excess;
};

static __device__ bool is_active(const network &g, int u)
{
    return u < g.n && u != g.source && u != g.sink && g.excess[u] > 0 && g.height[u] < g.n;
}

/* Heights stand still: an arc and its partner are not both admissible, so residual[e] has one
 * owner. */
static __global__ void push(network g)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (!is_active(g, u))
        return;
    const unsigned long long held = g.excess[u]; /* more may arrive meanwhile */
    unsigned long long left = held;
    for (int e = g.first[u]; e < g.first[u + 1] && left > 0; e++) {
        const int v = g.head[e];
        if (g.residual[e] == 0 || g.height[v] + 1 != g.height[u])
            continue;
        const int amount = left < (unsigned long long)g.residual[e] ? (int)left : g.residual[e];
        g.residual[e] -= amount;
        g.residual[g.partner[e]] += amount;
        atomicAdd(&g.excess[v], (unsigned long long)amount);
        left -= amount;
    }
    atomicAdd(&g.excess[u], left - held); /* modulo 2^64: takes away what was sent */
}

static __global__ void lift(network g)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= g.n)
        return;
    int height = g.height[u];
    if (is_active(g, u)) {
        int lowest = g.n - 1;
        for (int e = g.first[u]; e < g.first[u + 1]; e++)
            if (g.residual[e] > 0)
                lowest = min(lowest, g.height[g.head[e]]);
        height = max(height, lowest + 1);
    }
    g.height_next[u] = height;
}

static __global__ void reset_heights(network g)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < g.n)
        g.height[v] = v == g.sink ? 0 : g.n;
}

static __global__ void search(network g, int level, int *found)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= g.n || g.height[u] != level)
        return;
    for (int e = g.first[u]; e < g.first[u + 1]; e++) {
        const int v = g.head[e];
        if (v != g.source && g.height[v] == g.n && g.residual[g.partner[e]] > 0) {
            g.height[v] = level + 1;
            *found = 1;
        }
    }
}

static __global__ void any_active(network g, int *found)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (is_active(g, u))
        *found = 1;
}

static int *to_device(const int *host, size_t count)
{
    int *device;
    CHECK(cudaMalloc(&device, (count + 1) * sizeof(int)));
    CHECK(cudaMemcpy(device, host, count * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

/* The arcs of a vertex lie at first[v]..first[v+1]-1; the source's are saturated. */
static network build(int n, int m, const int *tails, const int *heads, const int *caps, int source,
                     int sink)
{
    const size_t arcs = 2 * (size_t)m;
    int *first = (int *)calloc((size_t)n + 1, sizeof(int)),
        *next = (int *)malloc((size_t)n * sizeof(int));
    int *host = (int *)malloc((3 * arcs + 1) * sizeof(int));
    unsigned long long *excess = (unsigned long long *)calloc(n, sizeof *excess);
    if (!first || !next || !host || !excess)
        abort();
    int *head = host, *partner = host + arcs, *residual = host + 2 * arcs;
    for (int i = 0; i < m; i++) {
        first[tails[i] + 1]++;
        first[heads[i] + 1]++;
    }
    for (int v = 0; v < n; v++) {
        first[v + 1] += first[v];
        next[v] = first[v];
    }
    for (int i = 0; i < m; i++) {
        const int e = next[tails[i]]++, back = next[heads[i]]++;
        const bool sent = tails[i] == source && heads[i] != source;
        head[e] = heads[i];
        head[back] = tails[i];
        partner[e] = back;
        partner[back] = e;
        residual[e] = sent ? 0 : caps[i];
        residual[back] = sent ? caps[i] : 0;
        if (sent)
            excess[heads[i]] += caps[i];
    }
    network g = {n, source, sink};
    g.first = to_device(first, (size_t)n + 1);
    g.head = to_device(head, arcs);
    g.partner = to_device(partner, arcs);
    g.residual = to_device(residual, arcs);
    CHECK(cudaMalloc(&g.height, n * sizeof(int)));
    CHECK(cudaMalloc(&g.height_next, n * sizeof(int)));
    CHECK(cudaMalloc(&g.excess, n * sizeof *excess));
    CHECK(cudaMemcpy(g.excess, excess, n * sizeof *excess, cudaMemcpyHostToDevice));
    free(first);
    free(next);
    free(host);
    free(excess);
    return g;
}

extern "C" void solution_compute(int num_nodes, int num_arcs, const int *tails, const int *heads,
                                 const int *caps, int source, int sink, int *max_flow_out)
{
    const int blocks = (num_nodes + THREADS - 1) / THREADS;
    network g = build(num_nodes, num_arcs, tails, heads, caps, source, sink);
    int *found;
    CHECK(cudaMalloc(&found, sizeof(int)));
    for (;;) {
        int go_on = 1;
        reset_heights<<<blocks, THREADS>>>(g);
        CHECK(cudaGetLastError());
        for (int level = 0; go_on; level++) {
            CHECK(cudaMemset(found, 0, sizeof(int)));
            search<<<blocks, THREADS>>>(g, level, found);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(&go_on, found, sizeof(int), cudaMemcpyDeviceToHost));
        }
        CHECK(cudaMemset(found, 0, sizeof(int)));
        any_active<<<blocks, THREADS>>>(g, found);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&go_on, found, sizeof(int), cudaMemcpyDeviceToHost));
        if (!go_on)
            break;
        for (int round = 0; round < ROUNDS; round++) {
            push<<<blocks, THREADS>>>(g);
            CHECK(cudaGetLastError());
            lift<<<blocks, THREADS>>>(g);
            CHECK(cudaGetLastError());
            int *const kept = g.height;
            g.height = g.height_next;
            g.height_next = kept;
        }
    }
    unsigned long long value;
    CHECK(cudaMemcpy(&value, g.excess + sink, sizeof value, cudaMemcpyDeviceToHost));
    *max_flow_out = (int)value;
    CHECK(cudaFree(g.first));
    CHECK(cudaFree(g.head));
    CHECK(cudaFree(g.partner));
    CHECK(cudaFree(g.residual));
    CHECK(cudaFree(g.height));
    CHECK(cudaFree(g.height_next));
    CHECK(cudaFree(g.excess));
    CHECK(cudaFree(found));
}
