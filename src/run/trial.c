#include "run/trial.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAP_TIMEOUT  (60 * AE_SEC) /* populating pages: a second a gigabyte on a slow machine */
#define ARM_TIMEOUT  (30 * AE_SEC)
#define LOAD_TIMEOUT (30 * AE_SEC)
/* How long arming may take: what waking up takes; on a device so many times what it takes before there is an object. The
 * inputs are there by then, and the worker's thread may be the program's: what it takes longer is part of the call. */
#define ARM_NS       (100 * 1000)
#define ARM_CUDA_NS  (300 * 1000) /* at least */
#define ARM_TRIES    5
#define ARM_FACTOR   3
#define ARM_MAX_NS   (2 * AE_MS)
#define DOZE_NS      (200 * 1000)
/* From the moment that the program is let go until the doorbell, arming left out: each thread of a pool is woken. What it
 * takes longer, since this process had no processor meanwhile, is time that the program's threads may have had. */
#define GAP_NS        (100 * 1000)
#define GAP_THREAD_NS (5 * 1000) /* more for each thread, no more of them counted than there are processors */
/* Memory that may come or go between the end of a call and the doorbell of the next. */
#define SHIFT_BYTES      ((int64_t)2 << 20)
#define SHIFT_CUDA_BYTES ((int64_t)64 << 20) /* the driver's */

static void say(char detail[AE_DETAIL_TEXT], const char *text)
{
    snprintf(detail, AE_DETAIL_TEXT, "%s", text);
}

/* How long arming a device takes while the worker is ours alone. */
static void time_arming(struct ae_runner *runner)
{
    int64_t least = INT64_MAX, took;
    runner->arm_limit_ns = ARM_NS;
    for (int i = 0; i < ARM_TRIES && runner->options.target == AE_CUDA; i++) {
        if (ae_runner_command(runner, AE_ORDER_TRIM, ARM_TIMEOUT) != AE_ANSWER_DONE)
            return;
        nanosleep(&(struct timespec){0, DOZE_NS}, NULL); /* the worker's, from which arming is to wake it */
        if (ae_runner_arm(runner, ARM_TIMEOUT, &took) != AE_ANSWER_DONE)
            return;
        least = took < least ? took : least;
        const int64_t limit = ARM_FACTOR * least < ARM_MAX_NS ? ARM_FACTOR * least : ARM_MAX_NS;
        runner->arm_limit_ns = limit > ARM_CUDA_NS ? limit : ARM_CUDA_NS;
    }
}

enum ae_verdict ae_trial_load(struct ae_runner *runner, int64_t timeout_ns, char detail[AE_DETAIL_TEXT])
{
    if (!runner->loaded)
        time_arming(runner);
    runner->loaded = true;
    switch (ae_runner_command(runner, AE_ORDER_LOAD, timeout_ns ? timeout_ns : LOAD_TIMEOUT)) {
    case AE_ANSWER_TIMEOUT:
        say(detail, "loading the object does not end: do its constructors wait for something?");
        return AE_TIMEOUT;
    case AE_ANSWER_DEAD:
        return AE_CRASH; /* the autopsy tells more */
    default:
        break;
    }
    switch (runner->answers->result) {
    case AE_WORKER_OK:
        ae_watch_look(&runner->watch);
        return AE_PASS;
    case AE_WORKER_NO_SYMBOL:
    case AE_WORKER_LOAD_FAILED:
        snprintf(detail, AE_DETAIL_TEXT, "the object cannot be loaded: %s", ae_runner_text(runner));
        return AE_BAD_INTERFACE;
    default:
        /* Nothing of the worker's own can fail here: a thread of an object loaded before has put this word there. */
        say(detail, "the worker's answer to loading makes no sense");
        return AE_CRASH;
    }
}

enum ae_verdict ae_trial_unload(struct ae_runner *runner, enum ae_violation *ret_violation, char detail[AE_DETAIL_TEXT])
{
    *ret_violation = AE_NO_VIOLATION;
    switch (ae_runner_command(runner, AE_ORDER_UNLOAD, LOAD_TIMEOUT)) {
    case AE_ANSWER_TIMEOUT:
        say(detail, "unloading the object does not end: do its destructors wait for something?");
        return AE_TIMEOUT;
    case AE_ANSWER_DEAD:
        say(detail, "the program crashes when its object is unloaded: something of it still runs or is kept");
        *ret_violation = AE_STATE_CARRIED;
        return AE_VIOLATION;
    default:
        break;
    }
    if (runner->answers->result == AE_WORKER_STILL_LOADED) {
        say(detail, "the object cannot be unloaded, so its state would survive from call to call");
        *ret_violation = AE_STATE_CARRIED;
        return AE_VIOLATION;
    }
    return AE_PASS;
}

