#include "llm/answer.h"

#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fences within fences are followed this deep; each level looks at a part of its parent only. */
#define DEPTH_MAX 4

static const char *const note_names[AE_ANSWER_NOTES] = {"crlf",       "several",  "nested",  "reasoning",
                                                        "open_fence", "no_fence", "entities"};

const char *ae_answer_notes_text(unsigned notes, char *text, size_t size)
{
    size_t used = 0;
    if (size)
        text[0] = 0;
    for (int i = 0; i < AE_ANSWER_NOTES; i++)
        if (notes & (1u << i) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", note_names[i]);
    return text;
}

struct span {
    const char *at;
    size_t size;
};

/* --- does it define the function? ------------------------------------------------------------------------ */

/* One step over text that a compiler would not read as code (comments, literals), else one byte. */
static size_t skip_quiet(const char *p, const char *end)
{
    if (*p == '/' && end - p > 1 && p[1] == '/') {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        return (size_t)((line ? line : end) - p);
    }
    if (*p == '/' && end - p > 1 && p[1] == '*') {
        const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
        return close ? (size_t)(close + 2 - p) : (size_t)(end - p);
    }
    if (*p == '"' || *p == '\'') {
        const char *q = p + 1;
        while (q < end && *q != *p && *q != '\n')
            q += *q == '\\' && end - q > 1 ? 2 : 1;
        return q < end && *q == *p ? (size_t)(q + 1 - p) : 1;
    }
    return 0;
}

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end) {
        const size_t quiet = *p == '/' ? skip_quiet(p, end) : 0;
        if (quiet)
            p += quiet;
        else if (isspace((unsigned char)*p))
            p++;
        else
            break;
    }
    return p;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char wanted[] = "solution_compute";
#define WANTED (sizeof wanted - 1)

/* Behind the name: a parameter list, then a body. "noexcept" and the like may stand between. A list holds neither
 * statements nor the name again: stopping there keeps the search linear in hostile text. */
static bool has_body(const char *p, const char *end)
{
    int depth = 0;
    p = skip_blank(p, end);
    if (p == end || *p != '(')
        return false;
    while (p < end) {
        const size_t quiet = skip_quiet(p, end);
        if (quiet) {
            p += quiet;
            continue;
        }
        if (*p == ';' || *p == '{' || *p == '}' ||
            (*p == wanted[0] && (size_t)(end - p) >= WANTED && memcmp(p, wanted, WANTED) == 0))
            return false;
        depth += (*p == '(') - (*p == ')');
        p++;
        if (depth == 0)
            break;
    }
    for (p = skip_blank(p, end); p < end && is_word(*p); p = skip_blank(p, end))
        while (p < end && is_word(*p))
            p++;
    return depth == 0 && p < end && *p == '{';
}

bool ae_answer_defines(const char *text, size_t size)
{
    const char *p = text, *end = text + size;
    while (p < end) {
        const size_t quiet = skip_quiet(p, end);
        if (quiet) {
            p += quiet;
        } else if (is_word(*p)) {
            const char *word = p;
            while (p < end && is_word(*p))
                p++;
            if ((size_t)(p - word) == WANTED && memcmp(word, wanted, WANTED) == 0 && has_body(p, end))
                return true;
        } else {
            p++;
        }
    }
    return false;
}

/* --- fences ----------------------------------------------------------------------------------------------- */

struct fence {
    char mark;     /* '`' or '~'; 0: the line is no fence */
    size_t length; /* of the run of marks */
    bool info;     /* a language or the like behind it: it can only open */
};

static struct fence fence_of(const char *line, size_t size)
{
    struct fence f = {0};
    size_t i = 0;
    while (i < size && (line[i] == ' ' || line[i] == '\t' || line[i] == '>')) /* lists and quotes indent */
        i++;
    const size_t start = i;
    if (i == size || (line[i] != '`' && line[i] != '~'))
        return f;
    while (i < size && line[i] == line[start])
        i++;
    const size_t length = i - start;
    if (length < 3)
        return f;
    while (i < size && isspace((unsigned char)line[i]))
        i++;
    f.info = i < size;
    if (f.info && line[start] == '`' && memchr(line + i, '`', size - i))
        return f; /* inline code, not a fence */
    f.mark = line[start];
    f.length = length;
    return f;
}

struct search {
    struct span best;
    size_t found; /* blocks that define the function */
    unsigned notes;
    size_t blocks;
};

static void consider(struct search *s, struct span block, unsigned notes)
{
    if (!ae_answer_defines(block.at, block.size))
        return;
    s->found++;
    s->best = block;
    s->notes = notes;
}

/* Looks through the blocks of text. A block that holds fences itself (an answer wrapped as a whole) is looked through
 * in turn, and counts as a block only where nothing inside it defines the function. */
static void search(struct search *s, struct span text, unsigned notes, int depth)
{
    const char *p = text.at, *end = text.at + text.size;
    while (p < end) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        const struct fence open = fence_of(p, (size_t)((next ? next : end) - p));
        p = next ? next + 1 : end;
        if (!open.mark)
            continue;
        struct span block = {p, 0};
        bool closed = false, inner = false;
        while (p < end && !closed) {
            next = memchr(p, '\n', (size_t)(end - p));
            const struct fence f = fence_of(p, (size_t)((next ? next : end) - p));
            if (f.mark == open.mark && f.length >= open.length && !f.info)
                closed = true;
            else
                inner |= f.mark != 0;
            if (!closed)
                block.size = (size_t)((next ? next + 1 : end) - block.at);
            p = next ? next + 1 : end;
        }
        s->blocks++;
        const unsigned own =
            notes | (closed || depth > 0 ? 0 : AE_ANSWER_OPEN_FENCE); /* an inner one ends with its outer */
        const size_t before = s->found;
        if (inner && depth < DEPTH_MAX)
            search(s, block, own | AE_ANSWER_NESTED, depth + 1);
        if (s->found == before)
            consider(s, block, own);
    }
}

