#include "profile/profile.h"

#include "base/clock.h"
#include "profile/counters.h"
#include "run/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMED_CALLS         5
#define PROFILED_CALLS      3
#define LONG_CALL           (3 * AE_SEC) /* one call of each sort is enough */
#define TRACE_TIMEOUT       (30 * AE_SEC)
#define CALL_TIMEOUT_MIN    (10 * AE_SEC)
#define CALL_TIMEOUT_FACTOR 2
#define MEMORY_FACTOR       3
#define MEMORY_EXTRA        ((uint64_t)4 << 30)
#define CALLS_MAX           8

struct profiling {
    struct ae_context *context;
    const struct ae_submission_info *submission;
    const struct ae_profile_options *options;
    struct ae_profile *p;
    struct ae_bytes object;
    struct ae_case cells[4];
    int cell_count;
    struct ae_runner runner;
    bool running;
    struct ae_counter_set counter_set;
    struct ae_counters counters;
};

static void around_call(void *data, bool begin)
{
    struct profiling *g = data;
    if (begin)
        ae_counters_begin(&g->counter_set);
    else
        ae_counters_end(&g->counter_set, &g->counters);
}

static void stop(struct profiling *g)
{
    ae_counters_close(&g->counter_set);
    if (g->running)
        ae_runner_stop(&g->runner, NULL, NULL);
    g->running = false;
}

static void fail(struct profiling *g, enum ae_verdict verdict, enum ae_violation violation, const char *detail)
{
    g->p->verdict = verdict;
    g->p->violation = violation;
    snprintf(g->p->detail, sizeof g->p->detail, "%s", detail);
}

static void autopsy(struct profiling *g)
{
    char detail[AE_DETAIL_TEXT] = "";
    enum ae_violation violation;
    const enum ae_verdict verdict = ae_trial_autopsy(&g->runner, &violation, detail, NULL);
    g->running = false;
    fail(g, verdict, violation, detail);
}

/* A worker with the object loaded; *ret_on false where the submission has failed. */
static int start(struct profiling *g, bool trace, bool *ret_on, struct ae_error *err)
{
    char detail[AE_DETAIL_TEXT] = "";
    size_t need = 0;
    uint64_t bytes = 0;
    *ret_on = false;
    for (int i = 0; i < g->cell_count; i++) {
        const size_t one = ae_buffers_need(&g->cells[i].inst);
        need = one > need ? one : need;
        const uint64_t all = ae_instance_bytes(&g->cells[i].inst);
        bytes = all > bytes ? all : bytes;
    }
    const struct ae_runner_options options = {
        .worker = g->context->worker,
        .target = g->submission->target,
        .device = g->context->device.minor,
        .device_uuid = g->context->device.uuid,
        .cuda_lib = g->context->toolchain->cuda_lib[0] ? g->context->toolchain->cuda_lib : NULL,
        .cores = &g->context->host.submission_cores,
        .spin = g->context->host.spin,
        .single = g->options->single,
        .trace = trace,
        .memory_bytes = MEMORY_FACTOR * bytes + MEMORY_EXTRA,
        .layers_off = g->context->layers_off,
    };
    const int rc = ae_runner_start(&g->runner, &options, g->object.data, g->object.size, need, err);
    g->running = true;
    if (rc != AE_OK)
        return rc;
    const int result = g->runner.answers->result;
    if (trace && result == AE_WORKER_NO_LEDGER) {
        snprintf(g->p->note, sizeof g->p->note, "%s", ae_runner_text(&g->runner));
    } else if (result != AE_WORKER_OK) {
        return ae_error_set(err, AE_E_ENV, "%s", ae_runner_text(&g->runner));
    }
    ae_counters_close(&g->counter_set);
    if (trace)
        ae_counters_open(&g->counter_set, ae_proc_pid(g->runner.proc));
    const enum ae_verdict loaded = ae_trial_load(&g->runner, 0, detail);
    if (loaded == AE_PASS)
        *ret_on = true;
    else if (g->runner.dead)
        autopsy(g);
    else
        fail(g, loaded, AE_NO_VIOLATION, detail);
    return AE_OK;
}

