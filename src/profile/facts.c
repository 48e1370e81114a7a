#include "profile/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels mostly tell the system's part of processor time by looking at every tick, of 4 ms or more, what runs: it takes
 * ten of them until the part means something. */
#define SPLIT_LEAST 40000000

/* The phase of a driver call while the device is idle. */
static const enum ae_phase phase_of_api[AE_API_COUNT] = {
    [AE_API_OTHER] = AE_PHASE_LIBRARY,
    [AE_API_ALLOC] = AE_PHASE_ALLOC,
    [AE_API_ALLOC_MANAGED] = AE_PHASE_ALLOC,
    [AE_API_PIN] = AE_PHASE_ALLOC,
    [AE_API_REGISTER] = AE_PHASE_ALLOC,
    [AE_API_FREE] = AE_PHASE_FREE,
    [AE_API_UNPIN] = AE_PHASE_FREE,
    [AE_API_UNREGISTER] = AE_PHASE_FREE,
    [AE_API_COPY] = AE_PHASE_LAUNCH, /* within the device: asked for, not yet running */
    [AE_API_COPY_IN] = AE_PHASE_IN,
    [AE_API_COPY_OUT] = AE_PHASE_OUT,
    [AE_API_LAUNCH] = AE_PHASE_LAUNCH,
    [AE_API_GRAPH_LAUNCH] = AE_PHASE_LAUNCH,
    [AE_API_GRAPH] = AE_PHASE_LIBRARY,
    [AE_API_WAIT] = AE_PHASE_WAIT,
    [AE_API_CODE] = AE_PHASE_LIBRARY,
    [AE_API_HANDLE] = AE_PHASE_LIBRARY,
};

/* What goes on at a moment: how many of each. */
struct moment {
    int64_t kernels, library_kernels, in, out;
    int64_t main_api[AE_PHASE_COUNT], other_api[AE_PHASE_COUNT];
};

struct edge {
    int64_t ns;
    size_t event;
    int change;
};

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static int64_t *counter_of(struct moment *m, const struct ae_trace_event *e)
{
    switch (e->kind) {
    case AE_TRACE_KERNEL:
        return e->of_toolkit ? &m->library_kernels : &m->kernels;
    case AE_TRACE_COPY:
        return e->way == AE_TRACE_WAY_IN ? &m->in : e->way == AE_TRACE_WAY_OUT ? &m->out : &m->kernels;
    case AE_TRACE_SET:
        return &m->kernels;
    default:
        return e->main_thread ? &m->main_api[phase_of_api[e->api]] : &m->other_api[phase_of_api[e->api]];
    }
}

