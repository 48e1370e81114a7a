/* The bank's seeds, and the guards around the arguments of a call: each guard is first shown to be quiet on a call that
 * behaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "run/answers.h"
#include "run/bank.h"
#include "run/buffers.h"
#include "run/order.h"
#include "run/twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ae_task *task(const char *name)
{
    struct ae_error err;
    const struct ae_task *found = ae_task_find(name, &err);
    assert_non_null(found);
    return found;
}

/* --- the bank ------------------------------------------------------------------------------------------- */

static uint64_t seed_of(const struct ae_bank *bank, bool practice, enum ae_trial_kind kind, int family, int number)
{
    return ae_bank_seed(bank, practice, task("black_scholes"), AE_SMALL, kind, family, number);
}

static void test_seeds_differ_by_place(void **state)
{
    (void)state;
    struct ae_bank bank, other;
    ae_bank_from_seed(&bank, 1);
    ae_bank_from_seed(&other, 2);
    const uint64_t seed = seed_of(&bank, false, AE_TRIAL_TIMED, 0, 0);
    assert_int_equal(seed, seed_of(&bank, false, AE_TRIAL_TIMED, 0, 0));
    assert_int_not_equal(seed, seed_of(&bank, true, AE_TRIAL_TIMED, 0, 0)); /* the practice bank tells nothing */
    assert_int_not_equal(seed, seed_of(&bank, false, AE_TRIAL_FRESH, 0, 0));
    assert_int_not_equal(seed, seed_of(&bank, false, AE_TRIAL_TIMED, 0, 1));
    assert_int_not_equal(seed, seed_of(&bank, false, AE_TRIAL_TIMED, 1, 0));
    assert_int_not_equal(seed, seed_of(&other, false, AE_TRIAL_TIMED, 0, 0));
    assert_int_not_equal(seed, ae_bank_seed(&bank, false, task("bellman_ford"), AE_SMALL, AE_TRIAL_TIMED, 0, 0));
    assert_int_not_equal(seed, ae_bank_seed(&bank, false, task("black_scholes"), AE_MEDIUM, AE_TRIAL_TIMED, 0, 0));
}

