/* One simulation a thread, driven by events: only nodes with volume, roads with a queue and volumes
 * that arrive are looked at. Roads are numbered by their start, so that those of a node lie
 * together. Queues near the destination grow or shrink in every step, which shifts the distances of
 * most nodes but hardly ever the shape of the tree of shortest paths. So the old tree is priced
 * anew, in order of distance: an upper bound. One pass over the roads, in vectors, finds those that
 * offer less, mostly none; what they improve is settled by Dijkstra's algorithm. The road of
 * smallest index is looked up only for nodes that have volume to send. */
#include <stdlib.h>
#include <string.h>

#define RING        32
#define UNREACHABLE 1000000000

struct network {
    int n, m;
    int *start;                 /* first road out of each node */
    int *tail, *head, *transit; /* of each road in the new order */
    float *capacity;
    int *in_start, *in; /* roads into each node */
};

struct arrival {
    int edge;
    float volume;
};

struct entry {
    int distance, node;
};

struct state {
    float *waiting, *queue;
    int *weight, *distance;
    int *parent;                 /* a road on a shortest path from each node, -1 for none */
    int *order, order_count;     /* nodes with a parent, each after the end of that road */
    int *nodes, node_count;      /* with volume waiting */
    int *queued, queued_count;   /* roads */
    int *touched, touched_count; /* roads whose queue changed since weights were taken */
    char *is_queued, *is_touched;
    struct arrival *moving[RING];
    int moving_count[RING], moving_capacity[RING];
    struct entry *heap;
    int heap_count;
};

static void push(struct state *s, int distance, int node)
{
    int i = s->heap_count++;
    while (i > 0 && s->heap[(i - 1) / 2].distance > distance) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = (struct entry){distance, node};
}

