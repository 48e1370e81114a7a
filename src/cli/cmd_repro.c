/* acceleval repro: a practice instance and a plain driver in a folder, to run under gdb, cuda-gdb or
 * compute-sanitizer. Nothing of the secret bank leaves through here. */
#include "cli/submission.h"

#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const size_names[] = {"small", "medium", "large", NULL};

struct values {
    struct ae_task_list tasks;
    int size;
    int64_t instance;
    const char *out, *family;
};

const struct ae_option ae_repro_options[] = {
    {.name = "task", .letter = 't', .kind = AE_OPTION_TASK, .one = true, .help = "the task it solves; default: by its name",
     .offset = offsetof(struct values, tasks)},
    {.name = "size", .letter = 's', .kind = AE_OPTION_CHOICE, .choices = size_names, .help = "size of the instance",
     .offset = offsetof(struct values, size)},
    {.name = "instance", .letter = 'i', .kind = AE_OPTION_INTEGER, .help = "number of the practice instance",
     .fallback = "0", .lo = 0, .hi = 2, .offset = offsetof(struct values, instance)},
    {.name = "family", .kind = AE_OPTION_STRING, .argument = "NAME", .help = "family of inputs; default: the timed one",
     .offset = offsetof(struct values, family)},
    {.name = "out", .letter = 'o', .kind = AE_OPTION_STRING, .argument = "FOLDER", .help = "folder to write; default: TASK-repro",
     .offset = offsetof(struct values, out)},
    {0},
};

static const char *const c_types[AE_TYPE_COUNT] = {
    [AE_I32] = "int",     [AE_U32] = "unsigned int", [AE_I64] = "long long", [AE_U64] = "unsigned long long",
    [AE_F32] = "float",   [AE_F64] = "double",
};

static void print_scalar(FILE *out, enum ae_type type, union ae_scalar value)
{
    switch (type) {
    case AE_I32:
        fprintf(out, "%d", value.i32);
        break;
    case AE_U32:
        fprintf(out, "%uu", value.u32);
        break;
    case AE_I64:
        fprintf(out, "%lldll", (long long)value.i64);
        break;
    case AE_U64:
        fprintf(out, "%lluull", (unsigned long long)value.u64);
        break;
    case AE_F32:
        fprintf(out, "%af", (double)value.f32);
        break;
    default:
        fprintf(out, "%a", value.f64);
    }
}

static int write_array(const char *folder, const char *name, const char *suffix, const struct ae_array *array,
                       struct ae_error *err)
{
    char path[4600];
    snprintf(path, sizeof path, "%s/%s%s.bin", folder, name, suffix);
    return ae_file_write(path, array->data, array->count * ae_type_size(array->type), err);
}

/* What the task's hook adds to the tolerance of each element. */
static int write_tolerance(const char *folder, const struct ae_case *cell, int arg, struct ae_error *err)
{
    struct ae_array tolerance;
    int rc = ae_array_alloc(&tolerance, AE_F64, cell->inst.array[arg].count, err);
    if (rc != AE_OK)
        return rc;
    memset(tolerance.data, 0, tolerance.count * sizeof(double));
    cell->inst.task->tolerance(&cell->inst, &cell->expected, arg, 0, tolerance.count, tolerance.data);
    rc = write_array(folder, cell->inst.task->args[arg].name, ".tolerance", &tolerance, err);
    ae_array_release(&tolerance);
    return rc;
}

