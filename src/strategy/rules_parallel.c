/* Rules of classes P and B: how work is spread. */
#include "strategy/hunt.h"

#include <string.h>

#define S (&hunt->code->syntax)

/* P01 */
static void grid_strides(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P01, match) {
        const int l = ae_loop_at(code, match->at);
        if (l < 0 || code->loops[l].step < 0 || code->loops[l].step_kind != ASSIGN_ADD)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        const struct ae_value step = ae_value_of(code, loop->step), first = ae_value_of(code, loop->initial);
        const bool starts = loop->initial < 0 || (first.deps & (D_BLOCK | D_TX | D_WARP)) || !first.set;
        /* a constant that is the number of all threads of the launch */
        bool all = false;
        for (int c = 0;
             c < code->call_count && step.constness == CONST_KNOWN && (first.deps & D_BLOCK) && (first.deps & D_TX);
             c++) {
            const struct ae_call_site *call = &code->calls[c];
            if (call->target != loop->function || call->launch < 0)
                continue;
            const struct ae_value grid = ae_value_of(code, ae_nth(&code->syntax, call->launch, 0)),
                                  block = ae_value_of(code, ae_nth(&code->syntax, call->launch, 1));
            all |= grid.constness == CONST_KNOWN && block.constness == CONST_KNOWN && grid.number < 1 << 24 &&
                   block.number <= 1024 && grid.number * block.number == step.number && grid.number > 1;
        }
        if (((step.deps & D_GDIM) && starts) || all)
            ae_say(hunt, AE_STRATEGY_P01, match->at, 0.95, "%s walks the items with the size of the grid as its stride",
                   loop->variable >= 0 ? ae_name(code, code->variables[loop->variable].name) : "a loop");
    }
}

static bool by_cooperative_groups(const struct ae_syntax *s, int function)
{
    return ae_text_has(s, function, "cg::") || ae_text_has(s, function, "cooperative_groups::");
}

/* P02 */
static void reductions(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P02, match) {
        if (ae_role(hunt, match, "group")) {
            if (by_cooperative_groups(s, match->what))
                ae_say(hunt, AE_STRATEGY_P02, match->at, 0.95, "the group's values are combined by the library");
        } else if (ae_role(hunt, match, "shuffle")) {
            const struct ae_call_site *call = ae_call_at(code, match->at);
            if (!call)
                continue;
            const bool method = ae_kind(s, call->callee) == N_FIELD;
            const int distance = ae_argument(code, call, method ? 1 : 2);
            const struct ae_value v = ae_value_of(code, distance);
            bool falling = false;
            for (int l = code->loop_of[match->at]; l >= 0; l = code->loops[l].parent)
                falling |= code->loops[l].geometric && code->loops[l].variable >= 0 &&
                           ae_mentions(s, distance, code->variables[code->loops[l].variable].name);
            /* written out: 16, 8, 4, 2, 1; or the distance is a parameter of a helper. One step alone hands to a
             * neighbour, unless lanes are paired by xor. */
            if (falling || (v.constness == CONST_KNOWN && v.number >= 2) ||
                (v.constness != CONST_KNOWN && strstr(ae_name(code, call->name), "xor")))
                ae_say(hunt, AE_STRATEGY_P02, match->at, 0.94,
                       "values of the warp are combined at %s distances by shuffles", "halving");
        } else if (ae_role(hunt, match, "combine")) {
            /* s[t] += s[t + d] with d halving; also by min, max or a comparison */
            const struct ae_access *to = ae_access_at(code, match->a);
            int outer = code->loop_of[match->at];
            while (outer >= 0 && !code->loops[outer].geometric)
                outer = code->loops[outer].parent;
            if (!to || to->space != SPACE_SHARED || outer < 0 || code->loops[outer].variable < 0)
                continue;
            const int distance = code->variables[code->loops[outer].variable].name;
            for (int i = match->b; i < s->nodes[match->b].after; i++) {
                const struct ae_access *from = s->nodes[i].kind == N_SUBSCRIPT ? ae_access_at(code, i) : NULL;
                if (from && from->space == SPACE_SHARED && ae_array_of(code, from) == ae_array_of(code, to) &&
                    ae_mentions(s, from->last_index, distance) && !ae_text_has(s, from->last_index, "-")) {
                    ae_say(hunt, AE_STRATEGY_P02, match->at, 0.92, "values of the block are combined by a tree in %s",
                           ae_name(code, to->name));
                    break;
                }
            }
        }
    }
}

/* A node that names the size of a block: blockDim.x, or the constant that launches use. */
static bool is_block_size(struct ae_program *code, int node)
{
    static const char *const words[] = {"threads", "thread", "block", "bs", "tpb", "nt", "nthreads", "blocksize", NULL};
    const struct ae_syntax *s = &code->syntax;
    node = ae_strip(s, node);
    const struct ae_value v = ae_value_of(code, node);
    if (v.deps & D_BDIM && !(v.deps & (D_TX | D_BLOCK | D_GDIM)))
        return true;
    if (v.constness == CONST_KNOWN &&
        (v.number == 32 || v.number == 64 || v.number == 128 || v.number == 256 || v.number == 512 || v.number == 1024))
        return true;
    return v.constness != CONST_NO && ae_kind(s, node) == N_IDENTIFIER &&
           ae_name_has_word(code, s->nodes[node].name, words);
}

/* P03: an index of items made from the thread's and a loop of constant length. */
static void coarsened(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P03, match) {
        const int l = ae_loop_at(code, match->at);
        if (l < 0 || code->loops[l].variable < 0 || code->loops[l].geometric)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        const int condition = ae_strip(s, loop->condition), name = code->variables[loop->variable].name;
        if (!loop->constant || (loop->trips >= 0 && (loop->trips < 2 || loop->trips > 64)))
            continue;
        const int bound = ae_strip(s, ae_child(s, condition, F_RIGHT));
        for (int i = loop->body; i >= 0 && i < s->nodes[loop->body].after; i++) {
            if (s->nodes[i].kind != N_BINARY || !ae_text_is(s, ae_child(s, i, F_OPERATOR), "+"))
                continue;
            const struct ae_value whole = ae_value_of(code, i);
            if (!(whole.deps & (D_TX | D_TYZ)) || (whole.deps & D_LOADED) || !ae_mentions(s, i, name))
                continue;
            /* base + k * (size of the block), or tid * ITEMS + k */
            bool apart = false;
            for (int k = i; k < s->nodes[i].after; k++) {
                if (s->nodes[k].kind != N_BINARY || !ae_text_is(s, ae_child(s, k, F_OPERATOR), "*"))
                    continue;
                const int left = ae_strip(s, ae_child(s, k, F_LEFT)), right = ae_strip(s, ae_child(s, k, F_RIGHT));
                const bool on_left = ae_mentions(s, left, name), by_index = on_left || ae_mentions(s, right, name);
                const int other = on_left ? right : left;
                if (by_index && ae_kind(s, on_left ? left : right) != N_SUBSCRIPT && is_block_size(code, other))
                    apart = true;
                const struct ae_value lv = ae_value_of(code, left);
                const int factor = lv.deps & (D_TX | D_TYZ) ? right : left;
                const struct ae_value fv = ae_value_of(code, factor), bv = ae_value_of(code, bound);
                const bool same =
                    ae_same_text(s, factor, bound) ||
                    (fv.constness == CONST_KNOWN && bv.constness == CONST_KNOWN && fv.number == bv.number);
                /* fields of one item are counted by a number or an enumerator; items by a constant, or with a test of
                 * each against the number of all */
                bool items = ae_kind(s, bound) == N_IDENTIFIER;
                if (items) {
                    const int b = ae_variable_at(code, bound);
                    items = b < 0 || ae_kind(s, code->variables[b].declaration) != N_ENUMERATOR;
                }
                for (int t = loop->body; !items && t < s->nodes[loop->body].after; t++)
                    items = s->nodes[t].kind == N_IF;
                if (!by_index && (ae_value_of(code, k).deps & D_TX) && same && items)
                    apart = true;
            }
            /* first + k, where first was made so before the loop */
            for (int k = i; k < s->nodes[i].after && !apart; k++) {
                const int v =
                    s->nodes[k].kind == N_IDENTIFIER && s->nodes[k].name != name ? ae_variable_at(code, k) : -1;
                if (v < 0 || !(code->variables[v].value.deps & D_TX))
                    continue;
                for (int a = 0; a < code->assign_count; a++) {
                    const struct ae_assign *x = &code->assigns[a];
                    for (int m = x->right; x->variable == v && m >= 0 && m < s->nodes[x->right].after; m++)
                        if (s->nodes[m].kind == N_BINARY && ae_text_is(s, ae_child(s, m, F_OPERATOR), "*") &&
                            ae_kind(s, bound) == N_IDENTIFIER &&
                            (ae_same_text(s, ae_strip(s, ae_child(s, m, F_RIGHT)), bound) ||
                             ae_same_text(s, ae_strip(s, ae_child(s, m, F_LEFT)), bound))) {
                            const int b = ae_variable_at(code, bound);
                            apart |= b < 0 || ae_kind(s, code->variables[b].declaration) != N_ENUMERATOR;
                        }
                }
            }
            if (!apart)
                continue;
            /* an item of the grid: global memory is accessed there */
            bool item = false;
            const int init = ae_ancestor(s, i, N_INIT_DECLARATOR);
            int v = -1;
            if (init >= 0 && ae_is_below(s, init, loop->node)) {
                int declarator = ae_child(s, init, F_DECLARATOR);
                v = ae_kind(s, declarator) == N_IDENTIFIER ? ae_variable_at(code, declarator) : -1;
            }
            for (int a = 0; a < code->access_count && !item; a++) {
                const struct ae_access *x = &code->accesses[a];
                item = x->space == SPACE_GLOBAL && x->function == loop->function &&
                       ae_is_below(s, x->node, loop->node) &&
                       (ae_is_below(s, i, x->node) || (v >= 0 && ae_mentions(s, x->node, code->variables[v].name)));
            }
            /* not the fill of a tile, which the block does together */
            bool fill = false;
            for (int a = 0; a < code->access_count && !fill; a++) {
                const struct ae_access *x = &code->accesses[a];
                fill = x->space == SPACE_SHARED && x->write && ae_is_below(s, x->node, loop->node);
            }
            if (item && !fill && !code->functions[loop->function].tiled) {
                ae_say(hunt, AE_STRATEGY_P03, loop->node, 0.85,
                       "each thread handles a constant number of items, counted by %s", ae_name(code, name));
                break;
            }
        }
    }
}

