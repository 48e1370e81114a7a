#include "strategy/syntax.h"

#include "strategy/strategy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifdef AE_HAVE_GRAMMAR
const TSLanguage *tree_sitter_cuda(void);
#endif

int ae_grammar_open(struct ae_grammar *ret, struct ae_error *err)
{
    memset(ret, 0, sizeof *ret);
#ifndef AE_HAVE_GRAMMAR
    return ae_error_set(err, AE_E_ENV,
                        "this build has no grammar of CUDA: run tools/grammar/install and configure again");
#else
    static const char *const kinds[N_COUNT] = {NULL,
#define AE_NODE_KIND(name, text) text,
                                               AE_NODE_KINDS(AE_NODE_KIND)
#undef AE_NODE_KIND
    };
    static const char *const fields[F_COUNT] = {NULL,
#define AE_NODE_FIELD(name, text) text,
                                                AE_NODE_FIELDS(AE_NODE_FIELD)
#undef AE_NODE_FIELD
    };
    ret->language = tree_sitter_cuda();
    ret->symbol_count = ts_language_symbol_count(ret->language);
    ret->field_count = ts_language_field_count(ret->language);
    ret->kind_of = calloc(ret->symbol_count, 1);
    ret->field_of = calloc(ret->field_count + 1, 1);
    if (!ret->kind_of || !ret->field_of) {
        ae_grammar_close(ret);
        return ae_error_set(err, AE_E_NOMEM, "no memory for the grammar");
    }
    for (uint32_t i = 0; i < ret->symbol_count; i++)
        for (int k = 1; k < N_COUNT && ts_language_symbol_type(ret->language, (TSSymbol)i) == TSSymbolTypeRegular; k++)
            if (strcmp(ts_language_symbol_name(ret->language, (TSSymbol)i), kinds[k]) == 0)
                ret->kind_of[i] = (uint8_t)k;
    for (uint32_t i = 1; i <= ret->field_count; i++)
        for (int k = 1; k < F_COUNT; k++)
            if (strcmp(ts_language_field_name_for_id(ret->language, (TSFieldId)i), fields[k]) == 0)
                ret->field_of[i] = (uint8_t)k;
    return AE_OK;
#endif
}

void ae_grammar_close(struct ae_grammar *grammar)
{
    free(grammar->kind_of);
    free(grammar->field_of);
    memset(grammar, 0, sizeof *grammar);
}

/* --- blanking --- */

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const struct blanked {
    const char *word;
    bool arguments; /* a parenthesis follows */
    enum ae_mark_kind kind;
} blanked[] = {
    {"__cluster_dims__", true, MARK_CLUSTER_DIMS},
    {"__block_size__", true, MARK_CLUSTER_DIMS},
    {"__maxnreg__", true, MARK_MAXNREG},
    {"__align__", true, MARK_ALIGN},
    {"alignas", true, MARK_ALIGN},
    {"__attribute__", true, MARK_ALIGN},
    {"__builtin_align__", true, MARK_ALIGN},
    {"__inline__", false, MARK_OTHER},
    {"__host__", false, MARK_OTHER},
    {"__nv_pure__", false, MARK_OTHER},
};

static void blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (text[i] != '\n' && text[i] != '\r')
            text[i] = ' ';
}

/* End of a comment, a string or a character that begins at i; i where none does. */
static size_t skip_quoted(const char *text, size_t size, size_t i)
{
    if (text[i] == '/' && i + 1 < size && text[i + 1] == '/') {
        while (i < size && text[i] != '\n')
            i += text[i] == '\\' && i + 1 < size ? 2 : 1;
        return i < size ? i : size;
    }
    if (text[i] == '/' && i + 1 < size && text[i + 1] == '*') {
        for (i += 2; i + 1 < size; i++)
            if (text[i] == '*' && text[i + 1] == '/')
                return i + 2;
        return size;
    }
    if (text[i] == '"' && i > 0 && text[i - 1] == 'R' && (i < 2 || !word_char(text[i - 2]))) {
        char end[20] = ")";
        size_t n = 1, k = i + 1;
        while (k < size && text[k] != '(' && n < 17)
            end[n++] = text[k++];
        end[n++] = '"';
        for (; k + n <= size; k++)
            if (memcmp(text + k, end, n) == 0)
                return k + n;
        return size;
    }
    if (text[i] == '"' || (text[i] == '\'' && !(i > 0 && isdigit((unsigned char)text[i - 1])))) {
        const char quote = text[i];
        for (i++; i < size && text[i] != quote && text[i] != '\n'; i++)
            if (text[i] == '\\' && i + 1 < size)
                i++;
        return i < size ? i + 1 : size;
    }
    return i;
}