/* main() that reads the arrays, calls once, and compares element by element by the task's tolerance. */
static char *driver(const struct ae_case *cell)
{
    const struct ae_task *task = cell->inst.task;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ae_autofree char *prototype = ae_task_prototype(task);
    if (!out || !prototype)
        return NULL;
    fprintf(out,
            "// One call of %s on a practice instance. Run it in this folder.\n"
            "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
            "extern \"C\" %s;\n\n"
            "static void *load(const char *name, size_t bytes)\n{\n"
            "    void *data = malloc(bytes ? bytes : 1);\n    FILE *in = fopen(name, \"rb\");\n"
            "    if (!data || !in || fread(data, 1, bytes, in) != bytes) {\n"
            "        fprintf(stderr, \"cannot read %%s\\n\", name);\n        exit(2);\n    }\n"
            "    fclose(in);\n    return data;\n}\n\n"
            "// Elements outside of atol + rtol * |expected| + more, and how much of it the worst one takes.\n"
            "template <typename T>\n"
            "static bool compare(const char *name, const T *got, const T *expected, size_t count, double atol, double rtol,\n"
            "                    const double *more)\n{\n"
            "    size_t wrong = 0, worst = 0;\n    double largest = -1;\n"
            "    for (size_t i = 0; i < count; i++) {\n"
            "        double difference = fabs((double)got[i] - (double)expected[i]);\n"
            "        double tolerance = atol + rtol * fabs((double)expected[i]) + (more ? more[i] : 0);\n"
            "        double share = difference <= 0 ? 0 : difference / tolerance;\n"
            "        if (!(difference <= tolerance))\n            wrong++;\n"
            "        if (!(share <= largest)) {\n            largest = share;\n            worst = i;\n        }\n    }\n"
            "    printf(\"%%s: %%zu of %%zu outside of the tolerance\", name, wrong, count);\n"
            "    if (count > 0)\n"
            "        printf(\"; largest share of it %%.3g at [%%zu]: %%.9g, expected %%.9g\", largest, worst, (double)got[worst],\n"
            "               (double)expected[worst]);\n"
            "    printf(\"\\n\");\n    return wrong == 0;\n}\n\n"
            "int main()\n{\n",
            task->id, prototype);
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        const struct ae_array *array = &cell->inst.array[i];
        const char *type = c_types[arg->type];
        if (arg->role == AE_SCALAR) {
            fprintf(out, "    %s %s = ", type, arg->name);
            print_scalar(out, arg->type, cell->inst.scalar[i]);
            fputs(";\n", out);
        } else if (arg->role == AE_OUT) {
            fprintf(out, "    %s *%s = (%s *)malloc(%zu * sizeof(%s));\n    memset(%s, 0xa5, %zu * sizeof(%s));\n",
                    type, arg->name, type, array->count ? array->count : 1, type, arg->name, array->count, type);
        } else {
            fprintf(out, "    %s *%s = (%s *)load(\"%s.bin\", %zu * sizeof(%s));\n", type, arg->name, type, arg->name,
                    array->count, type);
        }
    }
    fputs("    solution_compute(", out);
    for (int i = 0; i < task->arg_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", task->args[i].name);
    fputs(");\n", out);
    fputs("    bool right = true;\n", out);
    bool by_elements = true;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_rule *rule = &task->args[i].rule;
        if (!ae_arg_is_output(&task->args[i]))
            continue;
        by_elements &= rule->kind != AE_PROPERTY;
        const bool exact = rule->kind == AE_EXACT, scaled = rule->kind == AE_SCALED;
        const size_t count = cell->inst.array[i].count;
        fprintf(out, "    %scompare(\"%s\", %s, (const %s *)load(\"%s.expected.bin\", %zu * sizeof(%s)), %zu, %g, %g,\n            ",
                rule->kind == AE_PROPERTY ? "" : "right &= ", task->args[i].name, task->args[i].name,
                c_types[task->args[i].type], task->args[i].name, count, c_types[task->args[i].type], count,
                exact || scaled ? 0 : rule->atol, exact ? 0 : rule->rtol);
        if (scaled)
            fprintf(out, "(const double *)load(\"%s.tolerance.bin\", %zu * sizeof(double)));\n", task->args[i].name, count);
        else
            fprintf(out, "NULL);\n");
    }
    /* A condition on the whole answer is the task's own code, which is not here. */
    if (by_elements && !task->check)
        fputs("    printf(right ? \"right\\n\" : \"wrong\\n\");\n    return right ? 0 : 1;\n}\n", out);
    else
        fprintf(out, "    printf(\"%s is judged by more than that: ask 'acceleval check'\\n\");\n"
                "    return right ? 0 : 1;\n}\n", task->id);
    return fclose(out) == 0 ? text : NULL;
}

