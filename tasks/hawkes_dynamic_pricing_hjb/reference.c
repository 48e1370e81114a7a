/* Pricing of products whose sales excite further sales: explicit backward induction of the
 * Hamilton-Jacobi-Bellman equation on a grid of excitements, semi-Lagrangian with linear
 * interpolation. All arithmetic in float. */
#include <math.h>
#include <stdlib.h>

/* Value at the fractional grid position g >= 0 (grid points are 1..J, u[i-1] belongs to point i):
 * linear between neighbours, and along the first or last interval outside the grid. */
static float value_at(const float *u, int J, float g)
{
    if (g >= (float)J)
        return u[J - 1] + (g - (float)J) * (u[J - 1] - u[J - 2]);
    int m = (int)floorf(g);
    if (m < 1)
        m = 1;
    return u[m - 1] + (g - (float)m) * (u[m] - u[m - 1]);
}

void solution_compute(int batch_size, int J, int N, int num_actions, float h, float tau,
                      float lambda0, float a, float b_param, const float *alpha0, const float *beta,
                      float *U, float *Lambda)
{
    float *now = malloc((size_t)J * sizeof *now), *later = malloc((size_t)J * sizeof *later);
    float *action = malloc((size_t)num_actions * sizeof *action),
          *price = malloc((size_t)num_actions * sizeof *price);
    if (!now || !later || !action || !price)
        abort();
    for (int k = 0; k < num_actions; k++) {
        action[k] = lambda0 + (float)k * 0.001f;
        price[k] = (a - action[k]) / b_param;
    }
    for (int b = 0; b < batch_size; b++) {
        const float decay = 1.0f - beta[b] * tau, jump = alpha0[b] / h;
        float *values = U + (size_t)b * (size_t)J * (size_t)N,
              *choices = Lambda + (size_t)b * (size_t)J * (size_t)N;
        for (int j = 0; j < J; j++) {
            later[j] = 0.0f;
            values[(size_t)j * (size_t)N + (size_t)(N - 1)] = 0.0f;
            choices[(size_t)j * (size_t)N + (size_t)(N - 1)] = 0.0f;
        }
        for (int n = N - 2; n >= 0; n--) {
            for (int i = 1; i <= J; i++) {
                const float x = (float)i * h;
                const float without =
                    (float)i * decay; /* grid position one step later, nothing sold */
                const float with = without + jump * decay;
                const float kept = value_at(later, J, without), sold = value_at(later, J, with);
                float best = -1e30f, choice = 0.0f;
                for (int k = 0; k < num_actions; k++) {
                    const float gain = action[k] * ((price[k] + sold) - kept);
                    if (gain > best) {
                        best = gain;
                        choice = action[k];
                    }
                }
                now[i - 1] = kept + (((x + 0.001f * x * x) + 1.0f) * tau) * best;
                values[(size_t)(i - 1) * (size_t)N + (size_t)n] = now[i - 1];
                choices[(size_t)(i - 1) * (size_t)N + (size_t)n] = choice;
            }
            float *swapped = now;
            now = later;
            later = swapped;
        }
    }
    free(price);
    free(action);
    free(later);
    free(now);
}
