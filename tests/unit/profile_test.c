/* Traces made by hand: what the reader refuses, phases that add up, and for each rule a call that provokes it and one
 * that differs in what matters and does not. */
#include "profile/profile.h"
#include "profile/tools.h"
#include "profile/rules.h"

#include "base/clock.h"
#include "base/file.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MAIN_THREAD  77u
#define OTHER_THREAD 78u
#define T0 1000000ull /* the tracer's clock at the call's beginning */

/* A machine much like one with an H200, in the format of acceleval-measure. */
static const char machine[] =
    "{\"schema\":1,\"host\":{\"cores\":16,\"copy_one_thread\":9.7e9,\"copy_threads\":16,\"copy_all\":42e9,"
    "\"touch_page_ns\":250,\"thread_ns\":26000},\"device\":{\"name\":\"test\",\"multiprocessors\":132,"
    "\"threads_a_multiprocessor\":2048,\"blocks_a_multiprocessor\":32,\"registers_a_multiprocessor\":65536,"
    "\"shared_a_multiprocessor\":233472,\"memory_rate\":4.2e12,\"f32_rate\":60e12,\"f64_rate\":33e12,"
    "\"launch_ns\":3900,\"launch_sync_ns\":9600,\"sync_idle_ns\":400,\"small_in_ns\":1800,\"small_out_ns\":8700,"
    "\"alloc_ns\":50000,\"free_ns\":50000,\"pinned_alloc_ns_mb\":585000,\"pinned_free_ns_mb\":170000,\"transfers\":["
    "{\"bytes\":65536,\"pageable_in_ns\":17000,\"pageable_out_ns\":20000,\"pinned_in_ns\":8700,\"pinned_out_ns\":7800,"
    "\"register_ns\":55000,\"unregister_ns\":32000},"
    "{\"bytes\":1048576,\"pageable_in_ns\":92000,\"pageable_out_ns\":170000,\"pinned_in_ns\":27000,"
    "\"pinned_out_ns\":26000,\"register_ns\":78000,\"unregister_ns\":45000},"
    "{\"bytes\":16777216,\"pageable_in_ns\":2200000,\"pageable_out_ns\":1600000,\"pinned_in_ns\":310000,"
    "\"pinned_out_ns\":310000,\"register_ns\":570000,\"unregister_ns\":290000},"
    "{\"bytes\":268435456,\"pageable_in_ns\":40000000,\"pageable_out_ns\":20000000,\"pinned_in_ns\":4900000,"
    "\"pinned_out_ns\":4900000,\"register_ns\":13900000,\"unregister_ns\":5300000}]}}";

/* --- a trace by hand -------------------------------------------------------------------------------------- */

struct script {
    struct ae_trace_memory_map *map;
    double at_us; /* now */
    uint32_t correlation;
};

static void begin(struct script *s)
{
    *s = (struct script){.map = calloc(1, sizeof *s->map)};
    assert_non_null(s->map);
    s->map->header = (struct ae_trace_header){.magic = AE_TRACE_MAGIC, .version = AE_TRACE_VERSION, .traced = 1,
                                              .start = T0, .main_thread = MAIN_THREAD, .name_count = 1};
}

static uint32_t named(struct script *s, const char *name)
{
    uint64_t *count = &s->map->header.name_count;
    for (uint64_t i = 0; i < *count; i++)
        if (strcmp(s->map->names[i], name) == 0)
            return (uint32_t)i;
    snprintf(s->map->names[*count], AE_TRACE_NAME, "%s", name);
    return (uint32_t)(*count)++;
}

static struct ae_trace_record *add(struct script *s, enum ae_trace_kind kind, double from_us, double us)
{
    struct ae_trace_record *r = &s->map->records[s->map->header.record_count++];
    *r = (struct ae_trace_record){.kind = kind, .start = T0 + (uint64_t)llround(from_us * 1e3),
                                  .end = T0 + (uint64_t)llround((from_us + us) * 1e3), .correlation = ++s->correlation};
    return r;
}

/* A driver call of the main thread that ends now + us. */
static void api(struct script *s, const char *name, double us)
{
    struct ae_trace_record *r = add(s, AE_TRACE_API, s->at_us, us);
    r->name = named(s, name);
    r->lane = MAIN_THREAD;
    s->at_us += us;
}

static struct ae_trace_record *kernel(struct script *s, const char *name, double from_us, double us)
{
    struct ae_trace_record *r = add(s, AE_TRACE_KERNEL, from_us, us);
    r->name = named(s, name);
    r->grid[0] = 4096;
    r->grid[1] = r->grid[2] = r->block[1] = r->block[2] = 1;
    r->block[0] = 256;
    r->registers = 32;
    return r;
}

static void copy(struct script *s, bool in, bool pinned, double bytes, double from_us, double us)
{
    struct ae_trace_record *r = add(s, AE_TRACE_COPY, from_us, us);
    const uint32_t host = pinned ? AE_TRACE_MEMORY_PINNED : AE_TRACE_MEMORY_PAGEABLE;
    r->way = in ? AE_TRACE_WAY_IN : AE_TRACE_WAY_OUT;
    r->from = in ? host : AE_TRACE_MEMORY_DEVICE;
    r->to = in ? AE_TRACE_MEMORY_DEVICE : host;
    r->bytes = (uint64_t)bytes;
}

/* Ends the call now and reads it back. */
static void finish(struct script *s, struct ae_trace *ret)
{
    struct ae_error err = {0};
    s->map->header.returned = s->map->header.end = T0 + (uint64_t)llround(s->at_us * 1e3);
    assert_int_equal(ae_trace_read(s->map, sizeof *s->map, ret, &err), AE_OK);
    free(s->map);
}

static void facts_of(struct script *s, struct ae_facts *ret)
{
    struct ae_trace trace;
    finish(s, &trace);
    assert_int_equal(ae_facts_of(&trace, true, ret, NULL), AE_OK);
    ae_trace_release(&trace);
}

static int64_t sum_of(const struct ae_facts *f)
{
    int64_t sum = 0;
    for (int p = 0; p < AE_PHASE_COUNT; p++)
        sum += f->phase[p].own_ns;
    return sum;
}

/* --- the reader ------------------------------------------------------------------------------------------- */

