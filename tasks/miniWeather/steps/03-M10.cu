// step: M10 on 02-C01.cu
// The three stages of a direction couple cells of one line only, so a block takes a row, or a few
// columns, into shared memory, makes all three there and writes back: a third of the launches, a
// sixth of the traffic, and every flux once.
#include "check.cuh"

#include <cmath>
#include <vector>

enum { DENS, UMOM, WMOM, RHOT, FIELDS };

#define C0    27.5629410929725921310572974482
#define GAMMA 1.40027894002789400278940027894

/* Arrays of levels on the device: cells from k = -2 on, interfaces from k = 0 on. */
struct Model {
    int nx, nz, data_spec;
    double dx, dz;
    const double *dens_cell, *theta_cell, *dens_face, *theta_face, *pressure_face,
        *pressure_cell; /* theta: density times it */
};

__host__ __device__ static void background(int data_spec, double z, double *density, double *theta)
{
    double exner;
    if (data_spec == 3) {
        *theta = 300.0 * exp(0.02 * 0.02 / 9.8 * z);
        exner = 1.0 - 9.8 * 9.8 / (1004.0 * 0.02 * 0.02) * (*theta - 300.0) / (*theta * 300.0);
    } else {
        *theta = 300.0;
        exner = 1.0 - 9.8 * z / (1004.0 * 300.0);
    }
    *density = pow(1e5 * pow(exner, 1004.0 / 287.0) / C0, 1.0 / GAMMA) / *theta;
}

__device__ static double bubble(double x, double z, double amplitude, double z0, double xrad)
{
    const double pi = 3.14159265358979323846, a = (x - 1e4) / xrad, b = (z - z0) / 2000.0;
    const double distance = sqrt(a * a + b * b) * pi / 2.0;
    return distance <= pi / 2.0 ? amplitude * cos(distance) * cos(distance) : 0.0;
}

__device__ static double theta_deviation(int data_spec, double x, double z)
{
    if (data_spec == 1)
        return bubble(x, z, 20.0, 2000.0, 2000.0) + bubble(x, z, -20.0, 8000.0, 2000.0);
    if (data_spec == 5)
        return bubble(x, z, -20.0, 5000.0, 4000.0);
    return data_spec == 3 || data_spec == 6 ? 0.0 : bubble(x, z, 3.0, 2000.0, 2000.0);
}

/* Of cell (k, i) with two halo cells on every side. */
__device__ static size_t at(const Model &m, int field, int k, int i)
{
    return ((size_t)field * (m.nz + 4) + (k + 2)) * (m.nx + 4) + (i + 2);
}

__global__ static void initialise(Model m, double *q)
{
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int i = (int)(thread % m.nx), k = (int)(thread / m.nx);
    if (k >= m.nz)
        return;
    const double points[3] = {0.112701665379258311482, 0.5, 0.887298334620741688518};
    const double weights[3] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
    for (int n = 0; n < 9; n++) {
        const double x = (i + 0.5) * m.dx + (points[n % 3] - 0.5) * m.dx;
        const double z = (k + 0.5) * m.dz + (points[n / 3] - 0.5) * m.dz;
        const double weight = weights[n % 3] * weights[n / 3];
        double density, theta;
        background(m.data_spec, z, &density, &theta);
        q[at(m, RHOT, k, i)] += density * theta_deviation(m.data_spec, x, z) * weight;
        if (m.data_spec == 3)
            q[at(m, UMOM, k, i)] += density * 15.0 * weight;
    }
}

#define SMALL 0.08 /* deviations up to this go through the polynomial */

