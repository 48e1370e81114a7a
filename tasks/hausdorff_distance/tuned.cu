// Directed Hausdorff distances: a warp a target set and 256 source points, pruned by exact bounds.
//
// Approach: most source points cannot be the farthest. The target point at the same place along its
// set and four others give each source point an upper bound of its smallest square. The warp
// compares the point with the largest bound with all of the target set, keeps the largest result,
// and lowers all bounds by the neighbour that it found; it ends when no bound is above the largest
// result, on average after 1.4 points. Squares are compared as bits. After 48 points without an end
// it compares all with all. Where every set is one tile, an entry belongs to one warp, which writes
// its root at once, and up to 32 000 bytes of points, offsets and tiles come as an argument of the
// kernel, read like any other memory: one launch, one copy out. Else they are one packed copy, and
// the roots come last. No allocation up to 1 MB.
//
// What bounds it: the copy in and out and the launches; at large the kernel takes some 40 us.
//
// Tried: all pairs, four points a lane in registers (0.037, 0.074 and 0.37 ms); pruning without
// lowering bounds by the neighbours found (eight to twenty points compared instead of 1.4); 2 to 16
// points for the first bounds (no difference); a packed copy in place of the argument (0.030 ms at
// small).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.027 ms, medium 0.065 ms,
// large 0.118 ms (75 %, 32 % and 21 % of bytes and 20 us; with the packed copy and a kernel for the
// roots everywhere 0.040, 0.075 and 0.124 ms on the same machine; naive 0.18, 0.34 and 0.67 ms on
// another of the kind). An evaluation, which comes to a call with cold caches, took 0.086 ms at
// small with the copy.
#include "check.cuh"

#include <cstdint>
#include <cstring>

constexpr size_t ARENA = 1000 * 1000; // bytes
constexpr int WARPS = 4, BLOCK = 32 * WARPS;
constexpr int SAMPLES = 4;              // points of a target set that give the first bounds
constexpr int TRIES = 48;               // then bounds are of no use
constexpr int OWN = 8, TILE = 32 * OWN; // source points of a lane, of a warp

static __device__ __align__(256) char arena[ARENA];

// A part of a source set, at most TILE points.
struct Tile {
    int first, end, set;
};

// Squares are not negative, so their bits order as integers do: one instruction for three operands
// where there is one.
static __device__ float min3(float a, float b, float c)
{
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000
    return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#else
    return fminf(fminf(a, b), c);
#endif
}

static __device__ float square(float2 p, float2 q)
{
    const float dx = q.x - p.x, dy = q.y - p.y;
    return fmaf(dx, dx, dy * dy);
}

