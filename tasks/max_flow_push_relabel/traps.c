#include "task/traps.h"

#include <stdlib.h>
#include <string.h>

enum { NUM_NODES, NUM_ARCS, TAILS, HEADS, CAPS, SOURCE, SINK, MAX_FLOW_OUT };

static int32_t *value_of(struct ae_expected *answer)
{
    return answer->out[MAX_FLOW_OUT].data;
}

/* Out of the source, or into the sink: the smaller sum. */
static bool trivial_cut(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    int64_t out = 0, in = 0;
    for (int i = 0; i < inst->scalar[NUM_ARCS].i32; i++) {
        out += ae_in_i32(inst, TAILS)[i] == inst->scalar[SOURCE].i32 ? ae_in_i32(inst, CAPS)[i] : 0;
        in += ae_in_i32(inst, HEADS)[i] == inst->scalar[SINK].i32 ? ae_in_i32(inst, CAPS)[i] : 0;
    }
    *value_of(answer) = (int32_t)(out < in ? out : in);
    return true;
}

/* Residual arcs 2i (arc i) and 2i+1 (its opposite), chained by tail. */
struct flow {
    int n, m, source, sink;
    int *next, *chain, *level, *at;
    int64_t *residual;
    const int32_t *tails, *heads;
};

static int head_of(const struct flow *f, int e)
{
    return e % 2 ? f->tails[e / 2] : f->heads[e / 2];
}

static void flow_init(struct flow *f, const struct ae_instance *inst)
{
    *f = (struct flow){.n = inst->scalar[NUM_NODES].i32,
                       .m = inst->scalar[NUM_ARCS].i32,
                       .source = inst->scalar[SOURCE].i32,
                       .sink = inst->scalar[SINK].i32};
    f->tails = ae_in_i32(inst, TAILS);
    f->heads = ae_in_i32(inst, HEADS);
    f->chain = malloc(((size_t)f->n * 3 + 2 * (size_t)f->m) * sizeof *f->chain);
    f->residual = calloc(2 * (size_t)f->m + 1, sizeof *f->residual);
    if (!f->chain || !f->residual)
        abort();
    f->level = f->chain + f->n;
    f->at = f->level + f->n;
    f->next = f->at + f->n;
    memset(f->chain, 0xff, (size_t)f->n * sizeof *f->chain);
    for (int e = 0; e < 2 * f->m; e++) {
        const int tail = head_of(f, e ^ 1);
        f->next[e] = f->chain[tail];
        f->chain[tail] = e;
        f->residual[e] = e % 2 ? 0 : ae_in_i32(inst, CAPS)[e / 2];
    }
}

static void flow_release(struct flow *f)
{
    free(f->chain);
    free(f->residual);
}

/* Levels from the sink, by rounds over all arcs. */
static bool flow_levels(struct flow *f)
{
    memset(f->level, 0xff, (size_t)f->n * sizeof *f->level);
    f->level[f->sink] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int e = 0; e < 2 * f->m; e++) {
            const int u = head_of(f, e ^ 1), v = head_of(f, e);
            if (f->residual[e] > 0 && f->level[v] >= 0 &&
                (f->level[u] < 0 || f->level[u] > f->level[v] + 1)) {
                f->level[u] = f->level[v] + 1;
                changed = true;
            }
        }
    }
    memcpy(f->at, f->chain, (size_t)f->n * sizeof *f->at);
    return f->level[f->source] >= 0;
}

static int64_t flow_send(struct flow *f, int u, int64_t most, bool undo)
{
    if (u == f->sink)
        return most;
    for (; f->at[u] >= 0; f->at[u] = f->next[f->at[u]]) {
        const int e = f->at[u];
        if (f->residual[e] <= 0 || f->level[head_of(f, e)] != f->level[u] - 1)
            continue;
        const int64_t sent =
            flow_send(f, head_of(f, e), most < f->residual[e] ? most : f->residual[e], undo);
        if (sent > 0) {
            f->residual[e] -= sent;
            f->residual[e ^ 1] += undo ? sent : 0;
            return sent;
        }
    }
    return 0;
}

