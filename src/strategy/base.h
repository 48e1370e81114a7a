/* The base that recommendations rest on: for each task and strategy, what it gained there. A step of a ladder changes one
 * strategy alone; where there is none, programs of the task with the strategy are compared with those without it, at each
 * place and size by itself, and steps that change several strategies count as such a comparison. Strategies that the same
 * programs of a task have, or that one step changes, cannot be told apart there, and share what they gain. */
#ifndef AE_STRATEGY_BASE_H
#define AE_STRATEGY_BASE_H

#include "stats/recommend.h"
#include "strategy/experience.h"
#include "strategy/features.h"
#include "strategy/ladder.h"

/* How much a comparison of programs counts, which differ in more than one strategy, beside a step; divided among the
 * strategies that share the gain. */
#define AE_BASE_PROGRAMS_WEIGHT 0.5

struct ae_advice_base {
    double *feature, *log_gain, *weight; /* rows: the tasks of ae_tasks, then one that no task has, all of it NaN */
    size_t rows;                         /* ae_task_count + 1 */
    size_t from_steps, from_programs;    /* cells with a gain */
    size_t tasks;                        /* with a gain or more */
};

/* experiences NULL: none. Only those of the sizes (mask of AE_AT(); 0: all) count. Features become NaN. AE_E_NOMEM. */
int ae_advice_base_make(const struct ae_experiences *experiences, const struct ae_gains *gains, unsigned sizes,
                        struct ae_advice_base *ret, struct ae_error *err);
void ae_advice_base_release(struct ae_advice_base *base);

/* The features of a row, to be filled. */
double *ae_advice_base_features(struct ae_advice_base *base, size_t row);

/* Gains that are shared are no truth to judge recommendations by. */
struct ae_gain_base ae_advice_base_view(const struct ae_advice_base *base);

#endif
