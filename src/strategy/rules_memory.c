/* Rules of class M: what queries cannot say about memory. */
#include "strategy/hunt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define S (&hunt->code->syntax)

static const char *variable_name(const struct ae_program *code, int variable)
{
    return variable < 0 ? "an array" : ae_name(code, code->variables[variable].name);
}

/* The array that an access is to, by the name that tells it from others: pointers are followed to what they were made
 * from, but for those carved from one block of dynamic shared memory, which are arrays of their own. */
int ae_array_of(const struct ae_program *code, const struct ae_access *access)
{
    int v = access->variable >= 0 ? access->variable : access->root;
    for (int guard = 0; guard < 8 && v >= 0; guard++) {
        const struct ae_variable *x = &code->variables[v];
        if (x->array || x->alias < 0 || (code->variables[x->alias].shared && code->variables[x->alias].external))
            return v;
        v = x->alias;
    }
    return v;
}

/* Strides by the whole grid: the work of one loop round is another item. */
static bool grid_stride(struct ae_program *code, int loop)
{
    return code->loops[loop].step >= 0 && (ae_value_of(code, code->loops[loop].step).deps & D_GDIM) &&
           !code->loops[loop].geometric;
}

/* Loops around an access that repeat work on an item. */
static int repeats(struct ae_program *code, int loop)
{
    int depth = 0;
    for (; loop >= 0; loop = code->loops[loop].parent)
        if (!grid_stride(code, loop) &&
            !(code->loops[loop].constant && code->loops[loop].trips <= 8 /* or of unknown length, as tiles have */))
            depth++;
    return depth > 4 ? 4 : depth;
}

/* M01: accesses weigh eight times as much in each loop that repeats them. */
static void coalesced(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    double good = 0, bad = 0;
    int example = -1;
    double most = 0;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M01, match) {
        const struct ae_access *a = ae_access_at(code, match->at);
        if (!a || a->space != SPACE_GLOBAL || a->address.coef == COEF_NONE)
            continue;
        double weight = 1;
        int around = a->loop; /* a bound that does not change is read once */
        if (around >= 0 && ae_is_below(S, a->node, code->loops[around].condition) && !(a->address.deps & D_LOOP) &&
            (code->loops[around].variable < 0 ||
             !ae_mentions(S, a->last_index, code->variables[code->loops[around].variable].name)))
            around = code->loops[around].parent;
        for (int depth = repeats(code, around); depth > 0; depth--)
            weight *= 8;
        if (!(a->address.deps & (D_TX | D_LANE)) && a->address.coef != COEF_GATHER)
            continue;
        if (a->address.coef == COEF_ONE) {
            good += weight;
            if (weight > most) {
                most = weight;
                example = a->node;
            }
        } else {
            bad += weight;
        }
    }
    if (good == 0)
        return;
    const double share = good / (good + bad);
    if (share < 0.5)
        return;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M01, match) {
        const struct ae_access *a = ae_access_at(code, match->at);
        if (a && a->space == SPACE_GLOBAL && a->address.coef == COEF_ONE)
            ae_say(hunt, AE_STRATEGY_M01, a->node, 0.55 + 0.4 * share,
                   "neighbouring threads access neighbouring elements of %s",
                   variable_name(code, example >= 0 ? ae_access_at(code, example)->variable : -1));
    }
}

/* --- copies that change the layout --- */

/* The element that an expression reads, if it is nothing but an element: through casts and loads by name. */
static int element_read(const struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    node = ae_strip(s, node);
    if (ae_kind(s, node) == N_CALL) {
        const int name = ae_last_name(s, ae_child(s, node, F_FUNCTION));
        if (strncmp(ae_name(code, name), "__ld", 4) == 0)
            node = ae_strip(s, ae_nth(s, ae_child(s, node, F_ARGUMENTS), 0));
        if (ae_kind(s, node) == N_POINTER)
            node = ae_strip(s, ae_child(s, node, F_ARGUMENT));
    }
    if (ae_kind(s, node) == N_FIELD && ae_kind(s, ae_strip(s, ae_child(s, node, F_ARGUMENT))) == N_SUBSCRIPT)
        node = ae_strip(s, ae_child(s, node, F_ARGUMENT));
    return ae_kind(s, node) == N_SUBSCRIPT ? node : -1;
}

static bool same_place(const struct ae_syntax *s, int a, int b)
{
    return ae_same_text(s, ae_child(s, a, F_INDICES), ae_child(s, b, F_INDICES)) &&
           ae_kind(s, ae_child(s, a, F_ARGUMENT)) == ae_kind(s, ae_child(s, b, F_ARGUMENT));
}

/* Is one index more than the other moved by a constant: another order, not another beginning? */
static bool reordered(const struct ae_syntax *s, int to, int from)
{
    const int indices[] = {ae_child(s, to, F_INDICES), ae_child(s, from, F_INDICES)};
    if (ae_kind(s, ae_child(s, to, F_ARGUMENT)) == N_SUBSCRIPT ||
        ae_kind(s, ae_child(s, from, F_ARGUMENT)) == N_SUBSCRIPT)
        return true;
    for (int k = 0; k < 2; k++)
        for (int i = indices[k]; i >= 0 && i < s->nodes[indices[k]].after; i++) {
            if (s->nodes[i].kind == N_SUBSCRIPT)
                return true;
            if (s->nodes[i].kind == N_BINARY &&
                (ae_text_is(s, ae_child(s, i, F_OPERATOR), "*") || ae_text_is(s, ae_child(s, i, F_OPERATOR), "/") ||
                 ae_text_is(s, ae_child(s, i, F_OPERATOR), "%")))
                return true;
        }
    return false;
}

/* Is the place taken from a counter that the element's key tells: to = place[key]++, as a sort by counting does? */
static bool by_counter(const struct ae_program *code, int to)
{
    const struct ae_syntax *s = &code->syntax;
    const int index = ae_strip(s, ae_nth(s, ae_child(s, to, F_INDICES), 0));
    const int v = ae_kind(s, index) == N_IDENTIFIER ? ae_variable_at(code, index) : -1;
    const int initial = v < 0 ? -1 : ae_strip(s, code->variables[v].initial);
    return initial >= 0 && code->variables[v].loop >= 0 && ae_kind(s, initial) == N_UPDATE &&
           ae_kind(s, ae_strip(s, ae_child(s, initial, F_ARGUMENT))) == N_SUBSCRIPT;
}

/* Does a kernel write what this launch hands to its parameter? Then it is no input. */
static bool made_on_device(const struct ae_program *code, int parameter)
{
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!call->launches || call->target != code->variables[parameter].function)
            continue;
        const int handed = ae_variable_at(code, ae_argument(code, call, code->variables[parameter].position));
        for (int d = 0; handed >= 0 && d < code->call_count; d++) {
            const struct ae_call_site *other = &code->calls[d];
            if (!other->launches || other->target < 0)
                continue;
            for (int v = code->functions[other->target].first_variable;
                 v < code->variable_count && code->variables[v].function == other->target &&
                 code->variables[v].parameter;
                 v++) {
                if (!code->variables[v].pointer || code->variables[v].points_to_const ||
                    ae_variable_at(code, ae_argument(code, other, code->variables[v].position)) != handed)
                    continue;
                for (int i = 0; i < code->access_count; i++)
                    if (code->accesses[i].write && ae_array_of(code, &code->accesses[i]) == v)
                        return true;
            }
        }
    }
    return false;
}

static int launches(const struct ae_program *code, int function)
{
    int count = 0;
    for (int c = 0; c < code->call_count; c++)
        count += code->calls[c].launches && code->calls[c].target == function;
    return count;
}

static int kernel_count(const struct ae_program *code)
{
    int count = 0;
    for (int f = 0; f < code->function_count; f++)
        count += code->functions[f].kernel;
    return count;
}

/* Is every store of the kernel to global memory a copy of an element? */
static bool only_copies(struct ae_program *code, int function, bool *ret_through_shared)
{
    const struct ae_syntax *s = &code->syntax;
    bool any = false;
    *ret_through_shared = false;
    for (int c = 0; c < code->call_count; c++) /* what works on the tile elsewhere */
        if (code->calls[c].function == function && code->calls[c].target >= 0)
            for (int n = 0; ae_argument(code, &code->calls[c], n) >= 0; n++)
                if (ae_value_of(code, ae_argument(code, &code->calls[c], n)).space == SPACE_SHARED)
                    return false;
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->function != function || !a->write)
            continue;
        if (a->space == SPACE_LOCAL)
            continue;
        const int assignment = s->nodes[a->node].parent;
        if (a->atomic || ae_kind(s, assignment) != N_ASSIGNMENT)
            return false;
        const int from = element_read(code, ae_child(s, assignment, F_RIGHT));
        const struct ae_access *read = from < 0 ? NULL : ae_access_at(code, from);
        if (!read)
            return false;
        if (a->space == SPACE_GLOBAL) {
            any = true;
            *ret_through_shared |= read->space == SPACE_SHARED;
        }
    }
    return any;
}

/* M02 */
static void layout(struct ae_hunt *hunt)
{
    static const char *const packs[] = {"make_float4", "make_float2", "make_double2", "make_int2", "make_int4",
                                        "make_uint2",  "make_uint4",  "make_float3",  NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M02, match) {
        const int function = code->function_of[match->at];
        if (function < 0 || !ae_text_is(s, ae_child(s, match->at, F_OPERATOR), "="))
            continue;
        const int to = ae_kind(s, match->a) == N_FIELD ? ae_strip(s, ae_child(s, match->a, F_ARGUMENT)) : match->a;
        const bool field = ae_kind(s, match->a) == N_FIELD;
        const struct ae_access *write = ae_access_at(code, to);
        if (!write)
            continue;
        int from = element_read(code, match->b);
        bool pack = field;
        const int right = ae_strip(s, match->b);
        if (from < 0 && (ae_kind(s, right) == N_CALL &&
                         ae_name_among(code, ae_last_name(s, ae_child(s, right, F_FUNCTION)), packs))) {
            const int arguments = ae_child(s, right, F_ARGUMENTS);
            int n = 0, elements = 0;
            for (; ae_nth(s, arguments, n) >= 0; n++)
                elements += element_read(code, ae_nth(s, arguments, n)) >= 0;
            if (elements < 2 || elements + 1 < n)
                continue;
            from = element_read(code, ae_nth(s, arguments, 0));
            pack = true;
        }
        const struct ae_access *read = from < 0 ? NULL : ae_access_at(code, from);
        if (!read)
            continue;
        if (ae_on_device(code, function)) {
            bool through_shared;
            if (write->space != SPACE_GLOBAL || !code->functions[function].kernel || kernel_count(code) < 2 ||
                !only_copies(code, function, &through_shared)) {
                if (!(pack && write->space == SPACE_GLOBAL && read->space == SPACE_GLOBAL && kernel_count(code) >= 2))
                    continue;
                through_shared = false;
            }
            const int source = ae_array_of(code, read);
            if (ae_array_of(code, write) == source || (read->space != SPACE_GLOBAL && read->space != SPACE_SHARED))
                continue;
            if (source >= 0 && code->variables[source].parameter && code->variables[source].function == function &&
                made_on_device(code, source))
                continue;
            if (read->space == SPACE_GLOBAL && !pack && !reordered(s, to, from))
                continue;
            if (read->space == SPACE_SHARED ? !through_shared : !pack && same_place(s, to, from))
                continue;
            if (launches(code, function) == 0 && !pack)
                continue;
            ae_say(hunt, AE_STRATEGY_M02, match->at, 0.8, "kernel %s lays %s out anew as %s",
                   ae_name(code, code->functions[function].name), variable_name(code, read->variable),
                   variable_name(code, write->variable));
        } else {
            const int target = write->variable;
            if (target < 0 || write->loop < 0 || (!pack && (same_place(s, to, from) || (!reordered(s, to, from) && !by_counter(code, to)))) ||
                write->variable == read->variable)
                continue;
            const struct ae_variable *v = &code->variables[target];
            if (read->variable >= 0 && code->variables[read->variable].loop >= 0)
                continue; /* made in this round: no input */
            if (v->parameter && code->functions[function].entry)
                continue; /* an output is put into the order that the interface wants */
            if (v->function == -2)
                continue;
            /* consumed later: handed to a copy to the device or another call */
            bool handed = v->parameter;
            for (int c = 0; c < code->call_count && !handed; c++)
                handed = code->calls[c].node > match->at && code->calls[c].function == function &&
                         ae_mentions(s, code->calls[c].arguments, v->name);
            if (handed)
                ae_say(hunt, AE_STRATEGY_M02, match->at, 0.75,
                       "the host lays %s out anew as %s before the kernels read it",
                       variable_name(code, read->variable), variable_name(code, target));
        }
    }
}