/* One call; *ret_ns 0 where it did not pass. */
static int call_once(struct profiling *g, int number, int64_t *ret_ns, struct ae_error *err)
{
    const struct ae_case *cell = &g->cells[number % g->cell_count];
    const int64_t doubled = CALL_TIMEOUT_FACTOR * cell->reference_ns;
    struct ae_trial trial;
    struct ae_judgement judgement;
    char detail[AE_DETAIL_TEXT] = "";
    const struct ae_trial_request request = {
        .inst = &cell->inst,
        .expected = &cell->expected,
        .kind = AE_TRIAL_TIMED,
        .timeout_ns = g->options->timeout_ns ? g->options->timeout_ns
                      : doubled > CALL_TIMEOUT_MIN ? doubled : CALL_TIMEOUT_MIN,
        .pause_ns = 0, /* what an evaluation looks for between calls is not looked for here: the tracer's threads work */
        .around = around_call,
        .around_data = g,
    };
    *ret_ns = 0;
    const int rc = ae_trial_run(&g->runner, &request, &trial, &judgement, detail, err);
    if (rc != AE_OK)
        return rc;
    if (g->runner.dead)
        autopsy(g);
    else if (trial.verdict != AE_PASS)
        fail(g, trial.verdict, trial.violation, detail);
    else
        *ret_ns = trial.call_ns;
    return AE_OK;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int time_calls(struct profiling *g, struct ae_error *err)
{
    int64_t times[CALLS_MAX], ns = 0;
    bool on;
    int n = 0, wanted = g->options->quick ? 3 : TIMED_CALLS;
    ae_context_say(g->context, "timing %s %s", g->p->task->id, ae_size_name(g->p->size));
    int rc = start(g, false, &on, err);
    if (rc == AE_OK && on)
        rc = call_once(g, 0, &ns, err); /* the first call after a load is another matter */
    if (ns > LONG_CALL)
        wanted = 1;
    while (rc == AE_OK && on && ns > 0 && n < wanted) {
        rc = call_once(g, n, &ns, err);
        if (rc == AE_OK && ns > 0)
            times[n++] = ns;
    }
    stop(g);
    if (n > 0) {
        qsort(times, (size_t)n, sizeof *times, ascending);
        g->p->timed_ns = times[n / 2];
        g->p->timed_calls = n;
        g->p->slowest_ns = times[n - 1];
    }
    return rc;
}

/* What one traced call left. */
struct sample {
    int64_t ns;
    struct ae_trace trace;
    struct ae_counters counters;
    int cell;
};

static int by_ns(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static int trace_once(struct profiling *g, int number, struct sample *ret, struct ae_error *err)
{
    struct ae_bytes bytes = {0};
    struct ae_error nonsense = {0};
    int64_t ns;
    *ret = (struct sample){.cell = number % g->cell_count};
    int rc = call_once(g, number, &ns, err);
    if (rc != AE_OK || ns == 0)
        return rc;
    ret->counters = g->counters;
    rc = ae_runner_trace(&g->runner, TRACE_TIMEOUT, &bytes, err);
    if (rc != AE_OK)
        return rc;
    rc = ae_trace_read(bytes.data, bytes.size, &ret->trace, &nonsense);
    ae_bytes_release(&bytes);
    if (rc == AE_OK)
        ret->ns = ns;
    else /* the program shares its process with the tracer: what it writes over is its own loss, and nobody else's */
        fail(g, AE_NOT_RUN, AE_NO_VIOLATION, nonsense.text);
    return AE_OK;
}

static int trace_calls(struct profiling *g, struct ae_error *err)
{
    struct sample samples[CALLS_MAX];
    int64_t ns = 0;
    bool on;
    int n = 0;
    const int wanted = g->p->timed_ns > LONG_CALL || g->options->quick ? 1 : PROFILED_CALLS;
    ae_context_say(g->context, "tracing %s %s", g->p->task->id, ae_size_name(g->p->size));
    int rc = start(g, true, &on, err);
    if (rc == AE_OK && on)
        rc = call_once(g, 0, &ns, err);
    while (rc == AE_OK && on && ns > 0 && n < wanted) {
        rc = trace_once(g, n, &samples[n], err);
        ns = samples[n].ns;
        if (rc == AE_OK && ns > 0)
            n++;
    }
    stop(g);
    if (rc == AE_OK && n > 0) {
        qsort(samples, (size_t)n, sizeof *samples, by_ns);
        struct sample *median = &samples[n / 2];
        g->p->trace = median->trace;
        median->trace = (struct ae_trace){0};
        g->p->profiled_ns = median->ns;
        g->p->profiled_calls = n;
        rc = ae_facts_of(&g->p->trace, g->submission->target == AE_CUDA, &g->p->facts, err);
        g->p->facts.counters = median->counters;
        ae_instance_work(&g->cells[median->cell].inst, &g->p->work);
        g->p->reference_ns = g->cells[median->cell].reference_ns;
    }
    for (int i = 0; i < n; i++)
        ae_trace_release(&samples[i].trace);
    return rc;
}

static int open_cells(struct profiling *g, struct ae_error *err)
{
    const int practice = ae_bank_plan(g->p->size)->practice;
    int rc = AE_OK;
    for (int i = 0; rc == AE_OK && i < practice && i < (int)(sizeof g->cells / sizeof *g->cells); i++) {
        const struct ae_case_name name = {.task = g->p->task, .size = g->p->size, .kind = AE_TRIAL_TIMED, .number = i,
                                          .practice = true};
        g->cell_count++; /* to be released also after a failure */
        rc = ae_case_open(g->context, &name, false, &g->cells[i], err);
    }
    return rc;
}

static void explain(struct profiling *g)
{
    struct ae_profile *p = g->p;
    struct ae_bottleneck all[AE_BOTTLENECKS_MAX];
    const struct ae_call_view view = {.facts = &p->facts,
                                      .ceilings = &p->ceilings,
                                      .work = p->work,
                                      .baseline_ns = p->reference_ns,
                                      .cores = p->cores,
                                      .profiled_ns = p->profiled_ns,
                                      .slowest_ns = p->slowest_ns};
    ae_floors_of(&view, &p->floors);
    const int count = ae_bottlenecks_of(&view, all);
    for (int i = 0; i < count; i++)
        if (ae_bottleneck_supported(&view, &all[i]))
            p->bottlenecks[p->bottleneck_count++] = all[i];
        else
            p->unsupported[p->unsupported_count++] = all[i].rule;
}

int ae_profile_run(struct ae_context *context, const struct ae_submission_info *submission, enum ae_size size,
                   const struct ae_profile_options *options, struct ae_profile *ret, struct ae_error *err)
{
    *ret = (struct ae_profile){
        .task = submission->task,
        .size = size,
        .target = submission->target,
        .cores = options->single ? 1 : context->host.submission_core_count,
        .verdict = submission->build->verdict,
    };
    snprintf(ret->source_path, sizeof ret->source_path, "%s", submission->source_path);
    memcpy(ret->submission, submission->build->source_hash, sizeof ret->submission);
    struct profiling g = {.context = context, .submission = submission, .options = options, .p = ret};
    for (int i = 0; i < AE_COUNTER_COUNT; i++)
        g.counter_set.fd[i] = -1;
    if (ret->verdict != AE_PASS) {
        snprintf(ret->detail, sizeof ret->detail, "%s", submission->build->detail);
        return AE_OK;
    }
    if (submission->target == AE_CUDA && !context->device.handle)
        return ae_error_set(err, AE_E_ENV, "%s", context->no_device);
    /* A machine that cannot be measured is explained without floors. */
    (void)ae_ceilings_get(context, true, &ret->ceilings, NULL);
    int rc = ae_file_read(submission->build->object, (size_t)1 << 30, &g.object, err);
    if (rc == AE_OK)
        rc = open_cells(&g, err);
    if (rc == AE_OK)
        rc = time_calls(&g, err);
    if (rc == AE_OK && ret->verdict == AE_PASS)
        rc = trace_calls(&g, err);
    if (rc == AE_OK && ret->profiled_calls > 0)
        explain(&g);
    stop(&g);
    for (int i = 0; i < g.cell_count; i++)
        ae_case_release(&g.cells[i]);
    ae_bytes_release(&g.object);
    return rc;
}

void ae_profile_release(struct ae_profile *profile)
{
    ae_trace_release(&profile->trace);
}

double ae_profile_overhead(const struct ae_profile *profile)
{
    return profile->timed_ns > 0 && profile->profiled_ns > 0
               ? (double)profile->profiled_ns / (double)profile->timed_ns - 1
               : 0;
}

bool ae_profile_explain(const struct ae_profile *p, struct ae_explanation *ret)
{
    if (p->profiled_calls == 0)
        return false;
    *ret = (struct ae_explanation){.call_ns = p->facts.call_ns,
                                   .timed_ns = p->timed_ns,
                                   .floor_ns = (int64_t)p->floors.call_ns,
                                   .calls = p->profiled_calls,
                                   .dropped = p->facts.dropped < INT64_MAX ? (int64_t)p->facts.dropped : INT64_MAX};
    snprintf(ret->note, sizeof ret->note, "%s", p->note);
    memcpy(ret->phases, p->facts.phase, sizeof ret->phases);
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        ret->floors[phase] = (int64_t)ae_floor_of_phase(&p->floors, (enum ae_phase)phase);
    for (int i = 0; i < p->bottleneck_count && i < AE_EXPLANATION_REASONS; i++) {
        const struct ae_bottleneck *b = &p->bottlenecks[i];
        struct ae_reason *reason = &ret->reasons[ret->reason_count++];
        snprintf(reason->rule, sizeof reason->rule, "%s", b->rule->id);
        snprintf(reason->text, sizeof reason->text, "%s", b->text);
        reason->share = b->share;
        reason->gain_ns = (int64_t)b->gain_ns;
    }
    return true;
}
