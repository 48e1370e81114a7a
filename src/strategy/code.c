#include "strategy/code.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations a source may cost: some hundred a line of an honest one. */
#define BUDGET 4000000
#define DEPTH  64

static const struct ae_value unknown = {.root = -1};

static int grow(void **items, int count, size_t size)
{
    if (count & (count - 1) || (count > 0 && count < 16))
        return AE_OK;
    void *more = realloc(*items, (count ? 2 * (size_t)count : 16) * size);
    if (!more)
        return AE_E_NOMEM;
    *items = more;
    return AE_OK;
}

/* Appends a zeroed item; NULL: no memory. Room doubles at 0, 16, 32, ... */
#define APPEND(list, count)                                                                                            \
    (grow((void **)&(list), (count), sizeof *(list)) == AE_OK ? memset(&(list)[(count)++], 0, sizeof *(list)) : NULL)

bool ae_name_among(const struct ae_program *code, int name, const char *const *list)
{
    for (; name >= 0 && *list; list++)
        if (strcmp(code->syntax.names[name], *list) == 0)
            return true;
    return false;
}

bool ae_name_has_word(const struct ae_program *code, int name, const char *const *words)
{
    const char *text = ae_name(code, name);
    while (*text) {
        size_t n = 0;
        char word[24];
        while (*text && !isalpha((unsigned char)*text))
            text++;
        const bool capitals = isupper((unsigned char)text[0]) && isupper((unsigned char)text[1]);
        while (isalpha((unsigned char)text[n]) && (n == 0 || capitals || !isupper((unsigned char)text[n])))
            n++;
        if (n > 0 && n < sizeof word) {
            for (size_t i = 0; i < n; i++)
                word[i] = (char)tolower((unsigned char)text[i]);
            word[n] = 0;
            for (const char *const *w = words; *w; w++) {
                const size_t length = strlen(*w);
                if (strcmp(word, *w) == 0 || (n == length + 1 && word[n - 1] == 's' && strncmp(word, *w, length) == 0))
                    return true;
            }
        }
        text += n;
        if (n == 0)
            break;
    }
    return false;
}

/* --- declarations --- */

static enum ae_element element_of(const struct ae_syntax *s, int type)
{
    static const struct {
        const char *text;
        enum ae_element element;
    } known[] = {
        {"float", E_FLOAT},
        {"double", E_DOUBLE},
        {"int", E_INT},
        {"unsigned", E_UNSIGNED},
        {"unsigned int", E_UNSIGNED},
        {"int32_t", E_INT},
        {"uint32_t", E_UNSIGNED},
        {"uint", E_UNSIGNED},
        {"long long", E_LONG},
        {"size_t", E_LONG},
        {"int64_t", E_LONG},
        {"uint64_t", E_LONG},
        {"unsigned long long", E_LONG},
        {"long", E_LONG},
        {"unsigned long", E_LONG},
        {"long long int", E_LONG},
        {"unsigned long long int", E_LONG},
        {"char", E_BYTE},
        {"unsigned char", E_BYTE},
        {"signed char", E_BYTE},
        {"uint8_t", E_BYTE},
        {"int8_t", E_BYTE},
        {"std::uint8_t", E_BYTE},
        {"std::int8_t", E_BYTE},
        {"uchar", E_BYTE},
        {"short", E_SHORT},
        {"unsigned short", E_SHORT},
        {"uint16_t", E_SHORT},
        {"int16_t", E_SHORT},
        {"ushort", E_SHORT},
        {"std::uint16_t", E_SHORT},
        {"bool", E_BOOL},
        {"half", E_HALF},
        {"__half", E_HALF},
        {"__nv_bfloat16", E_HALF},
        {"nv_bfloat16", E_HALF},
        {"half2", E_HALF},
        {"__half2", E_HALF},
        {"__nv_fp8_e4m3", E_HALF},
        {"void", E_VOID},
        {"float4", E_VECTOR},
        {"float2", E_VECTOR},
        {"double2", E_VECTOR},
        {"double4", E_VECTOR},
        {"int4", E_VECTOR},
        {"int2", E_VECTOR},
        {"uint4", E_VECTOR},
        {"uint2", E_VECTOR},
        {"longlong2", E_VECTOR},
        {"ulonglong2", E_VECTOR},
        {"short4", E_VECTOR},
        {"ushort4", E_VECTOR},
        {"uchar16", E_VECTOR},
    };
    char text[32];
    size_t n = 0;
    if (type < 0)
        return E_OTHER;
    for (uint32_t i = s->nodes[type].start; i < s->nodes[type].end && n + 1 < sizeof text; i++) {
        const bool space = isspace((unsigned char)s->text[i]);
        if (!space || (n > 0 && text[n - 1] != ' '))
            text[n++] = space ? ' ' : s->text[i];
    }
    text[n] = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(text, known[k].text) == 0)
            return known[k].element;
    return E_OTHER;
}

/* Fills in what a declarator says, down to its identifier; -1 where it has none. */
static int read_declarator(const struct ae_syntax *s, int declarator, struct ae_variable *v)
{
    for (int guard = 0; declarator >= 0 && guard < 32; guard++) {
        switch (ae_kind(s, declarator)) {
        case N_IDENTIFIER:
        case N_FIELD_IDENTIFIER: return declarator;
        case N_POINTER_DECLARATOR:
            v->pointer = true;
            v->rows = v->array; /* float (*tile)[N]: a pointer, whose elements are rows */
            v->array = false;
            for (int c = s->nodes[declarator].first; c >= 0; c = s->nodes[c].next)
                if (s->nodes[c].kind == N_QUALIFIER && ae_text_has(s, c, "restrict"))
                    v->restricted = true;
            break;
        case N_REFERENCE_DECLARATOR:
            v->reference = true;
            declarator = ae_nth(s, declarator, 0);
            continue;
        case N_ARRAY_DECLARATOR: {
            v->array = true;
            const int size = ae_child(s, declarator, F_SIZE);
            if (v->dim_count < AE_DIMS) { /* outermost declarator is the last extent */
                memmove(v->dims + 1, v->dims, sizeof(int) * (size_t)v->dim_count);
                v->dims[0] = size;
                v->dim_count++;
            }
            break;
        }
        case N_INIT_DECLARATOR: v->initial = ae_child(s, declarator, F_VALUE); break;
        case N_FUNCTION_DECLARATOR: /* std::vector<float> v(n) reads like a function */
        case N_PARENTHESIZED_DECLARATOR: break;
        default: return -1;
        }
        const int inner = ae_child(s, declarator, F_DECLARATOR);
        declarator = inner >= 0                                             ? inner
                     : ae_kind(s, declarator) == N_PARENTHESIZED_DECLARATOR ? ae_nth(s, declarator, 0)
                                                                            : -1;
    }
    return -1;
}

static int add_variable(struct ae_program *code, int declaration, int declarator, int function,
                        struct ae_variable **ret)
{
    struct ae_syntax *s = &code->syntax;
    struct ae_variable v = {.function = function,
                            .declaration = declaration,
                            .initial = -1,
                            .position = -1,
                            .alias = -1,
                            .value = unknown,
                            .type = ae_child(s, declaration, F_TYPE),
                            .loop = code->loop_of[declaration]};
    *ret = NULL;
    v.node = read_declarator(s, declarator, &v);
    if (v.node < 0)
        return AE_OK;
    v.name = s->nodes[v.node].name;
    v.element = element_of(s, v.type);
    for (int c = s->nodes[declaration].first; c >= 0; c = s->nodes[c].next) {
        v.points_to_const |= ae_text_is(s, c, "const") || ae_text_is(s, c, "constexpr");
        v.shared |= ae_text_is(s, c, "__shared__");
        v.constant |= ae_text_is(s, c, "__constant__");
        v.device |= ae_text_is(s, c, "__device__") || ae_text_is(s, c, "__managed__");
        v.external |= ae_text_is(s, c, "extern");
    }
    if (v.name < 0)
        return AE_OK;
    struct ae_variable *added = APPEND(code->variables, code->variable_count);
    if (!added)
        return AE_E_NOMEM;
    v.next_same_name = code->chain[v.name];
    code->chain[v.name] = code->variable_count - 1;
    *added = v;
    *ret = added;
    return AE_OK;
}

