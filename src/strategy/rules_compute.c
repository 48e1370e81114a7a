/* Rules of class C: what queries cannot say about the computation. */
#include "strategy/hunt.h"

#include <stdlib.h>
#include <string.h>

#define S (&hunt->code->syntax)

int ae_loop_at(const struct ae_program *code, int node)
{
    int lo = 0, hi = code->loop_count; /* in order of nodes */
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (code->loops[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < code->loop_count && code->loops[lo].node == node ? lo : -1;
}

/* --- who writes and reads what a launch is handed --- */

/* How a kernel uses its pointer parameter at this position. */
struct usage {
    bool read, written, read_in_loop, computed;
    bool gathered; /* written with what indices look up */
    bool by_block; /* read by all threads of a block alike */
    int node;      /* a store */
};

static bool in_repeating_loop(struct ae_program *code, int loop)
{
    for (; loop >= 0; loop = code->loops[loop].parent) {
        const struct ae_loop *l = &code->loops[loop];
        if (l->trips >= 0 && l->trips <= 2)
            continue;
        /* where threads share the rounds among them, each element is read once */
        const uint32_t from = l->initial >= 0 ? ae_value_of(code, l->initial).deps : 0;
        if ((from & (D_TX | D_LANE | D_BLOCK)) && !(from & D_LOADED))
            continue;
        return true;
    }
    return false;
}

/* Is the value more than a copy or a constant? */
static bool is_computed(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    const int right = ae_strip(s, node);
    if (ae_value_of(code, right).constness != CONST_NO)
        return false;
    switch (ae_kind(s, right)) {
    case N_BINARY:
    case N_CONDITIONAL: return true;
    case N_CALL: {
        const char *name = ae_name(code, ae_last_name(s, ae_child(s, right, F_FUNCTION)));
        return strncmp(name, "make_", 5) != 0 && strncmp(name, "__ld", 4) != 0 && !strstr(name, "_as_");
    }
    case N_IDENTIFIER: {
        const int v = ae_variable_at(code, right);
        if (v < 0 || code->variables[v].function < 0 || code->variables[v].parameter)
            return false;
        for (int a = 0; a < code->assign_count; a++) {
            const struct ae_assign *x = &code->assigns[a];
            if (x->variable != v)
                continue;
            if (x->kind != ASSIGN_INIT && x->kind != ASSIGN_SET)
                return true; /* a sum */
            const enum ae_node_kind k = ae_kind(s, ae_strip(s, x->right));
            if (k == N_BINARY || k == N_CALL || k == N_CONDITIONAL)
                return true;
        }
        return false;
    }
    default: return false;
    }
}

static void add_usage(struct ae_program *code, int variable, bool in_loop, int depth, struct usage *u)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->variable != variable && a->root != variable)
            continue;
        if (a->read && !a->atomic && !a->write) {
            u->read = true;
            u->read_in_loop |= in_loop || in_repeating_loop(code, a->loop);
            u->by_block |= (a->address.deps & (D_BLOCK | D_TX | D_TYZ | D_LANE | D_LOADED)) == D_BLOCK;
        }
        if (a->write) {
            const int assignment = s->nodes[a->node].parent;
            u->written = true;
            u->node = a->node;
            if (ae_kind(s, assignment) == N_ASSIGNMENT)
                u->gathered |= ae_value_of(code, ae_child(s, assignment, F_RIGHT)).coef == COEF_GATHER &&
                               ae_text_has(s, ae_child(s, assignment, F_RIGHT), "[");
            u->computed |= !a->atomic && (ae_kind(s, assignment) == N_ASSIGNMENT &&
                                          (a->read || is_computed(code, ae_child(s, assignment, F_RIGHT))));
        }
    }
    /* handed on to functions of the device */
    for (int c = 0; c < code->call_count && depth < 4; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (call->target < 0 || call->launches || call->function != code->variables[variable].function)
            continue;
        for (int v = code->functions[call->target].first_variable;
             v < code->variable_count && code->variables[v].function == call->target && code->variables[v].parameter;
             v++) {
            const int argument = ae_argument(code, call, code->variables[v].position);
            if (code->variables[v].pointer && argument >= 0 && ae_variable_at(code, argument) == variable)
                add_usage(code, v, in_loop || in_repeating_loop(code, call->loop), depth + 1, u);
        }
    }
}

/* What a launch hands to a parameter: among the arguments, or in the array of pointers of cudaLaunchKernel and its kin.
 */
static int handed_at(const struct ae_program *code, const struct ae_call_site *call, int position)
{
    const struct ae_syntax *s = &code->syntax;
    if (call->launch >= 0)
        return ae_argument(code, call, position);
    for (int n = 0; n < 8; n++) {
        const int argument = ae_strip(s, ae_argument(code, call, n));
        if (argument < 0)
            return -1;
        const int v = ae_kind(s, argument) == N_IDENTIFIER ? ae_variable_at(code, argument) : -1;
        const int list = v < 0 ? -1 : code->variables[v].initial;
        if (list < 0 || ae_kind(s, list) != N_INITIALIZERS)
            continue;
        const int item = ae_strip(s, ae_nth(s, list, position));
        return ae_kind(s, item) == N_POINTER ? ae_strip(s, ae_child(s, item, F_ARGUMENT)) : -1;
    }
    return -1;
}

/* Is a field of a structure that kernels are handed read on the device in a loop, or by a kernel of a loop? */
static bool field_read_again(struct ae_program *code, int field)
{
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->variable != field || !a->read || a->write || !ae_on_device(code, a->function))
            continue;
        if (in_repeating_loop(code, a->loop))
            return true;
        for (int c = 0; c < code->call_count; c++)
            if (code->calls[c].launches && code->calls[c].target == a->function && code->calls[c].loop >= 0)
                return true;
    }
    return false;
}

/* The array of the host that an access is to: pointers into it are followed. */
static int host_array(const struct ae_program *code, int v)
{
    for (int guard = 0; guard < 4 && v >= 0; guard++) {
        const struct ae_variable *x = &code->variables[v];
        if (x->parameter || x->initial < 0 || !(x->pointer || x->reference))
            return v;
        const int from = ae_variable_at(code, x->initial);
        if (from < 0 || from == v || code->variables[from].function != x->function)
            return v;
        v = from;
    }
    return v;
}

/* Does the array of the host go to the device from this function, by a copy or by a function that hands out a copy? */
static bool goes_to_device(const struct ae_program *code, int v, int after)
{
    const struct ae_syntax *s = &code->syntax;
    static const char *const words[] = {"upload", "to_device", "push", "put", "copy_in", NULL};
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        const char *name = ae_name(code, call->name);
        if (call->function != code->variables[v].function || call->node < after ||
            !ae_mentions(s, call->arguments, code->variables[v].name))
            continue;
        if (strncmp(name, "cudaMemcpy", 10) == 0 && !ae_text_has(s, call->arguments, "DeviceToHost"))
            return true;
        bool named = false;
        for (const char *const *w = words; *w; w++)
            named |= strncmp(name, *w, strlen(*w)) == 0;
        if (named)
            return true;
        /* a function of this source that copies */
        for (int d = 0; call->target >= 0 && !call->launches && d < code->call_count; d++)
            if (code->calls[d].function == call->target &&
                strncmp(ae_name(code, code->calls[d].name), "cudaMemcpy", 10) == 0 &&
                ae_text_has(s, code->calls[d].arguments, "HostToDevice"))
                return true;
    }
    return false;
}

