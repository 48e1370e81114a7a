#include "cli/submission.h"

#include "base/text.h"
#include "strategy/ladder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *entrant, *file;
} built_ins[] = {
    {"reference", "reference.c"}, {"parallel", "parallel.c"}, {"naive", "naive.cu"}, {"tuned", "tuned.cu"}};

const char *ae_built_in_file(const char *entrant)
{
    for (size_t i = 0; i < sizeof built_ins / sizeof *built_ins; i++)
        if (strcmp(built_ins[i].entrant, entrant) == 0)
            return built_ins[i].file;
    return NULL;
}

static struct ae_submission_item *append(struct ae_submission_list *list)
{
    struct ae_submission_item *more = realloc(list->items, (list->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    list->items = more;
    list->items[list->count] = (struct ae_submission_item){0};
    return &list->items[list->count++];
}

#define SAMPLE_MAX 999999

/* TASK.ext or TASK.K.ext. A K that is no number, or none that fits, would stand for another sample. */
static const struct ae_task *task_of_name(const char *file, int *ret_sample, struct ae_error *err)
{
    char name[256];
    const size_t length = strcspn(file, ".");
    *ret_sample = 0;
    if (length == 0 || length >= sizeof name) {
        ae_error_set(err, AE_E_USAGE, "the name of %s says no task: call it TASK.cu, or give --task", file);
        return NULL;
    }
    memcpy(name, file, length);
    name[length] = 0;
    if (file[length] && isdigit((unsigned char)file[length + 1])) {
        char number[8];
        int64_t sample = -1;
        const size_t digits = strcspn(file + length + 1, ".");
        snprintf(number, sizeof number, "%s", file + length + 1);
        if (digits < sizeof number)
            number[digits] = 0;
        if (digits >= sizeof number || !ae_text_to_i64(number, 0, SAMPLE_MAX, &sample)) {
            ae_error_set(err, AE_E_USAGE, "%s: the K of TASK.K.cu is a number of up to %d", file, SAMPLE_MAX);
            return NULL;
        }
        *ret_sample = (int)sample;
    }
    const struct ae_task *const task = ae_task_named(name);
    if (!task)
        ae_error_set(err, AE_E_USAGE, "%s: there is no task '%s'; give --task, or call the file TASK.cu", file, name);
    return task;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder that a file lies in names its entrant. */
static void entrant_of(const char *path, char *ret, size_t size)
{
    char full[PATH_MAX];
    snprintf(ret, size, "me");
    if (!realpath(path, full))
        return;
    char *slash = strrchr(full, '/');
    if (!slash || slash == full)
        return;
    *slash = 0;
    snprintf(ret, size, "%s", base_name(full));
}

static int add(struct ae_submission_list *list, const char *path, const struct ae_task *task, int sample,
               const char *entrant, struct ae_error *err)
{
    enum ae_build_kind kind;
    struct ae_bytes source = {0};
    if (!ae_build_kind_of(path, &kind))
        return ae_error_set(err, AE_E_USAGE, "%s: the ending is none of .cu, .c, .cpp", path);
    const int rc = ae_file_read(path, AE_SOURCE_MAX, &source, err);
    if (rc != AE_OK)
        return rc;
    struct ae_submission_item *item = append(list);
    if (!item) {
        ae_bytes_release(&source);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %s", path);
    }
    item->task = task;
    item->kind = kind;
    item->target = kind == AE_BUILD_CUDA ? AE_CUDA : AE_CPU;
    item->sample = sample;
    item->source = source;
    snprintf(item->path, sizeof item->path, "%s", path);
    if (entrant)
        snprintf(item->entrant, sizeof item->entrant, "%s", entrant);
    else
        entrant_of(path, item->entrant, sizeof item->entrant);
    return AE_OK;
}

int ae_items_add_file(struct ae_submission_list *list, const char *path, const struct ae_task *task,
                      const char *entrant, struct ae_error *err)
{
    int sample = 0;
    if (!task)
        task = task_of_name(base_name(path), &sample, err);
    return task ? add(list, path, task, sample, entrant, err) : AE_E_USAGE;
}

static bool wanted(const struct ae_task_list *tasks, const struct ae_task *task)
{
    if (!tasks || tasks->count == 0)
        return true;
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->items[i] == task)
            return true;
    return false;
}

int ae_items_add_folder(struct ae_submission_list *list, const char *path, const struct ae_task_list *tasks,
                        const char *entrant, struct ae_error *err)
{
    struct dirent **names;
    const int count = scandir(path, &names, NULL, alphasort);
    char full[PATH_MAX], own[256];
    size_t added = 0;
    int rc = AE_OK;
    if (count < 0)
        return ae_error_errno(err, AE_E_NOTFOUND, errno, "cannot read the folder %s", path);
    snprintf(own, sizeof own, "%s", base_name(realpath(path, full) ? full : path));
    for (int i = 0; i < count; i++) {
        enum ae_build_kind kind;
        int sample;
        struct ae_error unknown;
        if (rc == AE_OK && ae_build_kind_of(names[i]->d_name, &kind)) {
            const struct ae_task *task = task_of_name(names[i]->d_name, &sample, &unknown);
            char file[PATH_MAX + 256];
            snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
            if (!task) {
                ae_autofree char *reason = ae_cli_printable_line(unknown.text);
                fprintf(stderr, "acceleval: passed over: %s\n", reason ? reason : "");
            } else if (wanted(tasks, task)) {
                rc = add(list, file, task, sample, entrant ? entrant : own, err);
                added++;
            }
        }
        free(names[i]);
    }
    free(names);
    if (rc == AE_OK && added == 0)
        return ae_error_set(err, AE_E_USAGE, "the folder %s holds no source of a task: its files must be called TASK.cu, "
                            "TASK.c, TASK.cpp or TASK.K.cu", path);
    return rc;
}

/* Every step of the ladders as an entrant of its own: "step-01-M03". */
static int add_ladders(struct ae_submission_list *list, const struct ae_context *context, const struct ae_task_list *tasks,
                       struct ae_error *err)
{
    struct ae_ladder ladder;
    size_t added = 0;
    int rc = ae_ladder_read(context->tasks, &ladder, err);
    for (size_t i = 0; rc == AE_OK && i < ladder.count; i++) {
        const struct ae_step *step = &ladder.steps[i];
        char path[4400], entrant[80];
        if (!wanted(tasks, step->task))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", context->tasks, step->task->id, step->file);
        snprintf(entrant, sizeof entrant, "step-%s", base_name(step->file));
        char *ending = strrchr(entrant, '.');
        if (ending)
            *ending = 0;
        rc = add(list, path, step->task, 0, entrant, err);
        if (rc == AE_OK) {
            list->items[list->count - 1].built_in = true;
            added++;
        }
    }
    ae_ladder_release(&ladder);
    if (rc == AE_OK && added == 0)
        return ae_error_set(err, AE_E_USAGE, "%s no ladder: nobody has written down steps from its naive program to the "
                            "tuned one in %s/%s/steps/", tasks && tasks->count == 1 ? "this task has" : "these tasks have",
                            context->tasks, tasks && tasks->count == 1 ? tasks->items[0]->id : "TASK");
    return rc;
}

int ae_items_add_built_in(struct ae_submission_list *list, const struct ae_context *context, const char *entrant,
                          const struct ae_task_list *tasks, struct ae_error *err)
{
    const char *file = ae_built_in_file(entrant);
    if (strcmp(entrant, "ladder") == 0)
        return add_ladders(list, context, tasks, err);
    if (!file)
        return ae_error_set(err, AE_E_USAGE, "'%s' is no built-in entrant (reference, parallel, naive, tuned, ladder); give "
                            "the path of its sources", entrant);
    for (int i = 0; i < ae_task_count; i++) {
        char path[4400];
        if (!wanted(tasks, ae_tasks[i]))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", context->tasks, ae_tasks[i]->id, file);
        if (!ae_file_exists(path))
            continue;
        const int rc = add(list, path, ae_tasks[i], 0, entrant, err);
        if (rc != AE_OK)
            return rc;
        struct ae_submission_item *item = &list->items[list->count - 1];
        item->built_in = true;
        if (strcmp(entrant, "reference") == 0) {
            item->kind = AE_BUILD_REFERENCE;
            item->single = true;
        }
    }
    return AE_OK;
}

int ae_items_add_path(struct ae_submission_list *list, const char *path, const struct ae_task_list *tasks,
                      const char *entrant, struct ae_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return ae_error_errno(err, AE_E_NOTFOUND, errno, "cannot find %s", path);
    if (S_ISDIR(st.st_mode))
        return ae_items_add_folder(list, path, tasks, entrant, err);
    if (tasks && tasks->count > 1)
        return ae_error_set(err, AE_E_USAGE, "%s is one file: give one --task", path);
    return ae_items_add_file(list, path, tasks && tasks->count ? tasks->items[0] : NULL, entrant, err);
}

void ae_items_release(struct ae_submission_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ae_bytes_release(&list->items[i].source);
        ae_build_result_release(&list->items[i].build);
    }
    free(list->items);
    *list = (struct ae_submission_list){0};
}

/* One of ours, also when it is named by its path. */
static bool is_ours(const struct ae_context *context, const struct ae_submission_item *item)
{
    char folder[PATH_MAX], file[PATH_MAX];
    if (item->built_in)
        return true;
    return realpath(context->tasks, folder) && realpath(item->path, file) && ae_text_starts(file, folder) &&
           file[strlen(folder)] == '/';
}

void ae_items_note_useless(const struct ae_submission_list *list, const struct ae_option *options, uint64_t given)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].target == AE_CUDA)
            return;
    for (const struct ae_option *o = options; list->count && o->name; o++)
        if ((strcmp(o->name, "device") == 0 || strcmp(o->name, "arch") == 0) && ae_option_given(options, given, o->name))
            ae_cli_note("--%s changes nothing: %s for the CPU", o->name,
                        list->count == 1 ? "the program is" : "all these programs are");
}

