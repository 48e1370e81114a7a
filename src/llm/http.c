/* Questions by HTTP, many at a time on one thread. */
#include "llm/ask.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct transfer {
    size_t question;
    CURL *easy;
    char *body;
    int64_t started_ns; /* CLOCK_MONOTONIC */
    bool too_large;
    char problem[CURL_ERROR_SIZE];
    struct ae_attempt attempt;
};

struct http {
    struct ae_carrier carrier;
    const struct ae_ask_options *options;
    const struct ae_protocol *protocol;
    CURLM *multi;
    struct curl_slist *headers; /* holds the key: wiped at the end */
    char *url;
    struct transfer **transfers;
    size_t count, room;
};

static void transfer_free(struct transfer *t)
{
    if (!t)
        return;
    if (t->easy)
        curl_easy_cleanup(t->easy);
    free(t->body);
    free(t->attempt.response);
    ae_reply_release(&t->attempt.reply);
    free(t);
}

static size_t take_bytes(char *bytes, size_t one, size_t count, void *data)
{
    struct transfer *t = data;
    struct ae_attempt *a = &t->attempt;
    const size_t size = one * count;
    if (a->response_size + size > AE_RESPONSE_MAX) {
        t->too_large = true;
        return 0;
    }
    if (a->response_size + size + 1 > a->response_room) {
        size_t room = a->response_room ? a->response_room : 4096;
        while (room < a->response_size + size + 1)
            room *= 2;
        char *grown = realloc(a->response, room);
        if (!grown)
            return 0;
        a->response = grown;
        a->response_room = room;
    }
    memcpy(a->response + a->response_size, bytes, size);
    a->response_size += size;
    a->response[a->response_size] = 0;
    return size;
}

/* retry-after-ms is finer than Retry-After, which curl reads itself. */
static size_t take_header(char *bytes, size_t one, size_t count, void *data)
{
    static const char name[] = "retry-after-ms:";
    struct transfer *t = data;
    const size_t size = one * count;
    if (size > sizeof name && size < 64 && strncasecmp(bytes, name, sizeof name - 1) == 0) {
        char value[64];
        snprintf(value, sizeof value, "%.*s", (int)(size - sizeof name + 1), bytes + sizeof name - 1);
        const double ms = strtod(value, NULL);
        if (ms > 0 && ms < 1e10)
            t->attempt.retry_after_ns = (int64_t)(ms * 1e6);
    }
    return size;
}

static bool loopback(const char *url)
{
    static const char *const hosts[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (ae_text_starts(url, hosts[i])) {
            const char next = url[strlen(hosts[i])];
            return next == 0 || next == ':' || next == '/';
        }
    return false;
}

static int start(struct ae_carrier *carrier, size_t question, const struct ae_question *what, int number,
                 struct ae_error *err)
{
    struct http *h = (struct http *)carrier;
    const struct ae_model *model = h->options->model;
    (void)number;
    if (h->count == h->room) {
        const size_t room = h->room ? 2 * h->room : 16;
        struct transfer **grown = realloc(h->transfers, room * sizeof *grown);
        if (!grown)
            return ae_error_set(err, AE_E_NOMEM, "no memory for a request");
        h->transfers = grown;
        h->room = room;
    }
    struct transfer *t = calloc(1, sizeof *t);
    if (t)
        t->body = h->protocol->body(model, what->messages, what->message_count);
    if (t && t->body)
        t->easy = curl_easy_init();
    if (!t || !t->easy) {
        transfer_free(t);
        return ae_error_set(err, AE_E_NOMEM, "no memory for a request, or a prompt that is no UTF-8");
    }
    t->question = question;
    t->started_ns = ae_now_ns();
    t->attempt.started_ns = ae_wall_ns();
    ae_reply_init(&t->attempt.reply);
    int bad = 0;
#define SET(option, value) bad |= curl_easy_setopt(t->easy, option, value) != CURLE_OK
    SET(CURLOPT_URL, h->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L); /* a redirect would carry the key elsewhere */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_POSTFIELDS, t->body);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(t->body));
    SET(CURLOPT_HTTPHEADER, h->headers);
    SET(CURLOPT_WRITEFUNCTION, take_bytes);
    SET(CURLOPT_WRITEDATA, t);
    SET(CURLOPT_HEADERFUNCTION, take_header);
    SET(CURLOPT_HEADERDATA, t);
    SET(CURLOPT_PRIVATE, t);
    SET(CURLOPT_ERRORBUFFER, t->problem);
    SET(CURLOPT_CONNECTTIMEOUT_MS, 30000L);
    SET(CURLOPT_TIMEOUT_MS, (long)(model->timeout_s * 1000));
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, model->idle_s < 1 ? 1L : (long)model->idle_s);
    SET(CURLOPT_USERAGENT, "acceleval");
    if (loopback(model->base_url))
        SET(CURLOPT_PROXY, ""); /* what stays on this machine does not go through another */
    if (model->ca_file)
        SET(CURLOPT_CAINFO, model->ca_file);
