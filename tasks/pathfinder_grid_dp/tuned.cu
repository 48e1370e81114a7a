// Cheapest paths through a grid: the host narrows costs to bytes while it stages them, the device
// sweeps bands of rows.
//
// Approach: threads of the host turn pieces of the grid into bytes in pinned slots and look at
// every cost on the way; if one does not fit into a byte the call starts again with whole integers.
// A row is staged with the mirror images of its ends, so that the sweep knows no borders: an image
// of a cell has the cell's own costs and neighbours, hence adds no cheaper path. The sweep takes 64
// rows at a time: a warp reads 256 columns, eight a lane in registers, exchanges border values by
// shuffle, prefetches rows, and keeps the 128 columns that what is wrong at its edges has not
// reached. Copies and sweeps run on two streams behind the host's reading.
//
// What bounds it: the host's reading of the grid; a quarter of its bytes cross the bus. At small
// sizes the chain of sweeps (one for 64 rows) and setting up the ring.
//
// Tried: sixteen columns a lane and 128 rows a sweep (half the launches, but each takes more than
// twice as long); eight threads instead of twelve at large (a quarter slower: reading is all there
// is); four-bit costs (the bus is no limit).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.0 ms, medium 9.5 to 10 ms,
// large 25 to 31 ms (13 %, 55 % and 65 to 80 % of a floor that sends the grid whole and takes 16 ns
// a row; naive 10 and 190 ms). Since then the rows are prefetched in blocks; a sweep of 64 rows
// took 12 us before that, which was the limit at small and part of it at medium. An evaluation,
// which comes to a call with cold caches, takes 1.02 ms at small. The CPU program parallel wins
// there, with 0.58 ms on 15 cores: a cell is added to once, which a core does as fast as it can
// read; the single-thread reference takes 0.76 ms.
#include "transfer.cuh"

#include <cstdint>

constexpr int HOST_THREADS = 12;

constexpr int LANE_COLUMNS = 8, TILE = 32 * LANE_COLUMNS; // columns that a warp reads
constexpr int HALO = 64;              // columns lost at each side, so rows advanced at once
constexpr int KEPT = TILE - 2 * HALO; // columns that a warp finishes
constexpr int WARPS = 2;              // in a block
constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for small grids, which would otherwise pay more for an allocation than for anything else.
static __device__ __align__(256) char arena[ARENA];

// Costs as staged: one byte each where they all fit, else as they came.
template <typename T> struct Row; // a lane's part of a row
template <> struct Row<uint8_t> {
    uint2 packed;
    __device__ int at(int i) const
    {
        return ((i < 4 ? packed.x : packed.y) >> 8 * (i % 4)) & 255;
    }
};
template <> struct Row<int> {
    int4 part[LANE_COLUMNS / 4];
    __device__ int at(int i) const
    {
        const int4 &four = part[i / 4];
        return i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    }
};

static __host__ __device__ int mirrored(int column, int cols)
{
    const int period = 2 * cols;
    column = ((column % period) + period) % period;
    return column < cols ? column : period - 1 - column;
}

