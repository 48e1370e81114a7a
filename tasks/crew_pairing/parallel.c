/* The searches from all legs at once over the cores, then one radix sort and one sweep of the
 * proposals; first fit scans only the open pairings of the leg's station. The proposals and their
 * order are those of the sequential program, because ties in savings are frequent and their order
 * moves the cost of the plan by several per cent. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FEE         10000.0f
#define WAIT_LIMIT  2160
#define LABELS_MAX  50
#define RECORDS_MAX 20

struct schedule {
    int n, base;
    const int *dep, *arr, *from, *to;
    float duty_rate, block_rate;
    int max_duty, max_block, max_legs, min_rest;
    float *single;        /* cost of each leg alone */
    int *arc_start, *arc; /* legs that may follow each leg */
};

struct duty {
    int start, block, legs;
};

static inline int extend(const struct schedule *s, struct duty *duty, int leg)
{
    const int block = duty->block + s->arr[leg] - s->dep[leg];
    if (s->arr[leg] - duty->start > s->max_duty || block > s->max_block ||
        duty->legs + 1 > s->max_legs)
        return 0;
    duty->block = block;
    duty->legs++;
    return 1;
}

static double plan_cost(const struct schedule *s, const int *pairing, int *last)
{
    double duty_minutes = 0, block_minutes = 0, fees = 0;
    for (int p = 0; p < s->n; p++)
        last[p] = -1;
    for (int i = 0; i < s->n; i++) {
        const int before = last[pairing[i]];
        if (before < 0)
            fees += s->from[i] == s->base ? 0 : (double)FEE;
        const int same_duty = before >= 0 && s->dep[i] - s->arr[before] < s->min_rest;
        duty_minutes += s->arr[i] - (same_duty ? s->arr[before] : s->dep[i]);
        block_minutes += s->arr[i] - s->dep[i];
        last[pairing[i]] = i;
    }
    return s->duty_rate * duty_minutes / 60 + s->block_rate * block_minutes / 60 + fees;
}

/* --- first fit: the open pairings of each station in a list by ascending number
 * ---------------------------- */

struct open {
    int last;
    struct duty duty;
    int next;
};

static int first_fit(const struct schedule *s, int stations, int *pairing)
{
    struct open *open = malloc((size_t)s->n * sizeof *open);
    int *head = malloc((size_t)stations * sizeof *head), count = 0;
    for (int i = 0; head && i < stations; i++)
        head[i] = -1;
    for (int i = 0; open && head && i < s->n; i++) {
        int *link = &head[s->from[i]], p = -1;
        for (; *link >= 0; link = &open[*link].next) {
            struct open *const o = &open[*link];
            const int gap = s->dep[i] - s->arr[o->last];
            if (gap < 0)
                continue;
            if (gap >= s->min_rest)
                o->duty = (struct duty){s->dep[i], s->arr[i] - s->dep[i], 1};
            else if (!extend(s, &o->duty, i))
                continue;
            p = *link;
            *link = o->next;
            break;
        }
        if (p < 0) {
            p = count++;
            open[p].duty = (struct duty){s->dep[i], s->arr[i] - s->dep[i], 1};
        }
        open[p].last = i;
        pairing[i] = p;
        link = &head[s->to[i]];
        while (*link >= 0 && *link < p)
            link = &open[*link].next;
        open[p].next = *link;
        *link = p;
    }
    const int result = open && head ? 0 : -1;
    free(open);
    free(head);
    return result;
}

/* --- the searches
 * ----------------------------------------------------------------------------------------- */

struct label {
    float cost;
    int leg;
    struct duty duty;
    int parent, dead;
};

struct queued {
    float cost;
    int place;
};

struct search {
    struct label *pool;
    int pool_count;
    struct queued *heap;
    int heap_count;
    int *at_leg, *at_leg_count;
};

struct proposal {
    float key;
    int legs;
};

