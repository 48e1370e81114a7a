#include "run/runner.h"

#include "base/clock.h"
#include "base/file.h"
#include "run/libraries.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define READY_TIMEOUT (60 * AE_SEC) /* a device's context takes a quarter of a second; a loaded machine longer */
/* How long a sleeping wait goes on before it looks whether the worker is still there. */
#define LOOK_INTERVAL (20 * AE_MS)
#define SPINS_PER_LOOK 4096
/* On two cores the parent may keep one from the submission for so long; about what waking it up takes. */
#define SPIN_BRIEFLY   20000 /* ns */
/* Arming the worker wakes it up, and on a device takes a launch. */
#define SPIN_ARMING    300000 /* ns */
#define TMP_BYTES ((uint64_t)16 << 20)
#define FILES_MAX 256
/* What a tool that runs the worker may have instead, and what it cannot live with. */
#define TOOL_TMP_BYTES  ((uint64_t)256 << 20)
#define TOOL_FILES_MAX  1024
#define TOOL_ARGS_MAX   32
#define TOOL_LAYERS_OFF (AE_PROC_LANDLOCK | AE_PROC_NET_NS | AE_LAYER_FILTER_1 | AE_LAYER_FILTER_2 | GROUP_LAYERS)
#define GROUP_LAYERS    (AE_PROC_CGROUP | AE_LAYER_MEMORY | AE_LAYER_PIDS)
#define TOOL_WORKER_FD  200 /* the worker's file: its folder may be closed to the user that it runs as */
/* Address space beside memory and arguments: libraries, and what the C library sets aside for each thread's heap. */
#define SPACE_EXTRA     ((uint64_t)8 << 30)
#define SPACE_OF_A_CORE ((uint64_t)256 << 20)
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 /* the sanitizer's shadow takes terabytes of address space */
#else
#define SANITIZED 0
#endif
/* In its control group a worker may have its memory, the arguments, and what the kernel and a driver hold for it. */
#define GROUP_EXTRA      ((uint64_t)1 << 30)
#define GROUP_EXTRA_CUDA ((uint64_t)4 << 30)
#define GROUP_PIDS       4096 /* processes and threads */
#define TIGHT_MEMORY     ((uint64_t)128 << 20)
#define TIGHT_PIDS       32
#define SANITIZER_FACTOR 4
/* An idle device lowers its clocks, which triples a short call. */
#define CLOCK_RAMP_MS 20
#define CLOCK_KEEP_MS 1

/* What a worker may see of the file system. Libraries need reading only; executed are the worker itself and, by the
 * kernel on its behalf, the dynamic loader. */
static const struct ae_landlock_rule view[] = {
    {"/lib64/ld-linux-x86-64.so.2", AE_LANDLOCK_READ | AE_LANDLOCK_EXECUTE, true},
    {"/lib/ld-linux-aarch64.so.1", AE_LANDLOCK_READ | AE_LANDLOCK_EXECUTE, true},
    {"/etc/ld.so.cache", AE_LANDLOCK_READ, true},
    {"/dev/null", AE_LANDLOCK_READ | AE_LANDLOCK_WRITE, true},
    {"/dev/zero", AE_LANDLOCK_READ, true},
    {"/dev/urandom", AE_LANDLOCK_READ, true},
    /* Only the size of the machine is told there; OpenMP asks for it. */
    {"/sys/devices/system/cpu", AE_LANDLOCK_READ | AE_LANDLOCK_LIST, true},
};

/* A device's libraries come in any number, and open more. */
static const struct ae_landlock_rule library_view[] = {
    {"/lib", AE_LANDLOCK_READ, true},
    {"/lib64", AE_LANDLOCK_READ, true},
    {"/usr/lib", AE_LANDLOCK_READ, true},
    {"/usr/lib64", AE_LANDLOCK_READ, true},
};

