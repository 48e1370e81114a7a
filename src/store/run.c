#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- environments ----------------------------------------------------------------------------------------- */

void ae_environment_release(struct ae_environment *environment)
{
    free(environment->json);
    *environment = (struct ae_environment){0};
}

int ae_store_environment_put(struct ae_store *store, const struct ae_environment *environment, struct ae_error *err)
{
    static const char action[] = "keep the environment";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(
        store, "INSERT INTO environments (id, name, json) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
        &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, environment->id);
    ae_bind_text(statement, 2, environment->name);
    ae_bind_text(statement, 3, environment->json ? environment->json : "{}");
    return ae_store_step_done(store, statement, action, err);
}

static int read_environment(sqlite3_stmt *statement, struct ae_environment *ret)
{
    *ret = (struct ae_environment){0};
    ae_column_copy(statement, 0, ret->id, sizeof ret->id);
    ae_column_copy(statement, 1, ret->name, sizeof ret->name);
    ret->json = strdup(ae_column_text(statement, 2));
    return ret->json ? AE_OK : AE_E_NOMEM;
}

int ae_store_environment_get(struct ae_store *store, const char *id, struct ae_environment *ret,
                             struct ae_error *err)
{
    static const char action[] = "look up the environment";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(store,
                                   "SELECT id, name, json FROM environments WHERE substr(id, 1, length(?1)) = ?1 "
                                   "ORDER BY id = ?1 DESC LIMIT 2",
                                   &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, id);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE || (rc == SQLITE_ROW && !*id))
        return ae_error_set(err, AE_E_NOTFOUND, "there is no environment '%.64s' in %s", id, store->path);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc, action, err);
    struct ae_environment found;
    if (read_environment(statement, &found) != AE_OK)
        return ae_error_set(err, AE_E_NOMEM, "no memory for an environment");
    rc = strcmp(found.id, id) == 0 ? SQLITE_DONE : sqlite3_step(statement);
    if (rc != SQLITE_DONE) {
        ae_environment_release(&found);
        return rc == SQLITE_ROW
                   ? ae_error_set(err, AE_E_USAGE, "'%.64s' could be several environments; write more of it", id)
                   : ae_store_error(store, rc, action, err);
    }
    *ret = found;
    return AE_OK;
}

int ae_store_environments(struct ae_store *store,
                          int (*visit)(void *data, const struct ae_environment *environment), void *data,
                          struct ae_error *err)
{
    static const char action[] = "list the environments";
    ae_autostatement sqlite3_stmt *statement = NULL;
    int r = ae_store_prepare(store, "SELECT id, name, json FROM environments ORDER BY name, id", &statement, action,
                             err);
    if (r != AE_OK)
        return r;
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct ae_environment environment;
        if (read_environment(statement, &environment) != AE_OK)
            return ae_error_set(err, AE_E_NOMEM, "no memory for an environment");
        r = visit(data, &environment);
        ae_environment_release(&environment);
        if (r != 0)
            return r;
    }
    return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, action, err);
}

/* --- submissions ------------------------------------------------------------------------------------------ */

void ae_submission_release(struct ae_submission *submission)
{
    free(submission->source);
    *submission = (struct ae_submission){0};
}

/* One word a language: stores and archives of version 0.1.0 have another for C++. */
static const char *word_of(const char *language)
{
    return strcmp(language, "c++") == 0 ? "cpp" : language;
}

int ae_store_submission_put(struct ae_store *store, const struct ae_submission *submission, struct ae_error *err)
{
    static const char action[] = "keep the submission";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(store,
                                   "INSERT INTO submissions (sha256, language, source, first_seen_ns) "
                                   "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (sha256) DO NOTHING",
                                   &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, submission->sha256);
    ae_bind_text(statement, 2, word_of(submission->language));
    const int rc = sqlite3_bind_blob64(statement, 3, submission->source ? submission->source : "", submission->size,
                                       SQLITE_STATIC);
    if (rc != SQLITE_OK)
        return ae_store_error(store, rc, action, err);
    (void)sqlite3_bind_int64(statement, 4, submission->first_seen_ns);
    return ae_store_step_done(store, statement, action, err);
}

