/* Two loops an iteration, columns (gather from y, primal step, average) and rows (gather from a
 * copy of the matrix by rows, dual step), with one team for all iterations. Columns and rows are
 * short and of all lengths: one after the other they would cost a mispredicted branch each. So both
 * are put in order of length, eight of (nearly) equal length are worked on at once, shorter ones
 * padded with zeros, and the few long ones one at a time. Small programs stay on one thread: their
 * loops are shorter than a barrier. */
#include <stdlib.h>

#define LANES 8
#define LONG  96 /* entries from which a line is worked on alone */

/* The columns or the rows, by descending number of entries. */
struct lines {
    int *place;    /* position of each line */
    int longs;     /* positions 0..longs-1 are worked on alone */
    int chunks;    /* then LANES positions a chunk */
    size_t *start; /* first entry of each long line, then of each chunk, then the end */
    int *index;    /* position of the other end of each entry */
    float *value;
};

static size_t positions(const struct lines *l)
{
    return (size_t)l->longs + (size_t)l->chunks * LANES;
}

/* Sorts count lines whose entries are ptrs[i]..ptrs[i+1]-1 by their length. */
static int place_lines(struct lines *l, int count, const int *ptrs)
{
    int longest = 0;
    for (int i = 0; i < count; i++)
        longest = ptrs[i + 1] - ptrs[i] > longest ? ptrs[i + 1] - ptrs[i] : longest;
    int *first =
        calloc((size_t)longest + 2, sizeof *first); /* position of the first line of a length */
    l->place = malloc((size_t)count * sizeof *l->place);
    if (!first || !l->place) {
        free(first);
        return -1;
    }
    for (int i = 0; i < count; i++)
        first[ptrs[i + 1] - ptrs[i]]++;
    for (int length = longest, sum = 0; length >= 0; length--) {
        const int here = first[length];
        first[length] = sum;
        sum += here;
        l->longs = length >= LONG ? sum : l->longs;
    }
    for (int i = 0; i < count; i++)
        l->place[i] = first[ptrs[i + 1] - ptrs[i]]++;
    l->chunks = (count - l->longs + LANES - 1) / LANES;
    free(first);
    return 0;
}

static int fill_lines(struct lines *l, int count, const int *ptrs, const int *indices,
                      const float *values, const int *place_of_other)
{
    const size_t blocks = (size_t)l->longs + (size_t)l->chunks;
    l->start = calloc(blocks + 1, sizeof *l->start);
    if (!l->start)
        return -1;
    for (int i = 0; i < count; i++) { /* entries of a block: as many as its longest line needs */
        const int p = l->place[i], lane = p < l->longs ? 1 : LANES;
        const size_t block = p < l->longs ? (size_t)p : (size_t)(l->longs + (p - l->longs) / LANES);
        const size_t length = (size_t)(ptrs[i + 1] - ptrs[i]) * (size_t)lane;
        l->start[block + 1] = length > l->start[block + 1] ? length : l->start[block + 1];
    }
    for (size_t b = 0; b < blocks; b++)
        l->start[b + 1] += l->start[b];
    l->index = calloc(l->start[blocks] + 1, sizeof *l->index);
    l->value = calloc(l->start[blocks] + 1, sizeof *l->value);
    if (!l->index || !l->value)
        return -1;
    for (int i = 0; i < count; i++) {
        const int p = l->place[i], stride = p < l->longs ? 1 : LANES;
        size_t to = p < l->longs ? l->start[p]
                                 : l->start[l->longs + (p - l->longs) / LANES] +
                                       (size_t)((p - l->longs) % LANES);
        for (int e = ptrs[i]; e < ptrs[i + 1]; e++, to += (size_t)stride) {
            l->index[to] = place_of_other[indices[e]];
            l->value[to] = values[e];
        }
    }
    return 0;
}

static void free_lines(struct lines *l)
{
    free(l->place);
    free(l->start);
    free(l->index);
    free(l->value);
}

/* values[place[i]] = from[i]; the positions that pad the last chunk stay 0. */
static float *arranged(const struct lines *l, int count, const float *from)
{
    float *to = calloc(positions(l) + 1, sizeof *to);
    for (int i = 0; to && from && i < count; i++)
        to[l->place[i]] = from[i];
    return to;
}

static float long_product(const struct lines *l, int line, const float *restrict vector)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t e = l->start[line]; e < l->start[line + 1]; e++)
        sum += l->value[e] * vector[l->index[e]];
    return sum;
}

/* The products of one chunk's lines with vector. */
static inline void chunk_products(const struct lines *l, int chunk, const float *restrict vector,
                                  float *restrict products)
{
    const size_t first = l->start[l->longs + chunk], end = l->start[l->longs + chunk + 1];
    float sum[LANES] = {0};
    for (size_t e = first; e < end;
         e += LANES) { /* by hand: the compiler would rather vectorise along e */
        sum[0] += l->value[e] * vector[l->index[e]];
        sum[1] += l->value[e + 1] * vector[l->index[e + 1]];
        sum[2] += l->value[e + 2] * vector[l->index[e + 2]];
        sum[3] += l->value[e + 3] * vector[l->index[e + 3]];
        sum[4] += l->value[e + 4] * vector[l->index[e + 4]];
        sum[5] += l->value[e + 5] * vector[l->index[e + 5]];
        sum[6] += l->value[e + 6] * vector[l->index[e + 6]];
        sum[7] += l->value[e + 7] * vector[l->index[e + 7]];
    }
    for (int lane = 0; lane < LANES; lane++)
        products[lane] = sum[lane];
}