/* (1 + e)^GAMMA - 1 */
static __device__ double power_less_one(double e)
{
    if (fabs(e) > SMALL)
        return pow(1 + e, GAMMA) - 1;
    /* binomial coefficients of GAMMA over 1 .. 12 */
    constexpr double c1 = GAMMA, c2 = c1 * (GAMMA - 1) / 2, c3 = c2 * (GAMMA - 2) / 3,
                     c4 = c3 * (GAMMA - 3) / 4, c5 = c4 * (GAMMA - 4) / 5,
                     c6 = c5 * (GAMMA - 5) / 6, c7 = c6 * (GAMMA - 6) / 7,
                     c8 = c7 * (GAMMA - 7) / 8, c9 = c8 * (GAMMA - 8) / 9,
                     c10 = c9 * (GAMMA - 9) / 10, c11 = c10 * (GAMMA - 10) / 11,
                     c12 = c11 * (GAMMA - 11) / 12;
    double p = c12;
    p = fma(p, e, c11);
    p = fma(p, e, c10);
    p = fma(p, e, c9);
    p = fma(p, e, c8);
    p = fma(p, e, c7);
    p = fma(p, e, c6);
    p = fma(p, e, c5);
    p = fma(p, e, c4);
    p = fma(p, e, c3);
    p = fma(p, e, c2);
    p = fma(p, e, c1);
    return p * e;
}

/* Through the side between the second and the third of four cells in a row; the third is (k, i). */
__device__ static void side_flux(const Model &m, int in_x, double h, int k, int i,
                                 const double (*s)[FIELDS], double *flux)
{
    const double viscosity = -0.05 * (in_x ? m.dx : m.dz) / (16 * h);
    double v[FIELDS], d[FIELDS];
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
        v[f] = (-s[0][f] + 7 * s[1][f] + 7 * s[2][f] - s[3][f]) / 12;
        d[f] = -s[0][f] + 3 * s[1][f] - 3 * s[2][f] + s[3][f];
    }
    const double r = v[DENS] + (in_x ? m.dens_cell[k + 2] : m.dens_face[k]);
    const double background = in_x ? m.theta_cell[k + 2] : m.theta_face[k];
    const double u = v[UMOM] / r, theta = (v[RHOT] + background) / r;
    /* less the background's pressure, which differs along no row */
    const double p =
        (in_x ? m.pressure_cell[k + 2] : m.pressure_face[k]) * power_less_one(v[RHOT] / background);
    double w = v[WMOM] / r;
    if (!in_x && (k == 0 || k == m.nz)) {
        w = 0.0;
        d[DENS] = 0.0;
    }
    const double speed = in_x ? u : w;
    flux[DENS] = r * speed - viscosity * d[DENS];
    flux[UMOM] = r * speed * u + (in_x ? p : 0.0) - viscosity * d[UMOM];
    flux[WMOM] = r * speed * w + (in_x ? 0.0 : p) - viscosity * d[WMOM];
    flux[RHOT] = r * speed * theta - viscosity * d[RHOT];
}

#define THREADS 256

/* Shared memory for `lines` lines of n cells: a stage's input with its halo, the fluxes through all
 * sides, and the state. */
__host__ __device__ static size_t doubles_for(int lines, int n)
{
    return (size_t)lines * FIELDS * ((n + 4) + (n + 1) + n);
}

__device__ static void fill_halo(const Model &m, int in_x, double (*q)[FIELDS], int n, int number)
{
    if (threadIdx.x >= 4)
        return;
    const int halo = threadIdx.x < 2 ? (int)threadIdx.x - 2 : n + (int)threadIdx.x - 2;
    const int inner = in_x ? (halo < 0 ? halo + n : halo - n) : (halo < 0 ? 0 : n - 1);
    double *const to = q[halo + 2];
    for (int f = 0; f < FIELDS; f++)
        to[f] = q[inner + 2][f];
    if (!in_x) {
        to[UMOM] = to[UMOM] / m.dens_cell[inner + 2] * m.dens_cell[halo + 2];
        to[WMOM] = 0.0;
    } else if (halo < 0 && m.data_spec == 6 &&
               fabs((number + 0.5) * m.dz - 3 * 1e4 / 4) <= 1e4 / 16) {
        const double density = to[DENS] + m.dens_cell[number + 2];
        to[UMOM] = density * 50.0;
        to[RHOT] = density * 298.0 - m.theta_cell[number + 2];
    }
}

