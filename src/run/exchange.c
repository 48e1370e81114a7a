#include "run/exchange.h"

#include "base/clock.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT  "acceleval-cache"
#define VERSION 1
#define RECORDS_MAX 1000000

/* --- calibration ---------------------------------------------------------------------------------------- */

/* Dependent multiply-adds (the clock's frequency) and a walk through a megabyte (the caches). */
static int64_t calibration_piece(uint32_t *walk, size_t count)
{
    const int64_t start = ae_now_ns();
    double x = 0.5;
    for (int i = 0; i < 400000; i++)
        x = x * 0.999999 + 1e-7;
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++)
        at = walk[at];
    walk[at] += x > 2; /* never, but the compiler does not know */
    return ae_now_ns() - start;
}

int64_t ae_exchange_calibrate(void)
{
    const size_t count = (size_t)1 << 18;
    uint32_t *walk = malloc(count * sizeof *walk);
    int64_t best = INT64_MAX;
    if (!walk)
        return 0;
    for (size_t i = 0; i < count; i++) /* one cycle through all: a full-period linear congruence */
        walk[i] = (uint32_t)((i * 1664525 + 1013904223) & (count - 1));
    for (const int64_t end = ae_now_ns() + AE_SEC; ae_now_ns() < end;) {
        const int64_t took = calibration_piece(walk, count);
        best = took < best ? took : best;
    }
    free(walk);
    return best;
}

/* --- export --------------------------------------------------------------------------------------------- */

/* The SHA-256 over the object without its last member. */
static int seal(json_t *object, char ret[AE_SHA256_HEX], struct ae_error *err)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    const int rc = text ? ae_sha256(text, strlen(text), ret, err)
                        : ae_error_set(err, AE_E_NOMEM, "no memory for an exchange of the cache");
    free(text);
    return rc;
}

static json_t *place_json(const struct ae_answer_place *place)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:i, s:i, s:s, s:b, s:s}", "task", place->task, "version", place->version,
                     "size", ae_size_name(place->size), "kind", ae_trial_kind_name(place->kind), "family", place->family,
                     "number", place->number, "bank", place->bank, "practice", place->practice, "reference",
                     place->reference);
}

struct export {
    struct ae_context *context;
    char bank[17], machine[AE_MACHINE_KEY];
    json_t *baselines, *digests;
    struct ae_exchange_counts *counts;
    struct ae_error *err;
};

/* The place behind an entry's key, of this bank and of a version that is still made; false: none of ours. */
static bool place_of_entry(const struct export *e, const struct ae_cache_stat *stat, const char *prefix,
                           char answer[AE_ANSWER_KEY], struct ae_answer_place *ret)
{
    ae_autofree char *key = NULL;
    const size_t length = strlen(prefix);
    if (ae_cache_key_text(stat->path, &key, NULL) != AE_OK || strncmp(key, prefix, length) != 0 ||
        strlen(key + length) >= AE_ANSWER_KEY || !ae_answer_place_parse(key + length, ret) ||
        strcmp(ret->bank, e->bank) != 0)
        return false;
    strcpy(answer, key + length);
    const struct ae_task *task = ae_task_named(ret->task);
    return task && task->version == ret->version;
}

static int export_baseline(const struct ae_cache_stat *stat, void *data)
{
    struct export *e = data;
    char prefix[AE_MACHINE_KEY + 16], answer[AE_ANSWER_KEY], key[AE_BASELINE_KEY];
    struct ae_answer_place place;
    struct ae_baseline baseline;
    snprintf(prefix, sizeof prefix, "baseline\n%s", e->machine);
    if (!place_of_entry(e, stat, prefix, answer, &place)) {
        e->counts->other++;
        return 0;
    }
    ae_baseline_key(e->machine, answer, key);
    if (!ae_baseline_get(e->context->cache, key, &baseline) || baseline.imported)
        return 0; /* hearsay: where it was measured can export it */
    json_t *record = place_json(&place);
    if (!record || json_object_set_new(record, "ns", json_integer(baseline.ns)) != 0 ||
        json_object_set_new(record, "place", json_string(baseline.place)) != 0 ||
        json_array_append(e->baselines, record) != 0) {
        json_decref(record);
        return ae_error_set(e->err, AE_E_NOMEM, "no memory for an exchange of the cache");
    }
    json_decref(record);
    e->counts->baselines++;
    return 0;
}

