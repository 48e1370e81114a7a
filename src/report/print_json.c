#include "report/print.h"

#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* "acceleval.KIND/1": raised when a reader of the old one would misread the new one. */
#define SCHEMA_VERSION 1
#define DUMP           (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY)

static json_t *number_of(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *with_interval(json_t *object, const struct ae_cell *cell)
{
    const bool none = cell->interval == AE_INTERVAL_NONE;
    json_object_set_new(object, "low", number_of(none ? (double)NAN : cell->low));
    json_object_set_new(object, "high", number_of(none ? (double)NAN : cell->high));
    json_object_set_new(object, "interval",
                        none ? json_null() : json_string(ae_interval_kind_name(cell->interval)));
    return object;
}

static json_t *value_of(const struct ae_column *column, const struct ae_cell *cell)
{
    json_t *object;
    switch (cell->kind) {
    case AE_CELL_EMPTY:
        return json_null();
    case AE_CELL_TEXT:
        return ae_json_text(cell->text);
    case AE_CELL_COUNT:
        return isfinite(cell->value) ? json_integer((json_int_t)cell->value) : json_null();
    case AE_CELL_NUMBER:
    case AE_CELL_SHARE:
    case AE_CELL_SPEEDUP:
        if (!column->interval)
            return number_of(cell->value);
        object = json_object();
        json_object_set_new(object, "value", number_of(cell->value));
        return with_interval(object, cell);
    case AE_CELL_INTERVAL:
        return with_interval(json_object(), cell);
    case AE_CELL_FRACTION:
        return json_pack("{s:o, s:o, s:o}", "value", number_of(cell->value), "part",
                         json_integer((json_int_t)cell->low), "whole", json_integer((json_int_t)cell->high));
    case AE_CELL_OUTCOME:
        return json_pack("{s:o, s:o}", "verdict", ae_json_text(cell->text), "speedup", number_of(cell->value));
    }
    return NULL;
}

static bool put(json_t *value, FILE *out)
{
    /* a failing stream is noticed by the caller; here only lack of memory counts */
    const bool there = value != NULL;
    if (there)
        (void)json_dumpf(value, out, DUMP);
    json_decref(value);
    return there;
}

static bool put_member(const char *before, const char *name, json_t *value, FILE *out)
{
    fprintf(out, "%s\"%s\":", before, name);
    return put(value, out);
}

static bool put_row(const struct ae_table *table, size_t row, FILE *out)
{
    json_t *object = json_object();
    bool fine = object != NULL;
    for (size_t c = 0; fine && c < table->column_count; c++) {
        json_t *name = ae_json_text(table->columns[c].name); /* entrants name columns */
        const struct ae_cell *cell = &table->cells[row * table->column_count + c];
        fine = name && json_object_set_new(object, json_string_value(name), value_of(&table->columns[c], cell)) == 0;
        json_decref(name);
    }
    return put(fine ? object : (json_decref(object), (json_t *)NULL), out);
}

static bool put_table(const struct ae_table *table, FILE *out)
{
    bool fine = put_member("{", "id", ae_json_text(table->id), out) &&
                put_member(",", "title", ae_json_text(table->title), out);
    if (*table->size)
        fine = fine && put_member(",", "size", ae_json_text(table->size), out) &&
               put_member(",", "environment", ae_json_text(table->environment), out);
    fputs(",\"notes\":[", out);
    for (size_t i = 0; fine && i < table->note_count; i++) {
        fputs(i ? "," : "", out);
        fine = put(ae_json_text(table->notes[i]), out);
    }
    fputs("],\"columns\":[", out);
    for (size_t c = 0; fine && c < table->column_count; c++) {
        const struct ae_column *column = &table->columns[c];
        fputs(c ? "," : "", out);
        fine = put(json_pack("{s:o, s:o, s:o}", "name", ae_json_text(column->name), "unit", ae_json_text(column->unit),
                             "description", ae_json_text(column->description)),
                   out);
    }
    fputs("],\"rows\":[", out);
    for (size_t row = 0; fine && row < table->row_count;
         row++) { /* one at a time: all together would not be small */
        fputs(row ? ",\n" : "\n", out);
        fine = put_row(table, row, out);
    }
    fputs("]}", out);
    return fine;
}

int ae_print_json(const struct ae_report *report, const struct ae_report_header *header, FILE *out)
{
    char schema[64], time[32];
    snprintf(schema, sizeof schema, "acceleval.%s/%d", header->kind ? header->kind : "report", SCHEMA_VERSION);
    ae_print_time(header->generated_ns, time);
    json_t *options = header->options_json ? json_loads(header->options_json, 0, NULL) : NULL;
    bool fine = put_member("{", "schema", json_string(schema), out) &&
                put_member(",", "tool_version", ae_json_text(header->tool_version ? header->tool_version : ""), out) &&
                put_member(",", "generated", json_string(time), out) &&
                put_member(",", "options", options ? options : json_object(), out) &&
                put_member(",", "summary", report->summary ? ae_json_text(report->summary) : json_null(), out);
    fputs(",\n\"tables\":[", out);
    for (size_t i = 0; fine && i < report->table_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        fine = put_table(&report->tables[i], out);
    }
    fputs("]}\n", out);
    return fine ? AE_OK : AE_E_NOMEM;
}
