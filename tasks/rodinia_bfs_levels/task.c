#include "task/task.h"

#include "base/fmath.h"

#include <stdlib.h>
#include <string.h>

enum { P_NODES, P_DEGREE };

enum { NUM_NODES, NUM_EDGES, SOURCE, NODE_START, NODE_DEGREE, EDGE_DST, OUT_DIST, ARG_COUNT };

enum { LAYERED, SKEWED, PATH, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [NUM_NODES] = {"num_nodes", AE_I32, AE_SCALAR, .meaning = "number of vertices N"},
    [NUM_EDGES] = {"num_edges", AE_I32, AE_SCALAR, .meaning = "length of edge_dst"},
    [SOURCE] = {"source", AE_I32, AE_SCALAR, .unit = "vertex id",
                .meaning = "where the search starts; may be invalid"},
    [NODE_START] = {"node_start", AE_I32, AE_IN, "num_nodes",
                    .meaning = "index in edge_dst of the first out-edge of each vertex"},
    [NODE_DEGREE] = {"node_degree", AE_I32, AE_IN, "num_nodes", "edges",
                     "number of out-edges of each vertex"},
    [EDGE_DST] = {"edge_dst", AE_I32, AE_IN, "num_edges", "vertex id",
                  "heads, with unused entries between rows"},
    [OUT_DIST] = {"out_dist", AE_I32, AE_OUT, "num_nodes", "edges",
                  "hop distance from the source, -1 where there is no path",
                  .rule = {AE_EXACT, .reason = "hop counts: the integers themselves"}},
};

/* The graph before it is stored: vertices by position, which a permutation turns into ids.
 * Positions from `reached` on belong to a part that has edges but none that leads into it. */
struct plan {
    int32_t n, reached;
    double mean_degree;
    int32_t *degree;      /* by position */
    int32_t *layer;       /* by position; layered family */
    int32_t *layer_start; /* layers+1 entries */
    int32_t layers;
    int32_t *head_of_rank; /* skewed family: positions by popularity as heads */
    double low, high;      /* of the inverted popularity */
};

static double power_0_4(double x)
{
    return ae_exp(0.4 * ae_log(x));
}

/* A rank with probability about (rank+10)^-0.6: the inverse of its integral, a power of 2.5. */
static int32_t draw_rank(const struct plan *p, struct ae_rng *rng)
{
    const double y = p->low + (p->high - p->low) * ae_rng_unit(rng);
    const double rank = y * y * ae_sqrt(y) - 10;
    return rank < 0 ? 0 : rank >= p->reached ? p->reached - 1 : (int32_t)rank;
}

static int32_t draw_degree(const struct plan *p, struct ae_rng *rng)
{
    const int32_t degree = (int32_t)ae_rng_poisson(rng, p->mean_degree - 1);
    return degree < 1 ? 1 : degree;
}

/* Random layer sizes, the first at most 8, the last with all that is left over; degrees with a few
 * hubs. */
static void plan_layers(struct plan *p, struct ae_rng *rng)
{
    double total = 0;
    double *share = malloc((size_t)p->layers * sizeof *share);
    if (!share)
        return;
    for (int32_t l = 0; l < p->layers; l++)
        total += share[l] = ae_rng_unit(rng);
    int32_t at = 0;
    for (int32_t l = 0; l < p->layers; l++) {
        int32_t size = (int32_t)(share[l] / total * p->reached);
        size = size < 1 ? 1 : size;
        size = l == 0 && size > 8 ? 8 : size;
        const int32_t most = p->reached - at - (p->layers - 1 - l); /* one for each layer to come */
        size = size > most || l == p->layers - 1 ? most : size;
        p->layer_start[l] = at;
        for (int32_t i = 0; i < size; i++)
            p->layer[at++] = l;
    }
    p->layer_start[p->layers] = at;
    free(share);
    for (int32_t i = 0; i < p->n; i++) {
        const bool hub = i < p->reached && ae_rng_chance(rng, 0.001);
        p->degree[i] = hub ? (int32_t)ae_rng_range(rng, 200, 1999) : draw_degree(p, rng);
    }
}

static int32_t in_layer(const struct plan *p, struct ae_rng *rng, int32_t l)
{
    l = l < 0 ? 0 : l >= p->layers ? p->layers - 1 : l;
    const int32_t size = p->layer_start[l + 1] - p->layer_start[l];
    return p->layer_start[l] + (int32_t)ae_rng_below(rng, (uint32_t)size);
}

static void plan_skewed(struct plan *p, struct ae_rng *rng)
{
    for (int32_t i = 0; i < p->n; i++)
        p->degree[i] = i < p->reached ? 0 : draw_degree(p, rng);
    ae_rng_permutation(rng, p->head_of_rank, (size_t)p->reached);
    const int64_t edges = (int64_t)(p->mean_degree * p->reached);
    for (int64_t e = 0; e < edges; e++)
        p->degree[draw_rank(p, rng)]++; /* position = rank as a tail */
}

