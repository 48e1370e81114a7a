// Stratified flow: whole lines of cells advance on chip, with one barrier of the grid a time step.
//
// Approach: the three stages of a direction couple cells of one line only, and successive steps
// alternate the order of the directions, so that two steps' worth of the same direction follow each
// other. A block takes lines (rows, or columns side by side) into shared memory, advances them by
// these six stages, and writes them back; then the grid meets and goes on in the other direction.
// In memory, blocks of two by two cells make both directions read whole sectors. A thread holds
// neighbouring cells of a line: it computes the fluxes through their near sides, once each, and
// gets the last one from its neighbour. The power in the pressure is a polynomial around the
// background, where the deviation is small. All cases but waves and injection are symmetric about
// the middle: there half of the columns are computed. All steps run in one cooperative launch;
// background and initial state are computed on the device.
//
// What bounds it: at medium and large shared memory, from which a thread reads five cells of each
// field for two fluxes, and the registers, which allow 512 threads a multiprocessor and still spill
// a little; at small the chain of six stages and a barrier a step, 5.3 us together.
//
// Tried: four cells a thread (spills, a fifth slower), three (a sixth slower), one (a fifth slower
// at large); more threads with fewer registers (a fifth slower); two blocks a multiprocessor
// (slower). The polynomial in pairs and fours instead of Horner's chain and precomputed ratios for
// the walls gave an eighth at small.
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 3.2 ms, medium 4.5 ms, large
// 15.9 ms (21 % of 600 barriers and 20 us; 10 % and 16 % of the arithmetic of half the grid at 33
// TFLOP/s; naive 41, 31 and 158 ms). An evaluation, which comes to a call with cold caches, takes
// 3.46 ms at small.
#include "check.cuh"

#include <cmath>
#include <cooperative_groups.h>
#include <vector>

enum { DENS, UMOM, WMOM, RHOT, FIELDS };
enum { COLLISION = 1, GRAVITY_WAVES = 3, DENSITY_CURRENT = 5, INJECTION = 6 };

constexpr double C0 = 27.5629410929725921310572974482, GAMMA = 1.40027894002789400278940027894;
constexpr int SUMS = 6;
constexpr double SMALL = 0.08; // deviations up to this go through the polynomial
constexpr int TAIL = 4;        // steps at the end whose length may differ

constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for small calls, which would otherwise pay more for an allocation than for their
// transfers.
static __device__ __align__(256) char arena[ARENA];

// Background at a height: density, density times potential temperature (and its inverse), pressure.
struct Level {
    double dens, theta, inverse, pressure;
};

struct Model {
    int nx, nz, data_spec;
    int blocks_across; // of two by two cells
    int columns; // that are computed: nx, or half of them where the other half is their mirror
                 // image
    double dx, dz;
    Level *cell, *face; // cell[k + 2] for k = -2 .. nz+1; face[k] for k = 0 .. nz
    double *q;          // [field], then blocks of two by two cells: see place()
    size_t field;       // cells of a field
    double *sums[2];    // of every block, at the beginning and at the end
    int steps, full;    // steps, and how many of them have length dt
    double dt, tail[TAIL];
    int lines_x, lines_z;
};

// Two rows or two columns side by side are then whole sectors of memory.
static __device__ size_t place(const Model &m, int k, int i)
{
    return (static_cast<size_t>(k / 2) * m.blocks_across + i / 2) * 4 + k % 2 * 2 + i % 2;
}

static __device__ void background(int data_spec, double z, double *density, double *theta)
{
    double exner;
    if (data_spec == GRAVITY_WAVES) {
        *theta = 300.0 * exp(0.02 * 0.02 / 9.8 * z);
        exner = 1.0 - 9.8 * 9.8 / (1004.0 * 0.02 * 0.02) * (*theta - 300.0) / (*theta * 300.0);
    } else {
        *theta = 300.0;
        exner = 1.0 - 9.8 * z / (1004.0 * 300.0);
    }
    *density = pow(1e5 * pow(exner, 1004.0 / 287.0) / C0, 1.0 / GAMMA) / *theta;
}

