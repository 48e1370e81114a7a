/* What traits of programs (strategies) go with speed: numbers over (task, log speedup, set of traits). Association, not
 * cause: who uses one strategy often uses three. Everything is seeded, so the same rows give the same numbers. */
#ifndef AE_STATS_ATTRIBUTION_H
#define AE_STATS_ATTRIBUTION_H

#include "base/error.h"
#include "stats/stats.h"

#define AE_TRAITS_MAX 64

/* A program that is right. */
struct ae_traited {
    int task;            /* any number; programs of one task share it */
    double log_speed;    /* natural logarithm of the speedup; finite */
    uint64_t has, known; /* bit k: it has trait k; that is known. has is looked at where known only */
};

/* Tasks with programs of both kinds below which a lift gets no p-value: eleven differences of one sign have p = 0.001,
 * and fewer could not survive the correction for 43 questions. */
#define AE_PAIRS_MIN 11

struct ae_trait_worth {
    size_t with, without; /* programs known to have it, known not to */

    /* Winner selectivity. Winners: the fastest program of each task that has two or more. */
    size_t winners_with, winners; /* of the winners for which it is known */
    double winner_share, other_share; /* who has it, among winners and among the others of those tasks; NaN: nobody */

    /* Within-task lift: geometric mean, over the tasks that have programs with and without it, of
     * (geometric mean speed with) / (geometric mean speed without). */
    size_t pairs;
    double lift; /* NaN where pairs is 0 */
    struct ae_interval interval; /* over the choice of tasks */
    double p; /* two-sided, by flipping the signs of the tasks' log ratios; NaN below AE_PAIRS_MIN pairs */
    double q; /* p after Benjamini & Hochberg (1995) over the traits that have one; NaN likewise */

    /* exp of the coefficient in a ridge regression of log speed on all traits with task effects: what it is worth beside
     * the others. NaN where no task has programs of both kinds. */
    double effect;
    struct ae_interval effect_interval; /* tasks resampled */
};

struct ae_attribution {
    size_t programs, tasks;     /* of tasks with two or more programs: only these tell anything */
    double ridge;               /* penalty, chosen by leaving out one task at a time */
    double explained;           /* share of the variance within tasks that the left-out predictions explain; may be
                                 * below 0: then the regression knows nothing */
    struct ae_trait_worth worth[AE_TRAITS_MAX];
};

/* traits: at most AE_TRAITS_MAX. AE_E_NOMEM. */
int ae_attribute(const struct ae_traited *rows, size_t count, int traits, struct ae_attribution *ret,
                 struct ae_error *err);

/* The same without the regression, whose time grows with the programs: ridge, explained and the effects are NaN. */
int ae_attribute_lifts(const struct ae_traited *rows, size_t count, int traits, struct ae_attribution *ret,
                       struct ae_error *err);

/* |A and B| / |A or B| over the rows in which both are known; NaN where nobody has either. */
double ae_jaccard(const struct ae_traited *rows, size_t count, int a, int b);

/* Two-sided p of mean(differences) != 0: the share of sign patterns whose |mean| is at least as large; all 2^n of them
 * up to n = 16, else 20 000 drawn ones, the given one counted in (Phipson & Smyth 2010). NaN where n is 0. */
double ae_sign_flip(const double *differences, size_t n, uint64_t seed);

/* Benjamini & Hochberg's step-up: q[i] = min over p_j >= p_i of p_j * n / rank_j. NaN stay NaN and do not count. */
void ae_benjamini_hochberg(const double *p, double *q, size_t n);

/* Ridge regression without intercept: beta = (X'X + ridge * I)^-1 X'y. x: rows * columns, row by row; columns <=
 * AE_TRAITS_MAX, ridge > 0. Columns of zeros get 0. */
void ae_ridge_fit(const double *x, const double *y, size_t rows, int columns, double ridge, double *beta);

/* Cohen's kappa of two raters' yes and no: both said yes, only the first, only the second, neither. NaN without
 * cases, or where both always say the same one thing. */
double ae_kappa(size_t both, size_t first, size_t second, size_t neither);

#endif
