/* Looking at a worker from outside, through /proc: which of its threads have worked, what it keeps resident, whether it
 * has company. Nothing here asks the worker. */
#ifndef AE_RUN_WATCH_H
#define AE_RUN_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process holds; -1: not known. */
struct ae_watch_holdings {
    /* Bytes of memory that only this process fills: private, swapped out, huge pages, shared but for what it shares with
     * us, and what its descriptors can hold (a pipe has 64 KiB). */
    int64_t resident;
    int64_t anonymous; /* of these, private memory: no program can have it counted that has not filled it */
    int64_t common;    /* and memory that is shared with nobody, all that is mapped; 0 where it is not known */
    int64_t locked;   /* locked or pinned memory, bytes */
    int files;        /* open descriptors */
    int object;       /* the object that was loaded is mapped: 1, or not: 0 */
};

#define AE_WATCH_NOTHING ((struct ae_watch_holdings){-1, -1, 0, -1, -1, -1}) /* nothing known */

struct ae_watch_thread {
    pid_t tid;
    int64_t run_ns; /* on a processor, since it began */
};

struct ae_watch {
    pid_t pid;
    pid_t *own;      /* threads that were there before the object: the worker's and the driver's */
    size_t own_count;
    struct ae_watch_thread *threads; /* the others, at the last look, by tid */
    size_t count;
    int64_t ended_ns; /* what threads had run that had ended, at the last look */
    int64_t main_ns; /* run time of the worker's own thread, at the last look */
    int64_t main_wait_ns; /* how long it could have run and had no processor, likewise */
    int64_t at_ns;   /* of the last look; 0: none yet */
    struct ae_watch_holdings held; /* when the last call had ended, the program stopped; nothing: it gave back since */
    int trials, stirred; /* how often it was asked whether something stirred, and did */
    bool blind;      /* the kernel does not tell */
};

void ae_watch_own(struct ae_watch *watch, pid_t pid);
void ae_watch_release(struct ae_watch *watch);

/* Notes what every thread but our own has run so far. */
void ae_watch_look(struct ae_watch *watch);
/* Something of the caller's that is due anyway and may as well be done while one waits; false: there is nothing left. */
typedef bool ae_meanwhile_fn(void *data);

/* Has any of them worked since the last look, and does it go on doing so, or does one run, the worker's own included?
 * Threads that wind down (a pool that spins for a moment) are given the time to. May take a fifth of a second where there
 * is suspicion, and what is done `meanwhile` (may be NULL); nothing where not. False: all of them sleep. */
bool ae_watch_busy(struct ae_watch *watch, ae_meanwhile_fn *meanwhile, void *data);

/* Has any thread, the worker's own included, run since the last look, or does one run now? For the moment in which the
 * inputs have arrived and the program has not been let go: all of them should stand still. */
bool ae_watch_stirred(struct ae_watch *watch);
/* It did so more often than chance explains (a virtual machine may charge a thread for time that it was not given). */
bool ae_watch_stirs(const struct ae_watch *watch);

/* How long the worker's own thread has waited for a processor since the last look; 0 where another thread has run since, or
 * the kernel does not tell. */
int64_t ae_watch_waited(struct ae_watch *watch);

struct ae_watch_holdings ae_watch_holdings(pid_t pid);
/* All that is resident, what it shares with us included, in bytes: quickly, also where the process is changing its
 * mappings. -1: not known. */
int64_t ae_watch_resident(pid_t pid);

/* Processes beside the worker: its children, and its siblings (orphans of its children come to its parent). */
int ae_watch_company(pid_t pid);

#endif
