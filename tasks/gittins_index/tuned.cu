// Gittins indices: one sweep over the triangle for thousands of payments at once, then a few
// more payments for the states that it does not settle.
//
// Approach: for a fixed payment one backward sweep values every state. A block sweeps 32 payments,
// one a lane; its warps divide the states of a layer, up to ten neighbours each, with values and
// slopes in registers, and hand one state to the warp before through shared memory, with a barrier
// a layer. Where the sign changes between two lanes lies the root of a state. The advantage is
// convex and falling: tangents at both payments bound the root from the left, the chord from the
// right. States whose bounds stay apart (about one in eight at large) go to a list, and a second
// kernel gives each a warp that halves the gap, sweeping the triangle that follows from the state
// in registers.
//
// What bounds it: the sweep, 4092 payments times all states, two thirds of the time at medium and
// large; launches and the copy back at small. A layer takes 0.35 us at small, 0.5 us at medium,
// 0.8 us at large.
//
// Tried: judging every bracket where it is found (a third slower at large: all warps wait at the
// barrier for its divisions; now a warp collects sixteen first); twice the payments, which leave
// fewer states open (40 % slower at large); ten states a warp at medium too (a little slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.046 ms, medium 0.12 ms,
// large 0.37 ms (48 %, 33 % and 25 % of a launch, the copy and the arithmetic of 16384 payments;
// naive 3.4, 30 and 148 ms). An evaluation, which comes to a call with cold caches, takes 0.081 ms
// at small.
//
// These times were taken with an arena of 4 MiB. The rules allow 1 MiB of device variables, so
// calls that need more now allocate, which takes some 0.1 ms.
#include "check.cuh"

constexpr int WARPS = 32, BRACKETS = 31; // a block: 32 payments, one a lane
constexpr int FOUND = 16;                // brackets that a warp keeps until it judges them
constexpr float ACCURACY = 1.5e-6f;      // gap between the bounds, relative to 1 + index
constexpr size_t ARENA = 1000 * 1000;

// For all usual sizes: an allocation would cost as much as the rest.
static __device__ __align__(256) char arena[ARENA];

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
    __shared__ float2 first[2][WARPS + 1][32], left[WARPS][FOUND], right[WARPS][FOUND];
    __shared__ int found[WARPS][FOUND]; // layer, state, bracket
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, from = warp * COUNT;
    const float payment = static_cast<float>(blockIdx.x * BRACKETS + lane) * step;
    float value[COUNT], slope[COUNT];
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        value[c] = slope[c] = 0.0f;
    for (int i = threadIdx.x; i < 2 * (WARPS + 1) * 32; i += blockDim.x)
        first[i / (32 * (WARPS + 1))][i / 32 % (WARPS + 1)][i % 32] = make_float2(0.0f, 0.0f);
    if (blockIdx.x == 0)
        for (int a = threadIdx.x; a < N; a += blockDim.x)
            index[layer_start(N - 1) + a] = static_cast<float>(a + 1) / static_cast<float>(N + 1);
    __syncthreads();
    int count = 0; // of the brackets that the warp has found and not yet judged, a lane each
    auto judge_found = [&] {
        __syncwarp();
        if (lane < count) {
            const int which = found[warp][lane], k = which >> 15, a = which >> 5 & 1023;
            const float2 one = left[warp][lane], other = right[warp][lane];
            const int g = static_cast<int>(blockIdx.x) * BRACKETS + (which & 31);
            const Ends e = {{static_cast<float>(g) * step, static_cast<float>(g + 1) * step},
                            {one.x, other.x},
                            {one.y, other.y}};
            float lo, hi;
            bound(e, &lo, &hi);
            if (settled(lo, hi))
                index[layer_start(k) + a] = 0.5f * (lo + hi);
            else
                open[atomicAdd(open_count, 1)] = Open{e, k, a};
        }
        __syncwarp();
    };
    float scale = __fdividef(1.0f, static_cast<float>(N + 1));
    for (int k = N - 1, turn = 0; k >= 0; k--, turn ^= 1) {
        if (from <= k) {
            const float2 next = first[turn][warp + 1][lane];
            float w[COUNT], d[COUNT];
            unsigned up = 0;
#pragma unroll
            for (int c = 0; c < COUNT; c++) {
                const float r = static_cast<float>(from + c + 1) * scale;
                const float high = c + 1 < COUNT ? value[c + 1] : next.x,
                            high_slope = c + 1 < COUNT ? slope[c + 1] : next.y;
                w[c] = fmaf(gamma, fmaf(r, high - value[c], value[c]), r - payment);
                d[c] = fmaf(gamma, fmaf(r, high_slope - slope[c], slope[c]), -1.0f);
                up |= (w[c] > 0.0f ? 1u : 0u) << c;
            }
#pragma unroll
            for (int c = 0; c < COUNT; c++) {
                value[c] = fmaxf(w[c], 0.0f);
                slope[c] = w[c] > 0.0f ? d[c] : 0.0f;
            }
            // Falling in the payment: the first lanes are the positive ones.
            const unsigned states = k - from >= COUNT - 1 ? ~0u : (1u << (k - from + 1)) - 1u;
            const unsigned changes = __reduce_or_sync(~0u, (up ^ __shfl_sync(~0u, up, 0)) & states);
            if (changes != 0 && k < N - 1) {
#pragma unroll
                for (int c = 0; c < COUNT; c++)
                    if (changes >> c & 1) {
                        const int g = __popc(__ballot_sync(~0u, w[c] > 0.0f)) - 1;
                        if (lane == g) {
                            found[warp][count] = ((k << 10 | (from + c)) << 5) | g;
                            left[warp][count] = make_float2(w[c], d[c]);
                        }
                        if (lane == g + 1)
                            right[warp][count] = make_float2(w[c], d[c]);
                        if (++count == FOUND) {
                            judge_found();
                            count = 0;
                        }
                    }
            }
            first[turn ^ 1][warp][lane] = make_float2(value[0], slope[0]);
        }
        scale = __fdividef(1.0f, static_cast<float>(k + 1)); // of the next layer
        __syncthreads();
    }
    judge_found();
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
        const float scale = __fdividef(1.0f, static_cast<float>(layer + 2));
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