static void test_bank_is_drawn_once_and_private(void **state)
{
    (void)state;
    char folder[] = "/tmp/acceleval-bank-XXXXXX", path[128];
    struct ae_bank first, again, renewed;
    struct ae_error err;
    struct stat st;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(ae_bank_open(&first, folder, &err), AE_OK);
    assert_int_equal(ae_bank_open(&again, folder, &err), AE_OK);
    assert_memory_equal(first.secret, again.secret, sizeof first.secret);
    snprintf(path, sizeof path, "%s/bank.secret", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(ae_bank_renew(&again, &err), AE_OK);
    assert_int_equal(ae_bank_open(&renewed, folder, &err), AE_OK);
    assert_memory_not_equal(first.secret, renewed.secret, sizeof first.secret);
    assert_int_equal(ae_file_write(path, "short", 5, &err), AE_OK); /* damage is a sentence, not another bank */
    assert_int_equal(ae_bank_open(&again, folder, &err), AE_E_INPUT);
    assert_int_equal(ae_folder_remove(folder, &err), AE_OK);
}

static void test_bank_name_gives_nothing_away(void **state)
{
    (void)state;
    struct ae_bank bank, other;
    char name[17], other_name[17], secret[17];
    ae_bank_from_seed(&bank, 1);
    ae_bank_from_seed(&other, 2);
    ae_bank_name(&bank, name);
    ae_bank_name(&other, other_name);
    assert_string_not_equal(name, other_name);
    for (int i = 0; i < 8; i++)
        snprintf(secret + 2 * i, 3, "%02x", bank.secret[i]);
    assert_string_not_equal(name, secret);
}

static void test_cases_cover_families_and_kinds(void **state)
{
    (void)state;
    struct ae_case_name names[64];
    const struct ae_task *t = task("black_scholes");
    const int count = ae_cases_of(t, AE_SMALL, false, 8, 2, names);
    int adversarial = 0, fresh = 0, timed = 0;
    assert_int_equal(count, ae_cases_of(t, AE_SMALL, false, 8, 2, NULL));
    for (int i = 0; i < count; i++) {
        adversarial += names[i].kind == AE_TRIAL_ADVERSARIAL && names[i].family > 0;
        fresh += names[i].kind == AE_TRIAL_FRESH && names[i].family == 0;
        timed += names[i].kind == AE_TRIAL_TIMED && names[i].family == 0;
    }
    assert_int_equal(adversarial, ae_task_family_count(t) - 1);
    assert_int_equal(fresh, 2);
    assert_int_equal(timed, 8);
}

/* --- the guards ----------------------------------------------------------------------------------------- */

struct fixture {
    struct ae_instance inst;
    struct ae_buffers buffers;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct ae_error err = {0};
    assert_non_null(f);
    assert_int_equal(ae_instance_make(&f->inst, task("black_scholes"), AE_SMALL, 0, 5, &err), AE_OK);
    assert_int_equal(ae_buffers_open(&f->buffers, ae_buffers_need(&f->inst), &err), AE_OK);
    assert_int_equal(ae_buffers_layout(&f->buffers, &f->inst, &err), AE_OK);
    ae_buffers_fill(&f->buffers, &f->inst);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    ae_buffers_close(&f->buffers);
    ae_instance_release(&f->inst);
    free(f);
    return 0;
}

/* Arguments of black_scholes: N, six inputs behind types, prices. */
enum { SPOTS = 3, PRICES = 8 };

static void test_inputs_arrive_and_outputs_are_poisoned(void **state)
{
    struct fixture *f = *state;
    const size_t bytes = f->buffers.args[SPOTS].bytes;
    assert_memory_equal(ae_buffers_array(&f->buffers, SPOTS), f->inst.array[SPOTS].data, bytes);
    const unsigned char *out = ae_buffers_array(&f->buffers, PRICES);
    size_t zeros = 0;
    for (size_t i = 0; i < f->buffers.args[PRICES].bytes; i++)
        zeros += out[i] == 0;
    assert_true(zeros < f->buffers.args[PRICES].bytes / 64); /* random bytes hold one zero in 256 */
    assert_int_equal(ae_buffers_overrun(&f->buffers), -1);
    assert_int_equal(ae_buffers_modified_input(&f->buffers, &f->inst), -1);
}

static void test_every_byte_beside_an_array_is_watched(void **state)
{
    struct fixture *f = *state;
    const struct ae_channel_arg *arg = &f->buffers.args[PRICES];
    unsigned char *region = (unsigned char *)f->buffers.base + arg->region_offset;
    for (size_t at = 0; at < arg->region_bytes; at++) {
        const bool inside = at >= arg->start && at < arg->start + arg->bytes;
        if (inside && at % 997)
            continue;
        region[at] ^= 0x40;
        assert_int_equal(ae_buffers_overrun(&f->buffers), inside ? -1 : PRICES);
        region[at] ^= 0x40;
        if (arg->region_bytes > 16384 && !inside)
            at += 6; /* enough of them */
    }
}

static void test_one_changed_input_element_is_seen(void **state)
{
    struct fixture *f = *state;
    float *spots = ae_buffers_array(&f->buffers, SPOTS);
    spots[f->inst.array[SPOTS].count - 1] += 1;
    assert_int_equal(ae_buffers_modified_input(&f->buffers, &f->inst), SPOTS);
}

static void test_probes_see_a_late_change(void **state)
{
    struct fixture *f = *state;
    ae_buffers_probe(&f->buffers, &f->inst, NULL, 0);
    assert_true(f->buffers.probe_count > 64);
    assert_false(ae_buffers_probe_changed(&f->buffers));
    float *prices = ae_buffers_array(&f->buffers, PRICES);
    for (size_t i = 0; i < f->inst.array[PRICES].count; i++)
        prices[i] = 1;
    assert_true(ae_buffers_probe_changed(&f->buffers));
}

static void test_probes_look_where_nobody_expects(void **state)
{
    struct fixture *f = *state;
    float *prices = ae_buffers_array(&f->buffers, PRICES);
    ae_buffers_probe(&f->buffers, &f->inst, NULL, 0);
    for (size_t i = 0; i < f->inst.array[PRICES].count; i++)
        if (i % 1024 >= 16) /* all but the beginning of each page */
            prices[i] = 1;
    int changed = 0;
    for (int k = 0; k < f->buffers.probe_count; k++)
        changed += memcmp(f->buffers.probes[k].bytes, f->buffers.base + f->buffers.probes[k].offset, AE_PROBE_BYTES) != 0;
    assert_true(changed > f->buffers.probe_count / 2);
}

static void test_nothing_stays_between_the_arrays(void **state)
{
    struct fixture *f = *state;
    struct ae_error err;
    for (int round = 0; round < 4; round++) {
        memset(f->buffers.base, 0x5a, f->buffers.size);
        assert_int_equal(ae_buffers_layout(&f->buffers, &f->inst, &err), AE_OK);
        ae_buffers_fill(&f->buffers, &f->inst);
        size_t left = 0, outside = 0;
        for (size_t at = 0; at < f->buffers.size; at += AE_PAGE) {
            bool inside = false;
            for (int i = 0; i < f->buffers.arg_count; i++)
                inside |= f->buffers.args[i].pointer && at >= f->buffers.args[i].region_offset &&
                          at < f->buffers.args[i].region_offset + f->buffers.args[i].region_bytes;
            outside += !inside;
            left += !inside && f->buffers.base[at] != 0;
        }
        assert_true(outside > 0);
        assert_int_equal(left, 0);
    }
}

static void test_layout_moves_between_calls(void **state)
{
    struct fixture *f = *state;
    struct ae_error err;
    int same_address = 0, same_start = 0;
    for (int round = 0; round < 16; round++) {
        const struct ae_channel_arg before = f->buffers.args[PRICES];
        assert_int_equal(ae_buffers_layout(&f->buffers, &f->inst, &err), AE_OK);
        same_address += before.address == f->buffers.args[PRICES].address;
        same_start += before.start == f->buffers.args[PRICES].start;
        assert_int_equal(f->buffers.args[PRICES].start % 256, 0);
        for (int a = 0; a < f->buffers.arg_count; a++) /* regions of their own, inside the memory */
            for (int b = 0; b < a; b++) {
                const struct ae_channel_arg *x = &f->buffers.args[a], *y = &f->buffers.args[b];
                if (x->pointer && y->pointer)
                    assert_true(x->region_offset + x->region_bytes <= y->region_offset ||
                                y->region_offset + y->region_bytes <= x->region_offset);
            }
    }
    assert_int_equal(same_address, 0);
    assert_true(same_start < 8);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct ae_instance inst;
    struct ae_buffers buffers;
    struct ae_error err = {0};
    assert_int_equal(ae_instance_make(&inst, task("black_scholes"), AE_SMALL, 0, 5, &err), AE_OK);
    assert_int_equal(ae_buffers_open(&buffers, 1 << 20, &err), AE_OK);
    assert_int_equal(ae_buffers_layout(&buffers, &inst, &err), AE_E_NOMEM);
    ae_buffers_close(&buffers);
    ae_instance_release(&inst);
}

/* --- the order of the calls ------------------------------------------------------------------------------ */

enum { ALL = 16, FIRST = 8, GROUP = 4, DRAWS = 2000 };

static void test_order_names_each_instance_once(void **state)
{
    (void)state;
    int order[ALL];
    for (int draw = 0; draw < DRAWS; draw++) {
        int seen[ALL] = {0};
        ae_order_draw(order, FIRST, ALL, GROUP);
        for (int i = 0; i < ALL; i++) {
            seen[order[i]]++;
            assert_true((order[i] < FIRST) == (i < FIRST));
        }
        for (int i = 0; i < ALL; i++)
            assert_int_equal(seen[i], 1);
    }
}

/* An even share of 2000 draws is 250 of 8 places and 500 of 4: a tenth of it by chance is out of the question. */
static void test_order_gives_no_place_away(void **state)
{
    (void)state;
    int order[ALL], first_at[FIRST] = {0}, sibling_at[ALL] = {0};
    for (int draw = 0; draw < DRAWS; draw++) {
        ae_order_draw(order, FIRST, ALL, GROUP);
        for (int i = 0; i < FIRST; i++) {
            first_at[i] += order[i] == 0;
            sibling_at[i] += order[i] == AE_TWIN_SIBLING;
        }
    }
    for (int i = 0; i < FIRST; i++) {
        assert_in_range(first_at[i], DRAWS / FIRST / 2, 2 * DRAWS / FIRST);
        if (i < GROUP)
            assert_int_equal(sibling_at[i], 0);
        else
            assert_in_range(sibling_at[i], DRAWS / GROUP / 2, 2 * DRAWS / GROUP);
    }
}

static void test_order_of_one_group(void **state)
{
    (void)state;
    int order[ALL], sibling_first = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        ae_order_draw(order, 2, 2, GROUP);
        assert_int_equal(order[0] + order[1], 1);
        sibling_first += order[0] == AE_TWIN_SIBLING;
    }
    assert_in_range(sibling_first, DRAWS / 4, 3 * DRAWS / 4);
    ae_order_draw(order, 1, 1, GROUP);
    assert_int_equal(order[0], 0);
}