/* Where an array that a function of the host fills comes out: itself, what its callers call it; up to `most`. */
static int comes_out(const struct ae_program *code, int v, int *ret, int most)
{
    const struct ae_syntax *s = &code->syntax;
    const int function = code->variables[v].function;
    int count = 0;
    if (!code->variables[v].parameter)
        ret[count++] = v;
    bool returned = false;
    const int body = code->functions[function].body;
    for (int i = body; !code->variables[v].parameter && body >= 0 && i < s->nodes[body].after && !returned; i++)
        returned = s->nodes[i].kind == N_RETURN && ae_kind(s, ae_nth(s, i, 0)) == N_IDENTIFIER &&
                   s->nodes[ae_nth(s, i, 0)].name == code->variables[v].name;
    for (int c = 0; c < code->call_count && count < most; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (call->target != function || call->function < 0 || call->function == function)
            continue;
        int outer = -1;
        if (code->variables[v].parameter) {
            outer = ae_variable_at(code, ae_argument(code, call, code->variables[v].position));
        } else if (returned) {
            const int init = ae_ancestor(s, call->node, N_INIT_DECLARATOR);
            int declarator = init < 0 ? -1 : ae_child(s, init, F_DECLARATOR);
            while (declarator >= 0 && ae_kind(s, declarator) != N_IDENTIFIER)
                declarator = ae_child(s, declarator, F_DECLARATOR);
            outer = ae_variable_at(code, declarator);
        }
        if (outer >= 0 && code->variables[outer].function == call->function)
            ret[count++] = outer;
    }
    return count;
}

/* Is the value or the place that a loop of the host stores worked out, rather than copied from an input in order? */
static bool worked_out(struct ae_program *code, const struct ae_access *a, int value)
{
    const struct ae_syntax *s = &code->syntax;
    const int right = ae_strip(s, value);
    if (right < 0 || ae_value_of(code, right).constness != CONST_NO)
        return false;
    if (ae_kind(s, right) == N_INITIALIZERS)
        return true;
    /* from other elements of the same array, or of one that the host has made as well */
    const int own = host_array(code, a->variable);
    int elements = 0;
    for (int i = right; i < s->nodes[right].after; i++) {
        if (s->nodes[i].kind != N_SUBSCRIPT)
            continue;
        const int from = ae_variable_at(code, ae_child(s, i, F_ARGUMENT));
        const int array = from < 0 ? -1 : host_array(code, from);
        if (array >= 0 && (array == own || !code->variables[array].parameter))
            elements++;
    }
    if (elements > 0)
        return true;
    /* the number of a loop around, put where another loop or a table says */
    if (ae_kind(s, right) == N_IDENTIFIER) {
        const int v = ae_variable_at(code, right);
        for (int l = a->loop; v >= 0 && l >= 0; l = code->loops[l].parent)
            if (code->loops[l].variable == v && !ae_mentions(s, a->last_index, code->variables[v].name))
                return true;
        return v >= 0 && ae_text_has(s, a->last_index, "[") && (ae_value_of(code, right).deps & D_LOOP);
    }
    return false;
}

/* C03: tables that loops of the host work out and hand to the device. */
static void host_tables(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int i = 0; i < code->access_count && !ae_expired(hunt); i++) {
        const struct ae_access *a = &code->accesses[i];
        const int assignment = s->nodes[a->node].parent;
        if (!a->write || a->loop < 0 || a->function < 0 || !code->functions[a->function].host || a->variable < 0 ||
            code->loops[a->loop].launch || ae_kind(s, assignment) != N_ASSIGNMENT)
            continue;
        const int v = host_array(code, a->variable);
        if (v < 0 || code->variables[v].function < 0 ||
            (code->variables[v].parameter && (code->functions[a->function].entry || !code->variables[v].pointer)) ||
            !worked_out(code, a, ae_child(s, assignment, F_RIGHT)))
            continue;
        int places[4];
        const int count = comes_out(code, v, places, 4);
        for (int k = 0; k < count; k++)
            if (goes_to_device(code, places[k], code->variables[places[k]].function == a->function ? a->node : 0)) {
                ae_say(hunt, AE_STRATEGY_C03, a->node, 0.72, "the host works %s out once for all kernels",
                       ae_name(code, code->variables[places[k]].name));
                break;
            }
    }
    /* a structure that a function of the host computes in loops, handed to kernels by value */
    for (int c = 0; c < code->call_count && !ae_expired(hunt); c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (call->target < 0 || !code->functions[call->target].host || call->function < 0)
            continue;
        const int init = s->nodes[call->node].parent;
        if (ae_kind(s, init) != N_INIT_DECLARATOR)
            continue;
        const int v = ae_variable_at(code, ae_child(s, init, F_DECLARATOR));
        if (v < 0 || code->variables[v].pointer || code->variables[v].element != E_OTHER)
            continue;
        bool computes = false;
        for (int i = 0; i < code->access_count && !computes; i++) {
            const struct ae_access *a = &code->accesses[i];
            const int assignment = s->nodes[a->node].parent;
            computes = a->function == call->target && a->write && a->loop >= 0 &&
                       ae_kind(s, assignment) == N_ASSIGNMENT &&
                       (a->read || is_computed(code, ae_child(s, assignment, F_RIGHT)));
        }
        for (int d = 0; computes && d < code->call_count; d++) {
            const struct ae_call_site *launch = &code->calls[d];
            if (!launch->launches || launch->launch < 0 || launch->function != call->function)
                continue;
            for (int n = 0; ae_argument(code, launch, n) >= 0; n++)
                if (ae_kind(s, ae_argument(code, launch, n)) == N_IDENTIFIER &&
                    ae_variable_at(code, ae_argument(code, launch, n)) == v)
                    ae_say(hunt, AE_STRATEGY_C03, call->node, 0.72,
                           "the host computes %s once and hands it to the kernels",
                           ae_name(code, code->variables[v].name));
        }
    }
}

