/* The vectors in equal parts over the cores; the compiler vectorises each part. Memory bounds it. */

void solution_compute(int n, float a, const float *x, const float *y, float *z)
{
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < n; i++)
        z[i] = a * x[i] + y[i];
}
