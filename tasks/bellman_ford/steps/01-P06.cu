// step: P06 on naive.cu
// Sixteen requests are searched for together. The distances of a vertex from all of their sources
// lie side by side, a thread a vertex and request, so that rounds, launches and waits for the flag
// are shared, and an edge is read once for all.
#include "check.cuh"

#define THREADS   256
#define LANES     16
#define UNREACHED 1e30f

struct sources {
    int vertex[LANES];
};

static __global__ void reset(int V, sources s, int *distance)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (size_t)V * LANES)
        distance[i] = __float_as_int(s.vertex[i % LANES] == (int)(i / LANES) ? 0.0f : UNREACHED);
}

/* distance: [V][LANES] */
static __global__ void relax(int V, const int *row_offsets, const int *col_indices,
                             const float *weights, int *distance, int *changed)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (size_t)V * LANES)
        return;
    const int u = (int)(i / LANES), k = (int)(i % LANES);
    const float from = __int_as_float(distance[i]);
    if (from >= UNREACHED)
        return;
    for (int e = row_offsets[u]; e < row_offsets[u + 1]; e++) {
        const int candidate = __float_as_int(from + weights[e]);
        int *const to = &distance[(size_t)col_indices[e] * LANES + k];
        if (candidate < *to && candidate < atomicMin(to, candidate))
            *changed = 1;
    }
}

extern "C" void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                                 const float *h_weights, int num_requests, const int *h_sources,
                                 const int *h_targets, float *h_distances)
{
    const size_t edges = (size_t)E, cells = (size_t)V * LANES;
    const unsigned blocks = (unsigned)((cells + THREADS - 1) / THREADS);
    int *row_offsets, *col_indices, *distance, *changed;
    float *weights;
    CHECK(cudaMalloc(&row_offsets, ((size_t)V + 1) * sizeof(int)));
    CHECK(cudaMalloc(&col_indices, (edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&weights, (edges + 1) * sizeof(float)));
    CHECK(cudaMalloc(&distance, cells * sizeof(int)));
    CHECK(cudaMalloc(&changed, sizeof(int)));
    CHECK(cudaMemcpy(row_offsets, h_row_offsets, ((size_t)V + 1) * sizeof(int),
                     cudaMemcpyHostToDevice));
    if (E > 0) {
        CHECK(cudaMemcpy(col_indices, h_col_indices, edges * sizeof(int), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(weights, h_weights, edges * sizeof(float), cudaMemcpyHostToDevice));
    }
    for (int first = 0; first < num_requests; first += LANES) {
        sources s;
        for (int k = 0; k < LANES; k++) {
            const int i = first + k;
            const int valid = i < num_requests && h_sources[i] >= 0 && h_sources[i] < V &&
                              h_targets[i] >= 0 && h_targets[i] < V;
            s.vertex[k] = valid ? h_sources[i] : -1;
        }
        reset<<<blocks, THREADS>>>(V, s, distance);
        CHECK(cudaGetLastError());
        for (int go_on = 1; go_on;) {
            CHECK(cudaMemset(changed, 0, sizeof(int)));
            relax<<<blocks, THREADS>>>(V, row_offsets, col_indices, weights, distance, changed);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(&go_on, changed, sizeof(int), cudaMemcpyDeviceToHost));
        }
        for (int k = 0; k < LANES && first + k < num_requests; k++) {
            h_distances[first + k] = UNREACHED;
            if (s.vertex[k] >= 0)
                CHECK(cudaMemcpy(&h_distances[first + k],
                                 distance + (size_t)h_targets[first + k] * LANES + k, sizeof(float),
                                 cudaMemcpyDeviceToHost));
        }
    }
    CHECK(cudaFree(row_offsets));
    CHECK(cudaFree(col_indices));
    CHECK(cudaFree(weights));
    CHECK(cudaFree(distance));
    CHECK(cudaFree(changed));
}
