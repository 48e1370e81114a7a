#include "task/published.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 32
#define TENSOR_BYTES 64
#define PARAM_BYTES  40
#define RECORDS_MAX  256

static int32_t get_i32(const unsigned char *p)
{
    int32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static int64_t get_i64(const unsigned char *p)
{
    int64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static int get_name(char *name, const unsigned char *p, struct ae_error *err)
{
    memcpy(name, p, 32);
    if (memchr(name, 0, 32) == NULL || !name[0])
        return ae_error_set(err, AE_E_INPUT, "input.bin: a record has no name, or one without an end");
    return AE_OK;
}

static int parse_tensor(struct ae_published_tensor *tensor, const unsigned char *record, size_t size,
                        const unsigned char *bytes, struct ae_error *err)
{
    static const enum ae_type types[] = {AE_I32, AE_F32, AE_F64};
    const int rc = get_name(tensor->name, record, err);
    if (rc != AE_OK)
        return rc;
    const int32_t type = get_i32(record + 32);
    const int64_t count = get_i64(record + 40), offset = get_i64(record + 48), length = get_i64(record + 56);
    if (type < 0 || type > 2)
        return ae_error_set(err, AE_E_INPUT, "input.bin: tensor %s has unknown element type %d", tensor->name, type);
    tensor->type = types[type];
    const size_t element = ae_type_size(tensor->type);
    if (count < 0 || (uint64_t)count > size / element || length != count * (int64_t)element)
        return ae_error_set(err, AE_E_INPUT, "input.bin: tensor %s says %lld elements in %lld bytes", tensor->name,
                            (long long)count, (long long)length);
    if (offset < 0 || (uint64_t)offset > size || (uint64_t)length > size - (uint64_t)offset)
        return ae_error_set(err, AE_E_INPUT, "input.bin: tensor %s lies outside the file", tensor->name);
    tensor->count = (size_t)count;
    tensor->data = bytes + offset;
    return AE_OK;
}

int ae_published_parse(struct ae_published *ret, const void *bytes, size_t size, const char *requests,
                       struct ae_error *err)
{
    *ret = (struct ae_published){0};
    if (size < HEADER_BYTES)
        return ae_error_set(err, AE_E_INPUT, "input.bin has %zu bytes; its header alone has %d", size, HEADER_BYTES);
    const unsigned char *header = bytes;
    if (memcmp(header, "ORBENCH\0", 8) != 0 && memcmp(header, "ACCELEVA", 8) != 0)
        return ae_error_set(err, AE_E_INPUT, "input.bin does not start with ORBENCH or ACCELEVA");
    if (get_i32(header + 8) != 1)
        return ae_error_set(err, AE_E_INPUT, "input.bin has version %d; version 1 is known", get_i32(header + 8));
    const int32_t tensors = get_i32(header + 12), params = get_i32(header + 16);
    if (tensors < 0 || tensors > RECORDS_MAX || params < 0 || params > RECORDS_MAX)
        return ae_error_set(err, AE_E_INPUT, "input.bin announces %d tensors and %d parameters; at most %d each",
                            tensors, params, RECORDS_MAX);
    const size_t records = HEADER_BYTES + (size_t)tensors * TENSOR_BYTES + (size_t)params * PARAM_BYTES;
    if (records > size)
        return ae_error_set(err, AE_E_INPUT, "input.bin ends inside its records");
    ret->bytes = malloc(size);
    ret->tensors = calloc((size_t)tensors + 1, sizeof *ret->tensors);
    ret->params = calloc((size_t)params + 1, sizeof *ret->params);
    if (requests)
        ret->requests = strdup(requests);
    if (!ret->bytes || !ret->tensors || !ret->params || (requests && !ret->requests))
        return ae_error_set(err, AE_E_NOMEM, "no memory for input.bin (%zu bytes)", size);
    memcpy(ret->bytes, bytes, size);
    const unsigned char *record = ret->bytes + HEADER_BYTES;
    for (int i = 0; i < tensors; i++, record += TENSOR_BYTES) {
        const int rc = parse_tensor(&ret->tensors[i], record, size, ret->bytes, err);
        if (rc != AE_OK)
            return rc;
        ret->tensor_count++;
    }
    for (int i = 0; i < params; i++, record += PARAM_BYTES) {
        const int rc = get_name(ret->params[i].name, record, err);
        if (rc != AE_OK)
            return rc;
        ret->params[i].value = get_i64(record + 32);
        ret->param_count++;
    }
    return AE_OK;
}

void ae_published_release(struct ae_published *published)
{
    free(published->requests);
    free(published->tensors);
    free(published->params);
    free(published->bytes);
    *published = (struct ae_published){0};
}

const struct ae_published_tensor *ae_published_tensor(const struct ae_published *published, const char *name)
{
    for (int i = 0; i < published->tensor_count; i++)
        if (strcmp(published->tensors[i].name, name) == 0)
            return &published->tensors[i];
    return NULL;
}

int ae_published_param(const struct ae_published *published, const char *name, int64_t *ret, struct ae_error *err)
{
    for (int i = 0; i < published->param_count; i++)
        if (strcmp(published->params[i].name, name) == 0) {
            *ret = published->params[i].value;
            return AE_OK;
        }
    return ae_error_set(err, AE_E_INPUT, "input.bin has no parameter %s", name);
}

static double element_as_f64(const struct ae_published_tensor *tensor, size_t i)
{
    const char *p = (const char *)tensor->data + i * ae_type_size(tensor->type);
    union ae_scalar value;
    memcpy(&value, p, ae_type_size(tensor->type));
    return tensor->type == AE_I32 ? value.i32 : tensor->type == AE_F32 ? (double)value.f32 : value.f64;
}

int ae_published_copy(const struct ae_published *published, const char *name, struct ae_instance *inst, int arg,
                      int64_t count_expected, struct ae_error *err)
{
    const struct ae_published_tensor *tensor = ae_published_tensor(published, name);
    if (!tensor)
        return ae_error_set(err, AE_E_INPUT, "input.bin has no tensor %s", name);
    if (count_expected >= 0 && (uint64_t)count_expected != tensor->count)
        return ae_error_set(err, AE_E_INPUT, "input.bin: tensor %s has %zu elements, not %lld", name, tensor->count,
                            (long long)count_expected);
    void *data = ae_new_array(inst, arg, tensor->count, err);
    if (!data)
        return AE_E_NOMEM;
    const enum ae_type type = inst->task->args[arg].type;
    if (type == tensor->type) {
        memcpy(data, tensor->data, tensor->count * ae_type_size(type));
        return AE_OK;
    }
    for (size_t i = 0; i < tensor->count; i++) {
        const double value = element_as_f64(tensor, i);
        bool same = false;
        if (type == AE_I32 && value >= INT32_MIN && value <= INT32_MAX) {
            ((int32_t *)data)[i] = (int32_t)value;
            same = (double)((int32_t *)data)[i] == value;
        } else if (type == AE_F32) {
            ((float *)data)[i] = (float)value;
            same = (double)((float *)data)[i] == value;
        } else if (type == AE_F64) {
            ((double *)data)[i] = value;
            same = true;
        }
        if (!same)
            return ae_error_set(err, AE_E_INPUT, "input.bin: element %zu of tensor %s does not fit %s", i, name,
                                ae_type_name(type));
    }
    return AE_OK;
}

/* Where the task has no hook: scalars are parameters, inputs are tensors. */
static int default_import(const struct ae_published *published, struct ae_instance *inst, struct ae_error *err)
{
    const struct ae_task *task = inst->task;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        const char *name = arg->published ? arg->published : arg->name;
        int rc = AE_OK;
        int64_t value = 0;
        if (arg->role == AE_SCALAR) {
            rc = ae_published_param(published, name, &value, err);
            if (rc == AE_OK && arg->type == AE_I32 && (value < INT32_MIN || value > INT32_MAX))
                rc = ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld does not fit", name,
                                  (long long)value);
            if (rc == AE_OK && arg->type == AE_I32)
                inst->scalar[i].i32 = (int32_t)value;
            else if (rc == AE_OK && arg->type == AE_U64)
                inst->scalar[i].u64 = (uint64_t)value;
            else if (rc == AE_OK && arg->type == AE_U32)
                inst->scalar[i].u32 = (uint32_t)value;
            else if (rc == AE_OK)
                rc = ae_error_set(err, AE_E_USAGE, "%s has no published form: containers hold no scalar %s", task->id,
                                  arg->name);
        } else if (arg->role != AE_OUT) {
            rc = ae_published_copy(published, name, inst, i, -1, err);
        }
        if (rc != AE_OK)
            return rc;
    }
    return AE_OK;
}