enum ae_verdict ae_trial_autopsy(struct ae_runner *runner, enum ae_violation *ret_violation,
                                 char detail[AE_DETAIL_TEXT], char **ret_log)
{
    struct ae_proc_result result;
    const bool refused = runner->answers->allocation_refused != 0;
    const uint64_t limit = runner->options.memory_bytes;
    *ret_violation = AE_NO_VIOLATION;
    ae_runner_stop(runner, ret_log, &result);
    if (result.outcome == AE_PROC_SIGNALED) {
        if (result.signal == SIGSYS) {
            *ret_violation = AE_FORBIDDEN_SYSCALL;
            say(detail, "the program made a system call that the sandbox forbids");
            return AE_VIOLATION;
        }
        if (refused) {
            snprintf(detail, AE_DETAIL_TEXT,
                     "the program failed after an allocation that was refused (limit of host memory: %.1f GiB%s)",
                     (double)limit / 0x1p30, runner->options.target == AE_CUDA ? ", or the device's memory" : "");
            return AE_OUT_OF_MEMORY;
        }
        /* A program can send itself the signal that the kernel sends where memory runs out: the kernel keeps count, of
         * the program's own group exactly, of the machine where there is no group. */
        const bool counted = runner->group_kills >= 0;
        if (result.signal == SIGKILL && runner->group_kills > 0) {
            snprintf(detail, AE_DETAIL_TEXT, "the program was killed at its limit of host memory (%.1f GiB beside the arguments)",
                     (double)limit / 0x1p30);
            return AE_OUT_OF_MEMORY;
        }
        const int64_t kills = result.signal == SIGKILL && !counted ? ae_oom_kills() : -1;
        if (kills > runner->oom_kills && runner->oom_kills >= 0) {
            say(detail, "the program was killed, and the kernel has just killed for want of memory on this machine");
            return AE_OUT_OF_MEMORY;
        }
        snprintf(detail, AE_DETAIL_TEXT, "signal %d (%s) during the call%s", result.signal, strsignal(result.signal),
                 result.signal == SIGKILL && kills < 0 && !counted ? ", perhaps for want of memory, of which the kernel here keeps no count"
                                                       : "");
        return AE_CRASH;
    }
    if (result.outcome == AE_PROC_EXITED) {
        snprintf(detail, AE_DETAIL_TEXT, "the program ended the process with status %d instead of returning",
                 result.code);
        return refused ? AE_OUT_OF_MEMORY : AE_CRASH;
    }
    snprintf(detail, AE_DETAIL_TEXT, "the worker is gone (%s)", ae_proc_outcome_name(result.outcome));
    return AE_HOST_ERROR;
}

/* Copies the outputs out of the shared memory. */
static int copy_outputs(const struct ae_runner *runner, const struct ae_instance *inst, struct ae_expected *ret,
                        struct ae_error *err)
{
    const int rc = ae_expected_alloc(ret, inst, err);
    if (rc != AE_OK)
        return rc;
    for (int i = 0; i < inst->task->arg_count; i++)
        if (ae_arg_is_output(&inst->task->args[i]))
            memcpy(ret->out[i].data, ae_buffers_array(&runner->buffers, i), runner->buffers.args[i].bytes);
    return AE_OK;
}

static bool outputs_changed(const struct ae_runner *runner, const struct ae_instance *inst,
                            const struct ae_expected *copy)
{
    for (int i = 0; i < inst->task->arg_count; i++)
        if (ae_arg_is_output(&inst->task->args[i]) &&
            memcmp(copy->out[i].data, ae_buffers_array(&runner->buffers, i), runner->buffers.args[i].bytes) != 0)
            return true;
    return false;
}

static void violate(struct ae_trial *trial, enum ae_violation violation, char detail[AE_DETAIL_TEXT], const char *text)
{
    trial->verdict = AE_VIOLATION;
    trial->violation = violation;
    say(detail, text);
}

/* What the surroundings of the arrays and the inputs say. */
static void audit_buffers(struct ae_trial *trial, const struct ae_runner *runner, const struct ae_instance *inst,
                          char detail[AE_DETAIL_TEXT])
{
    const unsigned off = runner->options.guards_off;
    const int overrun = off & AE_GUARD_CANARY ? -1 : ae_buffers_overrun(&runner->buffers);
    const int modified = off & AE_GUARD_INPUTS ? -1 : ae_buffers_modified_input(&runner->buffers, inst);
    char text[256];
    if (overrun >= 0) {
        snprintf(text, sizeof text, "memory beside the array %s was written to: an index is out of its range",
                 inst->task->args[overrun].name);
        violate(trial, AE_OUT_OF_BOUNDS_WRITE, detail, text);
    } else if (modified >= 0) {
        snprintf(text, sizeof text, "the input %s was changed; inputs are const", inst->task->args[modified].name);
        violate(trial, AE_INPUT_MODIFIED, detail, text);
    }
}

