#include "task/task.h"

#include "task/published.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHED 1e30f

enum { P_V, P_E, P_R };

enum {
    V,
    E,
    ROW_OFFSETS,
    COL_INDICES,
    WEIGHTS,
    NUM_REQUESTS,
    SOURCES,
    TARGETS,
    DISTANCES,
    ARG_COUNT
};

enum { RANDOM, LOG_UNIFORM, GRID, TINY };

/* Vertices without an in-edge that every generated graph has: no other source reaches them. */
#define ROOTS 3

static const struct ae_arg args[ARG_COUNT] = {
    [V] = {"V", AE_I32, AE_SCALAR, .meaning = "number of vertices"},
    [E] = {"E", AE_I32, AE_SCALAR, .meaning = "number of directed edges"},
    [ROW_OFFSETS] = {"h_row_offsets", AE_I32, AE_IN, "V+1",
                     .meaning = "first out-edge of each vertex", .published = "row_offsets"},
    [COL_INDICES] = {"h_col_indices", AE_I32, AE_IN, "E", "vertex id", "head of each edge",
                     .published = "col_indices"},
    [WEIGHTS] = {"h_weights", AE_F32, AE_IN, "E", "length", "length of each edge, above 0",
                 .published = "weights"},
    [NUM_REQUESTS] = {"num_requests", AE_I32, AE_SCALAR, .meaning = "number R of requests"},
    [SOURCES] = {"h_sources", AE_I32, AE_IN, "R", "vertex id",
                 "source of each request; may be invalid"},
    [TARGETS] = {"h_targets", AE_I32, AE_IN, "R", "vertex id",
                 "target of each request; may be invalid"},
    [DISTANCES] =
        {"h_distances", AE_F32, AE_OUT, "R", "length",
         "shortest distance, 1e30f where there is no path",
         .rule =
             {AE_SCALED,
              .reason =
                  "1e-6*d (5e-6*d on the deep grid), exactly 1e30f without a path and exactly 0 "
                  "from a vertex to itself: float sums from the source give identical bits, "
                  "other associations or double differ by at most 3e-7 (1e-6 on the grid), and "
                  "half-precision weights by 3e-4"}},
};

/* --- the graph --- */

struct edges {
    int32_t *tail, *head;
    float *weight;
    size_t count;
};

static bool is_root(const int32_t *roots, int32_t v)
{
    return v == roots[0] || v == roots[1] || v == roots[2];
}

/* Edges between uniform vertices, none into a root and no loops. */
static void draw_random(struct ae_rng *rng, int32_t n, const int32_t *roots, bool log_uniform,
                        struct edges *edges)
{
    for (size_t e = 0; e < edges->count; e++) {
        int32_t u, v;
        do {
            u = (int32_t)ae_rng_below(rng, (uint32_t)n);
            v = (int32_t)ae_rng_below(rng, (uint32_t)n);
        } while (u == v || is_root(roots, v));
        edges->tail[e] = u;
        edges->head[e] = v;
        edges->weight[e] =
            (float)(log_uniform ? ae_rng_log_uniform(rng, 0.01, 100) : ae_rng_uniform(rng, 1, 100));
    }
}

/* A rectangle whose neighbours are joined in both directions, one edge in a hundred missing, under
 * permuted ids: many times as many rounds as a random graph needs. Sets edges->count. */
static int draw_grid(struct ae_rng *rng, int32_t n, const int32_t *roots, struct edges *edges)
{
    int32_t *id = malloc((size_t)n * sizeof *id);
    if (!id)
        return AE_E_NOMEM;
    ae_rng_permutation(rng, id, (size_t)n);
    const int32_t rows = n <= 1000 ? n / 40 : n / 400, cols = n / rows;
    size_t count = 0;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < cols; c++)
            for (int d = 0; d < 4; d++) {
                static const int dr[] = {-1, 0, 0, 1}, dc[] = {0, -1, 1, 0};
                const int32_t r2 = r + dr[d], c2 = c + dc[d];
                if (r2 < 0 || r2 >= rows || c2 < 0 || c2 >= cols)
                    continue;
                const float weight = (float)ae_rng_log_uniform(rng, 0.01, 100);
                if (ae_rng_chance(rng, 0.01) || is_root(roots, id[r2 * cols + c2]))
                    continue;
                edges->tail[count] = id[r * cols + c];
                edges->head[count] = id[r2 * cols + c2];
                edges->weight[count++] = weight;
            }
    edges->count = count;
    free(id);
    return AE_OK;
}