/* P03 where the items of a thread are loaded together: (the thread's number in the grid) * ITEMS, and a loop over
 * ITEMS. */
static void coarsened_by_vectors(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P03, match) {
        const int l = ae_loop_at(code, match->at);
        if (l < 0 || !code->loops[l].constant || code->functions[code->loops[l].function].tiled)
            continue;
        const int bound = ae_strip(s, ae_child(s, ae_strip(s, code->loops[l].condition), F_RIGHT));
        const int v = ae_kind(s, bound) == N_IDENTIFIER ? ae_variable_at(code, bound) : -1;
        if (v < 0 || ae_kind(s, code->variables[v].declaration) == N_ENUMERATOR)
            continue;
        const int body = code->functions[code->loops[l].function].body;
        for (int i = body; body >= 0 && i < s->nodes[body].after; i++) {
            if (s->nodes[i].kind != N_BINARY || !ae_text_is(s, ae_child(s, i, F_OPERATOR), "*"))
                continue;
            const int left = ae_child(s, i, F_LEFT), right = ae_child(s, i, F_RIGHT);
            const int other = ae_same_text(s, ae_strip(s, right), bound)  ? left
                              : ae_same_text(s, ae_strip(s, left), bound) ? right
                                                                          : -1;
            if (other >= 0 &&
                (ae_value_of(code, other).deps & (D_TX | D_BLOCK | D_LOADED)) == (uint32_t)(D_TX | D_BLOCK)) {
                ae_say(hunt, AE_STRATEGY_P03, i, 0.82, "each thread handles %s items side by side",
                       ae_name(code, s->nodes[bound].name));
                break;
            }
        }
    }
}

/* P03 with the items of a thread written out: each member of a vector is computed by itself and stored as a whole. */
static void coarsened_by_members(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    for (int v = 0; v < code->variable_count && !ae_expired(hunt); v++) {
        const struct ae_variable *x = &code->variables[v];
        if (x->element != E_VECTOR || x->pointer || x->array || x->parameter || x->function < 0 ||
            !code->functions[x->function].kernel)
            continue;
        unsigned members = 0;
        int node = -1;
        for (int a = code->functions[x->function].first_assign; a < code->functions[x->function].last_assign; a++) {
            const int target = code->assigns[a].target, right = ae_strip(s, code->assigns[a].right);
            if (ae_kind(s, target) != N_FIELD || ae_kind(s, right) != N_CALL || code->assigns[a].kind != ASSIGN_SET ||
                ae_variable_at(code, ae_child(s, target, F_ARGUMENT)) != v)
                continue;
            static const char *const names[] = {"x", "y", "z", "w"};
            for (int k = 0; k < 4; k++)
                members |= ae_text_is(s, ae_child(s, target, F_FIELD), names[k]) ? 1u << k : 0;
            node = code->assigns[a].node;
        }
        bool stored = false;
        for (int i = 0; i < code->access_count && !stored; i++) {
            const struct ae_access *a = &code->accesses[i];
            const int assignment = s->nodes[a->node].parent;
            stored = a->function == x->function && a->write && a->space == SPACE_GLOBAL &&
                     ae_kind(s, assignment) == N_ASSIGNMENT &&
                     ae_variable_at(code, ae_child(s, assignment, F_RIGHT)) == v;
        }
        if (stored && (members == 15 || members == 3))
            ae_say(hunt, AE_STRATEGY_P03, node, 0.78,
                   "each thread handles the items of a vector, one after the other, and stores %s as a whole",
                   ae_name(code, x->name));
    }
}

/* Does the loop do nothing but fill or empty shared memory? */
static bool only_moves(const struct ae_program *code, int loop)
{
    const struct ae_syntax *s = &code->syntax;
    bool moves = false;
    for (int i = 0; i < code->assign_count; i++) {
        const struct ae_assign *a = &code->assigns[i];
        if (!ae_is_below(s, a->node, code->loops[loop].body) || a->kind == ASSIGN_INIT)
            continue;
        const struct ae_access *to = ae_kind(s, a->target) == N_SUBSCRIPT ? ae_access_at(code, a->target) : NULL;
        if (to && a->kind == ASSIGN_SET && (to->space == SPACE_SHARED || to->space == SPACE_GLOBAL)) {
            moves = true;
            const int right = ae_strip(s, a->right);
            if (to->space == SPACE_GLOBAL && !(ae_kind(s, right) == N_SUBSCRIPT || ae_kind(s, right) == N_NUMBER))
                return false;
            continue;
        }
        if (a->variable >= 0 && code->loops[loop].variable == a->variable)
            continue;
        return false;
    }
    for (int c = 0; c < code->call_count; c++)
        if (ae_is_below(s, code->calls[c].node, code->loops[loop].body) &&
            (code->calls[c].target >= 0 || strncmp(ae_name(code, code->calls[c].name), "atomic", 6) == 0))
            return false;
    return moves;
}

/* Does the kernel name an item by its block (without the block's threads) or by its warp? */
static bool item_by_group(struct ae_program *code, int function, bool lanes)
{
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *x = &code->assigns[a];
        if (x->function != function || x->variable < 0 || x->right < 0)
            continue;
        const uint32_t deps = ae_value_of(code, x->right).deps;
        if (lanes ? (deps & D_WARP) != 0 : (deps & D_BLOCK) && !(deps & (D_TX | D_TYZ)))
            return true;
    }
    /* or indexes with it directly */
    for (int i = 0; i < code->access_count; i++) {
        const uint32_t deps = code->accesses[i].address.deps;
        if (code->accesses[i].function == function && code->accesses[i].space == SPACE_GLOBAL &&
            (lanes ? (deps & D_WARP) != 0 : (deps & D_BLOCK) && !(deps & D_BDIM)))
            return true;
    }
    return false;
}

