/* Filling the cache ahead of evaluations: answers on all cores, longest first; baselines alone afterwards. */
#ifndef AE_RUN_PREPARE_H
#define AE_RUN_PREPARE_H

#include "run/answers.h"

struct ae_prepare_plan {
    struct ae_case_name *cases; /* what is missing, longest expected first */
    size_t count;
    size_t answers, baselines;  /* of which */
    double seconds;             /* what it will take, by the work models: a rough guess */
};

/* full: everything in the bank, else what a first evaluation needs. The caller frees ret->cases. */
int ae_prepare_plan(struct ae_context *context, const struct ae_task *const *tasks, size_t task_count, unsigned sizes,
                    bool full, struct ae_prepare_plan *ret, struct ae_error *err);

/* Makes them. jobs 0: one a core. Ends early, with AE_OK, where *stop becomes nonzero; what is done is kept. A case that
 * fails is reported through err after the others have been made. */
int ae_prepare_run(struct ae_context *context, const struct ae_prepare_plan *plan, int jobs, const volatile int *stop,
                   struct ae_error *err);

#endif
