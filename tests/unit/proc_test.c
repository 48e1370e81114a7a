/* Starting programs: what they get, how their end is told, and that nothing of theirs survives. Run by root, the tests
 * are repeated as an ordinary user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPEC(...) (const struct ae_proc_spec){.timeout_ns = 60 * AE_SEC, .landlock_fd = -1, __VA_ARGS__}
#define SH(script) (const char *const[]){"/bin/sh", "-c", script, NULL}

static const char *const path_env[] = {"PATH=/usr/bin:/bin", NULL};

static struct ae_proc_result run(struct ae_proc_spec spec)
{
    struct ae_proc_result result = {0};
    struct ae_error err = {0};
    if (ae_proc_run(&spec, &result, &err) != AE_OK)
        fail_msg("%s", err.text);
    return result;
}

static void test_end(void **state)
{
    (void)state;
    struct ae_proc_result r = run(SPEC(.argv = SH("echo to out; echo to err >&2; exit 7")));
    assert_int_equal(r.outcome, AE_PROC_EXITED);
    assert_int_equal(r.code, 7);
    assert_string_equal(r.out.text, "to out\n");
    assert_string_equal(r.err.text, "to err\n");
    assert_int_equal(r.out.total, 7);
    assert_false(r.left_children);
    assert_true(r.wall_ns > 0 && r.peak_rss > 0);
    ae_proc_result_release(&r);
    r = run(SPEC(.argv = SH("kill -SEGV $$")));
    assert_int_equal(r.outcome, AE_PROC_SIGNALED);
    assert_int_equal(r.signal, SIGSEGV);
    ae_proc_result_release(&r);
    r = run(SPEC(.argv = SH("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")));
    assert_true(r.cpu_ns > 10 * AE_MS);
    ae_proc_result_release(&r);
}

static void test_cannot_start(void **state)
{
    (void)state;
    struct ae_proc *proc = NULL;
    struct ae_error err = {0};
    struct ae_proc_spec spec = SPEC(.argv = (const char *const[]){"/no/such/program", NULL});
    assert_int_equal(ae_proc_start(&proc, &spec, &err), AE_E_ENV);
    assert_non_null(strstr(err.text, "No such file"));
    spec = SPEC(.argv = SH("exit 0"), .cwd = "/no/such/folder");
    assert_int_equal(ae_proc_start(&proc, &spec, &err), AE_E_ENV);
    assert_non_null(strstr(err.text, "enter its folder"));
    spec = SPEC(.argv = SH("exit 0"), .required = AE_PROC_LANDLOCK); /* without a ruleset it cannot be had */
    assert_int_equal(ae_proc_start(&proc, &spec, &err), AE_E_ENV);
    assert_non_null(strstr(err.text, "landlock"));
    spec = SPEC(.argv = (const char *const[]){"sh", NULL});
    assert_int_equal(ae_proc_start(&proc, &spec, &err), AE_E_USAGE);
    assert_null(proc);
}

static void test_surroundings(void **state)
{
    (void)state;
    assert_int_equal(setenv("AE_SECRET", "visible", 1), 0);
    struct ae_proc_result r = run(SPEC(.argv = (const char *const[]){"/usr/bin/env", NULL},
                                       .env = (const char *const[]){"A=1", "B=two words", NULL}));
    assert_string_equal(r.out.text, "A=1\nB=two words\n");
    ae_proc_result_release(&r);
    r = run(SPEC(.argv = SH("pwd; cat; ulimit -n; ulimit -c; nproc"), .cwd = "/usr", .env = path_env,
                 .limits = (const struct ae_proc_limit[]){{RLIMIT_NOFILE, 77}}, .limit_count = 1,
                 .affinity = &(const cpu_set_t){.__bits = {1}}));
    assert_string_equal(r.out.text, "/usr\n77\n0\n1\n");
    ae_proc_result_release(&r);
}

