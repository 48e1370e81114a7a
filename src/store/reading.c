#include "store/reading.h"

#include "store/internal.h"

#include <stdio.h>
#include <string.h>

static void bind_known(sqlite3_stmt *statement, int parameter, int64_t value)
{
    (void)(value < 0 ? sqlite3_bind_null(statement, parameter) : sqlite3_bind_int64(statement, parameter, value));
}

static int put_row(struct ae_store *store, const struct ae_stored_reading *r, int64_t *ret_id, const char *action,
                   struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int code = ae_store_prepare(
        store,
        "INSERT INTO readings (submission, task, model, parameters, prompt, told, created_ns, state, detail, answered_by,"
        " answer, input_tokens, output_tokens, cost) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
        " ON CONFLICT (submission, model, parameters, prompt) DO UPDATE SET state = ?8, detail = ?9, answered_by = ?10,"
        " answer = ?11, input_tokens = ?12, output_tokens = ?13, cost = ?14, created_ns = ?7 RETURNING id",
        &statement, action, err);
    if (code != AE_OK)
        return code;
    const char *const texts[] = {r->submission, r->task, r->model, r->parameters, r->prompt};
    for (int i = 0; i < 5; i++)
        ae_bind_text(statement, 1 + i, texts[i]);
    (void)sqlite3_bind_int(statement, 6, r->told);
    (void)sqlite3_bind_int64(statement, 7, r->created_ns);
    ae_bind_text(statement, 8, r->state);
    ae_bind_text(statement, 9, r->detail ? r->detail : "");
    ae_bind_text(statement, 10, r->answered_by ? r->answered_by : "");
    if (r->answer)
        (void)sqlite3_bind_blob64(statement, 11, r->answer_size ? r->answer : "", r->answer_size, SQLITE_STATIC);
    bind_known(statement, 12, r->input_tokens);
    bind_known(statement, 13, r->output_tokens);
    if (r->cost >= 0)
        (void)sqlite3_bind_double(statement, 14, r->cost);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        return ae_error_set(err, AE_E_USAGE, "cannot keep a reading: %s has no submission %.64s or no prompt %.64s",
                            store->path, r->submission, r->prompt);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc, action, err);
    *ret_id = sqlite3_column_int64(statement, 0);
    rc = sqlite3_step(statement); /* foreign keys are looked at here */
    if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        return ae_error_set(err, AE_E_USAGE, "cannot keep a reading: %s has no submission %.64s or no prompt %.64s",
                            store->path, r->submission, r->prompt);
    return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, action, err);
}

