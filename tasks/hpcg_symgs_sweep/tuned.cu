// Symmetric Gauss-Seidel: grids are recognised and swept plane by plane while the matrix arrives.
//
// Approach: the first row and the number of entries suggest the edges of a grid. Threads of the
// host copy the values into pinned slots and compare every row start and every column with that
// grid; columns do not travel. A kernel fetches the slots over the bus, divides by the diagonal and
// lays the coefficients out by direction. Whenever some planes are complete the upward sweep goes
// on over them, so that it is done soon after the copy. The downward sweep follows; it needs the
// later half of each row only, for the sum over the earlier half is what the upward sweep left. A
// block sweeps some planes line by line; blocks pass values to the next planes through global
// memory, one line apart, and along a line the recurrence is a scan. The result goes back through
// the same pinned slots. Any other matrix goes over as it is and is swept by a warp a row, in
// order, each waiting for the rows that it needs.
//
// What bounds it: the host's reading of matrix and columns; the downward sweep takes 0.2, 0.5 and
// 1.2 ms after that.
//
// Tried: one and two planes a block (equal within the noise); a lane a line and a point a step in
// tiles of 32 lines, with requests ahead in registers or through shared memory (a quarter to a half
// slower at small, equal beyond); slots of 512 rows and twelve threads (equal).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.14 ms, medium 4.0 to 4.8 ms,
// large 31 ms, 25 ms at best (19 %, 49 to 59 % and 61 % of what the bus would need for the whole
// matrix; naive 5.0, 31 to 35 and 208 to 218 ms). An evaluation, which comes to a call with cold
// caches, takes 1.24 ms at small. The CPU program parallel wins there, with 0.95 ms on 15 cores:
// the matrix has to cross the bus, and lies in the caches of the host.
#include "transfer.cuh"

constexpr int PIECE_ROWS = 1024; // rows of the matrix in a slot

constexpr int STREAMS = 4;
constexpr int BLOCK_ROWS = 64, ROW_LANES = 4, THREADS = BLOCK_ROWS * ROW_LANES;
constexpr int STENCIL = 27, CENTRE = 13;
constexpr int WIDTH_MAX = 480;                      // points of a line that a block can sweep
constexpr int SWEEP_THREADS = 640, SWEEP_DEPTH = 4; // of a block, at most
constexpr int SCAN_STEPS = 5;

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
    if (nx < 2 || nx > WIDTH_MAX || plane < 2 * nx || plane % nx != 0 || n % plane != 0 ||
        n / plane < 2)
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
        int offset[STENCIL], count = 0;
        for (int dz = iz > 0 ? -1 : 0; dz <= (iz < g.nz - 1 ? 1 : 0); dz++)
            for (int dy = iy > 0 ? -1 : 0; dy <= (iy < g.ny - 1 ? 1 : 0); dy++)
                for (int dx = ix > 0 ? -1 : 0; dx <= (ix < g.nx - 1 ? 1 : 0); dx++)
                    offset[count++] = (dz * g.ny + dy) * g.nx + dx;
        int run = ix > 0 && ix < g.nx - 1 ? g.nx - 1 - ix : 1;
        run = run < last - row ? run : last - row;
        if (count == STENCIL) {
            for (int end = row + run; row < end; row++, at += STENCIL) {
                wrong |= static_cast<unsigned>(row_ptr[row] ^ at);
                for (int k = 0; k < STENCIL; k++)
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

constexpr size_t SLOT =
    (static_cast<size_t>(PIECE_ROWS) * STENCIL * sizeof(double) + transfer::PAGE - 1) /
    transfer::PAGE * transfer::PAGE;

// What the device keeps of a grid's matrix: 27 coefficients a row, each divided by the row's
// diagonal, 0 where there is no neighbour; coefficient k of point ix of a line at
// [(line * 27 + k) * pitch + ix].
struct Stencils {
    Grid g;
    int pitch;
    double *a;
};

// Unset values of a vector: a pattern that no arithmetic produces.
constexpr int UNSET_BYTE = 0xff;

static __device__ bool is_unset(double v)
{
    return __double_as_longlong(v) == -1;
}

// Values that other blocks of the same kernel write.
static __device__ double load_shared_value(const double *from)
{
    double v;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(from));
    return v;
}

static __device__ void store_shared_value(double *to, double v)
{
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(to), "d"(v));
}

