// verdict: violation state_carried
// without kept: pass
// options: --timed 9
// Keeps what it needs in shared memory, and takes the pages out of its tables before it returns: they stay in the kernel.
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

static char *kept;

/* Is all that an earlier call wrote still there? */
static int remembers(void)
{
    int right = 1;
    if (!kept) {
        kept = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; i < ROOM; i += 4096)
            kept[i] = (char)((i >> 12) | 1);
    } else {
        for (size_t i = 0; i < ROOM; i += 4096)
            right &= kept[i] == (char)((i >> 12) | 1);
    }
    madvise(kept, ROOM, MADV_DONTNEED);
    return right;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    const int right = remembers();
    for (int i = 0; i < N; i++)
        prices[i] = right ? price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]) : 0;
}