/* One number as its type holds it; false where there is none, or one that does not fit. *end: behind it. */
static bool read_number(const char *text, enum ae_type type, union ae_scalar *ret, char **end)
{
    const bool negative = text[strspn(text, " \t\r\n")] == '-'; /* which the C library takes for a large one */
    errno = 0;
    switch (type) {
    case AE_I32:
    case AE_I64: {
        const long long value = strtoll(text, end, 10);
        if (errno != 0 || (type == AE_I32 && (value < INT32_MIN || value > INT32_MAX)))
            return false;
        if (type == AE_I32)
            ret->i32 = (int32_t)value;
        else
            ret->i64 = value;
        break;
    }
    case AE_U32:
    case AE_U64: {
        const unsigned long long value = strtoull(text, end, 10);
        if (errno != 0 || negative || (type == AE_U32 && value > UINT32_MAX))
            return false;
        if (type == AE_U32)
            ret->u32 = (uint32_t)value;
        else
            ret->u64 = value;
        break;
    }
    case AE_F32: /* too large: infinite, and wrong; too small: the nearest there is */
        ret->f32 = strtof(text, end);
        break;
    default:
        ret->f64 = strtod(text, end);
    }
    return *end != text && (!**end || strchr(" \t\r\n", **end));
}

int ae_published_numbers(const char **text, enum ae_type type, void *dst, size_t count, struct ae_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char *end;
        union ae_scalar value;
        if (!read_number(*text, type, &value, &end))
            return ae_error_set(err, AE_E_INPUT, "expected_output.txt: value %zu of %zu is missing or no number of %s",
                                i + 1, count, ae_type_name(type));
        *text = end;
        memcpy((char *)dst + i * ae_type_size(type), &value, ae_type_size(type));
    }
    return AE_OK;
}

