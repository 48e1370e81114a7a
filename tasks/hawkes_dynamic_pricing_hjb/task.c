#include "task/published.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { P_BATCH, P_GRID, P_TIMES, P_ACTIONS };

enum { BATCH, J, N, ACTIONS, H, TAU, LAMBDA0, A, B_PARAM, ALPHA0, BETA, U, LAMBDA, ARG_COUNT };

#define STATES_MAX   ((int64_t)1 << 31)
#define ACTIONS_MAX  100000
#define ACTION_STEP  0.001f
#define U_ATOL       1e-4
#define U_RTOL       5e-5
#define LAMBDA_LIMIT 0.0021 /* two action steps */
#define REGRET       2e-6
#define RECURSION    1e-5
#define SAMPLES                                                                                    \
    ((int64_t)1 << 18) /* of the recursion in large answers; smaller ones are checked whole */
#define DRAWS_MAX 40

static const struct ae_arg args[ARG_COUNT] = {
    [BATCH] = {"batch_size", AE_I32, AE_SCALAR, .meaning = "number of products B"},
    [J] = {"J", AE_I32, AE_SCALAR, .meaning = "grid points of the excitement"},
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "time points"},
    [ACTIONS] = {"num_actions", AE_I32, AE_SCALAR, .meaning = "number of actions K"},
    [H] = {"h", AE_F32, AE_SCALAR, .meaning = "step of the excitement grid", .published = "h_x1e6"},
    [TAU] = {"tau", AE_F32, AE_SCALAR, .meaning = "time step", .published = "tau_x1e6"},
    [LAMBDA0] = {"lambda0", AE_F32, AE_SCALAR, .meaning = "smallest action, a purchase probability",
                 .published = "lambda0_x1e6"},
    [A] = {"a", AE_F32, AE_SCALAR, .meaning = "demand curve: price = (a - lambda) / b_param",
           .published = "a_x1e6"},
    [B_PARAM] = {"b_param", AE_F32, AE_SCALAR, .meaning = "demand curve: slope",
                 .published = "b_param_x1e6"},
    [ALPHA0] = {"alpha0", AE_F32, AE_IN, "batch_size",
                .meaning = "jump of the excitement at a sale"},
    [BETA] = {"beta", AE_F32, AE_IN, "batch_size", "1/time", "decay rate of the excitement"},
    [U] =
        {"U", AE_F32, AE_OUT, "batch_size*J*N, time fastest", "currency",
         "value of each state at each time",
         .rule =
             {AE_PROPERTY,
              .reason =
                  "1e-4 + 5e-5*|value|: other orders of evaluation, fast-math and double use "
                  "at most half of it in the worst corner, a tenth as a rule; and "
                  "1e-5*(1+|value|) against the recursion from the submitted values one step "
                  "later, of which rounding uses little"}},
    [LAMBDA] =
        {"Lambda", AE_F32, AE_OUT, "batch_size*J*N, time fastest", NULL, "action chosen",
         .rule =
             {AE_PROPERTY,
              .reason =
                  "within two action steps (0.0021) of the reference and, with the submitted "
                  "values one step later, at most 2e-6*(1+|value|) worse than the best action: "
                  "where the gain is flat, rounding moves the choice by one step"}},
};

enum family { PRODUCTS, CLAMPS, FEW_POINTS, FEW_ACTIONS, TWO_TIMES, CORNER };

/* --- the model ----------------------------------------------------------------------- */

struct model {
    int points, times, actions;
    float h, tau, lambda0, a, b;
};

static struct model model_of(const struct ae_instance *inst)
{
    return (struct model){inst->scalar[J].i32, inst->scalar[N].i32,      inst->scalar[ACTIONS].i32,
                          inst->scalar[H].f32, inst->scalar[TAU].f32,    inst->scalar[LAMBDA0].f32,
                          inst->scalar[A].f32, inst->scalar[B_PARAM].f32};
}

static float value_at(const float *u, size_t stride, int points, float g)
{
    int m = g >= (float)points ? points : (int)g;
    m = m < 1 ? 1 : m;
    const int from = m < points ? m : points - 1;
    const float slope = u[(size_t)from * stride] - u[(size_t)(from - 1) * stride];
    return u[(size_t)(m - 1) * stride] + (g - (float)m) * slope;
}

static float gain_of(const struct model *m, float action, float kept, float sold)
{
    return action * (((m->a - action) / m->b + sold) - kept);
}

struct choice {
    float kept, sold, gain;
    int action;
};

