/* Carrying what is costly to make from one machine to another: baselines (used only where machine and compiler have the
 * same key) and, for tasks that are compared exactly, a digest of the expected outputs, by which the other machine
 * verifies what it computes itself. Never seeds, the bank's secret or expected values.
 *
 * The file is one JSON object (docs/formats.md), closed by the SHA-256 of all that comes before. It is hostile. */
#ifndef AE_RUN_EXCHANGE_H
#define AE_RUN_EXCHANGE_H

#include "run/answers.h"

#define AE_EXCHANGE_MAX ((size_t)64 << 20) /* bytes of a file */

/* Two machines of one key may still run at different speeds; further apart than this, baselines are not taken. */
#define AE_CALIBRATION_SHARE 0.03

struct ae_exchange_counts {
    size_t baselines, digests;
    size_t other;             /* records of another bank, task version, reference or machine */
    size_t other_bank;        /* of those, of another bank than is in use */
    bool machine_differs;     /* key of machine and compiler */
    double calibration_ratio; /* theirs / ours; import only */
};

/* Nanoseconds of a fixed piece of work, the best of about one second. */
int64_t ae_exchange_calibrate(void);

/* What this cache holds for this machine and this bank, as text; the caller frees it. */
int ae_exchange_export(struct ae_context *context, int64_t calibration_ns, char **ret, struct ae_exchange_counts *counts,
                       struct ae_error *err);

/* Takes over what fits. All of the file is checked before anything is stored: AE_E_INPUT changes nothing. */
int ae_exchange_import(struct ae_context *context, const void *data, size_t size, int64_t calibration_ns,
                       struct ae_exchange_counts *counts, struct ae_error *err);

#endif
