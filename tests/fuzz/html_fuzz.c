/* Fuzz target: the escaping of HTML reports. Whatever the bytes, what comes out is valid UTF-8 without markup,
 * quotes or characters that deceive, every '&' begins one of five references, and plain text comes back as it was.
 * A source whose lines are marked is the same text, with elements of ours in between and nothing else.
 */
#include "base/utf8.h"
#include "report/html.h"
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

/* The bytes are the source, the sentences and the lines that they are found at. */
static void check_marks(const uint8_t *data, size_t size, const char *plain)
{
    static const struct ae_report_strategy strategies[] = {{"M03", "tiling", ""}, {"<H01>", "\"transfers\"", ""}};
    static const char begin[] = "<span class=\"found\" data-ids=\"", end[] = "</span>";
    const struct ae_report_search search = {.strategies = strategies, .count = 2};
    struct ae_report_finding findings[3] = {0};
    const struct ae_report_program program = {.looked = true, .findings = findings, .finding_count = 3};
    char *text = NULL;
    size_t length = 0, depth = 0;
    for (size_t i = 0, k = 0; i < 3; i++) {
        findings[i].strategy = (int)(i % 2);
        snprintf(findings[i].sentence, sizeof findings[i].sentence, "%.*s", (int)(size < 200 ? size : 200), (const char *)data);
        for (; findings[i].line_count < 4 && k + 1 < size; k += 2)
            findings[i].lines[findings[i].line_count++] =
                (struct ae_report_lines){data[k] % 16 - 1, data[k] % 16 - 1 + (int8_t)data[k + 1] % 8};
    }
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    ae_html_source((const char *)data, size, &program, &search, out);
    fclose(out);
    for (const char *at = text; *at;) {
        if (strncmp(at, end, sizeof end - 1) == 0) {
            if (depth-- != 1)
                abort();
            at += sizeof end - 1;
        } else if (*at == '<') {
            if (strncmp(at, begin, sizeof begin - 1) != 0 || depth++ != 0)
                abort();
            at += sizeof begin - 1;
            at += strcspn(at, "\"<>"); /* two values without quotes or markup */
            if (strncmp(at, "\" title=\"", 9) != 0)
                abort();
            at += 9;
            at += strcspn(at, "\"<>");
            if (strncmp(at, "\">", 2) != 0)
                abort();
            at += 2;
        } else if (*at++ != *plain++) {
            abort();
        }
    }
    if (*plain || depth != 0)
        abort();
    free(text);
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
    check_marks(data, size, text);
    free(text);
    return 0;
}
