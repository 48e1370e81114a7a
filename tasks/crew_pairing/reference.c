/* Airline crew pairing. Two plans are made and the cheaper one is returned:
 *   by search: from every leg a label-setting search (a shortest path with resources: duty time,
 * block time, legs) proposes its cheapest pairings; all proposals, ordered by what they save
 * against flying each leg on its own, are taken greedily as long as their legs are free; first fit:
 * every leg joins the first open pairing that can take it. Labels live in a pool and know their
 * parent's place in it; a label that a better one displaces stays in the pool, marked dead, so that
 * every proposal's cost is that of its legs. Labels are priced in float, plans in double. */
#include <stdlib.h>

#define FEE         10000.0f /* of a pairing that starts away from the base */
#define WAIT_LIMIT  2160     /* minutes; the search looks no further for a connection */
#define LABELS_MAX  50       /* live labels at a leg */
#define RECORDS_MAX 20       /* proposals of one search */

struct schedule {
    int n, base;
    const int *dep, *arr;        /* minutes */
    const int *from, *to;        /* stations */
    float duty_rate, block_rate; /* per hour */
    int max_duty, max_block, max_legs, min_rest;
};

/* A crew's duty up to its last leg. */
struct duty {
    int start, block, legs;
};

static int block_of(const struct schedule *s, int leg)
{
    return s->arr[leg] - s->dep[leg];
}

static struct duty new_duty(const struct schedule *s, int leg)
{
    return (struct duty){s->dep[leg], block_of(s, leg), 1};
}

/* Can the duty take one more leg? If so, *duty includes it. */
static int extend_duty(const struct schedule *s, struct duty *duty, int leg)
{
    if (s->arr[leg] - duty->start > s->max_duty || duty->block + block_of(s, leg) > s->max_block ||
        duty->legs + 1 > s->max_legs)
        return 0;
    duty->block += block_of(s, leg);
    duty->legs++;
    return 1;
}

/* What a pairing of this leg alone costs. */
static float single_cost(const struct schedule *s, int leg)
{
    const float block = (float)block_of(s, leg);
    return block * s->duty_rate / 60.0f + block * s->block_rate / 60.0f +
           (s->from[leg] == s->base ? 0 : FEE);
}

/* The cost of a feasible plan, exactly but for the rounding of doubles; -1 without memory. */
static double plan_cost(const struct schedule *s, const int *pairing)
{
    int *last =
        malloc((size_t)s->n * sizeof *last); /* of each pairing so far, -1 before its first */
    if (!last)
        return -1;
    for (int p = 0; p < s->n; p++)
        last[p] = -1;
    double duty_minutes = 0, block_minutes = 0, fees = 0;
    for (int i = 0; i < s->n; i++) {
        const int before = last[pairing[i]];
        if (before < 0)
            fees += s->from[i] == s->base ? 0 : (double)FEE;
        const int same_duty = before >= 0 && s->dep[i] - s->arr[before] < s->min_rest;
        duty_minutes += s->arr[i] - (same_duty ? s->arr[before] : s->dep[i]);
        block_minutes += block_of(s, i);
        last[pairing[i]] = i;
    }
    free(last);
    return s->duty_rate * duty_minutes / 60 + s->block_rate * block_minutes / 60 + fees;
}

/* --- first fit
 * ------------------------------------------------------------------------------------------ */

static int first_fit(const struct schedule *s, int *pairing)
{
    struct open {
        int last;
        struct duty duty;
    } *open = malloc((size_t)s->n * sizeof *open);
    int count = 0;
    if (!open)
        return -1;
    for (int i = 0; i < s->n; i++) {
        int p = 0;
        for (; p < count; p++) {
            const int gap = s->dep[i] - s->arr[open[p].last];
            if (s->to[open[p].last] != s->from[i] || gap < 0)
                continue;
            if (gap >= s->min_rest) {
                open[p].duty = new_duty(s, i);
                break;
            }
            if (extend_duty(s, &open[p].duty, i))
                break;
        }
        if (p == count)
            open[count++].duty = new_duty(s, i);
        open[p].last = i;
        pairing[i] = p;
    }
    free(open);
    return 0;
}

/* --- the search
 * ----------------------------------------------------------------------------------------- */

struct label {
    float cost; /* of the pairing up to this leg */
    int leg;
    struct duty duty;
    int parent; /* place in the pool, -1 for the first leg */
    int dead;
};

struct search {
    int *arc_start, *arc; /* legs that may follow each leg, ascending */
    struct label *pool;
    int pool_count;
    int *heap, heap_count;      /* places in the pool, cheapest first */
    int *at_leg, *at_leg_count; /* live labels of each leg: LABELS_MAX places a leg */
};