static void reader_refuses_nonsense(void **state)
{
    struct script s;
    struct ae_trace trace;
    struct ae_error err;
    (void)state;
    begin(&s);
    api(&s, "cuMemAlloc_v2", 50);
    s.map->header.returned = s.map->header.end = T0 + 50000;
    assert_int_equal(ae_trace_read(s.map, sizeof *s.map, &trace, &err), AE_OK); /* as it is, it is fine */
    assert_int_equal(trace.count, 1);
    ae_trace_release(&trace);
    assert_int_equal(ae_trace_read(s.map, 100, &trace, &err), AE_E_INPUT);
    /* More records than bytes. */
    assert_int_equal(ae_trace_read(s.map, offsetof(struct ae_trace_memory_map, records) + 10, &trace, &err), AE_E_INPUT);
    const struct ae_trace_header good = s.map->header;
    const struct {
        size_t offset;
        uint64_t value;
    } bad[] = {
        {offsetof(struct ae_trace_header, magic), 1},
        {offsetof(struct ae_trace_header, start), UINT64_MAX},
        {offsetof(struct ae_trace_header, returned), 1},
        {offsetof(struct ae_trace_header, end), UINT64_MAX},
        {offsetof(struct ae_trace_header, record_count), UINT64_MAX},
        {offsetof(struct ae_trace_header, name_count), AE_TRACE_NAMES + 1},
        {offsetof(struct ae_trace_header, name_count), 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy((char *)&s.map->header + bad[i].offset, &bad[i].value, sizeof bad[i].value);
        assert_int_equal(ae_trace_read(s.map, sizeof *s.map, &trace, &err), AE_E_INPUT);
        s.map->header = good;
    }
    /* A record that makes no sense is left out and counted; names are made printable and ended. */
    s.map->records[0].name = 9999;
    memset(s.map->names[1], 0x1b, AE_TRACE_NAME);
    s.map->records[1] = s.map->records[0];
    s.map->records[1].name = 1;
    s.map->header.record_count = 2;
    assert_int_equal(ae_trace_read(s.map, sizeof *s.map, &trace, &err), AE_OK);
    assert_int_equal(trace.rejected, 1);
    assert_int_equal(trace.count, 1);
    assert_int_equal(strlen(trace.events[0].name), AE_TRACE_NAME - 1);
    assert_int_equal(trace.events[0].name[0], '?');
    ae_trace_release(&trace);
    free(s.map);
}

static void reader_cuts_to_the_call(void **state)
{
    struct script s;
    struct ae_trace trace;
    (void)state;
    begin(&s);
    (void)kernel(&s, "early", -50, 20); /* the ramp */
    (void)kernel(&s, "across", -10, 30);
    s.at_us = 100;
    (void)kernel(&s, "late", 120, 10);
    finish(&s, &trace);
    assert_int_equal(trace.count, 1);
    assert_string_equal(trace.events[0].name, "across");
    assert_int_equal(trace.events[0].start_ns, 0);
    assert_int_equal(trace.events[0].end_ns, 20000);
    ae_trace_release(&trace);
}

static void names_are_read(void **state)
{
    char name[96];
    (void)state;
    const char *const pairs[][2] = {
        {"_Z5pricePKfPf", "price"},
        {"_ZN3cub17CUB_300002_SM_90016DeviceScanKernelINS_4NullEEEvv", "cub::DeviceScanKernel"},
        {"_ZN12_GLOBAL__N_14stepEi", "step"},
        {"_ZL4stepi", "step"},
        {"plain_c_name", "plain_c_name"},
        {"_Z999999999999999999999x", "_Z999999999999999999999x"},
        {"_Z", "_Z"},
        {"_ZN", "_ZN"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ae_kernel_name(pairs[i][0], name, sizeof name);
        assert_string_equal(name, pairs[i][1]);
    }
    assert_int_equal(ae_api_of("cuMemAlloc_v2"), AE_API_ALLOC);
    assert_int_equal(ae_api_of("cuMemAllocHost_v2"), AE_API_PIN);
    assert_int_equal(ae_api_of("cuMemFreeHost"), AE_API_UNPIN);
    assert_int_equal(ae_api_of("cuMemcpyHtoDAsync_v2"), AE_API_COPY_IN);
    assert_int_equal(ae_api_of("cuStreamSynchronize"), AE_API_WAIT);
    assert_int_equal(ae_api_of("cuStreamCreate"), AE_API_HANDLE);
    assert_int_equal(ae_api_of("cuGraphLaunch"), AE_API_GRAPH_LAUNCH);
    assert_int_equal(ae_api_of("cuGraphInstantiate"), AE_API_GRAPH);
    assert_int_equal(ae_api_of("cudaMalloc_v3020"), AE_API_ALLOC);
    assert_int_equal(ae_api_of("cudaMallocHost_v3020"), AE_API_PIN);
    assert_int_equal(ae_api_of("cudaHostAlloc_v3020"), AE_API_PIN);
    assert_int_equal(ae_api_of("cudaFree_v3020"), AE_API_FREE);
    assert_int_equal(ae_api_of("cudaFreeHost_v3020"), AE_API_UNPIN);
    assert_int_equal(ae_api_of("cudaMemcpyAsync_v3020"), AE_API_COPY);
    assert_int_equal(ae_api_of("cudaLaunchKernel_v7000"), AE_API_LAUNCH);
    assert_int_equal(ae_api_of("cudaDeviceSynchronize_v3020"), AE_API_WAIT);
    assert_int_equal(ae_api_of("cudaMallocManaged_v6000"), AE_API_ALLOC_MANAGED);
    assert_int_equal(ae_api_of("something"), AE_API_OTHER);
}

/* --- phases ----------------------------------------------------------------------------------------------- */

static void phases_add_up(void **state)
{
    struct script s;
    struct ae_facts f;
    (void)state;
    begin(&s);
    api(&s, "cuMemAlloc_v2", 100);
    copy(&s, true, false, 1e6, 110, 80); /* within the call that stages it */
    api(&s, "cuMemcpyHtoD_v2", 100);     /* 100..200 */
    api(&s, "cuLaunchKernel", 10);       /* 200..210 */
    (void)kernel(&s, "k", 205, 100);     /* ..305 */
    api(&s, "cuCtxSynchronize", 110);    /* 210..320: waits for the kernel until 305 */
    copy(&s, false, false, 1e6, 330, 50);
    api(&s, "cuMemcpyDtoH_v2", 80); /* 320..400 */
    api(&s, "cuMemFree_v2", 40);    /* 400..440 */
    s.at_us += 60;                  /* on the host, of which the processor worked for 40 */
    s.map->header.usage.user_ns = (440 + 40) * 1000;
    facts_of(&s, &f);
    assert_int_equal(f.call_ns, 500000);
    assert_int_equal(sum_of(&f), f.call_ns);
    assert_int_equal(f.phase[AE_PHASE_ALLOC].own_ns, 100000);
    assert_int_equal(f.phase[AE_PHASE_IN].own_ns, 100000); /* staging before and after the copy is the copy's */
    assert_int_equal(f.phase[AE_PHASE_LAUNCH].own_ns, 5000);
    assert_int_equal(f.phase[AE_PHASE_KERNEL].own_ns, 100000);
    assert_int_equal(f.phase[AE_PHASE_WAIT].own_ns, 15000);
    assert_int_equal(f.phase[AE_PHASE_OUT].own_ns, 80000);
    assert_int_equal(f.phase[AE_PHASE_FREE].own_ns, 40000);
    assert_int_equal(f.phase[AE_PHASE_HOST].own_ns, 40000);
    assert_int_equal(f.phase[AE_PHASE_IDLE].own_ns, 20000);
    assert_int_equal(f.device_ns, 230000);
    assert_int_equal(f.in.count, 1);
    assert_int_equal(f.launches, 1);
}

static void overlaps_count_once(void **state)
{
    struct script s;
    struct ae_facts f;
    (void)state;
    begin(&s);
    /* Two kernels at once, a copy in beside them, a copy out beside that. */
    (void)kernel(&s, "a", 0, 100);
    (void)kernel(&s, "b", 50, 100);
    copy(&s, true, true, 1e6, 100, 100);
    copy(&s, false, true, 1e6, 150, 100);
    s.at_us = 250;
    facts_of(&s, &f);
    assert_int_equal(sum_of(&f), 250000);
    assert_int_equal(f.phase[AE_PHASE_KERNEL].own_ns, 150000);
    assert_int_equal(f.phase[AE_PHASE_KERNEL].busy_ns, 150000);
    assert_int_equal(f.phase[AE_PHASE_IN].own_ns, 50000);
    assert_int_equal(f.phase[AE_PHASE_IN].busy_ns, 100000);
    assert_int_equal(f.phase[AE_PHASE_OUT].own_ns, 50000);
    assert_int_equal(f.phase[AE_PHASE_OUT].busy_ns, 100000);
    assert_int_equal(f.overlap_ns, 50000);
    assert_int_equal(f.both_ways_ns, 50000);
}

static void other_threads_explain(void **state)
{
    struct script s;
    struct ae_facts f;
    (void)state;
    begin(&s);
    /* The calling thread waits for two that copy; the driver stages what the device does not see yet. */
    for (int i = 0; i < 2; i++) {
        struct ae_trace_record *r = add(&s, AE_TRACE_API, 10, 50);
        r->name = named(&s, "cuMemcpyHtoD_v2");
        r->lane = OTHER_THREAD + (uint32_t)i;
    }
    s.at_us = 100;
    facts_of(&s, &f);
    assert_int_equal(f.phase[AE_PHASE_IN].own_ns, 50000);
    assert_int_equal(f.phase[AE_PHASE_IDLE].own_ns, 50000);
    assert_int_equal(sum_of(&f), 100000);
}

/* The driver's call within the runtime's is one call, and a copy's way is known by what it started. */
static void calls_within_calls_are_one(void **state)
{
    struct script s;
    struct ae_facts f;
    (void)state;
    begin(&s);
    api(&s, "cudaMemcpy_v3020", 100);
    const uint32_t correlation = s.correlation;
    s.at_us = 10;
    api(&s, "cuMemcpyHtoD_v2", 80);
    copy(&s, true, false, 1e6, 20, 60);
    s.map->records[s.map->header.record_count - 1].correlation = correlation;
    s.at_us = 100;
    facts_of(&s, &f);
    assert_int_equal(f.api[AE_API_COPY_IN].count, 1);
    assert_int_equal(f.api[AE_API_COPY_IN].ns, 100000);
    assert_int_equal(f.phase[AE_PHASE_IN].own_ns, 100000);
}

static void many_kernels_stay_in_their_table(void **state)
{
    struct script s;
    struct ae_facts f;
    char name[32];
    (void)state;
    begin(&s);
    for (int i = 0; i < 3 * AE_KERNELS_MAX; i++) {
        snprintf(name, sizeof name, "k%d", i);
        (void)kernel(&s, name, i, 1);
    }
    s.at_us = 3 * AE_KERNELS_MAX;
    facts_of(&s, &f);
    assert_int_equal(f.kernel_count, AE_KERNELS_MAX);
    assert_int_equal(f.launches, 3 * AE_KERNELS_MAX);
    assert_string_equal(f.kernels[0].name, "(others)");
    assert_int_equal(sum_of(&f), f.call_ns);
}

/* --- rules ------------------------------------------------------------------------------------------------ */

/* A call by its parts, one after the other. What is 0 is not there. */
struct shape {
    double reference_ms;
    int cores;
    int allocs;
    double alloc_us; /* of each, and of its free */
    double pin_us, register_us, managed_us;
    int ins, outs;
    bool pageable;
    double in_bytes, in_us, out_bytes, out_us; /* of each copy */
    bool beside;                               /* copies run while the kernels do */
    bool both_ways;                            /* copies in and out at once */
    int launches;
    double kernel_us, gap_us; /* gap: the host between two launches */
    bool waits;               /* after each launch */
    uint32_t blocks, threads, registers, shared, local;
    double graph_us;
    int graph_launches;
    double handle_us, code_us, wait_us, host_us, idle_us;
    double work_in, work_out, operations;
    /* cpu target */
    bool cpu;
    double call_us, user_us, system_us;
    int64_t faults, involuntary, threads_alive;
    double queued_us;
    int64_t instructions, cycles;
};

static void copies(struct script *s, const struct shape *p, bool in)
{
    const int n = in ? p->ins : p->outs;
    const double bytes = in ? p->in_bytes : p->out_bytes, us = in ? p->in_us : p->out_us;
    for (int i = 0; i < n; i++) {
        const double from = s->at_us;
        api(s, in ? "cuMemcpyHtoD_v2" : "cuMemcpyDtoH_v2", us);
        copy(s, in, !p->pageable, bytes, from, us);
    }
}

static void kernels(struct script *s, const struct shape *p)
{
    for (int i = 0; i < p->launches; i++) {
        struct ae_trace_record *r = kernel(s, "_Z4stepi", s->at_us, p->kernel_us);
        r->grid[0] = p->blocks ? p->blocks : 4096;
        r->block[0] = p->threads ? p->threads : 256;
        r->registers = p->registers ? p->registers : 32;
        r->shared_dynamic = p->shared;
        r->local = p->local;
        s->at_us += p->kernel_us;
        if (p->waits)
            api(s, "cuStreamSynchronize", p->gap_us);
        else
            s->at_us += p->gap_us;
    }
}

static void perform(const struct shape *p, struct ae_facts *ret)
{
    struct script s;
    struct ae_trace trace;
    begin(&s);
    for (int i = 0; i < p->allocs; i++)
        api(&s, "cuMemAlloc_v2", p->alloc_us);
    if (p->pin_us > 0)
        api(&s, "cuMemHostAlloc", p->pin_us);
    if (p->register_us > 0)
        api(&s, "cuMemHostRegister_v2", p->register_us);
    if (p->managed_us > 0)
        api(&s, "cuMemAllocManaged", p->managed_us);
    if (p->code_us > 0)
        api(&s, "cuLibraryLoadData", p->code_us);
    if (p->handle_us > 0)
        api(&s, "cuStreamCreate", p->handle_us);
    if (p->graph_us > 0)
        api(&s, "cuGraphInstantiateWithFlags", p->graph_us);
    for (int i = 0; i < p->graph_launches; i++)
        api(&s, "cuGraphLaunch", 5);
    const double before = s.at_us;
    copies(&s, p, true);
    if (p->beside || p->both_ways)
        s.at_us = before;
    if (p->beside)
        kernels(&s, p);
    else if (!p->both_ways)
        kernels(&s, p);
    copies(&s, p, false);
    if (p->both_ways)
        kernels(&s, p);
    if (p->wait_us > 0)
        api(&s, "cuCtxSynchronize", p->wait_us);
    for (int i = 0; i < p->allocs; i++)
        api(&s, "cuMemFree_v2", p->alloc_us);
    s.at_us += p->host_us + p->idle_us + p->call_us;
    s.map->header.usage = (struct ae_trace_usage){
        .user_ns = (int64_t)(1e3 * (p->cpu ? p->user_us : s.at_us - p->idle_us)),
        .system_ns = (int64_t)(1e3 * p->system_us),
        .minor_faults = p->faults,
        .queued_ns = (int64_t)(1e3 * p->queued_us),
        .involuntary = p->involuntary,
        .threads_after = p->threads_alive,
    };
    s.map->header.traced = !p->cpu;
    finish(&s, &trace);
    assert_int_equal(ae_facts_of(&trace, !p->cpu, ret, NULL), AE_OK);
    ae_trace_release(&trace);
    assert_int_equal(sum_of(ret), ret->call_ns);
    if (p->cycles) {
        ret->counters.instructions = p->instructions;
        ret->counters.cycles = p->cycles;
    }
}

/* A minute of thirty-two processors is no nonsense; what a program writes over its numbers may be. */
static void processor_time_adds_up(void **state)
{
    (void)state;
    struct shape cpu = {.cpu = true, .user_us = 32 * 60e6, .call_us = 60e6};
    struct ae_facts facts;
    perform(&cpu, &facts);
    assert_int_equal(facts.usage.user_ns, 32 * INT64_C(60000000000));
    cpu.user_us = 9e15;
    cpu.system_us = 9e15;
    perform(&cpu, &facts);
    assert_true(facts.usage.user_ns > 0 && facts.usage.user_ns < INT64_MAX / 2);
}

/* The bottleneck of that id in the call; its rule is NULL where it does not fire. */
static struct ae_bottleneck find(const struct shape *p, const char *id)
{
    struct ae_facts facts;
    struct ae_ceilings ceilings;
    struct ae_bottleneck found[AE_BOTTLENECKS_MAX];
    assert_int_equal(ae_ceilings_parse(machine, sizeof machine - 1, &ceilings, NULL), AE_OK);
    perform(p, &facts);
    const struct ae_call_view view = {
        .facts = &facts,
        .ceilings = &ceilings,
        .work = {.bytes_in = p->work_in, .bytes_out = p->work_out, .operations = p->operations, .steps = 1},
        .baseline_ns = (int64_t)(p->reference_ms * 1e6),
        .cores = p->cores ? p->cores : 15};
    const int n = ae_bottlenecks_of(&view, found);
    for (int i = 0; i < n; i++) {
        assert_true(found[i].share >= 0 && found[i].share <= 1);
        assert_true(isfinite(found[i].gain_ns) && found[i].gain_ns >= 0);
        assert_true(found[i].gain_ns <= (double)facts.call_ns);
        assert_true(i == 0 || found[i - 1].rule->headline || found[i].gain_ns <= found[i - 1].gain_ns);
        assert_true(i == 0 || !found[i].rule->headline);
        assert_true(found[i].text[0] && strlen(found[i].text) < AE_BOTTLENECK_TEXT - 1);
        if (strcmp(found[i].rule->id, id) == 0)
            return found[i];
    }
    return (struct ae_bottleneck){0};
}

/* A balanced call to start from: few allocations, pinned copies beside a kernel. */
#define CLEAN CLEAN_BUT(1, 1)
#define CLEAN_BUT(n_allocs, n_ins) .allocs = n_allocs, .alloc_us = 50, .ins = n_ins, .outs = 1, .in_bytes = 50e6, \
              .in_us = 950, .out_bytes = 50e6, .out_us = 950, .work_in = 50e6, .work_out = 50e6
#define KERNEL .launches = 1, .kernel_us = 1000

static const struct {
    const char *id;
    struct shape yes, no;
} rule_cases[] = {
    {"loses-to-transfer",
     {.reference_ms = 10, .pageable = true, .allocs = 1, .alloc_us = 50, .ins = 1, .in_bytes = 38e6, .in_us = 6000,
      .launches = 1, .kernel_us = 1000, .outs = 1, .out_bytes = 78e6, .out_us = 6000, .work_in = 38e6, .work_out = 78e6},
     {.reference_ms = 100, .pageable = true, .allocs = 1, .alloc_us = 50, .ins = 1, .in_bytes = 38e6, .in_us = 6000,
      .launches = 1, .kernel_us = 1000, .outs = 1, .out_bytes = 78e6, .out_us = 6000, .work_in = 38e6, .work_out = 78e6}},
    {"pageable-in",
     {.pageable = true, .ins = 1, .in_bytes = 134e6, .in_us = 20500, KERNEL, .work_in = 134e6},
     {.pageable = false, .ins = 1, .in_bytes = 134e6, .in_us = 2700, KERNEL, .work_in = 134e6}},
    {"pageable-out",
     {.pageable = true, .outs = 1, .out_bytes = 134e6, .out_us = 10500, KERNEL, .work_out = 134e6},
     {.pageable = true, .outs = 1, .out_bytes = 1e6, .out_us = 165, KERNEL, .work_out = 1e6}},
    {"link-bound", {CLEAN, .launches = 1, .kernel_us = 100},
     {.allocs = 1, .alloc_us = 50, .ins = 1, .in_bytes = 50e6, .in_us = 8000, .pageable = true, .launches = 1,
      .kernel_us = 100, .work_in = 50e6}},
    {"excess-bytes", {CLEAN_BUT(1, 3), KERNEL}, {CLEAN, KERNEL}},
    {"small-copies",
     {.ins = 200, .in_bytes = 4096, .in_us = 4, .launches = 1, .kernel_us = 300, .work_in = 200 * 4096},
     {.ins = 1, .in_bytes = 200 * 4096, .in_us = 70, .launches = 1, .kernel_us = 300, .work_in = 200 * 4096}},
    {"no-overlap", {CLEAN, .launches = 1, .kernel_us = 1500},
     {CLEAN, .launches = 1, .kernel_us = 1500, .beside = true}},
    {"one-way", {CLEAN}, {CLEAN, .both_ways = true}},
    {"allocation", {CLEAN_BUT(30, 1), KERNEL}, {CLEAN, KERNEL}},
    {"pinned-allocation", {CLEAN, KERNEL, .pin_us = 30000}, {CLEAN, KERNEL, .pin_us = 100}},
    {"registration",
     {.ins = 1, .in_bytes = 1e6, .in_us = 27, .register_us = 123, .launches = 1, .kernel_us = 200, .work_in = 1e6},
     {.ins = 1, .in_bytes = 16e6, .in_us = 300, .register_us = 800, .launches = 1, .kernel_us = 200, .work_in = 16e6}},
    {"managed", {.managed_us = 50, .launches = 1, .kernel_us = 50000, .work_in = 50e6, .work_out = 50e6},
     {.allocs = 1, .alloc_us = 50, .launches = 1, .kernel_us = 50000, .work_in = 50e6, .work_out = 50e6}},
    {"launch-bound", {.launches = 2048, .kernel_us = 3, .gap_us = 1}, {.launches = 20, .kernel_us = 300, .gap_us = 1}},
    {"waits-each-step", {.launches = 200, .kernel_us = 10, .gap_us = 8, .waits = true},
     {.launches = 200, .kernel_us = 10, .gap_us = 8}},
    {"gaps", {.launches = 3, .kernel_us = 200, .gap_us = 300}, {.launches = 3, .kernel_us = 200, .gap_us = 5}},
    {"idle-wait", {CLEAN, KERNEL, .wait_us = 900}, {CLEAN, KERNEL, .wait_us = 5}},
    {"graph-once", {.graph_us = 400, .graph_launches = 1, .launches = 50, .kernel_us = 5},
     {.graph_us = 400, .graph_launches = 100, .launches = 50, .kernel_us = 5}},
    {"handles", {CLEAN, KERNEL, .handle_us = 2000}, {CLEAN, KERNEL, .handle_us = 3}},
    {"code-loading", {CLEAN, KERNEL, .code_us = 4000}, {CLEAN, KERNEL, .code_us = 20}},
    {"one-block", {CLEAN, .launches = 1, .kernel_us = 5000, .blocks = 1, .threads = 1024}, {CLEAN, KERNEL}},
    {"few-blocks", {CLEAN, .launches = 1, .kernel_us = 5000, .blocks = 16}, {CLEAN, KERNEL, .blocks = 132}},
    {"small-blocks", {CLEAN, KERNEL, .threads = 16}, {CLEAN, KERNEL, .threads = 128}},
    {"ragged-blocks", {CLEAN, KERNEL, .threads = 100}, {CLEAN, KERNEL, .threads = 96}},
    {"local-memory", {CLEAN, KERNEL, .local = 16384}, {CLEAN, KERNEL, .local = 16}},
    {"low-occupancy", {CLEAN, KERNEL, .shared = 200000}, {CLEAN, KERNEL, .shared = 20000}},
    {"tail-wave", {CLEAN, KERNEL, .blocks = 1100}, {CLEAN, KERNEL, .blocks = 1056}},
    {"device-limit", {.launches = 1, .kernel_us = 60, .work_in = 100e6, .work_out = 100e6},
     {.launches = 1, .kernel_us = 600, .work_in = 100e6, .work_out = 100e6}},
    {"far-from-floor", {.launches = 1, .kernel_us = 2000, .work_in = 100e6, .work_out = 100e6},
     {.launches = 1, .kernel_us = 60, .work_in = 100e6, .work_out = 100e6}},
    {"host-bound", {CLEAN, KERNEL, .host_us = 3000}, {CLEAN, KERNEL, .host_us = 100}},
    {"idle", {CLEAN, KERNEL, .idle_us = 2000}, {CLEAN, KERNEL, .host_us = 2000}},
    {"preempted", {.cpu = true, .call_us = 10000, .user_us = 6000, .queued_us = 3500},
     {.cpu = true, .call_us = 10000, .user_us = 6000, .queued_us = 10}},
    {"one-thread", {.cpu = true, .call_us = 10000, .user_us = 10000}, {.cpu = true, .call_us = 10000, .user_us = 140000}},
    {"cores-wait", {.cpu = true, .call_us = 10000, .user_us = 50000}, {.cpu = true, .call_us = 10000, .user_us = 140000}},
    {"page-faults", {.cpu = true, .call_us = 10000, .user_us = 5000, .system_us = 5000, .faults = 20000},
     {.cpu = true, .call_us = 10000, .user_us = 10000, .faults = 300}},
    {"system-time", {.cpu = true, .call_us = 100000, .user_us = 50000, .system_us = 50000},
     {.cpu = true, .call_us = 100000, .user_us = 90000, .system_us = 10000}},
    {"crowded", {.cpu = true, .call_us = 10000, .user_us = 140000, .threads_alive = 64, .involuntary = 400},
     {.cpu = true, .call_us = 10000, .user_us = 140000, .threads_alive = 15, .involuntary = 400}},
    {"memory-stalls", {.cpu = true, .call_us = 10000, .user_us = 10000, .instructions = 9000000, .cycles = 30000000},
     {.cpu = true, .call_us = 10000, .user_us = 10000, .instructions = 60000000, .cycles = 30000000}},
};

#define RULE_CASES (sizeof rule_cases / sizeof *rule_cases)

static void every_rule_fires_and_keeps_quiet(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_CASES; i++) {
        const struct ae_bottleneck yes = find(&rule_cases[i].yes, rule_cases[i].id);
        if (!yes.rule)
            fail_msg("%s does not fire on the call that provokes it", rule_cases[i].id);
        if (find(&rule_cases[i].no, rule_cases[i].id).rule)
            fail_msg("%s fires on a call without it", rule_cases[i].id);
    }
}

static void every_rule_has_a_case_and_a_text(void **state)
{
    (void)state;
    assert_true(ae_bottleneck_rule_count >= 15);
    assert_true(ae_bottleneck_rule_count <= AE_BOTTLENECKS_MAX);
    for (int i = 0; i < ae_bottleneck_rule_count; i++) {
        const struct ae_bottleneck_rule *rule = &ae_bottleneck_rules[i];
        size_t k = 0;
        while (k < RULE_CASES && strcmp(rule_cases[k].id, rule->id) != 0)
            k++;
        if (k == RULE_CASES)
            fail_msg("no case for the rule %s", rule->id);
        assert_true(rule->title && rule->when && rule->gain && rule->mend && rule->provoked_by);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(rule->id, ae_bottleneck_rules[j].id);
    }
}

/* Without ceilings nothing divides by them. */
static void rules_live_without_ceilings(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_CASES; i++) {
        struct ae_facts facts;
        const struct ae_ceilings none = {0};
        struct ae_bottleneck found[AE_BOTTLENECKS_MAX];
        perform(&rule_cases[i].yes, &facts);
        const struct ae_call_view view = {.facts = &facts, .ceilings = &none};
        const int n = ae_bottlenecks_of(&view, found);
        for (int k = 0; k < n; k++)
            assert_true(isfinite(found[k].gain_ns) && isfinite(found[k].share));
    }
}