/* --- shared arrays --- */

struct shared_use {
    bool filled, filled_in_loop, combined, atomic, written, read;
    bool read_in_loop;
    int fill, fill_index, read_places, write_places;
    int reader;
};

/* Is it a sum or another result over many elements, rather than one that was loaded? */
static bool accumulated(const struct ae_program *code, int variable)
{
    const struct ae_function *f = &code->functions[code->variables[variable].function];
    for (int a = f->first_assign; a < f->last_assign; a++)
        if (code->assigns[a].variable == variable && !code->variables[variable].array &&
            !code->variables[variable].pointer &&
            ((code->assigns[a].kind != ASSIGN_INIT && code->assigns[a].kind != ASSIGN_SET &&
              code->assigns[a].kind != ASSIGN_STEP) ||
             (code->assigns[a].kind == ASSIGN_SET &&
              ae_mentions(&code->syntax, code->assigns[a].right, code->variables[variable].name))))
            return true;
    return false;
}

/* Does the expression read global memory, itself or by way of a local variable that was loaded? */
static bool reads_global(const struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        if (s->nodes[i].kind == N_SUBSCRIPT || s->nodes[i].kind == N_POINTER || s->nodes[i].kind == N_CALL) {
            const struct ae_access *a = ae_access_at(code, i);
            if (a && a->space == SPACE_GLOBAL)
                return true;
        }
        if (s->nodes[i].kind == N_IDENTIFIER) {
            const int v = ae_variable_at(code, i);
            if (v < 0 || code->variables[v].function < 0 || code->variables[v].parameter || code->variables[v].shared ||
                accumulated(code, v))
                continue;
            for (int a = code->functions[code->variables[v].function].first_assign;
                 a < code->functions[code->variables[v].function].last_assign; a++) {
                const struct ae_assign *assign = &code->assigns[a];
                const bool element = assign->variable < 0 && ae_kind(s, assign->target) == N_SUBSCRIPT &&
                                     ae_variable_at(code, assign->target) == v;
                if ((assign->variable != v && !element) || assign->right < 0 || ae_is_below(s, i, assign->right))
                    continue;
                for (int k = assign->right; k < s->nodes[assign->right].after; k++) {
                    const struct ae_access *access =
                        s->nodes[k].kind == N_SUBSCRIPT || s->nodes[k].kind == N_POINTER || s->nodes[k].kind == N_CALL
                            ? ae_access_at(code, k)
                            : NULL;
                    if (access && access->space == SPACE_GLOBAL)
                        return true;
                }
            }
        }
    }
    return false;
}

/* Is the assignment `element = combination of the same array`? */
static bool combines(const struct ae_program *code, int assignment, int array)
{
    const struct ae_syntax *s = &code->syntax;
    if (ae_kind(s, assignment) != N_ASSIGNMENT)
        return false;
    const struct ae_access *to = ae_access_at(code, ae_strip(s, ae_child(s, assignment, F_LEFT)));
    if (!to || ae_array_of(code, to) != array)
        return false;
    const int right = ae_child(s, assignment, F_RIGHT);
    for (int i = right; right >= 0 && i < s->nodes[right].after; i++) {
        const struct ae_access *a = s->nodes[i].kind == N_SUBSCRIPT ? ae_access_at(code, i) : NULL;
        if (a && ae_array_of(code, a) == array)
            return true;
    }
    return false;
}

#define SEARCH_MOST 20000

/* Is the value made from what shared memory holds, by way of local variables and arrays too? `left` bounds the search. */
static bool comes_from_shared(const struct ae_program *code, int node, int depth, int *left)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after && (*left)-- > 0; i++) {
        const struct ae_access *a =
            s->nodes[i].kind == N_SUBSCRIPT || s->nodes[i].kind == N_POINTER ? ae_access_at(code, i) : NULL;
        if (a && a->space == SPACE_SHARED)
            return true;
        if (a && a->space != SPACE_LOCAL) { /* where it is read tells a place, not the value */
            i = s->nodes[i].after - 1;
            continue;
        }
        if (s->nodes[i].kind != N_IDENTIFIER || depth > 2)
            continue;
        const int v = ae_variable_at(code, i);
        if (v < 0 || code->variables[v].function < 0 || code->variables[v].parameter || code->variables[v].shared)
            continue;
        const struct ae_function *f = &code->functions[code->variables[v].function];
        for (int k = f->first_assign; k < f->last_assign && (*left)-- > 0; k++) {
            const struct ae_assign *x = &code->assigns[k];
            const bool element = code->variables[v].array && x->variable < 0 && ae_kind(s, x->target) == N_SUBSCRIPT &&
                                 ae_variable_at(code, x->target) == v;
            if ((element || (x->variable == v && !code->variables[v].array)) && x->right >= 0 &&
                !ae_is_below(s, i, x->right) && comes_from_shared(code, x->right, depth + 1, left))
                return true;
        }
    }
    return false;
}

static bool made_from_shared(const struct ae_program *code, int node)
{
    int left = SEARCH_MOST;
    return comes_from_shared(code, node, 0, &left);
}

static void study(const struct ae_program *code, int array, struct shared_use *u)
{
    const struct ae_syntax *s = &code->syntax;
    *u = (struct shared_use){.fill = -1, .fill_index = -1, .reader = -1};
    int first_read = -1;
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->space != SPACE_SHARED || ae_array_of(code, a) != array)
            continue;
        u->atomic |= a->atomic;
        if (a->write) {
            const int assignment = s->nodes[a->node].parent;
            u->written = true;
            u->write_places++;
            if (a->read || combines(code, assignment, array)) {
                u->combined |= true;
            } else if ((a->address.deps & D_ATOMIC) || ae_text_has(s, a->last_index, "__popc")) {
                continue; /* appended to a list */
            } else if (ae_kind(s, assignment) == N_ASSIGNMENT && reads_global(code, ae_child(s, assignment, F_RIGHT))) {
                u->filled = true;
                /* what is made from other shared elements as well is computed, not staged */
                u->filled_in_loop |= a->loop >= 0 && !made_from_shared(code, ae_child(s, assignment, F_RIGHT));
                u->fill = a->node;
                u->fill_index = ae_child(s, a->node, F_INDICES);
            }
        }
    }
    /* memcpy_async(tile + i, global + j, ...), cp.async by address */
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        const char *name = ae_name(code, call->name);
        if (ae_on_device(code, call->function) &&
            (strstr(name, "memcpy_async") || strstr(name, "cp_async") || strstr(name, "__cvta_generic_to_shared")) &&
            array >= 0 && ae_mentions(s, call->arguments, code->variables[array].name)) {
            u->filled = u->written = true;
            u->filled_in_loop |= call->loop >= 0;
            u->fill = call->node;
        }
    }
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->space != SPACE_SHARED || ae_array_of(code, a) != array || !a->read || a->atomic)
            continue;
        if (a->write || combines(code, s->nodes[a->node].parent, array))
            continue;
        const int indices = ae_child(s, a->node, F_INDICES);
        const bool own = u->fill_index >= 0 && ae_same_text(s, indices, u->fill_index);
        const bool number = ae_kind(s, ae_strip(s, a->last_index)) == N_NUMBER && a->indices == 1;
        u->read = true;
        if (number || own)
            continue;
        if (first_read < 0 || !ae_same_text(s, indices, first_read))
            u->read_places++;
        first_read = indices;
        u->reader = a->node;
        if (a->loop >= 0)
            u->read_in_loop = true;
    }
}

/* Shared arrays, and pointers carved from dynamic shared memory. */
static bool is_shared_array(const struct ae_program *code, int v)
{
    const struct ae_variable *x = &code->variables[v];
    if (x->shared)
        return x->array || x->pointer;
    if (x->function == -2) /* a structure of pointers into shared memory */
        return x->pointer && x->value.space == SPACE_SHARED;
    return x->pointer && !x->parameter && x->function >= 0 && x->value.space == SPACE_SHARED && x->value.root >= 0 &&
           code->variables[x->value.root].external;
}

static bool has_barrier(const struct ae_program *code, int function)
{
    static const char *const barriers[] = {"__syncthreads",
                                           "sync",
                                           "__syncwarp",
                                           "__syncthreads_or",
                                           "__syncthreads_and",
                                           "__syncthreads_count",
                                           "wait",
                                           "consumer_wait",
                                           "arrive_and_wait",
                                           "__pipeline_wait_prior",
                                           NULL};
    for (int c = 0; c < code->call_count; c++)
        if (code->calls[c].function == function && ae_name_among(code, code->calls[c].name, barriers))
            return true;
    return false;
}

/* Does a pointer that a kernel was handed point to the shared copy of what it pointed to: here[k] = table[k]; table = here;
 * with reads through it in a loop behind that? Returns the place where the copy is filled; -1. */
static int takes_place(const struct ae_program *code, int copy)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *fill = &code->accesses[i];
        const int assignment = s->nodes[fill->node].parent;
        if (!fill->write || fill->read || fill->variable != copy || fill->loop < 0 ||
            ae_kind(s, assignment) != N_ASSIGNMENT)
            continue;
        const int element = element_read(code, ae_child(s, assignment, F_RIGHT));
        const struct ae_access *from = element < 0 ? NULL : ae_access_at(code, element);
        if (!from || from->variable < 0 || !code->variables[from->variable].parameter ||
            !code->variables[from->variable].pointer)
            continue;
        for (int a = 0; a < code->assign_count; a++) {
            const struct ae_assign *x = &code->assigns[a];
            if (x->kind != ASSIGN_SET || x->variable != from->variable || x->node < fill->node ||
                ae_kind(s, ae_strip(s, x->right)) != N_IDENTIFIER || ae_variable_at(code, ae_strip(s, x->right)) != copy)
                continue;
            for (int k = 0; k < code->access_count; k++) {
                const struct ae_access *read = &code->accesses[k];
                if (read->read && !read->write && read->node > x->node && read->loop >= 0 &&
                    read->function == fill->function && ae_array_of(code, read) == from->variable)
                    return fill->node;
            }
        }
    }
    return -1;
}

