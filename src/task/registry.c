#include "task/task.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AE_TASK(id) extern const struct ae_task ae_task_##id;
#include "tasks.def"
#undef AE_TASK

const struct ae_task *const ae_tasks[] = {
#define AE_TASK(id) &ae_task_##id,
#include "tasks.def"
#undef AE_TASK
};

const int ae_task_count = sizeof ae_tasks / sizeof *ae_tasks;

static const char *const size_names[AE_SIZE_COUNT] = {"small", "medium", "large"};
static const char *const domain_names[AE_DOMAIN_COUNT] = {"hpc",     "simulation", "graph",
                                                          "spatial", "finance",    "or"};

const char *ae_size_name(enum ae_size size)
{
    return (unsigned)size < AE_SIZE_COUNT ? size_names[size] : "?";
}

const char *ae_domain_name(enum ae_domain domain)
{
    return (unsigned)domain < AE_DOMAIN_COUNT ? domain_names[domain] : "?";
}

enum ae_size ae_size_find(const char *name)
{
    for (int i = 0; i < AE_SIZE_COUNT; i++)
        if (strcmp(name, size_names[i]) == 0)
            return (enum ae_size)i;
    return AE_SIZE_COUNT;
}

const struct ae_task *ae_task_named(const char *id)
{
    for (int i = 0; i < ae_task_count; i++)
        if (strcmp(ae_tasks[i]->id, id) == 0)
            return ae_tasks[i];
    return NULL;
}

const struct ae_task *ae_task_find(const char *name, struct ae_error *err)
{
    const struct ae_task *found = NULL;
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    int matches = 0;
    for (int i = 0; i < ae_task_count; i++) {
        const struct ae_task *task = ae_tasks[i];
        if (strcmp(task->id, name) == 0)
            return task;
        if (*name && strncmp(task->id, name, strlen(name)) == 0) {
            found = task;
            matches++;
        }
        const size_t distance = ae_text_distance(task->id, name);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = task->id;
        }
    }
    if (matches == 1)
        return found;
    if (matches > 1)
        ae_error_set(err, AE_E_USAGE, "'%s' could be %d tasks, %s among them; write more of the name", name, matches,
                     found->id);
    else if (nearest && ae_text_near(name, nearest_distance))
        ae_error_set(err, AE_E_USAGE, "there is no task '%s'; the nearest is '%s' ('acceleval list' shows all)", name,
                     nearest);
    else
        ae_error_set(err, AE_E_USAGE, "there is no task '%s' ('acceleval list' shows all)", name);
    return NULL;
}

int ae_task_param_count(const struct ae_task *task)
{
    int n = 0;
    while (n < AE_PARAMS_MAX && task->params[n])
        n++;
    return n;
}

int ae_task_family_count(const struct ae_task *task)
{
    int n = 0;
    while (n < AE_FAMILIES_MAX && task->families[n].name)
        n++;
    return n;
}

static const char *const c_names[AE_TYPE_COUNT] = {
    [AE_I32] = "int",     [AE_U32] = "unsigned int", [AE_I64] = "long long", [AE_U64] = "unsigned long long",
    [AE_F32] = "float",   [AE_F64] = "double",
};

char *ae_task_prototype(const struct ae_task *task)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("void solution_compute(", out);
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        fprintf(out, "%s%s%s%s%s", i ? ", " : "", arg->role == AE_IN ? "const " : "", c_names[arg->type],
                arg->role == AE_SCALAR ? " " : " *", arg->name);
    }
    fputs(task->arg_count ? ")" : "void)", out);
    fclose(out);
    return text;
}
