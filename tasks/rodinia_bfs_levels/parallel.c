/* Level by level; a level is shared among the cores only where it is large enough to pay for it.
 * Rows lie scattered, so their starts, and then both ends of the rows themselves, are asked for
 * some vertices ahead. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD  8
#define SHARED 4096 /* vertices of a level from which on all cores take part */
#define BUFFER 1024

struct graph {
    const int *start, *degree, *head;
    int *distance;
};

static void ask_ahead(const struct graph *g, const int *queue, int i, int count)
{
    if (i + 2 * AHEAD < count) {
        __builtin_prefetch(&g->start[queue[i + 2 * AHEAD]]);
        __builtin_prefetch(&g->degree[queue[i + 2 * AHEAD]]);
    }
    if (i + AHEAD < count) {
        const int u = queue[i + AHEAD];
        __builtin_prefetch(g->head + g->start[u]);
        __builtin_prefetch(g->head + g->start[u] + g->degree[u]);
    }
}

/* One level by one core; returns the size of the next. */
static int expand(const struct graph *g, const int *queue, int count, int level, int *next)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        ask_ahead(g, queue, i, count);
        const int *row = g->head + g->start[queue[i]], *end = row + g->degree[queue[i]];
        for (; row < end; row++)
            if (g->distance[*row] < 0) {
                g->distance[*row] = level;
                next[found++] = *row;
            }
    }
    return found;
}

static bool claim(int *distance, int level)
{
    int unseen = -1;
    return __atomic_load_n(distance, __ATOMIC_RELAXED) < 0 &&
           __atomic_compare_exchange_n(distance, &unseen, level, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static void flush(const int *buffer, int count, int *next, int *found)
{
    const int at = __atomic_fetch_add(found, count, __ATOMIC_RELAXED);
    memcpy(next + at, buffer, (size_t)count * sizeof *next);
}

/* The same by all cores. */
static int expand_shared(const struct graph *g, const int *queue, int count, int level, int *next)
{
    int found = 0;
#pragma omp parallel
    {
        int buffer[BUFFER], held = 0;
#pragma omp for schedule(dynamic, 128) nowait
        for (int i = 0; i < count; i++) {
            ask_ahead(g, queue, i, count);
            const int *row = g->head + g->start[queue[i]], *end = row + g->degree[queue[i]];
            for (; row < end; row++) {
                if (!claim(&g->distance[*row], level))
                    continue;
                buffer[held++] = *row;
                if (held == BUFFER) {
                    flush(buffer, held, next, &found);
                    held = 0;
                }
            }
        }
        flush(buffer, held, next, &found);
    }
    return found;
}

void solution_compute(int num_nodes, int num_edges, int source, const int *node_start,
                      const int *node_degree, const int *edge_dst, int *out_dist)
{
    (void)num_edges;
    const struct graph g = {node_start, node_degree, edge_dst, out_dist};
    int *queue = malloc((size_t)num_nodes * sizeof *queue);
    int *next = malloc((size_t)num_nodes * sizeof *next);
    memset(out_dist, 0xff, (size_t)num_nodes * sizeof *out_dist); /* -1 */
    int count = 0;
    if (queue && next && source >= 0 && source < num_nodes) {
        out_dist[source] = 0;
        queue[count++] = source;
    }
    const int threads = omp_get_max_threads();
    for (int level = 1; count > 0; level++) {
        count = threads > 1 && count >= SHARED ? expand_shared(&g, queue, count, level, next)
                                               : expand(&g, queue, count, level, next);
        int *const kept = queue;
        queue = next;
        next = kept;
    }
    free(queue);
    free(next);
}
