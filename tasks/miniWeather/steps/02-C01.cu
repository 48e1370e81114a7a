// step: C01 on 01-C07.cu
// A stage is one kernel: a thread makes the fluxes through both sides of its cell, each flux a
// second time, and the halo as it reads it. Neither fluxes nor halos go through memory, and a third
// of the launches is left.
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

/* Of cell (k, i), which may lie two cells beyond the grid in the direction. */
__device__ static void read_cell(const Model &m, int in_x, const double *q, int k, int i,
                                 double *ret)
{
    const int inner_i = i < 0 ? i + m.nx : i >= m.nx ? i - m.nx : i;
    const int inner_k = k < 0 ? 0 : k >= m.nz ? m.nz - 1 : k;
    for (int f = 0; f < FIELDS; f++)
        ret[f] = q[at(m, f, inner_k, inner_i)];
    if (k != inner_k) {
        ret[UMOM] = ret[UMOM] / m.dens_cell[inner_k + 2] * m.dens_cell[k + 2];
        ret[WMOM] = 0.0;
    }
    if (in_x && i < 0 && m.data_spec == 6 && fabs((k + 0.5) * m.dz - 3 * 1e4 / 4) <= 1e4 / 16) {
        const double density = ret[DENS] + m.dens_cell[k + 2];
        ret[UMOM] = density * 50.0;
        ret[RHOT] = density * 298.0 - m.theta_cell[k + 2];
    }
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

/* out = base + h * tendency of forcing; out is neither of them, or base. */
__global__ static void stage(Model m, int in_x, double h, const double *base, const double *forcing,
                             double *out)
{
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int i = (int)(thread % m.nx), k = (int)(thread / m.nx);
    if (k >= m.nz)
        return;
    double s[5][FIELDS], near[FIELDS], far[FIELDS];
#pragma unroll
    for (int c = 0; c < 5; c++)
        read_cell(m, in_x, forcing, in_x ? k : k + c - 2, in_x ? i + c - 2 : i, s[c]);
    side_flux(m, in_x, h, k, i, s, near);
    side_flux(m, in_x, h, in_x ? k : k + 1, in_x ? i + 1 : i, s + 1, far);
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
        double tend = -(far[f] - near[f]) / (in_x ? m.dx : m.dz);
        if (!in_x && f == WMOM)
            tend -= 9.8 * s[2][DENS];
        out[at(m, f, k, i)] = base[at(m, f, k, i)] + h * tend;
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

static void advance(const Model &m, int in_x, double dt, double *state, double *first,
                    double *second)
{
    const unsigned blocks = blocks_for((size_t)m.nx * m.nz);
    stage<<<blocks, 128>>>(m, in_x, dt / 3, state, state, first);
    stage<<<blocks, 128>>>(m, in_x, dt / 2, state, first, second);
    stage<<<blocks, 128>>>(m, in_x, dt, state, second, state);
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
    double *d_table, *state, *first, *second;
    CHECK(cudaMalloc(&d_table, table.size() * sizeof(double)));
    CHECK(cudaMalloc(&state, bytes));
    CHECK(cudaMalloc(&first, bytes));
    CHECK(cudaMalloc(&second, bytes));
    CHECK(cudaMemcpy(d_table, table.data(), table.size() * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(state, 0, bytes));
    CHECK(cudaMemset(first, 0, bytes));
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
        advance(m, x_first, dt, state, first, second);
        advance(m, !x_first, dt, state, first, second);
        x_first = !x_first;
    }
    const std::vector<double> after = diagnose(m, state);
    output[0] = (after[0] - before[0]) / before[0];
    output[1] = (after[1] - before[1]) / before[1];
    for (int f = 0; f < FIELDS; f++)
        output[2 + f] = sqrt(after[2 + f]);
    CHECK(cudaFree(d_table));
    CHECK(cudaFree(state));
    CHECK(cudaFree(first));
    CHECK(cudaFree(second));
}
