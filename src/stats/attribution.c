#include "stats/attribution.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLIPS_EXACT   16
#define FLIPS_DRAWN   20000
#define EFFECT_DRAWS  200
static const double penalties[] = {0.1, 0.3, 1, 3, 10, 30, 100};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool has(const struct ae_traited *row, int trait)
{
    return row->has >> trait & 1;
}

static bool known(const struct ae_traited *row, int trait)
{
    return row->known >> trait & 1;
}

double ae_jaccard(const struct ae_traited *rows, size_t count, int a, int b)
{
    size_t both = 0, either = 0;
    for (size_t i = 0; i < count; i++)
        if (known(&rows[i], a) && known(&rows[i], b)) {
            both += has(&rows[i], a) && has(&rows[i], b);
            either += has(&rows[i], a) || has(&rows[i], b);
        }
    return either ? (double)both / (double)either : NAN;
}

double ae_kappa(size_t both, size_t first, size_t second, size_t neither)
{
    const double n = (double)both + (double)first + (double)second + (double)neither;
    const double one = ((double)both + (double)first) / n, other = ((double)both + (double)second) / n;
    const double agreed = ((double)both + (double)neither) / n, chance = one * other + (1 - one) * (1 - other);
    return n > 0 && chance < 1 ? (agreed - chance) / (1 - chance) : NAN;
}

double ae_sign_flip(const double *differences, size_t n, uint64_t seed)
{
    if (n == 0)
        return NAN;
    const double seen = fabs(ae_mean(differences, n)) * (double)n;
    const double enough = seen * (1 - 1e-12); /* sums in another order differ in their last bits */
    size_t extreme = 0;
    if (n <= FLIPS_EXACT) {
        const uint32_t patterns = (uint32_t)1 << n;
        for (uint32_t pattern = 0; pattern < patterns; pattern++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += pattern >> i & 1 ? -differences[i] : differences[i];
            extreme += fabs(sum) >= enough;
        }
        return (double)extreme / (double)patterns;
    }
    struct ae_rng rng;
    ae_rng_seed(&rng, seed, 1);
    for (int draw = 0; draw < FLIPS_DRAWN; draw++) {
        double sum = 0;
        uint64_t signs = 0;
        for (size_t i = 0; i < n; i++, signs >>= 1) {
            if (i % 64 == 0)
                signs = ae_rng_u64(&rng);
            sum += signs & 1 ? -differences[i] : differences[i];
        }
        extreme += fabs(sum) >= enough;
    }
    return ((double)extreme + 1) / (FLIPS_DRAWN + 1);
}

void ae_benjamini_hochberg(const double *p, double *q, size_t n)
{
    size_t valid = 0;
    for (size_t i = 0; i < n; i++)
        valid += !isnan(p[i]);
    for (size_t i = 0; i < n; i++) {
        q[i] = isnan(p[i]) ? NAN : 1;
        for (size_t j = 0; j < n && !isnan(p[i]); j++) {
            if (!(p[j] >= p[i]))
                continue;
            size_t rank = 0;
            for (size_t k = 0; k < n; k++)
                rank += p[k] <= p[j];
            q[i] = fmin(q[i], p[j] * (double)valid / (double)rank);
        }
    }
}

void ae_ridge_fit(const double *x, const double *y, size_t rows, int columns, double ridge, double *beta)
{
    const size_t n = (size_t)columns;
    double a[AE_TRAITS_MAX][AE_TRAITS_MAX], b[AE_TRAITS_MAX];
    for (size_t i = 0; i < n; i++) {
        b[i] = 0;
        for (size_t r = 0; r < rows; r++)
            b[i] += x[r * n + i] * y[r];
        for (size_t j = 0; j <= i; j++) {
            a[i][j] = i == j ? ridge : 0;
            for (size_t r = 0; r < rows; r++)
                a[i][j] += x[r * n + i] * x[r * n + j];
        }
    }
    /* Cholesky, in place; positive definite because of the penalty. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    for (size_t i = 0; i < n; i++) {
        double sum = b[i];
        for (size_t k = 0; k < i; k++)
            sum -= a[i][k] * beta[k];
        beta[i] = sum / a[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        double sum = beta[i];
        for (size_t k = i + 1; k < n; k++)
            sum -= a[k][i] * beta[k];
        beta[i] = sum / a[i][i];
    }
}

/* Programs of one task, and the same with its means taken away: task effects. */
struct group {
    size_t first, count; /* of the sorted rows */
};

struct table {
    struct ae_traited *rows; /* sorted by task; tasks of one program left out */
    size_t count;
    struct group *groups;
    size_t tasks;
    int traits;
    double *x, *y; /* count * traits and count, within tasks */
};

static int by_task(const void *a, const void *b)
{
    const struct ae_traited *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->log_speed != y->log_speed)
        return x->log_speed > y->log_speed ? -1 : 1;
    return (x->has > y->has) - (x->has < y->has); /* the order of the input must not matter */
}

