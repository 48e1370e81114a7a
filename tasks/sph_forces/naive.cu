/* Forces between fluid particles, naive: one kernel for the pressures and one for the sums, one thread
 * for each particle in its original number, which walks the 27 cells around it through the index as it
 * is given.
 *
 * What bounds it: scattered loads. Neighbours are read through sorted_idx from eight separate arrays, and
 * neighbouring threads sit in different parts of the box; most candidates are then too far away, so that
 * few lanes of a warp do the expensive part together. */
#include "check.cuh"

struct particles {
    const float *x, *y, *z, *vx, *vy, *vz, *rho, *mass;
};

struct constants {
    float h, kernel, reach2, viscosity, cell_size;
    int nx, ny, nz;
};

__global__ void compute_pressure(int n, const float *rho, double stiffness, double rest, float *pressure)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        pressure[i] = (float)(stiffness * (pow((double)rho[i] / rest, 7.0) - 1.0));
}

__global__ void sum_forces(int n, particles p, constants k, const float *pressure, const int *cell_begin,
                           const int *cell_end, const int *sorted_idx, float *ax, float *ay, float *az,
                           float *drhodt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int cx = (int)floorf(__fdiv_rn(p.x[i], k.cell_size));
    const int cy = (int)floorf(__fdiv_rn(p.y[i], k.cell_size));
    const int cz = (int)floorf(__fdiv_rn(p.z[i], k.cell_size));
    float sum_x = 0, sum_y = 0, sum_z = 0, sum_rate = 0;
    for (int z = max(cz - 1, 0); z <= min(cz + 1, k.nz - 1); z++)
        for (int y = max(cy - 1, 0); y <= min(cy + 1, k.ny - 1); y++)
            for (int x = max(cx - 1, 0); x <= min(cx + 1, k.nx - 1); x++) {
                const int cell = (z * k.ny + y) * k.nx + x;
                for (int at = cell_begin[cell]; at < cell_end[cell]; at++) { /* -1 to -1: none */
                    const int j = sorted_idx[at];
                    const float dx = p.x[i] - p.x[j], dy = p.y[i] - p.y[j], dz = p.z[i] - p.z[j];
                    const float r2 = dx * dx + dy * dy + dz * dz;
                    if (j == i || r2 > k.reach2 || r2 < 1e-18f)
                        continue;
                    const float closeness = 1.0f - 0.5f * sqrtf(r2) / k.h;
                    const float f = k.kernel * closeness * closeness * closeness;
                    const float vx = p.vx[i] - p.vx[j], vy = p.vy[i] - p.vy[j], vz = p.vz[i] - p.vz[j];
                    const float meeting = dx * vx + dy * vy + dz * vz;
                    float push = (pressure[i] + pressure[j]) / (p.rho[i] * p.rho[j]);
                    if (meeting < 0.0f) {
                        const float mu = k.h * meeting / (r2 + 0.01f * k.h * k.h);
                        push -= k.viscosity * mu / (0.5f * (p.rho[i] + p.rho[j]));
                    }
                    push *= p.mass[j] * f;
                    sum_x -= push * dx;
                    sum_y -= push * dy;
                    sum_z -= push * dz;
                    sum_rate += p.mass[j] * meeting * f * (p.rho[i] / p.rho[j]);
                }
            }
    ax[i] = sum_x;
    ay[i] = sum_y;
    az[i] = sum_z;
    drhodt[i] = sum_rate;
}

template <typename T> static T *upload(const T *host, size_t count)
{
    T *device;
    CHECK(cudaMalloc((void **)&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

extern "C" void solution_compute(int N, const float *xs, const float *ys, const float *zs,
                                 const float *vxs, const float *vys, const float *vzs, const float *rhos,
                                 const float *masses, float h, float cs0, float rhop0, float alpha_visc,
                                 const int *cell_begin, const int *cell_end, const int *sorted_idx,
                                 int grid_nx, int grid_ny, int grid_nz, float cell_size, float *ax,
                                 float *ay, float *az, float *drhodt)
{
    const size_t n = (size_t)N, cells = (size_t)grid_nx * grid_ny * grid_nz;
    const float *inputs[8] = {xs, ys, zs, vxs, vys, vzs, rhos, masses};
    float *outputs[4] = {ax, ay, az, drhodt}, *d_in[8], *d_out[4], *d_pressure;
    for (int a = 0; a < 8; a++)
        d_in[a] = upload(inputs[a], n);
    for (int a = 0; a < 4; a++)
        CHECK(cudaMalloc((void **)&d_out[a], n * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_pressure, n * sizeof(float)));
    int *d_begin = upload(cell_begin, cells), *d_end = upload(cell_end, cells);
    int *d_sorted = upload(sorted_idx, n);

    const double pi = 3.14159265358979323846, length = h;
    const constants k = {h,
                         (float)(-10.0 / length * 495.0 / (32.0 * pi * length * length * length)),
                         (float)(4.0 * length * length),
                         alpha_visc * cs0,
                         cell_size,
                         grid_nx,
                         grid_ny,
                         grid_nz};
    const particles p = {d_in[0], d_in[1], d_in[2], d_in[3], d_in[4], d_in[5], d_in[6], d_in[7]};
    const int threads = 128, blocks = (N - 1) / threads + 1;
    compute_pressure<<<blocks, threads>>>(N, d_in[6], (double)cs0 * cs0 * rhop0 / 7.0, rhop0, d_pressure);
    CHECK(cudaGetLastError());
    sum_forces<<<blocks, threads>>>(N, p, k, d_pressure, d_begin, d_end, d_sorted, d_out[0], d_out[1],
                                    d_out[2], d_out[3]);
    CHECK(cudaGetLastError());

    for (int a = 0; a < 4; a++) {
        CHECK(cudaMemcpy(outputs[a], d_out[a], n * sizeof(float), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_out[a]));
    }
    for (int a = 0; a < 8; a++)
        CHECK(cudaFree(d_in[a]));
    CHECK(cudaFree(d_pressure));
    CHECK(cudaFree(d_begin));
    CHECK(cudaFree(d_end));
    CHECK(cudaFree(d_sorted));
}
