#include "task/task.h"

#include "task/published.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P_NODES, P_EDGES, P_STEPS };

enum {
    NUM_NODES,
    NUM_EDGES,
    NUM_STEPS,
    EDGE_U,
    EDGE_V,
    CAPACITY,
    TRANSIT,
    NUM_REQUESTS,
    RATES,
    RESULTS,
    ARG_COUNT
};

enum { RANDOM, EQUAL_ROADS, JAM, FREE_FLOW, DEAD_ENDS, CUT_OFF, SCENARIOS, TINY };

#define REQUESTS     10
#define REQUESTS_MAX 1024
#define UNIT         64.0        /* volumes are multiples of 1/64 */
#define VOLUME_MAX   (1 << 18)   /* below this, 24 bits hold every multiple of 1/64 */
#define DISTANCE_MAX 500000000.0 /* thousandths of a step; far below "unreachable" and INT_MAX */

static const struct ae_arg args[ARG_COUNT] = {
    [NUM_NODES] = {"num_nodes", AE_I32, AE_SCALAR,
                   .meaning = "nodes; 0 is the source, the last one the destination"},
    [NUM_EDGES] = {"num_edges", AE_I32, AE_SCALAR, .meaning = "roads, each in one direction"},
    [NUM_STEPS] = {"num_steps", AE_I32, AE_SCALAR, .meaning = "time steps"},
    [EDGE_U] = {"edge_u", AE_I32, AE_IN, "num_edges", "node id", "where a road starts"},
    [EDGE_V] = {"edge_v", AE_I32, AE_IN, "num_edges", "node id", "where a road ends"},
    [CAPACITY] = {"edge_capacity", AE_F32, AE_IN, "num_edges", "volume/step",
                  "volume that may enter a road in a step"},
    [TRANSIT] = {"edge_transit_time", AE_I32, AE_IN, "num_edges", "steps",
                 "time on the road itself"},
    [NUM_REQUESTS] = {"num_requests", AE_I32, AE_SCALAR, .meaning = "scenarios"},
    [RATES] = {"inflow_rates", AE_F32, AE_IN, "num_requests", "volume/step",
               "inflow at the source in each scenario"},
    [RESULTS] =
        {"results", AE_F32, AE_OUT, "num_requests", "volume",
         "total volume arrived in each scenario",
         .rule = {AE_EXACT,
                  .reason = "capacities and rates are multiples of 1/64 and all volumes stay below "
                            "2^18, so every float sum is exact in any order; one wrong route moves "
                            "the total"}},
};

struct network {
    int32_t n, m;
    int32_t *tail, *head, *transit;
    float *capacity;
};

/* --- the network
 * ---------------------------------------------------------------------------------------- */

/* A node without ways out, in the family that has them: a third of the inner ones. */
static bool dead_end(const struct ae_instance *inst, int32_t n, int32_t node)
{
    return inst->family == DEAD_ENDS && node > 0 && node < n - 1 && node % 3 == 1;
}

static bool may_exist(const struct ae_instance *inst, int32_t n, int32_t u, int32_t v)
{
    if (u == v || dead_end(inst, n, u))
        return false;
    return inst->family != CUT_OFF || u > n / 2 ||
           v <= n / 2; /* no way from the first half to the second */
}

/* Roads (i, next i) that lead everywhere to the destination, then random pairs, none twice, in
 * random order. */
static int draw_network(const struct ae_instance *inst, struct ae_rng *rng, struct network *net,
                        struct ae_error *err)
{
    const size_t n = (size_t)net->n;
    unsigned char *used = calloc(n * n / 8 + 1, 1);
    int32_t *order = malloc((size_t)net->m * sizeof *order),
            *pairs = malloc((size_t)net->m * 2 * sizeof *pairs);
    if (!used || !order || !pairs) {
        free(used);
        free(order);
        free(pairs);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %d roads", net->m);
    }
    int32_t count = 0;
    for (int32_t u = 0; u < net->n - 1 && count < net->m; u++) {
        int32_t v = u + 1;
        while (dead_end(inst, net->n, v))
            v++;
        if (!may_exist(inst, net->n, u, v))
            continue;
        used[((size_t)u * n + (size_t)v) / 8] |=
            (unsigned char)(1u << (((size_t)u * n + (size_t)v) % 8));
        pairs[2 * count] = u;
        pairs[2 * count++ + 1] = v;
    }
    for (int64_t tries = 0; count < net->m && tries < 100 * (int64_t)net->m; tries++) {
        const int32_t u = (int32_t)ae_rng_below(rng, (uint32_t)net->n),
                      v = (int32_t)ae_rng_below(rng, (uint32_t)net->n);
        const size_t pair = (size_t)u * n + (size_t)v;
        if (!may_exist(inst, net->n, u, v) || used[pair / 8] >> (pair % 8) & 1)
            continue;
        used[pair / 8] |= (unsigned char)(1u << (pair % 8));
        pairs[2 * count] = u;
        pairs[2 * count++ + 1] = v;
    }
    net->m = count; /* fewer only in tiny networks */
    ae_rng_permutation(rng, order, (size_t)count);
    for (int32_t e = 0; e < count; e++) {
        net->tail[e] = pairs[2 * order[e]];
        net->head[e] = pairs[2 * order[e] + 1];
        net->capacity[e] =
            (float)((UNIT + (double)ae_rng_range(rng, 0, inst->family == JAM ? 16 : 576)) / UNIT);
        net->transit[e] = (int32_t)ae_rng_range(rng, 1, 30);
        if (inst->family == EQUAL_ROADS) { /* many routes tie, and their order decides */
            net->capacity[e] = 1.5f;
            net->transit[e] = 1 + (int32_t)ae_rng_below(rng, 2);
        }
    }
    free(used);
    free(order);
    free(pairs);
    return AE_OK;
}

