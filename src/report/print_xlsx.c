#include "report/print.h"

#include "base/utf8.h"

#include <string.h>

#ifdef AE_HAVE_XLSX
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <xlsxwriter.h>

#define CELL_MAX 32000 /* bytes of a text: Excel refuses cells of 32,768 characters */

struct book {
    lxw_workbook *workbook;
    lxw_format *bold, *title, *speedup, *share, *number, *fail;
    bool failed;
};

/* A sheet that is filled from the top. */
struct sheet {
    struct book *book;
    lxw_worksheet *worksheet;
    lxw_row_t row;
};

/* Always as text, never as a formula. */
static void put_text(struct sheet *sheet, lxw_col_t column, const char *text, lxw_format *format)
{
    const size_t room = AE_PRINTABLE_MAX * strlen(text) + 1;
    char *shown = malloc(room < CELL_MAX ? room : CELL_MAX);
    if (!shown) {
        sheet->book->failed = true;
        return;
    }
    ae_utf8_printable(text, shown, room < CELL_MAX ? room : CELL_MAX, SIZE_MAX);
    if (*shown && worksheet_write_string(sheet->worksheet, sheet->row, column, shown, format) != LXW_NO_ERROR)
        sheet->book->failed = true;
    free(shown);
}

static void put_number(struct sheet *sheet, lxw_col_t column, double value, lxw_format *format)
{
    if (isfinite(value) &&
        worksheet_write_number(sheet->worksheet, sheet->row, column, value, format) != LXW_NO_ERROR)
        sheet->book->failed = true;
}

static struct sheet add_sheet(struct book *book, const char *name)
{
    struct sheet ret = {book, workbook_add_worksheet(book->workbook, name), 0};
    book->failed |= !ret.worksheet;
    return ret;
}

static bool has_interval(const struct ae_column *column)
{
    return column->interval || column->kind == AE_CELL_INTERVAL;
}

static lxw_col_t put_head(struct sheet *sheet, lxw_col_t at, const struct ae_column *column)
{
    char text[1024], title[512];
    lxw_format *bold = sheet->book->bold;
    ae_column_title(column, title, sizeof title);
    if (column->kind != AE_CELL_INTERVAL)
        put_text(sheet, at++, title, bold);
    if (column->kind == AE_CELL_FRACTION) {
        snprintf(text, sizeof text, "%s part", column->name);
        put_text(sheet, at++, text, bold);
        snprintf(text, sizeof text, "%s of", column->name);
        put_text(sheet, at++, text, bold);
    }
    if (has_interval(column)) {
        snprintf(text, sizeof text, "%s low", column->name);
        put_text(sheet, at++, text, bold);
        snprintf(text, sizeof text, "%s high", column->name);
        put_text(sheet, at++, text, bold);
        snprintf(text, sizeof text, "%s interval", column->name);
        put_text(sheet, at++, text, bold);
    }
    return at;
}

static lxw_col_t put_cell(struct sheet *sheet, lxw_col_t at, const struct ae_column *column,
                          const struct ae_cell *cell)
{
    char buffer[AE_CELL_TEXT_MAX];
    struct book *book = sheet->book;
    const bool empty = cell->kind == AE_CELL_EMPTY;
    lxw_format *format = column->kind == AE_CELL_SPEEDUP                                     ? book->speedup
                         : column->kind == AE_CELL_SHARE || column->kind == AE_CELL_FRACTION ? book->share
                         : column->kind == AE_CELL_NUMBER                                    ? book->number
                                                                                             : NULL;
    if (column->kind == AE_CELL_TEXT || column->kind == AE_CELL_EMPTY)
        put_text(sheet, at++, ae_cell_print(cell, buffer), NULL);
    else if (column->kind == AE_CELL_OUTCOME && (empty || !isfinite(cell->value)))
        put_text(sheet, at++, empty ? "" : cell->text, book->fail);
    else if (column->kind == AE_CELL_OUTCOME)
        put_number(sheet, at++, cell->value, book->speedup);
    else if (column->kind != AE_CELL_INTERVAL)
        put_number(sheet, at++, empty ? (double)NAN : cell->value, format);
    if (column->kind == AE_CELL_FRACTION) {
        put_number(sheet, at++, empty ? (double)NAN : cell->low, NULL);
        put_number(sheet, at++, empty ? (double)NAN : cell->high, NULL);
    }
    if (has_interval(column)) {
        const bool none = empty || cell->interval == AE_INTERVAL_NONE;
        put_number(sheet, at++, none ? (double)NAN : cell->low, format);
        put_number(sheet, at++, none ? (double)NAN : cell->high, format);
        put_text(sheet, at++, none ? "" : ae_interval_kind_name(cell->interval), NULL);
    }
    return at;
}

