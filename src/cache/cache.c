#include "cache/cache.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY     ".tmp-"
#define TEMPORARY_OLD (3600 * AE_SEC)

/* Ends every entry's file, behind payload and key text. */
struct trailer {
    char magic[8];
    uint64_t payload_size, key_size;
    uint64_t digest_lo, digest_hi; /* of payload and key text */
};

static const char magic[8] = "aecache1";

struct ae_cache {
    char root[AE_CACHE_PATH];
};

/* --- opening -------------------------------------------------------------------------------------------- */

static int default_root(char *root, size_t size, struct ae_error *err)
{
    const char *own = getenv("ACCELEVAL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (own && *own)
        n = snprintf(root, size, "%s", own);
    else if (xdg && *xdg == '/')
        n = snprintf(root, size, "%s/acceleval", xdg);
    else if (home && *home == '/')
        n = snprintf(root, size, "%s/.cache/acceleval", home);
    else
        return ae_error_set(err, AE_E_ENV, "no folder for the cache: set ACCELEVAL_CACHE, XDG_CACHE_HOME or HOME");
    if (n < 0 || (size_t)n >= size / 2)
        return ae_error_set(err, AE_E_ENV, "the path of the cache is too long");
    return AE_OK;
}

int ae_cache_open(struct ae_cache **ret, const char *root, struct ae_error *err)
{
    struct ae_cache made;
    char name[AE_CACHE_PATH];
    if (root && strlen(root) >= sizeof name / 2)
        return ae_error_set(err, AE_E_USAGE, "the path of the cache is too long");
    if (root)
        strcpy(name, root);
    else if (default_root(name, sizeof name, err) != AE_OK)
        return err ? err->code : AE_E_ENV;
    (void)ae_folder_make(name, NULL); /* where it cannot be made, putting says so */
    char *real = realpath(name, NULL); /* entries are named to other processes */
    snprintf(made.root, sizeof made.root, "%s", real ? real : name);
    free(real);
    struct stat st;
    /* Its objects are loaded and run. */
    if (stat(made.root, &st) == 0 && ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022)))
        return ae_error_set(err, AE_E_ENV,
                            "the cache %s belongs to or can be written by others; run chmod go-w on it, or set "
                            "ACCELEVAL_CACHE to a folder of your own",
                            made.root);
    struct ae_cache *cache = malloc(sizeof *cache);
    if (!cache)
        return ae_error_set(err, AE_E_NOMEM, "no memory to open the cache");
    *cache = made;
    *ret = cache;
    return AE_OK;
}

void ae_cache_free(struct ae_cache *cache)
{
    free(cache);
}

const char *ae_cache_root(const struct ae_cache *cache)
{
    return cache->root;
}

static int cannot_write(const struct ae_cache *cache, int errno_value, struct ae_error *err)
{
    const char *mend = errno_value == ENOSPC || errno_value == EDQUOT
                           ? "free space there (acceleval cache prune removes what was not used lately)"
                           : "make it writable for you";
    return ae_error_errno(err, AE_E_IO, errno_value, "the cache %s takes nothing; %s or set ACCELEVAL_CACHE to another folder",
                          cache->root, mend);
}

bool ae_cache_writable(const struct ae_cache *cache, struct ae_error *err)
{
    if (access(cache->root, R_OK | W_OK | X_OK) == 0)
        return true;
    (void)cannot_write(cache, errno, err);
    return false;
}

/* --- names ---------------------------------------------------------------------------------------------- */

int ae_cache_key(const char *key_text, char ret_hex[AE_SHA256_HEX], struct ae_error *err)
{
    return ae_sha256(key_text, strlen(key_text), ret_hex, err);
}