static void test_descriptors(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0); /* inherited by a careless start: no close-on-exec */
    const int high = fcntl(ends[1], F_DUPFD, 300);
    assert_true(high >= 300);
    /* 3 and 4 exchange their places where the pipe lies there; a high one comes down. */
    struct ae_proc_result r = run(SPEC(.argv = SH("echo x >&9; echo /proc/self/fd/*; n=0; "
                                                  "for f in /proc/self/fd/*; do [ -p $f ] && n=$((n+1)); done; echo $n"),
                                       .env = path_env,
                                       .fds = (const struct ae_proc_fd[]){{ends[1], 4}, {ends[0], 3}, {high, 9}},
                                       .fd_count = 3));
    /* the shell's own open of the folder is there as well */
    assert_non_null(strstr(r.out.text, "/proc/self/fd/0 /proc/self/fd/1"));
    assert_non_null(strstr(r.out.text, "/proc/self/fd/4"));
    assert_non_null(strstr(r.out.text, "/proc/self/fd/9"));
    assert_null(strstr(r.out.text, "/proc/self/fd/300"));
    assert_non_null(strstr(r.out.text, "\n5\n")); /* out, err, 3, 4, 9 */
    ae_proc_result_release(&r);
    char got[2] = "";
    assert_int_equal(read(ends[0], got, 2), 2);
    assert_int_equal(got[0], 'x');
    assert_int_equal(fcntl(ends[0], F_GETFD), 0); /* ours are as they were */
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(high);
}

static void test_timeout(void **state)
{
    (void)state;
    struct ae_proc_spec spec = SPEC(.argv = SH("trap '' TERM; echo begun; while :; do :; done"));
    spec.timeout_ns = 300 * AE_MS;
    struct ae_proc_result r = run(spec);
    assert_int_equal(r.outcome, AE_PROC_TIMED_OUT);
    assert_string_equal(r.out.text, "begun\n");
    assert_true(r.wall_ns > 200 * AE_MS && r.wall_ns < 20 * AE_SEC);
    assert_true(r.cpu_ns > 0);
    ae_proc_result_release(&r);
}

/* A script whose grandchild leaves its session and its parent, and holds descriptor 5. */
#define ESCAPE "(setsid sh -c 'sleep 300 & sleep 300' >/dev/null 2>&1 &) ; sleep 0.2; exit 0"

static bool at_eof(int fd, int wait_ms)
{
    struct pollfd pfd = {fd, POLLIN, 0};
    char byte;
    return poll(&pfd, 1, wait_ms) == 1 && read(fd, &byte, 1) == 0;
}

static void test_escape(void **state)
{
    (void)state;
    int ends[2];
    /* Without the supervisor the grandchild lives on. */
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)setsid();
        (void)(ends[1] == 5 ? fcntl(5, F_SETFD, 0) : dup2(ends[1], 5));
        execl("/bin/sh", "sh", "-c", "(setsid sleep 2 >/dev/null 2>&1 &); sleep 0.2; exit 0", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    (void)waitpid(pid, NULL, 0);
    (void)kill(-pid, SIGKILL);
    assert_false(at_eof(ends[0], 500));
    (void)close(ends[0]);
    const uint64_t ways[] = {0, AE_PROC_USER_NS | AE_PROC_MOUNT_NS | AE_PROC_PID_NS | AE_PROC_PRIVATE_PROC};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        struct ae_proc_result r = run(SPEC(.argv = SH(ESCAPE), .env = path_env, .layers = ways[i],
                                           .fds = (const struct ae_proc_fd[]){{ends[1], 5}}, .fd_count = 1));
        (void)close(ends[1]);
        assert_true(at_eof(ends[0], 0));
        assert_true(r.left_children);
        assert_int_equal(r.outcome, AE_PROC_EXITED);
        ae_proc_result_release(&r);
        (void)close(ends[0]);
        /* and when it is killed in the middle */
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        struct ae_proc *proc;
        struct ae_proc_spec spec = SPEC(.argv = SH("(setsid sleep 300 &) ; sleep 300"), .env = path_env, .layers = ways[i],
                                        .fds = (const struct ae_proc_fd[]){{ends[1], 5}}, .fd_count = 1);
        assert_int_equal(ae_proc_start(&proc, &spec, NULL), AE_OK);
        (void)close(ends[1]);
        assert_false(ae_proc_poll(proc, 200 * AE_MS));
        assert_false(at_eof(ends[0], 0));
        ae_proc_kill(proc);
        assert_int_equal(ae_proc_wait(proc, &r, NULL), AE_OK);
        assert_int_equal(r.outcome, AE_PROC_KILLED);
        assert_true(at_eof(ends[0], 0));
        ae_proc_result_release(&r);
        ae_proc_free(proc);
        (void)close(ends[0]);
    }
}

static void ignore_it(int signal)
{
    (void)signal;
}

static atomic_bool storming;

static void *interrupt_group(void *arg)
{
    (void)arg;
    while (atomic_load(&storming)) {
        (void)kill(0, SIGINT);
        (void)usleep(50);
    }
    return NULL;
}

