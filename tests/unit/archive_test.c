/* Archives of runs: what goes out comes back, twice does no harm, and damaged or forged ones leave the store alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "store/archive.h"
#include "store/archive_text.h"
#include "store/generation.h"
#include "store/reading.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[128], path[192];
static struct ae_store *from, *to;
static struct ae_error err;
static int64_t first_run;

static const struct ae_task unknown = {.id = "task_of_tomorrow", .version = 7};
static const char binary[] = "/* \xff\xfe NUL:\0 */ int x;";
static const char plain[] = "int main(void) { return \"\xe5\x90\x8d\"[0] & 1; } // <>&\n";

static struct ae_store *open_store(const char *name)
{
    char file[256];
    struct ae_store *ret = NULL;
    snprintf(file, sizeof file, "%s/%s", folder, name);
    if (ae_store_open(&ret, file, AE_STORE_WRITE, &err) != AE_OK)
        fail_msg("%s", err.text);
    return ret;
}

static void require(int code)
{
    if (code != AE_OK)
        fail_msg("%s", err.text);
}

static void put_measurement(int64_t run, const char *entrant, const char *source, size_t size)
{
    char copy[256];
    memcpy(copy, source, size);
    struct ae_submission submission = {.language = "c", .source = copy, .size = size, .first_seen_ns = 5};
    require(ae_sha256(source, size, submission.sha256, &err));
    require(ae_store_submission_put(from, &submission, &err));
    struct ae_measurement m = {.task = &unknown,
                               .size = AE_LARGE,
                               .target = AE_CUDA,
                               .sample = 2,
                               .verdict = AE_VIOLATION,
                               .violation = AE_LATE_WRITE,
                               .cores = 3,
                               .notes = AE_NOTE_LEAKS,
                               .sandbox = UINT64_MAX,
                               .seeded = 1,
                               .compile_ns = 11,
                               .started_ns = 12,
                               .wall_ns = 13,
                               .work = {1.5, 0, 1e18, 7},
                               .floor_ns = 21,
                               .log = strdup("a\nb\t\"c\"")};
    snprintf(m.entrant, sizeof m.entrant, "%s", entrant);
    snprintf(m.detail, sizeof m.detail, "</script>\\ \x1b[31m \xff");
    snprintf(m.source_path, sizeof m.source_path, "/home/someone/there/x.c");
    snprintf(m.device_uuid, sizeof m.device_uuid, "GPU-1");
    memcpy(m.submission, submission.sha256, sizeof m.submission);
    const struct ae_trial trials[] = {{.kind = AE_TRIAL_FRESH,
                                       .call_ns = 123456789012345,
                                       .return_ns = 5,
                                       .reference_ns = 6,
                                       .cpu_ns = -1,
                                       .max_share = NAN},
                                      {.kind = AE_TRIAL_TIMED,
                                       .group = 1,
                                       .family = 2,
                                       .instance = 3,
                                       .verdict = AE_VIOLATION,
                                       .violation = AE_LATE_WRITE,
                                       .sm_mhz = 1980,
                                       .temperature_c = 48,
                                       .disturbed = 1,
                                       .max_share = 0.1}};
    for (size_t i = 0; i < 2; i++)
        require(ae_measurement_add(&m, &trials[i]));
    int64_t id;
    snprintf(m.baseline_place, sizeof m.baseline_place, "another machine");
    require(ae_store_measurement_put(from, run, &m, "key", &id, &err));
    const struct ae_explanation explanation = {.call_ns = 100,
                                               .timed_ns = 90,
                                               .floor_ns = 30,
                                               .calls = 3,
                                               .note = "\xff </script>",
                                               .phases = {[AE_PHASE_IN] = {60, 70}, [AE_PHASE_KERNEL] = {40, 40}},
                                               .floors = {[AE_PHASE_IN] = 20},
                                               .reasons = {{"pageable", "\"60 %\"", 0.6, 40}},
                                               .reason_count = 1};
    if (strcmp(entrant, "alice") == 0)
        require(ae_store_explanation_put(from, id, &explanation, &err));
    ae_measurement_release(&m);
}

