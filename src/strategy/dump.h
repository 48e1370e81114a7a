/* What cuobjdump says of an object, for the search in its machine code. */
#ifndef AE_STRATEGY_DUMP_H
#define AE_STRATEGY_DUMP_H

#include "build/toolchain.h"

struct ae_dump {
    char *sass, *resources; /* NUL-terminated */
};

/* Runs `cuobjdump -sass` and `-res-usage` on a shared object, confined like a compiler's helper: no network, a limit of
 * time and memory. AE_E_ENV where the toolkit has no cuobjdump or it fails. Release with ae_dump_release(). */
int ae_dump_make(const struct ae_toolchain *toolchain, const char *object, struct ae_dump *ret, struct ae_error *err);
void ae_dump_release(struct ae_dump *dump);

#endif
