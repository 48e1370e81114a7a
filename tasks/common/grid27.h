/* The matrix pattern of HPCG, and the checks that every CSR matrix needs: shared by the tasks'
 * descriptors. Row (iz*ny + iy)*nx + ix holds one entry for every grid point whose three
 * coordinates differ by at most one, columns ascending. */
#ifndef AE_TASKS_GRID27_H
#define AE_TASKS_GRID27_H

#include "task/task.h"

#include <math.h>

struct ae_grid27 {
    int32_t nx, ny, nz;
};

static inline size_t ae_grid27_rows(struct ae_grid27 grid)
{
    return (size_t)grid.nx * (size_t)grid.ny * (size_t)grid.nz;
}

static inline size_t ae_grid27_entries(struct ae_grid27 grid)
{
    return (3 * (size_t)grid.nx - 2) * (3 * (size_t)grid.ny - 2) * (3 * (size_t)grid.nz - 2);
}

/* Three different edges around `edge`; the number of rows stays within 3 % of edge^3. */
static inline struct ae_grid27 ae_grid27_draw(struct ae_rng *rng, int64_t edge)
{
    const int64_t rows = edge * edge * edge, spread = edge >= 32 ? edge / 16 : 2;
    for (;;) {
        const int64_t nx = ae_rng_range(rng, edge - spread, edge + spread);
        const int64_t ny = ae_rng_range(rng, edge - spread, edge + spread);
        const int64_t nz = (rows + nx * ny / 2) / (nx * ny);
        const int64_t off = nx * ny * nz - rows;
        if (nx != ny && ny != nz && nx != nz && (off < 0 ? -off : off) * 100 <= rows * 3)
            return (struct ae_grid27){(int32_t)nx, (int32_t)ny, (int32_t)nz};
    }
}

/* diag_idx (may be NULL): the position of each row's own column. */
static inline void ae_grid27_pattern(struct ae_grid27 grid, int32_t *row_ptr, int32_t *col_idx,
                                     int32_t *diag_idx)
{
    int32_t p = 0, row = 0;
    row_ptr[0] = 0;
    for (int32_t z = 0; z < grid.nz; z++)
        for (int32_t y = 0; y < grid.ny; y++)
            for (int32_t x = 0; x < grid.nx; x++, row++) {
                const int32_t left = x > 0 ? -1 : 0, right = x < grid.nx - 1 ? 1 : 0;
                for (int32_t dz = z > 0 ? -1 : 0; dz <= (z < grid.nz - 1 ? 1 : 0); dz++)
                    for (int32_t dy = y > 0 ? -1 : 0; dy <= (y < grid.ny - 1 ? 1 : 0); dy++) {
                        const int32_t column = row + (dz * grid.ny + dy) * grid.nx;
                        if (diag_idx && dz == 0 && dy == 0)
                            diag_idx[row] = p - left;
                        for (int32_t dx = left; dx <= right; dx++)
                            col_idx[p++] = column + dx;
                    }
                row_ptr[row + 1] = p;
            }
}

/* Lengths, monotone offsets, columns in range (and ascending inside a row, from its entry
 * `sorted_from` on), finite values. Arguments are given by their index. */
static inline int ae_csr_validate(const struct ae_instance *inst, int n_arg, int row_ptr_arg,
                                  int col_idx_arg, int values_arg, int sorted_from,
                                  struct ae_error *err)
{
    const int32_t n = inst->scalar[n_arg].i32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "the matrix has %d rows; at least one is needed", n);
    if (inst->array[row_ptr_arg].count != (size_t)n + 1)
        return ae_error_set(err, AE_E_INPUT, "row_ptr has %zu elements for %d rows",
                            inst->array[row_ptr_arg].count, n);
    const int32_t *row_ptr = ae_in_i32(inst, row_ptr_arg), *col_idx = ae_in_i32(inst, col_idx_arg);
    const double *values = ae_in_f64(inst, values_arg);
    if (row_ptr[0] != 0)
        return ae_error_set(err, AE_E_INPUT, "row_ptr starts with %d, not 0", row_ptr[0]);
    for (int32_t i = 0; i < n; i++)
        if (row_ptr[i + 1] < row_ptr[i])
            return ae_error_set(err, AE_E_INPUT, "row_ptr falls after row %d", i);
    const size_t entries = (size_t)row_ptr[n];
    if (inst->array[col_idx_arg].count != entries || inst->array[values_arg].count != entries)
        return ae_error_set(err, AE_E_INPUT,
                            "row_ptr announces %zu entries; col_idx has %zu, values %zu", entries,
                            inst->array[col_idx_arg].count, inst->array[values_arg].count);
    for (int32_t i = 0; i < n; i++)
        for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
            if (col_idx[p] < 0 || col_idx[p] >= n)
                return ae_error_set(err, AE_E_INPUT, "row %d has column %d", i, col_idx[p]);
            if (p > row_ptr[i] + sorted_from && col_idx[p] <= col_idx[p - 1])
                return ae_error_set(err, AE_E_INPUT, "the columns of row %d do not ascend", i);
            if (!isfinite(values[p]))
                return ae_error_set(err, AE_E_INPUT, "row %d has an entry that is not finite", i);
        }
    return AE_OK;
}

/* `count` finite elements? */
static inline int ae_vector_validate(const struct ae_instance *inst, int arg, size_t count,
                                     struct ae_error *err)
{
    const char *name = inst->task->args[arg].name;
    const double *values = ae_in_f64(inst, arg);
    if (inst->array[arg].count != count)
        return ae_error_set(err, AE_E_INPUT, "%s has %zu elements, not %zu", name,
                            inst->array[arg].count, count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return ae_error_set(err, AE_E_INPUT, "%s[%zu] is not finite", name, i);
    return AE_OK;
}

#endif
