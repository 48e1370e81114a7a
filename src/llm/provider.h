/* The three protocols: what a request looks like and how a reply is read, whole or as a stream of events. No network
 * here, and nothing is trusted in what comes back. */
#ifndef AE_LLM_PROVIDER_H
#define AE_LLM_PROVIDER_H

#include "llm/model.h"

enum ae_role_of_message {
    AE_MESSAGE_USER,
    AE_MESSAGE_ASSISTANT,
};

struct ae_message {
    enum ae_role_of_message role;
    char *text;
};

enum ae_finish {
    AE_FINISH_STOP,    /* said all it wanted to say */
    AE_FINISH_LENGTH,  /* cut at a limit of tokens */
    AE_FINISH_REFUSED, /* by the model or a filter */
    AE_FINISH_OTHER,
    AE_FINISH_UNKNOWN, /* the reply does not say */
    AE_FINISH_COUNT
};

const char *ae_finish_name(enum ae_finish finish); /* "stop", "length", "refused", "other", "unknown" */

/* A reply as far as it has been read. */
struct ae_reply {
    char *text; /* what the model said, reasoning left out; size bytes and a NUL; NULL: nothing */
    size_t size, room;
    enum ae_finish finish;
    int64_t input_tokens, output_tokens; /* reasoning included in output; -1: not said */
    int64_t reasoning_tokens;            /* -1: not said */
    char model[128];                     /* that answered, in the provider's words */
    bool ended;                          /* streams: the end was announced */
    char error[256];                     /* an error in the stream or in place of an answer */
    bool no_memory;
};

void ae_reply_init(struct ae_reply *reply);
void ae_reply_release(struct ae_reply *reply);

/* A stream of server-sent events, cut anywhere. */
struct ae_sse {
    char *line; /* not yet ended */
    size_t size, room;
    char *data; /* of the event so far */
    size_t data_size, data_room;
    bool no_memory;
};

void ae_sse_release(struct ae_sse *sse);
/* Calls event for the data of every event that ended. False: no memory. */
bool ae_sse_feed(struct ae_sse *sse, const char *bytes, size_t size,
                 void (*event)(void *context, const char *data, size_t size), void *context);
/* The end of the stream ends a last event, blank line or not. */
bool ae_sse_end(struct ae_sse *sse, void (*event)(void *context, const char *data, size_t size), void *context);

struct ae_protocol {
    /* Appended to base_url; %s is the model. */
    const char *path, *stream_path;
    const char *key_header;     /* "Authorization: Bearer " */
    const char *version_header; /* NULL: none */
    /* The body as JSON text, freed by the caller; NULL: no memory, or text that is no UTF-8. */
    char *(*body)(const struct ae_model *model, const struct ae_message *messages, size_t count);
    /* A whole reply; fills what it finds. AE_E_INPUT where it is no such reply. */
    int (*whole)(const char *data, size_t size, struct ae_reply *reply, struct ae_error *err);
    /* One event of a stream. */
    void (*event)(const char *data, size_t size, struct ae_reply *reply);
};

/* NULL for AE_PROVIDER_COMMAND. */
const struct ae_protocol *ae_protocol_of(enum ae_provider_kind kind);

/* The server's sentence in an error reply, whatever its shape; "" where there is none. Printable. */
void ae_error_of_reply(const char *data, size_t size, char *ret, size_t room);

/* For the files of protocols. */
void ae_reply_add(struct ae_reply *reply, const char *text, size_t size);
struct json_t;
void ae_reply_add_json(struct ae_reply *reply, const struct json_t *string); /* NULL or no string: nothing */
int64_t ae_json_tokens(const struct json_t *object, const char *name); /* -1: none, or absurd */
void ae_reply_model(struct ae_reply *reply, const struct json_t *string);
extern const struct ae_protocol ae_protocol_openai, ae_protocol_anthropic, ae_protocol_gemini;

#endif
