#include "proc/proc.h"

#include "base/clock.h"
#include "base/file.h"
#include "proc/image.h"
#include "proc/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(AE_WIRE_FDS == 64 && AE_WIRE_LIMITS == 16, "proc.h names these numbers");

/* How long a supervisor may take to start, and the program to disappear once its supervisor was killed. */
#define START_LIMIT (30 * AE_SEC)
#define REAP_LIMIT  (10 * AE_SEC)

struct ae_proc {
    struct ae_wire_block *block; /* shared with the supervisor; what we rely on is kept beside it */
    size_t block_size, logs_at, log_bytes;
    int socket;
    pid_t supervisor; /* 0: reaped */
    pid_t pid;
    int pidfd;
    uint64_t layers;
    bool ended, told;
    struct ae_wire_packet end; /* type 0: lost */
};

static const char *const layer_names[] = {"user_ns",   "mount_ns",     "pid_ns",      "net_ns",   "ipc_ns",
                                          "uts_ns",    "cgroup_ns",    "private_proc", "private_tmp", "landlock",
                                          "other_uid", "no_caps",      "no_new_privs", "cgroup"};

const char *ae_proc_layers_text(uint64_t layers, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (size_t i = 0; i < sizeof layer_names / sizeof *layer_names; i++)
        if ((layers >> i & 1) && used < size) {
            const int n = snprintf(text + used, size - used, "%s%s", used ? " " : "", layer_names[i]);
            used += n > 0 ? (size_t)n : 0;
        }
    return text;
}

const char *ae_proc_outcome_name(enum ae_proc_outcome outcome)
{
    static const char *const names[] = {"exited", "signaled", "timed_out", "log_limit", "killed", "lost"};
    return (unsigned)outcome < sizeof names / sizeof *names ? names[outcome] : "?";
}

/* --- the order ------------------------------------------------------------------------------------------ */

static size_t list_size(const char *const *list, uint32_t *count)
{
    size_t size = 0;
    *count = 0;
    for (; list && list[*count]; ++*count)
        size += strlen(list[*count]) + 1;
    return size;
}

static char *list_copy(char *at, const char *const *list)
{
    for (; list && *list; list++)
        at = stpcpy(at, *list) + 1;
    return at;
}

static int check_spec(const struct ae_proc_spec *spec, struct ae_error *err)
{
    if (!spec->argv || !spec->argv[0] || spec->argv[0][0] != '/')
        return ae_error_set(err, AE_E_USAGE, "a program is started by its absolute path");
    if (spec->fd_count > AE_WIRE_FDS || spec->limit_count > AE_WIRE_LIMITS)
        return ae_error_set(err, AE_E_USAGE, "too many descriptors or limits for one program");
    for (size_t i = 0; i < spec->fd_count; i++) {
        if (spec->fds[i].number < 3 || spec->fds[i].number > 255 || fcntl(spec->fds[i].fd, F_GETFD) < 0)
            return ae_error_set(err, AE_E_USAGE, "descriptor %d cannot be passed on as %d", spec->fds[i].fd,
                                spec->fds[i].number);
        for (size_t k = 0; k < i; k++)
            if (spec->fds[k].number == spec->fds[i].number)
                return ae_error_set(err, AE_E_USAGE, "two descriptors are to become %d", spec->fds[i].number);
    }
    return AE_OK;
}

