/* The search against what people found by reading: labels.csv has lines "file,ID,present|absent|unknown" (file:
 * relative to the folder of the corpus, or to the source tree where it begins with "tasks/"; lines of '#' are
 * comments). Prints precision and recall for each strategy and holds the search to limits over those that a source can
 * decide.
 *
 * What stands below the line "# --- held out" is counted for itself and its files are not named, so that nobody mends
 * the search by looking at them; the limits hold for both parts together.
 *
 * Found and present: right. Found and absent: a false alarm. Not found (absent or unknown) and present: missed. What
 * people could not decide counts neither way. */
#include "base/file.h"
#include "base/text.h"
#include "strategy/strategy.h"
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION_LEAST      0.95
#define RECALL_LEAST         0.85
#define PRECISION_EACH_LEAST 0.80

struct counts {
    int right, alarm, missed, passed;
};

struct file {
    char name[512];
    struct ae_findings findings;
};

/* The reference of the task that the file's name tells: tasks/TASK/..., TASK.3.cu. The caller releases it; empty: none.
 */
static void read_reference(const char *tree, const char *name, struct ae_bytes *ret)
{
    for (int i = 0; i < ae_task_count; i++) {
        const size_t n = strlen(ae_tasks[i]->id);
        for (const char *at = name; (at = strstr(at, ae_tasks[i]->id)); at += n) {
            char path[4300];
            struct ae_error ignored;
            if ((at != name && at[-1] != '/') || (at[n] != '/' && at[n] != '.'))
                continue;
            snprintf(path, sizeof path, "%s/tasks/%s/reference.c", tree, ae_tasks[i]->id);
            (void)ae_file_read(path, AE_STRATEGY_SOURCE_MAX, ret, &ignored);
            return;
        }
    }
}

static struct file *files;
static size_t file_count;

static const struct ae_findings *findings_of(struct ae_finder *finder, const char *corpus, const char *tree,
                                             const char *name)
{
    char path[4300];
    struct ae_bytes text;
    struct ae_error err = {0};
    for (size_t i = file_count; i > 0; i--) /* labels of a file stand together */
        if (strcmp(files[i - 1].name, name) == 0)
            return &files[i - 1].findings;
    snprintf(path, sizeof path, "%s/%s", ae_text_starts(name, "tasks/") ? tree : corpus, name);
    if (ae_file_read(path, AE_STRATEGY_SOURCE_MAX, &text, &err) != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return NULL;
    }
    struct file *more = realloc(files, (file_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    files = more;
    struct file *f = &files[file_count];
    snprintf(f->name, sizeof f->name, "%s", name);
    struct ae_bytes reference = {0};
    read_reference(tree, name, &reference);
    const struct ae_strategy_input input = {.source = (const char *)text.data,
                                            .source_size = text.size,
                                            .reference = (const char *)reference.data,
                                            .reference_size = reference.size};
    const int rc = ae_strategy_find(finder, &input, &f->findings, &err);
    ae_bytes_release(&text);
    ae_bytes_release(&reference);
    if (rc != AE_OK) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return NULL;
    }
    file_count++;
    return &f->findings;
}

static double ratio(int part, int rest)
{
    return part + rest > 0 ? (double)part / (part + rest) : 1;
}

/* One table: a part of the labels, or all. */
static int report(const char *title, const struct counts *counts, bool enforced)
{
    struct counts all = {0};
    int failed = 0;
    printf("%-44s %7s %6s %6s %10s %7s\n", title, "present", "missed", "alarms", "precision", "recall");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        const struct counts *c = &counts[id];
        const bool decidable = ae_strategies[id].evidence & AE_EVIDENCE_SOURCE;
        const bool poor = enforced && decidable && ratio(c->right, c->alarm) < PRECISION_EACH_LEAST;
        printf("%s %-40s %7d %6d %6d %10.3f %7.3f%s\n", ae_strategies[id].id, ae_strategies[id].name,
               c->right + c->missed, c->missed, c->alarm, ratio(c->right, c->alarm), ratio(c->right, c->missed),
               !decidable ? "  (not by source)"
               : poor     ? "  TOO LOW"
                          : "");
        failed += poor;
        if (decidable) {
            all.right += c->right;
            all.alarm += c->alarm;
            all.missed += c->missed;
        }
    }
    const double precision = ratio(all.right, all.alarm), recall = ratio(all.right, all.missed);
    printf("%-44s %7d %6d %6d %10.3f %7.3f\n\n", "all that a source can decide", all.right + all.missed, all.missed,
           all.alarm, precision, recall);
    if (enforced && (precision < PRECISION_LEAST || recall < RECALL_LEAST)) {
        printf("at least %.2f and %.2f are asked for\n", PRECISION_LEAST, RECALL_LEAST);
        failed++;
    }
    return failed;
}

