/* acceleval transfer: told in words what a winner does, can a model do it? From results in the store: the winner, the
 * model alone, the model with the recipe, and, so that a longer prompt is not taken for a better one, the model with as
 * many words that say nothing. */
#include "cli/cli.h"

#include "base/text.h"
#include "stats/stats.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPLICATED 0.7 /* of the winner's speedup: published threshold */

struct values {
    const char *winner, *plain, *recipe, *control;
    unsigned sizes;
    bool json;
};

const struct ae_option ae_transfer_options[] = {
    {.name = "winner",
     .kind = AE_OPTION_STRING,
     .argument = "ENTRANT",
     .help = "whose strategy was told",
     .offset = offsetof(struct values, winner)},
    {.name = "plain",
     .kind = AE_OPTION_STRING,
     .argument = "ENTRANT",
     .help = "the model alone (stage 1)",
     .offset = offsetof(struct values, plain)},
    {.name = "recipe",
     .kind = AE_OPTION_STRING,
     .argument = "ENTRANT",
     .help = "the model with the recipe (stage 2)",
     .offset = offsetof(struct values, recipe)},
    {.name = "control",
     .kind = AE_OPTION_STRING,
     .argument = "ENTRANT",
     .help = "the model with the length-matched control",
     .offset = offsetof(struct values, control)},
    {.name = "size",
     .letter = 's',
     .kind = AE_OPTION_SIZE,
     .one = true,
     .help = "size",
     .fallback = "small",
     .offset = offsetof(struct values, sizes)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

enum stage { WINNER, PLAIN, RECIPE, CONTROL, STAGES };

struct row {
    char task[64];
    double s[STAGES];   /* of the best right sample; NaN: none right */
    int samples[STAGES];
};

struct table {
    const char *entrants[STAGES];
    bool seen[STAGES];
    char environment[65];
    struct row *rows;
    size_t count;
    bool mixed, no_memory;
};

static struct row *row_of(struct table *table, const char *task)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].task, task) == 0)
            return &table->rows[i];
    struct row *grown = realloc(table->rows, (table->count + 1) * sizeof *grown);
    if (!grown) {
        table->no_memory = true;
        return NULL;
    }
    table->rows = grown;
    struct row *row = &grown[table->count++];
    *row = (struct row){.s = {NAN, NAN, NAN, NAN}};
    snprintf(row->task, sizeof row->task, "%s", task);
    return row;
}

static int take(void *data, const struct ae_stored *stored)
{
    struct table *table = data;
    const struct ae_measurement *m = &stored->measurement;
    for (int stage = 0; stage < STAGES; stage++) {
        if (!table->entrants[stage] || strcmp(m->entrant, table->entrants[stage]) != 0)
            continue;
        table->seen[stage] = true;
        /* nothing is compared across machines: the first environment that occurs is the one */
        if (!table->environment[0])
            snprintf(table->environment, sizeof table->environment, "%s", stored->environment);
        if (strcmp(table->environment, stored->environment) != 0) {
            table->mixed = true;
            return 0;
        }
        struct row *row = row_of(table, stored->task);
        if (!row)
            return AE_E_NOMEM;
        row->samples[stage]++;
        if (m->verdict != AE_PASS)
            continue;
        struct ae_speedup speedup;
        ae_cli_speedup(m, &speedup);
        if (isfinite(speedup.s) && !(speedup.s <= row->s[stage]))
            row->s[stage] = speedup.s;
    }
    return 0;
}

static const char *finding(const struct row *row)
{
    const double winner = row->s[WINNER];
    if (!isfinite(winner) || row->samples[PLAIN] == 0 || row->samples[RECIPE] == 0)
        return "not measured";
    if (row->s[PLAIN] >= REPLICATED * winner)
        return "no gap";
    if (row->s[RECIPE] >= REPLICATED * winner)
        return row->s[CONTROL] >= REPLICATED * winner ? "unclear: control too" : "discovery gap";
    return "implementation gap";
}