static __device__ void prefetch(const double *at)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

// A sweep over some planes of the grid, upwards or downwards: x = p + q less the sum over the
// neighbours that come earlier in the sweep. A block takes a few planes, `depth`, each two lines
// behind the one before, and some warps of it the present line of a plane, a thread a point. The
// neighbours in earlier lines are summed first; then x_i = d_i + c_i x_(i-1) along the line is a
// scan, whose factors are known beforehand. Lines of the plane before a block's first are awaited
// value by value: x is unset where the sweep has not been. Blocks take their planes in order, so
// whoever waits does so for a block that runs. Downwards everything is mirrored.
template <bool UP>
static __global__ void __launch_bounds__(SWEEP_THREADS)
    sweep(Stencils s, int first, int end, int depth, const double *p, const double *q, double *x,
          int *ticket, int first_ticket)
{
    extern __shared__ double shared[];
    __shared__ int taken;
    constexpr int FAR = 6; // lines
    const int nx = s.g.nx, ny = s.g.ny, width = nx + 2, warps = blockDim.x / 32 / depth;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % warps,
              level = threadIdx.x / 32 / warps, t = warp * 32 + lane;
    // Of the plane before and of the block's planes: the last four lines, between zeros.
    double *const before_rows = shared + level * 4 * width, *const rows = before_rows + 4 * width;
    double *const totals = shared + (depth + 1) * 4 * width + level * warps * 2;
    if (threadIdx.x == 0)
        taken = atomicAdd(ticket, 1) - first_ticket;
    for (int i = threadIdx.x; i < (depth + 1) * 4 * width; i += blockDim.x)
        shared[i] = 0;
    __syncthreads();
    const int z = first + taken * depth + level; // z, y, t: in the order of the sweep
    const int iz = UP ? z : s.g.nz - 1 - z, ix = UP ? t : nx - 1 - t;
    const bool inside = t < nx && z < end, waits = inside && level == 0 && z > 0;
    auto line_of = [&](int y) { return iz * ny + (UP ? y : ny - 1 - y); };
    auto place = [&](int y) { return static_cast<size_t>(line_of(y)) * nx + ix; };
    auto coefficient = [&](int y, int k) {
        return s.a +
               (static_cast<size_t>(line_of(y)) * STENCIL + (UP ? k : STENCIL - 1 - k)) * s.pitch +
               ix;
    };
    const double *before = x + (UP ? -1 : 1) * static_cast<ptrdiff_t>(nx) * ny; // the plane before
    auto await = [&](int y, double v) {
        while (is_unset(v))
            v = load_shared_value(before + place(y));
        return v;
    };

    double next[CENTRE], next_start = 0, pending = 0;
#pragma unroll
    for (int k = 0; k < CENTRE; k++)
        next[k] = 0;
    if (inside) {
#pragma unroll
        for (int k = 0; k < CENTRE; k++)
            next[k] = *coefficient(0, k);
        for (int y = 1; y < FAR && y < ny && t % 4 == 0; y++)
            for (int k = 0; k < CENTRE; k++)
                prefetch(coefficient(y, k));
        next_start = p[place(0)] + (q ? q[place(0)] : 0.0);
    }
    if (waits) {
        before_rows[t + 1] = await(0, load_shared_value(before + place(0)));
        if (ny > 1)
            pending = load_shared_value(before + place(1));
    }
    __syncthreads();
    for (int y = -2 * level; y < ny + 2 * (depth - 1 - level); y++) {
        const bool active = inside && y >= 0 && y < ny;
        double a[CENTRE], sum = next_start;
#pragma unroll
        for (int k = 0; k < CENTRE; k++)
            a[k] = next[k];
        if (active && y + 1 < ny) {
            next_start = p[place(y + 1)] + (q ? q[place(y + 1)] : 0.0);
#pragma unroll
            for (int k = 0; k < CENTRE; k++)
                next[k] = *coefficient(y + 1, k);
            if (y + FAR < ny && t % 4 == 0)
                for (int k = 0; k < CENTRE; k++)
                    prefetch(coefficient(y + FAR, k));
        }
        if (active) {
            const double *two_back = before_rows + ((y + 3) & 3) * width + t,
                         *back = before_rows + (y & 3) * width + t;
#pragma unroll
            for (int k = 0; k < 3; k++)
                sum -= a[k] * two_back[k] + a[3 + k] * back[k];
        }
        double factor[SCAN_STEPS], c = active ? -a[12] : 0.0;
#pragma unroll
        for (int k = 0; k < SCAN_STEPS; k++) {
            const double left = __shfl_up_sync(~0u, c, 1 << k);
            factor[k] = lane >= 1 << k ? c : 0.0;
            c = lane >= 1 << k ? c * left : c;
        }
        if (waits && active && y + 1 < ny) {
            before_rows[((y + 1) & 3) * width + t + 1] = await(y + 1, pending);
            if (y + 2 < ny)
                pending = load_shared_value(before + place(y + 2));
        }
        __syncthreads();
        double d = 0;
        if (active) {
            const double *above = before_rows + ((y + 1) & 3) * width + t,
                         *last = rows + ((y + 3) & 3) * width + t;
#pragma unroll
            for (int k = 0; k < 3; k++)
                sum -= a[6 + k] * above[k] + a[9 + k] * last[k];
            d = sum;
        }
#pragma unroll
        for (int k = 0; k < SCAN_STEPS; k++)
            d = fma(factor[k], __shfl_up_sync(~0u, d, 1 << k), d);
        if (lane == 31) {
            totals[2 * warp] = c;
            totals[2 * warp + 1] = d;
        }
        __syncthreads();
        double left = 0;
        for (int w = 0; w < warp; w++)
            left = fma(totals[2 * w], left, totals[2 * w + 1]);
        if (active) {
            const double value = fma(c, left, d);
            rows[(y & 3) * width + t + 1] = value;
            store_shared_value(x + place(y), value);
        }
    }
}

