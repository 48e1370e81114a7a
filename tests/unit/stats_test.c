/* Estimators: examples worked by hand, and the properties that their declarations promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stats/attribution.h"
#include "stats/recommend.h"
#include "stats/stats.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void near_to(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

static void medians(void **state)
{
    (void)state;
    double values[] = {5, 1, 4, 2, 3, 6};
    ae_sort(values, 6);
    near_to(values[0], 1);
    near_to(ae_median(values, 6), 3.5);
    near_to(ae_median(values, 5), 3);
    near_to(ae_median(values, 1), 1);
    assert_true(isnan(ae_median(values, 0)));
}

static void median_intervals(void **state)
{
    (void)state;
    double values[2000];
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = (double)(i + 1);
    assert_int_equal(ae_median_interval(values, 0).kind, AE_INTERVAL_NONE);
    struct ae_interval five = ae_median_interval(values, 5);
    assert_int_equal(five.kind, AE_INTERVAL_RANGE);
    near_to(five.high, 5);
    /* Ranks as in published tables for 95 %: n = 6: 1, 8: 1, 9: 2, 16: 4, 20: 6, 50: 18, 100: 40. */
    static const struct {
        size_t n, rank;
    } table[] = {{6, 1}, {8, 1}, {9, 2}, {12, 3}, {16, 4}, {20, 6}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct ae_interval got = ae_median_interval(values, table[i].n);
        assert_int_equal(got.kind, AE_INTERVAL_95);
        near_to(got.low, (double)table[i].rank);
        near_to(got.high, (double)(table[i].n + 1 - table[i].rank));
    }
    const struct ae_interval many = ae_median_interval(values, 2000); /* 1000.5 +- 0.98 sqrt(2000) */
    assert_true(many.low >= 955 && many.low <= 958);
}

static void geometric_means(void **state)
{
    (void)state;
    const double values[] = {1, 10, 100}, bad[] = {1, 0};
    near_to(ae_geometric_mean(values, 3), 10);
    near_to(ae_mean(values, 3), 37);
    assert_true(isnan(ae_geometric_mean(bad, 2)));
    assert_true(isnan(ae_geometric_mean(values, 0)));
}

/* The interval of a mean of 8 normal values covers the truth about 95 times in 100; plain percentiles would 89
 * times. */
static void bootstrap_covers(void **state)
{
    (void)state;
    static const size_t sizes[] = {6, 8, 16};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct ae_rng rng;
        ae_rng_seed(&rng, 11, s);
        int covered = 0;
        const int rounds = 600;
        for (int r = 0; r < rounds; r++) {
            double values[16];
            for (size_t i = 0; i < sizes[s]; i++)
                values[i] = ae_rng_normal(&rng);
            const struct ae_stratum stratum = {values, sizes[s], 1};
            const struct ae_interval interval = ae_bootstrap(&stratum, 1, (uint64_t)r);
            assert_int_equal(interval.kind, AE_INTERVAL_95);
            covered += interval.low <= 0 && 0 <= interval.high;
        }
        if (covered < 0.92 * rounds || covered > 0.98 * rounds)
            fail_msg("%zu values: %d of %d covered", sizes[s], covered, rounds);
    }
}

static void bootstrap_properties(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8}, moved[] = {11, 12, 13, 14, 15, 16, 17, 18}, one[] = {10};
    const struct ae_stratum plain = {values, 8, 1}, shifted = {moved, 8, 1}, doubled = {values, 8, 2};
    const struct ae_interval a = ae_bootstrap(&plain, 1, 7), b = ae_bootstrap(&plain, 1, 7);
    assert_true(a.low == b.low && a.high == b.high); /* same seed, same interval */
    assert_true(a.low < 4.5 && 4.5 < a.high && a.low >= 1 && a.high <= 8);
    near_to(ae_bootstrap(&shifted, 1, 7).low, a.low + 10);
    near_to(ae_bootstrap(&doubled, 1, 7).high, 2 * a.high);
    /* A stratum without scatter adds its mean. */
    const struct ae_stratum with_fixed[] = {plain, {one, 1, 1}};
    near_to(ae_bootstrap(with_fixed, 2, 7).low, a.low + 10);
    near_to(ae_strata_mean(with_fixed, 2), 14.5);
    assert_int_equal(ae_bootstrap(&with_fixed[1], 1, 7).kind, AE_INTERVAL_NONE);
    const struct ae_stratum few = {values, 4, -1};
    const struct ae_interval range = ae_bootstrap(&few, 1, 7);
    assert_int_equal(range.kind, AE_INTERVAL_RANGE);
    near_to(range.low, -4);
    near_to(range.high, -1);
}

