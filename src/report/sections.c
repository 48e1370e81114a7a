#include "report/sections.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

/* --- titles and notes -------------------------------------------------------------------------------------- */

const char *ae_builder_environment(struct ae_builder *b, int environment)
{
    const char *name = b->collection->environment_names.words[b->collection->names[environment]];
    return ae_report_textf(b->report, "%s%s%.8s", name, *name ? ", environment " : "environment ",
                           b->collection->environments.words[environment]);
}

const char *ae_builder_baseline(struct ae_builder *b, const struct ae_board *board)
{
    if (!board->baseline_name)
        return "the single-thread reference";
    int cores = 0;
    bool cpu = true;
    for (size_t t = 0; t < board->task_count; t++)
        if (board->baseline[t]) {
            cores = board->baseline[t]->cores > cores ? board->baseline[t]->cores : cores;
            cpu &= board->baseline[t]->target == AE_CPU;
        }
    return cores > 0 && cpu ? ae_report_textf(b->report, "%s on %d %s", board->baseline_name, cores,
                                              ae_text_plural(cores, "core", "cores"))
                            : board->baseline_name;
}

void ae_builder_mark(struct ae_builder *b, const struct ae_board *board, size_t table)
{
    char id[9];
    snprintf(id, sizeof id, "%.8s", b->collection->environments.words[board->entries->environment]);
    ae_report_table_board(b->report, table, ae_size_name(board->entries->size), id);
}

/* The machines that timed the reference: mostly this one, unless baselines were imported. */
static void note_places(struct ae_builder *b, const struct ae_board *board, size_t table)
{
    for (int place = 0; place < board->collection->places.count; place++) {
        size_t here = 0, all = 0;
        for (size_t i = 0; i < board->count; i++) {
            const struct ae_entry *e = &board->entries[i];
            all += e->place >= 0 && !e->hidden;
            here += e->place == place && !e->hidden;
        }
        if (here == all && all > 0)
            ae_report_note(b->report, table,
                           ae_report_textf(b->report, "The reference was timed on %s.", board->collection->places.words[place]));
        else if (here > 0)
            ae_report_note(b->report, table,
                           ae_report_textf(b->report, "The reference was timed on %s for %zu of %zu %s.",
                                           board->collection->places.words[place], here, all,
                                           ae_text_plural((int64_t)all, "measurement", "measurements")));
    }
}

void ae_builder_note_baseline(struct ae_builder *b, const struct ae_board *board, size_t table)
{
    size_t without = 0;
    if (!board->baseline_name)
        note_places(b, board, table);
    for (size_t t = 0; board->baseline_name && t < board->task_count; t++)
        without += !board->baseline[t];
    if (without > 0)
        ae_report_note(b->report, table,
                       ae_report_textf(b->report,
                                       "%s did not pass, or was not measured, on %zu of %zu %s: no speedup there.",
                                       board->baseline_name, without, board->task_count,
                                       ae_text_plural((int64_t)board->task_count, "task", "tasks")));
}

/* --- matrix ----------------------------------------------------------------------------------------------- */

bool ae_section_matrix(struct ae_builder *b, const struct ae_board *board)
{
    struct ae_column *columns = calloc(board->who_count + 1, sizeof *columns);
    if (!columns)
        return false;
    columns[0] = (struct ae_column){.name = "task", .kind = AE_CELL_TEXT, .key = true};
    for (size_t w = 0; w < board->who_count; w++)
        columns[w + 1] = (struct ae_column){.name = board->who[w].label, .kind = AE_CELL_OUTCOME};
    const char *title =
        ae_report_textf(b->report, "Tasks, %s: speedup over %s where it passed, else the verdict; %s",
                        ae_size_name(board->entries->size), ae_builder_baseline(b, board),
                        ae_builder_environment(b, board->entries->environment));
    const size_t table = ae_report_table(b->report, "matrix", title, columns, board->who_count + 1);
    ae_builder_mark(b, board, table);
    free(columns);
    for (size_t t = 0; t < board->task_count; t++) {
        struct ae_cell *row = ae_report_row(b->report, table);
        if (!row)
            break;
        row[0] = ae_cell_text(ae_report_text(b->report, board->collection->tasks.words[board->tasks[t]]));
        for (size_t w = 0; w < board->who_count; w++) {
            const struct ae_slot *slot = ae_board_slot(board, t, w);
            row[w + 1] = ae_cell_outcome(ae_slot_outcome(slot), slot->s);
        }
    }
    if (!b->report->failed)
        ae_builder_note_baseline(b, board, table);
    return true;
}

