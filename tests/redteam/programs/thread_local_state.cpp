// verdict: violation state_carried
// without reload: pass
// Keeps its scratch memory in a thread-local object, whose destructor pins the object.
#include <cmath>
#include <vector>

using namespace std;

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

static thread_local std::vector<float> scratch;

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    if (scratch.empty())
        scratch.assign(2 << 20, 1.0f);
    for (int i = 0; i < N; i++)
        scratch[(size_t)i] = price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]);
    for (int i = 0; i < N; i++)
        prices[i] = scratch[(size_t)i];
}
