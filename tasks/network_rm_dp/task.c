#include "task/task.h"

#include "base/fmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_RESOURCES, P_PRODUCTS, P_PERIODS, P_MENUS, P_CAPACITY };

enum {
    M,
    N,
    T,
    L,
    S,
    CAPACITY,
    CONSUMPTION,
    DEMAND_PROB,
    DEMAND_CONS,
    DEMAND_REVENUE,
    V_OUT,
    ARG_COUNT
};

#define RESOURCES_MAX   8
#define PRODUCTS_MAX    64
#define STATES_MAX      ((int64_t)1 << 27)
#define EVALUATIONS_MAX ((int64_t)1 << 40)
#define ATOL            1e-3
#define ROUNDS_MAX      30
#define SHARE_LEAST                                                                                \
    0.001 /* of the decisions, for every menu; twice that in the likeness at half size */
#define SUM_SLACK 1e-3 /* of the probabilities' sum from 1 */

static const struct ae_arg args[ARG_COUNT] = {
    [M] = {"m", AE_I32, AE_SCALAR, .meaning = "number of resources, 1 to 8"},
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of products; outcome 0 is that nobody buys"},
    [T] = {"T", AE_I32, AE_SCALAR, .meaning = "number of periods"},
    [L] = {"L", AE_I32, AE_SCALAR, .meaning = "number of price menus"},
    [S] = {"S", AE_I32, AE_SCALAR, .meaning = "number of states, the product of capacity[i]+1"},
    [CAPACITY] = {"capacity", AE_I32, AE_IN, "m", "units", "units of each resource at the start"},
    [CONSUMPTION] = {"consumption", AE_I32, AE_IN, "m*n row-major", "units",
                     "units of a resource that a product takes; need not hold for every menu"},
    [DEMAND_PROB] = {"demand_prob", AE_F32, AE_IN, "L*(n+1) row-major",
                     .meaning = "probability of each outcome"},
    [DEMAND_CONS] = {"demand_cons", AE_I32, AE_IN, "L*(n+1)*m row-major", "units",
                     "units of each resource that an outcome takes"},
    [DEMAND_REVENUE] = {"demand_revenue", AE_F32, AE_IN, "L*(n+1) row-major", "currency",
                        "revenue of each outcome"},
    [V_OUT] =
        {"V_out", AE_F32, AE_OUT, "S, resource 0 fastest", "currency",
         "expected revenue from the first period",
         .rule =
             {AE_SCALED, .rtol = 2e-5,
              .reason =
                  "2e-5*|value| + 1e-3, and exactly 0 where nothing can be sold: float in any "
                  "order stays within a fifth of it, rounding grows with the number of "
                  "periods; a menu left out shows"}},
};

enum family { NETWORK, GROUPS, WIDE, EDGES };

struct market {
    double price, rate, elasticity;
};

/* Prices of menu l around the products' base prices, and how demand answers them. */
static void draw_menu(struct ae_instance *inst, struct ae_rng *rng, int l,
                      const struct market *market)
{
    const int n = inst->scalar[N].i32;
    float *prob = (float *)inst->array[DEMAND_PROB].data + l * (n + 1);
    float *revenue = (float *)inst->array[DEMAND_REVENUE].data + l * (n + 1);
    double rates[PRODUCTS_MAX], sum = 0;
    for (int j = 0; j < n; j++) {
        const double factor = ae_rng_uniform(rng, 0.7, 1.3);
        rates[j] = market[j].rate * ae_exp(market[j].elasticity * (factor - 1));
        sum += rates[j];
        revenue[j + 1] = (float)(market[j].price * factor);
    }
    const double scale = sum > 0.95 ? 0.95 / sum : 1;
    prob[0] = (float)(1 - sum * scale);
    revenue[0] = 0;
    for (int j = 0; j < n; j++)
        prob[j + 1] = (float)(rates[j] * scale);
}

/* How often each menu is the best one, in a small likeness of the instance: a quarter of the
 * periods at `shrink` of the capacities. All menus consume alike here. */
