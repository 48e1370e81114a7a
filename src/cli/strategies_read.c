/* acceleval strategies read, agreement: programs read by a model, and how far that agrees with the search. */
#include "cli/strategies.h"

#include "base/clock.h"
#include "base/text.h"
#include "cli/model.h"
#include "stats/attribution.h"
#include "store/reading.h"
#include "strategy/reading.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what the search says --------------------------------------------------------------------- */

/* The search, with the task's reference beside the source, as `find` makes it. reference is the caller's to release. */
static int search(struct ae_finder *finder, const char *tasks, const struct ae_task *task, const char *source, size_t size,
                  struct ae_bytes *ret_reference, struct ae_findings *ret, struct ae_error *err)
{
    char path[4400];
    if (task) {
        snprintf(path, sizeof path, "%s/%s/reference.c", tasks, task->id);
        (void)ae_file_read(path, AE_STRATEGY_SOURCE_MAX, ret_reference, &(struct ae_error){0});
    }
    const struct ae_strategy_input input = {.source = source,
                                            .source_size = size,
                                            .reference = (const char *)ret_reference->data,
                                            .reference_size = ret_reference->size};
    return ae_strategy_find(finder, &input, ret, err);
}

static int strategy_of(const char *id)
{
    for (int i = 0; i < AE_STRATEGY_COUNT; i++)
        if (strcmp(ae_strategies[i].id, id) == 0)
            return i;
    return -1;
}

