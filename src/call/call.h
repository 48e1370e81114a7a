/* Calling solution_compute through libffi from a table of arguments, so that no task needs glue code.
 * Linked by the worker: knows neither tasks nor instances. */
#ifndef AE_CALL_CALL_H
#define AE_CALL_CALL_H

#include "base/types.h"

#include <ffi.h>
#include <stdbool.h>

#define AE_ARGS_MAX 32

struct ae_call_arg {
    enum ae_type type;      /* of the scalar, or of the elements */
    bool pointer;
    union ae_scalar scalar; /* where !pointer */
    void *address;          /* where pointer */
};

struct ae_call {
    ffi_cif cif;
    ffi_type *types[AE_ARGS_MAX];
    void *values[AE_ARGS_MAX];
    struct ae_call_arg args[AE_ARGS_MAX];
};

/* Copies args[0..count-1] into call and prepares it; call must stay where it is until the last run.
 * Returns 0, or -1 where libffi refuses the signature. */
int ae_call_prepare(struct ae_call *call, const struct ae_call_arg *args, unsigned count);

/* Calls function(args...), ignoring what it returns. */
void ae_call_run(struct ae_call *call, void (*function)(void));

#endif
