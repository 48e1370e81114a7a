#include "run/prepare.h"

#include "base/clock.h"
#include "run/twin.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Operations a second of plain C on one core, for the guess alone. */
#define RATE 5e8
/* Memory of a case beyond its arrays: worker, compiler's leftovers. */
#define CASE_OVERHEAD ((uint64_t)256 << 20)

struct guess {
    struct ae_case_name name;
    double seconds;
    bool timed; /* its baseline is missing */
};

/* What a baseline takes whose reference takes so long: long calls mostly end after two repeats that agree. */
static double baseline_seconds(double call)
{
    const int repeats = ae_baseline_repeats((int64_t)(call * 1e9));
    return call * (repeats > 2 && (int64_t)(call * 1e9) >= AE_BASELINE_LONG_NS ? 2 : repeats);
}

static int longest_first(const void *a, const void *b)
{
    const double x = ((const struct guess *)a)->seconds, y = ((const struct guess *)b)->seconds;
    return (x < y) - (x > y);
}

/* Seconds that the reference took on one of the cases, by a baseline of it; 0: there is none. */
static double seconds_measured(struct ae_context *context, const struct ae_case_name *names, int count)
{
    for (int i = 0; i < count; i++) {
        const int64_t ns = names[i].kind == AE_TRIAL_TIMED ? ae_case_baseline_ns(context, &names[i]) : 0;
        if (ns > 0)
            return (double)ns / AE_SEC;
    }
    return 0;
}

/* Seconds of the reference on an instance of the size, by its work model: rough, and said to be. Makes one to look at. */
static void guess_size(const struct ae_task *task, enum ae_size size, double *ret_seconds, uint64_t *ret_bytes)
{
    struct ae_instance inst;
    struct ae_work work = {0};
    struct ae_error err;
    *ret_seconds = 0.1;
    *ret_bytes = 0;
    if (ae_instance_make(&inst, task, size, 0, 1, &err) == AE_OK) {
        ae_instance_work(&inst, &work);
        *ret_seconds = work.operations / RATE;
        *ret_bytes = ae_instance_bytes(&inst);
    }
    ae_instance_release(&inst);
}

int ae_prepare_plan(struct ae_context *context, const struct ae_task *const *tasks, size_t task_count, unsigned sizes,
                    const struct ae_prepare_choice *choice, struct ae_prepare_plan *ret, struct ae_error *err)
{
    struct guess *all = NULL;
    size_t count = 0;
    *ret = (struct ae_prepare_plan){0};
    for (size_t t = 0; t < task_count; t++)
        for (int s = 0; s < AE_SIZE_COUNT; s++) {
            struct ae_case_name names[64];
            const enum ae_size size = (enum ae_size)s;
            const struct ae_bank_plan *plan = ae_bank_plan(size);
            double seconds = -1;
            uint64_t bytes = 0;
            if (!(sizes & AE_AT(s)))
                continue;
            const int usual = choice->timed ? choice->timed : plan->first_trials;
            const int timed = choice->full || usual > plan->timed ? plan->timed : usual;
            const int fresh = choice->full ? plan->fresh : (timed + plan->trials_per_group - 1) / plan->trials_per_group;
            int n = ae_cases_of(tasks[t], size, false, timed, fresh, names);
            for (int i = 0; context->device.handle && i < AE_LEDGER_INSTANCES; i++)
                names[n++] = (struct ae_case_name){
                    .task = tasks[t], .size = size, .kind = AE_TRIAL_LEDGER, .number = i};
            for (int i = 0; i < n; i++) {
                const bool baseline = names[i].kind == AE_TRIAL_TIMED && !choice->no_baselines;
                if (ae_case_cached(context, &names[i], baseline))
                    continue;
                if (seconds < 0) {
                    const double measured = seconds_measured(context, names, n);
                    guess_size(tasks[t], size, &seconds, &bytes);
                    seconds = measured > 0 ? measured : seconds;
                    ret->largest = bytes > ret->largest ? bytes : ret->largest;
                }
                struct guess *more = realloc(all, (count + 1) * sizeof *more);
                if (!more) {
                    free(all);
                    return ae_error_set(err, AE_E_NOMEM, "no memory to plan");
                }
                all = more;
                const bool missing = baseline && ae_case_baseline_ns(context, &names[i]) == 0;
                all[count++] = (struct guess){names[i], seconds, missing};
                ret->answers++;
                ret->baselines += missing;
                ret->seconds += missing ? baseline_seconds(seconds) : seconds;
            }
        }
    if (count > 1)
        qsort(all, count, sizeof *all, longest_first);
    ret->cases = calloc(count + 1, sizeof *ret->cases);
    ret->guesses = calloc(count + 1, sizeof *ret->guesses);
    ret->timed = calloc(count + 1, sizeof *ret->timed);
    const bool fine = ret->cases && ret->guesses && ret->timed;
    for (size_t i = 0; fine && i < count; i++) {
        ret->cases[i] = all[i].name;
        ret->guesses[i] = all[i].seconds;
        ret->timed[i] = all[i].timed;
    }
    ret->count = count;
    free(all);
    return fine ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory to plan");
}

