#include "report/html.h"
#include "report/html_text.h"
#include "report/print.h"

#include <math.h>
#include <string.h>

#define LONG 200 /* rows of a table that the browser lays out only when it comes into sight */

static void put_number(const char *name, double value, FILE *out)
{
    if (isfinite(value))
        fprintf(out, " data-%s=\"%.9g\"", name, value);
}

/* The colour of an outcome, by the order of magnitude; the text says the same. */
static const char *heat_class(const struct ae_cell *cell)
{
    static const struct {
        double least;
        const char *name;
    } steps[] = {{100, "h7"}, {30, "h6"}, {10, "h5"}, {5, "h4"}, {2, "h3"}, {1, "h2"}, {0.5, "h1"}, {0, "h0"}};
    if (strcmp(cell->text, "pass") != 0)
        return strncmp(cell->text, "not_", 4) == 0 || strcmp(cell->text, "stale") == 0 ||
                       strcmp(cell->text, "host_error") == 0
                   ? "hn"
                   : "hf";
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (cell->value >= steps[i].least)
            return steps[i].name;
    return "hp";
}

static void put_cell(const struct ae_column *column, const struct ae_cell *cell, bool first, FILE *out)
{
    char buffer[AE_CELL_TEXT_MAX];
    const char *const tag = first ? "th scope=\"row\"" : "td";
    fprintf(out, "<%s", tag);
    if (cell->kind == AE_CELL_OUTCOME)
        fprintf(out, " class=\"%s\"", heat_class(cell));
    else if (column->heat && cell->value > 0) /* an empty cell's value is 0 */
        fprintf(out, " class=\"s%d\"", (int)ceil(4 * fmin(cell->value, 1)));
    else if (ae_column_is_numeric(column))
        fputs(" class=\"n\"", out);
    if (cell->kind != AE_CELL_TEXT && cell->kind != AE_CELL_EMPTY && cell->kind != AE_CELL_INTERVAL)
        put_number("v", cell->value, out);
    if (cell->interval != AE_INTERVAL_NONE) {
        put_number("lo", cell->low, out);
        put_number("hi", cell->high, out);
    }
    fputc('>', out);
    ae_html_put(ae_cell_print(cell, buffer), out);
    fputs(first ? "</th>" : "</td>", out);
}

static void put_legend(const struct ae_table *table, FILE *out)
{
    bool any = false;
    for (size_t c = 0; c < table->column_count; c++)
        any |= table->columns[c].description[0] != 0;
    if (!any)
        return;
    fputs("<details class=\"legend\"><summary>What the columns mean</summary><dl>\n", out);
    for (size_t c = 0; c < table->column_count; c++) {
        if (!table->columns[c].description[0])
            continue;
        fputs("<dt>", out);
        ae_html_put(table->columns[c].name, out);
        fputs("</dt><dd>", out);
        ae_html_put(table->columns[c].description, out);
        fputs("</dd>\n", out);
    }
    fputs("</dl></details>\n", out);
}

void ae_html_table(const struct ae_table *table, size_t n, FILE *out)
{
    char title[1024];
    fprintf(out, "<section id=\"t%zu\">\n<h2>", n);
    ae_html_put(table->title, out);
    fprintf(out, "</h2>\n<div class=\"scroll%s\"><table class=\"data\" data-table=\"",
            table->row_count > LONG ? " long" : "");
    ae_html_put(table->id, out);
    fputs("\" data-size=\"", out);
    ae_html_put(table->size, out);
    fputs("\" data-environment=\"", out);
    ae_html_put(table->environment, out);
    fputs("\">\n<thead><tr>", out);
    for (size_t c = 0; c < table->column_count; c++) {
        fprintf(out, "<th scope=\"col\"%s data-name=\"",
                ae_column_is_numeric(&table->columns[c]) ? " class=\"n\"" : "");
        ae_html_put(table->columns[c].name, out);
        fputs("\" title=\"", out);
        ae_html_put(table->columns[c].description[0] ? table->columns[c].description : table->columns[c].name, out);
        fputs("\">", out);
        ae_html_put(ae_column_title(&table->columns[c], title, sizeof title), out);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t row = 0; row < table->row_count && row < AE_REPORT_PAGE_ROWS; row++) {
        fputs("<tr>", out);
        for (size_t c = 0; c < table->column_count; c++)
            put_cell(&table->columns[c], &table->cells[row * table->column_count + c], c == 0, out);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (table->row_count > AE_REPORT_PAGE_ROWS)
        fprintf(out, "<p class=\"note\">%zu more rows are in the other formats only.</p>\n",
                table->row_count - (size_t)AE_REPORT_PAGE_ROWS);
    for (size_t i = 0; i < table->note_count; i++) {
        fputs("<p class=\"note\">", out);
        ae_html_put(table->notes[i], out);
        fputs("</p>\n", out);
    }
    put_legend(table, out);
    fputs("</section>\n", out);
}
