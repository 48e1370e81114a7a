#include "run/evaluate.h"

#include "base/clock.h"
#include "base/file.h"
#include "run/evaluation.h"
#include "run/order.h"
#include "run/twin.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Defaults, as docs/methodology.md lists them. */
#define NOISE_TARGET          0.01 /* relative half width of the 95 % interval of the median */
#define REPEATS_OF_A_FAILURE  3
#define REPEATS_AS_A_PAIR     2
#define LEDGER_CALLS          3
#define HOST_SHARE            1.1 /* processor time over call time: more than the thread that waits for the device */
#define FRESH_SLOW_FACTOR     1.5
#define FRESH_SLOW_NS         (2 * AE_MS)

static void mean_work(struct ae_evaluation *e)
{
    struct ae_work *sum = &e->m->work;
    const double n = e->timed ? e->timed : 1;
    *sum = (struct ae_work){sum->bytes_in / n, sum->bytes_out / n, sum->operations / n, sum->steps / n};
}

/* The ledger wants calls of the timed family too, and three in all: the first may be unlike the others. */
static bool run_ledger_calls(struct ae_evaluation *e)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .kind = AE_TRIAL_LEDGER,
                                .practice = e->options->practice};
    for (int i = 0; i == 0 || e->ledger_calls < LEDGER_CALLS; i++) {
        name.number = i % AE_LEDGER_INSTANCES;
        if (!ae_evaluation_try(e, &name, false, true))
            return false;
        if (e->wrong)
            return true;
    }
    return (e->m->notes & AE_NOTE_NO_LEDGER) || ae_evaluation_audit_ledger(e);
}

