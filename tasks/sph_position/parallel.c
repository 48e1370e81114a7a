/* One pass over all particles; memory traffic bounds it. Each thread takes blocks small enough for
 * the first-level cache, axis by axis, so that the vector loops have few streams. */
enum { BLOCK = 512 };

/* New coordinates and layers of one axis, the layers added to cell with their weight. The floor of
 * x is its truncation, less one where that lies above x. */
static inline void drift(int n, const float *restrict pos, const float *restrict mov, double size,
                         int weight, double *restrict out, int *restrict cell)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const double moved = (double)pos[i] + (double)mov[i], quotient = moved / size;
        const int truncated = (int)quotient;
        out[i] = moved;
        cell[i] += weight * (truncated - ((double)truncated > quotient));
    }
}

void solution_compute(int N, const float *posxy_x, const float *posxy_y, const float *posz,
                      const float *movxy_x, const float *movxy_y, const float *movz,
                      float cell_size, double *out_x, double *out_y, double *out_z, int *out_cell)
{
    const int blocks = N / BLOCK + (N % BLOCK > 0);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < blocks; b++) {
        const int i = b * BLOCK, n = N - i < BLOCK ? N - i : BLOCK;
        for (int k = 0; k < n; k++)
            out_cell[i + k] = 0;
        drift(n, posxy_x + i, movxy_x + i, cell_size, 1, out_x + i, out_cell + i);
        drift(n, posxy_y + i, movxy_y + i, cell_size, 1000, out_y + i, out_cell + i);
        drift(n, posz + i, movz + i, cell_size, 1000000, out_z + i, out_cell + i);
    }
}
