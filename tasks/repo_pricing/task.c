#include "task/task.h"

#include <math.h>

enum { P_CONTRACTS };

enum {
    N,
    SETTLE_YEAR,
    SETTLE_MONTH,
    SETTLE_DAY,
    DELIVERY_YEAR,
    DELIVERY_MONTH,
    DELIVERY_DAY,
    ISSUE_YEAR,
    ISSUE_MONTH,
    ISSUE_DAY,
    MATURITY_YEAR,
    MATURITY_MONTH,
    MATURITY_DAY,
    BOND_RATES,
    REPO_RATES,
    CLEAN_PRICES,
    STRIKES,
    PRICES,
    ARG_COUNT
};

#define YEAR_FIRST 1901
#define YEAR_LAST  2199
#define RATE_MAX   0.3f
#define RESULTS    12

/* Absolute tolerances of the twelve results; 6 is a difference that crosses zero, 9 to 11 are
 * rates. */
static const double atol_of[RESULTS] = {3e-5, 3e-5, 3e-5, 3e-5, 3e-5, 3e-5,
                                        1e-4, 3e-5, 3e-5, 5e-6, 2e-6, 2e-6};

static const struct ae_arg args[ARG_COUNT] = {
    [N] = {"N", AE_I32, AE_SCALAR, .meaning = "number of contracts"},
    [SETTLE_YEAR] = {"settle_year", AE_I32, AE_IN, "N", .meaning = "year of settlement"},
    [SETTLE_MONTH] = {"settle_month", AE_I32, AE_IN, "N",
                      .meaning = "month of settlement, 1 to 12"},
    [SETTLE_DAY] = {"settle_day", AE_I32, AE_IN, "N", .meaning = "day of settlement, 1 to 31"},
    [DELIVERY_YEAR] = {"delivery_year", AE_I32, AE_IN, "N",
                       .meaning = "year of delivery, the repurchase"},
    [DELIVERY_MONTH] = {"delivery_month", AE_I32, AE_IN, "N",
                        .meaning = "month of delivery, 1 to 12"},
    [DELIVERY_DAY] = {"delivery_day", AE_I32, AE_IN, "N", .meaning = "day of delivery, 1 to 31"},
    [ISSUE_YEAR] = {"issue_year", AE_I32, AE_IN, "N", .meaning = "year of the bond's issue"},
    [ISSUE_MONTH] = {"issue_month", AE_I32, AE_IN, "N",
                     .meaning = "month of the bond's issue, 1 to 12"},
    [ISSUE_DAY] = {"issue_day", AE_I32, AE_IN, "N", .meaning = "day of the bond's issue, 1 to 31"},
    [MATURITY_YEAR] = {"maturity_year", AE_I32, AE_IN, "N",
                       .meaning = "year of the bond's maturity"},
    [MATURITY_MONTH] = {"maturity_month", AE_I32, AE_IN, "N",
                        .meaning = "month of the bond's maturity, 1 to 12"},
    [MATURITY_DAY] = {"maturity_day", AE_I32, AE_IN, "N",
                      .meaning = "day of the bond's maturity, 1 to 31"},
    [BOND_RATES] = {"bond_rates", AE_F32, AE_IN, "N", "1/year", "coupon rate of the bond"},
    [REPO_RATES] = {"repo_rates", AE_F32, AE_IN, "N", "1/year", "simple repo rate"},
    [CLEAN_PRICES] = {"bond_clean_prices", AE_F32, AE_IN, "N", "per 100 nominal",
                      "quoted clean price"},
    [STRIKES] = {"dummy_strikes", AE_F32, AE_IN, "N", "per 100 nominal",
                 "agreed forward dirty price"},
    [PRICES] =
        {"prices", AE_F32, AE_OUT, "N*12, a row a contract", "per 100 nominal; rates 1/year",
         "prices, income, value and rates of each contract",
         .rule =
             {AE_SCALED, .rtol = 1e-6,
              .reason =
                  "1e-6 of the value plus 3e-5 (contract value 1e-4, implied rate 5e-6, other "
                  "rates 2e-6): a few units in the last place of a float, and room for a yield "
                  "found to 1e-8; one day more or less in a day count exceeds it"}},
};

enum family { CONTRACTS, MONTH_ENDS, COUPON_DAYS, BRIEF, CENTURIES, PUBLISHED };

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

/* Orders dates, and costs less than a serial number. */
static int32_t order(struct date d)
{
    return (d.year * 16 + d.month) * 32 + d.day;
}

static struct date add_days(struct date d, int64_t days)
{
    int32_t length = month_length(d.year, d.month);
    for (d.day += (int32_t)days; d.day > length; length = month_length(d.year, d.month)) {
        d.day -= length;
        if (++d.month > 12) {
            d.month = 1;
            d.year++;
        }
    }
    return d;
}

