// Forces between fluid particles: gathered by cell, near ones listed first, then summed.
//
// Approach: one kernel gathers the particles in the order of their cells as two 16-byte records and
// finds where each cell starts, so that the cells' ranges need not be brought. In that order the
// three cells of a row are one stretch. A block stages the candidates of its 128 particles, three
// rows at a time, in shared memory; each lane lists those within reach and then works off its list,
// so that the long part of the arithmetic runs with most lanes busy. Pressures are computed again
// for each pair, which costs less than to load them. Few particles: four lanes each, without
// staging. Up to 1 MB: packed, one copy each way, no allocation; else all arrays pass through one
// ring of pinned slots.
//
// What bounds it: small: the copies; medium: setting up the ring and the allocation; large: half
// the ring, a third the sums (0.83 ms), where reading listed records from shared memory at
// scattered places takes longest.
//
// Tried: lists worked off from the caches (a third slower at large: 1.1 ms); packed plain copies at
// medium (a sixth slower); eight lanes a particle (no difference); larger and fewer slots (no
// better); rings of a third to half the size (equal at medium, a tenth slower at large).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.15 ms, medium 0.97 ms, large
// 2.4 ms (17 %, 8 % and 13 % of what the bus needs for the longer way; naive 0.58, 1.6 and 17 ms).
// An evaluation, which comes to a call with cold caches, takes 0.21 ms at small.
#include "transfer.cuh"

#include <climits>
#include <cmath>

constexpr size_t ARENA = 1000 * 1000;    // bytes
constexpr size_t RING = size_t(1) << 20; // bytes that are worth a ring
constexpr int BLOCK = 128, AT_ONCE = 8;
constexpr int LIST = 64;          // near particles that a lane keeps
constexpr int SPLIT = 4;          // lanes for a particle where there are few
constexpr int TILED_FROM = 50000; // particles
constexpr int TILE = 640;         // particles in shared memory
constexpr int INPUTS = 8, OUTPUTS = 4;
constexpr unsigned ALL = ~0u;

static __device__ __align__(256) char arena[ARENA];

struct Problem {
    int particles, nx, ny, nz;
    float small, kernel, reach2, viscosity, cell_size, half_per_h;
    float stiffness, per_rest;
    const float *in[INPUTS]; // x, y, z, vx, vy, vz, rho, mass
    const int *sorted;
    float4 *place;  // by cell: position, mass
    float4 *motion; // velocity, density
    int *starts;    // of each cell, and one behind the last
    float *out[OUTPUTS];
};

static __device__ int cell_along(float position, float cell_size, int cells)
{
    return min(max(static_cast<int>(floorf(__fdiv_rn(position, cell_size))), 0), cells - 1);
}

static __device__ int cell_at(const Problem &p, float x, float y, float z)
{
    return (cell_along(z, p.cell_size, p.nz) * p.ny + cell_along(y, p.cell_size, p.ny)) * p.nx +
           cell_along(x, p.cell_size, p.nx);
}

static __global__ void __launch_bounds__(BLOCK) gather(const __grid_constant__ Problem p)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= p.particles)
        return;
    const int i = p.sorted[k];
    const float x = p.in[0][i], y = p.in[1][i], z = p.in[2][i];
    p.place[k] = make_float4(x, y, z, p.in[7][i]);
    p.motion[k] = make_float4(p.in[3][i], p.in[4][i], p.in[5][i], p.in[6][i]);

    // Cells behind that of the particle before, up to the own one, start here.
    const int cell = cell_at(p, x, y, z);
    int before = -1;
    if (k > 0) {
        const int j = p.sorted[k - 1];
        before = cell_at(p, p.in[0][j], p.in[1][j], p.in[2][j]);
    }
    for (int c = before + 1; c <= cell; c++)
        p.starts[c] = k;
    if (k == p.particles - 1)
        for (long long c = cell + 1LL; c <= static_cast<long long>(p.nx) * p.ny * p.nz; c++)
            p.starts[c] = p.particles;
}