static int put_findings(struct ae_store *store, int64_t id, const struct ae_stored_reading *r, const char *action,
                        struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *clear = NULL, *insert = NULL;
    int code = ae_store_prepare(store, "DELETE FROM reading_findings WHERE reading = ?1", &clear, action, err);
    if (code == AE_OK) {
        (void)sqlite3_bind_int64(clear, 1, id);
        code = ae_store_step_done(store, clear, action, err);
    }
    if (code == AE_OK)
        code = ae_store_prepare(store,
                                "INSERT INTO reading_findings (reading, strategy, presence, confidence, sentence, lines)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                &insert, action, err);
    for (size_t i = 0; code == AE_OK && i < r->finding_count; i++) {
        const struct ae_read_finding *f = &r->findings[i];
        (void)sqlite3_bind_int64(insert, 1, id);
        ae_bind_text(insert, 2, f->strategy);
        ae_bind_text(insert, 3, f->presence);
        (void)sqlite3_bind_double(insert, 4, f->confidence);
        ae_bind_text(insert, 5, f->sentence);
        ae_bind_text(insert, 6, f->lines);
        code = ae_store_step_done(store, insert, action, err);
        (void)sqlite3_reset(insert);
    }
    return code;
}

int ae_store_reading_put(struct ae_store *store, const struct ae_stored_reading *reading, struct ae_error *err)
{
    static const char action[] = "keep the reading";
    int64_t id = 0;
    if (reading->finding_count > AE_READ_FINDINGS_MAX)
        return ae_error_set(err, AE_E_USAGE, "a reading has %zu findings, and %d at most are kept", reading->finding_count,
                            AE_READ_FINDINGS_MAX);
    int code = ae_store_begin(store, action, err);
    if (code != AE_OK)
        return code;
    code = put_row(store, reading, &id, action, err);
    if (code == AE_OK)
        code = put_findings(store, id, reading, action, err);
    if (code == AE_OK)
        code = ae_store_commit(store, action, err);
    if (code != AE_OK)
        ae_store_rollback(store);
    return code;
}

int ae_store_reading_settled(struct ae_store *store, const char *submission, const char *model, const char *parameters,
                             const char *prompt, bool *ret, struct ae_error *err)
{
    static const char action[] = "look up the reading";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int code = ae_store_prepare(store,
                                      "SELECT 1 FROM readings WHERE submission = ?1 AND model = ?2 AND parameters = ?3 AND"
                                      " prompt = ?4 AND state IN ('valid', 'invalid', 'refused', 'empty')",
                                      &statement, action, err);
    if (code != AE_OK)
        return code;
    ae_bind_text(statement, 1, submission);
    ae_bind_text(statement, 2, model);
    ae_bind_text(statement, 3, parameters);
    ae_bind_text(statement, 4, prompt);
    const int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return ae_store_error(store, rc, action, err);
    *ret = rc == SQLITE_ROW;
    return AE_OK;
}

int ae_store_reading_insert(struct ae_store *store, const struct ae_stored_reading *reading, bool *ret_known,
                            struct ae_error *err)
{
    static const char action[] = "keep the reading";
    int64_t id;
    int rc = ae_store_reading_settled(store, reading->submission, reading->model, reading->parameters, reading->prompt,
                                      ret_known, err);
    if (rc != AE_OK || *ret_known)
        return rc;
    rc = put_row(store, reading, &id, action, err);
    return rc == AE_OK ? put_findings(store, id, reading, action, err) : rc;
}

/* The findings of one reading; those beyond the limit, which a hostile file may hold, are passed over. */
static int findings_of(struct ae_store *store, int64_t id, struct ae_read_finding *ret, size_t *ret_count, const char *action,
                       struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int code = ae_store_prepare(store,
                                      "SELECT strategy, presence, confidence, sentence, lines FROM reading_findings"
                                      " WHERE reading = ?1 ORDER BY strategy",
                                      &statement, action, err);
    if (code != AE_OK)
        return code;
    (void)sqlite3_bind_int64(statement, 1, id);
    int rc = SQLITE_DONE;
    *ret_count = 0;
    while (*ret_count < AE_READ_FINDINGS_MAX && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct ae_read_finding *f = &ret[(*ret_count)++];
        ae_column_copy(statement, 0, f->strategy, sizeof f->strategy);
        ae_column_copy(statement, 1, f->presence, sizeof f->presence);
        f->confidence = sqlite3_column_double(statement, 2);
        ae_column_copy(statement, 3, f->sentence, sizeof f->sentence);
        ae_column_copy(statement, 4, f->lines, sizeof f->lines);
    }
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? AE_OK : ae_store_error(store, rc, action, err);
}

int ae_store_readings(struct ae_store *store, const struct ae_reading_filter *filter,
                      int (*visit)(void *data, const struct ae_stored_reading *reading), void *data, struct ae_error *err)
{
    static const char action[] = "read the readings";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int code = ae_store_prepare(
        store,
        "SELECT id, submission, task, model, parameters, prompt, told, created_ns, state, detail, answered_by, answer,"
        " input_tokens, output_tokens, cost FROM readings WHERE (?1 IS NULL OR submission = ?1) AND"
        " (?2 IS NULL OR model = ?2) AND (?3 IS NULL OR prompt = ?3) ORDER BY model, submission, id",
        &statement, action, err);
    if (code != AE_OK)
        return code;
    ae_bind_text(statement, 1, filter->submission);
    ae_bind_text(statement, 2, filter->model);
    ae_bind_text(statement, 3, filter->prompt);
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct ae_read_finding findings[AE_READ_FINDINGS_MAX];
        struct ae_stored_reading r = {
            .id = sqlite3_column_int64(statement, 0),
            .submission = ae_column_text(statement, 1),
            .task = ae_column_text(statement, 2),
            .model = ae_column_text(statement, 3),
            .parameters = ae_column_text(statement, 4),
            .prompt = ae_column_text(statement, 5),
            .told = sqlite3_column_int(statement, 6) != 0,
            .created_ns = sqlite3_column_int64(statement, 7),
            .state = ae_column_text(statement, 8),
            .detail = ae_column_text(statement, 9),
            .answered_by = ae_column_text(statement, 10),
            .answer = sqlite3_column_blob(statement, 11),
            .answer_size = (size_t)sqlite3_column_bytes(statement, 11),
            .input_tokens = sqlite3_column_type(statement, 12) == SQLITE_NULL ? -1 : sqlite3_column_int64(statement, 12),
            .output_tokens = sqlite3_column_type(statement, 13) == SQLITE_NULL ? -1 : sqlite3_column_int64(statement, 13),
            .cost = sqlite3_column_type(statement, 14) == SQLITE_NULL ? -1 : sqlite3_column_double(statement, 14),
            .findings = findings,
        };
        int done = findings_of(store, r.id, findings, &r.finding_count, action, err);
        if (done == AE_OK)
            done = visit(data, &r);
        if (done != AE_OK)
            return done;
    }
    return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, action, err);
}
