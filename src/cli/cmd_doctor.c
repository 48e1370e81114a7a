/* acceleval doctor: what is here, what is missing, and the mend. */
#include "cli/submission.h"

#include "base/file.h"
#include "base/text.h"
#include "profile/ceilings.h"
#include "run/proof.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct values {
    bool json, measure;
};

const struct ae_option ae_doctor_options[] = {
    {.name = "measure", .kind = AE_OPTION_FLAG,
     .help = "measure this machine's ceilings anew: copies, transfers, launches, memory, arithmetic",
     .offset = offsetof(struct values, measure)},
    {.name = "json", .kind = AE_OPTION_FLAG, .help = "as JSON", .offset = offsetof(struct values, json)},
    {0},
};

enum state { GOOD, LACK, BAD };

/* A line of the examination, printed or gathered. */
struct examination {
    json_t *json; /* NULL: print */
    bool bad;
};

static void tell(struct examination *e, enum state state, const char *what, const char *text)
{
    static const char *const marks[] = {"ok  ", "lack", "BAD "};
    static const char *const words[] = {"ok", "lack", "bad"};
    e->bad |= state == BAD;
    if (e->json)
        json_array_append_new(e->json, json_pack("{s:s, s:s, s:s}", "what", what, "state", words[state], "text", text));
    else
        printf("%s  %-16s %s\n", marks[state], what, text);
}

static void examine_tools(struct examination *e, const struct ae_context *context)
{
    static const char *const names[AE_TOOL_COUNT] = {"gcc", "g++", "nvcc"};
    for (int i = 0; i < AE_TOOL_COUNT; i++) {
        const struct ae_tool_info *tool = &context->toolchain->tools[i];
        if (tool->path[0])
            tell(e, GOOD, names[i], tool->version);
        else
            tell(e, i == AE_TOOL_GCC ? BAD : LACK, names[i], tool->missing);
    }
}

/* Workers are started for real and try what is forbidden: what they report is what every evaluation would have. */
static void examine_sandbox(struct examination *e, struct ae_context *context, enum ae_target target)
{
    struct ae_proof_result proof = {0};
    struct ae_error err = {0};
    char text[512], line[1024];
    const struct ae_runner_options options = {.worker = context->worker,
                                              .target = target,
                                              .device = 0,
                                              .cuda_lib = context->toolchain->cuda_lib[0] ? context->toolchain->cuda_lib : NULL,
                                              .cores = &context->host.submission_cores,
                                              .memory_bytes = (uint64_t)4 << 30};
    const char *what = target == AE_CUDA ? "sandbox (cuda)" : "sandbox";
    if (ae_context_prove(context, &options, &proof, &err) != AE_OK) {
        tell(e, BAD, what, err.text);
        return;
    }
    const uint64_t missing = ae_runner_wanted_layers() & ~proof.layers;
    const uint64_t groups = missing & (AE_PROC_CGROUP | AE_LAYER_MEMORY | AE_LAYER_PIDS);
    tell(e, GOOD, what, ae_layers_text(proof.layers, text, sizeof text));
    if (missing & ~groups) {
        snprintf(line, sizeof line, "missing: %s. Namespaces need unprivileged user namespaces (sysctl "
                 "kernel.unprivileged_userns_clone=1; in a container a profile that permits unshare), landlock a kernel of "
                 "5.13 or later, filters one with seccomp", ae_layers_text(missing & ~groups, text, sizeof text));
        tell(e, LACK, what, line);
    }
    if (groups) {
        char lack[512];
        (void)ae_cgroup_here(lack, sizeof lack);
        snprintf(line, sizeof line, "missing: %s%s%s", ae_layers_text(groups, text, sizeof text), lack[0] ? ". " : "", lack);
        tell(e, LACK, what, line);
    }
    if (proof.denied == proof.tried)
        snprintf(line, sizeof line, "%d forbidden acts tried, all denied", proof.tried);
    else
        snprintf(line, sizeof line, "%d forbidden acts tried, NOT denied: %s", proof.tried, proof.allowed);
    tell(e, proof.denied == proof.tried ? GOOD : missing ? LACK : BAD, what, line);
}