static int count_choices(const struct ae_instance *inst, int shrink, int64_t *ret_choices,
                         int64_t *ret_total)
{
    const int m = inst->scalar[M].i32, n = inst->scalar[N].i32, menus = inst->scalar[L].i32;
    const int periods = inst->scalar[T].i32 / 4 / shrink;
    int stride[RESOURCES_MAX], size[RESOURCES_MAX], states = 1;
    for (int i = 0; i < m; i++) {
        stride[i] = states;
        size[i] = ae_in_i32(inst, CAPACITY)[i] / shrink + 1;
        states *= size[i];
    }
    int *target = malloc((size_t)states * (size_t)(n + 1) * sizeof *target);
    float *value = calloc(2 * (size_t)states, sizeof *value);
    if (!target || !value) {
        free(value);
        free(target);
        return AE_E_NOMEM;
    }
    for (int s = 0; s < states; s++)
        for (int k = 0; k <= n; k++) {
            int to = s;
            bool possible = true;
            for (int i = 0; i < m; i++) {
                const int need = ae_in_i32(inst, DEMAND_CONS)[k * m + i];
                possible = possible && s / stride[i] % size[i] >= need;
                to -= need * stride[i];
            }
            target[s * (n + 1) + k] = possible ? to : -1;
        }
    memset(ret_choices, 0, (size_t)menus * sizeof *ret_choices);
    for (int t = 0; t < periods; t++) {
        const float *later = value + (t % 2 ? states : 0);
        float *now = value + (t % 2 ? 0 : states);
        for (int s = 0; s < states; s++) {
            const int *to = target + s * (n + 1);
            float best = -1e30f;
            int choice = 0;
            for (int l = 0; l < menus; l++) {
                const float *prob = ae_in_f32(inst, DEMAND_PROB) + l * (n + 1);
                const float *revenue = ae_in_f32(inst, DEMAND_REVENUE) + l * (n + 1);
                float expected = 0;
                for (int k = 0; k <= n; k++)
                    expected += prob[k] * (to[k] < 0 ? later[s] : revenue[k] + later[to[k]]);
                if (expected > best) {
                    best = expected;
                    choice = l;
                }
            }
            now[s] = best;
            ret_choices[choice]++;
        }
    }
    *ret_total = (int64_t)periods * states;
    free(value);
    free(target);
    return AE_OK;
}

/* Menus that are hardly ever the best are drawn anew, until each of them matters: a program that
 * leaves some out must give another answer. */
static int settle_menus(struct ae_instance *inst, struct ae_rng *rng, const struct market *market,
                        struct ae_error *err)
{
    const int menus = inst->scalar[L].i32, shrink = inst->size == AE_SMALL ? 1 : 2;
    int64_t *choices = malloc((size_t)menus * sizeof *choices), total = 0;
    int rc = choices ? AE_OK : AE_E_NOMEM;
    bool settled = false;
    for (int round = 0; rc == AE_OK && round < ROUNDS_MAX && !settled; round++) {
        rc = count_choices(inst, shrink, choices, &total);
        settled = true;
        for (int l = 0; rc == AE_OK && l < menus; l++)
            if ((double)choices[l] < SHARE_LEAST * shrink * (double)total) {
                draw_menu(inst, rng, l, market);
                settled = false;
            }
    }
    free(choices);
    return rc == AE_OK ? rc : ae_error_set(err, rc, "no memory for %d menus", menus);
}

/* The published kind: each resource has a product of its own, the others take one unit of one or
 * two resources. */
static void draw_consumption(struct ae_instance *inst, struct ae_rng *rng)
{
    const int m = inst->scalar[M].i32, n = inst->scalar[N].i32;
    int32_t *uses = inst->array[CONSUMPTION].data;
    memset(uses, 0, inst->array[CONSUMPTION].count * sizeof *uses);
    for (int j = 0; j < n; j++) {
        int first = j, second = j;
        if (j >= m) {
            first = (int)ae_rng_below(rng, (uint32_t)m);
            second = first;
            if (m > 1 && ae_rng_chance(rng, 0.5))
                second = (first + 1 + (int)ae_rng_below(rng, (uint32_t)m - 1)) % m;
        }
        uses[first * n + j] = uses[second * n + j] = 1;
    }
}

/* What each outcome of each menu takes: as the product does, or, for groups, something of its own.
 */
static void fill_demand_cons(struct ae_instance *inst, struct ae_rng *rng)
{
    const int m = inst->scalar[M].i32, n = inst->scalar[N].i32;
    const int32_t *uses = ae_in_i32(inst, CONSUMPTION);
    int32_t *cons = inst->array[DEMAND_CONS].data;
    for (int l = 0; l < inst->scalar[L].i32; l++)
        for (int k = 0; k <= n; k++)
            for (int i = 0; i < m; i++, cons++) {
                *cons = k == 0 ? 0 : uses[i * n + k - 1];
                if (k > 0 && inst->family == GROUPS)
                    *cons = ae_rng_chance(rng, 0.5) ? (int32_t)ae_rng_range(rng, 0, 3) : *cons;
            }
}

