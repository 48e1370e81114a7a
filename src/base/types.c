#include "base/types.h"

static const struct {
    size_t size;
    const char *name;
} types[AE_TYPE_COUNT] = {
    [AE_I32] = {4, "int32"},  [AE_U32] = {4, "uint32"},  [AE_I64] = {8, "int64"},
    [AE_U64] = {8, "uint64"}, [AE_F32] = {4, "float32"}, [AE_F64] = {8, "float64"},
};

size_t ae_type_size(enum ae_type type)
{
    return (unsigned)type < AE_TYPE_COUNT ? types[type].size : 0;
}

const char *ae_type_name(enum ae_type type)
{
    return (unsigned)type < AE_TYPE_COUNT ? types[type].name : "?";
}
