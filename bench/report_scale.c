/* What reports cost on a large store. Claim: with 100,000 measurements every report takes less than 5 s and 300 MB.
 *     report_scale [MEASUREMENTS [FOLDER [REPORT]]]      one JSON object a line; the store is made in FOLDER (/tmp) and
 * removed. Each report is built and printed (to /dev/null) in a process of its own, so that its peak of memory is
 * its own; "page" is what the command line asks for HTML. */
#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "cli/report_search.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TASKS  42
#define TRIALS 20 /* of a measurement: 2 fresh, 8 timed, adversarial and twins */
#define HASH   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A program of the task's own with a first line that makes it another submission, and its digest. Some entrants' programs
 * show more strategies than others'. */
static int put_source(sqlite3_stmt *statement, long who, long task, char ret_sha256[AE_SHA256_HEX])
{
    static const char *const files[] = {"naive.cu", "tuned.cu"};
    char path[512], line[64];
    struct ae_bytes program = {0};
    snprintf(path, sizeof path, "%s/%s/%s", AE_TASKS_FOLDER, ae_tasks[task % ae_task_count]->id, files[who % 7 == 1]);
    if (ae_file_read(path, 1 << 20, &program, NULL) != AE_OK)
        return -1;
    const int head = snprintf(line, sizeof line, "// by %ld\n", who);
    char *text = malloc((size_t)head + program.size);
    int r = -1;
    if (text) {
        memcpy(text, line, (size_t)head);
        memcpy(text + head, program.data, program.size);
        r = ae_sha256(text, (size_t)head + program.size, ret_sha256, NULL);
        sqlite3_bind_text(statement, 1, ret_sha256, -1, SQLITE_TRANSIENT);
        sqlite3_bind_blob(statement, 2, text, head + (int)program.size, SQLITE_STATIC);
        if (r == AE_OK && sqlite3_step(statement) != SQLITE_DONE)
            r = -1;
        sqlite3_reset(statement);
    }
    free(text);
    ae_bytes_release(&program);
    return r;
}

/* Straight into the tables: one durable transaction a measurement is not what is measured here. */
static int fill(const char *path, long count)
{
    sqlite3 *db;
    sqlite3_stmt *measurement = NULL, *trial = NULL, *submission = NULL, *explanation = NULL, *phase = NULL;
    static char sources[TASKS][AE_SHA256_HEX]; /* of the entrant at hand */
    struct ae_rng rng;
    ae_rng_seed(&rng, 1, 0);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA synchronous = OFF; BEGIN; INSERT INTO environments VALUES ('" HASH "', 'bench', '{}');"
                     "INSERT INTO runs VALUES (1, 1, 1, '', '{}', '', '" HASH "', 0, '')",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "INSERT INTO measurements (id, run, submission, entrant, sample, task, task_version, size, target,"
                           " options_key, source_path, verdict, violation, detail, compile_ns, started_ns, wall_ns, notes,"
                           " sandbox, cores, seeded, device_uuid, work_in, work_out, work_operations, work_steps, floor_ns)"
                           " VALUES (?1, 1, ?7, ?2, 0, ?3, 1, ?4, 'cuda', '', '', ?5, '', ?6, 0, 0, 0, 0, 0, 16, 0, '',"
                           " 1e6, 1e6, 1e9, 20, 50000)",
                           -1, &measurement, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(
            db, "INSERT INTO trials VALUES (?1, ?2, ?3, 0, 0, ?4, 'pass', '', ?5, ?5, ?6, -1, 0, 0, 0, 0.1)", -1,
            &trial, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO submissions VALUES (?1, 'cuda', ?2, 1)", -1, &submission, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO explanations VALUES (?1, 6000, 5000, 1000, 1, 0, '')", -1, &explanation, NULL) !=
            SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO phases VALUES (?1, ?2, 1000, 1000, 0)", -1, &phase, NULL) != SQLITE_OK)
        return -1;
    for (long i = 0; i < count; i++) {
        char entrant[64], task[64];
        const long who = i / (TASKS * AE_SIZE_COUNT);
        const int size = (int)(i / TASKS % AE_SIZE_COUNT);
        const bool pass = ae_rng_chance(&rng, 0.8) || who < 2;
        if (size == 0 && put_source(submission, who, i % TASKS, sources[i % TASKS]) != 0)
            return -1;
        snprintf(entrant, sizeof entrant, who == 0 ? "parallel" : who == 1 ? "tuned" : "model %ld", who);
        snprintf(task, sizeof task, "task_%02ld", i % TASKS);
        sqlite3_bind_int64(measurement, 1, i + 1);
        sqlite3_bind_text(measurement, 2, entrant, -1, SQLITE_STATIC);
        sqlite3_bind_text(measurement, 3, task, -1, SQLITE_STATIC);
        sqlite3_bind_text(measurement, 4, ae_size_name((enum ae_size)size), -1, SQLITE_STATIC);
        sqlite3_bind_text(measurement, 5, pass ? "pass" : "wrong_answer", -1, SQLITE_STATIC);
        sqlite3_bind_text(measurement, 6, pass ? "" : "3 of 16 instances: 17 of 4096 elements", -1, SQLITE_STATIC);
        sqlite3_bind_text(measurement, 7, sources[i % TASKS], -1, SQLITE_STATIC);
        if (sqlite3_step(measurement) != SQLITE_DONE)
            return -1;
        sqlite3_reset(measurement);
        const double ms = ae_rng_log_uniform(&rng, 0.1, 1000);
        for (int t = 0; t < TRIALS; t++) {
            const char *kind = t < 8 ? "adversarial" : t < 10 ? "fresh" : t < 18 ? "timed" : "twin";
            sqlite3_bind_int64(trial, 1, i + 1);
            sqlite3_bind_int(trial, 2, t);
            sqlite3_bind_text(trial, 3, kind, -1, SQLITE_STATIC);
            sqlite3_bind_int(trial, 4, t);
            sqlite3_bind_int64(trial, 5, (int64_t)(ms * 1e6 * exp(0.02 * ae_rng_normal(&rng))));
            sqlite3_bind_int64(trial, 6, (int64_t)1e9);
            if (sqlite3_step(trial) != SQLITE_DONE)
                return -1;
            sqlite3_reset(trial);
        }
        sqlite3_bind_int64(explanation, 1, i + 1);
        if (pass && sqlite3_step(explanation) != SQLITE_DONE)
            return -1;
        sqlite3_reset(explanation);
        for (int p = AE_PHASE_ALLOC; pass && p <= AE_PHASE_OUT; p++) {
            sqlite3_bind_int64(phase, 1, i + 1);
            sqlite3_bind_text(phase, 2, ae_phase_name((enum ae_phase)p), -1, SQLITE_STATIC);
            if (sqlite3_step(phase) != SQLITE_DONE)
                return -1;
            sqlite3_reset(phase);
        }
    }
    sqlite3_finalize(measurement);
    sqlite3_finalize(trial);
    sqlite3_finalize(submission);
    sqlite3_finalize(explanation);
    sqlite3_finalize(phase);
    const int r = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    return r == SQLITE_OK ? 0 : -1;
}

