#include "report/html_text.h"

#include "base/utf8.h"

#include <string.h>

static const char *reference_of(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Bytes at the start of text that stand for themselves. */
static size_t plain_run(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && (text[n] == '\n' || text[n] == '\t' || (text[n] >= ' ' && text[n] <= '~')) &&
           !reference_of(text[n]))
        n++;
    return n;
}

void ae_html_text(const char *text, size_t size, FILE *out)
{
    for (size_t i = 0; i < size;) {
        const char *reference = reference_of(text[i]);
        char piece[5] = {0}, shown[4 * AE_PRINTABLE_MAX + 1];
        uint32_t character;
        if (reference) {
            fputs(reference, out);
            i++;
            continue;
        }
        const size_t run = plain_run(text + i, size - i);
        if (run > 0) {
            (void)fwrite(text + i, 1, run, out);
            i += run;
            continue;
        }
        if (text[i] == '\r' && i + 1 < size && text[i + 1] == '\n') {
            i++;
            continue;
        }
        if (text[i] == 0) {
            fputs("\\x00", out);
            i++;
            continue;
        }
        /* One character at a time, so that a NUL or the end inside of one ends it. */
        memcpy(piece, text + i, size - i < 4 ? size - i : 4);
        const size_t length = ae_utf8_decode(piece, &character);
        piece[length ? length : 1] = 0;
        (void)ae_utf8_printable(piece, shown, sizeof shown, sizeof shown);
        fputs(shown, out);
        i += length ? length : 1;
    }
}

void ae_html_put(const char *text, FILE *out)
{
    ae_html_text(text, strlen(text), out);
}