/* P05 */
static void cooperative(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P05, match) {
        const int l = ae_loop_at(code, match->at);
        if (l < 0)
            continue;
        const struct ae_loop *loop = &code->loops[l];
        if (loop->step < 0 || loop->initial < 0 || loop->step_kind != ASSIGN_ADD)
            continue;
        const struct ae_value first = ae_value_of(code, loop->initial), step = ae_value_of(code, loop->step);
        if (step.deps & (D_LOADED | D_LOOP))
            continue;
        if (!(first.deps & (D_TX | D_LANE)) || (first.deps & D_BLOCK && !(first.deps & D_LOADED)) ||
            (step.deps & D_GDIM))
            continue;
        const bool lanes = (first.deps & D_LANE) || (step.constness == CONST_KNOWN && step.number <= 32);
        if (!(step.deps & D_BDIM) && step.constness == CONST_NO)
            continue;
        if (only_moves(code, l))
            continue;
        const int function = loop->function;
        /* a helper of the device works for the block that calls it */
        if (!code->functions[function].kernel) {
            bool by_group = false;
            for (int c = 0; c < code->call_count && !by_group; c++)
                by_group = code->calls[c].target == function && code->calls[c].function >= 0 &&
                           code->functions[code->calls[c].function].kernel &&
                           item_by_group(code, code->calls[c].function, lanes);
            if (by_group)
                ae_say(hunt, AE_STRATEGY_P05, loop->node, 0.72,
                       "threads of a group walk one item together, counted by %s",
                       loop->variable >= 0 ? ae_name(code, code->variables[loop->variable].name) : "a loop");
            continue;
        }
        if (item_by_group(code, function, lanes) || item_by_group(code, function, !lanes) || loop->parent >= 0)
            ae_say(hunt, AE_STRATEGY_P05, loop->node, 0.85, "the threads of a %s work on one item together",
                   lanes && item_by_group(code, function, true) ? "warp" : "block");
    }
    /* lanes that hand values to each other in a loop, where warps are told apart by number */
    for (int c = 0; c < code->call_count && !ae_expired(hunt); c++) {
        const struct ae_call_site *call = &code->calls[c];
        static const char *const hands[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", NULL};
        if (call->loop < 0 || !ae_on_device(code, call->function) || !ae_name_among(code, call->name, hands))
            continue;
        bool tree = false, by_warp = false;
        for (int l = call->loop; l >= 0; l = code->loops[l].parent)
            tree |= code->loops[l].geometric || (code->loops[l].constant && code->loops[l].trips >= 0);
        for (int a = 0; a < code->assign_count && !tree && !by_warp; a++) {
            const struct ae_assign *x = &code->assigns[a];
            bool near = x->function == call->function; /* or in a kernel that calls this helper */
            for (int d = 0; d < code->call_count && !near; d++)
                near = code->calls[d].target == call->function && code->calls[d].function == x->function;
            by_warp = near && x->variable >= 0 && x->right >= 0 && x->loop < 0 &&
                      (ae_value_of(code, x->right).deps & (D_WARP | D_BLOCK)) == (uint32_t)(D_WARP | D_BLOCK);
        }
        if (!tree && by_warp)
            ae_say(hunt, AE_STRATEGY_P05, call->node, 0.75,
                   "the lanes of a warp work on one item and hand values to each other");
    }
    /* what walks items by the number of its warp, and hands each with the lane to what it was given: visit(item, lane) */
    for (int c = 0; c < code->call_count && !ae_expired(hunt); c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (call->loop < 0 || call->target >= 0 || !ae_on_device(code, call->function) ||
            code->loops[call->loop].initial < 0 ||
            !(ae_value_of(code, code->loops[call->loop].initial).deps & D_WARP))
            continue;
        const int callee = ae_strip(s, call->callee);
        const int given = ae_kind(s, callee) == N_IDENTIFIER ? ae_variable_at(code, callee) : -1;
        bool lane = false;
        for (int n = 0; given >= 0 && ae_argument(code, call, n) >= 0; n++)
            lane |= (ae_value_of(code, ae_argument(code, call, n)).deps & D_LANE) != 0;
        if (lane && code->variables[given].parameter)
            ae_say(hunt, AE_STRATEGY_P05, call->node, 0.78, "the lanes of a warp are handed an item together");
    }
    /* a thread an element of the block's item: the block's number is the item's, its threads meet at a barrier */
    for (int f = 0; f < code->function_count; f++) {
        if (!code->functions[f].kernel || hunt->tally[AE_STRATEGY_P05].confidence > 0)
            continue;
        /* blocks that tile a plane work on no item of their own */
        const bool plane = ae_text_has(s, code->functions[f].body, "blockIdx.y") &&
                           ae_text_has(s, code->functions[f].body, "blockIdx.x");
        if (plane || code->functions[f].tiled)
            continue;
        bool barrier = false, mixed_index = false;
        int item = -1;
        for (int c = 0; c < code->call_count; c++)
            barrier |= code->calls[c].function == f && strncmp(ae_name(code, code->calls[c].name), "__sync", 6) == 0;
        for (int a = 0; a < code->assign_count; a++) {
            const struct ae_assign *x = &code->assigns[a];
            if (x->function != f || x->kind != ASSIGN_INIT || x->right < 0)
                continue;
            const int right = ae_strip(s, x->right);
            const uint32_t deps = ae_value_of(code, right).deps;
            mixed_index |= (deps & D_BLOCK) && (deps & (D_TX | D_TYZ)) && (deps & D_BDIM);
            if (ae_kind(s, right) == N_FIELD && (deps & D_BLOCK) && x->loop < 0)
                item = x->node;
        }
        bool inner = false;
        for (int l = 0; l < code->loop_count; l++)
            inner |= code->loops[l].function == f && code->loops[l].barrier;
        if (barrier && !mixed_index && item >= 0 && inner)
            ae_say(hunt, AE_STRATEGY_P05, item, 0.72, "a block works on one item, an element a thread");
    }
}

/* P06 */
static const char *const problems[] = {"batch",    "problem",     "queries", "request",   "instance",   "series",
                                       "pair",     "replication", "trial",   "portfolio", "simulation", "sim",
                                       "scenario", "option",      "bond",    "repo",      "string",     "sequence",
                                       "product",  "customer",    "market",  "firm",      NULL};

static bool names_problems(struct ae_program *code, int node, int depth, int *ret_name)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        if (s->nodes[i].kind != N_IDENTIFIER)
            continue;
        const int v = ae_variable_at(code, i);
        if (ae_name_has_word(code, s->nodes[i].name, problems) && v >= 0) {
            *ret_name = s->nodes[i].name;
            return true;
        }
        if (v < 0 || depth > 2 || code->variables[v].parameter)
            continue;
        for (int a = 0; a < code->assign_count; a++)
            if (code->assigns[a].variable == v && code->assigns[a].right >= 0 &&
                names_problems(code, code->assigns[a].right, depth + 1, ret_name))
                return true;
    }
    return false;
}

/* Is it the number of an instance times its size: a block's or thread's number, not loaded, times what is no constant
 * of the blocking? */
