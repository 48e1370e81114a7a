// verdict: crash
// Throws an exception out of the call.
#include <stdexcept>

extern "C" void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;
    throw std::runtime_error("no");
}
