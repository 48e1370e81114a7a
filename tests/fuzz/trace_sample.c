/* Writes a small trace in the form that trace_fuzz.c takes: header, four names, records. */
#include "call/trace.h"

#include <stdio.h>
#include <string.h>

static char names[4][AE_TRACE_NAME] = {"", "cuMemAlloc_v2", "_ZN3cub4scanEv", "cuMemcpyAsync"};

int main(int argc, char **argv)
{
    const struct ae_trace_record records[] = {
        {.kind = AE_TRACE_API, .name = 1, .start = 1000, .end = 2000, .lane = 7, .correlation = 1},
        {.kind = AE_TRACE_API, .name = 3, .start = 2000, .end = 9000, .lane = 7, .correlation = 2},
        {.kind = AE_TRACE_COPY, .start = 3000, .end = 8000, .correlation = 2, .bytes = 4096, .way = AE_TRACE_WAY_IN,
         .from = AE_TRACE_MEMORY_PAGEABLE, .to = AE_TRACE_MEMORY_DEVICE},
        {.kind = AE_TRACE_KERNEL, .name = 2, .start = 7000, .end = 12000, .correlation = 3, .grid = {100, 1, 1},
         .block = {256, 1, 1}, .registers = 32, .shared_dynamic = 1024},
        {.kind = AE_TRACE_SET, .start = 12000, .end = 12500, .correlation = 4, .bytes = 64},
        {.kind = AE_TRACE_API, .name = 1, .start = 12000, .end = 15000, .lane = 9, .correlation = 5, .result = 2},
    };
    const struct ae_trace_header header = {
        .magic = AE_TRACE_MAGIC, .version = AE_TRACE_VERSION, .traced = 1, .start = 1000, .returned = 14000,
        .end = 16000, .main_thread = 7, .record_count = sizeof records / sizeof *records, .name_count = 4,
        .usage = {.user_ns = 10000, .system_ns = 2000, .minor_faults = 3, .threads_before = 1, .threads_after = 2}};
    FILE *out = argc == 2 ? fopen(argv[1], "wb") : NULL;
    return !out || fwrite(&header, sizeof header, 1, out) != 1 || fwrite(names, sizeof names, 1, out) != 1 ||
           fwrite(records, sizeof records, 1, out) != 1 || fclose(out) != 0;
}
