/* A submission as a JSON line, from a program that feeds `eval -`; hostile text. */
#ifndef AE_CLI_LINES_H
#define AE_CLI_LINES_H

#include "build/build.h"
#include "task/task.h"

#include <stddef.h>

#define AE_LINE_ENTRANT 64

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

/* {"task", "source", "language"?, "size"?, "id"?, "entrant"?} in text[0..size-1]. AE_E_INPUT or AE_E_USAGE with a
 * sentence where it is none; *ret is to be released in any case. */
int ae_line_parse(const char *text, size_t size, struct ae_line *ret, struct ae_error *err);
void ae_line_release(struct ae_line *line);

#endif
