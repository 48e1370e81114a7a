#include "build/build.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "proc/proc.h"
#include "sandbox/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Part of every key: raise it when flags, checks or the version script change what a source becomes. */
#define RULES_VERSION "1"

#define STATIC_ARENA_BYTES  ((uint64_t)1 << 20)
#define DEFAULT_TIMEOUT     (120 * AE_SEC)
#define DEFAULT_MEMORY      ((uint64_t)8 << 30)
#define DEFAULT_OBJECT      ((uint64_t)64 << 20)
#define HEADERS_MAX         ((size_t)16 << 20) /* bytes of all files of include_dirs */
#define COMPILER_LOG_MAX    ((uint64_t)256 << 20)
#define ARGUMENTS_MAX       64
#define OBJECT_KIND         "object"
#define NOTE_KIND           "object_note"
#define PROCESSES_MAX       256
#define DESCRIPTORS_MAX     1024

/* nothing else leaves the object: neither can it stand in for a library's function, nor be reached by another name */
static const char exports[] = "{ global: solution_compute; solution_free; local: *; };\n";

/* --- what is compiled how ------------------------------------------------------------------------------- */

static const struct rule {
    const char *name;
    const char *source; /* neutral, so that no path ends up in messages or objects */
    enum ae_tool tool;
    const char *const *compile, *const *link; /* flags */
} rules[AE_BUILD_KIND_COUNT] = {
    [AE_BUILD_REFERENCE] = {.name = "reference",
                            .source = "solution.c",
                            .tool = AE_TOOL_GCC,
                            .compile = (const char *const[]){"-std=c11", "-O2", "-ffp-contract=off", NULL},
                            .link = (const char *const[]){NULL}},
    [AE_BUILD_C] = {.name = "c",
                    .source = "solution.c",
                    .tool = AE_TOOL_GCC,
                    .compile = (const char *const[]){"-std=gnu17", "-O3", "-march=native", "-fopenmp", NULL},
                    .link = (const char *const[]){"-fopenmp", NULL}},
    [AE_BUILD_CPP] = {.name = "cpp",
                      .source = "solution.cpp",
                      .tool = AE_TOOL_GXX,
                      .compile = (const char *const[]){"-std=c++17", "-O3", "-march=native", "-fopenmp", NULL},
                      .link = (const char *const[]){"-fopenmp", NULL}},
    [AE_BUILD_CUDA] = {.name = "cuda",
                       .source = "solution.cu",
                       .tool = AE_TOOL_NVCC,
                       /* ptxas -v: tells how much static device storage there is, however it was written */
                       .compile = (const char *const[]){"-std=c++17", "-O3", "-Xptxas", "-v", "-Xcompiler",
                                                        "-fPIC,-fno-gnu-unique,-fopenmp", NULL},
                       .link = (const char *const[]){"-Xcompiler", "-fopenmp", NULL}},
};

static const char *const gcc_compile[] = {"-fPIC", "-fno-gnu-unique", "-fdiagnostics-color=never", "-fmax-errors=50", NULL};
/* -z defs: a missing symbol is a link error here, not a crash later; -z now: no lazy binding inside a timed call. */
static const char gcc_link[] = "-Wl,-z,now,-z,relro,-z,defs,-z,noexecstack,--as-needed,--version-script=exports.map";
static const char nvcc_link[] = "-z,now,-z,relro,-z,defs,-z,noexecstack,--as-needed,--version-script=exports.map";

/* Libraries of the toolkit that any submission may use; those that a slim toolkit lacks are left out. libcuda is the
 * driver's, linked by its stub. */
static const char *const cuda_libraries[] = {"cublas", "cublasLt", "cusparse", "cusolver", "cufft",
                                             "curand", "nvJitLink", "nvrtc",   NULL};

bool ae_build_kind_of(const char *file_name, enum ae_build_kind *ret)
{
    static const struct {
        const char *ending;
        enum ae_build_kind kind;
    } endings[] = {{".c", AE_BUILD_C},     {".cpp", AE_BUILD_CPP}, {".cc", AE_BUILD_CPP},
                   {".cxx", AE_BUILD_CPP}, {".cu", AE_BUILD_CUDA}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ae_text_ends(file_name, endings[i].ending)) {
            *ret = endings[i].kind;
            return true;
        }
    return false;
}

/* --- a job ---------------------------------------------------------------------------------------------- */

enum stage {
    STAGE_WAITING,
    STAGE_COMPILE,
    STAGE_LINK,
    STAGE_OVER,
};

struct arguments {
    const char *list[ARGUMENTS_MAX];
    int count;
    char room[2 * 4096 + 256]; /* of those that are composed */
    size_t used;
};

struct job {
    const struct ae_toolchain *toolchain;
    struct ae_cache *cache;
    const struct ae_build_request *request;
    const struct rule *rule;
    struct ae_build_limits limits;
    struct ae_build_result *result;
    enum stage stage;
    struct ae_proc *proc;
    char scratch[4096];
    int64_t began_ns;
    bool device_told;      /* the compiler has said, and nothing of what it printed is lost, how much .. */
    uint64_t device_bytes; /* .. static storage on the device there is: __device__, __managed__, of inline PTX */
};

