#include "proc/image.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl ae_init_image, ae_init_image_size\n"
        "ae_init_image:\n"
        ".incbin \"" AE_INIT_FILE "\"\n"
        "ae_init_image_end:\n"
        ".balign 8\n"
        "ae_init_image_size:\n"
        ".quad ae_init_image_end - ae_init_image\n"
        ".previous\n");

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int image_fd = -1;

/* A sealed memory file; where the system forbids executing those, a file without a name. */
static int make_image(void)
{
    const size_t size = (size_t)ae_init_image_size;
    int fd = memfd_create("ae-init", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0)
        fd = memfd_create("ae-init", MFD_CLOEXEC | MFD_ALLOW_SEALING); /* a kernel before 6.3 */
    if (fd >= 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (ae_write_all(fd, ae_init_image, size) == 0 && fchmod(fd, 0555) == 0 && access(path, X_OK) == 0 &&
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
            return fd;
        (void)close(fd);
    }
    const char *folder = getenv("TMPDIR");
    char name[4096];
    const int n = snprintf(name, sizeof name, "%s/ae-init.XXXXXX", folder && *folder ? folder : "/tmp");
    if (n < 0 || (size_t)n >= sizeof name || (fd = mkostemp(name, O_CLOEXEC)) < 0)
        return -1;
    const int written = ae_write_all(fd, ae_init_image, size) == 0 && fchmod(fd, 0555) == 0;
    (void)close(fd); /* a file open for writing cannot be executed */
    fd = written ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    (void)unlink(name);
    return fd;
}

int ae_init_path(char path[64], struct ae_error *err)
{
    (void)pthread_mutex_lock(&lock);
    if (image_fd < 0)
        image_fd = make_image();
    const int fd = image_fd, saved = errno;
    (void)pthread_mutex_unlock(&lock);
    if (fd < 0)
        return ae_error_errno(err, AE_E_ENV, saved, "the supervisor cannot be written to memory or to TMPDIR");
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return AE_OK;
}
