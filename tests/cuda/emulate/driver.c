/* Calls an emulated solution on instances of a task and has the task's judge look at every answer.
 *     emulate_driver TASK OBJECT [OPTION...]        see the script `run`, which makes the object; "-": look at the options
 *                                                   alone
 * Every call runs in a process of its own. Exit 0: all answers are right and nothing was left behind. */
#include "base/text.h"
#include "judge/judge.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AE_TASK(id) void ae_reference_##id(void);
#include "tasks.def"
#undef AE_TASK

static const struct entry {
    const char *id;
    void (*reference)(void);
} entries[] = {
#define AE_TASK(id) {#id, ae_reference_##id},
#include "tasks.def"
#undef AE_TASK
};

#define ORDERS_MAX 64
#define AGAIN_BELOW_S 1.0 /* a call that took longer is not repeated */

static struct options {
    const char *families; /* comma-separated; NULL: all that are judged at the size */
    const char *without;  /* those left out */
    enum ae_size size;
    uint64_t seed;
    int orders[ORDERS_MAX], order_count;
    int processors, capability, jobs;
    unsigned limit_s; /* of one call */
    double brief_s;   /* a family whose first call took longer is done with; 0: never */
} options = {.size = AE_SMALL, .seed = 1, .orders = {0, 1, 2}, .order_count = 3, .processors = 4, .capability = 90,
             .jobs = 1, .limit_s = 120};

/* Processor time: other programs do not matter. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *order_name(int order, char *text, size_t size)
{
    if (order > 1)
        snprintf(text, size, "random %d", order);
    else
        snprintf(text, size, "%s", order ? "reverse" : "forward");
    return text;
}

static _Noreturn void die(const char *text)
{
    fprintf(stderr, "%s\n", text);
    exit(2);
}

static struct object {
    void (*solution)(void);
    void (*begin)(uint64_t order, int processors, int capability);
    bool (*end)(char *text, size_t size);
    void (*array)(void *data, size_t bytes);
    void (*where)(char *text, size_t size);
} object;

static void *symbol(void *handle, const char *name)
{
    void *p = dlsym(handle, name);
    if (!p)
        die(dlerror());
    return p;
}

static void on_limit(int signal)
{
    (void)signal;
    char text[512];
    object.where(text, sizeof text);
    fprintf(stderr, "emulate: the time limit of %u s is over, %s\n", options.limit_s, text);
    _exit(10);
}

/* One call; never returns. */
static _Noreturn void call(const struct ae_instance *inst, const struct ae_expected *right, int order)
{
    const struct ae_task *task = inst->task;
    struct ae_error err = {0};
    struct ae_expected got;
    char name[32], left[512];
    if (ae_expected_alloc(&got, inst, &err) != AE_OK)
        die(err.text);
    signal(SIGALRM, on_limit);
    signal(SIGXCPU, on_limit);
    setrlimit(RLIMIT_CPU, &(struct rlimit){options.limit_s, options.limit_s + 5});
    alarm(20 * options.limit_s); /* where it waits without working */
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_array *array = ae_arg_is_output(&task->args[i]) ? &got.out[i] : &inst->array[i];
        if (task->args[i].role != AE_SCALAR)
            object.array(array->data, array->count * ae_type_size(array->type));
    }
    const uint64_t digest = ae_instance_digest(inst);
    object.begin((uint64_t)order, options.processors, options.capability);
    bool right_so_far = true;
    double first_s = 0;
    struct ae_judgement j;
    /* Twice, where that is quick: the second call finds what the first one left in the device's variables. */
    for (int turn = 0; turn < 2 && right_so_far && first_s < AGAIN_BELOW_S; turn++) {
        for (int i = 0; i < task->arg_count; i++) {
            const size_t bytes = got.out[i].count * ae_type_size(got.out[i].type);
            if (task->args[i].role == AE_OUT)
                memset(got.out[i].data, 0xff, bytes);
            else if (task->args[i].role == AE_INOUT)
                memcpy(got.out[i].data, inst->array[i].data, bytes);
        }
        const double start = now();
        if (ae_instance_call(inst, &got, object.solution, &err) != AE_OK)
            die(err.text);
        const double seconds = now() - start;
        const bool clean = object.end(left, sizeof left), kept = digest == ae_instance_digest(inst);
        const void *answer[AE_ARGS_MAX] = {0};
        for (int i = 0; i < task->arg_count; i++)
            answer[i] = got.out[i].data;
        if (ae_judge(inst, right, answer, &j, &err) != AE_OK)
            die(err.text);
        right_so_far = j.right && clean && kept;
        if (turn == 0 || !right_so_far)
            printf("%-24s %-10s %-7s %6.2f s  %s%s%s%s%s\n", task->families[inst->family].name,
                   order_name(order, name, sizeof name), right_so_far ? "right" : "WRONG", seconds,
                   turn == 0 ? "" : "in the second call: ", j.right ? "" : j.text,
                   kept ? "" : " an input was written to;", clean ? "" : " left behind: ", clean ? "" : left);
        first_s += seconds;
    }
    fflush(stdout);
    _exit(right_so_far ? 0 : 1);
}

static int failures, running;

