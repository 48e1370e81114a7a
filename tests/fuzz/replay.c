/* Drives a fuzz target without libFuzzer: each file given, those of each folder given, and, with --mutate N, N mutations of each (fixed seed, so
 * that a failure comes again). */
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly that size, so that the sanitizer sees every byte read beyond it. */
static void feed(const unsigned char *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void mutate(struct ae_rng *rng, unsigned char *data, size_t size)
{
    static const uint64_t odd[] = {0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX / 2 + 1};
    for (uint32_t n = 1 + ae_rng_below(rng, 8); n > 0; n--) {
        /* half of them in the header, where most decisions are */
        const size_t within = ae_rng_chance(rng, 0.5) && size > 64 ? 64 : size;
        const size_t at = (size_t)ae_rng_below64(rng, within);
        size_t width = (size_t)1 << ae_rng_below(rng, 4);
        if (width > size - at)
            width = size - at;
        const uint64_t value = ae_rng_chance(rng, 0.5) ? odd[ae_rng_below(rng, sizeof odd / sizeof *odd)] : ae_rng_u64(rng);
        memcpy(data + at, &value, width);
    }
}

static int replay_file(const char *path, struct ae_rng *rng, int64_t mutations)
{
    struct ae_bytes bytes;
    struct ae_error err = {0};
    if (ae_file_read(path, (size_t)64 << 20, &bytes, &err) != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    feed(bytes.data, bytes.size);
    unsigned char *work = malloc(bytes.size + 1);
    if (!work)
        return 2;
    for (int64_t m = 0; m < mutations && bytes.size > 0; m++) {
        memcpy(work, bytes.data, bytes.size);
        mutate(rng, work, bytes.size);
        const size_t size = ae_rng_chance(rng, 0.1) ? (size_t)ae_rng_below64(rng, bytes.size) : bytes.size;
        feed(work, size);
    }
    free(work);
    ae_bytes_release(&bytes);
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
    int64_t mutations = 0;
    int first = 1, files = 0, failed = 0;
    if (argc > 2 && strcmp(argv[1], "--mutate") == 0 && ae_text_to_i64(argv[2], 0, 100000000, &mutations))
        first = 3;
    struct ae_rng rng;
    ae_rng_seed(&rng, 1, 0);
    for (int i = first; i < argc; i++) {
        struct dirent **names = NULL;
        const int count = scandir(argv[i], &names, NULL, by_name);
        if (count < 0) { /* a file */
            failed |= replay_file(argv[i], &rng, mutations);
            files++;
        }
        for (int n = 0; n < count; n++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], names[n]->d_name);
            if (names[n]->d_name[0] != '.') {
                failed |= replay_file(path, &rng, mutations);
                files++;
            }
            free(names[n]);
        }
        free(names);
    }
    printf("%d files, %lld mutations each\n", files, (long long)mutations);
    return failed ? failed : files > 0 ? 0 : 2;
}