void ae_prepare_plan_release(struct ae_prepare_plan *plan)
{
    free(plan->cases);
    free(plan->guesses);
    free(plan->timed);
    *plan = (struct ae_prepare_plan){0};
}

/* How far a part of the work is. The models are off by a factor that differs from machine to machine; what is made says by
 * how much. */
struct pace {
    size_t count, made;
    double guessed, made_guess; /* seconds by the models: of all, of what is made */
    int64_t start;
};

#define PACE_TEXT 96

/* "12 of 40 answers, some 35 s left" */
static void pace_text(const struct pace *p, const char *what, char text[PACE_TEXT])
{
    const double elapsed = (double)(ae_now_ns() - p->start) / AE_SEC;
    const int n = snprintf(text, PACE_TEXT, "%zu of %zu %s", p->made, p->count, what);
    if (p->made > 0 && p->made < p->count && p->made_guess > 0 && elapsed >= 1 && n < PACE_TEXT)
        (void)snprintf(text + n, (size_t)(PACE_TEXT - n), ", some %.0f s left",
                       ceil(elapsed * (p->guessed - p->made_guess) / p->made_guess));
}

/* Cases that are made on all cores. */
struct crew {
    struct ae_context *context;
    const struct ae_case_name *cases;
    const size_t *turn; /* which of them, in this order */
    size_t count;
    int (*make)(struct ae_context *context, const struct ae_case_name *name, struct ae_error *err);
    const volatile int *stop;
    const double *guesses; /* as cases; NULL: nothing is said of how far it is */
    struct pace pace;
    ae_progress_fn *say; /* where progress goes otherwise */
    void *say_data;
    pthread_mutex_t mutex;
    size_t next;
    struct ae_error err; /* of the first case that failed */
};

static int make_answer(struct ae_context *context, const struct ae_case_name *name, struct ae_error *err)
{
    struct ae_case made;
    const int rc = ae_case_open(context, name, false, &made, err);
    ae_case_release(&made);
    return rc;
}

/* A task without one, and a failure, cost an evaluation time at most. */
static int find_twin(struct ae_context *context, const struct ae_case_name *name, struct ae_error *err)
{
    int number;
    (void)err;
    (void)ae_twin_find(context, name->task, name->size, &number, NULL);
    return AE_OK;
}

/* What any of the crew is at, behind how far all are. */
static void say_with_pace(void *data, const char *text)
{
    struct crew *crew = data;
    char pace[PACE_TEXT], line[256];
    pthread_mutex_lock(&crew->mutex);
    pace_text(&crew->pace, "answers", pace);
    pthread_mutex_unlock(&crew->mutex);
    (void)snprintf(line, sizeof line, "%s%s%.140s", pace, *text ? "; " : "", text);
    crew->say(crew->say_data, line);
}

/* One more is made, or could not be. */
static void count_one(struct crew *crew, size_t turn)
{
    if (!crew->guesses)
        return;
    pthread_mutex_lock(&crew->mutex);
    crew->pace.made++;
    crew->pace.made_guess += crew->guesses[turn];
    pthread_mutex_unlock(&crew->mutex);
    ae_context_say(crew->context, "%s", "");
}

