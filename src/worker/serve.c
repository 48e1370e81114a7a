#include "worker/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define OBJECT_PATH "/proc/self/fd/6" /* AE_FD_OBJECT */
/* Without a word from the parent for so long while spinning, sleep: it may have been stopped. */
#define SPINS_MAX 400000000u
#define YIELD_EVERY 16

static struct ae_answers *refusals; /* where memory.c's notes go; NULL until the worker serves */

void ae_worker_note_refusal(void)
{
    if (refusals)
        refusals->allocation_refused = 1;
}

static void wait_for_doorbell(const struct ae_orders *orders, uint32_t seen, bool spin)
{
    _Atomic uint32_t *bell = (_Atomic uint32_t *)&orders->doorbell;
    if (spin)
        for (uint32_t i = 0; i < SPINS_MAX; i++) {
            if (atomic_load_explicit(bell, memory_order_acquire) != seen)
                return;
            /* The parent may have been woken on this very processor, and would wait for the end of a time slice. */
            if (orders->spin != AE_SPIN_ALWAYS && i % YIELD_EVERY == 0)
                (void)sched_yield();
            __builtin_ia32_pause();
        }
    while (atomic_load_explicit(bell, memory_order_acquire) == seen)
        syscall(SYS_futex, bell, FUTEX_WAIT, seen, NULL, NULL, 0);
}

