/* One call of a submission on one instance: laid out, timed from doorbell to second ring, judged in full, and looked at
 * once more after a pause. */
#ifndef AE_RUN_TRIAL_H
#define AE_RUN_TRIAL_H

#include "judge/judge.h"
#include "run/runner.h"

/* Rule 3: how long after the second ring the output is compared with its copy for the last time. The copy that is judged
 * was taken while the program was frozen, so that a late writer gains nothing by what it writes; it is looked for all the
 * same, with the long pause behind some calls, which it cannot tell from the others, and the short one behind the rest. */
#define AE_LATE_PAUSE_NS (20 * (int64_t)1000000)
#define AE_LATE_LEAST_NS ((int64_t)1000000)

/* Called just before the doorbell and just after the second ring: for counters. */
typedef void ae_around_fn(void *data, bool begin);

/* Called when a device has been settled for the next call (pools trimmed, limits put back) and has no input yet. */
typedef void ae_settled_fn(void *data);

struct ae_trial_request {
    const struct ae_instance *inst;
    const struct ae_expected *expected; /* NULL: the outputs are kept (ret_outputs), not judged: the reference */
    enum ae_trial_kind kind;
    int64_t timeout_ns;
    int64_t pause_ns;                   /* AE_LATE_PAUSE_NS or _LEAST_; 0: no last comparison (trusted programs) */
    bool awake;                         /* the device is at its clocks; false: not known */
    ae_around_fn *around;               /* may be NULL */
    void *around_data;
    ae_settled_fn *settled;             /* may be NULL; never called without a device */
    void *settled_data;
    ae_meanwhile_fn *meanwhile;         /* may be NULL; called where the trial would sleep: before and after the call */
    void *meanwhile_data;
    struct ae_expected *ret_outputs;    /* may be NULL; outputs as the submission left them, released by the caller */
};

/* Fills *ret (verdict included), *judgement where one was made, and detail: the sentence for the author. Returns AE_OK
 * where the trial took place or its failure is the submission's; a code where it is ours or the machine's. A runner
 * that is dead or timed out afterwards must be stopped. */
int ae_trial_run(struct ae_runner *runner, const struct ae_trial_request *request, struct ae_trial *ret,
                 struct ae_judgement *judgement, char detail[AE_DETAIL_TEXT], struct ae_error *err);

/* LOAD and UNLOAD with their verdicts; AE_PASS where all went well. */
enum ae_verdict ae_trial_load(struct ae_runner *runner, int64_t timeout_ns, char detail[AE_DETAIL_TEXT]);
enum ae_verdict ae_trial_unload(struct ae_runner *runner, enum ae_violation *ret_violation,
                                char detail[AE_DETAIL_TEXT]);

/* The verdict on a worker that ended by itself; stops the runner. ret_log as in ae_runner_stop(). */
enum ae_verdict ae_trial_autopsy(struct ae_runner *runner, enum ae_violation *ret_violation,
                                 char detail[AE_DETAIL_TEXT], char **ret_log);

#endif
