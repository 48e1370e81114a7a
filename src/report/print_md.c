#include "report/print.h"

#include "base/utf8.h"

#include <string.h>

/* Markdown lets any ASCII punctuation be escaped by a backslash; these could begin a construct or a link. What
 * could be HTML becomes a character reference, which also readers that know no such escape understand. */
static void put_text(const char *text, FILE *out)
{
    char shown[8192];
    ae_utf8_printable(text, shown, sizeof shown, sizeof shown);
    for (const char *p = shown; *p; p++) {
        if (*p == '<' || *p == '>' || *p == '&') {
            fputs(*p == '<' ? "&lt;" : *p == '>' ? "&gt;" : "&amp;", out);
            continue;
        }
        if (strchr("\\`*_{}[]#|~$!@", *p) || (*p == ':' && p[1] == '/'))
            fputc('\\', out);
        fputc(*p, out);
    }
}

static void print_table(const struct ae_table *table, FILE *out)
{
    char buffer[AE_CELL_TEXT_MAX], title[1024];
    fputs("## ", out);
    put_text(table->title, out);
    fputs("\n\n", out);
    for (size_t c = 0; c < table->column_count; c++) {
        if (table->columns[c].extra)
            continue;
        fputs("| ", out);
        put_text(ae_column_title(&table->columns[c], title, sizeof title), out);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (size_t c = 0; c < table->column_count; c++)
        if (!table->columns[c].extra)
            fputs(ae_column_is_numeric(&table->columns[c]) ? "| ---: " : "| --- ", out);
    fputs("|\n", out);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t c = 0; c < table->column_count; c++) {
            if (table->columns[c].extra)
                continue;
            fputs("| ", out);
            put_text(ae_cell_print(&table->cells[row * table->column_count + c], buffer), out);
            fputc(' ', out);
        }
        fputs("|\n", out);
    }
    for (size_t i = 0; i < table->note_count; i++) {
        fputc('\n', out);
        put_text(table->notes[i], out);
        fputc('\n', out);
    }
    bool first = true;
    for (size_t c = 0; c < table->column_count; c++) {
        if (table->columns[c].extra || !table->columns[c].description[0])
            continue;
        fputs(first ? "\n- " : "- ", out);
        first = false;
        put_text(table->columns[c].name, out);
        fputs(" \xe2\x80\x93 ", out); /* an en dash */
        put_text(table->columns[c].description, out);
        fputc('\n', out);
    }
}

void ae_print_md(const struct ae_report *report, const struct ae_report_header *header, FILE *out)
{
    if (report->summary) {
        put_text(report->summary, out);
        fputs("\n\n", out);
    }
    for (size_t i = 0; i < report->table_count; i++) {
        print_table(&report->tables[i], out);
        fputc('\n', out);
    }
    char time[32];
    ae_print_time(header->generated_ns, time);
    fprintf(out, "Made by AccelEval %s, %s.\n", header->tool_version ? header->tool_version : "", time);
}
