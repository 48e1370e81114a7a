/* Compiling: that good sources become objects that load and run, and that each guard stops what it is there for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "build/build.h"
#include "proc/proc.h"
#include "sandbox/landlock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], scratch[96];
static struct ae_cache *cache;
static struct ae_toolchain *toolchain;

static struct ae_build_result build_with(struct ae_build_request request, const char *source)
{
    struct ae_build_result result;
    struct ae_error err = {0};
    request.name = "test";
    request.source = source;
    request.size = strlen(source);
    if (request.kind == AE_BUILD_CUDA && !request.arch)
        request.arch = "sm_90";
    if (ae_build(toolchain, cache, &request, &result, &err) != AE_OK)
        fail_msg("%s", err.text);
    return result;
}

static struct ae_build_result build(enum ae_build_kind kind, const char *source)
{
    return build_with((struct ae_build_request){.kind = kind}, source);
}

/* Status, verdict and a word of the sentence. */
#define EXPECT(result, wanted_status, wanted_verdict, word)                                                             \
    do {                                                                                                                \
        if ((result).status != (wanted_status) || (result).verdict != (wanted_verdict) ||                               \
            !strstr((result).detail, (word)))                                                                           \
            fail_msg("status %d, %s: %s\n%s", (result).status, ae_verdict_text((result).verdict), (result).detail,      \
                     (result).log ? (result).log : "");                                                                 \
        ae_build_result_release(&(result));                                                                             \
    } while (0)

/* The names live in the judge, which these tests do without. */
static const char *ae_verdict_text(enum ae_verdict verdict)
{
    static char text[16];
    snprintf(text, sizeof text, "verdict %d", verdict);
    return text;
}

static void expect_scratch_empty(void)
{
    DIR *dir = opendir(scratch);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, "ae-build", 8) == 0)
            fail_msg("left behind: %s", entry->d_name);
    (void)closedir(dir);
}

static int call(const char *object, int argument)
{
    void *handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void (*compute)(int, int *) = NULL;
    void *symbol = dlsym(handle, "solution_compute");
    assert_non_null(symbol);
    memcpy(&compute, &symbol, sizeof compute);
    int answer = 0;
    compute(argument, &answer);
    assert_null(dlsym(handle, "helper"));
    (void)dlclose(handle);
    return answer;
}

static const char *const good[] = {
    [AE_BUILD_REFERENCE] = "int helper(int x); int helper(int x) { return 2 * x; }\n"
                           "void solution_compute(int n, int *out) { *out = helper(n); }\n",
    [AE_BUILD_C] = "#include <omp.h>\n#include <math.h>\nint helper(int x) { return 2 * x; }\n"
                   "void solution_compute(int n, int *out) { int s = 0;\n"
                   "_Pragma(\"omp parallel for reduction(+:s)\") for (int i = 0; i < n; i++) s += 2;\n"
                   "*out = s + (int)floor(sin(n) * 0.0); }\n",
    [AE_BUILD_CPP] = "#include <vector>\n#include <numeric>\nint helper(int x) { return 2 * x; }\n"
                     "extern \"C\" void solution_compute(int n, int *out)\n"
                     "{ std::vector<int> v(n, 2); *out = std::accumulate(v.begin(), v.end(), 0); }\n",
};

static void test_good(void **state)
{
    (void)state;
    char text[512];
    for (int kind = AE_BUILD_REFERENCE; kind <= AE_BUILD_CPP; kind++) {
        struct ae_build_result r = build((enum ae_build_kind)kind, good[kind]);
        if (r.status != AE_BUILD_DONE)
            fail_msg("%s\n%s", r.detail, r.log ? r.log : "");
        assert_int_equal(r.verdict, AE_PASS);
        assert_false(r.cached);
        assert_true(r.compile_ns > 0);
        assert_int_equal(r.constructors, 0);
        assert_int_equal(call(r.object, 21), 42);
        if (kind == AE_BUILD_C)
            print_message("layers: %s\n", ae_proc_layers_text(r.layers, text, sizeof text));
        assert_true((r.layers & AE_PROC_LANDLOCK) || ae_landlock_abi() == 0);
        struct ae_build_result again = build((enum ae_build_kind)kind, good[kind]);
        assert_true(again.cached);
        assert_string_equal(again.object, r.object);
        assert_string_equal(again.key, r.key);
        ae_build_result_release(&again);
        ae_build_result_release(&r);
    }
    expect_scratch_empty();
}