static const struct ae_landlock_rule device_view[] = {
    {"/usr/local/nvidia", AE_LANDLOCK_READ, true},
    {"/sys/devices/system", AE_LANDLOCK_READ | AE_LANDLOCK_LIST, true}, /* CUPTI */
    {"/dev/nvidiactl", AE_LANDLOCK_READ | AE_LANDLOCK_WRITE | AE_LANDLOCK_IOCTL, true},
    {"/dev/nvidia-uvm", AE_LANDLOCK_READ | AE_LANDLOCK_WRITE | AE_LANDLOCK_IOCTL, true},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A ruleset for the target, or -1 where the kernel has no landlock. */
static int make_view(const struct ae_runner_options *options)
{
    struct ae_landlock_rule rules[COUNT(view) + COUNT(library_view) + COUNT(device_view) + AE_LIBRARIES_MAX + 4];
    char device[64], cuda_lib[4096];
    size_t n = 0;
    ae_autofree struct ae_libraries *libraries = calloc(1, sizeof *libraries);
    const bool known = options->target == AE_CPU && libraries && ae_libraries_find(libraries);
    for (size_t i = 0; i < COUNT(view); i++)
        rules[n++] = view[i];
    for (size_t i = 0; !known && i < COUNT(library_view); i++)
        rules[n++] = library_view[i];
    for (size_t i = 0; known && i < libraries->count; i++)
        rules[n++] = (struct ae_landlock_rule){libraries->path[i], AE_LANDLOCK_READ, true};
    rules[n++] = (struct ae_landlock_rule){options->worker, AE_LANDLOCK_READ | AE_LANDLOCK_EXECUTE, false};
    if (options->target == AE_CUDA) {
        for (size_t i = 0; i < COUNT(device_view); i++)
            rules[n++] = device_view[i];
        snprintf(device, sizeof device, "/dev/nvidia%d", options->device);
        rules[n++] = (struct ae_landlock_rule){device, AE_LANDLOCK_READ | AE_LANDLOCK_WRITE | AE_LANDLOCK_IOCTL, true};
        if (options->cuda_lib && realpath(options->cuda_lib, cuda_lib))
            rules[n++] = (struct ae_landlock_rule){cuda_lib, AE_LANDLOCK_READ, true};
        rules[n++] = (struct ae_landlock_rule){"/proc", AE_LANDLOCK_READ | AE_LANDLOCK_WRITE, true};
    } else {
        rules[n++] = (struct ae_landlock_rule){"/proc", AE_LANDLOCK_READ, true};
    }
    int fd;
    return ae_landlock_make(rules, n, AE_LANDLOCK_NET | AE_LANDLOCK_SCOPE, &fd, NULL) == AE_OK ? fd : -1;
}

static int make_memfd(const char *name, size_t size, struct ae_error *err)
{
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
        const int saved = errno;
        if (fd >= 0)
            (void)close(fd);
        return ae_error_errno(err, AE_E_NOMEM, saved, "cannot make shared memory for a worker");
    }
    return fd;
}

