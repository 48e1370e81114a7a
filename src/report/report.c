#include "report/search.h"
#include "report/sections.h"

#include "base/text.h"

#include <string.h>

/* Is name one of the first `count`? */
static bool listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static int collect_all(struct ae_store *store, const struct ae_report_options *o, struct ae_collection *c,
                       struct ae_error *err)
{
    int r = AE_OK;
    struct ae_measurement_filter filter = o->filter;
    if (!o->entrants)
        r = ae_collect(c, store, &filter, err);
    if (r == AE_OK && !o->entrants && !filter.run && !filter.id)
        ae_collection_hide_steps(c);
    for (size_t i = 0; r == AE_OK && o->entrants && o->entrants[i]; i++) {
        filter.entrant = o->entrants[i];
        if (!listed(o->entrants, i, o->entrants[i]))
            r = ae_collect(c, store, &filter, err);
    }
    if (r == AE_OK && c->count == 0)
        return ae_error_set(
            err, AE_E_NOTFOUND,
            "nothing has been measured that fits; 'acceleval eval' measures, 'acceleval report' without "
            "options shows all there is in %s",
            ae_store_path(store));
    /* Yardsticks may lie outside of what is to be shown. */
    if (!o->entrants && !filter.run && !filter.id && !filter.by_target && !filter.entrant)
        return r;
    const char *const yardsticks[] = {"parallel", "tuned", o->baseline};
    c->hiding = true;
    for (size_t i = 0; r == AE_OK && i < 3; i++) {
        if (!yardsticks[i] || listed(yardsticks, i, yardsticks[i]))
            continue;
        const struct ae_measurement_filter newest = {.entrant = yardsticks[i],
                                                     .task = o->filter.task,
                                                     .environment = o->filter.environment,
                                                     .sizes = o->filter.sizes,
                                                     .latest = true};
        r = ae_collect(c, store, &newest, err);
    }
    c->hiding = false;
    return r;
}

static int check_baseline(const struct ae_collection *c, const char *baseline, struct ae_error *err)
{
    if (!baseline || strcmp(baseline, "reference") == 0 || ae_words_find(&c->entrants, baseline) >= 0)
        return AE_OK;
    const char *nearest = "reference";
    size_t distance = ae_text_distance(nearest, baseline);
    for (int i = 0; i < c->entrants.count; i++) {
        const size_t d = ae_text_distance(c->entrants.words[i], baseline);
        if (d < distance) {
            distance = d;
            nearest = c->entrants.words[i];
        }
    }
    if (!ae_text_near(baseline, distance))
        return ae_error_set(err, AE_E_USAGE, "nothing has been measured of the baseline '%.64s'", baseline);
    return ae_error_set(err, AE_E_USAGE,
                        "nothing has been measured of the baseline '%.64s'; the nearest is '%.64s'", baseline,
                        nearest);
}

static bool build_board(struct ae_builder *b, const struct ae_board *board, unsigned sections)
{
    return (!(sections & AE_REPORT_LEADERBOARD) || ae_section_leaderboard(b, board)) &&
           (!(sections & AE_REPORT_DOMAINS) || ae_section_domains(b, board)) &&
           (!(sections & AE_REPORT_MATRIX) || ae_section_matrix(b, board)) &&
           (!(sections & AE_REPORT_FLOORS) || ae_section_floors(b, board)) &&
           (!(sections & AE_REPORT_PHASES) || ae_section_phases(b, board)) &&
           (!(sections & AE_REPORT_DETAIL) || ae_section_detail(b, board));
}

static bool build_pass(struct ae_builder *b, const struct ae_board *board, unsigned sections, int pass)
{
    switch (pass) {
    case 0:
        return build_board(b, board, sections);
    case 1:
        return !(sections & AE_REPORT_YARDSTICKS) || ae_section_yardsticks(b, board);
    case 2:
        return ae_section_lifts(b, board);
    default:
        return ae_section_not_run(b, board);
    }
}

/* Board by board; what is said of all boards in one table comes after them, what could not run
 * last. */
static void build(struct ae_builder *b)
{
    const unsigned sections =
        b->options->sections
            ? b->options->sections
            : AE_REPORT_LEADERBOARD | AE_REPORT_YARDSTICKS | AE_REPORT_MATRIX | AE_REPORT_MACHINES |
                  AE_REPORT_NOT_RUN;
    for (int pass = 0; pass < 4; pass++) {
        if (pass == 2 && !b->report->searched)
            continue;
        if (pass == 2 && !b->report->failed)
            b->report->failed = !ae_section_strategies(b);
        if (pass == 3 && (sections & AE_REPORT_MACHINES) && !b->report->failed)
            b->report->failed = !ae_section_machines(b, (sections & AE_REPORT_DETAIL) != 0);
        for (size_t at = 0, next; at < b->collection->count && !b->report->failed; at = next) {
            struct ae_board board;
            if (!ae_board_make(&board, b->report, b->collection, at, b->options, &next) ||
                (board.who_count > 0 && !build_pass(b, &board, sections, pass)))
                b->report->failed = true;
            ae_board_release(&board);
        }
    }
}

int ae_report_build(struct ae_store *store, const struct ae_report_options *options, struct ae_report *ret,
                    struct ae_error *err)
{
    struct ae_collection collection = {.count = 0};
    ae_report_init(ret);
    int r = collect_all(store, options, &collection, err);
    if (r == AE_OK) {
        ae_collection_finish(&collection);
        r = check_baseline(&collection, options->baseline, err);
    }
    if (r == AE_OK && (options->sections & AE_REPORT_PHASES))
        r = ae_collection_explain(&collection, store, options->detail_max, err);
    if (r == AE_OK && options->search && options->search->look && (options->sections & AE_REPORT_STRATEGIES))
        r = ae_searched_new(store, options->search, &collection, &ret->searched, err);
    if (r == AE_OK) {
        struct ae_builder builder = {ret, options, &collection, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
        build(&builder);
        r = ae_report_check(ret, err);
    }
    ae_collection_release(&collection);
    if (r != AE_OK)
        ae_report_release(ret);
    return r;
}
