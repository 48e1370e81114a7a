#include "task/task.h"

#include "base/fmath.h"

#include <stdlib.h>
#include <string.h>

enum { P_N, P_OFFSETS };

enum { N, ROW_PTR, COL_IDX, TRIANGLE_COUNT_OUT, ARG_COUNT };

enum { SKEWED, RMAT, CLIQUE, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of vertices"},
    [ROW_PTR] = {"row_ptr", AE_I32, AE_IN, "n+1", .meaning = "first neighbour of each vertex"},
    [COL_IDX] = {"col_idx", AE_I32, AE_IN, "row_ptr[n]", "vertex id",
                 "neighbours, ascending in each row; every edge in both directions"},
    [TRIANGLE_COUNT_OUT] = {"triangle_count_out", AE_U64, AE_OUT, "1", "triangles",
                            "number of triangles",
                            .rule = {AE_EXACT, .reason = "a count: the integer itself"}},
};

/* --- drawing edges; both directions are made, repetitions go later --- */

struct edges {
    int32_t *from, *to;
    size_t count, capacity;
};

static void add_edge(struct edges *edges, int32_t u, int32_t v)
{
    if (u == v || edges->count + 2 > edges->capacity)
        return;
    edges->from[edges->count] = edges->to[edges->count + 1] = u;
    edges->to[edges->count++] = v;
    edges->from[edges->count++] = v;
}

/* A ring whose members know `offsets` successors; one edge in ten leads to a random member instead.
 */
static void add_ring(struct edges *edges, struct ae_rng *rng, const int32_t *ids, int32_t count,
                     int32_t offsets)
{
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 1; k <= offsets; k++) {
            int32_t j = i + k < count ? i + k : i + k - count;
            if (ae_rng_chance(rng, 0.1))
                j = (int32_t)ae_rng_below(rng, (uint32_t)count);
            add_edge(edges, ids[i], ids[j]);
        }
}

/* Both ends by popularity (rank+5)^-0.7: the inverse of its integral is a power of 10/3. */
static void add_popular(struct edges *edges, struct ae_rng *rng, const int32_t *ids, int32_t count,
                        int64_t wanted)
{
    const double low = ae_exp(0.3 * ae_log(5)), high = ae_exp(0.3 * ae_log(5.0 + count));
    while (wanted-- > 0) {
        int32_t end[2];
        for (int k = 0; k < 2; k++) {
            const double y = low + (high - low) * ae_rng_unit(rng);
            const double rank = y * y * y * ae_exp(ae_log(y) / 3) - 5;
            end[k] = ids[rank < 0 ? 0 : rank >= count ? count - 1 : (int32_t)rank];
        }
        add_edge(edges, end[0], end[1]);
    }
}

/* Both ends bit by bit, with probabilities 0.57, 0.19, 0.19, 0.05 of the four quarters of the
 * matrix. */
static void add_rmat(struct edges *edges, struct ae_rng *rng, const int32_t *ids, int32_t count,
                     int64_t wanted)
{
    while (wanted-- > 0) {
        int32_t u = 0, v = 0;
        do {
            u = v = 0;
            for (int32_t bit = 1; bit < count; bit *= 2) {
                const uint32_t draw = ae_rng_below(rng, 100);
                u |= draw >= 76 ? bit : 0;
                v |= (draw >= 57 && draw < 76) || draw >= 95 ? bit : 0;
            }
        } while (u >= count || v >= count);
        add_edge(edges, ids[u], ids[v]);
    }
}

static void add_clique(struct edges *edges, struct ae_rng *rng, int32_t *ids, int32_t count,
                       int32_t size)
{
    for (int32_t i = 0; i < size; i++) {
        const int32_t j = i + (int32_t)ae_rng_below(rng, (uint32_t)(count - i)), kept = ids[i];
        ids[i] = ids[j];
        ids[j] = kept;
        for (int32_t k = 0; k < i; k++)
            add_edge(edges, ids[i], ids[k]);
    }
}