/* End of what a parenthesis at `at` holds; `at` where none does. */
static size_t skip_parenthesis(const char *text, size_t size, size_t at)
{
    size_t i = at;
    int depth = 0;
    while (i < size && isspace((unsigned char)text[i]))
        i++;
    if (i == size || text[i] != '(')
        return at;
    for (; i < size; i++) {
        const size_t quoted = skip_quoted(text, size, i);
        if (quoted > i) {
            i = quoted - 1;
            continue;
        }
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0)
            return i + 1;
        if (text[i] == ';' || text[i] == '{')
            return at;
    }
    return at;
}

static int mark(struct ae_syntax *s, enum ae_mark_kind kind, size_t start, uint32_t line)
{
    if (s->mark_count % 64 == 0) {
        struct ae_mark *more = realloc(s->marks, (size_t)(s->mark_count + 64) * sizeof *more);
        if (!more)
            return AE_E_NOMEM;
        s->marks = more;
    }
    s->marks[s->mark_count++] = (struct ae_mark){.kind = kind, .start = (uint32_t)start, .line = line};
    return AE_OK;
}

/* The grammar takes a name for an operand of assembly, where programs have d[0] too: the index goes. Nothing else is
 * changed, so that the text is read on from here. */
static void blank_operand_indices(char *text, size_t size, size_t at)
{
    const size_t end = skip_parenthesis(text, size, at);
    size_t open = 0;
    int depth = 0;
    for (size_t i = at; i < end; i++) {
        const size_t quoted = skip_quoted(text, size, i);
        if (quoted > i) {
            i = quoted - 1;
            continue;
        }
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] == '[' && depth >= 2 && open == 0)
            open = i;
        if (text[i] == ']' && open > 0) {
            blank(text, open, i + 1);
            open = 0;
        }
    }
}

/* Blanks words that the grammar does not know, with their length kept, and rewrites what it misreads: " < " between
 * blanks is a comparison to everybody but a C++ parser without types, which looks for template arguments; "<=" takes
 * the same room and reads alike to every rule. */
static int blank_unknown(struct ae_syntax *s)
{
    char *text = s->text;
    const size_t size = s->size;
    uint32_t line = 1;
    bool directive = false, line_begins = true;
    char before = 0, word_before[16] = ""; /* last character and word that are no white space */
    for (size_t i = 0; i < size;) {
        const size_t quoted = skip_quoted(text, size, i);
        if (quoted > i) {
            for (; i < quoted; i++)
                line += text[i] == '\n';
            before = '"';
            continue;
        }
        const char c = text[i];
        if (c == '\n') {
            line++;
            if (!(i > 0 && text[i - 1] == '\\'))
                directive = false;
            line_begins = true;
            i++;
            continue;
        }
        if (c == '#' && line_begins)
            directive = true;
        if (!isspace((unsigned char)c))
            line_begins = false;
        if (c == 0)
            text[i] = ' ';
        if (directive || !word_char(c)) {
            if (!directive && (c == '<' || c == '>') && i > 0 && isspace((unsigned char)text[i - 1]) &&
                text[i - 1] != '\n' && i + 1 < size && isspace((unsigned char)text[i + 1]) &&
                strcmp(word_before, "template") != 0 && strcmp(word_before, "operator") != 0) {
                text[i - 1] = c;
                text[i] = '=';
            }
            if (!isspace((unsigned char)c)) {
                before = c;
                word_before[0] = 0;
            }
            i++;
            continue;
        }
        size_t end = i;
        while (end < size && word_char(text[end]))
            end++;
        const size_t length = end - i;
        size_t next = end;
        for (size_t b = 0; b < sizeof blanked / sizeof *blanked; b++) {
            if (length != strlen(blanked[b].word) || memcmp(text + i, blanked[b].word, length) != 0)
                continue;
            const size_t to = blanked[b].arguments ? skip_parenthesis(text, size, end) : end;
            if (blanked[b].kind != MARK_OTHER && mark(s, blanked[b].kind, i, line) != AE_OK)
                return AE_E_NOMEM;
            for (size_t k = end; k < to; k++)
                line += text[k] == '\n';
            blank(text, i, to > end ? to : end);
            next = to > end ? to : end;
        }
        if ((length == 3 && memcmp(text + i, "asm", 3) == 0) || (length == 7 && memcmp(text + i, "__asm__", 7) == 0)) {
            size_t operands = end;
            while (operands < size && text[operands] != '(' && text[operands] != ';' && text[operands] != '"')
                operands++; /* past volatile */
            if (operands < size && text[operands] == '(')
                blank_operand_indices(text, size, operands);
        }
        /* [=] __device__ (int i) { }: a device lambda */
        if (length == 10 && memcmp(text + i, "__device__", 10) == 0 && before == ']') {
            blank(text, i, end);
        }
        if (text[i] != ' ') {
            before = 'a';
            snprintf(word_before, sizeof word_before, "%.*s", (int)(length < 15 ? length : 15), text + i);
        }
        i = next;
    }
    return AE_OK;
}

