/* What models were asked and what they answered: prompts by their hash, one row a wanted answer (a generation), one
 * row a way there and back (an attempt), written before it goes and when it ended, so that a crash shows what may have
 * been billed. Same rules as store.h. */
#ifndef AE_STORE_GENERATION_H
#define AE_STORE_GENERATION_H

#include "store/store.h"

/* What makes two questions the same, so that an answer is not paid for twice. */
struct ae_generation_key {
    const char *model;      /* its name in models.yaml */
    const char *parameters; /* canonical JSON: what an answer depends on besides the prompt */
    const char *entrant;    /* model, level, single-shot or refined, recipe: a row of tables */
    const char *task;
    int sample;
    int turn;               /* 0: the first answer; more: of a refinement */
    const char *chain;      /* SHA-256 of the prompt of turn 0 */
};

struct ae_generation {
    int64_t id;
    struct ae_generation_key key;
    const char *level;
    const char *prompt;     /* SHA-256 of this turn's prompt */
    int64_t created_ns;
    const char *state;      /* "asked", "answered", "empty", "refused", "failed" */
    /* with an answer */
    const char *finish;     /* "stop", "length"... */
    const char *answered_by; /* the provider's word for the model */
    const void *answer;     /* as the model wrote it */
    size_t answer_size;
    const char *source;     /* SHA-256 of the submission; "": none could be found */
    const char *notes;      /* of the extraction: "several open_fence" */
    bool repaired;
    const char *detail;     /* why there is none */
    int64_t input_tokens, output_tokens, reasoning_tokens; /* of all attempts; -1: not known */
    double cost;            /* of all attempts whose cost is known */
    bool cost_known;        /* of every attempt that may have been billed */
    /* refined: how this version did; verdict "": not evaluated */
    const char *verdict, *verdict_detail;
    double speedup;         /* NaN: none */
    int attempts;           /* on reading only */
};

/* Keeps a prompt under its hash. */
int ae_store_prompt_put(struct ae_store *store, const char *sha256, const char *text, struct ae_error *err);
/* The text, freed by the caller; AE_E_NOTFOUND. */
int ae_store_prompt_get(struct ae_store *store, const char *sha256, char **ret, struct ae_error *err);

/* What became of a wanted generation. */
struct ae_wanted {
    int64_t id;   /* 0: there is none (only without `make`) */
    bool settled; /* needs no asking: answered, empty or refused */
};

/* Finds the generations of these keys; those missing are made where `make` is set, in state "asked" (`wanted` gives
 * key, level, prompt, created_ns; the prompt must be there). One transaction. */
int ae_store_generations_want(struct ae_store *store, const struct ae_generation *wanted, size_t count, bool make,
                              struct ae_wanted *ret, struct ae_error *err);

/* These attempts are about to go; one transaction. */
int ae_store_attempts_sent(struct ae_store *store, const int64_t *generations, size_t count, int64_t now_ns,
                           struct ae_error *err);

struct ae_attempt_record {
    const char *outcome, *detail;
    int status;
    int64_t wall_ns;
    int64_t input_tokens, output_tokens, reasoning_tokens; /* -1: not known */
    double cost;          /* below 0: not known */
    bool billed;          /* where the cost is not known: may it have been billed? */
    const void *response; /* every byte that came back */
    size_t response_size;
};

/* The youngest attempt of a generation ended. result (NULL: it will be tried again) carries state, finish, answered_by,
 * answer, source, notes, repaired, detail. One transaction. */
int ae_store_attempt_ended(struct ae_store *store, int64_t generation, const struct ae_attempt_record *attempt,
                           const struct ae_generation *result, struct ae_error *err);

/* How a version did. */
int ae_store_generation_judged(struct ae_store *store, int64_t generation, const char *verdict, const char *detail,
                               double speedup, struct ae_error *err);

struct ae_generation_filter {
    int64_t id;          /* 0: all */
    const char *entrant; /* NULL: all */
    const char *model;
};

/* By entrant, task, sample, turn. Everything lives until visit returns, which must not write to the store. */
int ae_store_generations(struct ae_store *store, const struct ae_generation_filter *filter,
                         int (*visit)(void *data, const struct ae_generation *generation), void *data,
                         struct ae_error *err);

/* What an entrant's answers came to. Of several prompts or settings for one (task, sample, turn) the newest counts;
 * tokens and cost are of all attempts ever made. entrant NULL: all of them. */
struct ae_answer_totals {
    const char *entrant, *model;
    int64_t wanted, answered, empty, refused, failed, open; /* open: asked, and not settled yet */
    int64_t no_program; /* answered, without a program */
    int64_t repaired;   /* the program was found by repair */
    int64_t passed, passed_repaired; /* measured, and right at least once */
    int64_t attempts, input_tokens, output_tokens, reasoning_tokens;
    double cost;
    int64_t cost_unknown; /* attempts that may have been billed without saying so */
};

int ae_store_answer_totals(struct ae_store *store, const char *entrant,
                           int (*visit)(void *data, const struct ae_answer_totals *totals), void *data,
                           struct ae_error *err);

/* Mean of the output tokens of a model's answers; *ret_count: of how many. */
int ae_store_mean_output(struct ae_store *store, const char *model, double *ret, int64_t *ret_count,
                         struct ae_error *err);

#endif