/* --- detail ----------------------------------------------------------------------------------------------- */

static const char *notes_text(struct ae_builder *b, const struct ae_entry *e)
{
    char text[256];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < AE_NOTE_COUNT; i++)
        if (e->notes & (1u << i))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", ae_note_name(i));
    if (e->seeded)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sseeded", used ? " " : "");
    if (e->stale)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sstale", used ? " " : "");
    if (e->disturbed)
        snprintf(text + used, sizeof text - used, "%sdisturbed:%d", used ? " " : "", e->disturbed);
    return ae_report_text(b->report, text);
}

static struct ae_interval scaled(struct ae_interval interval, double factor)
{
    return (struct ae_interval){interval.kind, interval.low * factor, interval.high * factor};
}

static void detail_row(struct ae_builder *b, const struct ae_board *board, size_t task, const struct ae_entry *e)
{
    const struct ae_entry *base = board->baseline_name ? board->baseline[task] : NULL;
    const bool comparable = e->verdict == AE_PASS && (base || !board->baseline_name);
    double values[2 * AE_TIMINGS_MAX];
    struct ae_stratum strata[2 * AE_TIMINGS_MAX];
    struct ae_cell speedup = ae_cell_speedup(NAN, no_interval);
    if (comparable && base != e) {
        const size_t n = ae_entry_strata(e, base, 1, values, strata, NULL);
        if (n > 0)
            speedup = ae_cell_speedup(exp(ae_strata_mean(strata, n)),
                                      ae_interval_exp(ae_bootstrap(strata, n, AE_BOOTSTRAP_SEED)));
    } else if (comparable) {
        speedup = ae_cell_speedup(1, no_interval);
    }
    const double over_parallel =
        e->verdict == AE_PASS && board->parallel[task] ? ae_entry_speedup(e, board->parallel[task]) : (double)NAN;
    const struct ae_words *names = &b->collection->entrants;
    struct ae_report *r = b->report;
    const struct ae_cell cells[] = {
        ae_cell_text(ae_report_text(r, ae_entry_task(b->collection, e))),
        ae_cell_text(ae_size_name(e->size)),
        ae_cell_text(ae_report_text(r, names->words[e->entrant])),
        ae_cell_text(ae_target_name(e->target)),
        ae_cell_count(e->sample),
        ae_cell_text(ae_entry_outcome(e)),
        speedup,
        ae_cell_speedup(e->verdict == AE_PASS ? e->speed.published : (double)NAN, no_interval),
        ae_cell_speedup(over_parallel, no_interval),
        ae_cell_number(e->speed.median_ns * 1e-6, scaled(e->speed.median_interval, 1e-6)),
        ae_cell_number(e->speed.reference_ns * 1e-6, no_interval),
        ae_cell_number(e->fresh_ns * 1e-6, no_interval),
        ae_cell_count(e->timing_count),
        ae_cell_count(e->cores),
        ae_cell_text(notes_text(b, e)),
        ae_cell_text(ae_report_text(r, e->detail)),
        ae_cell_count((double)e->run),
        ae_cell_count((double)e->id),
        ae_cell_text(ae_report_textf(r, "%.12s", e->submission)),
        ae_cell_text(ae_report_textf(r, "0x%llx", (unsigned long long)e->sandbox)),
        ae_cell_text(ae_report_textf(r, "%.8s", b->collection->environments.words[e->environment])),
    };
    struct ae_cell *row = ae_report_row(r, b->detail);
    if (row)
        memcpy(row, cells, sizeof cells);
}

