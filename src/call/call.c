#include "call/call.h"

static ffi_type *const scalar_types[AE_TYPE_COUNT] = {
    [AE_I32] = &ffi_type_sint32, [AE_U32] = &ffi_type_uint32, [AE_I64] = &ffi_type_sint64,
    [AE_U64] = &ffi_type_uint64, [AE_F32] = &ffi_type_float,  [AE_F64] = &ffi_type_double,
};

int ae_call_prepare(struct ae_call *call, const struct ae_call_arg *args, unsigned count)
{
    if (count > AE_ARGS_MAX)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        struct ae_call_arg *arg = &call->args[i];
        *arg = args[i];
        if ((unsigned)arg->type >= AE_TYPE_COUNT)
            return -1;
        call->types[i] = arg->pointer ? &ffi_type_pointer : scalar_types[arg->type];
        call->values[i] = arg->pointer ? (void *)&arg->address : (void *)&arg->scalar;
    }
    return ffi_prep_cif(&call->cif, FFI_DEFAULT_ABI, count, &ffi_type_void, call->types) == FFI_OK ? 0 : -1;
}

void ae_call_run(struct ae_call *call, void (*function)(void))
{
    ffi_call(&call->cif, function, 0, call->values);
}
