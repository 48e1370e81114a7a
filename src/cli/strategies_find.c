/* acceleval strategies find */
#include "cli/strategies.h"

#include "base/text.h"
#include "cli/submission.h"
#include "strategy/dump.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Line n of a text, from 1, without its end. */
static const char *line_of(const char *text, int n, size_t *ret_size)
{
    while (--n > 0 && (text = strchr(text, '\n')))
        text++;
    *ret_size = text ? strcspn(text, "\n") : 0;
    return text;
}

static void print_line(const char *text, int n, const char *margin)
{
    size_t size;
    const char *line = line_of(text, n, &size);
    if (!line)
        return;
    ae_autofree char *copy = strndup(line, size < 160 ? size : 160);
    if (!copy)
        return;
    for (char *c = copy; *c; c++)
        if (*c == '\t')
            *c = ' ';
    ae_autofree char *shown = ae_cli_printable_line(copy);
    printf("%s%5d | %s\n", margin, n, shown ? shown : "");
}

static void print_findings(const char *path, const char *text, const struct ae_findings *f)
{
    int present = 0, unknown = 0;
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        present += f->presence[id] == AE_PRESENT;
        unknown += f->presence[id] == AE_UNKNOWN;
    }
    ae_autofree char *name = ae_cli_printable_line(path);
    printf("%s: %d strategies found, %d cannot be decided by what is here\n", name ? name : "", present, unknown);
    if (f->unread > 0.02)
        printf("  (%.0f %% of the source make no sense to the grammar)\n", 100 * f->unread);
    for (size_t i = 0; i < f->count; i++) {
        const struct ae_finding *x = &f->items[i];
        if (x->presence == AE_UNKNOWN)
            continue;
        printf("\n%s  %s%s  (%s, %.0f %%)\n      %s\n", ae_strategies[x->strategy].id, ae_strategies[x->strategy].name,
               x->presence == AE_ABSENT ? ": against it" : "", ae_evidence_name(x->evidence), 100 * x->confidence,
               x->sentence);
        for (int l = 0; l < x->line_count && l < 3; l++)
            print_line(text, x->lines[l].first, "");
        if (x->line_count > 3)
            printf("        and %d%s more places\n", x->line_count - 3, x->line_count == AE_FINDING_LINES ? " or" : "");
    }
    bool head = true;
    for (size_t i = 0; i < f->count; i++) {
        const struct ae_finding *x = &f->items[i];
        if (x->presence != AE_UNKNOWN || f->presence[x->strategy] == AE_PRESENT)
            continue;
        printf("%s  %s  %s: %s\n", head ? "\nNot decided\n" : "", ae_strategies[x->strategy].id,
               ae_strategies[x->strategy].name, x->sentence);
        head = false;
    }
}

