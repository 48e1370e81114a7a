/* acceleval strategies: the table of verbs; list and show */
#include "cli/strategies.h"

#include "base/json.h"
#include "strategy/ladder.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"text", "json", "md", NULL};

const struct ae_option ae_strategies_options[] = {
    {.name = "format",
     .letter = 'f',
     .kind = AE_OPTION_CHOICE,
     .choices = formats,
     .help = "format of the output; md: export alone",
     .offset = offsetof(struct ae_strategies_values, format)},
    {.name = "json",
     .kind = AE_OPTION_FLAG,
     .help = "as --format json",
     .offset = offsetof(struct ae_strategies_values, json)},
    {.name = "task",
     .letter = 't',
     .kind = AE_OPTION_TASK,
     .one = true,
     .help = "the task that the source solves, whose reference then counts as evidence; default: by its name",
     .verbs = "find,diff,recommend,read",
     .offset = offsetof(struct ae_strategies_values, tasks)},
    {.name = "source",
     .letter = 's',
     .kind = AE_OPTION_FLAG,
     .help = "the whole source, marked line by line",
     .verbs = "find",
     .offset = offsetof(struct ae_strategies_values, source)},
    {.name = "binary",
     .letter = 'b',
     .kind = AE_OPTION_FLAG,
     .help = "compile the source and look into its machine code too (needs nvcc and cuobjdump)",
     .verbs = "find",
     .offset = offsetof(struct ae_strategies_values, binary)},
    {.name = "profile",
     .letter = 'p',
     .kind = AE_OPTION_STRING,
     .argument = "FILE",
     .help = "what 'acceleval profile --json' wrote, as evidence from the run; default: what the store keeps of "
             "'eval --profile'",
     .verbs = "find",
     .offset = offsetof(struct ae_strategies_values, profile)},
    {.name = "size",
     .kind = AE_OPTION_SIZE,
     .help = "results of these sizes",
     .verbs = "attribute,recommend",
     .fallback = "small,medium,large",
     .offset = offsetof(struct ae_strategies_values, sizes)},
    {.name = "arch",
     .kind = AE_OPTION_STRING,
     .argument = "sm_NN",
     .help = "with --binary: architecture to compile for [sm_90]",
     .verbs = "find",
     .offset = offsetof(struct ae_strategies_values, arch)},
    {.name = "evaluate",
     .kind = AE_OPTION_FLAG,
     .help = "how good recommendations are, each task left out in turn",
     .verbs = "recommend",
     .offset = offsetof(struct ae_strategies_values, evaluate)},
    {.name = "recipe",
     .kind = AE_OPTION_STRING,
     .argument = "FILE",
     .help = "write the first strategies in words, for 'prompt --with-recipe'",
     .verbs = "recommend",
     .offset = offsetof(struct ae_strategies_values, recipe)},
    {.name = "model",
     .letter = 'm',
     .kind = AE_OPTION_STRING,
     .argument = "NAME",
     .help = "the model of models.yaml that reads, or whose readings count",
     .verbs = "read,agreement",
     .offset = offsetof(struct ae_strategies_values, model)},
    {.name = "models",
     .kind = AE_OPTION_STRING,
     .argument = "FILE",
     .env = "ACCELEVAL_MODELS",
     .fallback = "models.yaml",
     .help = "the file that describes models",
     .verbs = "read",
     .offset = offsetof(struct ae_strategies_values, models_path)},
    {.name = "max-cost",
     .kind = AE_OPTION_STRING,
     .argument = "AMOUNT",
     .help = "stop before this much is spent, in the unit of the prices of models.yaml",
     .verbs = "read",
     .offset = offsetof(struct ae_strategies_values, max_cost)},
    {.name = "blind",
     .kind = AE_OPTION_FLAG,
     .help = "do not tell the model what the search found",
     .verbs = "read",
     .offset = offsetof(struct ae_strategies_values, blind)},
    {0},
};

