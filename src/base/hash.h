/* Digests. SHA-256 names things (sources, cache keys) and may face an adversary. The 128-bit digest, XXH3 at many GB/s,
 * guards stored bytes against accidents only. */
#ifndef AE_BASE_HASH_H
#define AE_BASE_HASH_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define AE_SHA256_HEX 65 /* 64 lower-case digits and a NUL */

/* AE_E_ENV where OpenSSL offers no SHA-256. */
int ae_sha256(const void *data, size_t size, char ret_hex[AE_SHA256_HEX], struct ae_error *err);
/* Of a regular file's contents; AE_E_NOTFOUND, AE_E_IO. */
int ae_sha256_file(const char *path, char ret_hex[AE_SHA256_HEX], struct ae_error *err);

struct ae_digest {
    uint64_t lo, hi;
};

struct ae_digest ae_digest(const void *data, size_t size);

/* Piecewise: the same digest as of all pieces in a row. */
struct ae_hasher;
struct ae_hasher *ae_hasher_new(void); /* NULL: no memory */
void ae_hasher_update(struct ae_hasher *hasher, const void *data, size_t size);
struct ae_digest ae_hasher_digest(const struct ae_hasher *hasher);
void ae_hasher_free(struct ae_hasher *hasher);

static inline int ae_digest_equal(struct ae_digest a, struct ae_digest b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

#endif