static void add(struct arguments *arguments, const char *text)
{
    if (arguments->count < ARGUMENTS_MAX - 1)
        arguments->list[arguments->count++] = text;
}

static void add_all(struct arguments *arguments, const char *const *list)
{
    for (; *list; list++)
        add(arguments, *list);
}

__attribute__((format(printf, 2, 3))) static void add_format(struct arguments *arguments, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *at = arguments->room + arguments->used;
    const size_t left = sizeof arguments->room - arguments->used;
    const int n = vsnprintf(at, left, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < left) {
        arguments->used += (size_t)n + 1;
        add(arguments, at);
    }
}

static void compile_arguments(const struct job *job, struct arguments *a)
{
    add(a, job->toolchain->tools[job->rule->tool].path);
    add_all(a, job->rule->compile);
    if (job->rule->tool == AE_TOOL_NVCC)
        add_format(a, "-arch=%s", job->request->arch);
    else
        add_all(a, gcc_compile);
    for (size_t i = 0; job->request->include_dirs && job->request->include_dirs[i]; i++)
        add_format(a, "-Iinclude%zu", i);
    add(a, "-c");
    add(a, job->rule->source);
    add(a, "-o");
    add(a, "solution.o");
}

static void link_arguments(const struct job *job, struct arguments *a)
{
    add(a, job->toolchain->tools[job->rule->tool].path);
    add(a, "-shared");
    if (job->rule->tool == AE_TOOL_NVCC) {
        add_format(a, "-arch=%s", job->request->arch);
        add(a, "-Xlinker");
        add(a, nvcc_link);
    } else {
        add(a, gcc_link);
    }
    add(a, "solution.o");
    add(a, "-o");
    add(a, "solution.so");
    add_all(a, job->rule->link);
    if (job->rule->tool == AE_TOOL_NVCC) {
        char path[4096 + 64];
        for (const char *const *name = cuda_libraries; *name; name++) {
            snprintf(path, sizeof path, "%s/lib%s.so", job->toolchain->cuda_lib, *name);
            if (ae_file_exists(path))
                add_format(a, "-l%s", *name);
        }
        snprintf(path, sizeof path, "%s/stubs/libcuda.so", job->toolchain->cuda_lib);
        if (ae_file_exists(path))
            add(a, "-lcuda");
    }
    add(a, "-lm");
}

/* --- results -------------------------------------------------------------------------------------------- */

void ae_build_result_release(struct ae_build_result *result)
{
    if (result->temporary && result->object) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s", result->object);
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
        (void)ae_folder_remove(folder, NULL);
    }
    free(result->log);
    free(result->object);
    free(result->key_text);
    *result = (struct ae_build_result){0};
}

static enum ae_verdict verdict_of(enum ae_build_status status)
{
    switch (status) {
    case AE_BUILD_DONE:
        return AE_PASS;
    case AE_BUILD_FAILED:
    case AE_BUILD_TIMED_OUT:
    case AE_BUILD_TOO_LARGE:
        return AE_COMPILE_ERROR;
    case AE_BUILD_REFUSED:
        return AE_BAD_INTERFACE;
    case AE_BUILD_UNAVAILABLE:
        return AE_NOT_RUN;
    case AE_BUILD_HOST_ERROR:
        break;
    }
    return AE_HOST_ERROR;
}

/* Ends a job: the sentence, the verdict that belongs to the status, and no scratch folder any more. */
__attribute__((format(printf, 3, 4))) static void end_job(struct job *job, enum ae_build_status status, const char *format, ...)
{
    struct ae_build_result *r = job->result;
    va_list args;
    va_start(args, format);
    vsnprintf(r->detail, sizeof r->detail, format, args);
    va_end(args);
    r->status = status;
    r->verdict = verdict_of(status);
    if (job->began_ns && !r->cached)
        r->compile_ns = ae_now_ns() - job->began_ns;
    if (job->scratch[0] && !r->temporary)
        (void)ae_folder_remove(job->scratch, NULL);
    job->scratch[0] = 0;
    job->stage = STAGE_OVER;
}

/* What it printed, behind what is there already, cut to the limit. */
static void keep_log(struct job *job, const struct ae_proc_result *end)
{
    const struct ae_proc_stream *streams[] = {&end->err, &end->out};
    const size_t limit = job->limits.log_bytes + 128; /* the line about what is left out comes on top */
    for (int i = 0; i < 2; i++) {
        const size_t had = job->result->log ? strlen(job->result->log) : 0;
        size_t more = streams[i]->size;
        if (more == 0 || had >= limit)
            continue;
        if (more > limit - had)
            more = limit - had;
        char *log = realloc(job->result->log, had + more + 1);
        if (!log)
            return;
        for (size_t k = 0; k < more; k++) /* NUL would hide the rest */
            log[had + k] = streams[i]->text[k] ? streams[i]->text[k] : '?';
        log[had + more] = 0;
        job->result->log = log;
    }
    /* Temporary names of the assembler are meaningless enough without the folder. */
    for (char *at = job->result->log ? strstr(job->result->log, job->scratch) : NULL; at; at = strstr(at, job->scratch)) {
        const char *rest = at + strlen(job->scratch);
        rest += *rest == '/';
        memmove(at, rest, strlen(rest) + 1);
    }
}