int ae_store_submission_get(struct ae_store *store, const char *sha256, struct ae_submission *ret,
                            struct ae_error *err)
{
    static const char action[] = "look up the submission";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r =
        ae_store_prepare(store, "SELECT sha256, language, source, first_seen_ns FROM submissions WHERE sha256 = ?1",
                         &statement, action, err);
    if (r != AE_OK)
        return r;
    ae_bind_text(statement, 1, sha256);
    const int rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE)
        return ae_error_set(err, AE_E_NOTFOUND, "there is no submission %.64s in %s", sha256, store->path);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc, action, err);
    struct ae_submission found = {.first_seen_ns = sqlite3_column_int64(statement, 3)};
    ae_column_copy(statement, 0, found.sha256, sizeof found.sha256);
    ae_column_copy(statement, 1, found.language, sizeof found.language);
    if (strcmp(found.language, word_of(found.language)) != 0)
        snprintf(found.language, sizeof found.language, "%s", word_of(found.language));
    const void *source = sqlite3_column_blob(statement, 2);
    found.size = (size_t)sqlite3_column_bytes(statement, 2);
    found.source = malloc(found.size + 1);
    if (!found.source)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a submission of %zu bytes", found.size);
    if (found.size)
        memcpy(found.source, source, found.size);
    found.source[found.size] = 0;
    *ret = found;
    return AE_OK;
}

/* --- runs ------------------------------------------------------------------------------------------------- */

int ae_store_run_begin(struct ae_store *store, const struct ae_run *run, int64_t *ret_id, struct ae_error *err)
{
    static const char action[] = "begin the run";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r =
        ae_store_prepare(store,
                         "INSERT INTO runs (started_ns, command, options, version, environment, bank, seeded)"
                         " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                         &statement, action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, run->started_ns);
    ae_bind_text(statement, 2, run->command ? run->command : "");
    ae_bind_text(statement, 3, run->options ? run->options : "{}");
    ae_bind_text(statement, 4, run->version ? run->version : "");
    ae_bind_text(statement, 5, run->environment ? run->environment : "");
    ae_bind_text(statement, 6, run->bank ? run->bank : "");
    (void)sqlite3_bind_int(statement, 7, run->seeded);
    const int rc = sqlite3_step(statement);
    if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        return ae_error_set(err, AE_E_USAGE, "cannot begin a run: its environment was not put into %s before",
                            store->path);
    if (rc != SQLITE_DONE)
        return ae_store_error(store, rc, action, err);
    *ret_id = sqlite3_last_insert_rowid(store->db);
    return AE_OK;
}

int ae_store_run_settle(struct ae_store *store, int64_t id, int64_t finished_ns, struct ae_error *err)
{
    static const char action[] = "end the run";
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(store, "UPDATE runs SET finished_ns = ?2 WHERE id = ?1 AND finished_ns = 0", &statement,
                                   action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, id);
    (void)sqlite3_bind_int64(statement, 2, finished_ns);
    return ae_store_step_done(store, statement, action, err);
}

int ae_store_run_end(struct ae_store *store, int64_t id, int64_t finished_ns, struct ae_error *err)
{
    static const char action[] = "end the run";
    ae_autostatement sqlite3_stmt *statement = NULL;
    int r = ae_store_prepare(store, "UPDATE runs SET finished_ns = ?2 WHERE id = ?1", &statement, action, err);
    if (r != AE_OK)
        return r;
    (void)sqlite3_bind_int64(statement, 1, id);
    (void)sqlite3_bind_int64(statement, 2, finished_ns);
    r = ae_store_step_done(store, statement, action, err);
    if (r == AE_OK && sqlite3_changes(store->db) == 0)
        return ae_error_set(err, AE_E_NOTFOUND, "there is no run %lld in %s", (long long)id, store->path);
    return r;
}

int ae_store_runs(struct ae_store *store, int (*visit)(void *data, const struct ae_run *run), void *data,
                  struct ae_error *err)
{
    static const char action[] = "list the runs";
    ae_autostatement sqlite3_stmt *statement = NULL;
    int r = ae_store_prepare(store,
                             "SELECT r.id, r.started_ns, r.finished_ns, r.command, r.options, r.version, "
                             "r.environment, r.bank, r.seeded,"
                             " (SELECT count(*) FROM measurements m WHERE m.run = r.id), e.name"
                             " FROM runs r LEFT JOIN environments e ON e.id = r.environment ORDER BY r.id DESC",
                             &statement, action, err);
    if (r != AE_OK)
        return r;
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct ae_run run = {
            .id = sqlite3_column_int64(statement, 0),
            .started_ns = sqlite3_column_int64(statement, 1),
            .finished_ns = sqlite3_column_int64(statement, 2),
            .command = ae_column_text(statement, 3),
            .options = ae_column_text(statement, 4),
            .version = ae_column_text(statement, 5),
            .environment = ae_column_text(statement, 6),
            .bank = ae_column_text(statement, 7),
            .seeded = ae_column_int(statement, 8) != 0,
            .measurement_count = ae_column_int(statement, 9),
            .environment_name = ae_column_text(statement, 10),
        };
        if ((r = visit(data, &run)) != 0)
            return r;
    }
    return rc == SQLITE_DONE ? AE_OK : ae_store_error(store, rc, action, err);
}
