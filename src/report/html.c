#include "report/html.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "report/assets.h"
#include "report/html_text.h"
#include "report/print.h"

#include <errno.h>
#include <string.h>

static void put_asset(enum ae_asset asset, FILE *out)
{
    size_t size;
    const char *data = ae_asset(asset, &size);
    (void)fwrite(data, 1, size, out);
}

/* 'sha256-BASE64' of a script, as a content security policy names it. */
static int put_hash(enum ae_asset asset, FILE *out, struct ae_error *err)
{
    size_t size;
    const char *data = ae_asset(asset, &size);
    char hex[AE_SHA256_HEX];
    unsigned char bytes[(AE_SHA256_HEX - 1) / 2];
    const int r = ae_sha256(data, size, hex, err);
    if (r != AE_OK)
        return r;
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned value;
        (void)sscanf(hex + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    ae_autofree char *text = ae_base64_encode(bytes, sizeof bytes);
    if (!text)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the digest of a script");
    fprintf(out, " 'sha256-%s'", text);
    return AE_OK;
}

/* The policy forbids every request, and any script but the two of this file: should hostile text ever get past the
 * escaping, it still runs nowhere. */
static int put_head(const struct ae_report *report, FILE *out, struct ae_error *err)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
          "'none'; img-src data:; style-src 'unsafe-inline'; script-src",
          out);
    int r = put_hash(AE_ASSET_SCRIPT, out, err);
    if (r == AE_OK && ae_assets_have_charts())
        r = put_hash(AE_ASSET_CHARTS, out, err);
    fputs("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>AccelEval: ", out);
    ae_html_put(report->table_count ? report->tables[0].title : "report", out);
    fputs("</title>\n<style>\n", out);
    put_asset(AE_ASSET_STYLE, out);
    fputs("</style></head>\n<body>\n", out);
    return r;
}

/* Tables of one row a measurement are long: they come after the charts. */
static bool is_detail(const struct ae_table *table)
{
    return strcmp(table->id, "detail") == 0 || strcmp(table->id, "phases") == 0;
}

static void put_links(const struct ae_report *report, bool detail, FILE *out)
{
    for (size_t i = 0; i < report->table_count; i++) {
        if (is_detail(&report->tables[i]) != detail)
            continue;
        fprintf(out, "<li><a href=\"#t%zu\">", i);
        ae_html_put(report->tables[i].title, out);
        fputs("</a></li>\n", out);
    }
}

static void put_tables(const struct ae_report *report, bool detail, FILE *out)
{
    for (size_t i = 0; i < report->table_count; i++)
        if (is_detail(&report->tables[i]) == detail)
            ae_html_table(&report->tables[i], i, out);
}

static void put_intro(const struct ae_report *report, const struct ae_report_header *header, FILE *out)
{
    char time[32];
    ae_print_time(header->generated_ns, time);
    fputs("<a class=\"skip\" href=\"#t0\">To the first table</a>\n<header><h1>AccelEval report</h1>\n", out);
    if (report->summary) {
        fputs("<p class=\"summary\">", out);
        ae_html_put(report->summary, out);
        fputs("</p>\n", out);
    }
    fputs("<p class=\"note\">Made by AccelEval ", out);
    ae_html_put(header->tool_version ? header->tool_version : "", out);
    fprintf(out,
            ", %s. A speedup is how much sooner the answer is there than from the trusted single-thread program on "
            "the same instances; it is never averaged over machines.</p>\n",
            time);
    fputs("<nav aria-label=\"Contents\"><ul>\n", out);
    put_links(report, false, out);
    fputs("<li><a href=\"#charts\">Charts</a></li>", out);
    put_links(report, true, out);
    fputs("<li><a href=\"#submissions\">Submissions</a></li>"
          "<li><a href=\"#environments\">Environments</a></li></ul></nav></header>\n<main>\n",
          out);
}

/* wanted: strategies were to be looked for. */
static void put_charts(const struct ae_report *report, bool wanted, FILE *out)
{
    static const struct {
        const char *name, *title;
    } charts[] = {
        {"coverage-speed", "Coverage against speed"},
        {"scale", "From small to large"},
        {"tuned", "Distance to the tuned program"},
        {"floors", "Distance to the call floor"},
        {"failures", "Outcomes by verdict"},
        {"phases", "Where the wait goes"},
        {"strategies", "Strategies: which programs show which"},
        {"lift", "Strategies: what goes with speed within tasks"},
    };
    fputs("<section id=\"charts\"><h2>Charts</h2>\n", out);
    if (ae_assets_have_charts()) {
        fputs("<noscript><p class=\"note\">Charts need the script of this file; the tables hold all their "
              "numbers.</p></noscript>\n",
              out);
        for (size_t i = 0; i < sizeof charts / sizeof *charts; i++)
            fprintf(out,
                    "<figure class=\"chart\" data-chart=\"%s\" hidden><figcaption>%s</figcaption><div "
                    "class=\"plot\"></div></figure>\n",
                    charts[i].name, charts[i].title);
    } else {
        fputs("<p class=\"note\" id=\"no-charts\">The program that made this report was built without the chart "
              "library; "
              "the tables hold all the numbers.</p>\n",
              out);
    }
    if (wanted && !report->searched)
        fputs("<p class=\"note\">Nobody looked for strategies in the sources: the program that made this report was built "
              "without the grammar of CUDA.</p>\n",
              out);
    fputs("</section>\n", out);
}

static void put_end(FILE *out)
{
    size_t size;
    const char *licences = ae_asset(AE_ASSET_LICENCES, &size);
    fputs("</main>\n<footer>", out);
    if (ae_assets_have_charts()) {
        fputs("<details><summary>Licences of the chart library in this file</summary><pre>", out);
        ae_html_text(licences, size, out);
        fputs("</pre></details>", out);
    }
    fputs("</footer>\n", out);
    if (ae_assets_have_charts()) {
        fputs("<script>", out);
        put_asset(AE_ASSET_CHARTS, out);
        fputs("</script>\n", out);
    }
    fputs("<script>", out);
    put_asset(AE_ASSET_SCRIPT, out);
    fputs("</script>\n</body></html>\n", out);
}

int ae_report_print_html(struct ae_store *store, const struct ae_report *report,
                         const struct ae_report_options *options, const struct ae_report_header *header, FILE *out,
                         struct ae_error *err)
{
    errno = 0;
    int r = put_head(report, out, err);
    if (r != AE_OK)
        return r;
    put_intro(report, header, out);
    put_tables(report, false, out);
    put_charts(report, options && (options->sections & AE_REPORT_STRATEGIES), out);
    put_tables(report, true, out);
    if (store) {
        r = ae_html_submissions(store, report, options, out, err);
        if (r == AE_OK)
            r = ae_html_environments(store, out, err);
    }
    put_end(out);
    if (r == AE_OK && (fflush(out) != 0 || ferror(out)))
        r = ae_error_errno(err, AE_E_IO, errno, "cannot write the report");
    return r;
}
