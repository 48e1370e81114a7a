#include "run/context.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* How long to wait for another evaluation on the same device. */
#define DEVICE_WAIT (3600 * AE_SEC)

/* Value of the first line "name : value" of a file like /proc/cpuinfo; "" where there is none. */
static void read_field(const char *text, const char *name, char *ret, size_t size)
{
    ret[0] = 0;
    const size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, name, length) != 0 || (line[length] != ':' && !isspace((unsigned char)line[length])))
            continue;
        const char *value = strchr(line, ':');
        if (!value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(ret, size, "%.*s", (int)strcspn(value, "\n"), value);
        return;
    }
}

/* /proc files have no size: read until the end. */
static char *read_proc(const char *path)
{
    FILE *in = fopen(path, "re");
    char *text = calloc(1, 65536);
    if (in && text)
        text[fread(text, 1, 65535, in)] = 0;
    if (in)
        fclose(in);
    return text;
}

static void probe_cpu(struct ae_host *host)
{
    char vendor[32], family[8], model[8], stepping[8], name[80], cache[16], flags[4096];
    ae_autofree char *text = read_proc("/proc/cpuinfo");
    if (!text)
        return;
    read_field(text, "vendor_id", vendor, sizeof vendor);
    read_field(text, "cpu family", family, sizeof family);
    read_field(text, "model", model, sizeof model);
    read_field(text, "stepping", stepping, sizeof stepping);
    read_field(text, "model name", name, sizeof name);
    read_field(text, "cache size", cache, sizeof cache);
    read_field(text, "flags", flags, sizeof flags);
    snprintf(host->cpu, sizeof host->cpu, "%s %s-%s-%s, %s, %s", vendor, family, model, stepping, name, cache);
    host->virtual_machine = strstr(flags, " hypervisor") != NULL;
}

/* Takes the hardware threads that share the core of `cpu` out of set: a spinning parent slows its sibling down. */
static void clear_siblings(int cpu, cpu_set_t *set)
{
    char path[96], text[256] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *in = fopen(path, "re");
    if (in) {
        text[fread(text, 1, sizeof text - 1, in)] = 0;
        fclose(in);
    }
    for (const char *p = text; isdigit((unsigned char)*p);) { /* "7,15" or "14-15" */
        char *end;
        long first = strtol(p, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (; first <= last && first < CPU_SETSIZE; first++)
            CPU_CLR((int)first, set);
        p = *end == ',' ? end + 1 : end;
    }
}

/* Which of the cores are the submission's: all but one where there are three or more. */
static void share_cores(struct ae_host *host)
{
    host->core_count = CPU_COUNT(&host->cores);
    host->submission_cores = host->cores;
    host->parent_core = -1;
    host->spin = host->core_count >= 3 ? AE_SPIN_ALWAYS : host->core_count == 2 ? AE_SPIN_BRIEFLY : AE_SPIN_NEVER;
    if (host->core_count >= 3) {
        for (int i = CPU_SETSIZE - 1; host->parent_core < 0; i--)
            if (CPU_ISSET(i, &host->cores))
                host->parent_core = i;
        CPU_CLR(host->parent_core, &host->submission_cores);
        cpu_set_t rest = host->submission_cores;
        clear_siblings(host->parent_core, &rest);
        if (CPU_COUNT(&rest) > 0)
            host->submission_cores = rest;
    }
    host->submission_core_count = CPU_COUNT(&host->submission_cores);
}

void ae_host_slice(struct ae_host *host, int index, int count)
{
    const int all = CPU_COUNT(&host->cores), each = all / count;
    cpu_set_t part;
    if (count < 2 || each < 1)
        return;
    CPU_ZERO(&part);
    for (int core = 0, seen = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &host->cores)) {
            if (seen / each == index)
                CPU_SET(core, &part);
            seen++;
        }
    host->cores = part;
    share_cores(host);
}

static int probe_host(struct ae_host *host, struct ae_error *err)
{
    struct utsname name;
    int major = 0, minor = 0;
    if (sched_getaffinity(0, sizeof host->cores, &host->cores) != 0)
        return ae_error_errno(err, AE_E_ENV, errno, "cannot tell which cores may be used");
    share_cores(host);
    host->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    probe_cpu(host);
    if (uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2)
        snprintf(host->kernel, sizeof host->kernel, "%d.%d", major, minor);
    return AE_OK;
}

