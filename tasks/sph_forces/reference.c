/* Pairwise forces of weakly compressible smoothed-particle hydrodynamics: pressure, artificial
 * viscosity and the rate of the density over all neighbours within 2h, found through the cell
 * index. Sums are formed in double. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

void solution_compute(int N, const float *xs, const float *ys, const float *zs, const float *vxs,
                      const float *vys, const float *vzs, const float *rhos, const float *masses,
                      float h, float cs0, float rhop0, float alpha_visc, const int *cell_begin,
                      const int *cell_end, const int *sorted_idx, int grid_nx, int grid_ny,
                      int grid_nz, float cell_size, float *ax, float *ay, float *az, float *drhodt)
{
    const double pi = 3.14159265358979323846;
    const double length = h;
    const double kernel = -10.0 / length * 495.0 / (32.0 * pi * length * length * length);
    const double reach2 = 4.0 * length * length;
    const double stiffness = (double)cs0 * cs0 * rhop0 / 7.0;

    double *pressure = malloc((size_t)N * sizeof *pressure);
    if (!pressure)
        return;
    for (int i = 0; i < N; i++) /* Tait's equation of state */
        pressure[i] = stiffness * (pow((double)rhos[i] / rhop0, 7.0) - 1.0);

    for (int i = 0; i < N; i++) {
        const int cx = (int)floorf(xs[i] / cell_size);
        const int cy = (int)floorf(ys[i] / cell_size);
        const int cz = (int)floorf(zs[i] / cell_size);
        double sum_x = 0, sum_y = 0, sum_z = 0, sum_rate = 0;

        for (int z = cz - 1; z <= cz + 1; z++)
            for (int y = cy - 1; y <= cy + 1; y++)
                for (int x = cx - 1; x <= cx + 1; x++) {
                    if (x < 0 || x >= grid_nx || y < 0 || y >= grid_ny || z < 0 || z >= grid_nz)
                        continue;
                    const int cell = (z * grid_ny + y) * grid_nx + x;
                    for (int k = cell_begin[cell]; k < cell_end[cell]; k++) {
                        const int j = sorted_idx[k];
                        const double dx = (double)xs[i] - xs[j];
                        const double dy = (double)ys[i] - ys[j];
                        const double dz = (double)zs[i] - zs[j];
                        const double r2 = dx * dx + dy * dy + dz * dz;
                        if (j == i || r2 > reach2 || r2 < 1e-18)
                            continue;
                        const double closeness = 1.0 - 0.5 * sqrt(r2) / length;
                        const double f = kernel * closeness * closeness * closeness;
                        const double gx = f * dx, gy = f * dy, gz = f * dz;

                        double push = (pressure[i] + pressure[j]) / ((double)rhos[i] * rhos[j]);
                        const double vx = (double)vxs[i] - vxs[j];
                        const double vy = (double)vys[i] - vys[j];
                        const double vz = (double)vzs[i] - vzs[j];
                        const double approach = dx * vx + dy * vy + dz * vz;
                        if (approach < 0.0) { /* artificial viscosity, between approaching ones */
                            const double mu = length * approach / (r2 + 0.01 * length * length);
                            push -= alpha_visc * cs0 * mu / (0.5 * ((double)rhos[i] + rhos[j]));
                        }
                        push *= masses[j];
                        sum_x -= push * gx;
                        sum_y -= push * gy;
                        sum_z -= push * gz;
                        sum_rate += masses[j] * (vx * gx + vy * gy + vz * gz) * rhos[i] / rhos[j];
                    }
                }
        ax[i] = (float)sum_x;
        ay[i] = (float)sum_y;
        az[i] = (float)sum_z;
        drhodt[i] = (float)sum_rate;
    }
    free(pressure);
}
