/* Control groups: finding a place for them, against a folder that stands for the kernel's tree (its rules are below), and
 * what they do, against the kernel where this machine lets us make one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "proc/proc.h"
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- a folder that stands for the kernel's tree ---------------------------------------------------------- */

static char tree[64];    /* "": no such folder: the kernel's own calls */
static bool read_only;   /* what a container often has */
static bool controllers; /* a hybrid host has none in v2 */

int __real_mkdirat(int at, const char *path, mode_t mode);
int __wrap_mkdirat(int at, const char *path, mode_t mode);
int __real_unlinkat(int at, const char *path, int flags);
int __wrap_unlinkat(int at, const char *path, int flags);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

static void put(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "we"); /* the C library's own writes do not come by here */
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static const char *get(const char *folder, const char *name)
{
    static char text[4][4096];
    static int next;
    char path[PATH_MAX];
    char *ret = text[next++ % 4];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "re");
    ret[in ? fread(ret, 1, sizeof *text - 1, in) : 0] = 0;
    if (in)
        (void)fclose(in);
    return ret;
}

/* The files of a group: those of a controller only where the group above hands it on. */
static void populate(const char *folder, const char *given)
{
    if (strcmp(folder, tree) != 0)
        put(folder, "cgroup.type", "domain\n");
    put(folder, "cgroup.procs", "");
    put(folder, "cgroup.controllers", given);
    put(folder, "cgroup.subtree_control", "");
    put(folder, "cgroup.freeze", "0");
    put(folder, "cgroup.kill", "");
    put(folder, "cgroup.events", "populated 0\nfrozen 1\n");
    if (strstr(given, "memory")) {
        put(folder, "memory.max", "max");
        put(folder, "memory.swap.max", "max");
        put(folder, "memory.oom.group", "0");
        put(folder, "memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 1\n");
    }
    if (strstr(given, "pids"))
        put(folder, "pids.max", "max");
}

int __wrap_mkdirat(int at, const char *path, mode_t mode)
{
    char above[PATH_MAX];
    if (!tree[0] || strncmp(path, tree, strlen(tree)) != 0)
        return __real_mkdirat(at, path, mode);
    if (read_only)
        return errno = EROFS, -1;
    snprintf(above, sizeof above, "%s", path);
    *strrchr(above, '/') = 0;
    if (__real_mkdirat(at, path, mode) != 0)
        return -1;
    populate(path, get(above, "cgroup.subtree_control"));
    if (strcmp(above, tree) != 0 && *get(above, "cgroup.procs") && *get(above, "cgroup.subtree_control"))
        put(path, "cgroup.type", "domain invalid\n");
    return 0;
}

int __wrap_unlinkat(int at, const char *path, int flags)
{
    if (!tree[0] || strncmp(path, tree, strlen(tree)) != 0 || !(flags & AT_REMOVEDIR))
        return __real_unlinkat(at, path, flags);
    if (*get(path, "cgroup.procs"))
        return errno = EBUSY, -1;
    return ae_folder_remove(path, NULL) == AE_OK ? 0 : -1;
}

