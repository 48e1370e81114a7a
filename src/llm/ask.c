#include "llm/ask.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "llm/rate.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_MAX_S      60.0
#define RETRY_AFTER_MAX    (600 * AE_SEC) /* a server that wants us to wait longer is treated as closed */
#define EMPTY_ATTEMPTS     2              /* each is paid for */
#define TIMEOUT_ATTEMPTS   2
#define RATE_LIMITED_TIMES 50             /* not paid for, and not the question's fault */
#define REJECTED_IN_A_ROW  5              /* without one answer: it is the set-up, not the questions */
#define STOP_LOOK          (200 * AE_MS)

const char *ae_attempt_outcome_name(enum ae_attempt_outcome outcome)
{
    static const char *const names[AE_ATTEMPT_OUTCOME_COUNT] = {
        "answered",  "empty",     "refused",   "rate_limited", "server_error", "cut",
        "timed_out", "malformed", "too_large", "rejected",     "aborted"};
    return (unsigned)outcome < AE_ATTEMPT_OUTCOME_COUNT ? names[outcome] : "?";
}

int64_t ae_question_tokens(const struct ae_question *question)
{
    size_t bytes = 0;
    for (size_t i = 0; i < question->message_count; i++)
        bytes += strlen(question->messages[i].text);
    return ae_tokens_estimate(bytes);
}

struct item {
    enum ae_ask_state state;
    int64_t ready_ns, tokens; /* estimate, of question and answer */
    double reserve;           /* what it can cost at most */
    int attempts, failures, rate_limited, empty, timeouts;
};

struct asker {
    const struct ae_ask_options *options;
    const struct ae_question *questions;
    struct item *items;
    size_t count, first; /* all before first are settled */
    struct ae_carrier *carrier;
    struct ae_rate rate;
    struct ae_rng rng;
    struct ae_ask_counts counts;
    size_t in_flight, allowed; /* allowed falls by half at a 429 and rises by one at an answer */
    double reserved;
    int64_t pause_ns; /* nothing goes before */
    int rejected;     /* in a row */
    bool fatal;
    int rc;
    struct ae_error *err;
};

static int64_t backoff(struct asker *a, int failures)
{
    double wait = a->options->model->backoff_s;
    for (int i = 1; i < failures && wait < BACKOFF_MAX_S; i++)
        wait *= 2;
    if (wait > BACKOFF_MAX_S)
        wait = BACKOFF_MAX_S;
    return (int64_t)(wait * ae_rng_uniform(&a->rng, 0.5, 1) * 1e9);
}

/* Settled, or tried again: when? */
static enum ae_ask_state decide(struct asker *a, struct item *item, const struct ae_attempt *t)
{
    const int64_t now = ae_now_ns();
    const int limit = a->options->model->attempts;
    switch (t->outcome) {
    case AE_ATTEMPT_ANSWERED:
    case AE_ATTEMPT_REFUSED:
        a->allowed += a->allowed < (size_t)a->options->model->in_flight;
        return AE_ASK_DONE;
    case AE_ATTEMPT_EMPTY:
        if (++item->empty >= EMPTY_ATTEMPTS)
            return AE_ASK_DONE;
        item->ready_ns = now;
        return AE_ASK_WAITING;
    case AE_ATTEMPT_RATE_LIMITED:
        a->allowed = a->allowed > 1 ? a->allowed / 2 : 1;
        if (t->fatal || t->retry_after_ns > RETRY_AFTER_MAX || ++item->rate_limited > RATE_LIMITED_TIMES)
            return AE_ASK_FAILED;
        item->ready_ns = now + (t->retry_after_ns ? t->retry_after_ns : backoff(a, item->rate_limited));
        if (t->retry_after_ns && item->ready_ns > a->pause_ns)
            a->pause_ns = item->ready_ns; /* it holds for the key, not for this question */
        return AE_ASK_WAITING;
    case AE_ATTEMPT_TIMED_OUT:
        if (++item->timeouts >= TIMEOUT_ATTEMPTS)
            return AE_ASK_FAILED;
        break;
    case AE_ATTEMPT_SERVER_ERROR:
    case AE_ATTEMPT_CUT:
    case AE_ATTEMPT_MALFORMED:
        break;
    default:
        return AE_ASK_FAILED;
    }
    if (t->fatal || ++item->failures >= limit || t->retry_after_ns > RETRY_AFTER_MAX)
        return AE_ASK_FAILED;
    const int64_t wait = backoff(a, item->failures);
    item->ready_ns = now + (t->retry_after_ns > wait ? t->retry_after_ns : wait);
    return AE_ASK_WAITING;
}

