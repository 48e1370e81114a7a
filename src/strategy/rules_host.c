/* Rules of class H: what the host does around its launches. */
#include "strategy/hunt.h"

#include <string.h>

#define S (&hunt->code->syntax)

static bool is_copy(const struct ae_program *code, const struct ae_call_site *call)
{
    return strncmp(ae_name(code, call->name), "cudaMemcpy", 10) == 0;
}

static bool to_device(const struct ae_program *code, const struct ae_call_site *call)
{
    return is_copy(code, call) && ae_text_has(&code->syntax, call->arguments, "HostToDevice");
}

static bool to_host(const struct ae_program *code, const struct ae_call_site *call)
{
    return is_copy(code, call) && ae_text_has(&code->syntax, call->arguments, "DeviceToHost");
}

static bool waits_for_device(const struct ae_program *code, const struct ae_call_site *call)
{
    static const char *const waits[] = {"cudaDeviceSynchronize",
                                        "cudaStreamSynchronize",
                                        "cudaEventSynchronize",
                                        "cudaMemcpy",
                                        "cudaMemcpy2D",
                                        "cudaMemcpyFromSymbol",
                                        "cudaFree",
                                        NULL};
    return ae_name_among(code, call->name, waits);
}

/* H01: the ring of pinned slots of tasks/common/transfer.cuh. */
static void fast_transfers(struct ae_hunt *hunt)
{
    AE_EACH_MATCH (hunt, AE_STRATEGY_H01, match)
        if (ae_role(hunt, match, "staged") && ae_text_has(S, match->what, "transfer::"))
            ae_say(hunt, AE_STRATEGY_H01, match->at, 0.9,
                   "host memory goes through pinned slots that several threads fill or empty");
}

/* H02 */
static void overlapped(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    int streams = 0;
    AE_EACH_MATCH (hunt, AE_STRATEGY_H01, match)
        if (ae_text_is(s, match->what, "transfer::pipeline"))
            ae_say(hunt, AE_STRATEGY_H02, match->at, 0.9,
                   "pieces pass through a ring of slots: some are copied while others are computed on");
    AE_EACH_MATCH (hunt, AE_STRATEGY_H02, match) {
        if (!ae_role(hunt, match, "stream"))
            continue;
        const int argument = ae_strip(s, ae_nth(s, ae_child(s, match->at, F_ARGUMENTS), 0));
        streams += code->loop_of[match->at] >= 0 || ae_text_has(s, argument, "[") ? 2 : 1;
    }
    if (streams < 2)
        return;
    AE_EACH_MATCH (hunt, AE_STRATEGY_H02, match) {
        const int l = code->loop_of[match->at];
        if (!ae_role(hunt, match, "copy") || l < 0)
            continue;
        const struct ae_call_site *copy = ae_call_at(code, match->at);
        /* on a stream that changes from chunk to chunk, or while another stream computes */
        const int stream = copy ? ae_argument(code, copy, 4) : -1;
        if (stream < 0)
            continue;
        int outer = l;
        while (outer >= 0 && !code->loops[outer].launch)
            outer = code->loops[outer].parent;
        bool waits = false;
        for (int c = 0; c < code->call_count && outer >= 0; c++)
            waits |= code->calls[c].function == copy->function && ae_loop_within(code, code->calls[c].loop, outer) &&
                     ae_named(code, code->calls[c].name, "cudaDeviceSynchronize");
        if (outer >= 0 && !waits)
            ae_say(hunt, AE_STRATEGY_H02, match->at, 0.9,
                   "copies and kernels of different chunks are on different streams");
    }
}

/* How often the reference mentions the name. */
static int mentioned(const struct ae_strategy_input *input, const char *name)
{
    const size_t n = strlen(name);
    int count = 0;
    for (size_t i = 0; input->reference && i + n <= input->reference_size; i++)
        count += memcmp(input->reference + i, name, n) == 0;
    return count;
}

/* Is the pointer a cursor in what the arguments name: int *at = packed.data(), and packed is copied? */
static bool made_from(const struct ae_program *code, int cursor, int arguments)
{
    const int initial = code->variables[cursor].initial;
    const int whole = initial < 0 ? -1 : ae_variable_at(code, initial);
    return whole >= 0 && whole != cursor && ae_mentions(&code->syntax, arguments, code->variables[whole].name);
}

