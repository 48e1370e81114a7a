// Robust value iteration: one kernel that stays for all backups, a warp a row, which is read in its
// own order.
//
// Approach: the matrices come through pinned slots. Then one cooperative kernel makes all backups.
// The states are ranked by value, counted in equal parts by all blocks; a warp brings a row to
// shared memory, sums it with as many raised states as last time, and mends the sums by a walk
// along the order, 32 states at a time. Values are taken from their mean, so that float sums do.
// Rows are skipped while they cannot hold the best action: an expectation rises by no more than the
// largest change of a value, the best one by no less than the smallest. Once all values change
// alike, to a tenth of the tolerance, the rest is a geometric sum. Short rows (up to 256 states)
// stay in registers, and there the state at the limit is searched for by its value, without an
// order.
//
// What bounds it: bringing the matrices to the device, 70 % of the time at large; then the passes
// over all rows in the first thirty backups. A backup takes 4.4 us at small (63 are made); at
// medium and large, whole passes over the matrices included, 17 and 52 us (77 and 117 are made).
//
// Tried: dropping actions only when they can never come back (half as many rows again to read);
// rows straight from global memory (slower at large); twelve host threads instead of eight (equal);
// slots of 256 KiB at medium and 512 KiB at large instead of 1 MiB (18 and 27 % slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.67 ms, medium 5.3 ms, large
// 24 ms (12 %, 28 % and 46 % of what the bus needs for the matrices; naive 6, 84 and 468 ms). An
// evaluation, which comes to a call with cold caches, takes 1.13 ms at small.
//
// These times were taken with an arena of 8 MiB. The rules allow 1 MiB of device variables, so
// calls that need more now allocate, which takes some 0.1 ms.
#include "transfer.cuh"

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

namespace cg = cooperative_groups;

constexpr int BLOCK = 1024, WARPS = BLOCK / 32;
constexpr int UNROLL = 8;
constexpr int EACH =
    8; // entries of a row that a lane keeps in registers, where rows are that short
constexpr int UPLOAD_THREADS = 8;
constexpr size_t ARENA = 1000 * 1000;

// For small matrices: an allocation would cost as much as some ten backups.
static __device__ __align__(256) char arena[ARENA];

struct Problem {
    int states, actions, backups;
    float gamma;
};

// Of all states, and of the rows of the block's own states.
struct Shared {
    double *value, *q, *ceiling; // ceiling: of a row's q, less what all values can have risen
    float2 *place;               // value from the centre, and rank among all values (as an integer)
    unsigned short *order, *rows, *raised; // rows: that may be the best; raised: how many states
                                           // were at their upper bound last time
};

// Floats of a row in shared memory, copied from the multiple of four before its start on.
static __host__ __device__ int staged(int states)
{
    return (states + 3 + 3) / 4 * 4;
}

static __host__ __device__ size_t shared_layout(int states, int rows, char *base, Shared *ret)
{
    Shared s;
    s.value = reinterpret_cast<double *>(base);
    s.q = s.value + states;
    s.ceiling = s.q + rows;
    s.place = reinterpret_cast<float2 *>(s.ceiling + rows);
    s.order = reinterpret_cast<unsigned short *>(s.place + states);
    s.rows = s.order + states;
    s.raised = s.rows + rows;
    if (ret)
        *ret = s;
    return (static_cast<size_t>(reinterpret_cast<char *>(s.raised + rows) - base) + 15) / 16 * 16;
}

static __device__ float prefix_sum(float value, int lane)
{
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
        const float other = __shfl_up_sync(~0u, value, far);
        value += lane >= far ? other : 0.0f;
    }
    return value;
}

static __device__ float sum_of(float value)
{
#pragma unroll
    for (int far = 16; far > 0; far /= 2)
        value += __shfl_xor_sync(~0u, value, far);
    return value;
}

