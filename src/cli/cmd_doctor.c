/* acceleval doctor: what is here, what is missing, and the mend. */
#include "cli/submission.h"

#include "run/answers.h"

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

/* A worker is started for real: the layers that it reports are those that every evaluation would have. */
static void examine_sandbox(struct examination *e, struct ae_context *context)
{
    struct ae_build_result build;
    struct ae_bytes object = {0};
    struct ae_runner runner = {0};
    struct ae_error err = {0};
    char text[512];
    int rc = ae_reference_build(context, ae_tasks[0], &build, &err);
    if (rc == AE_OK)
        rc = ae_file_read(build.object, (size_t)1 << 30, &object, &err);
    ae_build_result_release(&build);
    const struct ae_runner_options options = {.worker = context->worker,
                                              .target = AE_CPU,
                                              .cores = &context->host.submission_cores,
                                              .memory_bytes = (uint64_t)4 << 30};
    if (rc == AE_OK)
        rc = ae_runner_start(&runner, &options, object.data, object.size, 1 << 20, &err);
    if (rc != AE_OK) {
        tell(e, BAD, "sandbox", err.text);
    } else {
        const uint64_t have = ae_proc_layers(runner.proc), missing = ae_runner_wanted_layers() & ~have;
        tell(e, GOOD, "sandbox", ae_proc_layers_text(have, text, sizeof text));
        if (missing) {
            char line[1024];
            snprintf(line, sizeof line, "missing: %s. Namespaces need unprivileged user namespaces (sysctl "
                     "kernel.unprivileged_userns_clone=1; in a container a profile that permits unshare), landlock a "
                     "kernel of 5.13 or later", ae_proc_layers_text(missing, text, sizeof text));
            tell(e, LACK, "sandbox", line);
        }
    }
    ae_runner_stop(&runner, NULL, NULL);
    ae_bytes_release(&object);
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
        examine_sandbox(&e, &context);
    }
    ae_progress_clear(&progress);
    ae_context_close(&context);
    if (e.json)
        ae_cli_print_json(json_pack("{s:i, s:o}", "schema", 1, "findings", e.json));
    return e.bad ? AE_EXIT_ENVIRONMENT : AE_EXIT_OK;
}
