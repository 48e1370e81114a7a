/* Reports over a small store whose numbers are worked out by hand, and hostile names in every format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/utf8.h"
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define SUBMISSION  HASH "0"
#define ENVIRONMENT HASH "e"
#define OTHER       "f" HASH

static char folder[128];
static struct ae_store *store;
static struct ae_error err;
static int64_t run;

/* Tasks of our own, which the program does not know: only id and version enter a store. */
static const struct ae_task tasks[] = {{.id = "alpha", .version = 1},
                                       {.id = "beta", .version = 1},
                                       {.id = "gamma", .version = 1},
                                       {.id = "alpha", .version = 2}};

static void begin(const char *environment, const char *bank, bool seeded)
{
    char json[] = "{}";
    struct ae_environment e = {.json = json};
    snprintf(e.id, sizeof e.id, "%s", environment);
    snprintf(e.name, sizeof e.name, "machine %.1s", environment);
    const struct ae_submission submission = {SUBMISSION, "c", json, 2, 5};
    const struct ae_run wanted = {.environment = environment, .bank = bank, .seeded = seeded};
    if (ae_store_environment_put(store, &e, &err) != AE_OK ||
        ae_store_submission_put(store, &submission, &err) != AE_OK ||
        ae_store_run_begin(store, &wanted, &run, &err) != AE_OK)
        fail_msg("%s", err.text);
}

static int setup(void **state)
{
    (void)state;
    char path[192];
    snprintf(folder, sizeof folder, "/tmp/ae-report-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    if (ae_store_open(&store, path, AE_STORE_WRITE, &err) != AE_OK)
        return -1;
    begin(ENVIRONMENT, "bank", false);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ae_store_close(store);
    return ae_folder_remove(folder, NULL);
}

struct given {
    const char *entrant;
    const struct ae_task *task;
    enum ae_verdict verdict;
    double ms; /* of every call, with 1 % of scatter; the reference takes 100 ms */
    int sample;
    enum ae_target target;
    enum ae_size size;
    const char *detail;
    double floor_ms;
};

static void put(struct given g)
{
    struct ae_measurement m = {.task = g.task,
                               .size = g.size,
                               .target = g.target,
                               .sample = g.sample,
                               .submission = SUBMISSION,
                               .verdict = g.verdict,
                               .violation = g.verdict == AE_VIOLATION ? AE_LATE_WRITE : AE_NO_VIOLATION,
                               .work = {2e6 * g.floor_ms, 1e6 * g.floor_ms, 0, 100},
                               .floor_ns = (int64_t)(g.floor_ms * 1e6),
                               .cores = g.target == AE_CPU ? 16 : 2};
    snprintf(m.entrant, sizeof m.entrant, "%s", g.entrant);
    snprintf(m.detail, sizeof m.detail, "%s", g.detail ? g.detail : "");
    for (int i = 0; g.verdict != AE_NOT_RUN && i < 9; i++) {
        const double scatter = i == 0 ? 3 : exp(0.01 * (i % 2 ? 1 : -1)); /* the geometric mean is ms */
        const struct ae_trial trial = {.kind = i == 0 ? AE_TRIAL_FRESH : AE_TRIAL_TIMED,
                                       .instance = i,
                                       .verdict = AE_PASS,
                                       .call_ns = (int64_t)(g.ms * 1e6 * scatter + 0.5),
                                       .reference_ns = 100000000};
        assert_int_equal(ae_measurement_add(&m, &trial), AE_OK);
    }
    /* neither a disturbed trial nor a wrong one counts */
    const struct ae_trial disturbed = {
        .kind = AE_TRIAL_TIMED, .call_ns = 1, .reference_ns = 100000000, .disturbed = 1};
    const struct ae_trial wrong = {
        .kind = AE_TRIAL_TIMED, .verdict = AE_WRONG_ANSWER, .call_ns = 1, .reference_ns = 100000000};
    assert_int_equal(ae_measurement_add(&m, &disturbed), AE_OK);
    assert_int_equal(ae_measurement_add(&m, &wrong), AE_OK);
    if (ae_store_measurement_put(store, run, &m, "", NULL, &err) != AE_OK)
        fail_msg("%s", err.text);
    ae_measurement_release(&m);
}

#define PUT(entrant_, task_, verdict_, ms_, ...)                                                                   \
    put((struct given){.entrant = entrant_, .task = task_, .verdict = verdict_, .ms = ms_, __VA_ARGS__})

static void build(const struct ae_report_options *options, struct ae_report *report)
{
    struct ae_report_options wanted = *options;
    wanted.filter.latest = true;
    if (ae_report_build(store, &wanted, report, &err) != AE_OK)
        fail_msg("%s", err.text);
}

static const struct ae_table *table_of(const struct ae_report *report, const char *id, size_t nth)
{
    for (size_t i = 0; i < report->table_count; i++)
        if (strcmp(report->tables[i].id, id) == 0 && nth-- == 0)
            return &report->tables[i];
    return NULL;
}

/* The cell of the row that begins with `row`. */
static const struct ae_cell *cell_of(const struct ae_table *table, const char *row, const char *column)
{
    assert_non_null(table);
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, column) == 0)
            for (size_t r = 0; r < table->row_count; r++)
                if (strcmp(table->cells[r * table->column_count].text, row) == 0)
                    return &table->cells[r * table->column_count + c];
    fail_msg("no cell %s, %s", row, column);
    return NULL;
}

static void near_to(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-6 * fabs(expected)))
        fail_msg("got %.9g, expected %.9g", got, expected);
}

