/* acceleval-worker: loads one object and calls it when told to. Untrusted from the moment it loads the object, so it
 * is small and knows neither generators, references nor judges. */
#ifndef AE_WORKER_WORKER_H
#define AE_WORKER_WORKER_H

#include "call/channel.h"

struct ae_worker {
    const struct ae_orders *orders; /* read-only mapping */
    struct ae_answers *answers;
    void *object;                   /* dlopen handle; NULL: not loaded */
    void (*compute)(void);
    struct ae_call call;
    void *reserved[AE_ARGS_MAX];    /* guard + region + guard of each mapped argument */
    size_t reserved_bytes[AE_ARGS_MAX];
};

/* Answers commands until it is told to exit; never returns. */
_Noreturn void ae_worker_serve(const struct ae_orders *orders, struct ae_answers *answers);

/* Tries a forbidden act (enum ae_proof); the errno of its refusal, 0 where it succeeded. */
int ae_worker_prove(const struct ae_orders *orders);
/* First thing in main(): are descriptors open that nobody passed on purpose? */
void ae_worker_prove_birth(void);

/* Called by the allocation wrappers of memory.c. */
void ae_worker_note_refusal(void);

/* --- the device side (cuda.c); on the CPU target none of it is called ------------------------------------ */

/* Resolves the driver's entry points and makes the primary context current. 0, or an AE_WORKER_ result with text
 * and code set in answers. */
int ae_worker_cuda_open(const struct ae_orders *orders, struct ae_answers *answers);
/* Waits for the device; 0, or AE_WORKER_DEVICE_ERROR with text. */
int ae_worker_cuda_synchronise(struct ae_answers *answers);
/* Free memory of the device in bytes; 0 where it cannot be told. */
uint64_t ae_worker_cuda_free_memory(void);
/* What the last call set is taken back, L2 flushed, clocks up: before the inputs are there. */
int ae_worker_cuda_ramp(const struct ae_orders *orders, struct ae_answers *answers);
/* A tiny launch that wakes the device, when they are. */
int ae_worker_cuda_arm(struct ae_answers *answers);

/* --- the ledger (ledger.c) ------------------------------------------------------------------------------- */

/* Subscribes to the driver's calls; AE_WORKER_OK or AE_WORKER_NO_LEDGER with text. */
int ae_worker_ledger_open(struct ae_answers *answers);
void ae_worker_ledger_begin(void);
void ae_worker_ledger_read(struct ae_ledger *ret);

/* --- profiled calls (profile.c) -------------------------------------------------------------------------- */

/* Maps the trace and, for a device, starts CUPTI's activity records; before the context is made.
 * AE_WORKER_OK or AE_WORKER_NO_LEDGER with text: usage is counted all the same. */
int ae_worker_profile_open(const struct ae_orders *orders, struct ae_answers *answers);
/* Forgets what came before; then the three moments of a call. Nothing happens where no trace is open. */
void ae_worker_profile_arm(void);
void ae_worker_profile_begin(void);
void ae_worker_profile_returned(void);
void ae_worker_profile_end(void);
/* The records into the shared memory. AE_WORKER_OK or AE_WORKER_NO_LEDGER. */
int ae_worker_profile_write(struct ae_answers *answers);

#endif
