/* The prompt of a task, exactly as a model gets it: assembled from statement, interface, sizes, output contract, rules,
 * reference and, by level, hints. Deterministic: the same task and options give the same bytes. */
#ifndef AE_LLM_PROMPT_H
#define AE_LLM_PROMPT_H

#include "task/task.h"

enum ae_prompt_level {
    AE_PROMPT_L1, /* statement, reference, a full optimisation plan */
    AE_PROMPT_L2, /* statement, reference, brief directions */
    AE_PROMPT_L3, /* statement and reference alone */
};

struct ae_prompt_texts {
    const char *statement, *hints, *reference; /* contents of the task's files */
    const char *device;                        /* "NVIDIA H200, sm_90"; NULL: any NVIDIA GPU */
};

/* The caller frees *ret. AE_E_INTERNAL where hints lack the level's section. */
int ae_prompt_make(const struct ae_task *task, enum ae_prompt_level level, const struct ae_prompt_texts *texts,
                   char **ret, struct ae_error *err);

#endif
