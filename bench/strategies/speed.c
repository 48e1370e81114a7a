/* Claim: 1 000 sources of 500 lines are searched for all strategies in under 10 s on one core. Sources are made from
 * those given, one behind the other until a text has 500 lines.     bench_strategies [--files N] SOURCE... */
#include "base/file.h"
#include "base/text.h"
#include "strategy/strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES 500

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct text {
    char *data;
    size_t size;
};

static size_t lines_of(const char *text, size_t size, size_t most, size_t *ret_bytes)
{
    size_t lines = 0, i = 0;
    for (; i < size && lines < most; i++)
        lines += text[i] == '\n';
    *ret_bytes = i;
    return lines;
}

/* 500 lines from source `first` on. */
static int make(const struct ae_bytes *sources, int count, int first, struct text *ret)
{
    size_t lines = 0;
    *ret = (struct text){0};
    for (int i = first; lines < LINES; i = (i + 1) % count) {
        size_t bytes;
        const size_t more = lines_of((const char *)sources[i].data, sources[i].size, LINES - lines, &bytes);
        char *data = realloc(ret->data, ret->size + bytes + 1);
        if (!data || more == 0)
            return 1;
        memcpy(data + ret->size, sources[i].data, bytes);
        ret->data = data;
        ret->size += bytes;
        lines += more;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct ae_finder *finder;
    struct ae_error err = {0};
    int64_t files = 1000;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--files") == 0 && ae_text_to_i64(argv[2], 1, 1000000, &files))
        first = 3;
    const int count = argc - first;
    struct ae_bytes *sources = count > 0 ? calloc((size_t)count, sizeof *sources) : NULL;
    struct text *texts = count > 0 ? calloc((size_t)count, sizeof *texts) : NULL;
    if (!sources || !texts) {
        fprintf(stderr, "usage: bench_strategies [--files N] SOURCE...\n");
        return 2;
    }
    for (int i = 0; i < count; i++)
        if (ae_file_read(argv[first + i], AE_STRATEGY_SOURCE_MAX, &sources[i], &err) != AE_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
    for (int i = 0; i < count; i++)
        if (make(sources, count, i, &texts[i]) != 0)
            return 1;
    const int64_t start = cpu_ns();
    if (ae_finder_new(&finder, &err) != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const int64_t ready = cpu_ns();
    size_t bytes = 0, found = 0;
    int64_t longest = 0;
    for (int64_t i = 0; i < files; i++) {
        const struct text *t = &texts[i % count];
        const struct ae_strategy_input input = {.source = t->data, .source_size = t->size};
        struct ae_findings findings;
        const int64_t before = cpu_ns();
        if (ae_strategy_find(finder, &input, &findings, &err) != AE_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        const int64_t took = cpu_ns() - before;
        longest = took > longest ? took : longest;
        found += findings.count;
        bytes += t->size;
        ae_findings_release(&findings);
    }
    const double seconds = (double)(cpu_ns() - ready) * 1e-9;
    printf("{\"files\": %lld, \"lines_a_file\": %d, \"bytes\": %zu, \"findings\": %zu, \"start_ms\": %.1f, "
           "\"cpu_seconds\": %.3f, "
           "\"ms_a_file\": %.3f, \"longest_ms\": %.1f, \"within_10_s_a_thousand\": %s}\n",
           (long long)files, LINES, bytes, found, (double)(ready - start) * 1e-6, seconds,
           seconds * 1e3 / (double)files, (double)longest * 1e-6, seconds / (double)files < 0.01 ? "true" : "false");
    ae_finder_free(finder);
    return 0;
}
