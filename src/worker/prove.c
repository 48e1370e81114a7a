/* Forbidden acts, tried by a worker that has no object, so that the sandbox is known to deny them here and now and not
 * only meant to. Each tries as an attacker would: by any way that may be open. */
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* errno of a call that came back with `result`; 0: it succeeded. */
static int refusal(long result)
{
    return result < 0 ? errno : 0;
}

static int opens(const char *path, int flags)
{
    const int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)close(fd);
    return refusal(fd);
}

static int read_system(void)
{
    const int readable = opens("/etc/passwd", O_RDONLY), listable = opens("/", O_RDONLY | O_DIRECTORY);
    return readable && listable ? readable : 0;
}

static int write_file(void)
{
    static const char *const folders[] = {".", "/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/home"};
    char path[64];
    int refused = EACCES;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/acceleval-proof", folders[i]);
        refused = opens(path, O_WRONLY | O_CREAT);
        if (!refused) {
            (void)unlink(path);
            return 0;
        }
        if (!opens(folders[i], O_WRONLY | O_TMPFILE))
            return 0;
    }
    return refused;
}

static int see_parent(const struct ae_orders *orders)
{
    static const char *const files[] = {"cmdline", "maps", "environ", "mem", "fd"};
    char path[64];
    int refused = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)orders->parent, files[i]);
        refused = opens(path, O_RDONLY);
        if (!refused)
            return 0;
    }
    return refused;
}

static int make_socket(void)
{
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, 40 /* AF_VSOCK */};
    int refused = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (int type = SOCK_STREAM; type <= SOCK_RAW; type++) {
            const int fd = socket(families[i], type | SOCK_CLOEXEC, 0);
            refused = refusal(fd);
            if (!refused)
                return close(fd), 0;
        }
    return refused;
}

static int forks(void)
{
    const pid_t pid = fork();
    const int refused = refusal(pid);
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    return refused;
}

/* What the process was born with; a driver opens descriptors of its own later. */
static int inherited;

void ae_worker_prove_birth(void)
{
    inherited = EBADF;
    for (int fd = AE_FD_TRACE + 1; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            inherited = 0;
}

static int other_processors(void)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        CPU_SET(i, &all);
    return refusal(sched_setaffinity(0, sizeof all, &all));
}

static int later_signal(void)
{
    const struct itimerval soon = {.it_value = {3600, 0}}, never = {0};
    const int refused = refusal(setitimer(ITIMER_REAL, &soon, NULL));
    if (!refused)
        (void)setitimer(ITIMER_REAL, &never, NULL);
    return refused;
}

static int execs(void)
{
    char *const argv[] = {(char *)"true", NULL};
    (void)execv("/bin/true", argv);
    return errno;
}

static int write_memory(const struct ae_orders *orders)
{
    char byte = 0;
    const struct iovec piece = {&byte, 1};
    return refusal(syscall(SYS_process_vm_writev, orders->parent, &piece, 1, &piece, 1, 0));
}

#define THREADS_MORE 256 /* than a group for this proof takes; processes the filters refuse anyhow */

static void *wait_for(void *gate)
{
    (void)pthread_mutex_lock(gate);
    (void)pthread_mutex_unlock(gate);
    return NULL;
}

/* All at once, as a bomb has them, with stacks so small that no other limit is met. */
static int many_threads(void)
{
    static pthread_t threads[THREADS_MORE];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t small;
    int refused = pthread_attr_init(&small), count = 0;
    (void)pthread_attr_setstacksize(&small, 64 << 10);
    (void)pthread_mutex_lock(&gate);
    while (!refused && count < THREADS_MORE) {
        refused = pthread_create(&threads[count], &small, wait_for, &gate);
        count += !refused;
    }
    (void)pthread_mutex_unlock(&gate);
    while (count > 0)
        (void)pthread_join(threads[--count], NULL);
    (void)pthread_attr_destroy(&small);
    return refused;
}

static int raise_limits(const struct ae_orders *orders)
{
    static const char *const files[] = {"memory.max", "pids.max", "cgroup.freeze", "../cgroup.procs"};
    char path[640];
    int refused = EACCES;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", orders->path, files[i]);
        refused = opens(path, O_WRONLY);
        if (!refused)
            return 0;
    }
    return refused;
}

/* Shared, and touched: no limit of private memory or of address space sees it. Comes back only where it is not denied. */
static int much_memory(void)
{
    const size_t size = (size_t)1 << 30;
    volatile char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return errno;
    for (size_t at = 0; at < size; at += 4096)
        block[at] = 1;
    return munmap((void *)(uintptr_t)block, size), 0;
}

int ae_worker_prove(const struct ae_orders *orders)
{
    errno = 0;
    switch ((enum ae_proof)orders->proof) {
    case AE_PROOF_READ_SYSTEM:
        return read_system();
    case AE_PROOF_READ_SECRET:
        return opens(orders->path, O_RDONLY);
    case AE_PROOF_WRITE_FILE:
        return write_file();
    case AE_PROOF_SEE_PARENT:
        return see_parent(orders);
    case AE_PROOF_SIGNAL_PARENT:
        return refusal(kill(orders->parent, 0));
    case AE_PROOF_SOCKET:
        return make_socket();
    case AE_PROOF_FORK:
        return forks();
    case AE_PROOF_DESCRIPTORS:
        return inherited;
    case AE_PROOF_WRITE_ORDERS:
        return refusal(mprotect((void *)(uintptr_t)orders, sizeof *orders, PROT_READ | PROT_WRITE));
    case AE_PROOF_RESIZE:
        return refusal(ftruncate(AE_FD_DATA, 0));
    case AE_PROOF_PRIVILEGE:
        return refusal(setresuid(0, 0, 0));
    case AE_PROOF_PROCESSORS:
        return other_processors();
    case AE_PROOF_TIMER:
        return later_signal();
    case AE_PROOF_EXEC:
        return execs();
    case AE_PROOF_THREADS:
        return many_threads();
    case AE_PROOF_RAISE_LIMITS:
        return raise_limits(orders);
    case AE_PROOF_MEMORY:
        return much_memory();
    case AE_PROOF_PTRACE:
        return refusal(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    case AE_PROOF_WRITE_MEMORY:
        return write_memory(orders);
    case AE_PROOF_BPF:
        return refusal(syscall(SYS_bpf, 0, NULL, 0));
    case AE_PROOF_IO_URING:
        return refusal(syscall(SYS_io_uring_setup, 1, NULL));
    case AE_PROOF_KEYS:
        return refusal(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    case AE_PROOF_MOUNT:
        return refusal(syscall(SYS_mount, "none", "/proc", "tmpfs", 0, NULL));
    case AE_PROOF_NAMESPACE:
        return refusal(unshare(CLONE_NEWUSER));
    case AE_PROOF_USERFAULT:
        return refusal(syscall(SYS_userfaultfd, 0));
    }
    return ENOSYS;
}