static void push(struct search *q, float cost, int place)
{
    int i = q->heap_count++;
    for (; i > 0 && q->heap[(i - 1) / 2].cost > cost; i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = (struct queued){cost, place};
}

static int pop(struct search *q)
{
    const int top = q->heap[0].place, count = --q->heap_count;
    const struct queued moved = q->heap[count];
    int i = 0;
    for (int child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && q->heap[child + 1].cost < q->heap[child].cost)
            child++;
        if (!(q->heap[child].cost < moved.cost))
            break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = moved;
    return top;
}

static inline int dominates(const struct label *a, const struct label *b)
{
    return (a->cost <= b->cost) & (a->duty.start >= b->duty.start) &
           (a->duty.block <= b->duty.block) & (a->duty.legs <= b->duty.legs);
}

static void add(struct search *q, const struct label *label)
{
    int *const at = q->at_leg + (size_t)label->leg * LABELS_MAX;
    const int count = q->at_leg_count[label->leg];
    int kept = 0, rejected = 0;
    for (int k = 0; k < count; k++) {
        struct label *const old = &q->pool[at[k]];
        rejected |= dominates(old, label);
        if (!rejected && dominates(label, old))
            old->dead = 1;
        else
            at[kept++] = at[k];
    }
    q->at_leg_count[label->leg] = kept;
    if (rejected)
        return;
    int slot = kept;
    if (slot == LABELS_MAX) {
        slot = 0;
        for (int k = 1; k < LABELS_MAX; k++)
            slot = q->pool[at[k]].cost > q->pool[at[slot]].cost ? k : slot;
        if (!(q->pool[at[slot]].cost > label->cost))
            return;
        q->pool[at[slot]].dead = 1;
    } else {
        q->at_leg_count[label->leg]++;
    }
    at[slot] = q->pool_count;
    q->pool[q->pool_count] = *label;
    push(q, label->cost, q->pool_count++);
}

static void search_from(const struct schedule *s, struct search *q, int first,
                        struct proposal *proposals, int *paths)
{
    const int block = s->arr[first] - s->dep[first];
    int records = 0;
    q->pool_count = q->heap_count = 0;
    add(q, &(struct label){s->single[first], first, {s->dep[first], block, 1}, -1, 0});
    while (q->heap_count > 0 && records < RECORDS_MAX) {
        const int place = pop(q);
        const struct label from = q->pool[place];
        if (from.dead)
            continue;
        int legs = 0, *path = paths + records * RECORDS_MAX;
        for (int p = place; p >= 0; p = q->pool[p].parent)
            legs++;
        for (int p = place, k = legs; p >= 0; p = q->pool[p].parent)
            path[--k] = q->pool[p].leg;
        float singles = 0;
        for (int k = 0; k < legs; k++)
            singles += s->single[path[k]];
        proposals[records++] = (struct proposal){-(singles - from.cost), legs};
        if (records == RECORDS_MAX)
            break;
        for (int a = s->arc_start[from.leg]; a < s->arc_start[from.leg + 1]; a++) {
            const int j = s->arc[a], minutes = s->arr[j] - s->dep[j];
            struct label to = {0, j, from.duty, place, 0};
            float paid = (float)(s->arr[j] - s->arr[from.leg]);
            if (s->dep[j] - s->arr[from.leg] >= s->min_rest) {
                to.duty = (struct duty){s->dep[j], minutes, 1};
                paid = (float)minutes;
            } else if (!extend(s, &to.duty, j)) {
                continue;
            }
            /* Quotients are added, so no multiply-add can make costs differ where the plain
             * program's tie. */
            to.cost =
                from.cost + (paid * s->duty_rate / 60.0f + (float)minutes * s->block_rate / 60.0f);
            add(q, &to);
        }
    }
    if (records < RECORDS_MAX)
        proposals[records].legs = 0;
    for (int k = 0; k < q->pool_count; k++)
        q->at_leg_count[q->pool[k].leg] = 0;
}

static int find_arcs(struct schedule *s)
{
    int capacity = 8 * s->n + 16, count = 0;
    s->arc = malloc((size_t)capacity * sizeof *s->arc);
    for (int i = 0; s->arc && i < s->n; i++) {
        s->arc_start[i] = count;
        const int earliest = s->arr[i], latest = s->arr[i] + WAIT_LIMIT, at = s->to[i];
        for (int j = i + 1; j < s->n && s->dep[j] < latest; j++)
            if ((s->from[j] == at) & (s->dep[j] >= earliest)) {
                if (count == capacity) {
                    capacity *= 2;
                    int *const more = realloc(s->arc, (size_t)capacity * sizeof *more);
                    if (!more)
                        return -1;
                    s->arc = more;
                }
                s->arc[count++] = j;
            }
    }
    s->arc_start[s->n] = count;
    return s->arc ? 0 : -1;
}

/* Stable, ascending by the float key; values of sorted are indices of proposals. */
static int sort_proposals(const struct proposal *proposals, size_t places, uint64_t **sorted,
                          size_t *ret_count)
{
    uint64_t *a = malloc(places * sizeof *a), *b = malloc(places * sizeof *b);
    size_t count = 0, (*histogram)[2048] = calloc(3, sizeof *histogram);
    if (!a || !b || !histogram) {
        free(a);
        free(b);
        free(histogram);
        return -1;
    }
    for (size_t first = 0; first < places; first += RECORDS_MAX)
        for (size_t i = first; i < first + RECORDS_MAX && proposals[i].legs > 0; i++) {
            if (!(proposals[i].key <= 0)) /* never taken */
                continue;
            const float key = proposals[i].key + 0.0f; /* one zero */
            uint32_t bits;
            memcpy(&bits, &key, sizeof bits);
            bits = bits >> 31 ? ~bits : bits | 0x80000000u;
            a[count++] = (uint64_t)bits << 32 | i;
            for (int pass = 0; pass < 3; pass++)
                histogram[pass][bits >> 11 * pass & 2047]++;
        }
    for (int pass = 0; pass < 3; pass++) {
        size_t sum = 0;
        for (int d = 0; d < 2048; d++) {
            const size_t here = histogram[pass][d];
            histogram[pass][d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            b[histogram[pass][a[i] >> (32 + 11 * pass) & 2047]++] = a[i];
        uint64_t *const kept = a;
        a = b;
        b = kept;
    }
    free(b);
    free(histogram);
    *sorted = a;
    *ret_count = count;
    return 0;
}

static int plan_by_search(struct schedule *s, int *pairing)
{
    const size_t places = (size_t)s->n * RECORDS_MAX;
    struct proposal *proposals = malloc(places * sizeof *proposals);
    int *paths = malloc(places * RECORDS_MAX * sizeof *paths), widest = 0, failed = 0, id = 0;
    uint64_t *sorted = NULL;
    size_t count = 0;
    if (!proposals || !paths)
        goto done;
    for (int i = 0; i < s->n; i++) {
        const int arcs = s->arc_start[i + 1] - s->arc_start[i];
        widest = arcs > widest ? arcs : widest;
    }
    const size_t labels = (size_t)widest * RECORDS_MAX + 1;
#pragma omp parallel if (s->n > 500)
    {
        struct search q = {malloc(labels * sizeof *q.pool),
                           0,
                           malloc(labels * sizeof *q.heap),
                           0,
                           malloc((size_t)s->n * LABELS_MAX * sizeof *q.at_leg),
                           calloc((size_t)s->n, sizeof *q.at_leg_count)};
        const int ready = q.pool && q.heap && q.at_leg && q.at_leg_count;
        if (!ready) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for schedule(dynamic, 16)
        for (int i = 0; i < s->n; i++)
            if (ready)
                search_from(s, &q, i, proposals + (size_t)i * RECORDS_MAX,
                            paths + (size_t)i * RECORDS_MAX * RECORDS_MAX);
        free(q.pool);
        free(q.heap);
        free(q.at_leg);
        free(q.at_leg_count);
    }
    if (failed || sort_proposals(proposals, places, &sorted, &count))
        goto done;
    for (int i = 0; i < s->n; i++)
        pairing[i] = -1;
    for (size_t c = 0; c < count; c++) {
        const size_t p = sorted[c] & 0xffffffffu;
        const int *path = paths + p * RECORDS_MAX;
        int k = 0;
        while (k < proposals[p].legs && pairing[path[k]] < 0)
            k++;
        if (k < proposals[p].legs)
            continue;
        for (k = 0; k < proposals[p].legs; k++)
            pairing[path[k]] = id;
        id++;
    }
    for (int i = 0; i < s->n; i++)
        if (pairing[i] < 0)
            pairing[i] = id++;

done:
    free(proposals);
    free(paths);
    free(sorted);
    return id > 0 ? 0 : -1;
}

void solution_compute(int N, int num_stations, int base_station, const int *dep_minutes,
                      const int *arr_minutes, const int *dep_stations, const int *arr_stations,
                      float duty_cost_per_hour, float pairing_cost_per_hour, int max_duty_min,
                      int max_block_min, int max_legs_duty, int min_rest_min, int *assignments)
{
    const size_t n = (size_t)N;
    struct schedule s = {.n = N,
                         .base = base_station,
                         .dep = dep_minutes,
                         .arr = arr_minutes,
                         .from = dep_stations,
                         .to = arr_stations,
                         .duty_rate = duty_cost_per_hour,
                         .block_rate = pairing_cost_per_hour,
                         .max_duty = max_duty_min,
                         .max_block = max_block_min,
                         .max_legs = max_legs_duty,
                         .min_rest = min_rest_min};
    int *fitted = malloc(n * sizeof *fitted), *last = malloc(n * sizeof *last);
    s.single = malloc(n * sizeof *s.single);
    s.arc_start = malloc((n + 1) * sizeof *s.arc_start);
    if (fitted && last && s.single && s.arc_start && find_arcs(&s) == 0) {
        for (int i = 0; i < N; i++) {
            const float block = (float)(arr_minutes[i] - dep_minutes[i]);
            s.single[i] = block * s.duty_rate / 60.0f + block * s.block_rate / 60.0f +
                          (dep_stations[i] == base_station ? 0 : FEE);
        }
        if (first_fit(&s, num_stations, fitted) == 0 && plan_by_search(&s, assignments) == 0 &&
            (float)plan_cost(&s, fitted, last) < (float)plan_cost(&s, assignments, last))
            memcpy(assignments, fitted, n * sizeof *fitted);
    }
    free(fitted);
    free(last);
    free(s.single);
    free(s.arc_start);
    free(s.arc);
}
