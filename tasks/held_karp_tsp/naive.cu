/* The reference's table, one instance after the other: for every set size one launch over all sets,
 * in which those of that size compute their entries, one thread a set. Bound by launches (as many
 * as cities, for every instance), by threads whose set is of another size, and by scattered reads
 * of the table. */
#include "check.cuh"

#include <limits.h>

#define THREADS 256

static __global__ void extend(int n, int size, const int *cost, int *best)
{
    const int m = n - 1;
    const unsigned S = blockIdx.x * THREADS + threadIdx.x;
    if (S >= 1u << m || __popc(S) != size)
        return;
    for (int j = 0; j < m; j++) {
        if (!(S >> j & 1))
            continue;
        const unsigned rest = S & ~(1u << j);
        int least = rest ? INT_MAX : cost[j + 1];
        for (int k = 0; k < m; k++)
            if (rest >> k & 1)
                least = min(least, best[(size_t)rest * m + k] + cost[(k + 1) * n + j + 1]);
        best[(size_t)S * m + j] = least;
    }
}

extern "C" void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    const int m = n - 1;
    const unsigned sets = 1u << m;
    const size_t instance = (size_t)n * n;
    int *cost, *best, last[32];
    CHECK(cudaMalloc(&cost, (size_t)B * instance * sizeof(int)));
    CHECK(cudaMalloc(&best, (size_t)sets * m * sizeof(int)));
    CHECK(cudaMemcpy(cost, costs, (size_t)B * instance * sizeof(int), cudaMemcpyHostToDevice));
    for (int b = 0; b < B; b++) {
        for (int size = 1; size <= m; size++) {
            extend<<<(sets + THREADS - 1) / THREADS, THREADS>>>(n, size, cost + b * instance, best);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(last, best + (size_t)(sets - 1) * m, m * sizeof(int),
                         cudaMemcpyDeviceToHost));
        int tour = INT_MAX;
        for (int j = 0; j < m; j++) {
            const int candidate = last[j] + costs[b * instance + (size_t)(j + 1) * n];
            tour = candidate < tour ? candidate : tour;
        }
        tour_costs_out[b] = tour;
    }
    CHECK(cudaFree(cost));
    CHECK(cudaFree(best));
}
