#include "run/evaluate.h"

#include "base/clock.h"
#include "base/rng.h"
#include "run/held.h"
#include "run/trial.h"
#include "run/twin.h"
#include "stats/stats.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Defaults, as docs/methodology.md lists them. */
#define CALL_TIMEOUT_MIN      (10 * AE_SEC)
#define CALL_TIMEOUT_FACTOR   2
#define BUDGET_MIN            (600 * AE_SEC)
#define BUDGET_FACTOR         20
#define NOISE_TARGET          0.01 /* relative half width of the 95 % interval of the median */
#define REPEATS_OF_A_FAILURE  3
#define REPEATS_AS_A_PAIR     2
#define LEDGER_CALLS          3
#define LONG_PAUSES           16
#define MEMORY_FACTOR         3
#define MEMORY_EXTRA          ((uint64_t)4 << 30)
/* Host memory that may be there before and after the object is unloaded: its static storage, and allocators' crumbs. */
#define KEPT_LOADED           ((int64_t)2 << 20)
#define KEPT_UNLOADED         ((int64_t)1 << 20)
#define KEPT_MIDWAY           ((int64_t)4 << 20) /* may come and go between calls */
#define KEPT_DRIVER           ((int64_t)64 << 20) /* more, on a device: what the driver holds for a module it has seen */
#define TRIM_TIMEOUT          (10 * AE_SEC)
#define HOST_SHARE            1.1 /* processor time over call time: more than the thread that waits for the device */
#define FLOOR_LAUNCH_NS       2000 /* of one launch, which nothing on a device can do without */
#define FRESH_SLOW_FACTOR     1.5
#define FRESH_SLOW_NS         (2 * AE_MS)

/* One evaluation in progress. */
struct evaluation {
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
    size_t buffer_bytes; /* of the running worker */
    int group;
    int64_t spent_ns;    /* in trials of this submission; making references does not count */
    bool over;           /* a verdict other than a wrong answer has been reached */
    struct ae_case_name failed; /* the first instance with a wrong answer */
    struct ae_case_name last;   /* the case before, in the same process; task NULL: none */
    struct ae_case_name before_failed;
    int wrong, judged;
    int timed; /* calls whose work is in m->work, added up */
};

static void conclude(struct evaluation *e, enum ae_verdict verdict, enum ae_violation violation, const char *detail)
{
    e->m->verdict = verdict;
    e->m->violation = violation;
    if (detail != e->m->detail)
        snprintf(e->m->detail, sizeof e->m->detail, "%s", detail);
    e->over = true;
}

static void host_error(struct evaluation *e, const struct ae_error *err)
{
    conclude(e, AE_HOST_ERROR, AE_NO_VIOLATION, err->text);
}

static void keep_log(struct evaluation *e, char *log)
{
    if (log && !e->m->log)
        e->m->log = log;
    else
        free(log);
}

static void stop(struct evaluation *e)
{
    char *log = NULL;
    if (e->running)
        ae_runner_stop(&e->runner, &log, NULL);
    e->running = false;
    e->last.task = NULL;
    e->settled = (struct ae_watch_holdings){-1, -1, -1, -1};
    e->settled_memory = 0;
    e->settled_use = (struct ae_device_use){-1, -1};
    e->held = (struct ae_held){0};
    e->midway = 0;
    e->group_calls = 0;
    keep_log(e, log);
}

/* The worker has ended on its own: why. */
static void autopsy(struct evaluation *e, const char *detail)
{
    char text[AE_DETAIL_TEXT];
    char *log = NULL;
    enum ae_violation violation;
    snprintf(text, sizeof text, "%s", detail);
    const enum ae_verdict verdict = ae_trial_autopsy(&e->runner, &violation, text, &log);
    e->running = false;
    keep_log(e, log);
    conclude(e, verdict, violation, text);
}

struct proving {
    struct ae_context *context;
    const struct ae_runner_options *options;
};

static void *prove(void *data)
{
    const struct proving *p = data;
    (void)ae_context_prove(p->context, p->options, NULL, NULL);
    return NULL;
}

/* The first time the sandbox is tried while the worker starts: nothing of the submission runs before both are done. */
static int start_proved(struct evaluation *e, const struct ae_runner_options *options, struct ae_error *err)
{
    struct proving proving = {e->context, options};
    pthread_t thread;
    const bool beside = pthread_create(&thread, NULL, prove, &proving) == 0;
    if (!beside)
        prove(&proving);
    const int rc = ae_runner_start(&e->runner, options, e->object.data, e->object.size, e->buffer_bytes, err);
    if (beside)
        pthread_join(thread, NULL);
    return rc;
}