/* C03: one launch outside the loops of the host writes what another reads again and again. */
static void precomputed(struct ae_hunt *hunt)
{
    static const char *const tables[] = {"table",   "lut",     "pre",        "precomputed", "norm",
                                         "inv",     "inverse", "factor",     "coef",        "coefficient",
                                         "weight",  "drift",   "lookup",     "closure",     "moment",
                                         "twiddle", "power",   "cumulative", "basis",       NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    enum { MOST = 256 };
    struct {
        int variable, call;
        struct usage usage;
    } uses[MOST];
    int count = 0;
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!call->launches || call->target < 0)
            continue;
        for (int v = code->functions[call->target].first_variable;
             count < MOST && v < code->variable_count && code->variables[v].function == call->target &&
             code->variables[v].parameter;
             v++) {
            const int argument = handed_at(code, call, code->variables[v].position);
            /* a piece of a larger block has no name of its own to follow */
            const enum ae_node_kind kind = ae_kind(s, ae_strip(s, argument));
            const int handed = code->variables[v].pointer && (kind == N_IDENTIFIER || kind == N_FIELD || kind == N_CALL)
                                   ? ae_variable_at(code, argument)
                                   : -1;
            if (handed < 0)
                continue;
            uses[count].variable = handed;
            uses[count].call = c;
            uses[count].usage = (struct usage){.node = -1};
            add_usage(code, v, false, 0, &uses[count].usage);
            count++;
        }
    }
    for (int w = 0; w < count; w++) {
        const struct ae_call_site *writer = &code->calls[uses[w].call];
        const bool gathered = uses[w].usage.gathered && code->variables[uses[w].variable].function == -2;
        if (!uses[w].usage.written || uses[w].usage.read || !(uses[w].usage.computed || gathered) || writer->loop >= 0)
            continue;
        bool only = true,
             again = code->variables[uses[w].variable].function == -2 && field_read_again(code, uses[w].variable);
        for (int a = 0; a < code->assign_count; a++) /* buffers that are exchanged */
            only &= !(code->assigns[a].variable == uses[w].variable && code->assigns[a].kind == ASSIGN_SET);
        for (int c = 0; c < code->call_count; c++)
            only &= !(ae_named(code, code->calls[c].name, "swap") &&
                      ae_mentions(s, code->calls[c].arguments, code->variables[uses[w].variable].name));
        for (int r = 0; r < count; r++) {
            const struct ae_call_site *reader = &code->calls[uses[r].call];
            if (uses[r].variable != uses[w].variable || reader == writer)
                continue;
            only &= !uses[r].usage.written;
            again |= uses[r].usage.read && reader->node > writer->node &&
                     (uses[r].usage.read_in_loop || uses[r].usage.by_block || reader->loop >= 0);
        }
        if (only && again)
            ae_say(hunt, AE_STRATEGY_C03, uses[w].usage.node, 0.8,
                   "%s computes %s once, and later kernels read it again and again",
                   ae_name(code, code->functions[writer->target].name),
                   ae_name(code, code->variables[uses[w].variable].name));
    }
    /* a table that the host fills and hands to the device */
    AE_EACH_MATCH (hunt, AE_STRATEGY_C03, match) {
        if (!ae_role(hunt, match, "fill") || code->loop_of[match->at] < 0)
            continue;
        const struct ae_access *a = ae_access_at(code, match->a);
        const int v = a ? a->variable : -1;
        if (v < 0 || code->variables[v].parameter || code->variables[v].function == -2)
            continue;
        const int function = code->function_of[match->at];
        /* the value depends on the loop by arithmetic, not by fetching another element */
        if (!is_computed(code, match->b))
            continue;
        bool handed = false, constant = false;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            const char *name = ae_name(code, call->name);
            if (call->function != function || call->node < match->at ||
                !ae_mentions(s, call->arguments, code->variables[v].name))
                continue;
            handed |= strncmp(name, "cudaMemcpy", 10) == 0 || strstr(name, "upload") || strstr(name, "to_device") ||
                      strstr(name, "push");
            constant |= strstr(name, "ToSymbol") != NULL;
        }
        static const char *const functions[] = {"exp",    "expf",   "pow",  "powf", "log",   "logf",  "sqrt",
                                                "sqrtf",  "cos",    "cosf", "sin",  "sinf",  "erf",   "erfc",
                                                "tgamma", "lgamma", "exp2", "log2", "log1p", "expm1", NULL};
        bool function_of_index = false; /* what takes a function to compute is worth a table */
        for (int c = 0; c < code->call_count && !function_of_index; c++)
            function_of_index =
                ae_is_below(s, code->calls[c].node, match->b) && ae_name_among(code, code->calls[c].name, functions);
        if (constant || (handed && function_of_index) ||
            (handed && ae_name_has_word(code, code->variables[v].name, tables)))
            ae_say(hunt, AE_STRATEGY_C03, match->at, constant ? 0.85 : 0.8, "the host computes %s once for all kernels",
                   ae_name(code, code->variables[v].name));
    }
    host_tables(hunt);
    /* a table in shared memory, computed before the loops that read it */
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (a->space != SPACE_SHARED || !a->write || a->atomic || a->variable < 0 ||
            !ae_name_has_word(code, a->name, tables))
            continue;
        const int assignment = s->nodes[a->node].parent;
        if (ae_kind(s, assignment) != N_ASSIGNMENT || a->read ||
            ae_kind(s, ae_strip(s, ae_child(s, assignment, F_RIGHT))) == N_SUBSCRIPT ||
            !is_computed(code, ae_child(s, assignment, F_RIGHT)))
            continue;
        for (int k = 0; k < code->access_count; k++)
            if (code->accesses[k].variable == a->variable && code->accesses[k].read && !code->accesses[k].write &&
                code->accesses[k].loop >= 0 && code->accesses[k].loop != a->loop)
                ae_say(hunt, AE_STRATEGY_C03, a->node, 0.7, "%s is computed once a block and read in a loop",
                       ae_name(code, a->name));
    }
}

/* C05 */
static void unrolled(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C05, match) {
        if (ae_role(hunt, match, "pragma")) {
            const char *text = s->text + s->nodes[match->what].start;
            const char *after = strstr(text, "unroll");
            while (after && *after && !(*after >= '0' && *after <= '9') && *after != '\n')
                after++;
            if (after && *after == '1' && !(after[1] >= '0' && after[1] <= '9'))
                continue; /* one round at a time: the opposite */
            ae_say(hunt, AE_STRATEGY_C05, match->at, 0.96, "#pragma unroll in device code");
            continue;
        }
        const int l = ae_loop_at(code, match->at);
        if (l < 0 || code->loops[l].step < 0 || code->loops[l].step_kind != ASSIGN_ADD || code->loops[l].variable < 0)
            continue;
        const struct ae_value step = ae_value_of(code, code->loops[l].step);
        if (step.constness != CONST_KNOWN || step.number < 2 || step.number > 16)
            continue;
        /* all members named: i, i + 1, ..., i + step - 1 */
        const int name = code->variables[code->loops[l].variable].name;
        unsigned members = 1;
        for (int i = code->loops[l].body; i >= 0 && i < s->nodes[code->loops[l].body].after; i++)
            if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "+") &&
                s->nodes[ae_child(s, i, F_LEFT)].name == name) {
                const struct ae_value more = ae_value_of(code, ae_child(s, i, F_RIGHT));
                if (more.constness == CONST_KNOWN && more.number > 0 && more.number < step.number)
                    members |= 1u << more.number;
            }
        if (members == (1u << step.number) - 1)
            ae_say(hunt, AE_STRATEGY_C05, match->at, 0.85, "a loop is unrolled by hand: %d members in a round",
                   (int)step.number);
    }
}

/* --- templates --- */

/* Does a template argument list name a parameter of the template around it? */
static bool dependent(const struct ae_program *code, int arguments)
{
    const struct ae_syntax *s = &code->syntax;
    for (int f = ae_ancestor(s, arguments, N_TEMPLATE); f >= 0; f = ae_ancestor(s, f, N_TEMPLATE)) {
        const int parameters = ae_child(s, f, F_PARAMETERS);
        for (int i = parameters; i >= 0 && i < s->nodes[parameters].after; i++)
            if (s->nodes[i].name >= 0 && s->nodes[i].kind != N_PRIMITIVE_TYPE)
                for (int k = arguments; k < s->nodes[arguments].after; k++)
                    if (s->nodes[k].name == s->nodes[i].name)
                        return true;
    }
    return false;
}

/* Sets of arguments that a function template is used with; those that depend on another template count as often as that
 * is used. */
