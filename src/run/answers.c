#include "run/answers.h"

#include "base/clock.h"
#include "run/trial.h"
#include "run/twin.h"
#include "stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAGIC UINT32_C(0x41454132) /* "AEA2": the layout below */
#define REPEATS_MAX  5
#define AGREE        0.01 /* so well do two repeats of a long call agree */
#define REFERENCE_TIMEOUT (1800 * AE_SEC)
/* On a near-twin, which need not have all the virtues that the generator gives its instances: it may go astray. */
#define TWIN_TIMEOUT      (120 * AE_SEC)
#define REFERENCE_MEMORY  ((uint64_t)64 << 30)

/* Payload of an "expected" entry: this header, then the arrays' bytes one after the other. */
struct answer_header {
    uint32_t magic, array_count;
    int64_t reference_ns;
    struct {
        uint32_t type, slot; /* slot: argument, or AE_ARGS_MAX + aux index */
        uint64_t count;
    } arrays[AE_ARGS_MAX + AE_AUX_MAX];
};

int ae_cases_of(const struct ae_task *task, enum ae_size size, bool practice, int timed, int fresh,
                struct ae_case_name *names)
{
    int n = 0;
    struct ae_case_name name = {.task = task, .size = size, .practice = practice};
    for (int f = 1; f < ae_task_family_count(task); f++)
        if (task->families[f].sizes & AE_AT(size)) {
            name.kind = AE_TRIAL_ADVERSARIAL;
            name.family = f;
            name.number = 0;
            if (names)
                names[n] = name;
            n++;
        }
    name.family = 0;
    for (int i = 0; i < fresh + timed; i++) {
        name.kind = i < fresh ? AE_TRIAL_FRESH : AE_TRIAL_TIMED;
        name.number = i < fresh ? i : i - fresh;
        if (names)
            names[n] = name;
        n++;
    }
    return n;
}

int ae_baseline_repeats(int64_t call_ns)
{
    return call_ns < 2 * AE_SEC ? 5 : call_ns < 5 * AE_SEC ? 3 : 1;
}

int ae_reference_build(struct ae_context *context, const struct ae_task *task, struct ae_build_result *ret,
                       struct ae_error *err)
{
    struct ae_bytes source = {0};
    *ret = (struct ae_build_result){0};
    int rc = ae_context_read(context, task, "reference.c", &source, err);
    if (rc != AE_OK)
        return rc;
    const struct ae_build_request request = {
        .kind = AE_BUILD_REFERENCE, .name = "reference.c", .source = source.data, .size = source.size};
    rc = ae_build(context->toolchain, context->cache, &request, ret, err);
    if (rc == AE_OK && ret->status != AE_BUILD_DONE)
        rc = ae_error_set(err, ret->status == AE_BUILD_UNAVAILABLE ? AE_E_ENV : AE_E_INTERNAL,
                          "the reference of %s cannot be built: %s", task->id, ret->detail);
    ae_bytes_release(&source);
    return rc;
}

#define BASELINE_MAGIC UINT32_C(0x41454232) /* "AEB2" */

/* Payload of a "baseline" entry. */
struct baseline {
    uint32_t magic, imported; /* 1: measured elsewhere, on a machine of the same key */
    int64_t ns;
    char place[AE_PLACE_TEXT];
};

/* Keys hold no seed: the cache may be shown and copied. */
static void place_of_case(const struct ae_context *context, const struct ae_case_name *name, const char *source_hash,
                          struct ae_answer_place *ret)
{
    *ret = (struct ae_answer_place){.version = name->task->version,
                                    .size = name->size,
                                    .kind = name->kind,
                                    .family = name->family,
                                    .number = name->number,
                                    .practice = name->practice};
    snprintf(ret->task, sizeof ret->task, "%s", name->task->id);
    ae_bank_name(&context->bank, ret->bank);
    snprintf(ret->reference, sizeof ret->reference, "%s", source_hash);
    if (context->guards_off & AE_GUARD_NEW_DATA)
        snprintf(ret->bank, sizeof ret->bank, "one instance");
}

