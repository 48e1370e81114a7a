/* acceleval eval */
#include "cli/lines.h"
#include "cli/submission.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/profile_text.h"
#include "profile/rules.h"
#include "report/report.h"
#include "stats/stats.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const targets[] = {"any", "cpu", "cuda", NULL};

struct values {
    struct ae_list entrants;
    struct ae_task_list tasks;
    unsigned sizes;
    int target;
    int64_t jobs, timed, per_process, timeout_s, seed;
    struct ae_list devices;
    const char *arch;
    bool quick, no_baseline, stop_on_fail, resume, require_sandbox, profile, json;
};

const struct ae_option ae_eval_options[] = {
    {.name = "entrant", .letter = 'e', .kind = AE_OPTION_LIST,
     .help = "built-in entrants to evaluate (reference, parallel, naive, tuned; ladder: all steps from naive to tuned); with a "
             "PATH: what to call its author",
     .offset = offsetof(struct values, entrants)},
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK, .help = "only these tasks; with a file: the task it solves",
     .offset = offsetof(struct values, tasks)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "sizes", .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "target", .kind = AE_OPTION_CHOICE, .help = "only programs for this target", .choices = targets,
     .offset = offsetof(struct values, target)},
    {.name = "device", .kind = AE_OPTION_LIST, .argument = "N", .fallback = "0",
     .help = "ordinals of the GPUs; several share the work, one program at a time on each",
     .offset = offsetof(struct values, devices)},
    {.name = "jobs", .letter = 'j', .kind = AE_OPTION_INTEGER, .help = "compilers at a time; 0: one a core",
     .fallback = "0", .lo = 0, .hi = 1024, .offset = offsetof(struct values, jobs)},
    {.name = "arch", .kind = AE_OPTION_STRING, .argument = "sm_NN",
     .help = "architecture to compile .cu for; default: the device's own, else sm_90", .offset = offsetof(struct values, arch)},
    {.name = "timed", .kind = AE_OPTION_INTEGER, .help = "timed trials; 0: as many as the noise asks for",
     .fallback = "0", .lo = 0, .hi = 16, .offset = offsetof(struct values, timed)},
    {.name = "trials-per-process", .kind = AE_OPTION_INTEGER,
     .help = "timed trials that a process serves, after one call on another instance; 0: groups of the usual size in one "
             "process", .fallback = "0", .lo = 0, .hi = 16, .offset = offsetof(struct values, per_process)},
    {.name = "timeout", .kind = AE_OPTION_INTEGER, .argument = "SECONDS",
     .help = "limit of one call; 0: the larger of 10 s and twice the reference", .fallback = "0", .lo = 0, .hi = 86400,
     .offset = offsetof(struct values, timeout_s)},
    {.name = "seed", .kind = AE_OPTION_INTEGER, .help = "instances from this seed instead of the secret bank; results say so",
     .lo = 1, .hi = INT64_MAX, .offset = offsetof(struct values, seed)},
    {.name = "quick", .letter = 'q', .kind = AE_OPTION_FLAG, .help = "three timed calls only, for a first look",
     .offset = offsetof(struct values, quick)},
    {.name = "no-baseline", .kind = AE_OPTION_FLAG,
     .help = "do not time the reference: times, but no speedups; programs can still be compared with each other",
     .offset = offsetof(struct values, no_baseline)},
    {.name = "stop-on-fail", .kind = AE_OPTION_FLAG, .help = "end at the first program that does not pass",
     .offset = offsetof(struct values, stop_on_fail)},
    {.name = "resume", .kind = AE_OPTION_FLAG, .help = "skip what the store already has with the same options",
     .offset = offsetof(struct values, resume)},
    {.name = "require-sandbox", .kind = AE_OPTION_FLAG, .help = "refuse to run where a layer of the sandbox is missing",
     .offset = offsetof(struct values, require_sandbox)},
    {.name = "profile", .kind = AE_OPTION_FLAG,
     .help = "say where the wait goes: further calls of each program that passes, on the practice bank",
     .offset = offsetof(struct values, profile)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "one JSON object a line instead of text",
     .offset = offsetof(struct values, json)},
    {0},
};

#define SENTENCES   3 /* of a profile beside a result */
#define DEVICES_MAX 8

