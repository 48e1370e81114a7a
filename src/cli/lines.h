/* A submission as a JSON line, from a program that feeds `eval -`; hostile text. */
#ifndef AE_CLI_LINES_H
#define AE_CLI_LINES_H

#include "build/build.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define AE_LINE_ENTRANT 64
#define AE_LINE_MAX     ((size_t)32 << 20) /* bytes: AE_SOURCE_MAX with an escape for every character, and its keys */

struct json_t;

struct ae_line {
    struct json_t *json;  /* owns the texts */
    const char *id;       /* NULL: none; also set in most lines that are refused */
    const struct ae_task *task;
    enum ae_size size;    /* AE_SMALL where not given */
    enum ae_build_kind kind;
    char entrant[AE_LINE_ENTRANT]; /* "stdin" where not given */
    const char *source;   /* of source_size bytes */
    size_t source_size;
};

/* Reads the next line, its end included, into *text, which grows (*room) up to AE_LINE_MAX and is the caller's to free.
 * Of a longer line the end goes by, and *ret_long is set. Its bytes; 0: there is none, or ferror(); AE_E_NOMEM. */
ssize_t ae_line_read(FILE *in, char **text, size_t *room, bool *ret_long);

/* {"task", "source", "language"?, "size"?, "id"?, "entrant"?} in text[0..size-1]. AE_E_INPUT or AE_E_USAGE with a
 * sentence where it is none; *ret is to be released in any case. */
int ae_line_parse(const char *text, size_t size, struct ae_line *ret, struct ae_error *err);
void ae_line_release(struct ae_line *line);

#endif
