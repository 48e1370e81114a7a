/* The project's one source of pseudo-random numbers: xoshiro256** (Blackman & Vigna, "Scrambled linear
 * pseudorandom number generators", 2021), seeded through splitmix64 (Steele, Lea & Flood, 2014).
 * Every function gives the same bits on every machine and compiler. Not for secrets: those come from
 * ae_random_bytes(). */
#ifndef AE_BASE_RNG_H
#define AE_BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ae_rng {
    uint64_t s[4];
    double spare; /* second variate of the last polar pair */
    bool has_spare;
};

/* One step of splitmix64: advances *state and returns the next output. */
uint64_t ae_splitmix64(uint64_t *state);

/* Streams of one seed are independent of each other: one stream for the graph, one for the requests. */
void ae_rng_seed(struct ae_rng *rng, uint64_t seed, uint64_t stream);

/* The three that generators of large instances call up to a hundred million times are inline. */
static inline uint64_t ae_rng_u64(struct ae_rng *rng)
{
    uint64_t *s = rng->s;
    const uint64_t times5 = s[1] * 5, result = ((times5 << 7) | (times5 >> 57)) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform on 0..bound-1 without bias (Lemire 2019); bound >= 1. */
static inline uint32_t ae_rng_below(struct ae_rng *rng, uint32_t bound)
{
    uint64_t product = (ae_rng_u64(rng) >> 32) * bound;
    if ((uint32_t)product < bound) {
        const uint32_t threshold = -bound % bound;
        while ((uint32_t)product < threshold)
            product = (ae_rng_u64(rng) >> 32) * bound;
    }
    return (uint32_t)(product >> 32);
}

uint64_t ae_rng_below64(struct ae_rng *rng, uint64_t bound);
/* Uniform on lo..hi, both included; lo <= hi. */
int64_t ae_rng_range(struct ae_rng *rng, int64_t lo, int64_t hi);
/* Uniform on [0,1) in steps of 2^-53. */
static inline double ae_rng_unit(struct ae_rng *rng)
{
    return (double)(ae_rng_u64(rng) >> 11) * 0x1p-53;
}

/* Uniform on [lo,hi). */
double ae_rng_uniform(struct ae_rng *rng, double lo, double hi);
/* exp of a uniform on [ln lo, ln hi); 0 < lo < hi. */
double ae_rng_log_uniform(struct ae_rng *rng, double lo, double hi);
bool ae_rng_chance(struct ae_rng *rng, double probability);
/* Standard normal by Marsaglia's polar method. */
double ae_rng_normal(struct ae_rng *rng);
/* Exponential with mean 1. */
double ae_rng_exponential(struct ae_rng *rng);
/* Poisson by multiplication of uniforms; meant for means up to about 50. */
uint32_t ae_rng_poisson(struct ae_rng *rng, double mean);

/* Fisher-Yates. */
void ae_rng_shuffle_i32(struct ae_rng *rng, int32_t *values, size_t count);
/* values = a uniformly random permutation of 0..count-1. */
void ae_rng_permutation(struct ae_rng *rng, int32_t *values, size_t count);

/* Bulk draws for large arrays: two values from each 64-bit output, so not the same numbers as `count` single
 * calls would give. fill_f32 steps by 2^-24 of the width; fill_i32's bias is below bound/2^32 (bound <= 2^16). */
void ae_rng_fill_f32(struct ae_rng *rng, float *values, size_t count, float lo, float hi);
void ae_rng_fill_f64(struct ae_rng *rng, double *values, size_t count, double lo, double hi);
void ae_rng_fill_i32(struct ae_rng *rng, int32_t *values, size_t count, int32_t lo, uint32_t bound);

#endif