/* Position of the head of out-edge e of position u. */
static int32_t draw_head(const struct plan *p, int family, struct ae_rng *rng, int32_t u, int32_t e)
{
    if (family == PATH)
        return u + 1;
    if (u >= p->reached) /* half of them inside the part that is not reached */
        return ae_rng_chance(rng, 0.5)
                   ? p->reached + (int32_t)ae_rng_below(rng, (uint32_t)(p->n - p->reached))
                   : (int32_t)ae_rng_below(rng, (uint32_t)p->reached);
    if (family == SKEWED)
        return p->head_of_rank[draw_rank(p, rng)];
    const int32_t l = p->layer[u];
    if (e == 0 && u == p->layer_start[l] && l + 1 < p->layers)
        return p->layer_start[l + 1]; /* no layer is cut off */
    const uint32_t draw = ae_rng_below(rng, 10);
    return in_layer(p, rng, draw < 5 ? l + 1 : draw < 8 ? l : l - 1);
}

/* Rows in random order, unused entries between them, ids permuted. */
static int store(struct ae_instance *inst, struct ae_rng *rng, const struct plan *p,
                 struct ae_error *err)
{
    const int32_t n = p->n;
    int64_t total = n;
    for (int32_t i = 0; i < n; i++)
        total += p->degree[i];
    int32_t *start = ae_new_array(inst, NODE_START, (size_t)n, err);
    int32_t *degree = ae_new_array(inst, NODE_DEGREE, (size_t)n, err);
    int32_t *head = ae_new_array(inst, EDGE_DST, (size_t)total, err);
    int32_t *id = malloc((size_t)n * sizeof *id), *order = malloc((size_t)n * sizeof *order);
    if (!start || !degree || !head || !id || !order) {
        free(id);
        free(order);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %lld edges", (long long)total);
    }
    ae_rng_permutation(rng, id, (size_t)n);
    ae_rng_permutation(rng, order, (size_t)n);
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t u = order[i];
        start[id[u]] = at;
        degree[id[u]] = p->degree[u];
        const int32_t chain =
            p->degree[u] > 0 ? (int32_t)ae_rng_below(rng, (uint32_t)p->degree[u]) : 0;
        for (int32_t e = 0; e < p->degree[u];
             e++) /* the edge to the next layer stands anywhere in the row */
            head[at++] = id[draw_head(p, inst->family, rng, u, e == chain ? 0 : 1)];
        if (ae_rng_chance(rng, 0.5))
            head[at++] = (int32_t)ae_rng_below(rng, (uint32_t)n);
    }
    ae_shrink_array(inst, EDGE_DST, (size_t)at);
    ae_set_i32(inst, NUM_NODES, n);
    ae_set_i32(inst, NUM_EDGES, at);
    ae_set_i32(inst, SOURCE, id[0]);
    free(id);
    free(order);
    return AE_OK;
}

/* One to six vertices, with loops, parallel edges and sources that are no vertex. */
static int generate_tiny(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const int32_t n = (int32_t)ae_rng_range(rng, 1, 6), m = (int32_t)ae_rng_range(rng, 0, 9);
    int32_t *start = ae_new_array(inst, NODE_START, (size_t)n, err);
    int32_t *degree = ae_new_array(inst, NODE_DEGREE, (size_t)n, err);
    int32_t *head = ae_new_array(inst, EDGE_DST, (size_t)m, err);
    if (!start || !degree || !head)
        return AE_E_NOMEM;
    int32_t at = 0;
    for (int32_t u = n - 1; u >= 0; u--) {
        start[u] = at;
        degree[u] = u == 0 ? m - at : (int32_t)ae_rng_below(rng, (uint32_t)(m - at) + 1);
        at += degree[u];
    }
    for (int32_t e = 0; e < m; e++)
        head[e] = (int32_t)ae_rng_below(rng, (uint32_t)n);
    ae_set_i32(inst, NUM_NODES, n);
    ae_set_i32(inst, NUM_EDGES, m);
    ae_set_i32(inst, SOURCE, ae_rng_range(rng, -1, n));
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    if (inst->family == TINY)
        return generate_tiny(inst, rng, err);
    const int32_t n = (int32_t)inst->param[P_NODES];
    const int32_t layers = (int32_t)(ae_sqrt(n) / 2);
    struct plan p = {.n = n,
                     .reached = inst->family == PATH ? n : n - n / 30,
                     .mean_degree = (double)inst->param[P_DEGREE],
                     .layers = layers < 16 ? 16 : layers};
    p.low = power_0_4(10);
    p.high = power_0_4(10.0 + p.reached);
    p.degree = malloc((size_t)n * sizeof *p.degree);
    p.layer = malloc((size_t)n * sizeof *p.layer);
    p.head_of_rank = malloc((size_t)n * sizeof *p.head_of_rank);
    p.layer_start = calloc((size_t)p.layers + 1, sizeof *p.layer_start);
    int rc;
    if (p.degree && p.layer && p.head_of_rank && p.layer_start) {
        if (inst->family == SKEWED)
            plan_skewed(&p, rng);
        else
            plan_layers(&p, rng);
        for (int32_t i = 0; inst->family == PATH && i < n; i++)
            p.degree[i] = i < n - 1;
        rc = store(inst, rng, &p, err);
    } else {
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %d vertices", n);
    }
    free(p.degree);
    free(p.layer);
    free(p.head_of_rank);
    free(p.layer_start);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, OUT_DIST, (size_t)inst->scalar[NUM_NODES].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[NUM_NODES].i32, m = inst->scalar[NUM_EDGES].i32;
    if (n < 1 || m < 0)
        return ae_error_set(err, AE_E_INPUT, "%d vertices and %d edges; one vertex is the least", n,
                            m);
    if (inst->array[NODE_START].count != (size_t)n || inst->array[NODE_DEGREE].count != (size_t)n ||
        inst->array[EDGE_DST].count != (size_t)m)
        return ae_error_set(err, AE_E_INPUT,
                            "%zu starts, %zu degrees, %zu heads for %d vertices and %d edges",
                            inst->array[NODE_START].count, inst->array[NODE_DEGREE].count,
                            inst->array[EDGE_DST].count, n, m);
    const int32_t *start = ae_in_i32(inst, NODE_START), *degree = ae_in_i32(inst, NODE_DEGREE);
    const int32_t *head = ae_in_i32(inst, EDGE_DST);
    int64_t total = 0;
    for (int32_t u = 0; u < n; u++) {
        if (start[u] < 0 || degree[u] < 0 || (int64_t)start[u] + degree[u] > m)
            return ae_error_set(err, AE_E_INPUT, "vertex %d has %d out-edges from %d on, of %d", u,
                                degree[u], start[u], m);
        total += degree[u];
    }
    if (total > m)
        return ae_error_set(err, AE_E_INPUT, "the rows overlap: %lld out-edges of %d",
                            (long long)total, m);
    for (int32_t e = 0; e < m; e++)
        if (head[e] < 0 || head[e] >= n)
            return ae_error_set(err, AE_E_INPUT, "edge %d leads to %d, and there are %d vertices",
                                e, head[e], n);
    return AE_OK;
}

