/* The parts of the HTML report. For src/report. */
#ifndef AE_REPORT_HTML_H
#define AE_REPORT_HTML_H

#include "report/report.h"

/* A table with data for the script: data-v holds the number behind a cell, and, where there is an interval,
 * data-lo and data-hi. The n-th table of the file. */
void ae_html_table(const struct ae_table *table, size_t n, FILE *out);

/* One section for each submission, entrant and task: verdict, times, phases, log, trials at each size, then the
 * strategies that `report` found in it, its source with their lines marked; then the environments. More than a browser can open are left out, and the section says so. */
int ae_html_submissions(struct ae_store *store, const struct ae_report *report, const struct ae_report_options *options,
                        FILE *out, struct ae_error *err);
/* A source whose lines are marked with the strategies found there: each run of lines that show the same ones is an
 * element with their ids. */
void ae_html_source(const char *source, size_t size, const struct ae_report_program *program,
                    const struct ae_report_search *search, FILE *out);
int ae_html_environments(struct ae_store *store, FILE *out, struct ae_error *err);

#endif