static void *map_shared(int fd, size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

static int object_memfd(const void *object, size_t size, struct ae_error *err)
{
    const int fd = make_memfd("submission", 0, err);
    if (fd < 0)
        return fd;
    if (ae_write_all(fd, object, size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
        const int saved = errno;
        (void)close(fd);
        return ae_error_errno(err, AE_E_NOMEM, saved, "cannot hand the object to a worker");
    }
    return fd;
}

/* For one thread: the first cores get the machine's interrupts. */
static int last_core(const cpu_set_t *cores)
{
    for (int i = CPU_SETSIZE - 1; i >= 0; i--)
        if (CPU_ISSET(i, cores))
            return i;
    return 0;
}

uint64_t ae_runner_wanted_layers(void)
{
    const uint64_t layers = AE_PROC_USER_NS | AE_PROC_MOUNT_NS | AE_PROC_PID_NS | AE_PROC_NET_NS | AE_PROC_IPC_NS |
                            AE_PROC_UTS_NS | AE_PROC_PRIVATE_PROC | AE_PROC_PRIVATE_TMP | AE_PROC_NO_CAPS |
                            AE_PROC_NO_NEW_PRIVS | AE_PROC_LANDLOCK | AE_LAYER_FILTER_1 | AE_LAYER_FILTER_2 |
                            GROUP_LAYERS;
    /* A user namespace is only the means by which one who is not root gets the others. */
    return geteuid() == 0 ? (layers & ~(uint64_t)AE_PROC_USER_NS) | AE_PROC_OTHER_UID : layers;
}

const char *ae_layers_text(uint64_t layers, char *text, size_t size)
{
    static const char *const names[] = {"filter_1", "filter_2", "proved", "cgroup_memory", "cgroup_pids"};
    const uint64_t proc = layers & (AE_LAYER_FILTER_1 - 1);
    ae_proc_layers_text(proc, text, size);
    size_t used = proc ? strlen(text) : 0;
    for (size_t i = 0; i < COUNT(names); i++)
        if ((layers & AE_LAYER_FILTER_1 << i) && used < size) {
            const int n = snprintf(text + used, size - used, "%s%s", used ? " " : "", names[i]);
            used += n > 0 ? (size_t)n : 0;
        }
    return text;
}

/* Filters of system calls that the kernel says are in force on the process; -1 where it does not say. */
static int count_filters(pid_t pid)
{
    char path[64], line[256];
    int count = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "Seccomp_filters: %d", &count) == 1)
            break;
    if (in)
        (void)fclose(in);
    return count;
}

/* The worker says which filters it has put in force, as long as nothing that is not ours runs in it; the kernel must
 * agree that there are so many more than here. */
static uint64_t layers_of(const struct ae_runner *runner)
{
    uint64_t layers = ae_proc_layers(runner->proc);
    if ((layers & AE_PROC_CGROUP) && (runner->group.means & AE_CGROUP_MEMORY))
        layers |= AE_LAYER_MEMORY;
    if ((layers & AE_PROC_CGROUP) && (runner->group.means & AE_CGROUP_PIDS))
        layers |= AE_LAYER_PIDS;
    const int32_t said = runner->answers->filters;
    const int claimed = !!(said & AE_SECCOMP_FIRST) + !!(said & AE_SECCOMP_SECOND);
    const int there = count_filters(ae_proc_pid(runner->proc)), here = count_filters(getpid());
    if (there >= 0 && there - (here < 0 ? 0 : here) < claimed)
        return layers;
    if (said & AE_SECCOMP_FIRST)
        layers |= AE_LAYER_FILTER_1;
    if (said & AE_SECCOMP_SECOND)
        layers |= AE_LAYER_FILTER_2;
    return layers;
}

static void make_group(struct ae_runner *runner)
{
    const struct ae_runner_options *o = &runner->options;
    const uint64_t memory = o->tight ? TIGHT_MEMORY
                                     : o->memory_bytes + runner->buffers.size +
                                           (o->target == AE_CUDA ? GROUP_EXTRA_CUDA : GROUP_EXTRA);
    const struct ae_cgroup_limits limits = {
        .memory_bytes = o->layers_off & AE_LAYER_MEMORY ? 0 : memory * (SANITIZED ? SANITIZER_FACTOR : 1),
        .pids = o->layers_off & AE_LAYER_PIDS ? 0 : o->tight ? TIGHT_PIDS : GROUP_PIDS,
    };
    if (!(o->layers_off & AE_PROC_CGROUP))
        ae_cgroup_make(&runner->group, NULL, &limits);
}

