/* Questions to a server on the loopback device: three protocols, whole and streamed, and every fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "llm/answer.h"
#include "llm/ask.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "sk-secret-0123456789"

static struct ae_server *server;
static char url[64];

static int start(void **state)
{
    (void)state;
    const struct ae_server_config config = {0};
    server = ae_server_start(&config);
    if (!server)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", ae_server_port(server));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ae_server_stop(server);
    return 0;
}

static struct ae_model model_of(enum ae_provider_kind provider, const char *name, bool stream)
{
    return (struct ae_model){.name = (char *)"m",
                             .provider = provider,
                             .model = (char *)(uintptr_t)name,
                             .base_url = url,
                             .max_tokens_field = (char *)"max_tokens",
                             .temperature = 0.25,
                             .top_p = AE_UNSET,
                             .max_tokens = 1000,
                             .stream = stream,
                             .in_flight = 8,
                             .attempts = 4,
                             .timeout_s = 20,
                             .idle_s = 10,
                             .backoff_s = 0.02,
                             .price_input = 10,
                             .price_output = 100};
}

struct seen {
    int sent, ended, done, failed;
    enum ae_attempt_outcome last, first;
    struct ae_attempt attempt; /* the last one; texts copied */
    char *text, *response;
};

static int on_sent(void *data, const size_t *questions, const int *numbers, size_t count, struct ae_error *err)
{
    (void)questions;
    (void)numbers;
    (void)err;
    ((struct seen *)data)->sent += (int)count;
    return AE_OK;
}

static int on_ended(void *data, size_t question, const struct ae_attempt *attempt, enum ae_ask_state state,
                    struct ae_error *err)
{
    struct seen *s = data;
    (void)question;
    (void)err;
    if (s->ended++ == 0)
        s->first = attempt->outcome;
    s->done += state == AE_ASK_DONE;
    s->failed += state == AE_ASK_FAILED;
    s->last = attempt->outcome;
    s->attempt = *attempt;
    free(s->text);
    free(s->response);
    s->text = strdup(attempt->reply.text ? attempt->reply.text : "");
    s->response = attempt->response ? malloc(attempt->response_size + 1) : NULL;
    if (s->response)
        memcpy(s->response, attempt->response, attempt->response_size + 1);
    return AE_OK;
}

static void forget(struct seen *s)
{
    free(s->text);
    free(s->response);
    *s = (struct seen){0};
}

static int ask(const struct ae_model *model, struct seen *seen, size_t count, double max_cost,
               struct ae_ask_counts *ret, struct ae_error *err)
{
    static char prompt[] = "Write a program, \"quoted\"\nand \xc3\xa9.";
    const struct ae_message message = {AE_MESSAGE_USER, prompt};
    struct ae_key key = {(char *)KEY};
    const struct ae_ask_options options = {
        .model = model, .key = &key, .max_cost = max_cost, .data = seen, .sent = on_sent, .ended = on_ended};
    struct ae_question *questions = calloc(count, sizeof *questions);
    for (size_t i = 0; i < count; i++)
        questions[i] = (struct ae_question){&message, 1, "q"};
    *err = (struct ae_error){0};
    const int rc = ae_ask(&options, questions, count, ret, err);
    free(questions);
    return rc;
}

static const char *const protocol_names[] = {"openai", "anthropic", "gemini"};