struct primal {
    float *x, *ahead, *average, *obj, *low, *high;
};

static inline void primal_step(const struct primal *v, size_t j, float gradient, float tau,
                               float ratio)
{
    const float old = v->x[j];
    float x = old - tau * (v->obj[j] - gradient);
    x = x > v->high[j] ? v->high[j] : x;
    x = x < v->low[j] ? v->low[j] : x;
    v->x[j] = x;
    v->ahead[j] = 2 * x - old;
    v->average[j] += ratio * (x - v->average[j]);
}

struct dual {
    float *y, *low, *high;
};

static inline void dual_step(const struct dual *v, size_t i, float activity, float sigma)
{
    const float t = v->y[i] - sigma * activity;
    const float high = t + sigma * v->high[i], low = t + sigma * v->low[i];
    const float z = high < 0 ? high : 0;
    v->y[i] = z < low ? low : z;
}

static void iterate(const struct lines *columns, const struct lines *rows,
                    const struct primal *primal, const struct dual *dual, int iterations, float eta,
                    float tau, float sigma)
{
    float weight = 0;
    for (int iter = 0; iter < iterations; iter++) {
        const float ratio = eta / (weight + eta);
        weight += eta;
        if (columns->longs > 0) {
#pragma omp for schedule(static, 1) nowait
            for (int j = 0; j < columns->longs; j++)
                primal_step(primal, (size_t)j, long_product(columns, j, dual->y), tau, ratio);
        }
#pragma omp for schedule(static, 32)
        for (int c = 0; c < columns->chunks; c++) {
            float gradient[LANES];
            chunk_products(columns, c, dual->y, gradient);
            const size_t first = (size_t)columns->longs + (size_t)c * LANES;
#pragma omp simd simdlen(LANES)
            for (int lane = 0; lane < LANES; lane++)
                primal_step(primal, first + (size_t)lane, gradient[lane], tau, ratio);
        }
        if (rows->longs > 0) {
#pragma omp for schedule(static, 1) nowait
            for (int i = 0; i < rows->longs; i++)
                dual_step(dual, (size_t)i, long_product(rows, i, primal->ahead), sigma);
        }
#pragma omp for schedule(static, 32)
        for (int c = 0; c < rows->chunks; c++) {
            float activity[LANES];
            chunk_products(rows, c, primal->ahead, activity);
            const size_t first = (size_t)rows->longs + (size_t)c * LANES;
#pragma omp simd simdlen(LANES)
            for (int lane = 0; lane < LANES; lane++)
                dual_step(dual, first + (size_t)lane, activity[lane], sigma);
        }
    }
}

void solution_compute(int num_vars, int num_constraints, int nnz, int num_iters, const float *obj,
                      const float *var_lb, const float *var_ub, const float *con_lb,
                      const float *con_ub, const int *col_ptrs, const int *row_indices,
                      const float *values, float step_size, float primal_weight, float *primal_out)
{
    const size_t m = (size_t)num_constraints, entries = (size_t)nnz + 1;
    struct lines columns = {0}, rows = {0};
    struct primal primal = {0};
    struct dual dual = {0};
    int *row_ptrs = calloc(m + 2, sizeof *row_ptrs),
        *col_indices = malloc(entries * sizeof *col_indices);
    float *by_row = malloc(entries * sizeof *by_row);
    if (!row_ptrs || !col_indices || !by_row)
        goto done;
    for (int e = 0; e < nnz; e++)
        row_ptrs[row_indices[e] + 2]++;
    for (size_t i = 2; i < m + 2; i++)
        row_ptrs[i] += row_ptrs[i - 1];
    for (int j = 0; j < num_vars; j++)
        for (int e = col_ptrs[j]; e < col_ptrs[j + 1]; e++) {
            const int to = row_ptrs[row_indices[e] + 1]++;
            col_indices[to] = j;
            by_row[to] = values[e];
        }
    if (place_lines(&columns, num_vars, col_ptrs) ||
        place_lines(&rows, num_constraints, row_ptrs) ||
        fill_lines(&columns, num_vars, col_ptrs, row_indices, values, rows.place) ||
        fill_lines(&rows, num_constraints, row_ptrs, col_indices, by_row, columns.place))
        goto done;
    primal =
        (struct primal){arranged(&columns, num_vars, NULL),   arranged(&columns, num_vars, NULL),
                        arranged(&columns, num_vars, NULL),   arranged(&columns, num_vars, obj),
                        arranged(&columns, num_vars, var_lb), arranged(&columns, num_vars, var_ub)};
    dual = (struct dual){arranged(&rows, num_constraints, NULL),
                         arranged(&rows, num_constraints, con_lb),
                         arranged(&rows, num_constraints, con_ub)};
    if (!primal.x || !primal.ahead || !primal.average || !primal.obj || !primal.low ||
        !primal.high || !dual.y || !dual.low || !dual.high)
        goto done;

#pragma omp parallel if (nnz > 20000)
    iterate(&columns, &rows, &primal, &dual, num_iters, step_size, step_size / primal_weight,
            step_size * primal_weight);
    for (int j = 0; j < num_vars; j++)
        primal_out[j] = primal.average[columns.place[j]];

done:
    free_lines(&columns);
    free_lines(&rows);
    free(primal.x);
    free(primal.ahead);
    free(primal.average);
    free(primal.obj);
    free(primal.low);
    free(primal.high);
    free(dual.y);
    free(dual.low);
    free(dual.high);
    free(row_ptrs);
    free(col_indices);
    free(by_row);
}
