/* Push-relabel by one core: networks of this size leave nothing to share between cores that would
 * pay for a barrier. Highest vertex first; vertices numbered anew in the order of a search from the
 * sink, so that neighbours lie close together; an arc is one record; no vertex receives more than
 * it or the sink can pass on; vertices that no path joins to the sink never take part. */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct arc {
    int head, partner, residual;
};

struct node {
    long long excess;
    int first, current;
    int above, before; /* list of all vertices of a height, doubly linked */
    int waiting;       /* stack of active vertices of a height */
};

struct network {
    int n, sink; /* vertices that reach the sink; the source is none of them */
    struct node *node;
    struct arc *arc;
    int *height;           /* n: no residual path to the sink */
    int *members, *active; /* by height: heads of the lists, -1 where empty */
    int highest_active, highest;
};

static void list_add(struct network *g, int v)
{
    struct node *const node = &g->node[v];
    node->before = -1;
    node->above = g->members[g->height[v]];
    if (node->above >= 0)
        g->node[node->above].before = v;
    g->members[g->height[v]] = v;
    g->highest = g->height[v] > g->highest ? g->height[v] : g->highest;
}

static void list_remove(struct network *g, int v)
{
    const struct node *const node = &g->node[v];
    if (node->above >= 0)
        g->node[node->above].before = node->before;
    if (node->before >= 0)
        g->node[node->before].above = node->above;
    else
        g->members[g->height[v]] = node->above;
}

static void activate(struct network *g, int v)
{
    struct node *const node = &g->node[v];
    node->waiting = g->active[g->height[v]];
    g->active[g->height[v]] = v;
    g->highest_active = g->height[v] > g->highest_active ? g->height[v] : g->highest_active;
}

static void global_relabel(struct network *g, int *order)
{
    for (int v = 0; v < g->n; v++) {
        g->height[v] = g->n;
        g->node[v].current = g->node[v].first;
        g->members[v] = g->active[v] = -1;
    }
    g->highest = g->highest_active = 0;
    g->height[g->sink] = 0;
    order[0] = g->sink;
    for (int i = 0, count = 1; i < count; i++) {
        const int u = order[i];
        for (int e = g->node[u].first; e < g->node[u + 1].first; e++) {
            const int v = g->arc[e].head;
            if (g->height[v] == g->n && g->arc[g->arc[e].partner].residual > 0) {
                g->height[v] = g->height[u] + 1;
                order[count++] = v;
            }
        }
        if (u != g->sink) {
            list_add(g, u);
            if (g->node[u].excess > 0)
                activate(g, u);
        }
    }
}

/* Returns the arcs looked at; u ends without excess or without a path to the sink. */
static long long discharge(struct network *g, int u)
{
    struct node *const node = &g->node[u];
    const int end = g->node[u + 1].first;
    long long looked = 0;
    for (;;) {
        for (; node->current < end; node->current++) {
            struct arc *const a = &g->arc[node->current];
            if (a->residual == 0 || g->height[a->head] != g->height[u] - 1)
                continue;
            struct node *const to = &g->node[a->head];
            const int amount = node->excess < a->residual ? (int)node->excess : a->residual;
            a->residual -= amount;
            g->arc[a->partner].residual += amount;
            if (to->excess == 0 && a->head != g->sink)
                activate(g, a->head);
            to->excess += amount;
            node->excess -= amount;
            if (node->excess == 0)
                return looked;
        }
        const int old = g->height[u];
        list_remove(g, u);
        if (g->members[old] < 0) { /* a gap: everything above is cut off */
            for (int h = old + 1; h <= g->highest; h++) {
                for (int v = g->members[h]; v >= 0; v = g->node[v].above)
                    g->height[v] = g->n;
                g->members[h] = -1;
            }
            g->highest = old - 1;
            g->height[u] = g->n;
            return looked;
        }
        int lowest = g->n;
        for (int e = node->first; e < end; e++)
            if (g->arc[e].residual > 0 && g->height[g->arc[e].head] < lowest) {
                lowest = g->height[g->arc[e].head];
                node->current = e;
            }
        looked += end - node->first + 12;
        if (lowest + 1 >= g->n) {
            g->height[u] = g->n;
            return looked;
        }
        g->height[u] = lowest + 1;
        list_add(g, u);
    }
}

