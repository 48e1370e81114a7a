/* Files: whole reads with a limit, atomic writes, folders. */
#ifndef AE_BASE_FILE_H
#define AE_BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ae_bytes {
    unsigned char *data; /* followed by a NUL that size does not count */
    size_t size;
};

void ae_bytes_release(struct ae_bytes *bytes);

/* Reads a regular file of at most max bytes. *ret is set on success only and released by the caller. */
int ae_file_read(const char *path, size_t max, struct ae_bytes *ret, struct ae_error *err);

/* Writes by way of a temporary file beside path and rename: path has the old contents or all of the new. What is there and
 * no regular file (a pipe, /dev/null) is written to as it is. */
int ae_file_write(const char *path, const void *data, size_t size, struct ae_error *err);

/* A file of a user's that is written piece by piece: what the path had stays until all of the new is there. A link is
 * followed, a file's permissions stay; what is no regular file is written to as it is, and so is a link to what is not
 * there yet. */
struct ae_new_file {
    FILE *stream;
    char path[4096], beside[4096]; /* beside: "" where path is written to as it is */
};

/* AE_E_IO where nothing can be written there. After AE_OK comes ae_new_file_end(). */
int ae_new_file_begin(struct ae_new_file *ret, const char *path, struct ae_error *err);

/* rc: of the writing. Where it is AE_OK and the stream has no failure either, the new file takes its place; else what
 * was written goes away. The first code that is not AE_OK. */
int ae_new_file_end(struct ae_new_file *file, int rc, struct ae_error *err);

/* One that is there as a whole. */
int ae_new_file_write(const char *path, const void *data, size_t size, struct ae_error *err);

bool ae_file_exists(const char *path);

/* mkdir -p with mode 0700 for what is made. */
int ae_folder_make(const char *path, struct ae_error *err);

/* Removes a folder and all below it, never following a symbolic link. A missing folder is fine. */
int ae_folder_remove(const char *path, struct ae_error *err);

/* Writes all of data to fd, going on after short writes and EINTR; 0 or -1 with errno. */
int ae_write_all(int fd, const void *data, size_t size);

/* Fills data from the operating system's random source; AE_E_ENV where there is none. */
int ae_random_bytes(void *data, size_t size, struct ae_error *err);

/* Cleanup attributes: a variable of this sort is closed or freed where it goes out of scope. */
void ae_cleanup_fd(const int *fd);
void ae_cleanup_free(void *pointer);
#define ae_autoclose __attribute__((cleanup(ae_cleanup_fd)))
#define ae_autofree  __attribute__((cleanup(ae_cleanup_free)))

#endif
