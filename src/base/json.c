#include "base/json.h"

#include "base/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

json_t *ae_json_text(const char *text)
{
    if (ae_utf8_valid(text))
        return json_string(text);
    const size_t room = AE_PRINTABLE_MAX * strlen(text) + 1;
    char *shown = malloc(room);
    if (!shown)
        return NULL;
    ae_utf8_printable(text, shown, room, SIZE_MAX);
    json_t *ret = json_string(shown);
    free(shown);
    return ret;
}
