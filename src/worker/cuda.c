/* The device side of the worker. The driver is opened at run time and its entry points are resolved before the object
 * is loaded, so that nothing the object defines can stand in for them; no header of the toolkit is needed. */
#include "worker/worker.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* From the driver's API, which is stable: the types of cuda.h that are used here. */
typedef int cu_result;
typedef int cu_device;
typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_pool *cu_pool;
typedef unsigned long long cu_pointer;

#define CUDA_SUCCESS           0
#define CUDA_ERROR_OUT_OF_MEMORY 2
#define POOL_RELEASE_THRESHOLD 4 /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */

static struct {
    cu_result (*init)(unsigned);
    cu_result (*device_get)(cu_device *, int);
    cu_result (*device_count)(int *);
    cu_result (*primary_retain)(cu_context *, cu_device);
    cu_result (*set_current)(cu_context);
    cu_result (*get_current)(cu_context *);
    cu_result (*synchronize)(void);
    cu_result (*get_error_name)(cu_result, const char **);
    cu_result (*get_error_string)(cu_result, const char **);
    cu_result (*mem_info)(size_t *, size_t *);
    cu_result (*mem_alloc)(cu_pointer *, size_t);
    cu_result (*mem_free)(cu_pointer);
    cu_result (*memset_d8)(cu_pointer, unsigned char, size_t);
    cu_result (*reset_persisting)(void);
    cu_result (*default_pool)(cu_pool *, cu_device);
    cu_result (*pool_trim)(cu_pool, size_t);
    cu_result (*pool_set)(cu_pool, int, void *);
    cu_result (*get_limit)(size_t *, int);
    cu_result (*set_limit)(int, size_t);
} cu;

static const struct {
    const char *name;
    void **where;
    int required;
} entries[] = {
    {"cuInit", (void **)&cu.init, 1},
    {"cuDeviceGet", (void **)&cu.device_get, 1},
    {"cuDeviceGetCount", (void **)&cu.device_count, 1},
    {"cuDevicePrimaryCtxRetain", (void **)&cu.primary_retain, 1},
    {"cuCtxSetCurrent", (void **)&cu.set_current, 1},
    {"cuCtxGetCurrent", (void **)&cu.get_current, 1},
    {"cuCtxSynchronize", (void **)&cu.synchronize, 1},
    {"cuGetErrorName", (void **)&cu.get_error_name, 1},
    {"cuGetErrorString", (void **)&cu.get_error_string, 1},
    {"cuMemGetInfo_v2", (void **)&cu.mem_info, 1},
    {"cuMemAlloc_v2", (void **)&cu.mem_alloc, 1},
    {"cuMemFree_v2", (void **)&cu.mem_free, 1},
    {"cuMemsetD8_v2", (void **)&cu.memset_d8, 1},
    {"cuCtxResetPersistingL2Cache", (void **)&cu.reset_persisting, 0},
    {"cuDeviceGetDefaultMemPool", (void **)&cu.default_pool, 0},
    {"cuMemPoolTrimTo", (void **)&cu.pool_trim, 0},
    {"cuMemPoolSetAttribute", (void **)&cu.pool_set, 0},
    {"cuCtxGetLimit", (void **)&cu.get_limit, 1},
    {"cuCtxSetLimit", (void **)&cu.set_limit, 1},
};

/* CU_LIMIT_STACK_SIZE, PRINTF_FIFO_SIZE, MALLOC_HEAP_SIZE: what a submission may raise and we put back. */
static const int limit_kinds[] = {0, 1, 2};
#define LIMITS (sizeof limit_kinds / sizeof *limit_kinds)

static struct {
    cu_context context;
    cu_device device;
    cu_pool pool;
    cu_pointer flush; /* larger than any L2; also what keeps the device busy */
    size_t limits[LIMITS];
} state;

#define FLUSH_BYTES ((size_t)128 << 20)

static int report(struct ae_answers *answers, const char *what, cu_result code)
{
    const char *name = NULL, *text = NULL;
    if (cu.get_error_name)
        (void)cu.get_error_name(code, &name);
    if (cu.get_error_string)
        (void)cu.get_error_string(code, &text);
    answers->code = code;
    snprintf(answers->text, sizeof answers->text, "%s: %s (%s, error %d)", what, text ? text : "unknown error",
             name ? name : "?", code);
    return code == CUDA_ERROR_OUT_OF_MEMORY ? AE_WORKER_OUT_OF_MEMORY : AE_WORKER_DEVICE_ERROR;
}

