/* acceleval new-task: a task's folder that builds and passes its own checks, to be replaced part by part. */
#include "cli/cli.h"

#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_MIN 3
#define ID_MAX 40

static const char *const domains[] = {"hpc", "simulation", "graph", "spatial", "finance", "or", NULL};
static const char *const domain_constants[] = {"AE_HPC", "AE_SIMULATION", "AE_GRAPH", "AE_SPATIAL", "AE_FINANCE", "AE_OR"};

/* What a folder holds; the golden digests go where the tests look for them. */
static const char *const files[] = {"task.c",   "reference.c", "parallel.c", "statement.md",
                                    "hints.md", "traps.c",     "naive.cu",   NULL};

struct values {
    int domain;
};

const struct ae_option ae_new_task_options[] = {
    {.name = "domain", .letter = 'd', .kind = AE_OPTION_CHOICE, .help = "what the task belongs to", .choices = domains,
     .offset = offsetof(struct values, domain)},
    {0},
};

/* It becomes part of C names and of paths. */
static int check_id(const char *id, struct ae_error *err)
{
    static const char *const taken[] = {"common", "tasks", "all", NULL}; /* mean something else in folders and options */
    const size_t length = strlen(id);
    if (length < ID_MIN || length > ID_MAX)
        return ae_error_set(err, AE_E_USAGE, "the id of a task has %d to %d characters", ID_MIN, ID_MAX);
    if (!isalpha((unsigned char)id[0]))
        return ae_error_set(err, AE_E_USAGE, "the id of a task begins with a letter");
    for (const char *p = id; *p; p++)
        if (!isascii((unsigned char)*p) || (!isalnum((unsigned char)*p) && *p != '_'))
            return ae_error_set(err, AE_E_USAGE, "the id of a task holds letters, digits and '_' only");
    for (int i = 0; taken[i]; i++)
        if (strcasecmp(taken[i], id) == 0)
            return ae_error_set(err, AE_E_USAGE, "'%s' is no id of a task: the word has another meaning here", id);
    return AE_OK;
}

/* The id of a line "AE_TASK(id)" of tasks.def; false where it is none. */
static bool id_of_line(const char *line, size_t length, char ret[ID_MAX + 1])
{
    static const char start[] = "AE_TASK(";
    if (length < sizeof start || strncmp(line, start, sizeof start - 1) != 0)
        return false;
    const char *from = line + sizeof start - 1, *end = memchr(from, ')', length - (sizeof start - 1));
    if (!end || end - from > ID_MAX)
        return false;
    memcpy(ret, from, (size_t)(end - from));
    ret[end - from] = 0;
    return true;
}

/* The list with the id's line before the first that sorts behind it. Ids that differ in case alone would share a
 * folder on some file systems, so they count as the same. */
static int add_to_list(const char *list, const char *id, char **ret, struct ae_error *err)
{
    const char *at = NULL;
    char other[ID_MAX + 1];
    for (const char *line = list; *line;) {
        const char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) : strlen(line);
        if (id_of_line(line, length, other)) {
            if (strcasecmp(other, id) == 0)
                return ae_error_set(err, AE_E_USAGE, "there is a task '%s' already", other);
            if (!at && strcasecmp(other, id) > 0)
                at = line;
        }
        line += length + (end != NULL);
    }
    if (!at)
        at = list + strlen(list);
    const bool open_end = at > list && at[-1] != '\n';
    if (asprintf(ret, "%.*s%sAE_TASK(%s)\n%s", (int)(at - list), list, open_end ? "\n" : "", id, at) < 0) {
        *ret = NULL;
        return ae_error_set(err, AE_E_NOMEM, "no memory for the list of tasks");
    }
    return AE_OK;
}

/* text with every `from` replaced; NULL: no memory. The caller frees it. */
static char *replaced(const char *text, const char *from, const char *to)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    if (!stream)
        return NULL;
    for (const char *hit; (hit = strstr(text, from)); text = hit + strlen(from))
        fprintf(stream, "%.*s%s", (int)(hit - text), text, to);
    fputs(text, stream);
    if (fclose(stream) != 0) {
        free(out);
        return NULL;
    }
    return out;
}

