#include "task/task.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Refuse what no machine of ours holds before the kernel's overcommit accepts it. */
#define ARRAY_BYTES_MAX ((size_t)64 << 30)
#define HUGE_PAGE       ((size_t)2 << 20)

int ae_array_alloc(struct ae_array *array, enum ae_type type, size_t count, struct ae_error *err)
{
    const size_t size = ae_type_size(type);
    *array = (struct ae_array){.type = type};
    if (size == 0 || count > ARRAY_BYTES_MAX / size)
        return ae_error_set(err, AE_E_NOMEM, "an array of %zu elements of %s is larger than any instance may be",
                            count, ae_type_name(type));
    const size_t bytes = count > 0 ? count * size : 1;
    const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    void *data = NULL;
    if (posix_memalign(&data, alignment, (bytes + 63) / 64 * 64) != 0)
        return ae_error_set(err, AE_E_NOMEM, "no memory for an array of %zu elements of %s", count,
                            ae_type_name(type));
    if (bytes >= HUGE_PAGE) /* a hint: page faults otherwise cost more than filling the array */
        (void)madvise(data, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    array->data = data;
    array->count = count;
    return AE_OK;
}

void ae_array_release(struct ae_array *array)
{
    free(array->data);
    *array = (struct ae_array){0};
}

bool ae_arg_is_output(const struct ae_arg *arg)
{
    return arg->role == AE_OUT || arg->role == AE_INOUT;
}

int ae_instance_make(struct ae_instance *inst, const struct ae_task *task, enum ae_size size, int family,
                     uint64_t seed, struct ae_error *err)
{
    *inst = (struct ae_instance){.task = task, .size = size, .family = family, .seed = seed};
    if ((unsigned)size >= AE_SIZE_COUNT || family < 0 || family >= ae_task_family_count(task))
        return ae_error_set(err, AE_E_INTERNAL, "%s has no size %d or no family %d", task->id, size, family);
    memcpy(inst->param, task->sizes[size].param, sizeof inst->param);
    for (int i = 0; i < task->arg_count; i++)
        inst->array[i].type = task->args[i].type;
    struct ae_rng rng;
    ae_rng_seed(&rng, seed, 0);
    const int rc = task->generate(inst, &rng, err);
    if (rc == AE_OK)
        task->outputs(inst);
    return rc;
}

void ae_instance_release(struct ae_instance *inst)
{
    for (int i = 0; i < AE_ARGS_MAX; i++)
        ae_array_release(&inst->array[i]);
}

static const struct ae_arg *argument(const struct ae_instance *inst, int arg)
{
    assert(arg >= 0 && arg < inst->task->arg_count);
    return &inst->task->args[arg];
}

void ae_set_i32(struct ae_instance *inst, int arg, int64_t value)
{
    assert(argument(inst, arg)->role == AE_SCALAR && argument(inst, arg)->type == AE_I32);
    assert(value >= INT32_MIN && value <= INT32_MAX);
    inst->scalar[arg].i32 = (int32_t)value;
}

void ae_set_u32(struct ae_instance *inst, int arg, uint32_t value)
{
    assert(argument(inst, arg)->role == AE_SCALAR && argument(inst, arg)->type == AE_U32);
    inst->scalar[arg].u32 = value;
}

void ae_set_u64(struct ae_instance *inst, int arg, uint64_t value)
{
    assert(argument(inst, arg)->role == AE_SCALAR && argument(inst, arg)->type == AE_U64);
    inst->scalar[arg].u64 = value;
}

void ae_set_f32(struct ae_instance *inst, int arg, double value)
{
    assert(argument(inst, arg)->role == AE_SCALAR && argument(inst, arg)->type == AE_F32);
    inst->scalar[arg].f32 = (float)value;
}

void ae_set_f64(struct ae_instance *inst, int arg, double value)
{
    assert(argument(inst, arg)->role == AE_SCALAR && argument(inst, arg)->type == AE_F64);
    inst->scalar[arg].f64 = value;
}

void *ae_new_array(struct ae_instance *inst, int arg, size_t count, struct ae_error *err)
{
    assert(argument(inst, arg)->role == AE_IN || argument(inst, arg)->role == AE_INOUT);
    ae_array_release(&inst->array[arg]);
    if (ae_array_alloc(&inst->array[arg], argument(inst, arg)->type, count, err) != AE_OK)
        return NULL;
    return inst->array[arg].data;
}

void ae_shrink_array(struct ae_instance *inst, int arg, size_t count)
{
    assert(inst->array[arg].data && count <= inst->array[arg].count);
    inst->array[arg].count = count;
}

void ae_set_output(struct ae_instance *inst, int arg, size_t count)
{
    assert(argument(inst, arg)->role == AE_OUT);
    inst->array[arg].count = count;
}

const int32_t *ae_in_i32(const struct ae_instance *inst, int arg)
{
    assert(argument(inst, arg)->type == AE_I32);
    return inst->array[arg].data;
}

const float *ae_in_f32(const struct ae_instance *inst, int arg)
{
    assert(argument(inst, arg)->type == AE_F32);
    return inst->array[arg].data;
}

const double *ae_in_f64(const struct ae_instance *inst, int arg)
{
    assert(argument(inst, arg)->type == AE_F64);
    return inst->array[arg].data;
}

static size_t array_bytes(const struct ae_array *array)
{
    return array->count * ae_type_size(array->type);
}

size_t ae_instance_bytes(const struct ae_instance *inst)
{
    size_t bytes = 0;
    for (int i = 0; i < inst->task->arg_count; i++)
        if (inst->task->args[i].role != AE_SCALAR)
            bytes += array_bytes(&inst->array[i]);
    return bytes;
}

void ae_instance_work(const struct ae_instance *inst, struct ae_work *work)
{
    *work = (struct ae_work){0};
    for (int i = 0; i < inst->task->arg_count; i++) {
        const enum ae_role role = inst->task->args[i].role;
        if (role == AE_IN || role == AE_INOUT)
            work->bytes_in += (double)array_bytes(&inst->array[i]);
        if (role == AE_OUT || role == AE_INOUT)
            work->bytes_out += (double)array_bytes(&inst->array[i]);
    }
    if (inst->task->work)
        inst->task->work(inst, work);
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t ae_instance_digest(const struct ae_instance *inst)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < inst->task->arg_count; i++) {
        const struct ae_array *array = &inst->array[i];
        if (inst->task->args[i].role == AE_SCALAR) {
            hash = fnv1a(hash, &inst->scalar[i], ae_type_size(inst->task->args[i].type));
            continue;
        }
        const uint64_t count = array->count;
        hash = fnv1a(hash, &count, sizeof count);
        if (array->data)
            hash = fnv1a(hash, array->data, array_bytes(array));
    }
    return hash;
}

