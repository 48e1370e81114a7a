/* Programs read by models: what was asked, what came back word for word, and the findings of an answer that held to the
 * schema. Apart from measurements and from everything that a verdict rests on. Same rules as store.h. */
#ifndef AE_STORE_READING_H
#define AE_STORE_READING_H

#include "store/store.h"

struct ae_read_finding {
    char strategy[16], presence[16]; /* "M03", "present" */
    double confidence;
    char sentence[256];
    char lines[256]; /* "3-7,12-12"; "" */
};

#define AE_READ_FINDINGS_MAX 64

/* One program, one model, one prompt: asked once. */
struct ae_stored_reading {
    int64_t id; /* on reading only */
    const char *submission; /* SHA-256 of the source, which must be there */
    const char *task;       /* "": not known */
    const char *model;      /* its name in models.yaml */
    const char *parameters; /* canonical JSON */
    const char *prompt;     /* SHA-256 of the prompt, which must be there */
    bool told;              /* the prompt holds the findings of the search */
    int64_t created_ns;
    const char *state;  /* "sent", "valid", "invalid", "refused", "empty", "failed" */
    const char *detail; /* why it is invalid or failed; "" */
    const char *answered_by;
    const void *answer; /* as the model wrote it; NULL: none */
    size_t answer_size;
    int64_t input_tokens, output_tokens; /* -1: not known */
    double cost;                         /* below 0: not known */
    const struct ae_read_finding *findings;
    size_t finding_count;
};

/* Keeps a reading with its findings in place of one with the same submission, model, parameters and prompt. One
 * transaction. AE_E_USAGE: there is no such submission or prompt, or more findings than AE_READ_FINDINGS_MAX. */
int ae_store_reading_put(struct ae_store *store, const struct ae_stored_reading *reading, struct ae_error *err);

/* *ret: is there one that needs no asking, because an answer (of whatever use) or a refusal came back? */
int ae_store_reading_settled(struct ae_store *store, const char *submission, const char *model, const char *parameters,
                             const char *prompt, bool *ret, struct ae_error *err);

struct ae_reading_filter {
    const char *submission, *model, *prompt; /* NULL: all */
};

/* By model, submission, id. Everything lives until visit returns, which must not write to the store; a nonzero return ends
 * the walk and is returned. */
int ae_store_readings(struct ae_store *store, const struct ae_reading_filter *filter,
                      int (*visit)(void *data, const struct ae_stored_reading *reading), void *data, struct ae_error *err);

#endif
