/* Versions of a device program against each other, on an instance of seed 7: for choosing between them, not for results.
 * No audit, no sandbox, one process: `acceleval eval` judges what is chosen.
 *     variants TASK SIZE SECONDS OBJECT...
 * OBJECT: a shared object with solution_compute, made by
 *     nvcc -O3 -std=c++17 -arch=native -shared -Itasks/common -Xcompiler -fPIC,-fopenmp,-fno-gnu-unique FILE.cu -o OBJECT
 * The first is the one that the others are held against, its answer is taken for right. They are called in turn, until
 * SECONDS are spent or 41 rounds are done, each call on inputs that were written anew, with the device's cache flushed
 * and the device awake, as in an evaluation. One JSON object a variant. Exit status 77: there is no device. */
#include "judge/judge.h"
#include "stats/stats.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS      41
#define VARIANTS    32
#define FLUSH_BYTES ((size_t)128 << 20)

/* The driver's API, opened at run time: this is built where there is none. */
static struct {
    int (*memset_d8)(unsigned long long, unsigned char, size_t);
    int (*synchronize)(void);
    unsigned long long flush;
} device;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void spin(double seconds)
{
    for (const double end = now_s() + seconds; now_s() < end;)
        ;
}

static int open_device(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!driver)
        return -1;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
    int (*set_current)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
    int (*alloc)(unsigned long long *, size_t) = (int (*)(unsigned long long *, size_t))dlsym(driver, "cuMemAlloc_v2");
    device.memset_d8 = (int (*)(unsigned long long, unsigned char, size_t))dlsym(driver, "cuMemsetD8_v2");
    device.synchronize = (int (*)(void))dlsym(driver, "cuCtxSynchronize");
    void *context = NULL;
    if (!init || !retain || !set_current || !alloc || !device.memset_d8 || !device.synchronize || init(0) != 0 ||
        retain(&context, 0) != 0 || set_current(context) != 0 || alloc(&device.flush, FLUSH_BYTES) != 0)
        return -1;
    return 0;
}

struct variant {
    const char *path;
    void (*compute)(void);
    double ms[ROUNDS];
    bool right;
};

/* One call into out, everything laid out anew; returns its time in ms. */
static double call(const struct variant *v, const struct ae_instance *inst, const struct ae_array *master,
                   struct ae_expected *out)
{
    for (int a = 0; a < inst->task->arg_count; a++) {
        const size_t bytes = inst->array[a].count * ae_type_size(inst->array[a].type);
        if (inst->array[a].data)
            memcpy(inst->array[a].data, master[a].data, bytes);
        if (inst->task->args[a].role == AE_INOUT)
            memcpy(out->out[a].data, master[a].data, bytes);
        else if (out->out[a].data)
            memset(out->out[a].data, 0x5a, bytes);
    }
    device.memset_d8(device.flush, 0, FLUSH_BYTES);
    device.synchronize();
    spin(1e-3);
    device.memset_d8(device.flush, 1, FLUSH_BYTES);
    device.synchronize();
    spin(20e-6);
    const double start = now_s();
    ae_instance_call(inst, out, v->compute, NULL);
    return (now_s() - start) * 1e3;
}

static int copy_inputs(const struct ae_instance *inst, struct ae_array *master, struct ae_error *err)
{
    for (int a = 0; a < inst->task->arg_count; a++) {
        if (!inst->array[a].data)
            continue;
        if (ae_array_alloc(&master[a], inst->array[a].type, inst->array[a].count, err) != AE_OK)
            return -1;
        memcpy(master[a].data, inst->array[a].data, inst->array[a].count * ae_type_size(inst->array[a].type));
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct variant variants[VARIANTS];
    static struct ae_array master[AE_ARGS_MAX];
    struct ae_instance inst;
    struct ae_expected expected, answer;
    struct ae_error err = {0};
    char *end_of_seconds = NULL;
    const struct ae_task *task = argc > 1 ? ae_task_find(argv[1], &err) : NULL;
    const double seconds = argc > 3 ? strtod(argv[3], &end_of_seconds) : 0;
    int size = AE_SIZE_COUNT;
    const int count = argc - 4;
    if (argc > 2)
        for (size = AE_SMALL; size < AE_SIZE_COUNT && strcmp(argv[2], ae_size_name((enum ae_size)size)) != 0; size++)
            ;
    if (!task || size == AE_SIZE_COUNT || count < 1 || count > VARIANTS || *end_of_seconds || !(seconds >= 0)) {
        if (argc > 1 && !task)
            fprintf(stderr, "variants: %s\n", err.text);
        fprintf(stderr, "usage: variants TASK small|medium|large SECONDS OBJECT... (at most %d)\n", VARIANTS);
        return 2;
    }
    for (int v = 0; v < count; v++) {
        void *object = dlopen(argv[4 + v], RTLD_NOW | RTLD_LOCAL);
        variants[v].path = argv[4 + v];
        variants[v].compute = object ? (void (*)(void))dlsym(object, "solution_compute") : NULL;
        variants[v].right = true;
        if (!variants[v].compute) {
            fprintf(stderr, "variants: %s\n", dlerror());
            return 2;
        }
    }
    if (open_device() != 0) {
        fprintf(stderr, "variants: there is no device here\n");
        return 77;
    }
    if (ae_instance_make(&inst, task, (enum ae_size)size, 0, 7, &err) != AE_OK || copy_inputs(&inst, master, &err) ||
        ae_expected_alloc(&expected, &inst, &err) != AE_OK || ae_expected_alloc(&answer, &inst, &err) != AE_OK) {
        fprintf(stderr, "variants: %s: %s\n", task->id, err.text);
        return 1;
    }
    (void)call(&variants[0], &inst, master, &expected);
    if (task->make_aux && task->make_aux(&inst, &expected, &err) != AE_OK)
        fprintf(stderr, "variants: %s: %s\n", task->id, err.text);
    const double end = now_s() + seconds;
    int rounds = 0;
    for (int round = -1; round < ROUNDS && (round < 3 || now_s() < end); round++) {
        for (int i = 0; i < count; i++) {
            struct variant *v = &variants[(i + round + 1) % count];
            struct ae_judgement judgement;
            const void *got[AE_ARGS_MAX] = {0};
            const double ms = call(v, &inst, master, &answer);
            for (int a = 0; a < task->arg_count; a++)
                got[a] = answer.out[a].data;
            if (round < 1) { // the first call of an object loads its kernels
                ae_judge(&inst, &expected, got, &judgement, &err);
                v->right = v->right && judgement.right;
            }
            if (round >= 0)
                v->ms[round] = ms;
        }
        rounds = round + 1;
    }
    double base = 0;
    for (int i = 0; i < count; i++) {
        ae_sort(variants[i].ms, (size_t)rounds);
        const double median = ae_median(variants[i].ms, (size_t)rounds);
        const struct ae_interval interval = ae_median_interval(variants[i].ms, (size_t)rounds);
        base = i == 0 ? median : base;
        printf("{\"task\":\"%s\",\"size\":\"%s\",\"variant\":\"%s\",\"right\":%s,\"calls\":%d,\"median_ms\":%.4f,"
               "\"low_ms\":%.4f,\"high_ms\":%.4f,\"best_ms\":%.4f,\"of_first\":%.3f}\n",
               task->id, argv[2], variants[i].path, variants[i].right ? "true" : "false", rounds, median,
               interval.low, interval.high, variants[i].ms[0], median / base);
    }
    return 0;
}