// The least expectation of the centred values. k: how many states are at their upper bound, a guess
// at first. The row is summed with the guess; a walk along the order, 32 states at a time, mends
// it.
static __device__ __forceinline__ float
worst_expectation(const Shared &s, int states, const float *up, const float *down, int *raised)
{
    const int lane = threadIdx.x % 32;
    int k = *raised;
    float mass = 0.0f, sum = 0.0f;
    for (int first = lane; first < states; first += 32 * UNROLL) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            const int j = first + 32 * i;
            if (j < states) {
                const float2 place = s.place[j];
                const float high = up[j], low = down[j];
                const float chance = __float_as_int(place.y) < k ? high : low;
                mass += chance;
                sum = fmaf(chance, place.x, sum);
            }
        }
    }
    mass = sum_of(mass);
    sum = sum_of(sum);

    while (k > 0 && mass >= 1.0f) { // too many
        const int at = k - 1 - lane;
        float width = 0.0f, part = 0.0f;
        if (at >= 0) {
            const int state = s.order[at];
            width = up[state] - down[state];
            part = width * s.place[state].x;
        }
        const float widths = prefix_sum(width, lane), parts = prefix_sum(part, lane);
        const unsigned below = __ballot_sync(~0u, mass - widths < 1.0f);
        const int count = min(below ? __ffs(below) : 32, k); // states to be lowered
        mass -= __shfl_sync(~0u, widths, count - 1);
        sum -= __shfl_sync(~0u, parts, count - 1);
        k -= count;
    }
    while (k < states - 1) { // as many more as go
        const int at = k + lane;
        float width = 0.0f, part = 0.0f;
        if (at < states - 1) {
            const int state = s.order[at];
            width = up[state] - down[state];
            part = width * s.place[state].x;
        }
        const float widths = prefix_sum(width, lane), parts = prefix_sum(part, lane);
        const unsigned full = __ballot_sync(~0u, mass + widths >= 1.0f);
        const int count = min(full ? __ffs(full) - 1 : 32, states - 1 - k);
        const float more = __shfl_sync(~0u, widths, max(count - 1, 0)),
                    more_parts = __shfl_sync(~0u, parts, max(count - 1, 0));
        if (count > 0) {
            mass += more;
            sum += more_parts;
            k += count;
        }
        if (full)
            break;
    }
    *raised = k;
    return fmaf(1.0f - mass, s.place[s.order[k]].x, sum);
}

struct Range {         // over all states
    float low, high;   // of the last change
    float least, most; // of the values
    float sum;         // of the values
};

static __device__ Range merge(const Range &a, const Range &b)
{
    return Range{fminf(a.low, b.low), fmaxf(a.high, b.high), fminf(a.least, b.least),
                 fmaxf(a.most, b.most), a.sum + b.sum};
}

static __device__ Range merge_warp(Range r)
{
#pragma unroll
    for (int far = 16; far > 0; far /= 2)
        r = merge(r, Range{__shfl_xor_sync(~0u, r.low, far), __shfl_xor_sync(~0u, r.high, far),
                           __shfl_xor_sync(~0u, r.least, far), __shfl_xor_sync(~0u, r.most, far),
                           __shfl_xor_sync(~0u, r.sum, far)});
    return r;
}

// Whether the rest may be taken as a geometric sum: it is wrong by no more than a tenth of the
// tolerance then. spread: of the last change, low..high; least..most: of the values.
static __device__ bool is_settled(float gamma, float spread, float low, float high, float least,
                                  float most)
{
    const float magnitude = least > 0.0f && low > 0.0f   ? least
                            : most < 0.0f && high < 0.0f ? -most
                                                         : 0.0f;
    return spread * gamma / (1.0f - gamma) * 0.5f <=
           0.1f * (1e-4f + 3e-6f / (1.0f - gamma) * magnitude);
}

// How many values come before that of `state`; the lanes of a warp share the counting.
static __device__ int rank_of(const Shared &s, int states, int state)
{
    const float mine = s.place[state].x;
    int count = 0;
    for (int j = threadIdx.x % 32; j < states; j += 32) {
        const float other = s.place[j].x;
        count += other < mine || (other == mine && j < state);
    }
    return __reduce_add_sync(~0u, count);
}