static void speedups(void **state)
{
    (void)state;
    const struct ae_timing timings[] = {{0, 100, 10}, {1, 100, 1}, {2, 0, 50}, {3, 400, 4}};
    struct ae_speedup got;
    ae_speedup(timings, 4, &got);
    near_to(got.s, pow(10. * 100 * 100, 1. / 3));
    near_to(got.published, 600. / 15);
    assert_int_equal(got.instances, 3);
    assert_int_equal(got.trials, 3);
    near_to(got.median_ns, 7);
    near_to(got.reference_ns, 100);
    const struct ae_interval interval = ae_speedup_interval(timings, 4);
    assert_int_equal(interval.kind, AE_INTERVAL_RANGE);
    near_to(interval.low, 10);
    near_to(interval.high, 100);

    /* Several trials on an instance weigh as much as one on another. */
    const struct ae_timing uneven[] = {{5, 100, 10}, {9, 100, 1}, {5, 100, 10}, {5, 100, 10}};
    ae_speedup(uneven, 4, &got);
    near_to(got.s, sqrt(10. * 100));
    assert_int_equal(got.instances, 2);

    const struct ae_timing unknown[] = {{0, 0, 10}};
    ae_speedup(unknown, 1, &got);
    assert_true(isnan(got.s) && isnan(got.published) && isnan(got.reference_ns));
    assert_int_equal(ae_speedup_interval(unknown, 1).kind, AE_INTERVAL_NONE);
    near_to(got.median_ns, 10);
    ae_speedup(NULL, 0, &got);
    assert_true(isnan(got.s) && isnan(got.median_ns));
}

static void speedup_invariances(void **state)
{
    (void)state;
    struct ae_rng rng;
    ae_rng_seed(&rng, 3, 0);
    for (int round = 0; round < 50; round++) {
        struct ae_timing a[16], b[16];
        const size_t n = (size_t)ae_rng_range(&rng, 1, 16);
        for (size_t i = 0; i < n; i++) {
            a[i] = (struct ae_timing){(int)ae_rng_range(&rng, 0, 9), ae_rng_uniform(&rng, 1e6, 1e9),
                                      ae_rng_uniform(&rng, 1e3, 1e6)};
            b[n - 1 - i] = a[i]; /* another order and another unit of time */
            b[n - 1 - i].reference_ns *= 4;
            b[n - 1 - i].call_ns *= 4;
        }
        struct ae_speedup x, y;
        ae_speedup(a, n, &x);
        ae_speedup(b, n, &y);
        near_to(x.s, y.s);
        near_to(x.published, y.published);
        for (size_t i = 0; i < n; i++)
            b[i].call_ns /= 2; /* twice as fast */
        ae_speedup(b, n, &y);
        near_to(2 * x.s, y.s);
        const struct ae_interval interval = ae_speedup_interval(a, n);
        if (interval.kind != AE_INTERVAL_NONE)
            assert_true(interval.low <= x.s * (1 + 1e-12) && x.s <= interval.high * (1 + 1e-12));
    }
}

/* Trials within instances: scatter between instances does not widen the interval. */
static void speedup_resamples_within_instances(void **state)
{
    (void)state;
    struct ae_timing timings[16];
    for (int i = 0; i < 16; i++)
        timings[i] = (struct ae_timing){i / 4, i / 4 < 2 ? 1e3 : 1e6, 100 + i % 4};
    const struct ae_interval got = ae_speedup_interval(timings, 16);
    assert_int_equal(got.kind, AE_INTERVAL_95);
    assert_true(got.high / got.low < 1.03);
}

static void metrics(void **state)
{
    (void)state;
    const struct ae_score scores[] = {
        {true, 4, 8, 0}, {true, 0.25, 0.25, 0}, {false, NAN, 10, 1}, {true, 100, 100, 1}, {true, NAN, 3, 2},
    };
    near_to(ae_coverage(scores, 5), 0.8);
    near_to(ae_gm(scores, 5), pow(100, 1. / 3));
    near_to(ae_fast(scores, 5, 1), 0.4);
    near_to(ae_fast(scores, 5, 4), 0.4);
    near_to(ae_fast(scores, 5, 4.001), 0.2);
    near_to(ae_fast(scores, 5, 100), 0.2);
    near_to(ae_par(&scores[0]), 0.5);
    assert_true(isnan(ae_par(&scores[2])));
    near_to(ae_par_gm(scores, 5), pow(0.5, 1. / 3));
    near_to(ae_user_gm(scores, 5), pow(400, 1. / 5));
    near_to(ae_to_yardstick(3, 4), 0.75);
    assert_true(isnan(ae_to_yardstick(3, NAN)));
    assert_true(isnan(ae_coverage(scores, 0)) && isnan(ae_gm(&scores[2], 1)) && isnan(ae_user_gm(scores, 0)));
    near_to(ae_user_gm(&scores[2], 1), 1);
}

