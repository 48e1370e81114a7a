/* acceleval answers: what models were asked, what came of it and what it cost; repaired answers apart. */
#include "cli/cli.h"

#include "base/json.h"
#include "base/utf8.h"
#include "store/generation.h"

#include <jansson.h>
#include <string.h>

struct values {
    const char *entrant;
    bool json;
};

const struct ae_option ae_answers_options[] = {
    {.name = "entrant", .letter = 'e', .kind = AE_OPTION_STRING, .argument = "ENTRANT", .help = "only this entrant",
     .offset = offsetof(struct values, entrant)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

struct listing {
    json_t *json; /* NULL: print */
    int rows;
};

static int show(void *data, const struct ae_answer_totals *t)
{
    struct listing *l = data;
    char entrant[80];
    (void)ae_utf8_printable(t->entrant, entrant, sizeof entrant, 64);
    if (l->json) {
        char model[65];
        snprintf(model, sizeof model, "%s", t->model);
        json_t *row = json_pack("{s:o, s:o}", "entrant", ae_json_text(t->entrant), "model", ae_json_text(model));
        const struct {
            const char *name;
            int64_t value;
        } counts[] = {{"wanted", t->wanted},
                      {"answered", t->answered},
                      {"empty", t->empty},
                      {"refused", t->refused},
                      {"failed", t->failed},
                      {"open", t->open},
                      {"no_program", t->no_program},
                      {"repaired", t->repaired},
                      {"passed", t->passed},
                      {"passed_repaired", t->passed_repaired},
                      {"attempts", t->attempts},
                      {"input_tokens", t->input_tokens},
                      {"output_tokens", t->output_tokens},
                      {"reasoning_tokens", t->reasoning_tokens},
                      {"cost_unknown", t->cost_unknown}};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            json_object_set_new(row, counts[i].name, json_integer(counts[i].value));
        json_object_set_new(row, "cost", json_real(t->cost));
        json_array_append_new(l->json, row);
        l->rows++;
        return 0;
    }
    ae_autofree char *shown = ae_cli_printable_line(entrant);
    if (l->rows++ == 0)
        printf("%-36s %7s %8s %7s %6s %6s %10s %8s %8s %9s %11s %11s %10s\n", "entrant", "wanted", "answered",
               "refused", "empty", "failed", "no_program", "repaired", "passed", "repaired", "in_tokens", "out_tokens",
               "cost");
    printf("%-36s %7lld %8lld %7lld %6lld %6lld %10lld %8lld %8lld %9lld %11lld %11lld %9.4g%s\n", shown ? shown : "",
           (long long)t->wanted, (long long)t->answered, (long long)t->refused, (long long)t->empty,
           (long long)(t->failed + t->open), (long long)t->no_program, (long long)t->repaired, (long long)t->passed,
           (long long)t->passed_repaired, (long long)t->input_tokens, (long long)t->output_tokens, t->cost,
           t->cost_unknown ? "+" : "");
    return 0;
}

int ae_cmd_answers(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_store *store = NULL;
    struct ae_error err = {0};
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    struct listing listing = {.json = values.json ? json_array() : NULL};
    int rc = ae_cli_results(&store, &err);
    if (rc == AE_OK)
        rc = ae_store_answer_totals(store, values.entrant, show, &listing, &err);
    if (rc == AE_OK && listing.rows == 0)
        rc = ae_error_set(&err, values.entrant ? AE_E_NOTFOUND : AE_E_ENV,
                          "there are no answers of models%s yet; 'acceleval generate' makes some",
                          values.entrant ? " of that entrant" : "");
    ae_store_close(store);
    ae_options_release(ae_answers_options, &values);
    if (rc != AE_OK) {
        json_decref(listing.json);
        return ae_cli_fail(&err);
    }
    if (values.json)
        return ae_cli_print_json(json_pack("{s:i, s:o}", "schema", 1, "answers", listing.json));
    printf(
        "\n  failed    also those not settled yet: the same call of generate goes on with them\n"
        "  repaired  the program was found by closing a fence, without one, or by decoding entities; then: passed so\n"
        "  cost      in the unit of the prices; +: some attempts may have been billed without saying how much\n");
    return AE_EXIT_OK;
}