/* Rows by tail, in the order of the list. ptr has n+1 elements. */
static void bucket(int32_t n, const struct edges *edges, int32_t *ptr, int32_t *col)
{
    memset(ptr, 0, ((size_t)n + 1) * sizeof *ptr);
    for (size_t e = 0; e < edges->count; e++)
        ptr[edges->from[e] + 1]++;
    for (int32_t u = 0; u < n; u++)
        ptr[u + 1] += ptr[u];
    for (size_t e = 0; e < edges->count; e++)
        col[ptr[edges->from[e]]++] = edges->to[e];
    memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
    ptr[0] = 0;
}

/* Sorted rows without repetitions. The edge list is symmetric, so reversing the rows made from it
 * sorts them. */
static int store(struct ae_instance *inst, int32_t n, struct edges *edges, struct ae_error *err)
{
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, (size_t)n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, edges->count, err);
    int32_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr);
    if (!row_ptr || !col_idx || !ptr) {
        free(ptr);
        return AE_E_NOMEM;
    }
    bucket(n, edges, ptr, col_idx);
    memcpy(row_ptr, ptr, ((size_t)n + 1) * sizeof *ptr);
    int32_t *sorted = edges->from; /* no longer needed as it is */
    for (int32_t u = 0; u < n; u++)
        for (int32_t e = row_ptr[u]; e < row_ptr[u + 1]; e++)
            sorted[ptr[col_idx[e]]++] = u;
    int32_t at = 0;
    for (int32_t u = 0; u < n; u++) {
        const int32_t end = ptr[u], start = row_ptr[u];
        row_ptr[u] = at;
        for (int32_t e = start; e < end; e++)
            if (e == start || sorted[e] != sorted[e - 1])
                col_idx[at++] = sorted[e];
    }
    row_ptr[n] = at;
    ae_shrink_array(inst, COL_IDX, (size_t)at);
    ae_set_i32(inst, N, n);
    free(ptr);
    return AE_OK;
}

