// Multigrid V-cycle: the finest grid is swept plane by plane while its matrix arrives, coarse grids
// without a matrix.
//
// Approach: the pattern follows from the edges, so only values, right-hand side and guess travel.
// Threads of the host copy them into pinned slots; a kernel fetches the slots over the bus, divides
// by the diagonal and lays the coefficients out by direction. Whenever some planes are complete the
// first upward sweep goes on over them; what is left when the last value has come is queued without
// the host. A downward sweep needs the later half of each row only, for the sum over the earlier
// half is what the upward sweep left. A block sweeps some planes line by line; blocks pass values
// to the next planes through global memory, one line apart, and along a line the recurrence is a
// scan. Residuals are formed at the points that have a coarse partner only; the correction is added
// where the second smoothing reads. Coarse grids that fit into one block's shared memory are cycled
// there in one kernel, a thread a line, a point a step. The result goes back through the pinned
// slots.
//
// What bounds it: the copy of the values, then the chain of sweeps, each a series of lines that
// takes some microsecond a line.
//
// Tried: one plane or four a block instead of two (equal; a twentieth slower); a lane a line and a
// point a step in tiles of 32 lines on the finest grids, with requests ahead in registers or
// through shared memory, also with one wait for the last of these (a fifth to two thirds slower:
// tiles wait long for each other's first values); a warp a plane, up to five points a lane, without
// barriers of the block (small a twentieth slower, medium a twentieth faster, large equal: a
// microsecond a line as well); slots of 512 rows and twelve threads (equal).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 1.41 ms, medium 5.2 ms, large
// 10.5 ms (12 %, 31 % and 36 % of bytes, 16 ns a step and 20 us; naive 9.7 to 9.9, 44 and 71 to 73
// ms). An evaluation, which comes to a call with cold caches, takes 1.65 ms at small. The CPU
// program parallel wins there, with 1.3 ms on 15 cores: the matrix has to cross the bus, and lies
// in the caches of the host.
#include "transfer.cuh"

#include <vector>

constexpr int PIECE_ROWS = 1024; // rows of the matrix in a slot

constexpr int STREAMS = 4;
constexpr int BLOCK_ROWS = 64, ROW_LANES = 4, THREADS = BLOCK_ROWS * ROW_LANES;
constexpr int STENCIL = 27, CENTRE = 13;
constexpr int WIDTH_MAX = 480;                      // points of a line that a block can sweep
constexpr int SWEEP_THREADS = 640, SWEEP_DEPTH = 2; // of a block on the finest grid, at most
constexpr int SCAN_STEPS = 5;

// A grid whose points are joined to all neighbours, x fastest; a row of the matrix has (points in
// reach along x) * (.. y) * (.. z) entries, so the place of every entry follows from the edges.
struct Grid {
    int nx, ny, nz;
};

// Points in reach of point i on an edge of n, and the sum of that over the points before i.
static __host__ __device__ int reach(int i, int n)
{
    return 1 + (i > 0) + (i < n - 1);
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

constexpr size_t SLOT =
    (static_cast<size_t>(PIECE_ROWS) * STENCIL * sizeof(double) + transfer::PAGE - 1) /
    transfer::PAGE * transfer::PAGE;

// What the device keeps of a grid's matrix: 27 coefficients a row, each divided by the row's
// diagonal (in whose place it is kept), 0 where there is no neighbour; coefficient k of point ix of
// a line at [(line * 27 + k) * pitch + ix]. Coarse grids have none: theirs are constant.
struct Stencils {
    Grid g;
    int pitch;
    double *a;
};

constexpr double COARSE_DIAGONAL = 26.0, COARSE_NEIGHBOUR = -1.0 / COARSE_DIAGONAL;

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
template <bool UP, bool CONSTANT>
static __global__ void __launch_bounds__(CONSTANT ? 1024 : SWEEP_THREADS)
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
    if (inside && CONSTANT) {
#pragma unroll
        for (int k = 0; k < CENTRE; k++) // values beyond the borders are 0
            next[k] = k < CENTRE - 1 || t > 0 ? COARSE_NEIGHBOUR : 0.0;
    } else if (inside) {
#pragma unroll
        for (int k = 0; k < CENTRE; k++)
            next[k] = *coefficient(0, k);
        for (int y = 1; y < FAR && y < ny && t % 4 == 0; y++)
            for (int k = 0; k < CENTRE; k++)
                prefetch(coefficient(y, k));
    }
    if (inside)
        next_start = p[place(0)] + (q ? q[place(0)] : 0.0);
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
            if (!CONSTANT) {
#pragma unroll
                for (int k = 0; k < CENTRE; k++)
                    next[k] = *coefficient(y + 1, k);
                if (y + FAR < ny && t % 4 == 0)
                    for (int k = 0; k < CENTRE; k++)
                        prefetch(coefficient(y + FAR, k));
            }
        }
        if (CONSTANT && y + 1 == ny) // instead of the line there lies an older one
            a[6] = a[7] = a[8] = 0;
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

