#include "report/sections.h"

#include <math.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

static struct ae_cell in_ms(int64_t ns)
{
    return ae_cell_number(ns > 0 ? (double)ns * 1e-6 : (double)NAN, no_interval);
}

/* Which phases any measurement has. */
static void look_over(const struct ae_collection *c, bool ret_used[AE_PHASE_COUNT])
{
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        ret_used[phase] = false;
    for (size_t i = 0; i < c->count; i++) {
        const struct ae_entry *e = &c->entries[i];
        for (int phase = 0; e->phases && phase < AE_PHASE_COUNT; phase++)
            ret_used[phase] |= e->phases->own_ns[phase] > 0;
    }
}

static void make_table(struct ae_builder *b, const bool used[AE_PHASE_COUNT])
{
    struct ae_column columns[AE_PHASE_COUNT + 10] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true},
        {.name = "size", .kind = AE_CELL_TEXT, .key = true},
        {.name = "entrant", .kind = AE_CELL_TEXT, .key = true},
        {.name = "target", .kind = AE_CELL_TEXT},
        {.name = "sample", .kind = AE_CELL_COUNT, .extra = true},
        {.name = "call",
         .unit = "ms",
         .description = "the explained call, made under the tracer on the practice bank; the phases add up to it",
         .kind = AE_CELL_NUMBER},
        {.name = "timed", .unit = "ms", .description = "the same without the tracer, median", .kind = AE_CELL_NUMBER},
        {.name = "floor",
         .unit = "ms",
         .description = "sum of the phase floors: the least that this machine needs for the task, nothing overlapped",
         .kind = AE_CELL_NUMBER},
    };
    size_t n = 8;
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        if (used[phase])
            columns[n++] = (struct ae_column){.name = ae_phase_name((enum ae_phase)phase),
                                              .unit = "ms",
                                              .description = ae_phase_meaning((enum ae_phase)phase),
                                              .kind = AE_CELL_NUMBER};
    columns[n++] = (struct ae_column){
        .name = "reason", .description = "the most important one; docs/bottlenecks.md lists them", .kind = AE_CELL_TEXT};
    columns[n++] = (struct ae_column){.name = "environment", .description = "start of its id", .kind = AE_CELL_TEXT, .extra = true};
    b->phases = ae_report_table(b->report, "phases", "Where the wait goes: phases of a profiled call", columns, n);
}

static void add_row(struct ae_builder *b, const struct ae_entry *e, const bool used[AE_PHASE_COUNT])
{
    struct ae_report *r = b->report;
    struct ae_cell *row = ae_report_row(r, b->phases);
    size_t n = 0;
    if (!row)
        return;
    row[n++] = ae_cell_text(ae_report_text(r, ae_entry_task(b->collection, e)));
    row[n++] = ae_cell_text(ae_size_name(e->size));
    row[n++] = ae_cell_text(ae_report_text(r, ae_entry_entrant(b->collection, e)));
    row[n++] = ae_cell_text(ae_target_name(e->target));
    row[n++] = ae_cell_count(e->sample);
    row[n++] = in_ms(e->phases->call_ns);
    row[n++] = in_ms(e->phases->timed_ns);
    row[n++] = in_ms(e->phases->floor_ns);
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        if (used[phase])
            row[n++] = ae_cell_number((double)e->phases->own_ns[phase] * 1e-6, no_interval);
    row[n++] = ae_cell_text(ae_report_text(r, e->phases->reason));
    row[n++] = ae_cell_text(ae_report_textf(r, "%.8s", b->collection->environments.words[e->environment]));
}

bool ae_section_phases(struct ae_builder *b, const struct ae_board *board)
{
    bool used[AE_PHASE_COUNT];
    const size_t most = b->options->detail_max;
    const bool many = most > 0 && b->collection->explained > most;
    if (b->collection->explained == 0)
        return !b->report->failed;
    look_over(b->collection, used);
    if (b->phases == SIZE_MAX) {
        make_table(b, used);
        if (many && !b->report->failed)
            ae_report_note(b->report, b->phases,
                           ae_report_textf(b->report,
                                           "More than %zu profiled calls are too many to list here: 'report --phases "
                                           "--format csv' has them.",
                                           most));
    }
    for (size_t i = 0; i < board->count && !b->report->failed && !many; i++)
        if (board->entries[i].phases)
            add_row(b, &board->entries[i], used);
    return !b->report->failed;
}
