/* Memory that is freed all at once, and numbered words; for the reports only. */
#ifndef AE_REPORT_ARENA_H
#define AE_REPORT_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct ae_arena {
    struct ae_arena_block *blocks;
};

/* NULL where memory ran out. Aligned for any object. */
void *ae_arena_alloc(struct ae_arena *arena, size_t size);
char *ae_arena_text(struct ae_arena *arena, const char *text);
void ae_arena_release(struct ae_arena *arena);

/* Distinct words, numbered from 0 in the order of their first appearance. Zeroed is empty. */
struct ae_words {
    const char **words; /* in the arena */
    int count;
    int room;
    int *slots; /* hash table of numbers, -1 is free */
    int slot_count;
};

/* The number of word, which is added where it is new; -1 where memory ran out. */
int ae_words_add(struct ae_words *words, struct ae_arena *arena, const char *word);
int ae_words_find(const struct ae_words *words, const char *word); /* -1: not there */
void ae_words_release(struct ae_words *words);

#endif
