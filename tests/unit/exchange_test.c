/* Baselines and digests carried between machines: what fits is taken over, nothing else is, and a hostile file changes
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "run/exchange.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALIBRATION 1000000

/* The sanitizer's shadow does not fit a worker's bounds on memory. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A machine with a cache of its own. */
struct machine {
    struct ae_context context;
    struct ae_toolchain tools;
    char folder[64];
};

static void open_machine(struct machine *m, const char *cpu, uint64_t bank)
{
    struct ae_error err;
    *m = (struct machine){.folder = "/tmp/acceleval-exchange-XXXXXX"};
    assert_non_null(mkdtemp(m->folder));
    assert_int_equal(ae_cache_open(&m->context.cache, m->folder, &err), AE_OK);
    ae_bank_from_seed(&m->context.bank, bank);
    snprintf(m->context.host.cpu, sizeof m->context.host.cpu, "%s", cpu);
    snprintf(m->tools.tools[AE_TOOL_GCC].version, sizeof m->tools.tools[AE_TOOL_GCC].version, "gcc 12");
    m->context.host.core_count = 8;
    m->context.toolchain = &m->tools;
}

static void close_machine(struct machine *m)
{
    ae_cache_free(m->context.cache);
    assert_int_equal(ae_folder_remove(m->folder, NULL), AE_OK);
}

static struct ae_answer_place place_of(const struct machine *m, const char *id, int number)
{
    const struct ae_task *task = ae_task_find(id, NULL);
    assert_non_null(task);
    struct ae_answer_place place = {
        .version = task->version, .size = AE_MEDIUM, .kind = AE_TRIAL_TIMED, .number = number, .practice = number == 1};
    snprintf(place.task, sizeof place.task, "%s", task->id);
    ae_bank_name(&m->context.bank, place.bank);
    memset(place.reference, 'a', AE_SHA256_HEX - 1);
    return place;
}

static void key_of(const struct machine *m, const char *id, int number, char key[AE_BASELINE_KEY])
{
    char answer[AE_ANSWER_KEY], machine[AE_MACHINE_KEY];
    const struct ae_answer_place place = place_of(m, id, number);
    ae_answer_key(&place, answer);
    ae_context_baseline_key(&m->context, machine, sizeof machine);
    ae_baseline_key(machine, answer, key);
}

static void add_baseline(struct machine *m, const char *id, int number, int64_t ns)
{
    char key[AE_BASELINE_KEY];
    struct ae_error err;
    struct ae_baseline baseline = {.ns = ns};
    key_of(m, id, number, key);
    ae_context_place(&m->context, baseline.place, sizeof baseline.place);
    assert_int_equal(ae_baseline_put(m->context.cache, key, &baseline, &err), AE_OK);
}

static bool has_baseline(struct machine *m, const char *id, int number, struct ae_baseline *ret)
{
    char key[AE_BASELINE_KEY];
    key_of(m, id, number, key);
    return ae_baseline_get(m->context.cache, key, ret);
}

static char *export_of(struct machine *m, struct ae_exchange_counts *counts)
{
    char *text = NULL;
    struct ae_error err = {0};
    if (ae_exchange_export(&m->context, CALIBRATION, &text, counts, &err) != AE_OK)
        fail_msg("%s", err.text);
    return text;
}

static struct ae_exchange_counts import_into(struct machine *m, const char *text, int64_t calibration)
{
    struct ae_exchange_counts counts;
    struct ae_error err = {0};
    if (ae_exchange_import(&m->context, text, strlen(text), calibration, &counts, &err) != AE_OK)
        fail_msg("%s", err.text);
    return counts;
}

static int count_one(const struct ae_cache_stat *stat, void *data)
{
    (void)stat;
    ++*(int *)data;
    return 0;
}

static int entries(struct machine *m)
{
    int n = 0;
    struct ae_error err;
    assert_int_equal(ae_cache_each(m->context.cache, NULL, count_one, &n, &err), AE_OK);
    return n;
}