static int judge(struct ae_trial *trial, const struct ae_trial_request *request, const struct ae_expected *copy,
                 struct ae_judgement *judgement, char detail[AE_DETAIL_TEXT], struct ae_error *err)
{
    const void *got[AE_ARGS_MAX] = {0};
    for (int i = 0; i < request->inst->task->arg_count; i++)
        got[i] = copy->out[i].data;
    const int rc = ae_judge(request->inst, request->expected, got, judgement, err);
    if (rc != AE_OK)
        return rc;
    for (int k = 0; k < judgement->output_count; k++)
        if (judgement->output[k].max_share > trial->max_share)
            trial->max_share = judgement->output[k].max_share;
    if (!judgement->right) {
        trial->verdict = AE_WRONG_ANSWER;
        say(detail, judgement->text);
    }
    return AE_OK;
}

/* Work of the caller's first, while there is any. */
static void wait_until(int64_t deadline, const struct ae_trial_request *request)
{
    while (ae_deadline_left(deadline) > 0 && request->meanwhile && request->meanwhile(request->meanwhile_data)) {
    }
    const int64_t left = ae_deadline_left(deadline);
    const struct timespec pause = {left / AE_SEC, left % AE_SEC};
    if (left > 0)
        nanosleep(&pause, NULL);
}

/* A command between calls, after which the trial goes on; false with a verdict where it does not. The process is the
 * submission's by now: what goes wrong in it is not the machine's fault. */
static bool obeyed(struct ae_runner *runner, enum ae_order command, enum ae_answer answer, struct ae_trial *ret,
                   char detail[AE_DETAIL_TEXT])
{
    if (answer == AE_ANSWER_DONE && runner->answers->result == AE_WORKER_OK)
        return true;
    if (answer == AE_ANSWER_DEAD) {
        ret->verdict = AE_CRASH; /* a thread of the submission brought it down after its answer */
    } else if (answer == AE_ANSWER_TIMEOUT) {
        ret->verdict = AE_TIMEOUT;
        say(detail, "the program does not let the next call be prepared: something of an earlier call still runs");
    } else if (command != AE_ORDER_MAP) {
        ret->verdict = AE_CRASH; /* an error that the previous call left behind */
        snprintf(detail, AE_DETAIL_TEXT, "%s", ae_runner_text(runner));
    } else if (runner->answers->code == ENOMEM) {
        ret->verdict = AE_OUT_OF_MEMORY;
        say(detail, "there is no memory left to map the arguments of the next call");
    } else {
        snprintf(detail, AE_DETAIL_TEXT, "the arguments of the next call cannot be mapped any more: %s",
                 ae_runner_text(runner));
        ret->verdict = AE_VIOLATION;
        ret->violation = AE_TAMPERING;
    }
    return false;
}

static bool obeys(struct ae_runner *runner, enum ae_order command, int64_t timeout_ns, struct ae_trial *ret,
                  char detail[AE_DETAIL_TEXT])
{
    return obeyed(runner, command, ae_runner_command(runner, command, timeout_ns), ret, detail);
}

/* The device is woken, and the worker spins where it may. Spinning looks like work from outside, so what arming takes
 * beyond its limit is charged to the call, unless the worker's thread had to wait for a processor, and not for one that
 * another of the program's threads had. */
static bool arm(struct ae_runner *runner, bool watched, struct ae_trial *ret, int64_t *ret_took,
                char detail[AE_DETAIL_TEXT])
{
    const enum ae_answer answer = ae_runner_arm(runner, ARM_TIMEOUT, ret_took);
    const int64_t longer = *ret_took - runner->arm_limit_ns;
    if (watched && longer > 0) {
        const int64_t charged = longer - ae_watch_waited(&runner->watch); /* which is part of the gap */
        ret->charged_ns = charged > 0 ? charged : 0;
        ret->disturbed |= charged > 0;
    }
    return obeyed(runner, AE_ORDER_ARM, answer, ret, detail);
}

static int64_t gap_limit(const struct ae_runner *runner)
{
    const int64_t threads = (int64_t)runner->watch.count, cores = CPU_COUNT(runner->options.cores);
    return GAP_NS + GAP_THREAD_NS * (threads < cores ? threads : cores);
}

