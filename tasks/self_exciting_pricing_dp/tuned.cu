// Pricing under self-exciting demand: strips of the grid that drift with the steps, each a block,
// passing values to one side only.
//
// Approach: a new value needs the old ones at the point, below it and a jump above it. In a frame
// that drifts by one point a step, all three lie at or above the place of the new one: a block that
// owns a strip of places waits for the next strip only, and runs through all steps with its values
// in shared memory. Values pass between blocks as words that carry their step, through rings in the
// second-level cache, fetched a step ahead by threads of their own; no barrier of the grid. The
// best control is one of the two around the top of a concave function. Jumps too long for a strip
// take a grid barrier a step, in double.
//
// What bounds it: latency. A step takes some 0.45 us: 0.35 us of a strip's own chain of loads,
// exponential, table and barrier, the rest waiting for the next strip; the last strip ends 132 hops
// of about 1 us after the first. At small the launch, the copy and setting the rings to zero are as
// much.
//
// Tried: fetching two steps ahead (a tenth to a fifth slower); three points a thread (a sixth
// slower), one (equal); shorter rings (equal); clusters with the words in distributed shared memory
// (a grid of 128 blocks of one multiprocessor each does not get clusters of eight, and smaller
// grids gained nothing).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.08 to 0.09 ms, medium 0.28
// ms, large 0.52 ms (41 %, 29 % and 24 % of launch, copy and 0.05 us a step; naive 0.7, 4.5 and 15
// ms). An evaluation, which comes to a call with cold caches, takes 0.13 ms at small.
//
// These times were taken with an arena of 8 MiB. The rules allow 1 MiB of device variables, so
// calls that need more now allocate, which takes some 0.1 ms.
#include "check.cuh"

#include <cmath>
#include <cooperative_groups.h>
#include <cstring>

namespace cg = cooperative_groups;

using Word = unsigned long long; // a value and, in the upper half, the step that it belongs to

constexpr int RING = 32;  // steps that a strip may be ahead of the next one
constexpr int POINTS = 2; // of a thread
constexpr int BLOCK = 256;
constexpr size_t ARENA = 1000 * 1000;

// For all usual sizes: an allocation would cost as much as the rest.
static __device__ __align__(256) char arena[ARENA];

struct Model {
    int points, steps, controls, jump;
    float dx, dt, beta, phi, c, a, gamma, k, least, most;
};

static __device__ Word load(const Word *word)
{
    return *reinterpret_cast<const volatile Word *>(word);
}

static __device__ float factor_of_arrivals(const Model &p, int i)
{
    const double x = i * static_cast<double>(p.dx);
    return static_cast<float>(p.dt * (p.k * pow(x, static_cast<double>(p.gamma)) + p.phi));
}

static __device__ double control(const Model &p, int j)
{
    return p.least + j * ((static_cast<double>(p.most) - p.least) / (p.controls - 1));
}

static __device__ double reward(const Model &p, double control)
{
    return control * (log(p.a / control) - p.c);
}

// The gain is strictly concave in the control, with its top at a exp(jump - c - 1): the best of the
// grid is one of the two around it. Returns the lower one.
static __device__ int control_below_top(const Model &p, float per_step, float scale, float gain)
{
    const float place = (scale * __expf(gain) - p.least) * per_step;
    return static_cast<int>(fminf(fmaxf(place, 0.0f), static_cast<float>(p.controls - 2)));
}