/* The best action of state i (1..points), given the values u[0], u[stride], ... one step later: the
 * gain is a parabola in the action, so the best one is among those around its top. */
static struct choice choose(const struct model *m, float alpha0, float beta, int i, const float *u,
                            size_t stride)
{
    const float decay = 1.0f - beta * m->tau, p = (float)i * decay, g = p + alpha0 / m->h * decay;
    struct choice c = {value_at(u, stride, m->points, p), value_at(u, stride, m->points, g), -1e30f,
                       0};
    const float top = ((m->a + m->b * (c.sold - c.kept)) * 0.5f - m->lambda0) * 1000.0f;
    int first = !(top > 0) ? 0 : top >= (float)m->actions ? m->actions - 1 : (int)top;
    first = first > 0 ? first - 1 : 0;
    for (int k = first; k < m->actions && k < first + 4; k++) {
        const float gain = gain_of(m, m->lambda0 + (float)k * ACTION_STEP, c.kept, c.sold);
        if (gain > c.gain) {
            c.gain = gain;
            c.action = k;
        }
    }
    return c;
}

static float value_of(const struct model *m, int i, const struct choice *c)
{
    const float x = (float)i * m->h;
    return c->kept + (((x + 0.001f * x * x) + 1.0f) * m->tau) * c->gain;
}

/* Counts clamped and interior choices of one product, and stores values and choices where values is
 * not NULL. work: 2*points floats. */
static void solve(const struct model *m, float alpha0, float beta, float *work, float *values,
                  float *choices, int64_t *ret_clamped, int64_t *ret_inner)
{
    float *later = work, *now = work + m->points;
    for (int n = m->times - 1; n >= 0; n--) {
        for (int i = 1; i <= m->points; i++) {
            struct choice c = {0};
            now[i - 1] = 0;
            if (n < m->times - 1) {
                c = choose(m, alpha0, beta, i, later, 1);
                now[i - 1] = value_of(m, i, &c);
                *(c.action == 0 || c.action == m->actions - 1 ? ret_clamped : ret_inner) += 1;
            }
            if (values) {
                const size_t at = (size_t)(i - 1) * (size_t)m->times + (size_t)n;
                values[at] = now[i - 1];
                choices[at] = n < m->times - 1 ? m->lambda0 + (float)c.action * ACTION_STEP : 0;
            }
        }
        float *swapped = later;
        later = now;
        now = swapped;
    }
}

/* --- instances ----------------------------------------------------------------------- */

/* Multiples of 1e-6, as the published format can hold. */
static float micro(double value)
{
    return (float)floor(value * 1e6 + 0.5) / 1e6f;
}

/* The scheme is explicit: it is stable, and rounding stays small, while no step sells more than one
 * unit on average. */
static bool is_stable(const struct model *m)
{
    const double x = m->points * (double)m->h, most = (double)m->lambda0 + 0.001 * (m->actions - 1);
    return most * (double)m->tau * (1 + x + 0.001 * x * x) <= 0.95;
}

/* Does the policy of the draw both reach the ends of its range and stay inside it? */
static bool has_variety(const struct model *nominal, const float *alpha0, const float *beta,
                        int batch, bool whole, float *scratch)
{
    struct model m = *nominal;
    if (!whole) {
        m.points = m.points < 300 ? m.points : 300;
        m.times = m.times < 500 ? m.times : 500;
    }
    int64_t clamped = 0, inner = 0;
    for (int b = 0; b < batch; b++)
        solve(&m, alpha0[b], beta[b], scratch, NULL, NULL, &clamped, &inner);
    return inner * 10 >= clamped + inner && clamped * 100 >= clamped + inner;
}

