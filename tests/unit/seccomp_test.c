/* Every rule of the policy, tried in a process of its own: first without the filter, then under it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sandbox/seccomp.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child came to: an errno, 0 for success, -SIGNAL. */
static int outcome_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Arguments that the rule is about; the others are such that no call does anything. */
static int try_rule(const struct ae_seccomp_rule *rule, int stages)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return outcome_of(pid);
    long arguments[6] = {-1, -1, -1, -1, -1, -1};
    switch (rule->test) {
    case AE_SECCOMP_EQUAL:
    case AE_SECCOMP_HAS:
        arguments[rule->argument] = (long)rule->value;
        break;
    case AE_SECCOMP_NOT:
        arguments[rule->argument] = (long)rule->value + 1;
        break;
    case AE_SECCOMP_NOT_SELF:
        arguments[rule->argument] = (long)getpid() + 1;
        arguments[rule->argument + 1] = 0; /* the signal that is none */
        break;
    case AE_SECCOMP_LACKS:
        arguments[rule->argument] = 0;
        break;
    default:
        break;
    }
    int number = seccomp_syscall_resolve_name(rule->name);
    number = number == __NR_SCMP_ERROR ? rule->number : number;
    if (number < 0)
        _exit(rule->answer); /* not on this architecture */
    if ((stages & AE_SECCOMP_FIRST) && ae_seccomp_enforce(AE_SECCOMP_FIRST, NULL) != AE_OK)
        _exit(254);
    if ((stages & AE_SECCOMP_SECOND) && ae_seccomp_enforce(AE_SECCOMP_SECOND, NULL) != AE_OK)
        _exit(254);
    errno = 0;
    const long rc = syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    _exit(rc == -1 ? errno : 0);
}

static void rules_hold(void **state)
{
    (void)state;
    size_t count;
    const struct ae_seccomp_rule *rules = ae_seccomp_rules(&count);
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++) {
        const int want = rules[i].answer ? rules[i].answer : -SIGSYS;
        int got = try_rule(&rules[i], (int)rules[i].stage);
        if (got != want)
            fail_msg("%s: %d instead of %d", rules[i].name, got, want);
        /* The second stage must not undo the first. */
        got = try_rule(&rules[i], AE_SECCOMP_FIRST | AE_SECCOMP_SECOND);
        if (got != want && !(rules[i].stage == AE_SECCOMP_SECOND && rules[i].answer))
            fail_msg("%s behind both stages: %d instead of %d", rules[i].name, got, want);
    }
}

/* Without the filter nothing kills, and what is harmless to do succeeds. */
static void works_without(void **state)
{
    (void)state;
    size_t count;
    const struct ae_seccomp_rule *rules = ae_seccomp_rules(&count);
    /* Calls that would do something, or end the test, even with arguments that mean nothing. */
    static const char *const left_out[] = {"fork", "vfork", "clone", "vhangup", "alarm", "reboot", "setsid"};
    int killed = 0, differ = 0;
    for (size_t i = 0; i < count; i++) {
        int skip = 0;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            skip |= strcmp(rules[i].name, left_out[k]) == 0;
        if (skip)
            continue;
        const int got = try_rule(&rules[i], 0);
        killed += got == -SIGSYS;
        differ += got != (rules[i].answer ? rules[i].answer : -SIGSYS);
    }
    assert_int_equal(killed, 0);
    assert_true(differ > (int)count / 2); /* the rest needs privilege that this process may lack */
}

static void *nothing(void *unused)
{
    return unused;
}

/* What an honest program needs goes on working behind both stages. */
static void threads_work(void **state)
{
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pthread_t thread;
        void *result = NULL;
        if (ae_seccomp_enforce(AE_SECCOMP_FIRST, NULL) != AE_OK || ae_seccomp_enforce(AE_SECCOMP_SECOND, NULL) != AE_OK)
            _exit(1);
        if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, &result) != 0)
            _exit(2);
        FILE *file = fopen("/proc/self/status", "r");
        if (!file || fclose(file) != 0)
            _exit(3);
        if (fork() >= 0 || errno != EPERM)
            _exit(4);
        signal(SIGUSR1, SIG_IGN);
        _exit(raise(SIGUSR1) == 0 ? 0 : 5);
    }
    assert_int_equal(outcome_of(pid), 0);
}

/* A filter that is put in force by one thread holds for those that were there before. */
static void *make_socket(void *pipe_end)
{
    char go;
    (void)!read(*(int *)pipe_end, &go, 1);
    errno = 0;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 && errno == EPERM ? pipe_end : NULL;
}

static void older_threads_too(void **state)
{
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int ends[2];
        pthread_t thread;
        void *refused = NULL;
        if (pipe(ends) != 0 || pthread_create(&thread, NULL, make_socket, &ends[0]) != 0)
            _exit(1);
        if (ae_seccomp_enforce(AE_SECCOMP_SECOND, NULL) != AE_OK || write(ends[1], "", 1) != 1)
            _exit(2);
        _exit(pthread_join(thread, &refused) == 0 && refused ? 0 : 3);
    }
    assert_int_equal(outcome_of(pid), 0);
}

#if defined(__x86_64__)
/* The numbers of 32-bit programs are no way round. */
static void other_numbering_kills(void **state)
{
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        long result;
        if (ae_seccomp_enforce(AE_SECCOMP_FIRST, NULL) != AE_OK)
            _exit(1);
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory"); /* getpid of i386 */
        _exit(result > 0 ? 2 : 3);
    }
    const int got = outcome_of(pid);
    if (got == -SIGSEGV)
        skip(); /* a kernel without 32-bit programs */
    assert_int_equal(got, -SIGSYS);
}
#endif

static void new_calls_are_not_there(void **state)
{
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (ae_seccomp_enforce(AE_SECCOMP_FIRST, NULL) != AE_OK)
            _exit(1);
        errno = 0;
        _exit(syscall(457, 0, 0, 0, 0) == -1 ? errno : 2); /* statmount */
    }
    assert_int_equal(outcome_of(pid), ENOSYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(works_without),
        cmocka_unit_test(threads_work),
        cmocka_unit_test(older_threads_too),
        cmocka_unit_test(new_calls_are_not_there),
#if defined(__x86_64__)
        cmocka_unit_test(other_numbering_kills),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
