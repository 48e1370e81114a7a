/* Three snippets that show a strategy and three that only look like it, for each: snippets/ID.cu, cut at lines
 * "//= present|absent|unknown: what it shows"; behind a line "//- reference" stands the reference that it is held
 * against. Prints a table; every one must be told right. */
#include "base/file.h"
#include "strategy/strategy.h"

#include <stdio.h>
#include <string.h>

struct counts {
    int right[3], all[3]; /* by presence */
};

static int run_file(struct ae_finder *finder, const char *folder, int id, struct counts *c)
{
    char path[4200];
    struct ae_bytes text;
    struct ae_error err = {0};
    snprintf(path, sizeof path, "%s/%s.cu", folder, ae_strategies[id].id);
    if (ae_file_read(path, (size_t)1 << 20, &text, &err) != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int wrong = 0;
    for (char *at = (char *)text.data; at && *at;) {
        char title[128] = "", word[16] = "";
        if (sscanf(at, "//= %15[a-z]: %127[^\n]", word, title) != 2)
            break;
        char *begin = strchr(at, '\n');
        begin = begin ? begin + 1 : at + strlen(at);
        char *end = strstr(begin, "//= ");
        const size_t size = end ? (size_t)(end - begin) : strlen(begin);
        static const char mark[] = "//- reference\n";
        char *reference = strstr(begin, mark);
        const bool has = reference && reference < begin + size;
        const struct ae_strategy_input input = {.source = begin,
                                                .source_size = has ? (size_t)(reference - begin) : size,
                                                .reference = has ? reference + sizeof mark - 1 : NULL,
                                                .reference_size =
                                                    has ? size - (size_t)(reference - begin) - (sizeof mark - 1) : 0};
        struct ae_findings findings;
        enum ae_presence expected = AE_ABSENT;
        while (expected < AE_UNKNOWN && strcmp(ae_presence_name(expected), word) != 0)
            expected++;
        if (ae_strategy_find(finder, &input, &findings, &err) != AE_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        c->all[expected]++;
        if (findings.presence[id] == expected) {
            c->right[expected]++;
        } else {
            printf("%s, %s: expected %s, found %s\n", ae_strategies[id].id, title, word,
                   ae_presence_name(findings.presence[id]));
            wrong++;
        }
        if (findings.unread > 0) {
            printf("%s, %s: the grammar cannot read all of it\n", ae_strategies[id].id, title);
            wrong++;
        }
        ae_findings_release(&findings);
        at = end;
    }
    ae_bytes_release(&text);
    return wrong;
}

int main(int argc, char **argv)
{
    struct ae_finder *finder;
    struct ae_error err = {0};
    struct counts counts[AE_STRATEGY_COUNT] = {{{0}, {0}}};
    int wrong = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: snippets_test FOLDER\n");
        return 2;
    }
    const int rc = ae_finder_new(&finder, &err);
    if (rc == AE_E_ENV) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    if (rc != AE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int id = 0; id < AE_STRATEGY_COUNT; id++)
        wrong += run_file(finder, argv[1], id, &counts[id]);
    printf("\n%-44s %10s %12s %9s\n", "strategy", "found", "look-alikes", "unknown");
    for (int id = 0; id < AE_STRATEGY_COUNT; id++) {
        const struct counts *c = &counts[id];
        printf("%s %-40s %4d of %-2d %5d of %-2d %4d of %-2d\n", ae_strategies[id].id, ae_strategies[id].name,
               c->right[AE_PRESENT], c->all[AE_PRESENT], c->right[AE_ABSENT], c->all[AE_ABSENT], c->right[AE_UNKNOWN],
               c->all[AE_UNKNOWN]);
        /* What a source can decide is shown three times and looked like three times. */
        const bool decidable = ae_strategies[id].evidence & AE_EVIDENCE_SOURCE;
        if (decidable && (c->all[AE_PRESENT] < 3 || c->all[AE_ABSENT] + c->all[AE_UNKNOWN] < 3)) {
            printf("%s has too few snippets\n", ae_strategies[id].id);
            wrong++;
        }
    }
    ae_finder_free(finder);
    printf("\n%d wrong\n", wrong);
    return wrong > 0;
}
