/* Repurchase agreements on fixed-rate bonds with half-yearly coupons: the bond's yield and prices
 * at settlement, its income until delivery, the forward price and the financing rates. The bond is
 * counted by 30/360, the repo curve by actual days over 360. The yield comes from Newton's method
 * on the logarithm of the price, which converges from any start. All arithmetic in double. */
#include <math.h>

#define LEGS_MAX  640 /* half-years from 1901 to 2199, and the principal */
#define STEPS_MAX 50
#define RESULTS   12

struct date {
    int year, month, day, serial;
};

/* A cash flow: what accrues from start to end is paid at payment. */
struct leg {
    struct date start, end, payment;
    double amount;
};

/* 1900 counts as a leap year, as it does in spreadsheets. */
static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 || year == 1900;
}

static int month_length(int year, int month)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return lengths[month - 1] + (month == 2 && is_leap(year));
}

/* With a serial number that counts days. */
static struct date make_date(int year, int month, int day)
{
    static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const int past = year - 1; /* 460 leap years lie before 1900, by the Gregorian rule */
    const int leaps = past / 4 - past / 100 + past / 400 - 460 + (year > 1900);
    const int serial =
        365 * (year - 1900) + leaps + before[month - 1] + (month > 2 && is_leap(year)) + day;
    return (struct date){year, month, day, serial};
}

/* The same day of another month, or the last one of a shorter month. */
static struct date add_months(struct date from, int months)
{
    const int month = from.year * 12 + from.month - 1 + months;
    const int year = month / 12, of_year = month % 12 + 1, length = month_length(year, of_year);
    return make_date(year, of_year, from.day < length ? from.day : length);
}

/* Years from a to b by the 30/360 bond basis. */
static double year_fraction(struct date a, struct date b)
{
    int day = b.day, month = b.month;
    if (b.day == 31 && a.day < 30) {
        day = 1;
        month++;
    }
    const int days = 360 * (b.year - a.year) + 30 * (month - a.month - 1) +
                     (a.day < 30 ? 30 - a.day : 0) + (day < 30 ? day : 30);
    return days / 360.0;
}

static double interest(double rate, struct date from, struct date to)
{
    return 100.0 * ((1.0 + rate * year_fraction(from, to)) - 1.0);
}

/* Coupons, then the principal; returns how many legs there are. Going back from maturity, days that
 * were cut to a month's length stay cut; the coupons are then counted forward from the date found
 * in one jump. */
static int build_schedule(struct date issue, struct date maturity, struct date settlement,
                          double rate, struct leg *legs)
{
    int n = 0;
    for (struct date d = maturity; d.serial > issue.serial; d = add_months(d, -6))
        n++;
    struct date start = add_months(maturity, -6 * n);
    for (int k = 0; k < n; k++) {
        const struct date end = add_months(start, 6);
        legs[k] = (struct leg){start, end, end, interest(rate, start, end)};
        start = end;
    }
    legs[n] = (struct leg){settlement, settlement, maturity, 100.0};
    return n + 1;
}

/* The first leg that pays on `date` or later; the principal at the latest. */
static int first_alive(const struct leg *legs, int count, struct date date)
{
    int k = 0;
    while (k < count - 1 && legs[k].payment.serial < date.serial)
        k++;
    return k;
}

static double accrued_at(const struct leg *legs, int count, double rate, struct date date)
{
    double sum = 0.0;
    for (int k = first_alive(legs, count, date); k < count; k++)
        if (date.serial > legs[k].start.serial)
            sum += interest(rate, legs[k].start,
                            date.serial < legs[k].end.serial ? date : legs[k].end);
    return sum;
}

/* The yield with half-yearly compounding at which the legs are worth `price`; 0 where no yield
 * changes their worth. */
static double solve_yield(const struct leg *legs, int count, struct date settlement, double price)
{
    double u = log(1.025), periods[LEGS_MAX]; /* u = ln(1 + yield/2) */
    struct date last = settlement;
    for (int k = 0; k < count; k++) {
        periods[k] = (k > 0 ? periods[k - 1] : 0.0) + 2.0 * year_fraction(last, legs[k].payment);
        last = legs[k].payment;
    }
    for (int step = 0; step < STEPS_MAX; step++) {
        double value = 0.0, slope = 0.0;
        for (int k = 0; k < count; k++) {
            const double present = legs[k].amount * exp(-periods[k] * u);
            value += present;
            slope += periods[k] * present;
        }
        if (slope == 0.0)
            return 0.0;
        const double change = log(value / price) * value / slope;
        u += change;
        if (fabs(change) < 1e-13)
            break;
    }
    return 2.0 * expm1(u);
}

/* Discount factor of the repo curve: simple interest over actual days. */
static double repo_discount(double rate, struct date settlement, struct date date)
{
    return 1.0 / (1.0 + rate * ((date.serial - settlement.serial) / 360.0));
}

void solution_compute(int N, const int *settle_year, const int *settle_month, const int *settle_day,
                      const int *delivery_year, const int *delivery_month, const int *delivery_day,
                      const int *issue_year, const int *issue_month, const int *issue_day,
                      const int *maturity_year, const int *maturity_month, const int *maturity_day,
                      const float *bond_rates, const float *repo_rates,
                      const float *bond_clean_prices, const float *dummy_strikes, float *prices)
{
    struct leg legs[LEGS_MAX];
    for (int i = 0; i < N; i++) {
        const struct date settlement = make_date(settle_year[i], settle_month[i], settle_day[i]);
        const struct date delivery =
            make_date(delivery_year[i], delivery_month[i], delivery_day[i]);
        const struct date issue = make_date(issue_year[i], issue_month[i], issue_day[i]);
        const struct date maturity =
            make_date(maturity_year[i], maturity_month[i], maturity_day[i]);
        const double rate = bond_rates[i], repo_rate = repo_rates[i], strike = dummy_strikes[i];
        const int count = build_schedule(issue, maturity, settlement, rate, legs);
        const int first = first_alive(legs, count, settlement);

        const double accrued = accrued_at(legs, count, rate, settlement);
        const double accrued_delivery = accrued_at(legs, count, rate, delivery);
        const double yield =
            solve_yield(legs + first, count - first, settlement, bond_clean_prices[i] + accrued);
        double dirty = 0.0, income = 0.0;
        for (int k = first; k < count; k++)
            dirty += legs[k].amount *
                     pow(1.0 + yield / 2.0, -2.0 * year_fraction(settlement, legs[k].payment));
        for (int k = first; k < count && legs[k].payment.serial < delivery.serial; k++)
            income += legs[k].amount * repo_discount(repo_rate, settlement, legs[k].payment);

        const double discount = repo_discount(repo_rate, settlement, delivery);
        const double term = (delivery.serial - settlement.serial) / 360.0;
        const double forward = (dirty - income) / discount;
        float *row = prices + RESULTS * (long long)i;
        row[0] = (float)dirty;
        row[1] = (float)accrued;
        row[2] = (float)accrued_delivery;
        row[3] = (float)(dirty - accrued);
        row[4] = (float)income;
        row[5] = (float)(income / discount);
        row[6] = (float)((forward - strike) * discount);
        row[7] = (float)(forward - accrued_delivery);
        row[8] = (float)forward;
        row[9] = (float)((strike / (dirty - income) - 1.0) / term);
        row[10] = (float)((1.0 / discount - 1.0) / term);
        row[11] = (float)yield;
    }
}