// Starts to bring a row to shared memory, 16 bytes at a time; returns where its first entry will
// be.
static __device__ __forceinline__ const float *fetch(int states, const float *matrix, size_t row,
                                                     float *stage)
{
    const size_t start = row * states, before = start % 4;
    const int pieces = static_cast<int>((before + states + 3) / 4);
    for (int i = threadIdx.x % 32; i < pieces; i += 32)
        __pipeline_memcpy_async(stage + 4 * i, matrix + start - before + 4 * i, 16);
    return stage + before;
}

// values: two arrays that change places; ranks: how the states rank, where the blocks share that
// work. A block has the states blockIdx.x, blockIdx.x + gridDim.x, ..
static __global__ void __launch_bounds__(BLOCK)
    iterate(const Problem p, int stages, const float *rew, const float *up, const float *down,
            double *values, unsigned short *ranks, float *out)
{
    extern __shared__ double memory[];
    __shared__ Range of_warp[WARPS];
    __shared__ int row_count;
    const cg::grid_group grid = cg::this_grid();
    const int me = threadIdx.x, lane = me % 32, warp = me / 32;
    const int S = p.states, A = p.actions, stride = gridDim.x;
    const int own = (S - static_cast<int>(blockIdx.x) + stride - 1) / stride, rows = own * A;
    Shared s;
    const size_t used =
        shared_layout(S, (S + stride - 1) / stride * A, reinterpret_cast<char *>(memory), &s);
    float *const stage =
        reinterpret_cast<float *>(reinterpret_cast<char *>(memory) + used) + 2 * warp * staged(S);
    const int workers = stages > 0 ? stages : WARPS; // warps that take rows
    auto state_of = [&](int i) { return static_cast<int>(blockIdx.x) + i * stride; };

    for (int j = me; j < S; j += BLOCK)
        s.value[j] = 0;
    for (int r = me; r < rows; r += BLOCK) {
        s.raised[r] = static_cast<unsigned short>(S / 2);
        // The first backup: expectations are 0.
        s.q[r] = rew[static_cast<size_t>(state_of(r / A)) * A + r % A];
    }
    __syncthreads();
    for (int i = warp; i < own; i += WARPS) {
        double best = -1e300;
        for (int a = lane; a < A; a += 32)
            best = fmax(best, s.q[i * A + a]);
        for (int far = 16; far > 0; far /= 2)
            best = fmax(best, __shfl_xor_sync(~0u, best, far));
        if (lane == 0)
            values[S + state_of(i)] = best;
    }
    __syncthreads();
    for (int r = me; r < rows; r += BLOCK)
        s.ceiling[r] = 1e300; // nothing is known against any action
    grid.sync();

    int t = 1;
    double rest = 0;  // what the backups add that are not made
    double risen = 0; // the most that a value can have risen by, in all backups
    for (; t < p.backups; t++) {
        Range range = {INFINITY, -INFINITY, INFINITY, -INFINITY, 0.0f};
        for (int j = me; j < S; j += BLOCK) {
            const double now = __ldcg(values + static_cast<size_t>(t % 2) * S + j);
            const float change = static_cast<float>(now - s.value[j]),
                        value = static_cast<float>(now);
            s.value[j] = now;
            range = merge(range, Range{change, change, value, value, value});
        }
        range = merge_warp(range);
        if (lane == 0)
            of_warp[warp] = range;
        if (me == 0)
            row_count = 0;
        __syncthreads();
        range = merge_warp(of_warp[lane]);
        risen += range.high;
        if (is_settled(p.gamma, range.high - range.low, range.low, range.high, range.least,
                       range.most)) {
            double change = 0.5 * (static_cast<double>(range.low) + range.high);
            for (int left = t; left < p.backups; left++)
                rest += change *= p.gamma;
            break;
        }
        const double centre = range.sum / S;
        const float margin = 1e-4f + 1e-5f * (range.most - range.least);
        for (int j = me; j < S; j += BLOCK)
            s.place[j].x = static_cast<float>(s.value[j] - centre);
        // An expectation rises by no more than the values do, and the best one by no less.
        for (int r = me; r < rows; r += BLOCK) {
            s.q[r] = -1e300;
            if (s.ceiling[r] + p.gamma * risen >=
                s.value[state_of(r / A)] + p.gamma * range.low - margin)
                s.rows[atomicAdd(&row_count, 1)] = static_cast<unsigned short>(r);
        }
        __syncthreads();
        for (int i = warp; i < own; i += WARPS) {
            const int rank = rank_of(s, S, state_of(i));
            if (lane == 0)
                ranks[state_of(i)] = static_cast<unsigned short>(rank);
        }
        grid.sync();
        for (int j = me; j < S; j += BLOCK) {
            const int rank = __ldcg(ranks + j);
            s.order[rank] = static_cast<unsigned short>(j);
            s.place[j].y = __int_as_float(rank);
        }
        __syncthreads();
        for (int i = warp; i < row_count && warp < workers; i += workers) {
            const int r = s.rows[i];
            const size_t row = static_cast<size_t>(state_of(r / A)) * A + r % A;
            int raised = s.raised[r];
            float worst;
            if (stages > 0) {
                const float *high = fetch(S, up, row, stage),
                            *low = fetch(S, down, row, stage + staged(S));
                __pipeline_commit();
                __pipeline_wait_prior(0);
                __syncwarp();
                worst = worst_expectation(s, S, high, low, &raised);
            } else {
                worst = worst_expectation(s, S, up + row * S, down + row * S, &raised);
            }
            __syncwarp();
            if (lane == 0) {
                s.raised[r] = static_cast<unsigned short>(raised);
                s.q[r] = rew[row] + p.gamma * (centre + worst);
                s.ceiling[r] = s.q[r] - p.gamma * risen;
            }
        }
        __syncthreads();
        for (int i = warp; i < own; i += WARPS) {
            double best = -1e300;
            for (int a = lane; a < A; a += 32)
                best = fmax(best, s.q[i * A + a]);
            for (int far = 16; far > 0; far /= 2)
                best = fmax(best, __shfl_xor_sync(~0u, best, far));
            if (lane == 0)
                values[static_cast<size_t>((t + 1) % 2) * S + state_of(i)] = best;
        }
        grid.sync();
    }
    for (int i = me; i < own; i += BLOCK)
        out[state_of(i)] = static_cast<float>(
            __ldcg(values + static_cast<size_t>(t % 2) * S + state_of(i)) + rest);
}