static __device__ double bubble(double x, double z, double amplitude, double z0, double xrad)
{
    const double pi = 3.14159265358979323846, a = (x - 1e4) / xrad, b = (z - z0) / 2000.0;
    const double distance = sqrt(a * a + b * b) * pi / 2.0;
    return distance <= pi / 2.0 ? amplitude * cos(distance) * cos(distance) : 0.0;
}

static __device__ double theta_deviation(int data_spec, double x, double z)
{
    if (data_spec == COLLISION)
        return bubble(x, z, 20.0, 2000.0, 2000.0) + bubble(x, z, -20.0, 8000.0, 2000.0);
    if (data_spec == DENSITY_CURRENT)
        return bubble(x, z, -20.0, 5000.0, 4000.0);
    return data_spec == GRAVITY_WAVES || data_spec == INJECTION ? 0.0
                                                                : bubble(x, z, 3.0, 2000.0, 2000.0);
}

static __global__ void make_levels(Model m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, cells = m.nz + 4;
    if (i >= cells + m.nz + 1)
        return;
    const double z = i < cells ? (i - 1.5) * m.dz : (i - cells) * m.dz;
    Level level;
    double theta;
    background(m.data_spec, z, &level.dens, &theta);
    level.theta = level.dens * theta;
    level.inverse = 1 / level.theta;
    level.pressure = C0 * pow(level.theta, GAMMA);
    if (i < cells)
        m.cell[i] = level;
    else
        m.face[i - cells] = level;
}

static __global__ void initialise(Model m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    if (i >= m.columns)
        return;
    const double points[3] = {0.112701665379258311482, 0.5, 0.887298334620741688518};
    const double weights[3] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
    double momentum = 0, rho_theta = 0;
    for (int b = 0; b < 3; b++) {
        const double z = (k + 0.5) * m.dz + (points[b] - 0.5) * m.dz;
        double deviation = 0;
        for (int a = 0; a < 3; a++)
            deviation +=
                weights[a] *
                theta_deviation(m.data_spec, (i + 0.5) * m.dx + (points[a] - 0.5) * m.dx, z);
        if (deviation != 0 || m.data_spec == GRAVITY_WAVES) {
            double density, theta;
            background(m.data_spec, z, &density, &theta);
            rho_theta += weights[b] * density * deviation;
            if (m.data_spec == GRAVITY_WAVES)
                momentum += weights[b] * density * 15.0;
        }
    }
    double *const q = m.q + place(m, k, i);
    q[DENS * m.field] = 0;
    q[UMOM * m.field] = momentum;
    q[WMOM * m.field] = 0;
    q[RHOT * m.field] = rho_theta;
}

// sums[6 * block ..]: mass, energy, squares of the fields in this block's cells
static __global__ void __launch_bounds__(256) diagnose(Model m, double *sums)
{
    __shared__ double of_warp[SUMS][8];
    double sum[SUMS] = {};
    for (int k = blockIdx.x; k < m.nz; k += gridDim.x) {
        const Level level = m.cell[k + 2];
        for (int i = threadIdx.x; i < m.columns; i += 256) {
            // The image counts too, except where it is the cell itself.
            const double weight = m.columns < m.nx && m.nx - 1 - i != i ? 2 : 1;
            const double *const at = m.q + place(m, k, i);
            double q[FIELDS];
            for (int f = 0; f < FIELDS; f++) {
                q[f] = at[f * m.field];
                sum[2 + f] += weight * q[f] * q[f];
            }
            const double r = q[DENS] + level.dens, u = q[UMOM] / r, w = q[WMOM] / r;
            const double theta = (q[RHOT] + level.theta) / r;
            const double p = C0 * pow(r * theta, GAMMA);
            sum[0] += weight * r * m.dx * m.dz;
            sum[1] += weight *
                      (r * (u * u + w * w) + r * 717.0 * (theta / pow(1e5 / p, 287.0 / 1004.0))) *
                      m.dx * m.dz;
        }
    }
    for (int s = 0; s < SUMS; s++) {
        for (int d = 16; d > 0; d /= 2)
            sum[s] += __shfl_xor_sync(~0u, sum[s], d);
        if (threadIdx.x % 32 == 0)
            of_warp[s][threadIdx.x / 32] = sum[s];
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        double all = 0;
        for (int w = 0; w < 8; w++)
            all += of_warp[threadIdx.x][w];
        sums[blockIdx.x * SUMS + threadIdx.x] = all;
    }
}