static bool phases(const struct ae_instance *inst, struct ae_expected *answer, int limit, bool undo)
{
    struct flow f;
    int64_t total = 0;
    flow_init(&f, inst);
    for (int phase = 0; phase < limit && flow_levels(&f); phase++)
        for (int64_t sent; (sent = flow_send(&f, f.source, INT64_MAX, undo)) > 0;)
            total += sent;
    *value_of(answer) = (int32_t)total;
    flow_release(&f);
    return true;
}

static bool eight_phases(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    return phases(inst, answer, 8, true);
}

/* Augments along shortest paths and never takes anything back. */
static bool no_undo(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    return phases(inst, answer, inst->scalar[NUM_NODES].i32, false);
}

/* Push-relabel whose excess wraps at 32 bits. */
static bool narrow_excess(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    struct flow f;
    flow_init(&f, inst);
    uint32_t *excess = calloc((size_t)f.n, sizeof *excess);
    if (!excess)
        abort();
    for (int e = f.chain[f.source]; e >= 0; e = f.next[e]) {
        excess[head_of(&f, e)] += (uint32_t)f.residual[e];
        f.residual[e ^ 1] += f.residual[e];
        f.residual[e] = 0;
    }
    for (int round = 0; round < 400; round++) {
        if (round % 20 == 0)
            flow_levels(&f);
        for (int u = 0; u < f.n; u++) {
            if (u == f.source || u == f.sink || f.level[u] < 0)
                continue;
            for (int e = f.chain[u]; e >= 0 && (int32_t)excess[u] > 0; e = f.next[e]) {
                const int v = head_of(&f, e);
                if (f.residual[e] <= 0 || f.level[v] < 0 || f.level[v] >= f.level[u])
                    continue;
                const int64_t sent =
                    f.residual[e] < (int32_t)excess[u] ? f.residual[e] : (int32_t)excess[u];
                f.residual[e] -= sent;
                f.residual[e ^ 1] += sent;
                excess[u] -= (uint32_t)sent;
                excess[v] += (uint32_t)sent;
            }
        }
    }
    *value_of(answer) = (int32_t)excess[f.sink];
    free(excess);
    flow_release(&f);
    return true;
}

/* Of parallel arcs only the last counts. */
static bool merges_parallel(const struct ae_instance *inst, const struct ae_expected *right,
                            struct ae_expected *answer)
{
    (void)right;
    struct flow f;
    int64_t total = 0;
    flow_init(&f, inst);
    int merged = 0;
    for (int i = 0; i < f.m; i++) /* chains hold later arcs first */
        for (int e = f.chain[f.tails[i]]; e > 2 * i; e = f.next[e])
            if (e % 2 == 0 && f.heads[e / 2] == f.heads[i]) {
                f.residual[2 * i] = 0;
                merged++;
            }
    while (flow_levels(&f))
        for (int64_t sent; (sent = flow_send(&f, f.source, INT64_MAX, true)) > 0;)
            total += sent;
    *value_of(answer) = (int32_t)total;
    flow_release(&f);
    return merged > 0;
}

static bool one_less(const struct ae_instance *inst, const struct ae_expected *right,
                     struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    *value_of(answer) -= 1;
    return true;
}

AE_TRAPS(max_flow_push_relabel) = {
    {"takes the cut at source or sink", "clusters", trivial_cut},
    {"takes the cut at source or sink (deep)", "deep", trivial_cut},
    {"stops after eight phases", "deep", eight_phases},
    {"never takes flow back", "clusters", no_undo},
    {"32-bit excess", "wide", narrow_excess},
    {"merges parallel arcs", NULL, merges_parallel},
    {"off by one", NULL, one_less},
    {0},
};