/* What is to be evaluated; several lanes, one a device, take from it. */
struct queue {
    pthread_mutex_t mutex; /* also of everything that is printed */
    struct ae_submission_list *list;
    struct job {
        struct ae_submission_item *item;
        enum ae_size size;
    } *jobs;
    size_t count, next;
    bool stopped; /* --stop-on-fail */
};

/* One invocation, or one lane of it. */
struct session {
    struct values values;
    uint64_t given; /* options that the command line gave */
    struct ae_context context;
    struct ae_progress *progress;
    struct ae_store *store;
    int argc;
    char **argv;
    int64_t run; /* 0: not begun */
    char options_key[128];
    int device;
    struct ae_ceilings ceilings; /* of the machine with that device; known false: there are no floors */
    struct queue *queue;
    size_t passed, evaluated, skipped, refused; /* refused: lines that are no submission */
    int status;          /* what the verdicts so far make of the exit status */
    struct ae_error err; /* of a lane */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* Measured where nobody has done so on this machine, which takes some seconds once. Without them there is no call
 * floor. */
static void look_up_ceilings(struct session *s)
{
    if (s->context.device.handle)
        (void)ae_ceilings_get(&s->context, true, &s->ceilings, NULL);
}

/* Processor time of the worker over time of the call: the median of the timed trials; NaN: not known. */
static double host_share(const struct ae_measurement *m)
{
    double shares[AE_TIMINGS_MAX];
    size_t n = 0;
    for (int i = 0; i < m->trial_count && n < AE_TIMINGS_MAX; i++)
        if (m->trials[i].kind == AE_TRIAL_TIMED && m->trials[i].cpu_ns >= 0 && m->trials[i].call_ns > 0)
            shares[n++] = (double)m->trials[i].cpu_ns / (double)m->trials[i].call_ns;
    ae_sort(shares, n);
    return n ? ae_median(shares, n) : (double)NAN;
}

static json_t *measurement_json(const struct ae_measurement *m, const char *id)
{
    struct ae_speedup speedup;
    char layers[512];
    json_t *times = json_array();
    for (int i = 0; i < m->trial_count; i++)
        if (m->trials[i].kind == AE_TRIAL_TIMED && m->trials[i].verdict == AE_PASS)
            json_array_append_new(times, json_integer(m->trials[i].call_ns));
    json_t *json = json_pack("{s:i, s:s*, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:s, s:i}", "schema", 1, "id",
                             id, "task", m->task->id, "size", ae_size_name(m->size), "entrant", m->entrant, "target",
                             ae_target_name(m->target), "submission", m->submission, "verdict",
                             ae_verdict_name(m->verdict), "compile_ns", (json_int_t)m->compile_ns, "wall_ns",
                             (json_int_t)m->wall_ns, "timed_ns", times, "sandbox",
                             ae_layers_text(m->sandbox, layers, sizeof layers), "cores", m->cores);
    if (!json)
        return NULL;
    ae_cli_speedup(m, &speedup);
    if (m->detail[0])
        json_object_set_new(json, "detail", ae_json_text(m->detail));
    if (m->verdict == AE_VIOLATION)
        json_object_set_new(json, "violation", json_string(ae_violation_name(m->violation)));
    if (m->verdict == AE_PASS && isfinite(speedup.s))
        json_object_set_new(json, "speedup", json_real(speedup.s));
    if (m->verdict == AE_PASS && isfinite(host_share(m)))
        json_object_set_new(json, "host_share", json_real(host_share(m)));
    if (m->verdict == AE_PASS && m->notes) {
        json_t *notes = json_array();
        for (int i = 0; i < AE_NOTE_COUNT; i++)
            if (m->notes & (1u << i))
                json_array_append_new(notes, json_string(ae_note_name(i)));
        json_object_set_new(json, "notes", notes);
    }
    if (m->log)
        json_object_set_new(json, "log", ae_json_text(m->log));
    return json;
}

static void sample_name(const struct ae_task *task, int sample, char *ret, size_t size)
{
    char number[16] = "";
    if (sample > 0)
        snprintf(number, sizeof number, ".%d", sample);
    snprintf(ret, size, "%s%s", task->id, number);
}

/* Calls to which preparations were charged: a machine without a free processor makes them so. ret: " (6 of 8 calls were held
 * up: the machine is busy)" where they are most. */
static void held_up(const struct ae_measurement *m, char *ret, size_t size)
{
    int timed = 0, charged = 0;
    for (int i = 0; i < m->trial_count; i++) {
        timed += m->trials[i].kind == AE_TRIAL_TIMED;
        charged += m->trials[i].kind == AE_TRIAL_TIMED && m->trials[i].charged_ns > 0;
    }
    snprintf(ret, size, "%s", "");
    if (2 * charged > timed)
        snprintf(ret, size, "  (%d of %d calls were held up: the machine is busy)", charged, timed);
}

/* profile: NULL where there is none. */
static void print_line(struct session *s, const struct ae_measurement *m, const struct ae_profile *profile)
{
    /* a folder's name, and a detail that quotes names: neither may begin a line of its own */
    ae_autofree char *entrant = ae_cli_printable_line(m->entrant), *detail = ae_cli_printable_line(m->detail);
    char task[160]; /* and the sample, as in its file's name: several of a task are told apart by it */
    sample_name(m->task, m->sample, task, sizeof task);
    ae_progress_clear(s->progress);
    if (s->values.json) {
        json_t *json = measurement_json(m, NULL);
        if (json)
            json_object_set_new(json, "sample", json_integer(m->sample));
        if (json && profile)
            json_object_set_new(json, "profile", ae_profile_json(profile));
        char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
        printf("%s\n", text ? text : "{}");
        free(text);
        json_decref(json);
    } else if (m->verdict == AE_PASS) {
        struct ae_speedup speedup;
        ae_cli_speedup(m, &speedup);
        char share[48] = "", held[80], speed[24] = "-"; /* not known without a baseline */
        held_up(m, held, sizeof held);
        if (!isnan(speedup.s))
            snprintf(speed, sizeof speed, "%.2fx", speedup.s);
        if (m->notes & AE_NOTE_HOST_SHARE)
            snprintf(share, sizeof share, "  (host %.1f cores)", host_share(m));
        printf("%-12s %-34s %-7s pass   %10.3f ms  %9s%s%s%s%s\n", entrant ? entrant : "", task, ae_size_name(m->size),
               speedup.median_ns * 1e-6, speed, m->notes & AE_NOTE_FEW_TRIALS ? "  (noisy)" : "", held, share,
               m->notes & AE_NOTE_LEAKS ? "  (leaks memory)" : "");
    } else {
        printf("%-12s %-34s %-7s %s%s%s: %s\n", entrant ? entrant : "", task, ae_size_name(m->size),
               ae_verdict_name(m->verdict), m->verdict == AE_VIOLATION ? " " : "",
               m->verdict == AE_VIOLATION ? ae_violation_name(m->violation) : "", detail ? detail : "");
    }
    if (profile && !s->values.json && profile->profiled_calls > 0)
        ae_profile_print(profile, ae_terminal_width(stdout), SENTENCES, stdout);
    fflush(stdout);
}

static const char *language_of(enum ae_build_kind kind)
{
    return kind == AE_BUILD_CUDA ? "cuda" : kind == AE_BUILD_CPP ? "cpp" : "c";
}

/* Evaluates one item at one size and stores the result. */
static int evaluate_item(struct session *s, struct ae_submission_item *item, enum ae_size size,
                         struct ae_measurement *ret, int64_t *ret_id, struct ae_error *err)
{
    const struct ae_submission_info info = {
        .task = item->task,
        .target = item->target,
        .entrant = item->entrant,
        .sample = item->sample,
        .source_path = item->path,
        .build = &item->build,
    };
    const struct ae_evaluate_options options = {
        .quick = s->values.quick,
        .single = item->single,
        .no_baseline = s->values.no_baseline,
        .timed = (int)s->values.timed,
        .per_process = (int)s->values.per_process,
        .timeout_ns = s->values.timeout_s * AE_SEC,
    };
    char task[160];
    sample_name(item->task, item->sample, task, sizeof task);
    ae_context_say(&s->context, "%s %s %s", item->entrant, task, ae_size_name(size));
    ae_evaluate(&s->context, &info, size, &options, ret, NULL);
    if (item->target == AE_CUDA && ret->work.bytes_in > 0)
        ret->floor_ns = ae_floor_ns(&s->ceilings, &ret->work);
    const struct ae_submission submission = {
        .source = (char *)item->source.data, .size = item->source.size, .first_seen_ns = ae_wall_ns()};
    struct ae_submission stored = submission;
    snprintf(stored.sha256, sizeof stored.sha256, "%s", item->build.source_hash);
    snprintf(stored.language, sizeof stored.language, "%s", language_of(item->kind));
    int rc = ae_store_submission_put(s->store, &stored, err);
    if (rc == AE_OK)
        rc = ae_store_measurement_put(s->store, s->run, ret, s->options_key, ret_id, err);
    return rc;
}

/* What cannot be explained is passed over with a line: the result stands. id: of the measurement that it explains. */
static bool profile_item(struct session *s, const struct ae_submission_item *item, enum ae_size size, int64_t id,
                         struct ae_profile *ret)
{
    struct ae_error err = {0};
    struct ae_explanation explanation;
    const struct ae_submission_info info = {item->task, item->target, item->entrant, item->sample, item->path,
                                            &item->build};
    const struct ae_profile_options options = {.timeout_ns = s->values.timeout_s * AE_SEC,
                                               .single = item->single,
                                               .quick = true};
    if (ae_profile_run(&s->context, &info, size, &options, ret, &err) == AE_OK &&
        (!ae_profile_explain(ret, &explanation) || ae_store_explanation_put(s->store, id, &explanation, &err) == AE_OK))
        return true;
    ae_autofree char *reason = ae_cli_printable_line(err.text);
    pthread_mutex_lock(&s->queue->mutex);
    ae_progress_clear(s->progress);
    fprintf(stderr, "acceleval: no profile: %s\n", reason ? reason : "");
    pthread_mutex_unlock(&s->queue->mutex);
    return false;
}

static bool have_already(struct session *s, const struct ae_submission_item *item, enum ae_size size)
{
    bool exists = false;
    const struct ae_measurement_key key = {
        .submission = item->build.source_hash,
        .task = item->task->id,
        .task_version = item->task->version,
        .size = size,
        .target = item->target,
        .options_key = s->options_key,
        .entrant = item->entrant,
        .sample = item->sample,
    };
    return ae_store_measurement_exists(s->store, &key, &exists, NULL, NULL) == AE_OK && exists;
}

/* The next job of the target that this lane serves; false where there is none. */
static bool take(struct session *s, bool cpu, struct job *ret)
{
    struct queue *q = s->queue;
    bool taken = false;
    pthread_mutex_lock(&q->mutex);
    while (!taken && !q->stopped && !interrupted && q->next < q->count) {
        *ret = q->jobs[q->next++];
        taken = (ret->item->target == AE_CPU) == cpu;
    }
    pthread_mutex_unlock(&q->mutex);
    return taken;
}

static int run_lane(struct session *s, bool cpu)
{
    struct job job;
    int rc = AE_OK;
    while (rc == AE_OK && take(s, cpu, &job)) {
        struct ae_measurement m;
        if (s->values.resume && have_already(s, job.item, job.size)) {
            s->skipped++;
            continue;
        }
        int64_t id = 0;
        rc = evaluate_item(s, job.item, job.size, &m, &id, &s->err);
        struct ae_profile profile = {0};
        const bool profiled = s->values.profile && rc == AE_OK && m.verdict == AE_PASS &&
                              profile_item(s, job.item, job.size, id, &profile);
        pthread_mutex_lock(&s->queue->mutex);
        print_line(s, &m, profiled ? &profile : NULL);
        s->evaluated++;
        s->passed += m.verdict == AE_PASS;
        s->status = ae_cli_status(s->status, m.verdict);
        if (s->values.stop_on_fail && m.verdict != AE_PASS)
            s->queue->stopped = true;
        pthread_mutex_unlock(&s->queue->mutex);
        ae_profile_release(&profile);
        ae_measurement_release(&m);
    }
    return rc;
}

static void *run_device_lane(void *data)
{
    struct session *lane = data;
    ae_context_pin(&lane->context);
    (void)run_lane(lane, false);
    return NULL;
}

/* Before anything is compiled, and also where no program is for a GPU. */
static int check_devices(const struct ae_list *devices, struct ae_error *err)
{
    int64_t ordinals[DEVICES_MAX];
    if (devices->count > DEVICES_MAX)
        return ae_error_set(err, AE_E_USAGE, "--device takes at most %d GPUs", DEVICES_MAX);
    for (size_t i = 0; i < devices->count; i++) {
        if (!ae_text_to_i64(devices->items[i], 0, 63, &ordinals[i]))
            return ae_error_set(err, AE_E_USAGE, "--device: '%.40s' is no ordinal of a GPU", devices->items[i]);
        for (size_t k = 0; k < i; k++)
            if (ordinals[k] == ordinals[i])
                return ae_error_set(err, AE_E_USAGE, "--device names GPU %d twice: one program at a time runs on each",
                                    (int)ordinals[i]);
    }
    return AE_OK;
}

/* A lane of its own for a device: part of the cores, a connection of its own to the store. */
static int open_lane(const struct session *s, int index, int count, struct session *ret)
{
    int64_t ordinal = 0;
    *ret = *s;
    ret->store = NULL;
    ret->passed = ret->evaluated = ret->skipped = 0;
    ret->status = AE_EXIT_OK;
    ret->err = (struct ae_error){0};
    if (!ae_text_to_i64(s->values.devices.items[index], 0, 63, &ordinal))
        return ae_error_set(&ret->err, AE_E_USAGE, "--device: '%s' is no ordinal of a GPU", s->values.devices.items[index]);
    ret->device = (int)ordinal;
    ret->context.device = (struct ae_device){0};
    ae_host_slice(&ret->context.host, index, count);
    /* No device is a result for each program (not_run); one that another evaluation holds ends this run. */
    if (ae_context_device(&ret->context, ret->device, true, &ret->err) == AE_E_TIMEOUT)
        return AE_E_TIMEOUT;
    ret->err = (struct ae_error){0};
    look_up_ceilings(ret);
    return ae_store_open(&ret->store, NULL, AE_STORE_WRITE, &ret->err);
}

static int run_device_lanes(struct session *s, struct ae_error *err)
{
    struct session lanes[DEVICES_MAX];
    pthread_t threads[DEVICES_MAX];
    const int count = (int)s->values.devices.count;
    int opened = 0, rc = AE_OK;
    s->queue->next = 0;
    for (; rc == AE_OK && opened < count; opened++) {
        rc = open_lane(s, opened, count, &lanes[opened]);
        if (rc != AE_OK)
            *err = lanes[opened].err;
    }
    int started = 0;
    for (int i = 1; rc == AE_OK && i < count; i++, started++)
        if (pthread_create(&threads[i], NULL, run_device_lane, &lanes[i]) != 0)
            break; /* the others take its work */
    if (rc == AE_OK)
        run_device_lane(&lanes[0]);
    for (int i = 1; i <= started; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < opened; i++) {
        s->passed += lanes[i].passed;
        s->evaluated += lanes[i].evaluated;
        s->skipped += lanes[i].skipped;
        if (s->status != AE_EXIT_FAILED && lanes[i].status != AE_EXIT_OK)
            s->status = lanes[i].status;
        if (rc == AE_OK && lanes[i].err.code != AE_OK) {
            rc = lanes[i].err.code;
            *err = lanes[i].err;
        }
        ae_store_close(lanes[i].store);
        ae_device_close(&lanes[i].context.device);
    }
    return rc;
}

/* Programs for the host first, alone and with all its cores; then those for devices, a lane each. */
static int evaluate_all(struct session *s, struct ae_submission_list *list, struct ae_error *err)
{
    struct queue queue = {.list = list};
    bool any_device = false;
    queue.jobs = calloc(list->count * AE_SIZE_COUNT + 1, sizeof *queue.jobs);
    if (!queue.jobs)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu programs", list->count);
    pthread_mutex_init(&queue.mutex, NULL);
    for (int size = 0; size < AE_SIZE_COUNT; size++)
        for (size_t i = 0; (s->values.sizes & AE_AT(size)) && i < list->count; i++) {
            queue.jobs[queue.count++] = (struct job){&list->items[i], (enum ae_size)size};
            any_device |= list->items[i].target == AE_CUDA;
        }
    s->queue = &queue;
    ae_context_pin(&s->context);
    int rc = run_lane(s, true);
    if (rc != AE_OK)
        *err = s->err;
    else if (any_device && !queue.stopped && !interrupted)
        rc = run_device_lanes(s, err);
    s->queue = NULL;
    pthread_mutex_destroy(&queue.mutex);
    free(queue.jobs);
    return rc;
}

static int begin_run(struct session *s, struct ae_error *err)
{
    char bank[17];
    ae_bank_name(&s->context.bank, bank);
    snprintf(s->options_key, sizeof s->options_key, "quick=%d timed=%d per_process=%d timeout=%lld bank=%s%s",
             s->values.quick, (int)s->values.timed, (int)s->values.per_process, (long long)s->values.timeout_s, bank,
             s->values.no_baseline ? " no_baseline" : "");
    ae_autofree char *json = ae_options_json(ae_eval_options, &s->values);
    return ae_cli_begin_run(&s->context, s->store, s->argc, s->argv, json, &s->run, err);
}

/* Judges one line from a program; the answer is one line. */
static int answer_line(struct session *s, const char *text, size_t size, bool too_long, struct ae_error *err)
{
    struct ae_line line = {0};
    struct ae_error bad = {0};
    json_t *answer = NULL;
    int rc = AE_OK;
    if (too_long)
        ae_error_set(&bad, AE_E_INPUT, "the line is longer than %zu bytes", AE_LINE_MAX);
    if (too_long || ae_line_parse(text, size, &line, &bad) != AE_OK) {
        answer = json_pack("{s:i, s:s*, s:s, s:o}", "schema", 1, "id", line.id, "verdict", "usage_error", "detail",
                           ae_json_text(bad.text));
        s->refused++;
    } else {
        struct ae_submission_item item = {
            .task = line.task, .kind = line.kind, .target = line.kind == AE_BUILD_CUDA ? AE_CUDA : AE_CPU};
        struct ae_submission_list list = {&item, 1};
        struct ae_measurement m = {0};
        snprintf(item.entrant, sizeof item.entrant, "%s", line.entrant);
        snprintf(item.path, sizeof item.path, "stdin");
        item.sample = (int)s->evaluated; /* each is a sample of its own: a run holds no two alike */
        item.source = (struct ae_bytes){(unsigned char *)(uintptr_t)line.source, line.source_size};
        rc = s->run ? AE_OK : begin_run(s, err);
        if (rc == AE_OK)
            rc = ae_items_build(&list, &s->context, 1, s->values.arch, err);
        if (rc == AE_OK) {
            rc = evaluate_item(s, &item, line.size, &m, NULL, err);
            answer = measurement_json(&m, line.id);
            s->evaluated++;
            s->passed += m.verdict == AE_PASS;
            s->status = ae_cli_status(s->status, m.verdict);
        }
        ae_measurement_release(&m);
        ae_build_result_release(&item.build);
    }
    ae_progress_clear(s->progress);
    char *out = answer ? json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    printf("%s\n", out ? out : "{\"schema\":1,\"verdict\":\"host_error\",\"detail\":\"no memory\"}");
    fflush(stdout);
    free(out);
    json_decref(answer);
    ae_line_release(&line);
    return rc;
}

static bool blank(const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r\n", line[i]) || !line[i])
            return false;
    return true;
}

static int serve_lines(struct session *s, struct ae_error *err)
{
    char *line = NULL;
    size_t room = 0;
    bool too_long;
    int64_t ordinal;
    int rc = AE_OK;
    if (s->values.devices.count != 1 || !ae_text_to_i64(s->values.devices.items[0], 0, 63, &ordinal))
        return ae_error_set(err, AE_E_USAGE, "'eval -' runs on one --device");
    s->device = (int)ordinal;
    ae_context_pin(&s->context);
    if (ae_context_device(&s->context, s->device, true, err) == AE_E_TIMEOUT)
        return AE_E_TIMEOUT;
    look_up_ceilings(s);
    ssize_t size = 0;
    while (rc == AE_OK && !interrupted && (size = ae_line_read(stdin, &line, &room, &too_long)) > 0)
        if (!blank(line, (size_t)size))
            rc = answer_line(s, line, (size_t)size, too_long, err);
    if (rc == AE_OK && size < 0)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for a line of standard input");
    if (rc == AE_OK && !interrupted && ferror(stdin)) /* not its end: who sends lines must not take them for judged */
        rc = ae_error_errno(err, AE_E_IO, errno, "cannot read standard input");
    free(line);
    return rc;
}

/* Results are kept under the name: cut, it would be another entrant's too, and JSON has no place for broken bytes. */
static int check_entrants(const struct ae_submission_list *list, struct ae_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->items[i].entrant;
        if (strlen(name) >= AE_LINE_ENTRANT || !ae_utf8_valid(name))
            return ae_error_set(err, AE_E_USAGE, "%s: the name of its entrant %s: give it another with --entrant",
                                list->items[i].path,
                                ae_utf8_valid(name) ? "is longer than 63 bytes" : "is no UTF-8");
    }
    return AE_OK;
}

