#include "report/scores.h"

#include <math.h>
#include <stdlib.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

/* Two machines at one size, side by side. */
struct pair {
    struct ae_builder *b;
    struct ae_board a, other;
    size_t summary, tasks;
};

/* The row or column of the same entrant, or task, on the other board; SIZE_MAX: there is none. */
static size_t same_who(const struct pair *p, size_t who)
{
    const struct ae_who *wanted = &p->a.who[who];
    for (size_t w = 0; w < p->other.who_count; w++)
        if (p->other.who[w].entrant == wanted->entrant && p->other.who[w].target == wanted->target &&
            p->other.who[w].seeded == wanted->seeded)
            return w;
    return SIZE_MAX;
}

static size_t same_task(const struct pair *p, size_t task)
{
    for (size_t t = 0; t < p->other.task_count; t++)
        if (p->other.tasks[t] == p->a.tasks[task])
            return t;
    return SIZE_MAX;
}

static void add_task(struct pair *p, size_t task, size_t who, const struct ae_entry *a, const struct ae_entry *o)
{
    struct ae_cell *row = ae_report_row(p->b->report, p->tasks);
    if (!row)
        return;
    row[0] = ae_cell_text(ae_report_text(p->b->report, p->b->collection->tasks.words[p->a.tasks[task]]));
    row[1] = ae_cell_text(ae_size_name(a->size));
    row[2] = ae_cell_text(p->a.who[who].label);
    row[3] = ae_cell_text(ae_builder_environment(p->b, a->environment));
    row[4] = ae_cell_number(a->speed.median_ns * 1e-6, no_interval);
    row[5] = ae_cell_text(ae_builder_environment(p->b, o->environment));
    row[6] = ae_cell_number(o->speed.median_ns * 1e-6, no_interval);
    row[7] = ae_cell_speedup(a->speed.median_ns / o->speed.median_ns, no_interval);
}

/* How much sooner the same entrant ends on the other machine, over the tasks that it passes on both. */
static bool add_entrant(struct pair *p, size_t who, size_t other_who)
{
    struct ae_score *scores = malloc((p->a.task_count + 1) * sizeof *scores);
    size_t count = 0;
    for (size_t t = 0; scores && t < p->a.task_count; t++) {
        const size_t k = same_task(p, t);
        const struct ae_entry *a = ae_board_slot(&p->a, t, who)->picked,
                              *o = k == SIZE_MAX ? NULL : ae_board_slot(&p->other, k, other_who)->picked;
        if (!a || !o || a->verdict != AE_PASS || o->verdict != AE_PASS || a->task_version != o->task_version ||
            !(a->speed.median_ns > 0) || !(o->speed.median_ns > 0))
            continue;
        scores[count++] = (struct ae_score){true, a->speed.median_ns / o->speed.median_ns, NAN,
                                            p->a.collection->domains[p->a.tasks[t]]};
        if (p->tasks != SIZE_MAX)
            add_task(p, t, who, a, o);
    }
    struct ae_cell *row = scores && count > 0 ? ae_report_row(p->b->report, p->summary) : NULL;
    if (row) {
        row[0] = ae_cell_text(p->a.who[who].label);
        row[1] = ae_cell_text(ae_size_name(p->a.entries->size));
        row[2] = ae_cell_count((double)count);
        row[3] = ae_cell_text(ae_builder_environment(p->b, p->a.entries->environment));
        row[4] = ae_cell_text(ae_builder_environment(p->b, p->other.entries->environment));
        row[5] = ae_cell_speedup(ae_gm(scores, count), ae_gm_tasks_interval(scores, count, AE_BOOTSTRAP_SEED));
    }
    free(scores);
    return scores != NULL;
}

static double user_gm(const struct ae_board *board, const double *best, size_t who, struct ae_score *scores)
{
    return ae_user_gm(scores, ae_board_scores(board, best, who, AE_ALL_DOMAINS, scores, NULL));
}

