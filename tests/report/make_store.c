/* A store as a year of evaluations would leave it, for tests of reports and for looking at them:
 *     make_store FILE [--entrants N] [--machines N] [--tasks N] [--hostile] [--steps]
 * N model entrants besides parallel, naive and tuned on every task and size, sources taken from the tasks' own
 * folders; --steps adds every naive program and every step of a ladder, byte for byte; --hostile adds an entrant whose name, source, log and details try to be markup, formulas and commands.
 */
#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"
#include "store/store.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE                                                                                                    \
    "</script><script>window.hacked=1</script><img src=x onerror=\"window.hacked=1\">\"'&=cmd|x!A1\\input{x}$_{^"

static struct ae_store *store;
static struct ae_error err;
static struct ae_rng rng, splits; /* of times; of the phases of a call */

static void require(int code)
{
    if (code == AE_OK)
        return;
    fprintf(stderr, "make_store: %s\n", err.text);
    exit(2);
}

/* The task's own program of that name with a first line that makes it another submission; released by the caller.
 */
static struct ae_submission submission_of(const struct ae_task *task, const char *file, const char *entrant)
{
    char path[512];
    struct ae_bytes bytes = {0};
    struct ae_submission ret = {.first_seen_ns = 1};
    snprintf(path, sizeof path, "%s/%s/%s", AE_TASKS_FOLDER, task->id, file);
    if (ae_file_read(path, 1 << 20, &bytes, NULL) != AE_OK) {
        snprintf(path, sizeof path, "%s/%s/reference.c", AE_TASKS_FOLDER, task->id);
        require(ae_file_read(path, 1 << 20, &bytes, &err));
    }
    ret.source = malloc(bytes.size + strlen(entrant) + 16);
    if (!ret.source)
        exit(2);
    ret.size = (size_t)sprintf(ret.source, "// by %s\n", entrant);
    memcpy(ret.source + ret.size, bytes.data, bytes.size + 1);
    ret.size += bytes.size;
    snprintf(ret.language, sizeof ret.language, "%s", ae_text_ends(file, ".cu") ? "cuda" : "c");
    require(ae_sha256(ret.source, ret.size, ret.sha256, &err));
    ae_bytes_release(&bytes);
    return ret;
}

static void add_trials(struct ae_measurement *m, double ms, double reference_ms)
{
    for (int i = 0; i < 14; i++) {
        const int kind = i < 2 ? AE_TRIAL_ADVERSARIAL : i % 4 == 2 ? AE_TRIAL_FRESH : AE_TRIAL_TIMED;
        const double noise = exp(0.015 * ae_rng_normal(&rng)) * (kind == AE_TRIAL_FRESH ? 1.4 : 1);
        const struct ae_trial t = {.kind = (enum ae_trial_kind)kind,
                                   .group = i / 4,
                                   .family = kind == AE_TRIAL_ADVERSARIAL ? i + 1 : 0,
                                   .instance = i,
                                   .call_ns = (int64_t)(ms * 1e6 * noise),
                                   .return_ns = (int64_t)(ms * 0.99e6 * noise),
                                   .reference_ns = (int64_t)(reference_ms * 1e6),
                                   .cpu_ns = (int64_t)(ms * 0.2e6),
                                   .sm_mhz = m->target == AE_CUDA ? 1980 : 0,
                                   .temperature_c = m->target == AE_CUDA ? 48 : 0,
                                   .disturbed = i == 9,
                                   .max_share = 0.03 * noise};
        require(ae_measurement_add(m, &t));
    }
}

/* As a profile would divide the call; the sentence may quote a kernel's name. */
static void explain(int64_t measurement, const struct ae_measurement *m, double ms, const char *name)
{
    struct ae_explanation e = {.call_ns = (int64_t)(ms * 1.1e6), .timed_ns = (int64_t)(ms * 1e6), .calls = 1};
    static const enum ae_phase cpu[] = {AE_PHASE_HOST, AE_PHASE_SYSTEM, AE_PHASE_IDLE},
                               cuda[] = {AE_PHASE_ALLOC, AE_PHASE_IN, AE_PHASE_LAUNCH, AE_PHASE_KERNEL, AE_PHASE_OUT, AE_PHASE_FREE};
    const enum ae_phase *phases = m->target == AE_CUDA ? cuda : cpu;
    const int count = m->target == AE_CUDA ? 6 : 3;
    int64_t left = e.call_ns;
    for (int i = 0; i < count; i++) {
        const int64_t ns = i + 1 == count ? left : (int64_t)((double)left * ae_rng_unit(&splits));
        e.phases[phases[i]] = (struct ae_phase_time){ns, ns};
        left -= ns;
    }
    if (m->target == AE_CUDA) {
        e.floor_ns = e.call_ns / 5;
        e.floors[AE_PHASE_IN] = e.phases[AE_PHASE_IN].own_ns / 3;
        e.reasons[e.reason_count++] = (struct ae_reason){"pageable-in", "", 0.4, e.call_ns / 4};
        snprintf(e.reasons[0].text, sizeof e.reasons[0].text, "40 %% of the call waits for %.200s", name);
    }
    require(ae_store_explanation_put(store, measurement, &e, &err));
}

