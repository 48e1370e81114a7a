#include "common/grid27.h"

#include "base/fmath.h"

#include <stdlib.h>

enum { P_ROWS, P_NEIGHBORS, P_MAX_ITERS };

enum { N, NNZ, MAX_ITERS, TOL_EXP, ROW_PTR, COL_IDX, VALUES, B, X_OUT, ARG_COUNT };

enum { RING, CAPPED, ZERO, TINY };

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"n", AE_I32, AE_SCALAR, .meaning = "number of rows and of columns"},
    [NNZ] = {"nnz", AE_I32, AE_SCALAR, .meaning = "number of stored entries"},
    [MAX_ITERS] = {"max_iters", AE_I32, AE_SCALAR, .meaning = "most iterations to make"},
    [TOL_EXP] = {"tol_exp", AE_I32, AE_SCALAR,
                 .meaning = "the residual norm to reach is 10^-tol_exp"},
    [ROW_PTR] = {"row_ptr", AE_I32, AE_IN, "n+1", .meaning = "where each row's entries start"},
    [COL_IDX] = {"col_idx", AE_I32, AE_IN, "nnz",
                 .meaning = "column of each entry; the diagonal first, the others ascending"},
    [VALUES] = {"values", AE_F64, AE_IN, "nnz", .meaning = "matrix entries"},
    [B] = {"b", AE_F64, AE_IN, "n", .meaning = "right-hand side"},
    [X_OUT] =
        {"x_out", AE_F64, AE_OUT, "n", .meaning = "the last iterate, from the start vector 0",
         .rule =
             {AE_CLOSE, 1e-12, 1e-12,
              "1e-12 + 1e-12*|x|: other orders of summation differ by some 1e-14, one iteration "
              "more "
              "or fewer by 1e-11 to 1e-9, the exact solution likewise, float arithmetic by 1e-6"}},
};

/* Squared residual norms below this share of the first one are of no interest. */
#define HISTORY_END 1e-26
#define HISTORY_MAX 100

/* Up to OWN_ROWS rows an instance's own residuals are computed; larger ones have a smaller sibling,
 * in a fraction of the time. */
#define OWN_ROWS     20000
#define SIBLING_ROWS 16384

/* Draws made ahead, so that the memory they will touch can be fetched meanwhile. */
#define AHEAD 32

struct matrix {
    int32_t n;
    const int32_t *row_ptr, *col_idx;
    const double *values;
};

/* An undirected graph: a ring with second neighbours, then random edges until every vertex has
 * `target` of them. */
struct graph {
    struct ae_array neighbors, degrees; /* int32; `width` places a vertex */
    int32_t n, width;
};

static void graph_release(struct graph *graph)
{
    ae_array_release(&graph->neighbors);
    ae_array_release(&graph->degrees);
}

static void add_edge(const struct graph *graph, int32_t i, int32_t j)
{
    int32_t *degrees = graph->degrees.data;
    int32_t *mine = (int32_t *)graph->neighbors.data + (size_t)i * (size_t)graph->width;
    if (i == j || degrees[i] == graph->width || degrees[j] == graph->width)
        return;
    for (int32_t k = 0; k < degrees[i]; k++)
        if (mine[k] == j)
            return;
    mine[degrees[i]++] = j;
    ((int32_t *)graph->neighbors.data)[(size_t)j * (size_t)graph->width + (size_t)degrees[j]++] = i;
}

