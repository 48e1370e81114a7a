/* The libraries that a program for the processor may be linked to, file by file. Other files in their folders are none of
 * its business: which of their pages are in memory would be a note from one process to the next. */
#ifndef AE_RUN_LIBRARIES_H
#define AE_RUN_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

#define AE_LIBRARIES_MAX 96

struct ae_libraries {
    char path[AE_LIBRARIES_MAX][256];
    size_t count;
};

/* Looks for them where systems have them. False where one that the worker or any program needs is not among them: this
 * system keeps them elsewhere. */
bool ae_libraries_find(struct ae_libraries *ret);

#endif