static bool instance_offset(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        if (s->nodes[i].kind == N_SUBSCRIPT) {
            i = s->nodes[i].after - 1;
            continue;
        }
        if (s->nodes[i].kind != N_BINARY || !ae_text_is(s, ae_child(s, i, F_OPERATOR), "*"))
            continue;
        /* all factors of the product */
        int number = -1, size = -1;
        bool fixed = false;
        for (int k = i; k < s->nodes[i].after; k++) {
            const enum ae_node_kind kind = ae_kind(s, k);
            if (kind == N_NUMBER) {
                fixed |= ae_value_of(code, k).number >= 8; /* a block of the work; fewer are fields */
                continue;
            }
            if (kind != N_IDENTIFIER && kind != N_FIELD)
                continue;
            const struct ae_value v = ae_value_of(code, k);
            if ((v.deps & (D_BLOCK | D_TX)) && !(v.deps & D_LOADED))
                number = k;
            else if (kind == N_FIELD || ae_variable_at(code, k) >= 0)
                size = v.constness == CONST_NO || (ae_variable_at(code, k) >= 0 &&
                                                   code->variables[ae_variable_at(code, k)].template_parameter)
                           ? k
                           : size;
            if (kind == N_IDENTIFIER && v.constness == CONST_KNOWN)
                fixed = true;
            if (kind == N_FIELD)
                k = s->nodes[k].after - 1;
        }
        if (number >= 0 && size >= 0 && !fixed)
            return true;
    }
    return false;
}

/* Offsets looked up by the instance's number: queries + offsets[i]. */
static bool instance_lookup(struct ae_program *code, int node)
{
    const struct ae_syntax *s = &code->syntax;
    node = ae_strip(s, node);
    if (ae_kind(s, node) != N_BINARY || !ae_text_is(s, ae_child(s, node, F_OPERATOR), "+"))
        return false;
    const int offset = ae_strip(s, ae_child(s, node, F_RIGHT));
    return ae_kind(s, offset) == N_SUBSCRIPT && (ae_value_of(code, offset).deps & (D_TX | D_BLOCK)) &&
           ae_kind(s, ae_strip(s, ae_nth(s, ae_child(s, offset, F_INDICES), 0))) == N_IDENTIFIER;
}

/* A kernel whose pointers are moved on to an instance of their own, and which has nested loops for that, or several
 * such pointers. */
static bool instances_of(struct ae_hunt *hunt, int f)
{
    struct ae_program *code = hunt->code;
    int moved = 0, looked = 0, place = -1, depth = 0;
    for (int l = 0; l < code->loop_count; l++)
        if (code->loops[l].function == f) {
            int d = 0;
            for (int o = l; o >= 0; o = code->loops[o].parent)
                d += !(code->loops[o].constant && code->loops[o].trips >= 0) && !code->loops[o].geometric;
            depth = d > depth ? d : depth;
        }
    for (int a = code->functions[f].first_assign; a < code->functions[f].last_assign; a++) {
        const struct ae_assign *x = &code->assigns[a];
        if (x->function != f || x->variable < 0 || x->right < 0 || x->loop >= 0 ||
            !code->variables[x->variable].pointer || code->variables[x->variable].value.space == SPACE_SHARED ||
            (x->kind != ASSIGN_INIT && x->kind != ASSIGN_ADD))
            continue;
        if (instance_offset(code, x->right)) {
            moved++;
            place = x->node;
        } else if (x->kind == ASSIGN_INIT && instance_lookup(code, x->right)) {
            looked++;
            place = x->node;
        }
    }
    /* or draws its own random numbers, from a generator begun with its number, over rounds and their members */
    for (int c = 0; c < code->call_count && moved + looked == 0 && depth >= 2; c++)
        if (code->calls[c].function == f && ae_named(code, code->calls[c].name, "curand_init") &&
            (ae_value_of(code, ae_argument(code, &code->calls[c], 1)).deps & (D_TX | D_WARP))) {
            ae_say(hunt, AE_STRATEGY_P06, code->calls[c].node, 0.7,
                   "%s runs many trials at once, each with random numbers of its own",
                   ae_name(code, code->functions[f].name));
            return true;
        }
    if (depth < 2 || (moved == 0 && looked < 2))
        return false;
    ae_say(hunt, AE_STRATEGY_P06, place, 0.7,
           "%s works on many instances at once: its pointers are moved on to the one of the thread or block",
           ae_name(code, code->functions[f].name));
    return true;
}

static void batches(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    bool in_loop = false, seen = false;
    int name = -1;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P06, match) {
        const int grid = ae_nth(s, match->a, 0);
        if (!names_problems(code, grid, 0, &name))
            continue;
        seen = true;
        ae_say(hunt, AE_STRATEGY_P06, match->at, 0.7, "one launch runs all problems: its grid is sized by %s",
               ae_name(code, name));
    }
    for (int f = 0; f < code->function_count && !ae_expired(hunt); f++)
        seen |= code->functions[f].kernel && instances_of(hunt, f);
    /* a loop of the host over the problems says otherwise */
    for (int l = 0; l < code->loop_count; l++)
        if (!code->loops[l].device && code->loops[l].launch &&
            names_problems(code, ae_child(s, ae_strip(s, code->loops[l].condition), F_RIGHT), 3, &name))
            in_loop = true;
    if (in_loop && seen)
        hunt->tally[AE_STRATEGY_P06].confidence = 0.4;
    if (!seen)
        ae_doubt(hunt, AE_STRATEGY_P06, -1, "nothing by its name counts independent problems; a reader may see them");
}

/* A loop that does nothing but wait for a value in memory. */
static bool waits(const struct ae_program *code, int loop)
{
    const struct ae_syntax *s = &code->syntax;
    const int condition = code->loops[loop].condition, body = code->loops[loop].body;
    if (condition < 0)
        return false;
    const bool polls = ae_text_has(s, condition, "volatile") || ae_text_has(s, condition, "atomicAdd") ||
                       ae_text_has(s, condition, "atomicOr") || ae_text_has(s, condition, "__ldcg") ||
                       ae_text_has(s, condition, "ld_acquire") || ae_text_has(s, condition, "load_acquire") ||
                       ae_text_has(s, condition, ".load(") || ae_text_has(s, condition, "atomicCAS");
    bool is_volatile = false;
    for (int i = condition; i < s->nodes[condition].after; i++)
        if (s->nodes[i].kind == N_IDENTIFIER) {
            const int v = ae_variable_at(code, i);
            is_volatile |= v >= 0 && ae_text_has(s, code->variables[v].declaration, "volatile");
        }
    if (!polls && !is_volatile)
        return false;
    int statements = 0;
    for (int i = 0; i < code->assign_count; i++)
        statements += body >= 0 && ae_is_below(s, code->assigns[i].node, body);
    return statements == 0 && !ae_text_has(s, condition, "atomicCAS");
}

/* P07 */
static void persistent(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P07, match) {
        if (ae_role(hunt, match, "sync")) {
            const int object = ae_child(s, ae_child(s, match->at, F_FUNCTION), F_ARGUMENT);
            bool grid = ae_text_has(s, object, "this_grid");
            const int v = ae_variable_at(code, object);
            if (v >= 0)
                grid |= ae_text_has(s, code->variables[v].declaration, "grid_group") ||
                        ae_text_has(s, code->variables[v].declaration, "this_grid");
            if (grid)
                ae_say(hunt, AE_STRATEGY_P07, match->at, 0.97, "all blocks of the grid wait for each other");
        } else if (ae_role(hunt, match, "loop")) {
            const int l = ae_loop_at(code, match->at);
            if (l < 0 || !waits(code, l))
                continue;
            bool arrives = false;
            for (int c = 0; c < code->call_count; c++)
                arrives |= code->calls[c].function == code->loops[l].function &&
                           (strncmp(ae_name(code, code->calls[c].name), "atomicAdd", 9) == 0 ||
                            strstr(ae_name(code, code->calls[c].name), "fetch_add") ||
                            strncmp(ae_name(code, code->calls[c].name), "atomicInc", 9) == 0);
            if (arrives)
                ae_say(hunt, AE_STRATEGY_P07, match->at, 0.88,
                       "blocks count arrivals in memory and wait for all others");
        }
    }
}

