/* The pattern follows from the edges, so col_idx is read for rows on the boundary only. On the
 * finest grid the forward sweep keeps b less the sum over the lower neighbours, which the backward
 * sweep meets unchanged: it reads half the matrix. Coarse grids have constant coefficients: the sum
 * over the eight neighbouring lines is formed for a whole line at once, and no matrix is stored.
 * Several threads sweep fronts of x-lines, iy + 2 iz constant. */
#include <omp.h>
#include <stdlib.h>

/* Below this many points a grid is swept by one thread: its fronts are shorter than a barrier. */
#define SERIAL_POINTS 20000

struct fine {
    int nx, ny, nz;
    const int *row_ptr, *col_idx, *diag_idx;
    const double *values, *rhs;
    double *x, *kept;
};

/* With a margin of zeros: (nx+2)(ny+2)(nz+2) elements in each array. */
struct coarse {
    int nx, ny, nz;
    double *rhs, *x, *sums;
};

/* --- the finest grid
 * ---------------------------------------------------------------------------------- */

static inline double three(const double *a, const double *x)
{
    return a[0] * x[-1] + a[1] * x[0] + a[2] * x[1];
}

static inline double entries(const struct fine *f, int from, int to)
{
    double sum = 0.0;
    for (int p = from; p < to; p++)
        sum += f->values[p] * f->x[f->col_idx[p]];
    return sum;
}

/* On the boundary, where rows are short. */
static inline void forward_edge(const struct fine *f, int i)
{
    const int diagonal = f->diag_idx[i];
    f->kept[i] = f->rhs[i] - entries(f, f->row_ptr[i], diagonal);
    f->x[i] = (f->kept[i] - entries(f, diagonal + 1, f->row_ptr[i + 1])) / f->values[diagonal];
}

static inline void backward_edge(const struct fine *f, int i)
{
    const int diagonal = f->diag_idx[i];
    f->x[i] = (f->kept[i] - entries(f, diagonal + 1, f->row_ptr[i + 1])) / f->values[diagonal];
}

static void forward_line(const struct fine *f, int y, int z)
{
    const int nx = f->nx, plane = nx * f->ny, first = (z * f->ny + y) * nx, last = first + nx - 1;
    if (nx < 3 || y == 0 || y == f->ny - 1 || z == 0 || z == f->nz - 1) {
        for (int i = first; i <= last; i++)
            forward_edge(f, i);
        return;
    }
    forward_edge(f, first);
    const double *a = f->values + f->row_ptr[first + 1];
    for (int i = first + 1; i < last; i++, a += 27) {
        double *x = f->x + i;
        const double lower = three(a, x - plane - nx) + three(a + 3, x - plane) +
                             (three(a + 6, x - plane + nx) + three(a + 9, x - nx));
        const double upper = three(a + 15, x + nx) + three(a + 18, x + plane - nx) +
                             (three(a + 21, x + plane) + three(a + 24, x + plane + nx)) +
                             a[14] * x[1];
        const double inverse = 1.0 / a[13], constant = f->rhs[i] - lower;
        f->kept[i] = constant - a[12] * x[-1];
        x[0] = (constant - upper) * inverse -
               a[12] * inverse * x[-1]; /* x[-1] comes last: it is just made */
    }
    forward_edge(f, last);
}

static void backward_line(const struct fine *f, int y, int z)
{
    const int nx = f->nx, plane = nx * f->ny, first = (z * f->ny + y) * nx, last = first + nx - 1;
    if (nx < 3 || y == 0 || y == f->ny - 1 || z == 0 || z == f->nz - 1) {
        for (int i = last; i >= first; i--)
            backward_edge(f, i);
        return;
    }
    backward_edge(f, last);
    const double *a = f->values + f->row_ptr[last - 1];
    for (int i = last - 1; i > first; i--, a -= 27) {
        double *x = f->x + i;
        const double upper = three(a + 15, x + nx) + three(a + 18, x + plane - nx) +
                             (three(a + 21, x + plane) + three(a + 24, x + plane + nx));
        const double inverse = 1.0 / a[13];
        x[0] = (f->kept[i] - upper) * inverse - a[14] * inverse * x[1];
    }
    backward_edge(f, first);
}

/* --- coarser grids
 * ------------------------------------------------------------------------------------ */

static size_t at(const struct coarse *c, int x, int y, int z)
{
    return ((size_t)(z + 1) * (size_t)(c->ny + 2) + (size_t)(y + 1)) * (size_t)(c->nx + 2) +
           (size_t)(x + 1);
}

static struct coarse coarse_make(int nx, int ny, int nz)
{
    struct coarse c = {nx, ny, nz, NULL, NULL, NULL};
    const size_t count = (size_t)(nx + 2) * (size_t)(ny + 2) * (size_t)(nz + 2);
    c.rhs = calloc(3 * count, sizeof(double));
    if (!c.rhs)
        abort();
    c.x = c.rhs + count;
    c.sums = c.x + count;
    return c;
}

/* sums = over the eight neighbouring lines, margins included; points to the line's element 0 */
static double *sum_lines(const struct coarse *c, int y, int z)
{
    const size_t line = (size_t)(c->nx + 2), plane = line * (size_t)(c->ny + 2),
                 start = at(c, -1, y, z);
    const double *x = c->x + start;
    double *restrict sums = c->sums + start;
#pragma omp simd
    for (int i = 0; i < c->nx + 2; i++) {
        const double *p = x + i;
        sums[i] = (*(p - plane - line) + *(p - plane) + (*(p - plane + line) + *(p - line))) +
                  (*(p + line) + *(p + plane - line) + (*(p + plane) + *(p + plane + line)));
    }
    return sums + 1;
}