bool ae_section_detail(struct ae_builder *b, const struct ae_board *board)
{
    static const struct ae_column columns[] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "target", .kind = AE_CELL_TEXT},
        {.name = "sample", .kind = AE_CELL_COUNT},
        {.name = "verdict", .kind = AE_CELL_TEXT, .key = true},
        {.name = "speedup",
         .description = "over the baseline, geometric mean over the instances; [95 %], {range of too few}",
         .kind = AE_CELL_SPEEDUP,
         .interval = true},
        {.name = "published",
         .description = "mean reference time over mean time: the published definition",
         .kind = AE_CELL_SPEEDUP,
         .extra = true},
        {.name = "to_parallel", .description = "over the CPU program `parallel`", .kind = AE_CELL_SPEEDUP},
        {.name = "median",
         .unit = "ms",
         .description = "from the doorbell to the second ring; [95 %], {range of too few}",
         .kind = AE_CELL_NUMBER,
         .interval = true},
        {.name = "reference",
         .unit = "ms",
         .description = "the single-thread reference on the same instances, median",
         .kind = AE_CELL_NUMBER},
        {.name = "fresh_call",
         .unit = "ms",
         .description = "the first call after a load, median",
         .kind = AE_CELL_NUMBER},
        {.name = "trials", .description = "timed, right and undisturbed", .kind = AE_CELL_COUNT},
        {.name = "cores", .description = "that it might use", .kind = AE_CELL_COUNT, .extra = true},
        {.name = "notes", .kind = AE_CELL_TEXT},
        {.name = "detail", .kind = AE_CELL_TEXT},
        {.name = "run", .kind = AE_CELL_COUNT, .extra = true},
        {.name = "measurement", .kind = AE_CELL_COUNT, .extra = true},
        {.name = "submission", .description = "start of the source's SHA-256", .kind = AE_CELL_TEXT, .extra = true},
        {.name = "sandbox", .description = "layers in force", .kind = AE_CELL_TEXT, .extra = true},
        {.name = "environment", .description = "start of its id", .kind = AE_CELL_TEXT, .extra = true},
    };
    if (b->detail == SIZE_MAX)
        b->detail = ae_report_table(
            b->report, "detail",
            ae_report_textf(b->report, "Measurements: speedup over %s", ae_builder_baseline(b, board)), columns,
            sizeof columns / sizeof *columns);
    const size_t most = b->options->detail_max;
    if (most > 0 && b->collection->count > most) {
        if (!b->report->failed && b->report->tables[b->detail].note_count == 0)
            ae_report_note(b->report, b->detail,
                           ae_report_textf(b->report,
                                           "%zu measurements are too many to list here: 'report --detail --format csv' "
                                           "has them.",
                                           b->collection->count));
        return !b->report->failed;
    }
    size_t task = 0;
    for (size_t i = 0; i < board->count && !b->report->failed; i++) {
        const struct ae_entry *e = &board->entries[i];
        if (e->hidden)
            continue;
        while (board->tasks[task] != e->task)
            task++;
        detail_row(b, board, task, e);
    }
    return !b->report->failed;
}

/* --- not run ---------------------------------------------------------------------------------------------- */

bool ae_section_not_run(struct ae_builder *b, const struct ae_board *board)
{
    static const struct ae_column columns[] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true}, {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "entrant", .kind = AE_CELL_TEXT},           {.name = "target", .kind = AE_CELL_TEXT},
        {.name = "outcome", .kind = AE_CELL_TEXT},           {.name = "reason", .kind = AE_CELL_TEXT},
    };
    for (size_t i = 0; i < board->count && !b->report->failed; i++) {
        const struct ae_entry *e = &board->entries[i];
        if (e->hidden || (!e->stale && !ae_entry_excused(e)))
            continue;
        if (b->not_run == SIZE_MAX)
            b->not_run = ae_report_table(b->report, "not_run", "Not judged here, and why", columns,
                                         sizeof columns / sizeof *columns);
        struct ae_cell *row = ae_report_row(b->report, b->not_run);
        if (!row)
            break;
        row[0] = ae_cell_text(ae_report_text(b->report, ae_entry_task(b->collection, e)));
        row[1] = ae_cell_text(ae_size_name(e->size));
        row[2] = ae_cell_text(ae_report_text(b->report, ae_entry_entrant(b->collection, e)));
        row[3] = ae_cell_text(ae_target_name(e->target));
        row[4] = ae_cell_text(e->stale ? "stale" : ae_entry_outcome(e));
        row[5] = ae_cell_text(e->stale ? ae_report_textf(b->report,
                                                         "measured at version %d of the task, which has "
                                                         "changed since; measure it again",
                                                         e->task_version)
                                       : ae_report_text(b->report, e->detail));
    }
    return !b->report->failed;
}