int ae_expected_alloc(struct ae_expected *expected, const struct ae_instance *inst, struct ae_error *err)
{
    *expected = (struct ae_expected){0};
    for (int i = 0; i < inst->task->arg_count; i++) {
        const struct ae_arg *arg = &inst->task->args[i];
        if (!ae_arg_is_output(arg))
            continue;
        const int rc = ae_array_alloc(&expected->out[i], arg->type, inst->array[i].count, err);
        if (rc != AE_OK)
            return rc;
        if (arg->role == AE_INOUT)
            memcpy(expected->out[i].data, inst->array[i].data, array_bytes(&inst->array[i]));
    }
    return AE_OK;
}

void ae_expected_release(struct ae_expected *expected)
{
    for (int i = 0; i < AE_ARGS_MAX; i++)
        ae_array_release(&expected->out[i]);
    for (int i = 0; i < AE_AUX_MAX; i++)
        ae_array_release(&expected->aux[i]);
}

int ae_instance_call(const struct ae_instance *inst, struct ae_expected *out, void (*function)(void),
                     struct ae_error *err)
{
    struct ae_call_arg args[AE_ARGS_MAX];
    for (int i = 0; i < inst->task->arg_count; i++) {
        const struct ae_arg *arg = &inst->task->args[i];
        args[i] = (struct ae_call_arg){
            .type = arg->type,
            .pointer = arg->role != AE_SCALAR,
            .scalar = inst->scalar[i],
            .address = ae_arg_is_output(arg) ? out->out[i].data : inst->array[i].data,
        };
    }
    struct ae_call call;
    if (ae_call_prepare(&call, args, (unsigned)inst->task->arg_count) != 0)
        return ae_error_set(err, AE_E_INTERNAL, "libffi refuses the signature of %s", inst->task->id);
    ae_call_run(&call, function);
    return AE_OK;
}
