// Particles by cell: host threads number the cells, the device sorts, host threads write the
// ranges.
//
// Approach: threads of the host read the coordinates, compute the cells (one IEEE division each)
// and put 4 bytes a particle instead of 12 into pinned slots. On the device CUB sorts pairs of cell
// and particle over the bits that cells have, stably, and every cell finds its start by bisection.
// Sorted particles and starts go out through the same slots, and threads of the host turn two
// starts into a range. Few particles in many cells: plain copies and no allocation; one cooperative
// kernel counts particles in bytes, scans, places them, and orders each cell; the host fills in -1
// meanwhile and writes the ranges of the cells that are not empty. Where a cell has more than 32,
// as the many.
//
// What bounds it: at medium and large the host, which reads 12 bytes a particle and writes 4, and
// 8 a cell, through a ring that takes a quarter of a millisecond to set up; the sort takes 0.1 and
// 0.19 ms. At small two copies back and the writing of ranges, some 80 us each.
//
// Tried: CUB for few particles (a tenth slower); writing begin and end in one pass (slower);
// bringing ranges or starts in place of sorted cells at small (0.7 ms); other shapes of the ring
// (within a tenth; of 3 or 4 MB instead of 8, a tenth slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.34 ms, medium 1.6 ms, large
// 3.0 ms (18 %, 29 % and 38 % of what the bus needs for the longer way; naive 0.67, 3.4 and 9.3
// ms). An evaluation, which comes to a call with cold caches, takes 0.53 ms at small.
#include "transfer.cuh"

#include <cooperative_groups.h>
#include <cub/device/device_radix_sort.cuh>

namespace cg = cooperative_groups;

constexpr size_t ARENA = 1000 * 1000;         // bytes
constexpr int FEW_BLOCKS = 256, FEW_EACH = 3; // FEW_EACH: particles of a thread
constexpr int CROWDED = 32; // particles of a cell that are too many for the way of few
constexpr int BLOCK = 256;

// For few particles: an allocation would cost as much as the sort.
static __device__ __align__(256) unsigned arena[ARENA / sizeof(unsigned)];

struct Grid {
    float cell_size;
    int nx, ny, nz;
};

// --- host ---

// Truncation instead of the floor: they differ between -1 and 0 only, up to the clamp.
static inline __attribute__((always_inline)) void number_cells_body(const float *xs,
                                                                    const float *ys,
                                                                    const float *zs, int count,
                                                                    const Grid &grid, int *cells)
{
    const float size = grid.cell_size;
    const int nx = grid.nx, ny = grid.ny, nz = grid.nz;
    for (int i = 0; i < count; i++) {
        int cx = static_cast<int>(xs[i] / size);
        int cy = static_cast<int>(ys[i] / size);
        int cz = static_cast<int>(zs[i] / size);
        cx = cx < 0 ? 0 : cx;
        cy = cy < 0 ? 0 : cy;
        cz = cz < 0 ? 0 : cz;
        cx = cx < nx ? cx : nx - 1;
        cy = cy < ny ? cy : ny - 1;
        cz = cz < nz ? cz : nz - 1;
        cells[i] = cx + nx * (cy + ny * cz);
    }
}

static void number_cells_anywhere(const float *xs, const float *ys, const float *zs, int count,
                                  const Grid &grid, int *cells)
{
    number_cells_body(xs, ys, zs, count, grid, cells);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void number_cells_avx2(const float *xs, const float *ys,
                                                              const float *zs, int count,
                                                              const Grid &grid, int *cells)
{
    number_cells_body(xs, ys, zs, count, grid, cells);
}
#endif

static void number_cells(const float *xs, const float *ys, const float *zs, int count,
                         const Grid &grid, int *cells)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        number_cells_avx2(xs, ys, zs, count, grid, cells);
        return;
    }
#endif
    number_cells_anywhere(xs, ys, zs, count, grid, cells);
}

// starts[c] to starts[c+1]-1 are the positions of cell c.
static void write_ranges(const int *starts, size_t count, int *begin, int *end)
{
    for (size_t c = 0; c < count; c++) {
        const bool empty = starts[c] == starts[c + 1];
        begin[c] = empty ? -1 : starts[c];
        end[c] = empty ? -1 : starts[c + 1];
    }
}

// --- device ---

