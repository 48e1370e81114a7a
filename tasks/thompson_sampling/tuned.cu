// Thompson sampling, a warp a replication, exact in law without a variate for every arm.
//
// Approach: only the posterior of the arm just played changes. Against each of sixteen levels an
// arm keeps the probability that its draw is above (one success or failure changes it by one term).
// A round draws a uniform number for every arm, a lane an arm. It tells between which levels each
// draw lies; a search for the highest level that any arm is above finds the arm to play, mostly
// without a variate. Only where several arms meet between the highest levels, they draw, restricted
// to these, with many lanes trying at once for each; and where no arm is above the lowest level,
// all draw from below it. The levels follow the leading arm: they are set anew when its posterior
// has grown by half, by integrating the densities between them.
//
// What bounds it: the chain of rounds of a replication, some 2000 cycles each at small, with fewer
// than three warps a scheduler to fill them; with many arms half of the time goes into setting
// levels.
//
// Tried: one level, just below the leader, and variates for all arms above it (small half
// slower, medium a tenth, large 7 % faster); the masses above the levels by continued fractions
// (more than the levels save); new levels after a quarter (up to a sixth slower); a lowest level
// with fewer arms above it (a tenth slower with many arms).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 4.8 ms, medium 6.6 ms, large
// 17.0 ms (4 %, 9 % and 14 % of the arithmetic of a variate for every arm and round at 63 TFLOP/s;
// naive 109, 322 and 1270 ms). An evaluation, which comes to a call with cold caches, takes 5.08 ms
// at small.
#include "check.cuh"

#include <vector>

constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for most calls, which would otherwise pay more for an allocation than for their transfers.
static __device__ __align__(256) char arena[ARENA];

struct Random { // xoshiro128++
    unsigned s0, s1, s2, s3;
};

static __device__ unsigned rotated(unsigned x, int bits)
{
    return __funnelshift_l(x, x, bits);
}

static __device__ unsigned next_word(Random *r)
{
    const unsigned result = rotated(r->s0 + r->s3, 7) + r->s0, t = r->s1 << 9;
    r->s2 ^= r->s0;
    r->s3 ^= r->s1;
    r->s1 ^= r->s2;
    r->s0 ^= r->s3;
    r->s2 ^= t;
    r->s3 = rotated(r->s3, 11);
    return result;
}

// On (0,1).
static __device__ float uniform(Random *r)
{
    return (static_cast<float>(next_word(r) >> 9) + 0.5f) * 0x1p-23f;
}

