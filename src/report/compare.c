#include "report/collect.h"
#include "report/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

/* Both sides lie in one collection; side B's entries are the hidden ones. */
struct comparing {
    struct ae_report *report;
    const struct ae_collection *collection;
    const char *name_a, *name_b;
    bool by_entrant; /* two runs: entrants are matched by name */
    size_t table;
    size_t relations[AE_RELATION_COUNT], rows, both, timed, only_a, only_b, neither, unmatched;
    struct ae_stratum *strata; /* of all tasks that both pass, each with values of its own: the overall ratio */
    size_t strata_count, room;
};

/* Is entry i the one that stands for its (entrant, target, seeded)? The first that was judged, else the first. */
static bool stands(const struct ae_entry *group, size_t count, size_t i)
{
    const struct ae_entry *e = &group[i];
    for (size_t k = 0; k < count; k++) {
        const struct ae_entry *o = &group[k];
        if (k == i || o->entrant != e->entrant || o->target != e->target || o->seeded != e->seeded ||
            o->hidden != e->hidden)
            continue;
        const bool o_counts = !ae_entry_excused(o) && !o->stale, e_counts = !ae_entry_excused(e) && !e->stale;
        if ((o_counts && !e_counts) || (o_counts == e_counts && k < i))
            return false;
    }
    return true;
}

/* The other side's entry that goes with e, rather of the same target. */
static const struct ae_entry *partner(const struct comparing *c, const struct ae_entry *group, size_t count,
                                      const struct ae_entry *e)
{
    const struct ae_entry *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct ae_entry *o = &group[i];
        if (o->hidden == e->hidden || (c->by_entrant && o->entrant != e->entrant) || !stands(group, count, i))
            continue;
        if (!found || (found->target != e->target && o->target == e->target))
            found = o;
    }
    return found;
}

static bool add_strata(struct comparing *c, const struct ae_stratum *strata, size_t count)
{
    if (c->strata_count + count > c->room) {
        const size_t room = 2 * c->room + count + 64;
        struct ae_stratum *more = realloc(c->strata, room * sizeof *more);
        if (!more)
            return false;
        c->strata = more;
        c->room = room;
    }
    for (size_t i = 0; i < count; i++) {
        double *copy = malloc(strata[i].count * sizeof *copy);
        if (!copy)
            return false;
        memcpy(copy, strata[i].values, strata[i].count * sizeof *copy);
        c->strata[c->strata_count++] = (struct ae_stratum){copy, strata[i].count, strata[i].weight};
    }
    return true;
}

/* Both passed: how do their times compare? */
static bool compare_times(struct comparing *c, const struct ae_entry *a, const struct ae_entry *b,
                          struct ae_comparison *ret)
{
    double values[2 * AE_TIMINGS_MAX];
    struct ae_stratum strata[2 * AE_TIMINGS_MAX];
    size_t pairs;
    const size_t count = ae_entry_strata(a, b, 1, values, strata, &pairs);
    *ret = (struct ae_comparison){.relation = AE_UNCLEAR, .ratio = NAN, .interval = no_interval};
    if (count == 0)
        return true;
    if (count == 1)
        ae_compare_pairs(strata[0].values, strata[0].count, AE_SAME_MARGIN, AE_BOOTSTRAP_SEED, ret);
    else
        ae_compare_strata(strata, count, AE_SAME_MARGIN, AE_BOOTSTRAP_SEED, ret);
    ret->pairs = pairs;
    c->timed++;
    return add_strata(c, strata, count);
}

static double median_ms(const struct ae_entry *e)
{
    return e && e->verdict == AE_PASS ? e->speed.median_ns * 1e-6 : (double)NAN;
}

