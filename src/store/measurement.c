#include "store/internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------------------- */

static const char putting[] = "keep a measurement";

static int put_trials(struct ae_store *store, int64_t id, const struct ae_measurement *m, struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    int r =
        ae_store_prepare(store,
                         "INSERT INTO trials VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
                         "?15, ?16)",
                         &statement, putting, err);
    for (int i = 0; r == AE_OK && i < m->trial_count; i++) {
        const struct ae_trial *t = &m->trials[i];
        const sqlite3_int64 numbers[] = {t->call_ns, t->return_ns,     t->reference_ns, t->cpu_ns,
                                         t->sm_mhz,  t->temperature_c, t->disturbed};
        (void)sqlite3_bind_int64(statement, 1, id);
        (void)sqlite3_bind_int(statement, 2, i);
        ae_bind_text(statement, 3, ae_trial_kind_name(t->kind));
        (void)sqlite3_bind_int(statement, 4, t->group);
        (void)sqlite3_bind_int(statement, 5, t->family);
        (void)sqlite3_bind_int(statement, 6, t->instance);
        ae_bind_text(statement, 7, ae_verdict_name(t->verdict));
        ae_bind_text(statement, 8, t->violation ? ae_violation_name(t->violation) : "");
        for (int k = 0; k < 7; k++)
            (void)sqlite3_bind_int64(statement, 9 + k, numbers[k]);
        (void)sqlite3_bind_double(statement, 16, t->max_share); /* NaN becomes NULL */
        r = ae_store_step_done(store, statement, putting, err);
        (void)sqlite3_reset(statement);
    }
    return r;
}

static int put_measurement(struct ae_store *store, int64_t run, const struct ae_measurement *m, const char *task,
                           int task_version, const char *options_key, int64_t *ret_id, int *ret_known,
                           struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(
        store,
        "INSERT INTO measurements (run, submission, entrant, sample, task, task_version, size, target, options_key,"
        " source_path, verdict, violation, detail, log, compile_ns, started_ns, wall_ns, notes, sandbox, cores, "
        "seeded,"
        " device_uuid, baseline_place, work_in, work_out, work_operations, work_steps, floor_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
        "?19,"
        " ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)",
        &statement, putting, err);
    if (r != AE_OK)
        return r;
    const char *const texts[] = {m->source_path, ae_verdict_name(m->verdict),
                                 m->violation ? ae_violation_name(m->violation) : "", m->detail, m->log};
    const sqlite3_int64 numbers[] = {m->compile_ns, m->started_ns, m->wall_ns, m->notes, (sqlite3_int64)m->sandbox,
                                     m->cores,      m->seeded};
    (void)sqlite3_bind_int64(statement, 1, run);
    ae_bind_text(statement, 2, m->submission);
    ae_bind_text(statement, 3, m->entrant);
    (void)sqlite3_bind_int(statement, 4, m->sample);
    ae_bind_text(statement, 5, task);
    (void)sqlite3_bind_int(statement, 6, task_version);
    ae_bind_text(statement, 7, ae_size_name(m->size));
    ae_bind_text(statement, 8, ae_target_name(m->target));
    ae_bind_text(statement, 9, options_key ? options_key : "");
    for (int k = 0; k < 5; k++)
        ae_bind_text(statement, 10 + k, texts[k]);
    for (int k = 0; k < 7; k++)
        (void)sqlite3_bind_int64(statement, 15 + k, numbers[k]);
    ae_bind_text(statement, 22, m->device_uuid);
    ae_bind_text(statement, 23, m->baseline_place);
    const double work[] = {m->work.bytes_in, m->work.bytes_out, m->work.operations, m->work.steps};
    for (int k = 0; k < 4; k++)
        (void)sqlite3_bind_double(statement, 24 + k, work[k]);
    (void)sqlite3_bind_int64(statement, 28, m->floor_ns);
    const int rc = sqlite3_step(statement);
    *ret_known = rc == SQLITE_CONSTRAINT_UNIQUE;
    if (rc == SQLITE_CONSTRAINT_UNIQUE)
        return ae_error_set(
            err, AE_E_USAGE,
            "this run has a measurement of %s, sample %d, on %s at %s already; measure it in a new run", m->entrant,
            m->sample, task, ae_size_name(m->size));
    if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        return ae_error_set(err, AE_E_USAGE,
                            "cannot keep a measurement: %s knows no run %lld or no submission %.64s", store->path,
                            (long long)run, m->submission);
    if (rc != SQLITE_DONE)
        return ae_store_error(store, rc, putting, err);
    *ret_id = sqlite3_last_insert_rowid(store->db);
    return AE_OK;
}