// Tait's equation of state. In float: the error is a millionth of the pressures that occur.
static __device__ float pressure_of(const Problem &p, float density)
{
    const float ratio = density * p.per_rest, square = ratio * ratio;
    return p.stiffness * fmaf(square * square, square * ratio, -1.0f);
}

struct Own {
    float4 place, motion;
    float pressure, per_density;
};
struct Sums {
    float x, y, z, rate;
};

static __device__ Own load_own(const Problem &p, int k)
{
    Own own;
    own.place = p.place[k];
    own.motion = p.motion[k];
    own.pressure = pressure_of(p, own.motion.w);
    own.per_density = 1.0f / own.motion.w;
    return own;
}

// The own place is too near.
static __device__ bool is_near(const Problem &p, const Own &own, float4 other)
{
    const float dx = own.place.x - other.x, dy = own.place.y - other.y, dz = own.place.z - other.z;
    const float r2 = dx * dx + dy * dy + dz * dz;
    return r2 <= p.reach2 && r2 >= 1e-18f;
}

static __device__ void add(const Problem &p, const Own &own, float4 other, float4 its, Sums &sums)
{
    const float dx = own.place.x - other.x, dy = own.place.y - other.y, dz = own.place.z - other.z;
    const float r2 = dx * dx + dy * dy + dz * dz;
    const float closeness = fmaf(-r2 * rsqrtf(r2), p.half_per_h, 1.0f);
    const float vx = own.motion.x - its.x, vy = own.motion.y - its.y, vz = own.motion.z - its.z;
    const float meeting = dx * vx + dy * vy + dz * vz;
    const float per_density = __fdividef(1.0f, its.w);
    const float below = (r2 + p.small) * (own.motion.w + its.w);
    float push = (own.pressure + pressure_of(p, its.w)) * (own.per_density * per_density);
    push -= __fdividef(fminf(meeting, 0.0f) * p.viscosity, below);
    const float f = other.w * p.kernel * closeness * closeness * closeness;
    push *= f;
    sums.x -= push * dx;
    sums.y -= push * dy;
    sums.z -= push * dz;
    sums.rate += f * meeting * per_density;
}

static __device__ void store(const Problem &p, int k, const Own &own, const Sums &sums)
{
    const int i = p.sorted[k];
    p.out[0][i] = sums.x;
    p.out[1][i] = sums.y;
    p.out[2][i] = sums.z;
    p.out[3][i] = sums.rate * own.motion.w;
}

struct Range {
    int begin, end;
};

// The particles of up to three cells of a row lie together.
static __device__ Range row_of(const Problem &p, int low_x, int high_x, int y, int z)
{
    if (y < 0 || y >= p.ny || z < 0 || z >= p.nz)
        return Range{0, 0};
    const int cells = (z * p.ny + y) * p.nx;
    return Range{p.starts[cells + low_x], p.starts[cells + high_x + 1]};
}

// WAYS lanes a particle; each takes every WAYS-th candidate. First the near ones are listed, then
// those of all lanes are worked off together, so that few lanes wait.
template <int WAYS>
static __global__ void __launch_bounds__(BLOCK) sum_forces(const __grid_constant__ Problem p)
{
    __shared__ int lists[LIST][BLOCK];
    const int k = (blockIdx.x * BLOCK + threadIdx.x) / WAYS, part = threadIdx.x % WAYS;
    const bool real = k < p.particles;
    const Own own = load_own(p, real ? k : p.particles - 1);
    const int cx = cell_along(own.place.x, p.cell_size, p.nx),
              cy = cell_along(own.place.y, p.cell_size, p.ny),
              cz = cell_along(own.place.z, p.cell_size, p.nz);
    const int low_x = max(cx - 1, 0), high_x = min(cx + 1, p.nx - 1);
    Sums sums = {0, 0, 0, 0};
    int listed = 0;
    auto work_off = [&] {
        for (int n = 0; n < listed; n++) {
            const int j = lists[n][threadIdx.x];
            add(p, own, p.place[j], p.motion[j], sums);
        }
        listed = 0;
    };

    for (int row = 0; row < 9; row++) {
        const Range range = row_of(p, low_x, high_x, cy + row % 3 - 1, cz + row / 3 - 1);
        for (int next = range.begin + part; __any_sync(ALL, next < range.end);
             next += AT_ONCE * WAYS) {
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int j = next + n * WAYS;
                if (j < range.end && is_near(p, own, p.place[j]))
                    lists[listed++][threadIdx.x] = j;
            }
            if (__any_sync(ALL, listed > LIST - AT_ONCE))
                work_off();
        }
    }
    work_off();
    for (int d = 1; d < WAYS; d *= 2) {
        sums.x += __shfl_xor_sync(ALL, sums.x, d);
        sums.y += __shfl_xor_sync(ALL, sums.y, d);
        sums.z += __shfl_xor_sync(ALL, sums.z, d);
        sums.rate += __shfl_xor_sync(ALL, sums.rate, d);
    }
    if (real && part == 0)
        store(p, k, own, sums);
}