#define PTXAS_LINE "ptxas info"

/* What ptxas says of static storage, for each architecture. A source can have lines printed that look like these: the
 * largest counts, and nothing may be left out. */
static void read_device_storage(struct job *job, const struct ae_proc_result *end)
{
    const struct ae_proc_stream *streams[] = {&end->err, &end->out};
    bool whole = true;
    for (int i = 0; i < 2; i++) {
        whole = whole && streams[i]->total <= streams[i]->size;
        /* Wherever it stands: nothing that is printed before it may hide it, no NUL either. */
        const char *at = streams[i]->text, *const end_of_text = at ? at + streams[i]->size : NULL;
        while (at && (at = memmem(at, (size_t)(end_of_text - at), PTXAS_LINE, sizeof PTXAS_LINE - 1))) {
            unsigned long long bytes;
            int upto = 0;
            if (sscanf(at, PTXAS_LINE " : %llu bytes gmem%n", &bytes, &upto) == 1 && upto > 0) {
                job->device_told = true;
                job->device_bytes = bytes > job->device_bytes ? bytes : job->device_bytes;
            }
            at += sizeof PTXAS_LINE - 1;
        }
    }
    job->device_told = job->device_told && whole;
}

/* What ptxas tells of each kernel is for us, not for the author. */
static void drop_ptxas_lines(char *log)
{
    char *to = log;
    for (char *line = log; *line;) {
        size_t n = strcspn(line, "\n");
        int upto = 0;
        n += line[n] == '\n';
        (void)sscanf(line, " %*u bytes stack frame%n", &upto);
        if (strncmp(line, PTXAS_LINE, sizeof PTXAS_LINE - 1) != 0 && !(upto > 0 && *line == ' ')) {
            memmove(to, line, n);
            to += n;
        }
        line += n;
    }
    *to = 0;
}

/* The first line that says what is wrong, else the first line at all. */
static void first_error(const char *log, char *ret, size_t size)
{
    static const char *const marks[] = {"error:", "Error:", "error :", "error #", "): error", "undefined reference", "undefined symbol",
                                        "multiple definition", "fatal"};
    const char *first = log ? log + strspn(log, "\n ") : "";
    snprintf(ret, size, "%.*s", (int)strcspn(first, "\n"), first);
    for (const char *line = first; *line;) {
        const size_t n = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof marks / sizeof *marks && strncmp(line, "collect2", 8) != 0; i++)
            if (memmem(line, n, marks[i], strlen(marks[i]))) {
                snprintf(ret, size, "%.*s", (int)n, line);
                return;
            }
        line += n + (line[n] == '\n');
    }
}

/* --- scratch folder and key ----------------------------------------------------------------------------- */

static bool as_nobody(const struct job *job)
{
    const struct ae_tool_info *tools = job->toolchain->tools;
    return geteuid() == 0 && tools[job->rule->tool].as_nobody && tools[AE_TOOL_GCC].as_nobody;
}

static int own(const struct job *job, const char *path, mode_t mode)
{
    if (chmod(path, mode) != 0)
        return -1;
    return as_nobody(job) ? lchown(path, AE_PROC_NOBODY, AE_PROC_NOBODY) : 0;
}

struct text {
    char *data;
    size_t used, room;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n >= 0 && text->used + (size_t)n + 1 > text->room && !text->failed) {
        const size_t room = 2 * (text->used + (size_t)n + 1);
        char *data = realloc(text->data, room);
        if (data) {
            text->data = data;
            text->room = room;
        } else {
            text->failed = true;
        }
    }
    if (n >= 0 && !text->failed)
        text->used += (size_t)vsnprintf(text->data + text->used, text->room - text->used, format, again);
    va_end(again);
}

struct header {
    char *name;
    struct ae_bytes bytes;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct header *)a)->name, ((const struct header *)b)->name);
}

/* The regular files of a folder, sorted; subfolders are passed over. Frees nothing on failure: free_headers(). */
static int read_headers(const char *folder, struct header **list, size_t *count, struct ae_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return ae_error_errno(err, AE_E_IO, errno, "cannot read the include folder %s", folder);
    int rc = AE_OK;
    size_t bytes = 0;
    for (struct dirent *entry; rc == AE_OK && (entry = readdir(dir));) {
        char path[4096];
        struct stat st;
        const int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        struct header *more = realloc(*list, (*count + 1) * sizeof *more);
        struct header header = {.name = strdup(entry->d_name)};
        if (more)
            *list = more;
        if (!more || !header.name) {
            free(header.name);
            rc = ae_error_set(err, AE_E_NOMEM, "no memory for the headers of %s", folder);
            break;
        }
        rc = ae_file_read(path, HEADERS_MAX - bytes, &header.bytes, err);
        if (rc != AE_OK) {
            free(header.name);
            break;
        }
        bytes += header.bytes.size;
        more[(*count)++] = header;
    }
    (void)closedir(dir);
    if (rc == AE_OK && *count)
        qsort(*list, *count, sizeof **list, by_name);
    return rc;
}

