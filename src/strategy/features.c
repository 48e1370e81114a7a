#include "strategy/features.h"

#include "strategy/hunt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 8   /* hostile sources: weights stay finite */
#define CALLS_MOST 12  /* calls that are followed */
#define PAIRS_MOST 256 /* accesses of a loop that a write is compared with */
#define FLOW_MOST  12  /* assignments that an index is followed through */

static const char *const names[AE_FEATURE_COUNT] = {
    [AE_FEATURE_DEPTH] = "loop depth",
    [AE_FEATURE_STRIDE_ONE] = "stride-1 accesses",
    [AE_FEATURE_INDIRECTION] = "indirect accesses",
    [AE_FEATURE_REDUCTION] = "loops that reduce",
    [AE_FEATURE_RECURRENCE] = "loops with a recurrence",
    [AE_FEATURE_UNBOUNDED] = "loops without a bound",
    [AE_FEATURE_BRANCHES] = "loops with a branch",
    [AE_FEATURE_FUNCTIONS] = "loops with exp, log, sqrt...",
    [AE_FEATURE_INTENSITY] = "log2 operations a byte",
    [AE_FEATURE_BYTES] = "log2 bytes",
    [AE_FEATURE_STEPS] = "log2 dependent steps",
};

const char *ae_feature_name(enum ae_feature feature)
{
    return names[feature];
}

/* How an index moves when its innermost loop takes a turn. */
enum stride { STRIDE_NONE, STRIDE_ONE, STRIDE_OTHER, STRIDE_READ /* its place was read from memory */ };

struct look {
    const struct ae_program *code;
    int *around; /* by function: loops around its calls at most */
    long budget; /* evaluations left */
};

static enum stride stride_of(struct look *l, int node, int loop, int depth);

static enum stride stride_of_name(struct look *l, int node, int loop, int depth)
{
    const struct ae_program *code = l->code;
    const int variable = ae_variable_at(code, node);
    if (variable < 0)
        return STRIDE_NONE;
    if (variable == code->loops[loop].variable) {
        const int step = code->loops[loop].step;
        return step < 0 || ae_text_is(&code->syntax, ae_strip(&code->syntax, step), "1") ? STRIDE_ONE : STRIDE_OTHER;
    }
    enum stride stride = STRIDE_NONE;
    const int function = code->variables[variable].function;
    if (function < 0 || depth >= FLOW_MOST)
        return STRIDE_NONE;
    for (int a = code->functions[function].first_assign; a >= 0 && a < code->functions[function].last_assign; a++) {
        const struct ae_assign *assign = &code->assigns[a];
        if (--l->budget < 0)
            return STRIDE_NONE;
        if (assign->variable != variable || assign->loop < 0 || !ae_loop_within(code, assign->loop, loop))
            continue;
        enum stride here = STRIDE_OTHER;
        if (assign->kind == ASSIGN_STEP ||
            ((assign->kind == ASSIGN_ADD || assign->kind == ASSIGN_SUB) && ae_text_is(&code->syntax, assign->right, "1")))
            here = STRIDE_ONE;
        else if (assign->kind == ASSIGN_INIT || assign->kind == ASSIGN_SET)
            here = stride_of(l, assign->right, loop, depth + 1);
        stride = here > stride ? here : stride;
    }
    return stride;
}

