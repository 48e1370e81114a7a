/* The device's ceilings through the driver's API, which is opened at run time and declared here. */
#include "measure/measure.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int cu_result;
typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_event *cu_event;
typedef unsigned long long cu_pointer;

static struct {
    cu_result (*init)(unsigned);
    cu_result (*device_get)(int *, int);
    cu_result (*attribute)(int *, int, int);
    cu_result (*name)(char *, int, int);
    cu_result (*retain)(cu_context *, int);
    cu_result (*release)(int);
    cu_result (*set_current)(cu_context);
    cu_result (*synchronize)(void);
    cu_result (*alloc)(cu_pointer *, size_t);
    cu_result (*free)(cu_pointer);
    cu_result (*host_alloc)(void **, size_t, unsigned);
    cu_result (*host_free)(void *);
    cu_result (*reg)(void *, size_t, unsigned);
    cu_result (*unreg)(void *);
    cu_result (*in)(cu_pointer, const void *, size_t);
    cu_result (*out)(void *, cu_pointer, size_t);
    cu_result (*within)(cu_pointer, cu_pointer, size_t, void *);
    cu_result (*load)(cu_module *, const void *);
    cu_result (*unload)(cu_module);
    cu_result (*function)(cu_function *, cu_module, const char *);
    cu_result (*launch)(cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                        void **, void **);
    cu_result (*event_create)(cu_event *, unsigned);
    cu_result (*event_record)(cu_event, void *);
    cu_result (*event_wait)(cu_event);
    cu_result (*event_elapsed)(float *, cu_event, cu_event);
} cu;

static const struct {
    const char *name;
    void **where;
} entries[] = {
    {"cuInit", (void **)&cu.init},
    {"cuDeviceGet", (void **)&cu.device_get},
    {"cuDeviceGetAttribute", (void **)&cu.attribute},
    {"cuDeviceGetName", (void **)&cu.name},
    {"cuDevicePrimaryCtxRetain", (void **)&cu.retain},
    {"cuDevicePrimaryCtxRelease_v2", (void **)&cu.release},
    {"cuCtxSetCurrent", (void **)&cu.set_current},
    {"cuCtxSynchronize", (void **)&cu.synchronize},
    {"cuMemAlloc_v2", (void **)&cu.alloc},
    {"cuMemFree_v2", (void **)&cu.free},
    {"cuMemHostAlloc", (void **)&cu.host_alloc},
    {"cuMemFreeHost", (void **)&cu.host_free},
    {"cuMemHostRegister_v2", (void **)&cu.reg},
    {"cuMemHostUnregister", (void **)&cu.unreg},
    {"cuMemcpyHtoD_v2", (void **)&cu.in},
    {"cuMemcpyDtoH_v2", (void **)&cu.out},
    {"cuMemcpyDtoDAsync_v2", (void **)&cu.within},
    {"cuModuleLoadData", (void **)&cu.load},
    {"cuModuleUnload", (void **)&cu.unload},
    {"cuModuleGetFunction", (void **)&cu.function},
    {"cuLaunchKernel", (void **)&cu.launch},
    {"cuEventCreate", (void **)&cu.event_create},
    {"cuEventRecord", (void **)&cu.event_record},
    {"cuEventSynchronize", (void **)&cu.event_wait},
    {"cuEventElapsedTime", (void **)&cu.event_elapsed},
};

/* CU_DEVICE_ATTRIBUTE_ of cuda.h. */
enum {
    MULTIPROCESSORS = 16,
    L2_BYTES = 38,
    THREADS_A_MULTIPROCESSOR = 39,
    SHARED_A_MULTIPROCESSOR = 81,
    REGISTERS_A_MULTIPROCESSOR = 82,
    BLOCKS_A_MULTIPROCESSOR = 106,
};

static const size_t sizes[] = {(size_t)64 << 10, (size_t)1 << 20, (size_t)16 << 20, (size_t)64 << 20, (size_t)256 << 20};
#define SIZES (sizeof sizes / sizeof *sizes)
#define REPEATS      5
#define SMALL_ROUNDS 201
#define CHAIN        256 /* launches in a row */
#define DEVICE_BYTES ((size_t)1 << 30)