/* H03: several arrays packed on the host, and one copy. */
static void packed(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int f = 0; f < code->function_count; f++) {
        if (!code->functions[f].host)
            continue;
        enum { MOST = 64 };
        int targets[MOST], counts[MOST], places[MOST], count = 0;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            const bool plain = ae_named(code, call->name, "memcpy"),
                       std = ae_named(code, call->name, "copy") || ae_named(code, call->name, "copy_n");
            if (call->function != f || !(plain || std))
                continue;
            const int to = ae_argument(code, call, plain ? 0 : 2);
            const int v = ae_variable_at(code, to);
            if (v < 0)
                continue;
            int k = 0;
            while (k < count && targets[k] != v)
                k++;
            if (k == count && count < MOST) {
                targets[count] = v;
                counts[count] = 0;
                places[count++] = call->node;
            }
            /* a lambda that appends is called for each array */
            const int declared = ae_ancestor(s, ae_ancestor(s, call->node, N_LAMBDA), N_INIT_DECLARATOR),
                      lambda = declared > code->functions[f].body ? ae_child(s, declared, F_DECLARATOR) : -1;
            int appends = 0;
            for (int d = 0; lambda >= 0 && s->nodes[lambda].name >= 0 && d < code->call_count; d++)
                appends += code->calls[d].name == s->nodes[lambda].name;
            const bool append = appends >= 2;
            if (k < MOST)
                counts[k] += call->loop >= 0 || append ? 2 : 1;
        }
        for (int k = 0; k < count; k++) {
            if (counts[k] < 2)
                continue;
            for (int c = 0; c < code->call_count; c++)
                if (code->calls[c].function == f && code->calls[c].node > places[k] &&
                    (to_device(code, &code->calls[c]) || strstr(ae_name(code, code->calls[c].name), "upload")) &&
                    (ae_mentions(s, code->calls[c].arguments, code->variables[targets[k]].name) ||
                     made_from(code, targets[k], code->calls[c].arguments))) {
                    ae_say(hunt, AE_STRATEGY_H03, places[k], 0.85,
                           "inputs are packed into %s and go to the device in one copy",
                           ae_name(code, code->variables[targets[k]].name));
                    break;
                }
        }
    }
    /* an input that is not even looked at can be derived from the others */
    for (int v = 0; v < code->variable_count && code->entry >= 0; v++) {
        const struct ae_variable *x = &code->variables[v];
        if (x->function != code->entry || !x->parameter || !x->pointer || !x->points_to_const)
            continue;
        const int body = code->functions[code->entry].body;
        bool used = false;
        for (int i = body; body >= 0 && i < s->nodes[body].after && !used; i++)
            if (s->nodes[i].name == x->name && s->nodes[i].kind == N_IDENTIFIER)
                used = ae_kind(s, s->nodes[s->nodes[i].parent].parent) != N_EXPRESSION_STATEMENT ||
                       ae_kind(s, s->nodes[i].parent) != N_CAST;
        if (used)
            continue;
        /* nor by the reference: then it is no input at all */
        const int mentions = mentioned(hunt->input, ae_name(code, x->name));
        if (mentions > 2)
            ae_say(hunt, AE_STRATEGY_H03, x->node, 0.75,
                   "%s does not cross the bus: the device makes what it needs of it", ae_name(code, x->name));
        else
            ae_doubt(hunt, AE_STRATEGY_H03, x->node,
                     "%s does not cross the bus; whether it is an input that matters is for a reader to say",
                     ae_name(code, x->name));
    }
    /* parameters that travel with the launch, data made by a kernel that reads no array */
    for (int f = 0; f < code->function_count; f++) {
        static const char *const makes[] = {"init",  "initialise", "initialize", "generate", "make",
                                            "build", "expand",     "setup",      NULL};
        if (!code->functions[f].kernel || !ae_name_has_word(code, code->functions[f].name, makes))
            continue;
        bool reads = false, writes = false;
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *a = &code->accesses[i];
            if (a->function != f || a->space != SPACE_GLOBAL)
                continue;
            reads |= a->read && !a->write;
            const int assignment = s->nodes[a->node].parent;
            const int right =
                ae_kind(s, assignment) == N_ASSIGNMENT ? ae_strip(s, ae_child(s, assignment, F_RIGHT)) : -1;
            writes |= a->write && !a->atomic && right >= 0 && ae_value_of(code, right).constness == CONST_NO;
        }
        if (writes && !reads)
            ae_doubt(hunt, AE_STRATEGY_H03, code->functions[f].node,
                     "%s makes data on the device; whether a copy is saved by that is for a reader to say",
                     ae_name(code, code->functions[f].name));
    }
}