/* A folder of other people's files is left alone; of an earlier repro, what this one would mix up with its own goes. */
static int clear_folder(const char *folder, struct ae_error *err)
{
    static const char *const drivers[] = {"driver.cpp", "driver.cu"};
    static const char *const stale[] = {"driver.cpp", "driver.cu", "solution.c", "solution.cpp", "solution.cu", "solution.o",
                                        "repro"};
    char path[4600];
    bool ours = false;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, drivers[i]);
        ours |= ae_file_exists(path);
    }
    DIR *open = opendir(folder);
    bool empty = true;
    for (const struct dirent *entry; open && (entry = readdir(open));)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (open)
        closedir(open);
    if (!empty && !ours)
        return ae_error_set(err, AE_E_USAGE, "%s holds other files, which might be written over: name an empty or a new folder "
                            "with --out", folder);
    for (size_t i = 0; ours && i < sizeof stale / sizeof *stale; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, stale[i]);
        (void)unlink(path);
    }
    return AE_OK;
}

#define ARCH_TEXT 16
#define NO_DEVICE_ARCH "sm_90" /* that eval compiles for where there is no device */

struct recorded {
    struct ae_store *store;
    char *arch;
};

static int take_arch(void *data, const struct ae_run *run)
{
    struct recorded *r = data;
    struct ae_environment environment;
    if (ae_store_environment_get(r->store, run->environment, &environment, NULL) != AE_OK)
        return 0;
    json_t *json = json_loads(environment.json, 0, NULL);
    const char *arch = json_string_value(json_object_get(json, "arch"));
    const bool found = ae_arch_is_valid(arch); /* results come from elsewhere too, and a Makefile runs what it reads */
    if (found)
        snprintf(r->arch, ARCH_TEXT, "%s", arch);
    json_decref(json);
    ae_environment_release(&environment);
    return found;
}

/* Of the device here, else of the newest results that have one: the folder may be built where no device is. */
static void choose_arch(const struct ae_context *context, char arch[ARCH_TEXT])
{
    struct recorded recorded = {.arch = arch};
    snprintf(arch, ARCH_TEXT, "%s", context->device.handle ? context->device.arch : NO_DEVICE_ARCH);
    if (!context->device.handle && ae_store_open(&recorded.store, NULL, AE_STORE_READ, NULL) == AE_OK)
        (void)ae_store_runs(recorded.store, take_arch, &recorded, NULL);
    ae_store_close(recorded.store);
}

static int write_folder(const struct ae_case *cell, const struct ae_submission_item *item, const char *tasks,
                        const char *arch, const char *folder, struct ae_error *err)
{
    const struct ae_task *task = cell->inst.task;
    const char *ending = strrchr(item->path, '.');
    char path[4600], text[5200];
    int rc = clear_folder(folder, err);
    if (rc == AE_OK)
        rc = ae_folder_make(folder, err);
    for (int i = 0; rc == AE_OK && i < task->arg_count; i++) {
        if (task->args[i].role == AE_IN || task->args[i].role == AE_INOUT)
            rc = write_array(folder, task->args[i].name, "", &cell->inst.array[i], err);
        if (rc == AE_OK && ae_arg_is_output(&task->args[i]))
            rc = write_array(folder, task->args[i].name, ".expected", &cell->expected.out[i], err);
        if (rc == AE_OK && task->args[i].rule.kind == AE_SCALED)
            rc = write_tolerance(folder, cell, i, err);
    }
    ae_autofree char *main_text = driver(cell);
    const bool cuda = item->target == AE_CUDA;
    snprintf(path, sizeof path, "%s/driver.%s", folder, cuda ? "cu" : "cpp");
    if (rc == AE_OK)
        rc = main_text ? ae_file_write(path, main_text, strlen(main_text), err)
                       : ae_error_set(err, AE_E_NOMEM, "no memory for the driver");
    snprintf(path, sizeof path, "%s/solution%s", folder, ending);
    if (rc == AE_OK)
        rc = ae_file_write(path, item->source.data, item->source.size, err);
    if (cuda)
        /* -G is for cuda-gdb; it has the lines too, and nvcc ignores -lineinfo beside it. */
        snprintf(text, sizeof text,
                 "# Another GPU: make ARCH=sm_NN\nARCH ?= %s\n\n"
                 "repro: driver.cu solution.cu\n\tnvcc -g -G -std=c++17 -arch=$(ARCH) -I%s/common -o $@ $^\n",
                 arch, tasks);
    else
        snprintf(text, sizeof text,
                 "repro: driver.cpp solution.o\n\tg++ -g -fopenmp -o $@ $^ -lm\nsolution.o: solution%s\n"
                 "\t%s -g -O1 -march=native -fopenmp -c -o $@ $<\n",
                 ending, item->kind == AE_BUILD_CPP ? "g++ -std=c++17" : "gcc");
    snprintf(path, sizeof path, "%s/Makefile", folder);
    return rc == AE_OK ? ae_file_write(path, text, strlen(text), err) : rc;
}

