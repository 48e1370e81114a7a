#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { P_STRINGS, P_LENGTH, P_STATES };

enum {
    NUM_STATES,
    NUM_SYMBOLS,
    START_STATE,
    NUM_STRINGS,
    TOTAL_CHARS,
    TRANS_OFFSETS,
    TRANS_TARGETS,
    EPS_OFFSETS,
    EPS_TARGETS,
    IS_ACCEPT,
    STR_OFFSETS,
    STR_DATA,
    RESULTS,
    ARG_COUNT
};

enum { F_PARTS, F_DEEP, F_RANDOM, F_ODD, F_TINY };

#define STATES_MAX  256
#define SYMBOLS_MAX 64
#define WORDS       (STATES_MAX / 64)
#define DRAWS_MAX   200

static const struct ae_arg args[ARG_COUNT] = {
    [NUM_STATES] = {"num_states", AE_I32, AE_SCALAR, .meaning = "states S of the automaton"},
    [NUM_SYMBOLS] = {"num_symbols", AE_I32, AE_SCALAR, .meaning = "size A of the alphabet"},
    [START_STATE] = {"start_state", AE_I32, AE_SCALAR,
                     .meaning = "the state before the first symbol"},
    [NUM_STRINGS] = {"num_strings", AE_I32, AE_SCALAR, .meaning = "number of strings n"},
    [TOTAL_CHARS] = {"total_chars", AE_I32, AE_SCALAR,
                     .meaning = "symbols of all strings together"},
    [TRANS_OFFSETS] = {"trans_offsets", AE_I32, AE_IN, "num_states*num_symbols+1",
                       .meaning =
                           "where the targets of (state s, symbol c) begin, at s*num_symbols+c"},
    [TRANS_TARGETS] = {"trans_targets", AE_I32, AE_IN, "trans_offsets[num_states*num_symbols]",
                       "state", "targets of the transitions"},
    [EPS_OFFSETS] = {"eps_offsets", AE_I32, AE_IN, "num_states+1",
                     .meaning = "where the epsilon targets of each state begin"},
    [EPS_TARGETS] = {"eps_targets", AE_I32, AE_IN, "eps_offsets[num_states]", "state",
                     "targets of the epsilon edges"},
    [IS_ACCEPT] = {"is_accept", AE_I32, AE_IN, "num_states",
                   .meaning = "1 for accepting states, else 0"},
    [STR_OFFSETS] = {"str_offsets", AE_I32, AE_IN, "num_strings+1",
                     .meaning = "where each string begins in str_data"},
    [STR_DATA] = {"str_data", AE_I32, AE_IN, "total_chars", "symbol",
                  "the strings one after the other"},
    [RESULTS] = {"results", AE_I32, AE_OUT, "num_strings",
                 .meaning = "1 for accepted strings, else 0",
                 .rule = {AE_EXACT, .reason = "acceptance is a yes or a no"}},
};

/* --- automata
 * ------------------------------------------------------------------------------------------- */

struct set {
    uint64_t word[WORDS];
};

/* An automaton under construction; states 0..used-1 exist, all others cannot be reached. */
struct automaton {
    int states, symbols, used, start;
    struct set trans[STATES_MAX * SYMBOLS_MAX], eps[STATES_MAX];
    bool accept[STATES_MAX];
};

static void add(struct set *set, int state)
{
    set->word[state / 64] |= UINT64_C(1) << state % 64;
}

static bool has(const struct set *set, int state)
{
    return set->word[state / 64] >> state % 64 & 1;
}

static bool unite(struct set *to, const struct set *from)
{
    uint64_t more = 0;
    for (int w = 0; w < WORDS; w++) {
        more |= from->word[w] & ~to->word[w];
        to->word[w] |= from->word[w];
    }
    return more != 0;
}

static void edge(struct automaton *a, int from, int symbol, int to)
{
    add(&a->trans[from * a->symbols + symbol], to);
}

static int new_states(struct automaton *a, int count)
{
    a->used += count;
    return a->used - count;
}

/* The last symbol is forbidden: no part has a transition on it. */
static int allowed(const struct automaton *a)
{
    return a->symbols > 1 ? a->symbols - 1 : 1;
}

