// Alternating-direction iteration: all iterations in one cooperative kernel.
//
// Approach: the n*n lines of a direction are dealt to the blocks in equal shares. A block takes its
// lines to shared memory, one thread solves a line of one component there, and the pointwise
// transforms before and after are done on the way. Three barriers over the grid an iteration: one
// for each direction. The residual is formed where it is used, in front of the solve along i. All
// arrays keep the caller's layout, which is read in whole lines in every direction. Of the
// elimination only 1/den is kept; every block computes it for itself.
//
// What bounds it: the copies of u0 and f (half of the time at small, three quarters at large); then
// the kernel, some 16, 22 and 36 us an iteration at small, medium and large.
//
// Tried: den, alpha and beta in shared memory (iterations equal at small, a tenth slower at large:
// more to read a step); global loads one at a time, in the loops that also store (a third slower at
// large); 320 or 480 threads a block, or two blocks a multiprocessor (equal or slightly slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.29 ms, medium 0.89 ms, large
// 1.55 ms (18 %, 16 % and 21 % of bytes, 16 ns a step and 20 us; naive 0.56 to 0.64, 1.5 to 1.6 and
// 2.9 to 3.6 ms). An evaluation, which comes to a call with cold caches, takes 0.57 ms at small.
//
// These times were taken with an arena of 2.5 MiB. The rules allow 1 MiB of device variables, so
// calls that need more now allocate, which takes some 0.1 ms.
#include "transfer.cuh"

#include <cmath>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int M = 5;         // components
constexpr int THREADS = 640; // a multiple of 32 and of M: a thread always has the same component
constexpr int STEPS = 4;     // of a recurrence whose values are fetched at a time
constexpr int BATCH = 4;     // values that a thread fetches from global memory at a time
constexpr int POINTS = 1;    // whose residuals a thread forms at a time
constexpr size_t ARENA = 1000 * 1000;

// For small inputs: an allocation would cost as much as the rest.
static __device__ __align__(256) char arena[ARENA];

struct Problem {
    int n, iters;
    double omega;
    const double *u0, *f;
    double *u, *r;
    double *squares; // M of each block
    double *out;
    int share; // lines that fit into shared memory at a time
};

static __device__ double near_coefficient(int axis, int m)
{
    return (axis == 0 ? 0.065 : axis == 1 ? 0.075 : 0.085) * (1.0 + 0.03 * m);
}

static __device__ double far_coefficient(int axis, int m)
{
    return (axis == 0 ? 0.010 : axis == 1 ? 0.012 : 0.015) * (1.0 + 0.04 * m);
}

// 1/den of the n rows of a line, M apart; what else the elimination needs follows from it. Of
// identity rows it is not needed.
static __device__ void eliminate(int n, int axis, int m, double *inverse)
{
    const double a1 = near_coefficient(axis, m), a2 = far_coefficient(axis, m);
    const double diagonal = 1.0 + 2.0 * a1 + 2.0 * a2 + 0.01 * axis + 0.005 * m;
    double one = 0, two = 0; // of one and two rows before; 0 for identity rows: alpha and beta are
    double alpha = 0;
    for (int t = 0; t < n; t++) {
        double here = 0;
        if (t >= 2 && t < n - 2) {
            here = 1.0 / (diagonal - a2 * a2 * two + a1 * alpha);
            alpha = -a1 * here * fma(a2, one, 1.0);
        }
        inverse[t * M + m] = here;
        two = one;
        one = here;
    }
}

// One line of one component, elements `stride` apart: with v = 1/den,
//     g[t] = v[t] (r[t] + a1 g[t-1] + a2 g[t-2])
//     x[t] = g[t] + a1 v[t] (1 + a2 v[t-1]) x[t+1] + a2 v[t] x[t+2]
// Some steps' values are fetched at a time: the recurrence then waits for arithmetic only.
static __device__ void solve_line(int n, double a1, double a2, const double *inverse, double *line,
                                  int stride)
{
    if (n <= 4)
        return;
    double two = line[0], one = line[stride];
    int t = 2;
    auto down = [&](double v, double r) {
        const double g = fma(a1 * v, one, fma(a2 * v, two, v * r));
        two = one;
        one = g;
        return g;
    };
    for (; t + STEPS <= n - 2; t += STEPS) {
        double r[STEPS], v[STEPS];
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            r[k] = line[(t + k) * stride];
            v[k] = inverse[(t + k) * M];
        }
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            line[(t + k) * stride] = down(v[k], r[k]);
    }
    for (; t < n - 2; t++)
        line[t * stride] = down(inverse[t * M], line[t * stride]);
    two = line[(n - 1) * stride];
    one = line[(n - 2) * stride];
    auto up = [&](double v, double before, double g) {
        const double x = fma(a1 * v * fma(a2, before, 1.0), one, fma(a2 * v, two, g));
        two = one;
        one = x;
        return x;
    };
    t = n - 3;
    for (; t - STEPS >= 1; t -= STEPS) {
        double g[STEPS], v[STEPS + 1];
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            g[k] = line[(t - k) * stride];
#pragma unroll
        for (int k = 0; k <= STEPS; k++)
            v[k] = inverse[(t - k) * M];
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            line[(t - k) * stride] = up(v[k], v[k + 1], g[k]);
    }
    for (; t >= 2; t--)
        line[t * stride] = up(inverse[t * M], inverse[(t - 1) * M], line[t * stride]);
}