int ae_store_measurement_put(struct ae_store *store, int64_t run, const struct ae_measurement *measurement,
                             const char *options_key, int64_t *ret_id, struct ae_error *err)
{
    int64_t id = 0;
    int r, known;
    if (!measurement->task)
        return ae_error_set(err, AE_E_USAGE, "a measurement needs a task");
    if ((r = ae_store_begin(store, putting, err)) != AE_OK)
        return r;
    if ((r = put_measurement(store, run, measurement, measurement->task->id, measurement->task->version, options_key,
                             &id, &known, err)) != AE_OK ||
        (r = put_trials(store, id, measurement, err)) != AE_OK) {
        ae_store_rollback(store);
        return r;
    }
    if ((r = ae_store_commit(store, putting, err)) == AE_OK && ret_id)
        *ret_id = id;
    return r;
}

/* The measurement that keeps another one with the same names out of the run. */
static int find_known(struct ae_store *store, int64_t run, const struct ae_measurement *m, const char *task,
                      int64_t *ret_id, struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *s = NULL;
    const int r = ae_store_prepare(store,
                                   "SELECT id FROM measurements WHERE run = ?1 AND submission = ?2 AND entrant = ?3"
                                   " AND sample = ?4 AND task = ?5 AND size = ?6 AND target = ?7",
                                   &s, putting, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(s, 1, run);
    ae_bind_text(s, 2, m->submission);
    ae_bind_text(s, 3, m->entrant);
    (void)sqlite3_bind_int(s, 4, m->sample);
    ae_bind_text(s, 5, task);
    ae_bind_text(s, 6, ae_size_name(m->size));
    ae_bind_text(s, 7, ae_target_name(m->target));
    const int rc = sqlite3_step(s);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, putting, err);
    *ret_id = sqlite3_column_int64(s, 0);
    return AE_OK;
}

int ae_store_measurement_insert(struct ae_store *store, int64_t run, const struct ae_measurement *measurement,
                                const char *task, int task_version, const char *options_key, int64_t *ret_id,
                                int *ret_known, struct ae_error *err)
{
    const int r = put_measurement(store, run, measurement, task, task_version, options_key, ret_id, ret_known, err);
    if (*ret_known)
        return find_known(store, run, measurement, task, ret_id, err);
    return r == AE_OK ? put_trials(store, *ret_id, measurement, err) : r;
}

int ae_store_measurement_exists(struct ae_store *store, const struct ae_measurement_key *key, bool *ret,
                                int64_t *ret_id, struct ae_error *err)
{
    static const char action[] = "look for a measurement";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(
        store,
        "SELECT m.id FROM measurements m JOIN runs r ON r.id = m.run WHERE m.submission = ?1 AND m.task = ?2"
        " AND m.task_version = ?3 AND m.size = ?4 AND m.target = ?5 AND m.options_key = ?6"
        " AND (?7 = 0 OR m.run = ?7) AND (?8 IS NULL OR r.environment = ?8)"
        " AND (?9 IS NULL OR (m.entrant = ?9 AND m.sample = ?10))"
        " AND m.verdict NOT IN ('not_run', 'host_error') ORDER BY m.id DESC LIMIT 1",
        &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, key->submission);
    ae_bind_text(statement, 2, key->task);
    (void)sqlite3_bind_int(statement, 3, key->task_version);
    ae_bind_text(statement, 4, ae_size_name(key->size));
    ae_bind_text(statement, 5, ae_target_name(key->target));
    ae_bind_text(statement, 6, key->options_key ? key->options_key : "");
    (void)sqlite3_bind_int64(statement, 7, key->run);
    ae_bind_text(statement, 8, key->environment);
    ae_bind_text(statement, 9, key->entrant);
    (void)sqlite3_bind_int(statement, 10, key->sample);
    const int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return ae_store_error(store, rc, action, err);
    *ret = rc == SQLITE_ROW;
    if (ret_id)
        *ret_id = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    return AE_OK;
}

/* --- reading ---------------------------------------------------------------------------------------------- */