/* What a block of memory is carved into, behind the allocation. */
struct carving {
    int pieces;  /* pointers, fields and members of structures made from it, and from these in turn */
    int offsets; /* places in it handed to kernels and copies */
};

static struct carving carved(const struct ae_program *code, int variable, int allocation)
{
    enum { MOST = 32 };
    const struct ae_syntax *s = &code->syntax;
    const int name = code->variables[variable].name, function = code->function_of[allocation];
    int names[MOST] = {name}, count = 1;
    struct carving c = {0};
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *x = &code->assigns[a];
        if (x->right < 0 || x->node < allocation || x->function != function)
            continue;
        bool mentions = false, chained = false;
        for (int k = 0; k < count && !mentions; k++) {
            mentions = ae_mentions(s, x->right, names[k]);
            chained = mentions && k > 0;
        }
        if (!mentions)
            continue;
        const int target = x->variable, right = ae_strip(s, x->right);
        const bool field = target < 0 && ae_kind(s, x->target) == N_FIELD;
        /* of a piece only what lies behind it is another */
        if (chained && !(ae_kind(s, right) == N_BINARY && ae_text_is(s, ae_child(s, right, F_OPERATOR), "+") &&
                         x->kind == ASSIGN_INIT))
            continue;
        if (ae_kind(s, right) == N_INITIALIZERS) { /* Graph g = {memory, memory + n} */
            int moved = 0;
            for (int n = 0; ae_nth(s, right, n) >= 0; n++)
                moved += ae_kind(s, ae_strip(s, ae_nth(s, right, n))) == N_BINARY &&
                         ae_mentions(s, ae_nth(s, right, n), name);
            c.pieces += moved;
            continue;
        }
        c.pieces += (target >= 0 && target != variable && code->variables[target].pointer) || field ||
                    ae_text_has(s, x->right, "_cast<") || (target == variable && x->kind == ASSIGN_ADD);
        if (target >= 0 && target != variable && code->variables[target].pointer && x->kind == ASSIGN_INIT &&
            count < MOST)
            names[count++] = code->variables[target].name;
    }
    /* by a lambda that gives out pieces */
    for (int i = 0; i < s->count; i++)
        if (s->nodes[i].kind == N_LAMBDA && code->function_of[i] == function && ae_mentions(s, i, name) &&
            ae_text_has(s, i, "return") && ae_text_has(s, i, "+")) {
            const int init = ae_ancestor(s, i, N_INIT_DECLARATOR), declarator = ae_child(s, init, F_DECLARATOR);
            for (int k = 0; declarator >= 0 && k < code->call_count; k++)
                c.pieces += code->calls[k].name >= 0 && code->calls[k].name == s->nodes[declarator].name;
        }
    /* handed to kernels and copies at offsets */
    for (int k = 0; k < code->call_count; k++)
        for (int n = 0; code->calls[k].function == function && code->calls[k].node > allocation && n < 16; n++) {
            const int argument = ae_strip(s, ae_argument(code, &code->calls[k], n));
            if (argument < 0)
                break;
            if (ae_kind(s, argument) != N_BINARY || !ae_text_is(s, ae_child(s, argument, F_OPERATOR), "+"))
                continue;
            bool mentions = false;
            for (int m = 0; m < count; m++)
                mentions |= ae_mentions(s, argument, names[m]);
            c.offsets += mentions ? (code->calls[k].loop >= 0 ? 2 : 1) : 0;
        }
    return c;
}

/* H04: one allocation in a function, several arrays in it. */
static void arenas(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_H04, match) {
        if (!ae_role(hunt, match, "malloc") || code->loop_of[match->at] >= 0)
            continue;
        int others = 0;
        AE_EACH_MATCH (hunt, AE_STRATEGY_H04, other)
            others += ae_role(hunt, other, "malloc") && other->at != match->at &&
                      code->function_of[other->at] == code->function_of[match->at];
        const int variable = ae_variable_at(code, ae_nth(s, ae_child(s, match->at, F_ARGUMENTS), 0));
        /* memory that outlives the call is another matter, and forbidden */
        if (variable >= 0 &&
            (code->variables[variable].function == -1 ||
             ae_text_has(s, ae_first_of(s, code->variables[variable].declaration, N_STORAGE), "static")))
            continue;
        if (variable < 0)
            continue;
        /* beside other allocations only what is clearly several arrays */
        const struct carving c = carved(code, variable, match->at);
        if (others == 0 ? c.pieces >= 2 || c.offsets >= 2 || (c.pieces == 1 && c.offsets >= 1) : c.pieces >= 3)
            ae_say(hunt, AE_STRATEGY_H04, match->at, 0.9, "one allocation, %s, is carved up for several arrays",
                   ae_name(code, code->variables[variable].name));
    }
}

