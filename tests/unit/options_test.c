/* The command line's tables: parsing, help, completion, terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/options.h"
#include "cli/terminal.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
    bool quick, verbose;
    const char *entrant;
    int64_t jobs, seed;
    int target;
    unsigned sizes, size;
    struct ae_task_list tasks;
    struct ae_list devices;
};

static const char *const targets[] = {"cuda", "cpu", NULL};

static const struct ae_option options[] = {
    {.name = "quick",
     .letter = 'q',
     .kind = AE_OPTION_FLAG,
     .help = "fewer trials",
     .env = "AE_TEST_QUICK",
     .offset = offsetof(struct values, quick)},
    {.name = "verbose",
     .letter = 'v',
     .kind = AE_OPTION_FLAG,
     .help = "say more",
     .fallback = "no",
     .offset = offsetof(struct values, verbose)},
    {.name = "entrant",
     .letter = 'e',
     .kind = AE_OPTION_STRING,
     .argument = "NAME",
     .help = "who submitted: a name for tables, which goes with every measurement that this command makes",
     .fallback = "me",
     .env = "AE_TEST_ENTRANT",
     .offset = offsetof(struct values, entrant)},
    {.name = "jobs",
     .letter = 'j',
     .kind = AE_OPTION_INTEGER,
     .help = "compile so many at once",
     .fallback = "2",
     .lo = 1,
     .hi = 64,
     .env = "AE_TEST_JOBS",
     .offset = offsetof(struct values, jobs)},
    {.name = "seed", .kind = AE_OPTION_INTEGER, .help = "any number", .offset = offsetof(struct values, seed)},
    {.name = "target",
     .letter = 't',
     .kind = AE_OPTION_CHOICE,
     .help = "where it runs",
     .choices = targets,
     .offset = offsetof(struct values, target)},
    {.name = "size",
     .letter = 's',
     .kind = AE_OPTION_SIZE,
     .help = "sizes",
     .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "one-size",
     .kind = AE_OPTION_SIZE,
     .one = true,
     .help = "one size",
     .offset = offsetof(struct values, size)},
    {.name = "task", .kind = AE_OPTION_TASK, .help = "tasks", .offset = offsetof(struct values, tasks)},
    {.name = "device", .kind = AE_OPTION_LIST, .help = "devices", .offset = offsetof(struct values, devices)},
    {.name = NULL},
};

static const struct ae_option report_options[] = {
    {.name = "out",
     .letter = 'o',
     .kind = AE_OPTION_STRING,
     .argument = "FILE",
     .help = "write there",
     .offset = 0},
    {.name = NULL},
};

static const struct ae_command commands[] = {
    {.name = "eval",
     .summary = "Evaluate submissions",
     .usage = "[OPTION...] [PATH...]",
     .options = options,
     .details = "Every source file is compiled, judged and timed.",
     .operand = AE_OPERAND_PATH},
    {.name = "report",
     .summary = "Print what the store holds, as tables for people or for programs",
     .usage = "",
     .options = report_options},
    {.name = "repro", .summary = "Make a folder to debug in", .usage = "SOURCE", .operand = AE_OPERAND_PATH},
    {.name = "show", .summary = "All about one task", .usage = "TASK", .operand = AE_OPERAND_TASK},
    {.name = NULL},
};

static struct values values;
static struct ae_list rest;
static struct ae_error err;

/* Splits line at spaces and parses it for `eval`. */
static int parse(const char *line)
{
    static char copy[512];
    char *argv[32], *save = NULL;
    int argc = 0;
    ae_options_release(options, &values);
    ae_list_release(&rest);
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    argv[argc] = NULL;
    err = (struct ae_error){0};
    return ae_options_parse(&commands[0], argc, argv, &values, &rest, &err);
}

static int teardown(void **state)
{
    (void)state;
    ae_options_release(options, &values);
    ae_list_release(&rest);
    unsetenv("AE_TEST_QUICK");
    unsetenv("AE_TEST_ENTRANT");
    unsetenv("AE_TEST_JOBS");
    return 0;
}

static void fine(const char *line)
{
    const int r = parse(line);
    if (r != AE_OK)
        fail_msg("%s: %d %s", line, r, err.text);
}

static void wrong(const char *line, const char *part)
{
    if (parse(line) != AE_E_USAGE || !strstr(err.text, part))
        fail_msg("%s: '%s' lacks '%s'", line, err.text, part);
}