static void draw_product(struct ae_rng *rng, const struct model *m, bool corner, float *alpha0,
                         float *beta)
{
    double growth;
    do { /* mild growth only: float stays accurate while values are below some hundreds */
        *alpha0 =
            (float)(corner ? ae_rng_uniform(rng, 0.25, 0.30) : ae_rng_uniform(rng, 0.02, 0.30));
        *beta = (float)(corner ? ae_rng_uniform(rng, 0.09, 0.11) : ae_rng_uniform(rng, 0.09, 0.30));
        growth = (double)*alpha0 * 0.25 * (1 + 0.001 * m->points * (double)m->h) / (double)*beta;
    } while (growth > 0.95);
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const enum family family = (enum family)inst->family;
    int batch = (int)inst->param[P_BATCH];
    const int64_t points = inst->param[P_GRID], times = inst->param[P_TIMES];
    struct model m = {.h = inst->size == AE_LARGE ? 0.005f : 0.01f,
                      .tau = 0.1f,
                      .actions = (int)inst->param[P_ACTIONS]};
    m.points = (int)(points + ae_rng_range(rng, -points / 33, points / 33));
    m.times = (int)(points * times / m.points); /* states stay the same */
    switch (family) {
    case CLAMPS:
        m.points = (int)ae_rng_range(rng, 380, 420);
        m.times = (int)ae_rng_range(rng, 180, 220);
        m.actions = 20;
        break;
    case FEW_POINTS:
        batch = (int)ae_rng_range(rng, 1, 3);
        m.points = (int)(inst->seed % 2 ? 2 : ae_rng_range(rng, 3, 40));
        m.times = (int)ae_rng_range(rng, 30, 200);
        break;
    case FEW_ACTIONS:
        m.points = (int)ae_rng_range(rng, 380, 420);
        m.times = (int)ae_rng_range(rng, 90, 110);
        m.actions = (int)(inst->seed % 2 ? 1 : ae_rng_range(rng, 2, 3));
        break;
    case TWO_TIMES:
        batch = (int)ae_rng_range(rng, 1, 5);
        m.times = 2;
        break;
    default:
        break;
    }
    float *alpha0 = ae_new_array(inst, ALPHA0, (size_t)batch, err),
          *beta = ae_new_array(inst, BETA, (size_t)batch, err);
    float *scratch = malloc(2 * (size_t)m.points * sizeof *scratch);
    if (!alpha0 || !beta || !scratch) {
        free(scratch);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %d products", batch);
    }
    for (int draw = 0; draw < DRAWS_MAX; draw++) {
        m.a = micro(ae_rng_uniform(rng, 0.35, 0.42));
        m.b = micro(ae_rng_uniform(rng, 0.35, 0.45));
        m.lambda0 =
            micro((double)m.a / 2 + (family == CLAMPS ? 0.005 : ae_rng_uniform(rng, -0.03, 0.01)));
        for (int b = 0; b < batch; b++)
            draw_product(rng, &m, family == CORNER, &alpha0[b], &beta[b]);
        if (family == FEW_POINTS) {
            /* A sale may lead a few grids' widths outside at most: extrapolation amplifies
             * rounding. */
            float h = 0;
            for (int b = 0; b < batch; b++) {
                const double cells =
                    ae_rng_uniform(rng, 1, 6) * m.points * (double)(beta[b] * m.tau);
                h = fmaxf(h, (float)((double)alpha0[b] / cells));
            }
            m.h = h;
        }
        if (is_stable(&m) && (family != PRODUCTS || has_variety(&m, alpha0, beta, batch,
                                                                inst->size == AE_SMALL, scratch)))
            break;
    }
    free(scratch);
    ae_set_i32(inst, BATCH, batch);
    ae_set_i32(inst, J, m.points);
    ae_set_i32(inst, N, m.times);
    ae_set_i32(inst, ACTIONS, m.actions);
    inst->scalar[H].f32 = m.h;
    inst->scalar[TAU].f32 = m.tau;
    inst->scalar[LAMBDA0].f32 = m.lambda0;
    inst->scalar[A].f32 = m.a;
    inst->scalar[B_PARAM].f32 = m.b;
    return AE_OK;
}

