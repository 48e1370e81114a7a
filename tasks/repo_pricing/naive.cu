/* Repurchase agreements, one thread a contract, in double: it walks the bond's schedule anew for
 * everything it needs, the accrued interest, the income, the prices and each step of the yield's
 * solver, and stores no cash flow. The number of coupons differs from lane to lane, and their
 * calendar arithmetic and exponentials in double are repeated in every step: that bounds the
 * kernel, and the plain copies of sixteen arrays come close. */
#include "check.cuh"

#define THREADS   128
#define STEPS_MAX 50
#define DATES     12
#define RESULTS   12

struct date {
    int year, month, day, serial;
};

struct bond {
    date settlement, issue, maturity, first; /* first: start of the first period */
    int coupons;
    double rate;
};

__device__ int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 || year == 1900;
}

__device__ int month_length(int year, int month)
{
    if (month == 2)
        return 28 + is_leap(year);
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

__device__ date make_date(int year, int month, int day)
{
    const int past = year - 1;
    const int leaps = past / 4 - past / 100 + past / 400 - 460 + (year > 1900);
    const int before =
        (367 * month - 362) / 12 - (month > 2 ? 2 - is_leap(year) : 0); /* days before the month */
    return date{year, month, day, 365 * (year - 1900) + leaps + before + day};
}

__device__ date add_months(date from, int months)
{
    const int month = from.year * 12 + from.month - 1 + months;
    const int length = month_length(month / 12, month % 12 + 1);
    return make_date(month / 12, month % 12 + 1, from.day < length ? from.day : length);
}

/* Years by the 30/360 bond basis. */
__device__ double year_fraction(date a, date b)
{
    int day = b.day, month = b.month;
    if (b.day == 31 && a.day < 30) {
        day = 1;
        month++;
    }
    const int days =
        360 * (b.year - a.year) + 30 * (month - a.month - 1) + max(0, 30 - a.day) + min(30, day);
    return days / 360.0;
}

__device__ double interest(double rate, date from, date to)
{
    return 100.0 * ((1.0 + rate * year_fraction(from, to)) - 1.0);
}

/* Over the coupons that pay on `at` or later. */
__device__ double accrued_at(const bond &b, date at)
{
    double sum = 0.0;
    date start = b.first;
    for (int k = 0; k < b.coupons; k++) {
        const date end = add_months(start, 6);
        if (end.serial >= at.serial && at.serial > start.serial)
            sum += interest(b.rate, start, at.serial < end.serial ? at : end);
        start = end;
    }
    return sum;
}

/* Value of the cash flows to come at u = ln(1 + yield/2), and its derivative with the opposite
 * sign. Day counts add up from payment to payment for the yield, and are taken from settlement for
 * the dirty price. */
__device__ double value_at(const bond &b, double u, bool from_settlement, double *slope)
{
    double value = 0.0, periods = 0.0;
    date start = b.first, last = b.settlement;
    *slope = 0.0;
    for (int k = 0; k <= b.coupons; k++) {
        const date end = k < b.coupons ? add_months(start, 6) : b.maturity;
        if (end.serial >= b.settlement.serial) {
            periods = (from_settlement ? 0.0 : periods) + 2.0 * year_fraction(last, end);
            last = from_settlement ? b.settlement : end;
            const double present =
                (k < b.coupons ? interest(b.rate, start, end) : 100.0) * exp(-periods * u);
            value += present;
            *slope += periods * present;
        }
        start = end;
    }
    return value;
}

__device__ double repo_discount(double rate, date settlement, date at)
{
    return 1.0 / (1.0 + rate * ((at.serial - settlement.serial) / 360.0));
}

__global__ void price_contracts(int n, const int *const *dates, const float *bond_rates,
                                const float *repo_rates, const float *clean_prices,
                                const float *strikes, float *prices)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bond b;
    b.settlement = make_date(dates[0][i], dates[1][i], dates[2][i]);
    const date delivery = make_date(dates[3][i], dates[4][i], dates[5][i]);
    b.issue = make_date(dates[6][i], dates[7][i], dates[8][i]);
    b.maturity = make_date(dates[9][i], dates[10][i], dates[11][i]);
    b.rate = bond_rates[i];
    b.coupons = 0;
    for (date d = b.maturity; d.serial > b.issue.serial; d = add_months(d, -6))
        b.coupons++;
    b.first = add_months(b.maturity, -6 * b.coupons);

    const double accrued = accrued_at(b, b.settlement), accrued_delivery = accrued_at(b, delivery);
    const double target = clean_prices[i] + accrued, repo_rate = repo_rates[i], strike = strikes[i];
    double u = log(1.025), slope;
    for (int step = 0; step < STEPS_MAX; step++) { /* Newton on the logarithm of the price */
        const double value = value_at(b, u, false, &slope);
        if (slope == 0.0) {
            u = 0.0;
            break;
        }
        const double change = log(value / target) * value / slope;
        u += change;
        if (fabs(change) < 1e-13)
            break;
    }
    const double dirty = value_at(b, u, true, &slope);
    double income = 0.0;
    date start = b.first;
    for (int k = 0; k < b.coupons; k++) {
        const date end = add_months(start, 6);
        if (end.serial >= b.settlement.serial && end.serial < delivery.serial)
            income += interest(b.rate, start, end) * repo_discount(repo_rate, b.settlement, end);
        start = end;
    }
    const double discount = repo_discount(repo_rate, b.settlement, delivery);
    const double term = (delivery.serial - b.settlement.serial) / 360.0,
                 forward = (dirty - income) / discount;
    float *row = prices + RESULTS * (size_t)i;
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
    row[11] = (float)(2.0 * expm1(u));
}

