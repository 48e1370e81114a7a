#include "report/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ae_collection_release(struct ae_collection *c)
{
    ae_words_release(&c->environments);
    ae_words_release(&c->environment_names);
    ae_words_release(&c->tasks);
    ae_words_release(&c->entrants);
    ae_words_release(&c->banks);
    ae_words_release(&c->places);
    free(c->domains);
    free(c->names);
    free(c->entries);
    ae_arena_release(&c->arena);
    *c = (struct ae_collection){0};
}

const char *ae_entry_task(const struct ae_collection *collection, const struct ae_entry *entry)
{
    return collection->tasks.words[entry->task];
}

const char *ae_entry_entrant(const struct ae_collection *collection, const struct ae_entry *entry)
{
    return collection->entrants.words[entry->entrant];
}

const char *ae_entry_outcome(const struct ae_entry *entry)
{
    return entry->verdict == AE_VIOLATION ? ae_violation_name(entry->violation) : ae_verdict_name(entry->verdict);
}

bool ae_entry_excused(const struct ae_entry *entry)
{
    return entry->verdict == AE_NOT_RUN || entry->verdict == AE_HOST_ERROR;
}

/* --- from the store --------------------------------------------------------------------------------------- */

/* Remembers `value` for the number that a word has just got. */
static bool remember(int **array, int *room, int number, int value)
{
    if (number >= *room) {
        const int more = number >= 2 * *room ? number + 16 : 2 * *room;
        int *grown = realloc(*array, (size_t)more * sizeof *grown);
        if (!grown)
            return false;
        *array = grown;
        *room = more;
    }
    (*array)[number] = value;
    return true;
}

static bool add_words(struct ae_collection *c, const struct ae_stored *stored, struct ae_entry *e)
{
    const struct ae_task *task = stored->measurement.task;
    const int environments = c->environments.count, tasks = c->tasks.count;
    e->environment = ae_words_add(&c->environments, &c->arena, stored->environment);
    e->task = ae_words_add(&c->tasks, &c->arena, stored->task);
    e->entrant = ae_words_add(&c->entrants, &c->arena, stored->measurement.entrant);
    e->bank = ae_words_add(&c->banks, &c->arena, stored->bank);
    e->place = -1;
    if (stored->measurement.baseline_place[0] &&
        (e->place = ae_words_add(&c->places, &c->arena, stored->measurement.baseline_place)) < 0)
        return false;
    if (e->environment < 0 || e->task < 0 || e->entrant < 0 || e->bank < 0)
        return false;
    if (e->environment == environments) {
        const int name = ae_words_add(&c->environment_names, &c->arena, stored->environment_name);
        if (name < 0 || !remember(&c->names, &c->name_room, e->environment, name))
            return false;
    }
    return e->task != tasks ||
           remember(&c->domains, &c->domain_room, e->task, task ? (int)task->domain : (int)AE_DOMAIN_COUNT);
}

size_t ae_measurement_timings(const struct ae_measurement *m, struct ae_timing ret[AE_TIMINGS_MAX])
{
    size_t count = 0;
    if (m->verdict != AE_PASS) /* the times of a wrong program are nobody's business */
        return 0;
    for (int i = 0; i < m->trial_count && count < AE_TIMINGS_MAX; i++) {
        const struct ae_trial *t = &m->trials[i];
        if (ae_trial_counts(t))
            ret[count++] = (struct ae_timing){t->instance, t->reference_ns > 0 ? (double)t->reference_ns : 0,
                                              (double)t->call_ns};
    }
    return count;
}

static bool add_trials(struct ae_collection *c, const struct ae_measurement *m, struct ae_entry *e)
{
    double fresh[AE_TIMINGS_MAX];
    size_t fresh_count = 0;
    struct ae_timing timings[AE_TIMINGS_MAX];
    for (int i = 0; i < m->trial_count; i++) {
        const struct ae_trial *t = &m->trials[i];
        e->disturbed += t->disturbed != 0;
        if (t->verdict != AE_PASS || t->call_ns <= 0)
            continue;
        if (t->kind == AE_TRIAL_FRESH && fresh_count < AE_TIMINGS_MAX)
            fresh[fresh_count++] = (double)t->call_ns;
    }
    e->timing_count = (int)ae_measurement_timings(m, timings);
    if (m->verdict == AE_PASS && fresh_count > 0) {
        ae_sort(fresh, fresh_count);
        e->fresh_ns = ae_median(fresh, fresh_count);
    }
    ae_speedup(timings, (size_t)e->timing_count, &e->speed);
    if (e->timing_count == 0)
        return true;
    const size_t bytes = (size_t)e->timing_count * sizeof *timings;
    e->timings = ae_arena_alloc(&c->arena, bytes);
    if (e->timings)
        memcpy(e->timings, timings, bytes);
    return e->timings != NULL;
}

