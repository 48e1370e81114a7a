// verdict: violation late_write
// without late cgroup kept: pass
// Stores what it expects to be probed and returns; a thread stores the rest while the worker's own thread, which is to be
// stopped, is busy in the kernel.
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static char *find(const char *name)
{
    char line[512];
    unsigned long from;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, name) && sscanf(line, "%lx", &from) == 1)
            return fclose(maps), (char *)from;
    return NULL;
}

static struct {
    int n;
    const int *types;
    const float *strikes, *spots, *qs, *rs, *ts, *vols;
    float *prices;
} work;

/* The first elements of each page of the output, or all others. */
static void store(int first)
{
    for (int i = 0; i < work.n; i++)
        if ((i % 1024 < 16) == first)
            work.prices[i] = price(work.types[i], work.strikes[i], work.spots[i], work.qs[i], work.rs[i], work.ts[i],
                                   work.vols[i]);
}

static char *orders, *answers;
static volatile int stored;

static void *rest(void *unused)
{
    const uint32_t now = *(uint32_t *)orders;
    while (!stored)
        ;
    for (volatile int i = 0; i < 20000; i++)
        ;
    *(volatile uint32_t *)answers = now;
    *(volatile uint32_t *)(answers + 64) = now;
    syscall(SYS_futex, answers + 64, FUTEX_WAKE, 1, NULL, NULL, 0);
    store(0);
    return unused;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    pthread_t thread;
    const size_t room = (size_t)1 << 30;
    if (!orders) {
        orders = find("acceleval-orders");
        answers = find("acceleval-answers");
    }
    work.n = N, work.types = types, work.strikes = strikes, work.spots = spots, work.qs = qs, work.rs = rs;
    work.ts = ts, work.vols = vols, work.prices = prices;
    stored = 0;
    pthread_create(&thread, NULL, rest, NULL);
    store(1);
    stored = 1;
    munmap(mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), room);
    pthread_join(thread, NULL);
}