static __device__ unsigned long long mixed(unsigned long long v)
{
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

static __device__ Random new_random(unsigned long long seed, unsigned long long stream)
{
    const unsigned long long at = mixed(seed) ^ mixed((stream + 1) * 0xd1342543de82ef95u);
    const unsigned long long a = mixed(at + 0x9e3779b97f4a7c15u),
                             b = mixed(at + 2 * 0x9e3779b97f4a7c15u);
    return Random{static_cast<unsigned>(a), static_cast<unsigned>(a >> 32),
                  static_cast<unsigned>(b), static_cast<unsigned>(b >> 32) | 1};
}

// One try of Marsaglia and Tsang for an integer shape k, with a normal variate.
static __device__ bool try_gamma(Random *r, float k, float normal, float *ret)
{
    const float u = uniform(r), log_u = logf(u);
    const float d = k - 1.0f / 3.0f, c = rsqrtf(9.0f * d), w = 1.0f + c * normal;
    const float v = w * w * w;
    if (k == 1.0f) {
        *ret = -log_u;
        return true;
    }
    *ret = d * v;
    return w > 0 && log_u < 0.5f * normal * normal + d * (1.0f - v + logf(v));
}

static __device__ bool try_beta(Random *r, float a, float b, float *ret)
{
    const float length = sqrtf(-2.0f * logf(uniform(r)));
    float sine, cosine, x = 0, y = 0;
    sincospif(2.0f * uniform(r), &sine, &cosine);
    const bool first = try_gamma(r, a, length * cosine, &x),
               second = try_gamma(r, b, length * sine, &y);
    *ret = x / (x + y);
    return first && second;
}

// One try of Beta(a, b) on (tau, 1], where it has this mass: in a thin tail from the exponential
// that touches the log-concave density at tau.
static __device__ bool try_above(Random *r, float a, float b, float tau, float mass, float *ret)
{
    const float slope = (a - 1) / tau - (b - 1) / (1 - tau);
    if (mass > 0.3f || slope >= 0)
        return try_beta(r, a, b, ret) && *ret > tau;
    const bool flat = -slope * (1 - tau) < 1; // a level line is closer then
    const float u = uniform(r), step = flat ? u * (1 - tau) : -logf(u) / -slope;
    *ret = tau + step;
    return step < 1 - tau && logf(uniform(r)) <= (a - 1) * log1pf(step / tau) +
                                                     (b - 1) * log1pf(-step / (1 - tau)) -
                                                     (flat ? 0 : slope * step);
}

constexpr int LEVELS = 16;

struct Bandit {
    int arms, stride; // stride: odd, so that neither arms nor levels side by side share a bank
    float tau;        // lane l: level l % LEVELS
    // In shared memory, as are the next. [level][arm]: the probability to be above the level, and
    // tau^a (1-tau)^b / B(a,b).
    float *above, *front;
    float2 *arm;     // posterior: one more than its successes and failures
    float2 *shape;   // mean and 1 / deviation when the levels were set
    unsigned *drawn; // uniform number of each arm in this round
    unsigned short *list;
};

static size_t table_bytes(size_t arms)
{
    return (arms | 1) * 2 * LEVELS * sizeof(float);
}

static size_t other_bytes(size_t arms)
{
    return arms * (2 * sizeof(float2) + sizeof(unsigned) + sizeof(short));
}

// The lane with the largest non-negative value.
static __device__ int lane_of_largest(float value)
{
    const unsigned bits = __float_as_uint(value), most = __reduce_max_sync(~0u, bits);
    return __ffs(__ballot_sync(~0u, bits == most)) - 1;
}

// New levels: any choice is right, a good one is fast. Returns the leader.
static __device__ int set_levels(Bandit *s, const double *log_factorial)
{
    const int lane = threadIdx.x, mine = lane % LEVELS, half = lane / LEVELS;
    float best = -1;
    int leader = 0;
    for (int i = lane; i < s->arms; i += 32) {
        const float2 arm = s->arm[i];
        const float total = arm.x + arm.y, mean = arm.x / total;
        const float deviation = sqrtf(mean * (1 - mean) / (total + 1));
        s->shape[i] = make_float2(mean, 1 / deviation);
        const float safe = fmaxf(mean - deviation, 0.0f);
        if (safe > best) {
            best = safe;
            leader = i;
        }
    }
    leader = __shfl_sync(~0u, leader, lane_of_largest(fmaxf(best, 0.0f)));
    __syncwarp();
    // How many arms are above a candidate a lane? A logistic curve serves for the tails. The lowest
    // level has some four arms above it, the highest hardly any.
    const float2 first = s->shape[leader];
    const float candidate =
        fminf(fmaxf(first.x + (lane - 15.5f) * (4.0f / 15.5f) / first.y, 0.005f), 0.995f);
    float expected = 0;
    for (int i = 0; i < s->arms; i++) {
        const float2 shape = s->shape[i];
        expected += 1 / (1 + __expf(fminf(1.702f * (candidate - shape.x) * shape.y, 60.0f)));
    }
    const unsigned many = __ballot_sync(~0u, expected >= 4),
                   few = __ballot_sync(~0u, expected <= 0.02f);
    const int from = many ? 31 - __clz(many) : 0, upto = few ? __ffs(few) - 1 : 31;
    const float lowest = __shfl_sync(~0u, candidate, from),
                highest = fmaxf(__shfl_sync(~0u, candidate, upto), lowest + 1e-4f);
    const float step = (highest - lowest) / (LEVELS - 1);
    s->tau = lowest + mine * step;

    // Four points of Gauss and Legendre between this level and the next.
    const double point[4] = {0.069431844202973712, 0.330009478207571868, 0.669990521792428132,
                             0.930568155797026288};
    const float weight[4] = {0.173927422568726929f, 0.326072577431273071f, 0.326072577431273071f,
                             0.173927422568726929f};
    double log_x[5], log_rest[5];
    for (int k = 0; k < 5; k++) {
        const double x = static_cast<double>(s->tau) + (k < 4 ? point[k] * step : 0);
        log_x[k] = log(x);
        log_rest[k] = log1p(-x);
    }
    // Two arms at a time, a half of the warp each.
    const float top = __shfl_sync(~0u, s->tau, LEVELS - 1);
    for (int i0 = 0; i0 < s->arms; i0 += 2) {
        const int i = min(i0 + half, s->arms - 1);
        const float2 arm = s->arm[i], shape = s->shape[i];
        const int a = static_cast<int>(arm.x), b = static_cast<int>(arm.y);
        const double constant =
            log_factorial[a + b - 1] - log_factorial[a - 1] - log_factorial[b - 1];
        const double exponent = constant + (a - 1) * log_x[4] + (b - 1) * log_rest[4];
        const float front = expf(static_cast<float>(exponent + log_x[4] + log_rest[4]));
        // Above the highest level, in as many pieces as there are levels, up to where nothing is.
        const float width = fminf(fmaxf(shape.x - top, 0.0f) + 10 / shape.y, 1 - top) / LEVELS;
        const float at_top = static_cast<float>(__shfl_sync(~0u, exponent, LEVELS - 1, LEVELS));
        float beyond = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float away = width * (static_cast<float>(mine) + static_cast<float>(point[k]));
            beyond += weight[k] * expf(at_top + (arm.x - 1) * log1pf(away / top) +
                                       (arm.y - 1) * log1pf(-away / (1 - top)));
        }
        beyond *= width;
        for (int d = LEVELS / 2; d > 0; d /= 2)
            beyond += __shfl_xor_sync(~0u, beyond, d);
        // Between the levels, in pieces where four points are too few for the whole.
        float sum = beyond;
        if (mine < LEVELS - 1) {
            sum = 0;
            const int pieces = 1 + min(15, static_cast<int>(step * shape.y));
            if (pieces == 1) {
#pragma unroll
                for (int k = 0; k < 4; k++)
                    sum += weight[k] * expf(static_cast<float>(constant + (a - 1) * log_x[k] +
                                                               (b - 1) * log_rest[k]));
            } else {
                const float from_level = static_cast<float>(exponent), part = step / pieces;
                for (int piece = 0; piece < pieces; piece++)
                    for (int k = 0; k < 4; k++) {
                        const float away = part * (piece + static_cast<float>(point[k]));
                        sum += weight[k] * expf(from_level + (arm.x - 1) * log1pf(away / s->tau) +
                                                (arm.y - 1) * log1pf(-away / (1 - s->tau)));
                    }
                sum /= pieces;
            }
            sum *= step;
        }
        for (int d = 1; d < LEVELS; d *= 2) {
            const float more = __shfl_down_sync(~0u, sum, d, LEVELS);
            if (mine + d < LEVELS)
                sum += more;
        }
        if (i0 + half < s->arms) {
            s->above[mine * s->stride + i] = fminf(sum, 1.0f);
            s->front[mine * s->stride + i] = front;
        }
    }
    __syncwarp();
    return leader;
}