/* What each line says itself, and what concerns a set of programs, is not for 'eval -'. */
static int check_lines_options(const struct session *s, struct ae_error *err)
{
    static const char *const by_line[] = {"entrant", "task", "size"};
    static const char *const of_sets[] = {"target", "jobs", "stop-on-fail", "resume", "profile"};
    for (size_t i = 0; i < sizeof by_line / sizeof *by_line; i++)
        if (ae_option_given(ae_eval_options, s->given, by_line[i]))
            return ae_error_set(err, AE_E_USAGE, "'eval -' takes the %s from each line: --%s cannot be given", by_line[i],
                                by_line[i]);
    for (size_t i = 0; i < sizeof of_sets / sizeof *of_sets; i++)
        if (ae_option_given(ae_eval_options, s->given, of_sets[i]))
            return ae_error_set(err, AE_E_USAGE, "'eval -' answers line by line: --%s cannot be given", of_sets[i]);
    return AE_OK;
}

/* Named before, by whatever path: a run has one measurement of it. */
static bool is_repeat(const struct ae_submission_list *list, size_t count, const struct ae_submission_item *item)
{
    for (size_t i = 0; i < count; i++) {
        const struct ae_submission_item *other = &list->items[i];
        if (other->task == item->task && other->kind == item->kind && other->sample == item->sample &&
            strcmp(other->entrant, item->entrant) == 0 && other->source.size == item->source.size &&
            memcmp(other->source.data, item->source.data, item->source.size) == 0)
            return true;
    }
    return false;
}

