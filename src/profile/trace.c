#include "profile/trace.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MAX_NS   ((uint64_t)86400 * 1000000000u)
#define BYTES_MAX     ((uint64_t)1 << 40) /* of one copy */
#define USAGE_MAX     ((int64_t)1 << 53) /* ns of processor time among them: a day of a hundred processors, and sums in range */
#define DIMENSION_MAX 0x7fffffffu

/* By the beginning of the name behind "cu" or "cuda"; the first row that fits counts. Runtime and driver are alike where
 * they can be. */
static const struct {
    const char *name;
    enum ae_api api;
} functions[] = {
    {"MemAllocHost", AE_API_PIN},
    {"MemHostAlloc", AE_API_PIN},
    {"MallocHost", AE_API_PIN},
    {"HostAlloc", AE_API_PIN},
    {"MemAllocManaged", AE_API_ALLOC_MANAGED},
    {"MallocManaged", AE_API_ALLOC_MANAGED},
    {"MemAlloc", AE_API_ALLOC},
    {"Malloc", AE_API_ALLOC},
    {"MemCreate", AE_API_ALLOC},
    {"MemMap", AE_API_ALLOC},
    {"MemAddressReserve", AE_API_ALLOC},
    {"MemSetAccess", AE_API_ALLOC},
    {"ArrayCreate", AE_API_ALLOC},
    {"Array3DCreate", AE_API_ALLOC},
    {"MemHostRegister", AE_API_REGISTER},
    {"HostRegister", AE_API_REGISTER},
    {"MemHostUnregister", AE_API_UNREGISTER},
    {"HostUnregister", AE_API_UNREGISTER},
    {"MemFreeHost", AE_API_UNPIN},
    {"FreeHost", AE_API_UNPIN},
    {"MemFree", AE_API_FREE},
    {"Free", AE_API_FREE},
    {"MemRelease", AE_API_FREE},
    {"MemUnmap", AE_API_FREE},
    {"MemAddressFree", AE_API_FREE},
    {"ArrayDestroy", AE_API_FREE},
    {"MemcpyHto", AE_API_COPY_IN},
    {"MemcpyDtoH", AE_API_COPY_OUT},
    {"MemcpyAtoH", AE_API_COPY_OUT},
    {"Memcpy", AE_API_COPY},
    {"MemPrefetch", AE_API_COPY},
    {"MemPool", AE_API_HANDLE},
    {"Memset", AE_API_LAUNCH},
    {"Launch", AE_API_LAUNCH},
    {"GraphLaunch", AE_API_GRAPH_LAUNCH},
    {"Graph", AE_API_GRAPH},
    {"StreamBeginCapture", AE_API_GRAPH},
    {"StreamEndCapture", AE_API_GRAPH},
    {"CtxSynchronize", AE_API_WAIT},
    {"DeviceSynchronize", AE_API_WAIT},
    {"ThreadSynchronize", AE_API_WAIT},
    {"StreamSynchronize", AE_API_WAIT},
    {"EventSynchronize", AE_API_WAIT},
    {"StreamQuery", AE_API_WAIT},
    {"EventQuery", AE_API_WAIT},
    {"Module", AE_API_CODE},
    {"Library", AE_API_CODE},
    {"Kernel", AE_API_CODE},
    {"Func", AE_API_CODE},
    {"Link", AE_API_CODE},
    {"Stream", AE_API_HANDLE},
    {"Event", AE_API_HANDLE},
    {"Ctx", AE_API_HANDLE},
    {"Device", AE_API_HANDLE},
    {"GetDevice", AE_API_HANDLE},
    {"SetDevice", AE_API_HANDLE},
    {"Occupancy", AE_API_HANDLE},
};

enum ae_api ae_api_of(const char *function)
{
    function += strncmp(function, "cuda", 4) == 0 ? 4 : strncmp(function, "cu", 2) == 0 ? 2 : 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strncmp(function, functions[i].name, strlen(functions[i].name)) == 0)
            return functions[i].api;
    return AE_API_OTHER;
}

static bool is_library(const char *kernel)
{
    static const char *const marks[] = {"3cub", "6thrust", "cublas", "cutlass", "cusparse", "cusolver",
                                        "vector_fft", "regular_fft", "cufft", "curand", "xmma_", "cudnn"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(kernel, marks[i]))
            return true;
    return false;
}

/* One <length><identifier> of an Itanium name; NULL where there is none. */
static const char *take_identifier(const char **at, size_t *ret_length)
{
    const char *p = *at;
    size_t length = 0;
    while (isdigit((unsigned char)*p) && length < AE_TRACE_NAME)
        length = length * 10 + (size_t)(*p++ - '0');
    if (length == 0 || p == *at || strnlen(p, length) < length)
        return NULL;
    *at = p + length;
    *ret_length = length;
    return p;
}