int ae_worker_cuda_open(const struct ae_orders *orders, struct ae_answers *answers)
{
    int count = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!driver) {
        snprintf(answers->text, sizeof answers->text, "no device: %s", dlerror());
        return AE_WORKER_NO_DEVICE;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].where = dlsym(driver, entries[i].name);
        if (!*entries[i].where && entries[i].required) {
            snprintf(answers->text, sizeof answers->text, "the driver has no %s: it is too old", entries[i].name);
            return AE_WORKER_NO_DEVICE;
        }
    }
    cu_result rc = cu.init(0);
    if (rc == CUDA_SUCCESS)
        rc = cu.device_count(&count);
    if (rc != CUDA_SUCCESS) {
        (void)report(answers, "no device", rc);
        return AE_WORKER_NO_DEVICE;
    }
    if (orders->device >= count) {
        snprintf(answers->text, sizeof answers->text, "no device: the driver shows the sandbox %d of them", count);
        return AE_WORKER_NO_DEVICE;
    }
    rc = cu.device_get(&state.device, orders->device);
    if (rc == CUDA_SUCCESS)
        rc = cu.primary_retain(&state.context, state.device);
    if (rc == CUDA_SUCCESS)
        rc = cu.set_current(state.context);
    if (rc == CUDA_SUCCESS)
        rc = cu.mem_alloc(&state.flush, FLUSH_BYTES);
    if (rc != CUDA_SUCCESS)
        return report(answers, "the context cannot be made", rc);
    for (size_t i = 0; i < LIMITS; i++)
        (void)cu.get_limit(&state.limits[i], limit_kinds[i]);
    if (cu.default_pool && cu.default_pool(&state.pool, state.device) != CUDA_SUCCESS)
        state.pool = NULL;
    /* Libraries that submissions link: loaded once here, so that no call pays for reading them from disk. Those that
     * are missing were not linked either. */
    static const char *const libraries[] = {"libcublasLt.so", "libcublas.so", "libcusparse.so", "libcusolver.so",
                                            "libcufft.so", "libcurand.so"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        (void)dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
    return orders->ledger ? ae_worker_ledger_open(answers) : AE_WORKER_OK;
}

uint64_t ae_worker_cuda_free_memory(void)
{
    size_t left = 0, all = 0;
    return cu.mem_info(&left, &all) == CUDA_SUCCESS ? left : 0;
}

int ae_worker_cuda_synchronise(struct ae_answers *answers)
{
    const cu_result rc = cu.synchronize();
    return rc == CUDA_SUCCESS ? AE_WORKER_OK : report(answers, "the device reports an error after the call", rc);
}

/* Pools trimmed, thresholds and limits put back: what one call changes must not help the next. */
static void settle(void)
{
    unsigned long long none = 0;
    if (state.pool && cu.pool_set)
        (void)cu.pool_set(state.pool, POOL_RELEASE_THRESHOLD, &none);
    if (state.pool && cu.pool_trim)
        (void)cu.pool_trim(state.pool, 0);
    for (size_t i = 0; i < LIMITS; i++) {
        size_t now = 0;
        if (cu.get_limit(&now, limit_kinds[i]) == CUDA_SUCCESS && now != state.limits[i])
            (void)cu.set_limit(limit_kinds[i], state.limits[i]);
    }
}

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

int ae_worker_cuda_ramp(const struct ae_orders *orders, struct ae_answers *answers)
{
    cu_context current = NULL;
    /* A submission may have left another context current. */
    if (cu.get_current(&current) != CUDA_SUCCESS || current != state.context)
        (void)cu.set_current(state.context);
    cu_result rc = cu.synchronize();
    if (rc != CUDA_SUCCESS)
        return report(answers, "the device reports an error left by the previous call", rc);
    settle();
    if (cu.reset_persisting)
        (void)cu.reset_persisting();
    /* Writing more than L2 holds, over and over for the ramp: clocks rise, and L2 holds nothing of the inputs. */
    const long long end = now_ns() + (long long)orders->clock_ramp_ms * 1000000;
    unsigned char value = 1;
    do {
        rc = cu.memset_d8(state.flush, value++, FLUSH_BYTES);
        if (rc == CUDA_SUCCESS)
            rc = cu.synchronize();
    } while (rc == CUDA_SUCCESS && now_ns() < end);
    return rc == CUDA_SUCCESS ? AE_WORKER_OK : report(answers, "the device cannot be made ready", rc);
}

int ae_worker_cuda_arm(struct ae_answers *answers)
{
    cu_result rc = cu.memset_d8(state.flush, 0, 64);
    if (rc == CUDA_SUCCESS)
        rc = cu.synchronize();
    return rc == CUDA_SUCCESS ? AE_WORKER_OK : report(answers, "the device cannot be armed", rc);
}
