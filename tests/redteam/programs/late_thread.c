// verdict: violation late_write
// without late: pass
// Returns the right answer; a thread changes it afterwards, through the kernel, which minds no memory that is gone.
#include <math.h>
#include <pthread.h>
#include <unistd.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static void *later(void *prices)
{
    const float wrong = -1;
    int ends[2];
    usleep(12000);
    if (pipe(ends) == 0 && write(ends[1], &wrong, sizeof wrong) == sizeof wrong && read(ends[0], prices, sizeof wrong) < 0)
        usleep(1); /* the arguments have been taken away */
    close(ends[0]);
    close(ends[1]);
    return NULL;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    pthread_t thread;
    for (int i = 0; i < N; i++)
        prices[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    pthread_create(&thread, NULL, later, prices);
    pthread_detach(thread);
}
