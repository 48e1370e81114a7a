#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

static int by_instance(const void *a, const void *b)
{
    const struct ae_timing *x = *(const struct ae_timing *const *)a, *y = *(const struct ae_timing *const *)b;
    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    return (x > y) - (x < y); /* the order given, which qsort need not keep */
}

/* Those with a known reference time, ordered by instance. */
static size_t known(const struct ae_timing *timings, size_t count, const struct ae_timing *ret[AE_TIMINGS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < count && n < AE_TIMINGS_MAX; i++)
        if (timings[i].reference_ns > 0 && timings[i].call_ns > 0)
            ret[n++] = &timings[i];
    if (n > 1)
        qsort(ret, n, sizeof *ret, by_instance);
    return n;
}

size_t ae_speedup_strata(const struct ae_timing *timings, size_t count, double weight, double *values,
                         struct ae_stratum *strata)
{
    const struct ae_timing *sorted[AE_TIMINGS_MAX];
    const size_t n = known(timings, count, sorted);
    size_t instances = 0, fewest = SIZE_MAX;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        for (; end < n && sorted[end]->instance == sorted[i]->instance; end++)
            values[end] = log(sorted[end]->reference_ns / sorted[end]->call_ns);
        strata[instances++] = (struct ae_stratum){&values[i], end - i, 0};
        fewest = end - i < fewest ? end - i : fewest;
        i = end;
    }
    if (fewest < 2) { /* an instance with one trial has no scatter of its own */
        for (size_t k = 0; k < instances;
             k++) /* the means move to the front, behind which all still to be read lies */
            values[k] = ae_mean(strata[k].values, strata[k].count);
        strata[0] = (struct ae_stratum){values, instances, weight};
        return 1;
    }
    for (size_t k = 0; k < instances; k++)
        strata[k].weight = weight / (double)instances;
    return instances;
}

void ae_speedup(const struct ae_timing *timings, size_t count, struct ae_speedup *ret)
{
    double values[AE_TIMINGS_MAX];
    struct ae_stratum strata[AE_TIMINGS_MAX];
    if (count > AE_TIMINGS_MAX)
        count = AE_TIMINGS_MAX;
    for (size_t i = 0; i < count; i++)
        values[i] = timings[i].call_ns;
    ae_sort(values, count);
    *ret = (struct ae_speedup){.s = NAN,
                               .published = NAN,
                               .reference_ns = NAN,
                               .median_ns = ae_median(values, count),
                               .median_interval = ae_median_interval(values, count)};

    const struct ae_timing *sorted[AE_TIMINGS_MAX];
    const size_t n = known(timings, count, sorted);
    if (n == 0)
        return;
    double reference = 0, call = 0;
    for (size_t i = 0; i < n; i++) {
        reference += sorted[i]->reference_ns;
        call += sorted[i]->call_ns;
        ret->instances += i == 0 || sorted[i]->instance != sorted[i - 1]->instance;
        values[i] = sorted[i]->reference_ns;
    }
    ae_sort(values, n);
    ret->reference_ns = ae_median(values, n);
    ret->published = reference / call;
    ret->trials = n;
    const size_t strata_count = ae_speedup_strata(timings, count, 1, values, strata);
    ret->s = exp(ae_strata_mean(strata, strata_count));
}

struct ae_interval ae_speedup_interval(const struct ae_timing *timings, size_t count)
{
    double values[AE_TIMINGS_MAX];
    struct ae_stratum strata[AE_TIMINGS_MAX];
    const size_t strata_count = ae_speedup_strata(timings, count, 1, values, strata);
    return ae_interval_exp(ae_bootstrap(strata, strata_count, AE_BOOTSTRAP_SEED));
}