static Shape shape_of(const Grid &g, int planes, int threads_most, int depth_most)
{
    const int warps = (g.nx + 31) / 32;
    int depth = threads_most / 32 / warps;
    depth = depth < depth_most ? depth : depth_most;
    depth = depth < planes ? depth : planes;
    depth = depth < 1 ? 1 : depth;
    return Shape{depth, static_cast<unsigned>(depth * warps * 32),
                 ((depth + 1) * 4 * static_cast<size_t>(g.nx + 2) + depth * warps * 2) *
                     sizeof(double)};
}

// Brings the entries of some slots' rows into the device's form, from row `first` on; a slot for
// each blockIdx.y. A block takes BLOCK_ROWS rows: it fetches their entries in whole lines; then
// ROW_LANES lanes share a row. scaled: rhs over the diagonal; upper: the sum over the later
// neighbours with the initial guess; start: what the upward sweep starts from.
static __global__ void settle(Stencils s, int first, int n, const char *slots, const double *rhs,
                              const double *x, double *scaled, double *start, double *upper)
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
        scaled[row] = rhs[row] * inverse;
        start[row] = rhs[row] * inverse - sum;
    }
}

// For lines that no block can sweep: a warp a row, rows taken in the order of the sweep, each
// waiting for its neighbours.
template <bool UP>
static __global__ void sweep_rows(Stencils s, const double *p, const double *q, double *x,
                                  int *ticket)
{
    const Grid g = s.g;
    const int lane = threadIdx.x % 32, n = g.nx * g.ny * g.nz;
    for (;;) {
        int row = 0;
        if (lane == 0)
            row = atomicAdd(ticket, 1);
        row = __shfl_sync(~0u, row, 0);
        if (row >= n)
            return;
        row = UP ? row : n - 1 - row;
        const int line = row / g.nx, ix = row - line * g.nx, iy = line % g.ny, iz = line / g.ny;
        const int k = UP ? lane : STENCIL - 1 - lane;
        const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
        double sum = 0;
        if (lane < CENTRE && ix + dx >= 0 && ix + dx < g.nx && iy + dy >= 0 && iy + dy < g.ny &&
            iz + dz >= 0 && iz + dz < g.nz) {
            const double *from = x + row + (dz * g.ny + dy) * g.nx + dx;
            double v = load_shared_value(from);
            while (is_unset(v))
                v = load_shared_value(from);
            sum = v * (s.a ? s.a[(static_cast<size_t>(line) * STENCIL + k) * s.pitch + ix]
                           : COARSE_NEIGHBOUR);
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            store_shared_value(x + row, p[row] + (q ? q[row] : 0.0) - sum);
    }
}

// Right-hand side of the next grid: the residual where a point has a partner there.
static __global__ void restrict_residual(Stencils s, const double *scaled, const double *x,
                                         Grid coarse, double *coarse_scaled)
{
    const int c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= coarse.nx * coarse.ny * coarse.nz)
        return;
    const Grid g = s.g;
    const int ix = c % coarse.nx * 2, iy = c / coarse.nx % coarse.ny * 2,
              iz = c / coarse.nx / coarse.ny * 2;
    const int line = iz * g.ny + iy, row = line * g.nx + ix;
    const double *a = s.a ? s.a + static_cast<size_t>(line) * STENCIL * s.pitch + ix : nullptr;
    double sum = scaled[row] - x[row];
#pragma unroll
    for (int k = 0; k < STENCIL; k++) {
        const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
        if (k != CENTRE && ix + dx >= 0 && ix + dx < g.nx && iy + dy >= 0 && iy + dy < g.ny &&
            iz + dz >= 0 && iz + dz < g.nz)
            sum -= (a ? a[k * s.pitch] : COARSE_NEIGHBOUR) * x[row + (dz * g.ny + dy) * g.nx + dx];
    }
    const double diagonal = a ? a[CENTRE * s.pitch] : COARSE_DIAGONAL;
    coarse_scaled[c] = sum * diagonal / COARSE_DIAGONAL;
}