/* Median time of an action on (device, host, bytes); 0 where the driver refuses it. */
#define TIMED(result, repeats, action)                                        \
    do {                                                                      \
        double samples_[SMALL_ROUNDS];                                        \
        int n_ = 0;                                                           \
        for (int i_ = 0; i_ < (repeats); i_++) {                              \
            const int64_t start_ = ae_now_ns();                               \
            if ((action) != 0)                                                \
                break;                                                        \
            samples_[n_++] = (double)(ae_now_ns() - start_);                  \
        }                                                                     \
        (result) = ae_measure_median(samples_, n_);                           \
    } while (0)

static json_t *transfers(cu_pointer device)
{
    json_t *array = json_array();
    for (size_t k = 0; k < SIZES; k++) {
        const size_t bytes = sizes[k];
        double pageable_in, pageable_out, pinned_in = 0, pinned_out = 0, reg[REPEATS], unreg[REPEATS];
        int n = 0;
        char *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (host == MAP_FAILED)
            break;
        /* As the arguments of a call are where shared memory has no huge pages. */
        (void)madvise(host, bytes, MADV_NOHUGEPAGE);
        memset(host, 1, bytes);
        TIMED(pageable_in, REPEATS, cu.in(device, host, bytes));
        TIMED(pageable_out, REPEATS, cu.out(host, device, bytes));
        for (; n < REPEATS; n++) {
            const int64_t start = ae_now_ns();
            if (cu.reg(host, bytes, 0) != 0)
                break;
            const int64_t registered = ae_now_ns();
            if (n == 0) {
                TIMED(pinned_in, REPEATS, cu.in(device, host, bytes));
                TIMED(pinned_out, REPEATS, cu.out(host, device, bytes));
            }
            const int64_t before = ae_now_ns();
            (void)cu.unreg(host);
            reg[n] = (double)(registered - start);
            unreg[n] = (double)(ae_now_ns() - before);
        }
        (void)munmap(host, bytes);
        json_array_append_new(array, json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "bytes", (json_int_t)bytes,
                                               "pageable_in_ns", pageable_in, "pageable_out_ns", pageable_out,
                                               "pinned_in_ns", pinned_in, "pinned_out_ns", pinned_out, "register_ns",
                                               ae_measure_median(reg, n), "unregister_ns", ae_measure_median(unreg, n)));
    }
    return array;
}

static void allocation(json_t *to)
{
    double take[SMALL_ROUNDS], give[SMALL_ROUNDS], pin[REPEATS], unpin[REPEATS];
    int n = 0, m = 0;
    for (; n < 51; n++) {
        cu_pointer block;
        const int64_t start = ae_now_ns();
        if (cu.alloc(&block, (size_t)16 << 20) != 0)
            break;
        const int64_t taken = ae_now_ns();
        (void)cu.free(block);
        take[n] = (double)(taken - start);
        give[n] = (double)(ae_now_ns() - taken);
    }
    for (; m < REPEATS; m++) {
        void *block;
        const int64_t start = ae_now_ns();
        if (cu.host_alloc(&block, (size_t)16 << 20, 0) != 0)
            break;
        const int64_t taken = ae_now_ns();
        (void)cu.host_free(block);
        pin[m] = (double)(taken - start);
        unpin[m] = (double)(ae_now_ns() - taken);
    }
    json_object_set_new(to, "alloc_ns", json_real(ae_measure_median(take, n)));
    json_object_set_new(to, "free_ns", json_real(ae_measure_median(give, n)));
    json_object_set_new(to, "pinned_alloc_ns_mb", json_real(ae_measure_median(pin, m) / 16));
    json_object_set_new(to, "pinned_free_ns_mb", json_real(ae_measure_median(unpin, m) / 16));
}