static enum stride stride_of(struct look *l, int node, int loop, int depth)
{
    const struct ae_syntax *s = &l->code->syntax;
    node = ae_strip(s, node);
    if (node < 0 || --l->budget < 0 || depth >= FLOW_MOST)
        return STRIDE_NONE;
    const enum ae_node_kind kind = ae_kind(s, node);
    if (kind == N_IDENTIFIER)
        return stride_of_name(l, node, loop, depth);
    if (kind == N_BINARY) {
        const enum stride a = stride_of(l, ae_child(s, node, F_LEFT), loop, depth + 1);
        const enum stride b = stride_of(l, ae_child(s, node, F_RIGHT), loop, depth + 1);
        const int sign = ae_child(s, node, F_OPERATOR);
        if (a == STRIDE_READ || b == STRIDE_READ)
            return STRIDE_READ;
        if (ae_text_is(s, sign, "+") || ae_text_is(s, sign, "-"))
            return a == STRIDE_NONE ? b : b == STRIDE_NONE ? a : STRIDE_OTHER;
        if (ae_text_is(s, sign, "%")) /* goes on by one, and seldom turns back */
            return a;
        return a == STRIDE_NONE && b == STRIDE_NONE ? STRIDE_NONE : STRIDE_OTHER;
    }
    enum stride most = STRIDE_NONE;
    for (int child = s->nodes[node].first; child >= 0; child = s->nodes[child].next)
        if (s->nodes[child].named) {
            const enum stride stride = stride_of(l, child, loop, depth + 1);
            most = stride > most ? stride : most;
        }
    if (kind == N_SUBSCRIPT || (kind == N_POINTER && ae_text_is(s, ae_child(s, node, F_OPERATOR), "*")))
        return most == STRIDE_NONE ? STRIDE_NONE : STRIDE_READ;
    return kind == N_CALL && most == STRIDE_ONE ? STRIDE_OTHER : most;
}

static enum stride stride_of_access(struct look *l, const struct ae_access *a)
{
    const struct ae_syntax *s = &l->code->syntax;
    enum stride stride = stride_of(l, a->last_index, a->loop, 0);
    /* a[i][j]: all but the last index move by whole rows. A base that moves (p++) moves by one. */
    int base = a->node;
    if (ae_kind(s, base) != N_SUBSCRIPT)
        return stride;
    while (ae_kind(s, base = ae_strip(s, ae_child(s, base, F_ARGUMENT))) == N_SUBSCRIPT) {
        const enum stride row = stride_of(l, ae_nth(s, ae_child(s, base, F_INDICES), 0), a->loop, 0);
        if (row != STRIDE_NONE)
            stride = row == STRIDE_READ || stride == STRIDE_READ ? STRIDE_READ : STRIDE_OTHER;
    }
    if (ae_kind(s, base) == N_IDENTIFIER && stride == STRIDE_NONE)
        stride = stride_of_name(l, base, a->loop, 0);
    return stride;
}

/* Loops around the calls of each function, as many rounds as calls are followed. */
static int count_around(struct look *l, struct ae_error *err)
{
    const struct ae_program *code = l->code;
    l->around = calloc((size_t)code->function_count + 1, sizeof *l->around);
    if (!l->around)
        return ae_error_set(err, AE_E_NOMEM, "no memory to read the reference");
    for (int round = 0, changed = 1; changed && round < CALLS_MOST; round++) {
        changed = 0;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (call->target < 0 || call->function < 0 || call->target == call->function)
                continue;
            int depth = l->around[call->function] + (call->loop >= 0 ? ae_loop_depth(code, call->loop) : 0);
            depth = depth < DEPTH_MOST ? depth : DEPTH_MOST;
            if (depth > l->around[call->target]) {
                l->around[call->target] = depth;
                changed = 1;
            }
        }
    }
    return AE_OK;
}

static int depth_of(const struct look *l, int loop)
{
    const int function = l->code->loops[loop].function;
    const int depth = ae_loop_depth(l->code, loop) + (function >= 0 ? l->around[function] : 0);
    return depth < DEPTH_MOST ? depth : DEPTH_MOST;
}

static double weight_of(const struct look *l, int loop)
{
    return pow(4, depth_of(l, loop));
}

/* --- what a loop carries --- */

/* Bits that loops get. */
enum { REDUCES = 1, RECURS = 2, BRANCHES = 4, CALLS_FUNCTIONS = 8 };