template <int WHICH> static __device__ void transform(double *r)
{
    const double a = r[0], b = r[1], c = r[2], d = r[3], e = r[4];
    if (WHICH == 1) {
        r[0] = 0.98 * a + 0.02 * b;
        r[1] = 1.01 * b - 0.04 * a + 0.03 * c;
        r[2] = c + 0.02 * a - 0.03 * b + 0.02 * d;
        r[3] = 0.99 * d + 0.01 * b + 0.04 * c + 0.02 * e;
        r[4] = e - 0.02 * c + 0.03 * d;
    } else if (WHICH == 2) {
        r[0] = a + 0.01 * d - 0.01 * e;
        r[1] = 0.99 * b + 0.02 * a;
        r[2] = 1.01 * c - 0.01 * b + 0.01 * e;
        r[3] = 0.98 * d + 0.03 * c;
        r[4] = e - 0.01 * a + 0.02 * d;
    } else if (WHICH == 3) {
        r[0] = a + 0.015 * e;
        r[1] = b + 0.010 * d;
        r[2] = c + 0.012 * a + 0.012 * e;
        r[3] = 0.985 * d + 0.020 * c;
        r[4] = 0.990 * e + 0.015 * b;
    } else {
        r[0] = 0.995 * a + 0.010 * c;
        r[1] = b - 0.012 * e;
        r[2] = 0.990 * c + 0.010 * b + 0.010 * d;
        r[3] = 1.005 * d - 0.010 * a;
        r[4] = 0.995 * e + 0.008 * c;
    }
}

// Coefficients of the operator for a thread's component.
struct Stencil {
    double centre, near[3], far[3];
};

static __device__ Stencil stencil_of(int m)
{
    Stencil s;
    s.centre = 1;
    for (int axis = 0; axis < 3; axis++) {
        s.near[axis] = near_coefficient(axis, m);
        s.far[axis] = far_coefficient(axis, m);
        s.centre += 2 * (s.near[axis] + s.far[axis]);
    }
    return s;
}

// f - L u at element e of line `line` = k n + j, position i. Plain loads: barriers of the grid see
// to it that the first-level caches hold nothing old.
static __device__ double residual(const Problem &p, const Stencil &s, const double *u, int line,
                                  int i, int e)
{
    const int n = p.n, row = M * n, plane = row * n;
    const int k = line / n, j = line - k * n;
    const double *at = u + e;
    const double i1 = i > 0 ? at[-M] : 0.0, i2 = i < n - 1 ? at[M] : 0.0;
    const double i3 = i > 1 ? at[-2 * M] : 0.0, i4 = i < n - 2 ? at[2 * M] : 0.0;
    const double j1 = j > 0 ? at[-row] : 0.0, j2 = j < n - 1 ? at[row] : 0.0;
    const double j3 = j > 1 ? at[-2 * row] : 0.0, j4 = j < n - 2 ? at[2 * row] : 0.0;
    const double k1 = k > 0 ? at[-plane] : 0.0, k2 = k < n - 1 ? at[plane] : 0.0;
    const double k3 = k > 1 ? at[-2 * plane] : 0.0, k4 = k < n - 2 ? at[2 * plane] : 0.0;
    const double x = s.near[0] * (i1 + i2) + s.far[0] * (i3 + i4);
    const double y = s.near[1] * (j1 + j2) + s.far[1] * (j3 + j4);
    const double z = s.near[2] * (k1 + k2) + s.far[2] * (k3 + k4);
    return p.f[e] - s.centre * at[0] + (x + y + z);
}