/* P07: blocks that stay, as many as the device holds, and fetch work until none is left. */
static void resident_blocks(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    if (hunt->tally[AE_STRATEGY_B02].confidence < 0.5)
        return;
    for (int i = 0; i < S->count && !ae_expired(hunt); i++)
        if (S->nodes[i].kind == N_IDENTIFIER && !ae_on_device(code, code->function_of[i]) &&
            (ae_text_is(S, i, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") ||
             ae_text_is(S, i, "cudaDevAttrMultiProcessorCount"))) {
            ae_say(hunt, AE_STRATEGY_P07, i, 0.78,
                   "as many blocks as the device holds stay and fetch work until none is left");
            return;
        }
}

static bool one_thread(struct ae_program *code, int node, int function)
{
    const struct ae_syntax *s = &code->syntax;
    for (int n = node; n >= 0 && n > code->functions[function].body; n = s->nodes[n].parent) {
        if (ae_kind(s, s->nodes[n].parent) != N_IF || s->nodes[n].field != F_CONSEQUENCE)
            continue;
        const int condition = ae_strip(s, ae_nth(s, ae_child(s, s->nodes[n].parent, F_CONDITION), 0));
        for (int i = condition; condition >= 0 && i < s->nodes[condition].after; i++) {
            if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "==") &&
                ae_text_is(s, ae_strip(s, ae_child(s, i, F_RIGHT)), "0") &&
                (ae_value_of(code, ae_child(s, i, F_LEFT)).deps & (D_TX | D_LANE)))
                return true;
            if (s->nodes[i].kind == N_UNARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "!") &&
                (ae_value_of(code, ae_child(s, i, F_ARGUMENT)).deps & (D_TX | D_LANE)) &&
                !(ae_value_of(code, ae_child(s, i, F_ARGUMENT)).deps & D_LOADED))
                return true;
            if (s->nodes[i].kind == N_BINARY && ae_text_is(s, ae_child(s, i, F_OPERATOR), "==") &&
                ae_text_has(s, i, "leader"))
                return true;
            if (s->nodes[i].kind == N_IDENTIFIER && ae_text_is(s, i, "leader"))
                return true;
        }
    }
    return false;
}

/* P08 */
static void privatised(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_P08, match) {
        const struct ae_call_site *call = ae_call_at(code, match->at);
        if (!call || call->function < 0)
            continue;
        const struct ae_value target = ae_value_of(code, ae_argument(code, call, 0));
        const int value = ae_strip(s, ae_argument(code, call, 1));
        if (target.space == SPACE_SHARED) {
            /* a shared accumulator that goes to global memory later */
            const int root = target.root;
            int left = 20000; /* steps of the search below */
            for (int a = 0; root >= 0 && a < code->access_count; a++) {
                const struct ae_access *x = &code->accesses[a];
                if (x->space != SPACE_GLOBAL || !x->write || x->function != call->function || x->node < call->node)
                    continue;
                if (!x->atomic && !(x->address.deps & D_BLOCK))
                    continue;
                const int holder = ae_kind(s, x->node) == N_CALL
                                       ? x->node
                                       : ae_ancestor(s, x->node, x->atomic ? N_CALL : N_ASSIGNMENT);
                /* by way of a sum over the copies */
                for (int k = holder; holder >= 0 && x->atomic && k < s->nodes[holder].after && left > 0; k++) {
                    const int v = s->nodes[k].kind == N_IDENTIFIER ? ae_variable_at(code, k) : -1;
                    if (v < 0 || code->variables[v].pointer || code->variables[v].function != call->function)
                        continue;
                    for (int m = code->functions[call->function].first_assign;
                         m < code->functions[call->function].last_assign && left-- > 0; m++)
                        if (code->assigns[m].variable == v && code->assigns[m].kind == ASSIGN_ADD &&
                            ae_mentions(s, code->assigns[m].right, code->variables[root].name))
                            ae_say(hunt, AE_STRATEGY_P08, match->at, 0.8,
                                   "copies in %s are accumulated and merged later",
                                   ae_name(code, code->variables[root].name));
                }
                if (holder >= 0 && ae_mentions(s, holder, code->variables[root].name) && call->loop >= 0)
                    ae_say(hunt, AE_STRATEGY_P08, match->at, 0.88, "the block accumulates in %s and merges it later",
                           ae_name(code, code->variables[root].name));
                else if (holder >= 0 && ae_mentions(s, holder, code->variables[root].name))
                    ae_say(hunt, AE_STRATEGY_P08, match->at, 0.8, "the block accumulates in %s and merges it later",
                           ae_name(code, code->variables[root].name));
            }
            continue;
        }
        if (target.space != SPACE_GLOBAL || ae_kind(s, value) == N_NUMBER ||
            !one_thread(code, match->at, call->function))
            continue;
        /* one thread adds what a reduction, a vote or shared memory has gathered */
        bool gathered = ae_text_has(s, value, "__popc") || ae_text_has(s, value, "popc");
        for (int i = value; value >= 0 && i < s->nodes[value].after; i++) {
            const struct ae_access *x =
                s->nodes[i].kind == N_SUBSCRIPT || s->nodes[i].kind == N_POINTER ? ae_access_at(code, i) : NULL;
            gathered |= x && x->space == SPACE_SHARED;
            if (s->nodes[i].kind == N_CALL)
                gathered = true;
            if (s->nodes[i].kind != N_IDENTIFIER)
                continue;
            const int v = ae_variable_at(code, i);
            if (v < 0)
                continue;
            gathered |= code->variables[v].shared;
            for (int c = 0; c < code->call_count && !gathered; c++) /* Scan(temp).ExclusiveSum(mine, place, total) */
                gathered = code->calls[c].function == call->function && ae_argument(code, &code->calls[c], 2) >= 0 &&
                           (strstr(ae_name(code, code->calls[c].name), "Sum") ||
                            strstr(ae_name(code, code->calls[c].name), "Scan")) &&
                           ae_mentions(s, ae_argument(code, &code->calls[c], 2), code->variables[v].name);
            for (int a = 0; a < code->assign_count && !gathered; a++)
                gathered = code->assigns[a].variable == v &&
                           (code->assigns[a].kind == ASSIGN_ADD ||
                            (code->assigns[a].right >= 0 && (ae_text_has(s, code->assigns[a].right, "__shfl") ||
                                                             ae_text_has(s, code->assigns[a].right, "educe") ||
                                                             ae_text_has(s, code->assigns[a].right, "Sum") ||
                                                             ae_text_has(s, code->assigns[a].right, "sum") ||
                                                             ae_text_has(s, code->assigns[a].right, "popc") ||
                                                             ae_text_has(s, code->assigns[a].right, "max") ||
                                                             ae_text_has(s, code->assigns[a].right, "min"))));
        }
        if (gathered)
            ae_say(hunt, AE_STRATEGY_P08, match->at, 0.87, "one atomic a group adds what its threads gathered");
    }
}

/* Is the expression, or the variable that it is, made by an atomicAdd? Returns that call. */
static int atomic_behind(const struct ae_program *code, int node, int depth)
{
    const struct ae_syntax *s = &code->syntax;
    for (int i = node; node >= 0 && i < s->nodes[node].after; i++) {
        if (s->nodes[i].kind == N_CALL) {
            const struct ae_call_site *call = ae_call_at(code, i);
            if (call && (ae_named(code, call->name, "atomicAdd") || ae_named(code, call->name, "atomicInc")))
                return i;
        }
        if (s->nodes[i].kind == N_IDENTIFIER && depth < 3) {
            const int v = ae_variable_at(code, i);
            if (v < 0 || code->variables[v].parameter)
                continue;
            for (int a = 0; a < code->assign_count; a++)
                if (code->assigns[a].variable == v && code->assigns[a].right >= 0 && code->assigns[a].right != node &&
                    !ae_is_below(s, i, code->assigns[a].right)) {
                    const int found = atomic_behind(code, code->assigns[a].right, depth + 1);
                    if (found >= 0)
                        return found;
                }
        }
    }
    return -1;
}

/* Variables of the host that are the same memory: by std::swap, by assignment to each other, by being handed to the
 * same parameter. Good enough: small sets, joined by name. */
