/* A multiple of one vector added to another. In double and rounded once: the true sum to float precision. */

void solution_compute(int n, float a, const float *x, const float *y, float *z)
{
    for (int i = 0; i < n; i++)
        z[i] = (float)((double)a * x[i] + y[i]);
}
