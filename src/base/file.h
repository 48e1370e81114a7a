/* Files: whole reads with a limit, atomic writes, folders. */
#ifndef AE_BASE_FILE_H
#define AE_BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

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
