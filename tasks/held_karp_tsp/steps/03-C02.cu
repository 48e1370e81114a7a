// step: C02 on 02-B01.cu
// Meets in the middle: the recursion runs from city 0 on the costs and on their transpose, each to
// half of the cities, and a last launch joins a set with its complement. Half as many launches
// depend on each other, and the largest sets, of which there are few, are never computed.
#include "check.cuh"

#include <limits.h>

#define THREADS 256

// next[size]: where the next set of that size goes.
static __global__ void list_by_size(int m, unsigned *next, unsigned *list)
{
    const unsigned S = blockIdx.x * THREADS + threadIdx.x;
    if (S > 0 && S < 1u << m)
        list[atomicAdd(&next[__popc(S)], 1u)] = S;
}

// What it costs to go from i to j, or from j to i on the transpose.
static __device__ int cost_of(const int *cost, int n, bool transposed, int i, int j)
{
    return transposed ? cost[j * n + i] : cost[i * n + j];
}

// Two tables an instance: the second one of the transpose.
static __global__ void extend(int n, unsigned count, const unsigned *sets, const int *costs,
                              int *tables)
{
    const int m = n - 1;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const unsigned S = sets[i];
    const bool transposed = blockIdx.y % 2;
    const int *cost = costs + (size_t)(blockIdx.y / 2) * n * n;
    int *best = tables + (size_t)blockIdx.y * m * ((size_t)1 << m);
    for (int j = 0; j < m; j++) {
        if (!(S >> j & 1))
            continue;
        const unsigned rest = S & ~(1u << j);
        int least = rest ? INT_MAX : cost_of(cost, n, transposed, 0, j + 1);
        for (int k = 0; k < m; k++)
            if (rest >> k & 1)
                least = min(least, best[(size_t)rest * m + k] +
                                       cost_of(cost, n, transposed, k + 1, j + 1));
        best[(size_t)S * m + j] = least;
    }
}

// Over S of half the cities: to j in S, on to k outside of it, and home through the rest.
static __global__ void join(int n, unsigned count, const unsigned *sets, const int *costs,
                            const int *tables, int *answers)
{
    const int m = n - 1;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const unsigned S = sets[i], rest = ((1u << m) - 1) & ~S;
    const int *cost = costs + (size_t)blockIdx.y * n * n;
    const size_t table = (size_t)m * ((size_t)1 << m);
    const int *there = tables + 2 * blockIdx.y * table + (size_t)S * m;
    const int *home = tables + (2 * blockIdx.y + 1) * table + (size_t)rest * m;
    int tour = INT_MAX;
    for (int j = 0; j < m; j++) {
        if (!(S >> j & 1))
            continue;
        if (!rest)
            tour = min(tour, there[j] + cost[(j + 1) * n]);
        for (int k = 0; k < m; k++)
            if (rest >> k & 1)
                tour = min(tour, there[j] + cost[(j + 1) * n + k + 1] + home[k]);
    }
    atomicMin(&answers[blockIdx.y], tour);
}

extern "C" void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    const int m = n - 1, half = (m + 1) / 2;
    const unsigned sets = 1u << m;
    const size_t instance = (size_t)n * n, table = 2 * (size_t)sets * m;
    size_t left, all;
    CHECK(cudaMemGetInfo(&left, &all));
    const size_t room = left / 2 / (table * sizeof(int));
    const int together = room < (size_t)B ? (room > 1 ? (int)room : 1) : B;
    unsigned next[33] = {0}, first = 0, *d_next, *list; // binomial coefficients, added up
    for (unsigned size = 1, choose = m; size <= (unsigned)m; size++) {
        next[size] = first;
        first += choose;
        choose = (unsigned)((unsigned long long)choose * (m - size) / (size + 1));
    }
    next[m + 1] = first;
    int *cost, *tables, *answers;
    CHECK(cudaMalloc(&d_next, sizeof next));
    CHECK(cudaMalloc(&list, sets * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_next, next, sizeof next, cudaMemcpyHostToDevice));
    list_by_size<<<(sets + THREADS - 1) / THREADS, THREADS>>>(m, d_next, list);
    CHECK(cudaGetLastError());
    CHECK(cudaMalloc(&cost, B * instance * sizeof(int)));
    CHECK(cudaMalloc(&tables, together * table * sizeof(int)));
    CHECK(cudaMalloc(&answers, B * sizeof(int)));
    CHECK(cudaMemcpy(cost, costs, B * instance * sizeof(int), cudaMemcpyHostToDevice));
    for (int b = 0; b < B; b++)
        tour_costs_out[b] = INT_MAX;
    CHECK(cudaMemcpy(answers, tour_costs_out, B * sizeof(int), cudaMemcpyHostToDevice));
    for (int b = 0; b < B; b += together) {
        const int count = B - b < together ? B - b : together;
        for (int size = 1; size <= half; size++) {
            const unsigned here = next[size + 1] - next[size];
            extend<<<dim3((here + THREADS - 1) / THREADS, 2 * count), THREADS>>>(
                n, here, list + next[size], cost + b * instance, tables);
            CHECK(cudaGetLastError());
        }
        const unsigned here = next[half + 1] - next[half];
        join<<<dim3((here + THREADS - 1) / THREADS, count), THREADS>>>(
            n, here, list + next[half], cost + b * instance, tables, answers + b);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(tour_costs_out, answers, B * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_next));
    CHECK(cudaFree(list));
    CHECK(cudaFree(cost));
    CHECK(cudaFree(tables));
    CHECK(cudaFree(answers));
}