static int graph_make(struct graph *graph, struct ae_rng *rng, int32_t n, int32_t target,
                      struct ae_error *err)
{
    target = target < 4 ? 4 : target;
    *graph = (struct graph){.n = n, .width = 3 * target + 16};
    if (ae_array_alloc(&graph->neighbors, AE_I32, (size_t)n * (size_t)graph->width, err) != AE_OK ||
        ae_array_alloc(&graph->degrees, AE_I32, (size_t)n, err) != AE_OK)
        return AE_E_NOMEM;
    int32_t *degrees = graph->degrees.data;
    const int32_t *neighbors = graph->neighbors.data;
    for (int32_t i = 0; i < n; i++)
        degrees[i] = 0;
    for (int32_t i = 0; i < n; i++) {
        add_edge(graph, i, (i + 1) % n);
        add_edge(graph, i, (i + 2) % n);
    }
    int32_t ahead[AHEAD];
    for (int k = 0; k < AHEAD; k++)
        ahead[k] = (int32_t)ae_rng_below(rng, (uint32_t)n);
    unsigned next = 0;
    target = target > n - 1 ? n - 1 : target;
    for (int32_t i = 0; i < n; i++)
        while (degrees[i] < target) {
            const int32_t j = ahead[next % AHEAD], later = (int32_t)ae_rng_below(rng, (uint32_t)n);
            ahead[next++ % AHEAD] = later;
            __builtin_prefetch(&degrees[later]);
            __builtin_prefetch(
                &neighbors[(size_t)later * (size_t)graph->width + (size_t)target / 2]);
            add_edge(graph, i, j);
        }
    return AE_OK;
}

static size_t graph_entries(const struct graph *graph)
{
    size_t entries = (size_t)graph->n;
    for (int32_t i = 0; i < graph->n; i++)
        entries += (size_t)((const int32_t *)graph->degrees.data)[i];
    return entries;
}

/* The pattern is symmetric, the entries are not: a_ij and a_ji are drawn independently. */
static void fill_matrix(const struct graph *graph, struct ae_rng *rng, int32_t *row_ptr,
                        int32_t *col_idx, double *values)
{
    int32_t p = 0;
    row_ptr[0] = 0;
    for (int32_t i = 0; i < graph->n; i++) {
        const int32_t degree = ((const int32_t *)graph->degrees.data)[i];
        const int32_t *from =
            (const int32_t *)graph->neighbors.data + (size_t)i * (size_t)graph->width;
        int32_t *columns = col_idx + p + 1;
        for (int32_t k = 0; k < degree; k++) { /* nearly sorted already: insertion is cheap */
            int32_t at = k;
            for (; at > 0 && columns[at - 1] > from[k]; at--)
                columns[at] = columns[at - 1];
            columns[at] = from[k];
        }
        col_idx[p] = i;
        double sum = 0;
        for (int32_t k = 1; k <= degree; k++) {
            const double size = ae_rng_uniform(rng, 0.01, 0.08);
            values[p + k] = -size;
            sum += size;
        }
        values[p] = sum + 1;
        p += degree + 1;
        row_ptr[i + 1] = p;
    }
}

/* y = A x; returns x.y */
static double multiply(const struct matrix *m, const double *x, double *y)
{
    double dot = 0;
    for (int32_t i = 0; i < m->n; i++) {
        double even = 0, odd = 0;
        int32_t p = m->row_ptr[i];
        for (; p + 1 < m->row_ptr[i + 1]; p += 2) {
            even += m->values[p] * x[m->col_idx[p]];
            odd += m->values[p + 1] * x[m->col_idx[p + 1]];
        }
        if (p < m->row_ptr[i + 1])
            even += m->values[p] * x[m->col_idx[p]];
        y[i] = even + odd;
        dot += x[i] * y[i];
    }
    return dot;
}

