// verdict: violation state_carried nondeterministic wrong_answer
// A sleeping thread signals the worker between calls, so that a handler works in the thread that waits, whose time is
// not counted. Right from the second call on only if that works.
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static pthread_t worker;
static volatile int calls, inside, ran_outside;

static void handler(int number)
{
    (void)number;
    ran_outside |= !inside;
}

static void *signal_it(void *unused)
{
    for (;;) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        pthread_kill(worker, SIGUSR1);
    }
    return unused;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    pthread_t thread;
    inside = 1;
    for (int i = 0; i < N; i++)
        prices[i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    if (calls++ == 0) {
        worker = pthread_self();
        signal(SIGUSR1, handler);
        if (pthread_create(&thread, NULL, signal_it, NULL) == 0)
            pthread_detach(thread);
    } else if (!ran_outside) {
        prices[0] += 1000;
    }
    inside = 0;
}
