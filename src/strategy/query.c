#include "strategy/hunt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* CMakeLists.txt names the file that holds all queries. */
__asm__(".section .rodata\nae_queries:\n.incbin \"" AE_QUERIES_FILE "\"\n.byte 0\nae_queries_end:\n.previous\n");
extern const char ae_queries[], ae_queries_end[];

const char *ae_query_text(size_t *ret_size)
{
    *ret_size = (size_t)((uintptr_t)ae_queries_end - (uintptr_t)ae_queries) - 1;
    return ae_queries;
}

enum test { TEST_EQ, TEST_ANY, TEST_NOT_ANY, TEST_STARTS, TEST_HAS };

/* (#any-of? @what "a" "b"). Names are compared by their last part, so that "sort" is thrust::sort too; has? looks into
 * the whole text. */
struct predicate {
    enum test test;
    uint32_t capture;
    const char **words;
    uint32_t *lengths;
    int count;
};

struct setting {
    const char *key, *value;
};

struct pattern {
    enum ae_strategy_id strategy;
    struct predicate *predicates;
    int predicate_count;
    struct setting settings[8];
    int setting_count;
    int context; /* 0 any, 1 device, 2 host, 3 kernel */
    bool in_loop;
};

struct ae_query {
    TSQuery *query;
    struct pattern *patterns;
    uint32_t pattern_count;
    int *capture_slot; /* by capture id: 0 at, 1 what, 2 a, 3 b */
    uint32_t capture_count;
};

static int read_predicate(struct ae_query *q, struct pattern *p, const TSQueryPredicateStep *step, uint32_t count,
                          struct ae_error *err)
{
    static const char *const names[] = {"eq?", "any-of?", "not-any-of?", "starts?", "has?"};
    uint32_t length;
    const char *name = ts_query_string_value_for_id(q->query, step[0].value_id, &length);
    if (strcmp(name, "set!") == 0) {
        if (count < 2 || p->setting_count == 8)
            return ae_error_set(err, AE_E_INTERNAL, "a query of %s sets nothing or too much",
                                ae_strategies[p->strategy].id);
        struct setting *s = &p->settings[p->setting_count++];
        s->key = ts_query_string_value_for_id(q->query, step[1].value_id, &length);
        s->value = count > 2 ? ts_query_string_value_for_id(q->query, step[2].value_id, &length) : "";
        if (strcmp(s->key, "context") == 0)
            p->context = strcmp(s->value, "device") == 0   ? 1
                         : strcmp(s->value, "host") == 0   ? 2
                         : strcmp(s->value, "kernel") == 0 ? 3
                                                           : 0;
        p->in_loop |= strcmp(s->key, "in") == 0 && strcmp(s->value, "loop") == 0;
        return AE_OK;
    }
    int test = 0;
    while (test < 5 && strcmp(name, names[test]) != 0)
        test++;
    if (test == 5 || count < 3 || step[1].type != TSQueryPredicateStepTypeCapture)
        return ae_error_set(err, AE_E_INTERNAL, "a query of %s has the unknown predicate '%s'",
                            ae_strategies[p->strategy].id, name);
    struct predicate *more = realloc(p->predicates, (size_t)(p->predicate_count + 1) * sizeof *more);
    const char **words = malloc((count - 2) * sizeof *words);
    uint32_t *lengths = malloc((count - 2) * sizeof *lengths);
    if (more)
        p->predicates = more;
    if (!more || !words || !lengths) {
        free(words);
        free(lengths);
        return ae_error_set(err, AE_E_NOMEM, "no memory for queries");
    }
    for (uint32_t i = 2; i < count; i++)
        words[i - 2] = ts_query_string_value_for_id(q->query, step[i].value_id, &lengths[i - 2]);
    p->predicates[p->predicate_count++] = (struct predicate){.test = (enum test)test,
                                                             .capture = step[1].value_id,
                                                             .words = words,
                                                             .lengths = lengths,
                                                             .count = (int)count - 2};
    return AE_OK;
}