/* Rule 0: in a process of its own, before any timing. A wrong answer here ends the evaluation. */
static bool run_families(struct ae_evaluation *e)
{
    const struct ae_task *task = e->submission->task;
    struct ae_case_name name = {
        .task = task, .size = e->size, .kind = AE_TRIAL_ADVERSARIAL, .practice = e->options->practice};
    int families[AE_FAMILIES_MAX], count = 0;
    for (int f = 1; f < ae_task_family_count(task); f++)
        if ((task->families[f].sizes & AE_AT(e->size)) && !(e->context->guards_off & AE_GUARD_FAMILIES))
            families[count++] = f;
    for (int i = 0; i < count; i++) {
        name.family = families[i];
        ae_evaluation_plan(e, &name, false);
    }
    for (int i = 0; i < count; i++) {
        name.family = families[i];
        if (!ae_evaluation_try(e, &name, false, true))
            return false;
        if (e->wrong)
            break;
    }
    const bool on = !e->ledger || e->wrong || run_ledger_calls(e);
    if (on && e->ledger && !e->wrong)
        ae_evaluation_note_ledger(e);
    ae_evaluation_stop(e);
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
static bool gives_again(struct ae_evaluation *e, const struct ae_case *twin, const struct ae_expected *answer)
{
    struct ae_trial trial;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    struct ae_expected got = {0};
    char detail[AE_DETAIL_TEXT] = "";
    if (!ae_evaluation_load(e, &twin->inst))
        return false;
    const struct ae_trial_request request = {
        .inst = &twin->inst,
        .expected = &twin->expected,
        .kind = AE_TRIAL_TWIN,
        .timeout_ns = ae_evaluation_call_timeout(e, twin),
        .pause_ns = ae_evaluation_late_pause(e),
        .awake = ae_evaluation_awake(e),
        .meanwhile = ae_evaluation_open_ahead,
        .meanwhile_data = e,
        .ret_outputs = &got,
    };
    const int rc = ae_trial_run(&e->runner, &request, &trial, &judgement, detail, &err);
    const bool over = rc == AE_OK && (trial.verdict == AE_PASS || trial.verdict == AE_WRONG_ANSWER);
    const bool again = over && trial.verdict == AE_WRONG_ANSWER && same_outputs(twin->inst.task, &got, answer);
    ae_expected_release(&got);
    if (!over)
        ae_evaluation_stop(e);
    return again;
}

/* A timed call and its near-twin behind it. A program that gives the twin the answer of its sibling does so from
 * memory, unless it would do so in a fresh process as well: then it does not look at what was changed. Every other time
 * the twin's is also the call that follows a look at the memory; *ret_looked: one was taken. Were it always, a program
 * that notices the look would know the twin. */
static bool try_sibling_and_twin(struct ae_evaluation *e, const struct ae_case_name *name, bool *ret_looked)
{
    struct ae_expected answer = {0};
    struct ae_case twin = {0};
    struct ae_error err = {0};
    struct ae_case_name twin_name = *name;
    const bool wanted = !name->practice && !e->options->single && !(e->context->guards_off & AE_GUARD_TWIN);
    uint8_t chance = 0;
    (void)ae_random_bytes(&chance, sizeof chance, NULL);
    *ret_looked = false;
    e->keep = wanted ? &answer : NULL;
    bool on = ae_evaluation_try(e, name, true, true);
    e->keep = NULL;
    twin_name.kind = AE_TRIAL_TWIN;
    twin_name.number = -1;
    if (on && wanted && e->wrong == 0 &&
        ae_twin_find(e->context, name->task, name->size, &twin_name.number, &err) == AE_OK && twin_name.number >= 0 &&
        ae_case_open(e->context, &twin_name, false, &twin, &err) == AE_OK) {
        *ret_looked = chance % 2 && ae_evaluation_look_midway(e);
        if (gives_again(e, &twin, &answer)) {
            ae_evaluation_stop(e);
            if (!gives_again(e, &twin, &answer) && !e->over) {
                ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED,
                         "after a call, an instance that differs from its own in a few elements got that call's answer "
                         "again; in a fresh process it got another: answers are kept between calls");
                ae_evaluation_stop(e);
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
        on = ae_evaluation_try(e, &fresh, false, false);
    }
    return on && !e->over;
}

/* The look before the call to come, and a call on an instance that nobody will ask for again, judged by how it ends only. */
static bool look_and_call(struct ae_evaluation *e, const struct ae_case_name *next)
{
    struct ae_instance inst = {0};
    struct ae_trial trial;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    char detail[AE_DETAIL_TEXT] = "";
    uint64_t seed;
    if (!ae_evaluation_may_look(e) || ae_random_bytes(&seed, sizeof seed, NULL) != AE_OK)
        return true;
    const bool made = ae_instance_make(&inst, next->task, next->size, 0, seed, NULL) == AE_OK;
    if (made && ae_buffers_need(&inst) <= e->buffer_bytes && ae_evaluation_look_midway(e)) {
        const struct ae_trial_request request = {
            .inst = &inst,
            .kind = next->kind,
            .timeout_ns = e->timeout_ns,
            .pause_ns = ae_evaluation_late_pause(e),
            .awake = ae_evaluation_awake(e),
            .settled = ae_evaluation_look_outside,
            .settled_data = e,
            .meanwhile = ae_evaluation_open_ahead,
            .meanwhile_data = e,
        };
        const int rc = ae_trial_run(&e->runner, &request, &trial, &judgement, detail, &err);
        if (rc != AE_OK) {
            ae_evaluation_stop(e);
            ae_evaluation_host_error(e, &err);
        } else if (e->runner.dead) {
            ae_evaluation_autopsy(e, detail);
        } else if (trial.verdict != AE_PASS) {
            ae_evaluation_stop(e);
            ae_evaluation_conclude(e, trial.verdict, trial.violation, detail);
        } else {
            ae_evaluation_note_holdings(e);
        }
    }
    ae_instance_release(&inst);
    return !e->over;
}

static void plan_group(struct ae_evaluation *e, const struct ae_case_name *fresh, const int *numbers, int timed)
{
    struct ae_case_name name = *fresh;
    ae_evaluation_unplan(e);
    ae_evaluation_plan(e, &name, false);
    name.kind = AE_TRIAL_TIMED;
    for (int i = 0; i < timed; i++) {
        name.number = numbers[i];
        ae_evaluation_plan(e, &name, true);
    }
}

/* A load of the object: a call that does not count, then those of these numbers. At a place that chance picks there is a
 * look at the memory: behind the twin's sibling, where it is among them, else before one of them. */
static bool run_group(struct ae_evaluation *e, int group, const int *numbers, int timed)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .practice = e->options->practice};
    if (group > 0 && !ae_evaluation_reload(e))
        return false;
    name.kind = AE_TRIAL_FRESH;
    name.number = group % ae_bank_plan(e->size)->fresh; /* again only in another process */
    plan_group(e, &name, numbers, timed);
    if (!ae_evaluation_try(e, &name, false, true))
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
        if (name.number == AE_TWIN_SIBLING ? !try_sibling_and_twin(e, &name, &looked) : !ae_evaluation_try(e, &name, true, true))
            return false;
        if (!looked && !look_and_call(e, &name))
            return false;
    }
    return true;
}

