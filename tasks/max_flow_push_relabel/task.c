#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { P_NODES, P_ARCS, P_CLUSTERS, P_FRAME, P_FRAMES };

enum { NUM_NODES, NUM_ARCS, TAILS, HEADS, CAPS, SOURCE, SINK, MAX_FLOW_OUT, ARG_COUNT };

enum { CLUSTERS, DEEP, WIDE, TINY };

/* Draws until an instance is interesting: about one in eight of the deep ones is not. */
#define DRAWS_MAX 200

static const struct ae_arg args[ARG_COUNT] = {
    [NUM_NODES] = {"num_nodes", AE_I32, AE_SCALAR, .meaning = "number of vertices N"},
    [NUM_ARCS] = {"num_arcs", AE_I32, AE_SCALAR, .meaning = "number of directed arcs A"},
    [TAILS] = {"tails", AE_I32, AE_IN, "num_arcs", "vertex id", "where each arc starts"},
    [HEADS] = {"heads", AE_I32, AE_IN, "num_arcs", "vertex id", "where each arc ends"},
    [CAPS] = {"caps", AE_I32, AE_IN, "num_arcs", "flow", "capacity of each arc, 0 or more"},
    [SOURCE] = {"source", AE_I32, AE_SCALAR, .unit = "vertex id",
                .meaning = "where the flow starts"},
    [SINK] = {"sink", AE_I32, AE_SCALAR, .unit = "vertex id", .meaning = "where it ends"},
    [MAX_FLOW_OUT] =
        {"max_flow_out", AE_I32, AE_OUT, "1", "flow", "value of a maximum flow",
         .rule = {AE_EXACT,
                  .reason =
                      "an integer; a minimum cut of the same capacity certifies the expected one"}},
};

/* --- a minimum cut, by Dinic's method: not the reference's, so that the two prove each other ---
 */

struct dinic {
    int32_t n, source, sink;
    int32_t *first, *head, *partner, *residual;
    int32_t *level, *current, *list; /* list: queue of the search, then arcs of the present path */
};

static int dinic_build(struct dinic *d, const struct ae_instance *inst)
{
    const int32_t n = inst->scalar[NUM_NODES].i32, m = inst->scalar[NUM_ARCS].i32;
    const int32_t *tails = ae_in_i32(inst, TAILS), *heads = ae_in_i32(inst, HEADS),
                  *caps = ae_in_i32(inst, CAPS);
    const size_t arcs = 2 * (size_t)m;
    int32_t *memory = calloc(4 * ((size_t)n + 1) + 3 * arcs, sizeof *memory);
    if (!memory)
        return AE_E_NOMEM;
    *d = (struct dinic){.n = n,
                        .source = inst->scalar[SOURCE].i32,
                        .sink = inst->scalar[SINK].i32,
                        .first = memory};
    d->level = d->first + n + 1;
    d->current = d->level + n + 1;
    d->list = d->current + n + 1;
    d->head = d->list + n + 1;
    d->partner = d->head + arcs;
    d->residual = d->partner + arcs;
    for (int32_t i = 0; i < m; i++) {
        d->first[tails[i] + 1]++;
        d->first[heads[i] + 1]++;
    }
    for (int32_t v = 0; v < n; v++)
        d->first[v + 1] += d->first[v];
    memcpy(d->current, d->first, (size_t)n * sizeof *d->first);
    for (int32_t i = 0; i < m; i++) {
        const int32_t e = d->current[tails[i]]++, back = d->current[heads[i]]++;
        d->head[e] = heads[i];
        d->head[back] = tails[i];
        d->partner[e] = back;
        d->partner[back] = e;
        d->residual[e] = caps[i];
    }
    return AE_OK;
}

/* Levels = distances to the sink along residual arcs, -1 where there is no path. Is the source
 * among them? */
static bool dinic_levels(struct dinic *d)
{
    memset(d->level, 0xff, (size_t)d->n * sizeof *d->level);
    int32_t count = 1;
    d->list[0] = d->sink;
    d->level[d->sink] = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t u = d->list[i];
        for (int32_t e = d->first[u]; e < d->first[u + 1]; e++)
            if (d->residual[d->partner[e]] > 0 && d->level[d->head[e]] < 0) {
                d->level[d->head[e]] = d->level[u] + 1;
                d->list[count++] = d->head[e];
            }
    }
    return d->level[d->source] >= 0;
}

