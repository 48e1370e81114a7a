/* European options by the closed formula of Black, Scholes and Merton with a continuous dividend yield.
 * Evaluated in double and rounded once, so that the answer is the true price to float precision. */
#include <math.h>

/* Cumulative standard normal distribution; erfc keeps the relative accuracy of the lower tail. */
static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    for (int i = 0; i < N; i++) {
        const double strike = strikes[i], spot = spots[i], t = ts[i];
        const double deviation = vols[i] * sqrt(t);
        const double dividend_discount = exp(-qs[i] * t);
        const double discount = exp(-rs[i] * t);
        const double forward = spot * dividend_discount / discount;
        const double d1 = log(forward / strike) / deviation + 0.5 * deviation;
        const double d2 = d1 - deviation;
        double price;
        if (types[i] == 0) /* call */
            price = discount * (forward * normal_cdf(d1) - strike * normal_cdf(d2));
        else /* put */
            price = discount * (strike * normal_cdf(-d2) - forward * normal_cdf(-d1));
        prices[i] = (float)price;
    }
}
