#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <unistd.h>

/* Rules by what they keep a program from. What an honest program may try and do without gets an errno; what only an
 * attack would try kills, and is reported as such. */
#define KILL(call)                        {.name = call, .stage = AE_SECCOMP_FIRST}
#define KILL_NEW(call, n)                 {.name = call, .number = n, .stage = AE_SECCOMP_FIRST}
#define REFUSE(call)                      {.name = call, .stage = AE_SECCOMP_FIRST, .answer = EPERM}
#define REFUSE_NEW(call, n)               {.name = call, .number = n, .stage = AE_SECCOMP_FIRST, .answer = EPERM}
#define REFUSE_IF(call, t, arg, v)        {call, 0, AE_SECCOMP_FIRST, EPERM, t, arg, v}
#define ANSWER(call, e)                   {.name = call, .stage = AE_SECCOMP_FIRST, .answer = e}
#define LATER(call)                       {.name = call, .stage = AE_SECCOMP_SECOND, .answer = EPERM}
#define LATER_IF(call, t, arg, v)         {call, 0, AE_SECCOMP_SECOND, EPERM, t, arg, v}
#define LATER_ANSWER(call, e)             {.name = call, .stage = AE_SECCOMP_SECOND, .answer = e}

static const struct ae_seccomp_rule rules[] = {
    /* other processes' memory, descriptors and execution */
    KILL("ptrace"),
    KILL("process_vm_readv"),
    KILL("process_vm_writev"),
    KILL("process_madvise"),
    KILL("kcmp"),
    KILL("pidfd_getfd"),
    /* the kernel's wide interfaces, through which filters can be passed by */
    KILL("bpf"),
    KILL("io_uring_setup"),
    KILL("io_uring_enter"),
    KILL("io_uring_register"),
    KILL("userfaultfd"),
    KILL("keyctl"),
    KILL("add_key"),
    KILL("request_key"),
    /* the view of the system */
    KILL("mount"),
    KILL("umount2"),
    KILL("pivot_root"),
    KILL("chroot"),
    KILL("move_mount"),
    KILL("open_tree"),
    KILL("fsopen"),
    KILL("fsconfig"),
    KILL("fsmount"),
    KILL("fspick"),
    KILL_NEW("mount_setattr", 442),
    KILL("setns"),
    KILL("unshare"),
    KILL("open_by_handle_at"),
    KILL("fanotify_init"),
    /* the machine */
    KILL("kexec_load"),
    KILL("kexec_file_load"),
    KILL("init_module"),
    KILL("finit_module"),
    KILL("delete_module"),
    KILL("reboot"),
    KILL("swapon"),
    KILL("swapoff"),
    KILL("acct"),
    KILL("iopl"),
    KILL("ioperm"),
    REFUSE("perf_event_open"),
    REFUSE("syslog"),
    REFUSE("sethostname"),
    REFUSE("setdomainname"),
    REFUSE("settimeofday"),
    REFUSE("clock_settime"),
    REFUSE("adjtimex"),
    REFUSE("clock_adjtime"),
    REFUSE("vhangup"),
    REFUSE("quotactl"),
    /* new processes: threads only. The library falls back from clone3, whose flags a filter cannot see, to clone. */
    REFUSE("execve"),
    REFUSE("execveat"),
    REFUSE("fork"),
    REFUSE("vfork"),
    REFUSE_IF("clone", AE_SECCOMP_LACKS, 0, CLONE_THREAD),
    ANSWER("clone3", ENOSYS),
    /* the network and other ways to a second process; the driver makes a UNIX socket when it starts, and takes only
     * "no such file" for an answer when it clears its name away */
    REFUSE_IF("socket", AE_SECCOMP_NOT, 0, AF_UNIX),
    REFUSE("socketpair"),
    REFUSE("connect"),
    REFUSE("accept"),
    REFUSE("accept4"),
    ANSWER("unlink", ENOENT),
    ANSWER("unlinkat", ENOENT),
    REFUSE("shmget"),
    REFUSE("shmat"),
    REFUSE("shmctl"),
    REFUSE("msgget"),
    REFUSE("msgsnd"),
    REFUSE("msgrcv"),
    REFUSE("semget"),
    REFUSE("semop"),
    REFUSE("semtimedop"),
    REFUSE("mq_open"),
    REFUSE("mq_unlink"),
    REFUSE("inotify_init"),
    REFUSE("inotify_init1"),
    REFUSE("inotify_add_watch"),
    REFUSE("fanotify_mark"),
    REFUSE("pidfd_open"),
    REFUSE("pidfd_send_signal"),
    REFUSE("rt_sigqueueinfo"),
    REFUSE("rt_tgsigqueueinfo"),
    REFUSE_NEW("memfd_secret", 447),
    REFUSE_NEW("process_mrelease", 448),
    /* whom it runs as, where and how urgently: the parent's core is not the submission's */
    REFUSE("setuid"),
    REFUSE("setgid"),
    REFUSE("setreuid"),
    REFUSE("setregid"),
    REFUSE("setresuid"),
    REFUSE("setresgid"),
    REFUSE("setgroups"),
    REFUSE("setfsuid"),
    REFUSE("setfsgid"),
    REFUSE("capset"),
    REFUSE_IF("personality", AE_SECCOMP_NOT, 0, 0xffffffff),
    REFUSE("sched_setaffinity"),
    REFUSE("sched_setscheduler"),
    REFUSE("sched_setparam"),
    REFUSE("sched_setattr"),
    REFUSE("setpriority"),
    REFUSE("ioprio_set"),
    REFUSE("migrate_pages"),
    REFUSE("move_pages"),
    /* files as objects */
    REFUSE("name_to_handle_at"),
    REFUSE("mknod"),
    REFUSE("mknodat"),
    REFUSE("chown"),
    REFUSE("fchown"),
    REFUSE("lchown"),
    REFUSE("fchownat"),
    REFUSE("setxattr"),
    REFUSE("lsetxattr"),
    REFUSE("fsetxattr"),
    REFUSE("removexattr"),
    REFUSE("lremovexattr"),
    REFUSE("fremovexattr"),

    /* once the context exists: nothing that makes, names or changes a file ... */
    LATER_IF("open", AE_SECCOMP_HAS, 1, O_CREAT),
    LATER_IF("openat", AE_SECCOMP_HAS, 2, O_CREAT),
    LATER_IF("open", AE_SECCOMP_HAS, 1, O_TMPFILE & ~O_DIRECTORY),
    LATER_IF("openat", AE_SECCOMP_HAS, 2, O_TMPFILE & ~O_DIRECTORY),
    LATER_ANSWER("openat2", ENOSYS),
    LATER("creat"),
    LATER("memfd_create"),
    LATER("link"),
    LATER("linkat"),
    LATER("symlink"),
    LATER("symlinkat"),
    LATER("mkdir"),
    LATER("mkdirat"),
    LATER("rmdir"),
    LATER("rename"),
    LATER("renameat"),
    LATER("renameat2"),
    LATER("chmod"),
    LATER("fchmod"),
    LATER("fchmodat"),
    LATER("truncate"),
    LATER("ftruncate"),
    /* ... no say in which pages of files that others share stay in memory, nor a look at which do: a note to a later
     * process; pipes of the usual size, so that little can be kept in them ... */
    LATER("fadvise64"),
    LATER("readahead"),
    LATER_IF("preadv2", AE_SECCOMP_NOT, 5, 0),
    LATER_IF("fcntl", AE_SECCOMP_EQUAL, 1, F_SETPIPE_SZ),
    /* ... no socket, nor messages that carry descriptors ... */
    LATER("socket"),
    LATER("bind"),
    LATER("listen"),
    LATER("sendmsg"),
    LATER("sendmmsg"),
    LATER("recvmsg"),
    LATER("recvmmsg"),
    /* ... no signal to another process, and none to itself that comes later: a handler would run in the thread that
     * waits for the doorbell, whose run time is not counted against the submission ... */
    LATER_IF("kill", AE_SECCOMP_NOT_SELF, 0, 0),
    LATER_IF("tgkill", AE_SECCOMP_NOT_SELF, 0, 0),
    LATER("tkill"),
    LATER("alarm"),
    LATER("setitimer"),
    LATER("timer_create"),
    LATER_IF("fcntl", AE_SECCOMP_EQUAL, 1, F_SETOWN),
    LATER_IF("fcntl", AE_SECCOMP_EQUAL, 1, F_SETOWN_EX),
    LATER_IF("fcntl", AE_SECCOMP_EQUAL, 1, F_SETSIG),
    LATER_IF("fcntl", AE_SECCOMP_EQUAL, 1, F_SETLEASE),
    LATER_IF("fcntl", AE_SECCOMP_EQUAL, 1, F_NOTIFY),
    /* ... and no new rules for the process. */
    LATER("prctl"),
    LATER("seccomp"),
    LATER("setrlimit"),
    LATER_IF("prlimit64", AE_SECCOMP_NOT, 2, 0),
    LATER("setsid"),
    LATER("setpgid"),
};

