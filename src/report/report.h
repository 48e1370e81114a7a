/* Reports: rows are built once from a store, as tables of typed cells whose columns carry name, unit and
 * description; the printers know tables only, so that terminal, Markdown, CSV and JSON agree by construction.
 * Strings in cells are raw (hostile); each printer escapes for its format. */
#ifndef AE_REPORT_REPORT_H
#define AE_REPORT_REPORT_H

#include "report/table.h"
#include "store/store.h"

#include <stdio.h>

enum ae_format {
    AE_FORMAT_TERM,
    AE_FORMAT_MD,
    AE_FORMAT_CSV,
    AE_FORMAT_JSON,
    AE_FORMAT_LATEX,
    AE_FORMAT_SVG,
    AE_FORMAT_HTML,
    AE_FORMAT_XLSX,
    AE_FORMAT_COUNT
};

extern const char *const ae_format_names[AE_FORMAT_COUNT + 1]; /* "term", "md", ...; ended by NULL */

/* Which of an entrant's samples of a task stands for it. */
enum ae_pick {
    AE_PICK_FIRST, /* the lowest sample number: no choice after the fact */
    AE_PICK_BEST,  /* the fastest right one; the title says so */
};

#define AE_REPORT_LEADERBOARD (1u << 0) /* per environment and size */
#define AE_REPORT_MATRIX      (1u << 1) /* task x entrant: speedup or verdict */
#define AE_REPORT_DETAIL      (1u << 2) /* one row a measurement */
#define AE_REPORT_NOT_RUN     (1u << 3) /* what could not run, and why; always there where there is any */
#define AE_REPORT_DOMAINS     (1u << 4) /* the leaderboard's main columns by domain */
#define AE_REPORT_FLOORS      (1u << 7) /* time over the call floor, task by task */
#define AE_REPORT_YARDSTICKS  (1u << 5) /* the best entrant of each task against hand-written programs */
#define AE_REPORT_MACHINES    (1u << 6) /* the same entrants on several machines; by task where detail is wanted */
#define AE_REPORT_PHASES      (1u << 8) /* where the wait goes: one row a measurement that was profiled */
#define AE_REPORT_STRATEGIES  (1u << 9) /* which programs for a device show which, and what goes with speed; with a search only */
#define AE_REPORT_PAGE_ROWS 10000 /* of a table, more than which no browser shows with pleasure */
#define AE_REPORT_ALL         1023u

/* --- strategies: what a search for them says of programs. The caller gives the search, so that reports need no grammar. */

struct ae_report_strategy {
    const char *id, *name, *definition; /* "M03", "shared-memory tiling", a sentence */
};

#define AE_REPORT_STRATEGIES_MAX 64
#define AE_REPORT_FINDING_LINES  16

/* One strategy that is present in one program. */
struct ae_report_finding {
    int strategy; /* number in the search's list */
    double confidence;
    char sentence[256]; /* hostile: it quotes names */
    struct ae_report_lines {
        int first, last; /* from 1, both included */
    } lines[AE_REPORT_FINDING_LINES];
    int line_count;
};

struct ae_report_program {
    const char *task, *source; /* given */
    size_t source_size;
    bool looked;         /* the rest is the search's answer; false: it could not be looked at */
    uint64_t has, known; /* bit k: it has strategy k; that is known */
    struct ae_report_finding *findings; /* malloc'ed by the search, freed by the report; of those in `has` */
    size_t finding_count;
};

struct ae_report_search {
    const struct ae_report_strategy *strategies;
    int count;
    /* Fills in the answers; a program that cannot be read is no error. */
    int (*look)(void *data, struct ae_report_program *programs, size_t count, struct ae_error *err);
    void *data;
};

/* Bytes of the sources that one report has looked at, right programs first: a second or two of searching. A report of more
 * than AE_REPORT_PAGE_ROWS measurements has no such time. */
#define AE_REPORT_SEARCH_BYTES       ((size_t)8 << 20)
#define AE_REPORT_SEARCH_BYTES_LARGE ((size_t)1 << 20)

/* N, the tasks of a board, are those that any displayed entrant was measured on. A task that an entrant was not
 * measured on counts as failed; one that could not be judged (not_run, host_error, measured at an older version of
 * the task) does not count for that entrant and is listed with the reason. Nothing is averaged over environments.
 */
struct ae_report_options {
    struct ae_measurement_filter filter; /* by run: of that run; else set `latest` */
    const char *const *entrants;         /* only these, NULL-terminated; NULL: all. Yardsticks are read besides. */
    const char *baseline;                /* NULL or "reference": the single-thread reference; else any entrant */
    enum ae_pick pick;
    size_t detail_max; /* with more measurements than these the detail is left out, and says so; 0: never */
    unsigned sections; /* mask of AE_REPORT_*; 0: leaderboard, yardsticks, matrix, machines, not run */
    const struct ae_report_search *search; /* NULL, or without `look`: none; lives as long as the report */
};

/* What machine formats carry besides the tables. */
struct ae_report_header {
    const char *kind; /* "report", "compare", "history" */
    const char *tool_version;
    int64_t generated_ns;     /* CLOCK_REALTIME */
    const char *options_json; /* effective options, a JSON object; NULL: {} */
};

struct ae_print_options {
    enum ae_format format;
    bool colour; /* AE_FORMAT_TERM only; the caller knows whether the stream is a terminal */
    int width;   /* columns of the terminal; 0: do not cut */
};

/* Builds the tables; ret is initialised here, released with ae_report_release(). Without any measurement:
 * AE_E_NOTFOUND with what to do next. An unknown baseline: AE_E_USAGE with the nearest name. */
int ae_report_build(struct ae_store *store, const struct ae_report_options *options, struct ae_report *ret,
                    struct ae_error *err);

/* The timed trials that its times and speedups are made of: right, undisturbed ones; none where the verdict is no pass.
 * Returns their number. */
size_t ae_measurement_timings(const struct ae_measurement *m, struct ae_timing ret[AE_TIMINGS_MAX]);

/* One side of a comparison: an entrant (of a run, or the newest results where run is 0), or a whole run (entrant
 * NULL: entrants are matched by name). */
struct ae_side {
    const char *entrant;
    int64_t run;
};

/* Task by task: who passes, t_B / t_A with its interval, faster / slower / same / unclear, and one sentence. Only
 * equal environments are compared. */
int ae_compare_build(struct ae_store *store, const struct ae_side *a, const struct ae_side *b,
                     const struct ae_measurement_filter *filter, struct ae_report *ret, struct ae_error *err);

/* One entrant over all its runs, task by task: what changed against the run before, regressions against the noise of
 * the measurement and of runs among each other. AE_E_NOTFOUND where nothing was measured of it. */
int ae_history_build(struct ae_store *store, const char *entrant, const struct ae_measurement_filter *filter,
                     struct ae_report *ret, struct ae_error *err);

/* Prints all tables. AE_E_IO where the stream fails (a full disk; a closed pipe). */
int ae_report_print(const struct ae_report *report, const struct ae_report_header *header,
                    const struct ae_print_options *options, FILE *out, struct ae_error *err);

/* The report as one HTML file that needs no other and asks for none: the tables, charts where the program was built
 * with the chart library, and with a store (may be NULL) a section for each submission that `options` chose. */
int ae_report_print_html(struct ae_store *store, const struct ae_report *report,
                         const struct ae_report_options *options, const struct ae_report_header *header, FILE *out,
                         struct ae_error *err);

#endif
