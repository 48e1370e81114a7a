/* Readings by models in an archive: members of the line of the submission that they are about, so
 * that programs of before them pass over both. For src/store. */
#ifndef AE_STORE_ARCHIVE_READING_H
#define AE_STORE_ARCHIVE_READING_H

#include "store/reading.h"

#include <jansson.h>

/* Did an answer or a refusal come back? Others are of no use elsewhere. */
bool ae_archive_reading_travels(const struct ae_stored_reading *reading);
/* Puts what models read out of a submission into its line; *ret_count: how many readings. */
int ae_archive_readings_put(struct ae_store *store, const char *submission, json_t *line,
                            size_t *ret_count, struct ae_error *err);
/* Inside of a transaction: takes those that are in a submission's line, and adds the number of new
 * ones to *added. A line that is wrong is AE_OK with *ret_complaint, which is NULL otherwise. */
int ae_archive_readings_read(struct ae_store *store, const char *submission, const json_t *line,
                             size_t *added, const char **ret_complaint, struct ae_error *err);

#endif
