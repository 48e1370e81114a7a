// Replenishment around a precommitted order: two of the four coordinates do not matter; the other
// two are solved by one cluster of blocks, all periods in shared memory.
//
// Approach: neither cost nor demand depends on backlog and squared shocks, and the weights of an
// interpolation sum to one, so values do not depend on them either. The inputs are an argument of
// the kernel. A cluster of 16 blocks divides the states of the other two coordinates; every block
// has the whole table in its shared memory, and where an action and an outcome lead stays in
// registers for all periods. New values go to the tables of all blocks, with a cluster barrier a
// period. Only the two-dimensional table comes back; the host copies it out over the other two
// coordinates. Larger problems take a kernel a period.
//
// What bounds it: launch, copy and copying out. The kernel takes 1.5 us a period at small and some
// 3.5 us at large, preparation included.
//
// Tried: 8 blocks instead of 16 (a fifth slower at medium, at large there are not enough
// registers); an even row length of the table (equal); stores past the caches also where little is
// copied out (slower); the four-dimensional answer from the device would take longer to copy than
// the whole.
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.04 to 0.06 ms, medium 0.05
// to 0.07 ms, large 0.08 to 0.12 ms (a launch and a copy of the whole answer over the bus are 0.02
// to 0.03 ms, 25 to 50 % of that; naive 1.1, 2.8 and 9.2 ms). An evaluation, which comes to a call
// with cold caches, takes 0.071 ms at small.
#include "check.cuh"

#include <cooperative_groups.h>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cg = cooperative_groups;

constexpr int BLOCK = 1024, OUTCOMES_EACH = 10;    // the last: of a thread, at most
constexpr int INPUTS = 900;                        // floats that go as an argument
constexpr int STATES_MAX = 2048, PAIRS_MAX = 1024; // PAIRS: of a sum of shocks and an outcome
constexpr int THREADS = 128;
constexpr size_t ARENA = 1000 * 1000;
constexpr size_t PAST_CACHES = size_t(256) << 10; // bytes of an answer

// For all usual sizes: an allocation would cost as much as the rest.
static __device__ __align__(256) char arena[ARENA];

struct Sizes {
    int stocks, sums, actions, outcomes, periods; // sums: of past shocks
    float mu, nu, alpha, y;
};

// Where each array starts in the packed inputs.
struct Offsets {
    int c, h, b, stock, sum, action, shock, chance;
};

static __host__ __device__ Offsets offsets(const Sizes &n)
{
    Offsets o;
    o.c = 0;
    o.h = o.c + n.periods;
    o.b = o.h + n.periods;
    o.stock = o.b + n.periods;
    o.sum = o.stock + n.stocks;
    o.action = o.sum + n.sums;
    o.shock = o.action + n.actions;
    o.chance = o.shock + n.outcomes;
    return o;
}

struct Inputs {
    Sizes n;
    float packed[INPUTS];
};

struct Place {
    int cell;
    float weight;
};

// Outside the grid the nearest end counts.
static __device__ Place locate(const float *grid, int n, float value)
{
    if (value <= grid[0])
        return Place{0, 0.0f};
    if (value >= grid[n - 1])
        return Place{n - 2, 1.0f};
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (grid[middle] <= value)
            lo = middle;
        else
            hi = middle;
    }
    return Place{lo, (value - grid[lo]) / (grid[lo + 1] - grid[lo])};
}

static __device__ float between(const float *v, int stride, float weight, float weight_across)
{
    const float low = fmaf(weight_across, v[1] - v[0], v[0]),
                high = fmaf(weight_across, v[stride + 1] - v[stride], v[stride]);
    return fmaf(weight, high - low, low);
}