static void draw_edges(const struct ae_instance *inst, struct ae_rng *rng, struct edges *edges,
                       int32_t n, int32_t *ids)
{
    const int32_t offsets = (int32_t)inst->param[P_OFFSETS];
    const int32_t connected = n - n / 100; /* the others stay isolated */
    ae_rng_permutation(rng, ids, (size_t)n);
    if (inst->family == TINY) {
        for (int64_t wanted = ae_rng_range(rng, 0, 12); wanted > 0; wanted--) {
            const int32_t u = (int32_t)ae_rng_below(rng, (uint32_t)n);
            const int32_t v = (int32_t)ae_rng_below(rng, (uint32_t)n);
            add_edge(edges, u, v);
        }
        return;
    }
    if (inst->family == CLIQUE) {
        add_clique(edges, rng, ids, n, inst->size == AE_SMALL ? 500 : 3000);
        add_popular(edges, rng, ids, connected, 2 * (int64_t)n);
        return;
    }
    add_ring(edges, rng, ids, connected, offsets / 2);
    ae_rng_shuffle_i32(rng, ids, (size_t)connected);
    const int64_t wanted = (int64_t)n * offsets / 2;
    if (inst->family == RMAT)
        add_rmat(edges, rng, ids, connected, wanted);
    else
        add_popular(edges, rng, ids, connected, wanted);
    for (int32_t size = 20; size <= 60; size += 20)
        add_clique(edges, rng, ids, connected, size);
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const int32_t n =
        inst->family == TINY ? (int32_t)ae_rng_range(rng, 1, 7) : (int32_t)inst->param[P_N];
    struct edges edges = {.capacity = inst->family == CLIQUE
                                          ? 9000000 + 4 * (size_t)n
                                          : 2 * (size_t)(n * inst->param[P_OFFSETS]) + 8000};
    edges.from = malloc(edges.capacity * sizeof *edges.from);
    edges.to = malloc(edges.capacity * sizeof *edges.to);
    int32_t *ids = malloc((size_t)n * sizeof *ids);
    int rc;
    if (edges.from && edges.to && ids) {
        draw_edges(inst, rng, &edges, n, ids);
        rc = store(inst, n, &edges, err);
    } else {
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %zu edges", edges.capacity);
    }
    free(edges.from);
    free(edges.to);
    free(ids);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, TRIANGLE_COUNT_OUT, 1);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    if (n < 1 || n == INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "n is %d; one vertex is the least", n);
    const size_t m = inst->array[COL_IDX].count;
    if (inst->array[ROW_PTR].count != (size_t)n + 1)
        return ae_error_set(err, AE_E_INPUT, "row_ptr has %zu elements for %d vertices",
                            inst->array[ROW_PTR].count, n);
    const int32_t *ptr = ae_in_i32(inst, ROW_PTR), *col = ae_in_i32(inst, COL_IDX);
    if (ptr[0] != 0 || ptr[n] < 0 || (size_t)ptr[n] != m)
        return ae_error_set(err, AE_E_INPUT, "row_ptr runs from %d to %d for %zu neighbours",
                            ptr[0], ptr[n], m);
    for (int32_t u = 0; u < n; u++)
        if (ptr[u] > ptr[u + 1])
            return ae_error_set(err, AE_E_INPUT, "the row of vertex %d ends before it starts", u);
    for (int32_t u = 0; u < n; u++)
        for (int32_t e = ptr[u]; e < ptr[u + 1]; e++)
            if (col[e] < 0 || col[e] >= n || col[e] == u || (e > ptr[u] && col[e] <= col[e - 1]))
                return ae_error_set(err, AE_E_INPUT,
                                    "neighbour %d of vertex %d: a loop, out of order or of range",
                                    col[e], u);
    /* Going through the rows in order meets the opposite edges of each row in order. */
    int32_t *next = malloc((size_t)n * sizeof *next);
    if (!next)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %d vertices", n);
    memcpy(next, ptr, (size_t)n * sizeof *next);
    int rc = AE_OK;
    for (int32_t u = 0; u < n && rc == AE_OK; u++)
        for (int32_t e = ptr[u]; e < ptr[u + 1] && rc == AE_OK; e++) {
            const int32_t v = col[e], slot = next[v]++;
            if (slot >= ptr[v + 1] || col[slot] != u)
                rc = ae_error_set(err, AE_E_INPUT,
                                  "edge %d-%d has no opposite: the graph is not undirected", u, v);
        }
    free(next);
    return rc;
}

/* Every edge looks up the shorter of its two rows, half of it on average. */
static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const int32_t n = inst->scalar[N].i32, *ptr = ae_in_i32(inst, ROW_PTR),
                  *col = ae_in_i32(inst, COL_IDX);
    double sum = 1;
    for (int32_t u = 0; u < n; u++)
        for (int32_t e = ptr[u]; e < ptr[u + 1] && col[e] < u; e++) {
            const int32_t a = ptr[u + 1] - ptr[u], b = ptr[col[e] + 1] - ptr[col[e]];
            sum += 0.5 * (a < b ? a : b);
        }
    w->operations = sum;
    w->steps = 2; /* count, add up */
}

const struct ae_task ae_task_gapbs_triangle_orderedcount = {
    .id = "gapbs_triangle_orderedcount",
    .title = "Triangles of an undirected graph",
    .domain = AE_GRAPH,
    .lineage = "GAP Benchmark Suite, tc: ordered count",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"n", "num_offsets"},
    .sizes =
        {[AE_SMALL] = {{32768, 16}}, [AE_MEDIUM] = {{131072, 24}}, [AE_LARGE] = {{262144, 28}}},
    .families =
        {{"skewed",
          "rewired ring lattice plus edges of skewed popularity, cliques, isolated vertices",
          AE_ALL_SIZES},
         {"rmat", "the same with recursive-matrix edges: stronger hubs",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"clique",
          "one large clique; at medium it holds more than 2^32 triangles: catches 32-bit counts",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"tiny", "one to seven vertices, with few or no triangles", AE_AT(AE_SMALL)}},
    .published_note = "published graphs are circulant: the count follows from two numbers without "
                      "reading an edge",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
