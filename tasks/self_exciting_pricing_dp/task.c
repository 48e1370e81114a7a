#include "task/task.h"

#include "base/fmath.h"
#include "task/published.h"

#include <math.h>
#include <string.h>

enum { P_POINTS, P_STEPS, P_CONTROLS };

enum {
    N_X,
    N_T,
    N_LAMBDA,
    DX,
    DT,
    ALPHA,
    BETA,
    PHI,
    C,
    A,
    GAMMA,
    K,
    LAMBDA_MIN,
    LAMBDA_MAX,
    V_OUT,
    ARG_COUNT
};

enum { HARDENED, LONG_JUMP, TIES, CORNER, MILD, NO_JUMP, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N_X] = {"N_x", AE_I32, AE_SCALAR, .meaning = "points of the excitement grid, x_i = i*dx"},
    [N_T] = {"N_T", AE_I32, AE_SCALAR, .meaning = "time steps"},
    [N_LAMBDA] = {"N_lambda", AE_I32, AE_SCALAR,
                  .meaning = "points of the control grid, both ends included"},
    [DX] = {"dx", AE_F32, AE_SCALAR, .meaning = "step of the excitement grid"},
    [DT] = {"dt", AE_F32, AE_SCALAR, .unit = "time", .meaning = "time step"},
    [ALPHA] = {"alpha", AE_F32, AE_SCALAR, .meaning = "jump of the excitement at a sale"},
    [BETA] = {"beta", AE_F32, AE_SCALAR, .unit = "1/time",
              .meaning = "rate at which the excitement decays"},
    [PHI] = {"phi", AE_F32, AE_SCALAR, .meaning = "arrival factor without excitement"},
    [C] = {"c", AE_F32, AE_SCALAR, .unit = "currency", .meaning = "unit cost"},
    [A] = {"a", AE_F32, AE_SCALAR,
           .meaning = "demand scale: the price that brings intensity l is ln(a/l)"},
    [GAMMA] = {"gamma", AE_F32, AE_SCALAR, .meaning = "exponent of the excited arrival factor"},
    [K] = {"k", AE_F32, AE_SCALAR, .meaning = "scale of the excited arrival factor k*x^gamma"},
    [LAMBDA_MIN] = {"lambda_min", AE_F32, AE_SCALAR, .unit = "1/time",
                    .meaning = "least purchase intensity"},
    [LAMBDA_MAX] = {"lambda_max", AE_F32, AE_SCALAR, .unit = "1/time",
                    .meaning = "largest purchase intensity"},
    [V_OUT] =
        {"V_out", AE_F32, AE_OUT, "N_x", "currency", "value of each state after N_T steps",
         .rule =
             {AE_CLOSE, .atol = 2e-6, .rtol = 2e-5,
              .reason =
                  "an honest float program differs from the double answer by 3 % of this at small "
                  "and "
                  "a third at large; a step less, a truncated jump, half the steps or a coarser "
                  "control grid exceed it"}},
};

static double real(const struct ae_instance *inst, int arg)
{
    return (double)inst->scalar[arg].f32;
}

/* dt times the rates at which the last point loses weight: the explicit scheme is monotone while
 * this is <= 1. */
static double stability(const struct ae_instance *inst)
{
    const double x = (inst->scalar[N_X].i32 - 1) * real(inst, DX);
    const double excited = x > 0 ? real(inst, K) * ae_exp(real(inst, GAMMA) * ae_log(x)) : 0;
    return real(inst, DT) * (x * real(inst, BETA) / real(inst, DX) +
                             (excited + real(inst, PHI)) * real(inst, LAMBDA_MAX));
}

/* Excitement and value move enough for the jump term to change the optimal price by a third: with a
 * short jump and slow arrivals the answer would be a closed form. */
