// step: P07 on 03-C02.cu
// One cooperative kernel goes through all set sizes, with a barrier across the grid between them
// instead of a launch each.
#include "check.cuh"

#include <cooperative_groups.h>
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
static __device__ void extend(int n, unsigned S, int which, const int *costs, int *tables)
{
    const int m = n - 1;
    const bool transposed = which % 2;
    const int *cost = costs + (size_t)(which / 2) * n * n;
    int *best = tables + (size_t)which * m * ((size_t)1 << m);
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
static __device__ void join(int n, unsigned S, int which, const int *costs, const int *tables,
                            int *answers)
{
    const int m = n - 1;
    const unsigned rest = ((1u << m) - 1) & ~S;
    const int *cost = costs + (size_t)which * n * n;
    const size_t table = (size_t)m * ((size_t)1 << m);
    const int *there = tables + 2 * which * table + (size_t)S * m;
    const int *home = tables + (2 * which + 1) * table + (size_t)rest * m;
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
    atomicMin(&answers[which], tour);
}

// next[size]: behind the sets of that size less one in the list, as the first pass left it.
static __global__ void all_sizes(int n, int half, int instances, const unsigned *next,
                                 const unsigned *list, const int *costs, int *tables, int *answers)
{
    const size_t thread = (size_t)blockIdx.x * THREADS + threadIdx.x,
                 threads = (size_t)gridDim.x * THREADS;
    for (int size = 1; size <= half; size++) {
        const unsigned first = size > 1 ? next[size - 1] : 0, count = next[size] - first;
        for (size_t i = thread; i < (size_t)count * 2 * instances; i += threads)
            extend(n, list[first + i % count], (int)(i / count), costs, tables);
        cooperative_groups::this_grid().sync();
        if (size == half)
            for (size_t i = thread; i < (size_t)count * instances; i += threads)
                join(n, list[first + i % count], (int)(i / count), costs, tables, answers);
    }
}

extern "C" void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    const int m = n - 1, half = (m + 1) / 2;
    const unsigned sets = 1u << m;
    const size_t instance = (size_t)n * n, table = 2 * (size_t)sets * m;
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, all_sizes, THREADS, 0));
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
        const int *its_costs = cost + b * instance;
        int *its_answers = answers + b;
        void *arguments[] = {&n,    (void *)&half, (void *)&count, &d_next,
                             &list, &its_costs,    &tables,        &its_answers};
        CHECK(cudaLaunchCooperativeKernel(all_sizes, dim3(processors * resident), dim3(THREADS),
                                          arguments, 0, NULL));
    }
    CHECK(cudaMemcpy(tour_costs_out, answers, B * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_next));
    CHECK(cudaFree(list));
    CHECK(cudaFree(cost));
    CHECK(cudaFree(tables));
    CHECK(cudaFree(answers));
}
