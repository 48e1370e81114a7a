// Repurchase agreements on fixed-rate bonds without walking their schedules.
//
// Approach: the coupon that follows a date is found by counting months, since after at most four
// half-years short months cut off nothing more. Bonds that mature on days 1 to 28 have evenly
// spaced coupons whose day counts add up: their value is a geometric sum, evaluated by doubling, on
// which Newton's method takes a few steps, and their dirty price is the target itself. The others,
// a twelfth, are collected by their block and then walked by full warps; only where a day is lost
// does that take an exponential. Host threads pack a contract into 24 bytes (four dates of 17 bits,
// two rates below 0.3, two prices) in slots of pinned memory, the kernel reads and writes the slots
// over the bus, and the host threads store the results past the caches.
//
// What bounds it: the host's memory, of which a contract takes 64 bytes in and 48 out.
//
// Tried: results copied out through the caches (5 % slower at large); slots of 4096 contracts at
// large sizes (a third slower: twice the calls); for small sizes registering the caller's results,
// so that the kernel writes there (a tenth slower), and packing by one thread between plain copies
// (a third slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, medians: 1.0, 4.1 and 13.4 ms (14,
// 29 and 43 % of what the bus would need for 64 bytes a contract; naive 2.3, 19 and 85 ms). An
// evaluation, which comes to a call with cold caches, takes 1.13 ms at small.
#include "transfer.cuh"

#include <cmath>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

constexpr int HOST_THREADS = 14, FEW_HOST_THREADS = 6;
constexpr int FEW = 1 << 18;                  // contracts up to which few host threads do
constexpr int PIECE = 8192, PIECE_FEW = 4096; // contracts in a slot
constexpr int THREADS = 256, STREAMS = 4;
constexpr int WORDS = 6, RESULTS = 12;
constexpr size_t CONTRACT_BYTES = WORDS * sizeof(unsigned) + RESULTS * sizeof(float);
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

static __device__ date unpack(unsigned bits)
{
    return date{static_cast<int>(bits >> 5 & 0xfff), static_cast<int>(bits & 31)};
}

