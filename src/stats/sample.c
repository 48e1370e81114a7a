#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

const char *ae_interval_kind_name(enum ae_interval_kind kind)
{
    switch (kind) {
    case AE_INTERVAL_RANGE:
        return "range";
    case AE_INTERVAL_95:
        return "95%";
    case AE_INTERVAL_NONE:
        break;
    }
    return "";
}

struct ae_interval ae_interval_exp(struct ae_interval interval)
{
    return (struct ae_interval){interval.kind, exp(interval.low), exp(interval.high)};
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ae_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, ascending);
}

double ae_median(const double *sorted, size_t count)
{
    if (count == 0)
        return NAN;
    const double low = sorted[(count - 1) / 2], high = sorted[count / 2];
    return low + (high - low) / 2;
}

struct ae_interval ae_median_interval(const double *sorted, size_t count)
{
    if (count == 0)
        return (struct ae_interval){AE_INTERVAL_NONE, NAN, NAN};
    if (count < AE_INTERVAL_MIN)
        return (struct ae_interval){AE_INTERVAL_RANGE, sorted[0], sorted[count - 1]};
    /* By logarithms: 0.5^count alone underflows beyond 1074 values. */
    const double n = (double)count;
    int sign;
    const double whole = lgamma_r(n + 1, &sign) - n * log(2);
    double below = 0; /* P(Binomial(count, 1/2) < k) */
    size_t k = 0;
    while (k < count / 2) {
        below += exp(whole - lgamma_r((double)k + 1, &sign) - lgamma_r(n - (double)k + 1, &sign));
        if (2 * below > 0.05)
            break;
        k++;
    }
    return (struct ae_interval){AE_INTERVAL_95, sorted[k - 1], sorted[count - k]};
}

double ae_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : NAN;
}

double ae_geometric_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] > 0))
            return NAN;
        sum += log(values[i]);
    }
    return count ? exp(sum / (double)count) : NAN;
}