/* A worker whose shared memory holds the instance, with the object loaded. */
static bool ensure_loaded(struct evaluation *e, const struct ae_instance *inst)
{
    const size_t need = ae_buffers_need(inst);
    struct ae_error err = {0};
    char detail[AE_DETAIL_TEXT] = "";
    if (e->running && need <= e->buffer_bytes)
        return true;
    stop(e);
    /* Room for instances a little larger than this one, so that a process serves a whole group. */
    e->buffer_bytes = need + need / 8 + ((size_t)8 << 20);
    const struct ae_runner_options options = {
        .worker = e->context->worker,
        .target = e->submission->target,
        .device = e->context->device.minor,
        .device_uuid = e->context->device.uuid,
        .cuda_lib = e->context->toolchain->cuda_lib[0] ? e->context->toolchain->cuda_lib : NULL,
        .cores = &e->context->host.submission_cores,
        .spin = e->context->host.spin,
        .single = e->options->single,
        .ledger = e->ledger,
        .memory_bytes = MEMORY_FACTOR * (uint64_t)ae_instance_bytes(inst) + MEMORY_EXTRA,
        .layers_off = e->context->layers_off,
        .guards_off = e->context->guards_off,
    };
    const int rc = start_proved(e, &options, &err);
    e->running = true;
    if (rc != AE_OK) {
        stop(e);
        host_error(e, &err);
        return false;
    }
    if (e->runner.answers->result == AE_WORKER_NO_LEDGER) {
        e->m->notes |= AE_NOTE_NO_LEDGER;
    } else if (e->runner.answers->result != AE_WORKER_OK) {
        snprintf(detail, sizeof detail, "%s", ae_runner_text(&e->runner));
        const bool no_device = e->runner.answers->result == AE_WORKER_NO_DEVICE;
        stop(e);
        if (!no_device && e->submission->target == AE_CUDA)
            e->context->device.quarantined = true;
        conclude(e, no_device ? AE_NOT_RUN : AE_HOST_ERROR, AE_NO_VIOLATION, detail);
        return false;
    }
    e->m->sandbox = ae_proof_stamp(&e->context->proofs[e->submission->target], e->runner.layers);
    const enum ae_verdict loaded = ae_trial_load(&e->runner, 0, detail);
    if (loaded == AE_PASS)
        return true;
    if (e->runner.dead) {
        autopsy(e, detail);
    } else {
        stop(e);
        conclude(e, loaded, AE_NO_VIOLATION, detail);
    }
    return false;
}

/* Host memory that a process of this target may have more than before, the object loaded or not. */
static int64_t kept_room(const struct evaluation *e, int64_t room)
{
    return room + (e->submission->target == AE_CUDA ? KEPT_DRIVER : 0);
}

/* What was there between two calls, picked by chance, and is gone behind the last: a program can count its calls, and
 * frees in the last of a group what it has kept through the others. */
static bool audit_midway(struct evaluation *e, const struct ae_watch_holdings *now)
{
    char detail[AE_DETAIL_TEXT];
    const int64_t freed = e->midway - (now->resident - e->settled.resident);
    if (e->midway <= 0 || now->resident < 0 || e->settled.resident < 0 || freed <= kept_room(e, KEPT_MIDWAY))
        return true;
    snprintf(detail, sizeof detail,
             "%.1f MiB of host memory were there between two calls and not any more after the last: something is kept "
             "between calls", (double)freed / 0x1p20);
    stop(e);
    conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
    return false;
}

/* Memory that is still there and was not before the group is of use to a later call, or forgotten: what grew from call
 * to call was forgotten, what did not was kept. The first group is left out: libraries make their own lasting reserve in
 * it. `allowed`: what may be there all the same. */
static bool audit_kept(struct evaluation *e, const struct ae_watch_holdings *now, int64_t allowed, const char *when)
{
    char detail[AE_DETAIL_TEXT];
    const struct ae_watch_holdings *before = &e->settled;
    const int64_t grown = now->resident - before->resident, later_calls = e->group_calls - 2;
    const int64_t in_calls = e->latest.resident - e->second.resident;
    if ((e->context->guards_off & AE_GUARD_KEPT) || now->resident < 0 || before->resident < 0 || later_calls < 1)
        return true;
    if ((now->files > before->files && before->files >= 0) || now->locked > before->locked)
        e->m->notes |= AE_NOTE_LEAKS;
    if (grown <= kept_room(e, allowed))
        return true;
    /* Were it a leak, each of the later calls would have had its share of it. */
    if (in_calls * (later_calls + 2) >= grown * later_calls / 2) {
        e->m->notes |= AE_NOTE_LEAKS;
        return true;
    }
    snprintf(detail, sizeof detail,
             "%.1f MiB of host memory are still there %s, and do not grow from call to call: something is kept between "
             "calls", (double)grown / 0x1p20, when);
    stop(e);
    conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
    return false;
}

/* From the second call of a group on: what is there now is either code or kept. */
static void look_from_outside(void *data)
{
    struct evaluation *e = data;
    struct ae_device_use now;
    if (e->group_calls < 1)
        return;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &now);
    ae_held_look(&e->held, &now);
}

/* With the object gone. What is left may not grow. What went with it is to be no more than in the families' process, where
 * a program that sees itself counted would have behaved well, and no more than any code; leaks are not in that. */
static bool audit_held(struct evaluation *e)
{
    struct ae_device_use now;
    char detail[AE_DETAIL_TEXT];
    const bool shared = e->m->notes & AE_NOTE_SHARED;
    if (e->submission->target != AE_CUDA || (e->context->guards_off & AE_GUARD_HELD))
        return true;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &now);
    const int64_t held = ae_held_gone(&e->held, &now, shared), limit = ae_held_limit(e->object.size);
    const int64_t grown = ae_held_growth(&e->settled_use, &now, shared);
    /* A program that forgets a little in each call must not thereby hide what it keeps. */
    const bool leaks = e->m->notes & AE_NOTE_LEAKS;
    const bool forgotten = leaks && (grown <= AE_HELD_ROOM || ae_held_is_leak(&e->held, grown, e->group_calls, shared));
    if (leaks || e->settled_use.device < 0)
        e->settled_use = now;
    e->held = (struct ae_held){0};
    if (grown != INT64_MIN && grown > AE_HELD_ROOM_AFTER && !forgotten)
        snprintf(detail, sizeof detail,
                 "%.1f MiB of device memory more than before are in use, as the driver says, when the object has been "
                 "unloaded: something is kept between calls", (double)grown / 0x1p20);
    else if (e->ledger_held >= 0 && held > e->ledger_held + AE_HELD_ROOM)
        snprintf(detail, sizeof detail,
                 "%.1f MiB of device memory were in use between calls, as the driver says, and only %.1f MiB when "
                 "allocations were counted: something is kept between calls, unless it is looked at",
                 (double)held / 0x1p20, (double)e->ledger_held / 0x1p20);
    else if (held > limit)
        snprintf(detail, sizeof detail,
                 "%.1f MiB of device memory were in use between calls, as the driver says, and went with the object: more "
                 "than its code can take (%.1f MiB)", (double)held / 0x1p20, (double)limit / 0x1p20);
    else
        return true;
    stop(e);
    conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
    return false;
}

