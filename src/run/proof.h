/* Proof that the sandbox denies: workers without an object try forbidden acts on themselves. */
#ifndef AE_RUN_PROOF_H
#define AE_RUN_PROOF_H

#include "run/runner.h"

struct ae_proof_result {
    bool made;       /* false: the proof has not been asked for yet, or no worker could be started for it */
    int tried;
    int denied;
    uint64_t layers; /* in force in the workers that tried */
    char allowed[256]; /* names of the acts that were not denied */
};

/* The options' object-independent part is used. `secret`: a file that is there, and is none of a worker's business.
 * AE_OK where the acts could be tried, whatever came of it. */
int ae_prove(const struct ae_runner_options *options, const char *secret, struct ae_proof_result *ret,
             struct ae_error *err);

/* The layers to be stamped on what a worker did: its own, and AE_LAYER_PROVED where all acts were denied under no more
 * than these. */
uint64_t ae_proof_stamp(const struct ae_proof_result *proof, uint64_t layers);

#endif
