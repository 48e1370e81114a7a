#include "task/traps.h"

#include <stdlib.h>

enum {
    N,
    TOTAL_QUERY_LEN,
    TOTAL_TARGET_LEN,
    MATCH_SCORE,
    MISMATCH_PENALTY,
    GAP_PENALTY,
    QUERY_SEQS,
    TARGET_SEQS,
    QUERY_OFFSETS,
    TARGET_OFFSETS,
    SCORES
};

struct fault {
    int band;      /* cells with |i-j| beyond it are left out; 0: none */
    int cap;       /* largest score held; 0: none */
    int drop;      /* stop where a whole row lies this far below the best; 0: never */
    bool fixed;    /* 2, -1, -2, whatever the arguments say */
    bool no_clamp; /* a table that may go below 0 */
    bool last_row; /* the maximum of the last row only */
    int longest;   /* symbols looked at; 0: all */
};

static int score(struct fault fault, const struct ae_instance *inst, int pair, int *row)
{
    const int *q = ae_in_i32(inst, QUERY_SEQS) + ae_in_i32(inst, QUERY_OFFSETS)[pair];
    const int *t = ae_in_i32(inst, TARGET_SEQS) + ae_in_i32(inst, TARGET_OFFSETS)[pair];
    int m = ae_in_i32(inst, QUERY_OFFSETS)[pair + 1] - ae_in_i32(inst, QUERY_OFFSETS)[pair];
    int n = ae_in_i32(inst, TARGET_OFFSETS)[pair + 1] - ae_in_i32(inst, TARGET_OFFSETS)[pair];
    const int match = fault.fixed ? 2 : inst->scalar[MATCH_SCORE].i32;
    const int mismatch = fault.fixed ? -1 : inst->scalar[MISMATCH_PENALTY].i32;
    const int gap = fault.fixed ? -2 : inst->scalar[GAP_PENALTY].i32;
    m = fault.longest && m > fault.longest ? fault.longest : m;
    n = fault.longest && n > fault.longest ? fault.longest : n;
    int best = 0;
    for (int j = 0; j <= n; j++)
        row[j] = 0;
    for (int i = 0; i < m; i++) {
        int diagonal = 0, highest = 0;
        for (int j = 1; j <= n; j++) {
            const int above = row[j];
            int h = diagonal + (q[i] == t[j - 1] ? match : mismatch);
            h = above + gap > h ? above + gap : h;
            h = row[j - 1] + gap > h ? row[j - 1] + gap : h;
            if (h < 0 && !fault.no_clamp)
                h = 0;
            if (fault.band && abs(i + 1 - j) > fault.band)
                h = 0;
            if (fault.cap && h > fault.cap)
                h = fault.cap;
            diagonal = above;
            row[j] = h;
            highest = h > highest ? h : highest;
        }
        if (!fault.last_row || i == m - 1)
            best = highest > best ? highest : best;
        if (fault.drop && highest < best - fault.drop)
            break;
    }
    return best;
}

static bool solve_with(struct fault fault, const struct ae_instance *inst,
                       struct ae_expected *answer)
{
    int longest = 0;
    for (int i = 0; i < inst->scalar[N].i32; i++) {
        const int n = ae_in_i32(inst, TARGET_OFFSETS)[i + 1] - ae_in_i32(inst, TARGET_OFFSETS)[i];
        longest = n > longest ? n : longest;
    }
    int *row = malloc(((size_t)longest + 1) * sizeof *row);
    if (!row)
        return false;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        ((int32_t *)answer->out[SCORES].data)[i] = score(fault, inst, i, row);
    free(row);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with((struct fault){__VA_ARGS__}, inst, answer);                              \
    }

TRAP(band, .band = 64)
TRAP(cap_127, .cap = 127)
TRAP(cap_255, .cap = 255)
TRAP(drop, .drop = 30)
TRAP(no_clamp, .no_clamp = true)
TRAP(last_row, .last_row = true)
TRAP(longest, .longest = 256)

static bool fixed(const struct ae_instance *inst, const struct ae_expected *right,
                  struct ae_expected *answer)
{
    (void)right;
    if (inst->scalar[MATCH_SCORE].i32 == 2 && inst->scalar[MISMATCH_PENALTY].i32 == -1 &&
        inst->scalar[GAP_PENALTY].i32 == -2)
        return false; /* right by chance */
    return solve_with((struct fault){.fixed = true}, inst, answer);
}

static bool lost_tail(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    const int pairs = inst->scalar[N].i32;
    for (int i = pairs / 32 * 32; i < pairs; i++)
        ((int32_t *)answer->out[SCORES].data)[i] = 0;
    return pairs % 32 != 0;
}

AE_TRAPS(smith_waterman) = {
    {"keeps to a band of 64", "reads", band},
    {"holds scores up to 127", "reads", cap_127},
    {"holds scores up to 255", "reads", cap_255},
    {"stops 30 below the best", "reads", drop},
    {"scores 2, -1, -2 always", "reads", fixed},
    {"lets scores fall below 0", "reads", no_clamp},
    {"looks at the last row only", "reads", last_row},
    {"cuts sequences at 256 symbols", "reads", longest},
    {"drops pairs that do not fill a group", NULL, lost_tail},
    {0},
};
