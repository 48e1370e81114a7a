#include "task/task.h"

#include "base/fmath.h"
#include "task/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_STATES, P_ACTIONS, P_BACKUPS };

enum { S, A, T, GAMMA, REW, P_UP, P_DOWN, V, ARG_COUNT };

enum { RING, NEARLY_UNIFORM, SPARSE, EQUAL_VALUES, NO_FREEDOM, ALL_FREEDOM, LOSSES, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [S] = {"S", AE_I32, AE_SCALAR, .meaning = "states"},
    [A] = {"A", AE_I32, AE_SCALAR, .meaning = "actions in every state"},
    [T] = {"T", AE_I32, AE_SCALAR, .meaning = "backups"},
    [GAMMA] = {"gamma", AE_F32, AE_SCALAR, .meaning = "discount factor"},
    [REW] = {"rew", AE_F32, AE_IN, "S*A, state-major", "value", "reward of an action in a state"},
    [P_UP] = {"P_up", AE_F32, AE_IN, "S*A*S, state-major, then action", "probability",
              "upper bounds"},
    [P_DOWN] = {"P_down", AE_F32, AE_IN, "S*A*S, state-major, then action", "probability",
                "lower bounds"},
    [V] =
        {"V", AE_F32, AE_OUT, "S", "value", "value of each state after T backups",
         .rule = {AE_SCALED, .atol = 1e-4,
                  .reason =
                      "1e-4 + 3e-6/(1-gamma)*|V|: a backup passes on gamma times the rounding of a "
                      "value, so "
                      "an error of 1e-6 grows by 1/(1-gamma); sums in float, in order, use a third "
                      "of it; one "
                      "backup less, frozen actions or another inner problem exceed it many times"}},
};

/* A local random walk on a ring, whose centre depends on state and action: values differ from state
 * to state, the order of the states and the best actions keep changing for half of the backups, and
 * the rank at which the mass reaches one is anywhere. */
static void fill_ring_row(struct ae_rng *rng, int64_t states, int64_t centre, const double *kernel,
                          double *p)
{
    for (int64_t j = 0; j < states; j++) {
        int64_t distance = j > centre ? j - centre : centre - j;
        if (distance > states - distance)
            distance = states - distance;
        const double u = ae_rng_unit(rng);
        p[j] = kernel[distance] * (u * u);
    }
}

static void fill_row(const struct ae_instance *inst, struct ae_rng *rng, int64_t states, int64_t s,
                     const double *kernel, double *p)
{
    const int64_t q = states >= 50 ? states / 50 : 1;
    int64_t centre = (s + ae_rng_range(rng, -q, q) + 2 * states) % states;
    switch (inst->family) {
    case NEARLY_UNIFORM:
        for (int64_t j = 0; j < states; j++)
            p[j] = ae_rng_unit(rng);
        break;
    case SPARSE:
        memset(p, 0, (size_t)states * sizeof *p);
        for (int64_t i = ae_rng_range(rng, 1, 6); i > 0; i--)
            p[ae_rng_chance(rng, 0.7) ? (centre + i) % states : ae_rng_range(rng, 0, states - 1)] +=
                ae_rng_uniform(rng, 0.1, 1);
        break;
    default:
        fill_ring_row(rng, states, centre, kernel, p);
        p[centre] += 1e-9; /* never an empty row */
    }
    double sum = 0;
    for (int64_t j = 0; j < states; j++)
        sum += p[j];
    for (int64_t j = 0; j < states; j++)
        p[j] /= sum;
}