/* Words of a file that may be hostile; UNKNOWN for what is none. */
static enum ae_presence presence_of(const char *word)
{
    for (int p = AE_ABSENT; p < AE_UNKNOWN; p++)
        if (strcmp(word, ae_presence_name((enum ae_presence)p)) == 0)
            return (enum ae_presence)p;
    return AE_UNKNOWN;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* --- read ------------------------------------------------------------------------------------- */

struct program {
    const char *path;
    const struct ae_task *task;
    struct ae_bytes source;
    char sha256[AE_SHA256_HEX], prompt[AE_SHA256_HEX];
    struct ae_message message;
    enum ae_presence found[AE_STRATEGY_COUNT]; /* by the search */
    int lines;
    bool there; /* asked before */
};

struct reader {
    struct ae_context context;
    struct ae_progress progress;
    struct ae_models models;
    struct ae_model model;
    struct ae_key key;
    struct ae_store *store;
    char *parameters;
    bool told, exposed;
    struct program *programs;
    size_t count;
    size_t *asked; /* by question: number of its program */
    size_t valid, invalid, failed;
    struct ae_ask_counts counts;
};

static int open_program(struct reader *r, struct program *p, struct ae_finder *finder, const char *tasks, struct ae_error *err)
{
    struct ae_bytes reference = {0};
    struct ae_findings findings = {0};
    int rc = ae_file_read(p->path, AE_READING_SOURCE_MAX, &p->source, err);
    if (rc == AE_OK)
        rc = ae_sha256(p->source.data, p->source.size, p->sha256, err);
    if (rc == AE_OK)
        rc = search(finder, tasks, p->task, (const char *)p->source.data, p->source.size, &reference, &findings, err);
    if (rc == AE_OK) {
        const struct ae_reading_texts texts = {.reference = (const char *)reference.data,
                                               .reference_size = reference.size,
                                               .source = (const char *)p->source.data,
                                               .source_size = p->source.size,
                                               .findings = r->told ? &findings : NULL};
        memcpy(p->found, findings.presence, sizeof p->found);
        p->lines = ae_reading_lines((const char *)p->source.data, p->source.size);
        rc = ae_reading_prompt(&texts, &p->message.text, err);
    }
    if (rc == AE_OK)
        rc = ae_sha256(p->message.text, strlen(p->message.text), p->prompt, err);
    ae_findings_release(&findings);
    ae_bytes_release(&reference);
    struct ae_submission kept = {
        .language = "cuda", .source = (char *)p->source.data, .size = p->source.size, .first_seen_ns = ae_wall_ns()};
    memcpy(kept.sha256, p->sha256, sizeof kept.sha256);
    if (rc == AE_OK)
        rc = ae_store_submission_put(r->store, &kept, err);
    if (rc == AE_OK)
        rc = ae_store_prompt_put(r->store, p->prompt, p->message.text, err);
    if (rc == AE_OK)
        rc = ae_store_reading_settled(r->store, p->sha256, r->model.name, r->parameters, p->prompt, &p->there, err);
    return rc;
}

/* The fields that every state of a reading has. */
static struct ae_stored_reading reading_of(const struct reader *r, const struct program *p, const char *state)
{
    return (struct ae_stored_reading){.submission = p->sha256,
                                      .task = p->task ? p->task->id : "",
                                      .model = r->model.name,
                                      .parameters = r->parameters,
                                      .prompt = p->prompt,
                                      .told = r->told,
                                      .created_ns = ae_wall_ns(),
                                      .state = state,
                                      .detail = "",
                                      .answered_by = "",
                                      .input_tokens = -1,
                                      .output_tokens = -1,
                                      .cost = -1};
}

static int on_sent(void *data, const size_t *questions, const int *numbers, size_t count, struct ae_error *err)
{
    struct reader *r = data;
    int rc = AE_OK;
    (void)numbers;
    for (size_t i = 0; rc == AE_OK && i < count; i++) {
        const struct ae_stored_reading reading = reading_of(r, &r->programs[r->asked[questions[i]]], "sent");
        rc = ae_store_reading_put(r->store, &reading, err);
    }
    return rc;
}

static void lines_text(const struct ae_finding *f, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < f->line_count; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%d-%d", i ? "," : "", f->lines[i].first, f->lines[i].last);
}

static int on_ended(void *data, size_t question, const struct ae_attempt *a, enum ae_ask_state state, struct ae_error *err)
{
    struct reader *r = data;
    const struct program *p = &r->programs[r->asked[question]];
    struct ae_stored_reading reading = reading_of(r, p, "failed");
    struct ae_read_finding findings[AE_STRATEGY_COUNT];
    struct ae_reading parsed;
    struct ae_error why = {0};
    ae_autofree char *name = ae_cli_printable_line(ae_text_path_tail(p->path));
    r->exposed |= a->exposed;
    if (state != AE_ASK_DONE && state != AE_ASK_FAILED) {
        ae_context_say(&r->context, "%s: %s", name ? name : "", ae_attempt_outcome_name(a->outcome));
        return AE_OK; /* it will be tried again */
    }
    reading.detail = a->detail;
    reading.answered_by = a->reply.model;
    reading.input_tokens = a->reply.input_tokens;
    reading.output_tokens = a->reply.output_tokens;
    reading.cost = a->cost;
    if (state == AE_ASK_DONE) {
        reading.answer = a->reply.text ? a->reply.text : "";
        reading.answer_size = a->reply.size;
        reading.state = a->outcome == AE_ATTEMPT_REFUSED ? "refused" : "empty";
    }
    if (state == AE_ASK_DONE && a->outcome == AE_ATTEMPT_ANSWERED) {
        const int rc = ae_reading_parse(reading.answer, reading.answer_size, p->lines, &parsed, &why);
        if (rc == AE_E_NOMEM)
            return ae_error_set(err, rc, "%s", why.text);
        reading.state = rc == AE_OK ? "valid" : "invalid";
        reading.detail = rc == AE_OK ? "" : why.text;
        for (int i = 0; rc == AE_OK && i < parsed.count; i++) {
            const struct ae_finding *f = &parsed.findings[i];
            struct ae_read_finding *to = &findings[reading.finding_count++];
            *to = (struct ae_read_finding){.confidence = f->confidence};
            snprintf(to->strategy, sizeof to->strategy, "%s", ae_strategies[f->strategy].id);
            snprintf(to->presence, sizeof to->presence, "%s", ae_presence_name(f->presence));
            snprintf(to->sentence, sizeof to->sentence, "%s", f->sentence);
            lines_text(f, to->lines, sizeof to->lines);
        }
    }
    reading.findings = findings;
    r->valid += strcmp(reading.state, "valid") == 0;
    r->failed += strcmp(reading.state, "failed") == 0;
    r->invalid += strcmp(reading.state, "valid") != 0 && strcmp(reading.state, "failed") != 0;
    ae_autofree char *reason = ae_cli_printable_line(reading.detail);
    ae_context_say(&r->context, "%s: %s%s%s", name ? name : "", reading.state, reason && *reason ? ": " : "", reason ? reason : "");
    return ae_store_reading_put(r->store, &reading, err);
}

static int ask(struct reader *r, const char *models_path, double max_cost, struct ae_error *err)
{
    char *hidden[AE_HIDDEN_MAX + 1] = {0};
    size_t open = 0;
    struct ae_question *questions = calloc(r->count + 1, sizeof *questions);
    r->asked = calloc(r->count + 1, sizeof *r->asked);
    int rc = questions && r->asked ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for %zu questions", r->count);
    for (size_t i = 0; rc == AE_OK && i < r->count; i++) {
        struct program *p = &r->programs[i];
        bool twice = false; /* the same bytes under another name */
        for (size_t k = 0; k < open; k++)
            twice |= strcmp(r->programs[r->asked[k]].prompt, p->prompt) == 0 &&
                     strcmp(r->programs[r->asked[k]].sha256, p->sha256) == 0;
        if (p->there || twice)
            continue;
        r->asked[open] = i;
        questions[open++] = (struct ae_question){&p->message, 1, ae_text_path_tail(p->path)};
    }
    if (rc == AE_OK && open)
        rc = ae_model_hidden_folders(&r->context, &r->model, models_path, hidden, err);
    if (rc == AE_OK && open) {
        const struct ae_ask_options options = {.model = &r->model,
                                               .key = &r->key,
                                               .max_cost = max_cost,
                                               .stop = &ae_cli_stop,
                                               .hidden = (const char *const *)hidden,
                                               .data = r,
                                               .sent = on_sent,
                                               .ended = on_ended};
        rc = ae_ask(&options, questions, open, &r->counts, err);
    }
    for (int i = 0; i < AE_HIDDEN_MAX; i++)
        free(hidden[i]);
    free(questions);
    ae_progress_clear(&r->progress);
    return rc;
}

struct showing {
    const struct reader *reader;
    const struct program *program;
    json_t *array; /* NULL: text */
};

static void print_reading(const struct program *p, const struct ae_stored_reading *s)
{
    ae_autofree char *name = ae_cli_printable_line(p->path);
    int present = 0, both = 0, agree = 0;
    for (size_t i = 0; i < s->finding_count; i++) {
        const int id = strategy_of(s->findings[i].strategy);
        const enum ae_presence read = presence_of(s->findings[i].presence);
        present += read == AE_PRESENT;
        if (id < 0 || read == AE_UNKNOWN || p->found[id] == AE_UNKNOWN)
            continue;
        both++;
        agree += p->found[id] == read;
    }
    printf("%s: ", name ? name : "");
    if (strcmp(s->state, "valid") != 0) {
        ae_autofree char *detail = ae_cli_printable_line(s->detail);
        ae_autofree char *state = ae_cli_printable_line(s->state);
        printf("no reading (%s%s%s)\n", state ? state : "", detail && *detail ? ": " : "", detail ? detail : "");
        return;
    }
    printf("%d %s read; the search agrees on %d of %d that both decide\n", present,
           ae_text_plural(present, "strategy", "strategies"), agree, both);
    for (size_t i = 0; i < s->finding_count; i++) {
        const struct ae_read_finding *f = &s->findings[i];
        const int id = strategy_of(f->strategy);
        const enum ae_presence read = presence_of(f->presence);
        if (id < 0 || (read != AE_PRESENT && !(read == AE_ABSENT && p->found[id] == AE_PRESENT)))
            continue;
        ae_autofree char *sentence = ae_cli_printable_line(f->sentence);
        ae_autofree char *lines = ae_cli_printable_line(f->lines);
        printf("  %s  %s: %s (%.0f %%)%s\n        %s%s%s%s\n", ae_strategies[id].id, ae_strategies[id].name, ae_presence_name(read),
               100 * f->confidence, p->found[id] == read ? "" : p->found[id] == AE_UNKNOWN ? ", which the search cannot decide"
                                                                                           : ", against the search",
               lines && *lines ? "lines " : "", lines ? lines : "", lines && *lines ? ": " : "", sentence ? sentence : "");
    }
}

/* "7-9,12-12" as pairs. */
static json_t *lines_json(const char *text)
{
    json_t *array = json_array();
    for (int used = 0, first, last; *text && sscanf(text, "%9d-%9d%n", &first, &last, &used) == 2;) {
        json_array_append_new(array, json_pack("[i, i]", first, last));
        text += used;
        text += *text == ',';
    }
    return array;
}

static json_t *reading_json(const struct program *p, const struct ae_stored_reading *s)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < s->finding_count; i++) {
        const struct ae_read_finding *f = &s->findings[i];
        const int id = strategy_of(f->strategy);
        if (id < 0)
            continue;
        ae_autofree char *sentence = ae_cli_printable_line(f->sentence);
        json_array_append_new(findings, json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "id", ae_strategies[id].id, "presence",
                                                  ae_presence_name(presence_of(f->presence)), "confidence", number(f->confidence),
                                                  "lines", lines_json(f->lines), "sentence", sentence ? sentence : "", "search",
                                                  ae_presence_name(p->found[id])));
    }
    ae_autofree char *name = ae_cli_printable_line(p->path);
    ae_autofree char *detail = ae_cli_printable_line(s->detail);
    ae_autofree char *state = ae_cli_printable_line(s->state);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "file", name ? name : "", "evidence", "reading", "state",
                     state ? state : "", "detail", detail ? detail : "", "submission", p->sha256, "prompt_sha256", p->prompt,
                     "told_of_search", s->told, "findings", findings);
}