static int instances(struct ae_hunt *hunt, int function, int depth, int *ret_example)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    enum { MOST = 16 };
    int seen[MOST], count = 0, more = 0;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C06, match) {
        if (!ae_role(hunt, match, "instance") || s->nodes[match->what].name != code->functions[function].name)
            continue;
        if (dependent(code, match->a)) {
            const int caller = code->function_of[match->at];
            int example;
            if (caller >= 0 && caller != function && depth < 4)
                more += instances(hunt, caller, depth + 1, &example);
            continue;
        }
        bool is_new = true;
        for (int k = 0; k < count; k++)
            is_new &= !ae_same_text(s, seen[k], match->a);
        if (is_new && count < MOST) {
            seen[count++] = match->a;
            *ret_example = match->at;
        }
    }
    /* by way of a macro: #define LAUNCH(N) kernel<N><<<...>>>(...) */
    for (int d = 0; d < s->count; d++) {
        if (s->nodes[d].kind != N_DEFINE_FUNCTION)
            continue;
        char pattern[80];
        snprintf(pattern, sizeof pattern, "%.60s<", ae_name(code, code->functions[function].name));
        if (!ae_text_has(s, ae_child(s, d, F_VALUE), pattern))
            continue;
        const int macro = s->nodes[ae_child(s, d, F_NAME)].name;
        for (int c = 0; c < code->call_count; c++)
            if (code->calls[c].name == macro && macro >= 0) {
                more++;
                *ret_example = code->calls[c].node;
            }
    }
    return count + more;
}

/* C06 */
static void specialised(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C06, match) {
        if (!ae_role(hunt, match, "template"))
            continue;
        const int definition = ae_first_of(s, match->at, N_FUNCTION),
                  function = definition < 0 ? -1 : code->function_of[definition];
        if (function < 0 || !ae_on_device(code, function))
            continue;
        int example = match->at;
        /* helpers for several types are no specialisation: bounds and branches stay as they are */
        const int list = ae_child(s, match->at, F_PARAMETERS);
        const bool by_value = ae_first_of(s, list, N_PARAMETER) >= 0 || ae_first_of(s, list, N_OPTIONAL_PARAMETER) >= 0;
        if (!by_value && !code->functions[function].kernel)
            continue;
        const int count = instances(hunt, function, 0, &example);
        if (count >= 2) {
            ae_say(hunt, AE_STRATEGY_C06, match->at, 0.92, "%s is made for %d sets of template arguments",
                   ae_name(code, code->functions[function].name), count);
        } else if (count == 0) {
            /* arguments deduced: different where those of the calls are, which takes types */
            int calls = 0;
            for (int c = 0; c < code->call_count; c++)
                calls += code->calls[c].target == function;
            const int parameters = ae_child(s, match->at, F_PARAMETERS);
            if (calls >= 2 && ae_first_of(s, parameters, N_PARAMETER) >= 0)
                ae_doubt(hunt, AE_STRATEGY_C06, match->at,
                         "%s is a template; with what arguments it is used cannot be followed",
                         ae_name(code, code->functions[function].name));
        }
    }
}

/* C07: a reciprocal computed outside a loop and multiplied with inside, or one by name. */
static void reciprocals(struct ae_hunt *hunt)
{
    static const char *const names[] = {"inv", "inverse", "rcp", "recip", "reciprocal", "rdx", "rdy", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C07, match) {
        if (!ae_role(hunt, match, "reciprocal"))
            continue;
        const int value = ae_strip(s, match->b), v = ae_variable_at(code, match->a);
        if (v < 0 || ae_kind(s, value) != N_BINARY || !ae_text_is(s, ae_child(s, value, F_OPERATOR), "/"))
            continue;
        const int one = ae_strip(s, ae_child(s, value, F_LEFT));
        if (ae_kind(s, one) != N_NUMBER || strtod(s->text + s->nodes[one].start, NULL) != 1.0)
            continue;
        /* of a constant it costs nothing either way */
        if (ae_value_of(code, ae_child(s, value, F_RIGHT)).constness != CONST_NO)
            continue;
        int uses = 0;
        bool deeper = false;
        for (int i = s->nodes[match->at].after; i < s->count && code->function_of[i] == code->function_of[match->at];
             i++)
            if (s->nodes[i].name == code->variables[v].name && s->nodes[i].kind == N_IDENTIFIER) {
                const int parent = s->nodes[i].parent;
                const bool factor =
                    (ae_kind(s, parent) == N_BINARY && ae_text_is(s, ae_child(s, parent, F_OPERATOR), "*")) ||
                    (ae_kind(s, parent) == N_ASSIGNMENT && ae_text_is(s, ae_child(s, parent, F_OPERATOR), "*="));
                uses += factor;
                deeper |= factor && code->loop_of[i] != code->loop_of[match->at];
            }
        if ((deeper && uses >= 1) || (uses >= 2 && ae_name_has_word(code, code->variables[v].name, names)))
            ae_say(hunt, AE_STRATEGY_C07, match->at, 0.78,
                   "%s is computed once, and multiplications take the place of divisions",
                   ae_name(code, code->variables[v].name));
    }
}

/* Declarations of doubles in the reference, outside comments. */
static int reference_doubles(const struct ae_strategy_input *input)
{
    int count = 0;
    bool comment = false;
    for (size_t i = 0; i + 8 < input->reference_size; i++) {
        const char *at = input->reference + i;
        if (memcmp(at, "/*", 2) == 0)
            comment = true;
        else if (memcmp(at, "*/", 2) == 0)
            comment = false;
        count += !comment && memcmp(at, "double ", 7) == 0 && (i == 0 || at[-1] != '_');
    }
    return count;
}

/* A float of a kernel that a loop adds to; -1. */
static int float_sum(const struct ae_program *code)
{
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *x = &code->assigns[a];
        if (x->kind == ASSIGN_ADD && x->variable >= 0 && x->loop >= 0 && ae_on_device(code, x->function) &&
            code->variables[x->variable].element == E_FLOAT && !code->variables[x->variable].pointer &&
            !ae_loop_within(code, code->variables[x->variable].loop, x->loop))
            return x->node;
    }
    return -1;
}

/* Arrays of doubles in the reference, outside comments. */
static bool reference_double_arrays(const struct ae_strategy_input *input)
{
    bool comment = false;
    for (size_t i = 0; i + 8 < input->reference_size; i++) {
        const char *at = input->reference + i;
        if (memcmp(at, "/*", 2) == 0)
            comment = true;
        else if (memcmp(at, "*/", 2) == 0)
            comment = false;
        else if (!comment && memcmp(at, "double *", 8) == 0)
            return true;
    }
    return false;
}

/* A kernel without a double that makes an array of floats from one that it changes places with, step by step; -1. */
static int float_state(const struct ae_program *code)
{
    const struct ae_syntax *s = &code->syntax;
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *x = &code->assigns[a];
        const int right = x->right < 0 ? -1 : ae_strip(s, x->right);
        if (x->kind != ASSIGN_SET || x->variable < 0 || x->loop < 0 || !ae_on_device(code, x->function) ||
            ae_kind(s, right) != N_IDENTIFIER)
            continue;
        const int now = x->variable, next = ae_variable_at(code, right);
        if (next < 0 || next == now || !code->variables[now].pointer || !code->variables[next].pointer ||
            !code->variables[now].parameter || !code->variables[next].parameter ||
            code->variables[now].element != E_FLOAT || code->variables[next].element != E_FLOAT)
            continue;
        bool doubles = false, stored = false;
        for (int v = 0; v < code->variable_count; v++)
            doubles |= code->variables[v].function == x->function && code->variables[v].element == E_DOUBLE;
        for (int i = 0; i < code->access_count; i++)
            stored |= code->accesses[i].write && code->accesses[i].variable == next &&
                      ae_loop_within(code, code->accesses[i].loop, x->loop);
        if (stored && !doubles)
            return code->functions[x->function].node;
    }
    return -1;
}