static void center(struct table *t)
{
    for (size_t g = 0; g < t->tasks; g++) {
        const struct group *group = &t->groups[g];
        double mean = 0;
        for (size_t i = group->first; i < group->first + group->count; i++)
            mean += t->rows[i].log_speed / (double)group->count;
        for (size_t i = group->first; i < group->first + group->count; i++)
            t->y[i] = t->rows[i].log_speed - mean;
        for (int k = 0; k < t->traits; k++) {
            double share = 0, told = 0;
            for (size_t i = group->first; i < group->first + group->count; i++) {
                told += known(&t->rows[i], k);
                share += known(&t->rows[i], k) && has(&t->rows[i], k);
            }
            /* What is not known counts as its task's mean. */
            for (size_t i = group->first; i < group->first + group->count; i++)
                t->x[i * (size_t)t->traits + (size_t)k] =
                    known(&t->rows[i], k) ? (double)has(&t->rows[i], k) - share / told : 0;
        }
    }
}

static int make_table(struct table *t, const struct ae_traited *rows, size_t count, int traits, struct ae_error *err)
{
    *t = (struct table){.traits = traits};
    t->rows = malloc((count + 1) * sizeof *t->rows);
    t->groups = malloc((count + 1) * sizeof *t->groups);
    t->x = malloc((count * (size_t)traits + 1) * sizeof *t->x);
    t->y = malloc((count + 1) * sizeof *t->y);
    if (!t->rows || !t->groups || !t->x || !t->y)
        return ae_error_set(err, AE_E_NOMEM, "no memory for %zu programs", count);
    memcpy(t->rows, rows, count * sizeof *rows);
    qsort(t->rows, count, sizeof *t->rows, by_task);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && t->rows[end].task == t->rows[i].task; end++)
            ;
        if (end - i < 2)
            continue;
        memmove(&t->rows[t->count], &t->rows[i], (end - i) * sizeof *t->rows);
        t->groups[t->tasks++] = (struct group){t->count, end - i};
        t->count += end - i;
    }
    center(t);
    return AE_OK;
}

static void free_table(struct table *t)
{
    free(t->rows);
    free(t->groups);
    free(t->x);
    free(t->y);
}

/* Selectivity and lift of one trait. differences: room for one value a task. */
static void weigh(const struct table *t, int trait, double *differences, struct ae_trait_worth *ret)
{
    size_t others_with = 0, others = 0;
    for (size_t g = 0; g < t->tasks; g++) {
        double sum[2] = {0, 0};
        size_t n[2] = {0, 0};
        for (size_t i = 0; i < t->groups[g].count; i++) {
            const struct ae_traited *row = &t->rows[t->groups[g].first + i];
            if (!known(row, trait))
                continue;
            const bool yes = has(row, trait);
            n[yes]++;
            sum[yes] += row->log_speed;
            if (i == 0) { /* sorted: the fastest */
                ret->winners++;
                ret->winners_with += yes;
            } else {
                others++;
                others_with += yes;
            }
        }
        ret->with += n[1];
        ret->without += n[0];
        if (n[0] && n[1])
            differences[ret->pairs++] = sum[1] / (double)n[1] - sum[0] / (double)n[0];
    }
    ret->winner_share = ret->winners ? (double)ret->winners_with / (double)ret->winners : NAN;
    ret->other_share = others ? (double)others_with / (double)others : NAN;
    ret->lift = exp(ae_mean(differences, ret->pairs));
    ret->interval = (struct ae_interval){AE_INTERVAL_NONE, NAN, NAN};
    if (ret->pairs > 0) {
        const struct ae_stratum stratum = {differences, ret->pairs, 1};
        ret->interval = ae_interval_exp(ae_bootstrap(&stratum, 1, AE_BOOTSTRAP_SEED));
    }
    ret->p = ret->pairs >= AE_PAIRS_MIN ? ae_sign_flip(differences, ret->pairs, AE_BOOTSTRAP_SEED) : NAN;
}

/* Rows of the given groups, one behind the other. Returns how many. */
static size_t gather(const struct table *t, const size_t *groups, size_t count, double *x, double *y)
{
    size_t rows = 0;
    const size_t n = (size_t)t->traits;
    for (size_t k = 0; k < count; k++) {
        const struct group *g = &t->groups[groups[k]];
        memcpy(x + rows * n, t->x + g->first * n, g->count * n * sizeof *x);
        memcpy(y + rows, t->y + g->first, g->count * sizeof *y);
        rows += g->count;
    }
    return rows;
}

