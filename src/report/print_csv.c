#include "report/print.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

/* RFC 4180: lines end with CRLF, a field with a comma or a quote is quoted. Each table is a block of
 * its own with its header line and its id in the first column (then size and environment where it shows one board);
 * an empty line parts two blocks. */

static bool harmful_formula(const char *text)
{
    return *text && strchr("=+-@\t\r\n", *text) != NULL;
}

/* A text that a spreadsheet would take for a formula gets an apostrophe before it; what would do something to a terminal
 * or is no UTF-8 is shown by its escape, so that every reader takes the file. */
static void put_text(const char *text, FILE *out)
{
    const bool formula = harmful_formula(text), quoted = formula || text[strcspn(text, ",\"")];
    fputs(quoted ? formula ? "\"'" : "\"" : "", out);
    while (*text) {
        char piece[8] = "", shown[2 * AE_PRINTABLE_MAX];
        uint32_t c;
        const size_t taken = ae_utf8_decode(text, &c), length = taken ? taken : 1;
        memcpy(piece, text, length);
        (void)ae_utf8_printable(piece, shown, sizeof shown, sizeof shown);
        fputs(*text == '"' ? "\"\"" : shown, out);
        text += length;
    }
    fputs(quoted ? "\"" : "", out);
}

static void put_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value))
        fprintf(out, "%.9g", value);
}

static void put_name(const char *name, const char *suffix, FILE *out)
{
    char text[1024];
    fputc(',', out);
    snprintf(text, sizeof text, "%s%s", name, suffix);
    put_text(text, out);
}

static void put_header(const struct ae_column *column, FILE *out)
{
    char name[512];
    /* a unit of several words is a remark for people */
    const bool named = column->unit[0] && !strchr(column->unit, ' ');
    snprintf(name, sizeof name, named ? "%s_%s" : "%s", column->name, column->unit);
    if (column->kind == AE_CELL_FRACTION) {
        put_name(name, "", out);
        put_name(name, "_part", out);
        put_name(name, "_whole", out);
        return;
    }
    if (column->kind == AE_CELL_OUTCOME) {
        put_name(name, "", out);
        put_name(name, "_speedup", out);
        return;
    }
    if (column->kind != AE_CELL_INTERVAL)
        put_name(name, "", out);
    if (column->interval || column->kind == AE_CELL_INTERVAL) {
        put_name(name, "_low", out);
        put_name(name, "_high", out);
        put_name(name, "_interval", out);
    }
}

static void put_cell(const struct ae_column *column, const struct ae_cell *cell, FILE *out)
{
    const bool empty = cell->kind == AE_CELL_EMPTY;
    switch (column->kind) {
    case AE_CELL_EMPTY:
    case AE_CELL_TEXT: {
        char buffer[AE_CELL_TEXT_MAX];
        fputc(',', out);
        put_text(ae_cell_print(cell, buffer), out);
        return;
    }
    case AE_CELL_OUTCOME:
        fputc(',', out);
        put_text(empty ? "" : cell->text, out);
        put_number(empty ? (double)NAN : cell->value, out);
        return;
    case AE_CELL_FRACTION:
        put_number(empty ? (double)NAN : cell->value, out);
        put_number(empty ? (double)NAN : cell->low, out);
        put_number(empty ? (double)NAN : cell->high, out);
        return;
    case AE_CELL_INTERVAL:
        break;
    case AE_CELL_COUNT:
    case AE_CELL_NUMBER:
    case AE_CELL_SHARE:
    case AE_CELL_SPEEDUP:
        put_number(empty ? (double)NAN : cell->value, out);
        break;
    }
    if (column->interval || column->kind == AE_CELL_INTERVAL) {
        const bool none = empty || cell->interval == AE_INTERVAL_NONE;
        put_number(none ? (double)NAN : cell->low, out);
        put_number(none ? (double)NAN : cell->high, out);
        fprintf(out, ",%s", none ? "" : ae_interval_kind_name(cell->interval));
    }
}

void ae_print_csv(const struct ae_report *report, FILE *out)
{
    for (size_t t = 0; t < report->table_count; t++) {
        const struct ae_table *table = &report->tables[t];
        fputs(t ? "\r\ntable" : "table", out);
        fputs(*table->size ? ",size,environment" : "", out);
        for (size_t c = 0; c < table->column_count; c++)
            put_header(&table->columns[c], out);
        fputs("\r\n", out);
        for (size_t row = 0; row < table->row_count; row++) {
            put_text(table->id, out);
            if (*table->size) {
                put_name(table->size, "", out);
                put_name(table->environment, "", out);
            }
            for (size_t c = 0; c < table->column_count; c++)
                put_cell(&table->columns[c], &table->cells[row * table->column_count + c], out);
            fputs("\r\n", out);
        }
    }
}
