/* Profiling a submission: some calls untraced for the time, some under the tracer for the explanation, all on the
 * practice bank and in workers of their own. Nothing here decides a verdict. */
#ifndef AE_PROFILE_PROFILE_H
#define AE_PROFILE_PROFILE_H

#include "profile/rules.h"
#include "run/evaluate.h"

#include <stdio.h>

struct ae_profile_options {
    int64_t timeout_ns; /* of a call; 0: the larger of 10 s and twice the reference */
    bool single;        /* one core: the reference */
    bool quick;         /* fewer calls */
};

struct ae_profile {
    const struct ae_task *task;
    enum ae_size size;
    enum ae_target target;
    int cores;
    char source_path[512]; /* as given */
    char submission[AE_SHA256_HEX]; /* of the source's bytes */
    enum ae_verdict verdict; /* of the calls made here; other than pass: what follows may be missing */
    enum ae_violation violation;
    char detail[AE_DETAIL_TEXT];
    char note[256];        /* why there is no trace of the device; "" where there is one, or none is asked for */
    int64_t timed_ns;      /* median without the tracer */
    int64_t slowest_ns;    /* of these calls */
    int64_t profiled_ns;   /* of the call that is explained: the median one; the parent's clock */
    int timed_calls, profiled_calls;
    int64_t reference_ns;  /* of the run that made the answer; 0: not known */
    struct ae_work work;
    struct ae_trace trace; /* of that call */
    struct ae_facts facts;
    struct ae_ceilings ceilings;
    struct ae_floors floors;
    struct ae_bottleneck bottlenecks[AE_BOTTLENECKS_MAX];
    int bottleneck_count;
    /* Rules that fire on what the data do not carry (ae_bottleneck_supported()). */
    const struct ae_bottleneck_rule *unsupported[AE_BOTTLENECKS_MAX];
    int unsupported_count;
};

/* AE_OK also where the submission fails (verdict says so); a code where the fault is ours or the machine's. Released by
 * the caller in any case. */
int ae_profile_run(struct ae_context *context, const struct ae_submission_info *submission, enum ae_size size,
                   const struct ae_profile_options *options, struct ae_profile *ret, struct ae_error *err);
void ae_profile_release(struct ae_profile *profile);

/* How much longer the profiled call is than the timed ones, as a share of these; 0 where either is missing. */
double ae_profile_overhead(const struct ae_profile *profile);

/* What is worth keeping beside a result. False where no call was explained. */
bool ae_profile_explain(const struct ae_profile *profile, struct ae_explanation *ret);

/* All of it; the caller's. NULL: no memory. */
struct json_t *ae_profile_json(const struct ae_profile *profile);
/* The trace in the Chrome trace event format. */
int ae_profile_write_trace(const struct ae_profile *profile, const char *path, struct ae_error *err);

#endif
