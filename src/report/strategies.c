#include "base/text.h"
#include "report/search.h"
#include "report/sections.h"

#include "stats/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this many tasks a table of strategies is a list of anecdotes. */
#define TASKS_FEW 12
/* Share of wrong answers to "does it go with speed?" that is put up with. */
#define FALSE_SHARE 0.05

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

/* How many programs have each strategy, of those known to have it or not. */
struct tally {
    size_t with[AE_REPORT_STRATEGIES_MAX], known[AE_REPORT_STRATEGIES_MAX];
};

static void count_program(struct tally *t, const struct ae_report_program *p, int strategies)
{
    for (int k = 0; k < strategies; k++) {
        t->with[k] += p->has >> k & 1;
        t->known[k] += p->known >> k & 1;
    }
}

static struct ae_cell share_of(const struct tally *t, int strategy)
{
    return t->known[strategy] ? ae_cell_fraction((double)t->with[strategy], (double)t->known[strategy])
                              : (struct ae_cell){.kind = AE_CELL_EMPTY};
}

/* --- which program shows which ----------------------------------------------------------------------------- */

struct shown {
    struct tally all, *entrants, *tasks; /* by their numbers in the collection */
    bool *entrant_there, *task_there;
};

static bool tally_all(const struct ae_builder *b, struct shown *s)
{
    const struct ae_collection *c = b->collection;
    const int strategies = b->report->searched->search->count;
    struct ae_arena arena = {0};
    struct ae_words pairs = {0}; /* entrant and program: counted once, however often it was measured */
    bool *counted = calloc((size_t)b->report->searched->keys.count + 1, sizeof *counted), fine = true;
    s->entrants = calloc((size_t)c->entrants.count + 1, sizeof *s->entrants);
    s->tasks = calloc((size_t)c->tasks.count + 1, sizeof *s->tasks);
    s->entrant_there = calloc((size_t)c->entrants.count + 1, sizeof *s->entrant_there);
    s->task_there = calloc((size_t)c->tasks.count + 1, sizeof *s->task_there);
    fine = counted && s->entrants && s->tasks && s->entrant_there && s->task_there;
    for (size_t i = 0; fine && i < c->count; i++) {
        const struct ae_entry *e = &c->entries[i];
        char pair[48];
        const int number =
            ae_entry_searched(e) ? ae_searched_find(b->report->searched, ae_entry_task(c, e), e->submission) : -1;
        if (number < 0)
            continue;
        const struct ae_report_program *p = &b->report->searched->programs[number];
        const int before = pairs.count;
        snprintf(pair, sizeof pair, "%d %d", e->entrant, number);
        fine = ae_words_add(&pairs, &arena, pair) >= 0;
        if (pairs.count > before) {
            count_program(&s->entrants[e->entrant], p, strategies);
            s->entrant_there[e->entrant] = true;
        }
        if (!counted[number]) {
            counted[number] = true;
            count_program(&s->all, p, strategies);
            count_program(&s->tasks[e->task], p, strategies);
            s->task_there[e->task] = true;
        }
    }
    ae_words_release(&pairs);
    ae_arena_release(&arena);
    free(counted);
    return fine;
}

static void release_shown(struct shown *s)
{
    free(s->entrants);
    free(s->tasks);
    free(s->entrant_there);
    free(s->task_there);
}

static void note_left_out(struct ae_builder *b, size_t table)
{
    const int unread = b->report->searched->unread;
    if (unread > 0)
        ae_report_note(b->report, table,
                       ae_report_textf(b->report, "%d program%s could not be searched: too long, or the search would have "
                                                  "taken too long.",
                                       unread, unread == 1 ? "" : "s"));
    const int left_out = b->report->searched->left_out;
    if (left_out > 0)
        ae_report_note(b->report, table,
                       ae_report_textf(b->report,
                                       "%d more %s not looked at: a report of so many measurements searches %zu MiB "
                                       "of sources, right programs first. Fewer entrants leave room for all of theirs.",
                                       left_out, ae_text_plural(left_out, "program was", "programs were"),
                                       b->report->searched->most >> 20));
}

