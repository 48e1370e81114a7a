/* From what a model wrote to one source file. The text is hostile: it is scanned, never interpreted, and nothing in it
 * can choose more than which of its own bytes become the source. */
#ifndef AE_LLM_ANSWER_H
#define AE_LLM_ANSWER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* How the source was found. Only AE_ANSWER_ENTITIES changes its bytes beyond line ends; it and the guesses
 * (AE_ANSWER_REPAIRS) are reported apart. */
#define AE_ANSWER_CRLF       (1u << 0) /* line ends normalised */
#define AE_ANSWER_SEVERAL    (1u << 1) /* several blocks define solution_compute: the last one counts */
#define AE_ANSWER_NESTED     (1u << 2) /* taken out of a block that holds fences itself */
#define AE_ANSWER_REASONING  (1u << 3) /* reasoning that stood before the answer was left out */
#define AE_ANSWER_OPEN_FENCE (1u << 4) /* the block was never closed */
#define AE_ANSWER_NO_FENCE   (1u << 5) /* no block at all: from the first line of code to the last closing brace */
#define AE_ANSWER_ENTITIES   (1u << 6) /* "&lt;" and its kin decoded */
#define AE_ANSWER_NOTES      7         /* number of bits */
#define AE_ANSWER_REPAIRS    (AE_ANSWER_OPEN_FENCE | AE_ANSWER_NO_FENCE | AE_ANSWER_ENTITIES)

/* "several open_fence"; "" for none. Cut to size; returns text. */
const char *ae_answer_notes_text(unsigned notes, char *text, size_t size);

/* Does this text define (not merely declare, call or mention) a function solution_compute? Comments, strings and
 * character literals do not count. */
bool ae_answer_defines(const char *text, size_t size);

/* *ret: the source, NUL-terminated, ret_size bytes, freed by the caller. AE_E_NOTFOUND with a sentence where no block
 * defines solution_compute; AE_E_NOMEM. */
int ae_answer_extract(const char *text, size_t size, char **ret, size_t *ret_size, unsigned *ret_notes,
                      struct ae_error *err);

#endif
