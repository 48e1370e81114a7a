/* Numbers of published texts: each as its type holds it, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "task/published.h"

static int read_one(const char *text, enum ae_type type, void *ret)
{
    struct ae_error err = {0};
    return ae_published_numbers(&text, type, ret, 1, &err);
}

static void numbers_are_read(void **state)
{
    (void)state;
    const char *text = " -2147483648\n2147483647\t7";
    int32_t ints[3];
    assert_int_equal(ae_published_numbers(&text, AE_I32, ints, 3, NULL), AE_OK);
    assert_true(ints[0] == INT32_MIN && ints[1] == INT32_MAX && ints[2] == 7);
    assert_int_equal(*text, 0);
    uint32_t u32;
    uint64_t u64;
    double tiny;
    assert_int_equal(read_one("4294967295", AE_U32, &u32), AE_OK);
    assert_true(u32 == UINT32_MAX);
    assert_int_equal(read_one("18446744073709551615", AE_U64, &u64), AE_OK);
    assert_true(u64 == UINT64_MAX);
    assert_int_equal(read_one("1e-310", AE_F64, &tiny), AE_OK); /* below the normal ones */
    assert_true(tiny > 0);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ae_type type;
    } cases[] = {
        {"", AE_I32},           {"x", AE_I32},          {"1x", AE_I32},
        {"1.5", AE_I32},        {"2147483648", AE_I32}, {"-2147483649", AE_I32},
        {"5000000000", AE_I32}, {"4294967296", AE_U32}, {"-1", AE_U32},
        {" -1", AE_U64},        {"99999999999999999999", AE_I64}, {"99999999999999999999", AE_U64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t room;
        if (read_one(cases[i].text, cases[i].type, &room) != AE_E_INPUT)
            fail_msg("%s is taken for a number of type %d", cases[i].text, (int)cases[i].type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_read), cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}