/* --- the largest steady flow, by shortest augmenting paths
 * ------------------------------------------------ */

struct residual {
    int32_t *start, *arc; /* arcs at each node: 2e forward over road e, 2e+1 backward */
    int32_t *room;        /* of each arc, in units */
    int32_t *by, *queue;  /* arc by which the search reached a node, -1 not yet */
};

static int32_t arc_head(const struct network *net, int32_t arc)
{
    return arc % 2 == 0 ? net->head[arc / 2] : net->tail[arc / 2];
}

static int64_t augment(const struct network *net, struct residual *r)
{
    for (int32_t i = 0; i < net->n; i++)
        r->by[i] = -1;
    int32_t count = 0;
    r->queue[count++] = 0;
    r->by[0] = INT32_MAX;
    for (int32_t k = 0; k < count && r->by[net->n - 1] < 0; k++) {
        const int32_t u = r->queue[k];
        for (int32_t i = r->start[u]; i < r->start[u + 1]; i++) {
            const int32_t arc = r->arc[i], v = arc_head(net, arc);
            if (r->room[arc] > 0 && r->by[v] < 0) {
                r->by[v] = arc;
                r->queue[count++] = v;
            }
        }
    }
    if (r->by[net->n - 1] < 0)
        return 0;
    int32_t room = INT32_MAX;
    for (int32_t v = net->n - 1; v != 0; v = arc_head(net, r->by[v] ^ 1))
        room = r->room[r->by[v]] < room ? r->room[r->by[v]] : room;
    for (int32_t v = net->n - 1; v != 0; v = arc_head(net, r->by[v] ^ 1)) {
        r->room[r->by[v]] -= room;
        r->room[r->by[v] ^ 1] += room;
    }
    return room;
}

/* In units of 1/64; -1 without memory. */
static int64_t max_flow(const struct network *net)
{
    const size_t n = (size_t)net->n, arcs = 2 * (size_t)net->m;
    struct residual r = {calloc(n + 2, sizeof(int32_t)), malloc((arcs + 1) * sizeof(int32_t)),
                         malloc((arcs + 1) * sizeof(int32_t)), malloc(n * sizeof(int32_t)),
                         malloc(n * sizeof(int32_t))};
    int64_t flow = -1;
    if (r.start && r.arc && r.room && r.by && r.queue) {
        for (size_t arc = 0; arc < arcs; arc++)
            r.start[arc_head(net, (int32_t)arc ^ 1) + 2]++;
        for (size_t i = 2; i < n + 2; i++)
            r.start[i] += r.start[i - 1];
        for (size_t arc = 0; arc < arcs; arc++) {
            r.arc[r.start[arc_head(net, (int32_t)arc ^ 1) + 1]++] = (int32_t)arc;
            r.room[arc] = arc % 2 == 0 ? (int32_t)((double)net->capacity[arc / 2] * UNIT) : 0;
        }
        flow = 0;
        for (int64_t more; (more = augment(net, &r)) > 0;)
            flow += more;
    }
    free(r.start);
    free(r.arc);
    free(r.room);
    free(r.by);
    free(r.queue);
    return flow;
}

/* --- scenarios
 * ------------------------------------------------------------------------------------------ */

static double quarter(double rate)
{
    return floor(4 * rate + 0.5) / 4;
}

