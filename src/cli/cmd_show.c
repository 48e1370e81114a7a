/* acceleval show */
#include "cli/cli.h"

#include "run/bank.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct values {
    bool reference, statement, hints, stub, json;
    int language;
};

enum language { CUDA, C, CPP };
static const char *const languages[] = {"cuda", "c", "cpp", NULL};

const struct ae_option ae_show_options[] = {
    {.name = "reference", .letter = 'r', .kind = AE_OPTION_FLAG, .help = "the CPU reference",
     .offset = offsetof(struct values, reference)},
    {.name = "statement", .letter = 's', .kind = AE_OPTION_FLAG, .help = "the statement",
     .offset = offsetof(struct values, statement)},
    {.name = "hints", .kind = AE_OPTION_FLAG, .help = "the hints", .offset = offsetof(struct values, hints)},
    {.name = "stub", .kind = AE_OPTION_FLAG, .help = "a source file to start from",
     .offset = offsetof(struct values, stub)},
    {.name = "language", .kind = AE_OPTION_CHOICE, .choices = languages, .help = "language of the stub",
     .offset = offsetof(struct values, language)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

static const char *const roles[] = {"scalar", "in", "out", "inout"};
static const char *const rules[] = {"", "exact", "close", "scaled", "property"};

static void print_rule(const struct ae_arg *arg)
{
    switch (arg->rule.kind) {
    case AE_EXACT:
        printf("  %s: equal, element by element\n", arg->name);
        break;
    case AE_CLOSE:
        printf("  %s: |got - expected| <= %g + %g * |expected|\n", arg->name, arg->rule.atol, arg->rule.rtol);
        break;
    case AE_SCALED:
        printf("  %s: |got - expected| <= a tolerance of each element + %g * |expected|\n", arg->name,
               arg->rule.rtol);
        break;
    default:
        printf("  %s: a property is checked\n", arg->name);
        break;
    }
    printf("      %s\n", arg->rule.reason);
    if (arg->rule.atol_reason)
        printf("      %s\n", arg->rule.atol_reason);
}

/* What an instance of the size costs: from a made one, since only the generator knows. */
static void print_work(const struct ae_task *task, enum ae_size size)
{
    struct ae_instance inst;
    struct ae_work work;
    struct ae_error err;
    if (ae_instance_make(&inst, task, size, 0, 1, &err) == AE_OK) {
        ae_instance_work(&inst, &work);
        printf("      %.3g MB to the device, %.3g MB back, %.3g operations, %.3g dependent steps\n",
               work.bytes_in * 1e-6, work.bytes_out * 1e-6, work.operations, work.steps);
    }
    ae_instance_release(&inst);
}

static void print_task(const struct ae_task *task)
{
    ae_autofree char *prototype = ae_task_prototype(task);
    printf("%s: %s\n\ndomain   %s\nlineage  %s\nversion  %d\n\n%s;\n\n", task->id, task->title,
           ae_domain_name(task->domain), task->lineage, task->version, prototype ? prototype : "");
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        printf("  %-18s %-7s %-6s %-20s %s%s%s%s\n", arg->name, ae_type_name(arg->type), roles[arg->role],
               arg->shape ? arg->shape : "", arg->meaning, arg->unit ? " [" : "", arg->unit ? arg->unit : "",
               arg->unit ? "]" : "");
    }
    printf("\nsizes\n");
    for (int s = 0; s < AE_SIZE_COUNT; s++) {
        printf("  %-7s", ae_size_name((enum ae_size)s));
        for (int p = 0; p < ae_task_param_count(task); p++)
            printf(" %s=%lld", task->params[p], (long long)task->sizes[s].param[p]);
        printf("%s%s\n", task->sizes[s].not_as_published ? "  (not as published) " : "",
               task->sizes[s].note ? task->sizes[s].note : "");
        print_work(task, (enum ae_size)s);
    }
    printf("\nfamilies of inputs (the first is timed, the others are judged only)\n");
    for (int f = 0; f < ae_task_family_count(task); f++)
        printf("  %-14s %s\n", task->families[f].name, task->families[f].meaning);
    printf("\ntolerance card\n");
    for (int i = 0; i < task->arg_count; i++)
        if (ae_arg_is_output(&task->args[i]))
            print_rule(&task->args[i]);
    printf("  published: atol %g, rtol %g%s%s\n", task->published_atol, task->published_rtol,
           task->published_note ? "; " : "", task->published_note ? task->published_note : "");
}

static json_t *task_json(const struct ae_task *task)
{
    ae_autofree char *prototype = ae_task_prototype(task);
    json_t *args = json_array(), *families = json_array(), *sizes = json_object();
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        json_t *json = json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s}", "name", arg->name, "type", ae_type_name(arg->type),
                                 "role", roles[arg->role], "shape", arg->shape, "unit", arg->unit, "meaning",
                                 arg->meaning);
        if (ae_arg_is_output(arg))
            json_object_set_new(json, "rule",
                                json_pack("{s:s, s:f, s:f, s:s}", "kind", rules[arg->rule.kind], "atol",
                                          arg->rule.atol, "rtol", arg->rule.rtol, "reason", arg->rule.reason));
        json_array_append_new(args, json);
    }
    for (int f = 0; f < ae_task_family_count(task); f++)
        json_array_append_new(families, json_pack("{s:s, s:s, s:b}", "name", task->families[f].name, "meaning",
                                                  task->families[f].meaning, "timed", f == 0));
    for (int s = 0; s < AE_SIZE_COUNT; s++) {
        json_t *params = json_object();
        for (int p = 0; p < ae_task_param_count(task); p++)
            json_object_set_new(params, task->params[p], json_integer(task->sizes[s].param[p]));
        json_object_set_new(sizes, ae_size_name((enum ae_size)s),
                            json_pack("{s:o, s:b, s:s*}", "parameters", params, "as_published",
                                      !task->sizes[s].not_as_published, "note", task->sizes[s].note));
    }
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:{s:f, s:f, s:s*}}", "schema", 1, "id",
                     task->id, "title", task->title, "domain", ae_domain_name(task->domain), "lineage", task->lineage,
                     "version", task->version, "prototype", prototype ? prototype : "", "arguments", args, "sizes",
                     sizes, "families", families, "published", "atol", task->published_atol, "rtol",
                     task->published_rtol, "note", task->published_note);
}