#undef SET
    if (bad || curl_multi_add_handle(h->multi, t->easy) != CURLM_OK) {
        transfer_free(t);
        return ae_error_set(err, AE_E_INTERNAL, "the HTTP library refuses a request");
    }
    h->transfers[h->count++] = t;
    return AE_OK;
}

struct events {
    const struct ae_protocol *protocol;
    struct ae_reply *reply;
};

static void add_event(void *context, const char *data, size_t size)
{
    const struct events *c = context;
    if (!c->reply->error[0])
        c->protocol->event(data, size, c->reply);
}

/* What the bytes are is seen from the bytes: servers label both forms as they please. */
static enum ae_attempt_outcome read_reply(const struct http *h, struct ae_attempt *a)
{
    struct ae_error err = {0};
    const char *p = a->response ? a->response : "";
    struct ae_reply *reply = &a->reply;
    p += strspn(p, " \t\r\n");
    if (ae_text_starts(p, "data:") || ae_text_starts(p, "event:") || *p == ':' || ae_text_starts(p, "id:")) {
        struct events context = {h->protocol, reply};
        struct ae_sse sse = {0};
        const bool fine = ae_sse_feed(&sse, a->response, a->response_size, add_event, &context) &&
                          ae_sse_end(&sse, add_event, &context);
        ae_sse_release(&sse);
        if (!fine)
            reply->no_memory = true;
        if (reply->error[0]) {
            snprintf(a->detail, sizeof a->detail, "%s", reply->error);
            return AE_ATTEMPT_SERVER_ERROR;
        }
        if (!reply->ended && reply->finish == AE_FINISH_UNKNOWN) {
            snprintf(a->detail, sizeof a->detail, "the stream broke off");
            return AE_ATTEMPT_CUT;
        }
    } else if (h->protocol->whole(a->response ? a->response : "", a->response_size, reply, &err) != AE_OK) {
        ae_error_of_reply(a->response ? a->response : "", a->response_size, a->detail, sizeof a->detail);
        if (a->detail[0])
            return AE_ATTEMPT_SERVER_ERROR;
        (void)ae_utf8_printable(err.text, a->detail, sizeof a->detail, sizeof a->detail);
        return AE_ATTEMPT_MALFORMED;
    }
    if (reply->no_memory) {
        snprintf(a->detail, sizeof a->detail, "no memory for the reply");
        return AE_ATTEMPT_MALFORMED;
    }
    const bool blank = !reply->text || strspn(reply->text, " \t\r\n") == reply->size;
    if (reply->finish == AE_FINISH_REFUSED)
        return AE_ATTEMPT_REFUSED;
    if (blank && reply->finish != AE_FINISH_LENGTH) {
        snprintf(a->detail, sizeof a->detail, "the answer is empty");
        return AE_ATTEMPT_EMPTY;
    }
    if (blank) /* the limit went into reasoning: another try would cost the same and end the same */
        snprintf(a->detail, sizeof a->detail, "the limit of tokens was spent before an answer began");
    return AE_ATTEMPT_ANSWERED;
}

static enum ae_attempt_outcome judge_status(struct ae_attempt *a)
{
    char text[400];
    ae_error_of_reply(a->response ? a->response : "", a->response_size, text, sizeof text);
    snprintf(a->detail, sizeof a->detail, "HTTP status %d%s%s", a->status, text[0] ? ": " : "", text);
    if (a->status == 429) {
        a->fatal = strstr(text, "insufficient_quota") != NULL;
        return AE_ATTEMPT_RATE_LIMITED;
    }
    if (a->status >= 500 || a->status == 408 || a->status == 409 || a->status == 425)
        return AE_ATTEMPT_SERVER_ERROR;
    a->fatal = a->status == 401 || a->status == 402 || a->status == 403 || a->status == 404 ||
               (a->status >= 300 && a->status < 400);
    return AE_ATTEMPT_REJECTED;
}

static enum ae_attempt_outcome judge_failure(struct transfer *t, CURLcode code)
{
    struct ae_attempt *a = &t->attempt;
    if (t->too_large) {
        snprintf(a->detail, sizeof a->detail, "the reply is larger than %zu bytes", AE_RESPONSE_MAX);
        return AE_ATTEMPT_TOO_LARGE;
    }
    (void)ae_utf8_printable(t->problem[0] ? t->problem : curl_easy_strerror(code), a->detail, sizeof a->detail,
                            sizeof a->detail);
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return AE_ATTEMPT_TIMED_OUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        a->fatal = true;
        return AE_ATTEMPT_REJECTED;
    default:
        return AE_ATTEMPT_CUT;
    }
}

