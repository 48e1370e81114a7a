/* Maximum flow by push-relabel (Goldberg & Tarjan 1988): active vertices first in, first out,
 * heights recomputed exactly now and then, and the gap rule. Excess that cannot reach the sink
 * stays where it is: only the value is asked for. */
#include <stdbool.h>
#include <stdlib.h>

/* Residual arcs u -> head[e], e in first[u]..first[u+1]-1; partner[e] is the opposite one. */
struct network {
    int n, source, sink;
    int *first, *head, *partner, *residual;
    int *height;    /* n: no residual path to the sink */
    int *current;   /* next arc to try */
    int *at_height; /* how many vertices other than the source have this height */
    int *queue, queue_first, queue_count;
    long long *excess;
};

static bool network_alloc(struct network *g, int n, int arcs)
{
    const size_t nodes = (size_t)n + 1, residuals = 2 * (size_t)arcs + 1;
    g->first = calloc(nodes, sizeof *g->first);
    g->head = malloc(residuals * sizeof *g->head);
    g->partner = malloc(residuals * sizeof *g->partner);
    g->residual = malloc(residuals * sizeof *g->residual);
    g->height = malloc(nodes * sizeof *g->height);
    g->current = malloc(nodes * sizeof *g->current);
    g->at_height = malloc(nodes * sizeof *g->at_height);
    g->queue = malloc(nodes * sizeof *g->queue);
    g->excess = calloc(nodes, sizeof *g->excess);
    return g->first && g->head && g->partner && g->residual && g->height && g->current &&
           g->at_height && g->queue && g->excess;
}

static void network_free(struct network *g)
{
    free(g->first);
    free(g->head);
    free(g->partner);
    free(g->residual);
    free(g->height);
    free(g->current);
    free(g->at_height);
    free(g->queue);
    free(g->excess);
}

/* Every arc becomes a pair: its capacity forwards, 0 backwards. Loops carry nothing and are left
 * out. */
static void network_build(struct network *g, int arcs, const int *tails, const int *heads,
                          const int *caps)
{
    for (int i = 0; i < arcs; i++)
        if (tails[i] != heads[i]) {
            g->first[tails[i] + 1]++;
            g->first[heads[i] + 1]++;
        }
    for (int v = 0; v < g->n; v++)
        g->first[v + 1] += g->first[v];
    for (int v = 0; v < g->n; v++)
        g->current[v] = g->first[v];
    for (int i = 0; i < arcs; i++)
        if (tails[i] != heads[i]) {
            const int e = g->current[tails[i]]++, back = g->current[heads[i]]++;
            g->head[e] = heads[i];
            g->head[back] = tails[i];
            g->partner[e] = back;
            g->partner[back] = e;
            g->residual[e] = caps[i];
            g->residual[back] = 0;
        }
}

/* Heights = distances to the sink along residual arcs. */
static void global_relabel(struct network *g, int *order)
{
    for (int v = 0; v < g->n; v++) {
        g->height[v] = g->n;
        g->current[v] = g->first[v];
        g->at_height[v] = 0;
    }
    int count = 0;
    g->height[g->sink] = 0;
    g->at_height[0] = 1;
    order[count++] = g->sink;
    for (int i = 0; i < count; i++) {
        const int u = order[i];
        for (int e = g->first[u]; e < g->first[u + 1]; e++) {
            const int v = g->head[e];
            if (g->residual[g->partner[e]] > 0 && g->height[v] == g->n && v != g->source) {
                g->height[v] = g->height[u] + 1;
                g->at_height[g->height[v]]++;
                order[count++] = v;
            }
        }
    }
}

static void activate(struct network *g, int v)
{
    int last = g->queue_first + g->queue_count++;
    last -= last >= g->n ? g->n : 0;
    g->queue[last] = v;
}

static void push(struct network *g, int u, int e)
{
    const int v = g->head[e];
    const int amount = g->excess[u] < g->residual[e] ? (int)g->excess[u] : g->residual[e];
    g->residual[e] -= amount;
    g->residual[g->partner[e]] += amount;
    g->excess[u] -= amount;
    if (g->excess[v] == 0 && v != g->source && v != g->sink)
        activate(g, v);
    g->excess[v] += amount;
}

static void relabel(struct network *g, int u)
{
    const int old = g->height[u];
    int lowest = g->n - 1;
    for (int e = g->first[u]; e < g->first[u + 1]; e++)
        if (g->residual[e] > 0 && g->height[g->head[e]] < lowest)
            lowest = g->height[g->head[e]];
    g->height[u] = lowest + 1;
    g->current[u] = g->first[u];
    g->at_height[old]--;
    if (g->height[u] < g->n)
        g->at_height[g->height[u]]++;
    if (g->at_height[old] == 0) /* a gap: no path to the sink leads down through it */
        for (int v = 0; v < g->n; v++)
            if (g->height[v] > old && g->height[v] < g->n) {
                g->at_height[g->height[v]]--;
                g->height[v] = g->n;
            }
}

/* Pushes what u holds until it is empty or has been relabelled. */
static bool discharge(struct network *g, int u)
{
    while (g->excess[u] > 0) {
        if (g->current[u] == g->first[u + 1]) {
            relabel(g, u);
            if (g->height[u] < g->n)
                activate(g, u);
            return true;
        }
        const int e = g->current[u];
        if (g->residual[e] > 0 && g->height[u] == g->height[g->head[e]] + 1)
            push(g, u, e);
        else
            g->current[u]++;
    }
    return false;
}

void solution_compute(int num_nodes, int num_arcs, const int *tails, const int *heads,
                      const int *caps, int source, int sink, int *max_flow_out)
{
    struct network g = {.n = num_nodes, .source = source, .sink = sink};
    int *order = malloc((size_t)num_nodes * sizeof *order);
    if (network_alloc(&g, num_nodes, num_arcs) && order) {
        network_build(&g, num_arcs, tails, heads, caps);
        for (int e = g.first[source]; e < g.first[source + 1]; e++) {
            g.excess[source] = g.residual[e];
            if (g.residual[e] > 0)
                push(&g, source, e);
        }
        global_relabel(&g, order);
        int relabels = 0;
        while (g.queue_count > 0) {
            const int u = g.queue[g.queue_first];
            g.queue_first = g.queue_first + 1 == g.n ? 0 : g.queue_first + 1;
            g.queue_count--;
            if (g.height[u] < g.n)
                relabels += discharge(&g, u);
            if (relabels >= g.n) {
                global_relabel(&g, order);
                relabels = 0;
            }
        }
        *max_flow_out = (int)g.excess[sink];
    }
    free(order);
    network_free(&g);
}