// Of GAMMA over 1 .. 12. In constant memory, as the next: literals would occupy registers.
constexpr double B1 = GAMMA, B2 = B1 * (GAMMA - 1) / 2, B3 = B2 * (GAMMA - 2) / 3,
                 B4 = B3 * (GAMMA - 3) / 4, B5 = B4 * (GAMMA - 4) / 5, B6 = B5 * (GAMMA - 5) / 6,
                 B7 = B6 * (GAMMA - 6) / 7, B8 = B7 * (GAMMA - 7) / 8, B9 = B8 * (GAMMA - 8) / 9,
                 B10 = B9 * (GAMMA - 9) / 10, B11 = B10 * (GAMMA - 10) / 11,
                 B12 = B11 * (GAMMA - 11) / 12;
static __constant__ double BINOMIAL[12] = {B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12};
static __constant__ double NEAR = 7.0 / 12.0, FAR = 1.0 / 12.0, THREE = 3.0;

// 1 / x for x far from the ends of the range.
static __device__ double inverse(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); // some 20 bits
    double error = fma(-x, y, 1.0);
    y = fma(y, error, y);
    error = fma(-x, y, 1.0);
    return fma(y, error, y);
}

// (1 + e)^GAMMA - 1. Square roots bring a large deviation near 0 first.
template <bool SHORT_CHAIN> static __device__ double power_less_one(double e)
{
    int halvings = 0;
    for (; fabs(e) > SMALL; halvings++)
        e /= 1 + sqrt(1 + e);
    double p;
    if (SHORT_CHAIN) { // in pairs, fours and eights, where few threads wait for each other
        const double e2 = e * e, e4 = e2 * e2;
        double pair[6];
#pragma unroll
        for (int k = 0; k < 6; k++)
            pair[k] = fma(BINOMIAL[2 * k + 1], e, BINOMIAL[2 * k]);
        const double low = fma(pair[1], e2, pair[0]), middle = fma(pair[3], e2, pair[2]),
                     high = fma(pair[5], e2, pair[4]);
        p = fma(fma(high, e4, middle), e4, low);
    } else {
        p = BINOMIAL[11];
#pragma unroll
        for (int k = 10; k >= 0; k--)
            p = fma(p, e, BINOMIAL[k]);
    }
    p *= e;
    for (; halvings > 0; halvings--)
        p *= 2 + p;
    return p;
}

// Lines of one direction in shared memory. A thread holds EACH cells of a line; the cells with the
// same number in their threads lie side by side.
template <int EACH> struct Tile {
    static constexpr int PAD = (2 + EACH - 1) / EACH; // threads' worth of halo cells before a line
    int length, per_line, lines, width;
    double *ratios; // of the background's density in the halo rows -2, -1, nz, nz+1 to the next row
    double *cells, *sides, *levels; // [field][line][EACH][width], [field][line][per_line],
                                    // [4][EACH][per_line] of the sides of columns
    __device__ double *at(int field, int line, int cell) const
    {
        const int shifted = cell + PAD * EACH;
        return cells + ((field * lines + line) * EACH + shifted % EACH) * width + shifted / EACH;
    }
    // The same for the cell `offset` cells after a thread's first one.
    __device__ double *near(int field, int line, int part, int offset) const
    {
        const int shifted = offset + PAD * EACH;
        return cells + ((field * lines + line) * EACH + shifted % EACH) * width + part +
               shifted / EACH;
    }
};

template <int EACH> static __host__ __device__ size_t tile_doubles(int length, int lines)
{
    const size_t per_line = length / EACH + 1;
    return FIELDS * static_cast<size_t>(lines) *
               (EACH * (per_line + Tile<EACH>::PAD + 1) + per_line) +
           4 * EACH * per_line + 4;
}

