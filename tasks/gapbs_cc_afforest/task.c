#include "task/task.h"

#include <stdlib.h>
#include <string.h>

enum { P_N, P_M, P_SAMPLES };

enum { N, NEIGHBOR_ROUNDS, NUM_SAMPLES, ROW_PTR, COL_IDX, COMP_OUT, ARG_COUNT };

enum { CLUSTERS, SHUFFLED, CHAINS, TINY };

/* A cluster fits a 256 x 256 bit matrix in the first-level cache. */
#define CLUSTER_MAX 256
#define WORDS       (CLUSTER_MAX / 64)

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of vertices"},
    [NEIGHBOR_ROUNDS] =
        {"neighbor_rounds", AE_I32, AE_SCALAR,
         .meaning = "neighbours of a vertex that Afforest links before it samples; a hint"},
    [NUM_SAMPLES] = {"num_samples", AE_I32, AE_SCALAR,
                     .meaning = "vertices that Afforest samples for the largest component; a hint"},
    [ROW_PTR] = {"row_ptr", AE_I32, AE_IN, "n+1", .meaning = "first neighbour of each vertex"},
    [COL_IDX] = {"col_idx", AE_I32, AE_IN, "row_ptr[n]", "vertex id",
                 "neighbours; every edge in both directions"},
    [COMP_OUT] = {"comp_out", AE_I32, AE_OUT, "n", "vertex id",
                  "smallest vertex of the component of each vertex",
                  .rule = {AE_EXACT,
                           .reason = "labels are unique: the smallest id of the component"}},
};

/* --- the plan: stretches of vertices with one structure each --- */

enum kind { SINGLE, PATH, STAR, CLUSTER };

struct block {
    enum kind kind;
    int32_t size;
    int32_t head; /* index of the first block of its component */
};

struct plan {
    struct block *blocks;
    int32_t count;
    int64_t cluster_vertices; /* of all clusters */
    int64_t other_edges;      /* of paths, stars and bridges */
};

static int32_t add_block(struct plan *plan, enum kind kind, int32_t size, int32_t head)
{
    struct block *b = &plan->blocks[plan->count];
    *b = (struct block){size == 1 && kind != CLUSTER ? SINGLE : kind, size,
                        head < 0 ? plan->count : head};
    if (kind == CLUSTER)
        plan->cluster_vertices += size;
    else
        plan->other_edges += size - 1;
    if (b->head != plan->count)
        plan->other_edges++; /* its bridge */
    return plan->count++;
}

/* A component of clusters of 16 to 256 vertices, joined to a tree by bridges. */
static void add_clusters(struct plan *plan, struct ae_rng *rng, int32_t size)
{
    int32_t head = -1;
    while (size > 0) {
        int32_t part = (int32_t)ae_rng_range(rng, 16, CLUSTER_MAX);
        part = part > size || size - part < 16 ? size : part;
        part = part > CLUSTER_MAX ? CLUSTER_MAX / 2 : part;
        const int32_t block = add_block(plan, CLUSTER, part, head);
        head = head < 0 ? block : head;
        size -= part;
    }
}

/* One long path, many components of sizes over five decades, isolated vertices; the giant comes
 * last, so that it takes up what the edge count of the others left over. */
static void plan_clusters(struct plan *plan, struct ae_rng *rng, int32_t n)
{
    const int32_t giant = (int32_t)(n * ae_rng_uniform(rng, 0.4, 0.6));
    const int32_t path = n / 10 < 100000 ? n / 10 : (int32_t)ae_rng_range(rng, 100000, 150000);
    const int32_t singles = (int32_t)(n * ae_rng_uniform(rng, 0.01, 0.02));
    for (int32_t i = 0; i < singles; i++)
        add_block(plan, SINGLE, 1, -1);
    add_block(plan, PATH, path, -1);
    int32_t left = n - giant - path - singles;
    while (left > 0) {
        int32_t size = (int32_t)ae_rng_log_uniform(rng, 2, n / 16 < 100000 ? n / 16 : 100000);
        size = size > left ? left : size;
        left -= size;
        if (ae_rng_chance(rng, size > CLUSTER_MAX ? 0.2 : 0.1))
            add_block(plan, PATH, size, -1);
        else
            add_clusters(plan, rng, size);
    }
    add_clusters(plan, rng, giant);
}