static const struct ae_strategies_verb verbs[] = {
    {"list", "list", 0, 0, ae_strategies_list},
    {"show", "show ID", 1, 1, ae_strategies_show},
    {"find", "find SOURCE...", 1, SIZE_MAX, ae_strategies_find},
    {"diff", "diff A B", 2, 2, ae_strategies_diff},
    {"export", "export", 0, 0, ae_strategies_export},
    {"attribute", "attribute", 0, 0, ae_strategies_attribute},
    {"read", "read --model M SOURCE...", 1, SIZE_MAX, ae_strategies_read},
    {"agreement", "agreement", 0, 0, ae_strategies_agreement},
    {"recommend", "recommend [TASK|SOURCE.c]", 0, 1, ae_strategies_recommend},
};

/* Folds --json into --format. */
static int check_options(const struct ae_command *self, struct ae_strategies_values *values, uint64_t given,
                         const char *verb, struct ae_error *err)
{
    const int rc = ae_options_check_verb(self, given, verb, err);
    if (rc != AE_OK)
        return rc;
    if (values->json && values->format != AE_STRATEGIES_JSON && ae_option_given(self->options, given, "format"))
        return ae_error_set(err, AE_E_USAGE, "--json and --format %s are two formats", formats[values->format]);
    if (values->json)
        values->format = AE_STRATEGIES_JSON;
    if (values->format == AE_STRATEGIES_MD && strcmp(verb, "export") != 0)
        return ae_error_set(err, AE_E_USAGE, "'strategies %s' has no Markdown: 'export' alone has", verb);
    if (values->arch && !values->binary)
        return ae_error_set(err, AE_E_USAGE, "--arch is what --binary compiles for: give that too");
    if (values->source && values->format == AE_STRATEGIES_JSON)
        ae_cli_note("--source changes nothing: JSON names the lines of each finding");
    return AE_OK;
}

int ae_cmd_strategies(const struct ae_command *self, int argc, char **argv)
{
    struct ae_strategies_values values = {0};
    struct ae_list rest = {0};
    struct ae_error err = {0};
    uint64_t given = 0;
    int status = ae_cli_parse_given(self, argc, argv, &values, &rest, &given);
    if (status >= 0)
        return status;
    const char *name = rest.count ? rest.items[0] : "list";
    const struct ae_strategies_verb *verb = NULL;
    char all[512] = "";
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
        if (strcmp(verbs[v].name, name) == 0)
            verb = &verbs[v];
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s'%s'", v ? ", " : "", verbs[v].usage);
    }
    struct ae_list operands = {.items = rest.items + (rest.count ? 1 : 0), .count = rest.count ? rest.count - 1 : 0};
    if (!verb || operands.count < verb->least || operands.count > verb->most) {
        ae_error_set(&err, AE_E_USAGE, "strategies takes %s", all);
        status = ae_cli_fail(&err);
    } else if (check_options(self, &values, given, verb->name, &err) != AE_OK) {
        status = ae_cli_fail(&err);
    } else {
        status = verb->run(&values, &operands);
    }
    ae_list_release(&rest);
    ae_options_release(ae_strategies_options, &values);
    return status;
}

static void evidence_text(unsigned mask, char *text, size_t size)
{
    static const enum ae_evidence all[] = {AE_EVIDENCE_SOURCE, AE_EVIDENCE_BINARY, AE_EVIDENCE_RUN,
                                           AE_EVIDENCE_READING};
    text[0] = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (mask & all[i])
            snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] ? ", " : "", ae_evidence_name(all[i]));
}

static json_t *strategy_json(const struct ae_strategy *s)
{
    static const enum ae_evidence all[] = {AE_EVIDENCE_SOURCE, AE_EVIDENCE_BINARY, AE_EVIDENCE_RUN,
                                           AE_EVIDENCE_READING};
    json_t *evidence = json_array();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (s->evidence & all[i])
            json_array_append_new(evidence, json_string(ae_evidence_name(all[i])));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s}", "id", s->id, "name", s->name, "class",
                     ae_class_name(s->class), "kind", ae_kind_name(s->kind), "evidence", evidence, "definition",
                     s->definition, "pays", s->pays, "not", s->is_not);
}

