// step: H01 on 02-M11+H03.cu
// Several host threads narrow pieces of the grid into pinned slots, from where they are copied
// while the threads go on. One thread reads memory too slowly, and so do copies of pageable memory.
#include "transfer.cuh"

#include <cstdint>

constexpr int EACH = 8, TILE = 32 * EACH; // columns of a lane, of a warp
constexpr int HALO = 64;                  // columns lost on each side, so rows advanced at once
constexpr int KEPT = TILE - 2 * HALO;
constexpr int THREADS = 64;
constexpr int OUTSIDE = 0x7fffffff; // no path comes from beyond a border

template <typename T>
static __global__ void advance_band(int rows, int cols, const T *cost, const int *above, int *below)
{
    const int warp = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int first = warp * KEPT - HALO + lane * EACH; // this lane's first column
    if (warp * KEPT >= cols)
        return;
    int best[EACH];
    for (int i = 0; i < EACH; i++)
        best[i] = first + i >= 0 && first + i < cols ? above[first + i] : OUTSIDE;
    for (int r = 0; r < rows; r++) {
        int left = __shfl_up_sync(~0u, best[EACH - 1], 1);
        const int right = __shfl_down_sync(~0u, best[0], 1);
        for (int i = 0; i < EACH; i++) {
            const int here = best[i], next = i + 1 < EACH ? best[i + 1] : right;
            const bool exists = first + i >= 0 && first + i < cols;
            best[i] = exists ? cost[static_cast<size_t>(r) * cols + first + i] +
                                   min(min(left, here), next)
                             : OUTSIDE;
            left = here;
        }
    }
    for (int i = 0; i < EACH; i++) {
        const int kept = lane * EACH + i - HALO;
        if (kept >= 0 && kept < KEPT && first + i < cols)
            below[first + i] = best[i];
    }
}

// False where a cost does not fit T.
template <typename T>
static bool stage(const int *wall, size_t cells, T *d_wall, const transfer::Shape &shape)
{
    const size_t each = shape.slot_bytes / sizeof(T);
    std::atomic<bool> fits{true};
    cudaStream_t stream;
    transfer::pipeline(
        shape, (cells + each - 1) / each,
        [&] { CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); },
        [&](size_t piece, char *slot) {
            const size_t from = piece * each, to = from + each < cells ? from + each : cells;
            T *const staged = reinterpret_cast<T *>(slot);
            unsigned bits = 0;
            for (size_t i = from; i < to; i++) {
                staged[i - from] = static_cast<T>(wall[i]);
                bits |= static_cast<unsigned>(wall[i]);
            }
            if (sizeof(T) < sizeof(int) && bits > 255)
                fits.store(false, std::memory_order_relaxed);
        },
        [&](size_t piece, size_t count, char *slot) {
            const size_t from = piece * each, upto = from + count * each,
                         to = upto < cells ? upto : cells;
            CHECK(cudaMemcpyAsync(d_wall + from, slot, (to - from) * sizeof(T),
                                  cudaMemcpyHostToDevice, stream));
            return stream;
        },
        [](size_t, char *) {});
    CHECK(cudaStreamDestroy(stream));
    return fits.load();
}

// False where a cost does not fit T; the answer is then not there.
template <typename T> static bool sweep(int rows, int cols, const int *wall, int *out_costs)
{
    const size_t row_bytes = static_cast<size_t>(cols) * sizeof(int),
                 cells = static_cast<size_t>(rows) * cols;
    T *d_wall;
    int *d_above, *d_below;
    CHECK(cudaMalloc(&d_wall, cells * sizeof(T)));
    CHECK(cudaMalloc(&d_above, row_bytes));
    CHECK(cudaMalloc(&d_below, row_bytes));
    const int threads = transfer::threads_for(cells < (size_t(8) << 20) ? 4 : 12);
    const transfer::Shape shape = {
        threads, 2 * threads, cells < (size_t(8) << 20) ? size_t(96) << 10 : size_t(512) << 10};
    const bool fits = stage(wall, cells, d_wall, shape);
    CHECK(cudaMemset(d_above, 0, row_bytes));

    const int warps = (cols + KEPT - 1) / KEPT, blocks = (warps * 32 + THREADS - 1) / THREADS;
    for (int r = 0; fits && r < rows; r += HALO) {
        const int height = rows - r < HALO ? rows - r : HALO;
        advance_band<<<blocks, THREADS>>>(height, cols, d_wall + static_cast<size_t>(r) * cols,
                                          d_above, d_below);
        CHECK(cudaGetLastError());
        int *const swapped = d_above;
        d_above = d_below;
        d_below = swapped;
    }
    CHECK(cudaMemcpy(out_costs, d_above, row_bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_below));
    CHECK(cudaFree(d_above));
    CHECK(cudaFree(d_wall));
    return fits;
}

extern "C" void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    if (rows <= 0 || cols <= 0)
        return;
    if (!sweep<uint8_t>(rows, cols, wall, out_costs))
        sweep<int>(rows, cols, wall, out_costs);
}
