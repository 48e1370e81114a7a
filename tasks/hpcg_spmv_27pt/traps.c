#include "task/traps.h"

#include <string.h>

enum { N, ROW_PTR, COL_IDX, VALUES, X, Y_OUT };

/* The product with one thing done wrong. */
enum fault { ONES_FOR_X, CONSTANT_VALUES, FLOAT_VALUES, GRID_COLUMNS, ROW_LENGTHS };

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int32_t n = inst->scalar[N].i32;
    const int32_t *row_ptr = ae_in_i32(inst, ROW_PTR), *col_idx = ae_in_i32(inst, COL_IDX);
    const double *values = ae_in_f64(inst, VALUES), *x = ae_in_f64(inst, X);
    double *y = answer->out[Y_OUT].data;
    /* A corner row tells the edges of a grid. */
    if (fault == GRID_COLUMNS && (row_ptr[1] != 8 || col_idx[1] != 1))
        return false;
    const int32_t nx = fault == GRID_COLUMNS ? col_idx[2] : 1,
                  plane = fault == GRID_COLUMNS ? col_idx[4] : 1;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
            const bool interior = row_ptr[i + 1] - row_ptr[i] == 27;
            const int32_t k = p - row_ptr[i];
            int32_t column = col_idx[p];
            if (fault == GRID_COLUMNS && interior)
                column = i + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * nx + k % 3 - 1;
            double value = values[p];
            if (fault == CONSTANT_VALUES)
                value = column == i ? 26 : -1;
            if (fault == FLOAT_VALUES)
                value = (double)(float)value;
            sum += value * (fault == ONES_FOR_X ? 1 : x[column]);
        }
        y[i] = fault == ROW_LENGTHS ? 27 - (row_ptr[i + 1] - row_ptr[i]) : sum;
    }
    return true;
}

static bool ones(const struct ae_instance *inst, const struct ae_expected *right,
                 struct ae_expected *answer)
{
    (void)right;
    return solve_with(ONES_FOR_X, inst, answer);
}

static bool constants(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    return solve_with(CONSTANT_VALUES, inst, answer);
}

static bool floats(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    (void)right;
    return solve_with(FLOAT_VALUES, inst, answer);
}

static bool grid(const struct ae_instance *inst, const struct ae_expected *right,
                 struct ae_expected *answer)
{
    (void)right;
    return solve_with(GRID_COLUMNS, inst, answer);
}

static bool lengths(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    return solve_with(ROW_LENGTHS, inst, answer);
}

/* The pattern is symmetric, the values are not. */
static bool transposed(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    const int32_t n = inst->scalar[N].i32;
    const int32_t *row_ptr = ae_in_i32(inst, ROW_PTR), *col_idx = ae_in_i32(inst, COL_IDX);
    double *y = answer->out[Y_OUT].data;
    for (int32_t i = 0; i < n; i++)
        y[i] = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
            y[col_idx[p]] += ae_in_f64(inst, VALUES)[p] * ae_in_f64(inst, X)[i];
    return n > 1;
}

AE_TRAPS(hpcg_spmv_27pt) = {
    {"reads the row lengths only", "grid", lengths},
    {"takes x for ones", "grid", ones},
    {"takes the matrix for 26 and -1", "grid", constants},
    {"keeps the matrix in float", "grid", floats},
    {"multiplies with the transpose", "grid", transposed},
    {"supposes the columns of a grid without looking", "perturbed", grid},
    {0},
};
