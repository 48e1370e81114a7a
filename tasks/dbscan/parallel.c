/* Cells of a diagonal just below eps: all points of a cell are neighbours of each other, so that a
 * cell with more than minPts points is core throughout, and its core points are one component from
 * the start. Degrees are counted in sparse cells only, neighbouring cells are linked by the first
 * near pair of core points found, and the union-find works on cells. Cells are found by sorting
 * their numbers: no bounds, no capacity. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOISE (-2)
#define REACH 2 /* cells to each side that hold neighbours */
#define ROWS  (2 * REACH + 1)

struct cell {
    uint64_t key; /* row and column */
    int start, end;
    int range[ROWS]; /* first cell of each neighbouring row that may hold neighbours */
    int parent;      /* union-find, over cells */
    int core_count;
};

struct cloud {
    int count, cell_count;
    float *x, *y; /* in cell order; within a cell core points come first once they are known */
    int *index;   /* original number */
    unsigned char *core; /* in cell order */
    struct cell *cells;
    float largest_square;
};

static inline int near(const struct cloud *c, float x, float y, int j)
{
    const float dx = x - c->x[j], dy = y - c->y[j];
    return dx * dx + dy * dy <= c->largest_square;
}

struct keyed {
    uint64_t key;
    int index;
};

/* Least-significant-digit radix sort, skipping digits that all keys share. The result is in *a or
 * *b; returns it. */
static struct keyed *sort_keyed(struct keyed *a, struct keyed *b, int n)
{
    uint64_t all = 0, any = ~UINT64_C(0);
    for (int i = 0; i < n; i++) {
        all |= a[i].key;
        any &= a[i].key;
    }
    for (int shift = 0; shift < 64; shift += 11) {
        if (((all ^ any) >> shift & 2047) == 0)
            continue;
        int start[2049] = {0};
        for (int i = 0; i < n; i++)
            start[(a[i].key >> shift & 2047) + 1]++;
        for (int d = 0; d < 2048; d++)
            start[d + 1] += start[d];
        for (int i = 0; i < n; i++)
            b[start[a[i].key >> shift & 2047]++] = a[i];
        struct keyed *kept = a;
        a = b;
        b = kept;
    }
    return a;
}

static int find(struct cell *cells, int k)
{
    int parent = __atomic_load_n(&cells[k].parent, __ATOMIC_RELAXED);
    while (parent != k) {
        const int next = __atomic_load_n(&cells[parent].parent, __ATOMIC_RELAXED);
        if (next != parent) /* halve the path; a lost race costs nothing */
            __atomic_store_n(&cells[k].parent, next, __ATOMIC_RELAXED);
        k = parent;
        parent = next;
    }
    return k;
}

