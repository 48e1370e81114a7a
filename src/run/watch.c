#include "run/watch.h"

#include "base/clock.h"
#include "base/file.h"
#include "call/channel.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A thread is idle that runs less than this share of a while: waking up now and then is no work. */
#define IDLE_SHARE  0.05
#define IDLE_NS     (200 * 1000)
/* Going to sleep after the last command takes some microseconds. */
#define STIR_NS     (50 * 1000)
#define STIRS_MIN   3
/* An OpenMP pool spins for up to 15 ms before it sleeps, longer on a crowded machine. */
#define PATIENCE_NS  (200 * AE_MS)
/* For so long they are to have done nothing once they were seen to work; how often is looked whether they still do. */
#define QUIET_NS     (2 * AE_MS)
#define LOOK_NS      (AE_MS / 2)
/* Who has just answered goes to sleep at once, unless it has to wait for a processor. */
#define DOZE_LOOKS   3
#define DOZE_NS      (200 * 1000)
#define PIPE_BYTES   ((int64_t)64 << 10)

static int by_tid(const void *a, const void *b)
{
    const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* Run time of one thread; -1: it is gone, or the kernel does not tell. *ret_wait, unless NULL: how long it could have run
 * and had no processor. */
static int64_t run_time(pid_t pid, pid_t tid, int64_t *ret_wait)
{
    char path[80];
    long long run = -1, wait = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    FILE *in = fopen(path, "re");
    if (in) {
        if (fscanf(in, "%lld %lld", &run, &wait) < 1)
            run = -1;
        (void)fclose(in);
    }
    if (ret_wait)
        *ret_wait = wait;
    return run;
}

/* Does the thread run, or would it if it had a processor? What a running thread has run is written down at the next tick
 * only, milliseconds later: asked before its run time, this closes the gap. */
static bool is_running(pid_t pid, pid_t tid)
{
    char path[80], text[256];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    FILE *in = fopen(path, "re");
    const size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        (void)fclose(in);
    text[n] = 0;
    const char *state = strrchr(text, ')'); /* the name before it is the thread's own choice */
    return state && state[1] && state[2] == 'R';
}

/* The process's threads, sorted; the caller frees them. NULL: none, or no memory. */
static pid_t *list_threads(pid_t pid, size_t *ret_count)
{
    char path[64];
    size_t count = 0, room = 0;
    pid_t *tids = NULL;
    *ret_count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const long tid = strtol(entry->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        if (count == room) {
            pid_t *more = realloc(tids, (room = room ? 2 * room : 16) * sizeof *more);
            if (!more)
                break;
            tids = more;
        }
        tids[count++] = (pid_t)tid;
    }
    if (folder)
        (void)closedir(folder);
    if (count)
        qsort(tids, count, sizeof *tids, by_tid);
    *ret_count = count;
    return tids;
}

void ae_watch_own(struct ae_watch *watch, pid_t pid)
{
    ae_watch_release(watch);
    watch->pid = pid;
    watch->own = list_threads(pid, &watch->own_count);
    watch->blind = run_time(pid, pid, NULL) < 0;
}

void ae_watch_release(struct ae_watch *watch)
{
    free(watch->own);
    free(watch->threads);
    *watch = (struct ae_watch){.held = AE_WATCH_NOTHING};
}

/* What all threads of the process have run, those that have ended since included; -1: not known. */
static int64_t run_time_of_all(pid_t pid)
{
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return -1;
    return (int64_t)now.tv_sec * AE_SEC + now.tv_nsec;
}

/* Takes a new look; *ret_gained: what the threads have run since the last one, new ones since they began, and those
 * that have ended, which the process's clock tells: it has what nobody of the living has run; *ret_running, unless
 * NULL: how many of them run now, the worker's own not counted. */
static void look(struct ae_watch *watch, int64_t *ret_gained, int *ret_running)
{
    size_t all, count = 0;
    int64_t gained = 0, living = 0, known = 0;
    const int64_t whole = run_time_of_all(watch->pid);
    int running = 0;
    ae_autofree pid_t *tids = list_threads(watch->pid, &all);
    struct ae_watch_thread *threads = calloc(all + 1, sizeof *threads);
    for (size_t i = 0; threads && i < all; i++) {
        if (bsearch(&tids[i], watch->own, watch->own_count, sizeof *watch->own, by_tid)) {
            const int64_t own = run_time(watch->pid, tids[i], NULL);
            living += own > 0 ? own : 0;
            continue;
        }
        running += ret_running && is_running(watch->pid, tids[i]);
        const int64_t run = run_time(watch->pid, tids[i], NULL);
        if (run < 0)
            continue;
        const struct ae_watch_thread *before =
            watch->count ? bsearch(&tids[i], watch->threads, watch->count, sizeof *watch->threads, by_tid) : NULL;
        gained += run - (before ? before->run_ns : 0);
        known += before ? before->run_ns : 0;
        living += run;
        threads[count++] = (struct ae_watch_thread){tids[i], run};
    }
    for (size_t i = 0; i < watch->count; i++)
        known -= watch->threads[i].run_ns; /* of those that have ended, below zero: they were counted when they lived */
    /* Should a thread run meanwhile, this is the least that it can be, and what is kept the most. */
    if (whole >= 0 && watch->at_ns && whole - living - watch->ended_ns + known > 0)
        gained += whole - living - watch->ended_ns + known;
    watch->ended_ns = whole >= 0 ? run_time_of_all(watch->pid) - living : 0;
    free(watch->threads);
    watch->threads = threads;
    watch->count = count;
    watch->at_ns = ae_now_ns();
    watch->main_ns = run_time(watch->pid, watch->pid, &watch->main_wait_ns);
    *ret_gained = gained;
    if (ret_running)
        *ret_running = running;
}

void ae_watch_look(struct ae_watch *watch)
{
    int64_t gained;
    if (!watch->blind)
        look(watch, &gained, NULL);
}

bool ae_watch_busy(struct ae_watch *watch, ae_meanwhile_fn *meanwhile, void *data)
{
    if (watch->blind || !watch->at_ns)
        return false;
    int64_t end = ae_deadline_in(PATIENCE_NS), from = watch->at_ns, worked = 0; /* since `from` */
    for (int i = 0;; i++) {
        const int64_t since = watch->at_ns;
        int64_t gained;
        int running;
        const bool awake = is_running(watch->pid, watch->pid);
        look(watch, &gained, &running);
        worked += gained;
        const int64_t stretch = watch->at_ns - from;
        const bool idle = worked <= IDLE_NS || (double)worked <= IDLE_SHARE * (double)stretch;
        if (idle && !running && !awake && (i == 0 || stretch >= QUIET_NS))
            return false;
        if (ae_deadline_left(end) <= 0)
            return true;
        if (!idle) { /* anew, from where the work ended as far as can be told */
            const bool now = (double)gained > IDLE_SHARE * (double)(watch->at_ns - since);
            from = now ? watch->at_ns : since;
            worked = now ? 0 : gained;
        }
        const int64_t start = ae_now_ns(), missing = QUIET_NS - (start - from);
        if (meanwhile && meanwhile(data))
            end += ae_now_ns() - start; /* which is not the program's fault */
        else if (idle && (running || awake))
            nanosleep(&(struct timespec){0, i < DOZE_LOOKS ? DOZE_NS : LOOK_NS}, NULL);
        else
            nanosleep(&(struct timespec){0, idle && missing > LOOK_NS ? missing : LOOK_NS}, NULL);
    }
}

bool ae_watch_stirred(struct ae_watch *watch)
{
    const int64_t main_before = watch->main_ns;
    int64_t gained;
    int running;
    if (watch->blind || !watch->at_ns)
        return false;
    const bool awake = is_running(watch->pid, watch->pid);
    look(watch, &gained, &running);
    const bool stirred = awake || running || gained > STIR_NS || watch->main_ns - main_before > STIR_NS;
    watch->trials++;
    watch->stirred += stirred;
    return stirred;
}

bool ae_watch_stirs(const struct ae_watch *watch)
{
    return watch->stirred >= STIRS_MIN && 2 * watch->stirred > watch->trials;
}

int64_t ae_watch_waited(struct ae_watch *watch)
{
    const int64_t before = watch->main_wait_ns;
    int64_t gained;
    int running;
    if (watch->blind || !watch->at_ns)
        return 0;
    look(watch, &gained, &running);
    return running || gained > STIR_NS || watch->main_wait_ns < before ? 0 : watch->main_wait_ns - before;
}

/* "KEY   123 kB" in bytes; -1: another key. */
static int64_t bytes_of(const char *line, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(line, key, length) == 0 ? strtoll(line + length, NULL, 10) * 1024 : -1;
}

/* One pass over the mappings, which costs the most of all looks. Private memory is what they say: the sum in the status
 * of a process lags behind by what each processor has not yet handed in, from Linux 6.2 to 6.15. To that comes what the
 * status does not count: shared mappings but those that we gave it (and the driver's, which no program fills), and huge
 * pages. Of shared memory without a file the whole size: it keeps its contents when its pages are taken out of the tables,
 * and another mapping of it shows none. */
static void look_at_mappings(pid_t pid, struct ae_watch_holdings *held)
{
    char path[64], line[4096 + 128], buffer[16384];
    bool private = false, shared = false, common = false, any = false;
    int64_t own = 0, others = 0, pages = 0;
    int object = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *in = fopen(path, "re"); /* refused where the worker is another user's and we are not root */
    if (!in)
        return;
    (void)setvbuf(in, buffer, _IOFBF, sizeof buffer);
    while (fgets(line, sizeof line, in)) {
        int64_t bytes;
        if (line[0] < 'A' || line[0] > 'Z') { /* "from-to rwxs ..."; numbers are in small letters */
            const char *rights = strchr(line, ' ');
            any = true;
            private = !rights || strlen(rights) < 5 || rights[4] != 's';
            common = !private && strstr(line, " /dev/zero");
            shared = !private && !common && !strstr(line, " /memfd:acceleval-") && !strstr(line, " /dev/nvidia");
            object |= strstr(line, " /memfd:submission") != NULL;
        } else if ((bytes = bytes_of(line, "Anonymous:")) >= 0) {
            own += bytes;
        } else if ((bytes = bytes_of(line, "Swap:")) >= 0) {
            own += private ? bytes : 0;
            others += shared ? bytes : 0;
        } else if ((bytes = bytes_of(line, "Rss:")) >= 0) {
            others += shared ? bytes : 0;
        } else if ((bytes = bytes_of(line, "Private_Hugetlb:")) >= 0 ||
                   (bytes = bytes_of(line, "Shared_Hugetlb:")) >= 0) {
            others += bytes;
        } else if (common && (bytes = bytes_of(line, "Size:")) >= 0) {
            pages += bytes;
        }
    }
    (void)fclose(in);
    if (!any) /* it has ended */
        return;
    held->anonymous = own;
    held->common = pages;
    held->resident = own + others + pages;
    held->object = object;
}

struct ae_watch_holdings ae_watch_holdings(pid_t pid)
{
    struct ae_watch_holdings held = AE_WATCH_NOTHING;
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in)) {
        int64_t bytes;
        if ((bytes = bytes_of(line, "RssAnon:")) >= 0)
            held.anonymous = bytes;
        else if ((bytes = bytes_of(line, "VmSwap:")) >= 0 && held.anonymous >= 0)
            held.anonymous += bytes;
        else if ((bytes = bytes_of(line, "VmLck:")) >= 0 || (bytes = bytes_of(line, "VmPin:")) >= 0)
            held.locked = (held.locked < 0 ? 0 : held.locked) + bytes;
    }
    if (in)
        (void)fclose(in);
    if (held.anonymous < 0) /* it has ended */
        return held;
    held.resident = held.anonymous;
    look_at_mappings(pid, &held);
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path); /* refused likewise */
    if (folder) {
        held.files = 0;
        for (struct dirent *entry; (entry = readdir(folder));)
            held.files += entry->d_name[0] != '.';
        (void)closedir(folder);
        held.resident += held.files * PIPE_BYTES; /* what a pipe holds */
    }
    return held;
}

