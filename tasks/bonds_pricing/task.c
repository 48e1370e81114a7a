#include "task/published.h"

#include <math.h>

enum { P_BONDS };

enum {
    N,
    ISSUE_YEAR,
    ISSUE_MONTH,
    ISSUE_DAY,
    MATURITY_YEAR,
    MATURITY_MONTH,
    MATURITY_DAY,
    RATES,
    COUPON_FREQ,
    PRICES,
    ARG_COUNT
};

#define YEAR_FIRST 1901
#define YEAR_LAST  2199
#define RATE_MAX   0.3f
#define PRICE_ATOL 2e-5
#define YIELD_ATOL 1e-6
#define COLUMNS    4 /* dirty, accrued, clean, yield */

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of bonds"},
    [ISSUE_YEAR] = {"issue_year", AE_I32, AE_IN, "N", .meaning = "year of issue"},
    [ISSUE_MONTH] = {"issue_month", AE_I32, AE_IN, "N", .meaning = "month of issue, 1 to 12"},
    [ISSUE_DAY] = {"issue_day", AE_I32, AE_IN, "N", .meaning = "day of issue, 1 to 31"},
    [MATURITY_YEAR] = {"maturity_year", AE_I32, AE_IN, "N", .meaning = "year of maturity"},
    [MATURITY_MONTH] = {"maturity_month", AE_I32, AE_IN, "N",
                        .meaning = "month of maturity, 1 to 12"},
    [MATURITY_DAY] = {"maturity_day", AE_I32, AE_IN, "N", .meaning = "day of maturity, 1 to 31"},
    [RATES] = {"rates", AE_F32, AE_IN, "N", "1/year", "coupon rate"},
    [COUPON_FREQ] =
        {"coupon_freq", AE_F32, AE_SCALAR, .unit = "1/year", .published = "coupon_freq_x100",
         .meaning = "compounding frequency of the discount curve; coupons are always half-yearly"},
    [PRICES] =
        {"prices", AE_F32, AE_OUT, "N*4: dirty, accrued, clean, yield",
         "per 100 nominal; yield 1/year", "prices and yield of each bond",
         .rule =
             {AE_SCALED, .rtol = 1e-6,
              .reason =
                  "1e-6 of the value, plus 2e-5 for prices and 1e-6 for the yield: a few units "
                  "in the last place of a float. The yield is a power of about 180, so that it "
                  "needs double; one day more or less in a day count is a hundred times the "
                  "tolerance"}},
};

enum family { BOOK, MONTH_ENDS, BRIEF, CENTURIES, PUBLISHED };

struct date {
    int32_t year, month, day;
};

