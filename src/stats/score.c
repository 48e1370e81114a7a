#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

static bool has_speed(const struct ae_score *score)
{
    return score->passed && isfinite(score->s) && score->s > 0;
}

static double log_gm(const struct ae_score *score)
{
    return has_speed(score) ? log(score->s) : NAN;
}

static double log_user(const struct ae_score *score)
{
    return has_speed(score) && score->s > 1 ? log(score->s) : 0;
}

static double passed(const struct ae_score *score)
{
    return score->passed ? 1 : 0;
}

static double log_par(const struct ae_score *score)
{
    return log(ae_par(score));
}

/* Mean of value over those scores for which it is known. */
static double mean_of(const struct ae_score *scores, size_t count, double (*value)(const struct ae_score *))
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = value(&scores[i]);
        if (isnan(v))
            continue;
        sum += v;
        n++;
    }
    return n ? sum / (double)n : NAN;
}

double ae_coverage(const struct ae_score *scores, size_t count)
{
    return mean_of(scores, count, passed);
}

double ae_gm(const struct ae_score *scores, size_t count)
{
    return exp(mean_of(scores, count, log_gm));
}

double ae_fast(const struct ae_score *scores, size_t count, double p)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += has_speed(&scores[i]) && scores[i].s >= p;
    return count ? (double)n / (double)count : NAN;
}

double ae_par(const struct ae_score *score)
{
    return has_speed(score) ? ae_to_yardstick(score->s, score->best) : NAN;
}

double ae_par_gm(const struct ae_score *scores, size_t count)
{
    return exp(mean_of(scores, count, log_par));
}

double ae_user_gm(const struct ae_score *scores, size_t count)
{
    return exp(mean_of(scores, count, log_user));
}

double ae_to_yardstick(double s, double yardstick_s)
{
    return s > 0 && yardstick_s > 0 && isfinite(s) && isfinite(yardstick_s) ? s / yardstick_s : NAN;
}

/* --- choice of tasks ------------------------------------------------------------------------------------ */

struct item {
    int domain;
    double value;
};

static int by_domain(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static struct ae_interval tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed,
                                         double (*value)(const struct ae_score *))
{
    struct ae_interval ret = {AE_INTERVAL_NONE, NAN, NAN};
    if (count == 0)
        return ret;
    struct item *items = malloc(count * sizeof *items);
    double *values = malloc(count * sizeof *values);
    struct ae_stratum *strata = malloc(count * sizeof *strata);
    if (items && values && strata) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            const double v = value(&scores[i]);
            if (!isnan(v))
                items[n++] = (struct item){scores[i].domain, v};
        }
        qsort(items, n, sizeof *items, by_domain);
        /* Domains of several tasks fill values from the front, lonely tasks from the back. */
        size_t front = 0, back = n, domains = 0;
        for (size_t i = 0; i < n;) {
            size_t end = i;
            while (end < n && items[end].domain == items[i].domain)
                end++;
            if (end - i == 1) {
                values[--back] = items[i].value;
            } else {
                strata[domains++] = (struct ae_stratum){&values[front], end - i, (double)(end - i) / (double)n};
                for (size_t k = i; k < end; k++)
                    values[front++] = items[k].value;
            }
            i = end;
        }
        if (back < n)
            strata[domains++] = (struct ae_stratum){&values[back], n - back, (double)(n - back) / (double)n};
        ret = ae_bootstrap(strata, domains, seed);
    }
    free(items);
    free(values);
    free(strata);
    return ret;
}

struct ae_interval ae_gm_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed)
{
    return ae_interval_exp(tasks_interval(scores, count, seed, log_gm));
}

struct ae_interval ae_user_gm_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed)
{
    return ae_interval_exp(tasks_interval(scores, count, seed, log_user));
}

struct ae_interval ae_coverage_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed)
{
    return tasks_interval(scores, count, seed, passed);
}

struct ae_interval ae_par_gm_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed)
{
    return ae_interval_exp(tasks_interval(scores, count, seed, log_par));
}

/* --- samples -------------------------------------------------------------------------------------------- */

double ae_pass_at_k(size_t n, size_t c, size_t k)
{
    if (k < 1 || k > n || c > n)
        return NAN;
    double none = 1; /* C(n-c, k) / C(n, k), factor by factor */
    for (size_t i = n - c + 1; i <= n && none > 0; i++)
        none *= i > k ? 1 - (double)k / (double)i : 0;
    return 1 - none;
}

double ae_best_at_k(const double *sorted, size_t n, size_t k)
{
    if (k < 1 || k > n)
        return NAN;
    /* The i-th smallest is the best of C(i-1, k-1) of the C(n, k) subsets. */
    double share = (double)k / (double)n, sum = 0;
    for (size_t i = n; i >= k; i--) {
        sum += share * log(sorted[i - 1]);
        if (i > 1)
            share *= (double)(i - k) / (double)(i - 1);
    }
    return exp(sum);
}
