/* Decoding, columns, and that nothing harmful gets through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/rng.h"
#include "base/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void decodes(void **state)
{
    (void)state;
    uint32_t c = 0;
    assert_int_equal(ae_utf8_decode("a", &c), 1);
    assert_int_equal(c, 'a');
    assert_int_equal(ae_utf8_decode("\xc3\xa9", &c), 2);
    assert_int_equal(c, 0xe9);
    assert_int_equal(ae_utf8_decode("\xe2\x82\xac", &c), 3);
    assert_int_equal(c, 0x20ac);
    assert_int_equal(ae_utf8_decode("\xf0\x9f\x98\x80", &c), 4);
    assert_int_equal(c, 0x1f600);
    static const char *const bad[] = {"",
                                      "\x80",
                                      "\xc0\xaf",
                                      "\xc3",
                                      "\xe0\x80\x80",
                                      "\xe2\x82",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80",
                                      "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ae_utf8_decode(bad[i], &c), 0);
    assert_true(ae_utf8_valid("gr\xc3\xbc\xc3\x9f"));
    assert_false(ae_utf8_valid("gr\xfc"));
}

static void expect(const char *text, size_t columns, const char *wanted)
{
    char out[128];
    ae_utf8_printable(text, out, sizeof out, columns);
    assert_string_equal(out, wanted);
}

static void makes_harmless(void **state)
{
    (void)state;
    expect("plain", 99, "plain");
    expect("\x1b[31mred\x07\r\n\t", 99, "\\x1b[31mred\\x07\\r\\n\\t");
    expect("a\xe2\x80\xae"
           "b",
           99, "a\\u202eb"); /* right-to-left override */
    expect("\xc2\x9b"
           "31m",
           99, "\\u009b31m"); /* CSI in one character */
    expect("\xff\xc3", 99, "\\xff\\xc3");
    expect("\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2"); /* wide characters are not cut */
    expect("abc\n", 4, "abc");                             /* nor escapes */
    char small[4];
    assert_int_equal(ae_utf8_printable("\xe2\x82\xac"
                                       "1",
                                       small, sizeof small, 99),
                     1);
    assert_string_equal(small, "\xe2\x82\xac");
    assert_int_equal(ae_utf8_columns(0x301), 0);
    assert_int_equal(ae_utf8_columns(0x6f22), 2);
}

static void random_bytes(void **state)
{
    (void)state;
    struct ae_rng rng;
    ae_rng_seed(&rng, 1, 0);
    for (int round = 0; round < 2000; round++) {
        char text[64], out[AE_PRINTABLE_MAX * sizeof text];
        const size_t n = (size_t)ae_rng_below64(&rng, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = (char)ae_rng_range(&rng, 1, 255);
        text[n] = 0;
        ae_utf8_printable(text, out, sizeof out, SIZE_MAX);
        assert_true(ae_utf8_valid(out));
        uint32_t c;
        for (size_t at = 0, step; (step = ae_utf8_decode(out + at, &c)) > 0; at += step)
            assert_false(ae_utf8_harmful(c));
    }
}

static void goes_into_json(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } cases[] = {{"", "\"\""},
                 {"na\xc3\xafve\n\x1b", "\"na\\u00EFve\\n\\u001B\""}, /* JSON has escapes of its own */
                 {"caf\xe9 \xc3\xa9", "\"caf\\\\xe9 \\u00E9\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *json = ae_json_text(cases[i].text);
        char *text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
        assert_non_null(text);
        assert_string_equal(text, cases[i].json);
        free(text);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes),
        cmocka_unit_test(makes_harmless),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(goes_into_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
