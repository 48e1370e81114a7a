#include "common/grid27.h"

#include <math.h>

enum { P_EDGE, P_LEVELS };

enum { NX, NY, NZ, COARSE_LEVELS, N, ROW_PTR, COL_IDX, VALUES, DIAG_IDX, RHS, X_INOUT, ARG_COUNT };

enum { GRID, ODD, SHALLOW, NARROW, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [NX] = {"nx", AE_I32, AE_SCALAR,
            .meaning = "points of the finest grid in x, the fastest direction"},
    [NY] = {"ny", AE_I32, AE_SCALAR, .meaning = "points of the finest grid in y"},
    [NZ] = {"nz", AE_I32, AE_SCALAR, .meaning = "points of the finest grid in z"},
    [COARSE_LEVELS] = {"coarse_levels", AE_I32, AE_SCALAR,
                       .meaning = "number of grids below the finest"},
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of rows and of columns, nx*ny*nz"},
    [ROW_PTR] = {"row_ptr", AE_I32, AE_IN, "n+1", .meaning = "where each row's entries start"},
    [COL_IDX] = {"col_idx", AE_I32, AE_IN, "row_ptr[n]",
                 .meaning = "column of each entry, ascending inside a row"},
    [VALUES] = {"values", AE_F64, AE_IN, "row_ptr[n]", .meaning = "entries of the finest matrix"},
    [DIAG_IDX] = {"diag_idx", AE_I32, AE_IN, "n",
                  .meaning = "position of each row's diagonal entry"},
    [RHS] = {"rhs", AE_F64, AE_IN, "n", .meaning = "right-hand side b"},
    [X_INOUT] =
        {"x_inout", AE_F64, AE_INOUT, "n",
         .meaning = "initial guess; after the call the result of one cycle", .published = "x_init",
         .rule = {AE_CLOSE, 1e-12, 1e-11,
                  "1e-12 + 1e-11*|x|: other orders of summation move the result by 1e-15, float "
                  "arithmetic by 1e-8, a missing level or another order of rows by 1e-4 and more"}},
};

static struct ae_grid27 draw_grid(struct ae_instance *inst, struct ae_rng *rng)
{
    int64_t levels = inst->param[P_LEVELS];
    struct ae_grid27 grid = ae_grid27_draw(rng, inst->param[P_EDGE]);
    if (inst->family == ODD) /* odd on the first, second and third grid */
        grid = (struct ae_grid27){(int32_t)(2 * ae_rng_range(rng, 9, 15) + 1),
                                  (int32_t)(4 * ae_rng_range(rng, 5, 9) + 2),
                                  (int32_t)(8 * ae_rng_range(rng, 3, 5) + 4)};
    if (inst->family == SHALLOW)
        levels = ae_rng_range(rng, 0, 2);
    if (inst->family == NARROW) {
        int32_t edges[3] = {8, (int32_t)ae_rng_range(rng, 8, 17),
                            (int32_t)ae_rng_range(rng, 30, 60)};
        ae_rng_shuffle_i32(rng, edges, 3);
        grid = (struct ae_grid27){edges[0], edges[1], edges[2]};
    }
    if (inst->family == TINY) {
        levels = ae_rng_range(rng, 0, 1);
        grid = (struct ae_grid27){(int32_t)ae_rng_range(rng, levels + 1, 3),
                                  (int32_t)ae_rng_range(rng, levels + 1, 3),
                                  (int32_t)ae_rng_range(rng, levels + 1, 3)};
    }
    ae_set_i32(inst, NX, grid.nx);
    ae_set_i32(inst, NY, grid.ny);
    ae_set_i32(inst, NZ, grid.nz);
    ae_set_i32(inst, COARSE_LEVELS, levels);
    ae_set_i32(inst, N, (int64_t)ae_grid27_rows(grid));
    return grid;
}

/* Entries near the 26 and -1 of the coarse matrices, so that these stay a sensible correction, but
 * all different, so that every one of them matters. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const struct ae_grid27 grid = draw_grid(inst, rng);
    const size_t n = ae_grid27_rows(grid), entries = ae_grid27_entries(grid);
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, entries, err);
    double *values = ae_new_array(inst, VALUES, entries, err);
    int32_t *diag_idx = ae_new_array(inst, DIAG_IDX, n, err);
    double *rhs = ae_new_array(inst, RHS, n, err), *x = ae_new_array(inst, X_INOUT, n, err);
    if (!row_ptr || !col_idx || !values || !diag_idx || !rhs || !x)
        return AE_E_NOMEM;
    ae_grid27_pattern(grid, row_ptr, col_idx, diag_idx);
    for (size_t i = 0; i < n; i++) {
        const int32_t first = row_ptr[i], end = row_ptr[i + 1];
        double sum = 0;
        ae_rng_fill_f64(rng, values + first, (size_t)(end - first), 0.9, 1.1);
        for (int32_t p = first; p < end; p++) {
            sum += values[p];
            values[p] = -values[p];
        }
        values[diag_idx[i]] = sum + values[diag_idx[i]] + ae_rng_uniform(rng, 0.1, 0.5);
    }
    ae_rng_fill_f64(rng, rhs, n, -5, 5);
    ae_rng_fill_f64(rng, x, n, -1, 1);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    (void)inst; /* x_inout has the length of its start value */
}

