/* One search per request, as the reference does it: rounds over all vertices, one thread a vertex,
 * distances lowered by atomicMin on their bits (non-negative floats order like integers), a flag
 * copied back after every round. Bound by launches and the wait for the flag, some dozens of rounds
 * for each of a hundred requests, and by repeating the search for requests of the same source. */
#include "check.cuh"

#define THREADS   256
#define UNREACHED 1e30f

static __global__ void reset(int V, int source, int *distance)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < V)
        distance[v] = __float_as_int(v == source ? 0.0f : UNREACHED);
}

/* Other threads lower distances meanwhile; whichever value is read, the next round sees what
 * changed. */
static __global__ void relax(int V, const int *row_offsets, const int *col_indices,
                             const float *weights, int *distance, int *changed)
{
    const int u = blockIdx.x * THREADS + threadIdx.x;
    if (u >= V)
        return;
    const float from = __int_as_float(distance[u]);
    if (from >= UNREACHED)
        return;
    for (int e = row_offsets[u]; e < row_offsets[u + 1]; e++) {
        const int candidate = __float_as_int(from + weights[e]);
        const int v = col_indices[e];
        if (candidate < distance[v] && candidate < atomicMin(&distance[v], candidate))
            *changed = 1;
    }
}

extern "C" void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                                 const float *h_weights, int num_requests, const int *h_sources,
                                 const int *h_targets, float *h_distances)
{
    const int blocks = (V + THREADS - 1) / THREADS;
    const size_t edges = (size_t)E;
    int *row_offsets, *col_indices, *distance, *changed;
    float *weights;
    CHECK(cudaMalloc(&row_offsets, ((size_t)V + 1) * sizeof(int)));
    CHECK(cudaMalloc(&col_indices, (edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&weights, (edges + 1) * sizeof(float)));
    CHECK(cudaMalloc(&distance, (size_t)V * sizeof(int)));
    CHECK(cudaMalloc(&changed, sizeof(int)));
    CHECK(cudaMemcpy(row_offsets, h_row_offsets, ((size_t)V + 1) * sizeof(int),
                     cudaMemcpyHostToDevice));
    if (E > 0) {
        CHECK(cudaMemcpy(col_indices, h_col_indices, edges * sizeof(int), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(weights, h_weights, edges * sizeof(float), cudaMemcpyHostToDevice));
    }
    for (int i = 0; i < num_requests; i++) {
        const int source = h_sources[i], target = h_targets[i];
        h_distances[i] = UNREACHED;
        if (source < 0 || source >= V || target < 0 || target >= V)
            continue;
        reset<<<blocks, THREADS>>>(V, source, distance);
        CHECK(cudaGetLastError());
        for (int go_on = 1; go_on;) {
            CHECK(cudaMemset(changed, 0, sizeof(int)));
            relax<<<blocks, THREADS>>>(V, row_offsets, col_indices, weights, distance, changed);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(&go_on, changed, sizeof(int), cudaMemcpyDeviceToHost));
        }
        CHECK(
            cudaMemcpy(&h_distances[i], distance + target, sizeof(float), cudaMemcpyDeviceToHost));
    }
    CHECK(cudaFree(row_offsets));
    CHECK(cudaFree(col_indices));
    CHECK(cudaFree(weights));
    CHECK(cudaFree(distance));
    CHECK(cudaFree(changed));
}