static void draw_parameters(struct ae_instance *inst, struct ae_rng *rng)
{
    ae_set_f32(inst, DX, 0.01);
    /* One step over the whole horizon is unstable under all of the parameters below. */
    ae_set_f32(inst, DT, 5.0 / (inst->scalar[N_T].i32 > 1 ? inst->scalar[N_T].i32 : 2));
    /* alpha/dx rounds up, far from a tie: truncating it is wrong everywhere. */
    ae_set_f32(inst, ALPHA,
               0.01 * ((double)ae_rng_range(rng, 50, 148) + ae_rng_uniform(rng, 0.55, 0.95)));
    ae_set_f32(inst, BETA, 8e-4 * ae_rng_uniform(rng, 0.8, 1.2));
    ae_set_f32(inst, PHI, ae_rng_uniform(rng, 0.05, 0.2));
    ae_set_f32(inst, C, ae_rng_uniform(rng, 0.8, 1.2));
    ae_set_f32(inst, A, ae_rng_uniform(rng, 8, 12));
    ae_set_f32(inst, GAMMA, ae_rng_uniform(rng, 0.7, 0.85));
    ae_set_f32(inst, K, ae_rng_uniform(rng, 0.03, 0.05));
    ae_set_f32(inst, LAMBDA_MIN, 0.1);
    ae_set_f32(inst, LAMBDA_MAX, ae_rng_uniform(rng, 4, 6));
}

static void change_for_family(struct ae_instance *inst, struct ae_rng *rng)
{
    const double dx = real(inst, DX);
    switch (inst->family) {
    case LONG_JUMP: /* half of the points, or all of them, jump to the last one */
        ae_set_f32(inst, ALPHA, dx * inst->scalar[N_X].i32 * ae_rng_uniform(rng, 0.4, 1.5));
        break;
    case TIES: /* dx a power of two, so that the quotient is exactly halfway */
        ae_set_f32(inst, DX, 0.0625);
        ae_set_f32(inst, ALPHA, 0.0625 * ((double)ae_rng_range(rng, 4, 12) * 2 + 0.5));
        break;
    case CORNER: /* the best control lies at an end of its range, for many states even beyond it */
        ae_set_f32(inst, A,
                   ae_rng_chance(rng, 0.5) ? ae_rng_uniform(rng, 0.3, 0.6)
                                           : ae_rng_uniform(rng, 40, 90));
        break;
    case MILD:
        ae_set_f32(inst, DT, 0.001);
        ae_set_f32(inst, ALPHA, 0.05);
        ae_set_f32(inst, BETA, 0.001);
        ae_set_f32(inst, PHI, 0.1);
        ae_set_f32(inst, C, 1);
        ae_set_f32(inst, A, 10);
        ae_set_f32(inst, GAMMA, 0.5);
        ae_set_f32(inst, K, 0.01);
        ae_set_f32(inst, LAMBDA_MAX, 5);
        break;
    case NO_JUMP:
        ae_set_f32(inst, ALPHA, 0.004);
        break;
    default:
        break;
    }
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t points = inst->param[P_POINTS], steps = inst->param[P_STEPS],
            controls = inst->param[P_CONTROLS];
    if (inst->family != HARDENED) /* judged only: a quarter of the points */
        points /= 4;
    points += ae_rng_range(rng, -points * 3 / 100, points * 3 / 100);
    if (points % 32 == 0)
        points++;
    controls += ae_rng_range(rng, -controls / 10, controls / 10);
    if (inst->family == TINY) {
        points = ae_rng_range(rng, 1, 9);
        steps = ae_rng_range(rng, 1, 40);
        controls = ae_rng_range(rng, 2, 3);
    }
    ae_set_i32(inst, N_X, points);
    ae_set_i32(inst, N_T, steps);
    ae_set_i32(inst, N_LAMBDA, controls);
    for (int tries = 0; tries < 1000; tries++) {
        draw_parameters(inst, rng);
        change_for_family(inst, rng);
        if (stability(inst) < 0.9)
            return AE_OK;
    }
    return ae_error_set(err, AE_E_INTERNAL, "no stable parameters in 1000 draws");
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, V_OUT, (size_t)inst->scalar[N_X].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t points = inst->scalar[N_X].i32, steps = inst->scalar[N_T].i32,
                  controls = inst->scalar[N_LAMBDA].i32;
    if (points < 1 || points > 100000000 || steps < 0 || controls < 2 || controls > 1000000)
        return ae_error_set(err, AE_E_INPUT,
                            "N_x = %d, N_T = %d, N_lambda = %d: at least 1, 0 and 2 are needed",
                            points, steps, controls);
    for (int arg = DX; arg <= LAMBDA_MAX; arg++) {
        const bool may_be_zero = arg == ALPHA || arg == BETA || arg == PHI || arg == C || arg == K;
        const double value = real(inst, arg);
        if (!isfinite(value) || value < 0 || (value == 0 && !may_be_zero) || value > 1e6)
            return ae_error_set(err, AE_E_INPUT, "%s is %g", args[arg].name, value);
    }
    if (!(real(inst, LAMBDA_MIN) < real(inst, LAMBDA_MAX)))
        return ae_error_set(err, AE_E_INPUT, "lambda_min = %g is not below lambda_max = %g",
                            real(inst, LAMBDA_MIN), real(inst, LAMBDA_MAX));
    if (!(stability(inst) <= 1.000001))
        return ae_error_set(err, AE_E_INPUT,
                            "the time step is too long: the stability sum is %g, above 1",
                            stability(inst));
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* With the best control found from its closed form; the search over the control grid is not
     * needed. */
    w->operations = 30.0 * inst->scalar[N_X].i32 * inst->scalar[N_T].i32;
    w->steps = inst->scalar[N_T].i32 > 0 ? inst->scalar[N_T].i32 : 1;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    static const int counts[] = {N_X, N_T, N_LAMBDA};
    static const int reals[] = {DX, DT, ALPHA, BETA, PHI, C, A, GAMMA, K, LAMBDA_MIN, LAMBDA_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t value;
        const int rc = ae_published_param(published, args[counts[i]].name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < INT32_MIN || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit",
                                args[counts[i]].name, (long long)value);
        ae_set_i32(inst, counts[i], value);
    }
    const struct ae_published_tensor *tensor = ae_published_tensor(published, "float_params");
    if (!tensor || tensor->type != AE_F32 || tensor->count != sizeof reals / sizeof *reals)
        return ae_error_set(err, AE_E_INPUT,
                            "input.bin has no float tensor float_params of 11 elements");
    for (size_t i = 0; i < tensor->count; i++) {
        float value;
        memcpy(&value, (const char *)tensor->data + i * sizeof value, sizeof value);
        ae_set_f32(inst, reals[i], (double)value);
    }
    return AE_OK;
}

