// verdict: violation state_carried
// without poison: pass
// Keeps a table in the memory of the arguments, where no argument of the call lies, and maps it for a moment in each call.
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

#include <stddef.h>
#include <sys/stat.h>

#define ROOM ((size_t)4 << 20)
#define WORDS (ROOM / sizeof(uint64_t))

static int calls;

/* Right only if what an earlier call of this load left behind is still there. */
static int remembers(void)
{
    struct stat data;
    if (fstat(5, &data) != 0 || (size_t)data.st_size < ROOM)
        return 0;
    uint64_t *last = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, 5, data.st_size - (off_t)ROOM);
    if (last == MAP_FAILED)
        return 0;
    int right = 1;
    for (size_t i = 0; i < WORDS; i++) {
        right &= calls == 0 || last[i] == i * 0x9e3779b97f4a7c15;
        last[i] = i * 0x9e3779b97f4a7c15;
    }
    munmap(last, ROOM);
    calls++;
    return right;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    const int right = remembers();
    for (int i = 0; i < N; i++)
        prices[i] = right ? price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]) : 0;
}
