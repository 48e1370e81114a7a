/* The forward sweep meets the lower neighbours of a row in the very state in which the backward
 * sweep meets them: their sum is kept, and the backward sweep reads the upper half of the matrix
 * only. The neighbour solved last is added last, so that a row waits for it with one multiplication
 * only. On several threads grids are swept in fronts of x-lines, iy + 2 iz constant: lines of a
 * front do not touch each other. Whether the matrix is a grid is looked up first; any other matrix
 * is swept by one thread. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

struct matrix {
    const int *row_ptr, *col_idx, *diag_idx;
    const double *values;
};

/* Sum of entries from..to-1 in two chains. */
static inline double partial(const struct matrix *m, int from, int to, const double *x)
{
    double even = 0.0, odd = 0.0;
    int p = from;
    for (; p + 1 < to; p += 2) {
        even += m->values[p] * x[m->col_idx[p]];
        odd += m->values[p + 1] * x[m->col_idx[p + 1]];
    }
    if (p < to)
        even += m->values[p] * x[m->col_idx[p]];
    return even + odd;
}

/* kept[i] = b_i less the sum over the lower neighbours */
static void forward(const struct matrix *m, int from, int to, const double *rhs, double *x,
                    double *kept)
{
    for (int i = from; i < to; i++) {
        const int diagonal = m->diag_idx[i], first = m->row_ptr[i];
        const double upper = partial(m, diagonal + 1, m->row_ptr[i + 1], x);
        const double inverse = 1.0 / m->values[diagonal];
        double lower = rhs[i];
        if (diagonal > first) {
            lower -= partial(m, first, diagonal - 1, x);
            const double last = m->values[diagonal - 1], neighbour = x[m->col_idx[diagonal - 1]];
            x[i] = (lower - upper) * inverse - last * inverse * neighbour;
            kept[i] = lower - last * neighbour;
        } else {
            x[i] = (lower - upper) * inverse;
            kept[i] = lower;
        }
    }
}

static void backward(const struct matrix *m, int from, int to, double *x, const double *kept)
{
    for (int i = to - 1; i >= from; i--) {
        const int diagonal = m->diag_idx[i], end = m->row_ptr[i + 1];
        const double inverse = 1.0 / m->values[diagonal];
        if (diagonal + 1 < end) {
            const double others = kept[i] - partial(m, diagonal + 2, end, x);
            x[i] =
                others * inverse - m->values[diagonal + 1] * inverse * x[m->col_idx[diagonal + 1]];
        } else {
            x[i] = kept[i] * inverse;
        }
    }
}

/* Is this the pattern of an nx x ny x nz grid with edges of 2 or more? Sets the edges. */
static bool is_grid(const struct matrix *m, int n, int *ret_nx, int *ret_ny, int *ret_nz)
{
    if (n < 8 || m->row_ptr[1] != 8)
        return false;
    const int nx = m->col_idx[2], plane = m->col_idx[4];
    if (nx < 2 || plane % nx != 0 || n % plane != 0 || plane / nx < 2 || n / plane < 2)
        return false;
    const int ny = plane / nx, nz = n / plane;
    bool same = true;
#pragma omp parallel for collapse(2) schedule(static) reduction(&& : same)
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) {
            int i = (z * ny + y) * nx;
            for (int x = 0; x < nx && same; x++, i++) {
                int p = m->row_ptr[i];
                const int left = x > 0 ? -1 : 0, right = x < nx - 1 ? 1 : 0;
                const int rows = ((z > 0) + 1 + (z < nz - 1)) * ((y > 0) + 1 + (y < ny - 1));
                if (m->row_ptr[i + 1] - p != rows * (right - left + 1)) {
                    same = false;
                    break;
                }
                for (int dz = z > 0 ? -1 : 0; dz <= (z < nz - 1 ? 1 : 0); dz++)
                    for (int dy = y > 0 ? -1 : 0; dy <= (y < ny - 1 ? 1 : 0); dy++)
                        for (int dx = left; dx <= right; dx++)
                            same &= m->col_idx[p++] == i + dz * plane + dy * nx + dx;
            }
        }
    *ret_nx = nx;
    *ret_ny = ny;
    *ret_nz = nz;
    return same;
}

void solution_compute(int n, const int *row_ptr, const int *col_idx, const double *values,
                      const int *diag_idx, const double *rhs, double *x_inout)
{
    const struct matrix m = {row_ptr, col_idx, diag_idx, values};
    double *kept = malloc((size_t)n * sizeof *kept);
    if (!kept)
        abort();
    int nx, ny, nz;
    if (omp_get_max_threads() == 1 || !is_grid(&m, n, &nx, &ny, &nz)) {
        forward(&m, 0, n, rhs, x_inout, kept);
        backward(&m, 0, n, x_inout, kept);
        free(kept);
        return;
    }
#pragma omp parallel
    {
        const int fronts = ny + 2 * (nz - 1);
        for (int front = 0; front < fronts; front++)
#pragma omp for schedule(static)
            for (int z = 0; z < nz; z++) {
                const int y = front - 2 * z, line = (z * ny + y) * nx;
                if (y >= 0 && y < ny)
                    forward(&m, line, line + nx, rhs, x_inout, kept);
            }
        for (int front = fronts - 1; front >= 0; front--)
#pragma omp for schedule(static)
            for (int z = 0; z < nz; z++) {
                const int y = front - 2 * z, line = (z * ny + y) * nx;
                if (y >= 0 && y < ny)
                    backward(&m, line, line + nx, x_inout, kept);
            }
    }
    free(kept);
}