// squares[b*sets + a]: the largest over points of a of the smallest square to a point of b, as
// bits. A warp has a tile of a and a set b. Some points of b give each source point an upper bound
// of its smallest square; then the warp finds the true one for the point with the largest bound,
// again and again, until no bound is above the largest one found: the others cannot matter.
// ALONE: every set is one tile, so that no other warp has a part in the entry, which becomes the
// root itself.
template <bool ALONE>
static __device__ void find_nearest(int points, int sets, int tiles, const float2 *xy,
                                    const int *offsets, const Tile *tile, unsigned *squares)
{
    const int lane = threadIdx.x % 32, t = blockIdx.x * WARPS + threadIdx.x / 32;
    if (t >= tiles)
        return;
    const Tile mine = tile[t];
    float2 own[OWN];
    // surplus lanes repeat the last point
#pragma unroll
    for (int i = 0; i < OWN; i++)
        own[i] = xy[min(mine.first + i * 32 + lane, mine.end - 1)];
    const int set_first = offsets[mine.set],
              set_size = (mine.set + 1 < sets ? offsets[mine.set + 1] : points) - set_first;
    for (int b = blockIdx.y; b < sets; b += gridDim.y) {
        if (b == mine.set) { // a set is at distance 0 from itself
            if (ALONE && lane == 0)
                squares[static_cast<size_t>(b) * sets + b] = 0;
            continue;
        }
        const int first = offsets[b], count = (b + 1 < sets ? offsets[b + 1] : points) - first;
        const int samples = min(SAMPLES, count);
        unsigned *const square_at = &squares[static_cast<size_t>(b) * sets + mine.set];
        float bound[OWN];
        const float per_point = static_cast<float>(count) / static_cast<float>(set_size),
                    per_sample = static_cast<float>(count) / static_cast<float>(samples);
#pragma unroll
        for (int i = 0; i < OWN; i++) { // the point at the same place along the other set
            const int along = min(mine.first + i * 32 + lane, mine.end - 1) - set_first;
            const int q = min(static_cast<int>((along + 0.5f) * per_point), count - 1);
            bound[i] = square(own[i], xy[first + q]);
        }
        for (int k = 0; k < samples; k += 2) {
            const int q = min(static_cast<int>((k + 0.5f) * per_sample), count - 1),
                      r = min(static_cast<int>((k + 1.5f) * per_sample), count - 1);
            const float2 a = xy[first + q], c = xy[first + r];
#pragma unroll
            for (int i = 0; i < OWN; i++)
                bound[i] = min3(bound[i], square(own[i], a), square(own[i], c));
        }
        // not negative, so their bits order as unsigned integers do
        unsigned largest = ALONE ? 0 : *const_cast<volatile unsigned *>(square_at);
        largest = __shfl_sync(~0u, largest, 0);
        const unsigned known = largest;
        if (samples == count) {
#pragma unroll
            for (int i = 0; i < OWN; i++)
                largest = max(largest, __float_as_uint(bound[i]));
            largest = __reduce_max_sync(~0u, largest);
        } else {
            int tries = 0;
            for (;; tries++) {
                float top = bound[0];
                int which = 0;
#pragma unroll
                for (int i = 1; i < OWN; i++)
                    if (bound[i] > top) {
                        top = bound[i];
                        which = i;
                    }
                const unsigned highest = __reduce_max_sync(~0u, __float_as_uint(top));
                if (highest <= largest || tries == TRIES)
                    break;
                float2 p = own[0];
#pragma unroll
                for (int i = 1; i < OWN; i++)
                    if (which == i)
                        p = own[i];
                const int from = __ffs(__ballot_sync(~0u, __float_as_uint(top) == highest)) - 1;
                p.x = __shfl_sync(~0u, p.x, from);
                p.y = __shfl_sync(~0u, p.y, from);
                float nearest = INFINITY;
                float2 there = p;
                for (int q = lane; q < count; q += 32) {
                    const float2 other = xy[first + q];
                    const float d = square(p, other);
                    if (d < nearest) {
                        nearest = d;
                        there = other;
                    }
                }
                const unsigned least = __reduce_min_sync(~0u, __float_as_uint(nearest));
                largest = max(largest, least);
                // Points near this one are near its neighbour, too.
                const int winner = __ffs(__ballot_sync(~0u, __float_as_uint(nearest) == least)) - 1;
                there.x = __shfl_sync(~0u, there.x, winner);
                there.y = __shfl_sync(~0u, there.y, winner);
#pragma unroll
                for (int i = 0; i < OWN; i++)
                    bound[i] = fminf(bound[i], square(own[i], there));
                if (lane == from) {
#pragma unroll
                    for (int i = 0; i < OWN; i++)
                        if (which == i)
                            bound[i] = 0;
                }
            }
            if (tries == TRIES) { // bounds are of no use here: look at all
                float nearest[OWN];
#pragma unroll
                for (int i = 0; i < OWN; i++)
                    nearest[i] = bound[i];
                int q = 0;
                for (; q + 2 <= count; q += 2) {
                    const float2 a = xy[first + q], c = xy[first + q + 1];
#pragma unroll
                    for (int i = 0; i < OWN; i++)
                        nearest[i] = min3(nearest[i], square(own[i], a), square(own[i], c));
                }
                if (q < count)
#pragma unroll
                    for (int i = 0; i < OWN; i++)
                        nearest[i] = fminf(nearest[i], square(own[i], xy[first + q]));
#pragma unroll
                for (int i = 0; i < OWN; i++)
                    largest = max(largest, __float_as_uint(nearest[i]));
                largest = __reduce_max_sync(~0u, largest);
            }
        }
        if (ALONE) {
            if (lane == 0)
                *square_at = __float_as_uint(sqrtf(__uint_as_float(largest)));
        } else if (lane == 0 && largest > known) {
            atomicMax(square_at, largest);
        }
    }
}

template <bool ALONE>
static __global__ void __launch_bounds__(BLOCK)
    nearest_points(int points, int sets, int tiles, const float2 *__restrict__ xy,
                   const int *__restrict__ offsets, const Tile *__restrict__ tile,
                   unsigned *squares)
{
    find_nearest<ALONE>(points, sets, tiles, xy, offsets, tile, squares);
}

// Input that comes with the launch.
template <size_t BYTES> struct alignas(16) Packed {
    char bytes[BYTES];
};

template <size_t BYTES>
static __global__ void __launch_bounds__(BLOCK)
    nearest_inline(int points, int sets, int tiles, int tile_at, int offset_at,
                   const __grid_constant__ Packed<BYTES> input, unsigned *squares)
{
    // As ordinary memory: lanes that read apart would take turns at constants.
    const char *bytes = input.bytes;
    asm("" : "+l"(bytes));
    find_nearest<true>(points, sets, tiles, reinterpret_cast<const float2 *>(bytes),
                       reinterpret_cast<const int *>(bytes + offset_at),
                       reinterpret_cast<const Tile *>(bytes + tile_at), squares);
}