int ae_strategies_list(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    (void)operands;
    if (values->format == AE_STRATEGIES_JSON) {
        json_t *array = json_array();
        for (int i = 0; i < AE_STRATEGY_COUNT; i++)
            json_array_append_new(array, strategy_json(&ae_strategies[i]));
        return ae_cli_print_json(json_pack("{s:i, s:s, s:o}", "schema", 1, "tool_version", AE_VERSION, "strategies",
                                           array));
    }
    for (int i = 0; i < AE_STRATEGY_COUNT; i++) {
        const struct ae_strategy *s = &ae_strategies[i];
        char evidence[64];
        if (i == 0 || ae_strategies[i - 1].class != s->class)
            printf("%s%s\n", i ? "\n" : "", ae_class_name(s->class));
        evidence_text(s->evidence, evidence, sizeof evidence);
        printf("  %s  %-40s %-11s %s\n", s->id, s->name, ae_kind_name(s->kind), evidence);
    }
    return AE_EXIT_OK;
}

static bool is_measured(const struct ae_gains *gains, size_t count, const struct ae_step *step)
{
    for (size_t i = 0; i < count; i++)
        if (gains->items[i].step == step)
            return true;
    return false;
}

/* Those of steps that *to has no gain of; without memory, none. */
static void add_missing(struct ae_gains *to, const struct ae_gains *from)
{
    const size_t own = to->count;
    struct ae_gain *more = from->count ? realloc(to->items, (own + from->count) * sizeof *more) : NULL;
    if (!more)
        return;
    to->items = more;
    for (size_t i = 0; i < from->count; i++)
        if (!is_measured(to, own, from->items[i].step))
            to->items[to->count++] = from->items[i];
}

void ae_strategies_gains(const struct ae_ladder *ladder, const char *tasks, struct ae_gains *ret)
{
    struct ae_store *store = NULL;
    struct ae_gains ours = {0};
    struct ae_error ignored;
    char results[4300];
    *ret = (struct ae_gains){0};
    if (ae_store_open(&store, NULL, AE_STORE_READ, &ignored) == AE_OK &&
        ae_gains_read(ladder, store, ret, &ignored) != AE_OK)
        *ret = (struct ae_gains){0};
    ae_store_close(store);
    snprintf(results, sizeof results, "%s/../docs/results", tasks);
    if (ae_gains_read_archives(ladder, results, &ours, &ignored) == AE_OK)
        add_missing(ret, &ours);
    ae_gains_release(&ours);
}

/* Where it paid and where not: the geometric mean of the gains of steps of it alone, how many are losses, and how many
 * gains it shares with others. */
struct sum {
    size_t count, losses, together;
    double logs;
};

static struct sum sum_of(const struct ae_gains *gains, int id)
{
    struct sum sum = {0};
    for (size_t g = 0; g < gains->count; g++) {
        const struct ae_gain *gain = &gains->items[g];
        if (!ae_step_has(gain->step, (enum ae_strategy_id)id))
            continue;
        if (gain->step->strategy_count > 1) {
            sum.together++;
            continue;
        }
        const double ratio = log(gain->before_ns / gain->after_ns);
        sum.count++;
        sum.logs += ratio;
        sum.losses += ratio < -log(1.02); /* beyond the noise of a measurement */
    }
    return sum;
}

/* The other strategies that a step changes: "C12, P05"; "" where it changes this one alone. */
static const char *others(const struct ae_step *step, int id, char text[AE_STEP_STRATEGIES_TEXT])
{
    size_t n = 0;
    text[0] = 0;
    for (int i = 0; i < step->strategy_count; i++)
        if ((int)step->strategies[i] != id)
            n += (size_t)snprintf(text + n, AE_STEP_STRATEGIES_TEXT - n, "%s%s", n ? ", " : "",
                                  ae_strategies[step->strategies[i]].id);
    return text;
}

