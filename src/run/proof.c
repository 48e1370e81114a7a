#include "run/proof.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROOF_TIMEOUT (10 * AE_SEC)
#define FROZEN_WAIT   (20 * AE_MS)
#define FROZEN_TRIES  5 /* each waits twice as long as the one before */

static const struct {
    const char *name;
    bool kills;
} acts[AE_PROOF_COUNT] = {
    [AE_PROOF_READ_SYSTEM] = {"read_system", false},
    [AE_PROOF_READ_SECRET] = {"read_secret", false},
    [AE_PROOF_WRITE_FILE] = {"write_file", false},
    [AE_PROOF_SEE_PARENT] = {"see_parent", false},
    [AE_PROOF_SIGNAL_PARENT] = {"signal_parent", false},
    [AE_PROOF_SOCKET] = {"socket", false},
    [AE_PROOF_FORK] = {"fork", false},
    [AE_PROOF_DESCRIPTORS] = {"descriptors", false},
    [AE_PROOF_WRITE_ORDERS] = {"write_orders", false},
    [AE_PROOF_RESIZE] = {"resize", false},
    [AE_PROOF_PRIVILEGE] = {"privilege", false},
    [AE_PROOF_PROCESSORS] = {"processors", false},
    [AE_PROOF_TIMER] = {"timer", false},
    [AE_PROOF_EXEC] = {"exec", false},
    [AE_PROOF_PTRACE] = {"ptrace", true},
    [AE_PROOF_WRITE_MEMORY] = {"write_memory", true},
    [AE_PROOF_BPF] = {"bpf", true},
    [AE_PROOF_IO_URING] = {"io_uring", true},
    [AE_PROOF_KEYS] = {"keys", true},
    [AE_PROOF_MOUNT] = {"mount", true},
    [AE_PROOF_NAMESPACE] = {"namespace", true},
    [AE_PROOF_USERFAULT] = {"userfault", true},
};

static int start(struct ae_runner *runner, const struct ae_runner_options *options, const char *secret,
                 struct ae_error *err)
{
    const int rc = ae_runner_start(runner, options, "", 0, AE_PAGE, err);
    if (rc != AE_OK) {
        ae_runner_stop(runner, NULL, NULL);
        return rc;
    }
    snprintf(runner->orders->path, sizeof runner->orders->path, "%s", secret);
    return AE_OK;
}

static void note(struct ae_proof_result *ret, const char *name, bool denied)
{
    const size_t used = strlen(ret->allowed);
    ret->tried++;
    ret->denied += denied;
    if (!denied)
        snprintf(ret->allowed + used, sizeof ret->allowed - used, "%s%s", used ? " " : "", name);
}

/* An act ends in one of three ways: refused with an errno, done, or with the worker's death. */
static bool is_denied(struct ae_runner *runner, int act)
{
    struct ae_proc_result end;
    runner->orders->proof = act;
    const enum ae_answer answer = ae_runner_command(runner, AE_ORDER_PROVE, PROOF_TIMEOUT);
    if (answer == AE_ANSWER_DONE)
        return !acts[act].kills && runner->answers->code != 0;
    ae_runner_stop(runner, NULL, &end);
    return acts[act].kills && end.outcome == AE_PROC_SIGNALED && end.signal == SIGSYS;
}

/* A worker that is frozen does nothing, and goes on afterwards. The other attempts keep the processors busy, so that it
 * might not answer for want of one: it counts where it answers within that time when it is not frozen. */
static bool stands_still(struct ae_runner *runner)
{
    int64_t wait = FROZEN_WAIT;
    for (int i = 0; i < FROZEN_TRIES; i++, wait *= 2) {
        ae_runner_freeze(runner);
        const bool still = ae_runner_command(runner, AE_ORDER_TRIM, wait) == AE_ANSWER_TIMEOUT;
        ae_runner_thaw(runner);
        /* An order not answered is answered late; the next one finds the worker waiting for it. */
        if (!still || ae_runner_command(runner, AE_ORDER_TRIM, PROOF_TIMEOUT) != AE_ANSWER_DONE)
            return false;
        if (ae_runner_command(runner, AE_ORDER_TRIM, wait) == AE_ANSWER_DONE)
            return true;
        if (ae_runner_command(runner, AE_ORDER_TRIM, PROOF_TIMEOUT) != AE_ANSWER_DONE)
            return false;
    }
    return false;
}

/* Acts of one kind, tried beside the others. */
struct attempt {
    const struct ae_runner_options *options;
    const char *secret;
    int first, last;
    struct ae_proof_result result;
    struct ae_error err;
    int rc;
    pthread_t thread;
    bool running;
};

