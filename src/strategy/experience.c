#include "strategy/experience.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX ((size_t)4 << 20)
#define BUNDLE_USERS 3

struct reading {
    struct ae_experiences *to;
    struct ae_error *err;
};

static int number_of(const struct ae_task *task)
{
    int i = 0;
    while (i < ae_task_count && ae_tasks[i] != task)
        i++;
    return i;
}

static int place_of(struct ae_experiences *to, const struct ae_stored *stored)
{
    const char *environment = stored->environment ? stored->environment : "";
    for (size_t i = 0; i < to->place_count; i++)
        if (strcmp(to->places[i].environment, environment) == 0)
            return (int)i;
    struct ae_place *more = realloc(to->places, (to->place_count + 1) * sizeof *more);
    if (!more)
        return -1;
    to->places = more;
    struct ae_place *place = &to->places[to->place_count];
    snprintf(place->environment, sizeof place->environment, "%s", environment);
    snprintf(place->name, sizeof place->name, "%s", stored->environment_name ? stored->environment_name : "");
    return (int)to->place_count++;
}

static int take(void *data, const struct ae_stored *stored)
{
    struct reading *r = data;
    struct ae_experiences *to = r->to;
    const struct ae_measurement *m = &stored->measurement;
    if (m->verdict != AE_PASS || !m->task || stored->task_version != m->task->version)
        return AE_OK;
    double *values = malloc(((size_t)m->trial_count + 1) * sizeof *values);
    struct ae_experience *more = realloc(to->items, (to->count + 1) * sizeof *more);
    size_t n = 0;
    if (more)
        to->items = more;
    const int place = place_of(to, stored);
    if (!values || !more || place < 0) {
        free(values);
        return ae_error_set(r->err, AE_E_NOMEM, "no memory for %zu programs", to->count);
    }
    for (int i = 0; i < m->trial_count; i++)
        if (ae_trial_counts(&m->trials[i]))
            values[n++] = (double)m->trials[i].call_ns;
    if (n > 0) {
        ae_sort(values, n);
        struct ae_experience e = {.id = stored->id,
                                  .task = m->task,
                                  .task_number = number_of(m->task),
                                  .size = m->size,
                                  .place = place,
                                  .sample = m->sample,
                                  .median_ns = ae_median(values, n)};
        snprintf(e.entrant, sizeof e.entrant, "%s", m->entrant);
        snprintf(e.submission, sizeof e.submission, "%s", m->submission);
        size_t at = 0; /* the newest of the same bytes stands for them, whatever entrant they were */
        while (at < to->count && (to->items[at].place != place || to->items[at].size != e.size ||
                                  to->items[at].task != e.task || strcmp(to->items[at].submission, e.submission) != 0))
            at++;
        if (at == to->count || to->items[at].id < e.id)
            to->items[at] = e;
        to->count += at == to->count;
    }
    free(values);
    return AE_OK;
}

static int in_order(const void *a, const void *b)
{
    const struct ae_experience *x = a, *y = b;
    if (x->place != y->place)
        return x->place - y->place;
    if (x->size != y->size)
        return (int)x->size - (int)y->size;
    if (x->task_number != y->task_number)
        return x->task_number - y->task_number;
    return x->median_ns < y->median_ns ? -1 : x->median_ns > y->median_ns ? 1 : strcmp(x->submission, y->submission);
}

static int look(struct ae_store *store, struct ae_finder *finder, const char *tasks, struct ae_experience *e,
                struct ae_error *err)
{
    char path[4400];
    struct ae_submission submission = {0};
    struct ae_bytes reference = {0};
    struct ae_findings findings = {0};
    snprintf(path, sizeof path, "%s/%s/reference.c", tasks, e->task->id);
    int rc = ae_store_submission_get(store, e->submission, &submission, err);
    if (rc == AE_OK) {
        const bool have = ae_file_read(path, SOURCE_MAX, &reference, &(struct ae_error){0}) == AE_OK;
        const struct ae_strategy_input input = {.source = submission.source,
                                                .source_size = submission.size,
                                                .reference = have ? (const char *)reference.data : NULL,
                                                .reference_size = have ? reference.size : 0};
        rc = ae_strategy_find(finder, &input, &findings, err);
    }
    for (int id = 0; rc == AE_OK && id < AE_STRATEGY_COUNT; id++) {
        e->has |= (uint64_t)(findings.presence[id] == AE_PRESENT) << id;
        e->known |= (uint64_t)(findings.presence[id] != AE_UNKNOWN) << id;
    }
    if (rc == AE_E_INPUT) /* too long to be looked at: nothing is known of it */
        rc = AE_OK;
    ae_findings_release(&findings);
    ae_bytes_release(&reference);
    ae_submission_release(&submission);
    return rc;
}