// A lane a particle; the candidates of the block's particles are staged in shared memory, three
// rows of cells at a time: lanes read them at places of their own, which the caches serve slowly.
static __global__ void __launch_bounds__(BLOCK) sum_forces_tiled(const __grid_constant__ Problem p)
{
    __shared__ float4 places[TILE], motions[TILE];
    __shared__ unsigned short lists[LIST][BLOCK];
    __shared__ int lows[3], highs[3];
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    const bool real = k < p.particles;
    const Own own = load_own(p, real ? k : p.particles - 1);
    const int cx = cell_along(own.place.x, p.cell_size, p.nx),
              cy = cell_along(own.place.y, p.cell_size, p.ny),
              cz = cell_along(own.place.z, p.cell_size, p.nz);
    const int low_x = max(cx - 1, 0), high_x = min(cx + 1, p.nx - 1);
    Sums sums = {0, 0, 0, 0};
    int listed = 0;
    auto work_off = [&] {
        for (int n = 0; n < listed; n++) {
            const int t = lists[n][threadIdx.x];
            add(p, own, places[t], motions[t], sums);
        }
        listed = 0;
    };

    for (int z = cz - 1; z <= cz + 1; z++) { // every thread three times, whatever its cz
        __syncthreads();
        if (threadIdx.x < 3) {
            lows[threadIdx.x] = INT_MAX;
            highs[threadIdx.x] = 0;
        }
        __syncthreads();
        Range range[3];
#pragma unroll
        for (int r = 0; r < 3; r++) {
            range[r] = row_of(p, low_x, high_x, cy + r - 1, z);
            const bool any = range[r].begin < range[r].end;
            const int low = __reduce_min_sync(ALL, any ? range[r].begin : INT_MAX),
                      high = __reduce_max_sync(ALL, any ? range[r].end : 0);
            if (threadIdx.x % 32 == 0) {
                atomicMin(&lows[r], low);
                atomicMax(&highs[r], high);
            }
        }
        __syncthreads();
        // The rows as one stretch, in which each starts at `start`.
        int low[3], start[4] = {0, 0, 0, 0};
#pragma unroll
        for (int r = 0; r < 3; r++) {
            low[r] = lows[r];
            start[r + 1] = start[r] + max(highs[r] - low[r], 0);
        }
        for (int base = 0; base < start[3]; base += TILE) {
            const int count = min(TILE, start[3] - base);
            __syncthreads();
            for (int t = threadIdx.x; t < count; t += BLOCK) {
                const int at = base + t;
                const int from = at >= start[2]   ? low[2] + at - start[2]
                                 : at >= start[1] ? low[1] + at - start[1]
                                                  : low[0] + at;
                places[t] = p.place[from];
                motions[t] = p.motion[from];
            }
            __syncthreads();
#pragma unroll
            for (int r = 0; r < 3; r++) {
                const bool any = range[r].begin < range[r].end;
                const int shift = start[r] - low[r] - base,
                          end = any ? min(range[r].end + shift, count) : 0;
                for (int next = any ? max(range[r].begin + shift, 0) : 0;
                     __any_sync(ALL, next < end); next += AT_ONCE) {
#pragma unroll
                    for (int n = 0; n < AT_ONCE; n++)
                        if (next + n < end && is_near(p, own, places[next + n]))
                            lists[listed++][threadIdx.x] = static_cast<unsigned short>(next + n);
                    if (__any_sync(ALL, listed > LIST - AT_ONCE))
                        work_off();
                }
            }
            work_off();
        }
    }
    if (real)
        store(p, k, own, sums);
}

