/* The acts by which the sandbox is proved: each works where the layer that denies it is left out, and not where it is in
 * force. Layers that this machine does not give are skipped, with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "run/proof.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The sanitizer's shadow does not fit a worker's bounds on memory. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static char worker[4096];
static cpu_set_t cores;

/* A worker in a group with near limits, less the layers left out. */
static struct ae_runner start(uint64_t layers_off)
{
    struct ae_runner runner = {0};
    struct ae_error err = {0};
    const struct ae_runner_options options = {.worker = worker, .target = AE_CPU, .cores = &cores, .tight = true,
                                              .memory_bytes = (uint64_t)2 << 30, .layers_off = layers_off};
    if (ae_runner_start(&runner, &options, "", 0, AE_PAGE, &err) != AE_OK)
        fail_msg("%s", err.text);
    return runner;
}

/* 0: done; an errno: refused; -1: it ended the worker. */
static int attempt(struct ae_runner *runner, int act, const char *path)
{
    snprintf(runner->orders->path, sizeof runner->orders->path, "%s", path);
    runner->orders->proof = act;
    return ae_runner_command(runner, AE_ORDER_PROVE, 60 * AE_SEC) == AE_ANSWER_DONE ? runner->answers->code : -1;
}

static void need(struct ae_runner *runner, uint64_t layers)
{
    char text[512];
    if ((runner->layers & layers) == layers)
        return;
    ae_runner_stop(runner, NULL, NULL);
    if (ae_cgroup_here(text, sizeof text) != AE_CGROUP_ALL)
        print_message("not here: %s\n", text);
    skip();
}

static void test_threads(void **state)
{
    (void)state;
    struct ae_runner with = start(0), without;
    need(&with, AE_LAYER_PIDS);
    assert_int_equal(attempt(&with, AE_PROOF_THREADS, ""), EAGAIN);
    ae_runner_stop(&with, NULL, NULL);
    without = start(AE_LAYER_PIDS);
    assert_int_equal(without.layers & AE_LAYER_PIDS, 0);
    assert_int_equal(attempt(&without, AE_PROOF_THREADS, ""), 0);
    ae_runner_stop(&without, NULL, NULL);
}

static void test_memory(void **state)
{
    (void)state;
    struct ae_proc_result end = {0};
    struct ae_runner with = start(0), without;
    need(&with, AE_LAYER_MEMORY);
    assert_int_equal(attempt(&with, AE_PROOF_MEMORY, ""), -1);
    ae_runner_stop(&with, NULL, &end);
    assert_int_equal(end.signal, SIGKILL);
    assert_true(with.group_kills > 0);
    without = start(AE_LAYER_MEMORY);
    assert_int_equal(attempt(&without, AE_PROOF_MEMORY, ""), 0);
    ae_runner_stop(&without, NULL, NULL);
    assert_int_equal(without.group_kills, -1);
}

static void test_limits_stay(void **state)
{
    (void)state;
    struct ae_runner with = start(0), without;
    need(&with, AE_PROC_CGROUP | AE_PROC_LANDLOCK);
    assert_true(attempt(&with, AE_PROOF_RAISE_LIMITS, with.group.path) > 0);
    ae_runner_stop(&with, NULL, NULL);
    without = start(AE_PROC_LANDLOCK | AE_PROC_MOUNT_NS | AE_PROC_OTHER_UID | AE_PROC_NO_CAPS); /* mounts are read-only */
    need(&without, AE_PROC_CGROUP);
    assert_int_equal(attempt(&without, AE_PROOF_RAISE_LIMITS, without.group.path), 0);
    ae_runner_stop(&without, NULL, NULL);
}

/* By the group, and by a signal where there is none. */
static void test_frozen(void **state)
{
    (void)state;
    const uint64_t off[] = {0, AE_PROC_CGROUP};
    for (size_t i = 0; i < 2; i++) {
        struct ae_runner runner = start(off[i]);
        assert_int_equal(ae_runner_command(&runner, AE_ORDER_TRIM, 10 * AE_SEC), AE_ANSWER_DONE);
        ae_runner_freeze(&runner);
        assert_int_equal(runner.stopped, !(runner.group.means & AE_CGROUP_FREEZE));
        assert_int_equal(ae_runner_command(&runner, AE_ORDER_TRIM, 200 * AE_MS), AE_ANSWER_TIMEOUT);
        ae_runner_thaw(&runner);
        assert_int_equal(ae_runner_command(&runner, AE_ORDER_TRIM, 10 * AE_SEC), AE_ANSWER_DONE);
        ae_runner_freeze(&runner);
        ae_runner_stop(&runner, NULL, NULL); /* frozen: it ends all the same */
    }
}

static void test_whole_proof(void **state)
{
    (void)state;
    struct ae_proof_result proof = {0};
    struct ae_error err = {0};
    const struct ae_runner_options options = {.worker = worker, .target = AE_CPU, .cores = &cores,
                                              .memory_bytes = (uint64_t)2 << 30};
    assert_int_equal(ae_prove(&options, "/etc/passwd", &proof, &err), AE_OK);
    assert_true(proof.made);
    if (ae_proof_stamp(&proof, proof.layers) & AE_LAYER_PROVED)
        assert_int_equal(proof.denied, proof.tried);
    if (proof.layers & AE_PROC_LANDLOCK)
        assert_string_equal(proof.allowed, "");
    /* A worker without a layer that the proof had is not proved. */
    if (proof.layers & AE_PROC_CGROUP)
        assert_int_equal(ae_proof_stamp(&proof, proof.layers & ~(uint64_t)AE_PROC_CGROUP) & AE_LAYER_PROVED, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads), cmocka_unit_test(test_memory),      cmocka_unit_test(test_limits_stay),
        cmocka_unit_test(test_frozen),  cmocka_unit_test(test_whole_proof),
    };
    if (SANITIZED) {
        print_message("workers do not start under the sanitizer\n");
        return 0;
    }
    const ssize_t n = readlink("/proc/self/exe", worker, sizeof worker - 64);
    if (n <= 0 || sched_getaffinity(0, sizeof cores, &cores) != 0)
        return 1;
    worker[n] = 0;
    *strrchr(worker, '/') = 0;
    strcat(worker, "/../../acceleval-worker");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ae_cgroup_leave();
    return failed;
}
