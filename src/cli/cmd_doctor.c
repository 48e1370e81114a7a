/* acceleval doctor: what is here, what is missing, and the mend. */
#include "cli/submission.h"

#include "run/proof.h"

#include <jansson.h>
#include <string.h>

struct values {
    bool json;
};

const struct ae_option ae_doctor_options[] = {
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
    tell(e, GOOD, what, ae_layers_text(proof.layers, text, sizeof text));
    if (missing) {
        snprintf(line, sizeof line, "missing: %s. Namespaces need unprivileged user namespaces (sysctl "
                 "kernel.unprivileged_userns_clone=1; in a container a profile that permits unshare), landlock a kernel of "
                 "5.13 or later, filters one with seccomp", ae_layers_text(missing, text, sizeof text));
        tell(e, LACK, what, line);
    }
    if (proof.denied == proof.tried)
        snprintf(line, sizeof line, "%d forbidden acts tried, all denied", proof.tried);
    else
        snprintf(line, sizeof line, "%d forbidden acts tried, NOT denied: %s", proof.tried, proof.allowed);
    tell(e, proof.denied == proof.tried ? GOOD : missing ? LACK : BAD, what, line);
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
    if (ae_cli_context(&context, &progress, &err) != AE_OK) {
        tell(&e, BAD, "set-up", err.text);
    } else {
        snprintf(line, sizeof line, "%s; %d cores, waits by %s, kernel %s%s", context.host.cpu, context.host.core_count,
                 context.host.spin ? "spinning" : "futex (fewer than three cores)", context.host.kernel,
                 context.host.virtual_machine ? ", virtual machine" : "");
        tell(&e, GOOD, "host", line);
        examine_tools(&e, &context);
        if (context.device.handle) {
            snprintf(line, sizeof line, "%s, %s, %llu GiB, driver %s", context.device.name, context.device.arch,
                     (unsigned long long)(context.device.memory_bytes >> 30), context.device.driver);
            tell(&e, GOOD, "device", line);
        } else {
            tell(&e, LACK, "device", context.no_device);
        }
        if (ae_cache_writable(context.cache, &err))
            tell(&e, GOOD, "cache", ae_cache_root(context.cache));
        else
            tell(&e, LACK, "cache", err.text);
        tell(&e, GOOD, "bank", context.bank.folder);
        examine_sandbox(&e, &context, AE_CPU);
        if (context.device.handle)
            examine_sandbox(&e, &context, AE_CUDA);
    }
    ae_progress_clear(&progress);
    ae_context_close(&context);
    if (e.json)
        ae_cli_print_json(json_pack("{s:i, s:o}", "schema", 1, "findings", e.json));
    return e.bad ? AE_EXIT_ENVIRONMENT : AE_EXIT_OK;
}