/* What each kind of behaviour comes to, in every protocol, whole and streamed. */
static const struct {
    const char *model;
    enum ae_attempt_outcome last;
    int attempts;
    bool done;
    enum ae_finish finish;
    int only; /* 1: whole only, 2: streams only */
} kinds[] = {
    {"normal", AE_ATTEMPT_ANSWERED, 1, true, AE_FINISH_STOP, 0},
    {"reasoning", AE_ATTEMPT_ANSWERED, 1, true, AE_FINISH_STOP, 0},
    {"mislabelled", AE_ATTEMPT_ANSWERED, 1, true, AE_FINISH_STOP, 0},
    {"drip", AE_ATTEMPT_ANSWERED, 1, true, AE_FINISH_STOP, 1},
    {"length", AE_ATTEMPT_ANSWERED, 1, true, AE_FINISH_LENGTH, 0},
    {"spent", AE_ATTEMPT_ANSWERED, 1, true, AE_FINISH_LENGTH, 0},
    {"refusal", AE_ATTEMPT_REFUSED, 1, true, AE_FINISH_REFUSED, 0},
    {"empty", AE_ATTEMPT_EMPTY, 2, true, AE_FINISH_STOP, 0},
    {"empty_once", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 0},
    {"rate_bare", AE_ATTEMPT_ANSWERED, 3, true, AE_FINISH_STOP, 0},
    {"rate_after_ms", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 0},
    {"rate_day", AE_ATTEMPT_RATE_LIMITED, 1, false, AE_FINISH_UNKNOWN, 0},
    {"err500", AE_ATTEMPT_ANSWERED, 3, true, AE_FINISH_STOP, 0},
    {"err500_always", AE_ATTEMPT_SERVER_ERROR, 4, false, AE_FINISH_UNKNOWN, 0},
    {"error200", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 0},
    {"cut_at_once", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 0},
    {"cut", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 0},
    {"cut_stream", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 2},
    {"malformed_once", AE_ATTEMPT_ANSWERED, 2, true, AE_FINISH_STOP, 0},
    {"malformed", AE_ATTEMPT_MALFORMED, 4, false, AE_FINISH_UNKNOWN, 0},
    {"scalar", AE_ATTEMPT_MALFORMED, 4, false, AE_FINISH_UNKNOWN, 0},
    {"html", AE_ATTEMPT_MALFORMED, 4, false, AE_FINISH_UNKNOWN, 0},
    {"bad_request", AE_ATTEMPT_REJECTED, 1, false, AE_FINISH_UNKNOWN, 0},
};

static void every_kind_in_every_protocol(void **state)
{
    (void)state;
    for (int provider = AE_PROVIDER_OPENAI; provider <= AE_PROVIDER_GEMINI; provider++)
        for (int stream = 0; stream < 2; stream++) {
            stop(NULL);
            assert_int_equal(start(NULL), 0);
            for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                if ((kinds[i].only == 1 && stream) || (kinds[i].only == 2 && !stream))
                    continue;
                struct seen seen = {0};
                struct ae_ask_counts counts;
                struct ae_error err;
                const struct ae_model model = model_of((enum ae_provider_kind)provider, kinds[i].model, stream != 0);
                const int rc = ask(&model, &seen, 1, AE_UNSET, &counts, &err);
                const struct ae_attempt *a = &seen.attempt;
                if (rc != AE_OK || seen.last != kinds[i].last || seen.ended != kinds[i].attempts ||
                    seen.sent != seen.ended || (seen.done == 1) != kinds[i].done || counts.done != (size_t)seen.done ||
                    counts.failed != (size_t)seen.failed || a->reply.finish != kinds[i].finish)
                    fail_msg("%s %s %s: rc %d (%s), last %s (%s), %d attempts, done %d, finish %s\n%s",
                             protocol_names[provider], stream ? "stream" : "whole", kinds[i].model, rc, err.text,
                             ae_attempt_outcome_name(seen.last), a->detail, seen.ended, seen.done,
                             ae_finish_name(a->reply.finish), seen.response ? seen.response : "");
                if (seen.last == AE_ATTEMPT_ANSWERED) {
                    assert_int_equal(a->reply.input_tokens, 100);
                    assert_int_equal(a->reply.output_tokens, 50);
                    if (a->reply.size)
                        assert_string_equal(a->reply.model, "the-model");
                    assert_true(a->cost > 0.005999 && a->cost < 0.006001);
                }
                if (seen.last == AE_ATTEMPT_ANSWERED && kinds[i].finish == AE_FINISH_STOP) {
                    char *source = NULL;
                    size_t size;
                    unsigned notes;
                    assert_int_equal(ae_answer_extract(seen.text, strlen(seen.text), &source, &size, &notes, &err),
                                     AE_OK);
                    assert_string_equal(source, "extern \"C\" void solution_compute(int n)\n{\n}\n");
                    free(source);
                }
                forget(&seen);
            }
        }
}