static __global__ void take_roots(size_t count, float *results)
{
    const size_t at = static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < count)
        results[at] = sqrtf(results[at]);
}

#if CUDART_VERSION >= 12010
constexpr size_t SHORT = 10240, LONG = 32000; // bytes that come with a launch
#else
constexpr size_t SHORT = 2048, LONG = 4000;
#endif

template <size_t BYTES>
static void launch_inline(const dim3 &grid, int points, int sets, int tiles, int tile_at,
                          int offset_at, const char *packed, size_t bytes, float *results)
{
    Packed<BYTES> input;
    memcpy(input.bytes, packed, bytes);
    nearest_inline<BYTES><<<grid, BLOCK>>>(points, sets, tiles, tile_at, offset_at, input,
                                           reinterpret_cast<unsigned *>(results));
    CHECK(cudaGetLastError());
}

extern "C" void solution_compute(int num_points, int num_spaces, const float *points_xy,
                                 const int *space_offsets, float *results)
{
    const size_t points = num_points, sets = num_spaces, entries = sets * sets;
    size_t tiles = 0;
    auto end_of = [&](size_t s) { return s + 1 < sets ? space_offsets[s + 1] : num_points; };
    for (size_t s = 0; s < sets; s++)
        tiles += (end_of(s) - space_offsets[s] + TILE - 1) / TILE;
    // Points, tiles and offsets behind one another, and then the maxima, which start from zero
    // where several warps have a part in one.
    const size_t tile_at = points * sizeof(float2), offset_at = tile_at + tiles * sizeof(Tile),
                 result_at = (offset_at + sets * sizeof(int) + 15) / 16 * 16,
                 bytes = result_at + entries * sizeof(float);
    char *const packed = static_cast<char *>(malloc(result_at));
    if (!packed)
        abort();
    memcpy(packed, points_xy, tile_at);
    memcpy(packed + offset_at, space_offsets, sets * sizeof(int));
    Tile *tile = reinterpret_cast<Tile *>(packed + tile_at);
    for (size_t s = 0; s < sets; s++)
        for (int first = space_offsets[s]; first < end_of(s); first += TILE)
            *tile++ = Tile{first, end_of(s) - first < TILE ? end_of(s) : first + TILE,
                           static_cast<int>(s)};
    char *device;
    if (bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&device), arena));
    else
        CHECK(cudaMalloc(&device, bytes));
    float *const d_results = reinterpret_cast<float *>(device + result_at);
    bool alone = true; // is every set one tile?
    for (size_t s = 0; s < sets; s++)
        alone &= end_of(s) > space_offsets[s] && end_of(s) - space_offsets[s] <= TILE;
    const unsigned high = num_spaces < 65535 ? num_spaces : 65535;
    const dim3 grid(static_cast<unsigned>((tiles + WARPS - 1) / WARPS), high);
    if (alone && result_at <= SHORT) {
        launch_inline<SHORT>(grid, num_points, num_spaces, static_cast<int>(tiles),
                             static_cast<int>(tile_at), static_cast<int>(offset_at), packed,
                             result_at, d_results);
    } else if (alone && result_at <= LONG) {
        launch_inline<LONG>(grid, num_points, num_spaces, static_cast<int>(tiles),
                            static_cast<int>(tile_at), static_cast<int>(offset_at), packed,
                            result_at, d_results);
    } else if (alone) {
        CHECK(cudaMemcpyAsync(device, packed, result_at, cudaMemcpyHostToDevice));
        nearest_points<true><<<grid, BLOCK>>>(num_points, num_spaces, static_cast<int>(tiles),
                                              reinterpret_cast<const float2 *>(device),
                                              reinterpret_cast<const int *>(device + offset_at),
                                              reinterpret_cast<const Tile *>(device + tile_at),
                                              reinterpret_cast<unsigned *>(d_results));
        CHECK(cudaGetLastError());
    } else {
        CHECK(cudaMemcpyAsync(device, packed, result_at, cudaMemcpyHostToDevice));
        CHECK(cudaMemsetAsync(d_results, 0, entries * sizeof(float)));
        nearest_points<false><<<grid, BLOCK>>>(num_points, num_spaces, static_cast<int>(tiles),
                                               reinterpret_cast<const float2 *>(device),
                                               reinterpret_cast<const int *>(device + offset_at),
                                               reinterpret_cast<const Tile *>(device + tile_at),
                                               reinterpret_cast<unsigned *>(d_results));
        CHECK(cudaGetLastError());
        take_roots<<<static_cast<unsigned>((entries + BLOCK - 1) / BLOCK), BLOCK>>>(entries,
                                                                                    d_results);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(results, d_results, entries * sizeof(float), cudaMemcpyDeviceToHost));
    if (bytes > ARENA)
        CHECK(cudaFree(device));
    free(packed);
}
