/* Which traits (strategies) are likely to pay in a task, foretold from the tasks in which they were measured: numbers
 * over tasks x features and tasks x traits. What is foretold for a task never looks at that task's own gains, so every
 * forecast is one for a task that was left out. */
#ifndef AE_STATS_RECOMMEND_H
#define AE_STATS_RECOMMEND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define AE_FEATURES_MAX   16
#define AE_NEIGHBOURS_MAX 5

/* Arrays are row by row, a task each. */
struct ae_gain_base {
    size_t tasks;
    int features, traits;   /* at most AE_FEATURES_MAX, AE_TRAITS_MAX */
    const double *feature;  /* tasks * features; NaN: not known */
    const double *log_gain; /* tasks * traits: natural logarithm of the speed with over that without; NaN: not measured */
    const double *weight;   /* tasks * traits: how much a gain counts, above 0 where it was measured */
    double judged;          /* weight from which on a gain is taken for the truth that an evaluation asks for */
};

struct ae_forecast {
    size_t tasks;     /* others that measured the trait; 0: nothing is known, and the logarithms are 0 */
    double overall;   /* mean log gain over those, drawn towards 0 by one task that gains nothing: the baseline, which
                       * knows nothing about the task */
    double log_gain;  /* overall, moved by what is alike */
    int neighbours[AE_NEIGHBOURS_MAX], neighbour_count; /* tasks that measured it, nearest first */
};

/* How much is believed of what is alike; chosen by leaving out one task at a time among those at hand. */
struct ae_recommend_model {
    double width, prior; /* of the neighbours: reach of likeness, and the tasks' worth of doubt; prior INFINITY: unused */
    double penalty;      /* of the linear model; INFINITY: unused */
};

/* For the task with number `task` of the base; its own gains are not looked at. ret: one a trait. AE_E_NOMEM. */
int ae_recommend(const struct ae_gain_base *base, size_t task, struct ae_forecast *ret,
                 struct ae_recommend_model *ret_model, struct ae_error *err);

/* Traits of ret in the order of a recommendation: largest log_gain first (by_overall: largest overall), those without a
 * measurement not at all. Returns how many. */
int ae_recommend_order(const struct ae_forecast *forecasts, int traits, bool by_overall, int *ret);

/* Leave one task out: rank the traits that were measured in it, with a weight of `judged` or more, by what the other tasks
 * foretell. Tasks count that measured more than k such traits, of which the best is worth having (a gain above 1). */
struct ae_hits {
    int k;
    size_t tasks;
    double hit;     /* share of the tasks whose best trait is among the first k; NaN without tasks */
    double regret;  /* geometric mean over the tasks of (best gain) / (best gain among the first k): 1 is none */
    double overall_hit, overall_regret; /* of the baseline */
    double chance;  /* hit of a blind draw; several traits may be the best alike */
    double p;       /* two-sided, sign flips of the tasks' regrets, model against baseline; NaN without tasks */
};

/* Is the model better than the baseline beyond chance: p at most 0.05, with the smaller regret. */
bool ae_hits_beat(const struct ae_hits *hits);

/* k: how many first traits, `count` of them. ret: one each. AE_E_NOMEM. */
int ae_recommend_evaluate(const struct ae_gain_base *base, const int *k, size_t count, struct ae_hits *ret,
                          struct ae_error *err);

#endif