static void coarse_forward(const struct coarse *c, int y, int z)
{
    const double *sums = sum_lines(c, y, z), *rhs = c->rhs + at(c, 0, y, z);
    double *x = c->x + at(c, 0, y, z);
    for (int i = 0; i < c->nx; i++)
        x[i] = (rhs[i] + (sums[i - 1] + sums[i] + sums[i + 1]) + x[i + 1]) * (1.0 / 26.0) +
               x[i - 1] * (1.0 / 26.0);
}

static void coarse_backward(const struct coarse *c, int y, int z)
{
    const double *sums = sum_lines(c, y, z), *rhs = c->rhs + at(c, 0, y, z);
    double *x = c->x + at(c, 0, y, z);
    for (int i = c->nx - 1; i >= 0; i--)
        x[i] = (rhs[i] + (sums[i - 1] + sums[i] + sums[i + 1]) + x[i - 1]) * (1.0 / 26.0) +
               x[i + 1] * (1.0 / 26.0);
}

static double coarse_residual(const struct coarse *c, int x, int y, int z)
{
    double sum = 0.0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++) {
            const double *line = c->x + at(c, x, y + dy, z + dz);
            sum += line[-1] + line[0] + line[1];
        }
    const size_t i = at(c, x, y, z);
    return c->rhs[i] - (27.0 * c->x[i] - sum);
}

/* --- sweeps over either kind
 * --------------------------------------------------------------------------- */

typedef void line_function(const void *grid, int y, int z);

static void fine_up(const void *grid, int y, int z)
{
    forward_line(grid, y, z);
}

static void fine_down(const void *grid, int y, int z)
{
    backward_line(grid, y, z);
}

static void coarse_up(const void *grid, int y, int z)
{
    coarse_forward(grid, y, z);
}

static void coarse_down(const void *grid, int y, int z)
{
    coarse_backward(grid, y, z);
}

static void smooth(const void *grid, int nx, int ny, int nz, line_function *up, line_function *down)
{
    if (omp_get_max_threads() == 1 || (size_t)nx * (size_t)ny * (size_t)nz < SERIAL_POINTS) {
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < ny; y++)
                up(grid, y, z);
        for (int z = nz - 1; z >= 0; z--)
            for (int y = ny - 1; y >= 0; y--)
                down(grid, y, z);
        return;
    }
    const int fronts = ny + 2 * (nz - 1);
#pragma omp parallel
    {
        for (int front = 0; front < fronts; front++)
#pragma omp for schedule(static)
            for (int z = 0; z < nz; z++)
                if (front - 2 * z >= 0 && front - 2 * z < ny)
                    up(grid, front - 2 * z, z);
        for (int front = fronts - 1; front >= 0; front--)
#pragma omp for schedule(static)
            for (int z = 0; z < nz; z++)
                if (front - 2 * z >= 0 && front - 2 * z < ny)
                    down(grid, front - 2 * z, z);
    }
}

static void cycle_coarse(const struct coarse *fine, int coarser)
{
    smooth(fine, fine->nx, fine->ny, fine->nz, coarse_up, coarse_down);
    if (coarser == 0)
        return;
    const struct coarse next = coarse_make(fine->nx / 2, fine->ny / 2, fine->nz / 2);
    for (int z = 0; z < next.nz; z++)
        for (int y = 0; y < next.ny; y++)
            for (int x = 0; x < next.nx; x++)
                next.rhs[at(&next, x, y, z)] = coarse_residual(fine, 2 * x, 2 * y, 2 * z);
    cycle_coarse(&next, coarser - 1);
    for (int z = 0; z < next.nz; z++)
        for (int y = 0; y < next.ny; y++)
            for (int x = 0; x < next.nx; x++)
                fine->x[at(fine, 2 * x, 2 * y, 2 * z)] += next.x[at(&next, x, y, z)];
    free(next.rhs);
    smooth(fine, fine->nx, fine->ny, fine->nz, coarse_up, coarse_down);
}

void solution_compute(int nx, int ny, int nz, int coarse_levels, int n, const int *row_ptr,
                      const int *col_idx, const double *values, const int *diag_idx,
                      const double *rhs, double *x_inout)
{
    double *kept = malloc((size_t)n * sizeof *kept);
    if (!kept)
        abort();
    const struct fine f = {nx, ny, nz, row_ptr, col_idx, diag_idx, values, rhs, x_inout, kept};
    smooth(&f, nx, ny, nz, fine_up, fine_down);
    if (coarse_levels > 0) {
        const struct coarse next = coarse_make(nx / 2, ny / 2, nz / 2);
#pragma omp parallel for collapse(2) schedule(static)
        for (int z = 0; z < next.nz; z++)
            for (int y = 0; y < next.ny; y++)
                for (int x = 0; x < next.nx; x++) {
                    const int i = (2 * z * ny + 2 * y) * nx + 2 * x;
                    next.rhs[at(&next, x, y, z)] = rhs[i] - entries(&f, row_ptr[i], row_ptr[i + 1]);
                }
        cycle_coarse(&next, coarse_levels - 1);
        for (int z = 0; z < next.nz; z++)
            for (int y = 0; y < next.ny; y++)
                for (int x = 0; x < next.nx; x++)
                    x_inout[(2 * z * ny + 2 * y) * nx + 2 * x] += next.x[at(&next, x, y, z)];
        free(next.rhs);
        smooth(&f, nx, ny, nz, fine_up, fine_down);
    }
    free(kept);
}