/* Does every round of the loop wait? A wait under a test of the round's number happens rarely. */
static bool waits_each_round(const struct ae_program *code, int l, int *ret_rare)
{
    const struct ae_syntax *s = &code->syntax;
    const struct ae_loop *loop = &code->loops[l];
    bool waits = false;
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        bool wait = (waits_for_device(code, call) &&
                     !(is_copy(code, call) && ae_text_has(s, call->arguments, "DeviceToDevice"))) ||
                    strstr(ae_name(code, call->name), "download");
        int inside = ae_loop_within(code, call->loop, l);
        if (!wait && call->target >= 0 && code->functions[call->target].host && inside) {
            /* a function of the host that waits */
            for (int d = 0; d < code->call_count; d++)
                wait |= code->calls[d].function == call->target && waits_for_device(code, &code->calls[d]) &&
                        !ae_named(code, code->calls[d].name, "cudaFree");
        }
        if (!wait || !inside || call->function != loop->function)
            continue;
        /* thrust::reduce and the like return a value, and wait for it: not seen here */
        bool rare = false;
        for (int n = call->node; n >= 0 && n != loop->node; n = s->nodes[n].parent)
            if (ae_kind(s, n) == N_IF) {
                const int condition = ae_child(s, n, F_CONDITION);
                if (ae_text_has(s, condition, "%") || ae_text_has(s, condition, "& "))
                    rare = true;
            }
        if (rare)
            *ret_rare = call->node;
        else
            waits = true;
    }
    return waits;
}

/* Does every launch in the loop write only where the loop's counter points to: pieces or problems of their own, and no
 * iteration? */
static bool separate(const struct ae_program *code, int l)
{
    const struct ae_syntax *s = &code->syntax;
    if (code->loops[l].variable < 0)
        return false;
    const int name = code->variables[code->loops[l].variable].name;
    bool any = false;
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!call->launches || call->target < 0 || !ae_loop_within(code, call->loop, l))
            continue;
        for (int v = code->functions[call->target].first_variable;
             v < code->variable_count && code->variables[v].function == call->target && code->variables[v].parameter;
             v++) {
            const int argument = ae_argument(code, call, code->variables[v].position);
            bool written = false;
            for (int i = 0; i < code->access_count && !written; i++)
                written = code->accesses[i].write && ae_array_of(code, &code->accesses[i]) == v;
            if (!code->variables[v].pointer || !written || argument < 0)
                continue;
            if (!ae_mentions(s, argument, name))
                return false;
            any = true;
        }
    }
    return any;
}

/* Can a launch of one round read what an earlier one wrote? Arrays are followed by name; what cannot be followed (a
 * kernel of another file, structures of pointers, buffers that are exchanged) may. */
static bool depends_on_rounds(const struct ae_program *code, int l)
{
    enum { MOST = 64 };
    int read[MOST], written[MOST], reads = 0, writes = 0;
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!ae_loop_within(code, call->loop, l) || call->function != code->loops[l].function)
            continue;
        if (ae_named(code, call->name, "swap"))
            return true;
        if (call->target >= 0 && !call->launches && code->functions[call->target].host)
            return true;
        if (!call->launches)
            continue;
        if (call->target < 0 || call->launch < 0)
            return true;
        for (int v = code->functions[call->target].first_variable;
             v < code->variable_count && code->variables[v].function == call->target && code->variables[v].parameter;
             v++) {
            const struct ae_variable *x = &code->variables[v];
            if (!x->pointer && x->element == E_OTHER)
                return true;
            if (!x->pointer)
                continue;
            const int handed = ae_variable_at(code, ae_argument(code, call, x->position));
            if (handed < 0)
                return true;
            bool is_read = false, is_written = false, seen = false;
            for (int i = 0; i < code->access_count; i++)
                if (code->accesses[i].root == v || ae_array_of(code, &code->accesses[i]) == v ||
                    code->accesses[i].variable == v) {
                    is_read |= code->accesses[i].read;
                    is_written |= code->accesses[i].write;
                    seen = true;
                }
            if (!seen) /* handed on */
                return true;
            if (is_read && reads < MOST)
                read[reads++] = handed;
            if (is_written && writes < MOST)
                written[writes++] = handed;
        }
    }
    for (int r = 0; r < reads; r++)
        for (int w = 0; w < writes; w++)
            if (read[r] == written[w])
                return true;
    for (int a = 0; a < code->assign_count; a++)
        if (ae_loop_within(code, code->assigns[a].loop, l) && code->assigns[a].variable >= 0 &&
            code->variables[code->assigns[a].variable].pointer &&
            (code->assigns[a].kind == ASSIGN_SET || code->assigns[a].kind == ASSIGN_INIT))
            return true;
    return false;
}