static struct date cut_to_month(struct date d)
{
    const int32_t length = month_length(d.year, d.month);
    d.day = d.day < length ? d.day : length;
    return d;
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

struct dates {
    struct date settle, delivery, issue, maturity;
};

static struct dates draw_dates(enum family family, struct ae_rng *rng)
{
    struct dates d;
    const bool ends = family == MONTH_ENDS;
    do {
        if (family == PUBLISHED) {
            d.settle = draw_date(rng, 2000, 2000, 1, 28);
            d.settle.month = (int32_t)ae_rng_range(rng, 1, 3);
            d.delivery = draw_date(rng, 2000, 2000, 1, 28);
            d.delivery.month = (int32_t)ae_rng_range(rng, 9, 11);
            d.issue = draw_date(rng, 1998, 1999, 1, 28);
            d.maturity = draw_date(rng, 2001, 2001, 1, 28);
            continue;
        }
        const int year = family == CENTURIES ? (int)ae_rng_range(rng, 1920, 2140) : 2000;
        d.settle = draw_date(rng, year, year, ends ? 28 : 1, 31);
        d.delivery = add_days(d.settle, ae_rng_range(rng, 30, 400));
        if (ends && d.delivery.day < 28) {
            d.delivery.day = (int32_t)ae_rng_range(rng, 28, 31);
            d.delivery = cut_to_month(d.delivery);
        }
        if (family == CENTURIES) {
            d.issue = draw_date(rng, YEAR_FIRST, year - 1, 1, 31);
            d.maturity = draw_date(rng, year + 1, year + 55, 1, 31);
        } else {
            d.issue = draw_date(rng, 1985, 1999, ends ? 27 : 1, 31);
            d.maturity = draw_date(rng, 2002, 2030, ends ? 28 : 1, 31);
        }
        if (ends && ae_rng_chance(rng, 0.5)) { /* where a schedule loses its day */
            d.maturity.month = ae_rng_chance(rng, 0.5) ? 2 : 8;
            d.maturity = cut_to_month(d.maturity);
        }
        if (family ==
            BRIEF) { /* matures soon after delivery; issued at settlement or on a coupon date */
            d.maturity = add_days(d.delivery, ae_rng_range(rng, 1, 60));
            d.issue = d.settle;
            if (ae_rng_chance(rng, 0.3))
                d.issue.year--;
            d.issue = cut_to_month(d.issue);
        }
        if (family == COUPON_DAYS) { /* settlement, delivery or both on the day and in a month of
                                        the coupons */
            const int32_t day = d.maturity.day;
            if (ae_rng_chance(rng, 0.7)) {
                d.settle.day = day;
                d.settle.month = (d.maturity.month - 1) % 6 + 1 + (ae_rng_chance(rng, 0.5) ? 6 : 0);
                d.settle = cut_to_month(d.settle);
                d.delivery = add_days(d.settle, ae_rng_range(rng, 30, 400));
            }
            if (ae_rng_chance(rng, 0.7)) {
                const int32_t month =
                    (d.delivery.month - 1) / 6 * 6 + (d.maturity.month - 1) % 6 + 1;
                d.delivery.month = month;
                d.delivery.day = day;
                d.delivery = cut_to_month(d.delivery);
            }
        }
    } while (order(d.maturity) <= order(d.delivery) || order(d.issue) > order(d.settle) ||
             (family != CONTRACTS && serial(d.delivery) < serial(d.settle) + 30));
    return d;
}

static int generate(struct ae_instance *inst, struct ae_rng *rng, struct ae_error *err)
{
    const enum family family = (enum family)inst->family;
    int64_t n = inst->param[P_CONTRACTS] - ae_rng_range(rng, 1, 31);
    if (n % 4 == 0)
        n--;
    if (family == CENTURIES || family == BRIEF)
        n = family == BRIEF && inst->seed % 2 ? ae_rng_range(rng, 30, 40)
                                              : ae_rng_range(rng, 4000, 5000);
    else if (family != CONTRACTS)
        n /= 4;
    ae_set_i32(inst, N, n);
    const size_t count = (size_t)n;
    int32_t *dates[MATURITY_DAY - SETTLE_YEAR + 1];
    float *reals[STRIKES - BOND_RATES + 1];
    for (int a = SETTLE_YEAR; a <= MATURITY_DAY; a++)
        if (!(dates[a - SETTLE_YEAR] = ae_new_array(inst, a, count, err)))
            return AE_E_NOMEM;
    for (int a = BOND_RATES; a <= STRIKES; a++)
        if (!(reals[a - BOND_RATES] = ae_new_array(inst, a, count, err)))
            return AE_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct dates d = draw_dates(family, rng);
        const struct date in_order[] = {d.settle, d.delivery, d.issue, d.maturity};
        for (int k = 0; k < 4; k++) {
            dates[3 * k][i] = in_order[k].year;
            dates[3 * k + 1][i] = in_order[k].month;
            dates[3 * k + 2][i] = in_order[k].day;
        }
        const bool published = family == PUBLISHED;
        reals[0][i] =
            (float)(published ? ae_rng_uniform(rng, 0.03, 0.13) : ae_rng_uniform(rng, 0, 0.15));
        reals[1][i] =
            (float)(published ? ae_rng_uniform(rng, 0, 0.10) : ae_rng_uniform(rng, 0, 0.12));
        reals[2][i] = published ? 89.97693786f : (float)ae_rng_uniform(rng, 70, 130);
        reals[3][i] = published ? 91.5745f : (float)ae_rng_uniform(rng, 70, 130);
        if (family == MONTH_ENDS && ae_rng_chance(rng, 0.05))
            reals[ae_rng_below(rng, 2)][i] = 0;
    }
    return AE_OK;
}