/* The last call that was weighed when this table was written, and how far numbers may grow before they are others':
 * what a later kernel brings is not there, as for a program on an older one. */
#define LAST_WEIGHED 450 /* set_mempolicy_home_node */
#define LAST_NUMBER  511

const struct ae_seccomp_rule *ae_seccomp_rules(size_t *ret_count)
{
    *ret_count = sizeof rules / sizeof *rules;
    return rules;
}

static struct scmp_arg_cmp comparison(const struct ae_seccomp_rule *rule)
{
    const unsigned a = rule->argument;
    switch (rule->test) {
    case AE_SECCOMP_EQUAL:
        return SCMP_CMP(a, SCMP_CMP_EQ, rule->value);
    case AE_SECCOMP_NOT:
        return SCMP_CMP(a, SCMP_CMP_NE, rule->value);
    case AE_SECCOMP_NOT_SELF:
        return SCMP_CMP(a, SCMP_CMP_NE, (scmp_datum_t)getpid());
    case AE_SECCOMP_HAS:
        return SCMP_CMP(a, SCMP_CMP_MASKED_EQ, rule->value, rule->value);
    default:
        return SCMP_CMP(a, SCMP_CMP_MASKED_EQ, rule->value, 0);
    }
}

static int add(scmp_filter_ctx filter, const struct ae_seccomp_rule *rule)
{
    const uint32_t action = rule->answer ? SCMP_ACT_ERRNO((uint32_t)rule->answer) : SCMP_ACT_KILL_PROCESS;
    int number = seccomp_syscall_resolve_name(rule->name);
    if (number == __NR_SCMP_ERROR)
        number = rule->number;
    if (number <= 0)
        return 0; /* this architecture has no such call (number 0, read, is none of ours) */
    if (rule->test == AE_SECCOMP_ALWAYS)
        return seccomp_rule_add(filter, action, number, 0);
    const struct scmp_arg_cmp test = comparison(rule);
    return seccomp_rule_add_array(filter, action, number, 1, &test);
}

static int fill(scmp_filter_ctx filter, enum ae_seccomp_stage stage)
{
    int rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (rc == 0)
        rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0)
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a search tree: every call passes through it */
    for (size_t i = 0; rc == 0 && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].stage == stage)
            rc = add(filter, &rules[i]);
    for (int number = LAST_WEIGHED + 1; rc == 0 && stage == AE_SECCOMP_FIRST && number <= LAST_NUMBER; number++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
    return rc == 0 ? seccomp_load(filter) : rc;
}

int ae_seccomp_enforce(enum ae_seccomp_stage stage, struct ae_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a filter of system calls");
    const int rc = fill(filter, stage);
    seccomp_release(filter);
    if (rc != 0)
        return ae_error_errno(err, AE_E_ENV, rc < 0 ? -rc : EPERM, "the kernel takes no filter of system calls");
    return AE_OK;
}
