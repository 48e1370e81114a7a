/* Shared by the files of src/store only. */
#ifndef AE_STORE_INTERNAL_H
#define AE_STORE_INTERNAL_H

#include "store/store.h"

#include <sqlite3.h>

struct ae_store {
    sqlite3 *db;
    char path[AE_STORE_PATH_MAX];
    char journal[16];
};

/* Turns the last failure of the connection into a code and a sentence with the mend. */
int ae_store_error(const struct ae_store *store, int rc, const char *action, struct ae_error *err);

/* Prepares one statement; finalise it with ae_cleanup_statement or sqlite3_finalize(). */
int ae_store_prepare(struct ae_store *store, const char *sql, sqlite3_stmt **ret, const char *action,
                     struct ae_error *err);
void ae_cleanup_statement(sqlite3_stmt **statement);
#define ae_autostatement __attribute__((cleanup(ae_cleanup_statement)))

/* Steps a statement that returns no row. */
int ae_store_step_done(struct ae_store *store, sqlite3_stmt *statement, const char *action, struct ae_error *err);

/* BEGIN IMMEDIATE, waiting for other writers; COMMIT; ROLLBACK (never fails visibly). */
int ae_store_begin(struct ae_store *store, const char *action, struct ae_error *err);
int ae_store_commit(struct ae_store *store, const char *action, struct ae_error *err);
void ae_store_rollback(struct ae_store *store);

/* One view of the file for all statements until the end, whatever others write meanwhile; a view or transaction within
 * one shares it. *ret_outermost goes to the end, which is due after AE_OK only. */
int ae_store_view_begin(struct ae_store *store, bool *ret_outermost, const char *action, struct ae_error *err);
void ae_store_view_end(struct ae_store *store, bool outermost);

/* Column readers for hostile files: text is never NULL and cut to the field, integers are clamped. */
const char *ae_column_text(sqlite3_stmt *statement, int column);
void ae_column_copy(sqlite3_stmt *statement, int column, char *field, size_t size);
int ae_column_int(sqlite3_stmt *statement, int column);
void ae_bind_text(sqlite3_stmt *statement, int parameter, const char *text); /* NULL binds NULL; static lifetime */

/* Inside of a transaction of the caller's, for a task that this program need not know. A measurement that the run has
 * already sets *ret_known and is no error; AE_E_USAGE: there is no such run or submission. *ret_id: its number, in
 * either case. */
int ae_store_measurement_insert(struct ae_store *store, int64_t run, const struct ae_measurement *measurement,
                                const char *task, int task_version, const char *options_key, int64_t *ret_id,
                                int *ret_known, struct ae_error *err);
/* Likewise; where the measurement is explained already, nothing happens. */
int ae_store_explanation_insert(struct ae_store *store, int64_t measurement, const struct ae_explanation *explanation,
                                struct ae_error *err);
/* Likewise; where an answer or a refusal came back already, *ret_known is set and nothing happens. AE_E_USAGE: there is
 * no such submission or prompt. */
struct ae_stored_reading;
int ae_store_reading_insert(struct ae_store *store, const struct ae_stored_reading *reading, bool *ret_known,
                            struct ae_error *err);
/* Statements of one walk; all NULL at first, finalised by ae_explanation_reader_release(). */
struct ae_explanation_reader {
    sqlite3_stmt *head, *phases, *reasons;
};
/* *ret_there: is there one? */
int ae_store_explanation_read(struct ae_store *store, struct ae_explanation_reader *reader, int64_t measurement,
                              struct ae_explanation *ret, bool *ret_there, struct ae_error *err);
void ae_explanation_reader_release(struct ae_explanation_reader *reader);
/* Ends a run that has not ended; else nothing happens. */
int ae_store_run_settle(struct ae_store *store, int64_t id, int64_t finished_ns, struct ae_error *err);

#endif
