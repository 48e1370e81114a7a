/* Profiled calls: CUPTI's activity records of what the device did and of every call of the runtime and the driver, written into the memory
 * that the parent reads; and what the operating system counts. Never in a process that is timed.
 *
 * CUPTI is opened at run time. Its records grow from version to version at their ends; the fields that are read here lie
 * at the same places from CUDA 11 to 13 (checked against the structures Kernel6 to Kernel10, Memcpy to Memcpy6, Memset
 * to Memset4 and API). cuptiActivityGetNextRecord() knows how long each one is. */
#include "worker/worker.h"

#include "call/trace.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define KIND_MEMCPY            1
#define KIND_MEMSET            2
#define KIND_DRIVER            4 /* called by the program itself: what the runtime calls on its behalf is not reported */
#define KIND_RUNTIME           5
#define KIND_CONCURRENT_KERNEL 10
#define DOMAIN_DRIVER          1
#define DOMAIN_RUNTIME         2
#define DOMAINS                3
#define FLUSH_FORCED           1

#define BUFFER_BYTES ((size_t)4 << 20)
#define BUFFERS      8     /* made and touched beforehand: a call does not pay for its own tracing more than it must */
#define CALLS_MAX    2048  /* numbers of functions in a domain; CUDA 13 has about 800 */
#define NO_NAME      UINT32_MAX
#define NAME_SLOTS   8192  /* a power of two, at least twice AE_TRACE_NAMES */

/* Offsets in CUPTI's records. */
enum {
    KERNEL_REGISTERS = 6, /* uint16 */
    KERNEL_START = 16,
    KERNEL_END = 24,
    KERNEL_STREAM = 48,
    KERNEL_GRID = 52,
    KERNEL_BLOCK = 64,
    KERNEL_SHARED_STATIC = 76,
    KERNEL_SHARED_DYNAMIC = 80,
    KERNEL_CORRELATION = 92,
    KERNEL_NAME = 104,
    COPY_KIND = 4, /* uint8, like the two below */
    COPY_FROM = 5,
    COPY_TO = 6,
    MOVE_BYTES = 8, /* memcpy and memset alike */
    MOVE_START = 16,
    MOVE_END = 24,
    MOVE_STREAM = 40,
    MOVE_CORRELATION = 44,
    API_ID = 4,
    API_START = 8,
    API_END = 16,
    API_THREAD = 28,
    API_CORRELATION = 32,
    API_RESULT = 36,
};

/* From cupti_callbacks.h. */
struct callback_data {
    int site; /* 0: enter, 1: exit */
    const char *function;
    const void *params;
    void *return_value;
    const char *symbol; /* launches: the kernel */
};

struct subscriber;

static struct {
    int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
                              void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*enable)(int);
    int (*flush)(uint32_t);
    int (*next)(uint8_t *, size_t, uint8_t **);
    int (*timestamp)(uint64_t *);
    int (*name_of)(int, uint32_t, const char **);
    int (*subscribe)(struct subscriber **, void (*)(void *, int, unsigned, const struct callback_data *), void *);
    int (*enable_domain)(unsigned, struct subscriber *, int);
    int (*function_attribute)(int *, int, void *); /* the driver's */
    int (*kernel_function)(void **, void *);
} cupti;

#define LOCAL_SIZE_BYTES 3 /* CU_FUNC_ATTRIBUTE_ */

static struct ae_trace_memory_map *map;
static bool traced;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *spare[BUFFERS];
static size_t spare_count;
static uint32_t call_names[DOMAINS][CALLS_MAX];
static uint32_t slots[NAME_SLOTS]; /* name index + 1; 0: empty */
static uint32_t local_bytes[AE_TRACE_NAMES]; /* of kernels, by name */
static struct subscriber *subscriber;        /* until the first call has ended */
static uint64_t record_count, name_count, dropped; /* ours: what lies in the shared memory is anybody's */
static struct rusage usage_before;
static int64_t threads_before; /* 0: not armed, as where nobody spins */
static int64_t queued_before;