/* --- names --- */

static uint32_t hash(const char *text, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static int intern(struct ae_syntax *s, const char *text, size_t size)
{
    if (2 * s->name_count >= s->name_slots) {
        const int slots = s->name_slots ? 2 * s->name_slots : 512;
        int *table = malloc((size_t)slots * sizeof *table);
        char **names = realloc(s->names, (size_t)slots * sizeof *names);
        if (names)
            s->names = names;
        if (!table || !names) {
            free(table);
            return -1;
        }
        for (int i = 0; i < slots; i++)
            table[i] = -1;
        for (int i = 0; i < s->name_count; i++) {
            uint32_t at = hash(s->names[i], strlen(s->names[i])) & (uint32_t)(slots - 1);
            while (table[at] >= 0)
                at = (at + 1) & (uint32_t)(slots - 1);
            table[at] = i;
        }
        free(s->name_table);
        s->name_table = table;
        s->name_slots = slots;
    }
    uint32_t at = hash(text, size) & (uint32_t)(s->name_slots - 1);
    for (; s->name_table[at] >= 0; at = (at + 1) & (uint32_t)(s->name_slots - 1)) {
        const char *name = s->names[s->name_table[at]];
        if (strncmp(name, text, size) == 0 && name[size] == 0)
            return s->name_table[at];
    }
    char *copy = strndup(text, size);
    if (!copy)
        return -1;
    s->names[s->name_count] = copy;
    return s->name_table[at] = s->name_count++;
}

/* --- the tree --- */

static bool has_name(enum ae_node_kind kind)
{
    return kind == N_IDENTIFIER || kind == N_FIELD_IDENTIFIER || kind == N_TYPE_IDENTIFIER ||
           kind == N_NAMESPACE_IDENTIFIER || kind == N_PRIMITIVE_TYPE;
}

static int flatten(const struct ae_grammar *grammar, struct ae_syntax *s)
{
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(s->tree));
    int capacity = 0, parent = -1, sibling = -1, rc = AE_OK;
    for (;;) {
        if (s->count == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            struct ae_node *more = realloc(s->nodes, (size_t)capacity * sizeof *more);
            if (!more) {
                rc = AE_E_NOMEM;
                break;
            }
            s->nodes = more;
        }
        const TSNode node = ts_tree_cursor_current_node(&cursor);
        const TSSymbol symbol = ts_node_symbol(node);
        const TSFieldId field = ts_tree_cursor_current_field_id(&cursor);
        const int me = s->count++;
        struct ae_node *n = &s->nodes[me];
        *n = (struct ae_node){
            .start = ts_node_start_byte(node),
            .end = ts_node_end_byte(node),
            .line = ts_node_start_point(node).row + 1,
            .last_line = ts_node_end_point(node).row + 1,
            .parent = parent,
            .first = -1,
            .next = -1,
            .name = -1,
            .named = ts_node_is_named(node),
            .symbol = symbol,
            .kind = symbol < grammar->symbol_count ? grammar->kind_of[symbol]
                    : symbol == (TSSymbol)-1       ? (uint8_t)N_ERROR
                                                   : (uint8_t)N_OTHER,
            .field = field <= grammar->field_count ? grammar->field_of[field] : (uint8_t)F_NONE,
        };
        if (sibling >= 0)
            s->nodes[sibling].next = me;
        else if (parent >= 0)
            s->nodes[parent].first = me;
        if (has_name(n->kind) && n->end > n->start) {
            const int name = intern(s, s->text + n->start, n->end - n->start);
            if (name < 0) {
                rc = AE_E_NOMEM;
                break;
            }
            s->nodes[me].name = name;
        }
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            parent = me;
            sibling = -1;
            continue;
        }
        int last = me;
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (!ts_tree_cursor_goto_parent(&cursor)) {
                last = -1;
                break;
            }
            last = parent;
            parent = s->nodes[parent].parent;
        }
        if (last < 0)
            break;
        sibling = last;
    }
    ts_tree_cursor_delete(&cursor);
    /* Each node's subtree ends where the next node that is no descendant begins. */
    for (int i = s->count - 1; i >= 0; i--) {
        s->nodes[i].after = i + 1;
        for (int c = s->nodes[i].first; c >= 0; c = s->nodes[c].next)
            s->nodes[i].after = s->nodes[c].after;
    }
    uint64_t bad = 0;
    for (int i = 0; i < s->count; i++)
        if (s->nodes[i].kind == N_ERROR) {
            bad += s->nodes[i].end - s->nodes[i].start;
            i = s->nodes[i].after - 1;
        }
    s->unread = s->size ? (double)bad / (double)s->size : 0;
    return rc;
}

