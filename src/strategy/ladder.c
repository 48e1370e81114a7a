#include "strategy/ladder.h"

#include "base/file.h"
#include "base/text.h"
#include "stats/stats.h"
#include "store/archive.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_MAX ((size_t)16 << 20)

static void hash_file(const char *tasks, const char *task, const char *file, char ret[AE_SHA256_HEX])
{
    char path[4400];
    struct ae_error ignored;
    snprintf(path, sizeof path, "%s/%s/%s", tasks, task, file);
    if (ae_sha256_file(path, ret, &ignored) != AE_OK)
        ret[0] = 0;
}

/* Lines of comment behind the first, joined. */
static void read_remark(const char *text, char *ret, size_t size)
{
    size_t n = 0;
    const char *line = strchr(text, '\n');
    ret[0] = 0;
    while (line && strncmp(line + 1, "// ", 3) == 0) {
        line += 4;
        const size_t length = strcspn(line, "\n");
        if (n + length + 2 >= size)
            break;
        if (n > 0)
            ret[n++] = ' ';
        memcpy(ret + n, line, length);
        n += length;
        ret[n] = 0;
        line = strchr(line, '\n');
    }
}

bool ae_step_has(const struct ae_step *step, enum ae_strategy_id id)
{
    for (int i = 0; i < step->strategy_count; i++)
        if (step->strategies[i] == id)
            return true;
    return false;
}

void ae_step_strategies(const struct ae_step *step, char ret[AE_STEP_STRATEGIES_TEXT])
{
    size_t n = 0;
    ret[0] = 0;
    for (int i = 0; i < step->strategy_count; i++)
        n += (size_t)snprintf(ret + n, AE_STEP_STRATEGIES_TEXT - n, "%s%s", i ? "+" : "",
                              ae_strategies[step->strategies[i]].id);
}

/* "C12+P05" */
static bool read_strategies(char *ids, struct ae_step *step)
{
    char *rest = NULL;
    for (char *id = strtok_r(ids, "+", &rest); id; id = strtok_r(NULL, "+", &rest)) {
        struct ae_error ignored;
        const int strategy = ae_strategy_by_id(id, &ignored);
        if (strategy < 0 || step->strategy_count == AE_STEP_STRATEGIES ||
            ae_step_has(step, (enum ae_strategy_id)strategy))
            return false;
        step->strategies[step->strategy_count++] = (enum ae_strategy_id)strategy;
    }
    return step->strategy_count > 0;
}

