#include "common/grid27.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_EDGE };

enum { N, ROW_PTR, COL_IDX, VALUES, DIAG_IDX, RHS, X_INOUT, ARG_COUNT };

enum { GRID, IRREGULAR, CHAIN, FLAT, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of rows and of columns"},
    [ROW_PTR] = {"row_ptr", AE_I32, AE_IN, "n+1", .meaning = "where each row's entries start"},
    [COL_IDX] = {"col_idx", AE_I32, AE_IN, "row_ptr[n]",
                 .meaning = "column of each entry, ascending inside a row"},
    [VALUES] = {"values", AE_F64, AE_IN, "row_ptr[n]", .meaning = "matrix entries"},
    [DIAG_IDX] = {"diag_idx", AE_I32, AE_IN, "n",
                  .meaning = "position of each row's diagonal entry"},
    [RHS] = {"rhs", AE_F64, AE_IN, "n", .meaning = "right-hand side b"},
    [X_INOUT] =
        {"x_inout", AE_F64, AE_INOUT, "n",
         .meaning = "initial guess; after the call the smoothed vector", .published = "x_init",
         .rule = {AE_CLOSE, 1e-12, 1e-11,
                  "1e-12 + 1e-11*|x|: the sweep damps errors, so another order of summation moves "
                  "it by 1e-15 only; every other order of rows is wrong in the first digits"}},
};

/* One x-line (or y-line) in 16 is strong: its couplings to one side are so large that a value still
 * matters tens of points further on, and a recurrence cut short shows. */
#define STRONG_SHARE  16
#define STRONG_FACTOR 400

/* side[line]: -1 or 1 for a strong line, else 0. */
static void draw_strong_lines(struct ae_rng *rng, int8_t *side, size_t lines)
{
    for (size_t i = 0; i < lines; i++) {
        const uint32_t draw = ae_rng_below(rng, 2 * STRONG_SHARE);
        side[i] = (int8_t)(draw == 0 ? -1 : draw == 1 ? 1 : 0);
    }
}

static int fill_values(struct ae_instance *inst, struct ae_rng *rng, struct ae_grid27 grid,
                       struct ae_error *err)
{
    const int32_t *row_ptr = ae_in_i32(inst, ROW_PTR), *col_idx = ae_in_i32(inst, COL_IDX);
    const int32_t *diag_idx = ae_in_i32(inst, DIAG_IDX);
    const size_t x_lines = (size_t)grid.ny * (size_t)grid.nz,
                 y_lines = (size_t)grid.nx * (size_t)grid.nz;
    double *values = ae_new_array(inst, VALUES, inst->array[COL_IDX].count, err);
    int8_t *sides = malloc(x_lines + y_lines);
    if (!values || !sides) {
        free(sides);
        return AE_E_NOMEM;
    }
    draw_strong_lines(rng, sides, x_lines + y_lines);
    int32_t i = 0;
    for (int32_t z = 0; z < grid.nz; z++)
        for (int32_t y = 0; y < grid.ny; y++)
            for (int32_t x = 0; x < grid.nx; x++, i++) {
                const int32_t first = row_ptr[i], diagonal = diag_idx[i], end = row_ptr[i + 1];
                ae_rng_fill_f64(rng, values + first, (size_t)(end - first), 0.5, 1.5);
                const int side = sides[(size_t)z * (size_t)grid.ny + (size_t)y];
                const int side_y = sides[x_lines + (size_t)z * (size_t)grid.nx + (size_t)x];
                const int32_t strong = i + side, strong_y = i + side_y * grid.nx;
                double sum = 0;
                for (int32_t p = first; p < end; p++) {
                    const bool is_strong = (side != 0 && col_idx[p] == strong) ||
                                           (side_y != 0 && col_idx[p] == strong_y);
                    const double size = is_strong ? values[p] * STRONG_FACTOR : values[p];
                    sum += size;
                    values[p] = -size;
                }
                values[diagonal] = sum + values[diagonal] + ae_rng_uniform(rng, 0.5, 2);
            }
    free(sides);
    return AE_OK;
}

struct link {
    int32_t row, column;
};

