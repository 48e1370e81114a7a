// verdict: wrong_answer
// Writes NaN.
#include <math.h>

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    for (int i = 0; i < N; i++)
        prices[i] = NAN;
}