void ae_kernel_name(const char *mangled, char *ret, size_t size)
{
    const char *at = mangled;
    size_t used = 0;
    if (strncmp(at, "_Z", 2) != 0) {
        snprintf(ret, size, "%s", mangled);
        return;
    }
    at += 2;
    const bool nested = *at == 'N';
    at += nested;
    at += *at == 'L'; /* of internal linkage */
    ret[0] = 0;
    for (bool more = true; more;) {
        size_t length;
        const char *word = take_identifier(&at, &length);
        if (!word)
            break;
        more = nested;
        if (length >= 10 && strncmp(word, "_GLOBAL__N", 10) == 0)
            continue;
        /* Inline namespaces of versions: "CUB_300002_890_NS". */
        if (nested && length >= 4 && strncmp(word, "CUB_", 4) == 0)
            continue;
        const int n = snprintf(ret + used, size - used, "%s%.*s", used ? "::" : "", (int)length, word);
        if (n < 0 || (size_t)n >= size - used)
            break;
        used += (size_t)n;
    }
    if (used == 0)
        snprintf(ret, size, "%s", mangled);
}

static void make_printable(char name[AE_TRACE_NAME])
{
    name[AE_TRACE_NAME - 1] = 0;
    for (char *p = name; *p; p++)
        if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
            *p = '?';
}

static int64_t sane(int64_t value)
{
    return value < 0 ? 0 : value > USAGE_MAX ? USAGE_MAX : value;
}

/* False where the record makes no sense or lies outside the call. */
static bool convert(const struct ae_trace_record *r, const struct ae_trace_header *h, struct ae_trace *trace,
                    struct ae_trace_event *ret)
{
    if (r->kind >= AE_TRACE_KIND_COUNT || r->name >= h->name_count || r->start > r->end || r->start == 0 ||
        r->way >= AE_TRACE_WAY_COUNT || r->from >= AE_TRACE_MEMORY_COUNT || r->to >= AE_TRACE_MEMORY_COUNT) {
        trace->rejected++;
        return false;
    }
    if (r->end <= h->start || r->start >= h->end)
        return false; /* before or after the call: the ramp, the worker's own work */
    *ret = (struct ae_trace_event){
        .kind = (enum ae_trace_kind)r->kind,
        .start_ns = r->start < h->start ? 0 : (int64_t)(r->start - h->start),
        .end_ns = r->end > h->end ? (int64_t)(h->end - h->start) : (int64_t)(r->end - h->start),
        .name = trace->names[r->name],
        .correlation = r->correlation,
        .lane = r->lane,
        .bytes = r->bytes > BYTES_MAX ? BYTES_MAX : r->bytes,
        .way = (enum ae_trace_way)r->way,
        .from = (enum ae_trace_memory)r->from,
        .to = (enum ae_trace_memory)r->to,
        .result = r->result,
        .registers = r->registers > 65535 ? 65535 : r->registers,
        .local = r->local > DIMENSION_MAX ? DIMENSION_MAX : r->local,
    };
    const uint64_t shared = (uint64_t)r->shared_static + r->shared_dynamic;
    ret->shared = shared > DIMENSION_MAX ? DIMENSION_MAX : (uint32_t)shared;
    for (int d = 0; d < 3; d++) {
        ret->grid[d] = r->grid[d] < 1 ? 1 : r->grid[d] > DIMENSION_MAX ? DIMENSION_MAX : r->grid[d];
        ret->block[d] = r->block[d] < 1 ? 1 : r->block[d] > 1024 ? 1024 : r->block[d];
    }
    if (ret->kind == AE_TRACE_API) {
        ret->api = ae_api_of(ret->name);
        ret->main_thread = r->lane == (uint32_t)h->main_thread;
    }
    ret->of_toolkit = ret->kind == AE_TRACE_KERNEL && is_library(ret->name);
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct ae_trace_event *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static int by_correlation(const void *a, const void *b)
{
    const struct ae_trace_event *x = *(const struct ae_trace_event *const *)a;
    const struct ae_trace_event *y = *(const struct ae_trace_event *const *)b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Of calls within calls (the driver's within the runtime's, where a tracer reports both) the outer one stays: it is what
 * the program asked for. Events are in order of their start, the longer first. */
static void drop_nested(struct ae_trace *trace)
{
    enum { LANES = 64 };
    struct {
        uint32_t lane;
        int64_t end_ns;
    } open[LANES];
    size_t kept = 0;
    int lanes = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct ae_trace_event *e = &trace->events[i];
        if (e->kind == AE_TRACE_API) {
            int k = 0;
            while (k < lanes && open[k].lane != e->lane)
                k++;
            if (k < lanes && e->end_ns <= open[k].end_ns)
                continue;
            if (k == lanes && lanes < LANES)
                lanes++;
            if (k < LANES) {
                open[k].lane = e->lane;
                open[k].end_ns = e->end_ns;
            }
        }
        trace->events[kept++] = *e;
    }
    trace->count = kept;
}

/* A copy whose name does not say its way has the way of what it started on the device. */
static void resolve_copies(struct ae_trace *trace)
{
    const struct ae_trace_event **copies = malloc((trace->count + 1) * sizeof(const struct ae_trace_event *));
    size_t n = 0;
    if (!copies)
        return;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->events[i].kind == AE_TRACE_COPY)
            copies[n++] = &trace->events[i];
    qsort(copies, n, sizeof *copies, by_correlation);
    for (size_t i = 0; i < trace->count; i++) {
        struct ae_trace_event *e = &trace->events[i];
        if (e->kind != AE_TRACE_API || e->api != AE_API_COPY)
            continue;
        const struct ae_trace_event *const key = e;
        const struct ae_trace_event **found = bsearch(&key, copies, n, sizeof *copies, by_correlation);
        if (found && (*found)->way == AE_TRACE_WAY_IN)
            e->api = AE_API_COPY_IN;
        else if (found && (*found)->way == AE_TRACE_WAY_OUT)
            e->api = AE_API_COPY_OUT;
    }
    free(copies);
}