/* Bytes below ERROR nodes, the outermost counted. */
static size_t error_bytes(TSTree *tree)
{
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    size_t bad = 0;
    bool more = ts_node_has_error(ts_tree_root_node(tree));
    while (more) {
        const TSNode node = ts_tree_cursor_current_node(&cursor);
        const bool error = ts_node_symbol(node) == (TSSymbol)-1;
        if (error)
            bad += ts_node_end_byte(node) - ts_node_start_byte(node);
        if (!error && ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!ts_tree_cursor_goto_next_sibling(&cursor))
            if (!ts_tree_cursor_goto_parent(&cursor)) {
                more = false;
                break;
            }
    }
    ts_tree_cursor_delete(&cursor);
    return bad;
}

/* Above this share of bytes without sense the source is read definition by definition. */
#define BROKEN_LEAST 0.05

/* One broken definition can take all that follows with it. Definitions end where a line begins with '}'; those that
 * make no sense by themselves are blanked, so that the others are read. Returns the bytes blanked. */
static size_t blank_broken(TSParser *parser, struct ae_syntax *s)
{
    size_t gone = 0;
    for (size_t from = 0; from < s->size;) {
        size_t to = from;
        do {
            const char *end = memchr(s->text + to, '\n', s->size - to);
            const bool closes = s->text[to] == '}';
            to = end ? (size_t)(end - s->text) + 1 : s->size;
            if (closes)
                break;
        } while (to < s->size);
        ts_parser_reset(parser);
        TSTree *tree = ts_parser_parse_string(parser, NULL, s->text + from, (uint32_t)(to - from));
        if (tree && (double)error_bytes(tree) > 0.5 * (double)(to - from)) {
            blank(s->text, from, to);
            gone += to - from;
        }
        if (tree)
            ts_tree_delete(tree);
        from = to;
    }
    return gone;
}

/* The parser's library recurses over deep trees, gives up their memory wrongly where they are very deep, and queries take the
 * square of the depth. Programs have brackets, conditional sections and operands without an end to the nesting of some
 * dozens; these limits are far above. */
#define DEPTH_MAX     1000
#define SECTIONS_MAX  250  /* #if within #if */
#define OPERATORS_MAX 2000 /* behind one another in an expression */
#define ELSES_MAX     5000 /* a chain of them is as deep as it is long */