// All periods. A block has `each` states, `team` threads share the outcomes of one action in one
// state. Where an action and an outcome lead does not change with time: it stays in registers.
// Every block has the whole table in shared memory and sends its part of the new one to all others.
static __global__ void __launch_bounds__(BLOCK)
    plan(const __grid_constant__ Inputs in, int each, int team, float *values)
{
    __shared__ float packed[INPUTS];
    __shared__ float tables[2][STATES_MAX];
    __shared__ float expected[BLOCK], demand[PAIRS_MAX];
    __shared__ Place later_sum[PAIRS_MAX];
    const Sizes &n = in.n;
    const Offsets o = offsets(n);
    const int states = n.stocks * n.sums, total = o.chance + n.outcomes, me = threadIdx.x;
    const int stride = n.sums | 1; // odd, against bank conflicts
#if __CUDA_ARCH__ >= 900
    const cg::cluster_group cluster = cg::this_cluster();
    const int blocks = static_cast<int>(cluster.num_blocks()),
              rank = static_cast<int>(cluster.block_rank());
#else
    const int rank = 0;
#endif
    for (int x = me; x < total; x += BLOCK)
        packed[x] = in.packed[x];
    for (int s = me; s < n.stocks * stride; s += BLOCK)
        tables[0][s] = 0.0f;
    __syncthreads();
    for (int x = me; x < n.sums * n.outcomes; x += BLOCK) {
        const float sum = packed[o.sum + x / n.outcomes], shock = packed[o.shock + x % n.outcomes];
        demand[x] = n.mu + n.nu * (shock + n.alpha * sum);
        later_sum[x] = locate(packed + o.sum, n.sums, sum + shock);
    }
    __syncthreads();

    const int first = rank * each, count = max(0, min(each, states - first));
    const int item = me / team, lane = me % team, state = first + item / n.actions;
    const bool works = item < count * n.actions;
    const float x = works ? packed[o.action + item % n.actions] : 0.0f, distance = fabsf(x);
    int corner[OUTCOMES_EACH];
    float weight[OUTCOMES_EACH], across[OUTCOMES_EACH], next[OUTCOMES_EACH], chance[OUTCOMES_EACH];
#pragma unroll
    for (int q = 0; q < OUTCOMES_EACH; q++) {
        const int k = lane + q * team;
        corner[q] = 0;
        weight[q] = across[q] = next[q] = chance[q] = 0.0f;
        if (works && k < n.outcomes) {
            const int pair = state % n.sums * n.outcomes + k;
            chance[q] = packed[o.chance + k];
            next[q] = packed[o.stock + state / n.sums] + n.y + x - demand[pair];
            const Place stock = locate(packed + o.stock, n.stocks, next[q]),
                        later = later_sum[pair];
            corner[q] = stock.cell * stride + later.cell;
            weight[q] = stock.weight;
            across[q] = later.weight;
        }
    }
#if __CUDA_ARCH__ >= 900
    cluster.sync(); // all blocks run: their shared memory may be written to
#endif
    for (int t = n.periods - 1, turn = 0; t >= 0; t--, turn ^= 1) {
        const float *table = tables[turn];
        const float held = packed[o.h + t], lacking = packed[o.b + t];
        float sum = 0.0f;
#pragma unroll
        for (int q = 0; q < OUTCOMES_EACH; q++)
            if (q * team < n.outcomes) {
                const float cost = held * fmaxf(0.0f, next[q]) + lacking * fmaxf(0.0f, -next[q]);
                sum = fmaf(chance[q],
                           cost + between(table + corner[q], stride, weight[q], across[q]) +
                               packed[o.c + t] * distance,
                           sum);
            }
        for (int far = team / 2; far > 0; far /= 2)
            sum += __shfl_xor_sync(~0u, sum, far);
        if (works && lane == 0)
            expected[item] = sum;
        __syncthreads();
        for (int i = me / 32; i < count; i += BLOCK / 32) {
            float best = 1e30f;
            for (int a = me % 32; a < n.actions; a += 32)
                best = fminf(best, expected[i * n.actions + a]);
            for (int far = 16; far > 0; far /= 2)
                best = fminf(best, __shfl_xor_sync(~0u, best, far));
            const int at = (first + i) / n.sums * stride + (first + i) % n.sums;
            if (t == 0 && me % 32 == 0)
                values[first + i] = best;
#if __CUDA_ARCH__ >= 900
            if (me % 32 < blocks)
                *cluster.map_shared_rank(&tables[turn ^ 1][at], me % 32) = best;
#else
            if (me % 32 == 0)
                tables[turn ^ 1][at] = best;
#endif
        }
#if __CUDA_ARCH__ >= 900
        cluster.sync();
#else
        __syncthreads();
#endif
    }
}

