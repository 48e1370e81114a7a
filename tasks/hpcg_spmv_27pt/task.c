#include "common/grid27.h"

#include <math.h>
#include <stdlib.h>

enum { P_EDGE };

enum { N, ROW_PTR, COL_IDX, VALUES, X, Y_OUT, ARG_COUNT };

enum { GRID, PERTURBED, IRREGULAR, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of rows and of columns"},
    [ROW_PTR] = {"row_ptr", AE_I32, AE_IN, "n+1", .meaning = "where each row's entries start"},
    [COL_IDX] = {"col_idx", AE_I32, AE_IN, "row_ptr[n]", .meaning = "column of each entry"},
    [VALUES] = {"values", AE_F64, AE_IN, "row_ptr[n]", .meaning = "matrix entries"},
    [X] = {"x", AE_F64, AE_IN, "n", .meaning = "vector to multiply with"},
    [Y_OUT] =
        {"y_out", AE_F64, AE_OUT, "n", .meaning = "the product A x",
         .rule = {AE_SCALED,
                  .reason =
                      "1e-13 * sum |a_ij x_j| of the row: thirty times the rounding bound of a "
                      "27-term sum in any order, and far below what float arithmetic or a wrong "
                      "column makes; the added 1e-300 lets rows without entries be 0"}},
};

/* Row lengths 0..60, random columns: nothing of the grid is left. */
static int irregular(struct ae_instance *inst, struct ae_rng *rng, int32_t n, struct ae_error *err)
{
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, (size_t)n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, (size_t)n * 60, err);
    if (!row_ptr || !col_idx)
        return AE_E_NOMEM;
    int32_t p = 0;
    row_ptr[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t start = p;
        for (int32_t draws = (int32_t)ae_rng_below(rng, 61); draws > 0; draws--) {
            const int32_t column = (int32_t)ae_rng_below(rng, (uint32_t)n);
            int32_t q = p;
            while (q > start && col_idx[q - 1] > column)
                q--;
            if (q > start && col_idx[q - 1] == column)
                continue;
            for (int32_t k = p; k > q; k--)
                col_idx[k] = col_idx[k - 1];
            col_idx[q] = column;
            p++;
        }
        row_ptr[i + 1] = p;
    }
    ae_shrink_array(inst, COL_IDX, (size_t)p);
    double *values = ae_new_array(inst, VALUES, (size_t)p, err);
    if (!values)
        return AE_E_NOMEM;
    ae_rng_fill_f64(rng, values, (size_t)p, -1.5, 1.5);
    return AE_OK;
}

/* In about `count` interior rows one column moves into the gap behind it: lengths and order stay as
 * they were. */
static void perturb(struct ae_rng *rng, int32_t n, int count, const int32_t *row_ptr,
                    int32_t *col_idx)
{
    for (int k = 0; k < count; k++) {
        const int32_t row = (int32_t)ae_rng_below(rng, (uint32_t)n);
        if (row_ptr[row + 1] - row_ptr[row] != 27)
            continue;
        const int32_t p = row_ptr[row] + 2 + 3 * (int32_t)ae_rng_below(rng, 8);
        const int32_t gap = col_idx[p + 1] - col_idx[p] - 1;
        if (gap > 0)
            col_idx[p] += 1 + (int32_t)ae_rng_below(rng, (uint32_t)gap);
    }
}

/* Random entries and a random x, so that every byte of the matrix matters: with constant entries
 * and x = 1 the row lengths alone would give the answer. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    struct ae_grid27 grid = ae_grid27_draw(rng, inst->param[P_EDGE]);
    if (inst->family == TINY)
        grid =
            (struct ae_grid27){(int32_t)ae_rng_range(rng, 1, 4), (int32_t)ae_rng_range(rng, 1, 3),
                               (int32_t)ae_rng_range(rng, 1, 2)};
    const size_t n = ae_grid27_rows(grid);
    ae_set_i32(inst, N, (int64_t)n);
    double *x = ae_new_array(inst, X, n, err);
    if (!x)
        return AE_E_NOMEM;
    ae_rng_fill_f64(rng, x, n, -1, 1);
    if (inst->family == IRREGULAR)
        return irregular(inst, rng, (int32_t)n, err);
    const size_t entries = ae_grid27_entries(grid);
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, entries, err);
    double *values = ae_new_array(inst, VALUES, entries, err);
    if (!row_ptr || !col_idx || !values)
        return AE_E_NOMEM;
    ae_grid27_pattern(grid, row_ptr, col_idx, NULL);
    for (size_t i = 0; i < n; i++) {
        const int32_t first = row_ptr[i], length = row_ptr[i + 1] - first;
        int32_t diagonal = first;
        double sum = 0;
        ae_rng_fill_f64(rng, values + first, (size_t)length, 0.5, 1.5);
        for (int32_t p = first; p < first + length; p++) {
            sum += values[p];
            values[p] = -values[p];
            if (col_idx[p] == (int32_t)i)
                diagonal = p;
        }
        values[diagonal] = sum + values[diagonal] + ae_rng_uniform(rng, 0.5, 2);
    }
    if (inst->family == PERTURBED)
        perturb(rng, (int32_t)n, 400, row_ptr, col_idx);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, Y_OUT, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int rc = ae_csr_validate(inst, N, ROW_PTR, COL_IDX, VALUES, 0, err);
    return rc != AE_OK ? rc : ae_vector_validate(inst, X, (size_t)inst->scalar[N].i32, err);
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)expected;
    (void)arg;
    const int32_t *row_ptr = ae_in_i32(inst, ROW_PTR) + first, *col_idx = ae_in_i32(inst, COL_IDX);
    const double *values = ae_in_f64(inst, VALUES), *x = ae_in_f64(inst, X);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
            sum += fabs(values[p] * x[col_idx[p]]);
        tol[i] += 1e-13 * sum + 1e-300;
    }
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 2.0 * (double)inst->array[VALUES].count;
    w->operations = w->operations > 0 ? w->operations : 1;
    w->steps = 1;
}

const struct ae_task ae_task_hpcg_spmv_27pt = {
    .id = "hpcg_spmv_27pt",
    .title = "Sparse matrix-vector product on the 27-point grid of HPCG",
    .domain = AE_HPC,
    .lineage = "HPCG (Dongarra, Heroux, Luszczek): problem generator and reference SpMV",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"edge"},
    .sizes = {[AE_SMALL] = {{32}},
              [AE_MEDIUM] = {{72}},
              [AE_LARGE] = {{128},
                            true,
                            "the published large grid is smaller than the medium one"}},
    .families = {{"grid", "27-point grids of three different edges, every entry random",
                  AE_ALL_SIZES},
                 {"perturbed",
                  "a few hundred rows have one column off the grid: catches programs that "
                  "suppose the pattern without looking",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"irregular",
                  "0 to 60 entries a row at random columns: catches programs for grids only",
                  AE_AT(AE_SMALL)},
                 {"tiny", "1 to 24 rows, edges down to one point", AE_AT(AE_SMALL)}},
    .published_atol = 1e-9,
    .published_rtol = 1e-9,
    .published_note =
        "published matrices hold 26 and -1 only and x is 1: the answer is 27 less the row length",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
};