/* Rates around the largest steady flow: some of the scenarios are free, some queue, some jam. */
static int draw_rates(struct ae_instance *inst, struct ae_rng *rng, int64_t steps, double flow,
                      struct ae_error *err)
{
    const double most = 0.62 * VOLUME_MAX /
                        (double)steps; /* 1.6 times this over all steps stays below VOLUME_MAX */
    double around = flow < most ? flow : most;
    around = inst->family == JAM ? most : around < 25 ? around : 25;
    const int32_t count = inst->family == SCENARIOS ? 67 : inst->family == FREE_FLOW ? 4 : REQUESTS;
    float *rates = ae_new_array(inst, RATES, (size_t)count, err);
    if (!rates)
        return AE_E_NOMEM;
    for (int32_t i = 0; i < count; i++)
        rates[i] = (float)quarter(around * (0.3 + 1.3 * i / (count - 1)));
    for (int32_t i = 0; i < count && inst->family == FREE_FLOW; i++)
        rates[i] = (float)(i + 1) / 4;
    if (inst->family == SCENARIOS) { /* none sorted, one without traffic, two alike */
        for (int32_t i = count - 1; i > 0; i--) {
            const uint32_t k = ae_rng_below(rng, (uint32_t)i + 1);
            const float kept = rates[i];
            rates[i] = rates[k];
            rates[k] = kept;
        }
        rates[5] = 0;
        rates[40] = rates[12];
    }
    ae_set_i32(inst, NUM_REQUESTS, count);
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    struct network net = {.n = (int32_t)inst->param[P_NODES]};
    net.n += (int32_t)ae_rng_range(rng, -net.n * 3 / 100, net.n * 3 / 100);
    int64_t roads = inst->param[P_EDGES], steps = inst->param[P_STEPS];
    roads += ae_rng_range(rng, -roads * 3 / 100, roads * 3 / 100);
    steps -= ae_rng_range(rng, 0, steps * 3 / 100);
    if (inst->family == SCENARIOS)
        steps /= 8;
    else if (inst->family != RANDOM)
        steps /= 2;
    if (inst->family == TINY) {
        net.n = (int32_t)ae_rng_range(rng, 2, 4);
        roads = ae_rng_range(rng, net.n, 2 * net.n);
        steps = ae_rng_range(rng, 20, 200);
    }
    net.tail = ae_new_array(inst, EDGE_U, (size_t)roads, err);
    net.head = ae_new_array(inst, EDGE_V, (size_t)roads, err);
    net.capacity = ae_new_array(inst, CAPACITY, (size_t)roads, err);
    net.transit = ae_new_array(inst, TRANSIT, (size_t)roads, err);
    if (!net.tail || !net.head || !net.capacity || !net.transit)
        return AE_E_NOMEM;
    /* A narrow cut would leave the network idle and make rates coincide. */
    int64_t flow = 0;
    const bool any_cut = inst->family != RANDOM && inst->family != SCENARIOS;
    for (int tries = 0; tries < 1000 && flow < (any_cut ? 1 : 4 * (int64_t)UNIT); tries++) {
        net.m = (int32_t)roads;
        const int rc = draw_network(inst, rng, &net, err);
        if (rc != AE_OK)
            return rc;
        flow = inst->family == CUT_OFF ? 4 * (int64_t)UNIT : max_flow(&net);
        if (flow < 0)
            return ae_error_set(err, AE_E_NOMEM, "no memory for %d roads", net.m);
    }
    for (int arg = EDGE_U; arg <= TRANSIT; arg++)
        ae_shrink_array(inst, arg, (size_t)net.m);
    ae_set_i32(inst, NUM_NODES, net.n);
    ae_set_i32(inst, NUM_EDGES, net.m);
    ae_set_i32(inst, NUM_STEPS, steps);
    return draw_rates(inst, rng, steps, (double)flow / UNIT, err);
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, RESULTS, (size_t)inst->scalar[NUM_REQUESTS].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[NUM_NODES].i32, m = inst->scalar[NUM_EDGES].i32,
                  steps = inst->scalar[NUM_STEPS].i32;
    const int32_t requests = inst->scalar[NUM_REQUESTS].i32;
    if (n < 2 || m < 1 || steps < 1 || requests < 1 || requests > REQUESTS_MAX || n > 10000000 ||
        m > 50000000 || steps > 1000000000)
        return ae_error_set(err, AE_E_INPUT, "%d nodes, %d roads, %d steps, %d scenarios", n, m,
                            steps, requests);
    for (int arg = EDGE_U; arg <= RATES; arg++)
        if (arg != NUM_REQUESTS && inst->array[arg].count != (size_t)(arg == RATES ? requests : m))
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements", args[arg].name,
                                inst->array[arg].count);
    double narrowest = INFINITY, largest = 0;
    for (int32_t e = 0; e < m; e++) {
        const int32_t u = ae_in_i32(inst, EDGE_U)[e], v = ae_in_i32(inst, EDGE_V)[e],
                      t = ae_in_i32(inst, TRANSIT)[e];
        const float capacity = ae_in_f32(inst, CAPACITY)[e];
        if (u < 0 || u >= n || v < 0 || v >= n || u == v || t < 1 || t > 31 ||
            !(capacity > 0 && isfinite(capacity)))
            return ae_error_set(err, AE_E_INPUT,
                                "road %d from %d to %d has capacity %g and takes %d steps", e, u, v,
                                (double)capacity, t);
        narrowest = fmin(narrowest, (double)capacity);
    }
    for (int32_t r = 0; r < requests; r++) {
        const float rate = ae_in_f32(inst, RATES)[r];
        if (!(rate >= 0 && isfinite(rate)))
            return ae_error_set(err, AE_E_INPUT, "inflow rate %d is %g", r, (double)rate);
        largest = fmax(largest, (double)rate);
    }
    if (!(31000.0 * (n - 1) + 1000 * largest * steps / narrowest <= DISTANCE_MAX))
        return ae_error_set(
            err, AE_E_INPUT,
            "queues of %g volume/step over %d steps at a capacity of %g would exceed "
            "the range of distances",
            largest, steps, narrowest);
    return AE_OK;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* A step concerns a few dozen roads and the nodes whose distance they change. */
    w->operations = (double)inst->scalar[NUM_REQUESTS].i32 * inst->scalar[NUM_STEPS].i32 *
                    (200.0 + inst->scalar[NUM_NODES].i32);
    w->steps = inst->scalar[NUM_STEPS].i32;
}

