/* A worker's trace, read from hostile bytes: what comes out of ae_trace_read() is in range, in order and within the
 * call. It may still be a lie; it is shown to people and explains, nothing is decided by it. */
#ifndef AE_PROFILE_TRACE_H
#define AE_PROFILE_TRACE_H

#include "base/error.h"
#include "call/trace.h"

#include <stdbool.h>
#include <stddef.h>

/* What a call of the runtime or the driver is for. */
enum ae_api {
    AE_API_OTHER,
    AE_API_ALLOC,    /* device memory */
    AE_API_ALLOC_MANAGED,
    AE_API_PIN,      /* pinned host memory allocated */
    AE_API_REGISTER,
    AE_API_FREE,
    AE_API_UNPIN,    /* pinned host memory freed */
    AE_API_UNREGISTER,
    AE_API_COPY,     /* the way says the record on the device, or the name */
    AE_API_COPY_IN,
    AE_API_COPY_OUT,
    AE_API_LAUNCH,
    AE_API_GRAPH_LAUNCH,
    AE_API_GRAPH,    /* capturing, building, instantiating */
    AE_API_WAIT,
    AE_API_CODE,     /* loading modules and functions */
    AE_API_HANDLE,   /* streams, events, contexts, pools, attributes */
    AE_API_COUNT
};

struct ae_trace_event {
    enum ae_trace_kind kind;
    int64_t start_ns, end_ns; /* from the beginning of the call; within it */
    const char *name;         /* printable; "" for copies and sets */
    enum ae_api api;          /* API */
    bool main_thread;         /* API */
    bool of_toolkit;          /* KERNEL: of the toolkit's own libraries */
    uint32_t correlation, lane;
    uint64_t bytes;
    enum ae_trace_way way;
    enum ae_trace_memory from, to;
    int32_t result;
    uint32_t grid[3], block[3], registers, shared, local;
};

struct ae_trace {
    bool traced;          /* events of a device are there; else usage alone */
    int64_t call_ns;      /* begin to the device's end */
    int64_t return_ns;    /* begin to the function's return */
    uint64_t dropped;     /* records that the worker had no room for */
    uint64_t rejected;    /* records that made no sense */
    struct ae_trace_usage usage; /* nothing negative */
    struct ae_trace_event *events; /* by start */
    size_t count;
    char (*names)[AE_TRACE_NAME];
};

/* AE_E_INPUT where the bytes are no trace. Released by the caller. */
int ae_trace_read(const void *bytes, size_t size, struct ae_trace *ret, struct ae_error *err);
void ae_trace_release(struct ae_trace *trace);

enum ae_api ae_api_of(const char *function);

/* The readable part of a kernel's name: "axpy" of "_Z4axpyifPKfPf", "cub::DeviceScanKernel" of a template's. */
void ae_kernel_name(const char *mangled, char *ret, size_t size);

#endif
