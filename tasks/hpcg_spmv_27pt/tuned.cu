// Product of a sparse matrix and a vector: on 27-point grids only the values and x travel.
//
// Approach: the first row and the number of entries suggest the edges of a grid. Threads of the
// host then copy the values into pinned slots and, on the way, compare every row start and every
// column with what that grid would have; if one differs the call falls back to the general product,
// which sends everything. On the grid, a kernel computes columns and row starts itself: a block
// fetches the values of 64 rows over the bus in whole lines, four lanes sum a row, y goes back into
// the slot. x is sent first, through the same slots.
//
// What bounds it: the host's reading of matrix and columns (12 bytes an entry, of which 8 are
// written to a slot and cross the bus).
//
// Tried: slots of 2048 rows (equal at medium, slower at small: more memory to register); twelve
// threads at medium (no faster than eight; a tenth faster at large); one launch a slot instead of
// one for all slots that are ready (a third slower at medium: the issuing thread was the limit).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.0 ms, medium 3.5 ms, large
// 13 to 16 ms (21 %, 64 % and 80 to 95 % of what the bus would need for the whole matrix; naive
// 1.6, 15.6 and 75 ms). An evaluation, which comes to a call with cold caches, takes 1.15 ms at
// small. The CPU program parallel wins there, with 0.48 ms on 15 cores: every entry is used once,
// so its way over the bus costs more than the product; the single-thread reference takes 0.75 ms.
#include "transfer.cuh"

constexpr int PIECE_ROWS = 1024; // rows of the matrix in a slot

constexpr int STREAMS = 4;
constexpr int BLOCK_ROWS = 64, ROW_LANES = 4, THREADS = BLOCK_ROWS * ROW_LANES, ENTRIES_MAX = 27;

// A grid whose points are joined to all neighbours, x fastest; every edge has at least two points.
// A row of the matrix has (points in reach along x) * (.. y) * (.. z) entries, so the place of
// every entry follows from the edges.
struct Grid {
    int nx, ny, nz;
};

// Points in reach of point i on an edge of n, and the sum of that over the points before i.
static __host__ __device__ int reach(int i, int n)
{
    return i == 0 || i == n - 1 ? 2 : 3;
}
static __host__ __device__ int reach_before(int i)
{
    return i == 0 ? 0 : 3 * i - 1;
}

// Entries before a row of the matrix.
static __host__ __device__ int row_start(const Grid &g, int ix, int iy, int iz)
{
    const int line = 3 * g.nx - 2, plane = (3 * g.ny - 2) * line;
    return reach_before(iz) * plane +
           reach(iz, g.nz) * (reach_before(iy) * line + reach(iy, g.ny) * reach_before(ix));
}

static __host__ __device__ int row_start(const Grid &g, int row)
{
    const int plane = g.nx * g.ny;
    if (row == plane * g.nz)
        return (3 * g.nx - 2) * (3 * g.ny - 2) * (3 * g.nz - 2);
    return row_start(g, row % g.nx, row / g.nx % g.ny, row / plane);
}

// The edges that the first row and the number of entries speak for.
static bool guess_grid(int n, const int *row_ptr, const int *col_idx, Grid *ret)
{
    if (n < 8 || row_ptr[0] != 0 || row_ptr[1] != 8)
        return false;
    const int nx = col_idx[2], plane = col_idx[4];
    if (nx < 2 || plane < 2 * nx || plane % nx != 0 || n % plane != 0 || n / plane < 2)
        return false;
    *ret = Grid{nx, plane / nx, n / plane};
    const double entries = (3.0 * nx - 2) * (3.0 * ret->ny - 2) * (3.0 * ret->nz - 2);
    return entries == row_ptr[n];
}