static void bound_row(const struct ae_instance *inst, struct ae_rng *rng, int64_t states, double *p,
                      float *up, float *down)
{
    if (inst->family == NO_FREEDOM) { /* multiples of 2^-20: their float sum is 1 in any order */
        int64_t rest = 1 << 20, largest = 0;
        for (int64_t j = 0; j < states; j++) {
            const int64_t units = (int64_t)(p[j] * (1 << 20));
            largest = p[j] > p[largest] ? j : largest;
            rest -= units;
            up[j] = (float)units / (1 << 20);
        }
        up[largest] += (float)rest / (1 << 20);
        memcpy(down, up, (size_t)states * sizeof *up);
        return;
    }
    for (int64_t j = 0; j < states; j++) {
        double above = p[j] * (1 + ae_rng_uniform(rng, 0.05, 0.5)),
               below = p[j] * (1 - ae_rng_uniform(rng, 0.05, 0.5));
        if (inst->family == ALL_FREEDOM) {
            above = 1;
            below = 0;
        }
        up[j] = (float)(above > 1 ? 1 : above);
        down[j] = (float)below;
    }
    if (inst->family == SPARSE ||
        inst->family == TINY) /* a lone successor is certain whatever its width */
        for (int64_t j = 0; j < states; j++)
            if (p[j] == 1)
                up[j] = 1;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t states = inst->param[P_STATES], actions = inst->param[P_ACTIONS],
            backups = inst->param[P_BACKUPS];
    if (inst->family != RING) {
        states = states / 4 < 60 ? states / 4 : states / 10;
        actions = inst->family == LOSSES ? 1 : actions;
    }
    states += ae_rng_range(rng, -states * 3 / 100, states * 3 / 100);
    if (states % 32 == 0)
        states++;
    if (inst->family == TINY) {
        states = ae_rng_range(rng, 1, 5);
        actions = ae_rng_range(rng, 1, 3);
        backups = ae_rng_range(rng, 1, 20);
    }
    /* So near to 1 that the last backup still moves the values by several tolerances. */
    const int64_t discount = inst->size == AE_LARGE    ? 9900
                             : inst->size == AE_MEDIUM ? ae_rng_range(rng, 9670, 9900)
                                                       : ae_rng_range(rng, 9500, 9900);
    ae_set_i32(inst, S, states);
    ae_set_i32(inst, A, actions);
    ae_set_i32(inst, T, backups);
    ae_set_f32(inst, GAMMA, (double)((float)discount / 10000.0f));
    const size_t rows = (size_t)(states * actions);
    float *rew = ae_new_array(inst, REW, rows, err);
    float *up = ae_new_array(inst, P_UP, rows * (size_t)states, err);
    float *down = ae_new_array(inst, P_DOWN, rows * (size_t)states, err);
    double *kernel = malloc(((size_t)states / 2 + 1) * sizeof *kernel),
           *p = malloc((size_t)states * sizeof *p);
    if (!rew || !up || !down || !kernel || !p) {
        free(kernel);
        free(p);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu rows", rows);
    }
    const double phase = ae_rng_unit(rng), length = (double)states / ae_rng_uniform(rng, 30, 80);
    for (int64_t d = 0; d <= states / 2; d++)
        kernel[d] = ae_exp(-(double)d / (length > 1 ? length : 1)) + 1e-4;
    for (int64_t s = 0; s < states; s++)
        for (int64_t a = 0; a < actions; a++) {
            const int64_t row = s * actions + a;
            double reward =
                0.5 + 0.35 * ae_sin(6.283185307179586 * ((double)s / (double)states + phase)) +
                0.15 * ae_rng_unit(rng);
            if (inst->family ==
                EQUAL_VALUES) /* many states and actions alike: ties in order and in choice */
                reward = s % 3 == 0 ? 0.25 : 1;
            if (inst->family == LOSSES)
                reward = -200 * reward;
            rew[row] = (float)reward;
            if (inst->family == EQUAL_VALUES &&
                s > 2) { /* a shifted copy: equal values far into the iteration */
                const float *from_up = up + ((s % 3) * actions + a) * states;
                const float *from_down = down + ((s % 3) * actions + a) * states;
                memcpy(up + row * states, from_up, (size_t)states * sizeof *up);
                memcpy(down + row * states, from_down, (size_t)states * sizeof *down);
                continue;
            }
            fill_row(inst, rng, states, s, kernel, p);
            bound_row(inst, rng, states, p, up + row * states, down + row * states);
        }
    free(kernel);
    free(p);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, V, (size_t)inst->scalar[S].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int64_t states = inst->scalar[S].i32, actions = inst->scalar[A].i32;
    if (states < 1 || actions < 1 || inst->scalar[T].i32 < 0 || states > 1000000 ||
        actions > 1000000)
        return ae_error_set(err, AE_E_INPUT,
                            "S = %lld, A = %lld, T = %d: at least 1, 1 and 0 are needed",
                            (long long)states, (long long)actions, inst->scalar[T].i32);
    const float gamma = inst->scalar[GAMMA].f32;
    if (!(gamma > 0 && gamma < 1))
        return ae_error_set(err, AE_E_INPUT, "gamma = %g is not between 0 and 1", (double)gamma);
    const size_t rows = (size_t)(states * actions);
    if (inst->array[REW].count != rows || inst->array[P_UP].count / (size_t)states != rows ||
        inst->array[P_UP].count % (size_t)states != 0 ||
        inst->array[P_DOWN].count != inst->array[P_UP].count)
        return ae_error_set(
            err, AE_E_INPUT, "rew, P_up and P_down have %zu, %zu and %zu elements for %zu rows",
            inst->array[REW].count, inst->array[P_UP].count, inst->array[P_DOWN].count, rows);
    const float *rew = ae_in_f32(inst, REW), *up = ae_in_f32(inst, P_UP),
                *down = ae_in_f32(inst, P_DOWN);
    for (size_t row = 0; row < rows; row++) {
        if (!(fabsf(rew[row]) <= 1e6f))
            return ae_error_set(err, AE_E_INPUT, "rew[%zu] is %g", row, (double)rew[row]);
        double least = 0, most = 0;
        for (size_t i = row * (size_t)states; i < (row + 1) * (size_t)states; i++) {
            if (!(down[i] >= 0 && down[i] <= up[i] && up[i] <= 1))
                return ae_error_set(err, AE_E_INPUT,
                                    "bounds %g..%g of entry %zu are no probabilities",
                                    (double)down[i], (double)up[i], i);
            least += (double)down[i];
            most += (double)up[i];
        }
        if (!(least <= 1 + 1e-5 && most >= 1 - 1e-5))
            return ae_error_set(err, AE_E_INPUT,
                                "no distribution lies inside the bounds of row %zu", row);
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    const float *value = (const float *)expected->out[arg].data + first;
    const double rtol = 3e-6 / (1 - (double)inst->scalar[GAMMA].f32);
    for (size_t i = 0; i < count; i++)
        tol[i] += rtol * fabs((double)value[i]);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double states = inst->scalar[S].i32, backups = inst->scalar[T].i32;
    w->operations =
        5 * states * states * inst->scalar[A].i32 * (backups > 1 ? backups - 1 : 0) + states;
    w->steps = backups > 0 ? 2 * backups : 1; /* order the states, back up */
    if (backups < 2)                          /* the matrices are never looked at */
        w->bytes_in = 4 * states * inst->scalar[A].i32;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    for (int arg = S; arg <= GAMMA; arg++) {
        int64_t value;
        const int rc = ae_published_param(published, arg == GAMMA ? "gamma_x10000" : args[arg].name,
                                          &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < 0 || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit",
                                args[arg].name, (long long)value);
        if (arg == GAMMA)
            ae_set_f32(inst, GAMMA, (double)((float)value / 10000.0f));
        else
            ae_set_i32(inst, arg, value);
    }
    for (int arg = REW; arg <= P_DOWN; arg++) {
        const int rc = ae_published_copy(published, args[arg].name, inst, arg, -1, err);
        if (rc != AE_OK)
            return rc;
    }
    return AE_OK;
}

const struct ae_task ae_task_robust_value_iteration_hypercube = {
    .id = "robust_value_iteration_hypercube",
    .title = "Robust value iteration with interval transition probabilities",
    .domain = AE_OR,
    .lineage = "bounded-parameter Markov decision processes (Givan, Leach & Dean 2000; Nilim & El "
               "Ghaoui 2005)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"S", "A", "T"},
    .sizes = {[AE_SMALL] = {{200, 10, 100}},
              [AE_MEDIUM] = {{1000, 10, 200}},
              [AE_LARGE] = {{2000, 20, 500}}},
    .families =
        {{"ring", "local random walks on a ring: order and best actions keep changing",
          AE_ALL_SIZES},
         {"nearly_uniform", "every row nearly uniform, as published: values nearly constant",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"sparse", "one to six possible successors, the other bounds 0",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"equal_values", "three kinds of states, so that most values tie", AE_AT(AE_SMALL)},
         {"no_freedom", "upper and lower bounds equal: the mass is one from the start",
          AE_AT(AE_SMALL)},
         {"all_freedom", "bounds 0 and 1: nature always picks the worst state", AE_AT(AE_SMALL)},
         {"losses", "one action, large negative rewards", AE_AT(AE_SMALL)},
         {"tiny", "one to five states", AE_AT(AE_SMALL)}},
    .published_atol = 1e-4,
    .published_rtol = 1e-4,
    .published_note = "published rows are nearly uniform with P_up = 1.5 P_down; published values "
                      "come from float sums",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
    .import = import,
};
