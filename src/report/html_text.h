/* The one way for text to get into HTML. For src/report and its fuzz target. */
#ifndef AE_REPORT_HTML_TEXT_H
#define AE_REPORT_HTML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes size bytes as character data that is safe inside of an element (not of script or style) and inside of a
 * quoted attribute value: markup characters and both quotes become references, control characters, invalid UTF-8
 * and characters that would deceive the reader (changes of writing direction) their visible escapes. Line feeds and
 * tabs stay; CRLF becomes LF. */
void ae_html_text(const char *text, size_t size, FILE *out);
void ae_html_put(const char *text, FILE *out); /* of a string */

#endif