/* All that an extension would use lies in the cache: eval does not make a user wait for references. */
static bool extension_cached(struct ae_evaluation *e, int group, const int *numbers, int timed)
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

static bool run_timed(struct ae_evaluation *e)
{
    const struct ae_bank_plan *plan = ae_bank_plan(e->size);
    const int usual = e->options->quick ? 3 : plan->trials_per_group, most = e->options->per_process;
    const int per_group = most && most < usual ? most : usual;
    const int first = e->options->timed ? e->options->timed : e->options->quick ? 3 : plan->first_trials;
    int done = 0, order[AE_BANK_TIMED_MAX];
    ae_order_draw(order, first < plan->timed ? first : plan->timed, plan->timed, per_group);
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
    if (e->running && !ae_evaluation_unload(e))
        return false;
    if (e->wrong == 0 && !e->options->quick && noise(e->m) > NOISE_TARGET)
        e->m->notes |= AE_NOTE_FEW_TRIALS;
    return true;
}

/* Right alone every time, but wrong again behind the call that came before it: the answer depends on what was kept. */
static bool fails_after(struct ae_evaluation *e, const struct ae_case_name *before, const struct ae_case_name *failed)
{
    for (int i = 0; i < REPEATS_AS_A_PAIR; i++) {
        ae_evaluation_stop(e);
        if (!ae_evaluation_try(e, before, false, false))
            return false;
        e->wrong = 0;
        if (!ae_evaluation_try(e, failed, false, false) || e->wrong == 0)
            return false;
    }
    return true;
}

