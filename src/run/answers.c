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
    return call_ns < 2 * AE_SEC ? 5 : call_ns < 20 * AE_SEC ? 3 : 1;
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

/* Keys hold no seed: the cache may be shown and copied. */
static void answer_key(const struct ae_context *context, const struct ae_case_name *name, const char *source_hash,
                       char *ret, size_t size)
{
    char bank[17];
    ae_bank_name(&context->bank, bank);
    if (context->guards_off & AE_GUARD_NEW_DATA)
        snprintf(bank, sizeof bank, "one instance");
    snprintf(ret, size, "expected\ntask %s\nversion %d\nsize %s\nkind %s\nfamily %d\nnumber %d\nbank %s%s\nreference %s\n",
             name->task->id, name->task->version, ae_size_name(name->size), ae_trial_kind_name(name->kind),
             name->family, name->number, bank, name->practice ? " practice" : "", source_hash);
}

static void baseline_key(const struct ae_context *context, const char *answer, char *ret, size_t size)
{
    char machine[600];
    ae_context_baseline_key(context, machine, sizeof machine);
    snprintf(ret, size, "baseline\n%s%s", machine, answer);
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

/* Puts a cached answer into cell->expected; false where it does not fit the instance. */
static bool unpack(const struct ae_cache_entry *entry, struct ae_case *cell)
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
            slot < AE_ARGS_MAX ? &cell->expected.out[slot] : &cell->expected.aux[slot - AE_ARGS_MAX];
        ae_array_release(array);
        if (ae_array_alloc(array, (enum ae_type)header.arrays[i].type, header.arrays[i].count, NULL) != AE_OK)
            return false;
        memcpy(array->data, (const char *)entry->data + at, array->count * element);
        at += array->count * element;
    }
    for (int a = 0; a < cell->inst.task->arg_count; a++)
        if (ae_arg_is_output(&cell->inst.task->args[a]) &&
            (cell->expected.out[a].count != cell->inst.array[a].count || !cell->expected.out[a].data))
            return false;
    cell->reference_ns = header.reference_ns;
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

/* Runs the reference on the instance: `repeats` calls where > 0, by the length of the first where 0. */
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
        .cores = &context->host.submission_cores,
        .spin = context->host.spin,
        .single = true,
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
    struct ae_cache_entry entry;
    if (ae_cache_get(context->cache, "baseline", key, &entry, NULL) != AE_OK)
        return false;
    const bool fits = entry.size == sizeof cell->baseline_ns;
    if (fits)
        memcpy(&cell->baseline_ns, entry.data, sizeof cell->baseline_ns);
    ae_cache_entry_release(&entry);
    return fits && cell->baseline_ns > 0;
}

int ae_case_key(struct ae_context *context, const struct ae_case_name *name, char *ret, size_t size,
                struct ae_error *err)
{
    char hash[AE_SHA256_HEX];
    const int rc = source_hash(context, name->task, hash, err);
    if (rc == AE_OK)
        answer_key(context, name, hash, ret, size);
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
    char hash[AE_SHA256_HEX], answer[1024], base[2048];
    struct ae_cache_entry entry;
    if (source_hash(context, name->task, hash, NULL) != AE_OK)
        return false;
    answer_key(context, name, hash, answer, sizeof answer);
    baseline_key(context, answer, base, sizeof base);
    if (ae_cache_get(context->cache, "expected", answer, &entry, NULL) != AE_OK)
        return false;
    ae_cache_entry_release(&entry);
    if (!baseline)
        return true;
    if (ae_cache_get(context->cache, "baseline", base, &entry, NULL) != AE_OK)
        return false;
    ae_cache_entry_release(&entry);
    return true;
}

int ae_case_open(struct ae_context *context, const struct ae_case_name *name, bool baseline, struct ae_case *ret,
                 struct ae_error *err)
{
    char hash[AE_SHA256_HEX], answer[1024], base[2048];
    *ret = (struct ae_case){.name = *name};
    int rc = source_hash(context, name->task, hash, err);
    if (rc == AE_OK)
        rc = make_instance(context, name, &ret->inst, err);
    if (rc != AE_OK)
        return rc;
    answer_key(context, name, hash, answer, sizeof answer);
    baseline_key(context, answer, base, sizeof base);
    const bool have_answer = load_answer(context, answer, ret);
    const bool have_baseline = !baseline || load_baseline(context, base, ret);
    if (have_answer && have_baseline)
        return AE_OK;
    ae_context_say(context, "%s %s: the reference on %s instance %d", name->task->id, ae_size_name(name->size),
                   ae_trial_kind_name(name->kind), name->number);
    rc = run_reference(context, ret, baseline && !have_baseline, err);
    if (rc == AE_OK && name->task->make_aux)
        rc = name->task->make_aux(&ret->inst, &ret->expected, err);
    if (rc != AE_OK)
        return rc;
    /* A cache that cannot be written costs time, not correctness. */
    if (!have_answer)
        (void)pack(context, answer, ret, NULL);
    if (!have_baseline) {
        const struct iovec piece = {&ret->baseline_ns, sizeof ret->baseline_ns};
        (void)ae_cache_put(context->cache, "baseline", base, &piece, 1, NULL);
    }
    return AE_OK;
}
