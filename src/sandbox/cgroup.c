#include "sandbox/cgroup.h"

#include "base/clock.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX       "acceleval-"
#define FREEZE_LIMIT (50 * AE_MS)
#define EMPTY_LIMIT  (2 * AE_SEC)
#define FILE_MAX     65536 /* cgroup.procs of a large session; what is longer is cut, and that is enough to tell "others" */

/* --- files of a group ------------------------------------------------------------------------------------ */

/* The text of folder/name; "" where it cannot be read. Freed by the caller; NULL without memory. */
static char *read_at(int folder, const char *name)
{
    char *text = calloc(1, FILE_MAX);
    ae_autoclose int fd = text ? openat(folder, name, O_RDONLY | O_CLOEXEC) : -1;
    size_t used = 0;
    for (ssize_t n; fd >= 0 && used < FILE_MAX - 1 && (n = read(fd, text + used, FILE_MAX - 1 - used)) > 0;)
        used += (size_t)n;
    if (text)
        text[used] = 0;
    return text;
}

/* 0 or -1 with errno. The kernel takes an order whole or not at all. */
static int write_at(int folder, const char *name, const char *text)
{
    ae_autoclose int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; at && (at = strstr(at, word)); at += length)
        if ((at == text || strchr(" \n", at[-1])) && strchr(" \n", at[length]))
            return true;
    return false;
}

static bool file_has_word(int folder, const char *name, const char *word)
{
    ae_autofree char *text = read_at(folder, name);
    return text && has_word(text, word);
}

/* The number behind `key` in lines "key number"; -1 where it is not there. */
static int64_t number_of(int folder, const char *name, const char *key)
{
    ae_autofree char *text = read_at(folder, name);
    const size_t length = strlen(key);
    for (const char *line = text; line && *line;) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoll(line + length, NULL, 10);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return -1;
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* --- making and removing --------------------------------------------------------------------------------- */

/* Makes a group and takes its lock. Another evaluator that looks for leftovers may come between the two: then anew. */
static bool make_folder(struct ae_cgroup *ret, const char *above)
{
    for (int i = 0; i < 8; i++) {
        uint64_t name;
        if (ae_random_bytes(&name, sizeof name, NULL) != AE_OK)
            return false;
        const int length = snprintf(ret->path, sizeof ret->path, "%s/" PREFIX "%016llx", above, (unsigned long long)name);
        /* Nobody else has any business in there. */
        if (length >= (int)sizeof ret->path || mkdirat(AT_FDCWD, ret->path, 0700) != 0)
            return false;
        ret->folder = open_folder(ret->path);
        if (ret->folder >= 0 && flock(ret->folder, LOCK_EX | LOCK_NB) == 0 && faccessat(ret->folder, "cgroup.procs", F_OK, 0) == 0)
            return true;
        if (ret->folder >= 0)
            (void)close(ret->folder);
        (void)unlinkat(AT_FDCWD, ret->path, AT_REMOVEDIR);
    }
    return false;
}

static int for_each_process(int folder, void (*act)(pid_t pid))
{
    ae_autofree char *text = read_at(folder, "cgroup.procs");
    int count = 0;
    for (char *at = text; at && *at; count++) {
        char *end;
        const long pid = strtol(at, &end, 10); /* 0: of a pid namespace that we do not see into */
        if (end == at)
            break;
        if (act && pid > 0)
            act((pid_t)pid);
        at = end + strspn(end, "\n");
    }
    return text ? count : -1;
}

static void kill_one(pid_t pid)
{
    (void)kill(pid, SIGKILL);
}

static void kill_all(int folder)
{
    if (write_at(folder, "cgroup.kill", "1") != 0) /* a kernel before 5.14 */
        (void)for_each_process(folder, kill_one);
}

static void empty_and_remove(int folder, const char *path)
{
    const int64_t deadline = ae_deadline_in(EMPTY_LIMIT);
    for (;;) {
        if (for_each_process(folder, NULL) > 0)
            kill_all(folder);
        if (unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0 || errno != EBUSY || ae_deadline_left(deadline) == 0)
            return;
        usleep(500);
    }
}

/* Groups whose maker is gone: nobody holds their lock. */
static void remove_leftovers(const char *above)
{
    DIR *folder = opendir(above);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[AE_CGROUP_PATH];
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
            snprintf(path, sizeof path, "%s/%s", above, entry->d_name) >= (int)sizeof path)
            continue;
        ae_autoclose int group = open_folder(path);
        if (group >= 0 && flock(group, LOCK_EX | LOCK_NB) == 0)
            empty_and_remove(group, path);
    }
    if (folder)
        (void)closedir(folder);
}