static void plan_chains(struct plan *plan, struct ae_rng *rng, int32_t n)
{
    const int32_t path = (int32_t)(n * ae_rng_uniform(rng, 0.55, 0.65));
    const int32_t star = (int32_t)(n * ae_rng_uniform(rng, 0.2, 0.3));
    add_block(plan, PATH, path, -1);
    add_block(plan, STAR, star, -1);
    for (int32_t i = path + star; i < n; i++)
        add_block(plan, SINGLE, 1, -1);
}

/* --- the graph --- */

struct bridge {
    int32_t from, to;
};

struct graph {
    int32_t n;
    int32_t *order;  /* vertices block by block; ascending inside a block but for paths */
    int32_t *start;  /* of each block in order */
    int32_t *degree; /* of each vertex inside its block */
    uint64_t *bits;  /* rows of the matrices of all clusters, one behind the other */
    size_t bits_used;
    struct bridge *bridges; /* both directions */
    size_t bridge_count;
};

/* Gives the blocks random vertices, in ascending order inside each of them. block_of is scratch. */
static void deal_vertices(struct graph *g, const struct plan *plan, int32_t *block_of,
                          struct ae_rng *rng)
{
    int32_t v = 0;
    for (int32_t b = 0; b < plan->count; b++) {
        g->start[b] = v;
        for (int32_t i = 0; i < plan->blocks[b].size; i++)
            block_of[v++] = b;
    }
    g->start[plan->count] = v;
    for (uint32_t i = (uint32_t)g->n - 1; i > 0; i--) {
        const uint32_t j = ae_rng_below(rng, i + 1);
        const int32_t kept = block_of[i];
        block_of[i] = block_of[j];
        block_of[j] = kept;
    }
    for (v = 0; v < g->n; v++)
        g->order[g->start[block_of[v]]++] = v;
    for (int32_t b = plan->count; b > 0; b--)
        g->start[b] = g->start[b - 1];
    g->start[0] = 0;
}

static int32_t words_of(int32_t size)
{
    return (size + 63) / 64;
}

static void set_edge(uint64_t matrix[][WORDS], uint32_t a, uint32_t b)
{
    matrix[a][b / 64] |= UINT64_C(1) << b % 64;
    matrix[b][a / 64] |= UINT64_C(1) << a % 64;
}

/* Every vertex in random order hangs on a uniform earlier one; then edges between a uniform vertex
 * and one of skewed popularity, until there are about `edges` different ones. Returns how many
 * there are. Appends the matrix to g->bits. */
static int64_t make_cluster(struct graph *g, const int32_t *ids, int32_t size, int64_t edges,
                            bool loops, struct ae_rng *rng)
{
    uint64_t matrix[CLUSTER_MAX][WORDS];
    uint8_t role[CLUSTER_MAX];
    memset(matrix, 0, (size_t)size * sizeof *matrix);
    for (int32_t i = 0; i < size; i++) {
        const uint32_t j = ae_rng_below(rng, (uint32_t)i + 1);
        role[i] = role[j];
        role[j] = (uint8_t)i;
    }
    for (int32_t i = 1; i < size; i++)
        set_edge(matrix, role[i], role[ae_rng_below(rng, (uint32_t)i)]);
    int64_t made = size - 1;
    for (int pass = 0; pass < 3 && (made < edges || pass == 0); pass++) {
        for (int64_t draws = edges - made; draws > 0; draws--) {
            const uint64_t draw = ae_rng_u64(rng);
            const double u = (double)(uint32_t)draw * 0x1p-32;
            set_edge(matrix, role[(draw >> 32) * (uint64_t)size >> 32],
                     role[(int32_t)(size * (u * u * u))]);
        }
        made = 0; /* repeated edges and loops leave no trace */
        for (int32_t i = 0; i < size; i++) {
            matrix[i][i / 64] &= ~(UINT64_C(1) << i % 64);
            int32_t degree = 0;
            for (int32_t w = 0; w < words_of(size); w++)
                degree += __builtin_popcountll(matrix[i][w]);
            g->degree[ids[i]] = degree;
            made += degree;
        }
        made /= 2;
    }
    for (int32_t i = 0; i < size; i++) {
        if (loops && ae_rng_chance(rng, 0.02)) {
            matrix[i][i / 64] |= UINT64_C(1) << i % 64;
            g->degree[ids[i]]++;
        }
        memcpy(g->bits + g->bits_used, matrix[i], (size_t)words_of(size) * sizeof *g->bits);
        g->bits_used += (size_t)words_of(size);
    }
    return made;
}

