#include "cli/report_search.h"

#include "base/clock.h"
#include "base/file.h"
#include "run/context.h"
#include "strategy/strategy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 4
/* Sources of a whole report take a second or two; those made to take long are not waited for any longer. */
#define LOOK_MAX (30 * AE_SEC)

struct searching {
    struct ae_finder *finder; /* of the first thread; the others make their own */
    struct ae_report_strategy listed[AE_STRATEGY_COUNT];
};
_Static_assert(AE_STRATEGY_COUNT <= AE_REPORT_STRATEGIES_MAX, "a mask of strategies has 64 bits");

/* One thread's share of the programs: it takes the next one that nobody took. */
struct lane {
    struct ae_report_program *programs;
    size_t count;
    atomic_size_t *next;
    const char *tasks; /* folder; "": there is none */
    struct ae_finder *finder; /* NULL: to be made */
    int64_t deadline_ns;      /* no program is begun after it */
    int rc;
    struct ae_error err;
};

static int keep(const struct ae_findings *found, struct ae_report_program *p, struct ae_error *err)
{
    p->findings = calloc(found->count + 1, sizeof *p->findings);
    if (!p->findings)
        return ae_error_set(err, AE_E_NOMEM, "no memory for findings");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        p->has |= (uint64_t)(found->presence[id] == AE_PRESENT) << id;
        p->known |= (uint64_t)(found->presence[id] != AE_UNKNOWN) << id;
    }
    for (size_t i = 0; i < found->count; i++) {
        const struct ae_finding *from = &found->items[i];
        struct ae_report_finding *to = &p->findings[p->finding_count];
        if (from->presence != AE_PRESENT || !(p->has >> from->strategy & 1))
            continue;
        to->strategy = (int)from->strategy;
        to->confidence = from->confidence;
        snprintf(to->sentence, sizeof to->sentence, "%s", from->sentence);
        for (int k = 0; k < from->line_count && k < AE_REPORT_FINDING_LINES; k++)
            to->lines[to->line_count++] = (struct ae_report_lines){from->lines[k].first, from->lines[k].last};
        p->finding_count++;
    }
    p->looked = true;
    return AE_OK;
}

static int look_at(struct ae_finder *finder, const char *tasks, struct ae_report_program *p, struct ae_error *err)
{
    char path[4400];
    struct ae_bytes reference = {0};
    struct ae_findings found = {0};
    const bool known = ae_task_named(p->task) != NULL; /* a store's words are no paths: only tasks of ours have a reference */
    snprintf(path, sizeof path, "%s/%s/reference.c", tasks, p->task);
    const bool have = *tasks && known && ae_file_read(path, AE_STRATEGY_SOURCE_MAX, &reference, NULL) == AE_OK;
    const struct ae_strategy_input input = {.source = p->source,
                                            .source_size = p->source_size,
                                            .reference = have ? (const char *)reference.data : NULL,
                                            .reference_size = have ? reference.size : 0};
    int rc = ae_strategy_find(finder, &input, &found, err);
    if (rc == AE_OK)
        rc = keep(&found, p, err);
    else if (rc == AE_E_INPUT) /* too long: nothing is known of it */
        rc = AE_OK;
    ae_findings_release(&found);
    ae_bytes_release(&reference);
    return rc;
}

static void *run_lane(void *data)
{
    struct lane *lane = data;
    struct ae_finder *own = NULL, *finder = lane->finder;
    size_t i;
    if (!finder) {
        lane->rc = ae_finder_new(&own, &lane->err);
        finder = own;
    }
    while (lane->rc == AE_OK && (i = atomic_fetch_add(lane->next, 1)) < lane->count && ae_now_ns() < lane->deadline_ns)
        lane->rc = look_at(finder, lane->tasks, &lane->programs[i], &lane->err);
    ae_finder_free(own);
    return NULL;
}

static int look(void *data, struct ae_report_program *programs, size_t count, struct ae_error *err)
{
    char tasks[4096] = "";
    struct lane lanes[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    atomic_size_t next = 0;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = cores > THREADS_MAX ? THREADS_MAX : cores < 1 ? 1 : (int)cores, started = 0;
    const struct searching *searching = data;
    if ((size_t)wanted > count / 8 + 1) /* a finder takes a tenth of a second to make */
        wanted = (int)(count / 8 + 1);
    if (ae_context_find_tasks(tasks, sizeof tasks, &(struct ae_error){0}) != AE_OK)
        tasks[0] = 0;
    for (int i = 0; i < wanted; i++)
        lanes[i] = (struct lane){.programs = programs, .count = count, .next = &next, .tasks = tasks, .deadline_ns = ae_now_ns() + LOOK_MAX};
    lanes[0].finder = searching->finder;
    for (; started < wanted - 1; started++)
        if (pthread_create(&threads[started], NULL, run_lane, &lanes[started + 1]) != 0)
            break; /* fewer do as well */
    (void)run_lane(&lanes[0]);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i <= started; i++)
        if (lanes[i].rc != AE_OK) {
            *err = lanes[i].err;
            return lanes[i].rc;
        }
    return AE_OK;
}

int ae_cli_search_init(struct ae_report_search *ret, struct ae_error *err)
{
    struct searching *searching = calloc(1, sizeof *searching);
    if (!searching)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the search for strategies");
    const int rc = ae_finder_new(&searching->finder, err);
    if (rc != AE_OK) {
        free(searching);
        return rc;
    }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        searching->listed[id] = (struct ae_report_strategy){ae_strategies[id].id, ae_strategies[id].name,
                                                            ae_strategies[id].definition};
    *ret = (struct ae_report_search){
        .strategies = searching->listed, .count = AE_STRATEGY_COUNT, .look = look, .data = searching};
    return AE_OK;
}

void ae_cli_search_release(struct ae_report_search *search)
{
    struct searching *searching = search->data;
    if (searching)
        ae_finder_free(searching->finder);
    free(searching);
    *search = (struct ae_report_search){0};
}
