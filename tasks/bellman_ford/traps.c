#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHED 1e30f

enum { V, E, ROW_OFFSETS, COL_INDICES, WEIGHTS, NUM_REQUESTS, SOURCES, TARGETS, DISTANCES };

/* A weight with the 11 significant bits of half precision. */
static float half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000) & ~UINT32_C(0x1fff);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* Synchronous rounds, at most `limit` of them; returns how many changed something. */
static int rounds(const struct ae_instance *inst, int source, int limit, bool halved, float *d)
{
    const int n = inst->scalar[V].i32;
    const int32_t *offsets = ae_in_i32(inst, ROW_OFFSETS), *heads = ae_in_i32(inst, COL_INDICES);
    const float *weights = ae_in_f32(inst, WEIGHTS);
    float *old = malloc((size_t)n * sizeof *old);
    if (!old)
        abort();
    for (int v = 0; v < n; v++)
        d[v] = UNREACHED;
    d[source] = 0;
    int done = 0;
    for (bool changed = true; changed && done < limit; done += changed) {
        memcpy(old, d, (size_t)n * sizeof *d);
        changed = false;
        for (int u = 0; u < n; u++)
            for (int e = offsets[u]; old[u] < UNREACHED && e < offsets[u + 1]; e++) {
                const float x = old[u] + (halved ? half(weights[e]) : weights[e]);
                if (x < d[heads[e]]) {
                    d[heads[e]] = x;
                    changed = true;
                }
            }
    }
    free(old);
    return done;
}

enum fault { TWO_THIRDS, FIXED_ROUNDS, HALF_WEIGHTS, BLOCKS_OF_TEN, WRAPPED_IDS };

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int n = inst->scalar[V].i32;
    float *out = answer->out[DISTANCES].data, *d = malloc((size_t)n * sizeof *d);
    if (!d)
        abort();
    for (int i = 0; i < inst->scalar[NUM_REQUESTS].i32; i++) {
        int source = ae_in_i32(inst, SOURCES)[fault == BLOCKS_OF_TEN ? i / 10 * 10 : i];
        int target = ae_in_i32(inst, TARGETS)[i];
        if (fault == WRAPPED_IDS) {
            source = (source % n + n) % n;
            target = (target % n + n) % n;
        }
        if (source < 0 || source >= n || target < 0 || target >= n) {
            out[i] = UNREACHED;
            continue;
        }
        const int all =
            rounds(inst, source, fault == FIXED_ROUNDS ? 32 : n, fault == HALF_WEIGHTS, d);
        if (fault == TWO_THIRDS)
            rounds(inst, source, all * 2 / 3, false, d);
        out[i] = d[target];
    }
    free(d);
    return true;
}

static bool two_thirds(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    return solve_with(TWO_THIRDS, inst, answer);
}

static bool fixed_rounds(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    return solve_with(FIXED_ROUNDS, inst, answer);
}

static bool half_weights(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    return solve_with(HALF_WEIGHTS, inst, answer);
}

static bool blocks_of_ten(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    return solve_with(BLOCKS_OF_TEN, inst, answer);
}

static bool wrapped_ids(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    return solve_with(WRAPPED_IDS, inst, answer);
}

/* Relaxes the edges of every vertex once, in breadth-first order. */
static bool once_in_bfs_order(const struct ae_instance *inst, const struct ae_expected *right,
                              struct ae_expected *answer)
{
    (void)right;
    const int n = inst->scalar[V].i32;
    const int32_t *offsets = ae_in_i32(inst, ROW_OFFSETS), *heads = ae_in_i32(inst, COL_INDICES);
    float *out = answer->out[DISTANCES].data, *d = malloc((size_t)n * sizeof *d);
    int *queue = malloc((size_t)n * sizeof *queue);
    if (!d || !queue)
        abort();
    for (int i = 0; i < inst->scalar[NUM_REQUESTS].i32; i++) {
        const int source = ae_in_i32(inst, SOURCES)[i], target = ae_in_i32(inst, TARGETS)[i];
        if (source < 0 || source >= n || target < 0 || target >= n)
            continue;
        for (int v = 0; v < n; v++)
            d[v] = UNREACHED;
        int count = 1;
        queue[0] = source;
        d[source] = 0;
        for (int k = 0; k < count; k++)
            for (int e = offsets[queue[k]]; e < offsets[queue[k] + 1]; e++) {
                const float x = d[queue[k]] + ae_in_f32(inst, WEIGHTS)[e];
                if (d[heads[e]] >= UNREACHED)
                    queue[count++] = heads[e];
                if (x < d[heads[e]])
                    d[heads[e]] = x;
            }
        out[i] = d[target];
    }
    free(d);
    free(queue);
    return true;
}

static bool huge_for_unreached(const struct ae_instance *inst, const struct ae_expected *right,
                               struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[DISTANCES].data;
    int changed = 0;
    for (int i = 0; i < inst->scalar[NUM_REQUESTS].i32; i++)
        if (out[i] >= UNREACHED) {
            out[i] = 3.4e38f;
            changed++;
        }
    return changed > 0;
}

static bool three_digits(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[DISTANCES].data;
    for (int i = 0; i < inst->scalar[NUM_REQUESTS].i32; i++)
        out[i] = out[i] < UNREACHED ? out[i] * 1.001f : out[i];
    return true;
}

AE_TRAPS(bellman_ford) = {
    {"stops after two thirds of the rounds", "random", two_thirds},
    {"always makes 32 rounds", "grid", fixed_rounds},
    {"weights in half precision", "random", half_weights},
    {"takes the sources in blocks of ten", "random", blocks_of_ten},
    {"wraps invalid ids", "random", wrapped_ids},
    {"relaxes once in breadth-first order", "random", once_in_bfs_order},
    {"another value for unreachable targets", "random", huge_for_unreached},
    {"off by a thousandth", NULL, three_digits},
    {0},
};
