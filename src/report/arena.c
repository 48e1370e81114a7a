#include "report/arena.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)256 * 1024)

struct ae_arena_block {
    struct ae_arena_block *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

void *ae_arena_alloc(struct ae_arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    struct ae_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        const size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct ae_arena_block){.next = arena->blocks, .size = room};
        arena->blocks = block;
    }
    void *ret = block->bytes + block->used;
    block->used += size;
    return ret;
}

char *ae_arena_text(struct ae_arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = ae_arena_alloc(arena, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void ae_arena_release(struct ae_arena *arena)
{
    while (arena->blocks) {
        struct ae_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

/* --- words ------------------------------------------------------------------------------------------------ */

static uint64_t hash(const char *word) /* FNV-1a */
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
    return h;
}

/* The slot where word is, or the free one where it would be. */
static int *slot_of(const struct ae_words *words, const char *word)
{
    uint64_t at = hash(word);
    for (;; at++) {
        int *slot = &words->slots[at & (uint64_t)(words->slot_count - 1)];
        if (*slot < 0 || strcmp(words->words[*slot], word) == 0)
            return slot;
    }
}

static int grow(struct ae_words *words)
{
    if (words->room > INT_MAX / 8)
        return -1;
    const int room = words->room ? 2 * words->room : 64, slot_count = 2 * room;
    const char **more = realloc(words->words, (size_t)room * sizeof *more);
    if (!more)
        return -1;
    words->words = more;
    int *slots = malloc((size_t)slot_count * sizeof *slots);
    if (!slots)
        return -1;
    free(words->slots);
    memset(slots, 0xff, (size_t)slot_count * sizeof *slots);
    words->slots = slots;
    words->slot_count = slot_count;
    words->room = room;
    for (int i = 0; i < words->count; i++)
        *slot_of(words, words->words[i]) = i;
    return 0;
}

int ae_words_find(const struct ae_words *words, const char *word)
{
    return words->count ? *slot_of(words, word) : -1;
}

int ae_words_add(struct ae_words *words, struct ae_arena *arena, const char *word)
{
    const int known = ae_words_find(words, word);
    if (known >= 0)
        return known;
    if (words->count == words->room && grow(words) != 0)
        return -1;
    const char *copy = ae_arena_text(arena, word);
    if (!copy)
        return -1;
    *slot_of(words, copy) = words->count;
    words->words[words->count] = copy;
    return words->count++;
}

void ae_words_release(struct ae_words *words)
{
    free(words->words);
    free(words->slots);
    *words = (struct ae_words){0};
}
