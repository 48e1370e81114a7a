#include "task/task.h"

#include "base/fmath.h"
#include "task/published.h"

#include <math.h>
#include <string.h>

enum { P_PARTICLES };

enum {
    N,
    POS_X,
    POS_Y,
    POS_Z,
    MOV_X,
    MOV_Y,
    MOV_Z,
    CELL_SIZE,
    OUT_X,
    OUT_Y,
    OUT_Z,
    OUT_CELL,
    ARG_COUNT
};

enum { F_DRIFT, F_FACES, F_TINY };

#define EXACT                                                                                      \
    {                                                                                              \
        AE_EXACT, .reason = "one IEEE addition, division and floor in double: one answer"          \
    }

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of particles"},
    [POS_X] = {"posxy_x", AE_F32, AE_IN, "N", "m", "old x coordinate", "pos_x"},
    [POS_Y] = {"posxy_y", AE_F32, AE_IN, "N", "m", "old y coordinate", "pos_y"},
    [POS_Z] = {"posz", AE_F32, AE_IN, "N", "m", "old z coordinate", "pos_z"},
    [MOV_X] = {"movxy_x", AE_F32, AE_IN, "N", "m", "displacement along x", "mov_x"},
    [MOV_Y] = {"movxy_y", AE_F32, AE_IN, "N", "m", "displacement along y", "mov_y"},
    [MOV_Z] = {"movz", AE_F32, AE_IN, "N", "m", "displacement along z", "mov_z"},
    [CELL_SIZE] = {"cell_size", AE_F32, AE_SCALAR, .unit = "m", .meaning = "edge of a cell"},
    [OUT_X] = {"out_x", AE_F64, AE_OUT, "N", "m", "new x coordinate", .rule = EXACT},
    [OUT_Y] = {"out_y", AE_F64, AE_OUT, "N", "m", "new y coordinate", .rule = EXACT},
    [OUT_Z] = {"out_z", AE_F64, AE_OUT, "N", "m", "new z coordinate", .rule = EXACT},
    [OUT_CELL] = {"out_cell", AE_I32, AE_OUT, "N", .meaning = "packed cell number", .rule = EXACT},
};

/* A bell of four 16-bit uniforms, near enough to a standard normal; this is drawn a hundred million
 * times. */
static float bell(struct ae_rng *rng)
{
    const uint64_t draw = ae_rng_u64(rng);
    const int32_t sum = (int32_t)(draw & 0xffff) + (int32_t)(draw >> 16 & 0xffff) +
                        (int32_t)(draw >> 32 & 0xffff) + (int32_t)(draw >> 48);
    return (float)(sum - 2 * 65535) * (1.7320508f / 65536);
}

