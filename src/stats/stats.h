/* Estimators: pure functions of numbers, no clock, no store. Times are compared on logarithms, because ratios are.
 * Unknown is NaN, never 0; randomness is seeded, so the same values give the same intervals. */
#ifndef AE_STATS_STATS_H
#define AE_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ae_interval_kind {
    AE_INTERVAL_NONE,  /* too few values to say anything; low and high are NaN */
    AE_INTERVAL_RANGE, /* smallest and largest: too few values for a confidence level */
    AE_INTERVAL_95,    /* 95 % confidence */
};

struct ae_interval {
    enum ae_interval_kind kind;
    double low, high;
};

/* "", "range", "95%". */
const char *ae_interval_kind_name(enum ae_interval_kind kind);
/* exp() of both ends. */
struct ae_interval ae_interval_exp(struct ae_interval interval);

/* Values a confidence interval needs; fewer show their range. With 5 values the whole range covers the median with
 * 1 - 2 * 0.5^5 = 93.75 % only. */
#define AE_INTERVAL_MIN 6

/* Ascending; no NaN among them. */
void ae_sort(double *values, size_t count);
/* Of ascending values; the mean of the middle two where count is even; NaN where count is 0. */
double ae_median(const double *sorted, size_t count);
/* By order statistics (Conover, "Practical Nonparametric Statistics", 3.2): from the k-th smallest to the k-th
 * largest value with the largest k for which 2 * P(Binomial(count, 1/2) < k) <= 5 %. Assumes nothing about the
 * distribution. */
struct ae_interval ae_median_interval(const double *sorted, size_t count);

double ae_mean(const double *values, size_t count); /* NaN where count is 0 */
/* exp(mean(log)); NaN where count is 0 or a value is not above 0. */
double ae_geometric_mean(const double *values, size_t count);

/* --- bootstrap ------------------------------------------------------------------------------------------ */

#define AE_BOOTSTRAP_RESAMPLES 1000
#define AE_BOOTSTRAP_SEED      UINT64_C(0x61636365)

/* Values that are exchangeable among themselves, and their weight in the statistic. */
struct ae_stratum {
    const double *values;
    size_t count; /* >= 1 */
    double weight;
};

/* The statistic sum_k weight_k * mean(values_k). */
double ae_strata_mean(const struct ae_stratum *strata, size_t count);

/* 95 % interval of it by resampling with replacement within each stratum (Efron & Tibshirani 1993, ch. 8), with the
 * percentiles moved out for small strata as Hesterberg ("What teachers should know about the bootstrap", 2015,
 * "expanded percentile") proposes: plain percentiles of 8 values cover 90 % where they promise 95. Indices are
 * drawn with a bias below count / 2^16. One stratum of fewer than AE_INTERVAL_MIN values: the range of its values
 * times its weight; no stratum with two values: AE_INTERVAL_NONE. Resamples: AE_BOOTSTRAP_RESAMPLES. */
struct ae_interval ae_bootstrap(const struct ae_stratum *strata, size_t count, uint64_t seed);

/* --- one submission on one task ------------------------------------------------------------------------- */

/* One timed trial that passed. */
struct ae_timing {
    int instance;
    double reference_ns; /* the baseline's median on that instance; 0: not known */
    double call_ns;      /* > 0 */
};

struct ae_speedup {
    double s;         /* geometric mean over instances of t_reference,i / t_submission,i; NaN: not known */
    double published; /* mean(t_reference) / mean(t_submission) over the same trials: the published definition */
    size_t instances, trials; /* that entered s */
    double median_ns;         /* of call_ns over all trials given */
    struct ae_interval median_interval;
    double reference_ns; /* median of the known reference times; NaN: none */
};

/* Most trials of one measurement that enter (a bank has 16 timed instances); further ones are left out. */
#define AE_TIMINGS_MAX 256

/* t_submission,i is the geometric mean of the trials on instance i. */
void ae_speedup(const struct ae_timing *timings, size_t count, struct ae_speedup *ret);

/* Measurement interval of s. Trials are resampled within instances; where an instance has one trial (the usual
 * case: no process sees an instance twice), the log ratios of the instances are themselves the sample, whose
 * scatter contains the noise of the measurement. */
struct ae_interval ae_speedup_interval(const struct ae_timing *timings, size_t count);

/* The log ratios log(t_reference,i / t_submission,i) behind s as strata for ae_bootstrap(), of weight `weight` in
 * all: values (room for count, at most AE_TIMINGS_MAX are used) receives the numbers, strata (the same room) points
 * into it. Returns the number of strata, 0 where no reference time is known. */
