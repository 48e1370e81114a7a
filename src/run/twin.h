/* Near-twins: an instance with a few elements of one input changed, so little that a sampled fingerprint of the input
 * stays the same, and so that the answer changes. Who gives the sibling's answer again has kept it. Independent of any
 * task: elements trade places, the task's own validation says what is legal, the reference what changes the answer. */
#ifndef AE_RUN_TWIN_H
#define AE_RUN_TWIN_H

#include "run/answers.h"

/* The timed instance that the twin is one of, and follows. */
#define AE_TWIN_SIBLING 1

/* Changes inst in the way that `attempt` says; false where that is not possible or not legal: inst is then spoilt. */
bool ae_twin_alter(struct ae_instance *inst, int attempt);

/* Finds the first attempt whose answer is not the sibling's, by the reference, and remembers it in the cache.
 * *ret_number: the number to open the case of kind AE_TRIAL_TWIN with; -1: this task has no twin at this size. */
int ae_twin_find(struct ae_context *context, const struct ae_task *task, enum ae_size size, int *ret_number,
                 struct ae_error *err);

#endif
