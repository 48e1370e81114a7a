/* Writes one seed for each task into a folder: its smallest generated instance as a published container. What a
 * container must hold is asked from the import itself, whose refusals name what they miss; a seed that the import does
 * not accept in the end is an error, so that the corpus cannot rot. */
#include "base/file.h"
#include "task/published.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 32

struct seed {
    const struct ae_instance *from;
    struct record {
        char name[32];
        int64_t value;         /* parameters */
        enum ae_type type;     /* tensors */
        size_t count;
        const void *data;
    } params[RECORDS], tensors[RECORDS];
    int param_count, tensor_count;
    float floats[AE_ARGS_MAX]; /* of tensors that gather scalars */
    char *requests;
};

static const struct ae_task *task;

static void give_up(const char *why)
{
    fprintf(stderr, "published_seeds: %s: %s\n", task->id, why);
    exit(1);
}

static double scalar_of(const struct ae_instance *inst, int arg)
{
    const union ae_scalar *value = &inst->scalar[arg];
    switch (task->args[arg].type) {
    case AE_I32:
        return value->i32;
    case AE_U32:
        return value->u32;
    case AE_U64:
        return (double)value->u64;
    case AE_F32:
        return (double)value->f32;
    default:
        return value->f64;
    }
}

/* The argument behind a name of the container: by its name, by its published one, or by the likest beginning
 * ("time_x1000" for time_to_maturity). -1: none. */
static int argument_of(const char *name, bool scalar)
{
    int best = -1;
    size_t best_length = 0;
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_arg *arg = &task->args[i];
        if ((arg->role == AE_SCALAR) != scalar || arg->role == AE_OUT)
            continue;
        if (strcmp(arg->published ? arg->published : arg->name, name) == 0)
            return i;
        size_t length = 0;
        while (name[length] && name[length] == arg->name[length])
            length++;
        if (length > best_length) {
            best = i;
            best_length = length;
        }
    }
    return best;
}

static void add_param(struct seed *s, const char *name)
{
    const char *mark = strstr(name, "_x");
    const int arg = argument_of(name, true);
    struct record *r = &s->params[s->param_count++];
    if (s->param_count > RECORDS - 1)
        give_up("too many parameters");
    snprintf(r->name, sizeof r->name, "%s", name);
    if (strcmp(name, "pos_fee_x100") == 0) /* of crew_pairing: a constant of ours */
        r->value = 1000000;
    else if (arg < 0)
        give_up(name);
    else if (task->args[arg].type == AE_F32 && mark)
        r->value = (int64_t)(scalar_of(s->from, arg) * strtod(mark + 2, NULL) + 0.5);
    else
        r->value = (int64_t)scalar_of(s->from, arg);
}

static void add_tensor(struct seed *s, const char *name)
{
    struct record *r = &s->tensors[s->tensor_count++];
    if (s->tensor_count > RECORDS - 1)
        give_up("too many tensors");
    snprintf(r->name, sizeof r->name, "%s", name);
    int arg = -1;
    for (int i = 0; i < task->arg_count; i++) /* no guessing by likeness: arrays have their names */
        if (task->args[i].role != AE_OUT &&
            (strcmp(task->args[i].name, name) == 0 || (task->args[i].published && strcmp(task->args[i].published, name) == 0)))
            arg = i;
    if (arg >= 0 && task->args[arg].role != AE_SCALAR) {
        r->type = task->args[arg].type;
        r->count = s->from->array[arg].count;
        r->data = s->from->array[arg].data;
        return;
    }
    /* A scalar of its own, or all float scalars in the order of the prototype. */
    r->type = AE_F32;
    float *into = &s->floats[0];
    for (int i = 0; i < s->tensor_count - 1; i++)
        if (s->tensors[i].data >= (void *)s->floats && s->tensors[i].data < (void *)(s->floats + AE_ARGS_MAX))
            into += s->tensors[i].count;
    r->data = into;
    for (int i = 0; i < task->arg_count; i++)
        if (task->args[i].role == AE_SCALAR && task->args[i].type == AE_F32 && (arg < 0 || arg == i))
            into[r->count++] = s->from->scalar[i].f32;
    if (r->count == 0)
        give_up(name);
}

/* One line for each request: the input arrays of equal length whose names the container does not hold. */
static void add_requests(struct seed *s)
{
    size_t size = 0;
    FILE *out = open_memstream(&s->requests, &size);
    int columns[AE_ARGS_MAX], count = 0;
    for (int i = 0; i < task->arg_count; i++) {
        bool held = task->args[i].role != AE_IN;
        for (int t = 0; t < s->tensor_count; t++)
            held = held || strcmp(s->tensors[t].name, task->args[i].name) == 0;
        if (!held)
            columns[count++] = i;
    }
    if (!out || count == 0)
        give_up("requests.txt");
    for (size_t row = 0; row < s->from->array[columns[0]].count; row++)
        for (int c = 0; c < count; c++) {
            const struct ae_array *array = &s->from->array[columns[c]];
            if (array->type == AE_F32)
                fprintf(out, "%.9g", (double)((const float *)array->data)[row]);
            else
                fprintf(out, "%d", ((const int32_t *)array->data)[row]);
            fputc(c + 1 < count ? ' ' : '\n', out);
        }
    fclose(out);
}

static void put(unsigned char **to, const void *data, size_t size)
{
    if (size)
        memcpy(*to, data, size);
    *to += size;
}