static uint32_t u32_at(const uint8_t *record, size_t offset)
{
    uint32_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static uint64_t u64_at(const uint8_t *record, size_t offset)
{
    uint64_t value;
    memcpy(&value, record + offset, sizeof value);
    return value;
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* Index of the name, which is kept by its text: the pointer dies with the object that brought the kernel. */
static uint32_t intern(const char *text)
{
    const size_t length = text ? strnlen(text, AE_TRACE_NAME - 1) : 0;
    if (!text)
        text = "";
    for (uint32_t at = hash_of(text, length);; at++) {
        uint32_t *slot = &slots[at & (NAME_SLOTS - 1)];
        if (*slot == 0) {
            if (name_count == AE_TRACE_NAMES)
                return 0;
            memcpy(map->names[name_count], text, length);
            map->names[name_count][length] = 0;
            *slot = (uint32_t)++name_count;
            return *slot - 1;
        }
        const char *known = map->names[*slot - 1];
        if (strncmp(known, text, length) == 0 && known[length] == 0)
            return *slot - 1;
    }
}

/* After a launch in the first call, which nobody looks at: how much local memory the kernel has. The activity records tell
 * nothing of what lies on its stack frame. */
static void on_launch(void *user, int domain, unsigned id, const struct callback_data *data)
{
    void *kernel, *function;
    int bytes = 0;
    (void)user;
    (void)id;
    if (domain != DOMAIN_DRIVER || data->site != 1 || !data->function || !data->params || !data->symbol)
        return;
    /* cuLaunchKernelEx(config, f, ...); all others begin with f. */
    if (strncmp(data->function, "cuLaunchKernelEx", 16) == 0)
        memcpy(&kernel, (const char *)data->params + sizeof kernel, sizeof kernel);
    else if (strncmp(data->function, "cuLaunchKernel", 14) == 0 || strncmp(data->function, "cuLaunchCoop", 12) == 0)
        memcpy(&kernel, data->params, sizeof kernel);
    else
        return;
    /* The runtime passes the kernel of a library where it may. */
    if (!cupti.kernel_function || cupti.kernel_function(&function, kernel) != 0)
        function = kernel;
    if (cupti.function_attribute(&bytes, LOCAL_SIZE_BYTES, function) != 0 || bytes < 0)
        return;
    pthread_mutex_lock(&mutex);
    local_bytes[intern(data->symbol)] = (uint32_t)bytes;
    pthread_mutex_unlock(&mutex);
}

/* Without it, local memory stays unknown. */
static void watch_launches(void *library)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return;
    *(void **)&cupti.function_attribute = dlsym(driver, "cuFuncGetAttribute");
    *(void **)&cupti.kernel_function = dlsym(driver, "cuKernelGetFunction");
    *(void **)&cupti.subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&cupti.enable_domain = dlsym(library, "cuptiEnableDomain");
    if (cupti.function_attribute && cupti.subscribe && cupti.enable_domain &&
        cupti.subscribe(&subscriber, on_launch, NULL) == 0)
        (void)cupti.enable_domain(1, subscriber, DOMAIN_DRIVER);
}

static uint32_t name_of_call(int domain, uint32_t id)
{
    const char *text = NULL;
    if (id >= CALLS_MAX)
        return 0;
    if (call_names[domain][id] == NO_NAME)
        call_names[domain][id] = cupti.name_of(domain, id, &text) == 0 ? intern(text) : 0;
    return call_names[domain][id];
}

static uint32_t way_of(uint8_t kind)
{
    switch (kind) {
    case 1: /* HTOD */
    case 3: /* HTOA */
        return AE_TRACE_WAY_IN;
    case 2: /* DTOH */
    case 4: /* ATOH */
        return AE_TRACE_WAY_OUT;
    case 5: /* ATOA, ATOD, DTOA, DTOD */
    case 6:
    case 7:
    case 8:
        return AE_TRACE_WAY_DEVICE;
    default:
        return AE_TRACE_WAY_OTHER;
    }
}

static uint32_t memory_of(uint8_t kind)
{
    /* Static device and managed memory are device and managed memory. */
    return kind == 6 ? AE_TRACE_MEMORY_DEVICE
           : kind == 7 ? AE_TRACE_MEMORY_MANAGED
           : kind < AE_TRACE_MEMORY_COUNT ? kind : AE_TRACE_MEMORY_UNKNOWN;
}

static void note(const uint8_t *record)
{
    struct ae_trace_record r = {0};
    switch (u32_at(record, 0)) {
    case KIND_CONCURRENT_KERNEL: {
        const char *name;
        memcpy(&name, record + KERNEL_NAME, sizeof name);
        r.kind = AE_TRACE_KERNEL;
        r.name = intern(name);
        r.start = u64_at(record, KERNEL_START);
        r.end = u64_at(record, KERNEL_END);
        r.lane = u32_at(record, KERNEL_STREAM);
        r.correlation = u32_at(record, KERNEL_CORRELATION);
        r.local = local_bytes[r.name];
        memcpy(r.grid, record + KERNEL_GRID, sizeof r.grid);
        memcpy(r.block, record + KERNEL_BLOCK, sizeof r.block);
        uint16_t registers;
        memcpy(&registers, record + KERNEL_REGISTERS, sizeof registers);
        r.registers = registers;
        r.shared_static = u32_at(record, KERNEL_SHARED_STATIC);
        r.shared_dynamic = u32_at(record, KERNEL_SHARED_DYNAMIC);
        break;
    }
    case KIND_MEMCPY:
        r.way = way_of(record[COPY_KIND]);
        r.from = memory_of(record[COPY_FROM]);
        r.to = memory_of(record[COPY_TO]);
        /* fall through */
    case KIND_MEMSET:
        r.kind = u32_at(record, 0) == KIND_MEMCPY ? AE_TRACE_COPY : AE_TRACE_SET;
        r.bytes = u64_at(record, MOVE_BYTES);
        r.start = u64_at(record, MOVE_START);
        r.end = u64_at(record, MOVE_END);
        r.lane = u32_at(record, MOVE_STREAM);
        r.correlation = u32_at(record, MOVE_CORRELATION);
        break;
    case KIND_DRIVER:
    case KIND_RUNTIME:
        r.kind = AE_TRACE_API;
        r.name = name_of_call(u32_at(record, 0) == KIND_DRIVER ? DOMAIN_DRIVER : DOMAIN_RUNTIME, u32_at(record, API_ID));
        r.start = u64_at(record, API_START);
        r.end = u64_at(record, API_END);
        r.lane = u32_at(record, API_THREAD);
        r.correlation = u32_at(record, API_CORRELATION);
        r.result = (int32_t)u32_at(record, API_RESULT);
        break;
    default:
        return;
    }
    if (record_count < AE_TRACE_RECORDS)
        map->records[record_count++] = r;
    else
        dropped++;
}

static void give_buffer(uint8_t **ret, size_t *ret_size, size_t *ret_records)
{
    pthread_mutex_lock(&mutex);
    *ret = spare_count > 0 ? spare[--spare_count] : NULL;
    pthread_mutex_unlock(&mutex);
    if (!*ret)
        *ret = malloc(BUFFER_BYTES);
    *ret_size = *ret ? BUFFER_BYTES : 0;
    *ret_records = 0; /* as many as fit */
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    uint8_t *record = NULL;
    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&mutex);
    while (valid > 0 && cupti.next(buffer, valid, &record) == 0)
        note(record);
    const bool kept = spare_count < BUFFERS;
    if (kept)
        spare[spare_count++] = buffer;
    pthread_mutex_unlock(&mutex);
    if (!kept)
        free(buffer);
}