/* A process is in one group at a time. */
static void move_process(const char *folder, const char *pid)
{
    char command[PATH_MAX + 128], lines[4096];
    snprintf(command, sizeof command, "find %s -name cgroup.procs -exec sed -i /^%s$/d {} +", tree, pid);
    assert_int_equal(system(command), 0);
    snprintf(lines, sizeof lines, "%s%s\n", get(folder, "cgroup.procs"), pid);
    put(folder, "cgroup.procs", lines);
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    char link[64], path[PATH_MAX] = "", text[64], now[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (!tree[0] || readlink(link, path, sizeof path - 1) <= 0 || strncmp(path, tree, strlen(tree)) != 0 || size > 60)
        return __real_write(fd, data, size);
    char *name = strrchr(path, '/');
    *name++ = 0;
    snprintf(text, sizeof text, "%.*s", (int)size, (const char *)data);
    if (strcmp(name, "cgroup.procs") == 0) {
        if (*get(path, "cgroup.subtree_control") && strcmp(path, tree) != 0)
            return errno = EBUSY, -1;
        move_process(path, text);
    } else if (strcmp(name, "cgroup.kill") == 0) {
        put(path, "cgroup.procs", "");
    } else if (strcmp(name, "cgroup.subtree_control") == 0 && text[0] == '+') {
        /* The rule of no inner processes; the root of the tree is free of it, and pids takes its revenge later. */
        if (*get(path, "cgroup.procs") && strcmp(path, tree) != 0 && !strstr(text, "pids"))
            return errno = EBUSY, -1;
        snprintf(now, sizeof now, "%s%s ", get(path, name), text + 1);
        put(path, name, now);
    } else if (strcmp(name, "cgroup.subtree_control") == 0) {
        put(path, name, "");
    } else {
        put(path, name, text);
    }
    return (ssize_t)size;
}

struct fake {
    char mounts[96], self[96], home[96];
};

/* A tree in which we are in the group `own` ("/a/b"); groups on the way to it hand on what there is. */
static int set_up(void **state)
{
    struct fake *f = calloc(1, sizeof *f);
    char folder[] = "/tmp/ae-cgroup-XXXXXX";
    assert_non_null(f);
    assert_non_null(mkdtemp(folder));
    read_only = false;
    controllers = true;
    snprintf(tree, sizeof tree, "%s", folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fake *f = *state;
    char path[64];
    snprintf(path, sizeof path, "%s", tree);
    tree[0] = 0;
    assert_int_equal(ae_folder_remove(path, NULL), AE_OK);
    (void)unlink(f->mounts);
    (void)unlink(f->self);
    free(f);
    return 0;
}

static struct fake *plant(void **state, const char *own)
{
    struct fake *f = *state;
    char text[512], pid[32];
    const char *given = controllers ? "cpuset memory pids" : "hugetlb";
    snprintf(f->mounts, sizeof f->mounts, "%s.mounts", tree);
    snprintf(f->self, sizeof f->self, "%s.self", tree);
    populate(tree, given);
    snprintf(f->home, sizeof f->home, "%s", tree);
    for (const char *part = own; part[0] && part[1];) {
        const size_t length = strcspn(part + 1, "/") + 1;
        put(f->home, "cgroup.subtree_control", given);
        strncat(f->home, part, length);
        assert_int_equal(__wrap_mkdirat(AT_FDCWD, f->home, 0700), 0);
        part += length;
    }
    snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    put(f->home, "cgroup.procs", pid);
    snprintf(text, sizeof text, "23 1 0:20 / /proc rw - proc proc rw\n31 28 0:26 / %s rw,nosuid - cgroup2 cgroup2 rw\n", tree);
    put("/", f->mounts + 1, text);
    snprintf(text, sizeof text, "4:memory:/elsewhere\n0::%s\n", own);
    put("/", f->self + 1, text);
    return f;
}

static void add_other(const struct fake *f)
{
    char text[64];
    snprintf(text, sizeof text, "%d\n1\n", (int)getpid());
    put(f->home, "cgroup.procs", text);
}

static void test_root_of_the_tree(void **state)
{
    const struct fake *f = plant(state, "/");
    struct ae_cgroup_place place;
    struct ae_cgroup group;
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, tree);
    assert_int_equal(place.means, AE_CGROUP_ALL);
    assert_string_equal(place.lack, "");
    ae_cgroup_make(&group, &place, &(struct ae_cgroup_limits){.memory_bytes = 123456, .pids = 7});
    assert_int_equal(group.means, AE_CGROUP_ALL);
    assert_string_equal(get(group.path, "memory.max"), "123456");
    assert_string_equal(get(group.path, "memory.swap.max"), "0");
    assert_string_equal(get(group.path, "memory.oom.group"), "1");
    assert_string_equal(get(group.path, "pids.max"), "7");
    assert_int_equal(ae_cgroup_memory_kills(&group), 2); /* not "oom", nor "oom_group_kill" */
    assert_true(ae_cgroup_freeze(&group));
    assert_string_equal(get(group.path, "cgroup.freeze"), "1");
    ae_cgroup_thaw(&group);
    assert_string_equal(get(group.path, "cgroup.freeze"), "0");
    char path[AE_CGROUP_PATH];
    snprintf(path, sizeof path, "%s", group.path);
    ae_cgroup_remove(&group);
    assert_false(ae_file_exists(path));
    ae_cgroup_make(&group, &place, &(struct ae_cgroup_limits){0}); /* not asked for: not in force, nobody counts */
    assert_int_equal(group.means, AE_CGROUP_FREEZE | AE_CGROUP_KILL);
    assert_int_equal(ae_cgroup_memory_kills(&group), -1);
    ae_cgroup_remove(&group);
    ae_cgroup_place_close(&place);
}

static void test_beside_a_session(void **state)
{
    const struct fake *f = plant(state, "/user/session");
    char above[96];
    struct ae_cgroup_place place;
    add_other(f);
    snprintf(above, sizeof above, "%s/user", tree);
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, above);
    assert_int_equal(place.means, AE_CGROUP_ALL);
    assert_string_equal(place.leaf, "");
    ae_cgroup_place_close(&place);
}

