/* Many questions to one model: how many at a time, how fast, what is tried again and after which wait, and when the
 * money ends. Who carries a question there and back is a carrier: HTTP, or a program. */
#ifndef AE_LLM_ASK_H
#define AE_LLM_ASK_H

#include "llm/provider.h"

#include <signal.h>

enum ae_attempt_outcome {
    AE_ATTEMPT_ANSWERED,
    AE_ATTEMPT_EMPTY,        /* a reply without a word in it */
    AE_ATTEMPT_REFUSED,      /* the model or a filter declined */
    AE_ATTEMPT_RATE_LIMITED, /* 429 */
    AE_ATTEMPT_SERVER_ERROR, /* 5xx, or an error in place of an answer */
    AE_ATTEMPT_CUT,          /* no connection, or it broke off */
    AE_ATTEMPT_TIMED_OUT,
    AE_ATTEMPT_MALFORMED, /* not in the protocol's form */
    AE_ATTEMPT_TOO_LARGE,
    AE_ATTEMPT_REJECTED, /* the request is wrong: 400, 401, 404... */
    AE_ATTEMPT_ABORTED,  /* by the user */
    AE_ATTEMPT_OUTCOME_COUNT
};

const char *ae_attempt_outcome_name(enum ae_attempt_outcome outcome); /* "answered", "rate_limited"... */

#define AE_RESPONSE_MAX ((size_t)16 << 20) /* bytes of one reply */

/* One way there and back. */
struct ae_attempt {
    enum ae_attempt_outcome outcome;
    int number;           /* of this question, from 1 */
    int status;           /* HTTP, or the exit status of a command; 0: none */
    int64_t started_ns;   /* CLOCK_REALTIME */
    int64_t wall_ns;
    int64_t retry_after_ns; /* that the server asks for; 0: nothing */
    bool fatal;           /* no other question will fare better: wrong key, no credit */
    char detail[512];     /* one printable sentence; "" for an answer */
    char *response;       /* all bytes that came back, the key blotted out; NULL: none */
    size_t response_size, response_room;
    struct ae_reply reply;
    double cost;          /* AE_UNSET: not known */
    bool exposed;         /* a command ran that could see the folders that were to be hidden from it */
};

struct ae_question {
    const struct ae_message *messages;
    size_t message_count;
    const char *label; /* for progress and for commands: "black_scholes.0" */
};

enum ae_ask_state {
    AE_ASK_WAITING,
    AE_ASK_IN_FLIGHT,
    AE_ASK_DONE,   /* answered, empty or refused: paid for, and final */
    AE_ASK_FAILED, /* worth another try some day */
};

struct ae_ask_counts {
    size_t done, failed, left, attempts; /* left: never asked, or stopped: budget, interrupt, fatal error */
    double cost;                          /* known */
    double assumed;                       /* of attempts that may have been billed without saying so */
    bool over_budget;
    bool interrupted;
};

struct ae_ask_options {
    const struct ae_model *model;
    const struct ae_key *key;
    double max_cost;              /* AE_UNSET: none. Never exceeded as long as the model keeps to max_tokens and its
                                   * prices are known. */
    const volatile sig_atomic_t *stop; /* 1: nothing new, wait for what is under way; 2: break off. NULL: never */
    const char *const *hidden;    /* folders that a command must not see, NULL-terminated; NULL */

    void *data;
    /* These questions are about to be sent; what must be known after a crash is to be written down now. */
    int (*sent)(void *data, const size_t *questions, const int *numbers, size_t count, struct ae_error *err);
    /* An attempt ended; state says whether the question is settled. The attempt lives until the return. */
    int (*ended)(void *data, size_t question, const struct ae_attempt *attempt, enum ae_ask_state state,
                 struct ae_error *err);
};

/* Asks all and returns when each is settled, the money is spent or the user stops it. AE_E_ENV with the server's
 * sentence after a fatal error; the codes of callbacks. ret is filled in any case. */
int ae_ask(const struct ae_ask_options *options, const struct ae_question *questions, size_t count,
           struct ae_ask_counts *ret, struct ae_error *err);

/* Tokens of a question at most, by its bytes. */
int64_t ae_question_tokens(const struct ae_question *question);

/* --- carriers --------------------------------------------------------------------------------------------- */

struct ae_carrier {
    /* Sends question `question`; its end is reported by wait(). */
    int (*start)(struct ae_carrier *carrier, size_t question, const struct ae_question *what, int number,
                 struct ae_error *err);
    /* Waits at most wait_ns and calls done for each that has ended; the callee owns and releases nothing. */
    int (*wait)(struct ae_carrier *carrier, int64_t wait_ns,
                void (*done)(void *context, size_t question, struct ae_attempt *attempt), void *context,
                struct ae_error *err);
    void (*close)(struct ae_carrier *carrier); /* breaks off what is under way */
};

/* AE_E_USAGE where the key would travel unprotected; AE_E_ENV where this build has no network. */
int ae_carrier_http(const struct ae_ask_options *options, struct ae_carrier **ret, struct ae_error *err);
int ae_carrier_command(const struct ae_ask_options *options, struct ae_carrier **ret, struct ae_error *err);

#endif
