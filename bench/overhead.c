/* What the protocol itself costs a call: an empty submission on the CPU target, from doorbell to second ring.
 * Claims: at most 2 us (median) where both sides spin, 30 us on a futex.
 *     overhead [CALLS]      one JSON object */
#include "base/clock.h"
#include "run/answers.h"
#include "run/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,\n"
    "                      const float *rs, const float *ts, const float *vols, float *prices)\n"
    "{\n    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;\n}\n";

static int by_time(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int measure(struct ae_context *context, const struct ae_bytes *object, const struct ae_instance *inst, bool spin,
                   int calls, int64_t *times, struct ae_error *err)
{
    struct ae_runner runner;
    char detail[AE_DETAIL_TEXT];
    cpu_set_t rest = context->host.cores;
    if (spin && context->host.core_count >= 2) { /* each side on a core of its own, as with three cores or more */
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
                                              .target = AE_CPU,
                                              .cores = &rest,
                                              .spin = spin,
                                              .single = true,
                                              .memory_bytes = (uint64_t)1 << 30};
    int rc = ae_runner_start(&runner, &options, object->data, object->size, ae_buffers_need(inst), err);
    if (rc == AE_OK && ae_trial_load(&runner, 0, detail) != AE_PASS)
        rc = ae_error_set(err, AE_E_INTERNAL, "%s", detail);
    if (rc == AE_OK)
        rc = ae_buffers_layout(&runner.buffers, inst, err);
    if (rc == AE_OK)
        ae_runner_command(&runner, AE_ORDER_MAP, AE_SEC);
    for (int i = 0; rc == AE_OK && i < calls; i++) {
        int64_t returned, done;
        if (spin)
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

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 20000;
    struct ae_context context;
    struct ae_build_result build = {0};
    struct ae_bytes object = {0};
    struct ae_instance inst = {0};
    struct ae_error err = {0};
    int64_t *spin = calloc((size_t)calls, sizeof *spin), *futex = calloc((size_t)calls, sizeof *futex);
    const struct ae_build_request request = {
        .kind = AE_BUILD_C, .name = "empty.c", .source = source, .size = sizeof source - 1};
    int rc = spin && futex && calls > 0 ? ae_context_open(&context, &err) : AE_E_NOMEM;
    if (rc == AE_OK)
        rc = ae_build(context.toolchain, context.cache, &request, &build, &err);
    if (rc == AE_OK && build.status != AE_BUILD_DONE)
        rc = ae_error_set(&err, AE_E_ENV, "%s", build.detail);
    if (rc == AE_OK)
        rc = ae_file_read(build.object, 1 << 24, &object, &err);
    if (rc == AE_OK)
        rc = ae_instance_make(&inst, ae_task_find("black_scholes", &err), AE_SMALL, 2, 1, &err);
    if (rc == AE_OK)
        rc = measure(&context, &object, &inst, true, calls, spin, &err);
    if (rc == AE_OK)
        rc = measure(&context, &object, &inst, false, calls, futex, &err);
    if (rc != AE_OK) {
        fprintf(stderr, "overhead: %s\n", err.text);
        return 1;
    }
    const size_t mid = (size_t)calls / 2, late = (size_t)calls * 99 / 100;
    printf("{\"claim\":\"doorbell to second ring of an empty call\",\"calls\":%d,\"cores\":%d,\"spin_p50_us\":%.3f,"
           "\"spin_p99_us\":%.3f,\"futex_p50_us\":%.3f,\"futex_p99_us\":%.3f,\"holds\":%s}\n",
           calls, context.host.core_count, (double)spin[mid] * 1e-3, (double)spin[late] * 1e-3,
           (double)futex[mid] * 1e-3, (double)futex[late] * 1e-3,
           spin[mid] <= 2000 && futex[mid] <= 30000 ? "true" : "false");
    ae_instance_release(&inst);
    ae_bytes_release(&object);
    ae_build_result_release(&build);
    ae_context_close(&context);
    free(spin);
    free(futex);
    return 0;
}