bool ae_read_on_device(const struct ae_program *code, int variable, int writer)
{
    const struct ae_syntax *s = &code->syntax;
    enum { MOST = 32 };
    int set[MOST], count = 0;
    set[count++] = variable;
    for (int round = 0; round < 3; round++) {
        for (int c = 0; c < code->call_count; c++) {
            const struct ae_call_site *call = &code->calls[c];
            const bool swap = ae_named(code, call->name, "swap");
            for (int n = 0; n < 16; n++) {
                const int argument = ae_argument(code, call, n);
                if (argument < 0)
                    break;
                const int v = ae_variable_at(code, argument);
                for (int k = 0; v >= 0 && k < count; k++) {
                    int more = -1;
                    if (swap && set[k] == v)
                        more = ae_variable_at(code, ae_argument(code, call, 1 - n));
                    else if (!swap && call->target >= 0)
                        for (int p = code->functions[call->target].first_variable;
                             p < code->variable_count && code->variables[p].function == call->target &&
                             code->variables[p].parameter;
                             p++)
                            if (code->variables[p].position == n && code->variables[p].pointer) {
                                if (set[k] == v)
                                    more = p;
                                else if (set[k] == p)
                                    more = v;
                            }
                    bool is_new = more >= 0 && count < MOST;
                    for (int j = 0; j < count; j++)
                        is_new &= set[j] != more;
                    if (is_new)
                        set[count++] = more;
                }
            }
        }
        for (int a = 0; a < code->assign_count; a++) { /* int *now = queue[0]; next = now; */
            const struct ae_assign *x = &code->assigns[a];
            if (x->variable < 0 || x->right < 0 || !code->variables[x->variable].pointer)
                continue;
            bool is_new = true;
            for (int k = 0; k < count; k++)
                is_new &= set[k] != x->variable;
            for (int k = 0; is_new && k < count && count < MOST; k++)
                if (ae_mentions(s, x->right, code->variables[set[k]].name)) {
                    set[count++] = x->variable;
                    break;
                }
        }
    }
    for (int i = 0; i < code->access_count; i++) {
        const struct ae_access *a = &code->accesses[i];
        if (!ae_on_device(code, a->function) || !a->read || a->write || a->node == writer)
            continue;
        for (int k = 0; k < count; k++)
            if (a->variable == set[k] || a->root == set[k])
                return true;
    }
    return false;
}

/* Is what the atomic gives used to read elsewhere? Then it is a piece of work that was fetched, not a place in a list.
 */
static bool fetched(const struct ae_program *code, int atomic, const struct ae_access *store)
{
    const struct ae_syntax *s = &code->syntax;
    for (int a = 0; a < code->assign_count; a++) {
        if (code->assigns[a].right < 0 || code->assigns[a].variable < 0 ||
            !ae_is_below(s, atomic, code->assigns[a].right))
            continue;
        int names[3] = {code->variables[code->assigns[a].variable].name}, count = 1;
        for (int b = 0; b < code->assign_count && count < 3; b++) /* by way of a shuffle or a copy */
            if (code->assigns[b].variable >= 0 && code->assigns[b].right >= 0 &&
                code->assigns[b].function == store->function &&
                code->variables[code->assigns[b].variable].name != names[0] &&
                ae_mentions(s, code->assigns[b].right, names[0]))
                names[count++] = code->variables[code->assigns[b].variable].name;
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *x = &code->accesses[i];
            for (int k = 0; k < count; k++)
                if (x->function == store->function && x->read && !x->write && x->space == SPACE_GLOBAL &&
                    x->variable != store->variable && ae_mentions(s, x->last_index, names[k]))
                    return true;
        }
    }
    return false;
}

/* Is the list that a kernel writes by bins handed to launches of a loop of the host bin by bin: list + start[round]? */
static bool handed_by_round(const struct ae_program *code, const struct ae_access *store)
{
    const struct ae_syntax *s = &code->syntax;
    if (store->variable < 0 || !code->variables[store->variable].parameter)
        return false;
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *fill = &code->calls[c];
        if (!fill->launches || fill->target != store->function)
            continue;
        const int list = ae_variable_at(code, ae_argument(code, fill, code->variables[store->variable].position));
        for (int d = 0; list >= 0 && d < code->call_count; d++) {
            const struct ae_call_site *round = &code->calls[d];
            if (!round->launches || round->loop < 0 || round->target < 0 || round->target == store->function)
                continue;
            for (int n = 0; ae_argument(code, round, n) >= 0; n++) {
                const int argument = ae_strip(s, ae_argument(code, round, n));
                if (ae_kind(s, argument) != N_BINARY || !ae_mentions(s, argument, code->variables[list].name))
                    continue;
                for (int l = round->loop; l >= 0; l = code->loops[l].parent)
                    if (code->loops[l].variable >= 0 &&
                        ae_mentions(s, argument, code->variables[code->loops[l].variable].name))
                        return true;
            }
        }
    }
    return false;
}

static const char *const size_words[] = {"length", "len", "degree", "deg", "nnz", "maturity", NULL};

/* B01 */
static void work_lists(struct ae_hunt *hunt)
{
    static const char *const lists[] = {"queue",    "frontier", "list",    "work",    "worklist",
                                        "active",   "next",     "pending", "compact", "compacted",
                                        "survivor", "todo",     "bucket",  "stack",   NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_B01, match) {
        const struct ae_access *a = ae_access_at(code, match->a >= 0 ? match->a : match->at);
        if (!a || !a->write || (a->space != SPACE_GLOBAL && a->space != SPACE_SHARED) || a->last_index < 0)
            continue;
        const int atomic = atomic_behind(code, a->last_index, 0);
        const struct ae_call_site *call = atomic < 0 ? NULL : ae_call_at(code, atomic);
        /* or at the place among the voters of a ballot */
        if (!call && a->variable >= 0 && ae_text_has(s, a->last_index, "__popc")) {
            if (ae_read_on_device(code, ae_array_of(code, a), a->node))
                ae_say(hunt, AE_STRATEGY_B01, match->at, 0.8, "active items are appended to %s, which is read again",
                       ae_name(code, a->name));
            continue;
        }
        if (!call || fetched(code, atomic, a))
            continue;
        /* one counter, not one for each bin */
        const int target = ae_strip(s, ae_argument(code, call, 0));
        int counted = target;
        if (ae_kind(s, target) == N_POINTER)
            counted = ae_strip(s, ae_child(s, target, F_ARGUMENT));
        if (ae_kind(s, counted) == N_SUBSCRIPT) {
            const struct ae_value index = ae_value_of(code, ae_nth(s, ae_child(s, counted, F_INDICES), 0));
            if (index.deps & (D_TX | D_TYZ | D_LOADED | D_LANE)) {
                bool by_size = false;
                for (int i = counted; i < s->nodes[counted].after; i++)
                    by_size |= s->nodes[i].name >= 0 && ae_name_has_word(code, s->nodes[i].name, size_words);
                if (!by_size && handed_by_round(code, a))
                    ae_say(hunt, AE_STRATEGY_B01, match->at, 0.75,
                           "each round is launched over its own part of %s alone", ae_name(code, a->name));
                continue;
            }
        }
        if (a->variable < 0)
            continue;
        /* a list of long items, for other hands, is a bin */
        static const char *const lengths[] = {"long", "huge",  "short", "small", "large",
                                              "big",  "heavy", "light", "hub",   NULL};
        if (ae_name_has_word(code, a->name, lengths)) {
            ae_say(hunt, AE_STRATEGY_B03, match->at, 0.82, "items are put into %s by their size",
                   ae_name(code, a->name));
            continue;
        }
        const bool named = ae_name_has_word(code, a->name, lists);
        const bool read =
            ae_read_on_device(code, ae_array_of(code, a) >= 0 ? ae_array_of(code, a) : a->variable, a->node) ||
            ae_read_on_device(code, a->variable, a->node);
        if (read)
            ae_say(hunt, AE_STRATEGY_B01, match->at, named ? 0.92 : 0.8,
                   "active items are appended to %s, which is read again", ae_name(code, a->name));
        else if (named)
            ae_say(hunt, AE_STRATEGY_B01, match->at, 0.6, "active items are appended to %s", ae_name(code, a->name));
    }
    /* records appended field by field: next[at + p].first = ... */
    for (int i = 0; i < code->access_count && !ae_expired(hunt); i++) {
        const struct ae_access *a = &code->accesses[i];
        if (!a->write || a->atomic || a->space != SPACE_GLOBAL || a->variable < 0 || a->last_index < 0 ||
            !ae_on_device(code, a->function) || ae_kind(s, s->nodes[a->node].parent) != N_FIELD)
            continue;
        const int atomic = atomic_behind(code, a->last_index, 0);
        const struct ae_call_site *call = atomic < 0 ? NULL : ae_call_at(code, atomic);
        if (!call || fetched(code, atomic, a) || ae_text_has(s, ae_argument(code, call, 0), "["))
            continue;
        if (ae_read_on_device(code, ae_array_of(code, a) >= 0 ? ae_array_of(code, a) : a->variable, a->node) ||
            ae_read_on_device(code, a->variable, a->node))
            ae_say(hunt, AE_STRATEGY_B01, a->node, 0.8, "active items are appended to %s, which is read again",
                   ae_name(code, a->name));
    }
    /* compaction by a library, into something that a kernel reads */
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        static const char *const compacts[] = {"Flagged", "copy_if", "remove_if", NULL};
        if (!ae_name_among(code, call->name, compacts) || ae_on_device(code, call->function) || call->loop < 0)
            continue;
        ae_say(hunt, AE_STRATEGY_B01, call->node, 0.8, "active items are compacted by %s in each round",
               ae_name(code, call->name));
    }
}

