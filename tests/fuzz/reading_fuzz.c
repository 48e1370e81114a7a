/* Fuzz target: the answer of a model that read a program. What is accepted keeps every promise of reading.h. */
#include "base/utf8.h"
#include "strategy/reading.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINES 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ae_reading r;
    struct ae_error err = {0};
    const int rc = ae_reading_parse((const char *)data, size, LINES, &r, &err);
    if (rc == AE_E_INPUT && err.text[0])
        return 0;
    if (rc != AE_OK || r.count < 1 || r.count > AE_STRATEGY_COUNT)
        abort();
    for (int i = 0; i < r.count; i++) {
        const struct ae_finding *f = &r.findings[i];
        if ((i > 0 && f->strategy <= r.findings[i - 1].strategy) || f->evidence != AE_EVIDENCE_READING ||
            r.presence[f->strategy] != f->presence || !(f->confidence >= 0 && f->confidence <= 1) ||
            (f->presence == AE_PRESENT) != (f->line_count > 0) || !f->sentence[0] || !ae_utf8_valid(f->sentence))
            abort();
        for (int l = 0; l < f->line_count; l++)
            if (f->lines[l].first < 1 || f->lines[l].last < f->lines[l].first || f->lines[l].last > LINES ||
                (l > 0 && f->lines[l].first < f->lines[l - 1].first))
                abort();
        for (const char *c = f->sentence; *c; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                abort();
    }
    return 0;
}