/* Ctrl-C goes to all of the terminal's process group; what the caller makes of it is his, and no program's end. In a
 * group of its own, lest the signal end the tests. */
static void test_interrupted_caller(void **state)
{
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct sigaction action = {.sa_handler = ignore_it, .sa_flags = SA_RESTART};
        pthread_t thread;
        int lost = 0;
        if (setpgid(0, 0) != 0 || sigaction(SIGINT, &action, NULL) != 0)
            _exit(100);
        atomic_store(&storming, true);
        if (pthread_create(&thread, NULL, interrupt_group, NULL) != 0)
            _exit(100);
        for (int i = 0; i < 50; i++) {
            struct ae_proc_result r = {0};
            const struct ae_proc_spec spec = SPEC(.argv = SH("exit 7"), .env = path_env);
            lost += ae_proc_run(&spec, &r, NULL) != AE_OK || r.outcome != AE_PROC_EXITED || r.code != 7;
            ae_proc_result_release(&r);
        }
        atomic_store(&storming, false);
        (void)pthread_join(thread, NULL);
        _exit(lost);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_parent_gone(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct ae_proc *proc;
        struct ae_proc_spec spec = SPEC(.argv = SH("(setsid sleep 300 &) ; sleep 300"), .env = path_env,
                                        .fds = (const struct ae_proc_fd[]){{ends[1], 5}}, .fd_count = 1);
        if (ae_proc_start(&proc, &spec, NULL) == AE_OK)
            (void)kill(getpid(), SIGKILL);
        _exit(1);
    }
    (void)close(ends[1]);
    int status;
    (void)waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_true(at_eof(ends[0], 5000));
    (void)close(ends[0]);
}

static void test_supervisor_killed(void **state)
{
    (void)state;
    struct ae_proc *proc;
    struct ae_proc_spec spec = SPEC(.argv = SH("exec sleep 300"), .env = path_env);
    assert_int_equal(ae_proc_start(&proc, &spec, NULL), AE_OK);
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)ae_proc_pid(proc));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    const int supervisor = atoi(strrchr(line, ')') + 4);
    assert_true(supervisor > 1 && supervisor != getpid());
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    struct ae_proc_result r;
    assert_int_equal(ae_proc_wait(proc, &r, NULL), AE_OK);
    assert_int_equal(r.outcome, AE_PROC_LOST);
    struct pollfd pfd = {ae_proc_pidfd(proc), POLLIN, 0};
    assert_int_equal(poll(&pfd, 1, 0), 1);
    ae_proc_result_release(&r);
    ae_proc_free(proc);
}

static void test_log(void **state)
{
    (void)state;
    /* Far more than a pipe or the limit holds: the program is never blocked, memory stays bounded. */
    struct ae_proc_result r =
        run(SPEC(.argv = SH("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last; echo done >&2"),
                 .env = path_env, .log_bytes = 1000));
    assert_int_equal(r.outcome, AE_PROC_EXITED);
    assert_int_equal(r.out.total, 50000000 + 6 + 1 + 5);
    assert_in_range(r.out.size, 1000, 1100);
    assert_memory_equal(r.out.text, "first\nxxx", 9);
    assert_non_null(strstr(r.out.text, "\n[49999012 bytes left out]\n"));
    assert_string_equal(r.out.text + r.out.size - 8, "xx\nlast\n");
    assert_string_equal(r.err.text, "done\n");
    ae_proc_result_release(&r);
    const char digits[] = "0123456789abc";
    for (int n = 8; n <= 13; n++) { /* around the edge, limit 10 */
        char script[64];
        snprintf(script, sizeof script, "printf 0123456789abc | head -c %d", n);
        r = run(SPEC(.argv = SH(script), .env = path_env, .log_bytes = 10));
        assert_int_equal(r.out.total, n);
        if (n <= 10) {
            assert_memory_equal(r.out.text, digits, n);
            assert_int_equal(r.out.size, n);
        } else {
            assert_memory_equal(r.out.text, "01234\n[", 7);
            assert_memory_equal(r.out.text + r.out.size - 5, digits + n - 5, 5);
        }
        ae_proc_result_release(&r);
    }
    r = run(SPEC(.argv = SH("cat /dev/zero"), .env = path_env, .log_max = 1000000));
    assert_int_equal(r.outcome, AE_PROC_LOG_LIMIT);
    assert_true(r.out.total > 1000000);
    ae_proc_result_release(&r);
}

