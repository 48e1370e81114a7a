#include "base/text.h"
#include "report/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 24
#define NAMES_MAX   8 /* that a note lists */

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

struct standing { /* one entrant's row before it is printed */
    size_t who;
    struct ae_score *scores;
    size_t count, passed, absent;
    size_t k; /* fewest samples over its tasks */
    bool untold; /* a task that passed has no baseline: what counts every task is not known */
    double user_gm, pass_1, pass_k, best_k;
};

static void add_samples(struct standing *s, const struct ae_slot *slot, double user[], size_t *ret_judged,
                        size_t *ret_passed)
{
    ae_slot_samples(slot, ret_judged, ret_passed);
    size_t n = 0;
    for (size_t i = 0; i < slot->count && n < *ret_judged; i++) {
        const struct ae_entry *e = &slot->first[i];
        if (e->stale || ae_entry_excused(e) || (i > 0 && e->sample == slot->first[i - 1].sample))
            continue;
        const double speed = e->verdict == AE_PASS ? e->speed.s : (double)NAN;
        user[n++] = speed > 1 ? speed : 1;
    }
    s->k = *ret_judged < s->k ? *ret_judged : s->k;
}

/* pass@k and best@k over the tasks that count; an absent task has no right sample. */
static bool score_samples(const struct ae_board *board, struct standing *s)
{
    size_t most = 1;
    double pass_1 = 0, pass_k = 0, log_best = 0;
    for (size_t t = 0; t < board->task_count; t++)
        most = ae_board_slot(board, t, s->who)->count > most ? ae_board_slot(board, t, s->who)->count : most;
    double *user = malloc(most * sizeof *user);
    if (!user)
        return false;
    s->k = SIZE_MAX;
    for (int round = 0; round < 2; round++) { /* the first finds k */
        for (size_t t = 0; t < board->task_count; t++) {
            const struct ae_slot *slot = ae_board_slot(board, t, s->who);
            size_t judged, passed;
            if (!slot->picked)
                continue;
            add_samples(s, slot, user, &judged, &passed);
            if (round == 0)
                continue;
            ae_sort(user, judged);
            pass_1 += ae_pass_at_k(judged, passed, 1);
            pass_k += ae_pass_at_k(judged, passed, s->k);
            log_best += log(ae_best_at_k(user, judged, s->k));
        }
    }
    free(user);
    if (s->k == SIZE_MAX)
        s->k = 0;
    s->pass_1 = pass_1 / (double)s->count;
    s->pass_k = pass_k / (double)s->count;
    s->best_k = exp(log_best / (double)s->count);
    return true;
}

static bool score(const struct ae_board *board, const double *best, size_t who, struct standing *ret)
{
    *ret = (struct standing){.who = who, .scores = malloc((board->task_count + 1) * sizeof *ret->scores)};
    if (!ret->scores)
        return false;
    ret->count = ae_board_scores(board, best, who, AE_ALL_DOMAINS, ret->scores, &ret->absent);
    for (size_t i = 0; i < ret->count; i++) {
        ret->passed += ret->scores[i].passed;
        ret->untold |= ret->scores[i].passed && isnan(ret->scores[i].s);
    }
    ret->user_gm = ret->untold ? NAN : ae_user_gm(ret->scores, ret->count);
    return score_samples(board, ret);
}

static int by_rank(const void *a, const void *b, void *data)
{
    const struct standing *x = a, *y = b;
    const struct ae_board *board = data;
    if (x->user_gm != y->user_gm && !isnan(x->user_gm) && !isnan(y->user_gm))
        return x->user_gm < y->user_gm ? 1 : -1;
    if (isnan(x->user_gm) != isnan(y->user_gm))
        return isnan(x->user_gm) ? 1 : -1;
    if (x->passed != y->passed)
        return x->passed < y->passed ? 1 : -1;
    const int order = strcmp(board->who[x->who].label, board->who[y->who].label);
    return order ? order : (x->who > y->who) - (x->who < y->who);
}

static bool any(const struct ae_entry *const *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i])
            return true;
    return false;
}

/* Over the passed tasks whose floor is known; NaN: none. */
static double mean_floor_share(const struct ae_board *board, size_t who)
{
    double sum = 0;
    size_t n = 0;
    for (size_t t = 0; t < board->task_count; t++) {
        const double share = ae_slot_floor_share(ae_board_slot(board, t, who));
        if (!isnan(share)) {
            sum += log(share);
            n++;
        }
    }
    return n ? exp(sum / (double)n) : (double)NAN;
}

static bool floors_known(const struct ae_board *board)
{
    for (size_t w = 0; w < board->who_count; w++)
        if (!isnan(mean_floor_share(board, w)))
            return true;
    return false;
}