static void free_headers(struct header *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].name);
        ae_bytes_release(&list[i].bytes);
    }
    free(list);
}

static int write_in(const struct job *job, const char *folder, const char *name, const void *data, size_t size,
                    struct ae_error *err)
{
    char path[4096 + 512];
    snprintf(path, sizeof path, "%s/%s%s", job->scratch, folder, name);
    const int rc = ae_file_write(path, data, size, err);
    if (rc == AE_OK && own(job, path, 0644) != 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot prepare %s", path);
    return rc;
}

/* One include folder: copied, so that the source sees the files whose hashes are in the key, and nothing beside. */
static int take_headers(const struct job *job, size_t index, struct text *key, struct ae_error *err)
{
    const char *from = job->request->include_dirs[index];
    struct header *list = NULL;
    size_t count = 0;
    char folder[32], path[4096 + 64];
    snprintf(folder, sizeof folder, "include%zu/", index);
    snprintf(path, sizeof path, "%s/include%zu", job->scratch, index);
    int rc = read_headers(from, &list, &count, err);
    if (rc == AE_OK && job->scratch[0] && (mkdir(path, 0700) != 0 || own(job, path, 0755) != 0))
        rc = ae_error_errno(err, AE_E_IO, errno, "cannot prepare %s", path);
    for (size_t i = 0; i < count && rc == AE_OK; i++) {
        char hash[AE_SHA256_HEX];
        rc = ae_sha256(list[i].bytes.data, list[i].bytes.size, hash, err);
        if (rc == AE_OK && key)
            text_add(key, "include%zu/%s %s\n", index, list[i].name, hash);
        if (rc == AE_OK && job->scratch[0])
            rc = write_in(job, folder, list[i].name, list[i].bytes.data, list[i].bytes.size, err);
    }
    free_headers(list, count);
    return rc;
}

static int make_key(struct job *job, struct ae_error *err)
{
    struct ae_build_result *r = job->result;
    const struct ae_build_request *q = job->request;
    int rc = ae_sha256(q->source, q->size, r->source_hash, err);
    if (rc != AE_OK)
        return rc;
    struct text key = {0};
    struct arguments compile = {.count = 0}, link = {.count = 0};
    compile_arguments(job, &compile);
    link_arguments(job, &link);
    text_add(&key, "rules %s\nsource %s\nkind %s\ncompiler %s\n", RULES_VERSION, r->source_hash, job->rule->name,
             job->toolchain->tools[job->rule->tool].version);
    if (job->rule->tool == AE_TOOL_NVCC)
        text_add(&key, "host compiler %s\n", job->toolchain->tools[AE_TOOL_GCC].version);
    else if (job->request->kind != AE_BUILD_REFERENCE)
        text_add(&key, "native %s\n", job->toolchain->native);
    text_add(&key, "compile");
    for (int i = 1; i < compile.count; i++)
        text_add(&key, " %s", compile.list[i]);
    text_add(&key, "\nlink");
    for (int i = 1; i < link.count; i++)
        text_add(&key, " %s", link.list[i]);
    text_add(&key, "\n");
    for (size_t i = 0; q->include_dirs && q->include_dirs[i] && rc == AE_OK; i++)
        rc = take_headers(job, i, &key, err);
    if (rc == AE_OK && key.failed)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for a key of the cache");
    if (rc == AE_OK)
        rc = ae_cache_key(key.data, r->key, err);
    r->key_text = key.data;
    return rc;
}

static int make_scratch(struct job *job, struct ae_error *err)
{
    const char *base = getenv("TMPDIR");
    const int n = snprintf(job->scratch, sizeof job->scratch / 2, "%s/ae-build-XXXXXX", base && *base == '/' ? base : "/tmp");
    if (n < 0 || (size_t)n >= sizeof job->scratch / 2 || !mkdtemp(job->scratch)) {
        job->scratch[0] = 0;
        return ae_error_errno(err, AE_E_IO, errno, "no scratch folder for the compiler; is there space, and is TMPDIR right");
    }
    if (own(job, job->scratch, 0700) != 0)
        return ae_error_errno(err, AE_E_IO, errno, "cannot prepare %s", job->scratch);
    int rc = write_in(job, "", job->rule->source, job->request->source, job->request->size, err);
    if (rc == AE_OK)
        rc = write_in(job, "", "exports.map", exports, sizeof exports - 1, err);
    for (size_t i = 0; job->request->include_dirs && job->request->include_dirs[i] && rc == AE_OK; i++)
        rc = take_headers(job, i, NULL, err);
    return rc;
}

/* --- running a compiler --------------------------------------------------------------------------------- */

/* Read-only: the toolchain. Read and write: the scratch folder. Nothing else has a name for the source. */
static int make_ruleset(const struct job *job, int *ret_fd, struct ae_error *err)
{
    enum { tool = AE_LANDLOCK_READ | AE_LANDLOCK_LIST | AE_LANDLOCK_EXECUTE };
    struct ae_landlock_rule list[4 + AE_TOOLCHAIN_READABLE] = {
        {job->scratch, AE_LANDLOCK_READ | AE_LANDLOCK_LIST | AE_LANDLOCK_WRITE | AE_LANDLOCK_MAKE, false},
        {"/dev/null", AE_LANDLOCK_READ | AE_LANDLOCK_WRITE, false},
        {"/dev/urandom", AE_LANDLOCK_READ, true},
        {"/etc/ld.so.cache", AE_LANDLOCK_READ, true},
    };
    size_t count = 4;
    for (size_t i = 0; i < AE_TOOLCHAIN_READABLE && job->toolchain->readable[i][0]; i++)
        list[count++] = (struct ae_landlock_rule){job->toolchain->readable[i], tool, true};
    return ae_landlock_make(list, count, AE_LANDLOCK_NET | AE_LANDLOCK_SCOPE, ret_fd, err);
}

static int start_compiler(struct job *job, const struct arguments *arguments, struct ae_error *err)
{
    const struct ae_toolchain *t = job->toolchain;
    char search[3 * 4096], home[4096 + 16], tmp[4096 + 16];
    const char *gcc = t->tools[AE_TOOL_GCC].path, *own_path = t->tools[job->rule->tool].path;
    const char *gcc_end = strrchr(gcc, '/'), *own_end = strrchr(own_path, '/');
    snprintf(search, sizeof search, "PATH=%.*s:%.*s%s/usr/bin:/bin", (int)(own_end - own_path), own_path,
             gcc_end ? (int)(gcc_end - gcc) : 0, gcc, gcc_end ? ":" : "");
    snprintf(home, sizeof home, "HOME=%s", job->scratch);
    snprintf(tmp, sizeof tmp, "TMPDIR=%s", job->scratch);
    const uint64_t largest_file = 4 * job->limits.object_bytes > ((uint64_t)64 << 20) ? 4 * job->limits.object_bytes
                                                                                     : (uint64_t)64 << 20;
    const struct ae_proc_limit limits[] = {
        {RLIMIT_AS, job->limits.memory_bytes},
        {RLIMIT_FSIZE, largest_file},
        {RLIMIT_CPU, (uint64_t)(job->limits.timeout_ns / AE_SEC) + 10},
        {RLIMIT_NPROC, PROCESSES_MAX},
        {RLIMIT_NOFILE, DESCRIPTORS_MAX},
    };
    ae_autoclose int ruleset = -1;
    if (ae_landlock_abi() > 0) {
        const int rc = make_ruleset(job, &ruleset, err);
        if (rc != AE_OK)
            return rc;
    }
    const struct ae_proc_spec spec = {
        .argv = arguments->list,
        .env = (const char *const[]){search, home, tmp, "LANG=C", "LC_ALL=C", NULL},
        .cwd = job->scratch,
        .limits = limits,
        .limit_count = sizeof limits / sizeof *limits,
        .layers = AE_PROC_USER_NS | AE_PROC_MOUNT_NS | AE_PROC_PID_NS | AE_PROC_NET_NS | AE_PROC_IPC_NS | AE_PROC_UTS_NS |
                  AE_PROC_PRIVATE_PROC | AE_PROC_NO_CAPS | AE_PROC_NO_NEW_PRIVS |
                  (ruleset >= 0 ? AE_PROC_LANDLOCK : 0) | (as_nobody(job) ? AE_PROC_OTHER_UID : 0),
        .required = ruleset >= 0 ? AE_PROC_LANDLOCK : 0,
        .landlock_fd = ruleset,
        .timeout_ns = job->limits.timeout_ns,
        .log_bytes = job->limits.log_bytes,
        .log_max = COMPILER_LOG_MAX,
    };
    return ae_proc_start(&job->proc, &spec, err);
}

/* --- the stages ----------------------------------------------------------------------------------------- */

static void fail_host(struct job *job, const struct ae_error *err)
{
    end_job(job, AE_BUILD_HOST_ERROR, "%.1000s", err->text);
}

static bool from_cache(struct job *job)
{
    struct ae_cache_entry note, object;
    struct ae_build_result *r = job->result;
    if (!job->cache || ae_cache_get(job->cache, NOTE_KIND, r->key_text, &note, NULL) != AE_OK)
        return false;
    int64_t facts[2];
    const bool sound = note.size == sizeof facts;
    if (sound)
        memcpy(facts, note.data, sizeof facts);
    ae_cache_entry_release(&note);
    if (!sound || ae_cache_get(job->cache, OBJECT_KIND, r->key_text, &object, NULL) != AE_OK)
        return false;
    r->object = strdup(object.path);
    ae_cache_entry_release(&object);
    r->constructors = (int)facts[0];
    r->static_bytes = (uint64_t)facts[1];
    r->cached = true;
    return r->object != NULL;
}

static void start_job(struct job *job)
{
    struct ae_error err = {0};
    struct ae_build_result *r = job->result;
    if (ae_toolchain_need(job->toolchain, job->rule->tool, &err) != AE_OK ||
        (job->rule->tool == AE_TOOL_NVCC && ae_toolchain_need(job->toolchain, AE_TOOL_GXX, &err) != AE_OK)) {
        end_job(job, AE_BUILD_UNAVAILABLE, "%.1000s", err.text);
        return;
    }
    if (make_key(job, &err) != AE_OK) {
        fail_host(job, &err);
        return;
    }
    if (from_cache(job)) {
        end_job(job, AE_BUILD_DONE, "compiled before");
        return;
    }
    r->cached = false;
    job->began_ns = ae_now_ns();
    struct arguments arguments = {.count = 0};
    compile_arguments(job, &arguments);
    if (make_scratch(job, &err) != AE_OK || start_compiler(job, &arguments, &err) != AE_OK) {
        fail_host(job, &err);
        return;
    }
    r->layers = ae_proc_layers(job->proc);
    job->stage = STAGE_COMPILE;
}

/* Sorts out every end of a compiler but a good one, which gives true. */
static bool compiler_succeeded(struct job *job, const struct ae_proc_result *end)
{
    const char *what = job->stage == STAGE_COMPILE ? "compiler" : "linker", *log = job->result->log;
    char line[512];
    first_error(log, line, sizeof line);
    switch (end->outcome) {
    case AE_PROC_EXITED:
        if (end->code == 0)
            return true;
        if (log && (strstr(log, "File size limit exceeded") || strstr(log, "file truncated") || strstr(log, "File too large")))
            end_job(job, AE_BUILD_TOO_LARGE, "the %s wrote more than its limit of %llu MiB an object", what,
                    (unsigned long long)(job->limits.object_bytes >> 20));
        else if (log && (strstr(log, "out of memory") || strstr(log, "memory exhausted") || strstr(log, "bad_alloc") ||
                         strstr(log, "Cannot allocate memory") || strstr(log, "cannot allocate memory")))
            end_job(job, AE_BUILD_TOO_LARGE, "the %s needed more than its limit of %llu MiB of memory", what,
                    (unsigned long long)(job->limits.memory_bytes >> 20));
        else
            end_job(job, AE_BUILD_FAILED, "%s", line[0] ? line : "the compiler failed without a word");
        return false;
    case AE_PROC_TIMED_OUT:
        end_job(job, AE_BUILD_TIMED_OUT, "the %s was stopped at its limit of %.3g s", what,
                (double)job->limits.timeout_ns / (double)AE_SEC);
        return false;
    case AE_PROC_LOG_LIMIT:
        end_job(job, AE_BUILD_FAILED, "the %s was stopped because it printed more than %llu MiB", what,
                (unsigned long long)(COMPILER_LOG_MAX >> 20));
        return false;
    case AE_PROC_SIGNALED:
        if (end->signal == SIGXFSZ)
            end_job(job, AE_BUILD_TOO_LARGE, "the %s wrote more than its limit of %llu MiB an object", what,
                    (unsigned long long)(job->limits.object_bytes >> 20));
        else if (end->signal == SIGXCPU)
            end_job(job, AE_BUILD_TIMED_OUT, "the %s used up its processor time", what);
        else if (end->signal == SIGKILL)
            end_job(job, AE_BUILD_HOST_ERROR, "the %s was killed from outside; is this machine out of memory?", what);
        else
            end_job(job, AE_BUILD_FAILED, "the %s died of signal %d", what, end->signal);
        return false;
    case AE_PROC_KILLED:
    case AE_PROC_LOST:
        break;
    }
    end_job(job, AE_BUILD_HOST_ERROR, "the %s was killed from outside", what);
    return false;
}

/* Reads what the compiler left under that name; ends the job where that is impossible. */
static bool read_output(struct job *job, const char *name, struct ae_bytes *ret)
{
    char path[4096 + 64];
    struct stat st;
    struct ae_error err = {0};
    snprintf(path, sizeof path, "%s/%s", job->scratch, name);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        end_job(job, AE_BUILD_FAILED, "the compiler left no object file");
        return false;
    }
    if ((uint64_t)st.st_size > job->limits.object_bytes) {
        end_job(job, AE_BUILD_TOO_LARGE, "the object has %.1f MiB; the limit is %llu MiB", (double)st.st_size / (1 << 20),
                (unsigned long long)(job->limits.object_bytes >> 20));
        return false;
    }
    if (ae_file_read(path, (size_t)job->limits.object_bytes, ret, &err) != AE_OK) {
        fail_host(job, &err);
        return false;
    }
    return true;
}

