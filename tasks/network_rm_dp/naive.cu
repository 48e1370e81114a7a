/* Network revenue management: one kernel a period, one thread a state, which decodes its remaining
 * capacities, goes through all menus and outcomes and keeps the best. Launching a kernel for every
 * period bounds the small sizes; at the larger ones it is the integer work of testing and locating
 * the same targets again in every period. */
#include "check.cuh"

#define THREADS       128
#define RESOURCES_MAX 8

__global__ void plan_period(int m, int n, int L, int S, const int *capacity, const float *prob,
                            const int *cons, const float *revenue, const float *later, float *now)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    int left[RESOURCES_MAX], rest = s;
    for (int i = 0; i < m; i++) {
        left[i] = rest % (capacity[i] + 1);
        rest /= capacity[i] + 1;
    }
    float best = -1e30f;
    for (int l = 0; l < L; l++) {
        float expected = 0.0f;
        for (int k = 0; k <= n; k++) {
            const size_t row = (size_t)l * (n + 1) + k;
            long long target = s, stride = 1;
            bool possible = true;
            for (int i = 0; i < m; i++) {
                const int need = cons[row * m + i];
                possible = possible && need <= left[i];
                target -= need * stride;
                stride *= capacity[i] + 1;
            }
            expected += prob[row] * (possible ? revenue[row] + later[target] : later[s]);
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
    int *d_capacity, *d_cons;
    float *d_prob, *d_revenue, *d_later, *d_now;
    CHECK(cudaMalloc(&d_capacity, m * sizeof(int)));
    CHECK(cudaMalloc(&d_cons, rows * m * sizeof(int)));
    CHECK(cudaMalloc(&d_prob, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_revenue, rows * sizeof(float)));
    CHECK(cudaMalloc(&d_later, values));
    CHECK(cudaMalloc(&d_now, values));
    CHECK(cudaMemcpy(d_capacity, capacity, m * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_cons, demand_cons, rows * m * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_prob, demand_prob, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_revenue, demand_revenue, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_later, 0, values));
    for (int t = T; t >= 1; t--) {
        plan_period<<<(S + THREADS - 1) / THREADS, THREADS>>>(m, n, L, S, d_capacity, d_prob,
                                                              d_cons, d_revenue, d_later, d_now);
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
    CHECK(cudaFree(d_cons));
    CHECK(cudaFree(d_capacity));
}
