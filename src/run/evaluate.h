/* A whole evaluation of one submission at one size: adversarial families, groups of fresh and timed calls, verdict. */
#ifndef AE_RUN_EVALUATE_H
#define AE_RUN_EVALUATE_H

#include "run/answers.h"
#include "run/context.h"

struct ae_evaluate_options {
    bool practice;      /* practice bank, every family, no timing: `check` */
    bool quick;         /* one group, three trials */
    bool single;        /* one core (the reference as an entrant) */
    bool no_baseline;   /* the reference is not timed: no speedup over it is known */
    int timed;          /* 0: as the bank's plan says */
    int per_process;    /* timed trials that a process may serve; 0: no limit */
    int64_t timeout_ns; /* of a call; 0: the larger of 10 s and twice the reference */
};

/* The first mismatch, with values: filled for practice instances only. */
struct ae_mismatch {
    bool known;
    int family, arg;
    size_t index;
    double got, expected;
};

/* A source that has been built, and what it is called. */
struct ae_submission_info {
    const struct ae_task *task;
    enum ae_target target;
    const char *entrant;
    int sample;
    const char *source_path;
    const struct ae_build_result *build;
};

/* Always fills *ret with a verdict (host_error where it is our or the machine's fault); released by the caller.
 * mismatch may be NULL. */
void ae_evaluate(struct ae_context *context, const struct ae_submission_info *submission, enum ae_size size,
                 const struct ae_evaluate_options *options, struct ae_measurement *ret, struct ae_mismatch *mismatch);

#endif
