/* Landlock, each denial shown against the same action without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static int can_read(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/secret", folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && close(fd) == 0;
}

static int can_list(void)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && close(fd) == 0;
}

static int can_write(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/secret", folder);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && close(fd) == 0;
}

static int can_truncate(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/secret", folder);
    return truncate(path, 6) == 0;
}

static int can_make(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/new", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && close(fd) == 0 && unlink(path) == 0;
}

static int can_make_fifo(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/fifo", folder);
    return mkfifo(path, 0600) == 0 && unlink(path) == 0;
}

static const struct {
    const char *name;
    int (*action)(void);
    unsigned rights; /* that it takes */
    int abi;
} actions[] = {
    {"read", can_read, AE_LANDLOCK_READ, 1},
    {"list", can_list, AE_LANDLOCK_LIST, 1},
    {"write", can_write, AE_LANDLOCK_WRITE, 1},
    {"truncate", can_truncate, AE_LANDLOCK_WRITE, 3},
    {"make", can_make, AE_LANDLOCK_MAKE | AE_LANDLOCK_WRITE, 1},
    {"make a FIFO", can_make_fifo, 1u << 31, 1}, /* no right grants it */
};
#define ACTIONS (sizeof actions / sizeof *actions)

/* Mask of the actions that work in a child under rights on the folder; with none: no ruleset at all. */
static unsigned works_under(int ruleset)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (ruleset >= 0 && ae_landlock_enforce(ruleset, NULL) != AE_OK)
            _exit(255);
        unsigned works = 0;
        for (size_t i = 0; i < ACTIONS; i++)
            works |= (unsigned)(actions[i].action() != 0) << i;
        _exit((int)works);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 255);
    return (unsigned)WEXITSTATUS(status);
}

static void test_rights(void **state)
{
    (void)state;
    struct ae_error err = {0};
    assert_int_equal(works_under(-1), (1u << ACTIONS) - 1);
    if (ae_landlock_abi() == 0) {
        int fd;
        assert_int_equal(ae_landlock_make(NULL, 0, 0, &fd, &err), AE_E_ENV);
        skip();
    }
    const unsigned sets[] = {0,
                             AE_LANDLOCK_READ,
                             AE_LANDLOCK_READ | AE_LANDLOCK_LIST,
                             AE_LANDLOCK_WRITE,
                             AE_LANDLOCK_MAKE,
                             AE_LANDLOCK_READ | AE_LANDLOCK_WRITE | AE_LANDLOCK_MAKE | AE_LANDLOCK_EXECUTE};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        const struct ae_landlock_rule rules[] = {{folder, sets[s], false},
                                                 {"/no/such/folder", AE_LANDLOCK_READ, true},
                                                 {"/dev/null", ~0u, false}}; /* no folder: folder rights are left out */
        int fd = -1;
        if (ae_landlock_make(rules, 3, AE_LANDLOCK_NET | AE_LANDLOCK_SCOPE, &fd, &err) != AE_OK)
            fail_msg("%s", err.text);
        unsigned expected = 0;
        for (size_t i = 0; i < ACTIONS; i++)
            expected |= (unsigned)((sets[s] & actions[i].rights) == actions[i].rights || ae_landlock_abi() < actions[i].abi) << i;
        assert_int_equal(works_under(fd), expected);
        (void)close(fd);
    }
}

static void test_missing_path(void **state)
{
    (void)state;
    if (ae_landlock_abi() == 0)
        skip();
    struct ae_error err = {0};
    int fd = -1;
    const struct ae_landlock_rule rule = {"/no/such/folder", AE_LANDLOCK_READ, false};
    assert_int_equal(ae_landlock_make(&rule, 1, 0, &fd, &err), AE_E_NOTFOUND);
    assert_non_null(strstr(err.text, "/no/such/folder"));
    assert_int_equal(fd, -1);
}

static int set_up(void **state)
{
    (void)state;
    char path[128];
    strcpy(folder, "/tmp/ae-landlock-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/secret", folder);
    return ae_file_write(path, "secret", 6, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    return ae_folder_remove(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rights), cmocka_unit_test(test_missing_path)};
    return cmocka_run_group_tests_name("landlock", tests, set_up, tear_down);
}
