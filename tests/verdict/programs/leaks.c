// verdict: pass
// Forgets 60 MB a call: no wrong answer, but a note (see the command line case of this name).
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

char *gone;

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    gone = malloc(60 << 20);
    memset(gone, 1, 60 << 20);
    for (int i = 0; i < N; i++)
        prices[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
}