// Writes a cell, and the halo cells that copy it. number: of the row, or of the column.
template <int EACH, bool IN_X>
static __device__ void put(const Model &m, const Tile<EACH> &t, int line, int number, int part,
                           int offset, const double (&q)[FIELDS])
{
    const int cell = part * EACH + offset;
#pragma unroll
    for (int f = 0; f < FIELDS; f++)
        *t.near(f, line, part, offset) = q[f];
    if (IN_X) {
        if (m.columns < m.nx) { // what flows right here flows left there
            const int left = -1 - cell, right = m.nx - 1 - cell;
            for (int side = 0; side < 2; side++) {
                const int image = side == 0 ? left : right;
                if (side == 0 ? image >= -2 : image >= t.length && image < t.length + 2)
                    for (int f = 0; f < FIELDS; f++)
                        *t.at(f, line, image) = f == UMOM ? -q[f] : q[f];
            }
            return;
        }
        if (cell < 2)
            for (int f = 0; f < FIELDS; f++)
                *t.at(f, line, t.length + cell) = q[f];
        if (cell >= t.length - 2) {
            double from[FIELDS] = {q[0], q[1], q[2], q[3]};
            if (m.data_spec == INJECTION && fabs((number + 0.5) * m.dz - 3 * 1e4 / 4) <= 1e4 / 16) {
                const double density = q[DENS] + m.cell[number + 2].dens;
                from[UMOM] = density * 50.0;
                from[RHOT] = density * 298.0 - m.cell[number + 2].theta;
            }
            for (int f = 0; f < FIELDS; f++)
                *t.at(f, line, cell - t.length) = from[f];
        }
    } else {
        const bool first = cell == 0, last = cell == t.length - 1;
        if (first || last)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int halo = first ? h - 2 : t.length + h;
                *t.at(DENS, line, halo) = q[DENS];
                *t.at(UMOM, line, halo) = q[UMOM] * t.ratios[first ? h : 2 + h];
                *t.at(WMOM, line, halo) = 0;
                *t.at(RHOT, line, halo) = q[RHOT];
            }
    }
}

// q += h * tendency of what lies in shared memory, three times; `base` are the thread's cells.
// of_row: the background of the row, in x.
template <int EACH, bool IN_X>
static __device__ void three_stages(const Model &m, const Tile<EACH> &t, bool active, int line,
                                    int number, int part, double dt, const Level &of_row,
                                    double (&base)[EACH][FIELDS])
{
#pragma unroll 1
    for (int stage = 0; stage < 3; stage++) {
        const double h = stage == 0 ? dt / 3 : stage == 1 ? dt / 2 : dt;
        double flux[EACH + 1][FIELDS];
        if (active) {
            const double viscosity = 0.05 * (IN_X ? m.dx : m.dz) / (16 * h); // sign turned
            double v[EACH][FIELDS];
#pragma unroll
            for (int f = 0; f < FIELDS; f++) {
                double s[EACH + 3];
#pragma unroll
                for (int c = 0; c < EACH + 3; c++)
                    s[c] = *t.near(f, line, part, c - 2);
#pragma unroll
                for (int c = 0; c < EACH; c++) {
                    v[c][f] = NEAR * (s[c + 1] + s[c + 2]) - FAR * (s[c] + s[c + 3]);
                    flux[c][f] = viscosity * (s[c + 3] - s[c] + THREE * (s[c + 1] - s[c + 2]));
                }
            }
#pragma unroll
            for (int c = 0; c < EACH; c++) {
                const int side = part * EACH + c;
                const double *const level = t.levels + c * t.per_line + part;
                const int next = EACH * t.per_line; // from one kind of level to the other
                const double inverse_r = inverse(v[c][DENS] + (IN_X ? of_row.dens : level[0]));
                const double deviation = v[c][RHOT] * (IN_X ? of_row.inverse : level[2 * next]);
                const double rho_theta = v[c][RHOT] + (IN_X ? of_row.theta : level[next]);
                const bool wall = !IN_X && (side == 0 || side == t.length);
                const double across = wall ? 0 : v[c][IN_X ? UMOM : WMOM],
                             speed = across * inverse_r;
                flux[c][DENS] = wall ? 0 : flux[c][DENS] + across;
                flux[c][UMOM] += speed * v[c][UMOM];
                flux[c][WMOM] += speed * v[c][WMOM];
                flux[c][RHOT] += speed * rho_theta;
                // Behind the last side there is nothing to be slow about.
                flux[c][IN_X ? UMOM : WMOM] +=
                    (IN_X ? of_row.pressure : level[3 * next]) *
                    power_less_one<EACH == 1>(side <= t.length ? deviation : 0);
            }
#pragma unroll
            for (int f = 0; f < FIELDS; f++)
                t.sides[(f * t.lines + line) * t.per_line + part] = flux[0][f];
        }
        __syncthreads();
        if (active) {
            const int next = part + 1 < t.per_line ? part + 1 : part;
            const double factor = h / (IN_X ? m.dx : m.dz);
#pragma unroll
            for (int f = 0; f < FIELDS; f++)
                flux[EACH][f] = t.sides[(f * t.lines + line) * t.per_line + next];
#pragma unroll
            for (int c = 0; c < EACH; c++) {
                if (part * EACH + c < t.length) {
                    double q[FIELDS];
#pragma unroll
                    for (int f = 0; f < FIELDS; f++)
                        q[f] = base[c][f] + factor * (flux[c][f] - flux[c + 1][f]);
                    if (!IN_X)
                        q[WMOM] -= h * 9.8 * *t.near(DENS, line, part, c);
                    if (stage == 2)
#pragma unroll
                        for (int f = 0; f < FIELDS; f++)
                            base[c][f] = q[f];
                    put<EACH, IN_X>(m, t, line, number, part, c, q);
                }
            }
        }
        __syncthreads();
    }
}

