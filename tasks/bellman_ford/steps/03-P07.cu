// step: P07 on 02-B01.cu
// One cooperative launch makes all rounds of sixteen requests, with a barrier of the grid between
// two: no launch, no copy and no wait of the host in a round. Large graphs, whose rounds are
// long, gain nothing by that.
#include "check.cuh"

#include <cooperative_groups.h>

#define THREADS   256
#define LANES     16
#define UNREACHED 1e30f

struct sources {
    int vertex[LANES];
};

/* Vertices to relax, and for which requests each. */
struct queue {
    int *vertex, *count;
    unsigned *requests; /* of every vertex */
};

static __global__ void reset(int V, sources s, int *distance, unsigned *requests,
                             unsigned *next_requests)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= (size_t)V * LANES)
        return;
    distance[i] = __float_as_int(s.vertex[i % LANES] == (int)(i / LANES) ? 0.0f : UNREACHED);
    if (i % LANES == 0)
        requests[i / LANES] = next_requests[i / LANES] = 0;
}

static __device__ void append(queue q, int vertex, unsigned bit)
{
    if (atomicOr(&q.requests[vertex], bit) == 0)
        q.vertex[atomicAdd(q.count, 1)] = vertex;
}

static __global__ void start(sources s, queue q)
{
    if (s.vertex[threadIdx.x] >= 0)
        append(q, s.vertex[threadIdx.x], 1u << threadIdx.x);
}

/* distance: [V][LANES]. Three counts in turn: one is read, one grows, one is cleared. */
static __global__ void relax_all(const int *row_offsets, const int *col_indices,
                                 const float *weights, int *distance, queue now, queue next,
                                 int *counts)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const size_t stride = (size_t)gridDim.x * THREADS;
    for (int round = 0;; round++) {
        now.count = counts + round % 3;
        next.count = counts + (round + 1) % 3;
        const int count = __ldcg(now.count);
        if (count == 0)
            return;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            counts[(round + 2) % 3] = 0;
        for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
             i - threadIdx.x % 32 < (size_t)count * LANES; i += stride) {
            const int k = (int)(i % LANES);
            const int u = i < (size_t)count * LANES ? __ldcg(now.vertex + i / LANES) : -1;
            const unsigned requests = u >= 0 ? __ldcg(now.requests + u) : 0;
            __syncwarp();
            if (u >= 0 && k == 0)
                now.requests[u] = 0;
            if (requests >> k & 1) {
                const float from = __int_as_float(__ldcg(distance + (size_t)u * LANES + k));
                for (int e = row_offsets[u]; e < row_offsets[u + 1]; e++) {
                    const int candidate = __float_as_int(from + weights[e]);
                    int *const to = &distance[(size_t)col_indices[e] * LANES + k];
                    if (candidate < __ldcg(to) && candidate < atomicMin(to, candidate))
                        append(next, col_indices[e], 1u << k);
                }
            }
            __syncwarp();
        }
        const queue swapped = now;
        now = next;
        next = swapped;
        grid.sync();
    }
}

extern "C" void solution_compute(int V, int E, const int *h_row_offsets, const int *h_col_indices,
                                 const float *h_weights, int num_requests, const int *h_sources,
                                 const int *h_targets, float *h_distances)
{
    const size_t edges = (size_t)E, cells = (size_t)V * LANES;
    const unsigned blocks = (unsigned)((cells + THREADS - 1) / THREADS);
    int *row_offsets, *col_indices, *distance, *counts, device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, relax_all, THREADS, 0));
    queue queues[2];
    float *weights;
    CHECK(cudaMalloc(&row_offsets, ((size_t)V + 1) * sizeof(int)));
    CHECK(cudaMalloc(&col_indices, (edges + 1) * sizeof(int)));
    CHECK(cudaMalloc(&weights, (edges + 1) * sizeof(float)));
    CHECK(cudaMalloc(&distance, cells * sizeof(int)));
    for (queue &q : queues) {
        CHECK(cudaMalloc(&q.vertex, (size_t)V * sizeof(int)));
        CHECK(cudaMalloc(&q.requests, (size_t)V * sizeof(unsigned)));
    }
    CHECK(cudaMemcpy(row_offsets, h_row_offsets, ((size_t)V + 1) * sizeof(int),
                     cudaMemcpyHostToDevice));
    if (E > 0) {
        CHECK(cudaMemcpy(col_indices, h_col_indices, edges * sizeof(int), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(weights, h_weights, edges * sizeof(float), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&counts, 3 * sizeof(int)));
    queues[0].count = queues[1].count = counts;
    for (int first = 0; first < num_requests; first += LANES) {
        sources s;
        for (int k = 0; k < LANES; k++) {
            const int i = first + k;
            const int valid = i < num_requests && h_sources[i] >= 0 && h_sources[i] < V &&
                              h_targets[i] >= 0 && h_targets[i] < V;
            s.vertex[k] = valid ? h_sources[i] : -1;
        }
        reset<<<blocks, THREADS>>>(V, s, distance, queues[0].requests, queues[1].requests);
        CHECK(cudaMemset(counts, 0, 3 * sizeof(int)));
        start<<<1, LANES>>>(s, queues[0]);
        CHECK(cudaGetLastError());
        void *arguments[] = {&row_offsets, &col_indices, &weights, &distance,
                             &queues[0],   &queues[1],   &counts};
        CHECK(cudaLaunchCooperativeKernel((const void *)relax_all, dim3(processors * resident),
                                          dim3(THREADS), arguments, 0, nullptr));
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
    CHECK(cudaFree(counts));
    CHECK(cudaFree(distance));
    for (queue &q : queues) {
        CHECK(cudaFree(q.vertex));
        CHECK(cudaFree(q.requests));
    }
}
