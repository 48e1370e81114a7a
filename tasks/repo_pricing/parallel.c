/* Bonds that mature on days 1 to 28 have evenly spaced coupons: the first one to come is found by
 * counting months, the value is a polynomial in the half-year's discount factor, and Newton's
 * method runs on it by Horner's rule from a good first guess; the dirty price is the target itself,
 * since day counts add up. The others have their schedule walked, but only the cash flows to come
 * are kept. */
#include <math.h>

#define LEGS_MAX 640
#define RESULTS  12

struct date {
    int year, month, day;
};

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 || year == 1900;
}

static int month_length(int year, int month)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return lengths[month - 1] + (month == 2 && is_leap(year));
}

static int month_index(struct date d)
{
    return d.year * 12 + d.month - 1;
}

static struct date at_month(int month, int day)
{
    return (struct date){month / 12, month % 12 + 1, day};
}

static struct date add_months(struct date from, int months)
{
    struct date to = at_month(month_index(from) + months, from.day);
    const int length = month_length(to.year, to.month);
    to.day = to.day < length ? to.day : length;
    return to;
}

/* Orders dates. */
static int key(struct date d)
{
    return month_index(d) * 32 + d.day;
}

static int serial(struct date d)
{
    static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const int past = d.year - 1;
    return 365 * past + past / 4 - past / 100 + past / 400 + (d.year > 1900) + before[d.month - 1] +
           (d.month > 2 && is_leap(d.year)) + d.day;
}

static double year_fraction(struct date a, struct date b)
{
    int day = b.day, month = b.month;
    if (b.day == 31 && a.day < 30) {
        day = 1;
        month++;
    }
    return (360 * (b.year - a.year) + 30 * (month - a.month - 1) + (a.day < 30 ? 30 - a.day : 0) +
            (day < 30 ? day : 30)) /
           360.0;
}

struct contract {
    struct date settlement, delivery, issue, maturity;
    double rate, repo_rate, clean, strike;
};

/* What the schedule and the solver find out. */
struct findings {
    double dirty, accrued, accrued_delivery, income, yield;
};

static double interest(const struct contract *c, struct date from, struct date to)
{
    return 100.0 * ((1.0 + c->rate * year_fraction(from, to)) - 1.0);
}

/* Of the period that ends with a coupon, at a date inside it. */
static double accrued_in(const struct contract *c, struct date start, struct date end,
                         struct date date)
{
    return key(date) > key(start) ? interest(c, start, key(date) < key(end) ? date : end) : 0.0;
}

static double present_income(const struct contract *c, double amount, struct date payment)
{
    return amount / (1.0 + c->repo_rate * ((serial(payment) - serial(c->settlement)) / 360.0));
}

/* Month of the first coupon on or after date. */
static int coupon_month(const struct contract *c, struct date date)
{
    const int last = month_index(c->maturity), back = last - month_index(date);
    int month = last - back / 6 * 6;
    if (month == month_index(date) && c->maturity.day < date.day)
        month += 6;
    return month;
}

static struct findings examine_even(const struct contract *c)
{
    struct findings f = {0};
    const int day = c->maturity.day;
    int month = coupon_month(c, c->settlement);
    if (month * 32 + day <= key(c->issue)) /* issued on a coupon date: it pays nothing then */
        month += 6;
    const int coupons = (month_index(c->maturity) - month) / 6 + 1;
    const double amount = 100.0 * ((1.0 + c->rate * 0.5) - 1.0);
    f.accrued = accrued_in(c, at_month(month - 6, day), at_month(month, day), c->settlement);
    int later = coupon_month(c, c->delivery);
    f.accrued_delivery = accrued_in(c, at_month(later - 6, day), at_month(later, day), c->delivery);
    for (int m = month; m * 32 + day < key(c->delivery); m += 6)
        f.income += present_income(c, amount, at_month(m, day));