// Lines first .. first+lines-1 (those that exist) through the steps [from, to).
template <int EACH, bool IN_X>
static __device__ void advance_lines(const Model &m, double *shared, int first, int lines, int from,
                                     int to)
{
    Tile<EACH> t;
    t.length = IN_X ? m.columns : m.nz;
    t.lines = lines;
    t.per_line = t.length / EACH + 1;
    t.width = t.per_line + Tile<EACH>::PAD + 1;
    t.cells = shared;
    t.sides = shared + FIELDS * lines * EACH * t.width;
    t.levels = t.sides + FIELDS * lines * t.per_line;
    t.ratios = t.levels + 4 * EACH * t.per_line;
    const int left = (IN_X ? m.nz : m.columns) - first, here = left < lines ? left : lines;
    // In the order of memory: blocks of two lines by two cells, along or across the rows.
    const int pairs = (here + 1) / 2, halves = (t.length + 1) / 2;
    auto each_cell = [&](auto work) {
        for (int i = threadIdx.x; i < (lines == 1 ? t.length : 4 * pairs * halves);
             i += blockDim.x) {
            int line = 0, cell = i;
            if (lines > 1) {
                const int block = i / 4, pair = IN_X ? block / halves : block % pairs;
                line = 2 * pair + (IN_X ? i / 2 % 2 : i % 2);
                cell =
                    2 * (IN_X ? block - pair * halves : block / pairs) + (IN_X ? i % 2 : i / 2 % 2);
                if (line >= here || cell >= t.length)
                    continue;
            }
            work(line, cell,
                 m.q + (IN_X ? place(m, first + line, cell) : place(m, cell, first + line)));
        }
    };
    each_cell([&](int line, int cell, const double *global) {
#pragma unroll
        for (int f = 0; f < FIELDS; f++)
            *t.at(f, line, cell) = __ldcg(global + f * m.field);
    });
    if (!IN_X && threadIdx.x < 4) {
        const int halo = static_cast<int>(threadIdx.x) < 2 ? threadIdx.x : m.nz + threadIdx.x,
                  inner = threadIdx.x < 2 ? 2 : m.nz + 1;
        t.ratios[threadIdx.x] = m.cell[halo].dens / m.cell[inner].dens;
    }
    if (!IN_X)
        for (int i = threadIdx.x; i <= t.length; i += blockDim.x) {
            const Level level = m.face[i];
            double *const to = t.levels + i % EACH * t.per_line + i / EACH;
            const int next = EACH * t.per_line;
            to[0] = level.dens, to[next] = level.theta;
            to[2 * next] = level.inverse, to[3 * next] = level.pressure;
        }
    __syncthreads();

    const int line = threadIdx.x / t.per_line, part = threadIdx.x % t.per_line;
    const bool active = line < here;
    double base[EACH][FIELDS];
    if (active)
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            const int cell = part * EACH + c;
            if (cell < t.length) {
#pragma unroll
                for (int f = 0; f < FIELDS; f++)
                    base[c][f] = *t.near(f, line, part, c);
                put<EACH, IN_X>(m, t, line, first + line, part, c, base[c]);
            }
        }
    __syncthreads();
    const Level of_row = IN_X && active ? m.cell[first + line + 2] : Level{};
    for (int step = from; step < to; step++)
        three_stages<EACH, IN_X>(m, t, active, line, first + line, part,
                                 step < m.full ? m.dt : m.tail[step - m.full], of_row, base);
    each_cell([&](int l, int cell, double *global) {
#pragma unroll
        for (int f = 0; f < FIELDS; f++)
            __stcg(global + f * m.field, *t.at(f, l, cell));
    });
    __syncthreads();
}