/* H02: the headline must not fall when one more task is passed. GM may, which is why it is never shown alone. */
static void one_more_task_never_hurts(void **state)
{
    (void)state;
    struct ae_rng rng;
    ae_rng_seed(&rng, 5, 0);
    int gm_fell = 0;
    for (int round = 0; round < 500; round++) {
        struct ae_score scores[12];
        const size_t n = (size_t)ae_rng_range(&rng, 1, 12);
        for (size_t i = 0; i < n; i++)
            scores[i] = (struct ae_score){ae_rng_chance(&rng, 0.5), ae_rng_log_uniform(&rng, 0.01, 1000), NAN, 0};
        const size_t one = (size_t)ae_rng_below64(&rng, n);
        scores[one].passed = false;
        const double user = ae_user_gm(scores, n), coverage = ae_coverage(scores, n), gm = ae_gm(scores, n);
        const double fast = ae_fast(scores, n, 2);
        scores[one].passed = true;
        assert_true(ae_user_gm(scores, n) >= user);
        assert_true(ae_coverage(scores, n) > coverage);
        assert_true(ae_fast(scores, n, 2) >= fast);
        gm_fell += ae_gm(scores, n) < gm;
        const double before = ae_user_gm(scores, n);
        scores[one].s *= 1.5;
        assert_true(ae_user_gm(scores, n) >= before);
    }
    assert_true(gm_fell > 0);
}

/* What must not matter does not, and what must matter does so in its own measure. */
static void metric_invariances(void **state)
{
    (void)state;
    struct ae_rng rng;
    ae_rng_seed(&rng, 9, 0);
    for (int round = 0; round < 300; round++) {
        struct ae_score scores[20], turned[20], scaled[20];
        const size_t n = (size_t)ae_rng_range(&rng, 1, 20);
        for (size_t i = 0; i < n; i++) {
            const double s = ae_rng_log_uniform(&rng, 0.01, 1000);
            scores[i] = (struct ae_score){ae_rng_chance(&rng, 0.7), s,
                                          s * ae_rng_log_uniform(&rng, 1, 50), (int)(i % 4)};
            scaled[i] = scores[i];
            scaled[i].s *= 3;
            scaled[i].best *= 3;
        }
        for (size_t i = 0; i < n; i++)
            turned[i] = scores[n - 1 - i];
        const size_t passed = (size_t)lround(ae_coverage(scores, n) * (double)n);
        /* the order of the tasks is nothing, for intervals neither */
        near_to(ae_user_gm(turned, n), ae_user_gm(scores, n));
        if (passed > 0) {
            near_to(ae_gm(turned, n), ae_gm(scores, n));
            near_to(ae_par_gm(turned, n), ae_par_gm(scores, n));
            /* a slower reference for all scales GM and leaves shares of the best as they are */
            near_to(ae_gm(scaled, n), 3 * ae_gm(scores, n));
            near_to(ae_par_gm(scaled, n), ae_par_gm(scores, n));
            assert_true(ae_par_gm(scores, n) <= 1 && ae_par_gm(scores, n) > 0);
        }
        const struct ae_interval a = ae_user_gm_tasks_interval(scores, n, 1),
                                 b = ae_user_gm_tasks_interval(turned, n, 1);
        assert_int_equal(a.kind, b.kind);
        if (a.kind != AE_INTERVAL_NONE) {
            near_to(b.low, a.low);
            near_to(b.high, a.high);
        }
        const struct ae_interval par = ae_par_gm_tasks_interval(scores, n, 1);
        if (par.kind != AE_INTERVAL_NONE)
            assert_true(par.low <= ae_par_gm(scores, n) * (1 + 1e-9) &&
                        ae_par_gm(scores, n) <= par.high * (1 + 1e-9) && par.high <= 1 + 1e-9);
        /* fast_p falls with p, and counts no more than what passed */
        double last = ae_coverage(scores, n);
        for (double p = 0.001; p < 2000; p *= 2) {
            assert_true(ae_fast(scores, n, p) <= last);
            last = ae_fast(scores, n, p);
        }
        near_to(ae_fast(scaled, n, 6), ae_fast(scores, n, 2));
        /* user_GM by its definition */
        double log_sum = 0;
        for (size_t i = 0; i < n; i++)
            log_sum += scores[i].passed && scores[i].s > 1 ? log(scores[i].s) : 0;
        near_to(ae_user_gm(scores, n), exp(log_sum / (double)n));
    }
}

