#include "common/npb_field.h"

enum { P_N, P_ITERS, P_OMEGA_MILLI };

enum { N, ITERS, OMEGA_MILLI, U0, RHS, RESIDUAL_OUT, ARG_COUNT };

enum { FIELD, OCTANT, GENTLE, STILL, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "points in each direction"},
    [ITERS] = {"iters", AE_I32, AE_SCALAR,
               .meaning = "iterations, a forward and a backward sweep each"},
    [OMEGA_MILLI] = {"omega_milli", AE_I32, AE_SCALAR,
                     .meaning = "1000 times the relaxation factor"},
    [U0] = {"u0", AE_F64, AE_IN, "n*n*n*5", .meaning = "initial state, component fastest"},
    [RHS] = {"rhs", AE_F64, AE_IN, "n*n*n*5", .meaning = "right-hand side f, component fastest"},
    [RESIDUAL_OUT] =
        {"residual_out", AE_F64, AE_OUT, "5",
         .meaning = "root mean square of the residual, by component",
         .rule =
             {AE_CLOSE, 1e-15, 2e-12,
              "1e-15 + 2e-12*|r|: another order of summation uses 5 % of it, and a third where a "
              "single point's residual almost cancels, from terms near 1; inputs in float "
              "miss by 1e-10, another order of points by 5e-4, another instance by 5e-3"}},
};

/* Relaxation factors near 2: the iteration converges slowly, so that after the last sweep much is
 * left to compare. */
static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    static const struct ae_npb_field field = {0.05, 0.2, {0.10, 0.08, 0.06, 0.05, 0.04}};
    int64_t n = inst->param[P_N] + ae_rng_range(rng, -1, 1), iters = inst->param[P_ITERS];
    int64_t omega = inst->param[P_OMEGA_MILLI] + ae_rng_range(rng, -50, 50);
    if (inst->family == GENTLE) {
        omega = ae_rng_range(rng, 700, 1500);
        iters = 1;
    }
    if (inst->family == STILL) {
        n = ae_rng_range(rng, 6, 14);
        iters = 0;
    }
    if (inst->family == TINY) {
        n = ae_rng_range(rng, 1, 4);
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
    const double n = inst->scalar[N].i32, sweeps = 2.0 * inst->scalar[ITERS].i32;
    /* Five independent scalar problems in the basis of eigenvectors. */
    w->operations = n * n * n * (5 * 11 * (sweeps + 1) + 150);
    w->steps = sweeps * (2 * n - 1) + 1; /* fronts of lines */
}

const struct ae_task ae_task_npb_lu_ssor_structured = {
    .id = "npb_lu_ssor_structured",
    .title = "SSOR sweeps for five coupled unknowns on a cube",
    .domain = AE_HPC,
    .lineage =
        "NAS Parallel Benchmarks, pseudo-application LU: its sweeps with constant coefficients",
    .version = 2,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"n", "iters", "omega_milli"},
    .sizes = {[AE_SMALL] = {{32, 6, 1850},
                            true,
                            "the published factor 1100 leaves no residual to compare"},
              [AE_MEDIUM] = {{48, 8, 1850},
                             true,
                             "the published factor 1100 leaves no residual to compare"},
              [AE_LARGE] = {{64, 10, 1850},
                            true,
                            "the published factor 1100 leaves no residual to compare"}},
    .families = {{"field", "noise and smooth forcing, slow convergence", AE_ALL_SIZES},
                 {"octant", "one octant ten times as large: what is wrong in a region shows",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"gentle", "a single iteration at factors from 0.7 to 1.5", AE_AT(AE_SMALL)},
                 {"still", "no iteration: the residual of the initial state", AE_AT(AE_SMALL)},
                 {"tiny", "1 to 4 points a direction", AE_AT(AE_SMALL)}},
    .published_atol = 1e-7,
    .published_rtol = 1e-7,
    .published_note =
        "published data have omega_milli 1100: their residuals are rounding noise far below the "
        "published tolerance",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
