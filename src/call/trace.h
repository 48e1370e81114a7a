/* What a profiled call leaves in the memory that the worker and the parent share: a header, records of one size, and
 * the names they refer to. The worker writes it while the submission's code is in the same process, so the parent
 * copies it once and believes nothing of it before profile/trace.c has looked at it: it explains a call, it never
 * decides a verdict or a time.
 *
 * All times are nanoseconds of the tracer's clock. */
#ifndef AE_CALL_TRACE_H
#define AE_CALL_TRACE_H

#include <stdint.h>

#define AE_TRACE_MAGIC   0x65636172544541ull /* "AETrace" */
#define AE_TRACE_VERSION 1u
#define AE_TRACE_NAME    256u /* bytes of a name, NUL included; longer ones are cut */
#define AE_TRACE_NAMES   4096u
#define AE_TRACE_RECORDS 262144u

enum ae_trace_kind {
    AE_TRACE_API,    /* a call of the runtime or the driver on the host */
    AE_TRACE_KERNEL,
    AE_TRACE_COPY,
    AE_TRACE_SET,    /* memset on the device */
    AE_TRACE_KIND_COUNT
};

/* Where the two ends of a copy lie, as CUPTI numbers them. */
enum ae_trace_memory {
    AE_TRACE_MEMORY_UNKNOWN,
    AE_TRACE_MEMORY_PAGEABLE,
    AE_TRACE_MEMORY_PINNED, /* or registered */
    AE_TRACE_MEMORY_DEVICE,
    AE_TRACE_MEMORY_ARRAY,
    AE_TRACE_MEMORY_MANAGED,
    AE_TRACE_MEMORY_COUNT
};

enum ae_trace_way {
    AE_TRACE_WAY_OTHER,
    AE_TRACE_WAY_IN,  /* host to device */
    AE_TRACE_WAY_OUT, /* device to host */
    AE_TRACE_WAY_DEVICE,
    AE_TRACE_WAY_COUNT
};

struct ae_trace_record {
    uint32_t kind;        /* enum ae_trace_kind */
    uint32_t name;        /* index of the function or the kernel; copies and sets have none (0) */
    uint64_t start, end;
    uint32_t correlation; /* ties what ran on the device to the call that asked for it */
    uint32_t lane;        /* API: thread; else: stream */
    uint64_t bytes;       /* COPY, SET */
    uint32_t way, from, to; /* COPY */
    int32_t result;       /* API: what the driver answered */
    uint32_t grid[3], block[3]; /* KERNEL, and what follows */
    uint32_t registers;
    uint32_t shared_static, shared_dynamic;
    uint32_t local;       /* bytes of local memory a thread; 0 also where that is not known */
};

/* What the operating system says of the worker over the window; also for calls that no device takes part in. */
struct ae_trace_usage {
    int64_t user_ns, system_ns;
    int64_t minor_faults, major_faults;
    int64_t voluntary, involuntary; /* switches of context */
    int64_t threads_before, threads_after;
    int64_t queued_ns; /* the calling thread could have run and had no core; 0 also where the kernel does not tell */
};

struct ae_trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t traced;        /* 0: no device, or CUPTI is missing: only usage is there */
    uint64_t start, returned, end; /* call begins, returns, and the device is done */
    uint64_t main_thread;   /* lane of the thread that makes the call */
    uint64_t record_count, name_count;
    uint64_t dropped;       /* records that found no room */
    struct ae_trace_usage usage;
};

/* The memory as a whole. */
struct ae_trace_memory_map {
    struct ae_trace_header header;
    char names[AE_TRACE_NAMES][AE_TRACE_NAME];
    struct ae_trace_record records[AE_TRACE_RECORDS];
};

#endif
