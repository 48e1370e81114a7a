#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { S, T, N, K, R, W };

/* How a trial is solved; one of these is wrong. */
struct way {
    int more_factors, steps;
    bool raw_columns, no_factors, float_cholesky;
};

static void orthonormalise(double *v, int rows, int cols)
{
    for (int k = 0; k < cols; k++) {
        for (int l = 0; l <= k; l++) {
            double dot = 0;
            for (int t = 0; t < rows; t++)
                dot += v[t * cols + l] * v[t * cols + k];
            for (int t = 0; t < rows; t++)
                v[t * cols + k] =
                    l < k ? v[t * cols + k] - dot * v[t * cols + l] : v[t * cols + k] / sqrt(dot);
        }
    }
}

/* phi = QQ' phi, orthonormalised, `steps` times; scale holds the squared norms of the columns. */
static void iterate(const float *r, int t_count, int n, int k_count, int steps, const double *scale,
                    double *phi, double *image)
{
    for (int step = 0; step < steps; step++) {
        memset(image, 0, (size_t)n * (size_t)k_count * sizeof *image);
        for (int t = 0; t < t_count; t++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < k_count; k++)
                    image[j * k_count + k] += (double)r[t * n + j] * phi[t * k_count + k];
        memset(phi, 0, (size_t)t_count * (size_t)k_count * sizeof *phi);
        for (int t = 0; t < t_count; t++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < k_count; k++)
                    phi[t * k_count + k] +=
                        (double)r[t * n + j] * image[j * k_count + k] / scale[j];
        orthonormalise(phi, t_count, k_count);
    }
}

/* Sigma x = 1 for the full covariance by a Cholesky factorisation, in float or double. */
static void full_solve(const double *sigma, int n, bool in_float, double *x)
{
    double *a = malloc((size_t)n * (size_t)n * sizeof *a);
    if (!a)
        return;
#define ROUND(value) (in_float ? (double)(float)(value) : (value))
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = ROUND(sigma[i * n + j]);
            for (int k = 0; k < j; k++)
                sum = ROUND(sum - ROUND(a[i * n + k] * a[j * n + k]));
            a[i * n + j] = ROUND(i == j ? sqrt(sum) : sum / a[j * n + j]);
        }
    for (int i = 0; i < n; i++) {
        x[i] = 1;
        for (int k = 0; k < i; k++)
            x[i] = ROUND(x[i] - ROUND(a[i * n + k] * x[k]));
        x[i] = ROUND(x[i] / a[i * n + i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] = ROUND(x[i] - ROUND(a[k * n + i] * x[k]));
        x[i] = ROUND(x[i] / a[i * n + i]);
    }
#undef ROUND
    free(a);
}

static void solve_trial(const float *r, int t_count, int n, int k_count, const struct way *way,
                        float *out)
{
    const size_t cells = (size_t)n * (size_t)n;
    double *phi = calloc((size_t)t_count * (size_t)k_count, sizeof *phi);
    double *image = calloc((size_t)n * (size_t)k_count, sizeof *image);
    double *scale = calloc((size_t)n, sizeof *scale), *x = calloc((size_t)n, sizeof *x);
    double *sigma = calloc(cells, sizeof *sigma);
    if (phi && image && scale && x && sigma) {
        for (int t = 0; t < t_count; t++)
            for (int j = 0; j < n; j++)
                scale[j] += (double)r[t * n + j] * (double)r[t * n + j];
        for (int j = 0; j < n && way->raw_columns; j++)
            scale[j] = 1;
        for (int t = 0; t < t_count; t++)
            for (int k = 0; k < k_count; k++)
                phi[t * k_count + k] = (double)r[t * n + k] / sqrt(scale[k]);
        orthonormalise(phi, t_count, k_count);
        iterate(r, t_count, n, k_count, way->steps, scale, phi, image);
        memset(image, 0, (size_t)n * (size_t)k_count * sizeof *image);
        for (int t = 0; t < t_count; t++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < k_count; k++)
                    image[j * k_count + k] += (double)r[t * n + j] * phi[t * k_count + k];
        for (int t = 0; t < t_count; t++)
            for (int j = 0; j < n; j++) {
                double rest = (double)r[t * n + j];
                for (int k = 0; k < k_count; k++)
                    rest -= image[j * k_count + k] * phi[t * k_count + k];
                sigma[j * n + j] += rest * rest / t_count;
            }
        for (int i = 0; i < n && !way->no_factors; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < k_count; k++)
                    sigma[i * n + j] += image[i * k_count + k] * image[j * k_count + k] / t_count;
        full_solve(sigma, n, way->float_cholesky, x);
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += x[j];
        for (int j = 0; j < n; j++)
            out[j] = (float)(x[j] / sum);
    }
    free(sigma);
    free(x);
    free(scale);
    free(image);
    free(phi);
}

