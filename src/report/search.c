#include "report/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 192

bool ae_entry_searched(const struct ae_entry *e)
{
    return !e->hidden && !e->stale && e->target == AE_CUDA && !ae_entry_excused(e);
}

static void make_key(const char *task, const char *submission, char ret[KEY_MAX])
{
    snprintf(ret, KEY_MAX, "%.64s %.100s", submission, task);
}

void ae_searched_release(struct ae_searched *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->keys.count && i < s->room; i++)
        free(s->programs[i].findings);
    free(s->programs);
    ae_words_release(&s->keys);
    ae_arena_release(&s->arena);
    free(s);
}

int ae_searched_find(const struct ae_searched *s, const char *task, const char *submission)
{
    char key[KEY_MAX];
    if (!s)
        return -1;
    make_key(task, submission, key);
    const int number = ae_words_find(&s->keys, key);
    return number >= 0 && s->programs[number].looked ? number : -1;
}

static int add_program(struct ae_searched *s, struct ae_store *store, const char *task, const char *sha256, size_t *bytes,
                       struct ae_error *err)
{
    char key[KEY_MAX];
    struct ae_submission submission;
    make_key(task, sha256, key);
    if (ae_words_find(&s->keys, key) >= 0)
        return AE_OK;
    const int number = ae_words_add(&s->keys, &s->arena, key);
    if (number >= 0 && number == s->room) {
        const int room = s->room ? 2 * s->room : 256;
        struct ae_report_program *more = realloc(s->programs, (size_t)room * sizeof *more);
        if (more) {
            s->programs = more;
            s->room = room;
        }
    }
    if (number < 0 || number >= s->room)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the programs of the report");
    s->programs[number] = (struct ae_report_program){0};
    if (*bytes >= s->most) {
        s->left_out++;
        return AE_OK;
    }
    const int r = ae_store_submission_get(store, sha256, &submission, err);
    if (r != AE_OK)
        return r;
    *bytes += submission.size;
    s->programs[number].task = ae_arena_text(&s->arena, task);
    s->programs[number].source = submission.source; /* until it was searched */
    s->programs[number].source_size = submission.size;
    if (s->programs[number].task)
        return AE_OK;
    ae_submission_release(&submission);
    s->programs[number].source = NULL;
    return ae_error_set(err, AE_E_NOMEM, "no memory for the programs of the report");
}

/* The search sees the programs whose sources were read, one behind the other. */
static int look(struct ae_searched *s, struct ae_error *err)
{
    const size_t count = (size_t)s->keys.count;
    struct ae_report_program *given = malloc((count + 1) * sizeof *given);
    size_t n = 0, k = 0;
    if (!given)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the programs of the report");
    for (size_t i = 0; i < count; i++)
        if (s->programs[i].source)
            given[n++] = s->programs[i];
    const int r = n > 0 ? s->search->look(s->search->data, given, n, err) : AE_OK;
    for (size_t i = 0; i < count; i++)
        if (s->programs[i].source) {
            s->programs[i] = given[k++];
            s->unread += !s->programs[i].looked;
        }
    free(given);
    return r;
}

int ae_searched_new(struct ae_store *store, const struct ae_report_search *search,
                    const struct ae_collection *c, struct ae_searched **ret, struct ae_error *err)
{
    struct ae_searched *s = calloc(1, sizeof *s);
    size_t bytes = 0;
    int r = s ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for the programs of the report");
    if (s) {
        s->search = search;
        s->most = c->count > AE_REPORT_PAGE_ROWS ? AE_REPORT_SEARCH_BYTES_LARGE : AE_REPORT_SEARCH_BYTES;
    }
    for (int pass = 0; r == AE_OK && pass < 2; pass++) /* right ones first: only these tell what pays */
        for (size_t i = 0; r == AE_OK && i < c->count; i++) {
            const struct ae_entry *e = &c->entries[i];
            if (ae_entry_searched(e) && (e->verdict == AE_PASS) == (pass == 0))
                r = add_program(s, store, ae_entry_task(c, e), e->submission, &bytes, err);
        }
    if (r == AE_OK)
        r = look(s, err);
    for (int i = 0; s && i < s->keys.count && i < s->room; i++) {
        free((char *)s->programs[i].source);
        s->programs[i].source = NULL;
    }
    if (r == AE_OK)
        *ret = s;
    else
        ae_searched_release(s);
    return r;
}
