/* Travelling salesman by dynamic programming over subsets (Held & Karp 1962; Bellman 1962). City 0
 * is where the tour starts and ends; a set S of the others is a bit mask in which bit j stands for
 * city j+1. */
#include <limits.h>
#include <stdlib.h>

/* cost: n*n; best: (n-1) * 2^(n-1) entries. best[S*m + j] becomes the least cost of a path that
 * starts at city 0, visits the cities of S and ends at the one of bit j. */
static int shortest_tour(int n, const int *cost, int *best)
{
    const int m = n - 1;
    const unsigned all = (1u << m) - 1;
    for (unsigned S = 1; S <= all; S++)
        for (unsigned ends = S; ends; ends &= ends - 1) {
            const int j = __builtin_ctz(ends);
            const unsigned rest = S & ~(1u << j);
            const int *const from = best + (size_t)rest * (size_t)m;
            int least = rest ? INT_MAX : cost[j + 1];
            for (unsigned others = rest; others; others &= others - 1) {
                const int k = __builtin_ctz(others);
                const int candidate = from[k] + cost[(k + 1) * n + j + 1];
                if (candidate < least)
                    least = candidate;
            }
            best[(size_t)S * (size_t)m + (size_t)j] = least;
        }
    int tour = INT_MAX;
    for (int j = 0; j < m; j++) {
        const int candidate = best[(size_t)all * (size_t)m + (size_t)j] + cost[(j + 1) * n];
        if (candidate < tour)
            tour = candidate;
    }
    return tour;
}

void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    int *best = malloc(((size_t)(n - 1) << (n - 1)) * sizeof *best);
    if (!best)
        return;
    for (int b = 0; b < B; b++)
        tour_costs_out[b] = shortest_tour(n, costs + (size_t)b * (size_t)n * (size_t)n, best);
    free(best);
}
