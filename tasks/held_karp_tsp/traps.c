#include "task/traps.h"

#include <limits.h>
#include <stdlib.h>

enum { B, N, COSTS, TOUR_COSTS_OUT };

typedef int solver(int n, const int32_t *cost);

static bool solve_all(solver *solve, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int n = inst->scalar[N].i32;
    int32_t *out = answer->out[TOUR_COSTS_OUT].data;
    for (int b = 0; b < inst->scalar[B].i32; b++)
        out[b] = solve(n, ae_in_i32(inst, COSTS) + (size_t)b * (size_t)(n * n));
    return true;
}

enum fault { SIXTEEN_BITS, FLOATS, OPEN_END, UPPER_HALF };

static float cost_of(enum fault fault, int n, const int32_t *cost, int i, int j)
{
    const bool swapped = fault == UPPER_HALF && i > j;
    return (float)cost[swapped ? j * n + i : i * n + j];
}

/* The right recursion with one thing done wrong; numbers as floats, or as 16 bits that wrap. */
static int subsets(enum fault fault, int n, const int32_t *cost)
{
    const int m = n - 1;
    float *best = malloc(((size_t)m << m) * sizeof *best), tour = 4e9f;
    if (!best)
        abort();
    for (unsigned S = 1; S < 1u << m; S++)
        for (int j = 0; j < m; j++) {
            const unsigned rest = S & ~(1u << j);
            float least = rest ? 4e9f : cost_of(fault, n, cost, 0, j + 1);
            for (int k = 0; k < m; k++)
                if (rest >> k & 1) {
                    const float x = best[rest * (unsigned)m + (unsigned)k] +
                                    cost_of(fault, n, cost, k + 1, j + 1);
                    least = x < least ? x : least;
                }
            if (fault == SIXTEEN_BITS)
                least = (float)((long long)least & 0xffff);
            if (S >> j & 1)
                best[S * (unsigned)m + (unsigned)j] = least;
        }
    for (int j = 0; j < m; j++) {
        const float x = best[((1u << m) - 1) * (unsigned)m + (unsigned)j] +
                        (fault == OPEN_END ? 0 : cost_of(fault, n, cost, j + 1, 0));
        tour = x < tour ? x : tour;
    }
    free(best);
    return tour < 2147483520.0f ? (int)tour : INT_MAX;
}

static int sixteen_bits_one(int n, const int32_t *cost)
{
    return subsets(SIXTEEN_BITS, n, cost);
}

static int floats_one(int n, const int32_t *cost)
{
    return subsets(FLOATS, n, cost);
}

static int open_end_one(int n, const int32_t *cost)
{
    return subsets(OPEN_END, n, cost);
}

static int upper_half_one(int n, const int32_t *cost)
{
    return subsets(UPPER_HALF, n, cost);
}

static int nearest_one(int n, const int32_t *cost)
{
    unsigned seen = 1;
    int at = 0, total = 0;
    for (int step = 1; step < n; step++) {
        int next = -1;
        for (int j = 1; j < n; j++)
            if (!(seen >> j & 1) && (next < 0 || cost[at * n + j] < cost[at * n + next]))
                next = j;
        total += cost[at * n + next];
        seen |= 1u << next;
        at = next;
    }
    return total + cost[at * n];
}

static int length(int n, const int32_t *cost, const int *tour)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += cost[tour[i] * n + tour[(i + 1) % n]];
    return total;
}

/* Reversals of parts of one tour while they help. */
static int two_opt_one(int n, const int32_t *cost)
{
    int tour[24];
    for (int i = 0; i < n; i++)
        tour[i] = i;
    int best = length(n, cost, tour);
    for (bool better = true; better;) {
        better = false;
        for (int i = 1; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                for (int a = i, b = j; a < b; a++, b--) {
                    const int kept = tour[a];
                    tour[a] = tour[b];
                    tour[b] = kept;
                }
                const int now = length(n, cost, tour);
                if (now < best) {
                    best = now;
                    better = true;
                    continue;
                }
                for (int a = i, b = j; a < b; a++, b--) {
                    const int kept = tour[a];
                    tour[a] = tour[b];
                    tour[b] = kept;
                }
            }
    }
    return best;
}

#define DEFINE_TRAP(name)                                                                          \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_all(name##_one, inst, answer);                                                \
    }

DEFINE_TRAP(sixteen_bits)
DEFINE_TRAP(floats)
DEFINE_TRAP(open_end)
DEFINE_TRAP(upper_half)
DEFINE_TRAP(nearest)
DEFINE_TRAP(two_opt)

AE_TRAPS(held_karp_tsp) = {
    {"16-bit table", "mixed", sixteen_bits},
    {"float table", "wide", floats},
    {"does not return to the start", "mixed", open_end},
    {"takes the costs for symmetric", "mixed", upper_half},
    {"goes to the nearest city", "mixed", nearest},
    {"improves one tour by reversals", "mixed", two_opt},
    {0},
};