static json_t *examples_json(const struct ae_ladder *ladder, const struct ae_gains *gains, int id)
{
    json_t *examples = json_array();
    for (size_t i = 0; i < ladder->count; i++) {
        const struct ae_step *step = &ladder->steps[i];
        if (!ae_step_has(step, (enum ae_strategy_id)id))
            continue;
        json_t *measured = json_array(), *together = json_array();
        for (int k = 0; k < step->strategy_count; k++)
            if ((int)step->strategies[k] != id)
                json_array_append_new(together, json_string(ae_strategies[step->strategies[k]].id));
        for (size_t g = 0; g < gains->count; g++)
            if (gains->items[g].step == step)
                json_array_append_new(measured, json_pack("{s:o, s:s, s:f, s:f, s:f}", "machine",
                                                          ae_json_text(gains->items[g].environment_name), "size",
                                                          ae_size_name(gains->items[g].size), "before_ms",
                                                          gains->items[g].before_ns * 1e-6, "after_ms",
                                                          gains->items[g].after_ns * 1e-6, "gain",
                                                          gains->items[g].before_ns / gains->items[g].after_ns));
        json_array_append_new(examples,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "task", step->task->id, "file",
                                        ae_json_text(step->file), "on", ae_json_text(step->parent), "together_with",
                                        together, "remark", ae_json_text(step->remark), "measured", measured));
    }
    return examples;
}

static void print_examples(const struct ae_ladder *ladder, const struct ae_gains *gains, int id)
{
    size_t shown = 0, measured = 0;
    for (size_t i = 0; i < ladder->count; i++) {
        const struct ae_step *step = &ladder->steps[i];
        char with[AE_STEP_STRATEGIES_TEXT];
        if (!ae_step_has(step, (enum ae_strategy_id)id))
            continue;
        printf("%s  %s: %s on %s%s%s\n", shown++ ? "" : "\nIn our ladders\n", step->task->id, step->file, step->parent,
               step->strategy_count > 1 ? ", together with " : "", others(step, id, with));
        ae_autofree char *remark = ae_cli_printable_line(step->remark);
        if (remark && remark[0])
            printf("    %s\n", remark);
        for (size_t g = 0; g < gains->count; g++) {
            const struct ae_gain *gain = &gains->items[g];
            if (gain->step != step)
                continue;
            ae_autofree char *machine = ae_cli_printable_line(gain->environment_name);
            printf("    %-7s %10.3f ms -> %10.3f ms %8.2fx  (%s)\n", ae_size_name(gain->size), gain->before_ns * 1e-6,
                   gain->after_ns * 1e-6, gain->before_ns / gain->after_ns, machine ? machine : "");
            measured++;
        }
    }
    if (shown == 0)
        printf("\nNo ladder of ours has a step of this strategy.\n");
    else if (measured == 0)
        printf("    not measured in this form\n");
}

