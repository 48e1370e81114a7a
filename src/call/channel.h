/* The memory that the evaluating process and acceleval-worker share, and the commands that pass through it.
 *
 * There are three sealed memfds. `orders` is written by the parent and read-only for the worker (F_SEAL_FUTURE_WRITE
 * after the parent has mapped it): the doorbell cannot be tampered with. `answers` is written by the worker: the
 * parent believes nothing in it but the two rings, and those only as "go and look". `data` holds the arguments.
 *
 * When the worker is ready it stores AE_READY in `done`. A command is written into orders, then the doorbell gets the
 * next sequence number; the worker answers by storing that number in `done` (and, for a call, in `returned` first). */
#ifndef AE_CALL_CHANNEL_H
#define AE_CALL_CHANNEL_H

#include "call/call.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#define AE_PAGE       ((size_t)4096)
#define AE_HUGE_PAGE  ((size_t)2 << 20)
/* Guard on either side of each argument: longer than a stride that skips a page. */
#define AE_GUARD      ((size_t)64 << 10)
#define AE_WORKER_TEXT 512
#define AE_READY       1u
/* Raised whenever anything below changes: a worker of another build would take one command for another. */
#define AE_CHANNEL_VERSION 4

/* How both sides wait around a call. Waking a sleeper costs tens of microseconds where its core has gone idle. */
enum ae_spin {
    AE_SPIN_NEVER,   /* one core: a spinning side keeps the other from working */
    AE_SPIN_BRIEFLY, /* two: the worker from AE_ORDER_ARM to the doorbell, the parent at the start of the call */
    AE_SPIN_ALWAYS,  /* three or more: the parent has one for itself */
};

/* Descriptors that the worker finds open. */
enum ae_worker_fd {
    AE_FD_ORDERS = 3,
    AE_FD_ANSWERS = 4,
    AE_FD_DATA = 5,
    AE_FD_OBJECT = 6, /* sealed memfd that holds the shared object */
    AE_FD_TRACE = 7,  /* sealed memfd of call/trace.h; only where orders->trace */
};

enum ae_order {
    AE_ORDER_NONE,
    AE_ORDER_LOAD,   /* dlopen the object, find solution_compute */
    AE_ORDER_UNLOAD, /* dlclose, and see that it went */
    AE_ORDER_MAP,    /* map the arguments of the next call at their addresses, populated */
    AE_ORDER_RAMP,   /* device only: take back what the last call set, flush L2, clocks up */
    AE_ORDER_ARM,    /* the call comes at once: wake the device; wait without sleeping, unless AE_SPIN_NEVER */
    AE_ORDER_CALL,
    AE_ORDER_TRIM,   /* give free memory back to the system, so that it does not look kept */
    AE_ORDER_PROVE,  /* try what orders->proof names; never after a LOAD */
    AE_ORDER_TRACE,  /* write what the last call left in the tracer to AE_FD_TRACE */
    AE_ORDER_EXIT,
};

/* Forbidden acts that a worker without an object tries on itself, to prove that the sandbox denies them. It answers
 * with the errno of the refusal in `code`, 0 where the act succeeded; some end it by SIGSYS. */