/* The first folder above path that is there takes new ones, or errno says why not. */
static bool can_be_made(const char *path)
{
    char folder[AE_STORE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; (slash = strrchr(folder, '/')) && slash != folder;) {
        struct stat st;
        *slash = 0;
        if (stat(folder, &st) != 0)
            continue;
        errno = ENOTDIR;
        return S_ISDIR(st.st_mode) && access(folder, W_OK | X_OK) == 0;
    }
    return access(path[0] == '/' ? "/" : ".", W_OK | X_OK) == 0;
}

/* Without a bank or a place for the results nothing can be evaluated: the exit status says so. */
static void examine_results(struct examination *e)
{
    char path[AE_STORE_PATH_MAX], line[AE_STORE_PATH_MAX + 256];
    struct ae_store *store = NULL;
    struct ae_error err = {0};
    int rc = ae_store_default_path(path, &err);
    if (rc == AE_OK && !ae_file_exists(path)) {
        if (can_be_made(path)) {
            snprintf(line, sizeof line, "%s (none yet)", path);
            tell(e, GOOD, "results", line);
            return;
        }
        rc = ae_error_errno(&err, AE_E_ENV, errno, "no place for %s; set ACCELEVAL_STORE to another file", path);
    } else if (rc == AE_OK) {
        rc = ae_store_open(&store, NULL, AE_STORE_READ, &err);
        if (rc == AE_OK && access(path, W_OK) != 0)
            rc = ae_error_errno(&err, AE_E_ENV, errno, "%s takes nothing; set ACCELEVAL_STORE to another file", path);
        ae_store_close(store);
    }
    tell(e, rc == AE_OK ? GOOD : LACK, "results", rc == AE_OK ? path : err.text);
    e->bad |= rc != AE_OK;
}

static void examine_bank(struct examination *e)
{
    struct ae_bank bank;
    struct ae_error err = {0};
    const int rc = ae_bank_open(&bank, NULL, &err);
    tell(e, rc == AE_OK ? GOOD : LACK, "bank", rc == AE_OK ? bank.folder : err.text);
    e->bad |= rc != AE_OK;
}

static void tell_host(struct examination *e, const struct ae_ceilings *c)
{
    char line[512];
    snprintf(line, sizeof line,
             "one thread copies %.1f GB/s, all %d %s %.1f GB/s; first touch of a page %.2f us; "
             "starting and joining a thread %.0f us",
             c->copy_one_rate * 1e-9, c->cores, ae_text_plural(c->cores, "core", "cores"), c->copy_all_rate * 1e-9,
             c->touch_page_ns * 1e-3, c->thread_ns * 1e-3);
    tell(e, GOOD, "host ceilings", line);
}

static void tell_transfers(struct examination *e, const struct ae_ceilings *c)
{
    char line[512];
    for (int i = 0; i < c->transfer_count; i++) {
        const struct ae_transfer_ceiling *t = &c->transfers[i];
        const double bytes = t->bytes; /* bytes a nanosecond are GB/s */
        snprintf(line, sizeof line, "%8.2f MiB: pageable %.1f in, %.1f out; registered %.1f in, %.1f out GB/s; "
                 "registering %.0f us, undoing it %.0f", t->bytes / 0x1p20, bytes / t->pageable_in_ns,
                 bytes / t->pageable_out_ns, t->pinned_in_ns > 0 ? bytes / t->pinned_in_ns : 0,
                 t->pinned_out_ns > 0 ? bytes / t->pinned_out_ns : 0, t->register_ns * 1e-3, t->unregister_ns * 1e-3);
        tell(e, GOOD, "link", line);
    }
}