/* The folder of the running program. */
static bool own_folder(char *ret, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", ret, size - 1);
    if (n <= 0)
        return false;
    ret[n] = 0;
    char *slash = strrchr(ret, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

static int find_worker(struct ae_context *context, struct ae_error *err)
{
    char folder[3072];
    const char *given = getenv("ACCELEVAL_WORKER");
    if (given && *given)
        snprintf(context->worker, sizeof context->worker, "%s", given);
    else if (own_folder(folder, sizeof folder)) {
        snprintf(context->worker, sizeof context->worker, "%s/acceleval-worker", folder);
        if (!ae_file_exists(context->worker)) /* tests and benchmarks live one or two folders below */
            snprintf(context->worker, sizeof context->worker, "%s/../acceleval-worker", folder);
        if (!ae_file_exists(context->worker))
            snprintf(context->worker, sizeof context->worker, "%s/../../acceleval-worker", folder);
    }
    if (access(context->worker, X_OK) != 0)
        return ae_error_set(err, AE_E_ENV, "acceleval-worker is not beside acceleval (%s): build the whole project, or set "
                            "ACCELEVAL_WORKER", context->worker);
    return AE_OK;
}

int ae_context_find_tasks(char *ret, size_t size, struct ae_error *err)
{
    char folder[3072], probe[4200];
    const char *given = getenv("ACCELEVAL_TASKS");
    const char *const below[] = {"../tasks", "../../tasks", "../../../tasks", "../../../../tasks",
                                 "../share/acceleval/tasks"};
    if (given && *given) {
        snprintf(ret, size, "%s", given);
        return AE_OK;
    }
    if (own_folder(folder, sizeof folder))
        for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
            snprintf(ret, size, "%s/%s", folder, below[i]);
            snprintf(probe, sizeof probe, "%s/tasks.def", ret);
            if (ae_file_exists(probe))
                return AE_OK;
        }
    return ae_error_set(err, AE_E_ENV, "the folder of tasks is not found beside acceleval: set ACCELEVAL_TASKS to it");
}

int ae_context_open(struct ae_context *ret, struct ae_error *err)
{
    *ret = (struct ae_context){0};
    int rc = probe_host(&ret->host, err);
    if (rc == AE_OK)
        rc = find_worker(ret, err);
    if (rc == AE_OK)
        rc = ae_context_find_tasks(ret->tasks, sizeof ret->tasks, err);
    if (rc == AE_OK)
        rc = ae_toolchain_probe(&ret->toolchain, err);
    if (rc == AE_OK)
        rc = ae_cache_open(&ret->cache, NULL, err);
    if (rc == AE_OK)
        rc = ae_bank_open(&ret->bank, NULL, err);
    (void)ae_context_device(ret, 0, false, NULL);
    return rc;
}

int ae_context_device(struct ae_context *context, int ordinal, bool lock, struct ae_error *err)
{
    struct ae_error reason = {0};
    ae_device_close(&context->device);
    int rc = ae_device_open(&context->device, ordinal, &reason);
    if (rc == AE_OK && lock)
        rc = ae_device_lock(&context->device, DEVICE_WAIT, &reason);
    snprintf(context->no_device, sizeof context->no_device, "%s", rc == AE_OK ? "" : reason.text);
    if (rc != AE_OK) {
        context->device.handle = NULL;
        if (err)
            *err = reason;
    }
    return rc;
}

void ae_context_close(struct ae_context *context)
{
    ae_device_close(&context->device);
    ae_cgroup_leave();
    ae_toolchain_free(context->toolchain);
    ae_cache_free(context->cache);
    context->toolchain = NULL;
    context->cache = NULL;
}

void ae_context_pin(const struct ae_context *context)
{
    cpu_set_t own;
    if (context->host.parent_core < 0)
        return;
    CPU_ZERO(&own);
    CPU_SET(context->host.parent_core, &own);
    (void)sched_setaffinity(0, sizeof own, &own);
}

int ae_context_prove(struct ae_context *context, const struct ae_runner_options *options, struct ae_proof_result *ret,
                     struct ae_error *err)
{
    struct ae_proof_result *proof = &context->proofs[options->target];
    char secret[4200];
    int rc = AE_OK;
    if (!proof->made) {
        /* Something that is there, and that only a hole in the sandbox would let it open. */
        snprintf(secret, sizeof secret, "%s/bank.secret", context->bank.folder);
        if (!context->bank.folder[0] || !ae_file_exists(secret))
            snprintf(secret, sizeof secret, "%s/tasks.def", context->tasks);
        rc = ae_prove(options, secret, proof, err);
    }
    if (ret)
        *ret = *proof;
    return rc;
}

double ae_context_read_rate(struct ae_context *context)
{
    enum { bytes = 16 << 10, repeats = 64, samples = 32, margin = 4 };
    if (context->read_rate > 0)
        return context->read_rate;
    ae_autofree char *block = calloc(1, bytes);
    double best = 0;
    for (int i = 0; block && i < samples; i++) {
        const int64_t start = ae_now_ns();
        /* The C library searches with the widest loads there are; the byte is not there. */
        for (int k = 0; k < repeats; k++) {
            if (memchr(block, 1, bytes))
                return 0;
            __asm__ volatile("" : : "r"(block) : "memory"); /* not once for all repeats */
        }
        const int64_t took = ae_now_ns() - start;
        const double rate = took > 0 ? (double)bytes * repeats / (double)took : 0;
        best = rate > best ? rate : best;
    }
    context->read_rate = best * margin * context->host.core_count;
    return context->read_rate;
}

void ae_context_say(const struct ae_context *context, const char *format, ...)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    char text[256];
    va_list args;
    if (!context->progress)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&mutex); /* prepare runs references on several threads */
    context->progress(context->progress_data, text);
    pthread_mutex_unlock(&mutex);
}

