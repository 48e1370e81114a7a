/* The bank of instances of one installation. It is one secret of 32 bytes, drawn from the operating system's random
 * source and kept where no submission can read it; the seed of every instance is derived from it by SHA-256 over
 * secret, bank, task, size, kind and number, so nothing else needs to be stored and nothing can be guessed. */
#ifndef AE_RUN_BANK_H
#define AE_RUN_BANK_H

#include "judge/measurement.h"

#include <stdint.h>

struct ae_bank {
    unsigned char secret[32];
    int seeded;     /* made from a given seed: results are stamped */
    char folder[512];
};

#define AE_BANK_TIMED_MAX 16

/* The instances of a size, by kind; families beside the first have one adversarial instance each. */
struct ae_bank_plan {
    int fresh, timed, twin, groups; /* timed: at most AE_BANK_TIMED_MAX */
    int trials_per_group;
    int first_trials; /* timed trials before an extension is considered */
    int practice;
};

const struct ae_bank_plan *ae_bank_plan(enum ae_size size);

/* Opens the installation's bank, drawing it where there is none. `folder` NULL: $ACCELEVAL_BANK, else
 * $XDG_DATA_HOME/acceleval, else ~/.local/share/acceleval. */
int ae_bank_open(struct ae_bank *ret, const char *folder, struct ae_error *err);
/* The same, but draws none: AE_E_NOTFOUND, with ret->folder where it would be. */
int ae_bank_find(struct ae_bank *ret, const char *folder, struct ae_error *err);
/* A bank from a given seed: the same instances everywhere, for tests and for reproducing; never secret. */
void ae_bank_from_seed(struct ae_bank *ret, uint64_t seed);
/* Draws a new secret: every expected output and baseline is then made anew when it is needed. */
int ae_bank_renew(struct ae_bank *bank, struct ae_error *err);

/* The practice bank has the same secret under another name; its instances may be shown. */
uint64_t ae_bank_seed(const struct ae_bank *bank, bool practice, const struct ae_task *task, enum ae_size size,
                      enum ae_trial_kind kind, int family, int number);

/* 16 hex digits that name the bank without giving it away: for the keys of caches and for records. */
void ae_bank_name(const struct ae_bank *bank, char ret[17]);

#endif
