/* Fuzz target: the published container and every task's import. Input: one byte that picks the task, two lengths, the
 * text of requests.txt, that of expected_output.txt, and the rest is input.bin (published_seeds.c writes such files).
 * Whatever the bytes, an import is refused with a sentence, or gives an instance that the reference and all hooks can
 * work on. */
#include "judge/judge.h"
#include "task/published.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AE_TASK(id) void ae_reference_##id(void);
#include "tasks.def"
#undef AE_TASK

static void (*const references[])(void) = {
#define AE_TASK(id) ae_reference_##id,
#include "tasks.def"
#undef AE_TASK
};

/* An accepted instance may be large, which is no fault; fuzzing it would take the time of all others. */
#define BYTES_MAX      ((size_t)1 << 20)
#define OPERATIONS_MAX 1e6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

static void check_refusal(int rc, const struct ae_error *err)
{
    if ((rc != AE_E_INPUT && rc != AE_E_NOMEM && rc != AE_E_USAGE /* never published */) || rc != err->code || !err->text[0])
        abort();
}

static void check_accepted(const struct ae_instance *inst, int task, const char *text)
{
    struct ae_expected expected = {0}, answer = {0};
    struct ae_judgement j;
    struct ae_work work;
    struct ae_error err = {0};
    ae_instance_work(inst, &work);
    if (ae_instance_bytes(inst) > BYTES_MAX || !(work.operations <= OPERATIONS_MAX) || !(work.steps <= OPERATIONS_MAX))
        return;
    int rc = ae_published_expected(inst, text, &expected, &err);
    if (rc != AE_OK) {
        check_refusal(rc, &err);
    } else {
        const void *got[AE_ARGS_MAX] = {0};
        if (ae_expected_alloc(&answer, inst, &err) != AE_OK || ae_instance_call(inst, &answer, references[task], &err) != AE_OK)
            abort();
        for (int i = 0; i < inst->task->arg_count; i++)
            got[i] = answer.out[i].data;
        if (ae_judge(inst, &expected, got, &j, &err) != AE_OK)
            abort();
    }
    ae_expected_release(&answer);
    ae_expected_release(&expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ae_published published;
    struct ae_instance inst;
    struct ae_error err = {0};
    if (size < 5)
        return 0;
    const int task = data[0] % ae_task_count;
    size_t requests_size = data[1] | (size_t)data[2] << 8, text_size = data[3] | (size_t)data[4] << 8;
    data += 5;
    size -= 5;
    requests_size = requests_size > size ? size : requests_size;
    text_size = text_size > size - requests_size ? size - requests_size : text_size;
    char *requests = requests_size ? text_of(data, requests_size) : NULL;
    char *text = text_of(data + requests_size, text_size);
    const size_t before = requests_size + text_size;
    int rc = ae_published_parse(&published, data + before, size - before, requests, &err);
    if (rc != AE_OK) {
        check_refusal(rc, &err);
    } else {
        rc = ae_published_instance(&published, ae_tasks[task], &inst, &err);
        if (rc != AE_OK)
            check_refusal(rc, &err);
        else
            check_accepted(&inst, task, text);
        ae_instance_release(&inst);
    }
    ae_published_release(&published);
    free(requests);
    free(text);
    return 0;
}