static int by_row(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* The grid's pattern and `extra` random couplings more, each in both directions. Row 0 gets none,
 * so that it still looks like a grid's. */
static int irregular_pattern(struct ae_instance *inst, struct ae_rng *rng, struct ae_grid27 grid,
                             size_t extra, struct ae_error *err)
{
    const size_t n = ae_grid27_rows(grid), entries = ae_grid27_entries(grid);
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, entries + 2 * extra, err);
    int32_t *diag_idx = ae_new_array(inst, DIAG_IDX, n, err);
    int32_t *grid_ptr = malloc((n + 1) * sizeof *grid_ptr),
            *grid_idx = malloc(entries * sizeof *grid_idx);
    struct link *links = malloc(2 * extra * sizeof *links);
    const bool ok = row_ptr && col_idx && diag_idx && grid_ptr && grid_idx && links;
    if (ok) {
        ae_grid27_pattern(grid, grid_ptr, grid_idx, NULL);
        for (size_t k = 0; k < 2 * extra; k += 2) {
            const int32_t i = (int32_t)ae_rng_range(rng, 1, (int64_t)n - 1);
            const int32_t j = (int32_t)ae_rng_range(rng, 1, (int64_t)n - 1);
            links[k] = (struct link){i, j};
            links[k + 1] = (struct link){j, i};
        }
        qsort(links, 2 * extra, sizeof *links, by_row);
        size_t next = 0;
        int32_t p = 0;
        row_ptr[0] = 0;
        for (int32_t i = 0; i < (int32_t)n;
             i++) { /* merge two ascending lists, equal columns once */
            int32_t q = grid_ptr[i];
            while (q < grid_ptr[i + 1] || (next < 2 * extra && links[next].row == i)) {
                const bool has_link = next < 2 * extra && links[next].row == i;
                const bool from_grid =
                    q < grid_ptr[i + 1] && (!has_link || grid_idx[q] <= links[next].column);
                const int32_t column = from_grid ? grid_idx[q++] : links[next++].column;
                if (p > row_ptr[i] && col_idx[p - 1] == column)
                    continue;
                if (column == i)
                    diag_idx[i] = p;
                col_idx[p++] = column;
            }
            row_ptr[i + 1] = p;
        }
        ae_shrink_array(inst, COL_IDX, (size_t)p);
    }
    free(grid_ptr);
    free(grid_idx);
    free(links);
    return ok ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for the pattern of %zu rows", n);
}

static int grid_pattern(struct ae_instance *inst, struct ae_grid27 grid, struct ae_error *err)
{
    const size_t n = ae_grid27_rows(grid);
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, ae_grid27_entries(grid), err);
    int32_t *diag_idx = ae_new_array(inst, DIAG_IDX, n, err);
    if (!row_ptr || !col_idx || !diag_idx)
        return AE_E_NOMEM;
    ae_grid27_pattern(grid, row_ptr, col_idx, diag_idx);
    return AE_OK;
}

/* A random guess and right-hand side, so that both halves of every row matter in both sweeps. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    struct ae_grid27 grid = ae_grid27_draw(rng, inst->param[P_EDGE]);
    if (inst->family == CHAIN)
        grid = (struct ae_grid27){1, 1, (int32_t)ae_rng_range(rng, 1500, 2500)};
    if (inst->family == FLAT) {
        int32_t edges[3] = {(int32_t)ae_rng_range(rng, 1, 2), (int32_t)ae_rng_range(rng, 2, 40),
                            (int32_t)ae_rng_range(rng, 20, 60)};
        ae_rng_shuffle_i32(rng, edges, 3);
        grid = (struct ae_grid27){edges[0], edges[1], edges[2]};
    }
    if (inst->family == TINY)
        grid =
            (struct ae_grid27){(int32_t)ae_rng_range(rng, 1, 3), (int32_t)ae_rng_range(rng, 1, 3),
                               (int32_t)ae_rng_range(rng, 1, 3)};
    const size_t n = ae_grid27_rows(grid);
    ae_set_i32(inst, N, (int64_t)n);
    int rc;
    if (inst->family == IRREGULAR || inst->family == CHAIN)
        rc = irregular_pattern(inst, rng, grid, inst->family == CHAIN ? 6 * n : n / 8, err);
    else
        rc = grid_pattern(inst, grid, err);
    if (rc == AE_OK)
        rc = fill_values(inst, rng, grid, err);
    if (rc != AE_OK)
        return rc;
    double *rhs = ae_new_array(inst, RHS, n, err), *x = ae_new_array(inst, X_INOUT, n, err);
    if (!rhs || !x)
        return AE_E_NOMEM;
    ae_rng_fill_f64(rng, rhs, n, -5, 5);
    ae_rng_fill_f64(rng, x, n, -1, 1);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    (void)inst; /* x_inout has the length of its start value */
}