static char *print(const struct ae_report *report, enum ae_format format, bool colour, int width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct ae_report_header header = {
        .kind = "report", .tool_version = "0.1.0", .generated_ns = 0, .options_json = "{\"size\":[\"small\"]}"};
    const struct ae_print_options options = {format, colour, width};
    if (ae_report_print(report, &header, &options, out, &err) != AE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* a passes two of three, b one; beta could not be run for b; nobody tried gamma but a. */
static void fill(void)
{
    PUT("a", &tasks[0], AE_PASS, 1);
    PUT("a", &tasks[1], AE_PASS, 200);
    PUT("a", &tasks[2], AE_VIOLATION, 1, .detail = "late");
    PUT("b", &tasks[0], AE_PASS, 4, .target = AE_CUDA);
    PUT("b", &tasks[1], AE_NOT_RUN, 0, .target = AE_CUDA, .detail = "no device");
}

static void leaderboard(void **state)
{
    (void)state;
    struct ae_report report;
    fill();
    build(&(struct ae_report_options){0}, &report);
    const struct ae_table *table = table_of(&report, "leaderboard", 0);
    const struct ae_cell *coverage = cell_of(table, "a", "coverage");
    near_to(coverage->low, 2);
    near_to(coverage->high, 3);
    near_to(cell_of(table, "a", "GM")->value, sqrt(100 * 0.5));
    assert_int_equal(cell_of(table, "a", "GM")->interval, AE_INTERVAL_95);
    assert_true(cell_of(table, "a", "GM")->low < sqrt(50.) && sqrt(50.) < cell_of(table, "a", "GM")->high);
    near_to(cell_of(table, "a", "user_GM")->value, cbrt(100));
    near_to(cell_of(table, "a", "PAR_GM")->value, 1);
    near_to(cell_of(table, "a", "fast_1")->value, 1. / 3);
    near_to(cell_of(table, "a", "fast_10")->value, 1. / 3);
    /* b: beta does not count, gamma was not measured and counts as failed */
    near_to(cell_of(table, "b", "coverage")->low, 1);
    near_to(cell_of(table, "b", "coverage")->high, 2);
    near_to(cell_of(table, "b", "user_GM")->value, 5);
    near_to(cell_of(table, "b", "PAR_GM")->value, 0.25);
    assert_string_equal(table->cells[0].text, "b"); /* user_GM of 5 leads before 4.64 */
    assert_int_equal(table->note_count, 1);
    assert_string_equal(table->notes[0], "Tasks not measured count as failed: b (1 of 2).");

    const struct ae_table *matrix = table_of(&report, "matrix", 0);
    assert_string_equal(cell_of(matrix, "alpha", "a")->text, "pass");
    near_to(cell_of(matrix, "alpha", "a")->value, 100);
    assert_string_equal(cell_of(matrix, "gamma", "a")->text, "late_write");
    assert_true(isnan(cell_of(matrix, "gamma", "a")->value));
    assert_string_equal(cell_of(matrix, "beta", "b")->text, "not_run");
    assert_string_equal(cell_of(matrix, "gamma", "b")->text, "not_measured");

    const struct ae_table *not_run = table_of(&report, "not_run", 0);
    assert_int_equal(not_run->row_count, 1);
    assert_string_equal(cell_of(not_run, "beta", "reason")->text, "no device");
    ae_report_release(&report);
}

static void yardsticks(void **state)
{
    (void)state;
    struct ae_report report;
    fill();
    PUT("parallel", &tasks[0], AE_PASS, 10);
    PUT("parallel", &tasks[1], AE_PASS, 20);
    PUT("tuned", &tasks[0], AE_PASS, 0.5, .target = AE_CUDA);
    build(&(struct ae_report_options){0}, &report);
    const struct ae_table *table = table_of(&report, "leaderboard", 0);
    near_to(cell_of(table, "a", "to_parallel")->value, sqrt(10 * 0.1));
    near_to(cell_of(table, "a", "to_tuned")->value, 0.5);
    near_to(cell_of(table, "b", "to_tuned")->value, 0.125);
    assert_true(isnan(cell_of(table, "parallel", "to_tuned")->value) == 0);
    char *text = print(&report, AE_FORMAT_TERM, false, 0);
    assert_non_null(strstr(text, "to_parallel (16 cores)"));
    free(text);
    ae_report_release(&report);

    build(&(struct ae_report_options){.sections = AE_REPORT_DETAIL}, &report);
    near_to(cell_of(table_of(&report, "detail", 0), "alpha", "to_parallel")->value, 10);
    text = print(&report, AE_FORMAT_CSV, false, 0);
    assert_non_null(strstr(text, ",to_parallel,median_ms,"));
    free(text);
    ae_report_release(&report);

    /* as the baseline; tuned has no beta */
    build(&(struct ae_report_options){.baseline = "parallel"}, &report);
    near_to(cell_of(table_of(&report, "matrix", 0), "alpha", "a")->value, 10);
    near_to(cell_of(table_of(&report, "matrix", 0), "beta", "a")->value, 0.1);
    near_to(cell_of(table_of(&report, "matrix", 0), "beta", "parallel")->value, 1);
    assert_non_null(strstr(table_of(&report, "leaderboard", 0)->title, "parallel on 16 cores"));
    ae_report_release(&report);
    build(&(struct ae_report_options){.baseline = "tuned"}, &report);
    near_to(cell_of(table_of(&report, "leaderboard", 0), "a", "GM")->value, 0.5);
    assert_true(isnan(cell_of(table_of(&report, "matrix", 0), "beta", "a")->value));
    assert_string_equal(cell_of(table_of(&report, "matrix", 0), "beta", "a")->text, "pass");
    assert_non_null(strstr(table_of(&report, "leaderboard", 0)->notes[1], "on 2 of 3 tasks"));
    ae_report_release(&report);

    /* only b is shown: yardsticks are read besides, but are no part of the compared set */
    const char *const only[] = {"b", NULL};
    build(&(struct ae_report_options){.entrants = only}, &report);
    table = table_of(&report, "leaderboard", 0);
    assert_int_equal(table->row_count, 1);
    near_to(cell_of(table, "b", "PAR_GM")->value, 1);
    near_to(cell_of(table, "b", "to_parallel")->value, 2.5);
    assert_int_equal(table_of(&report, "matrix", 0)->row_count, 2);
    ae_report_release(&report);

    struct ae_report_options unknown = {.baseline = "paralel", .filter.latest = true};
    assert_int_equal(ae_report_build(store, &unknown, &report, &err), AE_E_USAGE);
    assert_non_null(strstr(err.text, "'parallel'"));
}

/* Another bank: not the same instances, so compared by way of the reference. */
/* tuned takes 0.5 ms on alpha and 100 ms on beta, which the best of the others do in 1 and 200 ms.
 */
static void best_against_yardstick(void **state)
{
    (void)state;
    struct ae_report report;
    fill();
    PUT("tuned", &tasks[0], AE_PASS, 0.5, .target = AE_CUDA);
    PUT("tuned", &tasks[1], AE_PASS, 100, .target = AE_CUDA);
    PUT("tuned", &tasks[2], AE_PASS, 10, .target = AE_CUDA); /* nobody else passes it */
    build(&(struct ae_report_options){0}, &report);
    const struct ae_table *table = table_of(&report, "yardsticks", 0);
    assert_int_equal(table->row_count, 1); /* there is no parallel */
    near_to(cell_of(table, "tuned", "tasks")->value, 3);
    near_to(cell_of(table, "tuned", "passed")->low, 2);
    near_to(cell_of(table, "tuned", "ratio")->value, 0.5);
    near_to(cell_of(table, "tuned", "reached")->low, 0);
    assert_string_equal(
        report.summary,
        "At small, of the 3 tasks with a program `tuned` an entrant passes 2, and the "
        "best entrant of each reaches 0.500x {0.500, 0.500} its speed.");
    ae_report_release(&report);

    /* one that is faster on one of them counts there; the reference never */
    PUT("reference", &tasks[2], AE_PASS, 1);
    PUT("c", &tasks[0], AE_PASS, 0.25);
    build(&(struct ae_report_options){0}, &report);
    near_to(cell_of(table_of(&report, "yardsticks", 0), "tuned", "ratio")->value, 1);
    near_to(cell_of(table_of(&report, "yardsticks", 0), "tuned", "reached")->low, 1);
    ae_report_release(&report);

    /* a named baseline leads, and without any other entrant there is nothing to say */
    build(&(struct ae_report_options){.baseline = "a"}, &report);
    assert_non_null(strstr(report.summary, "with a program `a` an entrant passes 2"));
    ae_report_release(&report);
    const char *const only[] = {"tuned", NULL};
    build(&(struct ae_report_options){.entrants = only}, &report);
    assert_null(table_of(&report, "yardsticks", 0));
    assert_null(report.summary);
    ae_report_release(&report);
}

/* The same three entrants on two machines: the second is twice as fast for a and b, and turns the order of b and c. */
static void machines(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("a", &tasks[0], AE_PASS, 2);
    PUT("a", &tasks[1], AE_PASS, 4);
    PUT("b", &tasks[0], AE_PASS, 8);
    PUT("c", &tasks[0], AE_PASS, 10);
    build(&(struct ae_report_options){0}, &report);
    assert_null(table_of(&report, "machines", 0));
    ae_report_release(&report);
    begin(OTHER, "other bank", false);
    PUT("a", &tasks[0], AE_PASS, 1);
    PUT("a", &tasks[1], AE_PASS, 2);
    PUT("b", &tasks[0], AE_PASS, 4);
    PUT("b", &tasks[2], AE_PASS, 4); /* here only */
    PUT("c", &tasks[0], AE_PASS, 1.5);
    PUT("c", &tasks[1], AE_WRONG_ANSWER, 1);
    build(&(struct ae_report_options){.sections = AE_REPORT_MACHINES | AE_REPORT_DETAIL}, &report);
    const struct ae_table *table = table_of(&report, "machines", 0);
    assert_int_equal(table->row_count, 3);
    near_to(cell_of(table, "a", "B_over_A")->value, 2);
    near_to(cell_of(table, "a", "tasks")->value, 2);
    near_to(cell_of(table, "b", "tasks")->value, 1);
    near_to(cell_of(table, "c", "B_over_A")->value, 10 / 1.5);
    assert_int_equal(table->note_count, 1);
    assert_non_null(strstr(table->notes[0], "the order of 3 entrants"));
    assert_int_equal(table_of(&report, "machines_tasks", 0)->row_count, 4);
    near_to(cell_of(table_of(&report, "machines_tasks", 0), "beta", "B_median")->value, 2 * cosh(0.01));
    ae_report_release(&report);
}

/* Five runs on one task: the same, slower by 1 % (as runs differ), by 20 %, failing, right again; and one not judged. */
static void history(void **state)
{
    (void)state;
    static const struct {
        double ms;
        enum ae_verdict verdict;
        const char *trend;
    } runs[] = {{10, AE_PASS, "first"},
                {10, AE_PASS, "same"},
                {10.1, AE_PASS, "same"},
                {12, AE_PASS, "REGRESSION: slower"},
                {0, AE_NOT_RUN, "not judged"},
                {1, AE_WRONG_ANSWER, "REGRESSION: now fails"},
                {1, AE_CRASH, "still fails"},
                {12, AE_PASS, "now passes"},
                {6, AE_PASS, "faster"}};
    const size_t count = sizeof runs / sizeof *runs;
    struct ae_report report;
    for (size_t i = 0; i < count; i++) {
        begin(ENVIRONMENT, "bank", false);
        PUT("a", &tasks[0], runs[i].verdict, runs[i].ms);
        PUT("b", &tasks[0], AE_PASS, 1);
    }
    const struct ae_measurement_filter all = {0};
    if (ae_history_build(store, "a", &all, &report, &err) != AE_OK)
        fail_msg("%s", err.text);
    const struct ae_table *table = &report.tables[0];
    assert_int_equal(table->row_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(table->cells[i * table->column_count + 11].text, runs[i].trend);
    near_to(table->cells[3 * table->column_count + 9].value, 10.1 / 12);
    assert_string_equal(report.summary, "2 regressions in 9 results of a, the first: alpha at small in run 5.");
    ae_report_release(&report);
    assert_int_equal(ae_history_build(store, "nobody", &all, &report, &err), AE_E_NOTFOUND);
}

/* The columns that people see. */
static bool shown(const struct ae_table *table, const char *name)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, name) == 0)
            return !table->columns[c].extra;
    return false;
}