/* The classic: 10 ms on the CPU; 1 ms of kernel between 6 ms in and 6 ms out. */
static void the_classic_is_said(void **state)
{
    (void)state;
    const struct ae_bottleneck b = find(&rule_cases[0].yes, "loses-to-transfer");
    assert_non_null(b.rule);
    assert_non_null(strstr(b.text, "10 times faster"));
    assert_non_null(strstr(b.text, "the user waits longer (13.1 ms instead of 10.0)"));
    const struct ae_bottleneck in = find(&rule_cases[0].yes, "pageable-in");
    assert_non_null(in.rule);
    assert_true(in.gain_ns > 3e6 && in.gain_ns < 6e6);
}

/* As seen of a call of half a millisecond that computes: the kernel looks at ticks only, and books all of it as its own. */
static void a_tick_is_no_system_time(void **state)
{
    const struct shape seen = {.cpu = true, .call_us = 502, .user_us = 0, .system_us = 450};
    struct ae_facts facts;
    (void)state;
    perform(&seen, &facts);
    assert_int_equal(facts.phase[AE_PHASE_SYSTEM].own_ns, 0);
    assert_int_equal(facts.phase[AE_PHASE_HOST].own_ns, 450000);
    assert_null(find(&seen, "system-time").rule);
    const struct shape longer = {.cpu = true, .call_us = 50200, .user_us = 0, .system_us = 45000};
    perform(&longer, &facts);
    assert_int_equal(facts.phase[AE_PHASE_SYSTEM].own_ns, 45000000);
    assert_non_null(find(&longer, "system-time").rule);
}