static void add_bridge(struct graph *g, int32_t u, int32_t v)
{
    g->bridges[g->bridge_count++] = (struct bridge){u, v};
    g->bridges[g->bridge_count++] = (struct bridge){v, u};
}

/* Draws everything and finds all degrees. */
static void make_blocks(struct graph *g, const struct plan *plan, int64_t edges, bool loops,
                        struct ae_rng *rng)
{
    int64_t edges_left = edges - plan->other_edges, vertices_left = plan->cluster_vertices;
    for (int32_t b = 0; b < plan->count; b++) {
        int32_t *ids = g->order + g->start[b];
        const int32_t size = plan->blocks[b].size;
        const enum kind kind = plan->blocks[b].kind;
        if (kind == CLUSTER) {
            const int64_t most = (int64_t)size * (size - 1) / 5; /* of size*(size-1)/2 */
            int64_t share = edges_left * size / vertices_left;
            share = share > most ? most : share;
            share = share < size - 1 ? size - 1 : share;
            edges_left -= make_cluster(g, ids, size, share, loops, rng);
            vertices_left -= size;
            continue;
        }
        if (kind == PATH)
            ae_rng_shuffle_i32(rng, ids, (size_t)size);
        for (int32_t i = 0; i < size; i++)
            g->degree[ids[i]] = kind == PATH ? (i > 0) + (i < size - 1) : kind == STAR;
        if (kind == STAR) /* the hub */
            g->degree[ids[ae_rng_below(rng, (uint32_t)size)]] = size - 1;
    }
    for (int32_t b = 0; b < plan->count; b++) {
        const int32_t head = plan->blocks[b].head;
        if (head == b)
            continue;
        const uint32_t size = (uint32_t)plan->blocks[b].size;
        const int32_t other = head + (int32_t)ae_rng_below(rng, (uint32_t)(b - head));
        const uint32_t other_size = (uint32_t)plan->blocks[other].size;
        const int32_t u = g->order[g->start[b] + (int32_t)ae_rng_below(rng, size)];
        const int32_t v = g->order[g->start[other] + (int32_t)ae_rng_below(rng, other_size)];
        add_bridge(g, u, v);
        if (loops) /* here also parallel edges */
            add_bridge(g, u, v);
    }
}

/* Rows lie in random places: their starts are fetched AHEAD rows early, and where they are written
 * half of that. */
#define AHEAD 16