/* M03, M08, M09: what shared arrays are for. */
static void shared_arrays(struct ae_hunt *hunt)
{
    static const char *const pads[] = {"pad", "padding", "padded", "skew", "pitch", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int v = 0; v < code->variable_count && !ae_expired(hunt); v++) {
        const struct ae_variable *x = &code->variables[v];
        if (!is_shared_array(code, v) || x->function == -1)
            continue;
        struct shared_use use;
        study(code, v, &use);
        const int where = x->function >= 0 ? x->function : use.fill >= 0 ? code->function_of[use.fill] : -1;
        if (use.filled && !use.combined && !use.atomic && has_barrier(code, where) &&
            (use.read_in_loop || use.read_places >= 2))
            ae_say(hunt, AE_STRATEGY_M03, use.fill, 0.9,
                   "a tile of global data is staged in %s and read again by the block", ae_name(code, x->name));
        else if (use.filled && !use.combined && !use.atomic && !use.read && x->reference == false)
            ae_doubt(hunt, AE_STRATEGY_M03, use.fill,
                     "%s is filled from global memory; how it is read cannot be followed", ae_name(code, x->name));
        const int stands_in = use.filled || !use.written || !has_barrier(code, where) ? -1 : takes_place(code, v);
        if (stands_in >= 0)
            ae_say(hunt, AE_STRATEGY_M03, stands_in, 0.85,
                   "a table is staged in %s, which takes its place for all that the block reads", ae_name(code, x->name));
        /* M08: one more than a row needs, and only there */
        if (x->shared && x->dim_count >= 2) {
            const int inner = ae_strip(s, x->dims[x->dim_count - 1]), outer = ae_strip(s, x->dims[x->dim_count - 2]);
            const struct ae_value width = ae_value_of(code, inner);
            bool padded = false;
            if (ae_kind(s, inner) == N_BINARY && ae_text_is(s, ae_child(s, inner, F_OPERATOR), "+")) {
                const int right = ae_strip(s, ae_child(s, inner, F_RIGHT));
                const bool wide = ae_text_is(s, right, "4") || ae_text_is(s, right, "8"); /* keeps 16-byte alignment */
                padded = (ae_text_is(s, right, "1") && (width.constness != CONST_KNOWN || width.number % 8 == 1)) ||
                         (wide && width.constness == CONST_KNOWN &&
                          (width.number % 32 == 4 || width.number % 32 == 8) && ae_kind(s, outer) != N_BINARY) ||
                         (ae_kind(s, right) == N_IDENTIFIER && ae_name_has_word(code, s->nodes[right].name, pads));
                if (ae_kind(s, outer) == N_BINARY && ae_text_is(s, ae_child(s, outer, F_OPERATOR), "+") &&
                    ae_same_text(s, ae_child(s, outer, F_RIGHT), right))
                    padded = false; /* room for a halo on both sides */
            } else if (width.constness == CONST_KNOWN) {
                const int64_t w = width.number;
                const struct ae_value height = ae_value_of(code, outer);
                padded = (w == 17 || w == 33 || w == 65 || w == 129) &&
                         !(height.constness == CONST_KNOWN && height.number == w);
            } else if (ae_kind(s, inner) == N_IDENTIFIER && ae_name_has_word(code, s->nodes[inner].name, pads)) {
                padded = true;
            }
            if (padded)
                ae_say(hunt, AE_STRATEGY_M08, x->declaration, 0.92, "the rows of %s are padded",
                       ae_name(code, x->name));
        }
        /* M09: buffers in turn, filled from global memory in a loop */
        if (x->shared && x->dim_count >= 2 && use.filled && use.filled_in_loop) {
            const struct ae_value buffers = ae_value_of(code, x->dims[0]);
            if (buffers.constness != CONST_NO &&
                (buffers.constness == CONST_UNKNOWN || (buffers.number >= 2 && buffers.number <= 4))) {
                for (int i = 0; i < code->access_count; i++) {
                    const struct ae_access *a = &code->accesses[i];
                    if (a->space != SPACE_SHARED || ae_array_of(code, a) != v || a->indices < x->dim_count)
                        continue;
                    int first = a->node;
                    while (ae_kind(s, ae_child(s, first, F_ARGUMENT)) == N_SUBSCRIPT)
                        first = ae_child(s, first, F_ARGUMENT);
                    const int index = ae_strip(s, ae_nth(s, ae_child(s, first, F_INDICES), 0));
                    int expression = index;
                    if (ae_kind(s, index) == N_IDENTIFIER) { /* int next = 1 - now; */
                        for (int k = 0; k < code->assign_count; k++)
                            if (code->assigns[k].variable >= 0 &&
                                code->assigns[k].variable == ae_variable_at(code, index) &&
                                code->assigns[k].right >= 0 &&
                                (ae_kind(s, ae_strip(s, code->assigns[k].right)) == N_BINARY ||
                                 code->assigns[k].kind == ASSIGN_XOR))
                                expression = ae_strip(s, code->assigns[k].node);
                    }
                    if (ae_text_has(s, expression, "^") || ae_text_has(s, expression, "% 2") ||
                        ae_text_has(s, expression, "%2") || ae_text_has(s, expression, "& 1") ||
                        ae_text_has(s, expression, "&1") || ae_text_has(s, expression, "1 - ") ||
                        ae_text_has(s, expression, "%")) {
                        ae_say(hunt, AE_STRATEGY_M09, x->declaration, 0.8,
                               "%s has buffers that are filled and read in turn", ae_name(code, x->name));
                        break;
                    }
                }
            }
        }
    }
    /* padding of a row in an array of one dimension: tile[y * (N + 1) + x] */
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->space != SPACE_SHARED || a->last_index < 0)
            continue;
        for (int n = a->last_index; n < s->nodes[a->last_index].after; n++) {
            if (s->nodes[n].kind == N_BINARY && ae_text_is(s, ae_child(s, n, F_OPERATOR), "*")) {
                const int factors[] = {ae_strip(s, ae_child(s, n, F_RIGHT)), ae_strip(s, ae_child(s, n, F_LEFT))};
                for (int f = 0; f < 2; f++) {
                    const int factor = factors[f];
                    const bool plus_one = ae_kind(s, factor) == N_BINARY &&
                                          ae_text_is(s, ae_child(s, factor, F_OPERATOR), "+") &&
                                          ae_text_is(s, ae_child(s, factor, F_RIGHT), "1") &&
                                          ae_value_of(code, ae_child(s, factor, F_LEFT)).constness != CONST_NO &&
                                          (ae_value_of(code, factor).constness != CONST_KNOWN ||
                                           ae_value_of(code, factor).number % 8 == 1);
                    const bool named =
                        ae_kind(s, factor) == N_IDENTIFIER && ae_name_has_word(code, s->nodes[factor].name, pads);
                    if (plus_one || named)
                        ae_say(hunt, AE_STRATEGY_M08, a->node, 0.82, "the rows of %s are padded",
                               variable_name(code, a->variable));
                }
            } else if (s->nodes[n].kind == N_CALL || s->nodes[n].kind == N_IDENTIFIER) {
                static const char *const swizzles[] = {"swizzle", "swizzled", "swz", NULL};
                const int name =
                    s->nodes[n].kind == N_CALL ? ae_last_name(s, ae_child(s, n, F_FUNCTION)) : s->nodes[n].name;
                if (ae_name_has_word(code, name, swizzles))
                    ae_say(hunt, AE_STRATEGY_M08, a->node, 0.88, "indices of %s are swizzled",
                           variable_name(code, a->variable));
            }
        }
    }
    AE_EACH_MATCH (hunt, AE_STRATEGY_M08, match) {
        if (!ae_role(hunt, match, "xor"))
            continue;
        int subscript = ae_ancestor(s, match->at, N_SUBSCRIPT);
        while (subscript >= 0 && ae_kind(s, s->nodes[subscript].parent) == N_SUBSCRIPT &&
               s->nodes[subscript].field == F_ARGUMENT)
            subscript = s->nodes[subscript].parent;
        const struct ae_access *a = ae_access_at(code, subscript);
        const struct ae_value right = ae_value_of(code, ae_child(s, match->at, F_RIGHT)),
                              left = ae_value_of(code, ae_child(s, match->at, F_LEFT));
        if (a && a->space == SPACE_SHARED && right.constness == CONST_NO && left.constness == CONST_NO &&
            ((left.deps | right.deps) & (D_TX | D_TYZ | D_LANE | D_WARP)))
            ae_say(hunt, AE_STRATEGY_M08, match->at, 0.9, "indices of %s are swizzled by XOR",
                   variable_name(code, a->variable));
    }
}

/* --- registers --- */

static bool local_array(const struct ae_program *code, int v)
{
    const struct ae_variable *x = &code->variables[v];
    const bool handed = x->parameter && x->reference && x->pointer; /* float (&above)[COLUMNS] */
    if ((!x->array && !handed) || (x->parameter && !handed) || x->shared || x->constant || x->function < 0 ||
        !ae_on_device(code, x->function) || x->dim_count == 0)
        return false;
    return x->element != E_BOOL;
}

/* Is the value made in this loop from an element of the array, by way of local variables too? `left` bounds the search.
 */
static bool made_from_array(const struct ae_program *code, int node, int array, int loop, int depth, int *left)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after && (*left)-- > 0; i++) {
        if (s->nodes[i].kind == N_SUBSCRIPT) {
            const struct ae_access *a = ae_access_at(code, i);
            if (a && a->variable == array)
                return true;
        }
        if (s->nodes[i].kind != N_IDENTIFIER || depth >= 3)
            continue;
        const int v = ae_variable_at(code, i);
        if (v < 0 || code->variables[v].function < 0 || code->variables[v].parameter || code->variables[v].array)
            continue;
        const struct ae_function *f = &code->functions[code->variables[v].function];
        for (int k = f->first_assign; k<f->last_assign && * left> 0; k++) {
            (*left)--;
            if (code->assigns[k].variable == v && code->assigns[k].right >= 0 &&
                ae_loop_within(code, code->assigns[k].loop, loop) && !ae_is_below(s, i, code->assigns[k].right) &&
                made_from_array(code, code->assigns[k].right, array, loop, depth + 1, left))
                return true;
        }
    }
    return false;
}

/* Does the index depend on nothing but loops of constant length and constants? */
static bool constant_index(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        if (s->nodes[i].kind != N_IDENTIFIER)
            continue;
        const int v = ae_variable_at(code, i);
        if (v < 0)
            continue;
        if (code->variables[v].template_parameter || code->variables[v].value.constness != CONST_NO)
            continue;
        bool counted = false;
        for (int l = code->loop_of[i]; l >= 0; l = code->loops[l].parent)
            counted |= code->loops[l].variable == v && code->loops[l].constant;
        if (!counted)
            return false;
    }
    return true;
}

static bool inside_constant_loop(const struct ae_program *code, int loop, int *ret_outer)
{
    bool found = false;
    while (loop >= 0 && code->loops[loop].constant && code->loops[loop].trips <= 64) {
        found = true;
        loop = code->loops[loop].parent;
    }
    *ret_outer = loop;
    return found;
}

/* Does the expression use something that does not change from member to member of the innermost constant loop: an
 * operand that serves several outputs? */