/* The same figure in the families' process, behind the last call, of which the ledger tells what it left. How unloading
 * ends is judged in the timed process. */
static void note_ledger_held(struct evaluation *e)
{
    enum ae_violation violation;
    char detail[AE_DETAIL_TEXT];
    struct ae_device_use before, after;
    if (!e->running || e->runner.dead || (e->context->guards_off & AE_GUARD_HELD) ||
        ae_runner_command(&e->runner, AE_ORDER_RAMP, TRIM_TIMEOUT) != AE_ANSWER_DONE)
        return;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &before);
    if (ae_trial_unload(&e->runner, &violation, detail) != AE_PASS)
        return;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &after);
    const int64_t gone = ae_held_growth(&after, &before, ae_device_processes(&e->context->device) > 1);
    e->ledger_held = gone == INT64_MIN ? -1 : gone > 0 ? gone : 0;
}

/* Takes the object away; with it goes every pointer it kept, so that what it still holds on the device is missing from
 * the free memory. The first time, libraries may have made their own lasting reserve. */
static bool unload(struct evaluation *e)
{
    enum ae_violation violation;
    char detail[AE_DETAIL_TEXT] = "";
    if (e->context->guards_off & AE_GUARD_RELOAD)
        return true;
    /* Destructors free what was kept: one look before they run, and one after. An answer that does not come, or an end,
     * is what the unloading finds as well. */
    (void)ae_runner_command(&e->runner, AE_ORDER_TRIM, TRIM_TIMEOUT);
    struct ae_watch_holdings now = ae_watch_holdings(ae_proc_pid(e->runner.proc));
    if (!e->runner.dead && (!audit_midway(e, &now) || !audit_kept(e, &now, KEPT_LOADED, "after the last call")))
        return false;
    const enum ae_verdict gone = ae_trial_unload(&e->runner, &violation, detail);
    if (gone != AE_PASS) {
        stop(e);
        conclude(e, gone, violation, detail);
        return false;
    }
    /* What others take or give back on the device cannot be told from what this program keeps. */
    if (e->submission->target == AE_CUDA && ae_device_processes(&e->context->device) > 1)
        e->m->notes |= AE_NOTE_SHARED;
    if (!audit_held(e))
        return false;
    if (e->m->notes & AE_NOTE_SHARED)
        return true;
    const uint64_t left = e->submission->target == AE_CUDA ? e->runner.answers->free_memory : 0;
    if (e->settled_memory && left < e->settled_memory && !(e->m->notes & AE_NOTE_LEAKS)) {
        snprintf(detail, sizeof detail,
                 "%.1f MiB of device memory were not there any more when the object had been unloaded: something is kept "
                 "between calls", (double)(e->settled_memory - left) / 0x1p20);
        stop(e);
        conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
        return false;
    }
    if (!e->settled_memory)
        e->settled_memory = left;
    now = ae_watch_holdings(ae_proc_pid(e->runner.proc));
    if (now.object > 0) { /* whatever the worker says, which may be the program by now */
        stop(e);
        conclude(e, AE_VIOLATION, AE_STATE_CARRIED, "the object is still mapped when it should have been unloaded");
        return false;
    }
    if (!audit_kept(e, &now, KEPT_UNLOADED, "when the object has been unloaded"))
        return false;
    e->settled = now;
    e->midway = 0;
    e->group_calls = 0;
    return true;
}

/* Between groups: the object goes and comes again, and its statics with it. */
static bool reload(struct evaluation *e)
{
    char detail[AE_DETAIL_TEXT] = "";
    e->group++;
    if (e->options->per_process)
        stop(e);
    if (!e->running)
        return true;
    if (!unload(e))
        return false;
    if (e->context->guards_off & AE_GUARD_RELOAD)
        return true;
    const enum ae_verdict loaded = ae_trial_load(&e->runner, 0, detail);
    if (loaded == AE_PASS)
        return true;
    if (e->runner.dead) {
        autopsy(e, detail);
        /* It loaded before: what crashes now is what it had kept. */
        if (e->m->verdict == AE_CRASH)
            conclude(e, AE_VIOLATION, AE_STATE_CARRIED, e->m->detail);
    } else {
        stop(e);
        conclude(e, loaded, AE_NO_VIOLATION, detail);
    }
    return false;
}

static int64_t call_timeout(const struct evaluation *e, const struct ae_case *cell)
{
    if (e->options->timeout_ns)
        return e->options->timeout_ns;
    const int64_t reference = cell->baseline_ns ? cell->baseline_ns : cell->reference_ns;
    const int64_t doubled = CALL_TIMEOUT_FACTOR * reference;
    return doubled > CALL_TIMEOUT_MIN ? doubled : CALL_TIMEOUT_MIN;
}

/* The practice bank's values may be shown; the secret bank's never leave this process. */
static void note_mismatch(struct evaluation *e, const struct ae_case *cell, const struct ae_judgement *judgement)
{
    if (!e->mismatch || e->mismatch->known || !cell->name.practice)
        return;
    for (int k = 0; k < judgement->output_count; k++) {
        const struct ae_output_judgement *o = &judgement->output[k];
        if (o->wrong == 0)
            continue;
        *e->mismatch = (struct ae_mismatch){true, cell->name.family, o->arg, o->first, o->got, o->expected};
        return;
    }
}