static bool is_supported(const struct shape *p, const char *id, double slowest_us, double profiled_us)
{
    struct ae_facts facts;
    const struct ae_bottleneck b = find(p, id);
    if (!b.rule)
        fail_msg("%s does not fire", id);
    perform(p, &facts);
    const struct ae_call_view view = {
        .facts = &facts, .slowest_ns = (int64_t)(1e3 * slowest_us), .profiled_ns = (int64_t)(1e3 * profiled_us)};
    return ae_bottleneck_supported(&view, &b);
}

/* What may be the tracer's own work explains nothing: a rule fires on the trace of a call, which took longer than any
 * without the tracer. */
static void short_calls_are_not_explained_by_the_tracer(void **state)
{
    struct ae_facts facts;
    const struct shape call = {.launches = 2, .kernel_us = 5, .host_us = 60};
    (void)state;
    perform(&call, &facts);
    const double us = (double)facts.call_ns * 1e-3;
    assert_true(us > 65 && us < 200);
    assert_true(is_supported(&call, "host-bound", 0, us));       /* nothing to hold it against */
    assert_true(is_supported(&call, "host-bound", us + 20, us)); /* the tracer was not felt */
    assert_true(is_supported(&call, "host-bound", us - 20, us));
    assert_false(is_supported(&call, "host-bound", us - 60, us));
    /* Tracing doubles a call of many launches, and it is launches that it is made of. */
    for (size_t i = 0; i < RULE_CASES; i++)
        if (strcmp(rule_cases[i].id, "launch-bound") == 0) {
            perform(&rule_cases[i].yes, &facts);
            const double all = (double)facts.call_ns * 1e-3;
            assert_true(is_supported(&rule_cases[i].yes, "launch-bound", all / 2, all));
        }
    /* Too short for the records themselves, whatever the share. */
    const struct shape tiny = {.launches = 2, .kernel_us = 1, .host_us = 4};
    assert_false(is_supported(&tiny, "host-bound", 0, 0));
}

