#include "task/traps.h"

#include <math.h>

enum {
    N,
    ISSUE_YEAR,
    ISSUE_MONTH,
    ISSUE_DAY,
    MATURITY_YEAR,
    MATURITY_MONTH,
    MATURITY_DAY,
    RATES,
    COUPON_FREQ,
    PRICES
};

enum fault {
    NO_DRIFT,      /* counts coupons from maturity, so that the last one falls on it */
    FROM_ISSUE,    /* lets the first period begin with the issue */
    SETTLE_ON_1,   /* takes day 0 for day 1 */
    HALF_YEARLY,   /* discounts with the yield's own frequency */
    FLOAT_POWER,   /* the yield in float */
    GUESS_IF_FLAT, /* returns the first guess where nothing determines the yield */
    COUPON_PAID,   /* a coupon that pays on settlement does not count */
};

struct day {
    int y, m, d;
};

static int length(int y, int m)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return lengths[m - 1] + (m == 2 && ((y % 4 == 0 && y % 100 != 0) || y % 400 == 0 || y == 1900));
}

static struct day shift(struct day from, int months)
{
    const int k = from.y * 12 + from.m - 1 + months, most = length(k / 12, k % 12 + 1);
    return (struct day){k / 12, k % 12 + 1, from.d < most ? from.d : most};
}

static int order(struct day a)
{
    return (a.y * 12 + a.m) * 32 + a.d;
}

static double fraction(struct day a, struct day b)
{
    int d = b.d, m = b.m;
    if (b.d == 31 && a.d < 30) {
        d = 1;
        m++;
    }
    return (360 * (b.y - a.y) + 30 * (m - a.m - 1) + (a.d < 30 ? 30 - a.d : 0) +
            (d < 30 ? d : 30)) /
           360.0;
}

static void price(enum fault fault, struct day issue, struct day maturity, double rate,
                  double frequency, float *row)
{
    const struct day settle = {maturity.y, maturity.m,
                               fault == SETTLE_ON_1 && maturity.d == 1 ? 1 : maturity.d - 1};
    int n = 0;
    for (struct day c = maturity; order(c) > order(issue); c = shift(c, -6))
        n++;
    struct day start = shift(maturity, -6 * n), end = shift(start, 6);
    for (int k = 1; k < n; k++) {
        start = end;
        end = shift(start, 6);
    }
    if (fault == NO_DRIFT) {
        start = shift(maturity, -6);
        end = maturity;
    }
    if (fault == FROM_ISSUE && order(start) < order(issue))
        start = issue;
    const bool alive =
        fault == COUPON_PAID ? order(end) > order(settle) : order(end) >= order(settle);
    const double coupon = alive ? 100 * rate * fraction(start, end) : 0;
    const double accrued =
        alive ? 100 * rate * fraction(start, order(settle) < order(end) ? settle : end) : 0;
    const double target = 89.97693786 + accrued;
    const double t1 = fraction(settle, end), t2 = fraction(settle, maturity);
    const double first_t = alive ? 2 * t1 : 0,
                 last_t = alive ? first_t + 2 * fraction(end, maturity) : 2 * t2;
    double y = fault == GUESS_IF_FLAT ? 0.05 : 0;
    if (last_t > 0) {
        double u = 0.02;
        for (int k = 0; k < 60; k++) {
            const double a = coupon * exp(-first_t * u), b = 100 * exp(-last_t * u);
            u += log((a + b) / target) * (a + b) / (first_t * a + last_t * b);
        }
        y = 2 * expm1(u);
        if (fault == FLOAT_POWER)
            y = (double)(2 * (powf((float)((100 + coupon) / target), (float)(1 / last_t)) - 1));
    }
    const double f = fault == HALF_YEARLY ? 2 : frequency;
    const double dirty =
        (alive ? coupon * pow(1 + y / f, -f * t1) : 0) + 100 * pow(1 + y / f, -f * t2);
    row[0] = (float)dirty;
    row[1] = (float)accrued;
    row[2] = (float)(dirty - accrued);
    row[3] = (float)y;
}

static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    for (int i = 0; i < inst->scalar[N].i32; i++)
        price(fault,
              (struct day){ae_in_i32(inst, ISSUE_YEAR)[i], ae_in_i32(inst, ISSUE_MONTH)[i],
                           ae_in_i32(inst, ISSUE_DAY)[i]},
              (struct day){ae_in_i32(inst, MATURITY_YEAR)[i], ae_in_i32(inst, MATURITY_MONTH)[i],
                           ae_in_i32(inst, MATURITY_DAY)[i]},
              (double)ae_in_f32(inst, RATES)[i], (double)inst->scalar[COUPON_FREQ].f32,
              (float *)answer->out[PRICES].data + 4 * (size_t)i);
    return true;
}

#define SOLVER(name, fault)                                                                        \
    static bool name(const struct ae_instance *inst, const struct ae_expected *right,              \
                     struct ae_expected *answer)                                                   \
    {                                                                                              \
        (void)right;                                                                               \
        return solve_with(fault, inst, answer);                                                    \
    }

SOLVER(no_drift, NO_DRIFT)
SOLVER(from_issue, FROM_ISSUE)
SOLVER(settle_on_1, SETTLE_ON_1)
SOLVER(half_yearly, HALF_YEARLY)
SOLVER(float_power, FLOAT_POWER)
SOLVER(guess_if_flat, GUESS_IF_FLAT)
SOLVER(coupon_paid, COUPON_PAID)

/* The quoted price is nearly the same for all: what the published data give in every row. */
static bool constant_clean(const struct ae_instance *inst, const struct ae_expected *right,
                           struct ae_expected *answer)
{
    (void)right;
    float *rows = answer->out[PRICES].data;
    for (size_t i = 0; i < (size_t)inst->scalar[N].i32; i++) {
        rows[4 * i + 2] = 89.976937f;
        rows[4 * i] = rows[4 * i + 1] + rows[4 * i + 2];
    }
    return true;
}

AE_TRAPS(bonds_pricing) = {
    {"lets the last coupon fall on maturity", "book", no_drift},
    {"accrues from the issue", "brief", from_issue},
    {"settles on the 1st instead of day 0", "book", settle_on_1},
    {"discounts half-yearly", "book", half_yearly},
    {"raises to the power in float", "book", float_power},
    {"returns its guess where no yield is determined", "book", guess_if_flat},
    {"drops a coupon that pays on settlement", "book", coupon_paid},
    {"returns the quoted price as clean price", "book", constant_clean},
    {0},
};
