/* What both directions of an archive share. For src/store. */
#ifndef AE_STORE_ARCHIVE_TEXT_H
#define AE_STORE_ARCHIVE_TEXT_H

#include "base/error.h"
#include "base/hash.h"

#include <stddef.h>

/* Goes on with the chain of digests: the SHA-256 of the digest so far ("" at first) followed by the line. Finds
 * truncation and damage; who wants to forge an archive computes it anew. */
int ae_archive_chain(char chain[AE_SHA256_HEX], const char *line, size_t size, struct ae_error *err);

#endif