/* --- ceilings --------------------------------------------------------------------------------------------- */

/* Nothing is divided by a floor that is less than an empty kernel takes. */
static void tiny_floors_make_no_ratio(void **state)
{
    (void)state;
    const struct shape tiny = {.launches = 1, .kernel_us = 20000, .work_in = 100, .work_out = 100},
                       large = {.launches = 1, .kernel_us = 2000, .work_in = 100e6, .work_out = 100e6};
    assert_non_null(strstr(find(&large, "far-from-floor").text, " times the "));
    const struct ae_bottleneck b = find(&tiny, "far-from-floor");
    assert_non_null(b.rule);
    assert_null(strstr(b.text, " times the "));
}

/* The widest of what may overlap, then the chain and the 20 us. */
static void floors_of_whole_calls(void **state)
{
    struct ae_ceilings c;
    (void)state;
    assert_int_equal(ae_ceilings_parse(machine, sizeof machine - 1, &c, NULL), AE_OK);
    double in = 0;
    for (int i = 0; i < c.transfer_count; i++)
        in = fmax(in, c.transfers[i].bytes / c.transfers[i].pinned_in_ns);
    struct ae_work work = {.bytes_in = 1e9, .bytes_out = 1};
    assert_int_equal(ae_floor_ns(&c, &work) / 10, (int64_t)(1e9 / in + 20e3) / 10);
    work.steps = 1000;
    assert_int_equal(ae_floor_ns(&c, &work) / 10, (int64_t)(1e9 / in + 36e3) / 10);
    work.operations = 10 * c.f32_rate; /* ten seconds */
    assert_int_equal(ae_floor_ns(&c, &work) / 10, (int64_t)(10e9 + 36e3) / 10);
    c.device = false;
    assert_int_equal(ae_floor_ns(&c, &work), 0);
}