// One try of Beta(a, b) on (low, high], which lies inside of (0, 1) and is not much wider than the
// deviation.
static __device__ bool try_between(Random *r, float a, float b, float low, float high, float *ret)
{
    const float x = low + (high - low) * uniform(r);
    const float mode = fminf(fmaxf(a + b > 2 ? (a - 1) / (a + b - 2) : 0.5f, low), high);
    *ret = x;
    return logf(uniform(r)) <=
           (a - 1) * log1pf((x - mode) / mode) + (b - 1) * log1pf((mode - x) / (1 - mode));
}

// The arm with the largest draw among the `count` ones in s->list, all of them above this level and
// below the next.
static __device__ int largest_at(const Bandit &s, Random *r, int level, int count)
{
    const int lane = threadIdx.x;
    const float low = __shfl_sync(~0u, s.tau, level), high = __shfl_sync(~0u, s.tau, level + 1);
    float largest = -1;
    int played = 0;
    for (int from = 0; from < count; from += 32) {
        const int arms = min(32, count - from), mine = lane % arms;
        const bool whole = lane < 32 / arms * arms; // as many lanes for every arm
        unsigned helpers = 0;                       // those of arm 0
        for (int k = 0; k < 32 / arms; k++)
            helpers |= 1u << k * arms;
        const int number = s.list[from + mine];
        const float2 arm = s.arm[number];
        float value = 0, theta = -1;
        bool missing = lane < arms;
        while (__any_sync(~0u, missing)) {
            const bool done = level == LEVELS - 1
                                  ? try_above(r, arm.x, arm.y, low,
                                              s.above[(LEVELS - 1) * s.stride + number], &value)
                                  : try_between(r, arm.x, arm.y, low, high, &value);
            const unsigned all = __ballot_sync(~0u, done && whole), of_mine = all & helpers << mine;
            const float got = __shfl_sync(~0u, value, of_mine ? __ffs(of_mine) - 1 : lane);
            if (missing && of_mine) {
                theta = got;
                missing = false;
            }
        }
        const int winner = lane_of_largest(fmaxf(theta, 0.0f));
        const float most = __shfl_sync(~0u, theta, winner);
        if (most > largest) {
            largest = most;
            played = s.list[from + winner];
        }
    }
    return played;
}