static bool is_leap(int32_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int32_t month_length(int32_t year, int32_t month)
{
    static const int32_t lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return lengths[month - 1] + (month == 2 && is_leap(year));
}

static int64_t serial(struct date d)
{
    static const int32_t before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const int64_t past = d.year - 1;
    return 365 * past + past / 4 - past / 100 + past / 400 + before[d.month - 1] +
           (d.month > 2 && is_leap(d.year)) + d.day;
}

/* Year, month and day are drawn apart; impossible dates are drawn again. */
static struct date draw_date(struct ae_rng *rng, int first_year, int last_year, int first_day,
                             int last_day)
{
    struct date d;
    do {
        d.year = (int32_t)ae_rng_range(rng, first_year, last_year);
        d.month = (int32_t)ae_rng_range(rng, 1, 12);
        d.day = (int32_t)ae_rng_range(rng, first_day, last_day);
    } while (d.day > month_length(d.year, d.month));
    return d;
}

static struct date next_day(struct date d)
{
    if (++d.day > month_length(d.year, d.month)) {
        d.day = 1;
        if (++d.month > 12) {
            d.month = 1;
            d.year++;
        }
    }
    return d;
}

static void draw_bond(enum family family, struct ae_rng *rng, struct date *issue,
                      struct date *maturity)
{
    do {
        switch (family) {
        case MONTH_ENDS: /* half of them in February or August, where a schedule loses its day */
            *issue = draw_date(rng, 1985, 1999, 27, 31);
            *maturity = draw_date(rng, 2000, 2029, 27, 31);
            if (ae_rng_chance(rng, 0.5)) {
                maturity->month = ae_rng_chance(rng, 0.5) ? 2 : 8;
                const int32_t length = month_length(maturity->year, maturity->month);
                maturity->day = maturity->day < length ? maturity->day : length;
            }
            break;
        case BRIEF: /* two days to a little over half a year */
            *issue = *maturity = draw_date(rng, 1999, 2001, 1, 31);
            for (int64_t days = ae_rng_range(rng, 2, ae_rng_chance(rng, 0.5) ? 5 : 190); days > 0;
                 days--)
                *maturity = next_day(*maturity);
            break;
        case CENTURIES:
            *issue = draw_date(rng, YEAR_FIRST, 2198, 1, 31);
            *maturity = draw_date(rng, issue->year, YEAR_LAST, 1, 31);
            break;
        case PUBLISHED:
            *issue = draw_date(rng, 1998, 1999, 1, 28);
            *maturity = draw_date(rng, 2000, 2001, 1, 28);
            break;
        default:
            *issue = draw_date(rng, 1985, 1999, 1, 31);
            *maturity = draw_date(rng, 2000, 2029, 1, 31);
        }
    } while (serial(*maturity) < serial(*issue) + 2);
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    static const double frequencies[] = {1, 4,
                                         12}; /* not 2: there the dirty price would need no yield */
    const enum family family = (enum family)inst->family;
    int64_t n = inst->param[P_BONDS] - ae_rng_range(rng, 1, 31);
    if (n % 4 == 0)
        n--;
    if (family == CENTURIES || family == BRIEF)
        n = family == BRIEF && inst->seed % 2 ? ae_rng_range(rng, 30, 40)
                                              : ae_rng_range(rng, 4000, 5000);
    ae_set_i32(inst, N, n);
    ae_set_f32(inst, COUPON_FREQ, family == PUBLISHED ? 2 : frequencies[ae_rng_below(rng, 3)]);
    const size_t count = (size_t)n;
    int32_t *dates[MATURITY_DAY - ISSUE_YEAR + 1];
    for (int a = ISSUE_YEAR; a <= MATURITY_DAY; a++)
        if (!(dates[a - ISSUE_YEAR] = ae_new_array(inst, a, count, err)))
            return AE_E_NOMEM;
    float *rates = ae_new_array(inst, RATES, count, err);
    if (!rates)
        return AE_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        struct date issue, maturity;
        draw_bond(family, rng, &issue, &maturity);
        dates[0][i] = issue.year;
        dates[1][i] = issue.month;
        dates[2][i] = issue.day;
        dates[3][i] = maturity.year;
        dates[4][i] = maturity.month;
        dates[5][i] = maturity.day;
        rates[i] =
            (float)ae_rng_uniform(rng, 0, family == BRIEF || family == CENTURIES ? 0.3 : 0.15);
        if (family == MONTH_ENDS && ae_rng_chance(rng, 0.05))
            rates[i] = 0;
    }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, PRICES, COLUMNS * (size_t)inst->scalar[N].i32);
}

static bool date_of(const struct ae_instance *inst, int year_arg, size_t i, struct date *ret)
{
    *ret = (struct date){ae_in_i32(inst, year_arg)[i], ae_in_i32(inst, year_arg + 1)[i],
                         ae_in_i32(inst, year_arg + 2)[i]};
    return ret->year >= YEAR_FIRST && ret->year <= YEAR_LAST && ret->month >= 1 &&
           ret->month <= 12 && ret->day >= 1 && ret->day <= month_length(ret->year, ret->month);
}

