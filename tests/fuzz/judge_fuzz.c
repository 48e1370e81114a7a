/* Fuzz target: judging hostile outputs, every task and family. Whatever the bytes, the judge answers, gives a reason
 * exactly where it says no, changes nothing, and passes no value that is not finite and no change of an exact output. */
#include "judge_cells.h"

#include "judge/judge.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Applies data to one output; the outputs count as one piece, `before` bytes of which lie in earlier ones. Returns
 * `before` of the next. */
static size_t spoil(unsigned char *out, size_t bytes, size_t before, enum judge_mode mode, const uint8_t *data, size_t size)
{
    for (size_t i = 0; mode == JUDGE_REPLACE && i < bytes && before + i < size; i++)
        out[i] = data[before + i];
    for (size_t i = 0; mode == JUDGE_REPEAT && size > 0 && i < bytes; i++)
        out[i] = data[(before + i) % size];
    for (; mode == JUDGE_PATCH && size >= 12; data += 12, size -= 12) {
        uint32_t place32;
        memcpy(&place32, data, sizeof place32);
        const size_t place = place32 & 0xfffff; /* within what instances here have */
        for (size_t i = 0; i < 8; i++)
            if (place + i >= before && place + i - before < bytes)
                out[place + i - before] = data[4 + i];
    }
    return before + bytes;
}

static bool all_finite(const struct ae_array *array, const void *values)
{
    for (size_t i = 0; i < array->count; i++)
        if ((array->type == AE_F32 && !isfinite(((const float *)values)[i])) ||
            (array->type == AE_F64 && !isfinite(((const double *)values)[i])))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct judge_cell *cell = judge_cell(data[0], data[1]);
    if (!cell)
        return 0;
    const struct ae_task *task = cell->inst.task;
    const enum judge_mode mode = data[2] % JUDGE_MODES;
    void *got[AE_ARGS_MAX] = {0}, *copy[AE_ARGS_MAX] = {0};
    const void *arguments[AE_ARGS_MAX] = {0};
    size_t before = 0;
    bool finite = true, exact = true;
    data += 3;
    size -= 3;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_array *right = &cell->right.out[i];
        const size_t bytes = right->count * ae_type_size(right->type);
        if (!ae_arg_is_output(&task->args[i]))
            continue;
        /* Exactly as many bytes as there are elements: what is read beyond is seen. */
        got[i] = malloc(bytes ? bytes : 1);
        copy[i] = malloc(bytes ? bytes : 1);
        if (!got[i] || !copy[i])
            abort();
        if (bytes)
            memcpy(got[i], right->data, bytes);
        before = spoil(got[i], bytes, before, mode, data, size);
        if (bytes)
            memcpy(copy[i], got[i], bytes);
        arguments[i] = got[i];
        finite = finite && all_finite(right, got[i]);
        if (task->args[i].rule.kind == AE_EXACT && right->type != AE_F32 && right->type != AE_F64 && bytes) /* -0 equals 0 */
            exact = exact && memcmp(got[i], right->data, bytes) == 0;
    }
    struct ae_judgement j;
    struct ae_error err = {0};
    if (ae_judge(&cell->inst, &cell->right, arguments, &j, &err) != AE_OK)
        abort();
    if (j.right != (j.text[0] == 0) || (j.right && (!finite || !exact)) || !memchr(j.text, 0, sizeof j.text))
        abort();
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_array *right = &cell->right.out[i];
        if (got[i] && right->count && memcmp(got[i], copy[i], right->count * ae_type_size(right->type)) != 0)
            abort();
        free(got[i]);
        free(copy[i]);
    }
    return 0;
}