/* Not beside: that would be out of the limit. Not inside: there are others, whom we do not move. */
static void test_limited_and_not_alone(void **state)
{
    const struct fake *f = plant(state, "/service/us");
    struct ae_cgroup_place place;
    struct ae_cgroup group;
    add_other(f);
    put(f->home, "memory.max", "1000000000");
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, f->home);
    assert_int_equal(place.means, AE_CGROUP_FREEZE | AE_CGROUP_KILL);
    assert_non_null(strstr(place.lack, "no limits"));
    ae_cgroup_make(&group, &place, &(struct ae_cgroup_limits){.memory_bytes = 1 << 20, .pids = 7});
    assert_int_equal(group.means, AE_CGROUP_FREEZE | AE_CGROUP_KILL);
    ae_cgroup_remove(&group);
    ae_cgroup_place_close(&place);
}

static void test_alone_goes_into_a_leaf_and_back(void **state)
{
    const struct fake *f = plant(state, "/service/us");
    struct ae_cgroup_place place;
    char pid[32], leaf[AE_CGROUP_PATH];
    snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    put(f->home, "memory.max", "1000000000");
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, f->home);
    assert_int_equal(place.means, AE_CGROUP_ALL);
    snprintf(leaf, sizeof leaf, "%s", place.leaf);
    assert_string_equal(get(leaf, "cgroup.procs"), pid);
    assert_string_equal(get(f->home, "cgroup.procs"), "");
    ae_cgroup_place_close(&place);
    assert_string_equal(get(f->home, "cgroup.procs"), pid);
    assert_string_equal(get(f->home, "cgroup.subtree_control"), "");
    assert_false(ae_file_exists(leaf));
}

static void test_machines_that_give_nothing(void **state)
{
    struct fake *f = plant(state, "/a");
    struct ae_cgroup_place place;
    struct ae_cgroup group;
    read_only = true;
    add_other(f);
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, "");
    assert_int_equal(place.means, 0);
    assert_non_null(strstr(place.lack, "No group may be made"));
    ae_cgroup_make(&group, &place, &(struct ae_cgroup_limits){.pids = 7}); /* and all that follows is harmless */
    assert_string_equal(group.path, "");
    assert_false(ae_cgroup_freeze(&group));
    assert_int_equal(ae_cgroup_population(&group), -1);
    ae_cgroup_thaw(&group);
    ae_cgroup_remove(&group);
    read_only = false;
    put("/", f->mounts + 1, "23 1 0:20 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"); /* v1 only */
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_int_equal(place.means, 0);
    assert_non_null(strstr(place.lack, "no cgroup v2"));
    ae_cgroup_place_open(&place, "/no/such/file", "/no/such/file");
    assert_int_equal(place.means, 0);
}

static void test_hybrid_host(void **state)
{
    controllers = false;
    const struct fake *f = plant(state, "/");
    struct ae_cgroup_place place;
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_int_equal(place.means, AE_CGROUP_FREEZE | AE_CGROUP_KILL);
    ae_cgroup_place_close(&place);
}

/* A container that is shown a part of the tree; and a path that leads to another group than ours. */
static void test_riddles_of_namespaces(void **state)
{
    struct fake *f = plant(state, "/");
    struct ae_cgroup_place place;
    char text[256];
    snprintf(text, sizeof text, "31 28 0:26 /docker/ab\\040c %s rw - cgroup2 cgroup2 rw\n", tree);
    put("/", f->mounts + 1, text);
    put("/", f->self + 1, "0::/docker/ab c\n");
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, tree);
    ae_cgroup_place_close(&place);
    put(tree, "cgroup.procs", "1\n77\n");
    ae_cgroup_place_open(&place, f->mounts, f->self);
    assert_string_equal(place.folder, "");
}

static void test_leftovers(void **state)
{
    const struct fake *f = plant(state, "/");
    struct ae_cgroup_place place, later;
    struct ae_cgroup living;
    char dead[128], other[128];
    ae_cgroup_place_open(&place, f->mounts, f->self);
    ae_cgroup_make(&living, &place, &(struct ae_cgroup_limits){.pids = 7});
    snprintf(dead, sizeof dead, "%s/acceleval-0123456789abcdef", tree);
    snprintf(other, sizeof other, "%s/somebody", tree);
    assert_int_equal(__wrap_mkdirat(AT_FDCWD, dead, 0700), 0);
    assert_int_equal(__wrap_mkdirat(AT_FDCWD, other, 0700), 0);
    put(dead, "cgroup.procs", "99999999\n");
    ae_cgroup_place_open(&later, f->mounts, f->self);
    assert_false(ae_file_exists(dead));
    assert_true(ae_file_exists(other));
    assert_true(ae_file_exists(living.path)); /* its maker holds the lock */
    ae_cgroup_remove(&living);
}

