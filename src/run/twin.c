#include "run/twin.h"

#include "base/clock.h"
#include "judge/judge.h"

#include <stdio.h>
#include <string.h>

/* How many ways of changing an instance are tried, and for how long: this, or so many times the reference's time. */
#define ATTEMPTS      64
#define SEARCH_NS     (3 * AE_SEC)
#define SEARCH_FACTOR 4
/* Pairs that trade places at first; twice as many each time that all inputs have been tried, up to a limit. */
#define SWAPS         2
#define DOUBLINGS_MAX 5
/* Tries to find a pair that differs, and the ends of an array, which fingerprints like. */
#define DRAWS  64
#define MARGIN 64

static bool is_float(enum ae_type type)
{
    return type == AE_F32 || type == AE_F64;
}

/* Inputs in the order in which they are tried: values before indices, since changed indices are seldom legal. */
static int list_inputs(const struct ae_instance *inst, int inputs[AE_ARGS_MAX])
{
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < inst->task->arg_count; i++) {
            const enum ae_role role = inst->task->args[i].role;
            if ((role == AE_IN || role == AE_INOUT) && inst->array[i].count > 1 &&
                is_float(inst->array[i].type) == (pass == 0))
                inputs[count++] = i;
        }
    return count;
}

static bool swap_two(struct ae_array *array, struct ae_rng *rng)
{
    const size_t size = ae_type_size(array->type);
    const size_t margin = array->count > 4 * MARGIN ? MARGIN : 0, room = array->count - 2 * margin;
    for (int i = 0; i < DRAWS; i++) {
        char *a = (char *)array->data + (margin + ae_rng_below64(rng, room)) * size;
        char *b = (char *)array->data + (margin + ae_rng_below64(rng, room)) * size;
        char kept[8];
        if (memcmp(a, b, size) == 0)
            continue;
        memcpy(kept, a, size);
        memcpy(a, b, size);
        memcpy(b, kept, size);
        return true;
    }
    return false;
}

bool ae_twin_alter(struct ae_instance *inst, int attempt)
{
    int inputs[AE_ARGS_MAX];
    struct ae_rng rng;
    struct ae_error err;
    const int count = list_inputs(inst, inputs);
    if (count == 0)
        return false;
    ae_rng_seed(&rng, inst->seed, 0x7717 + (uint64_t)attempt);
    struct ae_array *array = &inst->array[inputs[attempt % count]];
    const int round = attempt / count, swaps = SWAPS << (round < DOUBLINGS_MAX ? round : DOUBLINGS_MAX);
    int swapped = 0;
    for (int i = 0; i < swaps; i++)
        swapped += swap_two(array, &rng);
    if (!swapped)
        return false;
    inst->task->outputs(inst);
    return !inst->task->validate || inst->task->validate(inst, &err) == AE_OK;
}

/* Is the sibling's answer wrong for the twin? */
static bool tells_apart(const struct ae_case *sibling, const struct ae_case *twin)
{
    const void *got[AE_ARGS_MAX] = {0};
    struct ae_judgement judgement = {0};
    for (int i = 0; i < twin->inst.task->arg_count; i++) {
        if (twin->inst.array[i].count != sibling->inst.array[i].count)
            return false;
        got[i] = sibling->expected.out[i].data;
    }
    return ae_judge(&twin->inst, &twin->expected, got, &judgement, NULL) == AE_OK && !judgement.right;
}

static int search(struct ae_context *context, const struct ae_case *sibling, int *ret_number)
{
    struct ae_case_name name = sibling->name;
    const int64_t limit = SEARCH_FACTOR * sibling->reference_ns;
    const int64_t end = ae_deadline_in(limit > SEARCH_NS ? limit : SEARCH_NS);
    name.kind = AE_TRIAL_TWIN;
    *ret_number = -1;
    for (int attempt = 0; attempt < ATTEMPTS && ae_deadline_left(end); attempt++) {
        struct ae_case twin;
        struct ae_error err = {0};
        name.number = attempt;
        const bool found =
            ae_case_open(context, &name, false, &twin, &err) == AE_OK && tells_apart(sibling, &twin);
        ae_case_release(&twin);
        if (found) {
            *ret_number = attempt;
            return AE_OK;
        }
    }
    return AE_OK;
}

int ae_twin_find(struct ae_context *context, const struct ae_task *task, enum ae_size size, int *ret_number,
                 struct ae_error *err)
{
    char key[1024];
    int32_t number;
    struct ae_cache_entry entry;
    const struct ae_case_name name = {.task = task, .size = size, .kind = AE_TRIAL_TIMED, .number = AE_TWIN_SIBLING};
    int rc = ae_case_key(context, &name, key, sizeof key, err);
    if (rc != AE_OK)
        return rc;
    if (ae_cache_get(context->cache, "twin", key, &entry, NULL) == AE_OK) {
        const bool fits = entry.size == sizeof number;
        if (fits)
            memcpy(&number, entry.data, sizeof number);
        ae_cache_entry_release(&entry);
        if (fits) {
            *ret_number = number;
            return AE_OK;
        }
    }
    struct ae_case sibling;
    rc = ae_case_open(context, &name, false, &sibling, err);
    if (rc == AE_OK)
        rc = search(context, &sibling, ret_number);
    ae_case_release(&sibling);
    if (rc != AE_OK)
        return rc;
    number = *ret_number;
    const struct iovec piece = {&number, sizeof number};
    (void)ae_cache_put(context->cache, "twin", key, &piece, 1, NULL);
    return AE_OK;
}