static struct entry pop(struct state *s)
{
    const struct entry top = s->heap[0], last = s->heap[--s->heap_count];
    int i = 0;
    for (int child; (child = 2 * i + 1) < s->heap_count; i = child) {
        if (child + 1 < s->heap_count && s->heap[child + 1].distance < s->heap[child].distance)
            child++;
        if (s->heap[child].distance >= last.distance)
            break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return top;
}

static void offer(const struct network *net, struct state *s, int edge)
{
    const int node = net->tail[edge], distance = s->weight[edge] + s->distance[net->head[edge]];
    if (distance < s->distance[node]) {
        s->distance[node] = distance;
        s->parent[node] = edge;
        push(s, distance, node);
    }
}

static void settle(const struct network *net, struct state *s)
{
    while (s->heap_count > 0) {
        const struct entry top = pop(s);
        if (top.distance > s->distance[top.node])
            continue;
        for (int k = net->in_start[top.node]; k < net->in_start[top.node + 1]; k++)
            offer(net, s, net->in[k]);
    }
    /* By distance again: nearly in order already. */
    for (int i = 1; i < s->order_count; i++) {
        const int node = s->order[i], distance = s->distance[node];
        int k = i;
        for (; k > 0 && s->distance[s->order[k - 1]] > distance; k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = node;
    }
}

/* Does any of these roads offer a shorter way from its start? */
static int any_offer(const int *restrict tail, const int *restrict head, const int *restrict weight,
                     const int *restrict distance, int count)
{
    int found = 0;
#pragma omp simd reduction(| : found)
    for (int e = 0; e < count; e++)
        found |= weight[e] + distance[head[e]] < distance[tail[e]];
    return found;
}

/* Takes the weights of the touched roads and repairs the distances. */
static void repair(const struct network *net, struct state *s)
{
    int changed = 0;
    for (int k = 0; k < s->touched_count; k++) {
        const int e = s->touched[k];
        const int weight = 1000 * net->transit[e] + (int)(s->queue[e] / net->capacity[e] * 1000.0f);
        changed |= weight != s->weight[e];
        s->is_touched[e] = 0;
        s->weight[e] = weight;
    }
    s->touched_count = 0;
    if (!changed)
        return;
    for (int i = 0; i < s->order_count; i++) {
        const int node = s->order[i], e = s->parent[node];
        s->distance[node] = s->weight[e] + s->distance[net->head[e]];
    }
    const int block = 512;
    for (int first = 0; first < net->m; first += block) {
        const int count = net->m - first < block ? net->m - first : block;
        if (any_offer(net->tail + first, net->head + first, s->weight + first, s->distance, count))
            for (int e = first; e < first + count; e++)
                offer(net, s, e);
    }
    if (s->heap_count > 0)
        settle(net, s);
}

static int next_road(const struct network *net, const struct state *s, int u)
{
    for (int e = net->start[u]; e < net->start[u + 1]; e++)
        if (s->distance[net->head[e]] < UNREACHABLE &&
            s->weight[e] + s->distance[net->head[e]] == s->distance[u])
            return e;
    return -1;
}

static int send(struct state *s, int slot, int edge, float volume)
{
    if (s->moving_count[slot] == s->moving_capacity[slot]) {
        const int capacity = 2 * s->moving_capacity[slot] + 16;
        struct arrival *const more = realloc(s->moving[slot], (size_t)capacity * sizeof *more);
        if (!more)
            return -1;
        s->moving[slot] = more;
        s->moving_capacity[slot] = capacity;
    }
    s->moving[slot][s->moving_count[slot]++] = (struct arrival){edge, volume};
    return 0;
}

static void arrive(struct state *s, int node, float volume)
{
    if (s->waiting[node] == 0 && volume > 0)
        s->nodes[s->node_count++] = node;
    s->waiting[node] += volume;
}

static void reset(const struct network *net, struct state *s)
{
    for (int i = 0; i < net->n; i++) {
        s->waiting[i] = 0;
        s->distance[i] = UNREACHABLE;
        s->parent[i] = -1;
    }
    for (int e = 0; e < net->m; e++) {
        s->queue[e] = 0;
        s->weight[e] = 1000 * net->transit[e];
        s->is_queued[e] = s->is_touched[e] = 0;
    }
    memset(s->moving_count, 0, sizeof s->moving_count);
    s->node_count = s->queued_count = s->touched_count = s->heap_count = s->order_count = 0;
    s->distance[net->n - 1] = 0;
    push(s, 0, net->n - 1);
    settle(net, s);
    for (int i = 0; i < net->n; i++)
        if (s->parent[i] >= 0)
            s->order[s->order_count++] = i;
    settle(net, s);
}

static float simulate(const struct network *net, struct state *s, int num_steps, float rate)
{
    float total = 0;
    reset(net, s);
    for (int t = 0; t < num_steps; t++) {
        const int now = t % RING;
        for (int k = 0; k < s->moving_count[now]; k++)
            arrive(s, net->head[s->moving[now][k].edge], s->moving[now][k].volume);
        s->moving_count[now] = 0;
        arrive(s, 0, rate);
        repair(net, s);

        int kept = 0;
        for (int k = 0; k < s->node_count; k++) {
            const int u = s->nodes[k];
            if (u == net->n - 1)
                continue;
            const int e = next_road(net, s, u);
            if (e < 0) { /* no way from here */
                s->nodes[kept++] = u;
                continue;
            }
            s->queue[e] += s->waiting[u];
            s->waiting[u] = 0;
            if (!s->is_queued[e]) {
                s->is_queued[e] = 1;
                s->queued[s->queued_count++] = e;
            }
        }
        s->node_count = kept;
        kept = 0;
        for (int k = 0; k < s->queued_count; k++) {
            const int e = s->queued[k];
            const float enters = s->queue[e] < net->capacity[e] ? s->queue[e] : net->capacity[e];
            s->queue[e] -= enters;
            if (send(s, (t + net->transit[e]) % RING, e, enters))
                return total;
            if (!s->is_touched[e]) {
                s->is_touched[e] = 1;
                s->touched[s->touched_count++] = e;
            }
            if (s->queue[e] > 0)
                s->queued[kept++] = e;
            else
                s->is_queued[e] = 0;
        }
        s->queued_count = kept;
        total += s->waiting[net->n - 1];
        s->waiting[net->n - 1] = 0;
    }
    return total;
}

/* Stable: the ids 0..m-1 by end[id], and where each group starts. */
static void group(int n, int m, const int *end, int *start, int *list)
{
    memset(start, 0, ((size_t)n + 2) * sizeof *start);
    for (int e = 0; e < m; e++)
        start[end[e] + 2]++;
    for (int i = 2; i < n + 2; i++)
        start[i] += start[i - 1];
    for (int e = 0; e < m; e++)
        list[start[end[e] + 1]++] = e;
}

void solution_compute(int num_nodes, int num_edges, int num_steps, const int *edge_u,
                      const int *edge_v, const float *edge_capacity, const int *edge_transit_time,
                      int num_requests, const float *inflow_rates, float *results)
{
    const size_t n = (size_t)num_nodes, m = (size_t)num_edges;
    struct network net = {.n = num_nodes,
                          .m = num_edges,
                          .start = malloc((n + 2) * sizeof(int)),
                          .tail = malloc(m * sizeof(int)),
                          .head = malloc(m * sizeof(int)),
                          .transit = malloc(m * sizeof(int)),
                          .capacity = malloc(m * sizeof(float)),
                          .in_start = malloc((n + 2) * sizeof(int)),
                          .in = malloc(m * sizeof(int))};
    if (!net.start || !net.tail || !net.head || !net.transit || !net.capacity || !net.in_start ||
        !net.in)
        goto done;
    group(num_nodes, num_edges, edge_u, net.start, net.in);
    for (int k = 0; k < num_edges; k++) {
        const int e = net.in[k];
        net.tail[k] = edge_u[e];
        net.head[k] = edge_v[e];
        net.transit[k] = edge_transit_time[e];
        net.capacity[k] = edge_capacity[e];
    }
    group(num_nodes, num_edges, net.head, net.in_start, net.in);

#pragma omp parallel if (num_requests > 1)
    {
        struct state s = {.waiting = malloc(n * sizeof(float)),
                          .queue = malloc(m * sizeof(float)),
                          .weight = malloc(m * sizeof(int)),
                          .distance = malloc(n * sizeof(int)),
                          .parent = malloc(n * sizeof(int)),
                          .order = malloc(n * sizeof(int)),
                          .nodes = malloc(n * sizeof(int)),
                          .queued = malloc(m * sizeof(int)),
                          .touched = malloc(m * sizeof(int)),
                          .is_queued = malloc(m),
                          .is_touched = malloc(m),
                          .heap = malloc((2 * m + n + 2) * sizeof(struct entry))};
        const int ready = s.waiting && s.queue && s.weight && s.distance && s.parent && s.order &&
                          s.nodes && s.queued && s.touched && s.is_queued && s.is_touched && s.heap;
#pragma omp for schedule(dynamic, 1)
        for (int r = num_requests - 1; r >= 0; r--)
            if (ready)
                results[r] = simulate(&net, &s, num_steps, inflow_rates[r]);
        for (int slot = 0; slot < RING; slot++)
            free(s.moving[slot]);
        free(s.waiting);
        free(s.queue);
        free(s.weight);
        free(s.distance);
        free(s.parent);
        free(s.order);
        free(s.nodes);
        free(s.queued);
        free(s.touched);
        free(s.is_queued);
        free(s.is_touched);
        free(s.heap);
    }

done:
    free(net.start);
    free(net.tail);
    free(net.head);
    free(net.transit);
    free(net.capacity);
    free(net.in_start);
    free(net.in);
}