/* Writes the rows of one block, ascending. bits: its matrix, if it is a cluster. */
static void write_block(const struct graph *g, enum kind kind, const int32_t *ids, int32_t size,
                        const uint64_t *bits, const int32_t *row_ptr, int32_t *col_idx)
{
    int32_t hub = 0;
    for (int32_t i = 0; kind == STAR && i < size; i++)
        hub = g->degree[ids[i]] == size - 1 ? i : hub;
    for (int32_t i = 0; i < size; i++) {
        if (i + AHEAD < size)
            __builtin_prefetch(&row_ptr[ids[i + AHEAD]]);
        if (i + AHEAD / 2 < size)
            __builtin_prefetch(&col_idx[row_ptr[ids[i + AHEAD / 2]]], 1);
        int32_t *out = col_idx + row_ptr[ids[i]];
        if (kind == CLUSTER) {
            for (int32_t w = 0; w < words_of(size); w++)
                for (uint64_t left = *bits++; left; left &= left - 1)
                    *out++ = ids[w * 64 + __builtin_ctzll(left)];
        } else if (kind == STAR) {
            for (int32_t j = 0; i == hub && j < size; j++)
                if (j != hub)
                    *out++ = ids[j];
            if (i != hub)
                *out = ids[hub];
        } else if (kind == PATH) {
            const int32_t before = i > 0 ? ids[i - 1] : -1, after = i < size - 1 ? ids[i + 1] : -1;
            if (before >= 0 && (after < 0 || before < after))
                *out++ = before;
            if (after >= 0)
                *out++ = after;
            if (before >= 0 && after >= 0 && before > after)
                *out++ = before;
        }
    }
}

static int store(struct ae_instance *inst, const struct graph *g, const struct plan *plan,
                 struct ae_rng *rng, struct ae_error *err)
{
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, (size_t)g->n + 1, err);
    if (!row_ptr)
        return AE_E_NOMEM;
    memset(row_ptr, 0, ((size_t)g->n + 1) * sizeof *row_ptr);
    for (size_t k = 0; k < g->bridge_count; k++)
        row_ptr[g->bridges[k].from + 1]++;
    for (int32_t v = 0; v < g->n; v++)
        row_ptr[v + 1] += row_ptr[v] + g->degree[v];
    int32_t *col_idx = ae_new_array(inst, COL_IDX, (size_t)row_ptr[g->n], err);
    if (!col_idx)
        return AE_E_NOMEM;
    const uint64_t *bits = g->bits;
    for (int32_t b = 0; b < plan->count; b++) {
        const struct block *block = &plan->blocks[b];
        write_block(g, block->kind, g->order + g->start[b], block->size, bits, row_ptr, col_idx);
        if (block->kind == CLUSTER)
            bits += (size_t)block->size * (size_t)words_of(block->size);
    }
    for (size_t k = 0; k < g->bridge_count; k++) { /* each into its place in the row */
        const struct bridge *bridge = &g->bridges[k];
        int32_t *row = col_idx + row_ptr[bridge->from], i = g->degree[bridge->from]++;
        for (; i > 0 && row[i - 1] > bridge->to; i--)
            row[i] = row[i - 1];
        row[i] = bridge->to;
    }
    for (int32_t v = 0; inst->family == SHUFFLED && v < g->n; v++)
        for (int32_t i = row_ptr[v + 1] - 1; i > row_ptr[v]; i--) {
            const uint32_t count = (uint32_t)(i - row_ptr[v] + 1);
            const int32_t k = row_ptr[v] + (int32_t)ae_rng_below(rng, count);
            const int32_t kept = col_idx[i];
            col_idx[i] = col_idx[k];
            col_idx[k] = kept;
        }
    ae_set_i32(inst, N, g->n);
    return AE_OK;
}

static int generate_graph(struct ae_instance *inst, struct ae_rng *rng, struct plan *plan,
                          struct ae_error *err)
{
    const int32_t n = (int32_t)inst->param[P_N];
    const int64_t edges = inst->family == CHAINS ? plan->other_edges : inst->param[P_M] / 2;
    struct graph g = {.n = n};
    size_t words = 1;
    for (int32_t b = 0; b < plan->count; b++)
        if (plan->blocks[b].kind == CLUSTER)
            words += (size_t)plan->blocks[b].size * (size_t)words_of(plan->blocks[b].size);
    struct ae_array bits = {0};
    int32_t *scratch = malloc((size_t)n * sizeof *scratch);
    g.order = malloc((size_t)n * sizeof *g.order);
    g.degree = malloc((size_t)n * sizeof *g.degree);
    g.start = malloc(((size_t)plan->count + 1) * sizeof *g.start);
    g.bridges = malloc(((size_t)plan->count * 4 + 1) * sizeof *g.bridges);
    int rc = ae_array_alloc(&bits, AE_U64, words, err);
    g.bits = bits.data;
    if (rc == AE_OK && (!scratch || !g.order || !g.degree || !g.start || !g.bridges))
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for a graph of %d vertices", n);
    if (rc == AE_OK) {
        deal_vertices(&g, plan, scratch, rng);
        make_blocks(&g, plan, edges, inst->family == SHUFFLED, rng);
        rc = store(inst, &g, plan, rng, err);
    }
    free(scratch);
    free(g.order);
    free(g.degree);
    free(g.start);
    free(g.bridges);
    ae_array_release(&bits);
    return rc;
}

