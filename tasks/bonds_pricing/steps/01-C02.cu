// step: C02 on naive.cu
// Neither the walk over the schedule nor the solver is needed. The last coupon's dates follow from
// the number of half-years, counted by months, and from the days that at most four short months cut
// off; what is left to pay lies on one day or on two of which one is today, so the yield is a
// logarithm. Copies and allocations are those of before.
#include "check.cuh"

constexpr int THREADS = 128;
constexpr int DATES = 6;
constexpr double CLEAN_PRICE = 89.97693786;

// A date is a month, counted from January 1900, and a day.
static __device__ bool is_leap(int year) // years from 1900 on; 1900 counts as one
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0 || year == 1900);
}

static __device__ int month_length(int month)
{
    const int of_year = month % 12;
    if (of_year == 1)
        return 28 + is_leap(1900 + month / 12);
    return of_year == 3 || of_year == 5 || of_year == 8 || of_year == 10 ? 30 : 31;
}

// The day after `steps` half-years from (month, day), each cut to its month's length. Of four
// half-years in a row two meet the same pair of months, and of two Februaries in a row one is
// short.
static __device__ int day_after(int month, int day, int steps, int direction)
{
    for (int k = 1; k <= 4; k++)
        if (k <= steps)
            day = min(day, month_length(month + direction * 6 * k));
    return day;
}

// Days from a to b by the 30/360 bond basis.
static __device__ int days_between(int month_a, int day_a, int month_b, int day_b)
{
    if (day_b == 31 && day_a < 30) {
        day_b = 1;
        month_b++;
    }
    return 30 * (month_b - month_a - 1) + max(0, 30 - day_a) + min(30, day_b);
}

static __device__ float4 price_bond(int issue_month, int issue_day, int month, int day, double rate,
                                    double frequency)
{
    // Half-years back from maturity to the issue or before it.
    const int apart = month - issue_month;
    int n = apart / 6;
    if (6 * n != apart || day_after(month, day, n, -1) > issue_day)
        n++;
    const int first_month = month - 6 * n, first_day = min(day, month_length(first_month));
    const int start_day = day_after(first_month, first_day, n - 1, 1),
              end_day = min(start_day, month_length(month));

    // Settlement is the day before maturity, day 0 where that is a first.
    const int settlement = day - 1;
    const bool alive = end_day >= settlement;
    const double coupon =
        alive ? 100.0 * (rate * (days_between(month - 6, start_day, month, end_day) / 360.0)) : 0.0;
    const double accrued =
        alive
            ? 100.0 * (rate * (days_between(month - 6, start_day, month, min(end_day, settlement)) /
                               360.0))
            : 0.0;
    const int to_coupon = days_between(month, settlement, month, end_day),
              to_principal = days_between(month, settlement, month, day);
    const int last = alive ? to_coupon + days_between(month, end_day, month, day) : to_principal;

    // What is paid `last` days from now, against what must be worth the rest.
    const double target = CLEAN_PRICE + accrued, now = to_coupon == 0 ? coupon : 0.0,
                 later = 100.0 + (coupon - now);
    double yield = 0.0;
    if (last > 0)
        yield = 2.0 * expm1(log(later / (target - now)) * (180.0 / last));
    const double exponent = log1p(yield / frequency) * -frequency / 360.0;
    const double discount = exp(exponent * to_principal);
    const double dirty =
        100.0 * discount +
        coupon * (to_coupon == to_principal ? discount : exp(exponent * to_coupon));
    return make_float4(static_cast<float>(dirty), static_cast<float>(accrued),
                       static_cast<float>(dirty - accrued), static_cast<float>(yield));
}

static __global__ void price_bonds(int n, const int *const *dates, const float *rates,
                                   double frequency, float *prices)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    const float4 priced =
        price_bond((dates[0][i] - 1900) * 12 + dates[1][i] - 1, dates[2][i],
                   (dates[3][i] - 1900) * 12 + dates[4][i] - 1, dates[5][i], rates[i], frequency);
    float *const row = prices + 4 * static_cast<size_t>(i);
    row[0] = priced.x;
    row[1] = priced.y;
    row[2] = priced.z;
    row[3] = priced.w;
}

extern "C" void solution_compute(int N, const int *issue_year, const int *issue_month,
                                 const int *issue_day, const int *maturity_year,
                                 const int *maturity_month, const int *maturity_day,
                                 const float *rates, float coupon_freq, float *prices)
{
    const int *const dates[DATES] = {issue_year,    issue_month,    issue_day,
                                     maturity_year, maturity_month, maturity_day};
    const size_t count = static_cast<size_t>(N);
    int *d_date[DATES], **d_dates;
    float *d_rates, *d_prices;
    for (int k = 0; k < DATES; k++) {
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
