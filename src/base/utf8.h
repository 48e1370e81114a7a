/* Text from outside on its way to people: UTF-8 decoding, columns on a terminal, and making it harmless. */
#ifndef AE_BASE_UTF8_H
#define AE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at text (NUL-terminated) and returns its bytes, 1 to 4; 0 at the end and where the bytes
 * are no valid UTF-8 (overlong forms and surrogates included). */
size_t ae_utf8_decode(const char *text, uint32_t *ret);
bool ae_utf8_valid(const char *text);
/* Columns of a character: 0 for combining marks, 2 for wide East Asian ones and emoji, else 1. */
int ae_utf8_columns(uint32_t character);

/* Would this character do something to a terminal or deceive the reader: controls, line and paragraph separators,
 * changes of writing direction, invisible tags? */
bool ae_utf8_harmful(uint32_t character);

#define AE_PRINTABLE_MAX 8 /* bytes that one input byte becomes at most */

/* Copies text with every harmful character and invalid byte replaced by its escape ("\n", "\x1b", "\u202e"), cut
 * between characters to what fits in room (NUL included) and in max_columns. Returns the columns used. */
size_t ae_utf8_printable(const char *text, char *out, size_t room, size_t max_columns);

#endif
