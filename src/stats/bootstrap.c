#include "stats/stats.h"

#include "base/rng.h"

#include <math.h>

double ae_strata_mean(const struct ae_stratum *strata, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += strata[k].weight * ae_mean(strata[k].values, strata[k].count);
    return sum;
}

/* The sum of `count` draws with replacement. Four indices from each output of the generator: the draws are most of
 * the work. */
static double resample(struct ae_rng *rng, const double *values, size_t count)
{
    double sum = 0;
    if (count > 4096) { /* where the bias would become visible */
        for (size_t i = 0; i < count; i++)
            sum += values[ae_rng_below64(rng, count)];
        return sum;
    }
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const uint64_t word = ae_rng_u64(rng);
        sum += (values[((word & 0xffff) * count) >> 16] + values[((word >> 16 & 0xffff) * count) >> 16]) +
               (values[((word >> 32 & 0xffff) * count) >> 16] + values[((word >> 48) * count) >> 16]);
    }
    if (i < count)
        for (uint64_t word = ae_rng_u64(rng); i < count; i++, word >>= 16)
            sum += values[((word & 0xffff) * count) >> 16];
    return sum;
}

/* The k-th smallest (from 0) of values, which are reordered (Hoare's FIND in Wirth's form). */
static double nth(double *values, ptrdiff_t count, ptrdiff_t k)
{
    ptrdiff_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = values[k];
        ptrdiff_t i = low, j = high;
        do {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i <= j) {
                const double kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        } while (i <= j);
        if (j < k)
            low = i;
        if (k < i)
            high = j;
    }
    return values[k];
}

static const double z95 = 1.9599639845400545; /* 97.5 % point of the normal distribution */

/* 97.5 % point of Student's t (Abramowitz & Stegun 26.7.5): 1 % low at 3 degrees of freedom, 0.1 % at 5. */
static double student95(double df)
{
    const double z = z95, z2 = z * z;
    const double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96,
                 g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
                 g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df;
}

static struct ae_interval range_of(const struct ae_stratum *stratum)
{
    struct ae_interval ret = {AE_INTERVAL_RANGE, INFINITY, -INFINITY};
    for (size_t i = 0; i < stratum->count; i++) {
        const double value = stratum->weight * stratum->values[i];
        ret.low = fmin(ret.low, value);
        ret.high = fmax(ret.high, value);
    }
    return ret;
}

struct ae_interval ae_bootstrap(const struct ae_stratum *strata, size_t count, uint64_t seed)
{
    double scattered = 0, strata_scattered = 0, fixed = 0;
    for (size_t k = 0; k < count; k++) {
        if (strata[k].count < 2) {
            fixed += ae_strata_mean(&strata[k], 1);
        } else {
            scattered += (double)strata[k].count;
            strata_scattered++;
        }
    }
    if (scattered == 0)
        return (struct ae_interval){AE_INTERVAL_NONE, NAN, NAN};
    if (count == 1 && strata[0].count < AE_INTERVAL_MIN)
        return range_of(&strata[0]);

    struct ae_rng rng;
    ae_rng_seed(&rng, seed, 0);
    double means[AE_BOOTSTRAP_RESAMPLES];
    for (size_t b = 0; b < AE_BOOTSTRAP_RESAMPLES; b++) {
        means[b] = fixed;
        for (size_t k = 0; k < count; k++)
            if (strata[k].count > 1)
                means[b] +=
                    strata[k].weight * resample(&rng, strata[k].values, strata[k].count) / (double)strata[k].count;
    }

    /* A resample of n values scatters by sqrt((n-1)/n) too little, and its scatter is itself an estimate. */
    const double df = scattered - strata_scattered;
    const double reach = sqrt(scattered / df) * student95(df);
    const double tail = erfc(reach / sqrt(2)) / 2;
    const ptrdiff_t cut = (ptrdiff_t)(tail * AE_BOOTSTRAP_RESAMPLES);
    return (struct ae_interval){AE_INTERVAL_95, nth(means, AE_BOOTSTRAP_RESAMPLES, cut),
                                nth(means, AE_BOOTSTRAP_RESAMPLES, AE_BOOTSTRAP_RESAMPLES - 1 - cut)};
}