size_t ae_speedup_strata(const struct ae_timing *timings, size_t count, double weight, double *values,
                         struct ae_stratum *strata);

/* --- an entrant on N tasks ------------------------------------------------------------------------------ */

struct ae_score {
    bool passed;
    double s;    /* speedup; NaN: failed, or passed without a known speed (counts as s = 1 where failures do) */
    double best; /* the best s of this task in the compared set; NaN: none */
    int domain;  /* any small number; for the choice-of-tasks interval */
};

/* |P| / N; NaN where N is 0. */
double ae_coverage(const struct ae_score *scores, size_t count);
/* GM: geometric mean of s over the passed ones with a known s; NaN: none. Not monotone in passing one more task, so
 * never shown without the coverage. */
double ae_gm(const struct ae_score *scores, size_t count);
/* Share of all N that passed with s >= p. */
double ae_fast(const struct ae_score *scores, size_t count, double p);
/* PAR of one task: s over the best s of that task in the compared set. */
double ae_par(const struct ae_score *score);
/* Geometric mean of PAR over the passed ones; NaN: none. */
double ae_par_gm(const struct ae_score *scores, size_t count);
/* user_GM: geometric mean over all N of max(s, 1), with 1 for a failed task: the user keeps the CPU program where
 * the submission is wrong or slower. Monotone: passing one more task, or a faster one, never lowers it. */
double ae_user_gm(const struct ae_score *scores, size_t count);
/* s over the yardstick's s on the same task; NaN where either is unknown. */
double ae_to_yardstick(double s, double yardstick_s);

/* Choice-of-tasks intervals: tasks are resampled within domains (domains of one task together form one more). They
 * answer "how would it be with other tasks of these kinds", a much wider question than the noise of the clock. */
struct ae_interval ae_gm_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed);
struct ae_interval ae_user_gm_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed);
struct ae_interval ae_coverage_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed);
struct ae_interval ae_par_gm_tasks_interval(const struct ae_score *scores, size_t count, uint64_t seed);

/* Spearman's rank correlation of n pairs, equal values sharing their mean rank; NaN where n < 3, a value is NaN, or all
 * values of one side are equal. */
double ae_rank_correlation(const double *x, const double *y, size_t n);

/* --- k samples ------------------------------------------------------------------------------------------ */

/* pass@k, unbiased: 1 - C(n-c, k) / C(n, k) for n samples of which c passed (Chen et al., "Evaluating large
 * language models trained on code", 2021, eq. 1). NaN where k < 1 or k > n. */
double ae_pass_at_k(size_t n, size_t c, size_t k);
/* best@k of one task: what a user gets who draws k of the n samples at random and keeps the fastest right one, or
 * the CPU program where that is faster: exp of the mean over all C(n, k) subsets of log max(1, s). values: n user
 * speeds, max(s, 1) or 1 for a failed sample, ascending. NaN where k < 1 or k > n. */
double ae_best_at_k(const double *sorted, size_t n, size_t k);

/* --- two entrants on one task --------------------------------------------------------------------------- */

enum ae_relation { AE_UNCLEAR, AE_FASTER, AE_SLOWER, AE_SAME, AE_RELATION_COUNT };

const char *ae_relation_name(enum ae_relation relation);

/* Ratios within 1 % of 1 are "same": the noise target of a measurement. */
#define AE_SAME_MARGIN 0.01
/* A stratum of one value hides its scatter and fewer values in all never give a firm answer. */
#define AE_COMPARE_MIN 3

struct ae_comparison {
    enum ae_relation relation; /* of A to B */
    double ratio;              /* t_B / t_A, geometric mean: above 1, A is faster */
    struct ae_interval interval;
    size_t pairs; /* instances that both were timed on; 0: compared without pairs */
};

/* From strata of log(t_B,i / t_A,i) or, where the two were not timed on the same instances, of the log speedups of
 * A over the reference (weight 1 in all) and of those of B (weight -1): same where the interval lies within 1 +-
 * margin, faster or slower where it lies wholly on one side of 1, else unclear. pairs is left 0. */
void ae_compare_strata(const struct ae_stratum *strata, size_t count, double margin, uint64_t seed,
                       struct ae_comparison *ret);
/* The same for one log ratio an instance. */
void ae_compare_pairs(const double *log_ratios, size_t count, double margin, uint64_t seed,
                      struct ae_comparison *ret);

#endif