static int collect(struct session *s, const struct ae_list *paths, struct ae_submission_list *list,
                   struct ae_error *err)
{
    const struct values *v = &s->values;
    if (paths->count == 0) {
        if (v->entrants.count == 0)
            return ae_error_set(err, AE_E_USAGE, "nothing to evaluate: give a PATH, or --entrant reference, parallel, "
                                "naive or tuned");
        for (size_t i = 0; i < v->entrants.count; i++) {
            const int rc = ae_items_add_built_in(list, &s->context, v->entrants.items[i], &v->tasks, err);
            if (rc != AE_OK)
                return rc;
        }
        if (list->count == 0)
            return ae_error_set(err, AE_E_USAGE, "none of these tasks has such an entrant yet");
    }
    if (paths->count && v->entrants.count > 1)
        return ae_error_set(err, AE_E_USAGE, "with a PATH, --entrant says what to call its author, and takes one name");
    for (size_t i = 0; i < paths->count; i++) {
        if (strcmp(paths->items[i], "-") == 0)
            return ae_error_set(err, AE_E_USAGE, "'-' (standard input) stands alone, beside no other PATH");
        const int rc = ae_items_add_path(list, paths->items[i], &v->tasks,
                                         v->entrants.count ? v->entrants.items[0] : NULL, err);
        if (rc != AE_OK)
            return rc;
    }
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const bool other = v->target && (enum ae_target)(v->target - 1) != list->items[i].target;
        if (other || is_repeat(list, kept, &list->items[i]))
            ae_bytes_release(&list->items[i].source);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    if (kept == 0)
        return ae_error_set(err, AE_E_USAGE, "none of these programs is for the target %s", targets[v->target]);
    ae_items_note_useless(list, ae_eval_options, s->given);
    return check_entrants(list, err);
}

