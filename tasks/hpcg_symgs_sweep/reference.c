/* One symmetric Gauss-Seidel sweep in natural order: all rows ascending, then all rows descending,
 * each solved for its own unknown with the newest values of the others. */

static double solve_row(int i, const int *row_ptr, const int *col_idx, const double *values,
                        const int *diag_idx, const double *rhs, const double *x)
{
    const double diagonal = values[diag_idx[i]];
    double sum = rhs[i];
    for (int p = row_ptr[i]; p < row_ptr[i + 1]; p++)
        sum -= values[p] * x[col_idx[p]];
    sum += diagonal * x[i]; /* the loop took the diagonal too */
    return sum / diagonal;
}

void solution_compute(int n, const int *row_ptr, const int *col_idx, const double *values,
                      const int *diag_idx, const double *rhs, double *x_inout)
{
    for (int i = 0; i < n; i++)
        x_inout[i] = solve_row(i, row_ptr, col_idx, values, diag_idx, rhs, x_inout);
    for (int i = n - 1; i >= 0; i--)
        x_inout[i] = solve_row(i, row_ptr, col_idx, values, diag_idx, rhs, x_inout);
}
