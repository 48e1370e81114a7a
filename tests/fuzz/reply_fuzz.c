/* Fuzz target: replies of providers, whole and as streams; the first byte chooses. Whatever the bytes, counts stay
 * within reason and texts are texts. A stream cut into pieces anywhere says the same as in one piece. */
#include "llm/provider.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ae_protocol *protocol;

static void on_event(void *context, const char *data, size_t size)
{
    struct ae_reply *reply = context;
    if (!reply->error[0])
        protocol->event(data, size, reply);
}

static void check(const struct ae_reply *r)
{
    if (r->input_tokens < -1 || r->output_tokens < -1 || r->reasoning_tokens < -1 || r->input_tokens > 3000000000 ||
        r->output_tokens > 3000000000 || (unsigned)r->finish >= AE_FINISH_COUNT ||
        strnlen(r->error, sizeof r->error) == sizeof r->error ||
        strnlen(r->model, sizeof r->model) == sizeof r->model || (r->text && r->text[r->size] != 0) ||
        (!r->text && r->size))
        abort();
}

static void feed(const char *data, size_t size, size_t piece, struct ae_reply *reply)
{
    struct ae_sse sse = {0};
    ae_reply_init(reply);
    for (size_t at = 0; at < size; at += piece)
        if (!ae_sse_feed(&sse, data + at, piece < size - at ? piece : size - at, on_event, reply))
            abort();
    if (!ae_sse_end(&sse, on_event, reply))
        abort();
    ae_sse_release(&sse);
    check(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    struct ae_error err = {0};
    struct ae_reply a, b;
    char sentence[64];
    size--;
    protocol = ae_protocol_of((enum ae_provider_kind)(data[0] % 3));
    ae_reply_init(&a);
    const int rc = protocol->whole(text, size, &a, &err);
    if (rc != AE_OK && (rc != AE_E_INPUT || !err.text[0]))
        abort();
    check(&a);
    ae_reply_release(&a);
    feed(text, size, size ? size : 1, &a);
    feed(text, size, 1 + data[0] / 3, &b);
    if (a.size != b.size || a.finish != b.finish || a.input_tokens != b.input_tokens || strcmp(a.error, b.error) != 0 ||
        (a.size && memcmp(a.text, b.text, a.size) != 0))
        abort();
    ae_reply_release(&a);
    ae_reply_release(&b);
    ae_error_of_reply(text, size, sentence, sizeof sentence);
    if (strnlen(sentence, sizeof sentence) == sizeof sentence)
        abort();
    return 0;
}