/* An entrant is as good as `skill` on the whole, and better or worse at single tasks. */
static void add_measurement(int64_t run, const struct ae_task *task, int task_number, enum ae_size size,
                            const char *entrant, const char *file, double skill, double pass_rate, double machine)
{
    static const enum ae_verdict failures[] = {AE_WRONG_ANSWER, AE_COMPILE_ERROR, AE_CRASH,
                                               AE_TIMEOUT,      AE_VIOLATION,     AE_OUT_OF_MEMORY};
    const bool hostile = strcmp(entrant, HOSTILE) == 0;
    struct ae_submission submission = submission_of(task, file, entrant);
    struct ae_measurement m = {.task = task,
                               .size = size,
                               .target = ae_text_ends(file, ".cu") ? AE_CUDA : AE_CPU,
                               .started_ns = INT64_C(1790000000000000000),
                               .wall_ns = INT64_C(9000000000),
                               .compile_ns = INT64_C(3000000000),
                               .cores = 16};
    if (hostile && submission.size > sizeof HOSTILE)
        memcpy(submission.source, HOSTILE, sizeof HOSTILE - 1);
    require(ae_sha256(submission.source, submission.size, submission.sha256, &err));
    snprintf(m.entrant, sizeof m.entrant, "%s", entrant);
    memcpy(m.submission, submission.sha256, sizeof m.submission);
    snprintf(m.source_path, sizeof m.source_path, "%.200s/%s%s", entrant, task->id, strrchr(file, '.'));
    double ms = 0;
    int64_t id;
    const double reference_ms = (size == AE_SMALL ? 40 : size == AE_MEDIUM ? 500 : 6000) * (1 + task_number % 5);
    if (ae_rng_chance(&rng, pass_rate) && !hostile) {
        const double size_gain = 1 + 0.8 * (double)size;
        const double s = skill * size_gain * exp(0.9 * ae_rng_normal(&rng)) * machine;
        ms = reference_ms / s;
        add_trials(&m, ms, reference_ms);
        if (m.target == AE_CUDA) {
            m.work = (struct ae_work){1e6 * reference_ms, 5e5 * reference_ms, 1e8 * reference_ms, 10.0 * (1 + task_number % 7)};
            m.floor_ns = (int64_t)(1e6 * reference_ms / 400);
        }
    } else {
        m.verdict = failures[ae_rng_below(&rng, 6)];
        m.violation = m.verdict == AE_VIOLATION ? AE_STATE_CARRIED : AE_NO_VIOLATION;
        snprintf(m.detail, sizeof m.detail, "%s",
                 hostile ? HOSTILE : "3 of 16 instances: 17 of 4096 elements wrong");
        m.log = strdup(hostile ? HOSTILE "\n\x1b[31mred\x1b[0m\r\n\xff\xfe"
                               : "nvcc: warning: variable \"i\" was set but never used\n");
    }
    require(ae_store_submission_put(store, &submission, &err));
    require(ae_store_measurement_put(store, run, &m, "", &id, &err));
    if (m.verdict == AE_PASS)
        explain(id, &m, ms, HOSTILE);
    ae_measurement_release(&m);
    ae_submission_release(&submission);
}

static void fill(int entrants, int machines, int tasks, bool hostile)
{
    for (int machine = 0; machine < machines; machine++) {
        char json[256];
        struct ae_environment environment = {.json = json};
        snprintf(json, sizeof json, "{\"device\": \"GPU %d\", \"cpu\": \"CPU %d\", \"cores\": 16}", machine,
                 machine);
        snprintf(environment.name, sizeof environment.name, "GPU %d, CPU %d x16", machine, machine);
        require(ae_sha256(json, strlen(json), environment.id, &err));
        require(ae_store_environment_put(store, &environment, &err));
        for (int e = -3; e < entrants + hostile; e++) {
            static const char *const built_in[] = {"parallel", "naive", "tuned"};
            static const char *const files[] = {"parallel.c", "naive.cu", "tuned.cu"};
            static const double skills[] = {8, 3, 60};
            char name[128];
            if (e < 0)
                snprintf(name, sizeof name, "%s", built_in[e + 3]);
            else
                snprintf(name, sizeof name, "model-%c L%d", 'a' + e / 3, 1 + e % 3);
            if (e == entrants)
                snprintf(name, sizeof name, "%s", HOSTILE);
            int64_t run;
            const struct ae_run begun = {.environment = environment.id,
                                         .bank = "bank",
                                         .started_ns = 1790000000000000000 + e,
                                         .command = "acceleval eval",
                                         .version = "0.1.0"};
            require(ae_store_run_begin(store, &begun, &run, &err));
            for (int t = 0; t < tasks; t++)
                for (int size = 0; size < AE_SIZE_COUNT; size++)
                    add_measurement(run, ae_tasks[t % ae_task_count], t, (enum ae_size)size, name,
                                    e < 0 ? files[e + 3] : "naive.cu", e < 0 ? skills[e + 3] : 4 + 3 * e,
                                    e < 0 ? 1 : 0.45 + 0.05 * (e % 10), 1 + 0.7 * machine);
            require(ae_store_run_end(store, run, 1790000000000000000 + 1000, &err));
        }
    }
}

