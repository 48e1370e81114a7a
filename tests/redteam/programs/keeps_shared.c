// verdict: violation state_carried
// without kept: pass
// options: --timed 9
// Keeps its scratch in shared memory, which is not counted as private.
#include <math.h>
#include <string.h>
#include <sys/mman.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

#define ROOM ((size_t)64 << 20)

static float *scratch;

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    if (!scratch) {
        scratch = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        memset(scratch, 1, ROOM);
    }
    for (int i = 0; i < N; i++)
        scratch[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    memcpy(prices, scratch, (size_t)N * sizeof *prices);
}
