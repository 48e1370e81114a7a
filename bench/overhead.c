/* What the protocol itself costs a call: an empty submission on the CPU target, from doorbell to second ring.
 * Claims: at most 2 us (median) where both sides spin, 30 us as this machine waits (AE_SPIN_BRIEFLY on two cores,
 * AE_SPIN_NEVER on one); where there is a device, 3 us on the CUDA target, and 8 us for 99 calls of 100. Printed besides: a
 * futex on several cores, which is not used, and below it what two processes take that do nothing but ring a futex each
 * way: the price of waking an idle core.
 *     overhead [CALLS]      one JSON object */
#include "base/clock.h"
#include "run/answers.h"
#include "run/trial.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] =
    "void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,\n"
    "                      const float *rs, const float *ts, const float *vols, float *prices)\n"
    "{\n    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;\n}\n";

/* A call of an evaluation has one before it, of 20 ms. */
#define CALLS_OF_A_RAMP 50

static int by_time(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int measure(struct ae_context *context, const struct ae_bytes *object, const struct ae_instance *inst,
                   enum ae_target target, enum ae_spin spin, int calls, int64_t *times, struct ae_error *err)
{
    struct ae_runner runner;
    char detail[AE_DETAIL_TEXT];
    cpu_set_t rest = context->host.cores;
    if (spin == AE_SPIN_ALWAYS && context->host.core_count >= 2) { /* each side on a core of its own, as with three cores or more */
        cpu_set_t own;
        CPU_ZERO(&own);
        for (int i = CPU_SETSIZE - 1; i >= 0; i--)
            if (CPU_ISSET(i, &rest)) {
                CPU_CLR(i, &rest);
                CPU_SET(i, &own);
                break;
            }
        sched_setaffinity(0, sizeof own, &own);
    }
    const struct ae_runner_options options = {.worker = context->worker,
                                              .target = target,
                                              .device = context->device.minor,
                                              .device_uuid = context->device.uuid,
                                              .cuda_lib = context->toolchain->cuda_lib[0] ? context->toolchain->cuda_lib : NULL,
                                              .cores = &rest,
                                              .spin = spin,
                                              .single = true,
                                              .memory_bytes = (uint64_t)4 << 30};
    int rc = ae_runner_start(&runner, &options, object->data, object->size, ae_buffers_need(inst), err);
    if (rc == AE_OK && ae_trial_load(&runner, 0, detail) != AE_PASS)
        rc = ae_error_set(err, AE_E_INTERNAL, "%s", detail);
    if (rc == AE_OK)
        rc = ae_buffers_layout(&runner.buffers, inst, err);
    if (rc == AE_OK)
        ae_runner_command(&runner, AE_ORDER_MAP, AE_SEC);
    for (int i = 0; rc == AE_OK && i < calls; i++) {
        int64_t returned, done;
        if (target == AE_CUDA && i % CALLS_OF_A_RAMP == 0)
            ae_runner_command(&runner, AE_ORDER_RAMP, AE_SEC);
        if (spin != AE_SPIN_NEVER || target == AE_CUDA)
            ae_runner_command(&runner, AE_ORDER_ARM, AE_SEC);
        const int64_t start = ae_runner_ring_call(&runner);
        if (ae_runner_wait_call(&runner, NULL, start + AE_SEC, &returned, &done) != AE_ANSWER_DONE)
            rc = ae_error_set(err, AE_E_INTERNAL, "a call did not end");
        times[i] = done - start;
    }
    ae_runner_stop(&runner, NULL, NULL);
    qsort(times, (size_t)calls, sizeof *times, by_time);
    sched_setaffinity(0, sizeof context->host.cores, &context->host.cores);
    return rc;
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* Round trips between two processes over two words of shared memory. */
static int measure_bare(int calls, int64_t *times)
{
    _Atomic uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (word == MAP_FAILED)
        return AE_E_NOMEM;
    _Atomic uint32_t *there = word, *back = word + 64;
    const pid_t child = fork();
    if (child < 0)
        return AE_E_ENV;
    for (uint32_t i = 1; child == 0 && i <= (uint32_t)calls; i++) {
        while (atomic_load(there) != i)
            futex(there, FUTEX_WAIT, i - 1);
        atomic_store(back, i);
        futex(back, FUTEX_WAKE, 1);
    }
    if (child == 0)
        _exit(0);
    for (uint32_t i = 1; i <= (uint32_t)calls; i++) {
        const int64_t start = ae_now_ns();
        atomic_store(there, i);
        futex(there, FUTEX_WAKE, 1);
        while (atomic_load(back) != i)
            futex(back, FUTEX_WAIT, i - 1);
        times[i - 1] = ae_now_ns() - start;
    }
    (void)waitpid(child, NULL, 0);
    (void)munmap(word, 4096);
    qsort(times, (size_t)calls, sizeof *times, by_time);
    return AE_OK;
}

static double us(int64_t ns)
{
    return (double)ns * 1e-3;
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 20000;
    struct ae_context context;
    struct ae_build_result build = {0};
    struct ae_bytes object = {0};
    struct ae_instance inst = {0};
    struct ae_error err = {0};
    enum { SPIN, OWN, ASLEEP, DEVICE, BARE, WAYS };
    int64_t *times[WAYS];
    bool room = true;
    for (int way = 0; way < WAYS; way++)
        room = (times[way] = calloc((size_t)calls, sizeof *times[way])) && room;
    const struct ae_build_request request = {
        .kind = AE_BUILD_C, .name = "empty.c", .source = source, .size = sizeof source - 1};
    int rc = room && calls > 0 ? ae_context_open(&context, &err) : AE_E_NOMEM;
    if (rc == AE_OK)
        rc = ae_build(context.toolchain, context.cache, &request, &build, &err);
    if (rc == AE_OK && build.status != AE_BUILD_DONE)
        rc = ae_error_set(&err, AE_E_ENV, "%s", build.detail);
    if (rc == AE_OK)
        rc = ae_file_read(build.object, 1 << 24, &object, &err);
    if (rc == AE_OK)
        rc = ae_instance_make(&inst, ae_task_find("black_scholes", &err), AE_SMALL, 2, 1, &err);
    const bool several = rc == AE_OK && context.host.core_count > 1;
    if (several)
        rc = measure(&context, &object, &inst, AE_CPU, AE_SPIN_ALWAYS, calls, times[SPIN], &err);
    if (rc == AE_OK)
        rc = measure(&context, &object, &inst, AE_CPU, context.host.spin, calls, times[OWN], &err);
    if (rc == AE_OK)
        rc = measure(&context, &object, &inst, AE_CPU, AE_SPIN_NEVER, calls, times[ASLEEP], &err);
    const bool device = rc == AE_OK && context.device.handle;
    if (device)
        rc = measure(&context, &object, &inst, AE_CUDA, context.host.spin, calls, times[DEVICE], &err);
    if (rc == AE_OK)
        rc = measure_bare(calls, times[BARE]);
    if (rc != AE_OK) {
        fprintf(stderr, "overhead: %s\n", err.text);
        return 1;
    }
    const size_t mid = (size_t)calls / 2, late = (size_t)calls * 99 / 100;
    const bool holds = (!device || (times[DEVICE][mid] <= 3000 && times[DEVICE][late] <= 8000)) && times[SPIN][mid] <= 2000 &&
                       times[OWN][mid] <= (context.host.spin == AE_SPIN_ALWAYS ? 2000 : 30000);
    char device_us[2][32] = {"null", "null"};
    for (int i = 0; device && i < 2; i++)
        snprintf(device_us[i], sizeof device_us[i], "%.3f", us(times[DEVICE][i ? late : mid]));
    printf("{\"claim\":\"doorbell to second ring of an empty call\",\"calls\":%d,\"cores\":%d,\"waits\":\"%s\","
           "\"p50_us\":%.3f,\"p99_us\":%.3f,\"spin_p50_us\":%.3f,\"spin_p99_us\":%.3f,\"futex_p50_us\":%.3f,"
           "\"futex_p99_us\":%.3f,\"bare_futex_p50_us\":%.3f,\"bare_futex_p99_us\":%.3f,\"device_p50_us\":%s,"
           "\"device_p99_us\":%s,\"holds\":%s}\n",
           calls, context.host.core_count, ae_spin_name(context.host.spin), us(times[OWN][mid]), us(times[OWN][late]),
           us(times[SPIN][mid]), us(times[SPIN][late]), us(times[ASLEEP][mid]), us(times[ASLEEP][late]),
           us(times[BARE][mid]), us(times[BARE][late]), device_us[0], device_us[1], holds ? "true" : "false");
    ae_instance_release(&inst);
    ae_bytes_release(&object);
    ae_build_result_release(&build);
    ae_context_close(&context);
    for (int way = 0; way < WAYS; way++)
        free(times[way]);
    return 0;
}
