#include "task/traps.h"

#include <stdlib.h>

enum {
    N,
    NUM_STATIONS,
    BASE_STATION,
    DEP_MINUTES,
    ARR_MINUTES,
    DEP_STATIONS,
    ARR_STATIONS,
    DUTY_RATE,
    PAIRING_RATE,
    MAX_DUTY,
    MAX_BLOCK,
    MAX_LEGS,
    MIN_REST,
    ASSIGNMENTS
};

/* First fit with one rule left out; with all of them it is feasible, and dear. */
struct fault {
    bool no_stations, no_gap, no_duty, no_block, no_legs, no_rest;
};

static bool fit(const struct ae_instance *inst, struct ae_expected *answer, struct fault f)
{
    const int n = inst->scalar[N].i32, rest = f.no_rest ? 60 : inst->scalar[MIN_REST].i32;
    const int32_t *dep = ae_in_i32(inst, DEP_MINUTES), *arr = ae_in_i32(inst, ARR_MINUTES);
    const int32_t *from = ae_in_i32(inst, DEP_STATIONS), *to = ae_in_i32(inst, ARR_STATIONS);
    int *last = malloc((size_t)n * sizeof *last), (*duty)[3] = malloc((size_t)n * sizeof *duty),
        count = 0;
    int32_t *out = answer->out[ASSIGNMENTS].data;
    for (int i = 0; i < n; i++) {
        const int block = arr[i] - dep[i];
        int p = 0;
        for (; p < count; p++) {
            const int gap = dep[i] - arr[last[p]];
            if ((!f.no_stations && to[last[p]] != from[i]) || (!f.no_gap && gap < 0))
                continue;
            if (gap >= rest) {
                duty[p][0] = dep[i];
                duty[p][1] = block;
                duty[p][2] = 1;
                break;
            }
            if ((f.no_duty || arr[i] - duty[p][0] <= inst->scalar[MAX_DUTY].i32) &&
                (f.no_block || duty[p][1] + block <= inst->scalar[MAX_BLOCK].i32) &&
                (f.no_legs || duty[p][2] < inst->scalar[MAX_LEGS].i32)) {
                duty[p][1] += block;
                duty[p][2]++;
                break;
            }
        }
        if (p == count) {
            duty[p][0] = dep[i];
            duty[p][1] = block;
            duty[p][2] = 1;
            count++;
        }
        last[p] = i;
        out[i] = p;
    }
    free(last);
    free(duty);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return fit(inst, answer, (struct fault){__VA_ARGS__});                                     \
    }

TRAP(first_fit, 0)
TRAP(no_stations, .no_stations = true)
TRAP(no_gap, .no_gap = true)
TRAP(no_duty, .no_duty = true)
TRAP(no_block, .no_block = true)
TRAP(no_legs, .no_legs = true)
TRAP(no_rest, .no_rest = true)

/* The cheapest way to a small total when nobody looks at feasibility. */
static bool one_group(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        ((int32_t *)answer->out[ASSIGNMENTS].data)[i] = 0;
    return true;
}

static bool singles(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        ((int32_t *)answer->out[ASSIGNMENTS].data)[i] = i;
    return true;
}

/* Mutations of the right plan: two pairings as one, two legs exchanged, an id out of range. */
static bool merged(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    (void)right;
    int32_t *out = answer->out[ASSIGNMENTS].data;
    const int32_t first = out[0];
    for (int i = 1; i < inst->scalar[N].i32; i++)
        if (out[i] != first) {
            const int32_t other = out[i];
            for (int k = i; k < inst->scalar[N].i32; k++)
                out[k] = out[k] == other ? first : out[k];
            return true;
        }
    return false;
}

static bool exchanged(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    int32_t *out = answer->out[ASSIGNMENTS].data;
    const int n = inst->scalar[N].i32;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            if (out[i] != out[k] &&
                ae_in_i32(inst, DEP_STATIONS)[i] != ae_in_i32(inst, DEP_STATIONS)[k]) {
                const int32_t kept = out[i];
                out[i] = out[k];
                out[k] = kept;
                return true;
            }
    return false;
}

static bool id_too_large(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)right;
    ((int32_t *)answer->out[ASSIGNMENTS].data)[0] = inst->scalar[N].i32;
    return true;
}

/* Pairings of the right plan broken up after their first leg. */
static bool broken_up(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    int32_t *out = answer->out[ASSIGNMENTS].data;
    const int n = inst->scalar[N].i32;
    int32_t free_id = 0;
    for (int i = 0; i < n; i++)
        free_id = out[i] >= free_id ? out[i] + 1 : free_id;
    for (int i = 0; i < n && free_id < n; i++)
        for (int k = 0; k < i; k++)
            if (out[k] == out[i]) {
                out[i] = free_id++;
                break;
            }
    return true;
}

AE_TRAPS(crew_pairing) = {
    {"first fit alone", "alternate_days", first_fit},
    {"all legs in one pairing", "alternate_days", one_group},
    {"every leg alone", "alternate_days", singles},
    {"crews change station by magic", "alternate_days", no_stations},
    {"departs before it has arrived", "rotations", no_gap},
    {"ignores the longest duty", "short_duties", no_duty},
    {"ignores the flight time of a duty", "little_flying", no_block},
    {"ignores the legs of a duty", "few_legs", no_legs},
    {"takes an hour for a rest", NULL, no_rest},
    {"two pairings as one", "alternate_days", merged},
    {"two legs exchanged", "alternate_days", exchanged},
    {"an id of N", "alternate_days", id_too_large},
    {"pairings broken up", "alternate_days", broken_up},
    {0},
};