// Do rows first..last-1 hold just the entries that the grid says?
static bool rows_follow(const Grid &g, int first, int last, const int *row_ptr, const int *col_idx)
{
    int ix = first % g.nx, iy = first / g.nx % g.ny, iz = first / (g.nx * g.ny);
    int at = row_start(g, first);
    unsigned wrong = 0;
    for (int row = first; row < last;) {
        // Along a line of the grid all rows but the two at its ends have the same offsets.
        int offset[ENTRIES_MAX], count = 0;
        for (int dz = iz > 0 ? -1 : 0; dz <= (iz < g.nz - 1 ? 1 : 0); dz++)
            for (int dy = iy > 0 ? -1 : 0; dy <= (iy < g.ny - 1 ? 1 : 0); dy++)
                for (int dx = ix > 0 ? -1 : 0; dx <= (ix < g.nx - 1 ? 1 : 0); dx++)
                    offset[count++] = (dz * g.ny + dy) * g.nx + dx;
        int run = ix > 0 && ix < g.nx - 1 ? g.nx - 1 - ix : 1;
        run = run < last - row ? run : last - row;
        if (count == ENTRIES_MAX) {
            for (int end = row + run; row < end; row++, at += ENTRIES_MAX) {
                wrong |= static_cast<unsigned>(row_ptr[row] ^ at);
                for (int k = 0; k < ENTRIES_MAX; k++)
                    wrong |= static_cast<unsigned>((col_idx[at + k] - row) ^ offset[k]);
            }
        } else {
            for (int end = row + run; row < end; row++, at += count) {
                wrong |= static_cast<unsigned>(row_ptr[row] ^ at);
                for (int k = 0; k < count; k++)
                    wrong |= static_cast<unsigned>((col_idx[at + k] - row) ^ offset[k]);
            }
        }
        ix += run;
        if (ix == g.nx) {
            ix = 0;
            if (++iy == g.ny)
                iy = 0, iz++;
        }
        if (wrong)
            return false;
    }
    return true;
}

// A slot holds the entries of PIECE_ROWS rows, then room for their part of y.
constexpr size_t VALUE_BYTES = static_cast<size_t>(PIECE_ROWS) * ENTRIES_MAX * sizeof(double);
constexpr size_t SLOT = (VALUE_BYTES + PIECE_ROWS * sizeof(double) + transfer::PAGE - 1) /
                        transfer::PAGE * transfer::PAGE;