static int spawn(struct ae_runner *runner, const int fds[5], struct ae_error *err)
{
    const struct ae_runner_options *o = &runner->options;
    char library_path[4300], threads[64], visible[128];
    const char *env[12];
    int n = 0;
    const int core_count = o->single ? 1 : CPU_COUNT(o->cores);
    snprintf(threads, sizeof threads, "OMP_NUM_THREADS=%d", core_count);
    env[n++] = "LANG=C";
    env[n++] = "PATH=/usr/bin:/bin";
    env[n++] = threads;
    if (o->target == AE_CUDA) {
        /* The driver otherwise keeps compiled code in the home folder: a channel between submissions. */
        env[n++] = "CUDA_CACHE_DISABLE=1";
        env[n++] = "CUDA_MODULE_LOADING=LAZY";
        snprintf(library_path, sizeof library_path, "LD_LIBRARY_PATH=%s%s/usr/local/nvidia/lib64",
                 o->cuda_lib ? o->cuda_lib : "", o->cuda_lib ? ":" : "");
        env[n++] = library_path;
        if (o->device_uuid && o->device_uuid[0]) {
            snprintf(visible, sizeof visible, "CUDA_VISIBLE_DEVICES=%s", o->device_uuid);
            env[n++] = visible;
        }
    }
    env[n] = NULL;
    const char *argv[TOOL_ARGS_MAX + 2] = {o->worker};
    struct ae_proc_fd passed[6] = {
        {fds[0], AE_FD_ORDERS}, {fds[1], AE_FD_ANSWERS}, {fds[2], AE_FD_DATA}, {fds[3], AE_FD_OBJECT}};
    size_t fd_count = 4;
    if (fds[4] >= 0)
        passed[fd_count++] = (struct ae_proc_fd){fds[4], AE_FD_TRACE};
    ae_autoclose int program = -1;
    if (o->tool) {
        int args = 0;
        while (args < TOOL_ARGS_MAX && o->tool[args]) {
            argv[args] = o->tool[args];
            args++;
        }
        argv[args] = "/proc/self/fd/200"; /* TOOL_WORKER_FD */
        program = open(o->worker, O_RDONLY | O_CLOEXEC);
        if (program < 0)
            return ae_error_errno(err, AE_E_ENV, errno, "cannot open %s", o->worker);
        passed[fd_count++] = (struct ae_proc_fd){program, TOOL_WORKER_FD};
        env[n++] = "HOME=/tmp";
        env[n] = NULL;
    }
    const struct ae_proc_limit limits[] = {
        {RLIMIT_FSIZE, o->tool ? TOOL_TMP_BYTES : TMP_BYTES},
        {RLIMIT_NOFILE, o->tool ? TOOL_FILES_MAX : FILES_MAX},
        {RLIMIT_MSGQUEUE, 0},
        /* Private writable memory. */
        {RLIMIT_DATA, o->memory_bytes},
        /* Shared memory and the page tables of what is only read count in the address space alone; last, since CUDA
         * reserves more of that than there is memory anywhere. */
        {RLIMIT_AS, o->memory_bytes + 2 * runner->buffers.size + SPACE_EXTRA + (uint64_t)core_count * SPACE_OF_A_CORE},
    };
    const bool bounded = o->target == AE_CPU && !SANITIZED && !(o->guards_off & AE_GUARD_SPACE);
    static const char *const hidden[] = {"/tmp", "/dev/shm", "/var/tmp", NULL};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last_core(o->cores), &one);
    ae_autoclose int landlock = o->layers_off & AE_PROC_LANDLOCK ? -1 : make_view(o);
    uint64_t layers = ae_runner_wanted_layers() & (AE_LAYER_FILTER_1 - 1);
    if (landlock < 0)
        layers &= ~(uint64_t)AE_PROC_LANDLOCK;
    if (!runner->group.path[0])
        layers &= ~(uint64_t)AE_PROC_CGROUP;
    const struct ae_proc_spec spec = {
        .argv = argv,
        .env = env,
        .fds = passed,
        .fd_count = fd_count,
        .limits = limits,
        .limit_count = COUNT(limits) - !bounded,
        .affinity = o->single && !o->beside ? &one : o->cores,
        .layers = layers & ~o->layers_off,
        .landlock_fd = landlock,
        .cgroup_fd = runner->group.folder,
        /* The driver names its threads through /proc/self/task/N/comm; a private /proc has no other process. */
        .proc_access = ae_landlock_access(AE_LANDLOCK_READ | AE_LANDLOCK_LIST |
                                          (o->target == AE_CUDA ? AE_LANDLOCK_WRITE : 0)),
        .read_only = !o->tool,
        .tmpfs = hidden,
        .tmpfs_bytes = o->tool ? TOOL_TMP_BYTES : TMP_BYTES,
    };
    const int rc = ae_proc_start(&runner->proc, &spec, err);
    if (rc == AE_OK && !(ae_proc_layers(runner->proc) & AE_PROC_CGROUP))
        ae_cgroup_remove(&runner->group); /* it may not be moved there: signals, then */
    return rc;
}

