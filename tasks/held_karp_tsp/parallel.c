/* The same recursion, arranged for vectors: for each set T of cities next[T][j] = min over k in T
 * of (path through T to k) + cost k -> j is made for all j at once, and the path through T to k is
 * next[T without k][k], made before. Sets whose upper bits agree form a block; blocks depend on
 * those with fewer upper bits only, so that the cores share blocks of equal count. */
#include <limits.h>
#include <stdlib.h>

#define UPPER 6 /* bits that name a block, where there are that many */

/* cost[k*width + j] between inner cities, start[j] from city 0. */
struct tour {
    int m, width;
    int *start, *cost, *next;
};

static inline __attribute__((always_inline)) void make_set(const struct tour *t, unsigned T,
                                                           int width)
{
    int least[24];
    for (int j = 0; j < width; j++)
        least[j] = INT_MAX;
    for (unsigned left = T; left; left &= left - 1) {
        const int k = __builtin_ctz(left);
        const int path = t->next[(size_t)(T & ~(1u << k)) * (size_t)width + (size_t)k];
        const int *const cost = t->cost + k * width;
        for (int j = 0; j < width; j++)
            least[j] = path + cost[j] < least[j] ? path + cost[j] : least[j];
    }
    int *const out = t->next + (size_t)T * (size_t)width;
    for (int j = 0; j < width; j++)
        out[j] = least[j];
}

static void make_block(const struct tour *t, unsigned first, unsigned last)
{
    unsigned T = first;
    if (T == 0) { /* the empty set: straight from city 0 */
        for (int j = 0; j < t->width; j++)
            t->next[j] = t->start[j];
        T++;
    }
    switch (t->width) {
    case 8:
        for (; T < last; T++)
            make_set(t, T, 8);
        break;
    case 16:
        for (; T < last; T++)
            make_set(t, T, 16);
        break;
    default:
        for (; T < last; T++)
            make_set(t, T, 24);
    }
}

static int shortest_tour(struct tour *t, int n, const int *costs)
{
    const int m = t->m, upper = m < 2 * UPPER ? 0 : UPPER, lower = m - upper;
    for (int j = 0; j < t->width; j++)
        t->start[j] = j < m ? costs[j + 1] : 0;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < t->width; j++)
            t->cost[k * t->width + j] = j < m ? costs[(k + 1) * n + j + 1] : 0;
    if (upper == 0) {
        make_block(t, 0, 1u << m);
    } else {
#pragma omp parallel
        for (int level = 0; level <= upper; level++) {
#pragma omp for schedule(dynamic, 1)
            for (unsigned block = 0; block < 1u << UPPER; block++)
                if (__builtin_popcount(block) == level)
                    make_block(t, block << lower, (block + 1) << lower);
        }
    }
    const unsigned all = (1u << m) - 1;
    int tour = INT_MAX;
    for (int k = 0; k < m; k++) {
        const int path = t->next[(size_t)(all & ~(1u << k)) * (size_t)t->width + (size_t)k];
        tour = path + costs[(k + 1) * n] < tour ? path + costs[(k + 1) * n] : tour;
    }
    return tour;
}

void solution_compute(int B, int n, const int *costs, int *tour_costs_out)
{
    struct tour t = {.m = n - 1, .width = n - 1 <= 8 ? 8 : n - 1 <= 16 ? 16 : 24};
    const size_t width = (size_t)t.width;
    t.start = malloc(width * sizeof *t.start);
    t.cost = malloc((size_t)t.m * width * sizeof *t.cost);
    t.next = aligned_alloc(64, ((width << t.m) * sizeof *t.next + 63) / 64 * 64);
    if (t.start && t.cost && t.next)
        for (int b = 0; b < B; b++)
            tour_costs_out[b] = shortest_tour(&t, n, costs + (size_t)b * (size_t)n * (size_t)n);
    free(t.start);
    free(t.cost);
    free(t.next);
}