static void judge(const struct http *h, struct transfer *t, CURLcode code)
{
    struct ae_attempt *a = &t->attempt;
    long status = 0;
    curl_off_t after = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after);
    a->status = (int)status;
    a->wall_ns = ae_now_ns() - t->started_ns;
    if (after > 0 && a->retry_after_ns == 0)
        a->retry_after_ns = after < 1000000 ? (int64_t)after * AE_SEC : 1000000 * AE_SEC;
    const bool refused = status != 0 && status != 200;
    a->outcome = code != CURLE_OK && !(refused && !t->too_large) ? judge_failure(t, code)
                 : refused                                       ? judge_status(a)
                                                                 : read_reply(h, a);
    if (h->options->key) {
        ae_key_redact(h->options->key, a->response ? a->response : a->detail, a->response ? a->response_size : 0);
        ae_key_redact(h->options->key, a->detail, strlen(a->detail));
        ae_key_redact(h->options->key, a->reply.model, strlen(a->reply.model));
        if (a->reply.text)
            ae_key_redact(h->options->key, a->reply.text, a->reply.size);
    }
}

static int wait_for(struct ae_carrier *carrier, int64_t wait_ns,
                    void (*done)(void *context, size_t question, struct ae_attempt *attempt), void *context,
                    struct ae_error *err)
{
    struct http *h = (struct http *)carrier;
    int running = 0, left = 0;
    const int ms = wait_ns > AE_SEC ? 1000 : (int)((wait_ns + AE_MS - 1) / AE_MS);
    if (curl_multi_perform(h->multi, &running) != CURLM_OK ||
        curl_multi_poll(h->multi, NULL, 0, ms, NULL) != CURLM_OK || curl_multi_perform(h->multi, &running) != CURLM_OK)
        return ae_error_set(err, AE_E_INTERNAL, "the HTTP library fails");
    for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &left));) {
        if (m->msg != CURLMSG_DONE)
            continue;
        struct transfer *t = NULL;
        const CURLcode code = m->data.result;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        (void)curl_multi_remove_handle(h->multi, t->easy);
        for (size_t i = 0; i < h->count; i++)
            if (h->transfers[i] == t) {
                h->transfers[i] = h->transfers[--h->count];
                break;
            }
        judge(h, t, code);
        done(context, t->question, &t->attempt);
        transfer_free(t);
    }
    return AE_OK;
}

static void close_http(struct ae_carrier *carrier)
{
    struct http *h = (struct http *)carrier;
    for (size_t i = 0; i < h->count; i++) {
        (void)curl_multi_remove_handle(h->multi, h->transfers[i]->easy);
        transfer_free(h->transfers[i]);
    }
    for (struct curl_slist *s = h->headers; s; s = s->next)
        explicit_bzero(s->data, strlen(s->data));
    curl_slist_free_all(h->headers);
    if (h->multi)
        curl_multi_cleanup(h->multi);
    free(h->transfers);
    free(h->url);
    free(h);
    curl_global_cleanup();
}

static bool add_header(struct http *h, const char *name, const char *value)
{
    const size_t size = strlen(name) + strlen(value) + 1;
    char *text = malloc(size);
    struct curl_slist *list = NULL;
    if (text) {
        snprintf(text, size, "%s%s", name, value);
        list = curl_slist_append(h->headers, text);
        explicit_bzero(text, size);
        free(text);
    }
    if (list)
        h->headers = list;
    return list != NULL;
}

int ae_carrier_http(const struct ae_ask_options *options, struct ae_carrier **ret, struct ae_error *err)
{
    const struct ae_model *model = options->model;
    const struct ae_protocol *protocol = ae_protocol_of(model->provider);
    const char *key = options->key ? options->key->text : NULL;
    if (key && !model->insecure && ae_text_starts(model->base_url, "http://") && !loopback(model->base_url))
        return ae_error_set(err, AE_E_USAGE, "model '%s': the key would travel readable to %.200s; use https, or say "
                            "'insecure: true'", model->name, model->base_url);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return ae_error_set(err, AE_E_ENV, "the HTTP library does not start");
    struct http *h = calloc(1, sizeof *h);
    if (!h) {
        curl_global_cleanup();
        return ae_error_set(err, AE_E_NOMEM, "no memory for the HTTP library");
    }
    *h = (struct http){.carrier = {start, wait_for, close_http}, .options = options, .protocol = protocol};
    h->multi = curl_multi_init();
    const char *path = model->stream ? protocol->stream_path : protocol->path;
    char *name = curl_easy_escape(NULL, model->model, 0);
    const size_t size = strlen(model->base_url) + strlen(path) + (name ? strlen(name) : 0) + 1;
    h->url = name ? malloc(size) : NULL;
    const char *mark = strstr(path, "%s");
    if (h->url)
        snprintf(h->url, size, "%s%.*s%s%s", model->base_url, mark ? (int)(mark - path) : (int)strlen(path), path,
                 mark ? name : "", mark ? mark + 2 : "");
    curl_free(name);
    bool fine =
        h->multi && h->url && add_header(h, "Content-Type: application/json", "") && add_header(h, "Expect:", "");
    if (fine && key)
        fine = add_header(h, protocol->key_header, key);
    if (fine && protocol->version_header)
        fine = add_header(h, protocol->version_header, "");
    if (!fine) {
        close_http(&h->carrier);
        return ae_error_set(err, AE_E_NOMEM, "no memory for the HTTP library");
    }
    *ret = &h->carrier;
    return AE_OK;
}