/* `size` of the allowed symbols. */
static void draw_class(const struct automaton *a, struct ae_rng *rng, int size, bool *in_class)
{
    int32_t order[SYMBOLS_MAX];
    ae_rng_permutation(rng, order, (size_t)allowed(a));
    for (int c = 0; c < a->symbols; c++)
        in_class[c] = false;
    for (int k = 0; k < size && k < allowed(a); k++)
        in_class[order[k]] = true;
}

/* How many symbols of one class modulo p, and of another modulo q, there have been so far; some of
 * the p*q cases are accepted. */
static void add_counters(struct automaton *a, struct ae_rng *rng, int p, int q, int accepted)
{
    bool first[SYMBOLS_MAX], second[SYMBOLS_MAX];
    draw_class(a, rng, (int)ae_rng_range(rng, allowed(a) / 4 + 1, allowed(a) / 2 + 1), first);
    draw_class(a, rng, (int)ae_rng_range(rng, allowed(a) / 4 + 1, allowed(a) / 2 + 1), second);
    const int base = new_states(a, p * q);
    for (int s = 0; s < p * q; s++)
        for (int c = 0; c < allowed(a); c++)
            edge(a, base + s, c, base + (s / q + first[c]) % p * q + (s % q + second[c]) % q);
    for (int k = 0; k < accepted; k++)
        a->accept[base + (int)ae_rng_below(rng, (uint32_t)(p * q))] = true;
    add(&a->eps[a->start], base);
}

/* The k-th symbol from the end is in a class: as a deterministic automaton it has 2^k states. */
static void add_from_end(struct automaton *a, struct ae_rng *rng, int k, int class_size)
{
    bool in_class[SYMBOLS_MAX];
    draw_class(a, rng, class_size, in_class);
    const int base = new_states(a, k + 1);
    for (int c = 0; c < allowed(a); c++) {
        edge(a, base, c, base);
        if (in_class[c])
            edge(a, base, c, base + 1);
        for (int s = 1; s < k; s++)
            edge(a, base + s, c, base + s + 1);
    }
    a->accept[base + k] = true;
    add(&a->eps[a->start], base);
}

/* .*W(X|YX|YYX)*Z with a star as Thompson builds it, whose epsilon edges form a cycle. */
static void add_fragment(struct automaton *a, struct ae_rng *rng)
{
    bool w[SYMBOLS_MAX], y[SYMBOLS_MAX], z[SYMBOLS_MAX];
    draw_class(a, rng, allowed(a) / 5 + 1, w);
    draw_class(a, rng, allowed(a) / 3 + 1, y);
    draw_class(a, rng, allowed(a) / 6 + 1, z);
    const int base = new_states(a, 7), head = base + 1, body = base + 2, tail = base + 3;
    for (int c = 0; c < allowed(a); c++) {
        edge(a, base, c, base);
        if (w[c])
            edge(a, base, c, head);
        if (z[c])
            edge(a, tail, c, base + 6);
        if (y[c]) {
            edge(a, body, c, base + 4);
            edge(a, base + 4, c, base + 5);
        } else {
            edge(a, body, c, tail);
            edge(a, base + 4, c, tail);
            edge(a, base + 5, c, tail);
        }
    }
    add(&a->eps[head], body);
    add(&a->eps[head], tail);
    add(&a->eps[tail], head);
    a->accept[base + 6] = true;
    add(&a->eps[a->start], base);
}

/* 0.1 to 0.34 of the cases of a product. */
static int some_of(struct ae_rng *rng, int cases)
{
    return 1 + (int)(ae_rng_uniform(rng, 0.1, 0.34) * cases);
}

static void draw_parts(struct automaton *a, struct ae_rng *rng)
{
    a->start = new_states(a, 1);
    if (a->states < 48) {
        add_counters(a, rng, 2, 3, some_of(rng, 6));
        add_counters(a, rng, 7, 1, 1);
        add_from_end(a, rng, 4, 4);
    } else if (a->states < 100) {
        add_counters(a, rng, 3, 5, some_of(rng, 15));
        add_counters(a, rng, 2, 5, some_of(rng, 10));
        add_counters(a, rng, 11, 1, 1);
        add_from_end(a, rng, 10, 4);
    } else {
        add_counters(a, rng, 5, 7, some_of(rng, 35));
        add_counters(a, rng, 7, 3, some_of(rng, 21));
        add_counters(a, rng, 11, 1, 1);
        add_from_end(a, rng, 12, 3);
    }
    add_fragment(a, rng);
}