/* The larger root is hooked under the smaller one. */
static void unite(struct cell *cells, int a, int b)
{
    for (;;) {
        a = find(cells, a);
        b = find(cells, b);
        if (a == b)
            return;
        const int large = a > b ? a : b, small = a > b ? b : a;
        int expected = large;
        if (__atomic_compare_exchange_n(&cells[large].parent, &expected, small, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

/* Is another cell of the neighbouring row `row` (0..ROWS-1) of `own` in reach? Cells k from
 * range[row] on. */
static inline int in_reach(const struct cloud *c, const struct cell *own, int row, int k)
{
    return k < c->cell_count &&
           c->cells[k].key <= own->key + (((uint64_t)row - REACH) << 32) + REACH;
}

static void build_cells(struct cloud *c, const struct keyed *sorted)
{
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        if (i == 0 || sorted[i].key != sorted[i - 1].key) {
            if (count)
                c->cells[count - 1].end = i;
            c->cells[count] = (struct cell){.key = sorted[i].key, .start = i, .parent = count};
            count++;
        }
    }
    c->cells[count - 1].end = c->count;
    c->cell_count = count;
    for (int row = 0; row < ROWS; row++)
        for (int k = 0, at = 0; k < count; k++) {
            const uint64_t first = c->cells[k].key + (((uint64_t)row - REACH) << 32) - REACH;
            while (at < count && c->cells[at].key < first)
                at++;
            c->cells[k].range[row] = at;
        }
}

/* Degrees, only as far as minPts, and core points to the front of their cell. */
static void find_cores(struct cloud *c, struct cell *own, int min_pts)
{
    const int size = own->end - own->start;
    for (int i = own->start; i < own->end; i++) {
        int degree = size - 1;
        for (int row = 0; row < ROWS && degree < min_pts; row++)
            for (int k = own->range[row]; in_reach(c, own, row, k) && degree < min_pts; k++)
                for (int j = c->cells[k].start; &c->cells[k] != own && j < c->cells[k].end; j++)
                    degree += near(c, c->x[i], c->y[i], j);
        c->core[i] = degree >= min_pts;
        own->core_count += c->core[i];
    }
}

static void cores_to_front(struct cloud *c, struct cell *own)
{
    int front = own->start;
    for (int i = own->start; i < own->end; i++) {
        if (!c->core[i])
            continue;
        const float x = c->x[front], y = c->y[front];
        const int index = c->index[front];
        c->x[front] = c->x[i];
        c->y[front] = c->y[i];
        c->index[front] = c->index[i];
        c->x[i] = x;
        c->y[i] = y;
        c->index[i] = index;
        front++;
    }
    for (int i = own->start; i < own->end; i++)
        c->core[i] = i < front;
}

static int linked(const struct cloud *c, const struct cell *a, const struct cell *b)
{
    for (int i = a->start; i < a->start + a->core_count; i++)
        for (int j = b->start; j < b->start + b->core_count; j++)
            if (near(c, c->x[i], c->y[i], j))
                return 1;
    return 0;
}

static int label_of_border(const struct cloud *c, const struct cell *own, int i, const int *number,
                           const unsigned char *seed)
{
    int smallest = 0, opened = 0; /* of clusters that reach i; of those whose first point does */
    for (int row = 0; row < ROWS; row++)
        for (int k = own->range[row]; in_reach(c, own, row, k); k++) {
            const struct cell *cell = &c->cells[k];
            for (int j = cell->start; j < cell->start + cell->core_count; j++) {
                if (!near(c, c->x[i], c->y[i], j))
                    continue;
                const int own_number = number[cell->parent];
                smallest = smallest == 0 || own_number < smallest ? own_number : smallest;
                if (seed[c->index[j]] && own_number > opened)
                    opened = own_number;
            }
        }
    return smallest == 0 ? NOISE : smallest > opened ? smallest : opened;
}

static void cluster(struct cloud *c, int min_pts, int *cell_of, int *number, unsigned char *seed,
                    int *labels)
{
    const int cells = c->cell_count;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 64)
        for (int k = 0; k < cells; k++)
            find_cores(c, &c->cells[k], min_pts);
#pragma omp for schedule(dynamic, 256)
        for (int k = 0; k < cells; k++) {
            cores_to_front(c, &c->cells[k]);
            for (int i = c->cells[k].start; i < c->cells[k].end; i++)
                cell_of[c->index[i]] = c->core[i] ? k : -1;
        }
#pragma omp for schedule(dynamic, 64)
        for (int k = 0; k < cells; k++)
            for (int row = REACH; c->cells[k].core_count && row < ROWS;
                 row++) /* each pair of cells once */
                for (int m = row == REACH ? k + 1 : c->cells[k].range[row];
                     in_reach(c, &c->cells[k], row, m); m++)
                    if (c->cells[m].core_count && find(c->cells, k) != find(c->cells, m) &&
                        linked(c, &c->cells[k], &c->cells[m]))
                        unite(c->cells, k, m);
    }
    for (int k = 0; k < cells;
         k++) /* parents come before their children: one step reaches the root */
        c->cells[k].parent = c->cells[c->cells[k].parent].parent;
    int clusters = 0;
    for (int i = 0; i < c->count; i++) {
        if (cell_of[i] < 0)
            continue;
        int *own = &number[c->cells[cell_of[i]].parent];
        seed[i] = *own == 0;
        if (*own == 0)
            *own = ++clusters;
        labels[i] = *own;
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int k = 0; k < cells; k++)
        for (int i = c->cells[k].start + c->cells[k].core_count; i < c->cells[k].end; i++)
            labels[c->index[i]] = label_of_border(c, &c->cells[k], i, number, seed);
}

void solution_compute(int N, const float *xs, const float *ys, float eps, int minPts, int *labels)
{
    const size_t n = (size_t)N;
    struct cloud c = {.count = N};
    c.x = malloc(n * sizeof *c.x);
    c.y = malloc(n * sizeof *c.y);
    c.index = malloc(n * sizeof *c.index);
    c.core = malloc(n);
    c.cells = malloc(n * sizeof *c.cells);
    struct keyed *keys = malloc(n * sizeof *keys), *spare = malloc(n * sizeof *spare);
    int *cell_of = malloc(n * sizeof *cell_of), *number = calloc(n, sizeof *number);
    unsigned char *seed = calloc(n, 1);
    if (c.x && c.y && c.index && c.core && c.cells && keys && spare && cell_of && number && seed) {
        c.largest_square = eps * eps;
        while (sqrtf(c.largest_square) > eps)
            c.largest_square = nextafterf(c.largest_square, 0.0f);
        while (sqrtf(nextafterf(c.largest_square, INFINITY)) <= eps)
            c.largest_square = nextafterf(c.largest_square, INFINITY);
        const double scale =
            1 / (0.7065 * (double)eps); /* sides below eps / sqrt 2 by more than any rounding */
        float x0 = xs[0], y0 = ys[0];
        for (int i = 1; i < N; i++) {
            x0 = xs[i] < x0 ? xs[i] : x0;
            y0 = ys[i] < y0 ? ys[i] : y0;
        }
        for (int i = 0; i < N; i++) {
            const uint64_t column = (uint64_t)(((double)xs[i] - (double)x0) * scale) + REACH;
            const uint64_t row = (uint64_t)(((double)ys[i] - (double)y0) * scale) + REACH;
            keys[i] = (struct keyed){row << 32 | column, i};
        }
        const struct keyed *sorted = sort_keyed(keys, spare, N);
        for (int i = 0; i < N; i++) {
            c.index[i] = sorted[i].index;
            c.x[i] = xs[c.index[i]];
            c.y[i] = ys[c.index[i]];
        }
        build_cells(&c, sorted);
        cluster(&c, minPts, cell_of, number, seed, labels);
    }
    free(c.x);
    free(c.y);
    free(c.index);
    free(c.core);
    free(c.cells);
    free(keys);
    free(spare);
    free(cell_of);
    free(number);
    free(seed);
}