/* H05 */
static void resident(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_H05, match) {
        const int l = ae_loop_at(code, match->at);
        if (l < 0 || !code->loops[l].launch || (code->loops[l].trips >= 0 && code->loops[l].trips <= 2))
            continue;
        /* the innermost loop that launches is the iteration */
        int rare = -1;
        if (waits_each_round(code, l, &rare))
            continue;
        bool chunks = false, allocates = false;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (!ae_loop_within(code, call->loop, l) || call->function != code->loops[l].function)
                continue;
            chunks |= to_device(code, call) || (to_host(code, call) && rare < 0);
            allocates |= strncmp(ae_name(code, call->name), "cudaMalloc", 10) == 0 ||
                         strncmp(ae_name(code, call->name), "cudaHost", 8) == 0;
        }
        if (separate(code, l) || !depends_on_rounds(code, l))
            continue;
        /* pieces that are copied in turn are no iteration, nor is what a ring of slots asks for */
        for (int outer = code->loops[l].parent; outer >= 0; outer = code->loops[outer].parent)
            for (int c = 0; c < code->call_count; c++)
                chunks |= code->calls[c].loop == outer && code->calls[c].function == code->loops[l].function &&
                          is_copy(code, &code->calls[c]) && ae_text_has(s, code->calls[c].node, "Async");
        for (int n = ae_ancestor(s, code->loops[l].node, N_LAMBDA); n >= 0; n = ae_ancestor(s, n, N_LAMBDA))
            chunks |= ae_kind(s, s->nodes[n].parent) == N_ARGUMENTS;
        if (chunks || allocates)
            continue;
        if (rare >= 0)
            ae_say(hunt, AE_STRATEGY_H05, match->at, 0.9, "the host asks for an answer in few of the rounds only");
        else
            ae_say(hunt, AE_STRATEGY_H05, match->at, 0.85,
                   "rounds follow each other on the device without an answer to the host");
    }
    if (hunt->tally[AE_STRATEGY_P07].confidence >= 0.5)
        ae_say(hunt, AE_STRATEGY_H05, -1, 0.85, "the loop over rounds is on the device");
}

