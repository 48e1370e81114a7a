/* acceleval report, compare, history */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/report_search.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const picks[] = {"first", "best", NULL};

struct values {
    int64_t run;
    const char *baseline, *out;
    struct ae_list entrants;
    struct ae_task_list tasks;
    unsigned sizes;
    int format, pick;
    bool detail, domains, floors, phases, strategies, json;
};

const struct ae_option ae_report_options_table[] = {
    {.name = "run", .kind = AE_OPTION_INTEGER, .help = "only this run; 0: the newest result of each program",
     .fallback = "0", .lo = 0, .hi = INT64_MAX, .offset = offsetof(struct values, run)},
    {.name = "baseline", .letter = 'b', .kind = AE_OPTION_STRING, .argument = "ENTRANT",
     .help = "yardstick of the speedups: reference (the default), parallel, tuned or any entrant",
     .offset = offsetof(struct values, baseline)},
    {.name = "entrant", .letter = 'e', .kind = AE_OPTION_LIST, .help = "only these entrants",
     .offset = offsetof(struct values, entrants)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "only these sizes",
     .offset = offsetof(struct values, sizes)},
    {.name = "pick", .kind = AE_OPTION_CHOICE, .choices = picks, .help = "which of several samples stands for an entrant",
     .offset = offsetof(struct values, pick)},
    {.name = "detail", .kind = AE_OPTION_FLAG, .help = "also one row for each measurement",
     .offset = offsetof(struct values, detail)},
    {.name = "floors", .kind = AE_OPTION_FLAG,
     .help = "how far each device program is from what the machine needs at least", .offset = offsetof(struct values, floors)},
    {.name = "domains", .kind = AE_OPTION_FLAG, .help = "also one row for each entrant and domain",
     .offset = offsetof(struct values, domains)},
    {.name = "phases", .kind = AE_OPTION_FLAG, .help = "also where the wait goes, of what was evaluated with --profile",
     .offset = offsetof(struct values, phases)},
    {.name = "strategies", .kind = AE_OPTION_FLAG, .help = "also which programs show which strategies, and what goes with speed",
     .offset = offsetof(struct values, strategies)},
    {.name = "format", .letter = 'f', .kind = AE_OPTION_CHOICE, .choices = ae_format_names, .help = "format of the output",
     .offset = offsetof(struct values, format)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "the same as --format json", .offset = offsetof(struct values, json)},
    {.name = "out", .letter = 'o', .kind = AE_OPTION_STRING, .argument = "FILE", .help = "write there instead of to standard output",
     .offset = offsetof(struct values, out)},
    {0},
};

const struct ae_option ae_compare_options[] = {
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "only these sizes",
     .offset = offsetof(struct values, sizes)},
    {.name = "format", .letter = 'f', .kind = AE_OPTION_CHOICE, .choices = ae_format_names, .help = "format of the output, any but svg",
     .offset = offsetof(struct values, format)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "the same as --format json", .offset = offsetof(struct values, json)},
    {.name = "out", .letter = 'o', .kind = AE_OPTION_STRING, .argument = "FILE", .help = "write there instead of to standard output",
     .offset = offsetof(struct values, out)},
    {0},
};

const struct ae_option ae_history_options[] = {
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK, .one = true, .help = "only this task",
     .offset = offsetof(struct values, tasks)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_SIZE, .help = "only these sizes",
     .offset = offsetof(struct values, sizes)},
    {.name = "format", .letter = 'f', .kind = AE_OPTION_CHOICE, .choices = ae_format_names, .help = "format of the output, any but svg",
     .offset = offsetof(struct values, format)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "the same as --format json", .offset = offsetof(struct values, json)},
    {.name = "out", .letter = 'o', .kind = AE_OPTION_STRING, .argument = "FILE", .help = "write there instead of to standard output",
     .offset = offsetof(struct values, out)},
    {0},
};

