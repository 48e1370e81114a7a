#include "task/traps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, T, M, ARM_MEANS, SEED, REGRET, COUNTS };

/* What one wrong simulation does otherwise; replications are divided by `fewer`. */
struct fault {
    int fewer, batch, prior;
    bool greedy, normal, own_reward, dead_arms, optimistic;
};

static double gamma_variate(struct ae_rng *rng, double k)
{
    const double d = k - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = ae_rng_normal(rng);
        double v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(1 - ae_rng_unit(rng)) < 0.5 * x * x + d * (1 - v + log(v)))
            return d * v;
    }
}

static double draw(const struct fault *f, struct ae_rng *rng, double s, double n, double t)
{
    const double a = s + f->prior, b = n - s + f->prior, mean = a / (a + b);
    if (f->greedy)
        return mean + 1e-9 * ae_rng_unit(rng);
    if (f->optimistic)
        return mean + sqrt(2 * log(t + 1) / (n + 1));
    if (f->normal)
        return mean + sqrt(mean * (1 - mean) / (a + b + 1)) * ae_rng_normal(rng);
    if (f->dead_arms && n >= 20 && mean < 0.3)
        return -1;
    const double x = gamma_variate(rng, a);
    return x / (x + gamma_variate(rng, b));
}

/* The regret that goes with counts. */
static void set_regret(const struct ae_instance *inst, struct ae_expected *answer)
{
    const float *means = ae_in_f32(inst, ARM_MEANS), *counts = answer->out[COUNTS].data;
    float best = 0;
    double regret = 0;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        best = means[i] > best ? means[i] : best;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        regret += (double)(best - means[i]) * (double)counts[i];
    *(float *)answer->out[REGRET].data = (float)regret;
}

static bool run(const struct ae_instance *inst, struct ae_expected *answer, struct fault f)
{
    const int n = inst->scalar[N].i32, rounds = inst->scalar[T].i32;
    const int runs = inst->scalar[M].i32 / (f.fewer ? f.fewer : 1);
    const float *means = ae_in_f32(inst, ARM_MEANS);
    double *s = malloc((size_t)n * 5 * sizeof *s), *pulls = s + n, *old_s = s + 2 * n,
           *old_n = s + 3 * n, *sum = s + 4 * n;
    struct ae_rng rng;
    ae_rng_seed(&rng, inst->seed, 99);
    f.prior = f.prior ? f.prior : 1;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int q = 0; q < runs; q++) {
        memset(s, 0, (size_t)n * 4 * sizeof *s);
        for (int t = 0; t < rounds; t++) {
            if (t % (f.batch ? f.batch : 1) == 0) {
                memcpy(old_s, s, (size_t)n * sizeof *s);
                memcpy(old_n, pulls, (size_t)n * sizeof *s);
            }
            int played = 0;
            double largest = -2;
            for (int i = 0; i < n; i++) {
                const double theta = draw(&f, &rng, old_s[i], old_n[i], t);
                if (theta > largest) {
                    largest = theta;
                    played = i;
                }
            }
            s[played] += ae_rng_unit(&rng) < (f.own_reward ? largest : (double)means[played]);
            pulls[played]++;
        }
        for (int i = 0; i < n; i++)
            sum[i] += pulls[i];
    }
    float *counts = answer->out[COUNTS].data;
    for (int i = 0; i < n; i++)
        counts[i] = (float)(sum[i] / runs);
    set_regret(inst, answer);
    free(s);
    return true;
}

#define TRAP(name, ...)                                                                            \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return run(inst, answer, (struct fault){__VA_ARGS__});                                     \
    }

TRAP(quarter, .fewer = 4)
TRAP(in_batches, .batch = 40)
TRAP(other_prior, .prior = 2)
TRAP(greedy, .greedy = true)
TRAP(normal, .normal = true)
TRAP(own_reward, .own_reward = true)
TRAP(dead_arms, .dead_arms = true)
TRAP(confidence, .optimistic = true)

/* Lai and Robbins: log T / KL pulls of each worse arm. */
static bool formula(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    const int n = inst->scalar[N].i32;
    const float *means = ae_in_f32(inst, ARM_MEANS);
    float *counts = answer->out[COUNTS].data;
    double rest = inst->scalar[T].i32;
    int best = 0;
    for (int i = 1; i < n; i++)
        best = means[i] > means[best] ? i : best;
    for (int i = 0; i < n; i++) {
        const double p = (double)means[i], q = (double)means[best];
        const double pulls = i == best ? 0
                                       : log(inst->scalar[T].i32) /
                                             (p * log(p / q) + (1 - p) * log((1 - p) / (1 - q)));
        counts[i] = (float)(floor(pulls * inst->scalar[M].i32) / inst->scalar[M].i32);
        rest -= (double)counts[i];
    }
    counts[best] = (float)rest;
    set_regret(inst, answer);
    return true;
}

/* The right answer with the pulls of two arms exchanged, with another regret, from a sixth of the
 * replications in disguise, and in a mean that was rounded on the way. */
static bool exchanged(const struct ae_instance *inst, const struct ae_expected *right,
                      struct ae_expected *answer)
{
    (void)right;
    float *counts = answer->out[COUNTS].data, kept = counts[0];
    counts[0] = counts[inst->scalar[N].i32 - 1];
    counts[inst->scalar[N].i32 - 1] = kept;
    set_regret(inst, answer);
    return counts[0] != kept;
}

static bool other_regret(const struct ae_instance *inst, const struct ae_expected *right,
                         struct ae_expected *answer)
{
    (void)inst;
    (void)right;
    *(float *)answer->out[REGRET].data *= 1.001f;
    return true;
}

static bool shifted(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    float *counts = answer->out[COUNTS].data;
    const int n = inst->scalar[N].i32;
    int busy = 0;
    for (int i = 1; i < n; i++)
        busy = counts[i] > counts[busy] ? i : busy;
    for (int i = 0; i < n; i++) /* every poor arm a tenth more */
        if (i != busy && counts[i] < counts[busy] / 8) {
            const double more =
                floor(0.1 * (double)counts[i] * inst->scalar[M].i32) / inst->scalar[M].i32;
            counts[i] = (float)((double)counts[i] + more);
            counts[busy] = (float)((double)counts[busy] - more);
        }
    set_regret(inst, answer);
    return true;
}

static bool rounded(const struct ae_instance *inst, const struct ae_expected *right,
                    struct ae_expected *answer)
{
    (void)right;
    float *counts = answer->out[COUNTS].data;
    for (int i = 0; i < inst->scalar[N].i32; i++)
        counts[i] *= 1 + 3e-6f;
    set_regret(inst, answer);
    return true;
}

AE_TRAPS(thompson_sampling) = {
    {"a quarter of the replications", "short_runs", quarter},
    {"updates posteriors every fortieth round", "short_runs", in_batches},
    {"starts from Beta(2,2)", "short_runs", other_prior},
    {"plays the best mean", "short_runs", greedy},
    {"normal posteriors", "short_runs", normal},
    {"rewards by the draw instead of the mean", "short_runs", own_reward},
    {"stops sampling poor arms", "bandit", dead_arms},
    {"upper confidence bounds", "short_runs", confidence},
    {"a formula instead of the simulation", "bandit", formula},
    {"two arms exchanged", "bandit", exchanged},
    {"a regret that is not that of the counts", "bandit", other_regret},
    {"a tenth more pulls of poor arms", "bandit", shifted},
    {"means rounded on the way", "bandit", rounded},
    {0},
};
