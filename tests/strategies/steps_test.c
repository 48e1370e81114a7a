/* Are the ladders true? Each step names the strategies that it changes; the search must find them in it.
 *     steps_test TASKS [--verbose]
 * What only a reader can decide (another algorithm, fused stages, problems that run together) is passed over, and so are
 * the few places below, each with its reason: one that is found after all fails too. Each file of a steps folder must be a
 * step, and stand on a file that is there. --verbose: what else the search finds in a step that it did not find before. */
#include "base/file.h"
#include "base/text.h"
#include "strategy/ladder.h"
#include "strategy/strategy.h"
#include "task/task.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct exception {
    const char *task, *file;
    enum ae_strategy_id id;
    const char *reason;
} exceptions[] = {
    {"dbscan", "steps/04-C07.cu", AE_STRATEGY_C07, "a root is gone from a comparison: what is not there cannot be found"},
    {"hpcg_spmv_27pt", "steps/03-H03.cu", AE_STRATEGY_H03,
     "columns stay at home where a check of the host says that they follow from the grid; else they are sent"},
};

#define EXCEPTIONS (sizeof exceptions / sizeof *exceptions)

struct counts {
    int found, read_only, excepted, wrong;
};

static bool read_whole(const char *tasks, const char *task, const char *file, struct ae_bytes *ret)
{
    char path[4400];
    struct ae_error err = {0};
    snprintf(path, sizeof path, "%s/%s/%s", tasks, task, file);
    if (ae_file_read(path, AE_STRATEGY_SOURCE_MAX, ret, &err) == AE_OK)
        return true;
    fprintf(stderr, "%s\n", err.text);
    return false;
}

static bool find(struct ae_finder *finder, const char *tasks, const char *task, const char *file,
                 struct ae_findings *ret)
{
    struct ae_bytes text = {0}, reference = {0};
    struct ae_error err = {0};
    bool fine = read_whole(tasks, task, file, &text) && read_whole(tasks, task, "reference.c", &reference);
    const struct ae_strategy_input input = {.source = (const char *)text.data,
                                            .source_size = text.size,
                                            .reference = (const char *)reference.data,
                                            .reference_size = reference.size};
    if (fine && ae_strategy_find(finder, &input, ret, &err) != AE_OK) {
        fprintf(stderr, "%s: %s\n", file, err.text);
        fine = false;
    }
    ae_bytes_release(&text);
    ae_bytes_release(&reference);
    return fine;
}

static const struct exception *exception_of(const struct ae_step *step, enum ae_strategy_id id)
{
    for (size_t i = 0; i < EXCEPTIONS; i++)
        if (exceptions[i].id == id && strcmp(exceptions[i].task, step->task->id) == 0 &&
            strcmp(exceptions[i].file, step->file) == 0)
            return &exceptions[i];
    return NULL;
}

static void say_more(const struct ae_step *step, const struct ae_findings *before, const struct ae_findings *after)
{
    char ids[AE_STEP_STRATEGIES_TEXT];
    ae_step_strategies(step, ids);
    printf("%s %s: %s, and", step->task->id, step->file, ids);
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        if (after->presence[id] == AE_PRESENT && before->presence[id] != AE_PRESENT &&
            !ae_step_has(step, (enum ae_strategy_id)id))
            printf(" %s", ae_strategies[id].id);
    printf("\n");
}

static void check_step(struct ae_finder *finder, const char *tasks, const struct ae_step *step, bool verbose,
                       struct counts *counts)
{
    struct ae_findings after = {0}, before = {0};
    if (!find(finder, tasks, step->task->id, step->file, &after) ||
        !find(finder, tasks, step->task->id, step->parent, &before)) {
        counts->wrong++;
        return;
    }
    for (int i = 0; i < step->strategy_count; i++) {
        const enum ae_strategy_id id = step->strategies[i];
        const struct exception *exception = exception_of(step, id);
        const bool found = after.presence[id] == AE_PRESENT;
        if (ae_strategies[id].evidence == AE_EVIDENCE_READING) {
            counts->read_only++;
        } else if (exception) {
            counts->excepted += !found;
            counts->wrong += found;
            if (found)
                printf("%s %s: %s is found, and no exception any longer\n", step->task->id, step->file,
                       ae_strategies[id].id);
        } else {
            counts->found += found;
            counts->wrong += !found;
            if (!found)
                printf("%s %s: %s is declared, and %s\n", step->task->id, step->file, ae_strategies[id].id,
                       ae_presence_name(after.presence[id]));
        }
    }
    if (verbose)
        say_more(step, &before, &after);
    ae_findings_release(&after);
    ae_findings_release(&before);
}

