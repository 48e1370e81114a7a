#include "store/archive_reading.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "store/generation.h"
#include "store/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 16 /* of a program that one finding names */

static const char *const settled[] = {"valid", "invalid", "refused", "empty"};
static const char *const presences[] = {"present", "absent", "unknown"};

static bool one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

bool ae_archive_reading_travels(const struct ae_stored_reading *reading)
{
    return one_of(reading->state, settled, sizeof settled / sizeof *settled);
}

/* --- writing ----------------------------------------------------------------------------------------------- */

/* NULL: no memory. */
static json_t *bytes_of(const char *bytes, size_t size)
{
    json_t *text = json_stringn(bytes, size); /* NULL: no UTF-8 */
    if (text)
        return json_pack("{s:o}", "text", text);
    char *base64 = ae_base64_encode(bytes, size);
    json_t *ret = json_pack("{s:s}", "base64", base64);
    free(base64);
    return ret;
}

static json_t *lines_of(const char *text)
{
    json_t *ret = json_array();
    int first, last, length;
    while (sscanf(text, "%9d-%9d%n", &first, &last, &length) == 2) {
        (void)json_array_append_new(ret, json_pack("[i, i]", first, last));
        text += length;
        text += *text == ',';
    }
    return ret;
}

static json_t *reading_of(const struct ae_stored_reading *r)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct ae_read_finding *f = &r->findings[i];
        (void)json_array_append_new(findings,
                                    json_pack("[o, o, f, o, o]", ae_json_text(f->strategy), ae_json_text(f->presence),
                                              f->confidence, ae_json_text(f->sentence), lines_of(f->lines)));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "task",
                     ae_json_text(r->task), "model", ae_json_text(r->model), "parameters", ae_json_text(r->parameters),
                     "prompt", ae_json_text(r->prompt), "told", (int)r->told, "created_ns", (json_int_t)r->created_ns,
                     "state", ae_json_text(r->state), "detail", ae_json_text(r->detail), "answered_by",
                     ae_json_text(r->answered_by), "answer",
                     r->answer ? bytes_of(r->answer, r->answer_size) : json_null(), "input_tokens",
                     (json_int_t)r->input_tokens, "output_tokens", (json_int_t)r->output_tokens, "cost",
                     r->cost >= 0 ? json_real(r->cost) : json_null(), "findings", findings);
}

struct collecting {
    struct ae_store *store;
    json_t *readings, *prompts;
    json_t *seen; /* digests of the prompts */
    struct ae_error *err;
};

static int collect(void *data, const struct ae_stored_reading *r)
{
    struct collecting *c = data;
    ae_autofree char *text = NULL;
    if (!ae_archive_reading_travels(r))
        return AE_OK;
    int rc = json_array_append_new(c->readings, reading_of(r));
    if (rc == 0 && !json_object_get(c->seen, r->prompt)) {
        const int got = ae_store_prompt_get(c->store, r->prompt, &text, c->err);
        if (got != AE_OK)
            return got;
        rc = json_object_set_new(c->seen, r->prompt, json_true());
        if (rc == 0)
            rc = json_array_append_new(c->prompts, bytes_of(text, strlen(text)));
    }
    return rc == 0 ? AE_OK
                   : ae_error_set(c->err, AE_E_NOMEM, "no memory for the readings of a program");
}

int ae_archive_readings_put(struct ae_store *store, const char *submission, json_t *line,
                            size_t *ret_count, struct ae_error *err)
{
    const struct ae_reading_filter filter = {.submission = submission};
    struct collecting c = {.store = store,
                           .readings = json_array(),
                           .prompts = json_array(),
                           .seen = json_object(),
                           .err = err};
    int rc = c.readings && c.prompts && c.seen
                 ? ae_store_readings(store, &filter, collect, &c, err)
                 : ae_error_set(err, AE_E_NOMEM, "no memory for the readings of a program");
    *ret_count = json_array_size(c.readings);
    if (rc == AE_OK && *ret_count > 0 &&
        (json_object_set(line, "prompts", c.prompts) != 0 ||
         json_object_set(line, "readings", c.readings) != 0))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for the readings of a program");
    json_decref(c.readings);
    json_decref(c.prompts);
    json_decref(c.seen);
    return rc;
}

/* --- reading ----------------------------------------------------------------------------------------------- */

/* *ret_decoded is to be freed. NULL: it is none. */
static const char *bytes_in(const json_t *value, size_t *ret_size, char **ret_decoded)
{
    const json_t *text = json_object_get(value, "text"), *base64 = json_object_get(value, "base64");
    if (json_is_string(text)) {
        *ret_size = json_string_length(text);
        return json_string_value(text);
    }
    return json_is_string(base64)
               ? *ret_decoded = ae_base64_decode(json_string_value(base64), ret_size)
               : NULL;
}

static bool read_lines(const json_t *lines, char *text, size_t size)
{
    size_t used = 0;
    if (!json_is_array(lines) || json_array_size(lines) > PARTS_MAX)
        return false;
    text[0] = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        int first, last;
        if (json_unpack(json_array_get(lines, i), "[i, i!]", &first, &last) != 0 || first < 1 ||
            last < first || last > 999999999)
            return false;
        used += (size_t)snprintf(text + used, size - used, "%s%d-%d", i ? "," : "", first, last);
        if (used >= size)
            return false;
    }
    return true;
}

