/* Expected outputs and baselines: made by running the task's reference through the same path as any submission, kept in
 * the cache. */
#ifndef AE_RUN_ANSWERS_H
#define AE_RUN_ANSWERS_H

#include "run/context.h"

/* One instance of a bank by its place, not by its seed. */
struct ae_case_name {
    const struct ae_task *task;
    enum ae_size size;
    enum ae_trial_kind kind; /* fresh, timed, twin or adversarial */
    int family;
    int number; /* of a twin: the attempt that ae_twin_find() names */
    bool practice;
};

/* Instances of the timed family that the allocation ledger runs on, where there is a device. */
#define AE_LEDGER_INSTANCES 2

/* An instance with its right answer. */
struct ae_case {
    struct ae_case_name name;
    struct ae_instance inst;
    struct ae_expected expected;
    int64_t reference_ns; /* of the run that made the answer: not alone on the machine, good for limits only */
    int64_t baseline_ns;  /* median of the reference alone; 0: not asked for */
};

/* Every instance that an evaluation at this size uses; `count` is returned, cells may be NULL to count.
 * timed: how many timed ones. */
int ae_cases_of(const struct ae_task *task, enum ae_size size, bool practice, int timed, int fresh,
                struct ae_case_name *names);

/* Generates the instance and gets its answer (and baseline where asked for) from the cache, or by running the
 * reference. To be released in any case. AE_E_INPUT for a twin that would not be legal. */
int ae_case_open(struct ae_context *context, const struct ae_case_name *name, bool baseline, struct ae_case *ret,
                 struct ae_error *err);
void ae_case_release(struct ae_case *cell);

/* Whether answer and (where asked for) baseline lie in the cache. */
bool ae_case_cached(struct ae_context *context, const struct ae_case_name *name, bool baseline);

/* The key of its answer in the cache. */
int ae_case_key(struct ae_context *context, const struct ae_case_name *name, char *ret, size_t size,
                struct ae_error *err);

/* Number of repeats of the reference for a baseline, by how long one call takes. */
int ae_baseline_repeats(int64_t call_ns);

/* The reference's object, compiled or from the cache; released with ae_build_result_release(). */
int ae_reference_build(struct ae_context *context, const struct ae_task *task, struct ae_build_result *ret,
                       struct ae_error *err);

#endif