static void tasks_intervals(void **state)
{
    (void)state;
    struct ae_score scores[42];
    for (int i = 0; i < 42; i++)
        scores[i] = (struct ae_score){i % 6 != 0, exp(i % 5), NAN, i % 7};
    const struct ae_interval gm = ae_gm_tasks_interval(scores, 42, 1),
                             user = ae_user_gm_tasks_interval(scores, 42, 1),
                             coverage = ae_coverage_tasks_interval(scores, 42, 1);
    assert_int_equal(gm.kind, AE_INTERVAL_95);
    assert_true(gm.low < ae_gm(scores, 42) && ae_gm(scores, 42) < gm.high);
    assert_true(user.low < ae_user_gm(scores, 42) && ae_user_gm(scores, 42) < user.high && user.low >= 1);
    assert_true(coverage.low < ae_coverage(scores, 42) && ae_coverage(scores, 42) < coverage.high &&
                coverage.high <= 1);
    /* Scatter between domains does not count, and lonely domains are pooled. */
    for (int i = 0; i < 42; i++)
        scores[i] = (struct ae_score){true, i < 21 ? 2 : 200, NAN, i < 21};
    near_to(ae_gm_tasks_interval(scores, 42, 1).low, 20);
    near_to(ae_gm_tasks_interval(scores, 42, 1).high, 20);
    for (int i = 0; i < 42; i++)
        scores[i].domain = i;
    assert_true(ae_gm_tasks_interval(scores, 42, 1).low < 15);
    assert_int_equal(ae_gm_tasks_interval(scores, 1, 1).kind, AE_INTERVAL_NONE);
    assert_int_equal(ae_gm_tasks_interval(scores, 0, 1).kind, AE_INTERVAL_NONE);
}

static void rank_correlations(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5}, same[] = {10, 200, 201, 1e6, 1e9}, reverse[] = {5, 4, 3, 2, 1};
    const double swapped[] = {2, 1, 3, 4, 5}, ties[] = {1, 1, 2, 3, 3}, flat[] = {7, 7, 7, 7, 7}, unknown[] = {1, 2, NAN, 4, 5};
    near_to(ae_rank_correlation(x, same, 5), 1);
    near_to(ae_rank_correlation(x, reverse, 5), -1);
    near_to(ae_rank_correlation(x, swapped, 5), 1 - 6. * 2 / (5 * 24)); /* 1 - 6 sum d^2 / (n (n^2 - 1)) */
    near_to(ae_rank_correlation(x, ties, 5), 9 / sqrt(10 * 9)); /* ranks 1.5 1.5 3 4.5 4.5 */
    assert_true(isnan(ae_rank_correlation(x, flat, 5)) && isnan(ae_rank_correlation(x, unknown, 5)));
    assert_true(isnan(ae_rank_correlation(x, same, 2)));
}

static double choose(size_t n, size_t k)
{
    double c = 1;
    for (size_t i = 1; i <= k; i++)
        c = c * (double)(n - k + i) / (double)i;
    return k <= n ? c : 0;
}

static void samples(void **state)
{
    (void)state;
    near_to(ae_pass_at_k(5, 2, 1), 0.4);
    near_to(ae_pass_at_k(5, 2, 2), 1 - 3. / 10);
    near_to(ae_pass_at_k(5, 2, 4), 1);
    near_to(ae_pass_at_k(5, 0, 3), 0);
    near_to(ae_pass_at_k(1, 1, 1), 1);
    assert_true(isnan(ae_pass_at_k(5, 2, 6)) && isnan(ae_pass_at_k(5, 2, 0)) && isnan(ae_pass_at_k(1, 2, 1)));
    for (size_t n = 1; n < 12; n++)
        for (size_t c = 0; c <= n; c++)
            for (size_t k = 1; k <= n; k++)
                near_to(ae_pass_at_k(n, c, k), 1 - (n - c >= k ? choose(n - c, k) / choose(n, k) : 0));

    const double speeds[] = {1, 1, 4, 16};
    near_to(ae_best_at_k(speeds, 4, 1), ae_geometric_mean(speeds, 4));
    near_to(ae_best_at_k(speeds, 4, 4), 16);
    near_to(ae_best_at_k(speeds, 4, 2), pow(1. * 4 * 4 * 16 * 16 * 16, 1. / 6)); /* the six pairs */
    assert_true(isnan(ae_best_at_k(speeds, 4, 5)));
    for (size_t k = 2; k <= 4; k++)
        assert_true(ae_best_at_k(speeds, 4, k) >= ae_best_at_k(speeds, 4, k - 1));
}

