/* Replications over the cores, and each replication exact in law without drawing every arm in every
 * round. Only the posterior of the arm just played changes. Against a level tau, set a little below
 * the posterior of the arm that leads, every other arm stays below tau with a known probability F_i
 * (a regularised incomplete beta function), and the leader is above it with 1 - F_L. One uniform
 * tells whether all others are below and the leader above: then the leader is played and nothing
 * need be drawn. Otherwise the arms above tau are found by walking the product of the F_i, and only
 * they are drawn, each from its posterior restricted to (tau, 1]; if nobody is above, all are drawn
 * from below tau. A success or a failure changes F_i by one term, so that it follows in O(1); all
 * are computed anew where tau moves. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct source {
    uint64_t s[4];
};

static inline uint64_t rotated(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

/* xoshiro256++ */
static inline uint64_t next_word(struct source *r)
{
    uint64_t *const s = r->s;
    const uint64_t result = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return result;
}

/* On (0,1). */
static inline double draw_uniform(struct source *r)
{
    return ((double)(next_word(r) >> 12) + 0.5) * 0x1p-52;
}

static struct source new_source(uint64_t seed, uint64_t replication)
{
    struct source r;
    uint64_t state = seed ^ (replication + 1) * 0xd1342543de82ef95u;
    for (int i = 0; i < 4; i++) {
        uint64_t v = state += 0x9e3779b97f4a7c15u;
        v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
        v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
        r.s[i] = v ^ (v >> 31);
    }
    return r;
}

static double draw_gamma(struct source *r, double k)
{
    if (k == 1)
        return -log(draw_uniform(r));
    const double d = k - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x, y, q; /* polar method; the partner is not needed often enough to keep */
        do {
            x = 2 * draw_uniform(r) - 1;
            y = 2 * draw_uniform(r) - 1;
            q = x * x + y * y;
        } while (q >= 1 || q == 0);
        x *= sqrt(-2 * log(q) / q);
        double v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        const double u = draw_uniform(r), x2 = x * x;
        if (u < 1 - 0.0331 * x2 * x2 || log(u) < 0.5 * x2 + d * (1 - v + log(v)))
            return d * v;
    }
}

static double draw_beta(struct source *r, double a, double b)
{
    const double x = draw_gamma(r, a);
    return x / (x + draw_gamma(r, b));
}

/* Beta(a, b) on (tau, 1], where it has this mass: in the thin tail from the exponential that
 * touches the log-concave density at tau, else by trying. */
static double draw_above(struct source *r, double a, double b, double tau, double mass)
{
    const double slope = (a - 1) / tau - (b - 1) / (1 - tau);
    if (mass > 0.3 || slope >= 0) {
        double x;
        do
            x = draw_beta(r, a, b);
        while (x <= tau);
        return x;
    }
    const int flat = -slope * (1 - tau) < 1; /* then a level line serves instead */
    for (;;) {
        const double step = flat ? draw_uniform(r) * (1 - tau) : -log(draw_uniform(r)) / -slope,
                     x = tau + step;
        if (x < 1 && log(draw_uniform(r)) <= (a - 1) * log(x / tau) +
                                                 (b - 1) * log((1 - x) / (1 - tau)) -
                                                 (flat ? 0 : slope * step))
            return x;
    }
}

static double draw_below(struct source *r, double a, double b, double tau, double mass)
{
    return 1 - draw_above(r, b, a, 1 - tau, mass);
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-13)
            break;
    }
    return value;
}

struct bandit {
    int n, leader;
    double tau;
    double *a, *b;        /* posterior of each arm: one more than its successes and failures */
    double *below;        /* probability that the arm's draw is at most tau */
    double *front;        /* tau^a (1-tau)^b / B(a,b): what one more observation changes */
    double *others;       /* below, but 1 for the leader */
    double *mean, *scale; /* of the posteriors when the level was set; scale is 1 / deviation */
    double none_above;    /* product of others */
    const double *log_factorial;
};

