/* The arguments of one call in memory that the worker shares: each in pages of its own, at a random offset and address,
 * surrounded by canaries; outputs poisoned. The layout is the parent's; the worker maps what it is told. */
#ifndef AE_RUN_BUFFERS_H
#define AE_RUN_BUFFERS_H

#include "call/channel.h"
#include "task/task.h"

/* How many places of the outputs are looked at when a ring comes, and how many bytes at each. */
#define AE_PROBES_MAX   256
#define AE_PROBE_BYTES  64

struct ae_buffers {
    int fd;       /* sealed memfd */
    char *base;   /* the parent's mapping of it */
    size_t size;  /* sparse: only pages that are touched exist */
    bool fixed;   /* tests: arrays do not move, ... */
    bool stale;   /* ... and outputs start as they were left */
    uint64_t key; /* of the poison and the canaries; new for every call */
    struct ae_rng rng;
    struct ae_channel_arg args[AE_ARGS_MAX]; /* layout of the present call */
    int arg_count;
    struct ae_gap {
        size_t from, to;
    } gaps[AE_ARGS_MAX + 1]; /* between the regions, and behind the last */
    int gap_count;
    size_t touched; /* end of the highest region used so far */
    struct ae_probe {
        size_t offset; /* into base */
        unsigned char bytes[AE_PROBE_BYTES];
    } probes[AE_PROBES_MAX];
    int probe_count;
};

/* size: at least ae_buffers_need() of every instance to come. */
int ae_buffers_open(struct ae_buffers *buffers, size_t size, struct ae_error *err);
void ae_buffers_close(struct ae_buffers *buffers);

/* Bytes that an instance may take at most, with alignment, slack and canaries. */
size_t ae_buffers_need(const struct ae_instance *inst);

/* Draws offsets, addresses and a new key. AE_E_NOMEM where the instance does not fit. */
int ae_buffers_layout(struct ae_buffers *buffers, const struct ae_instance *inst, struct ae_error *err);

/* The places between the arrays cleared, poison and canaries, then the inputs: they arrive last. */
void ae_buffers_fill(struct ae_buffers *buffers, const struct ae_instance *inst);

/* The array of argument arg in the parent's mapping. */
void *ae_buffers_array(const struct ae_buffers *buffers, int arg);

/* Notes the bytes at up to AE_PROBES_MAX places of the outputs, that nobody can know; ends early when *ring becomes `sequence` (NULL:
 * never), so that a probe under the clock costs the clock nothing. */
void ae_buffers_probe(struct ae_buffers *buffers, const struct ae_instance *inst, const _Atomic uint32_t *ring,
                      uint32_t sequence);
/* Has any of the noted places changed since? */
bool ae_buffers_probe_changed(const struct ae_buffers *buffers);

/* The argument whose surroundings were written to; -1: none. */
int ae_buffers_overrun(const struct ae_buffers *buffers);
/* The input that is no longer what it was; -1: none. */
int ae_buffers_modified_input(const struct ae_buffers *buffers, const struct ae_instance *inst);

#endif
