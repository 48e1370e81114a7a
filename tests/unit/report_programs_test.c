/* What reports say of programs: phases of a profiled call, strategies found by a search, and what goes with speed. The
 * search is one of our own, which takes letters in a source for strategies, so that every number is worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "report/html.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HOSTILE     "</script><img src=x onerror=\"alert(1)\">'&"

static char folder[128];
static struct ae_store *store;
static struct ae_error err;
static int64_t run;

static void require(int code)
{
    if (code != AE_OK)
        fail_msg("%s", err.text);
}

static int setup(void **state)
{
    (void)state;
    char path[192], json[] = "{}";
    snprintf(folder, sizeof folder, "/tmp/ae-programs-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    require(ae_store_open(&store, path, AE_STORE_WRITE, &err));
    const struct ae_environment e = {.id = ENVIRONMENT, .name = "machine", .json = json};
    require(ae_store_environment_put(store, &e, &err));
    const struct ae_run wanted = {.environment = ENVIRONMENT, .bank = "bank"};
    require(ae_store_run_begin(store, &wanted, &run, &err));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ae_store_close(store);
    return ae_folder_remove(folder, NULL);
}

struct given {
    const char *entrant, *task, *source;
    size_t size_of_source; /* 0: of the text */
    double ms;
    enum ae_verdict verdict;
    bool cpu;
    enum ae_size size;
    const struct ae_explanation *explanation;
};

static void put(struct given g)
{
    const struct ae_task task = {.id = g.task, .version = 1};
    struct ae_submission submission = {.language = "cuda",
                                       .source = (char *)g.source,
                                       .size = g.size_of_source ? g.size_of_source : strlen(g.source)};
    struct ae_measurement m = {.task = &task, .size = g.size, .target = g.cpu ? AE_CPU : AE_CUDA, .verdict = g.verdict, .cores = 2};
    int64_t id;
    require(ae_sha256(submission.source, submission.size, submission.sha256, &err));
    memcpy(m.submission, submission.sha256, sizeof m.submission);
    snprintf(m.entrant, sizeof m.entrant, "%s", g.entrant);
    for (int i = 0; i < 8; i++) {
        const struct ae_trial trial = {.kind = AE_TRIAL_TIMED,
                                       .instance = i,
                                       .call_ns = (int64_t)(g.ms * 1e6),
                                       .reference_ns = 100000000};
        require(ae_measurement_add(&m, &trial));
    }
    require(ae_store_submission_put(store, &submission, &err));
    require(ae_store_measurement_put(store, run, &m, "", &id, &err));
    if (g.explanation)
        require(ae_store_explanation_put(store, id, g.explanation, &err));
    ae_measurement_release(&m);
}

#define PUT(entrant_, task_, source_, ms_, ...)                                                                        \
    put((struct given){.entrant = entrant_, .task = task_, .source = source_, .ms = ms_, __VA_ARGS__})

/* 'A', 'B', 'C' stand for a strategy each; a source with '?' does not tell of C. */
static const struct ae_report_strategy strategies[] = {
    {"A1", "first", "the first"}, {"B2", "second", HOSTILE}, {"C3", "third", "the third"}};
static size_t looked_at;

static int look(void *data, struct ae_report_program *programs, size_t count, struct ae_error *error)
{
    (void)error;
    looked_at += count;
    assert_ptr_equal(data, &looked_at);
    for (size_t i = 0; i < count; i++) {
        struct ae_report_program *p = &programs[i];
        assert_non_null(p->task);
        if (p->source[0] == '!') /* cannot be read */
            continue;
        p->looked = true;
        p->known = memchr(p->source, '?', p->source_size) ? 3 : 7;
        p->findings = calloc(3, sizeof *p->findings);
        for (int k = 0; k < 3; k++)
            if (memchr(p->source, 'A' + k, p->source_size)) {
                struct ae_report_finding *f = &p->findings[p->finding_count++];
                p->has |= (uint64_t)1 << k;
                *f = (struct ae_report_finding){k, 0.9, "about " HOSTILE, {{2, 3}}, 1};
            }
    }
    return AE_OK;
}

static const struct ae_report_search search = {strategies, 3, look, &looked_at};

static void build(unsigned sections, struct ae_report *report)
{
    const struct ae_report_options options = {.filter.latest = true, .sections = sections, .search = &search};
    looked_at = 0;
    require(ae_report_build(store, &options, report, &err));
}