static void draw_sizes(struct ae_instance *inst, struct ae_rng *rng, int32_t *capacity)
{
    static const int steps[] = {-3, 0, 3};
    int m = (int)inst->param[P_RESOURCES], n = (int)inst->param[P_PRODUCTS],
        menus = (int)inst->param[P_MENUS];
    int64_t periods = inst->param[P_PERIODS];
    periods += ae_rng_range(rng, -periods / 33, periods / 33);
    if (inst->family == GROUPS) {
        m = (int)ae_rng_range(rng, 1, 5);
        n = (int)ae_rng_range(rng, 1, 6);
        menus = (int)ae_rng_range(rng, 2, 8);
        periods = ae_rng_range(rng, 10, 40);
    } else if (inst->family == WIDE) {
        m = RESOURCES_MAX;
        n = RESOURCES_MAX + (int)ae_rng_range(rng, 1, 6);
        menus = (int)ae_rng_range(rng, 2, 4);
        periods = ae_rng_range(rng, 5, 12);
    } else if (inst->family == EDGES) {
        m = (int)ae_rng_range(rng, 1, 2);
        n = menus = 1;
        periods = (int64_t)(inst->seed % 2); /* also none at all */
    }
    int32_t order[RESOURCES_MAX], states = 1;
    ae_rng_permutation(rng, order, (size_t)m);
    for (int i = 0; i < m; i++) {
        const int nominal = (int)inst->param[P_CAPACITY];
        if (inst->family == NETWORK) /* unlike ones: a wrong order of the resources shows */
            capacity[i] = nominal + (m == 2 ? steps[order[i]] / 3 * 4 + 2 : steps[order[i] % 3]) +
                          (int32_t)ae_rng_range(rng, -1, 1);
        else
            capacity[i] = (int32_t)ae_rng_range(rng, 0, inst->family == GROUPS ? 7 : 2);
        states *= capacity[i] + 1;
    }
    ae_set_i32(inst, M, m);
    ae_set_i32(inst, N, n);
    ae_set_i32(inst, T, periods);
    ae_set_i32(inst, L, menus);
    ae_set_i32(inst, S, states);
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int32_t capacity[RESOURCES_MAX];
    draw_sizes(inst, rng, capacity);
    const int m = inst->scalar[M].i32, n = inst->scalar[N].i32, menus = inst->scalar[L].i32;
    const size_t rows = (size_t)menus * (size_t)(n + 1);
    int32_t *units = ae_new_array(inst, CAPACITY, (size_t)m, err);
    if (!units || !ae_new_array(inst, CONSUMPTION, (size_t)(m * n), err) ||
        !ae_new_array(inst, DEMAND_PROB, rows, err) ||
        !ae_new_array(inst, DEMAND_CONS, rows * (size_t)m, err) ||
        !ae_new_array(inst, DEMAND_REVENUE, rows, err))
        return AE_E_NOMEM;
    memcpy(units, capacity, (size_t)m * sizeof *units);
    draw_consumption(inst, rng);
    fill_demand_cons(inst, rng);
    struct market market[PRODUCTS_MAX];
    for (int j = 0; j < n; j++) {
        market[j].price = ae_rng_uniform(rng, 100, 500);
        market[j].rate = ae_rng_uniform(rng, 0.02, 0.15);
        market[j].elasticity = ae_rng_uniform(rng, -3, -1);
    }
    for (int l = 0; l < menus; l++)
        draw_menu(inst, rng, l, market);
    if (inst->family == NETWORK)
        return settle_menus(inst, rng, market, err);
    float *prob = inst->array[DEMAND_PROB].data;
    for (size_t row = 0; inst->family == GROUPS && row < rows; row++) /* some outcomes never come */
        if (row % (size_t)(n + 1) != 0 && ae_rng_chance(rng, 0.2)) {
            prob[row / (size_t)(n + 1) * (size_t)(n + 1)] += prob[row];
            prob[row] = 0;
        }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, V_OUT, (size_t)inst->scalar[S].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t m = inst->scalar[M].i32, n = inst->scalar[N].i32, menus = inst->scalar[L].i32;
    if (m < 1 || m > RESOURCES_MAX || n < 1 || n > PRODUCTS_MAX || inst->scalar[T].i32 < 0 ||
        menus < 1)
        return ae_error_set(err, AE_E_INPUT,
                            "%d resources, %d products, %d periods, %d menus are not possible", m,
                            n, inst->scalar[T].i32, menus);
    const size_t rows = (size_t)menus * (size_t)(n + 1);
    const size_t counts[] = {(size_t)m, (size_t)m * (size_t)n, rows, rows * (size_t)m, rows};
    for (int a = CAPACITY; a <= DEMAND_REVENUE; a++)
        if (inst->array[a].count != counts[a - CAPACITY])
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements, not %zu", args[a].name,
                                inst->array[a].count, counts[a - CAPACITY]);
    int64_t states = 1;
    for (int32_t i = 0; i < m; i++) {
        const int32_t units = ae_in_i32(inst, CAPACITY)[i];
        if (units < 0 || (states *= (int64_t)units + 1) > STATES_MAX)
            return ae_error_set(err, AE_E_INPUT,
                                "resource %d has %d units, or there are more than %lld states", i,
                                units, (long long)STATES_MAX);
    }
    if (inst->scalar[S].i32 != states)
        return ae_error_set(err, AE_E_INPUT, "S is %d; the capacities make %lld states",
                            inst->scalar[S].i32, (long long)states);
    if ((double)states * (double)rows * inst->scalar[T].i32 > (double)EVALUATIONS_MAX)
        return ae_error_set(err, AE_E_INPUT, "more than %lld evaluations",
                            (long long)EVALUATIONS_MAX);
    for (int a = CONSUMPTION; a <= DEMAND_CONS; a += DEMAND_CONS - CONSUMPTION)
        for (size_t k = 0; k < inst->array[a].count; k++)
            if (ae_in_i32(inst, a)[k] < 0)
                return ae_error_set(err, AE_E_INPUT, "%s[%zu] is negative", args[a].name, k);
    for (size_t row = 0; row < rows; row += (size_t)(n + 1)) {
        double sum = 0;
        for (size_t k = row; k <= row + (size_t)n; k++) {
            const float prob = ae_in_f32(inst, DEMAND_PROB)[k];
            if (!(prob >= 0) || !isfinite(ae_in_f32(inst, DEMAND_REVENUE)[k]))
                return ae_error_set(err, AE_E_INPUT,
                                    "outcome %zu has an impossible probability or revenue", k);
            sum += (double)prob;
        }
        if (!(fabs(sum - 1) <= SUM_SLACK))
            return ae_error_set(err, AE_E_INPUT, "the probabilities of menu %zu add up to %g",
                                row / (size_t)(n + 1), sum);
    }
    return AE_OK;
}

