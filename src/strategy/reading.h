/* A program read by a model, reference and program side by side: the question, and what may count as an answer. A sort of
 * finding of its own: it is kept apart, compared with what the search found, and no verdict or finding of the search ever
 * looks at it. So a source that talks to its reader can at worst spoil its own reading. */
#ifndef AE_STRATEGY_READING_H
#define AE_STRATEGY_READING_H

#include "strategy/strategy.h"

#define AE_READING_SOURCE_MAX ((size_t)128 << 10) /* bytes of a program that is sent to a model */
#define AE_READING_ANSWER_MAX ((size_t)256 << 10) /* bytes of an answer that are looked at */

struct ae_reading_texts {
    const char *reference; /* the task's reference.c; NULL: not known */
    size_t reference_size;
    const char *source; /* hostile */
    size_t source_size;
    const struct ae_findings *findings; /* of the search; NULL: the model is not told of them */
};

/* The question: catalogue, reference, program, findings, form of the answer; the same texts give the same bytes. Every line
 * of the program stands behind its number, so that none can pass for a line of ours; what could deceive a reader (controls,
 * invisible characters, bytes that are no UTF-8) is shown as its escape. The caller frees *ret. AE_E_INPUT: too long;
 * AE_E_NOMEM. */
int ae_reading_prompt(const struct ae_reading_texts *texts, char **ret, struct ae_error *err);

struct ae_reading {
    struct ae_finding findings[AE_STRATEGY_COUNT]; /* in the order of strategies; evidence READING */
    int count;
    enum ae_presence presence[AE_STRATEGY_COUNT]; /* UNKNOWN where the answer says nothing */
};

/* The schema that ae_reading_parse() holds an answer to, as JSON Schema. */
extern const char ae_reading_schema[];

/* Reads an answer: one JSON object of that schema, white space or a ```json fence around it, and nothing else. Ids must be
 * of the catalogue and come once; lines lie in the source, of `lines` lines; texts are as short as they may be and hold
 * no control characters. One breach and the whole answer counts for nothing: AE_E_INPUT says which. */
int ae_reading_parse(const char *text, size_t size, int lines, struct ae_reading *ret, struct ae_error *err);

/* Lines of a source, an unended last one included. */
int ae_reading_lines(const char *source, size_t size);

#endif