static int export_digest(const struct ae_cache_stat *stat, void *data)
{
    struct export *e = data;
    char answer[AE_ANSWER_KEY], digest[AE_ANSWER_DIGEST];
    struct ae_answer_place place;
    struct ae_expected expected;
    if (!place_of_entry(e, stat, "", answer, &place))
        return 0;
    const struct ae_task *task = ae_task_named(place.task);
    if (!ae_answer_is_exact(task))
        return 0;
    int rc = ae_answer_load(e->context->cache, answer, &expected, NULL);
    if (rc == AE_OK)
        rc = ae_answer_digest(&e->context->bank, task, answer, &expected, digest, e->err);
    ae_expected_release(&expected);
    if (rc == AE_E_NOTFOUND)
        return 0; /* pruned or damaged meanwhile */
    if (rc != AE_OK)
        return rc;
    json_t *record = place_json(&place);
    if (!record || json_object_set_new(record, "digest", json_string(digest)) != 0 ||
        json_array_append(e->digests, record) != 0) {
        json_decref(record);
        return ae_error_set(e->err, AE_E_NOMEM, "no memory for an exchange of the cache");
    }
    json_decref(record);
    e->counts->digests++;
    return 0;
}

int ae_exchange_export(struct ae_context *context, int64_t calibration_ns, char **ret, struct ae_exchange_counts *counts,
                       struct ae_error *err)
{
    struct export e = {.context = context, .counts = counts, .err = err};
    char place[AE_PLACE_TEXT], sum[AE_SHA256_HEX];
    *counts = (struct ae_exchange_counts){.calibration_ratio = 1};
    ae_bank_name(&context->bank, e.bank);
    ae_context_baseline_key(context, e.machine, sizeof e.machine);
    ae_context_place(context, place, sizeof place);
    e.baselines = json_array();
    e.digests = json_array();
    int rc = ae_cache_each(context->cache, "baseline", export_baseline, &e, err);
    if (rc == AE_OK)
        rc = ae_cache_each(context->cache, "expected", export_digest, &e, err);
    json_t *all = json_pack("{s:s, s:i, s:{s:s, s:s, s:I}, s:o, s:o}", "format", FORMAT, "version", VERSION, "machine",
                            "key", e.machine, "place", place, "calibration_ns", (json_int_t)calibration_ns, "baselines",
                            e.baselines, "digests", e.digests);
    if (rc == AE_OK && !all)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for an exchange of the cache");
    if (rc == AE_OK)
        rc = seal(all, sum, err);
    if (rc == AE_OK) {
        json_object_set_new(all, "sha256", json_string(sum));
        *ret = json_dumps(all, JSON_INDENT(1) | JSON_SORT_KEYS);
        if (!*ret)
            rc = ae_error_set(err, AE_E_NOMEM, "no memory for an exchange of the cache");
    }
    json_decref(all);
    return rc;
}

/* --- import --------------------------------------------------------------------------------------------- */

static int malformed(struct ae_error *err, const char *list, size_t index, const char *what)
{
    return ae_error_set(err, AE_E_INPUT, "not an export of a cache: record %zu of '%s' %s", index + 1, list, what);
}

/* A string member of at most size - 1 printable characters. */
static bool get_text(const json_t *object, const char *name, char *ret, size_t size)
{
    const json_t *member = json_object_get(object, name);
    const char *text = json_string_value(member);
    if (!text || json_string_length(member) >= size)
        return false;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            return false;
    strcpy(ret, text);
    return true;
}

