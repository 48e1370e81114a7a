#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, XS, YS, EPS, MINPTS, LABELS };

struct fault {
    bool first_come;   /* a border belongs to the first cluster that reaches it */
    bool last_come;    /* ... to the last one */
    bool self_counted; /* a point is its own neighbour */
    bool any_member;   /* clusters numbered by their first point of any kind */
    int rounds;        /* of label propagation; 0: as many as needed */
    int capacity;      /* points seen in a cell of edge eps; 0: all */
    bool unit_square;  /* points outside of [0,1] are noise */
    bool no_borders;   /* borders are noise */
    bool box;          /* neighbourhoods are squares */
};

struct work {
    int count, min_pts;
    double eps;
    struct sorted {
        double x, y;
        int index;
        bool hidden;
    } * p; /* by x */
    int *degree, *label, *next;
};

static int by_x(const void *a, const void *b)
{
    const struct sorted *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x)
                        : (p->index > q->index) - (p->index < q->index);
}

static bool near(const struct work *w, int i, int j, struct fault fault)
{
    const double dx = w->p[i].x - w->p[j].x, dy = w->p[i].y - w->p[j].y;
    if (w->p[i].hidden || w->p[j].hidden)
        return false;
    return fault.box ? fabs(dx) <= w->eps && fabs(dy) <= w->eps
                     : dx * dx + dy * dy <= w->eps * w->eps;
}

/* For each pair of near points, i < j in the order of x. */
#define FOR_EACH_PAIR(w, i, j)                                                                     \
    for (int i = 0; i < (w)->count; i++)                                                           \
        for (int j = i + 1; j < (w)->count && (w)->p[j].x - (w)->p[i].x <= (w)->eps; j++)          \
            if (near(w, i, j, fault))

static void hide(struct work *w, struct fault fault)
{
    for (int i = 0; i < w->count; i++) {
        int before = 0;
        if (fault.unit_square)
            w->p[i].hidden = w->p[i].x < 0 || w->p[i].x > 1 || w->p[i].y < 0 || w->p[i].y > 1;
        for (int j = i - 1; fault.capacity && j >= 0 && w->p[i].x - w->p[j].x <= w->eps; j--)
            before += floor(w->p[i].x / w->eps) == floor(w->p[j].x / w->eps) &&
                      floor(w->p[i].y / w->eps) == floor(w->p[j].y / w->eps);
        if (fault.capacity && before >= fault.capacity)
            w->p[i].hidden = true;
    }
}

static bool core(const struct work *w, int i)
{
    return w->degree[i] >= w->min_pts;
}

/* Labels of core points: the smallest original number in the component. */
static void propagate(struct work *w, struct fault fault)
{
    bool changed = true;
    for (int i = 0; i < w->count; i++)
        w->label[i] = w->p[i].index;
    for (int round = 0; changed && (fault.rounds == 0 || round < fault.rounds); round++) {
        changed = false;
        memcpy(w->next, w->label, (size_t)w->count * sizeof *w->next);
        FOR_EACH_PAIR(w, i, j)
        {
            if (!core(w, i) || !core(w, j))
                continue;
            /* With unlimited rounds within a sweep too, else step by step. */
            const int *from = fault.rounds ? w->label : w->next;
            const int least = from[i] < from[j] ? from[i] : from[j];
            if (least < w->next[i] || least < w->next[j])
                changed = true;
            w->next[i] = least < w->next[i] ? least : w->next[i];
            w->next[j] = least < w->next[j] ? least : w->next[j];
        }
        int *kept = w->label;
        w->label = w->next;
        w->next = kept;
    }
}