static const struct {
    const char *name;
    unsigned sections; /* UINT32_MAX: a comparison */
} reports[] = {
    {"leaderboard", AE_REPORT_LEADERBOARD},
    {"matrix", AE_REPORT_MATRIX},
    {"detail", AE_REPORT_DETAIL},
    {"phases", AE_REPORT_PHASES},
    {"strategies", AE_REPORT_STRATEGIES},
    {"default", 0},
    {"page", AE_REPORT_ALL},
    {"compare", UINT32_MAX},
};

static int one(const char *path, unsigned sections, const char *baseline, enum ae_format format)
{
    struct ae_store *store;
    struct ae_report report;
    struct ae_error err = {0};
    struct ae_report_search search = {0};
    const struct ae_report_options options = {.filter.latest = true, .sections = sections, .baseline = baseline, .search = &search,
                                              .detail_max = sections == AE_REPORT_ALL ? AE_REPORT_PAGE_ROWS : 0};
    const struct ae_side a = {"model 2", 0}, b = {"model 3", 0};
    const struct ae_report_header header = {.kind = "report"};
    const struct ae_print_options print = {.format = format, .width = 120};
    FILE *null = fopen("/dev/null", "w");
    int r = null ? ae_store_open(&store, path, AE_STORE_READ, &err) : AE_E_IO;
    if (r == AE_OK && sections != UINT32_MAX && (sections & AE_REPORT_STRATEGIES))
        r = ae_cli_search_init(&search, &err);
    if (r == AE_OK)
        r = sections == UINT32_MAX ? ae_compare_build(store, &a, &b, &options.filter, &report, &err)
                                   : ae_report_build(store, &options, &report, &err);
    if (r == AE_OK)
        r = format == AE_FORMAT_HTML && sections != UINT32_MAX
                ? ae_report_print_html(store, &report, &options, &header, null, &err)
                : ae_report_print(&report, &header, &print, null, &err);
    if (r != AE_OK)
        fprintf(stderr, "%s\n", err.text);
    return r == AE_OK ? 0 : 1;
}

static void measure(const char *path, long count, size_t which, const char *baseline, enum ae_format format)
{
    const double start = now_s();
    const pid_t child = fork();
    if (child == 0)
        _exit(one(path, reports[which].sections, baseline, format));
    struct rusage usage;
    int status = -1;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return;
    const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    printf(
        "{\"report\": \"%s\", \"baseline\": \"%s\", \"format\": \"%s\", \"measurements\": %ld, \"seconds\": %.2f, "
        "\"cpu_seconds\": %.2f, \"peak_mb\": %ld}\n",
        reports[which].name, baseline, ae_format_names[format], count, now_s() - start, cpu, usage.ru_maxrss / 1024);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 100000;
    char folder[256], path[300];
    struct ae_store *store;
    struct ae_error err = {0};
    snprintf(folder, sizeof folder, "%s/ae-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    int r = ae_store_open(&store, path, AE_STORE_WRITE, &err);
    if (r == AE_OK) {
        ae_store_close(store);
        r = fill(path, count);
    }
    if (r != 0)
        fprintf(stderr, "report_scale: the store cannot be filled\n");
    for (size_t i = 0; r == 0 && i < sizeof reports / sizeof *reports; i++)
        for (int format = 0; format < AE_FORMAT_COUNT && (argc < 4 || strcmp(argv[3], reports[i].name) == 0); format++)
            measure(path, count, i, "reference", (enum ae_format)format);
    for (size_t i = 0; r == 0 && i < 3 && argc < 4; i++)
        measure(path, count, i, "parallel", AE_FORMAT_TERM);
    ae_folder_remove(folder, NULL);
    return r == 0 ? 0 : 1;
}