static void requests_are_in_the_protocols_form(void **state)
{
    (void)state;
    static const char *const wanted[][5] = {{"POST /v1/chat/completions ", "Authorization: Bearer " KEY,
                                             "\"max_tokens\":1000", "\"temperature\":0.25", "\"role\":\"system\""},
                                            {"POST /v1/messages ", "x-api-key: " KEY, "anthropic-version: 2023-06-01",
                                             "\"system\":\"Be brief.\"", "\"max_tokens\":1000"},
                                            {"POST /v1/models/normal:generateContent ", "x-goog-api-key: " KEY,
                                             "\"maxOutputTokens\":1000", "\"systemInstruction\"", "\"contents\":[{"}};
    for (int provider = AE_PROVIDER_OPENAI; provider <= AE_PROVIDER_GEMINI; provider++) {
        struct seen seen = {0};
        struct ae_ask_counts counts;
        struct ae_error err;
        struct ae_model model = model_of((enum ae_provider_kind)provider, "normal", false);
        model.system = (char *)"Be brief.";
        assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
        char *last = ae_server_last(server);
        for (int i = 0; i < 5; i++)
            if (!strstr(last, wanted[provider][i]))
                fail_msg("%s lacks '%s' in:\n%s", protocol_names[provider], wanted[provider][i], last);
        assert_non_null(strstr(last, "Write a program, \\\"quoted\\\"\\nand \xc3\xa9."));
        free(last);
        forget(&seen);
    }
}

static void retry_after_holds_for_all(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    const struct ae_model model = model_of(AE_PROVIDER_OPENAI, "rate_after", false);
    const int64_t start_ns = ae_now_ns();
    assert_int_equal(ask(&model, &seen, 3, AE_UNSET, &counts, &err), AE_OK);
    assert_int_equal(counts.done, 3);
    assert_int_equal(seen.ended, 4); /* one was told to wait, none of the others was */
    assert_true(ae_now_ns() - start_ns >= AE_SEC);
    forget(&seen);
}

static void time_limits_hold(void **state)
{
    (void)state;
    static const char *const names[] = {"silent", "drip_forever"};
    for (int i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct ae_ask_counts counts;
        struct ae_error err;
        struct ae_model model = model_of(AE_PROVIDER_OPENAI, names[i], false);
        model.timeout_s = 0.4;
        const int64_t start_ns = ae_now_ns();
        assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
        assert_int_equal(seen.last, AE_ATTEMPT_TIMED_OUT);
        assert_int_equal(counts.failed, 1);
        assert_true(counts.assumed > 0); /* it may be billed */
        assert_true(ae_now_ns() - start_ns < 8 * AE_SEC);
        forget(&seen);
    }
}

static void a_flood_is_cut(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    const struct ae_model model = model_of(AE_PROVIDER_OPENAI, "flood", false);
    assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
    assert_int_equal(seen.last, AE_ATTEMPT_TOO_LARGE);
    assert_int_equal(seen.ended, 1);
    assert_true(seen.attempt.response_size <= AE_RESPONSE_MAX);
    forget(&seen);
}

/* A wrong key or an empty purse ends the run, not every single question. */
static void fatal_errors_end_the_run(void **state)
{
    (void)state;
    /* the last one is no fatal error by itself; five in a row without an answer are */
    static const char *const names[] = {"unauthorised", "quota", "redirect", "bad_request"};
    for (int i = 0; i < 4; i++) {
        struct seen seen = {0};
        struct ae_ask_counts counts;
        struct ae_error err;
        struct ae_model model = model_of(AE_PROVIDER_OPENAI, names[i], false);
        model.in_flight = 2;
        assert_int_equal(ask(&model, &seen, 50, AE_UNSET, &counts, &err), AE_E_ENV);
        assert_true(seen.ended <= (i < 3 ? 2 : 6));
        assert_true(counts.left >= 44);
        assert_null(strstr(err.text, KEY));
        assert_null(strstr(seen.attempt.detail, KEY));
        assert_non_null(strstr(err.text, "model 'm'"));
        forget(&seen);
    }
}