/* Saturates every path that goes down a level with each arc; returns the amount. */
static int64_t dinic_blocking_flow(struct dinic *d)
{
    int64_t total = 0;
    int32_t depth = 0, u = d->source;
    memcpy(d->current, d->first, (size_t)d->n * sizeof *d->first);
    for (;;) {
        if (u == d->sink) {
            int32_t amount = INT32_MAX, tight = 0;
            for (int32_t i = depth - 1; i >= 0; i--)
                if (d->residual[d->list[i]] <= amount) {
                    amount = d->residual[d->list[i]];
                    tight = i;
                }
            for (int32_t i = 0; i < depth; i++) {
                d->residual[d->list[i]] -= amount;
                d->residual[d->partner[d->list[i]]] += amount;
            }
            total += amount;
            u = d->head[d->partner[d->list[tight]]]; /* back to the first arc that is full */
            depth = tight;
        }
        while (d->current[u] < d->first[u + 1]) {
            const int32_t e = d->current[u];
            if (d->residual[e] > 0 && d->level[d->head[e]] == d->level[u] - 1)
                break;
            d->current[u]++;
        }
        if (d->current[u] < d->first[u + 1]) {
            d->list[depth++] = d->current[u];
            u = d->head[d->current[u]];
        } else if (u == d->source) {
            return total;
        } else {
            u = d->head[d->partner[d->list[--depth]]];
            d->current[u]++;
        }
    }
}

/* on_sink_side[v]: 1 where v can reach the sink once the flow is maximum. */
static int minimum_cut(const struct ae_instance *inst, int32_t *on_sink_side, int64_t *ret_flow)
{
    struct dinic d = {0};
    if (dinic_build(&d, inst) != AE_OK)
        return AE_E_NOMEM;
    int64_t flow = 0;
    while (dinic_levels(&d))
        flow += dinic_blocking_flow(&d);
    for (int32_t v = 0; v < d.n; v++)
        on_sink_side[v] = d.level[v] >= 0;
    *ret_flow = flow;
    free(d.first);
    return AE_OK;
}

static int64_t cut_capacity(const struct ae_instance *inst, const int32_t *on_sink_side)
{
    const int32_t *tails = ae_in_i32(inst, TAILS), *heads = ae_in_i32(inst, HEADS),
                  *caps = ae_in_i32(inst, CAPS);
    int64_t sum = 0;
    for (int32_t i = 0; i < inst->scalar[NUM_ARCS].i32; i++)
        if (!on_sink_side[tails[i]] && on_sink_side[heads[i]])
            sum += caps[i];
    return sum;
}

/* The cuts around the source and around the sink alone. */
static int64_t trivial_bound(const struct ae_instance *inst)
{
    const int32_t *tails = ae_in_i32(inst, TAILS), *heads = ae_in_i32(inst, HEADS),
                  *caps = ae_in_i32(inst, CAPS);
    int64_t out = 0, in = 0;
    for (int32_t i = 0; i < inst->scalar[NUM_ARCS].i32; i++) {
        out += tails[i] == inst->scalar[SOURCE].i32 && heads[i] != tails[i] ? caps[i] : 0;
        in += heads[i] == inst->scalar[SINK].i32 && heads[i] != tails[i] ? caps[i] : 0;
    }
    return out < in ? out : in;
}

/* --- generators --- */

struct arcs {
    int32_t *tail, *head, *cap;
    int32_t count;
};

static void add_arc(struct arcs *a, int32_t tail, int32_t head, int64_t cap)
{
    a->tail[a->count] = tail;
    a->head[a->count] = head;
    a->cap[a->count++] = (int32_t)cap;
}

/* A random vertex of cluster k; the first two ids are source and sink. */
static int32_t member(struct ae_rng *rng, const int32_t *id, int32_t inner, int32_t clusters,
                      int32_t k)
{
    const int32_t start = (int32_t)((int64_t)inner * k / clusters);
    const int32_t end = (int32_t)((int64_t)inner * (k + 1) / clusters);
    return id[2 + start + (int32_t)ae_rng_below(rng, (uint32_t)(end - start))];
}

/* Clusters in a row, few arcs from each to the next: the minimum cut lies between two of them.
 * `total` arcs in all. */
