/* One printer a format; they see tables only. For src/report. */
#ifndef AE_REPORT_PRINT_H
#define AE_REPORT_PRINT_H

#include "report/report.h"

#define AE_CELL_TEXT_MAX 96 /* of a cell that is not text */

/* A cell as people read it: "12.3x [12.0, 12.6]", "38/42", "wrong_answer", "-". Raw text is not escaped: text cells
 * return their own string, others are written to buffer. */
const char *ae_cell_print(const struct ae_cell *cell, char buffer[AE_CELL_TEXT_MAX]);
/* Numbers stand on the right. */
bool ae_column_is_numeric(const struct ae_column *column);
/* "name (unit)". */
const char *ae_column_title(const struct ae_column *column, char *buffer, size_t size);
/* Date and time in UTC, ISO 8601. */
void ae_print_time(int64_t ns, char text[32]);

void ae_print_term(const struct ae_report *report, const struct ae_print_options *options, FILE *out);
void ae_print_md(const struct ae_report *report, const struct ae_report_header *header, FILE *out);
void ae_print_csv(const struct ae_report *report, FILE *out);
/* AE_E_NOMEM, else AE_OK. */
int ae_print_json(const struct ae_report *report, const struct ae_report_header *header, FILE *out);
void ae_print_latex(const struct ae_report *report, const struct ae_report_header *header, FILE *out);
void ae_print_svg(const struct ae_report *report, FILE *out); /* the leaderboards only */
/* AE_E_ENV where the program was built without the library for it; AE_E_NOMEM, AE_E_IO. */
int ae_print_xlsx(const struct ae_report *report, const struct ae_report_header *header, FILE *out,
                  struct ae_error *err);

#endif
