/* acceleval strategies find */
#include "cli/strategies.h"

#include "base/hash.h"
#include "base/text.h"
#include "cli/submission.h"
#include "profile/import.h"
#include "store/store.h"
#include "strategy/dump.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SHOWN 160 /* bytes of a line of the source */

/* Evidence of a call: what FILE of --profile holds, else what the store of this machine keeps. */
struct runs {
    struct ae_profile_record *records;
    size_t record_count;
    const char *path;       /* of the file; NULL: the store */
    struct ae_store *store; /* NULL: none */
};

/* Of one source: pointers are into this. */
struct run {
    const struct ae_facts *facts;
    const struct ae_explanation *explanation;
    struct ae_explanation kept;
    char where[160];
};

/* Line n of a text, from 1, without its end; NULL: there is none. NUL is a character like others. */
static const char *line_of(const struct ae_bytes *text, int n, size_t *ret_size)
{
    const char *at = (const char *)text->data, *end = at + text->size;
    while (--n > 0 && at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    if (at >= end)
        return NULL;
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    *ret_size = (size_t)((feed ? feed : end) - at);
    return at;
}

static void print_line(const struct ae_bytes *text, int n, const char *margin)
{
    size_t size;
    const char *line = line_of(text, n, &size);
    if (!line)
        return;
    char copy[2 * LINE_SHOWN + 1];
    size_t used = 0;
    for (size_t i = 0; i < size && i < LINE_SHOWN; i++) {
        if (line[i] == 0)
            copy[used++] = '\\';
        copy[used++] = line[i] == 0 ? '0' : line[i] == '\t' ? ' ' : line[i];
    }
    copy[used] = 0;
    ae_autofree char *shown = ae_cli_printable_line(copy);
    printf("%s%5d | %s\n", margin, n, shown ? shown : "");
}

static void print_contradictions(const struct ae_findings *f)
{
    bool head = true;
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        if (!f->contradicted[id])
            continue;
        printf("%s%s  %s\n", head ? "\nContradictions: one says so, another says against it\n" : "", ae_strategies[id].id,
               ae_strategies[id].name);
        head = false;
        for (size_t i = 0; i < f->count; i++)
            if ((int)f->items[i].strategy == id && f->items[i].presence != AE_UNKNOWN)
                printf("      %-7s %s: %s\n", ae_evidence_name(f->items[i].evidence),
                       f->items[i].presence == AE_PRESENT ? "says so" : "says against it", f->items[i].sentence);
    }
}

static void print_findings(const char *path, const struct ae_bytes *text, const struct ae_findings *f,
                           const struct run *run)
{
    int present = 0, unknown = 0;
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        present += f->presence[id] == AE_PRESENT;
        unknown += f->presence[id] == AE_UNKNOWN;
    }
    ae_autofree char *name = ae_cli_printable_line(path);
    printf("%s: %d %s found, %d cannot be decided by what is here\n", name ? name : "", present,
           present == 1 ? "strategy" : "strategies", unknown);
    if (f->unread > 0.02)
        printf("  (%.0f %% of the source make no sense to the grammar)\n", 100 * f->unread);
    if (run->where[0]) {
        ae_autofree char *where = ae_cli_printable_line(run->where);
        printf("  (with evidence from the run: %s)\n", where ? where : "");
    }
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
    print_contradictions(f);
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
static void print_source(const struct ae_bytes *text, const struct ae_findings *f)
{
    size_t size;
    for (int n = 1; line_of(text, n, &size); n++) {
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
    }
}

static json_t *sorts_json(const struct ae_findings *f, int id, enum ae_presence presence)
{
    json_t *array = json_array();
    for (size_t i = 0; i < f->count; i++)
        if ((int)f->items[i].strategy == id && f->items[i].presence == presence)
            json_array_append_new(array, json_string(ae_evidence_name(f->items[i].evidence)));
    return array;
}

static json_t *findings_json(const char *path, const struct ae_findings *f, const struct run *run)
{
    json_t *findings = json_array(), *strategies = json_array(), *contradictions = json_array();
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
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        json_array_append_new(strategies,
                              json_pack("{s:s, s:s, s:s, s:f}", "id", ae_strategies[id].id, "name",
                                        ae_strategies[id].name, "presence", ae_presence_name(f->presence[id]),
                                        "confidence", f->confidence[id]));
        if (f->contradicted[id])
            json_array_append_new(contradictions,
                                  json_pack("{s:s, s:s, s:o, s:o}", "id", ae_strategies[id].id, "name",
                                            ae_strategies[id].name, "for", sorts_json(f, id, AE_PRESENT), "against",
                                            sorts_json(f, id, AE_ABSENT)));
    }
    ae_autofree char *name = ae_cli_printable_line(path), *where = ae_cli_printable_line(run->where);
    return json_pack("{s:s, s:f, s:o, s:o, s:o, s:o}", "file", name ? name : "", "unread", f->unread, "run",
                     where && where[0] ? json_string(where) : json_null(), "findings", findings, "contradictions",
                     contradictions, "strategies", strategies);
}

/* --- evidence of a call --- */

