#include "task/task.h"

#include "task/published.h"

#include <math.h>
#include <string.h>

enum { P_PARTICLES };

enum {
    N,
    XS,
    YS,
    ZS,
    CELL_SIZE,
    GRID_NX,
    GRID_NY,
    GRID_NZ,
    NUM_CELLS,
    SORTED_INDICES,
    CELL_BEGIN,
    CELL_END,
    ARG_COUNT
};

enum { F_UNIFORM, F_DAM_BREAK, F_HEAP, F_TINY, F_EMPTY };

#define EXACT                                                                                      \
    {                                                                                              \
        AE_EXACT, .reason = "one IEEE division a coordinate and integers: there is one answer"     \
    }

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of particles"},
    [XS] = {"xs", AE_F32, AE_IN, "N", "m", "x coordinate of each particle"},
    [YS] = {"ys", AE_F32, AE_IN, "N", "m", "y coordinate of each particle"},
    [ZS] = {"zs", AE_F32, AE_IN, "N", "m", "z coordinate of each particle"},
    [CELL_SIZE] = {"cell_size", AE_F32, AE_SCALAR, .unit = "m", .meaning = "edge of a cubic cell"},
    [GRID_NX] = {"grid_nx", AE_I32, AE_SCALAR, .meaning = "cells along x"},
    [GRID_NY] = {"grid_ny", AE_I32, AE_SCALAR, .meaning = "cells along y"},
    [GRID_NZ] = {"grid_nz", AE_I32, AE_SCALAR, .meaning = "cells along z"},
    [NUM_CELLS] = {"num_cells", AE_I32, AE_SCALAR, .meaning = "grid_nx*grid_ny*grid_nz"},
    [SORTED_INDICES] = {"sorted_indices", AE_I32, AE_OUT, "N", "particle number",
                        "particles by cell, ascending inside a cell", .rule = EXACT},
    [CELL_BEGIN] = {"cell_begin", AE_I32, AE_OUT, "num_cells", "position in sorted_indices",
                    "first particle of each cell, -1 where it is empty", .rule = EXACT},
    [CELL_END] = {"cell_end", AE_I32, AE_OUT, "num_cells", "position in sorted_indices",
                  "one behind the last particle of each cell, -1 where it is empty", .rule = EXACT},
};

/* The float `steps` representable numbers away from a positive one. */
static float float_steps(float value, int64_t steps)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (uint32_t)((int64_t)bits + steps);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* Some particles a hair from the faces between cells, where a reciprocal, a double quotient or
 * another cell size gives another cell; some at and beyond the faces of the domain, where only the
 * clamp decides. */