static void draw_clusters(struct ae_rng *rng, const int32_t *id, int32_t n, int32_t clusters,
                          int32_t total, struct arcs *a)
{
    const int32_t source = id[0], sink = id[1];
    const int32_t inner = n - 2;
    const int32_t sixth = inner / clusters / 6;
    for (int32_t i = 0; i < sixth; i++) {
        add_arc(a, source, id[2 + i], ae_rng_range(rng, 500, 999));
        add_arc(a, id[n - 1 - i], sink, ae_rng_range(rng, 500, 999));
    }
    const int32_t between = (int32_t)((int64_t)total * 6 / 100 / (clusters - 1));
    for (int32_t k = 0; k + 1 < clusters; k++)
        for (int32_t i = 0; i < between + between / 3; i++) {
            const bool forward = i < between;
            const int32_t low = member(rng, id, inner, clusters, k),
                          high = member(rng, id, inner, clusters, k + 1);
            add_arc(a, forward ? low : high, forward ? high : low, ae_rng_range(rng, 1, 99));
        }
    for (int32_t i = 0; i < 12; i++) { /* arcs that never matter */
        const int32_t u = member(rng, id, inner, clusters, 0),
                      v = member(rng, id, inner, clusters, 0),
                      w = member(rng, id, inner, clusters, clusters - 1);
        add_arc(a, u, source, ae_rng_range(rng, 1, 999));
        add_arc(a, sink, w, ae_rng_range(rng, 1, 999));
        add_arc(a, v, v, ae_rng_range(rng, 0, 99));
    }
    for (int32_t i = 0; i < 24; i++) { /* parallel arcs; some in the opposite direction */
        const int32_t e = (int32_t)ae_rng_below(rng, (uint32_t)a->count);
        add_arc(a, a->tail[e], a->head[e], ae_rng_range(rng, 1, 99));
        add_arc(a, a->head[e], a->tail[e], ae_rng_range(rng, 1, 99));
    }
    while (a->count < total) {
        const int32_t k = (int32_t)ae_rng_below(rng, (uint32_t)clusters);
        const int32_t u = member(rng, id, inner, clusters, k),
                      v = member(rng, id, inner, clusters, k);
        if (u != v)
            add_arc(a, u, v, ae_rng_range(rng, 1, 99));
    }
}

/* Square grids one behind the other, each joined to the next by a random perfect matching of small
 * capacities; inside of a grid capacities never bind. Source and sink are opposite corners. */
static int draw_deep(struct ae_rng *rng, const int32_t *id, int32_t side, int32_t frames,
                     struct arcs *a)
{
    const int32_t area = side * side;
    int32_t *match = malloc((size_t)area * sizeof *match);
    if (!match)
        return AE_E_NOMEM;
    for (int32_t z = 0; z < frames; z++) {
        const int32_t *frame = id + (size_t)z * (size_t)area;
        for (int32_t i = 0; i < area; i++) {
            const int32_t x = i % side, y = i / side;
            if (x + 1 < side) {
                add_arc(a, frame[i], frame[i + 1], 100 * area);
                add_arc(a, frame[i + 1], frame[i], 100 * area);
            }
            if (y + 1 < side) {
                add_arc(a, frame[i], frame[i + side], 100 * area);
                add_arc(a, frame[i + side], frame[i], 100 * area);
            }
        }
        if (z + 1 == frames)
            break;
        ae_rng_permutation(rng, match, (size_t)area);
        for (int32_t i = 0; i < area; i++)
            add_arc(a, frame[i], frame[area + match[i]], ae_rng_range(rng, 1, 100));
    }
    free(match);
    return AE_OK;
}

static void shuffle(struct ae_rng *rng, struct arcs *a)
{
    for (int32_t i = a->count - 1; i > 0; i--) {
        const uint32_t j = ae_rng_below(rng, (uint32_t)i + 1);
        int32_t *const columns[] = {a->tail, a->head, a->cap};
        for (int c = 0; c < 3; c++) {
            const int32_t kept = columns[c][i];
            columns[c][i] = columns[c][j];
            columns[c][j] = kept;
        }
    }
}

/* A cut around the source or the sink alone must not be the answer, and the minimum cut must divide
 * the vertices. */