/* Rule 8. What must be read at least once cannot be read faster than the whole machine can read. */
static void audit_floor(struct evaluation *e, const struct ae_case *cell, struct ae_trial *trial,
                        char detail[AE_DETAIL_TEXT])
{
    struct ae_work work = {0};
    const double rate = ae_context_read_rate(e->context);
    ae_instance_work(&cell->inst, &work);
    const double floor = (rate > 0 ? work.bytes_in / rate : 0) + (e->submission->target == AE_CUDA ? FLOOR_LAUNCH_NS : 0);
    if ((double)trial->call_ns >= floor)
        return;
    trial->verdict = AE_VIOLATION;
    trial->violation = AE_BELOW_FLOOR;
    snprintf(detail, AE_DETAIL_TEXT, "the call took %lld ns; reading the inputs takes any program on this machine %.0f ns",
             (long long)trial->call_ns, floor);
}

/* Where the baselines come from: mostly one machine. */
static void note_place(struct ae_measurement *m, const char *place)
{
    const size_t used = strlen(m->baseline_place);
    if (*place && !strstr(m->baseline_place, place))
        snprintf(m->baseline_place + used, sizeof m->baseline_place - used, "%s%s", used ? "; " : "", place);
}

static void add_work(struct evaluation *e, const struct ae_instance *inst)
{
    struct ae_work work = {0}, *sum = &e->m->work;
    ae_instance_work(inst, &work);
    sum->bytes_in += work.bytes_in;
    sum->bytes_out += work.bytes_out;
    sum->operations += work.operations;
    sum->steps += work.steps;
    e->timed++;
}

static void mean_work(struct evaluation *e)
{
    struct ae_work *sum = &e->m->work;
    const double n = e->timed ? e->timed : 1;
    *sum = (struct ae_work){sum->bytes_in / n, sum->bytes_out / n, sum->operations / n, sum->steps / n};
}

static void note_holdings(struct evaluation *e)
{
    if (e->runner.dead)
        return;
    e->latest = ae_watch_holdings(ae_proc_pid(e->runner.proc));
    if (++e->group_calls == 2)
        e->second = e->latest;
}

static void note_most(struct ae_ledger *most, const struct ae_ledger *now)
{
    most->device = now->device > most->device ? now->device : most->device;
    most->pinned = now->pinned > most->pinned ? now->pinned : most->pinned;
    most->registered = now->registered > most->registered ? now->registered : most->registered;
    most->pools = now->pools > most->pools ? now->pools : most->pools;
    most->contexts = now->contexts > most->contexts ? now->contexts : most->contexts;
}

/* Long behind the first call of all, and behind one in LONG_PAUSES of the others by chance. */
static int64_t late_pause(const struct evaluation *e)
{
    uint8_t chance = 0;
    (void)ae_random_bytes(&chance, sizeof chance, NULL);
    return e->m->trial_count == 0 || chance % LONG_PAUSES == 0 ? AE_LATE_PAUSE_NS : AE_LATE_LEAST_NS;
}

/* Runs one trial on the cell and records it. Returns false when the evaluation is over. */
static bool run_cell(struct evaluation *e, const struct ae_case *cell, bool record)
{
    struct ae_trial trial;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    char detail[AE_DETAIL_TEXT] = "";
    if (!ensure_loaded(e, &cell->inst))
        return false;
    const struct ae_trial_request request = {
        .inst = &cell->inst,
        .expected = &cell->expected,
        .kind = cell->name.kind,
        .timeout_ns = e->timeout_ns = call_timeout(e, cell),
        .pause_ns = late_pause(e),
        .settled = look_from_outside,
        .settled_data = e,
        .ret_outputs = e->keep,
    };
    const int rc = ae_trial_run(&e->runner, &request, &trial, &judgement, detail, &err);
    if (rc != AE_OK) {
        stop(e);
        host_error(e, &err);
        return false;
    }
    note_holdings(e);
    if (trial.verdict == AE_PASS && !(e->context->guards_off & AE_GUARD_FLOOR))
        audit_floor(e, cell, &trial, detail);
    trial.group = e->group;
    trial.instance = cell->name.number;
    trial.reference_ns = cell->baseline_ns;
    note_place(e->m, cell->baseline_place);
    if (e->submission->target == AE_CUDA) {
        struct ae_device_state device;
        ae_device_look(&e->context->device, &device);
        trial.sm_mhz = device.sm_mhz;
        trial.temperature_c = device.temperature_c;
        trial.disturbed |= device.throttled;
    }
    const bool died = e->runner.dead;
    if (died)
        autopsy(e, detail);
    if (died) {
        trial.verdict = e->m->verdict;
        trial.violation = e->m->violation;
    }
    if (record && ae_measurement_add(e->m, &trial) != AE_OK) {
        ae_error_set(&err, AE_E_NOMEM, "no memory for one more trial");
        host_error(e, &err);
        return false;
    }
    if (died)
        return false;
    if (e->ledger && trial.call_ns > 0) {
        e->last_ledger = e->runner.answers->ledger;
        e->launches += e->last_ledger.launches;
        if (e->ledger_calls++ == 0)
            e->first_ledger = e->last_ledger;
        note_most(&e->most_ledger, &e->last_ledger);
    }
    if (trial.verdict == AE_PASS || trial.verdict == AE_WRONG_ANSWER) {
        e->judged++;
        if (record && trial.kind == AE_TRIAL_TIMED)
            add_work(e, &cell->inst);
        if (trial.verdict == AE_WRONG_ANSWER) {
            if (e->wrong++ == 0) {
                e->failed = cell->name;
                e->before_failed = e->last;
                snprintf(e->m->detail, sizeof e->m->detail, "%s%s%s", cell->name.family ? "family " : "",
                         cell->name.family ? cell->inst.task->families[cell->name.family].name : "",
                         cell->name.family ? ": " : "");
                const size_t used = strlen(e->m->detail);
                snprintf(e->m->detail + used, sizeof e->m->detail - used, "%s", detail);
            }
            note_mismatch(e, cell, &judgement);
        }
        e->last = cell->name;
        return true;
    }
    stop(e); /* its state is not to be trusted any more */
    conclude(e, trial.verdict, trial.violation, detail);
    return false;
}

