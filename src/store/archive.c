#include "store/archive.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "store/archive_reading.h"
#include "store/archive_text.h"
#include "store/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define DUMP (JSON_COMPACT | JSON_REAL_PRECISION(17))

/* --- writing ----------------------------------------------------------------------------------------------- */

struct chosen { /* a run to write */
    int64_t id;
    char environment[65];
    json_t *json;
};

struct writer {
    struct ae_store *store;
    FILE *out;
    struct ae_error *err;
    char chain[AE_SHA256_HEX]; /* digest of the chain so far */
    size_t lines;
    struct ae_archive_counts counts;
    struct chosen *chosen;
    size_t chosen_count, chosen_room;
    const int64_t *wanted;
    size_t wanted_count;
    void *environments, *submissions; /* tsearch() sets of ids that are written */
    int64_t run;
};

static int no_memory(struct ae_error *err)
{
    return ae_error_set(err, AE_E_NOMEM, "no memory for the archive");
}

/* Takes the reference. */
static int put_line(struct writer *w, json_t *line)
{
    char *text = line ? json_dumps(line, DUMP) : NULL;
    json_decref(line);
    if (!text)
        return no_memory(w->err);
    int r = ae_archive_chain(w->chain, text, strlen(text), w->err);
    if (r == AE_OK && (fputs(text, w->out) == EOF || fputc('\n', w->out) == EOF))
        r = ae_error_errno(w->err, AE_E_IO, errno, "cannot write the archive");
    w->lines++;
    free(text);
    return r;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* 1: the id is new in the set, 0: it was there, negative: no memory. */
static int add_to_set(struct writer *w, void **set, const char *id)
{
    if (tfind(id, set, compare_ids))
        return 0;
    char *copy = strdup(id);
    if (!copy || !tsearch(copy, set, compare_ids)) {
        free(copy);
        return no_memory(w->err);
    }
    return 1;
}

static int put_environment(struct writer *w, const char *id)
{
    struct ae_environment environment;
    int r = add_to_set(w, &w->environments, id);
    if (r <= 0)
        return r;
    if ((r = ae_store_environment_get(w->store, id, &environment, w->err)) != AE_OK)
        return r;
    r = put_line(w, json_pack("{s:{s:o, s:o, s:o}}", "environment", "id", ae_json_text(environment.id), "name",
                              ae_json_text(environment.name), "json", ae_json_text(environment.json)));
    ae_environment_release(&environment);
    w->counts.environments++;
    return r;
}

static int put_submission(struct writer *w, const char *sha256)
{
    struct ae_submission submission;
    int r = add_to_set(w, &w->submissions, sha256);
    if (r <= 0)
        return r;
    if ((r = ae_store_submission_get(w->store, sha256, &submission, w->err)) != AE_OK)
        return r;
    json_t *line = json_pack("{s:o, s:o, s:I}", "sha256", ae_json_text(submission.sha256), "language",
                             ae_json_text(submission.language), "first_seen_ns", (json_int_t)submission.first_seen_ns);
    json_t *source = json_stringn(submission.source, submission.size); /* NULL: no UTF-8 */
    if (source) {
        (void)json_object_set_new(line, "source", source);
    } else {
        char *base64 = ae_base64_encode(submission.source, submission.size);
        (void)json_object_set_new(line, "source_base64", base64 ? json_string(base64) : NULL);
        free(base64);
    }
    ae_submission_release(&submission);
    size_t readings = 0;
    if ((r = ae_archive_readings_put(w->store, sha256, line, &readings, w->err)) != AE_OK) {
        json_decref(line);
        return r;
    }
    w->counts.submissions++;
    w->counts.readings += readings;
    return put_line(w, json_pack("{s:o}", "submission", line));
}

static json_t *trial_of(const struct ae_trial *t)
{
    return json_pack("[s, i, i, i, s, s, I, I, I, I, i, i, i, o]", ae_trial_kind_name(t->kind), t->group, t->family,
                     t->instance, ae_verdict_name(t->verdict), t->violation ? ae_violation_name(t->violation) : "",
                     (json_int_t)t->call_ns, (json_int_t)t->return_ns, (json_int_t)t->reference_ns,
                     (json_int_t)t->cpu_ns, t->sm_mhz, t->temperature_c, t->disturbed,
                     isfinite(t->max_share) ? json_real(t->max_share) : json_null());
}

/* NULL: no memory. */
static json_t *work_of(const struct ae_measurement *m)
{
    return json_pack("[f, f, f, f, I]", m->work.bytes_in, m->work.bytes_out, m->work.operations, m->work.steps,
                     (json_int_t)m->floor_ns);
}

/* NULL: no memory. */
static json_t *explanation_of(const struct ae_explanation *e)
{
    json_t *phases = json_array(), *reasons = json_array();
    for (int i = 0; i < AE_PHASE_COUNT; i++)
        if (e->phases[i].own_ns || e->phases[i].busy_ns || e->floors[i])
            (void)json_array_append_new(phases, json_pack("[s, I, I, I]", ae_phase_name((enum ae_phase)i),
                                                          (json_int_t)e->phases[i].own_ns,
                                                          (json_int_t)e->phases[i].busy_ns, (json_int_t)e->floors[i]));
    for (int i = 0; i < e->reason_count; i++)
        (void)json_array_append_new(reasons, json_pack("[o, o, f, I]", ae_json_text(e->reasons[i].rule),
                                                       ae_json_text(e->reasons[i].text), e->reasons[i].share,
                                                       (json_int_t)e->reasons[i].gain_ns));
    return json_pack("{s:I, s:I, s:I, s:i, s:I, s:o, s:o, s:o}", "call_ns", (json_int_t)e->call_ns, "timed_ns",
                     (json_int_t)e->timed_ns, "floor_ns", (json_int_t)e->floor_ns, "calls", e->calls, "dropped",
                     (json_int_t)e->dropped, "note", ae_json_text(e->note), "phases", phases, "reasons", reasons);
}

static int put_measurement(void *data, const struct ae_stored *stored)
{
    struct writer *w = data;
    const struct ae_measurement *m = &stored->measurement;
    int r = put_submission(w, m->submission);
    if (r != AE_OK)
        return r;
    json_t *trials = json_array();
    for (int i = 0; i < m->trial_count; i++)
        if (json_array_append_new(trials, trial_of(&m->trials[i])) != 0) {
            json_decref(trials);
            return no_memory(w->err);
        }
    json_t *line =
        json_pack("{s:I, s:o, s:o, s:i, s:o, s:i, s:s, s:s, s:o, s:o}", "run", (json_int_t)w->run, "submission",
                  ae_json_text(m->submission), "entrant", ae_json_text(m->entrant), "sample", m->sample, "task",
                  ae_json_text(stored->task), "task_version", stored->task_version, "size", ae_size_name(m->size),
                  "target", ae_target_name(m->target), "options_key", ae_json_text(stored->options_key), "source_path",
                  ae_json_text(ae_text_path_tail(m->source_path)));
    json_t *rest =
        json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:i, s:b, s:o, s:o}", "verdict",
                  ae_verdict_name(m->verdict), "violation", m->violation ? ae_violation_name(m->violation) : "",
                  "detail", ae_json_text(m->detail), "log", m->log ? ae_json_text(m->log) : json_null(), "compile_ns",
                  (json_int_t)m->compile_ns, "started_ns", (json_int_t)m->started_ns, "wall_ns", (json_int_t)m->wall_ns,
                  "notes", (json_int_t)m->notes, "sandbox", (json_int_t)m->sandbox, "cores", m->cores, "seeded",
                  m->seeded, "device_uuid", ae_json_text(m->device_uuid), "trials", trials);
    if (!line || !rest || json_object_update(line, rest) != 0) {
        json_decref(line);
        json_decref(rest);
        return no_memory(w->err);
    }
    json_decref(rest);
    if ((*m->baseline_place && json_object_set_new(line, "baseline_place", ae_json_text(m->baseline_place)) != 0) ||
        (m->work.bytes_in > 0 && json_object_set_new(line, "work", work_of(m)) != 0) ||
        (stored->explanation && json_object_set_new(line, "explanation", explanation_of(stored->explanation)) != 0)) {
        json_decref(line);
        return no_memory(w->err);
    }
    w->counts.measurements++;
    return put_line(w, json_pack("{s:o}", "measurement", line));
}