static long long solve(struct network *g, int *order)
{
    long long looked = 0;
    const long long enough = 24LL * g->n + 4LL * g->node[g->n].first;
    global_relabel(g, order);
    while (g->highest_active > 0) {
        const int u = g->active[g->highest_active];
        if (u < 0) {
            g->highest_active--;
            continue;
        }
        g->active[g->highest_active] = g->node[u].waiting;
        if (g->height[u] < g->n)
            looked += discharge(g, u);
        if (looked > enough) {
            global_relabel(g, order);
            looked = 0;
        }
    }
    return g->node[g->sink].excess;
}

/* number[v]: 0.. in the order of a search from the sink against the arcs, -1 for the source and
 * what it skips. */
static int renumber(int n, int arcs, const int *tails, const int *heads, const int *caps,
                    int source, int sink, int *number, int *order)
{
    int *first = calloc((size_t)n + 2, sizeof *first),
        *tail_of = malloc(((size_t)arcs + 1) * sizeof *tail_of);
    int count = 0;
    if (first && tail_of) {
        for (int i = 0; i < arcs; i++)
            first[heads[i] + 2] += caps[i] > 0;
        for (int v = 0; v < n; v++)
            first[v + 2] += first[v + 1];
        for (int i = 0; i < arcs; i++)
            if (caps[i] > 0)
                tail_of[first[heads[i] + 1]++] = tails[i];
        memset(number, 0xff, (size_t)n * sizeof *number);
        number[sink] = 0;
        order[count++] = sink;
        for (int i = 0; i < count; i++)
            for (int e = first[order[i]]; e < first[order[i] + 1]; e++)
                if (number[tail_of[e]] < 0 && tail_of[e] != source) {
                    number[tail_of[e]] = count;
                    order[count++] = tail_of[e];
                }
    }
    free(first);
    free(tail_of);
    return count;
}

/* Arcs between vertices that matter, and what the source sends. */
static void build(struct network *g, int arcs, const int *tails, const int *heads, const int *caps,
                  int source, const int *number)
{
    for (int i = 0; i < arcs; i++) {
        const int u = number[tails[i]], v = number[heads[i]];
        if (u > 0 && v >= 0 && u != v && caps[i] > 0) {
            g->node[u + 1].first++;
            g->node[v + 1].first++;
        }
    }
    for (int v = 0; v < g->n; v++) {
        g->node[v + 1].first += g->node[v].first;
        g->node[v].current = g->node[v].first;
    }
    for (int i = 0; i < arcs; i++) {
        const int u = number[tails[i]], v = number[heads[i]];
        if (tails[i] == source && v >= 0)
            g->node[v].excess += caps[i];
        if (u > 0 && v >= 0 && u != v && caps[i] > 0) {
            const int e = g->node[u].current++, back = g->node[v].current++;
            g->arc[e] = (struct arc){v, back, caps[i]};
            g->arc[back] = (struct arc){u, e, 0};
        }
    }
    for (int v = 1; v < g->n; v++) {
        long long out = 0;
        for (int e = g->node[v].first; e < g->node[v + 1].first; e++)
            out += g->arc[e].residual;
        if (g->node[v].excess > out)
            g->node[v].excess = out;
    }
}

void solution_compute(int num_nodes, int num_arcs, const int *tails, const int *heads,
                      const int *caps, int source, int sink, int *max_flow_out)
{
    const size_t nodes = (size_t)num_nodes + 1;
    int *number = malloc(nodes * sizeof *number), *order = malloc(nodes * sizeof *order);
    struct network g = {.sink = 0};
    g.node = calloc(nodes, sizeof *g.node);
    g.height = malloc(nodes * sizeof *g.height);
    g.members = malloc(nodes * sizeof *g.members);
    g.active = malloc(nodes * sizeof *g.active);
    g.arc = malloc((2 * (size_t)num_arcs + 1) * sizeof *g.arc);
    if (number && order && g.node && g.height && g.members && g.active && g.arc) {
        g.n = renumber(num_nodes, num_arcs, tails, heads, caps, source, sink, number, order);
        build(&g, num_arcs, tails, heads, caps, source, number);
        *max_flow_out = (int)solve(&g, order);
    }
    free(number);
    free(order);
    free(g.node);
    free(g.height);
    free(g.members);
    free(g.active);
    free(g.arc);
}