/* --require-sandbox: every layer is there, and every denial has been tried. Control groups are what few machines let be
 * made, a container hardly any: where they are missing, limits of the process and signals stand in for them, which the stamp
 * tells. */
static int require_of_target(struct session *s, enum ae_target target, struct ae_error *err)
{
    struct ae_proof_result proof = {0};
    char text[512];
    const struct ae_runner_options options = {
        .worker = s->context.worker,
        .target = target,
        .device = s->context.device.minor,
        .device_uuid = s->context.device.uuid,
        .cuda_lib = s->context.toolchain->cuda_lib[0] ? s->context.toolchain->cuda_lib : NULL,
        .cores = &s->context.host.submission_cores,
        .memory_bytes = (uint64_t)4 << 30,
        .layers_off = s->context.layers_off};
    const int rc = ae_context_prove(&s->context, &options, &proof, err);
    const char *whom = target == AE_CUDA ? "a device's programs" : "a program";
    const uint64_t missing =
        ae_runner_wanted_layers() & ~proof.layers & ~(uint64_t)(AE_PROC_CGROUP | AE_LAYER_MEMORY | AE_LAYER_PIDS);
    if (rc == AE_OK && missing)
        return ae_error_set(err, AE_E_ENV, "--require-sandbox: this machine does not give %s to %s ('acceleval doctor' says what "
                            "to do)", ae_layers_text(missing, text, sizeof text), whom);
    if (rc == AE_OK && proof.denied != proof.tried)
        return ae_error_set(err, AE_E_ENV, "--require-sandbox: not denied to %s here: %s", whom, proof.allowed);
    return rc;
}

