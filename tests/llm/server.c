#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAX 16384
#define BODY_MAX (4 << 20)

static const char *const default_answer =
    "Here it is:\n\n```cuda\nextern \"C\" void solution_compute(int n)\n{\n}\n```\n";

struct ae_server {
    struct ae_server_config config;
    SSL_CTX *tls;
    int listener, port;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t quiet;
    bool stopping;
    int connections, in_flight;
    struct ae_server_counts counts;
    struct {
        char model[64];
        int seen;
    } models[256];
    int model_count;
    char *last;
};

struct connection {
    struct ae_server *server;
    int fd;
    SSL *ssl;
    char head[HEAD_MAX + 1];
    char *body;
    size_t body_size;
    char buffered[4096]; /* read beyond what was wanted */
    size_t buffered_size;
};

static void pause_ms(int ms)
{
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static bool stopping(struct ae_server *s)
{
    pthread_mutex_lock(&s->mutex);
    const bool is = s->stopping;
    pthread_mutex_unlock(&s->mutex);
    return is;
}

/* --- bytes ------------------------------------------------------------------------------------------------- */

static ssize_t take(struct connection *c, char *to, size_t size)
{
    if (c->buffered_size) {
        const size_t n = c->buffered_size < size ? c->buffered_size : size;
        memcpy(to, c->buffered, n);
        memmove(c->buffered, c->buffered + n, c->buffered_size - n);
        c->buffered_size -= n;
        return (ssize_t)n;
    }
    if (c->ssl)
        return SSL_read(c->ssl, to, (int)size);
    for (;;) {
        struct pollfd p = {c->fd, POLLIN, 0};
        const int ready = poll(&p, 1, 100);
        if (ready > 0)
            return recv(c->fd, to, size, 0);
        if (stopping(c->server))
            return -1;
    }
}

static bool give(struct connection *c, const char *from, size_t size)
{
    while (size > 0) {
        const ssize_t n = c->ssl ? SSL_write(c->ssl, from, (int)size) : send(c->fd, from, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        from += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_request(struct connection *c)
{
    size_t used = 0;
    char *end = NULL;
    while (!end) {
        if (used == HEAD_MAX)
            return false;
        const ssize_t n = take(c, c->head + used, 1024 < HEAD_MAX - used ? 1024 : HEAD_MAX - used);
        if (n <= 0)
            return false;
        used += (size_t)n;
        c->head[used] = 0;
        end = strstr(c->head, "\r\n\r\n");
    }
    const char *length = strcasestr(c->head, "\r\ncontent-length:");
    c->body_size = length ? (size_t)strtoul(length + 17, NULL, 10) : 0;
    if (c->body_size > BODY_MAX)
        return false;
    c->body = malloc(c->body_size + 1);
    size_t have = used - (size_t)(end + 4 - c->head);
    if (have > c->body_size) {
        memcpy(c->buffered, end + 4 + c->body_size, have - c->body_size);
        c->buffered_size = have - c->body_size;
        have = c->body_size;
    }
    memcpy(c->body, end + 4, have);
    end[4] = 0;
    while (have < c->body_size) {
        const ssize_t n = take(c, c->body + have, c->body_size - have);
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    c->body[c->body_size] = 0;
    return true;
}

static bool reply(struct connection *c, int status, const char *type, const char *headers, const char *body,
                  size_t size)
{
    char head[512];
    snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n", status, type,
             size, headers);
    return give(c, head, strlen(head)) && give(c, body, size);
}

/* --- the three forms ---------------------------------------------------------------------------------------- */

enum form { OPENAI, ANTHROPIC, GEMINI };

struct said {
    const char *text, *finish; /* in OpenAI's words */
    bool reasoning;
};

static const char *finish_word(enum form form, const char *finish)
{
    static const char *const words[][3] = {{"stop", "end_turn", "STOP"},
                                           {"length", "max_tokens", "MAX_TOKENS"},
                                           {"content_filter", "refusal", "SAFETY"}};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(words[i][0], finish) == 0)
            return words[i][form];
    return finish;
}

static char *whole(enum form form, const struct said *said, int output)
{
    json_t *json = NULL;
    const char *finish = finish_word(form, said->finish);
    json_t *text = json_stringn(said->text, strlen(said->text));
    if (form == OPENAI) {
        json = json_pack("{s:s, s:[{s:i, s:{s:s, s:o}, s:s}], s:{s:i, s:i, s:{s:i}}}", "model", "the-model", "choices",
                         "index", 0, "message", "role", "assistant", "content", text, "finish_reason", finish, "usage",
                         "prompt_tokens", 100, "completion_tokens", output, "completion_tokens_details",
                         "reasoning_tokens", said->reasoning ? 30 : 0);
        if (said->reasoning)
            json_object_set_new(json_object_get(json_array_get(json_object_get(json, "choices"), 0), "message"),
                                "reasoning_content", json_string("```c\nvoid solution_compute(int wrong){}\n```"));
    } else if (form == ANTHROPIC) {
        json = json_pack("{s:s, s:[], s:s, s:{s:i, s:i, s:i}}", "model", "the-model", "content", "stop_reason", finish,
                         "usage", "input_tokens", 90, "cache_read_input_tokens", 10, "output_tokens", output);
        json_t *content = json_object_get(json, "content");
        if (said->reasoning)
            json_array_append_new(content, json_pack("{s:s, s:s}", "type", "thinking", "thinking", "wrong"));
        json_array_append_new(content, json_pack("{s:s, s:o}", "type", "text", "text", text));
    } else {
        json = json_pack("{s:s, s:[{s:{s:[]}, s:s}], s:{s:i, s:i, s:i}}", "modelVersion", "the-model", "candidates",
                         "content", "parts", "finishReason", finish, "usageMetadata", "promptTokenCount", 100,
                         "candidatesTokenCount", output - (said->reasoning ? 30 : 0), "thoughtsTokenCount",
                         said->reasoning ? 30 : 0);
        json_t *parts = json_object_get(
            json_object_get(json_array_get(json_object_get(json, "candidates"), 0), "content"), "parts");
        if (said->reasoning)
            json_array_append_new(parts, json_pack("{s:s, s:b}", "text", "wrong", "thought", 1));
        json_array_append_new(parts, json_pack("{s:o}", "text", text));
    }
    char *out = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return out;
}

static void put_event(FILE *out, const char *name, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    if (name)
        fprintf(out, "event: %s\n", name);
    fprintf(out, "data: %s\n\n", text);
    free(text);
    json_decref(json);
}

/* The same as a stream, the text in pieces of seven bytes (it is ASCII). */
static char *stream(enum form form, const struct said *said, int output)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *finish = finish_word(form, said->finish);
    fputs(": a comment keeps the connection alive\n\n", out);
    if (form == ANTHROPIC)
        put_event(out, "message_start",
                  json_pack("{s:s, s:{s:s, s:{s:i, s:i}}}", "type", "message_start", "message", "model", "the-model",
                            "usage", "input_tokens", 100, "output_tokens", 1));
    for (const char *p = said->text; *p; p += strnlen(p, 7)) {
        const int n = (int)strnlen(p, 7);
        if (form == OPENAI)
            put_event(out, NULL,
                      json_pack("{s:s, s:[{s:{s:s%}, s:n}]}", "model", "the-model", "choices", "delta", "content", p, n,
                                "finish_reason"));
        else if (form == ANTHROPIC)
            put_event(out, "content_block_delta",
                      json_pack("{s:s, s:{s:s, s:s%}}", "type", "content_block_delta", "delta", "type", "text_delta",
                                "text", p, n));
        else
            put_event(out, NULL, json_pack("{s:[{s:{s:[{s:s%}]}}]}", "candidates", "content", "parts", "text", p, n));
    }
    if (form == OPENAI) {
        put_event(out, NULL, json_pack("{s:[{s:{}, s:s}]}", "choices", "delta", "finish_reason", finish));
        put_event(out, NULL, json_pack("{s:[], s:{s:i, s:i}}", "choices", "usage", "prompt_tokens", 100,
                                       "completion_tokens", output));
        fputs("data: [DONE]\n\n", out);
    } else if (form == ANTHROPIC) {
        put_event(out, "message_delta",
                  json_pack("{s:s, s:{s:s}, s:{s:i}}", "type", "message_delta", "delta", "stop_reason", finish, "usage",
                            "output_tokens", output));
        put_event(out, "message_stop", json_pack("{s:s}", "type", "message_stop"));
    } else {
        put_event(out, NULL, json_pack("{s:[{s:{s:[]}, s:s}], s:{s:i, s:i}, s:s}", "candidates", "content", "parts",
                                       "finishReason", finish, "usageMetadata", "promptTokenCount", 100,
                                       "candidatesTokenCount", output, "modelVersion", "the-model"));
    }
    fclose(out);
    return text;
}

/* --- what happens -------------------------------------------------------------------------------------------- */

static int seen_before(struct ae_server *s, const char *model)
{
    int i = 0;
    pthread_mutex_lock(&s->mutex);
    while (i < s->model_count && strcmp(s->models[i].model, model) != 0)
        i++;
    if (i == s->model_count && i < 256) {
        snprintf(s->models[i].model, sizeof s->models[i].model, "%s", model);
        s->model_count++;
    }
    const int seen = i < 256 ? s->models[i].seen++ : 0;
    pthread_mutex_unlock(&s->mutex);
    return seen;
}

static void error_reply(struct connection *c, int status, const char *headers, const char *code, const char *message)
{
    json_t *json = json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message);
    char *text = json_dumps(json, JSON_COMPACT);
    (void)reply(c, status, "application/json", headers, text, strlen(text));
    free(text);
    json_decref(json);
}

/* False: the connection is to be closed. */
static bool serve(struct connection *c)
{
    struct ae_server *s = c->server;
    char model[64] = "normal";
    const enum form form = strstr(c->head, "/chat/completions") ? OPENAI
                           : strstr(c->head, "/models/")        ? GEMINI
                                                                : ANTHROPIC;
    bool streaming = strncmp(c->head, "POST ", 5) == 0 && strstr(c->head, ":streamGenerateContent") != NULL;
    json_t *json = json_loadb(c->body, c->body_size, 0, NULL);
    if (form == GEMINI)
        sscanf(strstr(c->head, "/models/") + 8, "%63[^:]", model);
    else if (json_is_string(json_object_get(json, "model")))
        snprintf(model, sizeof model, "%s", json_string_value(json_object_get(json, "model")));
    streaming |= json_is_true(json_object_get(json, "stream"));
    json_decref(json);
    const int seen = seen_before(s, model);
#define IS(name) (strcmp(model, name) == 0)
#define ONCE(name) (IS(name) && seen == 0)
    if (s->config.delay_ms)
        pause_ms(s->config.delay_ms);
    if (IS("flaky") && seen % 7 == 3)
        return error_reply(c, 500, "", "internal", "oops"), true;
    if (IS("flaky") && seen % 11 == 5)
        return error_reply(c, 429, "retry-after-ms: 20\r\n", "rate_limit_exceeded", "slow down"), true;
    if (IS("flaky") && seen % 13 == 7)
        return false;
    if (ONCE("rate_after"))
        return error_reply(c, 429, "Retry-After: 1\r\n", "rate_limit_exceeded", "slow down"), true;
    if (ONCE("rate_after_ms"))
        return error_reply(c, 429, "retry-after-ms: 300\r\n", "rate_limit_exceeded", "slow down"), true;
    if (IS("rate_bare") && seen < 2)
        return error_reply(c, 429, "", "rate_limit_exceeded", "slow down"), true;
    if (IS("rate_day"))
        return error_reply(c, 429, "Retry-After: 86400\r\n", "rate_limit_exceeded", "come back tomorrow"), true;
    if (IS("quota"))
        return error_reply(c, 429, "", "insufficient_quota", "no credit left"), true;
    if (IS("err500") && seen < 2)
        return error_reply(c, 500, "", "internal", "oops"), true;
    if (IS("err500_always"))
        return reply(c, 503, "text/html", "", "<html>overloaded</html>", 23);
    if (IS("bad_request"))
        return error_reply(c, 400, "", "invalid", "the prompt is too long"), true;
    if (IS("unauthorised")) {
        const char *key = strcasestr(c->head, "bearer ");
        char message[256];
        snprintf(message, sizeof message, "wrong key: %.*s", key ? (int)strcspn(key + 7, "\r") : 0, key ? key + 7 : "");
        return error_reply(c, 401, "", "invalid_api_key", message), true;
    }
    if (IS("redirect"))
        return reply(c, 302, "text/plain", "Location: http://127.0.0.1:1/elsewhere\r\n", "", 0);
    if (IS("html"))
        return reply(c, 200, "text/html", "", "<html>Please log in</html>", 26);
    if (IS("malformed") || ONCE("malformed_once"))
        return reply(c, 200, "application/json", "", "{\"choices\": [{", 14);
    if (IS("scalar"))
        return reply(c, 200, "application/json", "", "{\"choices\": 7, \"content\": 7, \"candidates\": 7}", 46);
    if (ONCE("error200"))
        return error_reply(c, 200, "", "502", "upstream is gone"), true;
    if (IS("silent") || ONCE("silent_once")) {
        for (int i = 0; i < 600 && !stopping(s); i++)
            pause_ms(50);
        return false;
    }
    if (ONCE("cut_at_once"))
        return false;
    if (IS("flood")) {
        static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
        char blank[65536];
        memset(blank, ' ', sizeof blank);
        bool open = give(c, head, sizeof head - 1);
        for (int i = 0; open && i < 2000; i++)
            open = give(c, blank, sizeof blank);
        return false;
    }
    if (IS("drip_forever")) {
        static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
        bool open = give(c, head, sizeof head - 1);
        while (open && !stopping(s)) {
            open = give(c, " ", 1);
            pause_ms(50);
        }
        return false;
    }
    struct said said = {s->config.answer ? s->config.answer : default_answer, "stop", IS("reasoning")};
    char echoed[HEAD_MAX];
    if (IS("empty") || ONCE("empty_once"))
        said.text = "";
    else if (IS("refusal"))
        said = (struct said){"I cannot help with that.", "content_filter", false};
    else if (IS("length"))
        said = (struct said){"```cuda\nextern \"C\" void solution_compute(int n)\n{ int cut", "length", false};
    else if (IS("spent"))
        said = (struct said){"", "length", true};
    else if (IS("echo_key")) {
        snprintf(echoed, sizeof echoed, "%s\n%s", said.text, c->head);
        said.text = echoed;
    }
    char *text = streaming ? stream(form, &said, 50) : whole(form, &said, 50);
    size_t size = strlen(text);
    const char *type = IS("mislabelled") ? "text/html" : streaming ? "text/event-stream" : "application/json";
    bool keep = true;
    if (ONCE("cut")) { /* half of what the head promises */
        char head[256];
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, size);
        (void)(give(c, head, strlen(head)) && give(c, text, size / 2));
        keep = false;
    } else if (ONCE("cut_stream")) { /* a clean end in the middle */
        char *middle = strstr(text + size / 2, "\n\n");
        keep = reply(c, 200, type, "", text, middle ? (size_t)(middle + 2 - text) : size / 2);
    } else if (IS("drip")) {
        char head[256];
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, size);
        keep = give(c, head, strlen(head));
        for (size_t i = 0; keep && i < size; i++) {
            keep = give(c, text + i, 1);
            pause_ms(2);
        }
    } else {
        pthread_mutex_lock(&s->mutex);
        s->counts.answered++;
        pthread_mutex_unlock(&s->mutex);
        keep = reply(c, 200, type, "", text, size);
    }
    free(text);
    return keep;
}

