// step: P05 on 02-P07.cu
// Eight threads share a state and divide its menus; the maximum is put together by shuffles. One
// thread a state leaves most of the device idle between two barriers.
#include "check.cuh"

#include <cooperative_groups.h>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

#define THREADS 256
#define TEAM    8

/* to[move * S + s]: the state after the move, s itself where it is not possible. */
__global__ void find_targets(int m, int moves, int S, const int *capacity, const int *need, int *to,
                             bool *possible)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    for (int move = 0; move < moves; move++) {
        int target = s, stride = 1, rest = s;
        bool can = true;
        for (int i = 0; i < m; i++) {
            const int units = need[move * m + i];
            can = can && units <= rest % (capacity[i] + 1);
            target -= can ? units * stride : 0;
            rest /= capacity[i] + 1;
            stride *= capacity[i] + 1;
        }
        to[(size_t)move * S + s] = can ? target : s;
        possible[(size_t)move * S + s] = can;
    }
}

/* Values are read past the first-level cache: other blocks write them. */
__global__ void plan(int n, int T, int L, int S, const float *prob, const float *revenue,
                     const int *move_of, const int *to, const bool *possible, float *later,
                     float *now)
{
    const cg::grid_group grid = cg::this_grid();
    for (int t = T; t >= 1; t--) {
        /* Whole warps go round together, for the shuffles. */
        for (int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * (32 / TEAM); first < S;
             first += gridDim.x * blockDim.x / TEAM) {
            const int s = min(S - 1, first + (int)threadIdx.x % 32 / TEAM);
            float best = -1e30f;
            for (int l = threadIdx.x % TEAM; l < L; l += TEAM) {
                float expected = 0.0f;
                for (int k = 0; k <= n; k++) {
                    const size_t row = (size_t)l * (n + 1) + k, at = (size_t)move_of[row] * S + s;
                    expected +=
                        prob[row] * ((possible[at] ? revenue[row] : 0.0f) + __ldcg(later + to[at]));
                }
                best = fmaxf(best, expected);
            }
            for (int far = TEAM / 2; far > 0; far /= 2)
                best = fmaxf(best, __shfl_xor_sync(~0u, best, far));
            if (threadIdx.x % TEAM == 0 && first + (int)threadIdx.x % 32 / TEAM < S)
                now[s] = best;
        }
        grid.sync();
        float *const swapped = later;
        later = now;
        now = swapped;
    }
}

extern "C" void solution_compute(int m, int n, int T, int L, int S, const int *capacity,
                                 const int *consumption, const float *demand_prob,
                                 const int *demand_cons, const float *demand_revenue, float *V_out)
{
    (void)consumption; /* what every outcome takes is in demand_cons */
    const size_t rows = (size_t)L * (size_t)(n + 1), values = (size_t)S * sizeof(float);
    /* Distinct vectors of units, and which one each outcome takes. */
    std::vector<int> needs, move_of(rows);
    int moves = 0;
    for (size_t row = 0; row < rows; row++) {
        const int *need = demand_cons + row * m;
        int move = 0;
        while (move < moves && memcmp(&needs[(size_t)move * m], need, m * sizeof(int)) != 0)
            move++;
        if (move == moves) {
            needs.insert(needs.end(), need, need + m);
            moves++;
        }
        move_of[row] = move;
    }
    int *d_capacity, *d_need, *d_move_of, *d_to;
    bool *d_possible;
    float *d_prob, *d_revenue, *d_later, *d_now;
    CHECK(cudaMalloc(&d_capacity, m * sizeof(int)));
    CHECK(cudaMalloc(&d_need, needs.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_move_of, rows * sizeof(int)));
    CHECK(cudaMalloc(&d_to, (size_t)moves * S * sizeof(int)));
    CHECK(cudaMalloc(&d_possible, (size_t)moves * S * sizeof(bool)));
    CHECK(cudaMalloc(&d_prob, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_revenue, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_later, values));
    CHECK(cudaMalloc(&d_now, values));
    CHECK(cudaMemcpy(d_capacity, capacity, m * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_need, needs.data(), needs.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_move_of, move_of.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_prob, demand_prob, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_revenue, demand_revenue, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_later, 0, values));
    const int blocks = (S + THREADS - 1) / THREADS;
    find_targets<<<blocks, THREADS>>>(m, moves, S, d_capacity, d_need, d_to, d_possible);
    CHECK(cudaGetLastError());
    int device, processors, each;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, plan, THREADS, 0));
    const int most = each * processors;
    const long long wanted = ((long long)S * TEAM + THREADS - 1) / THREADS;
    void *arguments[] = {&n,         &T,    &L,          &S,       &d_prob, &d_revenue,
                         &d_move_of, &d_to, &d_possible, &d_later, &d_now};
    CHECK(cudaLaunchCooperativeKernel((void *)plan, wanted < most ? (int)wanted : most, THREADS,
                                      arguments));
    if (T % 2 == 1) {
        float *swapped = d_later;
        d_later = d_now;
        d_now = swapped;
    }
    CHECK(cudaMemcpy(V_out, d_later, values, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_now));
    CHECK(cudaFree(d_later));
    CHECK(cudaFree(d_revenue));
    CHECK(cudaFree(d_prob));
    CHECK(cudaFree(d_possible));
    CHECK(cudaFree(d_to));
    CHECK(cudaFree(d_move_of));
    CHECK(cudaFree(d_need));
    CHECK(cudaFree(d_capacity));
}