static double square(const double *x, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/* The squared residual norms after iteration 1, 2, ... as shares of |b|^2; returns how many,
 * negative on failure. */
static int history(const struct matrix *m, const double *b, double *share, struct ae_error *err)
{
    struct ae_array space = {0};
    if (ae_array_alloc(&space, AE_F64, 3 * (size_t)m->n, err) != AE_OK)
        return AE_E_NOMEM;
    double *r = space.data, *p = r + m->n, *q = p + m->n;
    for (int32_t i = 0; i < m->n; i++)
        r[i] = p[i] = b[i];
    const double first = square(b, m->n);
    double rho = first;
    int count = 0;
    while (count < HISTORY_MAX && rho > HISTORY_END * first) {
        const double alpha = rho / multiply(m, p, q);
        for (int32_t i = 0; i < m->n; i++)
            r[i] -= alpha * q[i];
        const double rho_new = square(r, m->n), beta = rho_new / rho;
        for (int32_t i = 0; i < m->n; i++)
            p[i] = r[i] + beta * p[i];
        rho = rho_new;
        share[count++] = rho / first;
    }
    ae_array_release(&space);
    return count;
}

/* The same for a smaller graph of the same kind. Shares average over the rows: the two agree within
 * a few per cent an iteration. */
static int history_of_sibling(uint64_t seed, int32_t neighbors, double *share, struct ae_error *err)
{
    struct ae_rng rng;
    struct graph graph;
    struct ae_array row_ptr = {0}, col_idx = {0}, values = {0}, x = {0}, b = {0};
    ae_rng_seed(&rng, seed, 1);
    int rc = graph_make(&graph, &rng, SIBLING_ROWS, neighbors, err);
    if (rc == AE_OK) {
        const size_t entries = graph_entries(&graph);
        rc = AE_E_NOMEM;
        if (ae_array_alloc(&row_ptr, AE_I32, SIBLING_ROWS + 1, err) == AE_OK &&
            ae_array_alloc(&col_idx, AE_I32, entries, err) == AE_OK &&
            ae_array_alloc(&values, AE_F64, entries, err) == AE_OK &&
            ae_array_alloc(&x, AE_F64, SIBLING_ROWS, err) == AE_OK &&
            ae_array_alloc(&b, AE_F64, SIBLING_ROWS, err) == AE_OK) {
            const struct matrix m = {SIBLING_ROWS, row_ptr.data, col_idx.data, values.data};
            fill_matrix(&graph, &rng, row_ptr.data, col_idx.data, values.data);
            for (size_t i = 0; i < SIBLING_ROWS; i++)
                ((double *)x.data)[i] = ae_rng_normal(&rng);
            multiply(&m, x.data, b.data);
            rc = history(&m, b.data, share, err);
        }
    }
    graph_release(&graph);
    ae_array_release(&row_ptr);
    ae_array_release(&col_idx);
    ae_array_release(&values);
    ae_array_release(&x);
    ae_array_release(&b);
    return rc;
}

/* Residuals too near the threshold would leave the number of iterations to rounding. */
static bool near_threshold(double first, const double *share, int count, double tol2, double factor)
{
    for (int k = 0; k < count; k++)
        if (first * share[k] * factor > tol2 && first * share[k] < factor * tol2)
            return true;
    return false;
}

/* b = A x of a normal x, scaled by about 10^(8 - tol_exp), so that the exponent varies and the
 * number of iterations hardly does; then by steps of 1.25 until no residual lies near the
 * threshold. */
static int make_rhs(struct ae_instance *inst, struct ae_rng *rng, const struct matrix *m,
                    struct ae_error *err)
{
    const size_t n = (size_t)m->n;
    double *b = ae_new_array(inst, B, n, err);
    struct ae_array x = {0};
    if (!b || ae_array_alloc(&x, AE_F64, n, err) != AE_OK)
        return AE_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        ((double *)x.data)[i] = inst->family == ZERO ? 0 : ae_rng_normal(rng);
    multiply(m, x.data, b);
    ae_array_release(&x);
    double share[HISTORY_MAX], tol = 1, scale = ae_rng_uniform(rng, 0.8, 1.25);
    for (int k = 0; k < inst->scalar[TOL_EXP].i32; k++)
        tol /= 10;
    scale *= tol / 1e-8;
    /* Residuals fall about sevenfold an iteration; a sibling's may be off by half. */
    const bool own = m->n <= OWN_ROWS;
    const int count =
        inst->family == ZERO ? 0
        : own                ? history(m, b, share, err)
              : history_of_sibling(inst->seed, (int32_t)inst->param[P_NEIGHBORS], share, err);
    if (count < 0)
        return count;
    const double first = square(b, m->n);
    for (int k = 0; k < 20; k++)
        if (near_threshold(scale * scale * first, share, count, tol * tol, own ? 1.3 : 1.9))
            scale *= 1.25;
    for (size_t i = 0; i < n; i++)
        b[i] *= scale;
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const int64_t nominal = inst->param[P_ROWS];
    int64_t n = nominal + ae_rng_range(rng, -nominal / 64, nominal / 64);
    int64_t max_iters = inst->param[P_MAX_ITERS];
    if (inst->family == CAPPED)
        max_iters = ae_rng_range(rng, 1, 10);
    if (inst->family == TINY)
        n = ae_rng_range(rng, 1, 40);
    ae_set_i32(inst, N, n);
    ae_set_i32(inst, MAX_ITERS, max_iters);
    ae_set_i32(inst, TOL_EXP, ae_rng_range(rng, 6, 9));
    struct graph graph;
    int rc = graph_make(&graph, rng, (int32_t)n, (int32_t)inst->param[P_NEIGHBORS], err);
    if (rc == AE_OK) {
        const size_t entries = graph_entries(&graph);
        ae_set_i32(inst, NNZ, (int64_t)entries);
        int32_t *row_ptr = ae_new_array(inst, ROW_PTR, (size_t)n + 1, err);
        int32_t *col_idx = ae_new_array(inst, COL_IDX, entries, err);
        double *values = ae_new_array(inst, VALUES, entries, err);
        rc = AE_E_NOMEM;
        if (row_ptr && col_idx && values) {
            const struct matrix m = {(int32_t)n, row_ptr, col_idx, values};
            fill_matrix(&graph, rng, row_ptr, col_idx, values);
            rc = make_rhs(inst, rng, &m, err);
        }
    }
    graph_release(&graph);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, X_OUT, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    int rc = ae_csr_validate(inst, N, ROW_PTR, COL_IDX, VALUES, 1, err);
    if (rc != AE_OK)
        return rc;
    const int32_t n = inst->scalar[N].i32, *row_ptr = ae_in_i32(inst, ROW_PTR);
    if (inst->scalar[NNZ].i32 != row_ptr[n])
        return ae_error_set(err, AE_E_INPUT, "nnz is %d, row_ptr ends with %d",
                            inst->scalar[NNZ].i32, row_ptr[n]);
    if (inst->scalar[MAX_ITERS].i32 < 0)
        return ae_error_set(err, AE_E_INPUT, "max_iters is %d", inst->scalar[MAX_ITERS].i32);
    if (inst->scalar[TOL_EXP].i32 < 0 || inst->scalar[TOL_EXP].i32 > 100)
        return ae_error_set(err, AE_E_INPUT, "tol_exp is %d; 0 to 100 is possible",
                            inst->scalar[TOL_EXP].i32);
    for (int32_t i = 0; i < n; i++)
        if (row_ptr[i] == row_ptr[i + 1] || ae_in_i32(inst, COL_IDX)[row_ptr[i]] != i)
            return ae_error_set(err, AE_E_INPUT, "row %d does not start with its diagonal", i);
    return ae_vector_validate(inst, B, (size_t)n, err);
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* The iterations that the data need, as far as the cap lets them. */
    const double natural = inst->param[P_NEIGHBORS] > 20 ? 21 : 15;
    const double cap = inst->scalar[MAX_ITERS].i32, iterations = cap < natural ? cap : natural;
    w->operations = (iterations + 1) * (2.0 * inst->scalar[NNZ].i32 + 10.0 * inst->scalar[N].i32);
    w->steps = 2 * iterations + 1; /* two sums over all rows an iteration */
}

const struct ae_task ae_task_npb_cg_sparse_solve = {
    .id = "npb_cg_sparse_solve",
    .title = "Conjugate gradients on a random sparse matrix",
    .domain = AE_HPC,
    .lineage = "NAS Parallel Benchmarks, kernel CG: its inner loop on an irregular sparse matrix",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"rows", "neighbors", "max_iters"},
    .sizes = {[AE_SMALL] = {{8192, 12, 40}},
              [AE_MEDIUM] = {{131072, 32, 120}},
              [AE_LARGE] = {{524288, 32, 120},
                            true,
                            "the published large instance is smaller than the medium one"}},
    .families = {{"ring", "random edges over a ring; the residual ends the iteration",
                  AE_ALL_SIZES},
                 {"capped", "max_iters of 1 to 10 ends the iteration first",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"zero", "b = 0: the guard against division by p.q = 0", AE_AT(AE_SMALL)},
                 {"tiny", "1 to 40 rows, the ring closing on itself", AE_AT(AE_SMALL)}},
    .published_atol = 1e-5,
    .published_rtol = 1e-5,
    .published_note = "published data have tol_exp 8 and a cap that never ends the iteration",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .work = work,
};
