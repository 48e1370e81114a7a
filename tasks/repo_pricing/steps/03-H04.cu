// step: H04 on 02-B01.cu
// One allocation instead of nineteen; the kernel knows the arrays by their distance.
#include "check.cuh"

#include <cmath>

constexpr int THREADS = 256;
constexpr int DATES = 12, REALS = 4, RESULTS = 12;
constexpr int STEPS_MAX = 50;
constexpr double CONVERGED = 1e-8; // a step of Newton's method after which the next is below 1e-14

// A date is a month, counted from January 1900, and a day.
struct date {
    int month, day;
};

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

static __device__ bool is_before(date a, date b)
{
    return a.month * 32 + a.day < b.month * 32 + b.day;
}

// Days, 1 January 1900 being 1.
static __device__ int serial(date d)
{
    const int year = 1900 + d.month / 12, month = d.month % 12 + 1, past = year - 1;
    const int leaps = past / 4 - past / 100 + past / 400 - 460 + (year > 1900);
    const int before = (367 * month - 362) / 12 - (month > 2 ? 2 - is_leap(year) : 0);
    return 365 * (year - 1900) + leaps + before + d.day;
}

// Days from a to b by the 30/360 bond basis.
static __device__ int days_between(date a, date b)
{
    if (b.day == 31 && a.day < 30) {
        b.day = 1;
        b.month++;
    }
    return 30 * (b.month - a.month - 1) + max(0, 30 - a.day) + min(30, b.day);
}

struct contract {
    date settlement, delivery, maturity;
    int first_month, coupons; // the first period's start, and how many half-years follow
    unsigned days; // of the first five coupon dates, that of the start first, 5 bits each
    int next;      // first coupon that is paid at settlement or later
    double rate, repo_rate, clean, strike, accrued;
};

// Coupon k is paid then; 0 is the start of the first period. Later days are as the fifth.
static __device__ date coupon_date(const contract &c, int k)
{
    return date{c.first_month + 6 * k, static_cast<int>(c.days >> (5 * min(k, 4)) & 31)};
}

static __device__ double coupon(const contract &c, int k)
{
    return 100.0 * (c.rate * (days_between(coupon_date(c, k - 1), coupon_date(c, k)) / 360.0));
}

// The first coupon that is paid at `at` or later; may lie behind the last.
static __device__ int next_coupon(const contract &c, date at)
{
    const int k = max(1, (at.month - c.first_month + 5) / 6);
    return is_before(coupon_date(c, k), at) ? k + 1 : k;
}

static __device__ double accrued_at(const contract &c, int next, date at)
{
    const date start = coupon_date(c, next - 1);
    if (next > c.coupons || !is_before(start, at))
        return 0.0;
    return 100.0 * (c.rate * (days_between(start, at) / 360.0));
}

// in: arrays of `each` elements: year, month and day of settlement, delivery, issue and maturity,
// then rates and prices.
static __device__ contract read_contract(const int *in, size_t each, int i)
{
    contract c;
    date at[4];
    for (int k = 0; k < 4; k++)
        at[k] = {(in[3 * k * each + i] - 1900) * 12 + in[(3 * k + 1) * each + i] - 1,
                 in[(3 * k + 2) * each + i]};
    c.settlement = at[0];
    c.delivery = at[1];
    const date issue = at[2];
    c.maturity = at[3];
    c.rate = __int_as_float(in[(DATES + 0) * each + i]);
    c.repo_rate = __int_as_float(in[(DATES + 1) * each + i]);
    c.clean = __int_as_float(in[(DATES + 2) * each + i]);
    c.strike = __int_as_float(in[(DATES + 3) * each + i]);

    // Half-years back from maturity to the issue or before it; days that were cut stay cut.
    const int apart = c.maturity.month - issue.month;
    c.coupons = apart / 6;
    int day = c.maturity.day;
    for (int k = 1; k <= 4; k++)
        if (k <= c.coupons)
            day = min(day, month_length(c.maturity.month - 6 * k));
    if (6 * c.coupons != apart || day > issue.day)
        c.coupons++;
    c.first_month = c.maturity.month - 6 * c.coupons;
    day = min(c.maturity.day, month_length(c.first_month));
    c.days = static_cast<unsigned>(day);
    for (int k = 1; k <= 4; k++) {
        day = min(day, month_length(c.first_month + 6 * k));
        c.days |= static_cast<unsigned>(day) << (5 * k);
    }
    c.next = next_coupon(c, c.settlement);
    c.accrued = accrued_at(c, c.next, c.settlement);
    return c;
}

