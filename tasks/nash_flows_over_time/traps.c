#include "task/traps.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUM_NODES,
    NUM_EDGES,
    NUM_STEPS,
    EDGE_U,
    EDGE_V,
    CAPACITY,
    TRANSIT,
    NUM_REQUESTS,
    RATES,
    RESULTS
};

/* What one wrong simulation does otherwise. */
struct fault {
    bool static_routes, largest_index, rounded, shared_rate, late, queue_first, no_capacity,
        in_flight_counts;
    int reroute_every, sweeps;
};

struct run {
    int n, m;
    const int32_t *tail, *head, *transit;
    const float *capacity;
    float *waiting, *queue, *moving;
    int *weight, *distance, *next;
};

static void find_routes(struct run *r, const struct fault *f)
{
    for (int i = 0; i < r->n; i++) {
        r->distance[i] = i == r->n - 1 ? 0 : 1000000000;
        r->next[i] = -1;
    }
    int changed = 1;
    for (int sweep = 0; changed && (!f->sweeps || sweep < f->sweeps); sweep++) {
        changed = 0;
        for (int e = 0; e < r->m; e++)
            if (r->weight[e] + r->distance[r->head[e]] < r->distance[r->tail[e]]) {
                r->distance[r->tail[e]] = r->weight[e] + r->distance[r->head[e]];
                changed = 1;
            }
    }
    for (int k = 0; k < r->m; k++) {
        const int e = f->largest_index ? k : r->m - 1 - k;
        const int to = r->distance[r->head[e]];
        if (to < 1000000000 && r->weight[e] + to == r->distance[r->tail[e]] &&
            r->tail[e] != r->n - 1)
            r->next[r->tail[e]] = e;
    }
}

static float simulate(const struct ae_instance *inst, struct run *r, const struct fault *f,
                      float rate)
{
    const size_t m = (size_t)r->m;
    float total = 0;
    memset(r->waiting, 0, (size_t)r->n * sizeof *r->waiting);
    memset(r->queue, 0, m * sizeof *r->queue);
    memset(r->moving, 0, 32 * m * sizeof *r->moving);
    for (int t = 0; t < inst->scalar[NUM_STEPS].i32; t++) {
        for (int e = 0; e < r->m; e++) {
            float *cell = &r->moving[(size_t)(t % 32) * m + (size_t)e];
            r->waiting[r->head[e]] += *cell;
            *cell = 0;
        }
        r->waiting[0] += rate;
        if (t % (f->reroute_every ? f->reroute_every : 1) == 0 && (t == 0 || !f->static_routes)) {
            for (int e = 0; e < r->m; e++) {
                const float delay = r->queue[e] / r->capacity[e] * 1000.0f;
                r->weight[e] = 1000 * r->transit[e] + (int)(f->rounded ? delay + 0.5f : delay);
            }
            find_routes(r, f);
        }
        for (int phase = 0; phase < 2; phase++)
            if ((phase == 0) != f->queue_first) {
                for (int i = 0; i < r->n - 1; i++)
                    if (r->next[i] >= 0) {
                        r->queue[r->next[i]] += r->waiting[i];
                        r->waiting[i] = 0;
                    }
            } else {
                for (int e = 0; e < r->m; e++) {
                    const float enters = f->no_capacity || r->queue[e] < r->capacity[e]
                                             ? r->queue[e]
                                             : r->capacity[e];
                    r->queue[e] -= enters;
                    const int steps = r->transit[e] + f->late < 32 ? r->transit[e] + f->late : 31;
                    r->moving[(size_t)((t + steps) % 32) * m + (size_t)e] += enters;
                }
            }
        total += r->waiting[r->n - 1];
        r->waiting[r->n - 1] = 0;
    }
    for (size_t i = 0; f->in_flight_counts && i < 32 * m; i++)
        total += r->moving[i];
    return total;
}

static bool run(const struct ae_instance *inst, struct ae_expected *answer, struct fault f)
{
    struct run r = {inst->scalar[NUM_NODES].i32,
                    inst->scalar[NUM_EDGES].i32,
                    ae_in_i32(inst, EDGE_U),
                    ae_in_i32(inst, EDGE_V),
                    ae_in_i32(inst, TRANSIT),
                    ae_in_f32(inst, CAPACITY),
                    NULL,
                    NULL,
                    NULL,
                    NULL,
                    NULL,
                    NULL};
    const size_t n = (size_t)r.n, m = (size_t)r.m;
    r.waiting = malloc(n * sizeof(float));
    r.queue = malloc(m * sizeof(float));
    r.moving = malloc(32 * m * sizeof(float));
    r.weight = malloc(m * sizeof(int));
    r.distance = malloc(n * sizeof(int));
    r.next = malloc(n * sizeof(int));
    float *out = answer->out[RESULTS].data;
    for (int k = 0; k < inst->scalar[NUM_REQUESTS].i32; k++)
        out[k] = k > 0 && f.shared_rate
                     ? out[0] * ae_in_f32(inst, RATES)[k] / ae_in_f32(inst, RATES)[0]
                     : simulate(inst, &r, &f, ae_in_f32(inst, RATES)[k]);
    free(r.waiting);
    free(r.queue);
    free(r.moving);
    free(r.weight);
    free(r.distance);
    free(r.next);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return run(inst, answer, (struct fault){__VA_ARGS__});                                     \
    }

TRAP(static_routes, .static_routes = true)
TRAP(largest_index, .largest_index = true)
TRAP(rounded, .rounded = true)
TRAP(shared_rate, .shared_rate = true)
TRAP(late, .late = true)
TRAP(queue_first, .queue_first = true)
TRAP(no_capacity, .no_capacity = true)
TRAP(in_flight_counts, .in_flight_counts = true)
TRAP(every_second, .reroute_every = 2)
TRAP(four_sweeps, .sweeps = 4)

/* min(rate, cut) times the steps that remain after the way there: near enough for the published
 * tolerance. */
static bool formula(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    double from = 0, into = 0;
    for (int e = 0; e < inst->scalar[NUM_EDGES].i32; e++) {
        from += ae_in_i32(inst, EDGE_U)[e] == 0 ? (double)ae_in_f32(inst, CAPACITY)[e] : 0;
        into += ae_in_i32(inst, EDGE_V)[e] == inst->scalar[NUM_NODES].i32 - 1
                    ? (double)ae_in_f32(inst, CAPACITY)[e]
                    : 0;
    }
    float *out = answer->out[RESULTS].data;
    for (int k = 0; k < inst->scalar[NUM_REQUESTS].i32; k++) {
        double rate = (double)ae_in_f32(inst, RATES)[k];
        rate = rate < from ? rate : from;
        rate = rate < into ? rate : into;
        out[k] = (float)(rate * (inst->scalar[NUM_STEPS].i32 - 2 * 25));
    }
    return true;
}

AE_TRAPS(nash_flows_over_time) = {
    {"a formula instead of the simulation", "random", formula},
    {"routes that ignore the queues", "random", static_routes},
    {"the route of largest index", "equal_roads", largest_index},
    {"rounds delays instead of cutting them", NULL, rounded},
    {"scales one scenario's total", "random", shared_rate},
    {"arrives a step late", "random", late},
    {"discharges before the new arrivals", "random", queue_first},
    {"ignores capacities", "random", no_capacity},
    {"counts what is still under way", "random", in_flight_counts},
    {"routes of every second step", "random", every_second},
    {"four sweeps of Bellman-Ford", "random", four_sweeps},
    {0},
};