static void test_key(void **state)
{
    (void)state;
    /* kind, text and headers each make another object */
    struct ae_build_result a = build(AE_BUILD_REFERENCE, "void solution_compute(void) {}");
    struct ae_build_result b = build(AE_BUILD_C, "void solution_compute(void) {}");
    struct ae_build_result c = build(AE_BUILD_C, "void solution_compute(void) { }");
    assert_string_not_equal(a.key, b.key);
    assert_string_not_equal(b.key, c.key);
    assert_non_null(strstr(b.key_text, "native -march="));
    assert_null(strstr(a.key_text, "native"));
    ae_build_result_release(&a);
    ae_build_result_release(&b);
    ae_build_result_release(&c);
    char dir[128], path[160];
    snprintf(dir, sizeof dir, "%s/common", folder);
    snprintf(path, sizeof path, "%s/answer.h", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    const char *const dirs[] = {dir, NULL};
    const struct ae_build_request request = {.kind = AE_BUILD_C, .include_dirs = dirs};
    const char source[] = "#include \"answer.h\"\nvoid solution_compute(int n, int *out) { *out = n + ANSWER; }";
    assert_int_equal(ae_file_write(path, "#define ANSWER 1\n", 17, NULL), AE_OK);
    a = build_with(request, source);
    assert_int_equal(a.status, AE_BUILD_DONE);
    assert_int_equal(call(a.object, 1), 2);
    assert_int_equal(ae_file_write(path, "#define ANSWER 2\n", 17, NULL), AE_OK);
    b = build_with(request, source);
    assert_int_equal(call(b.object, 1), 3);
    ae_build_result_release(&a);
    ae_build_result_release(&b);
}

static void test_compile_error(void **state)
{
    (void)state;
    struct ae_build_result r = build(AE_BUILD_C, "void solution_compute(int n) { return undeclared; }\n");
    assert_non_null(strstr(r.log, "undeclared"));
    assert_non_null(strstr(r.detail, "solution.c:1:"));
    assert_null(strstr(r.log, scratch));
    assert_null(r.object);
    EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "error: ");
    r = build(AE_BUILD_C, "void missing_function(void); void solution_compute(void) { missing_function(); }\n");
    EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "undefined reference to `missing_function'");
    r = build(AE_BUILD_C, "");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "no function solution_compute");
    /* megabytes of messages: the log stays small */
    struct ae_build_request request = {.kind = AE_BUILD_C, .limits.log_bytes = 2000};
    r = build_with(request, "#define A(x) x x x x x x x x x x x x x x x x\n"
                            "A(A(A(_Pragma(\"message \\\"a long message that is printed again and again\\\"\"))))\n"
                            "void solution_compute(void) {}\n#error stop\n");
    assert_in_range(strlen(r.log), 500, 2200);
    EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "");
    expect_scratch_empty();
}

static void test_endless(void **state)
{
    (void)state;
    struct ae_build_request request = {.kind = AE_BUILD_CPP, .limits.timeout_ns = AE_SEC};
    const char source[] = "template <int N, int M> struct T { static constexpr long v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };\n"
                          "template <int M> struct T<0, M> { static constexpr long v = M; };\n"
                          "extern \"C\" long solution_compute(void) { return T<24, 1>::v; }\n";
    const int64_t start = ae_now_ns();
    struct ae_build_result r = build_with(request, source);
    assert_true(ae_now_ns() - start < 20 * AE_SEC);
    EXPECT(r, AE_BUILD_TIMED_OUT, AE_COMPILE_ERROR, "limit of 1 s");
    request.limits = (struct ae_build_limits){.memory_bytes = (uint64_t)128 << 20};
    r = build_with(request, source);
    EXPECT(r, AE_BUILD_TOO_LARGE, AE_COMPILE_ERROR, "memory");
    /* The preprocessor's work grows as well: here 2 to the 40 words. */
    char nested[4096] = "#define A0 x\n";
    for (int i = 1; i <= 40; i++)
        snprintf(nested + strlen(nested), sizeof nested - strlen(nested), "#define A%d A%d A%d\n", i, i - 1, i - 1);
    strcat(nested, "int solution_compute(void) { return A40; }\n");
    request.kind = AE_BUILD_C;
    r = build_with(request, nested);
    EXPECT(r, AE_BUILD_TOO_LARGE, AE_COMPILE_ERROR, "memory");
    request.limits = (struct ae_build_limits){.timeout_ns = AE_SEC};
    r = build_with(request, nested);
    EXPECT(r, AE_BUILD_TIMED_OUT, AE_COMPILE_ERROR, "limit of 1 s");
    r = build(AE_BUILD_C, "#include \"/dev/stdin\"\nvoid solution_compute(void) {}\n"); /* waits for nobody */
    ae_build_result_release(&r);
    expect_scratch_empty();
}