/* Behind a comment or a literal that starts at text[at]; at itself where none does. */
static size_t skip_literal(const char *text, size_t size, size_t at)
{
    const char c = text[at], next = at + 1 < size ? text[at + 1] : 0;
    if (c == '/' && next == '/') {
        const char *end = memchr(text + at, '\n', size - at);
        return end ? (size_t)(end - text) : size;
    }
    if (c == '/' && next == '*') {
        const char *end = memmem(text + at + 2, size - at - 2, "*/", 2);
        return end ? (size_t)(end - text) + 2 : size;
    }
    if (c != '"' && c != '\'')
        return at;
    for (at++; at < size && text[at] != c && text[at] != '\n'; at++)
        at += text[at] == '\\';
    return at < size ? at + 1 : size;
}

static bool too_deep(const char *text, size_t size)
{
    size_t depth = 0, sections = 0, operators = 0, elses = 0;
    for (size_t at = 0; at < size;) {
        const size_t behind = skip_literal(text, size, at);
        if (behind > at) {
            at = behind;
            continue;
        }
        const char c = text[at];
        if (strchr("([{", c) && c)
            depth++;
        else if (strchr(")]}", c) && c)
            depth -= depth > 0;
        if (strchr(";,(){}#", c) || !c)
            operators = 0;
        else if (strchr("+-*/<>&|?=%^!~.:", c))
            operators++;
        if (c == '#') {
            size_t word = at + 1;
            while (word < size && (text[word] == ' ' || text[word] == '\t'))
                word++;
            if (size - word >= 2 && strncmp(text + word, "if", 2) == 0)
                sections++;
            else if (size - word >= 5 && strncmp(text + word, "endif", 5) == 0)
                sections -= sections > 0;
        }
        elses += c == 'e' && size - at >= 4 && strncmp(text + at, "else", 4) == 0;
        if (depth > DEPTH_MAX || sections > SECTIONS_MAX || operators > OPERATORS_MAX || elses > ELSES_MAX)
            return true;
        at++;
    }
    return false;
}

int ae_syntax_parse(const struct ae_grammar *grammar, TSParser *parser, const char *text, size_t size,
                    struct ae_syntax *ret, struct ae_error *err)
{
    struct ae_syntax s = {0};
    if (size > AE_STRATEGY_SOURCE_MAX)
        return ae_error_set(err, AE_E_INPUT, "the source is longer than %zu MiB", AE_STRATEGY_SOURCE_MAX >> 20);
    if (too_deep(text, size))
        return ae_error_set(err, AE_E_INPUT, "the source is nested too deeply to be read");
    s.text = malloc(size + 1);
    s.size = size;
    if (!s.text)
        return ae_error_set(err, AE_E_NOMEM, "no memory for the source");
    memcpy(s.text, text, size);
    s.text[size] = 0;
    int rc = blank_unknown(&s);
    if (rc == AE_OK) {
        ts_parser_reset(parser);
        s.tree = ts_parser_parse_string(parser, NULL, s.text, (uint32_t)size);
        size_t gone = 0;
        if (s.tree && (double)error_bytes(s.tree) > BROKEN_LEAST * (double)size &&
            (gone = blank_broken(parser, &s)) > 0) {
            ts_tree_delete(s.tree);
            ts_parser_reset(parser);
            s.tree = ts_parser_parse_string(parser, NULL, s.text, (uint32_t)size);
        }
        rc = s.tree ? flatten(grammar, &s) : AE_E_NOMEM;
        s.unread += size ? (double)gone / (double)size : 0;
        s.unread = s.unread > 1 ? 1 : s.unread;
    }
    if (rc != AE_OK) {
        ae_syntax_release(&s);
        return ae_error_set(err, rc, "no memory for the syntax tree");
    }
    *ret = s;
    return AE_OK;
}

void ae_syntax_release(struct ae_syntax *syntax)
{
    if (syntax->tree)
        ts_tree_delete(syntax->tree);
    for (int i = 0; i < syntax->name_count; i++)
        free(syntax->names[i]);
    free(syntax->names);
    free(syntax->name_table);
    free(syntax->nodes);
    free(syntax->marks);
    free(syntax->text);
    memset(syntax, 0, sizeof *syntax);
}

int ae_syntax_index(const struct ae_syntax *s, TSNode node)
{
    const uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    const TSSymbol symbol = ts_node_symbol(node);
    int lo = 0, hi = s->count; /* the first node that begins at start or later: preorder is ascending */
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (s->nodes[mid].start < start)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < s->count && s->nodes[lo].start == start; lo++)
        if (s->nodes[lo].end == end && s->nodes[lo].symbol == symbol)
            return lo;
    return -1;
}