static bool open_cupti(void)
{
    static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12"};
    static const int kinds[] = {KIND_CONCURRENT_KERNEL, KIND_MEMCPY, KIND_MEMSET, KIND_DRIVER, KIND_RUNTIME};
    const struct {
        const char *name;
        void **where;
    } entries[] = {
        {"cuptiActivityRegisterCallbacks", (void **)&cupti.register_callbacks},
        {"cuptiActivityEnable", (void **)&cupti.enable},
        {"cuptiActivityFlushAll", (void **)&cupti.flush},
        {"cuptiActivityGetNextRecord", (void **)&cupti.next},
        {"cuptiGetTimestamp", (void **)&cupti.timestamp},
        {"cuptiGetCallbackName", (void **)&cupti.name_of},
    };
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof entries / sizeof *entries; i++) {
        *entries[i].where = dlsym(library, entries[i].name);
        if (!*entries[i].where)
            return false;
    }
    if (!library || cupti.register_callbacks(give_buffer, take_buffer) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cupti.enable(kinds[i]) != 0)
            return false;
    watch_launches(library);
    for (; spare_count < BUFFERS && (spare[spare_count] = malloc(BUFFER_BYTES)); spare_count++)
        memset(spare[spare_count], 0, BUFFER_BYTES);
    return true;
}

