// step: C03 on naive.cu
// Where every outcome leads from every state does not change with time: a table of targets, one for
// each state and distinct vector of units, is computed once, and the periods look it up instead of
// decoding and testing.
#include "check.cuh"

#include <cstring>
#include <vector>

#define THREADS 128

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

__global__ void plan_period(int n, int L, int S, const float *prob, const float *revenue,
                            const int *move_of, const int *to, const bool *possible,
                            const float *later, float *now)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    float best = -1e30f;
    for (int l = 0; l < L; l++) {
        float expected = 0.0f;
        for (int k = 0; k <= n; k++) {
            const size_t row = (size_t)l * (n + 1) + k, at = (size_t)move_of[row] * S + s;
            expected += prob[row] * ((possible[at] ? revenue[row] : 0.0f) + later[to[at]]);
        }
        best = fmaxf(best, expected);
    }
    now[s] = best;
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
    for (int t = T; t >= 1; t--) {
        plan_period<<<blocks, THREADS>>>(n, L, S, d_prob, d_revenue, d_move_of, d_to, d_possible,
                                         d_later, d_now);
        CHECK(cudaGetLastError());
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