static const struct ae_table *table_of(const struct ae_report *report, const char *id)
{
    for (size_t i = 0; i < report->table_count; i++)
        if (strcmp(report->tables[i].id, id) == 0)
            return &report->tables[i];
    return NULL;
}

static const struct ae_cell *cell_of(const struct ae_table *table, const char *row, const char *column)
{
    assert_non_null(table);
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, column) == 0)
            for (size_t r = 0; r < table->row_count; r++)
                if (strcmp(table->cells[r * table->column_count].text, row) == 0)
                    return &table->cells[r * table->column_count + c];
    return NULL;
}

static bool says_note(const struct ae_table *table, const char *text)
{
    for (size_t i = 0; i < table->note_count; i++)
        if (strstr(table->notes[i], text))
            return true;
    return false;
}

static void is_fraction(const struct ae_cell *cell, double part, double whole)
{
    assert_non_null(cell);
    assert_int_equal(cell->kind, AE_CELL_FRACTION);
    assert_true(cell->low == part && cell->high == whole);
}

static char *page(const struct ae_report *report, unsigned sections)
{
    const struct ae_report_options options = {.filter.latest = true, .sections = sections, .search = &search};
    const struct ae_report_header header = {.kind = "report", .tool_version = "0"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    require(ae_report_print_html(store, report, &options, &header, out, &err));
    fclose(out);
    return text;
}

/* --- phases ----------------------------------------------------------------------------------------------- */

static void phases(void **state)
{
    (void)state;
    const struct ae_explanation call = {.call_ns = 10000000,
                                        .timed_ns = 9000000,
                                        .calls = 1,
                                        .phases = {[AE_PHASE_IN] = {6000000, 7000000}, [AE_PHASE_KERNEL] = {4000000, 4000000}},
                                        .floors = {[AE_PHASE_IN] = 2000000},
                                        .reasons = {{"pageable-in", HOSTILE, 0.6, 1}},
                                        .reason_count = 1},
                                liar = {.call_ns = 1000000, .phases = {[AE_PHASE_HOST] = {5000000, 0}, [AE_PHASE_IDLE] = {1, 1}}};
    struct ae_report report;
    PUT("a", "alpha", "A", 10);
    build(AE_REPORT_PHASES, &report);
    assert_null(table_of(&report, "phases")); /* nothing was profiled: no empty table */
    ae_report_release(&report);
    PUT("a", "beta", "A", 9, .explanation = &call);
    PUT("a", "gamma", "A", 9, .explanation = &liar);
    build(AE_REPORT_LEADERBOARD, &report);
    assert_null(table_of(&report, "phases"));
    ae_report_release(&report);
    build(AE_REPORT_PHASES, &report);
    const struct ae_table *table = table_of(&report, "phases");
    assert_non_null(table);
    assert_int_equal(table->row_count, 2);
    assert_true(cell_of(table, "beta", "call")->value == 10);
    assert_true(cell_of(table, "beta", "timed")->value == 9);
    assert_true(isnan(cell_of(table, "beta", "floor")->value)); /* not known is not 0 */
    assert_true(cell_of(table, "beta", "in")->value == 6);
    assert_true(cell_of(table, "beta", "kernel")->value == 4);
    assert_true(cell_of(table, "beta", "host")->value == 0);
    assert_null(cell_of(table, "beta", "alloc")); /* a phase that no call has is no column */
    assert_string_equal(cell_of(table, "beta", "reason")->text, HOSTILE);

    char *text = page(&report, AE_REPORT_PHASES);
    assert_non_null(strstr(text, "Where the wait goes: a profiled call of 10.000 ms, 9.000 ms without the tracer"));
    assert_non_null(strstr(text, ">host to device</th><td class=\"n\">6.000</td><td class=\"n\">60.0 %</td><td class=\"n\">2.000</td>"));
    assert_non_null(strstr(text, "<i class=\"p-in\" style=\"margin-left:0.00%;width:60.00%\">"));
    assert_non_null(strstr(text, "<i class=\"p-kernel\" style=\"margin-left:60.00%;width:40.00%\">"));
    /* five times the call: the bar ends with it, and the next begins there */
    assert_non_null(strstr(text, "<i class=\"p-host\" style=\"margin-left:0.00%;width:100.00%\">"));
    assert_non_null(strstr(text, "<i class=\"p-idle\" style=\"margin-left:100.00%;width:0.00%\">"));
    assert_non_null(strstr(text, "&lt;img src=x"));
    assert_null(strstr(text, "<img src=x"));
    free(text);
    ae_report_release(&report);
    /* a page lists so many and no more, and says so */
    const struct ae_report_options few = {.filter.latest = true, .sections = AE_REPORT_PHASES, .detail_max = 1};
    require(ae_report_build(store, &few, &report, &err));
    table = table_of(&report, "phases");
    assert_int_equal(table->row_count, 0);
    assert_true(says_note(table, "More than 1 profiled calls"));
    ae_report_release(&report);
}

/* --- strategies ------------------------------------------------------------------------------------------- */

static void which_program_shows_which(void **state)
{
    (void)state;
    struct ae_report report;
    PUT("a", "alpha", "A B", 10);
    PUT("a", "alpha", "A B", 20, .size = AE_LARGE); /* the same program: counted and looked at once */
    PUT("b", "alpha", "A B", 11);                   /* somebody else's, byte for byte */
    PUT("b", "beta", "A ?", 10);
    PUT("b", "gamma", "none", 10, .verdict = AE_WRONG_ANSWER); /* wrong programs show strategies, too */
    PUT("c", "gamma", "!C", 10);
    PUT("d", "gamma", "A C", 10, .cpu = true);         /* none for a device */
    PUT("e", "gamma", "B C", 10, .verdict = AE_NOT_RUN);    /* nobody judged it */
    build(AE_REPORT_STRATEGIES, &report);
    assert_int_equal(looked_at, 4);
    const struct ae_table *by_entrant = table_of(&report, "strategies"), *by_task = table_of(&report, "strategies_tasks");
    is_fraction(cell_of(by_entrant, "A1", "programs"), 2, 3);
    is_fraction(cell_of(by_entrant, "A1", "a"), 1, 1);
    is_fraction(cell_of(by_entrant, "A1", "b"), 2, 3);
    is_fraction(cell_of(by_entrant, "B2", "b"), 1, 3);
    assert_null(cell_of(by_entrant, "C3", "a")); /* shown by none that could be read */
    assert_null(cell_of(by_entrant, "A1", "c"));
    assert_true(says_note(by_entrant, "1 program could not be searched"));
    assert_null(cell_of(by_entrant, "A1", "d"));
    assert_null(cell_of(by_entrant, "A1", "e"));
    is_fraction(cell_of(by_task, "alpha", "A1"), 1, 1);
    is_fraction(cell_of(by_task, "gamma", "A1"), 0, 1);
    assert_null(cell_of(by_task, "alpha", "C3"));

    char *text = page(&report, AE_REPORT_STRATEGIES);
    assert_non_null(strstr(text, "data-strategies=\"A1 B2\" data-undecided=\"\""));
    assert_non_null(strstr(text, "data-strategies=\"A1\" data-undecided=\"C3\"")); /* no zero of one in the heat map */
    assert_non_null(strstr(text, "Strategies found: 2</summary>"));
    assert_non_null(strstr(text, "A1 first</dt>"));
    assert_non_null(strstr(text, "class=\"s3\" data-v=\"0.666666667\">2/3<")); /* the colour of the share */
    assert_null(strstr(text, "<img src=x"));
    free(text);
    ae_report_release(&report);
    build(AE_REPORT_LEADERBOARD, &report); /* nobody asked: nobody looks */
    assert_int_equal(looked_at, 0);
    assert_null(report.searched);
    ae_report_release(&report);
}

static void lifts(void **state)
{
    (void)state;
    struct ae_report report;
    char task[16], source[64];
    /* one program a task: nothing to compare */
    for (int t = 0; t < 12; t++) {
        snprintf(task, sizeof task, "task_%02d", t);
        snprintf(source, sizeof source, "A %d", t);
        PUT("fast", task, source, 5);
    }
    build(AE_REPORT_STRATEGIES, &report);
    assert_null(table_of(&report, "lift"));
    assert_true(says_note(table_of(&report, "strategies"), "no task has two right programs"));
    ae_report_release(&report);
    /* two tasks with a second one, half as fast: a lift of 2, and too few pairs to believe it */
    for (int t = 0; t < 12; t++) {
        snprintf(task, sizeof task, "task_%02d", t);
        snprintf(source, sizeof source, "slow %d", t);
        PUT("slow", task, source, 10);
        PUT("wrong", task, "B", 1, .verdict = AE_WRONG_ANSWER); /* its speed is nobody's business */
        if (t != 1)
            continue;
        build(AE_REPORT_STRATEGIES, &report);
        const struct ae_table *table = table_of(&report, "lift");
        assert_true(fabs(cell_of(table, "A1", "lift")->value - 2) < 1e-9);
        assert_int_equal(cell_of(table, "A1", "lift")->interval, AE_INTERVAL_RANGE);
        assert_true(cell_of(table, "A1", "pairs")->value == 2);
        is_fraction(cell_of(table, "A1", "with"), 2, 4);
        assert_string_equal(cell_of(table, "A1", "says")->text, "too few pairs: 2 of 11");
        assert_true(isnan(cell_of(table, "A1", "p")->value));
        assert_null(cell_of(table, "B2", "lift")); /* no right program shows it */
        assert_true(says_note(table, "4 right programs of 2 tasks"));
        assert_true(says_note(table, "anecdote"));
        assert_true(says_note(table, "Too few pairs to say anything"));
        ae_report_release(&report);
    }
    build(AE_REPORT_STRATEGIES, &report);
    const struct ae_table *table = table_of(&report, "lift");
    assert_string_equal(table->size, "small");
    assert_true(fabs(cell_of(table, "A1", "lift")->value - 2) < 1e-9);
    assert_true(cell_of(table, "A1", "pairs")->value == 12);
    assert_string_equal(cell_of(table, "A1", "says")->text, "goes with speed"); /* 12 of one sign: p = 2 / 4096 */
    assert_true(fabs(cell_of(table, "A1", "p")->value - 2.0 / 4096) < 1e-12);
    assert_true(cell_of(table, "A1", "winners")->value == 1);
    assert_false(says_note(table, "anecdote"));
    ae_report_release(&report);
}

/* A report searches so many bytes and no more; right programs come first, and what is left out is said. */
static void too_much_to_search(void **state)
{
    (void)state;
    const size_t size = AE_REPORT_SEARCH_BYTES / 2;
    char *source = malloc(size);
    struct ae_report report;
    assert_non_null(source);
    memset(source, 'A', size);
    for (int i = 0; i < 5; i++) {
        char entrant[8] = {(char)('a' + i)};
        source[0] = (char)('a' + i);
        PUT(entrant, "alpha", source, 10, .size_of_source = size, .verdict = i < 3 ? AE_WRONG_ANSWER : AE_PASS);
    }
    free(source);
    build(AE_REPORT_STRATEGIES, &report);
    assert_int_equal(looked_at, 2);
    const struct ae_table *table = table_of(&report, "strategies");
    is_fraction(cell_of(table, "A1", "d"), 1, 1);
    is_fraction(cell_of(table, "A1", "e"), 1, 1);
    assert_null(cell_of(table, "A1", "a"));
    assert_true(says_note(table, "3 more programs were not looked at"));
    ae_report_release(&report);
}

/* --- marks in a source ------------------------------------------------------------------------------------ */

static char *marked(const char *source, const struct ae_report_program *program)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    ae_html_source(source, strlen(source), program, &search, out);
    fclose(out);
    return text;
}

