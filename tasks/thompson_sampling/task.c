/* The deviations that check() needs are estimated by the fast program, which is exact in law. */
#include <stdint.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
void ae_thompson_sampling_fast(int, int, int, const float *, uint64_t, float *, float *);
#define solution_compute ae_thompson_sampling_fast
#include "parallel.c"
#undef solution_compute
#pragma GCC diagnostic pop

#include "task/task.h"

#include <stdio.h>

enum { P_ARMS, P_ROUNDS, P_REPLICATIONS };

enum { N, T, M, ARM_MEANS, SEED, REGRET, COUNTS, ARG_COUNT };

enum { BANDIT, SHORT_RUNS, EQUAL_ARMS, EXTREMES, TINY };

/* Replications from which the deviations are estimated. */
#define AUX_REPLICATIONS 400

/* Limits of the statistical test; see the reason in the rule. */
#define Z_LIMIT   7.5
#define SUM_LIMIT 1.4

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "arms"},
    [T] = {"T", AE_I32, AE_SCALAR, .meaning = "rounds of a replication"},
    [M] = {"M", AE_I32, AE_SCALAR, .meaning = "replications"},
    [ARM_MEANS] = {"arm_means", AE_F32, AE_IN, "N", "probability",
                   "success probability of each arm"},
    [SEED] = {"seed", AE_U64, AE_SCALAR, .meaning = "seed of the random numbers"},
    [REGRET] =
        {"avg_regret_out", AE_F32, AE_OUT, "1", "successes", "mean cumulative regret",
         .rule = {AE_PROPERTY,
                  .reason =
                      "within 1e-4 of what the counts imply, and within 7.5 standard errors of the "
                      "reference's own estimate"}},
    [COUNTS] =
        {"avg_counts_out", AE_F32, AE_OUT, "N", "pulls", "mean pulls of each arm",
         .rule =
             {AE_PROPERTY,
              .reason =
                  "the sum is T, each value is a whole number over M, each lies within 7.5 "
                  "standard "
                  "errors of the reference's estimate, and the sum of squared deviations in such "
                  "errors stays below 1.4 times its 1e-6 quantile: an honest program fails one "
                  "instance in more than ten million; a bias of a third of a standard deviation in "
                  "the pulls of any arm does not pass"}},
};

/* Primes near 1500: a mean over fewer replications than M is then no multiple of 1/M. */
static const int32_t replications[] = {1481, 1483, 1487, 1489, 1493, 1499, 1511, 1523};

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    int64_t arms = inst->param[P_ARMS], rounds = inst->param[P_ROUNDS];
    if (inst->family == SHORT_RUNS)
        arms *= 2;
    if (inst->family != BANDIT)
        rounds /= 32;
    arms += ae_rng_range(rng, -arms / 10, arms / 10);
    rounds += ae_rng_range(rng, -rounds * 3 / 100, rounds * 3 / 100);
    if (inst->family == TINY) {
        arms = ae_rng_range(rng, 1, 3);
        rounds = ae_rng_range(rng, 1, 8);
    }
    ae_set_i32(inst, N, arms);
    ae_set_i32(inst, T, rounds);
    ae_set_i32(inst, M,
               replications[ae_rng_below(rng, sizeof replications / sizeof *replications)]);
    ae_set_u64(inst, SEED, ae_rng_u64(rng));
    float *means = ae_new_array(inst, ARM_MEANS, (size_t)arms, err);
    int32_t *order = malloc((size_t)arms * sizeof *order);
    if (!means || !order) {
        free(order);
        return ae_error_set(err, AE_E_NOMEM, "no memory for %lld arms", (long long)arms);
    }
    ae_rng_permutation(rng, order, (size_t)arms);
    const double best = ae_rng_uniform(rng, 0.45, 0.6);
    const int64_t close = ae_rng_range(rng, 1, 2);
    for (int64_t i = 0; i < arms; i++) {
        double mean = ae_rng_uniform(rng, 0.1, 0.4);
        if (i <= close)
            mean = i == 0 ? best : best - ae_rng_uniform(rng, 0.02, 0.05);
        if (inst->family == EQUAL_ARMS)
            mean = i % 3 == 0 ? best : best - 0.125;
        if (inst->family == EXTREMES)
            mean = i % 2 ? ae_rng_log_uniform(rng, 1e-4, 1e-2)
                         : 1 - ae_rng_log_uniform(rng, 1e-4, 1e-2);
        means[order[i]] = (float)mean;
    }
    free(order);
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, REGRET, 1);
    ae_set_output(inst, COUNTS, (size_t)inst->scalar[N].i32);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    if (n < 1 || n > 1024 || inst->scalar[T].i32 < 1 || inst->scalar[T].i32 > 10000000 ||
        inst->scalar[M].i32 < 1)
        return ae_error_set(err, AE_E_INPUT, "%d arms, %d rounds, %d replications", n,
                            inst->scalar[T].i32, inst->scalar[M].i32);
    if (inst->array[ARM_MEANS].count != (size_t)n)
        return ae_error_set(err, AE_E_INPUT, "arm_means has %zu elements for %d arms",
                            inst->array[ARM_MEANS].count, n);
    for (int32_t i = 0; i < n; i++) {
        const float mean = ae_in_f32(inst, ARM_MEANS)[i];
        if (!(mean > 0 && mean < 1))
            return ae_error_set(err, AE_E_INPUT, "arm %d has mean %g", i, (double)mean);
    }
    return AE_OK;
}