static int choose(void *data, const struct ae_run *run)
{
    struct writer *w = data;
    bool wanted = w->wanted_count == 0;
    for (size_t i = 0; i < w->wanted_count; i++)
        wanted |= w->wanted[i] == run->id;
    if (!wanted)
        return AE_OK;
    if (w->chosen_count == w->chosen_room) {
        const size_t room = w->chosen_room ? 2 * w->chosen_room : 16;
        struct chosen *more = realloc(w->chosen, room * sizeof *more);
        if (!more)
            return no_memory(w->err);
        w->chosen = more;
        w->chosen_room = room;
    }
    struct chosen *c = &w->chosen[w->chosen_count++];
    *c = (struct chosen){.id = run->id};
    snprintf(c->environment, sizeof c->environment, "%s", run->environment);
    c->json = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:b}", "number", (json_int_t)run->id, "started_ns",
                        (json_int_t)run->started_ns, "finished_ns", (json_int_t)run->finished_ns, "command",
                        ae_json_text(run->command), "options", ae_json_text(run->options), "version",
                        ae_json_text(run->version), "environment", ae_json_text(run->environment), "bank",
                        ae_json_text(run->bank), "seeded", (int)run->seeded);
    return c->json ? AE_OK : no_memory(w->err);
}

static int put_runs(struct writer *w)
{
    int r = AE_OK;
    for (size_t i = w->chosen_count; r == AE_OK && i-- > 0;) { /* the store lists the newest first */
        struct chosen *c = &w->chosen[i];
        const struct ae_measurement_filter filter = {.run = c->id, .trials = AE_TRIALS_ALL, .with_log = true, .explained = true};
        w->run = c->id;
        r = put_environment(w, c->environment);
        if (r == AE_OK) {
            r = put_line(w, json_pack("{s:O}", "run", c->json));
            w->counts.runs++;
        }
        if (r == AE_OK)
            r = ae_store_measurements(w->store, &filter, put_measurement, w, w->err);
    }
    return r;
}