static void marks(void **state)
{
    (void)state;
#define MARK(ids, titles) "<span class=\"found\" data-ids=\"" ids "\" title=\"" titles "\">"
    struct ae_report_finding found[] = {{0, 1, "x", {{2, 3}}, 1}, {2, 1, "<y>", {{3, 3}, {5, 99}}, 2}};
    const struct ae_report_program program = {.looked = true, .findings = found, .finding_count = 2};
    static const struct {
        const char *source, *wanted;
    } cases[] = {
        {"1\n2\n3\n4\n5\n6", "1\n" MARK("A1", "A1 first: x") "2\n</span>" MARK(
                                    "A1 C3", "A1 first: x\nC3 third: &lt;y&gt;") "3\n</span>4\n" MARK("C3", "C3 third: &lt;y&gt;") "5\n6</span>"},
        {"1 <\n", "1 &lt;\n"},
        {"1\n2", "1\n" MARK("A1", "A1 first: x") "2</span>"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = marked(cases[i].source, &program);
        assert_string_equal(text, cases[i].wanted);
        free(text);
    }
    char *text = marked("1\n2\n", NULL); /* nobody looked */
    assert_string_equal(text, "1\n2\n");
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(phases), TEST(which_program_shows_which), TEST(lifts), TEST(too_much_to_search),
                                       cmocka_unit_test(marks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
