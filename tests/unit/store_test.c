/* The store: what goes in comes out, several writers, old, foreign and damaged files, kill -9, no space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "store/schema.h"
#include "store/generation.h"
#include "store/reading.h"
#include "store/store.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HASH        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define SUBMISSION  HASH "0"
#define ENVIRONMENT HASH "e"

static char folder[128], path[192];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ae-store-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return ae_folder_remove(folder, NULL);
}

static struct ae_store *open_or_fail(enum ae_store_mode mode)
{
    struct ae_store *store = NULL;
    struct ae_error err = {0};
    if (ae_store_open(&store, path, mode, &err) != AE_OK)
        fail_msg("%s", err.text);
    return store;
}

static int64_t begin(struct ae_store *store)
{
    struct ae_error err = {0};
    int64_t run = 0;
    char json[] = "{\"cpu\":\"x\"}", source[] = "int x;\0y";
    const struct ae_environment environment = {ENVIRONMENT, "a machine", json};
    const struct ae_submission submission = {SUBMISSION, "c", source, sizeof source - 1, 5};
    const struct ae_run wanted = {.started_ns = 1,
                                  .command = "acceleval eval",
                                  .options = "{\"jobs\":1}",
                                  .version = "0.1",
                                  .environment = ENVIRONMENT,
                                  .bank = "b1",
                                  .seeded = false};
    if (ae_store_environment_put(store, &environment, &err) != AE_OK ||
        ae_store_submission_put(store, &submission, &err) != AE_OK ||
        ae_store_run_begin(store, &wanted, &run, &err) != AE_OK)
        fail_msg("%s", err.text);
    return run;
}

/* A measurement with two trials; sample tells them apart. */
static void fill(struct ae_measurement *m, const char *entrant, int sample)
{
    *m = (struct ae_measurement){.task = ae_tasks[0],
                                 .size = AE_MEDIUM,
                                 .target = AE_CUDA,
                                 .sample = sample,
                                 .submission = SUBMISSION,
                                 .source_path = "x.cu",
                                 .verdict = AE_VIOLATION,
                                 .violation = AE_STATE_CARRIED,
                                 .detail = "kept a pointer",
                                 .compile_ns = 7,
                                 .started_ns = 8,
                                 .wall_ns = 9,
                                 .notes = AE_NOTE_LEAKS,
                                 .sandbox = UINT64_MAX,
                                 .cores = 4,
                                 .seeded = 0,
                                 .device_uuid = "GPU-1",
                                 .baseline_place = "a machine, 4 cores",
                                 .work = {1.5, 2.5, 3.5, 4.5},
                                 .floor_ns = 5};
    snprintf(m->entrant, sizeof m->entrant, "%s", entrant);
    m->log = strdup("warning: x");
    const struct ae_trial one = {.kind = AE_TRIAL_TIMED,
                                 .group = 1,
                                 .family = 2,
                                 .instance = 3,
                                 .verdict = AE_PASS,
                                 .call_ns = 10,
                                 .return_ns = 9,
                                 .reference_ns = 100,
                                 .cpu_ns = -1,
                                 .sm_mhz = 1980,
                                 .temperature_c = 40,
                                 .disturbed = 1,
                                 .max_share = 0.25};
    const struct ae_trial two = {
        .kind = AE_TRIAL_LEDGER, .verdict = AE_VIOLATION, .violation = AE_STATE_CARRIED, .max_share = NAN};
    assert_int_equal(ae_measurement_add(m, &one), AE_OK);
    assert_int_equal(ae_measurement_add(m, &two), AE_OK);
}

static void put(struct ae_store *store, int64_t run, const char *entrant, int sample, enum ae_verdict verdict)
{
    struct ae_measurement m;
    struct ae_error err = {0};
    fill(&m, entrant, sample);
    m.verdict = verdict;
    m.violation = verdict == AE_VIOLATION ? AE_STATE_CARRIED : AE_NO_VIOLATION;
    if (ae_store_measurement_put(store, run, &m, "key", NULL, &err) != AE_OK)
        fail_msg("%s", err.text);
    ae_measurement_release(&m);
}

static int count_one(void *data, const struct ae_stored *stored)
{
    (void)stored;
    ++*(int *)data;
    return 0;
}