/* C07: 1 / x of the host that kernels multiply with: handed to them, or in a structure. */
static void host_reciprocals(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int i = 0; i < s->count && !ae_expired(hunt); i++) {
        if (s->nodes[i].kind != N_BINARY || !ae_text_is(s, ae_child(s, i, F_OPERATOR), "/") ||
            code->function_of[i] < 0 || ae_on_device(code, code->function_of[i]))
            continue;
        const int one = ae_strip(s, ae_child(s, i, F_LEFT)), by = ae_child(s, i, F_RIGHT);
        /* of a floating-point number: integers divide into counts */
        if (ae_kind(s, one) != N_NUMBER || !ae_text_has(s, one, ".") || ae_value_of(code, by).constness != CONST_NO)
            continue;
        int name = -1, function = -1;
        const int parent = s->nodes[i].parent, call_node = s->nodes[parent].parent;
        const struct ae_call_site *call =
            ae_kind(s, parent) == N_ARGUMENTS && ae_kind(s, call_node) == N_CALL ? ae_call_at(code, call_node) : NULL;
        if (call && call->launch >= 0 && call->target >= 0) {
            for (int v = code->functions[call->target].first_variable;
                 v < code->variable_count && code->variables[v].function == call->target &&
                 code->variables[v].parameter;
                 v++)
                if (ae_argument(code, call, code->variables[v].position) == i)
                    name = code->variables[v].name;
            function = call->target;
        } else if (ae_kind(s, parent) == N_ASSIGNMENT && ae_text_is(s, ae_child(s, parent, F_OPERATOR), "=")) {
            int to = ae_strip(s, ae_child(s, parent, F_LEFT));
            if (ae_kind(s, to) == N_SUBSCRIPT)
                to = ae_strip(s, ae_child(s, to, F_ARGUMENT));
            if (ae_kind(s, to) == N_FIELD)
                name = ae_last_name(s, to);
        }
        /* a factor in device code */
        for (int k = 0; name >= 0 && k < s->count; k++) {
            const int f = code->function_of[k];
            if (s->nodes[k].kind != N_BINARY || !ae_text_is(s, ae_child(s, k, F_OPERATOR), "*") ||
                !ae_on_device(code, f) || (function >= 0 && f != function))
                continue;
            const int factors[] = {ae_strip(s, ae_child(s, k, F_LEFT)), ae_strip(s, ae_child(s, k, F_RIGHT))};
            for (int n = 0; n < 2; n++) {
                int factor = factors[n];
                if (ae_last_name(s, factor) == name) {
                    ae_say(hunt, AE_STRATEGY_C07, i, 0.78, "the host divides once for %s, and kernels multiply",
                           ae_name(code, name));
                    name = -1;
                    break;
                }
            }
        }
    }
}

/* C08 */
static void mixed(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    int entry_double = 0, entry_float = 0, device_float = 0, device_double = 0, half = -1, example = -1;
    for (int v = 0; v < code->variable_count; v++) {
        const struct ae_variable *x = &code->variables[v];
        if (x->function == code->entry && code->entry >= 0 && x->parameter) {
            entry_double += x->element == E_DOUBLE && x->pointer;
            entry_float += x->element == E_FLOAT && x->pointer;
        }
        if (x->function >= 0 && ae_on_device(code, x->function)) {
            device_double += x->element == E_DOUBLE;
            if (x->element == E_FLOAT) {
                device_float++;
                example = x->declaration;
            }
            if (x->element == E_HALF)
                half = x->declaration;
        }
    }
    /* Half types count where they are computed with, which bare storage is not. */
    if (half >= 0)
        ae_say(hunt, AE_STRATEGY_C08, half, 0.82, "device code computes in half precision");
    if (entry_double > 0 && entry_float == 0 && device_float > 0)
        ae_say(hunt, AE_STRATEGY_C08, example, device_float >= 3 ? 0.85 : 0.65,
               "device code has single precision where the interface has double");
    if (code->entry < 0 && device_float > 0 && device_double > 0)
        ae_doubt(hunt, AE_STRATEGY_C08, example,
                 "device code has both precisions, and there is no solution_compute to compare with");
    if (!hunt->input->reference || entry_double > 0 || device_float == 0)
        return;
    /* behind an interface in float: where the reference computes in double, a device that has no double, or one whose
     * sums or states are in float, computes in less */
    const int doubles = reference_doubles(hunt->input);
    const int sum = float_sum(code);
    if (doubles >= 3 && device_double == 0)
        ae_say(hunt, AE_STRATEGY_C08, example, 0.75,
               "device code is in single precision, where the reference computes in double");
    else if (doubles >= 3 && sum >= 0)
        ae_say(hunt, AE_STRATEGY_C08, sum, 0.7,
               "sums are formed in single precision, where the reference computes in double");
    else if (doubles >= 3 && reference_double_arrays(hunt->input) && float_state(code) >= 0)
        ae_say(hunt, AE_STRATEGY_C08, float_state(code), 0.75,
               "steps are made in single precision, where the reference makes them in double");
    else if (doubles > 0 && device_double == 0)
        ae_doubt(hunt, AE_STRATEGY_C08, example, "the reference computes in double behind an interface in float");
}

/* --- fronts --- */

/* Is it `front - member`: the index of a loop, or a parameter that a loop of the host gives, less one that threads tell
 * apart? */
static bool front_minus_member(struct ae_program *code, int node, int front)
{
    const struct ae_syntax *s = &code->syntax;
    if (ae_kind(s, node) != N_BINARY || !ae_text_is(s, ae_child(s, node, F_OPERATOR), "-"))
        return false;
    const int left = ae_strip(s, ae_child(s, node, F_LEFT)), right = ae_strip(s, ae_child(s, node, F_RIGHT));
    const struct ae_value member = ae_value_of(code, right);
    if (!(member.deps & (D_TX | D_TYZ | D_LANE)) || ((member.deps & D_LOADED) && member.coef == COEF_GATHER))
        return false;
    return ae_mentions(s, left, front) && !(ae_value_of(code, left).deps & (D_TX | D_TYZ | D_LANE));
}

static bool indexes(const struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    if (ae_ancestor(s, node, N_SUBSCRIPTS) >= 0)
        return true;
    /* int j = front - i; ... a[j] */
    const int init = ae_ancestor(s, node, N_INIT_DECLARATOR);
    int v = -1;
    if (init >= 0) {
        int declarator = ae_child(s, init, F_DECLARATOR);
        while (declarator >= 0 && ae_kind(s, declarator) != N_IDENTIFIER)
            declarator = ae_child(s, declarator, F_DECLARATOR);
        v = ae_variable_at(code, declarator);
    }
    if (v < 0)
        return false;
    for (int i = 0; i < code->access_count; i++)
        if (ae_mentions(s, ae_child(s, code->accesses[i].node, F_INDICES), code->variables[v].name) &&
            code->accesses[i].function == code->variables[v].function)
            return true;
    for (int c = 0; c < code->call_count; c++)
        if (code->calls[c].function == code->variables[v].function &&
            ae_mentions(s, code->calls[c].arguments, code->variables[v].name))
            return true;
    return false;
}

