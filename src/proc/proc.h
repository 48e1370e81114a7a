/* The one place that starts programs.
 *
 * A program runs under a small supervisor (init.c, embedded in the library and run from memory): parent -> supervisor
 * -> [PID 1 of a new pid namespace ->] program. The supervisor keeps the program's standard output and error (head and
 * tail, so that a flood never blocks the program nor fills memory, even while the parent is busy), holds the deadline,
 * and kills every descendant, double-forked ones too, when the program ends, when it is told to, or when the parent is
 * gone. Nothing of the parent's memory is copied into it, so starting is cheap and safe however large and threaded the
 * parent is.
 *
 * The program gets: the given arguments and environment only, /dev/null as standard input, exactly the given
 * descriptors, its own session, default signal dispositions and an empty signal mask.
 *
 * Layers of isolation are asked for by a bit mask and taken as far as kernel and container allow; what took effect is
 * reported, and what is `required` but missing makes the start fail. */
#ifndef AE_PROC_PROC_H
#define AE_PROC_PROC_H

#include "base/error.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ae_proc_layer {
    AE_PROC_USER_NS = 1 << 0,  /* user namespace, the user mapped to itself; taken only as the means to the others */
    AE_PROC_MOUNT_NS = 1 << 1, /* mounts of its own, changes stay inside */
    AE_PROC_PID_NS = 1 << 2,   /* sees and can signal only its own descendants; all die with it at once */
    AE_PROC_NET_NS = 1 << 3,   /* no network interface but a loopback that is down */
    AE_PROC_IPC_NS = 1 << 4,
    AE_PROC_UTS_NS = 1 << 5,
    AE_PROC_CGROUP_NS = 1 << 6,
    AE_PROC_PRIVATE_PROC = 1 << 7,  /* /proc of the pid namespace; needs MOUNT_NS and PID_NS */
    AE_PROC_PRIVATE_TMP = 1 << 8,   /* an empty tmpfs over each of spec.tmpfs; needs MOUNT_NS */
    AE_PROC_LANDLOCK = 1 << 9,      /* spec.landlock_fd in force */
    AE_PROC_OTHER_UID = 1 << 10,    /* runs as AE_PROC_NOBODY; only a parent that is root can do that */
    AE_PROC_NO_CAPS = 1 << 11,      /* no capability, also none to be gained: bounding set empty */
    AE_PROC_NO_NEW_PRIVS = 1 << 12, /* set-uid programs stay powerless */
    AE_PROC_CGROUP = 1 << 13,       /* in the control group spec.cgroup_fd, with all that it starts */
};

#define AE_PROC_NOBODY 65534

/* Text of a mask for people and records: "pid_ns landlock no_caps"; "none". Cut to size. Returns text. */
const char *ae_proc_layers_text(uint64_t layers, char *text, size_t size);

struct ae_proc_fd {
    int fd;     /* of the parent */
    int number; /* that the program finds it under; 3 or more, no two alike, at most 255 */
};

struct ae_proc_limit {
    int resource;   /* RLIMIT_* */
    uint64_t value; /* soft and hard; lowered to the hard limit in force where that is less. RLIMIT_NPROC counts all
                     * processes of a user, so it is set only under USER_NS or OTHER_UID. RLIMIT_CORE is always 0. */
};

#define AE_PROC_LOG_BYTES ((size_t)65536)

struct ae_proc_spec {
    const char *const *argv; /* argv[0]: path of the program, not searched for; NULL-terminated */
    const char *const *env;  /* "NAME=value", NULL-terminated; NULL: empty */
    const char *cwd;         /* NULL: "/" */

    const struct ae_proc_fd *fds;
    size_t fd_count; /* at most 64 */
    const struct ae_proc_limit *limits;
    size_t limit_count; /* at most 16 */
    const cpu_set_t *affinity; /* NULL: that of the caller */

