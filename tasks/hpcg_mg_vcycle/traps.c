#include "task/traps.h"
#include "common/grid27.h"

#include <stdlib.h>
#include <string.h>

enum { NX, NY, NZ, COARSE_LEVELS, N, ROW_PTR, COL_IDX, VALUES, DIAG_IDX, RHS, X_INOUT };

enum fault {
    NO_COARSE_GRID,
    ONE_LEVEL_FEWER,
    EIGHT_COLORS,
    INHERITED_MATRIX,
    ZERO_GUESS,
    NO_POST_SMOOTHING,
    COARSEST_TWICE,
    STALE_COARSE_GUESS,
    CONSTANT_MATRIX,
    FLOAT_MATRIX,
};

struct level {
    struct ae_grid27 grid;
    int32_t n, *row_ptr, *col_idx, *diag_idx;
    double *values, *rhs, *x;
};

static void *take(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p)
        abort();
    return p;
}

static struct level level_make(struct ae_grid27 grid)
{
    struct level l = {.grid = grid, .n = (int32_t)ae_grid27_rows(grid)};
    const size_t n = (size_t)l.n, entries = ae_grid27_entries(grid);
    l.row_ptr = take(n + 1, sizeof(int32_t));
    l.diag_idx = take(n, sizeof(int32_t));
    l.col_idx = take(entries, sizeof(int32_t));
    l.values = take(entries, sizeof(double));
    l.rhs = take(n, sizeof(double));
    l.x = take(n, sizeof(double));
    ae_grid27_pattern(grid, l.row_ptr, l.col_idx, l.diag_idx);
    for (int32_t i = 0; i < l.n; i++)
        for (int32_t p = l.row_ptr[i]; p < l.row_ptr[i + 1]; p++)
            l.values[p] = p == l.diag_idx[i] ? 26 : -1;
    return l;
}

static void level_free(struct level *l)
{
    free(l->row_ptr);
    free(l->diag_idx);
    free(l->col_idx);
    free(l->values);
    free(l->rhs);
    free(l->x);
}

static double residual(const struct level *l, int32_t i)
{
    double sum = l->rhs[i];
    for (int32_t p = l->row_ptr[i]; p < l->row_ptr[i + 1]; p++)
        sum -= l->values[p] * l->x[l->col_idx[p]];
    return sum;
}

static void smooth(const struct level *l, enum fault fault)
{
    const int32_t nx = l->grid.nx, plane = nx * l->grid.ny, colors = fault == EIGHT_COLORS ? 8 : 1;
    for (int32_t sweep = 0; sweep < 2; sweep++)
        for (int32_t color = 0; color < colors; color++)
            for (int32_t k = 0; k < l->n; k++) {
                const int32_t i = sweep == 0 ? k : l->n - 1 - k;
                const int32_t mine = i % nx % 2 + i % plane / nx % 2 * 2 + i / plane % 2 * 4;
                if (colors == 1 || mine == (sweep == 0 ? color : 7 - color))
                    l->x[i] += residual(l, i) / l->values[l->diag_idx[i]];
            }
}

static int32_t fine_row(const struct level *fine, const struct level *coarse, int32_t c)
{
    const int32_t cx = coarse->grid.nx, cy = coarse->grid.ny;
    const int32_t x = c % cx, y = c / cx % cy, z = c / cx / cy;
    return (2 * z * fine->grid.ny + 2 * y) * fine->grid.nx + 2 * x;
}

/* Each coarse entry = the fine one in the same direction. */
static void inherit(const struct level *fine, struct level *coarse)
{
    const int32_t cx = coarse->grid.nx, cy = coarse->grid.ny, fx = fine->grid.nx,
                  fy = fine->grid.ny;
    for (int32_t c = 0; c < coarse->n; c++) {
        const int32_t f = fine_row(fine, coarse, c);
        for (int32_t p = coarse->row_ptr[c]; p < coarse->row_ptr[c + 1]; p++) {
            const int32_t j = coarse->col_idx[p];
            const int32_t dx = j % cx - c % cx, dy = j / cx % cy - c / cx % cy,
                          dz = j / cx / cy - c / cx / cy;
            const int32_t column = f + (dz * fy + dy) * fx + dx;
            for (int32_t q = fine->row_ptr[f]; q < fine->row_ptr[f + 1]; q++)
                if (fine->col_idx[q] == column)
                    coarse->values[p] = fine->values[q];
        }
    }
}