static bool read_facts(struct job *job, const char *name, struct ae_elf_facts *facts, struct ae_bytes *bytes)
{
    struct ae_error err = {0};
    if (!read_output(job, name, bytes))
        return false;
    if (ae_elf_read(bytes->data, bytes->size, facts, &err) == AE_OK)
        return true;
    end_job(job, AE_BUILD_REFUSED, "%.900s", err.text);
    ae_bytes_release(bytes);
    return false;
}

static const char *entry_problem(enum ae_elf_entry_state state)
{
    switch (state) {
    case AE_ELF_ENTRY_FUNCTION:
        return NULL;
    case AE_ELF_ENTRY_NONE:
        return "it defines no function solution_compute";
    case AE_ELF_ENTRY_MANGLED:
        return "solution_compute is a C++ function there; declare it extern \"C\"";
    case AE_ELF_ENTRY_OBJECT:
        return "solution_compute is a variable there, not a function";
    case AE_ELF_ENTRY_LOCAL:
        return "solution_compute is static or hidden there; declare it without static and with default visibility";
    case AE_ELF_ENTRY_IFUNC:
        return "solution_compute is an indirect function there (target_clones, ifunc); call such functions from it instead";
    }
    return "it cannot be told what solution_compute is there";
}

/* The checks of the relocatable object, before linking hides names. True: go on. */
static bool object_accepted(struct job *job)
{
    struct ae_elf_facts facts;
    struct ae_bytes bytes;
    if (!read_facts(job, "solution.o", &facts, &bytes))
        return false;
    ae_bytes_release(&bytes);
    const char *problem = entry_problem(facts.entry);
    struct ae_build_result *r = job->result;
    r->static_bytes = facts.static_bytes > job->device_bytes ? facts.static_bytes : job->device_bytes;
    /* nvcc registers kernels in a constructor of its own. */
    r->constructors = facts.constructors -
                      (job->rule->tool == AE_TOOL_NVCC && facts.registers_kernels && facts.constructors > 0 ? 1 : 0);
    if (facts.shared)
        end_job(job, AE_BUILD_REFUSED, "the compiler left a shared object where a relocatable one belongs");
    else if (problem)
        end_job(job, AE_BUILD_REFUSED, "%s", problem);
    else if (facts.refused[0])
        end_job(job, AE_BUILD_REFUSED, "it defines %s, a name of %s; give it another name or make it static", facts.refused,
                facts.refused_owner);
    else if (facts.writable_code)
        end_job(job, AE_BUILD_REFUSED, "it has a section that is both writable and executable");
    else if (facts.executable_stack)
        end_job(job, AE_BUILD_REFUSED, "it needs an executable stack (a nested function whose address is taken?)");
    else if (job->rule->tool == AE_TOOL_NVCC && !job->device_told)
        end_job(job, AE_BUILD_REFUSED,
                "the compiler prints too much to tell how much static device storage it has: let it warn of less");
    else if (r->static_bytes > STATIC_ARENA_BYTES) {
        end_job(job, AE_BUILD_REFUSED,
                "it has %.1f MiB of writable static storage, which outlives a call; the limit is 1 MiB: allocate inside the "
                "call",
                (double)r->static_bytes / (1 << 20));
        r->verdict = AE_VIOLATION;
        r->violation = AE_STATIC_ARENA;
    }
    return job->stage != STAGE_OVER;
}