static void *connection_main(void *data)
{
    struct connection *c = data;
    struct ae_server *s = c->server;
    bool open = true;
    if (s->tls) {
        c->ssl = SSL_new(s->tls);
        SSL_set_fd(c->ssl, c->fd);
        open = SSL_accept(c->ssl) == 1;
    }
    while (open && read_request(c)) {
        pthread_mutex_lock(&s->mutex);
        s->counts.requests++;
        s->in_flight++;
        if (s->in_flight > s->counts.in_flight_max)
            s->counts.in_flight_max = s->in_flight;
        free(s->last);
        if (asprintf(&s->last, "%s%s", c->head, c->body) < 0)
            s->last = NULL;
        pthread_mutex_unlock(&s->mutex);
        open = serve(c);
        pthread_mutex_lock(&s->mutex);
        s->in_flight--;
        pthread_mutex_unlock(&s->mutex);
        free(c->body);
        c->body = NULL;
    }
    free(c->body);
    if (c->ssl) {
        (void)SSL_shutdown(c->ssl);
        SSL_free(c->ssl);
    }
    close(c->fd);
    free(c);
    pthread_mutex_lock(&s->mutex);
    s->connections--;
    pthread_cond_signal(&s->quiet);
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

static void *listener_main(void *data)
{
    struct ae_server *s = data;
    while (!stopping(s)) {
        struct pollfd p = {s->listener, POLLIN, 0};
        if (poll(&p, 1, 100) <= 0)
            continue;
        struct connection *c = calloc(1, sizeof *c);
        pthread_attr_t attributes;
        pthread_t thread;
        if (!c)
            continue;
        c->server = s;
        c->fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_mutex_lock(&s->mutex);
        s->connections++;
        pthread_mutex_unlock(&s->mutex);
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, 256 << 10);
        if (c->fd < 0 || pthread_create(&thread, &attributes, connection_main, c) != 0) {
            if (c->fd >= 0)
                close(c->fd);
            free(c);
            pthread_mutex_lock(&s->mutex);
            s->connections--;
            pthread_mutex_unlock(&s->mutex);
        }
        pthread_attr_destroy(&attributes);
    }
    return NULL;
}