int ae_experiences_read(struct ae_store *store, struct ae_finder *finder, const char *tasks,
                        const struct ae_measurement_filter *filter, struct ae_experiences *ret, struct ae_error *err)
{
    struct reading reading = {ret, err};
    struct ae_measurement_filter wanted = *filter;
    *ret = (struct ae_experiences){0};
    wanted.trials = 1u << AE_TRIAL_TIMED;
    wanted.by_target = true;
    wanted.target = AE_CUDA;
    int rc = ae_store_measurements(store, &wanted, take, &reading, err);
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, in_order);
    for (size_t i = 0; rc == AE_OK && i < ret->count; i++) {
        size_t seen = 0; /* the same bytes at another size */
        while (seen < i && (ret->items[seen].task != ret->items[i].task ||
                            strcmp(ret->items[seen].submission, ret->items[i].submission) != 0))
            seen++;
        if (seen < i) {
            ret->items[i].has = ret->items[seen].has;
            ret->items[i].known = ret->items[seen].known;
        } else {
            rc = look(store, finder, tasks, &ret->items[i], err);
        }
    }
    if (rc == AE_OK && ret->count == 0)
        rc = ae_error_set(err, AE_E_NOTFOUND, "no CUDA program that passed is among the results: evaluate some, or "
                                              "'acceleval import' an archive of results");
    if (rc != AE_OK)
        ae_experiences_release(ret);
    return rc;
}

void ae_experiences_release(struct ae_experiences *experiences)
{
    free(experiences->items);
    free(experiences->places);
    *experiences = (struct ae_experiences){0};
}

int ae_experiences_rows(const struct ae_experiences *experiences, int place, enum ae_size size,
                        struct ae_traited **ret_rows, size_t *ret_count, struct ae_error *err)
{
    struct ae_traited *rows = malloc((experiences->count + 1) * sizeof *rows);
    *ret_count = 0;
    *ret_rows = rows;
    if (!rows)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu programs", experiences->count);
    for (size_t i = 0; i < experiences->count; i++) {
        const struct ae_experience *e = &experiences->items[i];
        if (e->place == place && e->size == size)
            rows[(*ret_count)++] = (struct ae_traited){e->task_number, -log(e->median_ns), e->has, e->known};
    }
    return AE_OK;
}

int ae_bundles(const struct ae_traited *rows, size_t count, int ret_bundle[AE_STRATEGY_COUNT])
{
    int root[AE_STRATEGY_COUNT], bundles = 0;
    size_t users[AE_STRATEGY_COUNT] = {0};
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        root[id] = id;
        ret_bundle[id] = -1;
        for (size_t i = 0; i < count; i++)
            users[id] += rows[i].known >> id & rows[i].has >> id & 1;
    }
    for (int a = 0; a < AE_STRATEGY_COUNT; a++)
        for (int b = a + 1; b < AE_STRATEGY_COUNT; b++)
            if (users[a] >= BUNDLE_USERS && users[b] >= BUNDLE_USERS && ae_jaccard(rows, count, a, b) >= AE_BUNDLE) {
                const int from = root[b], to = root[a];
                for (int id = 0; id < AE_STRATEGY_COUNT; id++)
                    root[id] = root[id] == from ? to : root[id];
            }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        int members = 0, first = -1;
        for (int other = AE_STRATEGY_COUNT - 1; other >= 0; other--)
            if (root[other] == root[id]) {
                members++;
                first = other;
            }
        if (members > 1)
            ret_bundle[id] = first == id ? bundles++ : ret_bundle[first];
    }
    return bundles;
}