/* --- finding a place ------------------------------------------------------------------------------------- */

/* mountinfo writes blanks and the like as \ooo. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        unsigned code;
        if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = 0;
}

static bool lists_us(const char *path, bool *ret_alone)
{
    ae_autoclose int folder = open_folder(path);
    ae_autofree char *text = folder >= 0 ? read_at(folder, "cgroup.procs") : NULL;
    char self[32];
    snprintf(self, sizeof self, "%d", (int)getpid());
    *ret_alone = text && strspn(text, "0123456789") == strlen(self) && strncmp(text, self, strlen(self)) == 0 &&
                 text[strlen(self) + strspn(text + strlen(self), "\n")] == 0;
    return text && has_word(text, self);
}

/* The folder of the group that this process is in, and how much of that path is the mount point. Namespaces and bind
 * mounts make riddles of what the two files say, so a guess counts only where it lists us. */
static bool find_home(const char *mounts, const char *self, char *ret, size_t *ret_mount, bool *ret_alone)
{
    char line[3 * AE_CGROUP_PATH], own[AE_CGROUP_PATH] = "", root[AE_CGROUP_PATH], point[AE_CGROUP_PATH];
    bool found = false;
    FILE *in = fopen(self ? self : "/proc/self/cgroup", "re");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(own, sizeof own, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (in)
        (void)fclose(in);
    in = own[0] ? fopen(mounts ? mounts : "/proc/self/mountinfo", "re") : NULL;
    while (in && !found && fgets(line, sizeof line, in)) {
        if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
            continue;
        unescape(root);
        unescape(point);
        const size_t skip = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (strncmp(own, root, skip) != 0)
            continue;
        const char *below = strcmp(own + skip, "/") == 0 ? "" : own + skip;
        if (snprintf(ret, AE_CGROUP_PATH, "%s%s", point, below) >= AE_CGROUP_PATH)
            continue;
        *ret_mount = strlen(point);
        found = lists_us(ret, ret_alone);
    }
    if (in)
        (void)fclose(in);
    return found;
}

static const struct {
    unsigned means;
    const char *controller, *file;
} kinds[] = {
    {AE_CGROUP_MEMORY, "memory", "memory.max"},
    {AE_CGROUP_PIDS, "pids", "pids.max"},
    {AE_CGROUP_FREEZE, NULL, "cgroup.freeze"},
    {AE_CGROUP_KILL, NULL, "cgroup.kill"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Has the folder hand the controllers on to groups in it. Only for the root of the tree and for a group without processes:
 * in another one the kernel refuses memory but takes pids, and groups in it could then have no processes at all. */
static void hand_on(const char *path)
{
    ae_autoclose int folder = open_folder(path);
    for (size_t i = 0; folder >= 0 && i < COUNT(kinds); i++) {
        char order[32];
        if (!kinds[i].controller || !file_has_word(folder, "cgroup.controllers", kinds[i].controller) ||
            file_has_word(folder, "cgroup.subtree_control", kinds[i].controller))
            continue;
        snprintf(order, sizeof order, "+%s", kinds[i].controller);
        (void)write_at(folder, "cgroup.subtree_control", order);
    }
}

static bool is_root_of_tree(const char *path)
{
    ae_autoclose int folder = open_folder(path);
    return folder >= 0 && faccessat(folder, "cgroup.type", F_OK, 0) != 0;
}

/* Makes a group there and looks at what it has; 0 also where we could not move a process into it. */
static unsigned means_of(const char *path)
{
    struct ae_cgroup trial = {0};
    unsigned means = 0;
    ae_autoclose int folder = open_folder(path);
    if (folder < 0 || faccessat(folder, "cgroup.procs", W_OK, AT_EACCESS) != 0 || !make_folder(&trial, path))
        return 0;
    const bool sound = file_has_word(trial.folder, "cgroup.type", "domain") && !file_has_word(trial.folder, "cgroup.type", "invalid");
    for (size_t i = 0; sound && i < COUNT(kinds); i++)
        if (faccessat(trial.folder, kinds[i].file, W_OK, AT_EACCESS) == 0)
            means |= kinds[i].means;
    empty_and_remove(trial.folder, trial.path);
    (void)close(trial.folder);
    return means;
}

/* Beside a group that somebody has limited nothing of ours is to run: it would not be held by those limits. */
static bool is_unlimited(const char *path)
{
    static const char *const files[][2] = {
        {"memory.max", "max"}, {"memory.high", "max"}, {"cpu.max", "max "}, {"cpuset.cpus", "\n"}};
    ae_autoclose int folder = open_folder(path);
    bool free_of_limits = folder >= 0;
    for (size_t i = 0; free_of_limits && i < COUNT(files); i++) {
        ae_autofree char *text = read_at(folder, files[i][0]);
        free_of_limits = text && (!*text || strncmp(text, files[i][1], strlen(files[i][1])) == 0);
    }
    return free_of_limits;
}

static void use(struct ae_cgroup_place *place, const char *folder, unsigned means)
{
    snprintf(place->folder, sizeof place->folder, "%s", folder);
    place->means = means;
}

static bool has_limits(unsigned means)
{
    return (means & (AE_CGROUP_MEMORY | AE_CGROUP_PIDS)) == (AE_CGROUP_MEMORY | AE_CGROUP_PIDS);
}

/* Leaves the home to the groups in it. */
static bool enter_leaf(struct ae_cgroup_place *place)
{
    struct ae_cgroup leaf = {0};
    char self[32];
    snprintf(self, sizeof self, "%d", (int)getpid());
    if (!make_folder(&leaf, place->home))
        return false;
    if (write_at(leaf.folder, "cgroup.procs", self) != 0) {
        (void)unlinkat(AT_FDCWD, leaf.path, AT_REMOVEDIR);
        (void)close(leaf.folder);
        return false;
    }
    snprintf(place->leaf, sizeof place->leaf, "%s", leaf.path);
    place->leaf_lock = leaf.folder;
    hand_on(place->home);
    return true;
}

static void leave_leaf(struct ae_cgroup_place *place)
{
    ae_autoclose int home = open_folder(place->home);
    char self[32];
    if (!place->leaf[0])
        return;
    snprintf(self, sizeof self, "%d", (int)getpid());
    (void)write_at(home, "cgroup.subtree_control", "-memory -pids"); /* else the home takes no process */
    if (home >= 0 && write_at(home, "cgroup.procs", self) == 0)
        (void)unlinkat(AT_FDCWD, place->leaf, AT_REMOVEDIR);
    (void)close(place->leaf_lock);
    place->leaf[0] = 0;
}

static void explain(struct ae_cgroup_place *place, bool found)
{
    static const char mend[] = "run it as 'systemd-run --user --scope -p Delegate=yes acceleval ...', or in a container or "
                               "service to which a cgroup of its own is delegated";
    if (!found)
        snprintf(place->lack, sizeof place->lack, "There is no cgroup v2 here that this process is in");
    else if (!place->folder[0])
        snprintf(place->lack, sizeof place->lack, "No group may be made in or beside %.200s: %s", place->home, mend);
    else if (!has_limits(place->means))
        snprintf(place->lack, sizeof place->lack,
                 "Groups in %.200s have no limits (other processes are in it, or cgroup v1 has the controllers): %s", place->folder, mend);
    else if (place->means != AE_CGROUP_ALL)
        snprintf(place->lack, sizeof place->lack, "The kernel is too old to freeze or to kill a group at once");
}

void ae_cgroup_place_open(struct ae_cgroup_place *ret, const char *mounts, const char *self)
{
    size_t mount = 0;
    bool alone = false;
    char above[AE_CGROUP_PATH];
    *ret = (struct ae_cgroup_place){.leaf_lock = -1};
    const bool found = find_home(mounts, self, ret->home, &mount, &alone);
    if (found) {
        if (is_root_of_tree(ret->home))
            hand_on(ret->home);
        use(ret, ret->home, means_of(ret->home));
        snprintf(above, sizeof above, "%s", ret->home);
        char *slash = strlen(ret->home) > mount ? strrchr(above, '/') : NULL;
        if (!has_limits(ret->means) && slash && is_unlimited(ret->home)) {
            *slash = 0;
            const unsigned beside = means_of(above);
            if (has_limits(beside))
                use(ret, above, beside);
        }
        if (!has_limits(ret->means) && alone && enter_leaf(ret)) {
            const unsigned below = means_of(ret->home);
            if (has_limits(below))
                use(ret, ret->home, below);
            else
                leave_leaf(ret);
        }
        if (!ret->means)
            ret->folder[0] = 0;
        else
            remove_leftovers(ret->folder);
    }
    explain(ret, found);
}

void ae_cgroup_place_close(struct ae_cgroup_place *place)
{
    leave_leaf(place);
    *place = (struct ae_cgroup_place){.leaf_lock = -1};
}

/* --- the place of this process --------------------------------------------------------------------------- */

static pthread_mutex_t here_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ae_cgroup_place here;
static bool here_found;
static int here_groups;

static const struct ae_cgroup_place *lock_here(void)
{
    pthread_mutex_lock(&here_mutex);
    if (!here_found)
        ae_cgroup_place_open(&here, NULL, NULL);
    here_found = true;
    return &here;
}

unsigned ae_cgroup_here(char *text, size_t size)
{
    const struct ae_cgroup_place *place = lock_here();
    const unsigned means = place->means;
    snprintf(text, size, "%s", place->lack);
    pthread_mutex_unlock(&here_mutex);
    return means;
}

void ae_cgroup_leave(void)
{
    pthread_mutex_lock(&here_mutex);
    if (here_found && here_groups == 0) {
        ae_cgroup_place_close(&here);
        here_found = false;
    }
    pthread_mutex_unlock(&here_mutex);
}

/* --- a group --------------------------------------------------------------------------------------------- */

/* A limit is in force when the kernel says so. It rounds memory down to pages. */
static bool set_limit(int folder, const char *file, uint64_t value)
{
    char text[32];
    if (!value)
        return false;
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if (write_at(folder, file, text) != 0)
        return false;
    ae_autofree char *now = read_at(folder, file);
    char *end = now;
    const unsigned long long taken = now ? strtoull(now, &end, 10) : 0;
    return end != now && taken > 0 && taken <= value;
}

static void make(struct ae_cgroup *ret, const struct ae_cgroup_place *place, const struct ae_cgroup_limits *limits)
{
    struct ae_cgroup group = {.folder = -1};
    *ret = group;
    if (!place->folder[0] || !make_folder(&group, place->folder))
        return; /* none, whatever name was tried */
    group.means = place->means & (AE_CGROUP_FREEZE | AE_CGROUP_KILL);
    if (set_limit(group.folder, "memory.max", limits->memory_bytes)) {
        group.means |= AE_CGROUP_MEMORY;
        (void)write_at(group.folder, "memory.swap.max", "0"); /* not there without swap accounting */
        (void)write_at(group.folder, "memory.oom.group", "1");
    }
    if (set_limit(group.folder, "pids.max", limits->pids))
        group.means |= AE_CGROUP_PIDS;
    *ret = group;
}

void ae_cgroup_make(struct ae_cgroup *ret, const struct ae_cgroup_place *place, const struct ae_cgroup_limits *limits)
{
    if (place) {
        make(ret, place, limits);
        return;
    }
    make(ret, lock_here(), limits);
    ret->here = ret->path[0] != 0;
    here_groups += ret->here;
    pthread_mutex_unlock(&here_mutex);
}

void ae_cgroup_remove(struct ae_cgroup *group)
{
    if (!group->path[0])
        return;
    empty_and_remove(group->folder, group->path);
    (void)close(group->folder);
    pthread_mutex_lock(&here_mutex);
    here_groups -= group->here;
    pthread_mutex_unlock(&here_mutex);
    *group = (struct ae_cgroup){.folder = -1};
}

bool ae_cgroup_freeze(const struct ae_cgroup *group)
{
    if (!group->path[0] || !(group->means & AE_CGROUP_FREEZE) || write_at(group->folder, "cgroup.freeze", "1") != 0)
        return false;
    ae_autoclose int events = openat(group->folder, "cgroup.events", O_RDONLY | O_CLOEXEC);
    const int64_t deadline = ae_deadline_in(FREEZE_LIMIT);
    char text[256];
    while (events >= 0) {
        const ssize_t n = pread(events, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = 0;
        if (strstr(text, "frozen 1"))
            return true;
        if (n <= 0 || ae_deadline_left(deadline) == 0)
            break;
        usleep(20);
    }
    return false;
}

void ae_cgroup_thaw(const struct ae_cgroup *group)
{
    if (group->path[0] && (group->means & AE_CGROUP_FREEZE))
        (void)write_at(group->folder, "cgroup.freeze", "0");
}

int64_t ae_cgroup_memory_kills(const struct ae_cgroup *group)
{
    return group->path[0] && (group->means & AE_CGROUP_MEMORY) ? number_of(group->folder, "memory.events", "oom_kill") : -1;
}

int ae_cgroup_population(const struct ae_cgroup *group)
{
    return group->path[0] ? for_each_process(group->folder, NULL) : -1;
}