int64_t ae_watch_resident(pid_t pid)
{
    char path[64];
    long long pages = -1;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *in = fopen(path, "re");
    if (in) {
        if (fscanf(in, "%*s %lld", &pages) != 1)
            pages = -1;
        (void)fclose(in);
    }
    return pages < 0 ? -1 : pages * (int64_t)AE_PAGE;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "re");
    const size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        (void)fclose(in);
    text[n] = 0;
    const char *rest = strrchr(text, ')'); /* the name before it is the process's own choice */
    if (!rest || sscanf(rest, ") %*c %d", &parent) != 1)
        return 0;
    return (pid_t)parent;
}

/* Children of all threads of a process. */
static int count_children(pid_t pid)
{
    size_t threads;
    int count = 0;
    ae_autofree pid_t *tids = list_threads(pid, &threads);
    for (size_t i = 0; i < threads; i++) {
        char path[80];
        int child;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tids[i]);
        FILE *in = fopen(path, "re");
        while (in && fscanf(in, "%d", &child) == 1)
            count++;
        if (in)
            (void)fclose(in);
    }
    return count;
}

int ae_watch_company(pid_t pid)
{
    const pid_t parent = parent_of(pid);
    const int siblings = parent > 0 ? count_children(parent) - 1 : 0;
    return count_children(pid) + (siblings > 0 ? siblings : 0);
}