static void put_table(struct sheet *sheet, const struct ae_table *table)
{
    lxw_col_t at = 0;
    put_text(sheet, 0, table->title, sheet->book->title);
    sheet->row++;
    for (size_t c = 0; c < table->column_count; c++)
        at = put_head(sheet, at, &table->columns[c]);
    sheet->row++;
    for (size_t row = 0; row < table->row_count; row++) {
        if (sheet->row + table->note_count + 2 >= LXW_ROW_MAX) {
            put_text(sheet, 0, "A sheet holds no more rows; the other formats have all of them.", NULL);
            break;
        }
        at = 0;
        for (size_t c = 0; c < table->column_count; c++)
            at = put_cell(sheet, at, &table->columns[c], &table->cells[row * table->column_count + c]);
        sheet->row++;
    }
    for (size_t i = 0; i < table->note_count; i++, sheet->row++)
        put_text(sheet, 0, table->notes[i], NULL);
    sheet->row++;
}

static void put_summary(struct book *book, const struct ae_report *report, const struct ae_report_header *header)
{
    struct sheet sheet = add_sheet(book, "summary");
    char text[128], time[32];
    if (book->failed)
        return;
    worksheet_set_column(sheet.worksheet, 0, 0, 28, NULL);
    ae_print_time(header->generated_ns, time);
    snprintf(text, sizeof text, "AccelEval %s, %s", header->tool_version ? header->tool_version : "", time);
    put_text(&sheet, 0, text, book->title);
    sheet.row++;
    put_text(&sheet, 0, report->summary ? report->summary : "", NULL);
    sheet.row++;
    put_text(&sheet, 0, header->options_json ? header->options_json : "", NULL);
    sheet.row += 2;
    for (size_t i = 0; i < report->table_count; i++)
        if (strcmp(report->tables[i].id, "leaderboard") == 0 || strcmp(report->tables[i].id, "yardsticks") == 0)
            put_table(&sheet, &report->tables[i]);
}

/* Name, unit and meaning of every column, once for each kind of table. */
static void put_definitions(struct book *book, const struct ae_report *report)
{
    struct sheet sheet = add_sheet(book, "definitions");
    if (book->failed)
        return;
    worksheet_set_column(sheet.worksheet, 0, 2, 18, NULL);
    static const char *const heads[] = {"table", "column", "unit", "meaning"};
    for (lxw_col_t i = 0; i < 4; i++)
        put_text(&sheet, i, heads[i], book->bold);
    for (size_t i = 0; i < report->table_count; i++) {
        const struct ae_table *table = &report->tables[i];
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= strcmp(report->tables[k].id, table->id) == 0;
        for (size_t c = 0; !seen && c < table->column_count; c++) {
            if (!table->columns[c].description[0])
                continue;
            sheet.row++;
            put_text(&sheet, 0, table->id, NULL);
            put_text(&sheet, 1, table->columns[c].name, NULL);
            put_text(&sheet, 2, table->columns[c].unit, NULL);
            put_text(&sheet, 3, table->columns[c].description, NULL);
        }
    }
    static const char *const legend[] = {
        "an interval \"95%\" is one of confidence, \"range\" the smallest and largest of too few values"};
    sheet.row += 2;
    put_text(&sheet, 0, legend[0], NULL);
}