int ae_child(const struct ae_syntax *s, int node, enum ae_node_field field)
{
    if (node < 0)
        return -1;
    for (int c = s->nodes[node].first; c >= 0; c = s->nodes[c].next)
        if (s->nodes[c].field == field)
            return c;
    return -1;
}

int ae_nth(const struct ae_syntax *s, int node, int n)
{
    if (node < 0)
        return -1;
    for (int c = s->nodes[node].first; c >= 0; c = s->nodes[c].next)
        if (s->nodes[c].named && s->nodes[c].kind != N_COMMENT && n-- == 0)
            return c;
    return -1;
}

int ae_first_of(const struct ae_syntax *s, int node, enum ae_node_kind kind)
{
    if (node < 0)
        return -1;
    for (int c = s->nodes[node].first; c >= 0; c = s->nodes[c].next)
        if (s->nodes[c].kind == kind)
            return c;
    return -1;
}

int ae_ancestor(const struct ae_syntax *s, int node, enum ae_node_kind kind)
{
    while (node >= 0 && (node = s->nodes[node].parent) >= 0)
        if (s->nodes[node].kind == kind)
            return node;
    return -1;
}

bool ae_is_below(const struct ae_syntax *s, int node, int root)
{
    return node >= 0 && root >= 0 && node >= root && node < s->nodes[root].after;
}

bool ae_text_is(const struct ae_syntax *s, int node, const char *text)
{
    if (node < 0)
        return false;
    const size_t size = s->nodes[node].end - s->nodes[node].start;
    return strlen(text) == size && memcmp(s->text + s->nodes[node].start, text, size) == 0;
}

bool ae_same_text(const struct ae_syntax *s, int a, int b)
{
    if (a < 0 || b < 0)
        return false;
    const char *p = s->text + s->nodes[a].start, *p_end = s->text + s->nodes[a].end;
    const char *q = s->text + s->nodes[b].start, *q_end = s->text + s->nodes[b].end;
    for (;;) {
        while (p < p_end && isspace((unsigned char)*p))
            p++;
        while (q < q_end && isspace((unsigned char)*q))
            q++;
        if (p == p_end || q == q_end)
            return p == p_end && q == q_end;
        if (*p++ != *q++)
            return false;
    }
}

bool ae_text_has(const struct ae_syntax *s, int node, const char *part)
{
    return node >= 0 && memmem(s->text + s->nodes[node].start, s->nodes[node].end - s->nodes[node].start, part,
                               strlen(part)) != NULL;
}

bool ae_mentions(const struct ae_syntax *s, int node, int name)
{
    for (int i = node; node >= 0 && name >= 0 && i < s->nodes[node].after; i++)
        if (s->nodes[i].name == name && (s->nodes[i].kind == N_IDENTIFIER || s->nodes[i].kind == N_FIELD_IDENTIFIER))
            return true;
    return false;
}

int ae_strip(const struct ae_syntax *s, int node)
{
    for (;;) {
        int next = -1;
        if (ae_kind(s, node) == N_PARENTHESIZED)
            next = ae_nth(s, node, 0);
        else if (ae_kind(s, node) == N_CAST)
            next = ae_child(s, node, F_VALUE);
        else if (ae_kind(s, node) == N_CALL) {
            /* static_cast<T>(x) and its kin; int(x) */
            const int function = ae_child(s, node, F_FUNCTION);
            const int name = ae_kind(s, function) == N_TEMPLATE_FUNCTION ? ae_child(s, function, F_NAME) : function;
            const int arguments = ae_child(s, node, F_ARGUMENTS);
            if ((ae_kind(s, function) == N_TEMPLATE_FUNCTION &&
                 (ae_text_is(s, name, "static_cast") || ae_text_is(s, name, "reinterpret_cast") ||
                  ae_text_is(s, name, "const_cast"))) ||
                ae_kind(s, function) == N_PRIMITIVE_TYPE || ae_text_is(s, function, "size_t"))
                next = ae_nth(s, arguments, 0);
        }
        if (next < 0)
            return node;
        node = next;
    }
}
