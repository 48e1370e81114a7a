/* Gittins indices, one thread a state: each bisects its own payment and values every trial by its
 * own backward induction, with its layer of values in global memory, interleaved over the states.
 * The work is of the order of N^4 and very unequal: the states with a short record have the whole
 * triangle before them, and one such thread, a long chain of dependent loads and few neighbours to
 * hide it behind, bounds the run. */
#include "check.cuh"

#define THREADS 64

__global__ void bisect_states(int N, int S, float gamma, int num_bisect, float *scratch,
                              float *index)
{
    const int state = blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= S)
        return;
    int k = (int)((sqrt(8.0 * state + 1.0) - 1.0) / 2.0); /* layer, corrected below for rounding */
    while ((long long)(k + 1) * (k + 2) / 2 <= state)
        k++;
    while ((long long)k * (k + 1) / 2 > state)
        k--;
    const int a = state - (int)((long long)k * (k + 1) / 2);
    if (k == N - 1) {
        index[state] = (float)(a + 1) / (float)(k + 2);
        return;
    }
    float *value = scratch + state; /* value[i * S]: i more successes */
    const size_t stride = (size_t)S;
    float lo = 0.0f, hi = 1.0f;
    for (int step = 0; step < num_bisect; step++) {
        const float payment = (lo + hi) * 0.5f;
        for (int i = 0; i < N - k; i++) {
            const float w = (float)(a + i + 1) / (float)(N + 1) - payment;
            value[i * stride] = w > 0.0f ? w : 0.0f;
        }
        float w = 0.0f;
        for (int layer = N - 2; layer >= k; layer--) {
            float low = value[0];
            for (int i = 0; i <= layer - k; i++) {
                const float r = (float)(a + i + 1) / (float)(layer + 2),
                            high = value[(i + 1) * stride];
                w = (r - payment) + gamma * (r * high + (1.0f - r) * low);
                value[i * stride] = w > 0.0f ? w : 0.0f;
                low = high;
            }
        }
        if (w > 1e-12f) /* of the state itself: the only one of the last layer */
            lo = payment;
        else
            hi = payment;
    }
    index[state] = (lo + hi) * 0.5f;
}

extern "C" void solution_compute(int N, int a_x10000, int S, int num_bisect, float *V_out)
{
    float *d_scratch, *d_index;
    CHECK(cudaMalloc(&d_scratch, (size_t)N * (size_t)S * sizeof(float)));
    CHECK(cudaMalloc(&d_index, (size_t)S * sizeof(float)));
    bisect_states<<<(S + THREADS - 1) / THREADS, THREADS>>>(N, S, (float)a_x10000 / 10000.0f,
                                                            num_bisect, d_scratch, d_index);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V_out, d_index, (size_t)S * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_index));
    CHECK(cudaFree(d_scratch));
}
