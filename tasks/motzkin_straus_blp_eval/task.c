#include "task/published.h"

#include <math.h>
#include <stdlib.h>

enum { P_VERTICES, P_POINTS };

enum { N, M, MU, A, X, Q, S, OBJ, MAX_VIOL, ARG_COUNT };

#define VERTICES_MAX 32768
#define ENTRIES_MAX  ((int64_t)1 << 32)

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of vertices"},
    [M] = {"M", AE_I32, AE_SCALAR, .meaning = "number of trial points"},
    [MU] = {"mu", AE_F32, AE_SCALAR, .meaning = "penalty"},
    [A] = {"A", AE_F32, AE_IN, "N*N row-major",
           .meaning = "symmetric adjacency matrix of zeros and ones"},
    [X] = {"x", AE_F32, AE_IN, "M*N row-major", .meaning = "weights of each trial point"},
    [Q] = {"q", AE_F32, AE_IN, "M*N row-major", .meaning = "slacks of each trial point"},
    [S] = {"s", AE_F32, AE_IN, "M", .meaning = "level of each trial point"},
    [OBJ] = {"obj", AE_F32, AE_OUT, "M", .meaning = "objective",
             .rule = {AE_SCALED, .rtol = 1e-5,
                      .reason = "1e-5 + 1e-5*|obj| + 4e-7*mu*sum|min(x,q)|: plain float sums "
                                "of thousands of terms use up to two thirds, products in two "
                                "bf16 pieces less than half; tf32 or bf16 alone fail"}},
    [MAX_VIOL] =
        {"max_viol", AE_F32, AE_OUT, "M", .meaning = "largest violation of any constraint",
         .rule =
             {AE_CLOSE, .atol = 1e-5, .rtol = 1e-5,
              .reason =
                  "1e-5 + 1e-5*|violation|: float sums use up to a third; a row of A x left "
                  "out or a product in low precision shows",
              .atol_reason =
                  "an eighth of the points is feasible but for rounding: their violation is "
                  "noise around 1e-7, and the others' starts at 0.005"}},
};

enum family { MIXED, ISOLATED, TINY };

/* The kinds of trial points, each an eighth of a mixed instance, and what is violated most. */
enum kind {
    FEASIBLE,    /* nothing: all equations hold */
    ONE_SLACK,   /* one row of s = A x + q */
    NEGATIVE,    /* one weight below 0, the equations hold */
    LOW_LEVEL,   /* s too low for q >= 0, the equations hold */
    NOT_ONE,     /* weights do not add up to one */
    NOISY,       /* all rows a little, so that no row can be guessed */
    BELOW_ZERO,  /* s negative: all rows by about the same */
    INDEPENDENT, /* uniform draws; the sum of the weights is far off */
    KINDS
};

static void draw_graph(float *a, size_t n, double density, struct ae_rng *rng)
{
    const uint64_t limit = (uint64_t)(density * 0x1p32);
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] = 0;
        uint64_t word = 0;
        for (size_t j = 0; j < i; j++) {
            word = j % 2 ? word >> 32 : ae_rng_u64(rng);
            a[i * n + j] = (word & 0xffffffff) < limit ? 1 : 0;
        }
    }
    for (size_t i = 0; i < n; i += 64) /* mirrored in tiles, for the cache */
        for (size_t j = 0; j <= i; j += 64)
            for (size_t r = i; r < i + 64 && r < n; r++)
                for (size_t c = j; c < j + 64 && c < r; c++)
                    a[c * n + r] = a[r * n + c];
}

/* Weights on k vertices that add up to one; support lists these vertices. */
static void draw_weights(struct ae_rng *rng, int32_t *support, size_t n, size_t k, double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        x[i] = 0;
    for (size_t i = 0; i < k && k < n; i++) { /* the first k of a permutation */
        const size_t other = i + (size_t)ae_rng_below64(rng, n - i);
        const int32_t kept = support[i];
        support[i] = support[other];
        support[other] = kept;
    }
    for (size_t i = 0; i < k; i++)
        sum += x[support[i]] = ae_rng_exponential(rng);
    for (size_t i = 0; i < k; i++)
        x[support[i]] /= sum;
}

