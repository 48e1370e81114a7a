/* Float arithmetic over dense lists. The particles are copied into the order of the cells; for each
 * cell the particles of the 27 cells around it are gathered once into contiguous arrays, and each
 * particle of the cell then runs over that list in vectors without a branch: what does not interact
 * (too far, itself, in the same place) gets the weight 0. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

/* RATIO is mass/density, WEIGHT the mass. */
enum { X, Y, Z, VX, VY, VZ, PRESSURE, DENSITY, RATIO, WEIGHT, FIELDS };

struct constants {
    float kernel, reach2, half_inverse_h, viscosity, softening;
};

struct forces {
    float x, y, z, rate;
};

/* x >= 0; 0 at 0. Three Newton steps for 1/sqrt x: a call of sqrtf may set errno, and a loop that
 * may is not made into vectors. */
static inline float square_root(float x)
{
    uint32_t bits;
    float y;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f375a86u - (bits >> 1);
    memcpy(&y, &bits, sizeof y);
    const float half = 0.5f * x;
    y *= 1.5f - half * y * y;
    y *= 1.5f - half * y * y;
    y *= 1.5f - half * y * y;
    return x * y;
}

static struct forces interact(const struct constants *k, const float *restrict list, size_t stride,
                              int count, const float *self)
{
    const float *restrict lx = list + X * stride, *restrict ly = list + Y * stride;
    const float *restrict lz = list + Z * stride, *restrict lvx = list + VX * stride;
    const float *restrict lvy = list + VY * stride, *restrict lvz = list + VZ * stride;
    const float *restrict pressure = list + PRESSURE * stride, *restrict density =
                                                                   list + DENSITY * stride;
    const float *restrict ratio = list + RATIO * stride, *restrict weight = list + WEIGHT * stride;
    const struct constants c = *k;
    const float inverse = 1.0f / self[DENSITY];
    float sum_x = 0, sum_y = 0, sum_z = 0, sum_rate = 0;
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z, sum_rate)
    for (int j = 0; j < count; j++) {
        const float dx = self[X] - lx[j], dy = self[Y] - ly[j], dz = self[Z] - lz[j];
        const float r2 = dx * dx + dy * dy + dz * dz;
        const float closeness = 1.0f - square_root(r2) * c.half_inverse_h;
        float f = c.kernel * closeness * closeness * closeness;
        f = r2 > c.reach2 ? 0.0f : f;
        f = r2 < 1e-18f ? 0.0f : f;
        const float vx = self[VX] - lvx[j], vy = self[VY] - lvy[j], vz = self[VZ] - lvz[j];
        const float meeting = dx * vx + dy * vy + dz * vz;
        const float approach = meeting < 0.0f ? meeting : 0.0f;
        const float viscosity =
            c.viscosity * approach / ((r2 + c.softening) * (self[DENSITY] + density[j]));
        const float push =
            (self[PRESSURE] + pressure[j]) * inverse * ratio[j] - viscosity * weight[j];
        sum_x -= push * f * dx;
        sum_y -= push * f * dy;
        sum_z -= push * f * dz;
        sum_rate += ratio[j] * meeting * f;
    }
    return (struct forces){sum_x, sum_y, sum_z, sum_rate * self[DENSITY]};
}

/* A stretch of the ordered particles, field by field, to the end of the list. */
static void append(float *restrict list, size_t room, size_t count, const float *restrict ordered,
                   size_t n, size_t from, size_t more)
{
    for (size_t field = 0; field < FIELDS; field++)
        for (size_t i = 0; i < more; i++)
            list[field * room + count + i] = ordered[field * n + from + i];
}