static void work(const Problem &p, cudaStream_t stream)
{
    gather<<<(p.particles - 1) / BLOCK + 1, BLOCK, 0, stream>>>(p);
    CHECK(cudaGetLastError());
    if (p.particles < TILED_FROM)
        sum_forces<SPLIT><<<(p.particles - 1) / (BLOCK / SPLIT) + 1, BLOCK, 0, stream>>>(p);
    else
        sum_forces_tiled<<<(p.particles - 1) / BLOCK + 1, BLOCK, 0, stream>>>(p);
    CHECK(cudaGetLastError());
}

// Arrays come in through a ring of pinned slots, the device works, arrays go out through the same
// ring. open(): allocations, while the first slots are filled. work(): queues the kernels.
template <int IN, int OUT, typename Open, typename Work>
static void through_ring(const transfer::Shape &shape, transfer::Array (&in)[IN],
                         transfer::Array (&out)[OUT], cudaStream_t stream, Open open, Work work)
{
    const size_t slot_bytes = shape.slot_bytes;
    size_t first[IN + OUT + 1] = {0}; // piece that an array starts with
    auto array = [&](int a) -> transfer::Array & { return a < IN ? in[a] : out[a - IN]; };
    for (int a = 0; a < IN + OUT; a++)
        first[a + 1] = first[a] + (array(a).bytes + slot_bytes - 1) / slot_bytes;
    auto array_of = [&](size_t piece) {
        int a = 0;
        while (piece >= first[a + 1])
            a++;
        return a;
    };
    auto copy = [&](size_t piece, char *slot, bool entering) {
        const int a = array_of(piece);
        const size_t from = (piece - first[a]) * slot_bytes, left = array(a).bytes - from,
                     bytes = left < slot_bytes ? left : slot_bytes;
        const char *const host = static_cast<const char *>(array(a).host) + from;
        if (entering && a < IN)
            memcpy(slot, host, bytes);
        else if (!entering && a >= IN)
            memcpy(const_cast<char *>(host), slot, bytes);
    };
    transfer::pipeline(
        shape, first[IN + OUT], open, [&](size_t piece, char *slot) { copy(piece, slot, true); },
        [&](size_t piece, size_t count, char *slot) {
            size_t run; // pieces of one array: one copy
            for (; count > 0; count -= run, piece += run, slot += run * slot_bytes) {
                const int a = array_of(piece);
                const size_t from = (piece - first[a]) * slot_bytes;
                run = first[a + 1] - piece < count ? first[a + 1] - piece : count;
                const size_t left = array(a).bytes - from,
                             bytes = left < run * slot_bytes ? left : run * slot_bytes;
                char *const there = static_cast<char *>(array(a).device) + from;
                if (piece == first[IN])
                    work();
                if (a < IN)
                    CHECK(cudaMemcpyAsync(there, slot, bytes, cudaMemcpyHostToDevice, stream));
                else
                    CHECK(cudaMemcpyAsync(slot, there, bytes, cudaMemcpyDeviceToHost, stream));
            }
            return stream;
        },
        [&](size_t piece, char *slot) { copy(piece, slot, false); });
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, const float *zs,
                                 const float *vxs, const float *vys, const float *vzs,
                                 const float *rhos, const float *masses, float h, float cs0,
                                 float rhop0, float alpha_visc, const int *cell_begin,
                                 const int *cell_end, const int *sorted_idx, int grid_nx,
                                 int grid_ny, int grid_nz, float cell_size, float *ax, float *ay,
                                 float *az, float *drhodt)
{
    (void)cell_begin; // found again on the device: cheaper than to bring them
    (void)cell_end;
    const size_t n = N, bytes = n * sizeof(float),
                 cells = static_cast<size_t>(grid_nx) * grid_ny * grid_nz;
    const float *const in[INPUTS] = {xs, ys, zs, vxs, vys, vzs, rhos, masses};
    float *const out[OUTPUTS] = {ax, ay, az, drhodt};
    const double pi = 3.14159265358979323846, length = h;
    Problem p;
    p.particles = N;
    p.nx = grid_nx;
    p.ny = grid_ny;
    p.nz = grid_nz;
    p.small = static_cast<float>(0.01 * length * length);
    p.kernel = static_cast<float>(-10.0 / length * 495.0 / (32.0 * pi * length * length * length));
    p.reach2 = static_cast<float>(4.0 * length * length);
    p.viscosity = 2.0f * h * alpha_visc * cs0;
    p.cell_size = cell_size;
    p.half_per_h = static_cast<float>(0.5 / length);
    p.stiffness = static_cast<float>(static_cast<double>(cs0) * cs0 * rhop0 / 7.0);
    p.per_rest = 1.0f / rhop0;

    // Inputs and the order lie together, and so do the outputs.
    const size_t stride = (bytes + 15) / 16 * 16, result = (INPUTS + 1) * stride,
                 place = result + OUTPUTS * stride, motion = place + n * sizeof(float4),
                 starts = motion + n * sizeof(float4), all = starts + (cells + 1) * sizeof(int);
    char *memory = nullptr;
    auto set_up = [&] {
        for (int a = 0; a < INPUTS; a++)
            p.in[a] = reinterpret_cast<const float *>(memory + a * stride);
        p.sorted = reinterpret_cast<const int *>(memory + INPUTS * stride);
        for (int a = 0; a < OUTPUTS; a++)
            p.out[a] = reinterpret_cast<float *>(memory + result + a * stride);
        p.place = reinterpret_cast<float4 *>(memory + place);
        p.motion = reinterpret_cast<float4 *>(memory + motion);
        p.starts = reinterpret_cast<int *>(memory + starts);
    };

    if (place <= RING) { // packed: one copy in, one out
        if (all <= ARENA)
            CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
        else
            CHECK(cudaMalloc(&memory, all));
        set_up();
        char *const packed = static_cast<char *>(malloc(place));
        if (!packed)
            abort();
        for (int a = 0; a < INPUTS; a++)
            memcpy(packed + a * stride, in[a], bytes);
        memcpy(packed + INPUTS * stride, sorted_idx, bytes);
        CHECK(cudaMemcpyAsync(memory, packed, result, cudaMemcpyHostToDevice));
        work(p, nullptr);
        CHECK(
            cudaMemcpy(packed + result, memory + result, OUTPUTS * stride, cudaMemcpyDeviceToHost));
        for (int a = 0; a < OUTPUTS; a++)
            memcpy(out[a], packed + result + a * stride, bytes);
        free(packed);
        if (all > ARENA)
            CHECK(cudaFree(memory));
        return;
    }
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    transfer::Array arriving[INPUTS + 1], leaving[OUTPUTS];
    for (int a = 0; a < INPUTS; a++)
        arriving[a] = {nullptr, in[a], bytes};
    arriving[INPUTS] = {nullptr, sorted_idx, bytes};
    for (int a = 0; a < OUTPUTS; a++)
        leaving[a] = {nullptr, out[a], bytes};
    const bool large = place > (size_t(16) << 20);
    const transfer::Shape shape = {transfer::threads_for(large ? 8 : 6), large ? 32 : 48,
                                   size_t(large ? 256 : 64) << 10};
    through_ring(
        shape, arriving, leaving, stream,
        [&] {
            CHECK(cudaMalloc(&memory, all));
            set_up();
            for (int a = 0; a <= INPUTS; a++)
                arriving[a].device = memory + a * stride;
            for (int a = 0; a < OUTPUTS; a++)
                leaving[a].device = memory + result + a * stride;
        },
        [&] { work(p, stream); });
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
}