static void cycle(struct level *fine, int coarser, enum fault fault)
{
    smooth(fine, fault);
    if (coarser == 0) {
        if (fault == COARSEST_TWICE)
            smooth(fine, fault);
        return;
    }
    if (fault != NO_COARSE_GRID) {
        struct level coarse =
            level_make((struct ae_grid27){fine->grid.nx / 2, fine->grid.ny / 2, fine->grid.nz / 2});
        if (fault == INHERITED_MATRIX)
            inherit(fine, &coarse);
        for (int32_t c = 0; c < coarse.n; c++) {
            coarse.rhs[c] = residual(fine, fine_row(fine, &coarse, c));
            coarse.x[c] = fault == STALE_COARSE_GUESS ? fine->x[fine_row(fine, &coarse, c)] : 0;
        }
        cycle(&coarse, coarser - 1, fault);
        for (int32_t c = 0; c < coarse.n; c++)
            fine->x[fine_row(fine, &coarse, c)] += coarse.x[c];
        level_free(&coarse);
    }
    if (fault != NO_POST_SMOOTHING)
        smooth(fine, fault);
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    struct level finest = level_make(
        (struct ae_grid27){inst->scalar[NX].i32, inst->scalar[NY].i32, inst->scalar[NZ].i32});
    const size_t n = (size_t)finest.n;
    int levels = inst->scalar[COARSE_LEVELS].i32;
    if (fault != CONSTANT_MATRIX)
        memcpy(finest.values, inst->array[VALUES].data, inst->array[VALUES].count * sizeof(double));
    for (size_t p = 0; fault == FLOAT_MATRIX && p < inst->array[VALUES].count; p++)
        finest.values[p] = (double)(float)finest.values[p];
    memcpy(finest.rhs, inst->array[RHS].data, n * sizeof(double));
    if (fault != ZERO_GUESS)
        memcpy(finest.x, inst->array[X_INOUT].data, n * sizeof(double));
    cycle(&finest, fault == ONE_LEVEL_FEWER ? levels - 1 : levels, fault);
    memcpy(answer->out[X_INOUT].data, finest.x, n * sizeof(double));
    level_free(&finest);
    return true;
}

#define TRAP(name, fault)                                                                          \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return inst->scalar[COARSE_LEVELS].i32 > 0 && solve_with(fault, inst, answer);             \
    }

TRAP(no_coarse_grid, NO_COARSE_GRID)
TRAP(one_level_fewer, ONE_LEVEL_FEWER)
TRAP(eight_colors, EIGHT_COLORS)
TRAP(inherited_matrix, INHERITED_MATRIX)
TRAP(zero_guess, ZERO_GUESS)
TRAP(no_post_smoothing, NO_POST_SMOOTHING)
TRAP(coarsest_twice, COARSEST_TWICE)
TRAP(stale_coarse_guess, STALE_COARSE_GUESS)
TRAP(constant_matrix, CONSTANT_MATRIX)
TRAP(float_matrix, FLOAT_MATRIX)

AE_TRAPS(hpcg_mg_vcycle) = {
    {"smooths twice without any coarser grid", "grid", no_coarse_grid},
    {"leaves out the coarsest grid", "grid", one_level_fewer},
    {"smooths by eight colours", "grid", eight_colors},
    {"lets coarse matrices inherit the fine entries", "grid", inherited_matrix},
    {"supposes a guess of 0", "grid", zero_guess},
    {"does not smooth after the correction", "grid", no_post_smoothing},
    {"smooths the coarsest grid twice", "grid", coarsest_twice},
    {"does not start coarse grids from 0", "grid", stale_coarse_guess},
    {"takes the finest matrix for 26 and -1", "grid", constant_matrix},
    {"keeps the matrix in float", "grid", float_matrix},
    {0},
};
