/* NVIDIA's tools over one call of a submission: what they print, boiled down to a few lines. The tool runs the worker
 * under itself (ae_runner_options.tool) with fewer layers of the sandbox; nothing is judged or timed. */
#ifndef AE_PROFILE_TOOLS_H
#define AE_PROFILE_TOOLS_H

#include "run/evaluate.h"

enum ae_checker {
    AE_CHECKER_MEMCHECK,  /* compute-sanitizer: accesses out of bounds, misaligned; CUDA errors */
    AE_CHECKER_RACECHECK, /* shared memory without a barrier between writing and reading */
    AE_CHECKER_SYNCCHECK, /* barriers that not all threads reach */
    AE_CHECKER_INITCHECK, /* device memory read before it is written */
    AE_CHECKER_NCU,       /* Nsight Compute: how busy each kernel keeps the device */
    AE_CHECKER_COUNT
};

const char *ae_checker_name(enum ae_checker checker); /* "memcheck", "ncu" */

#define AE_CHECKER_LINES 16
#define AE_CHECKER_TEXT  320

struct ae_checker_report {
    enum ae_checker checker;
    bool ran;                /* false: detail says why */
    char detail[AE_CHECKER_TEXT];
    char tail[1024];         /* where it did not run: the end of what it printed; hostile text */
    int64_t errors;          /* that the tool counts; of AE_CHECKER_NCU: 0 */
    int line_count;          /* distinct reports or kernels, in the order of their first appearance */
    char lines[AE_CHECKER_LINES][AE_CHECKER_TEXT]; /* hostile text: a kernel's name is in it */
};

/* One call on the practice instance of that size. A tool that is missing or fails is told in *ret, and AE_OK. */
int ae_checker_run(struct ae_context *context, const struct ae_submission_info *submission, enum ae_size size,
                   enum ae_checker checker, struct ae_checker_report *ret, struct ae_error *err);

/* What compute-sanitizer printed: sets ran, errors and lines. Other output in it does no harm. */
void ae_checker_read_sanitizer(const char *text, struct ae_checker_report *ret);
/* What `ncu --csv --page details` printed. */
void ae_checker_read_ncu(const char *text, struct ae_checker_report *ret);

#endif