static int count(struct ae_store *store, const struct ae_measurement_filter *filter)
{
    struct ae_error err = {0};
    int n = 0;
    if (ae_store_measurements(store, filter, count_one, &n, &err) != AE_OK)
        fail_msg("%s", err.text);
    return n;
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* --- round trips ---------------------------------------------------------------------------------------- */

static int check_measurement(void *data, const struct ae_stored *stored)
{
    const struct ae_measurement *m = &stored->measurement, *w = data;
    assert_string_equal(stored->task, ae_tasks[0]->id);
    assert_int_equal(stored->task_version, ae_tasks[0]->version);
    assert_string_equal(stored->environment, ENVIRONMENT);
    assert_string_equal(stored->environment_name, "a machine");
    assert_string_equal(stored->bank, "b1");
    assert_string_equal(stored->options_key, "key");
    assert_ptr_equal(m->task, w->task);
    assert_int_equal(m->size, w->size);
    assert_int_equal(m->target, w->target);
    assert_string_equal(m->entrant, w->entrant);
    assert_int_equal(m->sample, w->sample);
    assert_string_equal(m->submission, w->submission);
    assert_string_equal(m->source_path, w->source_path);
    assert_memory_equal(&m->work, &w->work, sizeof m->work);
    assert_int_equal(m->floor_ns, w->floor_ns);
    assert_int_equal(m->verdict, w->verdict);
    assert_int_equal(m->violation, w->violation);
    assert_string_equal(m->detail, w->detail);
    assert_string_equal(m->log, w->log);
    assert_int_equal(m->compile_ns, w->compile_ns);
    assert_int_equal(m->started_ns, w->started_ns);
    assert_int_equal(m->wall_ns, w->wall_ns);
    assert_int_equal(m->notes, w->notes);
    assert_true(m->sandbox == w->sandbox);
    assert_int_equal(m->cores, w->cores);
    assert_int_equal(m->seeded, w->seeded);
    assert_string_equal(m->device_uuid, w->device_uuid);
    assert_string_equal(m->baseline_place, w->baseline_place);
    assert_int_equal(m->trial_count, 2);
    const struct ae_trial *t = &m->trials[0], *v = &w->trials[0];
    assert_true(t->kind == v->kind && t->group == v->group && t->family == v->family &&
                t->instance == v->instance && t->verdict == v->verdict && t->violation == v->violation &&
                t->call_ns == v->call_ns && t->return_ns == v->return_ns && t->reference_ns == v->reference_ns &&
                t->cpu_ns == v->cpu_ns && t->sm_mhz == v->sm_mhz && t->temperature_c == v->temperature_c &&
                t->disturbed == v->disturbed && t->max_share == v->max_share);
    assert_int_equal(m->trials[1].violation, AE_STATE_CARRIED);
    assert_true(isnan(m->trials[1].max_share));
    return 42;
}

static void measurements_come_back(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    const int64_t run = begin(store);
    struct ae_measurement m;
    struct ae_error err = {0};
    int64_t id = 0;
    fill(&m, "model \x1b[31m", 0);
    assert_int_equal(ae_store_measurement_put(store, run, &m, "key", &id, &err), AE_OK);
    assert_true(id > 0);
    const struct ae_measurement_filter all = {.with_log = true, .trials = AE_TRIALS_ALL};
    assert_int_equal(ae_store_measurements(store, &all, check_measurement, &m, &err), 42); /* visit's own return */
    /* the same again */
    assert_int_equal(ae_store_measurement_put(store, run, &m, "key", &id, &err), AE_E_USAGE);
    assert_int_equal(count(store, &(struct ae_measurement_filter){0}), 1);
    /* no such run, no such submission: nothing of it stays */
    assert_int_equal(ae_store_measurement_put(store, run + 1, &m, "key", &id, &err), AE_E_USAGE);
    m.submission[0] = 'f';
    assert_int_equal(ae_store_measurement_put(store, run, &m, "key", &id, &err), AE_E_USAGE);
    ae_measurement_release(&m);
    ae_store_close(store);
    store = open_or_fail(AE_STORE_READ);
    assert_int_equal(count(store, &(struct ae_measurement_filter){0}), 1);
    ae_store_close(store);
}

static struct ae_explanation explanation_of_a_call(void)
{
    struct ae_explanation e = {.call_ns = 100,
                               .timed_ns = 90,
                               .floor_ns = 30,
                               .calls = 3,
                               .dropped = 2,
                               .note = "no CUPTI \x1b[31m",
                               .phases = {[AE_PHASE_IN] = {60, 70}, [AE_PHASE_KERNEL] = {40, 40}},
                               .floors = {[AE_PHASE_IN] = 20},
                               .reasons = {{"pageable", "60 % of the call is copying", 0.6, 40}, {"other", "x", 0.1, 0}},
                               .reason_count = 2};
    return e;
}

static int take_explanation(void *data, const struct ae_stored *stored)
{
    struct ae_explanation *ret = data;
    if (stored->explanation)
        *ret = *stored->explanation;
    return stored->explanation ? 42 : 0;
}

static void explanations_come_back(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    const int64_t run = begin(store);
    struct ae_measurement m;
    struct ae_error err = {0};
    struct ae_explanation wanted = explanation_of_a_call(), got;
    int64_t id = 0;
    fill(&m, "a", 0);
    assert_int_equal(ae_store_measurement_put(store, run, &m, "key", &id, &err), AE_OK);
    ae_measurement_release(&m);
    const struct ae_measurement_filter all = {0}, explained = {.explained = true};
    assert_int_equal(ae_store_measurements(store, &explained, take_explanation, &got, &err), AE_OK); /* none yet */
    assert_int_equal(ae_store_explanation_put(store, id + 1, &wanted, &err), AE_E_USAGE);
    assert_int_equal(ae_store_explanation_put(store, id, &wanted, &err), AE_OK);
    assert_int_equal(ae_store_explanation_put(store, id, &wanted, &err), AE_E_USAGE);
    assert_non_null(strstr(err.text, "already"));
    assert_int_equal(ae_store_measurements(store, &all, take_explanation, &got, &err), AE_OK); /* not asked for */
    memset(&got, 0, sizeof got);
    assert_int_equal(ae_store_measurements(store, &explained, take_explanation, &got, &err), 42);
    assert_int_equal(got.call_ns, wanted.call_ns);
    assert_int_equal(got.timed_ns, wanted.timed_ns);
    assert_int_equal(got.floor_ns, wanted.floor_ns);
    assert_int_equal(got.calls, wanted.calls);
    assert_int_equal(got.dropped, wanted.dropped);
    assert_string_equal(got.note, wanted.note);
    assert_memory_equal(got.phases, wanted.phases, sizeof got.phases);
    assert_memory_equal(got.floors, wanted.floors, sizeof got.floors);
    assert_int_equal(got.reason_count, 2);
    struct ae_explanation found;
    enum ae_size size = AE_LARGE;
    char machine[96];
    bool there = true;
    assert_int_equal(ae_store_explanation_find(store, "nobody", &found, &size, machine, &there, &err), AE_OK);
    assert_false(there);
    assert_int_equal(ae_store_explanation_find(store, SUBMISSION, &found, &size, machine, &there, &err), AE_OK);
    assert_true(there);
    assert_int_equal(size, AE_MEDIUM);
    assert_int_equal(found.call_ns, wanted.call_ns);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(got.reasons[i].rule, wanted.reasons[i].rule);
        assert_string_equal(got.reasons[i].text, wanted.reasons[i].text);
        assert_true(got.reasons[i].share == wanted.reasons[i].share);
        assert_int_equal(got.reasons[i].gain_ns, wanted.reasons[i].gain_ns);
    }
    ae_store_close(store);
    /* A file of somebody else's: what is no phase or no time is passed over. */
    run_sql("UPDATE phases SET own_ns = -5 WHERE phase = 'in'; UPDATE phases SET busy_ns = 9223372036854775807;"
            "UPDATE reasons SET share = 1e300 WHERE number = 0;"
            "INSERT INTO phases SELECT measurement, 'daydream', 7, 7, 7 FROM explanations;"
            "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
            "INSERT INTO reasons SELECT measurement, i, 'r', 't', 0, 0 FROM explanations, n");
    store = open_or_fail(AE_STORE_READ);
    assert_int_equal(ae_store_measurements(store, &explained, take_explanation, &got, &err), 42);
    assert_int_equal(got.phases[AE_PHASE_IN].own_ns, 0);
    assert_int_equal(got.phases[AE_PHASE_KERNEL].own_ns, 40);
    assert_true(got.phases[AE_PHASE_IN].busy_ns < INT64_MAX / AE_PHASE_COUNT); /* readers add them up */
    assert_int_equal(got.reason_count, AE_EXPLANATION_REASONS);
    assert_true(got.reasons[0].share == 0);
    ae_store_close(store);
}

