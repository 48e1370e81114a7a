/* What all evaluations of one invocation share: the machine, its tools, the cache, the bank. */
#ifndef AE_RUN_CONTEXT_H
#define AE_RUN_CONTEXT_H

#include "base/file.h"
#include "build/build.h"
#include "cache/cache.h"
#include "run/bank.h"
#include "run/device.h"
#include "run/proof.h"
#include "run/runner.h"

#include <sched.h>

struct ae_host {
    cpu_set_t cores;     /* that this process may use */
    int core_count;
    cpu_set_t submission_cores; /* the parent's own taken out where there are three or more */
    int submission_core_count;
    int parent_core;     /* -1: none of its own */
    enum ae_spin spin;   /* how waits around a call are done */
    char cpu[128];       /* "GenuineIntel 6-207-2, Intel(R) Xeon(R)..., 300 MB" */
    char kernel[32];     /* major.minor */
    bool virtual_machine;
    uint64_t memory_bytes;
};

/* Called as work goes on; text is one line, without end. */
typedef void ae_progress_fn(void *data, const char *text);

struct ae_context {
    struct ae_host host;
    struct ae_device device;  /* handle NULL: none */
    char no_device[256];      /* why */
    struct ae_toolchain *toolchain;
    struct ae_cache *cache;
    struct ae_bank bank;
    char worker[4096]; /* acceleval-worker */
    char tasks[4096];  /* the folder of tasks */
    struct ae_proof_result proofs[AE_TARGET_COUNT]; /* of the sandbox; made when first asked for */
    double read_rate;    /* bytes a nanosecond that no program on this host can exceed; 0: not measured yet */
    uint64_t layers_off; /* tests */
    unsigned guards_off; /* tests */
    ae_progress_fn *progress; /* may be NULL */
    void *progress_data;
};

/* Finds worker and tasks beside the running program ($ACCELEVAL_WORKER and $ACCELEVAL_TASKS overrule), probes host and
 * compilers, opens cache and bank. */
int ae_context_open(struct ae_context *ret, struct ae_error *err);
void ae_context_close(struct ae_context *context);

/* The folder of tasks alone: beside the running program, or $ACCELEVAL_TASKS. */
int ae_context_find_tasks(char *ret, size_t size, struct ae_error *err);

/* Makes device `ordinal` the one that cuda submissions run on (0 is opened at the start); locks it where lock is set. */
int ae_context_device(struct ae_context *context, int ordinal, bool lock, struct ae_error *err);

/* Leaves the host the index-th of count equal parts of its cores: lanes that run beside each other must not meet. */
void ae_host_slice(struct ae_host *host, int index, int count);

/* Pins the calling thread to the parent's core; the rest of the machine is the submissions'. */
void ae_context_pin(const struct ae_context *context);

/* Has the sandbox proved for options->target, unless that is done. ret and err may be NULL; a failure leaves the proof
 * unmade, which is what is then stamped. */
int ae_context_prove(struct ae_context *context, const struct ae_runner_options *options, struct ae_proof_result *ret,
                     struct ae_error *err);

/* Bytes a nanosecond that no program on this host reads memory faster than: all cores together, from the nearest
 * cache, with room to spare. Measured at the first call (some milliseconds). */
double ae_context_read_rate(struct ae_context *context);

void ae_context_say(const struct ae_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text of tasks/<id>/<file>; the caller releases it. AE_E_NOTFOUND where the task has none. */
int ae_context_read(const struct ae_context *context, const struct ae_task *task, const char *file,
                    struct ae_bytes *ret, struct ae_error *err);

/* "spin", "spin briefly", "futex": part of the key of baselines and of environments. */
const char *ae_spin_name(enum ae_spin spin);

/* The facts of this machine that a time depends on, as JSON; the caller frees it. */
char *ae_context_environment(const struct ae_context *context);

/* This machine in a few words, for people. */
void ae_context_place(const struct ae_context *context, char *ret, size_t size);

/* The part of the key of a baseline that names machine and compiler (rule 11). */
void ae_context_baseline_key(const struct ae_context *context, char *ret, size_t size);

#endif
