// step: H04 on 02-M05.cu
// One allocation holds the inputs and the results, and the kernel knows the arrays by their
// distance. Nine allocations and their releases had cost more than the small kernel.
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

// in: the six parts of the dates and the rates, n elements each.
static __global__ void price_bonds(int n, const int *in, double frequency, float4 *prices)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    const size_t each = n;
    int part[DATES];
    for (int k = 0; k < DATES; k++)
        part[k] = in[k * each + i];
    prices[i] = price_bond((part[0] - 1900) * 12 + part[1] - 1, part[2],
                           (part[3] - 1900) * 12 + part[4] - 1, part[5],
                           __int_as_float(in[DATES * each + i]), frequency);
}

extern "C" void solution_compute(int N, const int *issue_year, const int *issue_month,
                                 const int *issue_day, const int *maturity_year,
                                 const int *maturity_month, const int *maturity_day,
                                 const float *rates, float coupon_freq, float *prices)
{
    const int *const dates[DATES] = {issue_year,    issue_month,    issue_day,
                                     maturity_year, maturity_month, maturity_day};
    const size_t count = static_cast<size_t>(N);
    float4 *memory; // the results come first, for their alignment
    CHECK(cudaMalloc(&memory, count * (sizeof(float4) + (DATES + 1) * sizeof(int))));
    int *const in = reinterpret_cast<int *>(memory + count);
    for (int k = 0; k < DATES; k++)
        CHECK(cudaMemcpy(in + k * count, dates[k], count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(in + DATES * count, rates, count * sizeof(float), cudaMemcpyHostToDevice));
    price_bonds<<<(N + THREADS - 1) / THREADS, THREADS>>>(N, in, coupon_freq, memory);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(prices, memory, count * sizeof(float4), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}
