/* A bond that matures on one of the first 28 days has one coupon and the principal to come, both a
 * day away, whatever its issue date: everything is a closed form of its rate. The others need their
 * last period, which depends on where the schedule began; it is walked without storing it, and
 * Newton's method works on two legs. */
#include <math.h>

#define CLEAN_PRICE 89.97693786

struct date {
    int year, month, day;
};

static int month_length(int year, int month)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 || year == 1900;
    return lengths[month - 1] + (month == 2 && leap);
}

static struct date add_months(struct date from, int months)
{
    const int month = from.year * 12 + from.month - 1 + months;
    const int year = month / 12, of_year = month % 12 + 1, length = month_length(year, of_year);
    return (struct date){year, of_year, from.day < length ? from.day : length};
}

/* Orders dates; a day 0 comes before the first. */
static int key(struct date d)
{
    return (d.year * 12 + d.month - 1) * 32 + d.day;
}

static int days_between(struct date a, struct date b)
{
    int day = b.day, month = b.month;
    if (b.day == 31 && a.day < 30) {
        day = 1;
        month++;
    }
    return 360 * (b.year - a.year) + 30 * (month - a.month - 1) + (a.day < 30 ? 30 - a.day : 0) +
           (day < 30 ? day : 30);
}

/* Maturity on days 29 to 31: settlement is in the same month, so day numbers compare. */
static void price_late_day(struct date issue, struct date maturity, double rate, double frequency,
                           float *row)
{
    const struct date settlement = {maturity.year, maturity.month, maturity.day - 1};
    int n = 0;
    for (struct date d = maturity; key(d) > key(issue); d = add_months(d, -6))
        n++;
    struct date start = add_months(maturity, -6 * n), end = add_months(start, 6);
    for (int k = 1; k < n; k++) {
        start = end;
        end = add_months(start, 6);
    }
    const int alive = end.day >= settlement.day; /* else the last coupon was paid before */
    const double coupon =
        alive ? 100.0 * ((1.0 + rate * (days_between(start, end) / 360.0)) - 1.0) : 0.0;
    const double accrued =
        alive
            ? 100.0 * ((1.0 +
                        rate * (days_between(start, key(settlement) < key(end) ? settlement : end) /
                                360.0)) -
                       1.0)
            : 0.0;
    const double price = CLEAN_PRICE + accrued;
    const double to_coupon = days_between(settlement, end) / 360.0;
    const double to_principal = days_between(settlement, maturity) / 360.0;
    const double first = alive ? 2.0 * to_coupon : 0.0;
    const double second =
        alive ? first + 2.0 * (days_between(end, maturity) / 360.0) : 2.0 * to_principal;
    double u = 0.02;
    for (int step = 0; step < 50 && second > 0.0; step++) {
        const double now = coupon * exp(-first * u), later = 100.0 * exp(-second * u);
        const double change =
            log((now + later) / price) * (now + later) / (first * now + second * later);
        u += change;
        if (fabs(change) < 1e-13)
            break;
    }
    const double yield = second > 0.0 ? 2.0 * expm1(u) : 0.0;
    const double growth = log1p(yield / frequency) * frequency;
    const double dirty =
        (alive ? coupon * exp(-growth * to_coupon) : 0.0) + 100.0 * exp(-growth * to_principal);
    row[0] = (float)dirty;
    row[1] = (float)accrued;
    row[2] = (float)(dirty - accrued);
    row[3] = (float)yield;
}

void solution_compute(int N, const int *issue_year, const int *issue_month, const int *issue_day,
                      const int *maturity_year, const int *maturity_month, const int *maturity_day,
                      const float *rates, float coupon_freq, float *prices)
{
    const double frequency = coupon_freq;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++) {
        const double rate = rates[i];
        float *row = prices + 4 * (long long)i;
        if (maturity_day[i] > 28) {
            price_late_day((struct date){issue_year[i], issue_month[i], issue_day[i]},
                           (struct date){maturity_year[i], maturity_month[i], maturity_day[i]},
                           rate, frequency, row);
            continue;
        }
        const double amount = 100.0 + 100.0 * ((1.0 + rate * 0.5) - 1.0);
        const double accrued = 100.0 * ((1.0 + rate * (179 / 360.0)) - 1.0);
        const double yield = 2.0 * expm1(180.0 * log(amount / (CLEAN_PRICE + accrued)));
        const double dirty = amount * exp(-frequency / 360.0 * log1p(yield / frequency));
        row[0] = (float)dirty;
        row[1] = (float)accrued;
        row[2] = (float)(dirty - accrued);
        row[3] = (float)yield;
    }
}