static void *work(void *data)
{
    struct crew *crew = data;
    for (;;) {
        pthread_mutex_lock(&crew->mutex);
        const size_t i = crew->next++;
        pthread_mutex_unlock(&crew->mutex);
        if (i >= crew->count || *crew->stop)
            return NULL;
        struct ae_error err = {0};
        const int rc = crew->make(crew->context, &crew->cases[crew->turn[i]], &err);
        count_one(crew, crew->turn[i]);
        if (rc == AE_OK)
            continue;
        pthread_mutex_lock(&crew->mutex);
        if (crew->err.code == AE_OK)
            crew->err = err;
        pthread_mutex_unlock(&crew->mutex);
    }
}

static void work_on_all(struct crew *crew, int jobs)
{
    pthread_t threads[64];
    int started = 0;
    jobs = jobs > 64 ? 64 : jobs;
    crew->next = 0;
    crew->pace = (struct pace){.count = crew->count, .start = ae_now_ns()};
    for (size_t i = 0; crew->guesses && i < crew->count; i++)
        crew->pace.guessed += crew->guesses[crew->turn[i]];
    crew->say = crew->context->progress;
    crew->say_data = crew->context->progress_data;
    if (crew->guesses && crew->say) {
        crew->context->progress = say_with_pace;
        crew->context->progress_data = crew;
    }
    for (int i = 1; i < jobs; i++)
        if (pthread_create(&threads[started], NULL, work, crew) == 0)
            started++;
    work(crew);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    crew->context->progress = crew->say;
    crew->context->progress_data = crew->say_data;
}

/* So many at once that their memory fits: an instance is held by generator, shared memory and reference. */
static int jobs_that_fit(const struct ae_context *context, const struct ae_prepare_plan *plan, int jobs)
{
    const uint64_t each = 4 * plan->largest + CASE_OVERHEAD;
    const uint64_t fit = context->host.memory_bytes / 2 / each;
    return fit < 1 ? 1 : fit < (uint64_t)jobs ? (int)fit : jobs;
}

int ae_prepare_run(struct ae_context *context, const struct ae_prepare_plan *plan, int jobs, const volatile int *stop,
                   struct ae_error *err)
{
    if (plan->count == 0)
        return AE_OK;
    size_t *turn = calloc(2 * plan->count, sizeof *turn), *twins = turn ? turn + plan->count : NULL;
    size_t answers = 0, twin_count = 0;
    if (!turn)
        return ae_error_set(err, AE_E_NOMEM, "no memory to prepare");
    for (size_t i = 0; i < plan->count; i++) {
        /* The baseline's first repeat brings the answer along. */
        if (!plan->timed[i])
            turn[answers++] = i;
        if (plan->cases[i].kind == AE_TRIAL_TIMED && plan->cases[i].number == AE_TWIN_SIBLING)
            twins[twin_count++] = i;
    }
    jobs = jobs_that_fit(context, plan, jobs ? jobs : context->host.core_count);
    struct crew crew = {.context = context, .cases = plan->cases, .turn = turn, .count = answers, .make = make_answer,
                        .guesses = plan->guesses, .stop = stop};
    pthread_mutex_init(&crew.mutex, NULL);
    work_on_all(&crew, jobs);
    /* Baselines are timed alone. */
    struct pace pace = {.start = ae_now_ns()};
    for (size_t i = 0; i < plan->count; i++) {
        pace.count += plan->timed[i];
        pace.guessed += plan->timed[i] ? baseline_seconds(plan->guesses[i]) : 0;
    }
    for (size_t i = 0; i < plan->count && !*stop; i++) {
        struct ae_case made;
        struct ae_error problem = {0};
        if (!plan->timed[i])
            continue;
        char text[PACE_TEXT];
        pace_text(&pace, "baselines", text);
        ae_context_say(context, "%s; %s %s", text, plan->cases[i].task->id, ae_size_name(plan->cases[i].size));
        const int rc = ae_case_open(context, &plan->cases[i], true, &made, &problem);
        pace.made++;
        pace.made_guess += baseline_seconds(plan->guesses[i]);
        ae_case_release(&made);
        if (rc != AE_OK && crew.err.code == AE_OK)
            crew.err = problem;
    }
    crew.turn = twins;
    crew.count = twin_count;
    crew.make = find_twin;
    crew.guesses = NULL;
    work_on_all(&crew, jobs);
    pthread_mutex_destroy(&crew.mutex);
    free(turn);
    if (crew.err.code != AE_OK) {
        if (err)
            *err = crew.err;
        return crew.err.code;
    }
    return AE_OK;
}