// Before the second smoothing: sums over the later neighbours of x with the correction added, and
// what the upward sweep starts from.
static __global__ void begin_again(Stencils s, const double *scaled, const double *x, Grid coarse,
                                   const double *correction, double *start, double *upper)
{
    const Grid g = s.g;
    const int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= g.nx * g.ny * g.nz)
        return;
    const int line = row / g.nx, ix = row - line * g.nx, iy = line % g.ny, iz = line / g.ny;
    const double *a = s.a ? s.a + static_cast<size_t>(line) * STENCIL * s.pitch + ix : nullptr;
    double sum = 0;
#pragma unroll
    for (int k = CENTRE + 1; k < STENCIL; k++) {
        const int jx = ix + k % 3 - 1, jy = iy + k / 3 % 3 - 1, jz = iz + k / 9 - 1;
        if (jx < 0 || jx >= g.nx || jy < 0 || jy >= g.ny || jz >= g.nz)
            continue;
        double v = x[(jz * g.ny + jy) * g.nx + jx];
        const int cx = jx / 2, cy = jy / 2, cz = jz / 2;
        if (((jx | jy | jz) & 1) == 0 && cx < coarse.nx && cy < coarse.ny && cz < coarse.nz)
            v += correction[(cz * coarse.ny + cy) * coarse.nx + cx];
        sum += (a ? a[k * s.pitch] : COARSE_NEIGHBOUR) * v;
    }
    upper[row] = sum;
    start[row] = scaled[row] - sum;
}

// Vectors of one grid. Results of the two smoothings' sweeps, and their tickets.
struct Level {
    Stencils s;
    size_t rows;
    double *scaled, *start, *upper, *up[2], *down[2];
    int *tickets;
};

// Coarse grids that fit into one block together: a whole cycle in shared memory, from the first of
// them down and back up. A thread has a line and takes point x in step x + 2 y + 4 z. x is
// surrounded by zeros; `upper` holds a row's sum over the upper neighbours with the x before the
// sweep.
constexpr int SMALL_GRIDS = 4, SMALL_THREADS = 1024;

struct SmallGrids {
    int count;
    Grid g[SMALL_GRIDS];
    int x_at[SMALL_GRIDS], b_at[SMALL_GRIDS], upper_at[SMALL_GRIDS], values;
};

struct SmallGrid {
    Grid g;
    int line, plane, pitch; // of x; of b and upper
    double *x, *b, *upper;
    __device__ double *x_of(int ix, int iy, int iz) const
    {
        return x + (iz + 1) * plane + (iy + 1) * line + ix + 1;
    }
    __device__ int place(int ix, int iy, int iz) const
    {
        return (iz * g.ny + iy) * pitch + ix;
    }
};

static __host__ __device__ int odd(int n) // for the sake of the banks
{
    return n | 1;
}

