/* Expected outputs and baselines: made by running the task's reference through the same path as any submission, kept in
 * the cache. */
#ifndef AE_RUN_ANSWERS_H
#define AE_RUN_ANSWERS_H

#include "run/context.h"

#define AE_PLACE_TEXT 160

/* One instance of a bank by its place, not by its seed. */
struct ae_case_name {
    const struct ae_task *task;
    enum ae_size size;
    enum ae_trial_kind kind; /* fresh, timed, twin or adversarial */
    int family;
    int number; /* of a twin: the attempt that ae_twin_find() names */
    bool practice;
};

/* Instances of the timed family that the allocation ledger runs on, where there is a device. */
#define AE_LEDGER_INSTANCES 2

/* An instance with its right answer. */
struct ae_case {
    struct ae_case_name name;
    struct ae_instance inst;
    struct ae_expected expected;
    int64_t reference_ns; /* of the run that made the answer: not alone on the machine, good for limits only */
    int64_t baseline_ns;  /* median of the reference alone; 0: not asked for */
    char baseline_place[AE_PLACE_TEXT + 16]; /* the machine that measured it, for people; "" where there is none */
};

/* Every instance that an evaluation at this size uses; `count` is returned, cells may be NULL to count.
 * timed: how many timed ones. */
int ae_cases_of(const struct ae_task *task, enum ae_size size, bool practice, int timed, int fresh,
                struct ae_case_name *names);

/* Generates the instance and gets its answer (and baseline where asked for) from the cache, or by running the
 * reference. To be released in any case. AE_E_INPUT for a twin that would not be legal. */
int ae_case_open(struct ae_context *context, const struct ae_case_name *name, bool baseline, struct ae_case *ret,
                 struct ae_error *err);
void ae_case_release(struct ae_case *cell);

/* Whether answer and (where asked for) baseline lie in the cache. */
bool ae_case_cached(struct ae_context *context, const struct ae_case_name *name, bool baseline);

/* The baseline that the cache has of it, made here or imported, in ns; 0: none. */
int64_t ae_case_baseline_ns(struct ae_context *context, const struct ae_case_name *name);

/* The key of its answer in the cache. */
int ae_case_key(struct ae_context *context, const struct ae_case_name *name, char *ret, size_t size,
                struct ae_error *err);
/* --- what lies in the cache, for its exchange ------------------------------------------------------------- */

#define AE_ANSWER_KEY    512
#define AE_MACHINE_KEY   600
#define AE_BASELINE_KEY  (AE_ANSWER_KEY + AE_MACHINE_KEY + 16)
#define AE_ANSWER_DIGEST 33 /* 128 bits in hex and a NUL */

/* What an answer depends on, for any task, known here or not. */
struct ae_answer_place {
    char task[64];
    int version;
    enum ae_size size;
    enum ae_trial_kind kind;
    int family, number;
    char bank[17];
    bool practice;
    char reference[AE_SHA256_HEX]; /* of the reference's source */
};

bool ae_answer_place_valid(const struct ae_answer_place *place);
/* The key of the answer's entries ("expected", "digest"), and back; false where it is no such key. */
void ae_answer_key(const struct ae_answer_place *place, char ret[AE_ANSWER_KEY]);
bool ae_answer_place_parse(const char *key, struct ae_answer_place *ret);
/* The key of the "baseline" entry; machine: ae_context_baseline_key(). */
void ae_baseline_key(const char *machine, const char *answer_key, char ret[AE_BASELINE_KEY]);

struct ae_baseline {
    int64_t ns;    /* > 0 */
    bool imported; /* measured elsewhere, on a machine of the same key */
    char place[AE_PLACE_TEXT];
};

bool ae_baseline_get(struct ae_cache *cache, const char *key, struct ae_baseline *ret);
int ae_baseline_put(struct ae_cache *cache, const char *key, const struct ae_baseline *baseline, struct ae_error *err);

/* Outputs and all that checks need besides; AE_E_NOTFOUND. Released by the caller in any case. */
int ae_answer_load(struct ae_cache *cache, const char *answer_key, struct ae_expected *ret, struct ae_error *err);
/* Whether every output is compared exactly, so that a digest says all. */
bool ae_answer_is_exact(const struct ae_task *task);
/* Of the outputs of an exact task; depends on the bank's secret, so that it gives no answer away. */
int ae_answer_digest(const struct ae_bank *bank, const struct ae_task *task, const char *answer_key,
                     const struct ae_expected *expected, char ret[AE_ANSWER_DIGEST], struct ae_error *err);

/* Two repeats of so long a call that agree are enough: more would narrow what is narrower than the noise that is sought
 * (evaluate.c), at the cost of minutes a size. */
#define AE_BASELINE_LONG_NS (100 * (int64_t)1000000)
/* Number of repeats of the reference for a baseline at most, by how long one call takes. */
int ae_baseline_repeats(int64_t call_ns);

/* The reference's object, compiled or from the cache; released with ae_build_result_release(). */
int ae_reference_build(struct ae_context *context, const struct ae_task *task, struct ae_build_result *ret,
                       struct ae_error *err);

#endif