int main(int argc, char **argv)
{
    struct ae_finder *finder = NULL;
    struct ae_error err = {0};
    struct counts parts[2][AE_STRATEGY_COUNT] = {{{0}}}, all[AE_STRATEGY_COUNT]; /* open, held out */
    bool held_out = false;
    struct ae_bytes labels;
    char path[4200];
    const bool verbose = argc > 3 && strcmp(argv[3], "--verbose") == 0;
    int lines = 0, bad = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: corpus_test CORPUS TREE [--verbose]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/labels.csv", argv[1]);
    if (ae_file_read(path, (size_t)16 << 20, &labels, &err) != AE_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    const int rc = ae_finder_new(&finder, &err);
    if (rc != AE_OK) {
        printf("%s%s\n", rc == AE_E_ENV ? "skipped: " : "", err.text);
        return rc == AE_E_ENV ? 77 : 1;
    }
    char *next = NULL;
    for (char *line = strtok_r((char *)labels.data, "\r\n", &next); line; line = strtok_r(NULL, "\r\n", &next)) {
        char name[512], id[8], word[16];
        held_out |= ae_text_starts(line, "# --- held out");
        if (line[0] == '#' || strcmp(line, "file,ID,presence") == 0)
            continue;
        const int strategy =
            sscanf(line, "%511[^,],%7[A-Z0-9],%15[a-z]", name, id, word) == 3 ? ae_strategy_by_id(id, &err) : -1;
        const bool present = strcmp(word, "present") == 0, absent = strcmp(word, "absent") == 0;
        const struct ae_findings *f = strategy >= 0 && (present || absent || strcmp(word, "unknown") == 0)
                                          ? findings_of(finder, argv[1], argv[2], name)
                                          : NULL;
        if (!f) {
            fprintf(stderr, "labels.csv: cannot use '%s'\n", line);
            bad++;
            continue;
        }
        lines++;
        const bool found = f->presence[strategy] == AE_PRESENT;
        struct counts *c = &parts[held_out][strategy];
        c->right += found && present;
        c->alarm += found && absent;
        c->missed += !found && present;
        c->passed += !found && absent;
        if (verbose && !held_out && (found ? absent : present))
            printf("%s %s: %s\n", found ? "alarm " : "missed", id, name);
    }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        all[id] = (struct counts){.right = parts[0][id].right + parts[1][id].right,
                                  .alarm = parts[0][id].alarm + parts[1][id].alarm,
                                  .missed = parts[0][id].missed + parts[1][id].missed,
                                  .passed = parts[0][id].passed + parts[1][id].passed};
    report("open part", parts[0], false);
    report("held-out part", parts[1], false);
    const int failed = report("both parts", all, true);
    printf("%d labels of %zu files\n", lines, file_count);
    for (size_t i = 0; i < file_count; i++)
        ae_findings_release(&files[i].findings);
    free(files);
    ae_bytes_release(&labels);
    ae_finder_free(finder);
    return bad > 0 || failed > 0 || lines == 0;
}
