#include "task/traps.h"

#include <stdlib.h>

enum { N, NEIGHBOR_ROUNDS, NUM_SAMPLES, ROW_PTR, COL_IDX, COMP_OUT };

static int root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void join(int32_t *parent, int32_t u, int32_t v)
{
    const int32_t a = root_of(parent, u), b = root_of(parent, v);
    parent[a > b ? a : b] = a < b ? a : b;
}

/* The published data have blocks of 2048 consecutive vertices. */
static bool blocks_of_ids(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    int32_t *out = answer->out[COMP_OUT].data;
    for (int32_t v = 0; v < inst->scalar[N].i32; v++)
        out[v] = v / 2048 * 2048;
    return true;
}

/* Links a part of every row. */
enum part { FIRST_TWO, UP_TO_OWN_ID };

static bool link_part(enum part part, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int32_t n = inst->scalar[N].i32, *ptr = ae_in_i32(inst, ROW_PTR),
                  *col = ae_in_i32(inst, COL_IDX);
    int32_t *out = answer->out[COMP_OUT].data;
    for (int32_t v = 0; v < n; v++)
        out[v] = v;
    for (int32_t v = 0; v < n; v++)
        for (int32_t e = ptr[v]; e < ptr[v + 1]; e++) {
            if ((part == FIRST_TWO && e >= ptr[v] + 2) || (part == UP_TO_OWN_ID && col[e] > v))
                break;
            join(out, v, col[e]);
        }
    for (int32_t v = 0; v < n; v++)
        out[v] = root_of(out, v);
    return true;
}

static bool first_two(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    return link_part(FIRST_TWO, inst, answer);
}

/* Stops at the first neighbour above the vertex itself, as ascending rows would allow. */
static bool trusts_order(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    return link_part(UP_TO_OWN_ID, inst, answer);
}

/* Labels pass along all edges a hundred times. */
static bool hundred_rounds(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    const int32_t n = inst->scalar[N].i32, *ptr = ae_in_i32(inst, ROW_PTR),
                  *col = ae_in_i32(inst, COL_IDX);
    int32_t *out = answer->out[COMP_OUT].data;
    for (int32_t v = 0; v < n; v++)
        out[v] = v;
    for (int round = 0; round < 100; round++)
        for (int32_t v = 0; v < n; v++)
            for (int32_t e = ptr[v]; e < ptr[v + 1]; e++)
                if (out[col[e]] < out[v])
                    out[v] = out[col[e]];
    return true;
}

/* Right components, numbered one after the other. */
static bool numbered(const struct ae_instance *inst, const struct ae_expected *right,
                     struct ae_expected *answer)
{
    const int32_t *from = right->out[COMP_OUT].data;
    int32_t *out = answer->out[COMP_OUT].data, next = 0;
    for (int32_t v = 0; v < inst->scalar[N].i32; v++)
        out[v] = from[v] == v ? next++ : out[from[v]];
    return next < inst->scalar[N].i32;
}

/* Only the largest component is joined; its vertices are right. */
static bool giant_only(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    const int32_t *from = right->out[COMP_OUT].data, n = inst->scalar[N].i32;
    int32_t *out = answer->out[COMP_OUT].data, *size = calloc((size_t)n, sizeof *size), best = 0;
    if (!size)
        abort();
    for (int32_t v = 0; v < n; v++)
        if (++size[from[v]] > size[best])
            best = from[v];
    for (int32_t v = 0; v < n; v++)
        out[v] = from[v] == best ? best : v;
    free(size);
    return true;
}

/* Two components that no edge joins, merged. */
static bool merged(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    const int32_t *from = right->out[COMP_OUT].data, n = inst->scalar[N].i32;
    int32_t *out = answer->out[COMP_OUT].data, other = n;
    for (int32_t v = 0; v < n; v++)
        if (from[v] == v && v > from[0])
            other = v;
    for (int32_t v = 0; v < n; v++)
        out[v] = from[v] == other ? from[0] : from[v];
    return other < n;
}

AE_TRAPS(gapbs_cc_afforest) = {
    {"computes the label from the id", NULL, blocks_of_ids},
    {"links two neighbours a vertex", "clusters", first_two},
    {"relies on ascending rows", "shuffled", trusts_order},
    {"propagates labels for a hundred rounds", "chains", hundred_rounds},
    {"numbers the components", "clusters", numbered},
    {"finishes the largest component only", "clusters", giant_only},
    {"merges two components", "clusters", merged},
    {0},
};
