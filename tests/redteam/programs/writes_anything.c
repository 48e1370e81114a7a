// verdict: wrong_answer
// Changes every element, to nothing in particular.

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    for (int i = 0; i < N; i++)
        prices[i] = spots[i] - strikes[i];
}
