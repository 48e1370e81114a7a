#include "task/task.h"

#include "base/fmath.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { P_TRIALS, P_DATES, P_ASSETS, P_FACTORS };

enum { S, T, N, K, R, W, ARG_COUNT };

enum { F_MARKET, F_STRONG, F_TALL, F_SINGLE };

#define FACTORS_MAX 16
#define DRAWS_MAX   100

static const struct ae_arg args[ARG_COUNT] = {
    [S] = {"S", AE_I32, AE_SCALAR, .meaning = "number of independent trials"},
    [T] = {"T", AE_I32, AE_SCALAR, .meaning = "dates of a trial"},
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "assets"},
    [K] = {"K", AE_I32, AE_SCALAR, .meaning = "factors to extract"},
    [R] = {"R", AE_F32, AE_IN, "S*T*N, asset fastest", .meaning = "returns"},
    [W] = {"w", AE_F32, AE_OUT, "S*N", .meaning = "minimum-variance weights of each trial",
           .rule = {AE_SCALED, .rtol = 0,
                    .reason =
                        "2e-5 of the largest weight of the trial: float arithmetic in the "
                        "low-rank form uses about a seventh of it; a float Cholesky "
                        "factorisation of the full covariance, another number of factors or too "
                        "few iterations exceed it"}},
};

/* --- the generator
 * -------------------------------------------------------------------------------------- */

/* A bell of four 16-bit uniforms, near enough to a standard normal; drawn for every date and asset.
 */
static double bell(struct ae_rng *rng)
{
    const uint64_t draw = ae_rng_u64(rng);
    const int32_t sum = (int32_t)(draw & 0xffff) + (int32_t)(draw >> 16 & 0xffff) +
                        (int32_t)(draw >> 32 & 0xffff) + (int32_t)(draw >> 48);
    return (double)(sum - 2 * 65535) * (1.7320508 / 65536);
}

struct trial {
    int64_t dates, assets, factors;
    const float *returns;
    double *factor;       /* dates x factors; becomes an orthonormal basis of its columns */
    double *image;        /* assets x factors */
    double *inverse_norm; /* assets */
    double *date, *asset; /* a vector each */
};

static void orthonormalise(double *v, int64_t rows, int64_t cols)
{
    for (int64_t k = 0; k < cols; k++) {
        for (int64_t l = 0; l < k; l++) {
            double dot = 0;
            for (int64_t t = 0; t < rows; t++)
                dot += v[t * cols + l] * v[t * cols + k];
            for (int64_t t = 0; t < rows; t++)
                v[t * cols + k] -= dot * v[t * cols + l];
        }
        double norm = 0;
        for (int64_t t = 0; t < rows; t++)
            norm += v[t * cols + k] * v[t * cols + k];
        for (int64_t t = 0; t < rows; t++)
            v[t * cols + k] /= ae_sqrt(norm);
    }
}

/* The smallest eigenvalue of a symmetric matrix (overwritten), by Jacobi's rotations. */
static double least_eigenvalue(double a[FACTORS_MAX][FACTORS_MAX], int64_t n)
{
    for (int sweep = 0; sweep < 12; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                if (fabs(a[p][q]) <= 1e-14 * fabs(a[p][p]))
                    continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + ae_sqrt(theta * theta + 1));
                const double c = 1 / ae_sqrt(t * t + 1), s = t * c;
                for (int64_t k = 0; k < n; k++) {
                    const double akp = a[k][p], akq = a[k][q];
                    a[k][p] = c * akp - s * akq;
                    a[k][q] = s * akp + c * akq;
                }
                for (int64_t k = 0; k < n; k++) {
                    const double apk = a[p][k], aqk = a[q][k];
                    a[p][k] = c * apk - s * aqk;
                    a[q][k] = s * apk + c * aqk;
                }
            }
    double least = a[0][0];
    for (int64_t k = 1; k < n; k++)
        least = a[k][k] < least ? a[k][k] : least;
    return least;
}

/* date -= its part in the span of the factors; returns what is left of its squared length. */
static double project_out(struct trial *w)
{
    for (int64_t k = 0; k < w->factors; k++) {
        double dot = 0;
        for (int64_t t = 0; t < w->dates; t++)
            dot += w->factor[t * w->factors + k] * w->date[t];
        for (int64_t t = 0; t < w->dates; t++)
            w->date[t] -= dot * w->factor[t * w->factors + k];
    }
    double square = 0;
    for (int64_t t = 0; t < w->dates; t++)
        square += w->date[t] * w->date[t];
    return square;
}