static void ceilings_are_read(void **state)
{
    struct ae_ceilings c, again;
    struct ae_error err;
    (void)state;
    assert_int_equal(ae_ceilings_parse(machine, sizeof machine - 1, &c, &err), AE_OK);
    assert_true(c.known && c.device);
    assert_int_equal(c.transfer_count, 4);
    assert_int_equal(c.multiprocessors, 132);
    /* Between two sizes, below the smallest, above the largest. */
    const double mb4 = ae_ceilings_transfer_ns(&c, 4 * 1048576.0, true, false);
    assert_true(mb4 > 92000 && mb4 < 2200000);
    assert_true(ae_ceilings_transfer_ns(&c, 4, true, false) < 2000);
    const double gb = ae_ceilings_transfer_ns(&c, 4 * 268435456.0, true, true);
    assert_true(fabs(gb - 4 * 4900000.0) < 1);
    const char *how;
    assert_true(ae_ceilings_best_transfer_ns(&c, 1048576, true, &how) <= 92000);
    assert_string_equal(how, "as it is");
    assert_true(ae_ceilings_best_transfer_ns(&c, 134217728, true, &how) < 6e6);
    assert_string_equal(how, "host threads through a small pinned ring");
    json_t *json = ae_ceilings_json(&c);
    char *text = json_dumps(json, 0);
    json_decref(json);
    assert_non_null(text);
    assert_int_equal(ae_ceilings_parse(text, strlen(text), &again, &err), AE_OK);
    assert_memory_equal(&c, &again, sizeof c);
    free(text);
    assert_int_equal(ae_ceilings_parse("[]", 2, &c, &err), AE_E_INPUT);
    assert_int_equal(ae_ceilings_parse("{", 1, &c, &err), AE_E_INPUT);
    static const char odd[] = "{\"host\":{\"cores\":-3,\"copy_all\":1e999},\"device\":{\"transfers\":[{\"bytes\":-1}]}}";
    if (ae_ceilings_parse(odd, sizeof odd - 1, &c, &err) == AE_OK) {
        assert_int_equal(c.cores, 0);
        assert_int_equal(c.transfer_count, 0);
        assert_true(ae_ceilings_transfer_ns(&c, 1e6, true, true) == 0);
    }
}