static __global__ void number_particles(int n, unsigned *particle)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        particle[i] = i;
}

// starts[c]: the first position whose cell is c or above, for c = 0..cells.
static __global__ void find_starts(int n, const unsigned *cell_of, int cells, int *starts)
{
    const long long c = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (c > cells)
        return;
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (cell_of[middle] < static_cast<unsigned>(c))
            low = middle + 1;
        else
            high = middle;
    }
    starts[c] = low;
}

// ---

// --- few particles ---

// Counts of four cells are the bytes of a word.
struct Few {
    int particles, words, words_per_block;
    unsigned *cell_of; // of particles, in the end in the order of the cells; then the flag
    unsigned *counts;
    int *starts;       // of words, counted from the first word of a block's part
    int *order, *sums; // sums: particles of each block's part
    int *sorted;       // in place of starts
    unsigned *crowded; // a cell has too many particles
};

// A counting sort. Threads keep their particles in registers from step to step; particles of a cell
// arrive in any order, and each then counts those of its cell that belong before it.
static __global__ void __launch_bounds__(BLOCK) sort_few(const __grid_constant__ Few f)
{
    __shared__ int bases[FEW_BLOCKS], sums[BLOCK];
    const cg::grid_group grid = cg::this_grid();
    const int thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    unsigned cell[FEW_EACH];
    int rank[FEW_EACH];
    bool crowded = false;
#pragma unroll
    for (int m = 0; m < FEW_EACH; m++) {
        const int i = thread + m * threads;
        if (i >= f.particles)
            continue;
        cell[m] = f.cell_of[i];
        const unsigned shift = cell[m] % 4 * 8;
        rank[m] = atomicAdd(&f.counts[cell[m] / 4], 1u << shift) >> shift & 255;
        crowded |= rank[m] >= CROWDED;
    }
    if (crowded)
        *f.crowded = 1;
    grid.sync();

    // The places of words in the block's part.
    const int first = blockIdx.x * f.words_per_block, end = min(first + f.words_per_block, f.words);
    int carried = 0;
    for (int base = first; base < end; base += BLOCK) {
        const int w = base + threadIdx.x;
        const unsigned word = w < end ? f.counts[w] : 0;
        const int own = (word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24);
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int d = 1; d < BLOCK; d *= 2) {
            const int below = static_cast<int>(threadIdx.x) >= d ? sums[threadIdx.x - d] : 0;
            __syncthreads();
            sums[threadIdx.x] += below;
            __syncthreads();
        }
        if (w < end)
            f.starts[w] = carried + sums[threadIdx.x] - own;
        carried += sums[BLOCK - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        f.sums[blockIdx.x] = carried;
    grid.sync();

    for (int b = threadIdx.x; b < static_cast<int>(gridDim.x); b += BLOCK)
        bases[b] = f.sums[b];
    __syncthreads();
    if (threadIdx.x < 32) { // to what lies before each part
        int before = 0;
        for (int base = 0; base < static_cast<int>(gridDim.x); base += 32) {
            const int b = base + threadIdx.x;
            const int own = b < static_cast<int>(gridDim.x) ? bases[b] : 0;
            int sum = own;
            for (int d = 1; d < 32; d *= 2) {
                const int below = __shfl_up_sync(~0u, sum, d);
                if (static_cast<int>(threadIdx.x) >= d)
                    sum += below;
            }
            if (b < static_cast<int>(gridDim.x))
                bases[b] = before + sum - own;
            before += __shfl_sync(~0u, sum, 31);
        }
    }
    __syncthreads();
    int start[FEW_EACH], count[FEW_EACH];
#pragma unroll
    for (int m = 0; m < FEW_EACH; m++) {
        const int i = thread + m * threads;
        if (i >= f.particles)
            continue;
        const int w = cell[m] / 4;
        const unsigned word = f.counts[w], shift = cell[m] % 4 * 8,
                       below = word & ((1u << shift) - 1);
        start[m] = bases[w / f.words_per_block] + f.starts[w] +
                   static_cast<int>((below & 255) + (below >> 8 & 255) + (below >> 16 & 255));
        count[m] = word >> shift & 255;
        if (!*f.crowded) {
            f.order[start[m] + rank[m]] = i;
            f.cell_of[start[m] + rank[m]] = cell[m];
        }
    }
    grid.sync();
    if (*f.crowded)
        return;
#pragma unroll
    for (int m = 0; m < FEW_EACH; m++) {
        const int i = thread + m * threads;
        if (i >= f.particles)
            continue;
        int before = 0;
        for (int k = 0; k < count[m]; k++)
            before += f.order[start[m] + k] < i;
        f.sorted[start[m] + before] = i;
    }
}

// Writes the ranges from the cells in their order, over -1 everywhere. Two passes without branches:
// it would depend on chance which way they go.
static void write_few_ranges(int n, const int *cells, int *cell_begin, int *cell_end)
{
    for (int k = 0; k < n; k++) // the last one stays
        cell_end[cells[k]] = k + 1;
    for (int k = n - 1; k >= 0; k--)
        cell_begin[cells[k]] = k;
}

// Few particles in many cells: plain copies, and the host writes the ranges, which are mostly
// empty, from the sorted cell numbers: cheaper than to bring them. False where a cell has too many.
static bool few(int n, const float *xs, const float *ys, const float *zs, const Grid &grid,
                int cells, int *sorted_indices, int *cell_begin, int *cell_end)
{
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = processors < FEW_BLOCKS ? processors : FEW_BLOCKS;
    const size_t count = n, words = static_cast<size_t>(cells) / 4 + 1,
                 starts = (words > count ? words : count);
    const size_t bytes = (2 * count + 2 + words + starts + FEW_BLOCKS) * sizeof(int);
    if (bytes > ARENA || n > FEW_EACH * BLOCK * blocks)
        return false;
    int *const cell_of = static_cast<int *>(malloc((count + 1) * sizeof(int)));
    if (!cell_of)
        abort();
    unsigned *memory;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    Few f;
    f.particles = n;
    f.words = static_cast<int>(words);
    f.words_per_block = (f.words - 1) / blocks + 1;
    f.cell_of = memory;
    f.crowded = memory + count;
    f.counts = f.crowded + 1;
    f.starts = f.sorted = reinterpret_cast<int *>(f.counts + words);
    f.order = f.starts + starts;
    f.sums = f.order + count;
    CHECK(cudaMemsetAsync(f.crowded, 0, (words + 1) * sizeof(int)));
    number_cells(xs, ys, zs, n, grid, cell_of);
    CHECK(cudaMemcpyAsync(f.cell_of, cell_of, count * sizeof(int), cudaMemcpyHostToDevice));
    void *arguments[] = {&f};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(sort_few), dim3(blocks), dim3(BLOCK),
                                      arguments, 0, nullptr));
    memset(cell_begin, 0xff, cells * sizeof(int)); // -1, while the device works
    memset(cell_end, 0xff, cells * sizeof(int));
    CHECK(cudaMemcpyAsync(cell_of, f.cell_of, (count + 1) * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sorted_indices, f.sorted, count * sizeof(int), cudaMemcpyDeviceToHost));
    const bool done = cell_of[n] == 0;
    if (done)
        write_few_ranges(n, cell_of, cell_begin, cell_end);
    free(cell_of);
    return done;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, const float *zs,
                                 float cell_size, int grid_nx, int grid_ny, int grid_nz,
                                 int num_cells, int *sorted_indices, int *cell_begin, int *cell_end)
{
    const size_t n = N, cells = num_cells;
    if (n == 0) {
        for (size_t c = 0; c < cells; c++)
            cell_begin[c] = cell_end[c] = -1;
        return;
    }
    const Grid grid = {cell_size, grid_nx, grid_ny, grid_nz};
    int bits = 1;
    while (bits < 31 && (num_cells - 1) >> bits > 0)
        bits++;

    if (N < num_cells && few(N, xs, ys, zs, grid, num_cells, sorted_indices, cell_begin, cell_end))
        return;

    // Pieces: cell numbers in, then particle numbers and starts out. A piece of starts shares its
    // last one with the next.
    const size_t moved = (2 * n + cells) * sizeof(int);
    const bool large = moved > (size_t(24) << 20);
    const size_t per_piece = (large ? 256 : 512) * 1024 / sizeof(int);
    const transfer::Shape shape = {transfer::threads_for(large ? 12 : 8), large ? 32 : 16,
                                   per_piece * sizeof(int)};
    const size_t first_sorted = (n + per_piece - 1) / per_piece,
                 first_starts = first_sorted + first_sorted,
                 pieces = first_starts + (cells + per_piece - 2) / (per_piece - 1);
    auto up_to = [](size_t most, size_t left) { return left < most ? left : most; };

    char *memory = nullptr;
    unsigned *keys[2] = {nullptr, nullptr}, *values[2] = {nullptr, nullptr};
    const unsigned *sorted = nullptr;
    int *starts = nullptr;
    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    cudaStream_t stream;
    transfer::pipeline(
        shape, pieces,
        [&] {
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            cub::DoubleBuffer<unsigned> no_keys(nullptr, nullptr), no_values(nullptr, nullptr);
            CHECK(cub::DeviceRadixSort::SortPairs(nullptr, scratch_bytes, no_keys, no_values, N, 0,
                                                  bits, stream));
            const size_t aligned = (n * sizeof(int) + 255) / 256 * 256,
                         starts_bytes = ((cells + 1) * sizeof(int) + 255) / 256 * 256;
            CHECK(cudaMalloc(&memory, 4 * aligned + starts_bytes + scratch_bytes));
            for (int b = 0; b < 2; b++) {
                keys[b] = reinterpret_cast<unsigned *>(memory + b * aligned);
                values[b] = reinterpret_cast<unsigned *>(memory + (2 + b) * aligned);
            }
            starts = reinterpret_cast<int *>(memory + 4 * aligned);
            scratch = memory + 4 * aligned + starts_bytes;
            number_particles<<<(N - 1) / BLOCK + 1, BLOCK, 0, stream>>>(N, values[0]);
            CHECK(cudaGetLastError());
        },
        [&](size_t piece, char *slot) {
            const size_t from = piece * per_piece;
            if (piece < first_sorted)
                number_cells(xs + from, ys + from, zs + from,
                             static_cast<int>(up_to(per_piece, n - from)), grid,
                             reinterpret_cast<int *>(slot));
        },
        [&](size_t piece, size_t count, char *slot) {
            size_t run; // pieces that follow each other on the device too: one copy
            for (; count > 0; count -= run, piece += run, slot += run * shape.slot_bytes) {
                if (piece == first_sorted) {
                    cub::DoubleBuffer<unsigned> key_buffers(keys[0], keys[1]),
                        value_buffers(values[0], values[1]);
                    CHECK(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, key_buffers,
                                                          value_buffers, N, 0, bits, stream));
                    sorted = value_buffers.Current();
                    const unsigned blocks = static_cast<unsigned>(cells / BLOCK + 1);
                    find_starts<<<blocks, BLOCK, 0, stream>>>(N, key_buffers.Current(), num_cells,
                                                              starts);
                    CHECK(cudaGetLastError());
                }
                if (piece < first_sorted) {
                    run = up_to(count, first_sorted - piece);
                    const size_t from = piece * per_piece;
                    CHECK(cudaMemcpyAsync(keys[0] + from, slot,
                                          up_to(run * per_piece, n - from) * sizeof(int),
                                          cudaMemcpyHostToDevice, stream));
                } else if (piece < first_starts) {
                    run = up_to(count, first_starts - piece);
                    const size_t from = (piece - first_sorted) * per_piece;
                    CHECK(cudaMemcpyAsync(slot, sorted + from,
                                          up_to(run * per_piece, n - from) * sizeof(int),
                                          cudaMemcpyDeviceToHost, stream));
                } else {
                    run = 1;
                    const size_t from = (piece - first_starts) * (per_piece - 1);
                    CHECK(cudaMemcpyAsync(slot, starts + from,
                                          up_to(per_piece, cells + 1 - from) * sizeof(int),
                                          cudaMemcpyDeviceToHost, stream));
                }
            }
            return stream;
        },
        [&](size_t piece, char *slot) {
            if (piece >= first_starts) {
                const size_t from = (piece - first_starts) * (per_piece - 1);
                write_ranges(reinterpret_cast<const int *>(slot),
                             up_to(per_piece - 1, cells - from), cell_begin + from,
                             cell_end + from);
            } else if (piece >= first_sorted) {
                const size_t from = (piece - first_sorted) * per_piece;
                memcpy(sorted_indices + from, slot, up_to(per_piece, n - from) * sizeof(int));
            }
        });
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
}
