#include "task/task.h"

#include "base/fmath.h"
#include "task/published.h"

#include <math.h>

enum { P_PARTICLES, P_CELLS };

enum {
    N,
    XS,
    YS,
    ZS,
    VXS,
    VYS,
    VZS,
    RHOS,
    MASSES,
    H,
    CS0,
    RHOP0,
    ALPHA_VISC,
    CELL_BEGIN,
    CELL_END,
    SORTED_IDX,
    GRID_NX,
    GRID_NY,
    GRID_NZ,
    CELL_SIZE,
    AX,
    AY,
    AZ,
    DRHODT,
    ARG_COUNT
};

enum { F_UNIFORM, F_LATTICE, F_CLUMPS, F_TINY };

#define RULE                                                                                       \
    {                                                                                              \
        AE_SCALED,                                                                                 \
            .rtol = 1e-4,                                                                          \
            .reason =                                                                              \
                "1e-4*|expected| + 5e-5 of the root mean square of this output over all "          \
                "particles: float arithmetic in any order uses about a sixth of it, leaving "      \
                "the viscosity out or a wrong mass fails nearly every particle"                    \
    }

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of particles"},
    [XS] = {"xs", AE_F32, AE_IN, "N", "m", "x coordinate"},
    [YS] = {"ys", AE_F32, AE_IN, "N", "m", "y coordinate"},
    [ZS] = {"zs", AE_F32, AE_IN, "N", "m", "z coordinate"},
    [VXS] = {"vxs", AE_F32, AE_IN, "N", "m/s", "x velocity"},
    [VYS] = {"vys", AE_F32, AE_IN, "N", "m/s", "y velocity"},
    [VZS] = {"vzs", AE_F32, AE_IN, "N", "m/s", "z velocity"},
    [RHOS] = {"rhos", AE_F32, AE_IN, "N", "kg/m^3", "density"},
    [MASSES] = {"masses", AE_F32, AE_IN, "N", "kg", "mass"},
    [H] = {"h", AE_F32, AE_SCALAR, .unit = "m", .meaning = "smoothing length"},
    [CS0] = {"cs0", AE_F32, AE_SCALAR, .unit = "m/s", .meaning = "speed of sound at rest"},
    [RHOP0] = {"rhop0", AE_F32, AE_SCALAR, .unit = "kg/m^3", .meaning = "density at rest"},
    [ALPHA_VISC] = {"alpha_visc", AE_F32, AE_SCALAR,
                    .meaning = "factor of the artificial viscosity"},
    [CELL_BEGIN] = {"cell_begin", AE_I32, AE_IN, "grid_nx*grid_ny*grid_nz",
                    "position in sorted_idx", "first particle of each cell, -1 where it is empty"},
    [CELL_END] = {"cell_end", AE_I32, AE_IN, "grid_nx*grid_ny*grid_nz", "position in sorted_idx",
                  "one behind the last particle of each cell, -1 where it is empty"},
    [SORTED_IDX] = {"sorted_idx", AE_I32, AE_IN, "N", "particle number",
                    "particles by cell, ascending inside a cell"},
    [GRID_NX] = {"grid_nx", AE_I32, AE_SCALAR, .meaning = "cells along x"},
    [GRID_NY] = {"grid_ny", AE_I32, AE_SCALAR, .meaning = "cells along y"},
    [GRID_NZ] = {"grid_nz", AE_I32, AE_SCALAR, .meaning = "cells along z"},
    [CELL_SIZE] = {"cell_size", AE_F32, AE_SCALAR, .unit = "m", .meaning = "edge of a cell, 2 h"},
    [AX] = {"ax", AE_F32, AE_OUT, "N", "m/s^2", "x acceleration", .rule = RULE},
    [AY] = {"ay", AE_F32, AE_OUT, "N", "m/s^2", "y acceleration", .rule = RULE},
    [AZ] = {"az", AE_F32, AE_OUT, "N", "m/s^2", "z acceleration", .rule = RULE},
    [DRHODT] = {"drhodt", AE_F32, AE_OUT, "N", "kg/(m^3 s)", "rate of the density", .rule = RULE},
};

/* The layer of a particle along one axis, not yet clamped. */
static int32_t layer_of(const struct ae_instance *inst, int axis, int32_t particle)
{
    return (int32_t)floorf(ae_in_f32(inst, XS + axis)[particle] / inst->scalar[CELL_SIZE].f32);
}

/* The cell that lists a particle: on the upper face it is the last one. */
static int32_t cell_of(const struct ae_instance *inst, int32_t particle)
{
    int32_t cell = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const int32_t cells = inst->scalar[GRID_NX + axis].i32,
                      layer = layer_of(inst, axis, particle);
        cell = cell * cells + (layer < cells ? layer : cells - 1);
    }
    return cell;
}