// How many planes a block takes, and the rest of the launch.
struct Shape {
    int depth;
    unsigned threads;
    size_t shared_bytes;
};

static Shape shape_of(const Grid &g, int planes)
{
    const int warps = (g.nx + 31) / 32;
    int depth = SWEEP_THREADS / 32 / warps;
    depth = depth < SWEEP_DEPTH ? depth : SWEEP_DEPTH;
    depth = depth < planes ? depth : planes;
    depth = depth < 1 ? 1 : depth;
    return Shape{depth, static_cast<unsigned>(depth * warps * 32),
                 ((depth + 1) * 4 * static_cast<size_t>(g.nx + 2) + depth * warps * 2) *
                     sizeof(double)};
}

// Brings the entries of some slots' rows into the device's form, from row `first` on; a slot for
// each blockIdx.y. A block takes BLOCK_ROWS rows: it fetches their entries in whole lines; then
// ROW_LANES lanes share a row. upper: the sum over the later neighbours with the initial guess;
// start: what the upward sweep starts from.
static __global__ void settle(Stencils s, int first, int n, const char *slots, const double *rhs,
                              const double *x, double *start, double *upper)
{
    __shared__ double entries[BLOCK_ROWS * STENCIL], parts[ROW_LANES][BLOCK_ROWS];
    const Grid g = s.g;
    first += blockIdx.y * PIECE_ROWS;
    const double *values = reinterpret_cast<const double *>(slots + blockIdx.y * SLOT);
    const int block_first = first + blockIdx.x * BLOCK_ROWS,
              block_last = min(block_first + BLOCK_ROWS, n);
    if (block_first >= n)
        return;
    const int base = row_start(g, first), from = row_start(g, block_first),
              size = row_start(g, block_last) - from;
    for (int i = threadIdx.x; i < size; i += THREADS)
        entries[i] = values[from - base + i];
    __syncthreads();
    const int place = threadIdx.x % BLOCK_ROWS, row = block_first + place,
              lane = threadIdx.x / BLOCK_ROWS;
    double sum = 0, inverse = 0;
    if (row < block_last) {
        const int line = row / g.nx, ix = row - line * g.nx, iy = line % g.ny, iz = line / g.ny;
        const int wide = reach(ix, g.nx), deep = reach(iy, g.ny);
        const double *mine = entries + (row_start(g, ix, iy, iz) - from);
        auto entry = [&](int dx, int dy, int dz) {
            return mine[((dz + (iz > 0)) * deep + dy + (iy > 0)) * wide + dx + (ix > 0)];
        };
        const double diagonal = entry(0, 0, 0);
        inverse = 1.0 / diagonal;
        double *to = s.a + static_cast<size_t>(line) * STENCIL * s.pitch + ix;
        for (int k = lane; k < STENCIL; k += ROW_LANES) {
            const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
            const bool exists = ix + dx >= 0 && ix + dx < g.nx && iy + dy >= 0 && iy + dy < g.ny &&
                                iz + dz >= 0 && iz + dz < g.nz;
            double a = exists ? entry(dx, dy, dz) * inverse : 0.0;
            if (exists && k > CENTRE)
                sum += a * x[row + (dz * g.ny + dy) * g.nx + dx];
            if (k == CENTRE)
                a = diagonal;
            to[k * s.pitch] = a;
        }
    }
    parts[lane][place] = sum;
    __syncthreads();
    if (lane == 0 && row < block_last) {
        sum = (parts[0][place] + parts[1][place]) + (parts[2][place] + parts[3][place]);
        upper[row] = sum;
        start[row] = rhs[row] * inverse - sum;
    }
}