/* All three stages of a direction for `lines` rows or columns a block. */
__global__ static void __launch_bounds__(THREADS)
    advance_lines(Model m, int in_x, int lines, double dt, double *state)
{
    extern __shared__ double shared[];
    const int n = in_x ? m.nx : m.nz, first = blockIdx.x * lines,
              left = (in_x ? m.nz : m.nx) - first, here = left < lines ? left : lines;
    double(*const q)[FIELDS] = (double(*)[FIELDS])shared; /* [line][n + 4] */
    double(*const flux)[FIELDS] = q + lines * (n + 4);
    double(*const base)[FIELDS] = flux + lines * (n + 1);
    for (int c = threadIdx.x; c < here * n; c += THREADS) {
        const int line = in_x ? c / n : c % here, cell = in_x ? c % n : c / here;
        for (int f = 0; f < FIELDS; f++)
            q[line * (n + 4) + cell + 2][f] = base[line * n + cell][f] =
                state[at(m, f, in_x ? first + line : cell, in_x ? cell : first + line)];
    }
    __syncthreads();
    for (int s = 0; s < 3; s++) {
        const double h = dt / (3 - s);
        for (int line = 0; line < here; line++)
            fill_halo(m, in_x, q + line * (n + 4), n, first + line);
        __syncthreads();
        for (int c = threadIdx.x; c < here * (n + 1); c += THREADS) {
            const int line = c / (n + 1), side = c % (n + 1);
            side_flux(m, in_x, h, in_x ? first + line : side, in_x ? side : first + line,
                      q + line * (n + 4) + side, flux[c]);
        }
        __syncthreads();
        for (int c = threadIdx.x; c < here * n; c += THREADS) {
            const int line = c / n, cell = c % n;
            double *const to = q[line * (n + 4) + cell + 2];
            const double density = to[DENS];
            for (int f = 0; f < FIELDS; f++) {
                const double *const near = flux[line * (n + 1) + cell];
                double tend = -(near[FIELDS + f] - near[f]) / (in_x ? m.dx : m.dz);
                if (!in_x && f == WMOM)
                    tend -= 9.8 * density;
                to[f] = base[c][f] + h * tend;
            }
        }
        __syncthreads();
    }
    for (int c = threadIdx.x; c < here * n; c += THREADS) {
        const int line = in_x ? c / n : c % here, cell = in_x ? c % n : c / here;
        for (int f = 0; f < FIELDS; f++)
            state[at(m, f, in_x ? first + line : cell, in_x ? cell : first + line)] =
                q[line * (n + 4) + cell + 2][f];
    }
}

/* sums[6*k ..]: mass, energy and the fields' squares in row k */
__global__ static void diagnose_rows(Model m, const double *q, double *sums)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= m.nz)
        return;
    double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < m.nx; i++) {
        for (int f = 0; f < FIELDS; f++)
            sum[2 + f] += q[at(m, f, k, i)] * q[at(m, f, k, i)];
        const double r = q[at(m, DENS, k, i)] + m.dens_cell[k + 2];
        const double u = q[at(m, UMOM, k, i)] / r, w = q[at(m, WMOM, k, i)] / r;
        const double theta = (q[at(m, RHOT, k, i)] + m.theta_cell[k + 2]) / r;
        const double p = C0 * pow(r * theta, GAMMA);
        sum[0] += r * m.dx * m.dz;
        sum[1] += (r * (u * u + w * w) + r * 717.0 * (theta / pow(1e5 / p, 287.0 / 1004.0))) *
                  m.dx * m.dz;
    }
    for (int s = 0; s < 6; s++)
        sums[6 * k + s] = sum[s];
}

static unsigned blocks_for(size_t count)
{
    return (unsigned)((count + 127) / 128);
}

