#include "judge/verdict.h"

#include <string.h>

static const char *const verdicts[AE_VERDICT_COUNT] = {
    [AE_PASS] = "pass",
    [AE_COMPILE_ERROR] = "compile_error",
    [AE_BAD_INTERFACE] = "bad_interface",
    [AE_CRASH] = "crash",
    [AE_TIMEOUT] = "timeout",
    [AE_OUT_OF_MEMORY] = "out_of_memory",
    [AE_WRONG_ANSWER] = "wrong_answer",
    [AE_NONDETERMINISTIC] = "nondeterministic",
    [AE_VIOLATION] = "violation",
    [AE_NOT_RUN] = "not_run",
    [AE_HOST_ERROR] = "host_error",
};

static const char *const violations[AE_VIOLATION_COUNT] = {
    [AE_NO_VIOLATION] = "none",
    [AE_UNSYNCHRONISED] = "unsynchronised",
    [AE_LATE_WRITE] = "late_write",
    [AE_OUT_OF_BOUNDS_WRITE] = "out_of_bounds_write",
    [AE_STATE_CARRIED] = "state_carried",
    [AE_STATIC_ARENA] = "static_arena",
    [AE_INPUT_MODIFIED] = "input_modified",
    [AE_NO_DEVICE_WORK] = "no_device_work",
    [AE_EXTRA_CONTEXT] = "extra_context",
    [AE_BELOW_FLOOR] = "below_floor",
    [AE_FORBIDDEN_SYSCALL] = "forbidden_syscall",
    [AE_ESCAPED_PROCESS] = "escaped_process",
    [AE_TAMPERING] = "tampering",
};

static int find(const char *const *names, int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *ae_verdict_name(enum ae_verdict verdict)
{
    return (unsigned)verdict < AE_VERDICT_COUNT ? verdicts[verdict] : "?";
}

const char *ae_violation_name(enum ae_violation violation)
{
    return (unsigned)violation < AE_VIOLATION_COUNT ? violations[violation] : "?";
}

enum ae_verdict ae_verdict_find(const char *name)
{
    return (enum ae_verdict)find(verdicts, AE_VERDICT_COUNT, name);
}

enum ae_violation ae_violation_find(const char *name)
{
    return (enum ae_violation)find(violations, AE_VIOLATION_COUNT, name);
}