// Pass p treats the second direction of step p-1 and the first one of step p, which are the same.
// tiles: for the lines of each block where they do not fit shared memory.
template <int EACH, int THREADS, bool IN_SHARED>
static __global__ void __launch_bounds__(THREADS, 1)
    run(const __grid_constant__ Model m, double *tiles, size_t doubles)
{
    extern __shared__ double in_block[];
    double *const shared = IN_SHARED ? in_block : tiles + blockIdx.x * doubles;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int pass = 0; pass <= m.steps; pass++) {
        const int from = pass > 0 ? pass - 1 : 0, to = pass < m.steps ? pass + 1 : pass;
        if (pass % 2 == 0)
            for (int first = blockIdx.x * m.lines_x; first < m.nz; first += gridDim.x * m.lines_x)
                advance_lines<EACH, true>(m, shared, first, m.lines_x, from, to);
        else
            for (int first = blockIdx.x * m.lines_z; first < m.columns;
                 first += gridDim.x * m.lines_z)
                advance_lines<EACH, false>(m, shared, first, m.lines_z, from, to);
        if (pass < m.steps)
            grid.sync();
    }
}

// Lines that a block takes at a time: as many as its threads and memory hold, but no more than give
// every block some.
template <int EACH, int THREADS>
static int choose_lines(int length, int count, int blocks, size_t shared_most)
{
    int lines = THREADS / (length / EACH + 1);
    while (lines > 1 && tile_doubles<EACH>(length, lines) * 8 > shared_most)
        lines--;
    const int fair = (count + blocks - 1) / blocks;
    lines = lines < fair ? lines : fair;
    return lines > 1 ? lines / 2 * 2 : 1; // whole sectors
}

// False where the lines do not fit shared memory, though they should.
template <int EACH, int THREADS, bool IN_SHARED>
static bool launch(Model m, int processors, size_t shared_most)
{
    m.lines_x = choose_lines<EACH, THREADS>(m.columns, m.nz, processors, shared_most);
    m.lines_z = choose_lines<EACH, THREADS>(m.nz, m.columns, processors, shared_most);
    const int wide = m.lines_x * (m.columns / EACH + 1), high = m.lines_z * (m.nz / EACH + 1);
    const int threads = ((wide > high ? wide : high) + 31) / 32 * 32;
    const size_t for_x = tile_doubles<EACH>(m.columns, m.lines_x),
                 for_z = tile_doubles<EACH>(m.nz, m.lines_z);
    size_t doubles = for_x > for_z ? for_x : for_z;
    if (IN_SHARED && doubles * 8 > shared_most)
        return false;
    const size_t bytes = IN_SHARED ? doubles * 8 : 0;
    const auto kernel = run<EACH, THREADS, IN_SHARED>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)));
    int resident;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes));
    const int of_x = (m.nz + m.lines_x - 1) / m.lines_x,
              of_z = (m.columns + m.lines_z - 1) / m.lines_z;
    const int most = of_x > of_z ? of_x : of_z;
    const int blocks = most < processors * resident ? most : processors * resident;
    double *tiles = nullptr;
    if (!IN_SHARED)
        CHECK(cudaMalloc(&tiles, blocks * doubles * 8));
    void *arguments[] = {&m, &tiles, &doubles};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(blocks),
                                      dim3(threads), arguments, bytes, nullptr));
    if (!IN_SHARED) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(tiles));
    }
    return true;
}