static void set_arm(struct bandit *s, int i)
{
    const double a = s->a[i], b = s->b[i], x = s->tau;
    const double *const f = s->log_factorial;
    s->front[i] =
        exp(f[(int)(a + b) - 1] - f[(int)a - 1] - f[(int)b - 1] + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        s->below[i] = s->front[i] * beta_fraction(a, b, x) / a;
    else
        s->below[i] = 1 - s->front[i] * beta_fraction(b, a, 1 - x) / b;
}

static void multiply_others(struct bandit *s)
{
    double product[4] = {1, 1, 1, 1};
    int i = 0;
    for (; i + 4 <= s->n; i += 4)
        for (int k = 0; k < 4; k++)
            product[k] *= s->others[i + k];
    for (; i < s->n; i++)
        product[0] *= s->others[i];
    s->none_above = product[0] * product[1] * (product[2] * product[3]);
}

/* About how many variates a round costs at this level: those above it where there are several, all
 * where there are none. A logistic curve serves for the normal tail. */
static double draws_at(const struct bandit *s, double tau)
{
    double sum = 0, none = 1,
           alone = 0; /* alone: sum of q / (1 - q), exactly one above is none times that */
    for (int i = 0; i < s->n; i++) {
        const double q = 1 / (1 + exp(1.702 * (tau - s->mean[i]) * s->scale[i]));
        sum += q;
        none *= 1 - q;
        alone += q / (1 - q + 1e-12);
    }
    return sum - none * alone + none * (s->n + 2);
}

/* A new leader and a new level: any choice is right, a good one is fast. */
static void set_level(struct bandit *s)
{
    double best = -1;
    for (int i = 0; i < s->n; i++) {
        const double total = s->a[i] + s->b[i];
        s->mean[i] = s->a[i] / total;
        s->scale[i] = sqrt((total + 1) / (s->mean[i] * (1 - s->mean[i])));
        if (s->mean[i] - 1 / s->scale[i] > best) {
            best = s->mean[i] - 1 / s->scale[i];
            s->leader = i;
        }
    }
    double fewest = 1e300;
    for (double z = -3; z <= 3; z += 0.75) {
        const double tau = s->mean[s->leader] + z / s->scale[s->leader];
        const double draws = tau > 0.01 && tau < 0.99 ? draws_at(s, tau) : 1e200;
        if (draws < fewest) {
            fewest = draws;
            s->tau = tau < 0.01 ? 0.01 : tau > 0.99 ? 0.99 : tau;
        }
    }
    for (int i = 0; i < s->n; i++) {
        set_arm(s, i);
        s->others[i] = i == s->leader ? 1 : s->below[i];
    }
    multiply_others(s);
}

static void observe(struct bandit *s, int i, int success)
{
    const double a = s->a[i], b = s->b[i];
    if (success) {
        s->below[i] -= s->front[i] / a;
        s->front[i] *= s->tau * (a + b) / a;
        s->a[i]++;
    } else {
        s->below[i] += s->front[i] / b;
        s->front[i] *= (1 - s->tau) * (a + b) / b;
        s->b[i]++;
    }
    s->below[i] = s->below[i] < 0 ? 0 : s->below[i] > 1 ? 1 : s->below[i];
    if (i != s->leader) {
        s->others[i] = s->below[i];
        multiply_others(s);
    }
}

static int play(struct bandit *s, struct source *r)
{
    const double u = draw_uniform(r), leader_above = 1 - s->below[s->leader];
    if (u < leader_above * s->none_above)
        return s->leader;
    const int leads = u < leader_above;
    double v = leads ? u / leader_above : draw_uniform(r), product = 1, largest = -1;
    int above = leads, first = s->leader, played = s->leader;
    for (int i = 0; i < s->n; i++) {
        product *= s->others[i];
        if (v < product)
            continue;
        /* Arm i is above tau. */
        v = draw_uniform(r);
        product = 1;
        if (above++ == 0) {
            first = played = i; /* not drawn unless there is a second one */
            continue;
        }
        if (largest < 0) {
            largest = draw_above(r, s->a[first], s->b[first], s->tau, 1 - s->below[first]);
            played = first;
        }
        const double theta = draw_above(r, s->a[i], s->b[i], s->tau, 1 - s->below[i]);
        if (theta > largest) {
            largest = theta;
            played = i;
        }
    }
    if (above > 0)
        return played;
    for (int i = 0; i < s->n; i++) {
        const double theta = draw_below(r, s->a[i], s->b[i], s->tau, s->below[i]);
        if (theta > largest) {
            largest = theta;
            played = i;
        }
    }
    return played;
}

/* One replication; pulls[0..n-1] becomes the number of pulls of each arm. */
static void simulate(struct bandit *s, int rounds, const float *means, struct source r, int *pulls)
{
    for (int i = 0; i < s->n; i++)
        s->a[i] = s->b[i] = 1;
    for (int t = 0, until = 0; t < rounds; t++) {
        if (t == until) {
            set_level(s);
            until = t + 8 + (int)((s->a[s->leader] + s->b[s->leader]) / 8) + s->n / 8;
        }
        const int arm = play(s, &r);
        observe(s, arm, draw_uniform(&r) < (double)means[arm]);
    }
    for (int i = 0; i < s->n; i++)
        pulls[i] = (int)(s->a[i] + s->b[i]) - 2;
}

/* log n! for n <= most; NULL without memory. */
static double *log_factorials(int most)
{
    double *f = malloc(((size_t)most + 1) * sizeof *f);
    for (int i = 0; f && i <= most; i++)
        f[i] = i < 2 ? 0 : f[i - 1] + log(i);
    return f;
}

static int new_bandit(struct bandit *s, int n, const double *log_factorial)
{
    *s = (struct bandit){
        .n = n, .a = malloc(7 * (size_t)n * sizeof(double)), .log_factorial = log_factorial};
    if (!s->a)
        return -1;
    s->b = s->a + n;
    s->below = s->b + n;
    s->front = s->below + n;
    s->others = s->front + n;
    s->mean = s->others + n;
    s->scale = s->mean + n;
    return 0;
}

void solution_compute(int N, int T, int M, const float *arm_means, uint64_t seed,
                      float *avg_regret_out, float *avg_counts_out)
{
    double *log_factorial = log_factorials(T + 2);
    int64_t *total = calloc((size_t)N, sizeof *total);
    if (!log_factorial || !total)
        goto done;
#pragma omp parallel
    {
        struct bandit s;
        int *pulls = malloc((size_t)N * sizeof *pulls);
        int64_t *sum = calloc((size_t)N, sizeof *sum);
        const int ready = new_bandit(&s, N, log_factorial) == 0 && pulls && sum;
#pragma omp for schedule(dynamic, 4)
        for (int q = 0; q < M; q++)
            if (ready) {
                simulate(&s, T, arm_means, new_source(seed, (uint64_t)q), pulls);
                for (int i = 0; i < N; i++)
                    sum[i] += pulls[i];
            }
#pragma omp critical
        for (int i = 0; ready && i < N; i++)
            total[i] += sum[i];
        free(s.a);
        free(pulls);
        free(sum);
    }
    float best = arm_means[0];
    for (int i = 1; i < N; i++)
        best = arm_means[i] > best ? arm_means[i] : best;
    double regret = 0;
    for (int i = 0; i < N; i++) {
        regret += (double)(best - arm_means[i]) * (double)total[i];
        avg_counts_out[i] = (float)((double)total[i] / M);
    }
    *avg_regret_out = (float)(regret / M);

done:
    free(log_factorial);
    free(total);
}