static int write_from_template(const char *tasks, const char *name, const char *path, const char *id,
                               const char *domain, struct ae_error *err)
{
    char from[4400];
    struct ae_bytes text = {0};
    snprintf(from, sizeof from, "%s/common/template/%s", tasks, name);
    int rc = ae_file_read(from, 1 << 20, &text, err);
    if (rc != AE_OK)
        return rc;
    ae_autofree char *named = replaced((const char *)text.data, "TASK_ID", id);
    ae_autofree char *full = named ? replaced(named, "AE_TASK_DOMAIN", domain) : NULL;
    rc = full ? ae_file_write(path, full, strlen(full), err) : ae_error_set(err, AE_E_NOMEM, "no memory for %s", path);
    ae_bytes_release(&text);
    return rc;
}

/* Folder and golden file; what was begun is removed after a failure. The list comes last: a build never sees half. */
static int write_task(const char *tasks, const char *id, const char *domain, struct ae_error *err)
{
    char folder[4400], path[4500], golden[4500], list_path[4500];
    struct ae_bytes list = {0};
    ae_autofree char *longer = NULL;
    snprintf(list_path, sizeof list_path, "%s/tasks.def", tasks);
    snprintf(folder, sizeof folder, "%s/%s", tasks, id);
    snprintf(golden, sizeof golden, "%s/../tests/task/golden", tasks);
    if (access(golden, F_OK) != 0)
        return ae_error_set(err, AE_E_ENV, "%s belongs to no source tree (%s is missing): set ACCELEVAL_TASKS to the folder "
                            "tasks/ of one", tasks, golden);
    snprintf(golden, sizeof golden, "%s/../tests/task/golden/%s.txt", tasks, id);
    int rc = ae_file_read(list_path, 1 << 20, &list, err);
    if (rc == AE_OK)
        rc = add_to_list((const char *)list.data, id, &longer, err);
    ae_bytes_release(&list);
    if (rc != AE_OK)
        return rc;
    if (access(golden, F_OK) == 0)
        return ae_error_set(err, AE_E_USAGE, "%s is there already", golden);
    if (mkdir(folder, 0777) != 0)
        return errno == EEXIST ? ae_error_set(err, AE_E_USAGE, "the folder %s is there already", folder)
                               : ae_error_errno(err, AE_E_IO, errno, "cannot make the folder %s", folder);
    for (int i = 0; rc == AE_OK && files[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        rc = write_from_template(tasks, files[i], path, id, domain, err);
    }
    if (rc == AE_OK)
        rc = write_from_template(tasks, "golden.txt", golden, id, domain, err);
    if (rc == AE_OK)
        rc = ae_file_write(list_path, longer, strlen(longer), err);
    if (rc != AE_OK) {
        (void)unlink(golden);
        (void)ae_folder_remove(folder, NULL);
    }
    return rc;
}

int ae_cmd_new_task(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_error err = {0};
    char tasks[4096];
    const int done = ae_cli_parse(self, argc, argv, &values, &rest);
    if (done >= 0)
        return done;
    int rc = rest.count == 1 ? check_id(rest.items[0], &err)
                             : ae_error_set(&err, AE_E_USAGE, "new-task takes one id, like jacobi_2d");
    if (rc == AE_OK)
        rc = ae_context_find_tasks(tasks, sizeof tasks, &err);
    if (rc == AE_OK)
        rc = write_task(tasks, rest.items[0], domain_constants[values.domain], &err);
    if (rc == AE_OK) {
        const char *id = rest.items[0];
        printf("%s/%s is a small task that is complete, and tasks.def lists it. Next:\n\n"
               "  cmake --build build --target task_test && build/tests/task/task_test %s\n\n"
               "builds it and runs its own checks. Then replace it part by part (docs/adding-a-task.md). When its inputs "
               "change on purpose,\n\n"
               "  build/tests/task/task_test %s --golden >tests/task/golden/%s.txt\n\n"
               "records their digests anew.\n",
               tasks, id, id, id, id);
    }
    ae_list_release(&rest);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
