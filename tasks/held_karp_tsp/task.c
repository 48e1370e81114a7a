#include "task/task.h"

#include "base/fmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_BATCH, P_CITIES };

enum { B, N, COSTS, TOUR_COSTS_OUT, ARG_COUNT };

enum { MIXED, TIES, WIDE, PLANTED, TINY };

#define CITIES_MAX 24

static const struct ae_arg args[ARG_COUNT] = {
    [B] = {"B", AE_I32, AE_SCALAR, .meaning = "number of instances"},
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of cities of each instance"},
    [COSTS] = {"costs", AE_I32, AE_IN, "B*n*n", "cost",
               "cost from city i to city j of instance b at b*n*n + i*n + j"},
    [TOUR_COSTS_OUT] =
        {"tour_costs_out", AE_I32, AE_OUT, "B", "cost",
         "cost of the cheapest tour of each instance",
         .rule = {AE_EXACT, .reason =
                                "the optimum is one integer; a method that only happens to find it "
                                "cannot be told by its output: read the source"}},
};

/* Points in a square, rounded Euclidean distances of at least 1. */
static void draw_euclidean(struct ae_rng *rng, int32_t n, int32_t *cost)
{
    double x[CITIES_MAX], y[CITIES_MAX];
    for (int32_t i = 0; i < n; i++) {
        x[i] = ae_rng_uniform(rng, 0, 1000);
        y[i] = ae_rng_uniform(rng, 0, 1000);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const double dx = x[i] - x[j], dy = y[i] - y[j];
            const double distance = floor(ae_sqrt(dx * dx + dy * dy) + 0.5);
            cost[i * n + j] = i == j ? 0 : distance < 1 ? 1 : (int32_t)distance;
        }
}

/* Each direction on its own, lo..hi. */
static void draw_asymmetric(struct ae_rng *rng, int32_t n, int32_t lo, int32_t hi, int32_t *cost)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            cost[i * n + j] = i == j ? 0 : (int32_t)ae_rng_range(rng, lo, hi);
}

/* Cheap arcs along a random tour and some more of them that lead astray. */
static void draw_planted(struct ae_rng *rng, int32_t n, int32_t *cost)
{
    int32_t tour[CITIES_MAX];
    draw_asymmetric(rng, n, 500, 5000, cost);
    ae_rng_permutation(rng, tour, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        cost[tour[i] * n + tour[(i + 1) % n]] = (int32_t)ae_rng_range(rng, 1, 500);
    for (int32_t e = 0; e < 2 * n; e++) {
        const int32_t i = (int32_t)ae_rng_below(rng, (uint32_t)n),
                      j = (int32_t)ae_rng_below(rng, (uint32_t)n);
        if (i != j)
            cost[i * n + j] = (int32_t)ae_rng_range(rng, 1, 500);
    }
}

/* Half of the batch Euclidean; of the others half, rounded up, with costs of up to a million, which
 * do not fit 16 bits; in random order. */
static void draw_mixed(struct ae_rng *rng, int32_t count, int32_t n, int32_t *costs, int32_t *order)
{
    const int32_t asymmetric = count - count / 2, wide = (asymmetric + 1) / 2;
    ae_rng_permutation(rng, order, (size_t)count);
    for (int32_t b = 0; b < count; b++) {
        int32_t *cost = costs + (size_t)b * (size_t)(n * n);
        if (order[b] >= asymmetric)
            draw_euclidean(rng, n, cost);
        else
            draw_asymmetric(rng, n, 1, order[b] < wide ? 1000000 : 5000, cost);
    }
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const bool tiny = inst->family == TINY;
    const int32_t n = tiny ? (int32_t)ae_rng_range(rng, 2, 5) : (int32_t)inst->param[P_CITIES];
    const int32_t count = tiny ? (int32_t)ae_rng_range(rng, 1, 6) : (int32_t)inst->param[P_BATCH];
    ae_set_i32(inst, B, count);
    ae_set_i32(inst, N, n);
    int32_t *costs = ae_new_array(inst, COSTS, (size_t)count * (size_t)(n * n), err);
    int32_t *order = malloc((size_t)count * sizeof *order);
    if (!costs || !order) {
        free(order);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %d instances", count);
    }
    if (inst->family == MIXED)
        draw_mixed(rng, count, n, costs, order);
    for (int32_t b = 0; inst->family != MIXED && b < count; b++) {
        int32_t *cost = costs + (size_t)b * (size_t)(n * n);
        if (inst->family == TIES)
            draw_asymmetric(rng, n, 0, b % 2 ? 1 : 3, cost);
        else if (inst->family == WIDE)
            draw_asymmetric(rng, n, 1, INT32_MAX / (n + 1), cost);
        else if (inst->family == PLANTED)
            draw_planted(rng, n, cost);
        else
            draw_asymmetric(rng, n, 0, 100, cost);
    }
    free(order);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, TOUR_COSTS_OUT, (size_t)inst->scalar[B].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t count = inst->scalar[B].i32, n = inst->scalar[N].i32;
    if (count < 1 || n < 2 || n > CITIES_MAX)
        return ae_error_set(err, AE_E_INPUT, "%d instances of %d cities: at least 1, with 2 to %d",
                            count, n, CITIES_MAX);
    if (inst->array[COSTS].count != (size_t)count * (size_t)(n * n))
        return ae_error_set(err, AE_E_INPUT, "costs has %zu elements for %d instances of %d cities",
                            inst->array[COSTS].count, count, n);
    for (size_t i = 0; i < inst->array[COSTS].count; i++)
        if (ae_in_i32(inst, COSTS)[i] < 0 || ae_in_i32(inst, COSTS)[i] > INT32_MAX / n)
            return ae_error_set(err, AE_E_INPUT,
                                "costs[%zu] is %d: costs are 0 or more, and tours fit an int", i,
                                ae_in_i32(inst, COSTS)[i]);
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double m = inst->scalar[N].i32 - 1;
    double sets = 1;
    for (int i = 2; i < m; i++)
        sets *= 2;
    w->operations = 2 * m * (m - 1) * sets * inst->scalar[B].i32 + m;
    w->steps = m < 3 ? 1 : ceil(m / 2) + 1; /* from both ends to the middle */
}

const struct ae_task ae_task_held_karp_tsp = {
    .id = "held_karp_tsp",
    .title = "Optimal travelling-salesman tours of small complete graphs",
    .domain = AE_GRAPH,
    .lineage = "Held & Karp 1962, Bellman 1962; after the Hamiltonian paths of OR-Tools",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"B", "n"},
    .sizes = {[AE_SMALL] = {{8, 15}}, [AE_MEDIUM] = {{8, 18}}, [AE_LARGE] = {{4, 21}}},
    .families =
        {{"mixed", "half Euclidean, half asymmetric, some costs beyond 16 bits; in random order",
          AE_ALL_SIZES},
         {"ties", "costs 0 to 3 and 0 to 1: optima with many tours",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"wide",
          "tours of up to nearly 2^31: catches float and sentinel values that are too small",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"planted",
          "cheap arcs along one tour and others that lead astray: hard for greedy choices",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"tiny", "two to five cities", AE_AT(AE_SMALL)}},
    .published_note =
        "published instances are Euclidean: heuristics find their optima within a few restarts",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