static int validate(const struct ae_instance *inst, struct ae_error *err)
{
    const int32_t n = inst->scalar[N].i32;
    const float frequency = inst->scalar[COUPON_FREQ].f32;
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one bond is needed", n);
    if (!isfinite(frequency) || !(frequency > 0))
        return ae_error_set(err, AE_E_INPUT, "coupon_freq is %g", (double)frequency);
    for (int a = ISSUE_YEAR; a <= RATES; a++)
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d bonds", args[a].name,
                                inst->array[a].count, n);
    for (size_t i = 0; i < (size_t)n; i++) {
        struct date issue, maturity;
        if (!date_of(inst, ISSUE_YEAR, i, &issue) || !date_of(inst, MATURITY_YEAR, i, &maturity))
            return ae_error_set(err, AE_E_INPUT,
                                "bond %zu has a date that is none, or outside %d to %d", i,
                                YEAR_FIRST, YEAR_LAST);
        if (serial(maturity) < serial(issue) + 2)
            return ae_error_set(err, AE_E_INPUT,
                                "bond %zu matures less than two days after its issue", i);
        const float rate = ae_in_f32(inst, RATES)[i];
        if (!(rate >= 0 && rate <= RATE_MAX))
            return ae_error_set(err, AE_E_INPUT, "bond %zu has a rate of %g", i, (double)rate);
    }
    return AE_OK;
}

static void tolerance(const struct ae_instance *inst, const struct ae_expected *expected, int arg,
                      size_t first, size_t count, double *tol)
{
    (void)inst;
    (void)expected;
    (void)arg;
    for (size_t i = 0; i < count; i++)
        tol[i] += (first + i) % COLUMNS == COLUMNS - 1 ? YIELD_ATOL : PRICE_ATOL;
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations =
        300.0 * inst->scalar[N].i32; /* two powers in double and some calendar arithmetic */
    w->steps = 1;
}

static int import(const struct ae_published *published, struct ae_instance *inst,
                  struct ae_error *err)
{
    int64_t n, frequency = 0;
    int rc = ae_published_param(published, "N", &n, err);
    if (rc == AE_OK)
        rc = ae_published_param(published, "coupon_freq_x100", &frequency, err);
    if (rc == AE_OK && (n < 1 || n > INT32_MAX || frequency < 1 || frequency > INT32_MAX))
        rc = ae_error_set(err, AE_E_INPUT, "input.bin: N = %lld, coupon_freq_x100 = %lld",
                          (long long)n, (long long)frequency);
    if (rc != AE_OK)
        return rc;
    ae_set_i32(inst, N, n);
    inst->scalar[COUPON_FREQ].f32 = (float)frequency / 100.0f;
    for (int a = ISSUE_YEAR; rc == AE_OK && a <= RATES; a++)
        rc = ae_published_copy(published, args[a].name, inst, a, n, err);
    return rc;
}

const struct ae_task ae_task_bonds_pricing = {
    .id = "bonds_pricing",
    .title = "Yield, price and accrued interest of fixed-rate bonds",
    .domain = AE_FINANCE,
    .lineage = "FinanceBench (Grauer-Gray et al.), after QuantLib's fixed-rate bonds and "
               "safeguarded Newton yield",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N"},
    .sizes = {[AE_SMALL] = {{100000}}, [AE_MEDIUM] = {{500000}}, [AE_LARGE] = {{2000000}}},
    .families =
        {{"book", "any day of the month, up to 45 years of coupons, a curve of another frequency",
          AE_ALL_SIZES},
         {"month_ends",
          "maturities on days 27 to 31: schedules that lose their day, settlement on the last "
          "coupon or after it, yields that nothing determines",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"brief",
          "two days to half a year from issue to maturity: the first period begins before the "
          "issue",
          AE_AT(AE_SMALL)},
         {"centuries", "years 1901 to 2199, leap rules of 2000 and 2100", AE_AT(AE_SMALL)},
         {"published", "days 1 to 28 and a half-yearly curve, as the published data have",
          AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 1e-4,
    .published_note = "published curves are half-yearly and days end at 28, so that the dirty "
                      "price needs no yield",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
    .import = import,
};