    uint64_t layers;          /* asked for, enum ae_proc_layer */
    uint64_t required;        /* of these, without which the start fails with AE_E_ENV */
    int landlock_fd;          /* with AE_PROC_LANDLOCK: a ruleset made by sandbox/landlock.h; stays the caller's */
    uint64_t proc_access;     /* with AE_PROC_LANDLOCK and AE_PROC_PRIVATE_PROC: what ae_landlock_access() gives; added to
                               * the ruleset for the new /proc, which no rule made beforehand can name */
    int cgroup_fd;            /* with AE_PROC_CGROUP: the folder of a group of cgroup v2; stays the caller's, who removes
                               * the group after the end. Where the kernel can, what is in it is killed all at once */
    bool read_only;           /* with AE_PROC_MOUNT_NS: no mount of the machine is written to where the kernel can deny it
                               * (5.12), not even the time of a file's last use; tmpfs and a private /proc are */
    const char *const *tmpfs; /* with AE_PROC_PRIVATE_TMP: folders to cover, NULL-terminated */
    uint64_t tmpfs_bytes;     /* size of each; 0: 64 MiB */

    int64_t timeout_ns; /* from the start; 0: none */
    size_t log_bytes;   /* kept of each stream; 0: AE_PROC_LOG_BYTES */
    uint64_t log_max;   /* output of both streams together that ends the program (AE_PROC_LOG_LIMIT); 0: no limit */
};

enum ae_proc_outcome {
    AE_PROC_EXITED,    /* code */
    AE_PROC_SIGNALED,  /* signal */
    AE_PROC_TIMED_OUT, /* killed at spec.timeout_ns */
    AE_PROC_LOG_LIMIT, /* killed for printing more than spec.log_max */
    AE_PROC_KILLED,    /* by ae_proc_kill() */
    AE_PROC_LOST,      /* the supervisor itself was killed; nothing is known of the program */
};

const char *ae_proc_outcome_name(enum ae_proc_outcome outcome); /* "exited", "timed_out", ... */

struct ae_proc_stream {
    char *text;     /* what was kept, NUL-terminated; where more was printed: head, a line that says how much is left
                     * out, tail. May hold any bytes, NUL too. */
    size_t size;    /* of text */
    uint64_t total; /* bytes that the program printed */
};

struct ae_proc_result {
    enum ae_proc_outcome outcome;
    int code;            /* AE_PROC_EXITED: exit status */
    int signal;          /* AE_PROC_SIGNALED: number */
    bool left_children;  /* descendants were still alive when the program ended, and were killed */
    int64_t wall_ns;     /* start to end, as the supervisor saw it */
    int64_t cpu_ns;      /* user and system time of the program and the descendants it waited for */
    int64_t peak_rss;    /* bytes; of the largest single process among them */
    uint64_t layers;     /* in force */
    struct ae_proc_stream out, err;
};

void ae_proc_result_release(struct ae_proc_result *result);

struct ae_proc;

/* Returns once the program's exec has succeeded, with its descriptors in place; AE_E_ENV where it cannot be started
 * (no such program, no permission, a required layer missing), with the reason. The caller's descriptors, ruleset and
 * texts are not needed afterwards. */
int ae_proc_start(struct ae_proc **ret, const struct ae_proc_spec *spec, struct ae_error *err);

/* Waits at most wait_ns (0: only looks) for the end; true once it has ended. */
bool ae_proc_poll(struct ae_proc *proc, int64_t wait_ns);

/* Becomes readable when the program has ended; for poll(2) over many. Owned by proc. */
int ae_proc_fd(const struct ae_proc *proc);

/* Of the program in the caller's pid namespace, and a pidfd on it (owned by proc): for freezing it, looking at its
 * /proc, moving it to a cgroup. The pid stays its own until it has ended. */
pid_t ae_proc_pid(const struct ae_proc *proc);
int ae_proc_pidfd(const struct ae_proc *proc);

/* Layers in force. */
uint64_t ae_proc_layers(const struct ae_proc *proc);

/* Waits for the end and tells what it was. Once only for each proc. */
int ae_proc_wait(struct ae_proc *proc, struct ae_proc_result *ret, struct ae_error *err);

/* Orders the program and all its descendants killed and returns at once; ae_proc_wait() tells when they are gone. */
void ae_proc_kill(struct ae_proc *proc);

/* Kills what still runs and waits until it is gone. NULL is fine. */
void ae_proc_free(struct ae_proc *proc);

/* Start, wait, free. */
int ae_proc_run(const struct ae_proc_spec *spec, struct ae_proc_result *ret, struct ae_error *err);

#endif