/* A program as it is, at size small. */
static void add_exact(int64_t run, const struct ae_task *task, const char *file)
{
    char path[768];
    struct ae_bytes bytes = {0};
    struct ae_measurement m = {.task = task, .size = AE_SMALL, .target = AE_CUDA, .entrant = "steps", .cores = 16};
    snprintf(path, sizeof path, "%s/%s/%s", AE_TASKS_FOLDER, task->id, file);
    if (ae_file_read(path, 1 << 20, &bytes, NULL) != AE_OK)
        return;
    struct ae_submission submission = {.language = "cuda", .source = (char *)bytes.data, .size = bytes.size, .first_seen_ns = 1};
    require(ae_sha256(bytes.data, bytes.size, submission.sha256, &err));
    memcpy(m.submission, submission.sha256, sizeof m.submission);
    snprintf(m.source_path, sizeof m.source_path, "%s", file);
    add_trials(&m, 10 * exp(ae_rng_normal(&rng)), 100);
    require(ae_store_submission_put(store, &submission, &err));
    require(ae_store_measurement_put(store, run, &m, "", NULL, &err));
    ae_measurement_release(&m);
    ae_bytes_release(&bytes);
}

static void add_steps(void)
{
    int64_t run;
    struct ae_environment environment = {.json = (char *)"{\"device\": \"GPU of steps\"}", .name = "GPU of steps"};
    require(ae_sha256(environment.json, strlen(environment.json), environment.id, &err));
    require(ae_store_environment_put(store, &environment, &err));
    const struct ae_run begun = {.environment = environment.id,
                                 .bank = "bank",
                                 .started_ns = 1790000000000000000 - 1000,
                                 .command = "acceleval eval",
                                 .version = "0.1.0"};
    require(ae_store_run_begin(store, &begun, &run, &err));
    for (int t = 0; t < ae_task_count; t++) {
        char folder[512], file[300];
        struct dirent **names = NULL;
        snprintf(folder, sizeof folder, "%s/%s/steps", AE_TASKS_FOLDER, ae_tasks[t]->id);
        const int count = scandir(folder, &names, NULL, alphasort);
        if (count > 0)
            add_exact(run, ae_tasks[t], "naive.cu");
        for (int i = 0; i < count; i++) {
            snprintf(file, sizeof file, "steps/%s", names[i]->d_name);
            if (ae_text_ends(file, ".cu"))
                add_exact(run, ae_tasks[t], file);
            free(names[i]);
        }
        free(names);
    }
}

int main(int argc, char **argv)
{
    int64_t entrants = 7, machines = 1, tasks = ae_task_count;
    bool hostile = false, steps = false, fine = argc > 1;
    for (int i = 2; i < argc && fine; i++) {
        if (strcmp(argv[i], "--hostile") == 0)
            hostile = true;
        else if (strcmp(argv[i], "--steps") == 0)
            steps = true;
        else
            fine = i + 1 < argc &&
                   ae_text_to_i64(argv[i + 1], 1, 1000,
                                  strcmp(argv[i], "--entrants") == 0   ? &entrants
                                  : strcmp(argv[i], "--machines") == 0 ? &machines
                                                                       : &tasks) &&
                   i++;
    }
    if (!fine || tasks > ae_task_count) {
        fprintf(stderr, "usage: make_store FILE [--entrants N] [--machines N] [--tasks N] [--hostile] [--steps]\n");
        return 2;
    }
    ae_rng_seed(&rng, 7, 0);
    ae_rng_seed(&splits, 7, 1);
    require(ae_store_open(&store, argv[1], AE_STORE_WRITE, &err));
    fill((int)entrants, (int)machines, (int)tasks, hostile);
    if (steps)
        add_steps();
    ae_store_close(store);
    return 0;
}