static int collect_one(void *data, const struct ae_stored *stored)
{
    struct ae_collection *c = data;
    const struct ae_measurement *m = &stored->measurement;
    if (c->count == c->room) {
        const size_t room = c->room ? 2 * c->room : 256;
        struct ae_entry *more = realloc(c->entries, room * sizeof *more);
        if (!more)
            return AE_E_NOMEM;
        c->entries = more;
        c->room = room;
    }
    struct ae_entry e = {.id = stored->id,
                         .run = stored->run,
                         .started_ns = m->started_ns,
                         .size = m->size,
                         .target = m->target,
                         .sample = m->sample,
                         .task_version = stored->task_version,
                         .seeded = m->seeded != 0,
                         .hidden = c->hiding,
                         .verdict = m->verdict,
                         .violation = m->violation,
                         .notes = m->notes,
                         .cores = m->cores,
                         .sandbox = m->sandbox,
                         .work = m->work,
                         .floor_ns = m->floor_ns > 0 ? (double)m->floor_ns : (double)NAN,
                         .fresh_ns = NAN,
                         .detail = m->detail[0] ? ae_arena_text(&c->arena, m->detail) : "",
                         .submission = ae_arena_text(&c->arena, m->submission)};
    if (!e.detail || !e.submission || !add_words(c, stored, &e) || !add_trials(c, m, &e))
        return AE_E_NOMEM;
    c->entries[c->count++] = e;
    return AE_OK;
}

int ae_collect(struct ae_collection *collection, struct ae_store *store, const struct ae_measurement_filter *filter,
               struct ae_error *err)
{
    struct ae_measurement_filter wanted = *filter;
    wanted.trials = 1u << AE_TRIAL_TIMED | 1u << AE_TRIAL_FRESH;
    wanted.with_log = false;
    const int r = ae_store_measurements(store, &wanted, collect_one, collection, err);
    return r == AE_E_NOMEM
               ? ae_error_set(err, r, "no memory for %zu measurements; ask for fewer", collection->count)
               : r;
}

static bool same_board(const struct ae_entry *a, const struct ae_entry *b)
{
    return a->environment == b->environment && a->size == b->size;
}

static int in_order(const void *a, const void *b, void *words)
{
    const struct ae_entry *x = a, *y = b;
    const struct ae_collection *c = words;
    int order = x->environment - y->environment;
    if (order == 0)
        order = (int)x->size - (int)y->size;
    if (order == 0 && x->task != y->task)
        order = strcmp(c->tasks.words[x->task], c->tasks.words[y->task]);
    if (order == 0 && x->entrant != y->entrant)
        order = strcmp(c->entrants.words[x->entrant], c->entrants.words[y->entrant]);
    if (order == 0)
        order = x->hidden - y->hidden;
    if (order == 0)
        order = (int)x->target - (int)y->target;
    if (order == 0)
        order = x->seeded - y->seeded;
    if (order == 0)
        order = (x->sample > y->sample) - (x->sample < y->sample);
    return order ? order : (x->id < y->id) - (x->id > y->id);
}

bool ae_entry_is_step(const struct ae_collection *c, const struct ae_entry *e)
{
    return strncmp(c->entrants.words[e->entrant], "step-", 5) == 0;
}

void ae_collection_hide_steps(struct ae_collection *c)
{
    bool others = false;
    for (size_t i = 0; i < c->count && !others; i++)
        others = !ae_entry_is_step(c, &c->entries[i]);
    for (size_t i = 0; i < c->count && others; i++)
        c->entries[i].hidden |= ae_entry_is_step(c, &c->entries[i]);
}

void ae_collection_finish(struct ae_collection *c)
{
    if (c->count > 1)
        qsort_r(c->entries, c->count, sizeof *c->entries, in_order, c);
    for (size_t i = 0; i < c->count;) { /* runs of one task on one board */
        size_t end = i;
        int newest = c->entries[i].task_version;
        for (; end < c->count && same_board(&c->entries[i], &c->entries[end]) &&
               c->entries[i].task == c->entries[end].task;
             end++)
            newest = c->entries[end].task_version > newest ? c->entries[end].task_version : newest;
        for (; i < end; i++)
            c->entries[i].stale = c->entries[i].task_version < newest;
    }
}

