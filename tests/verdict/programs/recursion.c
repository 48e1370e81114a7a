// verdict: crash
// Overflows the stack.

static int deep(volatile int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    return n < 0 ? room[0] : deep(n + 1) + room[0];
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    (void)N, (void)types, (void)strikes, (void)spots, (void)qs, (void)rs, (void)ts, (void)vols, (void)prices;
    prices[0] = (float)deep(0);
}