static int check_run(void *data, const struct ae_run *run)
{
    int *seen = data;
    if (++*seen > 1)
        return 0;
    assert_string_equal(run->command, "acceleval eval");
    assert_string_equal(run->options, "{\"jobs\":1}");
    assert_string_equal(run->environment, ENVIRONMENT);
    assert_string_equal(run->environment_name, "a machine");
    assert_string_equal(run->bank, "b1");
    assert_int_equal(run->id, 2);
    assert_int_equal(run->finished_ns, 99);
    assert_int_equal(run->measurement_count, 2);
    return 0;
}

static int count_environment(void *data, const struct ae_environment *environment)
{
    assert_string_equal(environment->name, "a machine");
    ++*(int *)data;
    return 0;
}

static void runs_environments_submissions(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    struct ae_error err = {0};
    (void)begin(store);
    const int64_t run = begin(store);
    put(store, run, "a", 0, AE_PASS);
    put(store, run, "a", 1, AE_PASS);
    assert_int_equal(ae_store_run_end(store, run, 99, &err), AE_OK);
    assert_int_equal(ae_store_run_end(store, 77, 99, &err), AE_E_NOTFOUND);
    int seen = 0;
    assert_int_equal(ae_store_runs(store, check_run, &seen, &err), AE_OK);
    assert_int_equal(seen, 2);
    seen = 0;
    assert_int_equal(ae_store_environments(store, count_environment, &seen, &err), AE_OK);
    assert_int_equal(seen, 1);

    struct ae_environment environment;
    assert_int_equal(ae_store_environment_get(store, "0123", &environment, &err), AE_OK);
    assert_string_equal(environment.json, "{\"cpu\":\"x\"}");
    ae_environment_release(&environment);
    assert_int_equal(ae_store_environment_get(store, "ff", &environment, &err), AE_E_NOTFOUND);
    assert_int_equal(ae_store_environment_get(store, "", &environment, &err), AE_E_NOTFOUND);
    char json[] = "{}";
    const struct ae_environment second = {HASH "f", "a machine", json};
    assert_int_equal(ae_store_environment_put(store, &second, &err), AE_OK);
    assert_int_equal(ae_store_environment_get(store, "0123", &environment, &err), AE_E_USAGE);
    assert_int_equal(ae_store_environment_get(store, HASH "f", &environment, &err), AE_OK);
    ae_environment_release(&environment);

    struct ae_submission submission;
    assert_int_equal(ae_store_submission_get(store, SUBMISSION, &submission, &err), AE_OK);
    assert_int_equal(submission.size, 8);
    assert_memory_equal(submission.source, "int x;\0y", 9);
    assert_int_equal(submission.first_seen_ns, 5);
    ae_submission_release(&submission);
    assert_int_equal(ae_store_submission_get(store, "0", &submission, &err), AE_E_NOTFOUND);
    const struct ae_run lost = {.environment = "nowhere"};
    int64_t id;
    assert_int_equal(ae_store_run_begin(store, &lost, &id, &err), AE_E_USAGE);
    ae_store_close(store);
}