/* Does the right side keep a running sum, product, least or largest of the variable? */
static bool accumulates(const struct ae_program *code, const struct ae_assign *a, int name)
{
    static const char *const keeps[] = {"fmin", "fmax", "fminf", "fmaxf", "min", "max", "MIN", "MAX", "fma", "fmaf", NULL};
    const struct ae_syntax *s = &code->syntax;
    const int right = ae_strip(s, a->right);
    if (ae_kind(s, right) == N_CALL)
        return ae_name_among(code, ae_last_name(s, ae_child(s, right, F_FUNCTION)), keeps);
    if (ae_kind(s, right) == N_CONDITIONAL)
        return true;
    if (ae_kind(s, right) != N_BINARY)
        return false;
    const int sign = ae_child(s, right, F_OPERATOR), left = ae_strip(s, ae_child(s, right, F_LEFT)),
              other = ae_strip(s, ae_child(s, right, F_RIGHT));
    const bool sum = ae_text_is(s, sign, "+") || ae_text_is(s, sign, "*") || ae_text_is(s, sign, "|") ||
                     ae_text_is(s, sign, "&") || ae_text_is(s, sign, "^");
    return sum && ((ae_kind(s, left) == N_IDENTIFIER && s->nodes[left].name == name) ||
                   (ae_kind(s, other) == N_IDENTIFIER && s->nodes[other].name == name));
}

/* `if (x < best) best = x;` with nothing else that needs the one before. */
static bool keeps_best(const struct ae_program *code, const struct ae_assign *a, int name)
{
    const struct ae_syntax *s = &code->syntax;
    int at = s->nodes[a->node].parent;
    while (at >= 0 && ae_kind(s, at) != N_IF && (ae_kind(s, at) == N_EXPRESSION_STATEMENT || ae_kind(s, at) == N_COMPOUND))
        at = s->nodes[at].parent;
    const int condition = ae_kind(s, at) == N_IF ? ae_child(s, at, F_CONDITION) : -1;
    return condition >= 0 && ae_mentions(s, condition, name) && !ae_mentions(s, a->right, name);
}

static void look_at_assigns(struct look *l, uint8_t *carries)
{
    const struct ae_program *code = l->code;
    const struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < code->assign_count; i++) {
        const struct ae_assign *a = &code->assigns[i];
        if (a->loop < 0 || a->kind == ASSIGN_INIT || a->kind == ASSIGN_STEP || a->right < 0)
            continue;
        const struct ae_loop *loop = &code->loops[a->loop];
        if (a->variable < 0) { /* c[i] += x, while another index moves */
            const struct ae_access *access = ae_access_at(code, ae_strip(s, a->target));
            const bool adds = a->kind == ASSIGN_ADD || a->kind == ASSIGN_SUB || a->kind == ASSIGN_MUL;
            if (adds && access && access->loop == a->loop && stride_of_access(l, access) == STRIDE_NONE)
                carries[a->loop] |= REDUCES;
            continue;
        }
        const struct ae_variable *v = &code->variables[a->variable];
        if (a->variable == loop->variable || (v->loop >= 0 && ae_loop_within(code, v->loop, a->loop)))
            continue; /* made anew in each turn */
        switch (a->kind) {
        case ASSIGN_ADD:
        case ASSIGN_SUB:
        case ASSIGN_MUL:
        case ASSIGN_OR:
        case ASSIGN_AND:
        case ASSIGN_XOR:
            carries[a->loop] |= REDUCES;
            break;
        case ASSIGN_SET:
            if (ae_mentions(s, a->right, v->name))
                carries[a->loop] |= accumulates(code, a, v->name) ? REDUCES : RECURS;
            else if (keeps_best(code, a, v->name))
                carries[a->loop] |= REDUCES;
            break;
        default:
            break;
        }
    }
}

/* A turn that writes a[i] and one that reads a[i - 1]. */
static void look_at_recurrences(struct look *l, uint8_t *carries)
{
    const struct ae_program *code = l->code;
    for (int w = 0; w < code->access_count; w++) {
        const struct ae_access *write = &code->accesses[w];
        if (!write->write || write->loop < 0 || write->name < 0 || carries[write->loop] & RECURS ||
            stride_of_access(l, write) == STRIDE_NONE)
            continue;
        const int from = w > PAIRS_MOST ? w - PAIRS_MOST : 0;
        for (int r = from; r < code->access_count && r < w + PAIRS_MOST; r++) {
            const struct ae_access *read = &code->accesses[r];
            if (r != w && read->read && read->loop == write->loop && read->name == write->name &&
                !ae_same_text(&code->syntax, read->node, write->node) && stride_of_access(l, read) != STRIDE_NONE) {
                carries[write->loop] |= RECURS;
                break;
            }
        }
    }
}

