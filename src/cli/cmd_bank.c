/* acceleval bank, cache */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "run/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct values {
    int64_t max_gib;
    const char *kind;
};

const struct ae_option ae_bank_options[] = {{0}};

const struct ae_option ae_cache_options[] = {
    {.name = "kind", .kind = AE_OPTION_STRING, .argument = "KIND", .verbs = "show,prune,clear",
     .help = "only entries of this kind, as 'cache show' names them",
     .offset = offsetof(struct values, kind)},
    {.name = "max", .kind = AE_OPTION_INTEGER, .argument = "GIB", .verbs = "prune",
     .help = "keep so much, the last used first",
     .fallback = "64", .lo = 0, .hi = 1 << 20, .offset = offsetof(struct values, max_gib)},
    {0},
};

int ae_cmd_bank(const struct ae_command *self, int argc, char **argv)
{
    struct ae_list rest = {0};
    struct ae_bank bank;
    struct ae_error err = {0};
    char name[17];
    const int done = ae_cli_parse(self, argc, argv, NULL, &rest);
    if (done >= 0)
        return done;
    const char *verb = rest.count ? rest.items[0] : "show";
    int rc = AE_OK;
    if (rest.count > 1 || (strcmp(verb, "show") != 0 && strcmp(verb, "renew") != 0))
        rc = ae_error_set(&err, AE_E_USAGE, "bank takes 'show' or 'renew'");
    const bool renew = rc == AE_OK && strcmp(verb, "renew") == 0;
    if (rc == AE_OK)
        rc = ae_bank_find(&bank, NULL, &err);
    const bool none = rc == AE_E_NOTFOUND; /* to look draws none */
    if (none || (rc == AE_E_INPUT && renew))
        rc = AE_OK; /* damaged, or seen by others: that is what renewing is for */
    if (rc == AE_OK && renew)
        rc = ae_bank_renew(&bank, &err);
    if (rc == AE_OK && renew)
        rc = ae_bank_open(&bank, NULL, &err);
    ae_list_release(&rest);
    if (rc != AE_OK)
        return ae_cli_fail(&err);
    if (none && !renew) {
        printf("no bank yet: the first command that needs its instances draws one in %s\n", bank.folder);
    } else {
        ae_bank_name(&bank, name);
        printf("bank %s in %s\n", name, bank.folder);
    }
    for (int s = 0; s < AE_SIZE_COUNT; s++) {
        const struct ae_bank_plan *plan = ae_bank_plan((enum ae_size)s);
        printf("  %-7s %d fresh, %d timed, %d near-twin, %d practice %s a task; %d %s\n", ae_size_name((enum ae_size)s),
               plan->fresh, plan->timed, plan->twin, plan->practice,
               ae_text_plural(plan->practice, "instance", "instances"), plan->groups,
               ae_text_plural(plan->groups, "group", "groups"));
    }
    if (renew)
        printf("drawn anew: answers and baselines are made again when they are needed ('acceleval prepare' makes them "
               "now; 'acceleval prepare --dry-run' says what that takes)\n");
    return AE_EXIT_OK;
}

struct totals {
    struct {
        char kind[AE_CACHE_KIND];
        uint64_t files, bytes;
    } kinds[16];
    int count;
};

static int add(const struct ae_cache_stat *stat, void *data)
{
    struct totals *totals = data;
    int i = 0;
    while (i < totals->count && strcmp(totals->kinds[i].kind, stat->kind) != 0)
        i++;
    if (i == 16)
        return 0;
    if (i == totals->count)
        snprintf(totals->kinds[totals->count++].kind, AE_CACHE_KIND, "%s", stat->kind);
    totals->kinds[i].files++;
    totals->kinds[i].bytes += stat->size;
    return 0;
}

static int export_to(const char *path, struct ae_error *err)
{
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_exchange_counts counts;
    ae_autofree char *text = NULL;
    int rc = ae_cli_context(&context, &progress, err);
    if (rc == AE_OK)
        rc = ae_exchange_export(&context, ae_exchange_calibrate(), &text, &counts, err);
    if (rc == AE_OK)
        rc = ae_new_file_write(path, text, strlen(text), err);
    if (rc == AE_OK)
        printf("%zu %s of this machine and %zu %s of expected outputs written to %s\n", counts.baselines,
               ae_text_plural((int64_t)counts.baselines, "baseline", "baselines"), counts.digests,
               ae_text_plural((int64_t)counts.digests, "digest", "digests"), path);
    ae_context_close(&context);
    return rc;
}

