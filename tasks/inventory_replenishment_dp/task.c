#include "task/published.h"

#include "base/fmath.h"

#include <math.h>

enum { P_POINTS, P_PERIODS };

enum {
    N_I,
    N_B,
    N_PHI,
    N_PSI,
    N_X,
    N_SHOCKS,
    T,
    C_T,
    H_T,
    B_T,
    MU,
    NU,
    ALPHA,
    Y,
    GRID_I,
    GRID_B,
    GRID_PHI,
    GRID_PSI,
    ACTIONS,
    SHOCKS,
    SHOCK_PROBS,
    V_OUT,
    ARG_COUNT
};

#define STATES_MAX      ((int64_t)1 << 26)
#define EVALUATIONS_MAX ((int64_t)1 << 38)
#define SUM_SLACK       1e-3 /* of the probabilities' sum from 1 */

static const struct ae_arg args[ARG_COUNT] = {
    [N_I] = {"N_I", AE_I32, AE_SCALAR, .meaning = "grid points of the inventory"},
    [N_B] = {"N_B", AE_I32, AE_SCALAR, .meaning = "grid points of the accumulated backlog"},
    [N_PHI] = {"N_Phi", AE_I32, AE_SCALAR, .meaning = "grid points of the sum of past shocks"},
    [N_PSI] = {"N_Psi", AE_I32, AE_SCALAR, .meaning = "grid points of the sum of squared shocks"},
    [N_X] = {"N_x", AE_I32, AE_SCALAR, .meaning = "number of actions"},
    [N_SHOCKS] = {"N_phi", AE_I32, AE_SCALAR, .meaning = "number of shock outcomes"},
    [T] = {"T", AE_I32, AE_SCALAR, .meaning = "periods"},
    [C_T] = {"c_t", AE_F32, AE_IN, "T", "currency/unit", "cost rate of adjusting the order"},
    [H_T] = {"h_t", AE_F32, AE_IN, "T", "currency/unit", "cost rate of holding"},
    [B_T] = {"b_t", AE_F32, AE_IN, "T", "currency/unit", "cost rate of being short"},
    [MU] = {"mu", AE_F32, AE_SCALAR, .unit = "units", .meaning = "mean demand"},
    [NU] = {"nu", AE_F32, AE_SCALAR, .unit = "units", .meaning = "demand per unit of shock"},
    [ALPHA] = {"alpha", AE_F32, AE_SCALAR, .meaning = "share of past shocks that demand remembers"},
    [Y] = {"y", AE_F32, AE_SCALAR, .unit = "units",
           .meaning = "precommitted delivery of each period"},
    [GRID_I] = {"grid_I", AE_F32, AE_IN, "N_I, increasing", "units", "inventory"},
    [GRID_B] = {"grid_B", AE_F32, AE_IN, "N_B, increasing", "units", "accumulated backlog"},
    [GRID_PHI] = {"grid_Phi", AE_F32, AE_IN, "N_Phi, increasing", .meaning = "sum of past shocks"},
    [GRID_PSI] = {"grid_Psi", AE_F32, AE_IN, "N_Psi, increasing",
                  .meaning = "sum of squared shocks"},
    [ACTIONS] = {"actions", AE_F32, AE_IN, "N_x", "units",
                 "adjustments of the delivery, of either sign"},
    [SHOCKS] = {"shocks", AE_F32, AE_IN, "N_phi", .meaning = "outcomes of the shock"},
    [SHOCK_PROBS] = {"shock_probs", AE_F32, AE_IN, "N_phi", .meaning = "their probabilities"},
    [V_OUT] = {"V_out", AE_F32, AE_OUT, "N_I*N_B*N_Phi*N_Psi, inventory slowest", "currency",
               "expected cost to go at time 0",
               .rule = {AE_CLOSE, .atol = 1e-4, .rtol = 2e-5,
                        .reason =
                            "1e-4 + 2e-5*|cost|: float in any order and double use about 2 % "
                            "of it; tables in half precision, coarser sets of actions and "
                            "extrapolation fail"}},
};