static bool goes_back(const struct ae_program *code, int function)
{
    const struct ae_syntax *s = &code->syntax;
    /* reads a neighbour at a lower index: x[i - 1], or by a shuffle */
    for (int i = 0; i < code->access_count; i++)
        if (code->accesses[i].function == function && code->accesses[i].read &&
            ae_text_has(s, code->accesses[i].node, "- 1"))
            return true;
    for (int c = 0; c < code->call_count; c++)
        if (code->calls[c].function == function && strncmp(ae_name(code, code->calls[c].name), "__shfl_up", 9) == 0)
            return true;
    return false;
}

/* Is the local variable made from the loop's counter: `const int l = step < levels ? step : 2 * levels - 1 - step`? */
static bool counted_by(const struct ae_program *code, int identifier, int counter)
{
    const int v = ae_variable_at(code, identifier);
    for (int a = 0; v >= 0 && a < code->assign_count; a++)
        if (code->assigns[a].variable == v && code->assigns[a].kind == ASSIGN_INIT &&
            ae_mentions(&code->syntax, code->assigns[a].right, counter))
            return true;
    return false;
}

/* Are members taken by the number of their bits: __popc(S) == size, or != to pass the others over? */
static bool members_by_count(const struct ae_program *code, int body, int size)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = body; body >= 0 && i < s->nodes[body].after; i++) {
        const int op = s->nodes[i].kind == N_BINARY ? ae_child(s, i, F_OPERATOR) : -1;
        if (op < 0 || !(ae_text_is(s, op, "==") || ae_text_is(s, op, "!=")))
            continue;
        const int left = ae_child(s, i, F_LEFT), right = ae_child(s, i, F_RIGHT);
        if ((ae_text_has(s, left, "__popc") && ae_mentions(s, right, size)) ||
            (ae_text_has(s, right, "__popc") && ae_mentions(s, left, size)))
            return true;
    }
    return false;
}

/* C10 */
static void wavefronts(struct ae_hunt *hunt)
{
    static const char *const levels[] = {"level", "lvl",       "color",      "colour",   "layer",
                                         "front", "wavefront", "diag",       "diagonal", "antidiagonal",
                                         "wave",  "plane",     "hyperplane", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C10, match) {
        const int l = ae_loop_at(code, match->at);
        if (l < 0 || code->loops[l].variable < 0)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        const int name = code->variables[loop->variable].name;
        if (loop->device) {
            if (loop->barrier && members_by_count(code, loop->body, name))
                ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.82,
                       "each round takes the sets of size %s, with a barrier behind it", ae_name(code, name));
            if (!loop->barrier && !ae_text_has(s, loop->node, "__shfl_up"))
                continue;
            for (int i = loop->body; i >= 0 && i < s->nodes[loop->body].after; i++)
                if (s->nodes[i].kind == N_BINARY && front_minus_member(code, i, name) && indexes(code, i)) {
                    ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.88,
                           "%s counts fronts: its members run in parallel, with a barrier behind each",
                           ae_name(code, name));
                    break;
                }
            /* members of a level: level_start[l] .. level_start[l + 1] */
        } else if (!loop->launch) {
            continue;
        }
        /* a launch a front: the kernel subtracts its member from the front's number */
        for (int c = 0; c < code->call_count && !loop->device; c++) {
            const struct ae_call_site *call = &code->calls[c];
            static const char *const fronts[] = {"front",        "wavefront",  "diag", "diagonal",
                                                 "antidiagonal", "hyperplane", NULL};
            if (!call->launches || call->target < 0 || !ae_loop_within(code, call->loop, l))
                continue;
            if (call->loop == l && ae_name_has_word(code, code->functions[call->target].name, fronts) &&
                ae_mentions(s, call->arguments, name))
                ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.82, "one launch a front: %s",
                       ae_name(code, code->functions[call->target].name));
            for (int v = code->functions[call->target].first_variable;
                 v < code->variable_count && code->variables[v].function == call->target &&
                 code->variables[v].parameter;
                 v++) {
                const int argument = ae_argument(code, call, code->variables[v].position);
                if (code->variables[v].pointer || argument < 0 ||
                    !(ae_mentions(s, argument, name) || (ae_kind(s, ae_strip(s, argument)) == N_IDENTIFIER &&
                                                         counted_by(code, ae_strip(s, argument), name))))
                    continue;
                if (members_by_count(code, code->functions[call->target].body, code->variables[v].name))
                    ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.82, "each round launches %s on the sets of one size",
                           ae_name(code, code->functions[call->target].name));
                const int body = code->functions[call->target].body;
                for (int i = body; body >= 0 && i < s->nodes[body].after; i++)
                    if (s->nodes[i].kind == N_BINARY && front_minus_member(code, i, code->variables[v].name) &&
                        indexes(code, i) &&
                        (goes_back(code, call->target) || ae_name_has_word(code, code->variables[v].name, levels) ||
                         ae_name_has_word(code, name, levels))) {
                        ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.88,
                               "each round launches %s on the members of front %s",
                               ae_name(code, code->functions[call->target].name), ae_name(code, name));
                        break;
                    }
            }
        }
        /* levels and colours: offsets at l and l + 1 by names that say so */
        bool here = false, next = false;
        const int body = loop->body;
        for (int i = body; body >= 0 && i < s->nodes[body].after; i++) {
            if (s->nodes[i].kind != N_SUBSCRIPT)
                continue;
            const int index = ae_strip(s, ae_nth(s, ae_child(s, i, F_INDICES), 0));
            const int array = ae_child(s, i, F_ARGUMENT);
            const int array_name = ae_last_name(s, array);
            bool named = ae_name_has_word(code, array_name, levels) || ae_name_has_word(code, name, levels);
            for (int k = loop->condition; loop->condition >= 0 && !named && k < s->nodes[loop->condition].after; k++)
                named = s->nodes[k].kind == N_IDENTIFIER && ae_name_has_word(code, s->nodes[k].name, levels);
            if (!named)
                continue;
            if (ae_kind(s, index) == N_IDENTIFIER) {
                here |= s->nodes[index].name == name || counted_by(code, index, name);
            } else if (ae_kind(s, index) == N_BINARY && ae_text_is(s, ae_child(s, index, F_RIGHT), "1")) {
                const int left = ae_child(s, index, F_LEFT);
                next |=
                    s->nodes[left].name == name || (ae_kind(s, left) == N_IDENTIFIER && counted_by(code, left, name));
            }
        }
        if (here && next && (loop->launch || loop->barrier))
            ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.88,
                   "the members of each %s run in parallel, one %s after the other", ae_name(code, name),
                   ae_name(code, name));
        static const char *const colours[] = {"color", "colour", NULL};
        if (ae_name_has_word(code, name, colours) && loop->launch)
            ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.85, "one launch a colour");
        static const char *const fronts[] = {"front",        "wavefront", "diag",       "diagonal",
                                             "antidiagonal", "wave",      "hyperplane", NULL};
        if (ae_name_has_word(code, name, fronts) && (loop->launch || (loop->device && loop->barrier)))
            ae_say(hunt, AE_STRATEGY_C10, loop->node, 0.82, "%s counts fronts whose members run in parallel",
                   ae_name(code, name));
    }
}

