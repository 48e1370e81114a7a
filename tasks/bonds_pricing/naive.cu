/* Fixed-rate bonds, one thread a bond, in double: it walks its schedule back to the issue and
 * forward again without storing it, keeps the last coupon, which alone can still be paid at
 * settlement, and solves for the yield on that and the principal. The walk over decades of
 * half-years, different for every lane of a warp, bounds the kernel; with it out of the way the
 * plain copies would. */
#include "check.cuh"

#define THREADS     128
#define CLEAN_PRICE 89.97693786
#define STEPS_MAX   50

struct date {
    int year, month, day, serial;
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

/* Day 0 is the day before the first. */
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

__global__ void price_bonds(int n_bonds, const int *const *dates, const float *rates,
                            double frequency, float *prices)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_bonds)
        return;
    const date issue = make_date(dates[0][i], dates[1][i], dates[2][i]);
    const date maturity = make_date(dates[3][i], dates[4][i], dates[5][i]);
    const date settlement = make_date(maturity.year, maturity.month, maturity.day - 1);
    int n = 0;
    for (date d = maturity; d.serial > issue.serial; d = add_months(d, -6))
        n++;
    date start = add_months(maturity, -6 * n), end = add_months(start, 6);
    for (int k = 1; k < n; k++) {
        start = end;
        end = add_months(start, 6);
    }
    /* Two cash flows: the last coupon, nothing where it has been paid, and the principal. */
    const bool alive = end.serial >= settlement.serial;
    const double rate = rates[i];
    const double coupon = alive ? interest(rate, start, end) : 0.0;
    const double accrued =
        alive && settlement.serial > start.serial
            ? interest(rate, start, settlement.serial < end.serial ? settlement : end)
            : 0.0;
    const double to_coupon = year_fraction(settlement, end),
                 to_principal = year_fraction(settlement, maturity);
    const double first = alive ? 2.0 * to_coupon : 0.0;
    const double second = alive ? first + 2.0 * year_fraction(end, maturity) : 2.0 * to_principal;
    double yield = 0.0;
    if (second > 0.0) {
        double u = log(1.025);
        for (int step = 0; step < STEPS_MAX; step++) { /* Newton on the logarithm of the price */
            const double now = coupon * exp(-first * u), later = 100.0 * exp(-second * u),
                         value = now + later;
            const double change =
                log(value / (CLEAN_PRICE + accrued)) * value / (first * now + second * later);
            u += change;
            if (fabs(change) < 1e-13)
                break;
        }
        yield = 2.0 * expm1(u);
    }
    const double base = 1.0 + yield / frequency;
    const double dirty = (alive ? coupon * pow(base, -frequency * to_coupon) : 0.0) +
                         100.0 * pow(base, -frequency * to_principal);
    float *row = prices + 4 * (size_t)i;
    row[0] = (float)dirty;
    row[1] = (float)accrued;
    row[2] = (float)(dirty - accrued);
    row[3] = (float)yield;
}

extern "C" void solution_compute(int N, const int *issue_year, const int *issue_month,
                                 const int *issue_day, const int *maturity_year,
                                 const int *maturity_month, const int *maturity_day,
                                 const float *rates, float coupon_freq, float *prices)
{
    const int *dates[6] = {issue_year,    issue_month,    issue_day,
                           maturity_year, maturity_month, maturity_day};
    const size_t count = (size_t)N;
    int *d_date[6], **d_dates;
    float *d_rates, *d_prices;
    for (int k = 0; k < 6; k++) {
        CHECK(cudaMalloc(&d_date[k], count * sizeof(int)));
        CHECK(cudaMemcpy(d_date[k], dates[k], count * sizeof(int), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&d_dates, sizeof d_date));
    CHECK(cudaMemcpy(d_dates, d_date, sizeof d_date, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&d_rates, count * sizeof(float)));
    CHECK(cudaMemcpy(d_rates, rates, count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&d_prices, 4 * count * sizeof(float)));
    price_bonds<<<(N + THREADS - 1) / THREADS, THREADS>>>(N, d_dates, d_rates, coupon_freq,
                                                          d_prices);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(prices, d_prices, 4 * count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_prices));
    CHECK(cudaFree(d_rates));
    CHECK(cudaFree(d_dates));
    for (int *date : d_date)
        CHECK(cudaFree(date));
}
