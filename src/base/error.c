#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ae_error_set(struct ae_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return code;
}

int ae_error_errno(struct ae_error *err, int code, int errno_value, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        int n = vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < sizeof err->text) {
            char reason[128];
            const char *text = strerror_r(errno_value, reason, sizeof reason);
            snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", text);
        }
    }
    return code;
}
