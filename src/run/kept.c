#include "run/evaluation.h"

#include "base/clock.h"

#include <stdio.h>

/* Host memory that may be there before and after the object is unloaded: its static storage, and allocators' crumbs. */
#define KEPT_LOADED   ((int64_t)2 << 20)
#define KEPT_UNLOADED ((int64_t)1 << 20)
#define KEPT_MIDWAY   ((int64_t)4 << 20) /* may come and go between calls */
#define KEPT_DRIVER   ((int64_t)64 << 20) /* more, on a device: what the driver holds for a module it has seen */
#define TRIM_TIMEOUT  (10 * AE_SEC)

void ae_evaluation_note_holdings(struct ae_evaluation *e)
{
    if (e->runner.dead)
        return;
    /* The trial has looked when the call had ended, the program stopped. */
    e->latest = e->runner.watch.held;
    if (++e->group_calls == 2)
        e->second = e->latest;
}

/* Host memory that a process of this target may have more than before, the object loaded or not. */
static int64_t kept_room(const struct ae_evaluation *e, int64_t room)
{
    return room + (e->submission->target == AE_CUDA ? KEPT_DRIVER : 0);
}

/* What was there between two calls, picked by chance, and is gone behind the last: a program can count its calls, and
 * frees in the last of a group what it has kept through the others. */
static bool audit_midway(struct ae_evaluation *e, const struct ae_watch_holdings *now)
{
    char detail[AE_DETAIL_TEXT];
    const int64_t freed = e->midway - (now->resident - e->settled.resident);
    if (e->midway <= 0 || now->resident < 0 || e->settled.resident < 0 || freed <= kept_room(e, KEPT_MIDWAY))
        return true;
    snprintf(detail, sizeof detail,
             "%.1f MiB of host memory were there between two calls and not any more after the last: something is kept "
             "between calls", (double)freed / 0x1p20);
    ae_evaluation_stop(e);
    ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
    return false;
}

/* Memory that is still there and was not before the group is of use to a later call, or forgotten: what grew from call
 * to call was forgotten, what did not was kept. The first group is left out: libraries make their own lasting reserve in
 * it. `allowed`: what may be there all the same. */
static bool audit_kept(struct ae_evaluation *e, const struct ae_watch_holdings *now, int64_t allowed, const char *when)
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
    ae_evaluation_stop(e);
    ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
    return false;
}

/* From the second call of a group on: what is there now is either code or kept. */
void ae_evaluation_look_outside(void *data)
{
    struct ae_evaluation *e = data;
    struct ae_device_use now;
    if (e->group_calls < 1)
        return;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &now);
    ae_held_look(&e->held, &now);
}

/* With the object gone. What is left may not grow. What went with it is to be no more than in the families' process, where
 * a program that sees itself counted would have behaved well, and no more than any code; leaks are not in that. */
static bool audit_held(struct ae_evaluation *e)
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
    ae_evaluation_stop(e);
    ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
    return false;
}

/* The same figure in the families' process, behind the last call, of which the ledger tells what it left. How unloading
 * ends is judged in the timed process. */
void ae_evaluation_note_ledger(struct ae_evaluation *e)
{
    enum ae_violation violation;
    char detail[AE_DETAIL_TEXT];
    struct ae_device_use before, after;
    if (!e->running || e->runner.dead || (e->context->guards_off & AE_GUARD_HELD) ||
        ae_runner_ramp(&e->runner, true, TRIM_TIMEOUT) != AE_ANSWER_DONE)
        return;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &before);
    if (ae_trial_unload(&e->runner, &violation, detail) != AE_PASS)
        return;
    ae_device_use(&e->context->device, ae_proc_pid(e->runner.proc), &after);
    const int64_t gone = ae_held_growth(&after, &before, ae_device_processes(&e->context->device) > 1);
    e->ledger_held = gone == INT64_MIN ? -1 : gone > 0 ? gone : 0;
}

bool ae_evaluation_unload(struct ae_evaluation *e)
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
        ae_evaluation_stop(e);
        ae_evaluation_conclude(e, gone, violation, detail);
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
        ae_evaluation_stop(e);
        ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
        return false;
    }
    if (!e->settled_memory)
        e->settled_memory = left;
    now = ae_watch_holdings(ae_proc_pid(e->runner.proc));
    if (now.object > 0) { /* whatever the worker says, which may be the program by now */
        ae_evaluation_stop(e);
        ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, "the object is still mapped when it should have been unloaded");
        return false;
    }
    if (!audit_kept(e, &now, KEPT_UNLOADED, "when the object has been unloaded"))
        return false;
    e->settled = now;
    e->midway = 0;
    e->group_calls = 0;
    return true;
}

bool ae_evaluation_reload(struct ae_evaluation *e)
{
    char detail[AE_DETAIL_TEXT] = "";
    e->group++;
    if (e->options->per_process)
        ae_evaluation_stop(e);
    if (!e->running)
        return true;
    if (!ae_evaluation_unload(e))
        return false;
    if (e->context->guards_off & AE_GUARD_RELOAD)
        return true;
    const enum ae_verdict loaded = ae_trial_load(&e->runner, 0, detail);
    if (loaded == AE_PASS)
        return true;
    if (e->runner.dead) {
        ae_evaluation_autopsy(e, detail);
        /* It loaded before: what crashes now is what it had kept. */
        if (e->m->verdict == AE_CRASH)
            ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, e->m->detail);
    } else {
        ae_evaluation_stop(e);
        ae_evaluation_conclude(e, loaded, AE_NO_VIOLATION, detail);
    }
    return false;
}

bool ae_evaluation_may_look(const struct ae_evaluation *e)
{
    return !(e->context->guards_off & (AE_GUARD_KEPT | AE_GUARD_RELOAD)) && e->running && e->settled.resident >= 0;
}

bool ae_evaluation_look_midway(struct ae_evaluation *e)
{
    if (!ae_evaluation_may_look(e) || ae_runner_command(&e->runner, AE_ORDER_TRIM, TRIM_TIMEOUT) != AE_ANSWER_DONE)
        return false;
    const struct ae_watch_holdings now = ae_watch_holdings(ae_proc_pid(e->runner.proc));
    e->midway = now.resident < 0 ? 0 : now.resident - e->settled.resident;
    return true;
}

/* What is alive after a call and does not grow is used again; what grows is forgotten. */
bool ae_evaluation_audit_ledger(struct ae_evaluation *e)
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
        ae_evaluation_conclude(e, AE_VIOLATION, AE_NO_DEVICE_WORK, "nothing was launched on the device in any call");
        return false;
    }
    if (e->most_ledger.contexts > 0) {
        ae_evaluation_conclude(e, AE_VIOLATION, AE_EXTRA_CONTEXT, "the program makes a context of its own");
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
        ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, detail);
        return false;
    }
    return true;
}