static __device__ int ordered(float value) // integers in the order of the values
{
    const int bits = __float_as_int(value);
    return bits ^ (bits >> 31 & 0x7fffffff);
}

static __device__ float from_ordered(int bits)
{
    return __int_as_float(bits ^ (bits >> 31 & 0x7fffffff));
}

// Short rows, no more of them than there are warps: each stays in the registers of one warp. No
// order of the states is needed: states below a limit are raised, those above it are not, those at
// it get what is missing, and the limit is the value at which that lies between their bounds. The
// search starts from the state that was the limit last time.
static __global__ void __launch_bounds__(BLOCK)
    iterate_short(const Problem p, const float *rew, const float *up, const float *down,
                  double *values, float *out)
{
    __shared__ float value[32 * EACH];
    __shared__ double q[WARPS], base_of[2];
    const cg::grid_group grid = cg::this_grid();
    const int me = threadIdx.x, lane = me % 32, warp = me / 32;
    const int S = p.states, A = p.actions, stride = gridDim.x;
    const int own = (S - static_cast<int>(blockIdx.x) + stride - 1) / stride;
    auto state_of = [&](int i) { return static_cast<int>(blockIdx.x) + i * stride; };
    const bool has_row = warp < own * A;
    const size_t row = has_row ? static_cast<size_t>(state_of(warp / A)) * A + warp % A : 0;
    const float reward = has_row ? rew[row] : 0.0f;
    float high[EACH], low[EACH], v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int j = lane + 32 * i;
        high[i] = has_row && j < S ? up[row * S + j] : 0.0f;
        low[i] = has_row && j < S ? down[row * S + j] : 0.0f;
        v[i] = 0.0f;
    }
    auto publish = [&](int turn) { // the best of each state's actions
        if (warp < own) {
            double best = lane < A ? q[warp * A + lane] : -1e300;
            for (int far = 16; far > 0; far /= 2)
                best = fmax(best, __shfl_xor_sync(~0u, best, far));
            if (lane == 0)
                values[turn * S + state_of(warp)] = best;
        }
    };
    if (lane == 0 && has_row)
        q[warp] = reward; // the first backup: expectations are 0
    __syncthreads();
    publish(1);
    grid.sync();

    int t = 1, limit_state = 0;
    double rest = 0, last_base = 0; // rest: what the backups add that are not made
    for (; t < p.backups; t++) {
        if (me < S) {
            const double *now = values + t % 2 * S;
            const double base = __ldcg(now); // values are taken from that of state 0
            value[me] = static_cast<float>(__ldcg(now + me) - base);
            if (me == 0)
                base_of[t % 2] = base;
        }
        __syncthreads();
        const double base = base_of[t % 2];
        float least_change = INFINITY, most_change = -INFINITY, least = INFINITY, most = -INFINITY;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (lane + 32 * i < S) {
                const float now = value[lane + 32 * i], change = now - v[i];
                least_change = fminf(least_change, change);
                most_change = fmaxf(most_change, change);
                least = fminf(least, now);
                most = fmaxf(most, now);
                v[i] = now;
            }
        least_change = from_ordered(__reduce_min_sync(~0u, ordered(least_change)));
        most_change = from_ordered(__reduce_max_sync(~0u, ordered(most_change)));
        least = from_ordered(__reduce_min_sync(~0u, ordered(least)));
        most = from_ordered(__reduce_max_sync(~0u, ordered(most)));
        const double shift = base - last_base;
        last_base = base;
        double change = shift + 0.5 * (static_cast<double>(least_change) + most_change);
        if (is_settled(p.gamma, most_change - least_change,
                       static_cast<float>(shift + least_change),
                       static_cast<float>(shift + most_change), static_cast<float>(base + least),
                       static_cast<float>(base + most))) {
            for (int left = t; left < p.backups; left++)
                rest += change *= p.gamma;
            break;
        }
        if (has_row) {
            float limit = value[limit_state], above = -INFINITY, below = INFINITY, worst;
            for (int turn = 0;; turn++) { // the limit lies between above and below
                float others = 0.0f, sum = 0.0f, at_high = 0.0f, at_low = 0.0f;
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    const bool is_at = v[i] == limit;
                    const float chance = is_at ? 0.0f : v[i] < limit ? high[i] : low[i];
                    others += chance;
                    sum = fmaf(chance, v[i], sum);
                    at_high += is_at ? high[i] : 0.0f;
                    at_low += is_at ? low[i] : 0.0f;
                }
                others = sum_of(others);
                sum = sum_of(sum);
                at_high = sum_of(at_high);
                at_low = sum_of(at_low);
                worst = fmaf(1.0f - others, limit, sum);
                const bool too_high = others + at_low >= 1.0f && limit > least,
                           too_low = others + at_high < 1.0f && limit < most;
                if (!too_high && !too_low)
                    break;
                if (too_high)
                    below = limit;
                else
                    above = limit;
                // The nearest value beyond this one, and later the one that halves the rest.
                const float from = fmaxf(above, least), to = fminf(below, most);
                const float middle = turn < 2 ? limit : 0.5f * (from + to);
                float next = too_high ? -INFINITY : INFINITY;
#pragma unroll
                for (int i = 0; i < EACH; i++)
                    if (lane + 32 * i < S && v[i] > above && v[i] < below)
                        next = too_high ? fmaxf(next, turn < 2 || v[i] <= middle ? v[i] : -INFINITY)
                                        : fminf(next, turn < 2 || v[i] >= middle ? v[i] : INFINITY);
                next = too_high ? from_ordered(__reduce_max_sync(~0u, ordered(next)))
                                : from_ordered(__reduce_min_sync(~0u, ordered(next)));
                if (isinf(next)) { // none on that side of the middle: the nearest to it
                    next = too_high ? INFINITY : -INFINITY;
#pragma unroll
                    for (int i = 0; i < EACH; i++)
                        if (lane + 32 * i < S && v[i] > above && v[i] < below)
                            next = too_high ? fminf(next, v[i]) : fmaxf(next, v[i]);
                    next = too_high ? from_ordered(__reduce_min_sync(~0u, ordered(next)))
                                    : from_ordered(__reduce_max_sync(~0u, ordered(next)));
                }
                if (isinf(next)) // rounding: no value is between
                    break;
                limit = next;
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const unsigned at = __ballot_sync(~0u, lane + 32 * i < S && v[i] == limit);
                if (at != 0)
                    limit_state = 32 * i + __ffs(at) - 1;
            }
            if (lane == 0)
                q[warp] = reward + p.gamma * (base + worst);
        }
        __syncthreads();
        publish((t + 1) % 2);
        grid.sync();
    }
    if (me < own)
        out[state_of(me)] = static_cast<float>(__ldcg(values + t % 2 * S + state_of(me)) + rest);
}