/* --- phases ----------------------------------------------------------------------------------------------- */

#define ENOUGH 1 /* ends the walk */

struct explaining {
    struct ae_collection *collection;
    struct ae_entry **entries; /* by number */
    size_t most;
};

static int explain_one(void *data, size_t number, const struct ae_explanation *explanation)
{
    struct explaining *x = data;
    struct ae_collection *c = x->collection;
    struct ae_entry_phases *p = ae_arena_alloc(&c->arena, sizeof *p);
    if (!p)
        return AE_E_NOMEM;
    *p = (struct ae_entry_phases){explanation->call_ns, explanation->timed_ns, explanation->floor_ns, {0}, ""};
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        p->own_ns[phase] = explanation->phases[phase].own_ns;
    if (explanation->reason_count > 0 && !(p->reason = ae_arena_text(&c->arena, explanation->reasons[0].text)))
        return AE_E_NOMEM;
    x->entries[number]->phases = p;
    return ++c->explained > x->most && x->most > 0 ? ENOUGH : AE_OK;
}

int ae_collection_explain(struct ae_collection *c, struct ae_store *store, size_t most, struct ae_error *err)
{
    struct explaining x = {c, malloc((c->count + 1) * sizeof *x.entries), most};
    int64_t *ids = malloc((c->count + 1) * sizeof *ids);
    size_t count = 0;
    for (size_t i = 0; x.entries && ids && i < c->count; i++)
        if (!c->entries[i].hidden) {
            ids[count] = c->entries[i].id;
            x.entries[count++] = &c->entries[i];
        }
    int r = x.entries && ids ? ae_store_explanations(store, ids, count, explain_one, &x, err) : AE_E_NOMEM;
    free(x.entries);
    free(ids);
    if (r == AE_E_NOMEM)
        return ae_error_set(err, r, "no memory for the phases of %zu measurements; ask for fewer", c->count);
    return r == ENOUGH ? AE_OK : r;
}

/* --- speedups --------------------------------------------------------------------------------------------- */

/* The entry's timings with the base's geometric mean on the same instance in place of the reference's. */
static size_t pair(const struct ae_entry *entry, const struct ae_entry *base, struct ae_timing ret[AE_TIMINGS_MAX])
{
    size_t count = 0;
    if (entry->bank != base->bank || entry->seeded != base->seeded || entry->task_version != base->task_version)
        return 0;
    for (int i = 0; i < entry->timing_count; i++) {
        double sum = 0;
        int n = 0;
        for (int k = 0; k < base->timing_count; k++)
            if (base->timings[k].instance == entry->timings[i].instance) {
                sum += log(base->timings[k].call_ns);
                n++;
            }
        if (n == 0)
            continue;
        ret[count] = entry->timings[i];
        ret[count++].reference_ns = exp(sum / n);
    }
    return count;
}

size_t ae_entry_strata(const struct ae_entry *entry, const struct ae_entry *base, double weight, double *values,
                       struct ae_stratum *strata, size_t *ret_pairs)
{
    struct ae_timing paired[AE_TIMINGS_MAX];
    if (ret_pairs)
        *ret_pairs = 0;
    if (!base)
        return ae_speedup_strata(entry->timings, (size_t)entry->timing_count, weight, values, strata);
    const size_t count = pair(entry, base, paired);
    if (count > 0) {
        if (ret_pairs)
            *ret_pairs = count;
        return ae_speedup_strata(paired, count, weight, values, strata);
    }
    const size_t own = ae_speedup_strata(entry->timings, (size_t)entry->timing_count, weight, values, strata);
    const size_t others = ae_speedup_strata(base->timings, (size_t)base->timing_count, -weight,
                                            values + AE_TIMINGS_MAX, strata + own);
    return own && others ? own + others : 0;
}

double ae_entry_speedup(const struct ae_entry *entry, const struct ae_entry *base)
{
    if (!base)
        return entry->speed.s;
    if (entry == base)
        return entry->timing_count ? 1 : (double)NAN;
    double values[2 * AE_TIMINGS_MAX];
    struct ae_stratum strata[2 * AE_TIMINGS_MAX];
    const size_t count = ae_entry_strata(entry, base, 1, values, strata, NULL);
    return count ? exp(ae_strata_mean(strata, count)) : (double)NAN;
}
