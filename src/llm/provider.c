#include "llm/provider.h"

#include "base/utf8.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX INT64_C(1000000000) /* more than that in one reply is no count */

const char *ae_finish_name(enum ae_finish finish)
{
    static const char *const names[AE_FINISH_COUNT] = {"stop", "length", "refused", "other", "unknown"};
    return (unsigned)finish < AE_FINISH_COUNT ? names[finish] : "?";
}

void ae_reply_init(struct ae_reply *reply)
{
    *reply = (struct ae_reply){
        .finish = AE_FINISH_UNKNOWN, .input_tokens = -1, .output_tokens = -1, .reasoning_tokens = -1};
}

void ae_reply_release(struct ae_reply *reply)
{
    free(reply->text);
    reply->text = NULL;
}

static bool append(char **text, size_t *size, size_t *room, const char *more, size_t count)
{
    if (*size + count + 1 > *room) {
        size_t wanted = *room ? *room : 256;
        while (wanted < *size + count + 1)
            wanted *= 2;
        char *grown = realloc(*text, wanted);
        if (!grown)
            return false;
        *text = grown;
        *room = wanted;
    }
    if (count)
        memcpy(*text + *size, more, count);
    *size += count;
    (*text)[*size] = 0;
    return true;
}

void ae_reply_add(struct ae_reply *reply, const char *text, size_t size)
{
    if (size && !append(&reply->text, &reply->size, &reply->room, text, size))
        reply->no_memory = true;
}

void ae_reply_add_json(struct ae_reply *reply, const struct json_t *string)
{
    if (json_is_string(string))
        ae_reply_add(reply, json_string_value(string), json_string_length(string));
}

int64_t ae_json_tokens(const struct json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
    return n >= 0 && n <= TOKENS_MAX ? (int64_t)n : -1;
}

void ae_reply_model(struct ae_reply *reply, const struct json_t *string)
{
    if (json_is_string(string))
        (void)ae_utf8_printable(json_string_value(string), reply->model, sizeof reply->model, sizeof reply->model);
}

/* --- server-sent events (WHATWG HTML, 9.2.6) -------------------------------------------------------------- */

void ae_sse_release(struct ae_sse *sse)
{
    free(sse->line);
    free(sse->data);
    *sse = (struct ae_sse){0};
}

static void end_event(struct ae_sse *sse, void (*event)(void *context, const char *data, size_t size), void *context)
{
    if (sse->data_size)
        event(context, sse->data, sse->data_size - 1); /* without the last line's end */
    sse->data_size = 0;
}

static void end_line(struct ae_sse *sse, void (*event)(void *context, const char *data, size_t size), void *context)
{
    const char *line = sse->line;
    size_t size = sse->size;
    if (size && line[size - 1] == '\r')
        size--;
    if (size == 0) {
        end_event(sse, event, context);
    } else if (size >= 5 && memcmp(line, "data:", 5) == 0) {
        const size_t skip = size > 5 && line[5] == ' ' ? 6 : 5;
        if (!append(&sse->data, &sse->data_size, &sse->data_room, line + skip, size - skip) ||
            !append(&sse->data, &sse->data_size, &sse->data_room, "\n", 1))
            sse->no_memory = true;
    } /* event names, ids, comments: every protocol says in its data what it is */
    sse->size = 0;
}

bool ae_sse_feed(struct ae_sse *sse, const char *bytes, size_t size,
                 void (*event)(void *context, const char *data, size_t size), void *context)
{
    while (size > 0 && !sse->no_memory) {
        const char *newline = memchr(bytes, '\n', size);
        const size_t count = newline ? (size_t)(newline - bytes) : size;
        if (!append(&sse->line, &sse->size, &sse->room, bytes, count))
            sse->no_memory = true;
        else if (newline)
            end_line(sse, event, context);
        bytes += count + (newline != NULL);
        size -= count + (newline != NULL);
    }
    return !sse->no_memory;
}

bool ae_sse_end(struct ae_sse *sse, void (*event)(void *context, const char *data, size_t size), void *context)
{
    if (sse->size)
        end_line(sse, event, context);
    end_event(sse, event, context);
    return !sse->no_memory;
}

/* --- errors ----------------------------------------------------------------------------------------------- */

void ae_error_of_reply(const char *data, size_t size, char *ret, size_t room)
{
    ret[0] = 0;
    json_t *json = json_loadb(data, size, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *outer = json_is_array(json) ? json_array_get(json, 0) : json; /* Gemini's streams wrap it */
    const json_t *error = json_object_get(outer, "error");
    const json_t *message = json_object_get(json_is_object(error) ? error : outer, "message");
    if (json_is_string(error) && !message)
        message = error;
    const json_t *code = json_object_get(error, "code");
    if (json_is_string(message)) {
        char text[512];
        snprintf(text, sizeof text, "%s%s%.400s", json_is_string(code) ? json_string_value(code) : "",
                 json_is_string(code) ? ": " : "", json_string_value(message));
        (void)ae_utf8_printable(text, ret, room, room);
    }
    json_decref(json);
}

const struct ae_protocol *ae_protocol_of(enum ae_provider_kind kind)
{
    static const struct ae_protocol *const protocols[AE_PROVIDER_COUNT] = {
        [AE_PROVIDER_OPENAI] = &ae_protocol_openai,
        [AE_PROVIDER_ANTHROPIC] = &ae_protocol_anthropic,
        [AE_PROVIDER_GEMINI] = &ae_protocol_gemini,
    };
    return (unsigned)kind < AE_PROVIDER_COUNT ? protocols[kind] : NULL;
}
