/* One board: the measurements of one environment and size as a grid of tasks and entrants. For src/report. */
#ifndef AE_REPORT_BOARD_H
#define AE_REPORT_BOARD_H

#include "report/collect.h"

struct ae_who { /* a column of the matrix, a row of the leaderboard */
    int entrant;
    enum ae_target target;
    bool seeded;
    const char *label; /* in the report's memory */
};

struct ae_slot {                  /* one entrant on one task */
    const struct ae_entry *first; /* of `count` entries one after the other; NULL: not measured */
    size_t count;
    const struct ae_entry *picked; /* the one that stands for the entrant; NULL: none was judged */
    double s;                      /* its speedup over the baseline; NaN: none, or not known */
};

struct ae_board {
    const struct ae_collection *collection;
    const struct ae_entry *entries; /* hidden ones among them */
    size_t count;
    int *tasks; /* numbers of the displayed ones */
    size_t task_count;
    struct ae_who *who;
    size_t who_count;
    struct ae_slot *slots; /* task after task */
    /* by task: the entry of that name; NULL: there is none that passed */
    const struct ae_entry **baseline, **parallel, **tuned;
    const char *baseline_name; /* NULL: the reference */
};

/* The board that begins at entry `from`; *ret_next is where the next one begins. False where memory ran out.
 * Without any displayed entry who_count is 0. */
bool ae_board_make(struct ae_board *board, struct ae_report *report, const struct ae_collection *collection,
                   size_t from, const struct ae_report_options *options, size_t *ret_next);
void ae_board_release(struct ae_board *board);

struct ae_slot *ae_board_slot(const struct ae_board *board, size_t task, size_t who);
/* Samples of a slot that were judged, and those of them that passed. */
void ae_slot_samples(const struct ae_slot *slot, size_t *ret_judged, size_t *ret_passed);
/* Does the task count for this entrant? Not where it was tried and could not be judged. */
bool ae_slot_counts(const struct ae_slot *slot);
/* What the matrix shows: the verdict, "not_measured" or "stale". */
const char *ae_slot_outcome(const struct ae_slot *slot);

#endif