static void plant(const struct ae_instance *inst, struct ae_rng *rng, float *coordinate, int axis)
{
    const float cell_size = inst->scalar[CELL_SIZE].f32;
    const int32_t n = inst->scalar[N].i32, cells = inst->scalar[GRID_NX + axis].i32;
    const float extent = (float)cells * cell_size;
    for (int32_t k = n / 1000 + 60; k > 0; k--) {
        const float face = (float)ae_rng_range(rng, 1, cells - 1) * cell_size;
        coordinate[ae_rng_below(rng, (uint32_t)n)] = float_steps(face, ae_rng_range(rng, -2, 2));
    }
    for (int32_t k = 0; k < n / 10000 + 3; k++) {
        const double beyond = k % 2 ? 0 : ae_rng_uniform(rng, 0, 2 * (double)cell_size);
        coordinate[ae_rng_below(rng, (uint32_t)n)] = (float)-beyond;
        coordinate[ae_rng_below(rng, (uint32_t)n)] = (float)((double)extent + beyond);
    }
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t n = inst->param[P_PARTICLES];
    n += ae_rng_range(rng, -n / 40, n / 40);
    int64_t cells[3] = {100, 50, 50};
    double cell_size = 0.04;
    if (inst->family == F_TINY || inst->family == F_EMPTY) {
        n = inst->family == F_EMPTY ? 0 : ae_rng_range(rng, 1, 40);
        cell_size = ae_rng_uniform(rng, 0.01, 3);
        for (int axis = 0; axis < 3; axis++)
            cells[axis] = ae_rng_range(rng, 1, 9);
    }
    ae_set_i32(inst, N, n);
    ae_set_f32(inst, CELL_SIZE, cell_size);
    for (int axis = 0; axis < 3; axis++)
        ae_set_i32(inst, GRID_NX + axis, cells[axis]);
    ae_set_i32(inst, NUM_CELLS, cells[0] * cells[1] * cells[2]);
    const size_t count = (size_t)n;
    for (int axis = 0; axis < 3; axis++) {
        float *coordinate = ae_new_array(inst, XS + axis, count, err);
        if (!coordinate)
            return AE_E_NOMEM;
        const float extent = (float)((double)cells[axis] * cell_size);
        if (inst->family == F_HEAP) { /* in one column of two or three cells, many at one place */
            const float corner = (float)ae_rng_range(rng, 5, 40) * inst->scalar[CELL_SIZE].f32;
            for (size_t i = 0; i < count; i++)
                coordinate[i] = corner + (axis == 2 ? 0.02f : 0.002f) * (float)ae_rng_below(rng, 4);
            continue;
        }
        ae_rng_fill_f32(rng, coordinate, count, 0, extent);
        if (inst->family == F_DAM_BREAK) /* every other particle in 1/64 of the volume */
            ae_rng_fill_f32(rng, coordinate, count / 2, 0, axis == 2 ? 0.25f : 1);
    }
    if (inst->family == F_DAM_BREAK) /* the halves mixed: the input stays in random order */
        for (size_t i = 0; i < count / 2; i++) {
            const size_t other = (size_t)ae_rng_below(rng, (uint32_t)n);
            for (int axis = 0; axis < 3; axis++) {
                float *coordinate = inst->array[XS + axis].data;
                const float kept = coordinate[i];
                coordinate[i] = coordinate[other];
                coordinate[other] = kept;
            }
        }
    for (int axis = 0; axis < 3 && (inst->family == F_UNIFORM || inst->family == F_DAM_BREAK);
         axis++)
        plant(inst, rng, inst->array[XS + axis].data, axis);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, SORTED_INDICES, (size_t)inst->scalar[N].i32);
    ae_set_output(inst, CELL_BEGIN, (size_t)inst->scalar[NUM_CELLS].i32);
    ae_set_output(inst, CELL_END, (size_t)inst->scalar[NUM_CELLS].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const float cell_size = inst->scalar[CELL_SIZE].f32;
    if (n < 0)
        return ae_error_set(err, AE_E_INPUT, "N is %d", n);
    if (!(cell_size > 0) || !isfinite(cell_size))
        return ae_error_set(err, AE_E_INPUT, "cell_size is %g", (double)cell_size);
    int64_t cells = 1;
    for (int a = GRID_NX; a <= GRID_NZ; a++) {
        const int32_t along = inst->scalar[a].i32;
        if (along < 1 || cells > INT32_MAX / along)
            return ae_error_set(err, AE_E_INPUT,
                                "%s is %d; the cells must be at least one and fit an int",
                                args[a].name, along);
        cells *= along;
    }
    if (inst->scalar[NUM_CELLS].i32 != cells)
        return ae_error_set(err, AE_E_INPUT, "num_cells is %d for a grid of %lld cells",
                            inst->scalar[NUM_CELLS].i32, (long long)cells);
    for (int a = XS; a <= ZS; a++) {
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d particles",
                                args[a].name, inst->array[a].count, n);
        for (int32_t i = 0; i < n; i++) /* the quotient must fit an int; NaN fails too */
            if (!(fabsf(ae_in_f32(inst, a)[i] / cell_size) < 1e9f))
                return ae_error_set(err, AE_E_INPUT, "%s[%d] is %g, a billion cells away",
                                    args[a].name, i, (double)ae_in_f32(inst, a)[i]);
    }
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* Three quotients, floors and clamps, a count and a move a particle; two writes a cell. */
    w->operations = 20.0 * inst->scalar[N].i32 + 4.0 * inst->scalar[NUM_CELLS].i32;
    w->steps = 4; /* numbers, counts, sums, placing */
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    static const struct {
        int arg;
        const char *name;
    } scalars[] = {{N, "N"}, {GRID_NX, "grid_nx"}, {GRID_NY, "grid_ny"}, {GRID_NZ, "grid_nz"}};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        int64_t value;
        const int rc = ae_published_param(published, scalars[i].name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < 0 || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s is %lld", scalars[i].name,
                                (long long)value);
        inst->scalar[scalars[i].arg].i32 = (int32_t)value;
    }
    int64_t micrometres;
    int rc = ae_published_param(published, "cell_size_x1000000", &micrometres, err);
    if (rc != AE_OK)
        return rc;
    inst->scalar[CELL_SIZE].f32 = (float)micrometres / 1000000.0f;
    const int64_t layer = (int64_t)inst->scalar[GRID_NX].i32 * inst->scalar[GRID_NY].i32;
    if (inst->scalar[GRID_NZ].i32 > 0 && layer > INT32_MAX / inst->scalar[GRID_NZ].i32)
        return ae_error_set(err, AE_E_INPUT, "input.bin: the grid has more cells than fit an int");
    inst->scalar[NUM_CELLS].i32 = (int32_t)(layer * inst->scalar[GRID_NZ].i32);
    for (int a = XS; a <= ZS && rc == AE_OK; a++)
        rc = ae_published_copy(published, args[a].name, inst, a, inst->scalar[N].i32, err);
    return rc;
}