static int show_one(void *data, const struct ae_stored_reading *s)
{
    const struct showing *show = data;
    if (strcmp(s->parameters, show->reader->parameters) != 0)
        return AE_OK;
    if (show->array)
        json_array_append_new(show->array, reading_json(show->program, s));
    else
        print_reading(show->program, s);
    return AE_OK;
}

static void reader_close(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->programs[i].message.text);
        ae_bytes_release(&r->programs[i].source);
    }
    free(r->programs);
    free(r->asked);
    free(r->parameters);
    ae_key_release(&r->key);
    ae_store_close(r->store);
    ae_context_close(&r->context);
    ae_models_release(&r->models);
}

int ae_strategies_read(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    struct ae_finder *finder = NULL;
    struct reader r = {.told = !values->blind};
    double max_cost = AE_UNSET;
    char tasks[4096];
    ae_cli_stop_on_signals();
    int rc = ae_cli_model(values->models_path, values->model, &r.models, &r.model, &err);
    if (rc == AE_OK && values->max_cost)
        rc = ae_cli_real(values->max_cost, "max-cost", 0, 1e9, &max_cost, &err);
    if (rc == AE_OK)
        rc = ae_key_read(&r.model, values->models_path, &r.key, &err);
    if (rc == AE_OK && !(r.parameters = ae_model_parameters(&r.model)))
        rc = ae_error_set(&err, AE_E_NOMEM, "no memory for the parameters of a model");
    if (rc == AE_OK)
        rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK)
        rc = ae_finder_new(&finder, &err);
    if (rc == AE_OK)
        rc = ae_cli_context_quiet(&r.context, &r.progress, &err);
    if (rc == AE_OK)
        rc = ae_store_open(&r.store, NULL, AE_STORE_WRITE, &err);
    if (rc == AE_OK && !(r.programs = calloc(operands->count + 1, sizeof *r.programs)))
        rc = ae_error_set(&err, AE_E_NOMEM, "no memory for %zu programs", operands->count);
    for (size_t i = 0; rc == AE_OK && i < operands->count; i++) {
        struct program *p = &r.programs[r.count++];
        p->path = operands->items[i];
        p->task = values->tasks.count ? values->tasks.items[0] : ae_strategies_task_of(p->path);
        rc = open_program(&r, p, finder, tasks, &err);
    }
    struct ae_error asking = {0};
    const int asked = rc == AE_OK ? ask(&r, values->models_path, max_cost, &asking) : AE_OK;
    json_t *array = rc == AE_OK && values->format == AE_STRATEGIES_JSON ? json_array() : NULL;
    for (size_t i = 0; rc == AE_OK && i < r.count; i++) { /* what is there, whatever went wrong */
        struct showing show = {&r, &r.programs[i], array};
        const struct ae_reading_filter filter = {r.programs[i].sha256, r.model.name, r.programs[i].prompt};
        rc = ae_store_readings(r.store, &filter, show_one, &show, &err);
    }
    if (array)
        ae_cli_print_json(json_pack("{s:i, s:s, s:s, s:o}", "schema", 1, "tool_version", AE_VERSION, "model", r.model.name, "readings", array));
    if (rc == AE_OK && asked != AE_OK) {
        rc = asked;
        err = asking;
    }
    if (r.exposed)
        fprintf(stderr, "acceleval: this machine cannot hide folders from a command: it could have read the secret instances in "
                        "%s\n", r.context.bank.folder);
    const bool complete = r.counts.failed == 0 && r.counts.left == 0;
    reader_close(&r);
    ae_finder_free(finder);
    if (rc != AE_OK)
        return ae_cli_fail(&err);
    return complete ? AE_EXIT_OK : AE_EXIT_ENVIRONMENT;
}