/* The graph as bytes: bit b of bytes[g*n + i] is the edge between i and 8g+b. */
static uint8_t *pack_graph(const float *a, size_t n)
{
    uint8_t *bytes = calloc((n + 7) / 8 * n, 1);
    for (size_t j = 0; bytes && j < n; j++)
        for (size_t i = 0; i < n; i++)
            bytes[j / 8 * n + i] |= (uint8_t)((a[j * n + i] != 0) << (j % 8));
    return bytes;
}

/* ax = A x; returns its largest element. Few weights: the rows of A are added, which serve as
 * columns. Many: eight columns at a time, by a table of their 256 partial sums, since nothing here
 * may cost more than a small part of the reference. */
static double multiply(const float *a, const uint8_t *bytes, size_t n, const int32_t *support,
                       size_t k, const double *x, double *ax)
{
    for (size_t i = 0; i < n; i++)
        ax[i] = 0;
    for (size_t s = 0; k <= n / 8 && s < k; s++) {
        const float *row = a + (size_t)support[s] * n;
        const double weight = x[support[s]];
        for (size_t i = 0; i < n; i++)
            ax[i] += (double)row[i] * weight;
    }
    for (size_t g = 0; k > n / 8 && g < (n + 7) / 8; g++) {
        double sums[256] = {0};
        for (size_t b = 0; b < 8 && 8 * g + b < n; b++)
            for (size_t set = 0; set < (size_t)1 << b; set++)
                sums[((size_t)1 << b) + set] = sums[set] + x[8 * g + b];
        const uint8_t *row = bytes + g * n;
        for (size_t i = 0; i < n; i++)
            ax[i] += sums[row[i]];
    }
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = most > ax[i] ? most : ax[i];
    return most;
}

