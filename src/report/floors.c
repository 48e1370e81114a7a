#include "report/sections.h"

#include <math.h>
#include <stdlib.h>

static const struct ae_interval no_interval = {AE_INTERVAL_NONE, NAN, NAN};

/* Steps that one block can make follow each other in far less than a microsecond: below so many nothing is said. */
#define STEPS_WORTH 16

double ae_slot_floor_share(const struct ae_slot *slot)
{
    const struct ae_entry *e = slot->picked;
    if (!e || e->verdict != AE_PASS || isnan(e->floor_ns) || !(e->speed.median_ns > 0))
        return NAN;
    return e->floor_ns / e->speed.median_ns;
}

/* What is known of the task here: the work of its instances, and the floor. */
static const struct ae_entry *known(const struct ae_board *board, size_t task)
{
    for (size_t w = 0; w < board->who_count; w++) {
        const struct ae_slot *slot = ae_board_slot(board, task, w);
        if (!isnan(ae_slot_floor_share(slot)))
            return slot->picked;
    }
    return NULL;
}

static bool any_known(const struct ae_board *board, size_t who)
{
    for (size_t t = 0; t < board->task_count; t++)
        if (!isnan(ae_slot_floor_share(ae_board_slot(board, t, who))))
            return true;
    return false;
}

bool ae_section_floors(struct ae_builder *b, const struct ae_board *board)
{
    static const struct ae_column fixed[] = {
        {.name = "task", .kind = AE_CELL_TEXT, .key = true},
        {.name = "in", .unit = "MB", .description = "that must reach the device", .kind = AE_CELL_NUMBER},
        {.name = "out", .unit = "MB", .description = "that must come back", .kind = AE_CELL_NUMBER},
        {.name = "arithmetic", .unit = "Gop", .description = "operations of a good algorithm", .kind = AE_CELL_NUMBER},
        {.name = "steps", .description = "that depend on each other", .kind = AE_CELL_NUMBER},
        {.name = "floor",
         .unit = "ms",
         .description = "the call floor: the longest of both ways over the link and the arithmetic, all at this "
                        "machine's best rates, then 16 "
                        "ns a step and 20 us",
         .kind = AE_CELL_NUMBER},
    };
    enum { FIXED = sizeof fixed / sizeof *fixed };
    size_t *shown = calloc(board->who_count + 1, sizeof *shown), count = 0;
    struct ae_column *columns = calloc(FIXED + 2 * board->who_count, sizeof *columns);
    for (size_t w = 0; shown && columns && w < board->who_count; w++)
        if (any_known(board, w))
            shown[count++] = w;
    if (!shown || !columns) {
        free(shown);
        free(columns);
        return false;
    }
    for (size_t i = 0; i < FIXED; i++)
        columns[i] = fixed[i];
    for (size_t i = 0; i < count; i++) {
        const char *label = board->who[shown[i]].label;
        columns[FIXED + i] = (struct ae_column){.name = label, .kind = AE_CELL_SHARE};
        columns[FIXED + count + i] = (struct ae_column){.name = ae_report_textf(b->report, "%s a step", label),
                                                        .unit = "us",
                                                        .kind = AE_CELL_NUMBER};
    }
    if (count > 0) {
        columns[FIXED].description = "share of the time that the floor is: 100 % would be as fast as the machine can be";
        columns[FIXED + count].description = "time of the call over its steps";
        const char *title = ae_report_textf(b->report, "Floors, %s; %s", ae_size_name(board->entries->size),
                                            ae_builder_environment(b, board->entries->environment));
        const size_t table = ae_report_table(b->report, "floors", title, columns, FIXED + 2 * count);
        ae_builder_mark(b, board, table);
        for (size_t t = 0; t < board->task_count && !b->report->failed; t++) {
            const struct ae_entry *e = known(board, t);
            struct ae_cell *row = e ? ae_report_row(b->report, table) : NULL;
            if (!row)
                continue;
            const double numbers[] = {e->work.bytes_in * 1e-6, e->work.bytes_out * 1e-6, e->work.operations * 1e-9,
                                      e->work.steps, e->floor_ns * 1e-6};
            row[0] = ae_cell_text(ae_report_text(b->report, board->collection->tasks.words[board->tasks[t]]));
            for (size_t i = 1; i < FIXED; i++)
                row[i] = ae_cell_number(numbers[i - 1], no_interval);
            for (size_t i = 0; i < count; i++) {
                const struct ae_slot *slot = ae_board_slot(board, t, shown[i]);
                const double share = ae_slot_floor_share(slot);
                row[FIXED + i] = ae_cell_share(share, no_interval);
                row[FIXED + count + i] = ae_cell_number(
                    isnan(share) || e->work.steps < STEPS_WORTH ? (double)NAN : slot->picked->speed.median_ns * 1e-3 / e->work.steps,
                    no_interval);
            }
        }
    }
    free(shown);
    free(columns);
    return !b->report->failed;
}