static void outputs(struct ae_instance *inst)
{
    ae_set_output(inst, PRICES, RESULTS * (size_t)inst->scalar[N].i32);
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
    if (n < 1)
        return ae_error_set(err, AE_E_INPUT, "N is %d; at least one contract is needed", n);
    for (int a = SETTLE_YEAR; a <= STRIKES; a++)
        if (inst->array[a].count != (size_t)n)
            return ae_error_set(err, AE_E_INPUT, "%s has %zu elements for %d contracts",
                                args[a].name, inst->array[a].count, n);
    for (size_t i = 0; i < (size_t)n; i++) {
        struct dates d;
        if (!date_of(inst, SETTLE_YEAR, i, &d.settle) ||
            !date_of(inst, DELIVERY_YEAR, i, &d.delivery) ||
            !date_of(inst, ISSUE_YEAR, i, &d.issue) ||
            !date_of(inst, MATURITY_YEAR, i, &d.maturity))
            return ae_error_set(err, AE_E_INPUT,
                                "contract %zu has a date that is none, or outside %d to %d", i,
                                YEAR_FIRST, YEAR_LAST);
        if (serial(d.issue) > serial(d.settle) || serial(d.settle) >= serial(d.delivery) ||
            serial(d.delivery) >= serial(d.maturity))
            return ae_error_set(err, AE_E_INPUT,
                                "contract %zu: issue, settlement, delivery and maturity are "
                                "not in this order",
                                i);
        for (int a = BOND_RATES; a <= STRIKES; a++) {
            const float value = ae_in_f32(inst, a)[i];
            const bool legal =
                a <= REPO_RATES ? value >= 0 && value <= RATE_MAX : isfinite(value) && value > 0;
            if (!legal)
                return ae_error_set(err, AE_E_INPUT, "contract %zu has %s = %g", i, args[a].name,
                                    (double)value);
        }
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
        tol[i] += atol_of[(first + i) % RESULTS];
}

static void work(const struct ae_instance *inst, struct ae_work *w)
{
    w->operations =
        800.0 *
        inst->scalar[N].i32; /* a few Newton steps by Horner's rule over some thirty coupons */
    w->steps = 1;
}

const struct ae_task ae_task_repo_pricing = {
    .id = "repo_pricing",
    .title = "Repurchase agreements on fixed-rate bonds: yield, forward price and financing rates",
    .domain = AE_FINANCE,
    .lineage = "FinanceBench (Grauer-Gray et al.), after QuantLib's repo example on fixed-rate "
               "bond forwards",
    .version = 1,
    .args = args,
    .arg_count = ARG_COUNT,
    .params = {"N"},
    .sizes = {[AE_SMALL] = {{100000}}, [AE_MEDIUM] = {{1000000}}, [AE_LARGE] = {{5000000}}},
    .families =
        {{"contracts", "any day of the month, up to sixty coupons, prices and strikes drawn",
          AE_ALL_SIZES},
         {"month_ends",
          "days 27 to 31 throughout: schedules that lose their day, where day counts do not "
          "add up",
          AE_AT(AE_SMALL) | AE_AT(AE_MEDIUM)},
         {"coupon_days", "settlement and delivery on coupon dates: which side a coupon falls on",
          AE_AT(AE_SMALL)},
         {"brief", "issued at settlement, or matures soon after delivery", AE_AT(AE_SMALL)},
         {"centuries", "years 1901 to 2195, leap rules of 2000 and 2100", AE_AT(AE_SMALL)},
         {"published", "days 1 to 28 and one price for all, as the published data have",
          AE_AT(AE_SMALL)}},
    .published_atol = 0.01,
    .published_rtol = 1e-4,
    .published_note = "published prices and strikes are constants, days end at 28 and bonds "
                      "have at most four coupons to come",
    .generate = generate,
    .outputs = outputs,
    .validate = validate,
    .tolerance = tolerance,
    .work = work,
};