/* B02 */
static void dynamic(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_B02, match) {
        const int l = code->loop_of[match->at];
        const struct ae_call_site *call = ae_call_at(code, match->at);
        if (l < 0 || !call)
            continue;
        const struct ae_value step = ae_value_of(code, ae_argument(code, call, 1));
        if (step.constness == CONST_NO && !(step.deps & D_BDIM))
            continue;
        /* whose value is it, and does that end a loop around? */
        int names[4], count = 0;
        const int parent = s->nodes[match->at].parent;
        int holder = match->at;
        for (int n = parent, guard = 0; n >= 0 && guard < 6; n = s->nodes[n].parent, guard++) {
            if (ae_kind(s, n) == N_ASSIGNMENT || ae_kind(s, n) == N_INIT_DECLARATOR) {
                holder = n;
                break;
            }
        }
        for (int a = 0; a < code->assign_count && count < 4; a++)
            if (code->assigns[a].node == holder &&
                (holder == match->at || ae_is_below(s, match->at, code->assigns[a].right))) {
                const int target = ae_strip(s, code->assigns[a].target);
                names[count++] = ae_kind(s, target) == N_SUBSCRIPT ? ae_last_name(s, ae_child(s, target, F_ARGUMENT))
                                                                   : s->nodes[target].name;
            }
        /* handed on: shared slot -> local variable, by a shuffle or a plain read */
        for (int round = 0; round < 2; round++)
            for (int a = 0; a < code->assign_count && count < 4; a++) {
                const struct ae_assign *x = &code->assigns[a];
                if (x->function != call->function || x->variable < 0 || x->right < 0)
                    continue;
                for (int k = 0; k < count; k++)
                    if (ae_mentions(s, x->right, names[k]) && code->variables[x->variable].name != names[k] &&
                        (ae_kind(s, ae_strip(s, x->right)) == N_IDENTIFIER ||
                         ae_kind(s, ae_strip(s, x->right)) == N_SUBSCRIPT || ae_text_has(s, x->right, "__shfl") ||
                         ae_kind(s, ae_strip(s, x->right)) == N_BINARY)) {
                        if (count < 4)
                            names[count++] = code->variables[x->variable].name;
                        break;
                    }
            }
        for (int outer = l; outer >= 0; outer = code->loops[outer].parent) {
            const int condition = code->loops[outer].condition;
            bool ends = ae_is_below(s, match->at, condition);
            for (int k = 0; k < count; k++)
                ends |= ae_mentions(s, condition, names[k]);
            const int body = code->loops[outer].body;
            for (int i = body; body >= 0 && !ends && i < s->nodes[body].after; i++) {
                if (s->nodes[i].kind != N_BREAK && s->nodes[i].kind != N_RETURN)
                    continue;
                const int test = ae_ancestor(s, i, N_IF);
                if (test < 0 || !ae_is_below(s, test, body))
                    continue;
                for (int k = 0; k < count; k++)
                    ends |= ae_mentions(s, ae_child(s, test, F_CONDITION), names[k]);
            }
            if (ends) {
                ae_say(hunt, AE_STRATEGY_B02, match->at, 0.9,
                       "the next piece of work is fetched from a counter until none is left");
                break;
            }
        }
    }
}

/* B03 */
static void bins(struct ae_hunt *hunt)
{
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_B03, match) {
        if (ae_role(hunt, match, "sort")) {
            /* the comparison or the key names a size; v.size() does not count */
            for (int i = match->at; i < s->nodes[match->at].after; i++) {
                const bool method = ae_kind(s, s->nodes[i].parent) == N_FIELD &&
                                    ae_kind(s, s->nodes[s->nodes[i].parent].parent) == N_CALL &&
                                    s->nodes[s->nodes[i].parent].field == F_FUNCTION;
                if ((s->nodes[i].kind == N_IDENTIFIER || s->nodes[i].kind == N_FIELD_IDENTIFIER) && !method &&
                    ae_name_has_word(code, s->nodes[i].name, size_words)) {
                    ae_say(hunt, AE_STRATEGY_B03, match->at, 0.85, "items are sorted by %s",
                           ae_name(code, s->nodes[i].name));
                    break;
                }
            }
        }
    }
    /* a counting sort by length, or classes of degrees: bin[class_of(length)]++ */
    for (int a = 0; a < code->assign_count; a++) {
        const struct ae_assign *x = &code->assigns[a];
        const int target = ae_strip(s, x->target);
        if (x->kind != ASSIGN_STEP || ae_kind(s, target) != N_SUBSCRIPT)
            continue;
        static const char *const classes[] = {"bin",   "bucket", "class",  "histogram", "hist",  "count",
                                              "start", "first",  "offset", "cursor",    "place", NULL};
        const int array = ae_last_name(s, ae_child(s, target, F_ARGUMENT)), index = ae_child(s, target, F_INDICES);
        bool by_size = false;
        for (int i = index; index >= 0 && i < s->nodes[index].after; i++)
            by_size |= s->nodes[i].name >= 0 && ae_name_has_word(code, s->nodes[i].name, size_words);
        if (by_size && ae_name_has_word(code, array, classes))
            ae_say(hunt, AE_STRATEGY_B03, x->node, 0.8, "items are counted by size in %s", ae_name(code, array));
    }
    for (int c = 0; c < code->call_count; c++) { /* atomicAdd(&bins[length], 1) */
        const struct ae_call_site *call = &code->calls[c];
        if (!ae_named(code, call->name, "atomicAdd"))
            continue;
        const int target = ae_argument(code, call, 0);
        for (int i = target; target >= 0 && i < s->nodes[target].after; i++)
            if (s->nodes[i].kind == N_SUBSCRIPT) {
                const int index = ae_child(s, i, F_INDICES);
                for (int k = index; index >= 0 && k < s->nodes[index].after; k++)
                    if (s->nodes[k].kind == N_IDENTIFIER && ae_name_has_word(code, s->nodes[k].name, size_words))
                        ae_say(hunt, AE_STRATEGY_B03, call->node, 0.75, "items are counted by %s",
                               ae_name(code, s->nodes[k].name));
            }
    }
    /* two kernels, each launched for its class by a test of a size, or with names that say so */
    static const char *const kinds[] = {"short", "long", "small",  "large",  "low",  "high", "light",
                                        "heavy", "big",  "medium", "narrow", "wide", NULL};
    int launched = -1, launches = 0;
    for (int c = 0; c < code->call_count; c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!call->launches || call->target < 0 || !ae_name_has_word(code, code->functions[call->target].name, kinds))
            continue;
        bool by_size = false;
        for (int i = call->node; i < s->nodes[call->node].after; i++)
            by_size |= s->nodes[i].name >= 0 && (ae_name_has_word(code, s->nodes[i].name, kinds) &&
                                                 s->nodes[i].name != code->functions[call->target].name);
        if (by_size && launched != call->target) {
            launches++;
            launched = call->target;
        }
    }
    if (launches >= 2)
        ae_say(hunt, AE_STRATEGY_B03, code->functions[launched].node, 0.72,
               "kernels of their own handle short and long items");
}

