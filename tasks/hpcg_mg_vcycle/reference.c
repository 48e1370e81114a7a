/* One V-cycle of geometric multigrid: a symmetric Gauss-Seidel sweep before and after the
 * correction from the next coarser grid, restriction and prolongation by injection. The finest
 * matrix is given; all coarser grids have the constant 27-point matrix, 26 on the diagonal and -1
 * for each neighbour inside the grid. */
#include <stdlib.h>

struct level {
    int nx, ny, nz, n;
    const int *row_ptr, *col_idx, *diag_idx;
    const double *values;
    const double *rhs;
    double *x;
};

/* What a coarse level owns. */
struct storage {
    int *row_ptr, *col_idx, *diag_idx;
    double *values, *rhs, *x;
};

static void *allocate(size_t count, size_t size)
{
    void *p = malloc(count * size);
    if (!p)
        abort();
    return p;
}

static struct level build_coarse(const struct level *fine, struct storage *own)
{
    struct level c = {.nx = fine->nx / 2, .ny = fine->ny / 2, .nz = fine->nz / 2};
    c.n = c.nx * c.ny * c.nz;
    own->row_ptr = allocate((size_t)c.n + 1, sizeof(int));
    own->diag_idx = allocate((size_t)c.n, sizeof(int));
    own->col_idx = allocate(27 * (size_t)c.n, sizeof(int));
    own->values = allocate(27 * (size_t)c.n, sizeof(double));
    own->rhs = allocate((size_t)c.n, sizeof(double));
    own->x = allocate((size_t)c.n, sizeof(double));

    int entries = 0, row = 0;
    for (int z = 0; z < c.nz; z++)
        for (int y = 0; y < c.ny; y++)
            for (int x = 0; x < c.nx; x++, row++) {
                own->row_ptr[row] = entries;
                for (int dz = -1; dz <= 1; dz++)
                    for (int dy = -1; dy <= 1; dy++)
                        for (int dx = -1; dx <= 1; dx++) {
                            if (z + dz < 0 || z + dz >= c.nz || y + dy < 0 || y + dy >= c.ny ||
                                x + dx < 0 || x + dx >= c.nx)
                                continue;
                            const int column = row + (dz * c.ny + dy) * c.nx + dx;
                            if (column == row)
                                own->diag_idx[row] = entries;
                            own->col_idx[entries] = column;
                            own->values[entries] = column == row ? 26.0 : -1.0;
                            entries++;
                        }
            }
    own->row_ptr[c.n] = entries;
    c.row_ptr = own->row_ptr;
    c.col_idx = own->col_idx;
    c.diag_idx = own->diag_idx;
    c.values = own->values;
    c.rhs = own->rhs;
    c.x = own->x;
    return c;
}

static double residual(const struct level *level, int row)
{
    double sum = level->rhs[row];
    for (int p = level->row_ptr[row]; p < level->row_ptr[row + 1]; p++)
        sum -= level->values[p] * level->x[level->col_idx[p]];
    return sum;
}

static void relax(const struct level *level, int row)
{
    const double diagonal = level->values[level->diag_idx[row]];
    level->x[row] = (residual(level, row) + diagonal * level->x[row]) / diagonal;
}

/* Symmetric Gauss-Seidel in natural order. */
static void smooth(const struct level *level)
{
    for (int row = 0; row < level->n; row++)
        relax(level, row);
    for (int row = level->n - 1; row >= 0; row--)
        relax(level, row);
}

static void cycle(const struct level *fine, int coarser)
{
    smooth(fine);
    if (coarser == 0)
        return;
    struct storage own;
    const struct level coarse = build_coarse(fine, &own);

    int c = 0;
    for (int z = 0; z < coarse.nz; z++)
        for (int y = 0; y < coarse.ny; y++)
            for (int x = 0; x < coarse.nx; x++, c++) {
                own.rhs[c] = residual(fine, (2 * z * fine->ny + 2 * y) * fine->nx + 2 * x);
                own.x[c] = 0.0;
            }
    cycle(&coarse, coarser - 1);
    c = 0;
    for (int z = 0; z < coarse.nz; z++)
        for (int y = 0; y < coarse.ny; y++)
            for (int x = 0; x < coarse.nx; x++, c++)
                fine->x[(2 * z * fine->ny + 2 * y) * fine->nx + 2 * x] += own.x[c];

    free(own.row_ptr);
    free(own.col_idx);
    free(own.diag_idx);
    free(own.values);
    free(own.rhs);
    free(own.x);
    smooth(fine);
}

void solution_compute(int nx, int ny, int nz, int coarse_levels, int n, const int *row_ptr,
                      const int *col_idx, const double *values, const int *diag_idx,
                      const double *rhs, double *x_inout)
{
    const struct level finest = {nx, ny, nz, n, row_ptr, col_idx, diag_idx, values, rhs, x_inout};
    cycle(&finest, coarse_levels);
}
