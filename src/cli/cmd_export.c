/* acceleval export: runs as one archive, for another store. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "store/archive.h"

#include <stdlib.h>
#include <string.h>

struct values {
    struct ae_list runs;
    const char *out;
};

const struct ae_option ae_export_options[] = {
    {.name = "run", .kind = AE_OPTION_LIST, .argument = "N", .help = "only these runs",
     .offset = offsetof(struct values, runs)},
    {.name = "out", .letter = 'o', .kind = AE_OPTION_STRING, .argument = "FILE", .help = "write there instead of to standard output",
     .offset = offsetof(struct values, out)},
    {0},
};

static int write_archive(const struct values *values, const int64_t *runs, struct ae_error *err)
{
    struct ae_store *store = NULL;
    struct ae_archive_counts counts = {0};
    if (!values->out && ae_terminal_is(stdout))
        return ae_error_set(err, AE_E_USAGE, "an archive is nothing for a terminal; name a file with --out");
    int rc = ae_cli_results(&store, err);
    struct ae_new_file file = {.stream = stdout};
    if (rc == AE_OK && values->out)
        rc = ae_new_file_begin(&file, values->out, err);
    if (rc == AE_OK) {
        rc = ae_archive_write(store, runs, values->runs.count, AE_VERSION, file.stream, &counts, err);
        if (values->out)
            rc = ae_new_file_end(&file, rc, err);
    }
    char readings[64] = "";
    if (rc == AE_OK && counts.readings > 0)
        snprintf(readings, sizeof readings, ", %zu reading%s by models", counts.readings, counts.readings == 1 ? "" : "s");
    if (rc == AE_OK && values->out)
        printf("%s: %zu measurement%s of %zu run%s, %zu source%s, %zu environment%s%s\n", values->out, counts.measurements,
               counts.measurements == 1 ? "" : "s", counts.runs, counts.runs == 1 ? "" : "s", counts.submissions,
               counts.submissions == 1 ? "" : "s", counts.environments, counts.environments == 1 ? "" : "s", readings);
    ae_store_close(store);
    return rc;
}

int ae_cmd_export(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_error err = {0};
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    int rc = AE_OK;
    ae_autofree int64_t *runs = calloc(values.runs.count + 1, sizeof *runs);
    if (!runs)
        rc = ae_error_set(&err, AE_E_NOMEM, "no memory for a list of runs");
    for (size_t i = 0; rc == AE_OK && i < values.runs.count; i++)
        if (!ae_text_to_i64(values.runs.items[i], 1, INT64_MAX, &runs[i]))
            rc = ae_error_set(&err, AE_E_USAGE, "--run: '%.40s' is no number of a run", values.runs.items[i]);
    if (rc == AE_OK)
        rc = write_archive(&values, runs, &err);
    ae_options_release(ae_export_options, &values);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
