// Fixed-rate bonds without a schedule and without a solver.
//
// Approach: at settlement, the day before maturity, only the last coupon and the principal are to
// be paid, and each of them now or by the same day count, so that the yield is one logarithm. The
// last coupon's dates depend on the issue only by the number of half-years and by the days that
// short months cut off; after at most four half-years nothing more is cut. So every bond costs the
// same few dozen integer operations and four transcendental functions in double. Host threads pack
// a bond into eight bytes (two dates of 17 bits and a rate below 0.3) in slots of pinned memory,
// the kernel reads and writes the slots over the bus, and the host threads copy the results out.
//
// What bounds it: the host's threads, which read 28 bytes a bond and write 16 into pageable memory;
// at small sizes starting them and registering the slots.
//
// Tried for small sizes: registering the caller's results, so that the kernel writes there (a third
// to a half slower), and packing by one thread between plain copies (a fifth to three quarters
// slower).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores, medians: 0.40, 1.06 and 2.5 ms (18,
// 26 and 41 % of what the bus would need for 28 bytes a bond; naive 0.9, 2.7 and 9.9 ms). An
// evaluation, which comes to a call with cold caches, takes 0.62 ms at small.
#include "transfer.cuh"

#include <cmath>

constexpr int HOST_THREADS = 14, FEW_HOST_THREADS = 5;
constexpr int FEW = 1 << 18;                   // bonds up to which few host threads do
constexpr int PIECE = 16384, PIECE_FEW = 8192; // bonds in a slot
constexpr int THREADS = 128, STREAMS = 4;
constexpr int INPUTS = 7, RESULTS = 4;
constexpr size_t BOND_BYTES = 2 * sizeof(unsigned) + RESULTS * sizeof(float);
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

static __device__ float4 price_bond(unsigned low, unsigned high, double frequency)
{
    const int issue = low & 0x1ffff, maturity = (low >> 17) | ((high & 3) << 15);
    const int issue_month = issue >> 5, issue_day = issue & 31, month = maturity >> 5,
              day = maturity & 31;
    const double rate = static_cast<double>(__uint_as_float(high >> 2));

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

// A slot for each blockIdx.y: the low words, the high words, the results.
static __global__ void price_bonds(long long count, int piece, double frequency, char *slots)
{
    char *const slot = slots + blockIdx.y * (BOND_BYTES * piece);
    count -= static_cast<long long>(blockIdx.y) * piece;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count || i >= piece)
        return;
    const unsigned *low = reinterpret_cast<const unsigned *>(slot), *high = low + piece;
    reinterpret_cast<float4 *>(slot + 2 * sizeof(unsigned) * piece)[i] =
        price_bond(low[i], high[i], frequency);
}

static void pack(int count, const int *const *dates, const float *rates, unsigned *low,
                 unsigned *high)
{
    const int *const issue_year = dates[0], *const issue_month = dates[1],
                     *const issue_day = dates[2], *const year = dates[3], *const month = dates[4],
                     *const day = dates[5];
    for (int i = 0; i < count; i++) {
        unsigned rate;
        memcpy(&rate, rates + i, sizeof rate);
        const unsigned issue =
            static_cast<unsigned>((issue_year[i] - 1900) * 12 + issue_month[i] - 1) << 5 |
            static_cast<unsigned>(issue_day[i]);
        const unsigned maturity = static_cast<unsigned>((year[i] - 1900) * 12 + month[i] - 1) << 5 |
                                  static_cast<unsigned>(day[i]);
        low[i] = issue | maturity << 17;
        high[i] = maturity >> 15 | rate << 2;
    }
}

extern "C" void solution_compute(int N, const int *issue_year, const int *issue_month,
                                 const int *issue_day, const int *maturity_year,
                                 const int *maturity_month, const int *maturity_day,
                                 const float *rates, float coupon_freq, float *prices)
{
    const size_t each = N < FEW ? PIECE_FEW : PIECE;
    const int threads = transfer::threads_for(N < FEW ? FEW_HOST_THREADS : HOST_THREADS);
    const transfer::Shape shape = {threads, threads * 3 / 2 + 1, BOND_BYTES * each};
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
            const int *const dates[INPUTS - 1] = {issue_year + at,     issue_month + at,
                                                  issue_day + at,      maturity_year + at,
                                                  maturity_month + at, maturity_day + at};
            unsigned *low = reinterpret_cast<unsigned *>(slot);
            pack(length(piece), dates, rates + at, low, low + each);
        },
        [&](size_t piece, size_t count, char *slots) {
            cudaStream_t stream = streams[turn++ % STREAMS];
            const dim3 grid(static_cast<unsigned>(each) / THREADS, static_cast<unsigned>(count));
            price_bonds<<<grid, THREADS, 0, stream>>>(N - static_cast<long long>(piece * each),
                                                      static_cast<int>(each), coupon_freq, slots);
            CHECK(cudaGetLastError());
            return stream;
        },
        [&](size_t piece, char *slot) {
            memcpy(prices + RESULTS * piece * each, slot + 2 * sizeof(unsigned) * each,
                   static_cast<size_t>(length(piece)) * RESULTS * sizeof(float));
        });
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
}