static bool open_cell(struct evaluation *e, const struct ae_case_name *name, bool baseline, struct ae_case *cell)
{
    struct ae_error err = {0};
    if (ae_case_open(e->context, name, baseline && !e->options->no_baseline, cell, &err) == AE_OK)
        return true;
    ae_case_release(cell);
    host_error(e, &err);
    return false;
}

static bool try_name(struct evaluation *e, const struct ae_case_name *name, bool baseline, bool record)
{
    struct ae_case cell;
    if (!open_cell(e, name, baseline, &cell))
        return false;
    const int64_t budget = BUDGET_FACTOR * (cell.baseline_ns ? cell.baseline_ns : cell.reference_ns);
    const int64_t start = ae_now_ns();
    bool on = run_cell(e, &cell, record);
    e->spent_ns += ae_now_ns() - start;
    if (on && e->spent_ns > (budget > BUDGET_MIN ? budget : BUDGET_MIN)) {
        conclude(e, AE_TIMEOUT, AE_NO_VIOLATION, "the evaluation as a whole takes longer than its budget");
        on = false;
    }
    ae_case_release(&cell);
    return on;
}

/* What is alive after a call and does not grow is used again; what grows is forgotten. */
static bool audit_ledger(struct evaluation *e)
{
    const struct {
        const char *what;
        int64_t first, last, most;
    } sorts[] = {
        {"device", e->first_ledger.device, e->last_ledger.device, e->most_ledger.device},
        {"pinned host", e->first_ledger.pinned, e->last_ledger.pinned, e->most_ledger.pinned},
        {"registered host", e->first_ledger.registered, e->last_ledger.registered, e->most_ledger.registered},
        {"pool", e->first_ledger.pools, e->last_ledger.pools, e->most_ledger.pools},
    };
    char detail[AE_DETAIL_TEXT];
    if (e->launches == 0) {
        conclude(e, AE_VIOLATION, AE_NO_DEVICE_WORK, "nothing was launched on the device in any call");
        return false;
    }
    if (e->most_ledger.contexts > 0) {
        conclude(e, AE_VIOLATION, AE_EXTRA_CONTEXT, "the program makes a context of its own");
        return false;
    }
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        const int64_t alive = sorts[i].last > 0 ? sorts[i].last : sorts[i].most;
        if (alive <= 0)
            continue;
        if (sorts[i].last > sorts[i].first) {
            e->m->notes |= AE_NOTE_LEAKS;
            continue;
        }
        snprintf(detail, sizeof detail, "%lld %s allocation%s alive after %s: free everything before returning",
                 (long long)alive, sorts[i].what, alive == 1 ? (sorts[i].last > 0 ? " is" : " was") : sorts[i].last > 0 ? "s are" : "s were",
                 sorts[i].last > 0 ? "every call" : "a call, and freed in a later one");
        conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
        return false;
    }
    return true;
}

/* The ledger wants calls of the timed family too, and three in all: the first may be unlike the others. */
static bool run_ledger_calls(struct evaluation *e)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .kind = AE_TRIAL_LEDGER,
                                .practice = e->options->practice};
    for (int i = 0; i == 0 || e->ledger_calls < LEDGER_CALLS; i++) {
        name.number = i % AE_LEDGER_INSTANCES;
        if (!try_name(e, &name, false, true))
            return false;
        if (e->wrong)
            return true;
    }
    return (e->m->notes & AE_NOTE_NO_LEDGER) || audit_ledger(e);
}

/* Rule 0: in a process of its own, before any timing. A wrong answer here ends the evaluation. */
static bool run_families(struct evaluation *e)
{
    const struct ae_task *task = e->submission->task;
    struct ae_case_name name = {
        .task = task, .size = e->size, .kind = AE_TRIAL_ADVERSARIAL, .practice = e->options->practice};
    for (int f = 1; f < ae_task_family_count(task); f++) {
        if (!(task->families[f].sizes & AE_AT(e->size)) || (e->context->guards_off & AE_GUARD_FAMILIES))
            continue;
        name.family = f;
        if (!try_name(e, &name, false, true))
            return false;
        if (e->wrong)
            break;
    }
    const bool on = !e->ledger || e->wrong || run_ledger_calls(e);
    if (on && e->ledger && !e->wrong)
        note_ledger_held(e);
    stop(e);
    e->ledger = false;
    return on && e->wrong == 0;
}

/* Relative half width of the 95 % interval of the median of t / t_reference. */
static double noise(const struct ae_measurement *m)
{
    double ratios[64];
    size_t n = 0;
    for (int i = 0; i < m->trial_count && n < 64; i++) {
        const struct ae_trial *t = &m->trials[i];
        if (ae_trial_counts(t) && t->reference_ns > 0)
            ratios[n++] = (double)t->call_ns / (double)t->reference_ns;
    }
    if (n < 6)
        return INFINITY;
    ae_sort(ratios, n);
    const struct ae_interval interval = ae_median_interval(ratios, n);
    return (interval.high - interval.low) / 2 / ae_median(ratios, n);
}

static bool same_outputs(const struct ae_task *task, const struct ae_expected *a, const struct ae_expected *b)
{
    for (int i = 0; i < task->arg_count; i++)
        if (a->out[i].count != b->out[i].count ||
            (a->out[i].data && (!b->out[i].data || memcmp(a->out[i].data, b->out[i].data,
                                                          a->out[i].count * ae_type_size(a->out[i].type)) != 0)))
            return false;
    return true;
}