/* Three readings of a program and one of a program that no run measured. */
static void put_readings(void)
{
    static const char *const prompts[] = {"Read \"this\".\n", "Read \xff that."};
    static const char unmeasured[] = "int y;";
    char digests[2][AE_SHA256_HEX], sha256[AE_SHA256_HEX];
    const struct ae_read_finding findings[] = {
        {"M03", "present", 0.25, "tiles; \xe5\x90\x8d", "3-7,12-12"}, {"P02", "absent", 1, "", ""}};
    for (int i = 0; i < 2; i++) {
        require(ae_sha256(prompts[i], strlen(prompts[i]), digests[i], &err));
        require(ae_store_prompt_put(from, digests[i], prompts[i], &err));
    }
    require(ae_sha256(plain, sizeof plain - 1, sha256, &err));
    struct ae_stored_reading r = {.submission = sha256,
                                  .task = "black_scholes",
                                  .model = "local",
                                  .parameters = "{}",
                                  .prompt = digests[0],
                                  .told = true,
                                  .created_ns = 7,
                                  .state = "valid",
                                  .answered_by = "local-2026",
                                  .answer = "{}\0",
                                  .answer_size = 3,
                                  .input_tokens = 10,
                                  .output_tokens = -1,
                                  .cost = 0.5,
                                  .findings = findings,
                                  .finding_count = 2};
    require(ae_store_reading_put(from, &r, &err));
    r.prompt = digests[1];
    r.told = false;
    r.state = "invalid";
    r.detail = "no object";
    r.answer = "\xff";
    r.answer_size = 1;
    r.cost = -1;
    r.finding_count = 0;
    require(ae_store_reading_put(from, &r, &err));
    r.model = "remote";
    r.state = "sent";
    r.answer = NULL;
    require(ae_store_reading_put(from, &r, &err)); /* no answer: stays here */
    char copy[] = "int y;";
    struct ae_submission submission = {.language = "cuda", .source = copy, .size = sizeof unmeasured - 1, .first_seen_ns = 5};
    require(ae_sha256(unmeasured, sizeof unmeasured - 1, submission.sha256, &err));
    require(ae_store_submission_put(from, &submission, &err));
    r.submission = submission.sha256;
    r.task = "";
    r.state = "refused";
    require(ae_store_reading_put(from, &r, &err));
}

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ae-archive-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/archive", folder);
    from = open_store("from.db");
    to = open_store("to.db");
    char json[] = "{\"cpu\": \"x\"}";
    struct ae_environment environment = {.json = json, .name = "machine"};
    require(ae_sha256(json, strlen(json), environment.id, &err));
    require(ae_store_environment_put(from, &environment, &err));
    for (int64_t i = 0; i < 2; i++) {
        int64_t run;
        const struct ae_run begun = {.started_ns = 1000 + i,
                                     .command = "eval \"x\"",
                                     .options = "{}",
                                     .version = "0.1.0",
                                     .environment = environment.id,
                                     .bank = "b"};
        require(ae_store_run_begin(from, &begun, &run, &err));
        put_measurement(run, "alice", binary, sizeof binary - 1);
        put_measurement(run, "bob", plain, sizeof plain - 1);
        require(ae_store_run_end(from, run, 2000 + i, &err));
        if (i == 0)
            first_run = run;
    }
    put_readings();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ae_store_close(from);
    ae_store_close(to);
    return ae_folder_remove(folder, NULL);
}

static void write_archive(struct ae_store *store, const int64_t *runs, size_t count, struct ae_archive_counts *ret)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    if (ae_archive_write(store, runs, count, "0.1.0", out, ret, &err) != AE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(fclose(out), 0);
}

static char *slurp(size_t *ret_size)
{
    struct ae_bytes bytes;
    require(ae_file_read(path, 1 << 20, &bytes, &err));
    *ret_size = bytes.size;
    return (char *)bytes.data;
}