static void exists_for_resume(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    struct ae_error err = {0};
    const int64_t run = begin(store);
    struct ae_measurement_key key = {.submission = SUBMISSION,
                                     .task = ae_tasks[0]->id,
                                     .task_version = ae_tasks[0]->version,
                                     .size = AE_MEDIUM,
                                     .target = AE_CUDA,
                                     .options_key = "key"};
    bool there = true;
    int64_t id = -1;
    put(store, run, "a", 0, AE_HOST_ERROR);
    assert_int_equal(ae_store_measurement_exists(store, &key, &there, &id, &err), AE_OK);
    assert_false(there);
    assert_int_equal(id, 0);
    put(store, run, "a", 1, AE_WRONG_ANSWER);
    assert_int_equal(ae_store_measurement_exists(store, &key, &there, &id, &err), AE_OK);
    assert_true(there);
    assert_int_equal(id, 2);
    key.run = run;
    key.environment = ENVIRONMENT;
    assert_int_equal(ae_store_measurement_exists(store, &key, &there, NULL, &err), AE_OK);
    assert_true(there);
    struct ae_measurement_key others[7];
    for (int i = 0; i < 7; i++)
        others[i] = key;
    others[0].run = run + 1;
    others[1].environment = "x";
    others[2].submission = "x";
    others[3].task_version++;
    others[4].size = AE_SMALL;
    others[5].target = AE_CPU;
    others[6].options_key = "x";
    for (int i = 0; i < 7; i++) {
        assert_int_equal(ae_store_measurement_exists(store, &others[i], &there, NULL, &err), AE_OK);
        assert_false(there);
    }
    ae_store_close(store);
}

static int note_id(void *data, const struct ae_stored *stored)
{
    int64_t *ids = data;
    ids[++ids[0]] = stored->id;
    return 0;
}

static int walk_again(void *data, const struct ae_stored *stored)
{
    (void)stored;
    return ae_store_measurements(data, &(struct ae_measurement_filter){0}, count_one, &(int){0}, NULL);
}

static void walk_within_a_walk(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    const int64_t run = begin(store);
    put(store, run, "a", 0, AE_PASS);
    put(store, run, "a", 1, AE_PASS);
    assert_int_equal(ae_store_measurements(store, &(struct ae_measurement_filter){0}, walk_again, store, NULL),
                     AE_OK);
    put(store, run, "a", 2, AE_PASS); /* no transaction is left open */
    ae_store_close(store);
}

static void filters_and_latest(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    struct ae_error err = {0};
    const int64_t one = begin(store), two = begin(store);
    put(store, one, "b", 0, AE_PASS);       /* 1 */
    put(store, one, "a", 0, AE_PASS);       /* 2 */
    put(store, two, "a", 0, AE_CRASH);      /* 3: newer than 2 */
    put(store, two, "b", 0, AE_HOST_ERROR); /* 4: gives way to 1 */
    put(store, two, "c", 0, AE_NOT_RUN);    /* 5: nothing else there */
    int64_t ids[16] = {0};
    const struct ae_measurement_filter latest = {.latest = true};
    assert_int_equal(ae_store_measurements(store, &latest, note_id, ids, &err), AE_OK);
    assert_int_equal(ids[0], 3);
    assert_int_equal(ids[1], 3);
    assert_int_equal(ids[2], 1);
    assert_int_equal(ids[3], 5);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.run = one}), 2);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.run = two, .latest = true}), 3);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.entrant = "a"}), 2);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.task = "nothing"}), 0);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.task = ae_tasks[0]->id}), 5);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.sizes = AE_AT(AE_SMALL)}), 0);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.sizes = AE_AT(AE_MEDIUM) | AE_AT(AE_LARGE)}), 5);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.by_target = true, .target = AE_CPU}), 0);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.by_target = true, .target = AE_CUDA}), 5);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.environment = "x"}), 0);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.id = 3}), 1);
    ae_store_close(store);
}

