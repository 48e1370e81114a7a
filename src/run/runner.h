/* One worker process with one object: starting it in its sandbox, giving it commands, ending it. Nothing that the worker
 * says is believed but that it rang; what its author may want to know (a loader's message) is passed on as text. */
#ifndef AE_RUN_RUNNER_H
#define AE_RUN_RUNNER_H

#include "base/file.h"
#include "call/trace.h"
#include "judge/measurement.h"
#include "proc/proc.h"
#include "run/buffers.h"
#include "run/watch.h"
#include "sandbox/cgroup.h"

#include <sched.h>

/* Layers of a worker's sandbox beside those of proc/proc.h, in the same mask. */
#define AE_LAYER_FILTER_1 (UINT64_C(1) << 32) /* system calls, from the start of the worker */
#define AE_LAYER_FILTER_2 (UINT64_C(1) << 33) /* further ones, from before the object is loaded */
#define AE_LAYER_PROVED   (UINT64_C(1) << 34) /* every denial was tried on this machine, in this invocation */
#define AE_LAYER_MEMORY   (UINT64_C(1) << 35) /* the control group's limit of memory */
#define AE_LAYER_PIDS     (UINT64_C(1) << 36) /* that of processes and threads */

/* Text of such a mask: "pid_ns landlock filter_1"; "none". Cut to size. Returns text. */
const char *ae_layers_text(uint64_t layers, char *text, size_t size);

/* Guards that a test leaves out, to show that what they catch would go through without them. The product has no way to
 * set them. */
enum ae_guard {
    AE_GUARD_NEW_DATA = 1 << 0,  /* every trial has an instance of its own */
    AE_GUARD_RELOAD = 1 << 1,    /* the object is loaded anew for every group */
    AE_GUARD_TWIN = 1 << 2,      /* near-twin */
    AE_GUARD_IDLE = 1 << 3,      /* no thread works between calls */
    AE_GUARD_CENSUS = 1 << 4,    /* no other processes */
    AE_GUARD_KEPT = 1 << 5,      /* memory comes back */
    AE_GUARD_LATE = 1 << 6,      /* outputs are compared once more */
    AE_GUARD_CANARY = 1 << 7,    /* surroundings of the arrays */
    AE_GUARD_INPUTS = 1 << 8,    /* inputs are compared afterwards */
    AE_GUARD_POISON = 1 << 9,    /* outputs do not start as the last call left them */
    AE_GUARD_ADDRESS = 1 << 10,  /* arrays move from call to call */
    AE_GUARD_FLOOR = 1 << 11,    /* no call faster than reading its inputs */
    AE_GUARD_FAMILIES = 1 << 12, /* adversarial families */
    AE_GUARD_SPACE = 1 << 13,    /* limit of address space */
    AE_GUARD_HELD = 1 << 14,     /* device memory, seen from outside */
};

/* What a worker is started with; the same for all workers of an evaluation. */
struct ae_runner_options {
    const char *worker;      /* path of acceleval-worker */
    enum ae_target target;
    int device;              /* N of its node /dev/nvidiaN; cuda only */
    const char *device_uuid; /* so that it is the only one that the worker sees; NULL: the first */
    const char *cuda_lib;    /* folder of the toolkit's libraries; NULL: none */
    const cpu_set_t *cores;  /* that the submission may use */
    enum ae_spin spin;
    bool single;             /* one core: the reference */
    bool beside;             /* others run at the same time: on any of the cores, not on the one that `single` takes */
    bool ledger;             /* allocations are counted; nothing is timed */
    bool trace;              /* calls are profiled; nothing is timed */
    /* Program and options, NULL-terminated, that the worker is run under: a sanitizer or a profiler, which needs system
     * calls, files and sockets. So LANDLOCK, NET_NS and the filters are left out: not for what must hold against an
     * attacker, and nothing is timed. NULL: none. */
    const char *const *tool;
    uint64_t memory_bytes;   /* private memory of the worker */
    bool tight;              /* limits of its control group so low that a proof reaches them */
    uint64_t layers_off;     /* layers left out on purpose: tests that show a guard at work */
    unsigned guards_off;     /* the same with enum ae_guard */
};

