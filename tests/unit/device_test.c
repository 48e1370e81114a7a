/* Facts of the device from outside, against a library that stands for the driver's, and what is made of device memory
 * that a program holds between calls: honest programs with every reserve that drivers are known to keep, and some that
 * keep what they should not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/device.h"
#include "run/held.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define MIB ((int64_t)1 << 20)

struct process {
    unsigned pid;
    unsigned long long used;
    unsigned instances[2];
};

/* Of the library that stands for the driver's. */
static struct {
    unsigned long long *used;
    struct process *processes;
    unsigned *count;
    int *error;
} driver;

static struct ae_device device;

static int set_up(void **state)
{
    (void)state;
    struct ae_error err = {0};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    assert_non_null(library);
    driver.used = dlsym(library, "fake_used");
    driver.processes = dlsym(library, "fake_processes");
    driver.count = dlsym(library, "fake_process_count");
    driver.error = dlsym(library, "fake_error");
    assert_true(driver.used && driver.processes && driver.count && driver.error);
    assert_int_equal(ae_device_open(&device, 0, &err), AE_OK);
    return 0;
}

static struct ae_device_use use(pid_t pid)
{
    struct ae_device_use ret;
    ae_device_use(&device, pid, &ret);
    return ret;
}

static void test_facts(void **state)
{
    (void)state;
    struct ae_device second;
    struct ae_error err = {0};
    assert_string_equal(device.uuid, "GPU-0");
    assert_string_equal(device.arch, "sm_90");
    assert_int_equal(device.minor, 3);
    assert_int_equal(ae_device_open(&second, 1, &err), AE_E_ENV);
}

static void test_memory_in_use(void **state)
{
    (void)state;
    const pid_t pid = getpid();
    *driver.used = 900;
    *driver.count = 2;
    driver.processes[0] = (struct process){.pid = (unsigned)pid + 1, .used = 300};
    driver.processes[1] = (struct process){.pid = (unsigned)pid, .used = 500};
    assert_int_equal(use(pid).process, 500);
    assert_int_equal(use(pid).device, 900);
    assert_int_equal(use(pid + 2).process, -1); /* not there, or named otherwise: no guess */
    assert_int_equal(ae_device_processes(&device), 2);
    driver.processes[1].used = ~0ull; /* "not available" */
    assert_int_equal(use(pid).process, -1);
    *driver.count = 100; /* more than there is room for: an answer that is cut is none */
    assert_int_equal(use(pid).process, -1);
    assert_int_equal(use(pid).device, 900);
    *driver.error = 999;
    assert_int_equal(use(pid).device, -1);
    *driver.error = 0;
    struct ae_device none = {0};
    struct ae_device_use nothing;
    ae_device_use(&none, pid, &nothing);
    assert_int_equal(nothing.device, -1);
}

/* --- what is held ---------------------------------------------------------------------------------------- */

#define CONTEXT (518 * MIB)

/* Looks between calls, in MiB beside the context; -1 ends them. */
static struct ae_held looks(const int *mib)
{
    struct ae_held held = {0};
    for (; *mib >= 0; mib++)
        ae_held_look(&held, &(struct ae_device_use){CONTEXT + *mib * MIB, -1});
    return held;
}

#define LOOKS(...) looks((const int[]){__VA_ARGS__, -1})

static int64_t gone(struct ae_held held, int after)
{
    const int64_t bytes = ae_held_gone(&held, &(struct ae_device_use){CONTEXT + after * MIB, -1}, false);
    return bytes < 0 ? bytes : bytes / MIB;
}

static void test_honest_programs(void **state)
{
    (void)state;
    assert_int_equal(gone(LOOKS(4, 4, 4, 4), 2), 2);               /* code, and the reserve of a first kernel */
    assert_int_equal(gone(LOOKS(66, 66, 66), 64), 2);              /* printf's buffer stays for good */
    assert_int_equal(gone(LOOKS(4, 8188, 8188), 8186), 2);         /* local memory, first wanted by the second call */
    assert_int_equal(gone(LOOKS(4, 4, 4, 68), 66), 0);             /* or by the last: nobody's, not minus 62 */
    assert_true(gone(LOOKS(140, 138, 136, 134, 132), 130) * MIB <= AE_HELD_ROOM); /* managed memory, less each time */
    assert_int_equal(gone(LOOKS(4, 900, 4, 4), 2), 2);             /* one look alone is chance */
    assert_int_equal(gone(LOOKS(900, 4, 4), 2), 2);
    assert_int_equal(gone(LOOKS(900, 4), 2), 2);
    assert_int_equal(gone((struct ae_held){0}, 2), -1);            /* one call only: no look, no judgement */
    assert_true(ae_held_limit(1 << 20) >= 64 * MIB);
}

static void test_keepers(void **state)
{
    (void)state;
    assert_int_equal(gone(LOOKS(260, 260, 260), 2), 258);      /* freed by a destructor */
    assert_int_equal(gone(LOOKS(260, 260, 260, 4), 2), 258);   /* freed by the last call, which can be counted */
    assert_int_equal(gone(LOOKS(4, 260, 260), 2), 258);
    assert_int_equal(gone(LOOKS(260, 8444, 8444), 8186), 258); /* behind a reserve that grows */
    assert_int_equal(gone(LOOKS(260), 2), 258);                /* a single timed call in a process */
}

static void test_leaks_and_what_hides_behind_them(void **state)
{
    (void)state;
    struct ae_held leak = LOOKS(32, 64, 96, 128), uneven = LOOKS(50, 60, 90, 128), keeper = LOOKS(260, 260, 262, 262);
    assert_true(ae_held_is_leak(&leak, 160 * MIB, 5, false));
    assert_true(ae_held_is_leak(&uneven, 160 * MIB, 5, false));
    assert_false(ae_held_is_leak(&keeper, 262 * MIB, 5, false));
    assert_true(ae_held_is_leak(&keeper, 2 * MIB, 5, false));
    struct ae_held once = LOOKS(260);
    assert_true(ae_held_is_leak(&once, 262 * MIB, 2, false)); /* cannot be told */
}

static void test_whose_figure(void **state)
{
    (void)state;
    const struct ae_device_use alone = {100, 1000}, later = {130, 5000}, blind = {-1, 1500};
    assert_int_equal(ae_held_growth(&alone, &later, false), 30); /* others do not matter where the process is told */
    assert_int_equal(ae_held_growth(&alone, &later, true), 30);
    assert_int_equal(ae_held_growth(&alone, &blind, false), 500);
    assert_int_equal(ae_held_growth(&alone, &blind, true), INT64_MIN);
    struct ae_held held = {0};
    ae_held_look(&held, &later);
    ae_held_look(&held, &blind); /* once not told: never used */
    ae_held_look(&held, &later);
    assert_int_equal(held.second.process, -1);
    assert_int_equal(ae_held_gone(&held, &alone, true), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_memory_in_use),
        cmocka_unit_test(test_honest_programs),
        cmocka_unit_test(test_keepers),
        cmocka_unit_test(test_leaks_and_what_hides_behind_them),
        cmocka_unit_test(test_whose_figure),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