static void comparisons(void **state)
{
    (void)state;
    struct ae_comparison got;
    double logs[8];
    struct ae_rng rng;
    ae_rng_seed(&rng, 1, 0);
    static const struct {
        double mean, noise;
        size_t count;
        enum ae_relation expected;
    } cases[] = {
        {0.1, 0.01, 8, AE_FASTER},  {-0.1, 0.01, 8, AE_SLOWER}, {0.0, 0.002, 8, AE_SAME},
        {0.0, 0.2, 8, AE_UNCLEAR},  {0.005, 1e-4, 8, AE_SAME},  {0.1, 0.01, 4, AE_FASTER},
        {0.1, 0.01, 2, AE_UNCLEAR}, {3, 0.01, 1, AE_UNCLEAR},   {0.02, 0.02, 8, AE_UNCLEAR},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t i = 0; i < cases[c].count; i++) /* alternating, so that no case hangs on luck */
            logs[i] = cases[c].mean + (i % 2 ? 1 : -1) * cases[c].noise * (1 + ae_rng_unit(&rng));
        ae_compare_pairs(logs, cases[c].count, AE_SAME_MARGIN, 1, &got);
        if (got.relation != cases[c].expected)
            fail_msg("case %zu: %s [%g, %g]", c, ae_relation_name(got.relation), got.interval.low,
                     got.interval.high);
        assert_int_equal(got.pairs, cases[c].count);
        /* turned round */
        const struct ae_comparison before = got;
        for (size_t i = 0; i < cases[c].count; i++)
            logs[i] = -logs[i];
        ae_compare_pairs(logs, cases[c].count, AE_SAME_MARGIN, 1, &got);
        near_to(got.ratio * before.ratio, 1);
        if (before.relation == AE_FASTER)
            assert_int_equal(got.relation, AE_SLOWER);
    }
    ae_compare_pairs(NULL, 0, AE_SAME_MARGIN, 1, &got);
    assert_int_equal(got.relation, AE_UNCLEAR);
    assert_true(isnan(got.ratio));

    const double a[] = {2.0, 2.01, 1.99, 2.02, 1.98, 2.0}, b[] = {1.0, 1.01, 0.99, 1.0};
    struct ae_stratum both[] = {{a, 6, 1}, {b, 4, -1}};
    ae_compare_strata(both, 2, AE_SAME_MARGIN, 1, &got);
    assert_int_equal(got.relation, AE_FASTER);
    near_to(got.ratio, exp(1));
    assert_int_equal(got.pairs, 0);
    both[1].count = 1;
    ae_compare_strata(both, 2, AE_SAME_MARGIN, 1, &got);
    assert_int_equal(got.relation, AE_UNCLEAR);
    ae_compare_strata(both, 0, AE_SAME_MARGIN, 1, &got);
    assert_int_equal(got.relation, AE_UNCLEAR);
}

/* Two equal entrants are called faster or slower in at most 1 of 20 comparisons. */
static void equal_entrants_rarely_differ(void **state)
{
    (void)state;
    struct ae_rng rng;
    ae_rng_seed(&rng, 23, 0);
    int wrong = 0;
    const int rounds = 600;
    for (int r = 0; r < rounds; r++) {
        double logs[8];
        for (int i = 0; i < 8; i++)
            logs[i] = 0.1 * ae_rng_normal(&rng);
        struct ae_comparison got;
        ae_compare_pairs(logs, 8, AE_SAME_MARGIN, (uint64_t)r, &got);
        wrong += got.relation == AE_FASTER || got.relation == AE_SLOWER;
    }
    if (wrong > rounds * 8 / 100)
        fail_msg("%d of %d", wrong, rounds);
}