static int index_particles(struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const size_t cells = (size_t)inst->scalar[GRID_NX].i32 * (size_t)inst->scalar[GRID_NY].i32 *
                         (size_t)inst->scalar[GRID_NZ].i32;
    int32_t *begin = ae_new_array(inst, CELL_BEGIN, cells, err);
    int32_t *end = ae_new_array(inst, CELL_END, cells, err);
    int32_t *sorted = ae_new_array(inst, SORTED_IDX, (size_t)n, err);
    if (!begin || !end || !sorted)
        return AE_E_NOMEM;
    for (size_t c = 0; c < cells; c++)
        end[c] = 0;
    for (int32_t i = 0; i < n; i++)
        end[cell_of(inst, i)]++;
    int32_t position = 0;
    for (size_t c = 0; c < cells; c++) {
        begin[c] = position;
        position += end[c];
        end[c] = begin[c];
    }
    for (int32_t i = 0; i < n; i++)
        sorted[end[cell_of(inst, i)]++] = i;
    for (size_t c = 0; c < cells; c++)
        if (begin[c] == end[c])
            begin[c] = end[c] = -1;
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t n = inst->param[P_PARTICLES];
    n += ae_rng_range(rng, -3 * n / 100, 3 * n / 100);
    if (inst->family == F_CLUMPS)
        n = ae_rng_range(rng, 1500, 2500);
    /* Of two alone the terms may cancel, and all that is left is rounding. */
    if (inst->family == F_TINY) {
        n = ae_rng_range(rng, 1, 4);
        n += n > 1 ? 4 : 0;
    }
    const int64_t cells = inst->param[P_CELLS];
    const double box = 0.02 * (double)cells;
    ae_set_i32(inst, N, n);
    ae_set_f32(inst, H, 0.01);
    ae_set_f32(inst, CS0, ae_rng_uniform(rng, 36, 44));
    ae_set_f32(inst, RHOP0, 1000);
    ae_set_f32(inst, ALPHA_VISC, ae_rng_uniform(rng, 0.09, 0.11));
    for (int a = GRID_NX; a <= GRID_NZ; a++)
        ae_set_i32(inst, a, cells);
    ae_set_f32(inst, CELL_SIZE, 0.02);
    float *in[MASSES + 1] = {0};
    for (int a = XS; a <= MASSES; a++)
        if (!(in[a] = ae_new_array(inst, a, (size_t)n, err)))
            return AE_E_NOMEM;

    /* The side of a cubic block of n places, as a fluid at rest fills it. */
    int64_t side = 1;
    while (side * side * side < n)
        side++;
    double spacing = (box - 0.004) / (double)side;
    spacing = ae_rng_uniform(rng, 0.0052, spacing < 0.0075 ? spacing : 0.0075);
    for (int64_t i = 0; i < n; i++) {
        const int64_t place[3] = {i % side, i / side % side, i / side / side};
        for (int axis = 0; axis < 3; axis++) {
            double at = ae_rng_uniform(rng, 0.001, box - 0.001);
            if (inst->family == F_LATTICE)
                at = 0.002 + spacing * ((double)place[axis] + ae_rng_uniform(rng, 0.3, 0.7));
            else if (inst->family == F_CLUMPS && i % 4) /* crowded cells; every fourth is alone */
                at = 0.05 * (double)(1 + i % 3) + 0.004 * ae_rng_unit(rng);
            else if (inst->family == F_TINY)
                at = 0.1 + 0.005 * ae_rng_unit(rng);
            in[XS + axis][i] = (float)at;
            in[VXS + axis][i] = (float)(2 * ae_rng_normal(rng) - (axis == 2 ? 0.5 : 0));
        }
        const double rho = 1000 + 50 * ae_rng_normal(rng);
        in[RHOS][i] = (float)(rho < 800 ? 800 : rho > 1200 ? 1200 : rho);
        in[MASSES][i] = (float)(1.25e-4 * ae_rng_uniform(rng, 0.8, 1.2));
    }
    if (inst->family == F_LATTICE) { /* numbered at random, as after a while of flow */
        for (int64_t i = n - 1; i > 0; i--) {
            const int64_t other = ae_rng_range(rng, 0, i);
            for (int axis = 0; axis < 3; axis++) {
                const float kept = in[XS + axis][i];
                in[XS + axis][i] = in[XS + axis][other];
                in[XS + axis][other] = kept;
            }
        }
    }

    /* Particles exactly on faces between cells and of the box, and pairs in one place. */
    const float cell_size = inst->scalar[CELL_SIZE].f32;
    for (int64_t k = inst->family == F_TINY ? 0 : n / 500 + 3; k > 0; k--) {
        const uint32_t i = ae_rng_below(rng, (uint32_t)n), j = ae_rng_below(rng, (uint32_t)n);
        const int axis = (int)ae_rng_below(rng, 3);
        in[XS + axis][i] = (float)ae_rng_range(rng, 0, cells) * cell_size;
        for (int a = XS; a <= ZS && k % 4 == 0; a++)
            in[a][j] = in[a][i];
    }
    return index_particles(inst, err);
}