/* AE_PHASE_COUNT: nothing that the trace knows of. */
static enum ae_phase phase_of(const struct moment *m)
{
    if (m->kernels)
        return AE_PHASE_KERNEL;
    if (m->library_kernels)
        return AE_PHASE_LIBRARY;
    if (m->in)
        return AE_PHASE_IN;
    if (m->out)
        return AE_PHASE_OUT;
    for (int p = 0; p < AE_PHASE_COUNT; p++)
        if (p != AE_PHASE_WAIT && m->main_api[p])
            return (enum ae_phase)p;
    /* A thread that waits explains nothing while others work: a pool of copying threads, say. */
    for (int p = 0; p < AE_PHASE_COUNT; p++)
        if (p != AE_PHASE_WAIT && m->other_api[p])
            return (enum ae_phase)p;
    return m->main_api[AE_PHASE_WAIT] ? AE_PHASE_WAIT : AE_PHASE_COUNT;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What neither device nor driver accounts for is computation as far as processor time can cover it, and idle beyond. A
 * thread inside the driver is taken to spin there. */
static void split_rest(struct ae_facts *f, int64_t rest_ns, int64_t in_driver_ns)
{
    const int64_t cpu_ns = f->usage.user_ns + f->usage.system_ns;
    const int64_t host = smaller(rest_ns, larger(cpu_ns - in_driver_ns, 0));
    f->phase[AE_PHASE_HOST].own_ns = host;
    f->phase[AE_PHASE_IDLE].own_ns = rest_ns - host;
    if (!f->device && cpu_ns >= SPLIT_LEAST) {
        const int64_t system = (int64_t)((double)host * ((double)f->usage.system_ns / (double)cpu_ns));
        f->phase[AE_PHASE_SYSTEM].own_ns = system;
        f->phase[AE_PHASE_HOST].own_ns = host - system;
    }
    f->phase[AE_PHASE_HOST].busy_ns = f->phase[AE_PHASE_HOST].own_ns;
    f->phase[AE_PHASE_SYSTEM].busy_ns = f->phase[AE_PHASE_SYSTEM].own_ns;
    f->phase[AE_PHASE_IDLE].busy_ns = f->phase[AE_PHASE_IDLE].own_ns;
}

static void account(struct ae_facts *f, const struct moment *m, int64_t from, int64_t to, int64_t *rest,
                    int64_t *in_driver)
{
    const int64_t ns = to - from;
    const enum ae_phase phase = phase_of(m);
    bool busy[AE_PHASE_COUNT] = {false};
    bool main_in_driver = false;
    if (phase < AE_PHASE_COUNT)
        f->phase[phase].own_ns += ns;
    else
        *rest += ns;
    for (int p = 0; p < AE_PHASE_COUNT; p++) {
        busy[p] = m->main_api[p] || m->other_api[p];
        main_in_driver = main_in_driver || m->main_api[p];
    }
    busy[AE_PHASE_KERNEL] = m->kernels;
    busy[AE_PHASE_LIBRARY] = busy[AE_PHASE_LIBRARY] || m->library_kernels;
    /* A call that copies back may only be waiting for the kernel before it. */
    const bool kernels = m->kernels || m->library_kernels;
    busy[AE_PHASE_IN] = m->in || (busy[AE_PHASE_IN] && !kernels);
    busy[AE_PHASE_OUT] = m->out || (busy[AE_PHASE_OUT] && !kernels);
    for (int p = 0; p < AE_PHASE_COUNT; p++)
        f->phase[p].busy_ns += busy[p] ? ns : 0;
    f->device_ns += kernels || m->in || m->out ? ns : 0;
    f->overlap_ns += kernels && (m->in || m->out) ? ns : 0;
    f->both_ways_ns += m->in && m->out ? ns : 0;
    if (!kernels && !m->in && !m->out && from >= f->first_kernel_ns && to <= f->last_kernel_ns) {
        f->between_kernels_ns += ns;
        f->starved_ns += phase != AE_PHASE_IN && phase != AE_PHASE_OUT ? ns : 0;
    }
    *in_driver += main_in_driver ? ns : 0;
}

static void count_copy(struct ae_copy_facts *copies, const struct ae_trace_event *e, enum ae_trace_memory host_side)
{
    const int64_t ns = e->end_ns - e->start_ns;
    copies->count++;
    copies->bytes += (double)e->bytes;
    copies->ns += ns;
    if (e->bytes <= AE_SMALL_COPY) {
        copies->small++;
        copies->small_ns += ns;
    }
    if (host_side == AE_TRACE_MEMORY_PINNED) {
        copies->pinned_bytes += (double)e->bytes;
        copies->pinned_ns += ns;
    } else if (host_side == AE_TRACE_MEMORY_PAGEABLE) {
        copies->pageable_bytes += (double)e->bytes;
        copies->pageable_ns += ns;
    }
}

static void count_kernel(struct ae_facts *f, const struct ae_trace_event *e)
{
    char name[sizeof f->kernels[0].name];
    const int64_t ns = e->end_ns - e->start_ns;
    int i = 0;
    ae_kernel_name(e->name, name, sizeof name);
    while (i < f->kernel_count && strcmp(f->kernels[i].name, name) != 0)
        i++;
    if (i == AE_KERNELS_MAX) {
        i = AE_KERNELS_MAX - 1;
        snprintf(f->kernels[i].name, sizeof f->kernels[i].name, "%s", "(others)");
    } else if (i == f->kernel_count) {
        f->kernel_count++;
        snprintf(f->kernels[i].name, sizeof f->kernels[i].name, "%s", name);
    }
    struct ae_kernel_facts *k = &f->kernels[i];
    k->launches++;
    k->total_ns += ns;
    k->of_toolkit = e->of_toolkit;
    f->launches++;
    if (f->launches == 1 || e->start_ns < f->first_kernel_ns)
        f->first_kernel_ns = e->start_ns;
    f->last_kernel_ns = larger(f->last_kernel_ns, e->end_ns);
    if (k->launches > 1 && ns <= k->longest_ns)
        return;
    k->longest_ns = ns;
    const double blocks = (double)e->grid[0] * e->grid[1] * e->grid[2];
    const uint64_t threads = (uint64_t)e->block[0] * e->block[1] * e->block[2];
    k->blocks = blocks > 9e15 ? (int64_t)9e15 : (int64_t)blocks;
    k->threads = threads > 1024 ? 1024 : (uint32_t)threads;
    memcpy(k->grid, e->grid, sizeof k->grid);
    memcpy(k->block, e->block, sizeof k->block);
    k->registers = e->registers;
    k->shared = e->shared;
    k->local = e->local;
}

static int longest_first(const void *a, const void *b)
{
    const struct ae_kernel_facts *x = a, *y = b;
    return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
}

static void count_events(struct ae_facts *f, const struct ae_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct ae_trace_event *e = &trace->events[i];
        if (e->kind == AE_TRACE_API) {
            f->api[e->api].count++;
            f->api[e->api].ns += e->end_ns - e->start_ns;
            f->api[e->api].failed += e->result != 0;
        } else if (e->kind == AE_TRACE_KERNEL) {
            count_kernel(f, e);
        } else if (e->kind == AE_TRACE_COPY && e->way == AE_TRACE_WAY_IN) {
            count_copy(&f->in, e, e->from);
        } else if (e->kind == AE_TRACE_COPY && e->way == AE_TRACE_WAY_OUT) {
            count_copy(&f->out, e, e->to);
        }
    }
    if (f->kernel_count > 1)
        qsort(f->kernels, (size_t)f->kernel_count, sizeof f->kernels[0], longest_first);
}