static int import_rates(const char *text, struct ae_instance *inst, struct ae_error *err)
{
    float *rates = ae_new_array(inst, RATES, REQUESTS_MAX, err);
    if (!rates)
        return AE_E_NOMEM;
    int32_t count = 0;
    for (const char *p = text + strspn(text, " \t\r\n"); *p; p += strspn(p, " \t\r\n")) {
        char *end;
        const float rate = strtof(p, &end);
        if (end == p || (*end && !strchr(" \t\r\n", *end)))
            return ae_error_set(err, AE_E_INPUT, "requests.txt: line %d is no inflow rate",
                                count + 1);
        if (count == REQUESTS_MAX)
            return ae_error_set(err, AE_E_INPUT, "requests.txt has more than %d lines",
                                REQUESTS_MAX);
        rates[count++] = rate;
        p = end;
    }
    ae_shrink_array(inst, RATES, (size_t)count);
    ae_set_i32(inst, NUM_REQUESTS, count);
    return AE_OK;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    for (int arg = NUM_NODES; arg <= NUM_STEPS; arg++) {
        int64_t value;
        const int rc = ae_published_param(published, args[arg].name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < 0 || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit",
                                args[arg].name, (long long)value);
        ae_set_i32(inst, arg, value);
    }
    for (int arg = EDGE_U; arg <= TRANSIT; arg++) {
        const int rc = ae_published_copy(published, args[arg].name, inst, arg, -1, err);
        if (rc != AE_OK)
            return rc;
    }
    if (!published->requests)
        return ae_error_set(err, AE_E_INPUT,
                            "requests.txt, which holds the inflow rates, is missing");
    return import_rates(published->requests, inst, err);
}

const struct ae_task ae_task_nash_flows_over_time = {
    .id = "nash_flows_over_time",
    .title = "Dynamic traffic assignment with point queues",
    .domain = AE_OR,
    .lineage = "Vickrey's bottleneck model on a network, instantaneous shortest-path routing",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"num_nodes", "num_edges", "num_steps"},
    .sizes = {[AE_SMALL] = {{100, 400, 1000}},
              [AE_MEDIUM] = {{1000, 4000, 5000}},
              [AE_LARGE] = {{2000, 8000, 8000},
                            .note = "the published generator's; its metadata say otherwise"}},
    .families = {{"random", "random roads around a chain, rates around the largest steady flow",
                  AE_ALL_SIZES},
                 {"equal_roads",
                  "all capacities alike, transit times 1 or 2: shortest routes tie everywhere",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"jam", "narrow roads and inflows far above what they carry: queues of hours",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"free_flow", "inflows that hardly queue", AE_AT(AE_SMALL)},
                 {"dead_ends", "a third of the nodes have no way out", AE_AT(AE_SMALL)},
                 {"cut_off", "no way from the source to the destination: nothing arrives",
                  AE_AT(AE_SMALL)},
                 {"scenarios", "67 scenarios in no order, one without traffic, two alike",
                  AE_AT(AE_SMALL)},
                 {"tiny", "two to four nodes", AE_AT(AE_SMALL)}},
    .published_atol = 1,
    .published_rtol = 0.01,
    .published_note = "published capacities are no multiples of 1/64: their sums depend on the "
                      "order of addition, and "
                      "one flipped bit can change a route",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
    .import = import,
};