static bool read_finding(const json_t *line, struct ae_read_finding *ret)
{
    const char *strategy, *presence, *sentence;
    const json_t *lines;
    if (json_unpack((json_t *)line, "[s, s, F, s, o!]", &strategy, &presence, &ret->confidence,
                    &sentence, &lines) != 0 ||
        !*strategy || strlen(strategy) >= sizeof ret->strategy || !one_of(presence, presences, 3) ||
        !(ret->confidence >= 0 && ret->confidence <= 1) || strlen(sentence) >= sizeof ret->sentence)
        return false;
    snprintf(ret->strategy, sizeof ret->strategy, "%s", strategy);
    snprintf(ret->presence, sizeof ret->presence, "%s", presence);
    snprintf(ret->sentence, sizeof ret->sentence, "%s", sentence);
    return read_lines(lines, ret->lines, sizeof ret->lines);
}

static bool read_findings(const json_t *list, struct ae_read_finding *findings)
{
    if (!json_is_array(list) || json_array_size(list) > AE_READ_FINDINGS_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!read_finding(json_array_get(list, i), &findings[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(findings[k].strategy, findings[i].strategy) == 0)
                return false;
    }
    return true;
}

static bool is_name(const char *text, size_t room)
{
    return strlen(text) < room &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
               0;
}

static int read_reading(struct ae_store *store, const char *submission, const json_t *line,
                        size_t *added, bool *ret_none, struct ae_error *err)
{
    struct ae_read_finding findings[AE_READ_FINDINGS_MAX];
    struct ae_stored_reading r = {.submission = submission, .findings = findings, .cost = -1};
    const json_t *answer, *cost, *list;
    ae_autofree char *decoded = NULL;
    json_int_t created, tokens[2];
    int told;
    bool known = false;
    *ret_none =
        json_unpack((json_t *)line,
                    "{s:s, s:s, s:s, s:s, s:b, s:I, s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:o}",
                    "task", &r.task, "model", &r.model, "parameters", &r.parameters, "prompt",
                    &r.prompt, "told", &told, "created_ns", &created, "state", &r.state, "detail",
                    &r.detail, "answered_by", &r.answered_by, "answer", &answer, "input_tokens",
                    &tokens[0], "output_tokens", &tokens[1], "cost", &cost, "findings",
                    &list) != 0 ||
        !is_name(r.task, 64) || !*r.model || !ae_archive_reading_travels(&r) || tokens[0] < -1 ||
        tokens[1] < -1 || !read_findings(list, findings) ||
        (json_array_size(list) > 0 && strcmp(r.state, "valid") != 0);
    if (*ret_none)
        return AE_OK;
    if (!json_is_null(cost))
        r.cost = json_number_value(cost);
    if (!json_is_null(answer))
        r.answer = bytes_in(answer, &r.answer_size, &decoded);
    *ret_none = (!json_is_null(answer) && !r.answer) ||
                (!json_is_null(cost) && !json_is_number(cost)) || !isfinite(r.cost) ||
                (!json_is_null(cost) && r.cost < 0);
    if (*ret_none)
        return AE_OK;
    r.told = told != 0;
    r.created_ns = created;
    r.input_tokens = tokens[0];
    r.output_tokens = tokens[1];
    r.finding_count = json_array_size(list);
    const int rc = ae_store_reading_insert(store, &r, &known, err);
    *added += rc == AE_OK && !known;
    *ret_none = rc == AE_E_USAGE; /* its prompt is not among the line's */
    return rc == AE_E_USAGE ? AE_OK : rc;
}

int ae_archive_readings_read(struct ae_store *store, const char *submission, const json_t *line,
                             size_t *added, const char **ret_complaint, struct ae_error *err)
{
    const json_t *prompts = json_object_get(line, "prompts"),
                 *readings = json_object_get(line, "readings");
    int rc = AE_OK;
    *ret_complaint = NULL;
    if (!prompts && !readings)
        return AE_OK;
    if (!json_is_array(prompts) || !json_is_array(readings)) {
        *ret_complaint = "a submission has readings or prompts that are no list";
        return AE_OK;
    }
    for (size_t i = 0; rc == AE_OK && i < json_array_size(prompts); i++) {
        ae_autofree char *decoded = NULL;
        char hash[AE_SHA256_HEX];
        size_t size;
        const char *text = bytes_in(json_array_get(prompts, i), &size, &decoded);
        if (!text || memchr(text, 0, size)) {
            *ret_complaint = "a prompt is none";
            return AE_OK;
        }
        rc = ae_sha256(text, size, hash, err);
        if (rc == AE_OK)
            rc = ae_store_prompt_put(store, hash, text, err);
    }
    for (size_t i = 0; rc == AE_OK && !*ret_complaint && i < json_array_size(readings); i++) {
        bool none = false;
        rc = read_reading(store, submission, json_array_get(readings, i), added, &none, err);
        if (none)
            *ret_complaint = "a reading is none, or lacks its prompt";
    }
    return rc;
}