/* One to six vertices with loops and parallel edges, rows in any order. */
static int generate_tiny(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const int32_t n = (int32_t)ae_rng_range(rng, 1, 6), edges = (int32_t)ae_rng_range(rng, 0, 5);
    int32_t from[10], to[10];
    for (int32_t e = 0; e < edges; e++) {
        from[2 * e] = to[2 * e + 1] = (int32_t)ae_rng_below(rng, (uint32_t)n);
        to[2 * e] = from[2 * e + 1] = (int32_t)ae_rng_below(rng, (uint32_t)n);
    }
    ae_set_i32(inst, N, n);
    int32_t *row_ptr = ae_new_array(inst, ROW_PTR, (size_t)n + 1, err);
    int32_t *col_idx = ae_new_array(inst, COL_IDX, 2 * (size_t)edges, err);
    if (!row_ptr || !col_idx)
        return AE_E_NOMEM;
    int32_t at = 0;
    for (int32_t v = 0; v < n; v++) {
        row_ptr[v] = at;
        for (int32_t e = 0; e < 2 * edges; e++)
            if (from[e] == v)
                col_idx[at++] = to[e];
    }
    row_ptr[n] = at;
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const bool timed = inst->family == CLUSTERS;
    ae_set_i32(inst, NEIGHBOR_ROUNDS, timed ? 2 : ae_rng_range(rng, 0, 3));
    ae_set_i32(inst, NUM_SAMPLES, timed ? inst->param[P_SAMPLES] : ae_rng_range(rng, 0, 100));
    if (inst->family == TINY)
        return generate_tiny(inst, rng, err);
    const int32_t n = (int32_t)inst->param[P_N];
    struct plan plan = {0};
    plan.blocks = malloc((size_t)n * sizeof *plan.blocks);
    if (!plan.blocks)
        return ae_error_set(err, AE_E_NOMEM, "no memory for a graph of %d vertices", n);
    if (inst->family == CHAINS)
        plan_chains(&plan, rng, n);
    else
        plan_clusters(&plan, rng, n);
    const int rc = generate_graph(inst, rng, &plan, err);
    free(plan.blocks);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, COMP_OUT, (size_t)inst->scalar[N].i32);
}

/* Rows of the reversed graph, ascending. ptr_out has n+1 elements, all 0. */
static void transpose(int32_t n, const int32_t *ptr, const int32_t *col, int32_t *ptr_out,
                      int32_t *col_out)
{
    for (int32_t e = 0; e < ptr[n]; e++)
        ptr_out[col[e]]++;
    int32_t at = 0;
    for (int32_t v = 0; v <= n; v++) {
        const int32_t degree = ptr_out[v];
        ptr_out[v] = at;
        at += degree;
    }
    for (int32_t u = 0; u < n; u++)
        for (int32_t e = ptr[u]; e < ptr[u + 1]; e++)
            col_out[ptr_out[col[e]]++] = u;
    memmove(ptr_out + 1, ptr_out, (size_t)n * sizeof *ptr_out);
    ptr_out[0] = 0;
}

/* Both the reversed graph and its reverse have ascending rows; they are equal where every edge has
 * its opposite. */