void ae_answer_key(const struct ae_answer_place *place, char ret[AE_ANSWER_KEY])
{
    snprintf(ret, AE_ANSWER_KEY,
             "expected\ntask %s\nversion %d\nsize %s\nkind %s\nfamily %d\nnumber %d\nbank %s%s\nreference %s\n",
             place->task, place->version, ae_size_name(place->size), ae_trial_kind_name(place->kind), place->family,
             place->number, place->bank, place->practice ? " practice" : "", place->reference);
}

bool ae_answer_place_valid(const struct ae_answer_place *place)
{
    const size_t letters = strspn(place->task, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return letters > 0 && letters < sizeof place->task && !place->task[letters] && place->version >= 1 &&
           (unsigned)place->size < AE_SIZE_COUNT && (unsigned)place->kind < AE_TRIAL_KIND_COUNT && place->family >= 0 &&
           place->family < AE_FAMILIES_MAX && place->number >= 0 && place->number < 1000 &&
           strspn(place->bank, "0123456789abcdef") == 16 && !place->bank[16] &&
           strspn(place->reference, "0123456789abcdef") == AE_SHA256_HEX - 1 && !place->reference[AE_SHA256_HEX - 1];
}

bool ae_answer_place_parse(const char *key, struct ae_answer_place *ret)
{
    char size[16], kind[16], bank[32], again[AE_ANSWER_KEY];
    *ret = (struct ae_answer_place){0};
    if (sscanf(key, "expected task %63s version %d size %15s kind %15s family %d number %d bank %16s", ret->task,
               &ret->version, size, kind, &ret->family, &ret->number, bank) != 7)
        return false;
    const char *reference = strstr(key, "\nreference ");
    if (!reference || sscanf(reference, " reference %64s", ret->reference) != 1)
        return false;
    ret->practice = strstr(key, " practice\n") != NULL;
    memcpy(ret->bank, bank, sizeof ret->bank - 1);
    ret->size = ae_size_find(size);
    ret->kind = ae_trial_kind_find(kind);
    if (!ae_answer_place_valid(ret))
        return false;
    ae_answer_key(ret, again);
    return strcmp(again, key) == 0; /* nothing more, nothing otherwise */
}

void ae_baseline_key(const char *machine, const char *answer_key, char ret[AE_BASELINE_KEY])
{
    snprintf(ret, AE_BASELINE_KEY, "baseline\n%s%s", machine, answer_key);
}

static void keys_of_case(const struct ae_context *context, const struct ae_case_name *name, const char *source_hash,
                         char answer[AE_ANSWER_KEY], char base[AE_BASELINE_KEY])
{
    struct ae_answer_place place;
    char machine[AE_MACHINE_KEY];
    place_of_case(context, name, source_hash, &place);
    ae_answer_key(&place, answer);
    ae_context_baseline_key(context, machine, sizeof machine);
    ae_baseline_key(machine, answer, base);
}

static int source_hash(struct ae_context *context, const struct ae_task *task, char ret[AE_SHA256_HEX],
                       struct ae_error *err)
{
    struct ae_bytes source = {0};
    int rc = ae_context_read(context, task, "reference.c", &source, err);
    if (rc == AE_OK)
        rc = ae_sha256(source.data, source.size, ret, err);
    ae_bytes_release(&source);
    return rc;
}

/* The arrays of a cached answer; false where it is none. *ret is to be released in any case. */
static bool unpack_arrays(const struct ae_cache_entry *entry, struct ae_expected *ret, int64_t *ret_reference_ns)
{
    struct answer_header header;
    if (entry->size < sizeof header)
        return false;
    memcpy(&header, entry->data, sizeof header);
    if (header.magic != ANSWER_MAGIC || header.array_count > AE_ARGS_MAX + AE_AUX_MAX)
        return false;
    size_t at = sizeof header;
    for (uint32_t i = 0; i < header.array_count; i++) {
        const uint32_t slot = header.arrays[i].slot;
        const size_t element = ae_type_size((enum ae_type)header.arrays[i].type);
        if (slot >= AE_ARGS_MAX + AE_AUX_MAX || element == 0 ||
            header.arrays[i].count > (entry->size - at) / element)
            return false;
        struct ae_array *array =
            slot < AE_ARGS_MAX ? &ret->out[slot] : &ret->aux[slot - AE_ARGS_MAX];
        ae_array_release(array);
        if (ae_array_alloc(array, (enum ae_type)header.arrays[i].type, header.arrays[i].count, NULL) != AE_OK)
            return false;
        memcpy(array->data, (const char *)entry->data + at, array->count * element);
        at += array->count * element;
    }
    *ret_reference_ns = header.reference_ns;
    return true;
}

/* Puts a cached answer into cell->expected; false where it does not fit the instance. */
static bool unpack(const struct ae_cache_entry *entry, struct ae_case *cell)
{
    if (!unpack_arrays(entry, &cell->expected, &cell->reference_ns))
        return false;
    for (int a = 0; a < cell->inst.task->arg_count; a++)
        if (ae_arg_is_output(&cell->inst.task->args[a]) &&
            (cell->expected.out[a].count != cell->inst.array[a].count || !cell->expected.out[a].data))
            return false;
    return true;
}

static int pack(struct ae_context *context, const char *key, const struct ae_case *cell, struct ae_error *err)
{
    struct answer_header header = {.magic = ANSWER_MAGIC, .reference_ns = cell->reference_ns};
    struct iovec pieces[1 + AE_ARGS_MAX + AE_AUX_MAX] = {{&header, sizeof header}};
    int count = 1;
    for (uint32_t slot = 0; slot < AE_ARGS_MAX + AE_AUX_MAX; slot++) {
        const struct ae_array *array =
            slot < AE_ARGS_MAX ? &cell->expected.out[slot] : &cell->expected.aux[slot - AE_ARGS_MAX];
        if (!array->data)
            continue;
        header.arrays[header.array_count].type = (uint32_t)array->type;
        header.arrays[header.array_count].slot = slot;
        header.arrays[header.array_count++].count = array->count;
        pieces[count++] = (struct iovec){array->data, array->count * ae_type_size(array->type)};
    }
    return ae_cache_put(context->cache, "expected", key, pieces, count, err);
}

static bool agree(const int64_t times[2])
{
    const int64_t low = times[0] < times[1] ? times[0] : times[1];
    return low >= AE_BASELINE_LONG_NS && (double)(times[0] + times[1] - 2 * low) <= AGREE * (double)low;
}

/* Runs the reference on the instance: once, or as often as a baseline needs. */
static int run_reference(struct ae_context *context, struct ae_case *cell, bool baseline, struct ae_error *err)
{
    struct ae_build_result build;
    struct ae_runner runner;
    struct ae_bytes object = {0};
    char detail[AE_DETAIL_TEXT] = "";
    int64_t times[REPEATS_MAX];
    int repeats = 1, done = 0;
    int rc = ae_reference_build(context, cell->name.task, &build, err);
    if (rc == AE_OK)
        rc = ae_file_read(build.object, (size_t)1 << 30, &object, err);
    ae_build_result_release(&build);
    if (rc != AE_OK)
        return rc;
    const struct ae_runner_options options = {
        .worker = context->worker,
        .target = AE_CPU,
        .cores = baseline ? &context->host.submission_cores : &context->host.cores,
        /* What is not timed may have company: on one core, with a parent that spins, they would wait for each other. */
        .spin = baseline ? context->host.spin : AE_SPIN_NEVER,
        .single = true,
        .beside = !baseline,
        .memory_bytes = REFERENCE_MEMORY,
        .layers_off = context->layers_off,
        .guards_off = context->guards_off,
    };
    rc = ae_runner_start(&runner, &options, object.data, object.size, ae_buffers_need(&cell->inst), err);
    ae_bytes_release(&object);
    if (rc == AE_OK && ae_trial_load(&runner, 0, detail) != AE_PASS)
        rc = ae_error_set(err, AE_E_INTERNAL, "%s: the reference cannot be loaded: %s", cell->name.task->id, detail);
    while (rc == AE_OK && done < repeats) {
        struct ae_trial trial;
        struct ae_judgement judgement;
        struct ae_expected outputs = {0};
        const struct ae_trial_request request = {
            .inst = &cell->inst, .kind = cell->name.kind,
            .timeout_ns = cell->name.kind == AE_TRIAL_TWIN ? TWIN_TIMEOUT : REFERENCE_TIMEOUT, .ret_outputs = &outputs};
        rc = ae_trial_run(&runner, &request, &trial, &judgement, detail, err);
        if (rc == AE_OK && trial.verdict != AE_PASS) {
            ae_expected_release(&outputs);
            enum ae_violation violation = trial.violation;
            if (!detail[0])
                (void)ae_trial_autopsy(&runner, &violation, detail, NULL);
            rc = ae_error_set(err, AE_E_INTERNAL, "%s at %s: the reference fails (%s): %s", cell->name.task->id,
                              ae_size_name(cell->name.size), ae_verdict_name(trial.verdict), detail);
            break;
        }
        if (rc != AE_OK)
            break;
        times[done] = trial.call_ns;
        if (done++ == 0) {
            struct ae_expected made = {0};
            memcpy(made.out, outputs.out, sizeof made.out);
            ae_expected_release(&cell->expected);
            cell->expected = made;
            cell->reference_ns = trial.call_ns;
            repeats = baseline ? ae_baseline_repeats(trial.call_ns) : 1;
        } else {
            ae_expected_release(&outputs);
            if (done == 2 && agree(times))
                break;
        }
    }
    ae_runner_stop(&runner, NULL, NULL);
    if (rc == AE_OK && baseline) {
        double sorted[REPEATS_MAX];
        for (int i = 0; i < done; i++)
            sorted[i] = (double)times[i];
        ae_sort(sorted, (size_t)done);
        cell->baseline_ns = (int64_t)ae_median(sorted, (size_t)done);
    }
    return rc;
}

void ae_case_release(struct ae_case *cell)
{
    ae_instance_release(&cell->inst);
    ae_expected_release(&cell->expected);
}

static bool load_answer(struct ae_context *context, const char *key, struct ae_case *cell)
{
    struct ae_cache_entry entry;
    if (ae_cache_get(context->cache, "expected", key, &entry, NULL) != AE_OK)
        return false;
    const bool fits = unpack(&entry, cell);
    ae_cache_entry_release(&entry);
    return fits;
}

static bool load_baseline(struct ae_context *context, const char *key, struct ae_case *cell)
{
    struct ae_baseline baseline;
    if (!ae_baseline_get(context->cache, key, &baseline))
        return false;
    cell->baseline_ns = baseline.ns;
    snprintf(cell->baseline_place, sizeof cell->baseline_place, "%s%s", baseline.place,
             baseline.imported ? ", imported" : "");
    return true;
}

bool ae_baseline_get(struct ae_cache *cache, const char *key, struct ae_baseline *ret)
{
    struct ae_cache_entry entry;
    struct baseline payload;
    if (ae_cache_get(cache, "baseline", key, &entry, NULL) != AE_OK)
        return false;
    bool fits = entry.size == sizeof payload; /* else from an earlier version: measured again */
    if (fits) {
        memcpy(&payload, entry.data, sizeof payload);
        fits = payload.magic == BASELINE_MAGIC && payload.ns > 0 && memchr(payload.place, 0, sizeof payload.place);
    }
    ae_cache_entry_release(&entry);
    if (!fits)
        return false;
    *ret = (struct ae_baseline){.ns = payload.ns, .imported = payload.imported != 0};
    memcpy(ret->place, payload.place, sizeof ret->place);
    return true;
}

int ae_baseline_put(struct ae_cache *cache, const char *key, const struct ae_baseline *baseline, struct ae_error *err)
{
    struct baseline payload = {.magic = BASELINE_MAGIC, .imported = baseline->imported, .ns = baseline->ns};
    snprintf(payload.place, sizeof payload.place, "%s", baseline->place);
    const struct iovec piece = {&payload, sizeof payload};
    return ae_cache_put(cache, "baseline", key, &piece, 1, err);
}

bool ae_answer_is_exact(const struct ae_task *task)
{
    for (int i = 0; i < task->arg_count; i++)
        if (ae_arg_is_output(&task->args[i]) && task->args[i].rule.kind != AE_EXACT)
            return false;
    return true;
}

/* Under the bank's secret, else the digest of a small answer could be guessed by trying answers. */
int ae_answer_digest(const struct ae_bank *bank, const struct ae_task *task, const char *answer_key,
                     const struct ae_expected *expected, char ret[AE_ANSWER_DIGEST], struct ae_error *err)
{
    unsigned char text[sizeof bank->secret + AE_ANSWER_KEY + AE_ARGS_MAX * AE_SHA256_HEX];
    char hex[AE_SHA256_HEX];
    size_t used = sizeof bank->secret;
    memcpy(text, bank->secret, used);
    memcpy(text + used, answer_key, strlen(answer_key));
    used += strlen(answer_key);
    for (int i = 0; i < task->arg_count; i++) {
        const struct ae_array *out = &expected->out[i];
        if (!ae_arg_is_output(&task->args[i]))
            continue;
        const int rc = ae_sha256(out->data, out->count * ae_type_size(out->type), hex, err);
        if (rc != AE_OK)
            return rc;
        memcpy(text + used, hex, sizeof hex);
        used += sizeof hex;
    }
    const int rc = ae_sha256(text, used, hex, err);
    if (rc == AE_OK)
        snprintf(ret, AE_ANSWER_DIGEST, "%.32s", hex);
    return rc;
}

int ae_answer_load(struct ae_cache *cache, const char *answer_key, struct ae_expected *ret, struct ae_error *err)
{
    struct ae_cache_entry entry;
    int64_t reference_ns;
    *ret = (struct ae_expected){0};
    int rc = ae_cache_get(cache, "expected", answer_key, &entry, err);
    if (rc != AE_OK)
        return rc;
    if (!unpack_arrays(&entry, ret, &reference_ns))
        rc = ae_error_set(err, AE_E_NOTFOUND, "a cached answer is damaged");
    ae_cache_entry_release(&entry);
    return rc;
}

/* What another machine found for the same instance, where its digest was imported. */
static int verify(struct ae_context *context, const char *answer_key, const struct ae_case *cell, struct ae_error *err)
{
    struct ae_cache_entry entry;
    char digest[AE_ANSWER_DIGEST];
    if (!ae_answer_is_exact(cell->name.task) ||
        ae_cache_get(context->cache, "digest", answer_key, &entry, NULL) != AE_OK)
        return AE_OK;
    int rc = ae_answer_digest(&context->bank, cell->name.task, answer_key, &cell->expected, digest, err);
    if (rc == AE_OK && (entry.size != strlen(digest) || memcmp(entry.data, digest, entry.size) != 0))
        rc = ae_error_set(err, AE_E_ENV, "%s %s: the reference gives another answer here than on the machine whose cache "
                          "was imported; one of the two computes wrongly ('acceleval cache clear --kind digest' forgets "
                          "what was imported)", cell->name.task->id, ae_size_name(cell->name.size));
    ae_cache_entry_release(&entry);
    return rc;
}

int ae_case_key(struct ae_context *context, const struct ae_case_name *name, char *ret, size_t size,
                struct ae_error *err)
{
    char hash[AE_SHA256_HEX];
    const int rc = source_hash(context, name->task, hash, err);
    if (rc == AE_OK) {
        struct ae_answer_place place;
        char key[AE_ANSWER_KEY];
        place_of_case(context, name, hash, &place);
        ae_answer_key(&place, key);
        snprintf(ret, size, "%s", key);
    }
    return rc;
}

/* Inputs of the case; a twin's are its sibling's with a change. */
static int make_instance(struct ae_context *context, const struct ae_case_name *name, struct ae_instance *ret,
                         struct ae_error *err)
{
    const bool twin = name->kind == AE_TRIAL_TWIN;
    const bool same = (context->guards_off & AE_GUARD_NEW_DATA) && name->family == 0 && !twin;
    const uint64_t seed =
        ae_bank_seed(&context->bank, name->practice, name->task, name->size, twin || same ? AE_TRIAL_TIMED : name->kind,
                     name->family, twin ? AE_TWIN_SIBLING : same ? 0 : name->number);
    const int rc = ae_instance_make(ret, name->task, name->size, name->family, seed, err);
    if (rc == AE_OK && twin && !ae_twin_alter(ret, name->number))
        return ae_error_set(err, AE_E_INPUT, "%s: this change makes no legal instance", name->task->id);
    return rc;
}

bool ae_case_cached(struct ae_context *context, const struct ae_case_name *name, bool baseline)
{
    char hash[AE_SHA256_HEX], answer[AE_ANSWER_KEY], base[AE_BASELINE_KEY];
    struct ae_cache_entry entry;
    if (source_hash(context, name->task, hash, NULL) != AE_OK)
        return false;
    keys_of_case(context, name, hash, answer, base);
    if (ae_cache_get(context->cache, "expected", answer, &entry, NULL) != AE_OK)
        return false;
    ae_cache_entry_release(&entry);
    struct ae_baseline known;
    return !baseline || ae_baseline_get(context->cache, base, &known);
}

int64_t ae_case_baseline_ns(struct ae_context *context, const struct ae_case_name *name)
{
    char hash[AE_SHA256_HEX], answer[AE_ANSWER_KEY], base[AE_BASELINE_KEY];
    struct ae_baseline baseline;
    if (source_hash(context, name->task, hash, NULL) != AE_OK)
        return 0;
    keys_of_case(context, name, hash, answer, base);
    return ae_baseline_get(context->cache, base, &baseline) ? baseline.ns : 0;
}

int ae_case_open(struct ae_context *context, const struct ae_case_name *name, bool baseline, struct ae_case *ret,
                 struct ae_error *err)
{
    char hash[AE_SHA256_HEX], answer[AE_ANSWER_KEY], base[AE_BASELINE_KEY];
    *ret = (struct ae_case){.name = *name};
    int rc = source_hash(context, name->task, hash, err);
    if (rc == AE_OK)
        rc = make_instance(context, name, &ret->inst, err);
    if (rc != AE_OK)
        return rc;
    keys_of_case(context, name, hash, answer, base);
    const bool have_answer = load_answer(context, answer, ret);
    const bool have_baseline = !baseline || load_baseline(context, base, ret);
    if (have_answer && have_baseline)
        return AE_OK;
    ae_context_say(context, "%s %s: the reference on %s instance %d", name->task->id, ae_size_name(name->size),
                   ae_trial_kind_name(name->kind), name->number);
    rc = run_reference(context, ret, baseline && !have_baseline, err);
    if (rc == AE_OK)
        rc = verify(context, answer, ret, err);
    if (rc == AE_OK && name->task->make_aux)
        rc = name->task->make_aux(&ret->inst, &ret->expected, err);
    if (rc != AE_OK)
        return rc;
    /* A cache that cannot be written costs time, not correctness. */
    if (!have_answer)
        (void)pack(context, answer, ret, NULL);
    if (!have_baseline) {
        struct ae_baseline made = {.ns = ret->baseline_ns};
        ae_context_place(context, made.place, sizeof made.place);
        snprintf(ret->baseline_place, sizeof ret->baseline_place, "%s", made.place);
        (void)ae_baseline_put(context->cache, base, &made, NULL);
    }
    return AE_OK;
}
