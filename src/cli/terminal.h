/* What a stream is, and a line of progress on it. */
#ifndef AE_CLI_TERMINAL_H
#define AE_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool ae_terminal_is(FILE *stream);
/* A terminal, NO_COLOR unset or empty (no-color.org), TERM set and not "dumb". */
bool ae_terminal_colour(FILE *stream);
/* Columns: of the terminal, else $COLUMNS, else 80. */
int ae_terminal_width(FILE *stream);

/* One line that is redrawn in place on a terminal; elsewhere each distinct text is a line of its own. Text is made
 * printable (control characters escaped) and cut to the width. */
struct ae_progress {
    FILE *stream;
    bool redraw;
    int width;
    int64_t last_ns; /* of the last redraw; at most 10 a second, what comes between is not shown */
    char shown[512];
};

void ae_progress_init(struct ae_progress *progress, FILE *stream);
void ae_progress_show(struct ae_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes the line away, so that something else may be printed; the next show draws it again. */
void ae_progress_clear(struct ae_progress *progress);

#endif