/* Fills a block in new shared memory, all but the descriptor numbers of the socket. */
static int make_block(const struct ae_proc_spec *spec, struct ae_wire_block **ret, int *ret_fd, struct ae_error *err)
{
    const char *cwd = spec->cwd ? spec->cwd : "/";
    const uint64_t log_bytes = spec->log_bytes ? spec->log_bytes : AE_PROC_LOG_BYTES;
    uint32_t argc, envc, tmpfs_count;
    const size_t texts = list_size(spec->argv, &argc) + list_size(spec->env, &envc) +
                         list_size(spec->tmpfs, &tmpfs_count) + strlen(cwd) + 1;
    const size_t size = sizeof **ret + texts + 2 * log_bytes;
    ae_autoclose int fd = memfd_create("ae-order", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return ae_error_errno(err, AE_E_ENV, errno, "no shared memory to start a program with");
    struct ae_wire_block *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (block == MAP_FAILED)
        return ae_error_errno(err, AE_E_NOMEM, errno, "no memory to start a program with");
    *block = (struct ae_wire_block){
        .magic = AE_WIRE_MAGIC,
        .size = size,
        .texts_at = sizeof *block,
        .logs_at = sizeof *block + texts,
        .argc = argc,
        .envc = envc,
        .tmpfs_count = tmpfs_count,
        .fd_count = (uint32_t)spec->fd_count,
        .limit_count = (uint32_t)spec->limit_count,
        .has_affinity = spec->affinity != NULL,
        .landlock_fd = (spec->layers & AE_PROC_LANDLOCK) ? spec->landlock_fd : -1,
        .cgroup_fd = (spec->layers & AE_PROC_CGROUP) ? spec->cgroup_fd : -1,
        .layers = spec->layers | spec->required,
        .required = spec->required,
        .read_only = spec->read_only,
        .proc_access = spec->proc_access,
        .tmpfs_bytes = spec->tmpfs_bytes ? spec->tmpfs_bytes : (uint64_t)64 << 20,
        .deadline_ns = spec->timeout_ns > 0 ? ae_deadline_in(spec->timeout_ns) : AE_NEVER,
        .log_bytes = log_bytes,
        .log_max = spec->log_max,
    };
    if (spec->affinity)
        block->affinity = *spec->affinity;
    for (size_t i = 0; i < spec->fd_count; i++) {
        block->fds[i].fd = spec->fds[i].fd;
        block->fds[i].number = spec->fds[i].number;
    }
    for (size_t i = 0; i < spec->limit_count; i++) {
        block->limits[i].resource = spec->limits[i].resource;
        block->limits[i].value = spec->limits[i].value;
    }
    char *at = list_copy((char *)block + block->texts_at, spec->argv);
    at = list_copy(at, spec->env);
    at = list_copy(at, spec->tmpfs);
    strcpy(at, cwd);
    *ret = block;
    *ret_fd = fd;
    fd = -1; /* the caller's now */
    return AE_OK;
}

/* posix_spawn shares our memory until its exec, so its cost does not grow with us; all its steps are safe beside other
 * threads. A descriptor copied onto itself loses its close-on-exec flag in the child alone. */
static int spawn_supervisor(struct ae_proc *proc, int memory, int socket, struct ae_error *err)
{
    char path[64], number[16];
    int rc = ae_init_path(path, err);
    if (rc != AE_OK)
        return rc;
    snprintf(number, sizeof number, "%d", memory);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ae_error_set(err, AE_E_NOMEM, "no memory to start a program with");
    if (posix_spawnattr_init(&attr) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return ae_error_set(err, AE_E_NOMEM, "no memory to start a program with");
    }
    sigset_t all;
    sigfillset(&all);
    /* In a session of its own it gets no signals from our terminal. One that arrives before then stays blocked, and
     * init.c forgets it. */
    int failed = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    failed |= posix_spawnattr_setsigdefault(&attr, &all);
    failed |= posix_spawnattr_setsigmask(&attr, &all);
    failed |= posix_spawn_file_actions_adddup2(&actions, memory, memory);
    failed |= posix_spawn_file_actions_adddup2(&actions, socket, socket);
    const struct ae_wire_block *block = proc->block;
    if (block->landlock_fd >= 0)
        failed |= posix_spawn_file_actions_adddup2(&actions, block->landlock_fd, block->landlock_fd);
    if (block->cgroup_fd >= 0)
        failed |= posix_spawn_file_actions_adddup2(&actions, block->cgroup_fd, block->cgroup_fd);
    for (uint32_t i = 0; i < block->fd_count; i++)
        failed |= posix_spawn_file_actions_adddup2(&actions, block->fds[i].fd, block->fds[i].fd);
    if (failed) {
        rc = ae_error_set(err, AE_E_NOMEM, "no memory to start a program with");
    } else {
        char name[] = "ae-init";
        char *const argv[] = {name, number, NULL}, *const env[] = {NULL};
        const int error = posix_spawn(&proc->supervisor, path, &actions, &attr, argv, env);
        if (error) {
            proc->supervisor = 0;
            rc = ae_error_errno(err, AE_E_ENV, error, "no process can be started (is /proc mounted?)");
        }
    }
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* --- talking -------------------------------------------------------------------------------------------- */

/* One packet before the deadline; *ret_pid is its sender's. 1, 0 at the deadline, -1 when the other side is gone. */
static int receive(int socket, int64_t deadline_ns, struct ae_wire_packet *ret, pid_t *ret_pid)
{
    for (;;) {
        struct pollfd pfd = {socket, POLLIN, 0};
        const int ready = poll(&pfd, 1, ae_deadline_poll_ms(deadline_ns));
        if (ready < 0 && errno != EINTR)
            return -1;
        if (ready <= 0) {
            if (ready == 0 && ae_deadline_left(deadline_ns) == 0)
                return 0;
            continue;
        }
        union {
            char bytes[CMSG_SPACE(sizeof(struct ucred))];
            struct cmsghdr align;
        } control;
        struct iovec piece = {ret, sizeof *ret};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        const ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n != sizeof *ret)
            return -1;
        *ret_pid = 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
                struct ucred who;
                memcpy(&who, CMSG_DATA(c), sizeof who);
                *ret_pid = who.pid;
            }
        return 1;
    }
}