static bool shares_operand(struct ae_program *code, int node, int loop, int tile, int depth)
{
    const struct ae_syntax *s = &code->syntax;
    const int counter = code->loops[loop].variable;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        if (s->nodes[i].kind == N_SUBSCRIPT) {
            const bool moves = counter >= 0 && ae_mentions(s, i, code->variables[counter].name);
            if (ae_last_name(s, ae_child(s, i, F_ARGUMENT)) == code->variables[tile].name) {
                i = s->nodes[i].after - 1;
                continue;
            }
            if (!moves)
                return true;
            i = s->nodes[i].after - 1;
            continue;
        }
        if (s->nodes[i].kind != N_IDENTIFIER || s->nodes[i].field == F_FUNCTION)
            continue;
        const int v = ae_variable_at(code, i);
        if (v < 0 || v == counter || v == tile || code->variables[v].function < 0 ||
            code->variables[v].value.constness != CONST_NO)
            continue;
        bool made_here = false;
        for (int a = 0; a < code->assign_count; a++) {
            const struct ae_assign *x = &code->assigns[a];
            if (x->variable != v || !ae_loop_within(code, x->loop, loop))
                continue;
            made_here = true;
            if (x->kind == ASSIGN_INIT && depth < 3 && x->right >= 0 && !ae_is_below(s, i, x->right) &&
                shares_operand(code, x->right, loop, tile, depth + 1))
                return true;
        }
        if (!made_here && (code->variables[v].element == E_FLOAT || code->variables[v].element == E_DOUBLE ||
                           code->variables[v].element == E_HALF || code->variables[v].element == E_VECTOR ||
                           (code->variables[v].value.deps & D_LOADED)))
            return true;
    }
    return false;
}

/* Stem of names such as acc0, sum_12: length before the digits; 0 where none end it. */
static size_t stem(const char *name)
{
    size_t n = strlen(name), end = n;
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end < n ? end : 0;
}

/* M04 in two nested loops of constant length: an element of a local array that only one of the two counters tells
 * serves all rounds of the other. */
static void reused_operands(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int i = 0; i < code->access_count && !ae_expired(hunt); i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->space != SPACE_LOCAL || a->variable < 0 || a->loop < 0 || a->indices != 1 ||
            !local_array(code, a->variable) || code->variables[a->variable].points_to_const)
            continue;
        const int inner = a->loop, outer = code->loops[inner].parent;
        if (outer < 0 || !code->loops[inner].constant || !code->loops[outer].constant ||
            code->loops[inner].variable < 0 || code->loops[outer].variable < 0 || code->loops[inner].geometric ||
            code->loops[outer].geometric)
            continue;
        const int64_t trips[] = {code->loops[inner].trips, code->loops[outer].trips};
        if (trips[0] == 0 || trips[0] == 1 || trips[0] > 64 || trips[1] == 0 || trips[1] == 1 || trips[1] > 64)
            continue;
        const int in = code->variables[code->loops[inner].variable].name,
                  out = code->variables[code->loops[outer].variable].name;
        const bool by_in = ae_mentions(s, a->last_index, in), by_out = ae_mentions(s, a->last_index, out);
        if (by_in == by_out || (ae_kind(s, ae_strip(s, a->last_index)) != N_IDENTIFIER))
            continue;
        /* in arithmetic with an element that the other counter tells */
        int statement = a->node;
        while (statement >= 0 && ae_kind(s, statement) != N_EXPRESSION_STATEMENT &&
               ae_kind(s, statement) != N_DECLARATION)
            statement = s->nodes[statement].parent;
        bool other = false;
        for (int k = statement; statement >= 0 && k < s->nodes[statement].after && !other; k++)
            other = s->nodes[k].kind == N_SUBSCRIPT && !ae_is_below(s, a->node, k) && !ae_is_below(s, k, a->node) &&
                    ae_mentions(s, k, by_in ? out : in);
        bool combined = false;
        for (int n = a->node; n >= 0 && n != statement; n = s->nodes[n].parent)
            combined |= ae_kind(s, n) == N_BINARY ||
                        (ae_kind(s, n) == N_ASSIGNMENT && !ae_text_is(s, ae_child(s, n, F_OPERATOR), "="));
        if (other && combined)
            ae_say(hunt, AE_STRATEGY_M04, a->node, 0.78,
                   "%s is kept in registers, and each of its elements serves several results", ae_name(code, a->name));
    }
}

/* M04 */
static void register_tiles(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M04, match) {
        if (!ae_role(hunt, match, "update"))
            continue;
        const struct ae_access *a = ae_access_at(code, match->a);
        int outer;
        if (!a || a->space != SPACE_LOCAL || a->variable < 0 || !local_array(code, a->variable) ||
            !inside_constant_loop(code, a->loop, &outer) || outer < 0)
            continue;
        const struct ae_variable *v = &code->variables[a->variable];
        /* the tile outlives the rounds of the outer loop */
        if (ae_loop_within(code, v->loop, outer) || !constant_index(code, a->last_index))
            continue;
        const bool sums = !ae_text_is(s, ae_child(s, match->at, F_OPERATOR), "=") || ae_mentions(s, match->b, v->name);
        /* or each round advances all members by way of local variables: a strip of a table */
        int left = SEARCH_MOST;
        const int plain = ae_strip(s, match->b);
        if (ae_text_is(s, ae_child(s, match->at, F_OPERATOR), "=") && ae_kind(s, plain) != N_SUBSCRIPT &&
            ae_kind(s, plain) != N_NUMBER && made_from_array(code, match->b, a->variable, outer, 0, &left)) {
            code->functions[a->function].tiled = true;
            ae_say(hunt, AE_STRATEGY_M04, match->at, 0.8,
                   "each thread keeps %s in registers and advances all of it in each round", ae_name(code, v->name));
            continue;
        }
        if (!sums)
            continue;
        /* neighbours of the same array make a recurrence, not a tile */
        bool others = false;
        for (int i = match->b; i < s->nodes[match->b].after; i++) {
            const struct ae_access *r = s->nodes[i].kind == N_SUBSCRIPT ? ae_access_at(code, i) : NULL;
            others |= r && r->variable == a->variable &&
                      !ae_same_text(s, ae_child(s, i, F_INDICES), ae_child(s, match->a, F_INDICES));
        }
        if (others || !shares_operand(code, match->b, a->loop, a->variable, 0))
            continue;
        code->functions[a->function].tiled = true;
        ae_say(hunt, AE_STRATEGY_M04, match->at, 0.88,
               "each thread keeps %s in registers and updates all of it with each operand", ae_name(code, v->name));
    }
    reused_operands(hunt);
    /* sum0 += ..; sum1 += ..; sum2 += ..: three in one loop that share an operand */
    for (int l = 0; l < code->loop_count && !ae_expired(hunt); l++) {
        if (!code->loops[l].device)
            continue;
        int count = 0, example = -1, previous = -1;
        for (int k = 0; k < hunt->end[AE_STRATEGY_M04] - hunt->first[AE_STRATEGY_M04]; k++) {
            const struct ae_match *match = &hunt->matches[hunt->first[AE_STRATEGY_M04] + k];
            if (!ae_role(hunt, match, "scalar") || code->loop_of[match->at] != l)
                continue;
            const char *name = ae_name(code, s->nodes[match->a].name);
            const bool sums = ae_text_is(s, ae_child(s, match->at, F_OPERATOR), "+=") ||
                              ae_mentions(s, match->b, s->nodes[match->a].name);
            if (!sums || stem(name) == 0 || !(ae_value_of(code, match->a).deps & D_FLOAT))
                continue;
            if (previous >= 0 && (stem(ae_name(code, previous)) != stem(name) ||
                                  strncmp(ae_name(code, previous), name, stem(name)) != 0))
                count = 0;
            if (previous != s->nodes[match->a].name)
                count++;
            previous = s->nodes[match->a].name;
            example = match->at;
        }
        if (count >= 4)
            ae_say(hunt, AE_STRATEGY_M04, example, 0.7,
                   "each thread keeps %d results such as %s in registers and updates all in each round", count,
                   ae_name(code, previous));
    }
}

/* M05 */
static void vectors(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M05, match) {
        const char *type = ae_name(code, s->nodes[match->what].name);
        if (ae_role(hunt, match, "cast")) {
            int cast = match->at;
            if (ae_kind(s, cast) != N_CAST) {
                cast = ae_ancestor(s, match->at, N_CALL);
                if (cast < 0 || !ae_text_has(s, ae_child(s, cast, F_FUNCTION), "_cast"))
                    continue;
            }
            const int inner =
                ae_kind(s, cast) == N_CAST ? ae_child(s, cast, F_VALUE) : ae_nth(s, ae_child(s, cast, F_ARGUMENTS), 0);
            const struct ae_value v = ae_value_of(code, inner);
            const bool device = ae_on_device(code, code->function_of[cast]);
            if (v.space == SPACE_SHARED || v.space == SPACE_LOCAL || v.space == SPACE_CONSTANT)
                continue;
            if (device && v.space == SPACE_GLOBAL)
                ae_say(hunt, AE_STRATEGY_M05, cast, 0.94, "global memory is accessed as %s", type);
            else if (device)
                ae_doubt(hunt, AE_STRATEGY_M05, cast, "a pointer is cast to %s; where it points to cannot be followed",
                         type);
            else if (ae_kind(s, s->nodes[s->nodes[cast].parent].parent) == N_CALL &&
                     ae_first_of(s, s->nodes[s->nodes[cast].parent].parent, N_LAUNCH) >= 0)
                ae_say(hunt, AE_STRATEGY_M05, cast, 0.9, "a kernel is handed global memory as %s", type);
        } else {
            /* a pointer to vectors that device code goes through */
            for (int i = 0; i < code->access_count; i++) {
                const struct ae_access *a = &code->accesses[i];
                if (a->variable >= 0 && code->variables[a->variable].declaration == match->at &&
                    a->space == SPACE_GLOBAL && ae_on_device(code, a->function))
                    ae_say(hunt, AE_STRATEGY_M05, a->node, 0.93, "%s is accessed as %s", ae_name(code, a->name), type);
            }
        }
    }
    /* const float4 *v = ...: a local pointer */
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->variable >= 0 && a->space == SPACE_GLOBAL && ae_on_device(code, a->function) &&
            code->variables[a->variable].element == E_VECTOR && code->variables[a->variable].pointer)
            ae_say(hunt, AE_STRATEGY_M05, a->node, 0.93, "%s is accessed as vectors", ae_name(code, a->name));
    }
}

/* M06 */
static void read_only(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M06, match) {
        if (!ae_role(hunt, match, "pointer"))
            continue;
        for (int v = 0; v < code->variable_count; v++) {
            const struct ae_variable *x = &code->variables[v];
            if (x->declaration == match->at && x->parameter && x->restricted && x->points_to_const &&
                ae_on_device(code, x->function))
                ae_say(hunt, AE_STRATEGY_M06, match->at, 0.95, "%s is const __restrict__", ae_name(code, x->name));
        }
    }
}

/* M07 */
static void constant_tables(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M07, match)
        for (int v = 0; v < code->variable_count; v++) {
            const struct ae_variable *x = &code->variables[v];
            if (x->declaration != match->at)
                continue;
            bool filled = x->initial >= 0;
            for (int c = 0; c < code->call_count && !filled; c++) {
                const char *name = ae_name(code, code->calls[c].name);
                filled = (strstr(name, "ToSymbol") || strstr(name, "GetSymbolAddress")) &&
                         ae_mentions(s, code->calls[c].arguments, x->name);
            }
            bool used = false;
            for (int i = 0; i < s->count && !used; i++)
                used = s->nodes[i].name == x->name && i != x->node && ae_on_device(code, code->function_of[i]);
            if (filled && used)
                ae_say(hunt, AE_STRATEGY_M07, match->at, 0.95, "%s lies in constant memory", ae_name(code, x->name));
            else if (used)
                ae_doubt(hunt, AE_STRATEGY_M07, match->at, "%s lies in constant memory; what fills it is not seen",
                         ae_name(code, x->name));
        }
}

