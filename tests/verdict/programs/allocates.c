// verdict: out_of_memory
// Takes memory until there is no more, and uses what it did not get.
#include <stdlib.h>

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;
    for (;;) {
        volatile char *more = malloc(64 << 20);
        more[0] = 1;
    }
}