static bool kind_is_valid(const char *kind)
{
    const size_t n = strspn(kind, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n < AE_CACHE_KIND && !kind[n];
}

struct place {
    char folder[AE_CACHE_PATH], path[AE_CACHE_PATH];
};

static int find_place(const struct ae_cache *cache, const char *kind, const char *key_text, struct place *ret,
                      struct ae_error *err)
{
    char hex[AE_SHA256_HEX];
    if (!kind_is_valid(kind) || strlen(key_text) > AE_CACHE_KEY_MAX)
        return ae_error_set(err, AE_E_USAGE, "not a kind or not a key of the cache: %.40s", kind);
    const int rc = ae_cache_key(key_text, hex, err);
    if (rc != AE_OK)
        return rc;
    snprintf(ret->folder, sizeof ret->folder, "%s/%s/%.2s", cache->root, kind, hex);
    snprintf(ret->path, sizeof ret->path, "%s/%s/%.2s/%s", cache->root, kind, hex, hex);
    return AE_OK;
}

/* --- reading -------------------------------------------------------------------------------------------- */

/* The trailer of a mapped file whose sizes fit; false where they do not. */
static bool read_trailer(const void *map, size_t size, struct trailer *ret)
{
    if (size < sizeof *ret)
        return false;
    memcpy(ret, (const char *)map + size - sizeof *ret, sizeof *ret);
    const uint64_t rest = size - sizeof *ret;
    return memcmp(ret->magic, magic, sizeof magic) == 0 && ret->payload_size <= rest &&
           ret->key_size == rest - ret->payload_size;
}

static bool is_whole(const void *map, size_t size, const char *key_text, struct trailer *trailer)
{
    if (!read_trailer(map, size, trailer))
        return false;
    const struct ae_digest digest = ae_digest(map, size - sizeof *trailer);
    return digest.lo == trailer->digest_lo && digest.hi == trailer->digest_hi &&
           trailer->key_size == strlen(key_text) &&
           memcmp((const char *)map + trailer->payload_size, key_text, trailer->key_size) == 0;
}

int ae_cache_get(struct ae_cache *cache, const char *kind, const char *key_text, struct ae_cache_entry *ret,
                 struct ae_error *err)
{
    struct place place;
    const int rc = find_place(cache, kind, key_text, &place, err);
    if (rc != AE_OK)
        return rc;
    ae_autoclose int fd = open(place.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0)
        return ae_error_errno(err, AE_E_NOTFOUND, errno, "not in the cache: %s", place.path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
        (void)unlink(place.path);
        return ae_error_set(err, AE_E_NOTFOUND, "not an entry of the cache, removed: %s", place.path);
    }
    const size_t size = (size_t)st.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return ae_error_errno(err, AE_E_NOMEM, errno, "no memory to map %s", place.path);
    struct trailer trailer;
    if (!is_whole(map, size, key_text, &trailer)) {
        (void)munmap(map, size);
        (void)unlink(place.path);
        return ae_error_set(err, AE_E_NOTFOUND, "damaged in the cache, removed: %s", place.path);
    }
    (void)futimens(fd, NULL); /* used now; a read-only cache does not need to know */
    *ret = (struct ae_cache_entry){
        .data = map, .size = (size_t)trailer.payload_size, .fd = fd, .map = map, .map_size = size};
    memcpy(ret->path, place.path, sizeof ret->path);
    fd = -1; /* the entry's now */
    return AE_OK;
}

void ae_cache_entry_release(struct ae_cache_entry *entry)
{
    if (entry->map) {
        (void)munmap(entry->map, entry->map_size);
        (void)close(entry->fd);
    }
    *entry = (struct ae_cache_entry){.fd = -1};
}

int ae_cache_key_text(const char *path, char **ret, struct ae_error *err)
{
    ae_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct trailer trailer;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return ae_error_errno(err, AE_E_NOTFOUND, errno, "not in the cache: %s", path);
    const off_t end = st.st_size - (off_t)sizeof trailer;
    if (end < 0 || pread(fd, &trailer, sizeof trailer, end) != sizeof trailer ||
        memcmp(trailer.magic, magic, sizeof magic) != 0 || trailer.key_size > AE_CACHE_KEY_MAX ||
        trailer.key_size > (uint64_t)end)
        return ae_error_set(err, AE_E_INPUT, "not an entry of the cache: %s", path);
    char *text = malloc(trailer.key_size + 1);
    if (!text)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a key of the cache");
    const ssize_t n = pread(fd, text, trailer.key_size, end - (off_t)trailer.key_size);
    if (n < 0 || (uint64_t)n != trailer.key_size) {
        free(text);
        return ae_error_set(err, AE_E_IO, "cannot read %s", path);
    }
    text[n] = 0;
    *ret = text;
    return AE_OK;
}

/* --- writing -------------------------------------------------------------------------------------------- */

static int write_entry(int fd, const char *key_text, const struct iovec *pieces, int count)
{
    struct ae_hasher *hasher = ae_hasher_new();
    if (!hasher) {
        errno = ENOMEM;
        return -1;
    }
    struct trailer trailer = {.key_size = strlen(key_text)};
    memcpy(trailer.magic, magic, sizeof magic);
    int failed = 0;
    for (int i = 0; i < count && !failed; i++) {
        ae_hasher_update(hasher, pieces[i].iov_base, pieces[i].iov_len);
        trailer.payload_size += pieces[i].iov_len;
        failed = ae_write_all(fd, pieces[i].iov_base, pieces[i].iov_len);
    }
    ae_hasher_update(hasher, key_text, trailer.key_size);
    const struct ae_digest digest = ae_hasher_digest(hasher);
    ae_hasher_free(hasher);
    trailer.digest_lo = digest.lo;
    trailer.digest_hi = digest.hi;
    return failed || ae_write_all(fd, key_text, trailer.key_size) != 0 ||
                   ae_write_all(fd, &trailer, sizeof trailer) != 0 || fsync(fd) != 0
               ? -1
               : 0;
}

int ae_cache_put(struct ae_cache *cache, const char *kind, const char *key_text, const struct iovec *pieces, int count,
                 struct ae_error *err)
{
    struct place place;
    const int rc = find_place(cache, kind, key_text, &place, err);
    if (rc != AE_OK)
        return rc;
    char temporary[AE_CACHE_PATH];
    const int n = snprintf(temporary, sizeof temporary, "%s/" TEMPORARY "XXXXXX", place.folder);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return ae_error_set(err, AE_E_USAGE, "the path of the cache is too long");
    if (ae_folder_make(place.folder, NULL) != AE_OK)
        return cannot_write(cache, errno, err);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return cannot_write(cache, errno, err);
    int failed = write_entry(fd, key_text, pieces, count) != 0;
    int saved = errno;
    /* 0444: nobody changes it any more; an object is read by the worker under another user, through its descriptor. */
    if (!failed && (fchmod(fd, 0444) != 0 || rename(temporary, place.path) != 0)) {
        failed = 1;
        saved = errno;
    }
    (void)close(fd);
    if (failed) {
        (void)unlink(temporary);
        return cannot_write(cache, saved, err);
    }
    return AE_OK;
}

int ae_cache_remove(struct ae_cache *cache, const char *kind, const char *key_text, struct ae_error *err)
{
    struct place place;
    const int rc = find_place(cache, kind, key_text, &place, err);
    if (rc != AE_OK)
        return rc;
    if (unlink(place.path) != 0 && errno != ENOENT)
        return cannot_write(cache, errno, err);
    return AE_OK;
}

/* --- looking and pruning -------------------------------------------------------------------------------- */

static int64_t of_timespec(struct timespec t)
{
    return (int64_t)t.tv_sec * AE_SEC + t.tv_nsec;
}

static bool is_hex_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == 64 && !name[64];
}