// Point i of step t is kept at place u = i - t: there a new value follows from the old ones at u,
// u + 1 and u + 1 + jump. A block owns `width` places, so that it needs the first jump + 1 values
// of the next block at each step, and no block waits for one before it. These values travel as
// words that carry their step: threads beyond the own places fetch them a step ahead.
static __global__ void __launch_bounds__(1024)
    drift(const __grid_constant__ Model p, int width, Word *rings, int *progress, float *out)
{
    extern __shared__ float shared[];
    const int halo = p.jump + 1, room = width + halo,
              own = ((width + POINTS - 1) / POINTS + 31) / 32 * 32;
    float4 *const table = reinterpret_cast<float4 *>(shared); // two neighbouring controls, rewards
    float *const values = shared + 4 * (p.controls - 1), *const factor = values + 2 * room;
    const int me = threadIdx.x, top = p.points - 1;
    const int start = -p.steps + static_cast<int>(blockIdx.x) * width, end = start + width;

    for (int j = me; j < p.controls - 1; j += blockDim.x) {
        const double low = control(p, j), high = control(p, j + 1);
        table[j] = make_float4(static_cast<float>(low), static_cast<float>(reward(p, low)),
                               static_cast<float>(high), static_cast<float>(reward(p, high)));
    }
    for (int x = me; x < 2 * room; x += blockDim.x)
        values[x] = 0.0f;
    for (int x = me; x < width + p.steps; x += blockDim.x)
        factor[x] = start + x >= 0 && start + x <= top ? factor_of_arrivals(p, start + x) : 0.0f;

    const float decay = p.dt * p.beta, scale = p.a * expf(-p.c - 1.0f);
    const float per_step =
        static_cast<float>((p.controls - 1) / (static_cast<double>(p.most) - p.least));
    const int first = max(1, -(end + p.jump)), last = min(p.steps, top - start);
    const bool is_own = me < own, is_control = me == static_cast<int>(blockDim.x) - 1;
    const int h = me - own; // of the threads that fetch
    const bool fetches = h >= 0 && h < halo;
    // The steps at which a thread's points, or the one that it fetches, are on the grid.
    int from[POINTS], until[POINTS];
    float number[POINTS]; // of a point
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        const int place = is_own ? start + me + q * own : end + h;
        const bool is_used = is_own ? me + q * own < width : fetches && q == 0;
        from[q] = max(first, -place);
        until[q] = is_used ? min(last, top - place) : 0;
        number[q] = static_cast<float>(place + first);
    }
    Word *const ring = rings + static_cast<size_t>(blockIdx.x) * RING * halo + (is_own ? me : 0);
    const Word *const next_ring =
        rings + static_cast<size_t>(blockIdx.x + 1) * RING * halo + (fetches ? h : 0);
    Word ahead = 0;           // fetched, for the next step
    int consumed = first - 1; // by the block before this one
    float *old = values, *now = values + room;
    if (is_control && first > 1)
        *reinterpret_cast<volatile int *>(progress + blockIdx.x) = first - 1;
    __syncthreads();

    for (int t = first; t <= last; t++) {
        if (is_own) {
#pragma unroll
            for (int q = 0; q < POINTS; q++) {
                const int x = me + q * own;
                if (t >= from[q] && t <= until[q]) {
                    const float v = old[x + 1], below = old[x];
                    const float gain = old[min(x + halo, top - start - (t - 1))] - v;
                    const float4 two = table[control_below_top(p, per_step, scale, gain)];
                    const float best = fmaxf(fmaf(two.x, gain, two.y), fmaf(two.z, gain, two.w));
                    const float value =
                        v + fmaf(-decay * number[q], v - below, factor[x + t] * best);
                    now[x] = value;
                    if (x < halo && blockIdx.x > 0)
                        *reinterpret_cast<volatile Word *>(ring + t % RING * halo + q * own) =
                            static_cast<Word>(t) << 32 | __float_as_uint(value);
                }
                number[q] += 1.0f;
            }
        } else if (t >= from[0] && t <= until[0]) {
            Word word = ahead;
            ahead = load(next_ring + (t + 1) % RING * halo);
            while (static_cast<int>(word >> 32) != t)
                word = load(next_ring + t % RING * halo);
            now[width + h] = __uint_as_float(static_cast<unsigned>(word));
        }
        if (is_control) {
            // What the fetching threads took in earlier steps may be overwritten now.
            *reinterpret_cast<volatile int *>(progress + blockIdx.x) = t - 1;
            while (blockIdx.x > 0 && consumed < t + 1 - RING)
                consumed = *reinterpret_cast<volatile int *>(progress + blockIdx.x - 1);
        }
        float *const swapped = old;
        old = now;
        now = swapped;
        __syncthreads();
    }
    if (is_control) // nobody reads these rings any more
        *reinterpret_cast<volatile int *>(progress + blockIdx.x) = p.steps;
    for (int x = me; x < width; x += blockDim.x)
        if (start + x + p.steps >= 0 && start + x + p.steps <= top)
            out[start + x + p.steps] = old[x];
}

// Any size and jump: a step at a time over the whole grid, in double.
static __global__ void step_by_step(const __grid_constant__ Model p, double *V, float *out)
{
    const cg::grid_group grid = cg::this_grid();
    const int top = p.points - 1, threads = gridDim.x * blockDim.x;
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const float scale = p.a * expf(-p.c - 1.0f);
    const float per_step =
        static_cast<float>((p.controls - 1) / (static_cast<double>(p.most) - p.least));
    double *const factor = V + 2 * static_cast<size_t>(p.points);
    for (int i = me; i < p.points; i += threads) {
        V[i] = 0;
        factor[i] =
            p.dt * (p.k * pow(i * static_cast<double>(p.dx), static_cast<double>(p.gamma)) + p.phi);
    }
    grid.sync();
    for (int t = 0; t < p.steps; t++) {
        const double *const old = V + static_cast<size_t>(t % 2) * p.points;
        double *const now = V + static_cast<size_t>(1 - t % 2) * p.points;
        for (int i = me; i < p.points; i += threads) {
            const double v = __ldcg(old + i), below = __ldcg(old + (i > 0 ? i - 1 : 0));
            const double gain = __ldcg(old + (i < top - p.jump ? i + p.jump : top)) - v;
            const int j = control_below_top(p, per_step, scale, static_cast<float>(gain));
            const double low = control(p, j), high = control(p, j + 1);
            const double best = fmax(reward(p, low) + low * gain, reward(p, high) + high * gain);
            now[i] = v - static_cast<double>(p.dt) * p.beta * i * (v - below) + factor[i] * best;
        }
        grid.sync();
    }
    for (int i = me; i < p.points; i += threads)
        out[i] = static_cast<float>(__ldcg(V + static_cast<size_t>(p.steps % 2) * p.points + i));
}

