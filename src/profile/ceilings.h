/* The machine's ceilings: measured once by acceleval-measure, kept in the cache under what they depend on. Rates in
 * bytes or operations a second; 0: not known. */
#ifndef AE_PROFILE_CEILINGS_H
#define AE_PROFILE_CEILINGS_H

#include "run/context.h"

#define AE_TRANSFER_SIZES 12

struct ae_transfer_ceiling {
    double bytes;
    double pageable_in_ns, pageable_out_ns, pinned_in_ns, pinned_out_ns, register_ns, unregister_ns;
};

struct ae_ceilings {
    bool known;
    int cores;
    double copy_one_rate, copy_all_rate, touch_page_ns, thread_ns;
    bool device;
    char device_name[96];
    struct ae_transfer_ceiling transfers[AE_TRANSFER_SIZES]; /* by size */
    int transfer_count;
    double alloc_ns, free_ns, pinned_alloc_ns_mb, pinned_free_ns_mb;
    double launch_ns, launch_sync_ns, sync_idle_ns, small_in_ns, small_out_ns;
    double memory_rate, f32_rate, f64_rate;
    int multiprocessors, threads_a_multiprocessor, blocks_a_multiprocessor, registers_a_multiprocessor,
        shared_a_multiprocessor;
};

/* From the cache; measured (some seconds) where they are not there and measure is set. AE_E_NOTFOUND without. */
int ae_ceilings_get(struct ae_context *context, bool measure, struct ae_ceilings *ret, struct ae_error *err);
/* Measured anew, and kept. */
int ae_ceilings_measure(struct ae_context *context, struct ae_ceilings *ret, struct ae_error *err);

/* What acceleval-measure prints; AE_E_INPUT where it is not that. */
int ae_ceilings_parse(const char *json, size_t size, struct ae_ceilings *ret, struct ae_error *err);
struct json_t *ae_ceilings_json(const struct ae_ceilings *ceilings);

/* Time of one transfer by the table, straight lines between its sizes. in: host to device. 0: not known. */
double ae_ceilings_transfer_ns(const struct ae_ceilings *ceilings, double bytes, bool in, bool pinned);
double ae_ceilings_register_ns(const struct ae_ceilings *ceilings, double bytes); /* and unregister */
/* The best way for memory that nobody has registered: as it is, registered, or by threads through a pinned ring.
 * *ret_how (may be NULL): a phrase. */
double ae_ceilings_best_transfer_ns(const struct ae_ceilings *ceilings, double bytes, bool in, const char **ret_how);

#endif