static int read_function(struct ae_program *code, int node)
{
    struct ae_syntax *s = &code->syntax;
    int declarator = ae_child(s, node, F_DECLARATOR), guard = 0;
    while (declarator >= 0 && ae_kind(s, declarator) != N_FUNCTION_DECLARATOR && guard++ < 8) {
        const int inner = ae_child(s, declarator, F_DECLARATOR);
        declarator = inner >= 0 ? inner : ae_nth(s, declarator, 0);
    }
    struct ae_function *f = APPEND(code->functions, code->function_count);
    if (!f)
        return AE_E_NOMEM;
    f->node = node;
    f->body = ae_child(s, node, F_BODY);
    f->parameters = ae_child(s, declarator, F_PARAMETERS);
    f->template = ae_kind(s, s->nodes[node].parent) == N_TEMPLATE ? s->nodes[node].parent : -1;
    f->name = -1;
    int named = ae_child(s, declarator, F_DECLARATOR);
    while (named >= 0 && s->nodes[named].name < 0 && guard++ < 16) /* Class::method, name<...> */
        named = ae_child(s, named, F_NAME);
    f->name = named >= 0 ? s->nodes[named].name : -1;
    for (int c = s->nodes[node].first; c >= 0 && c != f->body; c = s->nodes[c].next) {
        f->kernel |= ae_text_is(s, c, "__global__");
        f->device |= ae_text_is(s, c, "__device__");
        if (s->nodes[c].kind == N_ERROR) {
            f->kernel |= ae_text_has(s, c, "__global__");
            f->device |= ae_text_has(s, c, "__device__");
        }
    }
    if (f->template >= 0)
        for (int c = s->nodes[f->template].first; c >= 0; c = s->nodes[c].next)
            f->kernel |= ae_text_is(s, c, "__global__");
    f->host = !f->kernel && !f->device;
    f->entry = ae_named(code, f->name, "solution_compute");
    f->first_assign = f->last_assign = 0;
    if (f->entry)
        code->entry = code->function_count - 1;
    return AE_OK;
}

static int read_parameters(struct ae_program *code, int function)
{
    struct ae_syntax *s = &code->syntax;
    const int list = code->functions[function].parameters, template = code->functions[function].template;
    int position = 0, rc = AE_OK;
    for (int c = list < 0 ? -1 : s->nodes[list].first; rc == AE_OK && c >= 0; c = s->nodes[c].next) {
        struct ae_variable *v;
        if (s->nodes[c].kind != N_PARAMETER && s->nodes[c].kind != N_OPTIONAL_PARAMETER)
            continue;
        rc = add_variable(code, c, ae_child(s, c, F_DECLARATOR), function, &v);
        if (v) {
            v->parameter = true;
            v->position = position;
            if (v->array) {
                v->pointer = true;
                v->array = false;
            }
        }
        position++;
    }
    const int parameters = template <0 ? -1 : ae_child(s, template, F_PARAMETERS);
    for (int c = parameters < 0 ? -1 : s->nodes[parameters].first; rc == AE_OK && c >= 0; c = s->nodes[c].next) {
        struct ae_variable *v;
        if (s->nodes[c].kind != N_PARAMETER && s->nodes[c].kind != N_OPTIONAL_PARAMETER)
            continue;
        rc = add_variable(code, c, ae_child(s, c, F_DECLARATOR), function, &v);
        if (v)
            v->template_parameter = true;
    }
    return rc;
}

/* --- names to variables --- */

static int lookup(const struct ae_program *code, int name, int function, uint32_t at, bool field)
{
    if (name < 0)
        return -1;
    int outer = -1, later = -1;
    for (int v = code->chain[name]; v >= 0; v = code->variables[v].next_same_name) {
        const struct ae_variable *variable = &code->variables[v];
        if (field) {
            if (variable->function == -2)
                return v;
            continue;
        }
        if (variable->function == -2)
            continue;
        if (variable->function == function && function >= 0) {
            if (code->syntax.nodes[variable->node].start <= at)
                return v;
            later = v;
        } else if (variable->function == -1) {
            outer = v;
        }
    }
    return outer >= 0 ? outer : later;
}

int ae_variable_at(const struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    for (int guard = 0; guard < 32 && node >= 0; guard++) {
        node = ae_strip(s, node);
        switch (ae_kind(s, node)) {
        case N_IDENTIFIER:
            return lookup(code, s->nodes[node].name, code->function_of[node], s->nodes[node].start, false);
        case N_FIELD: {
            const int field = ae_child(s, node, F_FIELD);
            if (field < 0)
                return -1;
            const int found = lookup(code, s->nodes[field].name, -1, 0, true);
            if (found >= 0)
                return found;
            return -1;
        }
        case N_CALL: { /* v.data(), v.begin(), thrust::raw_pointer_cast(v) */
            const int function = ae_child(s, node, F_FUNCTION);
            if (ae_kind(s, function) == N_FIELD)
                node = ae_child(s, function, F_ARGUMENT);
            else
                node = ae_nth(s, ae_child(s, node, F_ARGUMENTS), 0);
            continue;
        }
        case N_POINTER: /* &x, *x */ node = ae_child(s, node, F_ARGUMENT); continue;
        case N_SUBSCRIPT: node = ae_child(s, node, F_ARGUMENT); continue;
        case N_BINARY: { /* pointer + offset */
            const int left = ae_variable_at(code, ae_child(s, node, F_LEFT));
            if (left >= 0 && (code->variables[left].pointer || code->variables[left].array ||
                              ae_kind(s, ae_strip(s, ae_child(s, node, F_LEFT))) == N_CALL))
                return left; /* v.data() + n is v's too */
            const int right = ae_strip(s, ae_child(s, node, F_RIGHT));
            return ae_kind(s, right) == N_IDENTIFIER ? ae_variable_at(code, right) : left;
        }
        default: return -1;
        }
    }
    return -1;
}

/* --- values --- */

static struct ae_value join(struct ae_value a, struct ae_value b)
{
    if (!a.set)
        return b;
    if (!b.set)
        return a;
    struct ae_value v = a;
    v.deps |= b.deps;
    v.coef = a.coef > b.coef ? a.coef : b.coef;
    v.stride = a.coef == COEF_NONE ? b.stride : b.coef == COEF_NONE || a.stride == b.stride ? a.stride : (uint8_t)0;
    if (a.space != b.space)
        v.space = a.space == SPACE_UNKNOWN ? b.space : b.space == SPACE_UNKNOWN ? a.space : (uint8_t)SPACE_UNKNOWN;
    if (a.constness == CONST_NO || b.constness == CONST_NO)
        v.constness = CONST_NO;
    else if (a.constness == CONST_UNKNOWN || b.constness == CONST_UNKNOWN || a.number != b.number)
        v.constness = CONST_NO; /* it has two values */
    if (v.root < 0)
        v.root = b.root;
    return v;
}

static struct ae_value number_value(int64_t number)
{
    return (struct ae_value){.set = true, .constness = CONST_KNOWN, .number = number, .root = -1};
}

static struct ae_value builtin_value(const struct ae_syntax *s, int object, int field)
{
    struct ae_value v = {.set = true, .root = -1};
    const bool x = ae_text_is(s, field, "x");
    if (ae_text_is(s, object, "threadIdx")) {
        v.deps = x ? D_TX : D_TYZ;
        v.coef = x ? COEF_ONE : COEF_NONE;
    } else if (ae_text_is(s, object, "blockIdx")) {
        v.deps = D_BLOCK;
    } else if (ae_text_is(s, object, "blockDim")) {
        v.deps = D_BDIM;
        v.constness = CONST_NO;
    } else if (ae_text_is(s, object, "gridDim")) {
        v.deps = D_GDIM;
    } else {
        v.set = false;
    }
    return v;
}

static struct ae_value call_value(struct ae_program *code, int node);

/* The address that indices and a base make: what the last index says, unless an earlier one moves with the thread too.
 */
