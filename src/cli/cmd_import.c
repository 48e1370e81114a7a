/* acceleval import: archives of runs into the store; or an entrant on published instances, compared under the
 * published tolerance. */
#include "cli/submission.h"

#include "base/clock.h"
#include "judge/judge.h"
#include "run/trial.h"
#include "store/archive.h"
#include "task/published.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct values {
    struct ae_task_list tasks;
    const char *entrant;
    int64_t device;
};

const struct ae_option ae_import_options[] = {
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK, .one = true, .help = "with a folder: the task that its instance belongs to",
     .offset = offsetof(struct values, tasks)},
    {.name = "entrant", .letter = 'e', .kind = AE_OPTION_STRING, .argument = "E", .fallback = "reference",
     .help = "with a folder: a built-in entrant, or the path of a source", .offset = offsetof(struct values, entrant)},
    {.name = "device", .kind = AE_OPTION_INTEGER, .help = "ordinal of the GPU", .fallback = "0", .lo = 0, .hi = 63,
     .offset = offsetof(struct values, device)},
    {0},
};

/* Runs the object on the instance in a worker, like any submission; the outputs come back in *ret where *ret_verdict
 * is pass, else ret_detail says what became of it. */
static int run_object(struct ae_context *context, const struct ae_submission_item *item,
                      const struct ae_instance *inst, struct ae_expected *ret, int64_t *ret_ns,
                      enum ae_verdict *ret_verdict, char ret_detail[AE_DETAIL_TEXT], struct ae_error *err)
{
    struct ae_bytes object = {0};
    struct ae_runner runner = {0};
    struct ae_trial trial;
    struct ae_judgement judgement;
    ret_detail[0] = 0;
    int rc = ae_file_read(item->build.object, (size_t)1 << 30, &object, err);
    if (rc != AE_OK)
        return rc;
    const struct ae_runner_options options = {
        .worker = context->worker,
        .target = item->target,
        .device = context->device.minor,
        .device_uuid = context->device.uuid,
        .cuda_lib = context->toolchain->cuda_lib,
        .cores = &context->host.submission_cores,
        .spin = context->host.spin,
        .single = item->single,
        .memory_bytes = 3 * (uint64_t)ae_instance_bytes(inst) + ((uint64_t)4 << 30),
    };
    rc = ae_runner_start(&runner, &options, object.data, object.size, ae_buffers_need(inst), err);
    ae_bytes_release(&object);
    enum ae_verdict verdict = rc == AE_OK ? ae_trial_load(&runner, 0, ret_detail) : AE_PASS;
    if (rc == AE_OK && verdict == AE_PASS) {
        const struct ae_trial_request request = {
            .inst = inst, .kind = AE_TRIAL_ADVERSARIAL, .timeout_ns = 600 * AE_SEC, .ret_outputs = ret};
        rc = ae_trial_run(&runner, &request, &trial, &judgement, ret_detail, err);
        verdict = trial.verdict;
        *ret_ns = trial.call_ns;
    }
    if (rc == AE_OK && verdict != AE_PASS) {
        enum ae_violation violation;
        if (runner.dead)
            verdict = ae_trial_autopsy(&runner, &violation, ret_detail, NULL);
    }
    *ret_verdict = verdict;
    ae_runner_stop(&runner, NULL, NULL);
    return rc;
}

static int import_one(struct ae_context *context, const struct ae_submission_item *item, const char *folder,
                      int *ret_status, struct ae_error *err)
{
    enum ae_verdict verdict = AE_PASS;
    char detail[AE_DETAIL_TEXT];
    struct ae_instance inst;
    struct ae_expected expected, answer = {0};
    int64_t ns = 0;
    size_t wrong = 0, count = 0;
    const struct ae_task *task = item->task;
    int rc = ae_published_load(folder, task, &inst, &expected, err);
    if (rc == AE_OK)
        rc = run_object(context, item, &inst, &answer, &ns, &verdict, detail, err);
    const bool answered = rc == AE_OK && verdict == AE_PASS;
    if (rc == AE_OK && !answered) {
        ae_autofree char *shown = ae_cli_printable_line(detail);
        printf("%s: %s: %s\n", folder, ae_verdict_name(verdict), shown ? shown : "");
    }
    for (int i = 0; answered && i < task->arg_count; i++) {
        struct ae_output_judgement j;
        if (!ae_arg_is_output(&task->args[i]) || task->published_by_check)
            continue;
        ae_compare(&expected.out[i], answer.out[i].data, task->published_atol, task->published_rtol, &j);
        wrong += j.wrong;
        count += j.count;
        if (j.wrong)
            printf("  %s[%zu] = %.9g, published %.9g\n", task->args[i].name, j.first, j.got, j.expected);
    }
    if (answered && task->published_by_check) {
        /* The published text is no output but a figure that the task's own check judges by. */
        struct ae_judgement j = {0};
        const void *got[AE_ARGS_MAX] = {0};
        for (int i = 0; i < task->arg_count; i++)
            got[i] = answer.out[i].data;
        rc = ae_judge(&inst, &expected, got, &j, err);
        wrong = !j.right;
        if (rc == AE_OK)
            printf("%s: %s; %.3f ms\n", folder, j.right ? "as good as published" : j.text, (double)ns * 1e-6);
    } else if (answered)
        printf("%s: %zu of %zu values within the published tolerance (atol %g, rtol %g); %.3f ms\n", folder,
               count - wrong, count, task->published_atol, task->published_rtol, (double)ns * 1e-6);
    if (rc == AE_OK && task->published_note)
        printf("  note: %s\n", task->published_note);
    ae_expected_release(&answer);
    ae_expected_release(&expected);
    ae_instance_release(&inst);
    *ret_status = ae_cli_status(*ret_status, verdict == AE_PASS && wrong ? AE_WRONG_ANSWER : verdict);
    return rc;
}