static int read_pattern(struct ae_query *q, uint32_t index, struct ae_error *err)
{
    struct pattern *p = &q->patterns[index];
    const uint32_t start = ts_query_start_byte_for_pattern(q->query, index);
    const char *at = ae_queries, *found = NULL;
    while ((at = strstr(at, "; strategy ")) && at < ae_queries + start) {
        found = at;
        at++;
    }
    char id[8] = "";
    if (found)
        sscanf(found, "; strategy %7[A-Z0-9]", id);
    const int strategy = ae_strategy_by_id(id, err);
    if (strategy < 0)
        return AE_E_INTERNAL;
    p->strategy = (enum ae_strategy_id)strategy;
    uint32_t count;
    const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(q->query, index, &count);
    int rc = AE_OK;
    for (uint32_t i = 0, begin = 0; rc == AE_OK && i < count; i++)
        if (steps[i].type == TSQueryPredicateStepTypeDone) {
            rc = read_predicate(q, p, steps + begin, i - begin, err);
            begin = i + 1;
        }
    return rc;
}

int ae_query_new(const struct ae_grammar *grammar, struct ae_query **ret, struct ae_error *err)
{
    static const char *const slots[] = {"at", "what", "a", "b"};
    size_t size;
    uint32_t offset;
    TSQueryError error;
    const char *text = ae_query_text(&size);
    struct ae_query *q = calloc(1, sizeof *q);
    if (!q)
        return ae_error_set(err, AE_E_NOMEM, "no memory for queries");
    q->query = ts_query_new(grammar->language, text, (uint32_t)size, &offset, &error);
    if (!q->query) {
        free(q);
        return ae_error_set(err, AE_E_INTERNAL, "the queries do not fit the grammar (error %d) at: %.60s", (int)error,
                            text + offset);
    }
    q->pattern_count = ts_query_pattern_count(q->query);
    q->capture_count = ts_query_capture_count(q->query);
    q->patterns = calloc(q->pattern_count, sizeof *q->patterns);
    q->capture_slot = calloc(q->capture_count, sizeof *q->capture_slot);
    int rc = q->patterns && q->capture_slot ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for queries");
    for (uint32_t c = 0; rc == AE_OK && c < q->capture_count; c++) {
        uint32_t length;
        const char *name = ts_query_capture_name_for_id(q->query, c, &length);
        q->capture_slot[c] = -1;
        for (int s = 0; s < 4; s++)
            if (strcmp(name, slots[s]) == 0)
                q->capture_slot[c] = s;
    }
    for (uint32_t p = 0; rc == AE_OK && p < q->pattern_count; p++)
        rc = read_pattern(q, p, err);
    if (rc != AE_OK) {
        ae_query_free(q);
        return rc;
    }
    *ret = q;
    return AE_OK;
}

void ae_query_free(struct ae_query *query)
{
    if (!query)
        return;
    for (uint32_t p = 0; query->patterns && p < query->pattern_count; p++) {
        for (int k = 0; k < query->patterns[p].predicate_count; k++) {
            free(query->patterns[p].predicates[k].words);
            free(query->patterns[p].predicates[k].lengths);
        }
        free(query->patterns[p].predicates);
    }
    ts_query_delete(query->query);
    free(query->patterns);
    free(query->capture_slot);
    free(query);
}

const char *ae_query_setting(const struct ae_query *query, int pattern, const char *key)
{
    const struct pattern *p = &query->patterns[pattern];
    for (int i = 0; i < p->setting_count; i++)
        if (strcmp(p->settings[i].key, key) == 0)
            return p->settings[i].value;
    return NULL;
}

static bool holds(const struct predicate *p, const char *text, size_t size)
{
    for (int i = 0; i < p->count; i++) {
        const size_t n = p->lengths[i];
        const bool hit = p->test == TEST_STARTS ? size >= n && memcmp(text, p->words[i], n) == 0
                         : p->test == TEST_HAS  ? memmem(text, size, p->words[i], n) != NULL
                                                : size == n && memcmp(text, p->words[i], n) == 0;
        if (hit)
            return p->test != TEST_NOT_ANY;
    }
    return p->test == TEST_NOT_ANY;
}