static size_t state_count(const struct ae_instance *inst)
{
    return (size_t)inst->scalar[BATCH].i32 * (size_t)inst->scalar[J].i32 *
           (size_t)inst->scalar[N].i32;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, U, state_count(inst));
    ae_set_output(inst, LAMBDA, state_count(inst));
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t batch = inst->scalar[BATCH].i32;
    const struct model m = model_of(inst);
    if (batch < 1 || m.points < 2 || m.times < 2 || m.actions < 1)
        return ae_error_set(err, AE_E_INPUT,
                            "%d products, %d grid points, %d times and %d actions; 1, 2, 2 and "
                            "1 are needed at least",
                            batch, m.points, m.times, m.actions);
    if (m.actions > ACTIONS_MAX || (int64_t)m.points * m.times > STATES_MAX / batch)
        return ae_error_set(err, AE_E_INPUT, "more than %lld states or %d actions",
                            (long long)STATES_MAX, ACTIONS_MAX);
    for (int k = H; k <= B_PARAM; k++)
        if (!isfinite(inst->scalar[k].f32) ||
            (!(inst->scalar[k].f32 > 0) && k != LAMBDA0 && k != A))
            return ae_error_set(err, AE_E_INPUT, "%s = %g", args[k].name,
                                (double)inst->scalar[k].f32);
    for (int k = ALPHA0; k <= BETA; k++)
        if (inst->array[k].count != (size_t)batch)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d products",
                                args[k].name, inst->array[k].count, batch);
    for (int32_t b = 0; b < batch; b++) {
        const float jump = ae_in_f32(inst, ALPHA0)[b] / m.h,
                    decay = 1.0f - ae_in_f32(inst, BETA)[b] * m.tau;
        if (!isfinite(jump) || jump < 0)
            return ae_error_set(err, AE_E_INPUT, "product %d has alpha0 = %g", b,
                                (double)ae_in_f32(inst, ALPHA0)[b]);
        if (!(decay > 0) || !((float)m.points * decay < (float)m.points))
            return ae_error_set(err, AE_E_INPUT,
                                "product %d: beta*tau = %g does not lie between 0 and 1", b,
                                (double)(ae_in_f32(inst, BETA)[b] * m.tau));
    }
    return AE_OK;
}

/* --- judging ------------------------------------------------------------------------- */

/* One state at one time against the submitted values one step later. Returns 0 where both follow
 * from them, 1 where the value does not, 2 where the action does not. */
static int follows(const struct model *m, float alpha0, float beta, int i, const float *values,
                   const float *choices, int n)
{
    const struct choice c = choose(m, alpha0, beta, i, values + n + 1, (size_t)m->times);
    const size_t at = (size_t)(i - 1) * (size_t)m->times + (size_t)n;
    const double want = (double)value_of(m, i, &c);
    if (!(fabs((double)values[at] - want) <= RECURSION * (1 + fabs(want))))
        return 1;
    const double gain = (double)gain_of(m, choices[at], c.kept, c.sold);
    return gain >= (double)c.gain - REGRET * (1 + fabs((double)c.kept)) ? 0 : 2;
}

/* Every element against the reference; at the last time both outputs are exactly 0. */
static void compare(const float *got, const float *right, size_t times, double atol, double rtol,
                    struct ae_output_judgement *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (got[i] == right[i]) /* expected values are finite */
            continue;
        const double g = (double)got[i], e = (double)right[i], diff = fabs(g - e);
        const double limit = i % times == times - 1 ? 0 : atol + rtol * fabs(e);
        if (isfinite(g)) {
            o->max_abs = fmax(o->max_abs, diff);
            if (e != 0)
                o->max_rel = fmax(o->max_rel, diff / fabs(e));
            if (diff > 0)
                o->max_share = fmax(o->max_share, diff / limit);
        }
        if (diff <= limit)
            continue;
        o->nan += isnan(g);
        o->inf += isinf(g) != 0;
        if (o->wrong++ == 0) {
            o->first = i;
            o->got = g;
            o->expected = e;
        }
    }
}

static bool check(const struct ae_instance *inst, const struct ae_expected *expected,
                  const void *const got[], struct ae_judgement *j)
{
    const struct model m = model_of(inst);
    const float *values = got[U], *choices = got[LAMBDA];
    struct ae_output_judgement *of_u = &j->output[0], *of_lambda = &j->output[1];
    compare(values, expected->out[U].data, (size_t)m.times, U_ATOL, U_RTOL, of_u);
    compare(choices, expected->out[LAMBDA].data, (size_t)m.times, LAMBDA_LIMIT, 0, of_lambda);
    const size_t points = (size_t)m.points, times = (size_t)m.times;
    const int64_t all = (int64_t)inst->scalar[BATCH].i32 * m.points * (m.times - 1);
    const int64_t tried = all <= 4 * SAMPLES ? all : SAMPLES;
    int64_t bad[3] = {0};
    struct ae_rng rng;
    ae_rng_seed(&rng, inst->seed, 77);
    for (int64_t s = 0; s < tried; s++) {
        const size_t k = (size_t)(tried == all ? s : (int64_t)ae_rng_below64(&rng, (uint64_t)all));
        const size_t b = k / (points * (times - 1)), rest = k % (points * (times - 1));
        const size_t first = b * points * times;
        bad[follows(&m, ae_in_f32(inst, ALPHA0)[b], ae_in_f32(inst, BETA)[b],
                    (int)(rest / (times - 1)) + 1, values + first, choices + first,
                    (int)(rest % (times - 1)))]++;
    }
    if (bad[1] || bad[2])
        snprintf(j->text, sizeof j->text,
                 "against the submitted U one step later, %lld values and %lld actions of %lld "
                 "do not follow; U: %zu of %zu wrong; Lambda: %zu of %zu wrong",
                 (long long)bad[1], (long long)bad[2], (long long)tried, of_u->wrong, of_u->count,
                 of_lambda->wrong, of_lambda->count);
    return of_u->wrong == 0 && of_lambda->wrong == 0 && !bad[1] && !bad[2];
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double steps = inst->scalar[N].i32 - 1;
    w->operations =
        40.0 * inst->scalar[BATCH].i32 * inst->scalar[J].i32 * steps; /* closed-form action */
    w->steps = steps;
}