extern "C" void solution_compute(int nx_in, int nz_in, int sim_time_in, int data_spec_in,
                                 double *output)
{
    Model m = {};
    m.nx = nx_in, m.nz = nz_in, m.data_spec = data_spec_in;
    // All cases but these are symmetric about the middle, and stay so.
    const bool mirrored = data_spec_in != GRAVITY_WAVES && data_spec_in != INJECTION;
    m.columns = mirrored ? (nx_in + 1) / 2 : nx_in;
    m.blocks_across = (m.columns + 1) / 2;
    m.field = static_cast<size_t>((nz_in + 1) / 2) * m.blocks_across * 4;
    m.dx = 2e4 / nx_in, m.dz = 1e4 / nz_in;
    m.dt = (m.dx < m.dz ? m.dx : m.dz) / 450.0 * 1.5;
    double dt = m.dt;
    for (double time = 0; time < sim_time_in; time += dt) {
        if (time + dt > sim_time_in)
            dt = sim_time_in - time;
        if (dt == m.dt && m.full == m.steps) {
            m.full++;
        } else {
            if (m.steps - m.full >= TAIL) {
                fprintf(stderr, "more than %d steps of other lengths\n", TAIL);
                abort();
            }
            m.tail[m.steps - m.full] = dt;
        }
        m.steps++;
    }

    int device, processors, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t levels = 2 * (static_cast<size_t>(nz_in) + 4), cells = m.field;
    const int blocks = nz_in < 1024 ? nz_in : 1024;
    const size_t sums = static_cast<size_t>(blocks) * SUMS;
    char *memory;
    const size_t bytes = levels * sizeof(Level) + (FIELDS * cells + 2 * sums) * 8;
    if (bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, bytes));
    m.cell = reinterpret_cast<Level *>(memory);
    m.face = m.cell + nz_in + 4;
    m.q = reinterpret_cast<double *>(m.cell + levels);
    m.sums[0] = m.q + FIELDS * cells;
    m.sums[1] = m.sums[0] + sums;
    make_levels<<<(2 * nz_in + 5 + 63) / 64, 64>>>(m);
    initialise<<<dim3((m.columns + 127) / 128, nz_in), 128>>>(m);
    diagnose<<<blocks, 256>>>(m, m.sums[0]);
    CHECK(cudaGetLastError());
    if (m.steps > 0) {
        const int longest = m.columns > nz_in ? m.columns : nz_in;
        bool done;
        if (static_cast<size_t>(m.columns) * nz_in <= 20000 && longest < 512)
            done = launch<1, 512, true>(m, processors, shared_most);
        else if (longest / 2 < 256) // two lines a block
            done = launch<2, 512, true>(m, processors, shared_most);
        else if (longest / 2 < 640)
            done = launch<2, 640, true>(m, processors, shared_most);
        else
            done = launch<4, 512, true>(m, processors, shared_most);
        if (!done)
            launch<4, 512, false>(m, processors, shared_most);
    }
    diagnose<<<blocks, 256>>>(m, m.sums[1]);
    CHECK(cudaGetLastError());
    std::vector<double> all(2 * sums);
    CHECK(cudaMemcpy(all.data(), m.sums[0], 2 * sums * 8, cudaMemcpyDeviceToHost));
    if (bytes > ARENA)
        CHECK(cudaFree(memory));
    double total[2][SUMS] = {};
    for (int when = 0; when < 2; when++)
        for (size_t i = 0; i < sums; i++)
            total[when][i % SUMS] += all[when * sums + i];
    for (int s = 0; s < 2; s++)
        output[s] = (total[1][s] - total[0][s]) / total[0][s];
    for (int f = 0; f < FIELDS; f++)
        output[2 + f] = sqrt(total[1][2 + f]);
}