/* The log is kept even while the parent looks elsewhere. */
static void test_busy_parent(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct ae_proc *proc;
    struct ae_proc_spec spec = SPEC(.argv = SH("head -c 5000000 /dev/zero; echo x >&3"), .env = path_env,
                                    .fds = (const struct ae_proc_fd[]){{ends[1], 3}}, .fd_count = 1);
    assert_int_equal(ae_proc_start(&proc, &spec, NULL), AE_OK);
    (void)close(ends[1]);
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1); /* comes although nobody polls */
    (void)close(ends[0]);
    struct ae_proc_result r;
    assert_int_equal(ae_proc_wait(proc, &r, NULL), AE_OK);
    assert_int_equal(r.out.total, 5000000);
    ae_proc_result_release(&r);
    ae_proc_free(proc);
}

/* A program that lies where the sandbox hides folders, behind a door that its user may not pass, still starts. */
static void test_hidden_program(void **state)
{
    (void)state;
    char folder[] = "/tmp/ae-proc-XXXXXX", program[64], copy[128];
    assert_non_null(mkdtemp(folder)); /* mode 0700 */
    snprintf(program, sizeof program, "%s/true", folder);
    snprintf(copy, sizeof copy, "cp /bin/true %s && chmod 755 %s", program, program);
    struct ae_proc_result r = run(SPEC(.argv = SH(copy), .env = path_env));
    assert_int_equal(r.code, 0);
    ae_proc_result_release(&r);
    r = run(SPEC(.argv = (const char *const[]){program, NULL},
                 .layers = AE_PROC_USER_NS | AE_PROC_MOUNT_NS | AE_PROC_PID_NS | AE_PROC_PRIVATE_TMP |
                           AE_PROC_OTHER_UID,
                 .tmpfs = (const char *const[]){"/tmp", NULL}));
    assert_int_equal(r.outcome, AE_PROC_EXITED);
    assert_int_equal(r.code, 0);
    ae_proc_result_release(&r);
    snprintf(copy, sizeof copy, "rm -r %s", folder);
    r = run(SPEC(.argv = SH(copy), .env = path_env));
    ae_proc_result_release(&r);
}

static void test_read_only(void **state)
{
    (void)state;
    char file[] = "/tmp/ae-proc-XXXXXX", script[128];
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    (void)close(fd);
    snprintf(script, sizeof script, "echo x > %s", file);
    struct ae_proc_spec spec = SPEC(.argv = SH(script), .env = path_env, .layers = AE_PROC_USER_NS | AE_PROC_MOUNT_NS);
    struct ae_proc_result r = run(spec);
    assert_int_equal(r.code, 0);
    ae_proc_result_release(&r);
    spec.read_only = true;
    r = run(spec);
    if (r.layers & AE_PROC_MOUNT_NS)
        assert_int_not_equal(r.code, 0);
    ae_proc_result_release(&r);
    (void)unlink(file);
}

static void test_layers(void **state)
{
    (void)state;
    const uint64_t all = AE_PROC_USER_NS | AE_PROC_MOUNT_NS | AE_PROC_PID_NS | AE_PROC_NET_NS | AE_PROC_IPC_NS |
                         AE_PROC_UTS_NS | AE_PROC_CGROUP_NS | AE_PROC_PRIVATE_PROC | AE_PROC_PRIVATE_TMP |
                         AE_PROC_OTHER_UID | AE_PROC_NO_CAPS | AE_PROC_NO_NEW_PRIVS;
    char text[512];
    char secret[] = "/tmp/ae-proc-XXXXXX", script[1024];
    const int fd = mkstemp(secret);
    assert_true(fd >= 0);
    (void)close(fd);
    snprintf(script, sizeof script,
             "echo pid $$; echo net $(grep -c : /proc/net/dev); [ -e %s ] && echo seen || echo hidden; id -u; "
             "grep CapBnd /proc/self/status; grep NoNewPrivs /proc/self/status; ls -d /proc/[0-9]* | wc -l",
             secret);
    const struct ae_proc_spec plain = SPEC(.argv = SH(script), .env = path_env);
    struct ae_proc_result without = run(plain);
    struct ae_proc_spec spec = plain;
    spec.layers = all;
    spec.tmpfs = (const char *const[]){"/tmp", NULL};
    struct ae_proc_result with = run(spec);
    print_message("layers: %s\n", ae_proc_layers_text(with.layers, text, sizeof text));
    assert_int_equal(without.layers, 0);
    assert_non_null(strstr(without.out.text, "seen"));
    if (with.layers & AE_PROC_PRIVATE_TMP)
        assert_non_null(strstr(with.out.text, "hidden"));
    if (with.layers & AE_PROC_PID_NS) {
        assert_null(strstr(without.out.text, "pid 2\n"));
        assert_non_null(strstr(with.out.text, "pid 2\n"));
    }
    if (with.layers & AE_PROC_NET_NS)
        assert_non_null(strstr(with.out.text, "net 1\n"));
    if (with.layers & AE_PROC_NO_CAPS && geteuid() == 0) {
        assert_null(strstr(without.out.text, "CapBnd:\t0000000000000000"));
        assert_non_null(strstr(with.out.text, "CapBnd:\t0000000000000000"));
    }
    assert_non_null(strstr(with.out.text, "NoNewPrivs:\t1"));
    if (with.layers & AE_PROC_OTHER_UID)
        assert_non_null(strstr(with.out.text, "65534\n"));
    ae_proc_result_release(&with);
    ae_proc_result_release(&without);
    /* In a pid namespace an unhandled abort still tells its signal: the program is not PID 1. */
    spec.argv = SH("kill -ABRT $$");
    with = run(spec);
    assert_int_equal(with.outcome, AE_PROC_SIGNALED);
    assert_int_equal(with.signal, SIGABRT);
    ae_proc_result_release(&with);
    (void)unlink(secret);
}

