/* Fuzz target: the ELF reader. Whatever the bytes, it answers without reading beyond them, and what it answers is
 * printable. */
#include "build/elf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    const size_t n = strnlen(text, AE_ELF_NAME);
    if (n == AE_ELF_NAME)
        abort();
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] >= 127)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ae_elf_facts facts;
    struct ae_error err = {0};
    const int rc = ae_elf_read(data, size, &facts, &err);
    if (rc == AE_OK) {
        check_text(facts.refused);
        check_text(facts.needed_refused);
        check_text(facts.exported);
        if (facts.constructors < 0 || (facts.refused[0] != 0) != (facts.refused_owner != NULL))
            abort();
    } else if (rc != AE_E_INPUT || !err.text[0]) {
        abort();
    }
    return 0;
}
