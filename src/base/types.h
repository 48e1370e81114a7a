/* Element types of arguments, shared by descriptor, call, judge and the published container. */
#ifndef AE_BASE_TYPES_H
#define AE_BASE_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum ae_type {
    AE_I32,
    AE_U32,
    AE_I64,
    AE_U64,
    AE_F32,
    AE_F64,
    AE_TYPE_COUNT
};

union ae_scalar {
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
};

/* Bytes of one element; 0 for a value that is no type. */
size_t ae_type_size(enum ae_type type);
/* The machine's word for it in JSON and reports: "int32", "float64". */
const char *ae_type_name(enum ae_type type);

#endif
