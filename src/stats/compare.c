#include "stats/stats.h"

#include <math.h>

const char *ae_relation_name(enum ae_relation relation)
{
    static const char *const names[AE_RELATION_COUNT] = {"unclear", "faster", "slower", "same"};
    return (unsigned)relation < AE_RELATION_COUNT ? names[relation] : "?";
}

static void judge(const struct ae_stratum *strata, size_t count, size_t fewest, double margin, uint64_t seed,
                  struct ae_comparison *ret)
{
    *ret = (struct ae_comparison){.relation = AE_UNCLEAR, .ratio = NAN, .interval = {AE_INTERVAL_NONE, NAN, NAN}};
    if (fewest == 0)
        return;
    ret->ratio = exp(ae_strata_mean(strata, count));
    const struct ae_interval interval = ae_bootstrap(strata, count, seed);
    ret->interval = ae_interval_exp(interval);
    if (interval.kind == AE_INTERVAL_NONE || fewest < AE_COMPARE_MIN)
        return;
    if (fabs(interval.low) <= log1p(margin) && fabs(interval.high) <= log1p(margin))
        ret->relation = AE_SAME;
    else if (interval.low > 0)
        ret->relation = AE_FASTER;
    else if (interval.high < 0)
        ret->relation = AE_SLOWER;
}

void ae_compare_pairs(const double *log_ratios, size_t count, double margin, uint64_t seed, struct ae_comparison *ret)
{
    const struct ae_stratum pairs = {log_ratios, count, 1};
    judge(&pairs, 1, count, margin, seed, ret);
    ret->pairs = count;
}

void ae_compare_unpaired(const double *log_a, size_t count_a, const double *log_b, size_t count_b, double margin,
                         uint64_t seed, struct ae_comparison *ret)
{
    const struct ae_stratum both[2] = {{log_a, count_a, 1}, {log_b, count_b, -1}};
    judge(both, 2, count_a < count_b ? count_a : count_b, margin, seed, ret);
}