/* What a pull of arm i costs against the best one; the difference is taken in float, as the
 * reference does. */
static double gap_of(const struct ae_instance *inst, int32_t i)
{
    const float *means = ae_in_f32(inst, ARM_MEANS);
    float best = means[0];
    for (int32_t k = 1; k < inst->scalar[N].i32; k++)
        best = means[k] > best ? means[k] : best;
    return (double)(best - means[i]);
}

/* aux[0]: variances in one replication, of the regret and then of the pulls of each arm. */
static int make_aux(const struct ae_instance *inst, struct ae_expected *expected,
                    struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32, rounds = inst->scalar[T].i32;
    const int rc = ae_array_alloc(&expected->aux[0], AE_F64, (size_t)n + 1, err);
    if (rc != AE_OK)
        return rc;
    struct bandit bandit = {0};
    double *log_factorial = log_factorials(rounds + 2), *sum = calloc((size_t)n + 1, sizeof *sum);
    double *gap = malloc((size_t)n * sizeof *gap), *variance = expected->aux[0].data;
    int *pulls = malloc((size_t)n * sizeof *pulls);
    const bool memory =
        log_factorial && sum && gap && pulls && new_bandit(&bandit, n, log_factorial) == 0;
    for (int32_t i = 0; i <= n; i++)
        variance[i] = 0;
    for (int32_t i = 0; memory && i < n; i++)
        gap[i] = gap_of(inst, i);
    for (int q = 0; memory && q < AUX_REPLICATIONS; q++) {
        simulate(&bandit, rounds, ae_in_f32(inst, ARM_MEANS),
                 new_source(~inst->scalar[SEED].u64, (uint64_t)q), pulls);
        double regret = 0;
        for (int32_t i = 0; i < n; i++) {
            regret += gap[i] * pulls[i];
            sum[i + 1] += pulls[i];
            variance[i + 1] += (double)pulls[i] * pulls[i];
        }
        sum[0] += regret;
        variance[0] += regret * regret;
    }
    for (int32_t i = 0; memory && i <= n; i++) {
        const double mean = sum[i] / AUX_REPLICATIONS;
        variance[i] = (variance[i] - sum[i] * mean) / (AUX_REPLICATIONS - 1);
        /* Events too rare to be seen here must not make an honest answer wrong. */
        variance[i] = variance[i] > 0.01 ? variance[i] : 0.01;
    }
    free(bandit.a);
    free(log_factorial);
    free(sum);
    free(gap);
    free(pulls);
    return memory ? AE_OK : ae_error_set(err, AE_E_NOMEM, "no memory for %d arms", n);
}

/* Wrong counts; and whether the regret is theirs. */
static size_t broken_identities(const struct ae_instance *inst, double regret, const float *counts,
                                char *text, size_t size)
{
    const int32_t n = inst->scalar[N].i32;
    const double rounds = inst->scalar[T].i32, runs = inst->scalar[M].i32;
    double sum = 0, implied = 0;
    size_t fractions = 0, range = 0, small = 0;
    int64_t divisor = 0;
    for (int32_t i = 0; i < n; i++) {
        const double count = (double)counts[i], total = count * runs;
        if (!(count >= 0 && count <= rounds * 1.00001)) {
            range++;
            continue;
        }
        sum += count;
        implied += gap_of(inst, i) * count;
        if (total >= 0x1p20) /* beyond, a float count does not tell neighbouring totals apart */
            continue;
        const double whole = floor(total + 0.5);
        fractions += fabs(total - whole) > 0.15;
        small++;
        for (int64_t a = (int64_t)whole, b = divisor;;) { /* Euclid */
            if (b == 0) {
                divisor = a;
                break;
            }
            const int64_t rest = a % b;
            a = b;
            b = rest;
        }
    }
    if (range) {
        snprintf(text, size, "%zu of %d counts are not between 0 and T", range, n);
        return range;
    }
    if (!(fabs(sum - rounds) <= 1e-5 * rounds)) {
        snprintf(text, size, "the counts do not sum to T");
        return (size_t)n;
    }
    if (!(fabs(regret - implied) <= 1e-4 * implied)) {
        snprintf(text, size, "the regret is not what the counts imply");
        return 1;
    }
    if (fractions) {
        snprintf(text, size, "%zu of %d counts are not whole numbers of pulls over M replications",
                 fractions, n);
        return fractions;
    }
    /* Chance gives all totals a common divisor d with probability d^-small. */
    double chance = 1;
    for (size_t k = 0; k < small; k++)
        chance /= (double)divisor;
    if (divisor > 1 && small > 0 && n > 1 && chance < 1e-9) {
        snprintf(text, size, "all totals have a common divisor: fewer than M replications");
        return (size_t)n;
    }
    return 0;
}

