#include "base/text.h"
#include "report/print.h"
#include "report/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The best of the entrants shown against a hand-written program, over the tasks that have one. */
struct standing {
    const char *name;
    size_t tasks, passed, reached;
    struct ae_cell ratio;
};

/* The highest speedup over `base` among the entrants shown, base itself and given seeds apart; NaN:
 * nobody passes. */
static double best_over(const struct ae_board *board, size_t task, const struct ae_entry *base)
{
    double best = NAN;
    for (size_t w = 0; w < board->who_count; w++) {
        const struct ae_entry *e = ae_board_slot(board, task, w)->picked;
        if (!e || e->verdict != AE_PASS || e->entrant == base->entrant || board->who[w].seeded ||
            strcmp(ae_entry_entrant(board->collection, e), "reference") == 0) /* what is to be beaten does not compete */
            continue;
        const double s = ae_entry_speedup(e, base);
        if (s > best || isnan(best))
            best = s;
    }
    return best;
}

/* False where memory ran out; without an entrant to measure by it, passed is 0. */
static bool measure(const struct ae_board *board, const char *name, const struct ae_entry *const *bases,
                    struct standing *ret)
{
    struct ae_score *scores = malloc((board->task_count + 1) * sizeof *scores);
    *ret = (struct standing){.name = name};
    for (size_t t = 0; scores && t < board->task_count; t++) {
        if (!bases[t])
            continue;
        ret->tasks++;
        const double s = best_over(board, t, bases[t]);
        if (isnan(s))
            continue;
        scores[ret->passed++] = (struct ae_score){true, s, NAN, board->collection->domains[board->tasks[t]]};
        ret->reached += s >= 1;
    }
    if (scores)
        ret->ratio = ae_cell_speedup(ae_gm(scores, ret->passed),
                                     ae_gm_tasks_interval(scores, ret->passed, AE_BOOTSTRAP_SEED));
    const bool fine = scores != NULL;
    free(scores);
    return fine;
}

static void add_row(struct ae_builder *b, const struct ae_board *board, const struct standing *s)
{
    static const struct ae_column columns[] = {
        {.name = "yardstick", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "tasks", .description = "that the yardstick passes", .kind = AE_CELL_COUNT},
        {.name = "passed",
         .description = "of those, passed by an entrant shown",
         .kind = AE_CELL_FRACTION,
         .key = true},
        {.name = "ratio",
         .description = "speed of the best entrant of each task over the yardstick's, geometric "
                        "mean; [95 % by the "
                        "choice of tasks], {range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "reached",
         .description = "tasks where the best entrant is at least as fast",
         .kind = AE_CELL_FRACTION},
        {.name = "environment", .kind = AE_CELL_TEXT},
    };
    if (b->yardsticks == SIZE_MAX)
        b->yardsticks =
            ae_report_table(b->report, "yardsticks", "The best entrant of each task against a yardstick", columns,
                            sizeof columns / sizeof *columns);
    struct ae_cell *row = ae_report_row(b->report, b->yardsticks);
    if (!row)
        return;
    row[0] = ae_cell_text(ae_report_text(b->report, s->name));
    row[1] = ae_cell_text(ae_size_name(board->entries->size));
    row[2] = ae_cell_count((double)s->tasks);
    row[3] = ae_cell_fraction((double)s->passed, (double)s->tasks);
    row[4] = s->ratio;
    row[5] = ae_cell_fraction((double)s->reached, (double)s->tasks);
    row[6] = ae_cell_text(ae_builder_environment(b, board->entries->environment));
}

static void add_sentence(struct ae_builder *b, const struct ae_board *board, const struct standing *s)
{
    char text[AE_CELL_TEXT_MAX];
    struct ae_report *r = b->report;
    const char *where = b->collection->environments.count > 1
                            ? ae_report_textf(r, " on %s", ae_builder_environment(b, board->entries->environment))
                            : "";
    r->summary = ae_report_textf(
        r,
        "%s%sAt %s%s, of the %zu %s with a program `%s` an entrant "
        "passes %zu, and the best entrant of each reaches "
        "%s its speed.",
        r->summary ? r->summary : "", r->summary ? " " : "", ae_size_name(board->entries->size), where, s->tasks,
        ae_text_plural((int64_t)s->tasks, "task", "tasks"), s->name, s->passed, ae_cell_print(&s->ratio, text));
}

bool ae_section_yardsticks(struct ae_builder *b, const struct ae_board *board)
{
    const struct {
        const char *name;
        const struct ae_entry *const *bases;
    } all[] = {{board->baseline_name, board->baseline}, {"tuned", board->tuned}, {"parallel", board->parallel}};
    bool said = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct standing s;
        if (!all[i].name || (i > 0 && board->baseline_name && strcmp(all[i].name, board->baseline_name) == 0))
            continue;
        if (!measure(board, all[i].name, all[i].bases, &s))
            return false;
        if (s.passed == 0)
            continue;
        add_row(b, board, &s);
        if (!said && !b->report->failed)
            add_sentence(b, board, &s);
        said = true;
    }
    return !b->report->failed;
}
