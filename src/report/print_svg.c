#include "report/html_text.h"
#include "report/print.h"

#include <math.h>
#include <string.h>

/* The leaderboards as a picture, for pages that show images only: a panel each, a row an entrant, a bar for user_GM
 * and a mark with its interval for GM. Colours follow the reader's scheme. */

#define WIDTH    860
#define LEFT     190 /* names end here */
#define RIGHT    130 /* columns of text behind the bars */
#define ROW      22
#define TOP      52 /* of a panel: its title and the numbers of its axis */
#define ROWS_MAX 16

struct axis {
    double low, high; /* logarithms */
};

static const struct ae_cell *cell_of(const struct ae_table *table, size_t row, const char *name)
{
    static const struct ae_cell none = {.kind = AE_CELL_EMPTY, .value = NAN, .text = ""};
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, name) == 0)
            return &table->cells[row * table->column_count + c];
    return &none;
}

static bool is_leaderboard(const struct ae_table *table)
{
    return strcmp(table->id, "leaderboard") == 0;
}

static size_t rows_of(const struct ae_table *table)
{
    return table->row_count < ROWS_MAX ? table->row_count : ROWS_MAX;
}

static double x_of(const struct axis *axis, double value)
{
    const double share = (log(value) - axis->low) / (axis->high - axis->low);
    return LEFT + (WIDTH - LEFT - RIGHT) * fmin(fmax(share, 0), 1);
}

/* One axis for all panels, from a power of ten to another, around 1. */
static struct axis find_axis(const struct ae_report *report)
{
    double low = 1, high = 2;
    for (size_t t = 0; t < report->table_count; t++)
        for (size_t row = 0; is_leaderboard(&report->tables[t]) && row < rows_of(&report->tables[t]); row++) {
            const struct ae_cell *gm = cell_of(&report->tables[t], row, "GM");
            if (gm->value > 0) {
                low = fmin(low, gm->value);
                high = fmax(high, gm->value);
            }
        }
    return (struct axis){floor(log10(low)) * log(10), ceil(log10(high)) * log(10)};
}

static void put_ticks(const struct axis *axis, double top, double bottom, FILE *out)
{
    for (int power = (int)lround(axis->low / log(10)); power <= (int)lround(axis->high / log(10)); power++) {
        const double x = x_of(axis, pow(10, power));
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x, top, bottom);
        fprintf(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%gx</text>\n", x, top - 5,
                pow(10, power));
    }
}

static void put_row(const struct ae_table *table, size_t row, const struct axis *axis, double y, FILE *out)
{
    char text[AE_CELL_TEXT_MAX];
    const struct ae_cell *name = cell_of(table, row, "entrant"), *user = cell_of(table, row, "user_GM"),
                         *gm = cell_of(table, row, "GM"), *coverage = cell_of(table, row, "coverage");
    const double middle = y + ROW / 2.;
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, middle + 4);
    ae_html_text(name->text, strnlen(name->text, 22), out);
    fputs("</text>", out);
    if (user->value > 0)
        fprintf(out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>", x_of(axis, 1),
                y + 4, x_of(axis, fmax(user->value, 1)) - x_of(axis, 1), ROW - 8);
    if (gm->value > 0) {
        if (gm->interval != AE_INTERVAL_NONE)
            fprintf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                    x_of(axis, gm->low), x_of(axis, gm->high), middle, middle);
        fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x_of(axis, gm->value), middle);
    }
    fprintf(out, "<text class=\"soft\" x=\"%d\" y=\"%.1f\">", WIDTH - RIGHT + 10, middle + 4);
    ae_html_put(ae_cell_print(coverage, text), out);
    fputs(" right</text>\n", out);
}

void ae_print_svg(const struct ae_report *report, FILE *out)
{
    double height = 10;
    for (size_t t = 0; t < report->table_count; t++)
        if (is_leaderboard(&report->tables[t]))
            height += TOP + ROW * (double)rows_of(&report->tables[t]) + 14;
    height += 24;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
            "role=\"img\" "
            "aria-label=\"Leaderboards\">\n",
            WIDTH, height, WIDTH, height);
    fputs("<style>text{font:13px system-ui,'DejaVu "
          "Sans',sans-serif;fill:#1b1f24}.title{font-weight:600}.soft{fill:#57606a}"
          ".grid{stroke:#d0d7de}.bar{fill:#9ecae9}.mark{stroke:#08519c;stroke-width:2}.dot{fill:#08519c}"
          "@media(prefers-color-scheme:dark){text{fill:#e4e8ec}.soft{fill:#9aa4ae}.grid{stroke:#343b44}.bar{fill:#"
          "1b5a8a}"
          ".mark{stroke:#a9d3f5}.dot{fill:#a9d3f5}}</style>\n",
          out);
    const struct axis axis = find_axis(report);
    double y = 10;
    for (size_t t = 0; t < report->table_count; t++) {
        const struct ae_table *table = &report->tables[t];
        if (!is_leaderboard(table))
            continue;
        fprintf(out, "<text class=\"title\" x=\"8\" y=\"%.1f\">", y + 16);
        ae_html_text(table->title, strnlen(table->title, 110), out);
        fputs("</text>\n", out);
        put_ticks(&axis, y + TOP - 6, y + TOP + ROW * (double)rows_of(table), out);
        for (size_t row = 0; row < rows_of(table); row++)
            put_row(table, row, &axis, y + TOP + ROW * (double)row, out);
        y += TOP + ROW * (double)rows_of(table) + 14;
        if (table->row_count > ROWS_MAX)
            fprintf(out, "<text class=\"soft\" x=\"8\" y=\"%.1f\">%zu more are in the tables.</text>\n", y - 2,
                    table->row_count - ROWS_MAX);
    }
    fprintf(
        out,
        "<text class=\"soft\" x=\"8\" y=\"%.1f\">Bar: user_GM, the speedup over all tasks, a failed or slower one "
        "counted as 1. Dot: GM over the right ones, with its 95%% interval.</text>\n</svg>\n",
        height - 10);
}