/* --- trials that count ---------------------------------------------------------------------------------- */

/* Of five right timed trials the first `charged` were charged; how many count? */
static int counting(int charged, int stirred)
{
    struct ae_measurement m = {0};
    int count = 0;
    for (int i = 0; i < 5; i++) {
        const struct ae_trial trial = {.kind = AE_TRIAL_TIMED, .verdict = AE_PASS, .call_ns = 1000,
                                       .charged_ns = i < charged, .disturbed = i < charged, .stirred = i < stirred};
        assert_int_equal(ae_measurement_add(&m, &trial), AE_OK);
    }
    ae_measurement_count_charged(&m);
    for (int i = 0; i < m.trial_count; i++)
        count += ae_trial_counts(&m.trials[i]);
    ae_measurement_release(&m);
    return count;
}

static void test_charges_do_not_choose_the_trials(void **state)
{
    (void)state;
    assert_int_equal(counting(0, 0), 5);
    assert_int_equal(counting(1, 0), 4);
    assert_int_equal(counting(2, 0), 3);
    assert_int_equal(counting(3, 0), 5);
    assert_int_equal(counting(5, 0), 5);
    assert_int_equal(counting(5, 2), 3); /* what worked beforehand never counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds_differ_by_place),
        cmocka_unit_test(test_bank_is_drawn_once_and_private),
        cmocka_unit_test(test_bank_name_gives_nothing_away),
        cmocka_unit_test(test_cases_cover_families_and_kinds),
        cmocka_unit_test_setup_teardown(test_inputs_arrive_and_outputs_are_poisoned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_byte_beside_an_array_is_watched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_changed_input_element_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_probes_see_a_late_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_probes_look_where_nobody_expects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_stays_between_the_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_layout_moves_between_calls, set_up, tear_down),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_order_names_each_instance_once),
        cmocka_unit_test(test_order_gives_no_place_away),
        cmocka_unit_test(test_order_of_one_group),
        cmocka_unit_test(test_charges_do_not_choose_the_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
