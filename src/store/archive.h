/* Runs as one file that travels between stores (docs/formats.md, "Archives of runs"): results, sources and
 * environments, but nothing of the bank: neither seeds nor instances nor expected outputs are in a store. */
#ifndef AE_STORE_ARCHIVE_H
#define AE_STORE_ARCHIVE_H

#include "store/store.h"

#include <stdio.h>

#define AE_ARCHIVE_SCHEMA "acceleval.archive/1"

struct ae_archive_counts {
    size_t runs, measurements, submissions, environments;
    size_t known;    /* on reading: measurements that were there already */
    size_t readings; /* by models, of the submissions; on reading: new ones */
};

/* Writes the runs of these numbers, or all where count is 0, and then also the programs that models have read and no
 * run measured: as all of it stood at one moment, whatever is evaluated meanwhile. AE_E_NOTFOUND where one is not
 * there, AE_E_IO where the stream fails. tool_version: of the program that writes. */
int ae_archive_write(struct ae_store *store, const int64_t *runs, size_t count, const char *tool_version, FILE *out,
                     struct ae_archive_counts *ret, struct ae_error *err);

/* Does the file begin like an archive, of whatever version? */
bool ae_archive_is(const char *path);

/* Merges an archive into the store: all of it or, after a failure, nothing. Runs that are there already get only
 * what they lack, so that reading twice does no harm. The file may be hostile: AE_E_INPUT with the number of the
 * line. */
int ae_archive_read(struct ae_store *store, const char *path, struct ae_archive_counts *ret, struct ae_error *err);

#endif
