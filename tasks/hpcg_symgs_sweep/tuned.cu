// Symmetric Gauss-Seidel: grids are recognised and swept plane by plane while the matrix arrives.
//
// Approach: the first row and the number of entries suggest the edges of a grid. Threads of the
// host copy the values into pinned slots and compare every row start and every column with that
// grid; columns do not travel. A kernel fetches the slots over the bus, divides by the diagonal and
// lays the coefficients out by direction. Whenever some planes are complete the upward sweep goes
// on over them, so that it is done soon after the copy. The downward sweep follows; it needs the
// later half of each row only, for the sum over the earlier half is what the upward sweep left. In
// a sweep a warp takes a plane line by line, up to five points a lane; along a line the recurrence
// is a scan, whose factors are found a line ahead. Coefficients are on their way to shared memory
// four lines ahead. Up to four planes lie in a block and pass lines through shared memory; blocks
// pass them through global memory, where a warp more asks for four lines of the plane before at a
// time. The result goes back through the same pinned slots. Any other matrix, and grids with longer
// lines, go over as they are and are swept by a warp a row, in order, each waiting for the rows
// that it needs.
//
// What bounds it: the host's reading of matrix and columns; the downward sweep takes 0.13, 0.33 and
// 1.5 ms after that, between one and four microseconds a line: the one warp of a plane has
// hundreds of instructions a line, most of which wait for each other.
//
// Tried: a block for one, two or four planes, a thread a point, with block barriers (0.2, 0.5 and
// 1.2 ms a sweep); a lane a line and a point a step in tiles of 32 lines, with requests ahead in
// registers or through shared memory, also with one wait for the last of these (a quarter to a
// half slower at small, equal beyond); slots of 512 rows and twelve threads (equal); another way of
// starting the threads (equal).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, whose host was slower than at other
// times: small 1.29 ms, medium 6.6 ms, 4.8 ms at best, large 37 ms, 24 ms at best (17 %, 35 to 48 %
// and 50 to 76 % of what the bus would need for the whole matrix; a thread a point, beside
// it: 1.49, 7.4 and 39 ms, 1.23, 5.4 and 35 ms at best; naive 5.0, 31 to 35 and 208 to 218 ms).
#include "transfer.cuh"

#include <cuda_pipeline.h>

constexpr int PIECE_ROWS = 1024; // rows of the matrix in a slot

constexpr int STREAMS = 4;
constexpr int BLOCK_ROWS = 64, ROW_LANES = 4, THREADS = BLOCK_ROWS * ROW_LANES;
constexpr int STENCIL = 27, CENTRE = 13;
constexpr int WIDTH_MAX = 160; // points of a line that a warp can sweep
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

// A sweep over some planes of the grid, upwards or downwards: x = p + q less the sum over the
// neighbours that come earlier in the sweep. A block takes a few planes, a warp each; a lane has
// POINTS points of the present line. The neighbours in earlier lines are summed first; then
// x_i = d_i + c_i x_(i-1) along the line is a scan, whose factors are found a line ahead, as is the
// sum over two of the three lines of the plane before. A warp more fetches the plane before the
// block's first from global memory, where x is unset as long as the sweep has not been there.
// Between warps lines go through rings in shared memory. Blocks take their planes in order, so
// whoever waits does so for a block that runs. Downwards everything is mirrored.
constexpr int RING = 8;    // lines of a plane
constexpr int STAGES = 4;  // lines of coefficients that are in shared memory or on their way there
constexpr int FETCHED = 4; // lines asked for together
constexpr int PLANES_MAX = 4;

// Waits until a warp of the block is done with so many lines.
static __device__ void await_lines(const int *done, int lines)
{
    int there;
    do
        asm volatile("ld.volatile.shared.s32 %0, [%1];"
                     : "=r"(there)
                     : "r"(static_cast<unsigned>(__cvta_generic_to_shared(done))));
    while (there < lines);
    __syncwarp();
}