/* C11: doubling distances, and ranks among voters. */
static void scans(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C11, match) {
        if (ae_role(hunt, match, "shuffle")) {
            const struct ae_call_site *call = ae_call_at(code, match->at);
            const int distance = call ? ae_argument(code, call, ae_named(code, call->name, "shfl_up") ? 1 : 2) : -1;
            bool doubling = false;
            for (int l = code->loop_of[match->at]; l >= 0; l = code->loops[l].parent)
                doubling |= code->loops[l].geometric && code->loops[l].variable >= 0 &&
                            ae_mentions(s, distance, code->variables[code->loops[l].variable].name);
            const struct ae_value v = ae_value_of(code, distance);
            if (doubling || (v.constness == CONST_KNOWN && v.number >= 4) || ae_text_has(s, distance, "<<"))
                ae_say(hunt, AE_STRATEGY_C11, match->at, 0.93,
                       "a scan of the warp: values from doubling distances below are added");
        } else if (ae_role(hunt, match, "rank")) {
            const int argument = ae_strip(s, ae_nth(s, ae_child(s, match->at, F_ARGUMENTS), 0));
            if (ae_kind(s, argument) != N_BINARY || !ae_text_is(s, ae_child(s, argument, F_OPERATOR), "&"))
                continue;
            static const char *const below[] = {"lt", "below", "lanemask", "lower", "before", "prefix", NULL};
            bool rank = ae_text_has(s, argument, "lanemask");
            for (int i = argument; i < s->nodes[argument].after; i++) {
                rank |= s->nodes[i].name >= 0 && ae_name_has_word(code, s->nodes[i].name, below);
                if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "-") &&
                    ae_text_has(s, ae_child(s, i, F_LEFT), "<<") &&
                    ((ae_value_of(code, i).deps & (D_TX | D_LANE)) != 0))
                    rank = true;
            }
            if (rank)
                ae_say(hunt, AE_STRATEGY_C11, match->at, 0.88, "each voter's place is the number of voters below it");
        } else if (ae_role(hunt, match, "combine")) {
            /* s[t] += s[t - d] with d doubling, or from a copy: out[t] = in[t] + in[t - d] */
            const int l = code->loop_of[match->at];
            int outer = l;
            while (outer >= 0 && !code->loops[outer].geometric)
                outer = code->loops[outer].parent;
            if (outer < 0 || code->loops[outer].variable < 0)
                continue;
            const int distance = code->variables[code->loops[outer].variable].name;
            for (int i = match->b; i < s->nodes[match->b].after; i++) {
                const struct ae_access *a = s->nodes[i].kind == N_SUBSCRIPT ? ae_access_at(code, i) : NULL;
                if (!a || a->space != SPACE_SHARED || a->last_index < 0)
                    continue;
                for (int k = a->last_index; k < s->nodes[a->last_index].after; k++)
                    if (s->nodes[k].kind == N_BINARY && ae_text_is(s, ae_child(s, k, F_OPERATOR), "-") &&
                        ae_mentions(s, ae_child(s, k, F_RIGHT), distance) &&
                        !ae_mentions(s, ae_child(s, k, F_LEFT), distance)) {
                        ae_say(hunt, AE_STRATEGY_C11, match->at, 0.88,
                               "a scan of the block: values at doubling distances below are combined");
                        break;
                    }
            }
        }
    }
}

/* --- C12 --- */

/* Do data decide the condition, rather than indices against bounds? */
static bool decided_by_data(struct ae_program *code, int condition)
{
    const struct ae_syntax *s = &code->syntax;
    const struct ae_value v = ae_value_of(code, condition);
    if (v.deps & (D_LOADED | D_FLOAT | D_CALLED))
        return true;
    for (int i = condition; condition >= 0 && i < s->nodes[condition].after; i++)
        if (s->nodes[i].kind == N_IDENTIFIER) {
            const int x = ae_variable_at(code, i);
            for (int a = 0; x >= 0 && a < code->assign_count; a++) /* any |= set.word[w] */
                if (code->assigns[a].variable == x && code->assigns[a].kind == ASSIGN_OR)
                    return true;
            if (x >= 0 && code->variables[x].function >= 0 &&
                (code->variables[x].element == E_FLOAT || code->variables[x].element == E_DOUBLE ||
                 code->variables[x].element == E_BOOL))
                return true;
        }
    return false;
}

static int condition_of(const struct ae_syntax *s, int node, int stop)
{
    for (int n = s->nodes[node].parent; n >= 0 && n != stop; n = s->nodes[n].parent)
        if (ae_kind(s, n) == N_IF)
            return ae_child(s, n, F_CONDITION);
    return -1;
}

/* Is the loop's way out decided by what an atomic handed out (B02) or by a search that halves? */
static bool fetches_work(const struct ae_program *code, int condition)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = condition; condition >= 0 && i < s->nodes[condition].after; i++) {
        if (s->nodes[i].kind == N_CALL &&
            strncmp(ae_name(code, ae_last_name(s, ae_child(s, i, F_FUNCTION))), "atomic", 6) == 0)
            return true;
        if (s->nodes[i].kind != N_IDENTIFIER)
            continue;
        const int v = ae_variable_at(code, i);
        if (v >= 0 && code->variables[v].element != E_BOOL && code->variables[v].value.deps & D_ATOMIC)
            return true;
        for (int a = 0; v >= 0 && a < code->assign_count; a++)
            if (code->assigns[a].variable == v && code->assigns[a].right >= 0 &&
                ae_text_has(s, code->assigns[a].right, "atomic"))
                return true;
    }
    return false;
}

/* Does the loop store or call on others, rather than wait? */
static bool works(const struct ae_program *code, int l)
{
    for (int i = 0; i < code->access_count; i++)
        if (code->accesses[i].write && ae_loop_within(code, code->accesses[i].loop, l))
            return true;
    return false;
}

/* A loop without an end of its own that draws random numbers until one is accepted: nothing is skipped. */
static bool drawn_again(const struct ae_program *code, int l, int condition)
{
    const struct ae_syntax *s = &code->syntax;
    const int end = ae_strip(s, code->loops[l].condition);
    if (end >= 0 && ae_kind(s, end) != N_TRUE && !ae_text_is(s, end, "(true)") && !ae_text_is(s, end, "1"))
        return false;
    return ae_text_has(s, condition, "curand") || ae_text_has(s, condition, "uniform") ||
           ae_text_has(s, condition, "random");
}

