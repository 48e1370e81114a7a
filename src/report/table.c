#include "report/table.h"

#include "report/arena.h"
#include "report/search.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ae_report_init(struct ae_report *report)
{
    *report = (struct ae_report){.arena = calloc(1, sizeof(struct ae_arena))};
    report->failed = !report->arena;
}

void ae_report_release(struct ae_report *report)
{
    for (size_t i = 0; i < report->table_count; i++) {
        free(report->tables[i].cells);
        free(report->tables[i].notes);
    }
    free(report->tables);
    if (report->arena)
        ae_arena_release(report->arena);
    free(report->arena);
    ae_searched_release(report->searched);
    *report = (struct ae_report){0};
}

int ae_report_check(const struct ae_report *report, struct ae_error *err)
{
    return report->failed
               ? ae_error_set(err, AE_E_NOMEM, "no memory for the report; ask for fewer sizes or entrants")
               : AE_OK;
}

/* The array with room for `needed` elements; NULL with report->failed set where memory ran out, the array as it
 * was. */
static void *reserve(struct ae_report *report, void *array, size_t *room, size_t needed, size_t element)
{
    if (needed <= *room)
        return array;
    const size_t more = needed > 2 * *room ? needed : 2 * *room;
    void *grown = more < SIZE_MAX / element ? realloc(array, more * element) : NULL;
    if (grown)
        *room = more;
    else
        report->failed = true;
    return grown;
}

const char *ae_report_text(struct ae_report *report, const char *text)
{
    if (!*text)
        return "";
    const char *copy = report->arena ? ae_arena_text(report->arena, text) : NULL;
    report->failed |= !copy;
    return copy ? copy : "";
}

const char *ae_report_textf(struct ae_report *report, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) {
        report->failed = true;
        return "";
    }
    const char *copy = ae_report_text(report, text);
    free(text);
    return copy;
}

static bool taken(const struct ae_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return true;
    return false;
}

size_t ae_report_table(struct ae_report *report, const char *id, const char *title, const struct ae_column *columns,
                       size_t column_count)
{
    struct ae_table *tables =
        reserve(report, report->tables, &report->table_room, report->table_count + 1, sizeof *tables);
    if (!tables)
        return SIZE_MAX;
    report->tables = tables;
    struct ae_column *copy = report->arena ? ae_arena_alloc(report->arena, column_count * sizeof *copy) : NULL;
    if (!copy) {
        report->failed = true;
        return SIZE_MAX;
    }
    for (size_t i = 0; i < column_count; i++) {
        copy[i] = columns[i];
        copy[i].name = ae_report_text(report, columns[i].name);
        for (int k = 2; taken(copy, i, copy[i].name) && !report->failed; k++) /* an entrant may be called "task" */
            copy[i].name = ae_report_textf(report, "%s_%d", columns[i].name, k);
        copy[i].unit = ae_report_text(report, columns[i].unit ? columns[i].unit : "");
        copy[i].description = ae_report_text(report, columns[i].description ? columns[i].description : "");
    }
    report->tables[report->table_count] = (struct ae_table){.id = ae_report_text(report, id),
                                                            .title = ae_report_text(report, title),
                                                            .size = "",
                                                            .environment = "",
                                                            .columns = copy,
                                                            .column_count = column_count};
    return report->table_count++;
}

void ae_report_table_board(struct ae_report *report, size_t table, const char *size, const char *environment)
{
    if (report->failed)
        return;
    report->tables[table].size = ae_report_text(report, size);
    report->tables[table].environment = ae_report_text(report, environment);
}

struct ae_cell *ae_report_row(struct ae_report *report, size_t table)
{
    if (report->failed)
        return NULL;
    struct ae_table *t = &report->tables[table];
    /* room counts rows */
    struct ae_cell *cells =
        reserve(report, t->cells, &t->row_room, t->row_count + 1, t->column_count * sizeof *cells);
    if (!cells)
        return NULL;
    t->cells = cells;
    struct ae_cell *row = t->cells + t->row_count++ * t->column_count;
    memset(row, 0, t->column_count * sizeof *row); /* all AE_CELL_EMPTY */
    return row;
}

void ae_report_note(struct ae_report *report, size_t table, const char *text)
{
    const char *copy = ae_report_text(report, text);
    if (report->failed)
        return;
    struct ae_table *t = &report->tables[table];
    const char **notes = reserve(report, t->notes, &t->note_room, t->note_count + 1, sizeof *notes);
    if (!notes)
        return;
    t->notes = notes;
    t->notes[t->note_count++] = copy;
}

/* --- cells ------------------------------------------------------------------------------------------------ */

struct ae_cell ae_cell_text(const char *text)
{
    return (struct ae_cell){.kind = AE_CELL_TEXT, .text = text};
}

struct ae_cell ae_cell_count(double value)
{
    return (struct ae_cell){.kind = AE_CELL_COUNT, .value = value};
}

static struct ae_cell with_interval(enum ae_cell_kind kind, double value, struct ae_interval interval)
{
    return (struct ae_cell){
        .kind = kind, .interval = interval.kind, .value = value, .low = interval.low, .high = interval.high};
}

struct ae_cell ae_cell_number(double value, struct ae_interval interval)
{
    return with_interval(AE_CELL_NUMBER, value, interval);
}

struct ae_cell ae_cell_share(double value, struct ae_interval interval)
{
    return with_interval(AE_CELL_SHARE, value, interval);
}

struct ae_cell ae_cell_speedup(double value, struct ae_interval interval)
{
    return with_interval(AE_CELL_SPEEDUP, value, interval);
}

struct ae_cell ae_cell_interval(struct ae_interval interval)
{
    return with_interval(AE_CELL_INTERVAL, NAN, interval);
}

struct ae_cell ae_cell_fraction(double part, double whole)
{
    return (struct ae_cell){
        .kind = AE_CELL_FRACTION, .value = whole > 0 ? part / whole : (double)NAN, .low = part, .high = whole};
}

struct ae_cell ae_cell_outcome(const char *verdict, double speedup)
{
    return (struct ae_cell){.kind = AE_CELL_OUTCOME, .text = verdict, .value = speedup};
}