// Any size: one period, a warp a state.
static __global__ void plan_period(Sizes n, int t, const float *packed, const float *later,
                                   float *now)
{
    const Offsets o = offsets(n);
    const int lane = threadIdx.x % 32;
    const size_t states = static_cast<size_t>(n.stocks) * n.sums,
                 warps = static_cast<size_t>(gridDim.x) * (THREADS / 32);
    for (size_t s = static_cast<size_t>(blockIdx.x) * (THREADS / 32) + threadIdx.x / 32; s < states;
         s += warps) {
        const float stock = packed[o.stock + s / n.sums], sum = packed[o.sum + s % n.sums];
        float best = 1e30f;
        for (int a = 0; a < n.actions; a++) {
            const float x = packed[o.action + a];
            float expected = 0.0f;
            for (int k = lane; k < n.outcomes; k += 32) {
                const float shock = packed[o.shock + k];
                const float next = stock + n.y + x - (n.mu + n.nu * (shock + n.alpha * sum));
                const Place i = locate(packed + o.stock, n.stocks, next),
                            f = locate(packed + o.sum, n.sums, sum + shock);
                const float cost = packed[o.c + t] * fabsf(x) +
                                   packed[o.h + t] * fmaxf(0.0f, next) +
                                   packed[o.b + t] * fmaxf(0.0f, -next);
                expected += packed[o.chance + k] *
                            (cost + between(later + static_cast<size_t>(i.cell) * n.sums + f.cell,
                                            n.sums, i.weight, f.weight));
            }
            for (int far = 16; far > 0; far /= 2)
                expected += __shfl_xor_sync(~0u, expected, far);
            best = fminf(best, expected);
        }
        if (lane == 0)
            now[s] = best;
    }
}

static void pack(const Sizes &n, const float *const arrays[8], float *to)
{
    const int counts[8] = {n.periods, n.periods, n.periods,  n.stocks,
                           n.sums,    n.actions, n.outcomes, n.outcomes};
    for (int k = 0; k < 8; k++) {
        memcpy(to, arrays[k], counts[k] * sizeof(float));
        to += counts[k];
    }
}

// Blocks in the cluster, states of each, threads of a team; false where the fast way does not fit.
static bool fit(const Sizes &n, int blocks, int *ret_each, int *ret_team)
{
    const int states = n.stocks * n.sums, each = (states + blocks - 1) / blocks;
    if (n.actions > BLOCK || each * n.actions > BLOCK || n.sums > PAIRS_MAX ||
        n.sums * n.outcomes > PAIRS_MAX)
        return false;
    int team = 1;
    while (team < 32 && team < n.outcomes && each * n.actions * team * 2 <= BLOCK)
        team *= 2;
    *ret_each = each;
    *ret_team = team;
    return (n.outcomes + team - 1) / team <= OUTCOMES_EACH;
}

// False where it does not fit, or the device has no room for so large a cluster.
static bool plan_in_cluster(const Inputs &inputs, int major, float *values)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(BLOCK);
    config.attrs = &attribute;
    config.numAttrs = major >= 9 ? 1 : 0;
    for (int blocks = major >= 9 ? 16 : 1; blocks > 0; blocks = blocks == 16 ? 8 : 0) {
        int each, team;
        if (!fit(inputs.n, blocks, &each, &team))
            continue;
        if (blocks > 8 && cudaFuncSetAttribute(plan, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                               1) != cudaSuccess) {
            (void)cudaGetLastError();
            continue;
        }
        config.gridDim = dim3(blocks);
        attribute.val.clusterDim.x = blocks;
        if (cudaLaunchKernelEx(&config, plan, inputs, each, team, values) == cudaSuccess)
            return true;
        (void)cudaGetLastError();
    }
    return false;
}

