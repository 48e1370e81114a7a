/* The ledger: under CUPTI's callbacks on the driver's API, every allocation that is alive when a call returns, and how
 * much was launched. CUPTI is opened at run time and declared here; functions are told apart by name, so that one
 * program serves all versions of the toolkit. It runs in a process apart from the timed one. */
#include "worker/worker.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* From cupti_callbacks.h. */
struct callback_data {
    int site; /* 0: enter, 1: exit */
    const char *function;
    const void *params;
    void *return_value;
};

typedef void callback(void *user, int domain, unsigned id, const struct callback_data *data);
struct subscriber;

#define DOMAIN_DRIVER 1
#define OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ae_ledger now; /* since the ledger was opened; launches: since the call began */

/* What a driver function does to the counts when it has succeeded. */
static const struct {
    const char *name; /* up to "_v2", "_ptsz" and the like */
    size_t count;     /* offset in struct ae_ledger */
    int change;
} effects[] = {
    {"cuMemAlloc", offsetof(struct ae_ledger, device), 1},
    {"cuMemAllocPitch", offsetof(struct ae_ledger, device), 1},
    {"cuMemAllocManaged", offsetof(struct ae_ledger, device), 1},
    {"cuMemAllocAsync", offsetof(struct ae_ledger, device), 1},
    {"cuMemAllocFromPoolAsync", offsetof(struct ae_ledger, device), 1},
    {"cuMemFree", offsetof(struct ae_ledger, device), -1},
    {"cuMemFreeAsync", offsetof(struct ae_ledger, device), -1},
    {"cuMemCreate", offsetof(struct ae_ledger, device), 1},
    {"cuMemRelease", offsetof(struct ae_ledger, device), -1},
    {"cuArrayCreate", offsetof(struct ae_ledger, device), 1},
    {"cuArray3DCreate", offsetof(struct ae_ledger, device), 1},
    {"cuArrayDestroy", offsetof(struct ae_ledger, device), -1},
    {"cuMemAllocHost", offsetof(struct ae_ledger, pinned), 1},
    {"cuMemHostAlloc", offsetof(struct ae_ledger, pinned), 1},
    {"cuMemFreeHost", offsetof(struct ae_ledger, pinned), -1},
    {"cuMemHostRegister", offsetof(struct ae_ledger, registered), 1},
    {"cuMemHostUnregister", offsetof(struct ae_ledger, registered), -1},
    {"cuMemPoolCreate", offsetof(struct ae_ledger, pools), 1},
    {"cuMemPoolDestroy", offsetof(struct ae_ledger, pools), -1},
    {"cuCtxCreate", offsetof(struct ae_ledger, contexts), 1},
    {"cuCtxDestroy", offsetof(struct ae_ledger, contexts), -1},
    {"cuLaunchKernel", offsetof(struct ae_ledger, launches), 1},
    {"cuLaunchKernelEx", offsetof(struct ae_ledger, launches), 1},
    {"cuLaunchCooperativeKernel", offsetof(struct ae_ledger, launches), 1},
    {"cuGraphLaunch", offsetof(struct ae_ledger, launches), 1},
    {"cuLaunchGrid", offsetof(struct ae_ledger, launches), 1},
    {"cuLaunch", offsetof(struct ae_ledger, launches), 1},
};

/* "cuMemAlloc" of "cuMemAlloc_v2", "cuLaunchKernel" of "cuLaunchKernel_ptsz". */
static int is_named(const char *function, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(function, name, length) == 0 && (function[length] == 0 || function[length] == '_');
}

static void on_driver_call(void *user, int domain, unsigned id, const struct callback_data *data)
{
    (void)user;
    (void)id;
    if (domain != DOMAIN_DRIVER || data->site != 1 || !data->function || !data->return_value)
        return;
    if (*(const int *)data->return_value != 0) {
        if (*(const int *)data->return_value == OUT_OF_MEMORY)
            ae_worker_note_refusal();
        return;
    }
    /* Freeing nothing succeeds and changes nothing. */
    if ((is_named(data->function, "cuMemFree") || is_named(data->function, "cuMemFreeHost")) && data->params &&
        *(void *const *)data->params == NULL)
        return;
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (is_named(data->function, effects[i].name)) {
            pthread_mutex_lock(&mutex);
            *(int64_t *)((char *)&now + effects[i].count) += effects[i].change;
            pthread_mutex_unlock(&mutex);
            return;
        }
}

int ae_worker_ledger_open(struct ae_answers *answers)
{
    static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12"};
    void *cupti = NULL;
    int (*subscribe)(struct subscriber **, callback *, void *) = NULL;
    int (*enable)(unsigned, struct subscriber *, int) = NULL;
    struct subscriber *subscriber;
    for (size_t i = 0; !cupti && i < sizeof names / sizeof *names; i++)
        cupti = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (cupti) {
        *(void **)&subscribe = dlsym(cupti, "cuptiSubscribe");
        *(void **)&enable = dlsym(cupti, "cuptiEnableDomain");
    }
    if (!subscribe || !enable || subscribe(&subscriber, on_driver_call, NULL) != 0 ||
        enable(1, subscriber, DOMAIN_DRIVER) != 0) {
        snprintf(answers->text, sizeof answers->text, "no ledger: CUPTI is not there or does not start");
        return AE_WORKER_NO_LEDGER;
    }
    return AE_WORKER_OK;
}

void ae_worker_ledger_begin(void)
{
    pthread_mutex_lock(&mutex);
    now.launches = 0;
    pthread_mutex_unlock(&mutex);
}

void ae_worker_ledger_read(struct ae_ledger *ret)
{
    pthread_mutex_lock(&mutex);
    *ret = now;
    pthread_mutex_unlock(&mutex);
}
