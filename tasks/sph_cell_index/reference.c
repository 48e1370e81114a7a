/* Index of particles by cell: a counting sort, stable because it takes the particles in their
 * order. */
#include <math.h>
#include <stdlib.h>

/* The cell along one axis; what lies outside the domain belongs to the outermost cell. */
static int cell_along(float position, float cell_size, int cells)
{
    const int cell = (int)floorf(position / cell_size);
    if (cell < 0)
        return 0;
    return cell < cells ? cell : cells - 1;
}

void solution_compute(int N, const float *xs, const float *ys, const float *zs, float cell_size,
                      int grid_nx, int grid_ny, int grid_nz, int num_cells, int *sorted_indices,
                      int *cell_begin, int *cell_end)
{
    int *cell_of = NULL;
    if (N > 0) {
        cell_of = malloc((size_t)N * sizeof *cell_of);
        if (!cell_of)
            return;
    }

    /* How many particles each cell has. */
    int *count = cell_end;
    for (int c = 0; c < num_cells; c++)
        count[c] = 0;
    for (int i = 0; i < N; i++) {
        const int cx = cell_along(xs[i], cell_size, grid_nx);
        const int cy = cell_along(ys[i], cell_size, grid_ny);
        const int cz = cell_along(zs[i], cell_size, grid_nz);
        cell_of[i] = cx + grid_nx * (cy + grid_ny * cz);
        count[cell_of[i]]++;
    }

    /* Where each cell begins; cell_end becomes the place of its next particle. */
    int position = 0;
    for (int c = 0; c < num_cells; c++) {
        cell_begin[c] = position;
        position += count[c];
        cell_end[c] = cell_begin[c];
    }

    for (int i = 0; i < N; i++)
        sorted_indices[cell_end[cell_of[i]]++] = i;

    for (int c = 0; c < num_cells; c++)
        if (cell_begin[c] == cell_end[c])
            cell_begin[c] = cell_end[c] = -1;
    free(cell_of);
}