static int find_reading(void *data, const struct ae_stored_reading *reading)
{
    *(bool *)data |= ae_archive_reading_travels(reading);
    return AE_OK;
}

/* Programs need no run to be read. */
static int put_read_submission(void *data, const struct ae_stored_reading *reading)
{
    return ae_archive_reading_travels(reading) ? put_submission(data, reading->submission) : AE_OK;
}

int ae_archive_write(struct ae_store *store, const int64_t *runs, size_t count, const char *tool_version, FILE *out,
                     struct ae_archive_counts *ret, struct ae_error *err)
{
    struct writer w = {.store = store, .out = out, .err = err, .wanted = runs, .wanted_count = count};
    bool outermost;
    int r = ae_store_view_begin(store, &outermost, "write the archive", err);
    if (r != AE_OK)
        return r;
    errno = 0;
    r = ae_store_runs(store, choose, &w, err);
    for (size_t i = 0; r == AE_OK && i < count; i++) {
        bool there = false;
        for (size_t k = 0; k < w.chosen_count; k++)
            there |= w.chosen[k].id == runs[i];
        if (!there)
            r = ae_error_set(err, AE_E_NOTFOUND, "there is no run %" PRId64 " in %s", runs[i],
                             ae_store_path(store));
    }
    const struct ae_reading_filter all = {0};
    bool there = w.chosen_count > 0;
    if (r == AE_OK && !there)
        r = ae_store_readings(store, &all, find_reading, &there, err);
    if (r == AE_OK && !there)
        r = ae_error_set(err, AE_E_NOTFOUND, "there are no runs in %s", ae_store_path(store));
    if (r == AE_OK)
        r = put_line(&w, json_pack("{s:s, s:s}", "schema", AE_ARCHIVE_SCHEMA, "tool_version", tool_version));
    if (r == AE_OK)
        r = put_runs(&w);
    if (r == AE_OK && count == 0)
        r = ae_store_readings(store, &all, put_read_submission, &w, err);
    if (r == AE_OK) {
        const size_t lines = w.lines;
        char chain[AE_SHA256_HEX];
        memcpy(chain, w.chain, sizeof chain);
        r = put_line(&w, json_pack("{s:{s:I, s:s}}", "end", "lines", (json_int_t)lines, "chain", chain));
    }
    if (r == AE_OK && (fflush(out) != 0 || ferror(out)))
        r = ae_error_errno(err, AE_E_IO, errno, "cannot write the archive");
    ae_store_view_end(store, outermost);
    for (size_t i = 0; i < w.chosen_count; i++)
        json_decref(w.chosen[i].json);
    free(w.chosen);
    tdestroy(w.environments, free);
    tdestroy(w.submissions, free);
    if (r == AE_OK && ret)
        *ret = w.counts;
    return r;
}