static size_t leaderboard_columns(struct ae_builder *b, const struct ae_board *board, bool samples,
                                  struct ae_column columns[COLUMNS_MAX])
{
    static const struct ae_column fixed[] = {
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "target", .kind = AE_CELL_TEXT},
        {.name = "coverage",
         .description = "tasks passed, of N that could be judged",
         .kind = AE_CELL_FRACTION,
         .key = true},
        {.name = "coverage_tasks",
         .description = "95 % interval of the coverage by the choice of tasks",
         .kind = AE_CELL_INTERVAL,
         .extra = true},
        {.name = "GM",
         .description =
             "geometric mean of the speedup over the passed tasks; [95 % by measurement noise], {range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "GM_tasks", .description = "95 % interval of GM by the choice of tasks", .kind = AE_CELL_INTERVAL},
        {.name = "user_GM",
         .description =
             "geometric mean over all N, a failed or slower task counted as 1; [95 % by the choice of tasks]",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "PAR_GM",
         .description = "geometric mean over the passed tasks of the speedup over the best one shown here",
         .kind = AE_CELL_NUMBER},
        {.name = "PAR_GM_tasks",
         .description = "95 % interval of PAR_GM by the choice of tasks",
         .kind = AE_CELL_INTERVAL,
         .extra = true},
        {.name = "fast_1", .description = "share of N passed with at least that speedup", .kind = AE_CELL_SHARE},
        {.name = "fast_2", .kind = AE_CELL_SHARE},
        {.name = "fast_5", .kind = AE_CELL_SHARE},
        {.name = "fast_10", .kind = AE_CELL_SHARE},
        {.name = "fast_100", .kind = AE_CELL_SHARE},
    };
    size_t n = sizeof fixed / sizeof *fixed;
    memcpy(columns, fixed, sizeof fixed);
    if (!board->baseline_name && any(board->parallel, board->task_count)) {
        int cores = 0;
        for (size_t t = 0; t < board->task_count; t++)
            cores = board->parallel[t] && board->parallel[t]->cores > cores ? board->parallel[t]->cores : cores;
        columns[n++] = (struct ae_column){
            .name = "to_parallel",
            .unit = ae_report_textf(b->report, "%d %s", cores, ae_text_plural(cores, "core", "cores")),
            .description = "the same as GM, over the CPU program `parallel`",
            .kind = AE_CELL_SPEEDUP,
            .interval = true};
    }
    if (any(board->tuned, board->task_count))
        columns[n++] = (struct ae_column){.name = "to_tuned",
                                          .description = "the same as GM, over the program `tuned`",
                                          .kind = AE_CELL_SPEEDUP,
                                          .interval = true};
    if (floors_known(board))
        columns[n++] = (struct ae_column){
            .name = "of_floor",
            .description =
                "share of the time that the call floor is, what the machine needs at least (table of floors), "
                "geometric mean over the passed tasks",
            .kind = AE_CELL_SHARE};
    if (samples) {
        columns[n++] =
            (struct ae_column){.name = "k", .description = "fewest samples of a task", .kind = AE_CELL_COUNT};
        columns[n++] = (struct ae_column){
            .name = "pass@1", .description = "chance that one sample is right (unbiased)", .kind = AE_CELL_SHARE};
        columns[n++] = (struct ae_column){.name = "pass@k",
                                          .description = "chance that one of k samples is right (unbiased)",
                                          .kind = AE_CELL_SHARE};
        columns[n++] =
            (struct ae_column){.name = "best@k",
                               .description = "user_GM of one who draws k samples and keeps the best, over the "
                                              "reference",
                               .kind = AE_CELL_SPEEDUP};
    }
    return n;
}