enum family { NOMINAL, MINIMAL, UNEVEN, OUTSIDE };

/* n increasing coordinates over [lo, hi]: even ones, inner points moved by up to jitter of the
 * spacing. */
static int draw_grid(struct ae_instance *inst, struct ae_rng *rng, int arg, int n, double lo,
                     double hi, double jitter, struct ae_error *err)
{
    float *grid = ae_new_array(inst, arg, (size_t)n, err);
    if (!grid)
        return AE_E_NOMEM;
    const double spacing = (hi - lo) / (n - 1);
    for (int i = 0; i < n; i++) {
        const bool inner = i > 0 && i < n - 1;
        grid[i] = (float)(lo + spacing * (i + (inner ? ae_rng_uniform(rng, -jitter, jitter) : 0)));
    }
    return AE_OK;
}

static int draw_sorted(struct ae_instance *inst, struct ae_rng *rng, int arg, int n, double lo,
                       double hi, struct ae_error *err)
{
    float *values = ae_new_array(inst, arg, (size_t)n, err);
    if (!values)
        return AE_E_NOMEM;
    for (int i = 0; i < n; i++) {
        const float value = (float)ae_rng_uniform(rng, lo, hi);
        int k = i;
        for (; k > 0 && values[k - 1] > value; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
    return AE_OK;
}

static int draw_uniform(struct ae_instance *inst, struct ae_rng *rng, int arg, int n, double lo,
                        double hi, struct ae_error *err)
{
    float *values = ae_new_array(inst, arg, (size_t)n, err);
    if (!values)
        return AE_E_NOMEM;
    ae_rng_fill_f32(rng, values, (size_t)n, (float)lo, (float)hi);
    return AE_OK;
}

static void draw_sizes(struct ae_instance *inst, struct ae_rng *rng)
{
    const int nominal = (int)inst->param[P_POINTS];
    int sizes[4] = {nominal - 2, nominal + 2, nominal - 1,
                    nominal + 1}; /* unlike, so that a wrong layout shows */
    const bool pairs_swapped = ae_rng_chance(rng, 0.5);
    const int of_i = ae_rng_chance(rng, 0.5);
    const int of_b = ae_rng_chance(rng, 0.5);
    const int *ip = sizes + (pairs_swapped ? 2 : 0), *bp = sizes + (pairs_swapped ? 0 : 2);
    ae_set_i32(inst, N_I, ip[of_i]);
    ae_set_i32(inst, N_PHI, ip[!of_i]);
    ae_set_i32(inst, N_B, bp[of_b]);
    ae_set_i32(inst, N_PSI, bp[!of_b]);
    ae_set_i32(inst, N_X, nominal);
    ae_set_i32(inst, N_SHOCKS, nominal);
    ae_set_i32(inst, T, inst->param[P_PERIODS]);
    if (inst->family == MINIMAL) {
        for (int a = N_I; a <= N_PSI; a++)
            ae_set_i32(inst, a, ae_rng_range(rng, 2, 3));
        ae_set_i32(inst, N_X, ae_rng_range(rng, 1, 2));
        ae_set_i32(inst, N_SHOCKS, ae_rng_range(rng, 1, 2));
        ae_set_i32(inst, T, ae_rng_range(rng, 1, 2));
    }
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    draw_sizes(inst, rng);
    const int periods = inst->scalar[T].i32, outcomes = inst->scalar[N_SHOCKS].i32;
    const double jitter = inst->family == UNEVEN ? 0.49 : 0.3,
                 far = inst->family == OUTSIDE ? 4 : 1;
    ae_set_f32(inst, MU, ae_rng_uniform(rng, 150, 250));
    ae_set_f32(inst, Y, ae_rng_uniform(rng, 150, 250));
    ae_set_f32(inst, ALPHA, ae_rng_uniform(rng, 0.2, 0.5));
    ae_set_f32(inst, NU, far * 200 / ae_sqrt(periods) * ae_rng_uniform(rng, 0.8, 1.2));
    int rc = draw_uniform(inst, rng, C_T, periods, 0.05, 0.15, err);
    if (rc == AE_OK)
        rc = draw_uniform(inst, rng, H_T, periods, 0.02, 0.06, err);
    if (rc == AE_OK)
        rc = draw_uniform(inst, rng, B_T, periods, 0.1, 0.3, err);
    if (rc == AE_OK)
        ((float *)inst->array[B_T].data)[periods - 1] =
            2.0f; /* what is short at the end stays so */
    for (int k = 0; rc == AE_OK && k < 4; k++) {
        static const double ends[4][4] = {
            {-60, -20, 350, 450}, {0, 0, 900, 1100}, {-6, -4, 4, 6}, {0, 0, 22, 28}};
        const double lo = ends[k][0] < 0 ? ae_rng_uniform(rng, ends[k][0], ends[k][1]) : 0;
        const double hi = ae_rng_uniform(rng, ends[k][2], ends[k][3]);
        rc = draw_grid(inst, rng, GRID_I + k, inst->scalar[N_I + k].i32, lo, hi, jitter, err);
    }
    if (rc == AE_OK)
        rc = draw_sorted(inst, rng, ACTIONS, inst->scalar[N_X].i32, -200, 200, err);
    if (rc == AE_OK)
        rc = draw_sorted(inst, rng, SHOCKS, outcomes, -far, far, err);
    if (rc == AE_OK)
        rc = draw_uniform(inst, rng, SHOCK_PROBS, outcomes, 0.5, 1.5, err);
    if (rc != AE_OK)
        return rc;
    float *probs = inst->array[SHOCK_PROBS].data, sum = 0;
    if (inst->family == UNEVEN &&
        outcomes > 2) /* some outcomes never come, and actions are in no order */
        probs[0] = probs[outcomes / 2] = 0;
    for (int k = 0; k < outcomes; k++)
        sum += probs[k];
    for (int k = 0; k < outcomes; k++)
        probs[k] /= sum;
    if (inst->family == UNEVEN) {
        float *actions = inst->array[ACTIONS].data;
        for (int32_t a = inst->scalar[N_X].i32 - 1; a > 0; a--) {
            const uint32_t other = ae_rng_below(rng, (uint32_t)a + 1);
            const float kept = actions[a];
            actions[a] = actions[other];
            actions[other] = kept;
        }
    }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    size_t states = 1;
    for (int a = N_I; a <= N_PSI; a++)
        states *= (size_t)inst->scalar[a].i32;
    ae_set_output(inst, V_OUT, states);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    static const struct {
        int array, length;
    } lengths[] = {{C_T, T},           {H_T, T},
                   {B_T, T},           {GRID_I, N_I},
                   {GRID_B, N_B},      {GRID_PHI, N_PHI},
                   {GRID_PSI, N_PSI},  {ACTIONS, N_X},
                   {SHOCKS, N_SHOCKS}, {SHOCK_PROBS, N_SHOCKS}};
    int64_t states = 1;
    for (int a = N_I; a <= T; a++) {
        const int32_t value = inst->scalar[a].i32, least = a <= N_PSI ? 2 : 1;
        if (value < least)
            return ae_error_set(err, AE_E_INPUT, "%s is %d; at least %d is needed", args[a].name,
                                value, least);
        states = a <= N_PSI && states <= STATES_MAX ? states * value : states;
    }
    const double evaluations =
        (double)states * inst->scalar[N_X].i32 * inst->scalar[N_SHOCKS].i32 * inst->scalar[T].i32;
    if (states > STATES_MAX || evaluations > (double)EVALUATIONS_MAX)
        return ae_error_set(err, AE_E_INPUT, "more than %lld states or %lld evaluations",
                            (long long)STATES_MAX, (long long)EVALUATIONS_MAX);
    for (int a = MU; a <= Y; a++)
        if (!isfinite(inst->scalar[a].f32))
            return ae_error_set(err, AE_E_INPUT, "%s is not finite", args[a].name);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int a = lengths[i].array;
        const size_t count = inst->array[a].count,
                     want = (size_t)inst->scalar[lengths[i].length].i32;
        const float *values = ae_in_f32(inst, a);
        if (count != want)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements, not %zu", args[a].name,
                                count, want);
        double sum = 0;
        for (size_t k = 0; k < count; k++) {
            if (!isfinite(values[k]) || (a == SHOCK_PROBS && values[k] < 0))
                return ae_error_set(err, AE_E_INPUT, "%s[%zu] is %g", args[a].name, k,
                                    (double)values[k]);
            if (a >= GRID_I && a <= GRID_PSI && k > 0 && !(values[k] > values[k - 1]))
                return ae_error_set(err, AE_E_INPUT, "%s does not increase at point %zu",
                                    args[a].name, k);
            sum += (double)values[k];
        }
        if (a == SHOCK_PROBS && !(fabs(sum - 1) <= SUM_SLACK))
            return ae_error_set(err, AE_E_INPUT, "the probabilities add up to %g", sum);
    }
    return AE_OK;
}