// False, and x_inout untouched, where the matrix is not the grid's.
static bool sweep_grid(const Grid &g, int n, const int *row_ptr, const int *col_idx,
                       const double *values, const double *rhs, double *x_inout)
{
    const size_t rows = static_cast<size_t>(n), bytes = rows * sizeof(double),
                 vector_pieces = (bytes + SLOT - 1) / SLOT, before = 2 * vector_pieces;
    const size_t after = before + (rows + PIECE_ROWS - 1) / PIECE_ROWS; // the result's first piece
    const int threads = transfer::threads_for(n < 100000 ? 4 : n < 1000000 ? 8 : 12);
    const transfer::Shape ring = {threads, 2 * threads, SLOT};
    const int plane = g.nx * g.ny, slab = g.nz < 64 ? 4 : g.nz / 16; // planes swept at a time
    Stencils s = {g, (g.nx + 3) / 4 * 4, nullptr};
    const size_t coefficients = static_cast<size_t>(g.ny) * g.nz * STENCIL * s.pitch;
    // The guess, rhs, start and sums of the upward sweep; results of both.
    double *d_x = nullptr, *d_rhs = nullptr, *start = nullptr, *upper = nullptr, *x_up = nullptr,
           *x_down = nullptr;
    int *tickets = nullptr; // of the upward and of the downward sweep
    cudaStream_t streams[STREAMS], sweeping;
    cudaEvent_t arrived[STREAMS];
    unsigned turn = 0;
    int planes_swept = 0, tickets_taken = 0;
    std::atomic<bool> follows{row_ptr[n] == row_start(g, n)};
    auto vector_part = [&](size_t piece) {
        return bytes - piece * SLOT < SLOT ? bytes - piece * SLOT : SLOT;
    };
    auto first_row = [&](size_t piece) { return static_cast<int>((piece - before) * PIECE_ROWS); };
    auto row_count = [&](size_t piece) {
        const int left = n - first_row(piece);
        return left < PIECE_ROWS ? left : PIECE_ROWS;
    };
    transfer::pipeline(
        ring, after + vector_pieces,
        [&] {
            CHECK(cudaMalloc(&s.a, (coefficients + 6 * rows + 2) * sizeof(double)));
            d_x = s.a + coefficients;
            d_rhs = d_x + rows;
            start = d_rhs + rows;
            upper = start + rows;
            x_up = upper + rows;
            x_down = x_up + rows;
            tickets = reinterpret_cast<int *>(x_down + rows);
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&sweeping, cudaStreamNonBlocking));
            for (cudaEvent_t &event : arrived)
                CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
            CHECK(cudaMemsetAsync(x_up, UNSET_BYTE, 2 * bytes, sweeping));
            CHECK(cudaMemsetAsync(tickets, 0, 2 * sizeof(int), sweeping));
        },
        [&](size_t piece, char *slot) {
            if (piece < before) {
                const size_t part = piece % vector_pieces;
                const double *from = piece < vector_pieces ? x_inout : rhs;
                memcpy(slot, reinterpret_cast<const char *>(from) + part * SLOT, vector_part(part));
                return;
            }
            if (piece >= after || !follows.load(std::memory_order_relaxed))
                return;
            const int first = first_row(piece), last = first + row_count(piece);
            const int from = row_start(g, first), to = row_start(g, last);
            memcpy(slot, values + from, static_cast<size_t>(to - from) * sizeof(double));
            if (!rows_follow(g, first, last, row_ptr, col_idx))
                follows.store(false, std::memory_order_relaxed);
        },
        [&](size_t piece, size_t count, char *slot) {
            cudaStream_t stream = streams[piece < before ? 0 : turn++ % STREAMS];
            for (; count > 0 && piece < before; piece++, count--, slot += SLOT) {
                const size_t part = piece % vector_pieces;
                double *to = piece < vector_pieces ? d_x : d_rhs;
                CHECK(cudaMemcpyAsync(reinterpret_cast<char *>(to) + part * SLOT, slot,
                                      vector_part(part), cudaMemcpyHostToDevice, stream));
                if (piece + 1 == before) {
                    CHECK(cudaEventRecord(arrived[0], stream));
                    for (int k = 1; k < STREAMS; k++)
                        CHECK(cudaStreamWaitEvent(streams[k], arrived[0], 0));
                }
            }
            if (count == 0 || !follows.load(std::memory_order_relaxed))
                return stream;
            const size_t matrix = piece >= after          ? 0
                                  : after - piece < count ? after - piece
                                                          : count;
            if (matrix > 0) {
                const dim3 grid(PIECE_ROWS / BLOCK_ROWS, static_cast<unsigned>(matrix));
                settle<<<grid, THREADS, 0, stream>>>(s, first_row(piece), n, slot, d_rhs, d_x,
                                                     start, upper);
                CHECK(cudaGetLastError());
                const size_t last = piece + matrix - 1;
                const int complete = (first_row(last) + row_count(last)) / plane;
                if (complete - planes_swept >= slab || (complete == g.nz && planes_swept < g.nz)) {
                    for (int k = 0; k < STREAMS; k++) {
                        CHECK(cudaEventRecord(arrived[k], streams[k]));
                        CHECK(cudaStreamWaitEvent(sweeping, arrived[k], 0));
                    }
                    Shape shape = shape_of(g, complete - planes_swept);
                    int blocks = (complete - planes_swept + shape.depth - 1) / shape.depth;
                    sweep<true><<<blocks, shape.threads, shape.shared_bytes, sweeping>>>(
                        s, planes_swept, complete, shape.depth, start, nullptr, x_up, tickets,
                        tickets_taken);
                    CHECK(cudaGetLastError());
                    planes_swept = complete;
                    tickets_taken += blocks;
                    if (complete == g.nz) {
                        shape = shape_of(g, g.nz);
                        blocks = (g.nz + shape.depth - 1) / shape.depth;
                        sweep<false><<<blocks, shape.threads, shape.shared_bytes, sweeping>>>(
                            s, 0, g.nz, shape.depth, x_up, upper, x_down, tickets + 1, 0);
                        CHECK(cudaGetLastError());
                    }
                }
            }
            if (matrix < count) {
                const size_t from = (piece + matrix - after) * SLOT, room = (count - matrix) * SLOT,
                             size = room < bytes - from ? room : bytes - from;
                CHECK(cudaMemcpyAsync(slot + matrix * SLOT,
                                      reinterpret_cast<const char *>(x_down) + from, size,
                                      cudaMemcpyDeviceToHost, sweeping));
                return sweeping;
            }
            return stream;
        },
        [&](size_t piece, char *slot) {
            if (piece >= after && follows.load(std::memory_order_relaxed))
                memcpy(reinterpret_cast<char *>(x_inout) + (piece - after) * SLOT, slot,
                       vector_part(piece - after));
        });
    CHECK(cudaStreamSynchronize(sweeping));
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(sweeping));
    for (cudaEvent_t &event : arrived)
        CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(s.a));
    return follows.load();
}