int64_t ae_oom_kills(void)
{
    static const char name[] = "oom_kill ";
    char line[128];
    int64_t count = -1;
    FILE *in = fopen("/proc/vmstat", "re");
    while (in && count < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, name, sizeof name - 1) == 0)
            count = strtoll(line + sizeof name - 1, NULL, 10);
    if (in)
        fclose(in);
    return count;
}

int ae_runner_start(struct ae_runner *ret, const struct ae_runner_options *options, const void *object,
                    size_t object_size, size_t buffer_bytes, struct ae_error *err)
{
    *ret = (struct ae_runner){.options = *options, .sequence = AE_READY, .oom_kills = ae_oom_kills(), .group_kills = -1};
    ret->buffers.fd = -1;
    ret->group.folder = -1;
    ae_autoclose int orders = make_memfd("acceleval-orders", sizeof *ret->orders, err);
    if (orders < 0)
        return orders;
    ae_autoclose int answers = make_memfd("acceleval-answers", sizeof *ret->answers, err);
    if (answers < 0)
        return answers;
    ae_autoclose int code = object_memfd(object, object_size, err);
    if (code < 0)
        return code;
    ret->orders = map_shared(orders, sizeof *ret->orders);
    ret->answers = map_shared(answers, sizeof *ret->answers);
    if (!ret->orders || !ret->answers)
        return ae_error_set(err, AE_E_NOMEM, "cannot map shared memory for a worker");
    /* From here on nobody can map the orders for writing; kernels before 5.1 lack the seal and the worker then could:
     * it would ring its own bell and gain nothing but confusion. */
    (void)fcntl(orders, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
    (void)fcntl(orders, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    (void)fcntl(answers, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    ae_autoclose int trace = options->trace ? make_memfd("acceleval-trace", sizeof *ret->trace, err) : -1;
    if (options->trace) {
        if (trace < 0)
            return trace;
        ret->trace = map_shared(trace, sizeof *ret->trace);
        if (!ret->trace)
            return ae_error_set(err, AE_E_NOMEM, "cannot map shared memory for a trace");
        (void)fcntl(trace, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
    int rc = ae_buffers_open(&ret->buffers, buffer_bytes, err);
    if (rc != AE_OK)
        return rc;
    ret->buffers.fixed = options->guards_off & AE_GUARD_ADDRESS;
    ret->buffers.stale = options->guards_off & AE_GUARD_POISON;
    ret->orders->target = (int32_t)options->target;
    ret->orders->device = 0; /* of those that it sees */
    ret->orders->spin = (int32_t)options->spin;
    ret->orders->ledger = options->ledger;
    ret->orders->trace = options->trace;
    if (options->tool)
        ret->options.layers_off |= TOOL_LAYERS_OFF;
    ret->orders->filters = (ret->options.layers_off & AE_LAYER_FILTER_1 ? 0 : AE_SECCOMP_FIRST) |
                           (ret->options.layers_off & AE_LAYER_FILTER_2 ? 0 : AE_SECCOMP_SECOND);
    ret->orders->parent = (int32_t)getpid();
    atomic_store(&ret->orders->doorbell, AE_READY);
    make_group(ret);
    const int fds[5] = {orders, answers, ret->buffers.fd, code, trace};
    rc = spawn(ret, fds, err);
    if (rc != AE_OK)
        return rc;
    /* The worker stores AE_READY in done. */
    const int64_t deadline = ae_deadline_in(READY_TIMEOUT);
    while (atomic_load(&ret->answers->done) != AE_READY) {
        const struct timespec look = {0, LOOK_INTERVAL};
        syscall(SYS_futex, &ret->answers->done, FUTEX_WAIT, 0, &look, NULL, 0);
        if (ae_proc_poll(ret->proc, 0)) {
            ret->dead = true;
            return ae_error_set(err, AE_E_ENV, "the worker ended before it was ready");
        }
        if (ae_deadline_left(deadline) == 0)
            return ae_error_set(err, AE_E_ENV, "the worker was not ready within %d s", (int)(READY_TIMEOUT / AE_SEC));
    }
    if (ret->answers->version != AE_CHANNEL_VERSION)
        return ae_error_set(err, AE_E_ENV, "%s is of another build than acceleval: were they replaced just now?",
                            options->worker);
    ret->layers = layers_of(ret);
    ae_watch_own(&ret->watch, ae_proc_pid(ret->proc));
    return AE_OK;
}

void ae_runner_stop(struct ae_runner *runner, char **ret_log, struct ae_proc_result *ret_result)
{
    if (ret_log)
        *ret_log = NULL;
    if (ret_result)
        *ret_result = (struct ae_proc_result){.outcome = AE_PROC_LOST};
    if (runner->proc) {
        struct ae_proc_result result = {0};
        if (!runner->dead)
            ae_proc_kill(runner->proc);
        if (ae_proc_wait(runner->proc, &result, NULL) == AE_OK) {
            if (ret_log && result.out.size + result.err.size > 0) {
                const size_t size = result.out.size + result.err.size;
                char *log = malloc(size + 1);
                if (log) {
                    memcpy(log, result.out.text ? result.out.text : "", result.out.size);
                    memcpy(log + result.out.size, result.err.text ? result.err.text : "", result.err.size);
                    log[size] = 0;
                    *ret_log = log;
                }
            }
            if (ret_result) {
                *ret_result = result;
                ret_result->out = ret_result->err = (struct ae_proc_stream){0};
            }
            ae_proc_result_release(&result);
        }
        runner->group_kills = ae_cgroup_memory_kills(&runner->group);
        ae_proc_free(runner->proc);
        runner->proc = NULL;
    }
    ae_cgroup_remove(&runner->group);
    ae_watch_release(&runner->watch);
    ae_buffers_close(&runner->buffers);
    if (runner->orders)
        (void)munmap(runner->orders, sizeof *runner->orders);
    if (runner->answers)
        (void)munmap(runner->answers, sizeof *runner->answers);
    if (runner->trace)
        (void)munmap(runner->trace, sizeof *runner->trace);
    runner->orders = NULL;
    runner->answers = NULL;
    runner->trace = NULL;
}

static void order(struct ae_runner *runner, enum ae_order command)
{
    struct ae_orders *orders = runner->orders;
    orders->command = (int32_t)command;
    orders->arg_count = runner->buffers.arg_count;
    memcpy(orders->args, runner->buffers.args, sizeof orders->args);
    runner->sequence++;
}

static void wake(struct ae_runner *runner)
{
    syscall(SYS_futex, &runner->orders->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool ae_runner_leave(struct ae_runner *runner, int64_t timeout_ns)
{
    if (runner->dead)
        return true;
    order(runner, AE_ORDER_EXIT);
    atomic_store_explicit(&runner->orders->doorbell, runner->sequence, memory_order_release);
    wake(runner);
    runner->dead = ae_proc_poll(runner->proc, timeout_ns);
    return runner->dead;
}

static enum ae_answer sleep_until_done(struct ae_runner *runner, int64_t deadline)
{
    _Atomic uint32_t *done = &runner->answers->done;
    for (;;) {
        const uint32_t seen = atomic_load_explicit(done, memory_order_acquire);
        if (seen == runner->sequence)
            return AE_ANSWER_DONE;
        if (ae_proc_poll(runner->proc, 0)) {
            /* It may have rung and ended at once. */
            if (atomic_load(done) == runner->sequence)
                return AE_ANSWER_DONE;
            runner->dead = true;
            return AE_ANSWER_DEAD;
        }
        const int64_t left = ae_deadline_left(deadline);
        if (left == 0)
            return AE_ANSWER_TIMEOUT;
        const struct timespec look = {0, left < LOOK_INTERVAL ? left : LOOK_INTERVAL};
        syscall(SYS_futex, done, FUTEX_WAIT, seen, &look, NULL, 0);
    }
}

enum ae_answer ae_runner_command(struct ae_runner *runner, enum ae_order command, int64_t timeout_ns)
{
    if (runner->dead)
        return AE_ANSWER_DEAD;
    if (command == AE_ORDER_LOAD || command == AE_ORDER_UNLOAD || command == AE_ORDER_TRIM)
        runner->watch.held = AE_WATCH_NOTHING; /* comes and goes as ordered */
    order(runner, command);
    atomic_store_explicit(&runner->orders->doorbell, runner->sequence, memory_order_release);
    wake(runner);
    return sleep_until_done(runner, ae_deadline_in(timeout_ns));
}

enum ae_answer ae_runner_ramp(struct ae_runner *runner, bool awake, int64_t timeout_ns)
{
    runner->orders->clock_ramp_ms = runner->options.ledger ? 0 : awake ? CLOCK_KEEP_MS : CLOCK_RAMP_MS;
    return ae_runner_command(runner, AE_ORDER_RAMP, timeout_ns);
}

enum ae_answer ae_runner_arm(struct ae_runner *runner, int64_t timeout_ns, int64_t *ret_took_ns)
{
    *ret_took_ns = 0;
    if (runner->dead)
        return AE_ANSWER_DEAD;
    order(runner, AE_ORDER_ARM);
    const int64_t start = ae_now_ns();
    atomic_store_explicit(&runner->orders->doorbell, runner->sequence, memory_order_release);
    wake(runner);
    /* Sleeping would add what waking up takes, which is more. */
    while (runner->options.spin == AE_SPIN_ALWAYS && ae_now_ns() - start < SPIN_ARMING &&
           atomic_load_explicit(&runner->answers->done, memory_order_acquire) != runner->sequence)
        __builtin_ia32_pause();
    const enum ae_answer answer = sleep_until_done(runner, start + timeout_ns);
    *ret_took_ns = ae_now_ns() - start;
    return answer;
}

const char *ae_runner_text(struct ae_runner *runner)
{
    char *text = runner->text;
    memcpy(text, runner->answers->text, AE_WORKER_TEXT); /* which may change at any moment, its end too */
    text[AE_WORKER_TEXT - 1] = 0;
    for (char *p = text; *p; p++)
        if (!isprint((unsigned char)*p))
            *p = ' ';
    return text;
}

int64_t ae_runner_ring_call(struct ae_runner *runner)
{
    order(runner, AE_ORDER_CALL);
    const bool awake = runner->options.spin == AE_SPIN_ALWAYS;
    const int64_t start = ae_now_ns();
    atomic_store_explicit(&runner->orders->doorbell, runner->sequence, memory_order_release);
    if (!awake)
        wake(runner);
    return start;
}

/* Looks at the rings without sleeping; between the first and the second the outputs are probed. */
static enum ae_answer spin_until_done(struct ae_runner *runner, const struct ae_instance *probe_inst, int64_t deadline,
                                      int64_t *ret_returned_ns, int64_t *ret_done_ns)
{
    _Atomic uint32_t *returned = &runner->answers->returned, *done = &runner->answers->done;
    bool first_seen = false;
    for (uint32_t i = 1;; i++) {
        if (atomic_load_explicit(done, memory_order_acquire) == runner->sequence) {
            *ret_done_ns = ae_now_ns();
            if (!first_seen)
                *ret_returned_ns = *ret_done_ns;
            return AE_ANSWER_DONE;
        }
        if (!first_seen && atomic_load_explicit(returned, memory_order_acquire) == runner->sequence) {
            first_seen = true;
            *ret_returned_ns = ae_now_ns();
            if (probe_inst)
                ae_buffers_probe(&runner->buffers, probe_inst, done, runner->sequence);
            continue;
        }
        __builtin_ia32_pause();
        if (i % SPINS_PER_LOOK == 0) {
            if (ae_deadline_left(deadline) == 0)
                return AE_ANSWER_TIMEOUT;
            if (i % (64 * SPINS_PER_LOOK) == 0 && ae_proc_poll(runner->proc, 0) &&
                atomic_load(done) != runner->sequence) {
                runner->dead = true;
                return AE_ANSWER_DEAD;
            }
        }
    }
}

enum ae_answer ae_runner_wait_call(struct ae_runner *runner, const struct ae_instance *probe_inst, int64_t deadline_ns,
                                   int64_t *ret_returned_ns, int64_t *ret_done_ns)
{
    if (runner->options.spin == AE_SPIN_ALWAYS)
        return spin_until_done(runner, probe_inst, deadline_ns, ret_returned_ns, ret_done_ns);
    if (runner->options.spin == AE_SPIN_BRIEFLY) {
        const int64_t end = ae_now_ns() + SPIN_BRIEFLY;
        while (atomic_load_explicit(&runner->answers->done, memory_order_acquire) != runner->sequence &&
               ae_now_ns() < end)
            __builtin_ia32_pause();
    }
    const enum ae_answer answer = sleep_until_done(runner, deadline_ns);
    *ret_done_ns = *ret_returned_ns = ae_now_ns();
    return answer;
}

static bool stop_by_signal(struct ae_runner *runner)
{
    const pid_t pid = ae_proc_pid(runner->proc);
    char path[64], text[512];
    if (syscall(SYS_pidfd_send_signal, ae_proc_pidfd(runner->proc), SIGSTOP, NULL, 0) != 0)
        return false;
    runner->stopped = true;
    /* The signal is on its way; state T says that it has arrived at all threads. */
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 1000; i++) {
        ae_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
        const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        if (n <= 0)
            return false;
        text[n] = 0;
        const char *state = strrchr(text, ')');
        if (state && (state[2] == 'T' || state[2] == 'Z' || state[2] == 'X'))
            return true;
        usleep(20);
    }
    return false;
}

bool ae_runner_freeze(struct ae_runner *runner)
{
    return ae_cgroup_freeze(&runner->group) || stop_by_signal(runner);
}

void ae_runner_thaw(struct ae_runner *runner)
{
    ae_cgroup_thaw(&runner->group);
    if (runner->stopped)
        (void)syscall(SYS_pidfd_send_signal, ae_proc_pidfd(runner->proc), SIGCONT, NULL, 0);
    runner->stopped = false;
}

int ae_runner_trace(struct ae_runner *runner, int64_t timeout_ns, struct ae_bytes *ret, struct ae_error *err)
{
    if (!runner->trace)
        return ae_error_set(err, AE_E_INTERNAL, "this worker was started without a tracer");
    if (ae_runner_command(runner, AE_ORDER_TRACE, timeout_ns) != AE_ANSWER_DONE ||
        runner->answers->result != AE_WORKER_OK)
        return ae_error_set(err, AE_E_ENV, "the worker hands out no trace: %s", ae_runner_text(runner));
    /* Copied whole where counts can be trusted no more than the rest: only pages that were written exist. */
    uint64_t records = runner->trace->header.record_count;
    if (records > AE_TRACE_RECORDS)
        records = AE_TRACE_RECORDS;
    const size_t size = offsetof(struct ae_trace_memory_map, records) + records * sizeof runner->trace->records[0];
    ret->data = malloc(size + 1);
    if (!ret->data)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a trace");
    memcpy(ret->data, runner->trace, size);
    ret->data[size] = 0;
    ret->size = size;
    return AE_OK;
}

int64_t ae_runner_cpu_ns(const struct ae_runner *runner)
{
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(ae_proc_pid(runner->proc), &clock) != 0 || clock_gettime(clock, &now) != 0)
        return -1;
    return (int64_t)now.tv_sec * AE_SEC + now.tv_nsec;
}