static void test_huge(void **state)
{
    (void)state;
    struct ae_build_request request = {.kind = AE_BUILD_C, .limits.object_bytes = (uint64_t)1 << 20};
    struct ae_build_result r =
        build_with(request, "const char table[3 << 20] = {1};\nconst char *solution_compute(void) { return table; }\n");
    EXPECT(r, AE_BUILD_TOO_LARGE, AE_COMPILE_ERROR, "limit is 1 MiB");
    r = build_with(request, "const char table[300 << 20] = {1};\nconst char *solution_compute(void) { return table; }\n");
    EXPECT(r, AE_BUILD_TOO_LARGE, AE_COMPILE_ERROR, "1 MiB");
}

static void test_interface(void **state)
{
    (void)state;
    struct ae_build_result r = build(AE_BUILD_CPP, "void solution_compute(int) {}\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "extern \"C\"");
    r = build(AE_BUILD_CPP, "namespace a { void solution_compute(int) {} }\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "extern \"C\"");
    r = build(AE_BUILD_C, "void other(void) {}\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "no function");
    r = build(AE_BUILD_C, "int solution_compute[10];\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "variable");
    r = build(AE_BUILD_C, "__attribute__((used)) static void solution_compute(void) {}\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "static");
    r = build(AE_BUILD_C, "__attribute__((visibility(\"hidden\"))) void solution_compute(void) {}\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "hidden");
    r = build(AE_BUILD_C, "static void f(void) {} static void *pick(void) { return f; }\n"
                          "void solution_compute(void) __attribute__((ifunc(\"pick\")));\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "indirect");
}

static void test_refused_names(void **state)
{
    (void)state;
    static const struct {
        enum ae_build_kind kind;
        const char *source, *word;
    } cases[] = {
        {AE_BUILD_C, "void *memcpy(void *a, const void *b, unsigned long n) { (void)b; (void)n; return a; }", "memcpy, a name of the C library"},
        {AE_BUILD_C, "int hidden_name(void *t) __asm__(\"clock_gettime\"); int hidden_name(void *t) { (void)t; return 0; }", "clock_gettime"},
        {AE_BUILD_C, "__attribute__((weak)) long write(int f, const void *p, unsigned long n) { (void)f; (void)p; return n; }", "write"},
        {AE_BUILD_C, "int pthread_create(void) { return 0; }", "pthread_create"},
        {AE_BUILD_C, "int cudaDeviceSynchronize(void) { return 0; }", "the CUDA runtime"},
        {AE_BUILD_C, "int cuLaunchKernel(void) { return 0; }", "the CUDA driver"},
        {AE_BUILD_C, "int ffi_call(void) { return 0; }", "ffi_call"},
        {AE_BUILD_C, "__asm__(\".globl memset\\n.type memset,@function\\nmemset: ret\\n\");", "memset"},
        {AE_BUILD_C, "void f(void) {} extern void mine(void) __attribute__((alias(\"f\"))); __asm__(\".symver f,free@VERS_1\");", "free"},
        {AE_BUILD_CPP, "extern \"C\" void *malloc(unsigned long) noexcept { return 0; }", "malloc"},
        {AE_BUILD_C, "int stdout_fd; void *stdout = 0;", "stdout"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        snprintf(source, sizeof source, "%s\n%s void solution_compute(int n, int *out) { *out = 2 * n; }\n", cases[i].source,
                 cases[i].kind == AE_BUILD_CPP ? "extern \"C\"" : "");
        struct ae_build_result r = build(cases[i].kind, source);
        EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, cases[i].word);
    }
    /* under the same rules: static ones, and names that only look alike */
    struct ae_build_result r =
        build(AE_BUILD_C, "__attribute__((noinline)) static void free_all(int *p) { *p = 42; } int current(void) { return 0; }\n"
                          "int cuda_version(void) { return 0; } void curve(void) {} int my_memcpy(void) { return 0; }\n"
                          "void solution_compute(int n, int *out) { (void)n; free_all(out); }\n");
    EXPECT(r, AE_BUILD_DONE, AE_PASS, "");
}

static void test_static_arena(void **state)
{
    (void)state;
    static const char *const arenas[] = {
        "char a[2 << 20]; void solution_compute(int n) { a[n] = 1; }",
        "static char a[2 << 20] = {1}; char *solution_compute(int n) { a[n] = 1; return a; }",
        "static _Thread_local char a[2 << 20]; char *solution_compute(int n) { a[n] = 1; return a; }",
        "__asm__(\".comm big,2097152,16\"); extern char big[]; void solution_compute(int n) { big[n] = 1; }",
        "__asm__(\".section .nvFatBinSegment,\\\"aw\\\"\\n.zero 2097152\\n.previous\"); void solution_compute(int n) { (void)n; }",
    };
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) {
        struct ae_build_result r = build(AE_BUILD_C, arenas[i]);
        assert_int_equal(r.violation, AE_STATIC_ARENA);
        EXPECT(r, AE_BUILD_REFUSED, AE_VIOLATION, "static storage");
    }
    struct ae_build_result r = build(AE_BUILD_C, "static char a[1000000]; char *solution_compute(int n) { a[n] = 1; return a; }");
    assert_in_range(r.static_bytes, 1000000, 1000100);
    EXPECT(r, AE_BUILD_DONE, AE_PASS, "");
    r = build(AE_BUILD_C, "const char a[2 << 20] = {1}; const char *solution_compute(void) { return a; }"); /* read-only */
    EXPECT(r, AE_BUILD_DONE, AE_PASS, "");
}

static void test_constructors(void **state)
{
    (void)state;
    struct ae_build_result r = build(AE_BUILD_C, "int x; __attribute__((constructor)) static void c(void) { x = 1; }\n"
                                                 "__attribute__((constructor(200))) static void d(void) { x = 2; }\n"
                                                 "void solution_compute(int n, int *out) { *out = n + x; }");
    assert_int_equal(r.status, AE_BUILD_DONE);
    assert_int_equal(r.constructors, 2);
    ae_build_result_release(&r);
    r = build(AE_BUILD_C, "int x; __attribute__((constructor)) static void c(void) { x = 1; }\n"
                          "__attribute__((constructor(200))) static void d(void) { x = 2; }\n"
                          "void solution_compute(int n, int *out) { *out = n + x; }");
    assert_true(r.cached);
    assert_int_equal(r.constructors, 2); /* known of cached ones too */
    ae_build_result_release(&r);
    r = build(AE_BUILD_CPP, "#include <iostream>\nextern \"C\" void solution_compute(int n, int *out) { *out = n; }");
    assert_int_equal(r.constructors, 1);
    ae_build_result_release(&r);
    r = build(AE_BUILD_C, "__attribute__((target_clones(\"default\", \"avx2\"))) int twice(int n) { return 2 * n; }\n"
                          "void solution_compute(int n, int *out) { *out = twice(n); }");
#ifdef __x86_64__
    assert_true(r.constructors >= 1);
#endif
    ae_build_result_release(&r);
    r = build(AE_BUILD_C, "__asm__(\".section .init,\\\"ax\\\"\\nnop\\n.previous\"); void solution_compute(void) {}");
    assert_true(r.status == AE_BUILD_DONE && r.constructors == 1);
    ae_build_result_release(&r);
}

/* The same compiler outside the sandbox, as a proof that the file can be read at all. */
static bool compiles_outside(const char *source)
{
    char c[128], o[128]; /* as deep below the secret as a scratch folder */
    snprintf(c, sizeof c, "%s/outside", scratch);
    (void)mkdir(c, 0755);
    snprintf(c, sizeof c, "%s/outside/outside.c", scratch);
    snprintf(o, sizeof o, "%s/outside/outside.o", scratch);
    assert_int_equal(ae_file_write(c, source, strlen(source), NULL), AE_OK);
    const struct ae_proc_spec spec = {
        .argv = (const char *const[]){toolchain->tools[AE_TOOL_GCC].path, "-c", c, "-o", o, NULL},
        .env = (const char *const[]){"PATH=/usr/bin:/bin", NULL},
        .landlock_fd = -1};
    struct ae_proc_result r;
    assert_int_equal(ae_proc_run(&spec, &r, NULL), AE_OK);
    const bool compiled = r.outcome == AE_PROC_EXITED && r.code == 0;
    ae_proc_result_release(&r);
    return compiled;
}

static void test_secrets(void **state)
{
    (void)state;
    char secret[128], source[512];
    assert_int_equal(chmod(folder, 0755), 0); /* not the permissions shall protect it */
    snprintf(secret, sizeof secret, "%s/secret.h", folder);
    assert_int_equal(ae_file_write(secret, "#define SECRET 7\n", 17, NULL), AE_OK);
    static const char *const formats[] = {
        "#include \"%s\"\nvoid solution_compute(int n, int *out) { *out = n; }\n",
        "#include \"../../secret.h\" //%s\nvoid solution_compute(int n, int *out) { *out = n; }\n",
        "__asm__(\".section .rodata\\n.incbin \\\"%s\\\"\\n.previous\");\nvoid solution_compute(int n, int *out) { *out = n; }\n",
        "__asm__(\".include \\\"%s\\\"\\n\");\nvoid solution_compute(int n, int *out) { *out = n; }\n",
        "#if __has_include(\"%s\")\nvoid solution_compute(int n, int *out) { *out = n; }\n#else\n#error not readable\n#endif\n",
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const bool assembler = i == 3;
        snprintf(source, sizeof source, formats[i], secret);
        if (assembler)
            assert_int_equal(ae_file_write(secret, "nop\n", 4, NULL), AE_OK);
        assert_true(compiles_outside(source));
        if (ae_landlock_abi() == 0)
            continue;
        struct ae_build_result r = build(AE_BUILD_C, source);
        EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "");
    }
    if (ae_landlock_abi() == 0)
        skip();
}

static void test_environment(void **state)
{
    (void)state;
    /* Ours must not reach the compiler. */
    char header[128];
    snprintf(header, sizeof header, "%s/injected.h", folder);
    assert_int_equal(ae_file_write(header, "#define INJECTED\n", 17, NULL), AE_OK);
    assert_int_equal(setenv("CPATH", folder, 1), 0);
    struct ae_build_result r = build(AE_BUILD_C, "#include <injected.h>\nvoid solution_compute(void) {}\n");
    EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "injected.h");
    assert_int_equal(unsetenv("CPATH"), 0);
}

static void test_damaged_entry(void **state)
{
    (void)state;
    const char source[] = "void solution_compute(int n, int *out) { *out = n + 100; }";
    struct ae_build_result r = build(AE_BUILD_C, source);
    assert_int_equal(r.status, AE_BUILD_DONE);
    struct ae_bytes bytes;
    assert_int_equal(ae_file_read(r.object, 1 << 20, &bytes, NULL), AE_OK);
    bytes.data[bytes.size / 2] ^= 1;
    assert_int_equal(ae_file_write(r.object, bytes.data, bytes.size, NULL), AE_OK);
    ae_bytes_release(&bytes);
    ae_build_result_release(&r);
    r = build(AE_BUILD_C, source);
    assert_int_equal(r.status, AE_BUILD_DONE);
    assert_false(r.cached); /* made again */
    assert_int_equal(call(r.object, 1), 101);
    ae_build_result_release(&r);
}

static void test_uncached(void **state)
{
    (void)state;
    struct ae_cache *own = cache;
    assert_int_equal(ae_cache_open(&cache, "/proc/no/such/place", NULL), AE_OK);
    struct ae_build_result r = build(AE_BUILD_C, "void solution_compute(int n, int *out) { *out = 3 * n; }");
    ae_cache_free(cache);
    cache = own;
    assert_int_equal(r.status, AE_BUILD_DONE);
    assert_true(r.temporary);
    assert_non_null(strstr(r.uncached_reason, "ACCELEVAL_CACHE"));
    assert_int_equal(call(r.object, 5), 15);
    ae_build_result_release(&r);
    expect_scratch_empty();
}

static void test_two_processes(void **state)
{
    (void)state;
    pid_t pids[2];
    for (int p = 0; p < 2; p++) {
        pids[p] = fork();
        assert_true(pids[p] >= 0);
        if (pids[p] > 0)
            continue;
        int bad = 0;
        for (int i = 0; i < 3 && !bad; i++) {
            char source[128];
            snprintf(source, sizeof source, "void solution_compute(int n, int *out) { *out = n + %d; }", 1000 + i);
            struct ae_build_result r = build(AE_BUILD_C, source);
            bad = r.status != AE_BUILD_DONE || call(r.object, 1) != 1001 + i;
            ae_build_result_release(&r);
        }
        _exit(bad);
    }
    for (int p = 0; p < 2; p++) {
        int status;
        assert_int_equal(waitpid(pids[p], &status, 0), pids[p]);
        assert_int_equal(status, 0);
    }
}

static void test_many(void **state)
{
    (void)state;
    enum { count = 9 };
    static char sources[count][128];
    struct ae_build_request requests[count] = {0};
    struct ae_build_result results[count];
    for (int i = 0; i < count; i++) {
        snprintf(sources[i], sizeof sources[i],
                 i == 4 ? "broken %d" : "void solution_compute(int n, int *out) { *out = n * %d; }", 2000 + i);
        requests[i] = (struct ae_build_request){.kind = AE_BUILD_REFERENCE, .source = sources[i], .size = strlen(sources[i])};
    }
    struct ae_error err = {0};
    assert_int_equal(ae_build_many(toolchain, cache, requests, count, 2, results, &err), AE_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(results[i].status, i == 4 ? AE_BUILD_FAILED : AE_BUILD_DONE);
        if (i != 4)
            assert_int_equal(call(results[i].object, 2), 2 * (2000 + i));
        ae_build_result_release(&results[i]);
    }
    requests[3].kind = AE_BUILD_CUDA;
    requests[3].arch = "sm_90 -I/";
    assert_int_equal(ae_build_many(toolchain, cache, requests, count, 2, results, &err), AE_E_USAGE);
    expect_scratch_empty();
}

static void test_no_compiler(void **state)
{
    (void)state;
    struct ae_toolchain *own = toolchain;
    const char *kept = getenv("PATH");
    char path[4096];
    snprintf(path, sizeof path, "%s", kept ? kept : "");
    assert_int_equal(setenv("PATH", "/no/such/folder", 1), 0);
    assert_int_equal(setenv("CUDA_HOME", "/no/such/folder", 1), 0);
    assert_int_equal(ae_toolchain_probe(&toolchain, NULL), AE_OK);
    assert_int_equal(setenv("PATH", path, 1), 0);
    struct ae_build_result r = build(AE_BUILD_C, "void solution_compute(void) {}");
    EXPECT(r, AE_BUILD_UNAVAILABLE, AE_NOT_RUN, "install gcc");
    r = build(AE_BUILD_CUDA, "extern \"C\" void solution_compute(void) {}");
    EXPECT(r, AE_BUILD_UNAVAILABLE, AE_NOT_RUN, "install");
    ae_toolchain_free(toolchain);
    toolchain = own;
    assert_int_equal(unsetenv("CUDA_HOME"), 0);
}

static void test_cuda(void **state)
{
    (void)state;
    if (!toolchain->tools[AE_TOOL_NVCC].path[0]) {
        print_message("%s\n", toolchain->tools[AE_TOOL_NVCC].missing);
        skip();
    }
    const char source[] = "#include <cuda_runtime.h>\n"
                          "__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }\n"
                          "extern \"C\" void solution_compute(int n, float *x) {\n"
                          "float *d; cudaMalloc(&d, n * 4); cudaMemcpy(d, x, n * 4, cudaMemcpyHostToDevice);\n"
                          "twice<<<(n + 255) / 256, 256>>>(d, n); cudaMemcpy(x, d, n * 4, cudaMemcpyDeviceToHost); cudaFree(d); }\n";
    struct ae_build_result r = build(AE_BUILD_CUDA, source);
    if (r.status != AE_BUILD_DONE)
        fail_msg("%s\n%s", r.detail, r.log ? r.log : "");
    assert_int_equal(r.constructors, 0);
    assert_true(r.static_bytes < 4096);
    assert_non_null(strstr(r.key_text, "-arch=sm_90"));
    void *handle = dlopen(r.object, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    assert_non_null(dlsym(handle, "solution_compute"));
    assert_null(dlsym(handle, "cudaMalloc"));
    (void)dlclose(handle);
    assert_null(dlopen(r.object, RTLD_NOW | RTLD_NOLOAD)); /* it can be unloaded */
    ae_build_result_release(&r);
    r = build(AE_BUILD_CUDA, "void solution_compute(int) {}\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "extern \"C\"");
    r = build(AE_BUILD_CUDA, "extern \"C\" int cudaDeviceSynchronize(int) { return 0; } extern \"C\" void solution_compute(void) {}\n");
    assert_int_not_equal(r.status, AE_BUILD_DONE);
    ae_build_result_release(&r);
    r = build(AE_BUILD_CUDA, "extern \"C\" int __fprintf_chk(void *, int, const char *, ...) { return 0; }\n"
                             "extern \"C\" void solution_compute(void) {}\n");
    EXPECT(r, AE_BUILD_REFUSED, AE_BAD_INTERFACE, "__fprintf_chk");
    r = build(AE_BUILD_CUDA, "__global__ void k(int *p) { *p = oops; }\nextern \"C\" void solution_compute(void) {}\n");
    EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "solution.cu(1): error");
    /* the toolkit's libraries are linked where they are used, and only there */
    r = build(AE_BUILD_CUDA, "#include <cublas_v2.h>\n#include <cuda.h>\n"
                             "extern \"C\" void solution_compute(void) { cublasHandle_t h; cublasCreate(&h); cublasDestroy(h); cuInit(0); }\n");
    EXPECT(r, AE_BUILD_DONE, AE_PASS, "");
    /* the toolkit's own headers define names of their own, weakly (CUB and Thrust bring these in) */
    r = build(AE_BUILD_CUDA, "#include <nvtx3/nvToolsExt.h>\n"
                             "extern \"C\" void solution_compute(void) { nvtxRangePushA(\"a\"); nvtxRangePop(); }\n");
    EXPECT(r, AE_BUILD_DONE, AE_PASS, "");
    char secret[128], with_secret[512];
    snprintf(secret, sizeof secret, "%s/expected.bin", folder);
    assert_int_equal(ae_file_write(secret, "1234", 4, NULL), AE_OK);
    snprintf(with_secret, sizeof with_secret, "asm(\".section .rodata\\n.incbin \\\"%s\\\"\\n.previous\");\nextern \"C\" void solution_compute(void) {}\n", secret);
    if (ae_landlock_abi() > 0) {
        r = build(AE_BUILD_CUDA, with_secret);
        assert_null(strstr(r.log, scratch));
        EXPECT(r, AE_BUILD_FAILED, AE_COMPILE_ERROR, "expected.bin");
    }
    expect_scratch_empty();
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/ae-build-test-XXXXXX");
    char root[128];
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0)
        return -1;
    snprintf(scratch, sizeof scratch, "%s/tmp", folder);
    snprintf(root, sizeof root, "%s/cache", folder);
    /* Its idle threads outlive the object that brought it in: unloaded with the object, it would be pulled from under
     * them. */
    (void)dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (mkdir(scratch, 0700) != 0 || chmod(scratch, 01777) != 0 || setenv("TMPDIR", scratch, 1) != 0)
        return -1;
    return ae_cache_open(&cache, root, NULL) != AE_OK || ae_toolchain_probe(&toolchain, NULL) != AE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ae_cache_free(cache);
    ae_toolchain_free(toolchain);
    return ae_folder_remove(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),          cmocka_unit_test(test_key),          cmocka_unit_test(test_compile_error),
        cmocka_unit_test(test_endless),       cmocka_unit_test(test_huge),         cmocka_unit_test(test_interface),
        cmocka_unit_test(test_refused_names), cmocka_unit_test(test_static_arena), cmocka_unit_test(test_constructors),
        cmocka_unit_test(test_secrets),       cmocka_unit_test(test_environment),  cmocka_unit_test(test_damaged_entry),
        cmocka_unit_test(test_uncached),      cmocka_unit_test(test_two_processes), cmocka_unit_test(test_many),
        cmocka_unit_test(test_no_compiler),   cmocka_unit_test(test_cuda),
    };
    return cmocka_run_group_tests_name("build", tests, set_up, tear_down);
}