static void sign_flips(void **state)
{
    (void)state;
    const double same[] = {1, 1, 1, 1}, mixed[] = {3, -1, 2}, none[] = {1, -1};
    near_to(ae_sign_flip(same, 4, 1), 2.0 / 16);  /* all of one sign: two patterns of sixteen */
    near_to(ae_sign_flip(mixed, 3, 1), 4.0 / 8);  /* 3+1+2, 3-1+2 and their mirrors reach |4| */
    near_to(ae_sign_flip(none, 2, 1), 1);
    assert_true(isnan(ae_sign_flip(none, 0, 1)));
    double many[40];
    for (size_t i = 0; i < 40; i++)
        many[i] = 1;
    near_to(ae_sign_flip(many, 40, 1), 1.0 / 20001); /* none of the drawn patterns is as extreme */
    for (size_t i = 0; i < 40; i++)
        many[i] = i % 2 ? 1 : -1;
    near_to(ae_sign_flip(many, 40, 1), 1);
}

static void step_up(void **state)
{
    (void)state;
    /* The example of Benjamini & Hochberg (1995), section 3: 15 p-values, of which four are found at 5 %. */
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    double q[15];
    ae_benjamini_hochberg(p, q, 15);
    size_t found = 0;
    for (size_t i = 0; i < 15; i++)
        found += q[i] <= 0.05;
    assert_int_equal(found, 4);
    near_to(q[0], 0.0015);
    near_to(q[14], 1);
    const double holes[] = {0.04, NAN, 0.01};
    ae_benjamini_hochberg(holes, q, 3);
    near_to(q[0], 0.04);
    assert_true(isnan(q[1]));
    near_to(q[2], 0.02);
}

static void ridge(void **state)
{
    (void)state;
    /* One column: beta = x.y / (x.x + ridge) = (1*2 + 2*3) / (5 + 1). */
    const double x[] = {1, 2}, y[] = {2, 3};
    double beta[2];
    ae_ridge_fit(x, y, 2, 1, 1, beta);
    near_to(beta[0], 8.0 / 6);
    /* Two columns, X'X = ((2,1),(1,2)), X'y = (3,4), ridge 1: ((3,1),(1,3)) beta = (3,4): beta = (5/8, 9/8). */
    const double two[] = {1, 0, 1, 1, 0, 1}, goal[] = {2, 1, 3};
    ae_ridge_fit(two, goal, 3, 2, 1, beta);
    near_to(beta[0], 5.0 / 8);
    near_to(beta[1], 9.0 / 8);
}

static void agreement(void **state)
{
    (void)state;
    near_to(ae_kappa(20, 5, 10, 15), 0.4); /* agreed 0.7, by chance 0.5 */
    near_to(ae_kappa(5, 0, 0, 5), 1);
    assert_true(isnan(ae_kappa(0, 0, 0, 0)));
    assert_true(isnan(ae_kappa(9, 0, 0, 0)));
    const struct ae_traited rows[] = {{0, 0, 3, 3}, {0, 0, 1, 3}, {1, 0, 2, 3}, {1, 0, 3, 1}};
    near_to(ae_jaccard(rows, 4, 0, 1), 1.0 / 3); /* the last one does not count: trait 1 is not known of it */
    assert_true(isnan(ae_jaccard(rows, 0, 0, 1)));
}

