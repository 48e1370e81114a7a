// step: C02 on naive.cu
// For a fixed payment one backward sweep over the triangle values all states, so thousands of
// payments are swept, a thread each, and a state's root lies between the two neighbouring payments
// where its sign changes. W is convex: tangents and chord bound the root there; the states whose
// bounds are not close enough, some per cent, are bisected as before, but between their bounds.
#include "check.cuh"

#define BRACKETS 31 /* of a warp, which has 32 payments */
#define WARPS    132
#define THREADS  64
#define SETTLING 16384 /* threads */
#define ACCURACY 1e-6f /* gap between the bounds, relative to 1 + index */

// What is known of W at two payments, left and right of the root.
struct Ends {
    float payment[2], w[2], slope[2];
};

struct Open { // a state whose root is not settled: it lies between lo and hi
    float lo, hi;
    int k, a;
};

static __device__ int layer_start(int k)
{
    return k * (k + 1) / 2;
}

// W is convex and falling: the tangents at both ends meet zero left of the root, the chord right of
// it. Where one kink lies between the ends, the farther tangent meets the root itself.
static __device__ void bound(const Ends &e, float *lo, float *hi)
{
    const float width = e.payment[1] - e.payment[0];
    *lo = fmaxf(e.payment[0],
                fmaxf(e.payment[0] - e.w[0] / e.slope[0], e.payment[1] - e.w[1] / e.slope[1]));
    *hi = fminf(e.payment[1], e.payment[0] + width * (e.w[0] / (e.w[0] - e.w[1])));
    *hi = fmaxf(*lo, *hi);
}

static __device__ bool settled(float lo, float hi)
{
    return hi - lo <= ACCURACY * (1.0f + lo);
}

/* A thread a payment. value, slope: of the current layer, [state][thread]. */
static __global__ void sweep(int N, float gamma, float step, float *value, float *slope,
                             float *index, Open *open, int *open_count)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const size_t threads = gridDim.x * blockDim.x;
    const float payment = (float)(me / 32 * BRACKETS + lane) * step;
    for (int a = 0; a <= N; a++)
        value[a * threads + me] = slope[a * threads + me] = 0.0f;
    for (int k = N - 1; k >= 0; k--) {
        float low = value[me], low_slope = slope[me];
        for (int a = 0; a <= k; a++) {
            const float r = (float)(a + 1) / (float)(k + 2);
            const float high = value[(a + 1) * threads + me],
                        high_slope = slope[(a + 1) * threads + me];
            const float w = (r - payment) + gamma * (r * high + (1.0f - r) * low);
            const float d = -1.0f + gamma * (r * high_slope + (1.0f - r) * low_slope);
            value[a * threads + me] = w > 0.0f ? w : 0.0f;
            slope[a * threads + me] = w > 0.0f ? d : 0.0f;
            low = high;
            low_slope = high_slope;
            if (k == N - 1) {
                index[layer_start(k) + a] = r; /* by every thread the same */
                continue;
            }
            /* Falling in the payment: the first lanes are the positive ones. */
            const unsigned positive = __ballot_sync(~0u, w > 0.0f);
            if (positive == 0 || positive == ~0u)
                continue;
            const int g = __popc(positive) - 1;
            Ends e;
            for (int side = 0; side < 2; side++) {
                e.payment[side] = __shfl_sync(~0u, payment, g + side);
                e.w[side] = __shfl_sync(~0u, w, g + side);
                e.slope[side] = __shfl_sync(~0u, d, g + side);
            }
            if (lane == 0) {
                float lo, hi;
                bound(e, &lo, &hi);
                if (settled(lo, hi))
                    index[layer_start(k) + a] = 0.5f * (lo + hi);
                else
                    open[atomicAdd(open_count, 1)] = Open{lo, hi, k, a};
            }
        }
    }
}

/* A thread an open state: halves its bracket, and values every trial by a backward induction of its
 * own in global memory, interleaved over the threads. */
static __global__ void settle(int N, float gamma, float *scratch, size_t stride, float *index,
                              const Open *open, const int *open_count)
{
    const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
    float *value = scratch + me;
    for (int item = me; item < *open_count; item += threads) {
        const Open state = open[item];
        const int k = state.k, a = state.a;
        float lo = state.lo, hi = state.hi;
        while (!settled(lo, hi)) {
            const float payment = (lo + hi) * 0.5f;
            for (int i = 0; i <= N - k; i++)
                value[i * stride] = 0.0f;
            float w = 0.0f;
            for (int layer = N - 1; layer >= k; layer--) {
                float low = value[0];
                for (int i = 0; i <= layer - k; i++) {
                    const float r = (float)(a + i + 1) / (float)(layer + 2),
                                high = value[(i + 1) * stride];
                    w = (r - payment) + gamma * (r * high + (1.0f - r) * low);
                    value[i * stride] = w > 0.0f ? w : 0.0f;
                    low = high;
                }
            }
            if (w > 0.0f)
                lo = payment;
            else
                hi = payment;
        }
        index[layer_start(k) + a] = (lo + hi) * 0.5f;
    }
}

extern "C" void solution_compute(int N, int a_x10000, int S, int num_bisect, float *V_out)
{
    (void)num_bisect; /* the root to float accuracy, as that many halvings find it */
    const float gamma = (float)a_x10000 / 10000.0f;
    const size_t layer = (size_t)(N + 1) * WARPS * 32;
    float *value, *slope, *scratch, *index;
    Open *open;
    int *open_count;
    CHECK(cudaMalloc(&value, layer * sizeof(float)));
    CHECK(cudaMalloc(&slope, layer * sizeof(float)));
    CHECK(cudaMalloc(&scratch, (size_t)(N + 1) * SETTLING * sizeof(float)));
    CHECK(cudaMalloc(&index, S * sizeof(float)));
    CHECK(cudaMalloc(&open, S * sizeof(Open)));
    CHECK(cudaMalloc(&open_count, sizeof(int)));
    CHECK(cudaMemset(open_count, 0, sizeof(int)));
    sweep<<<WARPS, 32>>>(N, gamma, 1.0f / (WARPS * BRACKETS), value, slope, index, open,
                         open_count);
    CHECK(cudaGetLastError());
    settle<<<SETTLING / THREADS, THREADS>>>(N, gamma, scratch, SETTLING, index, open, open_count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(V_out, index, S * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(open_count));
    CHECK(cudaFree(open));
    CHECK(cudaFree(index));
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(slope));
    CHECK(cudaFree(value));
}