static void test_keys_are_read_back(void **state)
{
    (void)state;
    struct machine m;
    char key[AE_ANSWER_KEY];
    struct ae_answer_place again;
    open_machine(&m, "one", 5);
    for (int number = 0; number < 2; number++) {
        const struct ae_answer_place place = place_of(&m, "smith_waterman", number);
        ae_answer_key(&place, key);
        assert_true(ae_answer_place_parse(key, &again));
        assert_memory_equal(&again, &place, sizeof place);
        strcat(key, "more");
        assert_false(ae_answer_place_parse(key, &again));
    }
    assert_false(ae_answer_place_parse("", &again));
    assert_false(ae_answer_place_parse("expected\ntask ../x\nversion 1\n", &again));
    close_machine(&m);
}

static void test_an_equal_machine_takes_baselines_over(void **state)
{
    (void)state;
    struct machine from, to;
    struct ae_exchange_counts counts;
    struct ae_baseline got;
    open_machine(&from, "one", 5);
    open_machine(&to, "one", 5);
    add_baseline(&from, "black_scholes", 0, 111);
    add_baseline(&from, "black_scholes", 1, 222); /* practice bank */
    add_baseline(&from, "smith_waterman", 2, 333);
    add_baseline(&to, "smith_waterman", 2, 444);
    char *text = export_of(&from, &counts);
    assert_int_equal(counts.baselines, 3);
    assert_false(has_baseline(&to, "black_scholes", 0, &got));
    counts = import_into(&to, text, CALIBRATION * 102 / 100);
    assert_int_equal(counts.baselines, 2);
    assert_true(has_baseline(&to, "black_scholes", 0, &got));
    assert_int_equal(got.ns, 111);
    assert_true(got.imported);
    assert_string_equal(got.place, "one, 8 cores, Linux ");
    assert_true(has_baseline(&to, "smith_waterman", 2, &got)); /* what was measured here stays */
    assert_int_equal(got.ns, 444);
    assert_false(got.imported);
    free(text);
    free(export_of(&to, &counts)); /* hearsay is not passed on */
    assert_int_equal(counts.baselines, 1);
    close_machine(&from);
    close_machine(&to);
}

static void refuse(const char *text, const char *cpu, uint64_t bank, int64_t calibration)
{
    struct machine to;
    open_machine(&to, cpu, bank);
    const struct ae_exchange_counts counts = import_into(&to, text, calibration);
    assert_int_equal(counts.baselines, 0);
    assert_int_equal(counts.other, 1);
    assert_int_equal(entries(&to), 0);
    close_machine(&to);
}

static void test_another_machine_or_bank_takes_none(void **state)
{
    (void)state;
    struct machine from;
    struct ae_exchange_counts counts;
    open_machine(&from, "one", 5);
    add_baseline(&from, "black_scholes", 0, 111);
    char *text = export_of(&from, &counts);
    refuse(text, "two", 5, CALIBRATION);
    refuse(text, "one", 6, CALIBRATION);
    refuse(text, "one", 5, CALIBRATION * 104 / 100);
    refuse(text, "one", 5, CALIBRATION * 96 / 100);
    refuse(text, "one", 5, 0); /* no memory to calibrate */
    free(text);
    close_machine(&from);
}

/* Every file that is not exactly an export is refused as a whole. */
static void test_damaged_files_change_nothing(void **state)
{
    (void)state;
    struct machine from, to;
    struct ae_exchange_counts counts;
    struct ae_error err;
    open_machine(&from, "one", 5);
    open_machine(&to, "one", 5);
    add_baseline(&from, "black_scholes", 0, 111);
    add_baseline(&from, "smith_waterman", 2, 333);
    char *text = export_of(&from, &counts);
    const size_t size = strlen(text);
    for (size_t n = 0; n + 1 < size; n++)
        assert_int_equal(ae_exchange_import(&to.context, text, n, CALIBRATION, &counts, &err), AE_E_INPUT);
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit += 3) {
            text[at] = (char)(text[at] ^ 1 << bit);
            const int rc = ae_exchange_import(&to.context, text, size, CALIBRATION, &counts, &err);
            text[at] = (char)(text[at] ^ 1 << bit);
            if (rc == AE_OK) { /* one blank for another between members */
                assert_true(strchr(" \n", text[at]) != NULL);
                assert_int_equal(counts.baselines, 2);
                assert_int_equal(ae_cache_prune(to.context.cache, NULL, 0, NULL, &err), AE_OK);
            } else {
                assert_int_equal(rc, AE_E_INPUT);
                assert_int_equal(entries(&to), 0);
            }
        }
    assert_int_equal(import_into(&to, text, CALIBRATION).baselines, 2); /* undamaged it is fine */
    free(text);
    close_machine(&from);
    close_machine(&to);
}

