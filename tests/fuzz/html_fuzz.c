/* Fuzz target: the escaping of HTML reports. Whatever the bytes, what comes out is valid UTF-8 without markup,
 * quotes or characters that deceive, every '&' begins one of five references, and plain text comes back as it was.
 */
#include "base/utf8.h"
#include "report/html_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The character that a reference at text stands for, with its length. */
static char reference_at(const char *text, size_t *ret_length)
{
    static const struct {
        const char *reference;
        char character;
    } all[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(text, all[i].reference, strlen(all[i].reference)) == 0) {
            *ret_length = strlen(all[i].reference);
            return all[i].character;
        }
    abort();
}

static int is_plain(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] != '\n' && data[i] != '\t' && (data[i] < ' ' || data[i] > '~'))
            return 0;
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return 0;
    ae_html_text((const char *)data, size, out);
    fclose(out);
    if (strlen(text) != length || !ae_utf8_valid(text))
        abort();
    char *back = malloc(length + 1);
    size_t used = 0;
    for (size_t i = 0; back && i < length;) {
        uint32_t character;
        const size_t n = ae_utf8_decode(text + i, &character);
        if (text[i] == '<' || text[i] == '>' || text[i] == '"' || text[i] == '\'')
            abort();
        if (character != '\n' && character != '\t' && ae_utf8_harmful(character))
            abort();
        if (text[i] == '&') {
            size_t skip;
            back[used++] = reference_at(text + i, &skip);
            i += skip;
            continue;
        }
        memcpy(back + used, text + i, n);
        used += n;
        i += n;
    }
    if (back && is_plain(data, size) && (used != size || memcmp(back, data, size) != 0))
        abort();
    free(back);
    free(text);
    return 0;
}
