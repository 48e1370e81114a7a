/* The verbs of `acceleval strategies`, a file each or a few. */
#ifndef AE_CLI_STRATEGIES_H
#define AE_CLI_STRATEGIES_H

#include "cli/cli.h"
#include "strategy/ladder.h"
#include "strategy/strategy.h"

/* Options of all verbs; each verb says which it heeds. */
struct ae_strategies_values {
    int format; /* index: text, json, md (export alone, whose text is the same) */
    struct ae_task_list tasks;
    const char *arch, *recipe, *model, *models_path, *max_cost, *profile;
    unsigned sizes;
    bool json, source, binary, evaluate, blind;
};

enum { AE_STRATEGIES_TEXT, AE_STRATEGIES_JSON, AE_STRATEGIES_MD };

/* A row of the table in cmd_strategies.c. operands: those behind the verb. Returns the exit status. */
struct ae_strategies_verb {
    const char *name, *usage;
    size_t least, most; /* operands */
    int (*run)(const struct ae_strategies_values *values, const struct ae_list *operands);
};

int ae_strategies_list(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_show(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_attribute(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_diff(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_export(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_read(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_agreement(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_recommend(const struct ae_strategies_values *values, const struct ae_list *operands);
int ae_strategies_find(const struct ae_strategies_values *values, const struct ae_list *operands);

/* Measurements of the ladders: those in the store, and, of steps that it has none of, those that come with the tool.
 * Release with ae_gains_release(). */
void ae_strategies_gains(const struct ae_ladder *ladder, const char *tasks, struct ae_gains *ret);

/* The task that a file's name or folder says it solves: TASK.cu, TASK.3.cu, tasks/TASK/naive.cu,
 * tasks/TASK/steps/01-M03.cu; NULL: none. */
const struct ae_task *ae_strategies_task_of(const char *path);

#endif