static void *start_many(void *failures)
{
    for (int i = 0; i < 20; i++) {
        struct ae_proc_result r = {0};
        struct ae_proc_spec spec = SPEC(.argv = SH("echo $$"));
        if (ae_proc_run(&spec, &r, NULL) != AE_OK || r.outcome != AE_PROC_EXITED || r.out.total == 0)
            ++*(int *)failures;
        ae_proc_result_release(&r);
        void *some = malloc(1000 + (size_t)i); /* the allocator's lock is busy */
        free(some);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[6];
    int failures[6] = {0};
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_many, &failures[i]), 0);
    for (int i = 0; i < 6; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

static void test_pidfd(void **state)
{
    (void)state;
    struct ae_proc *proc;
    struct ae_proc_spec spec = SPEC(.argv = SH("exec sleep 300"), .env = path_env,
                                    .layers = AE_PROC_USER_NS | AE_PROC_PID_NS);
    assert_int_equal(ae_proc_start(&proc, &spec, NULL), AE_OK);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)ae_proc_pid(proc));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char comm[32] = "";
    for (int i = 0; i < 100 && strcmp(comm, "sleep\n") != 0; i++) { /* the shell executes it when it comes to it */
        rewind(file);
        (void)fflush(file);
        if (!fgets(comm, sizeof comm, file))
            break;
        (void)poll(NULL, 0, 10);
        (void)fclose(file);
        file = fopen(path, "r");
        assert_non_null(file);
    }
    (void)fclose(file);
    assert_string_equal(comm, "sleep\n");
    struct pollfd pfd = {ae_proc_pidfd(proc), POLLIN, 0};
    assert_int_equal(poll(&pfd, 1, 0), 0);
    ae_proc_kill(proc);
    assert_int_equal(poll(&pfd, 1, 5000), 1);
    ae_proc_free(proc);
}

static int run_all(const char *name)
{
    const struct CMUnitTest proc_tests[] = {
        cmocka_unit_test(test_end),          cmocka_unit_test(test_cannot_start),
        cmocka_unit_test(test_surroundings), cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_timeout),      cmocka_unit_test(test_escape),
        cmocka_unit_test(test_interrupted_caller),
        cmocka_unit_test(test_parent_gone),  cmocka_unit_test(test_supervisor_killed),
        cmocka_unit_test(test_log),          cmocka_unit_test(test_busy_parent),
        cmocka_unit_test(test_hidden_program),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_layers),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_pidfd),
    };
    return cmocka_run_group_tests_name(name, proc_tests, NULL, NULL);
}

int main(void)
{
    int failed = 0;
    if (geteuid() == 0) {
        const pid_t pid = fork();
        if (pid == 0) {
            if (setgroups(0, NULL) != 0 || setresgid(1234, 1234, 1234) != 0 || setresuid(1234, 1234, 1234) != 0) {
                print_message("root, but not free to be another user: not repeated\n");
                _exit(0);
            }
            _exit(run_all("proc as an ordinary user") ? 1 : 0);
        }
        int status = 1;
        failed = pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
    }
    return run_all("proc") || failed;
}