// How the threads share a tile of `height` rows of `width` elements, width a multiple of M: each
// keeps its column and takes every `every`-th row from `first` on.
struct Lot {
    int column, columns, first, every;
};

static __device__ Lot lot_of(int width)
{
    const int columns = min(width, THREADS), groups = THREADS / columns;
    const int first = threadIdx.x / columns;
    return Lot{static_cast<int>(threadIdx.x) - first * columns, columns,
               first < groups ? first : 1 << 24, groups};
}

// Lines along i: residual, T1, solve, T2; to r.
static __device__ void along_i(const Problem &p, const double *u, const double *inverse,
                               double *tile)
{
    const int n = p.n, length = M * n;
    // Lines of a tile start so far apart that a warp's threads use different banks.
    const int pitch = length + (16 + M - length % 16) % 16;
    const int m = threadIdx.x % M;
    const Stencil stencil = stencil_of(m);
    const Lot lot = lot_of(length);
    for (int first = blockIdx.x * p.share; first < n * n; first += gridDim.x * p.share) {
        const int lines = min(p.share, n * n - first), start = first * length;
        __syncthreads();
        for (int rest = lot.column; rest < length; rest += lot.columns)
            for (int l = lot.first; l < lines; l += POINTS * lot.every) {
                double value[POINTS];
#pragma unroll
                for (int b = 0; b < POINTS; b++) {
                    const int line = l + b * lot.every;
                    if (line < lines)
                        value[b] = residual(p, stencil, u, first + line, rest / M,
                                            start + line * length + rest);
                }
#pragma unroll
                for (int b = 0; b < POINTS; b++)
                    if (l + b * lot.every < lines)
                        tile[(l + b * lot.every) * pitch + rest] = value[b];
            }
        __syncthreads();
        for (int point = threadIdx.x; point < lines * n; point += THREADS)
            transform<1>(tile + point / n * pitch + point % n * M);
        __syncthreads();
        for (int chain = threadIdx.x; chain < lines * M; chain += THREADS)
            solve_line(n, near_coefficient(0, m), far_coefficient(0, m), inverse + m,
                       tile + chain / M * pitch + m, M);
        __syncthreads();
        for (int point = threadIdx.x; point < lines * n; point += THREADS)
            transform<2>(tile + point / n * pitch + point % n * M);
        __syncthreads();
        for (int rest = lot.column; rest < length; rest += lot.columns)
            for (int l = lot.first; l < lines; l += lot.every)
                p.r[start + l * length + rest] = tile[l * pitch + rest];
    }
}

// Lines along j (AXIS 1) or k (AXIS 2). Column c is (k, i) or (j, i); its elements lie `stride`
// apart. Along j T3 follows, along k T4 and the step of u.
template <int AXIS>
static __device__ void across(const Problem &p, const double *u_old, const double *inverse,
                              double *tile)
{
    const int n = p.n, plane = M * n * n, stride = AXIS == 1 ? M * n : plane;
    const int m = threadIdx.x % M;
    for (int first = blockIdx.x * p.share; first < n * n; first += gridDim.x * p.share) {
        const int columns = min(p.share, n * n - first), width = columns * M;
        const Lot lot = lot_of(width);
        auto base = [&](int rest) { // where a column of the tile begins in r and u
            const int column = first + rest / M, k = column / n;
            return AXIS == 2 ? first * M + rest : k * plane + (column - k * n) * M + rest % M;
        };
        __syncthreads();
        for (int rest = lot.column; rest < width; rest += lot.columns) {
            const double *from = p.r + base(rest);
            for (int t = lot.first; t < n; t += 2 * BATCH * lot.every) {
                double value[2 * BATCH];
#pragma unroll
                for (int b = 0; b < 2 * BATCH; b++)
                    if (t + b * lot.every < n)
                        value[b] = from[(t + b * lot.every) * stride];
#pragma unroll
                for (int b = 0; b < 2 * BATCH; b++)
                    if (t + b * lot.every < n)
                        tile[(t + b * lot.every) * width + rest] = value[b];
            }
        }
        __syncthreads();
        for (int chain = threadIdx.x; chain < width; chain += THREADS)
            solve_line(n, near_coefficient(AXIS, m), far_coefficient(AXIS, m), inverse + m,
                       tile + chain, width);
        __syncthreads();
        for (int point = threadIdx.x; point < columns * n; point += THREADS)
            transform<AXIS == 1 ? 3 : 4>(tile + point * M);
        __syncthreads();
        for (int rest = lot.column; rest < width; rest += lot.columns) {
            const int at = base(rest);
            if (AXIS == 1)
                for (int t = lot.first; t < n; t += lot.every)
                    p.r[at + t * stride] = tile[t * width + rest];
            else
                for (int t = lot.first; t < n; t += BATCH * lot.every) {
                    double value[BATCH];
#pragma unroll
                    for (int b = 0; b < BATCH; b++)
                        if (t + b * lot.every < n)
                            value[b] = u_old[at + (t + b * lot.every) * stride];
#pragma unroll
                    for (int b = 0; b < BATCH; b++)
                        if (t + b * lot.every < n)
                            p.u[at + (t + b * lot.every) * stride] =
                                fma(p.omega, tile[(t + b * lot.every) * width + rest], value[b]);
                }
        }
    }
}

