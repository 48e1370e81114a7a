#include "task/traps.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUM_STATES,
    NUM_SYMBOLS,
    START_STATE,
    NUM_STRINGS,
    TOTAL_CHARS,
    TRANS_OFFSETS,
    TRANS_TARGETS,
    EPS_OFFSETS,
    EPS_TARGETS,
    IS_ACCEPT,
    STR_OFFSETS,
    STR_DATA,
    RESULTS
};

enum fault {
    NONE,
    HEAD_AND_TAIL,
    TAIL_FROM_ANY_SET,
    ALIVE_IS_ACCEPTED,
    FIRST_TARGET_ONLY,
    NO_EPSILON_LATER,
    ONE_EPSILON_STEP,
    SKIPS_STRANGE,
    START_AT_ZERO,
    EMPTY_REJECTED
};

#define STATES_MAX 256

static void close_set(const struct ae_instance *inst, bool *set, bool once)
{
    const int32_t *offsets = ae_in_i32(inst, EPS_OFFSETS), *targets = ae_in_i32(inst, EPS_TARGETS);
    const int states = inst->scalar[NUM_STATES].i32;
    bool more = true;
    while (more) {
        bool before[STATES_MAX];
        memcpy(before, set, sizeof before);
        more = false;
        for (int s = 0; s < states; s++)
            for (int32_t e = offsets[s]; before[s] && e < offsets[s + 1]; e++) {
                more |= !set[targets[e]];
                set[targets[e]] = true;
            }
        more &= !once;
    }
}

/* set = where it leads by symbol; false where nothing is left. */
static bool advance(const struct ae_instance *inst, bool *set, int32_t symbol, enum fault fault)
{
    const int32_t *offsets = ae_in_i32(inst, TRANS_OFFSETS),
                  *targets = ae_in_i32(inst, TRANS_TARGETS);
    const int symbols = inst->scalar[NUM_SYMBOLS].i32, states = inst->scalar[NUM_STATES].i32;
    bool next[STATES_MAX] = {false}, any = false;
    if (symbol < 0 || symbol >= symbols)
        return fault == SKIPS_STRANGE;
    for (int s = 0; s < states; s++) {
        const int row = s * symbols + symbol;
        for (int32_t e = offsets[row]; set[s] && e < offsets[row + 1]; e++) {
            next[targets[e]] = any = true;
            if (fault == FIRST_TARGET_ONLY)
                break;
        }
    }
    if (fault != NO_EPSILON_LATER)
        close_set(inst, next, fault == ONE_EPSILON_STEP);
    memcpy(set, next, sizeof next);
    return any;
}

static int answer_one(const struct ae_instance *inst, const int32_t *string, int32_t length,
                      enum fault fault)
{
    enum { END = 32 };
    bool set[STATES_MAX] = {false};
    if (length == 0 && fault == EMPTY_REJECTED)
        return 0;
    set[fault == START_AT_ZERO ? 0 : inst->scalar[START_STATE].i32] = true;
    close_set(inst, set, fault == ONE_EPSILON_STEP);
    for (int32_t k = 0; k < length; k++) {
        if (fault == HEAD_AND_TAIL && k >= END && k < length - END)
            continue;
        if (fault == TAIL_FROM_ANY_SET && k < length - END)
            continue;
        if (fault == TAIL_FROM_ANY_SET && k == length - END)
            for (int s = 0; s < inst->scalar[NUM_STATES].i32; s++)
                set[s] = true;
        if (!advance(inst, set, string[k], fault))
            return 0;
    }
    for (int s = 0; s < inst->scalar[NUM_STATES].i32; s++)
        if (set[s] && (fault == ALIVE_IS_ACCEPTED || ae_in_i32(inst, IS_ACCEPT)[s]))
            return 1;
    return 0;
}

static bool solve_with(const struct ae_instance *inst, struct ae_expected *answer, enum fault fault)
{
    const int32_t *offsets = ae_in_i32(inst, STR_OFFSETS), *data = ae_in_i32(inst, STR_DATA);
    int32_t *out = answer->out[RESULTS].data;
    for (int i = 0; i < inst->scalar[NUM_STRINGS].i32; i++)
        out[i] = answer_one(inst, data + offsets[i], offsets[i + 1] - offsets[i], fault);
    return true;
}

#define FAULTY(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(inst, answer, fault);                                                    \
    }

FAULTY(head_and_tail, HEAD_AND_TAIL)
FAULTY(tail_from_any_set, TAIL_FROM_ANY_SET)
FAULTY(alive_is_accepted, ALIVE_IS_ACCEPTED)
FAULTY(first_target_only, FIRST_TARGET_ONLY)
FAULTY(no_epsilon_later, NO_EPSILON_LATER)
FAULTY(one_epsilon_step, ONE_EPSILON_STEP)
FAULTY(skips_strange, SKIPS_STRANGE)
FAULTY(start_at_zero, START_AT_ZERO)
FAULTY(empty_rejected, EMPTY_REJECTED)

/* The same solver without a fault, and one answer turned round: caught only if all others are
 * right. */
static bool one_wrong(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    int32_t *out = answer->out[RESULTS].data;
    solve_with(inst, answer, NONE);
    if (memcmp(out, right->out[RESULTS].data, answer->out[RESULTS].count * sizeof *out) != 0)
        return false; /* this solver is not right itself: the entry fails for want of an instance */
    out[answer->out[RESULTS].count - 1] ^= 1;
    return true;
}

AE_TRAPS(regex_match) = {
    {"reads 32 symbols at each end", "parts", head_and_tail},
    {"reads the last 32 symbols from any set", "parts", tail_from_any_set},
    {"accepts whatever stays alive", "parts", alive_is_accepted},
    {"takes the first of several targets", "deep", first_target_only},
    {"follows epsilon edges at the start only", "random", no_epsilon_later},
    {"follows one epsilon edge at a time", "parts", one_epsilon_step},
    {"passes over symbols outside the alphabet", "odd", skips_strange},
    {"starts in state 0", "parts", start_at_zero},
    {"rejects empty strings", "odd", empty_rejected},
    {"gets one string wrong (by a solver that is right otherwise)", "parts", one_wrong},
    {0},
};
