#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t ae_text_distance(const char *a, const char *b)
{
    const size_t rows = strlen(a), cols = strlen(b);
    size_t row[128];
    if (rows >= 128 || cols >= 128)
        return SIZE_MAX;
    for (size_t j = 0; j <= cols; j++)
        row[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= cols; j++) {
            const size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = best < replace ? best : replace;
        }
    }
    return row[cols];
}

bool ae_text_near(const char *given, size_t distance)
{
    const size_t length = strlen(given);
    return length > 1 && distance <= (length + 2) / 3;
}

bool ae_text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *ae_text_path_tail(const char *path)
{
    const char *last = path, *tail = path;
    for (const char *p = path; *p; p++)
        if (*p == '/') {
            tail = last;
            last = p + 1;
        }
    return tail;
}

bool ae_text_ends(const char *text, const char *suffix)
{
    const size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

const char *ae_text_plural(int64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

bool ae_text_to_i64(const char *text, int64_t lo, int64_t hi, int64_t *ret)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < lo || value > hi)
        return false;
    *ret = value;
    return true;
}
