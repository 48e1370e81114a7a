#include "profile/tools.h"

#include "base/clock.h"
#include "base/text.h"
#include "run/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_TIMEOUT (300 * AE_SEC) /* a sanitizer slows kernels down a hundredfold */
#define END_TIMEOUT  (60 * AE_SEC)
#define MEMORY       ((uint64_t)16 << 30) /* beside the arguments: the tools keep much */
#define FIELDS_MAX   64
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const names[] = {"memcheck", "racecheck", "synccheck", "initcheck", "ncu"};

const char *ae_checker_name(enum ae_checker checker)
{
    return names[checker];
}

/* --- what they print -------------------------------------------------------------------------- */

/* Adds a line unless it is there already; the rest is counted in errors only. */
static void add_line(struct ae_checker_report *ret, const char *text)
{
    for (int i = 0; i < ret->line_count; i++)
        if (strcmp(ret->lines[i], text) == 0)
            return;
    if (ret->line_count < AE_CHECKER_LINES)
        snprintf(ret->lines[ret->line_count++], AE_CHECKER_TEXT, "%s", text);
}

/* The next line of *text without its end; false at the end. */
static bool next_line(const char **text, char *ret, size_t size)
{
    const char *from = *text;
    if (!*from)
        return false;
    const size_t length = strcspn(from, "\n");
    *text = from + length + (from[length] == '\n');
    snprintf(ret, size, "%.*s", (int)(length < size ? length : size - 1), from);
    const size_t kept = strlen(ret);
    if (kept > 0 && ret[kept - 1] == '\r')
        ret[kept - 1] = 0;
    return true;
}

/* Reports look like
 *     ========= Invalid __global__ write of size 4 bytes
 *     =========     at kernel(int *)+0x50 in file.cu:12
 *     =========     by thread (1,0,0) in block (0,0,0)
 *     =========
 * and the last line is "========= ERROR SUMMARY: 3 errors", with another first word for some tools. */
void ae_checker_read_sanitizer(const char *text, struct ae_checker_report *ret)
{
    static const char mark[] = "=========";
    char line[1024], title[200] = "", report[AE_CHECKER_TEXT];
    while (next_line(&text, line, sizeof line)) {
        if (strncmp(line, mark, sizeof mark - 1) != 0)
            continue;
        const char *said = line + sizeof mark - 1;
        const size_t indent = strspn(said, " ");
        said += indent;
        const char *summary = strstr(said, "SUMMARY: ");
        if (summary) {
            ret->ran = true;
            ret->errors = strtoll(summary + strlen("SUMMARY: "), NULL, 10);
            title[0] = 0;
        } else if (indent == 1 && strncmp(said, "COMPUTE-SANITIZER", 17) != 0) {
            if (title[0])
                add_line(ret, title);
            snprintf(title, sizeof title, "%s", said);
        } else if (title[0] && indent > 1 && strncmp(said, "at ", 3) == 0) {
            snprintf(report, sizeof report, "%s, %.110s", title, said);
            add_line(ret, report);
            title[0] = 0;
        }
    }
    if (!ret->ran)
        snprintf(ret->detail, sizeof ret->detail, "%s", title[0] ? title : "it printed no summary");
}

/* The fields of a line of CSV, unquoted in place. Returns how many. */
static int split(char *line, char *fields[FIELDS_MAX])
{
    int count = 0;
    for (char *at = line; count < FIELDS_MAX;) {
        char *to = at;
        fields[count++] = at;
        if (*at == '"') {
            char *from = at + 1;
            while (*from && !(*from == '"' && from[1] != '"')) {
                from += *from == '"';
                *to++ = *from++;
            }
            at = from + (*from == '"');
        } else {
            at += strcspn(at, ",");
            to = at;
        }
        const bool more = *at == ',';
        *to = 0;
        if (!more)
            break;
        at++;
    }
    return count;
}

struct kernel {
    char name[96];
    int launches;
    double us, compute, memory, occupancy, registers; /* duration added up, the others of the longest launch */
    double longest;
};

/* Metrics of one launch follow each other; its duration may come behind the others. */
static void close_launch(struct kernel *k, const struct kernel *launch)
{
    k->launches++;
    k->us += launch->us;
    if (launch->us >= k->longest) {
        k->longest = launch->us;
        k->compute = launch->compute;
        k->memory = launch->memory;
        k->occupancy = launch->occupancy;
        k->registers = launch->registers;
    }
}