static int is_interesting(const struct ae_instance *inst, int32_t *side, bool *ret)
{
    int64_t flow;
    if (minimum_cut(inst, side, &flow) != AE_OK)
        return AE_E_NOMEM;
    const int32_t n = inst->scalar[NUM_NODES].i32;
    int32_t sink_side = 0;
    for (int32_t v = 0; v < n; v++)
        sink_side += side[v];
    *ret = flow >= 1000 && (double)flow < 0.8 * (double)trivial_bound(inst) &&
           sink_side >= n / 10 && n - sink_side >= n / 10;
    return AE_OK;
}

/* Two to six vertices: no arcs, loops, opposite and parallel arcs, capacity 0, no path. */
static int generate_tiny(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const int32_t n = (int32_t)ae_rng_range(rng, 2, 6), m = (int32_t)ae_rng_range(rng, 0, 15);
    struct arcs a = {ae_new_array(inst, TAILS, (size_t)m, err),
                     ae_new_array(inst, HEADS, (size_t)m, err),
                     ae_new_array(inst, CAPS, (size_t)m, err), 0};
    if (!a.tail || !a.head || !a.cap)
        return AE_E_NOMEM;
    while (a.count < m) {
        const int32_t tail = (int32_t)ae_rng_below(rng, (uint32_t)n);
        const int32_t head = (int32_t)ae_rng_below(rng, (uint32_t)n);
        add_arc(&a, tail, head, ae_rng_range(rng, 0, 9));
    }
    const int32_t source = (int32_t)ae_rng_below(rng, (uint32_t)n);
    ae_set_i32(inst, NUM_NODES, n);
    ae_set_i32(inst, NUM_ARCS, m);
    ae_set_i32(inst, SOURCE, source);
    ae_set_i32(inst, SINK, (source + ae_rng_range(rng, 1, n - 1)) % n);
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    if (inst->family == TINY)
        return generate_tiny(inst, rng, err);
    const bool deep = inst->family == DEEP;
    const int32_t side = (int32_t)inst->param[P_FRAME], frames = (int32_t)inst->param[P_FRAMES];
    const int32_t n = deep ? side * side * frames : (int32_t)inst->param[P_NODES];
    const int32_t clusters = (int32_t)inst->param[P_CLUSTERS], total = (int32_t)inst->param[P_ARCS];
    const int32_t from_source = (n - 2) / clusters / 6;
    const size_t capacity =
        deep ? 5 * (size_t)n : (size_t)total + (inst->family == WIDE ? 2 * (size_t)from_source : 0);
    struct arcs a = {ae_new_array(inst, TAILS, capacity, err),
                     ae_new_array(inst, HEADS, capacity, err),
                     ae_new_array(inst, CAPS, capacity, err), 0};
    int32_t *id = malloc(2 * (size_t)n * sizeof *id);
    int rc = a.tail && a.head && a.cap && id ? AE_OK : AE_E_NOMEM;
    ae_set_i32(inst, NUM_NODES, n);
    bool interesting = false;
    for (int draw = 0; rc == AE_OK && !interesting && draw < DRAWS_MAX; draw++) {
        a.count = 0;
        ae_rng_permutation(rng, id, (size_t)n);
        if (deep)
            rc = draw_deep(rng, id, side, frames, &a);
        else
            draw_clusters(rng, id, n, clusters, total, &a);
        /* The first arcs lead out of the source; an excess of 2^31 and more arises at every one of
         * its neighbours. */
        for (int32_t i = 0; inst->family == WIDE && i < 2 * from_source; i++)
            add_arc(&a, id[0], a.head[i / 2 * 2], 1500000000);
        if (rc == AE_OK)
            shuffle(rng, &a);
        ae_set_i32(inst, NUM_ARCS, a.count);
        ae_set_i32(inst, SOURCE, id[0]);
        ae_set_i32(inst, SINK, id[deep ? n - 1 : 1]);
        if (rc == AE_OK)
            rc = is_interesting(inst, id + n, &interesting);
    }
    free(id);
    if (rc != AE_OK)
        return ae_error_set(err, rc, "no memory for %zu arcs", capacity);
    if (!interesting)
        return ae_error_set(err, AE_E_INTERNAL, "none of %d draws has an interior minimum cut",
                            DRAWS_MAX);
    ae_shrink_array(inst, TAILS, (size_t)a.count);
    ae_shrink_array(inst, HEADS, (size_t)a.count);
    ae_shrink_array(inst, CAPS, (size_t)a.count);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, MAX_FLOW_OUT, 1);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[NUM_NODES].i32, m = inst->scalar[NUM_ARCS].i32;
    const int32_t source = inst->scalar[SOURCE].i32, sink = inst->scalar[SINK].i32;
    if (n < 2 || n == INT32_MAX || m < 0 || m > INT32_MAX / 4)
        return ae_error_set(err, AE_E_INPUT, "%d vertices and %d arcs; two vertices are the least",
                            n, m);
    if (source < 0 || source >= n || sink < 0 || sink >= n || source == sink)
        return ae_error_set(err, AE_E_INPUT, "source %d and sink %d are not two of %d vertices",
                            source, sink, n);
    for (int a = TAILS; a <= CAPS; a++)
        if (inst->array[a].count != (size_t)m)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d arcs", args[a].name,
                                inst->array[a].count, m);
    const int32_t *tails = ae_in_i32(inst, TAILS), *heads = ae_in_i32(inst, HEADS),
                  *caps = ae_in_i32(inst, CAPS);
    for (int32_t i = 0; i < m; i++)
        if (tails[i] < 0 || tails[i] >= n || heads[i] < 0 || heads[i] >= n || caps[i] < 0)
            return ae_error_set(err, AE_E_INPUT,
                                "arc %d: %d -> %d with capacity %d, and there are %d vertices", i,
                                tails[i], heads[i], caps[i], n);
    if (trivial_bound(inst) > INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "the flow might not fit an int");
    return AE_OK;
}