/* Compressed rows; the edges of a row keep the order in which they were drawn. */
static int store(struct ae_instance *inst, int32_t n, const struct edges *edges,
                 struct ae_error *err)
{
    int32_t *offsets = ae_new_array(inst, ROW_OFFSETS, (size_t)n + 1, err);
    int32_t *heads = ae_new_array(inst, COL_INDICES, edges->count, err);
    float *weights = ae_new_array(inst, WEIGHTS, edges->count, err);
    if (!offsets || !heads || !weights)
        return AE_E_NOMEM;
    memset(offsets, 0, ((size_t)n + 1) * sizeof *offsets);
    for (size_t e = 0; e < edges->count; e++)
        offsets[edges->tail[e] + 1]++;
    for (int32_t u = 0; u < n; u++)
        offsets[u + 1] += offsets[u];
    for (size_t e = 0; e < edges->count; e++) {
        const int32_t slot = offsets[edges->tail[e]]++;
        heads[slot] = edges->head[e];
        weights[slot] = edges->weight[e];
    }
    for (int32_t u = n; u > 0; u--) /* each entry has moved to the start of the next row */
        offsets[u] = offsets[u - 1];
    offsets[0] = 0;
    ae_set_i32(inst, V, n);
    ae_set_i32(inst, E, (int64_t)edges->count);
    return AE_OK;
}

/* --- the requests --- */

struct search {
    float *distance;
    int32_t *near, *next, *far; /* lists of vertices; each may hold a vertex once per round */
    int32_t *hops;              /* edges of the path that gave the distance */
    uint8_t *in_near, *in_far;
};

/* Distances from source, nearer vertices first: a work list for those below a bound that grows by
 * `step`. */
static void distances_from(const struct ae_instance *inst, int32_t source, float step,
                           struct search *s)
{
    const int32_t *offsets = ae_in_i32(inst, ROW_OFFSETS), *heads = ae_in_i32(inst, COL_INDICES);
    const float *weights = ae_in_f32(inst, WEIGHTS);
    const int32_t n = inst->scalar[V].i32;
    for (int32_t v = 0; v < n; v++)
        s->distance[v] = UNREACHED;
    memset(s->in_near, 0, (size_t)n);
    memset(s->in_far, 0, (size_t)n);
    s->distance[source] = 0;
    s->hops[source] = 0;
    s->near[0] = source;
    int32_t near_count = 1, far_count = 0;
    float bound = step;
    for (;;) {
        while (near_count > 0) {
            int32_t next_count = 0;
            for (int32_t i = 0; i < near_count; i++)
                s->in_near[s->near[i]] = 0;
            for (int32_t i = 0; i < near_count; i++) {
                const int32_t u = s->near[i];
                const float from = s->distance[u];
                for (int32_t e = offsets[u]; e < offsets[u + 1]; e++) {
                    const int32_t v = heads[e];
                    const float candidate = from + weights[e];
                    if (!(candidate < s->distance[v]))
                        continue;
                    s->distance[v] = candidate;
                    s->hops[v] = s->hops[u] + 1;
                    if (candidate < bound && !s->in_near[v]) {
                        s->in_near[v] = 1;
                        s->next[next_count++] = v;
                    } else if (candidate >= bound && !s->in_far[v]) {
                        s->in_far[v] = 1;
                        s->far[far_count++] = v;
                    }
                }
            }
            int32_t *kept = s->near;
            s->near = s->next;
            s->next = kept;
            near_count = next_count;
        }
        if (far_count == 0)
            return;
        /* Vertices that have come below the old bound meanwhile were dealt with above. */
        const float old = bound;
        float least = UNREACHED;
        for (int32_t i = 0; i < far_count; i++)
            if (s->distance[s->far[i]] >= old && s->distance[s->far[i]] < least)
                least = s->distance[s->far[i]];
        bound = least + step;
        int32_t left = 0;
        for (int32_t i = 0; i < far_count; i++) {
            const int32_t v = s->far[i];
            if (s->distance[v] >= bound) {
                s->far[left++] = v;
                continue;
            }
            s->in_far[v] = 0;
            if (s->distance[v] >= old) {
                s->in_near[v] = 1;
                s->near[near_count++] = v;
            }
        }
        far_count = left;
    }
}

/* A vertex whose shortest path has the most edges: in synchronous rounds its distance is final last
 * of all. */
static int32_t last_vertex(const struct ae_instance *inst, int32_t source, float step,
                           struct search *s)
{
    distances_from(inst, source, step, s);
    int32_t last = source;
    for (int32_t v = 0; v < inst->scalar[V].i32; v++)
        if (s->distance[v] < UNREACHED && s->hops[v] > s->hops[last])
            last = v;
    return last;
}