static int check_symmetry(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const size_t m = inst->array[COL_IDX].count;
    int32_t *ptr = calloc(2 * ((size_t)n + 1), sizeof *ptr),
            *col = malloc((2 * m + 1) * sizeof *col);
    int rc = AE_OK;
    if (ptr && col) {
        transpose(n, ae_in_i32(inst, ROW_PTR), ae_in_i32(inst, COL_IDX), ptr, col);
        transpose(n, ptr, col, ptr + n + 1, col + m);
        if (memcmp(ptr, ptr + n + 1, ((size_t)n + 1) * sizeof *ptr) != 0 ||
            memcmp(col, col + m, m * sizeof *col) != 0)
            rc = ae_error_set(err, AE_E_INPUT,
                              "an edge has no opposite: the graph is not undirected");
    } else {
        rc = ae_error_set(err, AE_E_NOMEM, "no memory to check %zu edges", m);
    }
    free(ptr);
    free(col);
    return rc;
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32, rounds = inst->scalar[NEIGHBOR_ROUNDS].i32;
    const int32_t samples = inst->scalar[NUM_SAMPLES].i32;
    if (n < 1 || n == INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "n is %d; one vertex is the least", n);
    if (rounds < 0 || rounds > 1000 || samples < 0 || samples > 1 << 24)
        return ae_error_set(err, AE_E_INPUT,
                            "neighbor_rounds = %d and num_samples = %d: 0 to 1000 and 0 to 2^24",
                            rounds, samples);
    const size_t m = inst->array[COL_IDX].count;
    if (inst->array[ROW_PTR].count != (size_t)n + 1)
        return ae_error_set(err, AE_E_INPUT, "row_ptr has %zu elements for %d vertices",
                            inst->array[ROW_PTR].count, n);
    const int32_t *ptr = ae_in_i32(inst, ROW_PTR), *col = ae_in_i32(inst, COL_IDX);
    if (ptr[0] != 0 || ptr[n] < 0 || (size_t)ptr[n] != m)
        return ae_error_set(err, AE_E_INPUT, "row_ptr runs from %d to %d for %zu neighbours",
                            ptr[0], ptr[n], m);
    for (int32_t v = 0; v < n; v++)
        if (ptr[v] > ptr[v + 1])
            return ae_error_set(err, AE_E_INPUT, "the row of vertex %d ends before it starts", v);
    for (size_t e = 0; e < m; e++)
        if (col[e] < 0 || col[e] >= n)
            return ae_error_set(err, AE_E_INPUT, "neighbour %zu is %d, and there are %d vertices",
                                e, col[e], n);
    return check_symmetry(inst, err);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations = (double)inst->array[COL_IDX].count + 4.0 * inst->scalar[N].i32;
    w->steps = 4; /* set up, link, compress, copy */
}

const struct ae_task ae_task_gapbs_cc_afforest = {
    .id = "gapbs_cc_afforest",
    .title = "Connected components of an undirected graph",
    .domain = AE_GRAPH,
    .lineage = "GAP Benchmark Suite, cc: Afforest (Sutton, Ben-Nun, Barak 2018)",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"n", "m", "num_samples"},
    .sizes = {[AE_SMALL] = {{65536, 786432, 1024}},
              [AE_MEDIUM] = {{3145728, 50331648, 2048}},
              [AE_LARGE] =
                  {{6291456, 100663296, 4096},
                   true,
                   "the published large (524 288 vertices) is smaller than the published medium"}},
    .families =
        {{"clusters",
          "a giant of bridged clusters, components of all sizes, a long path, isolated vertices; "
          "permuted ids",
          AE_ALL_SIZES},
         {"shuffled", "the same with rows in random order, loops and parallel edges",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"chains",
          "one path through most vertices and one star: catches label propagation in few rounds",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"tiny", "one to six vertices, loops, parallel edges", AE_AT(AE_SMALL)}},
    .published_note = "published components are equal blocks of consecutive ids: labels follow "
                      "without reading edges",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
