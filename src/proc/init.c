/* The supervisor of one program: see proc.h. A program of its own, built without sanitizers, embedded in the library
 * (image.c) and run from memory, so that it can fork and wait as it likes while the parent is threaded and large.
 *
 *   set_up_namespaces -> [fork: PID 1, run_inside] -> fork: program, become_program -> supervise -> sweep -> report
 */
#include "base/clock.h"
#include "proc/proc.h"
#include "proc/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ae_wire_block *order;
static char **argv_of, **env_of, **tmpfs_of;
static const char *cwd_of;
static uint64_t layers;

/* How the program ended, from whoever is its parent. */
struct end {
    int32_t status, left_children;
    int64_t cpu_ns, peak_rss;
};

struct started {
    int32_t step, error;
    uint64_t layers;
};

static int wants(uint64_t layer)
{
    return (order->layers & layer) != 0;
}

static void send_packet(const struct ae_wire_packet *packet)
{
    /* Fails only when the parent is gone, which the next look at the socket tells. */
    (void)!send(order->socket, packet, sizeof *packet, MSG_NOSIGNAL);
}

__attribute__((noreturn)) static void fail_start(int step, int error)
{
    send_packet(&(struct ae_wire_packet){.type = AE_WIRE_STARTED, .step = step, .error = error, .layers = layers});
    _exit(1);
}

/* --- descriptors ---------------------------------------------------------------------------------------- */

static void close_from_to(unsigned first, unsigned last)
{
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (unsigned fd = first; fd <= last && fd < 65536; fd++) /* a kernel before 5.9 */
        (void)close((int)fd);
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Closes all but the given descriptors and 0 to 2. */
static void close_others(int *keep, int count)
{
    qsort(keep, (size_t)count, sizeof *keep, compare_ints);
    unsigned next = 3;
    for (int i = 0; i < count; i++) {
        if (keep[i] < (int)next)
            continue;
        if ((unsigned)keep[i] > next)
            close_from_to(next, (unsigned)keep[i] - 1);
        next = (unsigned)keep[i] + 1;
    }
    close_from_to(next, ~0u);
}

static void null_standard_fds(void)
{
    const int null = open("/dev/null", O_RDWR);
    if (null < 0)
        fail_start(AE_WIRE_SETUP, errno);
    for (int fd = 0; fd < 3; fd++)
        if (null != fd)
            (void)dup2(null, fd);
    if (null > 2)
        (void)close(null);
}

/* --- namespaces ----------------------------------------------------------------------------------------- */

static int write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t n = write(fd, text, strlen(text));
    (void)close(fd);
    return n == (ssize_t)strlen(text) ? 0 : -1;
}

static const struct {
    uint64_t layer;
    int flag;
} namespaces[] = {
    {AE_PROC_MOUNT_NS, CLONE_NEWNS}, {AE_PROC_PID_NS, CLONE_NEWPID}, {AE_PROC_NET_NS, CLONE_NEWNET},
    {AE_PROC_IPC_NS, CLONE_NEWIPC},  {AE_PROC_UTS_NS, CLONE_NEWUTS}, {AE_PROC_CGROUP_NS, CLONE_NEWCGROUP},
};

static void unshare_wanted(void)
{
    /* One by one: a container may refuse one and grant another. */
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (wants(namespaces[i].layer) && !(layers & namespaces[i].layer) && unshare(namespaces[i].flag) == 0)
            layers |= namespaces[i].layer;
}

static int become_nobody(void)
{
    if (setgroups(0, NULL) != 0 || setresgid(AE_PROC_NOBODY, AE_PROC_NOBODY, AE_PROC_NOBODY) != 0 ||
        setresuid(AE_PROC_NOBODY, AE_PROC_NOBODY, AE_PROC_NOBODY) != 0)
        return -1;
    layers |= AE_PROC_OTHER_UID;
    return 0;
}