/* --- where ------------------------------------------------------------------------------------------------ */

static void default_paths(void **state)
{
    (void)state;
    char got[AE_STORE_PATH_MAX];
    struct ae_error err = {0};
    setenv("HOME", "/h", 1);
    unsetenv("ACCELEVAL_STORE");
    unsetenv("XDG_DATA_HOME");
    assert_int_equal(ae_store_default_path(got, &err), AE_OK);
    assert_string_equal(got, "/h/.local/share/acceleval/results.db");
    setenv("XDG_DATA_HOME", "relative", 1);
    assert_int_equal(ae_store_default_path(got, &err), AE_OK);
    assert_string_equal(got, "/h/.local/share/acceleval/results.db");
    setenv("XDG_DATA_HOME", "/x", 1);
    assert_int_equal(ae_store_default_path(got, &err), AE_OK);
    assert_string_equal(got, "/x/acceleval/results.db");
    setenv("ACCELEVAL_STORE", "/s.db", 1);
    assert_int_equal(ae_store_default_path(got, &err), AE_OK);
    assert_string_equal(got, "/s.db");
    unsetenv("ACCELEVAL_STORE");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_int_equal(ae_store_default_path(got, &err), AE_E_ENV);
}

static void odd_paths(void **state)
{
    (void)state;
    struct ae_error err = {0};
    struct ae_store *store = NULL;
    char odd[512];
    snprintf(odd, sizeof odd, "/%s/new/a folder?immutable=1#%%41/results.db", folder);
    assert_int_equal(ae_store_open(&store, odd, AE_STORE_READ, &err), AE_E_NOTFOUND);
    if (ae_store_open(&store, odd, AE_STORE_WRITE, &err) != AE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(ae_store_path(store), odd);
    assert_string_equal(ae_store_journal(store), "wal");
    ae_store_close(store);
    assert_true(ae_file_exists(odd));
    assert_int_equal(ae_store_open(&store, "", AE_STORE_WRITE, &err), AE_E_USAGE);
    assert_int_equal(ae_store_open(&store, folder, AE_STORE_WRITE, &err), AE_E_ENV); /* a folder */
    assert_int_equal(ae_store_open(&store, "/proc/nothing/results.db", AE_STORE_WRITE, &err), AE_E_ENV);
    assert_non_null(strstr(err.text, "ACCELEVAL_STORE"));
    ae_store_close(NULL);
}

/* In a child that is not root, so that permissions count. */
static void read_only_place(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    put(store, begin(store), "a", 0, AE_PASS);
    ae_store_close(store);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct ae_error err = {0};
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(2);
        if (ae_store_open(&store, path, AE_STORE_READ, &err) != AE_OK)
            _exit(3);
        int n = 0;
        if (ae_store_measurements(store, &(struct ae_measurement_filter){0}, count_one, &n, &err) != AE_OK ||
            n != 1)
            _exit(4);
        ae_store_close(store);
        if (ae_store_open(&store, path, AE_STORE_WRITE, &err) != AE_E_ENV || !strstr(err.text, "permissions"))
            _exit(5);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A limit on the size of files stands for a full disk: the write fails, what was there stays. */
static void no_space(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct ae_store *store = open_or_fail(AE_STORE_WRITE);
        struct ae_error err = {0};
        const int64_t run = begin(store);
        const struct rlimit limit = {300000, 300000};
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        int sample = 0, r = AE_OK;
        for (; r == AE_OK && sample < 10000; sample++) {
            struct ae_measurement m;
            fill(&m, "a", sample);
            r = ae_store_measurement_put(store, run, &m, "key", NULL, &err);
            ae_measurement_release(&m);
        }
        if ((r != AE_E_ENV && r != AE_E_IO) || !strstr(err.text, "space"))
            _exit(101);
        int n = 0;
        if (ae_store_measurements(store, &(struct ae_measurement_filter){0}, count_one, &n, &err) != AE_OK ||
            n != sample - 1 || n == 0)
            _exit(102);
        ae_store_close(store);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- several writers, kill -9 ----------------------------------------------------------------------------- */

static void several_writers(void **state)
{
    (void)state;
    enum { WRITERS = 4, EACH = 25 };
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++) { /* all find no file and race to make it */
        child[w] = fork();
        assert_true(child[w] >= 0);
        if (child[w] == 0) {
            struct ae_store *store = open_or_fail(AE_STORE_WRITE);
            const int64_t run = begin(store);
            for (int i = 0; i < EACH; i++)
                put(store, run, "a", i, AE_PASS);
            ae_store_close(store);
            _exit(0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(child[w], &status, 0), child[w]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct ae_store *store = open_or_fail(AE_STORE_READ);
    assert_int_equal(count(store, &(struct ae_measurement_filter){0}), WRITERS * EACH);
    ae_store_close(store);
}

static int two_trials(void *data, const struct ae_stored *stored)
{
    (void)data;
    return stored->measurement.trial_count == 2 ? 0 : -1;
}

static void killed_writers_lose_nothing(void **state)
{
    (void)state;
    int reported = 0;
    for (int round = 0; round < 6; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct ae_store *store = open_or_fail(AE_STORE_WRITE);
            const int64_t run = begin(store);
            for (int i = 0;; i++) {
                put(store, run, "a", i, AE_PASS);
                if (ae_write_all(ends[1], "x", 1) != 0)
                    _exit(1);
            }
        }
        (void)close(ends[1]);
        char byte;
        for (int i = 0; i < 5 + 7 * round; i++) /* let it come into its stride, then kill it anywhere */
            assert_int_equal(read(ends[0], &byte, 1), 1);
        (void)usleep((useconds_t)(137 * round));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        reported += 5 + 7 * round;
        while (read(ends[0], &byte, 1) == 1)
            reported++;
        (void)close(ends[0]);
        struct ae_store *store = open_or_fail(round % 2 ? AE_STORE_READ : AE_STORE_WRITE);
        const int kept = count(store, &(struct ae_measurement_filter){0});
        assert_true(kept >= reported && kept <= reported + 1 + round);
        struct ae_error err = {0};
        assert_int_equal(ae_store_measurements(store, &(struct ae_measurement_filter){.trials = AE_TRIALS_ALL},
                                               two_trials, NULL, &err),
                         0);
        ae_store_close(store);
    }
}

/* --- old, foreign and damaged files ----------------------------------------------------------------------- */

/* One word a language, also for what was stored under the old one, or comes under it in an archive. */
static void one_word_a_language(void **state)
{
    static const char source[] = "int y;";
    struct ae_submission submission = {SUBMISSION, "c++", (char *)(uintptr_t)source, sizeof source - 1, 5}, found;
    struct ae_error err = {0};
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    submission.sha256[0] = 'e';
    assert_int_equal(ae_store_submission_put(store, &submission, &err), AE_OK);
    assert_int_equal(ae_store_submission_get(store, submission.sha256, &found, &err), AE_OK);
    assert_string_equal(found.language, "cpp");
    ae_submission_release(&found);
    ae_store_close(store);
    run_sql("UPDATE submissions SET language = 'c++'");
    store = open_or_fail(AE_STORE_READ);
    assert_int_equal(ae_store_submission_get(store, submission.sha256, &found, &err), AE_OK);
    assert_string_equal(found.language, "cpp");
    ae_submission_release(&found);
    ae_store_close(store);
}

static void old_file_is_migrated(void **state)
{
    (void)state;
    run_sql(ae_store_migrations[0]);
    run_sql("PRAGMA application_id = 0x41634576; PRAGMA user_version = 1;"
            "INSERT INTO environments VALUES ('" ENVIRONMENT "', 'a machine', '{}');"
            "INSERT INTO submissions VALUES ('" SUBMISSION "', 'c', x'00', 1);"
            "INSERT INTO runs VALUES (7, 1, 2, 'c', '{}', '0', '" ENVIRONMENT "', 0);"
            "INSERT INTO measurements VALUES (3, 7, '" SUBMISSION "', 'a', 0, 'gone', 1, 'small', 'cpu', '', '',"
            " 'pass', '', '', NULL, 0, 0, 0, 0, 0, 1, 0, '');"
            "INSERT INTO trials VALUES (3, 0, 'timed', 0, 0, 0, 'pass', '', 5, 5, 5, 5, 0, 0, 0, 0.5);");
    struct ae_store *store = open_or_fail(AE_STORE_READ);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.trials = AE_TRIALS_ALL}), 1);
    ae_store_close(store);
    store = open_or_fail(AE_STORE_WRITE);
    put(store, begin(store), "a", 0, AE_PASS);
    assert_int_equal(count(store, &(struct ae_measurement_filter){.trials = AE_TRIALS_ALL}), 2);
    ae_store_close(store);
}

static int open_code(struct ae_error *err)
{
    struct ae_store *store = NULL;
    *err = (struct ae_error){0};
    const int r = ae_store_open(&store, path, AE_STORE_WRITE, err);
    ae_store_close(store);
    return r;
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    struct ae_error err;
    assert_int_equal(ae_file_write(path, "hello, this is not a database at all, only some text\n", 52, NULL),
                     AE_OK);
    assert_int_equal(open_code(&err), AE_E_INPUT);
    assert_non_null(strstr(err.text, "another store"));
    assert_int_equal(unlink(path), 0);
    run_sql("CREATE TABLE theirs (x)");
    assert_int_equal(open_code(&err), AE_E_INPUT);
    assert_non_null(strstr(err.text, "another program"));
    assert_int_equal(unlink(path), 0);
    run_sql("PRAGMA application_id = 0x41634576; PRAGMA user_version = 999");
    assert_int_equal(open_code(&err), AE_E_INPUT);
    assert_non_null(strstr(err.text, "newer"));
    run_sql("PRAGMA user_version = -5");
    assert_int_equal(open_code(&err), AE_E_INPUT);
    /* ours by its number, but without the tables */
    char current[64];
    snprintf(current, sizeof current, "PRAGMA user_version = %d", ae_store_version);
    run_sql(current);
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    assert_int_not_equal(
        ae_store_measurements(store, &(struct ae_measurement_filter){0}, count_one, &(int){0}, &err), 0);
    ae_store_close(store);
}

static void strange_words_are_reported(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE measurements SET verdict = 'excellent'",
        "UPDATE measurements SET violation = char(27) || '[31m'",
        "UPDATE measurements SET size = 'huge'",
        "UPDATE measurements SET target = 'abacus'",
        "UPDATE trials SET kind = 'secret'",
        "UPDATE trials SET verdict = ''",
        "UPDATE trials SET violation = 'none of your words'",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        (void)unlink(path);
        struct ae_store *store = open_or_fail(AE_STORE_WRITE);
        put(store, begin(store), "a", 0, AE_PASS);
        ae_store_close(store);
        run_sql(changes[i]);
        store = open_or_fail(AE_STORE_READ);
        struct ae_error err = {0};
        int n = 0;
        const struct ae_measurement_filter all = {.trials = AE_TRIALS_ALL};
        assert_int_equal(ae_store_measurements(store, &all, count_one, &n, &err), AE_E_INPUT);
        assert_null(strchr(err.text, '\x1b'));
        ae_store_close(store);
    }
}

