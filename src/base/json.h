/* Text from outside in JSON. A library of its own, so that what needs no JSON links none. */
#ifndef AE_BASE_JSON_H
#define AE_BASE_JSON_H

struct json_t;

/* A new string, or NULL without memory. JSON has no place for bytes that are no UTF-8: a text with such is taken as
 * ae_utf8_printable() shows it. For names, sentences and logs, never for sources. */
struct json_t *ae_json_text(const char *text);

#endif