static __device__ contract read_contract(const unsigned *word, int piece)
{
    contract c;
    const unsigned w0 = word[0], w1 = word[piece], w2 = word[2 * piece], w3 = word[3 * piece];
    c.settlement = unpack(w0);
    c.delivery = unpack(w1);
    const date issue = unpack(w0 >> 17 | w2 >> 30 << 15);
    c.maturity = unpack(w1 >> 17 | w3 >> 30 << 15);
    c.rate = static_cast<double>(__uint_as_float(w2 & 0x3fffffff));
    c.repo_rate = static_cast<double>(__uint_as_float(w3 & 0x3fffffff));
    c.clean = static_cast<double>(__uint_as_float(word[4 * piece]));
    c.strike = static_cast<double>(__uint_as_float(word[5 * piece]));

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

// A slot for each blockIdx.y: six words of each contract, then the rows of results. count:
// contracts in all slots together.
static __global__ void __launch_bounds__(THREADS)
    price_contracts(long long count, int piece, char *slots)
{
    __shared__ alignas(16) float rows[RESULTS * THREADS];
    __shared__ int uneven[THREADS], uneven_count;
    char *const slot = slots + blockIdx.y * (CONTRACT_BYTES * piece);
    const unsigned *const words = reinterpret_cast<const unsigned *>(slot);
    const int tid = threadIdx.x, first = blockIdx.x * THREADS;
    count -= static_cast<long long>(blockIdx.y) * piece + first;
    const int here = count < THREADS ? static_cast<int>(count) : THREADS;
    if (here <= 0)
        return;
    if (tid == 0)
        uneven_count = 0;
    __syncthreads();
    if (tid < here) {
        const contract c = read_contract(words + first + tid, piece);
        if (c.maturity.day > 28)
            uneven[atomicAdd(&uneven_count, 1)] = tid;
        else
            write_row(c, c.clean + c.accrued, solve_even(c), rows + RESULTS * tid);
    }
    __syncthreads();
    for (int k = tid; k < uneven_count; k += THREADS) {
        const contract c = read_contract(words + first + uneven[k], piece);
        const double u = solve_any(c);
        double slope;
        const double dirty = value_at<true>(c, u, &slope);
        write_row(c, dirty, u, rows + RESULTS * uneven[k]);
    }
    __syncthreads();
    float4 *const out =
        reinterpret_cast<float4 *>(slot + WORDS * sizeof(unsigned) * piece) + 3 * first;
    for (int k = tid; k < 3 * here; k += THREADS)
        out[k] = reinterpret_cast<const float4 *>(rows)[k];
}

static void pack_dates(int count, const int *year, const int *month, const int *day,
                       unsigned *packed)
{
    for (int i = 0; i < count; i++)
        packed[i] = static_cast<unsigned>((year[i] - 1900) * 12 + month[i] - 1) << 5 |
                    static_cast<unsigned>(day[i]);
}

// The dates of `late` go on top of those in `early` and of the rates, all of them in place.
static void pack_late(int count, const int *year, const int *month, const int *day,
                      const float *rates, unsigned *early, unsigned *with_rate)
{
    for (int i = 0; i < count; i++) {
        const unsigned late = static_cast<unsigned>((year[i] - 1900) * 12 + month[i] - 1) << 5 |
                              static_cast<unsigned>(day[i]);
        unsigned rate;
        memcpy(&rate, rates + i, sizeof rate);
        early[i] |= late << 17;
        with_rate[i] = (rate & 0x3fffffff) | late >> 15 << 30;
    }
}

// Past the caches: the results are not read again here, and reading their lines before they are
// written would cost as much as writing them.
static void stream_copy(float *to, const char *from, size_t bytes)
{
#ifdef __SSE2__
    if (reinterpret_cast<uintptr_t>(to) % sizeof(__m128i) == 0) { // rows are three of these
        for (size_t k = 0; k < bytes / sizeof(__m128i); k++)
            _mm_stream_si128(reinterpret_cast<__m128i *>(to) + k,
                             _mm_load_si128(reinterpret_cast<const __m128i *>(from) + k));
        _mm_sfence();
        return;
    }
#endif
    memcpy(to, from, bytes);
}

extern "C" void
solution_compute(int N, const int *settle_year, const int *settle_month, const int *settle_day,
                 const int *delivery_year, const int *delivery_month, const int *delivery_day,
                 const int *issue_year, const int *issue_month, const int *issue_day,
                 const int *maturity_year, const int *maturity_month, const int *maturity_day,
                 const float *bond_rates, const float *repo_rates, const float *bond_clean_prices,
                 const float *dummy_strikes, float *prices)
{
    const size_t each = N < FEW ? PIECE_FEW : PIECE;
    const int threads = transfer::threads_for(N < FEW ? FEW_HOST_THREADS : HOST_THREADS);
    const transfer::Shape shape = {threads, threads * 3 / 2 + 1, CONTRACT_BYTES * each};
    auto length = [&](size_t piece) {
        const size_t left = static_cast<size_t>(N) - piece * each;
        return static_cast<int>(left < each ? left : each);
    };
    unsigned turn = 0;
    cudaStream_t streams[STREAMS];
    transfer::pipeline(
        shape, (static_cast<size_t>(N) + each - 1) / each,
        [&] {
            for (cudaStream_t &stream : streams)
                CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        },
        [&](size_t piece, char *slot) {
            const size_t at = piece * each;
            const int count = length(piece);
            unsigned *const word = reinterpret_cast<unsigned *>(slot);
            pack_dates(count, settle_year + at, settle_month + at, settle_day + at, word);
            pack_dates(count, delivery_year + at, delivery_month + at, delivery_day + at,
                       word + each);
            pack_late(count, issue_year + at, issue_month + at, issue_day + at, bond_rates + at,
                      word, word + 2 * each);
            pack_late(count, maturity_year + at, maturity_month + at, maturity_day + at,
                      repo_rates + at, word + each, word + 3 * each);
            memcpy(word + 4 * each, bond_clean_prices + at, count * sizeof(float));
            memcpy(word + 5 * each, dummy_strikes + at, count * sizeof(float));
        },
        [&](size_t piece, size_t count, char *slots) {
            cudaStream_t stream = streams[turn++ % STREAMS];
            const dim3 grid(static_cast<unsigned>(each) / THREADS, static_cast<unsigned>(count));
            price_contracts<<<grid, THREADS, 0, stream>>>(N - static_cast<long long>(piece * each),
                                                          static_cast<int>(each), slots);
            CHECK(cudaGetLastError());
            return stream;
        },
        [&](size_t piece, char *slot) {
            stream_copy(prices + RESULTS * piece * each, slot + WORDS * sizeof(unsigned) * each,
                        static_cast<size_t>(length(piece)) * RESULTS * sizeof(float));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}