/* What became of a command. */
enum ae_answer {
    AE_ANSWER_DONE,     /* it rang; runner->answers->result says more, to be taken as text */
    AE_ANSWER_TIMEOUT,
    AE_ANSWER_DEAD,     /* the process has ended */
};

struct ae_runner {
    struct ae_runner_options options;
    struct ae_proc *proc;
    struct ae_orders *orders;
    struct ae_answers *answers;
    struct ae_buffers buffers;
    struct ae_watch watch;   /* its threads as they were when it last had nothing to do */
    uint64_t layers;         /* in force */
    struct ae_trace_memory_map *trace; /* hostile bytes; NULL without options.trace */
    uint32_t sequence;
    struct ae_cgroup group;  /* that it is in; none where the machine gives none */
    bool stopped;            /* by a signal, where its group cannot be frozen */
    int64_t oom_kills;       /* ae_oom_kills() when it was started */
    int64_t group_kills;     /* after ae_runner_stop(): in its group, for want of memory; -1: nobody counted */
    bool loaded;             /* an object has been loaded: the process is not ours alone any more */
    int64_t arm_limit_ns;    /* what arming takes beyond this is charged to the call */
    char text[AE_WORKER_TEXT]; /* what came with the last answer */
    bool dead;
};

/* Starts a worker for the object (bytes of a shared object, not kept) and waits until it is ready. Its shared memory
 * holds instances up to buffer_bytes (ae_buffers_need). Returns AE_E_ENV where the machine does not let it start. */
int ae_runner_start(struct ae_runner *ret, const struct ae_runner_options *options, const void *object,
                    size_t object_size, size_t buffer_bytes, struct ae_error *err);

/* Kills what is left and frees everything. *ret_log (may be NULL): what it printed, to be freed by the caller, or
 * NULL; *ret_result (may be NULL) how it ended. */
/* Lets the worker, and the tool that it runs under, end by themselves; false where they do not in time. Stop it then. */
bool ae_runner_leave(struct ae_runner *runner, int64_t timeout_ns);
void ae_runner_stop(struct ae_runner *runner, char **ret_log, struct ae_proc_result *ret_result);

/* How many processes of this machine the kernel has killed for want of memory; -1: it does not say. */
int64_t ae_oom_kills(void);

/* The layers that a worker asks for here, AE_LAYER_PROVED not among them. */
uint64_t ae_runner_wanted_layers(void);

/* A command other than CALL. */
enum ae_answer ae_runner_command(struct ae_runner *runner, enum ae_order command, int64_t timeout_ns);
/* AE_ORDER_RAMP; `awake`: the device is at its clocks, and only its cache is emptied. */
enum ae_answer ae_runner_ramp(struct ae_runner *runner, bool awake, int64_t timeout_ns);
/* AE_ORDER_ARM; *ret_took_ns: from the bell until the answer was seen, to some microseconds unless AE_SPIN_NEVER. */
enum ae_answer ae_runner_arm(struct ae_runner *runner, int64_t timeout_ns, int64_t *ret_took_ns);

/* The text that came with the last answer, made printable. Valid until the next command. */
const char *ae_runner_text(struct ae_runner *runner);

/* The doorbell of a call: rings it and returns the time just before. */
int64_t ae_runner_ring_call(struct ae_runner *runner);
/* Waits for the second ring; *ret_returned_ns, *ret_done_ns: when each ring was seen. With AE_SPIN_ALWAYS
 * and probe_inst given, the outputs are probed between the rings as far as time allows. */
enum ae_answer ae_runner_wait_call(struct ae_runner *runner, const struct ae_instance *probe_inst, int64_t deadline_ns,
                                   int64_t *ret_returned_ns, int64_t *ret_done_ns);

/* Stops and continues all threads of the worker. False: not all of them, or nobody knows. */
bool ae_runner_freeze(struct ae_runner *runner);
void ae_runner_thaw(struct ae_runner *runner);

/* A copy of what the worker's tracer holds of the last call: hostile bytes for ae_trace_read(), freed by the caller.
 * AE_E_ENV with the reason where there is none. */
int ae_runner_trace(struct ae_runner *runner, int64_t timeout_ns, struct ae_bytes *ret, struct ae_error *err);

/* Processor time that the worker has used; -1 where it cannot be told. */
int64_t ae_runner_cpu_ns(const struct ae_runner *runner);

#endif