static bool has_pattern(struct ae_grid27 grid, const int32_t *row_ptr, const int32_t *col_idx,
                        const int32_t *diag_idx)
{
    int32_t p = 0, row = 0;
    for (int32_t z = 0; z < grid.nz; z++)
        for (int32_t y = 0; y < grid.ny; y++)
            for (int32_t x = 0; x < grid.nx; x++, row++) {
                if (row_ptr[row] != p)
                    return false;
                for (int32_t dz = z > 0 ? -1 : 0; dz <= (z < grid.nz - 1 ? 1 : 0); dz++)
                    for (int32_t dy = y > 0 ? -1 : 0; dy <= (y < grid.ny - 1 ? 1 : 0); dy++)
                        for (int32_t dx = x > 0 ? -1 : 0; dx <= (x < grid.nx - 1 ? 1 : 0);
                             dx++, p++) {
                            const int32_t column = row + (dz * grid.ny + dy) * grid.nx + dx;
                            if (col_idx[p] != column || (column == row && diag_idx[row] != p))
                                return false;
                        }
            }
    return row_ptr[row] == p;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t nx = inst->scalar[NX].i32, ny = inst->scalar[NY].i32, nz = inst->scalar[NZ].i32;
    const int32_t n = inst->scalar[N].i32, levels = inst->scalar[COARSE_LEVELS].i32;
    if (nx < 1 || ny < 1 || nz < 1 || (int64_t)nx * ny > INT32_MAX || (int64_t)nx * ny * nz != n)
        return ae_error_set(err, AE_E_INPUT, "a grid of %d x %d x %d points has not n = %d", nx, ny,
                            nz, n);
    if (levels < 0 || levels > 30 || nx >> levels == 0 || ny >> levels == 0 || nz >> levels == 0)
        return ae_error_set(err, AE_E_INPUT,
                            "a grid of %d x %d x %d points has not %d coarser ones", nx, ny, nz,
                            levels);
    int rc = ae_csr_validate(inst, N, ROW_PTR, COL_IDX, VALUES, 0, err);
    if (rc != AE_OK)
        return rc;
    const struct ae_grid27 grid = {nx, ny, nz};
    if (inst->array[DIAG_IDX].count != (size_t)n ||
        inst->array[COL_IDX].count != ae_grid27_entries(grid) ||
        !has_pattern(grid, ae_in_i32(inst, ROW_PTR), ae_in_i32(inst, COL_IDX),
                     ae_in_i32(inst, DIAG_IDX)))
        return ae_error_set(err, AE_E_INPUT, "the matrix has not the 27-point pattern of its grid");
    for (int32_t i = 0; i < n; i++)
        if (ae_in_f64(inst, VALUES)[ae_in_i32(inst, DIAG_IDX)[i]] == 0)
            return ae_error_set(err, AE_E_INPUT, "the diagonal of row %d is 0", i);
    rc = ae_vector_validate(inst, RHS, (size_t)n, err);
    return rc != AE_OK ? rc : ae_vector_validate(inst, X_INOUT, (size_t)n, err);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    double nx = inst->scalar[NX].i32, ny = inst->scalar[NY].i32, nz = inst->scalar[NZ].i32;
    /* The pattern follows from the edges: only the numbers must travel. */
    w->bytes_in = 8.0 * ((double)inst->array[VALUES].count + 2.0 * inst->scalar[N].i32);
    /* Two smoothings whose backward sweeps need half the matrix, and an eighth of a product with
     * it; coarser grids have constant coefficients and add up neighbours only. */
    w->operations = 6.3 * (double)inst->array[VALUES].count;
    w->steps = 0;
    for (int level = 0; level <= inst->scalar[COARSE_LEVELS].i32; level++) {
        const int sweeps = level == inst->scalar[COARSE_LEVELS].i32 ? 2 : 4;
        w->operations += level > 0 ? 12 * sweeps * nx * ny * nz : 0;
        w->steps += sweeps * (ny + 2 * (nz - 1)); /* fronts of lines */
        nx = floor(nx / 2);
        ny = floor(ny / 2);
        nz = floor(nz / 2);
    }
}

const struct ae_task ae_task_hpcg_mg_vcycle = {
    .id = "hpcg_mg_vcycle",
    .title = "Multigrid V-cycle on the 27-point grid of HPCG",
    .domain = AE_HPC,
    .lineage = "HPCG (Dongarra, Heroux, Luszczek): reference multigrid preconditioner",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"edge", "coarse_levels"},
    .sizes = {[AE_SMALL] = {{32, 3}}, [AE_MEDIUM] = {{72, 3}}, [AE_LARGE] = {{96, 3}}},
    .families = {{"grid", "three different edges, four grids in all", AE_ALL_SIZES},
                 {"odd",
                  "edges that are odd on the first, second or third grid: points without a partner",
                  AE_AT(AE_SMALL)},
                 {"shallow", "no, one or two coarser grids", AE_AT(AE_SMALL)},
                 {"narrow", "a coarsest grid one point wide", AE_AT(AE_SMALL)},
                 {"tiny", "edges of 1 to 3 points", AE_AT(AE_SMALL)}},
    .published_atol = 1e-9,
    .published_rtol = 1e-9,
    .published_note =
        "published matrices hold 26 and -1 only, the guess is 0 and so is nearly all of b",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