/* The server says the key back in an error and in an answer: it goes nowhere. First: it does say it. */
static void an_echoed_key_is_blotted_out(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        struct seen seen = {0};
        struct ae_ask_counts counts;
        struct ae_error err;
        const struct ae_model model = model_of(AE_PROVIDER_OPENAI, "echo_key", stream != 0);
        assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
        assert_non_null(strstr(seen.text, "Authorization: Bearer ********************"));
        assert_null(strstr(seen.text, KEY));
        assert_null(strstr(seen.response, KEY));
        forget(&seen);
    }
}

static void a_key_never_travels_readable(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    struct ae_model model = model_of(AE_PROVIDER_OPENAI, "normal", false);
    static const char *const open[] = {"http://example.org/v1", "http://127.0.0.1.example.org/v1",
                                       "http://localhost.example.org"};
    for (int i = 0; i < 3; i++) {
        model.base_url = (char *)(uintptr_t)open[i];
        assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_E_USAGE);
        assert_int_equal(seen.sent, 0);
        assert_null(strstr(err.text, KEY));
    }
    forget(&seen);
}

/* A proxy of the environment would see the key on its way to a server of this machine. */
static void the_loopback_device_needs_no_proxy(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    struct ae_model model = model_of(AE_PROVIDER_OPENAI, "normal", false);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
    assert_int_equal(counts.done, 1);
    forget(&seen);
    model.base_url = (char *)"http://example.invalid/v1"; /* the variable does count elsewhere: nobody listens there */
    model.insecure = true;
    model.attempts = 1;
    assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
    assert_int_equal(seen.last, AE_ATTEMPT_CUT);
    assert_non_null(strstr(seen.attempt.detail, "127.0.0.1"));
    unsetenv("http_proxy");
    forget(&seen);
}

static void money_ends(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    struct ae_model model = model_of(AE_PROVIDER_OPENAI, "normal", false);
    /* an answer costs 0.006 and at most 0.1 and a bit: 0.3 pays for some 30, and never for two at once at the end */
    assert_int_equal(ask(&model, &seen, 200, 0.3, &counts, &err), AE_OK);
    assert_true(counts.over_budget);
    assert_true(counts.cost <= 0.3 && counts.cost > 0.15);
    assert_int_equal(counts.done + counts.left, 200);
    forget(&seen);
    model.price_output = AE_UNSET;
    assert_int_equal(ask(&model, &seen, 1, 0.3, &counts, &err), AE_E_USAGE);
    assert_int_equal(seen.sent, 0);
    forget(&seen);
}

static void as_many_in_flight_as_allowed(void **state)
{
    (void)state;
    stop(NULL);
    const struct ae_server_config config = {.delay_ms = 30};
    server = ae_server_start(&config);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", ae_server_port(server));
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    struct ae_model model = model_of(AE_PROVIDER_OPENAI, "normal", false);
    model.in_flight = 12;
    assert_int_equal(ask(&model, &seen, 120, AE_UNSET, &counts, &err), AE_OK);
    assert_int_equal(counts.done, 120);
    const struct ae_server_counts served = ae_server_counts(server);
    assert_int_equal(served.answered, 120);
    assert_true(served.in_flight_max <= 12);
    assert_true(served.in_flight_max >= 6);
    forget(&seen);
}