static void enter_user_namespace(void)
{
    char map[64];
    const unsigned uid = geteuid(), gid = getegid();
    (void)prctl(PR_SET_DUMPABLE, 1); /* else /proc/self/uid_map belongs to root */
    if (unshare(CLONE_NEWUSER) != 0)
        return;
    (void)write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1\n", uid, uid);
    const int failed = write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1\n", gid, gid);
    if (failed || write_file("/proc/self/gid_map", map) != 0)
        return;
    layers |= AE_PROC_USER_NS;
}

static void set_up_namespaces(void)
{
    uint64_t all = 0;
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        all |= namespaces[i].layer;
    if (geteuid() == 0)
        unshare_wanted();
    const uint64_t wanted = order->layers & all;
    if ((layers & wanted) != wanted && wants(AE_PROC_USER_NS)) {
        /* Root that may not unshare (an ordinary container) becomes nobody first: only as an ordinary user can it map
         * itself into a namespace without being root in there. */
        if (geteuid() == 0 && wants(AE_PROC_OTHER_UID))
            (void)become_nobody();
        enter_user_namespace();
        unshare_wanted();
    }
    if ((layers & AE_PROC_MOUNT_NS) && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
        layers &= ~(uint64_t)AE_PROC_MOUNT_NS;
}

/* mount_setattr() of Linux 5.12; headers at build time may be older. */
struct mount_attributes {
    uint64_t set, clear, propagation, user_ns;
};
#define SYS_set_attributes 442
#define ATTRIBUTE_RDONLY   1
#define APPLY_RECURSIVE    0x8000

/* Who may write nothing still leaves times behind, by reading files and following links: notes to a later process. */
static void forbid_writing(void)
{
    struct mount_attributes attributes = {.set = ATTRIBUTE_RDONLY};
    if (syscall(SYS_set_attributes, AT_FDCWD, "/", APPLY_RECURSIVE, &attributes, sizeof attributes) == 0)
        return;
    /* Something below is not ours to change: at least the files that everybody reads. */
    (void)syscall(SYS_set_attributes, AT_FDCWD, "/", 0, &attributes, sizeof attributes);
}

static void set_up_mounts(void)
{
    if (!(layers & AE_PROC_MOUNT_NS))
        return;
    if (order->read_only)
        forbid_writing();
    if (wants(AE_PROC_PRIVATE_PROC) && (layers & AE_PROC_PID_NS) &&
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0) {
        layers |= AE_PROC_PRIVATE_PROC;
    } else if (order->read_only) { /* a device's driver names its threads there */
        const struct mount_attributes writable = {.clear = ATTRIBUTE_RDONLY};
        (void)syscall(SYS_set_attributes, AT_FDCWD, "/proc", 0, &writable, sizeof writable);
    }
    if (wants(AE_PROC_PRIVATE_TMP)) {
        char options[64];
        snprintf(options, sizeof options, "mode=1777,size=%llu", (unsigned long long)order->tmpfs_bytes);
        int all = 1;
        for (char **path = tmpfs_of; *path; path++)
            all &= mount("tmpfs", *path, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
        if (all)
            layers |= AE_PROC_PRIVATE_TMP;
    }
}

/* --- the group ------------------------------------------------------------------------------------------ */

/* Opened while we are whom the parent was: the kernel asks who opened them, not who writes. -1: none. */
static int group = -1, group_join = -1, group_kill = -1;

static void open_group(void)
{
    if (order->cgroup_fd < 0)
        return;
    group = openat(order->cgroup_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    group_join = openat(order->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    group_kill = openat(order->cgroup_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC); /* not there before 5.14 */
    (void)close(order->cgroup_fd); /* and with it the maker's lock, which is to end with the maker */
}

/* clone_args of Linux 5.7; headers at build time may be older. */
struct clone_request {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};
#define SYS_clone_request  435
#define INTO_CGROUP        0x200000000

/* A child in the group from its first moment on: to move one that runs makes the kernel wait for all processors, ten
 * milliseconds and more. Supervisor and PID 1 stay outside, so that neither is frozen, nor killed for want of memory. As
 * fork(). */
static pid_t fork_into_group(void)
{
    const struct clone_request request = {.flags = INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)group};
    const pid_t pid = group >= 0 ? (pid_t)syscall(SYS_clone_request, &request, sizeof request) : -1;
    if (pid == 0)
        layers |= AE_PROC_CGROUP;
    return pid >= 0 ? pid : fork(); /* an older kernel, or one that asks who we are now */
}

/* The caller alone, unless it was born there. */
static void join_group(void)
{
    if (!(layers & AE_PROC_CGROUP) && group_join >= 0 && write(group_join, "0", 1) == 1)
        layers |= AE_PROC_CGROUP;
}

static void kill_group(void)
{
    if (group_kill >= 0)
        (void)!write(group_kill, "1", 1);
}

/* --- the program ---------------------------------------------------------------------------------------- */

/* While still root: an ordinary user may not, and need not. */
static void drop_bounding_set(void)
{
    for (int cap = 0; cap < 64; cap++)
        (void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

static void drop_capabilities(void)
{
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capset, &header, data) != 0 || syscall(SYS_capget, &header, data) != 0)
        return;
    /* For root an exec would give back whatever the bounding set still holds. */
    int bounded = 1;
    for (int cap = 0; cap < 64; cap++)
        bounded &= prctl(PR_CAPBSET_READ, cap, 0, 0, 0) != 1;
    if (!data[0].permitted && !data[1].permitted && (bounded || geteuid() != 0))
        layers |= AE_PROC_NO_CAPS;
}

static void default_signals(void)
{
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        (void)signal(signal_number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void tell(int fd, int step, int error)
{
    const struct started message = {step, error, layers};
    (void)!write(fd, &message, sizeof message);
}

__attribute__((noreturn)) static void stop(int fd, int step)
{
    tell(fd, step, errno);
    _exit(127);
}

/* The program's file, opened before private folders may hide it and a change of user may bar the way to it. */
static int program_fd = -1;

/* First above all target numbers, then each to its own: no target can hit a source. Returns the moved status pipe. */
static int place_fds(int status, int out, int err)
{
    enum { above = 256 };
    const int moved_status = fcntl(status, F_DUPFD_CLOEXEC, above);
    const int moved_socket = fcntl(order->socket, F_DUPFD_CLOEXEC, above);
    const int moved_out = fcntl(out, F_DUPFD_CLOEXEC, above), moved_err = fcntl(err, F_DUPFD_CLOEXEC, above);
    const int moved_program = program_fd >= 0 ? fcntl(program_fd, F_DUPFD_CLOEXEC, above) : -1;
    int ruleset = -1, sources[AE_WIRE_FDS];
    int bad = moved_status < 0 || moved_socket < 0 || moved_out < 0 || moved_err < 0;
    if (order->landlock_fd >= 0) {
        ruleset = fcntl(order->landlock_fd, F_DUPFD_CLOEXEC, above);
        bad |= ruleset < 0;
    }
    for (unsigned i = 0; i < order->fd_count; i++) {
        sources[i] = fcntl(order->fds[i].fd, F_DUPFD_CLOEXEC, above);
        bad |= sources[i] < 0;
    }
    if (bad)
        stop(status, AE_WIRE_FDS_PUT);
    close_from_to(3, above - 1);
    bad |= dup2(moved_out, 1) < 0 || dup2(moved_err, 2) < 0;
    for (unsigned i = 0; i < order->fd_count; i++)
        bad |= dup2(sources[i], order->fds[i].number) < 0;
    if (bad)
        stop(moved_status, AE_WIRE_FDS_PUT);
    order = memcpy(malloc(sizeof *order), order, sizeof *order); /* private: each process has its own numbers */
    order->socket = moved_socket;
    order->landlock_fd = ruleset;
    program_fd = moved_program;
    return moved_status;
}

static void set_limits(int status)
{
    for (unsigned i = 0; i < order->limit_count; i++) {
        const int resource = order->limits[i].resource;
        if (resource == RLIMIT_NPROC && !(layers & (AE_PROC_USER_NS | AE_PROC_OTHER_UID)))
            continue;
        struct rlimit now;
        if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
            stop(status, AE_WIRE_LIMIT);
        rlim_t value = order->limits[i].value;
        if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
            value = now.rlim_max;
        if (setrlimit((__rlimit_resource_t)resource, &(struct rlimit){value, value}) != 0)
            stop(status, AE_WIRE_LIMIT);
    }
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

__attribute__((noreturn)) static void become_program(int status, int out, int err, pid_t parent)
{
    (void)setsid();
    default_signals();
    join_group(); /* before its processors are set, which a group may bring its own of */
    status = place_fds(status, out, err);
    if (order->has_affinity && sched_setaffinity(0, sizeof order->affinity, &order->affinity) != 0)
        stop(status, AE_WIRE_AFFINITY);
    if (wants(AE_PROC_NO_CAPS))
        drop_bounding_set();
    if (wants(AE_PROC_OTHER_UID) && geteuid() == 0)
        (void)become_nobody(); /* refused where the container does not map that user */
    if (wants(AE_PROC_NO_CAPS))
        drop_capabilities();
    /* Cleared by a change of uid, so only now. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!(layers & AE_PROC_PID_NS) && getppid() != parent)
        _exit(127);
    if (chdir(cwd_of) != 0)
        stop(status, AE_WIRE_CWD);
    if ((wants(AE_PROC_NO_NEW_PRIVS) || wants(AE_PROC_LANDLOCK)) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        layers |= AE_PROC_NO_NEW_PRIVS;
    if (wants(AE_PROC_LANDLOCK) && order->landlock_fd >= 0 && order->proc_access && (layers & AE_PROC_PRIVATE_PROC)) {
        struct __attribute__((packed)) {
            uint64_t allowed;
            int32_t parent_fd;
        } beneath = {order->proc_access, open("/proc", O_PATH | O_CLOEXEC)};
        (void)syscall(445, order->landlock_fd, 1, &beneath, 0); /* landlock_add_rule, PATH_BENEATH */
        (void)close(beneath.parent_fd);
    }
    /* 446: landlock_restrict_self, on every architecture. */
    if (wants(AE_PROC_LANDLOCK) && order->landlock_fd >= 0 && syscall(446, order->landlock_fd, 0) == 0)
        layers |= AE_PROC_LANDLOCK;
    if (order->required & ~layers) {
        errno = EPERM;
        stop(status, AE_WIRE_MISSING);
    }
    set_limits(status);
    tell(status, AE_WIRE_NONE, 0);
    send_packet(&(struct ae_wire_packet){.type = AE_WIRE_HELLO});
    if (program_fd >= 0) /* fails on scripts, whose interpreter could not open the closed descriptor */
        (void)syscall(SYS_execveat, program_fd, "", argv_of, env_of, AT_EMPTY_PATH);
    execve(argv_of[0], argv_of, env_of);
    stop(status, AE_WIRE_EXEC);
}

/* --- waiting -------------------------------------------------------------------------------------------- */

static int64_t nanoseconds(struct timeval t)
{
    return (int64_t)t.tv_sec * AE_SEC + (int64_t)t.tv_usec * 1000;
}

static struct end end_of(int status, const struct rusage *usage)
{
    return (struct end){.status = status,
                        .cpu_ns = nanoseconds(usage->ru_utime) + nanoseconds(usage->ru_stime),
                        .peak_rss = (int64_t)usage->ru_maxrss * 1024};
}

static pid_t fork_program(int status[2], int out, int err)
{
    if (pipe2(status, O_CLOEXEC) != 0)
        return -1;
    const pid_t self = getpid();
    const pid_t pid = fork_into_group();
    if (pid == 0)
        become_program(status[1], out, err, self);
    return pid;
}

/* Waits until the program's exec has succeeded or failed, and tells how. */
static struct started await_exec(int status)
{
    struct started now = {AE_WIRE_EXEC, ECHILD, layers}, message;
    for (;;) {
        const ssize_t n = read(status, &message, sizeof message);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != sizeof message)
            return now; /* EOF: the last word stands */
        now = message;
        if (now.step != AE_WIRE_NONE)
            return now;
    }
}

/* PID 1 of the new namespace: starts the program, reaps whatever comes to it, and ends with the program, which takes
 * all others along. `up` takes first a struct started, then a struct end; `down` gives a byte when it may reap. */
__attribute__((noreturn)) static void run_inside(int up, int down, int out, int err)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_up_mounts();
    int status[2];
    const pid_t program = fork_program(status, out, err);
    if (program < 0) {
        tell(up, AE_WIRE_SETUP, errno);
        _exit(1);
    }
    (void)close(status[1]);
    (void)close(out);
    (void)close(err);
    const struct started started = await_exec(status[0]);
    (void)!write(up, &started, sizeof started);
    char go;
    while (read(down, &go, 1) < 0 && errno == EINTR) {
    }
    for (;;) {
        int code;
        struct rusage usage;
        const pid_t pid = wait4(-1, &code, 0, &usage);
        if (pid < 0 && errno != EINTR)
            _exit(1);
        if (pid != program)
            continue;
        struct end end = end_of(code, &usage);
        while ((end.left_children = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        end.left_children = end.left_children == 0;
        (void)!write(up, &end, sizeof end);
        _exit(0);
    }
}

/* Kills the children of this process, orphans that it inherited included. */
static void kill_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    if (file) {
        int pid;
        while (fscanf(file, "%d", &pid) == 1)
            (void)kill(pid, SIGKILL);
        (void)fclose(file);
        return;
    }
    DIR *folder = opendir("/proc"); /* a kernel without that file */
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const int pid = atoi(entry->d_name);
        int parent = 0;
        if (pid <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        if (!(file = fopen(path, "re")))
            continue;
        char line[512];
        const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL; /* the name may hold anything */
        if (rest && sscanf(rest + 1, " %*c %d", &parent) == 1 && parent == getpid())
            (void)kill(pid, SIGKILL);
        (void)fclose(file);
    }
    (void)closedir(folder);
}

/* Until no descendant is left: what is killed hands its own children to us, so round by round the tree goes. */
static int sweep(void)
{
    int found = 0;
    for (;;) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return found;
        if (pid > 0)
            continue;
        found = 1;
        kill_group();
        kill_children();
        (void)poll(NULL, 0, 1);
    }
}

/* --- logs ----------------------------------------------------------------------------------------------- */

/* Takes in what is there; -1 once the stream has ended. */
static int drain(int fd, int stream)
{
    static unsigned char buffer[65536];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n == 0)
        return -1;
    unsigned char *area = (unsigned char *)order + order->logs_at + (uint64_t)stream * order->log_bytes;
    const uint64_t head = order->log_bytes / 2, ring = order->log_bytes - head;
    uint64_t total = order->log_total[stream];
    for (ssize_t i = 0; i < n; i++, total++)
        area[total < head ? total : head + (total - head) % ring] = buffer[i];
    order->log_total[stream] = total;
    return (int)n;
}

/* --- supervision ---------------------------------------------------------------------------------------- */

struct watch {
    pid_t child; /* PID 1 of the namespace, or the program itself */
    int up;      /* from PID 1; -1 without a pid namespace */
    int logs[2];
    int signals;
};

/* Returns the outcome once the child is gone. */
static int supervise(struct watch *watch, struct end *end)
{
    int outcome = AE_PROC_EXITED, killed = 0;
    for (;;) {
        struct pollfd fds[] = {{order->socket, POLLIN, 0},
                               {watch->signals, POLLIN, 0},
                               {watch->logs[0], POLLIN, 0},
                               {watch->logs[1], POLLIN, 0}};
        const int64_t deadline = killed ? AE_NEVER : order->deadline_ns;
        if (killed)
            fds[0].fd = -1;
        if (poll(fds, 4, ae_deadline_poll_ms(deadline)) < 0 && errno != EINTR)
            _exit(1);
        for (int i = 0; i < 2; i++)
            if (fds[2 + i].revents && drain(watch->logs[i], i) < 0) {
                (void)close(watch->logs[i]);
                watch->logs[i] = -1;
            }
        if (fds[1].revents) {
            struct signalfd_siginfo info;
            (void)!read(watch->signals, &info, sizeof info);
            int status;
            struct rusage usage;
            pid_t pid;
            while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
                if (pid == watch->child) {
                    *end = end_of(status, &usage);
                    return outcome;
                }
        }
        if (killed)
            continue;
        if (fds[0].revents) {
            struct ae_wire_packet packet;
            const ssize_t n = recv(order->socket, &packet, sizeof packet, MSG_DONTWAIT);
            if (n >= 0 || (errno != EAGAIN && errno != EINTR)) { /* an order to kill, or the parent is gone */
                outcome = AE_PROC_KILLED;
                killed = 1;
            }
        } else if (ae_deadline_left(deadline) == 0) {
            outcome = AE_PROC_TIMED_OUT;
            killed = 1;
        } else if (order->log_max && order->log_total[0] + order->log_total[1] > order->log_max) {
            outcome = AE_PROC_LOG_LIMIT;
            killed = 1;
        }
        if (killed) {
            kill_group();
            (void)kill(watch->child, SIGKILL);
        }
    }
}

static void report(const struct watch *watch, int outcome, struct end end, int64_t wall_ns)
{
    if (watch->up >= 0) {
        struct end told;
        if (read(watch->up, &told, sizeof told) == sizeof told)
            end = told;
        else if (outcome == AE_PROC_EXITED) /* PID 1 was killed from outside, and all with it */
            end.status = SIGKILL;
    }
    struct ae_wire_packet packet = {.type = AE_WIRE_ENDED,
                                    .outcome = outcome,
                                    .left_children = end.left_children,
                                    .layers = layers,
                                    .wall_ns = wall_ns,
                                    .cpu_ns = end.cpu_ns,
                                    .peak_rss = end.peak_rss};
    if (outcome == AE_PROC_EXITED && WIFSIGNALED(end.status)) {
        packet.outcome = AE_PROC_SIGNALED;
        packet.signal = WTERMSIG(end.status);
    } else if (outcome == AE_PROC_EXITED) {
        packet.code = WEXITSTATUS(end.status);
    }
    send_packet(&packet);
}

static void read_order(int memory)
{
    struct stat st;
    if (fstat(memory, &st) != 0 || (size_t)st.st_size < sizeof *order)
        _exit(2);
    order = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (order == MAP_FAILED || order->magic != AE_WIRE_MAGIC || order->size != (uint64_t)st.st_size)
        _exit(2);
    char *text = (char *)order + order->texts_at;
    char **lists[] = {NULL, NULL, NULL};
    const uint32_t counts[] = {order->argc, order->envc, order->tmpfs_count};
    for (int i = 0; i < 3; i++) {
        if (!(lists[i] = calloc(counts[i] + 1, sizeof *lists[i])))
            _exit(2);
        for (uint32_t k = 0; k < counts[i]; k++) {
            lists[i][k] = text;
            text += strlen(text) + 1;
        }
    }
    argv_of = lists[0];
    env_of = lists[1];
    tmpfs_of = lists[2];
    cwd_of = text;
}

/* Signals of the caller's terminal that came between fork and session: they were not for us, the parent decides. To
 * ignore a signal discards the pending one. */
static void forget_signals(void)
{
    for (int number = 1; number < NSIG; number++)
        if (signal(number, SIG_IGN) != SIG_ERR)
            (void)signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    forget_signals();
    const int memory = atoi(argv[1]);
    read_order(memory);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    null_standard_fds();
    int keep[AE_WIRE_FDS + 3], kept = 0;
    keep[kept++] = order->socket;
    if (order->landlock_fd >= 0)
        keep[kept++] = order->landlock_fd;
    if (order->cgroup_fd >= 0)
        keep[kept++] = order->cgroup_fd;
    for (unsigned i = 0; i < order->fd_count; i++)
        keep[kept++] = order->fds[i].fd;
    close_others(keep, kept);
    for (int i = 0; i < kept; i++) /* the program gets copies under the numbers asked for, never these */
        (void)fcntl(keep[i], F_SETFD, FD_CLOEXEC);
    open_group();

    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    struct watch watch = {.up = -1, .signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK)};
    int out[2], err[2], up[2] = {-1, -1}, down[2] = {-1, -1};
    if (watch.signals < 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        fail_start(AE_WIRE_SETUP, errno);
    /* Only our ends: the flag belongs to the end, and the program's ends stay blocking. */
    (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(err[0], F_SETFL, O_NONBLOCK);
    watch.logs[0] = out[0];
    watch.logs[1] = err[0];

    set_up_namespaces();
    program_fd = open(argv_of[0], O_PATH | O_CLOEXEC);
    (void)prctl(PR_SET_DUMPABLE, 0); /* nothing of the program's may look into us */
    struct started started;
    if (layers & AE_PROC_PID_NS) {
        if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0 || (watch.child = fork()) < 0)
            fail_start(AE_WIRE_SETUP, errno);
        if (watch.child == 0) {
            (void)close(up[0]);
            (void)close(down[1]);
            run_inside(up[1], down[0], out[1], err[1]);
        }
        (void)close(up[1]);
        (void)close(down[0]);
        watch.up = up[0];
        started = (struct started){AE_WIRE_SETUP, ECHILD, layers};
        while (read(up[0], &started, sizeof started) < 0 && errno == EINTR) {
        }
    } else {
        set_up_mounts();
        int status[2];
        if ((watch.child = fork_program(status, out[1], err[1])) < 0)
            fail_start(AE_WIRE_SETUP, errno);
        (void)close(status[1]);
        started = await_exec(status[0]);
        (void)close(status[0]);
    }
    const int64_t began = ae_now_ns();
    (void)close(out[1]);
    (void)close(err[1]);
    for (unsigned i = 0; i < order->fd_count; i++)
        (void)close(order->fds[i].fd);
    if (order->landlock_fd >= 0)
        (void)close(order->landlock_fd);
    if (program_fd >= 0)
        (void)close(program_fd);
    layers = started.layers;
    send_packet(&(struct ae_wire_packet){
        .type = AE_WIRE_STARTED, .step = started.step, .error = started.error, .layers = layers});

    /* The program is not reaped before the parent has a pidfd on it: its number is its own until then. */
    struct ae_wire_packet answer = {0};
    ssize_t n;
    while ((n = recv(order->socket, &answer, sizeof answer, 0)) < 0 && errno == EINTR) {
    }
    struct end end = {0};
    int outcome = AE_PROC_KILLED;
    if (n == sizeof answer && answer.type == AE_WIRE_GO) {
        if (down[1] >= 0)
            (void)!write(down[1], "", 1);
        (void)raise(SIGCHLD); /* it may have ended before, and look at it once */
        outcome = supervise(&watch, &end);
    } else {
        (void)kill(watch.child, SIGKILL);
        if (down[1] >= 0)
            (void)close(down[1]);
    }
    const int64_t ended = ae_now_ns();
    if (sweep() && watch.up < 0)
        end.left_children = 1;
    for (int i = 0; i < 2; i++) /* what lies in the pipes still; nobody is left to write more */
        for (int more = 0; watch.logs[i] >= 0 && more < 1024 && drain(watch.logs[i], i) > 0; more++) {
        }
    report(&watch, outcome, end, ended - began);
    return 0;
}
