/* Writes seeds for the judge's fuzz target into a folder: for every family that is small enough the beginning of the
 * right answer (what mutations make of it is nearly right) and a few patches. Every task must have one. */
#include "judge_cells.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 2048

static int write_one(const char *folder, const char *task, const char *family, const char *what, const unsigned char *data,
                     size_t size)
{
    char path[4096];
    struct ae_error err;
    snprintf(path, sizeof path, "%s/%s.%s.%s", folder, task, family, what);
    if (ae_file_write(path, data, size, &err) == AE_OK)
        return 0;
    fprintf(stderr, "judge_seeds: %s\n", err.text);
    return 1;
}

int main(int argc, char **argv)
{
    int failed = 0, cells = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: judge_seeds FOLDER\n");
        return 2;
    }
    for (int t = 0; t < ae_task_count; t++) {
        const struct ae_task *task = ae_tasks[t];
        int usable = 0;
        for (int f = 0; f < ae_task_family_count(task); f++) {
            const struct judge_cell *cell = judge_cell(t, f);
            if (!cell)
                continue;
            unsigned char seed[3 + PIECE] = {(unsigned char)t, (unsigned char)f, JUDGE_REPLACE};
            size_t used = 3;
            for (int i = 0; i < task->arg_count; i++) {
                const struct ae_array *out = &cell->right.out[i];
                const size_t bytes = out->count * ae_type_size(out->type), room = sizeof seed - used;
                if (out->data && bytes)
                    memcpy(seed + used, out->data, bytes < room ? bytes : room);
                used += out->data ? (bytes < room ? bytes : room) : 0;
            }
            failed |= write_one(argv[1], task->id, task->families[f].name, "right", seed, used);
            const int64_t values[] = {-1, INT64_MAX, INT64_MIN, 0, 0x7ff8000000000000};
            unsigned char patch[3 + 5 * 12] = {(unsigned char)t, (unsigned char)f, JUDGE_PATCH};
            for (uint32_t i = 0; i < 5; i++) {
                const uint32_t place = 8 * i * i;
                memcpy(patch + 3 + 12 * i, &place, 4);
                memcpy(patch + 3 + 12 * i + 4, &values[i], 8);
            }
            failed |= write_one(argv[1], task->id, task->families[f].name, "patch", patch, sizeof patch);
            usable++;
        }
        if (usable == 0) {
            fprintf(stderr, "judge_seeds: no family of %s is small enough to be fuzzed\n", task->id);
            failed = 1;
        }
        cells += usable;
    }
    printf("%d families\n", cells);
    return failed;
}
