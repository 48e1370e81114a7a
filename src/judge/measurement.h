/* What an evaluation of one submission at one size leaves behind: produced by src/run, kept by src/store. Plain data;
 * every sample is kept, statistics are derived later. */
#ifndef AE_JUDGE_MEASUREMENT_H
#define AE_JUDGE_MEASUREMENT_H

#include "judge/verdict.h"
#include "task/task.h"

#include <stdbool.h>
#include <stdint.h>

enum ae_target {
    AE_CPU,
    AE_CUDA,
    AE_TARGET_COUNT
};

const char *ae_target_name(enum ae_target target); /* "cpu", "cuda" */
enum ae_target ae_target_find(const char *name);   /* AE_TARGET_COUNT where it is none */

enum ae_trial_kind {
    AE_TRIAL_ADVERSARIAL, /* judged, never timed */
    AE_TRIAL_FRESH,       /* the first call after a load */
    AE_TRIAL_TIMED,
    AE_TRIAL_TWIN,   /* near-twin of its predecessor, judged only */
    AE_TRIAL_LEDGER, /* under the allocation ledger, untimed */
    AE_TRIAL_KIND_COUNT
};

const char *ae_trial_kind_name(enum ae_trial_kind kind);
enum ae_trial_kind ae_trial_kind_find(const char *name); /* AE_TRIAL_KIND_COUNT where it is none */

struct ae_trial {
    enum ae_trial_kind kind;
    int group;            /* loads of the object so far in this measurement, from 0 */
    int family;           /* of the task */
    int instance;         /* number in the bank, per kind */
    enum ae_verdict verdict;
    enum ae_violation violation;
    int64_t call_ns;      /* doorbell to second ring; 0 where the call did not end */
    int64_t return_ns;    /* doorbell to first ring */
    int64_t reference_ns; /* the baseline's median on this instance; 0: not known */
    int64_t cpu_ns;       /* processor time of the worker's threads during the call; -1: not known */
    int sm_mhz;           /* of the device at the call's end; 0: none */
    int temperature_c;
    int disturbed;        /* throttled or otherwise repeated: kept, not counted */
    double max_share;     /* largest error in tolerances */
    int stirred;          /* threads worked when the inputs had arrived; not recorded */
    int64_t charged_ns;   /* of call_ns: what making ready took too long when the inputs had arrived; not recorded */
};

/* That a measurement's time is made of it: timed, right, undisturbed. */
bool ae_trial_counts(const struct ae_trial *trial);

#define AE_DETAIL_TEXT 1024

/* Notes that go with a pass. */
#define AE_NOTE_LEAKS       (1u << 0) /* memory grows with every call */
#define AE_NOTE_CONSTRUCTOR (1u << 1) /* the object runs code when it is loaded */
#define AE_NOTE_FRESH_SLOW  (1u << 2) /* the first call after a load takes much longer than the later ones */
#define AE_NOTE_HOST_SHARE  (1u << 3) /* host threads dominate the call of a cuda submission */
#define AE_NOTE_FEW_TRIALS  (1u << 4) /* the noise target was not reached within the bank */
#define AE_NOTE_NO_LEDGER   (1u << 5) /* allocations could not be counted: CUPTI is missing */
#define AE_NOTE_SHARED      (1u << 6) /* another process had a context on the device meanwhile */
#define AE_NOTE_COUNT       7

/* The word for note number `bit`, below AE_NOTE_COUNT. */
const char *ae_note_name(int bit);

struct ae_measurement {
    const struct ae_task *task;
    enum ae_size size;
    enum ae_target target;
    char entrant[64];
    int sample;              /* k of an entrant's samples, from 0 */
    char submission[65];     /* SHA-256 of the source, hex */
    char source_path[512];   /* as given; for people */

    enum ae_verdict verdict;
    enum ae_violation violation;
    char detail[AE_DETAIL_TEXT]; /* the sentence for the author: counts, signal, limit, first compiler error */
    char *log;                   /* compiler output, or the tail of what the submission printed; NULL: none */

    int64_t compile_ns;  /* 0: from the cache */
    int64_t started_ns;  /* CLOCK_REALTIME */
    int64_t wall_ns;     /* of the whole evaluation */
    unsigned notes;      /* AE_NOTE_* */
    uint64_t sandbox;    /* layers in force, bits of sandbox/policy.h */
    int cores;           /* that the worker might use */
    int seeded;          /* 1: instances from a given seed, not from the secret bank */
    char device_uuid[64];
    char baseline_place[192]; /* the machines that measured the trials' reference_ns, for people; "": none */

    struct ae_work work; /* of the timed instances, mean; zeros: none was timed */
    int64_t floor_ns;    /* the call floor, the least that the machine needs for that; 0: not known */

    struct ae_trial *trials;
    int trial_count;
};

void ae_measurement_release(struct ae_measurement *measurement);

/* Appends a copy of *trial; AE_E_NOMEM on failure. */
int ae_measurement_add(struct ae_measurement *measurement, const struct ae_trial *trial);

/* Trials that a charge made longer are chance, and do not count as long as they are the fewer. Where they are as many as
 * the others they count, charge and all: what happens so often may be the program's doing, which would choose by it the
 * calls that its time is made of. */
void ae_measurement_count_charged(struct ae_measurement *measurement);

#endif