static void look_at_nodes(const struct look *l, uint8_t *carries)
{
    static const char *const functions[] = {"exp",  "expf",  "log",  "logf", "sqrt", "sqrtf", "pow",  "powf", "sin",  "sinf",
                                            "cos",  "cosf",  "tanh", "erf",  "erff", "erfc",  "exp2", "log2", "fmod", "cbrt",
                                            "hypot", "log1p", "expm1", "tan", "atan", "atan2", NULL};
    const struct ae_program *code = l->code;
    const struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < s->count; i++) {
        const int loop = code->loop_of[i];
        if (loop < 0)
            continue;
        const enum ae_node_kind kind = ae_kind(s, i);
        if (kind == N_IF || kind == N_CONDITIONAL || kind == N_SWITCH)
            carries[loop] |= BRANCHES;
        else if (kind == N_CALL && ae_name_among(code, ae_last_name(s, ae_child(s, i, F_FUNCTION)), functions))
            carries[loop] |= CALLS_FUNCTIONS;
    }
}

static double share(double part, double all)
{
    return all > 0 ? part / all : NAN;
}

int ae_features_read(struct ae_finder *finder, const char *source, size_t size, double ret[AE_FEATURE_COUNT],
                     struct ae_error *err)
{
    struct ae_program code = {0};
    for (int f = 0; f < AE_FEATURE_COUNT; f++)
        ret[f] = NAN;
    int rc = ae_finder_code(finder, source, size, &code, err);
    if (rc != AE_OK)
        return rc;
    struct look l = {.code = &code, .budget = 4000000};
    uint8_t *carries = calloc((size_t)code.loop_count + 1, sizeof *carries);
    rc = carries ? count_around(&l, err) : ae_error_set(err, AE_E_NOMEM, "no memory to read the reference");
    if (rc == AE_OK) {
        double moving = 0, one = 0, indirect = 0, all = 0, unbounded = 0, parts[4] = {0};
        int deepest = 0;
        for (int i = 0; i < code.access_count; i++) {
            const struct ae_access *a = &code.accesses[i];
            if (a->loop < 0)
                continue;
            const enum stride stride = stride_of_access(&l, a);
            const double weight = stride == STRIDE_NONE ? 0 : weight_of(&l, a->loop);
            moving += weight;
            one += stride == STRIDE_ONE ? weight : 0;
            indirect += stride == STRIDE_READ ? weight : 0;
        }
        look_at_assigns(&l, carries);
        look_at_recurrences(&l, carries);
        look_at_nodes(&l, carries);
        for (int i = 0; i < code.loop_count; i++) {
            const double weight = weight_of(&l, i);
            deepest = depth_of(&l, i) > deepest ? depth_of(&l, i) : deepest;
            all += weight;
            unbounded += code.loops[i].kind == LOOP_WHILE || code.loops[i].kind == LOOP_DO ? weight : 0;
            for (int bit = 0; bit < 4; bit++)
                parts[bit] += carries[i] >> bit & 1 ? weight : 0;
        }
        ret[AE_FEATURE_DEPTH] = deepest;
        ret[AE_FEATURE_STRIDE_ONE] = share(one, moving);
        ret[AE_FEATURE_INDIRECTION] = share(indirect, moving);
        ret[AE_FEATURE_REDUCTION] = share(parts[0], all);
        ret[AE_FEATURE_RECURRENCE] = share(parts[1], all);
        ret[AE_FEATURE_BRANCHES] = share(parts[2], all);
        ret[AE_FEATURE_FUNCTIONS] = share(parts[3], all);
        ret[AE_FEATURE_UNBOUNDED] = share(unbounded, all);
    }
    free(carries);
    free(l.around);
    ae_code_release(&code);
    return rc;
}

void ae_features_work(double bytes, double operations, double steps, double ret[AE_FEATURE_COUNT])
{
    if (bytes > 0 && operations > 0)
        ret[AE_FEATURE_INTENSITY] = log2(operations / bytes);
    if (bytes > 0)
        ret[AE_FEATURE_BYTES] = log2(bytes);
    if (steps > 0)
        ret[AE_FEATURE_STEPS] = log2(steps);
}
