/* Fuzz target: a trace as a hostile worker may leave it. Whatever the bytes, reading, adding up, explaining and
 * exporting end without reading beyond them, and the phases still add up to the call. Short inputs are put at the
 * beginning of the header, of the names and of the records: most bytes of a real trace are zeros. */
#include "profile/profile.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES_BYTES (4 * (size_t)AE_TRACE_NAME)

/* header, four names, records: spread over a whole map; the caller's. */
static unsigned char *spread(const uint8_t *data, size_t size, size_t *ret_size)
{
    const size_t header = sizeof(struct ae_trace_header), fixed = offsetof(struct ae_trace_memory_map, records);
    const size_t records = size > header + NAMES_BYTES ? size - header - NAMES_BYTES : 0;
    unsigned char *map = calloc(1, fixed + records + 1);
    if (!map)
        abort();
    memcpy(map, data, size < header ? size : header);
    if (size > header)
        memcpy(map + offsetof(struct ae_trace_memory_map, names), data + header,
               size - header < NAMES_BYTES ? size - header : NAMES_BYTES);
    if (records)
        memcpy(map + fixed, data + header + NAMES_BYTES, records);
    *ret_size = fixed + records;
    return map;
}

static void look(const struct ae_trace *trace, bool device, const struct ae_ceilings *ceilings)
{
    struct ae_profile p = {.task = ae_tasks[0], .target = device ? AE_CUDA : AE_CPU, .profiled_calls = 1};
    int64_t sum = 0;
    if (ae_facts_of(trace, device, &p.facts, NULL) != AE_OK)
        return;
    for (int i = 0; i < AE_PHASE_COUNT; i++) {
        if (p.facts.phase[i].own_ns < 0)
            abort();
        sum += p.facts.phase[i].own_ns;
    }
    if (sum != p.facts.call_ns)
        abort();
    p.ceilings = *ceilings;
    const struct ae_call_view view = {.facts = &p.facts, .ceilings = ceilings, .work = {1e6, 1e6, 1e6, 1}, .baseline_ns = 10000000,
                                      .cores = 4, .profiled_ns = 2 * p.facts.call_ns, .slowest_ns = p.facts.call_ns / 2};
    ae_floors_of(&view, &p.floors);
    p.bottleneck_count = ae_bottlenecks_of(&view, p.bottlenecks);
    for (int i = 0; i < p.bottleneck_count; i++)
        if (!isfinite(p.bottlenecks[i].gain_ns) || !isfinite(p.bottlenecks[i].share) || p.bottlenecks[i].share > 1)
            abort();
    json_t *json = ae_profile_json(&p);
    if (!json)
        abort();
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char machine[] =
        "{\"host\":{\"cores\":16,\"copy_all\":42e9,\"touch_page_ns\":250},\"device\":{\"multiprocessors\":132,"
        "\"threads_a_multiprocessor\":2048,\"registers_a_multiprocessor\":65536,\"shared_a_multiprocessor\":233472,"
        "\"memory_rate\":4e12,\"f32_rate\":6e13,\"alloc_ns\":5e4,\"free_ns\":5e4,\"transfers\":[{\"bytes\":65536,"
        "\"pageable_in_ns\":17000,\"pageable_out_ns\":20000,\"pinned_in_ns\":8700,\"pinned_out_ns\":7800,"
        "\"register_ns\":55000,\"unregister_ns\":32000}]}}";
    struct ae_ceilings ceilings;
    struct ae_trace trace;
    struct ae_error err = {0};
    size_t map_size;
    if (ae_ceilings_parse(machine, sizeof machine - 1, &ceilings, NULL) != AE_OK)
        abort();
    unsigned char *map = spread(data, size, &map_size);
    const int rc = ae_trace_read(map, map_size, &trace, &err);
    if (rc == AE_OK) {
        for (size_t i = 0; i < trace.count; i++)
            if (trace.events[i].start_ns < 0 || trace.events[i].end_ns > trace.call_ns ||
                strlen(trace.events[i].name) >= AE_TRACE_NAME || (i && trace.events[i].start_ns < trace.events[i - 1].start_ns))
                abort();
        look(&trace, true, &ceilings);
        look(&trace, false, &ceilings);
        ae_trace_release(&trace);
    } else if (rc != AE_E_INPUT || !err.text[0]) {
        abort();
    }
    free(map);
    return 0;
}
