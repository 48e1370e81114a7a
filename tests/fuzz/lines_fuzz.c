/* Fuzz target: a JSON line of `eval -`. Whatever the bytes, it is refused with a sentence that can be answered, or gives
 * a submission whose every field is within its range. */
#include "base/json.h"
#include "cli/lines.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the answer holds must survive being written. */
static void check_text(const char *text)
{
    json_t *json = json_pack("{s:o}", "detail", ae_json_text(text));
    char *line = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    if (!line || strchr(line, '\n'))
        abort();
    free(line);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ae_line line;
    struct ae_error err = {0};
    const int rc = ae_line_parse((const char *)data, size, &line, &err);
    if (line.id)
        check_text(line.id);
    if (rc == AE_OK) {
        if (!line.task || (unsigned)line.size >= AE_SIZE_COUNT || !line.source || strlen(line.source) != line.source_size ||
            (line.kind != AE_BUILD_C && line.kind != AE_BUILD_CPP && line.kind != AE_BUILD_CUDA))
            abort();
        check_text(line.entrant);
    } else {
        if ((rc != AE_E_INPUT && rc != AE_E_USAGE) || !err.text[0])
            abort();
        check_text(err.text);
    }
    ae_line_release(&line);
    return 0;
}