/* Trait 0 doubles the speed, trait 1 comes with it half of the time, trait 2 does nothing, trait 3 is never known. */
static void attribution(void **state)
{
    (void)state;
    struct ae_rng rng;
    ae_rng_seed(&rng, 5, 0);
    struct ae_traited rows[30 * 6];
    for (int i = 0; i < 180; i++) {
        const bool zero = ae_rng_chance(&rng, 0.5), one = zero && ae_rng_chance(&rng, 0.5),
                   two = ae_rng_chance(&rng, 0.5);
        rows[i] = (struct ae_traited){.task = i / 6, .known = 7, .has = (uint64_t)zero | (uint64_t)one << 1 | (uint64_t)two << 2};
        rows[i].log_speed = (i / 6) * 0.3 + (zero ? log(2) : 0) + 0.1 * ae_rng_normal(&rng);
    }
    struct ae_error err = {0};
    struct ae_attribution a, mirrored;
    assert_int_equal(ae_attribute(rows, 180, 4, &a, &err), 0);
    assert_int_equal(a.tasks, 30);
    assert_true(fabs(a.worth[0].lift - 2) < 0.1 && a.worth[0].interval.low > 1.8 && a.worth[0].q < 0.01);
    assert_true(a.worth[1].lift > 1.2);                          /* goes with speed... */
    assert_true(fabs(a.worth[1].effect - 1) < 0.1);              /* ...but is worth nothing beside trait 0 */
    assert_true(fabs(a.worth[0].effect - 2) < 0.15 && a.worth[0].effect_interval.low > 1.7);
    assert_true(fabs(a.worth[2].lift - 1) < 0.15 && a.worth[2].q > 0.05);
    assert_true(a.worth[0].winner_share > a.worth[0].other_share + 0.3);
    assert_int_equal(a.worth[3].pairs, 0);
    assert_true(isnan(a.worth[3].lift) && isnan(a.worth[3].p) && isnan(a.worth[3].effect));
    assert_true(a.explained > 0.8);
    /* The order of the rows does not matter. */
    for (size_t i = 0; i < 90; i++) {
        const struct ae_traited kept = rows[i];
        rows[i] = rows[179 - i];
        rows[179 - i] = kept;
    }
    assert_int_equal(ae_attribute(rows, 180, 4, &mirrored, &err), 0);
    assert_memory_equal(&a.worth[0], &mirrored.worth[0], sizeof a.worth[0]);
    /* Without the regression the rest stays. */
    assert_int_equal(ae_attribute_lifts(rows, 180, 4, &mirrored, &err), 0);
    assert_true(isnan(mirrored.worth[0].effect) && isnan(mirrored.explained) && mirrored.programs == a.programs);
    for (int k = 0; k < 3; k++)
        assert_true(mirrored.worth[k].lift == a.worth[k].lift && mirrored.worth[k].interval.low == a.worth[k].interval.low &&
                    mirrored.worth[k].q == a.worth[k].q && mirrored.worth[k].winner_share == a.worth[k].winner_share);
    /* Ten tasks cannot tell: no p-value; none at all: nothing. */
    assert_int_equal(ae_attribute(rows, 60, 4, &a, &err), 0);
    assert_true(isnan(a.worth[0].p) && isnan(a.worth[0].q) && a.worth[0].lift > 1.7);
    assert_int_equal(ae_attribute(rows, 0, 4, &a, &err), 0);
    assert_int_equal(a.tasks, 0);
    assert_true(isnan(a.worth[0].lift) && isnan(a.explained));
}

/* --- recommendation --- */

#define SEEN_TASKS 24

/* Trait 0 pays where feature 0 is high and trait 1 where it is low; trait 2 always gains 1.2; trait 3 was never
 * measured. Feature 1 is noise. */
static void two_worlds(double *feature, double *gain, double *weight, bool told)
{
    struct ae_rng rng;
    ae_rng_seed(&rng, 9, 0);
    for (int t = 0; t < SEEN_TASKS; t++) {
        const bool high = ae_rng_chance(&rng, 0.5);
        feature[2 * t] = (told ? high : ae_rng_chance(&rng, 0.5)) + 0.05 * ae_rng_normal(&rng);
        feature[2 * t + 1] = ae_rng_normal(&rng);
        gain[4 * t] = log(high ? 4 : 1.1) + 0.02 * ae_rng_normal(&rng);
        gain[4 * t + 1] = log(high ? 1.0 : 4) + 0.02 * ae_rng_normal(&rng);
        gain[4 * t + 2] = log(1.2);
        gain[4 * t + 3] = NAN;
        for (int k = 0; k < 4; k++)
            weight[4 * t + k] = 1;
    }
}

static void likeness_recommends(void **state)
{
    (void)state;
    double feature[2 * SEEN_TASKS], gain[4 * SEEN_TASKS], weight[4 * SEEN_TASKS];
    struct ae_error err = {0};
    struct ae_forecast f[4], again[4];
    struct ae_recommend_model model;
    struct ae_hits hits[2];
    const int first[] = {1, 2};
    const struct ae_gain_base base = {SEEN_TASKS, 2, 4, feature, gain, weight, 0.5};
    int order[4];
    two_worlds(feature, gain, weight, true);
    for (size_t t = 0; t < SEEN_TASKS; t++) {
        const int right = gain[4 * t] > gain[4 * t + 1] ? 0 : 1;
        assert_int_equal(ae_recommend(&base, t, f, &model, &err), AE_OK);
        assert_int_equal(ae_recommend_order(f, 4, false, order), 3);
        assert_int_equal(order[0], right);
        assert_true(exp(f[right].log_gain) > 2.5 && exp(f[right].log_gain) < 5);
        assert_true(exp(f[1 - right].log_gain) < 1.9);
        assert_int_equal(f[3].tasks, 0);
        assert_int_equal(f[0].neighbour_count, AE_NEIGHBOURS_MAX);
        for (int i = 0; i < AE_NEIGHBOURS_MAX; i++)
            assert_true(f[0].neighbours[i] != (int)t);
        /* Its own gains are never looked at. */
        const double kept = gain[4 * t + right];
        gain[4 * t + right] = -100;
        assert_int_equal(ae_recommend(&base, t, again, &model, &err), AE_OK);
        gain[4 * t + right] = kept;
        for (int k = 0; k < 4; k++)
            assert_true(again[k].log_gain == f[k].log_gain && again[k].overall == f[k].overall);
    }
    assert_int_equal(ae_recommend_evaluate(&base, first, 2, hits, &err), AE_OK);
    assert_int_equal(hits[0].tasks, SEEN_TASKS);
    near_to(hits[0].hit, 1);
    near_to(hits[0].regret, 1);
    near_to(hits[0].chance, 1.0 / 3);
    near_to(hits[1].chance, 2.0 / 3);
    assert_true(hits[0].overall_hit < 0.8 && hits[0].overall_regret > 1.3);
    assert_true(ae_hits_beat(&hits[0]));
    /* What counts too little is learnt from, and is no truth to be judged by. */
    for (int i = 0; i < 4 * SEEN_TASKS; i++)
        weight[i] = i < 4 * 10 ? 1 : 0.25;
    assert_int_equal(ae_recommend_evaluate(&base, first, 2, hits, &err), AE_OK);
    assert_int_equal(hits[0].tasks, 10);
}

