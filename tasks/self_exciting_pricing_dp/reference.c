/* Value function of a seller whose sales excite further demand (a Hawkes arrival intensity), by
 * explicit finite differences: upwind for the decay of the excitement x, a shift by alpha for the
 * jump of a sale, and at every grid point a search over the grid of purchase intensities. Evaluated
 * in double and rounded once; only the length of the jump in grid points comes from a float
 * quotient, because it decides which points are neighbours. */
#include <math.h>
#include <stdlib.h>

/* max over the controls of reward + intensity * jump */
static double best_control(int count, const double *lambda, const double *reward, double jump)
{
    double best = reward[0] + lambda[0] * jump;
    for (int j = 1; j < count; j++) {
        const double gain = reward[j] + lambda[j] * jump;
        best = gain > best ? gain : best;
    }
    return best;
}

void solution_compute(int N_x, int N_T, int N_lambda, float dx, float dt, float alpha, float beta,
                      float phi, float c, float a, float gamma, float k, float lambda_min,
                      float lambda_max, float *V_out)
{
    double *lambda = malloc((size_t)N_lambda * sizeof *lambda),
           *reward = malloc((size_t)N_lambda * sizeof *reward);
    double *arrivals =
        malloc((size_t)N_x * sizeof *arrivals); /* factor h(x) + phi of the arrival rate */
    double *V = calloc((size_t)N_x, sizeof *V), *next = malloc((size_t)N_x * sizeof *next);
    if (!lambda || !reward || !arrivals || !V || !next)
        goto done;

    const double step = ((double)lambda_max - lambda_min) / (N_lambda - 1);
    for (int j = 0; j < N_lambda; j++) {
        lambda[j] = lambda_min + j * step;
        reward[j] = lambda[j] * (log(a / lambda[j]) - c);
    }
    for (int i = 0; i < N_x; i++)
        arrivals[i] = k * pow(i * (double)dx, gamma) + phi;
    const int top = N_x - 1;
    const float points = roundf(alpha / dx);
    const int jump = points < top ? (int)points : top;

    for (int t = 0; t < N_T; t++) {
        for (int i = 0; i < N_x; i++) {
            const double x = i * (double)dx;
            const double slope = i == 0 ? 0 : (V[i] - V[i - 1]) / dx;
            const double after_sale = V[i < top - jump ? i + jump : top];
            const double margin = best_control(N_lambda, lambda, reward, after_sale - V[i]);
            next[i] = V[i] + dt * (-x * beta * slope + arrivals[i] * margin);
        }
        double *const old = V;
        V = next;
        next = old;
    }
    for (int i = 0; i < N_x; i++)
        V_out[i] = (float)V[i];

done:
    free(lambda);
    free(reward);
    free(arrivals);
    free(V);
    free(next);
}
