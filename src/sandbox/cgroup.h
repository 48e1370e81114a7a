/* Control groups (cgroup v2) around a worker: what it and all that it starts may take together, and the means to freeze
 * and to kill all of it at once.
 *
 * Where a group may be made depends on the machine: root may on a host, an ordinary user where a part of the tree has
 * been handed to him (a systemd user manager does so), a container mostly may not. Hosts with cgroup v1, and hybrid ones
 * whose controllers are all in v1, give freezing and killing at best. Whatever is missing is told, never an error.
 *
 * A group is a folder "acceleval-..." that its maker holds a lock on (flock). The lock goes with the maker however he
 * ends, so whoever comes next can tell what was left behind, also where he does not see the maker's pid, and removes it. */
#ifndef AE_SANDBOX_CGROUP_H
#define AE_SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AE_CGROUP_PATH 4096

enum ae_cgroup_means {
    AE_CGROUP_MEMORY = 1 << 0, /* a limit of memory, over which the kernel kills and keeps count */
    AE_CGROUP_PIDS = 1 << 1,   /* a limit of processes and threads together */
    AE_CGROUP_FREEZE = 1 << 2,
    AE_CGROUP_KILL = 1 << 3, /* all at once, so that nothing can outrun it by forking */
};

#define AE_CGROUP_ALL (AE_CGROUP_MEMORY | AE_CGROUP_PIDS | AE_CGROUP_FREEZE | AE_CGROUP_KILL)

/* Where groups are made. */
struct ae_cgroup_place {
    char folder[AE_CGROUP_PATH]; /* "": nowhere */
    unsigned means;              /* that a group there has, enum ae_cgroup_means */
    char lack[512];              /* where some are missing: why, and what to do, in a sentence */
    /* A group with processes of its own cannot hand controllers on: where this process was the only one in its group, it
     * has gone into a leaf of it. */
    char home[AE_CGROUP_PATH], leaf[AE_CGROUP_PATH];
    int leaf_lock; /* descriptor; meaningful where leaf is not "" */
};

struct ae_cgroup_limits {
    uint64_t memory_bytes; /* of processes, shared memory, pinned memory and the kernel on their behalf; 0: no limit */
    uint64_t pids;         /* 0: no limit */
};

struct ae_cgroup {
    char path[AE_CGROUP_PATH]; /* "": none */
    int folder;                /* descriptor, with the lock on it; for ae_proc_spec.cgroup_fd */
    unsigned means;            /* in force: limits only where they were asked for and the kernel has taken them */
    bool here;                 /* in the place of this process */
};

/* Finds a place for the groups of this process and removes what evaluators that are gone have left there. `mounts` and
 * `self`: files to read instead of /proc/self/mountinfo and /proc/self/cgroup (tests); NULL. */
void ae_cgroup_place_open(struct ae_cgroup_place *ret, const char *mounts, const char *self);
/* Goes back to where it was, if it has moved. No group of the place may be left. */
void ae_cgroup_place_close(struct ae_cgroup_place *place);

/* The place of this process, found when first asked for; safe beside other threads. What it lacks, as in `lack`, goes to
 * text, cut to size. Returns its means. */
unsigned ae_cgroup_here(char *text, size_t size);
/* Forgets it, unless a group is left there: the process is then where it was. */
void ae_cgroup_leave(void);

/* An empty group in `place`, or in that of this process where place is NULL. Where none can be made *ret is none, which
 * all functions below take for "nothing to do". The caller removes it. */
void ae_cgroup_make(struct ae_cgroup *ret, const struct ae_cgroup_place *place, const struct ae_cgroup_limits *limits);
/* Kills what is left in it, waits until it is gone (two seconds at most) and takes the group away. */
void ae_cgroup_remove(struct ae_cgroup *group);

/* Stops all its threads; true once the kernel says that they have stopped. A kernel or a copy on a device goes on. */
bool ae_cgroup_freeze(const struct ae_cgroup *group);
void ae_cgroup_thaw(const struct ae_cgroup *group);

/* How many of its processes the kernel has killed for want of memory; -1: no memory limit, so nobody counts. */
int64_t ae_cgroup_memory_kills(const struct ae_cgroup *group);

/* Processes in it, those ended and not reaped among them; -1: it is not told. */
int ae_cgroup_population(const struct ae_cgroup *group);

#endif