static struct ae_value address_of(struct ae_program *code, int subscript, int *ret_base, int *ret_last, int *ret_count)
{
    const struct ae_syntax *s = &code->syntax;
    struct ae_value address = {.set = true, .root = -1};
    int node = subscript, count = 0;
    *ret_last = -1;
    while (ae_kind(s, node) == N_SUBSCRIPT && count < 8) {
        const int index = ae_nth(s, ae_child(s, node, F_INDICES), 0);
        const struct ae_value v = ae_value_of(code, index);
        if (count == 0) {
            *ret_last = index;
            address = v;
            address.set = true;
            address.root = -1;
        } else {
            address.deps |= v.deps;
            if (v.coef != COEF_NONE)
                address.coef = v.coef == COEF_GATHER || address.coef == COEF_GATHER ? COEF_GATHER : COEF_OTHER;
        }
        count++;
        node = ae_child(s, node, F_ARGUMENT);
    }
    *ret_base = node;
    *ret_count = count;
    const struct ae_value base = ae_value_of(code, node);
    address.deps |= base.deps;
    address.space = base.space;
    address.root = base.root;
    if (base.coef != COEF_NONE)
        address.coef = address.coef == COEF_NONE                                 ? base.coef
                       : base.coef == COEF_GATHER || address.coef == COEF_GATHER ? COEF_GATHER
                                                                                 : COEF_OTHER;
    address.constness = CONST_NO;
    return address;
}

static struct ae_value loaded(struct ae_value address)
{
    struct ae_value v = {.set = true, .root = -1};
    v.deps = address.deps | (address.space == SPACE_LOCAL ? 0 : (uint32_t)D_LOADED);
    v.coef = address.coef == COEF_NONE ? COEF_NONE : COEF_GATHER;
    return v;
}

static struct ae_value binary_value(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    const int op = ae_child(s, node, F_OPERATOR);
    const struct ae_value a = ae_value_of(code, ae_child(s, node, F_LEFT)),
                          b = ae_value_of(code, ae_child(s, node, F_RIGHT));
    struct ae_value v = {.set = a.set || b.set,
                         .root = a.root >= 0 ? a.root : b.root,
                         .deps = a.deps | b.deps,
                         .space = a.space ? a.space : b.space};
    const char o = op < 0 ? 0 : s->text[s->nodes[op].start],
               o2 = op < 0 || s->nodes[op].end - s->nodes[op].start < 2 ? 0 : s->text[s->nodes[op].start + 1];
    const bool known = a.constness == CONST_KNOWN && b.constness == CONST_KNOWN;
    if (a.constness != CONST_NO && b.constness != CONST_NO)
        v.constness = CONST_UNKNOWN;
    if (a.coef == COEF_GATHER || b.coef == COEF_GATHER)
        v.coef = COEF_GATHER;
    else if (a.coef != COEF_NONE || b.coef != COEF_NONE)
        v.coef = COEF_OTHER;
    if (known) {
        int64_t n = 0;
        bool ok = true;
        if (o == '+' && !o2)
            ok = !__builtin_add_overflow(a.number, b.number, &n);
        else if (o == '-' && !o2)
            ok = !__builtin_sub_overflow(a.number, b.number, &n);
        else if (o == '*')
            ok = !__builtin_mul_overflow(a.number, b.number, &n);
        else if (o == '/' && b.number > 0)
            n = a.number / b.number;
        else if (o == '%' && b.number > 0)
            n = a.number % b.number;
        else if (o == '<' && o2 == '<' && b.number >= 0 && b.number < 62 && a.number >= 0 &&
                 a.number < (INT64_C(1) << (62 - b.number)))
            n = a.number << b.number;
        else if (o == '>' && o2 == '>' && b.number >= 0 && b.number < 63)
            n = a.number >> b.number;
        else
            ok = false;
        if (ok) {
            v.constness = CONST_KNOWN;
            v.number = n;
        }
    }
    if (v.coef != COEF_OTHER)
        return v;
    /* How the value moves from thread to thread. */
    const bool small = b.constness == CONST_KNOWN && b.number < 8; /* a team of eight reads a sector together */
    if (o == '+' || (o == '-' && b.coef == COEF_NONE) || (o == '|' && !o2) || o == '^') {
        v.coef = a.coef == COEF_NONE ? b.coef : b.coef == COEF_NONE ? a.coef : (uint8_t)COEF_OTHER;
        v.stride = a.coef == COEF_NONE ? b.stride : b.coef == COEF_NONE ? a.stride : (uint8_t)0;
    } else if (o == '-') {
        v.coef = a.coef == COEF_NONE && b.coef == COEF_ONE ? COEF_ONE /* descending serves as well */ : COEF_OTHER;
    } else if (o == '*') {
        if ((a.constness == CONST_KNOWN && a.number == 1) || (b.constness == CONST_KNOWN && b.number == 1))
            v.coef = a.coef ? a.coef : b.coef;
        else if (a.coef == COEF_ONE && b.constness == CONST_KNOWN && b.number > 1 && b.number <= 16)
            v.stride = (uint8_t)b.number;
        else if (b.coef == COEF_ONE && a.constness == CONST_KNOWN && a.number > 1 && a.number <= 16)
            v.stride = (uint8_t)a.number;
    } else if (o == '<' && o2 == '<') {
        if (a.coef == COEF_ONE && b.constness == CONST_KNOWN && b.number > 0 && b.number <= 4)
            v.stride = (uint8_t)(1 << b.number);
    } else if (o == '/' || (o == '>' && o2 == '>')) {
        if (b.constness != CONST_NO && b.coef == COEF_NONE && (a.deps & D_TX) &&
            !(b.constness == CONST_KNOWN && b.number < 2 && o == '/'))
            v.deps |= D_WARP; /* a group of lanes */
        const bool warp = b.constness != CONST_NO && !(o == '/' ? small : b.constness == CONST_KNOWN && b.number < 5);
        if (b.coef == COEF_NONE && !(o == '/' ? small : b.constness == CONST_KNOWN && b.number < 5)) {
            v.coef = COEF_NONE; /* the same within a warp, or nearly so */
            if (warp && (a.deps & D_TX))
                v.deps = (v.deps | D_WARP) & ~(uint32_t)D_TX;
        }
    } else if (o == '%' || o == '&') {
        const bool narrow = o == '%' ? small : b.constness == CONST_KNOWN && b.number < 31;
        if (a.coef == COEF_ONE && b.coef == COEF_NONE && !narrow) {
            v.coef = COEF_ONE;
            if ((o == '%' && b.constness == CONST_KNOWN && b.number == 32) ||
                (o == '&' && b.constness == CONST_KNOWN && b.number == 31) || (b.constness == CONST_UNKNOWN))
                v.deps |= D_LANE;
        }
    }
    return v;
}

static struct ae_value identifier_value(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    const int index = lookup(code, s->nodes[node].name, code->function_of[node], s->nodes[node].start, false);
    if (index < 0) {
        if (ae_text_is(s, node, "warpSize"))
            return number_value(32);
        return unknown;
    }
    const struct ae_variable *v = &code->variables[index];
    struct ae_value value = v->value;
    if (v->array || v->pointer || v->shared) {
        if (value.root < 0)
            value.root = index;
        if (v->shared)
            value.space = SPACE_SHARED;
        else if (v->constant)
            value.space = SPACE_CONSTANT;
        else if (v->function == -1 && v->device)
            value.space = SPACE_GLOBAL;
        else if (v->array && v->function >= 0)
            value.space = ae_on_device(code, v->function) ? SPACE_LOCAL : SPACE_HOST;
        else if (v->array && v->function == -1 && value.space == SPACE_UNKNOWN)
            value.space = v->points_to_const ? SPACE_CONSTANT : SPACE_HOST;
        if (v->array) { /* its address depends on nothing */
            value.deps = 0;
            value.coef = COEF_NONE;
            value.constness = CONST_NO;
        }
        value.set = true;
    } else if (v->constant || (v->function == -1 && v->device && !v->points_to_const)) {
        value = (struct ae_value){.set = true, .deps = D_LOADED, .root = -1};
    }
    return value;
}

