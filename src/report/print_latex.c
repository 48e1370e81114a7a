#include "report/print.h"

#include "base/utf8.h"

#include <string.h>

/* Every character that means something to TeX is replaced by a command that sets it; control characters and invalid
 * bytes become their visible escapes first. */
static void put_text(const char *text, FILE *out)
{
    char shown[8192];
    ae_utf8_printable(text, shown, sizeof shown, sizeof shown);
    for (const char *p = shown; *p; p++) {
        switch (*p) {
        case '\\':
            fputs("\\textbackslash{}", out);
            break;
        case '~':
            fputs("\\textasciitilde{}", out);
            break;
        case '^':
            fputs("\\textasciicircum{}", out);
            break;
        case '<':
            fputs("\\textless{}", out);
            break;
        case '>':
            fputs("\\textgreater{}", out);
            break;
        case '|':
            fputs("\\textbar{}", out);
            break;
        case '"':
            fputs("\\textquotedbl{}", out);
            break;
        case '`': /* two in a row would be a quotation mark */
            fputs("\\textasciigrave{}", out);
            break;
        case '-': /* two in a row would be a dash */
            fputs("{-}", out);
            break;
        case '[': /* after \\ it would begin an argument */
        case ']':
            fprintf(out, "{%c}", *p);
            break;
        case '{':
        case '}':
        case '$':
        case '&':
        case '#':
        case '_':
        case '%':
            fputc('\\', out);
            /* fall through */
        default:
            fputc(*p, out);
        }
    }
}

static void print_table(const struct ae_table *table, FILE *out)
{
    char buffer[AE_CELL_TEXT_MAX], title[1024];
    bool first = true;
    fputs("\\begin{longtable}{@{}", out);
    for (size_t c = 0; c < table->column_count; c++)
        if (!table->columns[c].extra)
            fputc(ae_column_is_numeric(&table->columns[c]) ? 'r' : 'l', out);
    fputs("@{}}\n\\caption{", out);
    put_text(table->title, out);
    fputs("}\\\\\n\\toprule\n", out);
    for (size_t c = 0; c < table->column_count; c++) {
        if (table->columns[c].extra)
            continue;
        fputs(first ? "" : " & ", out);
        first = false;
        put_text(ae_column_title(&table->columns[c], title, sizeof title), out);
    }
    fputs(" \\\\\n\\midrule\n\\endhead\n", out);
    for (size_t row = 0; row < table->row_count; row++) {
        first = true;
        for (size_t c = 0; c < table->column_count; c++) {
            if (table->columns[c].extra)
                continue;
            fputs(first ? "" : " & ", out);
            first = false;
            put_text(ae_cell_print(&table->cells[row * table->column_count + c], buffer), out);
        }
        fputs(" \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{longtable}\n", out);
    for (size_t i = 0; i < table->note_count; i++) {
        put_text(table->notes[i], out);
        fputs("\\par\n", out);
    }
    first = true;
    for (size_t c = 0; c < table->column_count; c++) {
        if (table->columns[c].extra || !table->columns[c].description[0])
            continue;
        fputs(first ? "{\\footnotesize " : "; ", out);
        first = false;
        put_text(table->columns[c].name, out);
        fputs(": ", out);
        put_text(table->columns[c].description, out);
    }
    fputs(first ? "" : ".\\par}\n", out);
}

void ae_print_latex(const struct ae_report *report, const struct ae_report_header *header, FILE *out)
{
    char time[32];
    ae_print_time(header->generated_ns, time);
    fputs("% For \\input; the preamble needs \\usepackage[T1]{fontenc}, {textcomp}, {booktabs} and {longtable}.\n",
          out);
    fprintf(out, "%% Made by AccelEval %s, %s.\n", header->tool_version ? header->tool_version : "", time);
    if (report->summary) {
        put_text(report->summary, out);
        fputs("\\par\n", out);
    }
    for (size_t i = 0; i < report->table_count; i++) {
        fputc('\n', out);
        print_table(&report->tables[i], out);
    }
}