/* A program that compiles and shows where to write: every argument is there, outputs are zeroed on the device. */
static void print_stub(const struct ae_task *task, enum language language)
{
    static const char *const endings[] = {[CUDA] = "cu", [C] = "c", [CPP] = "cpp"};
    ae_autofree char *prototype = ae_task_prototype(task);
    printf("// %s: %s\n// Check it with: acceleval check %s.%s\n\n%s", task->id, task->title, task->id, endings[language],
           language == CUDA ? "#include <cuda_runtime.h>\n\n" : "");
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        printf("// %-18s %s%s%s%s%s\n", arg->name, arg->meaning, arg->shape ? "; " : "", arg->shape ? arg->shape : "",
               arg->unit ? ", " : "", arg->unit ? arg->unit : "");
    }
    printf("\n// All pointers are host memory. Keep nothing between calls, free everything, return when the result is "
           "final.\n%s%s\n{\n    // %s\n}\n",
           language == C ? "" : "extern \"C\" ", prototype ? prototype : "",
           language == CUDA ? "allocate, copy in, launch, copy out, free" : "OpenMP is at hand (-fopenmp)");
}

static int print_file(const struct ae_task *task, const char *file)
{
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0};
    struct ae_bytes text = {0};
    int rc = ae_cli_context_quiet(&context, &progress, &err);
    if (rc == AE_OK)
        rc = ae_context_read(&context, task, file, &text, &err);
    if (rc == AE_OK)
        fwrite(text.data, 1, text.size, stdout);
    ae_bytes_release(&text);
    ae_context_close(&context);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}

int ae_cmd_show(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_error err = {0};
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &rest, &given);
    if (done >= 0)
        return done;
    const struct ae_task *task = NULL;
    if (values.reference + values.statement + values.hints + values.stub + values.json > 1)
        ae_error_set(&err, AE_E_USAGE, "show prints one thing at a time: one of --reference, --statement, --hints, --stub "
                                       "and --json");
    else if (ae_option_given(ae_show_options, given, "language") && !values.stub)
        ae_error_set(&err, AE_E_USAGE, "--language is the stub's: give --stub too");
    else if (rest.count == 1)
        task = ae_task_find(rest.items[0], &err);
    else
        ae_error_set(&err, AE_E_USAGE, "show takes one task ('acceleval list' shows all)");
    ae_list_release(&rest);
    if (!task)
        return ae_cli_fail(&err);
    if (values.json)
        return ae_cli_print_json(task_json(task));
    if (values.reference)
        return print_file(task, "reference.c");
    if (values.statement)
        return print_file(task, "statement.md");
    if (values.hints)
        return print_file(task, "hints.md");
    if (values.stub)
        print_stub(task, (enum language)values.language);
    else
        print_task(task);
    return AE_EXIT_OK;
}