/* Formats that were asked for together, or that show nothing of what was asked for. */
static int check_format(const struct ae_option *options, uint64_t given, const struct values *values, bool leaderboards,
                        struct ae_error *err)
{
    const bool svg = values->format == AE_FORMAT_SVG && !values->json;
    if (values->json && values->format != AE_FORMAT_JSON && ae_option_given(options, given, "format"))
        return ae_error_set(err, AE_E_USAGE, "--json and --format %s are two formats", ae_format_names[values->format]);
    if (svg && !leaderboards)
        return ae_error_set(err, AE_E_USAGE, "a picture (svg) is made of leaderboards, which 'report' has");
    if (svg && (values->detail || values->domains || values->floors || values->phases || values->strategies))
        ae_cli_note("--%s changes nothing: a picture (svg) shows leaderboards alone",
                    values->detail    ? "detail"
                    : values->domains ? "domains"
                    : values->floors  ? "floors"
                    : values->phases  ? "phases"
                                      : "strategies");
    if (values->format == AE_FORMAT_CSV && !values->json && values->baseline && strcmp(values->baseline, "reference") != 0)
        ae_cli_note("CSV does not name the baseline: these speedups are over %s", values->baseline);
    return AE_OK;
}

/* store and report_options: of a report, whose HTML shows submissions too; else NULL. */
static int print(const struct values *values, struct ae_store *store, const struct ae_report_options *report_options,
                 const struct ae_report *report, const char *kind, const char *options_json, struct ae_error *err)
{
    if (!values->out && !values->json && values->format == AE_FORMAT_XLSX && ae_terminal_is(stdout))
        return ae_error_set(err, AE_E_USAGE, "a workbook is nothing for a terminal; name a file with --out");
    struct ae_new_file file;
    int rc = values->out ? ae_new_file_begin(&file, values->out, err) : AE_OK;
    if (rc != AE_OK)
        return rc;
    FILE *out = values->out ? file.stream : stdout;
    const struct ae_report_header header = {kind, AE_VERSION, ae_wall_ns(), options_json};
    const struct ae_print_options options = {
        .format = values->json ? AE_FORMAT_JSON : (enum ae_format)values->format,
        .colour = ae_terminal_colour(out),
        .width = ae_terminal_is(out) ? ae_terminal_width(out) : 0,
    };
    rc = options.format == AE_FORMAT_HTML ? ae_report_print_html(store, report, report_options, &header, out, err)
                                          : ae_report_print(report, &header, &options, out, err);
    if (values->out)
        return ae_new_file_end(&file, rc, err);
    if (fflush(out) != 0 && rc == AE_OK)
        rc = ae_error_errno(err, AE_E_IO, errno, "cannot write the report");
    return rc;
}

int ae_cmd_report(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_store *store = NULL;
    struct ae_report report = {0};
    struct ae_report_search search = {0};
    struct ae_error err = {0};
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, NULL, &given);
    if (done >= 0)
        return done;
    ae_autofree char *json = ae_options_json(ae_report_options_table, &values);
    ae_autofree const char **entrants = calloc(values.entrants.count + 1, sizeof *entrants);
    for (size_t i = 0; entrants && i < values.entrants.count; i++)
        entrants[i] = values.entrants.items[i];
    const bool page = values.format == AE_FORMAT_HTML && !values.json,
               book = values.format == AE_FORMAT_XLSX && !values.json; /* these have room for more */
    const struct ae_report_options options = {
        .filter = {.run = values.run, .latest = values.run == 0, .sizes = values.sizes, .trials = AE_TRIALS_ALL},
        .entrants = values.entrants.count ? entrants : NULL,
        .baseline = values.baseline,
        .pick = (enum ae_pick)values.pick,
        .detail_max = page ? AE_REPORT_PAGE_ROWS : 0,
        .sections = AE_REPORT_LEADERBOARD | AE_REPORT_YARDSTICKS | AE_REPORT_MATRIX | AE_REPORT_MACHINES |
                    AE_REPORT_NOT_RUN | (values.detail || page ? AE_REPORT_DETAIL : 0) |
                    (values.domains || page || book ? AE_REPORT_DOMAINS : 0) |
                    (values.floors || page || book ? AE_REPORT_FLOORS : 0) |
                    (values.phases || page ? AE_REPORT_PHASES : 0) |
                    (values.strategies || page ? AE_REPORT_STRATEGIES : 0),
        .search = &search,
    };
    int rc = check_format(ae_report_options_table, given, &values, true, &err);
    if (rc == AE_OK)
        rc = ae_cli_results(&store, &err);
    if (rc == AE_OK && (options.sections & AE_REPORT_STRATEGIES)) {
        rc = ae_cli_search_init(&search, &err);
        if (rc == AE_E_ENV && !values.strategies) /* a page without strategies, as nobody asked for them, says so */
            rc = AE_OK;
    }
    if (rc == AE_OK) {
        rc = ae_report_build(store, &options, &report, &err);
        if (rc == AE_E_NOTFOUND && !values.run && !values.sizes && !values.entrants.count)
            err.code = rc = AE_E_ENV; /* it is not that the wrong thing was asked for */
        if (rc == AE_OK)
            rc = print(&values, store, &options, &report, "report", json, &err);
        ae_report_release(&report);
    }
    ae_cli_search_release(&search);
    ae_store_close(store);
    ae_options_release(ae_report_options_table, &values);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}