/* Into the cache, or, where it takes nothing, to a folder of its own until the result is released. */
static void store_object(struct job *job, const struct ae_bytes *bytes)
{
    struct ae_build_result *r = job->result;
    struct ae_error err = {0};
    int64_t facts[2] = {r->constructors, (int64_t)r->static_bytes};
    struct iovec object = {bytes->data, bytes->size}, note = {facts, sizeof facts};
    struct ae_cache_entry entry;
    int rc = AE_E_NOTFOUND;
    if (job->cache) {
        rc = ae_cache_put(job->cache, OBJECT_KIND, r->key_text, &object, 1, &err);
        if (rc == AE_OK)
            rc = ae_cache_get(job->cache, OBJECT_KIND, r->key_text, &entry, &err);
        if (rc == AE_OK) {
            r->object = strdup(entry.path);
            ae_cache_entry_release(&entry);
            (void)ae_cache_put(job->cache, NOTE_KIND, r->key_text, &note, 1, NULL);
        } else {
            snprintf(r->uncached_reason, sizeof r->uncached_reason, "%.500s", err.text);
        }
    }
    if (rc != AE_OK) {
        char path[4096 + 64];
        /* The compiler's user owned the folder until now. */
        snprintf(path, sizeof path, "%s/object.so", job->scratch);
        if (lchown(job->scratch, geteuid(), getegid()) != 0 || ae_file_write(path, bytes->data, bytes->size, &err) != AE_OK) {
            end_job(job, AE_BUILD_HOST_ERROR, "the object cannot be kept: %.900s", err.text);
            return;
        }
        r->object = strdup(path);
        r->temporary = true;
    }
    if (!r->object) {
        r->temporary = false;
        end_job(job, AE_BUILD_HOST_ERROR, "no memory for the name of the object");
        return;
    }
    end_job(job, AE_BUILD_DONE, "compiled");
}