const struct ae_task ae_task_self_exciting_pricing_dp = {
    .id = "self_exciting_pricing_dp",
    .title = "Optimal pricing under self-exciting demand by an explicit finite-difference scheme",
    .domain = AE_OR,
    .lineage = "dynamic pricing with Hawkes demand: the Hamilton-Jacobi-Bellman equation, upwind "
               "explicit Euler",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N_x", "N_T", "N_lambda"},
    .sizes = {[AE_SMALL] = {{10000, 100, 50}},
              [AE_MEDIUM] = {{50000, 500, 100}},
              [AE_LARGE] = {{100000, 1000, 200}}},
    .families =
        {{"hardened", "drawn parameters under which the jump term decides the price", AE_ALL_SIZES},
         {"long_jump", "a sale carries many points, or all, beyond the end of the grid",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"ties", "alpha/dx lies exactly halfway between two integers", AE_AT(AE_SMALL)},
         {"corner", "the best control sits at an end of its range",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"mild",
          "the published parameters: nearly a closed form, and alpha/dx a hair below an integer",
          AE_AT(AE_SMALL)},
         {"no_jump", "alpha below half of dx: the jump is no move at all", AE_AT(AE_SMALL)},
         {"tiny", "one to nine points, two or three controls", AE_AT(AE_SMALL)}},
    .published_atol = 1e-3,
    .published_rtol = 1e-3,
    .published_note = "published parameters are the same at every size and nearly solved by a "
                      "closed form; published "
                      "values are evaluated in float and printed with six decimals",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
    .import = import,
};