static double clamp(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Draws one point of a kind into x, q (n doubles each; ax is scratch); returns its level. */
static double draw_point(enum kind kind, const float *a, const uint8_t *bytes, size_t n,
                         struct ae_rng *rng, int32_t *support, double *x, double *q, double *ax)
{
    if (kind == INDEPENDENT) {
        for (size_t i = 0; i < n; i++) {
            x[i] = ae_rng_uniform(rng, -0.1, 1.1);
            q[i] = ae_rng_uniform(rng, -0.1, 1.1);
        }
        return ae_rng_uniform(rng, -0.5, 5);
    }
    size_t k = n;
    if (n > 2 && ae_rng_chance(rng, 0.5)) {
        k = (size_t)ae_rng_log_uniform(rng, 2, (double)n + 1);
        k = k < n ? k : n;
    }
    draw_weights(rng, support, n, k, x);
    if (kind == NEGATIVE && k >= 2) {
        const size_t i = (size_t)ae_rng_below64(rng, k),
                     j = (i + 1 + (size_t)ae_rng_below64(rng, k - 1)) % k;
        const double u = ae_rng_uniform(rng, 0.01, 0.2), moved = x[support[i]] + u;
        x[support[i]] = -u;
        x[support[j]] += moved;
    } else if (kind == NOT_ONE) {
        const double share = ae_rng_uniform(rng, 0.005, 0.02),
                     scale = ae_rng_chance(rng, 0.5) ? 1 + share : 1 - share;
        for (size_t i = 0; i < n; i++)
            x[i] *= scale;
    }
    const double most = multiply(a, bytes, n, support, k, x, ax);
    double s = fmin(1, most + ae_rng_uniform(rng, 0, 0.1));
    if (kind == LOW_LEVEL)
        s = most * (1 - ae_rng_uniform(rng, 0.01, 0.3));
    for (size_t i = 0; i < n; i++)
        q[i] = s - ax[i];
    if (kind == ONE_SLACK) {
        const size_t i = (size_t)ae_rng_below64(rng, n);
        double shift = ae_rng_uniform(rng, 0.01, 0.3);
        if (ae_rng_chance(rng, 0.5))
            shift = -shift;
        q[i] += q[i] + shift < 0 || q[i] + shift > 1 ? -shift : shift;
    } else if (kind == NOISY) {
        const double width = ae_rng_uniform(rng, 0.005, 0.05);
        for (size_t i = 0; i < n; i++)
            q[i] = clamp(q[i] + ae_rng_uniform(rng, -width, width));
    } else if (kind == BELOW_ZERO) {
        s = -ae_rng_uniform(rng, 0.01, 0.5);
    }
    return s;
}

static int draw_points(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const size_t n = (size_t)inst->scalar[N].i32, m = (size_t)inst->scalar[M].i32;
    const float *a = ae_in_f32(inst, A);
    float *xs = inst->array[X].data, *qs = inst->array[Q].data, *levels = inst->array[S].data;
    int32_t *kinds = malloc(m * sizeof *kinds), *support = malloc(n * sizeof *support);
    double *x = malloc(3 * n * sizeof *x);
    uint8_t *bytes = pack_graph(a, n);
    if (!kinds || !support || !x || !bytes) {
        free(bytes);
        free(x);
        free(support);
        free(kinds);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu vertices", n);
    }
    double *q = x + n, *ax = q + n;
    for (size_t k = 0; k < m; k++)
        kinds[k] = (int32_t)(k % KINDS);
    ae_rng_shuffle_i32(rng, kinds, m);
    for (size_t i = 0; i < n; i++)
        support[i] = (int32_t)i;
    for (size_t k = 0; k < m; k++) {
        levels[k] = (float)draw_point((enum kind)kinds[k], a, bytes, n, rng, support, x, q, ax);
        for (size_t i = 0; i < n; i++) {
            xs[k * n + i] = (float)x[i];
            qs[k * n + i] = (float)q[i];
        }
        if (inst->family ==
            ISOLATED) { /* nobody is reached; level and slacks go below 0 together */
            levels[k] = (float)ae_rng_uniform(rng, -1, 0.2);
            for (size_t i = 0; i < n; i++)
                qs[k * n + i] = levels[k] / 2;
        }
    }
    free(bytes);
    free(x);
    free(support);
    free(kinds);
    return AE_OK;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t n = inst->param[P_VERTICES], m = inst->param[P_POINTS];
    const int64_t spread = n / 50;
    n += ae_rng_range(rng, -spread, spread);
    m = (int64_t)((double)(m * inst->param[P_VERTICES]) * (double)inst->param[P_VERTICES] /
                  (double)(n * n)) |
        1; /* the same work, and never a multiple of anything */
    if (inst->family == TINY) {
        n = inst->seed % 2 ? ae_rng_range(rng, 2, 5) : 1;
        m = ae_rng_range(rng, 1, 20);
    }
    ae_set_i32(inst, N, n);
    ae_set_i32(inst, M, m);
    ae_set_f32(inst, MU, ae_rng_uniform(rng, 1, 10));
    const size_t vertices = (size_t)n, points = (size_t)m;
    float *a = ae_new_array(inst, A, vertices * vertices, err);
    if (!a || !ae_new_array(inst, X, points * vertices, err) ||
        !ae_new_array(inst, Q, points * vertices, err) || !ae_new_array(inst, S, points, err))
        return AE_E_NOMEM;
    const double density = ae_rng_uniform(rng, 0.3, 0.9);
    draw_graph(a, vertices, inst->family == ISOLATED ? 0 : density, rng);
    return draw_points(inst, rng, err);
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, OBJ, (size_t)inst->scalar[M].i32);
    ae_set_output(inst, MAX_VIOL, (size_t)inst->scalar[M].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int64_t n = inst->scalar[N].i32, m = inst->scalar[M].i32;
    if (n < 1 || n > VERTICES_MAX || m < 1 || n * m > ENTRIES_MAX)
        return ae_error_set(err, AE_E_INPUT, "%lld vertices and %lld trial points are not possible",
                            (long long)n, (long long)m);
    const int64_t counts[] = {n * n, m * n, m * n, m};
    for (int a = A; a <= S; a++)
        if (inst->array[a].count != (size_t)counts[a - A])
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements, not %lld", args[a].name,
                                inst->array[a].count, (long long)counts[a - A]);
    if (!isfinite(inst->scalar[MU].f32) || !(inst->scalar[MU].f32 > 0))
        return ae_error_set(err, AE_E_INPUT, "mu is %g", (double)inst->scalar[MU].f32);
    const float *a = ae_in_f32(inst, A);
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j <= i; j++) {
            const float value = a[i * (size_t)n + j];
            if ((value != 0 && value != 1) || (i == j && value != 0) ||
                a[j * (size_t)n + i] != value)
                return ae_error_set(err, AE_E_INPUT,
                                    "A is no adjacency matrix at row %zu, column %zu", i, j);
        }
    for (int k = X; k <= S; k++)
        for (size_t i = 0; i < inst->array[k].count; i++)
            if (!isfinite(ae_in_f32(inst, k)[i]))
                return ae_error_set(err, AE_E_INPUT, "%s[%zu] is not finite", args[k].name, i);
    return AE_OK;
}