static int count_one(void *data, const struct ae_stored *stored)
{
    (void)stored;
    ++*(int *)data;
    return 0;
}

static int measurements_in(struct ae_store *store)
{
    int count = 0;
    const struct ae_measurement_filter all = {0};
    require(ae_store_measurements(store, &all, count_one, &count, &err));
    return count;
}

static void there_and_back(void **state)
{
    (void)state;
    struct ae_archive_counts counts;
    size_t size, again;
    write_archive(from, NULL, 0, &counts);
    assert_int_equal(counts.runs, 2);
    assert_int_equal(counts.measurements, 4);
    assert_int_equal(counts.submissions, 3);
    assert_int_equal(counts.environments, 1);
    assert_int_equal(counts.readings, 3);
    assert_true(ae_archive_is(path));
    char *first = slurp(&size);
    assert_non_null(strstr(first, "\"there/x.c\""));
    assert_null(strstr(first, "someone")); /* whose folders they are is nobody's business */
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(counts.runs, 2);
    assert_int_equal(counts.measurements, 4);
    assert_int_equal(counts.known, 0);
    assert_int_equal(counts.readings, 3);
    /* all of it: the other store writes the same bytes */
    write_archive(to, NULL, 0, NULL);
    char *second = slurp(&again);
    assert_int_equal(size, again);
    assert_memory_equal(first, second, size);
    free(second);
    /* twice does no harm */
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(counts.runs, 0);
    assert_int_equal(counts.measurements, 0);
    assert_int_equal(counts.known, 4);
    assert_int_equal(counts.readings, 0);
    assert_int_equal(measurements_in(to), 4);
    free(first);
}

/* A stream behind which an evaluation ends as soon as the archive's first line is written. */
static ssize_t write_and_evaluate(void *cookie, const char *data, size_t size)
{
    FILE *file = cookie;
    if (ftell(file) == 0) {
        put_measurement(first_run, "carol", plain, sizeof plain - 1);
        require(ae_store_run_end(from, first_run, 3000, &err));
    }
    return (ssize_t)fwrite(data, 1, size, file);
}

/* An archive is of one moment. */
static void evaluated_meanwhile(void **state)
{
    (void)state;
    struct ae_archive_counts counts;
    struct ae_store *reader = NULL;
    size_t size;
    require(ae_store_open(&reader, ae_store_path(from), AE_STORE_READ, &err));
    FILE *file = fopen(path, "w");
    FILE *out = fopencookie(file, "w", (cookie_io_functions_t){.write = write_and_evaluate});
    assert_non_null(out);
    setvbuf(out, NULL, _IOLBF, BUFSIZ);
    require(ae_archive_write(reader, NULL, 0, "0.1.0", out, &counts, &err));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(fclose(file), 0);
    ae_store_close(reader);
    ae_autofree char *text = slurp(&size);
    assert_int_equal(measurements_in(from), 5);
    assert_int_equal(counts.measurements, 4);
    assert_null(strstr(text, "carol"));
    assert_null(strstr(text, "3000"));
}

static int check_reading(void *data, const struct ae_stored_reading *r)
{
    int *count = data;
    ae_autofree char *prompt = NULL;
    if (++*count != 1)
        return AE_OK;
    assert_string_equal(r->task, "black_scholes");
    assert_string_equal(r->model, "local");
    assert_string_equal(r->answered_by, "local-2026");
    assert_true(r->told);
    assert_int_equal(r->answer_size, 3);
    assert_memory_equal(r->answer, "{}\0", 3);
    assert_int_equal(r->input_tokens, 10);
    assert_int_equal(r->output_tokens, -1);
    assert_true(r->cost == 0.5);
    assert_int_equal(r->finding_count, 2);
    assert_string_equal(r->findings[0].strategy, "M03");
    assert_string_equal(r->findings[0].lines, "3-7,12-12");
    assert_true(r->findings[0].confidence == 0.25);
    assert_string_equal(r->findings[1].presence, "absent");
    require(ae_store_prompt_get(to, r->prompt, &prompt, &err));
    assert_string_equal(prompt, "Read \"this\".\n");
    return AE_OK;
}