/* With rows visited in ascending order, row j must name i exactly when row i names j: a cursor in
 * every row moves on by one at each match. */
static int check_symmetry(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const int32_t *row_ptr = ae_in_i32(inst, ROW_PTR), *col_idx = ae_in_i32(inst, COL_IDX);
    struct ae_array space = {0};
    int rc = ae_array_alloc(&space, AE_I32, (size_t)n, err);
    if (rc != AE_OK)
        return rc;
    int32_t *cursor = space.data;
    memcpy(cursor, row_ptr, (size_t)n * sizeof *cursor);
    for (int32_t i = 0; i < n && rc == AE_OK; i++)
        for (int32_t p = row_ptr[i]; p < row_ptr[i + 1] && rc == AE_OK; p++) {
            const int32_t j = col_idx[p];
            if (cursor[j] == row_ptr[j + 1] || col_idx[cursor[j]++] != i)
                rc = ae_error_set(err, AE_E_INPUT,
                                  "row %d has column %d, but not the other way round", i, j);
        }
    ae_array_release(&space);
    return rc;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    int rc = ae_csr_validate(inst, N, ROW_PTR, COL_IDX, VALUES, 0, err);
    if (rc != AE_OK)
        return rc;
    const int32_t n = inst->scalar[N].i32, *row_ptr = ae_in_i32(inst, ROW_PTR);
    if (inst->array[DIAG_IDX].count != (size_t)n)
        return ae_error_set(err, AE_E_INPUT, "diag_idx has %zu elements for %d rows",
                            inst->array[DIAG_IDX].count, n);
    for (int32_t i = 0; i < n; i++) {
        const int32_t p = ae_in_i32(inst, DIAG_IDX)[i];
        if (p < row_ptr[i] || p >= row_ptr[i + 1] || ae_in_i32(inst, COL_IDX)[p] != i)
            return ae_error_set(err, AE_E_INPUT, "diag_idx[%d] is not the diagonal of its row", i);
        if (ae_in_f64(inst, VALUES)[p] == 0)
            return ae_error_set(err, AE_E_INPUT, "the diagonal of row %d is 0", i);
    }
    rc = check_symmetry(inst, err);
    if (rc == AE_OK)
        rc = ae_vector_validate(inst, RHS, (size_t)n, err);
    return rc != AE_OK ? rc : ae_vector_validate(inst, X_INOUT, (size_t)n, err);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* The lower half's sums of the forward sweep serve the backward one too. */
    w->operations = 3.0 * (double)inst->array[VALUES].count + 2.0 * inst->scalar[N].i32;
    w->steps =
        6 * cbrt((double)inst->scalar[N].i32); /* two sweeps over fronts of lines, ny + 2 nz each */
}

const struct ae_task ae_task_hpcg_symgs_sweep = {
    .id = "hpcg_symgs_sweep",
    .title = "Symmetric Gauss-Seidel sweep on the 27-point grid of HPCG",
    .domain = AE_HPC,
    .lineage = "HPCG (Dongarra, Heroux, Luszczek): reference SYMGS in natural order",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"edge"},
    .sizes = {[AE_SMALL] = {{32}}, [AE_MEDIUM] = {{72}}, [AE_LARGE] = {{144}}},
    .families = {{"grid", "27-point grids of three different edges with strong lines",
                  AE_ALL_SIZES},
                 {"irregular",
                  "a grid and random couplings besides: catches programs that suppose the "
                  "pattern without looking",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"chain", "every row waits for the one before it, and random couplings besides",
                  AE_AT(AE_SMALL)},
                 {"flat", "one edge of 1 or 2 points, at any place", AE_AT(AE_SMALL)},
                 {"tiny", "1 to 27 rows", AE_AT(AE_SMALL)}},
    .published_atol = 1e-9,
    .published_rtol = 1e-9,
    .published_note =
        "published matrices hold 26 and -1 only, the guess is 0 and so is nearly all of b",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