static void finish(struct work *w, struct fault fault, int32_t *labels)
{
    int *first = malloc((size_t)w->count * sizeof *first),
        *number = calloc((size_t)w->count, sizeof *number);
    int *smallest = calloc((size_t)w->count, sizeof *smallest),
        *opened = calloc((size_t)w->count, sizeof *opened);
    int *largest = calloc((size_t)w->count, sizeof *largest);
    if (first && number && smallest && opened && largest) {
        /* first[seed]: the number by which a cluster is ordered. */
        for (int i = 0; i < w->count; i++)
            first[w->p[i].index] = w->p[i].index;
        if (fault.any_member) {
            FOR_EACH_PAIR(w, i, j)
            {
                const int a = w->label[i], b = w->label[j];
                if (core(w, i) && w->p[j].index < first[a])
                    first[a] = w->p[j].index;
                if (core(w, j) && w->p[i].index < first[b])
                    first[b] = w->p[i].index;
            }
        }
        /* Number clusters in that order: position of each seed among all seeds. */
        int *order = malloc((size_t)w->count * sizeof *order);
        for (int i = 0; order && i < w->count; i++)
            order[i] = -1;
        int clusters = 0;
        for (int i = 0; order && i < w->count; i++)
            if (core(w, i) && w->label[i] == w->p[i].index) {
                int at = first[w->p[i].index];
                while (order[at] >= 0) /* two clusters may share a border as their first point */
                    at = at + 1 < w->count ? at + 1 : 0;
                order[at] = w->p[i].index;
            }
        for (int i = 0; order && i < w->count; i++)
            if (order[i] >= 0)
                number[order[i]] = ++clusters;
        free(order);
        FOR_EACH_PAIR(w, i, j)
        {
            for (int side = 0; side < 2; side++) {
                const int own = side ? j : i, other = side ? i : j;
                if (!core(w, other) || core(w, own))
                    continue;
                const int k = number[w->label[other]];
                smallest[own] = smallest[own] == 0 || k < smallest[own] ? k : smallest[own];
                largest[own] = k > largest[own] ? k : largest[own];
                if (w->label[other] == w->p[other].index && k > opened[own])
                    opened[own] = k;
            }
        }
        for (int i = 0; i < w->count; i++) {
            int label = smallest[i] > opened[i] || fault.first_come ? smallest[i] : opened[i];
            label = fault.last_come ? largest[i] : label;
            label = label == 0 || fault.no_borders ? -2 : label;
            labels[w->p[i].index] = core(w, i) ? number[w->label[i]] : label;
        }
    }
    free(first);
    free(number);
    free(smallest);
    free(opened);
    free(largest);
}

static bool solve_with(struct fault fault, const struct ae_instance *inst,
                       struct ae_expected *answer)
{
    struct work w = {.count = inst->scalar[N].i32, .min_pts = inst->scalar[MINPTS].i32};
    w.eps = (double)inst->scalar[EPS].f32;
    w.p = malloc((size_t)w.count * sizeof *w.p);
    w.degree = calloc((size_t)w.count, sizeof *w.degree);
    w.label = malloc((size_t)w.count * sizeof *w.label);
    w.next = malloc((size_t)w.count * sizeof *w.next);
    const bool ready = w.p && w.degree && w.label && w.next;
    for (int i = 0; ready && i < w.count; i++) {
        w.p[i] = (struct sorted){(double)ae_in_f32(inst, XS)[i], (double)ae_in_f32(inst, YS)[i], i,
                                 false};
        w.degree[i] = fault.self_counted;
    }
    if (ready) {
        qsort(w.p, (size_t)w.count, sizeof *w.p, by_x);
        hide(&w, fault);
        FOR_EACH_PAIR(&w, i, j)
        {
            w.degree[i]++;
            w.degree[j]++;
        }
        propagate(&w, fault);
        finish(&w, fault, answer->out[LABELS].data);
    }
    free(w.p);
    free(w.degree);
    free(w.label);
    free(w.next);
    return ready;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with((struct fault){__VA_ARGS__}, inst, answer);                              \
    }

TRAP(first_come, .first_come = true)
TRAP(last_come, .last_come = true)
TRAP(self_counted, .self_counted = true)
TRAP(any_member, .any_member = true)
TRAP(few_rounds, .rounds = 64)
TRAP(capacity, .capacity = 256)
TRAP(unit_square, .unit_square = true)
TRAP(no_borders, .no_borders = true)
TRAP(box, .box = true)

/* What a relative tolerance of 1 % would let pass. */
static bool off_by_one(const struct ae_instance *inst, const struct ae_expected *right,
                       struct ae_expected *answer)
{
    const int32_t *from = right->out[LABELS].data;
    int32_t *labels = answer->out[LABELS].data;
    bool any = false;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        if (from[i] > 100) {
            labels[i]++;
            any = true;
        }
    return any;
}

AE_TRAPS(dbscan) = {
    {"gives a border to the first cluster", "overlap", first_come},
    {"gives a border to the last cluster", "overlap", last_come},
    {"counts a point as its own neighbour", "overlap", self_counted},
    {"numbers clusters by borders too", "overlap", any_member},
    {"propagates labels for 64 rounds", "spirals", few_rounds},
    {"sees 256 points of a cell", "uneven", capacity},
    {"drops points outside of the unit square", "outside", unit_square},
    {"calls borders noise", "overlap", no_borders},
    {"takes squares for neighbourhoods", "blobs", box},
    {"confuses clusters beyond 100", NULL, off_by_one},
    {0},
};