/* The neighbouring double towards zero of a positive one. */
static double double_below(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits--;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Particles that end on a face between cells, or so near that only the prescribed arithmetic finds
 * the right side. */
static void plant_faces(struct ae_rng *rng, float *pos, float *mov, int64_t n, int64_t count,
                        double cell, int64_t cells)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t at = ae_rng_below64(rng, (uint64_t)n);
        const double k = (double)ae_rng_range(rng, 1, cells - 1), face = k * cell;
        const double targets[] = {face, face - 1e-10, (face + 0.02 * k) / 2, face - 2e-9};
        pos[at] = (float)(face + ae_rng_uniform(rng, -1e-4, 1e-4));
        mov[at] = (float)(targets[i % 4] - (double)pos[at]);
    }
    /* A product with the reciprocal differs from the quotient only at these multiples, one double
     * below the float nearest to the face. */
    for (int64_t i = 0; i < count / 8 + 8; i++) {
        const uint64_t at = ae_rng_below64(rng, (uint64_t)n);
        int64_t k = 3;
        for (int64_t doublings = ae_rng_range(rng, 0, 4); doublings > 0 && 2 * k < cells;
             doublings--)
            k *= 2;
        pos[at] = (float)((double)k * cell);
        mov[at] = (float)(double_below((double)pos[at]) - (double)pos[at]);
    }
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t n = inst->param[P_PARTICLES];
    n -= ae_rng_range(rng, 0, n / 33);
    if (n % 4 == 0)
        n--;
    if (inst->family == F_TINY)
        n = ae_rng_range(rng, 1, 7);
    ae_set_i32(inst, N, n);
    ae_set_f32(inst, CELL_SIZE, inst->family == F_TINY ? ae_rng_uniform(rng, 0.01, 0.5) : 0.02);
    const size_t count = (size_t)n;
    const double cell = (double)inst->scalar[CELL_SIZE].f32;
    const float scale = (float)ae_rng_uniform(rng, 0.8, 1.25);
    for (int axis = 0; axis < 3; axis++) {
        const float extent = axis == 0 ? 2 : 1;
        float *pos = ae_new_array(inst, POS_X + axis, count, err);
        float *mov = ae_new_array(inst, MOV_X + axis, count, err);
        if (!pos || !mov)
            return AE_E_NOMEM;
        ae_rng_fill_f32(rng, pos, count, 0, extent);
        const float mean = axis == 2 ? -9.81e-4f : 0;
        for (size_t i = 0; i < count; i++) {
            /* One in ten, whatever the order, moves by up to a cell and more. */
            const float step = bell(rng);
            const bool far = (i * UINT64_C(0x9e3779b97f4a7c15)) >> 60 == 0 || i % 29 == 0;
            mov[i] = far ? 1e-2f * step : scale * (mean + 0.5e-4f * step);
        }
        for (int k = 0; k < 20; k++) { /* some that leave the domain below */
            const uint64_t at = ae_rng_below64(rng, (uint64_t)n);
            pos[at] = (float)ae_rng_uniform(rng, 0, 1e-3);
            mov[at] = (float)-ae_rng_uniform(rng, 1e-3, 2e-2);
        }
        if (inst->family != F_TINY)
            plant_faces(rng, pos, mov, n, inst->family == F_FACES ? 2 * n : n / 500, cell,
                        axis == 0 ? 100 : 50);
    }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    for (int a = OUT_X; a <= OUT_CELL; a++)
        ae_set_output(inst, a, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const float cell_size = inst->scalar[CELL_SIZE].f32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one particle is needed", n);
    if (!(cell_size > 1e-6f && cell_size < 1e6f))
        return ae_error_set(err, AE_E_INPUT, "cell_size is %g", (double)cell_size);
    for (int a = POS_X; a <= MOV_Z; a++)
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d particles",
                                args[a].name, inst->array[a].count, n);
    for (int axis = 0; axis < 3; axis++) {
        const float *pos = ae_in_f32(inst, POS_X + axis), *mov = ae_in_f32(inst, MOV_X + axis);
        for (int32_t i = 0; i < n; i++) /* the packed number must fit an int; NaN fails too */
            if (!(fabsf(pos[i]) + fabsf(mov[i]) < 999 * cell_size))
                return ae_error_set(err, AE_E_INPUT, "particle %d is a thousand cells away", i);
    }
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations =
        13.0 * inst->scalar[N].i32; /* a sum, a quotient and a floor an axis, the packing */
    w->steps = 1;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    int64_t n, micrometres;
    int rc = ae_published_param(published, "N", &n, err);
    if (rc == AE_OK)
        rc = ae_published_param(published, "cell_size_x1000000", &micrometres, err);
    if (rc != AE_OK)
        return rc;
    if (n < 1 || n > INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "input.bin: parameter N is %lld", (long long)n);
    inst->scalar[N].i32 = (int32_t)n;
    inst->scalar[CELL_SIZE].f32 = (float)((double)micrometres / 1000000.0);
    for (int a = POS_X; a <= MOV_Z && rc == AE_OK; a++)
        rc = ae_published_copy(published, args[a].published, inst, a, n, err);
    return rc;
}

/* A line "x y z cell" for each particle. */
static int import_expected(const struct ae_instance *inst, const char *text,
                           struct ae_expected *expected, struct ae_error *err)
{
    int rc = AE_OK;
    for (int32_t i = 0; i < inst->scalar[N].i32; i++) {
        for (int a = OUT_X; a <= OUT_Z && rc == AE_OK; a++)
            rc = ae_published_numbers(&text, AE_F64, (double *)expected->out[a].data + i, 1, err);
        if (rc == AE_OK)
            rc = ae_published_numbers(&text, AE_I32, (int32_t *)expected->out[OUT_CELL].data + i, 1,
                                      err);
    }
    return rc;
}

const struct ae_task ae_task_sph_position = {
    .id = "sph_position",
    .title = "Drift of particles and their new cells",
    .domain = AE_SIMULATION,
    .lineage = "DualSPHysics (Crespo et al. 2015), position update",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N"},
    .sizes = {[AE_SMALL] = {{50000}}, [AE_MEDIUM] = {{15000000}}, [AE_LARGE] = {{20000000}}},
    .families = {{"drift", "small steps, one in ten large; some end on faces or below the domain",
                  AE_ALL_SIZES},
                 {"faces", "nearly all particles end within 1e-8 of a face between cells",
                  AE_AT(AE_SMALL)},
                 {"tiny", "one to seven particles, another cell size", AE_AT(AE_SMALL)}},
    .published_atol = 5.1e-11,
    .published_rtol = 0,
    .published_note =
        "published coordinates are rounded to ten decimals; the published tolerance of 1e-5 of the "
        "packed cell number, which hides wrong cells, is not used",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
    .import = import,
    .import_expected = import_expected,
};