/* Features that have nothing to do with the gains: nothing is won, and it is not claimed. */
static void noise_recommends_nothing(void **state)
{
    (void)state;
    double feature[2 * SEEN_TASKS], gain[4 * SEEN_TASKS], weight[4 * SEEN_TASKS];
    struct ae_error err = {0};
    struct ae_hits hits;
    const struct ae_gain_base base = {SEEN_TASKS, 2, 4, feature, gain, weight, 0.5};
    two_worlds(feature, gain, weight, false);
    assert_int_equal(ae_recommend_evaluate(&base, &(int){1}, 1, &hits, &err), AE_OK);
    assert_int_equal(hits.tasks, SEEN_TASKS);
    assert_false(ae_hits_beat(&hits));
}

/* Two gains of 2 and the task that draws towards nothing: 2^(2/3). One task of half the weight less: 2^(1.5/2.5). */
static void overall_by_hand(void **state)
{
    (void)state;
    double gain[] = {log(2), log(2), NAN}, weight[] = {1, 1, 1}, feature[] = {1, NAN, 2};
    const struct ae_gain_base base = {3, 1, 1, feature, gain, weight, 0};
    struct ae_error err = {0};
    struct ae_forecast f;
    struct ae_recommend_model model;
    struct ae_hits hits;
    assert_int_equal(ae_recommend(&base, 2, &f, &model, &err), AE_OK);
    assert_int_equal(f.tasks, 2);
    near_to(exp(f.overall), pow(2, 2.0 / 3));
    weight[0] = 0.5;
    assert_int_equal(ae_recommend(&base, 2, &f, &model, &err), AE_OK);
    near_to(exp(f.overall), pow(2, 1.5 / 2.5));
    assert_int_equal(f.neighbour_count, 1); /* the other's feature is not known */
    /* Nobody measured two: nobody can be ranked. */
    assert_int_equal(ae_recommend_evaluate(&base, &(int){1}, 1, &hits, &err), AE_OK);
    assert_int_equal(hits.tasks, 0);
    assert_true(isnan(hits.hit) && isnan(hits.regret) && isnan(hits.p));
    assert_false(ae_hits_beat(&hits));
    const struct ae_gain_base none = {0, 1, 1, feature, gain, weight, 0};
    assert_int_equal(ae_recommend_evaluate(&none, &(int){1}, 1, &hits, &err), AE_OK);
    assert_int_equal(hits.tasks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sign_flips), cmocka_unit_test(step_up), cmocka_unit_test(ridge),
        cmocka_unit_test(likeness_recommends), cmocka_unit_test(noise_recommends_nothing), cmocka_unit_test(overall_by_hand),
        cmocka_unit_test(agreement), cmocka_unit_test(attribution), cmocka_unit_test(medians),
        cmocka_unit_test(median_intervals),
        cmocka_unit_test(geometric_means),
        cmocka_unit_test(bootstrap_covers),
        cmocka_unit_test(bootstrap_properties),
        cmocka_unit_test(speedups),
        cmocka_unit_test(speedup_invariances),
        cmocka_unit_test(speedup_resamples_within_instances),
        cmocka_unit_test(metrics),
        cmocka_unit_test(one_more_task_never_hurts),
        cmocka_unit_test(rank_correlations),
        cmocka_unit_test(metric_invariances),
        cmocka_unit_test(tasks_intervals),
        cmocka_unit_test(samples),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(equal_entrants_rarely_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