// Advances a band of up to HALO rows. A warp reads TILE columns and needs nothing from others
// meanwhile: what is wrong at its borders moves inwards by one column a row. The grid is continued
// by mirror images on both sides, which adds no path that is cheaper: an image of a cell has the
// cell's own cost and neighbours. costs: rows of stride cells, beginning HALO columns left of the
// grid.
template <typename T>
static __global__ void advance_band(int rows, int cols, int stride, const T *costs,
                                    const int *above, int *below)
{
    const int warp = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = warp * KEPT; // first staged column, and first kept one
    if (first >= cols)
        return;
    int best[LANE_COLUMNS];
    for (int i = 0; i < LANE_COLUMNS; i++)
        best[i] = above[mirrored(first - HALO + lane * LANE_COLUMNS + i, cols)];
    constexpr int AHEAD = sizeof(T) == 1 ? 16 : 4;
    const T *mine = costs + first + lane * LANE_COLUMNS;
    // Blocks of rows in registers, one ahead of its use. (Row by row would wait for the latest
    // read: a warp can tell only a few outstanding ones apart.)
    Row<T> now[AHEAD], ahead[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        if (k < rows)
            now[k] = *reinterpret_cast<const Row<T> *>(mine + static_cast<size_t>(k) * stride);
    for (int r = 0; r < rows; r += AHEAD) {
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (r + AHEAD + k < rows)
                ahead[k] = *reinterpret_cast<const Row<T> *>(
                    mine + static_cast<size_t>(r + AHEAD + k) * stride);
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (r + k < rows) {
                int left = __shfl_up_sync(~0u, best[LANE_COLUMNS - 1], 1);
                const int right = __shfl_down_sync(~0u, best[0], 1);
#pragma unroll
                for (int i = 0; i < LANE_COLUMNS; i++) {
                    const int here = best[i], next = i + 1 < LANE_COLUMNS ? best[i + 1] : right;
                    best[i] = now[k].at(i) + min(min(left, here), next);
                    left = here;
                }
            }
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            now[k] = ahead[k];
    }
    for (int i = 0; i < LANE_COLUMNS; i++) {
        const int kept = lane * LANE_COLUMNS + i - HALO, column = first + kept;
        if (kept >= 0 && kept < KEPT && column < cols)
            below[column] = best[i];
    }
}

// Returns the bits that any cost of the row has.
template <typename T> static unsigned stage_row(const int *row, int cols, T *staged, int stride)
{
    unsigned bits = 0;
    for (int c = 0; c < cols; c++) {
        staged[HALO + c] = static_cast<T>(row[c]);
        bits |= static_cast<unsigned>(row[c]);
    }
    for (int c = 0; c < HALO; c++) {
        staged[c] = static_cast<T>(row[mirrored(c - HALO, cols)]);
        staged[HALO + cols + c] = static_cast<T>(row[mirrored(cols + c, cols)]);
    }
    for (int c = cols + 2 * HALO; c < stride; c++)
        staged[c] = 0;
    return bits;
}

// False where a cost does not fit T; the answer is then not there.
template <typename T> static bool sweep(int rows, int cols, const int *wall, int *out_costs)
{
    const size_t cells = static_cast<size_t>(rows) * cols;
    const int tiles = (cols + KEPT - 1) / KEPT;
    const int stride = tiles * KEPT + 2 * HALO;
    // As many bands of rows in a slot as these bytes hold.
    const size_t band = static_cast<size_t>(rows < HALO ? rows : HALO) * stride * sizeof(T);
    const size_t wished = cells < (size_t(8) << 20) ? size_t(96) << 10 : size_t(640) << 10;
    const int bands = band < wished ? static_cast<int>(wished / band) : 1;
    const size_t piece_rows = static_cast<size_t>(bands) * HALO;
    const size_t pieces = (rows + piece_rows - 1) / piece_rows;
    const size_t slot_bytes = (band * bands + transfer::PAGE - 1) / transfer::PAGE * transfer::PAGE;
    const int threads = transfer::threads_for(cells < (size_t(8) << 20) ? 4 : HOST_THREADS);
    const size_t wanted = static_cast<size_t>(threads) + 2,
                 slots = pieces < wanted ? pieces : wanted;
    const transfer::Shape shape = {threads, static_cast<int>(slots), slot_bytes};

    const size_t line = (static_cast<size_t>(cols) * sizeof(int) + 255) / 256 * 256;
    const size_t device_bytes = 2 * line + slots * slot_bytes;
    char *memory = nullptr;
    int *line_of[2];
    char *copies = nullptr;
    int turn = 0; // line_of[turn] holds the last finished row
    cudaStream_t copying, computing;
    cudaEvent_t arrived;
    std::atomic<bool> fits{true};

    transfer::pipeline(
        shape, pieces,
        [&] {
            if (device_bytes <= ARENA)
                CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
            else
                CHECK(cudaMalloc(&memory, device_bytes));
            line_of[0] = reinterpret_cast<int *>(memory);
            line_of[1] = reinterpret_cast<int *>(memory + line);
            copies = memory + 2 * line;
            CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
            CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
            CHECK(cudaMemsetAsync(line_of[0], 0, line, computing)); // the row above the first
        },
        [&](size_t piece, char *slot) {
            const size_t begin = piece * piece_rows, end = begin + piece_rows;
            unsigned bits = 0;
            if (fits.load(std::memory_order_relaxed))
                for (size_t r = begin; r < end && r < static_cast<size_t>(rows); r++)
                    bits |= stage_row(wall + r * cols, cols,
                                      reinterpret_cast<T *>(slot) + (r - begin) * stride, stride);
            if (sizeof(T) < sizeof(int) && bits > 255)
                fits.store(false, std::memory_order_relaxed);
        },
        [&](size_t piece, size_t count, char *slot) {
            if (!fits.load(std::memory_order_relaxed))
                return computing;
            // The copies that lay there before have been used: the slots would not be free
            // otherwise.
            char *to = copies + (piece % slots) * slot_bytes;
            CHECK(cudaMemcpyAsync(to, slot, count * slot_bytes, cudaMemcpyHostToDevice, copying));
            CHECK(cudaEventRecord(arrived, copying));
            CHECK(cudaStreamWaitEvent(computing, arrived, 0));
            for (size_t k = 0; k < count; k++, to += slot_bytes) {
                const size_t left = rows - (piece + k) * piece_rows,
                             here = left < piece_rows ? left : piece_rows;
                for (size_t r = 0; r < here; r += HALO, turn ^= 1) {
                    const int height = static_cast<int>(here - r < HALO ? here - r : HALO);
                    advance_band<T><<<(tiles + WARPS - 1) / WARPS, WARPS * 32, 0, computing>>>(
                        height, cols, stride, reinterpret_cast<T *>(to) + r * stride, line_of[turn],
                        line_of[turn ^ 1]);
                    CHECK(cudaGetLastError());
                }
            }
            return computing;
        },
        [](size_t, char *) {});

    if (fits.load())
        CHECK(cudaMemcpy(out_costs, line_of[turn], static_cast<size_t>(cols) * sizeof(int),
                         cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(copying));
    CHECK(cudaStreamSynchronize(computing));
    CHECK(cudaEventDestroy(arrived));
    CHECK(cudaStreamDestroy(copying));
    CHECK(cudaStreamDestroy(computing));
    if (device_bytes > ARENA)
        CHECK(cudaFree(memory));
    return fits.load();
}

extern "C" void solution_compute(int rows, int cols, const int *wall, int *out_costs)
{
    if (rows <= 0 || cols <= 0)
        return;
    if (!sweep<uint8_t>(rows, cols, wall, out_costs))
        sweep<int>(rows, cols, wall, out_costs);
}