/* The objective is a sum over all vertices: rounding grows with the magnitudes added, not with the
 * result. */
static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)expected;
    (void)arg;
    const size_t n = (size_t)inst->scalar[N].i32;
    for (size_t k = 0; k < count; k++) {
        const float *x = ae_in_f32(inst, X) + (first + k) * n,
                    *q = ae_in_f32(inst, Q) + (first + k) * n;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (double)fabsf(x[i] < q[i] ? x[i] : q[i]);
        tol[k] += 1e-5 + 4e-7 * (double)inst->scalar[MU].f32 * sum;
    }
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double n = inst->scalar[N].i32;
    w->operations = 2 * n * n * inst->scalar[M].i32;
    w->steps = 1;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    for (int k = N; k <= M; k++) {
        int64_t value;
        const int rc = ae_published_param(published, args[k].name, &value, err);
        if (rc != AE_OK)
            return rc;
        if (value < 1 || value > INT32_MAX)
            return ae_error_set(err, AE_E_INPUT, "input.bin: parameter %s = %lld", args[k].name,
                                (long long)value);
        ae_set_i32(inst, k, value);
    }
    int rc = ae_published_copy(published, "fparams", inst, S, 1, err); /* mu alone; s follows */
    if (rc == AE_OK)
        inst->scalar[MU].f32 = ae_in_f32(inst, S)[0];
    for (int k = A; rc == AE_OK && k <= S; k++)
        rc = ae_published_copy(published, args[k].name, inst, k, -1, err);
    return rc;
}

const struct ae_task ae_task_motzkin_straus_blp_eval = {
    .id = "motzkin_straus_blp_eval",
    .title = "Trial points of the bilevel program for maximum clique (Motzkin-Straus)",
    .domain = AE_OR,
    .lineage = "Motzkin & Straus (1965); bilevel linear programs that encode maximum clique",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "M"},
    .sizes =
        {[AE_SMALL] = {{100, 1000}}, [AE_MEDIUM] = {{1000, 5000}}, [AE_LARGE] = {{2000, 8000}}},
    .families = {{"mixed", "eight kinds of points; in half of them a row of A x is violated most",
                  AE_ALL_SIZES},
                 {"isolated", "no edges, negative levels: slack and level constraints compete",
                  AE_AT(AE_SMALL)},
                 {"tiny", "one to five vertices and up to twenty points: less than a tile",
                  AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 0.01,
    .published_note =
        "in published data the sum of the weights is always violated most, so that A never matters",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
    .import = import,
};