static bool read_step(const char *tasks, const struct ae_task *task, const char *name, struct ae_step *ret)
{
    char path[4400], ids[AE_STEP_STRATEGIES_TEXT], parent[48], named[AE_STEP_STRATEGIES_TEXT + 8];
    struct ae_bytes text = {0};
    struct ae_error ignored;
    if (!isdigit((unsigned char)name[0]) || strlen(name) > 47 || !ae_text_ends(name, ".cu"))
        return false;
    *ret = (struct ae_step){.task = task};
    snprintf(ret->file, sizeof ret->file, "steps/%s", name);
    snprintf(path, sizeof path, "%s/%s/%s", tasks, task->id, ret->file);
    if (ae_file_read(path, SOURCE_MAX, &text, &ignored) != AE_OK)
        return false;
    const int read = sscanf((const char *)text.data, "// step: %31[A-Z0-9+] on %47[A-Za-z0-9_.+-]", ids, parent);
    if (read == 2)
        read_remark((const char *)text.data, ret->remark, sizeof ret->remark);
    ae_bytes_release(&text);
    if (read != 2 || !read_strategies(ids, ret))
        return false;
    ae_step_strategies(ret, ids);
    snprintf(named, sizeof named, "-%s.cu", ids);
    if (!ae_text_ends(name, named))
        return false;
    snprintf(ret->parent, sizeof ret->parent, "%s%s", isdigit((unsigned char)parent[0]) ? "steps/" : "", parent);
    hash_file(tasks, task->id, ret->file, ret->sha256);
    hash_file(tasks, task->id, ret->parent, ret->parent_sha256);
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int ae_ladder_read(const char *tasks, struct ae_ladder *ret, struct ae_error *err)
{
    struct ae_ladder ladder = {0};
    for (int t = 0; t < ae_task_count; t++) {
        char folder[4300];
        struct dirent **names = NULL;
        snprintf(folder, sizeof folder, "%s/%s/steps", tasks, ae_tasks[t]->id);
        const int count = scandir(folder, &names, NULL, by_name);
        bool full = true;
        for (int i = 0; i < count; i++) {
            struct ae_step step;
            if (full && read_step(tasks, ae_tasks[t], names[i]->d_name, &step)) {
                struct ae_step *more = realloc(ladder.steps, (ladder.count + 1) * sizeof *more);
                full = more != NULL;
                if (more) {
                    ladder.steps = more;
                    ladder.steps[ladder.count++] = step;
                }
            }
            free(names[i]);
        }
        free(names);
        if (!full) {
            ae_ladder_release(&ladder);
            return ae_error_set(err, AE_E_NOMEM, "no memory for the ladders");
        }
    }
    *ret = ladder;
    return AE_OK;
}

void ae_ladder_release(struct ae_ladder *ladder)
{
    free(ladder->steps);
    *ladder = (struct ae_ladder){0};
}

/* --- measurements of these bytes --- */

struct timing {
    char submission[AE_SHA256_HEX], environment[65], environment_name[96];
    enum ae_size size;
    int64_t id; /* of the measurement: a larger one is newer */
    double median_ns;
};

struct timings {
    struct timing *items;
    size_t count;
    const struct ae_ladder *ladder;
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool in_ladder(const struct ae_ladder *ladder, const char *task, const char *submission)
{
    for (size_t i = 0; i < ladder->count; i++)
        if (strcmp(ladder->steps[i].task->id, task) == 0 && (strcmp(ladder->steps[i].sha256, submission) == 0 ||
                                                             strcmp(ladder->steps[i].parent_sha256, submission) == 0))
            return true;
    return false;
}

static int take(void *data, const struct ae_stored *stored)
{
    struct timings *t = data;
    const struct ae_measurement *m = &stored->measurement;
    if (m->verdict != AE_PASS || !m->task || stored->task_version != m->task->version || m->trial_count <= 0 ||
        !in_ladder(t->ladder, stored->task, m->submission))
        return 0;
    double *values = malloc((size_t)m->trial_count * sizeof *values);
    size_t n = 0;
    for (int i = 0; values && i < m->trial_count; i++)
        if (ae_trial_counts(&m->trials[i]))
            values[n++] = (double)m->trials[i].call_ns;
    struct timing *more = n == 0 ? NULL : realloc(t->items, (t->count + 1) * sizeof *more);
    if (more) {
        qsort(values, n, sizeof *values, ascending);
        t->items = more;
        struct timing *x = &t->items[t->count++];
        *x = (struct timing){.size = m->size, .id = stored->id, .median_ns = ae_median(values, n)};
        snprintf(x->submission, sizeof x->submission, "%s", m->submission);
        snprintf(x->environment, sizeof x->environment, "%s", stored->environment ? stored->environment : "");
        snprintf(x->environment_name, sizeof x->environment_name, "%s",
                 stored->environment_name ? stored->environment_name : "");
    }
    const int rc = !values || (n > 0 && !more) ? AE_E_NOMEM : 0;
    free(values);
    return rc;
}

/* The newest of these bytes, at this size, there, whatever entrant they were. */
static const struct timing *newest(const struct timings *t, const char *submission, const struct timing *like)
{
    const struct timing *found = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const struct timing *x = &t->items[i];
        if (strcmp(x->submission, submission) == 0 && x->size == like->size &&
            strcmp(x->environment, like->environment) == 0 && (!found || x->id > found->id))
            found = x;
    }
    return found;
}

int ae_gains_read(const struct ae_ladder *ladder, struct ae_store *store, struct ae_gains *ret, struct ae_error *err)
{
    struct timings timings = {.ladder = ladder};
    struct ae_gains gains = {0};
    const struct ae_measurement_filter filter = {.trials = 1u << AE_TRIAL_TIMED, .by_target = true, .target = AE_CUDA};
    int rc = ae_store_measurements(store, &filter, take, &timings, err);
    for (size_t s = 0; rc == AE_OK && s < ladder->count; s++)
        for (size_t i = 0; rc == AE_OK && i < timings.count; i++) {
            const struct timing *after = &timings.items[i];
            if (strcmp(after->submission, ladder->steps[s].sha256) != 0 ||
                newest(&timings, after->submission, after) != after)
                continue;
            const struct timing *before = newest(&timings, ladder->steps[s].parent_sha256, after);
            struct ae_gain *more = before ? realloc(gains.items, (gains.count + 1) * sizeof *more) : NULL;
            if (!before)
                continue;
            if (!more) {
                rc = ae_error_set(err, AE_E_NOMEM, "no memory for gains");
                break;
            }
            gains.items = more;
            struct ae_gain *g = &gains.items[gains.count++];
            *g = (struct ae_gain){.step = &ladder->steps[s],
                                  .size = after->size,
                                  .before_ns = before->median_ns,
                                  .after_ns = after->median_ns};
            memcpy(g->environment, after->environment, sizeof g->environment);
            memcpy(g->environment_name, after->environment_name, sizeof g->environment_name);
        }
    free(timings.items);
    if (rc != AE_OK)
        ae_gains_release(&gains);
    else
        *ret = gains;
    return rc;
}

int ae_gains_read_archives(const struct ae_ladder *ladder, const char *folder, struct ae_gains *ret,
                           struct ae_error *err)
{
    struct dirent **names = NULL;
    char scratch[] = "/tmp/acceleval-ladders-XXXXXX", path[128];
    struct ae_store *store = NULL;
    int rc = AE_OK;
    *ret = (struct ae_gains){0};
    const int count = scandir(folder, &names, NULL, by_name);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        if (rc == AE_OK && ae_text_starts(name, "ladders") && ae_text_ends(name, ".archive")) {
            struct ae_archive_counts counts;
            char file[4400];
            if (!store && !mkdtemp(scratch))
                rc = ae_error_set(err, AE_E_ENV, "no scratch folder for the measurements of the ladders");
            snprintf(path, sizeof path, "%s/results.db", scratch);
            snprintf(file, sizeof file, "%s/%s", folder, name);
            if (rc == AE_OK && !store)
                rc = ae_store_open(&store, path, AE_STORE_WRITE, err);
            if (rc == AE_OK)
                rc = ae_archive_read(store, file, &counts, err);
        }
        free(names[i]);
    }
    free(names);
    if (rc == AE_OK && store)
        rc = ae_gains_read(ladder, store, ret, err);
    ae_store_close(store);
    if (strstr(scratch, "XXXXXX") == NULL)
        (void)ae_folder_remove(scratch, NULL);
    return rc;
}

void ae_gains_release(struct ae_gains *gains)
{
    free(gains->items);
    *gains = (struct ae_gains){0};
}
