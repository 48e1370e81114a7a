#include "task/task.h"

#include "base/fmath.h"

#include <stdlib.h>

enum { P_ROWS, P_COLS };

enum { ROWS, COLS, WALL, OUT_COSTS, ARG_COUNT };

enum { F_UNIFORM, F_WIDE, F_CHANNELS, F_THIN };

#define TWO_PI 6.283185307179586

static const struct ae_arg args[ARG_COUNT] = {
    [ROWS] = {"rows", AE_I32, AE_SCALAR, .meaning = "number of rows R"},
    [COLS] = {"cols", AE_I32, AE_SCALAR, .meaning = "number of columns C"},
    [WALL] = {"wall", AE_I32, AE_IN, "rows*cols, row-major",
              .meaning = "cost of stepping on a cell"},
    [OUT_COSTS] = {"out_costs", AE_I32, AE_OUT, "cols",
                   .meaning = "cost of the cheapest path that ends in each cell of the last row",
                   .rule = {AE_EXACT, .reason = "sums and minima of integers: one answer, whatever "
                                                "the order of evaluation"}},
};

/* A smooth hill country crossed by near-free diagonals: cheap paths travel far to the side and pass
 * every seam that a tiling may have. */
static int fill_channels(struct ae_rng *rng, int32_t *wall, size_t rows, size_t cols,
                         struct ae_error *err)
{
    const double phase_r = ae_rng_uniform(rng, 0, TWO_PI), phase_c = ae_rng_uniform(rng, 0, TWO_PI);
    const double waves_r = ae_rng_uniform(rng, 2, 6), waves_c = ae_rng_uniform(rng, 2, 6);
    double *profile = malloc(cols * sizeof *profile);
    if (!profile)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu columns", cols);
    for (size_t c = 0; c < cols; c++)
        profile[c] = ae_sin(phase_c + TWO_PI * waves_c * (double)c / (double)cols);
    for (size_t r = 0; r < rows; r++) {
        const double height = 10 * ae_sin(phase_r + TWO_PI * waves_r * (double)r / (double)rows);
        for (size_t c = 0; c < cols; c++)
            wall[r * cols + c] = (int32_t)(20 + height * profile[c] + 10 * ae_rng_unit(rng));
    }
    free(profile);
    const size_t channels = cols / 256 > 3 ? cols / 256 : 3;
    for (size_t k = 0; k < channels; k++) {
        int64_t c = ae_rng_range(rng, 0, (int64_t)cols - 1),
                step = ae_rng_chance(rng, 0.5) ? 1 : -1;
        for (size_t r = 0; r < rows; r++) {
            wall[r * cols + (size_t)c] = (int32_t)ae_rng_below(rng, 2);
            if (c + step < 0 || c + step >= (int64_t)cols)
                step = -step;
            if (c + step >= 0 && c + step < (int64_t)cols)
                c += step;
        }
    }
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t rows = inst->param[P_ROWS], cols = inst->param[P_COLS];
    if (inst->family == F_THIN) {
        /* One row, one column, or so narrow that every cell lies at a border. */
        const int64_t kind = ae_rng_range(rng, 0, 2);
        rows = kind == 0 ? 1 : ae_rng_range(rng, 500, 900);
        cols = kind == 0 ? ae_rng_range(rng, 500, 900) : kind == 1 ? 1 : ae_rng_range(rng, 2, 5);
    } else {
        /* Neither a multiple of any tile, at a near-constant number of cells. */
        const int64_t cells = rows * cols;
        do
            cols = inst->param[P_COLS] + ae_rng_range(rng, -31, 31);
        while (cols % 32 == 0);
        rows = (cells / cols) | 1;
    }
    ae_set_i32(inst, ROWS, rows);
    ae_set_i32(inst, COLS, cols);
    const size_t count = (size_t)rows * (size_t)cols;
    int32_t *wall = ae_new_array(inst, WALL, count, err);
    if (!wall)
        return AE_E_NOMEM;
    if (inst->family == F_CHANNELS)
        return fill_channels(rng, wall, (size_t)rows, (size_t)cols, err);
    if (inst->family == F_WIDE) {
        /* Above any 8-bit packing, and above any 16-bit sum; the sums still fit 31 bits. */
        const double most = ae_rng_log_uniform(rng, 300, (double)(INT32_MAX / rows));
        for (size_t i = 0; i < count; i++)
            wall[i] = (int32_t)ae_rng_below(rng, (uint32_t)most + 1);
        return AE_OK;
    }
    ae_rng_fill_i32(rng, wall, count, 0, 10);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, OUT_COSTS, (size_t)inst->scalar[COLS].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t rows = inst->scalar[ROWS].i32, cols = inst->scalar[COLS].i32;
    if (rows < 1 || cols < 1)
        return ae_error_set(err, AE_E_INPUT,
                            "the grid has %d rows and %d columns; at least one each", rows, cols);
    const size_t count = (size_t)rows * (size_t)cols;
    if (inst->array[WALL].count != count)
        return ae_error_set(err, AE_E_INPUT, "wall has %zu elements for %d rows of %d",
                            inst->array[WALL].count, rows, cols);
    const int32_t *wall = ae_in_i32(inst, WALL), most = INT32_MAX / rows;
    for (size_t i = 0; i < count; i++)
        if (wall[i] < 0 || wall[i] > most)
            return ae_error_set(err, AE_E_INPUT,
                                "cell %zu costs %d; 0 to %d keeps every sum in 31 bits", i, wall[i],
                                most);
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 3.0 * inst->scalar[ROWS].i32 * inst->scalar[COLS].i32; /* two minima, one sum */
    w->steps = inst->scalar[ROWS].i32;
}

const struct ae_task ae_task_pathfinder_grid_dp = {
    .id = "pathfinder_grid_dp",
    .title = "Cheapest top-to-bottom paths through a cost grid",
    .domain = AE_OR,
    .lineage = "Rodinia's PathFinder kernel",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"rows", "cols"},
    .sizes =
        {[AE_SMALL] = {{2048, 512}}, [AE_MEDIUM] = {{32768, 2048}}, [AE_LARGE] = {{65536, 4096}}},
    .families = {{"uniform", "independent costs 0 to 9", AE_ALL_SIZES},
                 {"wide", "costs up to what 31-bit sums allow: unchecked packing overflows",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"channels", "near-free diagonals that cross every seam of a tiling",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"thin", "one row, one column, or all cells near a border", AE_AT(AE_SMALL)}},
    .published_atol = 0,
    .published_rtol = 0,
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