static void defaults_and_environment(void **state)
{
    (void)state;
    fine("eval");
    assert_false(values.quick);
    assert_string_equal(values.entrant, "me");
    assert_int_equal(values.jobs, 2);
    assert_int_equal(values.seed, 0);
    assert_int_equal(values.sizes, AE_AT(AE_SMALL));
    assert_int_equal(values.tasks.count, 0);
    setenv("AE_TEST_QUICK", "1", 1);
    setenv("AE_TEST_ENTRANT", "you", 1);
    setenv("AE_TEST_JOBS", "", 1); /* empty: as if it were not there */
    fine("eval");
    assert_true(values.quick);
    assert_string_equal(values.entrant, "you");
    assert_int_equal(values.jobs, 2);
    fine("eval --no-quick --entrant=them");
    assert_false(values.quick);
    assert_string_equal(values.entrant, "them");
    setenv("AE_TEST_JOBS", "many", 1);
    wrong("eval", "the variable AE_TEST_JOBS: 'many' is not a whole number from 1 to 64");
}

static void spellings(void **state)
{
    (void)state;
    fine("eval --quick --entrant x --jobs=3 a.cu");
    assert_true(values.quick && values.jobs == 3);
    assert_string_equal(values.entrant, "x");
    assert_int_equal(rest.count, 1);
    fine("eval a -qvj7 b -ex -- -q --jobs");
    assert_true(values.quick && values.verbose && values.jobs == 7);
    assert_string_equal(values.entrant, "x");
    assert_int_equal(rest.count, 4);
    assert_string_equal(rest.items[2], "-q");
    fine("eval --qu --en=a=b -j 9 -"); /* unique prefixes; only the first sign divides; standard input */
    assert_true(values.quick && values.jobs == 9);
    assert_string_equal(values.entrant, "a=b");
    assert_string_equal(rest.items[0], "-");
    fine("eval --entrant= --jobs=1 --jobs=2 --seed=-5");
    assert_string_equal(values.entrant, "");
    assert_int_equal(values.jobs, 2);
    assert_int_equal(values.seed, -5);
    assert_int_equal(parse("eval --help"), AE_OPTIONS_HELP);
    assert_int_equal(parse("eval -qh"), AE_OPTIONS_HELP);
}

static void kinds(void **state)
{
    (void)state;
    fine("eval --target=cpu");
    assert_int_equal(values.target, 1);
    fine("eval -t cu");
    assert_int_equal(values.target, 0);
    fine("eval --size=medium,large"); /* the default goes */
    assert_int_equal(values.sizes, AE_AT(AE_MEDIUM) | AE_AT(AE_LARGE));
    fine("eval -s m -s s");
    assert_int_equal(values.sizes, AE_AT(AE_MEDIUM) | AE_AT(AE_SMALL));
    fine("eval --size=all");
    assert_int_equal(values.sizes, AE_ALL_SIZES);
    fine("eval --one-size=large");
    assert_int_equal(values.size, AE_AT(AE_LARGE));
    fine("eval --task=black --task black_scholes");
    assert_int_equal(values.tasks.count, 1);
    fine("eval --device=0,1 --device=2");
    assert_int_equal(values.devices.count, 3);
    assert_string_equal(values.devices.items[2], "2");
}

static void mistakes(void **state)
{
    (void)state;
    wrong("eval --jbos=1", "the nearest is --jobs");
    wrong("eval --jobs=65", "from 1 to 64");
    wrong("eval --jobs=", "'' is not");
    wrong("eval --jobs=3x", "'3x' is not");
    wrong("eval --jobs", "needs a value");
    wrong("eval -j", "needs a value");
    wrong("eval --quick=1", "takes no value");
    wrong("eval --s=1", "could be --seed or --size");
    wrong("eval --=1", "no option");
    wrong("eval -qz", "-z");
    wrong("eval -\x1b", "-\\x1b");
    wrong("eval --\x1b[31m", "--\\x1b[31m");
    wrong("eval --target=abacus", "cuda or cpu");
    wrong("eval --target=c", "cuda or cpu"); /* both */
    wrong("eval --size=huge", "small, medium, large or all");
    wrong("eval --size=small,,large", "empty");
    wrong("eval --size=", "empty");
    wrong("eval --one-size=all", "one only");
    wrong("eval --one-size=small --one-size=large", "one only");
    wrong("eval --task=black_sholes", "the nearest is 'black_scholes'");
    wrong("eval --seed=99999999999999999999", "whole number");
    char *argv[] = {(char[]){"report"}, (char[]){"more\x07"}, NULL};
    const char *out;
    assert_int_equal(ae_options_parse(&commands[1], 2, argv, &out, NULL, &err), AE_E_USAGE);
    assert_non_null(strstr(err.text, "'more\\x07' is too much"));
}