/* The good algorithm keeps two coordinates: nothing depends on backlog and squared shocks. */
static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 25.0 * inst->scalar[N_I].i32 * inst->scalar[N_PHI].i32 * inst->scalar[N_X].i32 *
                        inst->scalar[N_SHOCKS].i32 * inst->scalar[T].i32 +
                    (double)inst->array[V_OUT].count;
    w->steps = inst->scalar[T].i32;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    for (int a = N_I; a <= SHOCK_PROBS; a++) {
        int64_t value = 0;
        int rc = AE_OK;
        if (args[a].role == AE_IN)
            rc = ae_published_copy(published, args[a].name, inst, a, -1, err);
        else if (a <= T)
            rc = ae_published_param(published, args[a].name, &value, err);
        if (rc == AE_OK && (value < INT32_MIN || value > INT32_MAX))
            rc = ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit",
                              args[a].name, (long long)value);
        if (rc != AE_OK)
            return rc;
        if (a <= T)
            ae_set_i32(inst, a, value);
    }
    /* The real scalars come as one tensor: it passes through the array of the actions, which is
     * then filled anew. */
    const int rc = ae_published_copy(published, "fparams", inst, ACTIONS, 4, err);
    if (rc != AE_OK)
        return rc;
    for (int k = 0; k < 4; k++)
        inst->scalar[MU + k].f32 = ae_in_f32(inst, ACTIONS)[k];
    return ae_published_copy(published, "actions", inst, ACTIONS, -1, err);
}

const struct ae_task ae_task_inventory_replenishment_dp = {
    .id = "inventory_replenishment_dp",
    .title = "Inventory replenishment around a precommitted order by dynamic programming",
    .domain = AE_OR,
    .lineage =
        "Bellman's backward induction on a discretised state, with multilinear interpolation",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"n", "T"},
    .sizes = {[AE_SMALL] = {{10, 5}}, [AE_MEDIUM] = {{14, 6}}, [AE_LARGE] = {{18, 8}}},
    .families = {{"nominal",
                  "four unlike grid sizes, points off the even spacing, all constants drawn",
                  AE_ALL_SIZES},
                 {"minimal", "grids of two or three points, one or two actions, shocks and periods",
                  AE_AT(AE_SMALL)},
                 {"uneven",
                  "points far off the even spacing, unsorted actions, impossible outcomes",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"outside", "shocks of many times the size: most look-ups end at a clamp",
                  AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 0.01,
    .published_note = "published data share one set of constants and even grids of equal size",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
    .import = import,
};