/* Proves the expected distances: 0 at the source alone, no edge gains more than one, and every
 * vertex at distance d > 0 has an edge from one at d-1. That determines them. Keeps nothing. */
static int make_aux(const struct ae_instance *inst, struct ae_expected *expected,
                    struct ae_error *err)
{
    const int32_t n = inst->scalar[NUM_NODES].i32, source = inst->scalar[SOURCE].i32;
    const int32_t *start = ae_in_i32(inst, NODE_START), *degree = ae_in_i32(inst, NODE_DEGREE);
    const int32_t *head = ae_in_i32(inst, EDGE_DST), *dist = expected->out[OUT_DIST].data;
    uint8_t *supported = calloc((size_t)n, 1);
    if (!supported)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %d vertices", n);
    bool right = true;
    for (int32_t u = 0; u < n && right; u++) {
        right = dist[u] >= -1 && dist[u] < n && (dist[u] == 0) == (u == source);
        for (int32_t e = start[u]; right && dist[u] >= 0 && e < start[u] + degree[u]; e++) {
            const int32_t d = dist[head[e]];
            right = d >= 0 && d <= dist[u] + 1;
            supported[head[e]] |= d == dist[u] + 1;
        }
    }
    for (int32_t u = 0; u < n && right; u++)
        right = dist[u] <= 0 || supported[u];
    free(supported);
    return right ? AE_OK
                 : ae_error_set(err, AE_E_INTERNAL, "the expected distances contradict the graph");
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double n = inst->scalar[NUM_NODES].i32;
    w->operations = n + inst->scalar[NUM_EDGES].i32;
    w->steps = inst->family == LAYERED ? ae_sqrt(n) / 2 : inst->family == SKEWED ? 8 : n;
}

const struct ae_task ae_task_rodinia_bfs_levels = {
    .id = "rodinia_bfs_levels",
    .title = "Hop distances by breadth-first search",
    .domain = AE_GRAPH,
    .lineage = "Rodinia, BFS (Che et al. 2009; Harish & Narayanan 2007)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"num_nodes", "avg_degree"},
    .sizes = {[AE_SMALL] = {{20000, 6}}, [AE_MEDIUM] = {{250000, 8}}, [AE_LARGE] = {{500000, 12}}},
    .families = {{"layered",
                  "many levels, hubs, an unreachable part that has edges; permuted ids, rows in "
                  "random order "
                  "with gaps",
                  AE_ALL_SIZES},
                 {"skewed",
                  "few levels with frontiers of half the graph, popularity skewed on both ends",
                  AE_ALL_SIZES},
                 {"path", "one permuted path: a level a vertex", AE_AT(AE_SMALL)},
                 {"tiny", "one to six vertices, loops, parallel edges, invalid sources",
                  AE_AT(AE_SMALL)}},
    .published_note = "published rows are contiguous, sorted and in the order of levels; published "
                      "runs accept 1 % of error",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .make_aux = make_aux,
    .work = work,
};