/* The twin's call, beside the record: its sibling's answer is all that it can be guilty of, since a changed instance
 * need not have every virtue that the generator gives. True where it gave that very answer. */
static bool gives_again(struct evaluation *e, const struct ae_case *twin, const struct ae_expected *answer)
{
    struct ae_trial trial;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    struct ae_expected got = {0};
    char detail[AE_DETAIL_TEXT] = "";
    if (!ensure_loaded(e, &twin->inst))
        return false;
    const struct ae_trial_request request = {
        .inst = &twin->inst,
        .expected = &twin->expected,
        .kind = AE_TRIAL_TWIN,
        .timeout_ns = call_timeout(e, twin),
        .pause_ns = late_pause(e),
        .ret_outputs = &got,
    };
    const int rc = ae_trial_run(&e->runner, &request, &trial, &judgement, detail, &err);
    const bool over = rc == AE_OK && (trial.verdict == AE_PASS || trial.verdict == AE_WRONG_ANSWER);
    const bool again = over && trial.verdict == AE_WRONG_ANSWER && same_outputs(twin->inst.task, &got, answer);
    ae_expected_release(&got);
    if (!over)
        stop(e);
    return again;
}

/* A look at the host memory between two calls, with all that is free given back. That leaves the process unlike it was, so
 * the call that comes next is none that counts. True where a look was taken. */
static bool look_midway(struct evaluation *e)
{
    if ((e->context->guards_off & (AE_GUARD_KEPT | AE_GUARD_RELOAD)) || !e->running || e->settled.resident < 0 ||
        ae_runner_command(&e->runner, AE_ORDER_TRIM, TRIM_TIMEOUT) != AE_ANSWER_DONE)
        return false;
    const struct ae_watch_holdings now = ae_watch_holdings(ae_proc_pid(e->runner.proc));
    e->midway = now.resident < 0 ? 0 : now.resident - e->settled.resident;
    return true;
}

/* A timed call and its near-twin behind it. A program that gives the twin the answer of its sibling does so from
 * memory, unless it would do so in a fresh process as well: then it does not look at what was changed. The twin's is also
 * the call that follows a look at the memory; *ret_looked: one was taken. */
static bool try_sibling_and_twin(struct evaluation *e, const struct ae_case_name *name, bool *ret_looked)
{
    struct ae_expected answer = {0};
    struct ae_case twin = {0};
    struct ae_error err = {0};
    struct ae_case_name twin_name = *name;
    const bool wanted = !name->practice && !e->options->single && !(e->context->guards_off & AE_GUARD_TWIN);
    *ret_looked = false;
    e->keep = wanted ? &answer : NULL;
    bool on = try_name(e, name, true, true);
    e->keep = NULL;
    twin_name.kind = AE_TRIAL_TWIN;
    twin_name.number = -1;
    if (on && wanted && e->wrong == 0 &&
        ae_twin_find(e->context, name->task, name->size, &twin_name.number, &err) == AE_OK && twin_name.number >= 0 &&
        ae_case_open(e->context, &twin_name, false, &twin, &err) == AE_OK) {
        *ret_looked = look_midway(e);
        if (gives_again(e, &twin, &answer)) {
            stop(e);
            if (!gives_again(e, &twin, &answer) && !e->over) {
                conclude(e, AE_VIOLATION, AE_STATE_CARRIED,
                         "after a call, an instance that differs from its own in a few elements got that call's answer "
                         "again; in a fresh process it got another: answers are kept between calls");
                stop(e);
            }
        }
    }
    ae_case_release(&twin);
    ae_expected_release(&answer);
    /* The twin brought the process down, which is nobody's fault: the next timed call must not be its first. */
    if (on && !e->over && wanted && !e->running) {
        struct ae_case_name fresh = *name;
        fresh.kind = AE_TRIAL_FRESH;
        fresh.number = e->group % ae_bank_plan(e->size)->fresh;
        on = try_name(e, &fresh, false, false);
    }
    return on && !e->over;
}

/* The look before the call to come, and a call on an instance that nobody will ask for again, judged by how it ends only. */
static bool look_and_call(struct evaluation *e, const struct ae_case_name *next)
{
    struct ae_instance inst = {0};
    struct ae_trial trial;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    char detail[AE_DETAIL_TEXT] = "";
    uint64_t seed;
    if (ae_random_bytes(&seed, sizeof seed, NULL) != AE_OK)
        return true;
    const bool made = ae_instance_make(&inst, next->task, next->size, 0, seed, NULL) == AE_OK;
    if (made && ae_buffers_need(&inst) <= e->buffer_bytes && look_midway(e)) {
        const struct ae_trial_request request = {
            .inst = &inst,
            .kind = next->kind,
            .timeout_ns = e->timeout_ns,
            .settled = look_from_outside,
            .settled_data = e,
        };
        const int rc = ae_trial_run(&e->runner, &request, &trial, &judgement, detail, &err);
        if (rc != AE_OK) {
            stop(e);
            host_error(e, &err);
        } else if (e->runner.dead) {
            autopsy(e, detail);
        } else if (trial.verdict != AE_PASS) {
            stop(e);
            conclude(e, trial.verdict, trial.violation, detail);
        } else {
            note_holdings(e);
        }
    }
    ae_instance_release(&inst);
    return !e->over;
}

/* A load of the object: a call that does not count, then those of these numbers. At a place that chance picks there is a
 * look at the memory: behind the twin's sibling, where it is among them, else before one of them. */
