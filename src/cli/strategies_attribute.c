/* acceleval strategies attribute, diff: what strategies go with speed; what one program does that another does not. */
#include "cli/strategies.h"

#include "base/hash.h"
#include "base/text.h"
#include "cli/submission.h"
#include "strategy/experience.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- attribute -------------------------------------------------------------------------------- */

/* Below this many tasks a table of 43 strategies is a list of anecdotes. */
#define TASKS_FEW 12

static const struct ae_attribution *sorting;

/* Largest effect first, those without one last. */
static int by_effect(const void *a, const void *b)
{
    const double x = sorting->worth[*(const int *)a].effect, y = sorting->worth[*(const int *)b].effect;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return x > y ? -1 : x < y;
}

static void put_interval(char *to, size_t size, double value, const struct ae_interval *interval)
{
    if (isnan(value))
        snprintf(to, size, "-");
    else if (interval->kind == AE_INTERVAL_NONE)
        snprintf(to, size, "%.2fx", value);
    else
        snprintf(to, size, interval->kind == AE_INTERVAL_95 ? "%.2fx [%.2f, %.2f]" : "%.2fx {%.2f, %.2f}", value,
                 interval->low, interval->high);
}

static void put_p(char *to, size_t size, double p)
{
    if (isnan(p))
        snprintf(to, size, "-");
    else
        snprintf(to, size, p < 0.0001 ? "<1e-4" : "%.4f", p);
}

static void print_kinds(const struct ae_attribution *a)
{
    for (int kind = AE_STRATEGY_STRUCTURAL; kind <= AE_STRATEGY_LOCAL; kind++) {
        double logs = 0;
        int count = 0;
        for (int id = 0; id < AE_STRATEGY_COUNT; id++)
            if ((int)ae_strategies[id].kind == kind && !isnan(a->worth[id].effect)) {
                logs += log(a->worth[id].effect);
                count++;
            }
        if (count > 0)
            printf("  %s strategies: %.3fx each in the mean of %d\n", ae_kind_name((enum ae_strategy_kind)kind),
                   exp(logs / count), count);
    }
}

static void print_bundles(const int bundle[AE_STRATEGY_COUNT], int bundles)
{
    for (int b = 0; b < bundles; b++) {
        printf("  go together (Jaccard %.1f or more):", AE_BUNDLE);
        for (int id = 0; id < AE_STRATEGY_COUNT; id++)
            if (bundle[id] == b)
                printf(" %s", ae_strategies[id].id);
        printf(": their single worths cannot be told apart\n");
    }
}

