#include "build/toolchain.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "proc/proc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBE_LIMIT (30 * AE_SEC)

static const char *const tool_names[AE_TOOL_COUNT] = {"gcc", "g++", "nvcc"};

static const char *const mends[AE_TOOL_COUNT] = {
    "install gcc (Debian, Ubuntu: apt install gcc)",
    "install g++ (Debian, Ubuntu: apt install g++)",
    "install the CUDA toolkit, 12 or 13, and set CUDA_HOME to its folder or PATH to its bin",
};

static bool executable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The folder's links are resolved, the name is kept: compilers look at the name that they are called by. */
static bool take(char *ret, size_t size, const char *folder, size_t folder_size, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (folder_size == 0 || folder[0] != '/')
        return false;
    int n = snprintf(path, sizeof path, "%.*s/%s", (int)folder_size, folder, name);
    if (n < 0 || (size_t)n >= sizeof path || !executable(path))
        return false;
    snprintf(path, sizeof path, "%.*s", (int)folder_size, folder);
    if (!realpath(path, real))
        return false;
    n = snprintf(ret, size, "%s/%s", real, name);
    return n > 0 && (size_t)n < size;
}

static bool find(char *ret, size_t size, enum ae_tool tool)
{
    const char *name = tool_names[tool], *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; *at;) {
        const size_t n = strcspn(at, ":");
        if (take(ret, size, at, n, name))
            return true;
        at += n + (at[n] == ':');
    }
    if (tool != AE_TOOL_NVCC)
        return false;
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        char folder[PATH_MAX];
        const int n = homes[i] ? snprintf(folder, sizeof folder, "%s/bin", homes[i]) : -1;
        if (n > 0 && (size_t)n < sizeof folder && take(ret, size, folder, (size_t)n, name))
            return true;
    }
    return false;
}

/* Runs a tool with arguments; false where that fails. */
static bool ask(const struct ae_toolchain *toolchain, enum ae_tool tool, bool as_nobody, const char *const *arguments,
                struct ae_proc_result *ret, struct ae_error *err)
{
    char search[2 * PATH_MAX];
    const char *argv[16] = {toolchain->tools[tool].path};
    for (int i = 0; i < 14 && arguments[i]; i++)
        argv[i + 1] = arguments[i];
    const char *gcc = toolchain->tools[AE_TOOL_GCC].path, *slash = strrchr(gcc, '/');
    snprintf(search, sizeof search, "PATH=%.*s%s/usr/bin:/bin", slash ? (int)(slash - gcc) : 0, gcc, slash ? ":" : "");
    const struct ae_proc_spec spec = {.argv = argv,
                                      .env = (const char *const[]){search, "LANG=C", "LC_ALL=C", NULL},
                                      .timeout_ns = PROBE_LIMIT,
                                      .required = as_nobody ? AE_PROC_OTHER_UID : 0,
                                      .landlock_fd = -1};
    int rc = ae_proc_run(&spec, ret, err);
    if (rc == AE_OK && (ret->outcome != AE_PROC_EXITED || ret->code != 0)) {
        (void)ae_error_set(err, AE_E_ENV, "%s %s does not work: %.200s", argv[0], argv[1],
                           ret->err.size ? ret->err.text : ae_proc_outcome_name(ret->outcome));
        ae_proc_result_release(ret);
        rc = AE_E_ENV;
    }
    return rc == AE_OK;
}

/* The line that holds `mark`, without what is before it when `from_mark`, without line end. */
static bool line_with(const char *text, const char *mark, bool from_mark, char *ret, size_t size)
{
    const char *at = strstr(text, mark);
    if (!at)
        return false;
    const char *start = at;
    while (!from_mark && start > text && start[-1] != '\n')
        start--;
    snprintf(ret, size, "%.*s", (int)strcspn(start, "\n"), start);
    return true;
}

static void probe_version(struct ae_toolchain *toolchain, enum ae_tool tool)
{
    struct ae_tool_info *info = &toolchain->tools[tool];
    struct ae_proc_result result;
    struct ae_error err = {0};
    const char *const arguments[] = {"--version", NULL};
    info->as_nobody = geteuid() == 0 && ask(toolchain, tool, true, arguments, &result, &err);
    if (!info->as_nobody && !ask(toolchain, tool, false, arguments, &result, &err)) {
        snprintf(info->missing, sizeof info->missing, "%.600s; %s", err.text, mends[tool]);
        info->path[0] = 0;
        return;
    }
    if (tool != AE_TOOL_NVCC || !line_with(result.out.text, "release ", true, info->version, sizeof info->version))
        snprintf(info->version, sizeof info->version, "%.*s", (int)strcspn(result.out.text, "\n"), result.out.text);
    ae_proc_result_release(&result);
}

/* --- folders that a compiler reads ---------------------------------------------------------------------- */

static void add_readable(struct ae_toolchain *toolchain, const char *folder, size_t size)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (size == 0 || size >= sizeof path || folder[0] != '/')
        return;
    memcpy(path, folder, size);
    path[size] = 0;
    if (!realpath(path, real) || strcmp(real, "/") == 0)
        return;
    for (size_t i = 0; i < AE_TOOLCHAIN_READABLE; i++) {
        char *kept = toolchain->readable[i];
        const size_t n = strlen(kept);
        if (n > 0 && strncmp(real, kept, n) == 0 && (real[n] == '/' || real[n] == 0))
            return; /* lies below one that is there */
        if (n == 0) {
            snprintf(kept, sizeof toolchain->readable[i], "%s", real);
            return;
        }
    }
}