/* --- published containers ------------------------------------------------------------ */

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    int64_t value = 0;
    for (int k = BATCH; k <= B_PARAM; k++) {
        const char *name = args[k].published ? args[k].published : args[k].name;
        const int rc = ae_published_param(published, name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < INT32_MIN || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit",
                                name, (long long)value);
        if (k <= ACTIONS)
            ae_set_i32(inst, k, value);
        else
            inst->scalar[k].f32 = (float)value / 1e6f;
    }
    const int rc =
        ae_published_copy(published, "alpha0", inst, ALPHA0, inst->scalar[BATCH].i32, err);
    return rc != AE_OK
               ? rc
               : ae_published_copy(published, "beta", inst, BETA, inst->scalar[BATCH].i32, err);
}

/* The file holds U and then Lambda at the first time; the rest is computed. */
static int import_expected(const struct ae_instance *inst, const char *text,
                           struct ae_expected *expected, struct ae_error *err)
{
    const struct model m = model_of(inst);
    const size_t times = (size_t)m.times, rows = state_count(inst) / times,
                 product = (size_t)m.points * times;
    float *scratch = malloc((2 * (size_t)m.points + rows) * sizeof *scratch);
    if (!scratch)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu states", rows);
    int64_t clamped = 0, inner = 0;
    for (size_t b = 0; b < (size_t)inst->scalar[BATCH].i32; b++)
        solve(&m, ae_in_f32(inst, ALPHA0)[b], ae_in_f32(inst, BETA)[b], scratch,
              (float *)expected->out[U].data + b * product,
              (float *)expected->out[LAMBDA].data + b * product, &clamped, &inner);
    int rc = AE_OK;
    for (int k = U; rc == AE_OK && k <= LAMBDA; k++) {
        rc = ae_published_numbers(&text, AE_F32, scratch, rows, err);
        for (size_t i = 0; rc == AE_OK && i < rows; i++)
            ((float *)expected->out[k].data)[i * times] = scratch[i];
    }
    free(scratch);
    return rc;
}

const struct ae_task ae_task_hawkes_dynamic_pricing_hjb = {
    .id = "hawkes_dynamic_pricing_hjb",
    .title = "Dynamic pricing with self-exciting demand by backward induction of the HJB equation",
    .domain = AE_OR,
    .lineage = "Gallego-van Ryzin pricing with Hawkes arrivals; semi-Lagrangian scheme with "
               "linear interpolation",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"batch_size", "J", "N", "num_actions"},
    .sizes = {[AE_SMALL] = {{2, 1000, 500, 50}},
              [AE_MEDIUM] = {{8, 2500, 1000, 100}},
              [AE_LARGE] = {{32, 5000, 1000, 100}}},
    .families = {{"products",
                  "widely differing jumps and decays; some choices at the ends of the action range",
                  AE_ALL_SIZES},
                 {"clamps", "twenty actions around the best one: both ends and the inside are met",
                  AE_AT(AE_SMALL)},
                 {"few_points",
                  "2 to 40 grid points: fewer than a vector, and a sale may lead outside the grid",
                  AE_AT(AE_SMALL)},
                 {"few_actions", "1 to 3 actions: the best one is nearly always at an end",
                  AE_AT(AE_SMALL)},
                 {"two_times", "a single step of time", AE_AT(AE_SMALL)},
                 {"corner",
                  "large jumps that decay slowly: values grow most and rounding is amplified most",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)}},
    .published_atol = 1e-3,
    .published_rtol = 1e-2,
    .published_note = "published data at large have h = 0.01, where the scheme is at the edge "
                      "of its stability, and we 0.005; published answers hold the first time "
                      "only; the expected values of later times are computed here",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .check = check,
    .work = work,
    .import = import,
    .import_expected = import_expected,
};