static void print_attribution(const struct ae_place *place, enum ae_size size, const struct ae_attribution *a,
                              const int bundle[AE_STRATEGY_COUNT], int bundles)
{
    int order[AE_STRATEGY_COUNT], few = 0;
    ae_autofree char *name = ae_cli_printable_line(place->name);
    printf("%s, %s: %zu %s of %zu %s two or more\n", name ? name : "", ae_size_name(size), a->programs,
           ae_text_plural((int64_t)a->programs, "program", "programs"), a->tasks,
           ae_text_plural((int64_t)a->tasks, "task that has", "tasks that have"));
    if (a->tasks == 0) {
        printf("  nothing to compare: evaluate several programs of a task\n");
        return;
    }
    if (a->tasks < TASKS_FEW)
        printf("  with so few tasks nothing here is more than an anecdote\n");
    printf("\n%-5s%-36s%10s%16s  %-22s%-8s%-8s  %s\n", "", "strategy", "with", "winners/others", "lift within tasks", "p", "q",
           "worth beside the others");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        order[id] = id;
    sorting = a;
    qsort(order, AE_STRATEGY_COUNT, sizeof *order, by_effect);
    for (int k = 0; k < AE_STRATEGY_COUNT; k++) {
        const struct ae_trait_worth *w = &a->worth[order[k]];
        char lift[64], effect[64], p[16], q[16], with[32], share[32];
        if (w->with == 0)
            continue;
        put_interval(lift, sizeof lift, w->lift, &w->interval);
        put_interval(effect, sizeof effect, w->effect, &w->effect_interval);
        put_p(p, sizeof p, w->p);
        put_p(q, sizeof q, w->q);
        few += w->pairs > 0 && w->pairs < AE_PAIRS_MIN;
        snprintf(with, sizeof with, "%zu/%zu", w->with, w->with + w->without);
        snprintf(share, sizeof share, "%.0f %%/%.0f %%", 100 * w->winner_share, 100 * w->other_share);
        printf("%-5s%-36s%10s%16s  %-22s%-8s%-8s  %s\n", ae_strategies[order[k]].id, ae_strategies[order[k]].name, with, share,
               lift, w->pairs > 0 && w->pairs < AE_PAIRS_MIN ? "(few)" : p, q, effect);
    }
    printf("\n");
    print_kinds(a);
    print_bundles(bundle, bundles);
    if (few > 0)
        printf("  (few): too few pairs, less than %d tasks have programs with and without it; %d %s\n", AE_PAIRS_MIN,
               few, ae_text_plural(few, "strategy", "strategies"));
    if (!isnan(a->explained))
        printf("  all strategies together foretell %.0f %% of what separates programs of a task that was left out%s\n",
               100 * fmax(a->explained, 0), a->explained <= 0 ? ": nothing, so trust no single worth" : "");
    printf("  what goes with speed need not cause it: ladders (docs/strategies.md) change one strategy at a time\n");
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval_json(const struct ae_interval *i)
{
    return json_pack("{s:s, s:o, s:o}", "kind", ae_interval_kind_name(i->kind), "low", number(i->low), "high", number(i->high));
}

static json_t *attribution_json(const struct ae_place *place, enum ae_size size, const struct ae_attribution *a,
                                const int bundle[AE_STRATEGY_COUNT])
{
    json_t *strategies = json_array();
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        const struct ae_trait_worth *w = &a->worth[id];
        json_array_append_new(
            strategies,
            json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", ae_strategies[id].id, "with",
                      (json_int_t)w->with, "without", (json_int_t)w->without, "pairs", (json_int_t)w->pairs, "winner_share",
                      number(w->winner_share), "other_share", number(w->other_share), "lift", number(w->lift), "lift_interval",
                      interval_json(&w->interval), "p", number(w->p), "q", number(w->q), "effect", number(w->effect),
                      "effect_interval", interval_json(&w->effect_interval), "bundle",
                      bundle[id] < 0 ? json_null() : json_integer(bundle[id])));
    }
    ae_autofree char *name = ae_cli_printable_line(place->name);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "environment", place->environment, "machine", name ? name : "",
                     "size", ae_size_name(size), "programs", (json_int_t)a->programs, "tasks", (json_int_t)a->tasks, "ridge",
                     number(a->ridge), "explained", number(a->explained), "strategies", strategies);
}

static int attribute_place(const struct ae_experiences *base, int place, enum ae_size size, json_t *array, int *shown,
                           struct ae_error *err)
{
    struct ae_traited *rows;
    struct ae_attribution a;
    size_t count;
    int bundle[AE_STRATEGY_COUNT];
    int rc = ae_experiences_rows(base, place, size, &rows, &count, err);
    if (rc == AE_OK && count > 0) {
        rc = ae_attribute(rows, count, AE_STRATEGY_COUNT, &a, err);
        const int bundles = ae_bundles(rows, count, bundle);
        if (rc == AE_OK && array) {
            json_array_append_new(array, attribution_json(&base->places[place], size, &a, bundle));
        } else if (rc == AE_OK) {
            if ((*shown)++ > 0)
                printf("\n");
            print_attribution(&base->places[place], size, &a, bundle, bundles);
        }
    }
    free(rows);
    return rc;
}

