/* Models as models.yaml describes them, and their keys. */
#ifndef AE_LLM_MODEL_H
#define AE_LLM_MODEL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ae_provider_kind {
    AE_PROVIDER_OPENAI,    /* chat completions, of OpenAI or of anyone who speaks them */
    AE_PROVIDER_ANTHROPIC, /* messages */
    AE_PROVIDER_GEMINI,    /* generateContent */
    AE_PROVIDER_COMMAND,   /* a program: prompt on standard input, answer on standard output or in a file */
    AE_PROVIDER_COUNT
};

const char *ae_provider_name(enum ae_provider_kind kind); /* "openai", ... */

#define AE_UNSET (-1.0) /* a number that the file does not give, where 0 means something */

struct ae_model {
    char *name;     /* what --model and the tables call it */
    enum ae_provider_kind provider;
    char *model;    /* what the provider calls it */
    char *base_url; /* without a final slash */
    char *key_env;  /* variable that holds the key; NULL: none is sent */
    char *system;   /* system prompt; NULL: none is sent */
    char *effort;   /* reasoning effort, "low", "medium", "high"; NULL: not sent */
    char *max_tokens_field; /* openai: "max_tokens" or "max_completion_tokens" */
    char *ca_file;  /* certificates to trust instead of the system's; NULL */
    char *command;  /* AE_PROVIDER_COMMAND: for /bin/sh -c */
    char **hide;     /* folders that a command must not see besides those of the secret bank; as pass_env */
    char **pass_env; /* variables that a command gets besides PATH, HOME, USER, LANG; NULL-terminated, may be NULL */

    double temperature, top_p; /* AE_UNSET: not sent */
    int64_t max_tokens;        /* of an answer, reasoning included */
    int64_t thinking_tokens;   /* budget of reasoning, anthropic and gemini; 0: not sent */
    bool stream;
    bool insecure; /* a key may travel over plain http to another machine */

    int64_t requests_per_minute, tokens_per_minute; /* 0: no limit */
    int in_flight;                                  /* requests at a time */
    int attempts;                                   /* for one answer, the first included */
    double timeout_s, idle_s; /* of one request in all; without a byte */
    double backoff_s;         /* base of the wait after a failure */

    double price_input, price_output; /* currency units a million tokens; AE_UNSET: not known */
};

struct ae_models {
    struct ae_model *items;
    size_t count;
};

/* Reads a models.yaml; unknown fields are passed over. AE_E_INPUT with the reason. Released with
 * ae_models_release(). */
int ae_models_read(const char *path, struct ae_models *ret, struct ae_error *err);
int ae_models_parse(const char *text, size_t size, const char *path, struct ae_models *ret, struct ae_error *err);
void ae_models_release(struct ae_models *models);
/* By exact name, else unique prefix; NULL with err naming the nearest. */
const struct ae_model *ae_models_find(const struct ae_models *models, const char *name, struct ae_error *err);

/* What an answer depends on, as canonical JSON (provider, model, sampling, limits of tokens; no key, no
 * address, no rate): with the prompt it tells whether an answer is there already. The caller frees it; NULL: no
 * memory. */
char *ae_model_parameters(const struct ae_model *model);

/* Cost of an answer; AE_UNSET where a price is not known. */
double ae_model_cost(const struct ae_model *model, int64_t input_tokens, int64_t output_tokens);
/* Tokens that a text of so many bytes has at most, by experience with source code and English. */
int64_t ae_tokens_estimate(size_t bytes);

/* --- keys: in memory only, wiped when done ------------------------------------------------------------------ */

struct ae_key {
    char *text; /* NULL: the model has none */
};

/* From the environment, else from the first of ./.env and beside_path's folder's .env that has the variable.
 * AE_E_ENV where the model names a variable and nobody sets it. */
int ae_key_read(const struct ae_model *model, const char *beside_path, struct ae_key *ret, struct ae_error *err);
void ae_key_release(struct ae_key *key);
/* Replaces every occurrence of the key in text by stars, in place: servers echo what they get. Keys shorter than 8
 * bytes are no secrets ("none", "x") and stay. */
void ae_key_redact(const struct ae_key *key, char *text, size_t size);

#endif