static int64_t shift_room(const struct ae_runner *runner)
{
    return runner->options.target == AE_CUDA ? SHIFT_CUDA_BYTES : SHIFT_BYTES;
}

/* Has the program's memory grown or shrunk since its last call, as seen while it was stopped both times? Each sort by
 * itself: what is cheap to take must not make up for what is not. *ret_text says it. */
static bool shifted(const struct ae_runner *runner, char ret_text[AE_DETAIL_TEXT])
{
    const struct ae_watch_holdings *before = &runner->watch.held;
    if (before->anonymous < 0 || (runner->options.guards_off & AE_GUARD_KEPT))
        return false;
    const struct ae_watch_holdings now = ae_watch_holdings(ae_proc_pid(runner->proc));
    const int64_t room = shift_room(runner), own = now.anonymous - before->anonymous;
    const int64_t shift = own > room || -own > room ? own : now.common - before->common;
    if (now.anonymous < 0 || (shift <= room && -shift <= room))
        return false;
    snprintf(ret_text, AE_DETAIL_TEXT, "%.1f MiB of host memory were %s between two calls: what a call uses is %s inside it",
             (double)(shift > 0 ? shift : -shift) / 0x1p20, shift > 0 ? "made ready" : "given back",
             shift > 0 ? "taken" : "given back");
    return true;
}

/* The inputs arrive while the program is stopped: none of its threads can work on them before they are all there, nor
 * while others are looked at. *ret_since: when it was let go; 0: it is not watched. False with a verdict where the
 * trial is over. */
static bool fill(struct ae_runner *runner, const struct ae_trial_request *request, bool watched, struct ae_trial *ret,
                 int64_t *ret_since, char detail[AE_DETAIL_TEXT])
{
    char text[AE_DETAIL_TEXT];
    const bool stop = !(runner->options.guards_off & AE_GUARD_IDLE);
    if (stop) /* one that is not seen to stop is looked at all the same, and stirs where it goes on */
        (void)ae_runner_freeze(runner);
    bool busy = watched && ae_watch_busy(&runner->watch, NULL, NULL);
    ae_buffers_fill(&runner->buffers, request->inst);
    if (!busy && watched && ae_watch_stirred(&runner->watch)) {
        ret->disturbed = ret->stirred = 1;
        busy = ae_watch_stirs(&runner->watch);
    }
    const bool moved = watched && shifted(runner, text);
    *ret_since = watched && !runner->watch.blind ? ae_now_ns() : 0;
    if (stop)
        ae_runner_thaw(runner);
    if (busy || moved)
        violate(ret, AE_STATE_CARRIED, detail,
                busy ? "threads of the program work when the inputs have arrived, before they are given to it" : text);
    return !busy && !moved;
}

/* Arguments mapped, device at its clocks, all threads asleep, then the inputs; then the worker is armed. *ret_since:
 * since when nobody has looked at the threads, the time of arming left out; 0: they are not watched. False with a
 * verdict where the trial is over. */
static bool make_ready(struct ae_runner *runner, const struct ae_trial_request *request, struct ae_trial *ret,
                       int64_t *ret_since, char detail[AE_DETAIL_TEXT])
{
    const bool watched = request->pause_ns && !(runner->options.guards_off & AE_GUARD_IDLE);
    int64_t took = 0;
    const bool cuda = runner->options.target == AE_CUDA;
    if (!obeys(runner, AE_ORDER_MAP, MAP_TIMEOUT, ret, detail) ||
        (cuda && !obeyed(runner, AE_ORDER_RAMP, ae_runner_ramp(runner, request->awake, ARM_TIMEOUT), ret, detail)))
        return false;
    if (cuda && request->settled)
        request->settled(request->settled_data);
    /* A device would lower its clocks again meanwhile. */
    if (watched && ae_watch_busy(&runner->watch, cuda ? NULL : request->meanwhile, request->meanwhile_data)) {
        violate(ret, AE_STATE_CARRIED, detail,
                "a thread of the program goes on working between calls: end it, or let it sleep, before returning");
        return false;
    }
    if (!fill(runner, request, watched, ret, ret_since, detail))
        return false;
    if ((runner->options.spin != AE_SPIN_NEVER || cuda) && !arm(runner, watched, ret, &took, detail))
        return false;
    *ret_since += *ret_since ? took : 0;
    return true;
}