/* Returns the processor time of the call that has ended. */
static double wait_for_one(void)
{
    int status;
    struct rusage usage;
    if (wait4(-1, &status, 0, &usage) < 0)
        return 0;
    running--;
    const double seconds = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return seconds;
    failures++;
    if (WIFSIGNALED(status))
        fprintf(stderr, "  a call was ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 1)
        fprintf(stderr, "  a call ended early (%d), see above\n", WEXITSTATUS(status));
    return seconds;
}

static bool listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

static void try_family(const struct entry *entry, const struct ae_task *task, int family)
{
    struct ae_instance inst;
    struct ae_expected right;
    struct ae_error err = {0};
    if (ae_instance_make(&inst, task, options.size, family, options.seed, &err) != AE_OK ||
        ae_expected_alloc(&right, &inst, &err) != AE_OK ||
        ae_instance_call(&inst, &right, entry->reference, &err) != AE_OK ||
        (task->make_aux && task->make_aux(&inst, &right, &err) != AE_OK))
        die(err.text);
    fflush(stdout);
    for (int k = 0; k < options.order_count; k++) {
        while (running >= options.jobs)
            wait_for_one();
        const int before = failures;
        const pid_t pid = fork();
        if (pid < 0)
            die(strerror(errno));
        if (pid == 0)
            call(&inst, &right, options.orders[k]);
        running++;
        if (options.jobs == 1) {
            char name[32];
            const double seconds = wait_for_one();
            if (failures > before) {
                fprintf(stderr, "%s: family %s, order %s, seed %llu: FAILED\n", task->id, task->families[family].name,
                        order_name(options.orders[k], name, sizeof name), (unsigned long long)options.seed);
                break;
            }
            if (options.brief_s > 0 && seconds > options.brief_s)
                break;
        }
    }
    while (running > 0)
        wait_for_one();
    ae_expected_release(&right);
    ae_instance_release(&inst);
}

/* A whole number from lo to hi, and nothing behind it: what was meant otherwise must not run as something else. */
static int64_t number(const char *name, const char *value, int64_t lo, int64_t hi)
{
    int64_t n;
    if (!ae_text_to_i64(value, lo, hi, &n)) {
        fprintf(stderr, "emulate_driver: %s takes a whole number from %lld to %lld, not '%s'\n", name, (long long)lo,
                (long long)hi, value);
        exit(2);
    }
    return n;
}

static void parse(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value)
            die("an option without its value");
        i++;
        if (strcmp(name, "--families") == 0) {
            options.families = strcmp(value, "all") == 0 ? NULL : value;
        } else if (strcmp(name, "--without") == 0) {
            options.without = value;
        } else if (strcmp(name, "--size") == 0) {
            if ((options.size = ae_size_find(value)) == AE_SIZE_COUNT)
                die("no such size");
        } else if (strcmp(name, "--seed") == 0) {
            options.seed = (uint64_t)number(name, value, 0, INT64_MAX);
        } else if (strcmp(name, "--orders") == 0) { /* how many */
            options.order_count = (int)number(name, value, 1, ORDERS_MAX);
            for (int k = 0; k < options.order_count; k++)
                options.orders[k] = k;
        } else if (strcmp(name, "--order") == 0) { /* this one */
            options.order_count = 1;
            options.orders[0] = (int)number(name, value, 0, INT_MAX);
        } else if (strcmp(name, "--processors") == 0) {
            options.processors = (int)number(name, value, 1, 1024);
        } else if (strcmp(name, "--arch") == 0) {
            options.capability = (int)number(name, value, 50, 129);
        } else if (strcmp(name, "--jobs") == 0) {
            options.jobs = (int)number(name, value, 1, 1024);
        } else if (strcmp(name, "--brief") == 0) {
            char *end;
            options.brief_s = strtod(value, &end);
            if (end == value || *end || !(options.brief_s >= 0))
                die("--brief takes a number of seconds");
        } else if (strcmp(name, "--limit") == 0) {
            options.limit_s = (unsigned)number(name, value, 1, 86400);
        } else {
            fprintf(stderr, "no option %s\n", name);
            exit(2);
        }
    }
}

/* Every name of the list is a family of the task: one that is misspelt would be left out, or in, without a word. */
static void check_families(const struct ae_task *task, const char *option, const char *list)
{
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        int f = 0;
        while (f < ae_task_family_count(task) && (strlen(task->families[f].name) != length ||
                                                  memcmp(task->families[f].name, list, length) != 0))
            f++;
        if (f == ae_task_family_count(task)) {
            fprintf(stderr, "emulate_driver: %s: %s has no family '%.*s'\n", option, task->id, (int)length, list);
            exit(2);
        }
        list += length + (list[length] == ',');
    }
}

/* The order that finds most comes first where the others may be left out. */
static void begin_with_random(void)
{
    const int last = options.orders[options.order_count - 1];
    memmove(options.orders + 1, options.orders, (size_t)(options.order_count - 1) * sizeof *options.orders);
    options.orders[0] = last;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage: emulate_driver TASK OBJECT [OPTION VALUE]...");
    struct ae_error err = {0};
    const struct ae_task *task = ae_task_find(argv[1], &err);
    if (!task)
        die(err.text);
    parse(argc - 3, argv + 3);
    check_families(task, "--families", options.families);
    check_families(task, "--without", options.without);
    if (strcmp(argv[2], "-") == 0)
        return 0;
    if (options.brief_s > 0)
        begin_with_random();
    void *handle = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        die(dlerror());
    *(void **)&object.solution = symbol(handle, "solution_compute");
    *(void **)&object.begin = symbol(handle, "ae_emulate_begin");
    *(void **)&object.array = symbol(handle, "ae_emulate_array");
    *(void **)&object.where = symbol(handle, "ae_emulate_where");
    *(void **)&object.end = symbol(handle, "ae_emulate_end");
    const struct entry *entry = entries;
    while (strcmp(entry->id, task->id) != 0)
        entry++;
    int tried = 0;
    for (int f = 0; f < ae_task_family_count(task); f++) {
        if (!(task->families[f].sizes & AE_AT(options.size)) ||
            (options.families && !listed(options.families, task->families[f].name)) ||
            listed(options.without, task->families[f].name))
            continue;
        tried++;
        try_family(entry, task, f);
    }
    if (tried == 0)
        die("no such family at this size");
    return failures > 0;
}
