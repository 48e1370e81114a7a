#include "task/task.h"

#include <math.h>

enum { P_ROWS, P_COLS, P_ITERS };

enum { ROWS, COLS, ITERS, TEMP0, POWER, OUT_TEMP, ARG_COUNT };

enum { F_WIDE, F_SQUARE, F_TALL, F_HOT, F_THIN };

/* The scheme stays monotone while k*X + k*Y <= 1/4, which is this bound on rows^2 + cols^2 (see the
 * statement). */
#define SQUARES_MAX 1.9e9
#define TEMP_MAX    1e6
#define POWER_MAX   1e9
#define RISE        50.0 /* degrees that the mean power adds over the whole run */

static const struct ae_arg args[ARG_COUNT] = {
    [ROWS] = {"rows", AE_I32, AE_SCALAR, .meaning = "rows of the grid"},
    [COLS] = {"cols", AE_I32, AE_SCALAR, .meaning = "columns of the grid"},
    [ITERS] = {"iters", AE_I32, AE_SCALAR, .meaning = "time steps"},
    [TEMP0] = {"temp0", AE_F32, AE_IN, "rows*cols row-major", "degrees",
               "temperature at the start"},
    [POWER] = {"power", AE_F32, AE_IN, "rows*cols row-major", "W", "power released in each cell"},
    [OUT_TEMP] =
        {"out_temp", AE_F32, AE_OUT, "rows*cols row-major", "degrees",
         "temperature after all steps",
         .rule =
             {AE_CLOSE, .rtol = 1e-5,
              .reason =
                  "temperatures are positive throughout; float steps against double ones use up "
                  "to a third of it; leaving out a direction or stopping a series expansion "
                  "early fails nearly every cell"}},
};

/* Degrees a step and watt: the step over the capacity of one cell, as in the statement. */
static double degrees_per_watt(int64_t rows, int64_t cols)
{
    const double thickness = 0.0005, side = 0.016, heat = 1.75e6, factor = 0.5;
    const double capacity =
        factor * heat * thickness * (side / (double)rows) * (side / (double)cols);
    const double slope = 3e6 / (factor * thickness * heat);
    return 0.001 / slope / 1000 / capacity;
}

/* White noise and a few hot rectangles, scaled so that the mean power heats by RISE: the noise is
 * what shortcuts lose first, and the heating must not drown it. */