/* Is the shared array where a tree combines values? */
static bool reduced(const struct ae_program *code, int array)
{
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->space != SPACE_SHARED || !a->write || ae_array_of(code, a) != array)
            continue;
        for (int l = a->loop; l >= 0; l = code->loops[l].parent)
            if (code->loops[l].geometric)
                return true;
    }
    return false;
}

/* Is the store made by one thread alone, as the edge of a tile is handed to a neighbour? Tests of a bound do not count.
 */
static bool by_one_thread(struct ae_program *code, int node, int loop)
{
    const struct ae_syntax *s = &code->syntax;
    for (int n = ae_ancestor(s, node, N_IF); n > loop; n = ae_ancestor(s, n, N_IF)) {
        const int condition = ae_child(s, n, F_CONDITION);
        for (int i = condition; condition >= 0 && i < s->nodes[condition].after; i++)
            if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "==") &&
                (ae_value_of(code, i).deps & (D_TX | D_TYZ | D_LANE)) && !(ae_value_of(code, i).deps & D_LOADED))
                return true;
    }
    return false;
}

/* Functions of the device that a loop calls, directly or not, and those that are called behind it. */
struct reach {
    bool *in, *after;
    bool barrier; /* in one of `in` */
};

static void reach_free(struct reach *reach)
{
    free(reach->in);
    free(reach->after);
}

static bool reach_of(const struct ae_program *code, int l, struct reach *ret)
{
    static const char *const barriers[] = {
        "__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count", "sync", NULL};
    const struct ae_loop *loop = &code->loops[l];
    *ret = (struct reach){.in = calloc((size_t)code->function_count + 1, 1),
                          .after = calloc((size_t)code->function_count + 1, 1)};
    if (!ret->in || !ret->after) {
        reach_free(ret);
        return false;
    }
    for (int depth = 0; depth < 4; depth++)
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (call->function < 0 || !ae_on_device(code, call->function))
                continue;
            const bool here = call->function == loop->function;
            const bool in = (here && ae_loop_within(code, call->loop, l)) || (!here && ret->in[call->function]);
            const bool after = (here && !in && call->node > loop->node) || (!here && ret->after[call->function]);
            if (in && !here)
                ret->barrier |= ae_name_among(code, call->name, barriers);
            if (call->target < 0 || call->target == loop->function || !ae_on_device(code, call->target))
                continue;
            ret->in[call->target] |= in;
            ret->after[call->target] |= after;
        }
    return true;
}

/* Is the access made in the loop, or by what it calls? */
static bool within(const struct ae_program *code, const struct ae_access *a, int l, const struct reach *reach)
{
    if (a->function == code->loops[l].function)
        return ae_loop_within(code, a->loop, l);
    return a->function >= 0 && reach->in[a->function];
}

/* A variable of the thread that steps are made with: a generator of random numbers, a value that each round multiplies,
 * a structure that a round's new one replaces. Sums and extremes over items are no state. -1: none. */
static int scalar_state(const struct ae_program *code, int l)
{
    const struct ae_syntax *s = &code->syntax;
    const struct ae_loop *loop = &code->loops[l];
    if (!code->functions[loop->function].kernel)
        return -1;
    for (int a = code->functions[loop->function].first_assign; a < code->functions[loop->function].last_assign; a++) {
        const struct ae_assign *x = &code->assigns[a];
        if (x->variable < 0 || x->right < 0 || !ae_loop_within(code, x->loop, l))
            continue;
        const struct ae_variable *v = &code->variables[x->variable];
        if (v->pointer || v->array || v->shared || v->parameter || v->function != loop->function ||
            ae_loop_within(code, v->loop, l) || loop->variable == x->variable || ae_is_below(s, v->node, loop->node))
            continue;
        if (x->kind == ASSIGN_XOR && ae_mentions(s, x->right, v->name) && ae_text_has(s, x->right, "<<"))
            return x->variable; /* xorshift */
        const int right = ae_strip(s, x->right);
        if (x->kind == ASSIGN_SET && ae_kind(s, right) == N_BINARY &&
            ae_text_is(s, ae_child(s, right, F_OPERATOR), "*") && (v->element == E_FLOAT || v->element == E_DOUBLE) &&
            ae_mentions(s, right, v->name) && ae_first_of(s, ae_child(s, right, F_RIGHT), N_ARGUMENTS) >= 0)
            return x->variable; /* price = price * exp(step) */
        /* s = step(s), of this source and for a thread alone */
        const struct ae_call_site *call =
            x->kind == ASSIGN_SET && ae_kind(s, right) == N_CALL ? ae_call_at(code, right) : NULL;
        if (call && call->target >= 0 && ae_argument(code, call, 1) < 0 &&
            ae_variable_at(code, ae_argument(code, call, 0)) == x->variable &&
            ae_kind(s, ae_strip(s, ae_argument(code, call, 0))) == N_IDENTIFIER &&
            !ae_text_has(s, code->functions[call->target].body, "__shfl") &&
            !ae_text_has(s, code->functions[call->target].body, "__sync"))
            return x->variable;
        /* set = next: next is a structure of this round, or a word whose bits it collects */
        const int from = ae_kind(s, right) == N_IDENTIFIER && x->kind == ASSIGN_SET ? ae_variable_at(code, right) : -1;
        bool collected = false;
        for (int k = code->functions[loop->function].first_assign;
             from >= 0 && k < code->functions[loop->function].last_assign && !collected; k++)
            collected = code->assigns[k].variable == from && code->assigns[k].kind == ASSIGN_OR &&
                        ae_loop_within(code, code->assigns[k].loop, l);
        if (collected && ae_loop_within(code, code->variables[from].loop, l))
            return x->variable;
        if (from >= 0 && v->element == E_OTHER && v->type >= 0 &&
            (ae_kind(s, v->type) == N_TYPE_IDENTIFIER || ae_kind(s, v->type) == N_TEMPLATE_TYPE) &&
            ae_same_text(s, v->type, code->variables[from].type) &&
            ae_loop_within(code, code->variables[from].loop, l) && !ae_text_is(s, v->type, "auto"))
            return x->variable;
    }
    for (int c = 0; c < code->call_count; c++) { /* curand_uniform(&g), draw(state) */
        const struct ae_call_site *call = &code->calls[c];
        const int first = ae_strip(s, ae_argument(code, call, 0));
        const int handed = call->target >= 0 && call->function == loop->function &&
                                   ae_loop_within(code, call->loop, l) && ae_kind(s, first) == N_IDENTIFIER
                               ? ae_variable_at(code, first)
                               : -1;
        if (handed >= 0 && !code->variables[handed].pointer && code->variables[handed].function == loop->function &&
            !ae_loop_within(code, code->variables[handed].loop, l)) {
            const struct ae_function *f = &code->functions[call->target];
            for (int k = f->first_assign; k < f->last_assign; k++)
                if (code->assigns[k].kind == ASSIGN_XOR && code->assigns[k].variable >= 0 &&
                    code->variables[code->assigns[k].variable].reference &&
                    code->variables[code->assigns[k].variable].parameter)
                    return handed;
        }
        if (!ae_loop_within(code, call->loop, l) || call->function != loop->function ||
            strncmp(ae_name(code, call->name), "curand", 6) != 0 || ae_named(code, call->name, "curand_init") ||
            ae_kind(s, first) != N_POINTER)
            continue;
        const int g = ae_variable_at(code, first);
        if (g >= 0 && !code->variables[g].pointer && code->variables[g].function == loop->function &&
            !ae_loop_within(code, code->variables[g].loop, l))
            return g;
    }
    return -1;
}

/* Is what is stored there for others: not read in the loop again, under this name or after an exchange of pointers? */
static bool kept_out(const struct ae_program *code, const struct ae_access *store, int l, const struct reach *reach)
{
    const int array = ae_array_of(code, store);
    if (array < 0)
        return false;
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *x = &code->assigns[a];
        if (x->kind == ASSIGN_SET && x->variable >= 0 && code->variables[x->variable].pointer &&
            (x->variable == array || ae_mentions(&code->syntax, x->right, code->variables[array].name)))
            return false;
    }
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->read && a->space == SPACE_GLOBAL && ae_array_of(code, a) == array && within(code, a, l, reach))
            return false;
    }
    return true;
}

/* In a loop of steps: last = now, where now points to shared memory (or, where that is too small, to global memory), is
 * written in this round, and last is read in the next. Each step's results may be stored too, if nobody reads them
 * there. Returns the pointer; -1. */
static int carried_pointer(struct ae_program *code, int l, const struct reach *reach)
{
    const struct ae_syntax *s = &code->syntax;
    int candidates = 2; /* each costs a look at all pairs of accesses */
    for (int a = 0; a < code->assign_count && candidates > 0; a++) {
        const struct ae_assign *x = &code->assigns[a];
        const int right = x->right < 0 ? -1 : ae_strip(s, x->right);
        if (x->kind != ASSIGN_SET || x->variable < 0 || !ae_loop_within(code, x->loop, l) ||
            ae_kind(s, right) != N_IDENTIFIER)
            continue;
        const int now = ae_variable_at(code, right), last = x->variable;
        if (now < 0 || !code->variables[now].pointer || !code->variables[last].pointer ||
            !ae_loop_within(code, code->variables[now].loop, l) || ae_loop_within(code, code->variables[last].loop, l))
            continue;
        const int initial = code->variables[now].initial < 0 ? -1 : ae_strip(s, code->variables[now].initial);
        bool shared = ae_value_of(code, initial).space == SPACE_SHARED;
        if (ae_kind(s, initial) == N_CONDITIONAL)
            shared |= ae_value_of(code, ae_child(s, initial, F_CONSEQUENCE)).space == SPACE_SHARED ||
                      ae_value_of(code, ae_child(s, initial, F_ALTERNATIVE)).space == SPACE_SHARED;
        if (!shared)
            continue;
        candidates--;
        bool written = false, read = false, mixed = false;
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *w = &code->accesses[i];
            if (!within(code, w, l, reach))
                continue;
            written |= w->write && w->variable == now;
            read |= w->read && w->variable == last;
            if (w->write && w->space == SPACE_GLOBAL)
                for (int k = 0; k < code->access_count; k++)
                    mixed |= code->accesses[k].read && code->accesses[k].space == SPACE_GLOBAL &&
                             within(code, &code->accesses[k], l, reach) &&
                             ae_array_of(code, &code->accesses[k]) == ae_array_of(code, w);
        }
        for (int c = 0; c < code->call_count && !read; c++)
            for (int n = 0; ae_loop_within(code, code->calls[c].loop, l) && code->calls[c].target >= 0 &&
                            ae_argument(code, &code->calls[c], n) >= 0;
                 n++)
                read |= ae_variable_at(code, ae_argument(code, &code->calls[c], n)) == last;
        if (written && read && !mixed)
            return now;
    }
    return -1;
}