int ae_context_read(const struct ae_context *context, const struct ae_task *task, const char *file,
                    struct ae_bytes *ret, struct ae_error *err)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s/%s", context->tasks, task->id, file);
    return ae_file_read(path, 1 << 22, ret, err);
}

const char *ae_spin_name(enum ae_spin spin)
{
    return spin == AE_SPIN_ALWAYS ? "spin" : spin == AE_SPIN_BRIEFLY ? "spin briefly" : "futex";
}

char *ae_context_environment(const struct ae_context *context)
{
    const struct ae_toolchain *tools = context->toolchain;
    json_t *json = json_pack("{s:s, s:i, s:i, s:s, s:b, s:I, s:s, s:s, s:s}", "cpu", context->host.cpu, "cores",
                             context->host.core_count, "submission_cores", context->host.submission_core_count,
                             "kernel", context->host.kernel, "virtual_machine", context->host.virtual_machine,
                             "memory_gib", (json_int_t)((context->host.memory_bytes + (1u << 29)) >> 30), "gcc",
                             tools->tools[AE_TOOL_GCC].version, "nvcc", tools->tools[AE_TOOL_NVCC].version, "waits",
                             ae_spin_name(context->host.spin));
    if (json && context->device.handle) {
        json_object_set_new(json, "device", json_string(context->device.name));
        json_object_set_new(json, "device_memory_gib", json_integer((json_int_t)(context->device.memory_bytes >> 30)));
        json_object_set_new(json, "driver", json_string(context->device.driver));
        json_object_set_new(json, "arch", json_string(context->device.arch));
    }
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(json);
    return text;
}

void ae_context_place(const struct ae_context *context, char *ret, size_t size)
{
    snprintf(ret, size, "%s, %d cores, Linux %s", context->host.cpu, context->host.core_count, context->host.kernel);
}

void ae_context_baseline_key(const struct ae_context *context, char *ret, size_t size)
{
    snprintf(ret, size, "cpu %s\ngcc %s\nwaits %s\n", context->host.cpu,
             context->toolchain->tools[AE_TOOL_GCC].version, ae_spin_name(context->host.spin));
}
