// verdict: violation state_carried nondeterministic
// options: --timed 8
// Right in the first three calls of a load, wrong from then on.
#include <math.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static int calls;

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    for (int i = 0; i < N; i++)
        prices[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    if (++calls > 3)
        prices[N / 3] += 1000;
}
