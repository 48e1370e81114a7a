/* The prompt of a task, exactly as a model gets it: assembled from statement, interface, sizes, output contract, rules,
 * reference and, by level, hints. Deterministic: the same task and options give the same bytes, and the SHA-256 of
 * these bytes is the prompt's version. */
#ifndef AE_LLM_PROMPT_H
#define AE_LLM_PROMPT_H

#include "task/task.h"

enum ae_prompt_level {
    AE_PROMPT_L1, /* statement, reference, a full optimisation plan */
    AE_PROMPT_L2, /* statement, reference, brief directions */
    AE_PROMPT_L3, /* statement and reference alone */
    AE_PROMPT_LEVEL_COUNT
};

const char *ae_prompt_level_name(enum ae_prompt_level level); /* "L1", ... */

enum ae_prompt_language {
    AE_PROMPT_CUDA,
    AE_PROMPT_C,   /* for the CPU target */
    AE_PROMPT_CPP, /* likewise */
    AE_PROMPT_LANGUAGE_COUNT
};

struct ae_prompt_texts {
    const char *statement, *hints, *reference; /* contents of the task's files */
    const char *device;                        /* "NVIDIA H200, sm_90"; NULL: any NVIDIA GPU */
    enum ae_prompt_language language;
    const char *recipe; /* a strategy in words, from elsewhere; NULL: none */
};

/* The caller frees *ret. AE_E_INTERNAL where hints lack the level's section. */
int ae_prompt_make(const struct ae_task *task, enum ae_prompt_level level, const struct ae_prompt_texts *texts,
                   char **ret, struct ae_error *err);

/* May this text stand in a prompt as a recipe? Words only: AE_E_INPUT names the line that looks like code. */
int ae_recipe_check(const char *text, struct ae_error *err);
/* A text of as many words that says nothing about the task: the control of strategy transfer, so that a longer prompt
 * alone is not taken for a better one. The caller frees it; NULL: no memory. */
char *ae_recipe_control(const char *recipe);

/* The next turn of a refinement: what the last version did and what is asked now. The caller frees it; NULL: no
 * memory. */
struct ae_feedback {
    const char *verdict;  /* "pass", "compile_error"... ; NULL: no source was found */
    const char *detail;   /* one sentence; "" */
    const char *log;      /* compiler or program output, cut; NULL */
    const char *mismatch; /* first wrong value, practice bank only; NULL */
    double speedup, best_speedup; /* NaN: not known */
    double call_ms, fresh_ms;     /* NaN */
    const char *notes;    /* more sentences (profile, bottleneck); NULL */
    int turn, turns;
};
char *ae_prompt_feedback(const struct ae_feedback *feedback);

#endif