/* Every line of the source, with the ids of what was found there before it. */
static void print_source(const char *text, const struct ae_findings *f)
{
    int n = 1;
    for (const char *line = text; *line; n++) {
        char ids[64] = "";
        for (size_t i = 0; i < f->count; i++) {
            const struct ae_finding *x = &f->items[i];
            for (int l = 0; l < x->line_count && x->presence == AE_PRESENT; l++)
                if (n >= x->lines[l].first && n <= x->lines[l].last && !strstr(ids, ae_strategies[x->strategy].id) &&
                    strlen(ids) < 40)
                    snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%s", ids[0] ? " " : "",
                             ae_strategies[x->strategy].id);
        }
        char margin[64];
        snprintf(margin, sizeof margin, "%-16s", ids);
        print_line(text, n, margin);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static json_t *findings_json(const char *path, const struct ae_findings *f)
{
    json_t *findings = json_array(), *strategies = json_object();
    for (size_t i = 0; i < f->count; i++) {
        const struct ae_finding *x = &f->items[i];
        json_t *lines = json_array();
        for (int l = 0; l < x->line_count; l++)
            json_array_append_new(lines, json_pack("[i, i]", x->lines[l].first, x->lines[l].last));
        json_array_append_new(findings,
                              json_pack("{s:s, s:s, s:s, s:s, s:f, s:s, s:o}", "id", ae_strategies[x->strategy].id,
                                        "name", ae_strategies[x->strategy].name, "evidence",
                                        ae_evidence_name(x->evidence), "presence", ae_presence_name(x->presence),
                                        "confidence", x->confidence, "sentence", x->sentence, "lines", lines));
    }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        json_object_set_new(
            strategies, ae_strategies[id].id,
            json_pack("{s:s, s:f}", "presence", ae_presence_name(f->presence[id]), "confidence", f->confidence[id]));
    ae_autofree char *name = ae_cli_printable_line(path);
    return json_pack("{s:s, s:f, s:o, s:o}", "file", name ? name : "", "unread", f->unread, "findings", findings,
                     "strategies", strategies);
}

const struct ae_task *ae_strategies_task_of(const char *path)
{
    for (int i = 0; i < ae_task_count; i++) {
        const char *at = path;
        const size_t n = strlen(ae_tasks[i]->id);
        while ((at = strstr(at, ae_tasks[i]->id))) {
            if ((at == path || at[-1] == '/') && (at[n] == '/' || at[n] == '.'))
                return ae_tasks[i];
            at += n;
        }
    }
    return NULL;
}

/* Machine code of the source; a failure is said on standard error and leaves the search to the source. */
static void dump_object(struct ae_context *context, const char *path, const struct ae_task *task, const char *arch,
                        struct ae_dump *ret)
{
    struct ae_submission_list list = {0};
    struct ae_error err = {0};
    int rc = task ? ae_items_add_file(&list, path, task, NULL, &err)
                  : ae_error_set(&err, AE_E_USAGE, "--binary takes a source whose task is known: give --task");
    if (rc == AE_OK) {
        list.items[0].built_in = strstr(path, "tasks/") != NULL; /* ours include tasks/common */
        rc = ae_items_build(&list, context, 1, arch, &err);
    }
    if (rc == AE_OK && !list.items[0].build.object)
        rc = ae_error_set(&err, AE_E_ENV, "%.900s", list.items[0].build.detail);
    if (rc == AE_OK)
        rc = ae_dump_make(context->toolchain, list.items[0].build.object, ret, &err);
    if (rc != AE_OK) {
        ae_autofree char *reason = ae_cli_printable_line(err.text);
        fprintf(stderr, "acceleval: machine code is not looked at: %s\n", reason ? reason : "");
    }
    ae_items_release(&list);
}

/* The strategies are those of GPU programs: of a CPU program every finding would be a misreading. */
static bool uses_device(const struct ae_bytes *source)
{
    static const char *const signs[] = {"__global__", "__device__", "cuda", "cublas", "cusparse", "thrust", "cub::"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (memmem(source->data, source->size, signs[i], strlen(signs[i])))
            return true;
    return false;
}

static int find_one(struct ae_finder *finder, struct ae_context *context, const char *tasks, const char *path,
                    const struct ae_strategies_values *values, json_t *array, struct ae_error *err)
{
    struct ae_bytes source = {0}, reference = {0};
    struct ae_findings findings = {0};
    struct ae_dump dump = {0};
    const struct ae_task *task = values->tasks.count ? values->tasks.items[0] : ae_strategies_task_of(path);
    int rc = ae_file_read(path, AE_STRATEGY_SOURCE_MAX, &source, err);
    if (rc == AE_OK && !uses_device(&source))
        rc = ae_error_set(err, AE_E_INPUT, "%s uses no device: strategies are looked for in CUDA programs", path);
    if (rc == AE_OK && task && tasks) {
        char file[4300];
        struct ae_error ignored;
        snprintf(file, sizeof file, "%s/%s/reference.c", tasks, task->id);
        (void)ae_file_read(file, AE_STRATEGY_SOURCE_MAX, &reference, &ignored);
    }
    if (rc == AE_OK && context)
        dump_object(context, path, task, values->arch, &dump);
    const struct ae_strategy_input input = {.source = (const char *)source.data,
                                            .source_size = source.size,
                                            .reference = (const char *)reference.data,
                                            .reference_size = reference.size,
                                            .sass = dump.sass,
                                            .resources = dump.resources};
    if (rc == AE_OK)
        rc = ae_strategy_find(finder, &input, &findings, err);
    if (rc == AE_OK && array)
        json_array_append_new(array, findings_json(path, &findings));
    else if (rc == AE_OK && values->source)
        print_source((const char *)source.data, &findings);
    else if (rc == AE_OK)
        print_findings(path, (const char *)source.data, &findings);
    ae_findings_release(&findings);
    ae_dump_release(&dump);
    ae_bytes_release(&reference);
    ae_bytes_release(&source);
    return rc;
}

int ae_strategies_find(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_finder *finder = NULL;
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0}, ignored;
    char tasks[4096];
    const bool known = ae_context_find_tasks(tasks, sizeof tasks, &ignored) == AE_OK;
    int rc = ae_finder_new(&finder, &err);
    if (rc == AE_OK && values->binary)
        rc = ae_cli_context(&context, &progress, &err);
    json_t *array = values->format == AE_STRATEGIES_JSON ? json_array() : NULL;
    for (size_t i = 0; rc == AE_OK && i < operands->count; i++) {
        if (i > 0 && !array)
            printf("\n");
        rc = find_one(finder, values->binary ? &context : NULL, known ? tasks : NULL, operands->items[i], values, array,
                      &err);
    }
    if (values->binary)
        ae_context_close(&context);
    ae_finder_free(finder);
    if (array && (rc == AE_OK || json_array_size(array) > 0))
        ae_cli_print_json(json_pack("{s:s, s:s, s:o}", "schema", "acceleval.strategies/1", "tool_version", AE_VERSION,
                                    "sources", array));
    else
        json_decref(array);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