template <bool UP, int POINTS>
static __global__ void __launch_bounds__(32 * (PLANES_MAX + 1))
    sweep(Stencils s, int first, int end, int depth, const double *p, const double *q, double *x,
          int *ticket, int first_ticket)
{
    extern __shared__ __align__(16) double shared[];
    __shared__ int taken;
    __shared__ int done[PLANES_MAX + 2];   // lines, by warp
    constexpr int WIDTH = 32 * POINTS + 2; // of a line in a ring, between zeros
    const int nx = s.g.nx, ny = s.g.ny, pitch = s.pitch;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    double *const rings = shared, *const stages = shared + (depth + 1) * RING * WIDTH;
    const int stage_size = (CENTRE + 2) * pitch;
    if (threadIdx.x == 0)
        taken = atomicAdd(ticket, 1) - first_ticket;
    for (int i = threadIdx.x; i < (depth + 1) * RING * WIDTH; i += blockDim.x)
        rings[i] = 0;
    __syncthreads();
    const int z = first + taken * depth + warp - 1; // in the order of the sweep, as y and t
    if (lane == 0) {
        done[warp] = warp > 0 || z >= 0 ? 0 : ny; // before the first plane there are zeros
        if (warp == depth)
            done[warp + 1] = ny;
    }
    __syncthreads();
    if (z >= end) { // the one before has nobody to wait for
        if (lane == 0)
            *const_cast<volatile int *>(done + warp) = ny;
        return;
    }
    const int iz = UP ? z : s.g.nz - 1 - z;
    auto line_of = [&](int y) { return iz * ny + (UP ? y : ny - 1 - y); };
    double *const ring = rings + warp * RING * WIDTH;
    auto row_of = [&](double *of, int y) { return of + y % RING * WIDTH; };
    // The line is there for others; this warp's lines up to y were read from the ring before.
    auto publish = [&](int y) {
        __threadfence_block();
        __syncwarp();
        if (lane == 0)
            *const_cast<volatile int *>(done + warp) = y + 1;
    };

    if (warp == 0) {
        for (int y = 0; z >= 0 && y < ny;) {
            double v[FETCHED][POINTS];
#pragma unroll
            for (int f = 0; f < FETCHED; f++)
#pragma unroll
                for (int e = 0; e < POINTS; e++) {
                    const int t = lane + 32 * e;
                    v[f][e] = 0;
                    if (y + f < ny && t < nx)
                        v[f][e] = load_shared_value(x + static_cast<size_t>(line_of(y + f)) * nx +
                                                    (UP ? t : nx - 1 - t));
                }
            int come = 0;
#pragma unroll
            for (int f = 0; f < FETCHED; f++) {
                bool missing = false;
#pragma unroll
                for (int e = 0; e < POINTS; e++)
                    missing |= is_unset(v[f][e]);
                if (come == f && y + f < ny && __all_sync(~0u, !missing)) {
                    await_lines(done + 1, y + f - RING + 1);
                    double *const row = row_of(ring, y + f);
#pragma unroll
                    for (int e = 0; e < POINTS; e++)
                        row[1 + lane + 32 * e] = v[f][e];
                    come++;
                }
            }
            if (come > 0)
                publish(y + come - 1);
            y += come;
        }
        return;
    }

    double *const ring_before = ring - RING * WIDTH;
    double *const my_stages = stages + (warp - 1) * STAGES * stage_size;
    const int t0 = lane * POINTS;
    auto request = [&](int y) {
        if (y < ny) {
            double *const stage = my_stages + y % STAGES * stage_size;
            const int line = line_of(y);
            const double *const from =
                s.a + (static_cast<size_t>(line) * STENCIL + (UP ? 0 : CENTRE + 1)) * pitch;
            for (int c = 2 * lane; c < CENTRE * pitch; c += 64)
                __pipeline_memcpy_async(stage + c, from + c, 16);
            const size_t at = static_cast<size_t>(line) * nx;
#pragma unroll
            for (int e = 0; e < POINTS; e++) {
                const int i = lane + 32 * e;
                if (i < nx) {
                    __pipeline_memcpy_async(stage + CENTRE * pitch + i, p + at + i, 8);
                    if (q)
                        __pipeline_memcpy_async(stage + (CENTRE + 1) * pitch + i, q + at + i, 8);
                }
            }
        }
        __pipeline_commit();
    };
    // Of line y and the lane's point e.
    auto coefficient = [&](const double *stage, int k, int e) {
        return UP ? stage[k * pitch + t0 + e] : stage[(CENTRE - 1 - k) * pitch + nx - 1 - t0 - e];
    };
    auto start_of = [&](const double *stage, int e) {
        const int i = CENTRE * pitch + (UP ? t0 + e : nx - 1 - t0 - e);
        return q ? stage[i] + stage[i + pitch] : stage[i];
    };
    struct Window { // the points of a line and their neighbours
        double v[POINTS + 2];
    };
    auto window_of = [&](int y) {
        Window w;
        const double *const row = row_of(ring_before, y) + t0;
#pragma unroll
        for (int e = 0; e < POINTS + 2; e++)
            w.v[e] = row[e];
        return w;
    };
    // A line's state before the last two lines that it needs.
    struct Line {
        double sum[POINTS], c[POINTS], factor[SCAN_STEPS];
    };
    for (int y = 0; y < STAGES - 1; y++)
        request(y);
    __pipeline_wait_prior(STAGES - 2);
    await_lines(done + warp - 1, 1);
    Window near = window_of(0), far; // of the plane before: lines y and y - 1
    Line line;
    {
        double all = 1;
#pragma unroll
        for (int e = 0; e < POINTS; e++) {
            const bool inside = t0 + e < nx;
            double sum = start_of(my_stages, e);
#pragma unroll
            for (int k = 0; k < 3; k++)
                sum = fma(-coefficient(my_stages, 3 + k, e), near.v[e + k], sum);
            line.sum[e] = inside ? sum : 0.0;
            line.c[e] = inside ? -coefficient(my_stages, 12, e) : 0.0;
            all *= line.c[e];
        }
#pragma unroll
        for (int k = 0; k < SCAN_STEPS; k++) {
            const double left = __shfl_up_sync(~0u, all, 1 << k);
            line.factor[k] = lane >= 1 << k ? all : 0.0;
            all = lane >= 1 << k ? all * left : all;
        }
    }
    double last[POINTS]; // the line before
#pragma unroll
    for (int e = 0; e < POINTS; e++)
        last[e] = 0;
    for (int y = 0; y < ny; y++) {
        const double *const stage = my_stages + y % STAGES * stage_size;
        const double *const next_stage = my_stages + (y + 1) % STAGES * stage_size;
        request(y + STAGES - 1);
        far = near;
        if (y + 1 < ny) {
            await_lines(done + warp - 1, y + 2);
            near = window_of(y + 1);
        } else {
#pragma unroll
            for (int e = 0; e < POINTS + 2; e++)
                near.v[e] = 0;
        }
        __pipeline_wait_prior(STAGES - 2);
        __syncwarp();
        double from_left = __shfl_up_sync(~0u, last[POINTS - 1], 1),
               from_right = __shfl_down_sync(~0u, last[0], 1);
        from_left = lane > 0 ? from_left : 0.0;
        from_right = lane < 31 ? from_right : 0.0;
        double d[POINTS], total = 0;
#pragma unroll
        for (int e = 0; e < POINTS; e++) {
            double above = coefficient(stage, 6, e) * near.v[e];
            above = fma(coefficient(stage, 7, e), near.v[e + 1], above);
            above = fma(coefficient(stage, 8, e), near.v[e + 2], above);
            double beside =
                coefficient(stage, 9, e) * (e > 0 ? last[e > 0 ? e - 1 : 0] : from_left);
            beside = fma(coefficient(stage, 10, e), last[e], beside);
            beside = fma(coefficient(stage, 11, e),
                         e < POINTS - 1 ? last[e < POINTS - 1 ? e + 1 : 0] : from_right, beside);
            d[e] = t0 + e < nx ? line.sum[e] - (above + beside) : 0.0;
            total = fma(line.c[e], total, d[e]);
        }
        Line next;
        double all = 1;
#pragma unroll
        for (int e = 0; e < POINTS; e++) {
            const bool inside = t0 + e < nx && y + 1 < ny;
            double sum = start_of(next_stage, e), more = 0;
#pragma unroll
            for (int k = 0; k < 3; k++) {
                sum = fma(-coefficient(next_stage, k, e), far.v[e + k], sum);
                more = fma(coefficient(next_stage, 3 + k, e), near.v[e + k], more);
            }
            next.sum[e] = inside ? sum - more : 0.0;
            next.c[e] = inside ? -coefficient(next_stage, 12, e) : 0.0;
            all *= next.c[e];
        }
        // Both scans at once: of this line's values, of the next line's factors.
#pragma unroll
        for (int k = 0; k < SCAN_STEPS; k++) {
            total = fma(line.factor[k], __shfl_up_sync(~0u, total, 1 << k), total);
            const double left = __shfl_up_sync(~0u, all, 1 << k);
            next.factor[k] = lane >= 1 << k ? all : 0.0;
            all = lane >= 1 << k ? all * left : all;
        }
        double value = __shfl_up_sync(~0u, total, 1);
        value = lane > 0 ? value : 0.0;
        await_lines(done + warp + 1, y - RING + 1);
        double *const row = row_of(ring, y) + 1 + t0;
        double *const to = x + static_cast<size_t>(line_of(y)) * nx + (UP ? t0 : nx - 1 - t0);
#pragma unroll
        for (int e = 0; e < POINTS; e++) {
            value = fma(line.c[e], value, d[e]);
            last[e] = value;
            row[e] = value;
        }
        publish(y);
#pragma unroll
        for (int e = 0; e < POINTS; e++)
            if (t0 + e < nx)
                store_shared_value(to + (UP ? e : -e), last[e]);
        line = next;
    }
}