/* Defaults and variables are not given; an option of a verb is refused by the others, and the help says whose it is. */
static void given_and_verbs(void **state)
{
    static const struct ae_option some[] = {
        {.name = "jobs", .letter = 'j', .kind = AE_OPTION_INTEGER, .fallback = "3", .help = "at a time",
         .verbs = "find,diff", .offset = offsetof(struct values, jobs)},
        {.name = "quick", .kind = AE_OPTION_FLAG, .help = "fewer", .offset = offsetof(struct values, quick)},
        {0},
    };
    const struct ae_command command = {.name = "seek", .options = some};
    char *line[] = {(char[]){"seek"}, (char[]){"-j3"}, NULL};
    uint64_t given = 99;
    char text[AE_OPTION_TEXT];
    (void)state;
    assert_int_equal(ae_options_parse_given(&command, 1, line, &values, NULL, &given, &err), AE_OK);
    assert_false(ae_option_given(some, given, "jobs"));
    assert_int_equal(ae_options_check_verb(&command, given, "list", &err), AE_OK);
    assert_int_equal(ae_options_parse_given(&command, 2, line, &values, NULL, &given, &err), AE_OK);
    assert_true(ae_option_given(some, given, "jobs"));
    assert_false(ae_option_given(some, given, "quick"));
    assert_int_equal(ae_options_check_verb(&command, given, "find", &err), AE_OK);
    assert_int_equal(ae_options_check_verb(&command, given, "diff", &err), AE_OK);
    assert_int_equal(ae_options_check_verb(&command, given, "fin", &err), AE_E_USAGE);
    assert_int_equal(ae_options_check_verb(&command, given, "list", &err), AE_E_USAGE);
    assert_non_null(strstr(err.text, "'seek list' has no use for --jobs"));
    ae_option_explain(&some[0], text, sizeof text);
    assert_string_equal(text, "find, diff: at a time [3]");
}

static void effective_options(void **state)
{
    (void)state;
    fine("eval --task=black --device=a,b\xff -q --target=cpu");
    char *text = ae_options_json(options, &values);
    assert_non_null(text);
    json_error_t problem;
    json_t *json = json_loads(text, 0, &problem);
    assert_non_null(json);
    assert_true(json_is_true(json_object_get(json, "quick")));
    assert_string_equal(json_string_value(json_object_get(json, "target")), "cpu");
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "device"), 1)), "b\\xff");
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "size"), 0)), "small");
    assert_int_equal(json_object_size(json), 10);
    json_decref(json);
    free(text);
    text = ae_options_json(NULL, NULL);
    assert_string_equal(text, "{}");
    free(text);
}

static void finds_commands(void **state)
{
    (void)state;
    assert_ptr_equal(ae_command_find(commands, "eval", &err), &commands[0]);
    assert_ptr_equal(ae_command_find(commands, "s", &err), &commands[3]);
    assert_null(ae_command_find(commands, "rep", &err));
    assert_non_null(strstr(err.text, "2 commands"));
    assert_null(ae_command_find(commands, "evla", &err));
    assert_non_null(strstr(err.text, "'eval'"));
    assert_null(ae_command_find(commands, "", &err));
}

