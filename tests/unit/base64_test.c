/* Base64: there and back at every length, published vectors, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"

#include <stdlib.h>
#include <string.h>

static void bytes_come_back(void **state)
{
    (void)state;
    char data[64];
    for (size_t size = 0; size < sizeof data; size++) {
        size_t back;
        for (size_t i = 0; i < size; i++)
            data[i] = (char)(i * 37 + size);
        char *text = ae_base64_encode(data, size), *again = ae_base64_decode(text, &back);
        assert_int_equal(back, size);
        assert_memory_equal(again, data, size);
        free(text);
        free(again);
    }
}

static void published_vectors(void **state) /* RFC 4648, section 10 */
{
    (void)state;
    static const char *const texts[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t size = 0; size < sizeof texts / sizeof *texts; size++) {
        char *text = ae_base64_encode("foobar", size);
        assert_string_equal(text, texts[size]);
        free(text);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    size_t size;
    assert_null(ae_base64_decode("Zm9", &size));
    assert_null(ae_base64_decode("Z=9v", &size));
    assert_null(ae_base64_decode("Zm9\xff", &size));
    char *lone = strdup("="); /* on the heap, where a look before its beginning shows */
    assert_null(ae_base64_decode(lone, &size));
    free(lone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_come_back), cmocka_unit_test(published_vectors),
                                       cmocka_unit_test(nonsense_is_refused)};
    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
