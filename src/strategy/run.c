/* What the profile of a call says: all of it where the call was just traced, its phases and first sentences where these
 * are what was kept. */
#include "strategy/hunt.h"

#include "profile/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_LEAST 0.2     /* share of kernel time in a library's kernels */
#define LARGE_COPIES  1048576 /* bytes from which the kind of host memory matters */
#define OVERLAP_LEAST 0.15    /* of the shorter of copies and kernels */
#define MANY_LAUNCHES 20
#define PHASE_LEAST   0.05 /* of the call: what is shorter is not told apart from noise */
#define RULE_LEAST    0.1  /* of the call, that a sentence of the profile concerns */

struct run {
    const char *where; /* "medium, GPU: "; "" */
    struct ae_findings_list *list;
    struct ae_error *err;
    int rc;
    bool told[AE_STRATEGY_COUNT];
};

__attribute__((format(printf, 5, 6))) static void say(struct run *run, enum ae_strategy_id id, enum ae_presence presence,
                                                      double confidence, const char *format, ...)
{
    struct ae_finding f = {.strategy = id, .evidence = AE_EVIDENCE_RUN, .presence = presence, .confidence = confidence};
    va_list args;
    if (run->rc != AE_OK || run->told[id])
        return;
    const int n = snprintf(f.sentence, sizeof f.sentence, "%s", run->where);
    if (n >= 0 && (size_t)n < sizeof f.sentence) {
        va_start(args, format);
        vsnprintf(f.sentence + n, sizeof f.sentence - (size_t)n, format, args);
        va_end(args);
    }
    run->told[id] = true;
    run->rc = ae_findings_add(run->list, &f, run->err);
}

static double ms(int64_t ns)
{
    return (double)ns * 1e-6;
}

static void say_of_facts(struct run *run, const struct ae_facts *facts)
{
    int64_t library = 0, kernels = 0;
    for (int k = 0; k < facts->kernel_count && k < AE_KERNELS_MAX; k++) {
        kernels += facts->kernels[k].total_ns;
        library += facts->kernels[k].of_toolkit ? facts->kernels[k].total_ns : 0;
    }
    const double share = kernels > 0 ? (double)library / (double)kernels : 0;
    if (share >= LIBRARY_LEAST)
        say(run, AE_STRATEGY_C14, AE_PRESENT, 0.9, "kernels of a library take %.0f %% of the kernels' time", 100 * share);
    const double bytes = facts->in.bytes + facts->out.bytes, pinned = facts->in.pinned_bytes + facts->out.pinned_bytes;
    if (bytes >= LARGE_COPIES && pinned >= 0.5 * bytes)
        say(run, AE_STRATEGY_H01, AE_PRESENT, 0.95, "%.0f %% of %.1f MB cross the bus from or to pinned memory",
            100 * pinned / bytes, bytes * 1e-6);
    else if (bytes >= LARGE_COPIES && pinned <= 0)
        say(run, AE_STRATEGY_H01, AE_ABSENT, 0.9, "all %.1f MB cross the bus from or to pageable memory", bytes * 1e-6);
    const int64_t copies = facts->in.ns + facts->out.ns, shorter = copies < kernels ? copies : kernels;
    if (shorter > 0 && (double)facts->overlap_ns >= OVERLAP_LEAST * (double)shorter)
        say(run, AE_STRATEGY_H02, AE_PRESENT, 0.95, "copies (%.3g ms) and kernels (%.3g ms) go on at once for %.3g ms",
            ms(copies), ms(kernels), ms(facts->overlap_ns));
    else if (shorter > 0 && facts->overlap_ns <= 0 && facts->dropped == 0)
        say(run, AE_STRATEGY_H02, AE_ABSENT, 0.9, "copies (%.3g ms) and kernels (%.3g ms) never go on at once",
            ms(copies), ms(kernels));
    if (facts->launches >= MANY_LAUNCHES && facts->out.count * 4 <= facts->launches)
        say(run, AE_STRATEGY_H05, AE_PRESENT, 0.8, "%lld launches, and %lld copies back to the host",
            (long long)facts->launches, (long long)facts->out.count);
}

/* A phase's own time is what no earlier one covers, and kernels come before copies: the rest of a copy's time lies behind
 * kernels, or, of a copy back, behind copies in. */
static void say_of_phases(struct run *run, const struct ae_explanation *e)
{
    const struct ae_phase_time *in = &e->phases[AE_PHASE_IN], *out = &e->phases[AE_PHASE_OUT],
                               *kernel = &e->phases[AE_PHASE_KERNEL];
    const int64_t hidden_in = in->busy_ns - in->own_ns, hidden_out = out->busy_ns - out->own_ns,
                  copies = in->busy_ns + out->busy_ns, kernels = kernel->busy_ns,
                  shorter = copies < kernels ? copies : kernels;
    if (shorter > 0 && hidden_in > 0 && (double)hidden_in >= OVERLAP_LEAST * (double)shorter)
        say(run, AE_STRATEGY_H02, AE_PRESENT, 0.85,
            "copies to the device (%.3g ms) lie behind kernels (%.3g ms) for %.3g ms", ms(in->busy_ns), ms(kernels),
            ms(hidden_in));
    else if (hidden_in <= 0 && hidden_out <= 0 && e->dropped == 0 &&
             (double)shorter >= PHASE_LEAST * (double)(e->call_ns > 0 ? e->call_ns : 1))
        say(run, AE_STRATEGY_H02, AE_ABSENT, 0.85, "copies (%.3g ms) and kernels (%.3g ms) never go on at once",
            ms(copies), ms(kernels));
}

/* The profile's own rules (docs/bottlenecks.md), where what they find speaks against a strategy. */
static void say_of_rules(struct run *run, const struct ae_explanation *e)
{
    for (int i = 0; i < e->reason_count && i < AE_EXPLANATION_REASONS; i++) {
        const struct ae_reason *r = &e->reasons[i];
        if (!(r->share >= RULE_LEAST))
            continue;
        if (strcmp(r->rule, "pageable-in") == 0 || strcmp(r->rule, "pageable-out") == 0)
            say(run, AE_STRATEGY_H01, AE_ABSENT, 0.85, "copies of pageable memory take %.0f %% of the call", 100 * r->share);
        else if (strcmp(r->rule, "waits-each-step") == 0)
            say(run, AE_STRATEGY_H05, AE_ABSENT, 0.85, "the host waits for the device in each step, %.0f %% of the call",
                100 * r->share);
    }
}

int ae_run_find(const struct ae_facts *facts, const struct ae_explanation *explanation, const char *where,
                struct ae_findings_list *list, struct ae_error *err)
{
    char prefix[160] = "";
    if (where && *where)
        snprintf(prefix, sizeof prefix, "%.150s: ", where);
    for (char *c = prefix; *c; c++) /* names of machines are anybody's */
        if (*c < ' ' || *c > '~')
            *c = '?';
    struct run run = {.where = prefix, .list = list, .err = err, .rc = AE_OK};
    if (facts && facts->device)
        say_of_facts(&run, facts);
    if (explanation && !(facts && facts->device))
        say_of_phases(&run, explanation);
    if (explanation)
        say_of_rules(&run, explanation);
    return run.rc;
}