/* date = Q Q' date, with Q the returns in columns of length 1. */
static void apply_gram(struct trial *w)
{
    for (int64_t j = 0; j < w->assets; j++)
        w->asset[j] = 0;
    for (int64_t t = 0; t < w->dates; t++) {
        const float *row = w->returns + t * w->assets;
        for (int64_t j = 0; j < w->assets; j++)
            w->asset[j] += w->date[t] * (double)row[j];
    }
    for (int64_t j = 0; j < w->assets; j++)
        w->asset[j] *= w->inverse_norm[j] * w->inverse_norm[j];
    for (int64_t t = 0; t < w->dates; t++) {
        const float *row = w->returns + t * w->assets;
        double sum[4] = {0};
        int64_t j = 0;
        for (; j + 3 < w->assets; j += 4) {
            sum[0] += w->asset[j] * (double)row[j];
            sum[1] += w->asset[j + 1] * (double)row[j + 1];
            sum[2] += w->asset[j + 2] * (double)row[j + 2];
            sum[3] += w->asset[j + 3] * (double)row[j + 3];
        }
        for (; j < w->assets; j++)
            sum[0] += w->asset[j] * (double)row[j];
        w->date[t] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

/* A bound from above on the ratio of eigenvalues K+1 and K of the Gram matrix, which tells how well
 * the wanted subspace is determined. The true factors span nearly that subspace: on it the smallest
 * Ritz value does not exceed eigenvalue K, and off it the largest eigenvalue is not below
 * eigenvalue K+1. */
static double separation(struct trial *w, struct ae_rng *rng)
{
    const int64_t dates = w->dates, assets = w->assets, factors = w->factors;
    for (int64_t j = 0; j < assets; j++)
        w->inverse_norm[j] = 0;
    for (int64_t k = 0; k < assets * factors; k++)
        w->image[k] = 0;
    orthonormalise(w->factor, dates, factors);
    for (int64_t t = 0; t < dates; t++)
        for (int64_t j = 0; j < assets; j++) {
            const double r = (double)w->returns[t * assets + j];
            w->inverse_norm[j] += r * r;
            for (int64_t k = 0; k < factors; k++)
                w->image[j * factors + k] += w->factor[t * factors + k] * r;
        }
    double ritz[FACTORS_MAX][FACTORS_MAX] = {{0}};
    for (int64_t j = 0; j < assets; j++) {
        const double *image = w->image + j * factors;
        for (int64_t k = 0; k < factors; k++)
            for (int64_t l = 0; l < factors; l++)
                ritz[k][l] += image[k] * image[l] / w->inverse_norm[j];
        w->inverse_norm[j] = 1 / ae_sqrt(w->inverse_norm[j]);
    }
    const double wanted = least_eigenvalue(ritz, factors);

    for (int64_t t = 0; t < dates; t++)
        w->date[t] = ae_rng_uniform(rng, -1, 1);
    double square = project_out(w), value = 0;
    for (int step = 0; step < 8; step++) {
        for (int64_t t = 0; t < dates; t++)
            w->date[t] /= ae_sqrt(square);
        apply_gram(w);
        square = project_out(w);
        value = ae_sqrt(square);
    }
    return 1.1 * value / wanted; /* what eight steps of power iteration may still lack */
}

static void draw_trial(const struct ae_instance *inst, struct ae_rng *rng, struct trial *w,
                       double *loading, float *returns)
{
    const bool strong = inst->family == F_STRONG;
    const double least = inst->family == F_TALL ? 0.8 : inst->size == AE_SMALL ? 0.4 : 0.3;
    const int64_t factors = w->factors;
    for (int64_t t = 0; t < w->dates; t++)
        for (int64_t k = 0; k < factors; k++) {
            double scale = (double)(factors - k + 5);
            if (!strong) /* geometric from 8 down to the least */
                scale = 8 * ae_exp(ae_log(least / 8) * (double)k /
                                   (double)(factors > 1 ? factors - 1 : 1));
            w->factor[t * factors + k] = scale * ae_rng_normal(rng);
        }
    for (int64_t j = 0; j < w->assets; j++) {
        for (int64_t k = 0; k < factors; k++)
            loading[j * factors + k] = (strong ? 1 : 0.5) * ae_rng_normal(rng);
        w->asset[j] = strong ? 0.5 : ae_rng_uniform(rng, 0.2, 1);          /* noise */
        w->inverse_norm[j] = strong ? 1 : ae_rng_log_uniform(rng, 0.3, 3); /* amplitude */
    }
    for (int64_t t = 0; t < w->dates; t++)
        for (int64_t j = 0; j < w->assets; j++) {
            double value = w->asset[j] * bell(rng);
            for (int64_t k = 0; k < factors; k++)
                value += w->factor[t * factors + k] * loading[j * factors + k];
            returns[t * w->assets + j] = (float)(w->inverse_norm[j] * value);
        }
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t trials = inst->param[P_TRIALS];
    struct trial w = {
        inst->param[P_DATES], inst->param[P_ASSETS], inst->param[P_FACTORS], 0, 0, 0, 0, 0, 0};
    if (inst->family == F_TALL) { /* more dates than assets, nothing a multiple of four */
        w.dates = 2 * w.dates + ae_rng_range(rng, 0, 20) * 2 + 1;
        w.assets = w.assets / 3 + ae_rng_range(rng, 0, 20) * 2 + 1;
        w.factors--;
        trials = 2;
    } else if (inst->family == F_SINGLE) {
        w.dates = ae_rng_range(rng, 40, 60);
        w.assets = ae_rng_range(rng, 50, 70);
        w.factors = 1;
        trials = 1;
    }
    ae_set_i32(inst, S, trials);
    ae_set_i32(inst, T, w.dates);
    ae_set_i32(inst, N, w.assets);
    ae_set_i32(inst, K, w.factors);
    const int64_t size = w.dates * w.assets;
    float *returns = ae_new_array(inst, R, (size_t)(trials * size), err);
    double *memory = malloc(
        sizeof *memory * (size_t)((w.dates + 2 * w.assets) * w.factors + w.dates + 2 * w.assets));
    if (!returns || !memory) {
        free(memory);
        return returns ? ae_error_set(err, AE_E_NOMEM, "no memory for a trial") : AE_E_NOMEM;
    }
    w.factor = memory;
    w.image = w.factor + w.dates * w.factors;
    double *loading = w.image + w.assets * w.factors;
    w.inverse_norm = loading + w.assets * w.factors;
    w.asset = w.inverse_norm + w.assets;
    w.date = w.asset + w.assets;
    int rc = AE_OK;
    for (int64_t s = 0; s < trials && rc == AE_OK; s++) {
        w.returns = returns + s * size;
        double ratio;
        int draws = 0;
        do { /* strong factors are far from the rest by construction */
            draw_trial(inst, rng, &w, loading, returns + s * size);
            ratio = inst->family == F_STRONG ? 0.5 : separation(&w, rng);
        } while (!(ratio >= (inst->family == F_SINGLE ? 0 : 0.02) && ratio <= 0.7) &&
                 ++draws < DRAWS_MAX);
        if (draws == DRAWS_MAX)
            rc = ae_error_set(err, AE_E_INTERNAL, "no trial with separated factors in %d draws",
                              draws);
    }
    free(memory);
    return rc;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, W, (size_t)inst->scalar[S].i32 * (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t trials = inst->scalar[S].i32, dates = inst->scalar[T].i32;
    const int32_t assets = inst->scalar[N].i32, factors = inst->scalar[K].i32;
    if (trials < 1 || dates < 2 || assets < 2 || dates > 30000 || assets > 1000000)
        return ae_error_set(err, AE_E_INPUT, "%d trials of %d dates and %d assets", trials, dates,
                            assets);
    if (factors < 1 || factors >= dates || factors >= assets)
        return ae_error_set(err, AE_E_INPUT, "%d factors; from 1 to below the dates and the assets",
                            factors);
    const size_t size = (size_t)dates * (size_t)assets;
    if (inst->array[R].count != (size_t)trials * size)
        return ae_error_set(err, AE_E_INPUT, "R has %zu elements for %d trials of %zu",
                            inst->array[R].count, trials, size);
    const float *returns = ae_in_f32(inst, R);
    for (int32_t s = 0; s < trials; s++) {
        const float *trial = returns + (size_t)s * size;
        for (size_t i = 0; i < size; i++)
            if (!(fabsf(trial[i]) < 1e6f))
                return ae_error_set(err, AE_E_INPUT, "a return of trial %d is %g", s,
                                    (double)trial[i]);
        for (int32_t j = 0; j < assets; j++) {
            double square = 0;
            for (int32_t t = 0; t < dates; t++)
                square += (double)trial[(size_t)t * (size_t)assets + (size_t)j] *
                          (double)trial[(size_t)t * (size_t)assets + (size_t)j];
            if (!(square > 1e-7 * dates)) /* it would leave no variance of its own */
                return ae_error_set(err, AE_E_INPUT, "asset %d of trial %d hardly moves", j, s);
        }
    }
    return AE_OK;
}

/* --- comparison
 * ----------------------------------------------------------------------------------------- */

/* The largest magnitude of each trial's weights. */
static int make_aux(const struct ae_instance *inst, struct ae_expected *expected,
                    struct ae_error *err)
{
    const size_t trials = (size_t)inst->scalar[S].i32, assets = (size_t)inst->scalar[N].i32;
    const int rc = ae_array_alloc(&expected->aux[0], AE_F64, trials, err);
    if (rc != AE_OK)
        return rc;
    double *largest = expected->aux[0].data;
    const float *w = expected->out[W].data;
    for (size_t s = 0; s < trials; s++) {
        largest[s] = 0;
        for (size_t j = 0; j < assets; j++)
            largest[s] = fmax(largest[s], fabs((double)w[s * assets + j]));
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)arg;
    const size_t assets = (size_t)inst->scalar[N].i32;
    const double *largest = expected->aux[0].data;
    for (size_t i = 0; i < count; i++)
        tol[i] += 2e-5 * largest[(first + i) / assets];
}

/* The weights of each trial add up to 1. */
static bool check(const struct ae_instance *inst, const struct ae_expected *expected,
                  const void *const got[], struct ae_judgement *j)
{
    (void)expected;
    const size_t trials = (size_t)inst->scalar[S].i32, assets = (size_t)inst->scalar[N].i32;
    const float *w = got[W];
    size_t off = 0;
    for (size_t s = 0; s < trials; s++) {
        double sum = 0;
        for (size_t i = 0; i < assets; i++)
            sum += (double)w[s * assets + i];
        off += !(fabs(sum - 1) <= 1e-5);
    }
    if (off)
        snprintf(j->text, sizeof j->text, "the weights of %zu of %zu trials do not add up to 1",
                 off, trials);
    return off == 0;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    const double dates = inst->scalar[T].i32, assets = inst->scalar[N].i32,
                 factors = inst->scalar[K].i32;
    const double gram = dates * dates * assets, steps = 30;
    w->operations = inst->scalar[S].i32 *
                    (gram + steps * 2 * dates * dates * factors + 6 * dates * assets * factors);
    w->steps = steps * 2 * factors; /* one orthonormalisation after the other */
}

const struct ae_task ae_task_batched_lhpca_portfolio = {
    .id = "batched_lhpca_portfolio",
    .title = "Factor covariances and minimum-variance portfolios",
    .domain = AE_FINANCE,
    .lineage = "principal components of long return histories, global minimum-variance weights",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"S", "T", "N", "K"},
    .sizes = {[AE_SMALL] = {{4, 256, 256, 4}},
              [AE_MEDIUM] = {{16, 512, 1024, 8}},
              [AE_LARGE] = {{20, 640, 1280, 10}}},
    .families = {{"market", "factors from strong to weak, assets of unequal noise and amplitude",
                  AE_ALL_SIZES},
                 {"strong", "strong factors and equal assets: the covariance is ill-conditioned",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"tall", "more dates than assets, odd shapes", AE_AT(AE_SMALL)},
                 {"single", "one small trial with one factor", AE_AT(AE_SMALL)}},
    .published_atol = 1e-4,
    .published_rtol = 0.01,
    .published_note =
        "published results come from a float Cholesky factorisation and are off by up to a tenth; "
        "published programs return equal weights where a pivot is at most 1e-7, which no legal "
        "input of this task has",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .check = check,
    .make_aux = make_aux,
    .work = work,
};