static int print(const struct table *table, bool as_json)
{
    double *ratios = calloc(table->count + 1, sizeof *ratios);
    size_t ratio_count = 0, discovery = 0, implementation = 0, compared = 0;
    json_t *rows = json_array();
    if (!as_json)
        printf("%-34s %10s %10s %10s %10s %12s  finding\n", "task", "winner", "plain", "recipe", "control",
               "replication");
    for (size_t i = 0; ratios && i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const char *what = finding(row);
        const double ratio = row->s[RECIPE] / row->s[WINNER];
        if (strcmp(what, "not measured") != 0) {
            compared++;
            discovery += strcmp(what, "discovery gap") == 0;
            implementation += strcmp(what, "implementation gap") == 0;
            if (isfinite(ratio) && ratio > 0)
                ratios[ratio_count++] = ratio;
        }
        json_t *json = json_pack("{s:s, s:s}", "task", row->task, "finding", what);
        static const char *const names[STAGES] = {"winner", "plain", "recipe", "control"};
        for (int s = 0; s < STAGES; s++)
            json_object_set_new(json, names[s], isfinite(row->s[s]) ? json_real(row->s[s]) : json_null());
        json_object_set_new(json, "replication", isfinite(ratio) ? json_real(ratio) : json_null());
        json_array_append_new(rows, json);
        if (!as_json) {
            printf("%-34s", row->task);
            for (int s = 0; s < STAGES; s++)
                isfinite(row->s[s]) ? printf(" %9.2fx", row->s[s])
                                    : printf(" %10s", row->samples[s] ? "none right" : "-");
            isfinite(ratio) ? printf(" %12.2f", ratio) : printf(" %12s", "-");
            printf("  %s\n", what);
        }
    }
    const double mean = ratios ? ae_geometric_mean(ratios, ratio_count) : NAN;
    free(ratios);
    if (as_json) {
        json_t *json = json_pack("{s:i, s:f, s:I, s:I, s:I, s:o, s:o}", "schema", 1, "threshold", REPLICATED,
                                 "compared", (json_int_t)compared, "discovery_gaps", (json_int_t)discovery,
                                 "implementation_gaps", (json_int_t)implementation, "replication",
                                 isfinite(mean) ? json_real(mean) : json_null(), "tasks", rows);
        return ae_cli_print_json(json);
    }
    json_decref(rows);
    printf("\n%zu %s compared: %zu discovery %s (told, it reaches %g of the winner), %zu implementation %s", compared,
           ae_text_plural((int64_t)compared, "task", "tasks"), discovery,
           ae_text_plural((int64_t)discovery, "gap", "gaps"), REPLICATED, implementation,
           ae_text_plural((int64_t)implementation, "gap", "gaps"));
    if (isfinite(mean))
        printf("; replication ratio %.2f where right (geometric mean of %zu)", mean, ratio_count);
    printf("\n");
    if (table->mixed)
        printf("results of other machines were left out\n");
    return AE_EXIT_OK;
}

int ae_cmd_transfer(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_store *store = NULL;
    struct table table = {0};
    struct ae_error err = {0};
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    int rc = values.winner && values.plain && values.recipe
                 ? AE_OK
                 : ae_error_set(&err, AE_E_USAGE, "transfer compares --winner, --plain and --recipe (and --control)");
    if (rc == AE_OK)
        rc = ae_cli_results(&store, &err);
    if (rc == AE_OK) {
        const struct ae_measurement_filter filter = {
            .sizes = values.sizes, .latest = true, .trials = 1u << AE_TRIAL_TIMED};
        table.entrants[WINNER] = values.winner;
        table.entrants[PLAIN] = values.plain;
        table.entrants[RECIPE] = values.recipe;
        table.entrants[CONTROL] = values.control;
        rc = ae_store_measurements(store, &filter, take, &table, &err);
    }
    if (rc == AE_OK && table.count == 0)
        rc = ae_error_set(&err, AE_E_NOTFOUND, "none of these entrants has results at this size: 'acceleval eval' and "
                          "'acceleval run' make some");
    for (int stage = 0; rc == AE_OK && stage < STAGES; stage++) /* a name mistyped, or a stage to come: no finding either way */
        if (table.entrants[stage] && !table.seen[stage])
            rc = ae_error_set(&err, AE_E_NOTFOUND, "nothing has been measured of %s at this size: 'acceleval report' shows what has",
                              table.entrants[stage]);
    int status = rc == AE_OK ? print(&table, values.json) : ae_cli_fail(&err);
    free(table.rows);
    ae_store_close(store);
    ae_options_release(ae_transfer_options, &values);
    return status;
}
