#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *ae_base64_encode(const void *data, size_t size)
{
    const unsigned char *in = data;
    char *ret = size < SIZE_MAX / 2 ? malloc((size + 2) / 3 * 4 + 1) : NULL;
    char *out = ret;
    for (size_t i = 0; ret && i < size; i += 3) {
        const size_t n = size - i < 3 ? size - i : 3;
        const uint32_t group =
            (uint32_t)in[i] << 16 | (n > 1 ? (uint32_t)in[i + 1] << 8 : 0) | (n > 2 ? (uint32_t)in[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            *out++ = k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    if (ret)
        *out = 0;
    return ret;
}

char *ae_base64_decode(const char *text, size_t *ret_size)
{
    const size_t length = strlen(text);
    if (length % 4 != 0)
        return NULL;
    const size_t padding = length && text[length - 1] == '=' ? text[length - 2] == '=' ? 2 : 1 : 0;
    char *ret = malloc(length / 4 * 3 + 1);
    size_t used = 0;
    for (size_t i = 0; ret && i < length; i += 4) {
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = i + k >= length - padding ? digits : strchr(digits, text[i + k]);
            if (!digit || !*digit) {
                free(ret);
                return NULL;
            }
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (int k = 0; k < 3; k++)
            ret[used++] = (char)(group >> (16 - 8 * k));
    }
    if (ret) {
        used -= padding;
        ret[used] = 0;
        *ret_size = used;
    }
    return ret;
}