struct proposal {
    float key; /* minus the saving */
    float cost;
    int order;       /* of discovery */
    int first, legs; /* in the list of all paths */
};

static int find_arcs(const struct schedule *s, struct search *search)
{
    search->arc_start = malloc(((size_t)s->n + 1) * sizeof(int));
    if (!search->arc_start)
        return -1;
    for (int pass = 0; pass < 2; pass++) { /* count, then list */
        int count = 0;
        for (int i = 0; i < s->n; i++) {
            search->arc_start[i] = count;
            for (int j = i + 1; j < s->n && s->dep[j] - s->arr[i] < WAIT_LIMIT; j++)
                if (s->to[i] == s->from[j] && s->dep[j] >= s->arr[i]) {
                    if (pass == 1)
                        search->arc[count] = j;
                    count++;
                }
        }
        search->arc_start[s->n] = count;
        if (pass == 0 && !(search->arc = malloc(((size_t)count + 1) * sizeof(int))))
            return -1;
    }
    return 0;
}

static void heap_push(struct search *search, int place)
{
    int i = search->heap_count++;
    search->heap[i] = place;
    while (i > 0) {
        const int up = (i - 1) / 2, parent = search->heap[up];
        if (!(search->pool[parent].cost > search->pool[place].cost))
            break;
        search->heap[up] = place;
        search->heap[i] = parent;
        i = up;
    }
}

