/* Fuzz target: what is said to be a profile, read back, and what the search for strategies makes of it. Numbers are what
 * they can be, and texts printable. */
#include "base/utf8.h"
#include "profile/import.h"
#include "strategy/hunt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t room)
{
    if (!memchr(text, 0, room) || !ae_utf8_valid(text))
        abort();
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            abort();
}

static void check(const struct ae_profile_record *r)
{
    const struct ae_facts *f = &r->facts;
    struct ae_findings_list list = {0};
    struct ae_error err = {0};
    if ((unsigned)r->size >= AE_SIZE_COUNT || f->kernel_count > AE_KERNELS_MAX || f->call_ns < 0 || f->launches < 0 ||
        f->overlap_ns < 0 || !(f->in.bytes >= 0) || !(f->out.pinned_bytes >= 0) ||
        r->explanation.reason_count > AE_EXPLANATION_REASONS)
        abort();
    check_text(r->task, sizeof r->task);
    check_text(r->source, sizeof r->source);
    check_text(r->submission, sizeof r->submission);
    for (int k = 0; k < f->kernel_count; k++) {
        check_text(f->kernels[k].name, sizeof f->kernels[k].name);
        if (f->kernels[k].total_ns < 0)
            abort();
    }
    for (int p = 0; p < AE_PHASE_COUNT; p++)
        if (f->phase[p].own_ns < 0 || f->phase[p].busy_ns < 0 || r->explanation.floors[p] < 0)
            abort();
    if (ae_run_find(r->traced ? f : NULL, &r->explanation, r->source, &list, &err) != AE_OK)
        abort();
    for (size_t i = 0; i < list.count; i++) {
        check_text(list.items[i].sentence, sizeof list.items[i].sentence);
        if (list.items[i].evidence != AE_EVIDENCE_RUN || !(list.items[i].confidence > 0))
            abort();
    }
    free(list.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ae_profile_record *records = NULL;
    size_t count = 0;
    struct ae_error err = {0};
    const int rc = ae_profiles_read((const char *)data, size, &records, &count, &err);
    if (rc != AE_OK && (rc != AE_E_INPUT || !err.text[0] || records || count))
        abort();
    for (size_t i = 0; i < count; i++)
        check(&records[i]);
    free(records);
    return 0;
}
