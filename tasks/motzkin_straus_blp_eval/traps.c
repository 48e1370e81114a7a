#include "task/traps.h"

#include <math.h>
#include <string.h>

enum { N, M, MU, A, X, Q, S, OBJ, MAX_VIOL };

enum fault {
    NO_GRAPH,    /* never reads A */
    HALF_ROWS,   /* computes every second row of A x */
    OUTLIERS,    /* computes the rows with the largest and smallest quarter of slacks */
    TF32,        /* weights with 10 bits of mantissa */
    BF16,        /* with 7 */
    NO_NEGATIVE, /* forgets that weights must not be negative */
    NO_SLACKS,   /* forgets the bounds of the slacks */
    NO_SUM,      /* forgets that weights add up to one */
    NO_LEVEL,    /* forgets that the level must not be negative */
    SUM_WEIGHTS, /* adds up the weights in the objective, not the smaller of weight and slack */
};

static float rounded(float value, int bits)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    word += (uint32_t)1 << (22 - bits);
    word &= ~(((uint32_t)1 << (23 - bits)) - 1);
    memcpy(&value, &word, sizeof value);
    return value;
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const size_t n = (size_t)inst->scalar[N].i32;
    for (size_t m = 0; m < (size_t)inst->scalar[M].i32; m++) {
        const float *x = ae_in_f32(inst, X) + m * n, *q = ae_in_f32(inst, Q) + m * n;
        const double s = (double)ae_in_f32(inst, S)[m];
        double mean = 0, least = 0, total = 0, worst = 0, low = 1e30, high = -1e30;
        for (size_t i = 0; i < n; i++) {
            mean += (double)q[i] / (double)n;
            low = fmin(low, (double)q[i]);
            high = fmax(high, (double)q[i]);
        }
        for (size_t i = 0; i < n; i++) {
            const double slack = (double)q[i], weight = (double)x[i];
            bool skip = fault == NO_GRAPH || (fault == HALF_ROWS && i % 2);
            if (fault == OUTLIERS)
                skip = slack > mean + (low - mean) / 2 && slack < mean + (high - mean) / 2;
            double reached = 0;
            for (size_t j = 0; j < n && !skip; j++)
                if (ae_in_f32(inst, A)[i * n + j] != 0)
                    reached += (double)(fault == TF32   ? rounded(x[j], 10)
                                        : fault == BF16 ? rounded(x[j], 7)
                                                        : x[j]);
            if (!skip)
                worst = fmax(worst, fabs(s - reached - slack));
            if (fault != NO_SLACKS)
                worst = fmax(worst, fmax(-slack, slack - 1));
            if (fault != NO_NEGATIVE)
                worst = fmax(worst, -weight);
            least += fault == SUM_WEIGHTS ? weight : fmin(weight, slack);
            total += weight;
        }
        if (fault != NO_SUM)
            worst = fmax(worst, fabs(total - 1));
        if (fault != NO_LEVEL)
            worst = fmax(worst, -s);
        ((float *)answer->out[OBJ].data)[m] = (float)(s - (double)inst->scalar[MU].f32 * least);
        ((float *)answer->out[MAX_VIOL].data)[m] = (float)worst;
    }
    return true;
}

#define SOLVER(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

SOLVER(no_graph, NO_GRAPH)
SOLVER(half_rows, HALF_ROWS)
SOLVER(outliers, OUTLIERS)
SOLVER(tf32, TF32)
SOLVER(bf16, BF16)
SOLVER(no_negative, NO_NEGATIVE)
SOLVER(no_slacks, NO_SLACKS)
SOLVER(no_sum, NO_SUM)
SOLVER(no_level, NO_LEVEL)
SOLVER(sum_weights, SUM_WEIGHTS)

AE_TRAPS(motzkin_straus_blp_eval) = {
    {"never reads the graph", "mixed", no_graph},
    {"computes half of the rows", "mixed", half_rows},
    {"computes the rows with outlying slacks", "mixed", outliers},
    {"multiplies in tf32", "mixed", tf32},
    {"multiplies in bf16", "mixed", bf16},
    {"ignores negative weights", "mixed", no_negative},
    {"ignores the bounds of the slacks", "mixed", no_slacks},
    {"ignores the sum of the weights", "mixed", no_sum},
    {"ignores negative levels", "isolated", no_level},
    {"adds up weights in the objective", "mixed", sum_weights},
    {0},
};
