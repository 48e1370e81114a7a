/* Reading the data container of the published benchmark (docs/formats.md). Every field is hostile: offsets, counts
 * and sizes are checked against each other and against the file's length before anything is allocated. */
#ifndef AE_TASK_PUBLISHED_H
#define AE_TASK_PUBLISHED_H

#include "task/task.h"

struct ae_published {
    char *requests; /* the text of requests.txt, NUL-terminated; NULL where there is none */
    struct ae_published_tensor {
        char name[32];
        enum ae_type type;
        size_t count;
        const void *data; /* into bytes; not aligned for its type */
    } *tensors;
    int tensor_count;
    struct ae_published_param {
        char name[32];
        int64_t value;
    } *params;
    int param_count;
    unsigned char *bytes; /* the whole file */
};

/* Parses a copy of bytes[0..size-1] (input.bin) and requests (may be NULL). Release *ret in any case. */
int ae_published_parse(struct ae_published *ret, const void *bytes, size_t size, const char *requests,
                       struct ae_error *err);
void ae_published_release(struct ae_published *published);

/* NULL where there is none of that name. */
const struct ae_published_tensor *ae_published_tensor(const struct ae_published *published, const char *name);
int ae_published_param(const struct ae_published *published, const char *name, int64_t *ret, struct ae_error *err);

/* Copies tensor `name` into a new array of argument arg, converting between numeric types where no value changes;
 * count_expected < 0: any length. */
int ae_published_copy(const struct ae_published *published, const char *name, struct ae_instance *inst, int arg,
                      int64_t count_expected, struct ae_error *err);

/* The instance that a parsed container describes, validated, its outputs counted. inst->size is AE_SMALL and
 * inst->family 0; it is to be released in any case. */
int ae_published_instance(const struct ae_published *published, const struct ae_task *task, struct ae_instance *inst,
                          struct ae_error *err);
/* The text of expected_output.txt as expected outputs of that instance (and what its checks need besides); to be
 * released in any case. */
int ae_published_expected(const struct ae_instance *inst, const char *text, struct ae_expected *expected,
                          struct ae_error *err);

/* The instance and expected output of a folder with input.bin, requests.txt and expected_output.txt.
 * inst->size is AE_SMALL and inst->family 0; both objects are to be released in any case. */
int ae_published_load(const char *folder, const struct ae_task *task, struct ae_instance *inst,
                      struct ae_expected *expected, struct ae_error *err);

/* Reads exactly count numbers, separated by white space, from *text into dst and moves *text behind them.
 * "nan" and "inf" are numbers. */
int ae_published_numbers(const char **text, enum ae_type type, void *dst, size_t count, struct ae_error *err);

#endif