static int swallow(void *data, const struct ae_stored *stored)
{
    size_t *sum = data;
    *sum += strlen(stored->measurement.detail) + strlen(stored->task) + (size_t)stored->measurement.trial_count;
    return 0;
}

static int swallow_run(void *data, const struct ae_run *run)
{
    *(size_t *)data += strlen(run->command) + strlen(run->bank);
    return 0;
}

/* Everything that a reading command does; any code is fine, a crash is not. */
struct seen {
    int count;
    char state[16], sentence[256], lines[64], answer[16];
    size_t answer_size, findings;
    double cost;
    int64_t tokens;
    bool told;
};

static int see(void *data, const struct ae_stored_reading *r)
{
    struct seen *seen = data;
    seen->count++;
    snprintf(seen->state, sizeof seen->state, "%s", r->state);
    seen->findings = r->finding_count;
    seen->answer_size = r->answer_size;
    if (r->answer)
        memcpy(seen->answer, r->answer, r->answer_size < sizeof seen->answer ? r->answer_size : sizeof seen->answer);
    if (r->finding_count) {
        snprintf(seen->sentence, sizeof seen->sentence, "%s", r->findings[0].sentence);
        snprintf(seen->lines, sizeof seen->lines, "%s", r->findings[0].lines);
    }
    seen->cost = r->cost;
    seen->tokens = r->input_tokens;
    seen->told = r->told;
    return AE_OK;
}

