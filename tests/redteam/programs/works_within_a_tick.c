// verdict: violation state_carried nondeterministic wrong_answer pass
// takes: 1000
// A thread naps until the inputs arrive, and works on them before they are given: for less than a tick, so that the
// kernel has not yet written down what it has run. Where it comes too late for that, it has gained nothing.
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

struct argument {
    int32_t type, pointer, scalar, unused;
    uint64_t region, bytes, start, size, address;
};

static volatile char *orders, *answers;
static volatile uint32_t call_bell;
static volatile int upto;
static volatile float *results;

static void nap(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

static pthread_t thread;
static volatile int over;
static sem_t called;

__attribute__((destructor)) static void end(void)
{
    over = 1;
    sem_post(&called);
    pthread_join(thread, NULL);
}

static void *early(void *unused)
{
    const struct argument *args = (const struct argument *)(orders + 624);
    const volatile uint32_t *bell = (const volatile uint32_t *)orders;
    for (;;) {
        sem_wait(&called);
        const uint32_t seen = call_bell;
        while (*bell == seen || *(volatile int32_t *)(orders + 64) != 3)
            {
            nap(200000);
            if (over)
                return unused;
        }
        const uint32_t now = *bell;
        while (*(volatile uint32_t *)(answers + 64) != now)
            nap(100000);
        /* Mapped. The last input to arrive is the eighth argument. */
        const volatile uint32_t *last =
            (const volatile uint32_t *)(args[7].address + args[7].start + args[7].size - 4);
        const int n = args[0].scalar;
        int *types = (int *)(args[1].address + args[1].start);
        float *in[8];
        for (int i = 2; i < 8; i++)
            in[i - 1] = (float *)(args[i].address + args[i].start);
        const uint32_t before = *last;
        while (*last == before && *bell == now)
            nap(200000);
        int i;
        for (i = 0; i < n && *(volatile int32_t *)(orders + 64) != 6; i++) {
            results[i] = price(types[i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i]);
            upto = i;
        }
    }
    return unused;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    int i = 0;
    if (!orders) {
        char line[512];
        unsigned long from;
        FILE *maps = fopen("/proc/self/maps", "r");
        while (maps && fgets(line, sizeof line, maps))
            if (strstr(line, "acceleval-orders") && sscanf(line, "%lx", &from) == 1)
                orders = (volatile char *)from;
            else if (strstr(line, "acceleval-answers") && sscanf(line, "%lx", &from) == 1)
                answers = (volatile char *)from;
        if (maps)
            fclose(maps);
        results = malloc((size_t)1 << 20);
        pthread_create(&thread, NULL, early, NULL);
    } else {
        for (; i < upto; i++)
            prices[i] = results[i];
    }
    for (; i < N; i++)
        prices[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    upto = 0;
    call_bell = *(const volatile uint32_t *)orders;
    sem_post(&called);
}