static double in_us(double value, const char *unit)
{
    return strcmp(unit, "ns") == 0 || strcmp(unit, "nsecond") == 0   ? value * 1e-3
           : strcmp(unit, "ms") == 0 || strcmp(unit, "msecond") == 0 ? value * 1e3
           : strcmp(unit, "s") == 0 || strcmp(unit, "second") == 0   ? value * 1e6
                                                                     : value;
}

void ae_checker_read_ncu(const char *text, struct ae_checker_report *ret)
{
    enum { ID, NAME, METRIC, UNIT, VALUE, COLUMNS };
    static const char *const titles[COLUMNS] = {"ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"};
    struct kernel kernels[AE_CHECKER_LINES] = {0}, launch = {0};
    char line[4096], id[32] = "", *fields[FIELDS_MAX];
    int column[COLUMNS] = {-1, -1, -1, -1, -1}, count = 0, current = -1;
    while (next_line(&text, line, sizeof line)) {
        if (strncmp(line, "==ERROR==", 9) == 0)
            snprintf(ret->detail, sizeof ret->detail, "%s", line + 9 + strspn(line + 9, " "));
        if (line[0] != '"')
            continue;
        const int n = split(line, fields);
        if (column[ID] < 0) {
            for (int c = 0; c < COLUMNS; c++)
                for (int f = 0; f < n; f++)
                    if (strcmp(fields[f], titles[c]) == 0)
                        column[c] = f;
            for (int c = 0; c < COLUMNS; c++)
                if (column[c] < 0)
                    column[ID] = -1;
            continue;
        }
        bool whole = true;
        for (int c = 0; c < COLUMNS; c++)
            whole = whole && column[c] < n;
        if (!whole)
            continue;
        if (strcmp(fields[column[ID]], id) != 0) {
            if (current >= 0)
                close_launch(&kernels[current], &launch);
            launch = (struct kernel){0};
            snprintf(id, sizeof id, "%s", fields[column[ID]]);
            const char *name = fields[column[NAME]];
            for (current = 0; current < count && strncmp(kernels[current].name, name, sizeof launch.name - 1) != 0;)
                current++;
            if (current == count && count < AE_CHECKER_LINES)
                snprintf(kernels[count++].name, sizeof launch.name, "%s", name);
            else if (current == count)
                current = -1;
        }
        const char *metric = fields[column[METRIC]];
        const double value = strtod(fields[column[VALUE]], NULL);
        if (strcmp(metric, "Duration") == 0)
            launch.us = in_us(value, fields[column[UNIT]]);
        else if (strcmp(metric, "Compute (SM) Throughput") == 0)
            launch.compute = value;
        else if (strcmp(metric, "Memory Throughput") == 0 && strcmp(fields[column[UNIT]], "%") == 0)
            launch.memory = value;
        else if (strcmp(metric, "Achieved Occupancy") == 0)
            launch.occupancy = value;
        else if (strcmp(metric, "Registers Per Thread") == 0)
            launch.registers = value;
    }
    if (current >= 0)
        close_launch(&kernels[current], &launch);
    for (int k = 0; k < count; k++)
        snprintf(ret->lines[ret->line_count++], AE_CHECKER_TEXT,
                 "%s: %d %s, %.1f us in all; the longest keeps arithmetic busy to %.0f %% and memory to %.0f %%, "
                 "occupancy %.0f %%, %.0f registers a thread",
                 kernels[k].name, kernels[k].launches, ae_text_plural(kernels[k].launches, "launch", "launches"),
                 kernels[k].us, kernels[k].compute, kernels[k].memory, kernels[k].occupancy, kernels[k].registers);
    ret->ran = count > 0;
    if (!ret->ran && !ret->detail[0])
        snprintf(ret->detail, sizeof ret->detail, "it profiled no kernel");
}

/* --- running them ----------------------------------------------------------------------------- */

static bool find(const struct ae_context *context, const char *name, char *ret, size_t size)
{
    const char *path = getenv("PATH");
    snprintf(ret, size, "%s/bin/%s", context->toolchain->cuda_root, name);
    if (context->toolchain->cuda_root[0] && access(ret, X_OK) == 0)
        return true;
    for (const char *at = path ? path : ""; *at;) {
        const size_t n = strcspn(at, ":");
        if (n > 0 && at[0] == '/') {
            snprintf(ret, size, "%.*s/%s", (int)n, at, name);
            if (access(ret, X_OK) == 0)
                return true;
        }
        at += n + (at[n] == ':');
    }
    return false;
}

