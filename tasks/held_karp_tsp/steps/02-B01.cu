// step: B01 on 01-P06.cu
// One pass lists all sets by their size, so that each launch has threads only for the sets whose
// turn it is, instead of one for every set of every size.
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

static __global__ void extend(int n, unsigned count, const unsigned *sets, const int *costs,
                              int *tables)
{
    const int m = n - 1;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const unsigned S = sets[i];
    const int *cost = costs + (size_t)blockIdx.y * n * n;
    int *best = tables + (size_t)blockIdx.y * m * ((size_t)1 << m);
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

static __global__ void close_tours(int B, int n, const int *costs, const int *tables, int *answers)
{
    const int b = blockIdx.x * THREADS + threadIdx.x, m = n - 1;
    if (b >= B)
        return;
    const int *cost = costs + (size_t)b * n * n;
    const int *last = tables + ((size_t)(b + 1) * ((size_t)1 << m) - 1) * m;
    int tour = INT_MAX;
    for (int j = 0; j < m; j++)
        tour = min(tour, last[j] + cost[(j + 1) * n]);
    answers[b] = tour;
}

extern "C" void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    const int m = n - 1;
    const unsigned sets = 1u << m;
    const size_t instance = (size_t)n * n, table = (size_t)sets * m;
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
    for (int b = 0; b < B; b += together) {
        const int count = B - b < together ? B - b : together;
        for (int size = 1; size <= m; size++) {
            const unsigned here = next[size + 1] - next[size];
            extend<<<dim3((here + THREADS - 1) / THREADS, count), THREADS>>>(
                n, here, list + next[size], cost + b * instance, tables);
            CHECK(cudaGetLastError());
        }
        close_tours<<<(count + THREADS - 1) / THREADS, THREADS>>>(count, n, cost + b * instance,
                                                                  tables, answers + b);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(tour_costs_out, answers, B * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_next));
    CHECK(cudaFree(list));
    CHECK(cudaFree(cost));
    CHECK(cudaFree(tables));
    CHECK(cudaFree(answers));
}