// Past the caches, where a lot is written: the lines need not be read first then.
static void copy_out(float *to, const float *from, size_t count, bool past_caches)
{
    size_t n = 0;
#if defined(__SSE2__)
    for (; past_caches && n < count && reinterpret_cast<size_t>(to + n) % 16 != 0; n++)
        to[n] = from[n];
    for (; past_caches && n + 4 <= count; n += 4)
        _mm_stream_ps(to + n, _mm_loadu_ps(from + n));
#endif
    memcpy(to + n, from + n, (count - n) * sizeof(float));
}

extern "C" void solution_compute(int N_I, int N_B, int N_Phi, int N_Psi, int N_x, int N_phi, int T,
                                 const float *c_t, const float *h_t, const float *b_t, float mu,
                                 float nu, float alpha, float y, const float *grid_I,
                                 const float *grid_B, const float *grid_Phi, const float *grid_Psi,
                                 const float *actions, const float *shocks,
                                 const float *shock_probs, float *V_out)
{
    // Neither cost nor demand depends on backlog and squared shocks, and weights of an
    // interpolation sum to one: by induction the values do not depend on them either.
    (void)grid_B;
    (void)grid_Psi;
    const Sizes sizes = {N_I, N_Phi, N_x, N_phi, T, mu, nu, alpha, y};
    const float *const arrays[8] = {c_t, h_t, b_t, grid_I, grid_Phi, actions, shocks, shock_probs};
    const size_t states = static_cast<size_t>(N_I) * N_Phi,
                 total = 3 * static_cast<size_t>(T) + N_I + N_Phi + N_x + 2 * N_phi;
    int device, major;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    const size_t bytes = 2 * states * sizeof(float) + total * sizeof(float);
    char *memory, *allocated = nullptr;
    if (bytes > ARENA)
        CHECK(cudaMalloc(&allocated, bytes));
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    if (allocated)
        memory = allocated;
    float *values = reinterpret_cast<float *>(memory), *answer = values;
    float *const host = static_cast<float *>(malloc((states + total) * sizeof(float)));
    if (!host)
        abort();
    bool planned = false;
    if (static_cast<size_t>(N_I) * (N_Phi + 1) <= STATES_MAX && total <= INPUTS) {
        Inputs inputs;
        inputs.n = sizes;
        pack(sizes, arrays, inputs.packed);
        planned = plan_in_cluster(inputs, major, values);
    }
    if (!planned) {
        float *later = values, *now = values + states, *d_packed = values + 2 * states;
        pack(sizes, arrays, host);
        CHECK(cudaMemcpy(d_packed, host, total * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemsetAsync(later, 0, states * sizeof(float)));
        const size_t wanted = (states + THREADS / 32 - 1) / (THREADS / 32);
        for (int t = T - 1; t >= 0; t--) {
            plan_period<<<static_cast<unsigned>(wanted < 65535 ? wanted : 65535), THREADS>>>(
                sizes, t, d_packed, later, now);
            CHECK(cudaGetLastError());
            float *swapped = later;
            later = now;
            now = swapped;
        }
        answer = later;
    }
    CHECK(cudaMemcpy(host, answer, states * sizeof(float), cudaMemcpyDeviceToHost));
    // Copied out over the other two coordinates here: fewer bytes to come from the device.
    const size_t plane = static_cast<size_t>(N_Phi) * N_Psi;
    const bool past_caches = plane * N_I * N_B * sizeof(float) >= PAST_CACHES;
    for (int i = 0; i < N_I; i++) {
        float *to = V_out + static_cast<size_t>(i) * N_B * plane;
        for (int f = 0; f < N_Phi; f++) {
            const float value = host[static_cast<size_t>(i) * N_Phi + f];
            for (int g = 0; g < N_Psi; g++)
                to[static_cast<size_t>(f) * N_Psi + g] = value;
        }
        for (int b = 1; b < N_B; b++)
            copy_out(to + b * plane, to, plane, past_caches);
    }
#if defined(__SSE2__)
    _mm_sfence();
#endif
    free(host);
    if (allocated)
        CHECK(cudaFree(allocated));
}