static bool get_integer(const json_t *object, const char *name, int64_t lo, int64_t hi, int64_t *ret)
{
    const json_t *member = json_object_get(object, name);
    if (!json_is_integer(member))
        return false;
    *ret = json_integer_value(member);
    return *ret >= lo && *ret <= hi;
}

static bool get_place(const json_t *record, struct ae_answer_place *ret)
{
    char size[16], kind[16];
    int64_t version, family, number;
    const json_t *practice = json_object_get(record, "practice");
    *ret = (struct ae_answer_place){0};
    if (!get_text(record, "task", ret->task, sizeof ret->task) || !get_text(record, "size", size, sizeof size) ||
        !get_text(record, "kind", kind, sizeof kind) || !get_text(record, "bank", ret->bank, sizeof ret->bank) ||
        !get_text(record, "reference", ret->reference, sizeof ret->reference) ||
        !get_integer(record, "version", 1, INT32_MAX, &version) || !get_integer(record, "family", 0, INT32_MAX, &family) ||
        !get_integer(record, "number", 0, INT32_MAX, &number) || !json_is_boolean(practice))
        return false;
    ret->version = (int)version;
    ret->family = (int)family;
    ret->number = (int)number;
    ret->practice = json_is_true(practice);
    ret->size = ae_size_find(size);
    ret->kind = ae_trial_kind_find(kind);
    return ae_answer_place_valid(ret);
}

struct import {
    struct ae_context *context;
    const json_t *baselines, *digests;
    char bank[17], machine[AE_MACHINE_KEY], their_machine[AE_MACHINE_KEY];
    int64_t their_calibration;
    struct ae_exchange_counts *counts;
};

/* Is it for what this program and bank would make? */
/* Counted as passed over where it is not. */
static bool is_ours(const struct import *in, const struct ae_answer_place *place)
{
    const struct ae_task *task = ae_task_named(place->task);
    const bool other_bank = strcmp(place->bank, in->bank) != 0;
    const bool ours = task && task->version == place->version && !other_bank;
    in->counts->other += !ours;
    in->counts->other_bank += other_bank;
    return ours;
}

/* One pass over a list: checks every record, and stores them where store is set. */
static int read_baselines(struct import *in, bool store, struct ae_error *err)
{
    size_t i;
    json_t *record;
    json_array_foreach(in->baselines, i, record) {
        struct ae_answer_place place;
        struct ae_baseline baseline = {.imported = true};
        char answer[AE_ANSWER_KEY], key[AE_BASELINE_KEY];
        if (!get_place(record, &place))
            return malformed(err, "baselines", i, "names no instance");
        if (!get_integer(record, "ns", 1, (int64_t)1 << 53, &baseline.ns))
            return malformed(err, "baselines", i, "has no time");
        if (!get_text(record, "place", baseline.place, sizeof baseline.place))
            return malformed(err, "baselines", i, "does not say where it was measured");
        if (!store)
            continue;
        if (!is_ours(in, &place))
            continue;
        if (in->counts->machine_differs || fabs(in->counts->calibration_ratio - 1) > AE_CALIBRATION_SHARE) {
            in->counts->other++;
            continue;
        }
        ae_answer_key(&place, answer);
        ae_baseline_key(in->machine, answer, key);
        struct ae_baseline own;
        if (ae_baseline_get(in->context->cache, key, &own) && !own.imported)
            continue; /* what was measured here stays */
        const int rc = ae_baseline_put(in->context->cache, key, &baseline, err);
        if (rc != AE_OK)
            return rc;
        in->counts->baselines++;
    }
    return AE_OK;
}