static __device__ int largest_below(const Bandit &s, Random *r)
{
    const float tau = __shfl_sync(~0u, s.tau, 0);
    float largest = -1;
    int played = 0;
    for (int i = threadIdx.x; i < s.arms; i += 32) {
        const float2 arm = s.arm[i];
        float rest;
        while (!try_above(r, arm.y, arm.x, 1 - tau, 1 - s.above[i], &rest))
            ;
        if (1 - rest > largest) {
            largest = 1 - rest;
            played = i;
        }
    }
    __syncwarp();
    return __shfl_sync(~0u, played, lane_of_largest(fmaxf(largest, 0.0f)));
}

static __device__ bool falls_above(unsigned drawn, float chance)
{
    return drawn < __float2uint_rz(chance * 0x1p32f) || chance >= 1;
}

// The number of arms above the level; *only becomes one of them.
static __device__ int count_above(const Bandit &s, int level, int *only)
{
    const int lane = threadIdx.x;
    int count = 0;
    for (int from = 0; from < s.arms; from += 32) {
        const int i = from + lane;
        const unsigned all = __ballot_sync(
            ~0u, i < s.arms && falls_above(s.drawn[i], s.above[level * s.stride + i]));
        if (all)
            *only = from + __ffs(static_cast<int>(all)) - 1;
        count += __popc(all);
    }
    return count;
}

static __device__ int play(const Bandit &s, Random *r)
{
    const int lane = threadIdx.x;
    for (int i = lane; i < s.arms; i += 32)
        s.drawn[i] = next_word(r);
    int only = 0, count = count_above(s, 0, &only);
    if (count == 0)
        return largest_below(s, r);
    // The highest level that any is above.
    int level = 0;
    for (int d = LEVELS / 2; count > 1 && d > 0; d /= 2) {
        const int above = count_above(s, level + d, &only);
        if (above > 0) {
            level += d;
            count = above;
        }
    }
    if (count == 1)
        return only;
    int listed = 0;
    for (int from = 0; from < s.arms; from += 32) {
        const int i = from + lane;
        const bool above = i < s.arms && falls_above(s.drawn[i], s.above[level * s.stride + i]);
        const unsigned all = __ballot_sync(~0u, above);
        if (above)
            s.list[listed + __popc(all & ((1u << lane) - 1))] = static_cast<unsigned short>(i);
        listed += __popc(all);
    }
    __syncwarp();
    return largest_at(s, r, level, listed);
}