static void finish_link(struct job *job)
{
    struct ae_elf_facts facts;
    struct ae_bytes bytes;
    if (!read_facts(job, "solution.so", &facts, &bytes))
        return;
    if (!facts.shared || facts.entry != AE_ELF_ENTRY_FUNCTION)
        end_job(job, AE_BUILD_REFUSED, "the linked object does not export the function solution_compute");
    else if (facts.exported[0])
        end_job(job, AE_BUILD_REFUSED, "the linked object exports %s", facts.exported);
    else if (facts.needed_refused[0])
        end_job(job, AE_BUILD_REFUSED, "the linked object needs %s, which submissions may not use", facts.needed_refused);
    else if (facts.run_path || facts.writable_code || facts.executable_stack)
        end_job(job, AE_BUILD_REFUSED, "the linked object asks for %s",
                facts.run_path ? "a search path or code of its own in the loader" : "writable code or an executable stack");
    else
        store_object(job, &bytes);
    ae_bytes_release(&bytes);
}

static void continue_job(struct job *job)
{
    struct ae_proc_result end;
    struct ae_error err = {0};
    const int rc = ae_proc_wait(job->proc, &end, &err);
    ae_proc_free(job->proc);
    job->proc = NULL;
    if (rc != AE_OK) {
        fail_host(job, &err);
        return;
    }
    const bool cuda = job->stage == STAGE_COMPILE && job->rule->tool == AE_TOOL_NVCC;
    if (cuda)
        read_device_storage(job, &end);
    keep_log(job, &end);
    if (cuda && job->result->log)
        drop_ptxas_lines(job->result->log);
    if (job->result->log && !*job->result->log) {
        free(job->result->log);
        job->result->log = NULL;
    }
    const bool succeeded = compiler_succeeded(job, &end);
    ae_proc_result_release(&end);
    if (!succeeded)
        return;
    if (job->stage == STAGE_LINK) {
        finish_link(job);
        return;
    }
    if (!object_accepted(job))
        return;
    struct arguments arguments = {.count = 0};
    link_arguments(job, &arguments);
    if (start_compiler(job, &arguments, &err) != AE_OK) {
        fail_host(job, &err);
        return;
    }
    job->stage = STAGE_LINK;
}

