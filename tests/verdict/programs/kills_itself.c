// verdict: crash
// Ends as by the kernel where memory runs out, though nothing was refused.
#include <signal.h>

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;
    raise(SIGKILL);
}