/* Every fifth request fails in one way or another: all are answered in the end, and none twice. */
static void a_flaky_server_loses_nothing(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    struct ae_model model = model_of(AE_PROVIDER_OPENAI, "flaky", false);
    model.in_flight = 20;
    model.attempts = 12;
    if (ask(&model, &seen, 300, AE_UNSET, &counts, &err) != AE_OK || counts.done != 300)
        fail_msg("%s; %zu done, %zu failed", err.text, counts.done, counts.failed);
    assert_true(counts.attempts > 340);
    assert_int_equal(ae_server_counts(server).answered, 300);
    forget(&seen);
}

static void tls_trusts_the_given_certificate_only(void **state)
{
    (void)state;
    char folder[] = "/tmp/ae-tls-XXXXXX", command[512], certificate[64], private_key[64], tls_url[64];
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    snprintf(private_key, sizeof private_key, "%s/key.pem", folder);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost "
             "-addext subjectAltName=DNS:localhost -keyout %s -out %s >/dev/null 2>&1",
             private_key, certificate);
    assert_int_equal(system(command), 0);
    const struct ae_server_config config = {.certificate = certificate, .private_key = private_key};
    struct ae_server *tls = ae_server_start(&config);
    assert_non_null(tls);
    snprintf(tls_url, sizeof tls_url, "https://localhost:%d/v1", ae_server_port(tls));
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    struct ae_model model = model_of(AE_PROVIDER_OPENAI, "normal", false);
    model.base_url = tls_url;
    model.ca_file = certificate;
    if (ask(&model, &seen, 2, AE_UNSET, &counts, &err) != AE_OK || counts.done != 2)
        fail_msg("%s %s", err.text, seen.attempt.detail);
    forget(&seen);
    model.ca_file = NULL; /* the system does not know it */
    assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_E_ENV);
    assert_int_equal(counts.done, 0);
    forget(&seen);
    snprintf(tls_url, sizeof tls_url, "https://127.0.0.1:%d/v1",
             ae_server_port(tls)); /* not the name it was made out to */
    model.ca_file = certificate;
    assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_E_ENV);
    forget(&seen);
    ae_server_stop(tls);
    assert_int_equal(ae_folder_remove(folder, &err), AE_OK);
}

/* --- commands ---------------------------------------------------------------------------------------------- */

static void commands_answer(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        enum ae_attempt_outcome outcome;
        bool fatal;
    } rows[] = {
        {"cat", AE_ATTEMPT_ANSWERED, false},
        {"cat >/dev/null; printf 'noise'; printf 'answer' >\"$ACCELEVAL_ANSWER\"", AE_ATTEMPT_ANSWERED, false},
        {"cat >/dev/null", AE_ATTEMPT_EMPTY, false},
        {"echo bad >&2; exit 3", AE_ATTEMPT_REJECTED, false},
        {"/no/such/program", AE_ATTEMPT_REJECTED, true},
        {"kill -9 $$", AE_ATTEMPT_REJECTED, false},
        {"sleep 20", AE_ATTEMPT_TIMED_OUT, false},
        {"yes", AE_ATTEMPT_TOO_LARGE, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen seen = {0};
        struct ae_ask_counts counts;
        struct ae_error err;
        struct ae_model model = model_of(AE_PROVIDER_COMMAND, "agent", false);
        model.command = (char *)(uintptr_t)rows[i].command;
        model.timeout_s = i == 6 ? 0.3 : 20;
        const int rc = ask(&model, &seen, 1, AE_UNSET, &counts, &err);
        if (seen.last != rows[i].outcome || (rc == AE_E_ENV) != rows[i].fatal)
            fail_msg("'%s': rc %d (%s), %s (%s)", rows[i].command, rc, err.text, ae_attempt_outcome_name(seen.last),
                     seen.attempt.detail);
        if (i == 0)
            assert_string_equal(seen.text, "Write a program, \"quoted\"\nand \xc3\xa9.");
        if (i == 1)
            assert_string_equal(seen.text, "answer");
        if (i == 3)
            assert_non_null(strstr(seen.attempt.detail, "bad"));
        forget(&seen);
    }
}

/* First that an environment variable does reach a shell that is started plainly, then that a command gets what is
 * listed. */