typedef int visit_file(const struct ae_cache_stat *stat, void *context);

/* Temporary files are shown with an empty hex where temporaries is set, else passed over. */
static int walk_folder(const char *folder, const char *kind, bool temporaries, visit_file *visit, void *context)
{
    DIR *dir = opendir(folder);
    int rc = 0;
    for (struct dirent *entry; dir && rc == 0 && (entry = readdir(dir));) {
        const bool temporary = ae_text_starts(entry->d_name, TEMPORARY);
        char path[AE_CACHE_PATH];
        struct stat st;
        const int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!(is_hex_name(entry->d_name) || (temporary && temporaries)) || n < 0 || (size_t)n >= sizeof path ||
            lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        struct ae_cache_stat stat = {.size = (uint64_t)st.st_size, .used_ns = of_timespec(st.st_mtim), .path = path};
        snprintf(stat.kind, sizeof stat.kind, "%s", kind);
        if (!temporary)
            memcpy(stat.hex, entry->d_name, sizeof stat.hex);
        rc = visit(&stat, context);
    }
    if (dir)
        (void)closedir(dir);
    return rc;
}

static int walk(const struct ae_cache *cache, const char *only, bool temporaries, visit_file *visit, void *context)
{
    DIR *kinds = opendir(cache->root);
    int rc = 0;
    for (struct dirent *kind; kinds && rc == 0 && (kind = readdir(kinds));) {
        if (!kind_is_valid(kind->d_name) || (only && strcmp(kind->d_name, only) != 0))
            continue;
        for (unsigned i = 0; i < 256 && rc == 0; i++) {
            char folder[AE_CACHE_PATH];
            const int n = snprintf(folder, sizeof folder, "%s/%s/%02x", cache->root, kind->d_name, i);
            if (n > 0 && (size_t)n < sizeof folder)
                rc = walk_folder(folder, kind->d_name, temporaries, visit, context);
        }
    }
    if (kinds)
        (void)closedir(kinds);
    return rc;
}