/* M10 */
static void residency(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M10, match) {
        int l = 0;
        while (l < code->loop_count && code->loops[l].node != match->at)
            l++;
        if (l == code->loop_count)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        if (loop->geometric || grid_stride(code, l))
            continue;
        /* so few rounds are one's own results side by side, unless the block meets in each */
        const bool few = loop->constant && loop->trips >= 0 && loop->trips <= 8;
        if (few && !loop->barrier)
            continue;
        /* a loop over items of the block's share repeats nothing; over a thread's own piece it may */
        const uint32_t from = loop->initial >= 0 ? ae_value_of(code, loop->initial).deps : 0;
        const bool own = (from & (D_TX | D_LANE | D_BLOCK)) && (from & D_LOADED);
        if ((from & (D_TX | D_LANE | D_BLOCK)) && !own)
            continue;
        int stores = 0, after = 0, handed = 0, state = -1, filled = 0;
        struct reach reach;
        if (!reach_of(code, l, &reach))
            continue;
        const int pointer = loop->barrier && !own ? carried_pointer(code, l, &reach) : -1;
        if (pointer >= 0)
            ae_say(hunt, AE_STRATEGY_M10, loop->node, 0.78,
                   "%s points to shared memory, where the state stays from round to round of this loop",
                   ae_name(code, code->variables[pointer].name));
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *a = &code->accesses[i];
            if (a->space != SPACE_GLOBAL || !a->write || a->function < 0)
                continue;
            const bool here = a->function == loop->function;
            if (within(code, a, l, &reach)) {
                const bool one = by_one_thread(code, a->node, here ? loop->node : code->functions[a->function].body);
                stores += !one;
                handed += one && kept_out(code, a, l, &reach);
            } else
                after += here ? a->node > loop->node : reach.after[a->function];
        }
        if (stores > 0) {
            reach_free(&reach);
            continue;
        }
        for (int i = 0; i < code->access_count && !own; i++) {
            const struct ae_access *a = &code->accesses[i];
            if (!a->write || a->atomic || !within(code, a, l, &reach))
                continue;
            const int assignment = s->nodes[a->node].parent;
            if (a->space == SPACE_SHARED && (loop->barrier || reach.barrier)) {
                /* not a tree of a reduction: its own loop halves or doubles */
                bool tree = false;
                for (int k = a->loop; k >= 0 && k != l; k = code->loops[k].parent)
                    tree |= code->loops[k].geometric;
                if (tree || ae_kind(s, assignment) != N_ASSIGNMENT || ae_array_of(code, a) < 0)
                    continue;
                const int array = ae_array_of(code, a), right = ae_child(s, assignment, F_RIGHT);
                if (reduced(code, array) || ae_text_has(s, a->last_index, "__popc") || (a->address.deps & D_ATOMIC))
                    continue;                            /* a tree, or a list that is filled and emptied */
                if (!made_from_shared(code, right)) { /* new state is made from old */
                    filled += reads_global(code, right);
                    continue;
                }
                /* carried: read in the loop as well, from another round's state */
                bool read = false;
                for (int k = 0; k < code->access_count && !read; k++) {
                    const struct ae_access *r = &code->accesses[k];
                    read = r->space == SPACE_SHARED && r->read && !r->write && ae_array_of(code, r) == array &&
                           within(code, r, l, &reach) &&
                           !(ae_kind(s, ae_strip(s, r->last_index)) == N_NUMBER && r->indices == 1);
                }
                bool enters = !few; /* of few rounds: what they begin with comes from before them */
                for (int k = 0; k < code->access_count && !enters; k++)
                    enters = code->accesses[k].write && code->accesses[k].function == loop->function &&
                             code->accesses[k].node < loop->node && ae_array_of(code, &code->accesses[k]) == array;
                if (read && enters &&
                    (code->variables[array].loop < 0 || !ae_loop_within(code, code->variables[array].loop, l)))
                    state = array;
            } else if (a->space == SPACE_LOCAL && a->function == loop->function && a->variable >= 0 &&
                       local_array(code, a->variable) && !ae_loop_within(code, code->variables[a->variable].loop, l) &&
                       !loop->constant) {
                if (!ae_text_is(s, ae_child(s, assignment, F_OPERATOR), "="))
                    continue;
                /* a recurrence: the new state is made from the old one */
                const int right = ae_child(s, assignment, F_RIGHT);
                bool other_index = false;
                for (int k = right; right >= 0 && k < s->nodes[right].after; k++) {
                    const struct ae_access *r = s->nodes[k].kind == N_SUBSCRIPT ? ae_access_at(code, k) : NULL;
                    other_index |= r && r->variable == a->variable &&
                                   !ae_same_text(s, ae_child(s, k, F_INDICES), ae_child(s, a->node, F_INDICES));
                }
                int left = SEARCH_MOST;
                const int name = code->variables[a->variable].name; /* a sum that grows is no state */
                other_index |= !ae_mentions(s, right, name) && ae_kind(s, ae_strip(s, right)) != N_SUBSCRIPT &&
                               a->loop >= 0 && code->loops[a->loop].constant &&
                               made_from_array(code, right, a->variable, l, 0, &left);
                if (other_index && state < 0 && element_read(code, right) < 0 /* a window that slides on is no state */)
                    state = a->variable;
            }
        }
        if (state < 0 && after > 0 && !loop->constant)
            state = scalar_state(code, l);
        reach_free(&reach);
        /* the results come last, or one by one as they become known */
        if (state >= 0 && (after + handed > 0 || !code->functions[loop->function].kernel))
            ae_say(hunt, AE_STRATEGY_M10, loop->node, filled ? 0.45 : 0.8,
                   handed ? "%s holds the state over all rounds of this loop; global memory gets results alone"
                          : "%s holds the state over all rounds of this loop, which stores nothing to global memory",
                   ae_name(code, code->variables[state].name));
    }
}

/* M11 */
static bool one_bit(const struct ae_syntax *s, int node)
{
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++)
        if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "<<")) {
            const int left = ae_strip(s, ae_child(s, i, F_LEFT));
            if (ae_kind(s, left) == N_NUMBER && s->text[s->nodes[left].start] == '1' &&
                (s->nodes[left].end - s->nodes[left].start == 1 ||
                 !isdigit((unsigned char)s->text[s->nodes[left].start + 1])))
                return true;
        }
    return false;
}

/* Follows a variable to what it was initialised with. */
static int initial_of(const struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    node = ae_strip(s, node);
    const int v = ae_kind(s, node) == N_IDENTIFIER ? ae_variable_at(code, node) : -1;
    return v >= 0 && code->variables[v].initial >= 0 && !code->variables[v].parameter ? code->variables[v].initial
                                                                                      : node;
}

/* Is it 1 << k of a k that changes, or all bits but that? */
static bool chosen_bit(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++)
        if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "<<") && one_bit(s, i))
            return ae_value_of(code, ae_child(s, i, F_RIGHT)).constness == CONST_NO;
    return false;
}

static bool by_vote(const struct ae_program *code, int variable)
{
    const struct ae_syntax *s = &code->syntax;
    for (int a = 0; a < code->assign_count; a++)
        if (code->assigns[a].variable == variable && code->assigns[a].right >= 0 &&
            (ae_text_has(s, code->assigns[a].right, "ballot") ||
             ae_text_has(s, code->assigns[a].right, "__activemask") ||
             ae_text_has(s, code->assigns[a].right, "match_any") ||
             ae_text_has(s, code->assigns[a].right, "reduce_or")))
            return true;
    return false;
}

/* Sets as bits: a member removed (S & ~(1 << j), S ^ (1 << j)) where members are tested, or a walk from member to
 * member (left &= left - 1). */
static void bit_sets(struct ae_hunt *hunt, int test)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M11, match) {
        const bool and = ae_role(hunt, match, "test"), xor = ae_role(hunt, match, "toggle");
        if ((!and&&!xor) || test < 0 || !chosen_bit(code, match->b) ||
            !ae_on_device(code, code->function_of[match->at]))
            continue;
        const int right = ae_strip(s, match->b);
        if (xor || (right >= 0 && s->text[s->nodes[right].start] == '~'))
            ae_say(hunt, AE_STRATEGY_M11, match->at, 0.8,
                   "sets are kept as bits of words: members are removed by masks");
    }
    for (int a = 0; a < code->assign_count && !ae_expired(hunt); a++) {
        const struct ae_assign *x = &code->assigns[a];
        const int right = ae_strip(s, x->right);
        if (x->kind != ASSIGN_AND || x->variable < 0 || !ae_on_device(code, x->function) ||
            ae_kind(s, right) != N_BINARY || !ae_text_is(s, ae_child(s, right, F_OPERATOR), "-") ||
            !ae_text_is(s, ae_child(s, right, F_RIGHT), "1") ||
            !ae_mentions(s, right, code->variables[x->variable].name) || by_vote(code, x->variable))
            continue;
        ae_say(hunt, AE_STRATEGY_M11, x->node, 0.78, "the members of %s are bits of a word, visited one by one",
               ae_name(code, code->variables[x->variable].name));
    }
}

/* A narrow type among the arguments of a vector or of a template. */
static bool narrow_arguments(const struct ae_syntax *s, int arguments, bool bytes, bool shorts)
{
    static const char *const names[] = {"uint8_t", "int8_t", "unsigned char", "signed char", "char", "std::uint8_t"};
    static const char *const wider[] = {"uint16_t", "int16_t", "unsigned short", "short", "std::uint16_t", "__half"};
    const int type = ae_nth(s, arguments, 0);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if ((bytes && ae_text_is(s, type, names[k])) || (shorts && ae_text_is(s, type, wider[k])))
            return true;
    return false;
}

/* Does the expression read an array of wider elements that the function was handed? */
static bool reads_wider(const struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        const int v = s->nodes[i].kind == N_SUBSCRIPT ? ae_variable_at(code, ae_child(s, i, F_ARGUMENT)) : -1;
        if (v >= 0 && code->variables[v].parameter && code->variables[v].pointer &&
            (code->variables[v].element == E_INT || code->variables[v].element == E_UNSIGNED ||
             code->variables[v].element == E_LONG || code->variables[v].element == E_FLOAT ||
             code->variables[v].element == E_DOUBLE))
            return true;
    }
    return false;
}

static bool names_type(const struct ae_syntax *s, int node, int name)
{
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++)
        if (s->nodes[i].kind == N_TYPE_IDENTIFIER && s->nodes[i].name == name)
            return true;
    return false;
}

static void narrowed(struct ae_hunt *hunt, int node, int name)
{
    ae_say(hunt, AE_STRATEGY_M11, node, 0.8, "the host keeps %s in fewer bits than the interface has",
           ae_name(hunt->code, name));
    ae_say(hunt, AE_STRATEGY_H03, node, 0.78, "%s crosses the bus in fewer bits than the interface has",
           ae_name(hunt->code, name));
}