static void done(void *context, size_t question, struct ae_attempt *t)
{
    struct asker *a = context;
    struct item *item = &a->items[question];
    const struct ae_model *model = a->options->model;
    t->number = item->attempts;
    a->in_flight--;
    a->reserved -= item->reserve;
    a->counts.attempts++;
    if (t->reply.input_tokens >= 0 || t->reply.output_tokens >= 0) {
        const int64_t input = t->reply.input_tokens > 0 ? t->reply.input_tokens : 0,
                      output = t->reply.output_tokens > 0 ? t->reply.output_tokens : 0;
        t->cost = ae_model_cost(model, input, output);
        ae_rate_correct(&a->rate, input + output - item->tokens);
    } else {
        t->cost = AE_UNSET;
    }
    if (t->cost != AE_UNSET)
        a->counts.cost += t->cost;
    else if (t->outcome != AE_ATTEMPT_RATE_LIMITED && t->outcome != AE_ATTEMPT_SERVER_ERROR &&
             t->outcome != AE_ATTEMPT_REJECTED)
        a->counts.assumed += item->reserve;
    a->rejected = t->outcome == AE_ATTEMPT_REJECTED ? a->rejected + 1 : 0;
    t->fatal |= a->rejected >= REJECTED_IN_A_ROW && a->counts.done == 0;
    item->state = decide(a, item, t);
    if (t->fatal && !a->fatal) {
        a->fatal = true;
        if (a->rc == AE_OK)
            a->rc = ae_error_set(a->err, AE_E_ENV, "model '%s' does not answer: %s", model->name, t->detail);
    }
    a->counts.done += item->state == AE_ASK_DONE;
    a->counts.failed += item->state == AE_ASK_FAILED;
    struct ae_error err = {0};
    const int rc = a->options->ended ? a->options->ended(a->options->data, question, t, item->state, &err) : AE_OK;
    if (rc != AE_OK && (a->rc == AE_OK || a->fatal)) {
        a->rc = rc;
        if (a->err)
            *a->err = err;
    }
}

static bool affordable(const struct asker *a, const struct item *item)
{
    return a->options->max_cost == AE_UNSET ||
           a->counts.cost + a->counts.assumed + a->reserved + item->reserve <= a->options->max_cost;
}

#define START_MAX 256

