#include "task/traps.h"

#include <stdlib.h>

enum { ROWS, COLS, WALL, OUT_COSTS };

enum fault { NONE, WRAPS, ZERO_HALO, LOST_AT_SEAMS, SUMS_16, COSTS_8, STRAIGHT };

/* The recurrence from row first on, with one thing done wrong. */
static void sweep(const struct ae_instance *inst, int first, enum fault fault, int32_t *out)
{
    const int rows = inst->scalar[ROWS].i32, cols = inst->scalar[COLS].i32;
    const int32_t *wall = ae_in_i32(inst, WALL);
    int32_t *above = calloc((size_t)cols, sizeof *above);
    for (int r = first; r < rows && above; r++) {
        for (int c = 0; c < cols; c++) {
            int32_t best = above[c];
            for (int side = -1; side <= 1 && r > first && fault != STRAIGHT; side += 2) {
                int from = c + side;
                if (fault == WRAPS)
                    from = (from + cols) % cols;
                int32_t candidate = INT32_MAX;
                if (from >= 0 && from < cols)
                    candidate = above[from];
                else if (fault == ZERO_HALO)
                    candidate = 0;
                if (fault == LOST_AT_SEAMS && r % 32 == 0 && c / 128 != from / 128)
                    candidate = INT32_MAX;
                best = candidate < best ? candidate : best;
            }
            const int32_t cost = wall[(size_t)r * (size_t)cols + (size_t)c];
            out[c] = best + (fault == COSTS_8 ? cost & 0xff : cost);
            if (fault == SUMS_16)
                out[c] &= 0xffff;
        }
        for (int c = 0; c < cols; c++)
            above[c] = out[c];
    }
    free(above);
}

#define FAULTY(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        sweep(inst, 0, fault, answer->out[OUT_COSTS].data);                                        \
        return true;                                                                               \
    }

FAULTY(wraps, WRAPS)
FAULTY(zero_halo, ZERO_HALO)
FAULTY(lost_at_seams, LOST_AT_SEAMS)
FAULTY(sums_16, SUMS_16)
FAULTY(costs_8, COSTS_8)
FAULTY(straight, STRAIGHT)

/* The first quarter of the rows replaced by the best single number for it. */
static bool forgets_the_start(const struct ae_instance *inst, const struct ae_expected *right,
                              struct ae_expected *answer)
{
    const int rows = inst->scalar[ROWS].i32, cols = inst->scalar[COLS].i32;
    const int32_t *exact = right->out[OUT_COSTS].data;
    int32_t *out = answer->out[OUT_COSTS].data;
    sweep(inst, rows / 4, NONE, out);
    int64_t missing = 0;
    for (int c = 0; c < cols; c++)
        missing += exact[c] - out[c];
    for (int c = 0; c < cols; c++)
        out[c] += (int32_t)(missing / cols);
    return rows >= 4 && cols >= 8;
}

AE_TRAPS(pathfinder_grid_dp) = {
    {"goes round the side borders", "uniform", wraps},
    {"reads zeros beyond the side borders", "uniform", zero_halo},
    {"loses a candidate at tile seams", "channels", lost_at_seams},
    {"adds up in 16 bits", "wide", sums_16},
    {"packs costs into 8 bits", "wide", costs_8},
    {"never steps to the side", "uniform", straight},
    {"replaces the first rows by a constant", "uniform", forgets_the_start},
    {0},
};
