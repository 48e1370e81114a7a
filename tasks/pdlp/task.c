#include "task/task.h"

#include "base/fmath.h"
#include "task/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_VARS, P_ROWS, P_ITERS };

enum {
    NUM_VARS,
    NUM_CONSTRAINTS,
    NNZ,
    NUM_ITERS,
    OBJ,
    VAR_LB,
    VAR_UB,
    CON_LB,
    CON_UB,
    COL_PTRS,
    ROW_INDICES,
    VALUES,
    STEP_SIZE,
    PRIMAL_WEIGHT,
    PRIMAL_OUT,
    ARG_COUNT
};

enum { MIXED, PLAIN, DENSE_LINES, MOSTLY_EMPTY, FIXED, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [NUM_VARS] = {"num_vars", AE_I32, AE_SCALAR, .meaning = "variables n"},
    [NUM_CONSTRAINTS] = {"num_constraints", AE_I32, AE_SCALAR, .meaning = "rows m"},
    [NNZ] = {"nnz", AE_I32, AE_SCALAR, .meaning = "entries of the matrix"},
    [NUM_ITERS] = {"num_iters", AE_I32, AE_SCALAR, .meaning = "iterations to make"},
    [OBJ] = {"obj", AE_F32, AE_IN, "num_vars", .meaning = "objective"},
    [VAR_LB] = {"var_lb", AE_F32, AE_IN, "num_vars",
                .meaning = "lower bounds of the variables, may be -inf"},
    [VAR_UB] = {"var_ub", AE_F32, AE_IN, "num_vars",
                .meaning = "upper bounds of the variables, may be +inf"},
    [CON_LB] = {"con_lb", AE_F32, AE_IN, "num_constraints",
                .meaning = "lower ends of the rows, may be -inf"},
    [CON_UB] = {"con_ub", AE_F32, AE_IN, "num_constraints",
                .meaning = "upper ends of the rows, may be +inf"},
    [COL_PTRS] = {"col_ptrs", AE_I32, AE_IN, "num_vars+1", .meaning = "first entry of each column"},
    [ROW_INDICES] = {"row_indices", AE_I32, AE_IN, "nnz",
                     .meaning = "row of each entry, ascending in a column"},
    [VALUES] = {"values", AE_F32, AE_IN, "nnz", .meaning = "value of each entry"},
    [STEP_SIZE] = {"step_size", AE_F32, AE_SCALAR, .meaning = "step size eta, about 1 / norm(A)"},
    [PRIMAL_WEIGHT] = {"primal_weight", AE_F32, AE_SCALAR, .meaning = "primal weight w"},
    [PRIMAL_OUT] =
        {"primal_out", AE_F32, AE_OUT, "num_vars", .meaning = "average of the primal iterates",
         .rule = {AE_SCALED,
                  .reason =
                      "2e-4*max(1, X/2) with X the largest |value|: rounding along the trajectory "
                      "makes float and double differ by up to a quarter of it; 50 iterations less, "
                      "the last iterate or an ignored weight are far outside"}},
};

struct lp {
    int64_t n, m, nnz;
    int32_t *col_ptrs, *rows;
    float *values;
};

