#include "judge/measurement.h"

#include <stdlib.h>
#include <string.h>

const char *ae_target_name(enum ae_target target)
{
    static const char *const names[AE_TARGET_COUNT] = {"cpu", "cuda"};
    return (unsigned)target < AE_TARGET_COUNT ? names[target] : "?";
}

enum ae_target ae_target_find(const char *name)
{
    int target = 0;
    while (target < AE_TARGET_COUNT && strcmp(name, ae_target_name((enum ae_target)target)) != 0)
        target++;
    return (enum ae_target)target;
}

const char *ae_trial_kind_name(enum ae_trial_kind kind)
{
    static const char *const names[AE_TRIAL_KIND_COUNT] = {"adversarial", "fresh", "timed", "twin", "ledger"};
    return (unsigned)kind < AE_TRIAL_KIND_COUNT ? names[kind] : "?";
}

enum ae_trial_kind ae_trial_kind_find(const char *name)
{
    int kind = 0;
    while (kind < AE_TRIAL_KIND_COUNT && strcmp(name, ae_trial_kind_name((enum ae_trial_kind)kind)) != 0)
        kind++;
    return (enum ae_trial_kind)kind;
}

bool ae_trial_counts(const struct ae_trial *trial)
{
    return trial->kind == AE_TRIAL_TIMED && trial->verdict == AE_PASS && !trial->disturbed && trial->call_ns > 0;
}

void ae_measurement_release(struct ae_measurement *measurement)
{
    free(measurement->log);
    free(measurement->trials);
    measurement->log = NULL;
    measurement->trials = NULL;
    measurement->trial_count = 0;
}

int ae_measurement_add(struct ae_measurement *measurement, const struct ae_trial *trial)
{
    const size_t count = (size_t)measurement->trial_count;
    if ((count & (count - 1)) == 0) { /* the array holds the next power of two */
        struct ae_trial *more = realloc(measurement->trials, (count ? 2 * count : 1) * sizeof *more);
        if (!more)
            return AE_E_NOMEM;
        measurement->trials = more;
    }
    measurement->trials[measurement->trial_count++] = *trial;
    return AE_OK;
}

const char *ae_note_name(int bit)
{
    static const char *const names[AE_NOTE_COUNT] = {"leaks",      "constructor", "fresh_slow",   "host_share",
                                                     "few_trials", "no_ledger",   "shared_device"};
    return names[bit];
}

static bool is_charged(const struct ae_trial *t)
{
    return t->kind == AE_TRIAL_TIMED && t->verdict == AE_PASS && t->charged_ns > 0 && !t->stirred;
}

void ae_measurement_count_charged(struct ae_measurement *measurement)
{
    int charged = 0, clean = 0;
    for (int i = 0; i < measurement->trial_count; i++) {
        charged += is_charged(&measurement->trials[i]);
        clean += ae_trial_counts(&measurement->trials[i]);
    }
    for (int i = 0; charged >= clean && i < measurement->trial_count; i++)
        if (is_charged(&measurement->trials[i]))
            measurement->trials[i].disturbed = 0;
}