static void leaderboard_row(struct ae_builder *b, const struct ae_board *board, size_t table,
                            const struct standing *s, bool samples)
{
    static const double thresholds[] = {1, 2, 5, 10, 100};
    const struct ae_who *who = &board->who[s->who];
    struct ae_cell cells[COLUMNS_MAX];
    size_t n = 0;
    cells[n++] = ae_cell_text(who->label);
    cells[n++] = ae_cell_text(ae_target_name(who->target));
    cells[n++] = ae_cell_fraction((double)s->passed, (double)s->count);
    cells[n++] =
        ae_cell_interval(ae_coverage_tasks_interval(s->scores, s->count, AE_BOOTSTRAP_SEED));
    cells[n++] =
        ae_builder_gm(b, board, s->who, AE_ALL_DOMAINS, board->baseline, !board->baseline_name);
    cells[n++] = ae_cell_interval(ae_gm_tasks_interval(s->scores, s->count, AE_BOOTSTRAP_SEED));
    cells[n++] = ae_cell_speedup(
        s->user_gm, s->untold ? no_interval : ae_user_gm_tasks_interval(s->scores, s->count, AE_BOOTSTRAP_SEED));
    cells[n++] = ae_cell_number(ae_par_gm(s->scores, s->count), no_interval);
    cells[n++] = ae_cell_interval(ae_par_gm_tasks_interval(s->scores, s->count, AE_BOOTSTRAP_SEED));
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++)
        cells[n++] = ae_cell_share(s->untold ? NAN : ae_fast(s->scores, s->count, thresholds[i]), no_interval);
    if (!board->baseline_name && any(board->parallel, board->task_count))
        cells[n++] = ae_builder_gm(b, board, s->who, AE_ALL_DOMAINS, board->parallel, false);
    if (any(board->tuned, board->task_count))
        cells[n++] = ae_builder_gm(b, board, s->who, AE_ALL_DOMAINS, board->tuned, false);
    if (floors_known(board))
        cells[n++] = ae_cell_share(mean_floor_share(board, s->who), no_interval);
    if (samples) {
        cells[n++] = ae_cell_count((double)s->k);
        cells[n++] = ae_cell_share(s->pass_1, no_interval);
        cells[n++] = ae_cell_share(s->pass_k, no_interval);
        cells[n++] = ae_cell_speedup(s->best_k, no_interval);
    }
    struct ae_cell *row = ae_report_row(b->report, table);
    if (row)
        memcpy(row, cells, n * sizeof *row);
}

static void note_absent(struct ae_builder *b, const struct ae_board *board, size_t table, const struct standing *s)
{
    size_t named = 0, more = 0;
    const char *text = "";
    for (size_t w = 0; w < board->who_count; w++) {
        if (s[w].absent == 0)
            continue;
        if (named++ < NAMES_MAX)
            text = ae_report_textf(b->report, "%s%s%s (%zu of %zu)", text, *text ? ", " : "",
                                   board->who[s[w].who].label, s[w].absent, s[w].count);
        else
            more++;
    }
    if (named > 0)
        ae_report_note(b->report, table,
                       ae_report_textf(b->report, "Tasks not measured count as failed: %s%s.", text,
                                       more ? " and others" : ""));
}

static void note_steps(struct ae_builder *b, const struct ae_board *board, size_t table)
{
    size_t steps = 0;
    for (size_t i = 0; i < board->count; i++)
        steps += board->entries[i].hidden && ae_entry_is_step(b->collection, &board->entries[i]);
    if (steps > 0)
        ae_report_note(b->report, table,
                       ae_report_textf(b->report, "Not shown: %zu measurement%s of steps of ladders; --entrant or --run shows "
                                                  "them, 'strategies export' what each step gained.",
                                       steps, steps == 1 ? "" : "s"));
}

bool ae_section_leaderboard(struct ae_builder *b, const struct ae_board *board)
{
    bool samples = false, fine = true;
    double *best = ae_board_best(board);
    struct standing *standings = calloc(board->who_count, sizeof *standings);
    fine = best && standings;
    for (size_t t = 0; fine && t < board->task_count; t++)
        for (size_t w = 0; w < board->who_count; w++) {
            size_t judged, passed;
            ae_slot_samples(ae_board_slot(board, t, w), &judged, &passed);
            samples |= judged > 1;
        }
    for (size_t w = 0; fine && w < board->who_count; w++)
        fine = score(board, best, w, &standings[w]);
    if (fine) {
        qsort_r(standings, board->who_count, sizeof *standings, by_rank, (void *)board);
        struct ae_column columns[COLUMNS_MAX];
        const size_t n = leaderboard_columns(b, board, samples, columns);
        const char *title = ae_report_textf(
            b->report, "Leaderboard, %s: speedup over %s; %s%s", ae_size_name(board->entries->size),
            ae_builder_baseline(b, board), ae_builder_environment(b, board->entries->environment),
            samples ? b->options->pick == AE_PICK_BEST ? "; best of the samples" : "; first sample" : "");
        const size_t table = ae_report_table(b->report, "leaderboard", title, columns, n);
        ae_builder_mark(b, board, table);
        for (size_t w = 0; w < board->who_count && !b->report->failed; w++)
            leaderboard_row(b, board, table, &standings[w], samples);
        if (!b->report->failed) {
            note_absent(b, board, table, standings);
            note_steps(b, board, table);
            ae_builder_note_baseline(b, board, table);
        }
    }
    for (size_t w = 0; standings && w < board->who_count; w++)
        free(standings[w].scores);
    free(standings);
    free(best);
    return fine;
}