/* --- agreement -------------------------------------------------------------------------------- */

/* Both said yes, only the reading, only the search, neither. */
struct cross {
    size_t both, reading, search, neither;
};

struct rater {
    char model[96];
    bool told;
    size_t programs, invalid;
    struct cross of[AE_STRATEGY_COUNT];
};

struct agreement {
    struct ae_store *store;
    struct ae_finder *finder;
    const char *tasks, *model;
    struct rater *raters;
    size_t count;
    char last[65]; /* the program whose findings are at hand */
    char last_task[64];
    struct ae_findings findings;
    struct ae_error *err;
};

static struct rater *rater_of(struct agreement *a, const struct ae_stored_reading *s)
{
    for (size_t i = 0; i < a->count; i++)
        if (strncmp(a->raters[i].model, s->model, sizeof a->raters[i].model - 1) == 0 && a->raters[i].told == s->told)
            return &a->raters[i];
    struct rater *more = realloc(a->raters, (a->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    a->raters = more;
    struct rater *rater = &more[a->count++];
    *rater = (struct rater){.told = s->told};
    snprintf(rater->model, sizeof rater->model, "%s", s->model);
    return rater;
}

/* The program as it is kept, searched anew: findings of today's search. */
static int search_kept(struct agreement *a, const struct ae_stored_reading *s)
{
    struct ae_submission submission = {0};
    struct ae_bytes reference = {0};
    if (strcmp(a->last, s->submission) == 0 && strcmp(a->last_task, s->task) == 0)
        return AE_OK;
    ae_findings_release(&a->findings);
    a->last[0] = 0;
    int rc = ae_store_submission_get(a->store, s->submission, &submission, a->err);
    const struct ae_task *const task = ae_task_named(s->task);
    if (rc == AE_OK)
        rc = search(a->finder, a->tasks, task, submission.source, submission.size, &reference, &a->findings, a->err);
    if (rc == AE_OK) {
        snprintf(a->last, sizeof a->last, "%s", s->submission);
        snprintf(a->last_task, sizeof a->last_task, "%s", s->task);
    }
    ae_bytes_release(&reference);
    ae_submission_release(&submission);
    return rc;
}

static int count_one(void *data, const struct ae_stored_reading *s)
{
    struct agreement *a = data;
    const bool valid = strcmp(s->state, "valid") == 0;
    if (strcmp(s->state, "sent") == 0 || strcmp(s->state, "failed") == 0)
        return AE_OK;
    struct rater *rater = rater_of(a, s);
    if (!rater)
        return ae_error_set(a->err, AE_E_NOMEM, "no memory for readings");
    rater->invalid += !valid;
    const int rc = valid ? search_kept(a, s) : AE_OK;
    if (rc != AE_OK || !valid)
        return rc;
    rater->programs++;
    for (size_t i = 0; i < s->finding_count; i++) {
        const int id = strategy_of(s->findings[i].strategy);
        const enum ae_presence read = presence_of(s->findings[i].presence);
        if (id < 0 || read == AE_UNKNOWN || a->findings.presence[id] == AE_UNKNOWN)
            continue;
        const bool found = a->findings.presence[id] == AE_PRESENT;
        struct cross *c = &rater->of[id];
        ++*(read == AE_PRESENT ? found ? &c->both : &c->reading : found ? &c->search : &c->neither);
    }
    return AE_OK;
}

static double kappa_of(const struct cross *c)
{
    return ae_kappa(c->both, c->reading, c->search, c->neither);
}

static size_t cases_of(const struct cross *c)
{
    return c->both + c->reading + c->search + c->neither;
}

static struct cross sum_of(const struct rater *r)
{
    struct cross sum = {0};
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        sum.both += r->of[id].both;
        sum.reading += r->of[id].reading;
        sum.search += r->of[id].search;
        sum.neither += r->of[id].neither;
    }
    return sum;
}

static void print_row(const char *id, const char *name, const struct cross *c)
{
    char kappa[16] = "-";
    if (!isnan(kappa_of(c)))
        snprintf(kappa, sizeof kappa, "%.2f", kappa_of(c));
    printf("%-5s%-36s%8zu%8zu%10zu%10zu%10zu%8s\n", id, name, cases_of(c), c->both, c->reading, c->search, c->neither, kappa);
}

static void print_rater(const struct rater *r)
{
    ae_autofree char *name = ae_cli_printable_line(r->model);
    const struct cross sum = sum_of(r);
    printf("%s, %s: %zu %s read, %zu %s of no use\n", name ? name : "",
           r->told ? "told what the search found" : "not told what the search found", r->programs,
           ae_text_plural((int64_t)r->programs, "program", "programs"), r->invalid,
           ae_text_plural((int64_t)r->invalid, "answer", "answers"));
    if (r->programs == 0)
        return;
    printf("%-5s%-36s%8s%8s%10s%10s%10s%8s\n", "", "strategy", "cases", "both", "reading", "search", "neither", "kappa");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        if (cases_of(&r->of[id]) > 0)
            print_row(ae_strategies[id].id, ae_strategies[id].name, &r->of[id]);
    print_row("", "all", &sum);
    printf("  cases: programs of which both say present or absent; kappa: agreement beyond chance, - where it cannot be told\n");
    if (r->told)
        printf("  who is told agrees more easily: 'strategies read --blind' reads without\n");
}

static json_t *cross_json(const struct cross *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "both", (json_int_t)c->both, "only_reading", (json_int_t)c->reading,
                     "only_search", (json_int_t)c->search, "neither", (json_int_t)c->neither, "kappa", number(kappa_of(c)));
}

