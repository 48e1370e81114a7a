/* Landlock by raw system calls: a ruleset that refuses every right the running kernel knows and grants back what is
 * listed. It is made in the parent and put in force in the child (ae_proc_spec.landlock_fd), or by a process on itself.
 * Rules bind to what a path names when the ruleset is made, and hold for everything below it. */
#ifndef AE_SANDBOX_LANDLOCK_H
#define AE_SANDBOX_LANDLOCK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rights in the terms of a policy; each stands for all kernel rights that belong to it. */
enum ae_landlock_right {
    AE_LANDLOCK_READ = 1 << 0,    /* read files */
    AE_LANDLOCK_LIST = 1 << 1,    /* list folders */
    AE_LANDLOCK_EXECUTE = 1 << 2, /* execute files (libraries need READ only) */
    AE_LANDLOCK_WRITE = 1 << 3,   /* write and truncate existing files */
    AE_LANDLOCK_MAKE = 1 << 4,    /* make, rename and remove files, folders and symbolic links; no devices */
    AE_LANDLOCK_IOCTL = 1 << 5,   /* ioctl on devices */
};

struct ae_landlock_rule {
    const char *path;
    unsigned rights;
    bool optional; /* a missing path is passed over; otherwise it is an error, never a silently thinner policy */
};

/* What a kernel does beside the file system, where it can: all TCP bind and connect refused from ABI 4 on, abstract
 * UNIX sockets and signals to processes outside refused from ABI 6 on. */
#define AE_LANDLOCK_NET   (1u << 0)
#define AE_LANDLOCK_SCOPE (1u << 1)

/* ABI version of the running kernel; 0: no Landlock (old kernel, or switched off). */
int ae_landlock_abi(void);

/* A mask of rights in the bits of the running kernel, as far as it knows them, for a folder. */
uint64_t ae_landlock_access(unsigned rights);

/* A ruleset as a close-on-exec descriptor in *ret_fd. AE_E_ENV without Landlock; AE_E_NOTFOUND names a missing path.
 * A kernel older than ABI 7 refuses less (truncate from 3 on, ioctl from 5 on): what it does not know stays allowed. */
int ae_landlock_make(const struct ae_landlock_rule *rules, size_t count, unsigned beside, int *ret_fd,
                     struct ae_error *err);

/* Puts a ruleset in force on the calling thread and its later children; sets no_new_privs. */
int ae_landlock_enforce(int fd, struct ae_error *err);

#endif