// A warp a state: halves what lies between the bounds until they meet.
template <int COUNT>
static __global__ void __launch_bounds__(256)
    settle(int N, float gamma, float *index, const Open *open, const int *open_count, int *taken)
{
    const int lane = threadIdx.x % 32, count = *open_count;
    for (;;) {
        int item = 0;
        if (lane == 0)
            item = atomicAdd(taken, 1);
        item = __shfl_sync(~0u, item, 0);
        if (item >= count)
            return;
        const Open state = open[count - 1 - item]; // the largest triangles were found last
        Ends e = state.ends;
        float lo, hi;
        bound(e, &lo, &hi);
        for (int turn = 0; turn < 40 && !settled(lo, hi); turn++) {
            const float payment = 0.5f * (lo + hi);
            float w, slope;
            if (payment <= e.payment[0] || payment >= e.payment[1])
                break;
            const int layers = N - state.k;
            if (layers <= 2 * 32)
                evaluate<2>(N, gamma, state.k, state.a, payment, &w, &slope);
            else if (COUNT > 2 && layers <= 4 * 32)
                evaluate<4>(N, gamma, state.k, state.a, payment, &w, &slope);
            else if (COUNT > 4 && layers <= 7 * 32)
                evaluate<7>(N, gamma, state.k, state.a, payment, &w, &slope);
            else
                evaluate<COUNT>(N, gamma, state.k, state.a, payment, &w, &slope);
            const int side = w > 0.0f ? 0 : 1;
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
static void run(int N, float gamma, int blocks, float *index, Open *open, int *counters)
{
    sweep<COUNT><<<blocks, 32 * ((N + COUNT - 1) / COUNT)>>>(
        N, gamma, 1.0f / static_cast<float>(blocks * BRACKETS), index, open, counters);
    CHECK(cudaGetLastError());
    settle<COUNT><<<2 * blocks, 256>>>(N, gamma, index, open, counters, counters + 1);
    CHECK(cudaGetLastError());
}

extern "C" void solution_compute(int N, int a_x10000, int S, int num_bisect, float *V_out)
{
    (void)num_bisect; // the root to float accuracy, as that many halvings find it
    const float gamma = static_cast<float>(a_x10000) / 10000.0f;
    const size_t values = (static_cast<size_t>(S) * sizeof(float) + 255) / 256 * 256;
    const size_t bytes = values + static_cast<size_t>(S) * sizeof(Open) + 256;
    char *memory, *allocated = nullptr;
    if (bytes > ARENA)
        CHECK(cudaMalloc(&allocated, bytes));
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    if (allocated)
        memory = allocated;
    int *counters = reinterpret_cast<int *>(memory);
    float *index = reinterpret_cast<float *>(memory + 256);
    Open *open = reinterpret_cast<Open *>(memory + 256 + values);
    CHECK(cudaMemsetAsync(counters, 0, 2 * sizeof(int)));
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    if (N <= 2 * 32)
        run<2>(N, gamma, processors, index, open, counters);
    else if (N <= 5 * 32)
        run<5>(N, gamma, processors, index, open, counters);
    else if (N <= 10 * 32)
        run<10>(N, gamma, processors, index, open, counters);
    else
        run<32>(N, gamma, processors, index, open, counters);
    CHECK(cudaMemcpy(V_out, index, static_cast<size_t>(S) * sizeof(float), cudaMemcpyDeviceToHost));
    if (allocated)
        CHECK(cudaFree(allocated));
}