/* The permutation, then a line "begin end" for each cell. */
static int import_expected(const struct ae_instance *inst, const char *text,
                           struct ae_expected *expected, struct ae_error *err)
{
    (void)inst;
    const struct ae_array *sorted = &expected->out[SORTED_INDICES];
    int rc = ae_published_numbers(&text, AE_I32, sorted->data, sorted->count, err);
    int32_t *begin = expected->out[CELL_BEGIN].data, *end = expected->out[CELL_END].data;
    for (size_t c = 0; c < expected->out[CELL_BEGIN].count && rc == AE_OK; c++) {
        rc = ae_published_numbers(&text, AE_I32, begin + c, 1, err);
        if (rc == AE_OK)
            rc = ae_published_numbers(&text, AE_I32, end + c, 1, err);
    }
    return rc;
}

const struct ae_task ae_task_sph_cell_index = {
    .id = "sph_cell_index",
    .title = "Particle-to-cell index of a neighbour search",
    .domain = AE_SIMULATION,
    .lineage = "DualSPHysics (Crespo et al. 2015), cell division",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N"},
    .sizes = {[AE_SMALL] = {{50000}}, [AE_MEDIUM] = {{2000000}}, [AE_LARGE] = {{5000000}}},
    .families =
        {{"uniform", "uniform density, with particles at faces of cells and beyond the domain",
          AE_ALL_SIZES},
         {"dam_break", "half of the particles in 1/64 of the volume: unbalanced cells",
          AE_ALL_SIZES},
         {"heap", "all particles in a few cells, many at one place", AE_AT(AE_SMALL)},
         {"tiny", "up to 40 particles on a grid of a few cells of another size", AE_AT(AE_SMALL)},
         {"empty", "no particle at all: every cell must still be written", AE_AT(AE_SMALL)}},
    .published_atol = 0,
    .published_rtol = 0,
    .published_note =
        "published results do not clamp z from above: a particle on the top face (one in the "
        "published medium set) is last in them and in no cell; here it lies in the top layer",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
    .import = import,
    .import_expected = import_expected,
};
