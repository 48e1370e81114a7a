// step: P05+M10+C02 on 02-M10+P05+C06.cu
// An open state is settled by a warp, not a thread: its lanes divide the states of each layer, keep
// them in registers, and carry the slope along, so that every trial tightens both bounds.
#include "check.cuh"

constexpr int WARPS = 32, BRACKETS = 31; // a block: 32 payments, one a lane
constexpr float ACCURACY = 1e-6f;        // gap between the bounds, relative to 1 + index

// What is known of W at two payments, left and right of the root.
struct Ends {
    float payment[2], w[2], slope[2];
};

struct Open { // a state whose root is not settled
    Ends ends;
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

// A lane a payment, a warp COUNT neighbouring states of each layer, values and slopes in registers;
// only the first state of a warp is passed on, to the warp before it.
template <int COUNT>
static __global__ void __launch_bounds__(32 * WARPS)
    sweep(int N, float gamma, float step, float *index, Open *open, int *open_count)
{
    __shared__ float2 first[2][WARPS + 1][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, from = warp * COUNT;
    const float payment = static_cast<float>(blockIdx.x * BRACKETS + lane) * step;
    float value[COUNT], slope[COUNT];
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        value[c] = slope[c] = 0.0f;
    for (int i = threadIdx.x; i < 2 * (WARPS + 1) * 32; i += 32 * WARPS)
        first[i / (32 * (WARPS + 1))][i / 32 % (WARPS + 1)][i % 32] = make_float2(0.0f, 0.0f);
    if (blockIdx.x == 0)
        for (int a = threadIdx.x; a < N; a += 32 * WARPS)
            index[layer_start(N - 1) + a] = static_cast<float>(a + 1) / static_cast<float>(N + 1);
    __syncthreads();
    for (int k = N - 1, turn = 0; k >= 0; k--, turn ^= 1) {
        if (from <= k) {
            const float2 next = first[turn][warp + 1][lane];
            const float scale = 1.0f / static_cast<float>(k + 2);
#pragma unroll
            for (int c = 0; c < COUNT; c++) {
                const float r = static_cast<float>(from + c + 1) * scale;
                const float high = c + 1 < COUNT ? value[c + 1] : next.x,
                            high_slope = c + 1 < COUNT ? slope[c + 1] : next.y;
                const float w = fmaf(gamma, fmaf(r, high - value[c], value[c]), r - payment);
                const float d = fmaf(gamma, fmaf(r, high_slope - slope[c], slope[c]), -1.0f);
                const bool up = w > 0.0f;
                value[c] = up ? w : 0.0f;
                slope[c] = up ? d : 0.0f;
                const unsigned positive = __ballot_sync(~0u, up);
                // Falling in the payment: the first lanes are the positive ones.
                if (positive - 1u < ~0u - 1u && from + c <= k && k < N - 1) {
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
                            index[layer_start(k) + from + c] = 0.5f * (lo + hi);
                        else
                            open[atomicAdd(open_count, 1)] = Open{e, k, from + c};
                    }
                }
            }
            first[turn ^ 1][warp][lane] = make_float2(value[0], slope[0]);
        }
        __syncthreads();
    }
}

// W and its slope at one state, by one warp over the triangle that follows from it: a lane has
// COUNT neighbouring states of each layer.
template <int COUNT>
static __device__ void evaluate(int N, float gamma, int k, int a, float payment, float *ret_w,
                                float *ret_slope)
{
    const int lane = threadIdx.x % 32, from = lane * COUNT;
    float value[COUNT], slope[COUNT], w = 0.0f, d = 0.0f;
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        value[c] = slope[c] = 0.0f;
    for (int layer = N - 1; layer >= k; layer--) {
        const float scale = 1.0f / static_cast<float>(layer + 2);
        const float next = __shfl_down_sync(~0u, value[0], 1),
                    next_slope = __shfl_down_sync(~0u, slope[0], 1);
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            const float r = static_cast<float>(a + from + c + 1) * scale;
            const float high = c + 1 < COUNT ? value[c + 1] : next,
                        high_slope = c + 1 < COUNT ? slope[c + 1] : next_slope;
            const float wc = fmaf(gamma, fmaf(r, high - value[c], value[c]), r - payment);
            const float dc = fmaf(gamma, fmaf(r, high_slope - slope[c], slope[c]), -1.0f);
            const bool up = wc > 0.0f && from + c <= layer - k;
            value[c] = up ? wc : 0.0f;
            slope[c] = up ? dc : 0.0f;
            if (c == 0) {
                w = wc;
                d = dc;
            }
        }
    }
    *ret_w = __shfl_sync(~0u, w, 0);
    *ret_slope = __shfl_sync(~0u, d, 0);
}

// A warp a state, and the states that are a grid further on: halves what lies between the bounds
// until they meet.
template <int COUNT>
static __global__ void __launch_bounds__(256)
    settle(int N, float gamma, float *index, const Open *open, const int *open_count)
{
    const int lane = threadIdx.x % 32, count = *open_count;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32,
              warps = gridDim.x * blockDim.x / 32;
    for (int item = warp; item < count; item += warps) {
        const Open state = open[item];
        Ends e = state.ends;
        float lo, hi;
        bound(e, &lo, &hi);
        for (int turn = 0; turn < 40 && !settled(lo, hi); turn++) {
            const float payment = 0.5f * (lo + hi);
            float w, slope;
            evaluate<COUNT>(N, gamma, state.k, state.a, payment, &w, &slope);
            const int side = w > 0.0f ? 0 : 1;
            if (payment <= e.payment[0] || payment >= e.payment[1])
                break;
            if (side == 0)
                e.payment[0] = payment, e.w[0] = w, e.slope[0] = slope;
            else
                e.payment[1] = payment, e.w[1] = w, e.slope[1] = slope;
            bound(e, &lo, &hi);
        }
        if (lane == 0)
            index[layer_start(state.k) + state.a] = 0.5f * (lo + hi);
    }
}

template <int COUNT>
static void run(int N, float gamma, int blocks, float *index, Open *open, int *open_count)
{
    sweep<COUNT><<<blocks, 32 * WARPS>>>(N, gamma, 1.0f / static_cast<float>(blocks * BRACKETS),
                                         index, open, open_count);
    CHECK(cudaGetLastError());
    settle<COUNT><<<2 * blocks, 256>>>(N, gamma, index, open, open_count);
    CHECK(cudaGetLastError());
}

extern "C" void solution_compute(int N, int a_x10000, int S, int num_bisect, float *V_out)
{
    (void)num_bisect; // the root to float accuracy, as that many halvings find it
    const float gamma = static_cast<float>(a_x10000) / 10000.0f;
    float *index;
    Open *open;
    int *open_count, device, processors;
    CHECK(cudaMalloc(&index, S * sizeof(float)));
    CHECK(cudaMalloc(&open, S * sizeof(Open)));
    CHECK(cudaMalloc(&open_count, sizeof(int)));
    CHECK(cudaMemset(open_count, 0, sizeof(int)));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    if (N <= 2 * 32)
        run<2>(N, gamma, processors, index, open, open_count);
    else if (N <= 5 * 32)
        run<5>(N, gamma, processors, index, open, open_count);
    else if (N <= 10 * 32)
        run<10>(N, gamma, processors, index, open, open_count);
    else
        run<32>(N, gamma, processors, index, open, open_count);
    CHECK(cudaMemcpy(V_out, index, S * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(open_count));
    CHECK(cudaFree(open));
    CHECK(cudaFree(index));
}