/* A loop of independent chains of fused multiply-adds, written in the driver's own assembly language. */
#define CHAINS 8
#define UNROLL 16

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static char *write_ptx(void)
{
    static const struct {
        const char *name, *type, *reg, *one;
        int bytes;
    } kinds[] = {
        {"chains_f32", "f32", "f", "0f3F7FFFFF", 4},
        {"chains_f64", "f64", "d", "0d3FEFFFFFFFFFFFFF", 8},
    };
    const size_t size = (size_t)64 << 10;
    char *text = calloc(1, size);
    if (!text)
        return NULL;
    append(text, size, ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        append(text, size, ".visible .entry %s(.param .u64 out, .param .u32 rounds)\n{\n.reg .pred %%p;\n"
               ".reg .u32 %%n, %%i, %%t;\n.reg .u64 %%o;\n.reg .%s %%x<%d>, %%y;\n", kinds[k].name, kinds[k].type,
               CHAINS);
        append(text, size, "ld.param.u64 %%o, [out];\nld.param.u32 %%n, [rounds];\nmov.u32 %%i, 0;\n"
               "mov.u32 %%t, %%tid.x;\nmov.%s %%y, %s;\n", kinds[k].type, kinds[k].one);
        for (int c = 0; c < CHAINS; c++)
            append(text, size, "cvt.rn.%s.u32 %%x%d, %%t;\n", kinds[k].type, c);
        append(text, size, "again:\n");
        for (int u = 0; u < UNROLL; u++)
            for (int c = 0; c < CHAINS; c++)
                append(text, size, "fma.rn.%s %%x%d, %%x%d, %%y, %%y;\n", kinds[k].type, c, c);
        append(text, size, "add.u32 %%i, %%i, 1;\nsetp.lt.u32 %%p, %%i, %%n;\n@%%p bra again;\n");
        for (int c = 1; c < CHAINS; c++)
            append(text, size, "add.%s %%x0, %%x0, %%x%d;\n", kinds[k].type, c);
        /* Never true; without a use the chains would be left out. */
        append(text, size, "setp.eq.%s %%p, %%x0, %%y;\n@%%p st.global.%s [%%o], %%x0;\nret;\n}\n", kinds[k].type,
               kinds[k].type);
    }
    return text;
}

/* Milliseconds between two events around the work; 0 where it fails. */
static double between(cu_event from, cu_event to)
{
    float ms = 0;
    return cu.event_record(to, NULL) == 0 && cu.event_wait(to) == 0 && cu.event_elapsed(&ms, from, to) == 0 ? ms : 0;
}

static double arithmetic(cu_function chains, cu_pointer out, int blocks, cu_event from, cu_event to)
{
    unsigned rounds = 512;
    void *params[] = {&out, &rounds};
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        if (cu.event_record(from, NULL) != 0 ||
            cu.launch(chains, (unsigned)blocks, 1, 1, 256, 1, 1, 0, NULL, params, NULL) != 0)
            return 0;
        const double ms = between(from, to);
        const double rate = ms > 0 ? 2.0 * CHAINS * UNROLL * rounds * 256.0 * blocks / (ms * 1e-3) : 0;
        best = rate > best ? rate : best;
    }
    return best;
}

static double launch_and_wait(cu_function nothing)
{
    double ns;
    TIMED(ns, SMALL_ROUNDS, cu.launch(nothing, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) || cu.synchronize());
    return ns;
}

static int launch_chain(cu_function nothing)
{
    for (int i = 0; i < CHAIN; i++)
        if (cu.launch(nothing, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) != 0)
            return 1;
    return cu.synchronize();
}