/* --- the interface -------------------------------------------------------------------------------------- */

bool ae_arch_is_valid(const char *arch)
{
    if (!arch || strncmp(arch, "sm_", 3) != 0)
        return false;
    const size_t digits = strspn(arch + 3, "0123456789");
    const char *rest = arch + 3 + digits;
    return digits >= 2 && digits <= 3 && (!*rest || ((*rest == 'a' || *rest == 'f') && !rest[1]));
}

static int check_request(const struct ae_build_request *request, struct ae_error *err)
{
    if ((unsigned)request->kind >= AE_BUILD_KIND_COUNT || !request->source)
        return ae_error_set(err, AE_E_USAGE, "no source, or no kind of source");
    if (request->kind == AE_BUILD_CUDA && !ae_arch_is_valid(request->arch))
        return ae_error_set(err, AE_E_USAGE, "not an architecture: %.40s (sm_90, for example)",
                            request->arch ? request->arch : "none");
    size_t dirs = 0;
    while (request->include_dirs && request->include_dirs[dirs])
        dirs++;
    if (dirs > 8)
        return ae_error_set(err, AE_E_USAGE, "more than 8 include folders");
    return AE_OK;
}

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int ae_build_many(const struct ae_toolchain *toolchain, struct ae_cache *cache, const struct ae_build_request *requests,
                  size_t count, int jobs, struct ae_build_result *results, struct ae_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const int rc = check_request(&requests[i], err);
        if (rc != AE_OK)
            return rc;
    }
    const size_t width = jobs > 0 ? (size_t)jobs : (size_t)processors();
    struct job *list = calloc(width, sizeof *list);
    struct pollfd *fds = calloc(width, sizeof *fds);
    if (!list || !fds) {
        free(list);
        free(fds);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu compilers at once", width);
    }
    for (size_t i = 0; i < width; i++)
        list[i].stage = STAGE_OVER;
    for (size_t next = 0, busy = 0; next < count || busy > 0;) {
        busy = 0;
        for (size_t i = 0; i < width; i++) {
            struct job *job = &list[i];
            while (job->stage == STAGE_OVER && next < count) {
                const struct ae_build_request *request = &requests[next];
                const struct ae_build_limits *l = &request->limits;
                results[next] = (struct ae_build_result){0};
                *job = (struct job){.toolchain = toolchain,
                                    .cache = cache,
                                    .request = request,
                                    .rule = &rules[request->kind],
                                    .limits = {.timeout_ns = l->timeout_ns > 0 ? l->timeout_ns : DEFAULT_TIMEOUT,
                                               .memory_bytes = l->memory_bytes ? l->memory_bytes : DEFAULT_MEMORY,
                                               .object_bytes = l->object_bytes ? l->object_bytes : DEFAULT_OBJECT,
                                               .log_bytes = l->log_bytes ? l->log_bytes : AE_PROC_LOG_BYTES},
                                    .result = &results[next]};
                next++;
                start_job(job);
            }
            fds[i] = (struct pollfd){.fd = job->proc ? ae_proc_fd(job->proc) : -1, .events = POLLIN};
            busy += job->proc != NULL;
        }
        if (busy == 0)
            continue;
        if (poll(fds, width, -1) < 0)
            continue; /* a signal */
        for (size_t i = 0; i < width; i++)
            if (fds[i].fd >= 0 && fds[i].revents && ae_proc_poll(list[i].proc, 0))
                continue_job(&list[i]);
    }
    free(list);
    free(fds);
    return AE_OK;
}

int ae_build(const struct ae_toolchain *toolchain, struct ae_cache *cache, const struct ae_build_request *request,
             struct ae_build_result *ret, struct ae_error *err)
{
    return ae_build_many(toolchain, cache, request, 1, 1, ret, err);
}