/* "entrant", "@3" (run 3) or "entrant@3". */
static int parse_side(char *text, struct ae_side *ret, struct ae_error *err)
{
    char *at = strrchr(text, '@');
    *ret = (struct ae_side){0};
    if (at) {
        if (!ae_text_to_i64(at + 1, 1, INT64_MAX, &ret->run))
            return ae_error_set(err, AE_E_USAGE, "'%s': a run is a number, as in parallel@3", text);
        *at = 0;
    }
    ret->entrant = *text ? text : NULL;
    return AE_OK;
}

int ae_cmd_compare(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_store *store = NULL;
    struct ae_report report = {0};
    struct ae_side a, b;
    struct ae_error err = {0};
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &rest, &given);
    if (done >= 0)
        return done;
    int rc = rest.count == 2 ? AE_OK
                             : ae_error_set(&err, AE_E_USAGE, "compare takes two sides: entrants, runs (@3) or entrants "
                                            "of runs (parallel@3)");
    if (rc == AE_OK)
        rc = parse_side(rest.items[0], &a, &err);
    if (rc == AE_OK)
        rc = parse_side(rest.items[1], &b, &err);
    if (rc == AE_OK)
        rc = check_format(ae_compare_options, given, &values, false, &err);
    if (rc == AE_OK)
        rc = ae_cli_results(&store, &err);
    if (rc == AE_OK) {
        const struct ae_measurement_filter filter = {.sizes = values.sizes, .trials = AE_TRIALS_ALL};
        rc = ae_compare_build(store, &a, &b, &filter, &report, &err);
        if (rc == AE_OK)
            rc = print(&values, NULL, NULL, &report, "compare", NULL, &err);
        ae_report_release(&report);
    }
    ae_store_close(store);
    ae_list_release(&rest);
    ae_options_release(ae_compare_options, &values);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}

int ae_cmd_history(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_store *store = NULL;
    struct ae_report report = {0};
    struct ae_error err = {0};
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &rest, &given);
    if (done >= 0)
        return done;
    int rc = rest.count == 1 ? AE_OK : ae_error_set(&err, AE_E_USAGE, "history takes one entrant");
    if (rc == AE_OK)
        rc = check_format(ae_history_options, given, &values, false, &err);
    if (rc == AE_OK)
        rc = ae_cli_results(&store, &err);
    if (rc == AE_OK) {
        const struct ae_measurement_filter filter = {.task = values.tasks.count ? values.tasks.items[0]->id : NULL,
                                                     .sizes = values.sizes,
                                                     .trials = AE_TRIALS_ALL};
        rc = ae_history_build(store, rest.items[0], &filter, &report, &err);
        if (rc == AE_OK)
            rc = print(&values, NULL, NULL, &report, "history", NULL, &err);
        ae_report_release(&report);
    }
    ae_store_close(store);
    ae_list_release(&rest);
    ae_options_release(ae_history_options, &values);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