struct ae_value ae_value_of(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    if (node < 0 || code->budget <= 0 || code->depth > DEPTH)
        return unknown;
    code->budget--;
    code->depth++;
    struct ae_value v = unknown;
    switch (ae_kind(s, node)) {
    case N_NUMBER: {
        char text[40], *end;
        size_t n = s->nodes[node].end - s->nodes[node].start, m = 0;
        for (size_t i = 0; i < n && m + 1 < sizeof text; i++)
            if (s->text[s->nodes[node].start + i] != '\'')
                text[m++] = s->text[s->nodes[node].start + i];
        text[m] = 0;
        const bool hex = text[0] == '0' && (text[1] | 32) == 'x';
        if (!hex && strpbrk(text, ".eEfF")) {
            v = (struct ae_value){.set = true, .constness = CONST_UNKNOWN, .deps = D_FLOAT, .root = -1};
        } else {
            v = number_value((int64_t)strtoull(text, &end, 0));
        }
        break;
    }
    case N_TRUE:
    case N_FALSE: v = number_value(ae_kind(s, node) == N_TRUE); break;
    case N_IDENTIFIER: v = identifier_value(code, node); break;
    case N_FIELD: {
        const int object = ae_child(s, node, F_ARGUMENT), field = ae_child(s, node, F_FIELD);
        v = builtin_value(s, object, field);
        if (v.set)
            break;
        const int index = ae_variable_at(code, node);
        const struct ae_value of = ae_value_of(code, object);
        v = (struct ae_value){
            .set = true, .deps = of.deps, .coef = of.coef == COEF_NONE ? COEF_NONE : of.coef, .root = index};
        if (index >= 0 && (code->variables[index].pointer || code->variables[index].array)) {
            v.space = code->variables[index].pointer
                          ? (ae_on_device(code, code->function_of[node]) ? SPACE_GLOBAL : SPACE_HOST)
                      : of.space ? of.space
                                 : SPACE_LOCAL;
            if (code->variables[index].shared)
                v.space = SPACE_SHARED;
            if (code->variables[index].value.set && ae_on_device(code, code->function_of[node]))
                v.space = code->variables[index].value.space;
        }
        break;
    }
    case N_SUBSCRIPT: {
        int base, last, count;
        const struct ae_value address = address_of(code, node, &base, &last, &count);
        const int array = ae_kind(s, base) == N_IDENTIFIER ? ae_variable_at(code, base) : -1;
        /* a row of an array is a place, not an element */
        const bool place = array >= 0 && (code->variables[array].array  ? code->variables[array].dim_count > count
                                          : code->variables[array].rows ? code->variables[array].dim_count >= count
                                                                        : false);
        v = place ? address : loaded(address);
        break;
    }
    case N_POINTER: {
        const int op = ae_child(s, node, F_OPERATOR), argument = ae_child(s, node, F_ARGUMENT);
        if (ae_text_is(s, op, "&")) {
            const int inner = ae_strip(s, argument);
            if (ae_kind(s, inner) == N_SUBSCRIPT) {
                int base, last, count;
                v = address_of(code, inner, &base, &last, &count);
            } else {
                v = ae_value_of(code, inner);
                v.constness = CONST_NO;
            }
        } else {
            v = loaded(ae_value_of(code, argument));
        }
        break;
    }
    case N_PARENTHESIZED:
    case N_CONDITION: v = ae_value_of(code, ae_nth(s, node, 0)); break;
    case N_CAST: v = ae_value_of(code, ae_child(s, node, F_VALUE)); break;
    case N_UNARY:
        v = ae_value_of(code, ae_child(s, node, F_ARGUMENT));
        if (v.constness == CONST_KNOWN) {
            const int op = ae_child(s, node, F_OPERATOR);
            if (ae_text_is(s, op, "-") && v.number != INT64_MIN)
                v.number = -v.number;
            else if (!ae_text_is(s, op, "+"))
                v.constness = CONST_UNKNOWN;
        }
        break;
    case N_UPDATE:
    case N_ASSIGNMENT:
        v = ae_value_of(code, ae_child(s, node, ae_kind(s, node) == N_UPDATE ? F_ARGUMENT : F_RIGHT));
        break;
    case N_BINARY: v = binary_value(code, node); break;
    case N_CONDITIONAL: {
        const struct ae_value condition = ae_value_of(code, ae_child(s, node, F_CONDITION));
        v = join(ae_value_of(code, ae_child(s, node, F_CONSEQUENCE)),
                 ae_value_of(code, ae_child(s, node, F_ALTERNATIVE)));
        v.deps |= condition.deps;
        break;
    }
    case N_COMMA: v = ae_value_of(code, ae_child(s, node, F_RIGHT)); break;
    case N_SIZEOF: v = (struct ae_value){.set = true, .constness = CONST_UNKNOWN, .root = -1}; break;
    case N_CALL: v = call_value(code, node); break;
    case N_INITIALIZERS:
    case N_COMPOUND_LITERAL: v = (struct ae_value){.set = true, .root = -1}; break;
    default: break;
    }
    code->depth--;
    return v;
}

/* The value that a small function of this source returns for these arguments: parameters are bound, its assignments and
 * returns evaluated, and all is put back. */
static bool inlined(struct ae_program *code, const struct ae_call_site *call, struct ae_value *ret)
{
    struct ae_syntax *s = &code->syntax;
    struct ae_function *f = &code->functions[call->target];
    enum { MOST = 24 };
    struct ae_value saved[MOST];
    int variables[MOST], count = 0;
    if (f->last_assign - f->first_assign > 12 || code->depth > 12 || f->body < 0)
        return false;
    for (int v = f->first_variable; v < code->variable_count && code->variables[v].function == call->target; v++) {
        if (count == MOST)
            return false;
        variables[count] = v;
        saved[count++] = code->variables[v].value;
    }
    for (int i = 0; i < count; i++) {
        struct ae_variable *v = &code->variables[variables[i]];
        if (!v->parameter)
            continue;
        struct ae_value value = ae_value_of(code, ae_argument(code, call, v->position));
        if (v->pointer && value.space == SPACE_UNKNOWN)
            value.space = saved[i].space;
        v->value = value;
    }
    for (int a = f->first_assign; a < f->last_assign; a++)
        if (code->assigns[a].variable >= 0 && code->assigns[a].kind == ASSIGN_INIT)
            code->variables[code->assigns[a].variable].value = ae_value_of(code, code->assigns[a].right);
    *ret = unknown;
    for (int n = f->body; n < s->nodes[f->body].after; n++)
        if (s->nodes[n].kind == N_RETURN)
            *ret = join(*ret, ae_value_of(code, ae_nth(s, n, 0)));
    for (int i = 0; i < count; i++)
        code->variables[variables[i]].value = saved[i];
    return ret->set;
}

static struct ae_value call_value(struct ae_program *code, int node)
{
    static const char *const loads[] = {"__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv", NULL};
    static const char *const between[] = {"min", "max", "fminf", "fmaxf", "fmin", "fmax", "clamp", NULL};
    const struct ae_syntax *s = &code->syntax;
    const int stripped = ae_strip(s, node);
    if (stripped != node)
        return ae_value_of(code, stripped);
    const struct ae_call_site *call = ae_call_at(code, node);
    struct ae_value v = {.set = true, .root = -1, .deps = D_CALLED};
    if (!call)
        return v;
    const char *name = ae_name(code, call->name);
    if (ae_name_among(code, call->name, loads))
        return loaded(ae_value_of(code, ae_argument(code, call, 0)));
    if (strcmp(name, "thread_rank") == 0) {
        const int object = ae_child(s, call->callee, F_ARGUMENT);
        const int variable = ae_variable_at(code, object);
        v.coef = COEF_ONE;
        v.deps = D_TX;
        if (ae_text_has(s, object, "grid") || (variable >= 0 && ae_text_has(s, code->variables[variable].type, "grid")))
            v.deps |= D_BLOCK;
        else if (variable >= 0 && (ae_text_has(s, code->variables[variable].declaration, "tile") ||
                                   ae_text_has(s, code->variables[variable].declaration, "coalesced")))
            v.deps = D_LANE | D_TX;
        return v;
    }
    if (strncmp(name, "__shfl", 6) == 0 || strncmp(name, "__ballot", 8) == 0 || strncmp(name, "__reduce", 8) == 0) {
        v.deps = ae_value_of(code, ae_argument(code, call, 1)).deps | D_LOADED;
        v.coef = strcmp(name, "__shfl_sync") == 0 || strncmp(name, "__shfl", 6) != 0 ? COEF_NONE : COEF_GATHER;
        return v;
    }
    if (strncmp(name, "atomic", 6) == 0) {
        v.deps = D_ATOMIC | D_LOADED;
        v.coef = COEF_GATHER;
        return v;
    }
    if (ae_name_among(code, call->name, between)) {
        v = join(ae_value_of(code, ae_argument(code, call, 0)), ae_value_of(code, ae_argument(code, call, 1)));
        v.constness = v.constness == CONST_KNOWN ? CONST_UNKNOWN : v.constness;
        return v;
    }
    if (call->target >= 0 && call->target != call->function && inlined(code, call, &v))
        return v;
    v.constness = CONST_NO;
    for (int i = 0; i < 8; i++) {
        const int argument = ae_argument(code, call, i);
        if (argument < 0)
            break;
        const struct ae_value a = ae_value_of(code, argument);
        v.deps |= a.deps;
        if (a.coef != COEF_NONE)
            v.coef = a.coef == COEF_GATHER ? COEF_GATHER : COEF_OTHER;
    }
    return v;
}

