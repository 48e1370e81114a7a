#include "llm/rate.h"

#include "base/clock.h"

#include <stdlib.h>

#define WINDOW (60 * AE_SEC)

void ae_rate_release(struct ae_rate *rate)
{
    free(rate->entries);
    *rate = (struct ae_rate){0};
}

static const struct ae_rate_entry *entry(const struct ae_rate *rate, size_t i)
{
    return &rate->entries[(rate->head + i) % rate->room];
}

static void forget(struct ae_rate *rate, int64_t now_ns)
{
    while (rate->count > 0 && entry(rate, 0)->at_ns <= now_ns - WINDOW) {
        rate->token_sum -= entry(rate, 0)->tokens;
        rate->head = (rate->head + 1) % rate->room;
        rate->count--;
    }
}

int64_t ae_rate_when(struct ae_rate *rate, int64_t tokens, int64_t now_ns)
{
    forget(rate, now_ns);
    int64_t when = now_ns;
    if (rate->requests > 0 && rate->count >= (size_t)rate->requests)
        when = entry(rate, rate->count - (size_t)rate->requests)->at_ns + WINDOW;
    if (rate->tokens > 0) {
        int64_t sum = rate->token_sum;
        for (size_t i = 0; i < rate->count && sum + tokens > rate->tokens; i++) {
            sum -= entry(rate, i)->tokens;
            const int64_t free_at = entry(rate, i)->at_ns + WINDOW;
            when = free_at > when ? free_at : when;
        }
    }
    return when;
}

bool ae_rate_sent(struct ae_rate *rate, int64_t tokens, int64_t now_ns)
{
    if (rate->requests == 0 && rate->tokens == 0)
        return true;
    forget(rate, now_ns);
    if (rate->count == rate->room) {
        const size_t room = rate->room ? 2 * rate->room : 64;
        struct ae_rate_entry *grown = malloc(room * sizeof *grown);
        if (!grown)
            return false;
        for (size_t i = 0; i < rate->count; i++)
            grown[i] = *entry(rate, i);
        free(rate->entries);
        rate->entries = grown;
        rate->room = room;
        rate->head = 0;
    }
    rate->entries[(rate->head + rate->count) % rate->room] = (struct ae_rate_entry){now_ns, tokens};
    rate->count++;
    rate->token_sum += tokens;
    return true;
}

void ae_rate_correct(struct ae_rate *rate, int64_t difference)
{
    if (rate->count == 0)
        return;
    struct ae_rate_entry *last = &rate->entries[(rate->head + rate->count - 1) % rate->room];
    const int64_t tokens = last->tokens + difference > 0 ? last->tokens + difference : 0;
    rate->token_sum += tokens - last->tokens;
    last->tokens = tokens;
}
