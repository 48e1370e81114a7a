#include "store/archive_text.h"

#include <stdlib.h>
#include <string.h>

int ae_archive_chain(char chain[AE_SHA256_HEX], const char *line, size_t size, struct ae_error *err)
{
    const size_t before = strlen(chain);
    char *text = malloc(before + size + 1);
    if (!text)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a line of %zu bytes", size);
    memcpy(text, chain, before);
    memcpy(text + before, line, size);
    const int r = ae_sha256(text, before + size, chain, err);
    free(text);
    return r;
}
