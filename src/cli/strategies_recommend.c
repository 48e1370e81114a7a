/* acceleval strategies recommend: which strategies are likely to pay in a task, by what paid in tasks like it. */
#include "cli/strategies.h"

#include "llm/prompt.h"
#include "strategy/base.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_MOST    10
#define RECIPE_MOST   3
#define RECIPE_GAIN   1.05 /* what is foretold to gain less is not recommended to a model */
#define FEATURE_SEED  1    /* the work model of one instance of a task: any will do */

static const int first[] = {1, 3, 5};
#define FIRST_COUNT (sizeof first / sizeof *first)

struct advice {
    struct ae_advice_base base;
    size_t row;                 /* in question; the last for a source that solves no task of ours */
    const struct ae_task *task; /* NULL likewise */
    struct ae_forecast forecasts[AE_STRATEGY_COUNT];
    struct ae_recommend_model model;
    struct ae_hits hits[FIRST_COUNT];
    int order[AE_STRATEGY_COUNT], count;
};

static int task_features(struct ae_finder *finder, const char *tasks, const struct ae_task *task, const char *path,
                         double features[AE_FEATURE_COUNT], struct ae_error *err)
{
    char reference[4400];
    struct ae_bytes source = {0};
    struct ae_instance instance = {0};
    struct ae_work work;
    if (!path) {
        snprintf(reference, sizeof reference, "%s/%s/reference.c", tasks, task->id);
        path = reference;
    }
    int rc = ae_file_read(path, AE_STRATEGY_SOURCE_MAX, &source, err);
    if (rc == AE_OK)
        rc = ae_features_read(finder, (const char *)source.data, source.size, features, err);
    ae_bytes_release(&source);
    if (rc != AE_OK || !task)
        return rc;
    rc = ae_instance_make(&instance, task, AE_SMALL, 0, FEATURE_SEED, err);
    if (rc == AE_OK) {
        ae_instance_work(&instance, &work);
        ae_features_work(work.bytes_in + work.bytes_out, work.operations, work.steps, features);
    }
    ae_instance_release(&instance);
    return rc;
}