int ae_cmd_repro(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list paths = {0};
    struct ae_submission_list list = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_case cell = {0};
    struct ae_error err = {0};
    char folder[4096], arch[ARCH_TEXT];
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &paths, &given);
    if (done >= 0)
        return done;
    int rc = paths.count == 1 ? ae_cli_context(&context, &progress, &err)
                              : ae_error_set(&err, AE_E_USAGE, "repro takes the path of one source");
    if (rc == AE_OK)
        rc = ae_items_add_file(&list, paths.items[0], values.tasks.count ? values.tasks.items[0] : NULL, NULL, &err);
    if (rc == AE_OK) {
        const struct ae_task *task = list.items[0].task;
        struct ae_case_name name = {.task = task, .size = (enum ae_size)values.size, .kind = AE_TRIAL_TIMED,
                                    .number = (int)values.instance, .practice = true};
        if (values.family) {
            while (name.family < ae_task_family_count(task) &&
                   strcmp(task->families[name.family].name, values.family) != 0)
                name.family++;
            if (name.family == ae_task_family_count(task))
                rc = ae_error_set(&err, AE_E_USAGE, "%s has no family '%s' ('acceleval show %s' lists them)", task->id,
                                  values.family, task->id);
            else if (name.family > 0 && ae_option_given(ae_repro_options, given, "instance"))
                rc = ae_error_set(&err, AE_E_USAGE, "--instance is for the timed family: '%s' has one instance a size",
                                  values.family);
            if (name.family > 0) {
                name.kind = AE_TRIAL_ADVERSARIAL;
                name.number = 0;
            }
        }
        const int practice = ae_bank_plan(name.size)->practice;
        if (rc == AE_OK && values.instance >= practice)
            rc = ae_error_set(&err, AE_E_USAGE, "size %s has %d practice instance%s, numbered from 0",
                              size_names[values.size], practice, practice == 1 ? "" : "s");
        if (rc == AE_OK)
            rc = ae_case_open(&context, &name, false, &cell, &err);
        snprintf(folder, sizeof folder, "%s-repro", task->id);
        choose_arch(&context, arch);
        if (rc == AE_OK)
            rc = write_folder(&cell, &list.items[0], context.tasks, arch, values.out ? values.out : folder, &err);
        ae_progress_clear(&progress);
        if (rc == AE_OK) {
            ae_autofree char *shown = ae_cli_printable_line(values.out ? values.out : folder);
            printf("%s is written: 'make -C %s' builds it; './repro' in that folder makes the call, alone or under gdb, "
                   "cuda-gdb or compute-sanitizer\n", shown ? shown : "", shown ? shown : "");
        }
    }
    ae_case_release(&cell);
    ae_items_release(&list);
    ae_context_close(&context);
    ae_options_release(ae_repro_options, &values);
    ae_list_release(&paths);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