/* Groups of one source each. Every group holds a target of the last round; the first groups hold
 * one of the odd requests each: unreachable targets, a repetition, source = target, an id out of
 * range. Half of the instances give the requests in random order. */
static int draw_requests(struct ae_instance *inst, struct ae_rng *rng, const int32_t *roots,
                         int32_t count, struct ae_error *err)
{
    const int32_t n = inst->scalar[V].i32;
    const int32_t per_group = count >= 100 ? count / 10 : count >= 5 ? 5 : count;
    ae_set_i32(inst, NUM_REQUESTS, count);
    int32_t *sources = ae_new_array(inst, SOURCES, (size_t)count, err);
    int32_t *targets = ae_new_array(inst, TARGETS, (size_t)count, err);
    struct search s = {0};
    int32_t *memory = malloc((size_t)n * (4 * sizeof *memory + sizeof *s.distance + 2));
    if (!sources || !targets || !memory) {
        free(memory);
        return ae_error_set(err, AE_E_NOMEM, "no memory for the requests");
    }
    int32_t *const lists = memory;
    s = (struct search){.near = lists,
                        .next = lists + n,
                        .far = lists + 2 * (size_t)n,
                        .hops = lists + 3 * (size_t)n,
                        .distance = (float *)(void *)(lists + 4 * (size_t)n), /* 4 bytes too */
                        .in_near = (uint8_t *)(lists + 5 * (size_t)n),
                        .in_far = (uint8_t *)(lists + 5 * (size_t)n) + n};
    /* Wide enough for few rounds, narrow enough for few repeated relaxations; any value is right.
     */
    const float step = inst->family == RANDOM ? 20.0f : 2.0f;
    int32_t source = 0;
    for (int32_t i = 0; i < count; i++) {
        if (i % per_group == 0) {
            do
                source = (int32_t)ae_rng_below(rng, (uint32_t)n);
            while (is_root(roots, source) || ae_in_i32(inst, ROW_OFFSETS)[source] ==
                                                 ae_in_i32(inst, ROW_OFFSETS)[source + 1]);
        }
        sources[i] = source;
        targets[i] = (int32_t)ae_rng_below(rng, (uint32_t)n);
        const int32_t group = i / per_group, member = i % per_group;
        if (member == 0)
            targets[i] = last_vertex(inst, source, step, &s);
        else if (member == 1 && group < ROOTS)
            targets[i] = roots[group];
        else if (member == 2 && group == 0)
            targets[i] = source;
        else if (member == 2 && group == 1)
            targets[i] = targets[i - 2];
        else if (member == 3 && group == 0)
            targets[i] = ae_rng_chance(rng, 0.5) ? -1 - targets[i] : n + targets[i];
        else if (member == 3 && group == 1)
            sources[i] = ae_rng_chance(rng, 0.5) ? -1 - source : n + source;
        else if (member == 4 && group == 0)
            targets[i] =
                roots[2]; /* at least three unreachable ones also where there are two groups */
    }
    if (ae_rng_chance(rng, 0.5))
        for (int32_t i = count - 1; i > 0; i--) {
            const uint32_t j = ae_rng_below(rng, (uint32_t)i + 1);
            const int32_t kept_source = sources[i], kept_target = targets[i];
            sources[i] = sources[j];
            targets[i] = targets[j];
            sources[j] = kept_source;
            targets[j] = kept_target;
        }
    free(memory);
    return AE_OK;
}