extern "C" void solution_compute(int S, int A, int T, float gamma, const float *rew,
                                 const float *P_up, const float *P_down, float *V)
{
    if (T == 0) {
        memset(V, 0, S * sizeof(float));
        return;
    }
    const size_t rows = static_cast<size_t>(S) * A,
                 entries = T > 1 ? rows * S : 0; // one backup does not look at them
    auto rounded = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
    const size_t matrix = rounded(entries * sizeof(float)), rewards = rounded(rows * sizeof(float)),
                 two = rounded(2 * static_cast<size_t>(S) * sizeof(double)),
                 ranking = rounded(static_cast<size_t>(S) * sizeof(unsigned short));
    const size_t bytes = 2 * matrix + rewards + two + ranking + S * sizeof(float);
    char *memory, *allocated = nullptr;
    if (bytes > ARENA)
        CHECK(cudaMalloc(&allocated, bytes));
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    if (allocated)
        memory = allocated;
    float *up = reinterpret_cast<float *>(memory),
          *down = reinterpret_cast<float *>(memory + matrix);
    float *d_rew = reinterpret_cast<float *>(memory + 2 * matrix);
    double *values = reinterpret_cast<double *>(memory + 2 * matrix + rewards);
    unsigned short *ranks = reinterpret_cast<unsigned short *>(memory + 2 * matrix + rewards + two);
    float *out = reinterpret_cast<float *>(memory + 2 * matrix + rewards + two + ranking);
    const transfer::Array arrays[] = {{up, P_up, entries * sizeof(float)},
                                      {down, P_down, entries * sizeof(float)},
                                      {d_rew, rew, rows * sizeof(float)}};
    if (2 * matrix < transfer::RING_FROM) {
        transfer::upload(arrays, 3);
    } else {
        const int threads = transfer::threads_for(UPLOAD_THREADS);
        transfer::by_plain(transfer::Direction::IN, arrays + 2, 1);
        transfer::by_ring(transfer::Direction::IN, arrays, 2,
                          transfer::Shape{threads, 2 * threads,
                                          size_t(matrix < (size_t(24) << 20) ? 512 : 1024) << 10});
    }

    int device, processors, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = S < processors ? S : processors, most_own = (S + blocks - 1) / blocks;
    Problem problem = {S, A, T, gamma};
    if (S <= 32 * EACH && most_own * A <= WARPS) {
        void *arguments[] = {&problem, &d_rew, &up, &down, &values, &out};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(iterate_short), blocks, BLOCK,
                                          arguments));
    } else {
        CHECK(
            cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
        const size_t tables = shared_layout(S, most_own * A, nullptr, nullptr),
                     stage = 2 * staged(S) * sizeof(float), fixed = sizeof(Range) * WARPS + 64;
        const size_t room = static_cast<size_t>(shared_most) - fixed;
        size_t fit = tables < room ? (room - tables) / stage : 0;
        int stages = fit > WARPS ? WARPS : fit < 4 ? 0 : static_cast<int>(fit);
        const size_t shared_bytes = tables + stages * stage;
        CHECK(cudaFuncSetAttribute(iterate, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)));
        void *arguments[] = {&problem, &stages, &d_rew, &up, &down, &values, &ranks, &out};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(iterate), blocks, BLOCK,
                                          arguments, shared_bytes));
    }
    CHECK(cudaMemcpy(V, out, S * sizeof(float), cudaMemcpyDeviceToHost));
    if (allocated)
        CHECK(cudaFree(allocated));
}