static void examine_ceilings(struct examination *e, struct ae_context *context)
{
    struct ae_ceilings c;
    struct ae_error err = {0};
    char line[512];
    if (ae_ceilings_measure(context, &c, &err) != AE_OK) {
        tell(e, BAD, "ceilings", err.text);
        return;
    }
    tell_host(e, &c);
    if (!c.device) {
        tell(e, LACK, "device ceilings", context->device.handle ? "the driver did not let acceleval-measure use the device"
                                                                : context->no_device);
        return;
    }
    tell_transfers(e, &c);
    snprintf(line, sizeof line, "device memory %.2f TB/s (read and written), fp32 %.1f, fp64 %.1f Tflop/s",
             c.memory_rate * 1e-12, c.f32_rate * 1e-12, c.f64_rate * 1e-12);
    tell(e, GOOD, "device ceilings", line);
    snprintf(line, sizeof line, "launch %.1f us in a row, %.1f with a wait; idle wait %.2f us; 4 bytes in %.1f, out %.1f us; "
             "16 MiB allocated %.0f, freed %.0f us; pinning %.0f us a MiB, unpinning %.0f", c.launch_ns * 1e-3,
             c.launch_sync_ns * 1e-3, c.sync_idle_ns * 1e-3, c.small_in_ns * 1e-3, c.small_out_ns * 1e-3,
             c.alloc_ns * 1e-3, c.free_ns * 1e-3, c.pinned_alloc_ns_mb * 1e-3, c.pinned_free_ns_mb * 1e-3);
    tell(e, GOOD, "device costs", line);
    if (e->json)
        json_array_append_new(e->json, json_pack("{s:s, s:s, s:o}", "what", "ceilings", "state", "ok", "ceilings",
                                                 ae_ceilings_json(&c)));
}

int ae_cmd_doctor(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_error err = {0};
    char line[1024];
    const int done = ae_cli_parse(self, argc, argv, &values, NULL);
    if (done >= 0)
        return done;
    struct examination e = {.json = values.json ? json_array() : NULL};
    /* cache and bank come last, and each has a line of its own */
    if (ae_cli_context_quiet(&context, &progress, &err) != AE_OK && !context.toolchain) {
        tell(&e, BAD, "set-up", err.text);
    } else {
        snprintf(line, sizeof line, "%s; %d %s, waits by %s, kernel %s%s", context.host.cpu, context.host.core_count,
                 ae_text_plural(context.host.core_count, "core", "cores"),
                 context.host.spin == AE_SPIN_ALWAYS    ? "spinning"
                 : context.host.spin == AE_SPIN_BRIEFLY ? "spinning for a moment, then a futex (two cores)"
                                                        : "futex (one core)",
                 context.host.kernel, context.host.virtual_machine ? ", virtual machine" : "");
        tell(&e, GOOD, "host", line);
        examine_tools(&e, &context);
        if (context.device.handle) {
            snprintf(line, sizeof line, "%s, %s, %llu GiB, driver %s", context.device.name, context.device.arch,
                     (unsigned long long)(context.device.memory_bytes >> 30), context.device.driver);
            tell(&e, GOOD, "device", line);
        } else {
            tell(&e, LACK, "device", context.no_device);
        }
        if (context.cache && ae_cache_writable(context.cache, &err))
            tell(&e, GOOD, "cache", ae_cache_root(context.cache));
        else
            tell(&e, LACK, "cache", err.text);
        examine_bank(&e);
        examine_results(&e);
        examine_sandbox(&e, &context, AE_CPU);
        if (context.device.handle)
            examine_sandbox(&e, &context, AE_CUDA);
        if (values.measure && context.cache)
            examine_ceilings(&e, &context);
    }
    ae_progress_clear(&progress);
    ae_context_close(&context);
    if (e.json)
        ae_cli_print_json(json_pack("{s:i, s:o}", "schema", 1, "findings", e.json));
    return e.bad ? AE_EXIT_ENVIRONMENT : AE_EXIT_OK;
}