static int import_archives(const struct ae_list *paths, struct ae_error *err)
{
    struct ae_store *store = NULL;
    int rc = ae_store_open(&store, NULL, AE_STORE_WRITE, err);
    for (size_t i = 0; rc == AE_OK && i < paths->count; i++) {
        struct ae_archive_counts counts;
        rc = ae_archive_read(store, paths->items[i], &counts, err);
        char readings[64] = "";
        if (rc == AE_OK && counts.readings > 0)
            snprintf(readings, sizeof readings, ", %zu new reading%s by models", counts.readings, counts.readings == 1 ? "" : "s");
        if (rc == AE_OK)
            printf("%s: %zu measurement%s of %zu new run%s, %zu that were there already%s\n", paths->items[i],
                   counts.measurements, counts.measurements == 1 ? "" : "s", counts.runs, counts.runs == 1 ? "" : "s",
                   counts.known, readings);
    }
    ae_store_close(store);
    return rc;
}

int ae_cmd_import(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list folders = {0};
    struct ae_submission_list list = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0};
    int status = AE_EXIT_OK;
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &folders, &given);
    if (done >= 0)
        return done;
    int rc = AE_OK;
    if (folders.count > 0 && ae_archive_is(folders.items[0])) {
        rc = given ? ae_error_set(&err, AE_E_USAGE, "an archive says itself what it holds: --task, --entrant and --device are "
                                  "for folders of published instances")
                   : import_archives(&folders, &err);
        ae_options_release(ae_import_options, &values);
        ae_list_release(&folders);
        return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
    }
    struct stat st;
    if (folders.count > 0 && stat(folders.items[0], &st) != 0)
        rc = ae_error_errno(&err, AE_E_NOTFOUND, errno, "cannot find %s", folders.items[0]);
    else if (folders.count > 0 && !S_ISDIR(st.st_mode))
        rc = ae_error_set(&err, AE_E_USAGE, "%s is no archive that 'acceleval export' wrote", folders.items[0]);
    else if (folders.count == 0 || values.tasks.count != 1)
        rc = ae_error_set(&err, AE_E_USAGE, "import takes archives made by export, or a folder with input.bin and --task");
    if (rc == AE_OK)
        rc = ae_cli_context(&context, &progress, &err);
    if (rc == AE_OK && values.device)
        (void)ae_context_device(&context, (int)values.device, false, NULL);
    if (rc == AE_OK)
        rc = ae_built_in_file(values.entrant)
                 ? ae_items_add_built_in(&list, &context, values.entrant, &values.tasks, &err)
                 : ae_items_add_file(&list, values.entrant, values.tasks.items[0], NULL, &err);
    if (rc == AE_OK && list.count == 0)
        rc = ae_error_set(&err, AE_E_USAGE, "%s has no entrant '%s'", values.tasks.items[0]->id, values.entrant);
    if (rc == AE_OK)
        ae_items_note_useless(&list, ae_import_options, given);
    if (rc == AE_OK)
        rc = ae_items_build(&list, &context, 0, NULL, &err);
    if (rc == AE_OK && list.items[0].target == AE_CUDA && !context.device.handle)
        rc = ae_error_set(&err, AE_E_ENV, "%s", context.no_device);
    ae_progress_clear(&progress);
    const bool built = rc == AE_OK && list.items[0].build.verdict == AE_PASS;
    if (rc == AE_OK && !built) {
        ae_autofree char *detail = ae_cli_printable_line(list.items[0].build.detail);
        printf("%s: %s\n", ae_verdict_name(list.items[0].build.verdict), detail ? detail : "");
        status = ae_cli_status(status, list.items[0].build.verdict);
    }
    for (size_t i = 0; built && rc == AE_OK && i < folders.count; i++)
        rc = import_one(&context, &list.items[0], folders.items[i], &status, &err);
    ae_items_release(&list);
    ae_context_close(&context);
    ae_options_release(ae_import_options, &values);
    ae_list_release(&folders);
    return rc != AE_OK ? ae_cli_fail(&err) : status;
}