static void occupancy_is_known(void **state)
{
    struct ae_ceilings c;
    double occupancy;
    (void)state;
    assert_int_equal(ae_ceilings_parse(machine, sizeof machine - 1, &c, NULL), AE_OK);
    struct ae_kernel_facts k = {.threads = 256, .registers = 32};
    assert_int_equal(ae_blocks_a_multiprocessor(&c, &k, &occupancy), 8);
    assert_true(occupancy == 1);
    k.registers = 128;
    assert_int_equal(ae_blocks_a_multiprocessor(&c, &k, &occupancy), 2);
    k.registers = 32;
    k.shared = 100000;
    assert_int_equal(ae_blocks_a_multiprocessor(&c, &k, &occupancy), 2);
    k = (struct ae_kernel_facts){.threads = 32, .registers = 16};
    assert_int_equal(ae_blocks_a_multiprocessor(&c, &k, &occupancy), 32);
    assert_true(occupancy == 0.5);
}

/* --- exports ---------------------------------------------------------------------------------------------- */

static void exports_can_be_read_again(void **state)
{
    struct ae_profile p = {.task = ae_tasks[0], .target = AE_CUDA, .profiled_calls = 1, .timed_ns = 1000000,
                           .profiled_ns = 1100000};
    struct script s;
    struct ae_error err = {0};
    char path[] = "/tmp/profile_test.XXXXXX";
    (void)state;
    begin(&s);
    api(&s, "cuLaunch\"Kernel\\", 10);
    (void)kernel(&s, "_Z3\"k\"v", 10, 50);
    copy(&s, false, true, 1e6, 60, 20);
    s.at_us = 100;
    finish(&s, &p.trace);
    assert_int_equal(ae_facts_of(&p.trace, true, &p.facts, &err), AE_OK);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(ae_profile_write_trace(&p, path, &err), AE_OK);
    json_t *trace = json_load_file(path, 0, NULL);
    (void)unlink(path);
    assert_non_null(trace);
    assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 3 + 3);
    json_decref(trace);
    json_t *json = ae_profile_json(&p);
    assert_non_null(json);
    double share = 0;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(json, "phases"), i, row)
        share += json_number_value(json_object_get(row, "share"));
    assert_true(fabs(share - 1) < 1e-9);
    json_decref(json);
    ae_profile_release(&p);
}