static const char reading[] = "read the measurements";

static int unknown(const struct ae_store *store, const char *what, const char *word, struct ae_error *err)
{
    char shown[33]; /* words of ours are printable; what else stands there is not for a terminal */
    size_t n = 0;
    for (; word[n] && n + 1 < sizeof shown; n++)
        shown[n] = word[n];
    shown[n] = 0;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)shown[i] < ' ' || (unsigned char)shown[i] > '~')
            shown[i] = '?';
    return ae_error_set(err, AE_E_INPUT, "%s is damaged, or of another program version: it holds the %s '%s'",
                        store->path, what, shown);
}

static int read_outcome(const struct ae_store *store, sqlite3_stmt *s, int column, enum ae_verdict *ret_verdict,
                        enum ae_violation *ret_violation, struct ae_error *err)
{
    const char *verdict = ae_column_text(s, column), *violation = ae_column_text(s, column + 1);
    *ret_verdict = ae_verdict_find(verdict);
    if (*ret_verdict == AE_VERDICT_COUNT)
        return unknown(store, "verdict", verdict, err);
    *ret_violation = *violation ? ae_violation_find(violation) : AE_NO_VIOLATION;
    if (*ret_violation == AE_VIOLATION_COUNT)
        return unknown(store, "violation", violation, err);
    return AE_OK;
}

/* One walk: the statements are prepared once. */
struct reader {
    struct ae_store *store;
    sqlite3_stmt *row, *trials;
    unsigned kinds;
    bool with_log, explained;
    struct ae_explanation_reader explanations;
};

static int read_trials(struct reader *reader, int64_t id, struct ae_measurement *m, struct ae_error *err)
{
    sqlite3_stmt *s = reader->trials;
    int rc, r = AE_OK;
    (void)sqlite3_bind_int64(s, 1, id);
    while (r == AE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const enum ae_trial_kind kind = ae_trial_kind_find(ae_column_text(s, 0));
        if (kind == AE_TRIAL_KIND_COUNT) {
            r = unknown(reader->store, "kind of trial", ae_column_text(s, 0), err);
            break;
        }
        if (!(reader->kinds & (1u << kind)))
            continue;
        struct ae_trial t = {
            .kind = kind,
            .group = ae_column_int(s, 1),
            .family = ae_column_int(s, 2),
            .instance = ae_column_int(s, 3),
            .call_ns = sqlite3_column_int64(s, 6),
            .return_ns = sqlite3_column_int64(s, 7),
            .reference_ns = sqlite3_column_int64(s, 8),
            .cpu_ns = sqlite3_column_int64(s, 9),
            .sm_mhz = ae_column_int(s, 10),
            .temperature_c = ae_column_int(s, 11),
            .disturbed = ae_column_int(s, 12),
            .max_share = sqlite3_column_type(s, 13) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, 13),
        };
        if ((r = read_outcome(reader->store, s, 4, &t.verdict, &t.violation, err)) == AE_OK &&
            (m->trial_count == INT_MAX || ae_measurement_add(m, &t) != AE_OK))
            r = ae_error_set(err, AE_E_NOMEM, "no memory for the trials of a measurement");
    }
    if (r == AE_OK && rc != SQLITE_DONE)
        r = ae_store_error(reader->store, rc, reading, err);
    (void)sqlite3_reset(s);
    return r;
}

/* A file may hold anything: what is no amount counts as none. */
static double work_of(sqlite3_stmt *s, int column)
{
    const double amount = sqlite3_column_double(s, column);
    return isfinite(amount) && amount > 0 ? amount : 0;
}