/* H07 */
static void split(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_H07, match) {
        const int l = ae_kind(s, match->at) == N_OTHER ? -1 : ae_loop_at(code, match->at);
        if (l < 0 || code->loops[l].device || code->loops[l].launch)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        /* the loop makes values of the host: it stores elements and asks nothing of the device */
        int stores = 0;
        bool asks = false;
        for (int i = 0; i < code->access_count; i++)
            stores += code->accesses[i].write && ae_is_below(s, code->accesses[i].node, loop->body);
        for (int a = 0; a < code->assign_count; a++)
            stores += code->assigns[a].variable >= 0 &&
                      (code->assigns[a].kind == ASSIGN_ADD ||
                       (code->assigns[a].kind == ASSIGN_SET && !code->variables[code->assigns[a].variable].pointer &&
                        ae_mentions(s, code->assigns[a].right, code->variables[code->assigns[a].variable].name))) &&
                      ae_is_below(s, code->assigns[a].node, loop->body);
        for (int c = 0; c < code->call_count; c++)
            asks |= ae_is_below(s, code->calls[c].node, loop->node) &&
                    strncmp(ae_name(code, code->calls[c].name), "cuda", 4) == 0;
        if (stores == 0 || asks)
            continue;
        /* between a launch and the wait for it, in the same list of statements */
        int before = -1, after = -1;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (call->function != loop->function)
                continue;
            const bool async = call->launches || strstr(ae_name(code, call->name), "Async");
            if (call->node < loop->node && async)
                before = call->node;
            if (call->node < loop->node && waits_for_device(code, call))
                before = -1;
            if (call->node >= s->nodes[loop->node].after && waits_for_device(code, call) &&
                !ae_named(code, call->name, "cudaFree") && after < 0)
                after = call->node;
        }
        if (before >= 0 && after >= 0)
            ae_say(hunt, AE_STRATEGY_H07, loop->node, 0.85, "the host computes here while the device is at work");
    }
    /* or functions of the host that compute */
    for (int c = 0; c < code->call_count && !ae_expired(hunt); c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (call->target < 0 || call->launches || !code->functions[call->target].host ||
            ae_on_device(code, call->function) || call->function == call->target)
            continue;
        bool computes = false, asks = false;
        for (int l = 0; l < code->loop_count; l++)
            computes |= code->loops[l].function == call->target;
        for (int d = 0; d < code->call_count; d++)
            asks |= code->calls[d].function == call->target &&
                    (code->calls[d].launches || strncmp(ae_name(code, code->calls[d].name), "cuda", 4) == 0 ||
                     ae_text_has(s, code->calls[d].callee, "transfer::"));
        if (!computes || asks)
            continue;
        int before = -1, after = -1;
        for (int d = 0; d < code->call_count; d++) {
            const struct ae_call_site *other = &code->calls[d];
            if (other->function != call->function || other->loop != call->loop)
                continue;
            if (other->node < call->node && other->launches)
                before = other->node;
            if (other->node < call->node && waits_for_device(code, other))
                before = -1;
            if (other->node > call->node && waits_for_device(code, other) && !ae_named(code, other->name, "cudaFree"))
                after = other->node;
        }
        if (before >= 0 && after >= 0)
            ae_say(hunt, AE_STRATEGY_H07, call->node, 0.82, "the host computes in %s while the device is at work",
                   ae_name(code, call->name));
    }
    /* a ring of slots that the host fills by more than copies, while kernels run on others */
    AE_EACH_MATCH (hunt, AE_STRATEGY_H01, match) {
        if (!ae_text_is(s, match->what, "transfer::pipeline"))
            continue;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (!ae_is_below(s, call->node, match->at) || call->target < 0 || call->launches ||
                !code->functions[call->target].host || ae_ancestor(s, call->node, N_LAMBDA) < match->at)
                continue;
            bool stores = false, asks = false;
            for (int l = 0; l < code->loop_count; l++)
                stores |= code->loops[l].function == call->target;
            for (int d = 0; d < code->call_count; d++)
                asks |= code->calls[d].function == call->target &&
                        (code->calls[d].launches || strncmp(ae_name(code, code->calls[d].name), "cuda", 4) == 0);
            if (stores && !asks)
                ae_say(hunt, AE_STRATEGY_H07, call->node, 0.78,
                       "the host computes in %s while kernels run on other slots", ae_name(code, call->name));
        }
    }
    /* pieces in turn: the next one is packed while kernels run on the stream of the last */
    for (int l = 0; l < code->loop_count && hunt->tally[AE_STRATEGY_H02].confidence >= 0.5; l++) {
        if (code->loops[l].device || !code->loops[l].launch)
            continue;
        int packs = -1;
        bool waits = false, starts = false;
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (!ae_loop_within(code, call->loop, l))
                continue;
            if (ae_named(code, call->name, "memcpy") && call->loop != l)
                packs = call->node;
            waits |= call->loop == l && (ae_named(code, call->name, "cudaStreamSynchronize") ||
                                         ae_named(code, call->name, "cudaEventSynchronize"));
            starts |= call->launches && call->node > packs && packs >= 0;
        }
        if (packs >= 0 && waits && starts)
            ae_say(hunt, AE_STRATEGY_H07, packs, 0.75,
                   "the host packs the next piece while the device works on the last");
    }
    /* a thread of the host beside the launches */
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (ae_named(code, call->name, "async") && ae_text_has(s, call->callee, "std::"))
            ae_say(hunt, AE_STRATEGY_H07, call->node, 0.7, "a thread of the host works beside the device");
    }
}

void ae_rules_host(struct ae_hunt *hunt)
{
    fast_transfers(hunt);
    overlapped(hunt);
    packed(hunt);
    arenas(hunt);
    resident(hunt);
    split(hunt);
}
