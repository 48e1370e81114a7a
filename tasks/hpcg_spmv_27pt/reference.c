/* y = A x for a matrix in compressed sparse row format. */

void solution_compute(int n, const int *row_ptr, const int *col_idx, const double *values,
                      const double *x, double *y_out)
{
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int p = row_ptr[i]; p < row_ptr[i + 1]; p++)
            sum += values[p] * x[col_idx[p]];
        y_out[i] = sum;
    }
}