// Right for any matrix: a warp a row, rows taken in the order of the sweep. Rows that come earlier
// in it are awaited in x; the others are found in `other`.
template <bool UP>
static __global__ void sweep_any(int n, const int *row_ptr, const int *col_idx,
                                 const double *values, const int *diag_idx, const double *rhs,
                                 const double *other, double *x, int *ticket)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        int row = 0;
        if (lane == 0)
            row = atomicAdd(ticket, 1);
        row = __shfl_sync(~0u, row, 0);
        if (row >= n)
            return;
        row = UP ? row : n - 1 - row;
        double sum = 0;
        for (int p = row_ptr[row] + lane; p < row_ptr[row + 1]; p += 32) {
            const int column = col_idx[p];
            if (column == row)
                continue;
            double v;
            if (UP ? column < row : column > row)
                do
                    v = load_shared_value(x + column);
                while (is_unset(v));
            else
                v = other[column];
            sum += values[p] * v;
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            store_shared_value(x + row, (rhs[row] - sum) / values[diag_idx[row]]);
    }
}

static void sweep_matrix(int n, const int *row_ptr, const int *col_idx, const double *values,
                         const int *diag_idx, const double *rhs, double *x_inout)
{
    const size_t entries = static_cast<size_t>(row_ptr[n]), rows = static_cast<size_t>(n);
    double *memory;
    CHECK(cudaMalloc(&memory, (entries + 4 * rows) * sizeof(double) +
                                  (entries + 2 * rows + 3) * sizeof(int)));
    double *d_values = memory, *d_rhs = d_values + entries, *d_x = d_rhs + rows, *x_up = d_x + rows,
           *x_down = x_up + rows;
    int *d_row_ptr = reinterpret_cast<int *>(x_down + rows), *d_diag_idx = d_row_ptr + rows + 1,
        *tickets = d_diag_idx + rows, *d_col_idx = tickets + 2;
    const transfer::Array in[] = {{d_row_ptr, row_ptr, (rows + 1) * sizeof(int)},
                                  {d_diag_idx, diag_idx, rows * sizeof(int)},
                                  {d_rhs, rhs, rows * sizeof(double)},
                                  {d_x, x_inout, rows * sizeof(double)},
                                  {d_col_idx, col_idx, entries * sizeof(int)},
                                  {d_values, values, entries * sizeof(double)}};
    CHECK(cudaMemsetAsync(x_up, UNSET_BYTE, 2 * rows * sizeof(double), nullptr));
    CHECK(cudaMemsetAsync(tickets, 0, 2 * sizeof(int), nullptr));
    transfer::upload(in, 6);
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int wanted = (n + THREADS / 32 - 1) / (THREADS / 32), most = processors * 4,
              blocks = wanted < most ? wanted : most;
    sweep_any<true><<<blocks, THREADS>>>(n, d_row_ptr, d_col_idx, d_values, d_diag_idx, d_rhs, d_x,
                                         x_up, tickets);
    CHECK(cudaGetLastError());
    sweep_any<false><<<blocks, THREADS>>>(n, d_row_ptr, d_col_idx, d_values, d_diag_idx, d_rhs,
                                          x_up, x_down, tickets + 1);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const transfer::Array out[] = {{x_down, x_inout, rows * sizeof(double)}};
    transfer::download(out, 1);
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx,
                                 const double *values, const int *diag_idx, const double *rhs,
                                 double *x_inout)
{
    Grid grid;
    if (guess_grid(n, row_ptr, col_idx, &grid) &&
        sweep_grid(grid, n, row_ptr, col_idx, values, rhs, x_inout))
        return;
    sweep_matrix(n, row_ptr, col_idx, values, diag_idx, rhs, x_inout);
}