static void commands_get_no_key(void **state)
{
    (void)state;
    setenv("OPENAI_API_KEY", KEY, 1);
    setenv("AGENT_MODE", "fast", 1);
    char line[64] = "";
    FILE *plain = popen("echo $OPENAI_API_KEY", "r");
    assert_non_null(fgets(line, sizeof line, plain));
    pclose(plain);
    assert_string_equal(line, KEY "\n");
    struct seen seen = {0};
    struct ae_ask_counts counts;
    struct ae_error err;
    char *pass[] = {(char *)"AGENT_MODE", NULL};
    struct ae_model model = model_of(AE_PROVIDER_COMMAND, "agent", false);
    model.command = (char *)"env; ls -l /proc/self/fd";
    model.pass_env = pass;
    assert_int_equal(ask(&model, &seen, 1, AE_UNSET, &counts, &err), AE_OK);
    assert_null(strstr(seen.text, KEY));
    assert_non_null(strstr(seen.text, "AGENT_MODE=fast"));
    assert_non_null(strstr(seen.text, "ACCELEVAL_QUESTION=q"));
    forget(&seen);
    unsetenv("OPENAI_API_KEY");
}

static void commands_do_not_see_hidden_folders(void **state)
{
    (void)state;
    char folder[] = "/tmp/ae-hidden-XXXXXX", path[64], command[128];
    struct ae_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/secret", folder);
    assert_int_equal(ae_file_write(path, "the bank", 8, &err), AE_OK);
    snprintf(command, sizeof command, "cat %s || echo nothing there", path);
    const char *hidden[] = {folder, NULL};
    struct ae_model model = model_of(AE_PROVIDER_COMMAND, "agent", false);
    model.command = command;
    for (int hide = 0; hide < 2; hide++) {
        struct seen seen = {0};
        struct ae_ask_counts counts;
        char prompt[] = "x";
        const struct ae_message message = {AE_MESSAGE_USER, prompt};
        const struct ae_question question = {&message, 1, "q"};
        const struct ae_ask_options options = {.model = &model, .max_cost = AE_UNSET, .hidden = hide ? hidden : NULL,
                                               .data = &seen, .sent = on_sent, .ended = on_ended};
        assert_int_equal(ae_ask(&options, &question, 1, &counts, &err), AE_OK);
        if (!hide)
            assert_string_equal(seen.text, "the bank");
        else if (!seen.attempt.exposed)
            assert_string_equal(seen.text, "nothing there\n");
        else
            print_message("mounts of its own are not to be had here: the command was exposed, and that is said\n");
        forget(&seen);
    }
    assert_int_equal(ae_folder_remove(folder, &err), AE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_in_every_protocol, start, stop),
        cmocka_unit_test_setup_teardown(requests_are_in_the_protocols_form, start, stop),
        cmocka_unit_test_setup_teardown(retry_after_holds_for_all, start, stop),
        cmocka_unit_test_setup_teardown(time_limits_hold, start, stop),
        cmocka_unit_test_setup_teardown(a_flood_is_cut, start, stop),
        cmocka_unit_test_setup_teardown(fatal_errors_end_the_run, start, stop),
        cmocka_unit_test_setup_teardown(an_echoed_key_is_blotted_out, start, stop),
        cmocka_unit_test_setup_teardown(a_key_never_travels_readable, start, stop),
        cmocka_unit_test_setup_teardown(the_loopback_device_needs_no_proxy, start, stop),
        cmocka_unit_test_setup_teardown(money_ends, start, stop),
        cmocka_unit_test_setup_teardown(as_many_in_flight_as_allowed, start, stop),
        cmocka_unit_test_setup_teardown(a_flaky_server_loses_nothing, start, stop),
        cmocka_unit_test(tls_trusts_the_given_certificate_only),
        cmocka_unit_test(commands_answer),
        cmocka_unit_test(commands_get_no_key),
        cmocka_unit_test(commands_do_not_see_hidden_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
