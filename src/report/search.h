/* The programs of a report and the strategies found in them: each source once, whoever measured it at whatever size. For
 * src/report. */
#ifndef AE_REPORT_SEARCH_H
#define AE_REPORT_SEARCH_H

#include "report/collect.h"

struct ae_searched {
    const struct ae_report_search *search; /* its list of strategies */
    struct ae_arena arena;
    struct ae_words keys; /* task and submission */
    struct ae_report_program *programs; /* by number of the key; their sources are gone */
    int room;
    size_t most;  /* bytes of sources that may be searched */
    int left_out; /* programs beyond them */
    int unread;   /* programs that the search could not look at */
};

/* Has the sources of a collection searched: of displayed programs for a device that were judged. *ret is the caller's,
 * ae_searched_release(). */
int ae_searched_new(struct ae_store *store, const struct ae_report_search *search,
                    const struct ae_collection *collection, struct ae_searched **ret, struct ae_error *err);
void ae_searched_release(struct ae_searched *searched); /* NULL is fine */

/* The number of a program, -1 where there is none or nobody looked at it. searched may be NULL. */
int ae_searched_find(const struct ae_searched *searched, const char *task, const char *submission);

/* Is the entry one whose source is searched? */
bool ae_entry_searched(const struct ae_entry *entry);

#endif