int ae_items_build(struct ae_submission_list *list, struct ae_context *context, int jobs, const char *arch,
                   struct ae_error *err)
{
    char common[4200];
    snprintf(common, sizeof common, "%s/common", context->tasks);
    const char *const include_dirs[] = {common, NULL};
    if (!arch)
        arch = context->device.handle ? context->device.arch : "sm_90";
    if (list->count == 0)
        return AE_OK;
    ae_autofree struct ae_build_request *requests = calloc(list->count, sizeof *requests);
    ae_autofree struct ae_build_result *results = calloc(list->count, sizeof *results);
    if (!requests || !results)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu builds", list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct ae_submission_item *item = &list->items[i];
        requests[i] = (struct ae_build_request){
            .kind = item->kind,
            .name = item->path,
            .source = item->source.data,
            .size = item->source.size,
            .include_dirs = item->target == AE_CUDA && is_ours(context, item) ? include_dirs : NULL,
            .arch = arch,
        };
    }
    ae_context_say(context, "compiling %zu source%s", list->count, list->count == 1 ? "" : "s");
    const int rc = ae_build_many(context->toolchain, context->cache, requests, list->count, jobs, results, err);
    for (size_t i = 0; rc == AE_OK && i < list->count; i++)
        list->items[i].build = results[i];
    return rc;
}