static bool contains(const int32_t *values, int64_t count, int32_t value)
{
    for (int64_t i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

static void sort_rows(int32_t *rows, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        for (int64_t k = i; k > 0 && rows[k - 1] > rows[k]; k--) {
            const int32_t kept = rows[k];
            rows[k] = rows[k - 1];
            rows[k - 1] = kept;
        }
}

/* Entries a column: none in 1 % of them, else 1 to 12 with mean about 4, adjusted until they sum to
 * nnz. */
static void draw_counts(const struct ae_instance *inst, struct ae_rng *rng, const struct lp *lp,
                        int32_t *counts)
{
    const int32_t most = lp->m < 12 ? (int32_t)lp->m : 12;
    int64_t sum = 0;
    for (int64_t j = 0; j < lp->n; j++) {
        counts[j] = inst->family == PLAIN      ? (most < 4 ? most : 4)
                    : ae_rng_chance(rng, 0.01) ? 0
                                               : 1;
        while (inst->family != PLAIN && counts[j] > 0 && counts[j] < most &&
               ae_rng_chance(rng, 0.755))
            counts[j]++;
        if (inst->family == MOSTLY_EMPTY && ae_rng_chance(rng, 0.9))
            counts[j] = 0;
        sum += counts[j];
    }
    while (inst->family != PLAIN && inst->family != MOSTLY_EMPTY && inst->family != TINY &&
           sum != lp->nnz) {
        const int64_t j = (int64_t)ae_rng_below64(rng, (uint64_t)lp->n);
        if (sum < lp->nnz && counts[j] > 0 && counts[j] < most) {
            counts[j]++;
            sum++;
        } else if (sum > lp->nnz && counts[j] > 1) {
            counts[j]--;
            sum--;
        }
    }
}

/* A few heavy rows, as real programs have them: a thread a row then waits for one. */
static int32_t draw_row(const struct ae_instance *inst, struct ae_rng *rng, const struct lp *lp)
{
    if (inst->family == MIXED && ae_rng_chance(rng, 0.02)) {
        const int64_t heavy = 1 + lp->nnz / 50000;
        return (int32_t)(ae_rng_range(rng, 0, heavy - 1) * lp->m / heavy);
    }
    if (inst->family == MOSTLY_EMPTY)
        return (int32_t)(ae_rng_range(rng, 0, (lp->m - 1) / 8) * 8);
    return (int32_t)ae_rng_below(rng, (uint32_t)lp->m);
}

static int draw_matrix(struct ae_instance *inst, struct ae_rng *rng, struct lp *lp,
                       struct ae_error *err)
{
    const bool dense = inst->family == DENSE_LINES;
    int32_t *counts = malloc((size_t)lp->n * sizeof *counts),
            *in_row = calloc((size_t)lp->m, sizeof *in_row);
    if (!counts || !in_row) {
        free(counts);
        free(in_row);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %lld columns", (long long)lp->n);
    }
    draw_counts(inst, rng, lp, counts);
    /* The dense lines: row m/2 meets every column, column n/2 every row. */
    int64_t capacity = dense ? lp->n + lp->m : 0;
    for (int64_t j = 0; j < lp->n; j++)
        capacity += counts[j];
    lp->col_ptrs = ae_new_array(inst, COL_PTRS, (size_t)lp->n + 1, err);
    lp->rows = ae_new_array(inst, ROW_INDICES, (size_t)capacity, err);
    lp->values = ae_new_array(inst, VALUES, (size_t)capacity, err);
    if (!lp->col_ptrs || !lp->rows || !lp->values) {
        free(counts);
        free(in_row);
        return AE_E_NOMEM;
    }
    int64_t at = 0;
    for (int64_t j = 0; j < lp->n; j++) {
        const int64_t first = at;
        lp->col_ptrs[j] = (int32_t)at;
        if (dense && j == lp->n / 2) {
            for (int32_t i = 0; i < lp->m; i++)
                lp->rows[at++] = i;
        } else {
            if (dense)
                lp->rows[at++] = (int32_t)(lp->m / 2);
            for (int32_t k = 0; k < counts[j]; k++) {
                int32_t row = draw_row(inst, rng, lp);
                while (contains(lp->rows + first, at - first,
                                row)) /* more rows than any column has entries */
                    row = (int32_t)ae_rng_below(rng, (uint32_t)lp->m);
                lp->rows[at++] = row;
                if (dense && at - first == lp->m)
                    break;
            }
            sort_rows(lp->rows + first, at - first);
        }
        for (int64_t e = first; e < at; e++)
            in_row[lp->rows[e]]++;
    }
    lp->col_ptrs[lp->n] = (int32_t)at;
    lp->nnz = at;
    ae_shrink_array(inst, ROW_INDICES, (size_t)at);
    ae_shrink_array(inst, VALUES, (size_t)at);
    const double mean = (double)at / (double)lp->m;
    for (int64_t e = 0; e < at; e++)
        lp->values[e] = (float)(ae_rng_normal(rng) * (in_row[lp->rows[e]] > 4 * mean ? 0.25 : 1));
    free(counts);
    free(in_row);
    return AE_OK;
}

/* The box of variable j around a feasible value x, so that every kind of bound binds somewhere. */
static void draw_box(const struct ae_instance *inst, struct ae_rng *rng, bool empty, double c,
                     double x, float *low, float *high)
{
    const double kind = ae_rng_unit(rng);
    *low = 0;
    *high = 2;
    if (inst->family == PLAIN || (empty && inst->family != FIXED))
        return;
    if (inst->family == FIXED) { /* zero, where the iteration starts, is outside of most boxes */
        *low = (float)(kind < 0.4 ? x : 0.3 * x);
        *high = (float)(kind < 0.4 ? x : x + 0.2);
    } else if (kind < 0.5) {
        *high = (float)(x + ae_rng_uniform(rng, 0, 0.5));
    } else if (kind < 0.7) {
        *low = (float)(x - ae_rng_unit(rng));
        *high = (float)(x + ae_rng_unit(rng));
    } else if (kind < 0.85) { /* open on the side from which the objective pulls away */
        *low = c > 0 ? 0 : -INFINITY;
        *high = c > 0 ? INFINITY : 2;
    } else if (kind < 0.9) {
        *low = *high = (float)x;
    }
}

static void draw_range(const struct ae_instance *inst, struct ae_rng *rng, double activity,
                       float *low, float *high)
{
    const uint32_t kind = ae_rng_below(rng, 3);
    if (inst->family == PLAIN) {
        *low = (float)(activity - 0.5);
        *high = (float)(activity + 0.5);
    } else if (kind == 0 || inst->family == FIXED) {
        *low = *high = (float)activity;
    } else if (kind == 1) {
        const double slack = ae_rng_uniform(rng, 0, 0.5);
        const bool upper = ae_rng_chance(rng, 0.5);
        *low = upper ? -INFINITY : (float)(activity - slack);
        *high = upper ? (float)(activity + slack) : INFINITY;
    } else {
        *low = (float)(activity - ae_rng_unit(rng));
        *high = (float)(activity + ae_rng_unit(rng));
    }
}

static void multiply(const struct lp *lp, const double *x, double *rows)
{
    for (int64_t i = 0; i < lp->m; i++)
        rows[i] = 0;
    for (int64_t j = 0; j < lp->n; j++)
        for (int32_t e = lp->col_ptrs[j]; e < lp->col_ptrs[j + 1]; e++)
            rows[lp->rows[e]] += (double)lp->values[e] * x[j];
}

/* The largest singular value of A by power steps on A'A. */
static double norm(const struct lp *lp, double *x, double *rows)
{
    double sigma = 0;
    for (int64_t j = 0; j < lp->n; j++)
        x[j] = 1 + 0.1 * (double)(j % 7); /* no eigenvector, and orthogonal to none */
    for (int step = 0; step < 200; step++) {
        multiply(lp, x, rows);
        double sum = 0;
        for (int64_t j = 0; j < lp->n; j++) {
            double g = 0;
            for (int32_t e = lp->col_ptrs[j]; e < lp->col_ptrs[j + 1]; e++)
                g += (double)lp->values[e] * rows[lp->rows[e]];
            x[j] = g;
            sum += g * g;
        }
        if (!(sum > 0)) /* no entries */
            return 1;
        const double length = ae_sqrt(sum);
        sigma = ae_sqrt(length);
        for (int64_t j = 0; j < lp->n; j++)
            x[j] /= length;
    }
    return sigma;
}

static int draw_bounds(struct ae_instance *inst, struct ae_rng *rng, const struct lp *lp, double *x,
                       double *rows, struct ae_error *err)
{
    float *obj = ae_new_array(inst, OBJ, (size_t)lp->n, err);
    float *var_lb = ae_new_array(inst, VAR_LB, (size_t)lp->n, err);
    float *var_ub = ae_new_array(inst, VAR_UB, (size_t)lp->n, err);
    float *con_lb = ae_new_array(inst, CON_LB, (size_t)lp->m, err);
    float *con_ub = ae_new_array(inst, CON_UB, (size_t)lp->m, err);
    if (!obj || !var_lb || !var_ub || !con_lb || !con_ub)
        return AE_E_NOMEM;
    for (int64_t j = 0; j < lp->n; j++) {
        x[j] = ae_rng_unit(rng);
        obj[j] = (float)(0.3 * ae_rng_normal(rng));
        draw_box(inst, rng, lp->col_ptrs[j] == lp->col_ptrs[j + 1], (double)obj[j], x[j],
                 &var_lb[j], &var_ub[j]);
    }
    multiply(lp, x, rows);
    for (int64_t i = 0; i < lp->m; i++)
        draw_range(inst, rng, rows[i], &con_lb[i], &con_ub[i]);
    ae_set_f32(inst, STEP_SIZE, 1 / norm(lp, x, rows));
    /* Away from 1, so that the primal and the dual step differ. */
    double weight = ae_rng_log_uniform(rng, 0.3, 3);
    while (weight > 0.85 && weight < 1.18)
        weight = ae_rng_log_uniform(rng, 0.3, 3);
    ae_set_f32(inst, PRIMAL_WEIGHT, weight);
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    struct lp lp = {.n = inst->param[P_VARS], .m = inst->param[P_ROWS]};
    int64_t iters = inst->param[P_ITERS];
    lp.n += ae_rng_range(rng, -lp.n / 64, lp.n / 64);
    lp.m += ae_rng_range(rng, -lp.m / 64, lp.m / 64);
    iters += ae_rng_range(rng, -iters / 20, iters / 20);
    if (inst->family == TINY) {
        lp.n = ae_rng_range(rng, 1, 4);
        lp.m = ae_rng_range(rng, 1, 3);
        iters = ae_rng_range(rng, 1, 50);
    }
    lp.nnz = 4 * lp.n;
    int rc = draw_matrix(inst, rng, &lp, err);
    if (rc != AE_OK)
        return rc;
    ae_set_i32(inst, NUM_VARS, lp.n);
    ae_set_i32(inst, NUM_CONSTRAINTS, lp.m);
    ae_set_i32(inst, NNZ, lp.nnz);
    ae_set_i32(inst, NUM_ITERS, iters);
    double *x = calloc((size_t)lp.n, sizeof *x), *rows = calloc((size_t)lp.m, sizeof *rows);
    rc = x && rows ? draw_bounds(inst, rng, &lp, x, rows, err)
                   : ae_error_set(err, AE_E_NOMEM, "no memory");
    free(x);
    free(rows);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, PRIMAL_OUT, (size_t)inst->scalar[NUM_VARS].i32);
}

static int validate_matrix(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[NUM_VARS].i32, m = inst->scalar[NUM_CONSTRAINTS].i32,
                  nnz = inst->scalar[NNZ].i32;
    const int32_t *ptrs = ae_in_i32(inst, COL_PTRS), *rows = ae_in_i32(inst, ROW_INDICES);
    if (ptrs[0] != 0 || ptrs[n] != nnz)
        return ae_error_set(err, AE_E_INPUT, "col_ptrs runs from %d to %d, not from 0 to %d",
                            ptrs[0], ptrs[n], nnz);
    for (int32_t j = 0; j < n; j++)
        if (ptrs[j + 1] < ptrs[j] || ptrs[j + 1] > nnz)
            return ae_error_set(err, AE_E_INPUT, "column %d ends at %d and starts at %d", j,
                                ptrs[j + 1], ptrs[j]);
    for (int32_t j = 0; j < n; j++)
        for (int32_t e = ptrs[j]; e < ptrs[j + 1]; e++) {
            if (rows[e] < 0 || rows[e] >= m || (e > ptrs[j] && rows[e] <= rows[e - 1]))
                return ae_error_set(err, AE_E_INPUT, "entry %d of column %d is in row %d", e, j,
                                    rows[e]);
            if (!isfinite(ae_in_f32(inst, VALUES)[e]))
                return ae_error_set(err, AE_E_INPUT, "entry %d is not finite", e);
        }
    return AE_OK;
}

/* low <= high, and at least one finite number between them. */
static bool legal_range(float low, float high)
{
    return low <= high && low < INFINITY && high > -INFINITY;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[NUM_VARS].i32, m = inst->scalar[NUM_CONSTRAINTS].i32,
                  nnz = inst->scalar[NNZ].i32;
    if (n < 1 || m < 1 || nnz < 0 || inst->scalar[NUM_ITERS].i32 < 0 || n == INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "%d variables, %d rows, %d entries, %d iterations", n,
                            m, nnz, inst->scalar[NUM_ITERS].i32);
    const size_t counts[ARG_COUNT] = {
        [OBJ] = (size_t)n,           [VAR_LB] = (size_t)n,  [VAR_UB] = (size_t)n,
        [CON_LB] = (size_t)m,        [CON_UB] = (size_t)m,  [COL_PTRS] = (size_t)n + 1,
        [ROW_INDICES] = (size_t)nnz, [VALUES] = (size_t)nnz};
    for (int arg = OBJ; arg <= VALUES; arg++)
        if (inst->array[arg].count != counts[arg])
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements, not %zu", args[arg].name,
                                inst->array[arg].count, counts[arg]);
    for (int32_t j = 0; j < n; j++)
        if (!isfinite(ae_in_f32(inst, OBJ)[j]) ||
            !legal_range(ae_in_f32(inst, VAR_LB)[j], ae_in_f32(inst, VAR_UB)[j]))
            return ae_error_set(err, AE_E_INPUT,
                                "variable %d has no finite objective or an empty box", j);
    for (int32_t i = 0; i < m; i++)
        if (!legal_range(ae_in_f32(inst, CON_LB)[i], ae_in_f32(inst, CON_UB)[i]))
            return ae_error_set(err, AE_E_INPUT, "row %d has an empty range", i);
    const float eta = inst->scalar[STEP_SIZE].f32, weight = inst->scalar[PRIMAL_WEIGHT].f32;
    if (!(eta > 0 && weight > 0 && isfinite(eta * weight) && isfinite(eta / weight)))
        return ae_error_set(err, AE_E_INPUT, "step size %g or primal weight %g", (double)eta,
                            (double)weight);
    return validate_matrix(inst, err);
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)inst;
    (void)first;
    const float *value = expected->out[arg].data;
    double largest = 2;
    for (size_t j = 0; j < expected->out[arg].count; j++)
        largest = fmax(largest, fabs((double)value[j]));
    for (size_t i = 0; i < count; i++)
        tol[i] += 2e-4 * largest / 2;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double n = inst->scalar[NUM_VARS].i32, m = inst->scalar[NUM_CONSTRAINTS].i32,
                 nnz = inst->scalar[NNZ].i32;
    w->operations = inst->scalar[NUM_ITERS].i32 * (4 * nnz + 11 * n + 8 * m) + n;
    w->steps = 2.0 * inst->scalar[NUM_ITERS].i32 + 1;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    for (int arg = NUM_VARS; arg <= NUM_ITERS; arg++) {
        int64_t value;
        const int rc = ae_published_param(published, args[arg].name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < INT32_MIN || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit",
                                args[arg].name, (long long)value);
        ae_set_i32(inst, arg, value);
    }
    for (int arg = OBJ; arg <= VALUES; arg++) {
        const int rc = ae_published_copy(published, args[arg].name, inst, arg, -1, err);
        if (rc != AE_OK)
            return rc;
    }
    for (int arg = STEP_SIZE; arg <= PRIMAL_WEIGHT; arg++) {
        const struct ae_published_tensor *tensor = ae_published_tensor(published, args[arg].name);
        if (!tensor || tensor->type != AE_F32 || tensor->count != 1)
            return ae_error_set(err, AE_E_INPUT, "input.bin has no float tensor %s of one element",
                                args[arg].name);
        memcpy(&inst->scalar[arg].f32, tensor->data, sizeof(float));
    }
    return AE_OK;
}