/* Lines of several samples, of both targets, or of several machines, say which they are of. */
static void history_of_samples(void **state)
{
    (void)state;
    struct ae_report report;
    const struct ae_measurement_filter all = {0};
    static const char *const entrants[] = {"one", "samples", "targets", "machines"};
    for (int round = 0; round < 2; round++) {
        begin(ENVIRONMENT, "bank", false);
        PUT("one", &tasks[0], AE_PASS, 10, .sample = 3);
        PUT("samples", &tasks[0], AE_PASS, 10);
        PUT("samples", &tasks[0], AE_PASS, 20, .sample = 1);
        PUT("targets", &tasks[0], AE_PASS, 10);
        PUT("targets", &tasks[0], AE_PASS, 20, .target = AE_CUDA);
        PUT("machines", &tasks[0], AE_PASS, 10);
        begin(OTHER, "bank", false);
        PUT("machines", &tasks[0], AE_PASS, 20);
    }
    for (int i = 0; i < 4; i++) {
        if (ae_history_build(store, entrants[i], &all, &report, &err) != AE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(shown(&report.tables[0], "sample"), i == 1);
        assert_int_equal(shown(&report.tables[0], "target"), i == 2);
        assert_int_equal(shown(&report.tables[0], "environment"), i == 3);
        ae_report_release(&report);
    }
}

/* Two tasks that the program knows, of two domains. */
static void domains(void **state)
{
    (void)state;
    struct ae_report report;
    const struct ae_task *graph = ae_task_find("bellman_ford", &err),
                         *finance = ae_task_find("black_scholes", &err);
    PUT("a", graph, AE_PASS, 10);
    PUT("a", finance, AE_PASS, 1);
    PUT("a", &tasks[0], AE_PASS, 50);
    PUT("b", graph, AE_PASS, 5);
    PUT("b", finance, AE_WRONG_ANSWER, 1);
    build(&(struct ae_report_options){.sections = AE_REPORT_DOMAINS}, &report);
    const struct ae_table *table = table_of(&report, "domains", 0);
    assert_int_equal(table->row_count, 6); /* alpha is of no domain, and b was not measured on it */
    near_to(cell_of(table, "graph", "GM")->value, 10); /* the first row of each domain is a's */
    near_to(cell_of(table, "graph", "PAR_GM")->value, 0.5);
    near_to(cell_of(table, "finance", "GM")->value, 100);
    near_to(cell_of(table, "unknown", "GM")->value, 2);
    const struct ae_cell *last = &table->cells[5 * table->column_count];
    assert_string_equal(last[1].text, "b");
    near_to(last[3].high, 1);
    near_to(last[5].value, 1);
    ae_report_release(&report);
}

static void floors(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("a", &tasks[0], AE_PASS, 4, .target = AE_CUDA, .floor_ms = 1);
    PUT("a", &tasks[1], AE_PASS, 16, .target = AE_CUDA, .floor_ms = 1);
    PUT("a", &tasks[2], AE_WRONG_ANSWER, 1, .target = AE_CUDA, .floor_ms = 1);
    PUT("b", &tasks[0], AE_PASS, 5);
    build(&(struct ae_report_options){.sections = AE_REPORT_LEADERBOARD | AE_REPORT_FLOORS}, &report);
    const struct ae_table *table = table_of(&report, "floors", 0);
    assert_int_equal(table->row_count, 2); /* nobody passed gamma with a floor */
    near_to(cell_of(table, "alpha", "floor")->value, 1);
    near_to(cell_of(table, "alpha", "in")->value, 2);
    const double alpha = cell_of(table, "alpha", "a")->value, beta = cell_of(table, "beta", "a")->value;
    assert_true(fabs(alpha - 1. / 4) < 0.004 && fabs(beta - 1. / 16) < 0.001); /* of medians, that scatter by 1 % */
    near_to(cell_of(table, "beta", "a a step")->value, 1e3 / beta / 100);
    const struct ae_table *board = table_of(&report, "leaderboard", 0);
    near_to(cell_of(board, "a", "of_floor")->value, sqrt(alpha * beta));
    assert_true(isnan(cell_of(board, "b", "of_floor")->value));
    ae_report_release(&report);
}

static void steps_of_ladders(void **state)
{
    (void)state;
    struct ae_report report;
    static const char *const asked[] = {"step-01-M03", NULL};
    PUT("step-01-M03", &tasks[0], AE_PASS, 4, .target = AE_CUDA);
    build(&(struct ae_report_options){0}, &report);
    assert_int_equal(table_of(&report, "leaderboard", 0)->row_count, 1); /* there is nothing else */
    ae_report_release(&report);
    PUT("a", &tasks[0], AE_PASS, 4, .target = AE_CUDA);
    build(&(struct ae_report_options){0}, &report);
    const struct ae_table *table = table_of(&report, "leaderboard", 0);
    assert_int_equal(table->row_count, 1);
    assert_string_equal(table->cells[0].text, "a");
    assert_int_equal(table->note_count, 1);
    assert_non_null(strstr(table->notes[0], "Not shown: 1 measurement of steps"));
    ae_report_release(&report);
    build(&(struct ae_report_options){.entrants = asked}, &report);
    assert_string_equal(table_of(&report, "leaderboard", 0)->cells[0].text, "step-01-M03");
    ae_report_release(&report);
}

static void other_banks_are_not_paired(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("parallel", &tasks[0], AE_PASS, 10);
    begin(ENVIRONMENT, "renewed", false);
    PUT("a", &tasks[0], AE_PASS, 1);
    build(&(struct ae_report_options){.baseline = "parallel"}, &report);
    near_to(cell_of(table_of(&report, "matrix", 0), "alpha", "a")->value, 10);
    ae_report_release(&report);
    const struct ae_side a = {"a", 0}, b = {"parallel", 0};
    assert_int_equal(ae_compare_build(store, &a, &b, &(struct ae_measurement_filter){0}, &report, &err), AE_OK);
    near_to(cell_of(&report.tables[0], "alpha", "ratio")->value, 10);
    near_to(cell_of(&report.tables[0], "alpha", "pairs")->value + 1, 1);
    assert_string_equal(cell_of(&report.tables[0], "alpha", "A_is")->text, "faster");
    ae_report_release(&report);
}

static void samples(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("m", &tasks[0], AE_CRASH, 1, .sample = 0);
    PUT("m", &tasks[0], AE_PASS, 50, .sample = 1);
    PUT("m", &tasks[0], AE_PASS, 25, .sample = 2);
    PUT("m", &tasks[0], AE_HOST_ERROR, 25, .sample = 3); /* no sample at all */
    build(&(struct ae_report_options){0}, &report);
    const struct ae_table *table = table_of(&report, "leaderboard", 0);
    near_to(cell_of(table, "m", "coverage")->low + 1, 1); /* the first one crashed */
    near_to(cell_of(table, "m", "k")->value, 3);
    near_to(cell_of(table, "m", "pass@1")->value, 2. / 3);
    near_to(cell_of(table, "m", "pass@k")->value, 1);
    near_to(cell_of(table, "m", "best@k")->value, 4);
    ae_report_release(&report);
    build(&(struct ae_report_options){.pick = AE_PICK_BEST, .sections = AE_REPORT_ALL}, &report);
    near_to(cell_of(table_of(&report, "leaderboard", 0), "m", "GM")->value, 4);
    assert_non_null(strstr(table_of(&report, "leaderboard", 0)->title, "best of the samples"));
    assert_int_equal(table_of(&report, "detail", 0)->row_count, 4);
    ae_report_release(&report);
}

static void detail(void **state)
{
    (void)state;
    struct ae_report report;
    fill();
    build(&(struct ae_report_options){.sections = AE_REPORT_DETAIL}, &report);
    assert_int_equal(report.table_count, 2); /* what could not run is never hidden */
    const struct ae_table *table = table_of(&report, "detail", 0);
    assert_int_equal(table->row_count, 5);
    near_to(cell_of(table, "alpha", "speedup")->value, 100);
    assert_int_equal(cell_of(table, "alpha", "speedup")->interval, AE_INTERVAL_95);
    near_to(cell_of(table, "alpha", "median")->value, (exp(0.01) + exp(-0.01)) / 2);
    near_to(cell_of(table, "alpha", "fresh_call")->value, 3);
    near_to(cell_of(table, "alpha", "reference")->value, 100);
    near_to(cell_of(table, "alpha", "trials")->value, 8);
    assert_string_equal(cell_of(table, "alpha", "notes")->text, "disturbed:1");
    /* no time of a wrong program */
    assert_true(isnan(cell_of(table, "gamma", "speedup")->value));
    assert_true(isnan(cell_of(table, "gamma", "median")->value));
    assert_true(isnan(cell_of(table, "gamma", "fresh_call")->value));
    ae_report_release(&report);
}

static void too_much_detail(void **state)
{
    (void)state;
    struct ae_report report;
    fill();
    build(&(struct ae_report_options){.sections = AE_REPORT_DETAIL, .detail_max = 5}, &report);
    assert_int_equal(table_of(&report, "detail", 0)->row_count, 5);
    ae_report_release(&report);
    build(&(struct ae_report_options){.sections = AE_REPORT_DETAIL, .detail_max = 4}, &report);
    assert_int_equal(table_of(&report, "detail", 0)->row_count, 0);
    assert_non_null(strstr(table_of(&report, "detail", 0)->notes[0], "5 measurements are too many"));
    ae_report_release(&report);
}

static void machines_sizes_versions_seeds(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("a", &tasks[0], AE_PASS, 1);
    PUT("b", &tasks[3], AE_PASS, 2); /* a newer version of alpha */
    PUT("a", &tasks[1], AE_PASS, 1, .size = AE_LARGE);
    begin(OTHER, "bank", false);
    PUT("a", &tasks[0], AE_PASS, 10);
    build(&(struct ae_report_options){0}, &report);
    /* first machine small and large, second machine small */
    assert_non_null(table_of(&report, "leaderboard", 2));
    assert_null(table_of(&report, "leaderboard", 3));
    assert_non_null(strstr(table_of(&report, "leaderboard", 2)->title, "machine f"));
    near_to(cell_of(table_of(&report, "matrix", 2), "alpha", "a")->value, 10);
    assert_string_equal(cell_of(table_of(&report, "matrix", 0), "alpha", "a")->text, "stale");
    near_to(cell_of(table_of(&report, "leaderboard", 0), "a", "coverage")->high + 1, 1);
    assert_non_null(strstr(cell_of(table_of(&report, "not_run", 0), "alpha", "reason")->text, "version 1"));
    ae_report_release(&report);

    begin(OTHER, "seed 5", true);
    struct ae_report_options of_run = {.filter.run = run};
    assert_int_equal(ae_report_build(store, &of_run, &report, &err), AE_E_NOTFOUND);
    assert_non_null(strstr(err.text, "acceleval eval"));
}

static void both_targets(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("a", &tasks[0], AE_PASS, 1, .target = AE_CPU);
    PUT("a", &tasks[0], AE_PASS, 2, .target = AE_CUDA);
    PUT("task", &tasks[0], AE_PASS, 2, .target = AE_CUDA);
    build(&(struct ae_report_options){0}, &report);
    const struct ae_table *matrix = table_of(&report, "matrix", 0);
    near_to(cell_of(matrix, "alpha", "a/cpu")->value, 100);
    near_to(cell_of(matrix, "alpha", "a/cuda")->value, 50);
    near_to(cell_of(matrix, "alpha", "task_2")->value, 50); /* an entrant called like the first column */
    ae_report_release(&report);
}

static void comparison(void **state)
{
    (void)state;
    struct ae_report report;
    const struct ae_measurement_filter all = {0};
    fill();
    PUT("c", &tasks[0], AE_PASS, 1.004);
    PUT("c", &tasks[1], AE_PASS, 100);
    PUT("c", &tasks[2], AE_PASS, 1);
    const struct ae_side a = {"a", 0}, b = {"b", 0}, c = {"c", 0};
    assert_int_equal(ae_compare_build(store, &a, &c, &all, &report, &err), AE_OK);
    assert_string_equal(cell_of(&report.tables[0], "alpha", "A_is")->text, "same");
    assert_string_equal(cell_of(&report.tables[0], "beta", "A_is")->text, "slower");
    near_to(cell_of(&report.tables[0], "beta", "ratio")->value, 0.5);
    near_to(cell_of(&report.tables[0], "beta", "pairs")->value, 8);
    assert_string_equal(cell_of(&report.tables[0], "gamma", "A_is")->text, "only B passes");
    assert_non_null(strstr(report.summary,
                           "A (a) is faster than B (c) on 0, slower on 1, the same on 1, unclear on 0 of "
                           "the 2 that both pass; over those A is 0.709x [0.7"));
    ae_report_release(&report);
    assert_int_equal(ae_compare_build(store, &a, &b, &all, &report, &err), AE_OK);
    assert_string_equal(cell_of(&report.tables[0], "alpha", "A_is")->text, "faster");
    assert_string_equal(cell_of(&report.tables[0], "beta", "A_is")->text, "not compared");
    assert_string_equal(cell_of(&report.tables[0], "gamma", "B")->text, "not_measured");
    ae_report_release(&report);
    assert_int_equal(ae_compare_build(store, &a, &a, &all, &report, &err), AE_E_USAGE);
    const struct ae_side nobody = {"nobody", 0}, nothing = {NULL, 0};
    assert_int_equal(ae_compare_build(store, &a, &nobody, &all, &report, &err), AE_E_NOTFOUND);
    assert_int_equal(ae_compare_build(store, &a, &nothing, &all, &report, &err), AE_E_USAGE);

    /* two runs: entrants are matched by name */
    const struct ae_side first = {NULL, run};
    begin(ENVIRONMENT, "bank", false);
    const struct ae_side second = {NULL, run};
    PUT("a", &tasks[0], AE_PASS, 2);
    assert_int_equal(ae_compare_build(store, &first, &second, &all, &report, &err), AE_OK);
    assert_string_equal(cell_of(&report.tables[0], "alpha", "entrant")->text, "a");
    assert_string_equal(cell_of(&report.tables[0], "alpha", "A_is")->text, "faster");
    ae_report_release(&report);
    const struct ae_side here = {"c", first.run}, there = {"a", run};
    assert_int_equal(ae_compare_build(store, &here, &there, &all, &report, &err), AE_OK);
    assert_non_null(strstr(report.summary, "A (c in run 1)"));
    ae_report_release(&report);
    begin(OTHER, "bank", false);
    PUT("d", &tasks[0], AE_PASS, 2);
    const struct ae_side elsewhere = {"d", 0};
    assert_int_equal(ae_compare_build(store, &a, &elsewhere, &all, &report, &err), AE_E_NOTFOUND);
    assert_non_null(strstr(err.text, "one environment"));
}

/* --- formats ---------------------------------------------------------------------------------------------- */

static void make_simple(struct ae_report *report)
{
    static const struct ae_column columns[] = {
        {.name = "who", .kind = AE_CELL_TEXT, .key = true},
        {.name = "time", .unit = "ms", .description = "wall", .kind = AE_CELL_NUMBER, .interval = true},
        {.name = "share", .kind = AE_CELL_SHARE},
        {.name = "of", .kind = AE_CELL_FRACTION},
        {.name = "span", .kind = AE_CELL_INTERVAL},
        {.name = "n", .kind = AE_CELL_COUNT},
        {.name = "out", .kind = AE_CELL_OUTCOME},
    };
    const struct ae_interval sure = {AE_INTERVAL_95, 1.5, 2.5}, range = {AE_INTERVAL_RANGE, 1, 3},
                             none = {AE_INTERVAL_NONE, NAN, NAN};
    ae_report_init(report);
    const size_t table = ae_report_table(report, "simple", "A title", columns, 7);
    const struct ae_cell rows[2][7] = {
        {ae_cell_text("a,\"b\""), ae_cell_number(2, sure), ae_cell_share(0.25, none), ae_cell_fraction(1, 4),
         ae_cell_interval(range), ae_cell_count(12), ae_cell_outcome("pass", 123.4)},
        {ae_cell_text("=1+1"), ae_cell_number(NAN, none), ae_cell_share(NAN, none), ae_cell_fraction(0, 0),
         ae_cell_interval(none), ae_cell_count(NAN), ae_cell_outcome("crash", NAN)},
    };
    for (int i = 0; i < 2; i++)
        memcpy(ae_report_row(report, table), rows[i], sizeof rows[i]);
    (void)ae_report_row(report, table); /* a row of empty cells */
    ae_report_note(report, table, "A note.");
    report->summary = ae_report_text(report, "In short.");
    assert_int_equal(ae_report_check(report, &err), AE_OK);
}

static void expect(const struct ae_report *report, enum ae_format format, const char *wanted)
{
    char *text = print(report, format, false, 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void formats(void **state)
{
    (void)state;
    struct ae_report report;
    make_simple(&report);
    expect(&report, AE_FORMAT_TERM,
           "A title\n"
           "who            time (ms)  share   of          span   n    out\n"
           "a,\"b\"  2.00 [1.50, 2.50]  25.0%  1/4  {1.00, 3.00}  12   123x\n"
           "=1+1                   -      -  0/0             -   -  crash\n"
           "\n"
           "\nA note.\n\n  time  wall\n\nIn short.\n");
    expect(
        &report, AE_FORMAT_CSV,
        "table,who,time_ms,time_ms_low,time_ms_high,time_ms_interval,share,of,of_part,of_whole,span_low,span_high,"
        "span_interval,n,out,out_speedup\r\n"
        "simple,\"a,\"\"b\"\"\",2,1.5,2.5,95%,0.25,0.25,1,4,1,3,range,12,pass,123.4\r\n"
        "simple,\"'=1+1\",,,,,,,0,0,,,,,crash,\r\n"
        "simple,,,,,,,,,,,,,,,\r\n");
    expect(&report, AE_FORMAT_MD,
           "In short.\n\n## A title\n\n"
           "| who | time (ms) | share | of | span | n | out |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
           "| a,\"b\" | 2.00 \\[1.50, 2.50\\] | 25.0% | 1/4 | \\{1.00, 3.00\\} | 12 | 123x |\n"
           "| =1+1 | - | - | 0/0 | - | - | crash |\n"
           "|  |  |  |  |  |  |  |\n"
           "\nA note.\n\n- time \xe2\x80\x93 wall\n\nMade by AccelEval 0.1.0, 1970-01-01T00:00:00Z.\n");
    expect(&report, AE_FORMAT_LATEX,
           "% For \\input; the preamble needs \\usepackage[T1]{fontenc}, {textcomp}, {booktabs} and {longtable}.\n"
           "% Made by AccelEval 0.1.0, 1970-01-01T00:00:00Z.\nIn short.\\par\n\n"
           "\\begin{longtable}{@{}lrrrrrr@{}}\n\\caption{A title}\\\\\n\\toprule\n"
           "who & time (ms) & share & of & span & n & out \\\\\n\\midrule\n\\endhead\n"
           "a,\\textquotedbl{}b\\textquotedbl{} & 2.00 {[}1.50, 2.50{]} & 25.0\\% & 1/4 & \\{1.00, 3.00\\} & 12 & 123x \\\\\n"
           "=1+1 & {-} & {-} & 0/0 & {-} & {-} & crash \\\\\n"
           " &  &  &  &  &  &  \\\\\n"
           "\\bottomrule\n\\end{longtable}\nA note.\\par\n{\\footnotesize time: wall.\\par}\n");
    char *text = print(&report, AE_FORMAT_JSON, false, 0);
    json_error_t problem;
    json_t *json = json_loads(text, 0, &problem);
    if (!json)
        fail_msg("%s", problem.text);
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "acceleval.report/1");
    assert_string_equal(json_string_value(json_object_get(json, "tool_version")), "0.1.0");
    assert_string_equal(json_string_value(json_object_get(json, "generated")), "1970-01-01T00:00:00Z");
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "options"), "size")), 1);
    const json_t *table = json_array_get(json_object_get(json, "tables"), 0);
    const json_t *row = json_array_get(json_object_get(table, "rows"), 0);
    near_to(json_real_value(json_object_get(json_object_get(row, "time"), "low")), 1.5);
    assert_string_equal(json_string_value(json_object_get(json_object_get(row, "out"), "verdict")), "pass");
    row = json_array_get(json_object_get(table, "rows"), 1);
    assert_true(json_is_null(json_object_get(json_object_get(row, "time"), "value")));
    assert_true(json_is_null(json_object_get(row, "n")));
    json_decref(json);
    free(text);
    ae_report_release(&report);
    for (int i = 0; i < AE_FORMAT_COUNT; i++)
        assert_non_null(ae_format_names[i]);
    assert_null(ae_format_names[AE_FORMAT_COUNT]);
}