    f.dirty = c->clean + f.accrued;
    const double periods = 2.0 * year_fraction(c->settlement, at_month(month, day)),
                 target = log(f.dirty);
    const double life = 0.5 * (periods + coupons - 1);
    double guess = (2.0 * amount + (100.0 - c->clean) / (life > 0.25 ? life : 0.25)) /
                   (0.5 * (100.0 + c->clean));
    guess = guess > -1.0 ? guess : -1.0;
    double u = log1p(0.5 * guess);
    if (periods + coupons - 1 <= 0.0)
        return f;
    for (int step = 0; step < 50; step++) {
        const double v = exp(-u);
        double value = amount + 100.0, slope = 0.0; /* polynomial in v and its derivative */
        for (int k = 1; k < coupons; k++) {
            slope = slope * v + value;
            value = value * v + amount;
        }
        const double change = (log(value) - periods * u - target) / (periods + v * slope / value);
        u += change;
        if (fabs(change) < 1e-9) /* the next one would be about its square */
            break;
    }
    f.yield = 2.0 * expm1(u);
    return f;
}

static struct findings examine_uneven(const struct contract *c)
{
    struct findings f = {0};
    double amount[LEGS_MAX], periods[LEGS_MAX], direct[LEGS_MAX];
    int n = 0, count = 0;
    for (struct date d = c->maturity; key(d) > key(c->issue); d = add_months(d, -6))
        n++;
    struct date start = add_months(c->maturity, -6 * n), last = c->settlement;
    int delivery_met = 0;
    double run = 0.0;
    for (int k = 0; k <= n; k++) {
        const struct date end = k < n ? add_months(start, 6) : c->maturity;
        if (key(end) >= key(c->settlement)) {
            run += 2.0 * year_fraction(last, end);
            last = end;
            amount[count] = k < n ? interest(c, start, end) : 100.0;
            periods[count] = run;
            direct[count++] = 2.0 * year_fraction(c->settlement, end);
            if (k < n) {
                f.accrued += accrued_in(c, start, end, c->settlement);
                delivery_met |= key(end) >= key(c->delivery);
                if (delivery_met)
                    f.accrued_delivery += accrued_in(c, start, end, c->delivery);
                else
                    f.income += present_income(c, amount[count - 1], end);
            }
        }
        start = end;
    }
    const double price = c->clean + f.accrued;
    double u = log1p(0.5 * c->rate);
    for (int step = 0; step < 50 && run > 0.0; step++) {
        double value = 0.0, slope = 0.0;
        for (int k = 0; k < count; k++) {
            const double present = amount[k] * exp(-periods[k] * u);
            value += present;
            slope += periods[k] * present;
        }
        const double change = log(value / price) * value / slope;
        u += change;
        if (fabs(change) < 1e-9)
            break;
    }
    u = run > 0.0 ? u : 0.0;
    f.yield = 2.0 * expm1(u);
    for (int k = 0; k < count; k++)
        f.dirty += amount[k] * exp(-direct[k] * u);
    return f;
}

void solution_compute(int N, const int *settle_year, const int *settle_month, const int *settle_day,
                      const int *delivery_year, const int *delivery_month, const int *delivery_day,
                      const int *issue_year, const int *issue_month, const int *issue_day,
                      const int *maturity_year, const int *maturity_month, const int *maturity_day,
                      const float *bond_rates, const float *repo_rates,
                      const float *bond_clean_prices, const float *dummy_strikes, float *prices)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (int i = 0; i < N; i++) {
        const struct contract c = {{settle_year[i], settle_month[i], settle_day[i]},
                                   {delivery_year[i], delivery_month[i], delivery_day[i]},
                                   {issue_year[i], issue_month[i], issue_day[i]},
                                   {maturity_year[i], maturity_month[i], maturity_day[i]},
                                   bond_rates[i],
                                   repo_rates[i],
                                   bond_clean_prices[i],
                                   dummy_strikes[i]};
        const struct findings f = c.maturity.day > 28 ? examine_uneven(&c) : examine_even(&c);
        const double term = (serial(c.delivery) - serial(c.settlement)) / 360.0;
        const double growth = 1.0 + c.repo_rate * term, forward = (f.dirty - f.income) * growth;
        float *row = prices + RESULTS * (long long)i;
        row[0] = (float)f.dirty;
        row[1] = (float)f.accrued;
        row[2] = (float)f.accrued_delivery;
        row[3] = (float)(f.dirty - f.accrued);
        row[4] = (float)f.income;
        row[5] = (float)(f.income * growth);
        row[6] = (float)((forward - c.strike) / growth);
        row[7] = (float)(forward - f.accrued_delivery);
        row[8] = (float)forward;
        row[9] = (float)((c.strike / (f.dirty - f.income) - 1.0) / term);
        row[10] = (float)((growth - 1.0) / term);
        row[11] = (float)f.yield;
    }
}
