/* Thompson sampling on a Bernoulli bandit: M independent replications of T rounds, averaged. In
 * every round each arm draws a success probability from its Beta posterior and the largest draw is
 * played. Beta variates come from two gamma variates (Marsaglia & Tsang 2000), uniforms from one
 * xoshiro128** stream per replication, seeded by splitmix64. Variates in float, totals exact. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct stream {
    uint32_t w[4];
};

static uint64_t splitmix64(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t v = *state;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

static struct stream start_stream(uint64_t seed, uint64_t replication)
{
    uint64_t state = seed ^ (replication * 0x517cc1b727220a95u);
    const uint64_t a = splitmix64(&state), b = splitmix64(&state);
    return (struct stream){{(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)}};
}

static uint32_t rotate(uint32_t x, int bits)
{
    return (x << bits) | (x >> (32 - bits));
}

static uint32_t next_bits(struct stream *s)
{
    uint32_t *const w = s->w;
    const uint32_t result = rotate(w[1] * 5, 7) * 9, t = w[1] << 9;
    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= t;
    w[3] = rotate(w[3], 11);
    return result;
}

/* On [0,1) in steps of 2^-24. */
static float uniform(struct stream *s)
{
    return (float)(next_bits(s) >> 8) * 0x1p-24f;
}

static float normal(struct stream *s)
{
    float u1 = uniform(s);
    const float u2 = uniform(s);
    while (u1 < 1e-30f)
        u1 = uniform(s);
    return sqrtf(-2.0f * logf(u1)) * cosf(6.2831853f * u2);
}

/* A gamma distribution of scale 1 whose shape is an integer of at least 1, with the constants of
 * its sampler. */
struct shape {
    int k;
    float d, c;
};

static struct shape make_shape(int k)
{
    const float d = (float)k - 1.0f / 3.0f;
    return (struct shape){k, d, 1.0f / sqrtf(9.0f * d)};
}

static float gamma_variate(struct stream *s, const struct shape *shape)
{
    if (shape->k == 1) {
        float u = uniform(s);
        while (u < 1e-30f)
            u = uniform(s);
        return -logf(u);
    }
    const float d = shape->d;
    for (;;) {
        float x, v;
        do {
            x = normal(s);
            v = 1.0f + shape->c * x;
        } while (v <= 0);
        v = v * v * v;
        const float u = uniform(s);
        if (u < 1.0f - 0.0331f * (x * x) * (x * x))
            return d * v;
        if (logf(u) < 0.5f * x * x + d * (1.0f - v + logf(v)))
            return d * v;
    }
}

static float beta_variate(struct stream *s, const struct shape *a, const struct shape *b)
{
    const float x = gamma_variate(s, a);
    const float y = gamma_variate(s, b);
    return x / (x + y);
}

void solution_compute(int N, int T, int M, const float *arm_means, uint64_t seed,
                      float *avg_regret_out, float *avg_counts_out)
{
    /* Posteriors Beta(a, b): one more than the successes and the failures. */
    struct shape *a = malloc((size_t)N * sizeof *a), *b = malloc((size_t)N * sizeof *b);
    double *pulls = calloc((size_t)N, sizeof *pulls), regret = 0;
    if (!a || !b || !pulls)
        goto done;

    float best_mean = arm_means[0];
    for (int i = 1; i < N; i++)
        best_mean = arm_means[i] > best_mean ? arm_means[i] : best_mean;
    for (int q = 0; q < M; q++) {
        struct stream s = start_stream(seed, (uint64_t)q);
        for (int i = 0; i < N; i++)
            a[i] = b[i] = make_shape(1);
        for (int t = 0; t < T; t++) {
            int played = 0;
            float largest = -1;
            for (int i = 0; i < N; i++) {
                const float theta = beta_variate(&s, &a[i], &b[i]);
                if (theta > largest) {
                    largest = theta;
                    played = i;
                }
            }
            if (uniform(&s) < arm_means[played])
                a[played] = make_shape(a[played].k + 1);
            else
                b[played] = make_shape(b[played].k + 1);
            regret += best_mean - arm_means[played];
        }
        for (int i = 0; i < N; i++)
            pulls[i] += a[i].k + b[i].k - 2;
    }
    *avg_regret_out = (float)(regret / M);
    for (int i = 0; i < N; i++)
        avg_counts_out[i] = (float)(pulls[i] / M);

done:
    free(a);
    free(b);
    free(pulls);
}
