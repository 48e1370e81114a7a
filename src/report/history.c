#include "base/text.h"
#include "report/collect.h"
#include "report/print.h"

#include <math.h>
#include <string.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

/* Two runs differ by more than the trials of one of them do: clocks, other tenants, the placement of pages. What
 * bounds the calibration between equal machines (3 %) bounds this as well. */
#define BETWEEN_RUNS 0.03

struct history {
    struct ae_report *report;
    const struct ae_collection *collection;
    size_t table, regressions, rows;
    const char *named; /* the first of the regressions, for the summary */
};

static bool judged(const struct ae_entry *e)
{
    return !ae_entry_excused(e);
}

/* What became of the entrant since `before`, the last that was judged (NULL: there is none). */
static const char *trend(const struct ae_entry *e, const struct ae_entry *before, struct ae_comparison *ret)
{
    *ret = (struct ae_comparison){.relation = AE_UNCLEAR, .ratio = NAN, .interval = no_interval};
    if (!judged(e))
        return "not judged";
    if (!before)
        return "first";
    if (before->task_version != e->task_version)
        return "other version of the task";
    if (e->verdict != AE_PASS)
        return before->verdict == AE_PASS ? "REGRESSION: now fails" : "still fails";
    if (before->verdict != AE_PASS)
        return "now passes";
    double values[2 * AE_TIMINGS_MAX];
    struct ae_stratum strata[2 * AE_TIMINGS_MAX];
    const size_t count = ae_entry_strata(e, before, 1, values, strata, NULL);
    if (count == 0)
        return "unclear";
    ae_compare_strata(strata, count, BETWEEN_RUNS, AE_BOOTSTRAP_SEED, ret);
    if (ret->relation == AE_SLOWER)
        return ret->interval.high < 1 / (1 + BETWEEN_RUNS) ? "REGRESSION: slower" : "unclear";
    if (ret->relation == AE_FASTER)
        return ret->interval.low > 1 + BETWEEN_RUNS ? "faster" : "unclear";
    return ae_relation_name(ret->relation);
}

static void add_row(struct history *h, const struct ae_entry *e, const struct ae_entry *before)
{
    struct ae_report *r = h->report;
    struct ae_comparison change;
    const char *word = trend(e, before, &change);
    char date[32];
    ae_print_time(e->started_ns, date);
    if (strncmp(word, "REGRESSION", 10) == 0 && h->regressions++ == 0)
        h->named = ae_report_textf(r, "%s at %s in run %lld", ae_entry_task(h->collection, e),
                                   ae_size_name(e->size), (long long)e->run);
    const struct ae_interval median = e->speed.median_interval;
    const bool passed = e->verdict == AE_PASS;
    const struct ae_cell cells[] = {
        ae_cell_text(ae_report_text(r, ae_entry_task(h->collection, e))),
        ae_cell_text(ae_size_name(e->size)),
        ae_cell_text(ae_target_name(e->target)),
        ae_cell_count(e->sample),
        ae_cell_count((double)e->run),
        ae_cell_text(ae_report_text(r, date)),
        ae_cell_text(ae_entry_outcome(e)),
        ae_cell_number(
            passed ? e->speed.median_ns * 1e-6 : (double)NAN,
            (struct ae_interval){passed ? median.kind : AE_INTERVAL_NONE, median.low * 1e-6, median.high * 1e-6}),
        ae_cell_speedup(passed ? e->speed.s : (double)NAN, no_interval),
        ae_cell_speedup(change.ratio, change.interval),
        ae_cell_text(!before                                          ? ""
                     : strcmp(before->submission, e->submission) == 0 ? "same"
                                                                      : "changed"),
        ae_cell_text(word),
        ae_cell_text(ae_report_textf(r, "%.8s", h->collection->environments.words[e->environment])),
    };
    struct ae_cell *row = ae_report_row(r, h->table);
    if (row)
        memcpy(row, cells, sizeof cells);
    h->rows++;
}

static bool same_line(const struct ae_entry *a, const struct ae_entry *b)
{
    return a->environment == b->environment && a->size == b->size && a->task == b->task && a->target == b->target &&
           a->seeded == b->seeded && a->sample == b->sample;
}

