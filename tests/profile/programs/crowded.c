// provokes: crowded
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static float price_one(int type, float k, float s, float q, float r, float t, float v)
{
    const float w = type ? -1.0f : 1.0f, d = v * sqrtf(t);
    const float d1 = (logf(s / k) + (r - q) * t) / d + 0.5f * d;
    return w * (s * expf(-q * t) * 0.5f * erfcf(-w * d1 * 0.70710678f) -
                k * expf(-r * t) * 0.5f * erfcf(-w * (d1 - d) * 0.70710678f));
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    /* Many more threads than cores, and enough work that they are taken off them. */
#pragma omp parallel for num_threads(48) schedule(static)
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 200; k++)
            *(volatile float *)&prices[i] = price_one(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
}
