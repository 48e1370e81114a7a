#include "report/scores.h"

#include <math.h>
#include <stdlib.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

static void domain_row(struct ae_builder *b, const struct ae_board *board, size_t table, size_t who, int domain,
                       const struct ae_score *scores, size_t count)
{
    size_t passed = 0;
    for (size_t i = 0; i < count; i++)
        passed += scores[i].passed;
    struct ae_cell *row = ae_report_row(b->report, table);
    if (!row)
        return;
    row[0] = ae_cell_text(domain < AE_DOMAIN_COUNT ? ae_domain_name((enum ae_domain)domain) : "unknown");
    row[1] = ae_cell_text(board->who[who].label);
    row[2] = ae_cell_text(ae_target_name(board->who[who].target));
    row[3] = ae_cell_fraction((double)passed, (double)count);
    row[4] = ae_builder_gm(b, board, who, domain, board->baseline, !board->baseline_name);
    row[5] =
        ae_cell_speedup(ae_user_gm(scores, count), ae_user_gm_tasks_interval(scores, count, AE_BOOTSTRAP_SEED));
    row[6] = ae_cell_number(ae_par_gm(scores, count), no_interval);
}

bool ae_section_domains(struct ae_builder *b, const struct ae_board *board)
{
    static const struct ae_column columns[] = {
        {.name = "domain", .kind = AE_CELL_TEXT, .key = true},
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "target", .kind = AE_CELL_TEXT},
        {.name = "coverage",
         .description = "tasks passed, of those of the domain that could be judged",
         .kind = AE_CELL_FRACTION,
         .key = true},
        {.name = "GM",
         .description = "geometric mean of the speedup over the passed tasks; [95 % by measurement "
                        "noise], {range of "
                        "too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "user_GM",
         .description = "a failed or slower task counted as 1; [95 % by the choice of tasks], "
                        "{range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "PAR_GM",
         .description = "geometric mean over the passed tasks of the speedup over the best one shown here",
         .kind = AE_CELL_NUMBER},
    };
    double *best = ae_board_best(board);
    struct ae_score *scores = malloc((board->task_count + 1) * sizeof *scores);
    const bool fine = best && scores;
    const size_t table = ae_report_table(
        b->report, "domains",
        ae_report_textf(b->report, "Domains, %s: speedup over %s; %s", ae_size_name(board->entries->size),
                        ae_builder_baseline(b, board), ae_builder_environment(b, board->entries->environment)),
        columns, sizeof columns / sizeof *columns);
    ae_builder_mark(b, board, table);
    for (int domain = 0; fine && domain <= AE_DOMAIN_COUNT; domain++)
        for (size_t w = 0; w < board->who_count && !b->report->failed; w++) {
            const size_t count = ae_board_scores(board, best, w, domain, scores, NULL);
            if (count > 0)
                domain_row(b, board, table, w, domain, scores, count);
        }
    free(best);
    free(scores);
    return fine && !b->report->failed;
}
