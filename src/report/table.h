/* Tables of typed cells: what every report, comparison and list is made of before it is printed. */
#ifndef AE_REPORT_TABLE_H
#define AE_REPORT_TABLE_H

#include "base/error.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ae_cell_kind {
    AE_CELL_EMPTY,
    AE_CELL_TEXT,
    AE_CELL_COUNT,    /* a whole number */
    AE_CELL_NUMBER,   /* value, with its interval where there is one */
    AE_CELL_SHARE,    /* 0..1, shown in percent */
    AE_CELL_SPEEDUP,  /* value "12.3x", with its interval */
    AE_CELL_INTERVAL, /* an interval alone */
    AE_CELL_FRACTION, /* low of high: "38/42"; value: the share */
    AE_CELL_OUTCOME,  /* text: the verdict; value: the speedup where it passed (NaN: not known) */
};

struct ae_cell {
    enum ae_cell_kind kind;
    enum ae_interval_kind interval;
    double value;     /* NaN: not known, printed as "-" or null */
    double low, high; /* where interval is not AE_INTERVAL_NONE, or of a fraction */
    const char *text; /* owned by the report */
};

struct ae_column {
    const char *name;        /* "GM"; the key in CSV and JSON too; made unique within the table */
    const char *unit;        /* "ms"; "" where there is none */
    const char *description; /* one line, printed as a legend; "" where the name says it */
    enum ae_cell_kind kind;  /* alignment, and the CSV columns: some kinds take several */
    bool interval;           /* cells may carry one: CSV gets NAME_low and NAME_high too */
    bool key;   /* names the row, or must stand beside its numbers: repeated where a terminal is too narrow */
    bool extra; /* for machines: left out of terminal and Markdown */
    bool heat;  /* cells are shares, which a page may colour */
};

struct ae_arena;

struct ae_table {
    const char *id;    /* "leaderboard", "matrix": for machines */
    const char *title; /* for people */
    const char *size, *environment; /* of the board that it shows, the latter the start of an id; "": of none or many */
    struct ae_column *columns;
    size_t column_count;
    struct ae_cell *cells; /* row after row */
    size_t row_count, row_room;
    const char **notes; /* sentences below the table */
    size_t note_count, note_room;
};

struct ae_report {
    struct ae_table *tables;
    size_t table_count, table_room;
    const char *summary;    /* one sentence, or NULL */
    struct ae_arena *arena; /* every string of the report */
    struct ae_searched *searched; /* what was found in its programs; NULL: nobody looked */
    bool failed;            /* memory ran out while building: ae_report_check() says so */
};

void ae_report_init(struct ae_report *report); /* a failure shows in ae_report_check() */
void ae_report_release(struct ae_report *report);
/* AE_E_NOMEM where any of the calls below ran out of memory; they may be called without looking. */
int ae_report_check(const struct ae_report *report, struct ae_error *err);

/* A copy that lives as long as the report; "" on lack of memory. */
const char *ae_report_text(struct ae_report *report, const char *text);
const char *ae_report_textf(struct ae_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a table and returns its index; id, title and the columns' strings are copied. */
size_t ae_report_table(struct ae_report *report, const char *id, const char *title, const struct ae_column *columns,
                       size_t column_count);
/* Says which board a table shows; both are copied. */
void ae_report_table_board(struct ae_report *report, size_t table, const char *size, const char *environment);
/* Appends a row of empty cells to fill in; valid until the next call. NULL where memory ran out. */
struct ae_cell *ae_report_row(struct ae_report *report, size_t table);
void ae_report_note(struct ae_report *report, size_t table, const char *text);

/* Cells. Text is not copied: pass ae_report_text() or a constant. */
struct ae_cell ae_cell_text(const char *text);
struct ae_cell ae_cell_count(double value);
struct ae_cell ae_cell_number(double value, struct ae_interval interval);
struct ae_cell ae_cell_share(double value, struct ae_interval interval);
struct ae_cell ae_cell_speedup(double value, struct ae_interval interval);
struct ae_cell ae_cell_interval(struct ae_interval interval);
struct ae_cell ae_cell_fraction(double part, double whole);
struct ae_cell ae_cell_outcome(const char *verdict, double speedup);

#endif