static void reap_supervisor(struct ae_proc *proc)
{
    if (proc->supervisor > 0)
        while (waitpid(proc->supervisor, NULL, 0) < 0 && errno == EINTR) {
        }
    proc->supervisor = 0;
}

static void lose(struct ae_proc *proc)
{
    if (proc->supervisor > 0)
        (void)kill(proc->supervisor, SIGKILL);
    reap_supervisor(proc);
    if (proc->pidfd >= 0) { /* PR_SET_PDEATHSIG has it killed; this waits for it */
        (void)syscall(SYS_pidfd_send_signal, proc->pidfd, SIGKILL, NULL, 0);
        struct pollfd pfd = {proc->pidfd, POLLIN, 0};
        (void)poll(&pfd, 1, (int)(REAP_LIMIT / AE_MS));
    }
    proc->ended = true;
    proc->end = (struct ae_wire_packet){.outcome = AE_PROC_LOST, .layers = proc->layers};
}

static const char *step_text(int step)
{
    static const char *const texts[] = {
        [AE_WIRE_NONE] = "start",
        [AE_WIRE_SETUP] = "set up processes and pipes",
        [AE_WIRE_FDS_PUT] = "place its descriptors",
        [AE_WIRE_AFFINITY] = "bind it to its processors",
        [AE_WIRE_LIMIT] = "set its limits",
        [AE_WIRE_CWD] = "enter its folder",
        [AE_WIRE_MISSING] = "isolate it",
        [AE_WIRE_EXEC] = "execute it",
    };
    return step >= 0 && step <= AE_WIRE_EXEC ? texts[step] : "start";
}