/* --- reading it all --- */

static enum ae_assign_kind operator_kind(const struct ae_syntax *s, int op)
{
    static const struct {
        const char *text;
        enum ae_assign_kind kind;
    } known[] = {{"=", ASSIGN_SET},  {"+=", ASSIGN_ADD},         {"-=", ASSIGN_SUB},          {"*=", ASSIGN_MUL},
                 {"/=", ASSIGN_DIV}, {"<<=", ASSIGN_SHIFT_LEFT}, {">>=", ASSIGN_SHIFT_RIGHT}, {"|=", ASSIGN_OR},
                 {"&=", ASSIGN_AND}, {"^=", ASSIGN_XOR}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (ae_text_is(s, op, known[k].text))
            return known[k].kind;
    return ASSIGN_OTHER;
}

static int add_assign(struct ae_program *code, int node, int target, int right, int variable, enum ae_assign_kind kind)
{
    struct ae_assign *a = APPEND(code->assigns, code->assign_count);
    if (!a)
        return AE_E_NOMEM;
    *a = (struct ae_assign){.node = node,
                            .target = target,
                            .right = right,
                            .variable = variable,
                            .kind = kind,
                            .function = code->function_of[node],
                            .loop = code->loop_of[node]};
    return AE_OK;
}

int ae_last_name(const struct ae_syntax *s, int callee)
{
    for (int guard = 0; callee >= 0 && guard < 16; guard++) {
        switch (ae_kind(s, callee)) {
        case N_FIELD: callee = ae_child(s, callee, F_FIELD); break;
        case N_QUALIFIED:
        case N_TEMPLATE_FUNCTION:
        case N_TEMPLATE_METHOD:
        case N_TEMPLATE_TYPE: callee = ae_child(s, callee, F_NAME); break;
        case N_PARENTHESIZED: callee = ae_nth(s, callee, 0); break;
        default: return s->nodes[callee].name;
        }
    }
    return -1;
}

static int add_call(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    struct ae_call_site *c = APPEND(code->calls, code->call_count);
    if (!c)
        return AE_E_NOMEM;
    *c = (struct ae_call_site){.node = node,
                               .callee = ae_child(s, node, F_FUNCTION),
                               .arguments = ae_child(s, node, F_ARGUMENTS),
                               .function = code->function_of[node],
                               .loop = code->loop_of[node],
                               .target = -1,
                               .launch = ae_first_of(s, node, N_LAUNCH)};
    c->name = ae_last_name(s, c->callee);
    c->launches = c->launch >= 0 || strncmp(ae_name(code, c->name), "cudaLaunch", 10) == 0 ||
                  strcmp(ae_name(code, c->name), "cudaGraphLaunch") == 0;
    return AE_OK;
}

/* Where nodes are: in which function and in which loop. */
static int read_places(struct ae_program *code)
{
    struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < s->count; i++) {
        const struct ae_node *n = &s->nodes[i];
        code->function_of[i] = n->parent < 0 ? -1 : code->function_of[n->parent];
        code->loop_of[i] = n->parent < 0 ? -1 : code->loop_of[n->parent];
        if (n->parent >= 0 && code->loop_count > 0) {
            const int parent = n->parent;
            const enum ae_node_kind k = ae_kind(s, parent);
            if (k == N_FOR || k == N_WHILE || k == N_DO || k == N_FOR_RANGE) {
                for (int l = code->loop_count - 1; l >= 0; l--)
                    if (code->loops[l].node == parent) {
                        if (n->field != F_INITIALIZER)
                            code->loop_of[i] = l;
                        break;
                    }
            }
        }
        if (n->kind == N_FUNCTION && code->function_of[i] < 0) {
            if (read_function(code, i) != AE_OK)
                return AE_E_NOMEM;
            code->function_of[i] = code->function_count - 1;
        }
        if (n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_DO || n->kind == N_FOR_RANGE) {
            struct ae_loop *l = APPEND(code->loops, code->loop_count);
            if (!l)
                return AE_E_NOMEM;
            *l = (struct ae_loop){.node = i,
                                  .body = ae_child(s, i, F_BODY),
                                  .condition = ae_child(s, i, F_CONDITION),
                                  .function = code->function_of[i],
                                  .parent = code->loop_of[i],
                                  .variable = -1,
                                  .initial = -1,
                                  .step = -1,
                                  .trips = -1,
                                  .step_kind = ASSIGN_OTHER,
                                  .kind = n->kind == N_FOR     ? LOOP_FOR
                                          : n->kind == N_WHILE ? LOOP_WHILE
                                          : n->kind == N_DO    ? LOOP_DO
                                                               : LOOP_RANGE};
            if (l->body < 0) /* this grammar's for has no field for a body that is a single statement */
                for (int c = n->first; c >= 0; c = s->nodes[c].next)
                    if (s->nodes[c].named)
                        l->body = c;
        }
    }
    return AE_OK;
}

static int read_declarations(struct ae_program *code)
{
    struct ae_syntax *s = &code->syntax;
    int function = -1, rc = AE_OK;
    for (int i = 0; rc == AE_OK && i < s->count; i++) {
        const struct ae_node *n = &s->nodes[i];
        struct ae_variable *v;
        if (n->kind == N_FUNCTION && code->function_of[i] >= 0 && code->functions[code->function_of[i]].node == i) {
            function = code->function_of[i];
            code->functions[function].first_variable = code->variable_count;
            rc = read_parameters(code, function);
        } else if (n->kind == N_DECLARATION || n->kind == N_FIELD_DECLARATION) {
            for (int c = n->first; rc == AE_OK && c >= 0; c = s->nodes[c].next) {
                if (s->nodes[c].field != F_DECLARATOR)
                    continue;
                const bool field = n->kind == N_FIELD_DECLARATION;
                rc = add_variable(code, i, c, field ? -2 : code->function_of[i], &v);
            }
        } else if (n->kind == N_PARAMETER && ae_kind(s, ae_ancestor(s, i, N_LAMBDA)) == N_LAMBDA &&
                   code->function_of[i] >= 0 && ae_kind(s, n->parent) == N_PARAMETERS &&
                   n->parent != code->functions[code->function_of[i]].parameters) {
            rc = add_variable(code, i, ae_child(s, i, F_DECLARATOR), code->function_of[i], &v);
        } else if (n->kind == N_FOR_RANGE) {
            rc = add_variable(code, i, ae_child(s, i, F_DECLARATOR), code->function_of[i], &v);
        } else if (n->kind == N_ENUMERATOR || n->kind == N_DEFINE) {
            const int name = ae_child(s, i, F_NAME), value = ae_child(s, i, F_VALUE);
            struct ae_variable *e = s->nodes[name < 0 ? 0 : name].name < 0 || name < 0
                                        ? NULL
                                        : APPEND(code->variables, code->variable_count);
            if (!e)
                continue;
            *e = (struct ae_variable){.name = s->nodes[name].name,
                                      .function = -1,
                                      .node = name,
                                      .declaration = i,
                                      .type = -1,
                                      .initial = n->kind == N_ENUMERATOR ? value : -1,
                                      .position = -1,
                                      .loop = -1,
                                      .alias = -1,
                                      .next_same_name = code->chain[s->nodes[name].name],
                                      .points_to_const = true,
                                      .value = {.set = true, .constness = CONST_UNKNOWN, .root = -1}};
            code->chain[e->name] = code->variable_count - 1;
            if (n->kind == N_DEFINE && value >= 0) {
                char *end;
                const char *text = s->text + s->nodes[value].start;
                while (*text == ' ' || *text == '(')
                    text++;
                const long long number = strtoll(text, &end, 0);
                if (end > text && (size_t)(end - s->text) <= s->nodes[value].end) {
                    while (*end && strchr("uUlL )\t", *end))
                        end++;
                    if ((size_t)(end - s->text) >= s->nodes[value].end)
                        e->value = number_value(number);
                }
            }
        }
    }
    return rc;
}