/* Any state to any others, as published. */
static void draw_random(struct automaton *a, struct ae_rng *rng)
{
    a->start = 0;
    a->used = a->states;
    for (int s = 0; s < a->states; s++) {
        for (int c = 0; c < a->symbols; c++)
            for (uint32_t k = ae_rng_poisson(rng, 1.5); k > 0; k--)
                edge(a, s, c, (int)ae_rng_below(rng, (uint32_t)a->states));
        for (uint32_t k = ae_rng_poisson(rng, 0.2); k > 0; k--)
            add(&a->eps[s], (int)ae_rng_below(rng, (uint32_t)a->states));
        a->accept[s] = s >= a->states - a->states / 8;
    }
}

static void draw_automaton(struct automaton *a, struct ae_rng *rng, int family)
{
    const int states = a->states, symbols = a->symbols;
    memset(a, 0, sizeof *a);
    a->states = states;
    a->symbols = symbols;
    switch (family) {
    case F_DEEP:
        a->start = new_states(a, 1);
        add_from_end(a, rng, 20, allowed(a) / 2);
        break;
    case F_RANDOM:
        draw_random(a, rng);
        break;
    case F_TINY:
        draw_random(a, rng);
        a->accept[ae_rng_below(rng, (uint32_t)states)] = true;
        break;
    case F_ODD: /* parts, more cycles of epsilon edges, and the empty string accepted */
        draw_parts(a, rng);
        for (int k = 0; k < 3; k++) {
            const int s = (int)ae_rng_below(rng, (uint32_t)a->states);
            add(&a->eps[s], s);
            add(&a->eps[a->used + k], a->used + (k + 1) % 3); /* among states out of reach */
        }
        a->accept[a->start] = true;
        break;
    default:
        draw_parts(a, rng);
    }
}

/* --- is the automaton a good one?
 * ----------------------------------------------------------------------- */

static void close_set(const struct automaton *a, struct set *set)
{
    bool more = true;
    while (more) {
        more = false;
        for (int s = 0; s < a->states; s++)
            if (has(set, s))
                more |= unite(set, &a->eps[s]);
    }
}

/* closed[s*symbols+c]: all states reached from s by c and epsilon edges after it. */
static bool accepts(const struct automaton *a, const struct set *closed, const int32_t *string,
                    int64_t length)
{
    struct set set = {{0}};
    add(&set, a->start);
    close_set(a, &set);
    for (int64_t i = 0; i < length; i++) {
        struct set next = {{0}};
        for (int s = 0; s < a->used; s++)
            if (has(&set, s))
                unite(&next, &closed[s * a->symbols + string[i]]);
        set = next;
    }
    for (int s = 0; s < a->used; s++)
        if (has(&set, s) && a->accept[s])
            return true;
    return false;
}

/* Exponential, cut at three times the average: many short strings, some long. */
static int64_t draw_length(struct ae_rng *rng, int64_t average)
{
    const int64_t length = 1 + (int64_t)((double)average * ae_rng_exponential(rng));
    return length < 3 * average ? length : 3 * average;
}

/* Symbols at random, the forbidden one in 15 % of the strings, whatever their length. */
static void fill_string(struct ae_rng *rng, int32_t *string, int64_t length, int32_t symbols)
{
    const int32_t free_symbols = symbols > 1 ? symbols - 1 : 1;
    ae_rng_fill_i32(rng, string, (size_t)length, 0, (uint32_t)free_symbols);
    if (length > 0 && ae_rng_chance(rng, 0.15))
        string[ae_rng_below64(rng, (uint64_t)length)] = symbols - 1;
}

/* On a sample of strings: are 30 to 70 % accepted, do symbols in the middle count, and
 * are the ends of the strings not enough? */