static int await_start(struct ae_proc *proc, const struct ae_proc_spec *spec, struct ae_error *err)
{
    const int64_t deadline = ae_deadline_in(START_LIMIT);
    for (;;) {
        struct ae_wire_packet packet;
        pid_t sender;
        const int got = receive(proc->socket, deadline, &packet, &sender);
        if (got <= 0) {
            lose(proc);
            return ae_error_set(err, got == 0 ? AE_E_TIMEOUT : AE_E_ENV, "%s: its supervisor %s", spec->argv[0],
                                got == 0 ? "did not start it in 30 s" : "was killed before it could start it");
        }
        if (packet.type == AE_WIRE_HELLO) {
            proc->pid = sender;
            proc->pidfd = (int)syscall(SYS_pidfd_open, sender, 0);
        } else if (packet.type == AE_WIRE_STARTED && packet.step != AE_WIRE_NONE) {
            if (packet.step == AE_WIRE_MISSING) {
                char text[256];
                return ae_error_set(err, AE_E_ENV,
                                    "%s: required isolation is refused here: %s (a container or the kernel forbids it)",
                                    spec->argv[0], ae_proc_layers_text(spec->required & ~packet.layers, text, sizeof text));
            }
            return ae_error_errno(err, AE_E_ENV, packet.error, "cannot start %s: cannot %s", spec->argv[0],
                                  step_text(packet.step));
        } else if (packet.type == AE_WIRE_STARTED) {
            proc->layers = packet.layers;
            packet = (struct ae_wire_packet){.type = AE_WIRE_GO};
            (void)!send(proc->socket, &packet, sizeof packet, MSG_NOSIGNAL);
            return AE_OK;
        }
    }
}

/* --- the interface -------------------------------------------------------------------------------------- */

