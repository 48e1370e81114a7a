/* What the files that write a report's tables share. For src/report. */
#ifndef AE_REPORT_SECTIONS_H
#define AE_REPORT_SECTIONS_H

#include "report/board.h"

/* One walk over the boards: where the tables are being written. */
struct ae_builder {
    struct ae_report *report;
    const struct ae_report_options *options;
    const struct ae_collection *collection;
    size_t detail, not_run, yardsticks, phases, strategies; /* tables that all boards share; SIZE_MAX: none yet */
};

/* Each appends the rows of one board; false where memory ran out. */
bool ae_section_leaderboard(struct ae_builder *builder, const struct ae_board *board);
bool ae_section_domains(struct ae_builder *builder, const struct ae_board *board);
/* One more sentence of the summary, too. */
bool ae_section_yardsticks(struct ae_builder *builder, const struct ae_board *board);
/* Of all boards at once: nothing where there is one environment only. by_task: one row a task and entrant besides. */
bool ae_section_machines(struct ae_builder *builder, bool by_task);
/* Nothing where no call floor is known. */
bool ae_section_floors(struct ae_builder *builder, const struct ae_board *board);
bool ae_section_matrix(struct ae_builder *builder, const struct ae_board *board);
bool ae_section_detail(struct ae_builder *builder, const struct ae_board *board);
/* Nothing where no measurement was profiled. */
bool ae_section_phases(struct ae_builder *builder, const struct ae_board *board);
/* Of all boards at once, then of one; only where the report's programs were searched. */
bool ae_section_strategies(struct ae_builder *builder);
bool ae_section_lifts(struct ae_builder *builder, const struct ae_board *board);
bool ae_section_not_run(struct ae_builder *builder, const struct ae_board *board);

/* The call floor over the time of the one that stands for the entrant; NaN: not known, or not passed. */
double ae_slot_floor_share(const struct ae_slot *slot);

/* For titles: name of the machine and start of its id; "parallel on 16 cores". */
const char *ae_builder_environment(struct ae_builder *builder, int environment);
const char *ae_builder_baseline(struct ae_builder *builder, const struct ae_board *board);
/* Says for machines which board the table shows. */
void ae_builder_mark(struct ae_builder *builder, const struct ae_board *board, size_t table);
/* Says below the table where the baseline has no time. */
void ae_builder_note_baseline(struct ae_builder *builder, const struct ae_board *board, size_t table);

#endif