static int call_once(struct ae_runner *runner, const struct ae_case *cell, struct ae_checker_report *ret,
                     struct ae_error *err)
{
    struct ae_trial trial;
    struct ae_judgement judgement;
    char detail[AE_DETAIL_TEXT] = "";
    const struct ae_trial_request request = {
        .inst = &cell->inst, .expected = &cell->expected, .kind = AE_TRIAL_TIMED, .timeout_ns = CALL_TIMEOUT};
    if (runner->answers->result != AE_WORKER_OK) {
        snprintf(ret->detail, sizeof ret->detail, "%.300s", ae_runner_text(runner));
        return AE_OK;
    }
    if (ae_trial_load(runner, CALL_TIMEOUT, detail) != AE_PASS) {
        snprintf(ret->detail, sizeof ret->detail, "%.300s", detail);
        return AE_OK;
    }
    const int rc = ae_trial_run(runner, &request, &trial, &judgement, detail, err);
    if (rc == AE_OK && trial.verdict != AE_PASS)
        snprintf(ret->detail, sizeof ret->detail, "the call: %s; %.250s", ae_verdict_name(trial.verdict), detail);
    return rc;
}

int ae_checker_run(struct ae_context *context, const struct ae_submission_info *submission, enum ae_size size,
                   enum ae_checker checker, struct ae_checker_report *ret, struct ae_error *err)
{
    const bool ncu = checker == AE_CHECKER_NCU;
    char program[4200];
    *ret = (struct ae_checker_report){.checker = checker};
    if (submission->target != AE_CUDA) {
        snprintf(ret->detail, sizeof ret->detail, "it looks at CUDA programs only");
        return AE_OK;
    }
    if (!find(context, ncu ? "ncu" : "compute-sanitizer", program, sizeof program)) {
        snprintf(ret->detail, sizeof ret->detail, "%s is not installed; it comes with the CUDA toolkit",
                 ncu ? "ncu (Nsight Compute)" : "compute-sanitizer");
        return AE_OK;
    }
    const char *const sanitizer[] = {program, "--tool", names[checker], "--target-processes", "all", NULL};
    const char *const profiler[] = {program, "--csv", "--page", "details", "--target-processes", "all", "--launch-count",
                                    "200", "--section", "SpeedOfLight", "--section", "Occupancy", "--section",
                                    "LaunchStats", NULL};
    const struct ae_case_name name = {.task = submission->task, .size = size, .kind = AE_TRIAL_TIMED, .practice = true};
    struct ae_case cell = {0};
    struct ae_bytes object = {0};
    struct ae_runner runner = {0};
    ae_autofree char *log = NULL;
    int rc = ae_case_open(context, &name, false, &cell, err);
    if (rc == AE_OK)
        rc = ae_file_read(submission->build->object, (size_t)1 << 30, &object, err);
    if (rc == AE_OK) {
        const struct ae_runner_options options = {
            .worker = context->worker,
            .target = AE_CUDA,
            .device = context->device.minor,
            .device_uuid = context->device.uuid,
            .cuda_lib = context->toolchain->cuda_lib[0] ? context->toolchain->cuda_lib : NULL,
            .cores = &context->host.submission_cores,
            .spin = context->host.spin,
            .memory_bytes = ae_instance_bytes(&cell.inst) * 3 + MEMORY,
            .tool = ncu ? profiler : sanitizer,
        };
        ae_context_say(context, "%s over %s %s", names[checker], submission->task->id, ae_size_name(size));
        struct ae_error start = {0};
        rc = ae_runner_start(&runner, &options, object.data, object.size, ae_buffers_need(&cell.inst), &start);
        if (rc == AE_OK)
            rc = call_once(&runner, &cell, ret, err);
        else if (rc == AE_E_ENV) { /* the tool's own trouble: it says so */
            snprintf(ret->detail, sizeof ret->detail, "%.300s", start.text);
            rc = AE_OK;
        } else
            *err = start;
        if (runner.proc)
            (void)ae_runner_leave(&runner, END_TIMEOUT);
        ae_runner_stop(&runner, &log, NULL);
    }
    if (rc == AE_OK && log) {
        if (ncu)
            ae_checker_read_ncu(log, ret);
        else
            ae_checker_read_sanitizer(log, ret);
        const size_t length = strlen(log);
        if (!ret->ran)
            snprintf(ret->tail, sizeof ret->tail, "%s", log + (length < sizeof ret->tail ? 0 : length - sizeof ret->tail + 1));
    }
    ae_case_release(&cell);
    ae_bytes_release(&object);
    return rc;
}
