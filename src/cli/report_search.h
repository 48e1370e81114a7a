/* The search for strategies as reports want it. */
#ifndef AE_CLI_REPORT_SEARCH_H
#define AE_CLI_REPORT_SEARCH_H

#include "report/report.h"

/* Looks into sources by the grammar of CUDA, with each task's reference beside the program, on a few threads. AE_E_ENV in
 * a build without the grammar. Release with ae_cli_search_release(). */
int ae_cli_search_init(struct ae_report_search *ret, struct ae_error *err);
void ae_cli_search_release(struct ae_report_search *search);

#endif