static int readings_there(void)
{
    int count = 0;
    const struct ae_reading_filter all = {0};
    require(ae_store_readings(to, &all, check_reading, &count, &err));
    return count;
}

/* Readings go with their program, and an answer that is there already stays. */
static void readings(void **state)
{
    (void)state;
    struct ae_archive_counts counts;
    write_archive(from, &first_run, 1, &counts);
    assert_int_equal(counts.readings, 2); /* of the programs of that run */
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(counts.readings, 2);
    assert_int_equal(readings_there(), 2);
    write_archive(from, NULL, 0, NULL);
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(counts.readings, 1);
    assert_int_equal(readings_there(), 3);
}

static int count_explained(void *data, const struct ae_stored *stored)
{
    assert_string_equal(stored->measurement.baseline_place, "another machine");
    *(int *)data += stored->explanation != NULL;
    return 0;
}

static int explained_in(struct ae_store *store)
{
    int count = 0;
    const struct ae_measurement_filter all = {.explained = true};
    require(ae_store_measurements(store, &all, count_explained, &count, &err));
    return count;
}

/* An archive with explanations adds them to measurements that came without. */
static void explanations(void **state)
{
    (void)state;
    struct ae_archive_counts counts;
    size_t size;
    write_archive(from, NULL, 0, NULL);
    char *all = slurp(&size), chain[AE_SHA256_HEX] = "";
    FILE *out = fopen(path, "w");
    size_t lines = 0, cut = 0;
    assert_non_null(out);
    for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
        char *member = strstr(line, ",\"explanation\":");
        if (strncmp(line, "{\"end\"", 6) == 0)
            break;
        if (member) { /* the last one of its line */
            strcpy(member, "}}");
            cut++;
        }
        require(ae_archive_chain(chain, line, strlen(line), &err));
        fprintf(out, "%s\n", line);
        lines++;
    }
    fprintf(out, "{\"end\":{\"lines\":%zu,\"chain\":\"%s\"}}\n", lines, chain);
    fclose(out);
    free(all);
    assert_int_equal(cut, 2);
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(explained_in(to), 0);
    write_archive(from, NULL, 0, NULL);
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(counts.known, 4);
    assert_int_equal(explained_in(to), 2);
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(explained_in(to), 2);
}

static void some_runs(void **state)
{
    (void)state;
    struct ae_archive_counts counts;
    write_archive(from, &first_run, 1, &counts);
    assert_int_equal(counts.runs, 1);
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(measurements_in(to), 2);
    write_archive(from, NULL, 0, NULL); /* the rest is added */
    require(ae_archive_read(to, path, &counts, &err));
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.known, 2);
    assert_int_equal(measurements_in(to), 4);
    const int64_t none = 99;
    FILE *out = fopen(path, "w");
    assert_int_equal(ae_archive_write(from, &none, 1, "0.1.0", out, NULL, &err), AE_E_NOTFOUND);
    fclose(out);
}

static int take_end(void *data, const struct ae_run *run)
{
    *(int64_t *)data = run->finished_ns;
    return 0;
}