static int read_statements(struct ae_program *code)
{
    struct ae_syntax *s = &code->syntax;
    int rc = AE_OK;
    for (int i = 0; rc == AE_OK && i < s->count; i++) {
        const struct ae_node *n = &s->nodes[i];
        switch ((enum ae_node_kind)n->kind) {
        case N_INIT_DECLARATOR: {
            struct ae_variable v = {.initial = -1};
            const int id = read_declarator(s, i, &v);
            rc = add_assign(code, i, id, ae_child(s, i, F_VALUE),
                            id < 0 ? -1
                                   : lookup(code, s->nodes[id].name, code->function_of[i], s->nodes[id].start, false),
                            ASSIGN_INIT);
            break;
        }
        case N_ASSIGNMENT: {
            const int left = ae_strip(s, ae_child(s, i, F_LEFT));
            rc = add_assign(code, i, left, ae_child(s, i, F_RIGHT),
                            ae_kind(s, left) == N_IDENTIFIER ? ae_variable_at(code, left) : -1,
                            operator_kind(s, ae_child(s, i, F_OPERATOR)));
            break;
        }
        case N_UPDATE: {
            const int target = ae_strip(s, ae_child(s, i, F_ARGUMENT));
            rc = add_assign(code, i, target, -1, ae_kind(s, target) == N_IDENTIFIER ? ae_variable_at(code, target) : -1,
                            ASSIGN_STEP);
            break;
        }
        case N_CALL: rc = add_call(code, i); break;
        default: break;
        }
    }
    for (int a = code->assign_count - 1; a >= 0; a--)
        if (code->assigns[a].function >= 0) {
            struct ae_function *f = &code->functions[code->assigns[a].function];
            f->first_assign = a;
            if (f->last_assign == 0)
                f->last_assign = a + 1;
        }
    return rc;
}

/* By name: what a call calls. */
static void resolve_calls(struct ae_program *code)
{
    int *by_name = malloc((size_t)(code->syntax.name_count + 1) * sizeof *by_name);
    if (!by_name)
        return;
    for (int i = 0; i < code->syntax.name_count; i++)
        by_name[i] = -1;
    for (int f = code->function_count - 1; f >= 0; f--)
        if (code->functions[f].name >= 0)
            by_name[code->functions[f].name] = f;
    for (int c = 0; c < code->call_count; c++) {
        struct ae_call_site *call = &code->calls[c];
        if (call->name >= 0 && ae_kind(&code->syntax, call->callee) != N_FIELD)
            call->target = by_name[call->name];
        if (call->launches && call->launch < 0) /* cudaLaunchKernel(kernel, ...): the kernel is among the arguments */
            for (int n = call->arguments; n >= 0 && n < code->syntax.nodes[call->arguments].after; n++) {
                const int name = code->syntax.nodes[n].name;
                if (name >= 0 && by_name[name] >= 0 && code->functions[by_name[name]].kernel)
                    call->target = by_name[name];
            }
        if (call->launch >= 0 &&
            call->target >= 0) /* what is launched is a kernel, whatever the parser made of its head */
            code->functions[call->target].kernel = true, code->functions[call->target].host = false;
    }
    free(by_name);
}

static bool barrier_call(const struct ae_program *code, const struct ae_call_site *call)
{
    static const char *const barriers[] = {"__syncthreads",
                                           "__syncthreads_or",
                                           "__syncthreads_and",
                                           "__syncthreads_count",
                                           "sync",
                                           "__syncwarp",
                                           "barrier_sync",
                                           "arrive_and_wait",
                                           NULL};
    return ae_name_among(code, call->name, barriers);
}

static void read_loops(struct ae_program *code)
{
    struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < code->loop_count; i++) {
        struct ae_loop *l = &code->loops[i];
        l->device = ae_on_device(code, l->function);
    }
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        const bool barrier = barrier_call(code, call);
        for (int l = call->loop; (barrier || call->launches) && l >= 0; l = code->loops[l].parent) {
            code->loops[l].barrier |= barrier;
            code->loops[l].launch |= call->launches;
        }
    }
    /* A host function that launches launches where it is called. */
    for (int round = 0; round < 3; round++)
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (call->launches || call->target < 0 || call->loop < 0 || !code->functions[call->target].host)
                continue;
            for (int d = 0; d < code->call_count; d++)
                if (code->calls[d].function == call->target && code->calls[d].launches) {
                    for (int l = call->loop; l >= 0; l = code->loops[l].parent)
                        code->loops[l].launch = true;
                    break;
                }
        }
    /* What counts. */
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *assign = &code->assigns[a];
        if (assign->variable < 0)
            continue;
        int l = assign->loop;
        if (assign->kind == ASSIGN_INIT || assign->kind == ASSIGN_SET) {
            /* for (int i = ...; ...): the initialiser lies in the loop's node but outside what is repeated */
            for (int n = s->nodes[assign->node].parent, guard = 0; n >= 0 && guard < 4; n = s->nodes[n].parent, guard++)
                if (ae_kind(s, n) == N_FOR) {
                    const int init = ae_child(s, n, F_INITIALIZER);
                    for (int k = 0; init >= 0 && ae_is_below(s, assign->node, init) && k < code->loop_count; k++)
                        if (code->loops[k].node == n && code->loops[k].variable < 0) {
                            const int condition = code->loops[k].condition, update = ae_child(s, n, F_UPDATE);
                            const int name = code->variables[assign->variable].name;
                            if (ae_mentions(s, update, name) || (update < 0 && ae_mentions(s, condition, name))) {
                                code->loops[k].variable = assign->variable;
                                code->loops[k].initial = assign->right;
                            }
                        }
                    break;
                }
            if (assign->kind == ASSIGN_INIT)
                continue;
        }
        if (l < 0)
            continue;
        struct ae_loop *loop = &code->loops[l];
        const int name = code->variables[assign->variable].name;
        if (loop->kind == LOOP_FOR) {
            const int update = ae_child(s, loop->node, F_UPDATE);
            if (!ae_is_below(s, assign->node, update))
                continue;
            if (loop->variable < 0)
                loop->variable = assign->variable;
            if (loop->variable != assign->variable)
                continue;
        } else if (loop->kind != LOOP_RANGE && ae_mentions(s, loop->condition, name) && assign->kind != ASSIGN_SET) {
            if (loop->variable >= 0 && loop->variable != assign->variable)
                continue;
            loop->variable = assign->variable;
            for (int b = 0; b < a; b++)
                if (code->assigns[b].variable == assign->variable && code->assigns[b].kind == ASSIGN_INIT)
                    loop->initial = code->assigns[b].right;
        } else {
            continue;
        }
        loop->step_kind = assign->kind;
        loop->step = assign->right;
        if (assign->kind == ASSIGN_SET) { /* i = i + step */
            const int right = ae_strip(s, assign->right);
            const int op = ae_child(s, right, F_OPERATOR);
            if (ae_kind(s, right) == N_BINARY && ae_mentions(s, ae_child(s, right, F_LEFT), name)) {
                loop->step = ae_child(s, right, F_RIGHT);
                loop->step_kind = ae_text_is(s, op, "+")    ? ASSIGN_ADD
                                  : ae_text_is(s, op, "-")  ? ASSIGN_SUB
                                  : ae_text_is(s, op, "/")  ? ASSIGN_DIV
                                  : ae_text_is(s, op, "*")  ? ASSIGN_MUL
                                  : ae_text_is(s, op, ">>") ? ASSIGN_SHIFT_RIGHT
                                  : ae_text_is(s, op, "<<") ? ASSIGN_SHIFT_LEFT
                                                            : ASSIGN_OTHER;
            }
        }
        loop->geometric |= loop->step_kind == ASSIGN_SHIFT_LEFT || loop->step_kind == ASSIGN_SHIFT_RIGHT ||
                           loop->step_kind == ASSIGN_MUL || loop->step_kind == ASSIGN_DIV;
    }
}