/* Lines that a block takes: columns side by side, so that whole sectors are read. */
static int lines_for(int in_x, int n, size_t shared_most)
{
    int lines = in_x ? 1 : 4;
    while (lines > 1 && doubles_for(lines, n) * sizeof(double) > shared_most)
        lines--;
    return lines;
}

static void advance(const Model &m, int in_x, double dt, double *state, size_t shared_most)
{
    const int n = in_x ? m.nx : m.nz, count = in_x ? m.nz : m.nx,
              lines = lines_for(in_x, n, shared_most);
    advance_lines<<<(count + lines - 1) / lines, THREADS, doubles_for(lines, n) * sizeof(double)>>>(
        m, in_x, lines, dt, state);
    CHECK(cudaGetLastError());
}

static std::vector<double> diagnose(const Model &m, const double *state)
{
    std::vector<double> rows(6 * (size_t)m.nz), sums(6, 0.0);
    double *d_rows;
    CHECK(cudaMalloc(&d_rows, rows.size() * sizeof(double)));
    diagnose_rows<<<blocks_for(m.nz), 128>>>(m, state, d_rows);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(rows.data(), d_rows, rows.size() * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rows));
    for (size_t e = 0; e < rows.size(); e++)
        sums[e % 6] += rows[e];
    return sums;
}

extern "C" void solution_compute(int nx_in, int nz_in, int sim_time_in, int data_spec_in,
                                 double *output)
{
    Model m = {nx_in, nz_in, data_spec_in, 2e4 / nx_in, 1e4 / nz_in};
    const size_t levels = (size_t)nz_in + 4;
    const size_t bytes = FIELDS * levels * (nx_in + 4) * sizeof(double);
    std::vector<double> table(6 * levels);
    for (int k = 0; k < nz_in + 4; k++) {
        double theta;
        background(data_spec_in, (k - 1.5) * m.dz, &table[k], &theta);
        table[levels + k] = table[k] * theta;
        table[5 * levels + k] = C0 * pow(table[levels + k], GAMMA);
        if (k > nz_in)
            continue;
        background(data_spec_in, k * m.dz, &table[2 * levels + k], &theta);
        table[3 * levels + k] = table[2 * levels + k] * theta;
        table[4 * levels + k] = C0 * pow(table[3 * levels + k], GAMMA);
    }
    int device, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    CHECK(cudaFuncSetAttribute(advance_lines, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared_most));
    double *d_table, *state;
    CHECK(cudaMalloc(&d_table, table.size() * sizeof(double)));
    CHECK(cudaMalloc(&state, bytes));
    CHECK(cudaMemcpy(d_table, table.data(), table.size() * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(state, 0, bytes));
    m.dens_cell = d_table;
    m.theta_cell = d_table + levels;
    m.dens_face = d_table + 2 * levels;
    m.theta_face = d_table + 3 * levels;
    m.pressure_face = d_table + 4 * levels;
    m.pressure_cell = d_table + 5 * levels;
    initialise<<<blocks_for((size_t)nx_in * nz_in), 128>>>(m, state);
    CHECK(cudaGetLastError());

    const std::vector<double> before = diagnose(m, state);
    double dt = (m.dx < m.dz ? m.dx : m.dz) / 450.0 * 1.5;
    int x_first = 1;
    for (double time = 0.0; time < sim_time_in; time += dt) {
        if (time + dt > sim_time_in)
            dt = sim_time_in - time;
        advance(m, x_first, dt, state, (size_t)shared_most);
        advance(m, !x_first, dt, state, (size_t)shared_most);
        x_first = !x_first;
    }
    const std::vector<double> after = diagnose(m, state);
    output[0] = (after[0] - before[0]) / before[0];
    output[1] = (after[1] - before[1]) / before[1];
    for (int f = 0; f < FIELDS; f++)
        output[2 + f] = sqrt(after[2 + f]);
    CHECK(cudaFree(d_table));
    CHECK(cudaFree(state));
}