static int open_runs(const struct ae_strategies_values *values, struct runs *ret, struct ae_error *err)
{
    struct ae_bytes text = {0};
    struct ae_error ignored;
    *ret = (struct runs){.path = values->profile};
    if (!values->profile) {
        if (ae_store_open(&ret->store, NULL, AE_STORE_READ, &ignored) != AE_OK)
            ret->store = NULL;
        return AE_OK;
    }
    int rc = ae_file_read(values->profile, AE_PROFILES_TEXT_MAX, &text, err);
    if (rc == AE_OK) {
        rc = ae_profiles_read((const char *)text.data, text.size, &ret->records, &ret->record_count, err);
        if (rc != AE_OK) {
            struct ae_error why = *err;
            ae_error_set(err, (enum ae_code)rc, "%.200s: %.700s", values->profile, why.text);
        }
    }
    ae_bytes_release(&text);
    return rc;
}

static void close_runs(struct runs *runs)
{
    ae_store_close(runs->store);
    free(runs->records);
}

/* Profiles know a program by its bytes; those of an older version by the name of its file. */
static bool is_of(const struct ae_profile_record *record, const char *sha256, const char *path)
{
    if (record->submission[0])
        return strcmp(record->submission, sha256) == 0;
    const char *theirs = strrchr(record->source, '/'), *ours = strrchr(path, '/');
    return strcmp(theirs ? theirs + 1 : record->source, ours ? ours + 1 : path) == 0;
}

static void take_run(const struct runs *runs, const char *path, const struct ae_bytes *source, struct run *ret)
{
    char sha256[AE_SHA256_HEX], machine[96];
    struct ae_error ignored;
    enum ae_size size = AE_SMALL;
    bool there = false;
    ret->facts = NULL;
    ret->explanation = NULL;
    ret->where[0] = 0;
    if (ae_sha256(source->data, source->size, sha256, &ignored) != AE_OK)
        return;
    const struct ae_profile_record *best = NULL;
    for (size_t i = 0; i < runs->record_count; i++)
        if (is_of(&runs->records[i], sha256, path) && (!best || runs->records[i].size >= best->size))
            best = &runs->records[i];
    if (best) {
        ret->facts = best->traced ? &best->facts : NULL;
        ret->explanation = &best->explanation;
        snprintf(ret->where, sizeof ret->where, "%s", ae_size_name(best->size));
    } else if (runs->path) {
        ae_autofree char *name = ae_cli_printable_line(path), *file = ae_cli_printable_line(runs->path);
        fprintf(stderr, "acceleval: %s holds no profile of %s as it stands\n", file ? file : "", name ? name : "");
    } else if (runs->store && ae_store_explanation_find(runs->store, sha256, &ret->kept, &size, machine, &there,
                                                        &ignored) == AE_OK && there) {
        ret->explanation = &ret->kept;
        snprintf(ret->where, sizeof ret->where, "%s, %s", ae_size_name(size), machine);
    }
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

static int find_one(struct ae_finder *finder, struct ae_context *context, const char *tasks, const struct runs *runs,
                    const char *path, const struct ae_strategies_values *values, json_t *array, struct ae_error *err)
{
    struct run run = {0};
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
    if (rc == AE_OK)
        take_run(runs, path, &source, &run);
    const struct ae_strategy_input input = {.source = (const char *)source.data,
                                            .source_size = source.size,
                                            .reference = (const char *)reference.data,
                                            .reference_size = reference.size,
                                            .sass = dump.sass,
                                            .resources = dump.resources,
                                            .facts = run.facts,
                                            .explanation = run.explanation,
                                            .run_where = run.where};
    if (rc == AE_OK)
        rc = ae_strategy_find(finder, &input, &findings, err);
    if (rc == AE_OK && array)
        json_array_append_new(array, findings_json(path, &findings, &run));
    else if (rc == AE_OK && values->source)
        print_source(&source, &findings);
    else if (rc == AE_OK)
        print_findings(path, &source, &findings, &run);
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
    struct runs runs = {0};
    char tasks[4096];
    const bool known = ae_context_find_tasks(tasks, sizeof tasks, &ignored) == AE_OK;
    int rc = ae_finder_new(&finder, &err);
    if (rc == AE_OK)
        rc = open_runs(values, &runs, &err);
    if (rc == AE_OK && values->binary)
        rc = ae_cli_context(&context, &progress, &err);
    json_t *array = values->format == AE_STRATEGIES_JSON ? json_array() : NULL;
    for (size_t i = 0; rc == AE_OK && i < operands->count; i++) {
        if (i > 0 && !array)
            printf("\n");
        rc = find_one(finder, values->binary ? &context : NULL, known ? tasks : NULL, &runs, operands->items[i], values,
                      array, &err);
    }
    if (values->binary)
        ae_context_close(&context);
    ae_finder_free(finder);
    close_runs(&runs);
    if (array && (rc == AE_OK || json_array_size(array) > 0))
        ae_cli_print_json(json_pack("{s:i, s:s, s:o}", "schema", 1, "tool_version", AE_VERSION, "sources", array));
    else
        json_decref(array);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