void solution_compute(int N, const float *xs, const float *ys, const float *zs, const float *vxs,
                      const float *vys, const float *vzs, const float *rhos, const float *masses,
                      float h, float cs0, float rhop0, float alpha_visc, const int *cell_begin,
                      const int *cell_end, const int *sorted_idx, int grid_nx, int grid_ny,
                      int grid_nz, float cell_size, float *ax, float *ay, float *az, float *drhodt)
{
    (void)cell_size;
    const double length = h, stiffness = (double)cs0 * cs0 * rhop0 / 7.0;
    const struct constants k = {
        .kernel = (float)(-10.0 / length * 495.0 /
                          (32.0 * 3.14159265358979323846 * length * length * length)),
        .reach2 = (float)(4.0 * length * length),
        .half_inverse_h = (float)(0.5 / length),
        .viscosity = (float)(2.0 * alpha_visc * cs0 * length),
        .softening = (float)(0.01 * length * length),
    };
    const size_t n = (size_t)N;
    const int rows = grid_ny * grid_nz, cells = rows * grid_nx;
    int crowd = 0;
    for (int c = 0; c < cells; c++)
        if (cell_end[c] - cell_begin[c] > crowd)
            crowd = cell_end[c] - cell_begin[c];
    size_t room = (size_t)crowd * 27 < n ? (size_t)crowd * 27 : n;
    room = (room + 15) / 16 * 16;
    const int threads = omp_get_max_threads();
    float *ordered = malloc(FIELDS * n * sizeof *ordered);
    float *lists = malloc((size_t)threads * FIELDS * room * sizeof *lists);
    if (!ordered || !lists) {
        free(ordered);
        free(lists);
        return;
    }

#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int p = 0; p < N; p++) {
            const int i = sorted_idx[p];
            const double relative = (double)rhos[i] / rhop0, cube = relative * relative * relative;
            ordered[X * n + (size_t)p] = xs[i];
            ordered[Y * n + (size_t)p] = ys[i];
            ordered[Z * n + (size_t)p] = zs[i];
            ordered[VX * n + (size_t)p] = vxs[i];
            ordered[VY * n + (size_t)p] = vys[i];
            ordered[VZ * n + (size_t)p] = vzs[i];
            ordered[PRESSURE * n + (size_t)p] = (float)(stiffness * (cube * cube * relative - 1.0));
            ordered[DENSITY * n + (size_t)p] = rhos[i];
            ordered[RATIO * n + (size_t)p] = masses[i] / rhos[i];
            ordered[WEIGHT * n + (size_t)p] = masses[i];
        }
        float *list = lists + (size_t)omp_get_thread_num() * FIELDS * room;
#pragma omp for schedule(dynamic, 1)
        for (int row = 0; row < rows; row++)
            for (int cx = 0; cx < grid_nx; cx++) {
                const int home = row * grid_nx + cx, cy = row % grid_ny, cz = row / grid_ny;
                if (cell_begin[home] < 0)
                    continue;
                size_t count = 0;
                for (int z = cz > 0 ? cz - 1 : 0; z <= cz + 1 && z < grid_nz; z++)
                    for (int y = cy > 0 ? cy - 1 : 0; y <= cy + 1 && y < grid_ny; y++) {
                        /* Cells side by side in x are one stretch, whatever is empty among them. */
                        const int cell = (z * grid_ny + y) * grid_nx;
                        int from = -1, to = -1;
                        for (int x = cx > 0 ? cx - 1 : 0; x <= cx + 1 && x < grid_nx; x++) {
                            if (cell_begin[cell + x] < 0)
                                continue;
                            from = from < 0 ? cell_begin[cell + x] : from;
                            to = cell_end[cell + x];
                        }
                        const size_t more = (size_t)(to - from);
                        if (more > 0)
                            append(list, room, count, ordered, n, (size_t)from, more);
                        count += more;
                    }
                for (int p = cell_begin[home]; p < cell_end[home]; p++) {
                    float self[FIELDS];
                    for (size_t field = 0; field < FIELDS; field++)
                        self[field] = ordered[field * n + (size_t)p];
                    const struct forces sum = interact(&k, list, room, (int)count, self);
                    const int i = sorted_idx[p];
                    ax[i] = sum.x;
                    ay[i] = sum.y;
                    az[i] = sum.z;
                    drhodt[i] = sum.rate;
                }
            }
    }
    free(lists);
    free(ordered);
}