/* What `print` writes, as a string that the caller frees. */
static char *printed(void (*print)(int width, FILE *out), int width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(width, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void print_help(int width, FILE *out)
{
    ae_command_help(&commands[0], "acceleval", width, out);
}

static void print_commands(int width, FILE *out)
{
    ae_commands_help(commands, width, out);
}

static void print_completion(int width, FILE *out)
{
    (void)width;
    ae_completion_bash(commands, "acceleval", out);
}

static void help_text(void **state)
{
    (void)state;
    static const int widths[] = {0, 1, 60, 80, 100, 1000};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const int limit = widths[i] == 0 ? 80 : widths[i] < 60 ? 60 : widths[i] > 100 ? 100 : widths[i];
        char *text = printed(print_help, widths[i]);
        for (const char *line = text; *line;) {
            const size_t length = strcspn(line, "\n");
            assert_true((int)length <= limit);
            assert_true(length == 0 || line[length - 1] != ' ');
            line += length + (line[length] == '\n');
        }
        free(text);
    }
    char *text = printed(print_help, 80);
    assert_non_null(strstr(text, "Usage: acceleval eval [OPTION...] [PATH...]\n\nEvaluate submissions\n"));
    assert_non_null(
        strstr(text, "  -j, --jobs=N              compile so many at once (1..64) [2] [$AE_TEST_JOBS]\n"));
    assert_non_null(strstr(text, "  -t, --target=cuda|cpu     where it runs [cuda]\n"));
    assert_non_null(strstr(text, "      --task=TASK,...       tasks\n"));
    assert_non_null(strstr(text, "      --one-size=SIZE       one size\n"));
    assert_non_null(strstr(text, "  -h, --help "));
    free(text);
    text = printed(print_commands, 60);
    assert_non_null(strstr(text, "  eval    Evaluate submissions\n"));
    assert_non_null(
        strstr(text, "  report  Print what the store holds, as tables for people\n          or for programs\n"));
    free(text);
}

/* The answers of the generated script, by bash itself. */
static void completion(void **state)
{
    (void)state;
    if (access("/bin/bash", X_OK) != 0)
        skip();
    char file[] = "/tmp/ae-completion-XXXXXX";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    char *script = printed(print_completion, 0);
    assert_int_equal(ae_write_all(fd, script, strlen(script)), 0);
    assert_int_equal(close(fd), 0);
    free(script);
    static const struct {
        const char *words, *expected;
    } cases[] = {
        {"acceleval re", "report repro"},
        {"acceleval eval --ta", "--target --task"},
        {"acceleval eval --target ''", "cuda cpu"},
        {"acceleval eval --target = cp", "cpu"},
        {"acceleval eval --size =", "small medium large all"},
        {"acceleval eval --task black", "black_scholes"},
        {"acceleval show black_s", "black_scholes"},
        {"acceleval eval -t c", "cuda cpu"},
        {"acceleval report --out /etc/passw", "/etc/passwd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[512], got[512] = "";
        snprintf(
            command, sizeof command,
            "/bin/bash -c 'set -u; source %s; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _acceleval;"
            " for w in \"${COMPREPLY[@]}\"; do case $w in /etc/passwd-) ;; *) printf \"%%s \" \"$w\" ;; esac; "
            "done'",
            file,
            strcmp(cases[i].words, "acceleval eval --target ''") == 0 ? "acceleval eval --target \"\""
                                                                      : cases[i].words);
        FILE *bash = popen(command, "r");
        assert_non_null(bash);
        char *line = fgets(got, sizeof got, bash);
        assert_int_equal(pclose(bash), 0);
        assert_non_null(line);
        got[strlen(got) - 1] = 0;
        assert_string_equal(got, cases[i].expected);
    }
    assert_int_equal(unlink(file), 0);
}

static void progress_when_piped(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct ae_progress progress;
    ae_progress_init(&progress, out);
    assert_false(ae_terminal_is(out));
    assert_false(ae_terminal_colour(out));
    ae_progress_show(&progress, "%d of %d", 1, 2);
    ae_progress_show(&progress, "%d of %d", 1, 2);
    ae_progress_clear(&progress);
    ae_progress_show(&progress, "%d of %d", 1, 2);
    ae_progress_show(&progress, "2 of 2 \x1b[31m");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "1 of 2\n2 of 2 \\x1b[31m\n");
    free(text);
}

static void progress_on_a_terminal(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct ae_progress progress = {.stream = out, .redraw = true, .width = 10};
    ae_progress_show(&progress, "0123456789abc");
    ae_progress_show(&progress, "too soon");
    ae_progress_clear(&progress);
    ae_progress_clear(&progress);
    ae_progress_show(&progress, "next");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\r\x1b[K012345678\r\x1b[K\r\x1b[Knext");
    free(text);
}

static void widths(void **state)
{
    (void)state;
    FILE *null = fopen("/dev/null", "w");
    assert_non_null(null);
    setenv("COLUMNS", "132", 1);
    assert_int_equal(ae_terminal_width(null), 132);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(ae_terminal_width(null), 80);
    assert_false(ae_terminal_colour(null));
    assert_int_equal(fclose(null), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_and_environment),
        TEST(spellings),
        TEST(kinds),
        TEST(mistakes),
        TEST(given_and_verbs), TEST(effective_options),
        TEST(finds_commands),
        TEST(help_text),
        TEST(completion),
        TEST(progress_when_piped),
        TEST(progress_on_a_terminal),
        TEST(widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