/* Where nothing can be sold, every order of evaluation gives 0 exactly. */
static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)inst;
    const float *value = (const float *)expected->out[arg].data + first;
    for (size_t i = 0; i < count; i++)
        tol[i] += value[i] == 0 ? 0 : ATOL;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double rows = inst->scalar[L].i32 * (inst->scalar[N].i32 + 1.0);
    w->operations = 2 * rows * inst->scalar[S].i32 * inst->scalar[T].i32 + 1;
    w->steps = inst->scalar[T].i32 > 0 ? inst->scalar[T].i32 : 1;
}

const struct ae_task ae_task_network_rm_dp = {
    .id = "network_rm_dp",
    .title = "Network revenue management with price menus by dynamic programming",
    .domain = AE_OR,
    .lineage =
        "Gallego & van Ryzin; Talluri & van Ryzin: dynamic program over remaining capacities",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"m", "n", "T", "L", "capacity"},
    .sizes = {[AE_SMALL] = {{2, 4, 100, 10, 20}},
              [AE_MEDIUM] = {{3, 6, 200, 15, 25}},
              [AE_LARGE] = {{3, 8, 300, 20, 30}}},
    .families =
        {{"network", "unlike capacities, and every menu is the best one somewhere", AE_ALL_SIZES},
         {"groups",
          "outcomes take up to three units, differently under each menu; empty resources and "
          "impossible outcomes",
          AE_ALL_SIZES},
         {"wide", "eight resources of few units", AE_AT(AE_SMALL)},
         {"edges", "one product and one menu, no period or a single one", AE_AT(AE_SMALL)}},
    .published_atol = 0.1,
    .published_rtol = 1e-4,
    .published_note = "published capacities are equal, and some published menus are never chosen",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
};