/* Either may be NULL, not both. */
static bool add_row(struct comparing *c, const struct ae_entry *a, const struct ae_entry *b)
{
    const struct ae_entry *any = a ? a : b;
    struct ae_comparison got = {.ratio = NAN, .interval = no_interval};
    const char *relation;
    c->rows++;
    if (!a || !b) {
        c->unmatched++;
        relation = "not compared";
    } else if (a->stale || b->stale || ae_entry_excused(a) || ae_entry_excused(b)) {
        c->unmatched++;
        relation = a->task_version != b->task_version ? "other version of the task" : "not compared";
    } else if (a->verdict == AE_PASS && b->verdict == AE_PASS) {
        if (!compare_times(c, a, b, &got))
            return false;
        c->both++;
        c->relations[got.relation]++;
        relation = ae_relation_name(got.relation);
    } else if (a->verdict == AE_PASS || b->verdict == AE_PASS) {
        *(a->verdict == AE_PASS ? &c->only_a : &c->only_b) += 1;
        relation = a->verdict == AE_PASS ? "only A passes" : "only B passes";
    } else {
        c->neither++;
        relation = "neither passes";
    }
    struct ae_report *r = c->report;
    const struct ae_cell cells[] = {
        ae_cell_text(ae_report_text(r, ae_entry_task(c->collection, any))),
        ae_cell_text(ae_size_name(any->size)),
        ae_cell_text(ae_report_text(r, ae_entry_entrant(c->collection, any))),
        ae_cell_text(a ? ae_entry_outcome(a) : "not_measured"),
        ae_cell_number(median_ms(a),
                       a ? (struct ae_interval){a->speed.median_interval.kind, a->speed.median_interval.low * 1e-6,
                                                a->speed.median_interval.high * 1e-6}
                         : no_interval),
        ae_cell_text(b ? ae_entry_outcome(b) : "not_measured"),
        ae_cell_number(median_ms(b),
                       b ? (struct ae_interval){b->speed.median_interval.kind, b->speed.median_interval.low * 1e-6,
                                                b->speed.median_interval.high * 1e-6}
                         : no_interval),
        ae_cell_speedup(got.ratio, got.interval),
        ae_cell_count(a && b ? (double)got.pairs : (double)NAN),
        ae_cell_text(relation),
    };
    const size_t count = sizeof cells / sizeof *cells;
    struct ae_cell *row = ae_report_row(r, c->table);
    if (!row)
        return false;
    for (size_t from = 0, to = 0; from < count; from++)
        if (from != 2 || c->by_entrant) /* who it is is in the heading, unless two runs are compared */
            row[to++] = cells[from];
    return true;
}

static bool compare_group(struct comparing *c, const struct ae_entry *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!stands(group, count, i))
            continue;
        const struct ae_entry *e = &group[i], *other = partner(c, group, count, e);
        if (!e->hidden && !add_row(c, e, other))
            return false;
        if (e->hidden && !other && !add_row(c, NULL, e))
            return false;
    }
    return true;
}

static bool compare_all(struct comparing *c)
{
    const struct ae_collection *all = c->collection;
    for (size_t i = 0; i < all->count;) {
        const struct ae_entry *first = &all->entries[i];
        size_t end = i;
        while (end < all->count && all->entries[end].environment == first->environment &&
               all->entries[end].size == first->size && all->entries[end].task == first->task)
            end++;
        if (!compare_group(c, first, end - i))
            return false;
        i = end;
    }
    return true;
}

static void summarise(struct comparing *c)
{
    const char *overall = "";
    for (size_t i = 0; i < c->strata_count; i++)
        c->strata[i].weight /= (double)c->timed;
    if (c->strata_count > 0) {
        char text[AE_CELL_TEXT_MAX];
        const struct ae_cell ratio =
            ae_cell_speedup(exp(ae_strata_mean(c->strata, c->strata_count)),
                            ae_interval_exp(ae_bootstrap(c->strata, c->strata_count, AE_BOOTSTRAP_SEED)));
        overall = ae_report_textf(c->report, "; over those A is %s as fast as B", ae_cell_print(&ratio, text));
    }
    c->report->summary = ae_report_textf(
        c->report,
        "A (%s) is faster than B (%s) on %zu, slower on %zu, the same on %zu, unclear on %zu of the %zu that both "
        "pass%s; only A passes %zu, only B %zu, neither %zu; %zu not compared.",
        c->name_a, c->name_b, c->relations[AE_FASTER], c->relations[AE_SLOWER], c->relations[AE_SAME],
        c->relations[AE_UNCLEAR], c->both, overall, c->only_a, c->only_b, c->neither, c->unmatched);
}