static bool put_entrants(struct ae_builder *b, const struct shown *s)
{
    const struct ae_words *names = &b->collection->entrants;
    const struct ae_report_search *search = b->report->searched->search;
    struct ae_column *columns = calloc((size_t)names->count + 3, sizeof *columns);
    size_t n = 0;
    if (!columns)
        return false;
    columns[n++] = (struct ae_column){.name = "strategy", .kind = AE_CELL_TEXT, .key = true};
    columns[n++] = (struct ae_column){.name = "name", .kind = AE_CELL_TEXT, .key = true};
    columns[n++] = (struct ae_column){.name = "programs",
                                      .description = "those that show it, of those of which it is known",
                                      .kind = AE_CELL_FRACTION,
                                      .heat = true};
    for (int w = 0; w < names->count; w++)
        if (s->entrant_there[w])
            columns[n++] = (struct ae_column){.name = names->words[w], .kind = AE_CELL_FRACTION, .heat = true};
    b->strategies = ae_report_table(b->report, "strategies", "Strategies: programs for a device that show them, by entrant",
                                    columns, n);
    free(columns);
    for (int k = 0; k < search->count; k++) {
        struct ae_cell *row = s->all.with[k] > 0 ? ae_report_row(b->report, b->strategies) : NULL;
        if (!row)
            continue;
        *row++ = ae_cell_text(ae_report_text(b->report, search->strategies[k].id));
        *row++ = ae_cell_text(ae_report_text(b->report, search->strategies[k].name));
        *row++ = share_of(&s->all, k);
        for (int w = 0; w < names->count; w++)
            if (s->entrant_there[w])
                *row++ = share_of(&s->entrants[w], k);
    }
    if (!b->report->failed) {
        ae_report_note(b->report, b->strategies,
                       "Found by reading the sources, beside each task's reference ('acceleval strategies show ID' explains "
                       "one). Each program counts once, right or wrong.");
        note_left_out(b, b->strategies);
    }
    return true;
}

static bool put_tasks(struct ae_builder *b, const struct shown *s)
{
    const struct ae_words *names = &b->collection->tasks;
    const struct ae_report_search *search = b->report->searched->search;
    struct ae_column columns[AE_REPORT_STRATEGIES_MAX + 1] = {{.name = "task", .kind = AE_CELL_TEXT, .key = true}};
    size_t n = 1;
    for (int k = 0; k < search->count; k++)
        if (s->all.with[k] > 0)
            columns[n++] = (struct ae_column){.name = search->strategies[k].id,
                                              .description = search->strategies[k].name,
                                              .kind = AE_CELL_FRACTION,
                                              .heat = true};
    const size_t table = ae_report_table(b->report, "strategies_tasks",
                                         "Strategies: programs for a device that show them, by task", columns, n);
    for (int t = 0; t < names->count; t++) {
        struct ae_cell *row = s->task_there[t] ? ae_report_row(b->report, table) : NULL;
        if (!row)
            continue;
        *row++ = ae_cell_text(ae_report_text(b->report, names->words[t]));
        for (int k = 0; k < search->count; k++)
            if (s->all.with[k] > 0)
                *row++ = share_of(&s->tasks[t], k);
    }
    return true;
}

bool ae_section_strategies(struct ae_builder *b)
{
    struct shown s = {0};
    if (b->report->searched->keys.count == 0)
        return !b->report->failed;
    bool fine = tally_all(b, &s);
    fine = fine && put_entrants(b, &s) && put_tasks(b, &s);
    release_shown(&s);
    return fine && !b->report->failed;
}

/* --- what goes with speed ---------------------------------------------------------------------------------- */

/* The right programs of one board, each once: the newest measurement of it. */
static size_t gather(const struct ae_builder *b, const struct ae_board *board, struct ae_traited *rows)
{
    const struct ae_searched *searched = b->report->searched;
    const size_t programs = (size_t)searched->keys.count;
    const struct ae_entry **newest = calloc(programs + 1, sizeof *newest);
    size_t count = 0;
    if (!newest)
        return SIZE_MAX;
    for (size_t i = 0; i < board->count; i++) {
        const struct ae_entry *e = &board->entries[i];
        if (!ae_entry_searched(e) || e->seeded || e->verdict != AE_PASS || !(e->speed.median_ns > 0))
            continue;
        const int number = ae_searched_find(searched, ae_entry_task(b->collection, e), e->submission);
        if (number >= 0 && (!newest[number] || newest[number]->id < e->id))
            newest[number] = e;
    }
    for (size_t i = 0; i < programs; i++)
        if (newest[i])
            rows[count++] = (struct ae_traited){newest[i]->task, -log(newest[i]->speed.median_ns), searched->programs[i].has,
                                                searched->programs[i].known};
    free(newest);
    return count;
}

static const char *says(struct ae_builder *b, const struct ae_trait_worth *w)
{
    if (w->pairs == 0)
        return "nothing to compare";
    if (w->pairs < AE_PAIRS_MIN)
        return ae_report_textf(b->report, "too few pairs: %zu of %d", w->pairs, AE_PAIRS_MIN);
    if (!(w->q <= FALSE_SHARE))
        return "unclear";
    return w->lift > 1 ? "goes with speed" : "goes with slowness";
}

/* What can be told first, then what has too few pairs; the largest lift first, those without one last. */
static int by_lift(const void *a, const void *b, void *data)
{
    const struct ae_attribution *attribution = data;
    const int x = *(const int *)a, y = *(const int *)b;
    const bool few = attribution->worth[x].pairs < AE_PAIRS_MIN, others_few = attribution->worth[y].pairs < AE_PAIRS_MIN;
    const double p = attribution->worth[x].lift, q = attribution->worth[y].lift;
    if (few != others_few)
        return few - others_few;
    if (isnan(p) || isnan(q))
        return isnan(p) != isnan(q) ? isnan(p) - isnan(q) : x - y;
    return p > q ? -1 : p < q ? 1 : x - y;
}