/* Do the two machines put the entrants into the same order? */
static bool note_ranks(struct pair *p)
{
    const size_t tasks = (p->a.task_count > p->other.task_count ? p->a.task_count : p->other.task_count) + 1;
    double *best_a = ae_board_best(&p->a), *best_o = ae_board_best(&p->other);
    double *ranks = malloc(2 * (p->a.who_count + 1) * sizeof *ranks);
    struct ae_score *scores = malloc(tasks * sizeof *scores);
    const bool fine = best_a && best_o && ranks && scores;
    size_t count = 0;
    for (size_t w = 0; fine && w < p->a.who_count; w++) {
        const size_t o = same_who(p, w);
        if (o == SIZE_MAX)
            continue;
        ranks[count] = user_gm(&p->a, best_a, w, scores);
        ranks[p->a.who_count + 1 + count++] = user_gm(&p->other, best_o, o, scores);
    }
    const double r = fine ? ae_rank_correlation(ranks, ranks + p->a.who_count + 1, count) : NAN;
    if (!isnan(r))
        ae_report_note(
            p->b->report, p->summary,
            ae_report_textf(p->b->report,
                            "At %s the order of %zu entrants by user_GM on %s and on %s correlates with %.2f "
                            "(Spearman; 1: the same order).",
                            ae_size_name(p->a.entries->size), count,
                            ae_builder_environment(p->b, p->a.entries->environment),
                            ae_builder_environment(p->b, p->other.entries->environment), r));
    free(best_a);
    free(best_o);
    free(ranks);
    free(scores);
    return fine;
}

static void make_tables(struct pair *p, bool by_task)
{
    static const struct ae_column summary[] = {
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "tasks", .description = "passed on both machines", .kind = AE_CELL_COUNT},
        {.name = "A", .kind = AE_CELL_TEXT},
        {.name = "B", .kind = AE_CELL_TEXT},
        {.name = "B_over_A",
         .description =
             "median time on A over that on B, geometric mean over those tasks; [95 % by the choice of tasks], "
             "{range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true,
         .key = true},
    };
    static const struct ae_column tasks[] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "A", .kind = AE_CELL_TEXT},
        {.name = "A_median", .unit = "ms", .kind = AE_CELL_NUMBER},
        {.name = "B", .kind = AE_CELL_TEXT},
        {.name = "B_median", .unit = "ms", .kind = AE_CELL_NUMBER},
        {.name = "B_over_A", .kind = AE_CELL_SPEEDUP},
    };
    p->summary = ae_report_table(p->b->report, "machines", "The same entrants on several machines", summary,
                                 sizeof summary / sizeof *summary);
    p->tasks =
        by_task ? ae_report_table(p->b->report, "machines_tasks", "The same entrants on several machines, by task",
                                  tasks, sizeof tasks / sizeof *tasks)
                : SIZE_MAX;
}

static size_t board_end(const struct ae_collection *c, size_t from)
{
    size_t end = from;
    while (end < c->count && c->entries[end].environment == c->entries[from].environment &&
           c->entries[end].size == c->entries[from].size)
        end++;
    return end;
}

bool ae_section_machines(struct ae_builder *b, bool by_task)
{
    const struct ae_collection *c = b->collection;
    struct pair p = {.b = b};
    bool fine = true;
    if (c->environments.count < 2)
        return true;
    make_tables(&p, by_task);
    for (size_t at = 0; fine && !b->report->failed && at < c->count; at = board_end(c, at)) {
        /* each machine against the first that has this size */
        size_t first = 0, next;
        while (c->entries[first].size != c->entries[at].size)
            first = board_end(c, first);
        if (first == at)
            continue;
        fine = ae_board_make(&p.a, b->report, c, first, b->options, &next);
        if (fine) {
            fine = ae_board_make(&p.other, b->report, c, at, b->options, &next);
            for (size_t w = 0; fine && w < p.a.who_count; w++) {
                const size_t o = same_who(&p, w);
                fine = o == SIZE_MAX || add_entrant(&p, w, o);
            }
            fine = fine && note_ranks(&p);
            ae_board_release(&p.other);
        }
        ae_board_release(&p.a);
    }
    return fine && !b->report->failed;
}