/* The host narrows an input before it goes to the device. */
static void narrowed_inputs(struct ae_hunt *hunt, bool bytes, bool shorts)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int v = 0; v < code->variable_count && !ae_expired(hunt); v++) {
        const struct ae_variable *x = &code->variables[v];
        if (x->function < 0 || !code->functions[x->function].host)
            continue;
        const int type = ae_kind(s, x->type) == N_QUALIFIED ? ae_child(s, x->type, F_NAME) : x->type;
        const bool vector = x->type >= 0 && ae_text_has(s, x->type, "vector<") && !x->parameter;
        bool is_narrow = (x->pointer && ((bytes && x->element == E_BYTE) || (shorts && x->element == E_SHORT)));
        for (int i = type; vector && i < s->nodes[type].after && !is_narrow; i++)
            is_narrow = s->nodes[i].kind == N_TEMPLATE_ARGS && narrow_arguments(s, i, bytes, shorts);
        /* T *staged of a template that is used with a narrow type */
        const int template = code->functions[x->function].template;
        if (!is_narrow && x->pointer && x->parameter && template >= 0 && ae_kind(s, x->type) == N_TYPE_IDENTIFIER &&
            names_type(s, ae_child(s, template, F_PARAMETERS), s->nodes[x->type].name))
            for (int i = 0; i < s->count && !is_narrow; i++)
                is_narrow = s->nodes[i].kind == N_TEMPLATE_ARGS && !ae_on_device(code, code->function_of[i]) &&
                            ae_kind(s, s->nodes[i].parent) == N_TEMPLATE_FUNCTION &&
                            narrow_arguments(s, i, bytes, shorts);
        if (!is_narrow)
            continue;
        if (vector) { /* narrow(costs, costs + n) */
            const int declarator = ae_ancestor(s, x->node, N_INIT_DECLARATOR);
            const int arguments = ae_is_below(s, declarator, x->declaration) ? ae_child(s, declarator, F_VALUE) : -1;
            const int from = arguments < 0 ? -1 : ae_variable_at(code, ae_nth(s, arguments, 0));
            if (from >= 0 && code->variables[from].parameter && code->variables[from].pointer &&
                ae_kind(s, ae_strip(s, ae_nth(s, arguments, 0))) == N_IDENTIFIER && ae_nth(s, arguments, 1) >= 0 &&
                ae_mentions(s, ae_nth(s, arguments, 1), code->variables[from].name)) {
                narrowed(hunt, x->declaration, x->name);
                continue;
            }
        }
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *a = &code->accesses[i];
            const int assignment = s->nodes[a->node].parent;
            if (a->variable == v && a->write && a->function == x->function && a->loop >= 0 &&
                ae_kind(s, assignment) == N_ASSIGNMENT && reads_wider(code, ae_child(s, assignment, F_RIGHT))) {
                narrowed(hunt, a->node, x->name);
                break;
            }
        }
    }
}

static void compact(struct ae_hunt *hunt)
{
    static const char *const flags[] = {"flag",     "active",   "visited",   "changed", "done",   "alive", "valid",
                                        "frontier", "updating", "stop",      "over",    "any",    "found", "arena",
                                        "base",     "buffer",   "workspace", "scratch", "pool",   "smem",  "raw",
                                        "storage",  "temp",     "memory",    "block",   "sh",     "dst",   "src",
                                        "mark",     "marked",   "is",        "has",     "mem",    "bytes", "ring",
                                        "data",     "staging",  "host",      "ptr",     "cursor", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    int set = -1, test = -1, count = -1;
    bool entry_bytes = false, entry_shorts = false;
    for (int v = 0; v < code->variable_count; v++)
        if (code->entry >= 0 && code->variables[v].function == code->entry && code->variables[v].parameter) {
            entry_bytes |= code->variables[v].element == E_BYTE;
            entry_shorts |= code->variables[v].element == E_SHORT;
        }
    AE_EACH_MATCH (hunt, AE_STRATEGY_M11, match) {
        if (ae_role(hunt, match, "set")) {
            const int value =
                ae_kind(s, match->at) == N_CALL ? ae_nth(s, ae_child(s, match->at, F_ARGUMENTS), 1) : match->b;
            if (one_bit(s, value) || one_bit(s, initial_of(code, value)) || ae_kind(s, match->at) == N_CALL)
                set = match->at;
            else if (ae_text_has(s, value, "<<"))
                set = match->at;
        } else if (ae_role(hunt, match, "test")) {
            const bool shifted = ae_text_has(s, match->a, ">>") && ae_text_is(s, ae_strip(s, match->b), "1");
            const int right = ae_strip(s, match->b);
            const bool kept = right >= 0 && s->text[s->nodes[right].start] == '~'; /* removes, and tests nothing */
            if (!kept &&
                (one_bit(s, match->b) || one_bit(s, match->a) || one_bit(s, initial_of(code, match->b)) || shifted))
                test = match->at;
        } else if (ae_role(hunt, match, "count")) {
            const int argument = ae_nth(s, ae_child(s, match->at, F_ARGUMENTS), 0);
            bool vote = ae_text_has(s, argument, "ballot");
            for (int i = argument; argument >= 0 && i < s->nodes[argument].after; i++)
                if (s->nodes[i].kind == N_IDENTIFIER) { /* a mask of voters is no set of data */
                    const int v = ae_variable_at(code, i);
                    for (int a = 0; v >= 0 && a < code->assign_count; a++)
                        vote |= code->assigns[a].variable == v && code->assigns[a].right >= 0 &&
                                (ae_text_has(s, code->assigns[a].right, "ballot") ||
                                 ae_text_has(s, code->assigns[a].right, "__activemask") ||
                                 ae_text_has(s, code->assigns[a].right, "match_any"));
                }
            if (!vote && (ae_value_of(code, argument).deps & D_LOADED)) /* a number's own bits are no set */
                count = match->at;
        }
    }
    bit_sets(hunt, test);
    narrowed_inputs(hunt, !entry_bytes, !entry_shorts);
    /* several fields in a word: put together by | and <<, taken apart by >> from a word that was loaded */
    int packed = -1, unpacked = -1;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M11, match) {
        if (ae_role(hunt, match, "pack") && ae_ancestor(s, match->at, N_SUBSCRIPTS) < 0) {
            const int parts[] = {ae_strip(s, match->a), ae_strip(s, match->b)};
            for (int k = 0; k < 2; k++) {
                const int part = parts[k], other = parts[1 - k];
                if (ae_kind(s, part) != N_BINARY || !ae_text_is(s, ae_child(s, part, F_OPERATOR), "<<"))
                    continue;
                const struct ae_value by = ae_value_of(code, ae_child(s, part, F_RIGHT));
                if (ae_kind(s, other) == N_BINARY && ae_text_is(s, ae_child(s, other, F_OPERATOR), ">>") &&
                    ae_same_text(s, ae_child(s, part, F_LEFT), ae_child(s, other, F_LEFT)))
                    continue; /* a rotation */
                if (by.constness != CONST_NO && (by.constness == CONST_UNKNOWN || by.number >= 4) &&
                    ae_value_of(code, ae_child(s, part, F_LEFT)).constness == CONST_NO)
                    packed = match->at;
            }
        } else if (ae_role(hunt, match, "unpack") && ae_ancestor(s, match->at, N_SUBSCRIPTS) < 0) {
            const struct ae_value word = ae_value_of(code, match->a), by = ae_value_of(code, match->b);
            if (by.constness != CONST_NO && (by.constness == CONST_UNKNOWN || by.number >= 4) &&
                (word.deps & (D_LOADED | D_PARAM | D_CALLED)) && !(word.deps & (D_TX | D_LANE)))
                unpacked = match->at;
            else if (by.constness != CONST_NO && (word.deps & D_LOADED))
                unpacked = match->at;
        }
    }
    /* a flag in the sign of a number that has none: taken apart into sign and magnitude */
    if (packed >= 0 && unpacked < 0 && ae_text_has(s, packed, "<< 31"))
        for (int c = 0; c < code->call_count && unpacked < 0; c++) {
            const struct ae_call_site *sign = &code->calls[c];
            if (!ae_named(code, sign->name, "signbit") || !ae_on_device(code, sign->function))
                continue;
            for (int d = 0; d < code->call_count; d++)
                if (code->calls[d].function == sign->function &&
                    (ae_named(code, code->calls[d].name, "fabsf") || ae_named(code, code->calls[d].name, "fabs")) &&
                    ae_same_text(s, ae_argument(code, &code->calls[d], 0), ae_argument(code, sign, 0)))
                    unpacked = sign->node;
        }
    /* elements of an input put side by side into words: word |= (unsigned)input[i] << 2 * k */
    int words = -1;
    for (int a = 0; a < code->assign_count && words < 0 && unpacked >= 0; a++) {
        const struct ae_assign *x = &code->assigns[a];
        const int right = ae_strip(s, x->right);
        if (x->kind != ASSIGN_OR || x->loop < 0 || x->function < 0 || !code->functions[x->function].host ||
            ae_on_device(code, x->function) || ae_kind(s, right) != N_BINARY ||
            !ae_text_is(s, ae_child(s, right, F_OPERATOR), "<<") ||
            !(ae_value_of(code, ae_child(s, right, F_RIGHT)).deps & D_LOOP))
            continue;
        const int left = ae_child(s, right, F_LEFT);
        for (int i = left; left >= 0 && i < s->nodes[left].after; i++) {
            const struct ae_access *r = s->nodes[i].kind == N_SUBSCRIPT ? ae_access_at(code, i) : NULL;
            const int array = r ? ae_array_of(code, r) : -1;
            if (array >= 0 && code->variables[array].parameter && code->variables[array].pointer)
                words = x->node;
        }
    }
    if (words >= 0) {
        ae_say(hunt, AE_STRATEGY_M11, words, 0.8, "elements of an input are packed into words");
        ae_say(hunt, AE_STRATEGY_H03, words, 0.78, "the host packs an input into words, so that fewer bytes cross the bus");
    }
    if (packed >= 0 && unpacked >= 0 && !ae_on_device(code, code->function_of[packed]))
        ae_say(hunt, AE_STRATEGY_H03, packed, 0.75,
               "the host packs fields into words, so that fewer bytes cross the bus");
    if (packed >= 0 && unpacked >= 0) {
        ae_say(hunt, AE_STRATEGY_M11, packed, 0.8, "several fields are packed into one word");
        ae_say(hunt, AE_STRATEGY_M11, unpacked, 0.8, "several fields are packed into one word");
    }
    if (set >= 0 && (test >= 0 || count >= 0)) {
        ae_say(hunt, AE_STRATEGY_M11, set, 0.85, "sets are kept as bits of words");
        ae_say(hunt, AE_STRATEGY_M11, test >= 0 ? test : count, 0.85, "sets are kept as bits of words");
    } else if (count >= 0) {
        ae_say(hunt, AE_STRATEGY_M11, count, 0.75,
               "sets are kept as bits of words and counted or searched by one instruction");
    }
    for (int v = 0; v < code->variable_count; v++) {
        const struct ae_variable *x = &code->variables[v];
        const bool narrow =
            (x->element == E_BYTE && !entry_bytes) || (x->element == E_SHORT && !entry_shorts) || x->element == E_HALF;
        if (!narrow || x->external || !(x->pointer || x->array) || ae_name_has_word(code, x->name, flags))
            continue;
        const bool kernel_parameter = x->parameter && x->function >= 0 && code->functions[x->function].kernel;
        if (!(kernel_parameter || x->shared || (x->function == -2 && x->pointer) ||
              (x->array && x->function == -1 && (x->device || x->constant))))
            continue;
        bool used = false;
        for (int i = 0; i < code->access_count && !used; i++)
            used = code->accesses[i].variable == v && ae_on_device(code, code->accesses[i].function);
        if (used)
            ae_say(hunt, AE_STRATEGY_M11, x->declaration, 0.78, "%s is kept narrower than the interface has it",
                   ae_name(code, x->name));
    }
}

/* Are the things that a sort carries along used by kernels, rather than returned? With a comparison on the host, or a
 * key alone, that is not seen and taken for granted. */