static void put_lifts(struct ae_builder *b, const struct ae_board *board, const struct ae_attribution *a)
{
    static const struct ae_column columns[] = {
        {.name = "strategy", .kind = AE_CELL_TEXT, .key = true},
        {.name = "name", .kind = AE_CELL_TEXT, .key = true},
        {.name = "with", .description = "right programs that show it, of those of which it is known", .kind = AE_CELL_FRACTION},
        {.name = "pairs", .description = "tasks that have programs with and without it", .kind = AE_CELL_COUNT},
        {.name = "lift",
         .description = "speed of the programs with it over that of those without, geometric mean over those tasks; [95 % by "
                        "the choice of tasks], {range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "says",
         .description = "what the lift can be taken for: with fewer than 11 pairs nothing, else by q at most 0.05",
         .kind = AE_CELL_TEXT},
        {.name = "winners", .description = "share of the fastest programs of their tasks that show it", .kind = AE_CELL_SHARE},
        {.name = "others", .description = "share of the other programs of those tasks", .kind = AE_CELL_SHARE},
        {.name = "p", .description = "chance of such a lift if the strategy did not matter", .kind = AE_CELL_NUMBER},
        {.name = "q", .description = "p corrected for the number of strategies asked about", .kind = AE_CELL_NUMBER},
    };
    const struct ae_report_search *search = b->report->searched->search;
    struct ae_report *r = b->report;
    int order[AE_REPORT_STRATEGIES_MAX], known = 0;
    const size_t table = ae_report_table(
        r, "lift",
        ae_report_textf(r, "Strategies: what goes with speed within tasks, %s; %s", ae_size_name(board->entries->size),
                        ae_builder_environment(b, board->entries->environment)),
        columns, sizeof columns / sizeof *columns);
    ae_builder_mark(b, board, table);
    for (int k = 0; k < search->count; k++)
        order[k] = k;
    qsort_r(order, (size_t)search->count, sizeof *order, by_lift, (void *)a);
    for (int i = 0; i < search->count; i++) {
        const struct ae_trait_worth *w = &a->worth[order[i]];
        struct ae_cell *row = w->with > 0 ? ae_report_row(r, table) : NULL;
        if (!row)
            continue;
        known += w->pairs >= AE_PAIRS_MIN;
        row[0] = ae_cell_text(ae_report_text(r, search->strategies[order[i]].id));
        row[1] = ae_cell_text(ae_report_text(r, search->strategies[order[i]].name));
        row[2] = ae_cell_fraction((double)w->with, (double)(w->with + w->without));
        row[3] = ae_cell_count((double)w->pairs);
        row[4] = ae_cell_speedup(w->lift, w->interval);
        row[5] = ae_cell_text(says(b, w));
        row[6] = ae_cell_share(w->winner_share, no_interval);
        row[7] = ae_cell_share(w->other_share, no_interval);
        row[8] = ae_cell_number(w->p, no_interval);
        row[9] = ae_cell_number(w->q, no_interval);
    }
    ae_report_note(
        r, table,
        ae_report_textf(r, "%zu right %s of %zu task%s that %s two or more.%s%s", a->programs,
                        ae_text_plural((int64_t)a->programs, "program", "programs"), a->tasks, a->tasks == 1 ? "" : "s",
                        a->tasks == 1 ? "has" : "have",
                        a->tasks < TASKS_FEW ? " With so few tasks nothing here is more than an anecdote." : "",
                        known == 0 ? " Too few pairs to say anything of any strategy." : ""));
    ae_report_note(r, table,
                   "What goes with speed need not cause it: who uses one strategy often uses three. Ladders change one at a "
                   "time (docs/strategies.md); 'acceleval strategies attribute' weighs each beside the others.");
}

bool ae_section_lifts(struct ae_builder *b, const struct ae_board *board)
{
    struct ae_attribution *a = malloc(sizeof *a);
    struct ae_traited *rows = malloc(((size_t)b->report->searched->keys.count + 1) * sizeof *rows);
    const size_t count = a && rows ? gather(b, board, rows) : SIZE_MAX;
    const bool fine =
        count != SIZE_MAX && ae_attribute_lifts(rows, count, b->report->searched->search->count, a, NULL) == AE_OK;
    if (fine && a->tasks > 0)
        put_lifts(b, board, a);
    else if (fine && count > 0 && b->strategies != SIZE_MAX)
        ae_report_note(b->report, b->strategies,
                       ae_report_textf(b->report,
                                       "At %s no task has two right programs for a device: nothing can be said about what "
                                       "goes with speed.",
                                       ae_size_name(board->entries->size)));
    free(rows);
    free(a);
    return fine && !b->report->failed;
}
