#include "report/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ae_board_release(struct ae_board *board)
{
    free(board->tasks);
    free(board->who);
    free(board->slots);
    free(board->baseline);
    free(board->parallel);
    free(board->tuned);
    *board = (struct ae_board){0};
}

struct ae_slot *ae_board_slot(const struct ae_board *board, size_t task, size_t who)
{
    return &board->slots[task * board->who_count + who];
}

static bool judged(const struct ae_entry *entry)
{
    return !entry->stale && !ae_entry_excused(entry);
}

void ae_slot_samples(const struct ae_slot *slot, size_t *ret_judged, size_t *ret_passed)
{
    *ret_judged = *ret_passed = 0;
    for (size_t i = 0; i < slot->count; i++) {
        const struct ae_entry *e = &slot->first[i];
        if (!judged(e) || (i > 0 && e->sample == slot->first[i - 1].sample))
            continue; /* of one sample measured twice the newest, which comes first */
        ++*ret_judged;
        *ret_passed += e->verdict == AE_PASS;
    }
}

bool ae_slot_counts(const struct ae_slot *slot)
{
    return slot->picked || !slot->first;
}

const char *ae_slot_outcome(const struct ae_slot *slot)
{
    if (slot->picked)
        return ae_entry_outcome(slot->picked);
    if (!slot->first)
        return "not_measured";
    return slot->first->stale ? "stale" : ae_entry_outcome(slot->first);
}

/* --- making ----------------------------------------------------------------------------------------------- */

static size_t who_key(const struct ae_entry *e)
{
    return ((size_t)e->entrant * AE_TARGET_COUNT + e->target) * 2 + e->seeded;
}

/* Lists the displayed tasks and entrants; by_key tells the number of an entrant. */
static bool list_axes(struct ae_board *b, int *by_key)
{
    int last_task = -1;
    for (size_t i = 0; i < b->count; i++) {
        const struct ae_entry *e = &b->entries[i];
        if (e->hidden)
            continue;
        if (e->task != last_task) {
            last_task = e->task;
            b->tasks[b->task_count++] = e->task;
        }
        int *number = &by_key[who_key(e)];
        if (*number < 0) {
            struct ae_who *more = realloc(b->who, (b->who_count + 1) * sizeof *more);
            if (!more)
                return false;
            b->who = more;
            *number = (int)b->who_count;
            b->who[b->who_count++] = (struct ae_who){e->entrant, e->target, e->seeded, ""};
        }
    }
    return true;
}

static void make_labels(struct ae_board *b, struct ae_report *report)
{
    int *targets = calloc((size_t)b->collection->entrants.count + 1, sizeof *targets);
    for (size_t w = 0; targets && w < b->who_count; w++)
        targets[b->who[w].entrant]++;
    for (size_t w = 0; w < b->who_count; w++) {
        struct ae_who *who = &b->who[w];
        const bool several = targets && targets[who->entrant] > 1;
        who->label =
            ae_report_textf(report, "%s%s%s%s", b->collection->entrants.words[who->entrant], several ? "/" : "",
                            several ? ae_target_name(who->target) : "", who->seeded ? " [seed]" : "");
    }
    free(targets);
}

/* The passed entry of that name among those of one task, rather displayed than hidden, unseeded than seeded. */
static const struct ae_entry *yardstick(const struct ae_entry *entries, size_t count, int entrant)
{
    const struct ae_entry *found = NULL;
    int found_rank = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ae_entry *e = &entries[i];
        const int rank = 4 - 2 * e->hidden - e->seeded;
        if (e->entrant == entrant && e->verdict == AE_PASS && !e->stale && e->timing_count > 0 &&
            rank > found_rank) {
            found = e;
            found_rank = rank;
        }
    }
    return found;
}

static void pick(struct ae_slot *slot, const struct ae_entry *baseline, bool over_reference, enum ae_pick how)
{
    slot->s = NAN;
    for (size_t i = 0; i < slot->count; i++) {
        const struct ae_entry *e = &slot->first[i];
        if (!judged(e))
            continue;
        const double s =
            e->verdict != AE_PASS || (!over_reference && !baseline) ? (double)NAN : ae_entry_speedup(e, baseline);
        const bool better = how == AE_PICK_BEST && slot->picked && e->verdict == AE_PASS &&
                            (slot->picked->verdict != AE_PASS || s > slot->s);
        if (slot->picked && !better)
            continue;
        slot->picked = e;
        slot->s = s;
    }
}

static void fill_task(struct ae_board *b, size_t task, const struct ae_entry *entries, size_t count,
                      const int *by_key, const struct ae_report_options *options)
{
    const struct ae_words *names = &b->collection->entrants;
    b->parallel[task] = yardstick(entries, count, ae_words_find(names, "parallel"));
    b->tuned[task] = yardstick(entries, count, ae_words_find(names, "tuned"));
    if (b->baseline_name)
        b->baseline[task] = yardstick(entries, count, ae_words_find(names, b->baseline_name));
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && who_key(&entries[end]) == who_key(&entries[i]) &&
               entries[end].hidden == entries[i].hidden)
            end++;
        if (!entries[i].hidden) {
            struct ae_slot *slot = ae_board_slot(b, task, (size_t)by_key[who_key(&entries[i])]);
            slot->first = &entries[i];
            slot->count = end - i;
            pick(slot, b->baseline[task], !b->baseline_name, options->pick);
        }
        i = end;
    }
}

static void fill(struct ae_board *b, const int *by_key, const struct ae_report_options *options)
{
    for (size_t i = 0; i < b->task_count * b->who_count; i++)
        b->slots[i].s = NAN;
    size_t task = 0;
    for (size_t i = 0; i < b->count && task < b->task_count;) {
        size_t end = i;
        while (end < b->count && b->entries[end].task == b->entries[i].task)
            end++;
        if (b->entries[i].task == b->tasks[task]) /* else one that only hidden entries are of */
            fill_task(b, task++, &b->entries[i], end - i, by_key, options);
        i = end;
    }
}

bool ae_board_make(struct ae_board *b, struct ae_report *report, const struct ae_collection *collection,
                   size_t from, const struct ae_report_options *options, size_t *ret_next)
{
    const struct ae_entry *first = &collection->entries[from];
    size_t end = from;
    while (end < collection->count && collection->entries[end].environment == first->environment &&
           collection->entries[end].size == first->size)
        end++;
    *ret_next = end;
    *b = (struct ae_board){.collection = collection, .entries = first, .count = end - from};
    if (options->baseline && strcmp(options->baseline, "reference") != 0)
        b->baseline_name = options->baseline;
    const size_t keys = (size_t)collection->entrants.count * AE_TARGET_COUNT * 2;
    int *by_key = malloc((keys + 1) * sizeof *by_key);
    b->tasks = malloc(((size_t)collection->tasks.count + 1) * sizeof *b->tasks);
    bool fine = by_key && b->tasks;
    for (size_t i = 0; fine && i < keys; i++)
        by_key[i] = -1;
    fine = fine && list_axes(b, by_key);
    if (fine) {
        b->slots = calloc(b->task_count * b->who_count + 1, sizeof *b->slots);
        b->baseline = calloc(b->task_count + 1, sizeof *b->baseline);
        b->parallel = calloc(b->task_count + 1, sizeof *b->parallel);
        b->tuned = calloc(b->task_count + 1, sizeof *b->tuned);
        fine = b->slots && b->baseline && b->parallel && b->tuned;
    }
    if (fine) {
        make_labels(b, report);
        fill(b, by_key, options);
    }
    free(by_key);
    return fine;
}
