#include "store/internal.h"

#include <string.h>

/* --- writing ---------------------------------------------------------------------------------------------- */

static const char putting[] = "keep an explanation";

static int put_phases(struct ae_store *store, int64_t id, const struct ae_explanation *e, struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *s = NULL;
    int r = ae_store_prepare(store, "INSERT INTO phases VALUES (?1, ?2, ?3, ?4, ?5)", &s, putting, err);
    for (int phase = 0; r == AE_OK && phase < AE_PHASE_COUNT; phase++) {
        const struct ae_phase_time *t = &e->phases[phase];
        if (t->own_ns == 0 && t->busy_ns == 0 && e->floors[phase] == 0)
            continue;
        (void)sqlite3_bind_int64(s, 1, id);
        ae_bind_text(s, 2, ae_phase_name((enum ae_phase)phase));
        (void)sqlite3_bind_int64(s, 3, t->own_ns);
        (void)sqlite3_bind_int64(s, 4, t->busy_ns);
        (void)sqlite3_bind_int64(s, 5, e->floors[phase]);
        r = ae_store_step_done(store, s, putting, err);
        (void)sqlite3_reset(s);
    }
    return r;
}

static int put_reasons(struct ae_store *store, int64_t id, const struct ae_explanation *e, struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *s = NULL;
    int r = ae_store_prepare(store, "INSERT INTO reasons VALUES (?1, ?2, ?3, ?4, ?5, ?6)", &s, putting, err);
    for (int i = 0; r == AE_OK && i < e->reason_count; i++) {
        const struct ae_reason *reason = &e->reasons[i];
        (void)sqlite3_bind_int64(s, 1, id);
        (void)sqlite3_bind_int(s, 2, i);
        ae_bind_text(s, 3, reason->rule);
        ae_bind_text(s, 4, reason->text);
        (void)sqlite3_bind_double(s, 5, reason->share >= 0 && reason->share <= 1 ? reason->share : 0);
        (void)sqlite3_bind_int64(s, 6, reason->gain_ns);
        r = ae_store_step_done(store, s, putting, err);
        (void)sqlite3_reset(s);
    }
    return r;
}

static int insert(struct ae_store *store, int64_t id, const struct ae_explanation *e, bool *ret_known,
                  struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *s = NULL;
    *ret_known = false;
    int r = ae_store_prepare(store, "INSERT INTO explanations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", &s, putting, err);
    if (r != AE_OK)
        return r;
    const sqlite3_int64 numbers[] = {id, e->call_ns, e->timed_ns, e->floor_ns, e->calls, e->dropped};
    for (int k = 0; k < 6; k++)
        (void)sqlite3_bind_int64(s, 1 + k, numbers[k]);
    ae_bind_text(s, 7, e->note);
    const int rc = sqlite3_step(s);
    *ret_known = rc == SQLITE_CONSTRAINT_PRIMARYKEY || rc == SQLITE_CONSTRAINT_ROWID;
    if (*ret_known)
        return ae_error_set(err, AE_E_USAGE, "measurement %lld is explained already", (long long)id);
    if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        return ae_error_set(err, AE_E_USAGE, "cannot explain a measurement: %s knows none of number %lld", store->path,
                            (long long)id);
    if (rc != SQLITE_DONE)
        return ae_store_error(store, rc, putting, err);
    if ((r = put_phases(store, id, e, err)) == AE_OK)
        r = put_reasons(store, id, e, err);
    return r;
}

int ae_store_explanation_insert(struct ae_store *store, int64_t measurement, const struct ae_explanation *explanation,
                                struct ae_error *err)
{
    bool known;
    const int r = insert(store, measurement, explanation, &known, err);
    return known ? AE_OK : r;
}

int ae_store_explanation_put(struct ae_store *store, int64_t measurement, const struct ae_explanation *explanation,
                             struct ae_error *err)
{
    bool known;
    int r = ae_store_begin(store, putting, err);
    if (r != AE_OK)
        return r;
    if ((r = insert(store, measurement, explanation, &known, err)) != AE_OK) {
        ae_store_rollback(store);
        return r;
    }
    return ae_store_commit(store, putting, err);
}

/* --- reading ---------------------------------------------------------------------------------------------- */

static const char reading[] = "read an explanation";

void ae_explanation_reader_release(struct ae_explanation_reader *reader)
{
    sqlite3_finalize(reader->head);
    sqlite3_finalize(reader->phases);
    sqlite3_finalize(reader->reasons);
    *reader = (struct ae_explanation_reader){0};
}

/* Sums over all phases, and a few more, stay in range. */
#define TIME_MAX (INT64_MAX / (2 * AE_PHASE_COUNT))

/* A file may hold anything: times below 0 count as none, and none is longer than a decade. */
static int64_t time_of(sqlite3_stmt *s, int column)
{
    const sqlite3_int64 ns = sqlite3_column_int64(s, column);
    return ns < 0 ? 0 : ns > TIME_MAX ? TIME_MAX : ns;
}