static bool order_is_used(const struct ae_program *code, int sort)
{
    const struct ae_syntax *s = &code->syntax;
    const int arguments = ae_child(s, sort, F_ARGUMENTS);
    const char *name = ae_name(code, ae_last_name(s, ae_child(s, sort, F_FUNCTION)));
    if (!strstr(name, "by_key") && !strstr(name, "Pairs"))
        return true;
    bool any = false;
    for (int n = 0; ae_nth(s, arguments, n) >= 0; n++) {
        const int v = ae_variable_at(code, ae_nth(s, arguments, n));
        if (v < 0)
            continue;
        const struct ae_variable *x = &code->variables[v];
        if (n >= (strstr(name, "Pairs") ? 4 : 2)) { /* behind the keys */
            any = true;
            if (ae_read_on_device(code, v, -1))
                return true;
            for (int i = x->declaration; i < s->nodes[x->declaration].after;
                 i++) { /* thrust::device_ptr<int> order(d_order) */
                const int from = s->nodes[i].kind == N_IDENTIFIER && i != x->node ? ae_variable_at(code, i) : -1;
                if (from >= 0 && from != v && ae_read_on_device(code, from, -1) &&
                    ae_kind(s, s->nodes[s->nodes[i].parent].parent) != N_DECLARATION &&
                    s->nodes[i].start > s->nodes[x->node].start && s->nodes[i].start < s->nodes[x->node].end + 64)
                    return true;
            }
            for (int k = 0; k < code->variable_count; k++) /* a kernel's parameter of that name */
                if (code->variables[k].name == x->name && k != v && code->variables[k].parameter &&
                    ae_on_device(code, code->variables[k].function) && ae_read_on_device(code, k, -1))
                    return true;
        }
    }
    return !any;
}

/* Do kernels that read an array of this name go by its elements to those of others? -1: none reads it by this name. */
static int read_as_index(const struct ae_program *code, int name)
{
    const struct ae_syntax *s = &code->syntax;
    int found = -1;
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->name != name || name < 0 || !a->read || a->write || !ae_on_device(code, a->function))
            continue;
        if (found < 0)
            found = 0;
        if (ae_ancestor(s, a->node, N_SUBSCRIPTS) >= 0)
            return 1;
        /* i = order[k]; box[i], or f(i) */
        int v = -1;
        const int parent = s->nodes[a->node].parent;
        if (ae_kind(s, parent) == N_INIT_DECLARATOR)
            v = ae_variable_at(code, ae_child(s, parent, F_DECLARATOR));
        else if (ae_kind(s, parent) == N_ASSIGNMENT)
            v = ae_variable_at(code, ae_child(s, parent, F_LEFT));
        for (int k = 0; v >= 0 && k < code->access_count; k++)
            if (code->accesses[k].function == a->function && code->accesses[k].name != name &&
                ae_mentions(s, code->accesses[k].last_index, code->variables[v].name))
                return 1;
    }
    return found;
}

/* Are the keys of the sort made by a kernel that turns coordinates into the numbers of cells? */
static bool keys_are_cells(struct ae_program *code, int sort)
{
    const struct ae_syntax *s = &code->syntax;
    int keys = ae_variable_at(code, ae_nth(s, ae_child(s, sort, F_ARGUMENTS), 0));
    if (keys < 0) /* behind an execution policy */
        keys = ae_variable_at(code, ae_nth(s, ae_child(s, sort, F_ARGUMENTS), 1));
    for (int c = 0; keys >= 0 && c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!call->launches || call->target < 0 || call->node > sort ||
            !ae_mentions(s, call->arguments, code->variables[keys].name))
            continue;
        const int body = code->functions[call->target].body;
        if (!ae_text_has(s, body, "floor") && !ae_text_has(s, body, "int(") && !ae_text_has(s, body, "(int)") &&
            !ae_text_has(s, body, "<int>("))
            continue;
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *a = &code->accesses[i];
            const int assignment = s->nodes[a->node].parent;
            if (a->function != call->target || !a->write || a->space != SPACE_GLOBAL ||
                ae_kind(s, assignment) != N_ASSIGNMENT)
                continue;
            const int right = ae_strip(s, ae_child(s, assignment, F_RIGHT));
            if (ae_kind(s, right) == N_BINARY && ae_text_is(s, ae_child(s, right, F_OPERATOR), "+") &&
                ae_text_has(s, right, "*"))
                return true;
        }
    }
    return false;
}

/* Blocks numbered anew, in groups: b / n and b % n of the same b and n, put together with / and % of a group. */
static void swizzled_blocks(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int a = 0; a < code->assign_count && !ae_expired(hunt); a++) {
        const struct ae_assign *over = &code->assigns[a];
        const int right = ae_strip(s, over->right);
        if (over->kind != ASSIGN_INIT || over->variable < 0 || !ae_on_device(code, over->function) ||
            ae_kind(s, right) != N_BINARY || !ae_text_is(s, ae_child(s, right, F_OPERATOR), "/") ||
            !(ae_value_of(code, ae_child(s, right, F_LEFT)).deps & D_BLOCK) ||
            (ae_value_of(code, ae_child(s, right, F_LEFT)).deps & (D_TX | D_TYZ | D_LOADED)))
            continue;
        for (int b = code->functions[over->function].first_assign; b < code->functions[over->function].last_assign;
             b++) {
            const struct ae_assign *rest = &code->assigns[b];
            const int other = ae_strip(s, rest->right);
            if (rest->kind != ASSIGN_INIT || rest->variable < 0 || ae_kind(s, other) != N_BINARY ||
                !ae_text_is(s, ae_child(s, other, F_OPERATOR), "%") ||
                !ae_same_text(s, ae_child(s, other, F_LEFT), ae_child(s, right, F_LEFT)) ||
                !ae_same_text(s, ae_child(s, other, F_RIGHT), ae_child(s, right, F_RIGHT)))
                continue;
            for (int k = code->functions[over->function].first_assign; k < code->functions[over->function].last_assign;
                 k++) {
                const struct ae_assign *x = &code->assigns[k];
                if (x->right >= 0 && ae_mentions(s, x->right, code->variables[over->variable].name) &&
                    ae_mentions(s, x->right, code->variables[rest->variable].name) && ae_text_has(s, x->right, "*") &&
                    ae_text_has(s, x->right, "%"))
                    ae_say(hunt, AE_STRATEGY_M12, x->node, 0.75,
                           "blocks are numbered in groups, so that neighbours in time share lines");
            }
            break; /* one remainder is enough */
        }
    }
}

/* M12 */
static void locality(struct ae_hunt *hunt)
{
    static const char *const places[] = {"cell", "morton", "hilbert", "zorder", "hash", "spatial", "voxel", NULL};
    static const char *const slots[] = {"slot", NULL}; /* of a table of cells */
    static const char *const curves[] = {"morton", "hilbert", "zorder", "swizzle", "swizzled", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_M12, match) {
        if (ae_role(hunt, match, "sort")) {
            if (ae_nth(s, ae_child(s, match->at, F_ARGUMENTS), 2) >= 0 && keys_are_cells(code, match->at) &&
                order_is_used(code, match->at))
                ae_say(hunt, AE_STRATEGY_M12, match->at, 0.75,
                       "items are sorted by the cells that a kernel found for them");
            for (int i = match->at; i < s->nodes[match->at].after && order_is_used(code, match->at); i++)
                if ((s->nodes[i].kind == N_IDENTIFIER || s->nodes[i].kind == N_FIELD_IDENTIFIER) &&
                    ae_name_has_word(code, s->nodes[i].name, places)) {
                    ae_say(hunt, AE_STRATEGY_M12, match->at, 0.85, "items are sorted by %s",
                           ae_name(code, s->nodes[i].name));
                    break;
                }
        } else if (ae_role(hunt, match, "order")) {
            const int name =
                ae_kind(s, match->at) == N_CALL ? ae_last_name(s, ae_child(s, match->at, F_FUNCTION))
                : ae_kind(s, match->at) == N_FUNCTION
                    ? (code->function_of[match->at] >= 0 ? code->functions[code->function_of[match->at]].name : -1)
                    : -1;
            if (ae_name_has_word(code, name, curves) && !ae_text_has(s, match->at, "__shared__") &&
                ae_kind(s, match->at) == N_FUNCTION) {
                bool shared = false; /* a swizzle of a shared index is M08 */
                for (int i = 0; i < code->access_count; i++)
                    shared |= code->accesses[i].space == SPACE_SHARED && code->accesses[i].last_index >= 0 &&
                              ae_mentions(s, code->accesses[i].node, name);
                if (!shared)
                    ae_say(hunt, AE_STRATEGY_M12, match->at, 0.8, "%s orders items or blocks by place",
                           ae_name(code, name));
            }
        }
    }
    swizzled_blocks(hunt);
    /* counting sort by cell: order[start[cell] + atomicAdd(&fill[cell], 1)] = i, on device or host */
    for (int i = 0; i < code->access_count && !ae_expired(hunt); i++) {
        const struct ae_access *a = &code->accesses[i];
        if (!a->write || a->last_index < 0)
            continue;
        int index = a->last_index;
        bool counted = false, place = false;
        for (int round = 0; round < 2; round++) {
            for (int n = index; n >= 0 && n < s->nodes[index].after; n++) {
                const struct ae_call_site *call = s->nodes[n].kind == N_CALL ? ae_call_at(code, n) : NULL;
                if (call && ae_named(code, call->name, "atomicAdd")) {
                    const int target = ae_argument(code, call, 0);
                    counted = true;
                    for (int k = target; target >= 0 && k < s->nodes[target].after; k++)
                        place |= ae_name_has_word(code, s->nodes[k].name, places);
                }
                if (s->nodes[n].kind == N_UPDATE && ae_kind(s, ae_child(s, n, F_ARGUMENT)) == N_SUBSCRIPT) {
                    counted = true;
                    for (int k = n; k < s->nodes[n].after; k++)
                        place |= ae_name_has_word(code, s->nodes[k].name, places);
                }
            }
            if (counted || ae_kind(s, ae_strip(s, index)) != N_IDENTIFIER)
                break;
            const int v = ae_variable_at(code, index); /* const int slot = atomicAdd(...); order[slot] = i; */
            for (int k = 0; k < code->assign_count; k++)
                if (code->assigns[k].variable == v && v >= 0 && code->assigns[k].kind == ASSIGN_INIT)
                    index = code->assigns[k].right;
            if (index == a->last_index)
                break;
        }
        /* order[start[cell[i]] + rank[i]] = i, the place by way of a variable too */
        const int assignment = s->nodes[a->node].parent;
        const int sum = ae_strip(s, initial_of(code, a->last_index));
        if (!counted && ae_on_device(code, a->function) && ae_kind(s, assignment) == N_ASSIGNMENT &&
            ae_kind(s, sum) == N_BINARY && ae_text_is(s, ae_child(s, sum, F_OPERATOR), "+") &&
            (ae_value_of(code, ae_child(s, assignment, F_RIGHT)).deps & (D_TX | D_LOADED)) == (uint32_t)D_TX)
            for (int n = sum; n < s->nodes[sum].after; n++)
                if (s->nodes[n].kind == N_SUBSCRIPT && ae_first_of(s, n, N_SUBSCRIPTS) >= 0 &&
                    ae_text_has(s, ae_child(s, n, F_INDICES), "["))
                    for (int k = n; k < s->nodes[n].after; k++)
                        counted = place = place || ae_name_has_word(code, s->nodes[k].name, places) ||
                                          ae_name_has_word(code, s->nodes[k].name, slots);
        if (counted && place && read_as_index(code, a->name) != 0)
            ae_say(hunt, AE_STRATEGY_M12, a->node, 0.82, "%s lists items cell by cell",
                   variable_name(code, a->variable));
    }
}

void ae_rules_memory(struct ae_hunt *hunt)
{
    coalesced(hunt);
    layout(hunt);
    shared_arrays(hunt);
    register_tiles(hunt);
    vectors(hunt);
    read_only(hunt);
    constant_tables(hunt);
    residency(hunt);
    compact(hunt);
    locality(hunt);
}