/* A file whose digest is right and whose contents are not: made by somebody, not by chance. */
static void test_forged_files_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *list, *member, *value; /* NULL: the member taken away */
    } forgeries[] = {
        {"baselines", "task", "\"../../x\""},   {"baselines", "task", "\"a b\""},       {"baselines", "task", "\"\""},
        {"baselines", "task", "7"},             {"baselines", "version", "0"},          {"baselines", "version", "1e3"},
        {"baselines", "size", "\"huge\""},      {"baselines", "kind", "\"\""},          {"baselines", "family", "-1"},
        {"baselines", "number", "4294967296"},  {"baselines", "bank", "\"xyz\""},       {"baselines", "bank", "\"AAAAAAAAAAAAAAAA\""},
        {"baselines", "practice", "1"},         {"baselines", "reference", "\"aa\""},   {"baselines", "ns", "0"},
        {"baselines", "ns", "-5"},              {"baselines", "ns", "1.5"},             {"baselines", "ns", "9223372036854775807"},
        {"baselines", "place", "\"\\u001b[2J\""}, {"baselines", "place", "null"},       {"baselines", "place", NULL},
        {"digests", "digest", "\"00\""},        {"digests", "digest", NULL},            {"digests", "task", "[]"},
        {"digests", "digest", "\"GGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG\""},
    };
    struct machine from, to;
    struct ae_exchange_counts counts;
    struct ae_error err;
    open_machine(&from, "one", 5);
    open_machine(&to, "one", 5);
    add_baseline(&from, "smith_waterman", 0, 111);
    char *text = export_of(&from, &counts);
    for (size_t i = 0; i <= sizeof forgeries / sizeof *forgeries; i++) {
        char sum[AE_SHA256_HEX];
        json_t *all = json_loads(text, 0, NULL);
        json_object_del(all, "sha256");
        json_t *digest = json_deep_copy(json_array_get(json_object_get(all, "baselines"), 0));
        json_object_set_new(digest, "digest", json_string("0123456789abcdef0123456789abcdef"));
        json_array_append_new(json_object_get(all, "digests"), digest);
        if (i > 0) {
            json_t *record = json_array_get(json_object_get(all, forgeries[i - 1].list), 0);
            json_object_del(record, forgeries[i - 1].member);
            if (forgeries[i - 1].value)
                json_object_set_new(record, forgeries[i - 1].member,
                                    json_loads(forgeries[i - 1].value, JSON_DECODE_ANY, NULL));
        }
        char *bare = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
        assert_int_equal(ae_sha256(bare, strlen(bare), sum, &err), AE_OK);
        json_object_set_new(all, "sha256", json_string(sum));
        char *forged = json_dumps(all, 0);
        const int rc = ae_exchange_import(&to.context, forged, strlen(forged), CALIBRATION, &counts, &err);
        if (i == 0) { /* not forged: the way of making them is right */
            assert_int_equal(rc, AE_OK);
            assert_int_equal(counts.baselines + counts.digests, 2);
            assert_int_equal(ae_cache_prune(to.context.cache, NULL, 0, NULL, &err), AE_OK);
        } else if (rc != AE_E_INPUT) {
            fail_msg("%s = %s is taken", forgeries[i - 1].member, forgeries[i - 1].value ? forgeries[i - 1].value : "nothing");
        }
        assert_int_equal(entries(&to), 0);
        free(forged);
        free(bare);
        json_decref(all);
    }
    free(text);
    close_machine(&from);
    close_machine(&to);
}