static bool worth_asking(const struct automaton *a, const struct set *closed, struct ae_rng *rng,
                         int64_t average, int32_t *string)
{
    enum { SAMPLE = 200, END = 32 };
    int accepted = 0, flipped = 0, agreed = 0;
    for (int k = 0; k < SAMPLE; k++) {
        const int64_t length = draw_length(rng, average);
        fill_string(rng, string, length, a->symbols);
        const bool answer = accepts(a, closed, string, length);
        accepted += answer;
        int32_t *at =
            &string[length / 4 + (int64_t)ae_rng_below64(rng, (uint64_t)(length / 2 + 1))];
        const int32_t kept = *at;
        *at = (kept + 1 + (int32_t)ae_rng_below(rng, (uint32_t)allowed(a) - 1)) % allowed(a);
        flipped += accepts(a, closed, string, length) != answer;
        *at = kept;
        if (length > 2 * END)
            memmove(string + END, string + length - END, END * sizeof *string);
        agreed += accepts(a, closed, string, length > 2 * END ? 2 * END : length) == answer;
    }
    return accepted >= SAMPLE * 3 / 10 && accepted <= SAMPLE * 7 / 10 && flipped >= SAMPLE / 5 &&
           agreed < SAMPLE * 9 / 10;
}

static int draw_worthy(struct automaton *a, struct ae_rng *rng, int64_t average,
                       struct ae_error *err)
{
    struct set *closed = malloc((size_t)(a->states * a->symbols) * sizeof *closed);
    int32_t *string = malloc((size_t)(3 * average) * sizeof *string);
    int draws = 0;
    bool good = false;
    while (closed && string && !good && draws < DRAWS_MAX) {
        draws++;
        draw_automaton(a, rng, F_PARTS);
        for (int k = 0; k < a->used * a->symbols; k++) {
            closed[k] = a->trans[k];
            close_set(a, &closed[k]);
        }
        good = worth_asking(a, closed, rng, average, string);
    }
    free(closed);
    free(string);
    if (!good)
        return draws == DRAWS_MAX
                   ? ae_error_set(err, AE_E_INTERNAL, "no good automaton in %d draws", draws)
                   : ae_error_set(err, AE_E_NOMEM, "no memory for an automaton");
    return AE_OK;
}

/* --- the instance
 * --------------------------------------------------------------------------------------- */

static size_t list_states(const struct set *set, const int32_t *number, int states,
                          int32_t *targets)
{
    size_t count = 0;
    for (int s = 0; s < states; s++) {
        if (!has(set, s))
            continue;
        size_t k = count++; /* ascending */
        for (; targets && k > 0 && targets[k - 1] > number[s]; k--)
            targets[k] = targets[k - 1];
        if (targets)
            targets[k] = number[s];
    }
    return count;
}

/* The automaton with its states renumbered at random, in the arrays of the interface. */
static int store_automaton(struct ae_instance *inst, struct ae_rng *rng, const struct automaton *a,
                           struct ae_error *err)
{
    const int states = a->states, symbols = a->symbols;
    int32_t number[STATES_MAX], state[STATES_MAX];
    ae_rng_permutation(rng, number, (size_t)states);
    for (int s = 0; s < states; s++)
        state[number[s]] = s;
    ae_set_i32(inst, NUM_STATES, states);
    ae_set_i32(inst, NUM_SYMBOLS, symbols);
    ae_set_i32(inst, START_STATE, number[a->start]);
    size_t trans_count = 0, eps_count = 0;
    for (int s = 0; s < states; s++) {
        eps_count += list_states(&a->eps[s], number, states, NULL);
        for (int c = 0; c < symbols; c++)
            trans_count += list_states(&a->trans[s * symbols + c], number, states, NULL);
    }
    int32_t *trans_offsets = ae_new_array(inst, TRANS_OFFSETS, (size_t)(states * symbols) + 1, err);
    int32_t *trans_targets = ae_new_array(inst, TRANS_TARGETS, trans_count, err);
    int32_t *eps_offsets = ae_new_array(inst, EPS_OFFSETS, (size_t)states + 1, err);
    int32_t *eps_targets = ae_new_array(inst, EPS_TARGETS, eps_count, err);
    int32_t *is_accept = ae_new_array(inst, IS_ACCEPT, (size_t)states, err);
    if (!trans_offsets || !trans_targets || !eps_offsets || !eps_targets || !is_accept)
        return AE_E_NOMEM;
    trans_offsets[0] = eps_offsets[0] = 0;
    for (int k = 0; k < states; k++) {
        const int s = state[k];
        is_accept[k] = a->accept[s];
        eps_offsets[k + 1] = eps_offsets[k] + (int32_t)list_states(&a->eps[s], number, states,
                                                                   eps_targets + eps_offsets[k]);
        for (int c = 0; c < symbols; c++) {
            const int row = k * symbols + c;
            trans_offsets[row + 1] =
                trans_offsets[row] + (int32_t)list_states(&a->trans[s * symbols + c], number,
                                                          states,
                                                          trans_targets + trans_offsets[row]);
        }
    }
    return AE_OK;
}

