/* One evaluation in progress: what evaluate.c, which says what is called in which order, shares with its parts. process.c
 * keeps the worker, kept.c audits what it holds between calls, cell.c makes one call and records it. Internal to these. A
 * function that returns bool, unless something else is said of it, returns false when the evaluation is over: its
 * measurement then has the verdict. */
#ifndef AE_RUN_EVALUATION_H
#define AE_RUN_EVALUATION_H

#include "run/evaluate.h"
#include "run/held.h"
#include "run/trial.h"

#define AE_PLAN_MAX 16

/* A case that will be called soon, opened already where `open` is set. */
struct ae_planned {
    struct ae_case_name name;
    bool baseline, tried, open;
    struct ae_case cell;
};

struct ae_evaluation {
    struct ae_context *context;
    const struct ae_submission_info *submission;
    const struct ae_evaluate_options *options;
    enum ae_size size;
    struct ae_measurement *m;
    struct ae_mismatch *mismatch;
    struct ae_bytes object;
    struct ae_runner runner;
    bool running;
    bool ledger;         /* workers count allocations: the families' process */
    struct ae_ledger first_ledger, last_ledger, most_ledger; /* most_ledger: the highest of each count, after any call */
    int64_t launches;
    int ledger_calls;
    uint64_t settled_memory; /* free on the device after the first unloading */
    struct ae_held held;     /* on the device between the calls of this group, seen from outside */
    struct ae_device_use settled_use; /* after the first unloading, likewise */
    int64_t ledger_held;     /* what went with the object in the families' process; -1: not known */
    struct ae_watch_holdings settled, second, latest; /* after the last unloading, the group's second and latest call */
    int group_calls;
    int64_t timeout_ns;  /* of the latest call */
    int64_t midway;      /* host memory more than settled, at a look between two calls of this group; 0: none taken */
    struct ae_expected *keep; /* where the outputs of the next call go; NULL: nowhere */
    int top_mhz;         /* of the device, after a call */
    size_t buffer_bytes; /* of the running worker */
    int group;
    int64_t spent_ns;    /* in trials of this submission, cases opened meanwhile included; making references does not count */
    bool over;           /* a verdict other than a wrong answer has been reached */
    struct ae_case_name failed; /* the first instance with a wrong answer */
    struct ae_case_name last;   /* the case before, in the same process; task NULL: none */
    struct ae_case_name before_failed;
    int wrong, judged;
    int timed; /* calls whose work is in m->work, added up */
    struct ae_planned plan[AE_PLAN_MAX]; /* in the order of the calls */
    int planned;
};

/* --- process.c ------------------------------------------------------------------------------------------- */

/* The verdict that ends the evaluation. `detail` may be that of the measurement. */
void ae_evaluation_conclude(struct ae_evaluation *e, enum ae_verdict verdict, enum ae_violation violation,
                            const char *detail);
void ae_evaluation_host_error(struct ae_evaluation *e, const struct ae_error *err);
/* Ends the worker, where there is one; the next call then gets a fresh one. */
void ae_evaluation_stop(struct ae_evaluation *e);
/* The worker has ended on its own: the verdict says why; `detail` where its end does not. */
void ae_evaluation_autopsy(struct ae_evaluation *e, const char *detail);
/* A worker whose shared memory holds the instance, with the object loaded: the running one, or a new one. */
bool ae_evaluation_load(struct ae_evaluation *e, const struct ae_instance *inst);

/* --- kept.c ---------------------------------------------------------------------------------------------- */

/* Takes the object away; with it goes every pointer it kept, so that what it still holds on the device is missing from
 * the free memory. The first time, libraries may have made their own lasting reserve. */
bool ae_evaluation_unload(struct ae_evaluation *e);
/* Between groups: the object goes and comes again, and its statics with it. */
bool ae_evaluation_reload(struct ae_evaluation *e);
/* Behind each call. */
void ae_evaluation_note_holdings(struct ae_evaluation *e);
/* Before each call, of a device (an ae_settled_fn with the evaluation). */
void ae_evaluation_look_outside(void *data);
/* Is there anything to compare the host memory with? Not in a process's first group. */
bool ae_evaluation_may_look(const struct ae_evaluation *e);
/* A look at the host memory between two calls, with all that is free given back. That leaves the process unlike it was, so
 * the call that comes next is none that counts. True where a look was taken. */
bool ae_evaluation_look_midway(struct ae_evaluation *e);
/* What the calls of the process that is counted have left, by its own count, and seen from outside. */
bool ae_evaluation_audit_ledger(struct ae_evaluation *e);
void ae_evaluation_note_ledger(struct ae_evaluation *e);

/* --- cell.c ---------------------------------------------------------------------------------------------- */

/* Opens the case (with its baseline, where wanted), calls and judges; `record`: as a trial of the measurement. True also
 * after a wrong answer, which e->wrong counts. */
bool ae_evaluation_try(struct ae_evaluation *e, const struct ae_case_name *name, bool baseline, bool record);
/* Says which case comes next, behind those that were named before, so that the waits of a trial can be used to open it;
 * nobody need keep to it. ae_evaluation_unplan() forgets them all. */
void ae_evaluation_plan(struct ae_evaluation *e, const struct ae_case_name *name, bool baseline);
void ae_evaluation_unplan(struct ae_evaluation *e);
/* An ae_meanwhile_fn with the evaluation: opens one of them. */
bool ae_evaluation_open_ahead(void *data);
/* Of a call on this case, in ns. */
int64_t ae_evaluation_call_timeout(const struct ae_evaluation *e, const struct ae_case *cell);
/* Is the device at the clocks that it had after the call where they were highest? */
bool ae_evaluation_awake(const struct ae_evaluation *e);
/* How long after a call its output is compared for the last time, in ns: long behind the first call of all, and behind one
 * in sixteen of the others by chance. */
int64_t ae_evaluation_late_pause(const struct ae_evaluation *e);

#endif
