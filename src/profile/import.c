#include "profile/import.h"

#include "base/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_C(1) << 60) /* ns; sums of a few stay in range */
#define BYTES_MAX 1e18

static int64_t time_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const json_int_t ns = json_is_integer(value) ? json_integer_value(value) : 0;
    return ns < 0 ? 0 : ns > TIME_MAX ? TIME_MAX : ns;
}

static double bytes_of(const json_t *object, const char *name)
{
    const double bytes = json_number_value(json_object_get(object, name));
    return bytes > 0 && bytes < BYTES_MAX ? bytes : 0;
}

static void text_of(const json_t *object, const char *name, char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(object, name));
    ret[0] = 0;
    if (text)
        ae_utf8_printable(text, ret, size, SIZE_MAX);
}

static void read_copies(const json_t *object, struct ae_copy_facts *ret)
{
    *ret = (struct ae_copy_facts){.count = time_of(object, "count"),
                                  .small = time_of(object, "small"),
                                  .bytes = bytes_of(object, "bytes"),
                                  .pageable_bytes = bytes_of(object, "pageable_bytes"),
                                  .pinned_bytes = bytes_of(object, "pinned_bytes"),
                                  .ns = time_of(object, "ns")};
}

static void read_phases(const json_t *array, struct ae_profile_record *ret)
{
    size_t i;
    const json_t *row;
    json_array_foreach(array, i, row) {
        const char *name = json_string_value(json_object_get(row, "phase"));
        const enum ae_phase phase = name ? ae_phase_find(name) : AE_PHASE_COUNT;
        if (phase == AE_PHASE_COUNT)
            continue;
        const struct ae_phase_time time = {time_of(row, "ns"), time_of(row, "busy_ns")};
        ret->facts.phase[phase] = ret->explanation.phases[phase] = time;
        ret->explanation.floors[phase] = (int64_t)bytes_of(row, "floor_ns");
    }
}

static void read_kernels(const json_t *array, struct ae_facts *ret)
{
    size_t i;
    const json_t *row;
    json_array_foreach(array, i, row) {
        if (ret->kernel_count == AE_KERNELS_MAX)
            break;
        struct ae_kernel_facts *k = &ret->kernels[ret->kernel_count++];
        text_of(row, "name", k->name, sizeof k->name);
        k->of_toolkit = json_is_true(json_object_get(row, "library"));
        k->launches = time_of(row, "launches");
        k->total_ns = time_of(row, "ns");
        ret->launches = ret->launches > TIME_MAX ? TIME_MAX : ret->launches + k->launches;
    }
}

static void read_reasons(const json_t *array, struct ae_explanation *ret)
{
    size_t i;
    const json_t *row;
    json_array_foreach(array, i, row) {
        if (ret->reason_count == AE_EXPLANATION_REASONS)
            break;
        struct ae_reason *reason = &ret->reasons[ret->reason_count++];
        const double share = json_number_value(json_object_get(row, "share"));
        text_of(row, "id", reason->rule, sizeof reason->rule);
        text_of(row, "text", reason->text, sizeof reason->text);
        reason->share = share >= 0 && share <= 1 ? share : 0;
        reason->gain_ns = (int64_t)bytes_of(row, "gain_ns");
    }
}

/* False: of no explained call, which is no error. */
static bool read_one(const json_t *object, struct ae_profile_record *ret, int *ret_rc, struct ae_error *err)
{
    const json_t *schema = json_object_get(object, "schema");
    const char *size = json_string_value(json_object_get(object, "size"));
    *ret_rc = AE_OK;
    if (!json_is_integer(schema) || !size) {
        *ret_rc = ae_error_set(err, AE_E_INPUT, "no profile: 'acceleval profile --json' writes such files");
        return false;
    }
    if (json_integer_value(schema) != 1) {
        *ret_rc = ae_error_set(err, AE_E_INPUT, "a profile of version %lld, which this program does not know",
                               (long long)json_integer_value(schema));
        return false;
    }
    if (!json_object_get(object, "phases"))
        return false;
    *ret = (struct ae_profile_record){.size = ae_size_find(size)};
    if (ret->size == AE_SIZE_COUNT) {
        *ret_rc = ae_error_set(err, AE_E_INPUT, "a profile of no size that is known");
        return false;
    }
    text_of(object, "task", ret->task, sizeof ret->task);
    text_of(object, "source", ret->source, sizeof ret->source);
    text_of(object, "submission", ret->submission, sizeof ret->submission);
    ret->traced = ret->facts.device = json_is_true(json_object_get(object, "traced"));
    ret->facts.call_ns = time_of(object, "call_ns");
    ret->facts.overlap_ns = time_of(object, "overlap_ns");
    ret->facts.device_ns = time_of(object, "device_ns");
    ret->facts.dropped = (uint64_t)time_of(object, "dropped");
    read_copies(json_object_get(object, "copies_in"), &ret->facts.in);
    read_copies(json_object_get(object, "copies_out"), &ret->facts.out);
    read_kernels(json_object_get(object, "kernels"), &ret->facts);
    ret->explanation.call_ns = ret->facts.call_ns;
    ret->explanation.timed_ns = time_of(object, "timed_ns");
    ret->explanation.dropped = (int64_t)ret->facts.dropped;
    text_of(object, "note", ret->explanation.note, sizeof ret->explanation.note);
    read_phases(json_object_get(object, "phases"), ret);
    read_reasons(json_object_get(object, "bottlenecks"), &ret->explanation);
    return true;
}

int ae_profiles_read(const char *text, size_t size, struct ae_profile_record **ret, size_t *ret_count,
                     struct ae_error *err)
{
    json_error_t where;
    *ret = NULL;
    *ret_count = 0;
    if (size > AE_PROFILES_TEXT_MAX)
        return ae_error_set(err, AE_E_INPUT, "profiles of more than %zu MiB", AE_PROFILES_TEXT_MAX >> 20);
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return ae_error_set(err, AE_E_INPUT, "no JSON: line %d", where.line);
    const size_t count = json_is_array(root) ? json_array_size(root) : 1;
    struct ae_profile_record *records = NULL;
    int rc = AE_OK;
    if (count > AE_PROFILES_MAX)
        rc = ae_error_set(err, AE_E_INPUT, "more than %d profiles", AE_PROFILES_MAX);
    else if (count > 0 && !(records = calloc(count, sizeof *records)))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for profiles");
    for (size_t i = 0; rc == AE_OK && i < count; i++)
        *ret_count += read_one(json_is_array(root) ? json_array_get(root, i) : root, &records[*ret_count], &rc, err);
    json_decref(root);
    if (rc != AE_OK) {
        free(records);
        *ret_count = 0;
        return rc;
    }
    *ret = records;
    return AE_OK;
}
