/* Sets of states step by step are unions of what their members lead to, so the states at the start
 * can be followed apart. Those that can never meet form groups; each group becomes a deterministic
 * automaton of its own by the subset construction, and a symbol then costs one look-up a group. An
 * automaton whose subsets are too many for the strings at hand is run as it is, on bit masks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 8, SUBSETS_MAX = 16384 };

/* All sets are `words` words long. closed[(symbol*states+state)*words]: where state leads by symbol
 * and epsilon edges after it. */
struct masks {
    int states, symbols, words;
    uint64_t *closed, *start, *accept;
};

/* Subset 0 is the empty one. next[subset*symbols+symbol] is the next subset times symbols. */
struct group {
    uint32_t *next, start;
    unsigned char *accept;
};

static bool has(const uint64_t *set, int state)
{
    return set[state / 64] >> state % 64 & 1;
}

static void unite(uint64_t *to, const uint64_t *from, int words)
{
    for (int w = 0; w < words; w++)
        to[w] |= from[w];
}

static bool overlap(const uint64_t *a, const uint64_t *b, int words)
{
    uint64_t both = 0;
    for (int w = 0; w < words; w++)
        both |= a[w] & b[w];
    return both != 0;
}

/* to = where the set leads by symbol. */
static void step(const struct masks *m, const uint64_t *set, int symbol, uint64_t *to)
{
    const uint64_t *rows = m->closed + (size_t)symbol * (size_t)m->states * (size_t)m->words;
    memset(to, 0, (size_t)m->words * sizeof *to);
    for (int w = 0; w < m->words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1)
            unite(to, rows + (size_t)(64 * w + __builtin_ctzll(rest)) * (size_t)m->words, m->words);
}

static bool make_masks(struct masks *m, int start_state, const int *trans_offsets,
                       const int *trans_targets, const int *eps_offsets, const int *eps_targets,
                       const int *is_accept)
{
    const size_t states = (size_t)m->states, words = (size_t)m->words,
                 rows = states * (size_t)m->symbols;
    uint64_t *closure = calloc(states * words, sizeof *closure);
    int *list = malloc(states * sizeof *list);
    m->closed = calloc(rows * words, sizeof *m->closed);
    m->start = calloc(words, sizeof *m->start);
    m->accept = calloc(words, sizeof *m->accept);
    const bool good = closure && list && m->closed && m->start && m->accept;
    for (int s = 0; s < m->states && good; s++) {
        uint64_t *set = closure + (size_t)s * words;
        int count = 1;
        list[0] = s;
        set[s / 64] |= UINT64_C(1) << s % 64;
        for (int k = 0; k < count; k++)
            for (int e = eps_offsets[list[k]]; e < eps_offsets[list[k] + 1]; e++)
                if (!has(set, eps_targets[e])) {
                    set[eps_targets[e] / 64] |= UINT64_C(1) << eps_targets[e] % 64;
                    list[count++] = eps_targets[e];
                }
        if (is_accept[s])
            m->accept[s / 64] |= UINT64_C(1) << s % 64;
    }
    for (size_t s = 0; s < states && good; s++)
        for (size_t c = 0; c < (size_t)m->symbols; c++) {
            const size_t row = s * (size_t)m->symbols + c;
            for (int e = trans_offsets[row]; e < trans_offsets[row + 1]; e++)
                unite(m->closed + (c * states + s) * words,
                      closure + (size_t)trans_targets[e] * words, m->words);
        }
    if (good)
        unite(m->start, closure + (size_t)start_state * words, m->words);
    free(closure);
    free(list);
    return good;
}

/* reach becomes all that can follow from it, itself included. */
static void follow(const struct masks *m, uint64_t *reach, uint64_t *done)
{
    memset(done, 0, (size_t)m->words * sizeof *done);
    bool more = true;
    while (more) {
        more = false;
        for (int s = 0; s < m->states; s++) {
            if (!has(reach, s) || has(done, s))
                continue;
            more = true;
            done[s / 64] |= UINT64_C(1) << s % 64;
            for (int c = 0; c < m->symbols; c++) {
                const size_t row = (size_t)c * (size_t)m->states + (size_t)s;
                unite(reach, m->closed + row * (size_t)m->words, m->words);
            }
        }
    }
}

/* Parts the start set into groups that never meet: seeds[g], with all they lead to in reaches[g].
 * Returns their number, or 0 where there are too many. Groups that cannot lead to acceptance are
 * left out. */
