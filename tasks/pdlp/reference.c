/* Primal-dual hybrid gradient (Chambolle & Pock) on a linear program with boxed variables and
 * two-sided rows, min obj'x   with   var_lb <= x <= var_ub,   con_lb <= Ax <= con_ub, with constant
 * steps, as in PDLP without its restarts: a fixed number of iterations, and the average of the
 * primal iterates is returned. A is stored by columns. All arithmetic in float, as published. */
#include <stdlib.h>

void solution_compute(int num_vars, int num_constraints, int nnz, int num_iters, const float *obj,
                      const float *var_lb, const float *var_ub, const float *con_lb,
                      const float *con_ub, const int *col_ptrs, const int *row_indices,
                      const float *values, float step_size, float primal_weight, float *primal_out)
{
    const size_t n = (size_t)num_vars, m = (size_t)num_constraints;
    float *x = calloc(n, sizeof *x);                /* primal iterate */
    float *ahead = malloc(n * sizeof *ahead);       /* 2 x_new - x_old, where the dual step looks */
    float *gradient = calloc(n, sizeof *gradient);  /* A'y */
    float *y = calloc(m, sizeof *y);                /* dual iterate */
    float *activity = malloc(m * sizeof *activity); /* A ahead */
    (void)nnz;
    if (!x || !ahead || !gradient || !y || !activity)
        goto done;

    const float tau = step_size / primal_weight, sigma = step_size * primal_weight;
    float weight = 0; /* of the iterates averaged so far */
    for (int j = 0; j < num_vars; j++)
        primal_out[j] = 0;
    for (int iter = 0; iter < num_iters; iter++) {
        /* Primal step along the reduced cost, clipped to the box; then look ahead. */
        for (int j = 0; j < num_vars; j++) {
            const float old = x[j];
            float v = old - tau * (obj[j] - gradient[j]);
            v = v > var_ub[j] ? var_ub[j] : v;
            v = v < var_lb[j] ? var_lb[j] : v;
            x[j] = v;
            ahead[j] = 2 * v - old;
        }
        for (int i = 0; i < num_constraints; i++)
            activity[i] = 0;
        for (int j = 0; j < num_vars; j++)
            for (int e = col_ptrs[j]; e < col_ptrs[j + 1]; e++)
                activity[row_indices[e]] += values[e] * ahead[j];

        /* Dual step; the projection keeps y_i = 0 while the row's activity lies inside its range.
         */
        for (int i = 0; i < num_constraints; i++) {
            const float t = y[i] - sigma * activity[i];
            const float high = t + sigma * con_ub[i], low = t + sigma * con_lb[i];
            float z = 0;
            z = z > high ? high : z;
            z = z < low ? low : z;
            y[i] = z;
        }
        for (int j = 0; j < num_vars; j++) {
            float sum = 0;
            for (int e = col_ptrs[j]; e < col_ptrs[j + 1]; e++)
                sum += values[e] * y[row_indices[e]];
            gradient[j] = sum;
        }

        const float ratio = step_size / (weight + step_size);
        for (int j = 0; j < num_vars; j++)
            primal_out[j] += ratio * (x[j] - primal_out[j]);
        weight += step_size;
    }

done:
    free(x);
    free(ahead);
    free(gradient);
    free(y);
    free(activity);
}