/* --- the kernel's own ------------------------------------------------------------------------------------ */

#define SH(script) (const char *const[]){"/bin/sh", "-c", script, NULL}

static const char *const path_env[] = {"PATH=/usr/bin:/bin", NULL};

/* Skips, with the reason, where this machine does not give what is asked for. */
static void need(unsigned means)
{
    char lack[512];
    const unsigned there = ae_cgroup_here(lack, sizeof lack);
    if ((there & means) != means) {
        print_message("not here: %s\n", lack);
        skip();
    }
}

static struct ae_proc *start(const char *script, const struct ae_cgroup *group)
{
    struct ae_proc *proc = NULL;
    struct ae_error err = {0};
    const struct ae_proc_spec spec = {.argv = SH(script), .env = path_env, .timeout_ns = 60 * AE_SEC, .landlock_fd = -1,
                                      .layers = group ? AE_PROC_CGROUP : 0, .cgroup_fd = group ? group->folder : -1};
    if (ae_proc_start(&proc, &spec, &err) != AE_OK)
        fail_msg("%s", err.text);
    if (group && !(ae_proc_layers(proc) & AE_PROC_CGROUP)) {
        ae_proc_free(proc);
        print_message("not here: a process may not be moved into a group\n");
        skip();
    }
    return proc;
}

static struct ae_proc_result end(struct ae_proc *proc)
{
    struct ae_proc_result result = {0};
    assert_int_equal(ae_proc_wait(proc, &result, NULL), AE_OK);
    ae_proc_free(proc);
    return result;
}

static void test_forks_beyond_the_limit(void **state)
{
    (void)state;
    static const char script[] = "i=0; while [ $i -lt 24 ]; do sleep 30 & i=$((i+1)); echo $i; done";
    struct ae_cgroup group;
    need(AE_CGROUP_PIDS);
    struct ae_proc_result without = end(start(script, NULL));
    assert_non_null(strstr(without.out.text, "\n24\n"));
    ae_cgroup_make(&group, NULL, &(struct ae_cgroup_limits){.pids = 10});
    struct ae_proc_result with = end(start(script, &group));
    assert_null(strstr(with.out.text, "\n11\n"));
    assert_non_null(strstr(with.out.text, "\n5\n"));
    ae_cgroup_remove(&group);
    ae_proc_result_release(&without);
    ae_proc_result_release(&with);
}

static void test_memory_beyond_the_limit(void **state)
{
    (void)state;
    static const char script[] = "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c"; /* tail holds it all */
    struct ae_cgroup group;
    need(AE_CGROUP_MEMORY);
    struct ae_proc_result without = end(start(script, NULL));
    assert_string_equal(without.out.text, "200000000\n");
    ae_cgroup_make(&group, NULL, &(struct ae_cgroup_limits){.memory_bytes = 400 << 20});
    struct ae_proc_result enough = end(start(script, &group));
    assert_string_equal(enough.out.text, "200000000\n");
    assert_int_equal(ae_cgroup_memory_kills(&group), 0);
    ae_cgroup_remove(&group);
    ae_cgroup_make(&group, NULL, &(struct ae_cgroup_limits){.memory_bytes = 64 << 20});
    struct ae_proc_result with = end(start(script, &group));
    assert_int_equal(with.outcome, AE_PROC_SIGNALED); /* the shell too: all of the group goes */
    assert_int_equal(with.signal, SIGKILL);
    assert_true(ae_cgroup_memory_kills(&group) > 0);
    ae_cgroup_remove(&group);
    ae_cgroup_make(&group, NULL, &(struct ae_cgroup_limits){.memory_bytes = 64 << 20});
    struct ae_proc_result itself = end(start("kill -KILL $$", &group)); /* looks the same, and is not */
    assert_int_equal(itself.signal, SIGKILL);
    assert_int_equal(ae_cgroup_memory_kills(&group), 0);
    ae_cgroup_remove(&group);
    ae_proc_result_release(&without);
    ae_proc_result_release(&enough);
    ae_proc_result_release(&with);
    ae_proc_result_release(&itself);
}