/* What only a control group denies, in one whose limits are near. */
static void *prove_group(void *data)
{
    struct attempt *a = data;
    struct ae_runner runner = {0};
    struct ae_runner_options tight = *a->options;
    struct ae_proof_result *result = &a->result;
    struct ae_proc_result end = {0};
    tight.target = AE_CPU;
    tight.tight = true;
    a->rc = start(&runner, &tight, "", &a->err);
    if (a->rc != AE_OK)
        return NULL;
    result->layers = runner.layers;
    if (!(runner.layers & AE_PROC_CGROUP)) { /* none is to be had: there is nothing to try */
        ae_runner_stop(&runner, NULL, NULL);
        return NULL;
    }
    snprintf(runner.orders->path, sizeof runner.orders->path, "%s", runner.group.path);
    runner.orders->proof = AE_PROOF_RAISE_LIMITS;
    note(result, "raise_limits", ae_runner_command(&runner, AE_ORDER_PROVE, PROOF_TIMEOUT) == AE_ANSWER_DONE &&
                                     runner.answers->code != 0);
    if (runner.layers & AE_LAYER_PIDS) {
        runner.orders->proof = AE_PROOF_THREADS;
        const enum ae_answer answer = ae_runner_command(&runner, AE_ORDER_PROVE, PROOF_TIMEOUT);
        note(result, "threads", answer == AE_ANSWER_DONE && runner.answers->code == EAGAIN);
    }
    const bool memory = runner.layers & AE_LAYER_MEMORY;
    if (memory) {
        runner.orders->proof = AE_PROOF_MEMORY;
        (void)ae_runner_command(&runner, AE_ORDER_PROVE, PROOF_TIMEOUT);
    }
    ae_runner_stop(&runner, NULL, &end);
    if (memory)
        note(result, "memory", end.outcome == AE_PROC_SIGNALED && end.signal == SIGKILL && runner.group_kills > 0);
    return NULL;
}

/* Tries acts first to last in one worker. */
static void *try_acts(void *data)
{
    struct attempt *a = data;
    struct ae_runner runner = {0};
    struct ae_runner_options plain = *a->options;
    if (acts[a->first].kills)
        plain.target = AE_CPU; /* the filter is the same for all, and a context would cost a while each time */
    a->rc = start(&runner, &plain, a->secret, &a->err);
    if (a->rc != AE_OK)
        return NULL;
    a->result.layers = runner.layers;
    if (a->first == 0)
        note(&a->result, "run_frozen", stands_still(&runner));
    for (int act = a->first; act <= a->last; act++) {
        /* In a new namespace the first numbers are given again: they would name the worker's own processes. */
        if ((act == AE_PROOF_SEE_PARENT || act == AE_PROOF_SIGNAL_PARENT) && getpid() <= 2)
            continue;
        if (!runner.proc && (a->rc = start(&runner, &plain, a->secret, &a->err)) != AE_OK)
            return NULL;
        note(&a->result, acts[act].name, is_denied(&runner, act));
    }
    ae_runner_stop(&runner, NULL, NULL);
    return NULL;
}

/* What is denied with death takes a worker each: they are started side by side, since an evaluation waits for them. */
int ae_prove(const struct ae_runner_options *options, const char *secret, struct ae_proof_result *ret,
             struct ae_error *err)
{
    struct ae_proof_result result = {.made = true, .layers = ~UINT64_C(0)};
    struct attempt attempts[AE_PROOF_COUNT + 1] = {0};
    char lack[512];
    int count = 0, rc = AE_OK;
    for (int act = 0; act < AE_PROOF_COUNT; act++)
        if (count == 0 || acts[act].kills)
            attempts[count++] = (struct attempt){.options = options, .secret = secret, .first = act, .last = act};
        else
            attempts[count - 1].last = act;
    const int plain = count;
    if (!(options->layers_off & AE_PROC_CGROUP) && ae_cgroup_here(lack, sizeof lack))
        attempts[count++] = (struct attempt){.options = options, .secret = secret};
    for (int i = 0; i < count; i++) {
        void *(*const act)(void *) = i < plain ? try_acts : prove_group;
        attempts[i].running = pthread_create(&attempts[i].thread, NULL, act, &attempts[i]) == 0;
        if (!attempts[i].running)
            act(&attempts[i]);
    }
    for (int i = 0; i < count; i++) {
        struct attempt *a = &attempts[i];
        if (a->running)
            pthread_join(a->thread, NULL);
        if (a->rc != AE_OK && rc == AE_OK) {
            rc = a->rc;
            if (err)
                *err = a->err;
        }
        result.layers &= a->result.layers;
        result.tried += a->result.tried;
        result.denied += a->result.denied;
        const size_t used = strlen(result.allowed);
        snprintf(result.allowed + used, sizeof result.allowed - used, "%s%s", used && a->result.allowed[0] ? " " : "",
                 a->result.allowed);
    }
    if (rc == AE_OK)
        *ret = result;
    return rc;
}

uint64_t ae_proof_stamp(const struct ae_proof_result *proof, uint64_t layers)
{
    const bool proved = proof->made && proof->denied == proof->tried && (proof->layers & ~layers) == 0;
    return proved ? layers | AE_LAYER_PROVED : layers;
}
