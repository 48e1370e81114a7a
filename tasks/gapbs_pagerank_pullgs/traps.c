#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, MAX_ITERS, IN_ROW_PTR, IN_COL_IDX, OUT_DEGREE, SCORES_OUT };

enum fault { NONE, MEAN_DEGREE, REDISTRIBUTES, UNDAMPED };

/* Synchronous sweeps in double, with one thing done wrong. */
static void sweeps(const struct ae_instance *inst, int count, enum fault fault, float *out)
{
    const int n = inst->scalar[N].i32;
    const int32_t *ptr = ae_in_i32(inst, IN_ROW_PTR), *col = ae_in_i32(inst, IN_COL_IDX);
    const int32_t *degree = ae_in_i32(inst, OUT_DEGREE);
    const double damping = fault == UNDAMPED ? 0.8 : 0.85;
    double *x = malloc((size_t)n * sizeof *x), *passed = malloc((size_t)n * sizeof *passed);
    if (!x || !passed)
        abort();
    for (int u = 0; u < n; u++)
        x[u] = 1.0 / n;
    while (count-- > 0) {
        double lost = 0;
        for (int u = 0; u < n; u++) {
            passed[u] = fault == MEAN_DEGREE ? x[u] * n / ptr[n]
                        : degree[u] > 0      ? x[u] / degree[u]
                                             : 0;
            lost += degree[u] > 0 || fault != REDISTRIBUTES ? 0 : x[u];
        }
        for (int u = 0; u < n; u++) {
            double sum = lost / n;
            for (int e = ptr[u]; e < ptr[u + 1]; e++)
                sum += passed[col[e]];
            x[u] = (1 - damping) / n + damping * sum;
        }
    }
    for (int u = 0; u < n; u++)
        out[u] = (float)x[u];
    free(x);
    free(passed);
}

static bool twenty_sweeps(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    sweeps(inst, 20, NONE, answer->out[SCORES_OUT].data);
    return true;
}

static bool mean_degree(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    if (ae_in_i32(inst, IN_ROW_PTR)[inst->scalar[N].i32] == 0)
        return false;
    sweeps(inst, 100, MEAN_DEGREE, answer->out[SCORES_OUT].data);
    return true;
}

static bool redistributes(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    sweeps(inst, 100, REDISTRIBUTES, answer->out[SCORES_OUT].data);
    return true;
}

static bool wrong_damping(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    sweeps(inst, 100, UNDAMPED, answer->out[SCORES_OUT].data);
    return true;
}

/* A loose absolute tolerance sees the hubs only. */
static bool hubs_only(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[SCORES_OUT].data;
    for (int u = 0; u < inst->scalar[N].i32; u++)
        out[u] = out[u] < 1e-4f ? 0 : out[u];
    return true;
}

static bool a_hundredth(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[SCORES_OUT].data;
    for (int u = 0; u < inst->scalar[N].i32; u += 100)
        out[u] *= 1.03f;
    return true;
}

/* Every score off by little: only the residual tells. */
static bool uneven(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[SCORES_OUT].data;
    for (int u = 0; u < inst->scalar[N].i32; u++)
        out[u] *= u % 2 ? 1.002f : 0.998f;
    return true;
}

static bool normalised(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[SCORES_OUT].data;
    double sum = 0;
    for (int u = 0; u < inst->scalar[N].i32; u++)
        sum += (double)out[u];
    for (int u = 0; u < inst->scalar[N].i32; u++)
        out[u] = (float)((double)out[u] / sum);
    return fabs(sum - 1) > 0.01;
}

AE_TRAPS(gapbs_pagerank_pullgs) = {
    {"stops synchronous sweeps at twenty", "web", twenty_sweeps},
    {"takes the mean out-degree for all", "web", mean_degree},
    {"redistributes the scores of dangling vertices", "web", redistributes},
    {"another damping factor", "web", wrong_damping},
    {"zeros but for the hubs", "web", hubs_only},
    {"one score in a hundred off by 3 %", "web", a_hundredth},
    {"all scores off by 0.2 %", "web", uneven},
    {"scales the scores to sum 1", "web", normalised},
    {0},
};