// tables: for above and front where they do not fit shared memory.
template <bool IN_SHARED>
static __global__ void __launch_bounds__(32)
    replicate(int N, int T, const float *means, unsigned long long seed,
              const double *log_factorial, float *tables, unsigned long long *total)
{
    extern __shared__ float4 shared[];
    Bandit s;
    s.arms = N;
    s.tau = 0;
    s.stride = N | 1;
    float *const here = reinterpret_cast<float *>(shared);
    s.above = IN_SHARED ? here : tables + static_cast<size_t>(blockIdx.x) * 2 * LEVELS * s.stride;
    s.front = s.above + LEVELS * s.stride;
    s.arm = reinterpret_cast<float2 *>(here + (IN_SHARED ? 2 * LEVELS * s.stride : 0));
    s.shape = s.arm + N;
    s.drawn = reinterpret_cast<unsigned *>(s.shape + N);
    s.list = reinterpret_cast<unsigned short *>(s.drawn + N);
    const int lane = threadIdx.x, level = lane % LEVELS;
    Random r = new_random(seed, static_cast<unsigned long long>(blockIdx.x) * 32 + lane);
    for (int i = lane; i < N; i += 32)
        s.arm[i] = make_float2(1, 1);
    __syncwarp();
    for (int t = 0, until = 0; t < T; t++) {
        if (t == until) {
            const float2 leader = s.arm[set_levels(&s, log_factorial)];
            until = t + 8 + static_cast<int>((leader.x + leader.y) / 2) + N / 8;
        }
        const int played = play(s, &r);
        const float2 arm = s.arm[played];
        const int at = level * s.stride + played;
        const float pulls = arm.x + arm.y, above = s.above[at], front = s.front[at];
        const bool success = __shfl_sync(~0u, uniform(&r) < means[played], 0);
        const float part = 1 / (success ? arm.x : arm.y);
        __syncwarp();
        if (lane < LEVELS) {
            const float now = above + (success ? front : -front) * part;
            s.above[at] = fminf(fmaxf(now, 0.0f), 1.0f);
            s.front[at] = front * (success ? s.tau : 1 - s.tau) * pulls * part;
        }
        if (lane == 0)
            s.arm[played] = make_float2(arm.x + (success ? 1 : 0), arm.y + (success ? 0 : 1));
        __syncwarp();
    }
    for (int i = lane; i < N; i += 32)
        atomicAdd(&total[i], static_cast<unsigned long long>(s.arm[i].x + s.arm[i].y) - 2);
}

static __global__ void fill_log_factorials(int count, double *log_factorial)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        log_factorial[i] = lgamma(i + 1.0);
}

extern "C" void solution_compute(int N, int T, int M, const float *arm_means,
                                 unsigned long long seed, float *avg_regret_out,
                                 float *avg_counts_out)
{
    const size_t arms = static_cast<size_t>(N), factorials = static_cast<size_t>(T) + 4;
    char *memory;
    int device, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const bool in_shared =
        table_bytes(arms) + other_bytes(arms) <= static_cast<size_t>(shared_most);
    const size_t tables_at = ((arms + factorials) * 8 + arms * 4 + 15) / 16 * 16,
                 bytes = tables_at + (in_shared ? 0 : table_bytes(arms) * M);
    if (bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, bytes));
    unsigned long long *const total = reinterpret_cast<unsigned long long *>(memory);
    double *const log_factorial = reinterpret_cast<double *>(total + arms);
    float *const means = reinterpret_cast<float *>(log_factorial + factorials);
    const size_t shared_bytes = other_bytes(arms) + (in_shared ? table_bytes(arms) : 0);
    const auto kernel = in_shared ? replicate<true> : replicate<false>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
    CHECK(cudaMemsetAsync(total, 0, arms * 8));
    CHECK(cudaMemcpyAsync(means, arm_means, arms * 4, cudaMemcpyHostToDevice));
    fill_log_factorials<<<static_cast<unsigned>((factorials + 127) / 128), 128>>>(
        static_cast<int>(factorials), log_factorial);
    kernel<<<M, 32, shared_bytes>>>(N, T, means, seed, log_factorial,
                                    reinterpret_cast<float *>(memory + tables_at), total);
    CHECK(cudaGetLastError());
    std::vector<unsigned long long> pulls(arms);
    CHECK(cudaMemcpy(pulls.data(), total, arms * 8, cudaMemcpyDeviceToHost));
    if (bytes > ARENA)
        CHECK(cudaFree(memory));

    float best = arm_means[0];
    for (int i = 1; i < N; i++)
        best = arm_means[i] > best ? arm_means[i] : best;
    double regret = 0;
    for (int i = 0; i < N; i++) {
        regret += static_cast<double>(best - arm_means[i]) * static_cast<double>(pulls[i]);
        avg_counts_out[i] = static_cast<float>(static_cast<double>(pulls[i]) / M);
    }
    *avg_regret_out = static_cast<float>(regret / M);
}
