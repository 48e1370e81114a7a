#include "store/archive.h"

#include "base/base64.h"
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

#define LINE_MAX_BYTES ((size_t)256 << 20) /* the longest source with its log is far below */
#define TRIALS_MAX     100000
#define RUNS_MAX       1000000

struct numbers { /* of a run of the archive */
    int64_t theirs, ours;
};

struct known { /* what tells a run of the store from others */
    int64_t started_ns, id;
    const char *environment, *command, *bank;
    char texts[];
};

struct reader {
    struct ae_store *store;
    struct ae_error *err;
    size_t line; /* number, from 1 */
    char chain[AE_SHA256_HEX];
    bool ended;
    void *numbers; /* tsearch() set of struct numbers */
    void *known;   /* tsearch() set of struct known: the runs of the store */
    size_t run_count;
    struct ae_archive_counts counts;
};

static int bad(struct reader *r, const char *what)
{
    return ae_error_set(r->err, AE_E_INPUT, "line %zu of the archive: %s", r->line, what);
}

static bool is_hash(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* --- the kinds of lines ------------------------------------------------------------------------------------ */

static int read_environment(struct reader *r, const json_t *line)
{
    const char *id, *name, *json;
    char hash[AE_SHA256_HEX];
    if (json_unpack((json_t *)line, "{s:s, s:s, s:s}", "id", &id, "name", &name, "json", &json) != 0)
        return bad(r, "an environment lacks something");
    int rc = ae_sha256(json, strlen(json), hash, r->err);
    if (rc != AE_OK)
        return rc;
    if (strcmp(hash, id) != 0)
        return bad(r, "an environment is not what its digest says");
    struct ae_environment environment = {.json = (char *)json};
    memcpy(environment.id, hash, sizeof environment.id);
    snprintf(environment.name, sizeof environment.name, "%s", name);
    r->counts.environments++;
    return ae_store_environment_put(r->store, &environment, r->err);
}

static int read_submission(struct reader *r, const json_t *line)
{
    const char *sha256, *language;
    json_int_t first_seen;
    char hash[AE_SHA256_HEX];
    struct ae_submission submission = {0};
    char *decoded = NULL;
    if (json_unpack((json_t *)line, "{s:s, s:s, s:I}", "sha256", &sha256, "language", &language, "first_seen_ns",
                    &first_seen) != 0)
        return bad(r, "a submission lacks something");
    const json_t *text = json_object_get(line, "source"), *base64 = json_object_get(line, "source_base64");
    if (json_is_string(text)) {
        submission.source = (char *)json_string_value(text);
        submission.size = json_string_length(text);
    } else if (json_is_string(base64)) {
        submission.source = decoded = ae_base64_decode(json_string_value(base64), &submission.size);
    }
    if (!submission.source)
        return bad(r, "a submission has no source that could be read");
    int rc = ae_sha256(submission.source, submission.size, hash, r->err);
    if (rc == AE_OK && strcmp(hash, sha256) != 0)
        rc = bad(r, "a source is not what its digest says");
    if (rc == AE_OK) {
        memcpy(submission.sha256, hash, sizeof submission.sha256);
        snprintf(submission.language, sizeof submission.language, "%s", language);
        submission.first_seen_ns = first_seen;
        rc = ae_store_submission_put(r->store, &submission, r->err);
    }
    const char *complaint = NULL;
    if (rc == AE_OK)
        rc = ae_archive_readings_read(r->store, submission.sha256, line, &r->counts.readings, &complaint, r->err);
    if (rc == AE_OK && complaint)
        rc = bad(r, complaint);
    r->counts.submissions++;
    free(decoded);
    return rc;
}

/* --- runs: an archive may have a million ------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const struct numbers *x = a, *y = b;
    return (x->theirs > y->theirs) - (x->theirs < y->theirs);
}

static int64_t our_run(const struct reader *r, int64_t theirs)
{
    const struct numbers key = {.theirs = theirs};
    struct numbers *const *found = tfind(&key, &r->numbers, compare_numbers);
    return found ? (*found)->ours : 0;
}

static int compare_known(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->started_ns != y->started_ns)
        return x->started_ns > y->started_ns ? 1 : -1;
    const int environment = strcmp(x->environment, y->environment), command = strcmp(x->command, y->command);
    return environment ? environment : command ? command : strcmp(x->bank, y->bank);
}

/* Visits the runs of the store, and what is added to them. The same run twice in the store (which nothing but chance or
 * a hostile file makes): the older one takes what the archive has. */
static int know_run(void *data, const struct ae_run *run)
{
    struct reader *r = data;
    const size_t environment = strlen(run->environment) + 1, command = strlen(run->command) + 1,
                 bank = strlen(run->bank) + 1;
    struct known *known = malloc(sizeof *known + environment + command + bank);
    if (!known)
        return ae_error_set(r->err, AE_E_NOMEM, "no memory for the runs of the store");
    *known = (struct known){run->started_ns, run->id, known->texts, known->texts + environment,
                            known->texts + environment + command};
    memcpy(known->texts, run->environment, environment);
    memcpy(known->texts + environment, run->command, command);
    memcpy(known->texts + environment + command, run->bank, bank);
    struct known **there = tsearch(known, &r->known, compare_known);
    if (there && *there != known) {
        (*there)->id = run->id < (*there)->id ? run->id : (*there)->id;
        free(known);
    } else if (!there) {
        free(known);
    }
    return there ? AE_OK : ae_error_set(r->err, AE_E_NOMEM, "no memory for the runs of the store");
}

/* 0: there is none. */
static int64_t find_run(const struct reader *r, const struct ae_run *run)
{
    const struct known key = {
        .started_ns = run->started_ns, .environment = run->environment, .command = run->command, .bank = run->bank};
    struct known *const *found = tfind(&key, &r->known, compare_known);
    return found ? (*found)->id : 0;
}

static int read_run(struct reader *r, const json_t *line)
{
    json_int_t number, started, finished;
    int seeded;
    struct ae_run run = {0};
    if (json_unpack((json_t *)line, "{s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:b}", "number", &number,
                    "started_ns", &started, "finished_ns", &finished, "command", &run.command, "options",
                    &run.options, "version", &run.version, "environment", &run.environment, "bank", &run.bank,
                    "seeded", &seeded) != 0)
        return bad(r, "a run lacks something");
    if (number < 1 || our_run(r, number) != 0 || !is_hash(run.environment))
        return bad(r, "a run has an impossible number or environment");
    if (++r->run_count > RUNS_MAX)
        return bad(r, "more than a million runs");
    run.started_ns = started;
    run.finished_ns = finished;
    run.seeded = seeded != 0;
    int rc = AE_OK;
    int64_t ours = find_run(r, &run);
    if (ours == 0) {
        rc = ae_store_run_begin(r->store, &run, &ours, r->err);
        if (rc == AE_OK && finished != 0)
            rc = ae_store_run_end(r->store, ours, finished, r->err);
        run.id = ours;
        if (rc == AE_OK)
            rc = know_run(r, &run);
        r->counts.runs++;
    } else if (finished != 0) {
        rc = ae_store_run_settle(r->store, ours, finished, r->err);
    }
    if (rc == AE_E_USAGE)
        rc = bad(r, "a run comes before its environment");
    struct numbers *numbers = rc == AE_OK ? malloc(sizeof *numbers) : NULL;
    if (numbers)
        *numbers = (struct numbers){number, ours};
    if (rc == AE_OK && (!numbers || !tsearch(numbers, &r->numbers, compare_numbers))) {
        free(numbers);
        rc = ae_error_set(r->err, AE_E_NOMEM, "no memory for %zu runs", r->run_count);
    }
    return rc;
}

static bool find_outcome(const char *verdict, const char *violation, enum ae_verdict *ret_verdict,
                         enum ae_violation *ret_violation)
{
    *ret_verdict = ae_verdict_find(verdict);
    *ret_violation = *violation ? ae_violation_find(violation) : AE_NO_VIOLATION;
    return *ret_verdict != AE_VERDICT_COUNT && *ret_violation != AE_VIOLATION_COUNT;
}

static bool read_trial(const json_t *line, struct ae_trial *ret)
{
    const char *kind, *verdict, *violation;
    const json_t *share;
    json_int_t times[4];
    *ret = (struct ae_trial){0};
    if (json_unpack((json_t *)line, "[s, i, i, i, s, s, I, I, I, I, i, i, i, o!]", &kind, &ret->group, &ret->family,
                    &ret->instance, &verdict, &violation, &times[0], &times[1], &times[2], &times[3], &ret->sm_mhz,
                    &ret->temperature_c, &ret->disturbed, &share) != 0)
        return false;
    ret->kind = ae_trial_kind_find(kind);
    ret->call_ns = times[0];
    ret->return_ns = times[1];
    ret->reference_ns = times[2];
    ret->cpu_ns = times[3];
    ret->max_share = json_is_number(share) ? json_number_value(share) : (double)NAN;
    return ret->kind != AE_TRIAL_KIND_COUNT && find_outcome(verdict, violation, &ret->verdict, &ret->violation) &&
           times[0] >= 0 && times[1] >= 0 && times[2] >= 0 && times[3] >= -1;
}

static bool read_work(const json_t *line, struct ae_measurement *m)
{
    struct ae_work *w = &m->work;
    json_int_t floor;
    if (json_unpack((json_t *)line, "[F, F, F, F, I!]", &w->bytes_in, &w->bytes_out, &w->operations, &w->steps, &floor) != 0)
        return false;
    m->floor_ns = floor;
    return w->bytes_in >= 0 && w->bytes_out >= 0 && w->operations >= 0 && w->steps >= 0 && floor >= 0;
}

static bool read_phase(const json_t *line, struct ae_explanation *e)
{
    const char *name;
    json_int_t own, busy, floor;
    if (json_unpack((json_t *)line, "[s, I, I, I!]", &name, &own, &busy, &floor) != 0 || own < 0 || busy < 0 || floor < 0)
        return false;
    const enum ae_phase phase = ae_phase_find(name);
    if (phase == AE_PHASE_COUNT) /* of a later version */
        return true;
    e->phases[phase] = (struct ae_phase_time){own, busy};
    e->floors[phase] = floor;
    return true;
}

static bool read_reason(const json_t *line, struct ae_explanation *e)
{
    const char *rule, *text;
    json_int_t gain;
    struct ae_reason *reason = &e->reasons[e->reason_count];
    if (e->reason_count == AE_EXPLANATION_REASONS ||
        json_unpack((json_t *)line, "[s, s, F, I!]", &rule, &text, &reason->share, &gain) != 0 || gain < 0 ||
        !(reason->share >= 0 && reason->share <= 1))
        return false;
    snprintf(reason->rule, sizeof reason->rule, "%s", rule);
    snprintf(reason->text, sizeof reason->text, "%s", text);
    reason->gain_ns = gain;
    e->reason_count++;
    return true;
}

static bool read_explanation(const json_t *line, struct ae_explanation *ret)
{
    const char *note;
    const json_t *phases, *reasons;
    json_int_t times[4];
    *ret = (struct ae_explanation){0};
    if (json_unpack((json_t *)line, "{s:I, s:I, s:I, s:i, s:I, s:s, s:o, s:o}", "call_ns", &times[0], "timed_ns", &times[1],
                    "floor_ns", &times[2], "calls", &ret->calls, "dropped", &times[3], "note", &note, "phases", &phases,
                    "reasons", &reasons) != 0 ||
        times[0] < 0 || times[1] < 0 || times[2] < 0 || times[3] < 0 || ret->calls < 0 || !json_is_array(phases) ||
        !json_is_array(reasons))
        return false;
    ret->call_ns = times[0];
    ret->timed_ns = times[1];
    ret->floor_ns = times[2];
    ret->dropped = times[3];
    snprintf(ret->note, sizeof ret->note, "%s", note);
    bool fine = true;
    for (size_t i = 0; fine && i < json_array_size(phases); i++)
        fine = read_phase(json_array_get(phases, i), ret);
    for (size_t i = 0; fine && i < json_array_size(reasons); i++)
        fine = read_reason(json_array_get(reasons, i), ret);
    return fine;
}

static int read_measurement(struct reader *r, const json_t *line)
{
    json_int_t run, compile_ns, started_ns, wall_ns, notes, sandbox;
    const char *submission, *entrant, *task, *size, *target, *options_key, *path, *verdict, *violation, *detail,
        *uuid;
    const json_t *work = json_object_get(line, "work");
    const json_t *log, *trials, *explained = json_object_get(line, "explanation");
    const char *place = json_string_value(json_object_get(line, "baseline_place"));
    struct ae_measurement m = {0};
    struct ae_explanation explanation;
    int64_t id = 0;
    int version, known = 0;
    if (json_unpack(
            (json_t *)line,
            "{s:I, s:s, s:s, s:i, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I, "
            "s:i, s:b, s:s, s:o}",
            "run", &run, "submission", &submission, "entrant", &entrant, "sample", &m.sample, "task", &task,
            "task_version", &version, "size", &size, "target", &target, "options_key", &options_key, "source_path",
            &path, "verdict", &verdict, "violation", &violation, "detail", &detail, "log", &log, "compile_ns",
            &compile_ns, "started_ns", &started_ns, "wall_ns", &wall_ns, "notes", &notes, "sandbox", &sandbox,
            "cores", &m.cores, "seeded", &m.seeded, "device_uuid", &uuid, "trials", &trials) != 0)
        return bad(r, "a measurement lacks something");
    const int64_t ours = our_run(r, run);
    m.size = ae_size_find(size);
    m.target = ae_target_find(target);
    if (ours == 0 || m.size == AE_SIZE_COUNT || m.target == AE_TARGET_COUNT ||
        !find_outcome(verdict, violation, &m.verdict, &m.violation))
        return bad(r, "a measurement has a run, size, target or verdict that is none");
    if (!*entrant || strlen(entrant) >= sizeof m.entrant || !is_hash(submission) || !*task || strlen(task) > 63 ||
        task[strspn(task, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] || version < 1)
        return bad(r, "a measurement has a name that is none");
    if (!json_is_array(trials) || json_array_size(trials) > TRIALS_MAX)
        return bad(r, "a measurement has no list of trials, or too many");
    if (work && !read_work(work, &m))
        return bad(r, "the work of a measurement is none");
    if (explained && !read_explanation(explained, &explanation))
        return bad(r, "an explanation is none");
    snprintf(m.entrant, sizeof m.entrant, "%s", entrant);
    snprintf(m.submission, sizeof m.submission, "%s", submission);
    snprintf(m.source_path, sizeof m.source_path, "%s", path);
    snprintf(m.detail, sizeof m.detail, "%s", detail);
    snprintf(m.device_uuid, sizeof m.device_uuid, "%s", uuid);
    snprintf(m.baseline_place, sizeof m.baseline_place, "%s", place ? place : "");
    m.log = (char *)json_string_value(log); /* not ours to free */
    m.compile_ns = compile_ns;
    m.started_ns = started_ns;
    m.wall_ns = wall_ns;
    m.notes = (unsigned)notes;
    m.sandbox = (uint64_t)sandbox;
    int rc = AE_OK;
    for (size_t i = 0; rc == AE_OK && i < json_array_size(trials); i++) {
        struct ae_trial trial;
        if (!read_trial(json_array_get(trials, i), &trial))
            rc = bad(r, "a trial is none");
        else if (ae_measurement_add(&m, &trial) != AE_OK)
            rc = ae_error_set(r->err, AE_E_NOMEM, "no memory for the trials of a measurement");
    }
    if (rc == AE_OK)
        rc = ae_store_measurement_insert(r->store, ours, &m, task, version, options_key, &id, &known, r->err);
    if (rc == AE_E_USAGE)
        rc = bad(r, "a measurement comes before its submission");
    if (rc == AE_OK && explained)
        rc = ae_store_explanation_insert(r->store, id, &explanation, r->err);
    *(known ? &r->counts.known : &r->counts.measurements) += rc == AE_OK;
    m.log = NULL;
    ae_measurement_release(&m);
    return rc;
}

/* --- the file ---------------------------------------------------------------------------------------------- */

static int read_head(struct reader *r, const json_t *line)
{
    const char *schema = json_string_value(json_object_get(line, "schema"));
    if (!schema || strncmp(schema, "acceleval.archive/", 18) != 0)
        return bad(r, "this is no archive of runs");
    if (strcmp(schema, AE_ARCHIVE_SCHEMA) != 0)
        return bad(r, "the archive is of another version than " AE_ARCHIVE_SCHEMA
                      "; take the AccelEval that wrote it, or a "
                      "newer one");
    return AE_OK;
}

static int read_end(struct reader *r, const json_t *line, const char *chain)
{
    json_int_t lines;
    const char *theirs;
    if (json_unpack((json_t *)line, "{s:I, s:s}", "lines", &lines, "chain", &theirs) != 0 ||
        lines != (json_int_t)(r->line - 1) || strcmp(theirs, chain) != 0)
        return bad(r, "the lines before are not those that were written");
    r->ended = true;
    return AE_OK;
}

static int read_line(struct reader *r, const char *text, size_t size)
{
    static const struct {
        const char *name;
        int (*read)(struct reader *r, const json_t *line);
    } kinds[] = {{"environment", read_environment},
                 {"submission", read_submission},
                 {"run", read_run},
                 {"measurement", read_measurement}};
    char before[AE_SHA256_HEX];
    int rc;
    if (r->ended)
        return bad(r, "there is something after the end");
    memcpy(before, r->chain, sizeof before);
    if ((rc = ae_archive_chain(r->chain, text, size, r->err)) != AE_OK)
        return rc;
    json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    rc = bad(r, "this is no line of an archive");
    if (r->line == 1)
        rc = read_head(r, line);
    else if (json_object_size(line) == 1) { /* what is wrong with one kind must not be lost behind another */
        if (json_object_get(line, "end"))
            rc = read_end(r, json_object_get(line, "end"), before);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (json_object_get(line, kinds[i].name))
                rc = kinds[i].read(r, json_object_get(line, kinds[i].name));
    }
    json_decref(line);
    return rc;
}

static int read_all(struct reader *r, FILE *in)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    int rc = AE_OK;
    while (rc == AE_OK && (size = getline(&text, &room, in)) > 0) {
        r->line++;
        if ((size_t)size > LINE_MAX_BYTES)
            rc = bad(r, "the line is too long");
        else if (text[size - 1] != '\n')
            rc = bad(r, "the file ends in the middle of it");
        else
            rc = read_line(r, text, (size_t)size - 1);
    }
    if (rc == AE_OK && ferror(in))
        rc = ae_error_errno(r->err, AE_E_IO, errno, "cannot read the archive");
    if (rc == AE_OK && !r->ended)
        rc = ae_error_set(r->err, AE_E_INPUT, "the archive has no end: it was cut after line %zu", r->line);
    free(text);
    return rc;
}

bool ae_archive_is(const char *path)
{
    static const char wanted[] = "{\"schema\":\"acceleval.archive/";
    char begin[sizeof wanted] = "";
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    const size_t n = fread(begin, 1, sizeof wanted - 1, in);
    (void)fclose(in);
    return n == sizeof wanted - 1 && memcmp(begin, wanted, n) == 0;
}

int ae_archive_read(struct ae_store *store, const char *path, struct ae_archive_counts *ret, struct ae_error *err)
{
    static const char action[] = "read the archive";
    struct reader r = {.store = store, .err = err};
    FILE *in = fopen(path, "re");
    if (!in)
        return ae_error_errno(err, errno == ENOENT ? AE_E_NOTFOUND : AE_E_IO, errno, "cannot read %s", path);
    int rc = ae_store_begin(store, action, err);
    if (rc == AE_OK) {
        rc = ae_store_runs(store, know_run, &r, err);
        if (rc == AE_OK)
            rc = read_all(&r, in);
        if (rc == AE_OK)
            rc = ae_store_commit(store, action, err);
        else
            ae_store_rollback(store);
    }
    (void)fclose(in);
    tdestroy(r.numbers, free);
    tdestroy(r.known, free);
    if (rc == AE_OK && ret)
        *ret = r.counts;
    return rc;
}
