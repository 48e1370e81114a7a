#include "report/scores.h"

#include <math.h>
#include <stdlib.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

static bool in_domain(const struct ae_board *board, size_t task, int domain)
{
    return domain == AE_ALL_DOMAINS || board->collection->domains[board->tasks[task]] == domain;
}

double *ae_board_best(const struct ae_board *board)
{
    double *best = malloc((2 * board->task_count + 1) * sizeof *best);
    for (size_t t = 0; best && t < board->task_count; t++) {
        best[2 * t] = best[2 * t + 1] = NAN;
        for (size_t w = 0; w < board->who_count; w++) {
            const struct ae_slot *slot = ae_board_slot(board, t, w);
            double *of = &best[2 * t + board->who[w].seeded];
            if (slot->s > *of || (isnan(*of) && slot->s > 0))
                *of = slot->s;
        }
    }
    return best;
}

size_t ae_board_scores(const struct ae_board *board, const double *best, size_t who, int domain,
                       struct ae_score *ret, size_t *ret_absent)
{
    size_t count = 0, absent = 0;
    for (size_t t = 0; t < board->task_count; t++) {
        const struct ae_slot *slot = ae_board_slot(board, t, who);
        if (!in_domain(board, t, domain) || !ae_slot_counts(slot))
            continue;
        ret[count++] =
            (struct ae_score){slot->picked && slot->picked->verdict == AE_PASS, slot->s,
                              best[2 * t + board->who[who].seeded], board->collection->domains[board->tasks[t]]};
        absent += !slot->first;
    }
    if (ret_absent)
        *ret_absent = absent;
    return count;
}

struct ae_cell ae_builder_gm(struct ae_builder *b, const struct ae_board *board, size_t who, int domain,
                             const struct ae_entry *const *bases, bool over_reference)
{
    struct ae_cell ret = ae_cell_speedup(NAN, no_interval);
    size_t room = 1, strata_count = 0, used = 0, tasks = 0;
    for (size_t t = 0; t < board->task_count; t++)
        room += ae_board_slot(board, t, who)->picked ? 2 * AE_TIMINGS_MAX : 0;
    double *values = malloc(room * sizeof *values);
    struct ae_stratum *strata = malloc(room * sizeof *strata);
    for (size_t t = 0; values && strata && t < board->task_count; t++) {
        const struct ae_entry *e = ae_board_slot(board, t, who)->picked;
        if (!in_domain(board, t, domain) || !e || e->verdict != AE_PASS || (!over_reference && !bases[t]))
            continue;
        const size_t n =
            ae_entry_strata(e, over_reference ? NULL : bases[t], 1, values + used, strata + strata_count, NULL);
        if (n == 0)
            continue;
        tasks++;
        strata_count += n;
        used += 2 * AE_TIMINGS_MAX;
    }
    if (!values || !strata)
        b->report->failed = true;
    for (size_t i = 0; i < strata_count; i++)
        strata[i].weight /= (double)tasks;
    if (tasks > 0)
        ret = ae_cell_speedup(exp(ae_strata_mean(strata, strata_count)),
                              ae_interval_exp(ae_bootstrap(strata, strata_count, AE_BOOTSTRAP_SEED)));
    free(values);
    free(strata);
    return ret;
}