/* What is measured; no results at all are no error. */
static int read_base(struct ae_finder *finder, const char *tasks, unsigned sizes, struct ae_advice_base *ret,
                     struct ae_error *err)
{
    struct ae_store *store = NULL;
    struct ae_experiences experiences = {0};
    struct ae_ladder ladder = {0};
    struct ae_gains gains = {0};
    const struct ae_measurement_filter filter = {.sizes = sizes};
    struct ae_error missing = {0};
    int rc = ae_store_open(&store, NULL, AE_STORE_READ, &missing);
    if (rc == AE_OK)
        rc = ae_experiences_read(store, finder, tasks, &filter, &experiences, &missing);
    if (rc != AE_OK && rc != AE_E_NOTFOUND)
        *err = missing;
    else
        rc = ae_ladder_read(tasks, &ladder, err);
    ae_store_close(store);
    if (rc == AE_OK) {
        ae_strategies_gains(&ladder, tasks, &gains);
        rc = ae_advice_base_make(&experiences, &gains, sizes, ret, err);
    }
    ae_gains_release(&gains);
    ae_ladder_release(&ladder);
    ae_experiences_release(&experiences);
    return rc;
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_base(const struct ae_advice_base *base)
{
    printf("base: %zu of %d tasks; %zu gains of single steps, %zu of programs with against without\n", base->tasks,
           ae_task_count, base->from_steps, base->from_programs);
}

static void print_hits(const struct advice *a)
{
    const size_t tasks = a->hits[0].tasks;
    if (tasks == 0) {
        printf("how good: cannot be told; no task has two strategies whose gains are told apart, one of which gained\n");
        return;
    }
    printf("\nleaving one task out       hit   by chance  overall   regret  overall    p\n");
    for (size_t i = 0; i < FIRST_COUNT; i++) {
        const struct ae_hits *h = &a->hits[i];
        if (h->tasks == 0)
            printf("  first %d of 0 tasks         -\n", h->k);
        else
            printf("  first %d of %2zu tasks   %5.0f %%     %5.0f %%  %5.0f %%  %6.2fx  %6.2fx   %.3f\n", h->k, h->tasks,
                   100 * h->hit, 100 * h->chance, 100 * h->overall_hit, h->regret, h->overall_regret, h->p);
    }
    printf("  hit: the task's best strategy is among the first; regret: how much faster the best is than the best of these\n"
           "  overall: the same for recommending what pays most over all tasks, whatever the task\n");
    bool beats = false;
    for (size_t i = 0; i < FIRST_COUNT; i++)
        beats |= ae_hits_beat(&a->hits[i]);
    if (!beats)
        printf("  looking at the task does not beat that baseline: trust the overall column as much\n");
    else
        for (size_t i = 0; i < FIRST_COUNT; i++)
            printf("  first %d: %s\n", first[i],
                   ae_hits_beat(&a->hits[i]) ? "looking at the task beats that baseline"
                                             : "looking at the task does not beat that baseline");
    if (tasks < 12)
        printf("  with so few tasks this is an anecdote\n");
}

static void print_advice(const struct advice *a, const char *what)
{
    ae_autofree char *name = ae_cli_printable_line(what);
    const double *features = a->base.feature + a->row * AE_FEATURE_COUNT;
    printf("%s\n", name ? name : "");
    for (int f = 0; f < AE_FEATURE_COUNT; f++)
        if (!isnan(features[f]))
            printf("  %-28s %8.2f\n", ae_feature_name((enum ae_feature)f), features[f]);
    print_base(&a->base);
    if (a->count == 0) {
        printf("nothing can be recommended: no other task has a strategy measured. 'acceleval eval' of several programs of a\n"
               "task, or 'acceleval import' of an archive of results, fills the base\n");
        return;
    }
    printf("what is alike: %s\n\n", isinf(a->model.prior) && isinf(a->model.penalty) ? "foretells nothing, so these are the overall gains"
                                    : isinf(a->model.penalty)                         ? "nearest tasks"
                                    : isinf(a->model.prior)                           ? "linear in the features"
                                                              : "nearest tasks, and linear in the features");
    printf("     %-36s%10s%10s%8s%10s  %s\n", "strategy", "expected", "overall", "tasks", "here", "nearest tasks that measured it");
    for (int i = 0; i < a->count && i < SHOWN_MOST; i++) {
        const int id = a->order[i];
        const struct ae_forecast *f = &a->forecasts[id];
        const double here = a->base.log_gain[a->row * AE_STRATEGY_COUNT + (size_t)id];
        char measured[32] = "-";
        if (!isnan(here))
            snprintf(measured, sizeof measured, "%.2fx", exp(here));
        printf("%-5s%-36s%9.2fx%9.2fx%8zu%10s ", ae_strategies[id].id, ae_strategies[id].name, exp(f->log_gain), exp(f->overall),
               f->tasks, measured);
        for (int n = 0; n < f->neighbour_count && n < 2; n++)
            if (f->neighbours[n] < ae_task_count)
                printf("%s %s", n ? "," : "", ae_tasks[f->neighbours[n]]->id);
        printf("\n");
    }
    if (a->count > SHOWN_MOST)
        printf("     and %d more (--json)\n", a->count - SHOWN_MOST);
    printf("here: measured in this task, which the forecast does not look at\n");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *base_json(const struct ae_advice_base *base)
{
    return json_pack("{s:I, s:I, s:I}", "tasks", (json_int_t)base->tasks, "gains_of_steps", (json_int_t)base->from_steps,
                     "gains_of_programs", (json_int_t)base->from_programs);
}

static json_t *hits_json(const struct advice *a)
{
    json_t *array = json_array();
    for (size_t i = 0; i < FIRST_COUNT; i++) {
        const struct ae_hits *h = &a->hits[i];
        json_array_append_new(array, json_pack("{s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "k", h->k, "tasks",
                                               (json_int_t)h->tasks, "hit", number(h->hit), "chance", number(h->chance),
                                               "overall_hit", number(h->overall_hit), "regret", number(h->regret),
                                               "overall_regret", number(h->overall_regret), "p", number(h->p), "beats_overall",
                                               ae_hits_beat(h)));
    }
    return array;
}

static json_t *advice_json(const struct advice *a)
{
    json_t *features = json_object(), *strategies = json_array();
    const double *values = a->base.feature + a->row * AE_FEATURE_COUNT;
    for (int f = 0; f < AE_FEATURE_COUNT; f++)
        json_object_set_new(features, ae_feature_name((enum ae_feature)f), number(values[f]));
    for (int i = 0; i < a->count; i++) {
        const int id = a->order[i];
        const struct ae_forecast *f = &a->forecasts[id];
        json_t *near = json_array();
        for (int n = 0; n < f->neighbour_count; n++)
            if (f->neighbours[n] < ae_task_count)
                json_array_append_new(near, json_string(ae_tasks[f->neighbours[n]]->id));
        json_array_append_new(strategies,
                              json_pack("{s:s, s:s, s:f, s:f, s:I, s:o, s:o}", "id", ae_strategies[id].id, "name",
                                        ae_strategies[id].name, "expected_gain", exp(f->log_gain), "overall_gain",
                                        exp(f->overall), "tasks", (json_int_t)f->tasks, "measured_gain",
                                        number(exp(a->base.log_gain[a->row * AE_STRATEGY_COUNT + (size_t)id])), "nearest", near));
    }
    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "tool_version", AE_VERSION, "task", a->task ? json_string(a->task->id) : json_null(),
                     "features", features, "base", base_json(&a->base), "strategies", strategies, "left_out", hits_json(a));
}

/* --- recipe ----------------------------------------------------------------------------------- */

/* Sentences of ours, so that nothing of a source or a name gets into a prompt. */
static int write_recipe(const struct advice *a, const char *path, struct ae_error *err)
{
    char *text = NULL;
    size_t size = 0;
    int told = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < a->count && told < RECIPE_MOST; i++) {
        const struct ae_forecast *f = &a->forecasts[a->order[i]];
        const struct ae_strategy *s = &ae_strategies[a->order[i]];
        if (exp(f->log_gain) < RECIPE_GAIN)
            break;
        fprintf(out, "%s%d. It is built on %s. %s When it pays: %s What it is not: %s In tasks like this "
                "one a gain of about %.1f times is expected of it.\n",
                told ? "\n" : "", told + 1, s->name, s->definition, s->pays, s->is_not, exp(f->log_gain));
        told++;
    }
    if (!out || fclose(out) != 0) {
        free(text);
        return ae_error_set(err, AE_E_NOMEM, "no memory for a recipe");
    }
    int rc = told ? ae_recipe_check(text, err)
                  : ae_error_set(err, AE_E_NOTFOUND, "no strategy is expected to gain %.0f %% or more: there is no recipe to write",
                                 100 * (RECIPE_GAIN - 1));
    if (rc == AE_OK)
        rc = ae_new_file_write(path, text, size, err);
    free(text);
    return rc;
}

