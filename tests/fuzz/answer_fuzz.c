/* Fuzz target: extraction of a source. It ends, reads nothing beyond the bytes, and what it finds defines the function.
 */
#include "llm/answer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *source = NULL;
    size_t source_size = 0;
    unsigned notes = 0;
    struct ae_error err = {0};
    const int rc = ae_answer_extract((const char *)data, size, &source, &source_size, &notes, &err);
    if (rc == AE_OK) {
        /* decoding may turn "&quot;" into the start of a string, so that only what was not decoded is looked at again
         */
        if (source_size > size || source[source_size] != 0 || notes >> AE_ANSWER_NOTES ||
            (!(notes & AE_ANSWER_ENTITIES) && !ae_answer_defines(source, source_size)))
            abort();
        free(source);
    } else if (rc != AE_E_NOTFOUND || !err.text[0]) {
        abort();
    }
    return 0;
}