/* With the real worker: the digest of an answer goes out, comes in elsewhere, and is held against what is computed. */
static void test_digests_are_verified(void **state)
{
    (void)state;
    struct ae_context context = {0};
    struct machine to;
    struct ae_exchange_counts counts;
    struct ae_case cell;
    struct ae_error err = {0};
    char folder[] = "/tmp/acceleval-exchange-XXXXXX";
    if (SANITIZED)
        skip();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("ACCELEVAL_CACHE", folder, 1), 0);
    assert_int_equal(setenv("ACCELEVAL_BANK", folder, 1), 0);
    if (ae_context_open(&context, &err) != AE_OK)
        fail_msg("%s", err.text);
    const struct ae_case_name name = {.task = ae_task_find("smith_waterman", NULL), .size = AE_SMALL, .kind = AE_TRIAL_TIMED};
    assert_true(ae_answer_is_exact(name.task));
    assert_false(ae_answer_is_exact(ae_task_find("black_scholes", NULL)));
    if (ae_case_open(&context, &name, false, &cell, &err) != AE_OK)
        fail_msg("%s", err.text);
    char *text = NULL;
    assert_int_equal(ae_exchange_export(&context, CALIBRATION, &text, &counts, &err), AE_OK);
    assert_int_equal(counts.digests, 1);
    /* Neither the secret nor the seed, in any notation that one would look for. */
    char number[64];
    snprintf(number, sizeof number, "%llu", (unsigned long long)cell.inst.seed);
    assert_null(strstr(text, number));
    snprintf(number, sizeof number, "%llx", (unsigned long long)cell.inst.seed);
    assert_null(strstr(text, number));
    for (size_t i = 0; i < 8; i++)
        snprintf(number + 2 * i, 3, "%02x", context.bank.secret[i]);
    assert_null(strstr(text, number));
    ae_case_release(&cell);

    /* Elsewhere: an empty cache, the same bank. */
    struct ae_cache *own = context.cache;
    open_machine(&to, "", 0);
    context.cache = to.context.cache;
    counts = (struct ae_exchange_counts){0};
    assert_int_equal(ae_exchange_import(&context, text, strlen(text), CALIBRATION, &counts, &err), AE_OK);
    assert_int_equal(counts.digests, 1);
    assert_int_equal(ae_case_open(&context, &name, false, &cell, &err), AE_OK);
    ae_case_release(&cell);
    assert_int_equal(ae_cache_prune(context.cache, "expected", 0, NULL, &err), AE_OK);

    /* One digit of the digest otherwise: the two machines disagree. */
    json_t *all = json_loads(text, 0, NULL);
    char sum[AE_SHA256_HEX];
    json_object_del(all, "sha256");
    json_t *record = json_array_get(json_object_get(all, "digests"), 0);
    char *digest = strdup(json_string_value(json_object_get(record, "digest")));
    digest[31] = digest[31] == '0' ? '1' : '0';
    json_object_set_new(record, "digest", json_string(digest));
    char *bare = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    assert_int_equal(ae_sha256(bare, strlen(bare), sum, &err), AE_OK);
    json_object_set_new(all, "sha256", json_string(sum));
    char *other = json_dumps(all, 0);
    assert_int_equal(ae_exchange_import(&context, other, strlen(other), CALIBRATION, &counts, &err), AE_OK);
    assert_int_equal(ae_case_open(&context, &name, false, &cell, &err), AE_E_ENV);
    assert_non_null(strstr(err.text, "another answer"));
    ae_case_release(&cell);
    free(other);
    free(bare);
    free(digest);
    json_decref(all);
    free(text);
    context.cache = own;
    close_machine(&to);
    ae_context_close(&context);
    assert_int_equal(ae_folder_remove(folder, &err), AE_OK);
}

static void test_calibration_repeats(void **state)
{
    (void)state;
    const int64_t ns = ae_exchange_calibrate();
    assert_true(ns > 10000 && ns < INT64_C(1000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_read_back),
        cmocka_unit_test(test_an_equal_machine_takes_baselines_over),
        cmocka_unit_test(test_another_machine_or_bank_takes_none),
        cmocka_unit_test(test_damaged_files_change_nothing),
        cmocka_unit_test(test_forged_files_change_nothing),
        cmocka_unit_test(test_digests_are_verified),
        cmocka_unit_test(test_calibration_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