const struct ae_task ae_task_pdlp = {
    .id = "pdlp",
    .title = "Linear programming by primal-dual hybrid gradient steps",
    .domain = AE_OR,
    .lineage = "PDLP (Applegate et al. 2021), the constant-step path of OR-Tools' solver; "
               "Chambolle & Pock 2011",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"num_vars", "num_constraints", "num_iters"},
    .sizes = {[AE_SMALL] = {{500, 200, 500}},
              [AE_MEDIUM] = {{15000, 6000, 1500},
                             .note = "the published generator's; its prompt says 5000, 2000, 1000"},
              [AE_LARGE] = {{50000, 20000, 2000}}},
    .families =
        {{"mixed",
          "equalities, one-sided rows and ranges, every kind of box, uneven columns, heavy rows",
          AE_ALL_SIZES},
         {"plain", "four entries a column, boxes [0,2], rows of width 1, as published",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"dense_lines", "one row meets every column, one column every row",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"mostly_empty", "nine columns of ten and seven rows of eight have no entry",
          AE_AT(AE_SMALL)},
         {"fixed", "equalities only, two fifths of the variables fixed, zero outside of the boxes",
          AE_AT(AE_SMALL)},
         {"tiny", "one to four variables, one to three rows", AE_AT(AE_SMALL)}},
    .published_atol = 1e-3,
    .published_rtol = 1e-3,
    .published_note =
        "published programs have four entries a column, boxes [0,2], rows of width 1 and weight 1",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
    .import = import,
};
