/* Discrete-time dynamic traffic assignment with point queues (Vickrey): a steady inflow at node 0,
 * every driver takes the route that is fastest as the queues stand now, every road admits at most
 * its capacity per step. Routes come from Bellman-Ford sweeps, anew in every step. One simulation
 * for each inflow rate; volumes in float. */
#include <stdlib.h>

#define RING        32 /* steps that a volume can be under way, at most RING-1 */
#define UNREACHABLE 1000000000

struct network {
    int n, m;
    const int *tail, *head, *transit;
    const float *capacity;
};

struct state {
    float *waiting; /* volume at each node that has to choose its next road */
    float *queue;   /* volume before each road */
    float *moving;  /* on each road, by step of arrival modulo RING */
    int *weight;   /* of each road now: transit time and queueing delay, in thousandths of a step */
    int *distance; /* of each node to the destination */
    int *next;     /* road that leads there, -1 where none does */
};

/* Distances to node n-1, then for every node the road of smallest index that lies on a shortest
 * path. */
static void find_routes(const struct network *net, struct state *s)
{
    for (int i = 0; i < net->n; i++) {
        s->distance[i] = UNREACHABLE;
        s->next[i] = -1;
    }
    s->distance[net->n - 1] = 0;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int e = 0; e < net->m; e++) {
            const int through = s->weight[e] + s->distance[net->head[e]];
            if (through < s->distance[net->tail[e]]) {
                s->distance[net->tail[e]] = through;
                changed = 1;
            }
        }
    }
    for (int e = net->m - 1; e >= 0; e--) {
        const int to = s->distance[net->head[e]], from = s->distance[net->tail[e]];
        if (to < UNREACHABLE && s->weight[e] + to == from && net->tail[e] != net->n - 1)
            s->next[net->tail[e]] = e;
    }
}

static float simulate(const struct network *net, struct state *s, int num_steps, float rate)
{
    float total = 0;
    for (int i = 0; i < net->n; i++)
        s->waiting[i] = 0;
    for (int e = 0; e < net->m; e++) {
        s->queue[e] = 0;
        for (int slot = 0; slot < RING; slot++)
            s->moving[(size_t)e * RING + slot] = 0;
    }
    for (int t = 0; t < num_steps; t++) {
        for (int e = 0; e < net->m; e++) {
            float *arriving = &s->moving[(size_t)e * RING + t % RING];
            s->waiting[net->head[e]] += *arriving;
            *arriving = 0;
        }
        s->waiting[0] += rate;

        for (int e = 0; e < net->m; e++)
            s->weight[e] = 1000 * net->transit[e] + (int)(s->queue[e] / net->capacity[e] * 1000.0f);
        find_routes(net, s);
        for (int i = 0; i < net->n - 1; i++)
            if (s->next[i] >= 0) {
                s->queue[s->next[i]] += s->waiting[i];
                s->waiting[i] = 0;
            }

        for (int e = 0; e < net->m; e++) {
            const float enters = s->queue[e] < net->capacity[e] ? s->queue[e] : net->capacity[e];
            s->queue[e] -= enters;
            s->moving[(size_t)e * RING + (t + net->transit[e]) % RING] = enters;
        }
        total += s->waiting[net->n - 1];
        s->waiting[net->n - 1] = 0;
    }
    return total;
}

void solution_compute(int num_nodes, int num_edges, int num_steps, const int *edge_u,
                      const int *edge_v, const float *edge_capacity, const int *edge_transit_time,
                      int num_requests, const float *inflow_rates, float *results)
{
    const struct network net = {num_nodes, num_edges,         edge_u,
                                edge_v,    edge_transit_time, edge_capacity};
    const size_t n = (size_t)num_nodes, m = (size_t)num_edges;
    struct state s = {malloc(n * sizeof(float)),        malloc(m * sizeof(float)),
                      malloc(m * RING * sizeof(float)), malloc(m * sizeof(int)),
                      malloc(n * sizeof(int)),          malloc(n * sizeof(int))};
    if (s.waiting && s.queue && s.moving && s.weight && s.distance && s.next)
        for (int r = 0; r < num_requests; r++)
            results[r] = simulate(&net, &s, num_steps, inflow_rates[r]);
    free(s.waiting);
    free(s.queue);
    free(s.moving);
    free(s.weight);
    free(s.distance);
    free(s.next);
}
