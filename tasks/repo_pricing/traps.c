#include "task/traps.h"

#include <math.h>

enum {
    N,
    SETTLE_YEAR,
    SETTLE_MONTH,
    SETTLE_DAY,
    DELIVERY_YEAR,
    DELIVERY_MONTH,
    DELIVERY_DAY,
    ISSUE_YEAR,
    ISSUE_MONTH,
    ISSUE_DAY,
    MATURITY_YEAR,
    MATURITY_MONTH,
    MATURITY_DAY,
    BOND_RATES,
    REPO_RATES,
    CLEAN_PRICES,
    STRIKES,
    PRICES
};

enum fault {
    NO_DRIFT,        /* counts coupons back from maturity, one jump each */
    WALK_BACK,       /* starts the schedule where walking back in steps ends */
    NO_RULE_31,      /* takes a 31st for a 30th in every day count */
    PAID_AT_SETTLE,  /* a coupon on the day of settlement does not count */
    INCOME_AT_END,   /* a coupon on the day of delivery is income */
    NOMINAL_DAYS,    /* counts the repo curve by 30/360 */
    DIRTY_IS_TARGET, /* returns quoted price plus accrued as dirty price */
    TWO_STEPS,       /* stops the solver after two steps */
    ROUGH_YIELD,     /* current yield plus pull to par */
    UNDISCOUNTED,    /* income without discounting */
    CONSTANT_PRICE,  /* never reads quoted prices */
    CONSTANT_STRIKE, /* never reads strikes */
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

static int count_days(struct day a)
{
    int days = a.d;
    for (int m = 1; m < a.m; m++)
        days += length(a.y, m);
    return days + 365 * a.y + (a.y - 1) / 4 - (a.y - 1) / 100 + (a.y - 1) / 400;
}

static double fraction(enum fault fault, struct day a, struct day b)
{
    int d = b.d, m = b.m;
    if (b.d == 31 && a.d < 30 && fault != NO_RULE_31) {
        d = 1;
        m++;
    }
    return (360 * (b.y - a.y) + 30 * (m - a.m - 1) + (a.d < 30 ? 30 - a.d : 0) +
            (d < 30 ? d : 30)) /
           360.0;
}

struct contract {
    struct day settle, delivery, issue, maturity;
    double rate, repo, clean, strike;
};

static void price(enum fault fault, const struct contract *c, float *row)
{
    double amount[640], periods[640], direct[640], accrued = 0, accrued_delivery = 0, income = 0,
                                                   run = 0;
    int n = 0, count = 0, met = 0;
    struct day back = c->maturity;
    for (; order(back) > order(c->issue); back = shift(back, -6))
        n++;
    struct day start = fault == WALK_BACK ? back : shift(c->maturity, -6 * n), last = c->settle;
    const int settle_days = count_days(c->settle);
    const double term = fault == NOMINAL_DAYS ? fraction(fault, c->settle, c->delivery)
                                              : (count_days(c->delivery) - settle_days) / 360.0;
    for (int k = 0; k <= n; k++) {
        struct day end = k < n ? shift(start, 6) : c->maturity;
        if (fault == NO_DRIFT && k < n)
            end = shift(c->maturity, -6 * (n - 1 - k));
        const int gone = order(end) - order(c->settle);
        if (fault == PAID_AT_SETTLE ? gone > 0 : gone >= 0) {
            run += 2 * fraction(fault, last, end);
            last = end;
            amount[count] = k < n ? 100 * c->rate * fraction(fault, start, end) : 100;
            periods[count] = run;
            direct[count] = 2 * fraction(fault, c->settle, end);
            if (k < n) {
                if (order(c->settle) > order(start))
                    accrued += 100 * c->rate * fraction(fault, start, gone > 0 ? c->settle : end);
                met |= fault == INCOME_AT_END ? order(end) > order(c->delivery)
                                              : order(end) >= order(c->delivery);
                if (met && order(c->delivery) > order(start))
                    accrued_delivery +=
                        100 * c->rate *
                        fraction(fault, start, order(c->delivery) < order(end) ? c->delivery : end);
                const double days = fault == NOMINAL_DAYS ? fraction(fault, c->settle, end)
                                                          : (count_days(end) - settle_days) / 360.0;
                if (!met)
                    income += amount[count] / (fault == UNDISCOUNTED ? 1 : 1 + c->repo * days);
            }
            count++;
        }
        start = end;
    }
    const double clean = fault == CONSTANT_PRICE ? 89.97693786 : c->clean, target = clean + accrued;
    double u = log(1.025);
    for (int step = 0; step < (fault == TWO_STEPS ? 2 : 40); step++) {
        double value = 0, slope = 0;
        for (int k = 0; k < count; k++) {
            value += amount[k] * exp(-periods[k] * u);
            slope += periods[k] * amount[k] * exp(-periods[k] * u);
        }
        const double change = log(value / target) * value / slope;
        u += change;
        if (fabs(change) < 1e-13)
            break;
    }
    double yield = 2 * expm1(u), dirty = 0;
    if (fault == ROUGH_YIELD)
        yield = (100 * c->rate + (100 - clean) / (run / 2)) / (50 + clean / 2);
    for (int k = 0; k < count; k++)
        dirty += amount[k] * exp(-direct[k] * u);
    if (fault == DIRTY_IS_TARGET)
        dirty = target;
    const double strike = fault == CONSTANT_STRIKE ? 91.5745 : c->strike;
    const double growth = 1 + c->repo * term, forward = (dirty - income) * growth;
    const double results[12] = {dirty,
                                accrued,
                                accrued_delivery,
                                dirty - accrued,
                                income,
                                income * growth,
                                (forward - strike) / growth,
                                forward - accrued_delivery,
                                forward,
                                (strike / (dirty - income) - 1) / term,
                                (growth - 1) / term,
                                yield};
    for (int k = 0; k < 12; k++)
        row[k] = (float)results[k];
}

static struct day day_of(const struct ae_instance *inst, int arg, int i)
{
    return (struct day){ae_in_i32(inst, arg)[i], ae_in_i32(inst, arg + 1)[i],
                        ae_in_i32(inst, arg + 2)[i]};
}

/* One contract in `every` is priced anew, the others keep their right answer: enough to be caught,
 * and quick. */
static bool solve_with(enum fault fault, const struct ae_instance *inst, struct ae_expected *answer)
{
    const int count = inst->scalar[N].i32, every = count > 20000 ? 7 : 1;
    for (int i = 0; i < count; i += every) {
        const struct contract c = {day_of(inst, SETTLE_YEAR, i),
                                   day_of(inst, DELIVERY_YEAR, i),
                                   day_of(inst, ISSUE_YEAR, i),
                                   day_of(inst, MATURITY_YEAR, i),
                                   (double)ae_in_f32(inst, BOND_RATES)[i],
                                   (double)ae_in_f32(inst, REPO_RATES)[i],
                                   (double)ae_in_f32(inst, CLEAN_PRICES)[i],
                                   (double)ae_in_f32(inst, STRIKES)[i]};
        price(fault, &c, (float *)answer->out[PRICES].data + 12 * (size_t)i);
    }
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
SOLVER(walk_back, WALK_BACK)
SOLVER(no_rule_31, NO_RULE_31)
SOLVER(paid_at_settle, PAID_AT_SETTLE)
SOLVER(income_at_end, INCOME_AT_END)
SOLVER(nominal_days, NOMINAL_DAYS)
SOLVER(dirty_is_target, DIRTY_IS_TARGET)
SOLVER(two_steps, TWO_STEPS)
SOLVER(rough_yield, ROUGH_YIELD)
SOLVER(undiscounted, UNDISCOUNTED)
SOLVER(constant_price, CONSTANT_PRICE)
SOLVER(constant_strike, CONSTANT_STRIKE)

AE_TRAPS(repo_pricing) = {
    {"counts coupons back from maturity", "contracts", no_drift},
    {"walks back to the start of the schedule", "month_ends", walk_back},
    {"ignores the rule for the 31st", "contracts", no_rule_31},
    {"drops a coupon on the day of settlement", "coupon_days", paid_at_settle},
    {"takes a coupon on the day of delivery for income", "coupon_days", income_at_end},
    {"counts the repo curve by 30/360", "contracts", nominal_days},
    {"takes quoted price plus accrued for the dirty price", "month_ends", dirty_is_target},
    {"stops the solver after two steps", "contracts", two_steps},
    {"approximates the yield by a rule of thumb", "contracts", rough_yield},
    {"adds up income undiscounted", "contracts", undiscounted},
    {"never reads the quoted prices", "contracts", constant_price},
    {"never reads the strikes", "contracts", constant_strike},
    {0},
};