/* Text of hostile names never gets here but for the machine's, which is printed as code. */
static void print_page(const struct ae_ladder *ladder, const struct ae_gains *gains)
{
    printf("# Strategies: where each paid\n\n"
           "Made by `acceleval strategies export --format md` from the ladders in `tasks/*/steps/` and their measurements in\n"
           "`docs/results/ladders*.archive`. A step changes one strategy; its gain is the median time of the whole call before over\n"
           "that after, host pointer to host result, on the machine named. Where a step changes several strategies its gain is that of\n"
           "all together: it stands with each, but counts in no mean. What paid in one task need not pay in another.\n\n"
           "| strategy | kind | steps measured | gain (geometric mean) | slower | together with others |\n"
           "| --- | --- | ---: | ---: | ---: | ---: |\n");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        const struct sum sum = sum_of(gains, id);
        if (sum.count)
            printf("| [%s](#%s) %s | %s | %zu | %.2fx | %zu | %zu |\n", ae_strategies[id].id, ae_strategies[id].id,
                   ae_strategies[id].name, ae_kind_name(ae_strategies[id].kind), sum.count, exp(sum.logs / (double)sum.count),
                   sum.losses, sum.together);
        else
            printf("| [%s](#%s) %s | %s | 0 | | | %zu |\n", ae_strategies[id].id, ae_strategies[id].id, ae_strategies[id].name,
                   ae_kind_name(ae_strategies[id].kind), sum.together);
    }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        const struct ae_strategy *s = &ae_strategies[id];
        bool table = false;
        printf("\n<a id=\"%s\"></a>\n\n## %s %s\n\n%s\n\n- It pays %s\n- It is not %s\n", s->id, s->id, s->name, s->definition,
               s->pays, s->is_not);
        for (size_t i = 0; i < ladder->count; i++) {
            const struct ae_step *step = &ladder->steps[i];
            char with[AE_STEP_STRATEGIES_TEXT];
            if (!ae_step_has(step, (enum ae_strategy_id)id))
                continue;
            for (size_t g = 0; g < gains->count; g++) {
                const struct ae_gain *gain = &gains->items[g];
                if (gain->step != step)
                    continue;
                if (!table)
                    printf("\n| task | step | on | together with | size | before | after | gain |\n"
                           "| --- | --- | --- | --- | --- | ---: | ---: | ---: |\n");
                table = true;
                printf("| %s | `%s` | `%s` | %s | %s | %.3f ms | %.3f ms | %.2fx |\n", step->task->id, step->file, step->parent,
                       others(step, id, with), ae_size_name(gain->size), gain->before_ns * 1e-6, gain->after_ns * 1e-6,
                       gain->before_ns / gain->after_ns);
            }
        }
        if (!table)
            printf("\nNo measured step of a ladder.\n");
    }
}

int ae_strategies_export(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    struct ae_ladder ladder = {0};
    struct ae_gains gains = {0};
    char tasks[4096];
    (void)operands;
    int rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK)
        rc = ae_ladder_read(tasks, &ladder, &err);
    if (rc != AE_OK)
        return ae_cli_fail(&err);
    ae_strategies_gains(&ladder, tasks, &gains);
    int status = AE_EXIT_OK;
    if (values->format == AE_STRATEGIES_JSON) {
        json_t *array = json_array();
        for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
            json_t *json = strategy_json(&ae_strategies[id]);
            json_object_set_new(json, "examples", examples_json(&ladder, &gains, id));
            json_array_append_new(array, json);
        }
        status = ae_cli_print_json(
            json_pack("{s:i, s:s, s:o}", "schema", 1, "tool_version", AE_VERSION, "strategies", array));
    } else {
        print_page(&ladder, &gains);
    }
    ae_gains_release(&gains);
    ae_ladder_release(&ladder);
    return status;
}

int ae_strategies_show(const struct ae_strategies_values *values, const struct ae_list *operands)
{
    struct ae_error err = {0};
    struct ae_ladder ladder = {0};
    struct ae_gains gains = {0};
    char tasks[4096], evidence[64];
    const int id = ae_strategy_by_id(operands->items[0], &err);
    if (id < 0)
        return ae_cli_fail(&err);
    if (ae_context_find_tasks(tasks, sizeof tasks, &err) == AE_OK && ae_ladder_read(tasks, &ladder, &err) == AE_OK)
        ae_strategies_gains(&ladder, tasks, &gains);
    const struct ae_strategy *s = &ae_strategies[id];
    int status = AE_EXIT_OK;
    if (values->format == AE_STRATEGIES_JSON) {
        json_t *json = strategy_json(s);
        json_object_set_new(json, "schema", json_integer(1));
        json_object_set_new(json, "tool_version", json_string(AE_VERSION));
        json_object_set_new(json, "examples", examples_json(&ladder, &gains, id));
        status = ae_cli_print_json(json);
    } else {
        evidence_text(s->evidence, evidence, sizeof evidence);
        printf("%s  %s\n\nclass      %s\nkind       %s\nevidence   %s\n\n%s\n\nIt pays    %s\nIt is not  %s\n", s->id,
               s->name, ae_class_name(s->class), ae_kind_name(s->kind), evidence, s->definition, s->pays, s->is_not);
        print_examples(&ladder, &gains, id);
    }
    ae_gains_release(&gains);
    ae_ladder_release(&ladder);
    return status;
}
