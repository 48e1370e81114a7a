/* The experience base: every right program of a store with its time and the strategies found in it. */
#ifndef AE_STRATEGY_EXPERIENCE_H
#define AE_STRATEGY_EXPERIENCE_H

#include "stats/attribution.h"
#include "store/store.h"
#include "strategy/strategy.h"

/* One source on one task, at one size on one machine: the newest measurement of it. */
struct ae_experience {
    int64_t id; /* of the measurement */
    const struct ae_task *task;
    int task_number; /* index into ae_tasks */
    enum ae_size size;
    int place;           /* number of the machine in the base's places */
    char entrant[96];    /* of that measurement; hostile text */
    int sample;
    char submission[65]; /* SHA-256 of the source */
    double median_ns;    /* of the undisturbed timed calls */
    uint64_t has, known; /* bit id: the strategy is present; it is known whether it is */
};

struct ae_place {
    char environment[65], name[96];
};

struct ae_experiences {
    struct ae_experience *items; /* by place, size, task, fastest first */
    size_t count;
    struct ae_place *places;
    size_t place_count;
};

/* CUDA programs that passed, at the version of their task that this program knows. Strategies are looked for in the source
 * alone, with the task's reference beside it (tasks: the folder of tasks). filter chooses; its trials are set here.
 * AE_E_NOTFOUND: nothing there. */
int ae_experiences_read(struct ae_store *store, struct ae_finder *finder, const char *tasks,
                        const struct ae_measurement_filter *filter, struct ae_experiences *ret, struct ae_error *err);
void ae_experiences_release(struct ae_experiences *experiences);

/* Those of one place and size as rows for ae_attribute(): speeds are inverse times, since tasks are compared within
 * themselves only. The caller frees *ret_rows. */
int ae_experiences_rows(const struct ae_experiences *experiences, int place, enum ae_size size,
                        struct ae_traited **ret_rows, size_t *ret_count, struct ae_error *err);

/* Strategies that go together: connected by pairs with a Jaccard index of at least AE_BUNDLE, each used by three
 * programs or more. *ret_bundle[id]: number of its bundle, -1 where it goes with none. Returns the number of bundles. */
#define AE_BUNDLE 0.6
int ae_bundles(const struct ae_traited *rows, size_t count, int ret_bundle[AE_STRATEGY_COUNT]);

#endif