static void probe_gcc(struct ae_toolchain *toolchain, enum ae_tool tool)
{
    struct ae_proc_result result;
    const char *const arguments[] = {"-march=native", "-E", "-v", "-x", tool == AE_TOOL_GXX ? "c++" : "c", "/dev/null", NULL};
    const char *const search[] = {"-print-search-dirs", NULL};
    if (ask(toolchain, tool, false, arguments, &result, NULL)) {
        char line[sizeof toolchain->native];
        if (tool == AE_TOOL_GCC && line_with(result.err.text, " -march=", true, line, sizeof line)) {
            char *end = strstr(line, " -dumpbase");
            if (end)
                *end = 0;
            snprintf(toolchain->native, sizeof toolchain->native, "%s", line + 1);
        }
        const char *list = strstr(result.err.text, "search starts here:\n /");
        for (const char *at = list ? strchr(list, '\n') + 1 : ""; *at == ' ';) {
            const size_t n = strcspn(at, "\n");
            add_readable(toolchain, at + 1, n - 1);
            at += n + (at[n] == '\n');
        }
        ae_proc_result_release(&result);
    }
    if (ask(toolchain, tool, false, search, &result, NULL)) {
        for (const char *at = result.out.text; (at = strchr(at, '/'));) {
            const size_t n = strcspn(at, ":\n");
            add_readable(toolchain, at, n);
            at += n;
        }
        ae_proc_result_release(&result);
    }
}

static void probe_nvcc(struct ae_toolchain *toolchain)
{
    struct ae_tool_info *info = &toolchain->tools[AE_TOOL_NVCC];
    struct ae_proc_result result;
    char top[PATH_MAX];
    const char *const arguments[] = {"--dryrun", "-c", "x.cu", NULL};
    struct ae_error err = {0};
    if (!ask(toolchain, AE_TOOL_NVCC, false, arguments, &result, &err)) {
        snprintf(info->missing, sizeof info->missing, "%.600s; %s", err.text, mends[AE_TOOL_NVCC]);
        info->path[0] = 0;
        return;
    }
    const bool found = line_with(result.err.text, "TOP=", true, top, sizeof top);
    ae_proc_result_release(&result);
    if (!found || !realpath(top + strlen("TOP="), toolchain->cuda_root)) {
        snprintf(info->missing, sizeof info->missing, "%.600s does not tell its toolkit's folder; %s", info->path,
                 mends[AE_TOOL_NVCC]);
        info->path[0] = 0;
        return;
    }
    /* Folders of the usual installers, of Debian's package and of the pip wheels. */
    const char *const libs[] = {"targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib64", "lib"};
    for (size_t i = 0; i < sizeof libs / sizeof *libs && !toolchain->cuda_lib[0]; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.4000s/%s/libcudart_static.a", toolchain->cuda_root, libs[i]);
        if (ae_file_exists(path))
            snprintf(toolchain->cuda_lib, sizeof toolchain->cuda_lib, "%.4000s/%s", toolchain->cuda_root, libs[i]);
    }
    toolchain->cuda_major = atoi(info->version + strcspn(info->version, "0123456789"));
    add_readable(toolchain, toolchain->cuda_root, strlen(toolchain->cuda_root));
    char real[PATH_MAX];
    if (toolchain->cuda_lib[0] && realpath(toolchain->cuda_lib, real))
        add_readable(toolchain, real, strlen(real));
}

int ae_toolchain_probe(struct ae_toolchain **ret, struct ae_error *err)
{
    struct ae_toolchain *toolchain = calloc(1, sizeof *toolchain);
    if (!toolchain)
        return ae_error_set(err, AE_E_NOMEM, "no memory to look for compilers");
    /* What every compiler needs of the system; never /usr as a whole, where other people's data may lie. */
    const char *const base[] = {"/usr/include", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/bin", "/lib", "/lib64", "/bin"};
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        add_readable(toolchain, base[i], strlen(base[i]));
    for (int tool = 0; tool < AE_TOOL_COUNT; tool++) {
        struct ae_tool_info *info = &toolchain->tools[tool];
        if (find(info->path, sizeof info->path, (enum ae_tool)tool))
            probe_version(toolchain, (enum ae_tool)tool);
        else
            snprintf(info->missing, sizeof info->missing, "there is no %s here; %s", tool_names[tool], mends[tool]);
        if (!info->path[0])
            continue;
        const char *slash = strrchr(info->path, '/');
        add_readable(toolchain, info->path, (size_t)(slash - info->path));
        if (tool == AE_TOOL_NVCC)
            probe_nvcc(toolchain);
        else
            probe_gcc(toolchain, (enum ae_tool)tool);
    }
    (void)err;
    *ret = toolchain;
    return AE_OK;
}

void ae_toolchain_free(struct ae_toolchain *toolchain)
{
    free(toolchain);
}

int ae_toolchain_need(const struct ae_toolchain *toolchain, enum ae_tool tool, struct ae_error *err)
{
    if (toolchain->tools[tool].path[0])
        return AE_OK;
    return ae_error_set(err, AE_E_ENV, "%.900s", toolchain->tools[tool].missing);
}
