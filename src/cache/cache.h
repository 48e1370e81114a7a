/* A content-addressed store for what is costly to make again: objects, expected outputs, baselines. An entry has a kind
 * ("object"), a key text (everything that its contents depend on) and a payload. It lies in one file
 * ROOT/KIND/HH/HEX, HEX = SHA-256 of the key text: the payload first (so that a shared object can be loaded by its
 * path), behind it the key text and a trailer with sizes and digest.
 *
 * Entries appear whole or not at all and never change; any number of processes may use one root. What is damaged is
 * removed and reads as AE_E_NOTFOUND, so that it is made again. Folders are private to the user (0700). */
#ifndef AE_CACHE_CACHE_H
#define AE_CACHE_CACHE_H

#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct ae_cache;

#define AE_CACHE_PATH       4096
#define AE_CACHE_KIND       32  /* lower-case letters, digits, '_'; NUL included */
#define AE_CACHE_KEY_MAX    ((size_t)1 << 20)

/* root NULL: $ACCELEVAL_CACHE, else $XDG_CACHE_HOME/acceleval, else ~/.cache/acceleval. Opens even where the root can
 * be neither made nor written: then gets work as far as they can and puts answer AE_E_IO with what to do. AE_E_ENV only
 * where no root can be named. */
int ae_cache_open(struct ae_cache **ret, const char *root, struct ae_error *err);
void ae_cache_free(struct ae_cache *cache);
const char *ae_cache_root(const struct ae_cache *cache);
/* Whether puts can be expected to work; else why not goes into err. */
bool ae_cache_writable(const struct ae_cache *cache, struct ae_error *err);

/* The name of a key: hex SHA-256 of its text. */
int ae_cache_key(const char *key_text, char ret_hex[AE_SHA256_HEX], struct ae_error *err);

struct ae_cache_entry {
    const void *data; /* read-only mapping, page-aligned; valid although the entry be pruned meanwhile */
    size_t size;      /* of the payload */
    int fd;           /* of the file, close-on-exec: also valid after pruning */
    char path[AE_CACHE_PATH];
    /* private */
    void *map;
    size_t map_size;
};

/* Payload of an entry, its digest verified; AE_E_NOTFOUND: make it. Marks the entry as used. */
int ae_cache_get(struct ae_cache *cache, const char *kind, const char *key_text, struct ae_cache_entry *ret,
                 struct ae_error *err);
void ae_cache_entry_release(struct ae_cache_entry *entry);

/* Stores the concatenation of the pieces, replacing an entry of the same key. AE_E_IO (disk full, read-only, no
 * permission) says what to do; the work at hand can go on uncached. */
int ae_cache_put(struct ae_cache *cache, const char *kind, const char *key_text, const struct iovec *pieces, int count,
                 struct ae_error *err);

/* Removing what is not there is fine. */
int ae_cache_remove(struct ae_cache *cache, const char *kind, const char *key_text, struct ae_error *err);

struct ae_cache_stat {
    char kind[AE_CACHE_KIND];
    char hex[AE_SHA256_HEX];
    uint64_t size;    /* of the file */
    int64_t used_ns;  /* last put or get, CLOCK_REALTIME */
    const char *path; /* valid during the visit */
};

/* Visits every entry (of one kind, or of all where kind is NULL) until visit returns other than 0, which is then
 * returned. Files that are no entries are passed over. */
int ae_cache_each(struct ae_cache *cache, const char *kind, int (*visit)(const struct ae_cache_stat *, void *),
                  void *context, struct ae_error *err);

/* Key text of an entry found by ae_cache_each(); freed by the caller. */
int ae_cache_key_text(const char *path, char **ret, struct ae_error *err);

struct ae_cache_pruned {
    uint64_t kept_files, kept_bytes, removed_files, removed_bytes;
};

/* Removes the least recently used entries (of one kind, or of all) until at most max_bytes are left, and temporary
 * files that a killed process left more than an hour ago. ret may be NULL. */
int ae_cache_prune(struct ae_cache *cache, const char *kind, uint64_t max_bytes, struct ae_cache_pruned *ret,
                   struct ae_error *err);

#endif
