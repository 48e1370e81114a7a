#include "common/npb_field.h"

enum { P_N, P_ITERS, P_OMEGA_MILLI };

enum { N, ITERS, OMEGA_MILLI, U0, RHS, RESIDUAL_OUT, ARG_COUNT };

enum { FIELD, OCTANT, CORNER, STILL, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "points in each direction"},
    [ITERS] = {"iters", AE_I32, AE_SCALAR, .meaning = "iterations"},
    [OMEGA_MILLI] = {"omega_milli", AE_I32, AE_SCALAR, .meaning = "1000 times the step factor w"},
    [U0] = {"u0", AE_F64, AE_IN, "n*n*n*5", .meaning = "initial state, component fastest"},
    [RHS] = {"rhs", AE_F64, AE_IN, "n*n*n*5", .meaning = "right-hand side f, component fastest"},
    [RESIDUAL_OUT] =
        {"residual_out", AE_F64, AE_OUT, "5",
         .meaning = "root mean square of the residual, by component",
         .rule = {AE_CLOSE, 1e-16, 1e-11,
                  "1e-16 + 1e-11*|r|: another order of evaluation uses 0.1 % of it; inputs in "
                  "float miss by 1e-9, an exact pentadiagonal solution by 1e-4, another instance "
                  "by 1e-2"}},
};

/* Step factors around 0.65 leave a residual all over the cube; near 0.9 nearly all of it sits in
 * the corners. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    static const struct ae_npb_field field = {0.03, 0.08, {0.20, 0.18, 0.16, 0.12, 0.10}};
    int64_t n = inst->param[P_N] + ae_rng_range(rng, -1, 1), iters = inst->param[P_ITERS];
    int64_t omega = inst->param[P_OMEGA_MILLI] + ae_rng_range(rng, -50, 100);
    if (inst->family == CORNER)
        omega = 900;
    if (inst->family == STILL)
        iters = 0;
    if (inst->family == TINY) {
        n = ae_rng_range(rng, 1, 7);
        iters = ae_rng_range(rng, 1, 3);
    }
    ae_set_i32(inst, N, n);
    ae_set_i32(inst, ITERS, iters);
    ae_set_i32(inst, OMEGA_MILLI, omega);
    const int rc = ae_npb_field_fill(inst, rng, U0, RHS, (int32_t)n, &field, err);
    if (rc == AE_OK && inst->family == OCTANT)
        ae_npb_field_raise_octant(inst, rng, U0, RHS, (int32_t)n);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, RESIDUAL_OUT, 5);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    return ae_npb_field_validate(inst, N, ITERS, U0, RHS, err);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double n = inst->scalar[N].i32, iters = inst->scalar[ITERS].i32;
    w->operations = n * n * n * (300 * iters + 110);
    w->steps = iters * 6 * n + 1; /* down and up a line in each of three directions */
}

const struct ae_task ae_task_npb_sp_adi_pentadiagonal = {
    .id = "npb_sp_adi_pentadiagonal",
    .title = "Alternating-direction iteration with pentadiagonal line solves",
    .domain = AE_HPC,
    .lineage = "NAS Parallel Benchmarks, pseudo-application SP: its line solves with constant "
               "coefficients",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"n", "iters", "omega_milli"},
    .sizes = {[AE_SMALL] = {{24, 6, 650},
                            true,
                            "the published factor 900 leaves a residual in the corners only"},
              [AE_MEDIUM] = {{40, 8, 650},
                             true,
                             "the published factor 900 leaves a residual in the corners only"},
              [AE_LARGE] = {{56, 10, 650},
                            true,
                            "the published factor 900 leaves a residual in the corners only"}},
    .families = {{"field", "noise and smooth forcing, a residual all over the cube", AE_ALL_SIZES},
                 {"octant", "one octant ten times as large: what is wrong in a region shows",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"corner", "the published factor 900: the residual of the identity rows",
                  AE_AT(AE_SMALL)},
                 {"still", "no iteration: the residual of the initial state", AE_AT(AE_SMALL)},
                 {"tiny",
                  "1 to 7 points a direction: no, one or a few rows that are not identity rows",
                  AE_AT(AE_SMALL)}},
    .published_atol = 1e-7,
    .published_rtol = 1e-7,
    .published_note = "published data have omega_milli 900",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