static void outputs(struct ae_instance *inst)
{
    for (int a = AX; a <= DRHODT; a++)
        ae_set_output(inst, a, (size_t)inst->scalar[N].i32);
}

static int check_particles(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    for (int a = XS; a <= MASSES; a++) {
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d particles",
                                args[a].name, inst->array[a].count, n);
        for (int32_t i = 0; i < n; i++) {
            const float value = ae_in_f32(inst, a)[i];
            if (!(fabsf(value) < 1e6f) || (a == RHOS && value < 1) || (a == MASSES && value < 0))
                return ae_error_set(err, AE_E_INPUT, "%s[%d] is %g", args[a].name, i,
                                    (double)value);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        const int32_t cells = inst->scalar[GRID_NX + axis].i32;
        const float cell_size = inst->scalar[CELL_SIZE].f32;
        for (int32_t i = 0; i < n; i++) {
            const float layer = floorf(ae_in_f32(inst, XS + axis)[i] / cell_size);
            if (!(layer >= 0 && layer <= (float)cells))
                return ae_error_set(err, AE_E_INPUT, "%s[%d] lies outside the grid",
                                    args[XS + axis].name, i);
        }
    }
    return AE_OK;
}

/* Exactly the index that the particles have: programs may trust it, or make their own. */
static int check_index(const struct ae_instance *inst, size_t cells, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    if (inst->array[CELL_BEGIN].count != cells || inst->array[CELL_END].count != cells ||
        inst->array[SORTED_IDX].count != (size_t)n)
        return ae_error_set(err, AE_E_INPUT,
                            "the cell index does not fit %zu cells and %d particles", cells, n);
    const int32_t *begin = ae_in_i32(inst, CELL_BEGIN), *end = ae_in_i32(inst, CELL_END);
    const int32_t *sorted = ae_in_i32(inst, SORTED_IDX);
    int32_t position = 0;
    for (size_t c = 0; c < cells; c++) {
        if (begin[c] == -1 && end[c] == -1)
            continue;
        if (begin[c] != position || end[c] <= begin[c] || end[c] > n)
            return ae_error_set(err, AE_E_INPUT, "cell %zu has the range %d to %d", c, begin[c],
                                end[c]);
        for (; position < end[c]; position++) {
            const int32_t i = sorted[position];
            if (i < 0 || i >= n || (size_t)cell_of(inst, i) != c ||
                (position > begin[c] && i <= sorted[position - 1]))
                return ae_error_set(err, AE_E_INPUT, "sorted_idx[%d] = %d does not belong there",
                                    position, i);
        }
    }
    if (position != n)
        return ae_error_set(err, AE_E_INPUT, "the cells hold %d of %d particles", position, n);
    return AE_OK;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    if (inst->scalar[N].i32 < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one particle is needed",
                            inst->scalar[N].i32);
    static const int positive[] = {H, CS0, RHOP0, CELL_SIZE};
    for (size_t k = 0; k < sizeof positive / sizeof *positive; k++) {
        const float value = inst->scalar[positive[k]].f32;
        if (!(value > 1e-6f && value < 1e6f))
            return ae_error_set(err, AE_E_INPUT, "%s is %g", args[positive[k]].name, (double)value);
    }
    if (!(fabsf(inst->scalar[ALPHA_VISC].f32) < 1e6f))
        return ae_error_set(err, AE_E_INPUT, "alpha_visc is %g",
                            (double)inst->scalar[ALPHA_VISC].f32);
    if (!((double)inst->scalar[CELL_SIZE].f32 >= 1.99999 * (double)inst->scalar[H].f32))
        return ae_error_set(err, AE_E_INPUT, "cells smaller than 2 h hide neighbours");
    int64_t cells = 1;
    for (int a = GRID_NX; a <= GRID_NZ; a++) {
        const int32_t along = inst->scalar[a].i32;
        if (along < 1 || cells > INT32_MAX / along)
            return ae_error_set(err, AE_E_INPUT,
                                "%s is %d; the cells must be at least one and fit an int",
                                args[a].name, along);
        cells *= along;
    }
    const int rc = check_particles(inst, err);
    return rc == AE_OK ? check_index(inst, (size_t)cells, err) : rc;
}