int ae_strategies_attribute(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    struct ae_store *store = NULL;
    struct ae_finder *finder = NULL;
    struct ae_experiences base = {0};
    char tasks[4096];
    int shown = 0;
    (void)operands;
    const struct ae_measurement_filter filter = {.sizes = values->sizes};
    int rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK)
        rc = ae_cli_results(&store, &err);
    if (rc == AE_OK)
        rc = ae_finder_new(&finder, &err);
    if (rc == AE_OK)
        rc = ae_experiences_read(store, finder, tasks, &filter, &base, &err);
    json_t *array = rc == AE_OK && values->format == AE_STRATEGIES_JSON ? json_array() : NULL;
    for (size_t place = 0; rc == AE_OK && place < base.place_count; place++)
        for (int size = 0; rc == AE_OK && size < AE_SIZE_COUNT; size++)
            rc = attribute_place(&base, (int)place, (enum ae_size)size, array, &shown, &err);
    ae_experiences_release(&base);
    ae_finder_free(finder);
    ae_store_close(store);
    if (rc != AE_OK) {
        json_decref(array);
        return ae_cli_fail(&err);
    }
    return array ? ae_cli_print_json(json_pack("{s:i, s:s, s:o}", "schema", 1, "tool_version", AE_VERSION,
                                               "attributions", array)) : AE_EXIT_OK;
}

/* --- diff ------------------------------------------------------------------------------------- */

struct side {
    const char *path;
    struct ae_bytes source;
    char sha256[AE_SHA256_HEX];
    struct ae_findings findings;
};

static int read_side(struct side *side, const char *path, struct ae_finder *finder, const char *reference, size_t reference_size,
                     struct ae_error *err)
{
    side->path = path;
    int rc = ae_file_read(path, AE_STRATEGY_SOURCE_MAX, &side->source, err);
    if (rc == AE_OK)
        rc = ae_sha256(side->source.data, side->source.size, side->sha256, err);
    const struct ae_strategy_input input = {.source = (const char *)side->source.data,
                                            .source_size = side->source.size,
                                            .reference = reference,
                                            .reference_size = reference_size};
    return rc == AE_OK ? ae_strategy_find(finder, &input, &side->findings, err) : rc;
}

/* Medians of both sides where both were measured: the newest of each, whatever entrant it was. */
struct pairing {
    const struct side *sides;
    struct measured {
        char environment[65], name[96], task[64];
        enum ae_size size;
        int64_t id[2];
        double ns[2];
    } items[64];
    int count;
};

static int pair_up(void *data, const struct ae_stored *stored)
{
    struct pairing *p = data;
    const struct ae_measurement *m = &stored->measurement;
    double values[256];
    size_t n = 0;
    for (int side = 0; side < 2; side++) {
        if (m->verdict != AE_PASS || !m->task || stored->task_version != m->task->version ||
            strcmp(m->submission, p->sides[side].sha256) != 0)
            continue;
        n = 0;
        for (int i = 0; i < m->trial_count && n < sizeof values / sizeof *values; i++)
            if (ae_trial_counts(&m->trials[i]))
                values[n++] = (double)m->trials[i].call_ns;
        int k = 0;
        while (k < p->count && (strcmp(p->items[k].environment, stored->environment) != 0 || p->items[k].size != m->size ||
                                strcmp(p->items[k].task, stored->task) != 0))
            k++;
        if (n == 0 || k == (int)(sizeof p->items / sizeof *p->items))
            continue;
        if (k == p->count) {
            p->items[p->count++] = (struct measured){.size = m->size};
            snprintf(p->items[k].environment, sizeof p->items[k].environment, "%s", stored->environment);
            snprintf(p->items[k].name, sizeof p->items[k].name, "%s", stored->environment_name ? stored->environment_name : "");
            snprintf(p->items[k].task, sizeof p->items[k].task, "%s", stored->task);
        }
        if (p->items[k].id[side] > stored->id)
            continue;
        ae_sort(values, n);
        p->items[k].id[side] = stored->id;
        p->items[k].ns[side] = ae_median(values, n);
    }
    return 0;
}

static json_t *side_json(const struct side sides[2], int mine)
{
    json_t *array = json_array();
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        if (sides[mine].findings.presence[id] == AE_PRESENT && sides[!mine].findings.presence[id] != AE_PRESENT)
            json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "id", ae_strategies[id].id, "name", ae_strategies[id].name,
                                                   "other", ae_presence_name(sides[!mine].findings.presence[id])));
    return array;
}

