#include "base/rng.h"

#include "base/fmath.h"

uint64_t ae_splitmix64(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void ae_rng_seed(struct ae_rng *rng, uint64_t seed, uint64_t stream)
{
    /* The stream number goes through the mixer first: neighbouring streams must not start on
     * neighbouring splitmix64 states, whose output sequences overlap. */
    uint64_t stream_state = stream;
    uint64_t state = seed ^ ae_splitmix64(&stream_state);
    for (int i = 0; i < 4; i++)
        rng->s[i] = ae_splitmix64(&state);
    rng->spare = 0;
    rng->has_spare = false;
}

uint64_t ae_rng_below64(struct ae_rng *rng, uint64_t bound)
{
    uint64_t draw = ae_rng_u64(rng);
    if (draw < bound) { /* otherwise above the threshold, which takes a division */
        const uint64_t threshold = -bound % bound;
        while (draw < threshold)
            draw = ae_rng_u64(rng);
    }
    return draw % bound;
}

int64_t ae_rng_range(struct ae_rng *rng, int64_t lo, int64_t hi)
{
    const uint64_t width = (uint64_t)hi - (uint64_t)lo + 1;
    if (width == 0)
        return (int64_t)ae_rng_u64(rng);
    return (int64_t)((uint64_t)lo + ae_rng_below64(rng, width));
}

double ae_rng_uniform(struct ae_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * ae_rng_unit(rng);
}

double ae_rng_log_uniform(struct ae_rng *rng, double lo, double hi)
{
    return ae_exp(ae_rng_uniform(rng, ae_log(lo), ae_log(hi)));
}

bool ae_rng_chance(struct ae_rng *rng, double probability)
{
    return ae_rng_unit(rng) < probability;
}

double ae_rng_normal(struct ae_rng *rng)
{
    if (rng->has_spare) {
        rng->has_spare = false;
        return rng->spare;
    }
    double u, v, q;
    do {
        u = 2 * ae_rng_unit(rng) - 1;
        v = 2 * ae_rng_unit(rng) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    const double factor = ae_sqrt(-2 * ae_log(q) / q);
    rng->spare = v * factor;
    rng->has_spare = true;
    return u * factor;
}

double ae_rng_exponential(struct ae_rng *rng)
{
    return -ae_log(1 - ae_rng_unit(rng));
}

uint32_t ae_rng_poisson(struct ae_rng *rng, double mean)
{
    const double limit = ae_exp(-mean);
    uint32_t count = 0;
    for (double product = ae_rng_unit(rng); product > limit; product *= ae_rng_unit(rng))
        count++;
    return count;
}

void ae_rng_shuffle_i32(struct ae_rng *rng, int32_t *values, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = (size_t)ae_rng_below64(rng, i);
        const int32_t kept = values[i - 1];
        values[i - 1] = values[j];
        values[j] = kept;
    }
}

void ae_rng_permutation(struct ae_rng *rng, int32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (int32_t)i;
    ae_rng_shuffle_i32(rng, values, count);
}

void ae_rng_fill_f32(struct ae_rng *rng, float *values, size_t count, float lo, float hi)
{
    const float width = hi - lo;
    size_t i = 0;
    for (; i + 1 < count; i += 2) {
        const uint64_t draw = ae_rng_u64(rng);
        values[i] = lo + width * ((float)(uint32_t)(draw >> 40) * 0x1p-24f);
        values[i + 1] = lo + width * ((float)(uint32_t)((draw >> 8) & 0xffffff) * 0x1p-24f);
    }
    if (i < count)
        values[i] = lo + width * ((float)(uint32_t)(ae_rng_u64(rng) >> 40) * 0x1p-24f);
}

void ae_rng_fill_f64(struct ae_rng *rng, double *values, size_t count, double lo, double hi)
{
    for (size_t i = 0; i < count; i++)
        values[i] = ae_rng_uniform(rng, lo, hi);
}

void ae_rng_fill_i32(struct ae_rng *rng, int32_t *values, size_t count, int32_t lo, uint32_t bound)
{
    size_t i = 0;
    for (; i + 1 < count; i += 2) {
        const uint64_t draw = ae_rng_u64(rng);
        values[i] = lo + (int32_t)(((draw >> 32) * bound) >> 32);
        values[i + 1] = lo + (int32_t)(((draw & 0xffffffff) * bound) >> 32);
    }
    if (i < count)
        values[i] = lo + (int32_t)(((ae_rng_u64(rng) >> 32) * bound) >> 32);
}
