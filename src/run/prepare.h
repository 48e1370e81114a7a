/* Filling the cache ahead of evaluations: answers on all cores, longest first; baselines alone afterwards. */
#ifndef AE_RUN_PREPARE_H
#define AE_RUN_PREPARE_H

#include "run/answers.h"

struct ae_prepare_plan {
    struct ae_case_name *cases; /* what is missing, longest expected first */
    double *guesses;            /* seconds of the reference on each: as on another of the size, else by the work models */
    bool *timed;                /* its baseline is missing */
    size_t count;
    size_t answers, baselines;  /* of which */
    double seconds;             /* what it will take, by these guesses */
    uint64_t largest;           /* bytes of the largest instance */
};

struct ae_prepare_choice {
    bool full;         /* everything in the bank, else what a first evaluation needs */
    int timed;         /* what one of so many timed trials needs; 0: the usual number */
    bool no_baselines; /* answers only */
};

/* Released with ae_prepare_plan_release(). */
int ae_prepare_plan(struct ae_context *context, const struct ae_task *const *tasks, size_t task_count, unsigned sizes,
                    const struct ae_prepare_choice *choice, struct ae_prepare_plan *ret, struct ae_error *err);

void ae_prepare_plan_release(struct ae_prepare_plan *plan);

/* Makes them, and says how far it is and what is left by the rate so far. jobs 0: one a core. Ends early, with AE_OK,
 * where *stop becomes nonzero; what is done is kept. A case that fails is reported through err after the others have been
 * made. */
int ae_prepare_run(struct ae_context *context, const struct ae_prepare_plan *plan, int jobs, const volatile int *stop,
                   struct ae_error *err);

#endif
