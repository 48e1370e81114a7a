#include "sandbox/landlock.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Own declarations: the headers at build time may be older than the kernel at run time. Numbers are the same on every
 * architecture. */
enum {
    SYS_create_ruleset = 444,
    SYS_add_rule = 445,
    SYS_restrict_self = 446,
    CREATE_VERSION = 1,
    RULE_PATH_BENEATH = 1
};

struct ruleset {
    uint64_t fs, net, scoped;
};

struct __attribute__((packed)) path_beneath {
    uint64_t allowed;
    int32_t parent_fd;
};

#define FS_EXECUTE     (1ull << 0)
#define FS_WRITE_FILE  (1ull << 1)
#define FS_READ_FILE   (1ull << 2)
#define FS_READ_DIR    (1ull << 3)
#define FS_REMOVE_DIR  (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_DIR    (1ull << 7)
#define FS_MAKE_REG    (1ull << 8)
#define FS_MAKE_SYM    (1ull << 12)
#define FS_ABI_1       ((1ull << 13) - 1)
#define FS_REFER       (1ull << 13) /* ABI 2 */
#define FS_TRUNCATE    (1ull << 14) /* ABI 3 */
#define FS_IOCTL_DEV   (1ull << 15) /* ABI 5 */
#define NET_ALL        3ull         /* ABI 4: bind and connect TCP */
#define SCOPE_ALL      3ull         /* ABI 6: abstract UNIX sockets, signals */

/* Those that make sense for what is not a folder; the kernel refuses the others there. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

static const struct {
    unsigned right;
    uint64_t access;
} meanings[] = {
    {AE_LANDLOCK_READ, FS_READ_FILE},
    {AE_LANDLOCK_LIST, FS_READ_DIR},
    {AE_LANDLOCK_EXECUTE, FS_EXECUTE},
    {AE_LANDLOCK_WRITE, FS_WRITE_FILE | FS_TRUNCATE},
    {AE_LANDLOCK_MAKE, FS_MAKE_REG | FS_MAKE_DIR | FS_MAKE_SYM | FS_REMOVE_FILE | FS_REMOVE_DIR | FS_REFER},
    {AE_LANDLOCK_IOCTL, FS_IOCTL_DEV},
};

int ae_landlock_abi(void)
{
    const long abi = syscall(SYS_create_ruleset, NULL, 0, CREATE_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static uint64_t handled_by(int abi)
{
    return FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
}

static uint64_t meaning_of(unsigned rights)
{
    uint64_t access = 0;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (rights & meanings[i].right)
            access |= meanings[i].access;
    return access;
}

uint64_t ae_landlock_access(unsigned rights)
{
    const int abi = ae_landlock_abi();
    return abi ? meaning_of(rights) & handled_by(abi) : 0;
}

static int add_rule(int ruleset, const struct ae_landlock_rule *rule, uint64_t handled, struct ae_error *err)
{
    ae_autoclose int fd = open(rule->path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (errno == ENOENT && rule->optional)
            return AE_OK;
        return ae_error_errno(err, errno == ENOENT ? AE_E_NOTFOUND : AE_E_ENV, errno,
                              "the sandbox cannot grant access to %s", rule->path);
    }
    struct path_beneath beneath = {.allowed = meaning_of(rule->rights) & handled, .parent_fd = fd};
    if (!S_ISDIR(st.st_mode))
        beneath.allowed &= FS_OF_FILES;
    if (beneath.allowed && syscall(SYS_add_rule, ruleset, RULE_PATH_BENEATH, &beneath, 0) != 0)
        return ae_error_errno(err, AE_E_ENV, errno, "the sandbox cannot grant access to %s", rule->path);
    return AE_OK;
}

int ae_landlock_make(const struct ae_landlock_rule *rules, size_t count, unsigned beside, int *ret_fd,
                     struct ae_error *err)
{
    const int abi = ae_landlock_abi();
    if (abi == 0)
        return ae_error_set(err, AE_E_ENV, "this kernel offers no Landlock (Linux 5.13 or later, switched on)");
    const struct ruleset attr = {
        .fs = handled_by(abi),
        .net = (beside & AE_LANDLOCK_NET) ? NET_ALL : 0,
        .scoped = (beside & AE_LANDLOCK_SCOPE) ? SCOPE_ALL : 0,
    };
    const size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    ae_autoclose int fd = (int)syscall(SYS_create_ruleset, &attr, size, 0);
    if (fd < 0)
        return ae_error_errno(err, AE_E_ENV, errno, "the kernel makes no Landlock ruleset");
    for (size_t i = 0; i < count; i++) {
        const int rc = add_rule(fd, &rules[i], attr.fs, err);
        if (rc != AE_OK)
            return rc;
    }
    *ret_fd = fd;
    fd = -1; /* the caller's now */
    return AE_OK;
}

int ae_landlock_enforce(int fd, struct ae_error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_restrict_self, fd, 0) != 0)
        return ae_error_errno(err, AE_E_ENV, errno, "the kernel does not put the Landlock ruleset in force");
    return AE_OK;
}
