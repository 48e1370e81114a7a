/* The verdicts, never merged: each says whose fault it is and what its author needs to know. */
#ifndef AE_JUDGE_VERDICT_H
#define AE_JUDGE_VERDICT_H

enum ae_verdict {
    AE_PASS,
    AE_COMPILE_ERROR,
    AE_BAD_INTERFACE, /* no such symbol, wrong linkage, refused definitions */
    AE_CRASH,         /* signal, CUDA error, exit */
    AE_TIMEOUT,
    AE_OUT_OF_MEMORY, /* host or device */
    AE_WRONG_ANSWER,
    AE_NONDETERMINISTIC,
    AE_VIOLATION,
    AE_NOT_RUN,    /* no device, no toolkit */
    AE_HOST_ERROR, /* ours or the machine's; never counted against a submission */
    AE_VERDICT_COUNT
};

enum ae_violation {
    AE_NO_VIOLATION,
    AE_UNSYNCHRONISED,
    AE_LATE_WRITE,
    AE_OUT_OF_BOUNDS_WRITE,
    AE_STATE_CARRIED,
    AE_STATIC_ARENA,
    AE_INPUT_MODIFIED,
    AE_NO_DEVICE_WORK,
    AE_EXTRA_CONTEXT,
    AE_BELOW_FLOOR, /* the read floor */
    AE_FORBIDDEN_SYSCALL,
    AE_ESCAPED_PROCESS,
    AE_TAMPERING,
    AE_VIOLATION_COUNT
};

/* The words of tables and JSON: "wrong_answer", "state_carried"; "?" for a value that is none. */
const char *ae_verdict_name(enum ae_verdict verdict);
const char *ae_violation_name(enum ae_violation violation);
/* AE_VERDICT_COUNT, AE_VIOLATION_COUNT where name is none. */
enum ae_verdict ae_verdict_find(const char *name);
enum ae_violation ae_violation_find(const char *name);

#endif