int ae_worker_profile_open(const struct ae_orders *orders, struct ae_answers *answers)
{
    map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, AE_FD_TRACE, 0);
    if (map == MAP_FAILED) {
        map = NULL;
        snprintf(answers->text, sizeof answers->text, "no trace: its memory cannot be mapped");
        return AE_WORKER_NO_LEDGER;
    }
    memset(call_names, 0xff, sizeof call_names);
    (void)intern(""); /* index 0: no name */
    if (orders->target != 1)
        return AE_WORKER_OK;
    traced = open_cupti();
    if (traced)
        return AE_WORKER_OK;
    snprintf(answers->text, sizeof answers->text, "no trace: CUPTI is not there or does not start");
    return AE_WORKER_NO_LEDGER;
}

static int64_t count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int64_t count = 0;
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* How long this thread has stood in the queue for a core so far. */
static int64_t queued_ns(void)
{
    long long ran = 0, queued = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    if (!file)
        return 0;
    const int n = fscanf(file, "%lld %lld", &ran, &queued);
    fclose(file);
    return n == 2 ? queued : 0;
}

/* The kernel books the processor time of threads that run at present at the next tick, up to 4 ms later, unless their
 * clocks are asked for: a short call on many cores would seem to have run on one. */
static void book_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        struct timespec ignored;
        const long tid = strtol(entry->d_name, NULL, 10);
        if (tid > 0)
            (void)clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &ignored); /* a thread's clock of scheduled time */
    }
    closedir(folder);
}

static uint64_t trace_now(void)
{
    uint64_t now = 0;
    struct timespec t;
    if (traced && cupti.timestamp(&now) == 0)
        return now;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ae_worker_profile_arm(void)
{
    if (!map)
        return;
    /* No flush: CUPTI would then make its buffers anew during the call, for a millisecond. The ramp's records are told
     * apart by their time. */
    pthread_mutex_lock(&mutex);
    record_count = dropped = 0;
    pthread_mutex_unlock(&mutex);
    threads_before = count_threads();
    queued_before = queued_ns();
}

void ae_worker_profile_begin(void)
{
    if (!map)
        return;
    map->header = (struct ae_trace_header){.magic = AE_TRACE_MAGIC, .version = AE_TRACE_VERSION};
    map->header.usage.threads_before = threads_before;
    if (threads_before == 0)
        queued_before = queued_ns();
    (void)getrusage(RUSAGE_SELF, &usage_before);
    map->header.start = trace_now();
}

void ae_worker_profile_returned(void)
{
    if (map)
        map->header.returned = trace_now();
}

static int64_t elapsed_ns(struct timeval from, struct timeval to)
{
    return ((int64_t)to.tv_sec - from.tv_sec) * 1000000000 + ((int64_t)to.tv_usec - from.tv_usec) * 1000;
}

void ae_worker_profile_end(void)
{
    struct rusage now;
    if (!map)
        return;
    map->header.end = trace_now();
    book_threads();
    (void)getrusage(RUSAGE_SELF, &now);
    struct ae_trace_usage *usage = &map->header.usage;
    usage->user_ns = elapsed_ns(usage_before.ru_utime, now.ru_utime);
    usage->system_ns = elapsed_ns(usage_before.ru_stime, now.ru_stime);
    usage->minor_faults = now.ru_minflt - usage_before.ru_minflt;
    usage->major_faults = now.ru_majflt - usage_before.ru_majflt;
    usage->voluntary = now.ru_nvcsw - usage_before.ru_nvcsw;
    usage->involuntary = now.ru_nivcsw - usage_before.ru_nivcsw;
    /* How CUPTI numbers threads. */
    map->header.main_thread = (uint32_t)(uintptr_t)pthread_self();
    if (subscriber)
        (void)cupti.enable_domain(0, subscriber, DOMAIN_DRIVER);
    subscriber = NULL;
}

int ae_worker_profile_write(struct ae_answers *answers)
{
    if (!map) {
        snprintf(answers->text, sizeof answers->text, "this worker does not trace");
        return AE_WORKER_NO_LEDGER;
    }
    map->header.usage.threads_after = count_threads();
    map->header.usage.queued_ns = queued_ns() - queued_before;
    if (traced)
        (void)cupti.flush(FLUSH_FORCED);
    pthread_mutex_lock(&mutex);
    map->header.traced = traced;
    map->header.record_count = record_count;
    map->header.name_count = name_count;
    map->header.dropped = dropped;
    pthread_mutex_unlock(&mutex);
    return AE_WORKER_OK;
}