static bool run_group(struct evaluation *e, int group, const int *numbers, int timed)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .practice = e->options->practice};
    if (group > 0 && !reload(e))
        return false;
    name.kind = AE_TRIAL_FRESH;
    name.number = group % ae_bank_plan(e->size)->fresh; /* again only in another process */
    if (!try_name(e, &name, false, true))
        return false;
    name.kind = AE_TRIAL_TIMED;
    uint32_t chance = 0;
    (void)ae_random_bytes(&chance, sizeof chance, NULL);
    int look = (int)(chance % (uint32_t)timed);
    for (int i = 0; i < timed; i++)
        if (numbers[i] == AE_TWIN_SIBLING)
            look = -1;
    for (int i = 0; i < timed; i++) {
        bool looked = true;
        name.number = numbers[i];
        if (i == look && !look_and_call(e, &name))
            return false;
        if (name.number == AE_TWIN_SIBLING ? !try_sibling_and_twin(e, &name, &looked) : !try_name(e, &name, true, true))
            return false;
        if (!looked && !look_and_call(e, &name))
            return false;
    }
    return true;
}

/* The order of the timed instances: by chance, so that no place in a process tells what follows, with the twin's sibling
 * in the second group, where there is one: in the first there is nothing yet to compare memory with. */
static void draw_order(int *order, int first, int all, int per_group)
{
    uint64_t seed = 0;
    struct ae_rng rng;
    (void)ae_random_bytes(&seed, sizeof seed, NULL);
    ae_rng_seed(&rng, seed, 0);
    for (int i = 0; i < all; i++)
        order[i] = i;
    for (int i = 0; i < all; i++) {
        const int end = i < first ? first : all, j = i + (int)ae_rng_below(&rng, (uint32_t)(end - i)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    const int room = first - per_group < per_group ? first - per_group : per_group;
    for (int i = 0; i < first && room > 0; i++) {
        const int to = per_group + (int)ae_rng_below(&rng, (uint32_t)room);
        if (order[i] == AE_TWIN_SIBLING) {
            order[i] = order[to];
            order[to] = AE_TWIN_SIBLING;
            break;
        }
    }
}

/* All that an extension would use lies in the cache: eval does not make a user wait for references. */
static bool extension_cached(struct evaluation *e, int group, const int *numbers, int timed)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .kind = AE_TRIAL_FRESH,
                                .number = group % ae_bank_plan(e->size)->fresh};
    if (!ae_case_cached(e->context, &name, false))
        return false;
    name.kind = AE_TRIAL_TIMED;
    for (int i = 0; i < timed; i++) {
        name.number = numbers[i];
        if (!ae_case_cached(e->context, &name, true))
            return false;
    }
    return true;
}

static bool run_timed(struct evaluation *e)
{
    const struct ae_bank_plan *plan = ae_bank_plan(e->size);
    const int usual = e->options->quick ? 3 : plan->trials_per_group, most = e->options->per_process;
    const int per_group = most && most < usual ? most : usual;
    const int first = e->options->timed ? e->options->timed : e->options->quick ? 3 : plan->first_trials;
    int done = 0, order[AE_BANK_TIMED_MAX];
    draw_order(order, first < plan->timed ? first : plan->timed, plan->timed, per_group);
    for (int group = 0; (most || group < plan->groups) && done < plan->timed; group++) {
        const int want = done < first ? first - done : plan->timed - done;
        const int timed = want < per_group ? want : per_group;
        if (done >= first) {
            if (e->options->quick || e->wrong || noise(e->m) <= NOISE_TARGET)
                break;
            if (!extension_cached(e, group, order + done, timed))
                break;
        }
        if (!run_group(e, group, order + done, timed))
            return false;
        done += timed;
    }
    if (e->running && !unload(e))
        return false;
    if (e->wrong == 0 && !e->options->quick && noise(e->m) > NOISE_TARGET)
        e->m->notes |= AE_NOTE_FEW_TRIALS;
    return true;
}

/* Right alone every time, but wrong again behind the call that came before it: the answer depends on what was kept. */
static bool fails_after(struct evaluation *e, const struct ae_case_name *before, const struct ae_case_name *failed)
{
    for (int i = 0; i < REPEATS_AS_A_PAIR; i++) {
        stop(e);
        if (!try_name(e, before, false, false))
            return false;
        e->wrong = 0;
        if (!try_name(e, failed, false, false) || e->wrong == 0)
            return false;
    }
    return true;
}

/* An instance that failed, three times more in fresh processes: right at least once means a race, or state. */
static void settle_wrong(struct evaluation *e)
{
    char first[AE_DETAIL_TEXT];
    const struct ae_case_name failed = e->failed, before = e->before_failed;
    const int wrong = e->wrong, judged = e->judged;
    int right = 0;
    snprintf(first, sizeof first, "%s", e->m->detail);
    for (int i = 0; i < REPEATS_OF_A_FAILURE; i++) {
        stop(e);
        e->wrong = 0;
        if (!try_name(e, &failed, failed.kind == AE_TRIAL_TIMED, false))
            return; /* it now fails in another way, which conclude() has recorded */
        right += e->wrong == 0;
    }
    const bool kept = right == REPEATS_OF_A_FAILURE && before.task && fails_after(e, &before, &failed);
    stop(e);
    if (e->over)
        return;
    if (kept) {
        snprintf(e->m->detail, sizeof e->m->detail,
                 "right as the first call of a process, wrong each time behind another call: something is kept between "
                 "calls (%.500s)", first);
        conclude(e, AE_VIOLATION, AE_STATE_CARRIED, e->m->detail);
        return;
    }
    if (right)
        snprintf(e->m->detail, sizeof e->m->detail,
                 "the same instance was right %d of %d times in fresh processes (first failure: %.500s)", right,
                 REPEATS_OF_A_FAILURE, first);
    else
        snprintf(e->m->detail, sizeof e->m->detail, "%.700s (%d of %d instances)", first, wrong, judged);
    conclude(e, right ? AE_NONDETERMINISTIC : AE_WRONG_ANSWER, AE_NO_VIOLATION, e->m->detail);
}