static int part_start(const struct masks *m, uint64_t *seeds, uint64_t *reaches, uint64_t *scratch)
{
    const size_t words = (size_t)m->words;
    int groups = 0;
    for (int s = 0; s < m->states; s++) {
        if (!has(m->start, s))
            continue;
        if (groups == GROUPS_MAX)
            return 0;
        uint64_t *seed = seeds + (size_t)groups * words, *reach = reaches + (size_t)groups * words;
        memset(seed, 0, words * sizeof *seed);
        seed[s / 64] |= UINT64_C(1) << s % 64;
        memcpy(reach, seed, words * sizeof *seed);
        follow(m, reach, scratch);
        if (!overlap(reach, m->accept, m->words))
            continue;
        /* What it meets joins it; the last group takes the place of the one that joined. */
        for (int g = 0; g < groups;) {
            uint64_t *other_seed = seeds + (size_t)g * words, *other = reaches + (size_t)g * words;
            if (!overlap(reach, other, m->words)) {
                g++;
                continue;
            }
            unite(seed, other_seed, m->words);
            unite(reach, other, m->words);
            uint64_t *last_seed = seeds + (size_t)(groups - 1) * words;
            uint64_t *last = reaches + (size_t)(groups - 1) * words;
            memcpy(other_seed, last_seed, words * sizeof *seed);
            memcpy(other, last, words * sizeof *seed);
            memcpy(last_seed, seed, words * sizeof *seed);
            memcpy(last, reach, words * sizeof *seed);
            seed = last_seed;
            reach = last;
            groups--;
            g = 0;
        }
        groups++;
    }
    return groups;
}

/* The number of a subset, which is made if it is new; SUBSETS_MAX where there is no room. */
static int number_of(uint64_t *subsets, int *slots, int slot_count, int *count, int most,
                     const uint64_t *set, int words)
{
    uint64_t hash = 0;
    for (int w = 0; w < words; w++)
        hash = (hash ^ set[w]) * UINT64_C(0x9e3779b97f4a7c15);
    for (int slot = (int)(hash >> 40) & (slot_count - 1);; slot = (slot + 1) & (slot_count - 1)) {
        if (slots[slot] < 0) {
            if (*count == most)
                return SUBSETS_MAX;
            slots[slot] = *count;
            memcpy(subsets + (size_t)*count * (size_t)words, set, (size_t)words * sizeof *set);
            return (*count)++;
        }
        if (memcmp(subsets + (size_t)slots[slot] * (size_t)words, set,
                   (size_t)words * sizeof *set) == 0)
            return slots[slot];
    }
}

/* The subset construction from seed; false where it has more than `most` subsets. */
static bool determinise(const struct masks *m, const uint64_t *seed, int most, struct group *group)
{
    const size_t words = (size_t)m->words, symbols = (size_t)m->symbols;
    int slot_count = 16;
    while (slot_count < 2 * most)
        slot_count *= 2;
    uint64_t *subsets = malloc((size_t)(most + 2) * words * sizeof *subsets);
    int *slots = malloc((size_t)slot_count * sizeof *slots);
    group->next = malloc((size_t)most * symbols * sizeof *group->next);
    group->accept = malloc((size_t)most);
    bool good = subsets && slots && group->next && group->accept;
    if (good) {
        memset(slots, 0xff, (size_t)slot_count * sizeof *slots);
        uint64_t *to = subsets + (size_t)(most + 1) * words;
        int count = 0;
        memset(to, 0, words * sizeof *to);
        number_of(subsets, slots, slot_count, &count, most, to, m->words); /* the empty one is 0 */
        const int start = number_of(subsets, slots, slot_count, &count, most, seed, m->words);
        group->start = (uint32_t)start * (uint32_t)symbols;
        good = start != SUBSETS_MAX;
        for (int k = 0; k < count && good; k++) {
            group->accept[k] = overlap(subsets + (size_t)k * words, m->accept, m->words);
            for (size_t c = 0; c < symbols && good; c++) {
                step(m, subsets + (size_t)k * words, (int)c, to);
                const int next = number_of(subsets, slots, slot_count, &count, most, to, m->words);
                good = next != SUBSETS_MAX;
                group->next[(size_t)k * symbols + c] = (uint32_t)next * (uint32_t)symbols;
            }
        }
    }
    free(slots);
    free(subsets);
    return good;
}