/* Clock ticks that a process has worked. */
static long worked(pid_t pid)
{
    char path[64];
    unsigned long user = 0, system_time = 0;
    snprintf(path, sizeof path, "%d", (int)pid);
    const char *rest = strrchr(get("/proc", strcat(path, "/stat")), ')');
    assert_non_null(rest);
    assert_int_equal(sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system_time), 2);
    return (long)(user + system_time);
}

static void test_frozen(void **state)
{
    (void)state;
    struct ae_cgroup group;
    need(AE_CGROUP_FREEZE);
    ae_cgroup_make(&group, NULL, &(struct ae_cgroup_limits){0});
    struct ae_proc *proc = start("while :; do :; done", &group);
    const pid_t pid = ae_proc_pid(proc);
    const long began = worked(pid);
    for (int i = 0; i < 100 && worked(pid) < began + 3; i++)
        usleep(50000);
    assert_true(worked(pid) >= began + 3); /* it does work, while nobody freezes it */
    assert_true(ae_cgroup_freeze(&group));
    const long frozen = worked(pid);
    usleep(300000);
    assert_int_equal(worked(pid), frozen);
    ae_cgroup_thaw(&group);
    for (int i = 0; i < 100 && worked(pid) < frozen + 3; i++)
        usleep(50000);
    assert_true(worked(pid) >= frozen + 3);
    assert_true(ae_cgroup_freeze(&group)); /* frozen, it can be killed all the same */
    ae_proc_kill(proc);
    struct ae_proc_result result = end(proc);
    assert_int_equal(result.outcome, AE_PROC_KILLED);
    ae_proc_result_release(&result);
    assert_int_equal(ae_cgroup_population(&group), 0);
    ae_cgroup_remove(&group);
}

/* An evaluator that makes a group, puts a process into it that nobody else knows of, and dies. */
static pid_t crash(char path[AE_CGROUP_PATH])
{
    struct ae_cgroup group;
    int pipe_ends[2];
    pid_t orphan = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    const pid_t evaluator = fork();
    if (evaluator == 0) {
        ae_cgroup_make(&group, NULL, &(struct ae_cgroup_limits){0});
        orphan = fork();
        if (orphan == 0) {
            (void)close(group.folder);
            (void)close(pipe_ends[0]);
            (void)close(pipe_ends[1]);
            for (;;)
                pause();
        }
        char text[32];
        snprintf(text, sizeof text, "%d", (int)orphan);
        const int procs = openat(group.folder, "cgroup.procs", O_WRONLY);
        if (procs < 0 || __real_write(procs, text, strlen(text)) < 0) {
            (void)kill(orphan, SIGKILL);
            orphan = 0;
        }
        (void)!__real_write(pipe_ends[1], &orphan, sizeof orphan);
        (void)!__real_write(pipe_ends[1], group.path, AE_CGROUP_PATH);
        (void)raise(SIGKILL);
    }
    (void)close(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &orphan, sizeof orphan), sizeof orphan);
    for (size_t got = 0; got < AE_CGROUP_PATH;) {
        const ssize_t n = read(pipe_ends[0], path + got, AE_CGROUP_PATH - got);
        assert_true(n > 0);
        got += (size_t)n;
    }
    (void)close(pipe_ends[0]);
    assert_int_equal(waitpid(evaluator, NULL, 0), evaluator);
    return orphan;
}

static void test_left_by_a_crash(void **state)
{
    (void)state;
    char path[AE_CGROUP_PATH], lack[512];
    need(AE_CGROUP_KILL);
    const pid_t orphan = crash(path);
    if (!orphan)
        skip();
    assert_true(ae_file_exists(path)); /* nobody has looked yet */
    assert_int_equal(kill(orphan, 0), 0);
    ae_cgroup_leave();
    (void)ae_cgroup_here(lack, sizeof lack);
    assert_false(ae_file_exists(path));
    for (int i = 0; i < 100 && kill(orphan, 0) == 0; i++) /* whoever inherits orphans here reaps it */
        usleep(10000);
    const char *rest = NULL;
    char name[64];
    snprintf(name, sizeof name, "%d/stat", (int)orphan);
    if (kill(orphan, 0) == 0 && (rest = strrchr(get("/proc", name), ')')))
        assert_true(rest[2] == 'Z' || rest[2] == 'X');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_root_of_the_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beside_a_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limited_and_not_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_alone_goes_into_a_leaf_and_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machines_that_give_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hybrid_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_riddles_of_namespaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_leftovers, set_up, tear_down),
        cmocka_unit_test(test_forks_beyond_the_limit),
        cmocka_unit_test(test_memory_beyond_the_limit),
        cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_left_by_a_crash),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ae_cgroup_leave();
    return failed;
}