static int by_time(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median_of(const struct ae_measurement *m, enum ae_trial_kind kind)
{
    int64_t times[64] = {0};
    size_t n = 0;
    for (int i = 0; i < m->trial_count && n < 64; i++)
        if (m->trials[i].kind == kind && m->trials[i].verdict == AE_PASS && !m->trials[i].disturbed)
            times[n++] = m->trials[i].call_ns;
    qsort(times, n, sizeof *times, by_time);
    return n ? times[n / 2] : 0;
}

static int64_t median_share_of(const struct ae_measurement *m)
{
    int64_t permille[64] = {0};
    size_t n = 0;
    for (int i = 0; i < m->trial_count && n < 64; i++)
        if (m->trials[i].kind == AE_TRIAL_TIMED && m->trials[i].cpu_ns >= 0 && m->trials[i].call_ns > 0)
            permille[n++] = m->trials[i].cpu_ns * 1000 / m->trials[i].call_ns;
    qsort(permille, n, sizeof *permille, by_time);
    return n ? permille[n / 2] : 0;
}

/* Trials to which preparations were charged are chance, and not counted, unless there are no others. */
static void count_charged(struct ae_measurement *m)
{
    for (int i = 0; i < m->trial_count; i++)
        if (m->trials[i].kind == AE_TRIAL_TIMED && m->trials[i].verdict == AE_PASS && !m->trials[i].disturbed)
            return;
    for (int i = 0; i < m->trial_count; i++)
        if (m->trials[i].charged_ns > 0)
            m->trials[i].disturbed = 0;
}

static void add_notes(struct ae_measurement *m)
{
    if (m->target == AE_CUDA && (double)median_share_of(m) > 1000 * HOST_SHARE)
        m->notes |= AE_NOTE_HOST_SHARE;
    const int64_t fresh = median_of(m, AE_TRIAL_FRESH), timed = median_of(m, AE_TRIAL_TIMED);
    if (timed && fresh > timed + FRESH_SLOW_NS && (double)fresh > FRESH_SLOW_FACTOR * (double)timed)
        m->notes |= AE_NOTE_FRESH_SLOW;
}

/* check: every family and instance of the practice bank, one process, no timing claimed. */
static bool run_practice(struct evaluation *e)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .kind = AE_TRIAL_TIMED, .practice = true};
    if (!run_families(e))
        return false;
    for (int i = 0; i < ae_bank_plan(e->size)->practice; i++) {
        name.number = i;
        if (!try_name(e, &name, false, true))
            return false;
    }
    return true;
}

static bool built(struct evaluation *e)
{
    const struct ae_build_result *build = e->submission->build;
    struct ae_error err = {0};
    e->m->compile_ns = build->compile_ns;
    if (e->submission->target == AE_CUDA && build->verdict == AE_PASS) {
        if (!e->context->device.handle) {
            conclude(e, AE_NOT_RUN, AE_NO_VIOLATION, e->context->no_device);
            return false;
        }
        if (e->context->device.quarantined) {
            conclude(e, AE_NOT_RUN, AE_NO_VIOLATION, "the device did not come back after an earlier program: look at it with nvidia-smi");
            return false;
        }
    }
    if (build->constructors)
        e->m->notes |= AE_NOTE_CONSTRUCTOR;
    if (build->log)
        e->m->log = strdup(build->log);
    if (build->verdict != AE_PASS) {
        conclude(e, build->verdict, build->violation, build->detail);
        return false;
    }
    /* The log of a compile that succeeded (warnings) gives way to what the program prints if it fails. */
    free(e->m->log);
    e->m->log = NULL;
    if (ae_file_read(build->object, (size_t)1 << 30, &e->object, &err) != AE_OK) {
        host_error(e, &err);
        return false;
    }
    return true;
}

void ae_evaluate(struct ae_context *context, const struct ae_submission_info *submission, enum ae_size size,
                 const struct ae_evaluate_options *options, struct ae_measurement *ret, struct ae_mismatch *mismatch)
{
    const int64_t start = ae_now_ns();
    *ret = (struct ae_measurement){
        .task = submission->task,
        .size = size,
        .target = submission->target,
        .sample = submission->sample,
        .started_ns = ae_wall_ns(),
        .cores = options->single ? 1 : context->host.submission_core_count,
        .seeded = context->bank.seeded,
    };
    if (submission->target == AE_CUDA)
        snprintf(ret->device_uuid, sizeof ret->device_uuid, "%s", context->device.uuid);
    if (mismatch)
        *mismatch = (struct ae_mismatch){0};
    snprintf(ret->entrant, sizeof ret->entrant, "%s", submission->entrant);
    snprintf(ret->submission, sizeof ret->submission, "%s", submission->build->source_hash);
    snprintf(ret->source_path, sizeof ret->source_path, "%s", submission->source_path);
    struct evaluation e = {
        .context = context,
        .submission = submission,
        .options = options,
        .size = size,
        .m = ret,
        .mismatch = mismatch,
        .settled = {-1, -1, -1, -1},
        .settled_use = {-1, -1},
        .ledger_held = -1,
    };
    if (built(&e)) {
        e.ledger = submission->target == AE_CUDA;
        if (options->practice)
            (void)run_practice(&e);
        else if (run_families(&e))
            (void)run_timed(&e);
        if (!e.over && e.wrong)
            settle_wrong(&e);
        stop(&e);
        mean_work(&e);
        if (!e.over) {
            ret->verdict = AE_PASS;
            ret->detail[0] = 0;
            count_charged(ret);
            add_notes(ret);
            free(ret->log); /* of no use to the author of a right program, and it may be large */
            ret->log = NULL;
        }
    }
    ae_bytes_release(&e.object);
    ret->wall_ns = ae_now_ns() - start;
}