// How many planes a block takes, and the rest of the launch.
struct Shape {
    int depth;
    unsigned threads;
    size_t shared_bytes;
};

// No planes where not even one fits.
static Shape shape_of(const Stencils &s, int points, int planes, int limit)
{
    const size_t ring = static_cast<size_t>(RING) * (32 * points + 2),
                 plane = ring + static_cast<size_t>(STAGES) * (CENTRE + 2) * s.pitch,
                 room = static_cast<size_t>(limit - 256) / sizeof(double) - ring - 32 * points;
    int depth = static_cast<int>(room / plane);
    depth = depth < PLANES_MAX ? depth : PLANES_MAX;
    depth = depth < planes ? depth : planes;
    return Shape{depth, static_cast<unsigned>(depth + 1) * 32,
                 (ring + depth * plane + 32 * points) * sizeof(double)};
}

template <bool UP, int POINTS>
static void launch_lines(const Stencils &s, int first, int end, int limit, const double *p,
                         const double *q, double *x, int *ticket, int *taken, cudaStream_t stream)
{
    const Shape shape = shape_of(s, POINTS, end - first, limit);
    const int blocks = (end - first + shape.depth - 1) / shape.depth;
    CHECK(cudaFuncSetAttribute(sweep<UP, POINTS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)));
    sweep<UP, POINTS><<<blocks, shape.threads, shape.shared_bytes, stream>>>(
        s, first, end, shape.depth, p, q, x, ticket, *taken);
    CHECK(cudaGetLastError());
    *taken += blocks;
}