static int import_from(const char *path, struct ae_error *err)
{
    struct ae_context context = {0};
    struct ae_progress progress;
    struct ae_exchange_counts counts;
    struct ae_bytes bytes = {0};
    int rc = ae_cli_context(&context, &progress, err);
    if (rc == AE_OK)
        rc = ae_file_read(path, AE_EXCHANGE_MAX, &bytes, err);
    if (rc == AE_OK)
        rc = ae_exchange_import(&context, bytes.data, bytes.size, ae_exchange_calibrate(), &counts, err);
    if (rc == AE_OK) {
        const double percent = 100 * (counts.calibration_ratio - 1);
        printf("%zu %s and %zu %s of expected outputs taken over, %zu passed over\n", counts.baselines,
               ae_text_plural((int64_t)counts.baselines, "baseline", "baselines"), counts.digests,
               ae_text_plural((int64_t)counts.digests, "digest", "digests"), counts.other);
        if (counts.other_bank)
            printf("%zu of these are of another bank than the one in use (ACCELEVAL_BANK names its folder)\n",
                   counts.other_bank);
        if (counts.machine_differs)
            printf("no baselines: they were measured on another processor or with another compiler\n");
        else if (percent > 100 * AE_CALIBRATION_SHARE || percent < -100 * AE_CALIBRATION_SHARE)
            printf("no baselines: that machine is %.1f %% %s than this one is now; %g %% are allowed\n",
                   percent < 0 ? -percent : percent, percent < 0 ? "faster" : "slower", 100 * AE_CALIBRATION_SHARE);
    }
    ae_bytes_release(&bytes);
    ae_context_close(&context);
    return rc;
}

/* All that is ever cached, so that a slip of the pen is not taken for a kind of which there is nothing. */
static int check_kind(const char *kind, struct ae_error *err)
{
    static const char *const kinds[] = {"baseline", "ceilings", "digest", "expected", "object", "object_note", "twin"};
    if (!kind)
        return AE_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return AE_OK;
    return ae_error_set(err, AE_E_USAGE,
                        "there is no kind '%s'; the kinds are baseline, ceilings, digest, expected, object, "
                        "object_note and twin",
                        kind);
}

int ae_cmd_cache(const struct ae_command *self, int argc, char **argv)
{
    struct values values = {0};
    struct ae_list rest = {0};
    struct ae_cache *cache = NULL;
    struct totals totals = {0};
    struct ae_cache_pruned pruned = {0};
    struct ae_error err = {0}, reason = {0};
    uint64_t given = 0;
    const int done = ae_cli_parse_given(self, argc, argv, &values, &rest, &given);
    if (done >= 0)
        return done;
    const char *verb = rest.count ? rest.items[0] : "show";
    const bool out = strcmp(verb, "export") == 0, in = strcmp(verb, "import") == 0;
    const bool show = strcmp(verb, "show") == 0, prune = strcmp(verb, "prune") == 0, clear = strcmp(verb, "clear") == 0;
    if ((out || in || show || prune || clear) && (ae_options_check_verb(self, given, verb, &err) != AE_OK ||
                                                  check_kind(values.kind, &err) != AE_OK)) {
        ae_list_release(&rest);
        ae_options_release(ae_cache_options, &values);
        return ae_cli_fail(&err);
    }
    if (out || in) {
        const int rc = rest.count != 2 ? ae_error_set(&err, AE_E_USAGE, "cache %s takes one FILE", verb)
                       : out           ? export_to(rest.items[1], &err)
                                       : import_from(rest.items[1], &err);
        ae_list_release(&rest);
        ae_options_release(ae_cache_options, &values);
        return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
    }
    int rc = rest.count <= 1 && (show || prune || clear)
                 ? ae_cache_open(&cache, NULL, &err)
                 : ae_error_set(&err, AE_E_USAGE, "cache takes 'show', 'prune', 'clear', 'export FILE' or 'import FILE'");
    if (rc == AE_OK && !show)
        rc = ae_cache_prune(cache, values.kind, clear ? 0 : (uint64_t)values.max_gib << 30, &pruned, &err);
    if (rc == AE_OK && !show)
        printf("removed %llu %s (%.1f MiB), kept %llu (%.1f MiB)\n", (unsigned long long)pruned.removed_files,
               ae_text_plural((int64_t)pruned.removed_files, "entry", "entries"), (double)pruned.removed_bytes / 0x1p20,
               (unsigned long long)pruned.kept_files, (double)pruned.kept_bytes / 0x1p20);
    if (rc == AE_OK && show) {
        rc = ae_cache_each(cache, values.kind, add, &totals, &err);
        printf("%s\n", ae_cache_root(cache));
        for (int i = 0; i < totals.count; i++)
            printf("  %-11s %7llu %-7s %12.1f MiB\n", totals.kinds[i].kind, (unsigned long long)totals.kinds[i].files,
                   ae_text_plural((int64_t)totals.kinds[i].files, "entry", "entries"),
                   (double)totals.kinds[i].bytes / 0x1p20);
        if (totals.count == 0)
            printf("  empty\n");
        if (!ae_cache_writable(cache, &reason))
            printf("  it cannot be written: %s\n", reason.text);
    }
    ae_cache_free(cache);
    ae_list_release(&rest);
    ae_options_release(ae_cache_options, &values);
    return rc == AE_OK ? AE_EXIT_OK : ae_cli_fail(&err);
}