static void early_exits(struct ae_hunt *hunt)
{
    static const char *const waits[] = {"volatile", "atomic", "__ldcg", "ld_acquire", NULL};
    static const char *const convergence[] = {
        "changed", "change",  "converged", "done", "active", "residual", "err",      "error",   "tol",      "tolerance",
        "eps",     "epsilon", "stop",      "diff", "delta",  "flag",     "modified", "updated", "finished", "improved",
        "norm",    "gap",     "moved",     "more", "again",  "any",      "empty",    "hooked",  "stable",   NULL};
    static const char *const visited[] = {"visited", "seen",   "pruned",  "skip",   "bound",
                                          "box",     "cutoff", "settled", "closed", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C12, match) {
        const int l = ae_role(hunt, match, "loop") ? ae_loop_at(code, match->at) : code->loop_of[match->at];
        if (l < 0)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        int condition = -1;
        if (ae_role(hunt, match, "loop")) {
            condition = loop->condition;
            bool flagged = false;
            for (int i = condition; condition >= 0 && i < s->nodes[condition].after; i++)
                if (s->nodes[i].kind == N_IDENTIFIER)
                    flagged |= ae_name_has_word(code, s->nodes[i].name, convergence);
            for (int a = 0; a < code->assign_count && flagged;
                 a++) /* while (bits) { bits &= bits - 1; }: a walk over a set */
                flagged = !(code->assigns[a].kind == ASSIGN_AND && ae_loop_within(code, code->assigns[a].loop, l) &&
                            code->assigns[a].variable >= 0 &&
                            ae_mentions(s, condition, code->variables[code->assigns[a].variable].name));
            if (!flagged && !loop->launch)
                continue;
        } else {
            /* out of a switch is not out of the loop */
            const int change = ae_ancestor(s, match->at, N_SWITCH);
            if (ae_kind(s, match->at) == N_BREAK && change > loop->node)
                continue;
            condition = condition_of(s, match->at, loop->node);
        }
        if (condition < 0)
            continue;
        if (loop->device) {
            if (!decided_by_data(code, condition) || fetches_work(code, condition))
                continue;
            bool waiting = false; /* a barrier by hand; a break behind other work reads a flag */
            for (const char *const *w = waits; *w; w++)
                waiting |= ae_text_has(s, condition, *w);
            if (waiting &&
                !(ae_kind(s, match->at) == N_BREAK && ae_text_has(s, condition, "volatile") && works(code, l)))
                continue;
            if (ae_role(hunt, match, "out") && drawn_again(code, l, condition))
                continue;
            if (ae_role(hunt, match, "skip")) {
                bool named = false;
                for (int i = condition; i < s->nodes[condition].after; i++)
                    named |= s->nodes[i].name >= 0 && ae_name_has_word(code, s->nodes[i].name, visited);
                if (!named)
                    continue;
                ae_say(hunt, AE_STRATEGY_C12, match->at, 0.72, "items that cannot matter are passed over");
                continue;
            }
            if (ae_role(hunt, match, "loop")) {
                /* the loop's own index and the bound alone end most loops */
                ae_say(hunt, AE_STRATEGY_C12, condition, 0.8, "the loop ends when its data have settled");
                continue;
            }
            ae_say(hunt, AE_STRATEGY_C12, match->at, 0.85, "a loop in device code ends as soon as its data decide");
        } else if (loop->launch) {
            /* a flag or value that came back from the device decides */
            bool flag = false;
            for (int i = condition; i < s->nodes[condition].after; i++) {
                if (s->nodes[i].kind != N_IDENTIFIER || (loop->variable >= 0 && loop->step_kind != ASSIGN_OTHER &&
                                                         s->nodes[i].name == code->variables[loop->variable].name))
                    continue;
                bool copied = false;
                for (int c = 0; c < code->call_count && !copied; c++) {
                    const struct ae_call_site *call = &code->calls[c];
                    copied =
                        call->function == loop->function && ae_is_below(s, call->node, loop->node) &&
                        (strncmp(ae_name(code, call->name), "cudaMemcpy", 10) == 0 ||
                         strstr(ae_name(code, call->name), "download") || strstr(ae_name(code, call->name), "read") ||
                         strstr(ae_name(code, call->name), "fetch")) &&
                        ae_mentions(s, call->arguments, s->nodes[i].name);
                }
                flag |= copied;
                const int v = ae_variable_at(code, i);
                for (int a = 0; v >= 0 && a < code->assign_count && !flag;
                     a++) { /* a value that a function reads back */
                    const struct ae_assign *x = &code->assigns[a];
                    if (x->variable != v || x->right < 0 || !ae_is_below(s, x->node, loop->node))
                        continue;
                    flag = ae_name_has_word(code, code->variables[v].name, convergence) && x->kind != ASSIGN_STEP;
                    /* or that the host makes from what came back */
                    for (int c = 0; c < code->call_count && !flag && x->kind == ASSIGN_SET; c++) {
                        const int back = strncmp(ae_name(code, code->calls[c].name), "cudaMemcpy", 10) == 0 &&
                                                 ae_is_below(s, code->calls[c].node, loop->node) &&
                                                 ae_text_has(s, code->calls[c].arguments, "DeviceToHost")
                                             ? ae_variable_at(code, ae_argument(code, &code->calls[c], 0))
                                             : -1;
                        flag = back >= 0 && ae_mentions(s, x->right, code->variables[back].name);
                    }
                    for (int c = 0; c < code->call_count && !flag; c++) {
                        const int target = code->calls[c].target;
                        if (!ae_is_below(s, code->calls[c].node, x->right))
                            continue;
                        flag = ae_text_has(s, code->calls[c].callee, "thrust::") &&
                               !ae_text_has(s, code->calls[c].callee, "pointer");
                        for (int d = 0; target >= 0 && d < code->call_count && !flag; d++)
                            flag = code->calls[d].function == target &&
                                   strncmp(ae_name(code, code->calls[d].name), "cudaMemcpy", 10) == 0;
                    }
                }
            }
            if (flag)
                ae_say(hunt, AE_STRATEGY_C12, ae_role(hunt, match, "out") ? match->at : condition, 0.88,
                       "the host stops as soon as the device reports that it is done");
        }
    }
}

/* C14 */
static void libraries(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_C14, match) {
        if (ae_role(hunt, match, "library")) {
            static const char *const setup[] = {
                "cublasSetStream",        "cublasCreate",          "cublasDestroy",        "cublasSetMathMode",
                "cublasSetPointerMode",   "cublasDestroy_v2",      "cublasGetStream",      "cublasSetWorkspace",
                "cublasSetVector",        "cublasSetMatrix",       "cublasGetVector",      "cublasGetMatrix",
                "cusparseSetStream",      "cusparseDestroy",       "cusparseDestroySpMat", "cusparseDestroyDnVec",
                "cusparseSetPointerMode", "cusolverDnCreate",      "cusolverDnDestroy",    "cusolverDnSetStream",
                "cublasGetVersion",       "cublasGetStatusString", "curand_init",          NULL};
            const int name = ae_last_name(s, match->what);
            if (!ae_name_among(code, name, setup))
                ae_say(hunt, AE_STRATEGY_C14, match->at, 0.94, "%s does this step", ae_name(code, name));
        } else if (ae_role(hunt, match, "algorithm")) {
            const int function = ae_child(s, match->at, F_FUNCTION);
            if (ae_kind(s, function) != N_QUALIFIED)
                continue;
            const bool device = ae_on_device(code, code->function_of[match->at]);
            if (ae_text_has(s, function, "thrust::") || ae_text_has(s, function, "cub::") ||
                (device && (ae_text_has(s, function, "cg::") || ae_text_has(s, function, "cooperative_groups::")))) {
                if (ae_text_has(s, match->at, "thrust::host") || (ae_text_has(s, function, "thrust::") && device))
                    continue;
                ae_say(hunt, AE_STRATEGY_C14, match->at, 0.93, "%s of a library does this step",
                       ae_name(code, ae_last_name(s, function)));
            }
        }
    }
}

void ae_rules_compute(struct ae_hunt *hunt)
{
    ae_doubt(hunt, AE_STRATEGY_C01, -1, "how many passes the reference makes is for a reader to say");
    ae_doubt(hunt, AE_STRATEGY_C02, -1,
             "whether this is another algorithm than the reference's is for a reader to say");
    precomputed(hunt);
    unrolled(hunt);
    specialised(hunt);
    reciprocals(hunt);
    host_reciprocals(hunt);
    mixed(hunt);
    wavefronts(hunt);
    scans(hunt);
    early_exits(hunt);
    libraries(hunt);
}
