#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

void ae_cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

void ae_cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}

void ae_bytes_release(struct ae_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct ae_bytes){0};
}

bool ae_file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

int ae_file_read(const char *path, size_t max, struct ae_bytes *ret, struct ae_error *err)
{
    ae_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ae_error_errno(err, errno == ENOENT ? AE_E_NOTFOUND : AE_E_IO, errno, "cannot open %s", path);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot look at %s", path);
    if (!S_ISREG(st.st_mode))
        return ae_error_set(err, AE_E_INPUT, "%s is not a regular file", path);
    if ((uint64_t)st.st_size > max)
        return ae_error_set(err, AE_E_INPUT, "%s has %lld bytes; the limit is %zu", path, (long long)st.st_size, max);
    size_t size = (size_t)st.st_size, used = 0;
    unsigned char *data = malloc(size + 1);
    if (!data)
        return ae_error_set(err, AE_E_NOMEM, "no memory to read %s (%zu bytes)", path, size);
    while (used < size) {
        const ssize_t n = read(fd, data + used, size - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            const int saved = errno;
            free(data);
            return ae_error_errno(err, AE_E_IO, saved, "cannot read %s", path);
        }
        if (n == 0)
            break; /* it became shorter meanwhile */
        used += (size_t)n;
    }
    data[used] = 0;
    *ret = (struct ae_bytes){data, used};
    return AE_OK;
}

int ae_write_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A pipe, a terminal, /dev/null: to be written to, not to be replaced by a file. */
static int write_through(const char *path, const void *data, size_t size, struct ae_error *err)
{
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    int failed = fd < 0 || ae_write_all(fd, data, size) != 0;
    int saved = errno;
    if (fd >= 0 && close(fd) != 0 && !failed) {
        failed = 1;
        saved = errno;
    }
    return failed ? ae_error_errno(err, AE_E_IO, saved, "cannot write %s; is there space and permission?", path) : AE_OK;
}

int ae_file_write(const char *path, const void *data, size_t size, struct ae_error *err)
{
    char temporary[4096];
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_through(path, data, size, err);
    const int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return ae_error_set(err, AE_E_USAGE, "the path %s is too long", path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot write beside %s; is there space and permission?", path);
    int failed = ae_write_all(fd, data, size) != 0 || fchmod(fd, 0644) != 0;
    int saved = errno;
    if (close(fd) != 0 && !failed) {
        failed = 1;
        saved = errno;
    }
    if (!failed && rename(temporary, path) != 0) {
        failed = 1;
        saved = errno;
    }
    if (failed) {
        (void)unlink(temporary);
        return ae_error_errno(err, AE_E_IO, saved, "cannot write %s; is there space and permission?", path);
    }
    return AE_OK;
}

int ae_new_file_begin(struct ae_new_file *ret, const char *path, struct ae_error *err)
{
    struct stat st, link;
    uint64_t number;
    const bool there = stat(path, &st) == 0;
    const bool replaced = there ? S_ISREG(st.st_mode) : lstat(path, &link) != 0 || !S_ISLNK(link.st_mode);
    *ret = (struct ae_new_file){0};
    ae_autofree char *target = there && replaced ? realpath(path, NULL) : NULL;
    const int n = snprintf(ret->path, sizeof ret->path, "%s", target ? target : path);
    if (n < 0 || (size_t)n + 18 > sizeof ret->beside)
        return ae_error_set(err, AE_E_USAGE, "the path %s is too long", path);
    if (there && access(ret->path, W_OK) != 0) /* the folder's permissions alone decide of a rename */
        return ae_error_errno(err, AE_E_IO, errno, "cannot write %s", path);
    if (!replaced) {
        ret->stream = fopen(ret->path, "we");
        return ret->stream ? AE_OK : ae_error_errno(err, AE_E_IO, errno, "cannot write %s", path);
    }
    const int rc = ae_random_bytes(&number, sizeof number, err);
    if (rc != AE_OK)
        return rc;
    memcpy(ret->beside, ret->path, (size_t)n);
    snprintf(ret->beside + n, sizeof ret->beside - (size_t)n, ".%016llx", (unsigned long long)number);
    const int fd = open(ret->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* as the umask has it */
    if (fd < 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot write beside %s; is there space and permission?", path);
    if ((there && fchmod(fd, st.st_mode & 0777) != 0) || !(ret->stream = fdopen(fd, "w"))) {
        const int saved = errno;
        (void)close(fd);
        (void)unlink(ret->beside);
        return ae_error_errno(err, AE_E_IO, saved, "cannot write beside %s", path);
    }
    return AE_OK;
}

int ae_new_file_end(struct ae_new_file *file, int rc, struct ae_error *err)
{
    errno = 0;
    const bool failed = fflush(file->stream) != 0 || ferror(file->stream);
    int saved = errno;
    const bool closed = fclose(file->stream) == 0;
    if (!closed && !failed)
        saved = errno;
    if (rc == AE_OK && (failed || !closed))
        rc = ae_error_errno(err, AE_E_IO, saved, "cannot write %s; is there space?", file->path);
    if (rc == AE_OK && file->beside[0] && rename(file->beside, file->path) != 0)
        rc = ae_error_errno(err, AE_E_IO, errno, "cannot write %s", file->path);
    if (rc != AE_OK && file->beside[0])
        (void)unlink(file->beside);
    file->stream = NULL;
    return rc;
}

int ae_new_file_write(const char *path, const void *data, size_t size, struct ae_error *err)
{
    struct ae_new_file file;
    const int rc = ae_new_file_begin(&file, path, err);
    if (rc != AE_OK)
        return rc;
    (void)fwrite(data, 1, size, file.stream); /* the end sees whether it failed */
    return ae_new_file_end(&file, AE_OK, err);
}

int ae_folder_make(const char *path, struct ae_error *err)
{
    char copy[4096];
    const size_t length = strlen(path);
    if (length == 0 || length >= sizeof copy)
        return ae_error_set(err, AE_E_USAGE, "the path of a folder is empty or too long");
    memcpy(copy, path, length + 1);
    for (char *p = copy + 1;; p++) {
        if (*p && *p != '/')
            continue;
        const char kept = *p;
        *p = 0;
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            return ae_error_errno(err, AE_E_IO, errno, "cannot make the folder %s", copy);
        *p = kept;
        if (!kept)
            break;
    }
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return ae_error_set(err, AE_E_IO, "%s is not a folder", path);
    return AE_OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int ae_folder_remove(const char *path, struct ae_error *err)
{
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 && errno != ENOENT)
        return ae_error_errno(err, AE_E_IO, errno, "cannot remove the folder %s", path);
    return AE_OK;
}

int ae_random_bytes(void *data, size_t size, struct ae_error *err)
{
    char *p = data;
    while (size > 0) {
        const ssize_t n = getrandom(p, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ae_error_errno(err, AE_E_ENV, errno, "the system's random source does not answer");
        p += n;
        size -= (size_t)n;
    }
    return AE_OK;
}
