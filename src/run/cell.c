#include "run/evaluation.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define CALL_TIMEOUT_MIN    (10 * AE_SEC)
#define CALL_TIMEOUT_FACTOR 2
#define BUDGET_MIN          (600 * AE_SEC)
#define BUDGET_FACTOR       20
/* Cases that are opened before they are wanted: no more than so many, where the worker shares no more memory than this. */
#define AHEAD_MAX           4
#define AHEAD_BYTES         ((size_t)64 << 20)
#define LONG_PAUSES         16
#define FLOOR_LAUNCH_NS     2000 /* of one launch, which nothing on a device can do without */

int64_t ae_evaluation_call_timeout(const struct ae_evaluation *e, const struct ae_case *cell)
{
    if (e->options->timeout_ns)
        return e->options->timeout_ns;
    const int64_t reference = cell->baseline_ns ? cell->baseline_ns : cell->reference_ns;
    const int64_t doubled = CALL_TIMEOUT_FACTOR * reference;
    return doubled > CALL_TIMEOUT_MIN ? doubled : CALL_TIMEOUT_MIN;
}

/* The practice bank's values may be shown; the secret bank's never leave this process. */
static void note_mismatch(struct ae_evaluation *e, const struct ae_case *cell, const struct ae_judgement *judgement)
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
static void audit_floor(struct ae_evaluation *e, const struct ae_case *cell, struct ae_trial *trial,
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

static void add_work(struct ae_evaluation *e, const struct ae_instance *inst)
{
    struct ae_work work = {0}, *sum = &e->m->work;
    ae_instance_work(inst, &work);
    sum->bytes_in += work.bytes_in;
    sum->bytes_out += work.bytes_out;
    sum->operations += work.operations;
    sum->steps += work.steps;
    e->timed++;
}

static void note_most(struct ae_ledger *most, const struct ae_ledger *now)
{
    most->device = now->device > most->device ? now->device : most->device;
    most->pinned = now->pinned > most->pinned ? now->pinned : most->pinned;
    most->registered = now->registered > most->registered ? now->registered : most->registered;
    most->pools = now->pools > most->pools ? now->pools : most->pools;
    most->contexts = now->contexts > most->contexts ? now->contexts : most->contexts;
}

int64_t ae_evaluation_late_pause(const struct ae_evaluation *e)
{
    uint8_t chance = 0;
    (void)ae_random_bytes(&chance, sizeof chance, NULL);
    return e->m->trial_count == 0 || chance % LONG_PAUSES == 0 ? AE_LATE_PAUSE_NS : AE_LATE_LEAST_NS;
}

bool ae_evaluation_awake(const struct ae_evaluation *e)
{
    struct ae_device_state device;
    if (e->submission->target != AE_CUDA || e->top_mhz == 0)
        return false;
    ae_device_look(&e->context->device, &device);
    return device.sm_mhz >= e->top_mhz;
}

/* Runs one trial on the cell and records it. Returns false when the evaluation is over. */
static bool run_cell(struct ae_evaluation *e, const struct ae_case *cell, bool record)
{
    struct ae_trial trial;
    struct ae_judgement judgement;
    struct ae_error err = {0};
    char detail[AE_DETAIL_TEXT] = "";
    if (!ae_evaluation_load(e, &cell->inst))
        return false;
    const struct ae_trial_request request = {
        .inst = &cell->inst,
        .expected = &cell->expected,
        .kind = cell->name.kind,
        .timeout_ns = e->timeout_ns = ae_evaluation_call_timeout(e, cell),
        .pause_ns = ae_evaluation_late_pause(e),
        .awake = ae_evaluation_awake(e),
        .settled = ae_evaluation_look_outside,
        .settled_data = e,
        .meanwhile = ae_evaluation_open_ahead,
        .meanwhile_data = e,
        .ret_outputs = e->keep,
    };
    const int rc = ae_trial_run(&e->runner, &request, &trial, &judgement, detail, &err);
    if (rc != AE_OK) {
        ae_evaluation_stop(e);
        ae_evaluation_host_error(e, &err);
        return false;
    }
    ae_evaluation_note_holdings(e);
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
        e->top_mhz = device.sm_mhz > e->top_mhz ? device.sm_mhz : e->top_mhz;
        trial.temperature_c = device.temperature_c;
        trial.disturbed |= device.throttled;
    }
    const bool died = e->runner.dead;
    if (died)
        ae_evaluation_autopsy(e, detail);
    if (died) {
        trial.verdict = e->m->verdict;
        trial.violation = e->m->violation;
    }
    if (record && ae_measurement_add(e->m, &trial) != AE_OK) {
        ae_error_set(&err, AE_E_NOMEM, "no memory for one more trial");
        ae_evaluation_host_error(e, &err);
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
    ae_evaluation_stop(e); /* its state is not to be trusted any more */
    ae_evaluation_conclude(e, trial.verdict, trial.violation, detail);
    return false;
}

static bool same_name(const struct ae_case_name *a, const struct ae_case_name *b)
{
    return a->task == b->task && a->size == b->size && a->kind == b->kind && a->family == b->family &&
           a->number == b->number && a->practice == b->practice;
}

void ae_evaluation_plan(struct ae_evaluation *e, const struct ae_case_name *name, bool baseline)
{
    if (e->planned < AE_PLAN_MAX)
        e->plan[e->planned++] = (struct ae_planned){.name = *name, .baseline = baseline && !e->options->no_baseline};
}

void ae_evaluation_unplan(struct ae_evaluation *e)
{
    for (int i = 0; i < e->planned; i++)
        if (e->plan[i].open)
            ae_case_release(&e->plan[i].cell);
    e->planned = 0;
}

/* Only what lies in the cache: to run the reference is nothing to be done beside a program. */
bool ae_evaluation_open_ahead(void *data)
{
    struct ae_evaluation *e = data;
    int open = 0;
    for (int i = 0; i < e->planned && open < AHEAD_MAX && e->buffer_bytes <= AHEAD_BYTES; i++) {
        struct ae_planned *p = &e->plan[i];
        open += p->open;
        if (p->tried)
            continue;
        p->tried = true; /* what fails here fails again when it is wanted, and is told then */
        if (!ae_case_cached(e->context, &p->name, p->baseline))
            continue;
        p->open = ae_case_open(e->context, &p->name, p->baseline, &p->cell, NULL) == AE_OK;
        if (!p->open)
            ae_case_release(&p->cell);
        return true;
    }
    return false;
}

/* True where the case was opened ahead; it is the caller's now. */
static bool take_planned(struct ae_evaluation *e, const struct ae_case_name *name, bool baseline, struct ae_case *cell)
{
    for (int i = 0; i < e->planned; i++) {
        struct ae_planned *p = &e->plan[i];
        if (!same_name(&p->name, name) || p->baseline != (baseline && !e->options->no_baseline))
            continue;
        const bool open = p->open;
        if (open)
            *cell = p->cell;
        e->planned--;
        memmove(p, p + 1, (size_t)(e->planned - i) * sizeof *p);
        return open;
    }
    return false;
}

static bool open_cell(struct ae_evaluation *e, const struct ae_case_name *name, bool baseline, struct ae_case *cell)
{
    struct ae_error err = {0};
    if (take_planned(e, name, baseline, cell))
        return true;
    if (ae_case_open(e->context, name, baseline && !e->options->no_baseline, cell, &err) == AE_OK)
        return true;
    ae_case_release(cell);
    ae_evaluation_host_error(e, &err);
    return false;
}

bool ae_evaluation_try(struct ae_evaluation *e, const struct ae_case_name *name, bool baseline, bool record)
{
    struct ae_case cell;
    if (!open_cell(e, name, baseline, &cell))
        return false;
    const int64_t budget = BUDGET_FACTOR * (cell.baseline_ns ? cell.baseline_ns : cell.reference_ns);
    const int64_t start = ae_now_ns();
    bool on = run_cell(e, &cell, record);
    e->spent_ns += ae_now_ns() - start;
    if (on && e->spent_ns > (budget > BUDGET_MIN ? budget : BUDGET_MIN)) {
        ae_evaluation_conclude(e, AE_TIMEOUT, AE_NO_VIOLATION, "the evaluation as a whole takes longer than its budget");
        on = false;
    }
    ae_case_release(&cell);
    return on;
}
