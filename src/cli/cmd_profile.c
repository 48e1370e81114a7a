/* acceleval profile: where the wait goes. */
#include "cli/profile_text.h"
#include "cli/submission.h"

#include "base/clock.h"
#include "base/text.h"
#include "profile/tools.h"

#include <jansson.h>
#include <string.h>

struct values {
    struct ae_list entrants, checks;
    struct ae_task_list tasks;
    unsigned sizes;
    int64_t device, timeout_s, most;
    const char *arch, *trace;
    bool json, sanitize, ncu;
};

const struct ae_option ae_profile_options_table[] = {
    {.name = "entrant", .letter = 'e', .kind = AE_OPTION_LIST,
     .help = "built-in entrants to profile (reference, parallel, naive, tuned)", .offset = offsetof(struct values, entrants)},
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK,
     .help = "the task it solves, default: by its name; with --entrant: only these", .offset = offsetof(struct values, tasks)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "sizes", .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "trace", .kind = AE_OPTION_STRING, .argument = "FILE",
     .help = "write the events in the Chrome trace format, for chrome://tracing or ui.perfetto.dev; one program, one size",
     .offset = offsetof(struct values, trace)},
    {.name = "most", .kind = AE_OPTION_INTEGER, .argument = "N", .help = "sentences shown at most", .fallback = "6",
     .lo = 0, .hi = 100, .offset = offsetof(struct values, most)},
    {.name = "sanitize", .kind = AE_OPTION_FLAG,
     .help = "one more call under each check of compute-sanitizer: memory, races, barriers, initialisation",
     .offset = offsetof(struct values, sanitize)},
    {.name = "checks", .kind = AE_OPTION_LIST,
     .help = "only these checks of --sanitize: memcheck, racecheck, synccheck, initcheck", .offset = offsetof(struct values, checks)},
    {.name = "ncu", .kind = AE_OPTION_FLAG, .help = "one more call under Nsight Compute: how busy each kernel keeps the device",
     .offset = offsetof(struct values, ncu)},
    {.name = "device", .kind = AE_OPTION_INTEGER, .help = "ordinal of the GPU", .fallback = "0", .lo = 0, .hi = 63,
     .offset = offsetof(struct values, device)},
    {.name = "timeout", .kind = AE_OPTION_INTEGER, .argument = "SECONDS",
     .help = "limit of one call; 0: the larger of 10 s and twice the reference", .fallback = "0", .lo = 0, .hi = 86400, .offset = offsetof(struct values, timeout_s)},
    {.name = "arch", .kind = AE_OPTION_STRING, .argument = "sm_NN",
     .help = "architecture to compile .cu for; default: the device's own, else sm_90", .offset = offsetof(struct values, arch)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

static void print_failure(const struct ae_profile *p)
{
    ae_autofree char *detail = ae_cli_printable_line(p->detail);
    printf("%s %s: %s%s%s\n  %s\n", p->task->id, ae_size_name(p->size), ae_verdict_name(p->verdict),
           p->violation ? " " : "", p->violation ? ae_violation_name(p->violation) : "", detail ? detail : "");
}

/* Names of kernels are the author's: printable parts only. */
static void print_report(const struct ae_checker_report *r)
{
    ae_autofree char *detail = ae_cli_printable_line(r->detail);
    if (!r->ran) {
        ae_autofree char *tail = ae_cli_printable_line(r->tail);
        printf("  %s did not run: %s%s%s\n", ae_checker_name(r->checker), detail ? detail : "", r->tail[0] ? "; it ends with: " : "",
               tail ? tail : "");
        return;
    }
    if (r->checker == AE_CHECKER_NCU)
        printf("  %s: %d %s%s\n", ae_checker_name(r->checker), r->line_count,
               ae_text_plural(r->line_count, "kernel", "kernels"), r->line_count ? "" : " seen");
    else
        printf("  %s: %lld error%s\n", ae_checker_name(r->checker), (long long)r->errors, r->errors == 1 ? "" : "s");
    if (detail && *detail)
        printf("    %s\n", detail);
    for (int i = 0; i < r->line_count; i++) {
        ae_autofree char *line = ae_cli_printable_line(r->lines[i]);
        printf("    %s\n", line ? line : "");
    }
}

static json_t *text_json(const char *text)
{
    ae_autofree char *line = ae_cli_printable_line(text);
    return json_string(line ? line : "");
}

static json_t *report_json(const struct ae_checker_report *r)
{
    json_t *lines = json_array();
    for (int i = 0; i < r->line_count; i++)
        json_array_append_new(lines, text_json(r->lines[i]));
    return json_pack("{s:s, s:b, s:o, s:o, s:I, s:o}", "tool", ae_checker_name(r->checker), "ran", r->ran, "detail",
                     text_json(r->detail), "tail", text_json(r->tail), "errors", (json_int_t)r->errors, "lines", lines);
}

/* Whether the option asks for this one. */
static bool wanted(const struct values *values, enum ae_checker checker)
{
    if (checker == AE_CHECKER_NCU)
        return values->ncu;
    for (size_t i = 0; i < values->checks.count; i++)
        if (strcmp(values->checks.items[i], ae_checker_name(checker)) == 0)
            return true;
    return values->sanitize && values->checks.count == 0;
}

/* Errors that a sanitizer finds make the command fail, as a wrong answer does. */
static int run_checkers(struct ae_context *context, struct ae_progress *progress, const struct values *values,
                        const struct ae_submission_info *info, enum ae_size size, json_t *profile, int *ret_status,
                        struct ae_error *err)
{
    json_t *array = profile ? json_array() : NULL;
    int rc = AE_OK;
    for (int c = 0; rc == AE_OK && c < AE_CHECKER_COUNT; c++) {
        struct ae_checker_report report;
        if (!wanted(values, (enum ae_checker)c))
            continue;
        rc = ae_checker_run(context, info, size, (enum ae_checker)c, &report, err);
        ae_progress_clear(progress);
        if (rc != AE_OK)
            break;
        if (report.errors > 0)
            *ret_status = AE_EXIT_FAILED;
        if (array)
            json_array_append_new(array, report_json(&report));
        else
            print_report(&report);
    }
    if (array && json_array_size(array) > 0)
        json_object_set(profile, "tools", array);
    json_decref(array);
    return rc;
}

static int profile_one(struct ae_context *context, struct ae_progress *progress, const struct values *values,
                       struct ae_submission_item *item, enum ae_size size, json_t *array, int *ret_status,
                       struct ae_error *err)
{
    struct ae_profile p;
    const struct ae_submission_info info = {item->task, item->target, item->entrant, item->sample, item->path,
                                            &item->build};
    const struct ae_profile_options options = {.timeout_ns = values->timeout_s * AE_SEC, .single = item->single};
    int rc = ae_profile_run(context, &info, size, &options, &p, err);
    ae_progress_clear(progress);
    if (rc == AE_OK) {
        *ret_status = ae_cli_status(*ret_status, p.verdict);
        json_t *json = array ? ae_profile_json(&p) : NULL;
        if (array)
            json_array_append_new(array, json);
        else if (p.profiled_calls == 0)
            print_failure(&p);
        else
            ae_profile_print(&p, ae_terminal_width(stdout), (int)values->most, stdout);
        if (values->trace && p.profiled_calls > 0)
            rc = ae_profile_write_trace(&p, values->trace, err);
        if (rc == AE_OK && item->build.verdict == AE_PASS)
            rc = run_checkers(context, progress, values, &info, size, json, ret_status, err);
    }
    ae_profile_release(&p);
    return rc;
}

static int gather(struct ae_submission_list *list, struct ae_context *context, const struct values *values,
                  const struct ae_list *paths, struct ae_error *err)
{
    int rc = AE_OK;
    if (paths->count == 0 && values->entrants.count == 0)
        return ae_error_set(err, AE_E_USAGE, "profile takes the path of a source, or --entrant");
    for (size_t i = 0; rc == AE_OK && i < paths->count; i++)
        rc = ae_items_add_path(list, paths->items[i], &values->tasks, NULL, err);
    for (size_t i = 0; rc == AE_OK && i < values->entrants.count; i++)
        rc = ae_items_add_built_in(list, context, values->entrants.items[i], &values->tasks, err);
    return rc;
}

static bool any_for_gpu(const struct ae_submission_list *list)
{
    bool any = false;
    for (size_t i = 0; i < list->count; i++)
        any |= list->items[i].target == AE_CUDA;
    return any;
}

/* Whoever asks for a tool that cannot look at any of the programs should not be left to take silence for a clean bill. */
static int check_options(const struct ae_submission_list *list, const struct values *values, uint64_t given,
                         struct ae_error *err)
{
    for (size_t i = 0; i < values->checks.count; i++) {
        int c = 0;
        while (c < AE_CHECKER_NCU && strcmp(values->checks.items[i], ae_checker_name((enum ae_checker)c)) != 0)
            c++;
        if (c == AE_CHECKER_NCU)
            return ae_error_set(err, AE_E_USAGE, "--checks knows memcheck, racecheck, synccheck and initcheck, not '%.64s'",
                                values->checks.items[i]);
    }
    if (values->checks.count && !values->sanitize)
        return ae_error_set(err, AE_E_USAGE, "--checks chooses among those of --sanitize: give that too");
    if ((values->sanitize || values->ncu) && !any_for_gpu(list))
        return ae_error_set(err, AE_E_USAGE, "--%s looks at kernels, and %s", values->sanitize ? "sanitize" : "ncu",
                            list->count == 1 ? "this program is for the CPU" : "all these programs are for the CPU");
    if (values->json && ae_option_given(ae_profile_options_table, given, "most"))
        ae_cli_note("--most changes nothing: JSON has all sentences");
    ae_items_note_useless(list, ae_profile_options_table, given);
    return AE_OK;
}

int ae_cmd_profile(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list paths = {0};
    struct ae_submission_list list = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0}, lacking = {0};
    int shown = 0, status = AE_EXIT_OK;
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &paths, &given);
    if (done >= 0)
        return done;
    int rc = ae_cli_context(&context, &progress, &err);
    if (rc == AE_OK)
        rc = gather(&list, &context, &values, &paths, &err);
    if (rc == AE_OK && values.trace && (list.count > 1 || (values.sizes & (values.sizes - 1))))
        rc = ae_error_set(&err, AE_E_USAGE, "--trace takes one program at one size");
    if (rc == AE_OK)
        rc = check_options(&list, &values, given, &err);
    if (rc == AE_OK && values.device && any_for_gpu(&list))
        (void)ae_context_device(&context, (int)values.device, false, NULL); /* judged first is what needs none */
    if (rc == AE_OK && context.device.handle)
        rc = ae_device_lock(&context.device, 600 * AE_SEC, &err);
    if (rc == AE_OK)
        rc = ae_items_build(&list, &context, 0, values.arch, &err);
    json_t *array = values.json ? json_array() : NULL;
    for (size_t i = 0; rc == AE_OK && i < list.count; i++)
        for (int size = 0; rc == AE_OK && size < AE_SIZE_COUNT; size++) {
            if (!(values.sizes & AE_AT(size)))
                continue;
            if (shown++ > 0 && !array)
                printf("\n");
            rc = profile_one(&context, &progress, &values, &list.items[i], (enum ae_size)size, array, &status, &err);
            if (rc == AE_E_ENV && list.items[i].target == AE_CUDA && !context.device.handle) {
                /* As in eval: this one is not run, and what became of the others counts. */
                lacking = err;
                status = ae_cli_status(status, AE_NOT_RUN);
                rc = AE_OK;
            }
        }
    ae_items_release(&list);
    ae_context_close(&context);
    ae_options_release(ae_profile_options_table, &values);
    ae_list_release(&paths);
    /* What was found before a failure is worth having. */
    if (array && ((rc == AE_OK && lacking.code == AE_OK) || json_array_size(array) > 0))
        ae_cli_print_json(array);
    else
        json_decref(array);
    if (rc != AE_OK)
        return ae_cli_fail(&err);
    if (lacking.code != AE_OK)
        (void)ae_cli_fail(&lacking);
    return status;
}