// One step of Newton's method on the logarithm of the price, which converges from any start.
static __device__ double newton_change(double value, double slope, double target)
{
    return log(value / target) * value / slope;
}

// ln(1 + yield/2) where the coupons are evenly spaced and the last is paid at maturity: with v the
// half-year's discount factor, their sum is 1 + v + .. + v^(count-1), and its derivative by ln v
// v + 2v^2 + .., both from half as many terms at a time.
static __device__ double solve_even(const contract &c)
{
    const int count = c.coupons - c.next + 1;
    const double first = days_between(c.settlement, coupon_date(c, c.next)) / 180.0;
    const double amount = 50.0 * c.rate, target = c.clean + c.accrued,
                 years = 0.5 * (first + count);
    const double guess = (2.0 * amount + (100.0 - c.clean) / years) / (50.0 + 0.5 * c.clean);
    double u = log1p(0.5 * fmin(fmax(guess, -0.5), 2.0));
    for (int step = 0; step < STEPS_MAX; step++) {
        const double v = exp(-u);
        double sum = 1.0, weighted = 0.0, power = v; // of `terms` terms; v^terms
        int terms = 1;
        for (int bit = 30 - __clz(count); bit >= 0; bit--) {
            weighted += power * (weighted + terms * sum);
            sum += power * sum;
            power *= power;
            terms *= 2;
            if (count >> bit & 1) {
                weighted += terms * power;
                sum += power;
                power *= v;
                terms++;
            }
        }
        const double last = power / v, now = exp(-first * u),
                     value = now * (amount * sum + 100.0 * last);
        const double slope = first * value + now * (amount * weighted + 100.0 * (count - 1) * last);
        const double change = newton_change(value, slope, target);
        u += change;
        if (!(fabs(change) >= CONVERGED))
            break;
    }
    return u;
}

// The value of what is still to be paid at u = ln(1 + yield/2). Day counts add up from payment to
// payment for the yield, and are taken from settlement for the dirty price.
template <bool FROM_SETTLEMENT>
static __device__ double value_at(const contract &c, double u, double *slope)
{
    const double v = exp(-u);
    double value = 0.0, present = 1.0;
    int days = 0;
    date last = c.settlement;
    *slope = 0.0;
    for (int k = c.next; k <= c.coupons + 1; k++) {
        const bool principal = k > c.coupons;
        const date at = principal ? c.maturity : coupon_date(c, k);
        const int now =
            FROM_SETTLEMENT ? days_between(c.settlement, at) : days + days_between(last, at);
        if (now - days == 180)
            present *= v;
        else if (now != days)
            present = exp(-u * (now / 180.0));
        days = now;
        last = at;
        const double worth = (principal ? 100.0 : coupon(c, k)) * present;
        value += worth;
        *slope += days / 180.0 * worth;
    }
    return value;
}

static __device__ double solve_any(const contract &c)
{
    const double target = c.clean + c.accrued;
    double u = log(1.025), slope;
    for (int step = 0; step < STEPS_MAX; step++) {
        const double value = value_at<false>(c, u, &slope);
        if (slope == 0.0)
            return 0.0;
        const double change = newton_change(value, slope, target);
        u += change;
        if (!(fabs(change) >= CONVERGED))
            break;
    }
    return u;
}