/* Sends what may go now; *ret_next: when to look again at the latest. */
static int start_some(struct asker *a, int64_t now, int64_t *ret_next)
{
    size_t chosen[START_MAX], count = 0;
    int numbers[START_MAX];
    *ret_next = now + STOP_LOOK;
    while (a->first < a->count && a->items[a->first].state >= AE_ASK_DONE)
        a->first++;
    if (a->pause_ns > now) {
        *ret_next = a->pause_ns < *ret_next ? a->pause_ns : *ret_next;
        return AE_OK;
    }
    for (size_t i = a->first; i < a->count && count < START_MAX && a->in_flight < a->allowed; i++) {
        struct item *item = &a->items[i];
        if (item->state != AE_ASK_WAITING)
            continue;
        if (item->ready_ns > now) {
            *ret_next = item->ready_ns < *ret_next ? item->ready_ns : *ret_next;
            continue;
        }
        const int64_t when = ae_rate_when(&a->rate, item->tokens, now);
        if (when > now) {
            *ret_next = when < *ret_next ? when : *ret_next;
            break;
        }
        if (!affordable(a, item)) {
            a->counts.over_budget |= a->in_flight == 0;
            break;
        }
        if (!ae_rate_sent(&a->rate, item->tokens, now))
            return ae_error_set(a->err, AE_E_NOMEM, "no memory to count requests");
        item->state = AE_ASK_IN_FLIGHT;
        item->attempts++;
        a->in_flight++;
        a->reserved += item->reserve;
        numbers[count] = item->attempts;
        chosen[count++] = i;
    }
    int rc = count && a->options->sent ? a->options->sent(a->options->data, chosen, numbers, count, a->err) : AE_OK;
    for (size_t i = 0; i < count; i++) {
        if (rc == AE_OK)
            rc = a->carrier->start(a->carrier, chosen[i], &a->questions[chosen[i]], numbers[i], a->err);
        if (rc != AE_OK) { /* it never went */
            a->items[chosen[i]].state = AE_ASK_WAITING;
            a->in_flight--;
            a->reserved -= a->items[chosen[i]].reserve;
        }
    }
    return rc;
}

static int run(struct asker *a)
{
    for (;;) {
        const int stop = a->options->stop ? *a->options->stop : 0;
        int64_t now = ae_now_ns(), next = now + STOP_LOOK;
        a->counts.interrupted |= stop != 0;
        if (stop >= 2 && a->in_flight)
            return AE_OK;
        if (!stop && a->rc == AE_OK && !a->counts.over_budget) {
            const int rc = start_some(a, now, &next);
            if (rc != AE_OK)
                a->rc = rc;
        }
        if (a->in_flight == 0 && (stop || a->rc != AE_OK || a->counts.over_budget || a->first >= a->count))
            return a->rc;
        now = ae_now_ns();
        const int rc = a->carrier->wait(a->carrier, next > now ? next - now : 0, done, a, a->err);
        if (rc != AE_OK)
            return rc;
    }
}

int ae_ask(const struct ae_ask_options *options, const struct ae_question *questions, size_t count,
           struct ae_ask_counts *ret, struct ae_error *err)
{
    const struct ae_model *model = options->model;
    struct asker a = {.options = options,
                      .questions = questions,
                      .count = count,
                      .allowed = (size_t)model->in_flight,
                      .rate = {.requests = model->requests_per_minute, .tokens = model->tokens_per_minute},
                      .err = err};
    uint64_t seed = 0;
    *ret = (struct ae_ask_counts){.left = count};
    if (options->max_cost != AE_UNSET && ae_model_cost(model, 0, 0) == AE_UNSET)
        return ae_error_set(err, AE_E_USAGE, "--max-cost needs the prices of '%s': set price_input and price_output in "
                            "models.yaml (per million tokens)", model->name);
    int rc = ae_random_bytes(&seed, sizeof seed, err);
    if (rc != AE_OK)
        return rc;
    ae_rng_seed(&a.rng, seed, 0);
    a.items = calloc(count + 1, sizeof *a.items);
    if (!a.items)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu questions", count);
    for (size_t i = 0; i < count; i++) {
        const int64_t input = ae_question_tokens(&questions[i]);
        a.items[i].tokens = input + model->max_tokens / 4; /* answers rarely fill their limit; corrected by the reply */
        const double cost = ae_model_cost(model, input, model->max_tokens);
        a.items[i].reserve = cost == AE_UNSET ? 0 : cost;
    }
    rc = model->provider == AE_PROVIDER_COMMAND ? ae_carrier_command(options, &a.carrier, err)
                                                : ae_carrier_http(options, &a.carrier, err);
    if (rc == AE_OK) {
        rc = run(&a);
        a.carrier->close(a.carrier);
    }
    a.counts.left = count - a.counts.done - a.counts.failed;
    *ret = a.counts;
    ae_rate_release(&a.rate);
    free(a.items);
    return rc;
}