/* --- no fence --------------------------------------------------------------------------------------------- */

static bool begins_code(const char *line, size_t size)
{
    static const char *const starts[] = {"#include", "#define", "#pragma", "extern ", "__global__", "__device__",
                                         "template",  "static ", "using ",  "void ",   "//",         "/*",
                                         "namespace ", "typedef ", "struct ", "__constant__", "constexpr "};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (size >= strlen(starts[i]) && memcmp(line, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static struct span bare_code(struct span text)
{
    const char *end = text.at + text.size;
    for (const char *p = text.at; p < end;) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        if (begins_code(p, (size_t)((next ? next : end) - p))) {
            const char *brace = memrchr(p, '}', (size_t)(end - p));
            return (struct span){p, brace ? (size_t)(brace + 1 - p) : 0};
        }
        p = next ? next + 1 : end;
    }
    return (struct span){text.at, 0};
}

/* --- entities --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    char character;
} entities[] = {{"&lt;", '<'},  {"&gt;", '>'},   {"&amp;", '&'}, {"&quot;", '"'},
                {"&#39;", '\''}, {"&#x27;", '\''}, {"&apos;", '\''}, {"&nbsp;", ' '}};

static int entity_at(const char *p, const char *end)
{
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        const size_t n = strlen(entities[i].name);
        if ((size_t)(end - p) >= n && memcmp(p, entities[i].name, n) == 0)
            return (int)i;
    }
    return -1;
}

/* "x = &lt;" is C for the address of lt. Text counts as escaped only where it is so throughout: no bare angle bracket,
 * and every ampersand begins an entity. */
static bool is_escaped(struct span text)
{
    bool any = false;
    for (const char *p = text.at, *end = p + text.size; p < end; p++) {
        if (*p == '<' || *p == '>')
            return false;
        if (*p == '&') {
            if (entity_at(p, end) < 0)
                return false;
            any = true;
        }
    }
    return any;
}

static size_t unescape(char *text, size_t size)
{
    char *to = text;
    for (const char *p = text, *end = text + size; p < end;) {
        const int e = *p == '&' ? entity_at(p, end) : -1;
        *to++ = e >= 0 ? entities[e].character : *p;
        p += e >= 0 ? strlen(entities[e].name) : 1;
    }
    *to = 0;
    return (size_t)(to - text);
}

/* --- the whole -------------------------------------------------------------------------------------------- */

/* CRLF and lone CR to LF, in place. */
static size_t normalise(char *text, size_t size, unsigned *notes)
{
    char *to = text;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\r') {
            *notes |= AE_ANSWER_CRLF;
            if (i + 1 < size && text[i + 1] == '\n')
                continue;
            *to++ = '\n';
        } else {
            *to++ = text[i];
        }
    }
    *to = 0;
    return (size_t)(to - text);
}

/* Servers that do not part reasoning from the answer leave it in front, between marks; some leave out the first. */
static struct span without_reasoning(struct span text, unsigned *notes)
{
    static const char open[] = "<think>", close[] = "</think>";
    const char *p = text.at, *end = p + text.size;
    while (p < end && isspace((unsigned char)*p))
        p++;
    const bool opened = (size_t)(end - p) >= sizeof open - 1 && memcmp(p, open, sizeof open - 1) == 0;
    const char *closed = memmem(p, (size_t)(end - p), close, sizeof close - 1);
    if (!opened && (!closed || (closed != text.at && closed[-1] != '\n')))
        return text;
    *notes |= AE_ANSWER_REASONING;
    if (!closed)
        return (struct span){end, 0}; /* it never came to an answer */
    closed += sizeof close - 1;
    return (struct span){closed, (size_t)(end - closed)};
}

int ae_answer_extract(const char *text, size_t size, char **ret, size_t *ret_size, unsigned *ret_notes,
                      struct ae_error *err)
{
    unsigned notes = 0;
    ae_autofree char *copy = malloc(size + 1);
    if (!copy)
        return ae_error_set(err, AE_E_NOMEM, "no memory for an answer of %zu bytes", size);
    if (size)
        memcpy(copy, text, size);
    copy[size] = 0;
    size = normalise(copy, size, &notes);
    const struct span whole = without_reasoning((struct span){copy, size}, &notes);
    struct search s = {0};
    search(&s, whole, 0, 0);
    if (s.found == 0 && s.blocks == 0) {
        const struct span bare = bare_code(whole);
        consider(&s, bare, AE_ANSWER_NO_FENCE);
    }
    if (s.found == 0)
        return ae_error_set(err, AE_E_NOTFOUND, "%s",
                            whole.size == 0 ? "the answer is empty"
                            : s.blocks == 0 ? "the answer holds no code"
                                            : "no code block of the answer defines solution_compute");
    char *source = malloc(s.best.size + 1);
    if (!source)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a source of %zu bytes", s.best.size);
    memcpy(source, s.best.at, s.best.size);
    source[s.best.size] = 0;
    *ret_size = s.best.size;
    if (is_escaped(s.best)) {
        notes |= AE_ANSWER_ENTITIES;
        *ret_size = unescape(source, s.best.size);
    }
    *ret = source;
    *ret_notes = notes | s.notes | (s.found > 1 ? AE_ANSWER_SEVERAL : 0);
    return AE_OK;
}