static int read_row(struct reader *reader, int64_t id, struct ae_stored *ret, struct ae_error *err)
{
    sqlite3_stmt *s = reader->row;
    (void)sqlite3_bind_int64(s, 1, id);
    const int rc = sqlite3_step(s);
    if (rc != SQLITE_ROW) /* the index knows it, the table does not */
        return ae_store_error(reader->store, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, reading, err);
    struct ae_measurement *m = &ret->measurement;
    *ret = (struct ae_stored){
        .id = id,
        .run = sqlite3_column_int64(s, 0),
        .task = ae_column_text(s, 1),
        .task_version = ae_column_int(s, 2),
        .environment = ae_column_text(s, 3),
        .environment_name = ae_column_text(s, 4),
        .bank = ae_column_text(s, 5),
        .options_key = ae_column_text(s, 6),
    };
    m->task = ae_task_named(ret->task);
    m->size = ae_size_find(ae_column_text(s, 7));
    if (m->size == AE_SIZE_COUNT)
        return unknown(reader->store, "size", ae_column_text(s, 7), err);
    m->target = ae_target_find(ae_column_text(s, 8));
    if (m->target == AE_TARGET_COUNT)
        return unknown(reader->store, "target", ae_column_text(s, 8), err);
    ae_column_copy(s, 9, m->entrant, sizeof m->entrant);
    m->sample = ae_column_int(s, 10);
    ae_column_copy(s, 11, m->submission, sizeof m->submission);
    ae_column_copy(s, 12, m->source_path, sizeof m->source_path);
    ae_column_copy(s, 15, m->detail, sizeof m->detail);
    m->compile_ns = sqlite3_column_int64(s, 16);
    m->started_ns = sqlite3_column_int64(s, 17);
    m->wall_ns = sqlite3_column_int64(s, 18);
    m->notes = (unsigned)sqlite3_column_int64(s, 19);
    m->sandbox = (uint64_t)sqlite3_column_int64(s, 20);
    m->cores = ae_column_int(s, 21);
    m->seeded = ae_column_int(s, 22);
    ae_column_copy(s, 23, m->device_uuid, sizeof m->device_uuid);
    ae_column_copy(s, 25, m->baseline_place, sizeof m->baseline_place);
    m->work = (struct ae_work){work_of(s, 26), work_of(s, 27), work_of(s, 28), work_of(s, 29)};
    m->floor_ns = sqlite3_column_int64(s, 30) > 0 ? sqlite3_column_int64(s, 30) : 0;
    if (reader->with_log && sqlite3_column_type(s, 24) != SQLITE_NULL) {
        m->log = strdup(ae_column_text(s, 24));
        if (!m->log)
            return ae_error_set(err, AE_E_NOMEM, "no memory for the log of a measurement");
    }
    return read_outcome(reader->store, s, 13, &m->verdict, &m->violation, err);
}

static int visit_one(struct reader *reader, int64_t id, int (*visit)(void *, const struct ae_stored *), void *data,
                     struct ae_error *err)
{
    struct ae_stored stored = {.id = id};
    struct ae_explanation explanation = {0};
    bool explained = false;
    int r = read_row(reader, id, &stored, err);
    if (r == AE_OK && reader->kinds)
        r = read_trials(reader, id, &stored.measurement, err);
    if (r == AE_OK && reader->explained) {
        r = ae_store_explanation_read(reader->store, &reader->explanations, id, &explanation, &explained, err);
        if (explained)
            stored.explanation = &explanation;
    }
    if (r == AE_OK)
        r = visit(data, &stored);
    ae_measurement_release(&stored.measurement);
    (void)sqlite3_reset(reader->row);
    return r;
}