enum ae_proof {
    AE_PROOF_READ_SYSTEM,   /* a file of the system that its view leaves out */
    AE_PROOF_READ_SECRET,   /* orders->path */
    AE_PROOF_WRITE_FILE,    /* make a file in any of the usual places */
    AE_PROOF_SEE_PARENT,    /* orders->parent in /proc */
    AE_PROOF_SIGNAL_PARENT,
    AE_PROOF_SOCKET,        /* of any family */
    AE_PROOF_FORK,
    AE_PROOF_DESCRIPTORS,   /* one that was not given to it */
    AE_PROOF_WRITE_ORDERS,  /* make the orders writable */
    AE_PROOF_RESIZE,        /* the shared memory */
    AE_PROOF_PRIVILEGE,     /* become root */
    AE_PROOF_PROCESSORS,    /* move to other processors */
    AE_PROOF_TIMER,         /* have a signal come later */
    AE_PROOF_EXEC,
    AE_PROOF_PTRACE,        /* from here on: killed */
    AE_PROOF_WRITE_MEMORY,  /* of another process */
    AE_PROOF_BPF,
    AE_PROOF_IO_URING,
    AE_PROOF_KEYS,
    AE_PROOF_MOUNT,
    AE_PROOF_NAMESPACE,
    AE_PROOF_USERFAULT,
    AE_PROOF_COUNT,         /* of those that are tried everywhere */
    AE_PROOF_THREADS = AE_PROOF_COUNT, /* more of them than a control group takes */
    AE_PROOF_RAISE_LIMITS,  /* write to the control group orders->path, or leave it */
    AE_PROOF_MEMORY,        /* more than a control group takes; there it ends by SIGKILL */
};

enum ae_worker_result {
    AE_WORKER_OK,
    AE_WORKER_LOAD_FAILED,   /* text: what the loader says */
    AE_WORKER_NO_SYMBOL,
    AE_WORKER_STILL_LOADED,  /* the object could not be unloaded */
    AE_WORKER_NO_MEMORY,
    AE_WORKER_DEVICE_ERROR,  /* text: the CUDA error; code: its number */
    AE_WORKER_NO_DEVICE,
    AE_WORKER_NO_LEDGER,     /* CUPTI is missing: neither ledger nor trace */
    AE_WORKER_OUT_OF_MEMORY, /* of the device */
    AE_WORKER_INTERNAL,
};

struct ae_channel_arg {
    int32_t type;             /* enum ae_type */
    int32_t pointer;
    union ae_scalar scalar;
    uint64_t region_offset;   /* in data; whole pages that belong to this argument alone */
    uint64_t region_bytes;
    uint64_t start;           /* of the array in its region; a multiple of 256 */
    uint64_t bytes;
    uint64_t address;         /* wished for the region; the worker takes another where it is taken */
};

/* Allocations alive when a call has returned, and launches during it. */
struct ae_ledger {
    int64_t device, pinned, registered, pools, contexts;
    int64_t launches;
};

struct ae_orders {
    alignas(64) _Atomic uint32_t doorbell;
    alignas(64) int32_t command; /* enum ae_order */
    int32_t target;              /* enum ae_target: 0 cpu, 1 cuda */
    int32_t spin;                /* enum ae_spin */
    int32_t device;              /* ordinal for a cuda target */
    int32_t ledger;              /* count allocations under CUPTI's callbacks: never in a process that is timed */
    int32_t trace;               /* profiled calls: never in a process that is timed */
    int32_t clock_ramp_ms;       /* device kept busy for so long before a call is armed; 0: its cache is emptied once */
    int32_t filters;             /* enum ae_seccomp_stage to put in force: both but in tests */
    int32_t proof;               /* enum ae_proof */
    int32_t parent;              /* process id as the parent sees it */
    char path[512];              /* for AE_PROOF_READ_SECRET, AE_PROOF_RAISE_LIMITS */
    int32_t arg_count;
    struct ae_channel_arg args[AE_ARGS_MAX];
};

struct ae_answers {
    alignas(64) _Atomic uint32_t returned;
    alignas(64) _Atomic uint32_t done;
    alignas(64) int32_t result; /* enum ae_worker_result */
    int32_t code;
    int32_t version;            /* AE_CHANNEL_VERSION, stored before AE_READY */
    int32_t filters;            /* in force; believed only as long as no object has been loaded */
    int32_t allocation_refused; /* a malloc of the submission got nothing: the crash that follows is its echo */
    struct ae_ledger ledger;    /* after the last call, where orders->ledger */
    uint64_t free_memory;       /* of the device, after LOAD (as it was before) and after UNLOAD */
    char text[AE_WORKER_TEXT];
};

#endif