static int store_strings(struct ae_instance *inst, struct ae_rng *rng, int64_t strings,
                         int64_t average, struct ae_error *err)
{
    const bool odd = inst->family == F_ODD || inst->family == F_TINY;
    const int32_t symbols = inst->scalar[NUM_SYMBOLS].i32;
    int32_t *offsets = ae_new_array(inst, STR_OFFSETS, (size_t)strings + 1, err);
    if (!offsets)
        return AE_E_NOMEM;
    offsets[0] = 0;
    for (int64_t i = 0; i < strings; i++) {
        const bool empty = ae_rng_chance(rng, odd ? 0.1 : 0.002);
        offsets[i + 1] = offsets[i] + (empty ? 0 : (int32_t)draw_length(rng, average));
    }
    const int32_t total = offsets[strings];
    int32_t *data = ae_new_array(inst, STR_DATA, (size_t)total, err);
    if (!data)
        return AE_E_NOMEM;
    for (int64_t i = 0; i < strings; i++)
        fill_string(rng, data + offsets[i], offsets[i + 1] - offsets[i], symbols);
    if (inst->family == F_TINY && ae_rng_chance(rng, 0.5) && total > 0)
        data[ae_rng_below(rng, (uint32_t)total)] = -1;
    /* Symbols that are none, one in a hundred thousand or more often. */
    const int32_t strange[] = {-1, symbols, INT32_MAX, INT32_MIN};
    for (int32_t k = inst->family == F_TINY ? 0 : 3 + total / (odd ? 1000 : 100000); k > 0; k--)
        data[ae_rng_below(rng, (uint32_t)total)] = strange[ae_rng_below(rng, 4)];
    ae_set_i32(inst, NUM_STRINGS, strings);
    ae_set_i32(inst, TOTAL_CHARS, total);
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t strings = inst->param[P_STRINGS], average = inst->param[P_LENGTH];
    strings -= ae_rng_range(rng, 1, strings / 50);
    struct automaton *a = malloc(sizeof *a);
    if (!a)
        return ae_error_set(err, AE_E_NOMEM, "no memory for an automaton");
    a->states = (int)inst->param[P_STATES];
    a->symbols = 26;
    if (inst->family == F_ODD) {
        a->states = ae_rng_chance(rng, 0.5) ? 41 : 100;
        a->symbols = ae_rng_chance(rng, 0.5) ? 5 : 40;
    } else if (inst->family == F_TINY) {
        a->states = (int)ae_rng_range(rng, 1, 5);
        a->symbols = (int)ae_rng_range(rng, 1, 3);
        strings = ae_rng_range(rng, 1, 20);
        average = 4;
    }
    int rc = AE_OK;
    if (inst->family == F_PARTS)
        rc = draw_worthy(a, rng, average, err);
    else
        draw_automaton(a, rng, inst->family);
    if (rc == AE_OK)
        rc = store_automaton(inst, rng, a, err);
    free(a);
    return rc == AE_OK ? store_strings(inst, rng, strings, average, err) : rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, RESULTS, (size_t)inst->scalar[NUM_STRINGS].i32);
}

