/* Digests: published vectors, pieces against the whole, and that one changed bit shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char none[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void test_sha256(void **state)
{
    (void)state;
    char hex[AE_SHA256_HEX];
    assert_int_equal(ae_sha256("abc", 3, hex, NULL), AE_OK);
    assert_string_equal(hex, abc);
    assert_int_equal(ae_sha256("", 0, hex, NULL), AE_OK);
    assert_string_equal(hex, none);
}

static void test_sha256_file(void **state)
{
    (void)state;
    char path[] = "/tmp/ae-hash-XXXXXX", hex[AE_SHA256_HEX], whole[AE_SHA256_HEX];
    struct ae_error err = {0};
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ae_write_all(fd, "abc", 3), 0);
    assert_int_equal(ae_sha256_file(path, hex, &err), AE_OK);
    assert_string_equal(hex, abc);
    /* more than one buffer */
    const size_t size = 200001;
    char *data = calloc(size, 1);
    assert_non_null(data);
    data[size - 1] = 1;
    assert_int_equal(ae_file_write(path, data, size, &err), AE_OK);
    assert_int_equal(ae_sha256_file(path, hex, &err), AE_OK);
    assert_int_equal(ae_sha256(data, size, whole, &err), AE_OK);
    assert_string_equal(hex, whole);
    free(data);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ae_sha256_file(path, hex, &err), AE_E_NOTFOUND);
    assert_int_equal(ae_sha256_file("/tmp", hex, &err), AE_E_INPUT);
}

static void test_digest(void **state)
{
    (void)state;
    static unsigned char data[10007];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 131);
    const size_t sizes[] = {0, 1, 16, 17, 240, 241, 4096, sizeof data};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        const struct ae_digest whole = ae_digest(data, n);
        struct ae_hasher *hasher = ae_hasher_new();
        assert_non_null(hasher);
        for (size_t at = 0; at < n; at += 97)
            ae_hasher_update(hasher, data + at, n - at < 97 ? n - at : 97);
        assert_true(ae_digest_equal(ae_hasher_digest(hasher), whole));
        ae_hasher_free(hasher);
        if (n == 0)
            continue;
        data[n / 2] ^= 1;
        assert_false(ae_digest_equal(ae_digest(data, n), whole));
        data[n / 2] ^= 1;
        assert_true(ae_digest_equal(ae_digest(data, n), whole));
        assert_false(ae_digest_equal(ae_digest(data, n - 1), whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sha256), cmocka_unit_test(test_sha256_file),
                                       cmocka_unit_test(test_digest)};
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
