/* A limit of requests and tokens in any 60 seconds, kept by remembering what was sent: exact, where a bucket would let
 * twice the limit through a window. Pure: the caller brings the clock. */
#ifndef AE_LLM_RATE_H
#define AE_LLM_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ae_rate_entry {
    int64_t at_ns, tokens;
};

struct ae_rate {
    int64_t requests, tokens; /* a minute; 0: no limit */
    struct ae_rate_entry *entries; /* a ring of the last minute */
    size_t head, count, room;
    int64_t token_sum;
};

void ae_rate_release(struct ae_rate *rate);
/* When may a request of so many tokens go, now_ns at the earliest? One larger than the limit itself goes alone. */
int64_t ae_rate_when(struct ae_rate *rate, int64_t tokens, int64_t now_ns);
/* It went. False: no memory. */
bool ae_rate_sent(struct ae_rate *rate, int64_t tokens, int64_t now_ns);
/* The reply says how many tokens it really was: the youngest entry takes the difference. */
void ae_rate_correct(struct ae_rate *rate, int64_t difference);

#endif
