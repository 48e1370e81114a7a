/* A stable sort in two levels. First the particles go to buckets of neighbouring cells: every
 * thread counts its own stretch of particles, the counts are summed over (bucket, thread), and
 * every thread moves its stretch; the buckets are few enough for the moves to stay in cache. Then
 * each bucket is counted and placed cell by cell, which touches only a few kilobytes and yields the
 * ranges as well. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <omp.h>

/* More buckets only where a cell's number inside its bucket would not fit 16 bits. */
enum { BUCKETS_MAX = 1024, SHIFT_MAX = 16, BLOCK = 1024 };

/* Truncation instead of the floor: they differ between -1 and 0 only up to the clamp, and it is one
 * vector instruction. */
static void number_cells(const float *xs, const float *ys, const float *zs, int n, float cell_size,
                         int nx, int ny, int nz, int *restrict cell)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        int cx = (int)(xs[i] / cell_size);
        int cy = (int)(ys[i] / cell_size);
        int cz = (int)(zs[i] / cell_size);
        cx = cx < 0 ? 0 : cx;
        cy = cy < 0 ? 0 : cy;
        cz = cz < 0 ? 0 : cz;
        cx = cx < nx ? cx : nx - 1;
        cy = cy < ny ? cy : ny - 1;
        cz = cz < nz ? cz : nz - 1;
        cell[i] = cx + nx * (cy + ny * cz);
    }
}

/* The particles of one bucket, in their order, with their cells counted from the bucket's first
 * one, go to positions from `position` on. */
static void place_bucket(const int *particle, const uint16_t *cell, int count, int cells,
                         int position, int *restrict sorted_indices, int *restrict begin,
                         int *restrict end)
{
    for (int c = 0; c < cells; c++)
        end[c] = 0;
    for (int i = 0; i < count; i++)
        end[cell[i]]++;
    for (int c = 0; c < cells; c++) {
        const int particles = end[c];
        begin[c] = particles ? position : -1;
        end[c] = particles ? position : -1;
        position += particles;
    }
    for (int i = 0; i < count; i++)
        sorted_indices[end[cell[i]]++] = particle[i];
}

void solution_compute(int N, const float *xs, const float *ys, const float *zs, float cell_size,
                      int grid_nx, int grid_ny, int grid_nz, int num_cells, int *sorted_indices,
                      int *cell_begin, int *cell_end)
{
    int shift = 6;
    while ((num_cells - 1) >> shift >= BUCKETS_MAX && shift < SHIFT_MAX)
        shift++;
    const int buckets = ((num_cells - 1) >> shift) + 1;
    int parts = omp_get_max_threads();
    if (parts > N / 4096 + 1)
        parts = N / 4096 + 1;
    int *particle = malloc(((size_t)N + 1) * sizeof *particle);
    uint16_t *cell_in_bucket = malloc(((size_t)N + 1) * sizeof *cell_in_bucket);
    int *next = calloc((size_t)parts * (size_t)buckets, sizeof *next); /* [part][bucket] */
    int *first = malloc(((size_t)buckets + 1) * sizeof *first);
    if (!particle || !cell_in_bucket || !next || !first) {
        free(particle);
        free(cell_in_bucket);
        free(next);
        free(first);
        return;
    }

#pragma omp parallel num_threads(parts)
    {
#pragma omp for schedule(static)
        for (int p = 0; p < parts; p++) {
            const int from = (int)((long long)N * p / parts),
                      to = (int)((long long)N * (p + 1) / parts);
            int *count = next + (size_t)p * (size_t)buckets, cell[BLOCK];
            for (int i = from; i < to; i += BLOCK) {
                const int n = to - i < BLOCK ? to - i : BLOCK;
                number_cells(xs + i, ys + i, zs + i, n, cell_size, grid_nx, grid_ny, grid_nz, cell);
                for (int k = 0; k < n; k++)
                    count[cell[k] >> shift]++;
            }
        }
#pragma omp single
        {
            int position = 0;
            for (int b = 0; b < buckets; b++) {
                first[b] = position;
                for (int p = 0; p < parts; p++) {
                    int *place = &next[(size_t)p * (size_t)buckets + (size_t)b];
                    const int count = *place;
                    *place = position;
                    position += count;
                }
            }
            first[buckets] = position;
        }
#pragma omp for schedule(static)
        for (int p = 0; p < parts; p++) {
            const int from = (int)((long long)N * p / parts),
                      to = (int)((long long)N * (p + 1) / parts);
            int *place = next + (size_t)p * (size_t)buckets, cell[BLOCK];
            for (int i = from; i < to; i += BLOCK) {
                const int n = to - i < BLOCK ? to - i : BLOCK;
                number_cells(xs + i, ys + i, zs + i, n, cell_size, grid_nx, grid_ny, grid_nz, cell);
                for (int k = 0; k < n; k++) {
                    const int position = place[cell[k] >> shift]++;
                    particle[position] = i + k;
                    cell_in_bucket[position] = (uint16_t)(cell[k] & ((1 << shift) - 1));
                }
            }
        }
#pragma omp for schedule(dynamic, 4)
        for (int b = 0; b < buckets; b++) {
            const int first_cell = b << shift;
            const int cells =
                num_cells - first_cell < 1 << shift ? num_cells - first_cell : 1 << shift;
            place_bucket(particle + first[b], cell_in_bucket + first[b], first[b + 1] - first[b],
                         cells, first[b], sorted_indices, cell_begin + first_cell,
                         cell_end + first_cell);
        }
    }
    free(first);
    free(next);
    free(cell_in_bucket);
    free(particle);
}
