#include "profile/rules.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A phase below this share of the call is not worth a sentence. */
#define WORTH 0.10
#define MUCH  0.30
#define EXACT_NS 5e3 /* a phase that is shorter may be the making of its own records */
/* Registers are handed out to warps in pieces of 256, shared memory in pieces of 128 bytes beside 1 KiB a block. */
#define WARP            32
#define REGISTER_PIECE  256
#define SHARED_RESERVED 1024
/* Shortest dependent step there is: a shuffle between the lanes of a warp, on the fastest devices of 2024. */
#define STEP_NS 16.0
#define FLOOR_CALL_NS 20e3 /* an allocation, a launch and a wait, at their best */
#define BARRIER_NS 1200.0 /* of a grid: what a launch in a chain can be replaced by */
#define EMPTY_NS   1500.0 /* what a kernel that does nothing takes on the device: starting and ending it */

static double ms(double ns)
{
    return ns * 1e-6;
}

static double percent(double share)
{
    return 100 * share;
}

static double at_least(double value, double floor)
{
    return value > floor ? value : floor;
}

static double call_of(const struct ae_call_view *v)
{
    return at_least((double)v->facts->call_ns, 1);
}

static double own(const struct ae_call_view *v, enum ae_phase phase)
{
    return (double)v->facts->phase[phase].own_ns;
}

static double share_of(const struct ae_call_view *v, double ns)
{
    return ns / call_of(v);
}

static double kernel_ns(const struct ae_call_view *v)
{
    double ns = 0;
    for (int i = 0; i < v->facts->kernel_count; i++)
        ns += (double)v->facts->kernels[i].total_ns;
    return ns;
}

static double api_ns(const struct ae_call_view *v, enum ae_api api)
{
    return (double)v->facts->api[api].ns;
}

