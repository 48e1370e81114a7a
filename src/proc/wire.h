/* What parent (proc.c) and supervisor (init.c) tell each other: a block of shared memory with the order and the logs,
 * and packets over a socket pair. */
#ifndef AE_PROC_WIRE_H
#define AE_PROC_WIRE_H

#include <sched.h>
#include <stdint.h>

#define AE_WIRE_MAGIC  0x61652d696e697401u
#define AE_WIRE_FDS    64
#define AE_WIRE_LIMITS 16

/* Followed by the texts (argv, env, cwd, tmpfs folders, each NUL-terminated, in this order), then by two log areas of
 * log_bytes each: the first half keeps the head of the stream, the second is a ring that keeps its tail. */
struct ae_wire_block {
    uint64_t magic;
    uint64_t size, texts_at, logs_at;
    uint32_t argc, envc, tmpfs_count, fd_count, limit_count, has_affinity;
    int32_t socket, landlock_fd, cgroup_fd; /* descriptors as the supervisor inherits them; -1: none */
    int32_t unused;
    struct {
        int32_t fd, number;
    } fds[AE_WIRE_FDS];
    struct {
        int32_t resource, unused;
        uint64_t value;
    } limits[AE_WIRE_LIMITS];
    cpu_set_t affinity;
    uint64_t layers, required, tmpfs_bytes;
    uint64_t read_only;   /* with AE_PROC_MOUNT_NS: all mounts of the namespace but those made for it */
    uint64_t proc_access; /* Landlock rights, in the kernel's bits, below a private /proc */
    int64_t deadline_ns; /* of CLOCK_MONOTONIC; INT64_MAX: none */
    uint64_t log_bytes, log_max;
    uint64_t log_total[2]; /* written by the supervisor: bytes of each stream so far */
};

enum ae_wire_type {
    AE_WIRE_HELLO = 'H',   /* program -> parent, before exec: its credentials tell its pid */
    AE_WIRE_STARTED = 'S', /* supervisor -> parent: exec succeeded or failed */
    AE_WIRE_ENDED = 'E',   /* supervisor -> parent: all is gone */
    AE_WIRE_GO = 'G',      /* parent -> supervisor: the pid is held, you may reap it */
    AE_WIRE_KILL = 'K',    /* parent -> supervisor */
};

enum ae_wire_step {
    AE_WIRE_NONE,
    AE_WIRE_SETUP,   /* pipes, forks */
    AE_WIRE_FDS_PUT, /* descriptors to their numbers */
    AE_WIRE_AFFINITY,
    AE_WIRE_LIMIT,
    AE_WIRE_CWD,
    AE_WIRE_MISSING, /* a required layer; layers tells which there are */
    AE_WIRE_EXEC,
};

struct ae_wire_packet {
    uint32_t type;
    int32_t step, error; /* STARTED: enum ae_wire_step, errno; AE_WIRE_NONE: it runs */
    int32_t outcome;     /* ENDED: enum ae_proc_outcome */
    int32_t code, signal, left_children;
    uint64_t layers;
    int64_t wall_ns, cpu_ns, peak_rss;
};

#endif
