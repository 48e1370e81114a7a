/* Rows over the cores in equal shares. Each row is summed in independent partial sums, since a
 * single chain of additions and not the memory would set the pace. */

void solution_compute(int n, const int *row_ptr, const int *col_idx, const double *values,
                      const double *x, double *y_out)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        const int end = row_ptr[i + 1];
        int p = row_ptr[i];
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        for (; p + 3 < end; p += 4) {
            a += values[p] * x[col_idx[p]];
            b += values[p + 1] * x[col_idx[p + 1]];
            c += values[p + 2] * x[col_idx[p + 2]];
            d += values[p + 3] * x[col_idx[p + 3]];
        }
        for (; p < end; p++)
            a += values[p] * x[col_idx[p]];
        y_out[i] = (a + b) + (c + d);
    }
}