static int prepare(struct ae_store *store, struct ae_explanation_reader *reader, struct ae_error *err)
{
    int r;
    if ((r = ae_store_prepare(store,
                              "SELECT call_ns, timed_ns, floor_ns, calls, dropped, note FROM explanations"
                              " WHERE measurement = ?1",
                              &reader->head, reading, err)) != AE_OK ||
        (r = ae_store_prepare(store, "SELECT phase, own_ns, busy_ns, floor_ns FROM phases WHERE measurement = ?1",
                              &reader->phases, reading, err)) != AE_OK)
        return r;
    return ae_store_prepare(
        store, "SELECT rule, text, share, gain_ns FROM reasons WHERE measurement = ?1 ORDER BY number LIMIT ?2",
        &reader->reasons, reading, err);
}

int ae_store_explanation_read(struct ae_store *store, struct ae_explanation_reader *reader, int64_t measurement,
                              struct ae_explanation *ret, bool *ret_there, struct ae_error *err)
{
    int rc, r = reader->reasons ? AE_OK : prepare(store, reader, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(reader->head, 1, measurement);
    rc = sqlite3_step(reader->head);
    *ret_there = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW) {
        *ret = (struct ae_explanation){.call_ns = time_of(reader->head, 0),
                                       .timed_ns = time_of(reader->head, 1),
                                       .floor_ns = time_of(reader->head, 2),
                                       .calls = ae_column_int(reader->head, 3),
                                       .dropped = time_of(reader->head, 4)};
        ae_column_copy(reader->head, 5, ret->note, sizeof ret->note);
    }
    (void)sqlite3_reset(reader->head);
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, reading, err);
    (void)sqlite3_bind_int64(reader->phases, 1, measurement);
    while ((rc = sqlite3_step(reader->phases)) == SQLITE_ROW) {
        const enum ae_phase phase = ae_phase_find(ae_column_text(reader->phases, 0));
        if (phase == AE_PHASE_COUNT) /* of a later program version: its time shows as a gap */
            continue;
        ret->phases[phase] = (struct ae_phase_time){time_of(reader->phases, 1), time_of(reader->phases, 2)};
        ret->floors[phase] = time_of(reader->phases, 3);
    }
    (void)sqlite3_reset(reader->phases);
    if (rc != SQLITE_DONE)
        return ae_store_error(store, rc, reading, err);
    (void)sqlite3_bind_int64(reader->reasons, 1, measurement);
    (void)sqlite3_bind_int(reader->reasons, 2, AE_EXPLANATION_REASONS);
    while ((rc = sqlite3_step(reader->reasons)) == SQLITE_ROW && ret->reason_count < AE_EXPLANATION_REASONS) {
        struct ae_reason *reason = &ret->reasons[ret->reason_count++];
        ae_column_copy(reader->reasons, 0, reason->rule, sizeof reason->rule);
        ae_column_copy(reader->reasons, 1, reason->text, sizeof reason->text);
        const double share = sqlite3_column_double(reader->reasons, 2);
        reason->share = share >= 0 && share <= 1 ? share : 0;
        reason->gain_ns = time_of(reader->reasons, 3);
    }
    (void)sqlite3_reset(reader->reasons);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? AE_OK : ae_store_error(store, rc, reading, err);
}

int ae_store_explanation_find(struct ae_store *store, const char *submission, struct ae_explanation *ret,
                              enum ae_size *ret_size, char ret_environment[96], bool *ret_there, struct ae_error *err)
{
    struct ae_explanation_reader reader = {0};
    ae_autostatement sqlite3_stmt *s = NULL;
    int64_t measurement = 0;
    *ret_there = false;
    int r = ae_store_prepare(store,
                             "SELECT m.id, m.size, coalesce(e.name, '') FROM measurements m"
                             " JOIN explanations x ON x.measurement = m.id JOIN runs r ON r.id = m.run"
                             " LEFT JOIN environments e ON e.id = r.environment"
                             " WHERE m.submission = ?1 AND m.target = ?2 ORDER BY"
                             " CASE m.size WHEN 'large' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, m.id DESC LIMIT 1",
                             &s, reading, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(s, 1, submission);
    ae_bind_text(s, 2, ae_target_name(AE_CUDA));
    const int rc = sqlite3_step(s);
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, reading, err);
    measurement = sqlite3_column_int64(s, 0);
    const enum ae_size size = ae_size_find(ae_column_text(s, 1));
    *ret_size = size == AE_SIZE_COUNT ? AE_SMALL : size;
    ae_column_copy(s, 2, ret_environment, 96);
    r = ae_store_explanation_read(store, &reader, measurement, ret, ret_there, err);
    ae_explanation_reader_release(&reader);
    return r;
}

int ae_store_explanations(struct ae_store *store, const int64_t *ids, size_t count,
                          int (*visit)(void *data, size_t number, const struct ae_explanation *explanation), void *data,
                          struct ae_error *err)
{
    struct ae_explanation_reader reader = {0};
    bool outermost;
    int r = ae_store_view_begin(store, &outermost, reading, err);
    if (r != AE_OK)
        return r;
    for (size_t i = 0; r == AE_OK && i < count; i++) {
        struct ae_explanation explanation;
        bool there = false;
        r = ae_store_explanation_read(store, &reader, ids[i], &explanation, &there, err);
        if (r == AE_OK && there)
            r = visit(data, i, &explanation);
    }
    ae_explanation_reader_release(&reader);
    ae_store_view_end(store, outermost);
    return r;
}