int ae_proc_start(struct ae_proc **ret, const struct ae_proc_spec *spec, struct ae_error *err)
{
    int rc = check_spec(spec, err);
    if (rc != AE_OK)
        return rc;
    struct ae_proc *proc = malloc(sizeof *proc);
    if (!proc)
        return ae_error_set(err, AE_E_NOMEM, "no memory to start a program with");
    *proc = (struct ae_proc){.socket = -1, .pidfd = -1};
    ae_autoclose int memory = -1;
    ae_autoclose int theirs = -1;
    rc = make_block(spec, &proc->block, &memory, err);
    if (rc == AE_OK) {
        proc->block_size = (size_t)proc->block->size;
        proc->logs_at = (size_t)proc->block->logs_at;
        proc->log_bytes = (size_t)proc->block->log_bytes;
    }
    int pair[2];
    if (rc == AE_OK && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        rc = ae_error_errno(err, AE_E_ENV, errno, "no socket to start a program with");
    if (rc == AE_OK) {
        proc->socket = pair[0];
        theirs = pair[1];
        if (setsockopt(proc->socket, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) != 0)
            rc = ae_error_errno(err, AE_E_ENV, errno, "no socket to start a program with");
    }
    if (rc == AE_OK) {
        proc->block->socket = theirs;
        rc = spawn_supervisor(proc, memory, theirs, err);
    }
    if (rc == AE_OK) {
        (void)close(theirs);
        theirs = -1;
        rc = await_start(proc, spec, err);
    }
    if (rc != AE_OK) {
        ae_proc_free(proc);
        return rc;
    }
    *ret = proc;
    return AE_OK;
}

bool ae_proc_poll(struct ae_proc *proc, int64_t wait_ns)
{
    const int64_t deadline = ae_deadline_in(wait_ns);
    while (!proc->ended) {
        pid_t sender;
        struct ae_wire_packet packet;
        const int got = receive(proc->socket, deadline, &packet, &sender);
        if (got == 0)
            break;
        if (got < 0) {
            lose(proc);
        } else if (packet.type == AE_WIRE_ENDED) {
            proc->ended = true;
            proc->end = packet;
            reap_supervisor(proc);
        }
    }
    return proc->ended;
}

int ae_proc_fd(const struct ae_proc *proc)
{
    return proc->socket;
}

pid_t ae_proc_pid(const struct ae_proc *proc)
{
    return proc->pid;
}

int ae_proc_pidfd(const struct ae_proc *proc)
{
    return proc->pidfd;
}

uint64_t ae_proc_layers(const struct ae_proc *proc)
{
    return proc->layers;
}

/* Head, a line about what is left out, tail. */
static int take_log(const struct ae_proc *proc, int stream, struct ae_proc_stream *ret)
{
    const char *area = (const char *)proc->block + proc->logs_at + (size_t)stream * proc->log_bytes;
    const size_t head = proc->log_bytes / 2, ring = proc->log_bytes - head;
    const uint64_t total = proc->block->log_total[stream];
    char marker[96] = "";
    if (total > proc->log_bytes)
        snprintf(marker, sizeof marker, "\n[%llu bytes left out]\n", (unsigned long long)(total - proc->log_bytes));
    const size_t marker_size = strlen(marker), kept = total < proc->log_bytes ? (size_t)total : proc->log_bytes;
    char *text = malloc(kept + marker_size + 1), *at = text;
    if (!text)
        return -1;
    const size_t first = kept < head ? kept : head;
    at = mempcpy(at, area, first);
    at = mempcpy(at, marker, marker_size);
    const size_t rest = kept - first;
    const size_t start = rest == ring ? (size_t)((total - head) % ring) : 0; /* oldest byte of a full ring */
    const size_t to_end = rest < ring - start ? rest : ring - start;
    at = mempcpy(at, area + head + start, to_end);
    at = mempcpy(at, area + head, rest - to_end);
    *at = 0;
    *ret = (struct ae_proc_stream){.text = text, .size = (size_t)(at - text), .total = total};
    return 0;
}

int ae_proc_wait(struct ae_proc *proc, struct ae_proc_result *ret, struct ae_error *err)
{
    if (proc->told)
        return ae_error_set(err, AE_E_INTERNAL, "the end of a program was asked for twice");
    (void)ae_proc_poll(proc, AE_NEVER);
    struct ae_proc_result result = {.outcome = (enum ae_proc_outcome)proc->end.outcome,
                                    .code = proc->end.code,
                                    .signal = proc->end.signal,
                                    .left_children = proc->end.left_children != 0,
                                    .wall_ns = proc->end.wall_ns,
                                    .cpu_ns = proc->end.cpu_ns,
                                    .peak_rss = proc->end.peak_rss,
                                    .layers = proc->end.layers};
    if (take_log(proc, 0, &result.out) != 0 || take_log(proc, 1, &result.err) != 0) {
        ae_proc_result_release(&result);
        return ae_error_set(err, AE_E_NOMEM, "no memory for what a program printed");
    }
    proc->told = true;
    *ret = result;
    return AE_OK;
}

void ae_proc_kill(struct ae_proc *proc)
{
    const struct ae_wire_packet packet = {.type = AE_WIRE_KILL};
    if (!proc->ended)
        (void)!send(proc->socket, &packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ae_proc_free(struct ae_proc *proc)
{
    if (!proc)
        return;
    if (proc->supervisor > 0) {
        ae_proc_kill(proc);
        if (!ae_proc_poll(proc, REAP_LIMIT))
            lose(proc);
    }
    if (proc->socket >= 0)
        (void)close(proc->socket);
    if (proc->pidfd >= 0)
        (void)close(proc->pidfd);
    if (proc->block)
        (void)munmap(proc->block, proc->block_size);
    free(proc);
}

void ae_proc_result_release(struct ae_proc_result *result)
{
    free(result->out.text);
    free(result->err.text);
    *result = (struct ae_proc_result){0};
}

int ae_proc_run(const struct ae_proc_spec *spec, struct ae_proc_result *ret, struct ae_error *err)
{
    struct ae_proc *proc;
    int rc = ae_proc_start(&proc, spec, err);
    if (rc != AE_OK)
        return rc;
    rc = ae_proc_wait(proc, ret, err);
    ae_proc_free(proc);
    return rc;
}