static __device__ double repo_discount(const contract &c, int days)
{
    return 1.0 / (1.0 + c.repo_rate * (days / 360.0));
}

static __device__ void write_row(const contract &c, double dirty, double u, float *row)
{
    const int settled = serial(c.settlement), term_days = serial(c.delivery) - settled;
    double income = 0.0;
    for (int k = c.next; k <= c.coupons; k++) {
        const date at = coupon_date(c, k);
        if (!is_before(at, c.delivery))
            break;
        income += coupon(c, k) * repo_discount(c, serial(at) - settled);
    }
    const double accrued_delivery = accrued_at(c, next_coupon(c, c.delivery), c.delivery);
    const double discount = repo_discount(c, term_days), term = term_days / 360.0,
                 forward = (dirty - income) / discount;
    row[0] = static_cast<float>(dirty);
    row[1] = static_cast<float>(c.accrued);
    row[2] = static_cast<float>(accrued_delivery);
    row[3] = static_cast<float>(dirty - c.accrued);
    row[4] = static_cast<float>(income);
    row[5] = static_cast<float>(income / discount);
    row[6] = static_cast<float>((forward - c.strike) * discount);
    row[7] = static_cast<float>(forward - accrued_delivery);
    row[8] = static_cast<float>(forward);
    row[9] = static_cast<float>((c.strike / (dirty - income) - 1.0) / term);
    row[10] = static_cast<float>((1.0 / discount - 1.0) / term);
    row[11] = static_cast<float>(2.0 * expm1(u));
}

static __global__ void __launch_bounds__(THREADS)
    price_contracts(int n, const int *in, float *prices)
{
    __shared__ int uneven[THREADS], uneven_count;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x == 0)
        uneven_count = 0;
    __syncthreads();
    if (i < n) {
        const contract c = read_contract(in, n, i);
        if (c.maturity.day > 28)
            uneven[atomicAdd(&uneven_count, 1)] = i;
        else
            write_row(c, c.clean + c.accrued, solve_even(c),
                      prices + static_cast<size_t>(RESULTS) * i);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < uneven_count; k += THREADS) {
        const contract c = read_contract(in, n, uneven[k]);
        const double u = solve_any(c);
        double slope;
        const double dirty = value_at<true>(c, u, &slope);
        write_row(c, dirty, u, prices + static_cast<size_t>(RESULTS) * uneven[k]);
    }
}

extern "C" void
solution_compute(int N, const int *settle_year, const int *settle_month, const int *settle_day,
                 const int *delivery_year, const int *delivery_month, const int *delivery_day,
                 const int *issue_year, const int *issue_month, const int *issue_day,
                 const int *maturity_year, const int *maturity_month, const int *maturity_day,
                 const float *bond_rates, const float *repo_rates, const float *bond_clean_prices,
                 const float *dummy_strikes, float *prices)
{
    const int *const dates[DATES] = {settle_year,    settle_month,  settle_day,     delivery_year,
                                     delivery_month, delivery_day,  issue_year,     issue_month,
                                     issue_day,      maturity_year, maturity_month, maturity_day};
    const float *const reals[REALS] = {bond_rates, repo_rates, bond_clean_prices, dummy_strikes};
    const size_t count = static_cast<size_t>(N);
    int *in;
    CHECK(cudaMalloc(&in, (DATES + REALS + RESULTS) * count * sizeof(int)));
    float *const d_prices = reinterpret_cast<float *>(in + (DATES + REALS) * count);
    for (int k = 0; k < DATES; k++)
        CHECK(cudaMemcpy(in + k * count, dates[k], count * sizeof(int), cudaMemcpyHostToDevice));
    for (int k = 0; k < REALS; k++)
        CHECK(cudaMemcpy(in + (DATES + k) * count, reals[k], count * sizeof(float),
                         cudaMemcpyHostToDevice));
    price_contracts<<<(N + THREADS - 1) / THREADS, THREADS>>>(N, in, d_prices);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(prices, d_prices, RESULTS * count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
}
