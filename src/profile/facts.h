/* What a trace says of a call, as numbers: phases that add up to the call, and what the rules of rules.h ask for. */
#ifndef AE_PROFILE_FACTS_H
#define AE_PROFILE_FACTS_H

#include "judge/phase.h"
#include "profile/trace.h"

#define AE_KERNELS_MAX 64

/* The launches of one kernel; shape: of the launch that took longest. */
struct ae_kernel_facts {
    char name[96];
    bool of_toolkit; /* one of its libraries launched it */
    int64_t launches, total_ns, longest_ns;
    int64_t blocks;
    uint32_t threads; /* a block */
    uint32_t grid[3], block[3];
    uint32_t registers, shared, local;
};

struct ae_copy_facts {
    int64_t count, small; /* small: up to AE_SMALL_COPY bytes */
    double bytes, pageable_bytes, pinned_bytes;
    int64_t ns, pageable_ns, pinned_ns; /* time of these copies, each counted */
    int64_t small_ns;
};

#define AE_SMALL_COPY 65536

struct ae_api_facts {
    int64_t count, ns, failed;
};

/* Hardware counters over the call, all threads; negative: not to be had here. */
struct ae_counters {
    int64_t instructions, cycles, cache_misses, branch_misses, task_ns;
};

struct ae_facts {
    bool device; /* false: a cpu target, or no trace */
    int64_t call_ns, return_ns;
    struct ae_phase_time phase[AE_PHASE_COUNT];
    int64_t device_ns;  /* anything on the device */
    int64_t overlap_ns; /* copies to or from the host while kernels run */
    int64_t both_ways_ns; /* copies in and out at once */
    struct ae_copy_facts in, out;
    struct ae_api_facts api[AE_API_COUNT];
    int64_t first_kernel_ns, last_kernel_ns; /* begin and end; 0: none */
    int64_t between_kernels_ns; /* device idle between the first and the last kernel, no copy running */
    int64_t starved_ns;         /* of these, while the host does not copy either */
    int64_t launches;           /* kernels that ran */
    struct ae_kernel_facts kernels[AE_KERNELS_MAX]; /* by total time, longest first; what does not fit is in the last */
    int kernel_count;
    struct ae_trace_usage usage;
    struct ae_counters counters; /* filled by who measured them; -1 */
    uint64_t dropped, rejected;
};

/* AE_E_NOMEM. */
int ae_facts_of(const struct ae_trace *trace, bool device, struct ae_facts *ret, struct ae_error *err);

#endif