int ae_trial_run(struct ae_runner *runner, const struct ae_trial_request *request, struct ae_trial *ret,
                 struct ae_judgement *judgement, char detail[AE_DETAIL_TEXT], struct ae_error *err)
{
    const struct ae_instance *inst = request->inst;
    *ret = (struct ae_trial){.kind = request->kind, .family = inst->family, .verdict = AE_PASS, .cpu_ns = -1};
    *judgement = (struct ae_judgement){.right = true};
    int rc = ae_buffers_layout(&runner->buffers, inst, err);
    if (rc != AE_OK)
        return rc;
    int64_t since;
    if (!make_ready(runner, request, ret, &since, detail))
        return AE_OK;
    const int64_t cpu_before = ae_runner_cpu_ns(runner);
    if (request->around)
        request->around(request->around_data, true);
    int64_t returned = 0, done = 0;
    const int64_t start = ae_runner_ring_call(runner);
    const enum ae_answer answer = ae_runner_wait_call(runner, inst, start + request->timeout_ns, &returned, &done);
    if (request->around)
        request->around(request->around_data, false);
    if (answer == AE_ANSWER_TIMEOUT) {
        ret->verdict = AE_TIMEOUT;
        snprintf(detail, AE_DETAIL_TEXT, "the call did not end within %.1f s", (double)request->timeout_ns / AE_SEC);
        return AE_OK;
    }
    if (answer == AE_ANSWER_DEAD) {
        ret->verdict = AE_CRASH;
        return AE_OK;
    }
    const pid_t pid = ae_proc_pid(runner->proc);
    const bool watched = request->pause_ns && !(runner->options.guards_off & AE_GUARD_KEPT);
    const int64_t unseen = since ? start - since - gap_limit(runner) : 0;
    if (unseen > 0) {
        ret->charged_ns += unseen;
        ret->disturbed = 1;
    }
    ret->call_ns = done - start + ret->charged_ns;
    ret->return_ns = returned - start + ret->charged_ns;
    const int64_t cpu_after = ae_runner_cpu_ns(runner);
    if (cpu_before >= 0 && cpu_after >= 0)
        ret->cpu_ns = cpu_after - cpu_before;
    const bool unsynchronised = ae_buffers_probe_changed(&runner->buffers);
    ae_buffers_probe(&runner->buffers, inst, NULL, 0);
    const int64_t held = watched ? ae_watch_resident(pid) : -1;
    ae_runner_freeze(runner);
    const int64_t left = watched ? ae_watch_resident(pid) : -1;
    const bool shrunk = left >= 0 && held - left > shift_room(runner);
    if (runner->answers->result == AE_WORKER_DEVICE_ERROR || runner->answers->result == AE_WORKER_OUT_OF_MEMORY) {
        ret->verdict = runner->answers->result == AE_WORKER_DEVICE_ERROR ? AE_CRASH : AE_OUT_OF_MEMORY;
        snprintf(detail, AE_DETAIL_TEXT, "%s", ae_runner_text(runner));
        ae_runner_thaw(runner);
        return AE_OK;
    }
    struct ae_expected copy = {0};
    rc = copy_outputs(runner, inst, &copy, err);
    const bool late = ae_buffers_probe_changed(&runner->buffers);
    if (rc == AE_OK)
        audit_buffers(ret, runner, inst, detail);
    runner->watch.held = watched ? ae_watch_holdings(pid) : AE_WATCH_NOTHING;
    ae_runner_thaw(runner);
    if (rc == AE_OK && request->expected && ret->verdict == AE_PASS)
        rc = judge(ret, request, &copy, judgement, detail, err);
    if (rc == AE_OK && unsynchronised) {
        violate(ret, AE_UNSYNCHRONISED, detail,
                "the output was still changing when the function had returned: wait for the device before returning");
    } else if (rc == AE_OK && request->pause_ns && !(runner->options.guards_off & AE_GUARD_LATE)) {
        wait_until(done + request->pause_ns, request);
        if (late || outputs_changed(runner, inst, &copy))
            violate(ret, AE_LATE_WRITE, detail, "the output changed after the function had returned");
    }
    if (rc == AE_OK && shrunk && ret->verdict == AE_PASS)
        violate(ret, AE_STATE_CARRIED, detail,
                "host memory was given back when the function had returned: what a call uses is given back inside it");
    if (rc == AE_OK && request->pause_ns && !(runner->options.guards_off & AE_GUARD_CENSUS) &&
        ae_watch_company(pid) > 0)
        violate(ret, AE_ESCAPED_PROCESS, detail, "the program started another process, which is still there");
    ae_watch_look(&runner->watch);
    if (rc == AE_OK && request->ret_outputs)
        *request->ret_outputs = copy;
    else
        ae_expected_release(&copy);
    return rc;
}