static void print_side(const struct side sides[2], int mine)
{
    ae_autofree char *name = ae_cli_printable_line(sides[mine].path);
    bool any = false;
    printf("only in %s\n", name ? name : "");
    for (size_t i = 0; i < sides[mine].findings.count; i++) {
        const struct ae_finding *x = &sides[mine].findings.items[i];
        const enum ae_presence other = sides[!mine].findings.presence[x->strategy];
        if (x->presence != AE_PRESENT || other == AE_PRESENT)
            continue;
        any = true;
        printf("  %s  %s%s\n        ", ae_strategies[x->strategy].id, ae_strategies[x->strategy].name,
               other == AE_UNKNOWN ? " (cannot be decided of the other)" : "");
        if (x->line_count > 0)
            printf("line %d: ", x->lines[0].first);
        printf("%s\n", x->sentence);
    }
    if (!any)
        printf("  nothing\n");
}

static void print_diff(const struct side sides[2], const struct pairing *p)
{
    print_side(sides, 0);
    print_side(sides, 1);
    printf("in both:");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        if (sides[0].findings.presence[id] == AE_PRESENT && sides[1].findings.presence[id] == AE_PRESENT)
            printf(" %s", ae_strategies[id].id);
    printf("\n");
    bool compared = false;
    for (int k = 0; k < p->count; k++) {
        const struct measured *m = &p->items[k];
        ae_autofree char *name = ae_cli_printable_line(m->name);
        if (m->ns[0] <= 0 || m->ns[1] <= 0)
            continue;
        compared = true;
        printf("%s, %s, %s: %.3f ms and %.3f ms: the second is %.2f times as fast\n", m->task, ae_size_name(m->size),
               name ? name : "", m->ns[0] * 1e-6, m->ns[1] * 1e-6, m->ns[0] / m->ns[1]);
    }
    if (!compared)
        printf("%s among the results: 'acceleval eval' measures them\n",
               p->count == 0 ? "neither is" : "they are not both, of one machine and size,");
}

static json_t *diff_json(const struct side sides[2], const struct pairing *p)
{
    json_t *measured = json_array();
    for (int k = 0; k < p->count; k++)
        json_array_append_new(measured, json_pack("{s:s, s:s, s:s, s:o, s:o}", "task", p->items[k].task, "size",
                                                  ae_size_name(p->items[k].size), "environment", p->items[k].environment, "a_ns",
                                                  p->items[k].ns[0] > 0 ? json_real(p->items[k].ns[0]) : json_null(), "b_ns",
                                                  p->items[k].ns[1] > 0 ? json_real(p->items[k].ns[1]) : json_null()));
    return json_pack("{s:i, s:s, s:o, s:o, s:o}", "schema", 1, "tool_version", AE_VERSION, "only_a", side_json(sides, 0), "only_b", side_json(sides, 1),
                     "measured", measured);
}

int ae_strategies_diff(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    struct ae_finder *finder = NULL;
    struct ae_store *store = NULL;
    struct ae_bytes reference = {0};
    struct side sides[2] = {0};
    struct pairing pairing = {.sides = sides};
    char tasks[4096], path[4400];
    const struct ae_task *task = values->tasks.count ? values->tasks.items[0] : ae_strategies_task_of(operands->items[1]);
    int rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK && task) {
        snprintf(path, sizeof path, "%s/%s/reference.c", tasks, task->id);
        (void)ae_file_read(path, AE_STRATEGY_SOURCE_MAX, &reference, &(struct ae_error){0});
    }
    if (rc == AE_OK)
        rc = ae_finder_new(&finder, &err);
    for (int side = 0; rc == AE_OK && side < 2; side++)
        rc = read_side(&sides[side], operands->items[side], finder, (const char *)reference.data, reference.size, &err);
    /* No results yet is no error. */
    const struct ae_measurement_filter filter = {.trials = 1u << AE_TRIAL_TIMED};
    if (rc == AE_OK && ae_store_open(&store, NULL, AE_STORE_READ, &(struct ae_error){0}) == AE_OK)
        rc = ae_store_measurements(store, &filter, pair_up, &pairing, &err);
    if (rc == AE_OK && values->format == AE_STRATEGIES_JSON)
        ae_cli_print_json(diff_json(sides, &pairing));
    else if (rc == AE_OK)
        print_diff(sides, &pairing);
    for (int side = 0; side < 2; side++) {
        ae_findings_release(&sides[side].findings);
        ae_bytes_release(&sides[side].source);
    }
    ae_bytes_release(&reference);
    ae_store_close(store);
    ae_finder_free(finder);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
