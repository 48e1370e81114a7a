#include "report/print.h"

#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP      2    /* columns between two of the table */
#define CELL_MAX 80   /* columns of a cell; the rest of a long text is in the other formats */
#define TEXT_MAX 1024 /* bytes of a cell once it is printable */

static const char bold[] = "\x1b[1m", dim[] = "\x1b[2m", red[] = "\x1b[31m", green[] = "\x1b[32m",
                  plain[] = "\x1b[0m";

/* What does not fit ends in dots. */
static size_t printable(const char *raw, char text[TEXT_MAX])
{
    size_t columns = ae_utf8_printable(raw, text, TEXT_MAX, CELL_MAX + 1);
    if (columns > CELL_MAX) {
        columns = ae_utf8_printable(raw, text, TEXT_MAX - 3, CELL_MAX - 3) + 3;
        memcpy(text + strlen(text), "...", 4);
    }
    return columns;
}

static size_t printable_cell(const struct ae_cell *cell, char text[TEXT_MAX])
{
    char buffer[AE_CELL_TEXT_MAX];
    return printable(ae_cell_print(cell, buffer), text);
}

static size_t printable_title(const struct ae_column *column, char text[TEXT_MAX])
{
    char buffer[TEXT_MAX];
    return printable(ae_column_title(column, buffer, sizeof buffer), text);
}

/* Sentences may be longer than a line, but hold nothing harmful either. */
static void put_text(const char *text, FILE *out)
{
    char shown[4096];
    ae_utf8_printable(text, shown, sizeof shown, sizeof shown);
    fputs(shown, out);
}

/* Blanks are owed until something follows, so that no line ends in them. */
static void put_padded(const char *text, size_t columns, size_t width, bool right, const char *paint, size_t *owed,
                       FILE *out)
{
    const size_t space = width - columns;
    *owed += right ? space : 0;
    if (*text) {
        fprintf(out, "%*s%s%s%s", (int)*owed, "", paint ? paint : "", text, paint ? plain : "");
        *owed = 0;
    }
    *owed += (right ? 0 : space) + GAP + (*text ? 0 : columns);
}

static const char *colour_of(const struct ae_cell *cell)
{
    if (cell->kind != AE_CELL_OUTCOME)
        return NULL;
    if (strcmp(cell->text, "pass") == 0)
        return isnan(cell->value) || cell->value >= 1 ? green : NULL;
    return strncmp(cell->text, "not_", 4) == 0 || strcmp(cell->text, "host_error") == 0 ? dim : red;
}

/* One block of columns: those named in `shown`. */
static void print_block(const struct ae_table *table, const size_t *widths, const size_t *shown, size_t shown_count,
                        bool colour, FILE *out)
{
    char text[TEXT_MAX];
    size_t owed = 0;
    for (size_t i = 0; i < shown_count; i++) {
        const struct ae_column *column = &table->columns[shown[i]];
        const size_t columns = printable_title(column, text);
        put_padded(text, columns, widths[shown[i]], ae_column_is_numeric(column), colour ? bold : NULL, &owed, out);
    }
    fputc('\n', out);
    for (size_t row = 0; row < table->row_count; row++) {
        owed = 0;
        for (size_t i = 0; i < shown_count; i++) {
            const struct ae_cell *cell = &table->cells[row * table->column_count + shown[i]];
            const size_t columns = printable_cell(cell, text);
            put_padded(text, columns, widths[shown[i]], ae_column_is_numeric(&table->columns[shown[i]]),
                       colour ? colour_of(cell) : NULL, &owed, out);
        }
        fputc('\n', out);
    }
}

/* Where the table is wider than the terminal, further columns follow in blocks of their own, with the keys
 * repeated. */
static void print_columns(const struct ae_table *table, const size_t *widths, size_t *shown, int width, bool colour,
                          FILE *out)
{
    size_t keys = 0, keys_width = 0;
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].key) {
            shown[keys++] = c;
            keys_width += widths[c] + GAP;
        }
    size_t count = keys, used = keys_width;
    bool first = true;
    for (size_t c = 0; c < table->column_count; c++) {
        if (table->columns[c].key || table->columns[c].extra)
            continue;
        if (width > 0 && count > keys && used + widths[c] > (size_t)width) {
            if (!first)
                fputc('\n', out);
            print_block(table, widths, shown, count, colour, out);
            first = false;
            count = keys;
            used = keys_width;
        }
        shown[count++] = c;
        used += widths[c] + GAP;
    }
    if (!first)
        fputc('\n', out);
    print_block(table, widths, shown, count, colour, out);
}

static void print_legend(const struct ae_table *table, bool colour, FILE *out)
{
    size_t width = 0;
    char text[TEXT_MAX];
    for (size_t c = 0; c < table->column_count; c++)
        if (!table->columns[c].extra && table->columns[c].description[0]) {
            const size_t columns = ae_utf8_printable(table->columns[c].name, text, sizeof text, CELL_MAX);
            width = columns > width ? columns : width;
        }
    if (width == 0)
        return;
    fprintf(out, "\n%s", colour ? dim : "");
    for (size_t c = 0; c < table->column_count; c++) {
        const struct ae_column *column = &table->columns[c];
        if (column->extra || !column->description[0])
            continue;
        const size_t columns = ae_utf8_printable(column->name, text, sizeof text, CELL_MAX);
        fprintf(out, "  %s%*s  ", text, (int)(width - columns), "");
        put_text(column->description, out);
        fputc('\n', out);
    }
    fputs(colour ? plain : "", out);
}

static void print_table(const struct ae_table *table, const struct ae_print_options *options, FILE *out)
{
    char text[TEXT_MAX];
    size_t *widths = calloc(2 * table->column_count + 1, sizeof *widths);
    if (options->colour)
        fputs(bold, out);
    put_text(table->title, out);
    fprintf(out, "%s\n", options->colour ? plain : "");
    if (!widths) {
        fputs("(no memory to print this table)\n", out);
        return;
    }
    for (size_t c = 0; c < table->column_count; c++)
        widths[c] = printable_title(&table->columns[c], text);
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        const size_t columns = printable_cell(&table->cells[i], text);
        if (columns > widths[i % table->column_count])
            widths[i % table->column_count] = columns;
    }
    print_columns(table, widths, widths + table->column_count, options->width, options->colour, out);
    free(widths);
    for (size_t i = 0; i < table->note_count; i++) {
        fputs(i ? "" : "\n", out);
        put_text(table->notes[i], out);
        fputc('\n', out);
    }
    print_legend(table, options->colour, out);
}

void ae_print_term(const struct ae_report *report, const struct ae_print_options *options, FILE *out)
{
    for (size_t i = 0; i < report->table_count; i++) {
        fputs(i ? "\n" : "", out);
        print_table(&report->tables[i], options, out);
    }
    if (report->summary) {
        fputs(report->table_count ? "\n" : "", out);
        put_text(report->summary, out);
        fputc('\n', out);
    }
}