static void use_damaged(enum ae_store_mode mode)
{
    struct ae_store *store = NULL;
    struct ae_error err = {0};
    size_t sum = 0;
    if (ae_store_open(&store, path, mode, &err) != AE_OK) {
        assert_true(err.text[0] != 0);
        return;
    }
    const struct ae_measurement_filter latest = {.latest = true, .with_log = true, .trials = AE_TRIALS_ALL};
    if (ae_store_measurements(store, &latest, swallow, &sum, &err) != AE_OK)
        assert_true(err.text[0] != 0);
    (void)ae_store_runs(store, swallow_run, &sum, &err);
    (void)ae_store_readings(store, &(struct ae_reading_filter){0}, see, &(struct seen){0}, &err);
    struct ae_submission submission;
    if (ae_store_submission_get(store, SUBMISSION, &submission, &err) == AE_OK)
        ae_submission_release(&submission);
    struct ae_measurement m;
    fill(&m, "z", 0);
    (void)ae_store_measurement_put(store, 1, &m, "key", NULL, &err);
    ae_measurement_release(&m);
    ae_store_close(store);
}

static void damaged_files_never_crash(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    const int64_t run = begin(store);
    for (int i = 0; i < 40; i++)
        put(store, run, "a", i, AE_PASS);
    ae_store_close(store);
    struct ae_bytes good;
    assert_int_equal(ae_file_read(path, 1 << 24, &good, NULL), AE_OK);
    unsigned char *bad = malloc(good.size);
    assert_non_null(bad);
    struct ae_rng rng;
    ae_rng_seed(&rng, 17, 0);
    char beside[256];
    for (int round = 0; round < 150; round++) {
        size_t size = good.size;
        memcpy(bad, good.data, size);
        if (round % 3 == 0) { /* cut off */
            size = (size_t)ae_rng_below64(&rng, size);
        } else if (round % 3 == 1) { /* bytes changed, more often in the header and the schema */
            for (int i = 0; i < 20; i++)
                bad[ae_rng_below64(&rng, i % 2 ? size : 8192)] = (unsigned char)ae_rng_u64(&rng);
        } else { /* a page of garbage */
            const size_t start = (size_t)ae_rng_below64(&rng, size / 4096) * 4096;
            for (size_t i = 0; i < 4096; i++)
                bad[start + i] = (unsigned char)ae_rng_u64(&rng);
        }
        snprintf(beside, sizeof beside, "%s-wal", path);
        (void)unlink(beside);
        snprintf(beside, sizeof beside, "%s-shm", path);
        (void)unlink(beside);
        assert_int_equal(ae_file_write(path, bad, size, NULL), AE_OK);
        use_damaged(round % 2 ? AE_STORE_READ : AE_STORE_WRITE);
    }
    free(bad);
    ae_bytes_release(&good);
}