/* Constant bounds; after values are known. */
static void count_trips(struct ae_program *code)
{
    struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < code->loop_count; i++) {
        struct ae_loop *l = &code->loops[i];
        const int condition = ae_strip(s, l->condition);
        if (l->kind != LOOP_FOR || l->variable < 0 || ae_kind(s, condition) != N_BINARY || l->initial < 0)
            continue;
        const int name = code->variables[l->variable].name;
        int bound = ae_child(s, condition, F_RIGHT);
        if (ae_mentions(s, bound, name))
            bound = ae_child(s, condition, F_LEFT);
        if (ae_mentions(s, bound, name))
            continue;
        const struct ae_value from = ae_value_of(code, l->initial), to = ae_value_of(code, bound),
                              step = l->step >= 0 ? ae_value_of(code, l->step) : number_value(1);
        l->constant = from.constness != CONST_NO && to.constness != CONST_NO && step.constness != CONST_NO;
        if (from.constness == CONST_KNOWN && to.constness == CONST_KNOWN && step.constness == CONST_KNOWN &&
            step.number > 0 && !l->geometric) {
            int64_t span;
            if (!__builtin_sub_overflow(to.number, from.number, &span))
                l->trips = (span < 0 ? -(span + 1) : span) / step.number;
        }
    }
}

static void point_field(struct ae_program *code, int field, int value)
{
    const struct ae_value v = ae_value_of(code, value);
    if (field < 0 || code->variables[field].function != -2 || !code->variables[field].pointer ||
        (v.space != SPACE_SHARED && v.space != SPACE_GLOBAL))
        return;
    if (code->variables[field].value.set && code->variables[field].value.space != v.space)
        code->variables[field].value.space = SPACE_UNKNOWN; /* sometimes here, sometimes there */
    else if (!code->variables[field].value.set)
        code->variables[field].value = (struct ae_value){.set = true, .space = v.space, .root = field};
}

/* Where fields of structures point, on the device: s.row = shared + n, State s = {a, b}. */
static void field_flow(struct ae_program *code, const struct ae_assign *assign)
{
    const struct ae_syntax *s = &code->syntax;
    if (!ae_on_device(code, assign->function) || assign->right < 0)
        return;
    if (ae_kind(s, assign->target) == N_FIELD && assign->kind == ASSIGN_SET)
        point_field(code, ae_variable_at(code, assign->target), assign->right);
    if (ae_kind(s, assign->right) != N_INITIALIZERS || assign->variable < 0 || assign->kind != ASSIGN_INIT)
        return;
    const int type = code->variables[assign->variable].type;
    if (ae_kind(s, type) != N_TYPE_IDENTIFIER)
        return;
    int position = 0;
    for (int v = 0; v < code->variable_count; v++) { /* fields in the order of the structure */
        const struct ae_variable *f = &code->variables[v];
        if (f->function != -2)
            continue;
        const int structure = ae_ancestor(s, f->declaration, N_STRUCT);
        if (s->nodes[ae_child(s, structure, F_NAME) < 0 ? 0 : ae_child(s, structure, F_NAME)].name !=
            s->nodes[type].name)
            continue;
        point_field(code, v, ae_nth(s, assign->right, position));
        position++;
    }
}

/* Values of variables: two rounds a function, and three over all of them, so that arguments reach the functions that
 * they are handed to. */
static void flow(struct ae_program *code)
{
    for (int i = 0; i < code->variable_count; i++) {
        struct ae_variable *v = &code->variables[i];
        if (v->template_parameter)
            v->value = (struct ae_value){.set = true, .constness = CONST_UNKNOWN, .root = -1};
        else if (v->parameter && v->function >= 0 && code->functions[v->function].kernel)
            v->value = (struct ae_value){.set = true,
                                         .deps = D_PARAM,
                                         .root = v->pointer ? i : -1,
                                         .space = v->pointer ? SPACE_GLOBAL : SPACE_UNKNOWN};
        else if (v->parameter && v->function >= 0 && code->functions[v->function].host)
            v->value = (struct ae_value){.set = true,
                                         .deps = D_PARAM,
                                         .root = v->pointer ? i : -1,
                                         .space = v->pointer ? SPACE_HOST : SPACE_UNKNOWN};
        else if (v->function == -1 && v->initial >= 0 && (v->points_to_const || v->declaration >= 0) && !v->device &&
                 !v->constant && !v->array) {
            if (v->points_to_const || ae_kind(&code->syntax, v->declaration) == N_ENUMERATOR)
                v->value = ae_value_of(code, v->initial);
        }
    }
    for (int round = 0; round < 3; round++) {
        for (int twice = 0; twice < 2; twice++)
            for (int a = 0; a < code->assign_count; a++) {
                const struct ae_assign *assign = &code->assigns[a];
                field_flow(code, assign);
                if (assign->variable < 0 || assign->function < 0)
                    continue;
                struct ae_variable *v = &code->variables[assign->variable];
                struct ae_value value;
                if (assign->kind == ASSIGN_STEP) {
                    value = (struct ae_value){.set = true, .deps = assign->loop >= 0 ? D_LOOP : 0, .root = -1};
                } else {
                    value = ae_value_of(code, assign->right);
                    if (!value.set)
                        continue;
                    if (assign->kind != ASSIGN_INIT && assign->kind != ASSIGN_SET) {
                        value.constness = CONST_NO;
                        /* i += step moves as it did unless the step differs between threads */
                        if (assign->loop >= 0)
                            value.deps |= D_LOOP;
                        if ((assign->kind == ASSIGN_ADD || assign->kind == ASSIGN_SUB) && value.coef == COEF_ONE &&
                            v->value.coef == COEF_ONE)
                            value.coef = COEF_OTHER;
                        if (value.root < 0)
                            value.space = v->value.space;
                    }
                }
                if (assign->kind == ASSIGN_SET && assign->loop >= 0 &&
                    ae_mentions(&code->syntax, assign->right, v->name)) {
                    value.deps |= D_LOOP;
                    value.constness = CONST_NO;
                }
                if (v->pointer && v->alias < 0 && assign->kind == ASSIGN_INIT) {
                    const int from = ae_variable_at(code, assign->right);
                    if (from != assign->variable && from >= 0 &&
                        (code->variables[from].pointer || code->variables[from].array))
                        v->alias = from;
                }
                v->value = join(v->value, value);
                /* row = __shfl_sync(~0u, row, 0): from here on the same for the warp */
                if (assign->kind == ASSIGN_SET && ae_kind(&code->syntax, assign->right) == N_CALL && v->name >= 0 &&
                    ae_text_has(&code->syntax, ae_child(&code->syntax, assign->right, F_FUNCTION), "__shfl_sync") &&
                    ae_mentions(&code->syntax, assign->right, v->name))
                    v->broadcast = true;
                if (v->broadcast) {
                    v->value.coef = COEF_NONE;
                    v->value.deps &= ~(uint32_t)(D_TX | D_LANE);
                }
                if (v->element == E_FLOAT || v->element == E_DOUBLE || v->element == E_HALF)
                    v->value.deps |= D_FLOAT;
            }
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (call->target < 0 || call->launches || code->functions[call->target].kernel)
                continue;
            const int first = code->functions[call->target].first_variable;
            for (int v = first; v < code->variable_count && code->variables[v].function == call->target; v++) {
                struct ae_variable *p = &code->variables[v];
                if (!p->parameter)
                    break;
                struct ae_value value = ae_value_of(code, ae_argument(code, call, p->position));
                if (p->pointer) {
                    const int handed = ae_variable_at(code, ae_argument(code, call, p->position));
                    if (p->alias < 0 && handed != v)
                        p->alias = handed;
                    value.root = v; /* named by the parameter from here on */
                }
                value.constness = value.constness == CONST_KNOWN ? CONST_UNKNOWN : value.constness;
                if (!p->pointer)
                    value.constness = CONST_NO;
                if (value.set)
                    p->value = join(p->value, value);
            }
        }
    }
}

