#include "stats/stats.h"

#include <math.h>

const char *ae_relation_name(enum ae_relation relation)
{
    static const char *const names[AE_RELATION_COUNT] = {"unclear", "faster", "slower", "same"};
    return (unsigned)relation < AE_RELATION_COUNT ? names[relation] : "?";
}

void ae_compare_strata(const struct ae_stratum *strata, size_t count, double margin, uint64_t seed,
                       struct ae_comparison *ret)
{
    size_t fewest = SIZE_MAX, all = 0;
    *ret = (struct ae_comparison){.relation = AE_UNCLEAR, .ratio = NAN, .interval = {AE_INTERVAL_NONE, NAN, NAN}};
    for (size_t k = 0; k < count; k++) {
        fewest = strata[k].count < fewest ? strata[k].count : fewest;
        all += strata[k].count;
    }
    if (count == 0 || fewest == 0)
        return;
    ret->ratio = exp(ae_strata_mean(strata, count));
    const struct ae_interval interval = ae_bootstrap(strata, count, seed);
    ret->interval = ae_interval_exp(interval);
    if (interval.kind == AE_INTERVAL_NONE || fewest < 2 || all < AE_COMPARE_MIN)
        return;
    if (fabs(interval.low) <= log1p(margin) && fabs(interval.high) <= log1p(margin))
        ret->relation = AE_SAME;
    else if (interval.low > 0)
        ret->relation = AE_FASTER;
    else if (interval.high < 0)
        ret->relation = AE_SLOWER;
}

void ae_compare_pairs(const double *log_ratios, size_t count, double margin, uint64_t seed,
                      struct ae_comparison *ret)
{
    const struct ae_stratum pairs = {log_ratios, count, 1};
    ae_compare_strata(&pairs, 1, margin, seed, ret);
    ret->pairs = count;
}

/* Twice the mean rank of values[i], from 1 on. */
static double rank_of(const double *values, size_t n, size_t i)
{
    double below = 0, equal = 0;
    for (size_t k = 0; k < n; k++) {
        below += values[k] < values[i];
        equal += values[k] == values[i];
    }
    return 2 * below + equal + 1;
}

double ae_rank_correlation(const double *x, const double *y, size_t n)
{
    const double mean = (double)n + 1; /* of twice the ranks */
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]) || isnan(y[i]))
            return NAN;
        const double a = rank_of(x, n, i) - mean, b = rank_of(y, n, i) - mean;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return n >= 3 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}