/* B04 */
static void balanced(struct ae_hunt *hunt)
{
    static const char *const offsets[] = {"offset", "row",   "start",      "ptr",  "begin", "prefix",
                                          "scan",   "first", "cumulative", "ends", NULL};
    struct ae_program *code = hunt->code;
    const struct ae_syntax *s = S;
    AE_EACH_MATCH (hunt, AE_STRATEGY_B04, match) {
        if (!ae_role(hunt, match, "loop"))
            continue;
        const int l = ae_loop_at(code, match->at);
        if (l < 0)
            continue;
        const int body = code->loops[l].body;
        /* mid = (lo + hi) / 2 */
        int mid = -1;
        for (int a = 0; a < code->assign_count; a++) {
            const struct ae_assign *x = &code->assigns[a];
            if (x->loop != l || x->variable < 0 || x->right < 0)
                continue;
            const bool halves = ae_text_has(s, x->right, "/ 2") || ae_text_has(s, x->right, ">> 1") ||
                                ae_text_has(s, x->right, "/2") || ae_text_has(s, x->right, ">>1");
            if (halves && ae_text_has(s, x->right, "+"))
                mid = x->variable;
        }
        if (mid < 0)
            continue;
        for (int i = body; body >= 0 && i < s->nodes[body].after; i++) {
            if (s->nodes[i].kind != N_BINARY)
                continue;
            const int op = ae_child(s, i, F_OPERATOR);
            if (!ae_text_is(s, op, "<=") && !ae_text_is(s, op, ">=") && !ae_text_is(s, op, "<") &&
                !ae_text_is(s, op, ">"))
                continue;
            int array = ae_strip(s, ae_child(s, i, F_LEFT)), key = ae_child(s, i, F_RIGHT);
            if (ae_kind(s, array) != N_SUBSCRIPT && ae_kind(s, array) != N_CALL) {
                key = array;
                array = ae_strip(s, ae_child(s, i, F_RIGHT));
            }
            if (!ae_mentions(s, array, code->variables[mid].name))
                continue;
            const struct ae_value v = ae_value_of(code, key);
            bool named = false;
            for (int k = array; k < s->nodes[array].after; k++)
                named |= s->nodes[k].name >= 0 && ae_name_has_word(code, s->nodes[k].name, offsets);
            if ((v.deps & (D_TX | D_BLOCK)) && !(v.deps & D_LOADED) && !named)
                ae_doubt(hunt, AE_STRATEGY_B04, match->at,
                         "an interval is halved for a thread's own number; whether in offsets is not to be seen");
            else if ((v.deps & (D_TX | D_BLOCK)) && !(v.deps & D_LOADED))
                ae_say(hunt, AE_STRATEGY_B04, match->at, 0.88,
                       "the owner of an element is searched in offsets, so that work is split by elements");
            else if (named && !(v.deps & D_LOADED) && (v.deps & (D_PARAM | D_CALLED)) && !(v.deps & D_FLOAT))
                ae_say(hunt, AE_STRATEGY_B04, match->at, 0.65, "the owner of an element is searched in offsets");
        }
    }
    /* rows cut into pieces: as many places are taken from a counter as the row has pieces of constant length */
    for (int c = 0; c < code->call_count && !ae_expired(hunt); c++) {
        const struct ae_call_site *call = &code->calls[c];
        if (!ae_named(code, call->name, "atomicAdd") || !ae_on_device(code, call->function))
            continue;
        int amount = ae_strip(s, ae_argument(code, call, 1));
        const int v = ae_kind(s, amount) == N_IDENTIFIER ? ae_variable_at(code, amount) : -1;
        if (v >= 0 && !code->variables[v].parameter && code->variables[v].initial >= 0)
            amount = ae_strip(s, code->variables[v].initial);
        if (ae_kind(s, amount) != N_BINARY || !ae_text_is(s, ae_child(s, amount, F_OPERATOR), "/"))
            continue;
        const int piece = ae_strip(s, ae_child(s, amount, F_RIGHT));
        const struct ae_value length = ae_value_of(code, piece);
        if (length.constness == CONST_NO || (length.constness == CONST_KNOWN && length.number < 2) ||
            !(ae_value_of(code, ae_child(s, amount, F_LEFT)).deps & D_LOADED))
            continue;
        /* and a loop over the pieces stores where each begins */
        for (int i = 0; i < code->access_count; i++) {
            const struct ae_access *a = &code->accesses[i];
            const int loop = a->loop;
            if (a->write && !a->atomic && a->function == call->function && loop >= 0 && a->node > call->node &&
                v >= 0 && ae_mentions(s, code->loops[loop].condition, code->variables[v].name) &&
                atomic_behind(code, a->last_index, 0) == call->node) {
                ae_say(hunt, AE_STRATEGY_B04, call->node, 0.82,
                       "long rows are cut into pieces of constant length, each an item of its own");
                break;
            }
        }
    }
    /* edges by one index: from[e], to[e], and what lies at both ends */
    for (int f = 0; f < code->function_count; f++) {
        if (!code->functions[f].kernel)
            continue;
        int first = -1;
        for (int i = 0; i < code->access_count && !ae_expired(hunt); i++) {
            const struct ae_access *a = &code->accesses[i];
            if (a->function != f || a->space != SPACE_GLOBAL || a->address.coef != COEF_ONE || !a->read || a->write ||
                a->variable < 0 || a->last_index < 0)
                continue;
            /* its value, itself or by a variable, indexes another array */
            const int init = s->nodes[a->node].parent;
            int v = -1;
            if (ae_kind(s, init) == N_INIT_DECLARATOR) {
                const int d = ae_child(s, init, F_DECLARATOR);
                v = ae_kind(s, d) == N_IDENTIFIER ? ae_variable_at(code, d) : -1;
            }
            bool indexes_atomic = false, indexes = false;
            for (int k = 0; k < code->access_count; k++) {
                const struct ae_access *b = &code->accesses[k];
                if (b->function != f || b->space != SPACE_GLOBAL || b->last_index < 0)
                    continue;
                const bool uses = v >= 0 ? ae_mentions(s, b->last_index, code->variables[v].name)
                                         : ae_is_below(s, a->node, b->last_index);
                indexes |= uses;
                indexes_atomic |= uses && b->atomic;
            }
            if (!indexes)
                continue;
            if (first >= 0 && code->accesses[first].variable != a->variable &&
                ae_same_text(s, code->accesses[first].last_index, a->last_index)) {
                bool atomic = indexes_atomic;
                for (int k = 0; k < code->access_count && !atomic; k++)
                    atomic = code->accesses[k].function == f && code->accesses[k].atomic &&
                             code->accesses[k].space == SPACE_GLOBAL && code->accesses[k].address.coef == COEF_GATHER;
                if (atomic)
                    ae_say(hunt, AE_STRATEGY_B04, a->node, 0.82,
                           "a thread an edge: both ends are looked up by its number");
            }
            if (first < 0)
                first = i;
        }
    }
}

void ae_rules_parallel(struct ae_hunt *hunt)
{
    grid_strides(hunt);
    reductions(hunt);
    coarsened(hunt);
    coarsened_by_vectors(hunt);
    coarsened_by_members(hunt);
    cooperative(hunt);
    batches(hunt);
    persistent(hunt);
    privatised(hunt);
    work_lists(hunt);
    dynamic(hunt);
    resident_blocks(hunt);
    bins(hunt);
    balanced(hunt);
}
