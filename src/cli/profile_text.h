/* A profile as lines for a terminal. */
#ifndef AE_CLI_PROFILE_TEXT_H
#define AE_CLI_PROFILE_TEXT_H

#include "profile/profile.h"

#include <stdio.h>

/* Waterfall, kernels, copies and sentences. width: columns. most: sentences at most. */
void ae_profile_print(const struct ae_profile *profile, int width, int most, FILE *out);

#endif