/* The root mean square of each output. */
static int make_aux(const struct ae_instance *inst, struct ae_expected *expected,
                    struct ae_error *err)
{
    (void)inst;
    const int rc = ae_array_alloc(&expected->aux[0], AE_F64, 4, err);
    if (rc != AE_OK)
        return rc;
    double *rms = expected->aux[0].data;
    for (int k = 0; k < 4; k++) {
        const struct ae_array *out = &expected->out[AX + k];
        const float *value = out->data;
        double sum = 0;
        for (size_t i = 0; i < out->count; i++)
            sum += (double)value[i] * (double)value[i];
        rms[k] = ae_sqrt(sum / (double)out->count);
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)inst;
    (void)first;
    const double *rms = expected->aux[0].data;
    for (size_t i = 0; i < count; i++)
        tol[i] += 5e-5 * rms[arg - AX];
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double n = inst->scalar[N].i32, cells = (double)inst->array[CELL_BEGIN].count;
    const double candidates = 27 * n * n / cells;
    w->bytes_in = 32 * n; /* the index can be made on the device */
    w->operations = 10 * candidates + 60 * 0.155 * candidates; /* the ball's share of 27 cells */
    w->steps = 3; /* order, densities to pressures, pairs */
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    static const struct {
        int arg;
        const char *name;
        float scale; /* 0: an integer */
    } scalars[] = {
        {N, "N", 0},
        {H, "h_x1000000", 1000000},
        {CS0, "cs0_x10000", 10000},
        {RHOP0, "rhop0_x100", 100},
        {ALPHA_VISC, "alpha_visc_x10000", 10000},
        {CELL_SIZE, "cell_size_x1000000", 1000000},
        {GRID_NX, "grid_nx", 0},
        {GRID_NY, "grid_ny", 0},
        {GRID_NZ, "grid_nz", 0},
    };
    int rc = AE_OK;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        int64_t value;
        rc = ae_published_param(published, scalars[i].name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < 0 || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s is %lld", scalars[i].name,
                                (long long)value);
        if (scalars[i].scale > 0)
            inst->scalar[scalars[i].arg].f32 = (float)value / scalars[i].scale;
        else
            inst->scalar[scalars[i].arg].i32 = (int32_t)value;
    }
    for (int a = XS; a <= MASSES && rc == AE_OK; a++)
        rc = ae_published_copy(published, args[a].name, inst, a, inst->scalar[N].i32, err);
    for (int a = CELL_BEGIN; a <= SORTED_IDX && rc == AE_OK; a++)
        rc = ae_published_copy(published, args[a].name, inst, a, -1, err);
    return rc;
}

/* A line "ax ay az drhodt" for each particle. */
static int import_expected(const struct ae_instance *inst, const char *text,
                           struct ae_expected *expected, struct ae_error *err)
{
    int rc = AE_OK;
    for (int32_t i = 0; i < inst->scalar[N].i32; i++)
        for (int a = AX; a <= DRHODT && rc == AE_OK; a++)
            rc = ae_published_numbers(&text, AE_F32, (float *)expected->out[a].data + i, 1, err);
    return rc;
}

const struct ae_task ae_task_sph_forces = {
    .id = "sph_forces",
    .title = "Forces between the particles of a fluid",
    .domain = AE_SIMULATION,
    .lineage = "DualSPHysics (Crespo et al. 2015), interaction of fluid particles",
    .version = 2,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "cells_per_axis"},
    .sizes = {[AE_SMALL] =
                  {{10000, 12},
                   .not_as_published = true,
                   .note = "a box of 0.24 m: in the published 0.5 m most particles have one or two "
                           "neighbours"},
              [AE_MEDIUM] = {{100000, 25}},
              [AE_LARGE] = {{500000, 25}}},
    .families = {{"uniform", "particles anywhere, some on faces of cells, some in one place",
                  AE_ALL_SIZES},
                 {"lattice", "a block of fluid, nearly regular, in a part of the box",
                  AE_ALL_SIZES},
                 {"clumps", "crowded cells beside isolated particles", AE_AT(AE_SMALL)},
                 {"tiny", "one particle, or six to eight", AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 1e-3,
    .published_note = "published data have one mass, slow particles and a viscosity that hardly "
                      "counts; published "
                      "results are evaluated in float",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .make_aux = make_aux,
    .work = work,
    .import = import,
    .import_expected = import_expected,
};