static void readings_come_back(void **state)
{
    (void)state;
    struct ae_store *store = open_or_fail(AE_STORE_WRITE);
    struct ae_error err = {0};
    struct seen seen = {0};
    bool settled = true;
    struct ae_read_finding findings[2] = {{"M03", "present", 0.5, "A tile.", "3-7,12-12"}, {"P01", "absent", 1, "None.", ""}};
    struct ae_stored_reading r = {.submission = SUBMISSION,
                                  .task = "",
                                  .model = "reader",
                                  .parameters = "{}",
                                  .prompt = "p1",
                                  .told = true,
                                  .created_ns = 5,
                                  .state = "sent",
                                  .input_tokens = -1,
                                  .output_tokens = -1,
                                  .cost = -1};
    (void)begin(store);
    assert_int_equal(ae_store_reading_put(store, &r, &err), AE_E_USAGE); /* no such prompt */
    assert_int_equal(ae_store_prompt_put(store, "p1", "Read this.", &err), AE_OK);
    assert_int_equal(ae_store_reading_put(store, &r, &err), AE_OK);
    assert_int_equal(ae_store_reading_settled(store, SUBMISSION, "reader", "{}", "p1", &settled, &err), AE_OK);
    assert_false(settled); /* asked, and nobody knows what became of it */
    r.state = "valid";
    r.answer = "{\0}";
    r.answer_size = 3;
    r.findings = findings;
    r.finding_count = 2;
    r.cost = 0.25;
    r.input_tokens = 700;
    assert_int_equal(ae_store_reading_put(store, &r, &err), AE_OK);
    assert_int_equal(ae_store_reading_settled(store, SUBMISSION, "reader", "{}", "p1", &settled, &err), AE_OK);
    assert_true(settled);
    assert_int_equal(ae_store_reading_settled(store, SUBMISSION, "reader", "{\"t\":1}", "p1", &settled, &err), AE_OK);
    assert_false(settled);
    assert_int_equal(ae_store_readings(store, &(struct ae_reading_filter){.model = "reader"}, see, &seen, &err), AE_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.state, "valid");
    assert_int_equal(seen.findings, 2);
    assert_string_equal(seen.sentence, "A tile.");
    assert_string_equal(seen.lines, "3-7,12-12");
    assert_int_equal(seen.answer_size, 3);
    assert_memory_equal(seen.answer, "{\0}", 3);
    assert_true(seen.cost == 0.25 && seen.tokens == 700 && seen.told);
    /* In its place, findings and all. */
    r.finding_count = 1;
    assert_int_equal(ae_store_reading_put(store, &r, &err), AE_OK);
    seen = (struct seen){0};
    assert_int_equal(ae_store_readings(store, &(struct ae_reading_filter){.submission = SUBMISSION}, see, &seen, &err), AE_OK);
    assert_true(seen.count == 1 && seen.findings == 1);
    seen = (struct seen){0};
    assert_int_equal(ae_store_readings(store, &(struct ae_reading_filter){.model = "other"}, see, &seen, &err), AE_OK);
    assert_int_equal(seen.count, 0);
    r.finding_count = AE_READ_FINDINGS_MAX + 1;
    assert_int_equal(ae_store_reading_put(store, &r, &err), AE_E_USAGE);
    r.finding_count = 0;
    r.submission = "nothing";
    assert_int_equal(ae_store_reading_put(store, &r, &err), AE_E_USAGE);
    ae_store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(measurements_come_back),
        TEST(explanations_come_back),
        TEST(runs_environments_submissions),
        TEST(exists_for_resume),
        TEST(one_word_a_language),
        TEST(filters_and_latest),
        TEST(walk_within_a_walk),
        TEST(default_paths),
        TEST(odd_paths),
        TEST(read_only_place),
        TEST(no_space),
        TEST(several_writers),
        TEST(killed_writers_lose_nothing),
        TEST(old_file_is_migrated),
        TEST(readings_come_back),
        TEST(foreign_files_are_refused),
        TEST(strange_words_are_reported),
        TEST(damaged_files_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
