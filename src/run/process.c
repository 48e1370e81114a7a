#include "run/evaluation.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_FACTOR         3
#define MEMORY_EXTRA          ((uint64_t)4 << 30)

void ae_evaluation_conclude(struct ae_evaluation *e, enum ae_verdict verdict, enum ae_violation violation, const char *detail)
{
    e->m->verdict = verdict;
    e->m->violation = violation;
    if (detail != e->m->detail)
        snprintf(e->m->detail, sizeof e->m->detail, "%s", detail);
    e->over = true;
}

void ae_evaluation_host_error(struct ae_evaluation *e, const struct ae_error *err)
{
    ae_evaluation_conclude(e, AE_HOST_ERROR, AE_NO_VIOLATION, err->text);
}

static void keep_log(struct ae_evaluation *e, char *log)
{
    if (log && !e->m->log)
        e->m->log = log;
    else
        free(log);
}

void ae_evaluation_stop(struct ae_evaluation *e)
{
    char *log = NULL;
    if (e->running)
        ae_runner_stop(&e->runner, &log, NULL);
    e->running = false;
    e->last.task = NULL;
    e->settled = AE_WATCH_NOTHING;
    e->settled_memory = 0;
    e->settled_use = (struct ae_device_use){-1, -1};
    e->held = (struct ae_held){0};
    e->midway = 0;
    e->group_calls = 0;
    keep_log(e, log);
}

/* The worker has ended on its own: why. */
void ae_evaluation_autopsy(struct ae_evaluation *e, const char *detail)
{
    char text[AE_DETAIL_TEXT];
    char *log = NULL;
    enum ae_violation violation;
    snprintf(text, sizeof text, "%s", detail);
    const enum ae_verdict verdict = ae_trial_autopsy(&e->runner, &violation, text, &log);
    e->running = false;
    keep_log(e, log);
    ae_evaluation_conclude(e, verdict, violation, text);
}

struct proving {
    struct ae_context *context;
    const struct ae_runner_options *options;
};

static void *prove(void *data)
{
    const struct proving *p = data;
    (void)ae_context_prove(p->context, p->options, NULL, NULL);
    return NULL;
}

/* The first time the sandbox is tried while the worker starts: nothing of the submission runs before both are done. */
static int start_proved(struct ae_evaluation *e, const struct ae_runner_options *options, struct ae_error *err)
{
    struct proving proving = {e->context, options};
    pthread_t thread;
    const bool beside = pthread_create(&thread, NULL, prove, &proving) == 0;
    if (!beside)
        prove(&proving);
    const int rc = ae_runner_start(&e->runner, options, e->object.data, e->object.size, e->buffer_bytes, err);
    if (beside)
        pthread_join(thread, NULL);
    return rc;
}

/* A worker whose shared memory holds the instance, with the object loaded. */
bool ae_evaluation_load(struct ae_evaluation *e, const struct ae_instance *inst)
{
    const size_t need = ae_buffers_need(inst);
    struct ae_error err = {0};
    char detail[AE_DETAIL_TEXT] = "";
    if (e->running && need <= e->buffer_bytes)
        return true;
    ae_evaluation_stop(e);
    /* Room for instances a little larger than this one, so that a process serves a whole group. */
    e->buffer_bytes = need + need / 8 + ((size_t)8 << 20);
    const struct ae_runner_options options = {
        .worker = e->context->worker,
        .target = e->submission->target,
        .device = e->context->device.minor,
        .device_uuid = e->context->device.uuid,
        .cuda_lib = e->context->toolchain->cuda_lib[0] ? e->context->toolchain->cuda_lib : NULL,
        .cores = &e->context->host.submission_cores,
        .spin = e->context->host.spin,
        .single = e->options->single,
        .ledger = e->ledger,
        .memory_bytes = MEMORY_FACTOR * (uint64_t)ae_instance_bytes(inst) + MEMORY_EXTRA,
        .layers_off = e->context->layers_off,
        .guards_off = e->context->guards_off,
    };
    const int rc = start_proved(e, &options, &err);
    e->running = true;
    if (rc != AE_OK) {
        ae_evaluation_stop(e);
        ae_evaluation_host_error(e, &err);
        return false;
    }
    if (e->runner.answers->result == AE_WORKER_NO_LEDGER) {
        e->m->notes |= AE_NOTE_NO_LEDGER;
    } else if (e->runner.answers->result != AE_WORKER_OK) {
        snprintf(detail, sizeof detail, "%s", ae_runner_text(&e->runner));
        const bool no_device = e->runner.answers->result == AE_WORKER_NO_DEVICE;
        ae_evaluation_stop(e);
        if (!no_device && e->submission->target == AE_CUDA)
            e->context->device.quarantined = true;
        ae_evaluation_conclude(e, no_device ? AE_NOT_RUN : AE_HOST_ERROR, AE_NO_VIOLATION, detail);
        return false;
    }
    e->m->sandbox = ae_proof_stamp(&e->context->proofs[e->submission->target], e->runner.layers);
    const enum ae_verdict loaded = ae_trial_load(&e->runner, 0, detail);
    if (loaded == AE_PASS)
        return true;
    if (e->runner.dead) {
        ae_evaluation_autopsy(e, detail);
    } else {
        ae_evaluation_stop(e);
        ae_evaluation_conclude(e, loaded, AE_NO_VIOLATION, detail);
    }
    return false;
}