/* What is kept beside a result: all phases, which still add up, floors, and the first reasons. */
static void explanations_are_kept(void **state)
{
    struct ae_profile p = {.task = ae_tasks[0], .target = AE_CUDA, .timed_ns = 1000, .note = "n"};
    struct ae_explanation e;
    int64_t sum = 0;
    (void)state;
    assert_false(ae_profile_explain(&p, &e)); /* no call was explained */
    const struct shape shape = {CLEAN, KERNEL};
    perform(&shape, &p.facts);
    p.profiled_calls = 3;
    p.facts.dropped = UINT64_MAX; /* a worker may claim anything */
    assert_int_equal(ae_ceilings_parse(machine, sizeof machine - 1, &p.ceilings, NULL), AE_OK);
    const struct ae_call_view view = {&p.facts, &p.ceilings, {.bytes_in = 50e6, .bytes_out = 50e6, .steps = 1}, 0, 15};
    ae_floors_of(&view, &p.floors);
    p.bottleneck_count = AE_EXPLANATION_REASONS + 2;
    for (int i = 0; i < p.bottleneck_count; i++) {
        p.bottlenecks[i] = (struct ae_bottleneck){&ae_bottleneck_rules[i], 0.5, 1000.0 * i, ""};
        memset(p.bottlenecks[i].text, 'x', sizeof p.bottlenecks[i].text - 1);
    }
    assert_true(ae_profile_explain(&p, &e));
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        sum += e.phases[phase].own_ns;
    assert_true(sum > 0 && sum == e.call_ns && e.call_ns == p.facts.call_ns);
    assert_int_equal(e.calls, 3);
    assert_int_equal(e.timed_ns, 1000);
    assert_true(e.floor_ns > 0 && e.floors[AE_PHASE_IN] > 0 && e.floors[AE_PHASE_IN] < e.floor_ns);
    assert_true(e.dropped == INT64_MAX);
    assert_string_equal(e.note, "n");
    assert_int_equal(e.reason_count, AE_EXPLANATION_REASONS);
    assert_string_equal(e.reasons[1].rule, ae_bottleneck_rules[1].id);
    assert_int_equal(strlen(e.reasons[1].text), sizeof p.bottlenecks[1].text - 1);
    assert_int_equal(e.reasons[1].gain_ns, 1000);
    for (int i = 0; i < ae_bottleneck_rule_count; i++) /* each fits the field */
        assert_true(strlen(ae_bottleneck_rules[i].id) < sizeof e.reasons[0].rule);
    for (int phase = 0; phase < AE_PHASE_COUNT; phase++)
        assert_int_equal(ae_phase_find(ae_phase_name((enum ae_phase)phase)), phase);
    assert_int_equal(ae_phase_find("nap"), AE_PHASE_COUNT);
}

static void sanitizers_are_read(void **state)
{
    (void)state;
    struct ae_checker_report r = {0};
    ae_checker_read_sanitizer("the program's own words\n"
                              "========= COMPUTE-SANITIZER\n"
                              "========= Invalid __global__ write of size 4 bytes\n"
                              "=========     at fill(int, float *)+0x90 in a.cu:8\n"
                              "=========     by thread (0,0,0) in block (4,0,0)\n"
                              "========= \n"
                              "========= Invalid __global__ write of size 4 bytes\n"
                              "=========     at fill(int, float *)+0x90 in a.cu:8\n"
                              "========= Program hit cudaErrorLaunchFailure (error 719)\n"
                              "=========     Saved host backtrace up to driver entry point at error\n"
                              "========= ERROR SUMMARY: 3 errors\n",
                              &r);
    assert_true(r.ran);
    assert_int_equal(r.errors, 3);
    assert_int_equal(r.line_count, 1);
    assert_string_equal(r.lines[0], "Invalid __global__ write of size 4 bytes, at fill(int, float *)+0x90 in a.cu:8");
    r = (struct ae_checker_report){0};
    ae_checker_read_sanitizer("========= COMPUTE-SANITIZER\n========= Error: No attachable process found.\n", &r);
    assert_false(r.ran);
    assert_string_equal(r.detail, "Error: No attachable process found.");
    r = (struct ae_checker_report){0};
    ae_checker_read_sanitizer("=========\n=========     at \n========= SUMMARY: ", &r);
    assert_int_equal(r.errors, 0);
}

static void profilers_are_read(void **state)
{
    (void)state;
    struct ae_checker_report r = {0};
    ae_checker_read_ncu("==PROF== Connected to process 9\n"
                        "\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                        "\"0\",\"9\",\"f(int, \"\"x\"\")\",\"S\",\"Memory Throughput\",\"%\",\"71.5\"\n"
                        "\"0\",\"9\",\"f(int, \"\"x\"\")\",\"S\",\"Duration\",\"us\",\"10\"\n"
                        "\"1\",\"9\",\"f(int, \"\"x\"\")\",\"S\",\"Duration\",\"ns\",\"2000\"\n"
                        "\"1\",\"9\",\"f(int, \"\"x\"\")\",\"S\",\"Memory Throughput\",\"%\",\"3\"\n"
                        "\"2\",\"9\",\"g\",\"S\",\"Achieved Occupancy\",\"%\",\"50\"\n"
                        "\"2\",\"9\"\n",
                        &r);
    assert_true(r.ran);
    assert_int_equal(r.line_count, 2);
    assert_string_equal(r.lines[0], "f(int, \"x\"): 2 launches, 12.0 us in all; the longest keeps arithmetic busy to 0 % and "
                                    "memory to 72 %, occupancy 0 %, 0 registers a thread");
    assert_non_null(strstr(r.lines[1], "g: 1 launch, "));
    r = (struct ae_checker_report){0};
    ae_checker_read_ncu("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n\"ID\"\n\"", &r);
    assert_false(r.ran);
    assert_non_null(strstr(r.detail, "ERR_NVGPUCTRPERM"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_refuses_nonsense),
        cmocka_unit_test(reader_cuts_to_the_call),
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(phases_add_up),
        cmocka_unit_test(overlaps_count_once),
        cmocka_unit_test(other_threads_explain),
        cmocka_unit_test(calls_within_calls_are_one),
        cmocka_unit_test(many_kernels_stay_in_their_table),
        cmocka_unit_test(processor_time_adds_up),
        cmocka_unit_test(every_rule_fires_and_keeps_quiet),
        cmocka_unit_test(every_rule_has_a_case_and_a_text),
        cmocka_unit_test(rules_live_without_ceilings),
        cmocka_unit_test(the_classic_is_said),
        cmocka_unit_test(a_tick_is_no_system_time),
        cmocka_unit_test(short_calls_are_not_explained_by_the_tracer),
        cmocka_unit_test(tiny_floors_make_no_ratio), cmocka_unit_test(floors_of_whole_calls), cmocka_unit_test(ceilings_are_read),
        cmocka_unit_test(occupancy_is_known),
        cmocka_unit_test(exports_can_be_read_again),
        cmocka_unit_test(explanations_are_kept),
        cmocka_unit_test(sanitizers_are_read),
        cmocka_unit_test(profilers_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
