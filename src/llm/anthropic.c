/* Messages: POST base_url/messages. */
#include "llm/provider.h"

#include <jansson.h>
#include <string.h>

static char *body(const struct ae_model *model, const struct ae_message *messages, size_t count)
{
    json_t *list = json_array(), *json = json_object();
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_pack("{s:s, s:s}", "role",
                                                     messages[i].role == AE_MESSAGE_USER ? "user" : "assistant",
                                                     "content", messages[i].text));
    bad |= json_object_set_new(json, "model", json_string(model->model));
    bad |= json_object_set_new(json, "max_tokens", json_integer(model->max_tokens));
    bad |= json_object_set_new(json, "messages", list);
    if (model->system)
        bad |= json_object_set_new(json, "system", json_string(model->system));
    /* thinking takes no sampling parameters */
    if (model->thinking_tokens)
        bad |= json_object_set_new(json, "thinking", json_pack("{s:s, s:I}", "type", "enabled", "budget_tokens",
                                                               (json_int_t)model->thinking_tokens));
    else if (model->temperature != AE_UNSET)
        bad |= json_object_set_new(json, "temperature", json_real(model->temperature > 1 ? 1 : model->temperature));
    if (model->top_p != AE_UNSET && !model->thinking_tokens)
        bad |= json_object_set_new(json, "top_p", json_real(model->top_p));
    if (model->stream)
        bad |= json_object_set_new(json, "stream", json_true());
    char *text = bad ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static void finish(const json_t *reason, struct ae_reply *reply)
{
    const char *word = json_string_value(reason);
    if (!word)
        return;
    reply->finish = strcmp(word, "end_turn") == 0 || strcmp(word, "stop_sequence") == 0 ? AE_FINISH_STOP
                    : strcmp(word, "max_tokens") == 0                                   ? AE_FINISH_LENGTH
                    : strcmp(word, "refusal") == 0                                      ? AE_FINISH_REFUSED
                                                                                        : AE_FINISH_OTHER;
}

/* Cached input counts as input: what is cheaper about it is left to the provider's bill. */
static void usage(const json_t *counts, struct ae_reply *reply)
{
    const int64_t input = ae_json_tokens(counts, "input_tokens"), output = ae_json_tokens(counts, "output_tokens");
    const int64_t written = ae_json_tokens(counts, "cache_creation_input_tokens"),
                  read = ae_json_tokens(counts, "cache_read_input_tokens");
    if (input >= 0)
        reply->input_tokens = input + (written > 0 ? written : 0) + (read > 0 ? read : 0);
    if (output >= 0)
        reply->output_tokens = output;
}

static int whole(const char *data, size_t size, struct ae_reply *reply, struct ae_error *err)
{
    json_error_t problem;
    json_t *json = json_loadb(data, size, JSON_ALLOW_NUL, &problem);
    if (!json)
        return ae_error_set(err, AE_E_INPUT, "the reply is no JSON: %s", problem.text);
    const json_t *content = json_object_get(json, "content");
    const bool fits = json_is_array(content);
    for (size_t i = 0; fits && i < json_array_size(content); i++) {
        const json_t *part = json_array_get(content, i);
        const char *type = json_string_value(json_object_get(part, "type"));
        if (type && strcmp(type, "text") == 0)
            ae_reply_add_json(reply, json_object_get(part, "text"));
    }
    finish(json_object_get(json, "stop_reason"), reply);
    ae_reply_model(reply, json_object_get(json, "model"));
    usage(json_object_get(json, "usage"), reply);
    json_decref(json);
    reply->ended = true;
    return fits ? AE_OK : ae_error_set(err, AE_E_INPUT, "the reply holds no content");
}

static void event(const char *data, size_t size, struct ae_reply *reply)
{
    json_t *json = json_loadb(data, size, JSON_ALLOW_NUL, NULL);
    const char *type = json_string_value(json_object_get(json, "type"));
    if (!type) {
        strcpy(reply->error, "an event of the stream is no JSON object with a type");
    } else if (strcmp(type, "message_start") == 0) {
        const json_t *message = json_object_get(json, "message");
        ae_reply_model(reply, json_object_get(message, "model"));
        usage(json_object_get(message, "usage"), reply);
    } else if (strcmp(type, "content_block_delta") == 0) {
        const json_t *delta = json_object_get(json, "delta");
        const char *sort = json_string_value(json_object_get(delta, "type"));
        if (sort && strcmp(sort, "text_delta") == 0)
            ae_reply_add_json(reply, json_object_get(delta, "text"));
    } else if (strcmp(type, "message_delta") == 0) {
        finish(json_object_get(json_object_get(json, "delta"), "stop_reason"), reply);
        usage(json_object_get(json, "usage"), reply);
    } else if (strcmp(type, "message_stop") == 0) {
        reply->ended = true;
    } else if (strcmp(type, "error") == 0) {
        ae_error_of_reply(data, size, reply->error, sizeof reply->error);
        if (!reply->error[0])
            strcpy(reply->error, "the stream ended with an error");
    }
    json_decref(json);
}

const struct ae_protocol ae_protocol_anthropic = {
    .path = "/messages",
    .stream_path = "/messages",
    .key_header = "x-api-key: ",
    .version_header = "anthropic-version: 2023-06-01",
    .body = body,
    .whole = whole,
    .event = event,
};