/* An archive of a run under way, then one of it when it had ended; an end that is known stays. */
static void ends_are_taken(void **state)
{
    (void)state;
    int64_t run, end = -1;
    const struct ae_run begun = {.started_ns = 5, .command = "eval y", .options = "{}", .version = "0.1.0", .bank = "b",
                                 .environment = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"};
    char json[] = "{}";
    struct ae_environment environment = {.json = json, .name = "n"};
    memcpy(environment.id, begun.environment, sizeof environment.id);
    require(ae_store_environment_put(from, &environment, &err));
    require(ae_store_run_begin(from, &begun, &run, &err));
    for (int64_t i = 0; i < 3; i++) {
        static const int64_t ends[] = {0, 77, 78}, wanted[] = {0, 77, 77};
        if (ends[i])
            require(ae_store_run_end(from, run, ends[i], &err));
        write_archive(from, &run, 1, NULL);
        require(ae_archive_read(to, path, NULL, &err));
        require(ae_store_runs(to, take_end, &end, &err));
        assert_int_equal(end, wanted[i]);
    }
}

static void write_bytes(const char *data, size_t size)
{
    FILE *out = fopen(path, "w");
    assert_int_equal(fwrite(data, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

/* Cut anywhere, a line lost, a byte changed: refused, and the store is as it was. */
static void damaged(void **state)
{
    (void)state;
    size_t size;
    write_archive(from, NULL, 0, NULL);
    char *text = slurp(&size);
    for (size_t cut = 0; cut < size; cut += 37) {
        write_bytes(text, cut);
        assert_int_equal(ae_archive_read(to, path, NULL, &err), AE_E_INPUT);
    }
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        char *without = strdup(text);
        memmove(without + (line - text), end + 1, size - (size_t)(end + 1 - text) + 1);
        write_bytes(without, strlen(without));
        assert_int_equal(ae_archive_read(to, path, NULL, &err), AE_E_INPUT);
        free(without);
    }
    for (size_t at = 0; at < size; at += 11) {
        text[at] ^= 1;
        write_bytes(text, size);
        assert_true(ae_archive_read(to, path, NULL, &err) < 0);
        text[at] ^= 1;
    }
    assert_int_equal(measurements_in(to), 0);
    write_bytes(text, size); /* and whole it is fine */
    require(ae_archive_read(to, path, NULL, &err));
    free(text);
}

/* Lines with a right chain, by someone who means harm. */
static int read_lines(const char *const *lines)
{
    char chain[AE_SHA256_HEX] = "";
    size_t count = 0;
    FILE *out = fopen(path, "w");
    for (; lines[count]; count++) {
        require(ae_archive_chain(chain, lines[count], strlen(lines[count]), &err));
        fprintf(out, "%s\n", lines[count]);
    }
    fprintf(out, "{\"end\":{\"lines\":%zu,\"chain\":\"%s\"}}\n", count, chain);
    fclose(out);
    return ae_archive_read(to, path, NULL, &err);
}

#define HEAD       "{\"schema\":\"acceleval.archive/1\",\"tool_version\":\"0.1.0\"}"
#define MEASURED                                                                                                        \
    "{\"measurement\":{\"run\":1,\"submission\":\"" EMPTY_HASH "\",\"entrant\":\"a\",\"sample\":0,\"task\":\"t\","          \
    "\"task_version\":1,\"size\":\"small\",\"target\":\"cpu\",\"options_key\":\"\",\"source_path\":\"x.c\",\"verdict\":\"pass\"," \
    "\"violation\":\"\",\"detail\":\"\",\"log\":null,\"compile_ns\":1,\"started_ns\":2,\"wall_ns\":3,\"notes\":0,"           \
    "\"sandbox\":15,\"cores\":2,\"seeded\":false,\"device_uuid\":\"\",\"trials\":[],\"explanation\":"
#define EXPLAINED(phases, reasons)                                                                                      \
    MEASURED "{\"call_ns\":1,\"timed_ns\":1,\"floor_ns\":0,\"calls\":1,\"dropped\":0,\"note\":\"\",\"phases\":[" phases          \
             "],\"reasons\":[" reasons "]}}}"
#define REASON "[\"r\",\"t\",0.5,1]"
#define BEFORE                                                                                                          \
    HEAD, "{\"environment\":{\"id\":\"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"name\":\"n\","       \
          "\"json\":\"{}\"}}",                                                                                          \
        "{\"run\":{\"number\":1,\"started_ns\":1,\"finished_ns\":1,\"command\":\"\",\"options\":\"\",\"version\":\"\","     \
        "\"environment\":\"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"bank\":\"\","          \
        "\"seeded\":false}}",                                                                                            \
        "{\"submission\":{\"sha256\":\"" EMPTY_HASH "\",\"language\":\"c\",\"first_seen_ns\":1,\"source\":\"\"}}"
#define READ_BY(findings, rest)                                                                                         \
    "{\"submission\":{\"sha256\":\"" EMPTY_HASH "\",\"language\":\"c\",\"first_seen_ns\":1,\"source\":\"\","              \
    "\"prompts\":[{\"text\":\"\"}],\"readings\":[{\"task\":\"t\",\"model\":\"m\",\"parameters\":\"{}\",\"told\":false,"    \
    "\"created_ns\":1,\"detail\":\"\",\"answered_by\":\"\",\"findings\":[" findings "]," rest "}]}}"
#define PROMPTED "\"prompt\":\"" EMPTY_HASH "\","
#define STATED   "\"state\":\"valid\","
#define COUNTED  "\"input_tokens\":1,\"output_tokens\":1,"
#define ANSWERED PROMPTED STATED COUNTED "\"answer\":{\"text\":\"{}\"},\"cost\":null"
#define FOUND    "[\"M01\",\"present\",0.5,\"s\",[[1,2]]]"
#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void forged(void **state)
{
    (void)state;
    require(read_lines((const char *const[]){HEAD, NULL})); /* the helper makes what is accepted */
    static const struct {
        const char *line, *complaint;
    } cases[] = {
        {"{\"environment\":{\"id\":\"" EMPTY_HASH "\",\"name\":\"n\",\"json\":\"{}\"}}",
         "not what its digest says"},
        {"{\"submission\":{\"sha256\":\"" EMPTY_HASH "\",\"language\":\"c\",\"first_seen_ns\":1,\"source\":\"x\"}}",
         "not what its digest says"},
        {"{\"submission\":{\"sha256\":\"" EMPTY_HASH
         "\",\"language\":\"c\",\"first_seen_ns\":1,\"source_base64\":\"@@@@\"}}",
         "no source"},
        {"{\"run\":{\"number\":1,\"started_ns\":1,\"finished_ns\":1,\"command\":\"\",\"options\":\"\",\"version\":"
         "\"\","
         "\"environment\":\"x\",\"bank\":\"\",\"seeded\":false}}",
         "impossible"},
        {"{\"run\":{\"number\":1,\"started_ns\":1,\"finished_ns\":1,\"command\":\"\",\"options\":\"\",\"version\":"
         "\"\","
         "\"environment\":\"" EMPTY_HASH "\",\"bank\":\"\",\"seeded\":false}}",
         "before its environment"},
        {"{\"measurement\":{}}", "lacks something"},
        {"{\"environment\":{},\"submission\":{\"sha256\":\"" EMPTY_HASH
         "\",\"language\":\"c\",\"first_seen_ns\":1,\"source\":\"\"}}",
         "no line of an archive"},
        {"{\"something\":1}", "no line of an archive"},
        {"[]", "no line of an archive"},
        {HEAD, "no line of an archive"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(read_lines((const char *const[]){HEAD, cases[i].line, NULL}) < 0);
        if (!strstr(err.text, cases[i].complaint))
            fail_msg("case %zu: %s", i, err.text);
    }
    assert_int_equal(read_lines((const char *const[]){"{\"schema\":\"acceleval.archive/2\"}", NULL}), AE_E_INPUT);
    assert_non_null(strstr(err.text, "another version"));
    assert_int_equal(measurements_in(to), 0);
}

static void forged_explanations(void **state)
{
    (void)state;
    static const char *const refused[] = {
        MEASURED "7}}",
        MEASURED "{\"call_ns\":1}}}",
        EXPLAINED("[\"in\",-1,0,0]", ""),
        EXPLAINED("[\"in\",1,0]", ""),
        EXPLAINED("[\"in\",1,0,0,0]", ""),
        EXPLAINED("7", ""),
        EXPLAINED("", "[\"r\",\"t\",1.5,1]"),
        EXPLAINED("", "[\"r\",\"t\",0.5,-1]"),
        EXPLAINED("", "[\"r\",\"t\",\"x\",1]"),
        EXPLAINED("", REASON "," REASON "," REASON "," REASON "," REASON "," REASON "," REASON),
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(read_lines((const char *const[]){BEFORE, refused[i], NULL}), AE_E_INPUT);
        if (!strstr(err.text, "an explanation is none"))
            fail_msg("case %zu: %s", i, err.text);
    }
    assert_int_equal(measurements_in(to), 0);
    /* a phase of a later version is passed over */
    require(read_lines((const char *const[]){BEFORE, EXPLAINED("[\"in\",1,1,0],[\"nap\",1,1,0]", REASON), NULL}));
    assert_int_equal(measurements_in(to), 1);
}

/* A store that cannot keep explanations says so. */
static void unexplainable(void **state)
{
    (void)state;
    char file[256];
    sqlite3 *db;
    snprintf(file, sizeof file, "%s/to.db", folder);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE phases; DROP TABLE reasons; DROP TABLE explanations", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(read_lines((const char *const[]){BEFORE, EXPLAINED("", ""), NULL}) < 0);
    assert_int_equal(measurements_in(to), 0);
}

static void forged_readings(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "{\"submission\":{\"sha256\":\"" EMPTY_HASH
        "\",\"language\":\"c\",\"first_seen_ns\":1,\"source\":\"\",\"readings\":[]}}",
        READ_BY("", STATED COUNTED "\"answer\":null,\"cost\":null"),
        READ_BY("", "\"prompt\":\"x\"," STATED COUNTED "\"answer\":null,\"cost\":null"),
        READ_BY("", PROMPTED "\"state\":\"sent\"," COUNTED "\"answer\":null,\"cost\":null"),
        READ_BY(FOUND, PROMPTED "\"state\":\"refused\"," COUNTED "\"answer\":null,\"cost\":null"),
        READ_BY("", PROMPTED STATED COUNTED "\"answer\":7,\"cost\":null"),
        READ_BY("", PROMPTED STATED COUNTED "\"answer\":null,\"cost\":-1"),
        READ_BY("", PROMPTED STATED COUNTED "\"answer\":null,\"cost\":\"much\""),
        READ_BY("", PROMPTED STATED "\"input_tokens\":-2,\"output_tokens\":1,\"answer\":null,\"cost\":null"),
        READ_BY("7", ANSWERED),
        READ_BY(FOUND "," FOUND, ANSWERED),
        READ_BY("[\"M01\",\"perhaps\",0.5,\"s\",[]]", ANSWERED),
        READ_BY("[\"M01\",\"present\",1.5,\"s\",[]]", ANSWERED),
        READ_BY("[\"an id that is too long\",\"present\",0.5,\"s\",[]]", ANSWERED),
        READ_BY("[\"M01\",\"present\",0.5,\"s\",[[2,1]]]", ANSWERED),
        READ_BY("[\"M01\",\"present\",0.5,\"s\",[[0,1]]]", ANSWERED),
        READ_BY("[\"M01\",\"present\",0.5,\"s\"]", ANSWERED),
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(read_lines((const char *const[]){HEAD, refused[i], NULL}), AE_E_INPUT);
        if (!strstr(err.text, "reading"))
            fail_msg("case %zu: %s", i, err.text);
    }
    require(read_lines((const char *const[]){HEAD, READ_BY(FOUND, ANSWERED), NULL}));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(there_and_back), TEST(evaluated_meanwhile), TEST(explanations), TEST(some_runs), TEST(ends_are_taken), TEST(damaged), TEST(forged),
                                       TEST(forged_explanations), TEST(unexplainable), TEST(readings), TEST(forged_readings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