static int read_digests(struct import *in, bool store, struct ae_error *err)
{
    size_t i;
    json_t *record;
    json_array_foreach(in->digests, i, record) {
        struct ae_answer_place place;
        char answer[AE_ANSWER_KEY], digest[AE_ANSWER_DIGEST];
        if (!get_place(record, &place))
            return malformed(err, "digests", i, "names no instance");
        if (!get_text(record, "digest", digest, sizeof digest) ||
            strspn(digest, "0123456789abcdef") != AE_ANSWER_DIGEST - 1)
            return malformed(err, "digests", i, "has no digest");
        if (!store)
            continue;
        if (!is_ours(in, &place))
            continue;
        ae_answer_key(&place, answer);
        const struct iovec piece = {digest, sizeof digest - 1};
        const int rc = ae_cache_put(in->context->cache, "digest", answer, &piece, 1, err);
        if (rc != AE_OK)
            return rc;
        in->counts->digests++;
    }
    return AE_OK;
}

static int check_file(json_t *all, struct import *in, struct ae_error *err)
{
    const char *format = json_string_value(json_object_get(all, "format"));
    const json_t *machine = json_object_get(all, "machine");
    char sum[AE_SHA256_HEX], their_sum[AE_SHA256_HEX];
    int64_t version;
    if (!format || strcmp(format, FORMAT) != 0)
        return ae_error_set(err, AE_E_INPUT, "not an export of a cache: its format is not '" FORMAT "'");
    if (!get_integer(all, "version", 0, INT32_MAX, &version) || version != VERSION)
        return ae_error_set(err, AE_E_INPUT, "an export of a cache of another version than %d", VERSION);
    if (!get_text(all, "sha256", their_sum, sizeof their_sum))
        return ae_error_set(err, AE_E_INPUT, "not an export of a cache: its digest is missing");
    json_object_del(all, "sha256");
    const int rc = seal(all, sum, err);
    if (rc != AE_OK)
        return rc;
    if (strcmp(sum, their_sum) != 0)
        return ae_error_set(err, AE_E_INPUT, "a damaged export of a cache: its contents have another digest");
    const char *key = json_string_value(json_object_get(machine, "key"));
    if (!key || strlen(key) >= sizeof in->their_machine ||
        !get_integer(machine, "calibration_ns", 1, INT64_MAX, &in->their_calibration))
        return ae_error_set(err, AE_E_INPUT, "not an export of a cache: it names no machine");
    strcpy(in->their_machine, key);
    in->baselines = json_object_get(all, "baselines");
    in->digests = json_object_get(all, "digests");
    if (!json_is_array(in->baselines) || !json_is_array(in->digests) || json_array_size(in->baselines) > RECORDS_MAX ||
        json_array_size(in->digests) > RECORDS_MAX)
        return ae_error_set(err, AE_E_INPUT, "not an export of a cache: its lists are missing or too long");
    return AE_OK;
}

int ae_exchange_import(struct ae_context *context, const void *data, size_t size, int64_t calibration_ns,
                       struct ae_exchange_counts *counts, struct ae_error *err)
{
    struct import in = {.context = context, .counts = counts};
    json_error_t problem;
    *counts = (struct ae_exchange_counts){0};
    if (size > AE_EXCHANGE_MAX)
        return ae_error_set(err, AE_E_INPUT, "an export of a cache has at most %zu MiB", AE_EXCHANGE_MAX >> 20);
    json_t *all = json_loadb(data, size, JSON_REJECT_DUPLICATES, &problem);
    if (!all)
        return ae_error_set(err, AE_E_INPUT, "not an export of a cache: line %d: %s", problem.line, problem.text);
    ae_bank_name(&context->bank, in.bank);
    ae_context_baseline_key(context, in.machine, sizeof in.machine);
    int rc = check_file(all, &in, err);
    if (rc == AE_OK) {
        counts->machine_differs = strcmp(in.machine, in.their_machine) != 0;
        counts->calibration_ratio = (double)in.their_calibration / (double)(calibration_ns > 0 ? calibration_ns : 1);
    }
    for (int store = 0; rc == AE_OK && store < 2; store++) {
        rc = read_baselines(&in, store, err);
        if (rc == AE_OK)
            rc = read_digests(&in, store, err);
    }
    json_decref(all);
    return rc;
}