static int default_import_expected(const struct ae_instance *inst, const char *text, struct ae_expected *expected,
                                   struct ae_error *err)
{
    for (int i = 0; i < inst->task->arg_count; i++) {
        struct ae_array *out = &expected->out[i];
        if (!ae_arg_is_output(&inst->task->args[i]))
            continue;
        const int rc = ae_published_numbers(&text, out->type, out->data, out->count, err);
        if (rc != AE_OK)
            return rc;
    }
    return AE_OK;
}

int ae_published_instance(const struct ae_published *published, const struct ae_task *task, struct ae_instance *inst,
                          struct ae_error *err)
{
    *inst = (struct ae_instance){.task = task};
    for (int i = 0; i < task->arg_count; i++)
        inst->array[i].type = task->args[i].type;
    int rc = task->import ? task->import(published, inst, err) : default_import(published, inst, err);
    if (rc == AE_OK)
        rc = task->validate(inst, err);
    if (rc == AE_OK)
        task->outputs(inst);
    return rc;
}

int ae_published_expected(const struct ae_instance *inst, const char *text, struct ae_expected *expected,
                          struct ae_error *err)
{
    const struct ae_task *task = inst->task;
    int rc = ae_expected_alloc(expected, inst, err);
    if (rc == AE_OK)
        rc = task->import_expected ? task->import_expected(inst, text, expected, err)
                                   : default_import_expected(inst, text, expected, err);
    if (rc == AE_OK && task->make_aux) {
        struct ae_error reason = {0};
        rc = task->make_aux(inst, expected, &reason);
        /* It was written for answers of our reference: what it cannot accept here is the file's fault. */
        if (rc != AE_OK)
            rc = ae_error_set(err, rc == AE_E_INTERNAL ? AE_E_INPUT : rc, "expected_output.txt: %.900s", reason.text);
    }
    return rc;
}

int ae_published_load(const char *folder, const struct ae_task *task, struct ae_instance *inst,
                      struct ae_expected *expected, struct ae_error *err)
{
    *inst = (struct ae_instance){.task = task};
    *expected = (struct ae_expected){0};
    char path[4096];
    struct ae_bytes input = {0}, requests = {0}, output = {0};
    struct ae_published published = {0};
    snprintf(path, sizeof path, "%s/input.bin", folder);
    int rc = ae_file_read(path, (size_t)8 << 30, &input, err);
    if (rc == AE_OK) {
        snprintf(path, sizeof path, "%s/requests.txt", folder);
        (void)ae_file_read(path, (size_t)1 << 30, &requests, NULL); /* many tasks have none */
        rc = ae_published_parse(&published, input.data, input.size, (const char *)requests.data, err);
    }
    if (rc == AE_OK)
        rc = ae_published_instance(&published, task, inst, err);
    if (rc == AE_OK) {
        snprintf(path, sizeof path, "%s/expected_output.txt", folder);
        rc = ae_file_read(path, (size_t)8 << 30, &output, err);
    }
    if (rc == AE_OK)
        rc = ae_published_expected(inst, (const char *)output.data, expected, err);
    ae_published_release(&published);
    ae_bytes_release(&input);
    ae_bytes_release(&requests);
    ae_bytes_release(&output);
    return rc;
}