/* A device's worker has more descriptors, and doors of its driver: it is tried as well, where there is a device for it. */
static int require_sandbox(struct session *s, struct ae_error *err)
{
    const int rc = require_of_target(s, AE_CPU, err);
    return rc == AE_OK && s->context.device.handle ? require_of_target(s, AE_CUDA, err) : rc;
}

static int finish(struct session *s, struct ae_error *err)
{
    ae_progress_clear(s->progress);
    const int rc = ae_store_run_end(s->store, s->run, ae_wall_ns(), err);
    if (!s->values.json) {
        printf("%zu evaluated, %zu passed", s->evaluated, s->passed);
        if (s->skipped)
            printf(", %zu there already", s->skipped);
        printf("; run %lld%s\n", (long long)s->run, interrupted ? " (interrupted: --resume continues)" : "");
    }
    return rc;
}

int ae_cmd_eval(const struct ae_command *self, int argc, char **argv)
{
    struct session s = {.argc = argc, .argv = argv};
    struct ae_progress progress;
    struct ae_list paths = {0};
    struct ae_submission_list list = {0};
    struct ae_error err = {0};
    const int done = ae_cli_parse_given(self, argc, argv, &s.values, &paths, &s.given);
    if (done >= 0)
        return done;
    const bool lines = paths.count == 1 && strcmp(paths.items[0], "-") == 0;
    s.values.json |= lines; /* the other side reads nothing but JSON */
    s.progress = &progress;
    int rc = check_devices(&s.values.devices, &err);
    if (rc == AE_OK && lines)
        rc = check_lines_options(&s, &err);
    if (rc == AE_OK)
        rc = ae_cli_context(&s.context, &progress, &err);
    if (rc == AE_OK && s.values.seed)
        ae_bank_from_seed(&s.context.bank, (uint64_t)s.values.seed);
    if (rc == AE_OK && !lines)
        rc = collect(&s, &paths, &list, &err);
    if (rc == AE_OK && s.values.require_sandbox)
        rc = require_sandbox(&s, &err);
    if (rc == AE_OK)
        rc = ae_store_open(&s.store, NULL, AE_STORE_WRITE, &err);
    if (rc == AE_OK && !lines) /* of lines, once there is one to evaluate */
        rc = begin_run(&s, &err);
    if (rc == AE_OK) {
        const struct sigaction action = {.sa_handler = on_interrupt};
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        rc = ae_items_build(&list, &s.context, (int)s.values.jobs, s.values.arch, &err);
        if (rc == AE_OK)
            rc = lines ? serve_lines(&s, &err) : evaluate_all(&s, &list, &err);
        if (s.run && finish(&s, rc == AE_OK ? &err : NULL) != AE_OK && rc == AE_OK)
            rc = AE_E_IO;
    }
    ae_store_close(s.store);
    ae_items_release(&list);
    ae_context_close(&s.context);
    ae_options_release(ae_eval_options, &s.values);
    ae_list_release(&paths);
    if (rc != AE_OK)
        return ae_cli_fail(&err);
    return s.refused || interrupted ? AE_EXIT_FAILED : s.status;
}
