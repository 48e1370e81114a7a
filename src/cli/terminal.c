#include "cli/terminal.h"

#include "base/text.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_NS 100000000 /* at most ten times a second */

bool ae_terminal_is(FILE *stream)
{
    const int fd = fileno(stream);
    return fd >= 0 && isatty(fd);
}

bool ae_terminal_colour(FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return ae_terminal_is(stream) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

int ae_terminal_width(FILE *stream)
{
    struct winsize size;
    const int fd = fileno(stream);
    if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    int64_t columns;
    const char *text = getenv("COLUMNS");
    return text && ae_text_to_i64(text, 1, 10000, &columns) ? (int)columns : 80;
}

/* --- progress --------------------------------------------------------------------------------------------- */

void ae_progress_init(struct ae_progress *progress, FILE *stream)
{
    *progress = (struct ae_progress){.stream = stream, .redraw = ae_terminal_is(stream)};
    progress->width = progress->redraw ? ae_terminal_width(stream) : (int)sizeof progress->shown - 1;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void ae_progress_show(struct ae_progress *progress, const char *format, ...)
{
    char raw[sizeof progress->shown], text[sizeof progress->shown];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    /* not into the last column, where some terminals wrap */
    ae_utf8_printable(raw, text, sizeof text, progress->width > 1 ? (size_t)progress->width - 1 : 1);
    if (strcmp(text, progress->shown) == 0)
        return;
    if (!progress->redraw) {
        fprintf(progress->stream, "%s\n", text);
    } else {
        const int64_t now = now_ns();
        if (progress->shown[0] && now - progress->last_ns < REDRAW_NS)
            return; /* the next one will be newer anyway */
        progress->last_ns = now;
        fprintf(progress->stream, "\r\x1b[K%s", text);
    }
    fflush(progress->stream);
    memcpy(progress->shown, text, sizeof text);
}

void ae_progress_clear(struct ae_progress *progress)
{
    if (!progress->redraw || !progress->shown[0])
        return;
    fputs("\r\x1b[K", progress->stream);
    fflush(progress->stream);
    progress->shown[0] = 0;
}
