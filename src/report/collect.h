/* Measurements on their way from the store to tables: only what reports need of each is kept. For src/report. */
#ifndef AE_REPORT_COLLECT_H
#define AE_REPORT_COLLECT_H

#include "report/arena.h"
#include "report/report.h"

struct ae_entry { /* one measurement */
    int64_t id, run, started_ns;
    int environment, task, entrant, bank; /* numbers in the words of the collection */
    enum ae_size size;
    enum ae_target target;
    int sample, task_version;
    bool seeded;
    bool stale;  /* of an older version of the task than others of the same environment and size */
    bool hidden; /* read as a yardstick only */
    enum ae_verdict verdict;
    enum ae_violation violation;
    unsigned notes;
    int cores, disturbed;
    uint64_t sandbox;
    const char *detail, *submission;
    int place; /* number of the machine of its reference times in the words of the collection; -1: none */
    struct ae_timing *timings; /* timed, right and undisturbed; none where the verdict is no pass */
    int timing_count;
    struct ae_work work; /* zeros: not known */
    double floor_ns;     /* NaN: not known */
    double fresh_ns; /* median of the fresh calls; NaN: none */
    struct ae_speedup speed;
    const struct ae_entry_phases *phases; /* NULL: not profiled, or not read */
};

struct ae_entry_phases { /* what tables show of an explanation */
    int64_t call_ns, timed_ns, floor_ns, own_ns[AE_PHASE_COUNT];
    const char *reason; /* the first */
};

struct ae_collection {
    struct ae_arena arena;
    struct ae_words environments, environment_names, tasks, entrants, banks, places;
    int *domains; /* by task */
    int *names;   /* by environment: number in environment_names */
    int domain_room, name_room;
    struct ae_entry *entries;
    size_t count, room;
    bool hiding; /* what is added now is hidden */
    size_t explained; /* entries with phases */
};

/* Appends what the filter finds; which trials are read is decided here. */
int ae_collect(struct ae_collection *collection, struct ae_store *store, const struct ae_measurement_filter *filter,
               struct ae_error *err);
void ae_collection_release(struct ae_collection *collection);
/* Once all is collected: orders the entries by environment, size, task, entrant, hidden, target, seeded, sample,
 * newest first; marks what is stale. */
void ae_collection_finish(struct ae_collection *collection);

/* Once it is finished: reads the phases of the displayed entries. With more than `most` that have some (0: never) it stops
 * at one more than that. */
int ae_collection_explain(struct ae_collection *collection, struct ae_store *store, size_t most, struct ae_error *err);

/* Hides the rungs of ladders ("step-NN-ID"), unless there is nothing else: they are programs on the way to another. */
void ae_collection_hide_steps(struct ae_collection *collection);
bool ae_entry_is_step(const struct ae_collection *collection, const struct ae_entry *entry);

const char *ae_entry_task(const struct ae_collection *collection, const struct ae_entry *entry);
const char *ae_entry_entrant(const struct ae_collection *collection, const struct ae_entry *entry);
/* "state_carried" for a violation, else the verdict. */
const char *ae_entry_outcome(const struct ae_entry *entry);
/* Says that a submission was not judged: by our fault or the machine's. */
bool ae_entry_excused(const struct ae_entry *entry);

/* The speedup of entry over the same task's base as strata of the log ratios, of weight `weight` in all: in pairs
 * of instances where both saw the same ones, else by way of the reference. base NULL: over the reference. values
 * and strata: room for 2 * AE_TIMINGS_MAX. Returns the number of strata; 0: not known. *ret_pairs may be NULL. */
size_t ae_entry_strata(const struct ae_entry *entry, const struct ae_entry *base, double weight, double *values,
                       struct ae_stratum *strata, size_t *ret_pairs);
/* The speedup itself; NaN: not known. */
double ae_entry_speedup(const struct ae_entry *entry, const struct ae_entry *base);

#endif
