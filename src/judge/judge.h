/* Is an answer right? Comparison of outputs with expected ones by the rules of the descriptor. */
#ifndef AE_JUDGE_JUDGE_H
#define AE_JUDGE_JUDGE_H

#include "task/task.h"

/* got[arg] points to inst->array[arg].count elements for every output argument; its bytes are hostile.
 * Fills *ret (one entry per output) and returns AE_OK where a judgement could be made, whatever it says. */
int ae_judge(const struct ae_instance *inst, const struct ae_expected *expected, const void *const got[],
             struct ae_judgement *ret, struct ae_error *err);

/* The comparison alone, for imports with the published tolerance: |got - expected| <= atol + rtol * |expected|,
 * both finite. */
void ae_compare(const struct ae_array *expected, const void *got, double atol, double rtol,
                struct ae_output_judgement *ret);

#endif