/* The 1e-6 upper quantile of chi-square, after Wilson and Hilferty. */
static double chi_square_limit(double degrees)
{
    const double v = 2 / (9 * degrees), root = 1 - v + 4.7534 * sqrt(v);
    return degrees * root * root * root;
}

static bool check(const struct ae_instance *inst, const struct ae_expected *expected,
                  const void *const got[], struct ae_judgement *j)
{
    const int32_t n = inst->scalar[N].i32;
    const float *counts = got[COUNTS], *expected_counts = expected->out[COUNTS].data;
    const double regret = (double)*(const float *)got[REGRET];
    struct ae_output_judgement *of_regret = &j->output[0], *of_counts = &j->output[1];
    for (int32_t i = 0; i < n; i++) {
        of_counts->nan += isnan(counts[i]);
        of_counts->inf += isinf(counts[i]);
    }
    of_regret->wrong = !isfinite(regret);
    of_counts->wrong = of_counts->nan + of_counts->inf;
    if (of_regret->wrong || of_counts->wrong) {
        snprintf(j->text, sizeof j->text, "%zu values are not finite",
                 of_regret->wrong + of_counts->wrong);
        return false;
    }
    of_counts->wrong = broken_identities(inst, regret, counts, j->text, sizeof j->text);
    if (of_counts->wrong)
        return false;

    /* Both estimates are means over M replications. */
    const double *variance = expected->aux[0].data, rounds = inst->scalar[T].i32,
                 pair = 2.0 / inst->scalar[M].i32;
    double sum = 0, degrees = 0, first_gap = -1;
    for (int32_t i = -1; i < n; i++) {
        const double x = i < 0 ? regret : (double)counts[i];
        const double e =
            i < 0 ? (double)*(const float *)expected->out[REGRET].data : (double)expected_counts[i];
        const double rounding = 1e-6 * rounds,
                     z = fabs(x - e) / sqrt(variance[i + 1] * pair + rounding * rounding);
        struct ae_output_judgement *o = i < 0 ? of_regret : of_counts;
        o->max_abs = fabs(x - e) > o->max_abs ? fabs(x - e) : o->max_abs;
        o->max_share = z / Z_LIMIT > o->max_share ? z / Z_LIMIT : o->max_share;
        if (!(z <= Z_LIMIT)) {
            if (o->wrong++ == 0)
                o->first = i < 0 ? 0 : (size_t)i;
        }
        if (i >= 0 &&
            (gap_of(inst, i) > 0 || first_gap == 0)) { /* the best arm follows from the others */
            sum += z * z;
            degrees++;
        } else if (i >= 0) {
            first_gap = 0;
        }
    }
    if (of_regret->wrong || of_counts->wrong) {
        snprintf(j->text, sizeof j->text, "%zu of %d means lie more than %g standard errors off",
                 of_regret->wrong + of_counts->wrong, n + 1, Z_LIMIT);
        return false;
    }
    if (degrees > 0 && !(sum <= SUM_LIMIT * chi_square_limit(degrees))) {
        of_counts->wrong = of_counts->count;
        snprintf(j->text, sizeof j->text,
                 "the counts deviate too much in sum (%.3g times the limit): biased, or from "
                 "fewer replications",
                 sum / (SUM_LIMIT * chi_square_limit(degrees)));
        return false;
    }
    return true;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    /* The straight way: a Beta variate an arm and a round. Ways exact in law that draw few of them
     * need less. */
    w->operations = 180.0 * inst->scalar[N].i32 * inst->scalar[T].i32 * inst->scalar[M].i32;
    w->steps = inst->scalar[T].i32;
}

#define SIZE_NOTE                                                                                  \
    "published: 10000 to 100000 rounds and 1000 to 10000 replications, half an hour and more for " \
    "one core"

const struct ae_task ae_task_thompson_sampling = {
    .id = "thompson_sampling",
    .title = "Regret of Thompson sampling by simulation",
    .domain = AE_OR,
    .lineage = "Thompson 1933; Beta-Bernoulli bandits (Agrawal & Goyal 2012), gamma variates of "
               "Marsaglia & Tsang",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N", "T", "M"},
    .sizes = {[AE_SMALL] = {{10, 5000, 1500}, true, SIZE_NOTE},
              [AE_MEDIUM] = {{50, 3000, 1500}, true, SIZE_NOTE},
              [AE_LARGE] = {{100, 6000, 1500}, true, SIZE_NOTE}},
    .families = {{"bandit", "a best arm anywhere, one or two close competitors, poor arms",
                  AE_ALL_SIZES},
                 {"short_runs", "twice the arms and few rounds: nothing has settled",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"equal_arms", "a third of the arms share the best mean, the others the second",
                  AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
                 {"extremes", "means near 0 and near 1", AE_AT(AE_SMALL)},
                 {"tiny", "one to three arms, one to eight rounds", AE_AT(AE_SMALL)}},
    .published_atol = 5,
    .published_rtol = 0.02,
    .published_note = "published instances have their best arm first with mean 0.5; our reference "
                      "follows the published "
                      "random streams, so that it reproduces published numbers",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .check = check,
    .make_aux = make_aux,
    .work = work,
};
