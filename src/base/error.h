/* Errors: functions return AE_OK or a negative code for programs; the sentence for people goes into a
 * struct ae_error that the caller owns. Library code never prints and never exits. */
#ifndef AE_BASE_ERROR_H
#define AE_BASE_ERROR_H

enum ae_code {
    AE_OK = 0,
    AE_E_USAGE = -1,    /* the caller's request makes no sense: wrong name, wrong option */
    AE_E_INPUT = -2,    /* bytes from outside are malformed */
    AE_E_ENV = -3,      /* the machine lacks something: compiler, device, permission, disk space */
    AE_E_NOMEM = -4,    /* memory, or sizes that no memory could hold */
    AE_E_IO = -5,       /* a file could not be read or written */
    AE_E_TIMEOUT = -6,  /* a limit of time was reached */
    AE_E_NOTFOUND = -7, /* nothing there under that name */
    AE_E_INTERNAL = -8, /* our fault */
};

#define AE_ERROR_MAX 1024

struct ae_error {
    int code;
    char text[AE_ERROR_MAX]; /* one sentence, with what to do next where there is something */
};

/* Records code and sentence in err (which may be NULL) and returns code, so that it ends a function. */
int ae_error_set(struct ae_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with ": strerror(errno_value)" appended. */
int ae_error_errno(struct ae_error *err, int code, int errno_value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