/* Stores the sequence number; where the parent sleeps, wakes it. */
static void ring(_Atomic uint32_t *where, uint32_t sequence, bool wake)
{
    atomic_store_explicit(where, sequence, memory_order_release);
    if (wake)
        syscall(SYS_futex, where, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int fail(struct ae_answers *answers, int result, int code, const char *text)
{
    answers->code = code;
    snprintf(answers->text, sizeof answers->text, "%s", text ? text : "");
    return result;
}

static int load(struct ae_worker *w)
{
    if (w->orders->target == 1)
        w->answers->free_memory = ae_worker_cuda_free_memory();
    w->object = dlopen(OBJECT_PATH, RTLD_NOW | RTLD_LOCAL);
    if (!w->object)
        return fail(w->answers, AE_WORKER_LOAD_FAILED, 0, dlerror());
    w->compute = (void (*)(void))dlsym(w->object, "solution_compute");
    if (!w->compute)
        return fail(w->answers, AE_WORKER_NO_SYMBOL, 0, "the object has no solution_compute");
    return AE_WORKER_OK;
}

static int unload(struct ae_worker *w)
{
    if (w->object)
        dlclose(w->object);
    w->object = NULL;
    w->compute = NULL;
    (void)malloc_trim(0); /* the parent compares what is resident now: free memory must not look kept */
    void *still = dlopen(OBJECT_PATH, RTLD_NOW | RTLD_NOLOAD);
    if (still) {
        dlclose(still);
        return fail(w->answers, AE_WORKER_STILL_LOADED, 0, "the object stays loaded after dlclose");
    }
    if (w->orders->target == 1)
        w->answers->free_memory = ae_worker_cuda_free_memory();
    return AE_WORKER_OK;
}

static void unmap(struct ae_worker *w)
{
    for (int i = 0; i < AE_ARGS_MAX; i++)
        if (w->reserved[i]) {
            munmap(w->reserved[i], w->reserved_bytes[i]);
            w->reserved[i] = NULL;
        }
}

static int map(struct ae_worker *w)
{
    struct ae_call_arg args[AE_ARGS_MAX];
    unmap(w);
    for (int i = 0; i < w->orders->arg_count; i++) {
        const struct ae_channel_arg *order = &w->orders->args[i];
        args[i] = (struct ae_call_arg){.type = (enum ae_type)order->type,
                                       .pointer = order->pointer != 0,
                                       .scalar = order->scalar};
        if (!order->pointer)
            continue;
        const size_t total = order->region_bytes + 2 * AE_GUARD;
        void *wish = (void *)(uintptr_t)(order->address - AE_GUARD);
        char *reserved = mmap(wish, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                              -1, 0);
        if (reserved == MAP_FAILED)
            reserved = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED)
            return fail(w->answers, AE_WORKER_NO_MEMORY, errno, "no address space for an argument");
        w->reserved[i] = reserved;
        w->reserved_bytes[i] = total;
        char *region = mmap(reserved + AE_GUARD, order->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                            AE_FD_DATA, (off_t)order->region_offset);
        if (region == MAP_FAILED)
            return fail(w->answers, AE_WORKER_NO_MEMORY, errno, "an argument could not be mapped");
        (void)madvise(region, order->region_bytes, MADV_HUGEPAGE); /* refused where shmem has none */
        if (madvise(region, order->region_bytes, MADV_POPULATE_WRITE) != 0)
            for (size_t at = 0; at < order->region_bytes; at += AE_PAGE) { /* kernels before 5.14 */
                volatile char *page = region + at;
                const char kept = *page;
                *page = kept;
            }
        args[i].address = region + order->start;
    }
    if (ae_call_prepare(&w->call, args, (unsigned)w->orders->arg_count) != 0)
        return fail(w->answers, AE_WORKER_INTERNAL, 0, "libffi refuses the signature");
    return AE_WORKER_OK;
}

static int call(struct ae_worker *w, uint32_t sequence)
{
    if (!w->compute)
        return fail(w->answers, AE_WORKER_INTERNAL, 0, "call without a loaded object");
    if (w->orders->ledger)
        ae_worker_ledger_begin();
    ae_worker_profile_begin();
    ae_call_run(&w->call, w->compute);
    ae_worker_profile_returned();
    ring(&w->answers->returned, sequence, false);
    const int result = w->orders->target == 1 ? ae_worker_cuda_synchronise(w->answers) : AE_WORKER_OK;
    ae_worker_profile_end();
    if (w->orders->ledger)
        ae_worker_ledger_read(&w->answers->ledger);
    return result;
}

/* A handler that an object has left behind would work in this thread, whose own run time is not held against the object.
 * A call may take signals if it asks for them; what comes afterwards waits. abort() and faults are not affected. */
static void take_no_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* glibc maps large blocks afresh until one of that size has been freed; from then on it keeps their pages. A call that
 * comes before it has learnt that would be slower than those behind it. */
static void settle_heap(void)
{
    enum { largest = (32 << 20) - (64 << 10) }; /* what it learns from: 32 MiB with its own bytes */
    void *volatile block = malloc(largest);
    free(block);
}

_Noreturn void ae_worker_serve(const struct ae_orders *orders, struct ae_answers *answers)
{
    struct ae_worker w = {.orders = orders, .answers = answers};
    uint32_t seen = AE_READY;
    bool spin = false;
    refusals = answers;
    settle_heap();
    take_no_signals();
    ring(&answers->done, seen, true);
    for (;;) {
        wait_for_doorbell(orders, seen, spin);
        seen = atomic_load_explicit(&((struct ae_orders *)(uintptr_t)orders)->doorbell, memory_order_acquire);
        int result = AE_WORKER_INTERNAL;
        switch ((enum ae_order)orders->command) {
        case AE_ORDER_LOAD:
            result = load(&w);
            break;
        case AE_ORDER_UNLOAD:
            result = unload(&w);
            break;
        case AE_ORDER_MAP:
            result = map(&w);
            break;
        case AE_ORDER_RAMP:
            result = ae_worker_cuda_ramp(orders, answers);
            break;
        case AE_ORDER_ARM:
            result = orders->target == 1 ? ae_worker_cuda_arm(answers) : AE_WORKER_OK;
            ae_worker_profile_arm();
            break;
        case AE_ORDER_CALL:
            result = call(&w, seen);
            break;
        case AE_ORDER_TRIM:
            (void)malloc_trim(0);
            result = AE_WORKER_OK;
            break;
        case AE_ORDER_PROVE:
            result = AE_WORKER_OK;
            answers->code = ae_worker_prove(orders);
            break;
        case AE_ORDER_TRACE:
            result = ae_worker_profile_write(answers);
            break;
        case AE_ORDER_EXIT:
            /* No atexit handlers of the submission: it has had its calls. */
            _exit(0);
        default:
            break;
        }
        /* The worker spins in the one wait that is timed: between arming and the call. */
        const bool watched = orders->spin == AE_SPIN_ALWAYS && orders->command == AE_ORDER_CALL;
        spin = orders->spin != AE_SPIN_NEVER && orders->command == AE_ORDER_ARM;
        answers->result = result;
        ring(&answers->done, seen, !watched);
        if (orders->command == AE_ORDER_CALL)
            take_no_signals(); /* behind the ring, where it costs the call nothing */
    }
}
