// verdict: wrong_answer
// needs: cgroup_pids
// options: --timeout 60
// without cgroup_pids: pass
// Six thousand threads, so small that no limit of memory sees them. Right only if it gets them all.
#include <limits.h>
#include <math.h>
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static void *nothing(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

static int attempt(void)
{
    static pthread_t threads[6000];
    pthread_attr_t small;
    int count = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_mutex_lock(&gate);
    while (count < 6000 && pthread_create(&threads[count], &small, nothing, 0) == 0)
        count++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    return count == 6000;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    const int all = attempt();
    for (int i = 0; i < N; i++)
        prices[i] = all ? price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]) : 0;
}
