#include "measure/measure.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define COPY_BYTES  ((size_t)64 << 20) /* each thread's; larger than a core's share of any cache */
#define TOUCH_BYTES ((size_t)64 << 20)
#define PAGE        4096
#define REPEATS     5
#define THREADS_MAX 16

struct part {
    pthread_t thread;
    pthread_barrier_t *barrier;
    char *from, *to;
    int64_t start[REPEATS], end[REPEATS]; /* by its own clock: who waits at the barrier may wake late */
};

static void *fresh(size_t bytes, int advice)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    (void)madvise(block, bytes, advice);
    return block;
}

static void *copy_part(void *data)
{
    struct part *part = data;
    for (int i = 0; i < REPEATS; i++) {
        (void)pthread_barrier_wait(part->barrier);
        part->start[i] = ae_now_ns();
        memcpy(part->to, part->from, COPY_BYTES);
        part->end[i] = ae_now_ns();
        (void)pthread_barrier_wait(part->barrier);
    }
    return NULL;
}

/* From the first one's start to the last one's end. */
static double rate_of(const struct part *parts, int threads, int repeat)
{
    int64_t start = parts[0].start[repeat], end = parts[0].end[repeat];
    for (int i = 1; i < threads; i++) {
        start = parts[i].start[repeat] < start ? parts[i].start[repeat] : start;
        end = parts[i].end[repeat] > end ? parts[i].end[repeat] : end;
    }
    return end > start ? (double)COPY_BYTES * threads / ((double)(end - start) * 1e-9) : 0;
}

/* Bytes copied a second by so many threads at once; 0 where they or their memory are not to be had. */
static double copy_rate(int threads)
{
    struct part parts[THREADS_MAX] = {0};
    pthread_barrier_t barrier;
    double best = 0;
    int started = 0, ready = 1;
    for (int i = 0; i < threads; i++) {
        parts[i].barrier = &barrier;
        parts[i].from = fresh(COPY_BYTES, MADV_HUGEPAGE);
        parts[i].to = fresh(COPY_BYTES, MADV_HUGEPAGE);
        ready = ready && parts[i].from && parts[i].to;
        if (ready) {
            memset(parts[i].from, 1, COPY_BYTES);
            memset(parts[i].to, 2, COPY_BYTES);
        }
    }
    if (ready && pthread_barrier_init(&barrier, NULL, (unsigned)threads) == 0) {
        while (started < threads && pthread_create(&parts[started].thread, NULL, copy_part, &parts[started]) == 0)
            started++;
        if (started < threads)
            abort(); /* those that did start would wait for ever */
        for (int i = 0; i < started; i++)
            (void)pthread_join(parts[i].thread, NULL);
        for (int i = 0; i < REPEATS; i++) {
            const double rate = rate_of(parts, threads, i);
            best = rate > best ? rate : best;
        }
        (void)pthread_barrier_destroy(&barrier);
    }
    for (int i = 0; i < threads; i++) {
        if (parts[i].from)
            (void)munmap(parts[i].from, COPY_BYTES);
        if (parts[i].to)
            (void)munmap(parts[i].to, COPY_BYTES);
    }
    return best;
}

/* The first write to a page of private memory, 4 KiB pages. */
static double touch_ns(void)
{
    double samples[REPEATS];
    int count = 0;
    for (int i = 0; i < REPEATS; i++) {
        char *block = fresh(TOUCH_BYTES, MADV_NOHUGEPAGE);
        if (!block)
            break;
        const int64_t start = ae_now_ns();
        for (size_t at = 0; at < TOUCH_BYTES; at += PAGE)
            ((volatile char *)block)[at] = 1;
        samples[count++] = (double)(ae_now_ns() - start) / ((double)TOUCH_BYTES / PAGE);
        (void)munmap(block, TOUCH_BYTES);
    }
    return ae_measure_median(samples, count);
}

static void *nothing(void *data)
{
    return data;
}

static double thread_ns(void)
{
    double samples[101];
    int count = 0;
    for (int i = 0; i < 101; i++) {
        pthread_t thread;
        const int64_t start = ae_now_ns();
        if (pthread_create(&thread, NULL, nothing, NULL) != 0)
            break;
        (void)pthread_join(thread, NULL);
        samples[count++] = (double)(ae_now_ns() - start);
    }
    return ae_measure_median(samples, count);
}

json_t *ae_measure_host(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    (void)sched_getaffinity(0, sizeof cores, &cores);
    int threads = CPU_COUNT(&cores);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    return json_pack("{s:i, s:f, s:i, s:f, s:f, s:f}", "cores", CPU_COUNT(&cores), "copy_one_thread", copy_rate(1),
                     "copy_threads", threads, "copy_all", copy_rate(threads), "touch_page_ns", touch_ns(), "thread_ns",
                     thread_ns());
}