static float *to_device(const float *from, size_t count)
{
    float *to;
    CHECK(cudaMalloc(&to, count * sizeof(float)));
    CHECK(cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyHostToDevice));
    return to;
}

extern "C" void solution_compute(
    int N, const int *settle_year, const int *settle_month, const int *settle_day,
    const int *delivery_year, const int *delivery_month, const int *delivery_day,
    const int *issue_year, const int *issue_month, const int *issue_day, const int *maturity_year,
    const int *maturity_month, const int *maturity_day, const float *bond_rates,
    const float *repo_rates, const float *bond_clean_prices, const float *dummy_strikes,
    float *prices)
{
    const int *dates[DATES] = {settle_year,    settle_month,  settle_day,     delivery_year,
                               delivery_month, delivery_day,  issue_year,     issue_month,
                               issue_day,      maturity_year, maturity_month, maturity_day};
    const size_t count = (size_t)N;
    int *d_date[DATES], **d_dates;
    for (int k = 0; k < DATES; k++) {
        CHECK(cudaMalloc(&d_date[k], count * sizeof(int)));
        CHECK(cudaMemcpy(d_date[k], dates[k], count * sizeof(int), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&d_dates, sizeof d_date));
    CHECK(cudaMemcpy(d_dates, d_date, sizeof d_date, cudaMemcpyHostToDevice));
    float *d_bond_rates = to_device(bond_rates, count),
          *d_repo_rates = to_device(repo_rates, count);
    float *d_clean = to_device(bond_clean_prices, count),
          *d_strikes = to_device(dummy_strikes, count), *d_prices;
    CHECK(cudaMalloc(&d_prices, RESULTS * count * sizeof(float)));
    price_contracts<<<(N + THREADS - 1) / THREADS, THREADS>>>(
        N, d_dates, d_bond_rates, d_repo_rates, d_clean, d_strikes, d_prices);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(prices, d_prices, RESULTS * count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_prices));
    CHECK(cudaFree(d_strikes));
    CHECK(cudaFree(d_clean));
    CHECK(cudaFree(d_repo_rates));
    CHECK(cudaFree(d_bond_rates));
    CHECK(cudaFree(d_dates));
    for (int *date : d_date)
        CHECK(cudaFree(date));
}