static __device__ SmallGrid small_grid(const SmallGrids &grids, int l, double *shared)
{
    const Grid g = grids.g[l];
    const int line = odd(g.nx + 2);
    return SmallGrid{g,
                     line,
                     line * (g.ny + 2),
                     odd(g.nx),
                     shared + grids.x_at[l],
                     shared + grids.b_at[l],
                     shared + grids.upper_at[l]};
}

static __device__ double sum_of_three(const double *x)
{
    return x[-1] + x[0] + x[1];
}

template <bool UP> static __device__ void sweep_small(const SmallGrid &s)
{
    constexpr int FORTH = UP ? 1 : -1;
    const int nx = s.g.nx, ny = s.g.ny, nz = s.g.nz;
    const int y = threadIdx.x % ny, z = threadIdx.x / ny; // in the order of the sweep
    const bool has_line = z < nz;
    const int iy = UP ? y : ny - 1 - y, iz = UP ? z : nz - 1 - z, start = UP ? 0 : nx - 1;
    double *const mine = s.x_of(start, has_line ? iy : 0, has_line ? iz : 0);
    const double *const l1 = mine - FORTH * s.line, *const l2 = mine - FORTH * (s.plane - s.line),
                        *const l3 = mine - FORTH * s.plane,
                        *const l4 = mine - FORTH * (s.plane + s.line);
    const int place = has_line ? s.place(start, iy, iz) : 0;
    double before = 0, here = 0, left = 0; // sums over the four lines at x-1, x; the value at x-1
    for (int step = -1; step < nx + 2 * (ny - 1) + 4 * (nz - 1); step++) {
        const int at = step - 2 * y - 4 * z;
        if (has_line && at >= -1 && at < nx) {
            const int next = FORTH * (at + 1);
            const double after = l1[next] + l2[next] + (l3[next] + l4[next]);
            if (at >= 0) {
                const int i = place + FORTH * at;
                const double first = UP ? s.b[i] - s.upper[i] : mine[FORTH * at] + s.upper[i];
                left = fma(-COARSE_NEIGHBOUR, before + here + (left + after), first);
                mine[FORTH * at] = left;
            }
            before = here;
            here = after;
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(SMALL_THREADS)
    cycle_small(const __grid_constant__ SmallGrids grids, const double *scaled, double *x_out)
{
    extern __shared__ double shared[];
    for (int i = threadIdx.x; i < grids.values; i += blockDim.x)
        shared[i] = 0;
    __syncthreads();
    for (int l = 0; l < grids.count; l++) {
        const SmallGrid s = small_grid(grids, l, shared);
        const int rows = s.g.nx * s.g.ny * s.g.nz;
        for (int i = threadIdx.x; i < rows; i += blockDim.x) {
            const int ix = i % s.g.nx, iy = i / s.g.nx % s.g.ny, iz = i / s.g.nx / s.g.ny;
            double value;
            if (l == 0) {
                value = scaled[i];
            } else {
                const SmallGrid fine = small_grid(grids, l - 1, shared);
                const double *x = fine.x_of(2 * ix, 2 * iy, 2 * iz);
                double sum = 0;
                for (int dz = -1; dz <= 1; dz++)
                    for (int dy = -1; dy <= 1; dy++)
                        sum += sum_of_three(x + dz * fine.plane + dy * fine.line);
                value = fine.b[fine.place(2 * ix, 2 * iy, 2 * iz)] - x[0] -
                        COARSE_NEIGHBOUR * (sum - x[0]);
            }
            s.b[s.place(ix, iy, iz)] = value;
        }
        __syncthreads();
        sweep_small<true>(s);
        sweep_small<false>(s);
    }
    for (int l = grids.count - 2; l >= 0; l--) {
        const SmallGrid s = small_grid(grids, l, shared), coarse = small_grid(grids, l + 1, shared);
        const int coarse_rows = coarse.g.nx * coarse.g.ny * coarse.g.nz;
        for (int i = threadIdx.x; i < coarse_rows; i += blockDim.x) {
            const int ix = i % coarse.g.nx, iy = i / coarse.g.nx % coarse.g.ny,
                      iz = i / coarse.g.nx / coarse.g.ny;
            *s.x_of(2 * ix, 2 * iy, 2 * iz) += *coarse.x_of(ix, iy, iz);
        }
        __syncthreads();
        const int rows = s.g.nx * s.g.ny * s.g.nz;
        for (int i = threadIdx.x; i < rows; i += blockDim.x) {
            const int ix = i % s.g.nx, iy = i / s.g.nx % s.g.ny, iz = i / s.g.nx / s.g.ny;
            const double *x = s.x_of(ix, iy, iz);
            double sum = x[1] + sum_of_three(x + s.line);
            for (int dy = -1; dy <= 1; dy++)
                sum += sum_of_three(x + s.plane + dy * s.line);
            s.upper[s.place(ix, iy, iz)] = COARSE_NEIGHBOUR * sum;
        }
        __syncthreads();
        sweep_small<true>(s);
        sweep_small<false>(s);
    }
    const SmallGrid s = small_grid(grids, 0, shared);
    for (int i = threadIdx.x; i < s.g.nx * s.g.ny * s.g.nz; i += blockDim.x)
        x_out[i] = *s.x_of(i % s.g.nx, i / s.g.nx % s.g.ny, i / s.g.nx / s.g.ny);
}

// Do the grids from `first` on fit into a block?
static bool plan_small(const std::vector<Level> &levels, size_t first, int limit, SmallGrids *ret)
{
    const Grid &top = levels[first].s.g;
    if (levels.size() - first > SMALL_GRIDS ||
        static_cast<long long>(top.ny) * top.nz > SMALL_THREADS)
        return false;
    ret->count = static_cast<int>(levels.size() - first);
    double values = 0;
    for (int l = 0; l < ret->count; l++) {
        const Grid &g = ret->g[l] = levels[first + l].s.g;
        const double x = static_cast<double>(odd(g.nx + 2)) * (g.ny + 2) * (g.nz + 2),
                     b = static_cast<double>(odd(g.nx)) * g.ny * g.nz;
        if ((values + x + 2 * b) * sizeof(double) > limit)
            return false;
        ret->x_at[l] = static_cast<int>(values);
        ret->b_at[l] = static_cast<int>(values + x);
        ret->upper_at[l] = static_cast<int>(values + x + b);
        values += x + 2 * b;
    }
    ret->values = static_cast<int>(values);
    return true;
}

// Planes first..end-1, upwards or downwards. `taken`: tickets that earlier launches took.
template <bool UP>
static void launch_sweep(const Level &l, int first, int end, const double *p, const double *q,
                         double *x, int *ticket, int *taken, cudaStream_t stream)
{
    const Grid &g = l.s.g;
    if (g.nx > WIDTH_MAX) {
        if (end - first == g.nz) // in one go
            sweep_rows<UP><<<1024, THREADS, 0, stream>>>(l.s, p, q, x, ticket);
        CHECK(cudaGetLastError());
        return;
    }
    const Shape shape = l.s.a ? shape_of(g, end - first, SWEEP_THREADS, SWEEP_DEPTH)
                              : shape_of(g, end - first, 1024, 32);
    const int blocks = (end - first + shape.depth - 1) / shape.depth;
    if (l.s.a)
        sweep<UP, false><<<blocks, shape.threads, shape.shared_bytes, stream>>>(
            l.s, first, end, shape.depth, p, q, x, ticket, *taken);
    else
        sweep<UP, true><<<blocks, shape.threads, shape.shared_bytes, stream>>>(
            l.s, first, end, shape.depth, p, q, x, ticket, *taken);
    CHECK(cudaGetLastError());
    *taken += blocks;
}

// The whole grid.
template <bool UP>
static void launch_sweep(const Level &l, const double *p, const double *q, double *x, int *ticket,
                         cudaStream_t stream)
{
    int taken = 0;
    launch_sweep<UP>(l, 0, l.s.g.nz, p, q, x, ticket, &taken, stream);
}

static unsigned blocks_for(size_t rows)
{
    return static_cast<unsigned>((rows + THREADS - 1) / THREADS);
}

// Queues what follows the first upward sweep of level l.
static void cycle(const std::vector<Level> &levels, size_t l, int limit, cudaStream_t stream)
{
    const Level &here = levels[l];
    launch_sweep<false>(here, here.up[0], l == 0 ? here.upper : nullptr, here.down[0],
                        here.tickets + 1, stream);
    if (l + 1 == levels.size())
        return;
    const Level &next = levels[l + 1];
    restrict_residual<<<blocks_for(next.rows), THREADS, 0, stream>>>(
        here.s, here.scaled, here.down[0], next.s.g, next.scaled);
    CHECK(cudaGetLastError());
    SmallGrids small;
    const double *correction = l + 2 == levels.size() ? next.down[0] : next.down[1];
    if (plan_small(levels, l + 1, limit, &small)) {
        const size_t shared_bytes = small.values * sizeof(double);
        const int lines = small.g[0].ny * small.g[0].nz,
                  threads = lines > 256 ? (lines + 31) / 32 * 32 : 256;
        CHECK(cudaFuncSetAttribute(cycle_small, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)));
        cycle_small<<<1, threads, shared_bytes, stream>>>(small, next.scaled, next.down[0]);
        CHECK(cudaGetLastError());
        correction = next.down[0];
    } else {
        launch_sweep<true>(next, next.scaled, nullptr, next.up[0], next.tickets, stream);
        cycle(levels, l + 1, limit, stream);
    }
    begin_again<<<blocks_for(here.rows), THREADS, 0, stream>>>(
        here.s, here.scaled, here.down[0], next.s.g, correction, here.start, here.upper);
    CHECK(cudaGetLastError());
    launch_sweep<true>(here, here.start, nullptr, here.up[1], here.tickets + 2, stream);
    launch_sweep<false>(here, here.up[1], here.upper, here.down[1], here.tickets + 3, stream);
}

extern "C" void solution_compute(int nx, int ny, int nz, int coarse_levels, int n,
                                 const int *row_ptr, const int *col_idx, const double *values,
                                 const int *diag_idx, const double *rhs, double *x_inout)
{
    (void)row_ptr, (void)col_idx, (void)diag_idx; // they follow from the edges
    int device, limit;                            // shared memory of a block
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const Grid g = {nx, ny, nz};
    const size_t rows = static_cast<size_t>(n), bytes = rows * sizeof(double),
                 vector_pieces = (bytes + SLOT - 1) / SLOT, before = 2 * vector_pieces;
    const size_t after = before + (rows + PIECE_ROWS - 1) / PIECE_ROWS; // the result's first piece
    const int threads = transfer::threads_for(n < 100000 ? 4 : n < 1000000 ? 8 : 12);
    const transfer::Shape ring = {threads, 2 * threads, SLOT};
    const int plane = nx * ny;
    const int slab = nx > WIDTH_MAX ? nz : nz < 64 ? 4 : nz / 16; // planes swept at a time
    std::vector<Level> levels(static_cast<size_t>(coarse_levels) + 1);
    double *memory = nullptr, *d_x = nullptr, *d_rhs = nullptr;
    cudaStream_t streams[STREAMS], sweeping;
    cudaEvent_t arrived[STREAMS];
    unsigned turn = 0;
    int planes_swept = 0, tickets_taken = 0;
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
            size_t all_rows = 0; // of all levels
            Grid dims = g;
            for (Level &l : levels) {
                l.s = Stencils{dims, (dims.nx + 3) / 4 * 4, nullptr};
                l.rows = static_cast<size_t>(dims.nx) * dims.ny * dims.nz;
                all_rows += l.rows;
                dims = Grid{dims.nx / 2, dims.ny / 2, dims.nz / 2};
            }
            const size_t coefficients = static_cast<size_t>(ny) * nz * STENCIL * levels[0].s.pitch;
            const size_t tickets = 4 * levels.size();
            CHECK(cudaMalloc(&memory,
                             (coefficients + 2 * rows + 7 * all_rows + tickets) * sizeof(double)));
            levels[0].s.a = memory;
            d_x = memory + coefficients;
            d_rhs = d_x + rows;
            double *at = d_rhs + rows, *const unset = at;
            for (Level &l : levels)
                for (double **vector : {&l.up[0], &l.up[1], &l.down[0], &l.down[1]}) {
                    *vector = at;
                    at += l.rows;
                }
            for (Level &l : levels)
                for (double **vector : {&l.scaled, &l.start, &l.upper}) {
                    *vector = at;
                    at += l.rows;
                }
            for (size_t l = 0; l < levels.size(); l++)
                levels[l].tickets = reinterpret_cast<int *>(at) + 4 * l;
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            CHECK(cudaStreamCreateWithFlags(&sweeping, cudaStreamNonBlocking));
            for (cudaEvent_t &event : arrived)
                CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
            CHECK(cudaMemsetAsync(unset, UNSET_BYTE, 4 * all_rows * sizeof(double), sweeping));
            CHECK(cudaMemsetAsync(at, 0, tickets * sizeof(int), sweeping));
        },
        [&](size_t piece, char *slot) {
            if (piece < before) {
                const size_t part = piece % vector_pieces;
                const double *from = piece < vector_pieces ? x_inout : rhs;
                memcpy(slot, reinterpret_cast<const char *>(from) + part * SLOT, vector_part(part));
                return;
            }
            if (piece >= after)
                return;
            const int first = first_row(piece), last = first + row_count(piece);
            const int from = row_start(g, first), to = row_start(g, last);
            memcpy(slot, values + from, static_cast<size_t>(to - from) * sizeof(double));
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
            if (count == 0)
                return stream;
            const Level &l = levels[0];
            const size_t matrix = piece >= after          ? 0
                                  : after - piece < count ? after - piece
                                                          : count;
            if (matrix > 0) {
                const dim3 grid(PIECE_ROWS / BLOCK_ROWS, static_cast<unsigned>(matrix));
                settle<<<grid, THREADS, 0, stream>>>(l.s, first_row(piece), n, slot, d_rhs, d_x,
                                                     l.scaled, l.start, l.upper);
                CHECK(cudaGetLastError());
                const size_t last = piece + matrix - 1;
                const int complete = (first_row(last) + row_count(last)) / plane;
                if (complete - planes_swept >= slab || (complete == nz && planes_swept < nz)) {
                    for (int k = 0; k < STREAMS; k++) {
                        CHECK(cudaEventRecord(arrived[k], streams[k]));
                        CHECK(cudaStreamWaitEvent(sweeping, arrived[k], 0));
                    }
                    launch_sweep<true>(l, planes_swept, complete, l.start, nullptr, l.up[0],
                                       l.tickets, &tickets_taken, sweeping);
                    planes_swept = complete;
                    if (complete == nz)
                        cycle(levels, 0, limit, sweeping);
                }
            }
            if (matrix < count) {
                const size_t from = (piece + matrix - after) * SLOT, room = (count - matrix) * SLOT,
                             size = room < bytes - from ? room : bytes - from;
                const double *result = coarse_levels > 0 ? l.down[1] : l.down[0];
                CHECK(cudaMemcpyAsync(slot + matrix * SLOT,
                                      reinterpret_cast<const char *>(result) + from, size,
                                      cudaMemcpyDeviceToHost, sweeping));
                return sweeping;
            }
            return stream;
        },
        [&](size_t piece, char *slot) {
            if (piece >= after)
                memcpy(reinterpret_cast<char *>(x_inout) + (piece - after) * SLOT, slot,
                       vector_part(piece - after));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(sweeping));
    for (cudaEvent_t &event : arrived)
        CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(memory));
}