/* count+1 offsets from 0, never falling, up to the number of elements. */
static int check_offsets(const struct ae_instance *inst, int offsets_arg, size_t count,
                         int elements_arg, struct ae_error *err)
{
    const struct ae_array *array = &inst->array[offsets_arg];
    const char *name = args[offsets_arg].name;
    if (array->count != count + 1)
        return ae_error_set(err, AE_E_INPUT, "%s has %zu elements, not %zu", name, array->count,
                            count + 1);
    const int32_t *offsets = array->data;
    if (offsets[0] != 0 || offsets[count] < 0 ||
        (size_t)offsets[count] != inst->array[elements_arg].count)
        return ae_error_set(err, AE_E_INPUT, "%s does not run from 0 to the %zu elements of %s",
                            name, inst->array[elements_arg].count, args[elements_arg].name);
    for (size_t i = 0; i < count; i++)
        if (offsets[i + 1] < offsets[i])
            return ae_error_set(err, AE_E_INPUT, "%s falls at %zu", name, i + 1);
    return AE_OK;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t states = inst->scalar[NUM_STATES].i32, symbols = inst->scalar[NUM_SYMBOLS].i32;
    const int32_t start = inst->scalar[START_STATE].i32, strings = inst->scalar[NUM_STRINGS].i32;
    if (states < 1 || states > STATES_MAX || symbols < 1 || symbols > 65536)
        return ae_error_set(err, AE_E_INPUT,
                            "%d states and %d symbols; 1 to %d and 1 to 65536 are possible", states,
                            symbols, STATES_MAX);
    if (start < 0 || start >= states || strings < 1)
        return ae_error_set(err, AE_E_INPUT, "start_state is %d of %d states, num_strings %d",
                            start, states, strings);
    int rc =
        check_offsets(inst, TRANS_OFFSETS, (size_t)states * (size_t)symbols, TRANS_TARGETS, err);
    if (rc == AE_OK)
        rc = check_offsets(inst, EPS_OFFSETS, (size_t)states, EPS_TARGETS, err);
    if (rc == AE_OK)
        rc = check_offsets(inst, STR_OFFSETS, (size_t)strings, STR_DATA, err);
    if (rc != AE_OK)
        return rc;
    if (inst->array[STR_DATA].count != (size_t)inst->scalar[TOTAL_CHARS].i32)
        return ae_error_set(err, AE_E_INPUT, "total_chars is %d for %zu symbols",
                            inst->scalar[TOTAL_CHARS].i32, inst->array[STR_DATA].count);
    for (int a = TRANS_TARGETS; a <= EPS_TARGETS; a += EPS_TARGETS - TRANS_TARGETS)
        for (size_t i = 0; i < inst->array[a].count; i++)
            if (ae_in_i32(inst, a)[i] < 0 || ae_in_i32(inst, a)[i] >= states)
                return ae_error_set(err, AE_E_INPUT, "%s[%zu] is %d of %d states", args[a].name, i,
                                    ae_in_i32(inst, a)[i], states);
    if (inst->array[IS_ACCEPT].count != (size_t)states)
        return ae_error_set(err, AE_E_INPUT, "is_accept has %zu elements for %d states",
                            inst->array[IS_ACCEPT].count, states);
    for (int32_t s = 0; s < states; s++)
        if (ae_in_i32(inst, IS_ACCEPT)[s] != 0 && ae_in_i32(inst, IS_ACCEPT)[s] != 1)
            return ae_error_set(err, AE_E_INPUT, "is_accept[%d] is neither 0 nor 1", s);
    return AE_OK; /* symbols may be anything: those outside the alphabet reject their string */
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const int32_t *offsets = ae_in_i32(inst, STR_OFFSETS);
    int32_t longest = 1;
    for (int32_t i = 0; i < inst->scalar[NUM_STRINGS].i32; i++)
        if (offsets[i + 1] - offsets[i] > longest)
            longest = offsets[i + 1] - offsets[i];
    /* A table look-up and an OR for every eight states. */
    w->operations = 0.25 * inst->scalar[NUM_STATES].i32 * (1.0 + inst->scalar[TOTAL_CHARS].i32);
    w->steps = longest;
}

const struct ae_task ae_task_regex_match = {
    .id = "regex_match",
    .title = "Many strings through one nondeterministic automaton",
    .domain = AE_SPATIAL,
    .lineage = "Thompson's simulation of nondeterministic automata (1968)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"num_strings", "average_length", "num_states"},
    .sizes =
        {[AE_SMALL] = {{1000, 100, 32}},
         [AE_MEDIUM] = {{100000, 200, 64}},
         [AE_LARGE] =
             {{200000, 500, 128},
              .not_as_published = true,
              .note =
                  "a fifth of the published million strings, which would be 1.5 GB of symbols"}},
    .families =
        {{"parts",
          "counters, k-th from the end and a starred expression in one: every symbol counts",
          AE_ALL_SIZES},
         {"deep", "the 20th symbol from the end: a million subsets of states",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"random", "any state to any others: large sets, soon independent of the past",
          AE_AT(AE_SMALL)},
         {"odd", "empty strings, start accepting, other alphabets, many symbols outside them",
          AE_AT(AE_SMALL)},
         {"tiny", "up to five states and twenty short strings", AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 0.01,
    .published_note =
        "published automata forget their past within some ten symbols; the middle of every string "
        "hardly counts there",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