static json_t *rater_json(const struct rater *r)
{
    const struct cross sum = sum_of(r);
    json_t *strategies = json_object();
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        json_object_set_new(strategies, ae_strategies[id].id, cross_json(&r->of[id]));
    ae_autofree char *name = ae_cli_printable_line(r->model);
    return json_pack("{s:s, s:b, s:I, s:I, s:o, s:o}", "model", name ? name : "", "told_of_search", r->told, "programs",
                     (json_int_t)r->programs, "of_no_use", (json_int_t)r->invalid, "all", cross_json(&sum), "strategies",
                     strategies);
}

int ae_strategies_agreement(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    char tasks[4096];
    struct agreement a = {.tasks = tasks, .err = &err};
    const struct ae_reading_filter filter = {.model = values->model};
    (void)operands;
    int rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK)
        rc = ae_finder_new(&a.finder, &err);
    if (rc == AE_OK)
        rc = ae_cli_results(&a.store, &err);
    if (rc == AE_OK)
        rc = ae_store_readings(a.store, &filter, count_one, &a, &err);
    if (rc == AE_OK && a.count == 0)
        rc = ae_error_set(&err, values->model ? AE_E_NOTFOUND : AE_E_ENV,
                          "no program was read by %s yet: 'acceleval strategies read --model M SOURCE'",
                          values->model ? "that model" : "a model");
    int status = AE_EXIT_OK;
    if (rc == AE_OK && values->format == AE_STRATEGIES_JSON) {
        json_t *array = json_array();
        for (size_t i = 0; i < a.count; i++)
            json_array_append_new(array, rater_json(&a.raters[i]));
        status = ae_cli_print_json(json_pack("{s:i, s:s, s:o}", "schema", 1, "tool_version", AE_VERSION, "readers",
                                             array));
    } else if (rc == AE_OK) {
        for (size_t i = 0; i < a.count; i++) {
            if (i)
                printf("\n");
            print_rater(&a.raters[i]);
        }
    }
    free(a.raters);
    ae_findings_release(&a.findings);
    ae_store_close(a.store);
    ae_finder_free(a.finder);
    return rc == AE_OK ? status : ae_cli_fail(&err);
}