static void make_table(struct comparing *c)
{
    static const struct ae_column columns[] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "A", .kind = AE_CELL_TEXT},
        {.name = "A_median", .unit = "ms", .kind = AE_CELL_NUMBER, .interval = true},
        {.name = "B", .kind = AE_CELL_TEXT},
        {.name = "B_median", .unit = "ms", .kind = AE_CELL_NUMBER, .interval = true},
        {.name = "ratio",
         .description = "time of B over time of A, geometric mean; [95 %], {range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "pairs",
         .description = "instances that both were timed on; 0: compared over the reference",
         .kind = AE_CELL_COUNT},
        {.name = "A_is",
         .description = "same: within 1 % of B; unclear: the interval contains both answers",
         .kind = AE_CELL_TEXT},
    };
    struct ae_column used[sizeof columns / sizeof *columns];
    size_t count = 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (i != 2 || c->by_entrant)
            used[count++] = columns[i];
    c->table = ae_report_table(c->report, "compare",
                               ae_report_textf(c->report, "A: %s; B: %s", c->name_a, c->name_b), used, count);
}

static const char *side_name(struct ae_report *report, const struct ae_side *side)
{
    if (!side->entrant)
        return ae_report_textf(report, "run %lld", (long long)side->run);
    return side->run ? ae_report_textf(report, "%s in run %lld", side->entrant, (long long)side->run)
                     : ae_report_text(report, side->entrant);
}

static int collect_side(struct ae_collection *collection, struct ae_store *store, const struct ae_side *side,
                        const struct ae_measurement_filter *filter, const char *name, struct ae_error *err)
{
    struct ae_measurement_filter wanted = *filter;
    wanted.entrant = side->entrant;
    wanted.run = side->run;
    wanted.latest = true;
    const size_t before = collection->count;
    const int r = ae_collect(collection, store, &wanted, err);
    if (r == AE_OK && collection->count == before)
        return ae_error_set(err, AE_E_NOTFOUND, "nothing has been measured of %.128s in %s", name,
                            ae_store_path(store));
    return r;
}

static int build(struct comparing *c, struct ae_error *err)
{
    make_table(c);
    if (c->report->failed || !compare_all(c)) {
        c->report->failed = true;
    } else {
        if (c->unmatched == c->rows)
            return ae_error_set(
                err, AE_E_NOTFOUND,
                "%.128s and %.128s have no task in common that was measured in one environment, at one "
                "size and one version of the task",
                c->name_a, c->name_b);
        summarise(c);
    }
    return ae_report_check(c->report, err);
}

int ae_compare_build(struct ae_store *store, const struct ae_side *a, const struct ae_side *b,
                     const struct ae_measurement_filter *filter, struct ae_report *ret, struct ae_error *err)
{
    struct ae_collection collection = {.count = 0};
    ae_report_init(ret);
    struct comparing c = {.report = ret,
                          .collection = &collection,
                          .name_a = side_name(ret, a),
                          .name_b = side_name(ret, b),
                          .by_entrant = !a->entrant && !b->entrant};
    int r = AE_OK;
    if ((!a->entrant && !a->run) || (!b->entrant && !b->run))
        r = ae_error_set(err, AE_E_USAGE, "each side of a comparison is an entrant or a run");
    else if (strcmp(c.name_a, c.name_b) == 0)
        r = ae_error_set(err, AE_E_USAGE, "both sides are %.128s", c.name_a);
    if (r == AE_OK)
        r = collect_side(&collection, store, a, filter, c.name_a, err);
    collection.hiding = true;
    if (r == AE_OK)
        r = collect_side(&collection, store, b, filter, c.name_b, err);
    if (r == AE_OK) {
        ae_collection_finish(&collection);
        r = build(&c, err);
    }
    for (size_t i = 0; i < c.strata_count; i++)
        free((void *)c.strata[i].values);
    free(c.strata);
    ae_collection_release(&collection);
    if (r != AE_OK)
        ae_report_release(ret);
    return r;
}