/* What tells lines apart that are told apart by nothing else in them is for people too. */
static bool several_samples(const struct ae_collection *c)
{
    for (size_t i = 1; i < c->count; i++)
        if (c->entries[i].sample != c->entries[0].sample)
            return true;
    return false;
}

static bool several_environments(const struct ae_collection *c)
{
    for (size_t i = 1; i < c->count; i++)
        if (c->entries[i].environment != c->entries[0].environment)
            return true;
    return false;
}

static bool several_targets(const struct ae_collection *c)
{
    for (size_t i = 1; i < c->count; i++)
        if (c->entries[i].target != c->entries[0].target)
            return true;
    return false;
}

static void build(struct history *h, const char *entrant)
{
    const struct ae_collection *c = h->collection;
    const bool samples = several_samples(c), targets = several_targets(c);
    const struct ae_column columns[] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "target", .kind = AE_CELL_TEXT, .key = targets, .extra = !targets},
        {.name = "sample", .kind = AE_CELL_COUNT, .key = samples, .extra = !samples},
        {.name = "run", .kind = AE_CELL_COUNT, .key = true},
        {.name = "measured", .kind = AE_CELL_TEXT},
        {.name = "verdict", .kind = AE_CELL_TEXT, .key = true},
        {.name = "median",
         .unit = "ms",
         .description = "[95 %], {range of too few}",
         .kind = AE_CELL_NUMBER,
         .interval = true},
        {.name = "speedup", .description = "over the single-thread reference", .kind = AE_CELL_SPEEDUP},
        {.name = "change",
         .description = "time of the run before over this one's, on the same instances where both saw them; [95 %], "
                        "{range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "source", .description = "against the run before", .kind = AE_CELL_TEXT},
        {.name = "trend",
         .description =
             "faster, and slower as a REGRESSION, where the interval lies beyond the 3 % by which runs differ "
             "anyway; same: within them; unclear: neither",
         .kind = AE_CELL_TEXT},
        {.name = "environment",
         .description = "start of its id",
         .kind = AE_CELL_TEXT,
         .extra = !several_environments(c)},
    };
    h->table = ae_report_table(h->report, "history", ae_report_textf(h->report, "%s over the runs", entrant),
                               columns, sizeof columns / sizeof *columns);
    for (size_t i = 0, end; i < c->count && !h->report->failed; i = end) {
        const struct ae_entry *before = NULL;
        for (end = i; end < c->count && same_line(&c->entries[i], &c->entries[end]);)
            end++;
        for (size_t k = end; k-- > i && !h->report->failed;) { /* the newest come first */
            add_row(h, &c->entries[k], before);
            before = judged(&c->entries[k]) ? &c->entries[k] : before;
        }
    }
    h->report->summary =
        h->regressions == 0 ? ae_report_textf(h->report, "No regression in %zu %s of %s.", h->rows,
                                              ae_text_plural((int64_t)h->rows, "result", "results"), entrant)
                            : ae_report_textf(h->report, "%zu regression%s in %zu %s of %s, the first: %s.",
                                              h->regressions, h->regressions == 1 ? "" : "s", h->rows,
                                              ae_text_plural((int64_t)h->rows, "result", "results"), entrant, h->named);
}

int ae_history_build(struct ae_store *store, const char *entrant, const struct ae_measurement_filter *filter,
                     struct ae_report *ret, struct ae_error *err)
{
    struct ae_collection collection = {.count = 0};
    struct history h = {.report = ret, .collection = &collection};
    struct ae_measurement_filter wanted = *filter;
    wanted.entrant = entrant;
    wanted.latest = false;
    ae_report_init(ret);
    int r = ae_collect(&collection, store, &wanted, err);
    if (r == AE_OK && collection.count == 0)
        r = ae_error_set(err, AE_E_NOTFOUND, "nothing has been measured of %.128s in %s", entrant,
                         ae_store_path(store));
    if (r == AE_OK) {
        ae_collection_finish(&collection);
        build(&h, entrant);
        r = ae_report_check(ret, err);
    }
    ae_collection_release(&collection);
    if (r != AE_OK)
        ae_report_release(ret);
    return r;
}
