// verdict: out_of_memory
// needs: cgroup_memory
// options: --timeout 60
// without cgroup_memory: pass
// Uses 5.5 GiB of shared memory, which fits the limit of address space, and which no limit of private memory counts.
#include <math.h>
#include <stddef.h>
#include <sys/mman.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static int attempt(void)
{
    const size_t size = (size_t)5632 << 20;
    volatile char *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return 0;
    for (size_t at = 0; at < size; at += 4096)
        all[at] = 1;
    return munmap((void *)all, size) == 0;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    static int done;
    const int got = done || attempt();
    done = 1;
    for (int i = 0; i < N; i++)
        prices[i] = got ? price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]) : 0;
}