static void narrow_terminal(void **state)
{
    (void)state;
    struct ae_report report;
    make_simple(&report);
    char *text = print(&report, AE_FORMAT_TERM, true, 40);
    assert_non_null(strstr(text, "\x1b[31mcrash\x1b[0m"));
    assert_non_null(strstr(text, "\x1b[32m123x\x1b[0m"));
    free(text);
    text = print(&report, AE_FORMAT_TERM, false, 40);
    size_t blocks = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 40);
        blocks += strncmp(line, "who", 3) == 0;
    }
    assert_int_equal(blocks, 2);
    free(text);
    ae_report_release(&report);
}

static void stream_failures(void **state)
{
    (void)state;
    struct ae_report report;
    make_simple(&report);
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    const struct ae_report_header header = {.kind = "report"};
    for (int format = 0; format < AE_FORMAT_COUNT; format++) {
        const struct ae_print_options options = {.format = (enum ae_format)format};
        assert_int_equal(ae_report_print(&report, &header, &options, full, &err), AE_E_IO);
        clearerr(full);
    }
    (void)fclose(full);
    ae_report_release(&report);
}

/* Whatever a name contains, the terminal sees no control character, a spreadsheet no formula, Markdown no new row.
 */
static void hostile_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "=cmd|'/C calc'!A0",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\x1b]0;owned\x07",
        "a|b\n| c | d |",
        "a\r\nb,\"c\"",
        "<script>x",
        "[x](http://y)",
        "\xff\xfe",
        "\xe2\x80\xaegnp.exe",
        "\xc2\x9b[31m", /* CSI in one character */
        "`code`",
        "task",
        "coverage",
    };
    struct ae_report report;
    const size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++)
        PUT(names[i], &tasks[0], i % 2 ? AE_PASS : AE_NOT_RUN, 1, .detail = names[(i + 1) % count]);
    build(&(struct ae_report_options){.sections = AE_REPORT_ALL}, &report);

    char *text = print(&report, AE_FORMAT_TERM, false, 100);
    uint32_t c;
    size_t at = 0;
    for (size_t n; (n = ae_utf8_decode(text + at, &c)) > 0; at += n)
        assert_true(c == '\n' || !ae_utf8_harmful(c));
    assert_int_equal(text[at], 0);
    free(text);

    text = print(&report, AE_FORMAT_MD, false, 0);
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "\\[x\\](http\\://y)"));
    size_t pipes = 0, rows = 0;
    for (const char *p = text; *p; p++) { /* all rows of a table have as many cells as its head */
        static size_t head;
        if (*p == '|' && p[-1] != '\\')
            pipes++;
        if (*p != '\n')
            continue;
        if (pipes > 0 && head == 0)
            head = pipes;
        if (pipes > 0)
            assert_int_equal(pipes, head);
        if (pipes == 0)
            head = 0;
        rows += pipes > 0;
        pipes = 0;
    }
    assert_true(rows > 3 * count);
    free(text);

    text = print(&report, AE_FORMAT_CSV, false, 0);
    for (const char *p = text; *p;) { /* a terminal may show it as well */
        const size_t taken = ae_utf8_decode(p, &c);
        if (taken == 0 || (ae_utf8_harmful(c) && c != '\r' && c != '\n') || (c == '\r' && p[1] != '\n') ||
            (c == '\n' && p[-1] != '\r'))
            fail_msg("harmful: %.40s", p);
        p += taken;
    }
    bool quoted = false;
    for (const char *p = text; *p; p++) { /* at the start of a field, inside of quotes or not */
        const bool field = p > text && !quoted && (p[-1] == ',' || p[-1] == '\n');
        if (*p == '"')
            quoted = !quoted;
        const char *first = field && *p == '"' ? p + 1 : p;
        if (field && strchr("=+@\t", *first) && *first)
            fail_msg("formula: %.40s", p);
        if (field && *first == '-' && (first[1] < '0' || first[1] > '9' || first != p))
            fail_msg("formula: %.40s", p);
    }
    assert_false(quoted);
    free(text);

    text = print(&report, AE_FORMAT_HTML, false, 0);
    assert_non_null(strstr(text, "&lt;script&gt;x"));
    assert_non_null(strstr(text, "\\u202egnp.exe"));
    assert_null(strstr(text, "<script>x"));
    at = 0;
    for (size_t n; (n = ae_utf8_decode(text + at, &c)) > 0; at += n) {
        if (strncmp(text + at, "<footer>", 8) == 0) /* what follows is the chart library and our script */
            break;
        assert_true(c == '\n' || c == '\t' || !ae_utf8_harmful(c));
    }
    assert_int_equal(strncmp(text + at, "<footer>", 8), 0);
    free(text);

    text = print(&report, AE_FORMAT_JSON, false, 0);
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x7f && (*p >= ' ' || *p == '\n'));
    json_error_t problem;
    json_t *json = json_loads(text, 0, &problem);
    assert_non_null(json);
    json_decref(json);
    free(text);
    ae_report_release(&report);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(leaderboard),
        TEST(yardsticks),
        TEST(best_against_yardstick),
        TEST(domains),
        TEST(floors),
        TEST(steps_of_ladders),
        TEST(too_much_detail),
        TEST(machines),
        TEST(history),
        TEST(history_of_samples),
        TEST(other_banks_are_not_paired),
        TEST(samples),
        TEST(detail),
        TEST(machines_sizes_versions_seeds),
        TEST(both_targets),
        TEST(comparison),
        TEST(formats),
        TEST(narrow_terminal),
        TEST(stream_failures),
        TEST(hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
