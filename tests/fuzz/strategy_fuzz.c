/* Fuzz target: the search for strategies in a hostile source, and in hostile dumps of machine code. Whatever the bytes,
 * it ends, lines lie within the source and in order, confidences are shares, and sentences are printable. */
#include "strategy/features.h"
#include "strategy/hunt.h"
#include "strategy/strategy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ae_findings *f, int lines)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct ae_finding *x = &f->items[i];
        if ((unsigned)x->strategy >= AE_STRATEGY_COUNT || !(x->confidence >= 0 && x->confidence <= 1) ||
            x->line_count > AE_FINDING_LINES || !memchr(x->sentence, 0, sizeof x->sentence))
            abort();
        for (const char *c = x->sentence; *c; c++)
            if (*c < ' ' || *c > '~')
                abort();
        for (int l = 0; l < x->line_count; l++)
            if (x->lines[l].first < 1 || x->lines[l].last < x->lines[l].first || x->lines[l].last > lines ||
                (l > 0 && x->lines[l].first < x->lines[l - 1].first))
                abort();
    }
    if (!(f->unread >= 0 && f->unread <= 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ae_finder *finder;
    struct ae_findings findings;
    struct ae_findings_list list = {0};
    struct ae_error err;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (ae_binary_find(text, text, &list, &err) != AE_OK)
        abort();
    free(list.items);
    if (!finder && ae_finder_new(&finder, &err) != AE_OK) { /* a build without the grammar */
        free(text);
        return 0;
    }
    int lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    const struct ae_strategy_input input = {.source = (const char *)data, .source_size = size};
    if (ae_strategy_find(finder, &input, &findings, &err) != AE_OK)
        abort();
    check(&findings, lines);
    ae_findings_release(&findings);
    double features[AE_FEATURE_COUNT];
    if (ae_features_read(finder, (const char *)data, size, features, &err) != AE_OK)
        abort();
    for (int f = AE_FEATURE_STRIDE_ONE; f <= AE_FEATURE_FUNCTIONS; f++) /* shares, where there is anything to share */
        if (features[f] < 0 || features[f] > 1)
            abort();
    free(text);
    return 0;
}