int ae_facts_of(const struct ae_trace *trace, bool device, struct ae_facts *ret, struct ae_error *err)
{
    struct moment moment = {0};
    int64_t at = 0, rest = 0, in_driver = 0;
    *ret = (struct ae_facts){
        .device = device && trace->traced,
        .call_ns = trace->call_ns,
        .return_ns = trace->return_ns,
        .usage = trace->usage,
        .counters = {-1, -1, -1, -1, -1},
        .dropped = trace->dropped,
        .rejected = trace->rejected,
    };
    count_events(ret, trace);
    struct edge *edges = malloc((2 * trace->count + 1) * sizeof *edges);
    if (!edges)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the phases of a trace");
    size_t n = 0;
    for (size_t i = 0; i < trace->count; i++) {
        edges[n++] = (struct edge){trace->events[i].start_ns, i, 1};
        edges[n++] = (struct edge){trace->events[i].end_ns, i, -1};
    }
    if (n > 0)
        qsort(edges, n, sizeof *edges, by_time);
    for (size_t i = 0; i < n; i++) {
        if (edges[i].ns > at) {
            account(ret, &moment, at, edges[i].ns, &rest, &in_driver);
            at = edges[i].ns;
        }
        *counter_of(&moment, &trace->events[edges[i].event]) += edges[i].change;
    }
    if (ret->call_ns > at)
        account(ret, &moment, at, ret->call_ns, &rest, &in_driver);
    free(edges);
    split_rest(ret, rest, in_driver);
    return AE_OK;
}