static bool say(struct ae_bottleneck *b, double share, double gain_ns, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool say(struct ae_bottleneck *b, double share, double gain_ns, const char *format, ...)
{
    va_list args;
    b->share = share < 0 ? 0 : share > 1 ? 1 : share;
    b->gain_ns = gain_ns > 0 ? gain_ns : 0;
    va_start(args, format);
    (void)vsnprintf(b->text, sizeof b->text, format, args);
    va_end(args);
    return true;
}

/* --- floors ---------------------------------------------------------------------------------------------- */

void ae_floors_of(const struct ae_call_view *v, struct ae_floors *ret)
{
    const struct ae_ceilings *c = v->ceilings;
    *ret = (struct ae_floors){0};
    if (!c->known || !c->device || !v->facts->device)
        return;
    ret->in_ns = ae_ceilings_transfer_ns(c, v->work.bytes_in, true, true);
    ret->out_ns = ae_ceilings_transfer_ns(c, v->work.bytes_out, false, true);
    const double memory = c->memory_rate > 0 ? (v->work.bytes_in + v->work.bytes_out) / c->memory_rate * 1e9 : 0;
    double arithmetic = c->f32_rate > 0 ? v->work.operations / c->f32_rate * 1e9 : 0;
    const double chain = v->work.steps * STEP_NS;
    ret->kernel_ns = memory;
    ret->kernel_bound = memory > 0 ? "memory" : NULL;
    if (arithmetic > ret->kernel_ns) {
        ret->kernel_ns = arithmetic;
        ret->kernel_bound = "arithmetic";
    }
    if (chain > ret->kernel_ns) {
        ret->kernel_ns = chain;
        ret->kernel_bound = "dependent steps";
    }
    ret->alloc_ns = c->alloc_ns;
    ret->launch_ns = c->launch_sync_ns;
    ret->call_ns = ret->in_ns + ret->out_ns + ret->kernel_ns + ret->alloc_ns + c->free_ns + ret->launch_ns;
}

/* Bytes a second, at the size that suits the link best; 0: not known. */
static double link_rate(const struct ae_ceilings *c, bool in)
{
    double best = 0;
    for (int i = 0; i < c->transfer_count; i++) {
        const double ns = in ? c->transfers[i].pinned_in_ns : c->transfers[i].pinned_out_ns;
        best = ns > 0 ? fmax(best, c->transfers[i].bytes / ns * 1e9) : best;
    }
    return best;
}

int64_t ae_floor_ns(const struct ae_ceilings *c, const struct ae_work *work)
{
    const double in = link_rate(c, true), out = link_rate(c, false);
    if (!c->known || !c->device || in <= 0 || out <= 0 || c->f32_rate <= 0)
        return 0;
    const double widest = fmax(fmax(work->bytes_in / in, work->bytes_out / out), work->operations / c->f32_rate) * 1e9;
    return (int64_t)(widest + work->steps * STEP_NS + FLOOR_CALL_NS);
}

double ae_floor_of_phase(const struct ae_floors *f, enum ae_phase phase)
{
    switch (phase) {
    case AE_PHASE_IN:
        return f->in_ns;
    case AE_PHASE_OUT:
        return f->out_ns;
    case AE_PHASE_KERNEL:
        return f->kernel_ns;
    case AE_PHASE_ALLOC:
        return f->alloc_ns;
    case AE_PHASE_LAUNCH:
        return f->launch_ns;
    default:
        return 0;
    }
}

int ae_blocks_a_multiprocessor(const struct ae_ceilings *c, const struct ae_kernel_facts *k, double *ret_occupancy)
{
    *ret_occupancy = 0;
    if (!c->device || c->threads_a_multiprocessor <= 0 || k->threads == 0)
        return 0;
    const int warps = (int)((k->threads + WARP - 1) / WARP);
    int blocks = c->threads_a_multiprocessor / (warps * WARP);
    if (c->blocks_a_multiprocessor > 0 && blocks > c->blocks_a_multiprocessor)
        blocks = c->blocks_a_multiprocessor;
    if (k->registers > 0 && c->registers_a_multiprocessor > 0) {
        const int a_warp = (int)((k->registers * WARP + REGISTER_PIECE - 1) / REGISTER_PIECE * REGISTER_PIECE);
        const int by_registers = c->registers_a_multiprocessor / (a_warp * warps);
        blocks = by_registers < blocks ? by_registers : blocks;
    }
    if (k->shared > 0 && c->shared_a_multiprocessor > 0) {
        const int by_shared = (int)(c->shared_a_multiprocessor / ((int64_t)k->shared + SHARED_RESERVED));
        blocks = by_shared < blocks ? by_shared : blocks;
    }
    if (blocks < 1)
        blocks = 1; /* it ran */
    *ret_occupancy = (double)(blocks * warps * WARP) / c->threads_a_multiprocessor;
    return blocks;
}

/* --- transfers ------------------------------------------------------------------------------------------- */

static bool pageable(const struct ae_call_view *v, struct ae_bottleneck *b, bool in)
{
    const struct ae_copy_facts *copies = in ? &v->facts->in : &v->facts->out;
    const double ns = own(v, in ? AE_PHASE_IN : AE_PHASE_OUT);
    const char *how;
    if (!v->ceilings->device || copies->pageable_bytes < 0.5 * copies->bytes || copies->count == 0 ||
        share_of(v, ns) < WORTH)
        return false;
    const double best = ae_ceilings_best_transfer_ns(v->ceilings, copies->pageable_bytes, in, &how);
    if (best <= 0 || ns - best < fmax(0.1 * ns, 2e4))
        return false;
    return say(b, share_of(v, ns), ns - best,
               "transfer-bound: %.0f %% of the call copies %.1f MB of pageable memory %s at %.1f GB/s; %s would save "
               "%.2f ms", percent(share_of(v, ns)), copies->pageable_bytes * 1e-6, in ? "to the device" : "back",
               copies->pageable_bytes / ns, strcmp(how, "as it is") == 0 ? "one plain copy" : how, ms(ns - best));
}

static bool pageable_in(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    return pageable(v, b, true);
}

static bool pageable_out(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    return pageable(v, b, false);
}

static bool link_bound(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double ns = own(v, AE_PHASE_IN) + own(v, AE_PHASE_OUT);
    const double floor = ae_ceilings_transfer_ns(v->ceilings, f->in.bytes, true, true) +
                         ae_ceilings_transfer_ns(v->ceilings, f->out.bytes, false, true);
    if (floor <= 0 || share_of(v, ns) < 0.5 || floor < 0.7 * ns)
        return false;
    return say(b, share_of(v, ns), 0,
               "link-bound: %.0f %% of the call moves %.1f MB at %.0f %% of what the link does; only fewer bytes, or "
               "work meanwhile, make it shorter", percent(share_of(v, ns)), (f->in.bytes + f->out.bytes) * 1e-6,
               percent(fmin(floor / ns, 1)));
}

static bool excess_bytes(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double moved = f->in.bytes + f->out.bytes, needed = v->work.bytes_in + v->work.bytes_out;
    const double ns = own(v, AE_PHASE_IN) + own(v, AE_PHASE_OUT);
    if (needed <= 0 || moved < 1.3 * needed || moved - needed < 1e5 || share_of(v, ns) < WORTH)
        return false;
    const double gain = ns * (moved - needed) / moved;
    return say(b, share_of(v, ns), gain,
               "%.1f MB cross the link where the task has %.1f MB of arguments; without what is copied more than once "
               "or for nothing about %.2f ms less", moved * 1e-6, needed * 1e-6, ms(gain));
}

static bool small_copies(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const int64_t n = f->in.small + f->out.small;
    const double ns = api_ns(v, AE_API_COPY_IN) + api_ns(v, AE_API_COPY_OUT);
    if (n < 16 || 2 * n < f->in.count + f->out.count || share_of(v, ns) < WORTH)
        return false;
    const double gain = ns * (double)(n - 2) / (double)(f->in.count + f->out.count);
    return say(b, share_of(v, ns), fmin(gain, own(v, AE_PHASE_IN) + own(v, AE_PHASE_OUT)),
               "%lld copies of at most 64 KiB, %.1f us each; packed into two they would save up to %.2f ms", (long long)n,
               ns / (double)(f->in.count + f->out.count) * 1e-3,
               ms(fmin(gain, own(v, AE_PHASE_IN) + own(v, AE_PHASE_OUT))));
}

static bool no_overlap(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double copies = own(v, AE_PHASE_IN) + own(v, AE_PHASE_OUT) + (double)f->overlap_ns;
    const double kernels = kernel_ns(v);
    const double less = fmin(copies, kernels);
    if (share_of(v, less) < 0.15 || (double)f->overlap_ns > 0.1 * less)
        return false;
    const double gain = 0.75 * less; /* four pieces: the first goes in and the last comes out alone */
    return say(b, share_of(v, copies + kernels), gain,
               "copies (%.2f ms) and kernels (%.2f ms) take turns; if the work can be cut into pieces, overlapping them "
               "would save up to %.2f ms", ms(copies), ms(kernels), ms(gain));
}

static bool one_way_at_a_time(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    /* While both run the moment is counted as in. */
    const double in = own(v, AE_PHASE_IN), out = own(v, AE_PHASE_OUT) + (double)f->both_ways_ns;
    const double less = fmin(in, out);
    if (share_of(v, less) < 0.25 || (double)f->both_ways_ns > 0.1 * less)
        return false;
    const double gain = 0.6 * less;
    return say(b, share_of(v, in + out), gain,
               "%.2f ms in and %.2f ms out one after the other; the link carries both ways at once: in pieces up to %.2f "
               "ms less", ms(in), ms(out), ms(gain));
}

/* The classic. */
static bool loses_to_transfer(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double kernels = kernel_ns(v), call = call_of(v), baseline = (double)v->baseline_ns;
    const double moving = own(v, AE_PHASE_IN) + own(v, AE_PHASE_OUT) + own(v, AE_PHASE_ALLOC) + own(v, AE_PHASE_FREE);
    if (baseline <= 0 || kernels <= 0 || call <= baseline || baseline < 2 * kernels || moving < 0.5 * call)
        return false;
    return say(b, share_of(v, moving), call - baseline,
               "the kernels are %.0f times faster than the CPU program, yet the user waits longer (%.1f ms instead of "
               "%.1f): %.0f %% of the call moves data", baseline / kernels, ms(call), ms(baseline),
               percent(share_of(v, moving)));
}

/* --- allocation ------------------------------------------------------------------------------------------ */

static bool allocation(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double ns = api_ns(v, AE_API_ALLOC) + api_ns(v, AE_API_FREE);
    const double once = v->ceilings->alloc_ns + v->ceilings->free_ns;
    const int64_t n = f->api[AE_API_ALLOC].count;
    const double seen = fmin(ns, own(v, AE_PHASE_ALLOC) + own(v, AE_PHASE_FREE));
    if (n < 2 || once <= 0 || share_of(v, seen) < 2 * WORTH || seen <= once)
        return false;
    return say(b, share_of(v, seen), seen - once,
               "allocation-bound: %lld allocations and as many frees take %.0f %% of the call; one block for all would "
               "save %.2f ms", (long long)n, percent(share_of(v, seen)), ms(seen - once));
}

static bool pinned_allocation(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = api_ns(v, AE_API_PIN) + api_ns(v, AE_API_UNPIN);
    const double bytes = v->facts->in.pinned_bytes + v->facts->out.pinned_bytes;
    if (v->facts->api[AE_API_PIN].count == 0 || share_of(v, ns) < WORTH)
        return false;
    const double instead = ae_ceilings_register_ns(v->ceilings, bytes);
    const double gain = instead > 0 && instead < ns ? ns - instead : 0;
    return say(b, share_of(v, ns), gain,
               "pinning new memory takes %.2f ms, %.0f %% of the call; registering memory that exists already would "
               "save %.2f ms", ms(ns), percent(share_of(v, ns)), ms(gain));
}

static bool registration(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double ns = api_ns(v, AE_API_REGISTER) + api_ns(v, AE_API_UNREGISTER);
    const double in = f->in.pinned_bytes, out = f->out.pinned_bytes;
    if (f->api[AE_API_REGISTER].count == 0 || share_of(v, ns) < WORTH || !v->ceilings->device)
        return false;
    const double with = ns + (double)f->in.pinned_ns + (double)f->out.pinned_ns;
    const double without = ae_ceilings_best_transfer_ns(v->ceilings, in, true, NULL) +
                           ae_ceilings_best_transfer_ns(v->ceilings, out, false, NULL);
    if (without <= 0 || without >= with)
        return false;
    return say(b, share_of(v, ns), with - without,
               "registering host memory takes %.2f ms, more than it saves on %.1f MB; another way of copying would save "
               "%.2f ms", ms(ns), (in + out) * 1e-6, ms(with - without));
}

static bool managed(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    struct ae_floors floors;
    const double kernels = kernel_ns(v);
    ae_floors_of(v, &floors);
    const double bytes_ns = floors.in_ns + floors.out_ns;
    if (v->facts->api[AE_API_ALLOC_MANAGED].count == 0 || bytes_ns <= 0 || share_of(v, kernels) < WORTH)
        return false;
    const double gain = kernels - bytes_ns - floors.kernel_ns;
    if (gain <= 0.2 * kernels)
        return false;
    return say(b, share_of(v, kernels), gain,
               "kernels on managed memory wait for pages, one fault at a time: %.2f ms where copies and kernel need "
               "%.2f ms", ms(kernels), ms(bytes_ns + floors.kernel_ns));
}

/* --- launches and waiting -------------------------------------------------------------------------------- */

static bool launch_bound(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double span = (double)(f->last_kernel_ns - f->first_kernel_ns), kernels = kernel_ns(v);
    const double n = (double)f->launches;
    if (f->launches < 100 || kernels / n > 10e3 || share_of(v, span) < MUCH)
        return false;
    const double step = span / n;
    const double gain = n * (step - fmax(kernels / n - EMPTY_NS, 0) - BARRIER_NS);
    if (gain <= 0)
        return false;
    return say(b, share_of(v, span), gain,
               "launch-bound: %lld launches of %.1f us, one every %.1f us; one kernel that steps by itself, or a graph, "
               "would save up to %.2f ms", (long long)f->launches, kernels / n * 1e-3, step * 1e-3, ms(gain));
}

static bool waits_each_step(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const int64_t waits = f->api[AE_API_WAIT].count + f->out.small;
    const double gap = (double)f->between_kernels_ns;
    if (f->launches < 16 || 3 * waits < f->launches || share_of(v, gap) < WORTH)
        return false;
    return say(b, share_of(v, gap), 0.8 * gap,
               "the host waits %lld times for %lld launches, and the device is idle for %.2f ms in between; a decision "
               "on the device would save most of it", (long long)waits, (long long)f->launches, ms(gap));
}

static bool gaps(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_facts *f = v->facts;
    const double gap = (double)f->starved_ns;
    const int64_t waits = f->api[AE_API_WAIT].count + f->out.small;
    if (f->launches < 2 || share_of(v, gap) < 0.15 || (f->launches >= 16 && 3 * waits >= f->launches) || (double)gap < 2e4)
        return false;
    return say(b, share_of(v, gap), gap,
               "the device has nothing to do for %.2f ms between its kernels (%.0f %% of the call): the host does not "
               "feed it in time", ms(gap), percent(share_of(v, gap)));
}

static bool wait_idle(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = own(v, AE_PHASE_WAIT);
    if (share_of(v, ns) < WORTH || ns < 2e4)
        return false;
    return say(b, share_of(v, ns), ns,
               "%lld waits for a device that has nothing left to do take %.2f ms; fewer of them, or one that spins, "
               "would save it", (long long)v->facts->api[AE_API_WAIT].count, ms(ns));
}

static bool graph_once(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = api_ns(v, AE_API_GRAPH);
    const int64_t n = v->facts->api[AE_API_GRAPH_LAUNCH].count;
    if (n == 0 || n > 2 || share_of(v, ns) < WORTH)
        return false;
    return say(b, share_of(v, ns), ns,
               "building a graph takes %.2f ms and it is launched %s; plain launches cost less", ms(ns),
               n == 1 ? "once" : "twice");
}

static bool handles(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = fmin(api_ns(v, AE_API_HANDLE), own(v, AE_PHASE_LIBRARY));
    if (share_of(v, ns) < WORTH || ns < 2e4)
        return false;
    return say(b, share_of(v, ns), 0.8 * ns, "streams, events, pools and attributes take %.2f ms in %lld %s: use fewer",
               ms(ns), (long long)v->facts->api[AE_API_HANDLE].count,
               ae_text_plural(v->facts->api[AE_API_HANDLE].count, "call", "calls"));
}

static bool code_loading(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = fmin(api_ns(v, AE_API_CODE), own(v, AE_PHASE_LIBRARY));
    if (share_of(v, ns) < WORTH || ns < 2e4)
        return false;
    return say(b, share_of(v, ns), 0.8 * ns,
               "loading code takes %.2f ms of every call (%lld %s): fewer kernels, or none compiled at run time",
               ms(ns), (long long)v->facts->api[AE_API_CODE].count,
               ae_text_plural(v->facts->api[AE_API_CODE].count, "call", "calls"));
}

/* --- kernels --------------------------------------------------------------------------------------------- */

/* The share of the call and the time of all kernels that a test picks; *ret_worst: the longest of them. */
static double picked(const struct ae_call_view *v, bool (*test)(const struct ae_call_view *, const struct ae_kernel_facts *),
                     const struct ae_kernel_facts **ret_worst)
{
    double ns = 0;
    *ret_worst = NULL;
    for (int i = 0; i < v->facts->kernel_count; i++) {
        const struct ae_kernel_facts *k = &v->facts->kernels[i];
        if (!test(v, k))
            continue;
        ns += (double)k->total_ns;
        if (!*ret_worst)
            *ret_worst = k;
    }
    return ns;
}

static bool has_one_block(const struct ae_call_view *v, const struct ae_kernel_facts *k)
{
    (void)v;
    return k->blocks == 1;
}

static bool one_block(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_kernel_facts *k;
    const double ns = picked(v, has_one_block, &k), all = kernel_ns(v);
    const int places = v->ceilings->multiprocessors;
    if (!k || ns < 0.5 * all || share_of(v, ns) < WORTH || places < 2)
        return false;
    return say(b, share_of(v, ns), ns * (1 - 1.0 / places),
               "one block runs for %.0f %% of the kernel time (%s, %.2f ms) while %d of %d multiprocessors have nothing "
               "to do", percent(ns / all), k->name, ms(ns), places - 1, places);
}

static bool has_few_blocks(const struct ae_call_view *v, const struct ae_kernel_facts *k)
{
    return k->blocks > 1 && k->blocks < v->ceilings->multiprocessors;
}

static bool few_blocks(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_kernel_facts *k;
    const double ns = picked(v, has_few_blocks, &k), all = kernel_ns(v);
    if (!k || ns < 0.5 * all || share_of(v, ns) < WORTH)
        return false;
    const double used = (double)k->blocks / v->ceilings->multiprocessors;
    return say(b, share_of(v, ns), ns * (1 - used),
               "%s has %lld blocks for %d multiprocessors: %.0f %% of the device have nothing to do for %.2f ms", k->name,
               (long long)k->blocks, v->ceilings->multiprocessors, percent(1 - used), ms(ns));
}

static bool has_small_blocks(const struct ae_call_view *v, const struct ae_kernel_facts *k)
{
    (void)v;
    return k->threads < 2 * WARP && k->blocks > 1;
}

static bool small_blocks(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_kernel_facts *k;
    const double ns = picked(v, has_small_blocks, &k);
    if (!k || share_of(v, ns) < WORTH)
        return false;
    const double lanes = (double)k->threads / (double)((k->threads + WARP - 1) / WARP * WARP);
    return say(b, share_of(v, ns), ns * (1 - 0.5 * lanes),
               "%s runs blocks of %u threads for %.2f ms: a multiprocessor holds too few of them; blocks of 128 or 256 "
               "fill it", k->name, k->threads, ms(ns));
}

static bool has_ragged_blocks(const struct ae_call_view *v, const struct ae_kernel_facts *k)
{
    (void)v;
    return k->threads > WARP && k->threads % WARP != 0;
}

static bool ragged_blocks(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_kernel_facts *k;
    const double ns = picked(v, has_ragged_blocks, &k);
    if (!k || share_of(v, ns) < WORTH)
        return false;
    const double idle = (double)(WARP - k->threads % WARP) / ((k->threads + WARP - 1) / WARP * WARP);
    if (idle < 0.05)
        return false;
    return say(b, share_of(v, ns), ns * idle,
               "%s has blocks of %u threads, no multiple of %d: %.0f %% of the lanes are empty for %.2f ms", k->name,
               k->threads, WARP, percent(idle), ms(ns));
}

static bool has_local_memory(const struct ae_call_view *v, const struct ae_kernel_facts *k)
{
    (void)v;
    return k->local >= 256;
}

static bool local_memory(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_kernel_facts *k;
    const double ns = picked(v, has_local_memory, &k);
    if (!k || share_of(v, ns) < WORTH)
        return false;
    return say(b, share_of(v, ns), 0.3 * ns,
               "%s keeps %u bytes a thread in local memory (arrays with indices, or spilled registers) for %.2f ms",
               k->name, k->local, ms(ns));
}

static bool has_low_occupancy(const struct ae_call_view *v, const struct ae_kernel_facts *k)
{
    double occupancy;
    const int blocks = ae_blocks_a_multiprocessor(v->ceilings, k, &occupancy);
    return blocks > 0 && occupancy < 0.25 && k->threads >= 2 * WARP && k->blocks >= v->ceilings->multiprocessors;
}

static bool low_occupancy(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_kernel_facts *k;
    double occupancy = 0;
    const double ns = picked(v, has_low_occupancy, &k);
    if (!k || share_of(v, ns) < WORTH)
        return false;
    (void)ae_blocks_a_multiprocessor(v->ceilings, k, &occupancy);
    return say(b, share_of(v, ns), 0.3 * ns,
               "%s leaves %.0f %% of each multiprocessor's threads unused for %.2f ms: %u registers a thread, %u bytes of "
               "shared memory a block of %u", k->name, percent(1 - occupancy), ms(ns), k->registers, k->shared,
               k->threads);
}

static bool tail_wave(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    for (int i = 0; i < v->facts->kernel_count; i++) {
        const struct ae_kernel_facts *k = &v->facts->kernels[i];
        double occupancy;
        const int fit = ae_blocks_a_multiprocessor(v->ceilings, k, &occupancy);
        const double ns = (double)k->total_ns;
        const double wave = (double)fit * v->ceilings->multiprocessors;
        if (wave <= 0 || share_of(v, ns) < WORTH || (double)k->blocks <= wave)
            continue;
        const double waves = (double)k->blocks / wave;
        const double lost = 1 - waves / ceil(waves);
        if (waves > 4 || lost < 0.25)
            continue;
        return say(b, share_of(v, ns), 0.5 * ns * lost,
                   "%s has %lld blocks, %.2f times what the device holds at once: the last wave is nearly empty (%.2f ms)",
                   k->name, (long long)k->blocks, waves, ms(ns));
    }
    return false;
}

static bool memory_bound(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    struct ae_floors floors;
    const double ns = own(v, AE_PHASE_KERNEL) + own(v, AE_PHASE_LIBRARY);
    ae_floors_of(v, &floors);
    if (floors.kernel_ns <= 0 || share_of(v, kernel_ns(v)) < MUCH || floors.kernel_ns < 0.5 * ns)
        return false;
    return say(b, share_of(v, ns), 0,
               "the kernels take %.2f ms where the task's %s alone would take %.2f: %.0f %% of what this device can do",
               ms(ns),
               floors.kernel_bound, ms(floors.kernel_ns), percent(fmin(floors.kernel_ns / ns, 1)));
}

static bool far_from_floor(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    struct ae_floors floors;
    const double ns = own(v, AE_PHASE_KERNEL) + own(v, AE_PHASE_LIBRARY);
    ae_floors_of(v, &floors);
    if (floors.kernel_ns <= 0 || share_of(v, kernel_ns(v)) < MUCH || ns < 10 * floors.kernel_ns || ns < 1e5)
        return false;
    if (floors.kernel_ns < EMPTY_NS) /* a ratio to less than an empty kernel takes says nothing */
        return say(b, share_of(v, ns), 0.5 * (ns - EMPTY_NS),
                   "the kernels take %.2f ms for work that this device could do in microseconds: little of it is done at the "
                   "same time, or much more than a good algorithm does", ms(ns));
    return say(b, share_of(v, ns), 0.5 * (ns - floors.kernel_ns),
               "the kernels take %.2f ms, %.0f times the %.3f ms that the task's %s would take at this device's best",
               ms(ns), ns / floors.kernel_ns, ms(floors.kernel_ns), floors.kernel_bound);
}

/* --- host ------------------------------------------------------------------------------------------------ */

static bool host_work(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = own(v, AE_PHASE_HOST);
    if (!v->facts->device || share_of(v, ns) < 2 * WORTH)
        return false;
    return say(b, share_of(v, ns), 0.8 * ns,
               "host-bound: the host computes for %.2f ms (%.0f %% of the call) while the device has nothing to do",
               ms(ns), percent(share_of(v, ns)));
}

/* Of the idle time, what the calling thread stood in the queue for a core. */
static double queued(const struct ae_call_view *v)
{
    return fmin((double)v->facts->usage.queued_ns, own(v, AE_PHASE_IDLE));
}

static bool preempted(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = queued(v);
    if (share_of(v, ns) < WORTH || ns < 2e4)
        return false;
    return say(b, share_of(v, ns), 0,
               "other threads had the processor for %.2f ms (%.0f %% of the call): this machine is not quiet, or the "
               "program has more threads than cores", ms(ns), percent(share_of(v, ns)));
}

static bool idle(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double ns = own(v, AE_PHASE_IDLE) - queued(v);
    if (share_of(v, ns) < WORTH || ns < 2e4)
        return false;
    return say(b, share_of(v, ns), ns,
               "nothing works for %.2f ms (%.0f %% of the call), neither processor nor device: a thread sleeps or waits "
               "for a lock", ms(ns), percent(share_of(v, ns)));
}

/* Processors that work on average, while the calling thread does not stand in the queue for one. */
static double processors(const struct ae_call_view *v)
{
    return (double)(v->facts->usage.user_ns + v->facts->usage.system_ns) / at_least(call_of(v) - queued(v), 1);
}

static bool one_thread(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double used = processors(v);
    if (v->facts->device || v->cores < 2 || used > 1.2 || used < 0.5 || call_of(v) < 1e6)
        return false;
    const double gain = call_of(v) * (1 - 1 / (0.7 * v->cores));
    return say(b, 1, gain, "one of %d cores works; shared among them the call could take %.2f ms less", v->cores,
               ms(gain));
}

static bool half_used(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double used = processors(v);
    if (v->facts->device || v->cores < 2 || used <= 1.2 || used > 0.6 * v->cores || call_of(v) < 1e6)
        return false;
    return say(b, 1, call_of(v) * (1 - used / (0.9 * v->cores)),
               "%.1f of %d cores work on average: threads wait for each other, or a part runs on one", used, v->cores);
}

static bool page_faults(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const double n = (double)v->facts->usage.minor_faults;
    const double ns = n * v->ceilings->touch_page_ns;
    if (n < 256 || ns <= 0 || share_of(v, ns) < WORTH)
        return false;
    return say(b, share_of(v, ns), 0.8 * fmin(ns, call_of(v)),
               "%.0f pages are touched for the first time, about %.2f ms: memory asked for in the call, larger than it "
               "need be or without huge pages", n, ms(ns));
}

static bool system_time(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_trace_usage *u = &v->facts->usage;
    const double all = (double)(u->user_ns + u->system_ns);
    if (v->facts->device || own(v, AE_PHASE_SYSTEM) <= 0 || (double)u->system_ns < 0.3 * all)
        return false;
    const double ns = (double)u->system_ns / at_least(processors(v), 1);
    return say(b, share_of(v, ns), 0.5 * ns,
               "the operating system takes %.0f %% of the processor time: memory mapped and unmapped, threads started, or "
               "locks", percent((double)u->system_ns / all));
}

static bool crowded(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_trace_usage *u = &v->facts->usage;
    if (v->facts->device || u->threads_after <= v->cores + 1 ||
        u->involuntary < 16 + 2 * v->cores)
        return false;
    return say(b, 1, 0.1 * call_of(v),
               "%lld threads share %d cores and are taken off them %lld times", (long long)u->threads_after, v->cores,
               (long long)u->involuntary);
}

static bool memory_stalls(const struct ae_call_view *v, struct ae_bottleneck *b)
{
    const struct ae_counters *c = &v->facts->counters;
    if (v->facts->device || c->instructions <= 0 || c->cycles <= 0 || c->cycles < 1000000)
        return false;
    const double ipc = (double)c->instructions / (double)c->cycles;
    if (ipc > 0.7)
        return false;
    return say(b, 1, (1 - ipc) * 0.5 * call_of(v),
               "%.2f instructions a cycle%s: the cores wait for memory or for long operations", ipc,
               c->cache_misses > c->instructions / 100 ? ", with many cache misses" : "");
}

/* --- the table ------------------------------------------------------------------------------------------- */

const struct ae_bottleneck_rule ae_bottleneck_rules[] = {
    {"loses-to-transfer", "Fast kernels, slow call",
     "the call is slower than the CPU reference although the kernels are at least twice as fast, and half of it or more "
     "moves or allocates memory",
     "the call less the reference's time", "move fewer bytes, move them faster, or stay on the CPU", "classic",
     loses_to_transfer, true},
    {"pageable-in", "Pageable memory copied in",
     "copies to the device take 10 % of the call or more, mostly from pageable memory, and a faster way is known for that "
     "many bytes",
     "the phase less the best of plain, registered and ring copies of that size on this machine",
     "register the arrays, or copy through a small pinned ring with several host threads", "pageable_in", pageable_in},
    {"pageable-out", "Pageable memory copied back", "the same for copies back", "the same for copies back",
     "register the output, or copy through a pinned ring", "pageable_out", pageable_out},
    {"link-bound", "The link is the limit", "half of the call or more moves bytes at 70 % of the link's rate or better",
     "none: the limit is reached", "send fewer bytes (narrower types, packed data), or compute meanwhile", "link_bound",
     link_bound},
    {"excess-bytes", "More bytes than the task has", "1.3 times the arguments' bytes or more cross the link",
     "the transfers' time, by the share of the excess", "copy each array once; keep intermediate results on the device",
     "excess_bytes", excess_bytes},
    {"small-copies", "Many small copies",
     "16 copies of at most 64 KiB or more, at least half of all, and their calls take 10 % of the call",
     "the copies' calls but two", "pack them into one buffer, or pass values as kernel arguments", "small_copies",
     small_copies},
    {"no-overlap", "Copies and kernels take turns",
     "copies and kernels take 15 % of the call or more each and overlap for less than a tenth",
     "three quarters of the shorter one", "cut the work into pieces on two or three streams", "no_overlap", no_overlap},
    {"one-way", "In and out one after the other",
     "copies in and out take a quarter of the call or more each and never run at once", "0.6 of the shorter one",
     "bring back finished pieces while others still go in", "one_way", one_way_at_a_time},
    {"allocation", "Allocation takes the time",
     "two device allocations or more, with their frees 20 % of the call or more",
     "their time less one allocation and free on this machine", "allocate one block and cut it up", "allocation",
     allocation},
    {"pinned-allocation", "Pinned memory allocated in the call",
     "allocating and freeing pinned host memory takes 10 % of the call or more",
     "its time less registering as many bytes", "register memory that is there, or use a small ring",
     "pinned_allocation", pinned_allocation},
    {"registration", "Registering costs more than it saves",
     "registering takes 10 % of the call or more, and a way without it is faster for these bytes",
     "registering and copying less the best way of copying", "copy small arrays as they are", "registration",
     registration},
    {"managed", "Managed memory faults page by page",
     "managed memory is used and the kernels take longer than copies and kernels would",
     "the kernels' time less the floors of copies and kernel", "plain copies, or prefetch", "managed", managed},
    {"launch-bound", "Launches take the time",
     "100 launches or more of 10 us or less, over 30 % of the call or more",
     "what each step takes beyond the kernel and a barrier of the grid",
     "one persistent kernel, a graph that is launched several times, or more work a launch", "launch_bound",
     launch_bound},
    {"waits-each-step", "The host decides each step",
     "16 launches or more, a wait or a small copy back for every third one, and the device idle in between for 10 % of "
     "the call",
     "0.8 of the idle time", "decide on the device; look at a flag every few steps", "waits_each_step", waits_each_step},
    {"gaps", "Gaps between kernels", "the device is idle between kernels for 15 % of the call, neither copies nor waits for each step explain it",
     "the idle time", "prepare on the host before the first kernel, or on the device", "gaps", gaps},
    {"idle-wait", "Waiting for an idle device", "waits while the device is idle take 10 % of the call or more",
     "their time", "wait once, at the end; cudaDeviceScheduleSpin", "idle_wait", wait_idle},
    {"graph-once", "A graph for one launch", "building graphs takes 10 % of the call and they are launched twice at most",
     "building it", "plain launches; graphs pay from the third replay on", "graph_once", graph_once},
    {"handles", "Streams, events and other handles", "making and destroying handles takes 10 % of the call or more",
     "0.8 of it", "use one or two streams; events without timing", "handles", handles},
    {"code-loading", "Code is loaded in every call", "loading modules or functions takes 10 % of the call or more",
     "0.8 of it", "do not compile or load code at run time", "code_loading", code_loading},
    {"one-block", "One block for the whole device", "kernels of one block take half of the kernel time or more",
     "their time but one part in as many as there are multiprocessors",
     "split the work over blocks; a chain of steps can use a cluster or a grid barrier", "one_block", one_block},
    {"few-blocks", "Fewer blocks than multiprocessors",
     "kernels with fewer blocks than multiprocessors take half of the kernel time or more",
     "the share of the device that is unused", "smaller blocks, or a second dimension of the work", "few_blocks",
     few_blocks},
    {"small-blocks", "Blocks of a warp or less", "kernels with blocks under 64 threads take 10 % of the call or more",
     "half their time, more where lanes are empty", "blocks of 128 to 256 threads", "small_blocks", small_blocks},
    {"ragged-blocks", "Blocks that do not fill their last warp",
     "blocks of no multiple of 32 threads with 5 % of the lanes or more empty, 10 % of the call or more",
     "the share of empty lanes", "round the block up and guard the tail", "ragged_blocks", ragged_blocks},
    {"local-memory", "Arrays in local memory", "kernels with 256 bytes of local memory a thread or more, 10 % of the call",
     "0.3 of their time", "constant indices, shared memory, smaller arrays, fewer registers", "local_memory",
     local_memory},
    {"low-occupancy", "Few threads on a multiprocessor",
     "registers or shared memory leave less than a quarter of the threads, in kernels of 10 % of the call or more",
     "0.3 of their time", "__launch_bounds__, smaller tiles, less shared memory", "low_occupancy", low_occupancy},
    {"tail-wave", "A nearly empty last wave",
     "1 to 4 waves of blocks, the last one filled by less than it could be so that a quarter is lost",
     "half of the loss", "a grid of as many blocks as fit, each taking several pieces", "tail_wave", tail_wave},
    {"device-limit", "The kernels reach the device's limit",
     "kernels of 30 % of the call or more take less than twice what memory or arithmetic alone needs",
     "none: the limit is reached", "another algorithm, narrower types", "device_limit", memory_bound},
    {"far-from-floor", "Kernels far from the device's limit",
     "kernels of 30 % of the call or more take ten times what the task needs of memory and arithmetic",
     "half of the distance", "look at the other sentences; coalesced accesses, more parallelism", "far_from_floor",
     far_from_floor},
    {"host-bound", "The host computes", "host code outside the driver takes 20 % of the call with an idle device",
     "0.8 of it", "move it to the device, or do it while the device works", "host_bound", host_work},
    {"idle", "Nobody works", "neither processor nor device works for 10 % of the call, nor does the calling thread queue for a core", "that time",
     "do not sleep; spin for short waits", "idle", idle},
    {"preempted", "Other programs have the processor",
     "the calling thread could run but had no core for a tenth of the call or more", "none",
     "measure on a quiet machine", "preempted", preempted},
    {"one-thread", "One core works (cpu)", "a cpu program uses one of several cores",
     "a perfect split over 0.7 of the cores", "OpenMP", "one_thread", one_thread},
    {"cores-wait", "Cores wait (cpu)", "a cpu program uses between one and 60 % of its cores",
     "the share of 0.9 of the cores that is unused", "dynamic schedules, fewer barriers, larger parallel parts",
     "cores_wait", half_used},
    {"page-faults", "First touches of memory", "256 page faults or more, 10 % of the call at the machine's cost of one",
     "0.8 of it", "reuse memory within the call, allocate less, ask for huge pages", "page_faults", page_faults},
    {"system-time", "The operating system works (cpu)", "30 % of the processor time or more is the system's, of 40 ms at least (less is too little to tell)",
     "half of it", "fewer allocations of large blocks, fewer threads started", "system_time", system_time},
    {"crowded", "More threads than cores (cpu)",
     "more threads than cores, taken off them 16 times and twice for each core, or more", "a tenth of the call", "as many threads as cores",
     "crowded", crowded},
    {"memory-stalls", "Cores wait for memory (cpu)",
     "0.7 instructions a cycle or fewer, where the processor counts them", "half of the missing share",
     "smaller or better ordered data, blocking for the caches", "memory_stalls", memory_stalls},
};

const int ae_bottleneck_rule_count = (int)(sizeof ae_bottleneck_rules / sizeof *ae_bottleneck_rules);

bool ae_bottleneck_supported(const struct ae_call_view *v, const struct ae_bottleneck *b)
{
    const double ns = b->share * call_of(v);
    const double longer = v->slowest_ns > 0 && v->profiled_ns > v->slowest_ns ? (double)(v->profiled_ns - v->slowest_ns) : 0;
    return ns >= EXACT_NS && (longer == 0 || ns - longer >= WORTH * (double)v->slowest_ns);
}

static int by_gain(const void *a, const void *b)
{
    const struct ae_bottleneck *x = a, *y = b;
    if (x->rule->headline != y->rule->headline)
        return x->rule->headline ? -1 : 1;
    if (x->gain_ns != y->gain_ns)
        return x->gain_ns < y->gain_ns ? 1 : -1;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->rule > y->rule) - (x->rule < y->rule);
}

int ae_bottlenecks_of(const struct ae_call_view *view, struct ae_bottleneck ret[AE_BOTTLENECKS_MAX])
{
    int n = 0;
    for (int i = 0; i < ae_bottleneck_rule_count && n < AE_BOTTLENECKS_MAX; i++) {
        struct ae_bottleneck b = {.rule = &ae_bottleneck_rules[i]};
        if (view->facts->call_ns > 0 && b.rule->match(view, &b))
            ret[n++] = b;
    }
    if (n > 1)
        qsort(ret, (size_t)n, sizeof *ret, by_gain);
    return n;
}