/* Squared error of predicting each task from the others. */
static double left_out_error(const struct table *t, double penalty, size_t *groups, double *x, double *y)
{
    double beta[AE_TRAITS_MAX], error = 0;
    for (size_t g = 0; g < t->tasks; g++) {
        size_t count = 0;
        for (size_t k = 0; k < t->tasks; k++)
            if (k != g)
                groups[count++] = k;
        const size_t rows = gather(t, groups, count, x, y);
        ae_ridge_fit(x, y, rows, t->traits, penalty, beta);
        for (size_t i = t->groups[g].first; i < t->groups[g].first + t->groups[g].count; i++) {
            double left = t->y[i];
            for (int k = 0; k < t->traits; k++)
                left -= t->x[i * (size_t)t->traits + (size_t)k] * beta[k];
            error += left * left;
        }
    }
    return error;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int regress(const struct table *t, struct ae_attribution *ret, struct ae_error *err)
{
    size_t largest = 0, *groups = malloc((t->tasks + 1) * sizeof *groups);
    for (size_t g = 0; g < t->tasks; g++)
        largest = t->groups[g].count > largest ? t->groups[g].count : largest;
    const size_t room = largest * t->tasks + 1, n = (size_t)t->traits; /* a resample may draw the largest every time */
    double *x = malloc(room * n * sizeof *x + 1), *y = malloc(room * sizeof *y);
    double(*draws)[EFFECT_DRAWS] = malloc(n * sizeof *draws + 1);
    int rc = groups && x && y && draws ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for a regression");
    if (rc == AE_OK) {
        double total = 0, best = INFINITY, beta[AE_TRAITS_MAX];
        for (size_t i = 0; i < t->count; i++)
            total += t->y[i] * t->y[i];
        for (size_t k = 0; k < COUNT(penalties); k++) {
            const double error = left_out_error(t, penalties[k], groups, x, y);
            if (error < best) {
                best = error;
                ret->ridge = penalties[k];
            }
        }
        ret->explained = total > 0 ? 1 - best / total : NAN;
        ae_ridge_fit(t->x, t->y, t->count, t->traits, ret->ridge, beta);
        struct ae_rng rng;
        ae_rng_seed(&rng, AE_BOOTSTRAP_SEED, 2);
        for (size_t draw = 0; draw < EFFECT_DRAWS; draw++) {
            double resampled[AE_TRAITS_MAX];
            for (size_t g = 0; g < t->tasks; g++)
                groups[g] = ae_rng_below64(&rng, t->tasks);
            const size_t rows = gather(t, groups, t->tasks, x, y);
            ae_ridge_fit(x, y, rows, t->traits, ret->ridge, resampled);
            for (size_t k = 0; k < n; k++)
                draws[k][draw] = resampled[k];
        }
        for (size_t k = 0; k < n; k++) {
            struct ae_trait_worth *worth = &ret->worth[k];
            if (worth->pairs == 0)
                continue;
            qsort(draws[k], EFFECT_DRAWS, sizeof **draws, by_value);
            worth->effect = exp(beta[k]);
            if (t->tasks >= AE_INTERVAL_MIN)
                worth->effect_interval =
                    (struct ae_interval){AE_INTERVAL_95, exp(draws[k][EFFECT_DRAWS / 40]),
                                         exp(draws[k][EFFECT_DRAWS - 1 - EFFECT_DRAWS / 40])};
        }
    }
    free(groups);
    free(x);
    free(y);
    free(draws);
    return rc;
}

static int attribute(const struct ae_traited *rows, size_t count, int traits, bool effects, struct ae_attribution *ret,
                     struct ae_error *err)
{
    struct table t;
    *ret = (struct ae_attribution){.ridge = NAN, .explained = NAN};
    int rc = make_table(&t, rows, count, traits, err);
    double *differences = rc == AE_OK ? malloc((t.tasks + 1) * sizeof *differences) : NULL;
    if (rc == AE_OK && !differences)
        rc = ae_error_set(err, AE_E_NOMEM, "no memory for %zu tasks", t.tasks);
    if (rc == AE_OK) {
        double p[AE_TRAITS_MAX] = {0}, q[AE_TRAITS_MAX];
        ret->programs = t.count;
        ret->tasks = t.tasks;
        for (int k = 0; k < traits; k++) {
            ret->worth[k] = (struct ae_trait_worth){.effect = NAN, .effect_interval = {AE_INTERVAL_NONE, NAN, NAN}};
            weigh(&t, k, differences, &ret->worth[k]);
            p[k] = ret->worth[k].p;
        }
        ae_benjamini_hochberg(p, q, (size_t)traits);
        for (int k = 0; k < traits; k++)
            ret->worth[k].q = q[k];
        if (effects && t.tasks > 1)
            rc = regress(&t, ret, err);
    }
    free(differences);
    free_table(&t);
    return rc;
}

int ae_attribute(const struct ae_traited *rows, size_t count, int traits, struct ae_attribution *ret,
                 struct ae_error *err)
{
    return attribute(rows, count, traits, true, ret, err);
}

int ae_attribute_lifts(const struct ae_traited *rows, size_t count, int traits, struct ae_attribution *ret,
                       struct ae_error *err)
{
    return attribute(rows, count, traits, false, ret, err);
}
