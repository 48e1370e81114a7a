#include "task/traps.h"

#include <stdlib.h>

enum { NUM_NODES, NUM_EDGES, SOURCE, NODE_START, NODE_DEGREE, EDGE_DST, OUT_DIST };

enum fault { CONTIGUOUS, SHORT_FRONTIER, FEW_LEVELS, DEPTH_FIRST };

/* A search with one thing done wrong. */
static bool search(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int n = inst->scalar[NUM_NODES].i32, m = inst->scalar[NUM_EDGES].i32,
              source = inst->scalar[SOURCE].i32;
    const int32_t *start = ae_in_i32(inst, NODE_START), *degree = ae_in_i32(inst, NODE_DEGREE);
    const int32_t *head = ae_in_i32(inst, EDGE_DST);
    int32_t *out = answer->out[OUT_DIST].data, *queue = malloc((size_t)n * sizeof *queue);
    if (!queue)
        abort();
    for (int v = 0; v < n; v++)
        out[v] = -1;
    int first = 0, last = 0;
    if (source >= 0 && source < n) {
        out[source] = 0;
        queue[last++] = source;
    }
    while (first < last) {
        const int u = fault == DEPTH_FIRST ? queue[--last] : queue[first++];
        if (fault == FEW_LEVELS && out[u] == 64)
            break;
        int end = start[u] + degree[u];
        if (fault == CONTIGUOUS)
            end = u + 1 < n ? start[u + 1] : m;
        for (int e = start[u]; e < end; e++) {
            if (out[head[e]] >= 0 || (fault == SHORT_FRONTIER && last - first >= 4096))
                continue;
            out[head[e]] = out[u] + 1;
            queue[last++] = head[e];
        }
    }
    free(queue);
    return true;
}

static bool contiguous(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    return search(CONTIGUOUS, inst, answer);
}

static bool short_frontier(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    return search(SHORT_FRONTIER, inst, answer);
}

static bool few_levels(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    return search(FEW_LEVELS, inst, answer);
}

static bool depth_first(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    return search(DEPTH_FIRST, inst, answer);
}

/* One per cent and a bit: what the published comparison lets through at great depth. */
static bool one_more(const struct ae_instance *inst, const struct ae_expected *right,
                     struct ae_expected *answer)
{
    (void)right;
    int32_t *out = answer->out[OUT_DIST].data;
    int changed = 0;
    for (int v = 0; v < inst->scalar[NUM_NODES].i32; v++)
        if (out[v] >= 50) {
            out[v]++;
            changed++;
        }
    return changed > 0;
}

/* Takes edges in both directions: a vertex with an edge into the reached part seems reached. */
static bool undirected(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    const int32_t *start = ae_in_i32(inst, NODE_START), *degree = ae_in_i32(inst, NODE_DEGREE);
    const int32_t *head = ae_in_i32(inst, EDGE_DST);
    int32_t *out = answer->out[OUT_DIST].data;
    int changed = 0;
    for (int u = 0; u < inst->scalar[NUM_NODES].i32; u++)
        for (int e = start[u]; out[u] < 0 && e < start[u] + degree[u]; e++)
            if (out[head[e]] >= 0) {
                out[u] = out[head[e]] + 1;
                changed++;
            }
    return changed > 0;
}

static bool zero_unreached(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    int32_t *out = answer->out[OUT_DIST].data;
    int changed = 0;
    for (int v = 0; v < inst->scalar[NUM_NODES].i32; v++)
        if (out[v] < 0) {
            out[v] = 0;
            changed++;
        }
    return changed > 0;
}

AE_TRAPS(rodinia_bfs_levels) = {
    {"takes the rows for contiguous", "layered", contiguous},
    {"drops what exceeds a queue of 4096", "skewed", short_frontier},
    {"stops after 64 levels", "layered", few_levels},
    {"goes depth first", "layered", depth_first},
    {"one more from distance 50 on", "layered", one_more},
    {"follows edges in both directions", "layered", undirected},
    {"0 for unreachable vertices", "layered", zero_unreached},
    {0},
};
