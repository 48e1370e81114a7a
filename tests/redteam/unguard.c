/* Linked into acceleval-unguarded, a program of the tests alone: $ACCELEVAL_WITHOUT names layers and guards that are left
 * out, so that a test can show that what they catch goes through without them. */
#include "run/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __real_ae_context_open(struct ae_context *ret, struct ae_error *err);
int __wrap_ae_context_open(struct ae_context *ret, struct ae_error *err);

static const struct {
    const char *name;
    enum ae_guard guard;
} guards[] = {
    {"new_data", AE_GUARD_NEW_DATA}, {"reload", AE_GUARD_RELOAD}, {"twin", AE_GUARD_TWIN},
    {"idle", AE_GUARD_IDLE},         {"census", AE_GUARD_CENSUS}, {"kept", AE_GUARD_KEPT},
    {"late", AE_GUARD_LATE},         {"canary", AE_GUARD_CANARY}, {"inputs", AE_GUARD_INPUTS},
    {"poison", AE_GUARD_POISON},     {"address", AE_GUARD_ADDRESS}, {"floor", AE_GUARD_FLOOR},
    {"families", AE_GUARD_FAMILIES}, {"space", AE_GUARD_SPACE},
    {"held", AE_GUARD_HELD},
};

static int leave_out(struct ae_context *context, const char *word)
{
    char name[64];
    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
        if (strcmp(word, guards[i].name) == 0) {
            context->guards_off |= guards[i].guard;
            return 0;
        }
    for (int bit = 0; bit < 64; bit++)
        if (strcmp(word, ae_layers_text(UINT64_C(1) << bit, name, sizeof name)) == 0 && strcmp(word, "none") != 0) {
            context->layers_off |= UINT64_C(1) << bit;
            return 0;
        }
    return -1;
}

int __wrap_ae_context_open(struct ae_context *ret, struct ae_error *err)
{
    const int rc = __real_ae_context_open(ret, err);
    const char *given = getenv("ACCELEVAL_WITHOUT");
    ae_autofree char *words = strdup(given ? given : "");
    if (rc != AE_OK || !words)
        return rc;
    char *rest = words;
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        if (leave_out(ret, word) != 0)
            return ae_error_set(err, AE_E_USAGE, "ACCELEVAL_WITHOUT names no layer or guard: %s", word);
    return AE_OK;
}
