/* Google Gemini: POST base_url/models/MODEL:generateContent. */
#include "llm/provider.h"

#include <jansson.h>
#include <string.h>

static json_t *text_part(const char *text)
{
    return json_pack("[{s:s}]", "text", text);
}

static char *body(const struct ae_model *model, const struct ae_message *messages, size_t count)
{
    json_t *list = json_array(), *json = json_object(), *config = json_object();
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_pack("{s:s, s:o}", "role",
                                                     messages[i].role == AE_MESSAGE_USER ? "user" : "model", "parts",
                                                     text_part(messages[i].text)));
    bad |= json_object_set_new(json, "contents", list);
    if (model->system)
        bad |= json_object_set_new(json, "systemInstruction", json_pack("{s:o}", "parts", text_part(model->system)));
    bad |= json_object_set_new(config, "maxOutputTokens", json_integer(model->max_tokens));
    if (model->temperature != AE_UNSET)
        bad |= json_object_set_new(config, "temperature", json_real(model->temperature));
    if (model->top_p != AE_UNSET)
        bad |= json_object_set_new(config, "topP", json_real(model->top_p));
    if (model->thinking_tokens)
        bad |= json_object_set_new(config, "thinkingConfig",
                                   json_pack("{s:I}", "thinkingBudget", (json_int_t)model->thinking_tokens));
    bad |= json_object_set_new(json, "generationConfig", config);
    char *text = bad ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static void finish(const json_t *reason, struct ae_reply *reply)
{
    static const char *const refused[] = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"};
    const char *word = json_string_value(reason);
    if (!word)
        return;
    reply->finish = strcmp(word, "STOP") == 0         ? AE_FINISH_STOP
                    : strcmp(word, "MAX_TOKENS") == 0 ? AE_FINISH_LENGTH
                                                      : AE_FINISH_OTHER;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(word, refused[i]) == 0)
            reply->finish = AE_FINISH_REFUSED;
}

static bool read_candidate(const json_t *json, struct ae_reply *reply)
{
    const json_t *candidate = json_array_get(json_object_get(json, "candidates"), 0);
    const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
    for (size_t i = 0; json_is_array(parts) && i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        if (!json_is_true(json_object_get(part, "thought")))
            ae_reply_add_json(reply, json_object_get(part, "text"));
    }
    finish(json_object_get(candidate, "finishReason"), reply);
    const json_t *blocked = json_object_get(json_object_get(json, "promptFeedback"), "blockReason");
    if (json_is_string(blocked))
        reply->finish = AE_FINISH_REFUSED;
    ae_reply_model(reply, json_object_get(json, "modelVersion"));
    const json_t *counts = json_object_get(json, "usageMetadata");
    if (json_is_object(counts)) {
        const int64_t said = ae_json_tokens(counts, "candidatesTokenCount"),
                      thought = ae_json_tokens(counts, "thoughtsTokenCount");
        reply->input_tokens = ae_json_tokens(counts, "promptTokenCount");
        reply->reasoning_tokens = thought;
        if (said >= 0 || thought >= 0)
            reply->output_tokens = (said > 0 ? said : 0) + (thought > 0 ? thought : 0);
    }
    return candidate != NULL || json_is_string(blocked);
}

static int whole(const char *data, size_t size, struct ae_reply *reply, struct ae_error *err)
{
    json_error_t problem;
    json_t *json = json_loadb(data, size, JSON_ALLOW_NUL, &problem);
    if (!json)
        return ae_error_set(err, AE_E_INPUT, "the reply is no JSON: %s", problem.text);
    const bool fits = json_is_object(json) && read_candidate(json, reply);
    json_decref(json);
    reply->ended = true;
    return fits ? AE_OK : ae_error_set(err, AE_E_INPUT, "the reply holds no candidates");
}

static void event(const char *data, size_t size, struct ae_reply *reply)
{
    json_t *json = json_loadb(data, size, JSON_ALLOW_NUL, NULL);
    if (!json)
        strcpy(reply->error, "an event of the stream is no JSON");
    else if (json_object_get(json, "error"))
        ae_error_of_reply(data, size, reply->error, sizeof reply->error);
    else
        (void)read_candidate(json, reply);
    json_decref(json);
    reply->ended |= reply->finish != AE_FINISH_UNKNOWN; /* the last event carries the reason; there is no other sign */
}

const struct ae_protocol ae_protocol_gemini = {
    .path = "/models/%s:generateContent",
    .stream_path = "/models/%s:streamGenerateContent?alt=sse",
    .key_header = "x-goog-api-key: ",
    .body = body,
    .whole = whole,
    .event = event,
};