/* What shows one size on that size's sheet; the rest on sheets named after it. */
static void put_tables(struct book *book, const struct ae_report *report)
{
    for (size_t i = 0; i < report->table_count && !book->failed; i++) {
        const struct ae_table *table = &report->tables[i];
        const char *name = *table->size ? table->size : table->id;
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= strcmp(*report->tables[k].size ? report->tables[k].size : report->tables[k].id, name) == 0;
        if (seen)
            continue;
        struct sheet sheet = add_sheet(book, name);
        if (book->failed)
            return;
        worksheet_set_column(sheet.worksheet, 0, 0, 28, NULL);
        for (size_t k = i; k < report->table_count && !book->failed; k++)
            if (strcmp(*report->tables[k].size ? report->tables[k].size : report->tables[k].id, name) == 0)
                put_table(&sheet, &report->tables[k]);
    }
}

static lxw_format *add_format(struct book *book, const char *number_format, bool bold, double size)
{
    lxw_format *format = workbook_add_format(book->workbook);
    if (!format) {
        book->failed = true;
        return NULL;
    }
    if (number_format)
        format_set_num_format(format, number_format);
    if (bold)
        format_set_bold(format);
    if (size > 0)
        format_set_font_size(format, size);
    return format;
}

static int write_book(const struct ae_report *report, const struct ae_report_header *header, const char *path,
                      struct ae_error *err)
{
    lxw_workbook_options options = {.constant_memory = LXW_TRUE};
    struct book book = {.workbook = workbook_new_opt(path, &options)};
    if (!book.workbook)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the workbook");
    book.bold = add_format(&book, NULL, true, 0);
    book.title = add_format(&book, NULL, true, 13);
    book.speedup = add_format(&book, "0.00\"x\"", false, 0);
    book.share = add_format(&book, "0.0%", false, 0);
    book.number = add_format(&book, "0.000", false, 0);
    book.fail = add_format(&book, NULL, false, 0);
    if (book.fail)
        format_set_font_color(book.fail, LXW_COLOR_RED);
    put_summary(&book, report, header);
    put_definitions(&book, report);
    put_tables(&book, report);
    const lxw_error rc = workbook_close(book.workbook);
    if (rc != LXW_NO_ERROR)
        return ae_error_set(err, AE_E_IO, "cannot write the workbook: %s", lxw_strerror(rc));
    return book.failed ? ae_error_set(err, AE_E_NOMEM, "no memory for the workbook") : AE_OK;
}

/* The library writes to a path only: a scratch file, copied to the stream. */
int ae_print_xlsx(const struct ae_report *report, const struct ae_report_header *header, FILE *out,
                  struct ae_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[4096], buffer[65536];
    snprintf(path, sizeof path, "%s/ae-xlsx-XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot make a scratch file in $TMPDIR or /tmp");
    int r = write_book(report, header, path, err);
    FILE *in = r == AE_OK ? fopen(path, "re") : NULL;
    if (r == AE_OK && !in)
        r = ae_error_errno(err, AE_E_IO, errno, "cannot read the workbook back");
    for (size_t n; in && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        (void)fwrite(buffer, 1, n, out);
    if (in && ferror(in))
        r = ae_error_set(err, AE_E_IO, "cannot read the workbook back");
    if (in)
        (void)fclose(in);
    (void)close(fd);
    (void)unlink(path);
    return r;
}

#else

int ae_print_xlsx(const struct ae_report *report, const struct ae_report_header *header, FILE *out,
                  struct ae_error *err)
{
    (void)report;
    (void)header;
    (void)out;
    return ae_error_set(err, AE_E_ENV,
                        "this program was built without libxlsxwriter and writes no xlsx; --format csv opens in "
                        "spreadsheets too");
}

#endif