static int heap_pop(struct search *search)
{
    const int top = search->heap[0], count = --search->heap_count;
    search->heap[0] = search->heap[count];
    for (int i = 0;;) {
        int least = i;
        for (int child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            if (search->pool[search->heap[child]].cost < search->pool[search->heap[least]].cost)
                least = child;
        if (least == i)
            return top;
        const int kept = search->heap[i];
        search->heap[i] = search->heap[least];
        search->heap[least] = kept;
        i = least;
    }
}

/* Is a at least as good as b in everything that matters later? */
static int dominates(const struct label *a, const struct label *b)
{
    return a->cost <= b->cost && a->duty.start >= b->duty.start && a->duty.block <= b->duty.block &&
           a->duty.legs <= b->duty.legs;
}

/* Stores the label and queues it, unless one at its leg is as good; dead are those that it betters.
 */
static void add_label(struct search *search, struct label label)
{
    int *const at = search->at_leg + (size_t)label.leg * LABELS_MAX;
    int *const count = &search->at_leg_count[label.leg];
    int kept = 0, rejected = 0;
    for (int k = 0; k < *count; k++) {
        struct label *const old = &search->pool[at[k]];
        rejected = rejected || dominates(old, &label);
        if (!rejected && dominates(&label, old))
            old->dead = 1;
        else
            at[kept++] = at[k];
    }
    *count = kept;
    if (rejected)
        return;
    int slot = *count;
    if (slot == LABELS_MAX) { /* full: the dearest makes room, if it is dearer */
        slot = 0;
        for (int k = 1; k < LABELS_MAX; k++)
            if (search->pool[at[k]].cost > search->pool[at[slot]].cost)
                slot = k;
        if (!(search->pool[at[slot]].cost > label.cost))
            return;
        search->pool[at[slot]].dead = 1;
    } else {
        ++*count;
    }
    at[slot] = search->pool_count;
    search->pool[search->pool_count] = label;
    heap_push(search, search->pool_count++);
}

/* The cheapest pairings that begin with leg first; extra costs are positive, so the first
 * RECORDS_MAX labels that leave the heap are the cheapest. Fills record with their places in the
 * pool and returns how many there are. */
static int search_from(const struct schedule *s, struct search *search, int first, int *record)
{
    int records = 0;
    search->pool_count = search->heap_count = 0;
    add_label(search, (struct label){single_cost(s, first), first, new_duty(s, first), -1, 0});
    while (search->heap_count > 0 && records < RECORDS_MAX) {
        const int place = heap_pop(search);
        const struct label from = search->pool[place];
        if (from.dead)
            continue;
        record[records++] = place;
        for (int a = search->arc_start[from.leg]; a < search->arc_start[from.leg + 1]; a++) {
            const int j = search->arc[a];
            struct label to = {0, j, from.duty, place, 0};
            float paid = (float)(s->arr[j] - s->arr[from.leg]); /* minutes added to the duty */
            if (s->dep[j] - s->arr[from.leg] >= s->min_rest) {
                to.duty = new_duty(s, j);
                paid = (float)block_of(s, j);
            } else if (!extend_duty(s, &to.duty, j)) {
                continue;
            }
            const float extra =
                paid * s->duty_rate / 60.0f + (float)block_of(s, j) * s->block_rate / 60.0f;
            to.cost = from.cost + extra;
            add_label(search, to);
        }
    }
    for (int k = 0; k < search->pool_count; k++)
        search->at_leg_count[search->pool[k].leg] = 0;
    return records;
}

static int by_key(const void *a, const void *b)
{
    const struct proposal *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The legs of the pairing that ends with the label at place, first leg first, to path; returns how
 * many. */
static int read_path(const struct search *search, int place, int *path)
{
    int legs = 0;
    for (int p = place; p >= 0; p = search->pool[p].parent)
        legs++;
    for (int p = place, k = legs; p >= 0; p = search->pool[p].parent)
        path[--k] = search->pool[p].leg;
    return legs;
}

/* Greedy cover: what saves most first; legs that nothing covers fly alone. */
static void cover(const struct schedule *s, struct proposal *proposals, int count, const int *paths,
                  int *pairing)
{
    int id = 0;
    for (int i = 0; i < s->n; i++)
        pairing[i] = -1;
    qsort(proposals, (size_t)count, sizeof *proposals, by_key);
    for (int c = 0; c < count && proposals[c].key <= 0; c++) {
        const int *path = paths + proposals[c].first;
        int is_free = 1;
        for (int k = 0; k < proposals[c].legs; k++)
            is_free = is_free && pairing[path[k]] < 0;
        if (!is_free)
            continue;
        for (int k = 0; k < proposals[c].legs; k++)
            pairing[path[k]] = id;
        id++;
    }
    for (int i = 0; i < s->n; i++)
        if (pairing[i] < 0)
            pairing[i] = id++;
}

static int plan_by_search(const struct schedule *s, int *pairing)
{
    struct search search = {0};
    struct proposal *proposals = malloc((size_t)s->n * RECORDS_MAX * sizeof *proposals);
    int *paths = malloc((size_t)s->n * RECORDS_MAX * RECORDS_MAX * sizeof *paths);
    int count = 0, used = 0, result = -1;
    if (!proposals || !paths || find_arcs(s, &search))
        goto done;
    int widest = 0; /* a search stores no more labels than RECORDS_MAX legs have successors */
    for (int i = 0; i < s->n; i++) {
        const int arcs = search.arc_start[i + 1] - search.arc_start[i];
        widest = arcs > widest ? arcs : widest;
    }
    const size_t labels = (size_t)widest * RECORDS_MAX + 1;
    search.pool = malloc(labels * sizeof *search.pool);
    search.heap = malloc(labels * sizeof *search.heap);
    search.at_leg = malloc((size_t)s->n * LABELS_MAX * sizeof *search.at_leg);
    search.at_leg_count = malloc((size_t)s->n * sizeof *search.at_leg_count);
    if (!search.pool || !search.heap || !search.at_leg || !search.at_leg_count)
        goto done;
    for (int i = 0; i < s->n; i++)
        search.at_leg_count[i] = 0;
    for (int i = 0; i < s->n; i++) {
        int record[RECORDS_MAX];
        const int records = search_from(s, &search, i, record);
        for (int r = 0; r < records; r++) {
            struct proposal *const p = &proposals[count];
            *p = (struct proposal){0, search.pool[record[r]].cost, count, used, 0};
            p->legs = read_path(&search, record[r], paths + used);
            float singles = 0;
            for (int k = 0; k < p->legs; k++)
                singles += single_cost(s, paths[used + k]);
            p->key = -(singles - p->cost);
            used += p->legs;
            count++;
        }
    }
    cover(s, proposals, count, paths, pairing);
    result = 0;

done:
    free(search.arc_start);
    free(search.arc);
    free(search.pool);
    free(search.heap);
    free(search.at_leg);
    free(search.at_leg_count);
    free(proposals);
    free(paths);
    return result;
}

void solution_compute(int N, int num_stations, int base_station, const int *dep_minutes,
                      const int *arr_minutes, const int *dep_stations, const int *arr_stations,
                      float duty_cost_per_hour, float pairing_cost_per_hour, int max_duty_min,
                      int max_block_min, int max_legs_duty, int min_rest_min, int *assignments)
{
    const struct schedule s = {N,
                               base_station,
                               dep_minutes,
                               arr_minutes,
                               dep_stations,
                               arr_stations,
                               duty_cost_per_hour,
                               pairing_cost_per_hour,
                               max_duty_min,
                               max_block_min,
                               max_legs_duty,
                               min_rest_min};
    int *fitted = malloc((size_t)N * sizeof *fitted);
    (void)num_stations;
    if (fitted && first_fit(&s, fitted) == 0 && plan_by_search(&s, assignments) == 0) {
        const float by_search = (float)plan_cost(&s, assignments),
                    by_fit = (float)plan_cost(&s, fitted);
        for (int i = 0; by_fit < by_search && i < N; i++)
            assignments[i] = fitted[i];
    }
    free(fitted);
}