/* An instance that failed, three times more in fresh processes: right at least once means a race, or state. */
static void settle_wrong(struct ae_evaluation *e)
{
    char first[AE_DETAIL_TEXT];
    const struct ae_case_name failed = e->failed, before = e->before_failed;
    const int wrong = e->wrong, judged = e->judged;
    int right = 0;
    snprintf(first, sizeof first, "%s", e->m->detail);
    for (int i = 0; i < REPEATS_OF_A_FAILURE; i++) {
        ae_evaluation_stop(e);
        e->wrong = 0;
        if (!ae_evaluation_try(e, &failed, failed.kind == AE_TRIAL_TIMED, false))
            return; /* it now fails in another way, which ae_evaluation_conclude() has recorded */
        right += e->wrong == 0;
    }
    const bool kept = right == REPEATS_OF_A_FAILURE && before.task && fails_after(e, &before, &failed);
    ae_evaluation_stop(e);
    if (e->over)
        return;
    if (kept) {
        snprintf(e->m->detail, sizeof e->m->detail,
                 "right as the first call of a process, wrong each time behind another call: something is kept between "
                 "calls (%.500s)", first);
        ae_evaluation_conclude(e, AE_VIOLATION, AE_STATE_CARRIED, e->m->detail);
        return;
    }
    if (right)
        snprintf(e->m->detail, sizeof e->m->detail,
                 "the same instance was right %d of %d times in fresh processes (first failure: %.500s)", right,
                 REPEATS_OF_A_FAILURE, first);
    else
        snprintf(e->m->detail, sizeof e->m->detail, "%.700s (%d of %d instances)", first, wrong, judged);
    ae_evaluation_conclude(e, right ? AE_NONDETERMINISTIC : AE_WRONG_ANSWER, AE_NO_VIOLATION, e->m->detail);
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

static void add_notes(struct ae_measurement *m)
{
    if (m->target == AE_CUDA && (double)median_share_of(m) > 1000 * HOST_SHARE)
        m->notes |= AE_NOTE_HOST_SHARE;
    const int64_t fresh = median_of(m, AE_TRIAL_FRESH), timed = median_of(m, AE_TRIAL_TIMED);
    if (timed && fresh > timed + FRESH_SLOW_NS && (double)fresh > FRESH_SLOW_FACTOR * (double)timed)
        m->notes |= AE_NOTE_FRESH_SLOW;
}

/* check: every family and instance of the practice bank, one process, no timing claimed. */
static bool run_practice(struct ae_evaluation *e)
{
    struct ae_case_name name = {.task = e->submission->task, .size = e->size, .kind = AE_TRIAL_TIMED, .practice = true};
    if (!run_families(e))
        return false;
    for (int i = 0; i < ae_bank_plan(e->size)->practice; i++) {
        name.number = i;
        if (!ae_evaluation_try(e, &name, false, true))
            return false;
    }
    return true;
}

static bool built(struct ae_evaluation *e)
{
    const struct ae_build_result *build = e->submission->build;
    struct ae_error err = {0};
    e->m->compile_ns = build->compile_ns;
    if (e->submission->target == AE_CUDA && build->verdict == AE_PASS) {
        if (!e->context->device.handle) {
            ae_evaluation_conclude(e, AE_NOT_RUN, AE_NO_VIOLATION, e->context->no_device);
            return false;
        }
        if (e->context->device.quarantined) {
            ae_evaluation_conclude(e, AE_NOT_RUN, AE_NO_VIOLATION, "the device did not come back after an earlier program: look at it with nvidia-smi");
            return false;
        }
    }
    if (build->constructors)
        e->m->notes |= AE_NOTE_CONSTRUCTOR;
    if (build->log)
        e->m->log = strdup(build->log);
    if (build->verdict != AE_PASS) {
        ae_evaluation_conclude(e, build->verdict, build->violation, build->detail);
        return false;
    }
    /* The log of a compile that succeeded (warnings) gives way to what the program prints if it fails. */
    free(e->m->log);
    e->m->log = NULL;
    if (ae_file_read(build->object, (size_t)1 << 30, &e->object, &err) != AE_OK) {
        ae_evaluation_host_error(e, &err);
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
    struct ae_evaluation e = {
        .context = context,
        .submission = submission,
        .options = options,
        .size = size,
        .m = ret,
        .mismatch = mismatch,
        .settled = AE_WATCH_NOTHING,
        .settled_use = {-1, -1},
        .ledger_held = -1,
    };
    if (built(&e)) {
        e.ledger = submission->target == AE_CUDA;
        if (options->practice)
            (void)run_practice(&e);
        else if (run_families(&e))
            (void)run_timed(&e);
        ae_evaluation_unplan(&e);
        if (!e.over && e.wrong)
            settle_wrong(&e);
        ae_evaluation_stop(&e);
        mean_work(&e);
        if (!e.over) {
            ret->verdict = AE_PASS;
            ret->detail[0] = 0;
            ae_measurement_count_charged(ret);
            add_notes(ret);
            free(ret->log); /* of no use to the author of a right program, and it may be large */
            ret->log = NULL;
        }
    }
    ae_bytes_release(&e.object);
    ret->wall_ns = ae_now_ns() - start;
}