// Planes first..end-1, upwards or downwards. `taken`: tickets that earlier launches took.
template <bool UP>
static void launch_sweep(const Stencils &s, int first, int end, int limit, const double *p,
                         const double *q, double *x, int *ticket, int *taken, cudaStream_t stream)
{
    const int nx = s.g.nx;
    if (nx <= 32)
        launch_lines<UP, 1>(s, first, end, limit, p, q, x, ticket, taken, stream);
    else if (nx <= 96)
        launch_lines<UP, 3>(s, first, end, limit, p, q, x, ticket, taken, stream);
    else
        launch_lines<UP, 5>(s, first, end, limit, p, q, x, ticket, taken, stream);
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
    int device, limit; // shared memory of a block
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const int plane = g.nx * g.ny, slab = g.nz < 64 ? 4 : g.nz / 16; // planes swept at a time
    Stencils s = {g, (g.nx + 3) / 4 * 4, nullptr};
    if (shape_of(s, 5, 1, limit).depth < 1)
        return false;
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
                    launch_sweep<true>(s, planes_swept, complete, limit, start, nullptr, x_up,
                                       tickets, &tickets_taken, sweeping);
                    planes_swept = complete;
                    int none_taken = 0;
                    if (complete == g.nz)
                        launch_sweep<false>(s, 0, g.nz, limit, x_up, upper, x_down, tickets + 1,
                                            &none_taken, sweeping);
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
