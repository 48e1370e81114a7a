#include "report/print.h"

#include <errno.h>
#include <math.h>
#include <time.h>

const char *const ae_format_names[AE_FORMAT_COUNT + 1] = {
    [AE_FORMAT_TERM] = "term",   [AE_FORMAT_MD] = "md",   [AE_FORMAT_CSV] = "csv",   [AE_FORMAT_JSON] = "json",
    [AE_FORMAT_LATEX] = "latex", [AE_FORMAT_SVG] = "svg", [AE_FORMAT_HTML] = "html", [AE_FORMAT_XLSX] = "xlsx"};

/* Three significant digits where there is a fraction to show. */
static int decimals(double value)
{
    const double size = fabs(value);
    if (!(size > 0) || size >= 100)
        return 0;
    const int digits = 2 - (int)floor(log10(size));
    return digits > 9 ? 9 : digits;
}

static const char *with_interval(const struct ae_cell *cell, double scale, const char *unit, char *buffer)
{
    const double value = cell->value * scale, low = cell->low * scale, high = cell->high * scale;
    const bool alone = cell->kind == AE_CELL_INTERVAL;
    size_t used = 0;
    buffer[0] = 0;
    if (!alone && isnan(value))
        return "-";
    if (!alone)
        used = (size_t)snprintf(buffer, AE_CELL_TEXT_MAX, "%.*f%s", decimals(value), value, unit);
    if (cell->interval == AE_INTERVAL_NONE || isnan(low) || isnan(high))
        return alone ? "-" : buffer;
    /* a range is no statement of confidence: braces, explained in the notes of the formats */
    const bool range = cell->interval == AE_INTERVAL_RANGE;
    snprintf(buffer + used, AE_CELL_TEXT_MAX - used, "%s%c%.*f, %.*f%c", used ? " " : "", range ? '{' : '[',
             decimals(alone ? low : value), low, decimals(alone ? high : value), high, range ? '}' : ']');
    return buffer;
}

const char *ae_cell_print(const struct ae_cell *cell, char buffer[AE_CELL_TEXT_MAX])
{
    switch (cell->kind) {
    case AE_CELL_EMPTY:
        return "";
    case AE_CELL_TEXT:
        return cell->text;
    case AE_CELL_COUNT:
        if (isnan(cell->value))
            return "-";
        snprintf(buffer, AE_CELL_TEXT_MAX, "%.0f", cell->value);
        return buffer;
    case AE_CELL_NUMBER:
    case AE_CELL_INTERVAL:
        return with_interval(cell, 1, "", buffer);
    case AE_CELL_SHARE:
        return with_interval(cell, 100, "%", buffer);
    case AE_CELL_SPEEDUP:
        return with_interval(cell, 1, "x", buffer);
    case AE_CELL_FRACTION:
        snprintf(buffer, AE_CELL_TEXT_MAX, "%.0f/%.0f", cell->low, cell->high);
        return buffer;
    case AE_CELL_OUTCOME:
        if (isnan(cell->value))
            return cell->text;
        snprintf(buffer, AE_CELL_TEXT_MAX, "%.*fx", decimals(cell->value), cell->value);
        return buffer;
    }
    return "?";
}

bool ae_column_is_numeric(const struct ae_column *column)
{
    return column->kind != AE_CELL_TEXT && column->kind != AE_CELL_EMPTY;
}

const char *ae_column_title(const struct ae_column *column, char *buffer, size_t size)
{
    snprintf(buffer, size, column->unit[0] ? "%s (%s)" : "%s", column->name, column->unit);
    return buffer;
}

void ae_print_time(int64_t ns, char text[32])
{
    const time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        text[0] = 0;
}

int ae_report_print(const struct ae_report *report, const struct ae_report_header *header,
                    const struct ae_print_options *options, FILE *out, struct ae_error *err)
{
    int r = AE_OK;
    errno = 0;
    switch (options->format) {
    case AE_FORMAT_TERM:
        ae_print_term(report, options, out);
        break;
    case AE_FORMAT_MD:
        ae_print_md(report, header, out);
        break;
    case AE_FORMAT_CSV:
        ae_print_csv(report, out);
        break;
    case AE_FORMAT_JSON:
        r = ae_print_json(report, header, out);
        break;
    case AE_FORMAT_LATEX:
        ae_print_latex(report, header, out);
        break;
    case AE_FORMAT_SVG:
        ae_print_svg(report, out);
        break;
    case AE_FORMAT_XLSX:
        if ((r = ae_print_xlsx(report, header, out, err)) != AE_OK)
            return r;
        break;
    case AE_FORMAT_HTML:
        return ae_report_print_html(NULL, report, NULL, header, out, err);
    case AE_FORMAT_COUNT:
        return ae_error_set(err, AE_E_USAGE, "no such format");
    }
    if (r != AE_OK)
        return ae_error_set(err, r, "no memory to print the report");
    if (fflush(out) != 0 || ferror(out))
        return ae_error_errno(err, AE_E_IO, errno, "cannot write the report");
    return AE_OK;
}