static void fill_power(struct ae_rng *rng, float *power, int64_t rows, int64_t cols, int64_t iters)
{
    const size_t count = (size_t)(rows * cols);
    ae_rng_fill_f32(rng, power, count, 0, 1);
    for (int block = 0; block < 12; block++) {
        const int64_t height = ae_rng_range(rng, rows / 16 + 1, rows / 4 + 1);
        const int64_t width = ae_rng_range(rng, cols / 64 + 1, cols / 8 + 1);
        const int64_t top = ae_rng_range(rng, 0, rows - height),
                      start = ae_rng_range(rng, 0, cols - width);
        for (int64_t r = top; r < top + height; r++)
            for (int64_t c = start; c < start + width; c++)
                power[r * cols + c] += 4;
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)power[i];
    const double scale =
        RISE * (double)count / (sum * (double)iters * degrees_per_watt(rows, cols));
    /* A few cells and a step or two would need more than is allowed. */
    for (size_t i = 0; i < count; i++)
        power[i] = (float)fmin(scale * (double)power[i], POWER_MAX);
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    /* Neither side a multiple of 32, the product near its nominal value. */
    const int sign = ae_rng_chance(rng, 0.5) ? 1 : -1;
    int64_t rows = inst->param[P_ROWS] + sign * ae_rng_range(rng, 1, 7);
    int64_t cols = inst->param[P_ROWS] * inst->param[P_COLS] / rows;
    int64_t iters = inst->param[P_ITERS];
    cols += cols % 32 == 0;
    if (inst->family == F_TALL) {
        const int64_t kept = rows;
        rows = cols;
        cols = kept;
    } else if (inst->family == F_SQUARE || inst->family == F_HOT) {
        static const int64_t side[] = {250, 760, 1500};
        rows = side[inst->size] + ae_rng_range(rng, -7, 5);
        cols = side[inst->size] + ae_rng_range(rng, 7, 21);
        iters = ae_rng_range(rng, 47, 53);
    } else if (inst->family == F_THIN) {
        rows = ae_rng_range(rng, 2, 4);
        cols = ae_rng_chance(rng, 0.5) ? ae_rng_range(rng, 2, 40) : ae_rng_range(rng, 10000, 30000);
        iters = ae_rng_range(rng, 1, 60);
        if (ae_rng_chance(rng, 0.5)) {
            const int64_t kept = rows;
            rows = cols;
            cols = kept;
        }
    }
    ae_set_i32(inst, ROWS, rows);
    ae_set_i32(inst, COLS, cols);
    ae_set_i32(inst, ITERS, iters);
    const size_t count = (size_t)(rows * cols);
    float *temp0 = ae_new_array(inst, TEMP0, count, err),
          *power = ae_new_array(inst, POWER, count, err);
    if (!temp0 || !power)
        return AE_E_NOMEM;
    ae_rng_fill_f32(rng, temp0, count, 50, 90);
    if (inst->family == F_HOT)
        ae_rng_fill_f32(rng, power, count, 0, 2e6f);
    else
        fill_power(rng, power, rows, cols, iters);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, OUT_TEMP, (size_t)inst->scalar[ROWS].i32 * (size_t)inst->scalar[COLS].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t rows = inst->scalar[ROWS].i32, cols = inst->scalar[COLS].i32,
                  iters = inst->scalar[ITERS].i32;
    if (rows < 2 || cols < 2)
        return ae_error_set(err, AE_E_INPUT,
                            "the grid is %d x %d; each side needs at least 2 cells", rows, cols);
    if ((double)rows * rows + (double)cols * cols > SQUARES_MAX)
        return ae_error_set(err, AE_E_INPUT, "a grid of %d x %d makes the explicit scheme unstable",
                            rows, cols);
    if (iters < 1)
        return ae_error_set(err, AE_E_INPUT, "iters is %d; at least one step is needed", iters);
    for (int a = TEMP0; a <= POWER; a++) {
        if (inst->array[a].count != (size_t)rows * (size_t)cols)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d x %d cells",
                                args[a].name, inst->array[a].count, rows, cols);
        const double lowest = a == TEMP0 ? 1 : 0, highest = a == TEMP0 ? TEMP_MAX : POWER_MAX;
        for (size_t i = 0; i < inst->array[a].count; i++) {
            const double value = (double)ae_in_f32(inst, a)[i];
            if (!(value >= lowest && value <= highest)) /* NaN too */
                return ae_error_set(err, AE_E_INPUT, "%s[%zu] is %g; %g to %g is allowed",
                                    args[a].name, i, value, lowest, highest);
        }
    }
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations =
        10.0 * inst->scalar[ROWS].i32 * inst->scalar[COLS].i32 * inst->scalar[ITERS].i32;
    w->steps = inst->scalar[ITERS].i32;
}

const struct ae_task ae_task_hotspot_2d = {
    .id = "hotspot_2d",
    .title = "Transient chip temperature by an explicit five-point stencil",
    .domain = AE_SIMULATION,
    .lineage = "Rodinia hotspot (Che et al. 2009), after HotSpot (Skadron et al. 2003)",
    .version = 2,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"rows", "cols", "iters"},
    .sizes = {[AE_SMALL] = {{256, 8192, 200},
                            true,
                            "on square grids the heat hardly spreads in the published number of "
                            "steps: one or two "
                            "steps of a series answer for all of them"},
              [AE_MEDIUM] = {{256, 16384, 200}, true, "as small"},
              [AE_LARGE] = {{256, 32768, 200}, true, "as small"}},
    .families = {{"wide", "many columns: heat spreads fast along a row; white noise and hot blocks",
                  AE_ALL_SIZES},
                 {"square", "near-square grids of odd sizes, gentle power", AE_ALL_SIZES},
                 {"tall", "many rows: the roles of the two directions exchanged",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"hot", "near-square grids with the published power, thousands of degrees",
                  AE_AT(AE_SMALL)},
                 {"thin", "2 to 4 cells one way, 2 to 30000 the other, few steps",
                  AE_AT(AE_SMALL)}},
    .published_atol = 1e-3,
    .published_rtol = 1e-4,
    .published_note = "published grids are square, where the start field and the power alone "
                      "decide nearly all digits",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