// The product for the rows of some slots in the host's memory, from row `first` on; a slot for each
// blockIdx.y. A block takes BLOCK_ROWS rows: it fetches their entries in whole lines, then
// ROW_LANES lanes sum each row.
static __global__ void multiply_grid(Grid g, int first, int n, char *slots, const double *x)
{
    __shared__ double entries[BLOCK_ROWS * ENTRIES_MAX];
    first += blockIdx.y * PIECE_ROWS;
    const double *values = reinterpret_cast<const double *>(slots + blockIdx.y * SLOT);
    double *y = reinterpret_cast<double *>(slots + blockIdx.y * SLOT + VALUE_BYTES);
    const int block_first = first + blockIdx.x * BLOCK_ROWS,
              block_last = min(block_first + BLOCK_ROWS, n);
    if (block_first >= n)
        return;
    const int base = row_start(g, first), from = row_start(g, block_first),
              size = row_start(g, block_last) - from;
    for (int i = threadIdx.x; i < size; i += THREADS)
        entries[i] = values[from - base + i];
    __syncthreads();
    const int row = block_first + threadIdx.x / ROW_LANES, lane = threadIdx.x % ROW_LANES;
    double sum = 0;
    if (row < block_last) {
        const int ix = row % g.nx, iy = row / g.nx % g.ny, iz = row / (g.nx * g.ny);
        const int wide = reach(ix, g.nx), deep = reach(iy, g.ny), high = reach(iz, g.nz);
        const int corner = row - (ix > 0) - (iy > 0) * g.nx - (iz > 0) * g.nx * g.ny;
        const double *mine = entries + (row_start(g, ix, iy, iz) - from);
        for (int k = lane; k < wide * deep * high; k += ROW_LANES) {
            const int line = wide == 3 ? k / 3 : k / 2, dx = k - line * wide;
            const int dz = deep == 3 ? line / 3 : line / 2, dy = line - dz * deep;
            sum += mine[k] * x[corner + (dz * g.ny + dy) * g.nx + dx];
        }
    }
    for (int step = ROW_LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (row < block_last && lane == 0)
        y[row - first] = sum;
}

// Right for any matrix: a warp a row.
static __global__ void multiply_any(int n, const int *row_ptr, const int *col_idx,
                                    const double *values, const double *x, double *y)
{
    const int lane = threadIdx.x % 32;
    const long long warps = static_cast<long long>(gridDim.x) * (THREADS / 32);
    for (long long row = (static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x) / 32; row < n;
         row += warps) {
        double sum = 0;
        for (int p = row_ptr[row] + lane; p < row_ptr[row + 1]; p += 32)
            sum += values[p] * x[col_idx[p]];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            y[row] = sum;
    }
}

// x goes first, then the values stream through, while the host checks that the columns are the
// grid's; those need not travel. False, and y_out worthless, where they are not.
static bool grid_product(const Grid &g, int n, const int *row_ptr, const int *col_idx,
                         const double *values, const double *x, double *y_out)
{
    const size_t x_bytes = static_cast<size_t>(n) * sizeof(double),
                 x_pieces = (x_bytes + SLOT - 1) / SLOT;
    const size_t pieces = x_pieces + (static_cast<size_t>(n) + PIECE_ROWS - 1) / PIECE_ROWS;
    const int threads = transfer::threads_for(n < 100000 ? 4 : n < 1000000 ? 8 : 12);
    const transfer::Shape shape = {threads, 2 * threads, SLOT};
    auto x_part = [&](size_t piece) {
        return x_bytes - piece * SLOT < SLOT ? x_bytes - piece * SLOT : SLOT;
    };
    auto first_row = [&](size_t piece) {
        return static_cast<int>((piece - x_pieces) * PIECE_ROWS);
    };
    auto row_count = [&](size_t piece) {
        const int left = n - first_row(piece);
        return left < PIECE_ROWS ? left : PIECE_ROWS;
    };
    double *d_x = nullptr;
    cudaStream_t streams[STREAMS];
    cudaEvent_t arrived;
    unsigned turn = 0;
    std::atomic<bool> follows{row_ptr[n] == row_start(g, n)};
    transfer::pipeline(
        shape, pieces,
        [&] {
            CHECK(cudaMalloc(&d_x, x_bytes));
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
        },
        [&](size_t piece, char *slot) {
            if (piece < x_pieces) {
                memcpy(slot, reinterpret_cast<const char *>(x) + piece * SLOT, x_part(piece));
                return;
            }
            if (!follows.load(std::memory_order_relaxed))
                return;
            const int first = first_row(piece), last = first + row_count(piece);
            const int from = row_start(g, first), to = row_start(g, last);
            memcpy(slot, values + from, static_cast<size_t>(to - from) * sizeof(double));
            if (!rows_follow(g, first, last, row_ptr, col_idx))
                follows.store(false, std::memory_order_relaxed);
        },
        [&](size_t piece, size_t count, char *slot) {
            cudaStream_t stream = streams[piece < x_pieces ? 0 : turn++ % STREAMS];
            for (; count > 0 && piece < x_pieces; piece++, count--, slot += SLOT) {
                CHECK(cudaMemcpyAsync(reinterpret_cast<char *>(d_x) + piece * SLOT, slot,
                                      x_part(piece), cudaMemcpyHostToDevice, stream));
                if (piece + 1 == x_pieces) {
                    CHECK(cudaEventRecord(arrived, stream));
                    for (int s = 1; s < STREAMS; s++)
                        CHECK(cudaStreamWaitEvent(streams[s], arrived, 0));
                }
            }
            if (count > 0 && follows.load(std::memory_order_relaxed)) {
                const dim3 grid(PIECE_ROWS / BLOCK_ROWS, static_cast<unsigned>(count));
                multiply_grid<<<grid, THREADS, 0, stream>>>(g, first_row(piece), n, slot, d_x);
                CHECK(cudaGetLastError());
            }
            return stream;
        },
        [&](size_t piece, char *slot) {
            if (piece >= x_pieces)
                memcpy(y_out + first_row(piece), slot + VALUE_BYTES,
                       row_count(piece) * sizeof(double));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(arrived));
    CHECK(cudaFree(d_x));
    return follows.load();
}

static void any_product(int n, const int *row_ptr, const int *col_idx, const double *values,
                        const double *x, double *y_out)
{
    const size_t entries = static_cast<size_t>(row_ptr[n]), rows = static_cast<size_t>(n);
    char *memory;
    CHECK(cudaMalloc(&memory,
                     (entries + 2 * rows) * sizeof(double) + (entries + rows + 1) * sizeof(int)));
    double *d_values = reinterpret_cast<double *>(memory), *d_x = d_values + entries,
           *d_y = d_x + rows;
    int *d_row_ptr = reinterpret_cast<int *>(d_y + rows), *d_col_idx = d_row_ptr + rows + 1;
    const transfer::Array in[] = {{d_row_ptr, row_ptr, (rows + 1) * sizeof(int)},
                                  {d_x, x, rows * sizeof(double)},
                                  {d_col_idx, col_idx, entries * sizeof(int)},
                                  {d_values, values, entries * sizeof(double)}};
    transfer::upload(in, 4);
    const size_t blocks = (rows + THREADS / 32 - 1) / (THREADS / 32);
    multiply_any<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), THREADS>>>(
        n, d_row_ptr, d_col_idx, d_values, d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{d_y, y_out, rows * sizeof(double)}};
    transfer::download(out, 1);
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 const double *values, const double *x, double *y_out)
{
    Grid grid;
    if (guess_grid(n, row_ptr, col_idx, &grid) &&
        grid_product(grid, n, row_ptr, col_idx, values, x, y_out))
        return;
    any_product(n, row_ptr, col_idx, values, x, y_out);
}