/* One to three vertices, loops and parallel edges among them, and vertices without any edge. */
static int generate_tiny(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int32_t tail[6], head[6];
    float weight[6];
    const int32_t n = (int32_t)ae_rng_range(rng, 1, 3);
    struct edges edges = {tail, head, weight, (size_t)ae_rng_range(rng, 0, 6)};
    for (size_t e = 0; e < edges.count; e++) {
        tail[e] = (int32_t)ae_rng_below(rng, (uint32_t)n);
        head[e] = (int32_t)ae_rng_below(rng, (uint32_t)n);
        weight[e] = (float)ae_rng_uniform(rng, 1, 100);
    }
    const int32_t count = (int32_t)ae_rng_range(rng, 1, 5);
    ae_set_i32(inst, NUM_REQUESTS, count);
    const int rc = store(inst, n, &edges, err);
    int32_t *sources = ae_new_array(inst, SOURCES, (size_t)count, err);
    int32_t *targets = ae_new_array(inst, TARGETS, (size_t)count, err);
    if (rc != AE_OK || !sources || !targets)
        return AE_E_NOMEM;
    for (int32_t i = 0; i < count; i++) {
        sources[i] = (int32_t)ae_rng_range(rng, i > 0 ? -1 : 0, n - (i == 0));
        targets[i] = (int32_t)ae_rng_range(rng, i > 0 ? -1 : 0, n - (i == 0));
    }
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    if (inst->family == TINY)
        return generate_tiny(inst, rng, err);
    const int32_t n = (int32_t)inst->param[P_V];
    const size_t capacity = inst->family == GRID ? 4 * (size_t)n : (size_t)inst->param[P_E];
    int32_t roots[ROOTS];
    do
        for (int i = 0; i < ROOTS; i++)
            roots[i] = (int32_t)ae_rng_below(rng, (uint32_t)n);
    while (roots[0] == roots[1] || roots[0] == roots[2] || roots[1] == roots[2]);
    struct edges edges = {malloc(capacity * sizeof(int32_t)), malloc(capacity * sizeof(int32_t)),
                          malloc(capacity * sizeof(float)), capacity};
    int rc = edges.tail && edges.head && edges.weight ? AE_OK : AE_E_NOMEM;
    if (rc == AE_OK && inst->family == GRID)
        rc = draw_grid(rng, n, roots, &edges);
    else if (rc == AE_OK)
        draw_random(rng, n, roots, inst->family == LOG_UNIFORM, &edges);
    if (rc == AE_OK)
        rc = store(inst, n, &edges, err);
    else
        ae_error_set(err, rc, "no memory for %zu edges", capacity);
    free(edges.tail);
    free(edges.head);
    free(edges.weight);
    if (rc != AE_OK)
        return rc;
    /* The deep grid costs the reference a multiple of what the timed family does. */
    const bool few = inst->family == GRID && inst->size != AE_SMALL;
    struct ae_rng requests;
    ae_rng_seed(&requests, inst->seed, 1);
    return draw_requests(inst, &requests, roots, few ? 10 : (int32_t)inst->param[P_R], err);
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, DISTANCES, (size_t)inst->scalar[NUM_REQUESTS].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[V].i32, m = inst->scalar[E].i32,
                  count = inst->scalar[NUM_REQUESTS].i32;
    if (n < 1 || n == INT32_MAX || m < 0 || count < 0)
        return ae_error_set(err, AE_E_INPUT,
                            "%d vertices, %d edges, %d requests: one vertex is the least", n, m,
                            count);
    if (inst->array[ROW_OFFSETS].count != (size_t)n + 1 ||
        inst->array[COL_INDICES].count != (size_t)m || inst->array[WEIGHTS].count != (size_t)m)
        return ae_error_set(err, AE_E_INPUT,
                            "%zu row offsets, %zu heads, %zu weights for V = %d, E = %d",
                            inst->array[ROW_OFFSETS].count, inst->array[COL_INDICES].count,
                            inst->array[WEIGHTS].count, n, m);
    if (inst->array[SOURCES].count != (size_t)count || inst->array[TARGETS].count != (size_t)count)
        return ae_error_set(err, AE_E_INPUT, "%zu sources and %zu targets for %d requests",
                            inst->array[SOURCES].count, inst->array[TARGETS].count, count);
    const int32_t *offsets = ae_in_i32(inst, ROW_OFFSETS), *heads = ae_in_i32(inst, COL_INDICES);
    const float *weights = ae_in_f32(inst, WEIGHTS);
    if (offsets[0] != 0 || offsets[n] != m)
        return ae_error_set(err, AE_E_INPUT,
                            "the row offsets run from %d to %d, not from 0 to E = %d", offsets[0],
                            offsets[n], m);
    for (int32_t u = 0; u < n; u++)
        if (offsets[u] > offsets[u + 1])
            return ae_error_set(err, AE_E_INPUT, "the row of vertex %d ends before it starts", u);
    for (int32_t e = 0; e < m; e++) {
        if (heads[e] < 0 || heads[e] >= n)
            return ae_error_set(err, AE_E_INPUT, "edge %d leads to %d, and there are %d vertices",
                                e, heads[e], n);
        if (!isfinite(weights[e]) || !(weights[e] > 0) || (double)weights[e] * n >= 1e30)
            return ae_error_set(err, AE_E_INPUT,
                                "edge %d has length %g; lengths are above 0, sums below 1e30", e,
                                (double)weights[e]);
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    const float *distances = expected->out[arg].data;
    const double share =
        inst->family == GRID ? 5e-6 : 1e-6; /* rounding grows with the edges of a path */
    for (size_t i = 0; i < count; i++)
        if (distances[first + i] < UNREACHED)
            tol[i] += share * (double)distances[first + i];
}

/* One settled search per distinct source; as many rounds as a random graph of this size is deep. */
static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const int32_t *sources = ae_in_i32(inst, SOURCES);
    const int32_t count = inst->scalar[NUM_REQUESTS].i32;
    double distinct = 0;
    for (int32_t i = 0; i < count; i++) {
        bool seen = sources[i] < 0 || sources[i] >= inst->scalar[V].i32;
        for (int32_t j = i > 1000 ? i - 1000 : 0; j < i && !seen; j++)
            seen = sources[j] == sources[i];
        distinct += !seen;
    }
    w->operations = 2.0 * distinct * inst->scalar[E].i32 + count;
    w->steps =
        inst->family == GRID ? 3 * sqrt(inst->scalar[V].i32) : 10 + log2(inst->scalar[V].i32);
}