static void kernels(json_t *to, cu_pointer device, int multiprocessors)
{
    cu_module module;
    cu_function nothing, f32, f64;
    cu_event from, until;
    double ns = 0, best = 0;
    if (cu.event_create(&from, 0) != 0 || cu.event_create(&until, 0) != 0)
        return;
    for (int i = 0; i < REPEATS; i++) {
        if (cu.event_record(from, NULL) != 0 || cu.within(device + DEVICE_BYTES / 2, device, DEVICE_BYTES / 2, NULL) != 0)
            break;
        const double ms = between(from, until);
        const double rate = ms > 0 ? (double)DEVICE_BYTES / (ms * 1e-3) : 0; /* read and written */
        best = rate > best ? rate : best;
    }
    json_object_set_new(to, "memory_rate", json_real(best));
    TIMED(ns, SMALL_ROUNDS, cu.synchronize());
    json_object_set_new(to, "sync_idle_ns", json_real(ns));
    char *ptx = write_ptx();
    if (!ptx || cu.load(&module, ptx) != 0) {
        free(ptx);
        return; /* no compiler in the driver: launches and arithmetic stay unknown */
    }
    free(ptx);
    if (cu.function(&nothing, module, "nothing") == 0) {
        (void)launch_and_wait(nothing);
        json_object_set_new(to, "launch_sync_ns", json_real(launch_and_wait(nothing)));
        TIMED(ns, REPEATS, launch_chain(nothing));
        json_object_set_new(to, "launch_ns", json_real(ns / CHAIN));
    }
    if (cu.function(&f32, module, "chains_f32") == 0)
        json_object_set_new(to, "f32_rate", json_real(arithmetic(f32, device, multiprocessors * 16, from, until)));
    if (cu.function(&f64, module, "chains_f64") == 0)
        json_object_set_new(to, "f64_rate", json_real(arithmetic(f64, device, multiprocessors * 16, from, until)));
    (void)cu.unload(module);
}

static void properties(json_t *to, int device)
{
    static const struct {
        const char *name;
        int attribute;
    } list[] = {
        {"multiprocessors", MULTIPROCESSORS},
        {"l2_bytes", L2_BYTES},
        {"threads_a_multiprocessor", THREADS_A_MULTIPROCESSOR},
        {"blocks_a_multiprocessor", BLOCKS_A_MULTIPROCESSOR},
        {"registers_a_multiprocessor", REGISTERS_A_MULTIPROCESSOR},
        {"shared_a_multiprocessor", SHARED_A_MULTIPROCESSOR},
    };
    char name[128] = "";
    (void)cu.name(name, (int)sizeof name, device);
    json_object_set_new(to, "name", json_string(name));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        int value = 0;
        if (cu.attribute(&value, list[i].attribute, device) == 0)
            json_object_set_new(to, list[i].name, json_integer(value));
    }
}

json_t *ae_measure_device(int ordinal, const char **ret_why)
{
    int device = 0, multiprocessors = 1;
    cu_context context;
    cu_pointer block = 0;
    char word[4];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    *ret_why = "the NVIDIA driver (libcuda.so.1) is not installed";
    if (!driver)
        return NULL;
    *ret_why = "the driver is too old";
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].where = dlsym(driver, entries[i].name);
        if (!*entries[i].where)
            return NULL;
    }
    *ret_why = "the driver finds no such device";
    if (cu.init(0) != 0 || cu.device_get(&device, ordinal) != 0)
        return NULL;
    *ret_why = "the device's context or memory is not to be had";
    if (cu.retain(&context, device) != 0 || cu.set_current(context) != 0 || cu.alloc(&block, DEVICE_BYTES) != 0)
        return NULL;
    *ret_why = NULL;
    json_t *json = json_object();
    properties(json, device);
    (void)cu.attribute(&multiprocessors, MULTIPROCESSORS, device);
    kernels(json, block, multiprocessors);
    json_object_set_new(json, "transfers", transfers(block));
    double small_in, small_out;
    TIMED(small_in, SMALL_ROUNDS, cu.in(block, word, sizeof word));
    TIMED(small_out, SMALL_ROUNDS, cu.out(word, block, sizeof word));
    json_object_set_new(json, "small_in_ns", json_real(small_in));
    json_object_set_new(json, "small_out_ns", json_real(small_out));
    (void)cu.free(block);
    allocation(json); /* alone in the context, as in a call */
    (void)cu.release(device);
    return json;
}
