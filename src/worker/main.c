/* acceleval-worker, started by acceleval under proc/proc.h with the descriptors of call/channel.h: by then it has its
 * own namespaces, user, limits, landlock view and no capabilities. What is left is to map the channel, to give up the
 * system calls that it does not need, to make the device's context where there is one, to give up those that only
 * that needed, and to serve. */
#include "sandbox/seccomp.h"
#include "worker/worker.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void filter(enum ae_seccomp_stage stage, const struct ae_orders *orders, struct ae_answers *answers)
{
    if ((orders->filters & (int)stage) && ae_seccomp_enforce(stage, NULL) == AE_OK)
        answers->filters |= (int)stage;
}

int main(void)
{
    ae_worker_prove_birth();
    const struct ae_orders *orders = mmap(NULL, sizeof *orders, PROT_READ, MAP_SHARED, AE_FD_ORDERS, 0);
    struct ae_answers *answers = mmap(NULL, sizeof *answers, PROT_READ | PROT_WRITE, MAP_SHARED, AE_FD_ANSWERS, 0);
    if (orders == MAP_FAILED || answers == MAP_FAILED) {
        fprintf(stderr, "acceleval-worker is started by acceleval, not by hand\n");
        return 2;
    }
    (void)close(AE_FD_ORDERS);
    (void)close(AE_FD_ANSWERS);
    answers->result = AE_WORKER_OK;
    answers->version = AE_CHANNEL_VERSION;
    filter(AE_SECCOMP_FIRST, orders, answers);
    /* OpenMP keeps its threads between calls; unloading the object must not take their code away with it. */
    (void)dlopen("libgomp.so.1", RTLD_NOW | RTLD_NODELETE);
    const int tracer = orders->trace ? ae_worker_profile_open(orders, answers) : AE_WORKER_OK;
    if (orders->target == 1)
        answers->result = ae_worker_cuda_open(orders, answers);
    if (answers->result == AE_WORKER_OK)
        answers->result = tracer;
    filter(AE_SECCOMP_SECOND, orders, answers);
    ae_worker_serve(orders, answers);
}