static bool is_word(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    return true;
}

static bool accepted(const struct pattern *p, const TSQueryMatch *m, const struct ae_syntax *s)
{
    for (int k = 0; k < p->predicate_count; k++)
        for (uint16_t c = 0; c < m->capture_count; c++)
            if (m->captures[c].index == p->predicates[k].capture) {
                const uint32_t from = ts_node_start_byte(m->captures[c].node),
                               to = ts_node_end_byte(m->captures[c].node);
                const bool whole = p->predicates[k].test == TEST_HAS || is_word(s->text + from, to - from);
                const int name = whole ? -1 : ae_last_name(s, ae_syntax_index(s, m->captures[c].node));
                const char *text = name >= 0 ? s->names[name] : s->text + from;
                if (!holds(&p->predicates[k], text, name >= 0 ? strlen(text) : to - from))
                    return false;
            }
    return true;
}

static int by_strategy(const void *a, const void *b)
{
    const struct ae_match *x = a, *y = b;
    return x->pattern != y->pattern ? (x->pattern < y->pattern ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

int ae_query_run(const struct ae_query *q, struct ae_hunt *hunt, struct ae_error *err)
{
    const struct ae_program *code = hunt->code;
    TSQueryCursor *cursor = ts_query_cursor_new();
    if (!cursor)
        return ae_error_set(err, AE_E_NOMEM, "no memory for matches");
    ts_query_cursor_set_match_limit(cursor, 4096); /* of matches begun and not ended: hostile nesting */
    ts_query_cursor_exec(cursor, q->query, ts_tree_root_node(code->syntax.tree));
    TSQueryMatch m;
    int capacity = 256, rc = AE_OK;
    hunt->matches = malloc((size_t)capacity * sizeof *hunt->matches); /* never NULL: loops add to it */
    if (!hunt->matches)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for matches");
    while (rc == AE_OK && ts_query_cursor_next_match(cursor, &m)) {
        const struct pattern *p = &q->patterns[m.pattern_index];
        if (!accepted(p, &m, &code->syntax))
            continue;
        int slot[4] = {-1, -1, -1, -1};
        for (uint16_t c = 0; c < m.capture_count; c++) {
            const int which = q->capture_slot[m.captures[c].index];
            if (which >= 0 && slot[which] < 0)
                slot[which] = ae_syntax_index(&code->syntax, m.captures[c].node);
        }
        const int at = slot[0] >= 0 ? slot[0] : slot[1];
        if (at < 0)
            continue;
        const int function = code->function_of[at];
        const bool device = ae_on_device(code, function);
        if ((p->context == 1 && !device) || (p->context == 2 && (function < 0 || device)) ||
            (p->context == 3 && (function < 0 || !code->functions[function].kernel)) ||
            (p->in_loop && code->loop_of[at] < 0))
            continue;
        if (hunt->match_count == capacity) {
            capacity *= 2;
            struct ae_match *more = realloc(hunt->matches, (size_t)capacity * sizeof *more);
            if (!more) {
                rc = ae_error_set(err, AE_E_NOMEM, "no memory for matches");
                break;
            }
            hunt->matches = more;
        }
        hunt->matches[hunt->match_count++] =
            (struct ae_match){.pattern = m.pattern_index, .at = at, .what = slot[1], .a = slot[2], .b = slot[3]};
    }
    ts_query_cursor_delete(cursor);
    if (rc != AE_OK)
        return rc;
    /* Patterns are in order of strategies, as the text is. */
    if (hunt->match_count > 0)
        qsort(hunt->matches, (size_t)hunt->match_count, sizeof *hunt->matches, by_strategy);
    for (int i = 0; i < hunt->match_count; i++) {
        const enum ae_strategy_id id = q->patterns[hunt->matches[i].pattern].strategy;
        if (hunt->end[id] == 0)
            hunt->first[id] = i;
        hunt->end[id] = i + 1;
    }
    return AE_OK;
}
