/* Fuzz target: the reader of archives. Whatever the bytes, it takes all of them or leaves the store as it was. */
#include "base/file.h"
#include "store/archive.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ae_store *store;
static char folder[] = "/tmp/ae-fuzz-XXXXXX", path[64];

static void clean_up(void)
{
    ae_store_close(store);
    (void)ae_folder_remove(folder, NULL);
}

static int count_one(void *data, const struct ae_run *run)
{
    (void)run;
    ++*(int *)data;
    return 0;
}

static int runs(void)
{
    int count = 0;
    if (ae_store_runs(store, count_one, &count, NULL) != AE_OK)
        abort();
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!store) {
        char file[64];
        if (!mkdtemp(folder) || atexit(clean_up) != 0)
            abort();
        snprintf(path, sizeof path, "%s/archive", folder);
        snprintf(file, sizeof file, "%s/results.db", folder);
        if (ae_store_open(&store, file, AE_STORE_WRITE, NULL) != AE_OK)
            abort();
    }
    FILE *out = fopen(path, "w");
    if (!out)
        abort();
    (void)fwrite(data, 1, size, out);
    fclose(out);
    struct ae_error err = {0};
    struct ae_archive_counts counts;
    const int before = runs();
    const int rc = ae_archive_read(store, path, &counts, &err);
    if (rc != AE_OK && (!err.text[0] || runs() != before))
        abort();
    if (rc == AE_OK && runs() != before + (int)counts.runs)
        abort();
    return 0;
}