int ae_cache_each(struct ae_cache *cache, const char *kind, int (*visit)(const struct ae_cache_stat *, void *),
                  void *context, struct ae_error *err)
{
    if (kind && !kind_is_valid(kind))
        return ae_error_set(err, AE_E_USAGE, "not a kind of the cache: %.40s", kind);
    return walk(cache, kind, false, visit, context);
}

struct file {
    char *path;
    uint64_t size;
    int64_t used_ns;
};

struct files {
    struct file *list;
    size_t count, room;
    int64_t now_ns;
};

static int collect(const struct ae_cache_stat *stat, void *context)
{
    struct files *files = context;
    if (!stat->hex[0]) {
        if (stat->used_ns < files->now_ns - TEMPORARY_OLD)
            (void)unlink(stat->path);
        return 0;
    }
    if (files->count == files->room) {
        const size_t room = files->room ? 2 * files->room : 256;
        struct file *list = realloc(files->list, room * sizeof *list);
        if (!list)
            return AE_E_NOMEM;
        files->list = list;
        files->room = room;
    }
    struct file *file = &files->list[files->count];
    *file = (struct file){strdup(stat->path), stat->size, stat->used_ns};
    if (!file->path)
        return AE_E_NOMEM;
    files->count++;
    return 0;
}

static int newest_first(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return (x->used_ns < y->used_ns) - (x->used_ns > y->used_ns);
}

int ae_cache_prune(struct ae_cache *cache, const char *kind, uint64_t max_bytes, struct ae_cache_pruned *ret,
                   struct ae_error *err)
{
    if (kind && !kind_is_valid(kind))
        return ae_error_set(err, AE_E_USAGE, "not a kind of the cache: %.40s", kind);
    struct files files = {.now_ns = ae_wall_ns()};
    struct ae_cache_pruned pruned = {0};
    int rc = walk(cache, kind, true, collect, &files), saved = 0;
    if (rc == 0 && files.count > 0)
        qsort(files.list, files.count, sizeof *files.list, newest_first);
    for (size_t i = 0; i < files.count; i++) {
        const struct file *file = &files.list[i];
        if (rc == 0 && (pruned.removed_files > 0 || file->size > max_bytes - pruned.kept_bytes)) {
            if (unlink(file->path) != 0 && errno != ENOENT)
                saved = errno;
            pruned.removed_files++;
            pruned.removed_bytes += file->size;
        } else {
            pruned.kept_files++;
            pruned.kept_bytes += file->size;
        }
        free(file->path);
    }
    free(files.list);
    if (rc != 0)
        return ae_error_set(err, rc, "no memory to look through the cache");
    if (saved)
        return cannot_write(cache, saved, err);
    if (ret)
        *ret = pruned;
    return AE_OK;
}
