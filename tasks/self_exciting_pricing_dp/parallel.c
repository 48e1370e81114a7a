/* The grid over the cores, one barrier a step. l (ln(a/l) - c) + l J is strictly concave in l with
 * its maximum at a exp(J - c - 1), so the best of the grid is one of the two controls around that
 * point: no search. Everything that does not change with time is computed once, and the loop over
 * the points is branch-free, hence vector code. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* exp(x) to about 1e-7, enough to choose between neighbours; x in [-80, 80]. */
static inline float exp_near(float x)
{
    const float k = rintf(x * 1.44269504f);
    const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    const float p =
        1 + r * (1 + r * (0.5f + r * (1.6666667e-1f + r * (4.1666668e-2f + r * 8.3333333e-3f))));
    const uint32_t bits = (uint32_t)((int32_t)k + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

void solution_compute(int N_x, int N_T, int N_lambda, float dx, float dt, float alpha, float beta,
                      float phi, float c, float a, float gamma, float k, float lambda_min,
                      float lambda_max, float *V_out)
{
    double *lambda = malloc((size_t)N_lambda * sizeof *lambda),
           *reward = malloc((size_t)N_lambda * sizeof *reward);
    double *arrivals = malloc((size_t)N_x * sizeof *arrivals);
    double *V[2] = {malloc((size_t)N_x * sizeof(double)), malloc((size_t)N_x * sizeof(double))};
    if (!lambda || !reward || !arrivals || !V[0] || !V[1])
        goto done;
    const double step = ((double)lambda_max - lambda_min) / (N_lambda - 1);
    for (int j = 0; j < N_lambda; j++) {
        lambda[j] = lambda_min + j * step;
        reward[j] = lambda[j] * (log(a / lambda[j]) - c);
    }
    const int top = N_x - 1;
    const float points = roundf(alpha / dx);
    const int jump = points < top ? (int)points : top;
    const double decay = (double)dt * beta;
    const float per_step = (float)(1 / step), last = (float)(N_lambda - 2);

#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N_x; i++) {
            arrivals[i] = dt * (k * pow(i * (double)dx, gamma) + phi);
            V[0][i] = 0;
        }
        for (int t = 0; t < N_T; t++) {
            const double *restrict old = V[t % 2];
            double *restrict next = V[1 - t % 2];
#pragma omp for simd schedule(static)
            for (int i = 0; i < N_x; i++) {
                const double v = old[i];
                const double below = old[i > 0 ? i - 1 : 0];
                const double gain = old[i < top - jump ? i + jump : top] - v;
                float power = (float)gain - c - 1;
                power = power < -80 ? -80 : power > 80 ? 80 : power;
                float place = (a * exp_near(power) - lambda_min) * per_step;
                place = place < 0 ? 0 : place > last ? last : place;
                const int j = (int)place;
                const double low = reward[j] + lambda[j] * gain,
                             high = reward[j + 1] + lambda[j + 1] * gain;
                next[i] = v - decay * i * (v - below) + arrivals[i] * (low > high ? low : high);
            }
        }
#pragma omp for schedule(static)
        for (int i = 0; i < N_x; i++)
            V_out[i] = (float)V[N_T % 2][i];
    }

done:
    free(lambda);
    free(reward);
    free(arrivals);
    free(V[0]);
    free(V[1]);
}