int ae_trace_read(const void *bytes, size_t size, struct ae_trace *ret, struct ae_error *err)
{
    struct ae_trace_header h;
    *ret = (struct ae_trace){0};
    if (size < offsetof(struct ae_trace_memory_map, records))
        return ae_error_set(err, AE_E_INPUT, "the trace is cut off");
    memcpy(&h, bytes, sizeof h);
    if (h.magic != AE_TRACE_MAGIC || h.version != AE_TRACE_VERSION)
        return ae_error_set(err, AE_E_INPUT, "the trace is none: has the program written over it?");
    const uint64_t room = (size - offsetof(struct ae_trace_memory_map, records)) / sizeof(struct ae_trace_record);
    if (h.start > h.returned || h.returned > h.end || h.end - h.start > CALL_MAX_NS || h.record_count > room ||
        h.record_count > AE_TRACE_RECORDS || h.name_count > AE_TRACE_NAMES || (h.record_count && !h.name_count))
        return ae_error_set(err, AE_E_INPUT, "the trace contradicts itself: has the program written over it?");
    ret->traced = h.traced != 0;
    ret->call_ns = (int64_t)(h.end - h.start);
    ret->return_ns = (int64_t)(h.returned - h.start);
    ret->dropped = h.dropped;
    ret->usage = (struct ae_trace_usage){
        sane(h.usage.user_ns),    sane(h.usage.system_ns),   sane(h.usage.minor_faults),   sane(h.usage.major_faults),
        sane(h.usage.voluntary),  sane(h.usage.involuntary), sane(h.usage.threads_before), sane(h.usage.threads_after),
        sane(h.usage.queued_ns)};
    ret->names = malloc((size_t)(h.name_count + 1) * AE_TRACE_NAME);
    ret->events = malloc((size_t)(h.record_count + 1) * sizeof *ret->events);
    if (!ret->names || !ret->events) {
        ae_trace_release(ret);
        return ae_error_set(err, AE_E_NOMEM, "no memory for a trace");
    }
    const unsigned char *names = (const unsigned char *)bytes + offsetof(struct ae_trace_memory_map, names);
    memcpy(ret->names, names, (size_t)h.name_count * AE_TRACE_NAME);
    for (uint64_t i = 0; i < h.name_count; i++)
        make_printable(ret->names[i]);
    const unsigned char *records = (const unsigned char *)bytes + offsetof(struct ae_trace_memory_map, records);
    for (uint64_t i = 0; i < h.record_count; i++) {
        struct ae_trace_record record;
        memcpy(&record, records + i * sizeof record, sizeof record);
        if (convert(&record, &h, ret, &ret->events[ret->count]))
            ret->count++;
    }
    if (ret->count > 0)
        qsort(ret->events, ret->count, sizeof *ret->events, by_start);
    drop_nested(ret);
    resolve_copies(ret);
    return AE_OK;
}

void ae_trace_release(struct ae_trace *trace)
{
    free(trace->events);
    free(trace->names);
    *trace = (struct ae_trace){0};
}
