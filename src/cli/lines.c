#include "cli/lines.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

ssize_t ae_line_read(FILE *in, char **text, size_t *room, bool *ret_long)
{
    size_t used = 0;
    int c;
    *ret_long = false;
    while ((c = getc_unlocked(in)) != EOF) {
        if (used == *room && used < AE_LINE_MAX) {
            const size_t more = *room ? 2 * *room : 4096;
            char *grown = realloc(*text, more);
            if (!grown)
                return AE_E_NOMEM;
            *text = grown;
            *room = more;
        }
        if (used < AE_LINE_MAX)
            (*text)[used++] = (char)c;
        else if (c != '\n')
            *ret_long = true;
        if (c == '\n')
            break;
    }
    return ferror(in) ? 0 : (ssize_t)used;
}

static int find_kind(const char *language, enum ae_build_kind *ret, struct ae_error *err)
{
    static const struct {
        const char *name;
        enum ae_build_kind kind;
    } languages[] = {{"cuda", AE_BUILD_CUDA}, {"c", AE_BUILD_C}, {"cpp", AE_BUILD_CPP},
                   {"c++", AE_BUILD_CPP}}; /* the word until 0.1.0: programs that speak it live on */
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(language, languages[i].name) == 0) {
            *ret = languages[i].kind;
            return AE_OK;
        }
    return ae_error_set(err, AE_E_INPUT, "the language '%.40s' is none of cuda, c, cpp", language);
}

/* That the keys are there and texts, in words that name the key. */
static int check_keys(const json_t *line, struct ae_error *err)
{
    static const char *const keys[] = {"task", "source", "language", "id", "size", "entrant"};
    if (!json_is_object(line))
        return ae_error_set(err, AE_E_INPUT, "not a JSON object");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(line, keys[i]);
        if (!value && i < 2)
            return ae_error_set(err, AE_E_INPUT, "\"%s\" is missing", keys[i]);
        if (value && !json_is_string(value))
            return ae_error_set(err, AE_E_INPUT, "\"%s\" is no string", keys[i]);
    }
    return AE_OK;
}

int ae_line_parse(const char *text, size_t size, struct ae_line *ret, struct ae_error *err)
{
    json_error_t problem;
    const char *task = NULL, *language = "cuda", *size_name = "small", *entrant = "stdin";
    *ret = (struct ae_line){.json = json_loadb(text, size, 0, &problem)};
    if (!ret->json)
        return ae_error_set(err, AE_E_INPUT, "not a JSON object: %s", problem.text);
    /* The id first: an answer that refuses the line should still say which. */
    ret->id = json_string_value(json_object_get(ret->json, "id"));
    if (check_keys(ret->json, err) != AE_OK)
        return AE_E_INPUT;
    if (json_unpack_ex(ret->json, &problem, 0, "{s:s, s:s%, s?s, s?s, s?s, s?s}", "task", &task, "source", &ret->source,
                       &ret->source_size, "language", &language, "id", &ret->id, "size", &size_name, "entrant",
                       &entrant) != 0)
        return ae_error_set(err, AE_E_INPUT, "%s", problem.text);
    if (ret->source_size > AE_SOURCE_MAX)
        return ae_error_set(err, AE_E_INPUT, "the source has %zu bytes; the limit is %zu", ret->source_size,
                            AE_SOURCE_MAX);
    if (strlen(entrant) >= sizeof ret->entrant) /* cut it might end within a character */
        return ae_error_set(err, AE_E_INPUT, "the entrant's name is longer than %d bytes", AE_LINE_ENTRANT - 1);
    strcpy(ret->entrant, entrant);
    if (strlen(task) > 127)
        return ae_error_set(err, AE_E_INPUT, "the name of the task is longer than any");
    ret->task = ae_task_find(task, err);
    if (!ret->task)
        return AE_E_USAGE;
    ret->size = ae_size_find(size_name);
    if (ret->size == AE_SIZE_COUNT)
        return ae_error_set(err, AE_E_INPUT, "there is no size '%.40s'", size_name);
    return find_kind(language, &ret->kind, err);
}

void ae_line_release(struct ae_line *line)
{
    json_decref(line->json);
    *line = (struct ae_line){0};
}
