// verdict: pass
// Has a signal come after the return, whose handler changes the output: it can neither set the
// timer nor have a signal in the thread that waits.
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static float *target;

static void later(int number)
{
    (void)number;
    target[0] += 1;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    const struct itimerval soon = {.it_value = {0, 12000}};
    for (int i = 0; i < N; i++)
        prices[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    target = prices;
    signal(SIGALRM, later);
    setitimer(ITIMER_REAL, &soon, NULL);
}
