/* Chat completions: POST base_url/chat/completions. */
#include "llm/provider.h"

#include <jansson.h>
#include <string.h>

static char *body(const struct ae_model *model, const struct ae_message *messages, size_t count)
{
    json_t *list = json_array(), *json = json_object();
    int bad = 0;
    if (model->system)
        bad |= json_array_append_new(list, json_pack("{s:s, s:s}", "role", "system", "content", model->system));
    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_pack("{s:s, s:s}", "role",
                                                     messages[i].role == AE_MESSAGE_USER ? "user" : "assistant",
                                                     "content", messages[i].text));
    bad |= json_object_set_new(json, "model", json_string(model->model));
    bad |= json_object_set_new(json, "messages", list);
    bad |= json_object_set_new(json, model->max_tokens_field, json_integer(model->max_tokens));
    if (model->temperature != AE_UNSET)
        bad |= json_object_set_new(json, "temperature", json_real(model->temperature));
    if (model->top_p != AE_UNSET)
        bad |= json_object_set_new(json, "top_p", json_real(model->top_p));
    if (model->effort)
        bad |= json_object_set_new(json, "reasoning_effort", json_string(model->effort));
    if (model->stream) {
        bad |= json_object_set_new(json, "stream", json_true());
        bad |= json_object_set_new(json, "stream_options", json_pack("{s:b}", "include_usage", 1));
    }
    char *text = bad ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static enum ae_finish finish_of(const json_t *reason)
{
    const char *word = json_string_value(reason);
    if (!word)
        return AE_FINISH_UNKNOWN;
    if (strcmp(word, "stop") == 0)
        return AE_FINISH_STOP;
    if (strcmp(word, "length") == 0)
        return AE_FINISH_LENGTH;
    return strcmp(word, "content_filter") == 0 ? AE_FINISH_REFUSED : AE_FINISH_OTHER;
}

static void usage(const json_t *json, struct ae_reply *reply)
{
    const json_t *counts = json_object_get(json, "usage");
    if (!json_is_object(counts))
        return;
    reply->input_tokens = ae_json_tokens(counts, "prompt_tokens");
    reply->output_tokens = ae_json_tokens(counts, "completion_tokens");
    reply->reasoning_tokens = ae_json_tokens(json_object_get(counts, "completion_tokens_details"), "reasoning_tokens");
}

/* Content is a text, or a list of parts. */
static void content(const json_t *value, struct ae_reply *reply)
{
    ae_reply_add_json(reply, value);
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        ae_reply_add_json(reply, json_object_get(json_array_get(value, i), "text"));
}

static void message(const json_t *value, struct ae_reply *reply)
{
    content(json_object_get(value, "content"), reply);
    const json_t *refusal = json_object_get(value, "refusal");
    if (json_is_string(refusal) && json_string_length(refusal) > 0) {
        ae_reply_add_json(reply, refusal);
        reply->finish = AE_FINISH_REFUSED;
    }
}

static void choice(const json_t *json, const char *member, struct ae_reply *reply)
{
    const json_t *first = json_array_get(json_object_get(json, "choices"), 0);
    const json_t *reason = json_object_get(first, "finish_reason");
    if (json_is_string(reason) && reply->finish != AE_FINISH_REFUSED)
        reply->finish = finish_of(reason);
    message(json_object_get(first, member), reply);
    ae_reply_model(reply, json_object_get(json, "model"));
    usage(json, reply);
}

static int whole(const char *data, size_t size, struct ae_reply *reply, struct ae_error *err)
{
    json_error_t problem;
    json_t *json = json_loadb(data, size, JSON_ALLOW_NUL, &problem);
    if (!json)
        return ae_error_set(err, AE_E_INPUT, "the reply is no JSON: %s", problem.text);
    const bool fits = json_is_object(json_object_get(json_array_get(json_object_get(json, "choices"), 0), "message"));
    if (fits)
        choice(json, "message", reply);
    json_decref(json);
    reply->ended = true;
    return fits ? AE_OK : ae_error_set(err, AE_E_INPUT, "the reply holds no choices[0].message");
}

static void event(const char *data, size_t size, struct ae_reply *reply)
{
    if (size == 6 && memcmp(data, "[DONE]", 6) == 0) {
        reply->ended = true;
        return;
    }
    json_t *json = json_loadb(data, size, JSON_ALLOW_NUL, NULL);
    if (!json)
        strcpy(reply->error, "an event of the stream is no JSON");
    else if (json_object_get(json, "error"))
        ae_error_of_reply(data, size, reply->error, sizeof reply->error);
    else
        choice(json, "delta", reply);
    json_decref(json);
}

const struct ae_protocol ae_protocol_openai = {
    .path = "/chat/completions",
    .stream_path = "/chat/completions",
    .key_header = "Authorization: Bearer ",
    .body = body,
    .whole = whole,
    .event = event,
};