/* One string through `count` groups; count is a constant wherever this is inlined. */
static inline __attribute__((always_inline)) int
run_groups(const struct group *groups, int count, unsigned symbols, const int *string, int length)
{
    uint32_t at[GROUPS_MAX];
    for (int g = 0; g < count; g++)
        at[g] = groups[g].start;
    for (int k = 0; k < length; k++) {
        const unsigned symbol = (unsigned)string[k];
        if (symbol >= symbols)
            return 0;
        uint32_t any = 0;
        for (int g = 0; g < count; g++) {
            at[g] = groups[g].next[at[g] + symbol];
            any |= at[g];
        }
        if (!any)
            return 0;
    }
    int accepted = 0;
    for (int g = 0; g < count; g++)
        accepted |= groups[g].accept[at[g] / symbols];
    return accepted;
}

static int run_string(const struct group *groups, int count, unsigned symbols, const int *string,
                      int length)
{
    switch (count) {
    case 1:
        return run_groups(groups, 1, symbols, string, length);
    case 2:
        return run_groups(groups, 2, symbols, string, length);
    case 3:
        return run_groups(groups, 3, symbols, string, length);
    case 4:
        return run_groups(groups, 4, symbols, string, length);
    case 5:
        return run_groups(groups, 5, symbols, string, length);
    case 6:
        return run_groups(groups, 6, symbols, string, length);
    default:
        return run_groups(groups, count, symbols, string, length);
    }
}

/* One string on masks; sets holds two of them. */
static int run_masks(const struct masks *m, const int *string, int length, uint64_t *sets)
{
    uint64_t *set = sets, *to = sets + m->words;
    memcpy(set, m->start, (size_t)m->words * sizeof *set);
    for (int k = 0; k < length; k++) {
        if (string[k] < 0 || string[k] >= m->symbols)
            return 0;
        if (m->words == 1) {
            const uint64_t *rows = m->closed + (size_t)string[k] * (size_t)m->states;
            uint64_t reached = 0;
            for (uint64_t rest = set[0]; rest; rest &= rest - 1)
                reached |= rows[__builtin_ctzll(rest)];
            set[0] = reached;
        } else {
            step(m, set, string[k], to);
            uint64_t *swapped = set;
            set = to;
            to = swapped;
        }
        if (!overlap(set, set, m->words))
            return 0;
    }
    return overlap(set, m->accept, m->words);
}

void solution_compute(int num_states, int num_symbols, int start_state, int num_strings,
                      int total_chars, const int *trans_offsets, const int *trans_targets,
                      const int *eps_offsets, const int *eps_targets, const int *is_accept,
                      const int *str_offsets, const int *str_data, int *results)
{
    struct masks m = {
        .states = num_states, .symbols = num_symbols, .words = (num_states + 63) / 64};
    struct group groups[GROUPS_MAX] = {{0}};
    uint64_t *scratch = malloc((2 * GROUPS_MAX + 1) * (size_t)m.words * sizeof *scratch);
    bool good = make_masks(&m, start_state, trans_offsets, trans_targets, eps_offsets, eps_targets,
                           is_accept) &&
                scratch;
    int count = 0;
    if (good) {
        uint64_t *reaches = scratch + GROUPS_MAX * (size_t)m.words;
        count = part_start(&m, scratch, reaches, reaches + GROUPS_MAX * (size_t)m.words);
        /* No more subsets than the strings pay for. */
        long long most = total_chars / (16LL * num_symbols) + 64;
        most = most < SUBSETS_MAX - 1 ? most : SUBSETS_MAX - 1;
        for (int g = 0; g < count; g++)
            if (!determinise(&m, scratch + (size_t)g * (size_t)m.words, (int)most, &groups[g]))
                count = 0;
    }

#pragma omp parallel if (total_chars > 20000)
    {
        uint64_t *sets = malloc(2 * (size_t)m.words * sizeof *sets);
#pragma omp for schedule(dynamic, 32)
        for (int i = 0; i < num_strings; i++) {
            const int *string = str_data + str_offsets[i],
                      length = str_offsets[i + 1] - str_offsets[i];
            if (count > 0)
                results[i] = run_string(groups, count, (unsigned)num_symbols, string, length);
            else if (good && sets)
                results[i] = run_masks(&m, string, length, sets);
        }
        free(sets);
    }
    for (int g = 0; g < GROUPS_MAX; g++) {
        free(groups[g].next);
        free(groups[g].accept);
    }
    free(scratch);
    free(m.closed);
    free(m.start);
    free(m.accept);
}
