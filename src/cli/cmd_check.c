/* acceleval check: is it right? The practice bank may be shown, so the first wrong value is. */
#include "cli/submission.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct values {
    struct ae_task_list tasks;
    unsigned sizes;
    int64_t device, timeout_s;
    const char *arch;
    bool json;
};

const struct ae_option ae_check_options[] = {
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK, .one = true, .help = "the task it solves; default: by its name",
     .offset = offsetof(struct values, tasks)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "sizes", .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "device", .kind = AE_OPTION_INTEGER, .help = "ordinal of the GPU", .fallback = "0", .lo = 0, .hi = 63,
     .offset = offsetof(struct values, device)},
    {.name = "timeout", .kind = AE_OPTION_INTEGER, .argument = "SECONDS",
     .help = "limit of one call; 0: the larger of 10 s and twice the reference", .fallback = "0", .lo = 0, .hi = 86400, .offset = offsetof(struct values, timeout_s)},
    {.name = "arch", .kind = AE_OPTION_STRING, .argument = "sm_NN",
     .help = "architecture to compile .cu for; default: the device's own, else sm_90", .offset = offsetof(struct values, arch)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

static json_t *result_json(const struct ae_measurement *m, const struct ae_mismatch *mismatch)
{
    json_t *json =
        json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:i}", "schema", 1, "task", m->task->id, "size",
                  ae_size_name(m->size), "verdict", ae_verdict_name(m->verdict), "violation",
                  ae_violation_name(m->violation), "detail", ae_json_text(m->detail), "instances", m->trial_count);
    if (json && mismatch->known)
        json_object_set_new(json, "first_mismatch",
                            json_pack("{s:s, s:s, s:I, s:f, s:f}", "family",
                                      m->task->families[mismatch->family].name, "output",
                                      m->task->args[mismatch->arg].name, "index", (json_int_t)mismatch->index, "got",
                                      mismatch->got, "expected", mismatch->expected));
    return json;
}

static void print_result(const struct ae_measurement *m, const struct ae_mismatch *mismatch)
{
    ae_autofree char *detail = ae_cli_printable_line(m->detail);
    if (m->verdict == AE_PASS) {
        printf("%s %s: right on all %d %s\n", m->task->id, ae_size_name(m->size), m->trial_count,
               ae_text_plural(m->trial_count, "instance", "instances"));
        return;
    }
    printf("%s %s: %s%s%s\n  %s\n", m->task->id, ae_size_name(m->size), ae_verdict_name(m->verdict),
           m->violation ? " " : "", m->violation ? ae_violation_name(m->violation) : "", detail ? detail : "");
    if (mismatch->known)
        printf("  first wrong value: family %s, %s[%zu] = %.9g, expected %.9g\n",
               m->task->families[mismatch->family].name, m->task->args[mismatch->arg].name, mismatch->index,
               mismatch->got, mismatch->expected);
    if (m->log) {
        ae_autofree char *log = ae_cli_printable(m->log);
        printf("--- output ---\n%s%s", log ? log : "", log && log[0] && log[strlen(log) - 1] == '\n' ? "" : "\n");
    }
}

int ae_cmd_check(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list paths = {0};
    struct ae_submission_list list = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0};
    int status = AE_EXIT_OK;
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &paths, &given);
    if (done >= 0)
        return done;
    int rc = paths.count > 0 ? ae_cli_context(&context, &progress, &err)
                             : ae_error_set(&err, AE_E_USAGE, "check takes the path of a source");
    for (size_t i = 0; rc == AE_OK && i < paths.count; i++)
        rc = ae_items_add_path(&list, paths.items[i], &values.tasks, NULL, &err);
    if (rc == AE_OK)
        ae_items_note_useless(&list, ae_check_options, given);
    if (rc == AE_OK && values.device)
        (void)ae_context_device(&context, (int)values.device, false, NULL);
    if (rc == AE_OK)
        rc = ae_items_build(&list, &context, 0, values.arch, &err);
    json_t *array = json_array();
    for (size_t i = 0; rc == AE_OK && i < list.count; i++)
        for (int size = 0; size < AE_SIZE_COUNT; size++) {
            struct ae_submission_item *item = &list.items[i];
            struct ae_measurement m;
            struct ae_mismatch mismatch;
            if (!(values.sizes & AE_AT(size)))
                continue;
            const struct ae_submission_info info = {item->task, item->target, item->entrant, item->sample, item->path,
                                                    &item->build};
            const struct ae_evaluate_options options = {
                .practice = true, .timeout_ns = values.timeout_s * AE_SEC};
            ae_context_say(&context, "%s %s", item->task->id, ae_size_name((enum ae_size)size));
            ae_evaluate(&context, &info, (enum ae_size)size, &options, &m, &mismatch);
            ae_progress_clear(&progress);
            status = ae_cli_status(status, m.verdict);
            if (values.json)
                json_array_append_new(array, result_json(&m, &mismatch));
            else
                print_result(&m, &mismatch);
            ae_measurement_release(&m);
        }
    ae_items_release(&list);
    ae_context_close(&context);
    ae_options_release(ae_check_options, &values);
    ae_list_release(&paths);
    if (rc != AE_OK) {
        json_decref(array);
        return ae_cli_fail(&err);
    }
    if (values.json)
        ae_cli_print_json(array);
    else
        json_decref(array);
    return status;
}
