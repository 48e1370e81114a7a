/* Boards as scores: what the sections that show metrics share. For src/report. */
#ifndef AE_REPORT_SCORES_H
#define AE_REPORT_SCORES_H

#include "report/sections.h"

#define AE_ALL_DOMAINS (-1)

/* The best speedup of each task among the entrants shown: [2 * task] of the secret bank, [2 * task
 * + 1] from given seeds; NaN: none. The caller frees it; NULL: no memory. */
double *ae_board_best(const struct ae_board *board);

/* One score for each task of the domain (or AE_ALL_DOMAINS) that counts for the entrant; ret: room
 * for task_count. Returns their number; ret_absent (may be NULL): those of them that were not
 * measured. */
size_t ae_board_scores(const struct ae_board *board, const double *best, size_t who, int domain,
                       struct ae_score *ret, size_t *ret_absent);

/* The geometric mean over the passed tasks of the domain of the speedup over `bases` (by task; or
 * the reference), with the interval that the noise of the measurement gives it. */
struct ae_cell ae_builder_gm(struct ae_builder *b, const struct ae_board *board, size_t who, int domain,
                             const struct ae_entry *const *bases, bool over_reference);

#endif
