/* What the profile of a call says. */
#include "strategy/hunt.h"

#include "profile/facts.h"

#include <stdio.h>

#define LIBRARY_LEAST 0.2     /* share of kernel time in a library's kernels */
#define LARGE_COPIES  1048576 /* bytes from which the kind of host memory matters */
#define OVERLAP_LEAST 0.15    /* of the shorter of copies and kernels */
#define MANY_LAUNCHES 20

static int say(struct ae_findings_list *list, enum ae_strategy_id id, enum ae_presence presence, double confidence,
               double number, const char *sentence, struct ae_error *err)
{
    struct ae_finding f = {.strategy = id, .evidence = AE_EVIDENCE_RUN, .presence = presence, .confidence = confidence};
    snprintf(f.sentence, sizeof f.sentence, "%s (%.3g)", sentence, number);
    return ae_findings_add(list, &f, err);
}

int ae_run_find(const struct ae_facts *facts, struct ae_findings_list *list, struct ae_error *err)
{
    int rc = AE_OK;
    int64_t library = 0, kernels = 0;
    if (!facts->device)
        return AE_OK;
    for (int k = 0; k < facts->kernel_count && k < AE_KERNELS_MAX; k++) {
        kernels += facts->kernels[k].total_ns;
        library += facts->kernels[k].library ? facts->kernels[k].total_ns : 0;
    }
    const double share = kernels > 0 ? (double)library / (double)kernels : 0;
    if (share >= LIBRARY_LEAST)
        rc = say(list, AE_STRATEGY_C14, AE_PRESENT, 0.9, share,
                 "kernels of a library take this share of the time of kernels", err);
    const double bytes = facts->in.bytes + facts->out.bytes, pinned = facts->in.pinned_bytes + facts->out.pinned_bytes;
    if (rc == AE_OK && bytes >= LARGE_COPIES && pinned >= 0.5 * bytes)
        rc = say(list, AE_STRATEGY_H01, AE_PRESENT, 0.95, pinned / bytes,
                 "this share of the copied bytes is in pinned memory", err);
    else if (rc == AE_OK && bytes >= LARGE_COPIES && pinned <= 0)
        rc = say(list, AE_STRATEGY_H01, AE_ABSENT, 0.9, bytes, "all bytes are copied from and to pageable memory", err);
    const int64_t copies = facts->in.ns + facts->out.ns, shorter = copies < kernels ? copies : kernels;
    if (rc == AE_OK && shorter > 0 && (double)facts->overlap_ns >= OVERLAP_LEAST * (double)shorter)
        rc = say(list, AE_STRATEGY_H02, AE_PRESENT, 0.95, (double)facts->overlap_ns / (double)shorter,
                 "copies and kernels run at once for this share of the shorter of the two", err);
    else if (rc == AE_OK && shorter > 0 && facts->overlap_ns <= 0)
        rc = say(list, AE_STRATEGY_H02, AE_ABSENT, 0.9, (double)shorter * 1e-6,
                 "copies and kernels never run at once, in ms of the shorter", err);
    if (rc == AE_OK && facts->launches >= MANY_LAUNCHES && facts->out.count * 4 <= facts->launches)
        rc = say(list, AE_STRATEGY_H05, AE_PRESENT, 0.8,
                 (double)facts->launches / (double)(facts->out.count > 0 ? facts->out.count : 1),
                 "so many launches for each copy back", err);
    return rc;
}