static __global__ void __launch_bounds__(THREADS) iterate(Problem p)
{
    extern __shared__ double shared[];
    const int n = p.n;
    double *inverse = shared, *tile = inverse + 3 * M * n; // inverse: n*M for each axis
    if (threadIdx.x < 3 * M)
        eliminate(n, threadIdx.x / M, threadIdx.x % M, inverse + threadIdx.x / M * M * n);
    __syncthreads();
    const double *u = p.u0;
    for (int iter = 0; iter < p.iters; iter++) {
        along_i(p, u, inverse, tile);
        cg::this_grid().sync();
        across<1>(p, u, inverse + M * n, tile);
        cg::this_grid().sync();
        across<2>(p, u, inverse + 2 * M * n, tile);
        u = p.u;
        cg::this_grid().sync();
    }
    const Stencil stencil = stencil_of(threadIdx.x % M);
    const int count = M * n * n * n;
    double sum = 0;
    for (int e = blockIdx.x * THREADS + threadIdx.x; e < count; e += gridDim.x * THREADS) {
        const int point = e / M, line = point / n;
        const double value = residual(p, stencil, u, line, point - line * n, e);
        sum = fma(value, value, sum);
    }
    __syncthreads();
    tile[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 32 * M) { // a warp a component
        const int m = threadIdx.x / 32, lane = threadIdx.x % 32;
        sum = 0;
        for (int k = lane; k < THREADS / M; k += 32)
            sum += tile[k * M + m];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            p.squares[blockIdx.x * M + m] = sum;
    }
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x < 32 * M) {
        const int m = threadIdx.x / 32, lane = threadIdx.x % 32;
        sum = 0;
        for (unsigned b = lane; b < gridDim.x; b += 32)
            sum += __ldcg(p.squares + b * M + m);
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            p.out[m] = sqrt(sum / (static_cast<double>(n) * n * n));
    }
}

extern "C" void solution_compute(int n, int iters, int omega_milli, const double *u0,
                                 const double *rhs, double *residual_out)
{
    const size_t elements = static_cast<size_t>(n) * n * n * M;
    const int pitch = M * n + 16; // at most
    int device, processors, limit;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t row_bytes = 3 * M * static_cast<size_t>(n) * sizeof(double);
    const int fit = static_cast<int>((static_cast<size_t>(limit) - row_bytes) / (pitch * 8));
    int share = (n * n + processors - 1) / processors;
    if (share > fit)
        share = fit;
    const int blocks =
        (n * n + share - 1) / share < processors ? (n * n + share - 1) / share : processors;
    size_t tile = static_cast<size_t>(share) * pitch;
    if (tile < THREADS)
        tile = THREADS;
    const size_t shared_bytes = row_bytes + tile * 8;
    CHECK(cudaFuncSetAttribute(iterate, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));

    const size_t tail = (static_cast<size_t>(blocks) + 1) * M * 8, bytes = 4 * elements * 8 + tail;
    double *memory;
    const bool small = bytes <= ARENA;
    if (small)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, bytes));
    Problem p = {n,
                 iters,
                 omega_milli / 1000.0,
                 memory,
                 memory + elements,
                 memory + 2 * elements,
                 memory + 3 * elements,
                 memory + 4 * elements,
                 memory + 4 * elements + static_cast<size_t>(blocks) * M,
                 share};
    const transfer::Array in[] = {{memory, u0, elements * 8},
                                  {memory + elements, rhs, elements * 8}};
    transfer::upload(in, 2);
    void *arguments[] = {&p};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(iterate), dim3(blocks),
                                      dim3(THREADS), arguments, shared_bytes, nullptr));
    CHECK(cudaMemcpy(residual_out, p.out, M * 8, cudaMemcpyDeviceToHost));
    if (!small)
        CHECK(cudaFree(memory));
}