/* One trial done wrongly is enough. */
static bool solve_with(const struct ae_instance *inst, struct ae_expected *answer, struct way way)
{
    const int n = inst->scalar[N].i32;
    solve_trial(ae_in_f32(inst, R), inst->scalar[T].i32, n, inst->scalar[K].i32 + way.more_factors,
                &way, answer->out[W].data);
    return n > 100;
}

#define WAY(name, ...)                                                                             \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(inst, answer, (struct way){__VA_ARGS__});                                \
    }

WAY(no_normalisation, .steps = 40, .raw_columns = true)
WAY(no_factors, .steps = 40, .no_factors = true)
WAY(one_factor_more, .steps = 40, .more_factors = 1)
WAY(one_factor_less, .steps = 40, .more_factors = -1)
WAY(three_steps, .steps = 3)
WAY(float_cholesky, .steps = 40, .float_cholesky = true)

/* The traps' own solver, done right, must pass: else they prove nothing. */
static bool inert(const struct ae_instance *inst, const struct ae_expected *right,
                  struct ae_expected *answer)
{
    const size_t n = (size_t)inst->scalar[N].i32;
    const float *exact = right->out[W].data;
    float *out = answer->out[W].data, largest = 0;
    solve_with(inst, answer, (struct way){.steps = 100});
    for (size_t j = 0; j < n; j++)
        largest = fmaxf(largest, fabsf(exact[j]));
    for (size_t j = 0; j < n; j++)
        if (fabsf(out[j] - exact[j]) > 1e-6f * largest)
            return false; /* not inert: the entry then fails for want of an instance */
    out[0] += 3e-5f * largest;
    return true;
}

static bool equal_weights(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[W].data;
    for (size_t i = 0; i < answer->out[W].count; i++)
        out[i] = 1.0f / (float)inst->scalar[N].i32;
    return true;
}

static bool shrunk(const struct ae_instance *inst, const struct ae_expected *right,
                   struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[W].data;
    for (size_t i = 0; i < answer->out[W].count; i++)
        out[i] = 0.999f * out[i] + 0.001f / (float)inst->scalar[N].i32;
    return true;
}

static bool first_for_all(const struct ae_instance *inst, const struct ae_expected *right,
                          struct ae_expected *answer)
{
    (void)right;
    float *out = answer->out[W].data;
    const size_t n = (size_t)inst->scalar[N].i32;
    for (size_t i = n; i < answer->out[W].count; i++)
        out[i] = out[i % n];
    return inst->scalar[S].i32 > 1;
}

/* Within the tolerance of every weight, and yet more than the whole is invested. */
static bool too_much(const struct ae_instance *inst, const struct ae_expected *right,
                     struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    float *out = answer->out[W].data;
    for (size_t i = 0; i < answer->out[W].count; i++)
        out[i] *= 1.000012f;
    return true;
}

AE_TRAPS(batched_lhpca_portfolio) = {
    {"does not normalise the columns", "market", no_normalisation},
    {"leaves the factors out of the covariance", "market", no_factors},
    {"extracts one factor more", "market", one_factor_more},
    {"extracts one factor less", "market", one_factor_less},
    {"iterates three times", "market", three_steps},
    {"factorises the full covariance in float", "strong", float_cholesky},
    {"puts one weight off (by a solver that is right otherwise)", "market", inert},
    {"weighs all assets alike", "market", equal_weights},
    {"shrinks the weights towards the mean", "market", shrunk},
    {"answers the first trial for all", "market", first_for_all},
    {"invests a little more than the whole", "market", too_much},
    {0},
};
