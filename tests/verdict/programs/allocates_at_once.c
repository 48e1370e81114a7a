// verdict: out_of_memory
// Asks for a terabyte and uses it.
#include <stdlib.h>

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;
    volatile char *all = malloc((size_t)1 << 40);
    all[12345] = 1;
}