struct ae_server *ae_server_start(const struct ae_server_config *config)
{
    struct ae_server *s = calloc(1, sizeof *s);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)config->port)};
    socklen_t length = sizeof address;
    const int one = 1;
    signal(SIGPIPE, SIG_IGN);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->config = *config;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->quiet, NULL);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool fine = s->listener >= 0 && bind(s->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(s->listener, 512) == 0 && getsockname(s->listener, (struct sockaddr *)&address, &length) == 0;
    if (fine && config->certificate) {
        s->tls = SSL_CTX_new(TLS_server_method());
        fine = s->tls && SSL_CTX_use_certificate_file(s->tls, config->certificate, SSL_FILETYPE_PEM) == 1 &&
               SSL_CTX_use_PrivateKey_file(s->tls, config->private_key, SSL_FILETYPE_PEM) == 1;
    }
    s->port = ntohs(address.sin_port);
    if (fine && pthread_create(&s->thread, NULL, listener_main, s) == 0)
        return s;
    close(s->listener);
    SSL_CTX_free(s->tls);
    free(s);
    return NULL;
}

int ae_server_port(const struct ae_server *server)
{
    return server->port;
}

struct ae_server_counts ae_server_counts(struct ae_server *s)
{
    pthread_mutex_lock(&s->mutex);
    const struct ae_server_counts counts = s->counts;
    pthread_mutex_unlock(&s->mutex);
    return counts;
}

char *ae_server_last(struct ae_server *s)
{
    pthread_mutex_lock(&s->mutex);
    char *copy = strdup(s->last ? s->last : "");
    pthread_mutex_unlock(&s->mutex);
    return copy;
}

void ae_server_stop(struct ae_server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->stopping = true;
    pthread_mutex_unlock(&s->mutex);
    pthread_join(s->thread, NULL);
    close(s->listener);
    pthread_mutex_lock(&s->mutex);
    while (s->connections > 0) /* every one looks at `stopping`, or its peer is gone */
        pthread_cond_wait(&s->quiet, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
    SSL_CTX_free(s->tls);
    free(s->last);
    free(s);
}
