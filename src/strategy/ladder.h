/* Ladders: how we got from naive to tuned, a step a strategy. A step is tasks/TASK/steps/NN-ID.cu, and its first line
 * says what it stands on: "// step: M03 on naive.cu". Where strategies could not be told apart by steps of their own, the
 * line names them all, "// step: C12+P05 on 04-H03.cu", as does the file's name, and what the step gained they gained
 * together. Steps are evaluated like any submission; a measurement belongs to a step because it is of the same bytes,
 * under whatever name, so that a step that was edited has no measurement until it is measured anew. */
#ifndef AE_STRATEGY_LADDER_H
#define AE_STRATEGY_LADDER_H

#include "base/hash.h"
#include "store/store.h"
#include "strategy/strategy.h"

#define AE_STEP_STRATEGIES     4
#define AE_STEP_STRATEGIES_TEXT 32 /* room for their ids */

struct ae_step {
    const struct ae_task *task;
    enum ae_strategy_id strategies[AE_STEP_STRATEGIES]; /* each once, in the order of the first line */
    int strategy_count;                                 /* 1 or more */
    char file[64], parent[64];                                /* "steps/01-M03.cu"; "naive.cu" or "steps/01-M03.cu" */
    char sha256[AE_SHA256_HEX], parent_sha256[AE_SHA256_HEX]; /* "" where a file cannot be read */
    char remark[512]; /* the comment that follows the first line, as one line; text of ours */
};

struct ae_ladder {
    struct ae_step *steps; /* by task, then by file */
    size_t count;
};

bool ae_step_has(const struct ae_step *step, enum ae_strategy_id id);
/* "M03", "C12+P05" */
void ae_step_strategies(const struct ae_step *step, char ret[AE_STEP_STRATEGIES_TEXT]);

/* All steps below the folder of tasks. A file whose name or first line says no step is passed over, as is one
 * whose name says other strategies than its first line. AE_E_NOMEM. */
int ae_ladder_read(const char *tasks, struct ae_ladder *ret, struct ae_error *err);
void ae_ladder_release(struct ae_ladder *ladder);

/* What a step gained: its parent and itself, passed at this version of the task, at one size on one machine; the newest
 * measurement of each. */
struct ae_gain {
    const struct ae_step *step;
    char environment[65], environment_name[96];
    enum ae_size size;
    double before_ns, after_ns; /* medians of timed calls */
};

struct ae_gains {
    struct ae_gain *items; /* in the order of steps, environment, size */
    size_t count;
};

/* Of all steps in a store. AE_E_NOMEM, and what the store returns. */
int ae_gains_read(const struct ae_ladder *ladder, struct ae_store *store, struct ae_gains *ret, struct ae_error *err);

/* The same of the archives "ladders*.archive" in a folder, by way of a store in memory's stead that is removed again.
 * None there: AE_OK, and nothing. */
int ae_gains_read_archives(const struct ae_ladder *ladder, const char *folder, struct ae_gains *ret,
                           struct ae_error *err);
void ae_gains_release(struct ae_gains *gains);

#endif