// How the grid is cut: 0 blocks where it cannot be.
struct Cut {
    int blocks, width, threads;
    size_t shared_bytes;
};

static Cut cut_for(const Model &p, int processors, int shared_most)
{
    // A step takes some 0.2 ns a point of a strip, and handing on to the next strip 0.8 us.
    const double best = std::sqrt(p.steps * static_cast<double>(p.points) * 0.0002 / 0.8);
    const double total = static_cast<double>(p.points) + p.steps;
    const int wanted = best < 1 ? 1 : best < processors ? static_cast<int>(best) : processors;
    const int halo = p.jump + 1, fetching = (halo + 1 + 31) / 32 * 32;
    double width = std::ceil(total / wanted);
    if (width < halo || width < 64)
        width = halo < 64 ? 64 : halo;
    if (fetching >= 1024)
        return Cut{0, 0, 0, 0};
    if (width > POINTS * (1024 - fetching))
        width = POINTS * (1024 - fetching);
    const double blocks = std::ceil(total / width);
    const double shared = 16.0 * (p.controls - 1) + 8.0 * (width + halo) + 4.0 * (width + p.steps);
    if (width < halo || blocks > processors || shared > shared_most)
        return Cut{0, 0, 0, 0};
    const int own = ((static_cast<int>(width) + POINTS - 1) / POINTS + 31) / 32 * 32;
    return Cut{static_cast<int>(blocks), static_cast<int>(width), own + fetching,
               static_cast<size_t>(shared)};
}

extern "C" void solution_compute(int N_x, int N_T, int N_lambda, float dx, float dt, float alpha,
                                 float beta, float phi, float c, float a, float gamma, float k,
                                 float lambda_min, float lambda_max, float *V_out)
{
    const size_t out_bytes = static_cast<size_t>(N_x) * sizeof(float);
    if (N_T == 0) {
        memset(V_out, 0, out_bytes);
        return;
    }
    const float quotient = roundf(alpha / dx);
    const int jump = quotient < static_cast<float>(N_x - 1) ? static_cast<int>(quotient) : N_x - 1;
    Model model = {N_x, N_T, N_lambda, jump,  dx, dt,         beta,
                   phi, c,   a,        gamma, k,  lambda_min, lambda_max};
    int device, processors, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const Cut cut = cut_for(model, processors, shared_most);
    const size_t values = (out_bytes + 255) / 256 * 256;
    const size_t ring_bytes =
        static_cast<size_t>(cut.blocks + 1) * (RING * (jump + 1) * sizeof(Word));
    const size_t progress_bytes = (static_cast<size_t>(cut.blocks) * sizeof(int) + 255) / 256 * 256;
    const size_t bytes = values + (cut.blocks > 0 ? progress_bytes + ring_bytes
                                                  : 3 * static_cast<size_t>(N_x) * sizeof(double));
    char *memory, *allocated = nullptr;
    if (bytes > ARENA)
        CHECK(cudaMalloc(&allocated, bytes));
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    if (allocated)
        memory = allocated;
    float *out = reinterpret_cast<float *>(memory);
    if (cut.blocks > 0) {
        int width = cut.width;
        int *progress = reinterpret_cast<int *>(memory + values);
        Word *rings = reinterpret_cast<Word *>(memory + values + progress_bytes);
        CHECK(cudaMemsetAsync(progress, 0, progress_bytes + ring_bytes));
        CHECK(cudaFuncSetAttribute(drift, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(cut.shared_bytes)));
        void *arguments[] = {&model, &width, &rings, &progress, &out};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(drift), cut.blocks, cut.threads,
                                          arguments, cut.shared_bytes));
    } else {
        double *V = reinterpret_cast<double *>(memory + values);
        int each;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, step_by_step, BLOCK, 0));
        const int most = each * processors, wanted = (N_x + BLOCK - 1) / BLOCK;
        void *arguments[] = {&model, &V, &out};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(step_by_step),
                                          wanted < most ? wanted : most, BLOCK, arguments));
    }
    CHECK(cudaMemcpy(V_out, out, out_bytes, cudaMemcpyDeviceToHost));
    if (allocated)
        CHECK(cudaFree(allocated));
}