/* --- the verb --------------------------------------------------------------------------------- */

int ae_strategies_recommend(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    struct ae_finder *finder = NULL;
    struct advice *a = calloc(1, sizeof *a);
    const char *what = operands->count ? operands->items[0] : NULL, *path = NULL;
    char tasks[4096];
    int rc = a ? AE_OK : ae_error_set(&err, AE_E_NOMEM, "no memory for a recommendation");
    if (rc == AE_OK && !what && !values->evaluate)
        rc = ae_error_set(&err, AE_E_USAGE, "recommend takes a task or the C source of one, or --evaluate");
    if (rc == AE_OK && values->recipe && !what)
        rc = ae_error_set(&err, AE_E_USAGE, "--recipe takes a task or the C source of one");
    if (rc == AE_OK && what) {
        const size_t length = strlen(what);
        if (strchr(what, '/') || (length > 2 && strcmp(what + length - 2, ".c") == 0)) {
            path = what;
            a->task = values->tasks.count ? values->tasks.items[0] : ae_strategies_task_of(what);
        } else if (!(a->task = ae_task_find(what, &err))) {
            rc = err.code;
        }
    }
    if (rc == AE_OK)
        rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK)
        rc = ae_finder_new(&finder, &err);
    if (rc == AE_OK)
        rc = read_base(finder, tasks, values->sizes, &a->base, &err);
    if (rc == AE_OK)
        a->row = a->base.rows - 1;
    for (int i = 0; rc == AE_OK && i < ae_task_count; i++) {
        const bool own = ae_tasks[i] == a->task;
        if (own)
            a->row = (size_t)i;
        rc = task_features(finder, tasks, ae_tasks[i], own ? path : NULL, ae_advice_base_features(&a->base, (size_t)i), &err);
    }
    if (rc == AE_OK && path && !a->task)
        rc = task_features(finder, tasks, NULL, path, ae_advice_base_features(&a->base, a->row), &err);
    if (rc == AE_OK) {
        const struct ae_gain_base view = ae_advice_base_view(&a->base);
        rc = ae_recommend_evaluate(&view, first, FIRST_COUNT, a->hits, &err);
        if (rc == AE_OK && what)
            rc = ae_recommend(&view, a->row, a->forecasts, &a->model, &err);
        if (rc == AE_OK && what)
            a->count = ae_recommend_order(a->forecasts, AE_STRATEGY_COUNT, false, a->order);
    }
    int status = AE_EXIT_OK;
    if (rc == AE_OK && values->format == AE_STRATEGIES_JSON) {
        status = ae_cli_print_json(what ? advice_json(a)
                                        : json_pack("{s:i, s:s, s:o, s:o}", "schema", 1, "tool_version", AE_VERSION, "base", base_json(&a->base), "left_out",
                                                    hits_json(a)));
    } else if (rc == AE_OK) {
        if (what)
            print_advice(a, what);
        else
            print_base(&a->base);
        if (values->evaluate || a->count)
            print_hits(a);
    }
    if (rc == AE_OK && values->recipe)
        rc = write_recipe(a, values->recipe, &err);
    if (a)
        ae_advice_base_release(&a->base);
    free(a);
    ae_finder_free(finder);
    return rc == AE_OK ? status : ae_cli_fail(&err);
}