static struct counts check(struct ae_finder *finder, const char *tasks, bool verbose)
{
    struct counts counts = {0};
    struct ae_ladder ladder;
    struct ae_error err = {0};
    if (ae_ladder_read(tasks, &ladder, &err) != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        counts.wrong = 1;
        return counts;
    }
    for (size_t i = 0; i < ladder.count; i++)
        check_step(finder, tasks, &ladder.steps[i], verbose, &counts);
    for (int t = 0; t < ae_task_count; t++) {
        char folder[4300];
        size_t files = 0, steps = 0;
        snprintf(folder, sizeof folder, "%s/%s/steps", tasks, ae_tasks[t]->id);
        DIR *dir = opendir(folder);
        for (struct dirent *entry; dir && (entry = readdir(dir));)
            files += ae_text_ends(entry->d_name, ".cu");
        if (dir)
            closedir(dir);
        for (size_t i = 0; i < ladder.count; i++)
            steps += ladder.steps[i].task == ae_tasks[t];
        if (files != steps) {
            printf("%s: of %zu files in steps/ %zu are steps; HACKING.md says how a first line must look\n",
                   ae_tasks[t]->id, files, steps);
            counts.wrong++;
        }
    }
    ae_ladder_release(&ladder);
    return counts;
}

static bool copy(const char *tasks, const char *from, const char *first_line, const char *to)
{
    struct ae_bytes text = {0};
    bool fine = read_whole(tasks, ae_tasks[0]->id, from, &text);
    FILE *file = fine ? fopen(to, "w") : NULL;
    fine = file && fputs(first_line, file) >= 0 && fwrite(text.data, 1, text.size, file) == text.size;
    if (file)
        fine = fclose(file) == 0 && fine;
    ae_bytes_release(&text);
    return fine;
}

/* A ladder that lies: a naive program that says it has tensor cores, and a file whose name says something else. */
static bool lies_are_told(struct ae_finder *finder, const char *tasks)
{
    char root[] = "/tmp/ae-steps-XXXXXX", path[4400];
    struct ae_error err = {0};
    if (!mkdtemp(root))
        return false;
    snprintf(path, sizeof path, "%s/%s/steps", root, ae_tasks[0]->id);
    bool fine = ae_folder_make(path, &err) == AE_OK;
    static const char *const files[][3] = {{"naive.cu", "", "naive.cu"},
                                           {"reference.c", "", "reference.c"},
                                           {"naive.cu", "// step: C09 on naive.cu\n", "steps/01-C09.cu"},
                                           {"naive.cu", "// step: M03 on naive.cu\n", "steps/02-M04.cu"}};
    for (size_t i = 0; fine && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", root, ae_tasks[0]->id, files[i][2]);
        fine = copy(tasks, files[i][0], files[i][1], path);
    }
    const struct counts counts = fine ? check(finder, root, false) : (struct counts){0};
    if (ae_folder_remove(root, &err) != AE_OK || counts.wrong != 2 || counts.found != 0) {
        printf("a ladder that lies passes: %d of 2 lies are told\n", counts.wrong);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct ae_finder *finder;
    struct ae_error err = {0};
    const bool verbose = argc == 3 && strcmp(argv[2], "--verbose") == 0;
    if (argc < 2 || argc > 3 || (argc == 3 && !verbose)) {
        fprintf(stderr, "usage: steps_test TASKS [--verbose]\n");
        return 2;
    }
    const int rc = ae_finder_new(&finder, &err);
    if (rc == AE_E_ENV) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    if (rc != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const bool told = lies_are_told(finder, argv[1]);
    const struct counts counts = check(finder, argv[1], verbose);
    ae_finder_free(finder);
    printf("%d declared strategies are found, %d are for a reader to say, %d are exceptions, %d wrong\n", counts.found,
           counts.read_only, counts.excepted, counts.wrong);
    return told && counts.wrong == 0 && counts.found > 0 && counts.excepted == (int)EXCEPTIONS ? 0 : 1;
}
