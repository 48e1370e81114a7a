#include "report/html.h"
#include "report/html_text.h"

#include <string.h>

/* Which strategies a line shows: those whose lines it is among. Bit k: finding k of the program. */
static uint64_t shown_at(const struct ae_report_program *program, int line)
{
    uint64_t ret = 0;
    for (size_t i = 0; i < program->finding_count && i < 64; i++)
        for (int k = 0; k < program->findings[i].line_count; k++)
            if (line >= program->findings[i].lines[k].first && line <= program->findings[i].lines[k].last)
                ret |= (uint64_t)1 << i;
    return ret;
}

static void begin_mark(const struct ae_report_program *program, const struct ae_report_search *search, uint64_t shown,
                       FILE *out)
{
    fputs("<span class=\"found\" data-ids=\"", out);
    for (size_t i = 0, n = 0; i < program->finding_count && i < 64; i++)
        if (shown >> i & 1) {
            fputs(n++ ? " " : "", out);
            ae_html_put(search->strategies[program->findings[i].strategy].id, out);
        }
    fputs("\" title=\"", out);
    for (size_t i = 0, n = 0; i < program->finding_count && i < 64; i++)
        if (shown >> i & 1) {
            const struct ae_report_strategy *strategy = &search->strategies[program->findings[i].strategy];
            fputs(n++ ? "\n" : "", out);
            ae_html_put(strategy->id, out);
            fputs(" ", out);
            ae_html_put(strategy->name, out);
            fputs(": ", out);
            ae_html_put(program->findings[i].sentence, out);
        }
    fputs("\">", out);
}

void ae_html_source(const char *source, size_t size, const struct ae_report_program *program,
                    const struct ae_report_search *search, FILE *out)
{
    uint64_t shown = 0;
    size_t from = 0; /* of the run of lines that is not yet written */
    int line = 1;
    for (size_t at = 0; program && at < size; line++) {
        const char *feed = memchr(source + at, '\n', size - at);
        const uint64_t here = shown_at(program, line);
        if (here != shown) {
            ae_html_text(source + from, at - from, out);
            fputs(shown ? "</span>" : "", out);
            if (here)
                begin_mark(program, search, here, out);
            from = at;
            shown = here;
        }
        at = feed ? (size_t)(feed - source) + 1 : size;
    }
    ae_html_text(source + from, size - from, out);
    fputs(shown ? "</span>" : "", out);
}
