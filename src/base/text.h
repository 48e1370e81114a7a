/* Small helpers over C strings. */
#ifndef AE_BASE_TEXT_H
#define AE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Levenshtein distance; SIZE_MAX where a string is longer than 127 bytes (no name of ours is). */
size_t ae_text_distance(const char *a, const char *b);
/* Is a name at this distance worth suggesting for what was given, of which a third at most, rounded up, is then mistyped?
 * What is farther off was something else. */
bool ae_text_near(const char *given, size_t distance);
bool ae_text_starts(const char *text, const char *prefix);
/* The file and its folder of a path, "alice/x.cu": what may be shown elsewhere. Points into path. */
const char *ae_text_path_tail(const char *path);
bool ae_text_ends(const char *text, const char *suffix);

/* The word for so many: one, or many for every other count. */
const char *ae_text_plural(int64_t count, const char *one, const char *many);

/* A whole decimal number within lo..hi and nothing behind it. */
bool ae_text_to_i64(const char *text, int64_t lo, int64_t hi, int64_t *ret);

#endif