/* The container; the caller frees it. */
static unsigned char *container(const struct seed *s, size_t *ret_size)
{
    static const int32_t codes[AE_TYPE_COUNT] = {[AE_I32] = 0, [AE_F32] = 1, [AE_F64] = 2};
    size_t bytes = 32 + 64 * (size_t)s->tensor_count + 40 * (size_t)s->param_count;
    int64_t offset = (int64_t)bytes;
    for (int i = 0; i < s->tensor_count; i++)
        bytes += s->tensors[i].count * ae_type_size(s->tensors[i].type);
    unsigned char *all = calloc(1, bytes + 1), *p = all;
    if (!all)
        give_up("no memory");
    const int32_t version = 1, zero[3] = {0}, tensors = s->tensor_count, params = s->param_count;
    put(&p, "ORBENCH\0", 8);
    put(&p, &version, 4);
    put(&p, &tensors, 4);
    put(&p, &params, 4);
    put(&p, zero, 12);
    for (int i = 0; i < s->tensor_count; i++) {
        const struct record *r = &s->tensors[i];
        const int64_t count = (int64_t)r->count, length = count * (int64_t)ae_type_size(r->type);
        put(&p, r->name, 32);
        put(&p, &codes[r->type], 4);
        put(&p, zero, 4);
        put(&p, &count, 8);
        put(&p, &offset, 8);
        put(&p, &length, 8);
        offset += length;
    }
    for (int i = 0; i < s->param_count; i++) {
        put(&p, s->params[i].name, 32);
        put(&p, &s->params[i].value, 8);
    }
    for (int i = 0; i < s->tensor_count; i++)
        put(&p, s->tensors[i].data, s->tensors[i].count * ae_type_size(s->tensors[i].type));
    *ret_size = bytes;
    return all;
}

/* Tries the import; adds what it misses. True once it is content, or says that there is nothing to import. */
static bool content(struct seed *s, size_t *ret_outputs)
{
    struct ae_published published;
    struct ae_instance inst;
    struct ae_error err = {0};
    char name[32];
    size_t size;
    unsigned char *bytes = container(s, &size);
    if (ae_published_parse(&published, bytes, size, s->requests, &err) != AE_OK)
        give_up(err.text);
    const int rc = ae_published_instance(&published, task, &inst, &err);
    *ret_outputs = 0;
    for (int i = 0; i < task->arg_count; i++)
        if (ae_arg_is_output(&task->args[i]))
            *ret_outputs += inst.array[i].count;
    ae_instance_release(&inst);
    ae_published_release(&published);
    free(bytes);
    if (rc == AE_OK || rc == AE_E_USAGE)
        return true;
    if (sscanf(err.text, "input.bin has no parameter %31s", name) == 1)
        add_param(s, name);
    else if (sscanf(err.text, "input.bin has no tensor %31s", name) == 1 ||
             sscanf(err.text, "input.bin has no float tensor %31s", name) == 1)
        add_tensor(s, name);
    else if (strstr(err.text, "requests.txt") && !s->requests)
        add_requests(s);
    else
        give_up(err.text);
    return false;
}

static void smallest(struct ae_instance *ret)
{
    bool have = false;
    for (int f = 0; f < ae_task_family_count(task); f++) {
        struct ae_instance inst;
        struct ae_error err;
        if (!(task->families[f].sizes & AE_AT(AE_SMALL)))
            continue;
        if (ae_instance_make(&inst, task, AE_SMALL, f, 3, &err) != AE_OK)
            give_up(err.text);
        if (have && ae_instance_bytes(&inst) >= ae_instance_bytes(ret)) {
            ae_instance_release(&inst);
            continue;
        }
        if (have)
            ae_instance_release(ret);
        *ret = inst;
        have = true;
    }
}

static void write_seed(const char *folder, int index)
{
    struct ae_instance inst;
    struct seed *s = calloc(1, sizeof *s);
    struct ae_error err = {0};
    size_t outputs = 0, size, tries = 0;
    char path[4096];
    if (!s)
        give_up("no memory");
    smallest(&inst);
    s->from = &inst;
    while (!content(s, &outputs))
        if (++tries > 2 * RECORDS)
            give_up("the import is never content");
    const size_t requests = s->requests ? strlen(s->requests) : 0, text = 2 * outputs;
    if (requests > UINT16_MAX || text > UINT16_MAX)
        give_up("the smallest instance is too large for a seed");
    unsigned char *bytes = container(s, &size), *all = malloc(5 + requests + text + size), *p = all;
    if (!all)
        give_up("no memory");
    const unsigned char head[5] = {(unsigned char)index, requests & 255, (unsigned char)(requests >> 8), text & 255,
                                   (unsigned char)(text >> 8)};
    put(&p, head, 5);
    put(&p, s->requests, requests);
    for (size_t i = 0; i < outputs; i++)
        put(&p, "1\n", 2);
    put(&p, bytes, size);
    snprintf(path, sizeof path, "%s/%s", folder, task->id);
    if (ae_file_write(path, all, (size_t)(p - all), &err) != AE_OK)
        give_up(err.text);
    free(bytes);
    free(all);
    free(s->requests);
    free(s);
    ae_instance_release(&inst);
}

int main(int argc, char **argv)
{
    if (argc != 2 || ae_task_count > 256) {
        fprintf(stderr, "usage: published_seeds FOLDER\n");
        return 2;
    }
    for (int i = 0; i < ae_task_count; i++) {
        task = ae_tasks[i];
        write_seed(argv[1], i);
    }
    return 0;
}