/* requests.txt: one "source target" a line; other lines are no requests. */
static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    int64_t n, m;
    int rc = ae_published_param(published, "V", &n, err);
    if (rc == AE_OK)
        rc = ae_published_param(published, "E", &m, err);
    if (rc != AE_OK)
        return rc;
    if (n < 1 || n > INT32_MAX - 1 || m < 0 || m > INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "input.bin: V = %lld and E = %lld do not fit",
                            (long long)n, (long long)m);
    ae_set_i32(inst, V, n);
    ae_set_i32(inst, E, m);
    rc = ae_published_copy(published, "row_offsets", inst, ROW_OFFSETS, n + 1, err);
    if (rc == AE_OK)
        rc = ae_published_copy(published, "col_indices", inst, COL_INDICES, m, err);
    if (rc == AE_OK)
        rc = ae_published_copy(published, "weights", inst, WEIGHTS, m, err);
    if (rc != AE_OK)
        return rc;
    if (!published->requests)
        return ae_error_set(err, AE_E_INPUT, "requests.txt is missing");
    size_t lines = 1;
    for (const char *p = published->requests; *p; p++)
        lines += *p == '\n';
    int32_t *sources = ae_new_array(inst, SOURCES, lines, err);
    int32_t *targets = ae_new_array(inst, TARGETS, lines, err);
    if (!sources || !targets)
        return AE_E_NOMEM;
    size_t count = 0;
    for (const char *line = published->requests; line;) {
        const char *end = strchr(line, '\n');
        char text[64] = "";
        const size_t length = end ? (size_t)(end - line) : strlen(line);
        if (length < sizeof text)
            memcpy(text, line, length);
        char *rest, *rest2;
        errno = 0;
        const long source = strtol(text, &rest, 10);
        const long target = strtol(rest, &rest2, 10);
        if (rest != text && rest2 != rest) {
            if (errno || source < INT32_MIN || source > INT32_MAX || target < INT32_MIN ||
                target > INT32_MAX)
                return ae_error_set(err, AE_E_INPUT, "requests.txt: request %zu is out of range",
                                    count + 1);
            sources[count] = (int32_t)source;
            targets[count++] = (int32_t)target;
        }
        line = end ? end + 1 : NULL;
    }
    if (count > INT32_MAX)
        return ae_error_set(err, AE_E_INPUT, "requests.txt has too many requests");
    ae_shrink_array(inst, SOURCES, count);
    ae_shrink_array(inst, TARGETS, count);
    ae_set_i32(inst, NUM_REQUESTS, (int64_t)count);
    return AE_OK;
}

const struct ae_task ae_task_bellman_ford = {
    .id = "bellman_ford",
    .title = "Shortest distances for a batch of source-target pairs",
    .domain = AE_GRAPH,
    .lineage = "Bellman 1958, Ford 1956; relaxation rounds on a weighted digraph",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"V", "E", "R"},
    .sizes = {[AE_SMALL] = {{1000, 5000, 100}},
              [AE_MEDIUM] = {{100000, 500000, 100}},
              [AE_LARGE] = {{500000, 2500000, 100}}},
    .families =
        {{"random",
          "uniform random edges, lengths 1 to 100; ten sources, each with a target that is final "
          "only in the last round",
          AE_ALL_SIZES},
         {"log_uniform", "lengths over four decades: short paths have many edges",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"grid", "permuted grid hundreds of rounds deep: catches fixed numbers of rounds",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"tiny", "one to three vertices with loops and parallel edges", AE_AT(AE_SMALL)}},
    .published_atol = 0.1,
    .published_rtol = 0.01,
    .published_note =
        "published requests come in ten groups of ten, all valid, nearly all reachable",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
    .import = import,
};