/* aux[0]: 1 for the vertices on the sink's side of a minimum cut, 0 for the others. No flow exceeds
 * the capacity of a cut, and Dinic's flow attains it: the expected value is right if it equals
 * both. */
static int make_aux(const struct ae_instance *inst, struct ae_expected *expected,
                    struct ae_error *err)
{
    int rc = ae_array_alloc(&expected->aux[0], AE_I32, (size_t)inst->scalar[NUM_NODES].i32, err);
    if (rc != AE_OK)
        return rc;
    int32_t *side = expected->aux[0].data;
    int64_t flow;
    if (minimum_cut(inst, side, &flow) != AE_OK)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the minimum cut");
    const int64_t value = *(const int32_t *)expected->out[MAX_FLOW_OUT].data;
    if (side[inst->scalar[SOURCE].i32] || !side[inst->scalar[SINK].i32] ||
        cut_capacity(inst, side) != value || flow != value)
        return ae_error_set(err, AE_E_INTERNAL, "no cut certifies the expected flow");
    return AE_OK;
}

/* A few dozen passes over the residual arcs; one step per level of the searches. */
static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = 40.0 * inst->scalar[NUM_ARCS].i32 + inst->scalar[NUM_NODES].i32;
    w->steps = inst->family == DEEP ? 10.0 * (double)inst->param[P_FRAMES] : 100;
}

const struct ae_task ae_task_max_flow_push_relabel = {
    .id = "max_flow_push_relabel",
    .title = "Value of a maximum flow",
    .domain = AE_GRAPH,
    .lineage = "push-relabel (Goldberg & Tarjan 1988); after the generic flow code of OR-Tools",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"num_nodes", "num_arcs", "clusters", "frame_side", "frames"},
    .sizes = {[AE_SMALL] = {{1000, 5000, 3, 6, 28}},
              [AE_MEDIUM] = {{5000, 25000, 4, 8, 78}},
              [AE_LARGE] = {{20000, 100000, 5, 16, 78}}},
    .families =
        {{"clusters", "clusters in a row: the minimum cut lies between two of them", AE_ALL_SIZES},
         {"deep", "grids one behind the other: paths and rounds by the hundred", AE_ALL_SIZES},
         {"wide", "clusters with an excess beyond 32 bits next to the source", AE_ALL_SIZES},
         {"tiny", "two to six vertices: loops, parallel and opposite arcs, no path, no arcs",
          AE_AT(AE_SMALL)}},
    .published_note = "the minimum cut of published data is the sink alone: one pass over the arcs "
                      "finds the value",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .make_aux = make_aux,
    .work = work,
};
