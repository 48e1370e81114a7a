#include "task/traps.h"

#include <stdlib.h>

enum { N, ROW_PTR, COL_IDX, TRIANGLE_COUNT_OUT };

static uint64_t *answer_of(struct ae_expected *answer)
{
    return answer->out[TRIANGLE_COUNT_OUT].data;
}

/* Triangles whose highest vertex is below `last`, rows cut to `longest` neighbours. */
static uint64_t count_part(const struct ae_instance *inst, int first, int last, int longest)
{
    const int32_t *ptr = ae_in_i32(inst, ROW_PTR), *col = ae_in_i32(inst, COL_IDX);
    uint64_t count = 0;
    for (int u = first; u < last; u++)
        for (int e = ptr[u]; e < ptr[u + 1] && e < ptr[u] + longest && col[e] < u; e++) {
            int x = ptr[col[e]];
            const int end = ptr[col[e] + 1] - x < longest ? ptr[col[e] + 1] : x + longest;
            for (int w = ptr[u]; w < e; w++) {
                while (x < end && col[x] < col[w])
                    x++;
                count += x < end && col[x] == col[w];
            }
        }
    return count;
}

static bool closed_form(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    const uint64_t k = (uint64_t)ae_in_i32(inst, ROW_PTR)[1] / 2;
    *answer_of(answer) = k > 0 ? (uint64_t)inst->scalar[N].i32 * k * (k - 1) / 2 : 0;
    return true;
}

static bool mean_degree(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)right;
    const uint64_t n = (uint64_t)inst->scalar[N].i32, k = inst->array[COL_IDX].count / n / 2;
    *answer_of(answer) = k > 0 ? n * k * (k - 1) / 2 : 0;
    return true;
}

/* Exact where all vertices are alike. */
static bool sampled(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    const int n = inst->scalar[N].i32;
    *answer_of(answer) = 16 * count_part(inst, n - n / 16, n, n) / 2;
    return n >= 16;
}

static bool short_rows(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    (void)right;
    *answer_of(answer) = count_part(inst, 0, inst->scalar[N].i32, 128);
    return true;
}

static bool lost_tail(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    const int n = inst->scalar[N].i32;
    *answer_of(answer) = count_part(inst, 0, n - n / 64, n);
    return n >= 64;
}

static bool each_thrice(const struct ae_instance *inst, const struct ae_expected *right,
                        struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    *answer_of(answer) *= 3;
    return *answer_of(answer) > 0;
}

static bool one_less(const struct ae_instance *inst, const struct ae_expected *right,
                     struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    *answer_of(answer) -= 1;
    return true;
}

AE_TRAPS(gapbs_triangle_orderedcount) = {
    {"takes the closed formula of a circulant graph", "skewed", closed_form},
    {"takes the formula with the mean degree", "skewed", mean_degree},
    {"scales up a sample", "skewed", sampled},
    {"cuts long rows", "skewed", short_rows},
    {"drops the last vertices", "skewed", lost_tail},
    {"counts each triangle at all corners", "skewed", each_thrice},
    {"off by one", NULL, one_less},
    {0},
};