/* The numbers of the measurements in order: sorting whole rows would carry their texts along. */
static int select_ids(struct ae_store *store, const struct ae_measurement_filter *filter, int64_t **ret,
                      size_t *ret_count, struct ae_error *err)
{
    static const char sql[] =
        "SELECT id FROM ("
        " SELECT m.id, m.task, m.entrant, m.target, m.sample, r.environment,"
        "  CASE m.size WHEN 'small' THEN 1 WHEN 'medium' THEN 2 WHEN 'large' THEN 4 ELSE 8 END AS bit,"
        "  row_number() OVER (PARTITION BY r.environment, m.entrant, m.target, m.task, m.size, m.sample"
        "   ORDER BY m.seeded, m.id DESC) AS age"
        " FROM measurements m JOIN runs r ON r.id = m.run"
        " WHERE (?1 = 0 OR m.id = ?1) AND (?2 = 0 OR m.run = ?2) AND (?3 IS NULL OR r.environment = ?3)"
        "  AND (?4 IS NULL OR m.entrant = ?4) AND (?5 IS NULL OR m.task = ?5) AND (?6 IS NULL OR m.target = ?6)"
        "  AND NOT (?7 AND m.verdict IN ('not_run', 'host_error') AND EXISTS ("
        "   SELECT 1 FROM measurements o JOIN runs p ON p.id = o.run"
        "   WHERE o.submission = m.submission AND o.task = m.task AND o.size = m.size AND o.target = m.target"
        "    AND o.task_version = m.task_version AND o.entrant = m.entrant AND o.sample = m.sample"
        "    AND p.environment = r.environment AND (?2 = 0 OR o.run = ?2)"
        "    AND o.verdict NOT IN ('not_run', 'host_error')))"
        ") WHERE (NOT ?7 OR age = 1) AND (?8 = 0 OR (bit & ?8))"
        " ORDER BY environment, bit, task, entrant, target, sample, id";
    ae_autostatement sqlite3_stmt *s = NULL;
    const int r = ae_store_prepare(store, sql, &s, reading, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(s, 1, filter->id);
    (void)sqlite3_bind_int64(s, 2, filter->run);
    ae_bind_text(s, 3, filter->environment);
    ae_bind_text(s, 4, filter->entrant);
    ae_bind_text(s, 5, filter->task);
    ae_bind_text(s, 6, filter->by_target ? ae_target_name(filter->target) : NULL);
    (void)sqlite3_bind_int(s, 7, filter->latest);
    (void)sqlite3_bind_int(s, 8, (int)filter->sizes);
    int64_t *ids = NULL;
    size_t count = 0, room = 0;
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        if (count == room) {
            room = room ? 2 * room : 256;
            int64_t *more = realloc(ids, room * sizeof *ids);
            if (!more) {
                free(ids);
                return ae_error_set(err, AE_E_NOMEM, "no memory for a list of %zu measurements", room);
            }
            ids = more;
        }
        ids[count++] = sqlite3_column_int64(s, 0);
    }
    if (rc != SQLITE_DONE) {
        free(ids);
        return ae_store_error(store, rc, reading, err);
    }
    *ret = ids;
    *ret_count = count;
    return AE_OK;
}

static int walk(struct reader *reader, const struct ae_measurement_filter *filter,
                int (*visit)(void *, const struct ae_stored *), void *data, struct ae_error *err)
{
    int64_t *ids = NULL;
    size_t count = 0;
    int r;
    if ((r = ae_store_prepare(reader->store,
                              "SELECT m.run, m.task, m.task_version, r.environment, coalesce(e.name, ''), r.bank,"
                              " m.options_key, m.size, m.target, m.entrant, m.sample, m.submission, m.source_path,"
                              " m.verdict, m.violation, m.detail, m.compile_ns, m.started_ns, m.wall_ns, m.notes,"
                              " m.sandbox, m.cores, m.seeded, m.device_uuid, CASE WHEN ?2 THEN m.log END, m.baseline_place,"
                              " m.work_in, m.work_out, m.work_operations, m.work_steps, m.floor_ns"
                              " FROM measurements m JOIN runs r ON r.id = m.run"
                              " LEFT JOIN environments e ON e.id = r.environment WHERE m.id = ?1",
                              &reader->row, reading, err)) != AE_OK ||
        (r = ae_store_prepare(reader->store,
                              "SELECT kind, load, family, instance, verdict, violation, call_ns, return_ns,"
                              " reference_ns, cpu_ns, sm_mhz, temperature_c, disturbed, max_share"
                              " FROM trials WHERE measurement = ?1 ORDER BY number",
                              &reader->trials, reading, err)) != AE_OK ||
        (r = select_ids(reader->store, filter, &ids, &count, err)) != AE_OK)
        return r;
    (void)sqlite3_bind_int(reader->row, 2, filter->with_log);
    for (size_t i = 0; r == AE_OK && i < count; i++)
        r = visit_one(reader, ids[i], visit, data, err);
    free(ids);
    return r;
}

int ae_store_measurements(struct ae_store *store, const struct ae_measurement_filter *filter,
                          int (*visit)(void *data, const struct ae_stored *stored), void *data,
                          struct ae_error *err)
{
    struct reader reader = {
        .store = store, .kinds = filter->trials, .with_log = filter->with_log, .explained = filter->explained};
    bool outermost;
    int r = ae_store_view_begin(store, &outermost, reading, err);
    if (r != AE_OK)
        return r;
    r = walk(&reader, filter, visit, data, err);
    sqlite3_finalize(reader.row);
    sqlite3_finalize(reader.trials);
    ae_explanation_reader_release(&reader.explanations);
    ae_store_view_end(store, outermost);
    return r;
}