static int add_access(struct ae_program *code, int node, int base, struct ae_value address, int last, int indices)
{
    const struct ae_syntax *s = &code->syntax;
    struct ae_access *a = APPEND(code->accesses, code->access_count);
    if (!a)
        return AE_E_NOMEM;
    *a = (struct ae_access){.node = node,
                            .variable = ae_variable_at(code, base),
                            .root = address.root,
                            .name = -1,
                            .space = (enum ae_space)address.space,
                            .address = address,
                            .last_index = last,
                            .indices = indices,
                            .function = code->function_of[node],
                            .loop = code->loop_of[node],
                            .read = true};
    if (a->variable >= 0)
        a->name = code->variables[a->variable].name;
    /* Up to what is done with it. */
    int child = node, parent = s->nodes[node].parent;
    while (parent >= 0 && (ae_kind(s, parent) == N_PARENTHESIZED || ae_kind(s, parent) == N_FIELD ||
                           (ae_kind(s, parent) == N_POINTER && ae_text_is(s, ae_child(s, parent, F_OPERATOR), "&")))) {
        child = parent;
        parent = s->nodes[parent].parent;
    }
    if (ae_kind(s, parent) == N_ASSIGNMENT && ae_child(s, parent, F_LEFT) == child) {
        a->write = true;
        a->read = !ae_text_is(s, ae_child(s, parent, F_OPERATOR), "=");
    } else if (ae_kind(s, parent) == N_UPDATE) {
        a->write = true;
    } else if (ae_kind(s, parent) == N_ARGUMENTS || ae_kind(s, node) == N_CALL) {
        const int call = ae_kind(s, node) == N_CALL ? node : s->nodes[parent].parent;
        const int name = ae_last_name(s, ae_child(s, call, F_FUNCTION));
        const char *text = ae_name(code, name);
        const bool first = ae_kind(s, node) == N_CALL || ae_nth(s, parent, 0) == child;
        if (first && strncmp(text, "atomic", 6) == 0)
            a->write = a->atomic = true;
        if (first && (strncmp(text, "__st", 4) == 0)) {
            a->write = true;
            a->read = false;
        }
    }
    return AE_OK;
}

/* Elements in the vector type that a pointer is cast to; 0: a type of the program's own; 1: no such cast. */
static int vector_width(const struct ae_syntax *s, int node)
{
    static const struct {
        const char *type;
        int width;
    } known[] = {{"float4", 4}, {"int4", 4},  {"uint4", 4},     {"short4", 4},  {"ushort4", 4}, {"float2", 2},
                 {"int2", 2},   {"uint2", 2}, {"longlong2", 2}, {"double2", 2}, {"double4", 4}, {"ulonglong2", 2}};
    while (ae_kind(s, node) == N_PARENTHESIZED)
        node = ae_nth(s, node, 0);
    const int type = ae_kind(s, node) == N_CAST   ? ae_child(s, node, F_TYPE)
                     : ae_kind(s, node) == N_CALL ? ae_child(s, ae_child(s, node, F_FUNCTION), F_ARGUMENTS)
                                                  : -1;
    for (int i = type; type >= 0 && i < s->nodes[type].after; i++) {
        if (s->nodes[i].kind != N_TYPE_IDENTIFIER)
            continue;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (ae_text_is(s, i, known[k].type))
                return known[k].width;
        return 0;
    }
    return 1;
}

/* Vectors side by side are as good as elements side by side. */
static struct ae_value of_vectors(const struct ae_syntax *s, struct ae_value address, int pointer)
{
    const int width = vector_width(s, pointer);
    if (width != 1 && address.coef == COEF_OTHER && address.stride > 0 && (width == 0 || address.stride == width))
        address.coef = COEF_ONE;
    return address;
}

/* Is the subscript only the address that a cast takes: reinterpret_cast<float4 *>(&a[i])? */
static bool only_address(const struct ae_syntax *s, int subscript)
{
    int n = s->nodes[subscript].parent;
    if (ae_kind(s, n) != N_POINTER || !ae_text_is(s, ae_child(s, n, F_OPERATOR), "&"))
        return false;
    n = s->nodes[n].parent;
    while (ae_kind(s, n) == N_PARENTHESIZED)
        n = s->nodes[n].parent;
    if (ae_kind(s, n) == N_ARGUMENTS)
        return ae_text_has(s, ae_child(s, s->nodes[n].parent, F_FUNCTION), "_cast<");
    return ae_kind(s, n) == N_CAST;
}

static int read_accesses(struct ae_program *code)
{
    static const char *const through[] = {"__ldg",     "__ldcg",    "__ldca",     "__ldcs",    "__ldlu",
                                          "__ldcv",    "__stcg",    "__stcs",     "__stwt",    "__stwb",
                                          "atomicAdd", "atomicMin", "atomicMax",  "atomicOr",  "atomicAnd",
                                          "atomicXor", "atomicCAS", "atomicExch", "atomicSub", NULL};
    struct ae_syntax *s = &code->syntax;
    int rc = AE_OK;
    for (int i = 0; rc == AE_OK && i < s->count; i++) {
        const struct ae_node *n = &s->nodes[i];
        if (code->function_of[i] < 0)
            continue;
        if (n->kind == N_SUBSCRIPT && !(ae_kind(s, n->parent) == N_SUBSCRIPT && n->field == F_ARGUMENT) &&
            !only_address(s, i)) {
            int base, last, count;
            const struct ae_value address = address_of(code, i, &base, &last, &count);
            rc = add_access(code, i, base, address, last, count);
        } else if (n->kind == N_POINTER && ae_text_is(s, ae_child(s, i, F_OPERATOR), "*")) {
            const int argument = ae_child(s, i, F_ARGUMENT);
            const struct ae_value address = of_vectors(s, ae_value_of(code, argument), argument);
            if (address.space != SPACE_UNKNOWN)
                rc = add_access(code, i, argument, address, argument, 1);
        } else if (n->kind == N_CALL && ae_name_among(code, ae_last_name(s, ae_child(s, i, F_FUNCTION)), through)) {
            const int argument = ae_nth(s, ae_child(s, i, F_ARGUMENTS), 0), stripped = ae_strip(s, argument);
            const bool element = vector_width(s, argument) == 1 && ae_kind(s, stripped) == N_POINTER &&
                                 ae_kind(s, ae_strip(s, ae_child(s, stripped, F_ARGUMENT))) == N_SUBSCRIPT;
            const struct ae_value address = element ? unknown : of_vectors(s, ae_value_of(code, argument), argument);
            if (!element && address.set)
                rc = add_access(code, i, argument, address, argument, 1);
        }
    }
    return rc;
}

int ae_code_read(struct ae_syntax *syntax, struct ae_program *ret, struct ae_error *err)
{
    struct ae_program code = {.syntax = *syntax, .entry = -1, .budget = BUDGET};
    memset(syntax, 0, sizeof *syntax);
    const size_t nodes = (size_t)code.syntax.count + 1, names = (size_t)code.syntax.name_count + 1;
    code.function_of = malloc(nodes * sizeof *code.function_of);
    code.loop_of = malloc(nodes * sizeof *code.loop_of);
    code.chain = malloc(names * sizeof *code.chain);
    int rc = code.function_of && code.loop_of && code.chain ? AE_OK : AE_E_NOMEM;
    for (size_t i = 0; rc == AE_OK && i < names; i++)
        code.chain[i] = -1;
    if (rc == AE_OK)
        rc = read_places(&code);
    if (rc == AE_OK)
        rc = read_declarations(&code);
    if (rc == AE_OK)
        rc = read_statements(&code);
    if (rc == AE_OK) {
        resolve_calls(&code);
        read_loops(&code);
        flow(&code);
        count_trips(&code);
        rc = read_accesses(&code);
    }
    if (rc != AE_OK) {
        ae_code_release(&code);
        return ae_error_set(err, rc, "no memory to read the source");
    }
    *ret = code;
    return AE_OK;
}

void ae_code_release(struct ae_program *code)
{
    ae_syntax_release(&code->syntax);
    free(code->functions);
    free(code->variables);
    free(code->assigns);
    free(code->loops);
    free(code->calls);
    free(code->accesses);
    free(code->function_of);
    free(code->loop_of);
    free(code->chain);
    memset(code, 0, sizeof *code);
}

int ae_argument(const struct ae_program *code, const struct ae_call_site *call, int n)
{
    return ae_nth(&code->syntax, call->arguments, n);
}

const struct ae_call_site *ae_call_at(const struct ae_program *code, int node)
{
    int lo = 0, hi = code->call_count; /* in order of nodes */
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (code->calls[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < code->call_count && code->calls[lo].node == node ? &code->calls[lo] : NULL;
}

const struct ae_access *ae_access_at(const struct ae_program *code, int node)
{
    int lo = 0, hi = code->access_count;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (code->accesses[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < code->access_count && code->accesses[lo].node == node ? &code->accesses[lo] : NULL;
}

bool ae_loop_within(const struct ae_program *code, int loop, int outer)
{
    for (; loop >= 0; loop = code->loops[loop].parent)
        if (loop == outer)
            return true;
    return false;
}

int ae_loop_depth(const struct ae_program *code, int loop)
{
    int depth = 0;
    for (; loop >= 0; loop = code->loops[loop].parent)
        depth++;
    return depth;
}
