/* Which system calls a worker may make, in two stages: the first before the device's context is made, the second once
 * it exists and before the first byte of a submission is loaded. Each stage only takes away. The policy is the table in
 * seccomp.c; a call that no rule names is allowed, one that is newer than the table answers ENOSYS, and one of another
 * architecture's numbering kills. */
#ifndef AE_SANDBOX_SECCOMP_H
#define AE_SANDBOX_SECCOMP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum ae_seccomp_stage {
    AE_SECCOMP_FIRST = 1 << 0,  /* CUDA can still start */
    AE_SECCOMP_SECOND = 1 << 1, /* CUDA still works */
};

/* When a rule applies, by one argument. */
enum ae_seccomp_test {
    AE_SECCOMP_ALWAYS,
    AE_SECCOMP_EQUAL,    /* argument == value */
    AE_SECCOMP_NOT,      /* argument != value */
    AE_SECCOMP_NOT_SELF, /* argument is not the caller's own process id */
    AE_SECCOMP_HAS,      /* argument & value */
    AE_SECCOMP_LACKS,    /* !(argument & value) */
};

struct ae_seccomp_rule {
    const char *name;
    int number; /* where the library may be too old to know the name: the number, the same on every architecture */
    enum ae_seccomp_stage stage;
    int answer; /* errno; 0: the process is killed with SIGSYS */
    enum ae_seccomp_test test;
    unsigned argument;
    uint64_t value;
};

/* The whole policy, for tests and for showing it. */
const struct ae_seccomp_rule *ae_seccomp_rules(size_t *ret_count);

/* Puts the stage in force on all threads of the calling process; sets no_new_privs. AE_E_ENV where the kernel does not
 * do it. A stage can never be taken back. */
int ae_seccomp_enforce(enum ae_seccomp_stage stage, struct ae_error *err);

#endif
